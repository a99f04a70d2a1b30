//! What a user, a fault or another component does to the cluster.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::api::{Node, NodeName, Pod, PodKey, Taint, TaintEffect, Toleration};
use crate::time::Timestamp;
use crate::validation::FieldError;

/// One change of the cluster. Commands are all that ever happens to a simulation from outside;
/// the same commands at the same times give the same events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Command {
    /// Creates a node.
    CreateNode(Node),
    /// Replaces a node by another version of itself, as `kubectl replace` does.
    UpdateNode(Node),
    /// Deletes a node. Its pods stay, and so do their pending evictions.
    DeleteNode {
        /// Which node.
        node: NodeName,
    },
    /// Replaces all taints of a node.
    SetTaints {
        /// Which node.
        node: NodeName,
        /// The new taints, in order.
        taints: Vec<Taint>,
    },
    /// Adds a taint as `kubectl taint --overwrite` does: in front, in place of one with the same
    /// key and effect.
    Taint {
        /// Which node.
        node: NodeName,
        /// The taint.
        taint: Taint,
    },
    /// Removes taints by key, and by effect if one is given, as `kubectl taint KEY[:EFFECT]-`.
    Untaint {
        /// Which node.
        node: NodeName,
        /// The key of the taints.
        key: String,
        /// Their effect; absent for all effects.
        #[serde(default, skip_serializing_if = "TaintEffect::is_empty")]
        effect: TaintEffect,
    },
    /// Sets `spec.unschedulable`, as `kubectl cordon` and `kubectl uncordon` do.
    SetUnschedulable {
        /// Which node.
        node: NodeName,
        /// `true` to cordon.
        unschedulable: bool,
    },
    /// Replaces all labels of a node.
    SetNodeLabels {
        /// Which node.
        node: NodeName,
        /// The new labels.
        labels: BTreeMap<String, String>,
    },
    /// Creates a pod.
    CreatePod(Pod),
    /// Replaces a pod by another version of itself. A changed UID makes it another pod of the same
    /// name that the controllers see as one update.
    UpdatePod(Pod),
    /// Deletes a pod: gracefully, or at once.
    DeletePod {
        /// Which pod.
        pod: PodKey,
        /// `true` removes the pod at once, as `kubectl delete --force --grace-period=0`.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        force: bool,
    },
    /// Replaces the tolerations of a pod.
    SetTolerations {
        /// Which pod.
        pod: PodKey,
        /// The new tolerations, in order.
        tolerations: Vec<Toleration>,
    },
    /// Replaces all labels of a pod.
    SetPodLabels {
        /// Which pod.
        pod: PodKey,
        /// The new labels.
        labels: BTreeMap<String, String>,
    },
    /// Binds a pod that has no node to a node.
    BindPod {
        /// Which pod.
        pod: PodKey,
        /// To which node.
        node: NodeName,
    },
    /// Makes the API server refuse writes to a pod with an error, a number of times.
    FailPodWrites {
        /// Which pod.
        pod: PodKey,
        /// Which kind of write.
        verb: PodWrite,
        /// How many times from now on; zero ends it.
        times: u32,
        /// With what error.
        #[serde(default)]
        error: ApiErrorKind,
    },
    /// Restarts the taint-eviction controller: its timers and its memory are lost, and it sees all
    /// nodes and pods as new.
    RestartTaintEvictionController,
}

/// A write to a pod that can be made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum PodWrite {
    /// `DELETE` of the pod.
    Delete,
    /// `PATCH` of the pod's status.
    PatchStatus,
}

/// The error of a request that was made to fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ApiErrorKind {
    /// 500, the API server has a problem.
    #[default]
    InternalError,
    /// 409, somebody else wrote the object.
    Conflict,
    /// 429, too many requests.
    TooManyRequests,
    /// 403, not allowed.
    Forbidden,
}

impl Command {
    /// The node this command is about, if any.
    #[must_use]
    pub fn node(&self) -> Option<&str> {
        match self {
            Self::CreateNode(node) | Self::UpdateNode(node) => Some(&node.metadata.name),
            Self::DeleteNode { node }
            | Self::SetTaints { node, .. }
            | Self::Taint { node, .. }
            | Self::Untaint { node, .. }
            | Self::SetUnschedulable { node, .. }
            | Self::SetNodeLabels { node, .. } => Some(node.as_str()),
            _ => None,
        }
    }

    /// The pod this command is about, if any.
    #[must_use]
    pub fn pod(&self) -> Option<PodKey> {
        match self {
            Self::CreatePod(pod) | Self::UpdatePod(pod) => Some(pod.key()),
            Self::DeletePod { pod, .. }
            | Self::SetTolerations { pod, .. }
            | Self::SetPodLabels { pod, .. }
            | Self::BindPod { pod, .. }
            | Self::FailPodWrites { pod, .. } => Some(pod.clone()),
            _ => None,
        }
    }
}

/// Why a command was not carried out. The cluster is as it was before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandError {
    /// The command is older than the simulation.
    TimeWentBack {
        /// The time of the command.
        at: Timestamp,
        /// The time the simulation has reached.
        now: Timestamp,
    },
    /// There is no node of that name.
    NodeNotFound(NodeName),
    /// There is no such pod.
    PodNotFound(PodKey),
    /// There is a node of that name already.
    NodeAlreadyExists(NodeName),
    /// There is such a pod already.
    PodAlreadyExists(PodKey),
    /// The pod has a node already.
    PodAlreadyBound {
        /// Which pod.
        pod: PodKey,
        /// Where it is.
        node: NodeName,
    },
    /// No taint of the node has that key (and effect).
    TaintNotFound {
        /// Which node.
        node: NodeName,
        /// The taint as text, `key` or `key:effect`.
        taint: String,
    },
    /// The API server would not accept the object.
    Invalid {
        /// What object, as kubectl names it: `node "a"`.
        object: String,
        /// What is wrong with it.
        errors: Vec<FieldError>,
    },
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimeWentBack { at, now } => {
                write!(f, "the command is for {at}, but the simulation is already at {now}")
            }
            Self::NodeNotFound(node) => write!(f, "nodes \"{node}\" not found"),
            Self::PodNotFound(pod) => {
                write!(f, "pods \"{}\" not found in namespace \"{}\"", pod.name(), pod.namespace())
            }
            Self::NodeAlreadyExists(node) => write!(f, "nodes \"{node}\" already exists"),
            Self::PodAlreadyExists(pod) => write!(
                f,
                "pods \"{}\" already exists in namespace \"{}\"",
                pod.name(),
                pod.namespace()
            ),
            Self::PodAlreadyBound { pod, node } => {
                write!(f, "pod {} is already assigned to node \"{node}\"", pod.name())
            }
            Self::TaintNotFound { node, taint } => {
                write!(f, "taint \"{taint}\" not found on node \"{node}\"")
            }
            Self::Invalid { object, errors } => {
                write!(f, "{object} is invalid: ")?;
                for (index, error) in errors.iter().enumerate() {
                    write!(f, "{}{error}", if index == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
        }
    }
}

impl core::error::Error for CommandError {}
