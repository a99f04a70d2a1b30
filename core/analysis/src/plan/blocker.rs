//! Pods for which a drain waits, and what keeps them.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Serialize;
use serde_json::Value;
use taintlab_engine::simulator::{Simulator, drains, eviction_refusal, why_unschedulable};
use taintlab_rules::api::{BudgetStatus, NodeName, PodDisruptionBudget, PodKey};
use taintlab_rules::policy::eviction::{EvictionError, budget_selector};

use crate::report::PendingReason;

/// A pod for which a drain waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Blocked {
    /// Node that is drained.
    pub node: NodeName,
    /// The pod.
    pub pod: PodKey,
    /// Reason why it stays.
    pub by: Blocker,
}

/// Reasons why a pod stays on a node that is drained.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Blocker {
    /// Refusal of a budget.
    Budget {
        /// The budget.
        budget: PodKey,
        /// Its field: `minAvailable: 2`.
        spec: String,
        /// Healthy pods that it wants.
        needs: i64,
        /// Healthy pods that there are.
        has: i64,
        /// Pods that it counts.
        expected: i64,
        /// Pods of the budget that are not ready because they have no node, by the scheduler's reason.
        pending: Vec<PendingReason>,
    },
    /// Refusal of the eviction API for another reason.
    Refused {
        /// Words of the API server.
        message: String,
    },
    /// Deletion of which its kubelet does not say that the pod has ended.
    Unconfirmed,
    /// Deletion whose grace period is not over.
    Terminating,
    /// Finalizers of a deleted pod.
    Finalizers {
        /// Their names.
        finalizers: Vec<String>,
    },
}

impl Blocker {
    /// Whether the budget lets no pod go even if all are healthy.
    #[must_use]
    pub const fn never_ends(&self) -> bool {
        matches!(self, Self::Budget { needs, expected, .. } if *needs >= *expected)
    }
}

/// The pods for which drains wait now.
pub(super) fn blocked(simulator: &Simulator) -> Vec<Blocked> {
    let mut all = Vec::new();
    for (_, node, pods) in drains(simulator) {
        for pod in pods {
            if let Some(by) = blocker(simulator, pod) {
                all.push(Blocked { node: node.clone(), pod: pod.clone(), by });
            }
        }
    }
    all
}

fn blocker(simulator: &Simulator, key: &PodKey) -> Option<Blocker> {
    let pod = simulator.cluster().get_pod(key)?;
    if pod.is_terminating() {
        let finalizers: Vec<String> = pod.foreign_finalizers().map(ToString::to_string).collect();
        return Some(if simulator.awaits_kubelet(key) {
            Blocker::Unconfirmed
        } else if finalizers.is_empty() {
            Blocker::Terminating
        } else {
            Blocker::Finalizers { finalizers }
        });
    }
    Some(match eviction_refusal(simulator, key)? {
        EvictionError::DisruptionBudget { budget, needs, has, .. } => {
            let known = simulator.cluster().get_budget(&budget)?;
            let expected = BudgetStatus::of(known).expected_pods;
            let (spec, pending) = (asks_for(known), pending(simulator, known));
            Blocker::Budget { budget, spec, needs, has, expected, pending }
        }
        error => Blocker::Refused { message: error.to_string() },
    })
}

/// `minAvailable: 2`.
fn asks_for(budget: &PodDisruptionBudget) -> String {
    let field = |name: &str, value: &Option<Value>| {
        let value = value.as_ref()?;
        let text = value.as_str().map_or_else(|| value.to_string(), ToString::to_string);
        Some(alloc::format!("{name}: {text}"))
    };
    let spec = &budget.spec;
    let known = field("minAvailable", &spec.min_available);
    known.or_else(|| field("maxUnavailable", &spec.max_unavailable)).unwrap_or_default()
}

/// Pods of a budget without a node.
fn pending(simulator: &Simulator, budget: &PodDisruptionBudget) -> Vec<PendingReason> {
    let Some(selector) = budget_selector(simulator.config().release, budget) else {
        return Vec::new();
    };
    let mut reasons: Vec<PendingReason> = Vec::new();
    for (key, pod) in simulator.cluster().pods() {
        if !pod.is_active()
            || !pod.spec.node_name.is_empty()
            || key.namespace() != budget.metadata.namespace
            || !selector.matches(&pod.metadata.labels)
        {
            continue;
        }
        let reason = why_unschedulable(simulator, key);
        match reasons.iter_mut().find(|known| known.reason == reason) {
            Some(known) => known.pods += 1,
            None => reasons.push(PendingReason { reason, pods: 1 }),
        }
    }
    reasons
}
