//! The resilience report in words.

mod difference;
mod html;
mod junit;
mod markdown;
mod prometheus;
mod rules;
mod targets;
mod terminal;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use taintlab_core::order::OrderedSet;
use taintlab_core::plural::count;
use taintlab_core::report::{
    DomainKind, FailureRow, Fault, Finding, FindingGroup, Report, WorkloadScore,
};
use taintlab_core::time::Span;

pub use self::difference::{ChangedObject, difference_markdown, difference_terminal, worse};
pub use self::html::{MOST_PICTURES, Picture, html};
pub use self::junit::junit;
pub use self::markdown::markdown;
pub(crate) use self::markdown::table as markdown_table;
pub use self::prometheus::prometheus;
pub use self::rules::{Broken, Rule, is_match};
pub use self::targets::{targets_markdown, targets_terminal};
pub use self::terminal::terminal;

/// Rows of a table, and causes, printed at most; the JSON has all.
const MOST: usize = 20;

/// Heading of the findings.
pub const CAUSES: &str = "What hurts most, and what would help";
/// Columns of the table of failures.
const FAILURE_COLUMNS: [&str; 5] =
    ["Failure", "Workloads harmed", "No ready pod", "Never whole again", "Harm"];
/// Columns of the table of workloads.
pub const WORKLOAD_COLUMNS: [&str; 7] =
    ["Score", "Workload", "Worst failure", "Ready", "Below", "At zero", "Whole again"];

/// Noun for the failure domains of a kind: `label value`.
#[must_use]
pub const fn noun(kind: DomainKind) -> &'static str {
    match kind {
        DomainKind::Label => "label value",
        kind => kind.as_str(),
    }
}

/// Heading of the failures of a kind: `Label values`.
fn title(kind: DomainKind) -> String {
    capitalized(noun(kind)) + "s"
}

/// A word with a capital letter at its beginning.
fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Name of a failure, the domain and its fault: `zone eu-1a lost`.
#[must_use]
pub fn failure(report: &Report, domain: usize, fault: &Fault) -> String {
    let domain = report.outline.domains.get(domain).map(ToString::to_string);
    format!("{} {fault}", domain.unwrap_or_default())
}

/// `3 workloads not harmed by any failure` of `all`, or that there is none.
#[must_use]
pub fn unharmed(workloads: usize, all: usize) -> String {
    match (workloads, all) {
        (0, 0) => "The cluster has no workload".into(),
        (0, _) => "Every workload is harmed by some failure".into(),
        _ => format!("{} not harmed by any failure", count(workloads, "workload")),
    }
}

/// How many workloads no failure harms, and how many are not judged, with the reason.
fn spared(report: &Report) -> String {
    let all = report.workloads.len();
    let spared = report.workloads.iter().filter(|it| it.worst.is_none());
    let (judged, others): (Vec<_>, Vec<_>) = spared.partition(|it| it.score.is_some());
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for it in others {
        match reasons.iter_mut().find(|(reason, _)| *reason == it.arithmetic) {
            Some((_, number)) => *number += 1,
            None => reasons.push((&it.arithmetic, 1)),
        }
    }
    let mut clauses = Vec::new();
    if reasons.is_empty() || !judged.is_empty() {
        clauses.push(unharmed(judged.len(), all));
    }
    clauses.extend(
        reasons
            .into_iter()
            .map(|(reason, number)| format!("{} not judged: {reason}", count(number, "workload"))),
    );
    clauses.join("; ")
}

/// The verdict, with the number of drains that do not end: what they do not reach survives for that
/// reason alone.
fn verdict(report: &Report) -> Option<String> {
    let verdict = report.verdict.clone()?;
    let drains = || report.runs.iter().filter_map(|run| run.drain.as_ref());
    match drains().filter(|it| it.does_not_end()).count() {
        0 => Some(verdict),
        hung => Some(format!("{verdict} Drains that do not end: {hung} of {}.", drains().count())),
    }
}

/// Unnecessary evictions: pods that are evicted although the nodes come back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FalseAlarms {
    /// Lengths of the outages.
    pub outages: Vec<String>,
    /// For each `tolerationSeconds`, the evictions in each of the outages.
    pub rows: Vec<(String, Vec<String>)>,
}

impl FalseAlarms {
    /// The unnecessary evictions of a finding, if outages that end by themselves were tried.
    #[must_use]
    pub fn of(finding: &Finding) -> Option<Self> {
        let all = &finding.false_alarms;
        let outages: OrderedSet<Span> = all.iter().map(|alarm| alarm.outage).collect();
        let mut seconds: Vec<Option<u32>> = Vec::new();
        for alarm in all {
            if !seconds.contains(&alarm.seconds) {
                seconds.push(alarm.seconds);
            }
        }
        let rows = seconds.into_iter().map(|tried| {
            let name = tried.map_or_else(|| "as it is".into(), |seconds| format!("{seconds} s"));
            let cells = outages.iter().map(|outage| {
                let found = all.iter().find(|it| it.seconds == tried && it.outage == *outage);
                found.map(|it| it.evicted.to_string()).unwrap_or_default()
            });
            (name, cells.collect())
        });
        let rows: Vec<_> = rows.collect();
        let outages = outages.iter().map(ToString::to_string).collect();
        (!rows.is_empty()).then_some(Self { outages, rows })
    }

    /// As a table with its head.
    fn table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let line = |name: &str, cells: &[String]| {
            let mut line = Vec::from([name.to_string()]);
            line.extend_from_slice(cells);
            line
        };
        let rows = self.rows.iter().map(|(name, cells)| line(name, cells));
        (line("tolerationSeconds", &self.outages), rows.collect())
    }
}

/// Findings of one cause, with the changes that would help in the worst of them.
struct Cause<'a> {
    group: &'a FindingGroup,
    finding: &'a Finding,
    /// Other findings of the cause.
    like: Vec<&'a Finding>,
    /// The changes that help: each with its effect, and the YAML.
    effects: Vec<(String, &'a str)>,
    false_alarms: Option<FalseAlarms>,
}

fn causes(report: &Report) -> Vec<Cause<'_>> {
    let causes = report.groups.iter().filter_map(|group| {
        let mut all = group.findings.iter().filter_map(|number| report.findings.get(*number));
        let finding = all.next()?;
        let effects = finding.effects.iter().filter(|effect| effect.helps);
        Some(Cause {
            group,
            finding,
            like: all.collect(),
            effects: effects.map(|it| (format!("{}: {}", it.what, it.text), &*it.yaml)).collect(),
            false_alarms: FalseAlarms::of(finding),
        })
    });
    causes.collect()
}

/// The failures by kind, in the order of the report.
fn sections(report: &Report) -> Vec<(DomainKind, Vec<&FailureRow>)> {
    let mut sections: Vec<(DomainKind, Vec<&FailureRow>)> = Vec::new();
    for row in &report.rows {
        match sections.iter_mut().find(|(kind, _)| *kind == row.kind) {
            Some((_, rows)) => rows.push(row),
            None => sections.push((row.kind, Vec::from([row]))),
        }
    }
    sections
}

/// The first rows of a section as cells of a table.
fn totals(rows: &[&FailureRow]) -> Vec<Vec<String>> {
    let cells = |row: &&FailureRow| {
        let FailureRow { name, harmed, at_zero, never, harm, .. } = row;
        let numbers = [harmed, at_zero, never].map(ToString::to_string);
        let mut cells = Vec::from([name.clone()]);
        cells.extend(numbers);
        cells.push(harm.to_string());
        cells
    };
    rows.iter().take(MOST).map(cells).collect()
}

/// The workloads that a failure harms, with their cells of a table.
fn harmed(report: &Report) -> Vec<(&WorkloadScore, Vec<String>)> {
    let rows = report.workloads.iter().filter_map(|row| {
        let WorkloadScore { subject, score, worst, .. } = row;
        let score = score.map_or_else(|| "-".into(), |score| score.to_string());
        let mut cells = Vec::from([score, subject.to_string()]);
        cells.extend_from_slice(worst.as_ref()?);
        Some((row, cells))
    });
    rows.collect()
}

/// Sentence about what is left out of a list of so many.
fn rest(all: usize, what: &str) -> String {
    match all.saturating_sub(MOST) {
        0 => String::new(),
        more => format!("and {}: see --json\n", count(more, &format!("more {what}"))),
    }
}

/// `97 of 100`.
fn title_score(report: &Report) -> String {
    match &report.score {
        Some(score) => format!("{} of 100", score.score),
        None => "no score".into(),
    }
}

/// Calculation of the score, or the reasons why there is none.
fn score_reasons(report: &Report) -> Vec<String> {
    match &report.score {
        Some(score) => Vec::from([score.arithmetic.clone()]),
        None => report.missing.clone(),
    }
}

/// Text for HTML and XML.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '&' => escaped += "&amp;",
            '"' => escaped += "&quot;",
            c => escaped.push(c),
        }
    }
    escaped
}
