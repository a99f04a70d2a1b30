//! The report as Markdown, for a pull request.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use taintlab_core::report::Report;

use super::{
    CAUSES, FAILURE_COLUMNS, MOST, WORKLOAD_COLUMNS, causes, escaped, harmed, rest, score_reasons,
    sections, spared, title, title_score, totals, verdict,
};

/// A table.
pub(crate) fn table(head: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<_> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut text = line(head);
    text += &format!("| {} |\n", head.iter().map(|_| "---").collect::<Vec<_>>().join(" | "));
    text.extend(rows.iter().map(|row| line(row)));
    text
}

/// Lines as a part of an item of a list.
fn indented(text: &str) -> String {
    text.trim_end().replace('\n', "\n   ")
}

/// The report as Markdown.
#[must_use]
pub fn markdown(report: &Report) -> String {
    let mut text = format!("## Resilience: {}\n\n{}\n", title_score(report), report.heading);
    if let Some(verdict) = verdict(report) {
        text += &format!("\n**{verdict}**\n");
    }
    text.push('\n');
    for note in score_reasons(report).iter().chain(&report.notes) {
        text += &format!("- {note}\n");
    }
    let head = FAILURE_COLUMNS.map(ToString::to_string);
    for (kind, rows) in sections(report) {
        let more = rest(rows.len(), "row");
        text += &format!("\n### {}\n\n{}{more}", title(kind), table(&head, &totals(&rows)));
    }
    let mut rows: Vec<Vec<String>> = harmed(report).into_iter().map(|(_, row)| row).collect();
    let all = rows.len();
    text += "\n### Workloads\n\n";
    if all > 0 {
        rows.truncate(MOST);
        text += &format!("{}\n", table(&WORKLOAD_COLUMNS.map(ToString::to_string), &rows));
    }
    text += &format!("{}{}\n", rest(all, "workload"), spared(report));
    let causes = causes(report);
    if !causes.is_empty() {
        text += &format!("\n### {CAUSES}\n");
    }
    for (index, cause) in causes.iter().take(MOST).enumerate() {
        let group = cause.group;
        text += &format!("\n{}. **{}**: {}\n", index + 1, group.what, group.why);
        for (line, yaml) in &cause.effects {
            text += &format!("\n   <details><summary>{}</summary>\n\n", escaped(line));
            text += &format!("   ```yaml\n   {}\n   ```\n   </details>\n", indented(yaml));
        }
        if let Some(no_help) = &cause.finding.no_help {
            text += &format!("\n   {no_help}\n");
        }
        if let Some(alarms) = &cause.false_alarms {
            let (head, rows) = alarms.table();
            text += &format!(
                "\n   Unnecessary evictions, by the length of the outage:\n\n   {}\n",
                indented(&table(&head, &rows))
            );
        }
    }
    text + &rest(causes.len(), "cause")
}
