//! Actions and decisions of the controller.

use alloc::sync::Arc;

use serde::Serialize;
use taintlab_rules::api::{NodeName, PodCondition, PodKey, Taint};
use taintlab_rules::protocol::{RecordedEvent, RequestId};
use taintlab_rules::time::Timestamp;

/// Action that the controller requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaintEvictionAction {
    /// Record a Kubernetes Event.
    RecordEvent(RecordedEvent),
    /// `GET` the pod, set the condition in its status, and `PATCH` the status if that changed it.
    /// The result may be that the pod is gone, or that the write was refused.
    PatchPodStatus {
        /// Identifier for [`super::TaintEvictionController::handle_action_result`].
        id: RequestId,
        /// The pod.
        pod: PodKey,
        /// The condition, without `lastTransitionTime` and `observedGeneration`.
        condition: PodCondition,
    },
    /// `DELETE` the pod, with default options.
    DeletePod {
        /// Identifier for [`super::TaintEvictionController::handle_action_result`].
        id: RequestId,
        /// The pod.
        pod: PodKey,
    },
    /// Nothing to do: the controller has looked at a node.
    ReportNode {
        /// The node.
        node: NodeName,
        /// `NoExecute` taints of the node, which the controller knows from now on.
        taints: Arc<[Taint]>,
    },
    /// Nothing to do: the controller has decided about a pod.
    Report(Decision),
}

/// Decision of the controller about a pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// The pod.
    pub pod: PodKey,
    /// Decision with its reason.
    #[serde(rename = "decision")]
    pub decision: EvictionDecision,
}

/// Future of a pod, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum EvictionDecision {
    /// A taint is not tolerated: the pod is deleted immediately.
    NotTolerated {
        /// The first such taint.
        taint: Taint,
    },
    /// All taints are tolerated, but the time is zero or negative.
    ToleratedForNoTime,
    /// All taints are tolerated for some time, after which the pod is deleted.
    Scheduled {
        /// Time of the decision.
        created_at: Timestamp,
        /// Time of the deletion.
        fire_at: Timestamp,
    },
    /// The pod has a timer already, and nothing moves it.
    TimerKept {
        /// Time of the deletion.
        fire_at: Timestamp,
        /// Time of the deletion if the timer started now with the current tolerations.
        otherwise: Timestamp,
    },
    /// The pod was deleted before and still exists; an expired toleration does not delete it again
    /// (up to 1.32).
    AlreadyDeleted,
    /// All taints are tolerated forever, so the pod stays.
    ToleratedForever,
    /// All taints are tolerated forever, but a running timer still deletes the pod (before 1.20).
    ToleratedForeverTooLate {
        /// Time of the deletion.
        fire_at: Timestamp,
    },
    /// The node has no `NoExecute` taints any more; a timer, if there was one, is cancelled.
    TaintsRemoved {
        /// Whether there was a timer.
        timer_cancelled: bool,
    },
    /// The pod is gone; a timer, if there was one, is cancelled.
    PodGone {
        /// Whether there was a timer.
        timer_cancelled: bool,
    },
}

/// A pod with a timer that deletes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct ScheduledEviction {
    /// The pod.
    pub pod: PodKey,
    /// Time of the decision.
    pub created_at: Timestamp,
    /// Time of the deletion.
    pub fire_at: Timestamp,
}
