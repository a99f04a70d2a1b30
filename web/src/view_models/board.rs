//! The board: plain values, shared, rebuilt only where something has changed.

pub(crate) mod density;
pub(crate) mod mark;
pub(crate) mod patch;
pub(crate) mod picture;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::rc::Rc;

use taintlab_core::api::{ConditionStatus, Node, NodeName, Pod, PodKey, Taint};
use taintlab_core::controllers::node_lifecycle::zone::zone_key;
use taintlab_core::event::UnreachableCause;
use taintlab_core::order::{OrderedMap, OrderedSet};
use taintlab_core::pod_state::{PodCounts, PodHealth, PodState, PodVerdict};
use taintlab_core::simulator::{DeviceView, Simulator, devices_of_node};

use super::selection::Selection;
use crate::session::{Gone, Session, Touched};
use crate::text::count;

/// A pod on the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PodView {
    /// The key.
    pub(crate) key: PodKey,
    /// Its node; empty if it has none.
    pub(crate) node: String,
    /// The verdict and the health.
    pub(crate) state: PodState,
    /// The reason why it has no node, in the scheduler's words; empty if it has one or was not
    /// tried.
    pub(crate) why: String,
    /// The name of its controller; empty if it has none.
    pub(crate) owner: Rc<str>,
}

impl PodView {
    /// The remark at the end of its row, beside a countdown.
    pub(crate) fn remark(&self) -> &'static str {
        let state = self.state;
        match (state.verdict, state.health) {
            (PodVerdict::Stuck, _) => "stuck",
            (PodVerdict::Orphaned, _) => "orphaned",
            (PodVerdict::Evicted, _) => "evicted",
            (PodVerdict::Counting, _) if state.timer.is_some_and(|it| it.never_ends()) => "never",
            (_, PodHealth::Ready) => "",
            (_, health) => health.words(),
        }
    }
}

/// The cause of an unreachable kubelet, in as few words as fit.
pub(crate) fn unreachable_words(cause: UnreachableCause) -> &'static str {
    match cause {
        UnreachableCause::KubeletStopped => "kubelet stopped",
        UnreachableCause::NodeOff => "node off",
        UnreachableCause::NetworkCut => "network cut",
        UnreachableCause::ZoneNetworkCut => "zone cut off",
    }
}

/// The devices that one driver publishes for a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DriverDevices {
    /// The driver.
    pub(crate) driver: String,
    /// The number of devices.
    pub(crate) count: usize,
    /// The tainted ones, at most [`MOST_TAINTED`]: `gpu-0 tainted example.com/unhealthy:NoExecute`.
    pub(crate) tainted: Vec<String>,
    /// The number of tainted ones.
    pub(crate) tainted_count: usize,
}

/// Tainted devices of a driver that a card names at most.
pub(crate) const MOST_TAINTED: usize = 4;

impl DriverDevices {
    /// The devices of a node by driver; they are in the order of drivers.
    fn of(views: &[DeviceView]) -> Vec<Self> {
        let mut drivers: Vec<Self> = Vec::new();
        for view in views {
            if drivers.last().is_none_or(|last| last.driver != view.driver) {
                let driver = view.driver.clone();
                drivers.push(Self { driver, count: 0, tainted: Vec::new(), tainted_count: 0 });
            }
            let Some(last) = drivers.last_mut() else { continue };
            last.count += 1;
            if view.taints.is_empty() {
                continue;
            }
            last.tainted_count += 1;
            if last.tainted.len() < MOST_TAINTED {
                last.tainted.push(format!("{} tainted {}", view.device, view.taints.join(", ")));
            }
        }
        drivers
    }

    /// The number of devices and the tainted ones in words.
    pub(crate) fn words(&self) -> String {
        let mut words = format!("{} of {}", count(self.count, "device"), self.driver);
        for tainted in &self.tainted {
            words.push_str(", ");
            words.push_str(tainted);
        }
        words
    }
}

/// A node on the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NodeView {
    /// The name.
    pub(crate) name: NodeName,
    /// The key of its zone.
    pub(crate) zone: Rc<str>,
    /// The status of its condition `Ready`.
    pub(crate) ready: ConditionStatus,
    /// The cause if its kubelet is unreachable.
    pub(crate) unreachable: Option<UnreachableCause>,
    /// Whether it is cordoned.
    pub(crate) unschedulable: bool,
    /// Its taints.
    pub(crate) taints: Vec<Taint>,
    /// Its devices, by driver.
    pub(crate) devices: Vec<DriverDevices>,
    /// Its pods; on the page, only those that are drawn.
    pub(crate) pods: Vec<Rc<PodView>>,
    /// The number of its pods.
    pub(crate) pod_count: usize,
    /// The numbers of its pods by state.
    pub(crate) counts: PodCounts,
    /// The pods that left it, last one first, at most [`GONE_PER_NODE`].
    pub(crate) gone: Vec<Rc<Gone>>,
    /// The number of pods that left it.
    pub(crate) gone_count: usize,
    /// Whether the object exists; pods may be bound to a node that does not.
    pub(crate) exists: bool,
}

/// Pods that are gone and that a node remembers by name, at most.
pub(crate) const GONE_PER_NODE: usize = 6;

impl NodeView {
    /// Whether it exists and its condition `Ready` is `True`.
    pub(crate) fn is_ready(&self) -> bool {
        self.exists && self.ready == ConditionStatus::True
    }

    /// Whether nothing happens on it that a user would look for.
    pub(crate) fn is_fine(&self) -> bool {
        let well = self.counts.health(PodHealth::Ready) + self.counts.health(PodHealth::Succeeded);
        self.is_ready()
            && self.unreachable.is_none()
            && self.gone_count == 0
            && !self.taints.iter().any(Taint::is_no_execute)
            && self.devices.iter().all(|driver| driver.tainted_count == 0)
            && self.counts.verdict(PodVerdict::Stays) == self.pod_count
            && well == self.pod_count
    }

    /// The status, as in the column STATUS of `kubectl get nodes`.
    pub(crate) fn status(&self) -> &'static str {
        match (&self.ready, self.unschedulable) {
            _ if !self.exists => "NotFound",
            (ConditionStatus::True, false) => "Ready",
            (ConditionStatus::True, true) => "Ready,SchedulingDisabled",
            (ConditionStatus::Empty, false) => "Unknown",
            (ConditionStatus::Empty, true) => "Unknown,SchedulingDisabled",
            (_, false) => "NotReady",
            (_, true) => "NotReady,SchedulingDisabled",
        }
    }
}

/// A zone on the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ZoneView {
    /// Its key.
    pub(crate) key: Rc<str>,
    /// The name, as in the label.
    pub(crate) name: String,
    /// The region, as in the label.
    pub(crate) region: String,
    /// Its nodes.
    pub(crate) nodes: Vec<Rc<NodeView>>,
    /// The number of nodes that are ready.
    pub(crate) ready: usize,
    /// The numbers of pods on them by state.
    pub(crate) counts: PodCounts,
    /// The number of pods on them.
    pub(crate) pods: usize,
    /// The state and the rate from the node lifecycle controller: `FullDisruption, 0.1 nodes/s`;
    /// empty if there is none.
    pub(crate) state: String,
}

/// The numbers of objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Nodes.
    pub(crate) nodes: usize,
    /// Pods.
    pub(crate) pods: usize,
    /// Pods without a node.
    pub(crate) pending: usize,
    /// Pods by their state, those that are gone included.
    pub(crate) counts: PodCounts,
    /// The number of evictions.
    pub(crate) evictions: usize,
}

/// The contents of the board.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Board {
    /// The zones, by key; then, as zones without nodes, places of pods whose node does not exist.
    pub(crate) zones: Vec<Rc<ZoneView>>,
    /// Pods without a node.
    pub(crate) pending: Vec<Rc<PodView>>,
    /// The numbers of objects.
    pub(crate) totals: Totals,
}

/// Nodes from which on a board may not be in sight as a whole.
const FEW_NODES: usize = 5;

/// Pods that a search by name returns at most.
const MOST_NAMED: usize = 50;

impl Board {
    /// Whether nodes on which nothing happens are folded: something happens on a board that is
    /// larger than the part in sight.
    pub(crate) fn folds(&self) -> bool {
        let counts = &self.totals.counts;
        let happens = PodVerdict::ALL
            .into_iter()
            .any(|verdict| verdict != PodVerdict::Stays && counts.verdict(verdict) > 0);
        let lost = || {
            self.zones
                .iter()
                .flat_map(|zone| &zone.nodes)
                .any(|node| node.exists && (!node.is_ready() || node.unreachable.is_some()))
        };
        self.totals.nodes >= FEW_NODES && (happens || lost())
    }
}

/// The key of the zone of pods whose node does not exist.
const NOWHERE: &str = "\0";

/// Keeps a [`Board`] up to date.
#[derive(Default)]
pub(crate) struct BoardModel {
    pods: OrderedMap<PodKey, Rc<PodView>>,
    nodes: OrderedMap<NodeName, Rc<NodeView>>,
    zones: OrderedMap<Rc<str>, Rc<ZoneView>>,
    /// The pods without a node.
    pending: OrderedMap<PodKey, Rc<PodView>>,
    /// The pods that are gone, by node, and their number.
    gone_by_node: GoneByNode,
    gone: usize,
    evictions: usize,
    board: Rc<Board>,
}

impl BoardModel {
    /// The board to show.
    pub(crate) fn board(&self) -> &Rc<Board> {
        &self.board
    }

    /// All pods.
    pub(crate) fn pods(&self) -> &OrderedMap<PodKey, Rc<PodView>> {
        &self.pods
    }

    /// A pod of the board.
    pub(crate) fn pod(&self, key: &PodKey) -> Option<&Rc<PodView>> {
        self.pods.get(key)
    }

    /// A node of the board.
    pub(crate) fn node(&self, name: &str) -> Option<&Rc<NodeView>> {
        self.nodes.get(name)
    }

    /// A zone of the board.
    pub(crate) fn zone(&self, key: &str) -> Option<&Rc<ZoneView>> {
        self.zones.get(key)
    }

    /// The node or pod after `after` with `name` in its name: first those with exactly this name,
    /// then nodes before pods.
    pub(crate) fn find(&self, name: &str, after: Option<&Selection>) -> Option<Selection> {
        let nodes = self.nodes.keys().map(|node| (node.as_str(), Selection::Node(node.clone())));
        let pods = self.pods.keys().filter(|pod| pod.as_str().contains(name));
        let pods = pods.map(|pod| (pod.name(), Selection::Pod(pod.clone())));
        let has = nodes.filter(|(called, _)| called.contains(name)).chain(pods);
        let (exact, others): (Vec<_>, Vec<_>) = has.partition(|(called, _)| *called == name);
        let mut found: Vec<_> = exact.into_iter().chain(others).map(|(_, what)| what).collect();
        let last = after.and_then(|after| found.iter().position(|one| one == after));
        let next = last.map_or(0, |last| (last + 1) % found.len());
        (next < found.len()).then(|| found.swap_remove(next))
    }

    /// Pods with all of these words in their keys, by key, at most [`MOST_NAMED`].
    pub(crate) fn pods_named(&self, words: &str) -> Vec<String> {
        let words: Vec<String> = words.split_whitespace().map(str::to_ascii_lowercase).collect();
        let keys = self.pods.keys().map(|pod| pod.as_str());
        let named = keys.filter(|key| words.iter().all(|word| key.contains(word.as_str())));
        named.take(MOST_NAMED).map(str::to_owned).collect()
    }

    /// Rebuilds the parts that changed in the session; `false` if there are none.
    pub(crate) fn update(&mut self, session: &mut Session) -> bool {
        let touched = session.take_touched();
        if touched == Touched::default() {
            return false;
        }
        let simulator = session.simulator();
        let (nodes, pods) = self.update_pods(simulator, &touched);
        self.record_gone(session.gone(), &touched);
        if touched.all {
            self.rebuild_all_nodes(simulator);
        } else {
            for name in nodes {
                let known = self.nodes.get(&name).cloned();
                let known = known.as_ref().map_or(&[][..], |node| &node.pods);
                self.rebuild_node(simulator, &name, known, &pods);
            }
        }
        self.evictions = simulator.evictions_until_now();
        self.rebuild_board(&zone_states(simulator));
        true
    }

    /// Rebuilds pods, and returns the nodes that they are or were on, and their keys unless these
    /// are all.
    fn update_pods(
        &mut self,
        simulator: &Simulator,
        touched: &Touched,
    ) -> (OrderedSet<NodeName>, OrderedSet<PodKey>) {
        let mut nodes = touched.nodes.clone();
        let states = simulator.pod_states();
        let view = |key: &PodKey, pod: &Pod| PodView {
            key: key.clone(),
            node: pod.spec.node_name.clone(),
            state: states.get(key).unwrap_or_else(|| PodState::at_rest(pod)),
            why: why_pending(pod),
            owner: owner(pod),
        };
        if touched.all {
            let old = std::mem::take(&mut self.pods);
            self.pending.clear();
            for (key, pod) in simulator.cluster().pods() {
                let new = view(key, pod);
                let shared = old.get(key).filter(|old| ***old == new).cloned();
                let new = shared.unwrap_or_else(|| Rc::new(new));
                if new.node.is_empty() {
                    self.pending.insert(key.clone(), new.clone());
                }
                self.pods.insert(key.clone(), new);
            }
            return (nodes, OrderedSet::new());
        }
        // Pods of a node that was deleted, or created again, are in another state.
        let cluster = simulator.cluster();
        let other = touched.nodes.iter().filter(|name| {
            let there = cluster.get_node(name.as_str()).is_some();
            self.nodes.get(*name).is_some_and(|node| node.exists != there)
        });
        let other = other.flat_map(|name| cluster.pods_of(name.as_str())).map(|(key, _)| key);
        let pods: OrderedSet<PodKey> = touched.pods.iter().chain(other).cloned().collect();
        for key in &pods {
            if let Some(old) = self.pods.get(key) {
                nodes.insert(old.node.as_str().into());
            }
            self.pending.remove(key);
            match simulator.cluster().get_pod(key) {
                Some(pod) => {
                    nodes.insert(pod.spec.node_name.as_str().into());
                    let new = Rc::new(view(key, pod));
                    if new.node.is_empty() {
                        self.pending.insert(key.clone(), new.clone());
                    }
                    self.pods.insert(key.clone(), new);
                }
                None => {
                    self.pods.remove(key);
                }
            }
        }
        nodes.remove("");
        (nodes, pods)
    }

    /// Follows the pods that are gone: new ones are added, unless some are there again.
    fn record_gone(&mut self, gone: &[Rc<Gone>], touched: &Touched) {
        let kept = touched.gone.unwrap_or(self.gone);
        if touched.all || kept < self.gone {
            self.gone_by_node.clear();
            self.gone = 0;
        }
        for pod in gone.iter().skip(self.gone) {
            self.gone_by_node.entry(pod.node.clone()).or_default().push(pod.clone());
        }
        self.gone = gone.len();
    }

    fn rebuild_all_nodes(&mut self, simulator: &Simulator) {
        let mut names = OrderedSet::new();
        for (name, _) in simulator.cluster().nodes() {
            names.insert(name.clone());
        }
        for pod in self.pods.values().filter(|pod| !pod.node.is_empty()) {
            names.insert(pod.node.as_str().into());
        }
        self.nodes.retain(|name, _| names.contains(name));
        for name in names {
            self.rebuild_node(simulator, &name, &[], &OrderedSet::new());
        }
    }

    /// Rebuilds a node; one without changes stays the same value. Its `known` pods are taken over,
    /// which is quicker than to look each up, but for those that have `changed`.
    fn rebuild_node(
        &mut self,
        simulator: &Simulator,
        name: &NodeName,
        known: &[Rc<PodView>],
        changed: &OrderedSet<PodKey>,
    ) {
        let mut known = known.iter().filter(|pod| !changed.contains(&pod.key)).peekable();
        let pods = simulator.cluster().pods_of(name.as_str()).filter_map(|(key, _)| {
            while known.next_if(|pod| pod.key < *key).is_some() {}
            known.next_if(|pod| pod.key == *key).or_else(|| self.pods.get(key)).cloned()
        });
        let pods: Vec<_> = pods.collect();
        let node = simulator.cluster().get_node(name.as_str());
        if node.is_none() && pods.is_empty() {
            self.nodes.remove(name);
            return;
        }
        let left = self.gone_by_node.get(name).map(Vec::as_slice).unwrap_or_default();
        let mut view = node_view(name, node.map(AsRef::as_ref), pods, left);
        view.unreachable = simulator.unreachable_cause(name);
        view.devices = DriverDevices::of(&devices_of_node(simulator, name.as_str()));
        if self.nodes.get(name).is_none_or(|known| **known != view) {
            self.nodes.insert(name.clone(), Rc::new(view));
        }
    }

    /// Groups the nodes by zone; zones without changes stay the same value.
    fn rebuild_board(&mut self, states: &BTreeMap<String, String>) {
        let mut by_zone: OrderedMap<Rc<str>, Vec<Rc<NodeView>>> = OrderedMap::new();
        for node in self.nodes.values() {
            match by_zone.get_mut(&node.zone) {
                Some(nodes) => nodes.push(node.clone()),
                None => _ = by_zone.insert(node.zone.clone(), vec![node.clone()]),
            }
        }
        let mut totals = Totals {
            pods: self.pods.len(),
            pending: self.pending.len(),
            evictions: self.evictions,
            ..Totals::default()
        };
        totals.counts.add_gone(self.gone);
        for pod in self.pending.values() {
            totals.counts.add(pod.state);
        }
        let old = std::mem::take(&mut self.zones);
        for (key, nodes) in by_zone {
            let state = states.get(&*key).map(String::as_str).unwrap_or_default();
            let is_same =
                |zone: &&Rc<ZoneView>| zone.state == state && same_nodes(&zone.nodes, &nodes);
            let same = old.get(&key).filter(is_same).cloned();
            let zone = same.unwrap_or_else(|| Rc::new(zone_view(&key, nodes, state)));
            totals.nodes += zone.nodes.iter().filter(|node| node.exists).count();
            totals.counts.add_all(&zone.counts);
            self.zones.insert(key, zone);
        }
        let pending = self.pending.values().cloned().collect();
        // Places of nodes that do not exist come last.
        let (nowhere, zones): (Vec<_>, Vec<_>) =
            self.zones.values().cloned().partition(|zone| &*zone.key == NOWHERE);
        let zones = zones.into_iter().chain(nowhere).collect();
        self.board = Rc::new(Board { zones, pending, totals });
    }
}

type GoneByNode = OrderedMap<NodeName, Vec<Rc<Gone>>>;

/// The state and the rate of each zone from the node lifecycle controller, by key.
fn zone_states(simulator: &Simulator) -> BTreeMap<String, String> {
    let zones = simulator.zones().into_iter().filter_map(|zone| {
        let state = zone.state?;
        Some((zone.key.as_str().to_owned(), format!("{state}, {} nodes/s", zone.qps)))
    });
    zones.collect()
}

fn same_nodes(a: &[Rc<NodeView>], b: &[Rc<NodeView>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| Rc::ptr_eq(a, b))
}

/// The name of the controller that replaces a pod; empty if there is none.
fn owner(pod: &Pod) -> Rc<str> {
    pod.metadata.controller().map(|owner| owner.name.as_str().into()).unwrap_or_default()
}

/// The message of the scheduler about a pod for which it found no node.
fn why_pending(pod: &Pod) -> String {
    if !pod.spec.node_name.is_empty() {
        return String::new();
    }
    pod.condition("PodScheduled").map(|scheduled| scheduled.message.clone()).unwrap_or_default()
}

fn node_view(
    name: &NodeName,
    node: Option<&Node>,
    pods: Vec<Rc<PodView>>,
    gone: &[Rc<Gone>],
) -> NodeView {
    let ready = node.and_then(|node| node.condition("Ready"));
    let mut counts = PodCounts::default();
    for pod in &pods {
        counts.add(pod.state);
    }
    NodeView {
        name: name.clone(),
        zone: node.map_or_else(|| NOWHERE.to_owned(), |n| zone_key(&n.metadata.labels)).into(),
        ready: ready.map(|ready| ready.status.clone()).unwrap_or_default(),
        unreachable: None,
        unschedulable: node.is_some_and(|node| node.spec.unschedulable),
        taints: node.map(|node| node.spec.taints.clone()).unwrap_or_default(),
        devices: Vec::new(),
        pod_count: pods.len(),
        pods,
        counts,
        gone: gone.iter().rev().take(GONE_PER_NODE).cloned().collect(),
        gone_count: gone.len(),
        exists: node.is_some(),
    }
}

fn zone_view(key: &Rc<str>, nodes: Vec<Rc<NodeView>>, state: &str) -> ZoneView {
    let (region, name) = key.split_once(":\0:").unwrap_or_default();
    let name = match (&**key, name) {
        (NOWHERE, _) => "Nodes that do not exist",
        ("", _) => "No zone",
        (_, "") => "No zone",
        (_, name) => name,
    };
    let mut counts = PodCounts::default();
    for node in &nodes {
        counts.add_all(&node.counts);
    }
    ZoneView {
        key: key.clone(),
        name: name.to_owned(),
        region: region.to_owned(),
        ready: nodes.iter().filter(|node| node.is_ready()).count(),
        counts,
        pods: nodes.iter().map(|node| node.pod_count).sum(),
        state: state.to_owned(),
        nodes,
    }
}
