//! The nodes and pods as the scheduler sees them, counted once.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::SchedulingError;
use crate::api::{
    Amounts, Node, Pod, PodKey, PodPhase, ResourceError, SchedulingFields, Taint, Toleration,
    node_allocatable, pod_requests,
};
use crate::protocol::zone::ZoneKey;
use crate::release::KubernetesRelease;

/// What a container counts for in scores if it asks for nothing: 0.1 CPU and 200 MiB. Mirrors
/// `DefaultMilliCPURequest` and `DefaultMemoryRequest`.
const LEAST: [(&str, i64); 2] = [("cpu", 100), ("memory", 200 << 20)];

/// Which scheduler it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchedulerConfig {
    /// The release, for the order of filters, weights and words.
    pub release: KubernetesRelease,
    /// Whether the gate `TaintTolerationComparisonOperators` is on.
    pub comparison_operators: bool,
}

impl SchedulerConfig {
    /// The scheduler of a release with its default gates.
    #[must_use]
    pub const fn of(release: KubernetesRelease) -> Self {
        Self { release, comparison_operators: false }
    }
}

/// What a pod asks for and is chosen by. Mirrors `framework.PodInfo`.
#[derive(Clone, Debug)]
pub(super) struct PodInfo {
    pub(super) namespace: String,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) node_name: String,
    pub(super) tolerations: Vec<Toleration>,
    pub(super) terminating: bool,
    /// Its controller: kind and name, if it has one.
    pub(super) owner: Option<(String, String)>,
    pub(super) requests: Amounts,
    /// The same with at least [`LEAST`] for each container.
    pub(super) scored_requests: Amounts,
    pub(super) fields: SchedulingFields,
}

impl PodInfo {
    fn of(pod: &Pod, release: KubernetesRelease) -> Result<Self, ResourceError> {
        let namespace = pod.key().namespace().to_string();
        let owner =
            pod.metadata.owner_references.iter().find(|owner| owner.controller == Some(true));
        Ok(Self {
            namespace,
            labels: pod.metadata.labels.clone(),
            node_name: pod.spec.node_name.clone(),
            tolerations: pod.spec.tolerations.clone(),
            terminating: pod.is_terminating(),
            owner: owner.map(|owner| (owner.kind.clone(), owner.name.clone())),
            requests: pod_requests(pod, release, &[])?,
            scored_requests: pod_requests(pod, release, &LEAST)?,
            fields: SchedulingFields::of(pod)?,
        })
    }

    /// Its controller, if it counts among the pods of that.
    fn counted_owner(&self) -> Option<OwnerKey> {
        let (kind, name) = self.owner.as_ref().filter(|_| !self.terminating)?;
        Some((self.namespace.clone(), kind.clone(), name.clone()))
    }

    /// Whether it says anything about other pods.
    pub(super) fn has_pod_affinity(&self) -> bool {
        let fields = &self.fields;
        !(fields.required_affinity.is_empty()
            && fields.preferred_affinity.is_empty()
            && fields.required_anti_affinity.is_empty()
            && fields.preferred_anti_affinity.is_empty())
    }
}

/// A node and what is on it. Mirrors `framework.NodeInfo`.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeInfo {
    pub(super) name: String,
    /// Pods can be bound to a node that is not there (any more).
    exists: bool,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) taints: Vec<Taint>,
    pub(super) unschedulable: bool,
    pub(super) allocatable: Amounts,
    pub(super) requested: Amounts,
    pub(super) scored_requested: Amounts,
    pub(super) pods: BTreeMap<PodKey, Arc<PodInfo>>,
    /// How many of the pods say something about other pods.
    pub(super) with_affinity: usize,
}

/// Nodes and the pods on them, with what they ask for added up. Mirrors the scheduler's cache.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(super) config: SchedulerConfig,
    nodes: BTreeMap<String, Arc<NodeInfo>>,
    /// How many pods of each controller, given by namespace, kind and name, are on each node;
    /// those that are terminating do not count.
    pub(super) owned: BTreeMap<OwnerKey, BTreeMap<String, i64>>,
    /// The nodes zone by zone in turn, as they are looked at; empty if that must be found anew.
    order: Arc<Vec<String>>,
}

/// Namespace, kind and name of a controller.
pub(super) type OwnerKey = (String, String, String);

impl Snapshot {
    /// Counts what is on the nodes. The order of the objects does not matter; pods that are bound to
    /// no node, or have ended, do not count.
    ///
    /// # Errors
    /// The first object with a field that cannot be read.
    pub fn new<'a>(
        config: SchedulerConfig,
        nodes: impl IntoIterator<Item = &'a Node>,
        pods: impl IntoIterator<Item = &'a Pod>,
    ) -> Result<Self, SchedulingError> {
        let mut snapshot =
            Self { config, nodes: BTreeMap::new(), owned: BTreeMap::new(), order: Arc::default() };
        for node in nodes {
            snapshot.set_node(node)?;
        }
        for pod in pods {
            snapshot.add_pod(pod)?;
        }
        Ok(snapshot)
    }

    /// Adds a node, or tells of its new state; its pods stay.
    ///
    /// # Errors
    /// An amount of the node that is no quantity; the snapshot is as before.
    pub fn set_node(&mut self, node: &Node) -> Result<(), SchedulingError> {
        let name = &node.metadata.name;
        let allocatable = node_allocatable(node)
            .map_err(|error| SchedulingError { object: format!("node {name}"), error })?;
        let info = Arc::make_mut(self.nodes.entry(name.clone()).or_default());
        if !info.exists || ZoneKey::of(&info.labels) != ZoneKey::of(&node.metadata.labels) {
            self.order = Arc::default();
        }
        info.name.clone_from(name);
        info.exists = true;
        info.labels.clone_from(&node.metadata.labels);
        info.taints.clone_from(&node.spec.taints);
        info.unschedulable = node.spec.unschedulable;
        info.allocatable = allocatable;
        Ok(())
    }

    /// Removes a node. Pods bound to it are remembered, should it come back.
    pub fn remove_node(&mut self, name: &str) {
        self.order = Arc::default();
        if let Some(info) = self.nodes.get_mut(name) {
            let info = Arc::make_mut(info);
            info.exists = false;
            if info.pods.is_empty() {
                self.nodes.remove(name);
            }
        }
    }

    /// Adds a pod to the node of its `spec.nodeName`, or tells of its new state. One that is bound
    /// to no node does not count, and one that has ended no longer does.
    ///
    /// # Errors
    /// A field of the pod that cannot be read; the snapshot is as before.
    pub fn add_pod(&mut self, pod: &Pod) -> Result<(), SchedulingError> {
        let name = &pod.spec.node_name;
        if name.is_empty() {
            return Ok(());
        }
        let key = pod.key();
        if matches!(pod.status.phase, PodPhase::Succeeded | PodPhase::Failed) {
            self.remove_pod(&key, name);
            return Ok(());
        }
        let pod = self.read(pod)?;
        self.remove_pod(&key, name);
        if let Some(owner) = pod.counted_owner() {
            *self.owned.entry(owner).or_default().entry(name.clone()).or_default() += 1;
        }
        let info = Arc::make_mut(self.nodes.entry(name.clone()).or_default());
        add(&mut info.requested, &pod.requests, 1);
        add(&mut info.scored_requested, &pod.scored_requests, 1);
        info.with_affinity += usize::from(pod.has_pod_affinity());
        info.pods.insert(key, Arc::new(pod));
        Ok(())
    }

    /// Removes a pod from a node; whether it was there.
    pub fn remove_pod(&mut self, key: &PodKey, node: &str) -> bool {
        let Some(info) = self.nodes.get_mut(node) else { return false };
        let info = Arc::make_mut(info);
        let Some(pod) = info.pods.remove(key) else { return false };
        if let Some(owner) = pod.counted_owner()
            && let Some(nodes) = self.owned.get_mut(&owner)
        {
            if let Some(count) = nodes.get_mut(node) {
                *count -= 1;
                if *count <= 0 {
                    nodes.remove(node);
                }
            }
            if nodes.is_empty() {
                self.owned.remove(&owner);
            }
        }
        add(&mut info.requested, &pod.requests, -1);
        add(&mut info.scored_requested, &pod.scored_requests, -1);
        info.with_affinity -= usize::from(pod.has_pod_affinity());
        if info.pods.is_empty() && !info.exists {
            self.nodes.remove(node);
        }
        true
    }

    /// The nodes that are there, in the order of their names.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &NodeInfo> {
        self.nodes.values().map(Arc::as_ref).filter(|node| node.exists)
    }

    /// The node of that name, if it is there.
    pub(super) fn node(&self, name: &str) -> Option<&NodeInfo> {
        self.nodes.get(name).map(Arc::as_ref).filter(|node| node.exists)
    }

    /// The nodes zone by zone in turn. Mirrors `nodeTree.list`.
    pub(super) fn in_turn(&mut self) -> Arc<Vec<String>> {
        if self.order.is_empty() {
            let mut zones: BTreeMap<ZoneKey, alloc::collections::VecDeque<&String>> =
                BTreeMap::new();
            for node in self.nodes.values().filter(|node| node.exists) {
                zones.entry(ZoneKey::of(&node.labels)).or_default().push_back(&node.name);
            }
            let mut order = Vec::new();
            let mut zones: Vec<_> = zones.into_values().collect();
            while zones.iter().any(|zone| !zone.is_empty()) {
                order.extend(zones.iter_mut().filter_map(|zone| zone.pop_front().cloned()));
            }
            self.order = Arc::new(order);
        }
        self.order.clone()
    }

    /// Whether all that the scheduler reads of a pod can be read.
    ///
    /// # Errors
    /// The field that cannot.
    pub fn check(&self, pod: &Pod) -> Result<(), SchedulingError> {
        self.read(pod).map(|_| ())
    }

    pub(super) fn read(&self, pod: &Pod) -> Result<PodInfo, SchedulingError> {
        read(pod, self.config.release)
    }
}

fn read(pod: &Pod, release: KubernetesRelease) -> Result<PodInfo, SchedulingError> {
    PodInfo::of(pod, release)
        .map_err(|error| SchedulingError { object: format!("pod {}", pod.key()), error })
}

/// Whether a scheduler of that release can read a pod.
pub(crate) fn check_pod(release: KubernetesRelease, pod: &Pod) -> Result<(), SchedulingError> {
    read(pod, release).map(|_| ())
}

fn add(sum: &mut Amounts, amounts: &Amounts, sign: i64) {
    for (name, amount) in amounts {
        let total = sum.entry(name.clone()).or_default();
        *total = total.saturating_add(amount.saturating_mul(sign));
    }
}
