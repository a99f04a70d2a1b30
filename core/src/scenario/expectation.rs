//! What a scenario expects, and whether it turned out to be true.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::api::{ConditionStatus, PodKey, Quantity, Taint, TaintEffect, WorkloadKey, is_default};
use crate::event::{
    Event, Happening, NodesPerSecond, ObjectReference, RecordedEvent, RequestResult, RequestVerb,
};
use crate::kubelet::{Report, Signal};
use crate::node_lifecycle::zone::{ZoneKey, ZoneState};
use crate::simulator::{Simulator, pod_status};
use crate::time::{Span, Timestamp};

/// Something that must turn out to be true.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Expectation {
    /// A controller deletes the pod, so that the API server accepts a `DELETE` for it, or its
    /// kubelet kills it to free what it uses.
    Evicted(PodExpectation),
    /// No controller deletes the pod, nor does its kubelet kill it (in the given time).
    NotEvicted(PodExpectation),
    /// The pod object is gone, after its grace period.
    Gone(PodExpectation),
    /// The pod object is still there at the end.
    Present(PodExpectation),
    /// A component records such an event.
    Event(EventExpectation),
    /// No component records such an event (in the given time).
    NoEvent(EventExpectation),
    /// The node lifecycle controller gives the node such a taint.
    NodeTainted(TaintExpectation),
    /// The node lifecycle controller gives the node no such taint (in the given time).
    NodeNotTainted(TaintExpectation),
    /// The node lifecycle controller takes such a taint off the node.
    NodeUntainted(TaintExpectation),
    /// A condition of the node comes to have that status.
    NodeCondition(ConditionExpectation),
    /// No condition of the node comes to have that status (in the given time).
    NoNodeCondition(ConditionExpectation),
    /// The zone comes into that state.
    ZoneState(ZoneExpectation),
    /// The zone does not come into that state (in the given time).
    NoZoneState(ZoneExpectation),
    /// The zone gets that rate.
    ZoneRate(RateExpectation),
    /// At the end the kubelet of a node would evict these pods in this order.
    Ranking(RankingExpectation),
    /// At the end there is so much left of what a signal watches.
    Available(AvailableExpectation),
    /// So many pods of the workload are ready.
    ReadyReplicas(ReplicasExpectation),
    /// It never happens that so many pods of the workload are ready (in the given time).
    NoReadyReplicas(ReplicasExpectation),
    /// What the outage was like for the workload, looked at from the end.
    Availability(AvailabilityExpectation),
    /// The scheduler binds the pod to a node.
    Scheduled(ScheduledExpectation),
    /// The scheduler does not bind the pod, or not to that node (in the given time).
    NotScheduled(ScheduledExpectation),
    /// So many pods of the workload are on the node at the end, those that are terminating
    /// included.
    PodsOn(PodsOnExpectation),
    /// The pod has that status at the end, as `kubectl get pods` shows it: `Terminating`.
    PodStatus(PodStatusExpectation),
}

/// How many ready pods of which workload, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReplicasExpectation {
    /// Which workload: `deployment/web`.
    pub workload: WorkloadKey,
    /// How many are ready; those that are terminating do not count.
    pub replicas: u32,
    /// At this time there are so many.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at: Option<Span>,
    /// At this time or before.
    #[serde(default, skip_serializing_if = "is_default")]
    pub by: Option<Span>,
    /// At this time or later.
    #[serde(default, skip_serializing_if = "is_default")]
    pub from: Option<Span>,
}

/// What an outage was like for a workload. Fields that are left out match everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AvailabilityExpectation {
    /// Which workload: `deployment/web`.
    pub workload: WorkloadKey,
    /// The longest time with fewer ready pods than wanted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub longest_below: Option<Span>,
    /// The longest time without any ready pod.
    #[serde(default, skip_serializing_if = "is_default")]
    pub longest_at_zero: Option<Span>,
    /// The time that missing pods were missing, added up over all of them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub replica_time_lost: Option<Span>,
}

/// Which pod on which node, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScheduledExpectation {
    /// Which pod, `namespace/name`.
    pub pod: PodKey,
    /// Which node; any unless given.
    #[serde(default, skip_serializing_if = "is_default")]
    pub node: String,
    /// Exactly at this time.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at: Option<Span>,
    /// At this time or before.
    #[serde(default, skip_serializing_if = "is_default")]
    pub by: Option<Span>,
    /// At this time or later.
    #[serde(default, skip_serializing_if = "is_default")]
    pub from: Option<Span>,
}

/// How many pods of which workload on which node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PodsOnExpectation {
    /// Which workload: `deployment/web`.
    pub workload: WorkloadKey,
    /// Which node; empty for none.
    pub node: String,
    /// How many.
    pub pods: u32,
}

/// Which status of which pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PodStatusExpectation {
    /// Which pod, `namespace/name`.
    pub pod: PodKey,
    /// The status, for example `Running`, `Pending`, `ContainerCreating` or `Terminating`.
    pub status: String,
}

/// Which taint of which node, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaintExpectation {
    /// Which node.
    pub node: String,
    /// The key of the taint; any unless given.
    #[serde(default, skip_serializing_if = "is_default")]
    pub key: String,
    /// The effect of the taint; `NoExecute` unless given.
    #[serde(default = "no_execute", skip_serializing_if = "is_no_execute")]
    pub effect: TaintEffect,
    /// Exactly at this time.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at: Option<Span>,
    /// At this time or before.
    #[serde(default, skip_serializing_if = "is_default")]
    pub by: Option<Span>,
    /// At this time or later.
    #[serde(default, skip_serializing_if = "is_default")]
    pub from: Option<Span>,
}

fn no_execute() -> TaintEffect {
    TaintEffect::NoExecute
}

fn is_no_execute(effect: &TaintEffect) -> bool {
    *effect == TaintEffect::NoExecute
}

/// Which status of which condition, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConditionExpectation {
    /// Which node.
    pub node: String,
    /// The type of the condition; `Ready` unless given.
    #[serde(rename = "type", default = "ready", skip_serializing_if = "is_ready")]
    pub type_: String,
    /// The status.
    pub status: ConditionStatus,
    /// Exactly at this time.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at: Option<Span>,
    /// At this time or before.
    #[serde(default, skip_serializing_if = "is_default")]
    pub by: Option<Span>,
    /// At this time or later.
    #[serde(default, skip_serializing_if = "is_default")]
    pub from: Option<Span>,
}

fn ready() -> String {
    "Ready".into()
}

fn is_ready(type_: &str) -> bool {
    type_ == "Ready"
}

/// Which state of which zone, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ZoneExpectation {
    /// Which zone: `region/zone`, or its zone label alone; empty for nodes without these labels.
    pub zone: String,
    /// The state.
    pub state: ZoneState,
    /// Exactly at this time.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at: Option<Span>,
    /// At this time or before.
    #[serde(default, skip_serializing_if = "is_default")]
    pub by: Option<Span>,
    /// At this time or later.
    #[serde(default, skip_serializing_if = "is_default")]
    pub from: Option<Span>,
}

/// Which rate of which zone, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RateExpectation {
    /// Which zone: `region/zone`, or its zone label alone; empty for nodes without these labels.
    pub zone: String,
    /// Nodes per second; 0 if the zone is stopped.
    pub rate: NodesPerSecond,
    /// Exactly at this time.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at: Option<Span>,
    /// At this time or before.
    #[serde(default, skip_serializing_if = "is_default")]
    pub by: Option<Span>,
    /// At this time or later.
    #[serde(default, skip_serializing_if = "is_default")]
    pub from: Option<Span>,
}

/// Who would go first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RankingExpectation {
    /// Which node.
    pub node: String,
    /// Of what there is too little: a signal, for example `memory.available`.
    pub signal: Signal,
    /// The first pods of the ranking, `namespace/name`, in order.
    pub pods: Vec<PodKey>,
}

/// How much is left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AvailableExpectation {
    /// Which node.
    pub node: String,
    /// Of what: a signal, for example `memory.available`.
    pub signal: Signal,
    /// How much.
    pub amount: Quantity,
}

/// Which pod, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PodExpectation {
    /// Which pod, `namespace/name`.
    pub pod: PodKey,
    /// Exactly at this time.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at: Option<Span>,
    /// At this time or before.
    #[serde(default, skip_serializing_if = "is_default")]
    pub by: Option<Span>,
    /// At this time or later.
    #[serde(default, skip_serializing_if = "is_default")]
    pub from: Option<Span>,
}

/// Which event, and when. Fields that are left out match everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct EventExpectation {
    /// The pod it is about, `namespace/name`.
    #[serde(skip_serializing_if = "is_default")]
    pub pod: Option<PodKey>,
    /// The node it is about.
    #[serde(skip_serializing_if = "is_default")]
    pub node: Option<String>,
    /// The workload it is about: `deployment/web`.
    #[serde(skip_serializing_if = "is_default")]
    pub workload: Option<WorkloadKey>,
    /// The reason, for example `TaintManagerEviction`.
    #[serde(skip_serializing_if = "is_default")]
    pub reason: Option<String>,
    /// The whole message.
    #[serde(skip_serializing_if = "is_default")]
    pub message: Option<String>,
    /// Exactly at this time.
    #[serde(skip_serializing_if = "is_default")]
    pub at: Option<Span>,
    /// At this time or before.
    #[serde(skip_serializing_if = "is_default")]
    pub by: Option<Span>,
    /// At this time or later.
    #[serde(skip_serializing_if = "is_default")]
    pub from: Option<Span>,
    /// Exactly this many such events; at least one unless given.
    #[serde(skip_serializing_if = "is_default")]
    pub times: Option<u32>,
}

/// Whether an expectation turned out to be true.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// The expectation in words: `default/web-1 is evicted at 5m0s`.
    pub expectation: String,
    /// What happened instead; absent if it was true.
    pub failure: Option<String>,
}

/// A time in an expectation.
#[derive(Clone, Copy, Debug)]
struct Window {
    at: Option<Span>,
    by: Option<Span>,
    from: Option<Span>,
}

impl Window {
    fn contains(self, time: Timestamp) -> bool {
        self.at.is_none_or(|at| time == at.timestamp())
            && self.by.is_none_or(|by| time <= by.timestamp())
            && self.from.is_none_or(|from| time >= from.timestamp())
    }

    fn last_moment(self) -> Option<Timestamp> {
        [self.at, self.by, self.from].into_iter().flatten().map(Span::timestamp).max()
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (word, time) in [("at", self.at), ("from", self.from), ("by", self.by)] {
            if let Some(time) = time {
                write!(f, " {word} {time}")?;
            }
        }
        Ok(())
    }
}

macro_rules! window {
    ($($type:ident),+) => {
        $(impl $type {
            fn window(&self) -> Window {
                Window { at: self.at, by: self.by, from: self.from }
            }
        })+
    };
}

window!(
    PodExpectation,
    EventExpectation,
    TaintExpectation,
    ConditionExpectation,
    ZoneExpectation,
    RateExpectation,
    ReplicasExpectation,
    ScheduledExpectation
);

impl TaintExpectation {
    fn matches(&self, taint: &Taint) -> bool {
        taint.effect == self.effect && (self.key.is_empty() || taint.key == self.key)
    }
}

/// The taint as text; without a key, any.
impl fmt::Display for TaintExpectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", if self.key.is_empty() { "*" } else { &self.key }, self.effect)
    }
}

fn is_zone(zone: &ZoneKey, text: &str) -> bool {
    zone.name() == text || !text.is_empty() && zone.zone() == text
}

/// A zone in a sentence.
fn zone(text: &str) -> String {
    if text.is_empty() { "nodes without a zone".into() } else { format!("zone {text}") }
}

impl EventExpectation {
    fn matches(&self, event: &RecordedEvent) -> bool {
        let about = match &event.involved_object {
            ObjectReference::Pod { pod, .. } => {
                self.node.is_none()
                    && self.workload.is_none()
                    && self.pod.as_ref().is_none_or(|wanted| wanted == pod)
            }
            ObjectReference::Node { node } => {
                let wanted = self.node.as_deref();
                self.pod.is_none()
                    && self.workload.is_none()
                    && wanted.is_none_or(|wanted| wanted == node.as_str())
            }
            ObjectReference::Workload { workload } => {
                self.pod.is_none()
                    && self.node.is_none()
                    && self.workload.as_ref().is_none_or(|wanted| wanted == workload)
            }
        };
        about
            && self.reason.as_deref().is_none_or(|reason| reason == event.reason)
            && self.message.as_deref().is_none_or(|message| message == event.message)
    }
}

impl fmt::Display for EventExpectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("event")?;
        if let Some(reason) = &self.reason {
            write!(f, " {reason}")?;
        }
        if let Some(message) = &self.message {
            write!(f, " \"{message}\"")?;
        }
        if let Some(pod) = &self.pod {
            write!(f, " about pod {pod}")?;
        }
        if let Some(node) = &self.node {
            write!(f, " about node {node}")?;
        }
        if let Some(workload) = &self.workload {
            write!(f, " about {workload}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Evicted(e) => write!(f, "{} is evicted{}", e.pod, e.window()),
            Self::NotEvicted(e) => write!(f, "{} is not evicted{}", e.pod, e.window()),
            Self::Gone(e) => write!(f, "{} is gone{}", e.pod, e.window()),
            Self::Present(e) => write!(f, "{} is still there", e.pod),
            Self::Event(e) => {
                write!(f, "{e} is recorded{}", e.window())?;
                e.times.map_or(Ok(()), |times| write!(f, ", {times} times"))
            }
            Self::NoEvent(e) => write!(f, "{e} is not recorded{}", e.window()),
            Self::NodeTainted(e) => {
                write!(f, "node {} is tainted {e}{}", e.node, e.window())
            }
            Self::NodeNotTainted(e) => {
                write!(f, "node {} is not tainted {e}{}", e.node, e.window())
            }
            Self::NodeUntainted(e) => {
                write!(f, "node {} loses the taint {e}{}", e.node, e.window())
            }
            Self::NodeCondition(e) => {
                write!(f, "node {} becomes {}={}{}", e.node, e.type_, e.status, e.window())
            }
            Self::NoNodeCondition(e) => {
                write!(f, "node {} does not become {}={}{}", e.node, e.type_, e.status, e.window())
            }
            Self::ZoneState(e) => {
                write!(f, "{} becomes {}{}", zone(&e.zone), e.state, e.window())
            }
            Self::NoZoneState(e) => {
                write!(f, "{} does not become {}{}", zone(&e.zone), e.state, e.window())
            }
            Self::ZoneRate(e) => {
                write!(f, "{} gets {} nodes a second{}", zone(&e.zone), e.rate, e.window())
            }
            Self::Ranking(e) => {
                write!(f, "for {} of {} the order is {}", e.signal, e.node, list(&e.pods))
            }
            Self::Available(e) => {
                write!(f, "{} of {} is {}", e.signal, e.node, e.amount)
            }
            Self::ReadyReplicas(e) => {
                write!(f, "{} pods of {} are ready{}", e.replicas, e.workload, e.window())
            }
            Self::NoReadyReplicas(e) => {
                write!(f, "not {} pods of {} are ready{}", e.replicas, e.workload, e.window())
            }
            Self::Availability(e) => {
                write!(f, "availability of {}:", e.workload)?;
                for (name, value) in e.fields() {
                    if let Some(value) = value {
                        write!(f, " {name} {value}")?;
                    }
                }
                Ok(())
            }
            Self::Scheduled(e) => {
                let on = if e.node.is_empty() { "a node" } else { &e.node };
                write!(f, "{} is scheduled to {on}{}", e.pod, e.window())
            }
            Self::NotScheduled(e) => {
                let on = if e.node.is_empty() { "a node" } else { &e.node };
                write!(f, "{} is not scheduled to {on}{}", e.pod, e.window())
            }
            Self::PodsOn(e) => {
                let on = if e.node.is_empty() { "no node" } else { &e.node };
                write!(f, "{} pods of {} are on {on}", e.pods, e.workload)
            }
            Self::PodStatus(e) => write!(f, "{} is {}", e.pod, e.status),
        }
    }
}

impl Expectation {
    /// The last moment this speaks of; a scenario without an end runs at least until then.
    pub(super) fn last_moment(&self) -> Option<Timestamp> {
        match self {
            Self::Evicted(e) | Self::NotEvicted(e) | Self::Gone(e) | Self::Present(e) => {
                e.window().last_moment()
            }
            Self::Event(e) | Self::NoEvent(e) => e.window().last_moment(),
            Self::NodeTainted(e) | Self::NodeNotTainted(e) | Self::NodeUntainted(e) => {
                e.window().last_moment()
            }
            Self::NodeCondition(e) | Self::NoNodeCondition(e) => e.window().last_moment(),
            Self::ZoneState(e) | Self::NoZoneState(e) => e.window().last_moment(),
            Self::ZoneRate(e) => e.window().last_moment(),
            Self::Ranking(_) | Self::Available(_) => None,
            Self::ReadyReplicas(e) | Self::NoReadyReplicas(e) => e.window().last_moment(),
            Self::Scheduled(e) | Self::NotScheduled(e) => e.window().last_moment(),
            Self::Availability(_) | Self::PodsOn(_) | Self::PodStatus(_) => None,
        }
    }

    /// Whether this can only be true with kubelets and a node lifecycle controller.
    pub(super) const fn needs_node_lifecycle(&self) -> bool {
        matches!(
            self,
            Self::NodeTainted(_)
                | Self::NodeUntainted(_)
                | Self::NodeCondition(_)
                | Self::ZoneState(_)
                | Self::ZoneRate(_)
                | Self::Ranking(_)
                | Self::Available(_)
        )
    }

    /// Whether this can only be true with the rest of the control plane.
    pub(super) const fn needs_control_plane(&self) -> bool {
        matches!(
            self,
            Self::ReadyReplicas(_)
                | Self::NoReadyReplicas(_)
                | Self::Availability(_)
                | Self::Scheduled(_)
                | Self::PodsOn(_)
        )
    }

    /// Compares this with what happened.
    #[must_use]
    pub fn check(&self, events: &[Event], simulator: &Simulator) -> Outcome {
        let failure = match self {
            Self::Evicted(e) => within(e.window(), &evictions(events, &e.pod), "evicted"),
            Self::NotEvicted(e) => outside(e.window(), &evictions(events, &e.pod), "evicted"),
            Self::Gone(e) => within(e.window(), &removals(events, &e.pod), "gone"),
            Self::Present(e) => {
                let gone = simulator.cluster().get_pod(&e.pod).is_none();
                gone.then(|| times_text(&removals(events, &e.pod), "gone"))
            }
            Self::Event(e) => {
                let times = recorded(events, e);
                let hits = times.iter().filter(|time| e.window().contains(**time)).count();
                match e.times {
                    Some(times) if hits == times as usize => None,
                    Some(_) => Some(format!("it is recorded {hits} times")),
                    None => within(e.window(), &times, "recorded"),
                }
            }
            Self::NoEvent(e) => outside(e.window(), &recorded(events, e), "recorded"),
            Self::NodeTainted(e) => within(e.window(), &taint_changes(events, e, true), "tainted"),
            Self::NodeNotTainted(e) => {
                outside(e.window(), &taint_changes(events, e, true), "tainted")
            }
            Self::NodeUntainted(e) => {
                within(e.window(), &taint_changes(events, e, false), "untainted")
            }
            Self::NodeCondition(e) => within(e.window(), &conditions(events, e), "so"),
            Self::NoNodeCondition(e) => outside(e.window(), &conditions(events, e), "so"),
            Self::ZoneState(e) => within(e.window(), &zone_states(events, e), "so"),
            Self::NoZoneState(e) => outside(e.window(), &zone_states(events, e), "so"),
            Self::ZoneRate(e) => within(e.window(), &zone_rates(events, e), "so"),
            Self::Ranking(e) => ranking(e, simulator),
            Self::Available(e) => available(e, simulator),
            Self::ReadyReplicas(e) => replicas(e, simulator, true),
            Self::NoReadyReplicas(e) => replicas(e, simulator, false),
            Self::Availability(e) => availability(e, simulator),
            Self::Scheduled(e) => within(e.window(), &bindings(events, e), "scheduled"),
            Self::NotScheduled(e) => outside(e.window(), &bindings(events, e), "scheduled"),
            Self::PodsOn(e) => pods_on(e, simulator),
            Self::PodStatus(e) => {
                let status = simulator.cluster().get_pod(&e.pod).map(|pod| pod_status(pod).status);
                match status {
                    None => Some("it is gone".into()),
                    Some(status) if status == e.status => None,
                    Some(status) => Some(format!("it is {status}")),
                }
            }
        };
        Outcome { expectation: self.to_string(), failure }
    }
}

/// When the API server accepted a controller's `DELETE` for the pod.
fn evictions(events: &[Event], wanted: &PodKey) -> Vec<Timestamp> {
    let accepted = events.iter().filter(|event| {
        let (verb, result) = (RequestVerb::Delete, RequestResult::Ok);
        matches!(&event.what, Happening::Request { pod, verb: v, result: r, .. }
            if pod == wanted && *v == verb && *r == result)
            || matches!(&event.what, Happening::KubeletEviction { report, .. }
                if matches!(report, Report::Killing { pod, .. } if pod == wanted))
    });
    accepted.map(|event| event.at).collect()
}

fn removals(events: &[Event], wanted: &PodKey) -> Vec<Timestamp> {
    let gone = events
        .iter()
        .filter(|event| matches!(&event.what, Happening::PodDeleted { pod, .. } if pod == wanted));
    gone.map(|event| event.at).collect()
}

fn recorded(events: &[Event], wanted: &EventExpectation) -> Vec<Timestamp> {
    let hits = events.iter().filter(
        |event| matches!(&event.what, Happening::EventRecorded(event) if wanted.matches(event)),
    );
    hits.map(|event| event.at).collect()
}

/// When something of a certain kind happened.
fn times(events: &[Event], is_it: impl Fn(&Happening) -> bool) -> Vec<Timestamp> {
    events.iter().filter(|event| is_it(&event.what)).map(|event| event.at).collect()
}

fn taint_changes(events: &[Event], wanted: &TaintExpectation, new: bool) -> Vec<Timestamp> {
    times(events, |what| match what {
        Happening::NodeTaintsChanged { node, added, removed } if node.as_str() == wanted.node => {
            let taints = if new { added } else { removed };
            taints.iter().any(|taint| wanted.matches(taint))
        }
        _ => false,
    })
}

fn conditions(events: &[Event], wanted: &ConditionExpectation) -> Vec<Timestamp> {
    times(events, |what| {
        matches!(what, Happening::NodeConditionChanged { node, condition, to, .. }
            if node.as_str() == wanted.node && *condition == wanted.type_ && *to == wanted.status)
    })
}

fn zone_states(events: &[Event], wanted: &ZoneExpectation) -> Vec<Timestamp> {
    times(events, |what| {
        matches!(what, Happening::ZoneStateChanged { zone, to, .. }
            if is_zone(zone, &wanted.zone) && *to == Some(wanted.state))
    })
}

fn zone_rates(events: &[Event], wanted: &RateExpectation) -> Vec<Timestamp> {
    times(events, |what| {
        matches!(what, Happening::ZoneRateChanged { zone, rate }
            if is_zone(zone, &wanted.zone) && *rate == wanted.rate)
    })
}

impl AvailabilityExpectation {
    fn fields(&self) -> [(&'static str, Option<Span>); 3] {
        [
            ("longestBelow", self.longest_below),
            ("longestAtZero", self.longest_at_zero),
            ("replicaTimeLost", self.replica_time_lost),
        ]
    }
}

/// When so many pods were ready: the intervals in which they were.
fn replicas(e: &ReplicasExpectation, simulator: &Simulator, wanted: bool) -> Option<String> {
    let Some(curve) = simulator.availability(&e.workload) else {
        return Some(format!("there is no {}", e.workload));
    };
    let ends = curve.steps.iter().skip(1).map(|step| step.at).chain([Timestamp::MAX]);
    let (window, replicas) = (e.window(), i64::from(e.replicas));
    let earliest = window.from.map_or(Timestamp::ZERO, Span::timestamp);
    let latest = window.by.map_or(simulator.now(), Span::timestamp);
    let hit = curve.steps.iter().zip(ends).any(|(step, end)| {
        let inside = match window.at.map(Span::timestamp) {
            Some(at) => step.at <= at && at < end,
            None => step.at <= latest && earliest < end,
        };
        inside && step.ready == replicas
    });
    let steps = curve.steps.iter().map(|step| format!("{} from {}", step.ready, step.at));
    (hit != wanted).then(|| format!("ready are {}", steps.collect::<Vec<_>>().join(", ")))
}

fn availability(e: &AvailabilityExpectation, simulator: &Simulator) -> Option<String> {
    let Some(found) = simulator.availability(&e.workload) else {
        return Some(format!("there is no {}", e.workload));
    };
    let long = |gap: Option<crate::simulator::Gap>| gap.map_or(Span::default(), |gap| gap.length());
    let values =
        [long(found.longest_below), long(found.longest_at_zero), Span(found.replica_time_lost)];
    let wrong: Vec<String> = e
        .fields()
        .into_iter()
        .zip(values)
        .filter(|((_, wanted), value)| wanted.is_some_and(|wanted| wanted != *value))
        .map(|((name, _), value)| format!("{name} is {value}"))
        .collect();
    (!wrong.is_empty()).then(|| wrong.join(", "))
}

fn bindings(events: &[Event], wanted: &ScheduledExpectation) -> Vec<Timestamp> {
    times(events, |what| match what {
        Happening::EventRecorded(event) if event.reason == "Scheduled" => {
            let to = event.message.rsplit(' ').next().unwrap_or_default();
            matches!(&event.involved_object, ObjectReference::Pod { pod, .. } if *pod == wanted.pod)
                && (wanted.node.is_empty() || wanted.node == to)
        }
        _ => false,
    })
}

fn pods_on(e: &PodsOnExpectation, simulator: &Simulator) -> Option<String> {
    let Some(view) = simulator.workload_view(&e.workload) else {
        return Some(format!("there is no {}", e.workload));
    };
    let node = |key: &PodKey| {
        simulator.cluster().get_pod(key).map(|pod| pod.spec.node_name.clone()).unwrap_or_default()
    };
    let nodes: Vec<String> = view.pods.iter().map(node).collect();
    let found = nodes.iter().filter(|node| **node == e.node).count();
    (found != e.pods as usize).then(|| format!("they are on: {}", nodes.join(", ")))
}

fn list(pods: &[PodKey]) -> String {
    let names: Vec<String> = pods.iter().map(ToString::to_string).collect();
    names.join(", ")
}

fn ranking(wanted: &RankingExpectation, simulator: &Simulator) -> Option<String> {
    let Some(ranking) = simulator.eviction_ranking(&wanted.node, wanted.signal) else {
        return Some("its kubelet ranks no pods by that".into());
    };
    let pods: Vec<PodKey> = ranking.pods.into_iter().map(|pod| pod.candidate.pod).collect();
    (!pods.starts_with(&wanted.pods)).then(|| format!("it is {}", list(&pods)))
}

fn available(wanted: &AvailableExpectation, simulator: &Simulator) -> Option<String> {
    let view = simulator.eviction_view(&wanted.node);
    let signals = view.iter().flat_map(|view| &view.signals);
    let Some(found) = signals.into_iter().find(|known| known.signal == wanted.signal) else {
        return Some("nobody knows how much there is".into());
    };
    let amount = Quantity::new(found.available, crate::api::Format::BinarySI);
    (amount.compare(&wanted.amount).is_ne()).then(|| format!("it is {amount}"))
}

fn within(window: Window, times: &[Timestamp], what: &str) -> Option<String> {
    let hit = times.iter().any(|time| window.contains(*time));
    (!hit).then(|| times_text(times, what))
}

fn outside(window: Window, times: &[Timestamp], what: &str) -> Option<String> {
    let hits: Vec<Timestamp> =
        times.iter().copied().filter(|time| window.contains(*time)).collect();
    (!hits.is_empty()).then(|| times_text(&hits, what))
}

fn times_text(times: &[Timestamp], what: &str) -> String {
    if times.is_empty() {
        return format!("it is never {what}");
    }
    let times: Vec<String> = times.iter().map(ToString::to_string).collect();
    format!("it is {what} at {}", times.join(", "))
}
