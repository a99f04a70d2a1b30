//! Expectations of a scenario, and their outcomes.

mod check;
mod display;

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use taintlab_engine::event::{Event, EventKind, NodesPerSecond, RequestResult, RequestVerb};
use taintlab_engine::kubelet::{EvictionManagerReport, Signal};
use taintlab_rules::api::{
    ConditionStatus, NodeName, PodKey, Quantity, Taint, TaintEffect, WorkloadKey, is_default,
};
use taintlab_rules::protocol::zone::ZoneState;
use taintlab_rules::time::{Span, Timestamp};

/// A statement that must turn out to be true.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Expectation {
    /// A controller deletes the pod (the API server accepts its `DELETE`), or its kubelet kills it
    /// to free resources.
    Evicted(PodExpectation),
    /// No controller deletes the pod, nor does its kubelet kill it (in the given time).
    NotEvicted(PodExpectation),
    /// The pod object is gone, after its grace period.
    Gone(PodExpectation),
    /// The pod object is still there at the end.
    Present(PodExpectation),
    /// A component records a matching event.
    Event(EventExpectation),
    /// No component records a matching event (in the given time).
    NoEvent(EventExpectation),
    /// The node lifecycle controller adds a matching taint to the node.
    NodeTainted(TaintExpectation),
    /// The node lifecycle controller adds no matching taint to the node (in the given time).
    NodeNotTainted(TaintExpectation),
    /// The node lifecycle controller removes a matching taint from the node.
    NodeUntainted(TaintExpectation),
    /// A condition of the node changes to this status.
    NodeCondition(ConditionExpectation),
    /// No condition of the node changes to this status (in the given time).
    NoNodeCondition(ConditionExpectation),
    /// The zone changes to this state.
    ZoneState(ZoneExpectation),
    /// The zone does not change to this state (in the given time).
    NoZoneState(ZoneExpectation),
    /// The zone gets this rate.
    ZoneRate(RateExpectation),
    /// At the end the kubelet of a node would evict these pods in this order.
    Ranking(RankingExpectation),
    /// At the end this amount is left of the resource that a signal watches.
    Available(AvailableExpectation),
    /// This number of the workload's pods is ready.
    ReadyReplicas(ReplicasExpectation),
    /// The workload never has this number of ready pods (in the given time).
    NoReadyReplicas(ReplicasExpectation),
    /// Downtime of the workload up to the end of the scenario.
    Availability(AvailabilityExpectation),
    /// The scheduler binds the pod to a node.
    Scheduled(ScheduledExpectation),
    /// The scheduler does not bind the pod, or not to that node (in the given time).
    NotScheduled(ScheduledExpectation),
    /// This number of the workload's pods is on the node at the end, terminating ones included.
    PodsOn(PodsOnExpectation),
    /// The pod has this status at the end, as `kubectl get pods` shows it: `Terminating`.
    PodStatus(PodStatusExpectation),
}

/// Number of ready pods of a workload, and its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReplicasExpectation {
    /// The workload: `deployment/web`.
    pub workload: WorkloadKey,
    /// Ready pods; terminating ones do not count.
    pub replicas: u32,
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

/// Downtime of a workload. Fields that are left out match everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AvailabilityExpectation {
    /// The workload: `deployment/web`.
    pub workload: WorkloadKey,
    /// Longest uninterrupted time with fewer ready pods than wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_below: Option<Span>,
    /// Longest uninterrupted time without any ready pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_at_zero: Option<Span>,
    /// Time that pods were missing, summed over all missing pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replica_time_lost: Option<Span>,
}

/// Binding of a pod to a node, and its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScheduledExpectation {
    /// The pod, `namespace/name`.
    pub pod: PodKey,
    /// The node; any unless given.
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

/// Number of a workload's pods on a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PodsOnExpectation {
    /// The workload: `deployment/web`.
    pub workload: WorkloadKey,
    /// The node; empty for none.
    pub node: String,
    /// Number of pods.
    pub pods: u32,
}

/// Status of a pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PodStatusExpectation {
    /// The pod, `namespace/name`.
    pub pod: PodKey,
    /// The status, for example `Running`, `Pending`, `ContainerCreating` or `Terminating`.
    pub status: String,
}

/// Taint of a node, and its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaintExpectation {
    /// The node.
    pub node: String,
    /// Key of the taint; any unless given.
    #[serde(default, skip_serializing_if = "is_default")]
    pub key: String,
    /// Effect of the taint; `NoExecute` unless given.
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

/// Status of a node's condition, and its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConditionExpectation {
    /// The node.
    pub node: String,
    /// Type of the condition; `Ready` unless given.
    #[serde(rename = "type", default = "ready", skip_serializing_if = "is_ready")]
    pub type_: String,
    /// Status of the condition.
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

/// State of a zone, and its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ZoneExpectation {
    /// The zone: `region/zone`, or its zone label alone; empty for nodes without these labels.
    pub zone: String,
    /// State of the zone.
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

/// Rate of a zone, and its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RateExpectation {
    /// The zone: `region/zone`, or its zone label alone; empty for nodes without these labels.
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

/// Order in which a kubelet would evict pods.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RankingExpectation {
    /// The node.
    pub node: String,
    /// Signal of the scarce resource, for example `memory.available`.
    pub signal: Signal,
    /// The first pods of the ranking, `namespace/name`, in order.
    pub pods: Vec<PodKey>,
}

/// Amount left of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AvailableExpectation {
    /// The node.
    pub node: String,
    /// Signal of the resource, for example `memory.available`.
    pub signal: Signal,
    /// Amount left.
    pub amount: Quantity,
}

/// A pod, and a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PodExpectation {
    /// The pod, `namespace/name`.
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

/// Matching events, and their time. Fields that are left out match everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct EventExpectation {
    /// Pod that the event is about, `namespace/name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod: Option<PodKey>,
    /// Node that the event is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Workload that the event is about: `deployment/web`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadKey>,
    /// Reason of the event, for example `TaintManagerEviction`.
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
    /// Exact number of matching events; at least one unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
}

/// Outcome of an expectation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// The expectation in words: `default/web-1 is evicted at 5m0s`.
    pub expectation: String,
    /// The actual events; absent if the expectation was true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// Times in an expectation.
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
    /// Expectations that an event fulfils; empty for events that no expectation covers. Each is
    /// true of a run with the event.
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
            | EventKind::DeviceEvictionPlanned { .. }
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

    /// Last moment that it names; a scenario without `until` runs at least until then.
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

    /// Whether the expected event may still happen after `now`, so that it is too early to call it
    /// false. Negative expectations are never open: once the event has happened, they are false.
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

    /// Whether it needs kubelets and a node lifecycle controller to be true.
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

    /// Whether it needs the rest of the control plane to be true.
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
