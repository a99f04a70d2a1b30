//! Changes as a watch reports them: an object was added, changed or deleted.

use alloc::string::String;
use alloc::sync::Arc;

use crate::api::{
    DeviceTaintRule, Lease, Node, NodeName, Pod, PodDisruptionBudget, PodKey, ResourceClaim,
    ResourceSlice, Workload, WorkloadKey,
};

/// A change of one object, with both versions. Without an old version it was added; without a new
/// one it was deleted.
#[derive(Clone, Debug)]
pub enum Change {
    /// A change of a node.
    Node {
        /// Name of the node.
        name: NodeName,
        /// Version before.
        old: Option<Arc<Node>>,
        /// Version after.
        new: Option<Arc<Node>>,
    },
    /// A change of a pod.
    Pod {
        /// Key of the pod.
        key: PodKey,
        /// Version before.
        old: Option<Arc<Pod>>,
        /// Version after.
        new: Option<Arc<Pod>>,
    },
    /// A change of a workload.
    Workload {
        /// Key of the workload.
        key: WorkloadKey,
        /// Version before.
        old: Option<Arc<Workload>>,
        /// Version after.
        new: Option<Arc<Workload>>,
    },
    /// A change of a node's lease.
    Lease {
        /// The node.
        node: NodeName,
        /// Version after.
        new: Option<Arc<Lease>>,
    },
    /// A change of a budget.
    Budget {
        /// Key of the budget.
        key: PodKey,
        /// Version before.
        old: Option<Arc<PodDisruptionBudget>>,
        /// Version after.
        new: Option<Arc<PodDisruptionBudget>>,
    },
    /// A change of a volume, a claim or an attachment.
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
    /// Of a class of devices.
    Class {
        /// Whether it is there now.
        exists: bool,
    },
    /// Of a template of claims.
    Template,
}

/// A change of storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VolumeChange {
    /// A claim was added, changed or deleted.
    Claim(PodKey),
    /// A PersistentVolume was added, changed or deleted.
    PersistentVolume(String),
    /// A volume was attached to a node, or detached from it.
    Attachment {
        /// The volume.
        volume: String,
        /// The node.
        node: NodeName,
        /// Whether it is attached now.
        attached: bool,
    },
    /// The kubelet of a node has mounted or unmounted a volume.
    InUse {
        /// The volume.
        volume: String,
        /// The node.
        node: NodeName,
    },
}
