//! What each command about kubelets, networks and kube-controller-manager does.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use super::Simulator;
use super::kubelets::{Flap, Wake};
use crate::api::{ConditionStatus, Node, NodeName};
use crate::command::CommandError;
use crate::kubelet::heartbeat::Reported;
use crate::protocol::zone::{ZoneKey, find_zone};
use crate::time::Span;

/// The least time that a flapping kubelet is up or down.
const LEAST_FLAP: Duration = Duration::from_millis(1);

impl Simulator {
    /// Starts or stops a kubelet, whatever was planned for it.
    pub(super) fn run_kubelet(&mut self, node: &NodeName, runs: bool) -> Result<(), CommandError> {
        self.with_kubelet(node, |simulator| {
            simulator.forget_switch(node);
            simulator.switch_kubelet(node, runs);
        })
    }

    pub(super) fn flap_kubelet(
        &mut self,
        node: &NodeName,
        down: Span,
        up: Span,
        times: Option<u32>,
    ) -> Result<(), CommandError> {
        check_flap(down, up, times)?;
        let flap = Flap { down: down.0, up: up.0, left: times };
        self.with_kubelet(node, |simulator| simulator.begin_flapping(node, flap))
    }

    /// Does something with a kubelet, which may outlive its node.
    pub(super) fn with_kubelet(
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

    pub(super) fn cut_node(&mut self, name: &NodeName, cut: bool) -> Result<(), CommandError> {
        let kubelet = self.kubelets.by_node.get_mut(name.as_str());
        let kubelet = kubelet.ok_or_else(|| CommandError::NodeNotFound(name.clone()))?;
        kubelet.cut = cut;
        self.update_kubelet(name);
        Ok(())
    }

    pub(super) fn cut_zone(&mut self, text: &str, cut: bool) -> Result<(), CommandError> {
        let nodes: Vec<(NodeName, ZoneKey)> = self
            .api
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
                self.update_kubelet(name);
            }
        }
        Ok(())
    }

    pub(super) fn register_node(
        &mut self,
        node: Node,
        after: Option<Span>,
    ) -> Result<(), CommandError> {
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
    pub(super) fn report(&mut self, name: &NodeName, reported: Reported) {
        let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) else { return };
        kubelet.report = kubelet.report.with(reported);
        if kubelet.connected {
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

pub(super) fn check_condition(type_: &str, status: &ConditionStatus) -> Result<(), CommandError> {
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
