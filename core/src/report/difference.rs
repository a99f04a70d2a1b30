//! The difference between two reports: what got worse and better, by workload and kind of failure.
//!
//! Nodes have other names from day to day, so the worst failure of each kind is compared: losing any
//! node with losing any node.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::{Cell, DomainKind, Fault, Millis, Outline, Report, ReportSubject, RunSummary, Score};
use crate::order::Order;

/// The longest difference of a time that is none: heartbeats come every 10 s and health passes every
/// 5 s, and another pod more or less moves them.
pub const NOISE: Millis = Millis(15_000);

/// What of an earlier report a later one is compared with; also read from a whole report.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct EarlierReport {
    /// Its subject.
    pub outline: Outline,
    /// Its score, if it has one.
    #[serde(default)]
    pub score: Option<Score>,
    /// Its figures.
    pub cells: Vec<Cell>,
    /// Summaries of its runs.
    pub runs: Vec<RunSummary>,
}

impl From<Report> for EarlierReport {
    fn from(Report { outline, score, cells, runs, .. }: Report) -> Self {
        Self { outline, score, cells, runs }
    }
}

/// What a report says otherwise than an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// Score before; absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_before: Option<u32>,
    /// Score after; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_after: Option<u32>,
    /// What changed: what is worse first, then new workloads, those that are gone, and what is better;
    /// within each, by the harm.
    pub changes: Vec<Change>,
    /// Workloads and kinds of failure that are as before.
    pub unchanged: usize,
    /// Kinds of failure that only one of the reports has, so that nothing is said of them.
    pub not_compared: Vec<String>,
}

/// What became of a workload in a kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Became {
    /// It is harmed more.
    Worse,
    /// It was not there before.
    New,
    /// It is not there any more.
    Gone,
    /// It is harmed less.
    Better,
}

/// A workload that one kind of failure harms otherwise than before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The workload or pod; absent for drains that end on one side only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<ReportSubject>,
    /// What became of it.
    pub became: Became,
    /// Kind of failure domain. For a workload that is new or gone that of its worst failure; absent
    /// if none harms it.
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

/// What the worst failure of a kind does to a workload.
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
    /// What the drain that does not end says last; absent if all of them end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hangs: Option<String>,
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
        }
    }

    /// The outcome of the drains of a kind, the first that does not end if there is one.
    fn of_drains(outline: &Outline, runs: &[RunSummary], kind: DomainKind, fault: &str) -> Self {
        let domain = |run: &RunSummary| outline.domains.get(run.domain);
        let hangs = runs.iter().filter(|run| run.fault.to_string() == fault).find_map(|run| {
            let drain = run.drain.as_ref().filter(|it| it.ended.is_none() || it.failed)?;
            let domain = domain(run).filter(|domain| domain.kind == kind)?;
            let error = drain.error.clone();
            Some((domain.to_string(), error.unwrap_or_else(|| "it still waits for pods".into())))
        });
        let (domain, hangs) =
            hangs.map(|(domain, error)| (domain, Some(error))).unwrap_or_default();
        Self { domain, hangs, ..Self::default() }
    }

    /// Whether any figure is worse than that of another outcome.
    fn is_worse_than(&self, other: &Self) -> bool {
        let beyond_noise = |one: Millis, other: Millis| one.0 > other.0.saturating_add(NOISE.0);
        self.never_whole_again && !other.never_whole_again
            || beyond_noise(self.at_zero, other.at_zero)
            || beyond_noise(self.below, other.below)
            || self.hangs.is_some() && other.hangs.is_none()
    }

    /// What became of it: worse if any figure is, better if none is and one is better.
    fn became(before: &Self, after: &Self) -> Option<Became> {
        if after.is_worse_than(before) {
            return Some(Became::Worse);
        }
        before.is_worse_than(after).then_some(Became::Better)
    }

    /// The same, without regard to noise.
    fn rank(&self) -> (bool, Millis, Millis) {
        (self.never_whole_again, self.at_zero, self.below)
    }
}

type Kind = (DomainKind, Fault);

/// The kinds of failure that a report has, and the worst of each for each workload.
struct Worst<'a> {
    kinds: BTreeSet<(DomainKind, String)>,
    of: BTreeMap<(&'a ReportSubject, DomainKind, String), (Kind, Outcome)>,
}

impl<'a> Worst<'a> {
    fn of(outline: &Outline, cells: &'a [Cell], runs: &[RunSummary]) -> Self {
        let kind_of = |domain: usize| {
            let domain = outline.domains.get(domain)?;
            // Nothing survives the whole cluster, before or after.
            (!domain.whole_cluster).then_some(domain.kind)
        };
        let by_nodes = outline.by_nodes();
        let mut kinds = BTreeSet::new();
        for run in runs {
            let domains = by_nodes.get(&run.domain).into_iter().flatten();
            for kind in domains.filter_map(|domain| kind_of(*domain)) {
                kinds.insert((kind, run.fault.to_string()));
            }
        }
        let mut worst = Self { kinds, of: BTreeMap::new() };
        for cell in cells {
            let Some(kind) = kind_of(cell.domain) else { continue };
            let key = (&cell.worst.subject, kind, cell.fault.to_string());
            let outcome = Outcome::of(cell, outline);
            let known = worst.of.get(&key).is_some_and(|(_, it)| it.rank() >= outcome.rank());
            if !known {
                worst.of.insert(key, ((kind, cell.fault.clone()), outcome));
            }
        }
        worst
    }

    fn of_subject(&self, subject: &'a ReportSubject) -> impl Iterator<Item = &(Kind, Outcome)> {
        self.of.iter().filter(move |((of, ..), _)| *of == subject).map(|(_, found)| found)
    }

    fn outcome(&self, key: &(&ReportSubject, DomainKind, String)) -> Outcome {
        self.of.get(key).map(|(_, outcome)| outcome.clone()).unwrap_or_default()
    }
}

/// The worst failure of each kind for each workload that it harms.
#[must_use]
pub fn worst_outcomes(report: &Report) -> Vec<(&ReportSubject, DomainKind, Fault, Outcome)> {
    let all = Worst::of(&report.outline, &report.cells, &report.runs).of.into_iter();
    all.map(|((subject, ..), ((kind, fault), outcome))| (subject, kind, fault, outcome)).collect()
}

impl Difference {
    /// What `after` says otherwise than `before`.
    #[must_use]
    pub fn of(before: &EarlierReport, after: &Report) -> Self {
        let old = Worst::of(&before.outline, &before.cells, &before.runs);
        let new = Worst::of(&after.outline, &after.cells, &after.runs);
        let subjects = |outline: &Outline| -> BTreeSet<ReportSubject> {
            outline.subjects.iter().cloned().collect()
        };
        let (were, are) = (subjects(&before.outline), subjects(&after.outline));
        let mut changes = Vec::new();
        let mut unchanged = 0;
        for subject in were.symmetric_difference(&are) {
            let (became, side) =
                if are.contains(subject) { (Became::New, &new) } else { (Became::Gone, &old) };
            let worst = side.of_subject(subject).max_by_key(|(_, outcome)| outcome.rank());
            let outcome = worst.map(|(_, outcome)| outcome.clone());
            let kind = worst.map(|(kind, _)| kind.clone());
            changes.push(Change {
                subject: Some(subject.clone()),
                became,
                kind: kind.as_ref().map(|(kind, _)| *kind),
                fault: kind.map(|(_, fault)| fault),
                before: outcome.clone().filter(|_| became == Became::Gone),
                after: outcome.filter(|_| became == Became::New),
            });
        }
        for (kind, name) in old.kinds.intersection(&new.kinds) {
            let drains = |outline, runs| Outcome::of_drains(outline, runs, *kind, name);
            let before = drains(&before.outline, &before.runs);
            let after = drains(&after.outline, &after.runs);
            // What a drain that hangs does not do to workloads is no gain.
            if let Some(became) = Outcome::became(&before, &after) {
                changes.push(Change {
                    subject: None,
                    became,
                    kind: Some(*kind),
                    fault: Some(Fault::Drained),
                    before: Some(before),
                    after: Some(after),
                });
                continue;
            }
            for subject in were.intersection(&are) {
                let key = (subject, *kind, name.clone());
                let (before, after) = (old.outcome(&key), new.outcome(&key));
                let Some(became) = Outcome::became(&before, &after) else {
                    unchanged += 1;
                    continue;
                };
                // What is worse or better is in one of them.
                let found = new.of.get(&key).or_else(|| old.of.get(&key));
                changes.push(Change {
                    subject: Some(subject.clone()),
                    became,
                    kind: Some(*kind),
                    fault: found.map(|((_, fault), _)| fault.clone()),
                    before: Some(before),
                    after: Some(after),
                });
            }
        }
        changes.order_by_key(|change| {
            let harm = |outcome: &Option<Outcome>| outcome.as_ref().map(|it| it.harm);
            (change.became, Reverse(harm(&change.after).max(harm(&change.before))))
        });
        let not_compared = old.kinds.symmetric_difference(&new.kinds);
        let score = |score: &Option<Score>| score.as_ref().map(|score| score.score);
        Self {
            score_before: score(&before.score),
            score_after: score(&after.score),
            changes,
            unchanged,
            not_compared: not_compared
                .map(|(kind, fault)| kind.as_str().to_string() + " " + fault)
                .collect(),
        }
    }

    /// What became of workloads in this way.
    pub fn that_are(&self, became: Became) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(move |change| change.became == became)
    }
}
