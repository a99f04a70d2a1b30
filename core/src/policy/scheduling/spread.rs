//! Topology spread constraints.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::arithmetic::{ln, round};
use super::filters::{matches_node_affinity, untolerated_taint};
use super::snapshot::{NodeInfo, OwnerKey, PodInfo, Snapshot};
use super::{MAX_NODE_SCORE, scores};
use crate::api::{LabelSelector, TopologySpread, WhenUnsatisfiable};
use crate::protocol::zone::ZONE_LABEL;

/// The label of nodes with their host's name.
const HOSTNAME: &str = "kubernetes.io/hostname";

/// Which pods a constraint counts.
enum Counted {
    /// Those with such labels.
    Labels(LabelSelector),
    /// Those of the same controller: namespace, kind and name.
    Owner(OwnerKey),
}

/// One constraint, ready to be counted.
struct Constraint {
    max_skew: i64,
    min_domains: i64,
    key: String,
    namespace: String,
    counted: Option<Counted>,
    honors_node_affinity: bool,
    honors_node_taints: bool,
}

impl Constraint {
    /// Mirrors `filterTopologySpreadConstraints`.
    fn new(snapshot: &Snapshot, pod: &PodInfo, spread: &TopologySpread) -> Self {
        let release = snapshot.config.release;
        let mut selector = spread.label_selector.clone();
        if release.has_match_label_keys()
            && let Some(selector) = &mut selector
        {
            for key in &spread.match_label_keys {
                if let Some(value) = pod.labels.get(key) {
                    selector.require(key, value);
                }
            }
        }
        let policies = release.has_node_inclusion_policies();
        Self {
            max_skew: spread.max_skew,
            min_domains: spread.min_domains.filter(|_| release.has_min_domains()).unwrap_or(1),
            key: spread.topology_key.clone(),
            namespace: pod.namespace.clone(),
            counted: selector.map(Counted::Labels),
            honors_node_affinity: spread.honors_node_affinity || !policies,
            honors_node_taints: spread.honors_node_taints && policies,
        }
    }

    /// Mirrors `systemDefaultConstraints`.
    fn defaults(pod: &PodInfo) -> Vec<Self> {
        let Some((kind, name)) = &pod.owner else { return Vec::new() };
        let constraint = |(key, max_skew): (&str, i64)| Self {
            max_skew,
            min_domains: 1,
            key: key.to_owned(),
            namespace: pod.namespace.clone(),
            counted: Some(Counted::Owner((pod.namespace.clone(), kind.clone(), name.clone()))),
            honors_node_affinity: true,
            honors_node_taints: false,
        };
        [(HOSTNAME, 3), (ZONE_LABEL, 5)].map(constraint).into()
    }

    fn selects(&self, pod: &PodInfo) -> bool {
        match &self.counted {
            None => false,
            Some(Counted::Labels(selector)) => selector.matches(&pod.labels),
            Some(Counted::Owner((_, kind, name))) => {
                pod.owner.as_ref().is_some_and(|owner| owner.0 == *kind && owner.1 == *name)
            }
        }
    }

    /// Whether that pod is counted. Mirrors `countPodsMatchSelector`.
    fn counts(&self, pod: &PodInfo) -> bool {
        !pod.terminating && pod.namespace == self.namespace && self.selects(pod)
    }

    fn count(&self, snapshot: &Snapshot, node: &NodeInfo) -> i64 {
        if let Some(Counted::Owner(owner)) = &self.counted {
            let nodes = snapshot.owned.get(owner);
            return nodes.and_then(|nodes| nodes.get(&node.name)).copied().unwrap_or_default();
        }
        let count = node.pods.values().filter(|pod| self.counts(pod)).count();
        i64::try_from(count).unwrap_or(i64::MAX)
    }

    /// The nodes that have pods which are counted, or more.
    fn nodes_to_count<'a>(&self, snapshot: &'a Snapshot) -> Vec<&'a NodeInfo> {
        match &self.counted {
            Some(Counted::Owner(owner)) => {
                let nodes = snapshot.owned.get(owner).into_iter().flat_map(BTreeMap::keys);
                nodes.filter_map(|name| snapshot.node(name)).collect()
            }
            _ => snapshot.nodes().collect(),
        }
    }

    /// Mirrors `matchNodeInclusionPolicies`.
    fn includes(&self, snapshot: &Snapshot, pod: &PodInfo, node: &NodeInfo) -> bool {
        (!self.honors_node_affinity || matches_node_affinity(pod, node))
            && (!self.honors_node_taints || untolerated_taint(snapshot, pod, node).is_none())
    }
}

fn constraints(snapshot: &Snapshot, pod: &PodInfo, when: &WhenUnsatisfiable) -> Vec<Constraint> {
    let spreads = pod.fields.topology_spread.iter();
    spreads
        .filter(|spread| spread.when_unsatisfiable == *when)
        .map(|spread| Constraint::new(snapshot, pod, spread))
        .collect()
}

fn has_all_keys(constraints: &[Constraint], node: &NodeInfo) -> bool {
    constraints.iter().all(|constraint| node.labels.contains_key(&constraint.key))
}

/// A constraint that must hold, and the pods of each part of the cluster.
struct Domains {
    constraint: Constraint,
    /// Whether the pod itself is among those that are counted.
    self_match: i64,
    counts: BTreeMap<String, i64>,
    least: i64,
}

/// What the filter knows of all nodes. Mirrors `podtopologyspread.preFilterState`.
pub(super) struct SpreadState {
    domains: Vec<Domains>,
}

impl SpreadState {
    pub(super) fn new(snapshot: &Snapshot, pod: &PodInfo) -> Self {
        let constraints = constraints(snapshot, pod, &WhenUnsatisfiable::DoNotSchedule);
        let mut counts: Vec<BTreeMap<String, i64>> =
            constraints.iter().map(|_| BTreeMap::new()).collect();
        if !constraints.is_empty() {
            for node in snapshot.nodes().filter(|node| has_all_keys(&constraints, node)) {
                for (constraint, counts) in constraints.iter().zip(&mut counts) {
                    if let Some(value) = node.labels.get(&constraint.key)
                        && constraint.includes(snapshot, pod, node)
                    {
                        *counts.entry(value.clone()).or_default() +=
                            constraint.count(snapshot, node);
                    }
                }
            }
        }
        let domain = |(constraint, counts): (Constraint, BTreeMap<String, i64>)| Domains {
            self_match: i64::from(constraint.selects(pod)),
            // Without any part of the cluster nothing can be uneven.
            least: counts.values().min().copied().unwrap_or(i64::MAX),
            constraint,
            counts,
        };
        Self { domains: constraints.into_iter().zip(counts).map(domain).collect() }
    }

    /// Mirrors `podtopologyspread.Filter`.
    pub(super) fn filter(
        &self,
        snapshot: &Snapshot,
        node: &NodeInfo,
        removed: &[&PodInfo],
    ) -> (Vec<String>, bool) {
        const REASON: &str = "node(s) didn't match pod topology spread constraints";
        for Domains { constraint, self_match, counts, least } in &self.domains {
            let Some(value) = node.labels.get(&constraint.key) else {
                let mut reason = REASON.to_owned();
                if snapshot.config.release.names_missing_topology_label() {
                    reason.push_str(" (missing required label)");
                }
                return (Vec::from([reason]), false);
            };
            let count = counts.get(value).copied();
            let gone =
                removed.iter().filter(|pod| count.is_some() && constraint.counts(pod)).count();
            let left = count.unwrap_or_default() - i64::try_from(gone).unwrap_or(0);
            let mut least = *least;
            if count.is_some() {
                least = least.min(left);
            }
            if i64::try_from(counts.len()).is_ok_and(|domains| domains < constraint.min_domains) {
                least = 0;
            }
            let skew = left.saturating_add(*self_match).saturating_sub(least);
            if skew > constraint.max_skew {
                return (Vec::from([REASON.to_owned()]), true);
            }
        }
        (Vec::new(), true)
    }
}

/// How well each of the nodes that fit would spread the pod: 0 to 100. Mirrors
/// `podtopologyspread.Score` and `NormalizeScore`.
pub(super) fn scores(snapshot: &Snapshot, pod: &PodInfo, feasible: &[&NodeInfo]) -> Vec<i64> {
    let mut constraints = constraints(snapshot, pod, &WhenUnsatisfiable::ScheduleAnyway);
    // Nodes without the labels are left out, but not because of defaults.
    let require_all = !pod.fields.topology_spread.is_empty();
    if !require_all {
        constraints = Constraint::defaults(pod);
    }
    if constraints.is_empty() {
        return feasible.iter().map(|_| 0).collect();
    }
    let ignored: Vec<bool> =
        feasible.iter().map(|node| require_all && !has_all_keys(&constraints, node)).collect();
    let mut raw = alloc::vec![0.0; feasible.len()];
    for constraint in &constraints {
        let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
        let by_host = constraint.key == HOSTNAME;
        let scored = || feasible.iter().zip(&ignored).filter(|(_, ignored)| !**ignored);
        for (node, _) in scored() {
            if let Some(value) = node.labels.get(&constraint.key) {
                counts.insert(value, 0);
            }
        }
        let size = if by_host { scored().count() } else { counts.len() };
        if !by_host {
            for node in constraint.nodes_to_count(snapshot) {
                if let Some(value) = node.labels.get(&constraint.key)
                    && let Some(count) = counts.get_mut(value.as_str())
                    && (!require_all || has_all_keys(&constraints, node))
                    && constraint.includes(snapshot, pod, node)
                {
                    *count += constraint.count(snapshot, node);
                }
            }
        }
        let weight = ln(size as f64 + 2.0);
        for (node, score) in feasible.iter().zip(&mut raw) {
            let Some(value) = node.labels.get(&constraint.key) else { continue };
            let count = if by_host {
                constraint.count(snapshot, node)
            } else {
                counts.get(value.as_str()).copied().unwrap_or_default()
            };
            *score += count as f64 * weight + (constraint.max_skew - 1) as f64;
        }
    }
    let raw: Vec<i64> = raw.into_iter().map(round).collect();
    let counted = || raw.iter().zip(&ignored).filter(|(_, ignored)| !**ignored).map(|(s, _)| *s);
    let (least, most) = (counted().min().unwrap_or(0), counted().max().unwrap_or(0));
    let normalised = |(score, ignored): (&i64, &bool)| {
        if *ignored {
            0
        } else if most == 0 {
            MAX_NODE_SCORE
        } else {
            MAX_NODE_SCORE * (most + least - score) / most
        }
    };
    scores::clamp(raw.iter().zip(&ignored).map(normalised))
}
