//! Deployments: their ReplicaSets, and how one template replaces another.

mod annotations;
mod rollout;
mod status;

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde_json::json;
use taintlab_rules::api::{Pod, Workload, WorkloadKey, WorkloadKind};
use taintlab_rules::cluster::{Change, Cluster};
use taintlab_rules::order::{Order, OrderedMap};
use taintlab_rules::protocol::TimeoutReason;
use taintlab_rules::release::KubernetesRelease;
use taintlab_rules::time::Timestamp;

use self::annotations::REVISION;
use self::rollout::{Rollout, Set};
use super::workload::{HASH_LABEL, Reconcile, Reconciler, comparable, template_changed};
use super::{Context, names};

/// The controller of Deployments. Mirrors `pkg/controller/deployment`.
#[derive(Clone, Debug)]
pub struct DeploymentController {
    reconciler: Reconciler<Step>,
    /// The ReplicaSet of each one's present template. Shared with copies until one changes.
    revisions: Arc<OrderedMap<WorkloadKey, String>>,
}

/// Whatever it does to a Deployment, it does at once.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {}

impl DeploymentController {
    /// A controller that knows nothing yet: tell it of all workloads and pods.
    #[must_use]
    pub fn new(release: KubernetesRelease) -> Self {
        let reconciler = Reconciler::new(release, WorkloadKind::Deployment);
        Self { reconciler, revisions: Arc::default() }
    }

    /// Of the ReplicaSets that are there, the one that has its Deployment's template, its revision,
    /// or else the most pods is taken to be the present one. Not all that tells templates from one
    /// another may be known. A Deployment whose controller has not seen its template yet has at most
    /// one with that template.
    pub fn bootstrap_revisions(&mut self, cluster: &Cluster) {
        let all = cluster.workloads().filter(|(key, _)| key.kind == WorkloadKind::Deployment);
        for (key, deployment) in all {
            let template = comparable(&deployment.spec.template);
            let sets = cluster.workloads_owned_by(key).filter_map(|set| cluster.get_workload(set));
            let is_possible = |set: &&Arc<Workload>| {
                !deployment.is_unobserved() || comparable(&set.spec.template) == template
            };
            let revision = deployment.metadata.annotations.get(REVISION);
            let rank = |set: &&Arc<Workload>| {
                let own = set.metadata.annotations.get(REVISION);
                let is_revision = revision.is_some() && own == revision;
                (comparable(&set.spec.template) == template, is_revision, set.replicas())
            };
            if let Some(largest) = sets.filter(is_possible).max_by_key(rank) {
                let name = largest.metadata.name.clone();
                Arc::make_mut(&mut self.revisions).insert(key.clone(), name);
            }
        }
    }

    /// The name of the ReplicaSet of the present template, if it is known.
    #[must_use]
    pub fn revision(&self, key: &WorkloadKey) -> Option<&str> {
        self.revisions.get(key).map(String::as_str)
    }

    /// The ReplicaSet of the present template, if there is one: the oldest. Mirrors
    /// `FindNewReplicaSet`; one that is inferred, or was imported with the Deployment, is taken to
    /// be of the template that the Deployment had then.
    fn present_set(&mut self, deployment: &Workload, sets: &[Set]) -> Option<usize> {
        let key = deployment.key();
        if let Some(revision) = self.revisions.get(&key)
            && let Some(known) = sets.iter().position(|set| set.name() == revision)
        {
            return Some(known);
        }
        let template = comparable(&deployment.spec.template);
        let same = sets.iter().position(|set| comparable(&set.object.spec.template) == template)?;
        Arc::make_mut(&mut self.revisions).insert(key, sets.get(same)?.name().into());
        Some(same)
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
                        Arc::make_mut(&mut self.revisions).remove(key);
                    }
                    self.reconciler.enqueue(context, key.clone());
                }
                if let Some(owner) = new.owner().filter(is_deployment) {
                    self.reconciler.enqueue(context, owner);
                }
            }
            Change::Workload { old: Some(old), new: None, .. } => {
                if let Some(owner) = old.owner().filter(is_deployment) {
                    self.reconciler.enqueue(context, owner);
                }
            }
            Change::Pod { old: Some(old), new, .. } => {
                // With `Recreate`, a rollout goes on when pods are gone.
                let owner = |pod: &Pod| pod.metadata.controller_key();
                let same = new.as_ref().is_some_and(|new| {
                    new.has_ended() == old.has_ended()
                        && (new.metadata.owner_references == old.metadata.owner_references
                            || owner(new) == owner(old))
                });
                if same {
                    return;
                }
                let set = owner(old).and_then(|set| context.cluster.get_workload(&set));
                if let Some(owner) = set.and_then(|set| set.owner()).filter(is_deployment) {
                    self.reconciler.enqueue(context, owner);
                }
            }
            Change::Pod { .. }
            | Change::Workload { .. }
            | Change::Node { .. }
            | Change::Volume(_)
            | Change::Device(_)
            | Change::Budget { .. }
            | Change::Lease { .. } => {}
        }
    }

    /// Mirrors `DeploymentController.syncDeployment`.
    fn reconcile(&mut self, context: &mut Context<'_>, key: &WorkloadKey) {
        let cluster = context.cluster;
        let Some(deployment) = cluster.get_workload(key) else { return };
        let sets = sets_of(cluster, key);
        let present = self.present_set(deployment, &sets);
        let release = self.reconciler.release;
        let now = context.wall_clock().truncated_to_seconds();
        let mut rollout = Rollout::new(release, now, deployment, sets, present);
        rollout.sync(cluster);
        if let Some(created) = rollout.created {
            Arc::make_mut(&mut self.revisions).insert(key.clone(), created);
        }
        for action in rollout.actions {
            self.reconciler.push(action);
        }
        if rollout.write {
            let status = rollout.status;
            self.reconciler.write_status(key.clone(), status, rollout.annotations);
        } else if let Some(seconds) = rollout.look_again {
            let start = context.start.unix_seconds();
            let at = u64::try_from(seconds.saturating_sub(start)).unwrap_or(0);
            let reason = TimeoutReason::ProgressDeadline { workload: key.clone() };
            self.reconciler.enqueue_at(context, Timestamp::from_secs(at), key.clone(), reason);
        }
    }

    fn step(&mut self, _: &mut Context<'_>, step: Step) {
        match step {}
    }
}

fn is_deployment(key: &WorkloadKey) -> bool {
    key.kind == WorkloadKind::Deployment
}

/// The ReplicaSets of a Deployment, the oldest first.
fn sets_of(cluster: &Cluster, key: &WorkloadKey) -> Vec<Set> {
    let sets = cluster.workloads_owned_by(key).filter_map(|set| cluster.get_workload(set));
    let mut sets: Vec<Set> = sets.map(|set| Set::new(set.clone())).collect();
    sets.order_by_key(Set::age);
    sets
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
