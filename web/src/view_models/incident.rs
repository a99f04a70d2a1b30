//! The run as an incident, told in Markdown: for a ticket or a report.

use std::fmt::Write;

use taintlab_core::time::Timestamp;

use super::display::{self, Category};
use crate::session::{MarkKind, Row, RowKind, Session};
use crate::text::{at, count};

/// The changes, Kubernetes' events and bookmarks until now in the order of time, then the outcome.
/// Events of a start without trouble are only counted.
pub(crate) fn markdown(session: &Session) -> String {
    let start = &session.timeline().start;
    let simulator = session.simulator();
    let title = match start.metadata.title.as_str() {
        "" => "Incident",
        title => title,
    };
    let mut text = format!("# {title}\n\n");
    let mut line = |line: String| {
        // Writing into a text does not fail.
        let _ = writeln!(text, "{line}");
    };
    let cluster = simulator.cluster();
    line(format!(
        "Kubernetes {}, {}, {}. Times count from {}.\n",
        simulator.config().release,
        count(cluster.nodes().len(), "node"),
        count(cluster.pods().count(), "pod"),
        simulator.wall_clock(Timestamp::ZERO).truncated_to_seconds(),
    ));
    let now = session.now();
    let noted = start.bookmarks.iter().filter(|it| it.at.timestamp() <= now && !it.note.is_empty());
    let mut noted = noted.peekable();
    let rows = session.rows();
    let quiet = rows.iter().take_while(|row| is_quiet(row)).count();
    // A run without other events is told as a whole.
    let quiet = if quiet < rows.len() { quiet } else { 0 };
    let events = rows.iter().take(quiet).filter(|row| words(row).is_some()).count();
    if events > 0 {
        line(format!("{} of the start left out.\n", count(events, "event")));
    }
    for row in rows.iter().skip(quiet) {
        while let Some(note) = noted.next_if(|note| note.at.timestamp() < row.at) {
            line(format!("- at {}: *{}*", at(note.at.timestamp()), note.note));
        }
        if let Some(words) = words(row) {
            line(format!("- at {}: {words}", at(row.at)));
        }
    }
    for note in noted {
        line(format!("- at {}: *{}*", at(note.at.timestamp()), note.note));
    }
    // One number of evictions: that of the outcome, once there is one.
    let until_now = || {
        let evicted = count(simulator.evictions_until_now(), "pod");
        format!("At {}: {evicted} evicted.", at(now))
    };
    let end = simulator.outcome().map(|outcome| outcome.to_string());
    line(format!("\n{}", end.unwrap_or_else(until_now)));
    text
}

/// Whether a row tells of a healthy cluster that starts: no change, no `Warning`, no eviction.
fn is_quiet(row: &Row) -> bool {
    matches!(display::row(row).type_, "Normal" | "Decision")
        && row.kind.mark() != MarkKind::Eviction
}

/// The words of a row that belongs into a report: changes, and the events of a cluster itself.
fn words(row: &Row) -> Option<String> {
    let text = display::row(row);
    let object = match text.object.as_str() {
        "" => String::new(),
        object => format!("`{object}` "),
    };
    match (text.category, &row.kind) {
        (Category::Change, RowKind::Happened(_)) | (Category::Fact, _) => None,
        (Category::Change, _) => Some(format!("**{}**", text.message)),
        (Category::Event, _) => Some(format!("{object}{}: {}", text.reason, text.message)),
    }
}
