//! The scheduler at work: pods that wait for a node, in their order, and when they are tried again.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use core::cmp::Reverse;
use core::time::Duration;

use super::super::Simulator;
use super::Due;
use crate::api::{ConditionStatus, Node, Pod, PodCondition, PodKey, SchedulingFields};
use crate::event::{Happening, ObjectReference, RecordedEvent};
use crate::scheduling::{Decision, FilterPlugin, Snapshot};
use crate::time::Timestamp;

/// `--pod-initial-backoff-seconds` and `--pod-max-backoff-seconds`: how long a pod waits before it
/// is tried again, at first and at most.
const BACKOFF: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(10));

/// The pods that have no node, and what is known of nodes.
#[derive(Clone, Debug)]
pub(in super::super) struct Scheduler {
    pub(super) snapshot: Snapshot,
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
}

#[derive(Clone, Debug, Default)]
struct Waiting {
    attempts: u32,
    /// Not before.
    backoff: Timestamp,
    message: String,
    place: Option<(Reverse<i64>, u64)>,
}

impl Scheduler {
    pub(super) const fn new(snapshot: Snapshot) -> Self {
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
        }
    }

    pub(super) fn has_work(&self) -> bool {
        !self.active.is_empty()
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
}

/// Whether the scheduler that is simulated is to find a node for this pod.
fn is_ours(pod: &Pod) -> bool {
    let other = |name: &str| pod.spec.other.get(name);
    let scheduler = other("schedulerName").and_then(serde_json::Value::as_str).unwrap_or("");
    let gated = other("schedulingGates").and_then(serde_json::Value::as_array);
    pod.spec.node_name.is_empty()
        && !pod.is_terminating()
        && matches!(scheduler, "" | "default-scheduler")
        && gated.is_none_or(alloc::vec::Vec::is_empty)
        && super::track::is_active(pod)
}

impl Simulator {
    /// A node was added, changed or deleted.
    pub(super) fn schedule_node(&mut self, old: Option<&Node>, new: Option<&Node>) {
        let Some(control) = &mut self.control else { return };
        let scheduler = &mut control.scheduler;
        match new {
            Some(node) => {
                let same = old.is_some_and(|old| {
                    old.spec == node.spec
                        && old.metadata.labels == node.metadata.labels
                        && old.status.other == node.status.other
                });
                // What cannot be read was refused, or is as it was.
                if same || scheduler.snapshot.set_node(node).is_err() {
                    return;
                }
            }
            None => {
                let name = old.map(|old| old.metadata.name.clone()).unwrap_or_default();
                scheduler.snapshot.remove_node(&name);
            }
        }
        scheduler.version += 1;
        if new.is_some() {
            let stuck: alloc::vec::Vec<PodKey> =
                scheduler.stuck.union(&scheduler.stuck_on_pods).cloned().collect();
            self.retry(&stuck);
        }
    }

    /// A pod was added, changed or deleted.
    pub(super) fn schedule_pod(&mut self, key: &PodKey, old: Option<&Pod>, new: Option<&Pod>) {
        let Some(control) = &mut self.control else { return };
        let scheduler = &mut control.scheduler;
        let node = |pod: Option<&Pod>| {
            pod.map(|pod| pod.spec.node_name.clone()).filter(|node| !node.is_empty())
        };
        let (was_on, is_on) = (node(old), node(new));
        let mut freed = false;
        if let Some(was_on) = &was_on
            && is_on.as_ref() != Some(was_on)
        {
            freed = scheduler.snapshot.remove_pod(key, was_on);
        }
        if let Some(pod) = new.filter(|_| is_on.is_some()) {
            let active = super::track::is_active(pod);
            let same = old.is_some_and(|old| {
                was_on == is_on
                    && old.spec == pod.spec
                    && old.metadata.labels == pod.metadata.labels
                    && old.is_terminating() == pod.is_terminating()
                    && super::track::is_active(old) == active
                    && old.metadata.owner_references == pod.metadata.owner_references
            });
            if !same {
                let _ = scheduler.snapshot.add_pod(pod);
                freed |= !active;
                scheduler.version += 1;
            }
        }
        scheduler.version += u64::from(freed);
        match new.filter(|pod| is_ours(pod)) {
            None => scheduler.forget(key),
            Some(pod) => {
                let changed = old.is_none_or(|old| {
                    old.metadata.uid != pod.metadata.uid
                        || old.spec != pod.spec
                        || old.metadata.labels != pod.metadata.labels
                });
                if changed || !scheduler.waiting.contains_key(key) {
                    let priority = SchedulingFields::of(pod).map_or(0, |fields| fields.priority);
                    scheduler.failures.clear();
                    scheduler.activate(key, priority);
                }
            }
        }
        if freed {
            let stuck: alloc::vec::Vec<PodKey> = scheduler.stuck_on_pods.iter().cloned().collect();
            self.retry(&stuck);
        }
    }

    /// Something has changed that may help these pods: they are tried again, but not too often.
    fn retry(&mut self, pods: &[PodKey]) {
        for key in pods {
            let Some(control) = &mut self.control else { return };
            let scheduler = &mut control.scheduler;
            scheduler.stuck.remove(key);
            scheduler.stuck_on_pods.remove(key);
            let backoff = scheduler.waiting.get(key).map(|waiting| waiting.backoff);
            match backoff {
                Some(backoff) if backoff > self.now => {
                    self.control_timer(backoff, Due::Schedule(key.clone()));
                }
                _ => self.try_again(key),
            }
        }
    }

    /// The pod has waited for long enough.
    pub(super) fn try_again(&mut self, key: &PodKey) {
        let priority = self
            .cluster
            .get_pod(key)
            .filter(|pod| is_ours(pod))
            .map(|pod| SchedulingFields::of(pod).map_or(0, |fields| fields.priority));
        if let (Some(priority), Some(control)) = (priority, &mut self.control)
            && control.scheduler.waiting.contains_key(key)
        {
            control.scheduler.activate(key, priority);
        }
    }

    /// What the scheduler would say now of every node, for a pod that waits for one; `None` if the
    /// pod does not wait for the scheduler.
    #[must_use]
    pub fn scheduling_decision(&self, pod: &PodKey) -> Option<Decision> {
        let waits = self.cluster.get_pod(pod).filter(|pod| is_ours(pod))?;
        self.control.as_ref()?.scheduler.snapshot.schedule(waits).ok()
    }

    /// Finds a node for the next pod.
    pub(super) fn schedule_next(&mut self) {
        let Some(control) = &mut self.control else { return };
        let Some((_, key)) = control.scheduler.active.pop_first() else { return };
        if let Some(waiting) = control.scheduler.waiting.get_mut(&key) {
            waiting.place = None;
        }
        let Some(pod) = self.cluster.get_pod(&key).cloned() else { return };
        let scheduler = &mut control.scheduler;
        let placed = match scheduler.snapshot.place(&pod, &mut scheduler.next) {
            Ok(node) => node,
            Err(error) => {
                self.unschedulable(&key, &pod, error.to_string(), true);
                return;
            }
        };
        if let Some(node) = placed {
            self.bind(&key, &pod, &node);
            return;
        }
        // Pods of one controller are alike, but for those that are for one node each.
        let owner = pod.metadata.controller().filter(|owner| owner.kind != "DaemonSet");
        let alike = owner.map(|owner| format!("{}/{}/{}", key.namespace(), owner.kind, owner.name));
        let known = alike.as_ref().and_then(|alike| scheduler.failures.get(alike));
        let (message, on_pods) = match known {
            Some((version, message, on_pods)) if *version == scheduler.version => {
                (message.clone(), *on_pods)
            }
            _ => scheduler.explain(&pod),
        };
        if let Some(alike) = alike {
            let said = (scheduler.version, message.clone(), on_pods);
            scheduler.failures.insert(alike, said);
        }
        self.unschedulable(&key, &pod, message, on_pods);
    }

    fn bind(&mut self, key: &PodKey, pod: &Pod, node: &str) {
        let mut bound = pod.clone();
        bound.spec.node_name = node.into();
        let stamp = self.wall_clock(self.now).truncated_to_seconds();
        set_condition(&mut bound, "PodScheduled", true, "", "", stamp);
        self.record_pod_event_of(
            key,
            "Normal",
            "Scheduled",
            format!("Successfully assigned {key} to {node}"),
            "default-scheduler",
        );
        self.store_pod(key, bound);
    }

    /// The pod goes nowhere for now.
    fn unschedulable(&mut self, key: &PodKey, pod: &Pod, message: String, on_pods: bool) {
        let now = self.now;
        let Some(control) = &mut self.control else { return };
        let scheduler = &mut control.scheduler;
        if on_pods {
            scheduler.stuck_on_pods.insert(key.clone());
        } else {
            scheduler.stuck.insert(key.clone());
        }
        let Some(waiting) = scheduler.waiting.get_mut(key) else { return };
        let (first, most) = BACKOFF;
        let doubled = first.saturating_mul(1 << waiting.attempts.min(8));
        waiting.attempts = waiting.attempts.saturating_add(1);
        waiting.backoff = now.saturating_add(doubled.min(most));
        if waiting.message == message {
            return;
        }
        waiting.message.clone_from(&message);
        let text = message.clone();
        self.record_pod_event_of(key, "Warning", "FailedScheduling", text, "default-scheduler");
        let mut pod = pod.clone();
        let stamp = self.wall_clock(now).truncated_to_seconds();
        set_condition(&mut pod, "PodScheduled", false, "Unschedulable", &message, stamp);
        self.store_pod(key, pod);
    }

    /// A component records an event about a pod.
    pub(super) fn record_pod_event_of(
        &mut self,
        pod: &PodKey,
        type_: &'static str,
        reason: &'static str,
        message: String,
        component: &'static str,
    ) {
        self.emit(Happening::EventRecorded(RecordedEvent {
            involved_object: ObjectReference::Pod { api_version: "v1", pod: pod.clone() },
            type_,
            reason,
            message,
            component,
        }));
    }
}

impl Scheduler {
    /// Why a pod goes nowhere, and whether other pods have to do with it.
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
                            | FilterPlugin::PodTopologySpread
                            | FilterPlugin::InterPodAffinity
                    )
                });
                (decision.message.unwrap_or_default(), on_pods)
            }
        }
    }
}

/// Sets a condition of a pod; its transition is now if the status changes.
pub(super) fn set_condition(
    pod: &mut Pod,
    type_: &str,
    holds: bool,
    reason: &str,
    message: &str,
    now: crate::time::Time,
) {
    let status = if holds { ConditionStatus::True } else { ConditionStatus::False };
    let known = pod.status.conditions.iter_mut().find(|known| known.type_ == type_);
    if let Some(known) = known {
        if known.status != status {
            known.last_transition_time = Some(now);
        }
        known.status = status;
        known.reason = reason.into();
        known.message = message.into();
        return;
    }
    pod.status.conditions.push(PodCondition {
        type_: type_.into(),
        status,
        last_transition_time: Some(now),
        reason: reason.into(),
        message: message.into(),
        ..PodCondition::default()
    });
}
