//! The pod garbage collector: pods on nodes that are gone, or out of service.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::time::Duration;

use super::{Context, Controller, WorkTicket};
use crate::api::{NodeName, PodKey, TaintEffect};
use crate::cluster::{Change, Cluster};
use crate::protocol::{RequestId, TimeoutReason};
use crate::queue::timer_queue::{TimerId, TimerQueue};
use crate::release::KubernetesRelease;
use crate::time::Timestamp;

/// How often it looks around. Mirrors `gcCheckPeriod`.
const COLLECTION_PERIOD: Duration = Duration::from_secs(20);
/// How long a node must be gone before its pods are. Mirrors `quarantineTime`.
const QUARANTINE: Duration = Duration::from_secs(40);
/// The taint by which an administrator says that a node is down for good.
const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";

/// What the garbage collector wants done: `DELETE` a pod with a grace period of zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectPod {
    /// For [`Controller::handle_action_result`].
    pub id: RequestId,
    /// Which pod.
    pub pod: PodKey,
}

/// The pod garbage collector. Mirrors `pkg/controller/podgc`, without the threshold for pods that
/// have ended.
///
/// A pass is not planned where nothing would come of it.
#[derive(Clone, Debug)]
pub struct PodGcController {
    release: KubernetesRelease,
    /// Nodes that are gone while their pods are not, and since when that is known.
    quarantine: BTreeMap<NodeName, Timestamp>,
    /// The next pass, if one is planned.
    timers: TimerQueue<()>,
    planned: bool,
    /// How many requests of a pass are out.
    awaited: usize,
    next_id: u64,
    actions: VecDeque<CollectPod>,
}

impl PodGcController {
    /// A collector that knows nothing yet.
    #[must_use]
    pub fn new(release: KubernetesRelease) -> Self {
        Self {
            release,
            quarantine: BTreeMap::new(),
            timers: TimerQueue::default(),
            planned: false,
            awaited: 0,
            next_id: 0,
            actions: VecDeque::new(),
        }
    }

    /// A node or a pod of it has changed in a way that may matter: plans the next pass.
    fn look_at(&mut self, context: &mut Context<'_>, node: &str) {
        let cluster = context.cluster;
        let matters = has_orphans(cluster, node)
            || !out_of_service_pods(cluster, self.release, node).is_empty();
        if matters && !self.planned {
            let period = COLLECTION_PERIOD.as_nanos();
            let passed = context.now.since_zero().as_nanos();
            let next = passed.div_ceil(period) * period;
            let next = Timestamp::from_nanos(u64::try_from(next).unwrap_or(u64::MAX));
            self.plan(context, next);
        }
    }

    fn plan(&mut self, context: &mut Context<'_>, at: Timestamp) {
        self.planned = true;
        self.timers.start(context.sequence, at, ());
    }

    /// A pass. Mirrors `PodGCController.gc`.
    fn collect(&mut self, context: &mut Context<'_>) {
        let (cluster, now) = (context.cluster, context.now);
        let nodes = cluster.nodes().map(|(name, _)| name.as_str());
        let mut pods: Vec<PodKey> =
            nodes.flat_map(|node| out_of_service_pods(cluster, self.release, node)).collect();
        let known = core::mem::take(&mut self.quarantine);
        for node in cluster.node_names_of_pods() {
            if !has_orphans(cluster, node.as_str()) {
                continue;
            }
            let since = known.get(node.as_str()).copied().unwrap_or(now);
            if now.since_zero().saturating_sub(since.since_zero()) >= QUARANTINE {
                pods.extend(cluster.pods_of(node.as_str()).map(|(key, _)| key.clone()));
            } else {
                self.quarantine.insert(node.clone(), since);
            }
        }
        self.awaited = pods.len();
        for pod in pods {
            let id = RequestId(self.next_id);
            self.next_id += 1;
            self.actions.push_back(CollectPod { id, pod });
        }
        if self.awaited == 0 {
            self.end_pass(context);
        }
    }

    fn end_pass(&mut self, context: &mut Context<'_>) {
        self.planned = false;
        if !self.quarantine.is_empty() {
            let next = context.now.saturating_add(COLLECTION_PERIOD);
            self.plan(context, next);
        }
    }
}

impl Controller for PodGcController {
    type Action = CollectPod;
    type Answer = ();

    fn handle_change(&mut self, context: &mut Context<'_>, change: &Change) {
        match change {
            Change::Node { name, .. } => self.look_at(context, name.as_str()),
            Change::Pod { new: Some(pod), .. } => self.look_at(context, &pod.spec.node_name),
            Change::Lease { .. }
            | Change::Pod { .. }
            | Change::Workload { .. }
            | Change::Budget { .. } => {}
        }
    }

    fn handle_timeout(&mut self, context: &mut Context<'_>) {
        if self.timers.pop_due(context.now).is_some() {
            self.collect(context);
        }
    }

    fn poll_action(&mut self, _: &mut Context<'_>) -> Option<CollectPod> {
        self.actions.pop_front()
    }

    fn handle_action_result(&mut self, context: &mut Context<'_>, _: RequestId, (): ()) {
        if self.awaited > 0 {
            self.awaited -= 1;
            if self.awaited == 0 {
                self.end_pass(context);
            }
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

fn has_orphans(cluster: &Cluster, node: &str) -> bool {
    !node.is_empty() && cluster.get_node(node).is_none() && cluster.pods_of(node).next().is_some()
}

/// The pods of a node that is out of service which wait for its kubelet. Mirrors `gcTerminating`.
fn out_of_service_pods(cluster: &Cluster, release: KubernetesRelease, name: &str) -> Vec<PodKey> {
    if !release.collects_pods_out_of_service() {
        return Vec::new();
    }
    let Some(node) = cluster.get_node(name) else { return Vec::new() };
    let ready = node.condition("Ready");
    let ready = ready.is_some_and(|ready| ready.status == crate::api::ConditionStatus::True);
    let marked = node.spec.taints.iter().any(|taint| {
        taint.key == OUT_OF_SERVICE
            && matches!(taint.effect, TaintEffect::NoExecute | TaintEffect::NoSchedule)
    });
    if ready || !marked {
        return Vec::new();
    }
    let pods = cluster.pods_of(name).filter(|(_, pod)| pod.is_terminating());
    pods.map(|(key, _)| key.clone()).collect()
}
