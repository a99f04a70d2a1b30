//! Demos: a scenario that has run, as a page shows it.
//!
//! A demo is the same wherever it is made: in a book by `mdbook-taintlab`, in another site's build
//! by the npm package, in the browser after a reader's edit. It has two forms. [`Demo::html`] is
//! plain HTML that needs no JavaScript, within the element `<taint-lab>`; [`Demo::recording`] is
//! what the element plays without the engine.

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

pub use self::embed::{Embed, LONGEST_FRAGMENT, LONGEST_LINK, escape_in_fragment};
pub use self::fence::DemoOptions;
pub use self::html::{escape, prose};
pub use self::knob::Knob;
pub use self::recording::{
    RecordedBudget, RecordedKnob, RecordedLane, RecordedRow, RecordedRun, RecordedSegment,
    RecordedTerm, Recording,
};
pub use self::rows::{Row, rows};
use crate::scenario::write_scenario;

/// More runs than these are not recorded for one demo: its knobs have too many values.
const MOST_RUNS: usize = 24;
/// Of more nodes and pods no demo is made: nobody reads so many lanes.
const MOST_OBJECTS: u64 = 1_000;

/// A scenario with all of its runs: as it is written first, then one for each setting of its knobs.
#[derive(Debug)]
pub struct Demo {
    scenario: Scenario,
    text: String,
    knobs: Vec<RecordedKnob>,
    /// The run of the scenario as it is written, and those with a knob turned.
    written: Run,
    turned: Vec<Run>,
}

/// A run, and the value of each knob that it stands for.
#[derive(Debug)]
struct Run {
    values: Vec<String>,
    report: ScenarioRun,
    lanes: Lanes,
    rows: Vec<Row>,
}

/// Why a demo cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DemoError {
    /// The scenario cannot run.
    Scenario(ScenarioError),
    /// The scenario has so many nodes and pods at the beginning, which is too many.
    TooLarge(u64),
    /// An option is wrong: what, and what would be valid.
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
    /// Runs a scenario as it is written and with each setting of the knobs of the options. `text`
    /// is how it is written.
    ///
    /// The steps of the options are added to the scenario; what it expects is then left out, and
    /// its text is written anew.
    ///
    /// # Errors
    /// The scenario cannot run, also with a knob turned; it has too many nodes and pods; a knob
    /// does not fit it; the knobs have too many values.
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
        // Every setting: the values of all knobs, the last one turning fastest.
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

    /// What the element `<taint-lab>` plays.
    #[must_use]
    pub fn recording(&self) -> Recording {
        Recording::of(self)
    }

    /// The demo as HTML in one line: the element `<taint-lab>` with a figure in it, which is what
    /// is seen without JavaScript, and with the recording. `packed` is [`text`](Self::text),
    /// deflated as it is (RFC 1951), in base64url without padding, for this crate packs nothing;
    /// with it the playground opens a scenario that is none of its examples, without it (empty)
    /// there is no link.
    ///
    /// # Errors
    /// `start-at` lies after the end of the run, or `budget` names a pod that is not evicted.
    pub fn html(&self, options: &DemoOptions, packed: &str) -> Result<String, DemoError> {
        figure::html(self, options, packed).map_err(DemoError::Option)
    }

    /// The scenario as it is written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// When the run of the scenario as it is written ends.
    #[must_use]
    pub fn end(&self) -> Timestamp {
        self.written.report.simulator.now()
    }

    /// The lanes of the scenario as it is written.
    #[must_use]
    pub fn lanes(&self) -> &Lanes {
        &self.written.lanes
    }

    /// Whether every expectation of the scenario turned out to be true.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.written.report.passed()
    }

    /// Its title, empty if it has none.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.scenario.metadata.title
    }

    /// All runs, that of the scenario as it is written first.
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

/// How a run ended, in a sentence.
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

/// The nearest millisecond: what is shown where the nanosecond does not matter.
#[must_use]
pub fn rounded(span: Duration) -> Duration {
    let millis = (span + Duration::from_micros(500)).as_millis();
    Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
}

/// The terms of a time budget that a reader sees, to a tenth of a second: those that take any time.
pub fn terms(budget: &TimeBudget) -> impl Iterator<Item = &Term> {
    let terms = budget.terms.iter();
    terms.filter(|term| !term.rounded_duration().is_zero() || term.kind == TermKind::Tainted)
}
