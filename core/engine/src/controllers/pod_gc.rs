//! The pod garbage collector: pods on nodes that are gone or out of service, pods that wait for a
//! node and are deleted, and the oldest of too many that have ended.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use taintlab_rules::api::{ConditionStatus, NodeName, Pod, PodCondition, PodKey, PodPhase};
use taintlab_rules::cluster::{Change, Cluster};
use taintlab_rules::order::{Order, OrderedMap, OrderedSet};
use taintlab_rules::protocol::{RequestId, TimeoutReason, round_up};
use taintlab_rules::queue::timer_queue::{TimerId, TimerQueue};
use taintlab_rules::release::KubernetesRelease;
use taintlab_rules::time::Timestamp;

use super::{Context, Controller, Machine, WorkTicket};

/// How often it looks around. Mirrors `gcCheckPeriod`.
const COLLECTION_PERIOD: Duration = Duration::from_secs(20);
/// How long a node must be gone before its pods are. Mirrors `quarantineTime`.
const QUARANTINE: Duration = Duration::from_secs(40);
/// The taint by which an administrator says that a node is down for good.
const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";

/// What the garbage collector wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum PodGcAction {
    /// `GET` a node that the cache does not show.
    GetNode {
        /// For [`Controller::handle_action_result`].
        id: RequestId,
        /// Which node.
        node: NodeName,
    },
    /// `PATCH` the status of a pod: it has failed.
    MarkFailed {
        /// For [`Controller::handle_action_result`].
        id: RequestId,
        /// Which pod.
        pod: PodKey,
        /// The condition `DisruptionTarget`, if it says why.
        condition: Option<PodCondition>,
    },
    /// `DELETE` a pod with a grace period of zero.
    DeletePod {
        /// For [`Controller::handle_action_result`].
        id: RequestId,
        /// Which pod.
        pod: PodKey,
    },
}

/// What comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodGcAnswer {
    /// It was done.
    Done,
    /// Whether there is such a node.
    NodeExists(bool),
}

/// How the garbage collector works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PodGcConfig {
    /// The release.
    pub release: KubernetesRelease,
    /// The gate `PodDisruptionConditions`: pods are marked as failed before they are deleted.
    pub marks_failed: bool,
    /// `--terminated-pod-gc-threshold`: how many pods that have ended are left; all, if it is not
    /// positive.
    pub terminated_pod_threshold: i64,
    /// Whether a pod without a phase has ended, as Kubernetes takes it. The API server gives every
    /// pod a phase; the store of a simulation may have pods without, which run.
    pub missing_phase_is_ended: bool,
}

impl PodGcConfig {
    /// The default of `--terminated-pod-gc-threshold`.
    pub const DEFAULT_TERMINATED_POD_THRESHOLD: i64 = 12_500;
}

/// The pod garbage collector. Mirrors `pkg/controller/podgc`.
///
/// A pass is not planned where nothing would come of it.
#[derive(Clone, Debug)]
pub struct PodGcController {
    config: PodGcConfig,
    /// Nodes that are gone while their pods are not, and when it is looked whether they still are.
    quarantine: OrderedMap<NodeName, Timestamp>,
    quarantine_ends_late: bool,
    first_pass: Timestamp,
    /// Pods that have ended, and those that are deleted without having a node.
    ended: OrderedSet<PodKey>,
    unscheduled: OrderedSet<PodKey>,
    /// The next pass, if one is planned.
    timers: TimerQueue<()>,
    planned: bool,
    pass: Pass,
    next_id: u64,
    actions: VecDeque<PodGcAction>,
}

/// A pass that is under way.
#[derive(Clone, Debug, Default)]
struct Pass {
    /// How many requests are out.
    awaited: usize,
    /// Nodes that are looked for, by the request.
    lookups: OrderedMap<RequestId, NodeName>,
    /// Nodes that are gone for good.
    gone: Vec<NodeName>,
    /// Pods that are deleted already.
    taken: OrderedSet<PodKey>,
}

impl PodGcController {
    /// A collector that knows nothing yet.
    #[must_use]
    pub fn new(config: PodGcConfig) -> Self {
        Self {
            config,
            quarantine: OrderedMap::new(),
            quarantine_ends_late: false,
            first_pass: Timestamp::ZERO,
            ended: OrderedSet::new(),
            unscheduled: OrderedSet::new(),
            timers: TimerQueue::default(),
            planned: false,
            pass: Pass::default(),
            next_id: 0,
            actions: VecDeque::new(),
        }
    }

    /// Makes the third pass after a deletion miss the end of the quarantine, so that the fourth
    /// collects the pods: upstream a race of two timers, within microseconds.
    pub const fn end_quarantine_late(&mut self, late: bool) {
        self.quarantine_ends_late = late;
    }

    /// Sets when the first pass is made; at the beginning by default.
    pub const fn collect_first_at(&mut self, at: Timestamp) {
        self.first_pass = at;
    }

    /// A node or a pod of it has changed in a way that may matter: plans the next pass.
    fn look_at(&mut self, context: &mut Context<'_>, node: &str) {
        let cluster = context.cluster;
        let matters = has_orphans(cluster, node)
            || !self.unscheduled.is_empty()
            || self.surplus() > 0
            || !out_of_service_pods(cluster, self.config.release, node).is_empty();
        if matters && !self.planned {
            let next = round_up(self.first_pass, COLLECTION_PERIOD, context.now);
            self.plan(context, next);
        }
    }

    fn plan(&mut self, context: &mut Context<'_>, at: Timestamp) {
        self.planned = true;
        self.timers.start(context.sequence, at, ());
    }

    /// Whether a pod has ended. Mirrors `isPodTerminated`.
    fn is_ended(&self, pod: &Pod) -> bool {
        match pod.status.phase {
            PodPhase::Pending | PodPhase::Running | PodPhase::Unknown => false,
            PodPhase::Empty => self.config.missing_phase_is_ended,
            PodPhase::Succeeded | PodPhase::Failed | PodPhase::Other(_) => true,
        }
    }

    fn observe_pod(&mut self, key: &PodKey, pod: Option<&Pod>) {
        let waits = pod.is_some_and(|pod| pod.is_terminating() && pod.spec.node_name.is_empty());
        let ended = pod.is_some_and(|pod| self.is_ended(pod));
        for (known, holds) in [(&mut self.unscheduled, waits), (&mut self.ended, ended)] {
            if holds {
                known.insert(key.clone());
            } else {
                known.remove(key);
            }
        }
    }

    /// How many pods that have ended are too many.
    fn surplus(&self) -> usize {
        match usize::try_from(self.config.terminated_pod_threshold) {
            Ok(threshold @ 1..) => self.ended.len().saturating_sub(threshold),
            _ => 0,
        }
    }

    fn request(&mut self, action: impl FnOnce(RequestId) -> PodGcAction) -> RequestId {
        let id = RequestId(self.next_id);
        self.next_id += 1;
        self.pass.awaited += 1;
        self.actions.push_back(action(id));
        id
    }

    /// Deletes a pod, once in a pass. Mirrors `markFailedAndDeletePodWithCondition`.
    fn collect_pod(&mut self, cluster: &Cluster, key: PodKey, condition: Option<PodCondition>) {
        let Some(pod) = cluster.get_pod(&key) else { return };
        if !self.pass.taken.insert(key.clone()) {
            return;
        }
        if self.config.marks_failed && !pod.has_ended() {
            let pod = key.clone();
            self.request(|id| PodGcAction::MarkFailed { id, pod, condition });
        }
        self.request(|id| PodGcAction::DeletePod { id, pod: key });
    }

    /// A pass. Mirrors `PodGCController.gc`.
    fn collect(&mut self, context: &mut Context<'_>) {
        let (cluster, now) = (context.cluster, context.now);
        let surplus = self.surplus();
        if surplus > 0 {
            let mut ended: Vec<&PodKey> = self.ended.iter().collect();
            let created = |key: &PodKey| cluster.get_pod(key)?.metadata.creation_timestamp;
            let evicted_first = self.config.release.collects_evicted_pods_first();
            let stays = |key: &PodKey| {
                let pod = cluster.get_pod(key).filter(|_| evicted_first);
                pod.is_some_and(|pod| !is_evicted(pod))
            };
            ended.order_by_key(|key| {
                let created = created(key).map(|time| time.unix_seconds());
                (stays(key), created, key.name())
            });
            let oldest: Vec<PodKey> = ended.into_iter().take(surplus).cloned().collect();
            for pod in oldest {
                self.collect_pod(cluster, pod, None);
            }
        }
        for (node, _) in cluster.nodes() {
            for pod in out_of_service_pods(cluster, self.config.release, node.as_str()) {
                self.collect_pod(cluster, pod, None);
            }
        }
        // Upstream, the quarantine (`AddAfter`) and the pauses between passes are timers of their
        // own. The third pass begins 40 s and the time of two passes after the first, so the
        // quarantine is over, unless its timer is served too late. A node that is still gone goes
        // into quarantine once more, whatever is found of it now.
        let is_over = |at: Timestamp| at < now || at == now && !self.quarantine_ends_late;
        let due: Vec<NodeName> = self
            .quarantine
            .iter()
            .filter(|(_, at)| is_over(**at))
            .map(|(node, _)| node.clone())
            .collect();
        let late = self.quarantine_ends_late;
        self.quarantine.retain(|_, at| *at > now || *at == now && late);
        let ready = now.saturating_add(QUARANTINE);
        for node in cluster.node_names_of_pods().filter(|node| has_orphans(cluster, node.as_str()))
        {
            self.quarantine.entry(node.clone()).or_insert(ready);
        }
        for node in due.into_iter().filter(|node| cluster.get_node(node.as_str()).is_none()) {
            let asked = node.clone();
            let id = self.request(|id| PodGcAction::GetNode { id, node: asked });
            self.pass.lookups.insert(id, node);
        }
        if self.pass.lookups.is_empty() {
            self.collect_orphans(context);
        }
    }

    /// It is known which nodes are gone. Mirrors `gcOrphaned` and `gcUnscheduledTerminating`.
    fn collect_orphans(&mut self, context: &mut Context<'_>) {
        let cluster = context.cluster;
        for node in core::mem::take(&mut self.pass.gone) {
            let pods: Vec<PodKey> =
                cluster.pods_of(node.as_str()).map(|(key, _)| key.clone()).collect();
            for pod in pods {
                let condition = PodCondition {
                    type_: "DisruptionTarget".into(),
                    status: ConditionStatus::True,
                    reason: "DeletionByPodGC".into(),
                    message: "PodGC: node no longer exists".into(),
                    ..PodCondition::default()
                };
                self.collect_pod(cluster, pod, Some(condition));
            }
        }
        for pod in self.unscheduled.clone() {
            self.collect_pod(cluster, pod, None);
        }
        if self.pass.awaited == 0 {
            self.end_pass(context);
        }
    }

    fn end_pass(&mut self, context: &mut Context<'_>) {
        self.planned = false;
        self.pass.taken.clear();
        let cluster = context.cluster;
        if self.quarantine.keys().any(|node| has_orphans(cluster, node.as_str())) {
            let next = context.now.saturating_add(COLLECTION_PERIOD);
            self.plan(context, next);
        }
    }
}

impl Machine for PodGcController {
    fn handle_change(&mut self, context: &mut Context<'_>, change: &Change) {
        match change {
            Change::Node { name, .. } => self.look_at(context, name.as_str()),
            Change::Pod { key, new, .. } => {
                self.observe_pod(key, new.as_deref());
                if let Some(pod) = new {
                    self.look_at(context, &pod.spec.node_name);
                }
            }
            Change::Lease { .. }
            | Change::Workload { .. }
            | Change::Budget { .. }
            | Change::Volume(_)
            | Change::Device(_) => {}
        }
    }

    fn handle_timeout(&mut self, context: &mut Context<'_>) {
        if self.timers.pop_due(context.now).is_some() {
            self.collect(context);
        }
    }

    fn next_timer(&self) -> Option<TimerId> {
        self.timers.next()
    }

    fn timer_reason(&self) -> Option<TimeoutReason> {
        self.timers.peek().map(|()| TimeoutReason::CollectPods)
    }

    fn next_work(&self) -> Option<WorkTicket> {
        None
    }
}

impl Controller for PodGcController {
    type Action = PodGcAction;
    type Answer = PodGcAnswer;

    fn poll_action(&mut self, _: &mut Context<'_>) -> Option<PodGcAction> {
        self.actions.pop_front()
    }

    fn handle_action_result(
        &mut self,
        context: &mut Context<'_>,
        id: RequestId,
        answer: PodGcAnswer,
    ) {
        if self.pass.awaited == 0 {
            return;
        }
        self.pass.awaited -= 1;
        if let Some(node) = self.pass.lookups.remove(&id) {
            if answer == PodGcAnswer::NodeExists(false) {
                self.pass.gone.push(node);
            }
            if self.pass.lookups.is_empty() {
                self.collect_orphans(context);
            }
        } else if self.pass.awaited == 0 {
            self.end_pass(context);
        }
    }
}

/// Whether a pass can delete pods of a node that is gone. Upstream deletes those that finalizers
/// keep again and again, which changes nothing.
fn has_orphans(cluster: &Cluster, node: &str) -> bool {
    let is_kept = |pod: &Pod| {
        pod.metadata.deletion_grace_period_seconds == Some(0) && pod.has_foreign_finalizer()
    };
    !node.is_empty()
        && cluster.get_node(node).is_none()
        && cluster.pods_of(node).any(|(_, pod)| !is_kept(pod))
}

/// Whether a kubelet has evicted a pod. Mirrors `PodIsEvicted`.
fn is_evicted(pod: &Pod) -> bool {
    pod.status.phase == PodPhase::Failed && pod.status.reason == "Evicted"
}

/// The pods of a node that is out of service which wait for its kubelet. Mirrors `gcTerminating`.
fn out_of_service_pods(cluster: &Cluster, release: KubernetesRelease, name: &str) -> Vec<PodKey> {
    if !release.has_out_of_service_taint() {
        return Vec::new();
    }
    let Some(node) = cluster.get_node(name) else { return Vec::new() };
    let marked = node.spec.taints.iter().any(|taint| taint.key == OUT_OF_SERVICE);
    let is_ready = || node.condition("Ready").is_some_and(|it| it.status == ConditionStatus::True);
    if !marked || is_ready() {
        return Vec::new();
    }
    let pods = cluster.pods_of(name).filter(|(_, pod)| pod.is_terminating());
    pods.map(|(key, _)| key.clone()).collect()
}
