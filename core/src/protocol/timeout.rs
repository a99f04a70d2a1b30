//! When somebody wants to be called, and what for.

use alloc::string::String;
use core::fmt;
use core::time::Duration;

use serde::Serialize;

use super::zone::ZoneKey;
use crate::api::{NodeName, PodKey, WorkloadKey};
use crate::time::Timestamp;

/// The next moment at which a simulation or a controller wants to be called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Timeout {
    /// When.
    pub at: Timestamp,
    /// What for.
    pub reason: TimeoutReason,
}

/// Why a moment matters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum TimeoutReason {
    /// Changes wait to be looked at: call at once.
    WorkQueued,
    /// A pod's tolerated time is over.
    EvictionDue {
        /// Which pod.
        pod: PodKey,
    },
    /// A failed delete is tried again.
    RetryDelete {
        /// Which pod.
        pod: PodKey,
        /// Which attempt just failed, from 1.
        attempt: u8,
    },
    /// A terminating pod's grace period ends.
    GracePeriodOver {
        /// Which pod.
        pod: PodKey,
        /// How long it was, or the time that the pod takes to end if that is shorter; serialised in
        /// milliseconds.
        #[serde(rename = "graceMilliseconds", serialize_with = "crate::time::milliseconds")]
        #[cfg_attr(feature = "typescript-all", tsify(type = "number"))]
        grace: Duration,
    },
    /// The node lifecycle controller's health pass has something to do.
    MonitorNodeHealth,
    /// The node lifecycle controller tries once more to write the status of a node.
    RetryNodeStatus,
    /// The node lifecycle controller looks once more at a pod that was bound to a node.
    RetryPod {
        /// Which pod.
        pod: PodKey,
    },
    /// A zone has a token for a node that waits to be tainted (or drained).
    TaintingPass {
        /// The key of the zone.
        zone: ZoneKey,
    },
    /// A kubelet posts its node's status, since it is not what the object says.
    KubeletPosts {
        /// Which node.
        node: NodeName,
    },
    /// A kubelet starts, as it was told before.
    KubeletStarts {
        /// Which node.
        node: NodeName,
    },
    /// The eviction manager of a kubelet has something to do.
    KubeletEviction {
        /// Which node.
        node: NodeName,
        /// What.
        deadline: DeadlineReason,
    },
    /// A kubelet that flaps stops.
    KubeletStops {
        /// Which node.
        node: NodeName,
    },
    /// A node that is shut down has waited for pods to end.
    ShutdownGoesOn {
        /// Which node.
        node: NodeName,
    },
    /// A pod that is starting is ready.
    PodStarts {
        /// Which pod.
        pod: PodKey,
    },
    /// The containers of a pod, which run for a given time, end.
    ContainersEnd {
        /// Which pod.
        pod: PodKey,
    },
    /// The scheduler tries again to find a node for a pod.
    RetryScheduling {
        /// Which pod.
        pod: PodKey,
    },
    /// A `kubectl drain` tries again to evict a pod, sees that one is gone, or gives up.
    DrainGoesOn {
        /// The node that it drains.
        node: NodeName,
    },
    /// The pod garbage collector looks for pods on nodes that are gone, or out of service.
    CollectPods,
    /// The descheduler looks for pods that do not tolerate the taints of their nodes.
    Deschedule,
    /// The autoscaler looks for pods that wait for a node.
    ScaleUp,
    /// A node that the autoscaler has asked for registers.
    NodeProvisioned {
        /// Which node.
        node: NodeName,
    },
    /// A volume that its node may still have mounted has been unwanted there for long enough: it is
    /// detached by force if the node is not healthy.
    DetachVolume {
        /// Which PersistentVolume.
        volume: String,
    },
    /// The pods of a workload have been ready for long enough to count as available.
    PodsAvailable {
        /// Which workload.
        workload: WorkloadKey,
    },
    /// A rollout has made no progress for `progressDeadlineSeconds`.
    ProgressDeadline {
        /// Which Deployment.
        workload: WorkloadKey,
    },
    /// A Job has run for `activeDeadlineSeconds`.
    JobDeadline {
        /// Which Job.
        workload: WorkloadKey,
    },
    /// A Job that is over is deleted, as `ttlSecondsAfterFinished` says.
    JobTimeToLive {
        /// Which Job.
        workload: WorkloadKey,
    },
    /// A Job that had a failed pod is looked at again.
    JobBackoff {
        /// Which Job.
        workload: WorkloadKey,
    },
    /// The disruption controller looks whether a pod that was evicted is still there.
    RecheckBudget {
        /// Which budget.
        budget: PodKey,
    },
    /// The device taint eviction controller looks whether the condition of a rule is still right.
    UpdateTaintRule {
        /// The name of the DeviceTaintRule.
        rule: String,
    },
    /// The controller of a workload looks at it again after a back-off.
    RetryWorkload {
        /// Which workload.
        workload: WorkloadKey,
    },
}

/// What the manager is to be called for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(tag = "type", rename_all = "camelCase")]
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
    /// A pod that was bound to the node under pressure is looked at; only a simulated node tells
    /// it.
    Admission {
        /// Which pod.
        pod: PodKey,
    },
    /// The containers of a pod that is being killed end; only a simulated node tells it.
    PodEnds {
        /// Which pod.
        pod: PodKey,
    },
}

/// What for, as a part of a sentence: `the kubelet looks at its node`.
impl fmt::Display for DeadlineReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Synchronize => f.write_str("looks at its resources"),
            Self::MemoryNotification => f.write_str("is told that memory crosses a threshold"),
            Self::KillTimeout { pod } => write!(f, "waits no longer for {pod} to die"),
            Self::PodsCleanedUp => f.write_str("looks again after an eviction"),
            Self::Admission { pod } => write!(f, "decides whether it takes {pod}"),
            Self::PodEnds { pod } => write!(f, "has killed {pod}"),
        }
    }
}
