//! The node lifecycle controller in a simulation: what it is told, and what it wants done.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::Simulator;
use crate::api::{Node, NodeName, Pod, PodKey, Taint};
use crate::command::{ApiErrorKind, NodeWrite, PodWrite};
use crate::event::{Happening, NodesPerSecond, RequestResult, RequestVerb};
use crate::node_lifecycle::{Action, NodeLifecycleController, PodStatusPatch, Report};

impl Simulator {
    /// A controller that knows nothing is told of all leases, nodes and pods.
    pub(super) fn start_lifecycle(&mut self) {
        if !self.config.node_lifecycle || !self.flags.is_enabled() {
            return;
        }
        let names: Vec<NodeName> = self.cluster.nodes().map(|(name, _)| name.clone()).collect();
        for name in &names {
            self.write_down_heartbeats(name);
        }
        let (release, flags) = (self.config.release, self.flags.clone());
        let controller = NodeLifecycleController::new(release, flags, self.config.start, self.now);
        self.lifecycle = Some(controller);
        for name in &names {
            self.tell_heartbeats(name);
        }
        let Some(lifecycle) = &mut self.lifecycle else { return };
        for (_, node) in self.cluster.nodes() {
            lifecycle.handle_node_update(self.now, None, Some(node));
        }
        for (key, pod) in self.cluster.pods() {
            lifecycle.handle_pod_update(self.now, key, None, Some(pod));
        }
    }

    pub(super) fn restart_controller_manager(&mut self) {
        self.emit(Happening::ControllerManagerRestarted);
        self.start_lifecycle();
        if self.evicts_by_taints {
            self.restart_taint_eviction();
        }
    }

    /// Tells the controllers, and the node's kubelet, that a node was added, changed or deleted.
    pub(super) fn tell_node(&mut self, old: Option<&Arc<Node>>, new: Option<&Arc<Node>>) {
        let now = self.now;
        if self.evicts_by_taints {
            let (old, new) = (old.map(AsRef::as_ref), new.map(AsRef::as_ref));
            self.taint_eviction.handle_node_update(now, old, new);
        }
        if let Some(lifecycle) = &mut self.lifecycle {
            lifecycle.handle_node_update(now, old, new);
        }
        self.control_node(old.map(AsRef::as_ref), new.map(AsRef::as_ref));
    }

    /// Tells the controllers that a pod was added, changed or deleted.
    pub(super) fn tell_pod(&mut self, key: &PodKey, old: Option<&Pod>, new: Option<&Pod>) {
        if self.evicts_by_taints {
            self.taint_eviction.handle_pod_update(self.now, key, old, new);
        }
        if let Some(lifecycle) = &mut self.lifecycle {
            lifecycle.handle_pod_update(self.now, key, old, new);
        }
        self.control_pod(key, old, new);
        self.tell_eviction_managers(key, old, new);
    }

    /// Tells which conditions of a node have changed.
    pub(super) fn tell_conditions(&mut self, old: Option<&Node>, new: &Node) {
        if !self.config.node_lifecycle {
            return;
        }
        let before = old.map_or(&[][..], |node| &node.status.conditions);
        let mut changes = Vec::new();
        for condition in &new.status.conditions {
            let from = before.iter().find(|known| known.type_ == condition.type_);
            if from.is_none_or(|from| from.status != condition.status) {
                changes.push((
                    condition.type_.clone(),
                    from.map(|from| from.status.clone()).unwrap_or_default(),
                    condition.status.clone(),
                    condition.reason.clone(),
                ));
            }
        }
        let gone = before.iter().filter(|known| new.condition(&known.type_).is_none());
        changes.extend(gone.map(|known| {
            (known.type_.clone(), known.status.clone(), Default::default(), Default::default())
        }));
        let node: NodeName = new.metadata.name.as_str().into();
        for (condition, from, to, reason) in changes {
            let node = node.clone();
            self.emit(Happening::NodeConditionChanged { node, condition, from, to, reason });
        }
    }

    /// The controller does one piece of what is due, and all that its results allow to go on.
    pub(super) fn run_lifecycle(&mut self) {
        loop {
            let Some(lifecycle) = &mut self.lifecycle else { return };
            lifecycle.handle_timeout(self.now, &self.cluster);
            let mut answered = false;
            while let Some(action) = self.lifecycle.as_mut().and_then(|c| c.poll_action()) {
                answered |= self.act(action);
            }
            if !answered {
                return;
            }
        }
    }

    /// Whether the action was a request, whose result the controller now knows.
    fn act(&mut self, action: Action) -> bool {
        let (id, result) = match action {
            Action::RecordEvent(event) => {
                self.emit(Happening::EventRecorded(event));
                return false;
            }
            Action::Report(report) => {
                self.tell_report(report);
                return false;
            }
            Action::PatchNodeStatus { id, node, conditions } => {
                let write = |node: &mut Node| node.status.conditions = conditions;
                (id, self.write_node(&node, NodeWrite::Status, write))
            }
            Action::PatchNodeTaints { id, node, patch } => {
                let write = |node: &mut Node| {
                    patch.apply(node);
                };
                (id, self.write_node(&node, NodeWrite::Taints, write))
            }
            Action::PatchNodeLabels { id, node, labels } => {
                let write = |node: &mut Node| node.metadata.labels.extend(labels);
                (id, self.write_node(&node, NodeWrite::Labels, write))
            }
            Action::PatchPodStatus { id, pod, patch } => (id, self.write_pod_status(&pod, &patch)),
            Action::DeletePod { id, pod } => (id, self.controller_deletes_pod(&pod, true)),
        };
        if let Some(lifecycle) = &mut self.lifecycle {
            lifecycle.handle_action_result(self.now, id, result);
        }
        true
    }

    fn write_node(
        &mut self,
        name: &NodeName,
        write: NodeWrite,
        change: impl FnOnce(&mut Node),
    ) -> RequestResult {
        let Some(old) = self.cluster.get_node(name.as_str()).cloned() else {
            return RequestResult::NotFound;
        };
        if let Some(error) = self.take_node_fault(name, write) {
            self.emit(Happening::NodeWriteRefused { node: name.clone(), write, error });
            return RequestResult::Error(error);
        }
        let mut new = Node::clone(&old);
        change(&mut new);
        let differs = |taint: &&Taint, others: &[Taint]| !others.contains(taint);
        let (before, after) = (&old.spec.taints, &new.spec.taints);
        let added: Vec<Taint> = after.iter().filter(|t| differs(t, before)).cloned().collect();
        let removed: Vec<Taint> = before.iter().filter(|t| differs(t, after)).cloned().collect();
        if !added.is_empty() || !removed.is_empty() {
            self.emit(Happening::NodeTaintsChanged { node: name.clone(), added, removed });
        }
        self.store_node(new);
        RequestResult::Ok
    }

    fn write_pod_status(&mut self, key: &PodKey, patch: &PodStatusPatch) -> RequestResult {
        let Some(pod) = self.cluster.get_pod(key) else { return RequestResult::NotFound };
        let mut pod = Pod::clone(pod);
        let (uid, node) = (pod.metadata.uid.clone(), pod.spec.node_name.clone());
        let refused = self.take_fault(key, PodWrite::PatchStatus);
        let result = refused.map_or(RequestResult::Ok, RequestResult::Error);
        let verb = RequestVerb::PatchStatus;
        self.emit(Happening::Request { pod: key.clone(), uid, verb, result });
        if refused.is_none() && patch.apply(&mut pod) {
            self.remember_marked(key, &node);
            self.store_pod(key, pod);
        }
        result
    }

    fn take_node_fault(&mut self, name: &NodeName, write: NodeWrite) -> Option<ApiErrorKind> {
        if self.node_faults.is_empty() {
            return None;
        }
        let entry = (name.clone(), write);
        let fault = self.node_faults.get_mut(&entry)?;
        fault.times = fault.times.saturating_sub(1);
        let error = fault.error;
        if fault.times == 0 {
            self.node_faults.remove(&entry);
        }
        Some(error)
    }

    fn tell_report(&mut self, report: Report) {
        self.emit(match report {
            Report::ZoneState { zone, from, to, not_ready, size } => {
                Happening::ZoneStateChanged { zone, from, to, not_ready, total: size }
            }
            Report::Limiter { zone, qps } => {
                let rate = NodesPerSecond(qps.unwrap_or_default());
                Happening::ZoneRateChanged { zone, rate }
            }
            Report::MasterDisruptionEntered => Happening::MasterDisruptionEntered,
            Report::MasterDisruptionLeft => Happening::MasterDisruptionLeft,
            Report::Queued { node, zone } => Happening::NodeQueued { node, zone },
            Report::Dequeued { node, zone, outcome } => {
                Happening::NodeDequeued { node, zone, outcome }
            }
            Report::NodeSkipped { node } => Happening::NodeSkipped { node },
        });
    }
}
