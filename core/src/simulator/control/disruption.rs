//! PodDisruptionBudgets: what they allow, and the eviction API that asks them.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::Serialize;

use super::super::Simulator;
use super::track::{has_ready_condition, is_active};
use crate::api::{
    IntOrPercent, LabelSelector, Pod, PodDisruptionBudget, PodKey, PodPhase, WorkloadKey,
};
use crate::command::CommandError;
use crate::event::Happening;

/// What is known of one budget's pods.
#[derive(Clone, Debug)]
pub(in super::super) struct Protected {
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

impl Simulator {
    /// The status of a budget now; `None` if there is no such budget.
    #[must_use]
    pub fn budget_status(&self, key: &PodKey) -> Option<BudgetStatus> {
        let budget = self.cluster.get_budget(key)?;
        let protected = self.control.as_ref()?.protected.get(key)?;
        let [min, max] = budget.limits().ok()?;
        let pods = count(protected.pods.len());
        let (expected, desired) = match (min, max) {
            (_, Some(max)) => {
                let expected = self.expected_scale(&protected.pods);
                (expected, (expected - max.of(expected, true)).max(0))
            }
            (Some(IntOrPercent::Int(least)), None) => (pods, least),
            (Some(part), None) => {
                let expected = self.expected_scale(&protected.pods);
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
        let Some(control) = &self.control else { return Vec::new() };
        let selecting = control.protected.iter().filter(|(_, known)| known.pods.contains(pod));
        selecting.map(|(budget, _)| budget.clone()).collect()
    }

    /// How many pods the controllers of these want. Mirrors `getExpectedScale`; a pod without a
    /// controller counts for itself.
    fn expected_scale(&self, pods: &BTreeSet<PodKey>) -> i64 {
        let mut owners: BTreeMap<WorkloadKey, i64> = BTreeMap::new();
        let mut alone = 0;
        for pod in pods.iter().filter_map(|key| self.cluster.get_pod(key)) {
            let Some(owner) = pod.metadata.controller_key() else {
                alone += 1;
                continue;
            };
            let workload = self.cluster.get_workload(&owner);
            let top = workload.and_then(|workload| workload.owner()).unwrap_or(owner);
            let wanted = self.cluster.get_workload(&top).map(|workload| workload.replicas());
            owners.entry(top).or_insert(wanted.unwrap_or_default());
        }
        owners.into_values().sum::<i64>().saturating_add(alone)
    }

    /// A budget is there, or has changed.
    pub(super) fn protect(&mut self, budget: &Arc<PodDisruptionBudget>) {
        let selector = budget.selector().ok().flatten();
        let known = Protected { selector, pods: BTreeSet::new(), healthy: BTreeSet::new() };
        let Some(control) = &mut self.control else { return };
        control.protected.insert(budget.key(), known);
        let pods: Vec<(PodKey, Arc<Pod>)> =
            self.cluster.pods().map(|(key, pod)| (key.clone(), pod.clone())).collect();
        for (key, pod) in
            pods.into_iter().filter(|(key, _)| key.namespace() == budget.key().namespace())
        {
            self.protect_pod(&key, Some(&pod));
        }
    }

    /// A pod was added, changed or deleted.
    pub(super) fn protect_pod(&mut self, key: &PodKey, pod: Option<&Pod>) {
        let Some(control) = &mut self.control else { return };
        let namespace = key.namespace();
        for (budget, protected) in &mut control.protected {
            if budget.namespace() != namespace {
                continue;
            }
            let counts = |pod: &&Pod| {
                let ended = matches!(pod.status.phase, PodPhase::Succeeded | PodPhase::Failed);
                let selector = protected.selector.as_ref();
                !ended && selector.is_some_and(|selector| selector.matches(&pod.metadata.labels))
            };
            let pod = pod.filter(counts);
            note(&mut protected.pods, key, pod.is_some());
            let healthy = pod.is_some_and(|pod| is_active(pod) && has_ready_condition(pod));
            note(&mut protected.healthy, key, healthy);
        }
    }

    /// The eviction subresource of a pod. Mirrors `EvictionREST.Create`.
    pub(super) fn evict(&mut self, key: &PodKey, grace: Option<u32>) -> Result<(), CommandError> {
        let pod = self.pod(key)?;
        let ended = matches!(pod.status.phase, PodPhase::Succeeded | PodPhase::Failed);
        let ignores = ended || pod.status.phase == PodPhase::Pending || pod.is_terminating();
        let ready = has_ready_condition(pod);
        if !ignores {
            let budgets = self.budgets_of(key);
            match budgets.as_slice() {
                [] => {}
                [budget] => self.ask(budget, ready)?,
                _ => return Err(CommandError::SeveralBudgets { budgets }),
            }
        }
        self.delete_gracefully(key, grace.map(i64::from));
        Ok(())
    }

    /// Whether a budget lets one of its pods go.
    fn ask(&self, key: &PodKey, ready: bool) -> Result<(), CommandError> {
        let Some(status) = self.budget_status(key) else { return Ok(()) };
        if !ready && self.lets_unready_go(key, status) {
            return Ok(());
        }
        if status.disruptions_allowed > 0 {
            return Ok(());
        }
        Err(CommandError::DisruptionBudget {
            budget: key.clone(),
            needs: status.desired_healthy,
            has: status.current_healthy,
        })
    }

    /// Whether a pod that is not ready may go without counting.
    fn lets_unready_go(&self, key: &PodKey, status: BudgetStatus) -> bool {
        let healthy = status.current_healthy >= status.desired_healthy;
        let always = self.config.release.has_unhealthy_pod_eviction_policy()
            && self
                .cluster
                .get_budget(key)
                .is_some_and(|budget| budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow");
        always || (healthy && status.desired_healthy > 0)
    }

    /// A controller deletes a pod, which asks no budget: says which would have forbidden it.
    pub(in super::super) fn note_unasked(&mut self, key: &PodKey) {
        if self.control.as_ref().is_none_or(|control| control.protected.is_empty()) {
            return;
        }
        let Some(pod) = self.cluster.get_pod(key) else { return };
        let ready = has_ready_condition(pod);
        for budget in self.budgets_of(key) {
            if self.ask(&budget, ready).is_err() {
                self.emit(Happening::BudgetNotAsked { pod: key.clone(), budget });
            }
        }
    }
}

fn note(set: &mut BTreeSet<PodKey>, key: &PodKey, there: bool) {
    if there {
        set.insert(key.clone());
    } else {
        set.remove(key);
    }
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
