//! The eviction API, and what it would have said of deletions that did not ask it.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::super::Simulator;
use crate::api::{BudgetStatus, ConditionStatus, Pod, PodCondition, PodDisruptionBudget, PodKey};
use crate::cluster::Change;
use crate::command::CommandError;
use crate::controllers::Controller;
use crate::controllers::disruption::DisruptionAction;
use crate::event::EventKind;
use crate::policy::eviction::{DeleteOptions, evict};
use crate::release::FeatureGate;

impl Simulator {
    /// The status of a budget, as the disruption controller and the eviction API wrote it last;
    /// `None` if there is no such budget.
    #[must_use]
    pub fn budget_status(&self, key: &PodKey) -> Option<BudgetStatus> {
        self.control.as_ref()?;
        self.api.cluster.get_budget(key).map(|budget| BudgetStatus::of(budget))
    }

    /// The budgets that select a pod, by name.
    #[must_use]
    pub fn budgets_of(&self, pod: &PodKey) -> Vec<PodKey> {
        let control = self.control.as_ref();
        control.map_or_else(Vec::new, |control| control.disruption.budgets_of(pod))
    }

    fn get_budgets_of(&self, pod: &PodKey) -> Vec<Arc<PodDisruptionBudget>> {
        let budgets = self.budgets_of(pod);
        budgets.iter().filter_map(|key| self.api.cluster.get_budget(key).cloned()).collect()
    }

    /// The eviction subresource of a pod. Mirrors `EvictionREST.Create`.
    pub(in super::super) fn evict(
        &mut self,
        key: &PodKey,
        grace: Option<u32>,
    ) -> Result<(), CommandError> {
        let pod = self.api.pod(key)?;
        let budgets = self.get_budgets_of(key);
        let budgets: Vec<&PodDisruptionBudget> = budgets.iter().map(AsRef::as_ref).collect();
        let grace = grace.map(i64::from);
        let options = DeleteOptions { grace_period_seconds: grace, ..DeleteOptions::default() };
        let now = self.wall_clock(self.api.now).truncated_to_seconds();
        let release = self.api.config.release;
        let eviction = evict(release, pod, &budgets, &options, now)?;
        if let Some((budget, status)) = eviction.charged {
            self.store_budget_status(&budget, &status);
        }
        if self.api.gates.is_enabled(FeatureGate::PodDisruptionConditions)
            && release.eviction_sets_disruption_target()
        {
            self.mark_evicted(key);
        }
        self.delete_gracefully(key, eviction.delete_options.grace_period_seconds);
        Ok(())
    }

    /// Mirrors `addConditionAndDeletePod`.
    fn mark_evicted(&mut self, key: &PodKey) {
        let Some(pod) = self.api.cluster.get_pod(key) else { return };
        let mut pod = Pod::clone(pod);
        let condition = PodCondition {
            type_: "DisruptionTarget".into(),
            status: ConditionStatus::True,
            reason: "EvictionByEvictionAPI".into(),
            message: "Eviction API: evicting".into(),
            ..PodCondition::default()
        };
        if self.api.update_pod_condition(&mut pod, condition) {
            self.store_pod(key, pod);
        }
    }

    /// The disruption controller looks at all budgets that wait for it.
    pub(in super::super) fn sync_budgets(&mut self) {
        while let Some((control, mut context)) = self.control()
            && control.disruption.next_work().is_some()
        {
            control.disruption.handle_timeout(&mut context);
            self.run_control_actions();
        }
    }

    pub(super) fn act_for_disruption(&mut self, action: DisruptionAction) {
        match action {
            DisruptionAction::RecordEvent(event) => self.api.emit(EventKind::EventRecorded(event)),
            DisruptionAction::UpdateStatus { budget, status } => {
                self.store_budget_status(&budget, &status);
            }
        }
    }

    fn store_budget_status(&mut self, key: &PodKey, status: &BudgetStatus) {
        let Some(old) = self.api.cluster.get_budget(key).cloned() else { return };
        if BudgetStatus::of(&old) == *status {
            return;
        }
        let mut budget = PodDisruptionBudget::clone(&old);
        // Every key is a string, so that there is a JSON form.
        budget.other.set("status", serde_json::to_value(status).unwrap_or_default());
        let budget = Arc::new(budget);
        self.api.cluster.put_budget(budget.clone());
        let change = Change::Budget { key: key.clone(), old: Some(old), new: Some(budget) };
        self.notify_control(&change);
    }

    /// A controller deletes a pod, which asks no budget: says which would have forbidden it.
    pub(in super::super) fn record_unasked_budgets(&mut self, key: &PodKey) {
        if self.control.as_ref().is_none_or(|control| control.disruption.is_empty()) {
            return;
        }
        self.sync_budgets();
        let Some(pod) = self.api.cluster.get_pod(key).cloned() else { return };
        let now = self.wall_clock(self.api.now);
        for budget in self.get_budgets_of(key) {
            let options = DeleteOptions::default();
            if evict(self.api.config.release, &pod, &[&budget], &options, now).is_err() {
                let budget = budget.key();
                self.api.emit(EventKind::BudgetNotAsked { pod: key.clone(), budget });
            }
        }
    }
}
