//! The difference between two reports: workloads that got worse and better, by kind of failure.
//!
//! Nodes have other names from day to day, so the worst failure of each kind is compared: losing any
//! node with losing any node.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;

use serde::{Deserialize, Serialize};
use taintlab_rules::order::Order;
use taintlab_rules::release::KubernetesRelease;

use super::{Cell, DomainKind, Fault, Millis, Outline, Report, ReportSubject, RunSummary, Score};

/// The longest difference of a time that is none: heartbeats come every 10 s and health passes every
/// 5 s, and another pod more or less moves them.
pub const NOISE: Millis = Millis(15_000);

/// The parts of an earlier report that are compared; a whole report can be read as one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct EarlierReport {
    /// Its subject.
    pub outline: Outline,
    /// Its score, if it has one.
    #[serde(default)]
    pub score: Option<Score>,
    /// Its reasons to have none, in sentences.
    #[serde(default)]
    pub missing: Vec<String>,
    /// Its figures.
    pub cells: Vec<Cell>,
    /// Summaries of its runs.
    pub runs: Vec<RunSummary>,
}

impl From<Report> for EarlierReport {
    fn from(Report { outline, score, missing, cells, runs, .. }: Report) -> Self {
        Self { outline, score, missing, cells, runs }
    }
}

/// The difference between a report and an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// Score before; absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_before: Option<u32>,
    /// Score after; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_after: Option<u32>,
    /// Changes: worse workloads first, then new, gone and better ones; each by harm.
    pub changes: Vec<Change>,
    /// Number of pairs of workload and kind of failure without a change.
    pub unchanged: usize,
    /// Kinds of failure in only one of the reports.
    pub not_compared: Vec<String>,
    /// Reasons why the comparison says little, in sentences: runs or objects that the earlier report
    /// lacks, or no kind of failure in both. Empty if it can be trusted.
    pub missing: Vec<String>,
    /// Release of the earlier report, if the later one is about another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release_before: Option<KubernetesRelease>,
}

/// Kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// More harm than before.
    Worse,
    /// Workload of the later report alone.
    New,
    /// Workload of the earlier report alone.
    Gone,
    /// Less harm than before.
    Better,
}

/// A workload with another outcome than before in one kind of failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The workload or pod; absent for drains that end on one side only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<ReportSubject>,
    /// Kind of the change.
    pub verdict: Verdict,
    /// Kind of failure domain. For a workload that is new or gone that of its worst failure; absent
    /// if none harms it, and for one that has no pods on one side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<DomainKind>,
    /// The fault, as the kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// The worst failure of this kind before; absent for a new workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Outcome>,
    /// The worst failure of this kind after; absent for a workload that is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Outcome>,
}

/// Outcome of the worst failure of a kind for a workload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// Name of the failure domain; empty if none of them harms it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub domain: String,
    /// Whether it never recovers.
    pub never_whole_again: bool,
    /// Total time without any ready pod, of the worst seed.
    pub at_zero: Millis,
    /// Total time with fewer ready pods than wanted, of the worst seed.
    pub below: Millis,
    /// Harm, as in the cells of the report.
    pub harm: Millis,
    /// Last error of a drain that does not end; absent if all drains end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hangs: Option<String>,
    /// Reason why failures say nothing about the workload; absent if they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_judged: Option<&'static str>,
}

impl Outcome {
    fn of(cell: &Cell, outline: &Outline) -> Self {
        let domain = outline.domains.get(cell.domain);
        Self {
            domain: domain.map(ToString::to_string).unwrap_or_default(),
            never_whole_again: cell.never_whole_again > 0,
            at_zero: cell.at_zero_spread.max,
            below: cell.below_spread.max,
            harm: cell.harm,
            hangs: None,
            not_judged: None,
        }
    }

    /// The outcome of the drains of a kind, the first that does not end if there is one.
    fn of_drains(outline: &Outline, runs: &[RunSummary], (kind, fault): Kind<'_>) -> Self {
        let domain = |run: &RunSummary| outline.domains.get(run.domain);
        let hangs = runs.iter().filter(|run| run.fault == *fault).find_map(|run| {
            let drain = run.drain.as_ref().filter(|it| it.does_not_end())?;
            let domain = domain(run).filter(|domain| domain.kind == kind)?;
            let error = drain.error.clone();
            Some((domain.to_string(), error.unwrap_or_else(|| "it still waits for pods".into())))
        });
        let (domain, hangs) =
            hangs.map(|(domain, error)| (domain, Some(error))).unwrap_or_default();
        Self { domain, hangs, ..Self::default() }
    }

    /// The outcome of a workload without a ready pod that a failure could take.
    fn without_pods(outline: &Outline, subject: &ReportSubject) -> Option<Self> {
        let not_judged = Some(outline.not_judged(subject)?.as_str());
        Some(Self { not_judged, ..Self::default() })
    }

    /// Whether any figure is worse than that of another outcome.
    fn is_worse_than(&self, other: &Self) -> bool {
        let beyond_noise = |one: Millis, other: Millis| one.0 > other.0.saturating_add(NOISE.0);
        self.never_whole_again && !other.never_whole_again
            || beyond_noise(self.at_zero, other.at_zero)
            || beyond_noise(self.below, other.below)
            || self.hangs.is_some() && other.hangs.is_none()
    }

    /// The verdict: worse if any figure is worse, better if none is worse and one is better.
    fn verdict(before: &Self, after: &Self) -> Option<Verdict> {
        if after.is_worse_than(before) {
            return Some(Verdict::Worse);
        }
        before.is_worse_than(after).then_some(Verdict::Better)
    }

    /// The same, without regard to noise.
    fn rank(&self) -> (bool, Millis, Millis) {
        (self.never_whole_again, self.at_zero, self.below)
    }
}

/// A kind of failure.
type Kind<'a> = (DomainKind, &'a Fault);

/// The kinds of failure that a report has, and the worst of each for each workload that it harms, in
/// the order of both.
struct Worst<'a> {
    kinds: Vec<Kind<'a>>,
    of: Vec<(&'a ReportSubject, Kind<'a>, Outcome)>,
}

impl<'a> Worst<'a> {
    fn of(outline: &Outline, cells: &'a [Cell], runs: &'a [RunSummary]) -> Self {
        let kind_of = |domain: usize| {
            let domain = outline.domains.get(domain)?;
            // Nothing survives the whole cluster, before or after.
            (!domain.whole_cluster).then_some(domain.kind)
        };
        let by_nodes = outline.by_nodes();
        let mut kinds = Vec::new();
        for run in runs {
            let domains = by_nodes.get(&run.domain).into_iter().flatten();
            for kind in domains.filter_map(|domain| kind_of(*domain)) {
                if !kinds.contains(&(kind, &run.fault)) {
                    kinds.push((kind, &run.fault));
                }
            }
        }
        let outcomes = cells.iter().filter_map(|cell| {
            let kind = (kind_of(cell.domain)?, &cell.fault);
            Some((&cell.worst.subject, kind, Outcome::of(cell, outline)))
        });
        let mut of: Vec<_> = outcomes.collect();
        of.order_by(|(subject, kind, outcome), (other, other_kind, other_outcome)| {
            let worst_first = || other_outcome.rank().cmp(&outcome.rank());
            (subject, kind).cmp(&(other, other_kind)).then_with(worst_first)
        });
        of.dedup_by(|one, other| (one.0, one.1) == (other.0, other.1));
        Self { kinds, of }
    }

    fn of_subject(&self, subject: &ReportSubject) -> impl Iterator<Item = (Kind<'a>, &Outcome)> {
        let first = self.of.partition_point(|(other, ..)| *other < subject);
        let own = self.of.iter().skip(first).take_while(move |(other, ..)| *other == subject);
        own.map(|(_, kind, outcome)| (*kind, outcome))
    }

    fn outcome(&self, subject: &ReportSubject, kind: Kind<'_>) -> Outcome {
        let found = self.of_subject(subject).find(|(other, _)| *other == kind);
        found.map(|(_, outcome)| outcome.clone()).unwrap_or_default()
    }
}

/// The worst failure of each kind for each workload that it harms.
#[must_use]
pub fn worst_outcomes(report: &Report) -> Vec<(&ReportSubject, DomainKind, &Fault, Outcome)> {
    let all = Worst::of(&report.outline, &report.cells, &report.runs).of.into_iter();
    all.map(|(subject, (kind, fault), outcome)| (subject, kind, fault, outcome)).collect()
}

impl Difference {
    /// The difference between two reports.
    #[must_use]
    pub fn of(before: &EarlierReport, after: &Report) -> Self {
        let old = Worst::of(&before.outline, &before.cells, &before.runs);
        let new = Worst::of(&after.outline, &after.cells, &after.runs);
        let sorted = |outline: &Outline| {
            let mut subjects = outline.subjects.clone();
            subjects.order();
            subjects
        };
        let (were, are) = (sorted(&before.outline), sorted(&after.outline));
        let mut changes = Vec::new();
        let mut unchanged = 0;
        for (verdict, own, others, worst) in
            [(Verdict::New, &are, &were, &new), (Verdict::Gone, &were, &are, &old)]
        {
            for subject in own.iter().filter(|it| others.binary_search(it).is_err()) {
                let found = worst.of_subject(subject).max_by_key(|(_, outcome)| outcome.rank());
                let outcome = found.map(|(_, outcome)| outcome.clone());
                let own = if verdict == Verdict::New { &after.outline } else { &before.outline };
                let outcome = outcome.or_else(|| Outcome::without_pods(own, subject));
                changes.push(Change {
                    subject: Some(subject.clone()),
                    verdict,
                    kind: found.map(|((kind, _), _)| kind),
                    fault: found.map(|((_, fault), _)| fault.clone()),
                    before: outcome.clone().filter(|_| verdict == Verdict::Gone),
                    after: outcome.filter(|_| verdict == Verdict::New),
                });
            }
        }
        let without_pods = |subject: &ReportSubject| {
            let of = |outline| Outcome::without_pods(outline, subject);
            (of(&before.outline), of(&after.outline))
        };
        for subject in are.iter().filter(|it| were.binary_search(it).is_ok()) {
            let (before, after) = without_pods(subject);
            if before.is_some() != after.is_some() {
                changes.push(Change {
                    subject: Some(subject.clone()),
                    verdict: if after.is_some() { Verdict::Worse } else { Verdict::Better },
                    kind: None,
                    fault: None,
                    before,
                    after,
                });
            }
        }
        let both = || new.kinds.iter().copied().filter(|kind| old.kinds.contains(kind));
        for kind in both() {
            let before_drains = Outcome::of_drains(&before.outline, &before.runs, kind);
            let after_drains = Outcome::of_drains(&after.outline, &after.runs, kind);
            let mut add = |subject: Option<&ReportSubject>, before: Outcome, after: Outcome| {
                let verdict = Outcome::verdict(&before, &after)?;
                changes.push(Change {
                    subject: subject.cloned(),
                    verdict,
                    kind: Some(kind.0),
                    fault: Some(kind.1.clone()),
                    before: Some(before),
                    after: Some(after),
                });
                Some(())
            };
            // A drain that hangs spares workloads; that is no improvement.
            if add(None, before_drains, after_drains).is_some() {
                continue;
            }
            let judged = |it: &&ReportSubject| without_pods(it) == (None, None);
            let both = are.iter().filter(|it| were.binary_search(it).is_ok()).filter(judged);
            for subject in both {
                let (before, after) = (old.outcome(subject, kind), new.outcome(subject, kind));
                unchanged += usize::from(add(Some(subject), before, after).is_none());
            }
        }
        changes.order_by_key(|change| {
            let harm = |outcome: &Option<Outcome>| {
                outcome.as_ref().map(|it| (it.not_judged.is_some(), it.harm))
            };
            (change.verdict, Reverse(harm(&change.after).max(harm(&change.before))))
        });
        let alone = |one: &Worst<'_>, other: &Worst<'_>| -> Vec<String> {
            let alone = one.kinds.iter().filter(|kind| !other.kinds.contains(kind));
            alone.map(|(kind, fault)| format!("{} {fault}", kind.as_str())).collect()
        };
        let mut missing = before.missing.clone();
        if missing.is_empty() && both().next().is_none() {
            missing.push("no kind of failure is in both reports".into());
        }
        let mut not_compared = alone(&old, &new);
        not_compared.extend(alone(&new, &old));
        let score = |score: &Option<Score>| score.as_ref().map(|score| score.score);
        Self {
            score_before: score(&before.score),
            score_after: score(&after.score),
            changes,
            unchanged,
            not_compared,
            missing,
            release_before: Some(before.outline.release).filter(|it| *it != after.outline.release),
        }
    }

    /// Changes of one kind.
    pub fn with_verdict(&self, verdict: Verdict) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(move |change| change.verdict == verdict)
    }
}
