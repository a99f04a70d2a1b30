//! Topology spread constraints.

use alloc::borrow::ToOwned;

use alloc::string::String;
use alloc::vec::Vec;

use super::MAX_NODE_SCORE;
use super::alike::{LabelValues, Room};
use super::arithmetic::{ln, round};
use super::groups::{CountByPlace, OwnerKey, PodGroup};
use super::info::{NodeInfo, PodInfo};
use super::predicates::{matches_node_affinity, untolerated_taint};
use super::snapshot::{SERVICE, Snapshot};
use crate::api::{LabelSelector, TopologySpread, WhenUnsatisfiable};
use crate::order::OrderedMap;
use crate::protocol::zone::{ZONE_LABEL, ZoneKey};

/// The label of nodes with their host's name.
const HOSTNAME: &str = "kubernetes.io/hostname";

/// Which pods a constraint counts.
#[derive(Clone)]
enum Counted {
    /// Those with such labels.
    Labels(LabelSelector),
    /// Those of the same controller: namespace, kind and name.
    Owner(OwnerKey),
}

impl Counted {
    fn selects(&self, pod: &PodGroup) -> bool {
        match self {
            Self::Labels(selector) => selector.matches(&pod.labels),
            Self::Owner(owner) => pod.has_owner(owner),
        }
    }

    /// How many of them are on each node; those that are terminating do not count.
    fn on_nodes(&self, snapshot: &Snapshot, namespace: &str) -> CountByPlace {
        let mut sums = CountByPlace::new();
        if let Self::Labels(selector) = self
            && selector.requirements.is_empty()
            && snapshot.config.release.empty_spread_selector_counts_nothing()
        {
            return sums;
        }
        let mut count = |(group, nodes): (&PodGroup, &CountByPlace)| {
            if !group.terminating && self.selects(group) {
                for (place, pods) in nodes {
                    *sums.entry(*place).or_default() += pods;
                }
            }
        };
        match self {
            Self::Labels(_) => snapshot.groups.of_namespace(namespace).for_each(&mut count),
            Self::Owner(owner) => snapshot.groups.of_owner(owner).for_each(&mut count),
        }
        sums
    }
}

/// One constraint, counted.
struct Constraint {
    max_skew: i64,
    min_domains: i64,
    key: String,
    counted: Option<Counted>,
    honors_node_affinity: bool,
    honors_node_taints: bool,
    /// How many of the pods that it counts are on the nodes that have any. Mirrors
    /// `countPodsMatchSelector`.
    on_nodes: CountByPlace,
}

impl Constraint {
    /// Mirrors `filterTopologySpreadConstraints`.
    fn new(snapshot: &Snapshot, pod: &PodInfo, spread: &TopologySpread) -> Self {
        let release = snapshot.config.release;
        let policies = release.has_node_inclusion_policies();
        let counted = snapshot.spread_selector(pod, spread).map(Counted::Labels);
        let on_nodes = counted.as_ref().map(|it| it.on_nodes(snapshot, &pod.group.namespace));
        Self {
            max_skew: spread.max_skew,
            min_domains: spread.min_domains.filter(|_| release.has_min_domains()).unwrap_or(1),
            key: spread.topology_key.clone(),
            counted,
            honors_node_affinity: spread.honors_node_affinity || !policies,
            honors_node_taints: spread.honors_node_taints && policies,
            on_nodes: on_nodes.unwrap_or_default(),
        }
    }

    /// Mirrors `systemDefaultConstraints`.
    fn defaults(snapshot: &Snapshot, pod: &PodInfo) -> Vec<Self> {
        let Some(counted) = default_counted(snapshot, pod) else { return Vec::new() };
        let on_nodes = counted.on_nodes(snapshot, &pod.group.namespace);
        let constraint = |(key, max_skew): (&str, i64)| Self {
            max_skew,
            min_domains: 1,
            key: key.to_owned(),
            counted: Some(counted.clone()),
            honors_node_affinity: true,
            honors_node_taints: false,
            on_nodes: on_nodes.clone(),
        };
        [(HOSTNAME, 3), (ZONE_LABEL, 5)].map(constraint).into()
    }

    /// Whether it selects pods like that one, whatever their namespace.
    fn selects(&self, pod: &PodGroup) -> bool {
        self.counted.as_ref().is_some_and(|counted| counted.selects(pod))
    }

    /// How many pods on a node are counted.
    fn count(&self, node: &NodeInfo) -> i64 {
        self.on_nodes.get(&node.place).copied().unwrap_or_default()
    }

    /// Mirrors `matchNodeInclusionPolicies`.
    fn includes(&self, snapshot: &Snapshot, pod: &PodInfo, node: &NodeInfo) -> bool {
        (!self.honors_node_affinity || matches_node_affinity(pod, node))
            && (!self.honors_node_taints
                || untolerated_taint(pod, node, snapshot.config.comparison_operators).is_none())
    }
}

/// Which pods a pod without constraints of its own is spread among: those that its Services, and
/// its ReplicaSet or StatefulSet select. Mirrors `helper.DefaultSelector`.
fn default_counted(snapshot: &Snapshot, pod: &PodInfo) -> Option<Counted> {
    const WORKLOADS: [&str; 3] = ["ReplicaSet", "ReplicationController", "StatefulSet"];
    let release = snapshot.config.release;
    let PodGroup { namespace, labels, .. } = pod.group.as_ref();
    let owner = pod.group.owner.as_ref().filter(|(kind, _)| WORKLOADS.contains(&kind.as_str()));
    let owner = owner.map(|(kind, name)| (namespace.clone(), kind.clone(), name.clone()));
    if let Some(owner) = &owner
        && !snapshot.selectors.contains_key(owner)
    {
        return Some(Counted::Owner(owner.clone()));
    }
    let mut merged = LabelSelector::default();
    let begin = (namespace.clone(), String::new(), String::new());
    let known = snapshot.selectors.range(begin..);
    for (key, selector) in known.take_while(|(key, _)| key.0 == *namespace) {
        let counts = key.1 == SERVICE || !release.spreads_by_owner() || owner.as_ref() == Some(key);
        if counts && !selector.requirements.is_empty() && selector.matches(labels) {
            merged.requirements.extend(selector.requirements.iter().cloned());
        }
    }
    (!merged.requirements.is_empty()).then_some(Counted::Labels(merged))
}

fn constraints(snapshot: &Snapshot, pod: &PodInfo, when: &WhenUnsatisfiable) -> Vec<Constraint> {
    let spreads = pod.fields.topology_spread.iter();
    spreads
        .filter(|spread| spread.when_unsatisfiable == *when)
        .map(|spread| Constraint::new(snapshot, pod, spread))
        .collect()
}

impl PodInfo {
    /// The constraints that must hold.
    pub(super) fn hard_spread(&self) -> impl Iterator<Item = &TopologySpread> {
        let spreads = self.fields.topology_spread.iter();
        spreads.filter(|spread| spread.when_unsatisfiable == WhenUnsatisfiable::DoNotSchedule)
    }
}

impl Snapshot {
    /// Selector of the pods that a constraint counts; `None` selects no pod.
    pub(super) fn spread_selector(
        &self,
        pod: &PodInfo,
        spread: &TopologySpread,
    ) -> Option<LabelSelector> {
        let mut selector = spread.label_selector.clone()?;
        if self.config.release.has_match_label_keys() {
            for key in &spread.match_label_keys {
                if let Some(value) = pod.group.labels.get(key) {
                    selector.require(key, value);
                }
            }
        }
        Some(selector)
    }
}

fn has_all_keys(constraints: &[Constraint], node: &NodeInfo) -> bool {
    constraints.iter().all(|constraint| node.labels.contains_key(&constraint.key))
}

/// A constraint that must hold, and the pods of each part of the cluster.
struct Domains {
    constraint: Constraint,
    /// Whether the pod itself is among those that are counted.
    self_match: i64,
    counts: OrderedMap<String, i64>,
    /// The parts with the fewest and the second fewest pods. Mirrors `criticalPaths`.
    least: [Option<(String, i64)>; 2],
}

impl Domains {
    fn new(pod: &PodInfo, constraint: Constraint, counts: OrderedMap<String, i64>) -> Self {
        let mut least = [None, None];
        for (value, count) in &counts {
            let fewer = |known: &Option<(String, i64)>| known.as_ref().is_none_or(|k| *count < k.1);
            if fewer(&least[0]) {
                least = [Some((value.clone(), *count)), core::mem::take(&mut least[0])];
            } else if fewer(&least[1]) {
                least[1] = Some((value.clone(), *count));
            }
        }
        Self { self_match: i64::from(constraint.selects(&pod.group)), constraint, counts, least }
    }

    /// The fewest pods that another part than this one has. Without any other part nothing can be
    /// uneven.
    fn least_of_others(&self, value: &str) -> i64 {
        let mut least = self.least.iter().flatten();
        least.find(|(other, _)| other != value).map_or(i64::MAX, |(_, count)| *count)
    }
}

/// What the filter knows of all nodes. Mirrors `podtopologyspread.preFilterState`.
pub(super) struct SpreadState {
    domains: Vec<Domains>,
}

/// The value of a node's label, empty if it is not there.
fn label<'a>(node: &'a NodeInfo, key: &str) -> &'a str {
    node.labels.get(key).map_or("", String::as_str)
}

impl SpreadState {
    /// Whether no constraint must hold.
    pub(super) fn is_empty(&self) -> bool {
        self.domains.is_empty()
    }

    pub(super) fn new(snapshot: &Snapshot, pod: &PodInfo) -> Self {
        let constraints = constraints(snapshot, pod, &WhenUnsatisfiable::DoNotSchedule);
        if constraints.is_empty() {
            return Self { domains: Vec::new() };
        }
        let mut counts: Vec<OrderedMap<String, i64>> =
            constraints.iter().map(|_| OrderedMap::new()).collect();
        let all = || snapshot.nodes();
        let excludes = snapshot.config.release.spread_excludes_nodes_by_affinity();
        for node in all().filter(|node| has_all_keys(&constraints, node)) {
            for (constraint, counts) in constraints.iter().zip(&mut counts) {
                if constraint.includes(snapshot, pod, node) {
                    let count = counts.entry(label(node, &constraint.key).to_owned()).or_default();
                    if excludes {
                        *count += constraint.count(node);
                    }
                }
            }
        }
        // Before, the parts of the cluster were found first; then all their nodes counted.
        for node in all().filter(|_| !excludes) {
            for (constraint, counts) in constraints.iter().zip(&mut counts) {
                if let Some(count) = counts.get_mut(label(node, &constraint.key)) {
                    *count += constraint.count(node);
                }
            }
        }
        let domains = constraints.into_iter().zip(counts);
        Self { domains: domains.map(|(of, counts)| Domains::new(pod, of, counts)).collect() }
    }

    /// Counts a pod that is added to the node or taken away, also one that is terminating. Mirrors
    /// `preFilterState.updateWithPod`.
    pub(super) fn alter(
        &self,
        change: &mut Vec<i64>,
        namespace: &str,
        node: &NodeInfo,
        pod: &PodInfo,
        amount: i64,
    ) {
        change.resize(self.domains.len(), 0);
        let labelled = self.domains.iter().all(|of| node.labels.contains_key(&of.constraint.key));
        if !labelled || pod.group.namespace != namespace {
            return;
        }
        for (Domains { constraint, .. }, change) in self.domains.iter().zip(change) {
            if constraint.selects(&pod.group) {
                *change += amount;
            }
        }
    }

    /// Mirrors `podtopologyspread.Filter`.
    pub(super) fn filter(
        &self,
        snapshot: &Snapshot,
        node: &NodeInfo,
        change: &[i64],
    ) -> (Vec<String>, bool) {
        const REASON: &str = "node(s) didn't match pod topology spread constraints";
        for (index, domains) in self.domains.iter().enumerate() {
            let Domains { constraint, self_match, counts, .. } = domains;
            let Some(value) = node.labels.get(&constraint.key) else {
                let mut reason = REASON.to_owned();
                if snapshot.config.release.names_missing_topology_label() {
                    reason.push_str(" (missing required label)");
                }
                return (Vec::from([reason]), false);
            };
            let mut least = domains.least_of_others(value);
            let mut here = 0;
            if let Some(count) = counts.get(value) {
                here = count + change.get(index).copied().unwrap_or_default();
                least = least.min(here);
            }
            if i64::try_from(counts.len()).is_ok_and(|domains| domains < constraint.min_domains) {
                least = 0;
            }
            let skew = here.saturating_add(*self_match).saturating_sub(least);
            if skew > constraint.max_skew {
                return (Vec::from([REASON.to_owned()]), true);
            }
        }
        (Vec::new(), true)
    }
}

/// Puts so many zeros in the place of what there was.
fn zeros(of: &mut Vec<i64>, number: usize) {
    of.clear();
    of.resize(number, 0);
}

/// How the pod would be spread on each of the nodes that fit: what `podtopologyspread.Score` says,
/// and the 0 to 100 that `NormalizeScore` makes of it. Mirrors `PreScore`, too.
pub(super) fn scores(
    snapshot: &Snapshot,
    pod: &PodInfo,
    feasible: &[&NodeInfo],
    labels: &mut LabelValues,
    raw: &mut Vec<i64>,
    normalised: &mut Vec<i64>,
) {
    let release = snapshot.config.release;
    let mut constraints = constraints(snapshot, pod, &WhenUnsatisfiable::ScheduleAnyway);
    let own = !pod.fields.topology_spread.is_empty();
    if !own && release.spreads_by_default_constraints() {
        constraints = Constraint::defaults(snapshot, pod);
    }
    if constraints.is_empty() && release.skips_idle_score_plugins() {
        zeros(raw, feasible.len());
        return zeros(normalised, feasible.len());
    }
    let columns: Vec<_> = constraints
        .iter()
        .map(|it| labels.of(snapshot.nodes(), snapshot.label_changes, &it.key))
        .collect();
    let has_all_keys = |node: &NodeInfo| columns.iter().all(|column| column.of(node).is_some());
    // Nodes without the labels are left out.
    let require_all = own || !release.default_spread_scores_all_nodes();
    let is_ignored = |node: &NodeInfo| require_all && !has_all_keys(node);
    let Room { counts: on_host, sums, .. } = &mut labels.room;
    sums.clear();
    sums.resize(feasible.len(), 0.0);
    let weighs = release.weighs_spread_scores();
    for (constraint, column) in constraints.iter().zip(&columns) {
        let by_host = weighs && constraint.key == HOSTNAME;
        // By the number of the value; `None` where no node that fits has it.
        let values = if by_host { 0 } else { column.values };
        let mut counts: Vec<Option<i64>> = alloc::vec![None; values];
        let scored = || feasible.iter().filter(|node| !is_ignored(node));
        let size = if by_host {
            scored().count()
        } else {
            for node in scored() {
                if let Some(count) = column.of(node).and_then(|value| counts.get_mut(value)) {
                    count.get_or_insert_default();
                }
            }
            // Nodes without the label are a part of the cluster, too.
            let unlabelled = scored().any(|node| column.of(node).is_none());
            counts.iter().flatten().count() + usize::from(unlabelled)
        };
        if !by_host {
            for (node, pods) in snapshot.nodes_at(&constraint.on_nodes) {
                if let Some(value) = column.of(node)
                    && let Some(Some(count)) = counts.get_mut(value)
                    && (!require_all || has_all_keys(node))
                    && constraint.includes(snapshot, pod, node)
                {
                    *count += pods;
                }
            }
        }
        let weight = ln(size as f64 + 2.0);
        if by_host {
            // Found faster by their places where many are asked for.
            for (place, pods) in &constraint.on_nodes {
                if on_host.len() <= *place {
                    on_host.resize(*place + 1, 0);
                }
                if let Some(count) = on_host.get_mut(*place) {
                    *count = *pods;
                }
            }
        }
        for (node, score) in feasible.iter().zip(&mut *sums) {
            let Some(value) = column.of(node).filter(|_| !is_ignored(node)) else { continue };
            let count = if by_host {
                on_host.get(node.place).copied().unwrap_or_default()
            } else {
                counts.get(value).copied().flatten().unwrap_or_default()
            };
            *score += match weighs {
                true => count as f64 * weight + (constraint.max_skew - 1) as f64,
                false => count as f64,
            };
        }
        for place in constraint.on_nodes.keys().filter(|_| by_host) {
            if let Some(count) = on_host.get_mut(*place) {
                *count = 0;
            }
        }
    }
    let whole = |score| if release.rounds_spread_scores() { round(score) } else { score as i64 };
    raw.clear();
    raw.extend(sums.iter().map(|score| whole(*score)));
    let of_nodes = || raw.iter().zip(feasible);
    let counted = || of_nodes().filter(|(_, node)| !is_ignored(node)).map(|(score, _)| *score);
    let (least, most) = (counted().min().unwrap_or(0), counted().max().unwrap_or(0));
    let total: i64 = counted().sum();
    normalised.clear();
    normalised.extend(of_nodes().map(|(score, node)| {
        let ignored = is_ignored(node);
        if !weighs && total == least {
            MAX_NODE_SCORE
        } else if !weighs && !ignored {
            (MAX_NODE_SCORE as f64 * ((total - score) as f64 / (total - least) as f64)) as i64
        } else if ignored {
            0
        } else if most == 0 {
            MAX_NODE_SCORE
        } else {
            MAX_NODE_SCORE * (most + least - score) / most
        }
    }));
}

/// The same for the plugin `SelectorSpread`: two thirds by zone, the rest by node. Mirrors
/// `selectorspread.Score` and `NormalizeScore`.
pub(super) fn selector_scores(
    snapshot: &Snapshot,
    pod: &PodInfo,
    feasible: &[&NodeInfo],
    raw: &mut Vec<i64>,
    normalised: &mut Vec<i64>,
) {
    zeros(raw, feasible.len());
    if !pod.fields.topology_spread.is_empty() {
        return zeros(normalised, feasible.len());
    }
    if let Some(constraint) = Constraint::defaults(snapshot, pod).first() {
        raw.iter_mut().zip(feasible).for_each(|(count, node)| *count = constraint.count(node));
    }
    let zone = |node: &NodeInfo| Some(node.zone.clone()).filter(|zone| !zone.as_str().is_empty());
    let mut zones: OrderedMap<ZoneKey, i64> = OrderedMap::new();
    for (node, count) in feasible.iter().zip(&*raw) {
        if let Some(zone) = zone(node) {
            *zones.entry(zone).or_default() += count;
        }
    }
    let most = raw.iter().max().copied().unwrap_or(0);
    let most_of_zones = zones.values().max().copied().unwrap_or(0);
    let part = |count: i64, most: i64| match most {
        0 => MAX_NODE_SCORE as f64,
        most => MAX_NODE_SCORE as f64 * ((most - count) as f64 / most as f64),
    };
    normalised.clear();
    normalised.extend(feasible.iter().zip(&*raw).map(|(node, count)| {
        let by_node = part(*count, most);
        let of_zone = zone(node).and_then(|zone| zones.get(&zone));
        of_zone.map_or(by_node, |count| {
            let weight = 2.0 / 3.0;
            by_node * (1.0 - weight) + weight * part(*count, most_of_zones)
        }) as i64
    }));
}
