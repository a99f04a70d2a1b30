//! Targets in words: in a terminal and as Markdown.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use taintlab_core::report::{TargetResult, TargetVerdict};

use super::markdown::table as markdown_table;
use super::{MOST, rest};
use crate::table::{Style, table};

/// Columns of the table of targets.
pub(super) const COLUMNS: [&str; 5] = ["Verdict", "Workload", "Target", "Worst", "If"];

/// Verdict in words: `missed by 2s`, `missed without end`, `not asked: nothing was drained`, `met`.
fn verdict(result: &TargetResult) -> String {
    match (result.verdict, result.over) {
        (TargetVerdict::Missed, _) if result.endless => "missed without end".into(),
        (TargetVerdict::Missed, over) => format!("missed by {}", over.unwrap_or_default()),
        (TargetVerdict::NotAsked, _) => {
            format!("not asked: {}", result.reason)
        }
        (TargetVerdict::Met, _) => "met".into(),
    }
}

/// The worst time, `59m14.9s or more` if it goes on, and its failure.
fn worst(result: &TargetResult) -> [String; 2] {
    let more = if result.endless { " or more" } else { "" };
    let time = result.worst.map(|worst| format!("{worst}{more}"));
    [time, result.failure.clone()].map(|it| it.unwrap_or_else(|| "-".into()))
}

/// A target with its verdict, in a sentence: `node: atZero <= 30s missed by 2s: 32s (node a lost)`.
pub(super) fn sentence(result: &TargetResult) -> String {
    let [time, failure] = worst(result);
    let (target, verdict) = (result.target, verdict(result));
    match (result.verdict, &result.failure) {
        (TargetVerdict::NotAsked, _) => format!("{target} {verdict}"),
        (_, Some(_)) => format!("{target} {verdict}: {time} ({failure})"),
        (_, None) => format!("{target} {verdict}: {time}"),
    }
}

/// `Targets: 3 met, 1 missed, 1 not asked`.
pub(super) fn summary(results: &[TargetResult]) -> String {
    let number = |verdict| results.iter().filter(|it| it.verdict == verdict).count();
    let [met, missed, not_asked] =
        [TargetVerdict::Met, TargetVerdict::Missed, TargetVerdict::NotAsked].map(number);
    let not_asked = if not_asked == 0 { String::new() } else { format!(", {not_asked} not asked") };
    format!("Targets: {met} met, {missed} missed{not_asked}")
}

/// The first rows, at most so many, in the order of the results.
pub(super) fn rows(results: &[TargetResult], most: usize) -> Vec<Vec<String>> {
    let row = |it: &TargetResult| {
        let [time, failure] = worst(it);
        Vec::from([verdict(it), it.subject.to_string(), it.target.to_string(), time, failure])
    };
    results.iter().take(most).map(row).collect()
}

/// Targets in a terminal, the missed ones first, with an empty line at the end; nothing without
/// any.
#[must_use]
pub fn targets_terminal(results: &[TargetResult], style: Style) -> String {
    if results.is_empty() {
        return String::new();
    }
    let head = COLUMNS.map(str::to_ascii_uppercase);
    let (rows, more) = (table(style, &head, &rows(results, MOST)), rest(results.len(), "target"));
    format!("{}\n{rows}{more}\n", style.bold(&summary(results)))
}

/// Targets as Markdown, as in a terminal.
#[must_use]
pub fn targets_markdown(results: &[TargetResult]) -> String {
    if results.is_empty() {
        return String::new();
    }
    let head = COLUMNS.map(ToString::to_string);
    let (rows, more) = (markdown_table(&head, &rows(results, MOST)), rest(results.len(), "target"));
    format!("## {}\n\n{rows}{more}\n", summary(results))
}
