//! Affinity and anti-affinity between pods.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::MAX_NODE_SCORE;
use super::groups::PodGroup;
use super::info::NodeInfo;
use super::snapshot::Snapshot;
use crate::api::{Pod, PodAffinityTerm};
use crate::release::KubernetesRelease;

/// Amounts by topology key and value.
#[derive(Clone, Default)]
struct Pairs(BTreeMap<String, BTreeMap<String, i64>>);

impl Pairs {
    /// Adds to the amount of the part of the cluster that the node is in.
    fn count(&mut self, node: &NodeInfo, key: &str, amount: i64) {
        if let Some(value) = node.labels.get(key) {
            let values = self.0.entry(key.to_owned()).or_default();
            *values.entry(value.clone()).or_default() += amount;
        }
    }

    fn get(&self, key: &str, value: &str) -> i64 {
        self.0.get(key).and_then(|values| values.get(value)).copied().unwrap_or_default()
    }

    fn sum(&self) -> i64 {
        self.0.values().flat_map(BTreeMap::values).sum()
    }
}

/// What the filter knows of all nodes, or what is different from that on one of them. Mirrors
/// `interpodaffinity.preFilterState`.
#[derive(Clone, Default)]
pub(super) struct AffinityState {
    /// Terms of pods that must be apart from this one.
    existing_anti: Pairs,
    /// Pods that this one must be with.
    affinity: Pairs,
    /// Pods that this one must be apart from.
    anti: Pairs,
}

/// Whether `term` of `owner` means `pod`. Mirrors `AffinityTerm.Matches`.
fn means(snapshot: &Snapshot, term: &PodAffinityTerm, owner: &PodGroup, pod: &PodGroup) -> bool {
    let own = term.namespaces.is_empty() && term.namespace_selector.is_none();
    let in_namespace = (own && owner.namespace == pod.namespace)
        || term.namespaces.contains(&pod.namespace)
        || term.namespace_selector.as_ref().is_some_and(|selector| {
            let name = ("kubernetes.io/metadata.name".to_owned(), pod.namespace.clone());
            match snapshot.namespaces.get(&pod.namespace) {
                Some(labels) => selector.matches(labels),
                None => selector.matches(&BTreeMap::from([name])),
            }
        });
    in_namespace
        && term.label_selector.as_ref().is_some_and(|selector| selector.matches(&pod.labels))
}

impl Snapshot {
    /// Whether a pod must be where certain other pods are.
    pub fn seeks_company(&self, pod: &Pod) -> bool {
        self.read(pod).is_ok_and(|pod| !pod.group.affinity.required.is_empty())
    }

    /// Whether a pod that waits for a node wants to be where pods such as `other` are. Mirrors
    /// `getUnschedulablePodsWithMatchingAffinityTerm`.
    pub fn seeks_company_of(&self, waiting: &Pod, other: &Pod) -> bool {
        let Ok(waiting) = self.read(waiting) else { return false };
        let terms = &waiting.group.affinity.required;
        let meant =
            |other: &PodGroup| terms.iter().any(|term| means(self, term, &waiting.group, other));
        !terms.is_empty() && self.read(other).is_ok_and(|other| meant(&other.group))
    }
}

/// Matches a term that the pod to be placed requires. Mirrors `AffinityTerm.Matches` without
/// labels of a namespace.
pub(super) fn requires(
    snapshot: &Snapshot,
    term: &PodAffinityTerm,
    owner: &PodGroup,
    pod: &PodGroup,
) -> bool {
    let any_namespace = snapshot.config.release.selects_namespaces_by_absent_labels()
        && term.namespace_selector.as_ref().is_some_and(|of| of.matches(&BTreeMap::new()));
    let selects =
        || term.label_selector.as_ref().is_some_and(|selector| selector.matches(&pod.labels));
    means(snapshot, term, owner, pod) || any_namespace && selects()
}

/// Whether all the terms mean the pod, if there are any. Mirrors `podMatchesAllAffinityTerms`.
pub(super) fn means_by_all(
    snapshot: &Snapshot,
    terms: &[PodAffinityTerm],
    owner: &PodGroup,
    pod: &PodGroup,
) -> bool {
    !terms.is_empty() && terms.iter().all(|term| requires(snapshot, term, owner, pod))
}

impl AffinityState {
    pub(super) fn new(snapshot: &Snapshot, pod: &PodGroup) -> Self {
        let mut state = Self::default();
        for (group, nodes) in snapshot.groups.with_affinity(!pod.affinity.is_empty()) {
            state.add(snapshot, pod, group, snapshot.nodes_at(nodes));
        }
        state
    }

    /// Whether no node is refused to a pod of that group, whichever it is.
    pub(super) fn allows_all(&self, pod: &PodGroup) -> bool {
        let affinity = &pod.affinity;
        self.existing_anti.0.is_empty()
            && affinity.required.is_empty()
            && affinity.required_anti.is_empty()
    }

    /// Counts so many pods of a group more on each of the nodes, or fewer.
    pub(super) fn add<'a>(
        &mut self,
        snapshot: &Snapshot,
        pod: &PodGroup,
        existing: &PodGroup,
        nodes: impl Iterator<Item = (&'a NodeInfo, i64)>,
    ) {
        let required = &pod.affinity.required;
        let together = match means_by_all(snapshot, required, pod, existing) {
            true => required.as_slice(),
            false => &[],
        };
        let keeps_off = existing.affinity.required_anti.iter();
        let keeps_off: Vec<_> =
            keeps_off.filter(|term| means(snapshot, term, existing, pod)).collect();
        let apart = pod.affinity.required_anti.iter();
        let apart: Vec<_> = apart.filter(|term| requires(snapshot, term, pod, existing)).collect();
        if keeps_off.is_empty() && together.is_empty() && apart.is_empty() {
            return;
        }
        for (node, amount) in nodes {
            for term in &keeps_off {
                self.existing_anti.count(node, &term.topology_key, amount);
            }
            for term in together {
                self.affinity.count(node, &term.topology_key, amount);
            }
            for term in &apart {
                self.anti.count(node, &term.topology_key, amount);
            }
        }
    }

    /// Mirrors `interpodaffinity.Filter`.
    pub(super) fn filter(
        &self,
        snapshot: &Snapshot,
        pod: &PodGroup,
        node: &NodeInfo,
        change: &Self,
    ) -> (Vec<String>, bool) {
        let left = |pairs: &Pairs, change: &Pairs, key: &str| {
            let value = node.labels.get(key)?;
            Some(pairs.get(key, value) + change.get(key, value))
        };
        let general = snapshot.config.release.general_affinity_reason();
        let words = |reason| general.into_iter().chain([reason]).map(ToOwned::to_owned).collect();
        let release = snapshot.config.release;
        let mut keys = self.existing_anti.0.keys().chain(change.existing_anti.0.keys());
        let unwelcome = keys.any(|key| {
            left(&self.existing_anti, &change.existing_anti, key).is_some_and(|left| left > 0)
        });
        let by_others = "node(s) didn't satisfy existing pods anti-affinity rules";
        if unwelcome && release.asks_existing_pods_first() {
            return (words(by_others), true);
        }
        let required = &pod.affinity.required;
        let mut labelled = true;
        let mut together = true;
        for term in required {
            let left = left(&self.affinity, &change.affinity, &term.topology_key);
            labelled &= left.is_some();
            together &= left.is_some_and(|left| left > 0);
        }
        // The first of a group that wants to be together has nobody to be with.
        let is_first = || {
            self.affinity.sum() + change.affinity.sum() == 0
                && means_by_all(snapshot, required, pod, pod)
        };
        let labelled = labelled || !release.first_of_group_needs_topology();
        if !(labelled && (together || is_first())) {
            return (words("node(s) didn't match pod affinity rules"), false);
        }
        let near = |term: &PodAffinityTerm| {
            left(&self.anti, &change.anti, &term.topology_key).is_some_and(|left| left > 0)
        };
        if pod.affinity.required_anti.iter().any(near) {
            return (words("node(s) didn't match pod anti-affinity rules"), true);
        }
        if unwelcome {
            return (words(by_others), true);
        }
        (Vec::new(), true)
    }
}

/// How much each of the nodes that fit is liked for its pods. Mirrors `interpodaffinity.Score`.
pub(super) fn raw_scores(
    snapshot: &Snapshot,
    pod: &PodGroup,
    feasible: &[&NodeInfo],
    into: &mut Vec<i64>,
) {
    let mut pairs = Pairs::default();
    for (existing, nodes) in snapshot.groups.with_affinity(!pod.affinity.is_empty()) {
        let mut likes: Vec<(&str, i64)> = Vec::new();
        for (owner, other) in [(pod, existing), (existing, pod)] {
            for (terms, sign) in
                [(&owner.affinity.preferred, 1), (&owner.affinity.preferred_anti, -1)]
            {
                let meant = terms.iter().filter(|term| means(snapshot, &term.term, owner, other));
                likes.extend(meant.map(|it| (it.term.topology_key.as_str(), sign * it.weight)));
            }
        }
        // `hardPodAffinityWeight` is 1.
        let required = existing.affinity.required.iter();
        let required = required.filter(|it| means(snapshot, it, existing, pod));
        likes.extend(required.map(|term| (term.topology_key.as_str(), 1)));
        if likes.is_empty() {
            continue;
        }
        for (node, pods) in snapshot.nodes_at(nodes) {
            for (key, weight) in &likes {
                pairs.count(node, key, weight * pods);
            }
        }
    }
    let score = |node: &&NodeInfo| -> i64 {
        let here = |(key, values): (&String, &BTreeMap<String, i64>)| {
            values.get(node.labels.get(key)?).copied()
        };
        pairs.0.iter().filter_map(here).sum()
    };
    into.clear();
    into.extend(feasible.iter().map(score));
}

/// Brings the scores to 0 to 100. Mirrors `interpodaffinity.NormalizeScore`.
pub(super) fn normalise(release: KubernetesRelease, raw: &[i64], into: &mut Vec<i64>) {
    let zero = (!release.normalises_pod_affinity_by_true_range()).then_some(0);
    let all = || raw.iter().copied().chain(zero);
    let (least, most) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
    let normalised = |score: &i64| match most - least {
        0 => 0,
        range => (MAX_NODE_SCORE as f64 * ((score - least) as f64 / range as f64)) as i64,
    };
    into.clear();
    into.extend(raw.iter().map(normalised));
}
