//! What each command about kubelets, networks and kube-controller-manager does.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use super::kubelets::{Flap, Wake};
use super::{Fault, Simulator};
use crate::api::{ConditionStatus, Node, NodeName};
use crate::command::{Command, CommandError};
use crate::kubelet_heartbeat::Reported;
use crate::node_lifecycle::zone::{ZoneKey, find_zone};
use crate::time::Span;

/// The least time that a flapping kubelet is up or down.
const LEAST_FLAP: Duration = Duration::from_millis(1);

impl Simulator {
    pub(super) fn apply_fault(&mut self, command: Command) -> Result<(), CommandError> {
        if !self.config.node_lifecycle {
            return Err(CommandError::NoNodeLifecycle);
        }
        match command {
            Command::StopKubelet { node } => self.with_kubelet(&node, |simulator| {
                simulator.forget_switch(&node);
                simulator.switch_kubelet(&node, false);
            }),
            Command::StartKubelet { node } => self.with_kubelet(&node, |simulator| {
                simulator.forget_switch(&node);
                simulator.switch_kubelet(&node, true);
            }),
            Command::RestartKubelet { node } => self.with_kubelet(&node, |simulator| {
                simulator.forget_switch(&node);
                simulator.restart_kubelet(&node);
            }),
            Command::FlapKubelet { node, down, up, times } => {
                check_flap(down, up, times)?;
                let flap = Flap { down: down.0, up: up.0, left: times };
                self.with_kubelet(&node, |simulator| simulator.begin_flapping(&node, flap))
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
            Command::RestartControllerManager => {
                self.restart_controller_manager();
                Ok(())
            }
            Command::FailNodeWrites { node, write, times, error } => {
                self.node(&node)?;
                self.node_faults.remove(&(node.clone(), write));
                if times > 0 {
                    self.node_faults.insert((node, write), Fault { times, error });
                }
                Ok(())
            }
            other => self.apply_usage(other),
        }
    }

    /// Does something with a kubelet, which may outlive its node.
    fn with_kubelet(
        &mut self,
        name: &NodeName,
        change: impl FnOnce(&mut Self),
    ) -> Result<(), CommandError> {
        if !self.kubelets.by_node.contains_key(name.as_str()) {
            return Err(CommandError::NodeNotFound(name.clone()));
        }
        change(self);
        Ok(())
    }

    fn cut_node(&mut self, name: &NodeName, cut: bool) -> Result<(), CommandError> {
        let kubelet = self.kubelets.by_node.get_mut(name.as_str());
        let kubelet = kubelet.ok_or_else(|| CommandError::NodeNotFound(name.clone()))?;
        kubelet.cut = cut;
        self.review_kubelet(name);
        Ok(())
    }

    fn cut_zone(&mut self, text: &str, cut: bool) -> Result<(), CommandError> {
        let nodes: Vec<(NodeName, ZoneKey)> = self
            .cluster
            .nodes()
            .map(|(name, node)| (name.clone(), ZoneKey::of(&node.metadata.labels)))
            .collect();
        let known = nodes.iter().map(|(_, zone)| zone).chain(&self.kubelets.cut_zones);
        let zone = find_zone(known, text).map_err(|similar| CommandError::ZoneNotFound {
            zone: text.into(),
            ambiguous: !similar.is_empty(),
            zones: if similar.is_empty() { names(&nodes) } else { similar },
        })?;
        if cut {
            self.kubelets.cut_zones.insert(zone.clone());
        } else {
            self.kubelets.cut_zones.remove(&zone);
        }
        for (name, of_node) in &nodes {
            if *of_node == zone {
                self.review_kubelet(name);
            }
        }
        Ok(())
    }

    fn register_node(&mut self, node: Node, after: Option<Span>) -> Result<(), CommandError> {
        let known: NodeName = node.metadata.name.as_str().into();
        let name = self.create_node(node, false)?;
        if self.kubelets.by_node.contains_key(known.as_str()) {
            self.forget_switch(&name);
            self.switch_kubelet(&name, false);
        }
        if let Some(after) = after {
            self.plan_switch(&name, after.0, Wake::Start);
        }
        Ok(())
    }

    /// The kubelet finds something out about its node.
    fn report(&mut self, name: &NodeName, reported: Reported) {
        let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) else { return };
        kubelet.report = kubelet.report.with(reported);
        if kubelet.heard {
            self.post_status(name, false);
        }
    }
}

fn names(nodes: &[(NodeName, ZoneKey)]) -> Vec<String> {
    let mut names: Vec<String> = nodes.iter().map(|(_, zone)| zone.name()).collect();
    names.sort();
    names.dedup();
    names
}

fn check_flap(down: Span, up: Span, times: Option<u32>) -> Result<(), CommandError> {
    for (field, span) in [("down", down), ("up", up)] {
        if span.0 < LEAST_FLAP {
            let expected = "1ms or more, for example `30s`";
            return Err(CommandError::InvalidValue { field, value: span.to_string(), expected });
        }
    }
    if times == Some(0) {
        let expected = "1 or more, or absent for ever";
        return Err(CommandError::InvalidValue { field: "times", value: "0".into(), expected });
    }
    Ok(())
}

fn check_condition(type_: &str, status: &ConditionStatus) -> Result<(), CommandError> {
    if type_.is_empty() {
        let expected = "the type of a condition, for example `Ready` or `MemoryPressure`";
        return Err(CommandError::InvalidValue { field: "type", value: String::new(), expected });
    }
    if !ConditionStatus::KNOWN.contains(status) {
        let (value, expected) = (format!("{status}"), "`True`, `False` or `Unknown`");
        return Err(CommandError::InvalidValue { field: "status", value, expected });
    }
    Ok(())
}
