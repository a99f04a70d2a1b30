//! The selection.

use std::rc::Rc;

use taintlab_core::api::{NodeName, PodKey, WorkloadKey};
use taintlab_core::command::Command;
use taintlab_core::pod_state::{PodHealth, PodState, PodVerdict};
use taintlab_core::simulator::OutcomeKind;

use crate::session::Gone;

/// The selected object, or group of pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    /// A node.
    Node(NodeName),
    /// A pod.
    Pod(PodKey),
    /// A zone, by its key.
    Zone(Rc<str>),
    /// A workload.
    Workload(WorkloadKey),
    /// A group of pods.
    Pods(PodGroup),
}

impl Selection {
    /// The selection as text, to be stored.
    pub(crate) fn to_text(&self) -> String {
        match self {
            Self::Node(name) => format!("node {name}"),
            Self::Pod(key) => format!("pod {key}"),
            Self::Zone(key) => format!("zone {key}"),
            Self::Workload(key) => format!("workload {key}"),
            Self::Pods(PodGroup::Verdict(verdict)) => format!("verdict {}", verdict.as_str()),
            Self::Pods(PodGroup::Health(health)) => format!("health {}", health.as_str()),
            // Only a run that has ended has this group, and it is not stored.
            Self::Pods(PodGroup::Outcome(_)) => String::new(),
        }
    }

    /// The selection of a stored text, if it is one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (kind, name) = text.split_once(' ')?;
        match kind {
            "node" => Some(Self::Node(name.into())),
            "pod" => PodKey::parse(name).ok().map(Self::Pod),
            "zone" => Some(Self::Zone(name.into())),
            "workload" => WorkloadKey::parse(name).ok().map(Self::Workload),
            "verdict" => {
                PodVerdict::parse(name).map(|verdict| Self::Pods(PodGroup::Verdict(verdict)))
            }
            "health" => PodHealth::parse(name).map(|health| Self::Pods(PodGroup::Health(health))),
            _ => None,
        }
    }
}

/// The selection after an edit: an object that was created, or none if it was deleted.
pub(crate) fn selection_after(
    commands: &[Command],
    selection: Option<&Selection>,
) -> Option<Option<Selection>> {
    let [command] = commands else { return None };
    if let Command::CreateNode(node) = command {
        Some(Some(Selection::Node(node.metadata.name.as_str().into())))
    } else if let Command::CreatePod(pod) = command {
        Some(Some(Selection::Pod(pod.key())))
    } else if let Command::DeleteNode { node } = command {
        (selection == Some(&Selection::Node(node.clone()))).then_some(None)
    } else {
        None
    }
}

/// A group of pods with something in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PodGroup {
    /// Pods with this verdict.
    Verdict(PodVerdict),
    /// Pods with this health.
    Health(PodHealth),
    /// Pods in this part of the outcome of a run that has ended.
    Outcome(OutcomeKind),
}

impl PodGroup {
    /// The words for the pods: `stuck Terminating`.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Verdict(PodVerdict::Stays) => "that stay",
            Self::Verdict(verdict) => verdict.words(2),
            Self::Health(health) => health.words(),
            Self::Outcome(OutcomeKind::Evictions) => "evicted",
            Self::Outcome(OutcomeKind::Stuck) => PodVerdict::Stuck.words(2),
            Self::Outcome(OutcomeKind::Unschedulable) => PodHealth::Unschedulable.words(),
            Self::Outcome(OutcomeKind::Pending) => PodHealth::Pending.words(),
            Self::Outcome(OutcomeKind::Starting) => PodHealth::Starting.words(),
            Self::Outcome(OutcomeKind::NotReady) => PodHealth::NotReady.words(),
        }
    }

    /// Whether a pod in that state belongs to the group.
    pub(crate) fn holds(self, state: PodState) -> bool {
        let PodState { verdict, health, .. } = state;
        let is_going = matches!(verdict, PodVerdict::Terminating | PodVerdict::Stuck);
        match self {
            Self::Verdict(wanted) => verdict == wanted && !state.waits_for_a_node(),
            Self::Health(wanted) => health == wanted,
            Self::Outcome(OutcomeKind::Evictions) => is_going || verdict == PodVerdict::Evicted,
            Self::Outcome(OutcomeKind::Stuck) => verdict == PodVerdict::Stuck,
            Self::Outcome(OutcomeKind::Unschedulable) => {
                !is_going && health == PodHealth::Unschedulable
            }
            Self::Outcome(OutcomeKind::Pending) => !is_going && health == PodHealth::Pending,
            Self::Outcome(OutcomeKind::Starting) => !is_going && health == PodHealth::Starting,
            Self::Outcome(OutcomeKind::NotReady) => !is_going && health == PodHealth::NotReady,
        }
    }

    /// Whether a pod that is gone belongs to the group.
    pub(crate) fn holds_gone(self, gone: &Gone) -> bool {
        match self {
            Self::Verdict(verdict) => verdict == PodVerdict::Gone,
            Self::Outcome(OutcomeKind::Evictions) => gone.evicted.is_some(),
            _ => false,
        }
    }
}
