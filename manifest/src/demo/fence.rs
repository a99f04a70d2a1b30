//! The options of a demo: the words after ` ```taintlab `.

use std::time::Duration;

use taintlab_core::api::PodKey;
use taintlab_core::scenario::Step;
use taintlab_core::time::{Timestamp, parse_duration};

use super::knob::Knob;

/// Options of a demo; [`DemoOptions::parse`] reads most of them from a fence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DemoOptions {
    /// The words of the fence that the options were read from.
    pub words: String,
    /// The name of the scenario's file; if absent, the fence holds the scenario.
    pub scenario: Option<String>,
    /// The moment at which the reader starts.
    pub start_at: Option<Timestamp>,
    /// The pod whose time budget the figure shows.
    pub budget: Option<PodKey>,
    /// The knobs, each recorded with several values.
    pub knobs: Vec<Knob>,
    /// Further attributes of the element `<taint-lab>`, by name.
    pub attributes: Vec<(String, String)>,
    /// The id of the figure, `taintlab-` and the scenario's name if empty; ids inside it begin with
    /// it. Two demos in one page need different ones.
    pub id: String,
    /// The address of the playground for links, absolute or relative to the page, with `/` at its
    /// end; no links if empty.
    pub playground: String,
    /// Whether the scenario is one of the playground's examples, so that links only name it.
    pub is_example: bool,
    /// Steps to add to those of the scenario.
    pub steps: Vec<Step>,
}

/// An attribute of the element that a fence passes on: its name, its valid values in words, and a
/// test for them.
type Passed = (&'static str, &'static str, fn(&str) -> bool);

const PASSED: [Passed; 8] = [
    ("until", "a duration such as 5m0s", |value| parse_duration(value).is_ok()),
    ("speed", "simulated seconds per second, such as 30", is_speed),
    ("select", "node/NAME, zone/NAME or pod/NAMESPACE/NAME", is_subject),
    ("view", "lanes, log or budget", |value| matches!(value, "lanes" | "log" | "budget")),
    ("controls", "all or none", |value| matches!(value, "all" | "none")),
    ("theme", "auto, light or dark", |value| matches!(value, "auto" | "light" | "dark")),
    ("compare", "KNOB:VALUE", |value| value.contains(':')),
    ("editable", "true or false", |value| matches!(value, "true" | "false")),
];

fn is_speed(value: &str) -> bool {
    value.parse::<f64>().is_ok_and(|speed| speed.is_finite() && speed > 0.0)
}

fn is_subject(value: &str) -> bool {
    let kind = value.split_once('/').map(|(kind, _)| kind);
    matches!(kind, Some("node" | "zone" | "pod"))
}

impl DemoOptions {
    /// Reads words such as `scenario=why-345-seconds start-at=40s`.
    ///
    /// # Errors
    /// The word that is wrong, and what would be valid.
    pub fn parse(words: &str) -> Result<Self, String> {
        let mut options = Self { words: words.trim().to_owned(), ..Self::default() };
        for word in words.split_whitespace() {
            let Some((name, value)) = word.split_once('=') else { return Err(unknown(word)) };
            match name {
                "scenario" => options.scenario = Some(value.into()),
                "start-at" => {
                    let at = parse_duration(value);
                    let at: Duration = at.map_err(|error| format!("start-at: {error}"))?;
                    options.start_at = Some(Timestamp::ZERO.saturating_add(at));
                }
                "budget" => {
                    let pod = PodKey::parse(value).map_err(|error| format!("budget: {error}"))?;
                    options.budget = Some(pod);
                }
                "knob" => {
                    let knob = Knob::parse(value).map_err(|error| format!("knob: {error}"))?;
                    options.knobs.push(knob);
                }
                _ => {
                    let known = PASSED.iter().find(|(known, _, _)| *known == name);
                    let Some((_, valid, is_valid)) = known else { return Err(unknown(word)) };
                    if !is_valid(value) {
                        return Err(format!("{name}: expected {valid}, found `{value}`"));
                    }
                    options.attributes.push((name.into(), value.into()));
                }
            }
        }
        Ok(options)
    }

    /// Whether a reader may edit the scenario.
    pub(super) fn is_editable(&self) -> bool {
        !self.attributes.iter().any(|(name, value)| name == "editable" && value == "false")
    }
}

fn unknown(word: &str) -> String {
    let passed = PASSED.iter().map(|(name, _, _)| *name).collect::<Vec<_>>().join("=…`, `");
    format!(
        "`{word}` is no attribute of a `taintlab` fence; valid are `scenario=NAME`, \
         `start-at=TIME`, `budget=NAMESPACE/POD`, `knob=NAME:VALUE,VALUE`, `{passed}=…`"
    )
}
