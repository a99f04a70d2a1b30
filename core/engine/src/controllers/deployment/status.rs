//! The status of a Deployment: counts, conditions, and whether a rollout makes progress. Mirrors
//! `pkg/controller/deployment/progress.go`.

use alloc::format;
use alloc::string::{String, ToString};

use taintlab_rules::api::{ConditionStatus, DeploymentStatus, WorkloadCondition};
use taintlab_rules::time::Time;

use super::super::workload::REPLICA_FAILURE;
use super::rollout::{Rollout, Set};

pub(super) const PROGRESSING: &str = "Progressing";
const NEW_SET_AVAILABLE: &str = "NewReplicaSetAvailable";
const TIMED_OUT: &str = "ProgressDeadlineExceeded";
const PAUSED: &str = "DeploymentPaused";

fn condition(
    now: Time,
    type_: &str,
    status: ConditionStatus,
    reason: &str,
    message: String,
) -> WorkloadCondition {
    WorkloadCondition {
        type_: type_.into(),
        status,
        last_update_time: Some(now),
        last_transition_time: Some(now),
        reason: reason.into(),
        message,
        ..WorkloadCondition::default()
    }
}

impl Rollout<'_> {
    /// A rollout begins, or is found that nobody has noted.
    pub(super) fn record_new_set(&mut self, created: bool, name: &str) {
        if self.progress_deadline.is_none()
            || (!created && self.status.condition(PROGRESSING).is_some())
        {
            return;
        }
        let (reason, message) = if created {
            ("NewReplicaSetCreated", format!("Created new replica set \"{name}\""))
        } else {
            ("FoundNewReplicaSet", format!("Found new replica set \"{name}\""))
        };
        let status = ConditionStatus::True;
        self.status.set_condition(condition(self.now, PROGRESSING, status, reason, message));
        self.write = true;
    }

    /// Mirrors `checkPausedConditions`.
    pub(super) fn check_paused(&mut self) {
        if self.progress_deadline.is_none() {
            return;
        }
        let known = self.status.condition(PROGRESSING).map(|known| known.reason.as_str());
        let (reason, message) = match (self.paused, known) {
            (_, Some(TIMED_OUT)) | (true, Some(PAUSED)) => return,
            (true, _) => (PAUSED, "Deployment is paused"),
            (false, Some(PAUSED)) => ("DeploymentResumed", "Deployment is resumed"),
            (false, _) => return,
        };
        let status = ConditionStatus::Unknown;
        let paused = condition(self.now, PROGRESSING, status, reason, message.into());
        self.status.set_condition(paused);
        self.write = true;
    }

    /// Mirrors `calculateStatus`.
    fn calculate_status(&self, all: &[Set], new: Option<&Set>) -> DeploymentStatus {
        let available: i64 = all.iter().map(|set| set.status.available_replicas).sum();
        let total: i64 = all.iter().map(Set::replicas).sum();
        let mut status = DeploymentStatus {
            observed_generation: self.deployment.generation(),
            replicas: all.iter().map(|set| set.status.replicas).sum(),
            updated_replicas: new.map_or(0, |set| set.status.replicas),
            ready_replicas: all.iter().map(|set| set.status.ready_replicas).sum(),
            available_replicas: available,
            unavailable_replicas: (total - available).max(0),
            terminating_replicas: if self.counts_terminating() {
                // A ReplicaSet that was never looked at has none.
                let count = |set: &Set| {
                    let never = set.status.observed_generation == 0;
                    set.status.terminating_replicas.or_else(|| never.then_some(0))
                };
                all.iter().try_fold(0, |sum, set| Some(sum + count(set)?))
            } else {
                None
            },
            conditions: self.status.conditions.clone(),
            collision_count: self.status.collision_count,
        };
        let (holds, reason, message) = if available >= self.desired - self.max_unavailable {
            let message = "Deployment has minimum availability.";
            (ConditionStatus::True, "MinimumReplicasAvailable", message)
        } else {
            let message = "Deployment does not have minimum availability.";
            (ConditionStatus::False, "MinimumReplicasUnavailable", message)
        };
        status.set_condition(condition(self.now, "Available", holds, reason, message.into()));
        status
    }

    /// Mirrors `syncDeploymentStatus`.
    pub(super) fn sync_status(&mut self, all: &[Set], new: Option<&Set>) {
        let status = self.calculate_status(all, new);
        self.write |= status != self.status;
        self.status = status;
    }

    /// Mirrors `DeploymentComplete`.
    pub(super) fn is_complete(&self, status: &DeploymentStatus) -> bool {
        status.updated_replicas == self.desired
            && status.replicas == self.desired
            && status.available_replicas == self.desired
            && status.observed_generation >= self.deployment.generation()
    }

    /// Mirrors `DeploymentProgressing`.
    fn has_progressed(&self, status: &DeploymentStatus) -> bool {
        let known = &self.status;
        let old = |status: &DeploymentStatus| status.replicas - status.updated_replicas;
        status.updated_replicas > known.updated_replicas
            || old(status) < old(known)
            || status.ready_replicas > known.ready_replicas
            || status.available_replicas > known.available_replicas
    }

    /// When a rollout that has this status runs out of time, in seconds since 1970.
    fn deadline(&self, known: &WorkloadCondition) -> Option<i64> {
        let since = known.last_update_time.unwrap_or(Time::ZERO_OF_GO);
        Some(since.unix_seconds().saturating_add(self.progress_deadline?))
    }

    /// Mirrors `DeploymentTimedOut`.
    fn has_timed_out(&self, status: &DeploymentStatus) -> bool {
        let Some(known) = status.condition(PROGRESSING) else { return false };
        match known.reason.as_str() {
            NEW_SET_AVAILABLE => false,
            TIMED_OUT => true,
            _ => self.deadline(known).is_some_and(|at| at < self.now.unix_seconds()),
        }
    }

    /// Mirrors `syncRolloutStatus`.
    pub(super) fn sync_rollout_status(&mut self, all: &[Set], new: Option<&Set>) {
        let mut status = self.calculate_status(all, new);
        let known = self.status.condition(PROGRESSING).cloned();
        if self.progress_deadline.is_none() {
            status.remove_condition(PROGRESSING);
        }
        let was_complete = status.replicas == status.updated_replicas
            && known.as_ref().is_some_and(|known| known.reason == NEW_SET_AVAILABLE);
        if self.progress_deadline.is_some() && !was_complete {
            self.record_progress(&mut status, known.as_ref(), new);
        }
        match self.replica_failure(all, new) {
            Some(failure) => status.set_condition(failure),
            None => status.remove_condition(REPLICA_FAILURE),
        }
        if status != self.status {
            self.status = status;
            self.write = true;
        } else if !self.is_complete(&status)
            && let Some(known) = known
            && known.reason != TIMED_OUT
            && known.reason != NEW_SET_AVAILABLE
        {
            // A second later than the deadline, which counts when it has passed.
            let at = self.deadline(&known).map(|at| at.saturating_add(1));
            self.look_again = at.filter(|at| *at > self.now.unix_seconds());
        }
    }

    fn record_progress(
        &self,
        status: &mut DeploymentStatus,
        known: Option<&WorkloadCondition>,
        new: Option<&Set>,
    ) {
        let name = &self.deployment.metadata.name;
        let subject = new.map_or_else(
            || format!("Deployment \"{name}\""),
            |set| format!("ReplicaSet \"{}\"", set.name()),
        );
        let say = |status, reason, what: &str| {
            condition(self.now, PROGRESSING, status, reason, subject.clone() + what)
        };
        if self.is_complete(status) {
            let what = " has successfully progressed.";
            status.set_condition(say(ConditionStatus::True, NEW_SET_AVAILABLE, what));
        } else if self.has_progressed(status) {
            let mut progress = say(ConditionStatus::True, "ReplicaSetUpdated", " is progressing.");
            if let Some(known) = known {
                if known.status == ConditionStatus::True {
                    progress.last_transition_time = known.last_transition_time;
                }
                status.remove_condition(PROGRESSING);
            }
            status.set_condition(progress);
        } else if self.has_timed_out(status) {
            let what = " has timed out progressing.";
            status.set_condition(say(ConditionStatus::False, TIMED_OUT, what));
        }
    }

    /// What keeps a ReplicaSet from creating its pods, that of the present template first. Mirrors
    /// `getReplicaFailures`.
    fn replica_failure(&self, all: &[Set], new: Option<&Set>) -> Option<WorkloadCondition> {
        let sets = new.into_iter().chain(all);
        let mut conditions = sets.flat_map(|set| &set.status.conditions);
        let failure = conditions.find(|condition| condition.type_ == REPLICA_FAILURE)?;
        Some(WorkloadCondition {
            last_update_time: failure.last_transition_time,
            message: failure.message.to_string(),
            ..failure.clone()
        })
    }
}
