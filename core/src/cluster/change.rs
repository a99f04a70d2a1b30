//! What a watch tells: an object was added, changed or deleted.

use alloc::string::String;
use alloc::sync::Arc;

use crate::api::{
    DeviceTaintRule, Lease, Node, NodeName, Pod, PodDisruptionBudget, PodKey, ResourceClaim,
    ResourceSlice, Workload, WorkloadKey,
};

/// A change of one object, with both versions. An object was added if there is no old one, and
/// deleted if there is no new one.
#[derive(Clone, Debug)]
pub enum Change {
    /// Of a node.
    Node {
        /// Which one.
        name: NodeName,
        /// As it was.
        old: Option<Arc<Node>>,
        /// As it is.
        new: Option<Arc<Node>>,
    },
    /// Of a pod.
    Pod {
        /// Which one.
        key: PodKey,
        /// As it was.
        old: Option<Arc<Pod>>,
        /// As it is.
        new: Option<Arc<Pod>>,
    },
    /// Of a workload.
    Workload {
        /// Which one.
        key: WorkloadKey,
        /// As it was.
        old: Option<Arc<Workload>>,
        /// As it is.
        new: Option<Arc<Workload>>,
    },
    /// Of the lease of a node.
    Lease {
        /// Which node.
        node: NodeName,
        /// As it is.
        new: Option<Arc<Lease>>,
    },
    /// Of a budget.
    Budget {
        /// Which one.
        key: PodKey,
        /// As it was.
        old: Option<Arc<PodDisruptionBudget>>,
        /// As it is.
        new: Option<Arc<PodDisruptionBudget>>,
    },
    /// Of a volume, a claim or an attachment.
    Volume(VolumeChange),
    /// Of an object of `resource.k8s.io`.
    Device(DeviceChange),
}

/// A change of an object of `resource.k8s.io`, with both versions of it.
#[derive(Clone, Debug)]
pub enum DeviceChange {
    /// Of the devices of a pool.
    Slice {
        /// As it was.
        old: Option<Arc<ResourceSlice>>,
        /// As it is.
        new: Option<Arc<ResourceSlice>>,
    },
    /// Of a claim.
    Claim {
        /// As it was.
        old: Option<Arc<ResourceClaim>>,
        /// As it is.
        new: Option<Arc<ResourceClaim>>,
    },
    /// Of a rule that taints devices.
    Rule {
        /// As it was.
        old: Option<Arc<DeviceTaintRule>>,
        /// As it is.
        new: Option<Arc<DeviceTaintRule>>,
    },
    /// Of a class, or of a template of claims.
    Other,
}

/// A change of storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VolumeChange {
    /// A claim was added, has changed or is gone.
    Claim(PodKey),
    /// A PersistentVolume was added, has changed or is gone.
    PersistentVolume(String),
    /// A volume was attached to a node, or detached from it.
    Attachment {
        /// Which volume.
        volume: String,
        /// Which node.
        node: NodeName,
        /// Whether it is attached now.
        attached: bool,
    },
    /// The kubelet of a node has mounted or unmounted a volume.
    InUse {
        /// Which volume.
        volume: String,
        /// Which node.
        node: NodeName,
    },
}
