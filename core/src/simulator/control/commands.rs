//! What each command about workloads, budgets and flags of the API server does.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::super::Simulator;
use super::super::commands::keep_identity;
use super::check_workload;
use super::deployments::comparable;
use crate::api::{
    PodDisruptionBudget, PodKey, START_UP_TIME_ANNOTATION, Workload, WorkloadKey, WorkloadKind,
};
use crate::command::{Cascade, Command, CommandError};
use crate::event::Happening;
use crate::validation::{validate_budget, validate_workload};

impl Simulator {
    pub(in super::super) fn apply_control(&mut self, command: Command) -> Result<(), CommandError> {
        if self.control.is_none() {
            return Err(CommandError::NoControlPlane);
        }
        match command {
            Command::EvictPod { pod, grace_period_seconds } => {
                self.evict(&pod, grace_period_seconds)
            }
            Command::CreateWorkload(workload) => self.create_workload(*workload),
            Command::UpdateWorkload(workload) => self.update_workload(*workload),
            Command::DeleteWorkload { workload, cascade } => {
                self.delete_workload(&workload, cascade)
            }
            Command::Scale { workload, replicas } => {
                let scales = matches!(
                    workload.kind,
                    WorkloadKind::Deployment | WorkloadKind::ReplicaSet | WorkloadKind::StatefulSet
                );
                if !scales {
                    return Err(CommandError::CannotScale(workload));
                }
                self.change_workload(&workload, |workload| {
                    workload.spec.replicas = Some(replicas.into());
                })
            }
            Command::SetStartUpTime { workload, time } => {
                self.change_workload(&workload, |workload| {
                    let annotations = &mut workload.metadata.annotations;
                    annotations.insert(START_UP_TIME_ANNOTATION.into(), time.to_string());
                })
            }
            Command::CreateBudget(budget) => self.create_budget(*budget),
            Command::UpdateBudget(budget) => self.update_budget(*budget),
            Command::DeleteBudget { budget } => self.delete_budget(&budget),
            Command::SetApiServerFlags { flags } => {
                let mut config = self.config.clone();
                config.api_server_flags.extend(flags);
                let admission = config.admission().map_err(CommandError::ApiServerFlag)?;
                self.config = config;
                if let Some(control) = &mut self.control {
                    control.admission = admission;
                }
                Ok(())
            }
            _ => Err(CommandError::NoControlPlane),
        }
    }

    /// The workload of that key; one that is only assumed is there, too.
    pub(super) fn workload(&self, key: &WorkloadKey) -> Result<&Arc<Workload>, CommandError> {
        let workload = self.cluster.get_workload(key);
        workload.ok_or_else(|| CommandError::WorkloadNotFound(key.clone()))
    }

    fn create_workload(&mut self, mut workload: Workload) -> Result<(), CommandError> {
        self.complete_workload(&mut workload);
        let key = workload.key();
        self.check_new(&workload)?;
        if self.cluster.get_workload(&key).is_some_and(|known| !known.assumed) {
            return Err(CommandError::WorkloadAlreadyExists(key));
        }
        self.fill_in(&mut workload.metadata);
        self.store_workload(workload);
        Ok(())
    }

    fn update_workload(&mut self, mut workload: Workload) -> Result<(), CommandError> {
        self.complete_workload(&mut workload);
        let old = self.workload(&workload.key())?.clone();
        self.check_new(&workload)?;
        keep_identity(&mut workload.metadata, &old.metadata);
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
        let mut workload = Workload::clone(self.workload(key)?);
        change(&mut workload);
        self.has_room(&workload)?;
        self.store_workload(workload);
        Ok(())
    }

    fn has_room(&self, workload: &Workload) -> Result<(), CommandError> {
        let key = workload.key();
        let others = self.cluster.workloads().filter(|(other, _)| **other != key);
        let others = others.fold(0_i64, |sum, (_, other)| sum.saturating_add(other.replicas()));
        check_workload(workload, others).map_err(|reason| {
            let object = format!("{} \"{}\"", workload.kind, workload.metadata.name);
            CommandError::NotAdmitted { object, reason }
        })
    }

    fn check_new(&self, workload: &Workload) -> Result<(), CommandError> {
        let key = workload.key();
        let object = || format!("{} \"{}\"", workload.kind, key.name.name());
        self.check(|options| validate_workload(workload, options), object)?;
        self.has_room(workload)
    }

    pub(super) fn store_workload(&mut self, workload: Workload) {
        let key = workload.key();
        let new = Arc::new(workload);
        let old = self.cluster.put_workload(new.clone());
        match &old {
            None => self.emit(Happening::WorkloadAdded { workload: key }),
            Some(old) if *old == new => return,
            Some(_) => self.emit(Happening::WorkloadUpdated { workload: key }),
        }
        let changed =
            old.is_some_and(|old| comparable(&old.spec.template) != comparable(&new.spec.template));
        let control = self.control.as_mut();
        if let Some(tracked) = control.and_then(|control| control.tracked.get_mut(&new.key()))
            && changed
        {
            tracked.revision.clear();
            tracked.outdated = true;
        }
        self.track_workload(&new);
    }

    pub(super) fn delete_workload(
        &mut self,
        key: &WorkloadKey,
        cascade: Cascade,
    ) -> Result<(), CommandError> {
        self.workload(key)?;
        self.remove_workload(key);
        let tracked = self.control.as_ref().and_then(|control| control.tracked.get(key));
        let (children, pods): (Vec<WorkloadKey>, Vec<PodKey>) = match tracked {
            Some(tracked) => {
                (tracked.children.iter().cloned().collect(), tracked.pods.iter().cloned().collect())
            }
            None => (Vec::new(), Vec::new()),
        };
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
        if let Some(old) = self.cluster.remove_workload(key) {
            self.emit(Happening::WorkloadDeleted { workload: key.clone() });
            self.untrack_workload(&old);
        }
    }

    fn disown_workload(&mut self, key: &WorkloadKey) {
        if let Some(old) = self.cluster.get_workload(key).cloned() {
            self.untrack_workload(&old);
            let mut workload = Workload::clone(&old);
            workload.metadata.owner_references.retain(|owner| owner.controller != Some(true));
            self.store_workload(workload);
        }
    }

    /// Nobody owns the pod any more.
    pub(super) fn disown_pod(&mut self, key: &PodKey) {
        if let Some(pod) = self.cluster.get_pod(key) {
            let mut pod = crate::api::Pod::clone(pod);
            pod.metadata.owner_references.retain(|owner| owner.controller != Some(true));
            self.store_pod(key, pod);
        }
    }

    fn create_budget(&mut self, mut budget: PodDisruptionBudget) -> Result<(), CommandError> {
        self.complete_budget(&mut budget)?;
        let key = budget.key();
        if self.cluster.get_budget(&key).is_some() {
            return Err(CommandError::BudgetAlreadyExists(key));
        }
        self.fill_in(&mut budget.metadata);
        self.store_budget(Box::new(budget));
        Ok(())
    }

    fn update_budget(&mut self, mut budget: PodDisruptionBudget) -> Result<(), CommandError> {
        self.complete_budget(&mut budget)?;
        let key = budget.key();
        let old = self.cluster.get_budget(&key);
        let old = old.ok_or_else(|| CommandError::BudgetNotFound(key.clone()))?;
        keep_identity(&mut budget.metadata, &old.metadata);
        self.store_budget(Box::new(budget));
        Ok(())
    }

    fn store_budget(&mut self, budget: Box<PodDisruptionBudget>) {
        let budget: Arc<PodDisruptionBudget> = budget.into();
        self.cluster.put_budget(budget.clone());
        self.emit(Happening::BudgetChanged { budget: budget.key(), deleted: false });
        self.protect(&budget);
    }

    fn delete_budget(&mut self, key: &PodKey) -> Result<(), CommandError> {
        if self.cluster.remove_budget(key).is_none() {
            return Err(CommandError::BudgetNotFound(key.clone()));
        }
        if let Some(control) = &mut self.control {
            control.protected.remove(key);
        }
        self.emit(Happening::BudgetChanged { budget: key.clone(), deleted: true });
        Ok(())
    }

    fn complete_budget(&self, budget: &mut PodDisruptionBudget) -> Result<(), CommandError> {
        if budget.metadata.namespace.is_empty() {
            budget.metadata.namespace = "default".into();
        }
        if budget.api_version.is_empty() {
            budget.api_version = "policy/v1".into();
        }
        let name = || format!("PodDisruptionBudget \"{}\"", budget.metadata.name);
        self.check(|_| validate_budget(budget), name)
    }
}
