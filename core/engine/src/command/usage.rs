//! What commands say about resources of nodes and what is used of them.

use alloc::string::String;

use serde::{Deserialize, Serialize};
use taintlab_rules::api::{NodeName, PodKey, Quantity, is_default};

use crate::kubelet::{
    Layout, NodeCapacity, NodeResource, PodResource, SystemUsage, Unused, UsageCurve,
};

/// What a node has and what is used of it besides its pods. With this its kubelet begins to watch
/// over it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NodeResources {
    /// Which node.
    pub node: NodeName,
    /// How much it has. Memory and space of the kubelet's file system are those of
    /// `status.capacity` unless given; of what nobody gives nothing is watched.
    #[serde(default, skip_serializing_if = "is_default")]
    pub capacity: NodeCapacity,
    /// Where images and writable layers are.
    #[serde(default, skip_serializing_if = "is_default")]
    pub layout: Layout,
    /// What the system and the kubelet use, over the time since the simulation began.
    #[serde(default, skip_serializing_if = "is_default")]
    pub system: SystemUsage,
    /// Containers that have ended, until the kubelet deletes them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unused_containers: Unused,
    /// Images that no container uses, until the kubelet deletes them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unused_images: Unused,
}

/// What the system of a node uses of something from now on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NodeLoad {
    /// Which node.
    pub node: NodeName,
    /// Of what.
    pub resource: NodeResource,
    /// How much, over the time since now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<UsageCurve>,
    /// Instead: so much that this is left now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaves: Option<Quantity>,
}

/// What a container of a running pod uses of something from now on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LoadedPod {
    /// Which pod.
    pub pod: PodKey,
    /// Which container; the first unless given.
    #[serde(default, skip_serializing_if = "is_default")]
    pub container: String,
    /// Of what.
    pub resource: PodResource,
    /// How much, over the time since now.
    pub usage: UsageCurve,
}
