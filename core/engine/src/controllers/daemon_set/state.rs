//! What a DaemonSet comes to: its counts, how long failed pods are let be, what a sync does.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use serde_json::Value;
use taintlab_rules::api::{DaemonSetStatus, NodeName, PodKey, Workload, WorkloadKey};
use taintlab_rules::time::Timestamp;

/// How long failed pods of a node are let be, the first time and at most. Mirrors
/// `failedPodsBackoff`.
const FAILED_PODS_BACKOFF: Duration = Duration::from_secs(1);
const FAILED_PODS_MAX_BACKOFF: Duration = Duration::from_secs(15 * 60);

/// What one node, or all of them, have of a DaemonSet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) desired: i64,
    pub(super) current: i64,
    pub(super) misscheduled: i64,
    pub(super) ready: i64,
    pub(super) updated: i64,
    pub(super) available: i64,
    /// Nodes that are to have a pod, without one that is available and stays.
    pub(super) missing: i64,
}

impl Counts {
    pub(super) fn add(&mut self, other: Self, sign: i64) {
        self.desired += sign * other.desired;
        self.current += sign * other.current;
        self.misscheduled += sign * other.misscheduled;
        self.ready += sign * other.ready;
        self.updated += sign * other.updated;
        self.available += sign * other.available;
        self.missing += sign * other.missing;
    }

    pub(super) fn status(self, set: &Workload) -> DaemonSetStatus {
        let generation = set.metadata.other.get("generation");
        DaemonSetStatus {
            current_number_scheduled: self.current,
            desired_number_scheduled: self.desired,
            number_misscheduled: self.misscheduled,
            number_ready: self.ready,
            updated_number_scheduled: self.updated,
            number_available: self.available,
            number_unavailable: self.desired - self.available,
            observed_generation: generation.and_then(Value::as_i64).unwrap_or(0),
        }
    }
}

/// Since when, and for how long, failed pods of a node are let be. Mirrors `flowcontrol.Backoff`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backoff {
    since: Timestamp,
    pub(super) length: Duration,
}

impl Backoff {
    pub(super) fn passed(self, now: Timestamp) -> Duration {
        now.since_zero().saturating_sub(self.since.since_zero())
    }

    /// The next one, after `last`.
    pub(super) fn next(last: Option<Self>, now: Timestamp) -> Self {
        let last = last.filter(|last| last.passed(now) <= FAILED_PODS_MAX_BACKOFF * 2);
        let length =
            last.map_or(FAILED_PODS_BACKOFF, |last| (last.length * 2).min(FAILED_PODS_MAX_BACKOFF));
        Self { since: now, length }
    }
}

/// What is to be done.
#[derive(Clone, Debug)]
pub(in super::super) enum Step {
    /// A pod that has failed, or ended well, is replaced.
    DeleteEnded(Arc<Workload>, NodeName, PodKey),
    Delete(Arc<Workload>, PodKey),
    Create(Arc<Workload>, NodeName),
    UpdateStatus(WorkloadKey, DaemonSetStatus),
}

/// What a sync comes to.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) ended: Vec<(NodeName, PodKey)>,
    pub(super) creates: Vec<NodeName>,
    pub(super) deletes: Vec<PodKey>,
}

impl Plan {
    pub(super) fn is_empty(&self) -> bool {
        self.ended.is_empty() && self.creates.is_empty() && self.deletes.is_empty()
    }

    /// Whether a pod is deleted.
    pub(super) fn removes(&self, pod: &PodKey) -> bool {
        self.deletes.contains(pod) || self.ended.iter().any(|(_, ended)| ended == pod)
    }

    pub(super) fn steps(self, set: &Arc<Workload>) -> impl Iterator<Item = Step> {
        let ended = self.ended.into_iter();
        let ended = ended.map(|(node, pod)| Step::DeleteEnded(set.clone(), node, pod));
        let creates = self.creates.into_iter().map(|node| Step::Create(set.clone(), node));
        let deletes = self.deletes.into_iter().map(|pod| Step::Delete(set.clone(), pod));
        ended.chain(creates).chain(deletes)
    }
}
