//! Deployments: their ReplicaSets, and how one template replaces another.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde_json::json;

use super::super::Simulator;
use super::{names, track};
use crate::api::{IntOrPercent, PodTemplate, Workload, WorkloadKey, WorkloadKind};
use crate::release::ScalingMessage;

/// The label that tells the pods of one template from those of another.
const HASH_LABEL: &str = "pod-template-hash";

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

impl Simulator {
    /// Mirrors `DeploymentController.syncDeployment`.
    pub(super) fn reconcile_deployment(&mut self, deployment: &Arc<Workload>) {
        let key = deployment.key();
        if deployment.spec.other.get("paused").is_some_and(|paused| *paused == true) {
            return;
        }
        let sets = self.sets_of(&key);
        let present = self.present_set(deployment, &sets);
        let (new, old): (Vec<Set>, Vec<Set>) =
            sets.into_iter().partition(|set| present.as_ref() == Some(&set.object.metadata.name));
        let Some(new) = new.into_iter().next() else {
            self.begin_rollout(deployment, &old);
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
        for set in &old {
            self.await_availability(&set.object);
        }
        self.await_availability(&new.object);
    }

    /// Its ReplicaSets by name.
    fn sets_of(&self, key: &WorkloadKey) -> Vec<Set> {
        let Some(tracked) = self.tracked(key) else { return Vec::new() };
        let set = |child: &WorkloadKey| {
            let object = self.cluster.get_workload(child)?.clone();
            let known = self.tracked(child)?;
            let available = if object.number("minReadySeconds").unwrap_or(0) == 0 {
                known.ready
            } else {
                let pods = known.pods.iter().filter_map(|pod| self.cluster.get_pod(pod));
                let available =
                    pods.filter(|pod| track::is_ready(pod) && self.is_available(&object, pod));
                i64::try_from(available.count()).unwrap_or(i64::MAX)
            };
            Some(Set { object, available })
        };
        tracked.children.iter().filter_map(set).collect()
    }

    /// The ReplicaSet of the present template, if there is one. Mirrors `FindNewReplicaSet`; one
    /// that is assumed, or was imported with the Deployment, is taken to be of the template that the
    /// Deployment had then.
    fn present_set(&mut self, deployment: &Workload, sets: &[Set]) -> Option<String> {
        let key = deployment.key();
        let revision = self.tracked(&key).map(|tracked| tracked.revision.clone())?;
        if sets.iter().any(|set| set.object.metadata.name == revision) {
            return Some(revision);
        }
        let template = comparable(&deployment.spec.template);
        let same = sets.iter().find(|set| comparable(&set.object.spec.template) == template);
        let name = same.map(|set| set.object.metadata.name.clone())?;
        self.set_revision(&key, &name);
        Some(name)
    }

    pub(super) fn set_revision(&mut self, key: &WorkloadKey, revision: &str) {
        let control = self.control.as_mut();
        if let Some(tracked) = control.and_then(|control| control.tracked.get_mut(key)) {
            tracked.revision = revision.into();
        }
    }

    /// Creates the ReplicaSet of the present template. Mirrors `getNewReplicaSet`.
    fn begin_rollout(&mut self, deployment: &Arc<Workload>, old: &[Set]) {
        let key = deployment.key();
        let desired = deployment.replicas();
        let total: i64 = old.iter().map(Set::replicas).sum();
        let recreates = deployment.strategy() == "Recreate";
        let pods_left = recreates
            && self
                .pods_of_workload(&key)
                .iter()
                .any(|pod| self.cluster.get_pod(pod).is_some_and(|pod| !track::has_ended(pod)));
        if recreates && (total > 0 || pods_left) {
            for set in old.iter().filter(|set| set.replicas() > 0) {
                self.scale_set(deployment, &set.object, 0);
            }
            return;
        }
        let (surge, _) = limits(deployment);
        let replicas =
            if total == 0 { desired } else { (desired + surge - total).clamp(0, desired) };
        let mut hash = names::template_hash(&comparable(&deployment.spec.template));
        let mut name = format!("{}-{hash}", deployment.metadata.name);
        let taken = |name: &str, simulator: &Self| {
            let set = WorkloadKey::new(WorkloadKind::ReplicaSet, key.name.namespace(), name);
            simulator.cluster.get_workload(&set).is_some()
        };
        while taken(&name, self) {
            hash = names::template_hash(&name);
            name = format!("{}-{hash}", deployment.metadata.name);
        }
        let mut set = Workload {
            api_version: WorkloadKind::ReplicaSet.api_version().into(),
            kind: WorkloadKind::ReplicaSet,
            ..Workload::default()
        };
        set.metadata.name.clone_from(&name);
        set.metadata.namespace.clone_from(&deployment.metadata.namespace);
        set.metadata.labels.clone_from(&deployment.spec.template.metadata.labels);
        set.metadata.labels.insert(HASH_LABEL.into(), hash.clone());
        set.metadata.owner_references.push(deployment.owner_reference());
        set.spec.replicas = Some(replicas);
        set.spec.template = deployment.spec.template.clone();
        set.spec.template.metadata.labels.insert(HASH_LABEL.into(), hash.clone());
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
        self.fill_in(&mut set.metadata);
        self.set_revision(&key, &name);
        self.store_workload(set);
        if replicas > 0 {
            let message = match self.config.release.scaling_message() {
                ScalingMessage::FromTo => {
                    format!("Scaled up replica set {name} from 0 to {replicas}")
                }
                _ => format!("Scaled up replica set {name} to {replicas}"),
            };
            self.record(&key, "Normal", "ScalingReplicaSet", message);
        }
    }

    /// Mirrors `rolloutRecreate`.
    fn recreate(&mut self, deployment: &Arc<Workload>, new: &Set, old: &[Set]) {
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
    fn roll(&mut self, deployment: &Arc<Workload>, new: &Set, old: &[Set]) {
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
        let mut left: Vec<(usize, i64)> =
            old.iter().enumerate().map(|(index, set)| (index, set.replicas())).collect();
        for ((_, replicas), set) in left.iter_mut().zip(old) {
            let useless = (*replicas - set.available).clamp(0, room);
            *replicas -= useless;
            room -= useless;
        }
        let available = new.available + old.iter().map(|set| set.available).sum::<i64>();
        let mut spare = (available - least).max(0);
        for (_, replicas) in &mut left {
            let gone = (*replicas).min(spare);
            *replicas -= gone;
            spare -= gone;
        }
        for ((_, replicas), set) in left.iter().zip(old) {
            if *replicas != set.replicas() {
                self.scale_set(deployment, &set.object, *replicas);
            }
        }
    }

    /// Mirrors `scaleReplicaSet`.
    fn scale_set(&mut self, deployment: &Workload, set: &Arc<Workload>, replicas: i64) {
        let before = set.replicas();
        let way = if replicas > before { "up" } else { "down" };
        let name = &set.metadata.name;
        let message = match self.config.release.scaling_message() {
            ScalingMessage::To => format!("Scaled {way} replica set {name} to {replicas}"),
            ScalingMessage::ToFrom => {
                format!("Scaled {way} replica set {name} to {replicas} from {before}")
            }
            ScalingMessage::FromTo => {
                format!("Scaled {way} replica set {name} from {before} to {replicas}")
            }
        };
        let mut set = Workload::clone(set);
        set.spec.replicas = Some(replicas);
        self.store_workload(set);
        self.record(&deployment.key(), "Normal", "ScalingReplicaSet", message);
    }
}

/// A template without what tells it from another of the same Deployment.
pub(super) fn comparable(template: &PodTemplate) -> String {
    let mut template = template.clone();
    template.metadata.labels.remove(HASH_LABEL);
    template.metadata.creation_timestamp = None;
    // Every key is a string, so that there is a JSON form.
    serde_json::to_value(&template).map_or_else(|_| String::new(), |value| value.to_string())
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
