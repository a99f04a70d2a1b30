//! The entries of the console.

use std::rc::Rc;

use taintlab_core::time::Timestamp;

/// So many entries are kept; a table of a large cluster is long.
pub(crate) const MOST_ENTRIES: usize = 200;

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
    /// It was typed: what a terminal shows.
    Typed(Printed),
    /// It was not typed: something was done by hand that the line would do as well.
    Clicked,
}

/// What a line printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Printed {
    /// What a terminal shows.
    pub(crate) text: String,
    /// Whether it failed.
    pub(crate) failed: bool,
    /// The drain that it began, which prints more as time passes.
    pub(crate) drain: Option<Drain>,
}

/// A drain that a line began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Drain {
    /// Its number.
    pub(crate) id: u64,
    /// Whether it is under way.
    pub(crate) runs: bool,
    /// What the line printed before the drain printed anything.
    pub(crate) head: String,
}
