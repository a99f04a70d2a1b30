//! What the controller wants done, and what it has decided.

use alloc::sync::Arc;

use serde::Serialize;

use crate::api::{NodeName, PodCondition, PodKey, Taint};
use crate::protocol::{RecordedEvent, RequestId};
use crate::time::Timestamp;

/// What the controller wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaintEvictionAction {
    /// Record a Kubernetes Event.
    RecordEvent(RecordedEvent),
    /// `GET` the pod, put the condition into its status, and `PATCH` the status if that changed
    /// it. A pod that is gone, or a refused write, is the result.
    PatchPodStatus {
        /// For [`super::TaintEvictionController::handle_action_result`].
        id: RequestId,
        /// Which pod.
        pod: PodKey,
        /// The condition, without `lastTransitionTime` and `observedGeneration`.
        condition: PodCondition,
    },
    /// `DELETE` the pod, with default options.
    DeletePod {
        /// For [`super::TaintEvictionController::handle_action_result`].
        id: RequestId,
        /// Which pod.
        pod: PodKey,
    },
    /// Nothing to do: the controller has looked at a node.
    ReportNode {
        /// Which node.
        node: NodeName,
        /// Its `NoExecute` taints, which the controller knows from now on.
        taints: Arc<[Taint]>,
    },
    /// Nothing to do: the controller has decided about a pod.
    Report(Decision),
}

/// What the controller decided about a pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// Which pod.
    pub pod: PodKey,
    /// What and why.
    #[serde(rename = "decision")]
    pub decision: EvictionDecision,
}

/// What is to become of a pod, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum EvictionDecision {
    /// A taint is not tolerated: the pod is deleted at once.
    NotTolerated {
        /// The first such taint.
        taint: Taint,
    },
    /// All taints are tolerated, for a time that is over at once (zero, or less).
    ToleratedForNoTime,
    /// All taints are tolerated for some time: the pod is deleted then.
    Scheduled {
        /// When that was decided.
        created_at: Timestamp,
        /// When the pod is deleted.
        fire_at: Timestamp,
    },
    /// The pod has a timer already, and nothing moves it.
    TimerKept {
        /// When the pod is deleted.
        fire_at: Timestamp,
        /// When it would be if the time began now with the present tolerations.
        otherwise: Timestamp,
    },
    /// The pod was deleted before and is still there; it is not deleted again because of a time
    /// that runs out (to 1.32).
    AlreadyDeleted,
    /// All taints are tolerated forever, so the pod stays.
    ToleratedForever,
    /// All taints are tolerated forever, but a timer runs on and the pod is deleted all the same
    /// (before 1.20).
    ToleratedForeverTooLate {
        /// When the pod is deleted.
        fire_at: Timestamp,
    },
    /// The node has no `NoExecute` taints any more; a timer, if there was one, is cancelled.
    TaintsRemoved {
        /// Whether there was one.
        timer_cancelled: bool,
    },
    /// The pod is gone; a timer, if there was one, is cancelled.
    PodGone {
        /// Whether there was one.
        timer_cancelled: bool,
    },
}

/// A pod that is going to be deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct ScheduledEviction {
    /// Which pod.
    pub pod: PodKey,
    /// When that was decided.
    pub created_at: Timestamp,
    /// When the pod is deleted.
    pub fire_at: Timestamp,
}
