//! Objects of a cluster: ordered stores, and indexes of pods by node and by owner.

mod change;
mod devices;
mod pods;
mod volumes;

use alloc::sync::Arc;

pub use self::change::{Change, DeviceChange, VolumeChange};
pub use self::devices::Devices;
use self::pods::Pods;
pub use self::volumes::Volumes;
use crate::api::{
    Node, NodeName, Pod, PodDisruptionBudget, PodKey, Workload, WorkloadKey, WorkloadKind,
};
use crate::order::{OrderedMap, OrderedSet};

/// Read access for controllers, like the cache of an informer.
pub trait Lister {
    /// The node with this name.
    fn node(&self, name: &str) -> Option<&Node>;
    /// The pod with this key.
    fn pod(&self, key: &PodKey) -> Option<&Pod>;
    /// Pods with this node in `spec.nodeName`, in the order of their keys.
    fn pods_on_node(&self, name: &str) -> impl Iterator<Item = (&PodKey, &Pod)>;
    /// Whether a DaemonSet selects the pod. Kubernetes compares the selectors of all DaemonSets in
    /// the pod's namespace; the default implementation checks the pod's owners instead.
    fn has_daemon_set(&self, pod: &Pod) -> bool {
        pod.metadata.owner_references.iter().any(|owner| owner.kind == "DaemonSet")
    }
}

/// Nodes, pods, workloads and budgets in memory.
///
/// Objects are shared, so that a copy of a cluster is cheap, and pointers tell two versions of an
/// object apart.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    nodes: OrderedMap<NodeName, Arc<Node>>,
    /// Shared with copies of the cluster, part by part.
    pods: Pods,
    /// Each entry is shared with copies of the cluster until one of them changes it.
    pods_by_node: OrderedMap<NodeName, Arc<OrderedMap<PodKey, Arc<Pod>>>>,
    /// Shared like `pods_by_node`.
    pods_by_owner: OrderedMap<WorkloadKey, Arc<OwnedPods>>,
    /// Pods that no controller owns. Shared with copies until one of them changes.
    orphans: Arc<OrderedSet<PodKey>>,
    workloads: OrderedMap<WorkloadKey, Arc<Workload>>,
    /// Shared with copies until one of them changes.
    workloads_by_owner: Arc<OrderedMap<WorkloadKey, OrderedSet<WorkloadKey>>>,
    budgets: OrderedMap<PodKey, Arc<PodDisruptionBudget>>,
    /// `None` if volumes do not take part. Shared with copies until one of them changes.
    volumes: Option<Arc<Volumes>>,
    /// `None` if there has never been a device. Shared as well.
    devices: Option<Arc<Devices>>,
}

/// Pods that name a workload as their controller.
#[derive(Clone, Debug, Default)]
pub struct OwnedPods {
    /// All of them, including those that are terminating or have ended.
    pub pods: OrderedSet<PodKey>,
    /// Number of pods that are neither terminating nor ended.
    pub active: i64,
    /// Number of active pods that are ready.
    pub ready: i64,
    /// Terminating pods that have not ended.
    pub terminating: i64,
}

/// Whether no controller owns a pod.
fn is_orphan(pod: &Pod) -> bool {
    pod.metadata.controller().is_none()
}

impl OwnedPods {
    /// Pods of a workload without any.
    const NONE: &'static Self =
        &Self { pods: OrderedSet::new(), active: 0, ready: 0, terminating: 0 };
}

impl Cluster {
    /// All nodes, by name.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = (&NodeName, &Arc<Node>)> {
        self.nodes.iter()
    }

    /// All pods, by namespace and name.
    pub fn pods(&self) -> impl Iterator<Item = (&PodKey, &Arc<Pod>)> {
        self.pods.iter()
    }

    /// Calls `differs` with the key of each pod that exists in only one of two clusters, or is not
    /// the same object in both. Shared parts cost nothing.
    pub fn visit_different_pods(&self, other: &Self, differs: impl FnMut(&PodKey)) {
        self.pods.visit_different(&other.pods, differs);
    }

    /// Number of pods.
    #[must_use]
    pub fn pod_count(&self) -> usize {
        self.pods.len()
    }

    /// All workloads by kind, namespace and name, including inferred ones.
    pub fn workloads(&self) -> impl Iterator<Item = (&WorkloadKey, &Arc<Workload>)> {
        self.workloads.iter()
    }

    /// Workloads of a kind in a namespace, by name.
    pub fn workloads_in<'a>(
        &'a self,
        kind: WorkloadKind,
        namespace: &str,
    ) -> impl Iterator<Item = (&'a WorkloadKey, &'a Arc<Workload>)> {
        let first = WorkloadKey::new(kind, namespace, "");
        let namespace = first.name.clone();
        let from = self.workloads.range(first..);
        from.take_while(move |(key, _)| {
            key.kind == kind && key.name.namespace() == namespace.namespace()
        })
    }

    /// The workload with this key.
    #[must_use]
    pub fn get_workload(&self, key: &WorkloadKey) -> Option<&Arc<Workload>> {
        self.workloads.get(key)
    }

    /// Stores a workload and returns the version it replaces.
    pub fn put_workload(&mut self, workload: Arc<Workload>) -> Option<Arc<Workload>> {
        let (key, owner) = (workload.key(), workload.owner());
        let old = self.workloads.insert(key.clone(), workload);
        let before = old.as_ref().and_then(|old| old.owner());
        if before != owner {
            self.unindex_workload(before.as_ref(), &key);
            if let Some(owner) = owner {
                let by_owner = Arc::make_mut(&mut self.workloads_by_owner);
                by_owner.entry(owner).or_default().insert(key);
            }
        }
        old
    }

    /// Removes a workload.
    pub fn remove_workload(&mut self, key: &WorkloadKey) -> Option<Arc<Workload>> {
        let old = self.workloads.remove(key)?;
        self.unindex_workload(old.owner().as_ref(), key);
        Some(old)
    }

    fn unindex_workload(&mut self, owner: Option<&WorkloadKey>, key: &WorkloadKey) {
        let Some(owner) = owner else { return };
        if !self.workloads_by_owner.contains_key(owner) {
            return;
        }
        let by_owner = Arc::make_mut(&mut self.workloads_by_owner);
        if let Some(owned) = by_owner.get_mut(owner) {
            owned.remove(key);
            if owned.is_empty() {
                by_owner.remove(owner);
            }
        }
    }

    /// Workloads that name this one as their controller: the ReplicaSets of a Deployment.
    pub fn workloads_owned_by(&self, key: &WorkloadKey) -> impl Iterator<Item = &WorkloadKey> {
        self.workloads_by_owner.get(key).into_iter().flatten()
    }

    /// Pods that name this workload as their controller; it need not exist.
    #[must_use]
    pub fn owned_pods(&self, key: &WorkloadKey) -> &OwnedPods {
        self.pods_by_owner.get(key).map_or(OwnedPods::NONE, Arc::as_ref)
    }

    /// Pods of a namespace that no controller owns, by name.
    pub fn orphans_in<'a>(
        &'a self,
        namespace: &'a str,
    ) -> impl Iterator<Item = (&'a PodKey, &'a Arc<Pod>)> {
        let from = self.orphans.range(PodKey::new(namespace, "")..);
        let namespace = if namespace.is_empty() { "default" } else { namespace };
        let these = from.take_while(move |key| key.namespace() == namespace);
        these.filter_map(|key| self.pods.get_key_value(key))
    }

    /// Pods of a workload, including those of its ReplicaSets.
    #[must_use]
    pub fn pods_of_workload(&self, key: &WorkloadKey) -> OrderedSet<PodKey> {
        let own = self.owned_pods(key).pods.iter();
        let children = self.workloads_owned_by(key);
        let children = children.flat_map(|child| self.owned_pods(child).pods.iter());
        own.chain(children).cloned().collect()
    }

    /// Number of ready pods of a workload, including those of its ReplicaSets.
    #[must_use]
    pub fn ready_pods(&self, key: &WorkloadKey) -> i64 {
        let children = self.workloads_owned_by(key).map(|child| self.owned_pods(child).ready);
        self.owned_pods(key).ready + children.sum::<i64>()
    }

    /// All budgets, by namespace and name.
    pub fn budgets(&self) -> impl Iterator<Item = (&PodKey, &Arc<PodDisruptionBudget>)> {
        self.budgets.iter()
    }

    /// The budget with this namespace and name.
    #[must_use]
    pub fn get_budget(&self, key: &PodKey) -> Option<&Arc<PodDisruptionBudget>> {
        self.budgets.get(key)
    }

    /// Stores a budget and returns the version it replaces.
    pub fn put_budget(
        &mut self,
        budget: Arc<PodDisruptionBudget>,
    ) -> Option<Arc<PodDisruptionBudget>> {
        self.budgets.insert(budget.key(), budget)
    }

    /// Removes a budget.
    pub fn remove_budget(&mut self, key: &PodKey) -> Option<Arc<PodDisruptionBudget>> {
        self.budgets.remove(key)
    }

    /// Volumes and claims; `None` if they do not take part.
    #[must_use]
    pub fn volumes(&self) -> Option<&Arc<Volumes>> {
        self.volumes.as_ref()
    }

    /// Volumes and claims, to be changed; `None` if they do not take part.
    pub fn volumes_mut(&mut self) -> Option<&mut Volumes> {
        self.volumes.as_mut().map(Arc::make_mut)
    }

    /// Lets volumes take part, starting with these.
    pub fn set_volumes(&mut self, volumes: Volumes) {
        self.volumes = Some(Arc::new(volumes));
    }

    /// Devices, the claims for them and the rules that taint them; `None` if there are none.
    #[must_use]
    pub fn devices(&self) -> Option<&Arc<Devices>> {
        self.devices.as_ref()
    }

    /// Mutable devices; creates the store if there was none.
    pub fn devices_mut(&mut self) -> &mut Devices {
        Arc::make_mut(self.devices.get_or_insert_default())
    }

    /// The node with this name.
    #[must_use]
    pub fn get_node(&self, name: &str) -> Option<&Arc<Node>> {
        self.nodes.get(name)
    }

    /// The pod with this key.
    #[must_use]
    pub fn get_pod(&self, key: &PodKey) -> Option<&Arc<Pod>> {
        self.pods.get(key)
    }

    /// Pods bound to a node, by namespace and name. The empty name stands for pods without a node.
    pub fn pods_of(&self, node: &str) -> impl Iterator<Item = (&PodKey, &Arc<Pod>)> {
        self.pods_by_node.get(node).into_iter().flat_map(|pods| pods.iter())
    }

    /// Names of the nodes that pods are bound to, in order, including nodes that are gone.
    pub fn node_names_of_pods(&self) -> impl Iterator<Item = &NodeName> {
        self.pods_by_node.keys()
    }

    /// Stores a node and returns the version it replaces.
    pub fn put_node(&mut self, node: Arc<Node>) -> Option<Arc<Node>> {
        self.nodes.insert(node.metadata.name.as_str().into(), node)
    }

    /// Removes a node.
    pub fn remove_node(&mut self, name: &str) -> Option<Arc<Node>> {
        self.nodes.remove(name)
    }

    /// Stores a pod and returns the version it replaces.
    pub fn put_pod(&mut self, key: &PodKey, pod: Arc<Pod>) -> Option<Arc<Pod>> {
        let old = self.pods.insert(key.clone(), pod.clone());
        self.index_owner(key, old.as_deref(), Some(&pod));
        match (old.as_deref().is_some_and(is_orphan), is_orphan(&pod)) {
            (false, true) => {
                Arc::make_mut(&mut self.orphans).insert(key.clone());
            }
            (true, false) => {
                Arc::make_mut(&mut self.orphans).remove(key);
            }
            (false, false) | (true, true) => {}
        }
        if let Some(old) = &old
            && old.spec.node_name != pod.spec.node_name
        {
            self.unindex(key, &old.spec.node_name);
        }
        match self.pods_by_node.get_mut(pod.spec.node_name.as_str()) {
            Some(pods) => {
                Arc::make_mut(pods).insert(key.clone(), pod);
            }
            None => {
                let node = pod.spec.node_name.as_str().into();
                self.pods_by_node.insert(node, Arc::new(OrderedMap::from([(key.clone(), pod)])));
            }
        }
        old
    }

    /// Updates the pods and counts of the owners.
    fn index_owner(&mut self, key: &PodKey, old: Option<&Pod>, new: Option<&Pod>) {
        if old.is_none_or(|old| old.metadata.owner_references.is_empty())
            && new.is_none_or(|new| new.metadata.owner_references.is_empty())
        {
            return;
        }
        let counts = |pod: &Pod| {
            let counts = [pod.is_active(), pod.is_ready_replica(), pod.is_terminating_replica()];
            counts.map(i64::from)
        };
        let owner = |pod: Option<&Pod>| pod.and_then(|pod| pod.metadata.controller_key());
        let pair = old.zip(new);
        let same = pair.is_some_and(|(old, new)| {
            old.metadata.owner_references == new.metadata.owner_references
        });
        if same && pair.is_some_and(|(old, new)| counts(old) == counts(new)) {
            return;
        }
        let before = owner(old);
        let after = if same { before.clone() } else { owner(new) };
        if let (Some(before), Some(old)) = (&before, old)
            && let Some(owned) = self.pods_by_owner.get_mut(before)
        {
            let owned = Arc::make_mut(owned);
            let [active, ready, terminating] = counts(old);
            owned.active -= active;
            owned.ready -= ready;
            owned.terminating -= terminating;
            if after.as_ref() != Some(before) {
                owned.pods.remove(key);
                if owned.pods.is_empty() {
                    self.pods_by_owner.remove(before);
                }
            }
        }
        if let (Some(after), Some(new)) = (after, new) {
            let owned = Arc::make_mut(self.pods_by_owner.entry(after).or_default());
            let [active, ready, terminating] = counts(new);
            owned.active += active;
            owned.ready += ready;
            owned.terminating += terminating;
            if !owned.pods.contains(key) {
                owned.pods.insert(key.clone());
            }
        }
    }

    /// Removes a pod.
    pub fn remove_pod(&mut self, key: &PodKey) -> Option<Arc<Pod>> {
        let old = self.pods.remove(key)?;
        self.index_owner(key, Some(&old), None);
        if is_orphan(&old) {
            Arc::make_mut(&mut self.orphans).remove(key);
        }
        self.unindex(key, &old.spec.node_name);
        Some(old)
    }

    fn unindex(&mut self, key: &PodKey, node: &str) {
        if let Some(pods) = self.pods_by_node.get_mut(node) {
            let pods = Arc::make_mut(pods);
            pods.remove(key);
            if pods.is_empty() {
                self.pods_by_node.remove(node);
            }
        }
    }
}

impl Lister for Cluster {
    fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.get(name).map(Arc::as_ref)
    }

    fn pod(&self, key: &PodKey) -> Option<&Pod> {
        self.pods.get(key).map(Arc::as_ref)
    }

    fn pods_on_node(&self, name: &str) -> impl Iterator<Item = (&PodKey, &Pod)> {
        self.pods_of(name).map(|(key, pod)| (key, pod.as_ref()))
    }
}
