//! One look at a Job as releases do it that delay its last condition until its pods are gone: what
//! is counted comes from its status and from the pods with a finalizer.

use alloc::borrow::ToOwned;

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde_json::Value;
use taintlab_rules::api::{
    ConditionStatus, JobStatus, Pod, PodKey, PodPhase, Workload, WorkloadCondition, WorkloadKey,
};
use taintlab_rules::order::{OrderedMap, OrderedSet};
use taintlab_rules::protocol::TimeoutReason;

use super::failure_policy::{Verdict, match_failure_policy};
use super::indexed::{IndexFailures, Indexes, index_of, indexed_completions, limit_per_index};
use super::{
    Cost, JobController, Step, backoff, backoff_limit, completions, condition, count, finish_time,
    has_ended_unseen, has_restarted_too_often, index_failure_of, timestamp, waits_for_the_end,
    wanted_at_once,
};
use crate::controllers::Context;
use crate::controllers::job::{BATCH_PERIOD, JobSync};
use crate::controllers::workload::{Reconcile, slow_start_batches, surplus_pods};

const FAILURE_TARGET: &str = "FailureTarget";
const SUCCESS_CRITERIA_MET: &str = "SuccessCriteriaMet";

/// Findings of one sync. Mirrors `syncJobCtx`.
struct Look<'a> {
    job: &'a Arc<Workload>,
    pods: Vec<&'a Arc<Pod>>,
    active: Vec<&'a Arc<Pod>>,
    ready: i64,
    terminating: i64,
    succeeded: i64,
    /// Completions of an Indexed Job.
    completions: Option<i64>,
    by_index: Option<i64>,
    policy: Option<&'a Value>,
    succeeded_indexes: Indexes,
    failed_indexes: Indexes,
    /// Failed pods that stay until the next one of their number is there.
    delayed: OrderedMap<i64, &'a Arc<Pod>>,
    only_replaces_failed: bool,
}

impl Look<'_> {
    /// Whether a pod has failed. Mirrors `isPodFailed`.
    fn has_failed(&self, pod: &Pod) -> bool {
        let deleted = pod.is_terminating() && pod.status.phase != PodPhase::Succeeded;
        pod.status.phase == PodPhase::Failed
            || has_ended_unseen(pod)
            || !self.only_replaces_failed && deleted
    }

    fn verdict(&self, pod: &Pod) -> Option<Verdict> {
        self.policy.and_then(|policy| match_failure_policy(policy, pod))
    }

    fn counts(&self, pod: &Pod) -> bool {
        self.verdict(pod) != Some(Verdict::Ignore)
    }

    /// Whether a pod has a number of the Job, if its pods have numbers.
    fn has_valid_index(&self, pod: &Pod) -> bool {
        self.completions
            .is_none_or(|all| index_of(pod).is_some_and(|index| (0..all).contains(&index)))
    }

    /// Whether the failure of a pod is one too many for its number. Mirrors `isIndexFailed`.
    fn fails_index(&self, pod: &Pod) -> bool {
        let Some(limit) = self.by_index.filter(|_| self.has_failed(pod)) else { return false };
        match self.verdict(pod) {
            Some(Verdict::FailIndex) => true,
            Some(Verdict::Ignore) => false,
            _ => IndexFailures::before(pod) >= limit,
        }
    }
}

/// The first rule of a `successPolicy` that holds. Mirrors `matchSuccessPolicy`.
fn match_success_policy(job: &Workload, completions: i64, succeeded: &Indexes) -> Option<String> {
    let rules = job.spec.other.get("successPolicy")?.get("rules")?.as_array()?;
    let holds = |rule: &Value| {
        let number = rule.get("succeededCount").and_then(Value::as_i64);
        let Some(listed) = rule.get("succeededIndexes").and_then(Value::as_str) else {
            return number.is_some_and(|number| succeeded.count() >= number);
        };
        let required = Indexes::parse(completions, listed);
        let met = required.count_in(succeeded);
        met >= number.unwrap_or_else(|| required.count())
    };
    let index = rules.iter().position(holds)?;
    Some(format!("Matched rules at index {index}"))
}

/// Adds a condition or replaces the one of its type, if that says something else; not one that does
/// not hold and is not there. Mirrors `ensureJobConditionStatus`.
fn ensure_condition(status: &mut JobStatus, new: WorkloadCondition) -> bool {
    let known = status.conditions.iter_mut().find(|known| known.type_ == new.type_);
    match known {
        Some(known) => {
            let same = known.status == new.status
                && known.reason == new.reason
                && known.message == new.message;
            if !same {
                *known = new;
            }
            !same
        }
        None if new.status == ConditionStatus::False => false,
        None => {
            status.conditions.push(new);
            true
        }
    }
}

impl JobController {
    /// Mirrors `Controller.syncJob` for a Job that is not finished.
    pub(super) fn look_at(
        &mut self,
        context: &mut Context<'_>,
        job: &Arc<Workload>,
        pods: Vec<&Arc<Pod>>,
        adopted: &[PodKey],
    ) {
        let release = self.reconciler().release;
        let key = job.key();
        let mut status: JobStatus = job.status();
        let indexed = indexed_completions(job, release);
        let active: Vec<_> = pods.iter().copied().filter(|pod| pod.is_active()).collect();
        let mut look = Look {
            job,
            ready: count(active.iter().filter(|pod| pod.has_ready_condition())),
            terminating: count(pods.iter().filter(|pod| pod.is_terminating_replica())),
            active,
            pods,
            succeeded: 0,
            completions: indexed,
            by_index: limit_per_index(job, release),
            policy: job.spec.other.get("podFailurePolicy"),
            succeeded_indexes: Indexes::default(),
            failed_indexes: Indexes::default(),
            delayed: OrderedMap::new(),
            only_replaces_failed: waits_for_the_end(job, release),
        };
        let strict = self.is_strict;
        let state = self.jobs.entry(key.clone()).or_default();
        let pending: OrderedSet<&str> = {
            let counted = &state.counted;
            let is_kept = |pod: &Pod| {
                let marked = pod.has_job_finalizer() || adopted.contains(&pod.key());
                !counted.contains(&pod.key()) && (marked || !strict)
            };
            let pending = look.pods.iter().filter(|pod| is_kept(pod));
            pending.map(|pod| &*pod.metadata.name).collect()
        };
        let is_pending = |pod: &Pod| pending.contains(&*pod.metadata.name);
        let is_new = |look: &Look<'_>, pod: &Pod| is_pending(pod) && look.has_valid_index(pod);

        let (mut new_successes, mut new_failures) = (Vec::new(), Vec::new());
        for pod in look.pods.iter().filter(|pod| is_new(&look, pod)) {
            if pod.status.phase == PodPhase::Succeeded {
                new_successes.push(finish_time(context, pod));
            } else if look.has_failed(pod) {
                new_failures.push((finish_time(context, pod), look.counts(pod)));
            }
        }
        look.succeeded = status.succeeded + count(new_successes.iter());
        let failed = status.failed + count(new_failures.iter().filter(|(_, counts)| *counts));
        let suspended = job.spec.other.get("suspend").is_some_and(|suspend| *suspend == true);
        if status.start_time.is_none() && !suspended {
            status.start_time = Some(context.wall_clock().truncated_to_seconds());
        }
        // Mirrors `newBackoffRecord`.
        let (mut failures, mut last_failure) = (state.failures, state.last_failure);
        let last_success = new_successes.iter().copied().max();
        if last_success.is_some() {
            (failures, last_failure) = (0, None);
        }
        for (ended, _) in &new_failures {
            if last_success.is_none_or(|success| *ended > success) {
                failures = failures.saturating_add(1);
                last_failure = last_failure.max(Some(*ended));
            }
        }
        let backoff_ends = last_failure
            .filter(|_| failures > 0)
            .map(|last| last.unix_seconds().saturating_add(backoff(failures, 600)));

        if let Some(all) = indexed {
            let succeeded =
                |pod: &&&Arc<Pod>| pod.status.phase == PodPhase::Succeeded && is_pending(pod);
            let done = look.pods.iter().filter(succeeded).filter_map(|pod| index_of(pod));
            look.succeeded_indexes = Indexes::completed(all, &status, &[]);
            look.succeeded_indexes.extend(all, done);
            look.succeeded = look.succeeded_indexes.count();
            if look.by_index.is_some() {
                let failed =
                    look.pods.iter().filter(|pod| is_pending(pod) && look.fails_index(pod));
                let failed: Vec<i64> = failed.filter_map(|pod| index_of(pod)).collect();
                look.failed_indexes = Indexes::failed(all, &status);
                look.failed_indexes.extend(all, failed.into_iter());
                look.delayed = delayed_pods(context, &look, |pod| is_new(&look, pod));
            }
        }
        let state = self.jobs.entry(key.clone()).or_default();
        state.failures_of.clear();
        for (index, pod) in &look.delayed {
            let ended = finish_time(context, pod);
            state.failures_of.insert(*index, IndexFailures::after(pod, look.counts(pod), ended));
        }

        let mut finished = self.finished(context, &look, &status, failed, suspended);
        let mut active = count(look.active.iter());
        let known: JobStatus = job.status();
        if finished.is_some() {
            let deletes = look.active.iter().map(|pod| Step::Delete(job.clone(), pod.key()));
            self.reconciler().steps.extend(deletes);
            look.terminating += active;
            (active, look.ready) = (0, 0);
        } else {
            let managed = job.metadata.deletion_timestamp.is_none();
            if managed {
                active = self.manage_tracked(context, &mut look, suspended, backoff_ends);
            }
            let complete = match completions(job) {
                None => look.succeeded > 0 && active == 0,
                Some(completions) => look.succeeded >= completions && active == 0,
            };
            if complete {
                let (reason, message) = if release.names_reached_completions() {
                    ("CompletionsReached", "Reached expected number of succeeded pods")
                } else {
                    ("", "")
                };
                finished = Some(condition(context, SUCCESS_CRITERIA_MET, reason, message));
            } else if managed {
                self.record_suspension(context, job, &mut status, suspended);
            }
        }
        let waits = active == 0 && !look.active.is_empty() && look.ready > 0;
        if waits && !strict && release.refuses_ready_above_active() {
            // Nothing is counted, and no finalizer comes off.
            self.last_sync = JobSync { error: None, forget: false };
            return;
        }
        status.active = active;
        status.other.set("ready", look.ready.into());
        status.other.set("terminating", look.terminating.into());
        status.other.set("uncountedTerminatedPods", Value::Object(serde_json::Map::default()));
        let state = self.jobs.entry(key.clone()).or_default();
        (state.failures, state.last_failure) = (failures, last_failure);
        state.uncounted.clear();

        // Mirrors `trackJobStatusAndRemoveFinalizers`.
        let success = finished.as_ref().is_some_and(|it| it.type_ == SUCCESS_CRITERIA_MET);
        let mut freed = Vec::new();
        for pod in look.pods.iter().copied().filter(|pod| is_pending(pod)) {
            let (succeeded, fails) =
                (pod.status.phase == PodPhase::Succeeded, look.has_failed(pod));
            let is_delayed = || {
                let delayed = index_of(pod).and_then(|index| look.delayed.get(&index));
                delayed.is_some_and(|delayed| delayed.metadata.uid == pod.metadata.uid)
            };
            let all_go = job.metadata.deletion_timestamp.is_some() || finished.is_some();
            if !all_go && !succeeded && (!fails || is_delayed()) {
                continue;
            }
            freed.push(pod);
            if !look.has_valid_index(pod) {
                continue;
            }
            if succeeded {
                status.succeeded += i64::from(indexed.is_none());
            } else if (fails || finished.is_some() && !success) && look.counts(pod) {
                status.failed += 1;
            }
        }
        for pod in freed {
            state.counted.insert(pod.key());
            if pod.has_job_finalizer() || adopted.contains(&pod.key()) {
                self.reconciler.steps.push_back(Step::Finalize(pod.key()));
            }
        }
        if indexed.is_some() {
            status.succeeded = look.succeeded_indexes.count();
            look.succeeded_indexes.record_completed(&mut status);
            if status.succeeded == 0 {
                status.other.set("completedIndexes", Value::Null);
            }
            if look.by_index.is_some() {
                look.failed_indexes.record_failed(&mut status);
            }
        }
        self.conclude(context, &look, &mut status, finished);
        if status != known {
            self.reconciler.steps.push_back(Step::Finish(job.clone(), status));
        }
        self.last_sync = JobSync { error: None, forget: true };
    }

    /// The condition by which a Job has ended or is about to.
    fn finished(
        &mut self,
        context: &mut Context<'_>,
        look: &Look<'_>,
        status: &JobStatus,
        failed: i64,
        suspended: bool,
    ) -> Option<WorkloadCondition> {
        let release = self.reconciler().release;
        let holds = |type_: &str| {
            let known = status.conditions.iter().find(|known| known.type_ == type_);
            known.filter(|known| known.status == ConditionStatus::True)
        };
        if let Some(met) = holds(SUCCESS_CRITERIA_MET) {
            return Some(met.clone());
        }
        if let Some(target) = holds(FAILURE_TARGET) {
            return Some(condition(context, "Failed", &target.reason, &target.message));
        }
        let fails =
            |reason: &str, message: &str| Some(condition(context, FAILURE_TARGET, reason, message));
        let verdicts = look.pods.iter().filter(|pod| look.has_failed(pod));
        let message =
            verdicts.filter_map(|pod| look.verdict(pod)).find_map(|verdict| match verdict {
                Verdict::FailJob(message) => Some(message),
                _ => None,
            });
        if let Some(message) = message {
            return fails("PodFailurePolicy", &message);
        }
        let limit = backoff_limit(look.job, release);
        if failed > limit || has_restarted_too_often(look.job, limit, &look.pods) {
            let message = "Job has reached the specified backoff limit";
            return fails("BackoffLimitExceeded", message);
        }
        let deadline = look.job.number("activeDeadlineSeconds").filter(|_| !suspended);
        let deadline = deadline.zip(status.start_time);
        let deadline = deadline.map(|(wait, since)| since.unix_seconds().saturating_add(wait));
        if deadline.is_some_and(|at| context.wall_clock().unix_seconds() >= at) {
            return fails("DeadlineExceeded", "Job was active longer than specified deadline");
        }
        let all = look.completions.unwrap_or_default();
        let (succeeded, ended) = (look.succeeded, look.failed_indexes.count());
        let failure = look.by_index.and_then(|_| index_failure_of(look.job, all, succeeded, ended));
        if let Some((reason, message)) = failure {
            return fails(reason, &message);
        }
        let policy = look.completions.filter(|_| release.has_job_success_policy());
        let met =
            policy.and_then(|all| match_success_policy(look.job, all, &look.succeeded_indexes));
        if let Some(message) = met {
            return Some(condition(context, SUCCESS_CRITERIA_MET, "SuccessPolicy", &message));
        }
        if !suspended {
            self.plan_deadline(context, look.job, status);
        }
        None
    }

    /// Notes what is about to end a Job, and what has once no pod is terminating. Mirrors
    /// `enactJobFinished` and `recordJobFinished`.
    fn conclude(
        &mut self,
        context: &Context<'_>,
        look: &Look<'_>,
        status: &mut JobStatus,
        finished: Option<WorkloadCondition>,
    ) {
        let Some(found) = finished else { return };
        let complete = found.type_ == SUCCESS_CRITERIA_MET;
        let type_ = if complete { "Complete" } else { "Failed" };
        let last = condition(context, type_, &found.reason, &found.message);
        if found.type_ != type_ && !status.conditions.iter().any(|it| it.type_ == found.type_) {
            status.conditions.push(found);
        }
        if look.terminating > 0 {
            return;
        }
        let key = look.job.key();
        if complete {
            status.completion_time = last.last_transition_time;
            if completions(look.job).is_some_and(|all| status.succeeded > all) {
                let message = "Too many succeeded pods running after completion count reached";
                self.say(&key, "Warning", "TooManySucceededPods", message.to_owned());
            }
            self.say(&key, "Normal", "Completed", "Job completed".to_owned());
        } else {
            let reason = static_reason(&last.reason);
            self.say(&key, "Warning", reason, last.message.clone());
        }
        ensure_condition(status, last);
    }

    fn record_suspension(
        &mut self,
        context: &Context<'_>,
        job: &Workload,
        status: &mut JobStatus,
        suspended: bool,
    ) {
        let (reason, message, event) = if suspended {
            ("JobSuspended", "Job suspended", "Suspended")
        } else {
            ("JobResumed", "Job resumed", "Resumed")
        };
        let mut new = condition(context, "Suspended", reason, message);
        if !suspended {
            new.status = ConditionStatus::False;
        }
        if ensure_condition(status, new) {
            let now = context.wall_clock().truncated_to_seconds();
            status.start_time = (!suspended).then_some(now);
            self.say(&job.key(), "Normal", event, message.to_owned());
        }
    }

    /// Deletes pods that are too many or creates those that are missing; how many are active then.
    /// Mirrors `manageJob`.
    fn manage_tracked(
        &mut self,
        context: &mut Context<'_>,
        look: &mut Look<'_>,
        suspended: bool,
        backoff_ends: Option<i64>,
    ) -> i64 {
        let (job, active) = (look.job, count(look.active.iter()));
        let wanted = match completions(job) {
            _ if suspended => 0,
            None if look.succeeded > 0 => active,
            _ => wanted_at_once(job, look.succeeded, active),
        };
        let surplus = usize::try_from(active - wanted).unwrap_or(0);
        let surplus = surplus_of(look, if suspended { look.active.len() } else { surplus });
        if suspended || !surplus.is_empty() {
            let is_ready =
                |pod: &&&Arc<Pod>| pod.has_ready_condition() && surplus.contains(&pod.key());
            look.ready -= count(look.active.iter().filter(is_ready));
            let deleted = count(surplus.iter());
            look.terminating += deleted;
            let deletes = surplus.into_iter().map(|pod| Step::DeleteSurplus(job.clone(), pod));
            self.reconciler.steps.extend(deletes);
            return active - deleted;
        }
        let terminating = if look.only_replaces_failed { look.terminating } else { 0 };
        let mut missing = wanted - terminating - active;
        if missing <= 0 {
            return active;
        }
        let (key, now) = (job.key(), context.wall_clock().unix_seconds());
        let mut indexes = Vec::new();
        let mut wait = backoff_ends.filter(|at| look.by_index.is_none() && *at > now);
        if let Some(all) = look.completions.filter(|_| wait.is_none()) {
            let mut used = look.succeeded_indexes.clone();
            used.join(&look.failed_indexes);
            let replaced = look.pods.iter().filter(|pod| {
                pod.is_active() || look.only_replaces_failed && pod.is_terminating_replica()
            });
            used.extend(all, replaced.filter_map(|pod| index_of(pod)));
            indexes = used.free(all).take(usize::try_from(missing).unwrap_or(0)).collect();
            if look.by_index.is_some() {
                let ends: Vec<i64> = indexes.iter().map(|it| self.wait_of(&key, *it)).collect();
                let first = ends.iter().copied().min();
                let mut ends = ends.into_iter();
                indexes.retain(|_| ends.next().is_some_and(|end| end <= now));
                wait = first.filter(|_| indexes.is_empty());
            }
            missing = count(indexes.iter());
        }
        if let Some(at) = wait {
            // Those that are active are forgotten here.
            let soonest = context.now.saturating_add(BATCH_PERIOD);
            let at = timestamp(context, at).max(soonest);
            let reason = TimeoutReason::JobBackoff { workload: key.clone() };
            self.reconciler.enqueue_at(context, at, key, reason);
            return 0;
        }
        let mut indexes = indexes.into_iter();
        let batches = slow_start_batches(missing);
        let steps = batches.map(|batch| Step::Create(job.clone(), batch, indexes.next()));
        self.reconciler.steps.extend(steps);
        active + missing
    }

    /// Notes failures until the Job is looked at, remembers which pods without a finalizer were
    /// counted before they were seen, and forgets those that are gone.
    pub(super) fn observe_tracked(
        &mut self,
        context: &Context<'_>,
        owner: &WorkloadKey,
        (key, old, new): (&PodKey, Option<&Pod>, Option<&Pod>),
    ) {
        let job = context.cluster.get_workload(owner);
        let release = self.reconciler.release;
        let replaced_when_failed = job.is_some_and(|job| waits_for_the_end(job, release));
        let state = self.jobs.entry(owner.clone()).or_default();
        let Some(new) = new else {
            state.counted.remove(key);
            state.uncounted.remove(key);
            return;
        };
        let failed = |pod: &Pod| {
            let deleted = pod.is_terminating() && pod.status.phase != PodPhase::Succeeded;
            pod.status.phase == PodPhase::Failed || deleted && !replaced_when_failed
        };
        if failed(new) && old.is_some_and(|old| !failed(old)) && !state.counted.contains(key) {
            state.uncounted.insert(key.clone(), finish_time(context, new));
        }
        if old.is_some() || !new.has_ended() || new.has_job_finalizer() {
            return;
        }
        let status: JobStatus = job.map(|job| job.status()).unwrap_or_default();
        let number = match new.status.phase {
            PodPhase::Succeeded => status.succeeded,
            _ => status.failed,
        };
        if number > 0 {
            state.counted.insert(key.clone());
        }
    }
}

/// Pods to delete: `number` surplus ones, and all without an index or with a duplicate one.
/// Mirrors `activePodsForRemoval`.
fn surplus_of(look: &Look<'_>, number: usize) -> Vec<PodKey> {
    let mut groups: OrderedMap<Option<i64>, Vec<&Arc<Pod>>> = OrderedMap::new();
    if let Some(all) = look.completions {
        for pod in &look.active {
            let index = index_of(pod).filter(|index| (0..all).contains(index));
            groups.entry(index).or_default().push(pod);
        }
    }
    let mut surplus = Vec::new();
    for (index, pods) in &groups {
        let kept = usize::from(index.is_some());
        let number = pods.len().saturating_sub(kept);
        surplus.extend(surplus_pods(pods, number, None, None, &|_| Cost::default()));
    }
    let mut left = look.active.clone();
    left.retain(|pod| !surplus.contains(&pod.key()));
    let more = number.saturating_sub(surplus.len());
    surplus.extend(surplus_pods(&left, more, None, None, &|_| Cost::default()));
    surplus
}

/// The last failed pod of each number that no other one has. Mirrors
/// `getPodsWithDelayedDeletionPerIndex`.
fn delayed_pods<'a>(
    context: &Context<'_>,
    look: &Look<'a>,
    is_new: impl Fn(&Pod) -> bool,
) -> OrderedMap<i64, &'a Arc<Pod>> {
    let mut delayed: OrderedMap<i64, &'a Arc<Pod>> = OrderedMap::new();
    let mut over = look.succeeded_indexes.clone();
    over.join(&look.failed_indexes);
    let all = look.completions.unwrap_or_default();
    over.extend(all, look.active.iter().filter_map(|pod| index_of(pod)));
    for pod in look.pods.iter().copied().filter(|pod| is_new(pod) && look.has_failed(pod)) {
        let Some(index) = index_of(pod).filter(|index| !over.contains(*index)) else { continue };
        let is_later = |known: &Pod| {
            IndexFailures::all_before(known) <= IndexFailures::all_before(pod)
                && finish_time(context, known) <= finish_time(context, pod)
        };
        if delayed.get(&index).is_none_or(|known| is_later(known)) {
            delayed.insert(index, pod);
        }
    }
    delayed
}

/// The reason of an event that a condition gives.
fn static_reason(reason: &str) -> &'static str {
    const REASONS: [&str; 5] = [
        "BackoffLimitExceeded",
        "DeadlineExceeded",
        "FailedIndexes",
        "MaxFailedIndexesExceeded",
        "PodFailurePolicy",
    ];
    REASONS.into_iter().find(|known| *known == reason).unwrap_or("Failed")
}
