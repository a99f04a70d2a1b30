//! ReplicaSets: as many pods as are wanted.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::Context;
use super::workload::{Reconcile, Reconciler, generated_name, owners_to_look, surplus_pods};
use crate::api::{PodKey, Workload, WorkloadKey, WorkloadKind};
use crate::cluster::Change;
use crate::release::KubernetesRelease;

/// The controller of ReplicaSets. Mirrors `pkg/controller/replicaset`.
#[derive(Clone, Debug)]
pub struct ReplicaSetController {
    reconciler: Reconciler<Step>,
    /// How many names each has made up.
    created: BTreeMap<WorkloadKey, u64>,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Create(Arc<Workload>),
    Delete(Arc<Workload>, PodKey),
    AwaitAvailability(Arc<Workload>),
}

impl ReplicaSetController {
    /// A controller that knows nothing yet: tell it of all workloads and pods.
    #[must_use]
    pub fn new(release: KubernetesRelease) -> Self {
        Self {
            reconciler: Reconciler::new(release, WorkloadKind::ReplicaSet),
            created: BTreeMap::new(),
        }
    }
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
        match change {
            Change::Workload { key, new: Some(_), .. } if key.kind == WorkloadKind::ReplicaSet => {
                self.reconciler.enqueue(context, key.clone());
            }
            Change::Pod { old, new, .. } => {
                let (old, new) = (old.as_deref(), new.as_deref());
                for owner in owners_to_look(WorkloadKind::ReplicaSet, old, new, false) {
                    self.reconciler.enqueue(context, owner);
                }
            }
            Change::Workload { .. }
            | Change::Node { .. }
            | Change::Budget { .. }
            | Change::Lease { .. } => {}
        }
    }

    /// Mirrors `ReplicaSetController.manageReplicas`.
    fn reconcile(&mut self, context: &mut Context<'_>, key: &WorkloadKey) {
        let Some(set) = context.cluster.get_workload(key) else { return };
        let missing = set.replicas() - context.cluster.owned_pods(key).active;
        let steps = &mut self.reconciler.steps;
        steps.extend((0..missing).map(|_| Step::Create(set.clone())));
        if missing < 0 {
            let surplus = usize::try_from(-missing).unwrap_or(0);
            let pods: Vec<PodKey> =
                surplus_pods(context.cluster, self.reconciler.release, key, surplus);
            let steps = &mut self.reconciler.steps;
            steps.extend(pods.into_iter().map(|pod| Step::Delete(set.clone(), pod)));
        }
        self.reconciler.steps.push_back(Step::AwaitAvailability(set.clone()));
    }

    fn step(&mut self, context: &mut Context<'_>, step: Step) {
        match step {
            Step::Create(set) => {
                let created = self.created.entry(set.key()).or_default();
                let name = generated_name(context.cluster, &set, created);
                self.reconciler.create_pod(&set, name, |_| Vec::new());
            }
            Step::Delete(set, pod) => self.reconciler.delete_pod(&set, pod),
            Step::AwaitAvailability(set) => self.reconciler.await_availability(context, &set),
        }
    }
}
