//! The objects of a cluster: ordered stores and the index of pods by node.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::api::{Node, NodeName, Pod, PodDisruptionBudget, PodKey, Workload, WorkloadKey};

/// What a controller reads, as from the cache of an informer.
pub trait Lister {
    /// The node of that name.
    fn node(&self, name: &str) -> Option<&Node>;
    /// The pod with that key.
    fn pod(&self, key: &PodKey) -> Option<&Pod>;
    /// The pods whose `spec.nodeName` is that node, in the order of their keys.
    fn pods_on_node(&self, name: &str) -> impl Iterator<Item = (&PodKey, &Pod)>;
    /// Whether a DaemonSet selects the pod. Kubernetes compares the selectors of all DaemonSets of
    /// the pod's namespace; without those, the pod's owner tells.
    fn has_daemon_set(&self, pod: &Pod) -> bool {
        pod.metadata.owner_references.iter().any(|owner| owner.kind == "DaemonSet")
    }
}

/// Nodes, pods, workloads and budgets in memory.
///
/// Objects are shared, so that a copy of a cluster is cheap and two versions of an object can be
/// told apart by their pointers.
#[derive(Clone, Debug)]
pub struct Cluster {
    nodes: BTreeMap<NodeName, Arc<Node>>,
    /// Never walked, so that its order matters to nobody.
    pods: HashMap<PodKey, Arc<Pod>, FixedState>,
    pod_keys: BTreeSet<PodKey>,
    pods_by_node: BTreeMap<NodeName, BTreeMap<PodKey, Arc<Pod>>>,
    workloads: BTreeMap<WorkloadKey, Arc<Workload>>,
    budgets: BTreeMap<PodKey, Arc<PodDisruptionBudget>>,
}

impl Default for Cluster {
    fn default() -> Self {
        Self {
            nodes: BTreeMap::new(),
            pods: HashMap::with_hasher(FixedState::with_seed(0)),
            pod_keys: BTreeSet::new(),
            pods_by_node: BTreeMap::new(),
            workloads: BTreeMap::new(),
            budgets: BTreeMap::new(),
        }
    }
}

impl Cluster {
    /// All nodes, by name.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = (&NodeName, &Arc<Node>)> {
        self.nodes.iter()
    }

    /// All pods, by namespace and name.
    pub fn pods(&self) -> impl Iterator<Item = (&PodKey, &Arc<Pod>)> {
        self.pod_keys.iter().filter_map(|key| self.pods.get_key_value(key))
    }

    /// How many pods there are.
    #[must_use]
    pub fn pod_count(&self) -> usize {
        self.pods.len()
    }

    /// All workloads, by kind, namespace and name; also those that are assumed.
    pub fn workloads(&self) -> impl Iterator<Item = (&WorkloadKey, &Arc<Workload>)> {
        self.workloads.iter()
    }

    /// The workload with that key.
    #[must_use]
    pub fn get_workload(&self, key: &WorkloadKey) -> Option<&Arc<Workload>> {
        self.workloads.get(key)
    }

    /// Stores a workload and returns the version it replaces.
    pub fn put_workload(&mut self, workload: Arc<Workload>) -> Option<Arc<Workload>> {
        self.workloads.insert(workload.key(), workload)
    }

    /// Removes a workload.
    pub fn remove_workload(&mut self, key: &WorkloadKey) -> Option<Arc<Workload>> {
        self.workloads.remove(key)
    }

    /// All budgets, by namespace and name.
    pub fn budgets(&self) -> impl Iterator<Item = (&PodKey, &Arc<PodDisruptionBudget>)> {
        self.budgets.iter()
    }

    /// The budget of that namespace and name.
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

    /// The node of that name.
    #[must_use]
    pub fn get_node(&self, name: &str) -> Option<&Arc<Node>> {
        self.nodes.get(name)
    }

    /// The pod with that key.
    #[must_use]
    pub fn get_pod(&self, key: &PodKey) -> Option<&Arc<Pod>> {
        self.pods.get(key)
    }

    /// The pods bound to a node, by namespace and name. The empty name gives the pods that have no
    /// node.
    pub fn pods_of(&self, node: &str) -> impl Iterator<Item = (&PodKey, &Arc<Pod>)> {
        self.pods_by_node.get(node).into_iter().flatten()
    }

    /// The names of nodes that pods are bound to, by name; also those of nodes that are gone.
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
        match &old {
            None => {
                self.pod_keys.insert(key.clone());
            }
            Some(old) if old.spec.node_name != pod.spec.node_name => {
                self.unindex(key, &old.spec.node_name);
            }
            Some(_) => {}
        }
        match self.pods_by_node.get_mut(pod.spec.node_name.as_str()) {
            Some(pods) => {
                pods.insert(key.clone(), pod);
            }
            None => {
                let node = pod.spec.node_name.as_str().into();
                self.pods_by_node.insert(node, BTreeMap::from([(key.clone(), pod)]));
            }
        }
        old
    }

    /// Removes a pod.
    pub fn remove_pod(&mut self, key: &PodKey) -> Option<Arc<Pod>> {
        let old = self.pods.remove(key)?;
        self.pod_keys.remove(key);
        self.unindex(key, &old.spec.node_name);
        Some(old)
    }

    fn unindex(&mut self, key: &PodKey, node: &str) {
        if let Some(pods) = self.pods_by_node.get_mut(node) {
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
