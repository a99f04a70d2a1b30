//! Requests about workloads and budgets.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use taintlab_rules::api::{
    BudgetStatus, PodDisruptionBudget, PodKey, START_UP_TIME_ANNOTATION, Workload, WorkloadKey,
    WorkloadKind, WorkloadStatus,
};
use taintlab_rules::order::OrderedMap;
use taintlab_rules::time::Span;

use super::{ApiServer, Write, keep_identity};
use crate::command::{Cascade, CommandError};
use crate::controllers::daemon_set::TEMPLATE_GENERATION;

impl ApiServer {
    pub(crate) fn scale(
        &self,
        workload: WorkloadKey,
        replicas: u32,
    ) -> Result<Write, CommandError> {
        match workload.kind {
            WorkloadKind::Deployment | WorkloadKind::ReplicaSet | WorkloadKind::StatefulSet => self
                .change_workload(&workload, |workload| {
                    workload.spec.replicas = Some(replicas.into());
                }),
            WorkloadKind::DaemonSet | WorkloadKind::Job => Err(CommandError::CannotScale(workload)),
        }
    }

    pub(crate) fn set_start_up_time(
        &self,
        workload: &WorkloadKey,
        time: Span,
    ) -> Result<Write, CommandError> {
        self.change_workload(workload, |workload| {
            let annotations = &mut workload.metadata.annotations;
            annotations.insert(START_UP_TIME_ANNOTATION.into(), time.to_string());
        })
    }

    pub(crate) fn set_flags(
        &mut self,
        flags: BTreeMap<String, String>,
    ) -> Result<(), CommandError> {
        let mut config = self.config.clone();
        config.api_server_flags.extend(flags);
        let admission = config.admission().map_err(CommandError::ApiServerFlag)?;
        self.config = config;
        self.admission = Some(admission);
        Ok(())
    }

    pub(crate) fn create_workload(
        &mut self,
        mut workload: Workload,
    ) -> Result<Write, CommandError> {
        complete_workload(&mut workload);
        // The status is not part of what a user creates.
        workload.status = WorkloadStatus::default();
        let key = workload.key();
        self.check_new(&workload)?;
        if self.cluster.get_workload(&key).is_some_and(|known| !known.inferred) {
            return Err(CommandError::WorkloadAlreadyExists(key));
        }
        self.default_metadata(&mut workload.metadata);
        match key.kind {
            WorkloadKind::DaemonSet => set_template_generation(&mut workload, None),
            WorkloadKind::Job => self.select_own_pods(&mut workload),
            WorkloadKind::Deployment | WorkloadKind::ReplicaSet | WorkloadKind::StatefulSet => {}
        }
        Ok(Write::PutWorkload(Box::new(workload)))
    }

    /// A Job selects its pods by its UID, unless it says how. Mirrors `generateSelector`.
    fn select_own_pods(&self, job: &mut Workload) {
        if job.spec.other.get("manualSelector").is_some_and(|manual| *manual == true) {
            return;
        }
        let uid = job.metadata.uid.clone();
        let mut own = OrderedMap::from([
            ("controller-uid".to_string(), uid.clone()),
            ("job-name".to_string(), job.metadata.name.clone()),
        ]);
        let mut by = "controller-uid";
        if self.config.release.prefixes_job_labels() {
            by = "batch.kubernetes.io/controller-uid";
            own.insert(by.into(), uid.clone());
            own.insert("batch.kubernetes.io/job-name".into(), job.metadata.name.clone());
        }
        job.spec.template.metadata.labels.extend(own);
        if job.metadata.labels.is_empty() {
            job.metadata.labels.clone_from(&job.spec.template.metadata.labels);
        }
        job.spec.selector = Some(serde_json::json!({ "matchLabels": { by: uid } }));
    }

    pub(crate) fn update_workload(&self, mut workload: Workload) -> Result<Write, CommandError> {
        complete_workload(&mut workload);
        let old = self.workload(&workload.key())?;
        self.check_new(&workload)?;
        keep_identity(&mut workload.metadata, &old.metadata);
        // The status is not part of what a user updates.
        workload.status = old.status.clone();
        if workload.metadata.owner_references.is_empty() {
            workload.metadata.owner_references.clone_from(&old.metadata.owner_references);
        }
        if workload.kind == WorkloadKind::DaemonSet {
            set_template_generation(&mut workload, Some(old));
        }
        Ok(Write::PutWorkload(Box::new(workload)))
    }

    fn change_workload(
        &self,
        key: &WorkloadKey,
        change: impl FnOnce(&mut Workload),
    ) -> Result<Write, CommandError> {
        let mut workload = Workload::clone(self.workload(key)?);
        change(&mut workload);
        self.has_room(&workload)?;
        Ok(Write::PutWorkload(Box::new(workload)))
    }

    /// A Deployment has scaled a ReplicaSet, or noted something on it.
    pub(crate) fn update_replica_set(&self, set: Workload) -> Option<Write> {
        let old = self.cluster.get_workload(&set.key())?;
        let mut new = Workload::clone(old);
        new.metadata.annotations = set.metadata.annotations;
        new.spec = set.spec;
        let scaled = new.spec.replicas != old.spec.replicas;
        let new = Box::new(new);
        Some(if scaled { Write::PutWorkload(new) } else { Write::PutWorkloadStatus(new) })
    }

    /// A controller has written the status of a workload, and noted something on it.
    pub(crate) fn write_workload_status(
        &self,
        key: &WorkloadKey,
        status: WorkloadStatus,
        annotations: BTreeMap<String, String>,
    ) -> Option<Write> {
        let mut new = Workload::clone(self.cluster.get_workload(key)?);
        new.status = status;
        new.metadata.annotations.extend(annotations);
        Some(Write::PutWorkloadStatus(Box::new(new)))
    }

    /// Deletes a workload, and then as `cascade` says what it owns.
    pub(crate) fn delete_workload(
        &self,
        key: &WorkloadKey,
        cascade: Cascade,
    ) -> Result<Vec<Write>, CommandError> {
        self.workload(key)?;
        let mut writes = Vec::from([Write::RemoveWorkload(key.clone())]);
        for child in self.cluster.workloads_owned_by(key) {
            match cascade {
                Cascade::Background => writes.extend(self.delete_workload(child, cascade)?),
                Cascade::Orphan => writes.extend(self.disown_workload(child)),
            }
        }
        for pod in &self.cluster.owned_pods(key).pods {
            writes.extend(match cascade {
                Cascade::Background => self.delete_gracefully(pod, None),
                Cascade::Orphan => self.disown_pod(pod),
            });
        }
        Ok(writes)
    }

    fn disown_workload(&self, key: &WorkloadKey) -> Option<Write> {
        let mut workload = Workload::clone(self.cluster.get_workload(key)?);
        workload.metadata.owner_references.retain(|owner| owner.controller != Some(true));
        Some(Write::PutWorkload(Box::new(workload)))
    }

    pub(crate) fn create_budget(
        &mut self,
        mut budget: PodDisruptionBudget,
    ) -> Result<Write, CommandError> {
        self.complete_budget(&mut budget)?;
        let key = budget.key();
        if self.cluster.get_budget(&key).is_some() {
            return Err(CommandError::BudgetAlreadyExists(key));
        }
        self.default_metadata(&mut budget.metadata);
        budget.metadata.other.set("generation", 1.into());
        Ok(Write::PutBudget(Box::new(budget)))
    }

    pub(crate) fn update_budget(
        &self,
        mut budget: PodDisruptionBudget,
    ) -> Result<Write, CommandError> {
        self.complete_budget(&mut budget)?;
        let key = budget.key();
        let old = self.cluster.get_budget(&key);
        let old = old.ok_or(CommandError::BudgetNotFound(key))?;
        keep_identity(&mut budget.metadata, &old.metadata);
        let generation = old.generation() + i64::from(old.spec != budget.spec);
        budget.metadata.other.set("generation", generation.into());
        budget.status = old.status.clone();
        Ok(Write::PutBudget(Box::new(budget)))
    }

    /// The disruption controller or the eviction API has written the status of a budget.
    pub(crate) fn write_budget_status(&self, key: &PodKey, status: BudgetStatus) -> Option<Write> {
        let old = self.cluster.get_budget(key).filter(|old| BudgetStatus::of(old) != status)?;
        let mut budget = PodDisruptionBudget::clone(old);
        budget.status = status.into();
        Some(Write::PutBudgetStatus(Box::new(budget)))
    }

    pub(crate) fn delete_budget(&self, key: PodKey) -> Result<Write, CommandError> {
        match self.cluster.get_budget(&key) {
            Some(_) => Ok(Write::RemoveBudget(key)),
            None => Err(CommandError::BudgetNotFound(key)),
        }
    }
}

/// What the API server fills in.
/// Counts the templates of a DaemonSet. Mirrors `daemonSetStrategy.PrepareForUpdate`.
fn set_template_generation(set: &mut Workload, old: Option<&Workload>) {
    let known = old.and_then(|old| old.metadata.annotations.get(TEMPLATE_GENERATION)?.parse().ok());
    let known: i64 = known.unwrap_or(if old.is_some() { 1 } else { 0 });
    let changed = old.is_none_or(|old| old.spec.template != set.spec.template);
    let generation = known.saturating_add(changed.into());
    set.metadata.annotations.insert(TEMPLATE_GENERATION.into(), generation.to_string());
}

pub(crate) fn complete_workload(workload: &mut Workload) {
    if workload.metadata.namespace.is_empty() {
        workload.metadata.namespace = "default".into();
    }
    if workload.api_version.is_empty() {
        workload.api_version = workload.kind.api_version().into();
    }
}
