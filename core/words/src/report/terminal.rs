//! The report in a terminal.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use taintlab_core::report::Report;

use super::{
    CAUSES, FAILURE_COLUMNS, MOST, WORKLOAD_COLUMNS, causes, harmed, rest, score_reasons, sections,
    spared, title, title_score, totals, verdict,
};
use crate::table::{Style, table};

/// The report in a terminal.
#[must_use]
pub fn terminal(report: &Report, style: Style) -> String {
    let mut text = format!("{}\n", report.heading);
    if let Some(verdict) = verdict(report) {
        text += &format!("{}\n", style.bold(&verdict));
    }
    let why = score_reasons(report).join("; ");
    text += &match report.score {
        Some(_) => {
            let score = style.bold(&format!("Score {}", title_score(report)));
            format!("{score}  {}\n", style.dim(&why))
        }
        None => format!("{}\n", style.bold(&format!("No score: {why}"))),
    };
    for note in &report.notes {
        text += &format!("{note}\n");
    }
    for (kind, rows) in sections(report) {
        let mut head = FAILURE_COLUMNS.map(str::to_ascii_uppercase);
        head[0] = title(kind).to_ascii_uppercase();
        text += &format!("\n{}{}", table(style, &head, &totals(&rows)), rest(rows.len(), "row"));
    }
    let mut rows: Vec<Vec<String>> = harmed(report).into_iter().map(|(_, row)| row).collect();
    let all = rows.len();
    if all > 0 {
        rows.truncate(MOST);
        let head = WORKLOAD_COLUMNS.map(str::to_ascii_uppercase);
        text += &format!("\n{}{}", table(style, &head, &rows), rest(all, "workload"));
    }
    text += &format!("{}\n", spared(report));
    let causes = causes(report);
    if !causes.is_empty() {
        text += &format!("\n{}\n", style.bold(CAUSES));
    }
    for (index, cause) in causes.iter().take(MOST).enumerate() {
        let group = cause.group;
        text += &format!("{}. {}\n   {}\n", index + 1, group.what, group.why);
        for (line, _) in &cause.effects {
            text += &format!("   - {line}\n");
        }
        if let Some(no_help) = &cause.finding.no_help {
            text += &format!("   {no_help}\n");
        }
        if let Some(alarms) = &cause.false_alarms {
            let outages = alarms.outages.join(", ");
            text += &format!("   unnecessary evictions, by outage ({outages}):\n");
            for (name, counts) in &alarms.rows {
                text += &format!("     {name}: {}\n", counts.join(", "));
            }
        }
    }
    text + &rest(causes.len(), "cause")
}
