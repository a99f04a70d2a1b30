//! The eviction API, and what it would have said of deletions that did not ask it.

use alloc::vec::Vec;

use super::super::Simulator;
use crate::api::{PodKey, PodPhase};
use crate::command::CommandError;
use crate::controllers::disruption::BudgetStatus;
use crate::event::EventKind;

impl Simulator {
    /// The status of a budget now; `None` if there is no such budget.
    #[must_use]
    pub fn budget_status(&self, key: &PodKey) -> Option<BudgetStatus> {
        self.control.as_ref()?.disruption.status(&self.api.cluster, key)
    }

    /// The budgets that select a pod, by name.
    #[must_use]
    pub fn budgets_of(&self, pod: &PodKey) -> Vec<PodKey> {
        let control = self.control.as_ref();
        control.map_or_else(Vec::new, |control| control.disruption.budgets_of(pod))
    }

    /// The eviction subresource of a pod. Mirrors `EvictionREST.Create`.
    pub(in super::super) fn evict(
        &mut self,
        key: &PodKey,
        grace: Option<u32>,
    ) -> Result<(), CommandError> {
        let pod = self.api.pod(key)?;
        let ignores =
            pod.has_ended() || pod.status.phase == PodPhase::Pending || pod.is_terminating();
        let ready = pod.has_ready_condition();
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
        let Some(control) = &self.control else { return Ok(()) };
        control.disruption.allows(&self.api.cluster, key, ready).map_err(|status| {
            CommandError::DisruptionBudget {
                budget: key.clone(),
                needs: status.desired_healthy,
                has: status.current_healthy,
            }
        })
    }

    /// A controller deletes a pod, which asks no budget: says which would have forbidden it.
    pub(in super::super) fn record_unasked_budgets(&mut self, key: &PodKey) {
        if self.control.as_ref().is_none_or(|control| control.disruption.is_empty()) {
            return;
        }
        let Some(pod) = self.api.cluster.get_pod(key) else { return };
        let ready = pod.has_ready_condition();
        for budget in self.budgets_of(key) {
            if self.ask(&budget, ready).is_err() {
                self.api.emit(EventKind::BudgetNotAsked { pod: key.clone(), budget });
            }
        }
    }
}
