//! The controller: its state, inputs, outputs, and deadlines.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use taintlab_rules::api::{Lease, Node, NodeName, Pod, PodKey};
use taintlab_rules::cluster::{Change, Lister};
use taintlab_rules::order::OrderedMap;
use taintlab_rules::protocol::zone::ZoneKey;
use taintlab_rules::protocol::{
    ObjectReference, RecordedEvent, RequestId, RequestResult, Timeout, TimeoutReason, round_up,
};
use taintlab_rules::queue::timer_queue::TimerId;
use taintlab_rules::queue::work_queue::WorkQueue;
use taintlab_rules::release::KubernetesRelease;
use taintlab_rules::time::{Time, Timestamp};

use super::action::{NodeLifecycleAction, NodeLifecycleReport};
use super::config::NodeLifecycleConfig;
use super::due::{Rules, WakeupIndex};
use super::flow::{Client, FlowKind, Flows};
use super::no_schedule;
use super::record::{CachedNode, EvictionStatus, NodeState, Zone};
use super::work::{Pass, PodItems, Resume, Step};
use crate::controllers::{Context, Controller, Machine, WorkTicket};

/// Time between two tainting passes (or legacy eviction passes). Mirrors
/// `scheduler.NodeEvictionPeriod`.
pub const NODE_EVICTION_PERIOD: Duration = Duration::from_millis(100);

/// Monitors nodes. See the [module](super) for how to drive it.
#[derive(Clone, Debug)]
pub struct NodeLifecycleController {
    pub(super) release: KubernetesRelease,
    pub(super) config: NodeLifecycleConfig,
    /// Wall-clock time at zero.
    pub(super) start: Time,
    pub(super) records: OrderedMap<NodeName, NodeState>,
    pub(super) zones: OrderedMap<ZoneKey, Zone>,
    pub(super) wakeups: WakeupIndex,
    /// Pass that is due independently of any node: a turn failed, and the queue of that zone has to
    /// be put in order again.
    pub(super) order_due: Option<Timestamp>,
    /// Whether the first pass is to come, and taints from before stay.
    pub(super) resumes: bool,
    pub(super) node_items: WorkQueue<NodeName>,
    pub(super) pod_items: PodItems,
    pub(super) steps: VecDeque<Step>,
    pub(super) flows: Flows,
    pub(super) client: Client,
    pub(super) awaiting: Option<(RequestId, Resume)>,
    answer: Option<(Resume, RequestResult)>,
    pub(super) actions: VecDeque<NodeLifecycleAction>,
    pub(super) next_id: u64,
    pub(super) pass: Option<Pass>,
    /// Preferred orders of some nodes in a pass; other nodes are ordered by name.
    pub(super) orders: Vec<Vec<NodeName>>,
    /// First health pass that has not started.
    pub(super) next_pass: Timestamp,
    /// Start of the last health pass.
    pub(super) last_pass: Timestamp,
    /// Start of the tainting passes, which run every 100 ms from then.
    started: Timestamp,
    /// Time of the last tainting pass.
    pub(super) last_tick: Option<Timestamp>,
    /// Last time a node was queued or a rate changed: earlier tainting passes have no effect.
    pub(super) queues_changed: Timestamp,
    pub(super) now: Timestamp,
}

/// Borrows single fields, so that others can be changed meanwhile.
macro_rules! rules {
    ($controller:expr) => {
        Rules {
            release: $controller.release,
            config: &$controller.config,
            start: $controller.start,
            zones: &$controller.zones,
            passing: $controller.pass.is_some(),
            next_pass: $controller.next_pass,
            last_pass: $controller.last_pass,
            now: $controller.now,
        }
    };
}

impl NodeLifecycleController {
    /// A controller that starts at `now` without any knowledge: report all leases, nodes and pods
    /// to it. `start` is the wall-clock time at zero.
    #[must_use]
    pub fn new(
        release: KubernetesRelease,
        config: NodeLifecycleConfig,
        start: Time,
        now: Timestamp,
    ) -> Self {
        Self {
            release,
            client: Client::new(&config),
            config,
            start,
            records: OrderedMap::new(),
            zones: OrderedMap::new(),
            wakeups: WakeupIndex::default(),
            order_due: None,
            resumes: false,
            node_items: WorkQueue::default(),
            pod_items: PodItems::default(),
            steps: VecDeque::new(),
            flows: Flows::default(),
            awaiting: None,
            answer: None,
            actions: VecDeque::new(),
            next_id: 0,
            pass: None,
            orders: Vec::new(),
            next_pass: now,
            last_pass: now,
            started: now,
            last_tick: None,
            queues_changed: now,
            now,
        }
    }

    /// Lets nodes keep the taints of this controller that they have had since before it began
    /// (`timeAdded`), as if it had run then; otherwise its first pass takes them away.
    pub fn keep_taints(&mut self) {
        self.resumes = true;
    }

    /// Sets orders for health passes: nodes of a list are visited in its order, others by name.
    /// Upstream the order of `nodeLister.List` is that of a map.
    pub fn prefer(&mut self, orders: Vec<Vec<NodeName>>) {
        self.orders = orders;
    }

    /// Reports that a node was added (`old` is `None`), changed, or deleted (`new` is `None`).
    pub fn handle_node_update(
        &mut self,
        now: Timestamp,
        old: Option<&Arc<Node>>,
        new: Option<&Arc<Node>>,
    ) {
        self.now = now;
        let Some(node) = new.or(old) else { return };
        let name: NodeName = node.metadata.name.as_str().into();
        let (release, start) = (self.release, self.start);
        let (rules, records) = self.split();
        let record = records.entry(name.clone()).or_default();
        rules.see_change(record);
        match new {
            Some(node) => {
                let before = record.listed.take();
                if before.is_none() {
                    record.eviction = Some(EvictionStatus::Unmarked);
                }
                let listed = CachedNode::new(node.clone(), before.as_ref(), release, start);
                if before.is_some_and(|before| before.status() != listed.status()) {
                    record.status_changed_at = Some(now);
                }
                record.listed = Some(listed);
                // Upstream queues the node on every update; most updates would have no effect.
                if no_schedule::has_changes(node) && !self.flows.defer(&name) {
                    self.node_items.push(name.clone());
                }
            }
            None => {
                record.listed = None;
                record.retry_pods = false;
                record.eviction = None;
            }
        }
        self.update_due(&name);
    }

    /// Reports that the lease of a node was created, renewed, or deleted (`None`).
    pub fn handle_lease_update(&mut self, now: Timestamp, node: &NodeName, lease: Option<&Lease>) {
        let renewal = lease.map(|lease| super::Renewal { renew_time: lease.spec.renew_time });
        self.handle_renewal(now, node, renewal);
    }

    /// As [`handle_lease_update`](Self::handle_lease_update), for a caller that has only the
    /// renewal time.
    pub fn handle_renewal(
        &mut self,
        now: Timestamp,
        node: &NodeName,
        renewal: Option<super::Renewal>,
    ) {
        self.now = now;
        let (rules, records) = self.split();
        let record = match records.get_mut(node.as_str()) {
            Some(record) => record,
            None => records.entry(node.clone()).or_default(),
        };
        rules.see_change(record);
        record.lease = renewal;
        let due = rules.due_of(node, record);
        let before = core::mem::replace(&mut record.due, due);
        self.wakeups.replace(before, due);
    }

    /// Reports that the kubelet of a node sends periodic heartbeats until further notice; `None`
    /// ends that. The lease is then as last renewed, and the caller reports the node as last
    /// posted.
    ///
    /// The passes see each renewal and each post, but a heartbeat without another effect is no
    /// deadline.
    pub fn handle_heartbeats(
        &mut self,
        now: Timestamp,
        node: &NodeName,
        heartbeats: Option<super::HeartbeatSchedule>,
    ) {
        self.now = now;
        let start = self.start;
        let (rules, records) = self.split();
        let record = match records.get_mut(node.as_str()) {
            Some(record) => record,
            None => records.entry(node.clone()).or_default(),
        };
        if record.heartbeats == heartbeats {
            return;
        }
        rules.see_change(record);
        if let Some(renewed) =
            record.heartbeats.and_then(|heartbeats| heartbeats.lease.time(start, now))
        {
            record.lease = Some(super::Renewal { renew_time: Some(renewed) });
        }
        record.heartbeats = heartbeats;
        let due = rules.due_of(node, record);
        let before = core::mem::replace(&mut record.due, due);
        self.wakeups.replace(before, due);
    }

    /// Reports that a pod was added (`old` is `None`), changed, or deleted (`new` is `None`). Both
    /// versions have the key `key`.
    ///
    /// Only a new node of the pod counts. Mirrors `Controller.podUpdated`.
    pub fn handle_pod_update(
        &mut self,
        now: Timestamp,
        key: &PodKey,
        old: Option<&Pod>,
        new: Option<&Pod>,
    ) {
        self.now = now;
        let Some(pod) = new else {
            self.pod_items.forget(key);
            return;
        };
        let node = pod.spec.node_name.as_str();
        if node.is_empty() || old.is_some_and(|old| old.spec.node_name == node) {
            return;
        }
        self.pod_items.ready.push(key.clone());
        if let Some((name, _)) = self.records.get_key_value(node) {
            let name = name.clone();
            if let Some(record) = self.records.get_mut(node) {
                record.has_pods = true;
            }
            self.update_due(&name);
        }
    }

    /// Ends the moment `now`, except for what the caller does next: a health pass of that moment,
    /// if there was one without work, does not see later reports.
    pub fn end_instant(&mut self, now: Timestamp) {
        if self.pass.is_none() && self.due_pass().is_none_or(|at| at > now) {
            self.next_pass = self.first_pass(now.saturating_add(Duration::from_nanos(1)));
        }
    }

    /// Next action, or `None`.
    pub fn poll_action(&mut self) -> Option<NodeLifecycleAction> {
        self.actions.pop_front()
    }

    /// Reports the result of an action's request. An unknown `id` is ignored.
    pub fn handle_action_result(&mut self, now: Timestamp, id: RequestId, result: RequestResult) {
        self.now = now;
        self.answer = match self.awaiting.take() {
            Some((awaited, resume)) if awaited == id => Some((resume, result)),
            other => {
                self.awaiting = other;
                return;
            }
        };
    }

    /// Time and reason of the next call of [`handle_timeout`](Self::handle_timeout); `None` if
    /// nothing is due before a change or a pending result.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Timeout> {
        if self.has_queued_work() {
            return Some(Timeout { at: self.now, reason: TimeoutReason::WorkQueued });
        }
        if self.awaiting.is_some() {
            return None;
        }
        let mut next: Option<Timeout> = None;
        let mut consider = |at: Option<Timestamp>, reason: &dyn Fn() -> TimeoutReason| {
            if let Some(at) = at
                && next.as_ref().is_none_or(|next| at < next.at)
            {
                next = Some(Timeout { at, reason: reason() });
            }
        };
        consider(self.flows.next(), &|| TimeoutReason::RetryNodeStatus);
        consider(self.due_pass(), &|| TimeoutReason::MonitorNodeHealth);
        if let Some((at, zone)) = self.next_tick() {
            consider(Some(at), &|| TimeoutReason::TaintingPass { zone: zone.clone() });
        }
        if let Some((at, pod)) = self.pod_items.next_retry() {
            consider(Some(at), &|| TimeoutReason::RetryPod { pod: pod.clone() });
        }
        next
    }

    /// Whether work is due immediately.
    #[must_use]
    pub fn has_queued_work(&self) -> bool {
        let pods = !self.pod_items.ready.is_empty() && self.flows.has_pod_worker();
        self.has_queued_node_work() || self.awaiting.is_none() && pods
    }

    /// Whether work other than a newly bound pod is due immediately, for a caller that lets another
    /// controller look at the pod first.
    #[must_use]
    pub fn has_queued_node_work(&self) -> bool {
        self.answer.is_some()
            || self.awaiting.is_none()
                && (!self.steps.is_empty()
                    || self.wants_pass_worker()
                    || !self.node_items.is_empty() && self.flows.has_node_worker())
    }

    /// Next moment at which work is due; unlike [`poll_timeout`](Self::poll_timeout) it ignores
    /// work that is due immediately.
    #[must_use]
    pub fn next_timer(&self) -> Option<Timestamp> {
        if self.awaiting.is_some() {
            return None;
        }
        let asleep = self.flows.next();
        let tick = self.next_tick().map(|(at, _)| at);
        let retry = self.pod_items.next_retry().map(|(at, _)| at);
        asleep.into_iter().chain(self.due_pass()).chain(tick).chain(retry).min()
    }

    /// Does one piece of due work: the continuation of a request; otherwise a changed node or pod;
    /// otherwise a health pass; otherwise a tainting pass.
    pub fn handle_timeout(&mut self, now: Timestamp, lister: &impl Lister) {
        self.now = now;
        if let Some((resume, result)) = self.answer.take() {
            self.resume(resume, result, lister);
        } else if self.awaiting.is_none() && self.steps.is_empty() {
            self.begin_work(lister);
        }
        while self.awaiting.is_none()
            && let Some(step) = self.steps.pop_front()
        {
            self.run(step, lister);
        }
        if self.awaiting.is_none() && self.answer.is_none() {
            self.end_flow();
        }
    }

    fn begin_work(&mut self, lister: &impl Lister) {
        let now = self.now;
        self.pod_items.wake(now);
        if self.wants_pass_worker() {
            self.flows.current = Some(FlowKind::Pass);
            self.begin_pass_worker();
        } else if self.flows.has_node_worker()
            && let Some(name) = self.node_items.pop()
        {
            self.flows.current = Some(FlowKind::Node(name.clone()));
            self.begin_node_item(name);
        } else if self.flows.has_pod_worker()
            && let Some(pod) = self.pod_items.ready.pop()
        {
            self.flows.current = Some(FlowKind::Pod);
            self.begin_pod_item(pod, lister);
        } else if self.wake_flow() {
        } else if self.due_pass().is_some_and(|at| at <= now) {
            self.flows.current = Some(FlowKind::Pass);
            self.begin_pass();
        } else if self.next_tick().is_some_and(|(at, _)| at <= now) {
            // The health pass of a moment comes first.
            self.end_instant(now);
            self.last_tick = Some(now);
            self.flows.current = Some(FlowKind::Tainting);
            self.steps.extend(self.zones.keys().cloned().map(Step::TryZone));
        }
    }

    fn run(&mut self, step: Step, lister: &impl Lister) {
        match step {
            Step::StartWorkers => self.start_workers(),
            Step::NextNode => self.next_node(),
            Step::Health(check) => self.check_health(check),
            Step::Decide(check) => self.decide(check, lister),
            Step::Follow(check) => self.follow(*check),
            Step::Disruption => self.handle_disruption(),
            Step::StopQueues => self.stop_queues(),
            Step::EndPass => self.end_pass(lister),
            Step::TryZone(zone) => self.try_zone(zone, lister),
            Step::Labels(name) => self.reconcile_labels(&name),
            Step::Taints(work) => self.change_taints(work),
            Step::MarkPods(work) => self.mark_pods_not_ready(work, lister),
            Step::DeletePods(work) => self.delete_pods(work, lister),
            Step::Send { id, resume, action, left } => self.send(id, resume, action, left),
        }
    }

    fn resume(&mut self, resume: Resume, result: RequestResult, lister: &impl Lister) {
        match resume {
            Resume::Status(check, health) => self.status_written(check, health, result),
            Resume::Taints(work) if result.is_ok() => self.change_taints(work),
            Resume::Taints(work) => self.taints_changed(work, false),
            // Failures are logged; the next update of the node tries again.
            Resume::Labels => {}
            Resume::MarkedPod(work, pod) => self.pod_marked(work, &pod, result),
            Resume::PodReason(work, pod) => self.pod_reason_written(work, &pod, result, lister),
            Resume::DeletedPod(work) => self.pod_deleted(work, result),
        }
    }

    pub(super) fn report(&mut self, report: NodeLifecycleReport) {
        self.actions.push_back(NodeLifecycleAction::Report(report));
    }

    /// Mirrors `nodeutil.RecordNodeEvent` and `RecordNodeStatusChange`.
    pub(super) fn record_node_event(&mut self, node: &NodeName, reason: &'static str, what: &str) {
        self.client.record(self.now);
        self.actions.push_back(NodeLifecycleAction::RecordEvent(RecordedEvent {
            involved_object: ObjectReference::Node { node: node.clone() },
            type_: "Normal",
            reason,
            message: format!("Node {node} {what}"),
            component: "node-controller",
        }));
    }

    pub(super) fn record_pod_event(
        &mut self,
        pod: &PodKey,
        type_: &'static str,
        reason: &'static str,
        message: String,
    ) {
        self.client.record(self.now);
        self.actions.push_back(NodeLifecycleAction::RecordEvent(RecordedEvent {
            involved_object: ObjectReference::Pod { api_version: "v1", pod: pod.clone() },
            type_,
            reason,
            message,
            component: "node-controller",
        }));
    }

    pub(super) fn wall_clock(&self, at: Timestamp) -> Time {
        self.start.saturating_add(at.since_zero())
    }

    /// Current time as objects store it, in whole seconds.
    pub(super) fn stamp(&self) -> Time {
        self.wall_clock(self.now).truncated_to_seconds()
    }

    /// First health pass at or after `from` that has not started.
    pub(super) fn first_pass(&self, from: Timestamp) -> Timestamp {
        self.rules().first_pass(from)
    }

    /// Next health pass that may do more than record heartbeats.
    fn due_pass(&self) -> Option<Timestamp> {
        if self.pass.is_some() {
            return None;
        }
        let node = self.wakeups.first();
        node.into_iter().chain(self.order_due).min().map(|at| at.max(self.next_pass))
    }

    /// Next tainting pass in which a zone has a token for a waiting node, and that zone.
    pub(super) fn next_tick(&self) -> Option<(Timestamp, &ZoneKey)> {
        if self.flows.is_tainting() {
            return None;
        }
        let first = match self.last_tick {
            Some(last) => last.saturating_add(NODE_EVICTION_PERIOD),
            None => self.started,
        };
        let from = self.tick_from(first.max(self.queues_changed));
        let ticks = self
            .zones
            .iter()
            .filter_map(|(key, zone)| Some((self.tick_from(zone.queue.poll_timeout(from)?), key)));
        ticks.min_by_key(|(at, _)| *at)
    }

    /// First tainting pass at or after `from`.
    pub(super) fn tick_from(&self, from: Timestamp) -> Timestamp {
        round_up(self.started, NODE_EVICTION_PERIOD, from)
    }

    /// Recomputes when a node is next due.
    pub(super) fn update_due(&mut self, name: &NodeName) {
        let (rules, records) = self.split();
        if let Some(record) = records.get_mut(name.as_str()) {
            let due = rules.due_of(name, record);
            let before = core::mem::replace(&mut record.due, due);
            self.wakeups.replace(before, due);
        }
    }

    /// Inputs for deadlines.
    pub(super) fn rules(&self) -> Rules<'_> {
        rules!(self)
    }

    /// Inputs for deadlines, and the nodes to compute them for.
    pub(super) fn split(&mut self) -> (Rules<'_>, &mut OrderedMap<NodeName, NodeState>) {
        (rules!(self), &mut self.records)
    }
}

impl Machine for NodeLifecycleController {
    fn handle_change(&mut self, context: &mut Context<'_>, change: &Change) {
        let now = context.now;
        match change {
            Change::Node { old, new, .. } => {
                self.handle_node_update(now, old.as_ref(), new.as_ref());
            }
            Change::Pod { key, old, new } => {
                self.handle_pod_update(now, key, old.as_deref(), new.as_deref());
            }
            Change::Lease { node, new } => self.handle_lease_update(now, node, new.as_deref()),
            Change::Workload { .. }
            | Change::Budget { .. }
            | Change::Volume(_)
            | Change::Device(_) => {}
        }
    }

    fn handle_timeout(&mut self, context: &mut Context<'_>) {
        self.handle_timeout(context.now, context.cluster);
    }

    /// Its passes come after all timers of the same moment.
    fn next_timer(&self) -> Option<TimerId> {
        self.next_timer().map(|at| (at, u64::MAX))
    }

    fn timer_reason(&self) -> Option<TimeoutReason> {
        self.poll_timeout().map(|timeout| timeout.reason)
    }

    fn next_work(&self) -> Option<WorkTicket> {
        self.has_queued_work().then_some((0, 0))
    }
}

impl Controller for NodeLifecycleController {
    type Action = NodeLifecycleAction;
    type Answer = RequestResult;

    fn poll_action(&mut self, _: &mut Context<'_>) -> Option<NodeLifecycleAction> {
        self.poll_action()
    }

    fn handle_action_result(
        &mut self,
        context: &mut Context<'_>,
        id: RequestId,
        answer: RequestResult,
    ) {
        self.handle_action_result(context.now, id, answer);
    }
}
