//! What the controller wants done, and what it tells.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::api::{ConditionStatus, Node, NodeCondition, NodeName, Pod, PodKey, Taint};
use crate::policy::taints::{add_or_update_taint, remove_taint};
use crate::protocol::zone::{ZoneKey, ZoneState};
use crate::protocol::{RecordedEvent, RequestId};
use crate::time::Time;

/// What the controller wants done. One request is out at a time: the next one comes when the
/// result of the last is known.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeLifecycleAction {
    /// NodeState a Kubernetes Event.
    RecordEvent(RecordedEvent),
    /// Replace the conditions in the status of a node. A conflict, or any other error, is a
    /// result; the controller tries again itself.
    PatchNodeStatus {
        /// For [`super::NodeLifecycleController::handle_action_result`].
        id: RequestId,
        /// Which node.
        node: NodeName,
        /// All its conditions.
        conditions: Vec<NodeCondition>,
    },
    /// `GET` the node, change its taints, `PATCH` it if that changed them. A conflict is tried
    /// again by the one who does this, as upstream's helper does; the last error is the result.
    PatchNodeTaints {
        /// For [`super::NodeLifecycleController::handle_action_result`].
        id: RequestId,
        /// Which node.
        node: NodeName,
        /// The change.
        patch: TaintPatch,
    },
    /// `PATCH` labels of a node: set these, leave the others.
    PatchNodeLabels {
        /// For [`super::NodeLifecycleController::handle_action_result`].
        id: RequestId,
        /// Which node.
        node: NodeName,
        /// The labels to set.
        labels: BTreeMap<String, String>,
    },
    /// Write the status of a pod.
    PatchPodStatus {
        /// For [`super::NodeLifecycleController::handle_action_result`].
        id: RequestId,
        /// Which pod.
        pod: PodKey,
        /// The change.
        patch: PodStatusPatch,
    },
    /// `DELETE` the pod, with default options.
    DeletePod {
        /// For [`super::NodeLifecycleController::handle_action_result`].
        id: RequestId,
        /// Which pod.
        pod: PodKey,
    },
    /// Nothing to do: something that no Kubernetes Event tells.
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
    /// Changes the taints; false if there is nothing to change.
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
    /// Changes the status; false if there is nothing to change.
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

/// What the controller tells beside Kubernetes Events.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "report", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum NodeLifecycleReport {
    /// A zone came into another state.
    ZoneState {
        /// The key of the zone.
        zone: ZoneKey,
        /// The state before; `None` for a zone that was not known.
        from: Option<ZoneState>,
        /// The state now; `None` for a zone whose nodes are all gone.
        to: Option<ZoneState>,
        /// How many of its nodes are not ready.
        not_ready: usize,
        /// How many of its nodes count.
        size: usize,
    },
    /// The rate of a zone has changed.
    Limiter {
        /// The key of the zone.
        zone: ZoneKey,
        /// Nodes per second; `None` for none at all.
        qps: Option<f32>,
    },
    /// No node of the cluster is ready: all evictions stop, and the `NoExecute` taints of this
    /// controller come off.
    MasterDisruptionEntered,
    /// Some node is ready again: evictions go on, and every node gets a new grace period.
    MasterDisruptionLeft,
    /// A node waits to be tainted, or in the legacy path for its pods to be deleted.
    Queued {
        /// Which node.
        node: NodeName,
        /// The key of the zone whose queue it is in.
        zone: ZoneKey,
    },
    /// A node was dequeued.
    Dequeued {
        /// Which node.
        node: NodeName,
        /// The key of the zone whose queue it was in.
        zone: ZoneKey,
        /// What came of it.
        outcome: DequeueOutcome,
    },
    /// All attempts to write the status of a node failed: this health pass leaves it out.
    NodeSkipped {
        /// Which node.
        node: NodeName,
    },
}

/// What came of a dequeued node; it cost its zone a token in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(rename = "DequeueOutcome"))]
#[serde(rename_all = "camelCase")]
pub enum DequeueOutcome {
    /// It is tainted; in the legacy path its pods are deleted.
    Done,
    /// There is no such node any more.
    NodeGone,
    /// It is ready again.
    Ready,
    /// A request failed: it waits for the next token.
    Failed,
    /// It has no Ready condition: it waits for the next token, at least 50 ms.
    NoReadyCondition,
    /// It has no Ready condition, which ends the process in this release (to 1.29).
    WouldCrash,
}
