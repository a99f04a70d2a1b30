//! What controllers say of workloads.

use alloc::collections::BTreeMap;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::{PodDisruptionBudget, Workload, is_default};
use crate::time::Time;

/// `v1.DaemonSetStatus`, as its controller writes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DaemonSetStatus {
    /// How many nodes that are to have a pod have one.
    pub current_number_scheduled: i64,
    /// How many nodes are to have a pod.
    pub desired_number_scheduled: i64,
    /// How many nodes have a pod that are to have none.
    pub number_misscheduled: i64,
    /// On how many nodes the oldest pod is ready.
    pub number_ready: i64,
    /// On how many it is of the present template.
    #[serde(skip_serializing_if = "is_default")]
    pub updated_number_scheduled: i64,
    /// On how many it has been ready for `minReadySeconds`.
    #[serde(skip_serializing_if = "is_default")]
    pub number_available: i64,
    /// How many of the nodes that are to have a pod have none that is available.
    #[serde(skip_serializing_if = "is_default")]
    pub number_unavailable: i64,
    /// The `metadata.generation` that this is about.
    #[serde(skip_serializing_if = "is_default")]
    pub observed_generation: i64,
}

impl DaemonSetStatus {
    /// The status in the object of a DaemonSet; `None` without one.
    #[must_use]
    pub fn of(set: &Workload) -> Option<Self> {
        Self::deserialize(set.other.get("status")?).ok()
    }
}

/// `status` of a budget, as the disruption controller writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BudgetStatus {
    /// How many pods there should be, as their controllers say.
    pub expected_pods: i64,
    /// How many of them are ready and not terminating.
    pub current_healthy: i64,
    /// How many must be.
    pub desired_healthy: i64,
    /// How many may be evicted now.
    pub disruptions_allowed: i64,
    /// Pods whose eviction was granted and is not seen yet, by name, and since when.
    #[serde(skip_serializing_if = "is_default")]
    pub disrupted_pods: BTreeMap<String, Time>,
    /// The `metadata.generation` that this is about.
    #[serde(skip_serializing_if = "is_default")]
    pub observed_generation: i64,
}

impl BudgetStatus {
    /// The status in the object of a budget; all zero without one.
    #[must_use]
    pub fn of(budget: &PodDisruptionBudget) -> Self {
        let status = budget.other.get("status");
        status.and_then(|status| Self::deserialize(status).ok()).unwrap_or_default()
    }
}
