//! StatefulSets: numbered pods, at most one of each name.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::workload::{
    REVISION_LABEL, Reconcile, Reconciler, comparable, is_available, known_revision,
    owners_to_look, template_changed,
};
use super::{Context, names};
use crate::api::{IntOrPercent, PodKey, PodPhase, Workload, WorkloadKey, WorkloadKind};
use crate::cluster::{Change, Cluster};
use crate::release::KubernetesRelease;

/// The label that has the name of the pod.
pub(super) const POD_NAME_LABEL: &str = "statefulset.kubernetes.io/pod-name";

/// The controller of StatefulSets. Mirrors `pkg/controller/statefulset`.
#[derive(Clone, Debug)]
pub struct StatefulSetController {
    reconciler: Reconciler<Step>,
    /// The label of the pods of each one's present template.
    revisions: BTreeMap<WorkloadKey, String>,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Create(Arc<Workload>, i64),
    Recreate(Arc<Workload>, PodKey, PodPhase),
    Delete(Arc<Workload>, PodKey),
    Update(Arc<Workload>),
}

impl StatefulSetController {
    /// A controller that knows nothing yet: tell it of all workloads and pods.
    #[must_use]
    pub fn new(release: KubernetesRelease) -> Self {
        let reconciler = Reconciler::new(release, WorkloadKind::StatefulSet);
        Self { reconciler, revisions: BTreeMap::new() }
    }

    /// Pods that are there are of the template that their StatefulSet has now, whatever its hash.
    pub fn adopt_revisions(&mut self, cluster: &Cluster) {
        let sets = cluster.workloads().filter(|(key, _)| key.kind == WorkloadKind::StatefulSet);
        let known = sets.filter_map(|(key, _)| Some((key.clone(), known_revision(cluster, key)?)));
        self.revisions.extend(known);
    }

    /// The label of pods of the present template, if it is known.
    #[must_use]
    pub fn revision(&self, key: &WorkloadKey) -> Option<&str> {
        self.revisions.get(key).map(String::as_str)
    }

    fn present_revision(&mut self, set: &Workload) -> String {
        let revision = self.revisions.entry(set.key()).or_insert_with(|| {
            let hash = names::template_hash(&comparable(&set.spec.template));
            format!("{}-{hash}", set.metadata.name)
        });
        revision.clone()
    }

    /// Looks after one pod; whether the next may be looked at.
    fn settle_ordinal(&mut self, context: &Context<'_>, set: &Arc<Workload>, ordinal: i64) -> bool {
        let key = pod_name(set, ordinal);
        let steps = &mut self.reconciler.steps;
        let Some(pod) = context.cluster.get_pod(&key) else {
            steps.push_back(Step::Create(set.clone(), ordinal));
            return false;
        };
        if pod.metadata.controller_key() != Some(set.key()) {
            // Somebody else's pod of that name stands in the way.
            return false;
        }
        if pod.has_ended() && !pod.is_terminating() {
            steps.push_back(Step::Recreate(set.clone(), key, pod.status.phase.clone()));
            return false;
        }
        pod.is_ready_replica() && is_available(context, set, pod)
    }

    fn create(&mut self, set: &Arc<Workload>, ordinal: i64) {
        let revision = self.present_revision(set);
        let index = self.reconciler.release.labels_pods_with_index();
        let key = pod_name(set, ordinal);
        let name = key.name().to_string();
        self.reconciler.create_pod(set, key, |pod| {
            let labels = &mut pod.metadata.labels;
            labels.insert(POD_NAME_LABEL.into(), name);
            labels.insert(REVISION_LABEL.into(), revision);
            if index {
                labels.insert("apps.kubernetes.io/pod-index".into(), ordinal.to_string());
            }
            Vec::new()
        });
    }

    fn recreate(&mut self, set: &Workload, key: PodKey, phase: &PodPhase) {
        let (namespace, name) = (key.namespace(), &set.metadata.name);
        let failed = *phase == PodPhase::Failed;
        let message = format!(
            "StatefulSet {namespace}/{name} is recreating {} Pod {}",
            if failed { "failed" } else { "succeeded" },
            key.name()
        );
        let reason = if failed { "RecreatingFailedPod" } else { "RecreatingTerminatedPod" };
        self.reconciler.record(&set.key(), "Warning", reason, message);
        self.reconciler.delete_pod(set, key);
    }

    /// Pods of another template go one by one, the highest number first. Mirrors the last part of
    /// `updateStatefulSet`.
    fn update(&mut self, context: &Context<'_>, set: &Arc<Workload>) {
        if set.strategy() == "OnDelete" {
            return;
        }
        let partition = match set.rolling_update("partition").ok().flatten() {
            Some(IntOrPercent::Int(partition)) => partition,
            _ => 0,
        };
        let revision = self.present_revision(set);
        let (start, end) = self.range(set);
        for ordinal in ((start + partition)..end).rev() {
            let key = pod_name(set, ordinal);
            let Some(pod) = context.cluster.get_pod(&key) else { return };
            let label = pod.metadata.labels.get(REVISION_LABEL);
            if label.is_some_and(|label| *label != revision) && !pod.is_terminating() {
                self.reconciler.delete_pod(set, key);
                return;
            }
            if !pod.is_ready_replica() {
                return;
            }
        }
    }

    /// The first number, and that after the last.
    fn range(&self, set: &Workload) -> (i64, i64) {
        let start = first_ordinal(set, self.reconciler.release);
        (start, start + set.replicas())
    }
}

impl Reconcile for StatefulSetController {
    type Step = Step;

    fn reconciler(&mut self) -> &mut Reconciler<Step> {
        &mut self.reconciler
    }

    fn reconciler_ref(&self) -> &Reconciler<Step> {
        &self.reconciler
    }

    fn observe(&mut self, context: &mut Context<'_>, change: &Change) {
        match change {
            Change::Workload { key, old, new: Some(new) }
                if key.kind == WorkloadKind::StatefulSet =>
            {
                if template_changed(old.as_deref(), Some(new)) {
                    self.revisions.remove(key);
                }
                self.reconciler.enqueue(context, key.clone());
            }
            Change::Pod { old, new, .. } => {
                let (old, new) = (old.as_deref(), new.as_deref());
                for owner in owners_to_look(WorkloadKind::StatefulSet, old, new, true) {
                    self.reconciler.enqueue(context, owner);
                }
            }
            Change::Workload { .. }
            | Change::Node { .. }
            | Change::Budget { .. }
            | Change::Lease { .. } => {}
        }
    }

    /// Mirrors `defaultStatefulSetControl.updateStatefulSet`. A pod that is terminating keeps its
    /// name until it is gone, so that there is never another one of that name.
    fn reconcile(&mut self, context: &mut Context<'_>, key: &WorkloadKey) {
        let cluster = context.cluster;
        let Some(set) = cluster.get_workload(key) else { return };
        let one_by_one = set.text("podManagementPolicy") != "Parallel";
        let (start, end) = self.range(set);
        for ordinal in start..end {
            if !self.settle_ordinal(context, set, ordinal) && one_by_one {
                return;
            }
        }
        let pods = cluster.owned_pods(key).pods.iter();
        let mut surplus: Vec<i64> = pods.filter_map(|pod| ordinal_of(set, pod.name())).collect();
        surplus.retain(|ordinal| *ordinal < start || *ordinal >= end);
        surplus.sort_unstable();
        for ordinal in surplus.into_iter().rev() {
            let pod = pod_name(set, ordinal);
            let Some(object) = cluster.get_pod(&pod) else { continue };
            if !object.is_terminating() {
                self.reconciler.steps.push_back(Step::Delete(set.clone(), pod));
            }
            if one_by_one {
                return;
            }
        }
        self.reconciler.steps.push_back(Step::Update(set.clone()));
    }

    fn step(&mut self, context: &mut Context<'_>, step: Step) {
        match step {
            Step::Create(set, ordinal) => self.create(&set, ordinal),
            Step::Recreate(set, pod, phase) => self.recreate(&set, pod, &phase),
            Step::Delete(set, pod) => self.reconciler.delete_pod(&set, pod),
            Step::Update(set) => self.update(context, &set),
        }
    }

    fn goes_on_when_refused(&self) -> bool {
        true
    }
}

/// The number of a pod of that name.
pub(crate) fn ordinal_of(set: &Workload, name: &str) -> Option<i64> {
    let rest = name.strip_prefix(set.metadata.name.as_str())?.strip_prefix('-')?;
    rest.parse().ok().filter(|ordinal| *ordinal >= 0)
}

/// The number of the first pod.
pub(super) fn first_ordinal(set: &Workload, release: KubernetesRelease) -> i64 {
    let start = set.spec.other.get("ordinals").and_then(|ordinals| ordinals.get("start"));
    let start = start.and_then(serde_json::Value::as_i64);
    start.filter(|_| release.has_first_ordinal()).unwrap_or(0)
}

pub(super) fn pod_name(set: &Workload, ordinal: i64) -> PodKey {
    PodKey::new(&set.metadata.namespace, &format!("{}-{ordinal}", set.metadata.name))
}
