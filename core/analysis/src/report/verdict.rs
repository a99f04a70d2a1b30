//! Summary of a report: the cluster, the failures that it survives and those that hurt most, and
//! the findings grouped by cause.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;

use serde::{Deserialize, Serialize};
use taintlab_rules::api::WorkloadKind;
use taintlab_rules::order::{Order, OrderedMap, OrderedSet};
use taintlab_rules::plural::count;

use super::{
    Cell, DomainKind, Fault, Finding, Millis, Outline, ReportSubject, RunResult, Shortfall,
};

/// Names listed at most in a sentence.
const MOST_NAMES: usize = 3;
/// Domains of a kind listed at most in the verdict.
const MOST_DOMAINS: usize = 2;

/// Effect of a failure on all workloads together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct FailureTotal {
    /// Failure domain, as its index in the outline.
    pub domain: usize,
    /// The fault.
    pub fault: Fault,
    /// Sum of the harm to all workloads.
    pub harm: Millis,
    /// Workloads harmed.
    pub harmed: usize,
    /// Workloads without any ready pod for a time: they do not survive the failure.
    pub down: Vec<ReportSubject>,
    /// Workloads that have not recovered at the horizon.
    pub never_whole_again: Vec<ReportSubject>,
}

/// Findings with a common cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct FindingGroup {
    /// Indexes of the findings in the report, the worst first.
    pub findings: Vec<usize>,
    /// Failure domains, as indexes in the outline; more than one only for nodes.
    pub domains: Vec<usize>,
    /// Sum of the harm to all these workloads.
    pub harm: Millis,
    /// Event, in a sentence.
    pub what: String,
    /// Cause.
    pub why: String,
}

/// Each failure that was run, the worst first; failures of all nodes last.
pub(super) fn failures<'a>(
    outline: &Outline,
    cells: &[Cell],
    results: impl Iterator<Item = &'a RunResult>,
) -> Vec<FailureTotal> {
    let mut totals: OrderedMap<(usize, &Fault), FailureTotal> = OrderedMap::new();
    let by_nodes = outline.by_nodes();
    for result in results {
        for domain in by_nodes.get(&result.run.domain).into_iter().flatten().copied() {
            let fault = &result.run.fault;
            totals.entry((domain, fault)).or_insert_with(|| FailureTotal {
                domain,
                fault: fault.clone(),
                harm: Millis(0),
                harmed: 0,
                down: Vec::new(),
                never_whole_again: Vec::new(),
            });
        }
    }
    for cell in cells {
        let Some(total) = totals.get_mut(&(cell.domain, &cell.fault)) else { continue };
        total.harm.0 = total.harm.0.saturating_add(cell.harm.0);
        total.harmed += usize::from(cell.harm.0 > 0);
        if cell.at_zero_spread.max.0 > 0 {
            total.down.push(cell.worst.subject.clone());
        }
        if cell.never_whole_again > 0 {
            total.never_whole_again.push(cell.worst.subject.clone());
        }
    }
    let mut totals: Vec<FailureTotal> = totals.into_values().collect();
    totals.order_by_key(|total| (!outline.counts(total.domain), Reverse(total.harm)));
    totals
}

/// Findings that differ only in names and numbers, the worst first.
pub(super) fn groups(outline: &Outline, findings: &[Finding]) -> Vec<FindingGroup> {
    let kind = |index: usize| outline.domains.get(index).map(|domain| domain.kind);
    let mut groups: Vec<FindingGroup> = Vec::new();
    let mut known: OrderedMap<_, usize> = OrderedMap::new();
    for (index, finding) in findings.iter().enumerate() {
        let run = &finding.run;
        // Findings about different nodes count as alike.
        let domain = Some(run.domain).filter(|domain| kind(*domain) != Some(DomainKind::Node));
        let key = (domain, &run.fault, finding.subject.is_some(), &finding.cause);
        let place = *known.entry(key).or_insert(groups.len());
        if place == groups.len() {
            groups.push(FindingGroup {
                findings: Vec::new(),
                domains: Vec::new(),
                harm: Millis(0),
                what: finding.what.clone(),
                why: finding.why.clone(),
            });
        }
        let Some(group) = groups.get_mut(place) else { continue };
        group.findings.push(index);
        group.harm.0 = group.harm.0.saturating_add(finding.harm.0);
        if !group.domains.contains(&run.domain) {
            group.domains.push(run.domain);
        }
    }
    for group in groups.iter_mut().filter(|group| group.findings.len() > 1) {
        let members: Vec<&Finding> =
            group.findings.iter().filter_map(|index| findings.get(*index)).collect();
        if let Some(worst) = members.first().filter(|it| it.subject.is_some()) {
            let domain = outline.domains.get(worst.run.domain).map(ToString::to_string);
            let place = match group.domains.len() {
                1 => domain.unwrap_or_default(),
                nodes => format!("one of {nodes} nodes"),
            };
            let subjects = members.iter().filter_map(|it| it.subject.as_ref());
            let workloads = names(subjects.map(ToString::to_string));
            group.what = format!("{place} {}: {workloads}", worst.run.fault);
            group.why.clone_from(&worst.cause);
        }
    }
    groups
}

/// Name of the cluster, time, size, and the versions of Kubernetes and Taintlab.
pub(super) fn heading(outline: &Outline) -> String {
    let cluster = &outline.cluster;
    let name = if cluster.name.is_empty() {
        format!("Cluster {}", cluster.digest)
    } else {
        cluster.name.clone()
    };
    let after = outline.options.after;
    let at = match (cluster.at, after) {
        (Some(at), _) => format!("at {at}"),
        (None, Some(after)) => format!("{} after its beginning", Millis::from(after)),
        (None, None) => "at its beginning".into(),
    };
    let server = outline.options.source.server.as_ref();
    let server = server.map(|it| format!(" (API server {it})")).unwrap_or_default();
    format!(
        "{name} {at}: {}, {}, Kubernetes {}{server}, Taintlab {}",
        count(outline.nodes, "node"),
        count(outline.pods, "pod"),
        outline.release,
        outline.version,
    )
}

/// Notes that a reader needs to interpret the figures.
pub(super) fn notes(outline: &Outline) -> Vec<String> {
    let mut notes = Vec::new();
    if !outline.lost_already.is_empty() {
        let verb = if outline.lost_already.len() == 1 { "is" } else { "are" };
        let nodes = names(outline.lost_already.iter().map(ToString::to_string));
        notes.push(format!("before anything fails: {nodes} {verb} not ready"));
    }
    if !outline.short_already.is_empty() {
        let short = |Shortfall { subject, ready, desired }: &Shortfall| {
            format!("{subject} has {ready} of {desired} pods ready")
        };
        let short = names(outline.short_already.iter().map(short));
        notes.push(format!("before anything fails: {short}"));
    }
    let source = &outline.options.source;
    notes.extend(source.not_read.iter().map(|it| format!("not read: {it}")));
    if source.namespace.is_some() {
        let why = "pods of other namespaces were not read";
        notes.push(format!("room on nodes is overstated: {why}"));
    }
    if outline.options.faults.iter().any(|fault| matches!(fault, Fault::Lost | Fault::NetworkCut)) {
        notes.push(
            "lost: whether the containers of the node run on is not known, so that its pods count \
             as ready until the control plane says otherwise; with power off they are down at once"
                .into(),
        );
    }
    let taints = |fault: &Fault| !matches!(fault, Fault::Drained | Fault::Tainted { .. });
    if outline.taint_spread.0 > 0 && outline.options.faults.iter().any(taints) {
        notes.push(format!(
            "nodes of a zone that fail together are tainted one by one, in the order of a Go map \
             upstream and here by name: each up to {} earlier or later (--node-eviction-rate)",
            outline.taint_spread
        ));
    }
    let kinds = outline.subjects.iter().filter_map(|subject| match subject {
        ReportSubject::Workload(key) => Some(key.kind),
        ReportSubject::Pod(_) => None,
    });
    if kinds.into_iter().any(|kind| kind == WorkloadKind::DaemonSet) {
        let missing = "only its pods on other nodes count as missing";
        notes.push(format!("a DaemonSet needs no pod on a node that fails: {missing}"));
    }
    notes.push(
        "harm: the time without the wanted pods, divided by their number, and once more the time \
         with none"
            .into(),
    );
    notes
}

/// Reasons why there is no score.
pub(super) fn missing(outline: &Outline, made: usize, planned: usize) -> Vec<String> {
    let mut missing = Vec::new();
    if outline.nodes == 0 {
        missing.push("the cluster has no node: nothing can fail".into());
    } else if planned == 0 {
        missing.push("no node is in a failure domain of the kinds that were asked for".into());
    } else if made < planned {
        missing.push(format!("only {made} of {} were made", count(planned, "run")));
    }
    if outline.subjects.is_empty() {
        missing.push("the cluster has no workload: nothing can be harmed".into());
    } else if outline.judged() == 0 {
        missing.push("no workload has a ready pod before anything fails".into());
    }
    missing
}

/// `a`, `a and b`, `a, b and 3 more`.
fn names(names: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = names.collect();
    if all.len() > MOST_NAMES + 1 {
        let more = all.len() - MOST_NAMES;
        all.truncate(MOST_NAMES);
        all.push(format!("{more} more"));
    }
    match all.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    }
}

/// Names of workloads in sentences: the bare name, or with the namespace and then the kind where
/// several workloads share it.
struct ShortNames {
    /// Number of workloads for each short form.
    known: OrderedMap<String, usize>,
}

impl ShortNames {
    fn new(subjects: &[ReportSubject]) -> Self {
        let mut known = OrderedMap::new();
        for subject in subjects {
            for form in Self::forms(&subject.to_string()) {
                *known.entry(form.to_string()).or_default() += 1;
            }
        }
        Self { known }
    }

    /// `web`, `shop/web`.
    fn forms(subject: &str) -> [&str; 2] {
        let named = subject.split_once('/').map_or(subject, |(_, named)| named);
        [named.rsplit('/').next().unwrap_or_default(), named]
    }

    fn of(&self, subject: &ReportSubject) -> String {
        let text = subject.to_string();
        let mut forms = Self::forms(&text).into_iter();
        let short = forms.find(|form| self.known.get(*form).is_none_or(|number| *number == 1));
        short.unwrap_or(&text).into()
    }
}

/// Survival in words: a sentence for each fault, and one about workloads that do not recover.
pub(super) fn verdict(outline: &Outline, failures: &[FailureTotal]) -> String {
    let subjects = outline.judged();
    let ready = if subjects == outline.subjects.len() { "" } else { " with ready pods" };
    let short = ShortNames::new(&outline.subjects);
    let told = |down: &OrderedSet<&ReportSubject>| {
        if down.len() == subjects && subjects > MOST_NAMES {
            format!("all {subjects} workloads")
        } else {
            names(down.iter().map(|it| short.of(it)))
        }
    };
    let survived = |down: usize| match (subjects.saturating_sub(down), subjects) {
        (0, 1) => format!("is not survived by the only workload{ready}"),
        (1, 1) => format!("is survived by the only workload{ready}"),
        (0, all) => format!("is survived by none of {all} workloads{ready}"),
        (some, all) if some == all => format!("is survived by all {all} workloads{ready}"),
        (some, all) => format!("is survived by {some} of {all} workloads{ready}"),
    };
    let mut text = String::new();
    for fault in &outline.faults() {
        let mut clauses: Vec<String> = Vec::new();
        let act = fault.act();
        for kind in DomainKind::ALL {
            let is_of = |it: &&FailureTotal| {
                let domain = outline.domains.get(it.domain);
                let is_of = domain.is_some_and(|it| it.kind == kind && it.same_nodes_as.is_none());
                is_of && it.fault == *fault
            };
            let these: Vec<&FailureTotal> = failures.iter().filter(is_of).collect();
            let down: OrderedSet<&ReportSubject> = these.iter().flat_map(|it| &it.down).collect();
            let (bad, good): (Vec<_>, Vec<_>) =
                these.iter().copied().partition(|it| !it.down.is_empty());
            let name = |it: &FailureTotal| {
                let domain = outline.domains.get(it.domain);
                let all = domain.filter(|it| it.whole_cluster);
                let all = all.map(|_| ", which has all nodes,").unwrap_or_default();
                domain.map(|domain| format!("{domain}{all}")).unwrap_or_default()
            };
            if kind == DomainKind::Node && these.len() > 1 {
                let but = if down.is_empty() || down.len() == subjects {
                    String::new()
                } else {
                    format!(", not by {}", told(&down))
                };
                clauses.push(format!("{act} any one node {}{but}", survived(down.len())));
                continue;
            }
            if bad.is_empty() && good.len() > 1 {
                clauses.push(format!("{act} any one {} {}", kind.as_str(), survived(0)));
                continue;
            }
            if bad.is_empty() {
                clauses.extend(good.iter().map(|it| format!("{act} {} {}", name(it), survived(0))));
            }
            for it in bad.iter().take(MOST_DOMAINS) {
                let down: OrderedSet<&ReportSubject> = it.down.iter().collect();
                let by = if clauses.is_empty() { " survived by" } else { ":" };
                clauses.push(format!("{act} {} is not{by} {}", name(it), told(&down)));
            }
            if bad.len() > MOST_DOMAINS {
                clauses.push(format!(
                    "nor is {act} each of {}",
                    count(bad.len() - MOST_DOMAINS, &format!("more {}", kind.as_str()))
                ));
            }
        }
        push_sentence(&mut text, &clauses.join("; "));
    }
    let counted = failures.iter().filter(|it| outline.counts(it.domain));
    let never: OrderedSet<&ReportSubject> = counted.flat_map(|it| &it.never_whole_again).collect();
    if !never.is_empty() {
        let horizon = outline.options.horizon;
        push_sentence(
            &mut text,
            &format!("within {horizon} not whole again after some failure: {}", told(&never)),
        );
    }
    text
}

/// Adds a sentence, with a capital letter and a full stop.
fn push_sentence(text: &mut String, sentence: &str) {
    let mut letters = sentence.chars();
    let Some(first) = letters.next() else { return };
    if !text.is_empty() {
        text.push(' ');
    }
    text.push(first.to_ascii_uppercase());
    text.push_str(letters.as_str());
    text.push('.');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ambiguous_names_get_their_namespace() {
        let subject =
            |text: &str| -> ReportSubject { serde_json::from_value(text.into()).unwrap() };
        let all = [
            "deployment/shop/web",
            "deployment/blog/web",
            "deployment/shop/cart",
            "deployment/shop/db",
            "statefulset/shop/db",
        ]
        .map(subject);
        let short = ShortNames::new(&all);
        assert_eq!(
            all.each_ref().map(|it| short.of(it)),
            ["shop/web", "blog/web", "cart", "deployment/shop/db", "statefulset/shop/db"]
        );
    }
}
