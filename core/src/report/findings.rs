//! Evaluation of all runs: figures for each failure and workload, scores, the worst findings, and
//! the remedies that help.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::time::Duration;

use serde::{Deserialize, Serialize};

use super::domains::{HOSTNAME, takes_in};
use super::remedy::must_spread;
use super::verdict::{self, FailureTotal, FindingGroup};
use super::{
    DomainKind, DrainResult, FailureRow, Fault, Millis, Outline, Remedy, ReportError,
    ReportSubject, Run, RunResult, WorkloadRun, ZoneStep, rows, text,
};
use crate::api::{NodeName, Pod, Taint, TaintEffect, WorkloadKey, WorkloadKind, well_known};
use crate::order::{Order, OrderedMap, OrderedSet};
use crate::plural::count;
use crate::policy::matching::tolerates;
use crate::simulator::Simulator;
use crate::time::Span;

/// Values of `tolerationSeconds` to try.
const TOLERATION_SECONDS: [u32; 4] = [0, 30, 60, 300];
/// Lengths in seconds of the outages in which evictions may turn out to be needless.
const OUTAGES: [u64; 5] = [30, 60, 120, 300, 600];
/// Time from the fault to the out-of-service taint.
const OUT_OF_SERVICE_AFTER: Duration = Duration::from_secs(60);
/// Number of the best remedies of a finding that are tried in other failures, too.
const MOST_JUDGED: usize = 2;
/// Number of other failures that they are tried in: those that harm the workload most.
const MOST_OTHERS: usize = 4;
/// Workloads listed at most that a change makes worse.
const MOST_WORSE: usize = 5;
const ZONE: &str = "topology.kubernetes.io/zone";

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

/// A score, from 0 for lost to 100 for unharmed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Score {
    /// The score.
    pub score: u32,
    /// Its calculation.
    pub arithmetic: String,
}

/// Score of a workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct WorkloadScore {
    /// The workload or pod.
    pub subject: ReportSubject,
    /// Score in its worst failure; absent if it was not ready before, or no failure was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<u32>,
    /// Calculation of the score, or the reason why there is none.
    pub arithmetic: String,
    /// Failure domain of the worst failure; absent if no failure harms it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<usize>,
    /// Fault of the worst failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// Worst failure as columns of a table: its name, the fewest ready pods, the time below the
    /// wanted number, the time at zero, and the time of recovery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<[String; 5]>,
    /// Index of its figures in the report's cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<usize>,
}

/// Effect of a failure on a workload, over all seeds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(rename = "ReportCell"))]
#[serde(rename_all = "camelCase")]
pub struct Cell {
    /// Failure domain, as its index in the outline.
    pub domain: usize,
    /// The fault.
    pub fault: Fault,
    /// Seed of the worst run, whose figures are given.
    pub seed: u32,
    /// Harm in that run: the missing time of its pods divided by their wanted number, plus the time
    /// with none ready.
    pub harm: Millis,
    /// Figures of that run.
    #[serde(flatten)]
    #[cfg_attr(feature = "typescript-all", tsify(type = "WorkloadRun"))]
    pub worst: WorkloadRun,
    /// Time with fewer ready pods than wanted.
    pub below_spread: Spread,
    /// Time without any ready pod.
    pub at_zero_spread: Spread,
    /// Longest uninterrupted time with fewer ready pods than wanted.
    pub longest_gap_spread: Spread,
    /// Time of recovery, over the seeds with which it recovered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_again_spread: Option<Spread>,
    /// Seeds with which it never recovered.
    pub never_whole_again: usize,
}

/// A time over all seeds, by the nearest rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Spread {
    /// The shortest.
    pub min: Millis,
    /// The median.
    pub median: Millis,
    /// The 95th percentile.
    pub p95: Millis,
    /// The longest.
    pub max: Millis,
}

impl Spread {
    fn of(mut times: Vec<Millis>) -> Option<Self> {
        times.order();
        let rank = |percent: usize| {
            let rank = (times.len() * percent).div_ceil(100).max(1);
            times.get(rank - 1).copied()
        };
        Some(Self { min: rank(0)?, median: rank(50)?, p95: rank(95)?, max: rank(100)? })
    }
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

impl OverAll {
    /// Adds a failure, without the change and with it.
    fn add(&mut self, before: &Harms<'_>, (changed, after): (&&Run, &Harms<'_>)) {
        let sum =
            |harms: &Harms<'_>| harms.values().fold(0_u64, |sum, harm| sum.saturating_add(harm.0));
        self.tried += 1;
        self.before.0 = self.before.0.saturating_add(sum(before));
        self.after.0 = self.after.0.saturating_add(sum(after));
        for (subject, after) in after {
            let (before, after) = (before.get(subject).copied().unwrap_or_default(), *after);
            if after > before {
                self.worse.push(MadeWorse {
                    domain: changed.domain,
                    fault: changed.fault.clone(),
                    subject: (*subject).clone(),
                    before,
                    after,
                });
            }
        }
    }
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

/// Harm of a failure: see [`Cell::harm`].
fn harm(figures: &WorkloadRun) -> Millis {
    let wanted = u64::try_from(figures.wanted).unwrap_or(0).max(1);
    Millis((figures.replica_time_lost.0 / wanted).saturating_add(figures.at_zero.0))
}

/// Harm of a run to each workload that it affects.
type Harms<'a> = OrderedMap<&'a ReportSubject, Millis>;

fn harms(result: &RunResult) -> Harms<'_> {
    result.workloads.iter().map(|figures| (&figures.subject, harm(figures))).collect()
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

/// All results, and the failures that count.
struct Known<'a> {
    outline: &'a Outline,
    by_run: &'a OrderedMap<&'a Run, &'a RunResult>,
    /// Harm by run, kept because every finding needs it again.
    harms: OrderedMap<&'a Run, Harms<'a>>,
    /// The runs of the cluster as it is.
    planned: OrderedSet<&'a Run>,
    by_nodes: OrderedMap<usize, Vec<usize>>,
}

impl<'a> Known<'a> {
    fn new(
        outline: &'a Outline,
        by_run: &'a OrderedMap<&'a Run, &'a RunResult>,
        planned: &'a OrderedSet<Run>,
    ) -> Self {
        let planned = planned.iter().filter(|run| outline.counts(run.domain)).collect();
        let harms = by_run.iter().map(|(run, result)| (*run, harms(result))).collect();
        Self { outline, by_run, harms, planned, by_nodes: outline.by_nodes() }
    }

    /// Results of the cluster as it is.
    fn plain(&self) -> impl Iterator<Item = &'a RunResult> {
        self.by_run.values().copied().filter(|result| self.planned.contains(&result.run))
    }

    /// Runs of a changed cluster that correspond to a run of the unchanged one, which stands for
    /// all domains of the same nodes. One more node makes these differ: it fails with its zone, and
    /// not with another node.
    fn with_change(&self, run: &Run, remedy: &Remedy) -> Vec<Run> {
        let of = |domain: usize| Run { remedy: Some(remedy.clone()), domain, ..run.clone() };
        let Remedy::OneMoreNode { like } = remedy else { return Vec::from([of(run.domain)]) };
        let grows = |index: &usize| {
            let domain = self.outline.domains.get(*index);
            domain.is_some_and(|domain| takes_in(self.outline, domain, like))
        };
        let same = self.by_nodes.get(&run.domain).map(Vec::as_slice).unwrap_or_default();
        let first = |wanted: bool| same.iter().copied().find(|index| grows(index) == wanted);
        [first(false), first(true)].into_iter().flatten().map(of).collect()
    }
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

/// Figures of a workload, by seed.
type SeededRuns<'a> = Vec<(u32, &'a WorkloadRun)>;

fn cells<'a>(outline: &Outline, results: impl Iterator<Item = &'a RunResult>) -> Vec<Cell> {
    let mut seeds: OrderedMap<(usize, &Fault), usize> = OrderedMap::new();
    let mut all: OrderedMap<(usize, usize, &ReportSubject), SeededRuns> = OrderedMap::new();
    let faults = outline.faults();
    let place =
        |fault: &Fault| faults.iter().position(|known| known == fault).unwrap_or(faults.len());
    let by_nodes = outline.by_nodes();
    for result in results {
        for domain in by_nodes.get(&result.run.domain).into_iter().flatten().copied() {
            *seeds.entry((domain, &result.run.fault)).or_default() += 1;
            for figures in &result.workloads {
                let key = (domain, place(&result.run.fault), &figures.subject);
                all.entry(key).or_default().push((result.run.seed, figures));
            }
        }
    }
    let cell = |((domain, fault, _), runs): (_, SeededRuns)| {
        let fault = faults.get(fault)?;
        let made = seeds.get(&(domain, fault)).copied().unwrap_or(runs.len());
        let (seed, worst) =
            runs.iter().max_by_key(|(seed, figures)| (harm(figures), Reverse(*seed)))?;
        let spread = |time: &dyn Fn(&WorkloadRun) -> Millis| {
            let mut times: Vec<Millis> = runs.iter().map(|(_, figures)| time(figures)).collect();
            // With the other seeds the workload was not affected.
            times.resize(made.max(times.len()), Millis(0));
            Spread::of(times).unwrap_or_default()
        };
        let whole = runs.iter().filter_map(|(_, figures)| figures.whole_again).collect();
        Some(Cell {
            domain,
            fault: fault.clone(),
            seed: *seed,
            harm: harm(worst),
            below_spread: spread(&|figures| figures.below),
            at_zero_spread: spread(&|figures| figures.at_zero),
            longest_gap_spread: spread(&|figures| figures.longest_gap),
            whole_again_spread: Spread::of(whole),
            never_whole_again: runs.iter().filter(|(_, it)| it.never_whole_again()).count(),
            worst: (*worst).clone(),
        })
    };
    all.into_iter().filter_map(cell).collect()
}

fn scores(outline: &Outline, cells: &[Cell], any: bool) -> Vec<WorkloadScore> {
    let horizon = Millis::from(outline.options.horizon).0.max(1);
    let mut worst: OrderedMap<&ReportSubject, (usize, &Cell)> = OrderedMap::new();
    let harmful = |cell: &Cell| cell.harm.0 > 0 && outline.counts(cell.domain);
    for (number, cell) in cells.iter().enumerate().filter(|(_, cell)| harmful(cell)) {
        let known = worst.entry(&cell.worst.subject).or_insert((number, cell));
        if cell.harm > known.1.harm {
            *known = (number, cell);
        }
    }
    let down = outline.down_already();
    let score = |subject: &ReportSubject| {
        let Some((number, cell)) = worst.get(subject) else {
            let (score, arithmetic) = if !any {
                (None, "no failure was run")
            } else if down.contains(subject) {
                (None, "no pod was ready before anything failed")
            } else {
                (Some(100), "no failure harms it")
            };
            return WorkloadScore {
                subject: subject.clone(),
                score,
                arithmetic: arithmetic.into(),
                domain: None,
                fault: None,
                worst: None,
                cell: None,
            };
        };
        let figures = &cell.worst;
        let most = u128::from(horizon) * 2;
        let lost = (u128::from(cell.harm.0) * 100).div_ceil(most).min(100);
        let score = 100 - u32::try_from(lost).unwrap_or(100);
        let name = outline.domains.get(cell.domain).map(ToString::to_string).unwrap_or_default();
        let [ready, below, at_zero, whole_again] = cell.columns();
        let arithmetic = format!(
            "{name} {}: {} missing over all pods / {} wanted + {} with none = {}; 100 − 100 × {} \
             / (2 × {}) = {score}",
            cell.fault,
            figures.replica_time_lost,
            figures.wanted.max(1),
            figures.at_zero,
            cell.harm,
            cell.harm,
            Millis(horizon),
        );
        WorkloadScore {
            subject: subject.clone(),
            score: Some(score),
            arithmetic,
            domain: Some(cell.domain),
            fault: Some(cell.fault.clone()),
            worst: Some([format!("{name} {}", cell.fault), ready, below, at_zero, whole_again]),
            cell: Some(*number),
        }
    };
    let mut scores: Vec<WorkloadScore> = outline.subjects.iter().map(score).collect();
    worst_first(&mut scores, cells);
    scores
}

/// Sorts scores, the worst first; among equal scores the greater harm.
pub(super) fn worst_first(scores: &mut [WorkloadScore], cells: &[Cell]) {
    scores.order_by_cached_key(|it| {
        let cell = it.cell.and_then(|number| cells.get(number));
        let harm = cell.map_or(Millis(0), |cell| cell.harm);
        // Without a score it was not run, or was down before: it goes last.
        (it.score.unwrap_or(u32::MAX), Reverse(harm), it.subject.clone())
    });
}

/// Mean score of the workloads, rounded down: 100 is only for clusters that no failure harms.
pub(super) fn overall(scores: &[WorkloadScore]) -> Option<Score> {
    let scores = || scores.iter().filter_map(|it| it.score);
    let sum: u32 = scores().sum();
    let number = u32::try_from(scores().count()).ok().filter(|number| *number > 0)?;
    let score = sum / number;
    let arithmetic = if number == 1 {
        "the score of the only workload".into()
    } else {
        let tenths = (u64::from(sum) * 10 + u64::from(number) / 2) / u64::from(number);
        let mean = format!("{}.{}", tenths / 10, tenths % 10);
        let mean = mean.strip_suffix(".0").unwrap_or(&mean);
        let down = if sum.is_multiple_of(number) { "" } else { ", rounded down" };
        format!("mean of {number} workload scores: {sum} / {number} = {mean}{down}")
    };
    Some(Score { score, arithmetic })
}

/// Worst failure of each workload, and drains that do not end.
fn found<'a>(
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
        let end = if figures.never_whole_again() { "never recovers" } else { "recovers" };
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

    /// Adds the results of the runs with remedies.
    fn help(&mut self, known: &Known<'_>) {
        let figures_of = |result: &RunResult| {
            let mut all = result.workloads.iter();
            all.find(|it| Some(&it.subject) == self.subject.as_ref()).cloned()
        };
        let concerns = |remedy: &Remedy| match remedy {
            Remedy::TolerationSeconds { workload, .. }
            | Remedy::Spread { workload, .. }
            | Remedy::Priority { workload } => {
                self.subject == Some(ReportSubject::Workload(workload.clone()))
            }
            Remedy::OneMoreNode { .. } | Remedy::OutOfService { .. } => self.subject.is_some(),
            Remedy::Budget { .. } => self.subject.is_none(),
        };
        let (mut effects, mut false_alarms) = (Vec::new(), Vec::new());
        for (run, result) in known.by_run {
            if run.domain != self.run.domain || run.seed != self.run.seed {
                continue;
            }
            let figures = figures_of(result);
            let seconds = match &run.remedy {
                Some(remedy) if !concerns(remedy) => continue,
                Some(Remedy::TolerationSeconds { seconds, .. }) => Some(*seconds),
                _ => None,
            };
            if let (Some(remedy), Some(yaml)) = (&run.remedy, &result.yaml)
                && run.fault == self.run.fault
            {
                let harm = figures.as_ref().map(harm).unwrap_or_default();
                let mut effect = Effect {
                    remedy: remedy.clone(),
                    what: remedy.to_string(),
                    yaml: yaml.clone(),
                    helps: match self.subject {
                        Some(_) => harm < self.harm,
                        None => result.drain.as_ref().is_some_and(|drain| drain.ended.is_some()),
                    },
                    harm,
                    figures: figures.clone(),
                    drain: result.drain.clone(),
                    over_all: self.over_all(remedy, known),
                    text: String::new(),
                };
                if effect.helps {
                    effect.text = text::effect(self, &effect);
                }
                effects.push(effect);
            }
            if let Fault::PowerOff { back_after } = &run.fault
                && (seconds.is_some() || run.remedy.is_none())
                && self.tries_tolerations()
            {
                false_alarms.push(FalseAlarm {
                    seconds,
                    outage: *back_after,
                    evicted: figures.as_ref().map_or(0, |it| it.evicted),
                    longest_gap: figures.map(|it| it.longest_gap).unwrap_or_default(),
                });
            }
        }
        // Greatest reduction for all workloads first, then least harm to this one.
        effects.order_by_key(|effect| {
            let OverAll { before, after, .. } = &effect.over_all;
            (!effect.helps, i128::from(after.0) - i128::from(before.0), effect.harm)
        });
        if false_alarms.iter().all(|alarm| alarm.seconds.is_none()) {
            false_alarms.clear();
        }
        false_alarms.order_by_key(|alarm| (alarm.outage, alarm.seconds));
        let list = |worse: bool| {
            let others = effects.iter().filter(|it| !it.helps && (it.harm > self.harm) == worse);
            others.map(|it| it.what.as_str()).collect::<Vec<_>>().join(", ")
        };
        let lists = [("no help", list(false)), ("worse", list(true))];
        let lists = lists.iter().filter(|(_, list)| !list.is_empty());
        let line = lists.map(|(is, list)| format!("{is}: {list}")).collect::<Vec<_>>().join("; ");
        self.no_help = Some(line).filter(|line| !line.is_empty());
        (self.effects, self.false_alarms) = (effects, false_alarms);
    }

    /// Runs that try remedies.
    fn could_help(
        &self,
        outline: &Outline,
        simulator: &Simulator,
        cells: &[Cell],
    ) -> OrderedSet<Run> {
        let remedies = match (&self.subject, self.makes_pods_anew()) {
            (None, _) => budgets(outline, simulator, self),
            (Some(_), Some(workload)) => {
                let cell = cells.iter().find(|cell| {
                    cell.domain == self.run.domain
                        && cell.fault == self.run.fault
                        && Some(&cell.worst.subject) == self.subject.as_ref()
                });
                cell.map_or_else(Vec::new, |cell| help(outline, simulator, cell, workload))
            }
            (Some(_), None) => Vec::new(),
        };
        let mut runs = OrderedSet::new();
        let sweep = self.tries_tolerations();
        let outages =
            OUTAGES.map(|secs| Fault::PowerOff { back_after: Span(Duration::from_secs(secs)) });
        for remedy in remedies {
            let tolerates = matches!(remedy, Remedy::TolerationSeconds { .. });
            runs.insert(Run { remedy: Some(remedy.clone()), ..self.run.clone() });
            if sweep && tolerates {
                for fault in outages.clone() {
                    let remedy = Some(remedy.clone());
                    runs.insert(Run { remedy, fault: fault.clone(), ..self.run.clone() });
                    runs.insert(Run { fault, ..self.run.clone() });
                }
            }
        }
        runs
    }

    /// Whether an unchanged run affects the subject of this finding.
    fn reaches(&self, result: &RunResult) -> bool {
        match &self.subject {
            Some(subject) => result.workloads.iter().any(|it| it.subject == *subject),
            // One budget blocks many drains, with the same message.
            None => result.drain.as_ref().is_some_and(|drain| {
                drain.ended.is_none() && drain.error.as_deref() == Some(self.why.as_str())
            }),
        }
    }

    /// Effect of a change in all failures in which it was tried and that affect this workload.
    fn over_all(&self, remedy: &Remedy, known: &Known<'_>) -> OverAll {
        let mut all = OverAll::default();
        for plain in known.plain().filter(|plain| self.is_judged_by(plain)) {
            for changed in known.with_change(&plain.run, remedy) {
                all.failures += 1;
                if let Some(before) = known.harms.get(&plain.run)
                    && let Some(after) = known.harms.get_key_value(&changed)
                {
                    all.add(before, after);
                }
            }
        }
        all.made_worse = all.worse.len();
        all.worse.order_by_key(|it| Reverse(it.after.0 - it.before.0));
        all.worse.truncate(MOST_WORSE);
        all
    }

    /// Whether a change is also judged by an unchanged run: that of this finding, or another one
    /// that affects the workload.
    fn is_judged_by(&self, plain: &RunResult) -> bool {
        plain.run.seed == self.run.seed && (plain.run == self.run || self.reaches(plain))
    }

    /// Runs of a change in other failures, those with the most harm to the workload first.
    fn others(&self, remedy: &Remedy, known: &Known<'_>) -> impl Iterator<Item = Run> {
        let mut others = Vec::new();
        for plain in known.plain().filter(|plain| self.is_judged_by(plain)) {
            let mut all = plain.workloads.iter();
            let own = all.find(|it| Some(&it.subject) == self.subject.as_ref());
            let harm = own.map(harm).unwrap_or_default();
            let runs = known.with_change(&plain.run, remedy);
            others.extend(runs.into_iter().map(|run| (Reverse(harm), run)));
        }
        let own = Run { remedy: Some(remedy.clone()), ..self.run.clone() };
        others.retain(|(_, run)| *run != own);
        others.order();
        others.into_iter().take(MOST_OTHERS).map(|(_, run)| run)
    }

    /// Whether tolerations decide when its pods leave.
    fn tries_tolerations(&self) -> bool {
        matches!(self.run.fault, Fault::Lost | Fault::PowerOff { .. } | Fault::NetworkCut)
            && self.makes_pods_anew().is_some()
    }

    /// The workload whose pods are recreated elsewhere.
    fn makes_pods_anew(&self) -> Option<&WorkloadKey> {
        match self.subject.as_ref()? {
            ReportSubject::Workload(key) if key.kind != WorkloadKind::DaemonSet => Some(key),
            ReportSubject::Workload(_) | ReportSubject::Pod(_) => None,
        }
    }
}

/// Runs that try remedies for the worst findings, and once these are done, runs of the best
/// remedies in other failures. Runs of one cluster and one domain follow one another, the shorter
/// outages first.
pub(super) fn remedies(
    outline: &Outline,
    simulator: &Simulator,
    results: &[RunResult],
) -> Vec<Run> {
    let by_run: OrderedMap<&Run, &RunResult> = results.iter().map(|it| (&it.run, it)).collect();
    let planned = super::runs(outline).into_iter().collect();
    let known = Known::new(outline, &by_run, &planned);
    let cells = cells(outline, known.plain());
    let all = found(outline, &cells, known.plain());
    let groups = verdict::groups(outline, &all);
    let worst = groups.iter().take(outline.options.remedies).filter_map(|it| it.findings.first());
    let worst: OrderedSet<usize> = worst.copied().collect();
    let all = all.into_iter().enumerate();
    let mut findings: Vec<Finding> =
        all.filter(|(index, _)| worst.contains(index)).map(|(_, finding)| finding).collect();
    let could: OrderedSet<Run> = findings
        .iter()
        .flat_map(|finding| finding.could_help(outline, simulator, &cells))
        .collect();
    let mut runs: Vec<Run> = could.into_iter().filter(|run| !by_run.contains_key(run)).collect();
    if runs.is_empty() {
        let mut judged = OrderedSet::new();
        for finding in &mut findings {
            finding.help(&known);
            let helps = finding.effects.iter().filter(|effect| effect.helps);
            for effect in helps.take(MOST_JUDGED) {
                judged.extend(finding.others(&effect.remedy, &known));
            }
        }
        runs = judged.into_iter().filter(|run| !by_run.contains_key(run)).collect();
    }
    let nodes = |domain: usize| outline.domains.get(domain).map_or(0, |it| it.nodes.len());
    runs.order_by_cached_key(|run| {
        let outage = match &run.fault {
            Fault::PowerOff { back_after } => Some(*back_after),
            _ => None,
        };
        let cluster = (run.seed, run.remedy.clone());
        (
            cluster,
            Reverse(nodes(run.domain)),
            run.domain,
            outage.is_none(),
            outage,
            run.fault.clone(),
        )
    });
    runs
}

/// Remedies to try for a workload.
fn help(
    outline: &Outline,
    simulator: &Simulator,
    cell: &Cell,
    workload: &WorkloadKey,
) -> Vec<Remedy> {
    let figures = &cell.worst;
    let mut remedies = Vec::new();
    let domain = outline.domains.get(cell.domain);
    // Remedies against devices that fail are not tried.
    let Some(domain) = domain.filter(|it| it.kind != DomainKind::DevicePool) else {
        return remedies;
    };
    let unreachable =
        matches!(cell.fault, Fault::Lost | Fault::PowerOff { .. } | Fault::NetworkCut);
    if unreachable {
        let others = TOLERATION_SECONDS
            .into_iter()
            .filter(|seconds| !has_toleration_seconds(simulator, workload, *seconds));
        remedies.extend(
            others.map(|seconds| Remedy::TolerationSeconds { workload: workload.clone(), seconds }),
        );
    }
    let spreads = workload.kind != WorkloadKind::Job;
    if spreads && figures.wanted > 1 && domain.nodes.len() < outline.nodes {
        let topology_key = match domain.kind {
            DomainKind::Node | DomainKind::List | DomainKind::Pair | DomainKind::DevicePool => {
                HOSTNAME
            }
            DomainKind::Zone | DomainKind::Region => ZONE,
            DomainKind::Label => domain.name.split('=').next().unwrap_or(HOSTNAME),
        };
        let cluster = simulator.cluster();
        let pods = cluster.pods_of_workload(workload);
        let pod = pods.iter().find_map(|key| cluster.get_pod(key));
        let softens = pod.is_some_and(|pod| must_spread(&pod.spec, topology_key));
        let topology_key = topology_key.into();
        remedies.push(Remedy::Spread { workload: workload.clone(), topology_key, softens });
    }
    let is_all = domain.nodes.len() == outline.nodes;
    if (is_all || !figures.pending.is_empty())
        && let Some(like) = typical_node(simulator, &domain.nodes)
    {
        remedies.push(Remedy::OneMoreNode { like });
    }
    if !figures.pending.is_empty() {
        remedies.push(Remedy::Priority { workload: workload.clone() });
    }
    if figures.stuck > 0 && cell.fault == Fault::Lost && outline.release.has_out_of_service_taint()
    {
        remedies.push(Remedy::OutOfService { after: Span(OUT_OF_SERVICE_AFTER) });
    }
    remedies
}

/// Whether all pods of a workload stay exactly this time on an unreachable or not ready node.
fn has_toleration_seconds(simulator: &Simulator, workload: &WorkloadKey, seconds: u32) -> bool {
    let cluster = simulator.cluster();
    let pods = cluster.pods_of_workload(workload);
    let mut pods = pods.iter().filter_map(|key| cluster.get_pod(key)).peekable();
    let has = |pod: &Pod, key: &str| {
        let taint = Taint::new(key, "", TaintEffect::NoExecute);
        let first = pod.spec.tolerations.iter().find(|it| tolerates(it, &taint, false));
        first.is_some_and(|it| it.toleration_seconds == Some(seconds.into()))
    };
    let keys = [well_known::NOT_READY, well_known::UNREACHABLE];
    pods.peek().is_some() && pods.all(|pod| keys.iter().all(|key| has(pod, key)))
}

/// The schedulable node with the most pods, outside the failure domain if possible: another one
/// like it offers the kind of room that is missing.
fn typical_node(simulator: &Simulator, failed: &[NodeName]) -> Option<NodeName> {
    let keeps_off =
        |effect: &TaintEffect| matches!(effect, TaintEffect::NoSchedule | TaintEffect::NoExecute);
    let takers = simulator.cluster().nodes().filter(|(_, node)| {
        !node.spec.unschedulable && node.spec.taints.iter().all(|taint| !keeps_off(&taint.effect))
    });
    let most = takers.max_by_key(|(name, _)| {
        let pods = simulator.cluster().pods_of(name.as_str()).count();
        (!failed.contains(name), pods, Reverse(*name))
    });
    most.map(|(name, _)| name.clone())
}

/// Budgets that let none of the pods go that a drain waits for.
fn budgets(outline: &Outline, simulator: &Simulator, finding: &Finding) -> Vec<Remedy> {
    let Some(domain) = outline.domains.get(finding.run.domain) else { return Vec::new() };
    let cluster = simulator.cluster();
    let blocks = cluster.budgets().filter(|(key, budget)| {
        let allowed = simulator.budget_status(key).map_or(0, |status| status.disruptions_allowed);
        let Ok(Some(selector)) = budget.selector() else { return false };
        let mut pods = domain.nodes.iter().flat_map(|node| cluster.pods_of(node.as_str()));
        allowed <= 0
            && pods.any(|(pod, object)| {
                pod.namespace() == key.namespace() && selector.matches(&object.metadata.labels)
            })
    });
    blocks.map(|(budget, _)| Remedy::Budget { budget: budget.clone() }).collect()
}
