//! The scheduler at work: pods that wait for a node, in their order, and when they are tried again.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::time::Duration;

use super::{Context, Controller, WorkTicket};
use crate::api::{Node, NodeName, Pod, PodCondition, PodKey, SchedulingFields};
use crate::cluster::{Change, Cluster};
use crate::policy::scheduling::{
    BudgetOfVictims, Decision, FilterPlugin, Snapshot, preempted_condition, preempted_message,
};
use crate::protocol::{ObjectReference, RecordedEvent, RequestId, TimeoutReason};
use crate::queue::timer_queue::{TimerId, TimerQueue};
use crate::release::KubernetesRelease;
use crate::time::Timestamp;

/// `--pod-initial-backoff-seconds` and `--pod-max-backoff-seconds`: how long a pod waits before it
/// is tried again, at first and at most.
const BACKOFF: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(10));

/// What the scheduler wants done. The result of none matters to it: what comes of it, a watch
/// tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchedulerAction {
    /// Record a Kubernetes Event.
    RecordEvent(RecordedEvent),
    /// `POST` a binding of the pod to the node.
    BindPod {
        /// Which pod.
        pod: PodKey,
        /// Which node.
        node: NodeName,
    },
    /// `PATCH` the condition `PodScheduled` of the pod: False, with the reason `Unschedulable`.
    MarkUnschedulable {
        /// Which pod.
        pod: PodKey,
        /// The message.
        message: String,
        /// Where room was made for it, if it was: `status.nominatedNodeName` is set too.
        nominated: Option<NodeName>,
    },
    /// `DELETE` a pod that makes room for another one.
    PreemptPod {
        /// Which pod.
        pod: PodKey,
        /// Its condition `DisruptionTarget`, written before if the gate `PodDisruptionConditions`
        /// is on.
        condition: PodCondition,
        /// The event that is recorded after it.
        event: RecordedEvent,
    },
    /// `PATCH` away `status.nominatedNodeName` of the pod.
    ClearNomination {
        /// Which pod.
        pod: PodKey,
    },
}

/// The pods that have no node, and what is known of nodes. Mirrors `pkg/scheduler`.
#[derive(Clone, Debug)]
pub struct Scheduler {
    snapshot: Snapshot,
    /// Changes with the snapshot.
    version: u64,
    waiting: BTreeMap<PodKey, Waiting>,
    /// Those to be tried: by priority, then in the order in which they came.
    active: BTreeMap<(Reverse<i64>, u64), PodKey>,
    /// Those that were tried in vain and wait for a change of nodes, of pods or of both.
    stuck: BTreeSet<PodKey>,
    stuck_on_pods: BTreeSet<PodKey>,
    /// Where the search for nodes goes on.
    next: usize,
    entered: u64,
    /// What was said last of pods of one controller, and when in terms of `version`.
    failures: BTreeMap<String, (u64, String, bool)>,
    /// When pods are tried again.
    timers: TimerQueue<PodKey>,
    actions: VecDeque<SchedulerAction>,
}

#[derive(Clone, Debug, Default)]
struct Waiting {
    attempts: u32,
    /// Not before.
    backoff: Timestamp,
    message: String,
    place: Option<(Reverse<i64>, u64)>,
}

/// Whether this scheduler is to find a node for the pod.
fn is_ours(pod: &Pod) -> bool {
    let other = |name: &str| pod.spec.other.get(name);
    let scheduler = other("schedulerName").and_then(serde_json::Value::as_str).unwrap_or("");
    let gated = other("schedulingGates").and_then(serde_json::Value::as_array);
    pod.spec.node_name.is_empty()
        && matches!(scheduler, "" | "default-scheduler")
        && gated.is_none_or(Vec::is_empty)
        && pod.is_active()
}

impl Scheduler {
    /// A scheduler that knows these nodes: tell it of all pods.
    #[must_use]
    pub fn new(snapshot: Snapshot) -> Self {
        Self {
            snapshot,
            version: 0,
            waiting: BTreeMap::new(),
            active: BTreeMap::new(),
            stuck: BTreeSet::new(),
            stuck_on_pods: BTreeSet::new(),
            next: 0,
            entered: 0,
            failures: BTreeMap::new(),
            timers: TimerQueue::default(),
            actions: VecDeque::new(),
        }
    }

    /// What it knows of nodes and the pods on them.
    #[must_use]
    pub const fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// What it would say now of every node, for a pod that waits for one; `None` if the pod does
    /// not wait for this scheduler.
    #[must_use]
    pub fn decision(&self, pod: &Pod) -> Option<Decision> {
        is_ours(pod).then(|| self.snapshot.schedule(pod).ok()).flatten()
    }

    fn forget(&mut self, key: &PodKey) {
        if let Some(waiting) = self.waiting.remove(key) {
            if let Some(place) = waiting.place {
                self.active.remove(&place);
            }
            self.stuck.remove(key);
            self.stuck_on_pods.remove(key);
        }
    }

    /// The pod is to be tried.
    fn activate(&mut self, key: &PodKey, priority: i64) {
        self.stuck.remove(key);
        self.stuck_on_pods.remove(key);
        let waiting = self.waiting.entry(key.clone()).or_default();
        if waiting.place.is_none() {
            self.entered += 1;
            let place = (Reverse(priority), self.entered);
            waiting.place = Some(place);
            self.active.insert(place, key.clone());
        }
    }

    fn observe_node(&mut self, context: &mut Context<'_>, old: Option<&Node>, new: Option<&Node>) {
        match new {
            Some(node) => {
                let same = old.is_some_and(|old| {
                    old.spec == node.spec
                        && old.metadata.labels == node.metadata.labels
                        && old.status.other == node.status.other
                });
                // What cannot be read was refused, or is as it was.
                if same || self.snapshot.set_node(node).is_err() {
                    return;
                }
            }
            None => {
                let name = old.map(|old| old.metadata.name.clone()).unwrap_or_default();
                self.snapshot.remove_node(&name);
            }
        }
        self.version += 1;
        if new.is_some() {
            let stuck: Vec<PodKey> = self.stuck.union(&self.stuck_on_pods).cloned().collect();
            self.retry(context, stuck);
        }
    }

    fn observe_pod(
        &mut self,
        context: &mut Context<'_>,
        key: &PodKey,
        old: Option<&Pod>,
        new: Option<&Pod>,
    ) {
        let node = |pod: Option<&Pod>| {
            pod.map(|pod| pod.spec.node_name.clone()).filter(|node| !node.is_empty())
        };
        let (was_on, is_on) = (node(old), node(new));
        let mut freed = false;
        if let Some(was_on) = &was_on
            && is_on.as_ref() != Some(was_on)
        {
            freed = self.snapshot.remove_pod(key, was_on);
        }
        if let Some(pod) = new.filter(|_| is_on.is_some()) {
            let active = pod.is_active();
            let same = old.is_some_and(|old| {
                was_on == is_on
                    && old.spec == pod.spec
                    && old.metadata.labels == pod.metadata.labels
                    && old.is_terminating() == pod.is_terminating()
                    && old.is_active() == active
                    && old.start_time() == pod.start_time()
                    && old.metadata.owner_references == pod.metadata.owner_references
            });
            if !same {
                let _ = self.snapshot.add_pod(pod);
                // A pod that is terminating takes its room until it is gone.
                freed |= pod.has_ended();
                self.version += 1;
            }
        }
        self.version += u64::from(freed);
        match new.filter(|pod| is_ours(pod)) {
            None => {
                if is_on.is_none() {
                    self.snapshot.remove_pod(key, "");
                }
                self.forget(key);
            }
            Some(pod) => {
                let nominated = |pod: &Pod| pod.nominated_node_name().to_string();
                if nominated(pod) != old.map(nominated).unwrap_or_default() {
                    let _ = self.snapshot.add_pod(pod);
                    self.version += 1;
                }
                let writes_count = self.snapshot.release().retries_after_status_write();
                let tried = self.stuck.contains(key) || self.stuck_on_pods.contains(key);
                let changed = old.is_none_or(|old| {
                    old.metadata.uid != pod.metadata.uid
                        || old.spec != pod.spec
                        || old.metadata.labels != pod.metadata.labels
                        || (writes_count && tried && old.status != pod.status)
                });
                if changed || !self.waiting.contains_key(key) {
                    self.failures.clear();
                    self.activate(key, priority_of(pod));
                }
            }
        }
        if freed {
            let stuck: Vec<PodKey> = self.stuck_on_pods.iter().cloned().collect();
            self.retry(context, stuck);
        }
    }

    /// Something has changed that may help these pods: they are tried again, but not too often.
    fn retry(&mut self, context: &mut Context<'_>, pods: Vec<PodKey>) {
        for key in pods {
            self.stuck.remove(&key);
            self.stuck_on_pods.remove(&key);
            let backoff = self.waiting.get(&key).map(|waiting| waiting.backoff);
            match backoff {
                Some(backoff) if backoff > context.now => {
                    // Those that wait are looked at once a second.
                    let flush = backoff.as_nanos().checked_next_multiple_of(1_000_000_000);
                    let flush = flush.map_or(backoff, Timestamp::from_nanos);
                    self.timers.start(context.sequence, flush, key);
                }
                _ => self.try_again(context.cluster, &key),
            }
        }
    }

    /// The pod has waited for long enough.
    fn try_again(&mut self, cluster: &Cluster, key: &PodKey) {
        let pod = cluster.get_pod(key).filter(|pod| is_ours(pod));
        if let Some(pod) = pod.filter(|_| self.waiting.contains_key(key)) {
            self.activate(key, priority_of(pod));
        }
    }

    /// Finds a node for the next pod.
    fn schedule_next(&mut self, context: &Context<'_>) {
        let Some((_, key)) = self.active.pop_first() else { return };
        if let Some(waiting) = self.waiting.get_mut(&key) {
            waiting.place = None;
        }
        let Some(pod) = context.cluster.get_pod(&key) else { return };
        match self.snapshot.place(pod, &mut self.next) {
            Ok(Some(node)) => {
                let message = format!("Successfully assigned {key} to {node}");
                self.record(&key, "Normal", "Scheduled", message);
                let node = node.as_str().into();
                self.actions.push_back(SchedulerAction::BindPod { pod: key, node });
            }
            Ok(None) => {
                let (message, on_pods) = self.explain_alike(pod);
                let nominated = self.preempt(context.cluster, pod);
                self.unschedulable(context.now, key, message, on_pods, nominated);
            }
            Err(error) => self.unschedulable(context.now, key, error.to_string(), true, None),
        }
    }

    /// Makes room for a pod that fits nowhere, if it can be made; where. Mirrors
    /// `DefaultPreemption.PostFilter`.
    fn preempt(&mut self, cluster: &Cluster, pod: &Pod) -> Option<NodeName> {
        let priority = priority_of(pod);
        if pod.nominated_node_name().is_empty() && !self.snapshot.has_lower_priority(priority) {
            return None;
        }
        let budgets = cluster.budgets().filter_map(|(_, budget)| BudgetOfVictims::of(budget));
        let budgets: Vec<BudgetOfVictims> = budgets.collect();
        let preemption = self.snapshot.preempt(pod, &budgets).ok()?;
        let Some(chosen) = preemption.chosen() else {
            if preemption.eligible && !pod.nominated_node_name().is_empty() {
                self.actions.push_back(SchedulerAction::ClearNomination { pod: pod.key() });
            }
            return None;
        };
        let release = self.snapshot.release();
        for victim in &chosen.victims {
            self.actions.push_back(SchedulerAction::PreemptPod {
                pod: victim.clone(),
                condition: preempted_condition(release, pod),
                event: preempted_event(release, pod, victim, &chosen.node),
            });
        }
        for pod in preemption.outranked.iter().cloned() {
            self.actions.push_back(SchedulerAction::ClearNomination { pod });
        }
        Some(chosen.node.as_str().into())
    }

    /// Why a pod goes nowhere, and whether other pods have to do with it.
    fn explain_alike(&mut self, pod: &Pod) -> (String, bool) {
        // Pods of one controller are alike, but for those that are for one node each.
        let owner = pod.metadata.controller().filter(|owner| owner.kind != "DaemonSet");
        let namespace = pod.key();
        let alike =
            owner.map(|owner| format!("{}/{}/{}", namespace.namespace(), owner.kind, owner.name));
        let known = alike.as_ref().and_then(|alike| self.failures.get(alike));
        let (message, on_pods) = match known {
            Some((version, message, on_pods)) if *version == self.version => {
                (message.clone(), *on_pods)
            }
            _ => self.explain(pod),
        };
        if let Some(alike) = alike {
            self.failures.insert(alike, (self.version, message.clone(), on_pods));
        }
        (message, on_pods)
    }

    fn explain(&self, pod: &Pod) -> (String, bool) {
        match self.snapshot.schedule(pod) {
            Err(error) => (error.to_string(), true),
            Ok(decision) => {
                let mut rejections =
                    decision.verdicts.iter().filter_map(|verdict| verdict.rejection.as_ref());
                let on_pods = rejections.any(|rejection| {
                    matches!(
                        rejection.plugin,
                        FilterPlugin::NodeResourcesFit
                            | FilterPlugin::NodePorts
                            | FilterPlugin::PodTopologySpread
                            | FilterPlugin::InterPodAffinity
                    )
                });
                (decision.message.unwrap_or_default(), on_pods)
            }
        }
    }

    /// The pod goes nowhere for now.
    fn unschedulable(
        &mut self,
        now: Timestamp,
        key: PodKey,
        message: String,
        on_pods: bool,
        nominated: Option<NodeName>,
    ) {
        if on_pods {
            self.stuck_on_pods.insert(key.clone());
        } else {
            self.stuck.insert(key.clone());
        }
        let Some(waiting) = self.waiting.get_mut(&key) else { return };
        let (first, most) = BACKOFF;
        let doubled = first.saturating_mul(1 << waiting.attempts.min(8));
        waiting.attempts = waiting.attempts.saturating_add(1);
        waiting.backoff = now.saturating_add(doubled.min(most));
        let same = waiting.message == message;
        if same && nominated.is_none() {
            return;
        }
        waiting.message.clone_from(&message);
        if !same {
            self.record(&key, "Warning", "FailedScheduling", message.clone());
        }
        self.actions.push_back(SchedulerAction::MarkUnschedulable { pod: key, message, nominated });
    }

    fn record(&mut self, pod: &PodKey, type_: &'static str, reason: &'static str, message: String) {
        let event = event_of(pod, type_, reason, message);
        self.actions.push_back(SchedulerAction::RecordEvent(event));
    }
}

/// The event of a pod that goes to make room on a node.
#[must_use]
pub fn preempted_event(
    release: KubernetesRelease,
    preemptor: &Pod,
    victim: &PodKey,
    node: &str,
) -> RecordedEvent {
    let message = preempted_message(release.preempted_message(), preemptor, node);
    event_of(victim, "Normal", "Preempted", message)
}

fn event_of(
    pod: &PodKey,
    type_: &'static str,
    reason: &'static str,
    message: String,
) -> RecordedEvent {
    RecordedEvent {
        involved_object: ObjectReference::Pod { api_version: "v1", pod: pod.clone() },
        type_,
        reason,
        message,
        component: "default-scheduler",
    }
}

fn priority_of(pod: &Pod) -> i64 {
    SchedulingFields::of(pod).map_or(0, |fields| fields.priority)
}

impl Controller for Scheduler {
    type Action = SchedulerAction;
    type Answer = ();

    fn handle_change(&mut self, context: &mut Context<'_>, change: &Change) {
        match change {
            Change::Node { old, new, .. } => {
                self.observe_node(context, old.as_deref(), new.as_deref());
            }
            Change::Pod { key, old, new } => {
                self.observe_pod(context, key, old.as_deref(), new.as_deref());
            }
            Change::Workload { .. } | Change::Budget { .. } | Change::Lease { .. } => {}
        }
    }

    fn handle_timeout(&mut self, context: &mut Context<'_>) {
        match self.timers.pop_due(context.now) {
            Some(pod) => self.try_again(context.cluster, &pod),
            None => self.schedule_next(context),
        }
    }

    fn poll_action(&mut self, _: &mut Context<'_>) -> Option<SchedulerAction> {
        self.actions.pop_front()
    }

    fn handle_action_result(&mut self, _: &mut Context<'_>, _: RequestId, (): ()) {}

    fn next_timer(&self) -> Option<TimerId> {
        self.timers.next()
    }

    fn timer_reason(&self) -> Option<TimeoutReason> {
        Some(TimeoutReason::RetryScheduling { pod: self.timers.peek()?.clone() })
    }

    fn next_work(&self) -> Option<WorkTicket> {
        self.active.first_key_value().map(|((_, entered), _)| (2, *entered))
    }
}
