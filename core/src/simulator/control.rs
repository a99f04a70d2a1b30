//! The control plane in a simulation: what it is told, and what it wants done.

mod commands;
mod disruption;
mod inferred_owners;
mod start;
mod views;

use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

pub use self::views::{PendingPod, PodStatusView, WorkloadView, pod_status};

use super::control_plane::{ControlAction, ControlPlane, added};
use super::{ConfigError, Simulator};
use crate::api::{ObjectMeta, Pod, PodDisruptionBudget, PodKey, PriorityClass, Workload};
use crate::api_server::check_workload;
use crate::cluster::Change;
use crate::controllers::Context;
use crate::controllers::pod_gc::CollectPod;
use crate::controllers::scheduler::SchedulerAction;
use crate::controllers::workload::{WorkloadAction, WriteAnswer};
use crate::event::EventKind;
use crate::policy::scheduling::SchedulerConfig;
use crate::policy::validation::{FieldError, validate_budget, validate_workload};
use crate::protocol::RequestId;
use crate::release::FeatureGate;

impl Simulator {
    /// Begins with these workloads and budgets, if the control plane takes part.
    pub(super) fn start_control(
        &mut self,
        workloads: Vec<Workload>,
        budgets: Vec<PodDisruptionBudget>,
    ) -> Result<(), ConfigError> {
        if !self.api.config.control_plane || !self.api.config.node_lifecycle {
            return Ok(());
        }
        let gate = FeatureGate::TaintTolerationComparisonOperators;
        let config = SchedulerConfig {
            comparison_operators: self.api.gates.is_enabled(gate),
            ..SchedulerConfig::of(self.api.config.release)
        };
        let admission = self.api.config.admission().map_err(ConfigError::ApiServerFlag)?;
        let control = ControlPlane::new(config, &self.api.cluster)?;
        self.api.admission = Some(admission);
        self.control = Some(Box::new(control));
        self.adopt_workloads(workloads)?;
        self.adopt_budgets(budgets)?;
        self.infer_owners();
        let pods: Vec<(PodKey, Arc<Pod>)> =
            self.api.cluster.pods().map(|(key, pod)| (key.clone(), pod.clone())).collect();
        for (key, pod) in pods {
            self.control_pod(&Change::Pod { key, old: None, new: Some(pod) });
        }
        if let Some(control) = &mut self.control {
            control.adopt_revisions(&self.api.cluster);
        }
        Ok(())
    }

    /// Begins with these priority classes. Pods that are there name classes that are not among
    /// them: such a class is inferred from the pod's own priority.
    pub(super) fn adopt_priority_classes(&mut self, classes: Vec<PriorityClass>) {
        let known = &mut self.api.priority_classes;
        let mut add = |class: PriorityClass| {
            if known.iter().all(|other| other.metadata.name != class.metadata.name) {
                known.push(class);
            }
        };
        classes.into_iter().for_each(&mut add);
        for (_, pod) in self.api.cluster.pods() {
            let field = |name: &str| pod.spec.other.get(name);
            if let Some(name) = field("priorityClassName").and_then(|name| name.as_str())
                && let Some(value) = field("priority").and_then(|value| value.as_i64())
            {
                let policy = field("preemptionPolicy").and_then(|policy| policy.as_str());
                add(PriorityClass {
                    metadata: ObjectMeta { name: name.into(), ..ObjectMeta::default() },
                    value,
                    preemption_policy: policy.unwrap_or_default().into(),
                    ..PriorityClass::default()
                });
            }
        }
    }

    fn adopt_workloads(&mut self, workloads: Vec<Workload>) -> Result<(), ConfigError> {
        let mut known = Vec::new();
        let mut wanted = 0_i64;
        for mut workload in workloads {
            complete_workload(&mut workload);
            let key = workload.key();
            all_fine(&key, &validate_workload(&workload, &self.validation_options()))?;
            check_workload(&workload, wanted)
                .map_err(|error| ConfigError::Object(format!("{key}: {error}")))?;
            wanted = wanted.saturating_add(workload.replicas());
            self.api.default_metadata(&mut workload.metadata);
            let workload = Arc::new(workload);
            self.api.cluster.put_workload(workload.clone());
            known.push(workload);
        }
        for workload in known {
            self.notify_control(&added(&workload));
        }
        Ok(())
    }

    fn adopt_budgets(&mut self, budgets: Vec<PodDisruptionBudget>) -> Result<(), ConfigError> {
        for mut budget in budgets {
            if budget.metadata.namespace.is_empty() {
                budget.metadata.namespace = "default".into();
            }
            let key = budget.key();
            all_fine(&format!("poddisruptionbudget/{key}"), &validate_budget(&budget))?;
            self.api.default_metadata(&mut budget.metadata);
            let budget = Arc::new(budget);
            let old = self.api.cluster.put_budget(budget.clone());
            self.notify_control(&Change::Budget { key, old, new: Some(budget) });
        }
        Ok(())
    }

    /// The control plane, and what it is called with.
    pub(super) fn control(&mut self) -> Option<(&mut ControlPlane, Context<'_>)> {
        let control = self.control.as_mut()?;
        let context = Context {
            now: self.api.now,
            start: self.api.config.start,
            cluster: &self.api.cluster,
            sequence: &mut self.sequence,
        };
        Some((control, context))
    }

    /// An object has changed.
    pub(super) fn notify_control(&mut self, change: &Change) {
        if let Some((control, mut context)) = self.control() {
            control.handle_change(&mut context, change);
        }
    }

    /// A pod was added, changed or deleted.
    pub(super) fn control_pod(&mut self, change: &Change) {
        let Change::Pod { key, old, new } = change else { return };
        if self.control.is_none() {
            return;
        }
        self.notify_control(change);
        self.start_pod(key, old.as_deref(), new.as_deref());
        if let (Some(old), Some(new)) = (old, new)
            && old.metadata.labels != new.metadata.labels
        {
            self.run_control_actions();
        }
    }

    /// Looks at one thing; whether there was any.
    pub(super) fn run_control(&mut self) -> bool {
        let Some((control, mut context)) = self.control() else { return false };
        let worked = control.work(&mut context);
        self.run_control_actions();
        worked
    }

    /// Carries out what the control plane wants done.
    pub(super) fn run_control_actions(&mut self) {
        while let Some((control, mut context)) = self.control()
            && let Some(action) = control.poll_action(&mut context)
        {
            match action {
                ControlAction::Workload(kind, action) => {
                    if let Some((id, answer)) = self.act_for_workload(action)
                        && let Some((control, mut context)) = self.control()
                    {
                        control.answer(&mut context, kind, id, answer);
                    }
                }
                ControlAction::Scheduler(action) => self.act_for_scheduler(action),
                ControlAction::Collect(CollectPod { id, pod }) => {
                    self.remove_pod(&pod);
                    if let Some((control, mut context)) = self.control() {
                        control.collected(&mut context, id);
                    }
                }
            }
        }
    }

    fn act_for_workload(&mut self, action: WorkloadAction) -> Option<(RequestId, WriteAnswer)> {
        match action {
            WorkloadAction::RecordEvent(event) => self.api.emit(EventKind::EventRecorded(event)),
            WorkloadAction::CreatePod { id, mut pod, mut additions, event } => {
                match self.api.admit_pod(&mut pod) {
                    Ok(more) => additions.extend(more),
                    Err(reason) => return Some((id, WriteAnswer::Refused(reason))),
                }
                self.api.emit(EventKind::EventRecorded(event));
                self.store_new_pod(&pod.key(), *pod, additions);
                return Some((id, WriteAnswer::Done));
            }
            WorkloadAction::DeletePod { id, pod } => {
                self.delete_gracefully(&pod, None);
                return Some((id, WriteAnswer::Done));
            }
            WorkloadAction::ReleasePod { pod } => self.disown_pod(&pod),
            WorkloadAction::CreateReplicaSet(mut set) => {
                self.api.default_metadata(&mut set.metadata);
                self.store_workload(*set);
            }
            WorkloadAction::ScaleReplicaSet { workload, replicas } => {
                if let Some(set) = self.api.cluster.get_workload(&workload) {
                    let mut set = Workload::clone(set);
                    set.spec.replicas = Some(replicas);
                    self.store_workload(set);
                }
            }
            WorkloadAction::ReportDesired { workload, desired } => {
                if let Some((control, context)) = self.control() {
                    control.ready_history.set_desired(&context, &workload, desired);
                }
            }
        }
        None
    }

    fn act_for_scheduler(&mut self, action: SchedulerAction) {
        let stamp = self.wall_clock(self.api.now).truncated_to_seconds();
        match action {
            SchedulerAction::RecordEvent(event) => self.api.emit(EventKind::EventRecorded(event)),
            SchedulerAction::BindPod { pod: key, node } => {
                let Some(pod) = self.api.cluster.get_pod(&key) else { return };
                let mut pod = Pod::clone(pod);
                pod.spec.node_name = node.as_str().into();
                pod.set_condition("PodScheduled", true, "", "", stamp);
                self.store_pod(&key, pod);
            }
            SchedulerAction::MarkUnschedulable { pod: key, message, nominated } => {
                let Some(pod) = self.api.cluster.get_pod(&key) else { return };
                let mut pod = Pod::clone(pod);
                pod.set_condition("PodScheduled", false, "Unschedulable", &message, stamp);
                if let Some(node) = nominated {
                    pod.status.other.set("nominatedNodeName", node.as_str().into());
                }
                self.store_pod(&key, pod);
            }
            SchedulerAction::PreemptPod { pod, condition, event } => {
                if self.api.gates.is_enabled(FeatureGate::PodDisruptionConditions) {
                    self.patch_pod_status(&pod, condition);
                }
                self.controller_deletes_pod(&pod, false);
                self.api.emit(EventKind::EventRecorded(event));
            }
            SchedulerAction::ClearNomination { pod: key } => {
                let Some(pod) = self.api.cluster.get_pod(&key) else { return };
                let mut pod = Pod::clone(pod);
                pod.status.other.set("nominatedNodeName", serde_json::Value::Null);
                self.store_pod(&key, pod);
            }
        }
    }
}

/// What the API server fills in.
fn complete_workload(workload: &mut Workload) {
    if workload.metadata.namespace.is_empty() {
        workload.metadata.namespace = "default".into();
    }
    if workload.api_version.is_empty() {
        workload.api_version = workload.kind.api_version().into();
    }
}

/// The errors of an object at the beginning, as one.
fn all_fine(object: &dyn core::fmt::Display, errors: &[FieldError]) -> Result<(), ConfigError> {
    match errors {
        [] => Ok(()),
        [error, ..] => Err(ConfigError::Object(format!("{object} is invalid: {error}"))),
    }
}
