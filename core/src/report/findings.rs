//! What the results of all runs come to: figures for each failure and workload, scores, what hurts
//! most, and what would help.

use alloc::collections::{BTreeMap, BTreeSet};
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
use crate::order::{Order, Ordered};
use crate::plural::count;
use crate::policy::matching::tolerates;
use crate::simulator::Simulator;
use crate::time::Span;

/// The tolerationSeconds that are tried.
const TOLERATION_SECONDS: [u32; 4] = [0, 30, 60, 300];
/// How long the outages are, in seconds, in which evictions may turn out to be for nothing.
const OUTAGES: [u64; 5] = [30, 60, 120, 300, 600];
/// When the out-of-service taint is put on.
const OUT_OF_SERVICE_AFTER: Duration = Duration::from_secs(60);
/// Of a finding, so many of the changes that help most are tried in other failures, too.
const MOST_JUDGED: usize = 2;
/// In so many of the others: those that harm the workload most.
const MOST_OTHERS: usize = 4;
/// So many workloads that a change makes worse are named.
const MOST_WORSE: usize = 5;
const ZONE: &str = "topology.kubernetes.io/zone";

/// A resilience report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(rename = "ResilienceReport"))]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Its first line: which cluster, when, which release, and how large it is.
    pub heading: String,
    /// What a reader has to know of the figures, in sentences: what was lost before, what was not
    /// read, what they mean.
    pub notes: Vec<String>,
    /// Why there is no score, in sentences; empty if all runs were made and there is something to
    /// lose.
    pub missing: Vec<String>,
    /// What survives what, in a sentence or two; absent if something is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// What it is about.
    #[cfg_attr(feature = "typescript-all", tsify(type = "ReportOutline"))]
    pub outline: Outline,
    /// How many runs of the cluster as it is were made.
    pub runs_made: usize,
    /// How many there are; more than were made if the report was broken off.
    pub runs_planned: usize,
    /// How well the cluster as a whole does; absent if something is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<Score>,
    /// How well each workload does, the worst first.
    pub workloads: Vec<WorkloadScore>,
    /// What each failure does to all workloads together, the worst first, those of all nodes last.
    /// Domains of the same nodes each have an entry.
    #[cfg_attr(feature = "typescript-all", tsify(type = "FailureTotal[]"))]
    pub failures: Vec<FailureTotal>,
    /// What hurts, the worst first.
    #[cfg_attr(feature = "typescript-all", tsify(type = "ReportFinding[]"))]
    pub findings: Vec<Finding>,
    /// The findings by their cause, the worst first.
    #[cfg_attr(feature = "typescript-all", tsify(type = "FindingGroup[]"))]
    pub groups: Vec<FindingGroup>,
    /// Each failure and workload that it reached: in the order of domains, faults and names.
    #[cfg_attr(feature = "typescript-all", tsify(type = "ReportCell[]"))]
    pub cells: Vec<Cell>,
    /// The failures in the order in which they are read: zones first, nodes last, and nodes that
    /// hurt in the same way in one row.
    pub rows: Vec<FailureRow>,
    /// The runs themselves, without the figures of workloads.
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
    /// How it is worked out.
    pub arithmetic: String,
}

/// How well a workload does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct WorkloadScore {
    /// Which one.
    pub subject: ReportSubject,
    /// How well it does in its worst failure; absent if it was not ready before, or no failure was
    /// run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<u32>,
    /// How that is worked out, or why there is none.
    pub arithmetic: String,
    /// The domain of that failure; absent if no failure harms it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<usize>,
    /// How that fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// That failure as columns of a table: what fails, the fewest ready, the time below, the time
    /// at zero, when it was whole again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<[String; 5]>,
    /// The place of that failure's figures in the cells of the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<usize>,
}

/// What a failure does to a workload, over all seeds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(rename = "ReportCell"))]
#[serde(rename_all = "camelCase")]
pub struct Cell {
    /// What fails: the number of a domain of the outline.
    pub domain: usize,
    /// How.
    pub fault: Fault,
    /// The seed whose moment is the worst: that of the figures.
    pub seed: u32,
    /// The harm at that moment: the time for which all of it would have been missing, and the time
    /// for which all of it was.
    pub harm: Millis,
    /// The figures at that moment.
    #[serde(flatten)]
    #[cfg_attr(feature = "typescript-all", tsify(type = "WorkloadRun"))]
    pub worst: WorkloadRun,
    /// The time with fewer than wanted.
    pub below_spread: Spread,
    /// The time with none.
    pub at_zero_spread: Spread,
    /// The longest time on end with fewer than wanted.
    pub longest_gap_spread: Spread,
    /// When it was whole again, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_again_spread: Option<Spread>,
    /// With how many seeds it never recovered.
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

/// A run, without the figures of workloads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(rename = "ReportRunSummary"))]
#[serde(rename_all = "camelCase")]
pub struct RunSummary {
    /// What failed.
    pub domain: usize,
    /// How.
    pub fault: Fault,
    /// The moments of the heartbeats.
    pub seed: u32,
    /// When something happened last; absent if more was to come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_rest: Option<Millis>,
    /// How many pods were evicted.
    pub evicted: usize,
    /// How the zones changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<ZoneStep>,
    /// What became of a drain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain: Option<DrainResult>,
}

/// Something that hurts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(rename = "ReportFinding"))]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Whom; absent for a drain that does not end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<ReportSubject>,
    /// The run in which it hurts most.
    #[cfg_attr(feature = "typescript-all", tsify(type = "ReportRun"))]
    pub run: Run,
    /// How much, as the cell of the run says.
    pub harm: Millis,
    /// The moment at which it is worst, from the fault on.
    pub at: Millis,
    /// What happens, in a sentence.
    pub what: String,
    /// Why.
    pub why: String,
    /// The same without names and numbers: findings of one cause are one group.
    pub cause: String,
    /// The changes that were tried, the best first; empty if none was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript-all", tsify(type = "RemedyEffect[]"))]
    pub effects: Vec<Effect>,
    /// The changes that do not help, in a line; absent if all do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_help: Option<String>,
    /// How often it would be for nothing to evict sooner or later.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub false_alarms: Vec<FalseAlarm>,
}

/// What a change does to a finding, found by running it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(rename = "RemedyEffect"))]
#[serde(rename_all = "camelCase")]
pub struct Effect {
    /// The change.
    pub remedy: Remedy,
    /// The same in words.
    pub what: String,
    /// The YAML that makes it, or the command.
    pub yaml: String,
    /// Whether it makes the failure less bad.
    pub helps: bool,
    /// The harm with it.
    pub harm: Millis,
    /// The figures with it; absent if the failure does not reach the workload any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figures: Option<WorkloadRun>,
    /// What becomes of the drain with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain: Option<DrainResult>,
    /// What it does to all workloads, in this failure and in others that reach this workload.
    #[cfg_attr(feature = "typescript-all", tsify(type = "RemedyOverAll"))]
    pub over_all: OverAll,
    /// What it does, in a sentence; empty if it does not help.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// What a change does to all workloads, over the failures in which it was tried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(rename = "RemedyOverAll"))]
#[serde(rename_all = "camelCase")]
pub struct OverAll {
    /// In how many failures it was tried: in that of the finding, and for the changes that help
    /// most in the others that harm the workload most.
    pub tried: usize,
    /// How many failures reach the workload, that of the finding included: where these are more
    /// than were tried, of the rest nothing is known. Domains of the same nodes are one failure,
    /// unless the change tells them apart: a node that is added fails with its zone.
    pub failures: usize,
    /// The harm without it to all workloads, added up over the failures in which it was tried.
    pub before: Millis,
    /// The same with it.
    pub after: Millis,
    /// How many workloads it makes worse, each counted once for each failure.
    pub made_worse: usize,
    /// The first of them, the worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript-all", tsify(type = "MadeWorse[]"))]
    pub worse: Vec<MadeWorse>,
}

impl OverAll {
    /// Takes in a failure, without the change and with it.
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
    /// What fails: the number of a domain of the outline.
    pub domain: usize,
    /// How.
    pub fault: Fault,
    /// Which workload.
    pub subject: ReportSubject,
    /// The harm without the change.
    pub before: Millis,
    /// The harm with it.
    pub after: Millis,
}

/// What comes of an outage that ends by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct FalseAlarm {
    /// The tolerationSeconds; absent for the workload as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u32>,
    /// How long the nodes are off.
    #[cfg_attr(feature = "typescript-all", tsify(type = "Span"))]
    pub outage: Span,
    /// How many pods of the workload were evicted, although the nodes came back.
    pub evicted: usize,
    /// The longest time with fewer pods than wanted.
    pub longest_gap: Millis,
}

/// The harm of a failure: see [`Cell::harm`].
fn harm(figures: &WorkloadRun) -> Millis {
    let wanted = u64::try_from(figures.wanted).unwrap_or(0).max(1);
    Millis((figures.replica_time_lost.0 / wanted).saturating_add(figures.at_zero.0))
}

/// The harm of a run to each workload that it reaches.
type Harms<'a> = BTreeMap<&'a ReportSubject, Millis>;

fn harms(result: &RunResult) -> Harms<'_> {
    result.workloads.iter().map(|figures| (&figures.subject, harm(figures))).ordered_map()
}

/// Puts results together, in whatever order they come. Runs that were not made are missing, and
/// said to be.
///
/// # Errors
/// A result is not of a run of this outline, or two results of one run differ.
pub fn report(outline: &Outline, results: &[RunResult]) -> Result<Report, ReportError> {
    let mut by_run: BTreeMap<&Run, &RunResult> = BTreeMap::new();
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
    let planned: BTreeSet<Run> = super::runs(outline).into_iter().ordered_set();
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
    by_run: &'a BTreeMap<&'a Run, &'a RunResult>,
    /// By run as well: each is asked for again with every finding.
    harms: BTreeMap<&'a Run, Harms<'a>>,
    /// The runs of the cluster as it is.
    planned: BTreeSet<&'a Run>,
    by_nodes: BTreeMap<usize, Vec<usize>>,
}

impl<'a> Known<'a> {
    fn new(
        outline: &'a Outline,
        by_run: &'a BTreeMap<&'a Run, &'a RunResult>,
        planned: &'a BTreeSet<Run>,
    ) -> Self {
        let planned = planned.iter().filter(|run| outline.counts(run.domain)).ordered_set();
        let harms = by_run.iter().map(|(run, result)| (*run, harms(result))).ordered_map();
        Self { outline, by_run, harms, planned, by_nodes: outline.by_nodes() }
    }

    /// The results of the cluster as it is.
    fn plain(&self) -> impl Iterator<Item = &'a RunResult> {
        self.by_run.values().copied().filter(|result| self.planned.contains(&result.run))
    }

    /// The runs of a changed cluster for a run of the cluster as it is, which is that of all
    /// domains of the same nodes. With one more node these are no longer the same: it fails with
    /// its zone, and not with another node.
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

/// What happened to a workload, by seed.
type SeededRuns<'a> = Vec<(u32, &'a WorkloadRun)>;

fn cells<'a>(outline: &Outline, results: impl Iterator<Item = &'a RunResult>) -> Vec<Cell> {
    let mut seeds: BTreeMap<(usize, &Fault), usize> = BTreeMap::new();
    let mut all: BTreeMap<(usize, usize, &ReportSubject), SeededRuns> = BTreeMap::new();
    let place = |fault: &Fault| {
        let faults = &outline.options.faults;
        faults.iter().position(|known| known == fault).unwrap_or(faults.len())
    };
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
        let fault = outline.options.faults.get(fault)?;
        let made = seeds.get(&(domain, fault)).copied().unwrap_or(runs.len());
        let (seed, worst) =
            runs.iter().max_by_key(|(seed, figures)| (harm(figures), Reverse(*seed)))?;
        let spread = |time: &dyn Fn(&WorkloadRun) -> Millis| {
            let mut times: Vec<Millis> = runs.iter().map(|(_, figures)| time(figures)).collect();
            // It was not reached with the other seeds.
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
    let mut worst: BTreeMap<&ReportSubject, (usize, &Cell)> = BTreeMap::new();
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
    // The worst first; of equals the one that loses more.
    scores.order_by_cached_key(|it| {
        let harm = worst.get(&it.subject).map_or(Millis(0), |(_, cell)| cell.harm);
        // What has no score was not run, or was down before: nobody has to look at it first.
        (it.score.unwrap_or(u32::MAX), Reverse(harm), it.subject.clone())
    });
    scores
}

/// The mean of the scores of the workloads, rounded down: 100 is for clusters that no failure harms.
fn overall(scores: &[WorkloadScore]) -> Option<Score> {
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

/// The worst failure of each workload, and drains that do not end.
fn found<'a>(
    outline: &Outline,
    cells: &[Cell],
    results: impl Iterator<Item = &'a RunResult>,
) -> Vec<Finding> {
    let mut worst: BTreeMap<&ReportSubject, &Cell> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| cell.harm.0 > 0 && outline.counts(cell.domain)) {
        let known = worst.entry(&cell.worst.subject).or_insert(cell);
        if cell.harm > known.harm {
            *known = cell;
        }
    }
    let mut findings: Vec<Finding> =
        worst.into_values().map(|cell| Finding::of(outline, cell)).collect();
    let mut drains: BTreeMap<String, Finding> = BTreeMap::new();
    for result in results {
        let Some(drain) = result.drain.as_ref().filter(|it| it.ended.is_none() || it.failed) else {
            continue;
        };
        let finding = Finding::of_drain(outline, result, drain);
        // One for each reason: a budget blocks the drain of many nodes.
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
        // What happens, with its number and without.
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

    /// Takes in what the runs of remedies say.
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
        // What helps all together most, of equals this workload.
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

    /// The runs of what could help.
    fn could_help(
        &self,
        outline: &Outline,
        simulator: &Simulator,
        cells: &[Cell],
    ) -> BTreeSet<Run> {
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
        let mut runs = BTreeSet::new();
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

    /// Whether a run without any change reaches the one whom this is about.
    fn reaches(&self, result: &RunResult) -> bool {
        match &self.subject {
            Some(subject) => result.workloads.iter().any(|it| it.subject == *subject),
            // One budget holds up many drains, in the same words.
            None => result.drain.as_ref().is_some_and(|drain| {
                drain.ended.is_none() && drain.error.as_deref() == Some(self.why.as_str())
            }),
        }
    }

    /// What a change does in all failures in which it was tried and that reach this workload.
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

    /// Whether a change is judged by a run without it, too: it is that of this finding, or another
    /// one that reaches the workload.
    fn is_judged_by(&self, plain: &RunResult) -> bool {
        plain.run.seed == self.run.seed && (plain.run == self.run || self.reaches(plain))
    }

    /// The runs of a change in other failures, that which harms the workload most without it first.
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

    /// Whether it depends on tolerations when pods leave.
    fn tries_tolerations(&self) -> bool {
        matches!(self.run.fault, Fault::Lost | Fault::PowerOff { .. } | Fault::NetworkCut)
            && self.makes_pods_anew().is_some()
    }

    /// The workload whose pods go elsewhere.
    fn makes_pods_anew(&self) -> Option<&WorkloadKey> {
        match self.subject.as_ref()? {
            ReportSubject::Workload(key) if key.kind != WorkloadKind::DaemonSet => Some(key),
            ReportSubject::Workload(_) | ReportSubject::Pod(_) => None,
        }
    }
}

/// The runs that tell what would help in the worst findings: first what could help, and once that
/// is known, what helps in other failures. Runs of one cluster and one domain follow one another,
/// the shorter outages first.
pub(super) fn remedies(
    outline: &Outline,
    simulator: &Simulator,
    results: &[RunResult],
) -> Vec<Run> {
    let by_run: BTreeMap<&Run, &RunResult> = results.iter().map(|it| (&it.run, it)).ordered_map();
    let planned = super::runs(outline).into_iter().ordered_set();
    let known = Known::new(outline, &by_run, &planned);
    let cells = cells(outline, known.plain());
    let all = found(outline, &cells, known.plain());
    let groups = verdict::groups(outline, &all);
    let worst = groups.iter().take(outline.options.remedies).filter_map(|it| it.findings.first());
    let worst: BTreeSet<usize> = worst.copied().ordered_set();
    let all = all.into_iter().enumerate();
    let mut findings: Vec<Finding> =
        all.filter(|(index, _)| worst.contains(index)).map(|(_, finding)| finding).collect();
    let could: BTreeSet<Run> = findings
        .iter()
        .flat_map(|finding| finding.could_help(outline, simulator, &cells))
        .ordered_set();
    let mut runs: Vec<Run> = could.into_iter().filter(|run| !by_run.contains_key(run)).collect();
    if runs.is_empty() {
        let mut judged = BTreeSet::new();
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

/// What could help a workload.
fn help(
    outline: &Outline,
    simulator: &Simulator,
    cell: &Cell,
    workload: &WorkloadKey,
) -> Vec<Remedy> {
    let figures = &cell.worst;
    let mut remedies = Vec::new();
    let Some(domain) = outline.domains.get(cell.domain) else { return remedies };
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
            DomainKind::Node | DomainKind::List | DomainKind::Pair => HOSTNAME,
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

/// Whether all pods of a workload stay exactly so long on a node that is unreachable or not ready.
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

/// A node that takes pods, outside the failure domain if there is one: the one with the most, which
/// are of the kind that there is too little room for.
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

/// The budgets that let none of the pods go that a drain waits for.
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
