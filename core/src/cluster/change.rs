//! What a watch tells: an object was added, changed or deleted.

use alloc::sync::Arc;

use crate::api::{Lease, Node, NodeName, Pod, PodDisruptionBudget, PodKey, Workload, WorkloadKey};

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
}
