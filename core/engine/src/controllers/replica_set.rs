//! ReplicaSets: as many pods as are wanted.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use taintlab_rules::api::{
    ConditionStatus, NodeName, Pod, PodKey, ReplicaSetStatus, Workload, WorkloadCondition,
    WorkloadKey, WorkloadKind,
};
use taintlab_rules::cluster::{Change, Cluster};
use taintlab_rules::order::{OrderedMap, OrderedSet};
use taintlab_rules::release::KubernetesRelease;
use taintlab_rules::time::Time;

use super::Context;
use super::workload::{
    REPLICA_FAILURE, Reconcile, Reconciler, count, generated_name, is_available,
    slow_start_batches, surplus_of_replica_set,
};

/// How many pods a ReplicaSet creates or deletes at once.
const BURST_REPLICAS: i64 = 500;

/// The controller of ReplicaSets. Mirrors `pkg/controller/replicaset`.
#[derive(Clone, Debug)]
pub struct ReplicaSetController {
    reconciler: Reconciler<Step>,
    /// How many names each has made up.
    created: OrderedMap<WorkloadKey, u64>,
    /// Owned pods that have not all labels of the template.
    unlabeled: OrderedMap<WorkloadKey, OrderedSet<PodKey>>,
    /// The batch in which the last pod was created, and what was said when it was refused.
    batch: u32,
    failure: Option<String>,
    /// Whose pods go first among equals.
    scale_downs: OrderedMap<String, VecDeque<(NodeName, Time)>>,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Create(Arc<Workload>, u32),
    Delete(Arc<Workload>, PodKey),
    WriteStatus(Arc<Workload>, Tally),
}

/// How many pods a ReplicaSet has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    replicas: i64,
    labeled: i64,
    ready: i64,
    available: i64,
    /// In releases that count them.
    terminating: Option<i64>,
}

impl ReplicaSetController {
    /// A controller that knows nothing yet: tell it of all workloads and pods.
    #[must_use]
    pub fn new(release: KubernetesRelease) -> Self {
        Self {
            reconciler: Reconciler::new(release, WorkloadKind::ReplicaSet),
            created: OrderedMap::new(),
            unlabeled: OrderedMap::new(),
            batch: 0,
            failure: None,
            scale_downs: OrderedMap::new(),
        }
    }

    /// Where several pods are ranked equally, or their UIDs decide, these are deleted first, known
    /// by node and time of creation, each entry once: by `namespace/name` of the Deployment or
    /// ReplicaSet. Upstream's sort keeps no order among equals, and gets them in that of a map.
    pub fn prefer(&mut self, scale_downs: OrderedMap<String, Vec<(NodeName, Time)>>) {
        let scale_downs = scale_downs.into_iter();
        self.scale_downs = scale_downs.map(|(key, nodes)| (key, nodes.into())).collect();
    }

    /// The status that a ReplicaSet has when nobody has written one: its pods are counted.
    #[must_use]
    pub fn initial_status(&self, context: &Context<'_>, set: &Workload) -> ReplicaSetStatus {
        let failure = None;
        status_of(context, set, self.count(context, set), failure)
    }

    /// Counts the pods of a ReplicaSet. Mirrors the first part of `calculateStatus`.
    fn count(&self, context: &Context<'_>, set: &Workload) -> Tally {
        let key = set.key();
        let cluster = context.cluster;
        let owned = cluster.owned_pods(&key);
        let unlabeled = self.unlabeled.get(&key).into_iter().flatten();
        let unlabeled = unlabeled.filter_map(|pod| cluster.get_pod(pod)).filter(|p| p.is_active());
        let available = if set.number("minReadySeconds").unwrap_or(0) <= 0 {
            owned.ready
        } else {
            let pods = owned.pods.iter().filter_map(|pod| cluster.get_pod(pod));
            let available =
                pods.filter(|pod| pod.is_ready_replica() && is_available(context, set, pod));
            count(available)
        };
        Tally {
            replicas: owned.active,
            labeled: owned.active - count(unlabeled),
            ready: owned.ready,
            available,
            terminating: self.reconciler.release.counts_terminating_replicas().then(|| {
                let others = self.reconciler.claims.mismatched(&key);
                let others = others.filter_map(|pod| cluster.get_pod(pod));
                owned.terminating - count(others.filter(|pod| pod.is_terminating_replica()))
            }),
        }
    }

    /// The labels of pods, or of the template, may have changed.
    fn record_labels(&mut self, cluster: &Cluster, change: &Change) {
        match change {
            Change::Pod { key, old, new } => {
                let same = |old: &Arc<Pod>, new: &Arc<Pod>| {
                    old.metadata.labels == new.metadata.labels
                        && old.metadata.owner_references == new.metadata.owner_references
                };
                if let (Some(old), Some(new)) = (old, new)
                    && same(old, new)
                {
                    return;
                }
                if let Some(owner) = old.as_ref().and_then(replica_set_of)
                    && let Some(pods) = self.unlabeled.get_mut(&owner)
                {
                    pods.remove(key);
                }
                if let Some(new) = new
                    && let Some(owner) = replica_set_of(new)
                    && let Some(set) = cluster.get_workload(&owner)
                    && !is_labeled(set, new)
                {
                    self.unlabeled.entry(owner).or_default().insert(key.clone());
                }
            }
            Change::Workload { key, old, new: Some(new) }
                if key.kind == WorkloadKind::ReplicaSet =>
            {
                let labels = |set: &Workload| set.spec.template.metadata.labels.clone();
                if old.as_ref().is_some_and(|old| labels(old) == labels(new)) {
                    return;
                }
                let pods = cluster.owned_pods(key).pods.iter();
                let unlabeled = pods
                    .filter(|pod| cluster.get_pod(pod).is_some_and(|pod| !is_labeled(new, pod)));
                let unlabeled: OrderedSet<PodKey> = unlabeled.cloned().collect();
                self.unlabeled.remove(key);
                if !unlabeled.is_empty() {
                    self.unlabeled.insert(key.clone(), unlabeled);
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
}

impl Tally {
    /// Counts a pod that is adopted, or with -1 one that is released.
    fn add(&mut self, context: &Context<'_>, set: &Workload, pod: &Pod, number: i64) {
        let count = |counts: bool| if counts { number } else { 0 };
        self.replicas += count(pod.is_active());
        self.labeled += count(pod.is_active() && is_labeled(set, pod));
        self.ready += count(pod.is_ready_replica());
        self.available += count(pod.is_ready_replica() && is_available(context, set, pod));
    }
}

fn replica_set_of(pod: &Arc<Pod>) -> Option<WorkloadKey> {
    pod.metadata.controller_key_of(WorkloadKind::ReplicaSet)
}

/// Whether a pod has all labels of the template.
fn is_labeled(set: &Workload, pod: &Pod) -> bool {
    let labels = &set.spec.template.metadata.labels;
    labels.iter().all(|(key, value)| pod.metadata.labels.get(key) == Some(value))
}

/// The status of a ReplicaSet; `failure` is what its controller could not do. Mirrors
/// `calculateStatus`.
fn status_of(
    context: &Context<'_>,
    set: &Workload,
    tally: Tally,
    failure: Option<&str>,
) -> ReplicaSetStatus {
    let mut status: ReplicaSetStatus = set.status();
    let known = status.conditions.iter().position(|known| known.type_ == REPLICA_FAILURE);
    match (failure, known) {
        (Some(message), None) => status.conditions.push(WorkloadCondition {
            type_: REPLICA_FAILURE.into(),
            status: ConditionStatus::True,
            last_transition_time: Some(context.wall_clock().truncated_to_seconds()),
            reason: if tally.replicas < set.replicas() { "FailedCreate" } else { "FailedDelete" }
                .into(),
            message: message.into(),
            ..WorkloadCondition::default()
        }),
        (None, Some(_)) => status.conditions.retain(|known| known.type_ != REPLICA_FAILURE),
        _ => {}
    }
    status.replicas = tally.replicas;
    status.fully_labeled_replicas = tally.labeled;
    status.ready_replicas = tally.ready;
    status.available_replicas = tally.available;
    status.terminating_replicas = tally.terminating;
    status.observed_generation = set.generation();
    status
}

/// How many active pods that a ReplicaSet of the same Deployment selects are on each of these
/// nodes; none for a ReplicaSet without one. Mirrors `getIndirectlyRelatedPods`.
fn related_pods<'a>(
    cluster: &Cluster,
    set: &Workload,
    nodes: OrderedSet<&'a str>,
) -> OrderedMap<&'a str, i64> {
    let Some(owner) = set.owner() else { return OrderedMap::new() };
    let siblings = cluster.workloads_owned_by(&owner).filter_map(|key| cluster.get_workload(key));
    let selectors: Vec<_> = siblings.filter_map(|sibling| sibling.selector().ok()).collect();
    let is_related = |pod: &Pod| {
        pod.metadata.namespace == set.metadata.namespace
            && pod.is_active()
            && selectors.iter().any(|selector| selector.matches(&pod.metadata.labels))
    };
    let related = |node| count(cluster.pods_of(node).filter(|(_, pod)| is_related(pod)));
    nodes.into_iter().map(|node| (node, related(node))).collect()
}

impl Reconcile for ReplicaSetController {
    type Step = Step;

    fn reconciler(&mut self) -> &mut Reconciler<Step> {
        &mut self.reconciler
    }

    fn reconciler_ref(&self) -> &Reconciler<Step> {
        &self.reconciler
    }

    fn observe(&mut self, context: &mut Context<'_>, change: &Change) {
        self.record_labels(context.cluster, change);
        match change {
            Change::Workload { key, old, new: Some(new) }
                if key.kind == WorkloadKind::ReplicaSet =>
            {
                // What it does depends on all but its status.
                let same = |old: &Workload| old.spec == new.spec && old.metadata == new.metadata;
                if !old.as_ref().is_some_and(|old| same(old)) {
                    self.reconciler.enqueue(context, key.clone());
                }
            }
            Change::Pod { old, new, .. } => {
                let pods = (old.as_deref(), new.as_deref());
                let counts = |pod: Option<&Pod>| pod.is_some_and(Pod::is_terminating_replica);
                let terminating = self.reconciler.release.counts_terminating_replicas()
                    && counts(pods.0) != counts(pods.1);
                self.reconciler.enqueue_owners(
                    context,
                    WorkloadKind::ReplicaSet,
                    pods,
                    terminating,
                );
            }
            Change::Workload { .. }
            | Change::Node { .. }
            | Change::Volume(_)
            | Change::Device(_)
            | Change::Budget { .. }
            | Change::Lease { .. } => {}
        }
    }

    /// Mirrors `ReplicaSetController.syncReplicaSet` with `manageReplicas`.
    fn reconcile(&mut self, context: &mut Context<'_>, key: &WorkloadKey) {
        let cluster = context.cluster;
        let Some(set) = cluster.get_workload(key) else { return };
        let claimed = self.reconciler.claim(cluster, set, Pod::is_active);
        let mut tally = self.count(context, set);
        for (pods, number) in [(&claimed.released, -1), (&claimed.adopted, 1)] {
            for pod in pods.iter().filter_map(|pod| cluster.get_pod(pod)) {
                tally.add(context, set, pod, number);
            }
        }
        let missing = set.replicas() - tally.replicas;
        if set.metadata.deletion_timestamp.is_none() {
            let creates = slow_start_batches(missing.min(BURST_REPLICAS));
            self.reconciler.steps.extend(creates.map(|batch| Step::Create(set.clone(), batch)));
        }
        if set.metadata.deletion_timestamp.is_none() && missing < 0 {
            let mut pods = claimed.pods(cluster, key);
            pods.retain(|pod| pod.is_active());
            let nodes = pods.iter().map(|pod| pod.spec.node_name.as_str()).collect();
            let related = related_pods(cluster, set, nodes);
            let related = |node: &str| related.get(node).copied().unwrap_or(0);
            let surplus = usize::try_from((-missing).min(BURST_REPLICAS)).unwrap_or(0);
            let release = self.reconciler.release;
            let names = [set.owner().map(|owner| owner.name), Some(key.name.clone())];
            let mut names = names.into_iter().flatten().map(|name| name.to_string());
            let preferred = names.find(|name| self.scale_downs.contains_key(name));
            let preferred = preferred.and_then(|name| self.scale_downs.get_mut(&name));
            let pods = surplus_of_replica_set(context, release, &pods, related, surplus, preferred);
            let steps = &mut self.reconciler.steps;
            steps.extend(pods.into_iter().map(|pod| Step::Delete(set.clone(), pod)));
        }
        self.reconciler.steps.push_back(Step::WriteStatus(set.clone(), tally));
    }

    fn step(&mut self, context: &mut Context<'_>, step: Step) {
        match step {
            Step::Create(set, batch) => {
                self.batch = batch;
                let created = self.created.entry(set.key()).or_default();
                let name = generated_name(context.cluster, &set, created);
                self.reconciler.create_pod(&set, name, |_| Vec::new());
            }
            Step::Delete(set, pod) => self.reconciler.delete_pod(&set, pod),
            Step::WriteStatus(set, tally) => {
                let failure = self.failure.take();
                let status = status_of(context, &set, tally, failure.as_deref());
                if status != set.status() {
                    self.reconciler.write_status(set.key(), status, BTreeMap::new());
                }
                self.reconciler.await_availability(context, &set);
            }
        }
    }

    /// The rest of the batch was under way already; there is no further one.
    fn refused(&mut self, error: &str) {
        self.failure.get_or_insert_with(|| error.to_string());
        let last = self.batch;
        self.reconciler.steps.retain(|step| match step {
            Step::Create(_, batch) => *batch == last,
            Step::Delete(..) | Step::WriteStatus(..) => true,
        });
    }
}
