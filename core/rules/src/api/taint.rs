//! Taints of a node.

use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};

use super::{is_default, nullable, string_enum};
use crate::time::Time;

string_enum! {
    /// `v1.TaintEffect`: what a taint does to pods that do not tolerate it.
    TaintEffect {
        /// New pods are not scheduled onto the node.
        NoSchedule = "NoSchedule",
        /// The scheduler avoids the node.
        PreferNoSchedule = "PreferNoSchedule",
        /// New pods are not scheduled, and running ones are evicted.
        NoExecute = "NoExecute",
    }
}

/// `v1.Taint`: a mark on a node that keeps pods away which do not tolerate it.
///
/// Its identity is key and effect; equality is that of all fields, which is
/// what decides whether a node's taints have *changed*.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default)]
pub struct Taint {
    /// The key, a qualified name such as `example.com/maintenance`.
    #[serde(deserialize_with = "nullable")]
    pub key: String,
    /// The value, in the syntax of a label value; may be empty.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub value: String,
    /// The effect; case-sensitive.
    #[serde(deserialize_with = "nullable")]
    pub effect: TaintEffect,
    /// When the node lifecycle controller added the taint. Eviction never computes a deadline
    /// from it; it only counts when taint lists are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_added: Option<Time>,
}

impl Taint {
    /// A taint without `timeAdded`.
    #[must_use]
    pub fn new(key: &str, value: &str, effect: TaintEffect) -> Self {
        Self { key: key.into(), value: value.into(), effect, time_added: None }
    }

    /// Whether both have the same key and effect. Mirrors `Taint.MatchTaint`.
    #[must_use]
    pub fn matches(&self, other: &Self) -> bool {
        self.key == other.key && self.effect == other.effect
    }

    /// Whether the effect is `NoExecute`.
    #[must_use]
    pub fn is_no_execute(&self) -> bool {
        self.effect == TaintEffect::NoExecute
    }
}

/// `key`, `key=value:`, `key:effect` or `key=value:effect`. Mirrors `Taint.ToString`.
impl fmt::Display for Taint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.value.is_empty(), self.effect.is_empty()) {
            (true, true) => f.write_str(&self.key),
            (false, true) => write!(f, "{}={}:", self.key, self.value),
            (true, false) => write!(f, "{}:{}", self.key, self.effect),
            (false, false) => write!(f, "{}={}:{}", self.key, self.value, self.effect),
        }
    }
}

/// The taint keys that Kubernetes itself sets (`k8s.io/api/core/v1/well_known_taints.go`).
pub mod well_known {
    /// The node's Ready condition is False.
    pub const NOT_READY: &str = "node.kubernetes.io/not-ready";
    /// The node's Ready condition is Unknown: its kubelet stopped reporting.
    pub const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
    /// `spec.unschedulable` is set, as `kubectl cordon` does.
    pub const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";
    /// The node runs out of memory.
    pub const MEMORY_PRESSURE: &str = "node.kubernetes.io/memory-pressure";
    /// The node runs out of disk space or inodes.
    pub const DISK_PRESSURE: &str = "node.kubernetes.io/disk-pressure";
    /// The node runs out of process IDs.
    pub const PID_PRESSURE: &str = "node.kubernetes.io/pid-pressure";
    /// The node's network is not configured.
    pub const NETWORK_UNAVAILABLE: &str = "node.kubernetes.io/network-unavailable";
    /// The node was shut down without warning; set by hand so that its volumes are freed.
    pub const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";
    /// The cloud provider has not initialised the node yet.
    pub const UNINITIALIZED: &str = "node.cloudprovider.kubernetes.io/uninitialized";
    /// The cloud provider says that the machine is shut down.
    pub const SHUTDOWN: &str = "node.cloudprovider.kubernetes.io/shutdown";
    /// Set by kubeadm on nodes of the control plane.
    pub const CONTROL_PLANE: &str = "node-role.kubernetes.io/control-plane";

    /// All of them, for completion in forms.
    pub const ALL: [&str; 11] = [
        NOT_READY,
        UNREACHABLE,
        UNSCHEDULABLE,
        MEMORY_PRESSURE,
        DISK_PRESSURE,
        PID_PRESSURE,
        NETWORK_UNAVAILABLE,
        OUT_OF_SERVICE,
        UNINITIALIZED,
        SHUTDOWN,
        CONTROL_PLANE,
    ];
}
