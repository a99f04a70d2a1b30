//! What the manager wants done, and what it tells.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::signal::{Pressure, Signal};
use crate::api::{ConditionStatus, Pod, PodCondition, PodKey, PodPhase};
use crate::event::RecordedEvent;
use crate::time::{Time, Timestamp};

/// Names a request until its result is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RequestId(pub(super) u64);

/// What the manager wants done. One request is out at a time: the next one comes when the result
/// of the last is known.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Measure the node now and give the result to
    /// [`handle_stats`](super::EvictionManager::handle_stats).
    CollectStats {
        /// For [`handle_stats`](super::EvictionManager::handle_stats).
        id: RequestId,
    },
    /// Delete what no container uses (`DeleteAllUnusedContainers`, `DeleteUnusedImages`).
    Reclaim {
        /// For [`handle_action_result`](super::EvictionManager::handle_action_result).
        id: RequestId,
        /// What to delete.
        what: Reclaim,
    },
    /// Record a Kubernetes Event.
    RecordEvent {
        /// The event.
        event: RecordedEvent,
        /// Its annotations.
        annotations: BTreeMap<String, String>,
    },
    /// Write the status of a pod.
    PatchPodStatus {
        /// Which pod.
        pod: PodKey,
        /// The change.
        patch: PodStatusPatch,
    },
    /// Kill the containers of a pod, after a grace period that replaces the pod's own. The result
    /// is due when they are gone; a manager that has waited too long goes on without it.
    KillPod {
        /// For [`handle_action_result`](super::EvictionManager::handle_action_result).
        id: RequestId,
        /// Which pod.
        pod: PodKey,
        /// Its UID.
        uid: String,
        /// How many seconds it has to end.
        grace_period_override: i64,
    },
    /// Nothing to do: something that no Kubernetes Event tells.
    Report(Report),
}

/// What the kubelet can delete before it evicts a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Reclaim {
    /// Containers that have ended.
    UnusedContainers,
    /// Images that no container uses.
    UnusedImages,
}

/// What came of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionResult {
    /// It is done.
    Done,
    /// It is done, and so many bytes are free; only the kubelet of 1.5 asks how many.
    Reclaimed(u64),
    /// It failed.
    Failed,
}

/// The status of a pod that the kubelet evicts or does not admit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PodStatusPatch {
    /// `status.message`; the phase becomes `Failed` and the reason `Evicted`.
    pub message: String,
    /// The condition `DisruptionTarget`, if one is set.
    pub disruption_target: Option<PodCondition>,
}

impl PodStatusPatch {
    /// Changes the status; `now` is the time of a condition that becomes true.
    pub fn apply(&self, pod: &mut Pod, now: Time) {
        let status = &mut pod.status;
        status.phase = PodPhase::Failed;
        status.reason = super::EVICTED.into();
        status.message.clone_from(&self.message);
        let Some(target) = &self.disruption_target else { return };
        let known = status.conditions.iter_mut().find(|known| known.type_ == target.type_);
        let was_true = |known: &PodCondition| known.status == ConditionStatus::True;
        let since = known.as_ref().filter(|known| was_true(known)).map(|c| c.last_transition_time);
        let condition =
            PodCondition { last_transition_time: since.unwrap_or(Some(now)), ..target.clone() };
        match known {
            Some(known) => *known = condition,
            None => status.conditions.push(condition),
        }
    }
}

/// What the manager tells beside Kubernetes Events.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "report", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Report {
    /// The node is under other pressures than before: its conditions are to be posted.
    Pressures {
        /// All there are now.
        now: Vec<Pressure>,
    },
    /// Too little of something: the manager acts.
    Reclaiming {
        /// The threshold that decides: its signal.
        signal: Signal,
        /// Whether it acts at once.
        hard: bool,
    },
    /// Deleting what nobody uses was enough; no pod goes.
    ReclaimedEnough {
        /// Of what there was too little.
        signal: Signal,
    },
    /// A pod was the first in the ranking and is spared.
    Spared {
        /// Which pod.
        pod: PodKey,
        /// Why.
        why: super::Critical,
    },
    /// Too little of something, and there is nobody to evict.
    NobodyToEvict {
        /// Of what there is too little.
        signal: Signal,
    },
    /// A pass has evicted.
    Evicted {
        /// Whom; more than one only for limits of local storage.
        pods: Vec<PodKey>,
    },
}

/// When the manager is to be called, and what for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Deadline {
    /// When.
    pub at: Timestamp,
    /// What for.
    pub reason: DeadlineReason,
}

/// What the manager is to be called for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "deadline", rename_all = "camelCase")]
pub enum DeadlineReason {
    /// A pass that may change something.
    Synchronize,
    /// Memory crosses a threshold, which the kernel tells.
    MemoryNotification,
    /// A pod that is being killed has had its time.
    KillTimeout {
        /// Which pod.
        pod: PodKey,
    },
    /// Evicted pods are cleaned up, or have had their time; the next pass follows at once.
    PodsCleanedUp,
}
