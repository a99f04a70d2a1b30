//! Affinity and anti-affinity between pods.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::snapshot::{NodeInfo, PodInfo, Snapshot};
use super::{MAX_NODE_SCORE, scores};
use crate::api::PodAffinityTerm;

/// Amounts by topology key and value.
type Pairs = BTreeMap<(String, String), i64>;

/// What the filter knows of all nodes. Mirrors `interpodaffinity.preFilterState`.
pub(super) struct AffinityState {
    /// Terms of pods that must be apart from this one.
    existing_anti: Pairs,
    /// Pods that this one must be with.
    affinity: Pairs,
    /// Pods that this one must be apart from.
    anti: Pairs,
}

/// Whether `term` of `owner` means `pod`. Mirrors `AffinityTerm.Matches`.
fn means(term: &PodAffinityTerm, owner: &PodInfo, pod: &PodInfo) -> bool {
    let own = term.namespaces.is_empty() && term.namespace_selector.is_none();
    let in_namespace = (own && owner.namespace == pod.namespace)
        || term.namespaces.contains(&pod.namespace)
        || term.namespace_selector.as_ref().is_some_and(|selector| {
            let name = ("kubernetes.io/metadata.name".to_owned(), pod.namespace.clone());
            selector.matches(&BTreeMap::from([name]))
        });
    in_namespace
        && term.label_selector.as_ref().is_some_and(|selector| selector.matches(&pod.labels))
}

fn means_by_all(terms: &[PodAffinityTerm], owner: &PodInfo, pod: &PodInfo) -> bool {
    !terms.is_empty() && terms.iter().all(|term| means(term, owner, pod))
}

fn count(pairs: &mut Pairs, node: &NodeInfo, key: &str, amount: i64) {
    if let Some(value) = node.labels.get(key) {
        *pairs.entry((key.to_owned(), value.clone())).or_default() += amount;
    }
}

impl AffinityState {
    pub(super) fn new(snapshot: &Snapshot, pod: &PodInfo) -> Self {
        let mut state =
            Self { existing_anti: Pairs::new(), affinity: Pairs::new(), anti: Pairs::new() };
        let looks = pod.has_pod_affinity();
        for node in snapshot.nodes().filter(|node| looks || node.with_affinity > 0) {
            for existing in node.pods.values() {
                state.add(pod, existing, node, 1);
            }
        }
        state
    }

    /// Counts one pod of a node, or takes it away.
    fn add(&mut self, pod: &PodInfo, existing: &PodInfo, node: &NodeInfo, amount: i64) {
        for term in &existing.fields.required_anti_affinity {
            if means(term, existing, pod) {
                count(&mut self.existing_anti, node, &term.topology_key, amount);
            }
        }
        let required = &pod.fields.required_affinity;
        if means_by_all(required, pod, existing) {
            for term in required {
                count(&mut self.affinity, node, &term.topology_key, amount);
            }
        }
        for term in &pod.fields.required_anti_affinity {
            if means(term, pod, existing) {
                count(&mut self.anti, node, &term.topology_key, amount);
            }
        }
    }

    /// Mirrors `interpodaffinity.Filter`.
    pub(super) fn filter(
        &self,
        snapshot: &Snapshot,
        pod: &PodInfo,
        node: &NodeInfo,
        removed: &[&PodInfo],
    ) -> (Vec<String>, bool) {
        let mut gone =
            Self { existing_anti: Pairs::new(), affinity: Pairs::new(), anti: Pairs::new() };
        for existing in removed {
            gone.add(pod, existing, node, 1);
        }
        let left = |pairs: &Pairs, gone: &Pairs, key: &str| {
            let value = node.labels.get(key)?;
            let pair = (key.to_owned(), value.clone());
            let gone = gone.get(&pair).copied().unwrap_or_default();
            Some(pairs.get(&pair).copied().unwrap_or_default() - gone)
        };
        let one = snapshot.config.release.gives_one_affinity_reason();
        let words = |reason: &str| {
            let general = "node(s) didn't match pod affinity/anti-affinity";
            let general = (!one).then(|| general.to_owned());
            general.into_iter().chain([reason.to_owned()]).collect()
        };
        let required = &pod.fields.required_affinity;
        let mut labelled = true;
        let mut together = true;
        for term in required {
            let left = left(&self.affinity, &gone.affinity, &term.topology_key);
            labelled &= left.is_some();
            together &= left.is_some_and(|left| left > 0);
        }
        // The first of a group that wants to be together has nobody to be with.
        let total = self.affinity.values().sum::<i64>() - gone.affinity.values().sum::<i64>();
        let is_first = total == 0 && means_by_all(required, pod, pod);
        if !(labelled && (together || is_first)) {
            return (words("node(s) didn't match pod affinity rules"), false);
        }
        let near = |term: &PodAffinityTerm| {
            left(&self.anti, &gone.anti, &term.topology_key).is_some_and(|left| left > 0)
        };
        if pod.fields.required_anti_affinity.iter().any(near) {
            return (words("node(s) didn't match pod anti-affinity rules"), true);
        }
        if self.existing_anti.iter().any(|((key, value), terms)| {
            let pair = (key.clone(), value.clone());
            let gone = gone.existing_anti.get(&pair).copied().unwrap_or_default();
            node.labels.get(key) == Some(value) && *terms > gone
        }) {
            return (words("node(s) didn't satisfy existing pods anti-affinity rules"), true);
        }
        (Vec::new(), true)
    }
}

/// How much each of the nodes that fit is liked for its pods: 0 to 100. Mirrors
/// `interpodaffinity.Score` and `NormalizeScore`.
pub(super) fn scores(snapshot: &Snapshot, pod: &PodInfo, feasible: &[&NodeInfo]) -> Vec<i64> {
    let mut pairs = Pairs::new();
    let looks = pod.has_pod_affinity();
    for node in snapshot.nodes().filter(|node| looks || node.with_affinity > 0) {
        for existing in node.pods.values().map(AsRef::as_ref) {
            for (owner, other) in [(pod, existing), (existing, pod)] {
                for (terms, sign) in [
                    (&owner.fields.preferred_affinity, 1),
                    (&owner.fields.preferred_anti_affinity, -1),
                ] {
                    for term in terms.iter().filter(|term| means(&term.term, owner, other)) {
                        let key = &term.term.topology_key;
                        count(&mut pairs, node, key, sign * term.weight);
                    }
                }
            }
            // `hardPodAffinityWeight` is 1.
            for term in &existing.fields.required_affinity {
                if means(term, existing, pod) {
                    count(&mut pairs, node, &term.topology_key, 1);
                }
            }
        }
    }
    let score = |node: &&NodeInfo| -> i64 {
        let here = |((key, value), _): &(&(String, String), &i64)| {
            node.labels.get(key.as_str()) == Some(value)
        };
        if pairs.is_empty() { 0 } else { pairs.iter().filter(here).map(|(_, score)| score).sum() }
    };
    let raw: Vec<i64> = feasible.iter().map(score).collect();
    let least = raw.iter().min().copied().unwrap_or(0);
    let most = raw.iter().max().copied().unwrap_or(0);
    let normalised = |score: &i64| match most - least {
        0 => 0,
        range => (MAX_NODE_SCORE as f64 * ((score - least) as f64 / range as f64)) as i64,
    };
    scores::clamp(raw.iter().map(normalised))
}
