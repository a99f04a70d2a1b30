//! Drains that are under way. Mirrors `kubectl drain` while it runs: `RunDrain`,
//! `DeleteOrEvictPods` and `waitForDelete` of `k8s.io/kubectl`.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::Simulator;
use crate::api::{NodeName, PodKey};
use crate::command::{Command, CommandError};
use crate::drain::{DrainOptions, PodsForDeletion, aggregate, pods_for_deletion, quoted};
use crate::event::{Happening, TimeoutReason};
use crate::time::{Timestamp, format_duration};

/// How long `kubectl` waits after an eviction that a budget forbade.
const RETRY: Duration = Duration::from_secs(5);
/// How often `kubectl` looks whether a pod is gone.
const POLL: Duration = Duration::from_secs(1);

/// The drains that are under way, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Drains {
    started: u64,
    running: BTreeMap<u64, Drain>,
    pub(super) timers: BTreeMap<(Timestamp, u64), (u64, Step)>,
}

/// What a drain does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It tries once more to evict a pod.
    Evict(PodKey),
    /// It sees that a pod is gone.
    Gone(PodKey),
    /// It has no more time for this node.
    TimeOver,
}

#[derive(Clone, Debug)]
struct Drain {
    options: DrainOptions,
    /// Nodes that come after this one.
    next: VecDeque<NodeName>,
    node: NodeName,
    deadline: Option<Timestamp>,
    pods: BTreeMap<PodKey, Pending>,
    /// What went wrong with pods of this node.
    errors: Vec<String>,
    /// Nodes that were not drained, and why.
    failed: Vec<(NodeName, Vec<String>)>,
}

/// A pod that a drain has not done with.
#[derive(Clone, Debug)]
struct Pending {
    uid: String,
    /// When the API server took its deletion.
    accepted: Option<Timestamp>,
}

impl Simulator {
    /// `kubectl drain`, after it has cordoned the nodes.
    pub(super) fn start_drain(
        &mut self,
        nodes: Vec<NodeName>,
        options: DrainOptions,
    ) -> Result<(), CommandError> {
        for node in &nodes {
            self.node(node)?;
        }
        let mut next = VecDeque::from(nodes);
        let Some(node) = next.pop_front() else { return Ok(()) };
        self.drains.started += 1;
        let id = self.drains.started;
        let drain = Drain {
            options,
            next,
            node,
            deadline: None,
            pods: BTreeMap::new(),
            errors: Vec::new(),
            failed: Vec::new(),
        };
        self.emit(Happening::DrainStarted { drain: id });
        self.drains.running.insert(id, drain);
        self.drain_node(id);
        Ok(())
    }

    /// Ends a drain, as Ctrl+C does. What it has begun goes on.
    pub(super) fn cancel_drain(&mut self, id: u64) -> Result<(), CommandError> {
        if self.drains.running.remove(&id).is_none() {
            return Err(CommandError::InvalidValue {
                field: "drain",
                value: format!("{id}"),
                expected: "the number of a drain that is under way",
            });
        }
        self.drains.timers.retain(|_, (drain, _)| *drain != id);
        self.emit(Happening::DrainEnded { drain: id, failed: true });
        Ok(())
    }

    /// The drains that are under way: the number of each, the node it is at, and the pods that it
    /// has not done with.
    pub fn drains(&self) -> impl Iterator<Item = (u64, &NodeName, impl Iterator<Item = &PodKey>)> {
        self.drains.running.iter().map(|(id, drain)| (*id, &drain.node, drain.pods.keys()))
    }

    fn drain_node(&mut self, id: u64) {
        let Some(drain) = self.drains.running.get(&id) else { return };
        let (node, options) = (drain.node.clone(), drain.options.clone());
        let release = self.config.release;
        let PodsForDeletion { pods, warnings, errors } =
            pods_for_deletion(&self.cluster, node.as_str(), &options, release);
        if !errors.is_empty() {
            self.drain_failed(id, errors);
            return;
        }
        if !warnings.is_empty() {
            let word = release.drain_warning_word();
            self.drain_says(id, true, format!("{word}: {warnings}"));
        }
        let now = self.now;
        if let Some(drain) = self.drains.running.get_mut(&id) {
            let pending = |key: &PodKey| {
                let uid = self.cluster.get_pod(key)?.metadata.uid.clone();
                Some((key.clone(), Pending { uid, accepted: None }))
            };
            drain.pods = pods.iter().filter_map(pending).collect();
            let timeout = options.timeout.0;
            drain.deadline = (!timeout.is_zero()).then(|| now.saturating_add(timeout));
        }
        if pods.is_empty() {
            self.drained(id);
            return;
        }
        if !options.timeout.0.is_zero() {
            self.drain_timer(id, now.saturating_add(options.timeout.0), Step::TimeOver);
        }
        for pod in pods {
            self.drain_pod(id, &pod);
        }
    }

    fn drain_timer(&mut self, id: u64, at: Timestamp, step: Step) {
        let sequence = self.next_sequence();
        self.drains.timers.insert((at, sequence), (id, step));
    }

    fn drain_says(&mut self, id: u64, is_error: bool, line: String) {
        self.emit(Happening::DrainPrinted { drain: id, is_error, line });
    }

    /// Tries to get rid of one pod.
    fn drain_pod(&mut self, id: u64, pod: &PodKey) {
        let Some(drain) = self.drains.running.get(&id) else { return };
        if !drain.pods.contains_key(pod) {
            return;
        }
        let (evicts, grace) = (!drain.options.disable_eviction, drain.options.grace_period_seconds);
        let timeout = drain.options.timeout.0;
        let over = drain.deadline.is_some_and(|deadline| self.now >= deadline);
        let named = format!("pods/{} -n {}", quoted(pod.name()), quoted(pod.namespace()));
        if evicts {
            self.drain_says(id, false, format!("evicting pod {pod}"));
        }
        if over {
            let timeout = format_duration(timeout);
            let error = format!("error when evicting {named}: global timeout reached: {timeout}");
            self.drain_done_with(id, pod, Some(error));
            return;
        }
        // As upstream, the pod is found by its name: a new one of that name is evicted as well.
        let command = if evicts && self.control.is_some() {
            Command::EvictPod { pod: pod.clone(), grace_period_seconds: grace }
        } else {
            Command::DeletePod {
                pod: pod.clone(),
                force: grace == Some(0),
                grace_period_seconds: grace.filter(|seconds| *seconds > 0),
            }
        };
        let uid = self.uid_of(pod);
        match self.apply(command) {
            Ok(()) => {
                let now = self.now;
                let pods = self.drains.running.get_mut(&id).map(|drain| &mut drain.pods);
                if let Some(pending) = pods.and_then(|pods| pods.get_mut(pod)) {
                    pending.uid = uid;
                    pending.accepted = Some(now);
                }
                self.drain_sees(pod);
            }
            Err(error @ CommandError::DisruptionBudget { .. }) => {
                let line = format!("error when evicting {named} (will retry after 5s): {error}");
                self.drain_says(id, true, line);
                self.drain_timer(id, self.now.saturating_add(RETRY), Step::Evict(pod.clone()));
            }
            Err(CommandError::PodNotFound(_)) => self.drain_done_with(id, pod, None),
            Err(error) => {
                let error = format!("error when evicting {named}: {error}");
                self.drain_done_with(id, pod, Some(error));
            }
        }
    }

    /// A pod has gone, or another one of its name is there: who waits for that will see it when it
    /// looks next.
    pub(super) fn drain_sees(&mut self, pod: &PodKey) {
        if self.drains.running.is_empty() {
            return;
        }
        let uid = self.cluster.get_pod(pod).map(|pod| pod.metadata.uid.clone());
        let mut seen = Vec::new();
        for (id, drain) in &mut self.drains.running {
            let Some(pending) = drain.pods.get_mut(pod) else { continue };
            if let Some(accepted) = pending.accepted
                && uid.as_ref() != Some(&pending.uid)
            {
                pending.accepted = None;
                let waited = self.now.since_zero().saturating_sub(accepted.since_zero());
                let polls = waited.as_nanos().div_ceil(POLL.as_nanos());
                let polls = u32::try_from(polls).unwrap_or(u32::MAX);
                seen.push((*id, accepted.saturating_add(POLL.saturating_mul(polls))));
            }
        }
        for (id, at) in seen {
            self.drain_timer(id, at, Step::Gone(pod.clone()));
        }
    }

    /// The next step of a drain is due.
    pub(super) fn fire_drain_timer(&mut self) {
        let Some((_, (id, step))) = self.drains.timers.pop_first() else { return };
        match step {
            Step::Evict(pod) => self.drain_pod(id, &pod),
            Step::Gone(pod) => {
                let Some(drain) = self.drains.running.get(&id) else { return };
                let verb = if drain.options.disable_eviction { "deleted" } else { "evicted" };
                self.drain_says(id, false, format!("pod/{} {verb}", pod.name()));
                self.drain_done_with(id, &pod, None);
            }
            Step::TimeOver => self.drain_time_over(id),
        }
    }

    /// Nobody waits any longer for pods that are terminating; those that are to be evicted once more
    /// notice it when they are.
    fn drain_time_over(&mut self, id: u64) {
        let Some(drain) = self.drains.running.get(&id) else { return };
        let why = if self.config.release.drain_wait_names_timeout() {
            format!("global timeout reached: {}", format_duration(drain.options.timeout.0))
        } else {
            "context deadline exceeded".into()
        };
        let waiting = drain.pods.iter().filter(|(_, pending)| pending.accepted.is_some());
        let waiting: Vec<PodKey> = waiting.map(|(pod, _)| pod.clone()).collect();
        for pod in waiting {
            let error = format!(
                "error when waiting for pod {} in namespace {} to terminate: {why}",
                quoted(pod.name()),
                quoted(pod.namespace())
            );
            self.drain_done_with(id, &pod, Some(error));
        }
    }

    fn drain_done_with(&mut self, id: u64, pod: &PodKey, error: Option<String>) {
        let Some(drain) = self.drains.running.get_mut(&id) else { return };
        drain.pods.remove(pod);
        drain.errors.extend(error);
        if !drain.pods.is_empty() {
            return;
        }
        let errors = core::mem::take(&mut drain.errors);
        self.drains.timers.retain(|_, (drain, _)| *drain != id);
        if errors.is_empty() { self.drained(id) } else { self.drain_gave_up(id, errors) }
    }

    fn drained(&mut self, id: u64) {
        let Some(drain) = self.drains.running.get(&id) else { return };
        let word = self.config.release.drained_word();
        let line = format!("node/{} {word}", drain.node);
        self.drain_says(id, false, line);
        self.drain_goes_on(id);
    }

    /// Errors came up after pods were evicted.
    fn drain_gave_up(&mut self, id: u64, errors: Vec<String>) {
        let Some(drain) = self.drains.running.get(&id) else { return };
        let node = drain.node.clone();
        let left =
            pods_for_deletion(&self.cluster, node.as_str(), &drain.options, self.config.release);
        if !left.pods.is_empty() {
            let node = quoted(node.as_str());
            let all = aggregate(&errors);
            let line =
                format!("There are pending pods in node {node} when an error occurred: {all}");
            self.drain_says(id, true, line);
            for pod in left.pods {
                self.drain_says(id, true, format!("pod/{}", pod.name()));
            }
        }
        self.drain_failed(id, errors);
    }

    fn drain_failed(&mut self, id: u64, errors: Vec<String>) {
        let goes_on = self.config.release.drain_continues_after_errors();
        let Some(drain) = self.drains.running.get_mut(&id) else { return };
        let node = quoted(drain.node.as_str());
        let all = aggregate(&errors);
        drain.failed.push((drain.node.clone(), errors));
        if goes_on {
            let line = format!(
                "error: unable to drain node {node} due to error: {all}, continuing command..."
            );
            self.drain_says(id, true, line);
            self.drain_goes_on(id);
        } else {
            let rest: Vec<NodeName> = drain.next.drain(..).collect();
            drain.failed.extend(rest.into_iter().map(|node| (node, Vec::new())));
            self.drain_says(
                id,
                true,
                format!("error: unable to drain node {node}, aborting command...\n"),
            );
            self.drain_ended(id);
        }
    }

    fn drain_goes_on(&mut self, id: u64) {
        let Some(drain) = self.drains.running.get_mut(&id) else { return };
        match drain.next.pop_front() {
            Some(node) => {
                drain.node = node;
                self.drain_node(id);
            }
            None => self.drain_ended(id),
        }
    }

    fn drain_ended(&mut self, id: u64) {
        let Some(drain) = self.drains.running.remove(&id) else { return };
        self.drains.timers.retain(|_, (drain, _)| *drain != id);
        let failed = !drain.failed.is_empty();
        if failed {
            self.drain_says(id, true, "There are pending nodes to be drained:".into());
            for (node, _) in &drain.failed {
                self.drain_says(id, true, format!(" {node}"));
            }
            let errors: Vec<String> = drain.failed.into_iter().flat_map(|(_, all)| all).collect();
            match errors.as_slice() {
                [error] => self.drain_says(id, true, format!("error: {error}")),
                _ => errors.into_iter().for_each(|error| self.drain_says(id, true, error)),
            }
        }
        self.emit(Happening::DrainEnded { drain: id, failed });
    }

    /// Why a drain's timer matters.
    pub(super) fn drain_reason(&self, timer: (Timestamp, u64)) -> Option<TimeoutReason> {
        let (id, _) = self.drains.timers.get(&timer)?;
        let drain = self.drains.running.get(id)?;
        Some(TimeoutReason::DrainGoesOn { node: drain.node.clone() })
    }
}
