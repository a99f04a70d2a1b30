//! Failure domains, and the room that the remaining nodes have for their pods.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use serde::{Deserialize, Serialize};
use taintlab_engine::simulator::{Simulator, token_every};
use taintlab_rules::api::{
    Amounts, Node, NodeName, Pod, PodKey, TaintEffect, WorkloadKind, is_default, node_allocatable,
    pod_requests,
};
use taintlab_rules::order::{OrderedMap, OrderedSet};
use taintlab_rules::protocol::zone::ZoneKey;
use taintlab_rules::release::KubernetesRelease;
use taintlab_rules::time::Span;

use super::{Millis, Outline, ReportError, ReportOptions};

/// Label with a node's name.
pub(super) const HOSTNAME: &str = "kubernetes.io/hostname";
/// Label with a node's region, and the one used before 1.17.
const REGION: [&str; 2] =
    ["topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"];

/// Kinds of failure domains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub enum DomainKind {
    /// A single node.
    Node,
    /// A zone.
    Zone,
    /// A region.
    Region,
    /// Nodes with one value of a label.
    Label,
    /// A list of nodes from the options.
    List,
    /// Two other domains.
    Pair,
    /// The devices of one pool of a driver.
    DevicePool,
}

impl DomainKind {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::Node,
        Self::Zone,
        Self::Region,
        Self::Label,
        Self::List,
        Self::Pair,
        Self::DevicePool,
    ];

    /// `node`, `zone` and so on.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Zone => "zone",
            Self::Region => "region",
            Self::Label => "label",
            Self::List => "list",
            Self::Pair => "pair",
            Self::DevicePool => "device pool",
        }
    }
}

/// A failure domain given as a list of nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DomainList {
    /// Name of the domain.
    pub name: String,
    /// Its nodes.
    pub nodes: Vec<NodeName>,
}

/// Nodes that fail together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(rename = "FailureDomain"))]
#[serde(rename_all = "camelCase")]
pub struct Domain {
    /// Kind of the domain.
    pub kind: DomainKind,
    /// Name of the node, zone, region or list; `label=value` for a label, `driver/pool` for devices.
    pub name: String,
    /// The nodes, by name; for devices those of the pods that have some.
    pub nodes: Vec<NodeName>,
    /// Indexes of the two domains that fail together; absent unless it is a pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<[usize; 2]>,
    /// Whether it contains all nodes while others have fewer, and is no list. It is run, too, but
    /// nothing survives it: scores, findings and rules leave it out.
    #[serde(default, skip_serializing_if = "is_default")]
    pub whole_cluster: bool,
    /// Index of an earlier domain with the same nodes. It fails in the same way and shares that
    /// domain's runs, until a node is added to one of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_nodes_as: Option<usize>,
    /// Pods on its nodes.
    pub pods: usize,
    /// Room on the other nodes for the pods that have to move, by resource name.
    pub headroom: Vec<Headroom>,
    /// The resource that runs out first: the one whose free amount elsewhere is used the most by
    /// the pods that have to move. Absent if none of them needs a limited resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_out_first: Option<String>,
}

impl Domain {
    /// Whether the other nodes together have room for the pods that have to move. Fragmentation
    /// over nodes is not considered here; the runs show it.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.headroom.iter().all(|it| it.free.is_none_or(|free| it.needed <= free))
    }
}

impl core::fmt::Display for Domain {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} {}", self.kind.as_str(), self.name)
    }
}

/// Amount of a resource that has to move, and the amount free elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Headroom {
    /// `cpu` in thousandths, `pods`, and anything else in whole units.
    pub resource: String,
    /// Requests of the pods that controllers recreate elsewhere.
    pub needed: i64,
    /// Amount free on the other schedulable nodes; absent if one of them has no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free: Option<i64>,
}

/// Free amounts of a node, and the requests that have to move when it fails.
#[derive(Default)]
struct Room {
    /// `None` if it takes no pods.
    free: Option<Amounts>,
    /// Amounts that have to move when it fails.
    needed: Amounts,
    pods: usize,
}

/// A failure domain: its name, its nodes, and the indexes of the two domains of a pair.
struct Found {
    kind: DomainKind,
    name: String,
    nodes: OrderedSet<NodeName>,
    pair: Option<[usize; 2]>,
}

pub(super) fn domains(
    simulator: &Simulator,
    options: &ReportOptions,
) -> Result<Vec<Domain>, ReportError> {
    let mut found: Vec<Found> = Vec::new();
    for (kind, wanted) in [
        (DomainKind::Node, options.nodes),
        (DomainKind::Zone, options.zones),
        (DomainKind::Region, options.regions),
    ] {
        if wanted {
            found.extend(grouped(simulator, kind, ""));
        }
    }
    for label in &options.labels {
        let mut of_label = grouped(simulator, DomainKind::Label, label).peekable();
        if of_label.peek().is_none() {
            let message = format!("no node has the label `{label}`");
            return Err(ReportError::Option { name: "labels", message });
        }
        found.extend(of_label);
    }
    for list in &options.lists {
        if let Some(missing) =
            list.nodes.iter().find(|node| simulator.cluster().get_node(node.as_str()).is_none())
        {
            let message = format!("list `{}`: there is no node `{missing}`", list.name);
            return Err(ReportError::Option { name: "lists", message });
        }
        let nodes = list.nodes.iter().cloned().collect();
        found.push(Found { kind: DomainKind::List, name: list.name.clone(), nodes, pair: None });
    }
    found.extend(pairs(&found, options)?);
    let pools = if options.device_pools { device_pools(simulator) } else { OrderedMap::new() };
    let rooms = rooms(simulator);
    let total = total(rooms.values());
    let mut domains: Vec<Domain> =
        found.into_iter().map(|found| domain(found, &rooms, &total)).collect();
    domains.extend(pools.into_iter().map(|(name, pods)| Domain {
        kind: DomainKind::DevicePool,
        name,
        pods: pods.len(),
        nodes: pods.into_values().collect::<OrderedSet<_>>().into_iter().collect(),
        pair: None,
        whole_cluster: false,
        same_nodes_as: None,
        headroom: Vec::new(),
        runs_out_first: None,
    }));
    let nodes = simulator.cluster().nodes().len();
    let is_part = domains.iter().any(|domain| domain.nodes.len() < nodes);
    let mut first: OrderedMap<(Vec<NodeName>, bool), usize> = OrderedMap::new();
    let of_nodes = |domain: &Domain| domain.kind != DomainKind::DevicePool;
    for (index, domain) in domains.iter_mut().enumerate().filter(|(_, it)| of_nodes(it)) {
        let is_all = domain.nodes.len() == nodes && domain.kind != DomainKind::List;
        domain.whole_cluster = is_part && is_all;
        let key = (domain.nodes.clone(), domain.whole_cluster);
        let known = *first.entry(key).or_insert(index);
        domain.same_nodes_as = (known < index).then_some(known);
    }
    Ok(domains)
}

/// The pods that have devices of each pool, with their nodes, by `driver/pool`.
fn device_pools(simulator: &Simulator) -> OrderedMap<String, OrderedMap<PodKey, NodeName>> {
    let mut pools: OrderedMap<String, OrderedMap<PodKey, NodeName>> = OrderedMap::new();
    if !simulator.config().gates().is_ok_and(|gates| gates.has_device_taints()) {
        return pools;
    }
    let cluster = simulator.cluster();
    for claim in cluster.devices().into_iter().flat_map(|devices| devices.claims()) {
        for user in claim.reserved_for.iter().filter(|user| user.is_pod) {
            let key = PodKey::new(claim.key.namespace(), &user.name);
            let pod = cluster.get_pod(&key).filter(|pod| !pod.spec.node_name.is_empty());
            let Some(pod) = pod.filter(|pod| pod.metadata.uid == user.uid) else { continue };
            for device in claim.allocation.iter().flatten() {
                let pool = pools.entry(format!("{}/{}", device.driver, device.pool)).or_default();
                pool.insert(key.clone(), pod.spec.node_name.as_str().into());
            }
        }
    }
    pools
}

/// Longest time from the first taint to the last among nodes of one zone that fail together. A
/// failure of all nodes taints none.
pub(super) fn taint_spread(simulator: &Simulator, domains: &[Domain]) -> Millis {
    let cluster = simulator.cluster();
    let together = |domain: &Domain| {
        let mut zones: OrderedMap<ZoneKey, u32> = OrderedMap::new();
        for node in domain.nodes.iter().filter_map(|node| cluster.get_node(node.as_str())) {
            *zones.entry(ZoneKey::of(&node.metadata.labels)).or_default() += 1;
        }
        zones.into_values().max().unwrap_or_default()
    };
    let parts = domains.iter().filter(|domain| {
        domain.kind != DomainKind::DevicePool && domain.nodes.len() < cluster.nodes().len()
    });
    let others = parts.map(together).max().unwrap_or_default().saturating_sub(1);
    let rate = simulator.flags().rates.node_eviction_rate;
    let every = if rate > 0.0 { token_every(rate) } else { Duration::ZERO };
    Millis::from(Span(every.saturating_mul(others)))
}

/// Name of a node's domain of this kind; for labels, of this label.
fn domain_of(kind: DomainKind, label: &str, node: &Node) -> Option<String> {
    let labels = &node.metadata.labels;
    match kind {
        DomainKind::Node => Some(node.metadata.name.clone()),
        DomainKind::Zone => Some(ZoneKey::of(labels).name()).filter(|name| !name.is_empty()),
        DomainKind::Region => REGION.iter().find_map(|label| labels.get(*label)).cloned(),
        DomainKind::Label => labels.get(label).map(|value| format!("{label}={value}")),
        DomainKind::List | DomainKind::Pair | DomainKind::DevicePool => None,
    }
}

/// Domains of a kind with their nodes; nodes without one are left out.
fn grouped(
    simulator: &Simulator,
    kind: DomainKind,
    label: &str,
) -> impl Iterator<Item = Found> + use<> {
    let mut groups: OrderedMap<String, OrderedSet<NodeName>> = OrderedMap::new();
    for (key, node) in simulator.cluster().nodes() {
        if let Some(name) = domain_of(kind, label, node) {
            groups.entry(name).or_default().insert(key.clone());
        }
    }
    groups.into_iter().map(move |(name, nodes)| Found { kind, name, nodes, pair: None })
}

/// Nodes of a domain in a changed cluster, with an added node.
pub(super) fn nodes_in(
    simulator: &Simulator,
    outline: &Outline,
    domain: &Domain,
) -> OrderedSet<NodeName> {
    let cluster = simulator.cluster();
    match (domain.kind, domain.pair) {
        (DomainKind::Pair, Some(pair)) => {
            let both = pair.iter().filter_map(|index| outline.domains.get(*index));
            both.flat_map(|part| nodes_in(simulator, outline, part)).collect::<OrderedSet<_>>()
        }
        (DomainKind::Pair | DomainKind::List | DomainKind::DevicePool, _) => {
            domain.nodes.iter().cloned().collect::<OrderedSet<_>>()
        }
        (kind, _) => {
            let label = domain.name.split('=').next().unwrap_or_default();
            let is_in = |node: &Node| domain_of(kind, label, node).as_ref() == Some(&domain.name);
            let nodes = cluster.nodes().filter(|(_, node)| is_in(node));
            nodes.map(|(name, _)| name.clone()).collect::<OrderedSet<_>>()
        }
    }
}

/// Whether a copy of a node joins a domain: the copy has the labels of the node, except its
/// hostname.
pub(super) fn takes_in(outline: &Outline, domain: &Domain, like: &NodeName) -> bool {
    let label = || domain.name.split('=').next();
    match domain.kind {
        DomainKind::Node | DomainKind::List | DomainKind::DevicePool => false,
        DomainKind::Label if label() == Some(HOSTNAME) => false,
        DomainKind::Zone | DomainKind::Region | DomainKind::Label => domain.nodes.contains(like),
        DomainKind::Pair => {
            let both = domain.pair.iter().flatten();
            let mut parts = both.filter_map(|index| outline.domains.get(*index));
            parts.any(|part| part.kind != DomainKind::Pair && takes_in(outline, part, like))
        }
    }
}

/// Upper limit: pairs grow with the square, and more would take days.
const MOST_PAIRS: usize = 100_000;

fn pairs(single: &[Found], options: &ReportOptions) -> Result<Vec<Found>, ReportError> {
    let mut pairs = Vec::new();
    for kind in &options.pairs {
        let these: Vec<_> = single.iter().enumerate().filter(|(_, it)| it.kind == *kind).collect();
        if pairs.len() + these.len() * these.len() / 2 > MOST_PAIRS {
            let message = format!(
                "{} of kind `{}` make too many pairs: at most {MOST_PAIRS}",
                these.len(),
                kind.as_str()
            );
            return Err(ReportError::Option { name: "pairs", message });
        }
        for (place, (one, first)) in these.iter().enumerate() {
            for (other, second) in these.iter().skip(place + 1) {
                pairs.push(Found {
                    kind: DomainKind::Pair,
                    name: format!("{} + {}", first.name, second.name),
                    nodes: first.nodes.iter().chain(&second.nodes).cloned().collect(),
                    pair: Some([*one, *other]),
                });
            }
        }
    }
    Ok(pairs)
}

fn rooms(simulator: &Simulator) -> OrderedMap<&NodeName, Room> {
    let (cluster, release) = (simulator.cluster(), simulator.config().release);
    let each = cluster.nodes().map(|(name, node)| {
        let mut room = Room { free: free_of(node), ..Room::default() };
        for (_, pod) in cluster.pods_of(name.as_str()) {
            room.pods += 1;
            if !pod.has_ended() {
                room.take(pod, release);
            }
        }
        (name, room)
    });
    each.collect::<OrderedMap<_, _>>()
}

/// Free amounts of a node that takes pods.
fn free_of(node: &Node) -> Option<Amounts> {
    let keeps_off =
        |effect: &TaintEffect| matches!(effect, TaintEffect::NoSchedule | TaintEffect::NoExecute);
    let takes =
        !node.spec.unschedulable && node.spec.taints.iter().all(|taint| !keeps_off(&taint.effect));
    takes.then(|| node_allocatable(node).unwrap_or_default())
}

impl Room {
    fn take(&mut self, pod: &Pod, release: KubernetesRelease) {
        let mut requests = pod_requests(pod, release, &[]).unwrap_or_default();
        requests.insert("pods".into(), 1);
        let owner = pod.metadata.controller_key();
        let moves = owner.is_some_and(|owner| owner.kind != WorkloadKind::DaemonSet);
        for (name, amount) in requests {
            if let Some(free) = self.free.as_mut().and_then(|free| free.get_mut(&name)) {
                *free = free.saturating_sub(amount);
            }
            if moves && pod.is_active() {
                let needed = self.needed.entry(name).or_default();
                *needed = needed.saturating_add(amount);
            }
        }
    }
}

/// Free amounts of several nodes, each with the number of nodes that limit it, and the number of
/// nodes.
fn total<'a>(rooms: impl Iterator<Item = &'a Room>) -> (OrderedMap<String, (i64, usize)>, usize) {
    let mut total: OrderedMap<String, (i64, usize)> = OrderedMap::new();
    let mut nodes = 0;
    for free in rooms.filter_map(|room| room.free.as_ref()) {
        nodes += 1;
        for (name, amount) in free {
            let (sum, known) = total.entry(name.clone()).or_default();
            *sum = sum.saturating_add((*amount).max(0));
            *known += 1;
        }
    }
    (total, nodes)
}

fn domain(
    Found { kind, name, nodes, pair }: Found,
    rooms: &OrderedMap<&NodeName, Room>,
    (all, takers): &(OrderedMap<String, (i64, usize)>, usize),
) -> Domain {
    let own = || nodes.iter().filter_map(|node| rooms.get(node));
    let (within, takers_within) = total(own());
    let mut needed = Amounts::new();
    for (name, amount) in own().flat_map(|room| &room.needed) {
        let sum = needed.entry(name.clone()).or_default();
        *sum = sum.saturating_add(*amount);
    }
    let takers = takers - takers_within;
    let headroom = needed.into_iter().map(|(resource, needed)| {
        let (sum, known) = all.get(&resource).copied().unwrap_or_default();
        let (less, less_known) = within.get(&resource).copied().unwrap_or_default();
        let limited = known - less_known == takers;
        Headroom { free: limited.then_some(sum.saturating_sub(less)), resource, needed }
    });
    let headroom: Vec<Headroom> = headroom.collect();
    // Needed share of the free amount, as a fraction compared without division.
    let limits =
        headroom.iter().filter_map(|it| Some((it, it.free?))).filter(|(it, _)| it.needed > 0);
    let first = limits.reduce(|best, other| {
        let wide = i128::from;
        let more = wide(other.0.needed) * wide(best.1) > wide(best.0.needed) * wide(other.1);
        if more { other } else { best }
    });
    let runs_out_first = first.map(|(it, _)| it.resource.clone());
    let pods = own().map(|room| room.pods).sum();
    let nodes = nodes.into_iter().collect();
    Domain {
        kind,
        name,
        nodes,
        pair,
        whole_cluster: false,
        same_nodes_as: None,
        pods,
        headroom,
        runs_out_first,
    }
}
