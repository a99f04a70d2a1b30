//! The two controllers that watch over nodes, and what is remembered of the evictions they caused.

use alloc::sync::Arc;
use alloc::vec::Vec;

use taintlab_rules::api::{Node, NodeName, PodKey, Taint};
use taintlab_rules::cluster::Change;
use taintlab_rules::queue::timer_queue::Sequence;
use taintlab_rules::release::{FeatureGate, FeatureGates};
use taintlab_rules::time::Timestamp;

use super::eviction_requests::{EvictionRequests, Next};
use crate::api_server::{ApiServer, SimulatorConfig};
use crate::controllers::Context;
use crate::controllers::device_taint_eviction::DeviceEviction;
use crate::controllers::node_lifecycle::{
    Client, NodeLifecycleConfig, NodeLifecycleController, NodeLifecycleReport, Renewal,
};
use crate::controllers::taint_eviction::{Decision, TaintEvictionAction, TaintEvictionController};
use crate::event::{EventKind, NodesPerSecond};
use crate::eviction_timeline::EvictionRecords;
use crate::eviction_timeline::time_budget::Eviction;
use crate::kubelet::{Heartbeats, Kubelets};

/// The controller that deletes a pod.
pub(super) enum Deleter {
    /// The node lifecycle controller.
    Lifecycle,
    /// The device taint eviction controller, as it planned.
    Devices(DeviceEviction),
    /// Any other one.
    Other,
}

/// The node lifecycle controller and the taint-eviction controller.
#[derive(Clone, Debug)]
pub(super) struct NodeControllers {
    pub(super) flags: NodeLifecycleConfig,
    pub(super) taint_eviction: TaintEvictionController,
    pub(super) requests: EvictionRequests,
    /// Whether it runs: with kubelets, a flag can switch it off.
    evicts_by_taints: bool,
    pub(super) lifecycle: Option<NodeLifecycleController>,
    pub(super) records: EvictionRecords,
    /// The orders of nodes in health passes that a recorded run had.
    pub(super) pass_orders: Vec<Vec<NodeName>>,
}

impl NodeControllers {
    pub(super) fn new(
        config: &SimulatorConfig,
        gates: &FeatureGates,
        flags: NodeLifecycleConfig,
    ) -> Self {
        Self {
            taint_eviction: TaintEvictionController::new(config.release, gates),
            requests: EvictionRequests::default(),
            evicts_by_taints: config.evicts_by_taints(&flags),
            lifecycle: None,
            records: EvictionRecords::new(
                gates.is_enabled(FeatureGate::TaintTolerationComparisonOperators),
            ),
            flags,
            pass_orders: Vec::new(),
        }
    }

    /// A taint-eviction controller that knows nothing is told of all nodes, then of all pods. Gives
    /// how many timers of the one before are lost, or `None` if it does not run.
    pub(super) fn start_taint_eviction(&mut self, api: &ApiServer) -> Option<usize> {
        if !self.evicts_by_taints {
            return None;
        }
        let timers_lost = self.taint_eviction.scheduled_evictions().len();
        self.taint_eviction = TaintEvictionController::new(api.config.release, &api.gates);
        let has_own_client = api.config.release.has_taint_eviction_controller();
        self.requests = EvictionRequests::new(has_own_client.then(|| {
            let write_time = api.config.health_pass.per_write.0;
            Client::new(&NodeLifecycleConfig { write_time, ..self.flags.clone() })
        }));
        for (_, node) in api.cluster.nodes() {
            self.taint_eviction.handle_node_update(api.now, None, Some(node));
        }
        for (key, pod) in api.cluster.pods() {
            self.taint_eviction.handle_pod_update(api.now, key, None, Some(pod));
        }
        Some(timers_lost)
    }

    /// Timers of pods run since their nodes were tainted, and nodes keep these taints.
    pub(super) fn resume(&mut self, context: &mut Context<'_>) {
        let wall_clock = context.wall_clock();
        let is_old = |taint: &Taint| taint.time_added.is_some_and(|added| added < wall_clock);
        let mut nodes = context.cluster.nodes().map(|(_, node)| node);
        if nodes.any(|node| node.spec.taints.iter().any(is_old)) {
            self.taint_eviction.resume(context.now, wall_clock);
            while self.taint_eviction.has_queued_work() {
                self.run_taint_eviction(context);
            }
        }
        if let Some(lifecycle) = &mut self.lifecycle {
            lifecycle.keep_taints();
        }
    }

    /// A node lifecycle controller that knows nothing is told of all leases, nodes and pods.
    pub(super) fn start_lifecycle(&mut self, api: &mut ApiServer, kubelets: &Kubelets) {
        if !api.config.node_lifecycle || !self.flags.is_enabled() {
            return;
        }
        let (start, now) = (api.config.start, api.now);
        let names = api.cluster.nodes().map(|(name, _)| name.clone());
        let names: Vec<NodeName> = names.collect();
        for name in &names {
            if let Some(node) = kubelets.node_as_posted((start, now), &api.cluster, name.as_str()) {
                api.cluster.put_node(Arc::new(node));
            }
        }
        let (release, mut flags) = (api.config.release, self.flags.clone());
        let pass = api.config.health_pass;
        let nodes = u32::try_from(names.len()).unwrap_or(u32::MAX);
        let whole = pass.per_node.0.saturating_mul(nodes);
        flags.node_monitor_period = flags.node_monitor_period.saturating_add(whole);
        flags.write_time = pass.per_write.0;
        flags.informer_lag = pass.informer_lag.0;
        self.lifecycle = Some(NodeLifecycleController::new(release, flags, start, now));
        for name in &names {
            self.handle_heartbeats(now, name, kubelets.heartbeats(&api.cluster, name));
        }
        let Some(lifecycle) = &mut self.lifecycle else { return };
        lifecycle.prefer(self.pass_orders.clone());
        for (_, node) in api.cluster.nodes() {
            lifecycle.handle_node_update(now, None, Some(node));
        }
        for (key, pod) in api.cluster.pods() {
            lifecycle.handle_pod_update(now, key, None, Some(pod));
        }
    }

    /// A node or a pod was added, changed or deleted.
    pub(super) fn handle_change(&mut self, now: Timestamp, change: &Change) {
        match change {
            Change::Node { old, new, .. } => {
                if self.evicts_by_taints {
                    let (old, new) = (old.as_deref(), new.as_deref());
                    self.taint_eviction.handle_node_update(now, old, new);
                }
                if let Some(lifecycle) = &mut self.lifecycle {
                    lifecycle.handle_node_update(now, old.as_ref(), new.as_ref());
                }
            }
            Change::Pod { key, old, new } => {
                let (old, new) = (old.as_deref(), new.as_deref());
                if self.evicts_by_taints {
                    self.taint_eviction.handle_pod_update(now, key, old, new);
                }
                if let Some(lifecycle) = &mut self.lifecycle {
                    lifecycle.handle_pod_update(now, key, old, new);
                }
                let is_same =
                    old.zip(new).is_some_and(|(old, new)| old.metadata.uid == new.metadata.uid);
                if !is_same {
                    self.records.record_gone(now, key);
                }
                if !is_same && new.is_some() {
                    self.records.record_created(key);
                }
            }
            Change::Workload { .. }
            | Change::Lease { .. }
            | Change::Budget { .. }
            | Change::Volume(_)
            | Change::Device(_) => {}
        }
    }

    /// The heartbeats of a node's last post are put into its object, which is no news but for the
    /// node lifecycle controller.
    pub(super) fn record_heartbeats(&mut self, api: &mut ApiServer, node: Arc<Node>) {
        let old = api.cluster.put_node(node.clone());
        if let Some(lifecycle) = &mut self.lifecycle {
            lifecycle.handle_node_update(api.now, old.as_ref(), Some(&node));
        }
    }

    /// Tells the node lifecycle controller all it can know about a kubelet.
    pub(super) fn handle_heartbeats(
        &mut self,
        now: Timestamp,
        name: &NodeName,
        heartbeats: Heartbeats,
    ) {
        let Some(lifecycle) = &mut self.lifecycle else { return };
        match heartbeats {
            Heartbeats::Gone => {
                lifecycle.handle_heartbeats(now, name, None);
                lifecycle.handle_renewal(now, name, None);
            }
            Heartbeats::Periodic(schedule) => {
                lifecycle.handle_heartbeats(now, name, Some(schedule));
            }
            Heartbeats::Ended(renewed) => {
                lifecycle.handle_heartbeats(now, name, None);
                if renewed.is_some() {
                    let renewal = Renewal { renew_time: renewed };
                    lifecycle.handle_renewal(now, name, Some(renewal));
                }
            }
        }
    }

    /// The taint-eviction controller does one piece of what is due; its timers are numbered with
    /// those of the others.
    pub(super) fn run_taint_eviction(&mut self, context: &mut Context<'_>) {
        self.number_timers(context, |controller, context| {
            controller.handle_timeout(context.now, context.cluster);
        });
    }

    /// What the taint-eviction controller wants done now; its requests wait for their tokens.
    pub(super) fn poll_taint_eviction(
        &mut self,
        now: Timestamp,
        sequence: &mut Sequence,
    ) -> Option<TaintEvictionAction> {
        loop {
            let (controller, lifecycle) = (&mut self.taint_eviction, self.lifecycle.as_mut());
            match self.requests.poll((now, sequence), controller, lifecycle)? {
                Next::Act(action) => return Some(action),
                Next::Waits(pod) => self.records.record_throttled(&pod),
            }
        }
    }

    /// Calls the taint-eviction controller so that its timers are numbered with those of the
    /// others.
    pub(super) fn number_timers(
        &mut self,
        context: &mut Context<'_>,
        call: impl FnOnce(&mut TaintEvictionController, &Context<'_>),
    ) {
        self.taint_eviction.align_sequence(context.sequence.peek());
        call(&mut self.taint_eviction, context);
        context.sequence.advance_to(self.taint_eviction.sequence());
    }

    /// The taint-eviction controller has decided about a pod.
    pub(super) fn record_decision(&mut self, api: &ApiServer, decision: &Decision) {
        let pod = api.cluster.get_pod(&decision.pod).map(AsRef::as_ref);
        self.records.record_decision(api.now, decision, pod);
    }

    /// The taint-eviction controller knows other taints of a node.
    pub(super) fn record_node(&mut self, api: &ApiServer, node: &NodeName, taints: &[Taint]) {
        let lifecycle = self.lifecycle.as_ref();
        let history = lifecycle.and_then(|lifecycle| lifecycle.taint_history(node.as_str()));
        self.records.record_node((api.now, api.config.start), node, taints, history);
    }

    /// A controller has deleted a pod.
    pub(super) fn record_delete(&mut self, api: &ApiServer, pod: &PodKey, deleter: Deleter) {
        let Some(object) = api.cluster.get_pod(pod) else { return };
        let grace = api.grace_period_of(object);
        let eviction = match deleter {
            Deleter::Other => None,
            Deleter::Lifecycle => {
                let lifecycle = self.lifecycle.as_ref();
                let node = &object.spec.node_name;
                let history = lifecycle.and_then(|lifecycle| lifecycle.taint_history(node));
                Some(Eviction::by_lifecycle(api.now, object, history.cloned().unwrap_or_default()))
            }
            Deleter::Devices(planned) => Some(Eviction::by_device(object, planned)),
        };
        self.records.record_delete(api.now, pod, grace, eviction);
    }
}

impl From<NodeLifecycleReport> for EventKind {
    fn from(report: NodeLifecycleReport) -> Self {
        match report {
            NodeLifecycleReport::ZoneState { zone, from, to, not_ready, size } => {
                Self::ZoneStateChanged { zone, from, to, not_ready, total: size }
            }
            NodeLifecycleReport::Limiter { zone, qps } => {
                Self::ZoneRateChanged { zone, rate: NodesPerSecond(qps.unwrap_or_default()) }
            }
            NodeLifecycleReport::MasterDisruptionEntered => Self::MasterDisruptionEntered,
            NodeLifecycleReport::MasterDisruptionLeft => Self::MasterDisruptionLeft,
            NodeLifecycleReport::Queued { node, zone } => Self::NodeQueued { node, zone },
            NodeLifecycleReport::Dequeued { node, zone, outcome } => {
                Self::NodeDequeued { node, zone, outcome }
            }
            NodeLifecycleReport::NodeSkipped { node } => Self::NodeSkipped { node },
        }
    }
}
