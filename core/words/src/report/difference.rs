//! The difference between two reports: in a terminal, and as Markdown for a pull request.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use taintlab_core::report::{Change, Difference, Outcome, ReportSubject, Verdict};

use super::markdown::table as markdown_table;
use super::{Broken, capitalized, noun};
use crate::table::{Style, table};

/// Rows printed at most of each kind, so that a pull request stays on one screen; the JSON has all.
const MOST: usize = 8;

/// An object that is another than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedObject {
    /// File with the place of the change.
    pub file: Option<String>,
    /// Line of the place, from 1 on.
    pub line: Option<u32>,
    /// Column of the place, from 1 on.
    pub column: Option<u32>,
    /// Kind, namespace and name: `Deployment shop/web`.
    pub object: String,
    /// The workload of the report that it is, if any.
    pub subject: Option<ReportSubject>,
    /// The change in words: `spec.replicas: 3 → 2`.
    pub what: String,
}

impl ChangedObject {
    fn place(&self) -> String {
        match (&self.file, self.line, self.column) {
            (Some(file), Some(line), Some(column)) => format!("{file}:{line}:{column}: "),
            _ => String::new(),
        }
    }
}

/// Outcome in words: `below 5m40s, at zero 30s, never whole again`.
fn outcome(outcome: Option<&Outcome>) -> String {
    let Some(it) = outcome else { return "-".into() };
    if let Some(error) = &it.hangs {
        return format!("does not end: {error}");
    }
    if let Some(reason) = it.not_judged {
        return reason.into();
    }
    let mut parts = Vec::new();
    if it.below.0 > 0 {
        parts.push(format!("below {}", it.below));
    }
    if it.at_zero.0 > 0 {
        parts.push(format!("at zero {}", it.at_zero));
    }
    if it.never_whole_again {
        parts.push("never whole again".into());
    }
    if parts.is_empty() { "unharmed".into() } else { parts.join(", ") }
}

/// A workload that failures say something about, beside one without pods.
const READY: &str = "has ready pods";

/// A change as a row: its workload, or the drain; the kind of failure; before and after.
fn row(change: &Change) -> [String; 4] {
    let cell = |it: &Option<Outcome>| match (&change.subject, it) {
        (None, Some(it)) if it.hangs.is_none() => "ends".into(),
        (_, it) => outcome(it.as_ref()),
    };
    let subject = change.subject.as_ref().map_or_else(|| "the drain".into(), ToString::to_string);
    let (before, after) = match (&change.before, &change.after) {
        // One side has no pods, and the other has.
        (Some(it), None) if change.verdict == Verdict::Better => (outcome(Some(it)), READY.into()),
        (None, Some(it)) if change.verdict == Verdict::Worse => (READY.into(), outcome(Some(it))),
        (before, after) => (cell(before), cell(after)),
    };
    [subject, failure(change), before, after]
}

/// The kind of failure: `a zone lost`.
fn failure(change: &Change) -> String {
    match (change.kind, &change.fault) {
        (Some(kind), Some(fault)) => format!("a {} {fault}", noun(kind)),
        _ if matches!(change.verdict, Verdict::Worse | Verdict::Better) => "nothing fails".into(),
        _ => "-".into(),
    }
}

/// Broken rules: a baseline that is not whole, since a gate passes on nothing else, and worse changes.
#[must_use]
pub fn worse(difference: &Difference) -> Vec<Broken> {
    let missing = difference.missing.iter().map(|reason| Broken {
        rule: "the baseline is whole".into(),
        subject: None,
        text: format!("the baseline is not whole: {reason}"),
    });
    let broken = difference.with_verdict(Verdict::Worse).map(|change| {
        let [subject, failure, before, after] = row(change);
        Broken {
            rule: "nothing is worse than the baseline".into(),
            subject: change.subject.clone(),
            text: format!("{subject}, {failure}: {after}; before: {before}"),
        }
    });
    missing.chain(broken).collect()
}

const KINDS: [(Verdict, &str); 4] = [
    (Verdict::Worse, "worse"),
    (Verdict::New, "new"),
    (Verdict::Gone, "gone"),
    (Verdict::Better, "better"),
];

/// Head and rows for each kind of change that there is, with how many are left out.
fn tables(difference: &Difference) -> Vec<([String; 4], Vec<Vec<String>>, usize)> {
    let tables = KINDS.into_iter().map(|(verdict, name)| {
        let rows: Vec<Vec<String>> =
            difference.with_verdict(verdict).map(|change| row(change).to_vec()).collect();
        let more = rows.len().saturating_sub(MOST);
        let head = [capitalized(name), "If".into(), "Before".into(), "After".into()];
        (head, rows.into_iter().take(MOST).collect(), more)
    });
    tables.filter(|(_, rows, _): &(_, Vec<Vec<String>>, _)| !rows.is_empty()).collect()
}

/// `Score 81 → 64: 2 worse, 1 better, 30 as before`.
fn summary(difference: &Difference) -> String {
    let score = |score: Option<u32>| score.map_or_else(|| "none".into(), |score| score.to_string());
    let counts = KINDS.into_iter().map(|(verdict, name)| {
        let number = difference.with_verdict(verdict).count();
        (number > 0).then(|| format!("{number} {name}"))
    });
    let mut counts: Vec<String> = counts.flatten().collect();
    counts.push(format!("{} as before", difference.unchanged));
    let (before, after) = (score(difference.score_before), score(difference.score_after));
    format!("Score {before} → {after}: {}", counts.join(", "))
}

/// Sentences about what is not told.
fn notes(difference: &Difference, known: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if !difference.not_compared.is_empty() {
        let kinds = difference.not_compared.join(", ");
        notes.push(format!("only one of the reports has {kinds}: not compared"));
    }
    if let Some(release) = difference.release_before {
        notes.push(format!("the baseline is about Kubernetes {release}, this report is not"));
    }
    if !known {
        notes.push(
            "the baseline is a report: with its manifests, what changed in them would be told"
                .into(),
        );
    }
    notes
}

/// Changed objects, those of workloads that are worse first.
fn ordered<'a>(difference: &Difference, changed: &'a [ChangedObject]) -> Vec<&'a ChangedObject> {
    let is_worse = |object: &&ChangedObject| {
        object.subject.is_some()
            && difference.with_verdict(Verdict::Worse).any(|it| it.subject == object.subject)
    };
    let (first, then): (Vec<_>, Vec<_>) = changed.iter().partition(is_worse);
    first.into_iter().chain(then).collect()
}

/// The difference in a terminal. `changed` are the objects that are others, if both are known.
#[must_use]
pub fn difference_terminal(
    difference: &Difference,
    changed: Option<&[ChangedObject]>,
    style: Style,
) -> String {
    let mut text = format!("{}\n", style.bold(&summary(difference)));
    for note in notes(difference, changed.is_some()) {
        text += &format!("{note}\n");
    }
    for (head, rows, more) in tables(difference) {
        let head = head.map(|cell| cell.to_ascii_uppercase());
        text += &format!("\n{}", table(style, &head, &rows));
        text += &rest(more);
    }
    let changed = ordered(difference, changed.unwrap_or_default());
    if !changed.is_empty() {
        text += &format!("\n{}\n", style.bold("Changed in the objects"));
        for it in changed.iter().take(2 * MOST) {
            text += &format!("{}{}: {}\n", it.place(), it.object, it.what);
        }
        text += &rest(changed.len().saturating_sub(2 * MOST));
    }
    text
}

/// The difference as Markdown, on one screen.
#[must_use]
pub fn difference_markdown(difference: &Difference, changed: Option<&[ChangedObject]>) -> String {
    let mut text = format!("## Resilience: {}\n", summary(difference));
    for note in notes(difference, changed.is_some()) {
        text += &format!("\n- {note}");
    }
    for (head, rows, more) in tables(difference) {
        text += &format!("\n{}{}", markdown_table(&head, &rows), rest(more));
    }
    let changed = ordered(difference, changed.unwrap_or_default());
    if !changed.is_empty() {
        text += "\n**Changed in the objects**\n\n";
        for it in changed.iter().take(MOST) {
            let place = it.place();
            let place = if place.is_empty() {
                String::new()
            } else {
                format!("`{}` ", place.trim_end_matches(": "))
            };
            text += &format!("- {place}{}: `{}`\n", it.object, it.what);
        }
        text += &rest(changed.len().saturating_sub(MOST));
    }
    text
}

fn rest(more: usize) -> String {
    if more == 0 { String::new() } else { format!("and {more} more: see --json\n") }
}
