//! Which node is best.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    HOSTNAME, World, ZONE, allocatable, constraints, key_of, least, preferred, request, required,
    term_selects,
};
use crate::models::{
    expression, label, list, name, node_matches, number, selects, text, tolerates,
};

impl World {
    /// The nodes on which the pod fits, with the sum of their scores.
    #[must_use]
    pub fn scores(&self, pod: &Value) -> Vec<(String, i64)> {
        let feasible: Vec<&Value> =
            self.nodes.iter().filter(|node| self.rejection(pod, node).is_none()).collect();
        let new = self.minor >= 23;
        let plugins = [
            (self.score_taints(pod, &feasible), if new { 3 } else { 1 }),
            (self.score_node_affinity(pod, &feasible), if new { 2 } else { 1 }),
            (self.score_spread(pod, &feasible), if self.minor >= 19 { 2 } else { 1 }),
            (self.score_selector_spread(pod, &feasible), 1),
            (self.score_pod_affinity(pod, &feasible), if new { 2 } else { 1 }),
            (self.score_least_allocated(pod, &feasible), 1),
            (self.score_balance(pod, &feasible), 1),
        ];
        let total = |at: usize| plugins.iter().map(|(scores, weight)| scores[at] * weight).sum();
        feasible.iter().enumerate().map(|(at, node)| (name(node).to_owned(), total(at))).collect()
    }

    fn score_taints(&self, pod: &Value, nodes: &[&Value]) -> Vec<i64> {
        // Only tolerations with this effect or none speak of it.
        let tolerations: Vec<&Value> = list(pod, "/spec/tolerations")
            .iter()
            .filter(|it| matches!(text(it, "/effect"), "" | "PreferNoSchedule"))
            .collect();
        let count = |node: &&Value| {
            let untolerated = |taint: &&Value| {
                text(taint, "/effect") == "PreferNoSchedule"
                    && !tolerations.iter().any(|it| tolerates(it, taint))
            };
            let count = list(node, "/spec/taints").iter().filter(untolerated).count();
            i64::try_from(count).unwrap_or(i64::MAX)
        };
        let counts: Vec<i64> = nodes.iter().map(count).collect();
        let most = counts.iter().max().copied().unwrap_or(0);
        let score = |count: &i64| if most == 0 { 100 } else { 100 - 100 * count / most };
        counts.iter().map(score).collect()
    }

    fn score_node_affinity(&self, pod: &Value, nodes: &[&Value]) -> Vec<i64> {
        let path = "/spec/affinity/nodeAffinity/preferredDuringSchedulingIgnoredDuringExecution";
        let sum = |node: &&Value| {
            let matches = |it: &&Value| {
                list(it, "/preference/matchExpressions").iter().all(|it| expression(it, node))
            };
            let weights =
                list(pod, path).iter().filter(matches).filter_map(|it| number(it, "/weight"));
            weights.sum()
        };
        let sums: Vec<i64> = nodes.iter().map(sum).collect();
        let most = sums.iter().max().copied().unwrap_or(0);
        sums.iter().map(|sum| if most == 0 { 0 } else { 100 * sum / most }).collect()
    }

    /// What would be used of a node with the pod on it.
    fn used(&self, pod: &Value, node: &Value, resource: &str, least: i64) -> i64 {
        let there: i64 = self.pods_on(name(node)).map(|pod| request(pod, resource, least)).sum();
        there + request(pod, resource, least)
    }

    fn score_least_allocated(&self, pod: &Value, nodes: &[&Value]) -> Vec<i64> {
        let score = |node: &&Value| {
            let of = |resource: &str| {
                let all = allocatable(node, resource);
                let used = self.used(pod, node, resource, least(resource));
                if all == 0 || used > all { 0 } else { (all - used) * 100 / all }
            };
            (of("cpu") + of("memory")) / 2
        };
        nodes.iter().map(score).collect()
    }

    fn score_balance(&self, pod: &Value, nodes: &[&Value]) -> Vec<i64> {
        let asks = |resource: &str| request(pod, resource, 0);
        if self.minor >= 33 && asks("cpu") == 0 && asks("memory") == 0 {
            return vec![0; nodes.len()];
        }
        // With the pod, or without it.
        let balance = |node: &Value, with: bool| {
            let part = |resource: &str| {
                let least = if self.minor >= 22 { 0 } else { least(resource) };
                let of = |number: i64| number as f64;
                let own = if with { 0 } else { request(pod, resource, least) };
                let used = self.used(pod, node, resource, least) - own;
                of(used) / of(allocatable(node, resource))
            };
            let (cpu, memory) = (part("cpu"), part("memory"));
            if self.minor >= 22 {
                ((1.0 - ((cpu.min(1.0) - memory.min(1.0)) / 2.0).abs()) * 100.0) as i64
            } else if cpu >= 1.0 || memory >= 1.0 {
                0
            } else {
                ((1.0 - (cpu - memory).abs()) * 100.0) as i64
            }
        };
        let score = |node: &&Value| match self.minor {
            ..=35 => balance(node, true),
            // Since 1.36 the change of the balance counts.
            _ => 50 + (50 + balance(node, true) - balance(node, false)) / 2,
        };
        nodes.iter().map(score).collect()
    }

    fn score_pod_affinity(&self, pod: &Value, nodes: &[&Value]) -> Vec<i64> {
        let mut weights: BTreeMap<(String, String), i64> = BTreeMap::new();
        for (other, its_node) in self.placed() {
            let mut add = |term: &Value, weight: i64, matches: bool| {
                let domain = label(its_node, key_of(term)).filter(|_| matches);
                if let Some(domain) = domain {
                    let pair = (key_of(term).to_owned(), domain.to_owned());
                    *weights.entry(pair).or_default() += weight;
                }
            };
            for (kind, sign) in [("podAffinity", 1), ("podAntiAffinity", -1)] {
                for (term, weight) in preferred(pod, kind) {
                    add(term, sign * weight, term_selects(term, other));
                }
                for (term, weight) in preferred(other, kind) {
                    add(term, sign * weight, term_selects(term, pod));
                }
            }
            for term in required(other, "podAffinity") {
                add(term, 1, term_selects(term, pod));
            }
        }
        let sum = |node: &&Value| {
            let here = |((key, domain), weight): (&(String, String), &i64)| {
                if label(node, key) == Some(domain) { *weight } else { 0 }
            };
            weights.iter().map(here).sum()
        };
        let sums: Vec<i64> = nodes.iter().map(sum).collect();
        let (mut most, mut least) = (sums.iter().max().copied(), sums.iter().min().copied());
        if self.minor <= 20 {
            (most, least) = (most.max(Some(0)), least.min(Some(0)));
        }
        let (most, least) = (most.unwrap_or(0), least.unwrap_or(0));
        let score = |sum: &i64| (100.0 * ((sum - least) as f64 / (most - least) as f64)) as i64;
        sums.iter().map(|sum| if most == least { 0 } else { score(sum) }).collect()
    }

    /// The labels by which a pod is spread that does not say how: those of all Services that select
    /// it, and of its ReplicaSet or StatefulSet, to 1.21 of any that selects it.
    fn default_selector(&self, pod: &Value) -> Option<Value> {
        let mut merged = serde_json::Map::new();
        let mut owners = list(pod, "/metadata/ownerReferences").iter();
        let owner = owners.find(|owner| owner["controller"] == true);
        for object in &self.selectors {
            let is_owner = owner.is_some_and(|owner| {
                owner["kind"] == object["kind"] && text(owner, "/name") == name(object)
            });
            let counts = object["kind"] == "Service" || is_owner || self.minor <= 21;
            let selector = object.pointer("/spec/selector");
            if counts && selects(selector, pod) {
                let labels = selector.and_then(|it| it["matchLabels"].as_object());
                merged.extend(labels.cloned().into_iter().flatten());
            }
        }
        (!merged.is_empty()).then(|| serde_json::json!({ "matchLabels": merged }))
    }

    fn default_constraints(&self, pod: &Value) -> Vec<Value> {
        let Some(selector) = self.default_selector(pod).filter(|_| self.minor >= 20) else {
            return Vec::new();
        };
        let of = |(key, skew): (&str, i64)| {
            let labels = &selector;
            serde_json::json!({ "topologyKey": key, "maxSkew": skew, "labelSelector": labels })
        };
        [(HOSTNAME, 3), (ZONE, 5)].into_iter().map(of).collect()
    }

    /// To 1.19: the fewer pods of the same Services and owners on a node, and in its zone.
    fn score_selector_spread(&self, pod: &Value, nodes: &[&Value]) -> Vec<i64> {
        let own = !list(pod, "/spec/topologySpreadConstraints").is_empty();
        let Some(selector) = self.default_selector(pod).filter(|_| self.minor <= 19 && !own) else {
            return vec![0; nodes.len()];
        };
        let constraint = serde_json::json!({ "labelSelector": selector });
        let count = |node: &Value| self.count(node, &constraint);
        let of_zone = |zone: &str| -> i64 {
            let there = nodes.iter().filter(|node| label(node, ZONE) == Some(zone));
            there.map(|node| count(node)).sum()
        };
        let zones: Vec<&str> = nodes.iter().filter_map(|node| label(node, ZONE)).collect();
        let most = nodes.iter().map(|node| count(node)).max().unwrap_or(0);
        let most_of_zone = zones.iter().map(|zone| of_zone(zone)).max().unwrap_or(0);
        let part = |count: i64, most: i64| match most {
            0 => 100.0,
            most => 100.0 * ((most - count) as f64 / most as f64),
        };
        let score = |node: &&Value| {
            let by_node = part(count(node), most);
            let weight = 2.0 / 3.0;
            let Some(zone) = label(node, ZONE) else { return by_node as i64 };
            (by_node * (1.0 - weight) + weight * part(of_zone(zone), most_of_zone)) as i64
        };
        nodes.iter().map(score).collect()
    }

    fn score_spread(&self, pod: &Value, nodes: &[&Value]) -> Vec<i64> {
        let own = !list(pod, "/spec/topologySpreadConstraints").is_empty();
        let defaults = if own { Vec::new() } else { self.default_constraints(pod) };
        let mut all = constraints(pod, "ScheduleAnyway");
        all.extend(&defaults);
        if all.is_empty() {
            return vec![0; nodes.len()];
        }
        // The default constraints score nodes without a label too, since 1.23.
        let require_all = own || self.minor < 23;
        let has = |node: &Value, it: &Value| label(node, key_of(it)).is_some();
        let has_all = |node: &Value| !require_all || all.iter().all(|it| has(node, it));
        let scored: Vec<&&Value> = nodes.iter().filter(|node| has_all(node)).collect();
        let domains = |key: &str| {
            // Nodes without the label are a domain, too.
            let values = scored.iter().map(|node| label(node, key).unwrap_or_default());
            let mut all: Vec<&str> = values.collect();
            all.sort_unstable();
            all.dedup();
            all.len()
        };
        let counted: Vec<&Value> =
            self.nodes.iter().filter(|node| node_matches(pod, node) && has_all(node)).collect();
        let sum = |constraint: &Value, node: &Value| -> i64 {
            let key = key_of(constraint);
            // Each host is a domain of its own.
            if key == HOSTNAME && self.minor >= 19 {
                return self.count(node, constraint);
            }
            let same = counted.iter().filter(|other| label(other, key) == label(node, key));
            same.map(|other| self.count(other, constraint)).sum()
        };
        let raw = |node: &Value| -> i64 {
            if self.minor <= 18 {
                return all.iter().map(|it| sum(it, node)).sum();
            }
            let mut score = 0.0;
            for constraint in all.iter().filter(|it| has(node, it)) {
                let key = key_of(constraint);
                let size = if key == HOSTNAME { scored.len() } else { domains(key) };
                let (size, count) = (size as f64, sum(constraint, node) as f64);
                let skew = (number(constraint, "/maxSkew").unwrap_or(1) - 1) as f64;
                score += count * (size + 2.0).ln() + skew;
            }
            if self.minor >= 24 { score.round() as i64 } else { score as i64 }
        };
        let raws: Vec<i64> = scored.iter().map(|node| raw(node)).collect();
        let (most, least) = (raws.iter().max().copied(), raws.iter().min().copied());
        let (most, least) = (most.unwrap_or(0), least.unwrap_or(0));
        let total: i64 = raws.iter().sum();
        let score = |node: &&Value| {
            if self.minor <= 18 {
                let range = total - least;
                if range == 0 {
                    100
                } else if !has_all(node) {
                    0
                } else {
                    (100.0 * ((total - raw(node)) as f64 / range as f64)) as i64
                }
            } else if !has_all(node) {
                0
            } else if most == 0 {
                100
            } else {
                100 * (most + least - raw(node)) / most
            }
        };
        nodes.iter().map(score).collect()
    }
}
