//! The console: lines of kubectl that were typed, and those that would do what was clicked.

use std::rc::Rc;

use taintlab_core::command::Command;
use taintlab_core::simulator::Simulator;
use taintlab_core::time::Timestamp;
use taintlab_manifest::kubectl::{Completion, Context, command_line_of, complete, run};

use super::App;

/// So many entries are kept; a table of a large cluster is long.
const MOST_ENTRIES: usize = 200;
/// A click gives at most so many lines to copy.
const MOST_LINES: usize = 40;

/// Something that is shown in the console.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Turns over with every entry, to tell them apart.
    pub(crate) number: usize,
    /// When, on the simulated clock.
    pub(crate) at: Timestamp,
    /// The lines, as they could be pasted into a shell.
    pub(crate) line: Rc<str>,
    /// What came of it.
    pub(crate) outcome: Outcome,
}

/// What came of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was typed: what a terminal shows, and whether it failed.
    Typed(String, bool),
    /// It was not typed: something was done by hand that the line would do as well.
    Clicked,
}

impl App {
    /// Runs a line at the time that the clock shows. What it does is one edit.
    pub(super) fn kubectl(&mut self, line: String) {
        let at = self.session.now();
        let events = self.session.events();
        let outcome = run(&Context::new(self.session.simulator(), &events), &line, None);
        drop(events);
        let (mut text, mut failed) = (outcome.terminal, outcome.exit_code != 0);
        if !outcome.commands.is_empty()
            && let Err(error) = self.carry_out(outcome.commands)
        {
            text = format!("{text}Error from server: {error}\n");
            failed = true;
        }
        self.announcement = if failed { "kubectl failed" } else { "kubectl is done" }.into();
        self.enter(at, line.into(), Outcome::Typed(text, failed));
    }

    /// What could stand at the cursor.
    pub(super) fn complete(&self, line: &str, cursor: usize) -> Vec<Completion> {
        complete(&Context::new(self.session.simulator(), &[]), line, cursor)
    }

    pub(super) fn enter(&mut self, at: Timestamp, line: Rc<str>, outcome: Outcome) {
        self.entries_made += 1;
        let entry = Entry { number: self.entries_made, at, line, outcome };
        let entries = Rc::make_mut(&mut self.console);
        if entries.len() >= MOST_ENTRIES {
            entries.remove(0);
        }
        entries.push(Rc::new(entry));
    }
}

/// The lines of kubectl that do what these commands do, as far as kubectl can. To be asked before
/// they are carried out.
pub(super) fn lines_of(commands: &[Command], simulator: &Simulator) -> Option<String> {
    let lines = commands.iter().take(MOST_LINES).filter_map(|one| command_line_of(one, simulator));
    let mut lines = merged(lines.collect());
    if commands.len() > MOST_LINES {
        lines.push(format!("# and {} more", commands.len() - MOST_LINES));
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Makes one line of lines that do the same to several nodes, which kubectl takes in one.
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
