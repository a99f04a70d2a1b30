//! The rest of the control plane: admission, workloads, budgets, and what is told of them.

mod availability;
mod commands;
mod disruption;
mod track;
mod views;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

pub use self::availability::{Availability, Gap, ReadyStep};
pub use self::disruption::BudgetStatus;
pub use self::views::{PendingPod, PodStatusView, WorkloadView, pod_status};

use self::disruption::Protected;
use self::track::Tracked;
use super::{ConfigError, Simulator};
use crate::admission::AdmissionConfig;
use crate::api::{Node, Pod, PodDisruptionBudget, PodKey, Workload, WorkloadKey};
use crate::validation::{FieldError, validate_budget, validate_workload};

/// What the control plane remembers.
#[derive(Clone, Debug)]
pub(super) struct Control {
    pub(super) admission: AdmissionConfig,
    /// What is known of each workload's pods.
    pub(super) tracked: BTreeMap<WorkloadKey, Tracked>,
    /// What is known of each budget's pods.
    pub(super) protected: BTreeMap<PodKey, Protected>,
}

impl Simulator {
    /// Begins with these workloads and budgets, if the control plane takes part.
    pub(super) fn start_control(
        &mut self,
        workloads: Vec<Workload>,
        budgets: Vec<PodDisruptionBudget>,
    ) -> Result<(), ConfigError> {
        if !self.config.control_plane || !self.config.node_lifecycle {
            return Ok(());
        }
        let admission = self.config.admission().map_err(ConfigError::ApiServerFlag)?;
        let (tracked, protected) = (BTreeMap::new(), BTreeMap::new());
        self.control = Some(Box::new(Control { admission, tracked, protected }));
        for mut workload in workloads {
            self.complete_workload(&mut workload);
            let key = workload.key();
            all_fine(&key, &validate_workload(&workload, &self.validation_options()))?;
            check_workload(&workload)
                .map_err(|error| ConfigError::Object(format!("{key}: {error}")))?;
            self.fill_in(&mut workload.metadata);
            let workload = Arc::new(workload);
            self.cluster.put_workload(workload.clone());
            self.track_workload(&workload);
        }
        for mut budget in budgets {
            if budget.metadata.namespace.is_empty() {
                budget.metadata.namespace = "default".into();
            }
            let key = budget.key();
            all_fine(&format!("poddisruptionbudget/{key}"), &validate_budget(&budget))?;
            self.fill_in(&mut budget.metadata);
            let budget = Arc::new(budget);
            self.cluster.put_budget(budget.clone());
            self.protect(&budget);
        }
        let pods: Vec<(PodKey, Arc<Pod>)> =
            self.cluster.pods().map(|(key, pod)| (key.clone(), pod.clone())).collect();
        for (key, pod) in pods {
            self.control_pod(&key, None, Some(&pod));
        }
        Ok(())
    }

    /// A node was added, changed or deleted.
    pub(super) fn control_node(&mut self, _old: Option<&Node>, _new: Option<&Node>) {}

    /// A pod was added, changed or deleted.
    pub(super) fn control_pod(&mut self, key: &PodKey, old: Option<&Pod>, new: Option<&Pod>) {
        if self.control.is_none() {
            return;
        }
        self.track_pod(key, old, new);
        self.protect_pod(key, new);
    }

    /// What the API server fills in.
    fn complete_workload(&self, workload: &mut Workload) {
        if workload.metadata.namespace.is_empty() {
            workload.metadata.namespace = "default".into();
        }
        if workload.api_version.is_empty() {
            workload.api_version = workload.kind.api_version().into();
        }
    }
}

/// Whether what is set by annotation can be read.
fn check_workload(workload: &Workload) -> Result<(), String> {
    workload.start_up_time().map(|_| ())
}

/// The errors of an object at the beginning, as one.
fn all_fine(object: &dyn core::fmt::Display, errors: &[FieldError]) -> Result<(), ConfigError> {
    match errors {
        [] => Ok(()),
        [error, ..] => Err(ConfigError::Object(format!("{object} is invalid: {error}"))),
    }
}
