//! What happened and what is to come, in a line each, and what it is about.
#![deny(clippy::wildcard_enum_match_arm, reason = "a new event is thought of here")]

use alloc::string::{String, ToString};
use core::fmt;

use taintlab_rules::api::{NodeName, PodKey, Taint, WorkloadKey};
use taintlab_rules::protocol::zone::{ZoneKey, ZoneState};

use super::{EventKind, ObjectReference, RequestResult, RequestVerb};
use crate::command::NodeWrite;
use crate::controllers::node_lifecycle::DequeueOutcome;
use crate::controllers::taint_eviction::EvictionDecision;
use crate::kubelet::EVICTED;

impl EventKind {
    /// Whether a pod is evicted by this: the API server accepts a controller's `DELETE`, or an
    /// eviction by anybody, also by a drain; or its kubelet ends it to free what it uses.
    #[must_use]
    pub fn is_eviction(&self) -> bool {
        if let Self::EventRecorded(event) = self {
            return event.reason == EVICTED;
        }
        matches!(self, Self::Request { verb, result: RequestResult::Ok, .. } if verb.removes_pod())
    }

    /// The node this is about, if it is about one.
    #[must_use]
    pub fn node(&self) -> Option<&NodeName> {
        self.subject().node
    }

    /// The pod this is about, if it is about one.
    #[must_use]
    pub fn pod(&self) -> Option<&PodKey> {
        self.subject().pod
    }

    /// The workload this is about, if it is about one.
    #[must_use]
    pub fn workload(&self) -> Option<&WorkloadKey> {
        self.subject().workload
    }

    /// The zone this is about, if it is about one.
    #[must_use]
    pub fn zone(&self) -> Option<&ZoneKey> {
        self.subject().zone
    }

    /// The objects this is about.
    #[must_use]
    pub fn subject(&self) -> EventSubject<'_> {
        let nothing = EventSubject::default();
        match self {
            Self::EventRecorded(event) => match &event.involved_object {
                ObjectReference::Node { node } => EventSubject { node: Some(node), ..nothing },
                ObjectReference::Pod { pod, .. } => EventSubject { pod: Some(pod), ..nothing },
                ObjectReference::Budget { .. } => nothing,
                ObjectReference::Workload { workload } => {
                    EventSubject { workload: Some(workload), ..nothing }
                }
            },
            Self::NodeAdmitted { node, .. }
            | Self::VolumeDetached { node, .. }
            | Self::NodeAdded { node }
            | Self::NodeUpdated { node }
            | Self::NodeDeleted { node }
            | Self::NodeEvaluated { node, .. }
            | Self::HeartbeatLost { node, .. }
            | Self::HeartbeatResumed { node }
            | Self::NodeConditionChanged { node, .. }
            | Self::NodeTaintsChanged { node, .. }
            | Self::NodeWriteRefused { node, .. }
            | Self::NodeSkipped { node } => EventSubject { node: Some(node), ..nothing },
            Self::NodeQueued { node, zone } | Self::NodeDequeued { node, zone, .. } => {
                EventSubject { node: Some(node), zone: Some(zone), ..nothing }
            }
            Self::KubeletEviction { node, report } => {
                EventSubject { node: Some(node), pod: report.pod(), ..nothing }
            }
            Self::NodeShutdown { node, report } => {
                EventSubject { node: Some(node), pod: report.pod(), ..nothing }
            }
            Self::PodAdmitted { pod, .. }
            | Self::BudgetNotAsked { pod, .. }
            | Self::DeviceEvictionPlanned { pod, .. }
            | Self::PodAdded { pod, .. }
            | Self::PodUpdated { pod, .. }
            | Self::PodDeleted { pod, .. }
            | Self::Request { pod, .. } => EventSubject { pod: Some(pod), ..nothing },
            Self::Decided(decision) => EventSubject { pod: Some(&decision.pod), ..nothing },
            Self::WorkloadAdded { workload }
            | Self::WorkloadUpdated { workload }
            | Self::WorkloadDeleted { workload }
            | Self::OwnerInferred { workload, .. } => {
                EventSubject { workload: Some(workload), ..nothing }
            }
            Self::ZoneStateChanged { zone, .. } | Self::ZoneRateChanged { zone, .. } => {
                EventSubject { zone: Some(zone), ..nothing }
            }
            Self::TaintEvictionControllerRestarted { .. }
            | Self::ControllerManagerRestarted
            | Self::MasterDisruptionEntered
            | Self::MasterDisruptionLeft
            | Self::BudgetChanged { .. }
            | Self::DrainStarted { .. }
            | Self::DrainPrinted { .. }
            | Self::DrainEnded { .. } => nothing,
        }
    }
}

/// The objects that an event is about, at most one of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventSubject<'a> {
    /// A node.
    pub node: Option<&'a NodeName>,
    /// A pod.
    pub pod: Option<&'a PodKey>,
    /// A workload.
    pub workload: Option<&'a WorkloadKey>,
    /// A zone.
    pub zone: Option<&'a ZoneKey>,
}

/// The decision as the end of a sentence about the pod, with exact times: `does not tolerate
/// k:NoExecute, deleted at once`.
impl fmt::Display for EvictionDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotTolerated { taint } => {
                write!(f, "does not tolerate {taint}, deleted at once")
            }
            Self::ToleratedForNoTime => {
                f.write_str("tolerationSeconds is 0 or less, deleted at once")
            }
            Self::Scheduled { created_at, fire_at } => {
                write!(f, "deletion scheduled for {fire_at}, counted from {created_at}")
            }
            Self::TimerKept { fire_at, otherwise } => {
                write!(f, "timer for {fire_at} kept, a new one would end at {otherwise}")
            }
            Self::AlreadyDeleted => f.write_str("already deleted, not deleted again"),
            Self::ToleratedForever => f.write_str("tolerates the taints forever, stays"),
            Self::ToleratedForeverTooLate { fire_at } => {
                write!(f, "tolerates the taints forever now, but the timer for {fire_at} runs on")
            }
            Self::TaintsRemoved { timer_cancelled: true } => {
                f.write_str("the node has no NoExecute taints any more, timer cancelled")
            }
            Self::TaintsRemoved { timer_cancelled: false } => {
                f.write_str("the node has no NoExecute taints")
            }
            Self::PodGone { timer_cancelled: true } => {
                f.write_str("the pod is gone, timer cancelled")
            }
            Self::PodGone { timer_cancelled: false } => f.write_str("the pod is gone"),
        }
    }
}

/// What happened, in one line.
impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EventRecorded(event) => write!(f, "{}: {}", event.component, event.message),
            Self::NodeAdded { node } => write!(f, "node {node} added"),
            Self::NodeUpdated { node } => write!(f, "node {node} updated"),
            Self::NodeDeleted { node } => write!(f, "node {node} deleted"),
            Self::PodAdded { pod, .. } => write!(f, "pod {pod} added"),
            Self::PodUpdated { pod, .. } => write!(f, "pod {pod} updated"),
            Self::PodDeleted { pod, .. } => write!(f, "pod {pod} gone"),
            Self::Request { pod, verb, result, .. } => {
                let of = if verb.removes_pod() || *verb == RequestVerb::Get { "" } else { " of" };
                write!(f, "{verb}{of} {pod}: {result}")
            }
            Self::Decided(decision) => write!(f, "{}: {}", decision.pod, decision.decision),
            Self::DeviceEvictionPlanned { pod, eviction } => {
                write!(f, "{pod}: {}", eviction.decision())
            }
            Self::NodeEvaluated { node, shard, taints } => {
                write!(f, "worker {shard} evaluates {node}: ")?;
                if taints.is_empty() {
                    return f.write_str("no NoExecute taints");
                }
                for (index, taint) in taints.iter().enumerate() {
                    write!(f, "{}{taint}", if index == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
            Self::TaintEvictionControllerRestarted { timers_lost } => {
                write!(f, "taint eviction restarted, timers lost: {timers_lost}")
            }
            Self::ControllerManagerRestarted => f.write_str("kube-controller-manager restarted"),
            Self::HeartbeatLost { node, cause } => {
                write!(f, "heartbeats of node {node} stopped: {cause}")
            }
            Self::HeartbeatResumed { node } => write!(f, "heartbeats of node {node} resumed"),
            Self::NodeConditionChanged { node, condition, from, to, reason } => {
                let name = |status: &str| {
                    if status.is_empty() { "absent".to_string() } else { status.to_string() }
                };
                let (from, to) = (name(from.as_str()), name(to.as_str()));
                write!(f, "node {node} {condition}: {from} -> {to}")?;
                if reason.is_empty() { Ok(()) } else { write!(f, " ({reason})") }
            }
            Self::NodeTaintsChanged { node, added, removed } => {
                write!(f, "node {node} taints:")?;
                for taint in added {
                    write!(f, " +{}", Named(taint))?;
                }
                for taint in removed {
                    write!(f, " -{}", Named(taint))?;
                }
                Ok(())
            }
            Self::NodeWriteRefused { node, write, error } => {
                let what = match write {
                    NodeWrite::Status => "status",
                    NodeWrite::Taints => "taints",
                    NodeWrite::Labels => "labels",
                };
                write!(f, "PATCH {what} of node {node}: {error:?}")
            }
            Self::NodeSkipped { node } => {
                write!(
                    f,
                    "node {node} skipped in this health check: the update of its status failed"
                )
            }
            Self::NodeQueued { node, zone } => {
                write!(f, "node {node} queued ({})", zone.in_words())
            }
            Self::NodeDequeued { node, zone, outcome } => {
                write!(f, "node {node} dequeued ({})", zone.in_words())?;
                f.write_str(match outcome {
                    DequeueOutcome::Done => "",
                    DequeueOutcome::NodeGone => ": the node is gone",
                    DequeueOutcome::Ready => ": it is Ready again",
                    DequeueOutcome::ReadyInCache => ": still Ready in the controller's cache",
                    DequeueOutcome::Failed => ": a request failed, queued again",
                    DequeueOutcome::NoReadyCondition => ": it has no Ready condition, queued again",
                    DequeueOutcome::WouldCrash => {
                        ": it has no Ready condition, which ends the process"
                    }
                })
            }
            Self::ZoneStateChanged { zone, from, to, not_ready, total } => {
                let name = |state: &Option<ZoneState>| state.map_or("none", ZoneState::as_str);
                let (from, to) = (name(from), name(to));
                write!(f, "{}: {from} -> {to} ({not_ready} of {total} not ready)", named(zone))
            }
            Self::ZoneRateChanged { zone, rate } => {
                write!(f, "{}: {rate} nodes a second", named(zone))
            }
            Self::KubeletEviction { node, report } => write!(f, "kubelet of {node}: {report}"),
            Self::MasterDisruptionEntered => {
                f.write_str("all zones are fully disrupted: evictions stopped")
            }
            Self::MasterDisruptionLeft => f.write_str("a node is ready again: evictions resumed"),
            Self::NodeShutdown { node, report } => write!(f, "node {node} {report}"),
            Self::WorkloadAdded { workload } => write!(f, "{workload} added"),
            Self::WorkloadUpdated { workload } => write!(f, "{workload} updated"),
            Self::WorkloadDeleted { workload } => write!(f, "{workload} deleted"),
            Self::OwnerInferred { workload, desired } => write!(
                f,
                "{workload} inferred from the owner references of pods, with replicas: {desired}"
            ),
            Self::PodAdmitted { pod, additions } => {
                write!(f, "pod {pod} admitted:")?;
                for addition in additions {
                    write!(f, " +{}:{}", addition.added.key, addition.added.effect)?;
                }
                Ok(())
            }
            Self::NodeAdmitted { node, addition } => {
                write!(f, "node {node} admitted: +{}", Named(&addition.added))
            }
            Self::BudgetChanged { budget, deleted } => {
                let what = if *deleted { "deleted" } else { "changed" };
                write!(f, "poddisruptionbudget/{budget} {what}")
            }
            Self::DrainStarted { drain } => write!(f, "drain {drain} begins"),
            Self::DrainPrinted { line, .. } => f.write_str(line),
            Self::DrainEnded { drain, failed } => {
                write!(f, "drain {drain} {}", if *failed { "has failed" } else { "is done" })
            }
            Self::VolumeDetached { volume, node, forced: false } => {
                write!(f, "volume {volume} is detached from {node}")
            }
            Self::VolumeDetached { volume, node, forced: true } => write!(
                f,
                "volume {volume} is detached by force from {node}, which may still have it mounted"
            ),
            Self::BudgetNotAsked { pod, budget } => write!(
                f,
                "pod {pod} is deleted in spite of poddisruptionbudget/{budget}: a DELETE does not \
                 check budgets"
            ),
        }
    }
}

/// A taint without its time.
struct Named<'a>(&'a Taint);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.0.key, self.0.effect)
    }
}

/// A zone in a sentence.
fn named(zone: &ZoneKey) -> String {
    let name = zone.name();
    if name.is_empty() {
        return "the nodes without a zone".into();
    }
    alloc::format!("zone {name}")
}
