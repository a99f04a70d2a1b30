//! Lanes: the segments in the life of each zone, node and pod, with the event that began each
//! segment and the cause of that event.
//!
//! Lanes are a view of the engine: states come from the simulation, in the same words as everywhere
//! else ([`pod_state`](taintlab_engine::pod_state), `ZoneState`). They are the one source for the
//! page, the picture, the book and the package, both of past events and of a forecast.

pub mod area;
pub mod comparison;
mod recorder;

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use serde::Serialize;
use taintlab_engine::pod_state::{PodHealth, PodVerdict};
use taintlab_rules::api::{NodeName, PodKey};
use taintlab_rules::protocol::zone::{ZoneKey, ZoneState};
use taintlab_rules::time::Timestamp;

pub use self::recorder::LaneRecorder;
use crate::scenario::{Player, Scenario, ScenarioError};

/// Lanes of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Lanes {
    /// Time up to which the lanes go: the end of every segment that has not ended.
    pub until: Timestamp,
    /// Start of the forecast; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast_from: Option<Timestamp>,
    /// Zones by name, then nodes by name, then pods by namespace and name.
    pub lanes: Vec<Lane>,
}

/// Life of one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Lane {
    /// The zone, node or pod.
    pub subject: LaneSubject,
    /// Segments in the order of time. The object did not exist in the gaps between them, before the
    /// first and after the last one.
    pub segments: Vec<Segment>,
}

/// Object of a lane.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum LaneSubject {
    /// A zone, as the node lifecycle controller sees it.
    Zone {
        /// The zone.
        zone: ZoneKey,
    },
    /// A node.
    Node {
        /// Its name.
        node: NodeName,
    },
    /// A pod. A pod that was recreated under the same name has the same lane.
    Pod {
        /// Namespace and name.
        pod: PodKey,
    },
}

/// `zone a`, `node n`, `pod default/p`.
impl fmt::Display for LaneSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zone { zone } if zone.name().is_empty() => f.write_str("nodes without a zone"),
            Self::Zone { zone } => write!(f, "zone {}", zone.name()),
            Self::Node { node } => write!(f, "node {node}"),
            Self::Pod { pod } => write!(f, "pod {pod}"),
        }
    }
}

/// A part of an object's life in which nothing about it changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Segment {
    /// Start of the segment.
    pub from: Timestamp,
    /// End of the segment, or of the lanes.
    pub to: Timestamp,
    /// Whether it has not ended where the lanes end.
    pub goes_on: bool,
    /// State of the object.
    pub state: LaneState,
    /// Reason, as Kubernetes gives it or in a few words: `NodeStatusUnknown`, `deleted at 5m50s`,
    /// `0/3 nodes are available: …`. Empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[cfg_attr(feature = "typescript-all", tsify(optional))]
    pub reason: String,
    /// NoExecute taints of a node: `node.kubernetes.io/unreachable:NoExecute`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript-all", tsify(optional))]
    pub taints: Vec<String>,
    /// Node of a pod; absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeName>,
    /// The event that began it; absent for an initial state.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript-all", tsify(type = "Cause"))]
    pub began: Option<Arc<Cause>>,
    /// Cause of that event: for an eviction the taint, for the taint the condition, for the
    /// condition the last heartbeat. Absent if it is unknown, or somebody's action.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript-all", tsify(type = "Cause"))]
    pub cause: Option<Arc<Cause>>,
}

/// An event that caused another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Cause {
    /// Time of the event.
    pub at: Timestamp,
    /// Index of the event among all events of the run, from 0.
    pub event: usize,
    /// Text of the event in one line.
    pub text: String,
}

/// State of an object during a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub enum LaneState {
    /// A node with the condition `Ready=True` and a connected kubelet; a ready pod.
    Ready,
    /// A node or a pod with the condition `Ready=False`.
    NotReady,
    /// A node that seems ready, but whose kubelet does not reach the API server.
    Unreachable,
    /// A node with the condition `Ready=Unknown`, or without one.
    Unknown,
    /// A pod without a node, which the scheduler has not tried yet.
    Pending,
    /// A pod for which the scheduler found no node.
    Unschedulable,
    /// A pod on a node, whose containers do not run yet.
    Starting,
    /// A pod whose `tolerationSeconds` are running out, or those of its claim.
    Counting,
    /// A deleted pod in its grace period.
    Terminating,
    /// A deleted pod whose kubelet does not confirm the deletion.
    Stuck,
    /// A pod evicted by its kubelet.
    Evicted,
    /// A pod whose containers have ended, at least one of them with an error.
    Failed,
    /// A pod whose containers have ended successfully.
    Succeeded,
    /// A zone without a decision yet.
    Initial,
    /// A zone most of whose nodes are ready.
    Normal,
    /// A zone many of whose nodes are not ready.
    PartialDisruption,
    /// A zone none of whose nodes is ready.
    FullDisruption,
}

impl LaneState {
    /// All states, in the order of legends.
    pub const ALL: [Self; 17] = [
        Self::Ready,
        Self::NotReady,
        Self::Unreachable,
        Self::Unknown,
        Self::Pending,
        Self::Unschedulable,
        Self::Starting,
        Self::Counting,
        Self::Terminating,
        Self::Stuck,
        Self::Evicted,
        Self::Failed,
        Self::Succeeded,
        Self::Initial,
        Self::Normal,
        Self::PartialDisruption,
        Self::FullDisruption,
    ];

    /// Name of the state: `ready`, `notReady`, `partialDisruption`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotReady => PodHealth::NotReady.as_str(),
            Self::Unreachable => "unreachable",
            Self::Unknown => "unknown",
            Self::Counting => PodVerdict::Counting.as_str(),
            Self::Terminating => PodVerdict::Terminating.as_str(),
            Self::Stuck => PodVerdict::Stuck.as_str(),
            Self::Initial => "initial",
            Self::Normal => "normal",
            Self::PartialDisruption => "partialDisruption",
            Self::FullDisruption => "fullDisruption",
            Self::Ready
            | Self::Pending
            | Self::Unschedulable
            | Self::Starting
            | Self::Evicted
            | Self::Failed
            | Self::Succeeded => self.words(),
        }
    }

    /// The state in words: `ready`, `counting down`, `FullDisruption`.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Ready => PodHealth::Ready.words(),
            Self::NotReady => PodHealth::NotReady.words(),
            Self::Unreachable => "kubelet unreachable",
            Self::Unknown => "Unknown",
            Self::Pending => PodHealth::Pending.words(),
            Self::Unschedulable => PodHealth::Unschedulable.words(),
            Self::Starting => PodHealth::Starting.words(),
            Self::Counting => PodVerdict::Counting.words(1),
            Self::Terminating => "Terminating",
            Self::Stuck => PodVerdict::Stuck.words(1),
            Self::Evicted => PodVerdict::Evicted.words(1),
            Self::Failed => PodHealth::Failed.words(),
            Self::Succeeded => PodHealth::Succeeded.words(),
            Self::Initial => ZoneState::Initial.as_str(),
            Self::Normal => ZoneState::Normal.as_str(),
            Self::PartialDisruption => ZoneState::PartialDisruption.as_str(),
            Self::FullDisruption => ZoneState::FullDisruption.as_str(),
        }
    }
}

impl From<ZoneState> for LaneState {
    fn from(state: ZoneState) -> Self {
        match state {
            ZoneState::Initial => Self::Initial,
            ZoneState::Normal => Self::Normal,
            ZoneState::PartialDisruption => Self::PartialDisruption,
            ZoneState::FullDisruption => Self::FullDisruption,
        }
    }
}

/// `ready`, `counting down` and so on.
impl fmt::Display for LaneState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// The segment in words: `ready`, or `ready, tainted`.
impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.state.words())?;
        if self.taints.is_empty() { Ok(()) } else { f.write_str(", tainted") }
    }
}

/// `node n: ready from 0s; kubelet unreachable from 40s (its network is cut); gone from 1m0s`.
impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.subject)?;
        let mut segments = self.segments.iter().peekable();
        while let Some(segment) = segments.next() {
            write!(f, " {segment} from {}", segment.from)?;
            if !segment.reason.is_empty() {
                write!(f, " ({})", segment.reason)?;
            }
            match segments.peek() {
                Some(next) if next.from == segment.to => f.write_str(";")?,
                Some(_) => write!(f, "; gone from {};", segment.to)?,
                None if segment.goes_on => {}
                None => write!(f, "; gone from {}", segment.to)?,
            }
        }
        Ok(())
    }
}

impl Lanes {
    /// Lanes of a scenario from its beginning to its end.
    ///
    /// # Errors
    /// As [`Scenario::run`].
    pub fn of(scenario: &Scenario) -> Result<Self, ScenarioError> {
        let mut simulator = scenario.simulator()?;
        let mut recorder = LaneRecorder::new(&simulator);
        let mut player = Player::new(scenario);
        recorder.play_to_end(&mut player, &mut simulator)?;
        Ok(recorder.lanes(simulator.now()))
    }

    /// Lane of an object.
    #[must_use]
    pub fn lane(&self, subject: &LaneSubject) -> Option<&Lane> {
        self.lanes.iter().find(|lane| lane.subject == *subject)
    }

    /// Time of the last change.
    #[must_use]
    pub fn last_change(&self) -> Timestamp {
        let segments = self.lanes.iter().flat_map(|lane| &lane.segments);
        let last = |it: &Segment| if it.goes_on { it.from } else { it.to };
        segments.map(last).max().unwrap_or_default()
    }
}
