//! Kubernetes Events, as components record them.

use alloc::string::String;

use serde::Serialize;

use crate::api::{NodeName, PodKey, WorkloadKey};

/// A Kubernetes Event (`v1.Event`), as a component records it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct RecordedEvent {
    /// Object that the event is about.
    pub involved_object: ObjectReference,
    /// `Normal` or `Warning`.
    #[serde(rename = "eventType")]
    pub type_: &'static str,
    /// Reason, in one word.
    pub reason: &'static str,
    /// Text of the event.
    pub message: String,
    /// `source.component`: the component that recorded it.
    pub component: &'static str,
}

/// `v1.ObjectReference`: the object that an event is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ObjectReference {
    /// A pod.
    Pod {
        /// `apiVersion`, if the component fills it in.
        #[serde(skip_serializing_if = "str::is_empty")]
        #[cfg_attr(feature = "typescript-all", tsify(optional))]
        api_version: &'static str,
        /// Namespace and name.
        pod: PodKey,
    },
    /// A node.
    Node {
        /// Name of the node.
        node: NodeName,
    },
    /// A PodDisruptionBudget.
    Budget {
        /// Namespace and name.
        budget: PodKey,
    },
    /// A Deployment, ReplicaSet, StatefulSet, DaemonSet or Job.
    Workload {
        /// Kind, namespace and name.
        workload: WorkloadKey,
    },
}
