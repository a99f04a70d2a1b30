//! Recordings, which the element `<taint-lab>` plays without the engine: JSON.

use serde::Serialize;
use taintlab_core::api::PodKey;
use taintlab_core::lanes::{Cause, Lane, LaneSubject, Segment};
use taintlab_core::time::{Timestamp, format_duration};

use super::{Demo, Run, outcome, rounded, terms};
use crate::svg::{look, name_of, rows_of, scale_of};

/// The format of recordings; it increases when an old element could not play a new recording.
const FORMAT: u32 = 1;
/// Pods whose time budgets are recorded at most.
const MOST_BUDGETS: usize = 12;

/// All runs of a demo. Times are whole milliseconds since the beginning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
pub struct Recording {
    /// The format: 1.
    pub taintlab: u32,
    /// The name of the scenario; empty if it has none.
    pub name: String,
    /// Its title, or else its name.
    pub title: String,
    /// The question it answers, with code in backticks.
    pub question: String,
    /// The answer, with code in backticks.
    pub answer: String,
    /// The scenario as it is written.
    pub yaml: String,
    /// What can be turned.
    pub knobs: Vec<RecordedKnob>,
    /// The run of the scenario as it is written, then the others.
    pub runs: Vec<RecordedRun>,
}

/// A value of the scenario that can be turned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
pub struct RecordedKnob {
    /// `tolerationSeconds`, `release`, or the name of a flag.
    pub name: String,
    /// The value in the scenario as it is written.
    pub written: String,
    /// All values, in the order in which they are offered.
    pub values: Vec<String>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
pub struct RecordedRun {
    /// The value of each knob.
    pub knobs: Vec<String>,
    /// The release of Kubernetes.
    pub release: String,
    /// How it ended, in a sentence.
    pub outcome: String,
    /// When something happened last, or when it ended if nothing did. (What a scenario expects can
    /// keep it running for longer.)
    pub end: u64,
    /// How far the axis of the picture goes.
    pub axis: u64,
    /// How far its marks are apart.
    pub step: u64,
    /// The rows of the picture, from above.
    pub lanes: Vec<RecordedLane>,
    /// What happened, in the order of time.
    pub events: Vec<RecordedRow>,
    /// Why the first pods that were evicted were evicted when they were.
    pub budgets: Vec<RecordedBudget>,
}

/// A row of the picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
pub struct RecordedLane {
    /// `zone/NAME`, `node/NAME` or `pod/NAMESPACE/NAME`.
    pub subject: String,
    /// How it is called in the picture.
    pub name: String,
    /// What it was.
    pub segments: Vec<RecordedSegment>,
}

/// What an object was for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
pub struct RecordedSegment {
    /// From when.
    pub from: u64,
    /// Until when; absent if it is still so at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
    /// What: `counting down`.
    pub text: String,
    /// How it is drawn: one letter for the colour (`g`reen, `y`ellow, `r`ed, `v`iolet, `n`eutral),
    /// and an `h` if it is hatched.
    pub look: String,
    /// Why, if there is something to say.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[cfg_attr(feature = "typescript", tsify(optional))]
    pub reason: String,
    /// Whether it is a node with a NoExecute taint.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "typescript", tsify(optional))]
    pub tainted: bool,
    /// The event that began it.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[cfg_attr(feature = "typescript", tsify(optional))]
    pub began: String,
    /// What caused that event, with its time.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[cfg_attr(feature = "typescript", tsify(optional))]
    pub cause: String,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
pub struct RecordedRow {
    /// When.
    pub at: u64,
    /// What.
    pub text: String,
    /// Whether the scenario did it, and not the cluster.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "typescript", tsify(optional))]
    pub step: bool,
}

/// Why a pod was evicted when it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
pub struct RecordedBudget {
    /// `NAMESPACE/NAME`.
    pub pod: String,
    /// How long it took, and from what on: `5m50s after the last heartbeat`.
    pub total: String,
    /// What adds up to it.
    pub terms: Vec<RecordedTerm>,
}

/// A part of a time budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct RecordedTerm {
    /// How long it takes: `5m0s`.
    pub takes: String,
    /// Until when: `5m50s`.
    pub until: String,
    /// What it is spent on.
    pub text: String,
    /// The flag or field that sets it; absent if none does.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[cfg_attr(feature = "typescript", tsify(optional))]
    pub set_by: String,
}

impl Recording {
    /// The runs of a demo.
    pub(super) fn of(demo: &Demo) -> Self {
        let metadata = &demo.scenario.metadata;
        let title = if metadata.title.is_empty() { &metadata.name } else { &metadata.title };
        Self {
            taintlab: FORMAT,
            name: metadata.name.clone(),
            title: title.clone(),
            question: metadata.question.trim().into(),
            answer: metadata.answer.trim().into(),
            yaml: demo.text.clone(),
            knobs: demo.knobs.clone(),
            runs: demo.runs().map(RecordedRun::of).collect(),
        }
    }
}

impl RecordedRun {
    fn of(run: &Run) -> Self {
        let simulator = &run.report.simulator;
        let last = run.rows.last().map_or(Timestamp::ZERO, |row| row.at);
        let last = last.max(run.lanes.last_change());
        let end = if last == Timestamp::ZERO { simulator.now() } else { last };
        let (axis, step) = scale_of(&run.lanes);
        let events = run.rows.iter().map(|row| RecordedRow {
            at: millis(row.at),
            text: row.text.clone(),
            step: row.is_step,
        });
        let evicted = simulator.evictions().filter(|(_, at)| *at <= simulator.now());
        let budgets = evicted.take(MOST_BUDGETS).filter_map(|(pod, _)| budget(run, pod));
        Self {
            knobs: run.values.clone(),
            release: simulator.config().release.to_string(),
            outcome: outcome(simulator),
            end: millis(end),
            axis: millis(axis),
            step: millis(step),
            lanes: rows_of(&run.lanes).into_iter().map(lane).collect(),
            events: events.collect(),
            budgets: budgets.collect(),
        }
    }
}

fn lane(lane: &Lane) -> RecordedLane {
    let subject = match &lane.subject {
        LaneSubject::Zone { zone } => format!("zone/{}", zone.name()),
        LaneSubject::Node { node } => format!("node/{node}"),
        LaneSubject::Pod { pod } => format!("pod/{pod}"),
    };
    let segments = lane.segments.iter().map(segment).collect();
    RecordedLane { subject, name: name_of(lane), segments }
}

fn segment(segment: &Segment) -> RecordedSegment {
    let (colour, hatched) = look(segment.state);
    let cause = |cause: &Cause| format!("{}: {}", cause.at, cause.text);
    RecordedSegment {
        from: millis(segment.from),
        to: (!segment.goes_on).then(|| millis(segment.to)),
        text: segment.to_string(),
        look: format!("{colour}{}", if hatched { "h" } else { "" }),
        reason: segment.reason.clone(),
        tainted: !segment.taints.is_empty(),
        began: segment.began.as_ref().map(|began| began.text.clone()).unwrap_or_default(),
        cause: segment.cause.as_deref().map(cause).unwrap_or_default(),
    }
}

fn budget(run: &Run, pod: &PodKey) -> Option<RecordedBudget> {
    let budget = taintlab_core::simulator::last_time_budget(&run.report.simulator, pod)?;
    let terms = terms(&budget).map(|term| RecordedTerm {
        takes: format_duration(term.rounded_duration()),
        until: term.end.rounded().to_string(),
        text: term.text.clone(),
        set_by: term.set_by.clone(),
    });
    Some(RecordedBudget {
        pod: pod.to_string(),
        total: format!("{} after {}", format_duration(budget.rounded_total()), budget.counted_from),
        terms: terms.collect(),
    })
}

fn millis(at: Timestamp) -> u64 {
    u64::try_from(rounded(at.since_zero()).as_millis()).unwrap_or(u64::MAX)
}
