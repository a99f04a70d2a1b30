//! The entries of the console.

use std::rc::Rc;

use taintlab_core::time::Timestamp;

/// Entries that are kept at most; a table of a large cluster is long.
pub(crate) const MOST_ENTRIES: usize = 200;

/// An entry of the console.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// A number that grows with every entry, to tell them apart.
    pub(crate) number: usize,
    /// The time of the simulated clock.
    pub(crate) at: Timestamp,
    /// The lines, as they could be pasted into a shell.
    pub(crate) line: Rc<str>,
    /// The outcome.
    pub(crate) outcome: Outcome,
}

/// The outcome of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The line was typed: the output of a terminal.
    Typed(Printed),
    /// The line was not typed: it would do the same as a change by hand.
    Clicked,
}

/// The output of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Printed {
    /// The text in the terminal.
    pub(crate) text: String,
    /// Whether the line failed.
    pub(crate) failed: bool,
    /// The drain that it began, which prints more as time passes.
    pub(crate) drain: Option<Drain>,
}

/// A drain that a line began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Drain {
    /// The number.
    pub(crate) id: u64,
    /// Whether it is under way.
    pub(crate) runs: bool,
    /// The output of the line before the drain printed anything.
    pub(crate) head: String,
}
