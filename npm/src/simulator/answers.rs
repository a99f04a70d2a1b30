//! Options and answers of the simulator.

use serde::{Deserialize, Serialize};
use taintlab_core::command::Command;
use taintlab_core::event::{Event, EventVisibility, TimeoutReason};
use taintlab_core::time::Timestamp;
use tsify::Tsify;

use crate::options::DurationText;

/// How far a simulation has come.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// Whether it worked: yes.
    #[tsify(type = "true")]
    pub ok: bool,
    /// The time the simulation has reached.
    pub now: Timestamp,
    /// How many events wait for `events()`.
    pub pending_events: usize,
    /// Why a run ended.
    pub stopped: Stopped,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub enum Stopped {
    /// The moment that was asked for has come.
    Reached,
    /// The predicate said so.
    Predicate,
    /// Nothing more will happen by itself.
    Idle,
}

/// Something that happened, with its time.
#[derive(Serialize, Tsify)]
pub struct DescribedEvent {
    /// What and when.
    #[serde(flatten)]
    #[tsify(type = "SimulationEvent")]
    pub event: Event,
    /// The same in one line; only if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Who would see it in a real cluster; only if `text` was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visibility: Option<EventVisibility>,
}

/// Which events, and how.
#[derive(Debug, Default, Deserialize, Tsify)]
#[serde(default, deny_unknown_fields)]
pub struct EventsOptions {
    /// How many at most; 10,000 unless given. Call again until none is left.
    #[tsify(type = "number")]
    pub limit: Option<usize>,
    /// Whether each has a `text` and a `visibility`.
    pub text: bool,
}

/// How far a run goes at most.
#[derive(Debug, Default, Deserialize, Tsify)]
#[serde(default, deny_unknown_fields)]
pub struct RunOptions {
    /// The last moment, as the time since the start; a day from now unless given.
    #[tsify(type = "Span")]
    pub until: Option<DurationText>,
}

/// What a line of kubectl reads besides itself.
#[derive(Debug, Default, Deserialize, Tsify)]
#[serde(default, deny_unknown_fields)]
pub struct KubectlOptions {
    /// The namespace that is meant unless `-n` is given; `default` unless given.
    pub namespace: String,
    /// The standard input, for `-f -`.
    #[tsify(type = "string")]
    pub stdin: Option<String>,
}

/// What came of a line of kubectl.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct KubectlOutcome {
    /// Whether the line was run: yes. Whether kubectl was content says `exitCode`.
    #[tsify(type = "true")]
    pub ok: bool,
    /// What goes to the standard output.
    pub stdout: String,
    /// What goes to the standard error output.
    pub stderr: String,
    /// Both in the order in which they were written, as a terminal shows them.
    pub terminal: String,
    /// 0 if all went well, otherwise 1.
    pub exit_code: u8,
    /// What the line did to the cluster; there can be something although it failed.
    pub commands: Vec<Command>,
}

/// Which pods.
#[derive(Debug, Default, Deserialize, Tsify)]
#[serde(default, deny_unknown_fields)]
pub struct PodsOptions {
    /// Only those of this namespace.
    #[tsify(type = "string")]
    pub namespace: Option<String>,
    /// Only those on this node.
    #[tsify(type = "string")]
    pub node: Option<String>,
}

/// The next moment at which something happens.
#[derive(Serialize, Tsify)]
pub struct NextDeadline {
    /// When.
    pub at: Timestamp,
    /// What happens.
    #[tsify(type = "TimeoutReason | { type: \"scenarioStep\"; command: Command }")]
    pub reason: DeadlineReason,
    /// The same in words: `default/web-0 is deleted`.
    pub text: String,
}

/// The reason for a deadline.
#[derive(Serialize)]
#[serde(untagged)]
#[doc(hidden)]
pub enum DeadlineReason {
    /// A deadline of the engine.
    Engine(TimeoutReason),
    /// A step of a scenario.
    Step {
        #[serde(rename = "type")]
        type_: &'static str,
        command: Box<Command>,
    },
}
