//! Smallest outages in words.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use taintlab_core::outage::{Goal, Reached};
use taintlab_core::plural::count;
use taintlab_core::report::Millis;

use crate::parts::{Part, markdown, terminal};
use crate::table::Style;

/// Steps of a curve that are printed at most; the JSON has all.
const MOST: usize = 20;

/// The answer of a search, as far as it is told.
#[derive(Clone, Copy, Debug)]
pub struct OutageText<'a> {
    /// The goal.
    pub goal: &'a Goal,
    /// The smallest outage; `None` if none was found.
    pub found: Option<&'a Reached>,
    /// Greatest number of faults that was asked for.
    pub most_faults: usize,
    /// Number of outages that were tried.
    pub tried: usize,
    /// Whether every smaller outage, and every one before it in the order, was tried or ruled out.
    pub is_complete: bool,
    /// A link that plays it; empty if there is none.
    pub link: &'a str,
    /// Sentences about what the answer rests on.
    pub notes: &'a [String],
}

/// The answer in a terminal.
#[must_use]
pub fn outage_terminal(answer: &OutageText<'_>, style: Style) -> String {
    terminal(parts(answer), style)
}

/// The answer as Markdown.
#[must_use]
pub fn outage_markdown(answer: &OutageText<'_>) -> String {
    markdown(parts(answer))
}

fn parts(answer: &OutageText<'_>) -> Vec<Part> {
    let OutageText { goal, found, most_faults, tried, is_complete, link, notes } = *answer;
    let (what, at_end) = match goal {
        Goal::AtZero(subject) => (format!("{subject} to zero ready pods"), "at zero"),
        Goal::NotNormal(_) => (format!("{goal} out of Normal"), "not Normal"),
    };
    let tries = format!("{} tried", count(tried, "outage"));
    let mut parts = Vec::new();
    match found {
        None => {
            let faults = count(most_faults, "fault");
            parts.push(Part::Heading(format!("No outage of up to {faults} takes {what}")));
        }
        Some(reached) => {
            let faults = reached.faults.faults.len();
            let verb = if faults == 1 { "takes" } else { "take" };
            let faults =
                if faults == 0 { "No fault at all".into() } else { count(faults, "fault") };
            parts.push(Part::Heading(format!("{faults} {verb} {what}")));
            let (from, lasts) = (reached.at, reached.lasts);
            let till = if reached.at_the_end { ", until the end of the run" } else { "" };
            parts.push(Part::Line(format!("It is {at_end} from {from} on, for {lasts}{till}")));
        }
    }
    parts.push(Part::Line(match (is_complete, found) {
        (true, Some(_)) => format!("No smaller outage does; {tries}, the others are ruled out"),
        (true, None) => format!("{tries}, the others are ruled out"),
        (false, _) => format!("{tries}: not every one, so that a smaller outage may do"),
    }));
    parts.extend(notes.iter().cloned().map(Part::Line));
    let Some(reached) = found else { return parts };
    let head = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let rows =
        reached.faults.faults.iter().map(|timed| {
            Vec::from([Millis::from(timed.after).to_string(), timed.fault.to_string()])
        });
    parts.push(Part::Table(head(&["At", "Fault"]), rows.collect()));
    let ready = reached.ready.iter().take(MOST).map(|step| {
        Vec::from([step.at.to_string(), format!("{} of {}", step.ready.max(0), step.wanted)])
    });
    let states = reached.states.iter().take(MOST).map(|step| {
        let state = step.state.map_or_else(String::new, |state| state.to_string());
        Vec::from([step.at.to_string(), state])
    });
    let (ready, states): (Vec<_>, Vec<_>) = (ready.collect(), states.collect());
    if !ready.is_empty() {
        parts.push(Part::Table(head(&["At", "Ready"]), ready));
    }
    if !states.is_empty() {
        parts.push(Part::Table(head(&["At", "State"]), states));
    }
    if !link.is_empty() {
        parts.push(Part::Line(format!("See it: {link}")));
    }
    parts
}
