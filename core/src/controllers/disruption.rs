//! PodDisruptionBudgets: what they allow, and whether they let a pod go.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use serde::Serialize;

use super::{Context, Controller, WorkTicket};
use crate::api::{IntOrPercent, LabelSelector, Pod, PodDisruptionBudget, PodKey, WorkloadKey};
use crate::cluster::{Change, Cluster};
use crate::protocol::{RequestId, TimeoutReason};
use crate::queue::timer_queue::TimerId;
use crate::release::KubernetesRelease;

/// Knows which pods each budget protects, and how many of them are healthy. Mirrors
/// `pkg/controller/disruption`. What a budget allows is worked out when it is asked for.
#[derive(Clone, Debug)]
pub struct DisruptionController {
    release: KubernetesRelease,
    protected: BTreeMap<PodKey, Protected>,
}

/// What is known of one budget's pods.
#[derive(Clone, Debug)]
struct Protected {
    selector: Option<LabelSelector>,
    /// Those that it selects and that have not ended.
    pods: BTreeSet<PodKey>,
    /// Those of them that are ready and not terminating.
    healthy: BTreeSet<PodKey>,
}

/// `status` of a budget, as the disruption controller writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetStatus {
    /// How many pods there should be, as their controllers say.
    pub expected_pods: i64,
    /// How many of them are ready and not terminating.
    pub current_healthy: i64,
    /// How many must be.
    pub desired_healthy: i64,
    /// How many may be evicted now.
    pub disruptions_allowed: i64,
}

impl DisruptionController {
    /// A controller that knows nothing yet: tell it of all budgets and pods.
    #[must_use]
    pub const fn new(release: KubernetesRelease) -> Self {
        Self { release, protected: BTreeMap::new() }
    }

    /// The status of a budget now; `None` if there is no such budget.
    #[must_use]
    pub fn status(&self, cluster: &Cluster, key: &PodKey) -> Option<BudgetStatus> {
        let budget = cluster.get_budget(key)?;
        let protected = self.protected.get(key)?;
        let [min, max] = budget.limits().ok()?;
        let pods = count(protected.pods.len());
        let (expected, desired) = match (min, max) {
            (_, Some(max)) => {
                let expected = expected_scale(cluster, &protected.pods);
                (expected, (expected - max.of(expected, true)).max(0))
            }
            (Some(IntOrPercent::Int(least)), None) => (pods, least),
            (Some(part), None) => {
                let expected = expected_scale(cluster, &protected.pods);
                (expected, part.of(expected, true))
            }
            // Without either, `minAvailable` is 1 by default, for API servers that take such a
            // budget.
            (None, None) => (pods, 1),
        };
        let healthy = count(protected.healthy.len());
        let allowed = if expected <= 0 { 0 } else { (healthy - desired).max(0) };
        Some(BudgetStatus {
            expected_pods: expected,
            current_healthy: healthy,
            desired_healthy: desired,
            disruptions_allowed: allowed,
        })
    }

    /// The budgets that select a pod, by name.
    #[must_use]
    pub fn budgets_of(&self, pod: &PodKey) -> Vec<PodKey> {
        let selecting = self.protected.iter().filter(|(_, known)| known.pods.contains(pod));
        selecting.map(|(budget, _)| budget.clone()).collect()
    }

    /// Whether there is no budget at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.protected.is_empty()
    }

    /// Whether a budget lets one of its pods go; if not, its status. Mirrors
    /// `EvictionREST.checkAndDecrement`.
    ///
    /// # Errors
    /// The status of the budget that forbids it.
    pub fn allows(&self, cluster: &Cluster, key: &PodKey, ready: bool) -> Result<(), BudgetStatus> {
        let Some(status) = self.status(cluster, key) else { return Ok(()) };
        if status.disruptions_allowed > 0 || !ready && self.lets_unready_go(cluster, key, status) {
            return Ok(());
        }
        Err(status)
    }

    /// Whether a pod that is not ready may go without counting.
    fn lets_unready_go(&self, cluster: &Cluster, key: &PodKey, status: BudgetStatus) -> bool {
        let healthy = status.current_healthy >= status.desired_healthy;
        let always = self.release.has_unhealthy_pod_eviction_policy()
            && cluster
                .get_budget(key)
                .is_some_and(|budget| budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow");
        always || (healthy && status.desired_healthy > 0)
    }

    /// A budget is there, or has changed.
    fn protect(&mut self, cluster: &Cluster, budget: &PodDisruptionBudget) {
        let selector = budget.selector().ok().flatten();
        let known = Protected { selector, pods: BTreeSet::new(), healthy: BTreeSet::new() };
        let budget = budget.key();
        self.protected.insert(budget.clone(), known);
        for (key, pod) in cluster.pods().filter(|(key, _)| key.namespace() == budget.namespace()) {
            self.observe_pod(key, Some(pod));
        }
    }

    fn observe_pod(&mut self, key: &PodKey, pod: Option<&Pod>) {
        let namespace = key.namespace();
        for (budget, protected) in &mut self.protected {
            if budget.namespace() != namespace {
                continue;
            }
            let counts = |pod: &&Pod| {
                let selector = protected.selector.as_ref();
                !pod.has_ended()
                    && selector.is_some_and(|selector| selector.matches(&pod.metadata.labels))
            };
            let pod = pod.filter(counts);
            set(&mut protected.pods, key, pod.is_some());
            set(&mut protected.healthy, key, pod.is_some_and(Pod::is_ready_replica));
        }
    }
}

impl Controller for DisruptionController {
    type Action = core::convert::Infallible;
    type Answer = ();

    fn handle_change(&mut self, context: &mut Context<'_>, change: &Change) {
        match change {
            Change::Pod { key, new, .. } => self.observe_pod(key, new.as_deref()),
            Change::Budget { new: Some(budget), .. } => self.protect(context.cluster, budget),
            Change::Budget { key, new: None, .. } => {
                self.protected.remove(key);
            }
            Change::Node { .. } | Change::Workload { .. } | Change::Lease { .. } => {}
        }
    }

    fn handle_timeout(&mut self, _: &mut Context<'_>) {}

    fn poll_action(&mut self, _: &mut Context<'_>) -> Option<Self::Action> {
        None
    }

    fn handle_action_result(&mut self, _: &mut Context<'_>, _: RequestId, (): ()) {}

    fn next_timer(&self) -> Option<TimerId> {
        None
    }

    fn timer_reason(&self) -> Option<TimeoutReason> {
        None
    }

    fn next_work(&self) -> Option<WorkTicket> {
        None
    }
}

/// How many pods the controllers of these want. Mirrors `getExpectedScale`; a pod without a
/// controller counts for itself.
fn expected_scale(cluster: &Cluster, pods: &BTreeSet<PodKey>) -> i64 {
    let mut owners: BTreeMap<WorkloadKey, i64> = BTreeMap::new();
    let mut alone = 0;
    for pod in pods.iter().filter_map(|key| cluster.get_pod(key)) {
        let Some(owner) = pod.metadata.controller_key() else {
            alone += 1;
            continue;
        };
        let workload = cluster.get_workload(&owner);
        let top = workload.and_then(|workload| workload.owner()).unwrap_or(owner);
        let wanted = cluster.get_workload(&top).map(|workload| workload.replicas());
        owners.entry(top).or_insert(wanted.unwrap_or_default());
    }
    owners.into_values().sum::<i64>().saturating_add(alone)
}

fn set(keys: &mut BTreeSet<PodKey>, key: &PodKey, there: bool) {
    if there {
        keys.insert(key.clone());
    } else {
        keys.remove(key);
    }
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
