//! Nodes.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{
    ApiVersion, Kind, NoOtherFields, NodeSpecFields, NodeStatusFields, ObjectMeta, Taint, TypeName,
    is_default, nullable, string_enum,
};
use crate::time::Time;

/// Marks [`Node`] as `v1`, `Node`.
pub enum NodeKind {}

impl TypeName for NodeKind {
    const KIND: &'static str = "Node";
}

/// `v1.Node`: a machine that runs pods.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify), tsify(rename = "KubernetesNode"))]
#[serde(rename_all = "camelCase", default)]
pub struct Node {
    /// `v1`.
    #[cfg_attr(feature = "typescript", tsify(type = "string"))]
    pub api_version: ApiVersion<NodeKind>,
    /// `Node`.
    #[cfg_attr(feature = "typescript", tsify(type = "string"))]
    pub kind: Kind<NodeKind>,
    /// Name, labels and so on.
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    /// What was asked for.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub spec: NodeSpec,
    /// What was observed.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub status: NodeStatus,
    /// Everything else.
    #[serde(flatten)]
    pub other: NoOtherFields,
}

impl Node {
    /// The `NoExecute` taints in their order. Mirrors `tainteviction.getNoExecuteTaints`.
    #[must_use]
    pub fn no_execute_taints(&self) -> Vec<Taint> {
        self.spec.taints.iter().filter(|taint| taint.is_no_execute()).cloned().collect()
    }

    /// The condition of that type, for example `Ready`.
    #[must_use]
    pub fn condition(&self, type_: &str) -> Option<&NodeCondition> {
        self.status.conditions.iter().find(|condition| condition.type_ == type_)
    }

    /// The version of its kubelet, `status.nodeInfo.kubeletVersion`; `None` if it reports none.
    #[must_use]
    pub fn kubelet_version(&self) -> Option<&str> {
        let version = self.status.other.get("nodeInfo")?.get("kubeletVersion")?.as_str()?;
        Some(version).filter(|version| !version.is_empty())
    }
}

/// `v1.NodeSpec`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSpec {
    /// Whether new pods are kept away, as `kubectl cordon` asks.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub unschedulable: bool,
    /// The taints; their order matters.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub taints: Vec<Taint>,
    /// Everything else.
    #[serde(flatten)]
    pub other: NodeSpecFields,
}

/// `v1.NodeStatus`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default)]
pub struct NodeStatus {
    /// Ready, MemoryPressure, DiskPressure, PIDPressure and so on.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub conditions: Vec<NodeCondition>,
    /// Everything else.
    #[serde(flatten)]
    pub other: NodeStatusFields,
}

/// The types of node conditions that Kubernetes itself knows (`v1.NodeConditionType`).
pub mod node_condition_type {
    /// The kubelet is healthy and takes pods.
    pub const READY: &str = "Ready";
    /// The node runs out of memory.
    pub const MEMORY_PRESSURE: &str = "MemoryPressure";
    /// The node runs out of disk space or inodes.
    pub const DISK_PRESSURE: &str = "DiskPressure";
    /// The node runs out of process IDs.
    pub const PID_PRESSURE: &str = "PIDPressure";
    /// The node's network is not configured.
    pub const NETWORK_UNAVAILABLE: &str = "NetworkUnavailable";
}

string_enum! {
    /// `v1.ConditionStatus`.
    ConditionStatus {
        /// The condition holds.
        True = "True",
        /// The condition does not hold.
        False = "False",
        /// Nobody can tell.
        Unknown = "Unknown",
    }
}

/// `v1.NodeCondition`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default)]
pub struct NodeCondition {
    /// The type, for example `Ready`.
    #[serde(rename = "type", deserialize_with = "nullable")]
    pub type_: String,
    /// Whether it holds.
    #[serde(deserialize_with = "nullable")]
    pub status: ConditionStatus,
    /// When the kubelet last reported it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_heartbeat_time: Option<Time>,
    /// When the status last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Time>,
    /// Why, in one word.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub reason: String,
    /// Why, in a sentence.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub message: String,
    /// Everything else.
    #[serde(flatten)]
    pub other: NoOtherFields,
}
