//! Actions and reports of the controller.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;
use taintlab_rules::api::{ConditionStatus, Node, NodeCondition, NodeName, Pod, PodKey, Taint};
use taintlab_rules::policy::taints::{add_or_update_taint, remove_taint};
use taintlab_rules::protocol::zone::{ZoneKey, ZoneState};
use taintlab_rules::protocol::{RecordedEvent, RequestId};
use taintlab_rules::time::Time;

/// Action that the controller requests. One request is pending at a time: the next one follows when
/// the result of the previous one is known.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeLifecycleAction {
    /// Record a Kubernetes Event.
    RecordEvent(RecordedEvent),
    /// Replace the conditions in the status of a node. A conflict, or any other error, is reported
    /// as the result; the controller tries again itself.
    PatchNodeStatus {
        /// Identifier for [`super::NodeLifecycleController::handle_action_result`].
        id: RequestId,
        /// The node.
        node: NodeName,
        /// All conditions of the node.
        conditions: Vec<NodeCondition>,
    },
    /// `GET` the node, change its taints, and `PATCH` it if that changed them. The executor of the
    /// action retries conflicts, as upstream's helper does; the last error is the result.
    PatchNodeTaints {
        /// Identifier for [`super::NodeLifecycleController::handle_action_result`].
        id: RequestId,
        /// The node.
        node: NodeName,
        /// The change.
        patch: TaintPatch,
    },
    /// `PATCH` labels of a node: set these, keep the others.
    PatchNodeLabels {
        /// Identifier for [`super::NodeLifecycleController::handle_action_result`].
        id: RequestId,
        /// The node.
        node: NodeName,
        /// The labels to set.
        labels: BTreeMap<String, String>,
    },
    /// Write the status of a pod.
    PatchPodStatus {
        /// Identifier for [`super::NodeLifecycleController::handle_action_result`].
        id: RequestId,
        /// The pod.
        pod: PodKey,
        /// The change.
        patch: PodStatusPatch,
    },
    /// `DELETE` the pod, with default options.
    DeletePod {
        /// Identifier for [`super::NodeLifecycleController::handle_action_result`].
        id: RequestId,
        /// The pod.
        pod: PodKey,
    },
    /// Nothing to do: a fact without a Kubernetes Event.
    Report(NodeLifecycleReport),
}

/// A change of the taints of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TaintPatch {
    /// Mirrors `controller.AddOrUpdateTaintOnNode`.
    AddOrUpdate(Vec<Taint>),
    /// Mirrors `controller.RemoveTaintOffNode`, by key and effect.
    Remove(Vec<Taint>),
}

impl TaintPatch {
    /// Changes the taints; returns false if nothing changed.
    pub fn apply(&self, node: &mut Node) -> bool {
        let mut changed = false;
        match self {
            Self::AddOrUpdate(taints) => {
                for taint in taints {
                    changed |= add_or_update_taint(&mut node.spec.taints, taint);
                }
            }
            Self::Remove(taints) => {
                for taint in taints {
                    changed |= remove_taint(&mut node.spec.taints, taint);
                }
            }
        }
        changed
    }
}

/// A change of the status of a pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum PodStatusPatch {
    /// The condition Ready becomes False; its reason and message stay.
    NotReady {
        /// `lastTransitionTime`.
        at: Time,
    },
    /// `status.reason` and `status.message` of a pod whose node is lost.
    NodeLost {
        /// `status.message`.
        message: String,
    },
}

impl PodStatusPatch {
    /// Changes the status; returns false if nothing changed.
    pub fn apply(&self, pod: &mut Pod) -> bool {
        match self {
            Self::NotReady { at } => {
                let conditions = &mut pod.status.conditions;
                let ready = conditions.iter_mut().find(|condition| condition.type_ == "Ready");
                let Some(ready) = ready.filter(|ready| ready.status != ConditionStatus::False)
                else {
                    return false;
                };
                ready.status = ConditionStatus::False;
                ready.last_transition_time = Some(*at);
            }
            Self::NodeLost { message } => {
                pod.status.reason = NODE_LOST.into();
                pod.status.message.clone_from(message);
            }
        }
        true
    }
}

/// `status.reason` of a pod whose node is lost. Mirrors `nodeutil.NodeUnreachablePodReason`.
pub const NODE_LOST: &str = "NodeLost";

/// Reports of the controller, in addition to Kubernetes Events.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "report", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum NodeLifecycleReport {
    /// The state of a zone has changed.
    ZoneState {
        /// Key of the zone.
        zone: ZoneKey,
        /// State before; `None` for an unknown zone.
        from: Option<ZoneState>,
        /// State now; `None` for a zone whose nodes are all gone.
        to: Option<ZoneState>,
        /// Number of its nodes that are not ready.
        not_ready: usize,
        /// Number of its nodes that count.
        size: usize,
    },
    /// The rate of a zone has changed.
    Limiter {
        /// Key of the zone.
        zone: ZoneKey,
        /// Nodes per second; `None` if the zone is stopped.
        qps: Option<f32>,
    },
    /// No node of the cluster is ready: all evictions stop, and the `NoExecute` taints of this
    /// controller are removed.
    MasterDisruptionEntered,
    /// A node is ready again: evictions continue, and every node gets a new grace period.
    MasterDisruptionLeft,
    /// A node was queued to be tainted, or in the legacy path to have its pods deleted.
    Queued {
        /// The node.
        node: NodeName,
        /// Key of the zone whose queue it is in.
        zone: ZoneKey,
    },
    /// A node was dequeued.
    Dequeued {
        /// The node.
        node: NodeName,
        /// Key of the zone whose queue it was in.
        zone: ZoneKey,
        /// Result of its turn.
        outcome: DequeueOutcome,
    },
    /// All attempts to write the status of a node failed: this health pass skips it.
    NodeSkipped {
        /// The node.
        node: NodeName,
    },
}

/// Result for a dequeued node; it used a token of its zone in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(rename = "DequeueOutcome"))]
#[serde(rename_all = "camelCase")]
pub enum DequeueOutcome {
    /// The node is tainted; in the legacy path its pods are deleted.
    Done,
    /// The node does not exist any more.
    NodeGone,
    /// The node is ready again.
    Ready,
    /// The informer has not heard yet that the node is Unknown: the token is lost.
    ReadyInCache,
    /// A request failed: the node waits for the next token.
    Failed,
    /// The node has no Ready condition: it waits for the next token, at least 50 ms.
    NoReadyCondition,
    /// The node has no Ready condition, which ends the process in this release (up to 1.29).
    WouldCrash,
}
