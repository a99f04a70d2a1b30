//! What happened and what is to come, in a line each, and what it is about.

use alloc::string::{String, ToString};
use core::fmt;

use super::{Happening, ObjectReference, RequestResult, RequestVerb, SilenceCause, TimeoutReason};
use crate::api::{NodeName, PodKey, Taint, WorkloadKey};
use crate::command::NodeWrite;
use crate::node_lifecycle::Turn;
use crate::node_lifecycle::zone::{ZoneKey, ZoneState};
use crate::time::format_duration;

impl Happening {
    /// The node this is about, if it is about one.
    #[must_use]
    pub const fn node(&self) -> Option<&NodeName> {
        match self {
            Self::EventRecorded(event) => match &event.involved_object {
                ObjectReference::Node { node } => Some(node),
                _ => None,
            },
            Self::NodeAdmitted { node, .. }
            | Self::NodeAdded { node }
            | Self::NodeUpdated { node }
            | Self::NodeDeleted { node }
            | Self::NodeEvaluated { node, .. }
            | Self::HeartbeatLost { node, .. }
            | Self::HeartbeatResumed { node }
            | Self::NodeConditionChanged { node, .. }
            | Self::NodeTaintsChanged { node, .. }
            | Self::NodeWriteRefused { node, .. }
            | Self::NodeSkipped { node }
            | Self::NodeQueued { node, .. }
            | Self::KubeletEviction { node, .. }
            | Self::NodeDequeued { node, .. } => Some(node),
            _ => None,
        }
    }

    /// The pod this is about, if it is about one.
    #[must_use]
    pub const fn pod(&self) -> Option<&PodKey> {
        match self {
            Self::EventRecorded(event) => match &event.involved_object {
                ObjectReference::Pod { pod, .. } => Some(pod),
                _ => None,
            },
            Self::PodAdmitted { pod, .. }
            | Self::BudgetNotAsked { pod, .. }
            | Self::PodAdded { pod, .. }
            | Self::PodUpdated { pod, .. }
            | Self::PodDeleted { pod, .. }
            | Self::Request { pod, .. } => Some(pod),
            Self::Decided(decision) => Some(&decision.pod),
            Self::KubeletEviction { report, .. } => report.pod(),
            _ => None,
        }
    }

    /// The workload this is about, if it is about one.
    #[must_use]
    pub const fn workload(&self) -> Option<&WorkloadKey> {
        match self {
            Self::EventRecorded(event) => match &event.involved_object {
                ObjectReference::Workload { workload } => Some(workload),
                _ => None,
            },
            Self::WorkloadAdded { workload }
            | Self::WorkloadUpdated { workload }
            | Self::WorkloadDeleted { workload }
            | Self::OwnerAssumed { workload, .. } => Some(workload),
            _ => None,
        }
    }

    /// The zone this is about, if it is about one.
    #[must_use]
    pub const fn zone(&self) -> Option<&ZoneKey> {
        match self {
            Self::NodeQueued { zone, .. }
            | Self::NodeDequeued { zone, .. }
            | Self::ZoneStateChanged { zone, .. }
            | Self::ZoneRateChanged { zone, .. } => Some(zone),
            _ => None,
        }
    }
}

/// What happened, in one line.
impl fmt::Display for Happening {
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
                write!(f, "{} {pod}: {}", verb_text(*verb), result_text(*result))
            }
            Self::Decided(decision) => write!(f, "decided about {}", decision.pod),
            Self::NodeEvaluated { node, shard, .. } => {
                write!(f, "worker {shard} looks at {node}")
            }
            Self::TaintEvictionControllerRestarted { timers_lost } => {
                write!(f, "taint eviction restarted, timers lost: {timers_lost}")
            }
            Self::ControllerManagerRestarted => f.write_str("kube-controller-manager restarted"),
            Self::HeartbeatLost { node, cause } => {
                let cause = match cause {
                    SilenceCause::KubeletStopped => "its kubelet does not run",
                    SilenceCause::NetworkCut => "its network is cut",
                    SilenceCause::ZoneNetworkCut => "the network of its zone is cut",
                };
                write!(f, "node {node} is silent: {cause}")
            }
            Self::HeartbeatResumed { node } => write!(f, "node {node} is heard again"),
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
                write!(f, "node {node} is left out of this health pass: its status is refused")
            }
            Self::NodeQueued { node, zone } => write!(f, "node {node} waits in {}", named(zone)),
            Self::NodeDequeued { node, zone, outcome } => {
                let outcome = match outcome {
                    Turn::Done => "done",
                    Turn::NodeGone => "it is gone",
                    Turn::Ready => "it is ready again",
                    Turn::Failed => "failed, it waits again",
                    Turn::NoReadyCondition => "it has no Ready condition and waits again",
                    Turn::WouldCrash => "it has no Ready condition, which ends the process",
                };
                write!(f, "the turn of node {node} in {}: {outcome}", named(zone))
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
                f.write_str("no node of the cluster is ready: evictions stop")
            }
            Self::MasterDisruptionLeft => f.write_str("some node is ready again: evictions go on"),
            Self::WorkloadAdded { workload } => write!(f, "{workload} added"),
            Self::WorkloadUpdated { workload } => write!(f, "{workload} updated"),
            Self::WorkloadDeleted { workload } => write!(f, "{workload} deleted"),
            Self::OwnerAssumed { workload, desired } => write!(
                f,
                "{workload} is not here, but pods name it as their controller: it is assumed to \
                 want {desired}"
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
            Self::BudgetNotAsked { pod, budget } => write!(
                f,
                "the budget {budget} would not allow it, but is not asked: pod {pod} is deleted, \
                 not evicted through the API"
            ),
        }
    }
}

/// What happens at the moment, as the end of a sentence.
impl fmt::Display for TimeoutReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WorkQueued => f.write_str("the controllers look at what has changed"),
            Self::EvictionDue { pod } => write!(f, "{pod} is deleted"),
            Self::RetryDelete { pod, attempt } => {
                write!(f, "the delete of {pod} is tried again after attempt {attempt}")
            }
            Self::GracePeriodOver { pod, grace } => {
                write!(f, "the grace period of {pod} ({}) is over", format_duration(*grace))
            }
            Self::MonitorNodeHealth => f.write_str("the health of the nodes is looked at"),
            Self::RetryNodeStatus => f.write_str("the status of a node is written again"),
            Self::RetryPod { pod } => write!(f, "{pod} is looked at again"),
            Self::TaintingPass { zone } => {
                write!(f, "there is a token for a node that waits in {}", named(zone))
            }
            Self::KubeletPosts { node } => write!(f, "the kubelet of {node} reports"),
            Self::KubeletStarts { node } => write!(f, "the kubelet of {node} starts"),
            Self::KubeletEviction { node, deadline } => {
                write!(f, "the kubelet of {node} {deadline}")
            }
            Self::KubeletStops { node } => write!(f, "the kubelet of {node} stops"),
            Self::PodStarts { pod } => write!(f, "{pod} is ready"),
            Self::RetryScheduling { pod } => write!(f, "the scheduler tries {pod} again"),
            Self::DrainGoesOn { node } => write!(f, "the drain of {node} goes on"),
            Self::CollectPods => f.write_str("the pod garbage collector looks around"),
            Self::PodsAvailable { workload } => write!(f, "pods of {workload} are available"),
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

const fn verb_text(verb: RequestVerb) -> &'static str {
    match verb {
        RequestVerb::Get => "GET",
        RequestVerb::PatchStatus => "PATCH status of",
        RequestVerb::Delete => "DELETE",
    }
}

fn result_text(result: RequestResult) -> String {
    match result {
        RequestResult::Ok => "ok".into(),
        RequestResult::AlreadyTerminating => "ok, terminating already".into(),
        RequestResult::NotFound => "not found".into(),
        RequestResult::Error(error) => alloc::format!("{error:?}"),
    }
}
