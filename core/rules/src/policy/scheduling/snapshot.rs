//! The nodes and pods as the scheduler sees them, counted once.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::SchedulingError;
use super::alike::KnownAnswers;
use super::groups::{CountByPlace, OwnerKey, PodGroup, PodGroups};
use super::info::{AvoidedController, NodeInfo, PodInfo, add};
use super::needs::PodNeeds;
use super::plugins::Rejectors;
use crate::api::{LabelSelector, Labels, Node, Pod, PodKey, node_allocatable};
use crate::cluster::{Devices, Volumes};
use crate::order::{OrderedMap, OrderedSet};
use crate::policy::devices::AllocatorFeatures;
use crate::protocol::zone::ZoneKey;
use crate::release::KubernetesRelease;

/// Which scheduler it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchedulerConfig {
    /// The release, for the order of filters, weights and words.
    pub release: KubernetesRelease,
    /// Whether the gate `TaintTolerationComparisonOperators` is on.
    pub comparison_operators: bool,
    /// Whether a node has no `cpu`, `memory`, `ephemeral-storage` or room for pods of which it does
    /// not say how much, as upstream takes it. Otherwise it has no limit of it: a kubelet always
    /// says, a scenario need not.
    pub requires_allocatable: bool,
}

impl SchedulerConfig {
    /// The scheduler of a release with its default gates.
    #[must_use]
    pub const fn of(release: KubernetesRelease) -> Self {
        Self { release, comparison_operators: false, requires_allocatable: false }
    }
}

/// Devices as the scheduler sees them.
#[derive(Clone, Debug)]
pub(super) struct SchedulerDevices {
    pub(super) devices: Arc<Devices>,
    pub(super) features: AllocatorFeatures,
}

/// Nodes and the pods on them, with what they ask for added up. Mirrors the scheduler's cache.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(super) config: SchedulerConfig,
    nodes: Slots,
    /// The pods that are on nodes.
    pub(super) groups: PodGroups,
    /// The places of the nodes zone by zone in turn, as they are looked at; empty if that must be
    /// found anew.
    order: Arc<Vec<usize>>,
    /// How many nodes have an image, by its name.
    pub(super) images: OrderedMap<String, usize>,
    /// Pods that wait for a node on which room was made for them, by that node.
    nominated: OrderedMap<String, OrderedMap<PodKey, Arc<PodInfo>>>,
    /// The selectors of Services, ReplicaSets and StatefulSets that are known, by namespace, kind
    /// and name. Shared with copies until one changes.
    pub(super) selectors: Arc<OrderedMap<OwnerKey, LabelSelector>>,
    /// How many pods of each priority are on nodes.
    priorities: OrderedMap<i64, usize>,
    /// The claims that there are, by namespace and name, if they are known.
    pub(super) claims: Option<OrderedSet<(String, String)>>,
    /// Volumes, if they take part.
    pub(super) volumes: Option<Arc<Volumes>>,
    /// Devices, if they take part.
    pub(super) devices: Option<SchedulerDevices>,
    /// The labels of namespaces, if they are known.
    pub(super) namespaces: Arc<OrderedMap<String, Labels>>,
    entered: u64,
    /// The pod that was read last: the next one is often alike.
    last: Option<Arc<PodInfo>>,
    /// How often a node or its pods have changed.
    changes: u64,
    /// How often a node has come or gone, or its labels have changed.
    pub(super) label_changes: u64,
    pub(super) answers: KnownAnswers,
}

/// The nodes by name, each at a place of its own: a place is found faster than a name.
#[derive(Clone, Debug, Default)]
struct Slots {
    /// Shared with copies until a node comes or goes.
    places: Arc<OrderedMap<String, usize>>,
    infos: Vec<Arc<NodeInfo>>,
    /// Places that no node has.
    free: Vec<usize>,
}

impl Slots {
    fn get(&self, name: &str) -> Option<&Arc<NodeInfo>> {
        self.infos.get(*self.places.get(name)?)
    }

    fn get_mut(&mut self, name: &str) -> Option<&mut NodeInfo> {
        self.infos.get_mut(*self.places.get(name)?).map(Arc::make_mut)
    }

    /// Puts a node there if none has the name, and then does something with it.
    fn with<T>(&mut self, name: &str, act: impl FnOnce(&mut NodeInfo) -> T) -> T {
        if let Some(known) = self.get_mut(name) {
            return act(known);
        }
        let place = self.free.pop().unwrap_or(self.infos.len());
        let mut info = NodeInfo { place, ..NodeInfo::default() };
        let answer = act(&mut info);
        match self.infos.get_mut(place) {
            Some(slot) => *slot = Arc::new(info),
            None => self.infos.push(Arc::new(info)),
        }
        Arc::make_mut(&mut self.places).insert(name.to_string(), place);
        answer
    }

    fn remove(&mut self, name: &str) {
        if let Some(place) = Arc::make_mut(&mut self.places).remove(name) {
            if let Some(slot) = self.infos.get_mut(place) {
                *slot = Arc::default();
            }
            self.free.push(place);
        }
    }

    /// In the order of their names.
    fn iter(&self) -> impl Iterator<Item = (usize, &NodeInfo)> {
        let info = |place: usize| Some((place, self.infos.get(place)?.as_ref()));
        self.places.values().filter_map(move |place| info(*place))
    }
}

/// The kind of the Services among the selectors.
pub(super) const SERVICE: &str = "Service";

impl Snapshot {
    /// Counts what is on the nodes; pods that are bound to no node, or have ended, do not count.
    /// The order of the nodes matters for nothing but `ImageLocality`, that of the
    /// pods for nothing but the choice among victims of preemption that are equally important.
    ///
    /// # Errors
    /// The first object with a field that cannot be read.
    pub fn new<'a>(
        config: SchedulerConfig,
        nodes: impl IntoIterator<Item = &'a Node>,
        pods: impl IntoIterator<Item = &'a Pod>,
    ) -> Result<Self, SchedulingError> {
        let mut snapshot = Self {
            config,
            nodes: Slots::default(),
            groups: PodGroups::default(),
            order: Arc::default(),
            images: OrderedMap::new(),
            nominated: OrderedMap::new(),
            selectors: Arc::default(),
            priorities: OrderedMap::new(),
            claims: None,
            volumes: None,
            devices: None,
            namespaces: Arc::default(),
            entered: 0,
            last: None,
            changes: 0,
            label_changes: 0,
            answers: KnownAnswers::default(),
        };
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
        self.forget_images(name);
        let mut images = images_of(node);
        for (image, (_, nodes)) in &mut images {
            let all = self.images.entry(image.clone()).or_default();
            *all += 1;
            *nodes = *all;
        }
        self.changes += 1;
        let version = self.changes;
        let (reorders, relabels) = self.nodes.with(name, |info| {
            info.version = version;
            let zone = ZoneKey::of(&node.metadata.labels);
            let reorders = !info.exists || info.zone != zone;
            let relabels = !info.exists || info.labels != node.metadata.labels;
            if *info.name != *name {
                info.name = name.as_str().into();
            }
            info.exists = true;
            info.labels.clone_from(&node.metadata.labels);
            info.zone = zone;
            info.taints.clone_from(&node.spec.taints);
            info.unschedulable = node.spec.unschedulable;
            info.allocatable = allocatable;
            info.images = images;
            info.avoids = AvoidedController::all_of(node);
            (reorders, relabels)
        });
        self.label_changes += u64::from(relabels);
        if reorders {
            self.order = Arc::default();
        }
        Ok(())
    }

    /// Takes away the images of a node from those that nodes have.
    fn forget_images(&mut self, node: &str) {
        let Some(info) = self.nodes.get(node) else { return };
        for image in info.images.keys() {
            if let Some(nodes) = self.images.get_mut(image) {
                *nodes -= 1;
            }
        }
    }

    /// Tells of a Service (`spec.selector`, if it has one), by which pods are spread that have no
    /// constraints of their own.
    pub fn set_service(
        &mut self,
        namespace: &str,
        name: &str,
        selector: Option<&BTreeMap<String, String>>,
    ) {
        let key = (namespace.to_string(), SERVICE.to_string(), name.to_string());
        let mut requirements = LabelSelector::default();
        for (label, value) in selector.into_iter().flatten() {
            requirements.require(label, value);
        }
        Arc::make_mut(&mut self.selectors).insert(key, requirements);
    }

    /// Tells of the selector of a `ReplicaSet` or `StatefulSet`, by which pods are spread that have
    /// no constraints of their own. The pods of one that is not known are counted by their owner.
    pub fn set_workload_selector(
        &mut self,
        kind: &str,
        namespace: &str,
        name: &str,
        selector: LabelSelector,
    ) {
        let key = (namespace.to_string(), kind.to_string(), name.to_string());
        Arc::make_mut(&mut self.selectors).insert(key, selector);
    }

    /// Says which claims (`PersistentVolumeClaim`) there are, by namespace and name. Unless this is
    /// said, every claim is there.
    pub fn set_claims(&mut self, claims: impl IntoIterator<Item = (String, String)>) {
        self.claims = Some(claims.into_iter().collect());
    }

    /// Says which volumes there are, with their claims; unless this is said, they keep no pod off a
    /// node.
    pub fn set_volumes(&mut self, volumes: Option<Arc<Volumes>>) {
        self.volumes = volumes;
    }

    /// Tells the labels of namespaces, by which a `namespaceSelector` selects them. One that is not
    /// known has the label with its name alone.
    pub fn set_namespaces(&mut self, namespaces: OrderedMap<String, Labels>) {
        self.namespaces = Arc::new(namespaces);
    }

    /// How many other pods on nodes use a claim.
    pub(super) fn users_of_claim(&self, claim: &PodKey, but: &PodKey) -> i64 {
        // Nobody asks the pods of a node that is gone (`Snapshot.IsPVCUsedByPods`).
        let nodes = self.nodes.iter().filter(|(_, node)| node.exists);
        let pods = nodes.flat_map(|(_, node)| &node.pods);
        let users = pods.filter(|(key, pod)| *key != but && pod.claims.contains(claim)).count();
        i64::try_from(users).unwrap_or(i64::MAX)
    }

    /// Removes a node. Pods bound to it are remembered, should it come back.
    pub fn remove_node(&mut self, name: &str) {
        self.order = Arc::default();
        self.label_changes += 1;
        self.forget_images(name);
        if let Some(info) = self.nodes.get_mut(name) {
            info.exists = false;
            info.images.clear();
            if info.pods.is_empty() {
                self.nodes.remove(name);
            }
        }
    }

    /// Adds a pod to the node of its `spec.nodeName`, or tells of its new state. One that is bound
    /// to no node counts only where it is nominated (`status.nominatedNodeName`), and one that has
    /// ended no longer does.
    ///
    /// # Errors
    /// A field of the pod that cannot be read; the snapshot is as before.
    pub fn add_pod(&mut self, pod: &Pod) -> Result<(), SchedulingError> {
        let name = &pod.spec.node_name;
        let key = pod.key();
        let nominated = pod.nominated_node_name();
        if pod.has_ended() || (name.is_empty() && nominated.is_empty()) {
            self.remove_pod(&key, name);
            return Ok(());
        }
        let mut pod = self.read(pod)?;
        self.remove_pod(&key, name);
        pod.group = self.groups.shared(pod.group);
        self.entered += 1;
        pod.entered = self.entered;
        let pod = Arc::new(pod);
        self.last = Some(pod.clone());
        if name.is_empty() {
            let there = self.nominated.entry(nominated.to_string()).or_default();
            there.insert(key, pod);
            return Ok(());
        }
        *self.priorities.entry(pod.fields.priority).or_default() += 1;
        let (group, needs) = (pod.group.clone(), pod.needs.clone());
        self.changes += 1;
        let version = self.changes;
        let place = self.nodes.with(name, |info| {
            info.version = version;
            add(&mut info.requested, &pod.requests, 1);
            add(&mut info.scored_requested, &pod.scored_requests, 1);
            info.ports.extend(pod.fields.host_ports.iter().cloned());
            info.pods.insert(key, pod);
            info.place
        });
        self.groups.add(&group, &needs, place);
        Ok(())
    }

    /// The release that it was made for.
    #[must_use]
    pub const fn release(&self) -> KubernetesRelease {
        self.config.release
    }

    /// Whether there is any pod of lower priority on a node.
    #[must_use]
    pub fn has_lower_priority(&self, priority: i64) -> bool {
        self.priorities.range(..priority).next().is_some()
    }

    /// Whether room was made for any pod that waits for a node.
    pub(super) fn has_nominated(&self) -> bool {
        !self.nominated.is_empty()
    }

    /// The pods that wait for a node, and for which room was made on this one.
    pub(super) fn nominated_on(&self, node: &str) -> impl Iterator<Item = (&PodKey, &PodInfo)> {
        let there = self.nominated.get(node).into_iter().flatten();
        there.map(|(key, pod)| (key, pod.as_ref()))
    }

    /// Removes a pod from a node, and from where it is nominated; whether it was on the node.
    pub fn remove_pod(&mut self, key: &PodKey, node: &str) -> bool {
        if !self.nominated.is_empty() {
            self.nominated.retain(|_, pods| {
                pods.remove(key);
                !pods.is_empty()
            });
        }
        // A node that is not changed stays shared with copies.
        if self.nodes.get(node).is_none_or(|info| !info.pods.contains_key(key)) {
            return false;
        }
        let Some(info) = self.nodes.get_mut(node) else { return false };
        let Some(pod) = info.pods.remove(key) else { return false };
        self.changes += 1;
        info.version = self.changes;
        self.groups.remove(&pod.group, info.place);
        add(&mut info.requested, &pod.requests, -1);
        add(&mut info.scored_requested, &pod.scored_requests, -1);
        for port in &pod.fields.host_ports {
            info.ports.remove(port);
        }
        if let Some(count) = self.priorities.get_mut(&pod.fields.priority) {
            *count -= 1;
            if *count == 0 {
                self.priorities.remove(&pod.fields.priority);
            }
        }
        if info.pods.is_empty() && !info.exists {
            self.nodes.remove(node);
        }
        true
    }

    /// The nodes that are there, in the order of their names.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &NodeInfo> {
        self.nodes.iter().map(|(_, node)| node).filter(|node| node.exists)
    }

    /// How many nodes are there.
    pub(super) fn node_count(&self) -> usize {
        match self.order.len() {
            0 => self.nodes().count(),
            known => known,
        }
    }

    /// The node at a place, if it is there.
    pub(super) fn node_at(&self, place: usize) -> Option<&NodeInfo> {
        self.nodes.infos.get(place).map(Arc::as_ref).filter(|node| node.exists)
    }

    /// The nodes at these places, if they are there, with how many pods are counted on each.
    pub(super) fn nodes_at<'a>(
        &'a self,
        counts: &'a CountByPlace,
    ) -> impl Iterator<Item = (&'a NodeInfo, i64)> {
        counts.iter().filter_map(|(place, count)| Some((self.node_at(*place)?, *count)))
    }

    /// The node of that name, if it is there.
    pub(super) fn node(&self, name: &str) -> Option<&NodeInfo> {
        self.nodes.get(name).map(Arc::as_ref).filter(|node| node.exists)
    }

    /// The places of the nodes zone by zone in turn. Mirrors `nodeTree.list`.
    pub(super) fn in_turn(&mut self) -> Arc<Vec<usize>> {
        if self.order.is_empty() {
            let mut zones: OrderedMap<&ZoneKey, alloc::collections::VecDeque<usize>> =
                OrderedMap::new();
            for (place, node) in self.nodes.iter().filter(|(_, node)| node.exists) {
                zones.entry(&node.zone).or_default().push_back(place);
            }
            let mut order = Vec::new();
            let mut zones: Vec<_> = zones.into_values().collect();
            while zones.iter().any(|zone| !zone.is_empty()) {
                order.extend(zones.iter_mut().filter_map(|zone| zone.pop_front()));
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

    /// Checks many pods, as [`check`](Self::check) does one.
    ///
    /// # Errors
    /// The first field that cannot be read.
    pub fn check_all<'a>(
        &mut self,
        pods: impl Iterator<Item = &'a Pod>,
    ) -> Result<(), SchedulingError> {
        for pod in pods {
            self.last = Some(Arc::new(self.read(pod)?));
        }
        Ok(())
    }

    /// Changes with everything that decides whether a node by itself takes a pod.
    pub(super) const fn stamp(&self) -> (u64, u64) {
        (self.changes, self.label_changes)
    }

    /// Why the pod that was placed last goes nowhere, and which plugins rejected it, if that was
    /// said to a pod that is alike.
    pub fn known_failure(&self) -> Option<(String, Rejectors)> {
        self.answers.known_failure()
    }

    /// Keeps that for pods that are alike.
    pub fn keep_failure(&mut self, message: &str, rejectors: Rejectors) {
        self.answers.keep_failure(message, rejectors);
    }

    pub(super) fn read(&self, pod: &Pod) -> Result<PodInfo, SchedulingError> {
        let release = self.config.release;
        if let Some(last) = self.last.as_deref().filter(|last| last.needs.are_of(pod)) {
            return read(pod, release, Some((&last.group, &last.needs)));
        }
        let owner = pod.metadata.controller().map(|owner| {
            let key = pod.key();
            (key.namespace().to_string(), owner.kind.clone(), owner.name.clone())
        });
        let mut known = owner.iter().flat_map(|owner| self.groups.needs_of_owner(owner));
        read(pod, release, known.find(|(_, needs)| needs.are_of(pod)))
    }
}

/// Mirrors `podTerminatingByPreemption`.
fn read(
    pod: &Pod,
    release: KubernetesRelease,
    alike: Option<(&Arc<PodGroup>, &Arc<PodNeeds>)>,
) -> Result<PodInfo, SchedulingError> {
    PodInfo::of(pod, release, alike)
        .map_err(|error| SchedulingError { object: format!("pod {}", pod.key()), error })
}

/// Whether a scheduler of that release can read a pod.
pub fn check_pod(release: KubernetesRelease, pod: &Pod) -> Result<(), SchedulingError> {
    read(pod, release, None).map(|_| ())
}

/// The size of each image of a node, by each of its names. What cannot be read does not count.
fn images_of(node: &Node) -> OrderedMap<String, (i64, usize)> {
    let images = node.status.other.get("images").and_then(|images| images.as_array());
    let mut sizes = OrderedMap::new();
    for image in images.into_iter().flatten() {
        let size = image.get("sizeBytes").and_then(|size| size.as_i64()).unwrap_or_default();
        let names = image.get("names").and_then(|names| names.as_array());
        let names = names.into_iter().flatten().filter_map(|name| name.as_str());
        sizes.extend(names.map(|name| (name.to_string(), (size, 0))));
    }
    sizes
}
