//! What each command does.
#![deny(clippy::wildcard_enum_match_arm, reason = "a new command is thought of here")]

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use taintlab_rules::api::{ConditionStatus, Node, NodeName, PodKey};
use taintlab_rules::protocol::{ApiErrorKind, RequestResult, RequestVerb};
use taintlab_rules::time::Span;

use super::Simulator;
use crate::api_server::{Fault, eviction_config};
use crate::command::{Command, CommandError, LoadedPod, NodeLoad, NodeResources, Requirement};
use crate::controllers::drain::EvictAnswer;
use crate::event::EventKind;
use crate::kubelet::heartbeat::Reported;
use crate::kubelet::{KubeletSetup, NodeShutdownConfig, NodeUsage};

/// The least time that a flapping kubelet is up or down.
const LEAST_FLAP: Duration = Duration::from_millis(1);

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
        // Writes that were accepted; whatever else a command does it has done then.
        let mut writes = Vec::new();
        match command {
            Command::CreateNode(node) => {
                self.create_node(node, true)?;
            }
            Command::UpdateNode(node) => writes.push(self.api.update_node(node)?),
            Command::DeleteNode { node } => writes.push(self.api.delete_node(node)?),
            Command::SetTaints { node, taints } => {
                writes.push(self.api.change_node(&node, |node| node.spec.taints = taints)?);
            }
            Command::Taint { node, taint } => writes.push(self.api.taint(&node, taint)?),
            Command::Untaint { node, key, effect } => {
                writes.push(self.api.untaint(node, key, &effect)?);
            }
            Command::SetUnschedulable { node, unschedulable } => writes
                .push(self.api.change_node(&node, |node| node.spec.unschedulable = unschedulable)?),
            Command::SetNodeLabels { node, labels } => {
                writes.push(
                    self.api.change_node(&node, |node| node.metadata.labels = labels.into())?,
                );
            }
            Command::CreatePod(pod) => {
                let key = pod.key();
                let write = self.api.create_pod(pod)?;
                self.commit([write]);
                if self.control.is_some() {
                    writes.extend(self.api.infer_owner_of(&key));
                }
            }
            Command::UpdatePod(pod) => writes.push(self.api.update_pod(pod)?),
            Command::DeletePod { pod, force, grace_period_seconds } => {
                writes.extend(self.api.user_deletes_pod(pod, force, grace_period_seconds)?);
            }
            Command::EvictPod { pod, grace_period_seconds } => {
                self.api.check_pod_request(&pod, RequestVerb::Evict)?;
                self.evict(&pod, grace_period_seconds)?;
            }
            Command::SetTolerations { pod, tolerations } => {
                writes.push(
                    self.api.change_pod(pod, |pod| pod.spec.tolerations = tolerations.into())?,
                );
            }
            Command::SetPodLabels { pod, labels } => {
                writes.push(self.api.change_pod(pod, |pod| pod.metadata.labels = labels.into())?);
            }
            Command::BindPod { pod, node } => writes.push(self.api.bind_pod(pod, &node)?),
            Command::FailPodWrites { pod, verb, times, error } => {
                self.api.fail_pod_writes(pod, verb, Fault { times, error })?;
            }
            Command::FailNodeWrites { node, write, times, error } => {
                self.api.fail_node_writes(node, write, Fault { times, error })?;
            }
            Command::Drain { nodes, options } => {
                for node in &nodes {
                    self.api.node(node)?;
                }
                self.with_drains(|drains, context| drains.start(context, nodes, options));
            }
            Command::CancelDrain { drain } => {
                if !self.with_drains(|drains, _| drains.cancel(drain)) {
                    let expected = "the number of a drain that is under way";
                    return Err(invalid("drain", format!("{drain}"), expected));
                }
            }
            Command::CreateWorkload(workload) => {
                writes.push(self.api.create_workload(*workload)?);
            }
            Command::UpdateWorkload(workload) => {
                writes.push(self.api.update_workload(*workload)?);
            }
            Command::DeleteWorkload { workload, cascade } => {
                writes.extend(self.api.delete_workload(&workload, cascade)?);
            }
            Command::Scale { workload, replicas } => {
                writes.push(self.api.scale(workload, replicas)?);
            }
            Command::SetStartUpTime { workload, time } => {
                writes.push(self.api.set_start_up_time(&workload, time)?);
            }
            Command::CreateBudget(budget) => {
                let write = self.api.create_budget(*budget)?;
                self.commit([write]);
                self.sync_budgets();
            }
            Command::UpdateBudget(budget) => {
                let write = self.api.update_budget(*budget)?;
                self.commit([write]);
                self.sync_budgets();
            }
            Command::DeleteBudget { budget } => writes.push(self.api.delete_budget(budget)?),
            Command::DeleteClaim { claim } => {
                let write = self.api.delete_claim(&claim)?;
                self.commit(write);
                self.run_control_actions();
            }
            Command::DeleteVolume { volume } => {
                let write = self.api.delete_volume(&volume)?;
                self.commit(write);
                self.run_control_actions();
            }
            Command::CreateDeviceObject(object) => {
                writes.push(self.api.create_device_object(*object)?);
            }
            Command::UpdateDeviceObject(object) => {
                writes.push(self.api.update_device_object(*object)?);
            }
            Command::DeleteDeviceObject { kind, name } => {
                writes.push(self.api.delete_device_object(kind, name)?);
            }
            Command::SetApiServerFlags { flags } => self.api.set_flags(flags)?,
            Command::RestartTaintEvictionController => {
                if let Some(timers_lost) = self.nodes.start_taint_eviction(&self.api) {
                    self.api.emit(EventKind::TaintEvictionControllerRestarted { timers_lost });
                }
            }
            Command::RestartControllerManager => {
                self.api.emit(EventKind::ControllerManagerRestarted);
                self.nodes.start_lifecycle(&mut self.api, &self.kubelets);
                self.apply(Command::RestartTaintEvictionController)?;
            }
            Command::StopKubelet { node } => {
                self.with_kubelets(|kubelets, _| kubelets.run(&node, false))?;
            }
            Command::StartKubelet { node } => {
                self.with_kubelets(|kubelets, _| kubelets.run(&node, true))?;
            }
            Command::RestartKubelet { node } => {
                self.with_kubelets(|kubelets, context| kubelets.restart(context, &node))?;
            }
            Command::FlapKubelet { node, down, up, times } => {
                check_flap(down, up, times)?;
                self.with_kubelets(|kubelets, _| kubelets.flap(&node, down.0, up.0, times))?;
            }
            Command::ShutDownNode {
                node,
                shutdown_grace_period: total,
                shutdown_grace_period_critical_pods: critical,
            } => {
                let (release, gates) = (self.api.config.release, &self.api.gates);
                let periods = NodeShutdownConfig::given(release, gates, total, critical);
                let periods = periods.map_err(|error| CommandError::Kubelet(error.to_string()))?;
                self.with_kubelets(|kubelets, context| {
                    kubelets.shut_down(context, &node, &periods)
                })?;
            }
            Command::CancelShutdown { node } => {
                if !self.with_kubelets(|kubelets, _| kubelets.cancel_shutdown(&node))? {
                    let expected = "a node that is being shut down and waits for its pods";
                    return Err(invalid("node", node.to_string(), expected));
                }
            }
            Command::PowerOffNode { node } => {
                self.with_kubelets(|kubelets, _| kubelets.power_off_node(&node))?;
            }
            Command::CutNetwork { node } => {
                self.with_kubelets(|kubelets, _| kubelets.cut_node(&node, true))?;
            }
            Command::RestoreNetwork { node } => {
                self.with_kubelets(|kubelets, _| kubelets.cut_node(&node, false))?;
            }
            Command::CutZoneNetwork { zone } => {
                self.with_kubelets(|kubelets, context| kubelets.cut_zone(context, &zone, true))?;
            }
            Command::RestoreZoneNetwork { zone } => {
                self.with_kubelets(|kubelets, context| kubelets.cut_zone(context, &zone, false))?;
            }
            Command::RegisterNode { node, kubelet_starts_after } => {
                let name = self.create_node(node, false)?;
                let after = kubelet_starts_after.map(|after| after.0);
                self.with_kubelets(|kubelets, _| kubelets.start_later(&name, after));
            }
            Command::SetNodeCondition { node, type_, status, reason, message } => {
                check_condition(&type_, &status)?;
                let reported = Reported::new(&type_, status, reason, message);
                self.with_kubelets(|kubelets, _| kubelets.report(&node, reported))?;
            }
            Command::SetNodeResources(resources) => {
                let NodeResources { node, capacity, layout, system, .. } = *resources;
                let mut usage = NodeUsage::new(capacity, system);
                usage.unused_containers = resources.unused_containers;
                usage.unused_images = resources.unused_images;
                self.with_kubelets(|kubelets, context| {
                    kubelets.set_node_resources(context, &node, layout, usage)
                })?;
            }
            Command::LoadNode(NodeLoad { node, resource, usage, leaves }) => {
                self.with_kubelets(|kubelets, context| {
                    kubelets.load_node(context, &node, resource, usage, leaves)
                })?;
            }
            Command::LoadPod(LoadedPod { pod, container, resource, usage }) => {
                self.with_kubelets(|kubelets, context| {
                    kubelets.load_pod(context, &pod, container, resource, &usage)
                })?;
            }
            Command::SetPodUsage { pods, usage } => {
                self.with_kubelets(|kubelets, context| {
                    kubelets.set_pod_usage(context, pods, usage)
                })?;
            }
            Command::ConfigureKubelet { node, configuration, flags } => {
                let config = &self.api.config;
                let base = configuration.as_deref().unwrap_or(&config.kubelet_configuration);
                let shutdown = base.node_shutdown_config(config.release, &self.api.gates);
                let config = eviction_config(config.release, base, &config.kubelet_flags, &flags);
                let setup = config.and_then(|eviction| {
                    Ok(KubeletSetup { eviction, shutdown: Arc::new(shutdown?) })
                });
                let setup = setup.map_err(|error| CommandError::Kubelet(error.to_string()))?;
                self.api.node(&node)?;
                self.with_kubelets(|kubelets, context| kubelets.configure(context, &node, setup))?;
            }
        }
        self.commit(writes);
        Ok(())
    }

    /// Creates a node; its kubelet runs if it is told so and nobody knows it yet.
    pub(super) fn create_node(
        &mut self,
        node: Node,
        kubelet_runs: bool,
    ) -> Result<NodeName, CommandError> {
        let name: NodeName = node.metadata.name.as_str().into();
        let write = self.api.create_node(node)?;
        self.commit([write]);
        if self.api.config.node_lifecycle {
            self.with_kubelets(|kubelets, context| kubelets.register(context, &name, kubelet_runs));
        }
        Ok(name)
    }

    pub(super) fn evict_for_drain(
        &mut self,
        pod: PodKey,
        disable_eviction: bool,
        grace: Option<u32>,
    ) -> EvictAnswer {
        // Without a control plane there are no budgets, and an eviction is a deletion.
        let command = if !disable_eviction && self.control.is_some() {
            Command::EvictPod { pod: pod.clone(), grace_period_seconds: grace }
        } else {
            let (pod, force) = (pod.clone(), grace == Some(0));
            let grace_period_seconds = grace.filter(|seconds| *seconds > 0);
            Command::DeletePod { pod, force, grace_period_seconds }
        };
        let verb = if disable_eviction { RequestVerb::Delete } else { RequestVerb::Evict };
        // The command asks once more, and then nothing is left to be refused: here it has its verb.
        let asked = self.api.check_pod_request(&pod, verb);
        if asked.is_ok() && !disable_eviction && self.control.is_none() {
            self.api.report_eviction(&pod, RequestResult::Ok);
        }
        match asked.and_then(|()| self.apply(command)) {
            Ok(()) => EvictAnswer::Accepted,
            Err(
                error @ (CommandError::DisruptionBudget { .. }
                | CommandError::BudgetNotProcessed { .. }
                | CommandError::RequestFailed {
                    error: ApiErrorKind::TooManyRequests, ..
                }),
            ) => EvictAnswer::Forbidden(error.to_string()),
            Err(CommandError::PodNotFound(_)) => EvictAnswer::NotFound,
            Err(error) => EvictAnswer::Failed(error.to_string()),
        }
    }
}

fn invalid(field: &'static str, value: String, expected: &'static str) -> CommandError {
    CommandError::InvalidValue { field, value, expected }
}

fn check_flap(down: Span, up: Span, times: Option<u32>) -> Result<(), CommandError> {
    for (field, span) in [("down", down), ("up", up)] {
        if span.0 < LEAST_FLAP {
            return Err(invalid(field, span.to_string(), "1ms or more, for example `30s`"));
        }
    }
    if times == Some(0) {
        return Err(invalid("times", "0".into(), "1 or more, or absent forever"));
    }
    Ok(())
}

fn check_condition(type_: &str, status: &ConditionStatus) -> Result<(), CommandError> {
    if type_.is_empty() {
        let expected = "the type of a condition, for example `Ready` or `MemoryPressure`";
        return Err(invalid("type", String::new(), expected));
    }
    if !ConditionStatus::KNOWN.contains(status) {
        return Err(invalid("status", format!("{status}"), "`True`, `False` or `Unknown`"));
    }
    Ok(())
}
