//! Answers to wishes in words: the smallest change that meets them, or what comes nearest.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use taintlab_core::plural::count;
use taintlab_core::solve::{Ask, Change, ENDLESS, Knob, Setting, Solve, WishOutcome};

use crate::parts::{Part, markdown, terminal};
use crate::table::Style;

/// Rows of a table printed at most; the JSON has all.
const MOST: usize = 20;

/// The result of a search, as far as it is told.
#[derive(Clone, Copy, Debug)]
pub struct SolveText<'a> {
    /// The search.
    pub solve: &'a Solve,
    /// Smallest changes that meet all wishes, with their patches.
    pub answers: &'a [Answer],
    /// Number of combinations that were tried.
    pub tried: usize,
    /// Whether the user stopped it.
    pub interrupted: bool,
    /// What comes nearest, if no change meets all wishes.
    pub front: &'a [Change],
}

/// A change that meets all wishes, as it can be made.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The change, with the outcome in the cluster to which its patch was applied.
    pub change: Change,
    /// YAML: merge patches of objects, and new objects. Empty if no object changes.
    pub patch: String,
}

impl SolveText<'_> {
    /// Whether all combinations were tried.
    #[must_use]
    pub fn is_proof(&self) -> bool {
        !self.interrupted && self.tried == self.solve.combinations()
    }
}

/// The result in a terminal.
#[must_use]
pub fn solve_terminal(text: &SolveText<'_>, style: Style) -> String {
    terminal(parts(text), style)
}

/// The result as Markdown.
#[must_use]
pub fn solve_markdown(text: &SolveText<'_>) -> String {
    markdown(parts(text))
}

/// Settings in words; `no change` for none.
#[must_use]
pub fn settings_words(settings: &[Setting]) -> String {
    if settings.is_empty() {
        return "no change".into();
    }
    settings.iter().map(ToString::to_string).collect::<Vec<_>>().join(" + ")
}

/// Lines that say what no patch can.
#[must_use]
pub fn setting_commands(settings: &[Setting]) -> Vec<String> {
    settings.iter().flat_map(Setting::commands).collect()
}

fn parts(text: &SolveText<'_>) -> Vec<Part> {
    let SolveText { solve, answers, tried, interrupted, front } = *text;
    let mut parts = Vec::new();
    let now = solve.now();
    let failures = count(solve.failures(), "failure");
    let Some(first) = answers.first() else {
        let said = if text.is_proof() {
            format!("No change in reach meets all wishes: all {} were tried", changes(tried))
        } else if interrupted {
            format!("Interrupted: none of {} that were tried meets all wishes", changes(tried))
        } else {
            let all = solve.combinations();
            format!("None of the smallest {tried} of {} meets all wishes", changes(all))
        };
        parts.push(Part::Heading(said));
        if solve.knobs().iter().any(|it| matches!(it, Knob::Seconds(_))) {
            let words = "A setting in seconds counts once: its values were tried by bisection";
            parts.push(Part::Line(words.into()));
        }
        parts.push(wishes(&now, None));
        parts.push(Part::Heading("What comes nearest".into()));
        parts.push(nearest(front));
        parts.extend(left_out(front.len(), "change"));
        parts.push(Part::Heading("What was in reach".into()));
        parts.extend(solve.knobs().iter().take(MOST).map(|it| Part::Line(it.to_string())));
        parts.extend(left_out(solve.knobs().len(), "setting"));
        return parts;
    };
    let settings = &first.change.settings;
    if settings.is_empty() {
        parts.push(Part::Heading("Nothing has to change: the cluster meets all wishes".into()));
        parts.push(wishes(&now, None));
        return parts;
    }
    parts.push(Part::Heading(format!("The smallest change: {}", settings_words(settings))));
    let order = if tried == 1 { String::new() } else { ", the smallest first".into() };
    parts.push(Part::Line(format!(
        "{} of {} tried{order}; applied and run again in {failures}, in which it meets all wishes",
        tried,
        changes(solve.combinations()),
    )));
    parts.push(wishes(&now, Some(&first.change)));
    for (place, answer) in answers.iter().enumerate() {
        if place > 0 {
            let words = settings_words(&answer.change.settings);
            parts.push(Part::Heading(format!("As small: {words}")));
        }
        if !answer.patch.is_empty() {
            parts.push(Part::Yaml(answer.patch.clone()));
        }
        let commands = setting_commands(&answer.change.settings);
        if !commands.is_empty() {
            parts.push(Part::Heading("Flags and commands".into()));
            parts.extend(commands.into_iter().map(Part::Command));
        }
    }
    parts
}

fn changes(number: usize) -> String {
    count(number, "change")
}

fn left_out(all: usize, what: &str) -> Option<Part> {
    let rest = all.saturating_sub(MOST);
    (rest > 0)
        .then(|| Part::Line(format!("and {}: see --json", count(rest, &format!("more {what}")))))
}

/// Wishes, as they are met now and with a change.
fn wishes(now: &Change, then: Option<&Change>) -> Part {
    let mut head = ["Wish", "Now", "If"].map(String::from).to_vec();
    if then.is_some() {
        head.push("Then".into());
    }
    let mut later = then.iter().flat_map(|it| &it.outcome.wishes);
    let row = |it: &WishOutcome| {
        let at = it.failure.clone().unwrap_or_else(|| "-".into());
        let then = later.next().map(worst);
        [it.wish.to_string(), worst(it), at].into_iter().chain(then).collect()
    };
    Part::Table(head, now.outcome.wishes.iter().map(row).collect())
}

/// The worst figure of a wish: `32.1s`, `never whole again`, `2 pods move`.
fn worst(it: &WishOutcome) -> String {
    match it.wish.ask {
        Ask::Within { .. } if it.endless => "never whole again".into(),
        Ask::Within { .. } => it.time.unwrap_or_default().to_string(),
        Ask::NoMove => match it.moved.unwrap_or_default() {
            0 => "no pod moves".into(),
            1 => "1 pod moves".into(),
            pods => format!("{pods} pods move"),
        },
    }
}

fn nearest(front: &[Change]) -> Part {
    let head = ["Change", "Time away", "Beyond the limit", "Pods moved for nothing"];
    let row = |it: &Change| {
        let outcome = &it.outcome;
        let (time, over) = match outcome.over {
            ENDLESS => ("never whole again".into(), "-".into()),
            over => (outcome.time.to_string(), over.to_string()),
        };
        Vec::from([settings_words(&it.settings), time, over, outcome.moved.to_string()])
    };
    Part::Table(head.map(String::from).to_vec(), front.iter().take(MOST).map(row).collect())
}
