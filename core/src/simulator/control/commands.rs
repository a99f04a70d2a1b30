//! What each command about workloads, budgets and flags of the API server does.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::super::Simulator;
use super::super::commands::keep_identity;
use super::complete_workload;
use crate::api::{
    PodDisruptionBudget, PodKey, START_UP_TIME_ANNOTATION, Workload, WorkloadKey, WorkloadKind,
};
use crate::cluster::Change;
use crate::command::{Cascade, CommandError};
use crate::event::EventKind;
use crate::time::Span;

impl Simulator {
    pub(in super::super) fn scale(
        &mut self,
        workload: WorkloadKey,
        replicas: u32,
    ) -> Result<(), CommandError> {
        match workload.kind {
            WorkloadKind::Deployment | WorkloadKind::ReplicaSet | WorkloadKind::StatefulSet => self
                .change_workload(&workload, |workload| {
                    workload.spec.replicas = Some(replicas.into());
                }),
            WorkloadKind::DaemonSet | WorkloadKind::Job => Err(CommandError::CannotScale(workload)),
        }
    }

    pub(in super::super) fn set_start_up_time(
        &mut self,
        workload: &WorkloadKey,
        time: Span,
    ) -> Result<(), CommandError> {
        self.change_workload(workload, |workload| {
            let annotations = &mut workload.metadata.annotations;
            annotations.insert(START_UP_TIME_ANNOTATION.into(), time.to_string());
        })
    }

    pub(in super::super) fn set_api_server_flags(
        &mut self,
        flags: BTreeMap<String, String>,
    ) -> Result<(), CommandError> {
        let mut config = self.api.config.clone();
        config.api_server_flags.extend(flags);
        let admission = config.admission().map_err(CommandError::ApiServerFlag)?;
        self.api.config = config;
        self.api.admission = Some(admission);
        Ok(())
    }

    pub(in super::super) fn create_workload(
        &mut self,
        mut workload: Workload,
    ) -> Result<(), CommandError> {
        complete_workload(&mut workload);
        // The status is not part of what a user creates.
        workload.set_status(serde_json::Value::Null);
        let key = workload.key();
        self.api.check_new(&workload)?;
        if self.api.cluster.get_workload(&key).is_some_and(|known| !known.assumed) {
            return Err(CommandError::WorkloadAlreadyExists(key));
        }
        self.api.default_metadata(&mut workload.metadata);
        self.store_workload(workload);
        Ok(())
    }

    pub(in super::super) fn update_workload(
        &mut self,
        mut workload: Workload,
    ) -> Result<(), CommandError> {
        complete_workload(&mut workload);
        let old = self.api.workload(&workload.key())?.clone();
        self.api.check_new(&workload)?;
        keep_identity(&mut workload.metadata, &old.metadata);
        // The status is not part of what a user updates.
        workload.set_status(old.other.get("status").cloned().unwrap_or_default());
        if workload.metadata.owner_references.is_empty() {
            workload.metadata.owner_references.clone_from(&old.metadata.owner_references);
        }
        self.store_workload(workload);
        Ok(())
    }

    fn change_workload(
        &mut self,
        key: &WorkloadKey,
        change: impl FnOnce(&mut Workload),
    ) -> Result<(), CommandError> {
        let mut workload = Workload::clone(self.api.workload(key)?);
        change(&mut workload);
        self.api.has_room(&workload)?;
        self.store_workload(workload);
        Ok(())
    }

    pub(super) fn store_workload(&mut self, workload: Workload) {
        let key = workload.key();
        let new = Arc::new(workload);
        let old = self.api.cluster.put_workload(new.clone());
        match &old {
            None => self.api.emit(EventKind::WorkloadAdded { workload: key }),
            Some(old) if *old == new => return,
            Some(_) => self.api.emit(EventKind::WorkloadUpdated { workload: key }),
        }
        self.notify_control(&Change::Workload { key: new.key(), old, new: Some(new) });
    }

    /// A Deployment has scaled a ReplicaSet, or noted something on it.
    pub(super) fn update_replica_set(&mut self, set: Workload) {
        let Some(old) = self.api.cluster.get_workload(&set.key()) else { return };
        let mut new = Workload::clone(old);
        new.metadata.annotations = set.metadata.annotations;
        new.spec = set.spec;
        if new.spec.replicas == old.spec.replicas {
            self.store_quietly(new);
        } else {
            self.store_workload(new);
        }
    }

    /// A controller has written the status of a workload, which is no event.
    pub(super) fn store_status(
        &mut self,
        key: &WorkloadKey,
        status: serde_json::Value,
        annotations: BTreeMap<String, String>,
    ) {
        let Some(old) = self.api.cluster.get_workload(key) else { return };
        let mut new = Workload::clone(old);
        new.set_status(status);
        new.metadata.annotations.extend(annotations);
        self.store_quietly(new);
    }

    fn store_quietly(&mut self, workload: Workload) {
        let new = Arc::new(workload);
        let old = self.api.cluster.put_workload(new.clone());
        if old.as_ref() != Some(&new) {
            self.notify_control(&Change::Workload { key: new.key(), old, new: Some(new) });
        }
    }

    pub(in super::super) fn delete_workload(
        &mut self,
        key: &WorkloadKey,
        cascade: Cascade,
    ) -> Result<(), CommandError> {
        self.api.workload(key)?;
        self.remove_workload(key);
        let children: Vec<WorkloadKey> =
            self.api.cluster.workloads_owned_by(key).cloned().collect();
        let pods: Vec<PodKey> = self.api.cluster.owned_pods(key).pods.iter().cloned().collect();
        for child in children {
            match cascade {
                Cascade::Background => self.delete_workload(&child, cascade)?,
                Cascade::Orphan => self.disown_workload(&child),
            }
        }
        for pod in pods {
            match cascade {
                Cascade::Background => self.delete_gracefully(&pod, None),
                Cascade::Orphan => self.disown_pod(&pod),
            }
        }
        Ok(())
    }

    fn remove_workload(&mut self, key: &WorkloadKey) {
        if let Some(old) = self.api.cluster.remove_workload(key) {
            self.api.emit(EventKind::WorkloadDeleted { workload: key.clone() });
            let change = Change::Workload { key: key.clone(), old: Some(old), new: None };
            self.notify_control(&change);
        }
    }

    fn disown_workload(&mut self, key: &WorkloadKey) {
        if let Some(old) = self.api.cluster.get_workload(key).cloned() {
            let mut workload = Workload::clone(&old);
            workload.metadata.owner_references.retain(|owner| owner.controller != Some(true));
            self.store_workload(workload);
        }
    }

    /// Nobody owns the pod any more.
    pub(super) fn disown_pod(&mut self, key: &PodKey) {
        if let Some(pod) = self.api.cluster.get_pod(key) {
            let mut pod = crate::api::Pod::clone(pod);
            pod.metadata.owner_references.retain(|owner| owner.controller != Some(true));
            self.store_pod(key, pod);
        }
    }

    pub(in super::super) fn create_budget(
        &mut self,
        mut budget: PodDisruptionBudget,
    ) -> Result<(), CommandError> {
        self.api.complete_budget(&mut budget)?;
        let key = budget.key();
        if self.api.cluster.get_budget(&key).is_some() {
            return Err(CommandError::BudgetAlreadyExists(key));
        }
        self.api.default_metadata(&mut budget.metadata);
        self.store_budget(Box::new(budget));
        Ok(())
    }

    pub(in super::super) fn update_budget(
        &mut self,
        mut budget: PodDisruptionBudget,
    ) -> Result<(), CommandError> {
        self.api.complete_budget(&mut budget)?;
        let key = budget.key();
        let old = self.api.cluster.get_budget(&key);
        let old = old.ok_or_else(|| CommandError::BudgetNotFound(key.clone()))?;
        keep_identity(&mut budget.metadata, &old.metadata);
        self.store_budget(Box::new(budget));
        Ok(())
    }

    fn store_budget(&mut self, budget: Box<PodDisruptionBudget>) {
        let budget: Arc<PodDisruptionBudget> = budget.into();
        let key = budget.key();
        let old = self.api.cluster.put_budget(budget.clone());
        self.api.emit(EventKind::BudgetChanged { budget: key.clone(), deleted: false });
        self.notify_control(&Change::Budget { key, old, new: Some(budget) });
    }

    pub(in super::super) fn delete_budget(&mut self, key: &PodKey) -> Result<(), CommandError> {
        let old = self.api.cluster.remove_budget(key);
        let old = old.ok_or_else(|| CommandError::BudgetNotFound(key.clone()))?;
        let change = Change::Budget { key: key.clone(), old: Some(old), new: None };
        self.notify_control(&change);
        self.api.emit(EventKind::BudgetChanged { budget: key.clone(), deleted: true });
        Ok(())
    }
}
