//! The actions that the eviction manager requests, and what it reports.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::Serialize;
use taintlab_rules::api::{ConditionStatus, Pod, PodCondition, PodKey, PodPhase};
use taintlab_rules::protocol::{DeadlineReason, RecordedEvent, RequestId};
use taintlab_rules::time::{Time, Timestamp};

use super::signal::{Pressure, Signal};

/// What the manager wants done. One request is out at a time: the next one comes when the result
/// of the last is known.
#[derive(Clone, Debug, PartialEq)]
pub enum EvictionManagerAction {
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
    Report(EvictionManagerReport),
}

/// What the kubelet can delete before it evicts a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(rename = "KubeletReport"))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum EvictionManagerReport {
    /// The node is under other pressures than before: its conditions are to be posted.
    Pressures {
        /// All there are now.
        now: Vec<Pressure>,
    },
    /// Too little of something by a soft threshold: its grace period begins.
    GracePeriodStarted {
        /// Of what there is too little.
        signal: Signal,
        /// When the grace period is over; a pass from then on acts.
        until: Timestamp,
    },
    /// There is enough of something again before the grace period of its soft threshold was over.
    GracePeriodEnded {
        /// Of what there was too little.
        signal: Signal,
    },
    /// Something that nobody uses was deleted; only a simulated node tells it.
    Reclaimed {
        /// What.
        what: Reclaim,
        /// How many bytes it took.
        bytes: u64,
    },
    /// The pod that goes: the first of the ranking that is not spared.
    Ranked {
        /// Of what there is too little.
        signal: Signal,
        /// Who goes.
        pod: PodKey,
        /// Who would be next.
        #[serde(skip_serializing_if = "Option::is_none")]
        next: Option<PodKey>,
        /// What puts it before the next one; absent if they are equal.
        #[serde(skip_serializing_if = "Option::is_none")]
        because: Option<super::RankReason>,
    },
    /// A pod is killed for the node's sake, or because it is over a limit of local storage.
    Killing {
        /// Which pod.
        pod: PodKey,
        /// How many seconds it has.
        grace_period_seconds: i64,
    },
    /// The containers of an evicted pod have ended, and what it used is free; only a simulated
    /// node tells it.
    PodEnded {
        /// Which pod.
        pod: PodKey,
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

impl EvictionManagerReport {
    /// The pod this is about, if it is about one.
    #[must_use]
    pub const fn pod(&self) -> Option<&PodKey> {
        match self {
            Self::Ranked { pod, .. }
            | Self::Killing { pod, .. }
            | Self::PodEnded { pod }
            | Self::Spared { pod, .. } => Some(pod),
            _ => None,
        }
    }
}

/// What it tells, in one line.
impl fmt::Display for EvictionManagerReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pressures { now } if now.is_empty() => f.write_str("under no pressure"),
            Self::Pressures { now } => {
                f.write_str("under")?;
                now.iter().try_for_each(|pressure| write!(f, " {pressure}"))
            }
            Self::GracePeriodStarted { signal, until } => {
                write!(f, "below the threshold of {signal}, grace period until {until}")
            }
            Self::GracePeriodEnded { signal } => {
                write!(f, "the grace period of {signal} is over")
            }
            Self::Reclaimed { what, bytes } => {
                let what = match what {
                    Reclaim::UnusedContainers => "ended containers",
                    Reclaim::UnusedImages => "unused images",
                };
                write!(f, "{what} deleted, {bytes} bytes")
            }
            Self::Ranked { signal, pod, next, because } => {
                write!(f, "{pod} ranks first for {signal}")?;
                let Some(next) = next else { return Ok(()) };
                match because {
                    Some(because) => write!(f, ", before {next} because {}", because.words()),
                    None => write!(f, ", on a par with {next}"),
                }
            }
            Self::Killing { pod, grace_period_seconds } => {
                write!(f, "kills {pod}, grace period {grace_period_seconds}s")
            }
            Self::PodEnded { pod } => write!(f, "{pod} has ended"),
            Self::Reclaiming { signal, hard } => {
                let kind = if *hard { "hard" } else { "soft" };
                write!(f, "below the {kind} threshold of {signal}")
            }
            Self::ReclaimedEnough { signal } => {
                write!(f, "enough {signal} without evicting a pod")
            }
            Self::Spared { pod, why } => {
                let why = match why {
                    super::Critical::Static => "it is static",
                    super::Critical::Mirror => "it is the mirror of a static pod",
                    super::Critical::Priority => "its priority is that of the system",
                    super::Critical::Annotation => "it is critical",
                };
                write!(f, "{pod} is not evicted: {why}")
            }
            Self::NobodyToEvict { signal } => {
                write!(f, "below the threshold of {signal}, and no pod to evict")
            }
            Self::Evicted { pods } => {
                f.write_str("evicted")?;
                pods.iter().try_for_each(|pod| write!(f, " {pod}"))
            }
        }
    }
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
