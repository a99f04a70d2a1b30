//! The node lifecycle controller in a simulation: what it is told, and what it wants done.

use alloc::vec::Vec;

use super::Simulator;
use crate::api::{Node, NodeName, Pod, PodKey, Taint};
use crate::cluster::Change;
use crate::command::{CommandError, NodeWrite, PodWrite};
use crate::controllers::node_lifecycle::{Action, NodeLifecycleController, PodStatusPatch, Report};
use crate::event::{EventKind, NodesPerSecond, RequestResult, RequestVerb};

impl Simulator {
    /// A controller that knows nothing is told of all leases, nodes and pods.
    pub(super) fn start_lifecycle(&mut self) {
        if !self.api.config.node_lifecycle || !self.flags.is_enabled() {
            return;
        }
        let names: Vec<NodeName> = self.api.cluster.nodes().map(|(name, _)| name.clone()).collect();
        for name in &names {
            self.record_heartbeats(name);
        }
        let (release, flags) = (self.api.config.release, self.flags.clone());
        let controller =
            NodeLifecycleController::new(release, flags, self.api.config.start, self.api.now);
        self.lifecycle = Some(controller);
        for name in &names {
            self.notify_heartbeats(name);
        }
        let Some(lifecycle) = &mut self.lifecycle else { return };
        for (_, node) in self.api.cluster.nodes() {
            lifecycle.handle_node_update(self.api.now, None, Some(node));
        }
        for (key, pod) in self.api.cluster.pods() {
            lifecycle.handle_pod_update(self.api.now, key, None, Some(pod));
        }
    }

    pub(super) fn restart_controller_manager(&mut self) -> Result<(), CommandError> {
        self.api.emit(EventKind::ControllerManagerRestarted);
        self.start_lifecycle();
        self.restart_taint_eviction()
    }

    /// Tells the controllers, and the node's kubelet, that a node was added, changed or deleted.
    pub(super) fn notify_node(&mut self, change: &Change) {
        let Change::Node { old, new, .. } = change else { return };
        let now = self.api.now;
        if self.evicts_by_taints {
            self.taint_eviction.handle_node_update(now, old.as_deref(), new.as_deref());
        }
        if let Some(lifecycle) = &mut self.lifecycle {
            lifecycle.handle_node_update(now, old.as_ref(), new.as_ref());
        }
        self.notify_control(change);
    }

    /// Tells the controllers that a pod was added, changed or deleted.
    pub(super) fn notify_pod(&mut self, change: &Change) {
        let Change::Pod { key, old, new } = change else { return };
        let (before, after) = (old.as_deref(), new.as_deref());
        if self.evicts_by_taints {
            self.taint_eviction.handle_pod_update(self.api.now, key, before, after);
        }
        if let Some(lifecycle) = &mut self.lifecycle {
            lifecycle.handle_pod_update(self.api.now, key, before, after);
        }
        self.control_pod(change);
        self.notify_eviction_managers(key, before, after);
    }

    /// The controller does one piece of what is due, and all that its results allow to go on.
    pub(super) fn run_lifecycle(&mut self) {
        loop {
            let Some(lifecycle) = &mut self.lifecycle else { return };
            lifecycle.handle_timeout(self.api.now, &self.api.cluster);
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
                self.api.emit(EventKind::EventRecorded(event));
                return false;
            }
            Action::Report(report) => {
                self.emit_report(report);
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
            lifecycle.handle_action_result(self.api.now, id, result);
        }
        true
    }

    fn write_node(
        &mut self,
        name: &NodeName,
        write: NodeWrite,
        change: impl FnOnce(&mut Node),
    ) -> RequestResult {
        let Some(old) = self.api.cluster.get_node(name.as_str()).cloned() else {
            return RequestResult::NotFound;
        };
        if let Some(error) = self.api.take_node_fault(name, write) {
            self.api.emit(EventKind::NodeWriteRefused { node: name.clone(), write, error });
            return RequestResult::Error(error);
        }
        let mut new = Node::clone(&old);
        change(&mut new);
        let differs = |taint: &&Taint, others: &[Taint]| !others.contains(taint);
        let (before, after) = (&old.spec.taints, &new.spec.taints);
        let added: Vec<Taint> = after.iter().filter(|t| differs(t, before)).cloned().collect();
        let removed: Vec<Taint> = before.iter().filter(|t| differs(t, after)).cloned().collect();
        if !added.is_empty() || !removed.is_empty() {
            self.api.emit(EventKind::NodeTaintsChanged { node: name.clone(), added, removed });
        }
        self.store_node(new);
        RequestResult::Ok
    }

    fn write_pod_status(&mut self, key: &PodKey, patch: &PodStatusPatch) -> RequestResult {
        let Some(pod) = self.api.cluster.get_pod(key) else { return RequestResult::NotFound };
        let mut pod = Pod::clone(pod);
        let (uid, node) = (pod.metadata.uid.clone(), pod.spec.node_name.clone());
        let refused = self.api.take_fault(key, PodWrite::PatchStatus);
        let result = refused.map_or(RequestResult::Ok, RequestResult::Error);
        let verb = RequestVerb::PatchStatus;
        self.api.emit(EventKind::Request { pod: key.clone(), uid, verb, result });
        if refused.is_none() && patch.apply(&mut pod) {
            self.remember_marked(key, &node);
            self.store_pod(key, pod);
        }
        result
    }

    fn emit_report(&mut self, report: Report) {
        self.api.emit(match report {
            Report::ZoneState { zone, from, to, not_ready, size } => {
                EventKind::ZoneStateChanged { zone, from, to, not_ready, total: size }
            }
            Report::Limiter { zone, qps } => {
                let rate = NodesPerSecond(qps.unwrap_or_default());
                EventKind::ZoneRateChanged { zone, rate }
            }
            Report::MasterDisruptionEntered => EventKind::MasterDisruptionEntered,
            Report::MasterDisruptionLeft => EventKind::MasterDisruptionLeft,
            Report::Queued { node, zone } => EventKind::NodeQueued { node, zone },
            Report::Dequeued { node, zone, outcome } => {
                EventKind::NodeDequeued { node, zone, outcome }
            }
            Report::NodeSkipped { node } => EventKind::NodeSkipped { node },
        });
    }
}
