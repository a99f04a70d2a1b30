//! Findings: the worst failure of each workload, and drains that do not end.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use taintlab_rules::order::{Order, OrderedMap};
use taintlab_rules::plural::count;
use taintlab_rules::time::Span;

use super::{
    Cell, DrainResult, Fault, Millis, Outline, Remedy, ReportSubject, Run, RunResult, WorkloadRun,
};

/// A harmful effect of a failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(rename = "ReportFinding"))]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The workload or pod harmed; absent for a drain that does not end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<ReportSubject>,
    /// The run with the most harm.
    #[cfg_attr(feature = "typescript-all", tsify(type = "ReportRun"))]
    pub run: Run,
    /// Harm, as in the cell of the run.
    pub harm: Millis,
    /// Time of the worst moment, from the fault on.
    pub at: Millis,
    /// Event, in a sentence.
    pub what: String,
    /// Cause.
    pub why: String,
    /// Cause without names and numbers: findings that share it form one group.
    pub cause: String,
    /// Changes tried, the best first; empty if none was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript-all", tsify(type = "RemedyEffect[]"))]
    pub effects: Vec<Effect>,
    /// Changes that do not help, in one line; absent if all do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_help: Option<String>,
    /// Needless evictions with shorter and longer tolerations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub false_alarms: Vec<FalseAlarm>,
}

/// Effect of a change on a finding, found by running it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(rename = "RemedyEffect"))]
#[serde(rename_all = "camelCase")]
pub struct Effect {
    /// The change.
    pub remedy: Remedy,
    /// The change in words.
    pub what: String,
    /// YAML of the change, or a command that makes it.
    pub yaml: String,
    /// Whether it reduces the harm of the failure.
    pub helps: bool,
    /// Harm with the change.
    pub harm: Millis,
    /// Figures with the change; absent if the failure no longer affects the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figures: Option<WorkloadRun>,
    /// Result of the drain with the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain: Option<DrainResult>,
    /// Effect on all workloads, in this failure and in others that affect this workload.
    #[cfg_attr(feature = "typescript-all", tsify(type = "RemedyOverAll"))]
    pub over_all: OverAll,
    /// Effect in a sentence; empty if it does not help.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// Effect of a change on all workloads, over the failures in which it was tried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(rename = "RemedyOverAll"))]
#[serde(rename_all = "camelCase")]
pub struct OverAll {
    /// Failures in which it was tried: that of the finding, and for the best changes also the
    /// others that harm the workload most.
    pub tried: usize,
    /// Failures that affect the workload, that of the finding included; if more than were tried,
    /// the effect on the rest is unknown. Domains of the same nodes are one failure, unless the
    /// change tells them apart: an added node fails with its zone.
    pub failures: usize,
    /// Harm to all workloads without the change, summed over the failures in which it was tried.
    pub before: Millis,
    /// Harm to all workloads with the change, summed over the same failures.
    pub after: Millis,
    /// Workloads made worse, counted once for each failure.
    pub made_worse: usize,
    /// Workloads that it makes worse most, the worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript-all", tsify(type = "MadeWorse[]"))]
    pub worse: Vec<MadeWorse>,
}

/// A workload that a change makes worse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct MadeWorse {
    /// Failure domain, as its index in the outline.
    pub domain: usize,
    /// The fault.
    pub fault: Fault,
    /// The workload.
    pub subject: ReportSubject,
    /// Harm without the change.
    pub before: Millis,
    /// Harm with the change.
    pub after: Millis,
}

/// Evictions in an outage that ends by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct FalseAlarm {
    /// Tried `tolerationSeconds`; absent for the workload as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u32>,
    /// Time for which the nodes are off.
    #[cfg_attr(feature = "typescript-all", tsify(type = "Span"))]
    pub outage: Span,
    /// Pods of the workload that were evicted although the nodes came back.
    pub evicted: usize,
    /// Longest uninterrupted time with fewer ready pods than wanted.
    pub longest_gap: Millis,
}

/// Worst failure of each workload, and drains that do not end.
pub(super) fn found<'a>(
    outline: &Outline,
    cells: &[Cell],
    results: impl Iterator<Item = &'a RunResult>,
) -> Vec<Finding> {
    let mut worst: OrderedMap<&ReportSubject, &Cell> = OrderedMap::new();
    for cell in cells.iter().filter(|cell| cell.harm.0 > 0 && outline.counts(cell.domain)) {
        let known = worst.entry(&cell.worst.subject).or_insert(cell);
        if cell.harm > known.harm {
            *known = cell;
        }
    }
    let mut findings: Vec<Finding> =
        worst.into_values().map(|cell| Finding::of(outline, cell)).collect();
    let mut drains: OrderedMap<String, Finding> = OrderedMap::new();
    for result in results {
        let Some(drain) = result.drain.as_ref().filter(|it| it.does_not_end()) else {
            continue;
        };
        let finding = Finding::of_drain(outline, result, drain);
        // One for each reason, since a budget can block the drains of many nodes.
        drains.entry(finding.why.clone()).or_insert(finding);
    }
    findings.extend(drains.into_values());
    findings.order_by(|one, other| {
        other.harm.cmp(&one.harm).then_with(|| one.subject.cmp(&other.subject))
    });
    findings
}

impl Finding {
    fn of(outline: &Outline, cell: &Cell) -> Self {
        let figures = &cell.worst;
        let domain = outline.domains.get(cell.domain);
        let name = domain.map(ToString::to_string).unwrap_or_default();
        let mut what = match (&figures.subject, figures.whole_again) {
            (ReportSubject::Pod(pod), None) => {
                format!("{name} {}: pod {pod} is never replaced", cell.fault)
            }
            (subject, whole) => {
                let again = whole.map_or_else(
                    || "never recovers".into(),
                    |at| format!("whole again after {at}"),
                );
                let least = format!("{} of {} ready", figures.least_ready, figures.wanted);
                format!("{name} {}: {subject} is down to {least}, {again}", cell.fault)
            }
        };
        if figures.at_zero.0 > 0 && figures.wanted > 1 {
            what += &format!(", {} with none", figures.at_zero);
        }
        if figures.dead_endpoints.0 > 0 {
            what += &format!(", connections to a dead node for {}", figures.dead_endpoints);
        }
        // Each reason, with its numbers and without.
        let mut why: Vec<(String, String)> = Vec::new();
        let counted = |number: usize, what: &str| {
            (format!("{} {what}", count(number, "pod")), format!("pods {what}"))
        };
        if figures.evicted > 0 {
            why.push(counted(figures.evicted, "evicted"));
        }
        if figures.lost > 0 {
            let what = "no controller makes it again";
            why.push((what.into(), what.into()));
        }
        if figures.stuck > 0 {
            why.push(counted(figures.stuck, "stuck Terminating until the node is back"));
        }
        for pending in &figures.pending {
            let reason = if pending.reason.is_empty() { "not tried yet" } else { &pending.reason };
            let (pods, _) = counted(pending.pods, "without a node");
            let cause: String = reason.chars().filter(|c| !c.is_ascii_digit()).collect();
            why.push((format!("{pods} ({reason})"), format!("pods without a node ({cause})")));
        }
        if figures.budgets_not_asked > 0 {
            let times = count(figures.budgets_not_asked, "deletion");
            why.push((
                format!("{times} that bypassed a PodDisruptionBudget"),
                "deletions that bypassed a PodDisruptionBudget".into(),
            ));
        }
        let short =
            domain.filter(|domain| !domain.fits()).and_then(|it| it.runs_out_first.as_ref());
        if let Some(resource) = short.filter(|_| !figures.pending.is_empty()) {
            let what = format!("the rest has too little {resource}");
            why.push((what.clone(), what));
        }
        if why.is_empty() {
            why.push(("its pods are down".into(), "its pods are down".into()));
        }
        let (why, mut cause): (Vec<_>, Vec<_>) = why.into_iter().unzip();
        // Of the workloads of a group, which have this cause in common.
        let end = if figures.never_whole_again() { "they never recover" } else { "they recover" };
        cause.insert(0, end.into());
        Self {
            subject: Some(figures.subject.clone()),
            run: Run {
                remedy: None,
                seed: cell.seed,
                fault: cell.fault.clone(),
                domain: cell.domain,
            },
            harm: cell.harm,
            at: figures.worst_at,
            what,
            why: why.join("; "),
            cause: cause.join("; "),
            effects: Vec::new(),
            no_help: None,
            false_alarms: Vec::new(),
        }
    }

    fn of_drain(outline: &Outline, result: &RunResult, drain: &DrainResult) -> Self {
        let name = outline.domains.get(result.run.domain).map(ToString::to_string);
        let name = name.unwrap_or_default();
        let horizon = outline.options.horizon;
        let what = match drain.ended {
            None => format!("the drain of {name} does not end within {horizon}"),
            Some(at) => format!("the drain of {name} fails after {at}"),
        };
        let why = drain.error.clone().unwrap_or_else(|| "it still waits for pods".into());
        Self {
            subject: None,
            run: result.run.clone(),
            harm: Millis(0),
            at: drain.ended.unwrap_or_default(),
            what,
            cause: why.clone(),
            why,
            effects: Vec::new(),
            no_help: None,
            false_alarms: Vec::new(),
        }
    }
}
