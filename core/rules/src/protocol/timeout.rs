//! Deadlines: a moment and its reason.

use alloc::string::String;
use core::fmt;
use core::time::Duration;

use serde::Serialize;

use super::zone::ZoneKey;
use crate::api::{NodeName, PodKey, WorkloadKey};
use crate::time::{Timestamp, format_duration};

/// The next moment at which a simulation or a controller has to be called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Timeout {
    /// Time of the call.
    pub at: Timestamp,
    /// Reason for the call.
    pub reason: TimeoutReason,
}

/// Reason for a deadline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum TimeoutReason {
    /// Changes wait in a queue: call immediately.
    WorkQueued,
    /// A pod's tolerated time is over.
    EvictionDue {
        /// The pod.
        pod: PodKey,
    },
    /// A failed delete is tried again.
    RetryDelete {
        /// The pod.
        pod: PodKey,
        /// Number of the failed attempt, from 1.
        attempt: u8,
    },
    /// A terminating pod's grace period ends.
    GracePeriodOver {
        /// The pod.
        pod: PodKey,
        /// Length of the grace period, or the time that the pod takes to end if that is shorter;
        /// serialised in milliseconds.
        #[serde(rename = "graceMilliseconds", serialize_with = "crate::time::milliseconds")]
        #[cfg_attr(feature = "typescript-all", tsify(type = "number"))]
        grace: Duration,
    },
    /// A health pass of the node lifecycle controller has an effect.
    MonitorNodeHealth,
    /// The node lifecycle controller tries again to write a node's status.
    RetryNodeStatus,
    /// The node lifecycle controller looks again at a pod that was bound to a node.
    RetryPod {
        /// The pod.
        pod: PodKey,
    },
    /// A zone has a token for a node that waits to be tainted (or evicted).
    TaintingPass {
        /// Key of the zone.
        zone: ZoneKey,
    },
    /// A kubelet posts its node's status, which differs from the object.
    KubeletPosts {
        /// The node.
        node: NodeName,
    },
    /// A kubelet starts, as scheduled before.
    KubeletStarts {
        /// The node.
        node: NodeName,
    },
    /// The eviction manager of a kubelet has work to do.
    KubeletEviction {
        /// The node.
        node: NodeName,
        /// Reason for the deadline.
        deadline: DeadlineReason,
    },
    /// A flapping kubelet stops.
    KubeletStops {
        /// The node.
        node: NodeName,
    },
    /// The wait for pods on a node that shuts down is over.
    ShutdownGoesOn {
        /// The node.
        node: NodeName,
    },
    /// A starting pod becomes ready.
    PodStarts {
        /// The pod.
        pod: PodKey,
    },
    /// The containers of a pod with a given run time end.
    ContainersEnd {
        /// The pod.
        pod: PodKey,
    },
    /// The scheduler tries again to find a node for a pod.
    RetryScheduling {
        /// The pod.
        pod: PodKey,
    },
    /// A `kubectl drain` tries again to evict a pod, notices that one is gone, or gives up.
    DrainGoesOn {
        /// The node being drained.
        node: NodeName,
    },
    /// The pod garbage collector looks for pods on nodes that are gone or out of service.
    CollectPods,
    /// The descheduler looks for pods that do not tolerate the taints of their nodes.
    Deschedule,
    /// The autoscaler looks for pods that wait for a node.
    ScaleUp,
    /// A node requested by the autoscaler registers.
    NodeProvisioned {
        /// The node.
        node: NodeName,
    },
    /// A volume that is no longer needed on a node, but possibly still mounted there, has waited
    /// long enough: it is detached by force if the node is not healthy.
    DetachVolume {
        /// The PersistentVolume.
        volume: String,
    },
    /// The pods of a workload have been ready for long enough to count as available.
    PodsAvailable {
        /// The workload.
        workload: WorkloadKey,
    },
    /// A rollout has made no progress for `progressDeadlineSeconds`.
    ProgressDeadline {
        /// The Deployment.
        workload: WorkloadKey,
    },
    /// A Job has run for `activeDeadlineSeconds`.
    JobDeadline {
        /// The Job.
        workload: WorkloadKey,
    },
    /// A finished Job is deleted after its `ttlSecondsAfterFinished`.
    JobTimeToLive {
        /// The Job.
        workload: WorkloadKey,
    },
    /// A Job is looked at again after a pod of it failed.
    JobBackoff {
        /// The Job.
        workload: WorkloadKey,
    },
    /// The disruption controller checks whether an evicted pod still exists.
    RecheckBudget {
        /// The budget.
        budget: PodKey,
    },
    /// The device taint eviction controller looks whether the condition of a rule is still right.
    UpdateTaintRule {
        /// The name of the DeviceTaintRule.
        rule: String,
    },
    /// The controller of a workload looks at it again after a back-off.
    RetryWorkload {
        /// The workload.
        workload: WorkloadKey,
    },
}

/// Reason for a deadline of an eviction manager.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum DeadlineReason {
    /// A synchronisation that may have an effect.
    Synchronize,
    /// Memory usage crosses a threshold, of which the kernel notifies the kubelet.
    MemoryNotification,
    /// The time for killing a pod is over.
    KillTimeout {
        /// The pod.
        pod: PodKey,
    },
    /// Evicted pods are cleaned up, or their time is over; the next synchronisation follows
    /// immediately.
    PodsCleanedUp,
    /// A pod bound to the node under pressure awaits admission; only for simulated nodes.
    Admission {
        /// The pod.
        pod: PodKey,
    },
    /// The containers of a killed pod end; only for simulated nodes.
    PodEnds {
        /// The pod.
        pod: PodKey,
    },
}

/// The reason as the predicate of a sentence about the kubelet: `looks at its resources`.
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

/// The work of that moment, as the end of a sentence.
impl fmt::Display for TimeoutReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WorkQueued => f.write_str("the controllers process queued work"),
            Self::EvictionDue { pod } => write!(f, "{pod} is deleted"),
            Self::RetryDelete { pod, attempt } => {
                write!(f, "the delete of {pod} is tried again after attempt {attempt}")
            }
            Self::GracePeriodOver { pod, grace } => {
                write!(f, "the grace period of {pod} ({}) is over", format_duration(*grace))
            }
            Self::MonitorNodeHealth => f.write_str("node health is checked"),
            Self::RetryNodeStatus => f.write_str("the status of a node is written again"),
            Self::RetryPod { pod } => write!(f, "{pod} is evaluated again"),
            Self::TaintingPass { zone } => {
                write!(f, "the rate limiter allows the next node ({})", zone.in_words())
            }
            Self::KubeletPosts { node } => write!(f, "the kubelet of {node} reports"),
            Self::KubeletStarts { node } => write!(f, "the kubelet of {node} starts"),
            Self::KubeletEviction { node, deadline } => {
                write!(f, "the kubelet of {node} {deadline}")
            }
            Self::KubeletStops { node } => write!(f, "the kubelet of {node} stops"),
            Self::ShutdownGoesOn { node } => write!(f, "the shutdown of {node} goes on"),
            Self::PodStarts { pod } => write!(f, "{pod} is ready"),
            Self::ContainersEnd { pod } => write!(f, "the containers of {pod} end"),
            Self::RetryScheduling { pod } => write!(f, "the scheduler tries {pod} again"),
            Self::DrainGoesOn { node } => write!(f, "the drain of {node} goes on"),
            Self::DetachVolume { volume } => {
                write!(f, "volume {volume} is detached by force, six minutes after its last use")
            }
            Self::CollectPods => f.write_str("the pod garbage collector runs"),
            Self::Deschedule => f.write_str("the descheduler runs"),
            Self::ScaleUp => f.write_str("the autoscaler looks for unschedulable pods"),
            Self::NodeProvisioned { node } => write!(f, "node {node} is provisioned"),
            Self::RecheckBudget { budget } => {
                write!(f, "the disruption controller checks the budget {budget} again")
            }
            Self::RetryWorkload { workload } => {
                write!(f, "the controller of {workload} tries again")
            }
            Self::PodsAvailable { workload } => write!(f, "pods of {workload} are available"),
            Self::ProgressDeadline { workload } => {
                write!(f, "{workload} has exceeded its progress deadline")
            }
            Self::JobDeadline { workload } => {
                write!(f, "{workload} has exceeded its activeDeadlineSeconds")
            }
            Self::JobTimeToLive { workload } => write!(f, "{workload} is deleted"),
            Self::JobBackoff { workload } => write!(f, "{workload} replaces failed pods"),
            Self::UpdateTaintRule { rule } => {
                write!(f, "the condition of the device taint rule {rule} is checked")
            }
        }
    }
}
