//! What each command does.
#![deny(clippy::wildcard_enum_match_arm, reason = "a new command is thought of here")]

use alloc::format;
use alloc::string::String;

use super::faults::check_condition;
use super::{Fault, Simulator};
use crate::api::{Node, NodeName, Pod, PodKey, Taint, TaintEffect};
use crate::command::{Command, CommandError, Requirement};
use crate::kubelet::heartbeat::Reported;
use crate::policy::validation::{ValidationOptions, validate_pod, validate_pod_update};

impl Simulator {
    /// What each command does.
    pub(super) fn apply(&mut self, command: Command) -> Result<(), CommandError> {
        match command.requirement() {
            Requirement::NodeLifecycle if !self.api.config.node_lifecycle => {
                return Err(CommandError::NoNodeLifecycle);
            }
            Requirement::ControlPlane if self.control.is_none() => {
                return Err(CommandError::NoControlPlane);
            }
            Requirement::Nothing | Requirement::NodeLifecycle | Requirement::ControlPlane => {}
        }
        match command {
            Command::CreateNode(node) => self.create_node(node, true).map(|_| ()),
            Command::UpdateNode(node) => self.update_node(node),
            Command::DeleteNode { node } => self.delete_node(&node),
            Command::SetTaints { node, taints } => {
                self.change_node(&node, |node| node.spec.taints = taints)
            }
            Command::Taint { node, taint } => self.taint(&node, taint),
            Command::Untaint { node, key, effect } => self.untaint(node, key, &effect),
            Command::SetUnschedulable { node, unschedulable } => {
                self.change_node(&node, |node| node.spec.unschedulable = unschedulable)
            }
            Command::SetNodeLabels { node, labels } => {
                self.change_node(&node, |node| node.metadata.labels = labels)
            }
            Command::CreatePod(pod) => self.create_pod(pod),
            Command::UpdatePod(pod) => self.update_pod(pod),
            Command::DeletePod { pod, force, grace_period_seconds } => {
                self.user_deletes_pod(&pod, force, grace_period_seconds)
            }
            Command::EvictPod { pod, grace_period_seconds } => {
                self.evict(&pod, grace_period_seconds)
            }
            Command::SetTolerations { pod, tolerations } => {
                self.change_pod(&pod, |pod| pod.spec.tolerations = tolerations)
            }
            Command::SetPodLabels { pod, labels } => {
                self.change_pod(&pod, |pod| pod.metadata.labels = labels)
            }
            Command::BindPod { pod, node } => self.bind_pod(pod, &node),
            Command::FailPodWrites { pod, verb, times, error } => {
                self.api.fail_pod_writes(pod, verb, Fault { times, error })
            }
            Command::FailNodeWrites { node, write, times, error } => {
                self.api.fail_node_writes(node, write, Fault { times, error })
            }
            Command::Drain { nodes, options } => self.start_drain(nodes, options),
            Command::CancelDrain { drain } => self.cancel_drain(drain),
            Command::CreateWorkload(workload) => self.create_workload(*workload),
            Command::UpdateWorkload(workload) => self.update_workload(*workload),
            Command::DeleteWorkload { workload, cascade } => {
                self.delete_workload(&workload, cascade)
            }
            Command::Scale { workload, replicas } => self.scale(workload, replicas),
            Command::SetStartUpTime { workload, time } => self.set_start_up_time(&workload, time),
            Command::CreateBudget(budget) => self.create_budget(*budget),
            Command::UpdateBudget(budget) => self.update_budget(*budget),
            Command::DeleteBudget { budget } => self.delete_budget(&budget),
            Command::SetApiServerFlags { flags } => self.set_api_server_flags(flags),
            Command::RestartTaintEvictionController => self.restart_taint_eviction(),
            Command::RestartControllerManager => self.restart_controller_manager(),
            Command::StopKubelet { node } => self.run_kubelet(&node, false),
            Command::StartKubelet { node } => self.run_kubelet(&node, true),
            Command::RestartKubelet { node } => self.with_kubelet(&node, |simulator| {
                simulator.forget_switch(&node);
                simulator.restart_kubelet(&node);
            }),
            Command::FlapKubelet { node, down, up, times } => {
                self.flap_kubelet(&node, down, up, times)
            }
            Command::CutNetwork { node } => self.cut_node(&node, true),
            Command::RestoreNetwork { node } => self.cut_node(&node, false),
            Command::CutZoneNetwork { zone } => self.cut_zone(&zone, true),
            Command::RestoreZoneNetwork { zone } => self.cut_zone(&zone, false),
            Command::RegisterNode { node, kubelet_starts_after } => {
                self.register_node(node, kubelet_starts_after)
            }
            Command::SetNodeCondition { node, type_, status, reason, message } => {
                check_condition(&type_, &status)?;
                let reported = Reported::new(&type_, status, reason, message);
                self.with_kubelet(&node, |simulator| simulator.report(&node, reported))
            }
            Command::SetNodeResources(resources) => self.set_node_resources(*resources),
            Command::LoadNode(load) => self.load_node(load),
            Command::LoadPod(load) => self.load_pod(load),
            Command::SetPodUsage { pods, usage } => self.set_pod_usage(pods, usage),
            Command::ConfigureKubelet { node, configuration, flags } => {
                self.configure_kubelet(&node, configuration.map(|given| *given), &flags)
            }
        }
    }

    fn delete_node(&mut self, node: &NodeName) -> Result<(), CommandError> {
        self.api.node(node)?;
        self.remove_node(node.as_str());
        Ok(())
    }

    fn taint(&mut self, node: &NodeName, taint: Taint) -> Result<(), CommandError> {
        self.change_node(node, |node| {
            node.spec.taints.retain(|old| !old.matches(&taint));
            node.spec.taints.insert(0, taint);
        })
    }

    fn untaint(
        &mut self,
        node: NodeName,
        key: String,
        effect: &TaintEffect,
    ) -> Result<(), CommandError> {
        let goes =
            |taint: &Taint| taint.key == key && (effect.is_empty() || taint.effect == *effect);
        if !self.api.node(&node)?.spec.taints.iter().any(goes) {
            let taint = if effect.is_empty() { key } else { format!("{key}:{effect}") };
            return Err(CommandError::TaintNotFound { node, taint });
        }
        self.change_node(&node, |node| node.spec.taints.retain(|taint| !goes(taint)))
    }

    /// Creates a node; its kubelet runs if it is told so and nobody knows it yet.
    pub(super) fn create_node(
        &mut self,
        mut node: Node,
        kubelet_runs: bool,
    ) -> Result<NodeName, CommandError> {
        self.api.check_node(&node)?;
        let name: NodeName = node.metadata.name.as_str().into();
        if self.api.cluster.get_node(name.as_str()).is_some() {
            return Err(CommandError::NodeAlreadyExists(name));
        }
        self.api.admit_new_node(&mut node).map_err(|reason| CommandError::NotAdmitted {
            object: format!("nodes \"{name}\""),
            reason,
        })?;
        self.api.default_metadata(&mut node.metadata);
        self.store_node(node);
        if self.api.config.node_lifecycle {
            self.register_kubelet(&name, kubelet_runs);
        }
        Ok(name)
    }

    fn update_node(&mut self, mut node: Node) -> Result<(), CommandError> {
        self.api.check_node(&node)?;
        let old = self.api.node(&node.metadata.name.as_str().into())?;
        keep_identity(&mut node.metadata, &old.metadata);
        self.store_node(node);
        Ok(())
    }

    fn change_node(
        &mut self,
        name: &NodeName,
        change: impl FnOnce(&mut Node),
    ) -> Result<(), CommandError> {
        let mut node = self.api.node(name)?.clone();
        change(&mut node);
        self.api.check_node(&node)?;
        self.store_node(node);
        Ok(())
    }

    fn create_pod(&mut self, mut pod: Pod) -> Result<(), CommandError> {
        if pod.metadata.namespace.is_empty() {
            pod.metadata.namespace = "default".into();
        }
        let key = pod.key();
        self.api
            .check(|options| validate_pod(&pod, options), || format!("Pod \"{}\"", key.name()))?;
        if self.api.cluster.get_pod(&key).is_some() {
            return Err(CommandError::PodAlreadyExists(key));
        }
        let additions = self.api.admit_pod(&mut pod).map_err(|reason| {
            CommandError::NotAdmitted { object: format!("pods \"{}\"", key.name()), reason }
        })?;
        self.store_new_pod(&key, pod, additions);
        self.infer_owner_of(&key);
        Ok(())
    }

    fn update_pod(&mut self, mut pod: Pod) -> Result<(), CommandError> {
        if pod.metadata.namespace.is_empty() {
            pod.metadata.namespace = "default".into();
        }
        let key = pod.key();
        let old = self.api.pod(&key)?;
        let another = !pod.metadata.uid.is_empty() && pod.metadata.uid != old.metadata.uid;
        keep_identity(&mut pod.metadata, &old.metadata);
        if !another {
            // Nothing brings a deleted pod back. Mirrors `ValidateObjectMetaAccessorUpdate`.
            pod.metadata.deletion_timestamp = old.metadata.deletion_timestamp;
            let grace = old.metadata.deletion_grace_period_seconds;
            pod.metadata.deletion_grace_period_seconds = grace;
        }
        let check = |options: &ValidationOptions| {
            if another {
                validate_pod(&pod, options)
            } else {
                validate_pod_update(&pod, old, options)
            }
        };
        self.api.check(check, || format!("Pod \"{}\"", key.name()))?;
        self.store_pod(&key, pod);
        Ok(())
    }

    fn change_pod(
        &mut self,
        key: &PodKey,
        change: impl FnOnce(&mut Pod),
    ) -> Result<(), CommandError> {
        let old = self.api.pod(key)?;
        let mut pod = old.clone();
        change(&mut pod);
        let check = |options: &ValidationOptions| validate_pod_update(&pod, old, options);
        self.api.check(check, || format!("Pod \"{}\"", key.name()))?;
        self.store_pod(key, pod);
        Ok(())
    }

    fn bind_pod(&mut self, key: PodKey, node: &NodeName) -> Result<(), CommandError> {
        let old = self.api.pod(&key)?;
        if !old.spec.node_name.is_empty() {
            let node = old.spec.node_name.as_str().into();
            return Err(CommandError::PodAlreadyBound { pod: key, node });
        }
        let mut pod = old.clone();
        pod.spec.node_name = node.as_str().into();
        self.store_pod(&key, pod);
        Ok(())
    }

    fn user_deletes_pod(
        &mut self,
        key: &PodKey,
        force: bool,
        grace: Option<u32>,
    ) -> Result<(), CommandError> {
        self.api.pod(key)?;
        if force {
            self.remove_pod(key);
        } else {
            self.delete_gracefully(key, grace.map(i64::from));
        }
        Ok(())
    }
}

/// An update without a UID or creation time means the object that is there.
pub(super) fn keep_identity(new: &mut crate::api::ObjectMeta, old: &crate::api::ObjectMeta) {
    if new.uid.is_empty() {
        new.uid.clone_from(&old.uid);
    }
    if new.creation_timestamp.is_none() {
        new.creation_timestamp = old.creation_timestamp;
    }
}
