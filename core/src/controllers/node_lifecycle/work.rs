//! Work in progress: what to do next, and what a result is for.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::action::{NodeLifecycleAction, PodStatusPatch, TaintPatch};
use super::health::{NodeHealth, Ready};
use super::record::ZoneCounts;
use crate::api::{Node, NodeName, PodKey};
use crate::protocol::RequestId;
use crate::protocol::zone::ZoneKey;
use crate::queue::rate_limited_timed_queue::TimedValue;
use crate::queue::work_queue::WorkQueue;
use crate::time::Timestamp;

/// A piece of work. Pieces wait in order; one may put others before the rest.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// The nodes that are new to the health pass are registered.
    StartWorkers,
    /// The next node of the health pass.
    NextNode,
    /// A node of the health pass: its health.
    Health(Box<Check>),
    /// A node of the health pass: whether its pods are to go.
    Decide(Box<Check>),
    /// A node of the health pass: its pods are not ready.
    Follow(Box<Check>),
    /// The states of the zones.
    Disruption,
    /// No node is ready: stop the queues.
    StopQueues,
    /// The health pass is over.
    EndPass,
    /// A zone of the tainting (or legacy eviction) pass.
    TryZone(ZoneKey),
    /// Labels of a node.
    Labels(NodeName),
    Taints(TaintWork),
    MarkPods(MarkPods),
    DeletePods(Box<DeletePods>),
    /// A request that waits for tokens, of which it has yet to ask for so many.
    Send {
        id: RequestId,
        resume: Box<Resume>,
        action: Box<NodeLifecycleAction>,
        left: u8,
    },
}

/// What waits for the result of a request.
#[derive(Clone, Debug)]
pub(super) enum Resume {
    Status(Box<Check>, NodeHealth),
    Taints(TaintWork),
    Labels,
    MarkedPod(MarkPods, PodKey),
    PodReason(Box<DeletePods>, PodKey),
    DeletedPod(Box<DeletePods>),
}

/// The health pass that is under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Pass {
    /// The nodes to look at, as they were when it began.
    pub(super) nodes: Vec<(NodeName, Arc<Node>)>,
    /// How many of them have been looked at.
    pub(super) next: usize,
    /// How many workers look at nodes; 0 until the new nodes are registered.
    pub(super) workers: usize,
    /// Whether every node is to be looked at again when it is over.
    pub(super) resets_health: bool,
    pub(super) counts: BTreeMap<ZoneKey, ZoneCounts>,
    /// The zones that have any node at all.
    pub(super) zones: BTreeSet<ZoneKey>,
}

/// A node in a health pass.
#[derive(Clone, Debug)]
pub(super) struct Check {
    pub(super) name: NodeName,
    pub(super) node: Arc<Node>,
    pub(super) zone: ZoneKey,
    /// Which attempt this is, from 1.
    pub(super) attempt: u8,
    /// The Ready condition before this pass, made up if there was none.
    pub(super) observed: Option<Ready>,
    /// The Ready condition after.
    pub(super) current: Option<Ready>,
    /// The pods of the node, once it is known that they matter.
    pub(super) pods: VecDeque<PodKey>,
}

/// Changes of the taints of one node, in order; the first that fails ends them.
#[derive(Clone, Debug)]
pub(super) struct TaintWork {
    pub(super) node: NodeName,
    pub(super) patches: VecDeque<TaintPatch>,
    pub(super) then: AfterTaints,
}

/// What follows when the taints are changed.
#[derive(Clone, Debug)]
pub(super) enum AfterTaints {
    Nothing,
    /// The node leaves the queue of that zone.
    Reachable(ZoneKey),
    /// The node's turn in the queue of that zone is over.
    Tainted(ZoneKey, TimedValue<NodeName>),
}

/// Pods of a node become not ready, one after the other. Mirrors `MarkPodsNotReady`.
#[derive(Clone, Debug)]
pub(super) struct MarkPods {
    pub(super) node: NodeName,
    pub(super) pods: VecDeque<PodKey>,
    pub(super) failed: bool,
    /// The pod item this is for; a health pass otherwise.
    pub(super) item: Option<PodKey>,
}

/// Pods of a node are deleted, one after the other. Mirrors `DeletePods`.
#[derive(Clone, Debug)]
pub(super) struct DeletePods {
    pub(super) node: NodeName,
    pub(super) pods: VecDeque<PodKey>,
    /// Whether the event that all pods are deleted is out.
    pub(super) announced: bool,
    /// Somebody else wrote a pod at the same time.
    pub(super) conflict: bool,
    pub(super) then: AfterDelete,
}

#[derive(Clone, Debug)]
pub(super) enum AfterDelete {
    /// Of a health pass: a failure is only logged.
    Nothing,
    /// The node's turn in the queue of that zone is over.
    Evicted(ZoneKey, TimedValue<NodeName>),
    /// A pod item: then the pod becomes not ready.
    Item(PodKey),
}

/// The message of a pod whose node is lost.
pub(super) fn node_lost(node: &str, pod: &str) -> PodStatusPatch {
    let message = alloc::format!("Node {node} which was running pod {pod} is unresponsive");
    PodStatusPatch::NodeLost { message }
}

/// The first pause of a pod item that failed, and the longest.
const BASE_DELAY: Duration = Duration::from_millis(5);
const MAX_DELAY: Duration = Duration::from_secs(1_000);

/// Pods that were bound to a node. Mirrors `podUpdateQueue`, without its overall limit of ten
/// items a second after a hundred failures.
#[derive(Clone, Debug, Default)]
pub(super) struct PodItems {
    pub(super) ready: WorkQueue<PodKey>,
    waiting: BTreeSet<(Timestamp, u64, PodKey)>,
    /// As upstream, which never forgets, a pod's failures add up.
    failures: BTreeMap<PodKey, u32>,
    sequence: u64,
}

impl PodItems {
    /// Puts an item back; it waits twice as long each time.
    pub(super) fn add_rate_limited(&mut self, now: Timestamp, pod: PodKey) {
        let failures = self.failures.entry(pod.clone()).or_default();
        let delay = BASE_DELAY.saturating_mul(1_u32.checked_shl(*failures).unwrap_or(u32::MAX));
        *failures = failures.saturating_add(1);
        self.sequence += 1;
        self.waiting.insert((now.saturating_add(delay.min(MAX_DELAY)), self.sequence, pod));
    }

    pub(super) fn next_retry(&self) -> Option<(Timestamp, &PodKey)> {
        self.waiting.first().map(|(at, _, pod)| (*at, pod))
    }

    /// The items whose pause is over.
    pub(super) fn wake(&mut self, now: Timestamp) {
        while self.waiting.first().is_some_and(|(at, ..)| *at <= now) {
            if let Some((_, _, pod)) = self.waiting.pop_first() {
                self.ready.push(pod);
            }
        }
    }

    /// The pod is gone: so are its failures.
    pub(super) fn forget(&mut self, pod: &PodKey) {
        self.failures.remove(pod);
    }
}
