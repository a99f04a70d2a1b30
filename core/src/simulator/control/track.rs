//! What is known of the pods of each workload, counted as they change.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::super::Simulator;
use super::availability::ReadyStep;
use super::daemon_sets::target_node;
use crate::api::node_condition_type::READY;
use crate::api::{
    ConditionStatus, NodeName, Pod, PodKey, PodPhase, Workload, WorkloadKey, WorkloadKind,
};

/// What is known of one workload's pods.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Tracked {
    /// Those that name it as their controller, also those that are terminating or have ended.
    pub(super) pods: BTreeSet<PodKey>,
    /// For a DaemonSet: the same by the node that each is for, and the nodes that are to have one.
    pub(super) by_node: BTreeMap<NodeName, BTreeSet<PodKey>>,
    pub(super) wanted: BTreeSet<NodeName>,
    /// For a DaemonSet: whether there may be pods of another template.
    pub(super) outdated: bool,
    /// How many pods its controller has created, for their names.
    pub(super) created: u64,
    /// For a Job: how many of its pods count as failed, how many as succeeded, and whether those
    /// that failed were too many.
    pub(super) failed: i64,
    pub(super) succeeded: i64,
    pub(super) over: bool,
    /// For a Deployment: its ReplicaSets.
    pub(super) children: BTreeSet<WorkloadKey>,
    /// How many are neither terminating nor at their end; for a Deployment not counted.
    pub(super) active: i64,
    /// How many of those are ready; for a Deployment those of its ReplicaSets.
    pub(super) ready: i64,
    /// How many are wanted.
    pub(super) desired: i64,
    pub(super) steps: Vec<ReadyStep>,
    /// The ReplicaSet, or the label `controller-revision-hash`, of the present template.
    pub(super) revision: String,
}

/// Whether it counts as a replica. Mirrors `controller.IsPodActive`.
pub(super) fn is_active(pod: &Pod) -> bool {
    !pod.is_terminating() && !matches!(pod.status.phase, PodPhase::Succeeded | PodPhase::Failed)
}

/// Whether all its containers have ended for good.
pub(super) fn has_ended(pod: &Pod) -> bool {
    matches!(pod.status.phase, PodPhase::Succeeded | PodPhase::Failed)
}

/// Whether it is ready and counts as a replica.
pub(super) fn is_ready(pod: &Pod) -> bool {
    is_active(pod) && has_ready_condition(pod)
}

/// Mirrors `podutil.IsPodReady`.
pub(super) fn has_ready_condition(pod: &Pod) -> bool {
    pod.condition(READY).is_some_and(|ready| ready.status == ConditionStatus::True)
}

impl Simulator {
    /// A workload is there, or has changed.
    pub(super) fn track_workload(&mut self, workload: &Arc<Workload>) {
        let (key, now) = (workload.key(), self.now);
        let Some(control) = &mut self.control else { return };
        let tracked = control.tracked.entry(key.clone()).or_default();
        if key.kind != WorkloadKind::DaemonSet {
            tracked.desired = workload.replicas();
        }
        tracked.step(now);
        control.queue.push(key.clone());
        if let Some(owner) = workload.owner() {
            control.queue.push(owner);
        }
        let tracked = control.tracked.entry(key.clone()).or_default();
        if let Some(owner) = workload.owner() {
            let ready = tracked.ready;
            let parent = control.tracked.entry(owner).or_default();
            if parent.children.insert(key) {
                parent.ready += ready;
                parent.step(now);
            }
        }
    }

    /// A workload is gone; its curve ends at nothing wanted.
    pub(super) fn untrack_workload(&mut self, workload: &Workload) {
        let (key, now) = (workload.key(), self.now);
        let Some(control) = &mut self.control else { return };
        let mut ready = 0;
        if let Some(tracked) = control.tracked.get_mut(&key) {
            (ready, tracked.desired) = (tracked.ready, 0);
            tracked.step(now);
        }
        if let Some(parent) = workload.owner().and_then(|owner| control.tracked.get_mut(&owner))
            && parent.children.remove(&key)
        {
            parent.ready -= ready;
            parent.step(now);
        }
    }

    /// A pod was added, changed or deleted.
    pub(super) fn track_pod(&mut self, key: &PodKey, old: Option<&Pod>, new: Option<&Pod>) {
        let before = old.and_then(|pod| pod.metadata.controller_key());
        let after = new.and_then(|pod| pod.metadata.controller_key());
        let facts = |pod: Option<&Pod>| {
            (i64::from(pod.is_some_and(is_active)), i64::from(pod.is_some_and(is_ready)))
        };
        let ((was_active, was_ready), (active, ready)) = (facts(old), facts(new));
        let key_of = |owner: &Option<WorkloadKey>| owner.as_ref().map(|owner| owner.kind);
        if key_of(&before.clone().or_else(|| after.clone())) == Some(WorkloadKind::DaemonSet) {
            self.track_daemon(key, before.as_ref(), after.as_ref(), old, new);
        }
        if key_of(&before) == Some(WorkloadKind::Job) || key_of(&after) == Some(WorkloadKind::Job) {
            self.track_end(before.as_ref().or(after.as_ref()), old, new);
        }
        if before == after {
            if let Some(owner) = after {
                self.count(&owner, key, active - was_active, ready - was_ready, new.is_some());
            }
            return;
        }
        if let Some(owner) = before {
            self.count(&owner, key, -was_active, -was_ready, false);
        }
        if let Some(owner) = after {
            self.count(&owner, key, active, ready, true);
        }
    }

    fn count(&mut self, owner: &WorkloadKey, pod: &PodKey, active: i64, ready: i64, there: bool) {
        let now = self.now;
        let parent = self.cluster.get_workload(owner).and_then(|workload| workload.owner());
        let Some(control) = &mut self.control else { return };
        let tracked = control.tracked.entry(owner.clone()).or_default();
        if there {
            tracked.pods.insert(pod.clone());
        } else {
            tracked.pods.remove(pod);
        }
        tracked.active += active;
        tracked.ready += ready;
        tracked.step(now);
        if owner.kind == WorkloadKind::DaemonSet {
            // Its nodes are looked at one by one.
        } else if active != 0 || ready != 0 || !there || owner.kind == WorkloadKind::StatefulSet {
            control.queue.push(owner.clone());
        }
        if let Some(parent) = parent {
            if ready != 0 {
                let tracked = control.tracked.entry(parent.clone()).or_default();
                tracked.ready += ready;
                tracked.step(now);
            }
            // A rollout goes on when pods are ready, or gone.
            if ready != 0 || !there {
                control.queue.push(parent);
            }
        }
    }

    /// A daemon pod has changed: its DaemonSet looks at the node that it is for.
    fn track_daemon(
        &mut self,
        key: &PodKey,
        before: Option<&WorkloadKey>,
        after: Option<&WorkloadKey>,
        old: Option<&Pod>,
        new: Option<&Pod>,
    ) {
        let Some(control) = &mut self.control else { return };
        if let (Some(owner), Some(old)) = (before, old) {
            let node = target_node(old);
            let tracked = control.tracked.entry(owner.clone()).or_default();
            if let Some(pods) = tracked.by_node.get_mut(&node) {
                pods.remove(key);
                if pods.is_empty() {
                    tracked.by_node.remove(&node);
                }
            }
            control.daemons.push((owner.clone(), node));
        }
        if let (Some(owner), Some(new)) = (after, new) {
            let node = target_node(new);
            let tracked = control.tracked.entry(owner.clone()).or_default();
            tracked.by_node.entry(node.clone()).or_default().insert(key.clone());
            control.daemons.push((owner.clone(), node));
        }
    }

    /// A pod of a Job may have ended.
    fn track_end(&mut self, owner: Option<&WorkloadKey>, old: Option<&Pod>, new: Option<&Pod>) {
        let deleted = self.config.release.counts_deleted_pods_as_failed();
        let failed = |pod: &Pod| {
            pod.status.phase == PodPhase::Failed
                || (deleted && pod.is_terminating() && pod.status.phase != PodPhase::Succeeded)
        };
        let succeeded = |pod: &Pod| pod.status.phase == PodPhase::Succeeded;
        let removed = new.is_none() && deleted && old.is_some_and(|pod| !has_ended(pod));
        let fails = old.is_none_or(|old| !failed(old)) && (removed || new.is_some_and(failed));
        let ends = !old.is_some_and(succeeded) && new.is_some_and(succeeded);
        let control = self.control.as_mut();
        let tracked =
            control.zip(owner).and_then(|(control, owner)| control.tracked.get_mut(owner));
        if let Some(tracked) = tracked {
            tracked.failed += i64::from(fails);
            tracked.succeeded += i64::from(ends);
        }
    }
}

impl Tracked {
    /// Writes the curve on, if it has changed. What lasts for no time is left out.
    pub(super) fn step(&mut self, at: crate::time::Timestamp) {
        let step = ReadyStep { at, ready: self.ready, desired: self.desired };
        if let Some(last) = self.steps.last_mut() {
            if (last.ready, last.desired) == (step.ready, step.desired) {
                return;
            }
            if last.at == at {
                *last = step;
                let twin = self.steps.iter().rev().nth(1);
                if twin.is_some_and(|twin| (twin.ready, twin.desired) == (step.ready, step.desired))
                {
                    self.steps.pop();
                }
                return;
            }
        }
        self.steps.push(step);
    }
}
