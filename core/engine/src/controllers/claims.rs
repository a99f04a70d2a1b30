//! Which pods a workload owns: those without a controller that it selects are adopted, those that
//! it no longer selects are released.

use alloc::sync::Arc;
use alloc::vec::Vec;

use taintlab_rules::api::{LabelSelector, Pod, PodKey, Workload, WorkloadKey, WorkloadKind};
use taintlab_rules::cluster::{Change, Cluster};
use taintlab_rules::order::{Order, OrderedMap, OrderedSet};

/// What has to be known to tell which pods are to be released without looking at all of them.
#[derive(Clone, Debug)]
pub(super) struct Claims {
    kind: WorkloadKind,
    /// Owned pods that their workload does not select.
    mismatched: OrderedMap<WorkloadKey, OrderedSet<PodKey>>,
}

/// The pods that a workload adopts and releases, by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Claimed {
    pub(super) adopted: Vec<PodKey>,
    pub(super) released: Vec<PodKey>,
}

impl Claims {
    pub(super) const fn new(kind: WorkloadKind) -> Self {
        Self { kind, mismatched: OrderedMap::new() }
    }

    /// An object has changed; gives the workloads that have a pod to adopt or to release.
    pub(super) fn observe(&mut self, cluster: &Cluster, change: &Change) -> Vec<WorkloadKey> {
        match change {
            Change::Pod { key, old, new } => {
                let Some(new) = new else {
                    if let Some(owner) = self.owner(old.as_deref())
                        && let Some(pods) = self.mismatched.get_mut(&owner)
                    {
                        pods.remove(key);
                    }
                    return Vec::new();
                };
                let same = old.as_ref().is_some_and(|old| {
                    old.metadata.labels == new.metadata.labels
                        && old.metadata.owner_references == new.metadata.owner_references
                });
                if same { Vec::new() } else { self.observe_pod(cluster, key, new) }
            }
            Change::Workload { key, old, new } if key.kind == self.kind => {
                let Some(new) = new else {
                    self.mismatched.remove(key);
                    return Vec::new();
                };
                if old.as_ref().is_none_or(|old| old.spec.selector != new.spec.selector) {
                    let owned = cluster.owned_pods(key).pods.iter();
                    let others = owned
                        .filter(|pod| cluster.get_pod(pod).is_some_and(|pod| !selects(new, pod)));
                    let others: OrderedSet<PodKey> = others.cloned().collect();
                    self.mismatched.remove(key);
                    if !others.is_empty() {
                        self.mismatched.insert(key.clone(), others);
                    }
                }
                Vec::new()
            }
            Change::Workload { .. }
            | Change::Node { .. }
            | Change::Volume(_)
            | Change::Device(_)
            | Change::Budget { .. }
            | Change::Lease { .. } => Vec::new(),
        }
    }

    fn owner(&self, pod: Option<&Pod>) -> Option<WorkloadKey> {
        pod?.metadata.controller_key_of(self.kind)
    }

    /// The pods that name a workload as their controller, and that it does not select.
    pub(super) fn mismatched(&self, key: &WorkloadKey) -> impl Iterator<Item = &PodKey> {
        self.mismatched.get(key).into_iter().flatten()
    }

    /// A pod is new, or has other labels or owners.
    fn observe_pod(&mut self, cluster: &Cluster, key: &PodKey, pod: &Pod) -> Vec<WorkloadKey> {
        if pod.metadata.controller().is_none() {
            let known = cluster.workloads_in(self.kind, &pod.metadata.namespace);
            let selecting = known
                .filter(|(_, workload)| selector_of(workload).is_some())
                .filter(|(_, workload)| selects(workload, pod));
            return selecting.map(|(key, _)| key.clone()).collect();
        }
        let Some(owner) = self.owner(Some(pod)) else { return Vec::new() };
        let Some(workload) = cluster.get_workload(&owner) else { return Vec::new() };
        if selects(workload, pod) {
            if let Some(pods) = self.mismatched.get_mut(&owner) {
                pods.remove(key);
            }
            return Vec::new();
        }
        self.mismatched.entry(owner.clone()).or_default().insert(key.clone());
        Vec::from([owner])
    }

    /// Which pods a workload adopts and releases, of those for which `counts` says so. Mirrors
    /// `PodControllerRefManager.ClaimPods`.
    pub(super) fn claim(
        &self,
        cluster: &Cluster,
        workload: &Workload,
        counts: impl Fn(&Pod) -> bool,
    ) -> Claimed {
        let (key, alive) = (workload.key(), workload.metadata.deletion_timestamp.is_none());
        let mut orphans = cluster.orphans_in(&workload.metadata.namespace).peekable();
        let mismatched = self.mismatched.get(&key).filter(|pods| !pods.is_empty());
        if orphans.peek().is_none() && mismatched.is_none() {
            return Claimed::default();
        }
        let Some(selector) = selector_of(workload) else { return Claimed::default() };
        let orphans = orphans.filter(|(_, pod)| {
            alive
                && !pod.is_terminating()
                && counts(pod)
                && selector.matches(&pod.metadata.labels)
                && is_member(workload, pod)
        });
        let mismatched = mismatched.into_iter().flatten().filter(|pod| {
            cluster.get_pod(pod).is_some_and(|pod| {
                pod.metadata.controller_key().as_ref() == Some(&key) && counts(pod)
            })
        });
        Claimed {
            adopted: orphans.map(|(key, _)| key.clone()).collect(),
            released: mismatched.cloned().collect(),
        }
    }
}

impl Claimed {
    /// The pods of a workload when that is done, by name.
    pub(super) fn pods<'a>(&self, cluster: &'a Cluster, key: &WorkloadKey) -> Vec<&'a Arc<Pod>> {
        let owned = cluster.owned_pods(key).pods.iter();
        let mut pods: Vec<_> = owned
            .filter(|pod| !self.released.contains(pod))
            .chain(&self.adopted)
            .filter_map(|pod| cluster.get_pod(pod))
            .collect();
        if !self.adopted.is_empty() {
            pods.order_by_key(|pod| pod.key());
        }
        pods
    }
}

/// The selector that a workload was given. One that was inferred from its pods, or has none as Jobs
/// have it, has the pods that name it.
fn selector_of(workload: &Workload) -> Option<LabelSelector> {
    workload.spec.selector.as_ref()?;
    workload.selector().ok()
}

fn selects(workload: &Workload, pod: &Pod) -> bool {
    selector_of(workload)
        .is_none_or(|selector| selector.matches(&pod.metadata.labels) && is_member(workload, pod))
}

/// A StatefulSet has only pods with its own name and a number. Mirrors `isMemberOf`.
fn is_member(workload: &Workload, pod: &Pod) -> bool {
    workload.kind != WorkloadKind::StatefulSet || ordinal_of(workload, &pod.metadata.name).is_some()
}

/// The number of a pod of that name.
pub(crate) fn ordinal_of(set: &Workload, name: &str) -> Option<i64> {
    let rest = name.strip_prefix(set.metadata.name.as_str())?.strip_prefix('-')?;
    rest.parse().ok().filter(|ordinal| *ordinal >= 0)
}
