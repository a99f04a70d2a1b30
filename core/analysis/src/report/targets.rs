//! Targets of workloads: the longest times that they may be at zero or below in failures of a kind,
//! and whether the runs of a report kept them.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use taintlab_rules::order::{Order, OrderedMap, OrderedSet};
use taintlab_rules::plural::count;
use taintlab_rules::time::{Span, parse_duration};

use super::score::{overall, worst_first};
use super::{
    Cell, Domain, DomainKind, DrainResult, FailureTotal, Fault, Millis, Outline, Plan, Report,
    ReportSubject, WorkloadRun,
};

/// The annotation of a workload, or of a pod without an owner, with its targets, in the grammar of
/// [`Target::parse_all`].
pub const TARGETS_ANNOTATION: &str = "taintlab/targets";

/// Targets that would be valid, for errors.
const EXAMPLE: &str = "write for example `node: atZero <= 30s, below <= 5m; drain: atZero <= 0s`";

/// Targets by workload.
pub type Targets = OrderedMap<ReportSubject, Vec<Target>>;

/// Failures that a target is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetFailures {
    /// Every failure of a domain of this kind but its drain: also of a domain that contains all
    /// nodes.
    Of(DomainKind),
    /// Every drain of a domain that counts for scores: see [`Domain::whole_cluster`]. A drain that
    /// does not end is not asked, unless it misses the target.
    Drain,
    /// Every failure of a domain that counts for scores, drains included.
    Any,
}

impl TargetFailures {
    fn parse(text: &str) -> Result<Self, String> {
        let kinds = || DomainKind::ALL.into_iter().map(Self::Of).chain([Self::Drain, Self::Any]);
        kinds().find(|it| it.to_string() == text).ok_or_else(|| {
            let known: Vec<String> = kinds().map(|it| it.to_string()).collect();
            format!("there is no kind of failure `{text}`; there are {}", known.join(", "))
        })
    }

    fn contains(self, domain: &Domain, fault: &Fault) -> bool {
        let is_drain = *fault == Fault::Drained;
        match self {
            Self::Of(kind) => domain.kind == kind && !is_drain,
            Self::Drain => is_drain && !domain.whole_cluster,
            Self::Any => !domain.whole_cluster,
        }
    }
}

/// `node`, `device-pool`, `drain`, `any`.
impl fmt::Display for TargetFailures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Of(kind) => f.write_str(&kind.as_str().replace(' ', "-")),
            Self::Drain => f.write_str("drain"),
            Self::Any => f.write_str("any"),
        }
    }
}

/// The time that a target limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetFigure {
    /// Total time without any ready pod.
    AtZero,
    /// Total time with fewer ready pods than wanted.
    Below,
}

impl TargetFigure {
    pub(crate) const ALL: [Self; 2] = [Self::AtZero, Self::Below];

    /// `atZero` or `below`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AtZero => "atZero",
            Self::Below => "below",
        }
    }

    /// Whether it goes on when the run ends, and the time of the worst seed.
    #[must_use]
    pub fn of(self, cell: &Cell, horizon: Millis) -> (bool, Millis) {
        let time = match self {
            Self::AtZero => cell.at_zero_spread.max,
            Self::Below => cell.below_spread.max,
        };
        (self.goes_on(&cell.worst, cell.never_whole_again > 0, horizon), time)
    }

    /// The same of one run.
    pub(crate) fn of_run(self, run: &WorkloadRun, horizon: Millis) -> (bool, Millis) {
        let time = match self {
            Self::AtZero => run.at_zero,
            Self::Below => run.below,
        };
        (self.goes_on(run, run.never_whole_again(), horizon), time)
    }

    fn goes_on(self, run: &WorkloadRun, never_whole_again: bool, horizon: Millis) -> bool {
        let until_the_end = run.worst_at.0.saturating_add(run.at_zero.0) >= horizon.0;
        let is_zero = run.least_ready == 0 && run.at_zero.0 > 0;
        never_whole_again && (self == Self::Below || is_zero && until_the_end)
    }
}

/// A limit for a time of a workload in every failure of a kind: `node: atZero <= 30s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The failures.
    pub failures: TargetFailures,
    /// The time that is limited.
    pub figure: TargetFigure,
    /// The longest time that meets the target.
    pub most: Span,
}

impl Target {
    /// Reads the targets of a workload: `node: atZero <= 30s, below <= 5m; zone: below <= 10m`.
    ///
    /// Clauses are separated by `;`. Each names a kind of failure (a kind of failure domain,
    /// `drain` or `any`) and, after `:`, its limits, separated by `,`. A limit is a figure
    /// (`atZero` or `below`), `<=` or `≤`, and a duration of Go.
    ///
    /// # Errors
    /// The mistake in the text, and what would be valid.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, String> {
        let mut targets: Vec<Self> = Vec::new();
        for clause in text.split(';').map(str::trim).filter(|clause| !clause.is_empty()) {
            let wrong = || format!("`{clause}` is no target; {EXAMPLE}");
            let (failures, limits) = clause.split_once(':').ok_or_else(wrong)?;
            let failures = TargetFailures::parse(failures.trim())?;
            for limit in limits.split(',') {
                let parts = limit.split_once("<=").or_else(|| limit.split_once('≤'));
                let (name, most) = parts.ok_or_else(wrong)?;
                let name = name.trim();
                let Some(figure) = TargetFigure::ALL.into_iter().find(|it| it.as_str() == name)
                else {
                    return Err(format!("there is no figure `{name}`; there are atZero and below"));
                };
                let most = Span(parse_duration(most.trim())?);
                if targets.iter().any(|it| (it.failures, it.figure) == (failures, figure)) {
                    return Err(format!("`{failures}: {name}` is given twice"));
                }
                targets.push(Self { failures, figure, most });
            }
        }
        if targets.is_empty() { Err(format!("no target; {EXAMPLE}")) } else { Ok(targets) }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} <= {}", self.failures, self.figure.as_str(), self.most)
    }
}

impl Serialize for Target {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match Self::parse_all(&text).map_err(de::Error::custom)?.as_slice() {
            [target] => Ok(*target),
            _ => Err(de::Error::custom("expected one target")),
        }
    }
}

/// Verdict on a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TargetVerdict {
    /// Not kept in some failure.
    Missed,
    /// No such failure was run, no such drain ended, or the workload had no ready pod before.
    NotAsked,
    /// Kept in all failures of its kind.
    Met,
}

/// A target of a workload, judged by the runs of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetResult {
    /// The workload or pod.
    pub subject: ReportSubject,
    /// The target.
    pub target: Target,
    /// The verdict.
    pub verdict: TargetVerdict,
    /// Failures of its kind that were run.
    pub asked: usize,
    /// Failures among these in which it was missed.
    pub missed: usize,
    /// The longest time in any of these failures, of the worst seed; absent if none was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst: Option<Millis>,
    /// The failure with that time: `node a lost`; absent if none harms the workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Time beyond the target; absent unless missed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<Millis>,
    /// Whether the time goes on when the run ends, which misses every target.
    pub endless: bool,
    /// Reason why it was not asked; empty if it was.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// A failure that was run.
struct Failure<'a> {
    domain: usize,
    fault: &'a Fault,
    /// Whether it is a drain that does not end, which does not show how long a workload would be
    /// away.
    does_not_end: bool,
}

fn failures(report: &Report) -> Vec<Failure<'_>> {
    let hung = report.runs.iter().filter(|run| {
        let drain = run.drain.as_ref();
        drain.is_some_and(DrainResult::does_not_end)
    });
    let hung: OrderedSet<(usize, &Fault)> = hung.map(|run| (run.domain, &run.fault)).collect();
    let each = report.failures.iter().map(|FailureTotal { domain, fault, .. }| {
        let domain = *domain;
        let first = report.outline.domains.get(domain).and_then(|it| it.same_nodes_as);
        let does_not_end = hung.contains(&(first.unwrap_or(domain), fault));
        Failure { domain, fault, does_not_end }
    });
    each.collect()
}

impl TargetResult {
    /// Judges a target of a workload by the failures that were run and the workload's cells.
    fn of(
        outline: &Outline,
        failures: &[Failure<'_>],
        subject: &ReportSubject,
        target: Target,
        cells: &[&Cell],
    ) -> Self {
        let is_of = |domain: usize, fault: &Fault| {
            let domain = outline.domains.get(domain);
            domain.is_some_and(|domain| target.failures.contains(domain, fault))
        };
        let (most, horizon) = (Millis::from(target.most), outline.options.horizon.into());
        let cells = cells.iter().filter(|cell| is_of(cell.domain, &cell.fault));
        let times: Vec<_> = cells.map(|cell| (target.figure.of(cell, horizon), *cell)).collect();
        let missed = || times.iter().filter(|((endless, time), _)| *endless || *time > most);
        let is_missed = |failure: &Failure<'_>| {
            missed().any(|(_, it)| (it.domain, &it.fault) == (failure.domain, failure.fault))
        };
        let run = || failures.iter().filter(|it| is_of(it.domain, it.fault));
        let asked = run().filter(|it| !it.does_not_end || is_missed(it)).count();
        let reason = if let Some(reason) = outline.not_judged(subject) {
            reason.as_str().into()
        } else if run().next().is_none() {
            match target.failures {
                TargetFailures::Of(kind) => format!("no {} failed", kind.as_str()),
                TargetFailures::Drain => "nothing was drained".into(),
                TargetFailures::Any => "nothing failed".into(),
            }
        } else if asked == 0 {
            "no drain ended".into()
        } else {
            String::new()
        };
        let not_asked = Self {
            subject: subject.clone(),
            target,
            verdict: TargetVerdict::NotAsked,
            asked: 0,
            missed: 0,
            worst: None,
            failure: None,
            over: None,
            endless: false,
            reason,
        };
        if !not_asked.reason.is_empty() {
            return not_asked;
        }
        // The first of the longest times.
        let worst = times.iter().rev().max_by_key(|(figure, _)| *figure);
        let worst = worst.filter(|((_, time), _)| time.0 > 0);
        let (endless, time) = worst.map(|(figure, _)| *figure).unwrap_or_default();
        let failure = worst.map(|(_, cell)| {
            let domain = outline.domains.get(cell.domain).map(ToString::to_string);
            format!("{} {}", domain.unwrap_or_default(), cell.fault)
        });
        let missed = missed().count();
        let is_met = missed == 0;
        Self {
            verdict: if is_met { TargetVerdict::Met } else { TargetVerdict::Missed },
            asked,
            missed,
            worst: Some(time),
            failure,
            over: (!is_met).then(|| Millis(time.0.saturating_sub(most.0))),
            endless,
            ..not_asked
        }
    }
}

impl Plan {
    /// Targets in the annotations of the workloads.
    ///
    /// # Errors
    /// The first workload whose annotation is wrong, with the mistake.
    pub fn targets(&self) -> Result<Targets, (ReportSubject, String)> {
        let cluster = self.plain.simulator.cluster();
        let mut targets = Targets::new();
        for subject in &self.outline.subjects {
            let metadata = match subject {
                ReportSubject::Workload(key) => cluster.get_workload(key).map(|it| &it.metadata),
                ReportSubject::Pod(key) => cluster.get_pod(key).map(|it| &it.metadata),
            };
            let text = metadata.and_then(|it| it.annotations.get(TARGETS_ANNOTATION));
            if let Some(text) = text {
                let read = Target::parse_all(text).map_err(|why| (subject.clone(), why))?;
                targets.insert(subject.clone(), read);
            }
        }
        Ok(targets)
    }
}

/// Judges a report by targets, those that are missed most first.
///
/// The score of a workload with targets becomes the share of its checks that pass, in percent,
/// rounded down; a check is a target in one failure of its kind. So 100 says that all targets are
/// met, whatever the harm. Workloads without targets, or with none that was asked, keep their
/// score. The score of the cluster remains the mean; a note says how many workloads have targets,
/// and what the others are judged by. Without any target the report stays as it is.
pub fn judge(report: &mut Report, targets: &Targets) -> Vec<TargetResult> {
    let mut cells: OrderedMap<&ReportSubject, Vec<&Cell>> = OrderedMap::new();
    for cell in &report.cells {
        cells.entry(&cell.worst.subject).or_default().push(cell);
    }
    let failures = failures(report);
    let mut results: Vec<TargetResult> = Vec::new();
    for subject in &report.outline.subjects {
        let Some(own) = targets.get(subject) else { continue };
        let cells = cells.get(subject).map(Vec::as_slice).unwrap_or_default();
        results.extend(
            own.iter().map(|it| TargetResult::of(&report.outline, &failures, subject, *it, cells)),
        );
    }
    if results.is_empty() {
        return results;
    }
    let mut judged = 0;
    for row in &mut report.workloads {
        let own = || results.iter().filter(|it| it.subject == row.subject);
        let asked: usize = own().map(|it| it.asked).sum();
        let passed = asked - own().map(|it| it.missed).sum::<usize>();
        if let Some(score) = (passed * 100).checked_div(asked) {
            judged += 1;
            row.score = u32::try_from(score).ok();
            let down = if (passed * 100).is_multiple_of(asked) { "" } else { ", rounded down" };
            row.arithmetic = format!(
                "{passed} of {asked} checks of its targets pass: 100 × {passed} / {asked} = \
                 {score}{down}"
            );
        }
    }
    worst_first(&mut report.workloads, &report.cells);
    report.score = overall(&report.workloads).filter(|_| report.missing.is_empty());
    let all = report.workloads.len();
    let others = match all - judged {
        0 => String::new(),
        others => format!(
            "; {} by default: 100 less its worst harm as a part of the largest possible",
            count(others, "other")
        ),
    };
    report.notes.push(format!(
        "{judged} of {} judged by targets, a score being the share of checks that pass{others}",
        count(all, "workload"),
    ));
    results
        .order_by_cached_key(|it| (it.verdict, !it.endless, Reverse(it.over), it.subject.clone()));
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_read_and_written() {
        for (text, written) in [
            ("node: atZero <= 30s", "node: atZero <= 30s"),
            (" zone:below≤5m ;", "zone: below <= 5m0s"),
            ("device-pool: atZero <= 0s", "device-pool: atZero <= 0s"),
            (
                "any: atZero <= 1500ms, below <= 1h; drain: below <= 0",
                "any: atZero <= 1.5s; any: below <= 1h0m0s; drain: below <= 0s",
            ),
        ] {
            let targets = Target::parse_all(text).unwrap();
            let texts: Vec<String> = targets.iter().map(ToString::to_string).collect();
            assert_eq!(texts.join("; "), written);
            let json = serde_json::to_value(&targets).unwrap();
            assert_eq!(serde_json::from_value::<Vec<Target>>(json).unwrap(), targets);
        }
    }

    #[test]
    fn a_mistake_is_said_with_what_would_be_valid() {
        for (text, why) in [
            ("", "no target; write for example `node: atZero <= 30s, below <= 5m; drain: "),
            ("atZero <= 30s", "`atZero <= 30s` is no target; write for example"),
            ("node: atZero < 30s", "`node: atZero < 30s` is no target; write for example"),
            ("node:", "`node:` is no target"),
            (
                "rack: atZero <= 30s",
                "there is no kind of failure `rack`; there are node, zone, region, label, list, \
                 pair, device-pool, drain, any",
            ),
            (
                "node: zeroReady <= 30s",
                "there is no figure `zeroReady`; there are atZero and below",
            ),
            ("node: below <= 30", "in the duration `30`; write for example `1m30s`"),
            ("node: below <= 1s; node: below <= 2s", "`node: below` is given twice"),
        ] {
            let error = Target::parse_all(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
