//! What a command is about, and what it needs.
#![deny(clippy::wildcard_enum_match_arm, reason = "a new command is thought of here")]

use taintlab_rules::api::{PodKey, WorkloadKey};

use super::Command;

/// The one object that a command is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandSubject<'a> {
    /// The node of that name.
    Node(&'a str),
    /// A pod.
    Pod(PodKey),
    /// A workload.
    Workload(WorkloadKey),
    /// A zone, as it was named.
    Zone(&'a str),
    /// Several objects, or something else.
    Other,
}

/// What must take part in a simulation for a command to make sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// What is always there.
    Nothing,
    /// Kubelets and a node lifecycle controller: see
    /// [`SimulatorConfig::node_lifecycle`](crate::simulator::SimulatorConfig::node_lifecycle).
    NodeLifecycle,
    /// The rest of the control plane: see
    /// [`SimulatorConfig::control_plane`](crate::simulator::SimulatorConfig::control_plane).
    ControlPlane,
}

impl Command {
    /// The one object that this command is about.
    #[must_use]
    pub fn subject(&self) -> CommandSubject<'_> {
        match self {
            Self::CreateNode(node) | Self::UpdateNode(node) | Self::RegisterNode { node, .. } => {
                CommandSubject::Node(&node.metadata.name)
            }
            Self::DeleteNode { node }
            | Self::SetTaints { node, .. }
            | Self::Taint { node, .. }
            | Self::Untaint { node, .. }
            | Self::SetUnschedulable { node, .. }
            | Self::SetNodeLabels { node, .. }
            | Self::StopKubelet { node }
            | Self::StartKubelet { node }
            | Self::RestartKubelet { node }
            | Self::FlapKubelet { node, .. }
            | Self::ShutDownNode { node, .. }
            | Self::CancelShutdown { node }
            | Self::PowerOffNode { node }
            | Self::CutNetwork { node }
            | Self::RestoreNetwork { node }
            | Self::SetNodeCondition { node, .. }
            | Self::ConfigureKubelet { node, .. }
            | Self::FailNodeWrites { node, .. } => CommandSubject::Node(node.as_str()),
            Self::SetNodeResources(resources) => CommandSubject::Node(resources.node.as_str()),
            Self::LoadNode(load) => CommandSubject::Node(load.node.as_str()),
            Self::CreatePod(pod) | Self::UpdatePod(pod) => CommandSubject::Pod(pod.key()),
            Self::DeletePod { pod, .. }
            | Self::EvictPod { pod, .. }
            | Self::SetTolerations { pod, .. }
            | Self::SetPodLabels { pod, .. }
            | Self::BindPod { pod, .. }
            | Self::FailPodWrites { pod, .. } => CommandSubject::Pod(pod.clone()),
            Self::LoadPod(load) => CommandSubject::Pod(load.pod.clone()),
            Self::CreateWorkload(workload) | Self::UpdateWorkload(workload) => {
                CommandSubject::Workload(workload.key())
            }
            Self::DeleteWorkload { workload, .. }
            | Self::Scale { workload, .. }
            | Self::SetStartUpTime { workload, .. } => CommandSubject::Workload(workload.clone()),
            Self::CutZoneNetwork { zone } | Self::RestoreZoneNetwork { zone } => {
                CommandSubject::Zone(zone)
            }
            Self::Drain { .. }
            | Self::CancelDrain { .. }
            | Self::CreateBudget(_)
            | Self::UpdateBudget(_)
            | Self::DeleteBudget { .. }
            | Self::DeleteClaim { .. }
            | Self::DeleteVolume { .. }
            | Self::CreateDeviceObject(_)
            | Self::UpdateDeviceObject(_)
            | Self::DeleteDeviceObject { .. }
            | Self::SetApiServerFlags { .. }
            | Self::RestartTaintEvictionController
            | Self::RestartControllerManager
            | Self::SetPodUsage { .. } => CommandSubject::Other,
        }
    }

    /// What must take part in a simulation for this to make sense.
    #[must_use]
    pub const fn requirement(&self) -> Requirement {
        match self {
            Self::CreateNode(_)
            | Self::UpdateNode(_)
            | Self::DeleteNode { .. }
            | Self::SetTaints { .. }
            | Self::Taint { .. }
            | Self::Untaint { .. }
            | Self::SetUnschedulable { .. }
            | Self::SetNodeLabels { .. }
            | Self::CreatePod(_)
            | Self::UpdatePod(_)
            | Self::DeletePod { .. }
            | Self::SetTolerations { .. }
            | Self::SetPodLabels { .. }
            | Self::BindPod { .. }
            | Self::FailPodWrites { .. }
            | Self::Drain { .. }
            | Self::CancelDrain { .. }
            | Self::RestartTaintEvictionController => Requirement::Nothing,
            Self::StopKubelet { .. }
            | Self::StartKubelet { .. }
            | Self::RestartKubelet { .. }
            | Self::FlapKubelet { .. }
            | Self::ShutDownNode { .. }
            | Self::CancelShutdown { .. }
            | Self::PowerOffNode { .. }
            | Self::CutNetwork { .. }
            | Self::RestoreNetwork { .. }
            | Self::CutZoneNetwork { .. }
            | Self::RestoreZoneNetwork { .. }
            | Self::RegisterNode { .. }
            | Self::SetNodeCondition { .. }
            | Self::RestartControllerManager
            | Self::SetNodeResources(_)
            | Self::LoadNode(_)
            | Self::SetPodUsage { .. }
            | Self::LoadPod(_)
            | Self::ConfigureKubelet { .. }
            | Self::FailNodeWrites { .. } => Requirement::NodeLifecycle,
            Self::EvictPod { .. }
            | Self::CreateWorkload(_)
            | Self::UpdateWorkload(_)
            | Self::DeleteWorkload { .. }
            | Self::Scale { .. }
            | Self::SetStartUpTime { .. }
            | Self::CreateBudget(_)
            | Self::UpdateBudget(_)
            | Self::DeleteBudget { .. }
            | Self::DeleteClaim { .. }
            | Self::DeleteVolume { .. }
            | Self::CreateDeviceObject(_)
            | Self::UpdateDeviceObject(_)
            | Self::DeleteDeviceObject { .. }
            | Self::SetApiServerFlags { .. } => Requirement::ControlPlane,
        }
    }

    /// Whether this makes sense only with kubelets and a node lifecycle controller.
    #[must_use]
    pub const fn needs_node_lifecycle(&self) -> bool {
        matches!(self.requirement(), Requirement::NodeLifecycle)
    }

    /// Whether this makes sense only with the rest of the control plane.
    #[must_use]
    pub const fn needs_control_plane(&self) -> bool {
        matches!(self.requirement(), Requirement::ControlPlane)
    }

    /// The node this command is about, if any.
    #[must_use]
    pub fn node(&self) -> Option<&str> {
        if let CommandSubject::Node(node) = self.subject() { Some(node) } else { None }
    }

    /// The zone this command is about, as it was named, if any.
    #[must_use]
    pub fn zone(&self) -> Option<&str> {
        if let CommandSubject::Zone(zone) = self.subject() { Some(zone) } else { None }
    }

    /// The workload this command is about, if any.
    #[must_use]
    pub fn workload(&self) -> Option<WorkloadKey> {
        if let CommandSubject::Workload(workload) = self.subject() { Some(workload) } else { None }
    }

    /// The pod this command is about, if any.
    #[must_use]
    pub fn pod(&self) -> Option<PodKey> {
        if let CommandSubject::Pod(pod) = self.subject() { Some(pod) } else { None }
    }
}
