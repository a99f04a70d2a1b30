//! The report: the results of all runs, combined.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use taintlab_rules::order::{OrderedMap, OrderedSet};

use super::findings::found;
use super::score::{cells, overall, scores};
use super::trial::Known;
use super::verdict::{self, FailureTotal, FindingGroup};
use super::{
    Cell, DrainResult, FailureRow, Fault, Finding, Millis, Outline, ReportError, Run, RunResult,
    Score, WorkloadScore, ZoneStep, rows, text,
};

/// A resilience report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(rename = "ResilienceReport"))]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// First line: the cluster, the time, the release, and the size.
    pub heading: String,
    /// Notes on the figures, in sentences: nodes lost before the fault, objects that were not read,
    /// and the meaning of the terms.
    pub notes: Vec<String>,
    /// Reasons why there is no score, in sentences; empty if all runs were made and there is
    /// something to lose.
    pub missing: Vec<String>,
    /// Survival in a sentence or two; absent if something is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// Subject of the report.
    #[cfg_attr(feature = "typescript-all", tsify(type = "ReportOutline"))]
    pub outline: Outline,
    /// Runs made of the cluster as it is.
    pub runs_made: usize,
    /// Runs planned of the cluster as it is; more than were made if the report was broken off.
    pub runs_planned: usize,
    /// Score of the cluster as a whole; absent if something is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<Score>,
    /// Score of each workload, the worst first.
    pub workloads: Vec<WorkloadScore>,
    /// Effect of each failure on all workloads together, the worst first, failures of all nodes
    /// last. Domains of the same nodes each have an entry.
    #[cfg_attr(feature = "typescript-all", tsify(type = "FailureTotal[]"))]
    pub failures: Vec<FailureTotal>,
    /// Findings, the worst first.
    #[cfg_attr(feature = "typescript-all", tsify(type = "ReportFinding[]"))]
    pub findings: Vec<Finding>,
    /// Findings grouped by cause, the worst first.
    #[cfg_attr(feature = "typescript-all", tsify(type = "FindingGroup[]"))]
    pub groups: Vec<FindingGroup>,
    /// Figures for each failure and each workload that it affected, in the order of domains, faults
    /// and names.
    #[cfg_attr(feature = "typescript-all", tsify(type = "ReportCell[]"))]
    pub cells: Vec<Cell>,
    /// Failures in reading order: zones first, nodes last, and nodes with a similar effect in one
    /// row.
    pub rows: Vec<FailureRow>,
    /// Summaries of the runs.
    #[cfg_attr(feature = "typescript-all", tsify(type = "ReportRunSummary[]"))]
    pub runs: Vec<RunSummary>,
}

/// Summary of a run, without the figures of workloads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(rename = "ReportRunSummary"))]
#[serde(rename_all = "camelCase")]
pub struct RunSummary {
    /// Failure domain, as its index in the outline.
    pub domain: usize,
    /// The fault.
    pub fault: Fault,
    /// Seed of the heartbeat times.
    pub seed: u32,
    /// Time of the last event; absent if more was due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_rest: Option<Millis>,
    /// Pods evicted.
    pub evicted: usize,
    /// Changes of the states and rates of zones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<ZoneStep>,
    /// Result of the drain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain: Option<DrainResult>,
}

/// Combines results, in any order, into a report, which names the number of missing runs.
///
/// # Errors
/// A result names an unknown failure domain, or two results of one run differ.
pub fn report(outline: &Outline, results: &[RunResult]) -> Result<Report, ReportError> {
    let mut by_run: OrderedMap<&Run, &RunResult> = OrderedMap::new();
    for result in results {
        if result.run.domain >= outline.domains.len() {
            let domain = result.run.domain;
            return Err(ReportError::UnknownDomain { domain, domains: outline.domains.len() });
        }
        if let Some(other) = by_run.insert(&result.run, result)
            && other != result
        {
            let domain = outline.domains.get(result.run.domain);
            let name = domain.map(ToString::to_string).unwrap_or_default();
            let message = format!(
                "two results of one run differ: {name}, {}, seed {}; are the parts of one cluster?",
                result.run.fault, result.run.seed
            );
            return Err(ReportError::Results(message));
        }
    }
    let planned: OrderedSet<Run> = super::runs(outline).into_iter().collect();
    let made = || by_run.iter().filter(|(run, _)| planned.contains(**run)).map(|(_, it)| *it);
    let cells = cells(outline, made());
    let scores = scores(outline, &cells, made().next().is_some());
    let mut findings = found(outline, &cells, made());
    let known = Known::new(outline, &by_run, &planned);
    for finding in &mut findings {
        finding.help(&known);
    }
    let runs_made = made().count();
    let missing = verdict::missing(outline, runs_made, planned.len());
    let is_whole = missing.is_empty();
    let failures = verdict::failures(outline, &cells, made());
    let rows = rows::rows(outline, &cells, &failures);
    let mut notes = Vec::from([text::runs(outline, runs_made, planned.len())]);
    notes.extend(verdict::notes(outline));
    Ok(Report {
        heading: verdict::heading(outline),
        notes,
        verdict: is_whole.then(|| verdict::verdict(outline, &failures)),
        score: overall(&scores).filter(|_| is_whole),
        missing,
        runs_made,
        runs_planned: planned.len(),
        workloads: scores,
        groups: verdict::groups(outline, &findings),
        failures,
        findings,
        rows,
        runs: made().map(summary).collect(),
        cells,
        outline: outline.clone(),
    })
}

fn summary(result: &RunResult) -> RunSummary {
    RunSummary {
        domain: result.run.domain,
        fault: result.run.fault.clone(),
        seed: result.run.seed,
        at_rest: result.at_rest,
        evicted: result.evicted,
        zones: result.zones.clone(),
        drain: result.drain.clone(),
    }
}
