//! Where a pod may go, where it goes best, what the scheduler says if nowhere, and whom it would
//! preempt: everything counted anew from plain lists for each question.
//!
//! Pods in one namespace, spread by their Services and owners; of resources `cpu`, `memory`, `pods`
//! and extended ones; volumes by claims.

mod scores;
mod volumes;

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    condition_since, has_ended, is_terminating, label, list, name, node_matches, number, selects,
    text, tolerates,
};

const HOSTNAME: &str = "kubernetes.io/hostname";
const ZONE: &str = "topology.kubernetes.io/zone";

/// A cluster as the scheduler sees it.
#[derive(Clone, Debug)]
pub struct World {
    /// The minor of the release.
    pub minor: u8,
    /// All nodes.
    pub nodes: Vec<Value>,
    /// All pods, also those without a node.
    pub pods: Vec<Value>,
    /// Pods that preemption has taken away and that were terminating already. Topology spread has
    /// not counted them, and takes them off its counts all the same (`updateWithPod`).
    pub taken_away: Vec<Value>,
    /// Claims and what they may be bound to; without it claims keep no pod off.
    pub storage: Option<Storage>,
    /// Services, ReplicaSets and StatefulSets: `kind`, `metadata.name` and `spec.selector`, which
    /// has `matchLabels` alone.
    pub selectors: Vec<Value>,
}

/// PersistentVolumes, PersistentVolumeClaims and StorageClasses.
#[derive(Clone, Debug)]
pub struct Storage {
    /// All volumes.
    pub volumes: Vec<Value>,
    /// All claims.
    pub claims: Vec<Value>,
    /// All classes.
    pub classes: Vec<Value>,
}

/// Why a pod may not go onto a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// In the scheduler's words.
    pub reasons: Vec<String>,
    /// Whether it is the same without the pods of the node.
    pub unresolvable: bool,
}

/// Whom a pod would preempt on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The node.
    pub node: String,
    /// The names of the pods that would go, in the order of names.
    pub victims: Vec<String>,
    /// What the scheduler compares candidates by: smaller is better.
    rank: [i64; 5],
}

/// A PodDisruptionBudget: its selector and how many of its pods may go.
#[derive(Clone, Debug)]
pub struct Budget {
    /// `spec.selector`.
    pub selector: Value,
    /// `status.disruptionsAllowed`.
    pub allowed: i64,
}

fn rejection(reason: &str, unresolvable: bool) -> Option<Rejection> {
    Some(Rejection { reasons: vec![reason.to_owned()], unresolvable })
}

/// Thousandths of a core, bytes or pieces: `250m`, `2`, `64Mi`, `1Gi`.
fn amount(resource: &str, value: Option<&Value>) -> i64 {
    let text = match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => return 0,
    };
    let of = |text: &str, factor: i64| text.parse::<i64>().unwrap_or(0) * factor;
    if resource == "cpu" {
        return text.strip_suffix('m').map_or_else(|| of(&text, 1000), |rest| of(rest, 1));
    }
    let units = [("Ki", 1 << 10), ("Mi", 1 << 20), ("Gi", 1 << 30)];
    let unit = units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)));
    unit.map_or_else(|| of(&text, 1), |(rest, factor)| of(rest, factor))
}

/// Amount of a resource that a node has: thousandths of a core, bytes or pieces.
#[must_use]
pub fn allocatable(node: &Value, resource: &str) -> i64 {
    amount(resource, node.pointer("/status/allocatable").and_then(|all| all.get(resource)))
}

/// What the containers of a pod request; with `least`, a container that says nothing counts as if
/// it said that.
#[must_use]
pub fn request(pod: &Value, resource: &str, least: i64) -> i64 {
    let of = |container: &Value| {
        let value = container.pointer("/resources/requests").and_then(|all| all.get(resource));
        if value.is_none() { least } else { amount(resource, value) }
    };
    list(pod, "/spec/containers").iter().map(of).sum()
}

/// What a container counts as for scores if it requests nothing: 100m and 200 MB.
fn least(resource: &str) -> i64 {
    if resource == "cpu" { 100 } else { 200 * 1024 * 1024 }
}

fn extended(pod: &Value) -> Vec<String> {
    let mut names = Vec::new();
    for container in list(pod, "/spec/containers") {
        let requests = container.pointer("/resources/requests").and_then(Value::as_object);
        names.extend(requests.into_iter().flatten().map(|(name, _)| name.clone()));
    }
    names.retain(|name| name.contains('/'));
    names.sort();
    names.dedup();
    names
}

fn host_ports(pod: &Value) -> Vec<(i64, String, String)> {
    let mut ports = Vec::new();
    for container in list(pod, "/spec/containers") {
        for port in list(container, "/ports") {
            let or =
                |text: &str, other: &str| if text.is_empty() { other } else { text }.to_owned();
            if let Some(number) = number(port, "/hostPort").filter(|number| *number > 0) {
                let (protocol, ip) = (text(port, "/protocol"), text(port, "/hostIP"));
                ports.push((number, or(protocol, "TCP"), or(ip, "0.0.0.0")));
            }
        }
    }
    ports
}

fn priority(pod: &Value) -> i64 {
    number(pod, "/spec/priority").unwrap_or(0)
}

/// The terms of (anti-)affinity between pods that must hold.
fn required<'a>(pod: &'a Value, kind: &str) -> &'a [Value] {
    list(pod, &format!("/spec/affinity/{kind}/requiredDuringSchedulingIgnoredDuringExecution"))
}

/// The same that should hold: term and weight.
fn preferred<'a>(pod: &'a Value, kind: &str) -> impl Iterator<Item = (&'a Value, i64)> + 'a {
    let path = format!("/spec/affinity/{kind}/preferredDuringSchedulingIgnoredDuringExecution");
    let of = |it: &'a Value| Some((it.get("podAffinityTerm")?, number(it, "/weight")?));
    list(pod, &path).iter().filter_map(of)
}

fn term_selects(term: &Value, pod: &Value) -> bool {
    selects(term.get("labelSelector"), pod)
}

fn constraints<'a>(pod: &'a Value, when: &str) -> Vec<&'a Value> {
    let all = list(pod, "/spec/topologySpreadConstraints").iter();
    all.filter(|it| text(it, "/whenUnsatisfiable") == when).collect()
}

fn key_of(term: &Value) -> &str {
    text(term, "/topologyKey")
}

impl World {
    /// The pods that take up room on a node.
    fn pods_on<'a>(&'a self, node: &'a str) -> impl Iterator<Item = &'a Value> {
        let there = move |pod: &&Value| text(pod, "/spec/nodeName") == node && !has_ended(pod);
        self.pods.iter().filter(there)
    }

    /// Pods that take up room, with their nodes.
    fn placed(&self) -> impl Iterator<Item = (&Value, &Value)> {
        self.nodes.iter().flat_map(|node| self.pods_on(name(node)).map(move |pod| (pod, node)))
    }

    /// This cluster without some pods.
    fn without(&self, gone: &[String]) -> Self {
        let goes = |pod: &Value| gone.iter().any(|gone| gone == name(pod));
        let (gone, pods): (Vec<Value>, Vec<Value>) = self.pods.iter().cloned().partition(goes);
        let taken_away = gone.into_iter().filter(is_terminating).collect();
        Self { pods, taken_away, ..self.clone() }
    }

    // ---- filters --------------------------------------------------------------------------

    /// Why the pod may not go onto a node: the first filter that refuses.
    #[must_use]
    pub fn rejection(&self, pod: &Value, node: &Value) -> Option<Rejection> {
        if let Some(reason) = self.claims_refuse(pod) {
            return rejection(&reason, true);
        }
        // First with the pods for which room was made here, then without them.
        let nominated = |other: &&Value| {
            text(other, "/status/nominatedNodeName") == name(node)
                && text(other, "/spec/nodeName").is_empty()
                && priority(other) >= priority(pod)
                && name(other) != name(pod)
                && !has_ended(other)
        };
        if !self.pods.iter().any(|other| nominated(&other)) {
            return self.first_rejection(pod, node);
        }
        let mut with = self.clone();
        for other in self.pods.iter().filter(nominated) {
            let it = with.pods.iter_mut().find(|it| name(it) == name(other));
            if let Some(spec) = it.and_then(|it| it.get_mut("spec")).and_then(Value::as_object_mut)
            {
                spec.insert("nodeName".into(), name(node).into());
            }
        }
        with.first_rejection(pod, node).or_else(|| self.first_rejection(pod, node))
    }

    fn first_rejection(&self, pod: &Value, node: &Value) -> Option<Rejection> {
        type Filter = fn(&World, &Value, &Value) -> Option<Rejection>;
        let order: [Filter; 11] = match self.minor {
            ..=18 => [
                Self::unschedulable,
                Self::resources,
                Self::node_name,
                Self::ports,
                Self::affinity_to_node,
                Self::claims_for_one_pod,
                Self::taints,
                Self::volumes,
                Self::zones_of_volumes,
                Self::affinity_to_pods,
                Self::spread,
            ],
            19 => [
                Self::unschedulable,
                Self::resources,
                Self::node_name,
                Self::ports,
                Self::affinity_to_node,
                Self::claims_for_one_pod,
                Self::taints,
                Self::volumes,
                Self::zones_of_volumes,
                Self::spread,
                Self::affinity_to_pods,
            ],
            _ => [
                Self::unschedulable,
                Self::node_name,
                Self::taints,
                Self::affinity_to_node,
                Self::ports,
                Self::resources,
                Self::claims_for_one_pod,
                Self::volumes,
                Self::zones_of_volumes,
                Self::spread,
                Self::affinity_to_pods,
            ],
        };
        order.iter().find_map(|filter| filter(self, pod, node))
    }

    fn unschedulable(&self, pod: &Value, node: &Value) -> Option<Rejection> {
        let cordoned = node.pointer("/spec/unschedulable") == Some(&Value::Bool(true));
        let taint = serde_json::json!({
            "key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"});
        if !cordoned || list(pod, "/spec/tolerations").iter().any(|it| tolerates(it, &taint)) {
            return None;
        }
        rejection("node(s) were unschedulable", true)
    }

    fn node_name(&self, pod: &Value, node: &Value) -> Option<Rejection> {
        let wanted = text(pod, "/spec/nodeName");
        if wanted.is_empty() || wanted == name(node) {
            return None;
        }
        rejection("node(s) didn't match the requested node name", true)
    }

    fn taints(&self, pod: &Value, node: &Value) -> Option<Rejection> {
        let keeps_away = |taint: &&Value| {
            matches!(text(taint, "/effect"), "NoSchedule" | "NoExecute")
                && !list(pod, "/spec/tolerations").iter().any(|it| tolerates(it, taint))
        };
        let taint = list(node, "/spec/taints").iter().find(keeps_away)?;
        let words = format!("{{{}: {}}}", text(taint, "/key"), text(taint, "/value"));
        let reason = match self.minor {
            ..=23 => format!("node(s) had taint {words}, that the pod didn't tolerate"),
            24..=33 => format!("node(s) had untolerated taint {words}"),
            _ => "node(s) had untolerated taint(s)".to_owned(),
        };
        rejection(&reason, true)
    }

    fn affinity_to_node(&self, pod: &Value, node: &Value) -> Option<Rejection> {
        if node_matches(pod, node) {
            return None;
        }
        let reason = match self.minor {
            ..=19 => "node(s) didn't match node selector",
            20 => "node(s) didn't match Pod's node affinity",
            _ => "node(s) didn't match Pod's node affinity/selector",
        };
        rejection(reason, true)
    }

    fn ports(&self, pod: &Value, node: &Value) -> Option<Rejection> {
        let wanted = host_ports(pod);
        let collide = |a: &(i64, String, String), b: &(i64, String, String)| {
            let any = |ip: &str| ip == "0.0.0.0";
            a.0 == b.0 && a.1 == b.1 && (a.2 == b.2 || any(&a.2) || any(&b.2))
        };
        let taken = self.pods_on(name(node)).flat_map(host_ports);
        if taken.into_iter().any(|taken| wanted.iter().any(|it| collide(it, &taken))) {
            return rejection("node(s) didn't have free ports for the requested pod ports", false);
        }
        None
    }

    fn resources(&self, pod: &Value, node: &Value) -> Option<Rejection> {
        let count = i64::try_from(self.pods_on(name(node)).count()).unwrap_or(i64::MAX);
        let mut all = Rejection { reasons: Vec::new(), unresolvable: false };
        if count + 1 > allocatable(node, "pods") {
            all.reasons.push("Too many pods".to_owned());
        }
        let extended = extended(pod);
        let asks = |resource: &str| request(pod, resource, 0);
        let plain = ["cpu", "memory"].map(str::to_owned);
        if plain.iter().any(|it| asks(it) > 0) || !extended.is_empty() {
            for resource in plain.iter().chain(&extended) {
                let used: i64 =
                    self.pods_on(name(node)).map(|other| request(other, resource, 0)).sum();
                // A pod that asks for none is no worse where there is less than none.
                let idle = if resource.contains('/') { 26 } else { 28 };
                let zero_fits = asks(resource) == 0 && self.minor >= idle;
                if asks(resource) > allocatable(node, resource) - used && !zero_fits {
                    all.reasons.push(format!("Insufficient {resource}"));
                    all.unresolvable |=
                        self.minor >= 34 && asks(resource) > allocatable(node, resource);
                }
            }
        }
        (!all.reasons.is_empty()).then_some(all)
    }

    /// How many pods on a node count for a constraint of topology spread.
    fn count(&self, node: &Value, constraint: &Value) -> i64 {
        let counts =
            |pod: &&Value| !is_terminating(pod) && selects(constraint.get("labelSelector"), pod);
        let taken_away = |pod: &&Value| {
            text(pod, "/spec/nodeName") == name(node)
                && selects(constraint.get("labelSelector"), pod)
        };
        let there = self.pods_on(name(node)).filter(counts).count();
        let less = self.taken_away.iter().filter(taken_away).count();
        i64::try_from(there).unwrap_or(i64::MAX) - i64::try_from(less).unwrap_or(i64::MAX)
    }

    fn spread(&self, pod: &Value, node: &Value) -> Option<Rejection> {
        let all = constraints(pod, "DoNotSchedule");
        let has_all = |node: &Value| all.iter().all(|it| label(node, key_of(it)).is_some());
        let eligible: Vec<&Value> =
            self.nodes.iter().filter(|node| node_matches(pod, node) && has_all(node)).collect();
        let text_of_reason = "node(s) didn't match pod topology spread constraints";
        for constraint in &all {
            let key = key_of(constraint);
            let Some(domain) = label(node, key) else {
                let missing = format!("{text_of_reason} (missing required label)");
                return rejection(if self.minor >= 19 { &missing } else { text_of_reason }, true);
            };
            let mut matching: BTreeMap<&str, i64> = BTreeMap::new();
            for node in &eligible {
                matching.entry(label(node, key).unwrap_or_default()).or_default();
            }
            // Since 1.24 pods on nodes that do not count do not count either.
            let counted: Vec<&Value> =
                if self.minor >= 24 { eligible.clone() } else { self.nodes.iter().collect() };
            for node in counted {
                let domain = label(node, key).unwrap_or_default();
                if let Some(sum) = matching.get_mut(domain) {
                    *sum += self.count(node, constraint);
                }
            }
            let Some(mut minimum) = matching.values().min().copied() else { continue };
            let domains = i64::try_from(matching.len()).unwrap_or(i64::MAX);
            let at_least = number(constraint, "/minDomains").unwrap_or(1);
            if self.minor >= 27 && domains < at_least {
                minimum = 0;
            }
            let itself = i64::from(selects(constraint.get("labelSelector"), pod));
            let there = matching.get(domain).copied().unwrap_or(0);
            if there + itself - minimum > number(constraint, "/maxSkew").unwrap_or(1) {
                return rejection(text_of_reason, false);
            }
        }
        None
    }

    fn affinity_to_pods(&self, pod: &Value, node: &Value) -> Option<Rejection> {
        let says = |reason: &str, unresolvable: bool| {
            let general = match self.minor {
                ..=20 => Some("node(s) didn't match pod affinity/anti-affinity"),
                21 => Some("node(s) didn't match pod affinity/anti-affinity rules"),
                _ => None,
            };
            let reasons = general.into_iter().chain([reason]).map(str::to_owned).collect();
            Some(Rejection { reasons, unresolvable })
        };
        let here = |term: &Value| label(node, key_of(term));
        let existing = || {
            let objects = |(other, its_node): (&Value, &Value)| {
                required(other, "podAntiAffinity").iter().any(|term| {
                    let key = key_of(term);
                    label(its_node, key).is_some()
                        && label(its_node, key) == label(node, key)
                        && term_selects(term, pod)
                })
            };
            let words = "node(s) didn't satisfy existing pods anti-affinity rules";
            if self.placed().any(objects) { says(words, false) } else { None }
        };
        if self.minor <= 18
            && let Some(rejection) = existing()
        {
            return Some(rejection);
        }
        // A pod counts for affinity if all terms select it.
        let terms = required(pod, "podAffinity");
        let all = |other: &Value| terms.iter().all(|term| term_selects(term, other));
        let near = |term: &Value| {
            self.placed().any(|(other, its_node)| {
                all(other) && here(term).is_some() && label(its_node, key_of(term)) == here(term)
            })
        };
        let nobody = || {
            !self.placed().any(|(other, its_node)| {
                all(other) && terms.iter().any(|term| label(its_node, key_of(term)).is_some())
            })
        };
        if !terms.is_empty() {
            let labelled = terms.iter().all(|term| here(term).is_some());
            // The first of its group may go anywhere, in 1.18 also where there are no domains.
            let near_or_first = terms.iter().all(near) || (nobody() && all(pod));
            if !near_or_first || (!labelled && self.minor >= 19) {
                return says("node(s) didn't match pod affinity rules", true);
            }
        }
        let too_near = |term: &Value| {
            self.placed().any(|(other, its_node)| {
                term_selects(term, other)
                    && here(term).is_some()
                    && label(its_node, key_of(term)) == here(term)
            })
        };
        if required(pod, "podAntiAffinity").iter().any(too_near) {
            return says("node(s) didn't match pod anti-affinity rules", false);
        }
        existing()
    }

    // ---- the message ----------------------------------------------------------------------

    /// What the scheduler says of a pod that fits on no node, up to preemption.
    #[must_use]
    pub fn message(&self, pod: &Value) -> String {
        if self.nodes.is_empty() {
            return "no nodes available to schedule pods".to_owned();
        }
        // Since 1.26 what keeps a pod off all nodes is said once.
        if let Some(reason) = self.claims_refuse(pod).filter(|_| self.minor >= 26) {
            return format!("0/{} nodes are available: {reason}.", self.nodes.len());
        }
        let rejections = self.nodes.iter().filter_map(|node| self.rejection(pod, node));
        self.available(rejections.flat_map(|rejection| rejection.reasons))
    }

    fn available(&self, reasons: impl Iterator<Item = String>) -> String {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for reason in reasons {
            *counts.entry(reason).or_default() += 1;
        }
        let mut parts: Vec<String> =
            counts.into_iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        parts.sort();
        format!("0/{} nodes are available: {}.", self.nodes.len(), parts.join(", "))
    }

    /// Whether a pod is refused before any node is looked at. Since 1.34 `DynamicResources`, the last
    /// plugin, then ends with an error in the place of preemption: it was not asked before.
    #[must_use]
    pub fn is_refused(&self, pod: &Value) -> bool {
        self.claims_refuse(pod).is_some()
    }

    /// Why preemption does not help, if no node is a candidate.
    #[must_use]
    pub fn preemption_message(&self, pod: &Value) -> String {
        let reasons = self.nodes.iter().flat_map(|node| {
            let Some(rejection) = self.rejection(pod, node) else { return Vec::new() };
            if rejection.unresolvable {
                return vec!["Preemption is not helpful for scheduling".to_owned()];
            }
            let lower = self.lower(pod, node);
            if lower.is_empty() {
                return vec!["No preemption victims found for incoming pod".to_owned()];
            }
            let rejection = self.without(&lower).rejection(pod, node);
            rejection.map_or_else(Vec::new, |rejection| rejection.reasons)
        });
        format!("preemption: {}", self.available(reasons))
    }

    // ---- preemption -----------------------------------------------------------------------

    /// The pods of lower priority on a node.
    fn lower(&self, pod: &Value, node: &Value) -> Vec<String> {
        let lower = self.pods_on(name(node)).filter(|it| priority(it) < priority(pod));
        lower.map(|it| name(it).to_owned()).collect()
    }

    /// Whom the pod would preempt on each node where that helps. As many as possible stay: first
    /// those whose budgets forbid their end, each group by importance.
    #[must_use]
    pub fn candidates(&self, pod: &Value, budgets: &[Budget]) -> Vec<Candidate> {
        self.nodes.iter().filter_map(|node| self.candidate(pod, node, budgets)).collect()
    }

    fn candidate(&self, pod: &Value, node: &Value, budgets: &[Budget]) -> Option<Candidate> {
        if self.rejection(pod, node)?.unresolvable {
            return None;
        }
        let mut gone = self.lower(pod, node);
        let fits = |gone: &[String]| self.without(gone).rejection(pod, node).is_none();
        if gone.is_empty() || !fits(&gone) {
            return None;
        }
        let object = |name_of: &String| self.pods.iter().find(|pod| name(pod) == name_of);
        // The most important first: by priority, then by how long they have been running.
        // Kubelets of the simulation know of a pod as soon as it is bound.
        let started = |pod: &Value| match text(pod, "/status/startTime") {
            "" => condition_since(pod, "PodScheduled").to_owned(),
            time => time.to_owned(),
        };
        gone.sort_by_key(|it| {
            let pod = object(it).unwrap_or(&Value::Null);
            (-priority(pod), started(pod))
        });
        let mut allowed: Vec<i64> = budgets.iter().map(|budget| budget.allowed).collect();
        let mut forbidden = Vec::new();
        for victim in &gone {
            let mut violates = false;
            for (budget, left) in budgets.iter().zip(&mut allowed) {
                let victim = object(victim).unwrap_or(&Value::Null);
                let has_labels =
                    victim.pointer("/metadata/labels").and_then(Value::as_object).is_some();
                if has_labels && selects(Some(&budget.selector), victim) {
                    *left -= 1;
                    violates |= *left < 0;
                }
            }
            forbidden.push(violates);
        }
        let of = |wanted: bool| {
            let both = gone.iter().zip(&forbidden).filter(move |(_, it)| **it == wanted);
            both.map(|(victim, _)| victim.clone())
        };
        let in_turn: Vec<(String, bool)> =
            of(true).map(|it| (it, true)).chain(of(false).map(|it| (it, false))).collect();
        let mut victims = gone.clone();
        let mut violations = 0;
        for (victim, forbidden) in in_turn {
            let rest: Vec<String> = victims.iter().filter(|it| **it != victim).cloned().collect();
            if fits(&rest) {
                victims = rest;
            } else {
                violations += i64::from(forbidden);
            }
        }
        let objects: Vec<&Value> = victims.iter().filter_map(object).collect();
        // To 1.31 the first victim was taken for the highest, and budgets put others first.
        let forbidden_first = of(true).chain(of(false)).find(|it| victims.contains(it));
        let first = forbidden_first.as_ref().and_then(object).map_or(0, priority);
        let highest = objects.iter().map(|pod| priority(pod)).max().unwrap_or(0);
        let sum = objects.iter().map(|pod| priority(pod) + (1 << 31)).sum();
        let count = i64::try_from(objects.len()).unwrap_or(i64::MAX);
        // Of the most important victims the one that has run longest: the latest such start wins.
        let longest = objects.iter().filter(|pod| priority(pod) == highest).map(|it| started(it));
        let start = longest.min().unwrap_or_default();
        let seconds = start.get(14..19).map_or(0, |it| {
            let mut parts = it.split(':').map(|it| it.parse::<i64>().unwrap_or(0));
            parts.next().unwrap_or(0) * 60 + parts.next().unwrap_or(0)
        });
        victims.sort();
        let compared = if self.minor >= 32 { highest } else { first };
        let rank = [violations, compared, sum, count, -seconds];
        Some(Candidate { node: name(node).to_owned(), victims, rank })
    }

    /// The best of the candidates, by node.
    #[must_use]
    pub fn best(candidates: &[Candidate]) -> Vec<&str> {
        let least = candidates.iter().map(|it| it.rank).min();
        let best = candidates.iter().filter(|it| Some(it.rank) == least);
        best.map(|it| it.node.as_str()).collect()
    }
}
