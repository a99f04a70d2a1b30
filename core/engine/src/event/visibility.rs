//! Which events a cluster would show.
#![deny(clippy::wildcard_enum_match_arm, reason = "a new event is thought of here")]

use serde::Serialize;
use taintlab_rules::api::ConditionStatus;

use super::EventKind;

/// Who would see an event of a real cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub enum EventVisibility {
    /// Somebody who watches the cluster: Kubernetes Events, and what becomes of nodes, pods and
    /// zones.
    Notable,
    /// The same, but it says nothing new: it comes with every node, or with another event.
    Routine,
    /// Nobody: what a component does by itself.
    Internal,
}

impl EventKind {
    /// Who would see this in a real cluster.
    #[must_use]
    pub fn visibility(&self) -> EventVisibility {
        match self {
            // Every node has one at the beginning.
            Self::EventRecorded(recorded) if recorded.reason == "RegisteredNode" => {
                EventVisibility::Routine
            }
            // Three more conditions become Unknown with Ready.
            Self::NodeConditionChanged { condition, to, .. }
                if condition != "Ready" && *to == ConditionStatus::Unknown =>
            {
                EventVisibility::Routine
            }
            Self::ZoneStateChanged { from: None, .. } => EventVisibility::Routine,
            Self::EventRecorded(_)
            | Self::NodeConditionChanged { .. }
            | Self::ZoneStateChanged { .. }
            | Self::ZoneRateChanged { .. }
            | Self::NodeTaintsChanged { .. }
            | Self::PodDeleted { .. }
            | Self::HeartbeatLost { .. }
            | Self::HeartbeatResumed { .. }
            | Self::NodeWriteRefused { .. }
            | Self::TaintEvictionControllerRestarted { .. }
            | Self::ControllerManagerRestarted
            | Self::MasterDisruptionEntered
            | Self::MasterDisruptionLeft
            | Self::BudgetNotAsked { .. }
            | Self::VolumeDetached { .. }
            | Self::DrainPrinted { .. }
            | Self::DrainEnded { .. } => EventVisibility::Notable,
            Self::NodeAdded { .. }
            | Self::NodeUpdated { .. }
            | Self::NodeDeleted { .. }
            | Self::PodAdded { .. }
            | Self::PodUpdated { .. }
            | Self::Request { .. }
            | Self::Decided(_)
            | Self::DeviceEvictionPlanned { .. }
            | Self::NodeEvaluated { .. }
            | Self::NodeSkipped { .. }
            | Self::NodeQueued { .. }
            | Self::NodeDequeued { .. }
            | Self::KubeletEviction { .. }
            | Self::NodeShutdown { .. }
            | Self::WorkloadAdded { .. }
            | Self::WorkloadUpdated { .. }
            | Self::WorkloadDeleted { .. }
            | Self::OwnerInferred { .. }
            | Self::PodAdmitted { .. }
            | Self::NodeAdmitted { .. }
            | Self::BudgetChanged { .. }
            | Self::DrainStarted { .. } => EventVisibility::Internal,
        }
    }
}
