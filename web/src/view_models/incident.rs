//! What happened, told in Markdown: for a ticket or a report.

use std::fmt::Write;

use taintlab_core::time::{SECOND, Timestamp};

use super::display::{self, Category};
use crate::session::{Row, RowKind, Session};
use crate::text::count;

/// What happened until now: changes, Kubernetes' events and bookmarks in the order of time, then
/// how it stands.
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
    for row in session.rows().iter() {
        while let Some(note) = noted.next_if(|note| note.at.timestamp() < row.at) {
            line(format!("- at {}: *{}*", time(note.at.timestamp()), note.note));
        }
        if let Some(words) = words(row) {
            line(format!("- at {}: {words}", time(row.at)));
        }
    }
    for note in noted {
        line(format!("- at {}: *{}*", time(note.at.timestamp()), note.note));
    }
    let evicted = session.gone().iter().filter(|gone| gone.evicted.is_some()).count();
    line(format!("\nAt {}: {} evicted and gone.", time(now), count(evicted, "pod")));
    if let Some(outcome) = simulator.outcome() {
        line(format!("\n{outcome}"));
    }
    text
}

/// A row that belongs into a report: what was done, and what a cluster's own events say.
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

/// `0:50`, `5:50`, `1:02:03.5`.
fn time(at: Timestamp) -> String {
    let tenths = at.as_nanos() / (SECOND / 10);
    let (seconds, tenth) = (tenths / 10, tenths % 10);
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let tenth = if tenth == 0 { String::new() } else { format!(".{tenth}") };
    match hours {
        0 => format!("{minutes}:{seconds:02}{tenth}"),
        hours => format!("{hours}:{minutes:02}:{seconds:02}{tenth}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_a_stopwatch() {
        assert_eq!(time(Timestamp::from_secs(50)), "0:50");
        assert_eq!(time(Timestamp::from_millis(3_723_500)), "1:02:03.5");
    }
}
