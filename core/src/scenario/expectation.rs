//! What a scenario expects, and whether it turned out to be true.

mod check;
mod display;

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::api::{
    ConditionStatus, NodeName, PodKey, Quantity, Taint, TaintEffect, WorkloadKey, is_default,
};
use crate::event::{Event, EventKind, NodesPerSecond, RequestResult, RequestVerb};
use crate::kubelet::{EvictionManagerReport, Signal};
use crate::protocol::zone::ZoneState;
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Span>,
    /// At this time or before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Span>,
    /// At this time or later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_below: Option<Span>,
    /// The longest time without any ready pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_at_zero: Option<Span>,
    /// The time that missing pods were missing, added up over all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Span>,
    /// At this time or before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Span>,
    /// At this time or later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Span>,
    /// At this time or before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Span>,
    /// At this time or later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Span>,
    /// At this time or before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Span>,
    /// At this time or later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Span>,
    /// At this time or before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Span>,
    /// At this time or later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Span>,
    /// At this time or before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Span>,
    /// At this time or later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Span>,
    /// At this time or before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Span>,
    /// At this time or later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Span>,
}

/// Which event, and when. Fields that are left out match everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct EventExpectation {
    /// The pod it is about, `namespace/name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod: Option<PodKey>,
    /// The node it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The workload it is about: `deployment/web`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadKey>,
    /// The reason, for example `TaintManagerEviction`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The whole message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Exactly at this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Span>,
    /// At this time or before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Span>,
    /// At this time or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Span>,
    /// Exactly this many such events; at least one unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
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
    #[serde(skip_serializing_if = "Option::is_none")]
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
    fn last_moment(self) -> Option<Timestamp> {
        [self.at, self.by, self.from].into_iter().flatten().map(Span::timestamp).max()
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

impl Expectation {
    /// What an event came to, as something to expect: nothing, if there is no way to expect it.
    /// Whatever comes out is true of a run that has the event.
    #[must_use]
    pub fn of_event(event: &Event) -> Vec<Self> {
        let at = Some(Span::from(event.at));
        let pod = |pod: &PodKey| PodExpectation { pod: pod.clone(), at, by: None, from: None };
        let taint = |node: &NodeName, taint: &Taint| TaintExpectation {
            node: node.to_string(),
            key: taint.key.clone(),
            effect: taint.effect.clone(),
            at,
            by: None,
            from: None,
        };
        let one = match &event.what {
            EventKind::Request {
                pod: key,
                verb: RequestVerb::Delete | RequestVerb::Evict,
                result: RequestResult::Ok,
                ..
            }
            | EventKind::KubeletEviction {
                report: EvictionManagerReport::Killing { pod: key, .. },
                ..
            } => Self::Evicted(pod(key)),
            EventKind::PodDeleted { pod: key, .. } => Self::Gone(pod(key)),
            EventKind::NodeTaintsChanged { node, added, removed } => {
                let added = added.iter().map(|one| Self::NodeTainted(taint(node, one)));
                let removed = removed.iter().map(|one| Self::NodeUntainted(taint(node, one)));
                return added.chain(removed).collect();
            }
            EventKind::NodeConditionChanged { node, condition, to, .. } => {
                Self::NodeCondition(ConditionExpectation {
                    node: node.to_string(),
                    type_: condition.clone(),
                    status: to.clone(),
                    at,
                    by: None,
                    from: None,
                })
            }
            EventKind::ZoneStateChanged { zone, to: Some(state), .. } => {
                let (zone, state) = (zone.name(), *state);
                Self::ZoneState(ZoneExpectation { zone, state, at, by: None, from: None })
            }
            EventKind::Request { .. }
            | EventKind::KubeletEviction { .. }
            | EventKind::NodeShutdown { .. }
            | EventKind::ZoneStateChanged { .. }
            | EventKind::EventRecorded(_)
            | EventKind::NodeAdded { .. }
            | EventKind::NodeUpdated { .. }
            | EventKind::NodeDeleted { .. }
            | EventKind::PodAdded { .. }
            | EventKind::PodUpdated { .. }
            | EventKind::Decided(_)
            | EventKind::NodeEvaluated { .. }
            | EventKind::TaintEvictionControllerRestarted { .. }
            | EventKind::ControllerManagerRestarted
            | EventKind::HeartbeatLost { .. }
            | EventKind::HeartbeatResumed { .. }
            | EventKind::NodeWriteRefused { .. }
            | EventKind::NodeSkipped { .. }
            | EventKind::NodeQueued { .. }
            | EventKind::NodeDequeued { .. }
            | EventKind::ZoneRateChanged { .. }
            | EventKind::MasterDisruptionEntered
            | EventKind::MasterDisruptionLeft
            | EventKind::WorkloadAdded { .. }
            | EventKind::WorkloadUpdated { .. }
            | EventKind::WorkloadDeleted { .. }
            | EventKind::OwnerInferred { .. }
            | EventKind::PodAdmitted { .. }
            | EventKind::NodeAdmitted { .. }
            | EventKind::BudgetChanged { .. }
            | EventKind::DrainStarted { .. }
            | EventKind::DrainPrinted { .. }
            | EventKind::DrainEnded { .. }
            | EventKind::VolumeDetached { .. }
            | EventKind::BudgetNotAsked { .. } => return Vec::new(),
        };
        Vec::from([one])
    }

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

    /// Whether what is to happen may still happen later than `now`, so that it is too early to say
    /// that it did not. What must not happen is never open: once it has happened, it is not so.
    #[must_use]
    pub fn is_open(&self, now: Timestamp) -> bool {
        match self {
            Self::NotEvicted(_)
            | Self::Present(_)
            | Self::NoEvent(_)
            | Self::NodeNotTainted(_)
            | Self::NoNodeCondition(_)
            | Self::NoZoneState(_)
            | Self::NoReadyReplicas(_)
            | Self::NotScheduled(_) => false,
            _ => self.last_moment().is_none_or(|last| last > now),
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
}
