//! Demos: a scenario with its runs, for a page.
//!
//! A demo is the same wherever it is made: in a book by `mdbook-taintlab`, in another site's build
//! by the npm package, in the browser after a reader's edit. It has two forms. [`Demo::html`] is
//! plain HTML within the element `<taint-lab>` and needs no JavaScript; the element plays
//! [`Demo::recording`] without the engine.

mod embed;
mod fence;
mod figure;
mod html;
mod knob;
mod recording;
mod rows;

use std::fmt;
use std::time::Duration;

use taintlab_core::eviction_timeline::time_budget::{Term, TermKind, TimeBudget};
use taintlab_core::lanes::Lanes;
use taintlab_core::order::Order;
use taintlab_core::scenario::{Scenario, ScenarioError, ScenarioRun};
use taintlab_core::simulator::Simulator;
use taintlab_core::time::Timestamp;

pub use self::embed::{Embed, LONGEST_FRAGMENT, LONGEST_LINK, escape_in_fragment, scenario_link};
pub use self::fence::DemoOptions;
pub use self::html::{escape, prose};
pub use self::knob::Knob;
pub use self::recording::{
    RecordedBudget, RecordedKnob, RecordedLane, RecordedRow, RecordedRun, RecordedSegment,
    RecordedTerm, Recording,
};
pub use self::rows::{Row, rows};
use crate::scenario::write_scenario;

/// Runs recorded for one demo at most; with more, its knobs have too many values.
const MOST_RUNS: usize = 24;
/// Nodes and pods in a demo at most: nobody reads more lanes.
const MOST_OBJECTS: u64 = 1_000;

/// A scenario with all of its runs: first as written, then one for each setting of its knobs.
#[derive(Debug)]
pub struct Demo {
    scenario: Scenario,
    text: String,
    knobs: Vec<RecordedKnob>,
    /// The run of the scenario as written, and the runs with a knob turned.
    written: Run,
    turned: Vec<Run>,
}

/// A run, with its value of each knob.
#[derive(Debug)]
struct Run {
    values: Vec<String>,
    report: ScenarioRun,
    lanes: Lanes,
    rows: Vec<Row>,
}

/// The reason why a demo cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DemoError {
    /// The scenario cannot run.
    Scenario(ScenarioError),
    /// The scenario begins with this number of nodes and pods, which is too many.
    TooLarge(u64),
    /// An option is wrong; the text says how, and what would be valid.
    Option(String),
}

impl fmt::Display for DemoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario(error) => error.fmt(f),
            Self::TooLarge(number) => write!(
                f,
                "there are {number} nodes and pods; a demo is made of at most {MOST_OBJECTS}"
            ),
            Self::Option(error) => f.write_str(error),
        }
    }
}

impl std::error::Error for DemoError {}

impl From<ScenarioError> for DemoError {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(error)
    }
}

impl Demo {
    /// Runs a scenario as written and with each setting of the options' knobs. `text` is the
    /// scenario's source.
    ///
    /// If the options add steps, the scenario loses its expectations and its text is written anew.
    ///
    /// # Errors
    /// The scenario cannot run, as written or with a knob turned; it has too many nodes and pods; a
    /// knob does not fit it; the knobs have too many values.
    pub fn new(scenario: &Scenario, text: &str, options: &DemoOptions) -> Result<Self, DemoError> {
        let (mut scenario, mut text) = (scenario.clone(), text.to_owned());
        if !options.steps.is_empty() {
            scenario.clear_expectations();
            scenario.steps.extend(options.steps.iter().cloned());
            scenario.steps.order_by_key(|step| step.at);
            scenario.until = None;
            text = write_scenario(&scenario);
        }
        let number = scenario.objects.nodes_and_pods();
        if number > MOST_OBJECTS {
            return Err(DemoError::TooLarge(number));
        }
        let written = Run::new(&scenario, Vec::new())?;
        let mut knobs = Vec::new();
        // All settings: the values of all knobs, the last one turning fastest.
        let mut settings = vec![Vec::new()];
        for knob in &options.knobs {
            let known = knob.recorded(&scenario, &written.report.simulator);
            let known = known.map_err(DemoError::Option)?;
            settings = settings
                .into_iter()
                .flat_map(|setting: Vec<String>| {
                    let with = |value: &String| [setting.clone(), vec![value.clone()]].concat();
                    known.values.iter().map(with).collect::<Vec<_>>()
                })
                .collect();
            knobs.push(known);
        }
        if settings.len() > MOST_RUNS {
            return Err(DemoError::Option(format!(
                "the knobs have {} settings together; at most {MOST_RUNS} are recorded",
                settings.len()
            )));
        }
        let values: Vec<String> = knobs.iter().map(|knob| knob.written.clone()).collect();
        let mut runs = Vec::new();
        for setting in settings.into_iter().filter(|setting| *setting != values) {
            let mut scenario = scenario.clone();
            for ((knob, value), written) in options.knobs.iter().zip(&setting).zip(&values) {
                if value != written {
                    knob.turn(&mut scenario, value).map_err(DemoError::Option)?;
                }
            }
            runs.push(Run::new(&scenario, setting)?);
        }
        Ok(Self { scenario, text, knobs, written: Run { values, ..written }, turned: runs })
    }

    /// The recording that the element `<taint-lab>` plays.
    #[must_use]
    pub fn recording(&self) -> Recording {
        Recording::of(self)
    }

    /// The demo as HTML in one line: the element `<taint-lab>` with its recording and with a
    /// figure, which readers see without JavaScript. `packed` is [`text`](Self::text), deflated raw
    /// (RFC 1951), in base64url without padding, since this crate packs nothing. The playground
    /// needs it to open a scenario that is not one of its examples; if it is empty, there is no
    /// link.
    ///
    /// # Errors
    /// `start-at` lies after the end of the run, or `budget` names a pod that is not evicted.
    pub fn html(&self, options: &DemoOptions, packed: &str) -> Result<String, DemoError> {
        figure::html(self, options, packed).map_err(DemoError::Option)
    }

    /// The text of the scenario as written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The end of the run of the scenario as written.
    #[must_use]
    pub fn end(&self) -> Timestamp {
        self.written.report.simulator.now()
    }

    /// The lanes of the scenario as written.
    #[must_use]
    pub fn lanes(&self) -> &Lanes {
        &self.written.lanes
    }

    /// Whether every expectation of the scenario was met.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.written.report.passed()
    }

    /// The title of the scenario; empty if it has none.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.scenario.metadata.title
    }

    /// All runs; that of the scenario as written comes first.
    fn runs(&self) -> impl Iterator<Item = &Run> {
        std::iter::once(&self.written).chain(&self.turned)
    }
}

impl Run {
    fn new(scenario: &Scenario, values: Vec<String>) -> Result<Self, ScenarioError> {
        let report = scenario.run()?;
        let rows = rows(scenario, &report);
        Ok(Self { values, lanes: Lanes::of(scenario)?, rows, report })
    }
}

/// The end of a run, in a sentence.
#[must_use]
pub fn outcome(simulator: &Simulator) -> String {
    if let Some(outcome) = simulator.outcome() {
        return format!("{outcome}.");
    }
    let evicted = match simulator.evictions_until_now() {
        0 => "no pod was evicted".into(),
        1 => "1 pod evicted".into(),
        pods => format!("{pods} pods evicted"),
    };
    format!("Until {}: {evicted}.", simulator.now())
}

/// The nearest millisecond, for display where nanoseconds do not matter.
#[must_use]
pub fn rounded(span: Duration) -> Duration {
    let millis = (span + Duration::from_micros(500)).as_millis();
    Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
}

/// The terms of a time budget that a reader sees: all but those whose time rounds to zero tenths of
/// a second; the term of the taint always counts.
pub fn terms(budget: &TimeBudget) -> impl Iterator<Item = &Term> {
    let terms = budget.terms.iter();
    terms.filter(|term| !term.rounded_duration().is_zero() || term.kind == TermKind::Tainted)
}
