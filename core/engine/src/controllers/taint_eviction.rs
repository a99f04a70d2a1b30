//! The controller that deletes pods from nodes with `NoExecute` taints.
//!
//! Called `NoExecuteTaintManager` up to Kubernetes 1.28 and `taint-eviction-controller` since 1.29.
//! Mirrors `pkg/controller/tainteviction`.
//!
//! # How to drive it
//!
//! 1. Report every change of a node or pod: [`handle_node_update`], [`handle_pod_update`].
//! 2. Carry out the actions from [`poll_action`] until it returns `None`, and report the result of
//!    every request with [`handle_action_result`].
//! 3. When the moment from [`poll_timeout`] has come, call [`handle_timeout`] and go to 2.
//!
//! [`handle_node_update`]: TaintEvictionController::handle_node_update
//! [`handle_pod_update`]: TaintEvictionController::handle_pod_update
//! [`poll_action`]: TaintEvictionController::poll_action
//! [`handle_action_result`]: TaintEvictionController::handle_action_result
//! [`poll_timeout`]: TaintEvictionController::poll_timeout
//! [`handle_timeout`]: TaintEvictionController::handle_timeout

mod action;
mod deletion;

use alloc::collections::VecDeque;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use taintlab_rules::api::{Node, NodeName, Pod, PodKey, Taint, Toleration};
use taintlab_rules::cluster::{Change, Lister};
use taintlab_rules::order::{OrderedMap, OrderedSet};
use taintlab_rules::policy::matching::{
    find_matching_untolerated_taint, matching_tolerations, min_toleration_time,
};
use taintlab_rules::protocol::{
    ObjectReference, RecordedEvent, RequestResult, Timeout, TimeoutReason,
};
use taintlab_rules::queue::timed_worker_queue::{AddWork, TimedWorker, TimedWorkerQueue};
use taintlab_rules::queue::timer_queue::TimerId;
use taintlab_rules::queue::work_queue::WorkQueue;
use taintlab_rules::release::{FeatureGate, FeatureGates, KubernetesRelease};
use taintlab_rules::time::{Time, Timestamp};

pub use self::action::{Decision, EvictionDecision, ScheduledEviction, TaintEvictionAction};
use self::deletion::Deletions;
use super::{Context, Controller, Machine, WorkTicket};
pub use taintlab_rules::protocol::RequestId;

/// Number of workers; every node belongs to one ([`shard_of`]). Mirrors `UpdateWorkerSize`.
pub const UPDATE_WORKER_SIZE: u8 = 8;

/// Worker that handles the changes of a node and its pods: the 32-bit FNV-1a hash of the node's
/// name modulo [`UPDATE_WORKER_SIZE`]. Mirrors `tainteviction.hash`.
///
/// Kubernetes defines no order between workers. This engine handles all changes in one order, so
/// that the shard is merely an observable fact.
#[must_use]
pub fn shard_of(node_name: &str) -> u8 {
    let hash = node_name
        .bytes()
        .fold(2_166_136_261_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619));
    (hash % u32::from(UPDATE_WORKER_SIZE)) as u8
}

/// Behaviour that depends on the release and the feature gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Behaviour {
    release: KubernetesRelease,
    comparison_operators: bool,
    disruption_condition: bool,
}

/// A pod to look at. The same pod on another node is another item.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct PodItem {
    pod: PodKey,
    node: NodeName,
}

/// Deletes pods from nodes with `NoExecute` taints. See the [module](self) for how to drive it.
#[derive(Clone, Debug)]
pub struct TaintEvictionController {
    behaviour: Behaviour,
    tainted_nodes: OrderedMap<NodeName, Arc<[Taint]>>,
    queue: TimedWorkerQueue<PodKey>,
    node_items: WorkQueue<NodeName>,
    pod_items: WorkQueue<PodItem>,
    /// Deletions without a delay that have not started.
    starting: VecDeque<PodKey>,
    deletions: Deletions,
    actions: VecDeque<TaintEvictionAction>,
    now: Timestamp,
    /// A moment and its wall-clock time; see [`resume`](Self::resume).
    resumed: Option<(Timestamp, Time)>,
}

impl TaintEvictionController {
    /// A controller without any knowledge: report all nodes first, then all pods.
    #[must_use]
    pub fn new(release: KubernetesRelease, gates: &FeatureGates) -> Self {
        let behaviour = Behaviour {
            release,
            comparison_operators: gates.is_enabled(FeatureGate::TaintTolerationComparisonOperators),
            disruption_condition: gates.is_enabled(FeatureGate::PodDisruptionConditions),
        };
        Self {
            behaviour,
            tainted_nodes: OrderedMap::new(),
            queue: TimedWorkerQueue::default(),
            node_items: WorkQueue::default(),
            pod_items: WorkQueue::default(),
            starting: VecDeque::new(),
            deletions: Deletions::default(),
            actions: VecDeque::new(),
            now: Timestamp::ZERO,
            resumed: None,
        }
    }

    /// Lets timers of the pods that are there now run since their nodes were tainted (`timeAdded`), as
    /// those of a controller that ran before do. Without it they begin now, as after a restart.
    pub fn resume(&mut self, now: Timestamp, wall_clock: Time) {
        self.resumed = Some((now, wall_clock));
    }

    /// The time at which the timer of a pod ends that has been running.
    fn resumed_timer(&self, now: Timestamp, pod: &Pod, taints: &[Taint]) -> Option<Timestamp> {
        let (_, wall_clock) = self.resumed.filter(|(at, _)| *at == now)?;
        let there = pod.metadata.creation_timestamp;
        let gate = self.behaviour.comparison_operators;
        let tolerations = &pod.spec.tolerations;
        let added = |taint: &Taint| taint.time_added.unwrap_or(wall_clock);
        // The first taints that a pod did not tolerate for ever began its timer, and others after
        // them did not change it.
        let times = taints.iter().map(added).filter(|at| *at < wall_clock);
        let began = times.filter_map(|at| {
            let known: Vec<Taint> = taints.iter().filter(|it| added(it) <= at).cloned().collect();
            let used = matching_tolerations(&known, tolerations, gate).used;
            let used = used.iter().filter_map(|&index| tolerations.get(index));
            let min = Duration::from_nanos(u64::try_from(min_toleration_time(used)).ok()?);
            let over = wall_clock.since(there.map_or(at, |there| there.max(at)));
            Some((at, now.saturating_add(min.saturating_sub(over))))
        });
        began.min_by_key(|(at, _)| *at).map(|(_, end)| end)
    }

    /// Reports that a node was added (`old` is `None`), changed, or deleted (`new` is `None`).
    ///
    /// Only a change of the list of `NoExecute` taints counts, including its order, `value` and
    /// `timeAdded`. Mirrors `Controller.NodeUpdated`.
    pub fn handle_node_update(&mut self, now: Timestamp, old: Option<&Node>, new: Option<&Node>) {
        self.now = now;
        if let (Some(old), Some(new)) = (old, new)
            && no_execute(old).eq(no_execute(new))
        {
            return;
        }
        if let Some(node) = new.or(old) {
            self.node_items.push(node.metadata.name.as_str().into());
        }
    }

    /// Reports that a pod was added (`old` is `None`), changed, or deleted (`new` is `None`). Both
    /// versions have the key `key`.
    ///
    /// Only a change of tolerations or node counts. Mirrors `Controller.PodUpdated`.
    pub fn handle_pod_update(
        &mut self,
        now: Timestamp,
        key: &PodKey,
        old: Option<&Pod>,
        new: Option<&Pod>,
    ) {
        self.now = now;
        if let (Some(old), Some(new)) = (old, new)
            && old.spec.tolerations == new.spec.tolerations
            && old.spec.node_name == new.spec.node_name
        {
            return;
        }
        if let Some(pod) = new.or(old) {
            let node = pod.spec.node_name.as_str().into();
            self.pod_items.push(PodItem { pod: key.clone(), node });
        }
    }

    /// Next action, or `None`.
    pub fn poll_action(&mut self) -> Option<TaintEvictionAction> {
        if self.actions.is_empty()
            && let Some(pod) = self.starting.pop_front()
        {
            self.start_deletion(pod);
        }
        self.actions.pop_front()
    }

    /// Reports the result of an action's request. An unknown `id` is ignored.
    pub fn handle_action_result(&mut self, now: Timestamp, id: RequestId, result: RequestResult) {
        self.now = now;
        let sequence = self.queue.sequence();
        let condition = self.behaviour.disruption_condition;
        match self.deletions.handle_result(now, sequence, id, result, condition) {
            deletion::Next::Act(action) => self.actions.push_back(action),
            deletion::Next::Retry => self.queue.align_sequence(sequence + 1),
            deletion::Next::Succeeded(pod) => {
                self.queue.finish(pod, self.behaviour.release.keeps_tombstones());
            }
            deletion::Next::Unknown => {}
        }
    }

    /// Time and reason of the next call of [`handle_timeout`](Self::handle_timeout).
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Timeout> {
        if self.has_queued_work() {
            return Some(Timeout { at: self.now, reason: TimeoutReason::WorkQueued });
        }
        Some(Timeout { at: self.next_timer()?.0, reason: self.next_timer_reason()? })
    }

    fn next_timer_reason(&self) -> Option<TimeoutReason> {
        let (timer, retry) = (self.queue.poll_timeout(), self.deletions.poll_timeout());
        if retry.is_some_and(|retry| timer.is_none_or(|timer| retry < timer)) {
            let (pod, attempt) = self.deletions.next_retry()?;
            return Some(TimeoutReason::RetryDelete { pod: pod.clone(), attempt });
        }
        Some(TimeoutReason::EvictionDue { pod: self.queue.next_key()?.clone() })
    }

    /// Time of the next timer, and its number in the order of creation. Unlike
    /// [`poll_timeout`](Self::poll_timeout) it ignores queued changes.
    #[must_use]
    pub fn next_timer(&self) -> Option<(Timestamp, u64)> {
        let (timer, retry) = (self.queue.poll_timeout(), self.deletions.poll_timeout());
        timer.into_iter().chain(retry).min()
    }

    /// Whether changes of nodes or pods are queued.
    #[must_use]
    pub fn has_queued_work(&self) -> bool {
        !self.node_items.is_empty() || !self.pod_items.is_empty()
    }

    /// Does one piece of due work: an expired timer, otherwise one changed node, otherwise one
    /// changed pod.
    ///
    /// Nodes come before pods, as the worker empties its queue of nodes before it looks at a pod.
    pub fn handle_timeout(&mut self, now: Timestamp, lister: &impl Lister) {
        self.now = now;
        if self.next_timer().is_some_and(|(at, _)| at <= now) {
            self.handle_timer(now);
            return;
        }
        if let Some(node) = self.node_items.pop() {
            self.handle_node_item(now, node, lister);
        } else if let Some(item) = self.pod_items.pop() {
            self.handle_pod_item(now, &item, lister);
        }
    }

    fn handle_timer(&mut self, now: Timestamp) {
        let retry_first = match (self.deletions.poll_timeout(), self.queue.poll_timeout()) {
            (Some(retry), Some(timer)) => retry < timer,
            (retry, _) => retry.is_some(),
        };
        if !retry_first {
            if let Some(pod) = self.queue.pop_due(now) {
                self.start_deletion(pod);
            }
            return;
        }
        match self.deletions.wake_next(self.behaviour.disruption_condition) {
            Some(deletion::Woken::Try(action)) => self.actions.push_back(action),
            // Nothing queues the pod again: it stays until it or its node changes.
            Some(deletion::Woken::GaveUp(pod)) => self.queue.finish(pod, false),
            None => {}
        }
    }

    /// Mirrors `Controller.handleNodeUpdate`.
    fn handle_node_item(&mut self, now: Timestamp, name: NodeName, lister: &impl Lister) {
        let Some(node) = lister.node(name.as_str()) else {
            // Timers of the node's pods stay, and will fire.
            self.tainted_nodes.remove(&name);
            return;
        };
        let taints: Arc<[Taint]> = no_execute(node).cloned().collect();
        self.actions.push_back(TaintEvictionAction::ReportNode {
            node: name.clone(),
            taints: taints.clone(),
        });
        if taints.is_empty() {
            self.tainted_nodes.remove(&name);
            for (pod, _) in lister.pods_on_node(name.as_str()) {
                let timer_cancelled = self.cancel_with_event(pod);
                self.report(pod, EvictionDecision::TaintsRemoved { timer_cancelled });
            }
            return;
        }
        self.tainted_nodes.insert(name.clone(), taints.clone());
        for (key, pod) in lister.pods_on_node(name.as_str()) {
            let resumed = self.resumed_timer(now, pod, &taints);
            self.process_pod_on_node((now, resumed), key, &pod.spec.tolerations, &taints);
        }
    }

    /// Mirrors `Controller.handlePodUpdate`.
    fn handle_pod_item(&mut self, now: Timestamp, item: &PodItem, lister: &impl Lister) {
        let Some(pod) = lister.pod(&item.pod) else {
            let timer_cancelled = self.cancel_with_event(&item.pod);
            self.report(&item.pod, EvictionDecision::PodGone { timer_cancelled });
            return;
        };
        let node = pod.spec.node_name.as_str();
        if node != item.node.as_str() || node.is_empty() {
            return;
        }
        // Without an entry nothing is cancelled: a timer that a pod brought from another node fires
        // here.
        if let Some(taints) = self.tainted_nodes.get(node).cloned() {
            self.process_pod_on_node((now, None), &item.pod, &pod.spec.tolerations, &taints);
        }
    }

    /// Mirrors `Controller.processPodOnNode`. `taints` is never empty: upstream would evict
    /// immediately. `resumed` is the end of a timer that has been running.
    fn process_pod_on_node(
        &mut self,
        (now, resumed): (Timestamp, Option<Timestamp>),
        pod: &PodKey,
        tolerations: &[Toleration],
        taints: &[Taint],
    ) {
        let gate = self.behaviour.comparison_operators;
        let matching = matching_tolerations(taints, tolerations, gate);
        if !matching.all_tolerated {
            self.evict_now(now, pod, tolerations, taints);
            return;
        }
        let used = matching.used.iter().filter_map(|&index| tolerations.get(index));
        let Ok(min) = u64::try_from(min_toleration_time(used)) else {
            self.tolerated_forever(pod);
            return;
        };
        let fire_at = resumed.unwrap_or(now.saturating_add(Duration::from_nanos(min)));
        // Upstream keeps the timer if it was created *before* now. A real clock never gives the
        // same reading for two changes, so here an equal time counts as before.
        if let Some(worker) = self.queue.get_worker(pod) {
            let kept = EvictionDecision::TimerKept { fire_at: worker.fire_at, otherwise: fire_at };
            self.report(pod, kept);
            return;
        }
        let decision = match self.queue.add_work(now, pod.clone(), now, fire_at) {
            AddWork::AlreadyExists => EvictionDecision::AlreadyDeleted,
            AddWork::Armed => EvictionDecision::Scheduled { created_at: now, fire_at },
            AddWork::StartNow => {
                self.starting.push_back(pod.clone());
                match resumed {
                    Some(_) => EvictionDecision::Scheduled { created_at: now, fire_at },
                    None => EvictionDecision::ToleratedForNoTime,
                }
            }
        };
        self.report(pod, decision);
    }

    /// Deletes a pod that does not tolerate all taints. This path ignores duplicates: a pod that is
    /// being deleted is deleted again.
    fn evict_now(
        &mut self,
        now: Timestamp,
        pod: &PodKey,
        tolerations: &[Toleration],
        taints: &[Taint],
    ) {
        self.cancel_with_event(pod);
        let gate = self.behaviour.comparison_operators;
        if let Some(taint) = find_matching_untolerated_taint(taints, tolerations, gate, |_| true) {
            self.report(pod, EvictionDecision::NotTolerated { taint: taint.clone() });
        }
        if self.behaviour.release.immediate_eviction_uses_timer() {
            self.queue.arm(now, pod.clone(), now, now);
        } else if self.queue.add_work(now, pod.clone(), now, now) == AddWork::StartNow {
            self.starting.push_back(pod.clone());
        }
    }

    fn tolerated_forever(&mut self, pod: &PodKey) {
        if self.behaviour.release.cancels_when_tolerated_forever() {
            self.cancel_with_event(pod);
            self.report(pod, EvictionDecision::ToleratedForever);
            return;
        }
        let decision = match self.queue.get_worker(pod) {
            Some(worker) => EvictionDecision::ToleratedForeverTooLate { fire_at: worker.fire_at },
            None => EvictionDecision::ToleratedForever,
        };
        self.report(pod, decision);
    }

    /// Mirrors `Controller.cancelWorkWithEvent`.
    fn cancel_with_event(&mut self, pod: &PodKey) -> bool {
        let cancelled = self.queue.cancel_work(pod);
        if cancelled {
            self.record(pod, "Cancelling deletion of Pod");
        }
        cancelled
    }

    /// Mirrors `deletePodHandler`: the event is recorded once, before the first attempt.
    fn start_deletion(&mut self, pod: PodKey) {
        self.record(&pod, "Marking for deletion Pod");
        let action = self.deletions.start(pod, self.behaviour.disruption_condition);
        self.actions.push_back(action);
    }

    fn record(&mut self, pod: &PodKey, what: &str) {
        let release = self.behaviour.release;
        let api_version = if release.event_reference_has_api_version() { "v1" } else { "" };
        self.actions.push_back(TaintEvictionAction::RecordEvent(RecordedEvent {
            involved_object: ObjectReference::Pod { api_version, pod: pod.clone() },
            type_: "Normal",
            reason: "TaintManagerEviction",
            message: format!("{what} {pod}"),
            component: release.taint_eviction_component(),
        }));
    }

    fn report(&mut self, pod: &PodKey, decision: EvictionDecision) {
        self.actions
            .push_back(TaintEvictionAction::Report(Decision { pod: pod.clone(), decision }));
    }

    /// Timer of a pod, also while its deletion is being tried.
    #[must_use]
    pub fn scheduled_eviction(&self, pod: &PodKey) -> Option<&TimedWorker> {
        self.queue.get_worker(pod)
    }

    /// All pods with a timer, by namespace and name.
    #[must_use]
    pub fn scheduled_evictions(&self) -> Vec<ScheduledEviction> {
        let pending = self.queue.pending().into_iter();
        pending
            .map(|(pod, worker)| ScheduledEviction {
                pod: pod.clone(),
                created_at: worker.created_at,
                fire_at: worker.fire_at,
            })
            .collect()
    }

    /// Timers by pod.
    pub(crate) fn timers(&self) -> OrderedMap<&PodKey, TimedWorker> {
        self.queue.pending()
    }

    /// Number of pods with a timer or a tombstone.
    #[must_use]
    pub fn queue_len(&self) -> usize {
        self.queue.len()
    }

    /// Pods with a `nil` entry: their deletion is being tried, or has succeeded but the pod is not
    /// gone yet (up to 1.32).
    #[must_use]
    pub fn tombstones(&self) -> OrderedSet<&PodKey> {
        self.queue.nil_keys()
    }

    /// Known nodes with `NoExecute` taints, and these taints.
    #[must_use]
    pub fn tainted_nodes(&self) -> &OrderedMap<NodeName, Arc<[Taint]>> {
        &self.tainted_nodes
    }

    /// Number of the next timer; see [`next_timer`](Self::next_timer).
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.queue.sequence()
    }

    /// Raises the number of the next timer to at least `sequence`, so that timers of this
    /// controller and of others have a common order of creation.
    pub fn align_sequence(&mut self, sequence: u64) {
        self.queue.align_sequence(sequence);
    }
}

impl Machine for TaintEvictionController {
    fn handle_change(&mut self, context: &mut Context<'_>, change: &Change) {
        match change {
            Change::Node { old, new, .. } => {
                self.handle_node_update(context.now, old.as_deref(), new.as_deref());
            }
            Change::Pod { key, old, new } => {
                self.handle_pod_update(context.now, key, old.as_deref(), new.as_deref());
            }
            Change::Workload { .. }
            | Change::Lease { .. }
            | Change::Budget { .. }
            | Change::Volume(_)
            | Change::Device(_) => {}
        }
    }

    fn handle_timeout(&mut self, context: &mut Context<'_>) {
        self.queue.align_sequence(context.sequence.peek());
        self.handle_timeout(context.now, context.cluster);
        context.sequence.advance_to(self.queue.sequence());
    }

    fn next_timer(&self) -> Option<TimerId> {
        self.next_timer()
    }

    fn timer_reason(&self) -> Option<TimeoutReason> {
        self.next_timer_reason()
    }

    fn next_work(&self) -> Option<WorkTicket> {
        self.has_queued_work().then_some((0, 0))
    }
}

impl Controller for TaintEvictionController {
    type Action = TaintEvictionAction;
    type Answer = RequestResult;

    fn poll_action(&mut self, _: &mut Context<'_>) -> Option<TaintEvictionAction> {
        self.poll_action()
    }

    fn handle_action_result(
        &mut self,
        context: &mut Context<'_>,
        id: RequestId,
        answer: RequestResult,
    ) {
        self.queue.align_sequence(context.sequence.peek());
        self.handle_action_result(context.now, id, answer);
        context.sequence.advance_to(self.queue.sequence());
    }
}

fn no_execute(node: &Node) -> impl Iterator<Item = &Taint> {
    node.spec.taints.iter().filter(|taint| taint.is_no_execute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_those_of_kubernetes() {
        for (name, shard) in [
            ("", 5),
            ("node0", 7),
            ("node1", 4),
            ("node2", 5),
            ("node3", 2),
            ("node-0", 0),
            ("node-1", 3),
            ("node-2", 6),
            ("node-3", 1),
            ("a", 4),
            ("foo", 7),
            ("worker-1", 5),
            ("ip-10-0-0-1.ec2.internal", 3),
        ] {
            assert_eq!(shard_of(name), shard, "{name}");
        }
    }
}
