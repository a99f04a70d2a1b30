//! The console: lines of kubectl that were typed, and lines that would do the same as clicks.

use std::rc::Rc;

use taintlab_core::command::Command;
use taintlab_core::event::EventKind;
use taintlab_core::simulator::Simulator;
use taintlab_core::time::Timestamp;
use taintlab_kubectl::{Context, command_line_of, run};

use super::Host;
use crate::session::{Row, RowKind};
use crate::view_models::console::{Drain, Entry, MOST_ENTRIES, Outcome, Printed};

/// Lines to copy that a click gives at most.
const MOST_LINES: usize = 40;

impl Host {
    /// Runs a line at the time of the clock. All of its changes are one edit.
    pub(super) fn kubectl(&mut self, line: String) {
        let at = self.session.now();
        let events = self.session.events();
        let outcome = run(&Context::new(self.session.simulator(), &events), &line, None);
        drop(events);
        let mut text = outcome.terminal;
        let mut failed = outcome.exit_code != 0;
        let changed = !outcome.commands.is_empty();
        if changed && let Err(error) = self.carry_out(outcome.commands) {
            text = format!("{text}Error from server: {error}\n");
            failed = true;
        }
        if failed || !changed {
            self.announce(if failed { "kubectl failed" } else { "kubectl is done" });
        }
        let drain = outcome.drain.filter(|_| !failed).map(|id| {
            let head =
                head(&text, rows_of_drain(self.session.rows(), id, at).map(|(_, what)| what));
            Drain { id, runs: true, head }
        });
        self.enter(at, line.into(), Outcome::Typed(Printed { text, failed, drain }));
        self.follow_drains();
    }

    /// Adds the output of drains to the lines that began them, as printed until now.
    pub(super) fn follow_drains(&mut self) {
        let mut changed = Vec::new();
        for (index, entry) in self.console.iter().enumerate() {
            if let Outcome::Typed(printed) = &entry.outcome
                && let Some(drain) = &printed.drain
            {
                let new = followed(self.session.rows(), entry.at, printed, drain);
                if new != *printed {
                    changed.push((index, new));
                }
            }
        }
        for (index, printed) in changed {
            if let Some(entry) = self.console.get_mut(index) {
                let outcome = Outcome::Typed(printed);
                *entry = Rc::new(Entry { outcome, ..Entry::clone(entry) });
            }
        }
    }

    /// Marks all entries until now as no longer about the last edit.
    pub(super) fn forget_what_was_done(&mut self) {
        self.entries_forgotten = self.entries_made;
    }

    pub(super) fn enter(&mut self, at: Timestamp, line: Rc<str>, outcome: Outcome) {
        self.entries_made += 1;
        let entry = Entry { number: self.entries_made, at, line, outcome };
        if self.console.len() >= MOST_ENTRIES {
            self.console.remove(0);
        }
        self.console.push(Rc::new(entry));
    }
}

/// The events of a drain since it was begun at that time; none if that was undone.
fn rows_of_drain(
    rows: &[Rc<Row>],
    id: u64,
    at: Timestamp,
) -> impl Iterator<Item = (Timestamp, &EventKind)> {
    let since = rows.partition_point(|row| row.at < at);
    let about = rows.iter().skip(since).filter_map(move |row| {
        if let RowKind::Happened(
            what @ (EventKind::DrainStarted { drain }
            | EventKind::DrainPrinted { drain, .. }
            | EventKind::DrainEnded { drain, .. }),
        ) = &row.kind
            && *drain == id
        {
            Some((row.at, what))
        } else {
            None
        }
    });
    about.skip_while(move |(begun, what)| {
        *begun != at || !matches!(what, EventKind::DrainStarted { .. })
    })
}

/// The part of a text before the lines that a drain printed immediately.
fn head<'a>(text: &str, drain: impl Iterator<Item = &'a EventKind>) -> String {
    let (mut head, mut said) = (text, String::new());
    for what in drain {
        if let EventKind::DrainPrinted { line, .. } = what {
            said.push_str(line);
            said.push('\n');
            head = text.strip_suffix(&said).unwrap_or(head);
        }
    }
    head.to_owned()
}

/// The output of a line until now. A line that was undone keeps its output.
fn followed(rows: &[Rc<Row>], at: Timestamp, printed: &Printed, drain: &Drain) -> Printed {
    let mut new = Printed { text: drain.head.clone(), failed: false, drain: None };
    let mut runs = false;
    for (_, what) in rows_of_drain(rows, drain.id, at) {
        if let EventKind::DrainPrinted { line, .. } = what {
            new.text.push_str(line);
            new.text.push('\n');
        } else if let EventKind::DrainEnded { failed, .. } = what {
            (runs, new.failed) = (false, *failed);
            break;
        } else {
            runs = true;
        }
    }
    if new.text == drain.head && !runs {
        new.text.clone_from(&printed.text);
    }
    new.drain = Some(Drain { runs, ..drain.clone() });
    new
}

/// The lines of kubectl that do the same as these commands, as far as kubectl can. To be made
/// before the commands are carried out.
pub(super) fn lines_of(commands: &[Command], simulator: &Simulator) -> Option<String> {
    let lines = commands.iter().take(MOST_LINES).filter_map(|one| command_line_of(one, simulator));
    let mut lines = merged(lines.collect());
    if commands.len() > MOST_LINES {
        lines.push(format!("# and {} more", commands.len() - MOST_LINES));
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Makes one line of lines that do the same to several nodes, as kubectl can.
fn merged(lines: Vec<String>) -> Vec<String> {
    const START: &str = "kubectl taint nodes ";
    let mut merged: Vec<String> = Vec::new();
    for line in lines {
        let split = |line: &str| {
            let (name, rest) = line.strip_prefix(START)?.split_once(' ')?;
            Some((name.to_owned(), rest.to_owned()))
        };
        if let (Some((name, rest)), Some(last)) = (split(&line), merged.last_mut())
            && let Some(before) = last.strip_suffix(&rest).and_then(|it| it.strip_prefix(START))
            && before.ends_with(' ')
        {
            *last = format!("{START}{before}{name} {rest}");
            continue;
        }
        merged.push(line);
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_get_the_same_taint_are_one_line() {
        let lines = ["a k=v:NoExecute", "b k=v:NoExecute", "c k=v:NoSchedule", "d k-"];
        let lines = lines.map(|line| format!("kubectl taint nodes {line}")).to_vec();
        assert_eq!(
            merged(lines),
            [
                "kubectl taint nodes a b k=v:NoExecute",
                "kubectl taint nodes c k=v:NoSchedule",
                "kubectl taint nodes d k-",
            ]
        );
        assert_eq!(merged(vec!["kubectl cordon a".into()]), ["kubectl cordon a"]);
    }
}
