//! Figures and scores of workloads in all failures.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;

use serde::{Deserialize, Serialize};
use taintlab_rules::order::{Order, OrderedMap};

use super::{Fault, Millis, Outline, ReportSubject, RunResult, WorkloadRun};

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

/// Harm of a failure: see [`Cell::harm`].
pub(super) fn harm(figures: &WorkloadRun) -> Millis {
    let wanted = u64::try_from(figures.wanted).unwrap_or(0).max(1);
    Millis((figures.replica_time_lost.0 / wanted).saturating_add(figures.at_zero.0))
}

/// Harm of a run to each workload that it affects.
pub(super) type Harms<'a> = OrderedMap<&'a ReportSubject, Millis>;

pub(super) fn harms(result: &RunResult) -> Harms<'_> {
    result.workloads.iter().map(|figures| (&figures.subject, harm(figures))).collect()
}

/// Figures of a workload, by seed.
type SeededRuns<'a> = Vec<(u32, &'a WorkloadRun)>;

pub(super) fn cells<'a>(
    outline: &Outline,
    results: impl Iterator<Item = &'a RunResult>,
) -> Vec<Cell> {
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

pub(super) fn scores(outline: &Outline, cells: &[Cell], any: bool) -> Vec<WorkloadScore> {
    let horizon = Millis::from(outline.options.horizon).0.max(1);
    let mut worst: OrderedMap<&ReportSubject, (usize, &Cell)> = OrderedMap::new();
    let harmful = |cell: &Cell| cell.harm.0 > 0 && outline.counts(cell.domain);
    for (number, cell) in cells.iter().enumerate().filter(|(_, cell)| harmful(cell)) {
        let known = worst.entry(&cell.worst.subject).or_insert((number, cell));
        if cell.harm > known.1.harm {
            *known = (number, cell);
        }
    }
    let score = |subject: &ReportSubject| {
        let Some((number, cell)) = worst.get(subject) else {
            let (score, arithmetic) = if !any {
                (None, "no failure was run")
            } else if let Some(reason) = outline.not_judged(subject) {
                (None, reason.as_str())
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
