//! One look at a Deployment: which ReplicaSets are created, scaled and deleted.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Reverse;

use serde_json::{Map, Value};
use taintlab_rules::api::{DeploymentStatus, IntOrPercent, PodPhase, ReplicaSetStatus, Workload};
use taintlab_rules::cluster::Cluster;
use taintlab_rules::order::Order;
use taintlab_rules::protocol::{ObjectReference, RecordedEvent};
use taintlab_rules::release::{KubernetesRelease, ScalingMessage};
use taintlab_rules::time::Time;

use super::super::workload::{WorkloadAction, component};
use super::annotations::{
    REVISION, desired_replicas, max_replicas, revision, set_replicas, sync_new,
};
use super::new_set;

/// What `progressDeadlineSeconds` and `revisionHistoryLimit` are if there is no limit.
const NO_LIMIT: i64 = i32::MAX as i64;

/// A ReplicaSet.
#[derive(Clone, Debug)]
pub(super) struct Set {
    pub(super) object: Arc<Workload>,
    pub(super) status: ReplicaSetStatus,
}

impl Set {
    pub(super) fn new(object: Arc<Workload>) -> Self {
        Self { status: object.status(), object }
    }

    pub(super) fn name(&self) -> &str {
        &self.object.metadata.name
    }

    pub(super) fn replicas(&self) -> i64 {
        self.object.replicas()
    }

    /// What ReplicaSets are sorted by. Mirrors `ReplicaSetsByCreationTimestamp`.
    pub(super) fn age(&self) -> (Option<Time>, String) {
        (self.object.metadata.creation_timestamp, self.name().to_string())
    }
}

fn total(sets: &[Set]) -> i64 {
    sets.iter().map(Set::replicas).sum()
}

fn active(sets: &[Set]) -> Vec<Set> {
    sets.iter().filter(|set| set.replicas() > 0).cloned().collect()
}

fn all_of(old: &[Set], new: Option<&Set>) -> Vec<Set> {
    old.iter().chain(new).cloned().collect()
}

/// One look at a Deployment. Mirrors `syncDeployment` and what it calls; what it does is kept in
/// `actions`, so that it sees all objects as they were at its beginning.
pub(super) struct Rollout<'a> {
    release: KubernetesRelease,
    pub(super) now: Time,
    pub(super) deployment: &'a Workload,
    pub(super) desired: i64,
    pub(super) paused: bool,
    /// `progressDeadlineSeconds`, unless there is none.
    pub(super) progress_deadline: Option<i64>,
    rolling: bool,
    max_surge: i64,
    pub(super) max_unavailable: i64,
    /// The ReplicaSet of the present template, and the others, the oldest first.
    present: Option<Set>,
    old: Vec<Set>,
    /// The status as it is written up to now, whether it is to be, and with which annotations.
    pub(super) status: DeploymentStatus,
    pub(super) write: bool,
    pub(super) annotations: BTreeMap<String, String>,
    /// What is to be done, and the name of the ReplicaSet that is created.
    pub(super) actions: Vec<WorkloadAction>,
    pub(super) created: Option<String>,
    /// When it is to be looked at again, in seconds since 1970.
    pub(super) look_again: Option<i64>,
}

impl<'a> Rollout<'a> {
    /// `sets` are the Deployment's ReplicaSets, the oldest first; `present` is the place of that of
    /// the present template.
    pub(super) fn new(
        release: KubernetesRelease,
        now: Time,
        deployment: &'a Workload,
        sets: Vec<Set>,
        present: Option<usize>,
    ) -> Self {
        let mut old = sets;
        let present = present.filter(|place| *place < old.len()).map(|place| old.remove(place));
        let desired = deployment.replicas();
        let rolling = deployment.strategy() != "Recreate";
        let (max_surge, max_unavailable) = if rolling { limits(deployment) } else { (0, 0) };
        let limit = deployment.number("progressDeadlineSeconds").unwrap_or(600);
        Self {
            release,
            now,
            deployment,
            desired,
            paused: deployment.spec.other.get("paused").is_some_and(|paused| *paused == true),
            progress_deadline: (limit != NO_LIMIT).then_some(limit),
            rolling,
            max_surge,
            max_unavailable: if desired == 0 { 0 } else { max_unavailable },
            present,
            old,
            status: deployment.status(),
            write: false,
            annotations: BTreeMap::new(),
            actions: Vec::new(),
            created: None,
            look_again: None,
        }
    }

    /// Mirrors `syncDeployment`.
    pub(super) fn sync(&mut self, cluster: &Cluster) {
        if selects_all(self.deployment) {
            let message =
                "This deployment is selecting all pods. A non-empty selector is required.";
            self.record("Warning", "SelectingAll", message.to_string());
            if self.status.observed_generation < self.deployment.generation() {
                self.status.observed_generation = self.deployment.generation();
                self.write = true;
            }
            return;
        }
        if self.deployment.metadata.deletion_timestamp.is_some() {
            let present = self.present_set();
            let all = all_of(&self.old, present.as_ref());
            self.sync_status(&all, present.as_ref());
            return;
        }
        self.check_paused();
        if self.paused || self.is_scaling_event() {
            self.sync_scale();
        } else if self.rolling {
            self.roll(cluster);
        } else {
            self.recreate(cluster);
        }
    }

    /// Whether statuses say how many pods are terminating.
    pub(super) const fn counts_terminating(&self) -> bool {
        self.release.counts_terminating_replicas()
    }

    fn record(&mut self, type_: &'static str, reason: &'static str, message: String) {
        let workload = self.deployment.key();
        let component = component(workload.kind);
        let involved_object = ObjectReference::Workload { workload };
        let event = RecordedEvent { involved_object, type_, reason, message, component };
        self.actions.push(WorkloadAction::RecordEvent(event));
    }

    /// The ReplicaSet of the present template with its annotations brought up to date. Mirrors
    /// `getNewReplicaSet` where there is one.
    fn present_set(&mut self) -> Option<Set> {
        let mut set = self.present.clone()?;
        let mut annotations = set.object.metadata.annotations.clone();
        let newest = self.newest_revision();
        let noted = sync_new(self.deployment, &mut annotations, newest);
        let min_ready = |workload: &Workload| workload.number("minReadySeconds").unwrap_or(0);
        let wanted = min_ready(self.deployment);
        if noted || min_ready(&set.object) != wanted {
            let mut object = Workload::clone(&set.object);
            object.metadata.annotations = annotations;
            let wanted = if wanted == 0 { serde_json::Value::Null } else { wanted.into() };
            object.spec.other.set("minReadySeconds", wanted);
            self.actions.push(WorkloadAction::UpdateReplicaSet(Box::new(object.clone())));
            set.object = Arc::new(object);
            return Some(set);
        }
        self.record_revision(annotations.remove(REVISION).unwrap_or_default());
        self.record_new_set(false, set.name());
        Some(set)
    }

    /// The revision after those of the old ReplicaSets. Mirrors `MaxRevision`.
    fn newest_revision(&self) -> i64 {
        let newest = self.old.iter().map(|old| revision(&old.object)).max();
        newest.unwrap_or(0).max(0).saturating_add(1)
    }

    /// Mirrors `SetDeploymentRevision`.
    fn record_revision(&mut self, revision: String) {
        let noted = self.annotations.get(REVISION);
        let noted = noted.or_else(|| self.deployment.metadata.annotations.get(REVISION));
        if noted != Some(&revision) {
            self.annotations.insert(REVISION.into(), revision);
            self.write = true;
        }
    }

    /// Creates the ReplicaSet of the present template. Mirrors `getNewReplicaSet` where there is
    /// none.
    fn create_set(&mut self, cluster: &Cluster) -> Set {
        let replicas = self.new_replicas(total(&self.old), 0);
        let mut object = new_set(cluster, self.deployment, replicas);
        let newest = self.newest_revision();
        let annotations = &mut object.metadata.annotations;
        sync_new(self.deployment, annotations, newest);
        set_replicas(annotations, self.desired, self.desired + self.max_surge);
        let name = object.metadata.name.clone();
        self.actions.push(WorkloadAction::CreateReplicaSet(Box::new(object.clone())));
        if replicas > 0 {
            let message = match self.release.scaling_message() {
                ScalingMessage::FromTo => {
                    format!("Scaled up replica set {name} from 0 to {replicas}")
                }
                ScalingMessage::To | ScalingMessage::ToFrom => {
                    format!("Scaled up replica set {name} to {replicas}")
                }
            };
            self.record("Normal", "ScalingReplicaSet", message);
        }
        self.record_revision(newest.to_string());
        self.record_new_set(true, &name);
        self.created = Some(name);
        Set { object: Arc::new(object), status: ReplicaSetStatus::default() }
    }

    /// Mirrors `NewRSNewReplicas`.
    fn new_replicas(&self, total: i64, replicas: i64) -> i64 {
        if !self.rolling {
            return self.desired;
        }
        let room = self.desired + self.max_surge - total;
        if room <= 0 { replicas } else { replicas + room.min(self.desired - replicas) }
    }

    /// Mirrors `isScalingEvent`.
    fn is_scaling_event(&mut self) -> bool {
        let present = self.present_set();
        let all = active(&all_of(&self.old, present.as_ref()));
        let mut desired = all.iter().filter_map(|set| desired_replicas(&set.object));
        desired.any(|desired| desired != self.desired)
    }

    /// Mirrors `DeploymentController.sync`.
    fn sync_scale(&mut self) {
        let present = self.present_set();
        self.scale(present.as_ref());
        if self.paused {
            self.clean_up();
        }
        let all = all_of(&self.old, present.as_ref());
        self.sync_status(&all, present.as_ref());
    }

    /// Scales all ReplicaSets in proportion. Mirrors `DeploymentController.scale`.
    fn scale(&mut self, present: Option<&Set>) {
        let newest_first: Vec<Set> = self.old.iter().rev().cloned().collect();
        let mut sets = active(&all_of(&newest_first, present));
        let latest = || present.or(newest_first.first()).cloned();
        let only = if sets.len() <= 1 { sets.first().cloned().or_else(latest) } else { None };
        if sets.len() <= 1 {
            if let Some(set) = only {
                self.scale_to(&set, self.desired);
            }
            return;
        }
        if present.is_some_and(|set| self.is_saturated(set)) {
            for set in active(&newest_first) {
                self.scale_to(&set, 0);
            }
            return;
        }
        if !self.rolling {
            return;
        }
        let allowed = if self.desired > 0 { self.desired + self.max_surge } else { 0 };
        let to_add = allowed - total(&sets);
        if to_add > 0 {
            sets.order_by_key(|set| (Reverse(set.replicas()), Reverse(set.age())));
        } else if to_add < 0 {
            sets.order_by_key(|set| (Reverse(set.replicas()), set.age()));
        }
        let mut added = 0;
        let mut sizes = Vec::new();
        for set in &sets {
            let part = self.proportion(set, to_add, added);
            added += part;
            sizes.push(set.replicas() + part);
        }
        if let Some(first) = sizes.first_mut().filter(|_| to_add != 0) {
            *first = (*first + to_add - added).max(0);
        }
        let way = if to_add > 0 { "up" } else { "down" };
        for (set, size) in sets.iter().zip(sizes) {
            self.scale_set(set, size, way);
        }
    }

    /// Mirrors `IsSaturated`.
    fn is_saturated(&self, set: &Set) -> bool {
        set.replicas() == self.desired
            && desired_replicas(&set.object) == Some(self.desired)
            && set.status.available_replicas == self.desired
    }

    /// How many pods a ReplicaSet gets of those that are added, or removed. Mirrors
    /// `GetProportion`.
    fn proportion(&self, set: &Set, to_add: i64, added: i64) -> i64 {
        if set.replicas() == 0 || to_add == 0 || to_add == added {
            return 0;
        }
        let part = self.fraction(set);
        let left = to_add - added;
        if to_add > 0 { part.min(left) } else { part.max(left) }
    }

    /// Mirrors `getReplicaSetFraction`, which rounds half away from zero; in Go, what is not a
    /// number of 32 bits becomes the smallest one.
    fn fraction(&self, set: &Set) -> i64 {
        let replicas = set.replicas();
        if self.desired == 0 {
            return -replicas;
        }
        let int = |number: i64| i32::try_from(number).unwrap_or(i32::MAX);
        let size = int(replicas).wrapping_mul(int(self.desired + self.max_surge));
        let size = i64::from(size) * 2;
        let before = max_replicas(&set.object).unwrap_or(self.status.replicas);
        let half = if before < 0 { -1 } else { 1 } * before.saturating_mul(size.signum());
        let size = size.saturating_add(half).checked_div(before.saturating_mul(2));
        let size = size.and_then(|size| i32::try_from(size).ok()).unwrap_or(i32::MIN);
        i64::from(size.wrapping_sub(i32::try_from(replicas).unwrap_or(i32::MAX)))
    }

    /// Mirrors `scaleReplicaSetAndRecordEvent`.
    fn scale_to(&mut self, set: &Set, replicas: i64) -> (bool, Set) {
        if set.replicas() == replicas {
            return (false, set.clone());
        }
        let way = if replicas > set.replicas() { "up" } else { "down" };
        self.scale_set(set, replicas, way)
    }

    /// Mirrors `scaleReplicaSet`.
    fn scale_set(&mut self, set: &Set, replicas: i64, way: &str) -> (bool, Set) {
        let before = set.replicas();
        let mut object = Workload::clone(&set.object);
        object.spec.replicas = Some(replicas);
        let max = self.desired + self.max_surge;
        let noted = set_replicas(&mut object.metadata.annotations, self.desired, max);
        if !noted && replicas == before {
            return (false, set.clone());
        }
        self.actions.push(WorkloadAction::UpdateReplicaSet(Box::new(object.clone())));
        if replicas != before {
            let name = set.name();
            let way = match self.release.says_which_way_each_set_is_scaled() {
                true if replicas > before => "up",
                true => "down",
                false => way,
            };
            let message = match self.release.scaling_message() {
                ScalingMessage::To => format!("Scaled {way} replica set {name} to {replicas}"),
                ScalingMessage::ToFrom => {
                    format!("Scaled {way} replica set {name} to {replicas} from {before}")
                }
                ScalingMessage::FromTo => {
                    format!("Scaled {way} replica set {name} from {before} to {replicas}")
                }
            };
            self.record("Normal", "ScalingReplicaSet", message);
        }
        let scaled = Set { object: Arc::new(object), status: set.status.clone() };
        (replicas != before, scaled)
    }

    /// Deletes the oldest ReplicaSets above `revisionHistoryLimit`. Mirrors `cleanupDeployment`.
    fn clean_up(&mut self) {
        let limit = self.deployment.number("revisionHistoryLimit").unwrap_or(10);
        if limit == NO_LIMIT {
            return;
        }
        let alive = |set: &&Set| set.object.metadata.deletion_timestamp.is_none();
        let old: Vec<&Set> = self.old.iter().filter(alive).collect();
        let surplus = old.len().saturating_sub(usize::try_from(limit).unwrap_or(0));
        let deleted = old.into_iter().take(surplus).filter(|set| {
            set.status.replicas == 0
                && set.replicas() == 0
                && set.object.generation() <= set.status.observed_generation
        });
        let deletes = deleted.map(|set| WorkloadAction::DeleteWorkload(set.object.key()));
        self.actions.extend(deletes.collect::<Vec<_>>());
    }

    /// Mirrors `rolloutRolling`.
    fn roll(&mut self, cluster: &Cluster) {
        let new = match self.present_set() {
            Some(present) => present,
            None => self.create_set(cluster),
        };
        let all = all_of(&self.old, Some(&new));
        let scaled_up = new.replicas() != self.desired && {
            let replicas = if new.replicas() > self.desired {
                self.desired
            } else {
                self.new_replicas(total(&all), new.replicas())
            };
            self.scale_to(&new, replicas).0
        };
        if !scaled_up && !self.scale_down_old(&all, &new) && self.is_complete(&self.status) {
            self.clean_up();
        }
        self.sync_rollout_status(&all, Some(&new));
    }

    /// Takes pods from old ReplicaSets: first those that are of no use, then as many as may be
    /// missing; whether there were any. Mirrors `reconcileOldReplicaSets`.
    fn scale_down_old(&mut self, all: &[Set], new: &Set) -> bool {
        let mut old = active(&self.old);
        let least = self.desired - self.max_unavailable;
        let unavailable = new.replicas() - new.status.available_replicas;
        let room = total(all) - least - unavailable;
        if total(&old) == 0 || room <= 0 {
            return false;
        }
        let mut removed = 0;
        for set in &mut old {
            let useless = set.replicas() - set.status.available_replicas;
            if removed >= room {
                break;
            }
            if set.replicas() == 0 || useless == 0 {
                continue;
            }
            let number = useless.min(room - removed);
            if number < 0 {
                // Upstream refuses to scale down to more than there are.
                return false;
            }
            (_, *set) = self.scale_to(set, set.replicas() - number);
            removed += number;
        }
        let available: i64 = old.iter().chain([new]).map(|set| set.status.available_replicas).sum();
        let spare = available - least;
        let mut taken = 0;
        for set in &old {
            if taken >= spare {
                break;
            }
            let number = set.replicas().min(spare - taken);
            if number > 0 {
                self.scale_to(set, set.replicas() - number);
                taken += number;
            }
        }
        removed + taken > 0
    }

    /// Mirrors `rolloutRecreate`.
    fn recreate(&mut self, cluster: &Cluster) {
        let mut new = self.present_set();
        let mut all = all_of(&self.old, new.as_ref());
        let mut scaled_down = false;
        for set in active(&self.old) {
            scaled_down |= self.scale_to(&set, 0).0;
        }
        if !scaled_down && !self.old_pods_running(cluster) {
            let present = match new {
                Some(present) => present,
                None => self.create_set(cluster),
            };
            all = all_of(&self.old, Some(&present));
            self.scale_to(&present, self.desired);
            if self.is_complete(&self.status) {
                self.clean_up();
            }
            new = Some(present);
        }
        self.sync_rollout_status(&all, new.as_ref());
    }

    /// Mirrors `oldPodsRunning`.
    fn old_pods_running(&self, cluster: &Cluster) -> bool {
        if self.old.iter().any(|set| set.status.replicas > 0) {
            return true;
        }
        let selector = self.deployment.selector().ok();
        let runs = |key| {
            cluster.get_pod(key).is_some_and(|pod| {
                !matches!(pod.status.phase, PodPhase::Succeeded | PodPhase::Failed)
                    && selector.as_ref().is_none_or(|s| s.matches(&pod.metadata.labels))
            })
        };
        self.old.iter().any(|set| cluster.owned_pods(&set.object.key()).pods.iter().any(runs))
    }
}

/// Whether a Deployment has a selector that requires nothing.
fn selects_all(deployment: &Workload) -> bool {
    let Some(selector) = &deployment.spec.selector else { return false };
    // Most require labels, so that nothing has to be read to tell.
    let labels = selector.get("matchLabels").and_then(Value::as_object);
    labels.is_none_or(Map::is_empty)
        && deployment.selector().is_ok_and(|selector| selector.requirements.is_empty())
}

/// `maxSurge` and `maxUnavailable`, not both zero. Mirrors `ResolveFenceposts`.
fn limits(deployment: &Workload) -> (i64, i64) {
    let desired = deployment.replicas();
    // What cannot be read was refused.
    let read = |name| deployment.rolling_update(name).ok().flatten();
    let part = IntOrPercent::Percent(25);
    let surge = read("maxSurge").unwrap_or(part).of(desired, true);
    let unavailable = read("maxUnavailable").unwrap_or(part).of(desired, false).min(desired);
    if surge == 0 && unavailable == 0 { (0, 1) } else { (surge, unavailable) }
}
