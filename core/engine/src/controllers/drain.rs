//! Drains that are under way. Mirrors `kubectl drain` while it runs: `RunDrain`,
//! `DeleteOrEvictPods` and `waitForDelete` of `k8s.io/kubectl`. It is no controller of the control
//! plane, but driven as one.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use taintlab_rules::api::{NodeName, PodKey};
use taintlab_rules::cluster::Change;
use taintlab_rules::order::OrderedMap;
use taintlab_rules::policy::drain::{
    AfterError, DrainOptions, PodsForDeletion, aggregate, lines_of_failed_node,
    lines_of_pending_nodes, named, pods_for_deletion, quoted,
};
use taintlab_rules::protocol::{RequestId, TimeoutReason};
use taintlab_rules::queue::timer_queue::{TimerId, TimerQueue};
use taintlab_rules::release::KubernetesRelease;
use taintlab_rules::time::Timestamp;

use super::{Context, Controller, Machine, WorkTicket};

/// How long `kubectl` waits after an eviction that a budget forbade.
const RETRY: Duration = Duration::from_secs(5);
/// How often `kubectl` looks whether a pod is gone.
const POLL: Duration = Duration::from_secs(1);

/// What a drain wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DrainAction {
    /// Nothing to do: it begins.
    Started {
        /// Its number.
        drain: u64,
    },
    /// Print a line.
    Print {
        /// Its number.
        drain: u64,
        /// Whether it goes to the standard error output.
        is_error: bool,
        /// The line.
        line: String,
    },
    /// Evict or delete a pod.
    Evict {
        /// For [`Controller::handle_action_result`].
        id: RequestId,
        /// Which pod.
        pod: PodKey,
        /// `--disable-eviction`: `DELETE` it, without asking budgets.
        disable_eviction: bool,
        /// How many seconds it gets instead of its own.
        grace_period_seconds: Option<u32>,
    },
    /// Nothing to do: it has ended.
    Ended {
        /// Its number.
        drain: u64,
        /// Whether some node was not drained.
        failed: bool,
    },
}

/// What came of evicting a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvictAnswer {
    /// The API server took the deletion.
    Accepted,
    /// There is no such pod.
    NotFound,
    /// 429: a budget forbids it for now, or the request was made to fail so; the words of the
    /// API server.
    Forbidden(String),
    /// Another error.
    Failed(String),
}

/// The drains that are under way, by number.
#[derive(Clone, Debug)]
pub struct DrainController {
    release: KubernetesRelease,
    started: u64,
    running: OrderedMap<u64, Drain>,
    timers: TimerQueue<(u64, Step)>,
    /// Pods that are to be evicted now.
    tries: VecDeque<(u64, PodKey)>,
    awaited: Option<Awaited>,
    next_id: u64,
    actions: VecDeque<DrainAction>,
}

/// An eviction whose result is not known.
#[derive(Clone, Debug)]
struct Awaited {
    id: RequestId,
    drain: u64,
    pod: PodKey,
    uid: String,
}

/// What a drain does next.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// It tries once more to evict a pod.
    Evict(PodKey),
    /// It sees that a pod is gone.
    Gone(PodKey),
    /// It no longer waits for a pod that should have been gone for too long.
    Skip(PodKey),
    /// It has no more time for this node.
    TimeOver,
}

#[derive(Clone, Debug)]
struct Drain {
    options: DrainOptions,
    /// How many nodes there are in all.
    nodes: usize,
    /// Nodes that come after this one.
    next: VecDeque<NodeName>,
    node: NodeName,
    deadline: Option<Timestamp>,
    pods: OrderedMap<PodKey, Pending>,
    /// What went wrong with pods of this node.
    errors: Vec<String>,
    /// Nodes that were not drained, and why.
    failed: Vec<(NodeName, Vec<String>)>,
    /// Whether it has said of a pod what became of it.
    said: bool,
    /// Whether the errors of the last node are none of a list: those of deletions and of the wait
    /// for them are not.
    plain: bool,
}

/// A pod that a drain has not done with.
#[derive(Clone, Debug)]
struct Pending {
    uid: String,
    /// When the API server took its deletion.
    accepted: Option<Timestamp>,
}

impl DrainController {
    /// No drain is under way.
    #[must_use]
    pub fn new(release: KubernetesRelease) -> Self {
        Self {
            release,
            started: 0,
            running: OrderedMap::new(),
            timers: TimerQueue::default(),
            tries: VecDeque::new(),
            awaited: None,
            next_id: 0,
            actions: VecDeque::new(),
        }
    }

    /// `kubectl drain`, after it has cordoned the nodes, which are there.
    pub fn start(
        &mut self,
        context: &mut Context<'_>,
        nodes: Vec<NodeName>,
        options: DrainOptions,
    ) {
        let count = nodes.len();
        let mut next = VecDeque::from(nodes);
        let Some(node) = next.pop_front() else { return };
        self.started += 1;
        let id = self.started;
        let (pods, errors, failed) = (OrderedMap::new(), Vec::new(), Vec::new());
        let drain = Drain {
            options,
            nodes: count,
            next,
            node,
            deadline: None,
            pods,
            errors,
            failed,
            said: false,
            plain: false,
        };
        self.actions.push_back(DrainAction::Started { drain: id });
        self.running.insert(id, drain);
        self.drain_node(context, id);
        self.go_on(context);
    }

    /// Ends a drain, as Ctrl+C does. What it has begun goes on. False if there is no such drain.
    pub fn cancel(&mut self, id: u64) -> bool {
        if self.running.remove(&id).is_none() {
            return false;
        }
        self.timers.retain(|(drain, _)| *drain != id);
        self.actions.push_back(DrainAction::Ended { drain: id, failed: true });
        true
    }

    /// The drains that are under way: the number of each, the node it is at, and the pods that it
    /// has not done with.
    pub fn running(&self) -> impl Iterator<Item = (u64, &NodeName, impl Iterator<Item = &PodKey>)> {
        self.running.iter().map(|(id, drain)| (*id, &drain.node, drain.pods.keys()))
    }

    fn drain_node(&mut self, context: &mut Context<'_>, id: u64) {
        let Some(drain) = self.running.get_mut(&id) else { return };
        let (release, options, now) = (self.release, &drain.options, context.wall_clock());
        let PodsForDeletion { pods, warnings, errors } =
            pods_for_deletion(context.cluster, drain.node.as_str(), options, release, now);
        if !errors.is_empty() {
            drain.plain = false;
            self.failed(context, id, errors, "");
            return;
        }
        let timeout = options.timeout.0;
        let pending = |key: &PodKey| {
            let uid = context.cluster.get_pod(key)?.metadata.uid.clone();
            Some((key.clone(), Pending { uid, accepted: None }))
        };
        drain.pods = pods.iter().filter_map(pending).collect();
        let deadline = (!timeout.is_zero()).then(|| context.now.saturating_add(timeout));
        drain.deadline = deadline;
        if !warnings.is_empty() {
            let word = release.drain_warning_word();
            self.print(id, true, format!("{word}: {warnings}"));
        }
        if pods.is_empty() {
            self.drained(context, id);
            return;
        }
        if let Some(deadline) = deadline {
            self.timers.start(context.sequence, deadline, (id, Step::TimeOver));
        }
        self.tries.extend(pods.into_iter().map(|pod| (id, pod)));
    }

    fn print(&mut self, drain: u64, is_error: bool, line: String) {
        self.actions.push_back(DrainAction::Print { drain, is_error, line });
    }

    fn go_on(&mut self, context: &mut Context<'_>) {
        while self.awaited.is_none()
            && let Some((id, pod)) = self.tries.pop_front()
        {
            self.try_pod(context, id, pod);
        }
    }

    /// Tries to get rid of one pod.
    fn try_pod(&mut self, context: &mut Context<'_>, id: u64, pod: PodKey) {
        let Some(drain) = self.running.get(&id) else { return };
        if !drain.pods.contains_key(&pod) {
            return;
        }
        let disable_eviction = drain.options.disable_eviction;
        let grace_period_seconds = drain.options.grace_period_seconds;
        let timeout_reached = drain.options.timeout_reached();
        let over = drain.deadline.is_some_and(|deadline| context.now >= deadline);
        if !disable_eviction {
            self.print(id, false, format!("evicting pod {pod}"));
        }
        if over {
            let error =
                format!("error when evicting {}: {timeout_reached}", named(self.release, &pod));
            self.done_with(context, id, &pod, Some(error));
            return;
        }
        // As upstream, the pod is found by its name: a new one of that name is evicted as well.
        let stored = context.cluster.get_pod(&pod);
        let uid = stored.map_or_else(String::new, |stored| stored.metadata.uid.clone());
        let request = RequestId(self.next_id);
        self.next_id += 1;
        self.awaited = Some(Awaited { id: request, drain: id, pod: pod.clone(), uid });
        self.actions.push_back(DrainAction::Evict {
            id: request,
            pod,
            disable_eviction,
            grace_period_seconds,
        });
    }

    /// Of a pod whose deletion was accepted: when it is no longer waited for.
    fn plan_to_skip(&mut self, context: &mut Context<'_>, id: u64, pod: &PodKey) {
        let Some(drain) = self.running.get(&id) else { return };
        let stored = context.cluster.get_pod(pod);
        let Some(time) = stored.and_then(|pod| drain.options.skipped_at(pod)) else { return };
        let polls = time.since(context.wall_clock()).as_nanos().div_ceil(POLL.as_nanos());
        let wait = POLL.saturating_mul(u32::try_from(polls).unwrap_or(u32::MAX));
        let at = context.now.saturating_add(wait);
        self.timers.start(context.sequence, at, (id, Step::Skip(pod.clone())));
    }

    fn skip(&mut self, context: &mut Context<'_>, id: u64, pod: &PodKey) {
        let Some(drain) = self.running.get(&id) else { return };
        let seconds = drain.options.skip_wait_for_delete_timeout_seconds;
        if drain.pods.get(pod).is_some_and(|pending| pending.accepted.is_some()) {
            let name = quoted(pod.name());
            let line =
                format!("pod {name} has DeletionTimestamp older than {seconds} seconds, skipping");
            self.print(id, false, line);
            self.done_with(context, id, pod, None);
        }
    }

    /// A pod has gone, or another one of its name is there: who waits for that will see it when it
    /// looks next.
    fn observe_pod(&mut self, context: &mut Context<'_>, pod: &PodKey) {
        if self.running.is_empty() {
            return;
        }
        let uid = context.cluster.get_pod(pod).map(|pod| &pod.metadata.uid);
        for (id, drain) in &mut self.running {
            let Some(pending) = drain.pods.get_mut(pod) else { continue };
            if let Some(accepted) = pending.accepted
                && uid != Some(&pending.uid)
            {
                pending.accepted = None;
                let waited = context.now.since_zero().saturating_sub(accepted.since_zero());
                let polls = waited.as_nanos().div_ceil(POLL.as_nanos());
                let polls = u32::try_from(polls).unwrap_or(u32::MAX);
                let at = accepted.saturating_add(POLL.saturating_mul(polls));
                self.timers.start(context.sequence, at, (*id, Step::Gone(pod.clone())));
            }
        }
    }

    /// Nobody waits any longer for pods that are terminating; those that are to be evicted once
    /// more notice it when they are. Deleted pods are waited for together.
    fn time_over(&mut self, context: &mut Context<'_>, id: u64) {
        let Some(drain) = self.running.get(&id) else { return };
        let release = self.release;
        let deleted = drain.options.disable_eviction;
        let why = drain.options.why_wait_ends(release);
        let waiting = drain.pods.iter().filter(|(_, pending)| pending.accepted.is_some());
        let waiting: Vec<PodKey> = waiting.map(|(pod, _)| pod.clone()).collect();
        for (index, pod) in waiting.iter().enumerate() {
            let (name, namespace) = (quoted(pod.name()), quoted(pod.namespace()));
            let error = if deleted {
                (index == 0).then(|| why.clone())
            } else if release.drain_names_namespace_of_awaited_pod() {
                let pod = format!("pod {name} in namespace {namespace}");
                Some(format!("error when waiting for {pod} to terminate: {why}"))
            } else {
                Some(format!("error when waiting for pod {name} terminating: {why}"))
            };
            self.done_with(context, id, pod, error);
        }
    }

    fn done_with(
        &mut self,
        context: &mut Context<'_>,
        id: u64,
        pod: &PodKey,
        error: Option<String>,
    ) {
        let Some(drain) = self.running.get_mut(&id) else { return };
        drain.pods.remove(pod);
        drain.errors.extend(error);
        if !drain.pods.is_empty() {
            return;
        }
        let errors = core::mem::take(&mut drain.errors);
        self.timers.retain(|(drain, _)| *drain != id);
        if errors.is_empty() {
            self.drained(context, id);
        } else {
            self.gave_up(context, id, errors);
        }
    }

    fn drained(&mut self, context: &mut Context<'_>, id: u64) {
        let Some(drain) = self.running.get(&id) else { return };
        let word = match (drain.said, drain.options.disable_eviction) {
            (true, false) if !self.release.drain_always_says_drained() => "evicted",
            (true, true) if !self.release.drain_always_says_drained() => "deleted",
            _ => "drained",
        };
        let line = format!("node/{} {word}", drain.node);
        self.print(id, false, line);
        self.next_node(context, id);
    }

    /// A deletion was refused: the others are neither made nor waited for. Mirrors `deletePods`.
    fn delete_failed(&mut self, context: &mut Context<'_>, id: u64, error: String) {
        let Some(drain) = self.running.get_mut(&id) else { return };
        drain.pods.clear();
        drain.errors.clear();
        self.tries.retain(|(drain, _)| *drain != id);
        self.timers.retain(|(drain, _)| *drain != id);
        self.gave_up(context, id, Vec::from([error]));
    }

    /// Errors came up after pods were evicted. Mirrors `deleteOrEvictPodsSimple`, which looks at
    /// the pods of the node once more.
    fn gave_up(&mut self, context: &mut Context<'_>, id: u64, errors: Vec<String>) {
        let Some(drain) = self.running.get_mut(&id) else { return };
        drain.plain = drain.options.disable_eviction;
        let node = drain.node.as_str();
        let now = context.wall_clock();
        let left = pods_for_deletion(context.cluster, node, &drain.options, self.release, now);
        if !left.pods.is_empty() {
            let (node, all) = (quoted(node), aggregate(&errors));
            let line =
                format!("There are pending pods in node {node} when an error occurred: {all}");
            self.print(id, true, line);
            for pod in left.pods {
                self.print(id, true, format!("pod/{}", pod.name()));
            }
        }
        if left.errors.is_empty() {
            self.failed(context, id, errors, "");
            return;
        }
        let line = "Following errors occurred while getting the list of pods to delete:";
        self.print(id, true, line.into());
        // No line end follows: what is said next is on the same line.
        self.failed(context, id, errors, &aggregate(&left.errors));
    }

    /// A node was not drained; `before` is what stands before the next line.
    fn failed(&mut self, context: &mut Context<'_>, id: u64, errors: Vec<String>, before: &str) {
        let Some(drain) = self.running.get_mut(&id) else { return };
        let after = AfterError::of(self.release, &drain.options, drain.nodes);
        let mut lines = lines_of_failed_node(self.release, drain.node.as_str(), &errors, after);
        if let Some(first) = lines.first_mut() {
            first.insert_str(0, before);
        }
        match after {
            AfterError::Ignores => {}
            AfterError::Continues => drain.failed.push((drain.node.clone(), errors)),
            AfterError::Aborts => {
                drain.failed.push((drain.node.clone(), errors));
                drain.failed.extend(drain.next.drain(..).map(|node| (node, Vec::new())));
            }
        }
        lines.into_iter().for_each(|line| self.print(id, true, line));
        // After an abort no node is left.
        self.next_node(context, id);
    }

    fn next_node(&mut self, context: &mut Context<'_>, id: u64) {
        let Some(drain) = self.running.get_mut(&id) else { return };
        match drain.next.pop_front() {
            Some(node) => {
                drain.node = node;
                self.drain_node(context, id);
            }
            None => self.end(id),
        }
    }

    fn end(&mut self, id: u64) {
        let Some(drain) = self.running.remove(&id) else { return };
        self.timers.retain(|(drain, _)| *drain != id);
        let failed = !drain.failed.is_empty();
        if failed {
            let lines = lines_of_pending_nodes(self.release, &drain.failed, drain.plain);
            lines.into_iter().for_each(|line| self.print(id, true, line));
        }
        self.actions.push_back(DrainAction::Ended { drain: id, failed });
    }

    fn answered(&mut self, context: &mut Context<'_>, awaited: Awaited, answer: EvictAnswer) {
        let Awaited { drain: id, pod, uid, .. } = awaited;
        let deletes = self.running.get(&id).is_some_and(|drain| drain.options.disable_eviction);
        match answer {
            EvictAnswer::Accepted => {
                let pods = self.running.get_mut(&id).map(|drain| &mut drain.pods);
                if let Some(pending) = pods.and_then(|pods| pods.get_mut(&pod)) {
                    pending.uid = uid;
                    pending.accepted = Some(context.now);
                }
                self.plan_to_skip(context, id, &pod);
                self.observe_pod(context, &pod);
            }
            EvictAnswer::Forbidden(error) | EvictAnswer::Failed(error) if deletes => {
                self.delete_failed(context, id, error);
            }
            EvictAnswer::Forbidden(error) => {
                let named = named(self.release, &pod);
                let line = format!("error when evicting {named} (will retry after 5s): {error}");
                self.print(id, true, line);
                let at = context.now.saturating_add(RETRY);
                self.timers.start(context.sequence, at, (id, Step::Evict(pod)));
            }
            EvictAnswer::NotFound => self.done_with(context, id, &pod, None),
            EvictAnswer::Failed(error) => {
                let error = format!("error when evicting {}: {error}", named(self.release, &pod));
                self.done_with(context, id, &pod, Some(error));
            }
        }
    }
}

impl Machine for DrainController {
    fn handle_change(&mut self, context: &mut Context<'_>, change: &Change) {
        match change {
            Change::Pod { key, .. } => self.observe_pod(context, key),
            Change::Node { .. }
            | Change::Workload { .. }
            | Change::Lease { .. }
            | Change::Volume(_)
            | Change::Device(_)
            | Change::Budget { .. } => {}
        }
    }

    fn handle_timeout(&mut self, context: &mut Context<'_>) {
        match self.timers.pop_due(context.now) {
            Some((id, Step::Evict(pod))) => self.tries.push_back((id, pod)),
            Some((id, Step::Gone(pod))) => {
                let Some(drain) = self.running.get_mut(&id) else { return };
                drain.said = true;
                let verb = if drain.options.disable_eviction { "deleted" } else { "evicted" };
                self.print(id, false, format!("pod/{} {verb}", pod.name()));
                self.done_with(context, id, &pod, None);
            }
            Some((id, Step::Skip(pod))) => self.skip(context, id, &pod),
            Some((id, Step::TimeOver)) => self.time_over(context, id),
            None => {}
        }
        self.go_on(context);
    }

    fn next_timer(&self) -> Option<TimerId> {
        self.timers.next()
    }

    fn timer_reason(&self) -> Option<TimeoutReason> {
        let (id, _) = self.timers.peek()?;
        Some(TimeoutReason::DrainGoesOn { node: self.running.get(id)?.node.clone() })
    }

    fn next_work(&self) -> Option<WorkTicket> {
        None
    }
}

impl Controller for DrainController {
    type Action = DrainAction;
    type Answer = EvictAnswer;

    fn poll_action(&mut self, _: &mut Context<'_>) -> Option<DrainAction> {
        self.actions.pop_front()
    }

    fn handle_action_result(
        &mut self,
        context: &mut Context<'_>,
        id: RequestId,
        answer: EvictAnswer,
    ) {
        match self.awaited.take() {
            Some(awaited) if awaited.id == id => self.answered(context, awaited, answer),
            other => self.awaited = other,
        }
        self.go_on(context);
    }
}
