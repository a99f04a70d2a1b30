//! Jobs: pods that run to their end, which their kubelet says: after the time of the annotation
//! `taintlab/run-time`, or never.

mod failure_policy;
mod indexed;
mod tracking;

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use serde_json::Value;
use taintlab_rules::api::{
    ConditionStatus, JobStatus, Pod, PodKey, PodPhase, Workload, WorkloadCondition, WorkloadKey,
    WorkloadKind,
};
use taintlab_rules::cluster::{Change, Cluster};
use taintlab_rules::order::{OrderedMap, OrderedSet};
use taintlab_rules::protocol::TimeoutReason;
use taintlab_rules::queue::timer_queue::TimerId;
use taintlab_rules::release::{JobBackoff, KubernetesRelease};
use taintlab_rules::time::{Time, Timestamp};

use self::failure_policy::{Verdict, match_failure_policy};
use self::indexed::{
    IndexFailures, Indexes, index_of, indexed_completions, limit_per_index, number_pod,
    numbered_name,
};
use super::Context;
use super::workload::{
    Cost, Reconcile, Reconciler, WorkloadAction, container_restarts, count, generated_name,
    owners_to_look, slow_start_batches, surplus_pods,
};

/// How long a failed pod is waited for before it is replaced; doubled for each failure.
const BACKOFF: i64 = 10;
/// How long changes of pods are collected before their Job is looked at. Mirrors
/// `SyncJobBatchPeriod`.
const BATCH_PERIOD: Duration = Duration::from_secs(1);

/// The controller of Jobs. Mirrors `pkg/controller/job`.
#[derive(Clone, Debug)]
pub struct JobController {
    reconciler: Reconciler<Step>,
    jobs: OrderedMap<WorkloadKey, JobState>,
    last_sync: JobSync,
    /// The batch in which the last pod was created, and how many were not.
    batch: u32,
    not_created: i64,
    /// See [`JobController::follow_upstream`].
    is_strict: bool,
}

/// What came of a look at a Job, for the queue of the controller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobSync {
    /// The error after which the Job is looked at again, later and later.
    pub error: Option<String>,
    /// Whether the queue forgets how often that was.
    pub forget: bool,
}

/// What is known of a Job besides its pods.
#[derive(Clone, Debug, Default)]
struct JobState {
    /// How many names it has made up.
    created: u64,
    /// How many of its pods count as failed, and how many as succeeded.
    failed: i64,
    succeeded: i64,
    /// How many have failed since the last that succeeded, and when the last one did.
    failures: u32,
    last_failure: Option<Time>,
    /// Those failures that no status tells yet, and when each pod ended as far as is known.
    uncounted: OrderedMap<PodKey, Time>,
    /// Pods that are counted, by releases that look at finalizers.
    counted: OrderedSet<PodKey>,
    /// Pods that it has deleted since they were too many, which do not count as failed.
    surplus: OrderedSet<PodKey>,
    /// When it is looked at because of its pods.
    batch: Option<Timestamp>,
    /// How often its queue has been told to look again since it was told to forget.
    requeues: u32,
    /// What its `podFailurePolicy` fails it for.
    policy_failure: Option<String>,
    /// When it is looked at because of `activeDeadlineSeconds`.
    deadline: Option<Timestamp>,
    /// With `backoffLimitPerIndex`: the failures of each number, and the numbers that have failed.
    failures_of: OrderedMap<i64, IndexFailures>,
    failed_indexes: OrderedSet<i64>,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Create(Arc<Workload>, u32, Option<i64>),
    Delete(Arc<Workload>, PodKey),
    /// Deletes a pod that does not count.
    DeleteSurplus(Arc<Workload>, PodKey),
    /// Takes the finalizer off a pod that is counted.
    Finalize(PodKey),
    Say(WorkloadKey, &'static str, &'static str, String),
    Finish(Arc<Workload>, JobStatus),
}

impl JobState {
    /// When the last failure was.
    fn last_failure(&self) -> Option<Time> {
        self.last_failure.max(self.uncounted.values().copied().max())
    }

    /// The status tells all failures: later ends of their pods do not matter.
    fn count_failures(&mut self) {
        self.last_failure = self.last_failure();
        self.uncounted.clear();
    }

    /// A pod with a number has failed: so has the number, if that has happened too often. Mirrors
    /// `isIndexFailed`.
    fn count_index_failure(
        &mut self,
        pod: &Pod,
        limit: i64,
        verdict: Option<&Verdict>,
        ended: Time,
    ) {
        let Some(index) = index_of(pod) else { return };
        let failures = IndexFailures::after(pod, verdict != Some(&Verdict::Ignore), ended);
        let too_often = verdict != Some(&Verdict::Ignore) && failures.counted > limit;
        if too_often || verdict == Some(&Verdict::FailIndex) {
            self.failed_indexes.insert(index);
        }
        self.failures_of.insert(index, failures);
    }
}

impl JobController {
    /// A controller that knows nothing yet: tell it of all workloads and pods.
    #[must_use]
    pub fn new(release: KubernetesRelease) -> Self {
        Self {
            reconciler: Reconciler::new(release, WorkloadKind::Job),
            jobs: OrderedMap::new(),
            last_sync: JobSync::default(),
            batch: 0,
            not_created: 0,
            is_strict: false,
        }
    }

    /// Takes pods without a finalizer for counted, and expects that every status is accepted. In a
    /// simulation pods may lack the finalizer that the API's have, and nobody validates a status.
    pub const fn follow_upstream(&mut self) {
        self.is_strict = true;
    }

    /// What came of the last look at a Job.
    #[must_use]
    pub fn last_sync(&self) -> &JobSync {
        &self.last_sync
    }

    /// A pod of a Job may have ended.
    fn count_end(&mut self, context: &Context<'_>, old: Option<&Pod>, new: Option<&Pod>) {
        let owner = |pod: Option<&Pod>| pod?.metadata.controller_key_of(WorkloadKind::Job);
        let (before, after) = (owner(old), owner(new));
        let Some(owner) = before.or_else(|| after.clone()) else { return };
        if let Some(after) = after {
            self.jobs.entry(after).or_default();
        }
        if self.reconciler.release.delays_end_of_jobs() {
            let Some(key) = new.or(old).map(Pod::key) else { return };
            self.observe_tracked(context, &owner, (&key, old, new));
            return;
        }
        let Some(state) = self.jobs.get_mut(&owner) else { return };
        if let Some(old) = old.filter(|_| new.is_none())
            && state.surplus.remove(&old.key())
        {
            return;
        }
        if new.is_some_and(|new| state.surplus.contains(&new.key())) {
            return;
        }
        let release = self.reconciler.release;
        let job = context.cluster.get_workload(&owner);
        let policy = job.and_then(|job| job.spec.other.get("podFailurePolicy"));
        let policy = policy.filter(|_| release.has_pod_failure_policy());
        let replaced_when_failed =
            job.is_some_and(|job| waits_for_the_end(job, release)) || policy.is_some();
        let deleted = release.tracks_jobs_with_finalizers();
        let failed = |pod: &Pod| {
            pod.status.phase == PodPhase::Failed
                || has_ended_unseen(pod)
                || (deleted
                    && !replaced_when_failed
                    && pod.is_terminating()
                    && pod.status.phase != PodPhase::Succeeded)
        };
        let succeeded = |pod: &Pod| pod.status.phase == PodPhase::Succeeded;
        let removed = new.is_none() && deleted && old.is_some_and(|pod| !pod.has_ended());
        let fails = old.is_none_or(|old| !failed(old)) && (removed || new.is_some_and(failed));
        // What has counted as failed since it was deleted is no success later.
        let counted = old.is_some_and(|old| succeeded(old) || failed(old));
        if !counted && new.is_some_and(succeeded) {
            state.succeeded += 1;
            state.failures = 0;
            state.uncounted.clear();
        }
        let Some(pod) = new.or(old).filter(|_| fails) else { return };
        let verdict = policy.and_then(|policy| match_failure_policy(policy, pod));
        if let Some(limit) = job.and_then(|job| limit_per_index(job, release)) {
            state.count_index_failure(pod, limit, verdict.as_ref(), finish_time(context, pod));
        }
        // The back-off knows no policy.
        state.failures = state.failures.saturating_add(1);
        state.uncounted.insert(pod.key(), finish_time(context, pod));
        match verdict {
            Some(Verdict::Ignore) => return,
            Some(Verdict::FailJob(message)) => {
                state.policy_failure.get_or_insert(message);
            }
            Some(Verdict::FailIndex | Verdict::Count) | None => {}
        }
        state.failed += 1;
    }

    /// A pod of a Job has changed: the Job is looked at with all that change in the same second.
    fn enqueue_batch(&mut self, context: &mut Context<'_>, key: WorkloadKey) {
        let at = context.now.saturating_add(BATCH_PERIOD);
        let state = self.jobs.entry(key.clone()).or_default();
        if state.batch.is_none_or(|batch| batch <= context.now) {
            state.batch = Some(at);
            self.reconciler.retry_at(context, at, key);
        }
    }

    /// When a Job that has had failures creates pods again: not before. Mirrors
    /// `backoffRecord.getRemainingTime`.
    fn backoff_ends(&self, key: &WorkloadKey) -> Option<i64> {
        if self.reconciler.release.job_backoff() != JobBackoff::Pods {
            return None;
        }
        let state = self.jobs.get(key)?;
        // Releases that track finalizers add new failures when they sync the Job.
        let new =
            if self.reconciler.release.delays_end_of_jobs() { state.uncounted.len() } else { 0 };
        let failures = state.failures.saturating_add(u32::try_from(new).unwrap_or(u32::MAX));
        let last = state.last_failure().filter(|_| failures > 0)?;
        Some(last.unix_seconds() + backoff(failures, 600))
    }

    /// When a Job that waits after a failure creates its next pods: `None` if it does not wait.
    #[must_use]
    pub fn next_retry(&self, start: Time, job: &Workload) -> Option<Timestamp> {
        let key = job.key();
        let waits = |(_, (of, reason)): &(&TimerId, &(WorkloadKey, TimeoutReason))| {
            *of == key && matches!(reason, TimeoutReason::JobBackoff { .. })
        };
        let first = self.reconciler.timers().filter(waits).map(|(timer, _)| timer.0).min();
        let batch = self.jobs.get(&key).and_then(|state| state.batch);
        // A failure since then makes it wait for longer.
        let each_waits = limit_per_index(job, self.reconciler.release).is_some();
        let ends = self.backoff_ends(&key).filter(|_| !each_waits);
        let ends = ends.map(|at| at.saturating_sub(start.unix_seconds()));
        let ends = ends.and_then(|seconds| u64::try_from(seconds).ok()).map(Timestamp::from_secs);
        let batch = batch.filter(|batch| ends.is_some_and(|ends| ends > *batch));
        let first = first.or(batch)?;
        Some(ends.map_or(first, |ends| ends.max(first)))
    }

    /// When a number of a Job with `backoffLimitPerIndex` may have its next pod. Mirrors
    /// `getRemainingTimePerIndex`.
    fn wait_of(&self, key: &WorkloadKey, index: i64) -> i64 {
        let failures = self.jobs.get(key).and_then(|state| state.failures_of.get(&index));
        failures.map_or(i64::MIN, |failures| {
            failures.last.unix_seconds().saturating_add(backoff(failures.all(), 600))
        })
    }

    /// Deletes what is too much, creates what is missing; how many pods there are then. Mirrors
    /// `manageJob`.
    fn manage(
        &mut self,
        context: &mut Context<'_>,
        job: &Arc<Workload>,
        active: &[&Arc<Pod>],
        terminating: i64,
        succeeded: i64,
        free_indexes: Vec<i64>,
    ) -> i64 {
        let release = self.reconciler.release;
        let number = count(active.iter());
        let wanted = wanted_at_once(job, succeeded, number);
        // Up to 1.20 pods are only deleted if there are more than may run at once.
        let least = if release.deletes_surplus_job_pods() { wanted } else { job.replicas() };
        if number > least {
            let surplus = usize::try_from(number - least).unwrap_or(0);
            let pods = surplus_pods(active, surplus, None, None, &|_| Cost::default());
            let steps = &mut self.reconciler.steps;
            steps.extend(pods.into_iter().map(|pod| Step::DeleteSurplus(job.clone(), pod)));
            return least;
        }
        let mut missing = wanted - number - terminating;
        if missing <= 0 {
            return number;
        }
        let key = job.key();
        let mut indexes = free_indexes;
        let now = context.wall_clock().unix_seconds();
        let wait_until = if limit_per_index(job, release).is_some() {
            // Each number waits by itself.
            indexes.truncate(usize::try_from(missing).unwrap_or(0));
            let ends: Vec<i64> = indexes.iter().map(|index| self.wait_of(&key, *index)).collect();
            let ready = indexes.iter().zip(&ends).filter(|(_, end)| **end <= now);
            indexes = ready.map(|(index, _)| *index).collect();
            missing = count(indexes.iter());
            ends.into_iter().min().filter(|_| missing == 0)
        } else {
            self.backoff_ends(&key).filter(|at| *at > now)
        };
        if let Some(at) = wait_until {
            let reason = TimeoutReason::JobBackoff { workload: key.clone() };
            let at = timestamp(context, at);
            if limit_per_index(job, release).is_some() {
                self.reconciler.enqueue_at(context, at, key, reason);
                return number;
            }
            // Those that are active are forgotten here.
            let soonest = context.now.saturating_add(BATCH_PERIOD);
            self.reconciler.enqueue_at(context, at.max(soonest), key, reason);
            return 0;
        }
        let mut indexes = indexes.into_iter();
        let batches = slow_start_batches(missing);
        let steps = batches.map(|batch| Step::Create(job.clone(), batch, indexes.next()));
        self.reconciler.steps.extend(steps);
        number + missing
    }

    /// Stops or resumes a Job; whether it is suspended.
    fn suspend(&mut self, context: &Context<'_>, job: &Workload, status: &mut JobStatus) -> bool {
        let suspended = self.reconciler.release.has_job_suspend()
            && job.spec.other.get("suspend").is_some_and(|suspend| *suspend == true);
        let known = status.conditions.iter().position(|known| known.type_ == "Suspended");
        let was = known.and_then(|known| status.conditions.get(known));
        if was.map_or(!suspended, |was| (was.status == ConditionStatus::True) == suspended) {
            return suspended;
        }
        let (holds, condition_reason, reason, message) = if suspended {
            (ConditionStatus::True, "JobSuspended", "Suspended", "Job suspended")
        } else {
            (ConditionStatus::False, "JobResumed", "Resumed", "Job resumed")
        };
        let mut changed = condition(context, "Suspended", condition_reason, message);
        changed.status = holds;
        if let Some(known) = known {
            status.conditions.remove(known);
        }
        status.conditions.push(changed);
        status.start_time = (!suspended).then(|| context.wall_clock().truncated_to_seconds());
        self.say(&job.key(), "Normal", reason, message.to_owned());
        suspended
    }

    fn say(
        &mut self,
        job: &WorkloadKey,
        type_: &'static str,
        reason: &'static str,
        message: String,
    ) {
        self.reconciler.steps.push_back(Step::Say(job.clone(), type_, reason, message));
    }

    /// Why a Job has failed, if it has.
    fn failure(
        &self,
        context: &Context<'_>,
        job: &Workload,
        status: &JobStatus,
        pods: &[&Arc<Pod>],
        failed: i64,
    ) -> Option<(&'static str, String)> {
        let state = self.jobs.get(&job.key());
        if let Some(message) = state.and_then(|state| state.policy_failure.clone()) {
            return Some(("PodFailurePolicy", message));
        }
        let release = self.reconciler.release;
        let limit = backoff_limit(job, release);
        let active = count(pods.iter().filter(|pod| pod.is_active()));
        let is_new = failed > status.failed && active != job.replicas();
        let counted = if release.counts_job_requeues() {
            state.map_or(0, |state| i64::from(state.requeues)) + 1
        } else {
            failed
        };
        let asks = release.backoff_limit_asks_for_new_failure();
        let exceeds = counted > limit && (is_new || !asks);
        if exceeds || has_restarted_too_often(job, limit, pods) {
            let message = "Job has reached the specified backoff limit";
            return Some(("BackoffLimitExceeded", message.to_owned()));
        }
        let since = status.start_time?.unix_seconds();
        let deadline = since.saturating_add(job.number("activeDeadlineSeconds")?);
        let message = "Job was active longer than specified deadline";
        let now = context.wall_clock().unix_seconds();
        (now >= deadline).then(|| ("DeadlineExceeded", message.to_owned()))
    }

    /// A Job is looked at when its time is over.
    fn plan_deadline(&mut self, context: &mut Context<'_>, job: &Workload, status: &JobStatus) {
        let (Some(since), Some(seconds)) = (status.start_time, job.number("activeDeadlineSeconds"))
        else {
            return;
        };
        let at = timestamp(context, since.unix_seconds().saturating_add(seconds));
        let key = job.key();
        let state = self.jobs.entry(key.clone()).or_default();
        if at > context.now && state.deadline.replace(at) != Some(at) {
            let reason = TimeoutReason::JobDeadline { workload: key.clone() };
            self.reconciler.enqueue_at(context, at, key, reason);
        }
    }

    /// Whether a Job is complete, and what is said then.
    fn complete(
        &mut self,
        context: &Context<'_>,
        job: &Workload,
        status: &mut JobStatus,
        active: i64,
        succeeded: i64,
    ) {
        let completions = completions(job);
        let complete = match completions {
            None => succeeded > 0 && active == 0,
            Some(completions) => succeeded >= completions,
        };
        if !complete {
            return;
        }
        let key = job.key();
        if let Some(completions) = completions {
            if active > 0 {
                let message = "Too many active pods running after completion count reached";
                self.say(&key, "Warning", "TooManyActivePods", message.to_owned());
            }
            if succeeded > completions {
                let message = "Too many succeeded pods running after completion count reached";
                self.say(&key, "Warning", "TooManySucceededPods", message.to_owned());
            }
        }
        status.conditions.push(condition(context, "Complete", "", ""));
        status.completion_time = Some(context.wall_clock().truncated_to_seconds());
        self.say(&key, "Normal", "Completed", "Job completed".to_owned());
    }

    /// Takes the finalizer off all pods of a Job that is over or gone.
    fn finalize_all(&mut self, cluster: &Cluster, key: &WorkloadKey) {
        let pods = &cluster.owned_pods(key).pods;
        let kept = pods
            .iter()
            .filter(|pod| cluster.get_pod(pod).is_some_and(|pod| pod.has_job_finalizer()));
        self.reconciler.steps.extend(kept.cloned().map(Step::Finalize));
    }

    /// Takes the finalizer off the pods that the status counts, or all if the Job is over. The last
    /// failed pod of a number keeps it until the next one of that number is there. Mirrors
    /// `canRemoveFinalizer`.
    fn finalize(&mut self, job: &Workload, status: &JobStatus, pods: &[&Arc<Pod>]) {
        let release = self.reconciler.release;
        let state = self.jobs.entry(job.key()).or_default();
        state.count_failures();
        if !release.tracks_jobs_with_finalizers() {
            return;
        }
        let replaced_when_failed = waits_for_the_end(job, release)
            || (job.spec.other.get("podFailurePolicy").is_some()
                && release.has_pod_failure_policy());
        let by_index = limit_per_index(job, release).is_some();
        let is_replaced = |pod: &Pod| {
            let index = index_of(pod);
            index.is_some_and(|index| state.failed_indexes.contains(&index))
                || pods.iter().any(|other| other.is_active() && index_of(other) == index)
        };
        let can_go = |pod: &Pod| {
            if status.is_finished() || pod.status.phase == PodPhase::Succeeded {
                return true;
            }
            if pod.status.phase == PodPhase::Failed || has_ended_unseen(pod) {
                return !by_index || is_replaced(pod);
            }
            !replaced_when_failed && pod.is_terminating()
        };
        let counted = pods.iter().filter(|pod| pod.has_job_finalizer() && can_go(pod));
        self.reconciler.steps.extend(counted.map(|pod| Step::Finalize(pod.key())));
    }

    /// Writes the status, and tells the queue what came of it.
    fn finish(&mut self, context: &mut Context<'_>, job: &Workload, mut status: JobStatus) {
        let key = job.key();
        let known: JobStatus = job.status();
        status.active -= core::mem::take(&mut self.not_created);
        let new_failure = status.failed > known.failed;
        if self.reconciler.release.delays_end_of_jobs() {
            self.reconciler.write_status(key, status.clone(), BTreeMap::new());
            self.delete_after_time_to_live(context, job, &status);
            return;
        }
        let mut forget = status.succeeded > known.succeeded;
        let mut error = None;
        if (status.active, status.succeeded, status.failed, status.conditions.len())
            != (known.active, known.succeeded, known.failed, known.conditions.len())
            || status.conditions != known.conditions
        {
            self.reconciler.write_status(key.clone(), status.clone(), BTreeMap::new());
            if new_failure && !status.is_finished() {
                let name = &key.name;
                error = Some(format!("failed pod(s) detected for job key \"{name}\""));
            } else {
                forget = true;
            }
        }
        let state = self.jobs.entry(key.clone()).or_default();
        if error.is_some() {
            state.requeues = state.requeues.saturating_add(1);
            if self.reconciler.release.job_backoff() == JobBackoff::Queue {
                let wait = backoff(state.requeues, 360);
                let wait = Duration::from_secs(u64::try_from(wait).unwrap_or(0));
                let at = context.now.saturating_add(wait);
                let reason = TimeoutReason::JobBackoff { workload: key.clone() };
                self.reconciler.enqueue_at(context, at, key, reason);
            }
        } else if forget {
            state.requeues = 0;
        }
        self.last_sync = JobSync { error, forget };
        self.delete_after_time_to_live(context, job, &status);
    }

    /// A Job that is over is deleted after its time to live. Mirrors `ttlafterfinished.processJob`.
    fn delete_after_time_to_live(
        &mut self,
        context: &mut Context<'_>,
        job: &Workload,
        status: &JobStatus,
    ) {
        let seconds = job.number("ttlSecondsAfterFinished");
        let seconds = seconds.filter(|_| self.reconciler.release.has_ttl_after_finished());
        let finished = status.finished().and_then(|finished| finished.last_transition_time);
        let (Some(seconds), Some(finished)) = (seconds, finished) else { return };
        let (key, now) = (job.key(), context.wall_clock().unix_seconds());
        let at = finished.unix_seconds().saturating_add(seconds);
        if at <= now {
            self.reconciler.push(WorkloadAction::DeleteWorkload(key));
        } else {
            let reason = TimeoutReason::JobTimeToLive { workload: key.clone() };
            self.reconciler.enqueue_at(context, timestamp(context, at), key, reason);
        }
    }
}

/// 10 s, doubled for each failure after the first; `most` at most.
fn backoff(failures: u32, most: i64) -> i64 {
    let factor = 1_i64.checked_shl(failures.saturating_sub(1).min(32)).unwrap_or(i64::MAX);
    BACKOFF.saturating_mul(factor).min(most)
}

/// That second since 1970 in the time of the simulation.
fn timestamp(context: &Context<'_>, seconds: i64) -> Timestamp {
    let since = seconds.saturating_sub(context.start.unix_seconds());
    Timestamp::from_secs(u64::try_from(since).unwrap_or(0))
}

/// `spec.completions`, which is 1 if neither it nor `parallelism` is given.
pub(crate) fn completions(job: &Workload) -> Option<i64> {
    let given = job.number("completions");
    given.or_else(|| job.spec.other.get("parallelism").is_none().then_some(1))
}

/// How many pods a Job wants at once that has so many that have ended well and so many that run.
fn wanted_at_once(job: &Workload, succeeded: i64, active: i64) -> i64 {
    let parallel = job.replicas();
    match completions(job) {
        Some(completions) => parallel.min(completions.saturating_sub(succeeded)).max(0),
        None if succeeded > 0 => active.min(parallel),
        None => parallel,
    }
}

/// Pods that a Job wants, by its status and those that have ended well since that was written: none
/// once it is over, nor while it is suspended, and none for a number that has failed.
pub fn wanted_pods(cluster: &Cluster, job: &Workload) -> i64 {
    let mut status: JobStatus = job.status();
    let holds = |known: &WorkloadCondition| known.status == ConditionStatus::True;
    let ends = ["Suspended", "FailureTarget", "SuccessCriteriaMet"];
    let suspended =
        status.conditions.iter().any(|known| ends.contains(&&*known.type_) && holds(known));
    if suspended || status.is_finished() {
        return 0;
    }
    let pods = cluster.owned_pods(&job.key()).pods.iter().filter_map(|pod| cluster.get_pod(pod));
    let uncounted =
        |pod: &&Arc<Pod>| pod.status.phase == PodPhase::Succeeded && pod.has_job_finalizer();
    let new = count(pods.clone().filter(uncounted));
    if new > 0 {
        status.succeeded = status.succeeded.saturating_add(new);
        status.active = count(pods.filter(|pod| pod.is_active()));
    }
    let failed = completions(job).map_or(0, |all| Indexes::failed(all, &status).count());
    wanted_at_once(job, status.succeeded.saturating_add(failed), status.active)
}

/// `spec.backoffLimit`, which is 6 unless given, and as good as none with a limit for each index.
pub(crate) fn backoff_limit(job: &Workload, release: KubernetesRelease) -> i64 {
    let per_index = limit_per_index(job, release).is_some();
    let default = if per_index { i64::from(i32::MAX) } else { 6 };
    job.number("backoffLimit").unwrap_or(default)
}

/// Whether a pod of a Job is replaced when it has ended, not when it is deleted.
fn waits_for_the_end(job: &Workload, release: KubernetesRelease) -> bool {
    release.has_pod_replacement_policy()
        && (job.text("podReplacementPolicy") == "Failed"
            || job.spec.other.get("podFailurePolicy").is_some())
}

/// Why a Job has failed whose numbers fail one by one, if it has: too many have, or all have ended.
/// Mirrors the part of `syncJob` about `backoffLimitPerIndex`.
fn index_failure_of(
    job: &Workload,
    completions: i64,
    succeeded: i64,
    failed: i64,
) -> Option<(&'static str, String)> {
    if job.number("maxFailedIndexes").is_some_and(|most| failed > most) {
        let message = "Job has exceeded the specified maximal number of failed indexes";
        return Some(("MaxFailedIndexesExceeded", message.to_owned()));
    }
    let all_ended = failed > 0 && failed + succeeded >= completions;
    all_ended.then(|| ("FailedIndexes", "Job has failed indexes".to_owned()))
}

/// Whether the containers of the pods were started again too often. Mirrors
/// `pastBackoffLimitOnFailure`.
fn has_restarted_too_often(job: &Workload, limit: i64, pods: &[&Arc<Pod>]) -> bool {
    let policy = job.spec.template.spec.other.get("restartPolicy").and_then(Value::as_str);
    if policy != Some("OnFailure") {
        return false;
    }
    let started =
        pods.iter().filter(|pod| matches!(pod.status.phase, PodPhase::Running | PodPhase::Pending));
    let restarts: i64 = started
        .flat_map(|pod| {
            let init = container_restarts(pod, "initContainerStatuses");
            init.chain(container_restarts(pod, "containerStatuses"))
        })
        .sum();
    if limit == 0 { restarts > 0 } else { restarts >= limit }
}

/// Whether only its Job keeps a pod that nobody has seen end.
fn has_ended_unseen(pod: &Pod) -> bool {
    pod.metadata.deletion_grace_period_seconds == Some(0) && !pod.has_ended()
}

/// When a pod ended: its containers, if all have. Mirrors `getFinishedTime`.
///
/// Those of a simulated kubelet have ended when the condition `ContainersReady` says so.
fn finish_time(context: &Context<'_>, pod: &Pod) -> Time {
    let is_false = |type_: &str| {
        pod.condition(type_).filter(|condition| condition.status == ConditionStatus::False)
    };
    let not_ready = is_false("Ready");
    let statuses = pod.status.other.get("containerStatuses").and_then(Value::as_array);
    let ended = match statuses.filter(|statuses| !statuses.is_empty()) {
        Some(statuses) => {
            let ends = statuses.iter().map(|status| {
                let at = status.pointer("/state/terminated/finishedAt")?.as_str()?;
                Time::parse(at).ok()
            });
            ends.collect::<Option<Vec<Time>>>().and_then(|ends| ends.into_iter().max())
        }
        None => is_false("ContainersReady")
            .filter(|_| pod.has_ended())
            .and_then(|ended| ended.last_transition_time),
    };
    let deleted = pod.metadata.deletion_timestamp.map(|at| {
        let grace = pod.metadata.deletion_grace_period_seconds.unwrap_or(0);
        Time::from_unix_seconds(at.unix_seconds().saturating_sub(grace))
    });
    let found = ended.or_else(|| not_ready?.last_transition_time).or(deleted);
    found.or(pod.metadata.creation_timestamp).unwrap_or_else(|| context.wall_clock())
}

/// A condition that holds from now on. Mirrors `newCondition`.
fn condition(context: &Context<'_>, type_: &str, reason: &str, message: &str) -> WorkloadCondition {
    let now = Some(context.wall_clock().truncated_to_seconds());
    WorkloadCondition {
        type_: type_.into(),
        status: ConditionStatus::True,
        last_probe_time: now,
        last_transition_time: now,
        reason: reason.into(),
        message: message.into(),
        ..WorkloadCondition::default()
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
            Change::Workload { key, old, new: Some(new) } if key.kind == WorkloadKind::Job => {
                self.jobs.entry(key.clone()).or_default();
                if old.as_ref().is_none_or(|old| old.spec != new.spec) {
                    self.reconciler.enqueue(context, key.clone());
                }
            }
            Change::Workload { key, new: None, .. } if key.kind == WorkloadKind::Job => {
                self.jobs.remove(key);
                self.reconciler.enqueue(context, key.clone());
            }
            Change::Pod { old, new, .. } => {
                let (old, new) = (old.as_deref(), new.as_deref());
                self.count_end(context, old, new);
                let release = self.reconciler.release;
                let (tracks, batches) =
                    (release.tracks_jobs_with_finalizers(), release.batches_job_syncs());
                for owner in owners_to_look(WorkloadKind::Job, old, new, tracks) {
                    // A failure is looked at after the queue's back-off.
                    let failed = new.is_some_and(|pod| pod.status.phase == PodPhase::Failed);
                    let requeues = self.jobs.get(&owner).map_or(0, |state| state.requeues);
                    let delayed = self.reconciler.release.job_backoff() == JobBackoff::Queue;
                    if failed && delayed && requeues > 0 {
                        let wait = u64::try_from(backoff(requeues, 360)).unwrap_or(0);
                        let at = context.now.saturating_add(Duration::from_secs(wait));
                        let reason = TimeoutReason::JobBackoff { workload: owner.clone() };
                        self.reconciler.enqueue_at(context, at, owner, reason);
                    } else if batches {
                        self.enqueue_batch(context, owner);
                    } else {
                        self.reconciler.enqueue(context, owner);
                    }
                }
            }
            Change::Workload { .. }
            | Change::Node { .. }
            | Change::Volume(_)
            | Change::Device(_)
            | Change::Budget { .. }
            | Change::Lease { .. } => {}
        }
    }

    /// Mirrors `Controller.syncJob`.
    fn reconcile(&mut self, context: &mut Context<'_>, key: &WorkloadKey) {
        let cluster = context.cluster;
        let Some(job) = cluster.get_workload(key) else {
            self.finalize_all(cluster, key);
            return;
        };
        let mut status: JobStatus = job.status();
        if status.is_finished() {
            self.finalize_all(cluster, key);
            self.jobs.entry(key.clone()).or_default().requeues = 0;
            self.last_sync = JobSync { error: None, forget: true };
            self.delete_after_time_to_live(context, job, &status);
            return;
        }
        let claimed = self.reconciler.claim(cluster, job, |_| true);
        let pods = claimed.pods(cluster, key);
        if self.reconciler.release.delays_end_of_jobs() {
            self.look_at(context, job, pods, &claimed.adopted);
            return;
        }
        let of = |test: &dyn Fn(&Pod) -> bool| count(pods.iter().filter(|pod| test(pod)));
        let release = self.reconciler.release;
        let state = self.jobs.entry(key.clone()).or_default();
        for (pod, ended) in &mut state.uncounted {
            if let Some(pod) = cluster.get_pod(pod) {
                *ended = finish_time(context, pod);
            }
        }
        for pod in pods.iter().filter(|pod| pod.has_job_finalizer() && !pod.is_active()) {
            let failures = index_of(pod).and_then(|index| state.failures_of.get_mut(&index));
            if let Some(failures) = failures {
                failures.last = failures.last.max(finish_time(context, pod));
            }
        }
        let (succeeded, failed) = if !release.tracks_jobs_with_finalizers() {
            let ended = |phase| of(&|pod: &Pod| pod.status.phase == phase);
            (ended(PodPhase::Succeeded), ended(PodPhase::Failed))
        } else {
            (state.succeeded.max(status.succeeded), state.failed.max(status.failed))
        };
        let terminating = waits_for_the_end(job, release);
        let terminating = |pod: &Pod| terminating && pod.is_terminating() && !pod.has_ended();
        let (mut succeeded, mut free, mut index_failure) = (succeeded, Vec::new(), None);
        if let Some(completions) = indexed_completions(job, release) {
            let completed = Indexes::completed(completions, &status, &pods);
            completed.record_completed(&mut status);
            succeeded = completed.count();
            let taken = pods.iter().filter(|pod| pod.is_active() || terminating(pod));
            let mut used = completed;
            used.extend(completions, taken.filter_map(|pod| index_of(pod)));
            if limit_per_index(job, release).is_some() {
                let mut failed = Indexes::failed(completions, &status);
                failed.extend(completions, state.failed_indexes.iter().copied());
                failed.record_failed(&mut status);
                index_failure = index_failure_of(job, completions, succeeded, failed.count());
                used.join(&failed);
            }
            // No more than these are begun.
            let most = usize::try_from(job.replicas()).unwrap_or(0);
            free = used.free(completions).take(most).collect();
        }
        let suspended = self.suspend(context, job, &mut status);
        if status.start_time.is_none() && !suspended {
            status.start_time = Some(context.wall_clock().truncated_to_seconds());
        }
        self.plan_deadline(context, job, &status);
        let active: Vec<&Arc<Pod>> = pods.iter().filter(|pod| pod.is_active()).copied().collect();
        let failure = self.failure(context, job, &status, &pods, failed);
        let failure = failure.or(index_failure);
        (status.active, status.succeeded, status.failed) =
            (count(active.iter()), succeeded, failed);
        if failure.is_some() || suspended {
            let delete = if failure.is_some() { Step::Delete } else { Step::DeleteSurplus };
            let deletes = active.iter().map(|pod| delete(job.clone(), pod.key()));
            self.reconciler.steps.extend(deletes);
            if failure.is_some() {
                status.failed += status.active;
            }
            status.active = 0;
        }
        if let Some((reason, message)) = failure {
            status.conditions.push(condition(context, "Failed", reason, &message));
            self.say(key, "Warning", reason, message);
        } else if !suspended {
            if job.metadata.deletion_timestamp.is_none() {
                let terminating = of(&terminating);
                status.active = self.manage(context, job, &active, terminating, succeeded, free);
            }
            let active_now = status.active;
            self.complete(context, job, &mut status, active_now, succeeded);
            let ready = count(active.iter().filter(|pod| pod.has_ready_condition()));
            let waits = active_now == 0 && !active.is_empty();
            if waits && ready > 0 && release.refuses_ready_above_active() {
                // Nothing is counted, and no finalizer comes off.
                self.last_sync = JobSync { error: None, forget: false };
                return;
            }
        }
        self.finalize(job, &status, &pods);
        self.reconciler.steps.push_back(Step::Finish(job.clone(), status));
    }

    fn step(&mut self, context: &mut Context<'_>, step: Step) {
        match step {
            Step::Create(job, batch, index) => {
                self.batch = batch;
                let release = self.reconciler.release;
                let state = self.jobs.entry(job.key()).or_default();
                let failures = index.and_then(|index| state.failures_of.get(&index).copied());
                let created = &mut state.created;
                let mut named = Workload::clone(&job);
                if let Some(index) = index {
                    named.metadata.name = numbered_name(&job, index);
                }
                let name = generated_name(context.cluster, &named, created);
                self.reconciler.create_pod(&job, name, |pod| {
                    if let Some(index) = index {
                        number_pod(pod, &job, index, release);
                    }
                    if limit_per_index(&job, release).is_some() {
                        IndexFailures::annotate(failures.as_ref(), pod);
                    }
                    if release.tracks_jobs_with_finalizers() {
                        pod.add_job_finalizer();
                    }
                    Vec::new()
                });
            }
            Step::Delete(job, pod) => self.reconciler.delete_pod(&job, pod),
            Step::DeleteSurplus(job, pod) => {
                if self.reconciler.release.tracks_jobs_with_finalizers() {
                    let state = self.jobs.entry(job.key()).or_default();
                    state.surplus.insert(pod.clone());
                    state.counted.insert(pod.clone());
                    let keeps = context.cluster.get_pod(&pod).is_some_and(|pod| {
                        pod.has_job_finalizer() || pod.metadata.controller().is_none()
                    });
                    if keeps {
                        self.reconciler.push(WorkloadAction::FinalizePod { pod: pod.clone() });
                    }
                }
                self.reconciler.delete_pod(&job, pod);
            }
            Step::Finalize(pod) => self.reconciler.push(WorkloadAction::FinalizePod { pod }),
            Step::Say(job, type_, reason, message) => {
                self.reconciler.record(&job, type_, reason, message);
            }
            Step::Finish(job, status) => self.finish(context, &job, status),
        }
    }

    /// The rest of the batch was under way already; there is no further one.
    fn refused(&mut self, _: &str) {
        let (last, steps) = (self.batch, &mut self.reconciler.steps);
        let before = steps.len();
        steps.retain(|step| match step {
            Step::Create(_, batch, _) => *batch == last,
            Step::Delete(..)
            | Step::DeleteSurplus(..)
            | Step::Finalize(..)
            | Step::Say(..)
            | Step::Finish(..) => true,
        });
        self.not_created += i64::try_from(before - steps.len()).unwrap_or(0) + 1;
    }
}
