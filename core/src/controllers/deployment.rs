//! Deployments: their ReplicaSets, and how one template replaces another.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde_json::json;

use super::workload::{
    HASH_LABEL, Reconcile, Reconciler, WorkloadAction, comparable, count, is_available,
    template_changed,
};
use super::{Context, names};
use crate::api::{IntOrPercent, Pod, Workload, WorkloadKey, WorkloadKind};
use crate::cluster::{Change, Cluster};
use crate::release::{KubernetesRelease, ScalingMessage};

/// The controller of Deployments. Mirrors `pkg/controller/deployment`.
#[derive(Clone, Debug)]
pub struct DeploymentController {
    reconciler: Reconciler<Step>,
    /// The ReplicaSet of each one's present template.
    revisions: BTreeMap<WorkloadKey, String>,
}

/// Whatever it does to a Deployment, it does at once.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {}

/// A ReplicaSet and how many of its pods are available.
struct Set {
    object: Arc<Workload>,
    available: i64,
}

impl Set {
    fn replicas(&self) -> i64 {
        self.object.replicas()
    }
}

impl DeploymentController {
    /// A controller that knows nothing yet: tell it of all workloads and pods.
    #[must_use]
    pub fn new(release: KubernetesRelease) -> Self {
        let reconciler = Reconciler::new(release, WorkloadKind::Deployment);
        Self { reconciler, revisions: BTreeMap::new() }
    }

    /// Of the ReplicaSets that are there, the one that has its Deployment's template, or else the
    /// one with the most pods, is taken to be the present one.
    pub fn adopt_revisions(&mut self, cluster: &Cluster) {
        let all = cluster.workloads().filter(|(key, _)| key.kind == WorkloadKind::Deployment);
        for (key, deployment) in all {
            let template = comparable(&deployment.spec.template);
            let sets = cluster.workloads_owned_by(key).filter_map(|set| cluster.get_workload(set));
            let rank =
                |set: &&Arc<Workload>| (comparable(&set.spec.template) == template, set.replicas());
            if let Some(largest) = sets.max_by_key(rank) {
                self.revisions.insert(key.clone(), largest.metadata.name.clone());
            }
        }
    }

    /// The name of the ReplicaSet of the present template, if it is known.
    #[must_use]
    pub fn revision(&self, key: &WorkloadKey) -> Option<&str> {
        self.revisions.get(key).map(String::as_str)
    }

    /// The ReplicaSet of the present template, if there is one. Mirrors `FindNewReplicaSet`; one
    /// that is inferred, or was imported with the Deployment, is taken to be of the template that
    /// the Deployment had then.
    fn present_set(&mut self, deployment: &Workload, sets: &[Set]) -> Option<String> {
        let key = deployment.key();
        if let Some(revision) = self.revisions.get(&key)
            && sets.iter().any(|set| set.object.metadata.name == *revision)
        {
            return Some(revision.clone());
        }
        let template = comparable(&deployment.spec.template);
        let same = sets.iter().find(|set| comparable(&set.object.spec.template) == template);
        let name = same.map(|set| set.object.metadata.name.clone())?;
        self.revisions.insert(key, name.clone());
        Some(name)
    }

    /// Creates the ReplicaSet of the present template. Mirrors `getNewReplicaSet`.
    fn begin_rollout(&mut self, cluster: &Cluster, deployment: &Workload, old: &[Set]) {
        let key = deployment.key();
        let desired = deployment.replicas();
        let total: i64 = old.iter().map(Set::replicas).sum();
        let recreates = deployment.strategy() == "Recreate";
        let remains = |pod| cluster.get_pod(pod).is_some_and(|pod| !pod.has_ended());
        let pods_left = recreates && cluster.pods_of_workload(&key).iter().any(remains);
        if recreates && (total > 0 || pods_left) {
            for set in old.iter().filter(|set| set.replicas() > 0) {
                self.scale_set(deployment, &set.object, 0);
            }
            return;
        }
        let (surge, _) = limits(deployment);
        let replicas =
            if total == 0 { desired } else { (desired + surge - total).clamp(0, desired) };
        let set = new_set(cluster, deployment, replicas);
        let name = set.metadata.name.clone();
        self.revisions.insert(key.clone(), name.clone());
        self.reconciler.push(WorkloadAction::CreateReplicaSet(Box::new(set)));
        if replicas > 0 {
            let message = match self.reconciler.release.scaling_message() {
                ScalingMessage::FromTo => {
                    format!("Scaled up replica set {name} from 0 to {replicas}")
                }
                ScalingMessage::To | ScalingMessage::ToFrom => {
                    format!("Scaled up replica set {name} to {replicas}")
                }
            };
            self.reconciler.record(&key, "Normal", "ScalingReplicaSet", message);
        }
    }

    /// Mirrors `rolloutRecreate`.
    fn recreate(&mut self, deployment: &Workload, new: &Set, old: &[Set]) {
        let mut scaled = false;
        for set in old.iter().filter(|set| set.replicas() > 0) {
            self.scale_set(deployment, &set.object, 0);
            scaled = true;
        }
        if !scaled && new.replicas() != deployment.replicas() {
            self.scale_set(deployment, &new.object, deployment.replicas());
        }
    }

    /// One step of a rolling update. Mirrors `reconcileNewReplicaSet` and
    /// `reconcileOldReplicaSets`.
    fn roll(&mut self, deployment: &Workload, new: &Set, old: &[Set]) {
        let desired = deployment.replicas();
        let (surge, unavailable) = limits(deployment);
        let total: i64 = new.replicas() + old.iter().map(Set::replicas).sum::<i64>();
        if new.replicas() > desired {
            self.scale_set(deployment, &new.object, desired);
            return;
        }
        let up = (desired + surge - total).min(desired - new.replicas());
        if up > 0 {
            self.scale_set(deployment, &new.object, new.replicas() + up);
            return;
        }
        let least = desired - unavailable;
        let mut room = total - least - (new.replicas() - new.available);
        if room <= 0 {
            return;
        }
        // First those that are of no use, then as many as may be missing.
        let mut left: Vec<i64> = old.iter().map(Set::replicas).collect();
        for (replicas, set) in left.iter_mut().zip(old) {
            let useless = (*replicas - set.available).clamp(0, room);
            *replicas -= useless;
            room -= useless;
        }
        let available = new.available + old.iter().map(|set| set.available).sum::<i64>();
        let mut spare = (available - least).max(0);
        for replicas in &mut left {
            let gone = (*replicas).min(spare);
            *replicas -= gone;
            spare -= gone;
        }
        for (replicas, set) in left.iter().zip(old) {
            if *replicas != set.replicas() {
                self.scale_set(deployment, &set.object, *replicas);
            }
        }
    }

    /// Mirrors `scaleReplicaSet`.
    fn scale_set(&mut self, deployment: &Workload, set: &Workload, replicas: i64) {
        let before = set.replicas();
        let way = if replicas > before { "up" } else { "down" };
        let name = &set.metadata.name;
        let message = match self.reconciler.release.scaling_message() {
            ScalingMessage::To => format!("Scaled {way} replica set {name} to {replicas}"),
            ScalingMessage::ToFrom => {
                format!("Scaled {way} replica set {name} to {replicas} from {before}")
            }
            ScalingMessage::FromTo => {
                format!("Scaled {way} replica set {name} from {before} to {replicas}")
            }
        };
        self.reconciler.push(WorkloadAction::ScaleReplicaSet { workload: set.key(), replicas });
        self.reconciler.record(&deployment.key(), "Normal", "ScalingReplicaSet", message);
    }
}

impl Reconcile for DeploymentController {
    type Step = Step;

    fn reconciler(&mut self) -> &mut Reconciler<Step> {
        &mut self.reconciler
    }

    fn reconciler_ref(&self) -> &Reconciler<Step> {
        &self.reconciler
    }

    fn observe(&mut self, context: &mut Context<'_>, change: &Change) {
        match change {
            Change::Workload { key, old, new: Some(new) } => {
                if key.kind == WorkloadKind::Deployment {
                    if template_changed(old.as_deref(), Some(new)) {
                        self.revisions.remove(key);
                    }
                    self.reconciler.enqueue(context, key.clone());
                }
                if let Some(owner) = new.owner().filter(is_deployment) {
                    self.reconciler.enqueue(context, owner);
                }
            }
            Change::Pod { old, new, .. } => {
                // A rollout goes on when pods are ready, or gone.
                let owner = |pod: Option<&Pod>| pod.and_then(|pod| pod.metadata.controller_key());
                let ready = |pod: Option<&Pod>| pod.is_some_and(Pod::is_ready_replica);
                let (old, new) = (old.as_deref(), new.as_deref());
                let (before, after) = (owner(old), owner(new));
                let same = before == after;
                let sets = [
                    before.filter(|_| !same || new.is_none()),
                    after.filter(|_| if same { ready(old) != ready(new) } else { ready(new) }),
                ];
                for set in sets.into_iter().flatten() {
                    let set = context.cluster.get_workload(&set);
                    if let Some(owner) = set.and_then(|set| set.owner()).filter(is_deployment) {
                        self.reconciler.enqueue(context, owner);
                    }
                }
            }
            Change::Workload { .. }
            | Change::Node { .. }
            | Change::Budget { .. }
            | Change::Lease { .. } => {}
        }
    }

    /// Mirrors `DeploymentController.syncDeployment`.
    fn reconcile(&mut self, context: &mut Context<'_>, key: &WorkloadKey) {
        let Some(deployment) = context.cluster.get_workload(key) else { return };
        if deployment.spec.other.get("paused").is_some_and(|paused| *paused == true) {
            return;
        }
        let sets = sets_of(context, key);
        let present = self.present_set(deployment, &sets);
        let (new, old): (Vec<Set>, Vec<Set>) =
            sets.into_iter().partition(|set| present.as_ref() == Some(&set.object.metadata.name));
        let Some(new) = new.into_iter().next() else {
            self.begin_rollout(context.cluster, deployment, &old);
            return;
        };
        let desired = deployment.replicas();
        let running = old.iter().any(|set| set.replicas() > 0);
        if !running {
            if new.replicas() != desired {
                self.scale_set(deployment, &new.object, desired);
            }
        } else if deployment.strategy() == "Recreate" {
            self.recreate(deployment, &new, &old);
        } else {
            self.roll(deployment, &new, &old);
        }
        for set in old.iter().chain([&new]) {
            self.reconciler.await_availability(context, &set.object);
        }
    }

    fn step(&mut self, _: &mut Context<'_>, step: Step) {
        match step {}
    }

    /// Pods of a ReplicaSet will be available.
    fn woken(&mut self, context: &mut Context<'_>, key: WorkloadKey) {
        let set = context.cluster.get_workload(&key);
        if let Some(owner) = set.and_then(|set| set.owner()).filter(is_deployment) {
            self.reconciler.enqueue(context, owner);
        }
    }
}

fn is_deployment(key: &WorkloadKey) -> bool {
    key.kind == WorkloadKind::Deployment
}

/// The ReplicaSets of a Deployment by name.
fn sets_of(context: &Context<'_>, key: &WorkloadKey) -> Vec<Set> {
    let cluster = context.cluster;
    let set = |child: &WorkloadKey| {
        let object = cluster.get_workload(child)?.clone();
        let owned = cluster.owned_pods(child);
        let available = if object.number("minReadySeconds").unwrap_or(0) == 0 {
            owned.ready
        } else {
            let pods = owned.pods.iter().filter_map(|pod| cluster.get_pod(pod));
            count(pods.filter(|pod| pod.is_ready_replica() && is_available(context, &object, pod)))
        };
        Some(Set { object, available })
    };
    cluster.workloads_owned_by(key).filter_map(set).collect()
}

/// A ReplicaSet of the present template, under a name that none has.
fn new_set(cluster: &Cluster, deployment: &Workload, replicas: i64) -> Workload {
    let mut hash = template_hash(deployment);
    let taken = |name: &str| {
        let namespace = &deployment.metadata.namespace;
        let set = WorkloadKey::new(WorkloadKind::ReplicaSet, namespace, name);
        cluster.get_workload(&set).is_some()
    };
    let mut name = replica_set_name(deployment, &hash);
    while taken(&name) {
        hash = names::template_hash(&name);
        name = replica_set_name(deployment, &hash);
    }
    replica_set_of(deployment, &hash, replicas)
}

/// What tells the pods of a Deployment's template from those of another.
pub(super) fn template_hash(deployment: &Workload) -> String {
    names::template_hash(&comparable(&deployment.spec.template))
}

fn replica_set_name(deployment: &Workload, hash: &str) -> String {
    format!("{}-{hash}", deployment.metadata.name)
}

/// The ReplicaSet of a Deployment's template. Mirrors `getNewReplicaSet`.
pub(super) fn replica_set_of(deployment: &Workload, hash: &str, replicas: i64) -> Workload {
    let mut set = Workload {
        api_version: WorkloadKind::ReplicaSet.api_version().into(),
        kind: WorkloadKind::ReplicaSet,
        ..Workload::default()
    };
    set.metadata.name = replica_set_name(deployment, hash);
    set.metadata.namespace.clone_from(&deployment.metadata.namespace);
    set.metadata.labels.clone_from(&deployment.spec.template.metadata.labels);
    set.metadata.labels.insert(HASH_LABEL.into(), hash.into());
    set.metadata.owner_references.push(deployment.owner_reference());
    set.spec.replicas = Some(replicas);
    set.spec.template = deployment.spec.template.clone();
    set.spec.template.metadata.labels.insert(HASH_LABEL.into(), hash.into());
    let mut selector = deployment.spec.selector.clone().unwrap_or_else(|| json!({}));
    if let Some(map) = selector.as_object_mut() {
        let labels = map.entry("matchLabels").or_insert_with(|| json!({}));
        if let Some(labels) = labels.as_object_mut() {
            labels.insert(HASH_LABEL.into(), hash.into());
        }
    }
    set.spec.selector = Some(selector);
    if let Some(seconds) = deployment.number("minReadySeconds") {
        set.spec.other.set("minReadySeconds", seconds.into());
    }
    set
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
