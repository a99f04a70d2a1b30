//! Jobs, as far as eviction matters: what a pod of a Job does, and for how long, is not simulated.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::Context;
use super::workload::{Reconcile, Reconciler, count, generated_name, owners_to_look, surplus_pods};
use crate::api::{Pod, PodKey, PodPhase, Workload, WorkloadKey, WorkloadKind};
use crate::cluster::Change;
use crate::release::KubernetesRelease;

/// The controller of Jobs. Mirrors `pkg/controller/job`.
#[derive(Clone, Debug)]
pub struct JobController {
    reconciler: Reconciler<Step>,
    jobs: BTreeMap<WorkloadKey, JobState>,
}

/// What is known of a Job besides its pods.
#[derive(Clone, Debug, Default)]
struct JobState {
    /// How many names it has made up.
    created: u64,
    /// How many of its pods count as failed, and how many as succeeded.
    failed: i64,
    succeeded: i64,
    /// Whether those that failed were too many.
    over: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Create(Arc<Workload>),
    Delete(Arc<Workload>, PodKey),
    Fail(WorkloadKey),
}

impl JobController {
    /// A controller that knows nothing yet: tell it of all workloads and pods.
    #[must_use]
    pub fn new(release: KubernetesRelease) -> Self {
        Self { reconciler: Reconciler::new(release, WorkloadKind::Job), jobs: BTreeMap::new() }
    }

    /// A pod of a Job may have ended.
    fn count_end(&mut self, old: Option<&Pod>, new: Option<&Pod>) {
        let owner = |pod: Option<&Pod>| pod.and_then(|pod| pod.metadata.controller_key());
        let (before, after) = (owner(old), owner(new));
        let is_job =
            |key: &Option<WorkloadKey>| key.as_ref().is_some_and(|k| k.kind == WorkloadKind::Job);
        if !is_job(&before) && !is_job(&after) {
            return;
        }
        let deleted = self.reconciler.release.counts_deleted_pods_as_failed();
        let failed = |pod: &Pod| {
            pod.status.phase == PodPhase::Failed
                || (deleted && pod.is_terminating() && pod.status.phase != PodPhase::Succeeded)
        };
        let succeeded = |pod: &Pod| pod.status.phase == PodPhase::Succeeded;
        let removed = new.is_none() && deleted && old.is_some_and(|pod| !pod.has_ended());
        let fails = old.is_none_or(|old| !failed(old)) && (removed || new.is_some_and(failed));
        let ends = !old.is_some_and(succeeded) && new.is_some_and(succeeded);
        if let Some(job) = before.or(after.clone()).and_then(|owner| self.jobs.get_mut(&owner)) {
            job.failed += i64::from(fails);
            job.succeeded += i64::from(ends);
        }
        if let Some(after) = after.filter(|after| after.kind == WorkloadKind::Job) {
            self.jobs.entry(after).or_default();
        }
    }

    fn fail(&mut self, context: &Context<'_>, job: &Arc<Workload>) {
        let key = job.key();
        let state = self.jobs.entry(key.clone()).or_default();
        let first = !core::mem::replace(&mut state.over, true);
        let pods = context.cluster.owned_pods(&key).pods.iter();
        let active = pods.filter(|pod| context.cluster.get_pod(pod).is_some_and(|p| p.is_active()));
        let steps = &mut self.reconciler.steps;
        steps.extend(active.map(|pod| Step::Delete(job.clone(), pod.clone())));
        if first {
            steps.push_back(Step::Fail(key));
        }
    }
}

impl Reconcile for JobController {
    type Step = Step;

    fn reconciler(&mut self) -> &mut Reconciler<Step> {
        &mut self.reconciler
    }

    fn reconciler_ref(&self) -> &Reconciler<Step> {
        &self.reconciler
    }

    fn observe(&mut self, context: &mut Context<'_>, change: &Change) {
        match change {
            Change::Workload { key, new: Some(_), .. } if key.kind == WorkloadKind::Job => {
                self.jobs.entry(key.clone()).or_default();
                self.reconciler.enqueue(context, key.clone());
            }
            Change::Pod { old, new, .. } => {
                let (old, new) = (old.as_deref(), new.as_deref());
                self.count_end(old, new);
                for owner in owners_to_look(WorkloadKind::Job, old, new, false) {
                    self.reconciler.enqueue(context, owner);
                }
            }
            Change::Workload { .. }
            | Change::Node { .. }
            | Change::Budget { .. }
            | Change::Lease { .. } => {}
        }
    }

    /// Mirrors `Controller.manageJob`. A pod runs until somebody ends it.
    fn reconcile(&mut self, context: &mut Context<'_>, key: &WorkloadKey) {
        let cluster = context.cluster;
        let Some(job) = cluster.get_workload(key) else { return };
        let Some(state) = self.jobs.get(key) else { return };
        let owned = cluster.owned_pods(key);
        let (active, succeeded) = (owned.active, state.succeeded);
        if state.failed > job.number("backoffLimit").unwrap_or(6) {
            self.fail(context, job);
            return;
        }
        if job.spec.other.get("suspend").is_some_and(|suspend| *suspend == true) {
            return;
        }
        let terminating = owned.pods.iter().filter_map(|pod| cluster.get_pod(pod));
        let terminating = terminating.filter(|pod| pod.is_terminating() && !pod.has_ended());
        // With `Failed`, a pod is replaced when it has ended, not when it is deleted.
        let waits = self.reconciler.release.has_pod_replacement_policy()
            && (job.text("podReplacementPolicy") == "Failed"
                || job.spec.other.get("podFailurePolicy").is_some());
        let taken = active + if waits { count(terminating) } else { 0 };
        let parallel = job.replicas();
        let wanted = match job.number("completions") {
            Some(completions) => parallel.min((completions - succeeded).max(0)),
            None if job.spec.other.get("parallelism").is_none() => (1 - succeeded).max(0),
            None if succeeded > 0 => active.min(parallel),
            None => parallel,
        };
        let steps = &mut self.reconciler.steps;
        steps.extend((taken..wanted).map(|_| Step::Create(job.clone())));
        if wanted < active {
            let surplus = usize::try_from(active - wanted).unwrap_or(0);
            let pods = owned.pods.iter().filter_map(|pod| cluster.get_pod(pod));
            let pods: Vec<_> = pods.filter(|pod| pod.is_active()).collect();
            let pods: Vec<PodKey> = surplus_pods(&pods, surplus, |_| ());
            let steps = &mut self.reconciler.steps;
            steps.extend(pods.into_iter().map(|pod| Step::Delete(job.clone(), pod)));
        }
    }

    fn step(&mut self, context: &mut Context<'_>, step: Step) {
        match step {
            Step::Create(job) => {
                let created = &mut self.jobs.entry(job.key()).or_default().created;
                let name = generated_name(context.cluster, &job, created);
                self.reconciler.create_pod(&job, name, |_| Vec::new());
            }
            Step::Delete(job, pod) => self.reconciler.delete_pod(&job, pod),
            Step::Fail(job) => {
                let message = "Job has reached the specified backoff limit";
                self.reconciler.record(&job, "Warning", "BackoffLimitExceeded", message.into());
            }
        }
    }
}
