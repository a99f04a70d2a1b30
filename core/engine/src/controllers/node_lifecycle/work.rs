//! Work in progress: the next steps, and the continuations of requests.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use taintlab_rules::api::{Node, NodeName, PodKey};
use taintlab_rules::order::{OrderedMap, OrderedSet};
use taintlab_rules::protocol::RequestId;
use taintlab_rules::protocol::zone::ZoneKey;
use taintlab_rules::queue::rate_limited_timed_queue::TimedValue;
use taintlab_rules::queue::work_queue::WorkQueue;
use taintlab_rules::time::Timestamp;

use super::action::{NodeLifecycleAction, PodStatusPatch, TaintPatch};
use super::health::{NodeHealth, Ready};
use super::record::ZoneCounts;

/// A piece of work. Pieces wait in order; a piece may add others in front.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Start the workers of the health pass, once new nodes are registered.
    StartWorkers,
    /// Look at the next node of the health pass.
    NextNode,
    /// Check the health of a node in the health pass.
    Health(Box<Check>),
    /// Decide whether the pods of a node in the health pass have to go.
    Decide(Box<Check>),
    /// Mark the pods of a node in the health pass as not ready.
    Follow(Box<Check>),
    /// Update the states of the zones.
    Disruption,
    /// Stop the queues, since no node is ready.
    StopQueues,
    /// End the health pass.
    EndPass,
    /// Try a zone of the tainting (or legacy eviction) pass.
    TryZone(ZoneKey),
    /// Reconcile the labels of a node.
    Labels(NodeName),
    Taints(TaintWork),
    MarkPods(MarkPods),
    DeletePods(Box<DeletePods>),
    /// Send a request that waits for tokens; `left` are still missing.
    Send {
        id: RequestId,
        resume: Box<Resume>,
        action: Box<NodeLifecycleAction>,
        left: u8,
    },
}

/// Continuation after the result of a request.
#[derive(Clone, Debug)]
pub(super) enum Resume {
    Status(Box<Check>, NodeHealth),
    Taints(TaintWork),
    Labels,
    MarkedPod(MarkPods, PodKey),
    PodReason(Box<DeletePods>, PodKey),
    DeletedPod(Box<DeletePods>),
}

/// The running health pass.
#[derive(Clone, Debug, Default)]
pub(super) struct Pass {
    /// Nodes to look at, as they were at its start.
    pub(super) nodes: Vec<(NodeName, Arc<Node>)>,
    /// Number of them that have been looked at.
    pub(super) next: usize,
    /// Number of workers that look at nodes; 0 until new nodes are registered.
    pub(super) workers: usize,
    /// Whether all nodes are looked at again after its end.
    pub(super) resets_health: bool,
    pub(super) counts: OrderedMap<ZoneKey, ZoneCounts>,
    /// Zones with at least one node.
    pub(super) zones: OrderedSet<ZoneKey>,
}

/// A node in a health pass.
#[derive(Clone, Debug)]
pub(super) struct Check {
    pub(super) name: NodeName,
    pub(super) node: Arc<Node>,
    pub(super) zone: ZoneKey,
    /// Number of this attempt, from 1.
    pub(super) attempt: u8,
    /// Ready condition before this pass; a generated one if there was none.
    pub(super) observed: Option<Ready>,
    /// Ready condition after this pass.
    pub(super) current: Option<Ready>,
    /// Pods of the node, once they are needed.
    pub(super) pods: VecDeque<PodKey>,
}

/// Changes of the taints of one node, in order; the first failure ends them.
#[derive(Clone, Debug)]
pub(super) struct TaintWork {
    pub(super) node: NodeName,
    pub(super) patches: VecDeque<TaintPatch>,
    pub(super) then: AfterTaints,
}

/// Continuation after a change of taints.
#[derive(Clone, Debug)]
pub(super) enum AfterTaints {
    Nothing,
    /// Remove the node from the queue of this zone.
    Reachable(ZoneKey),
    /// End the node's turn in the queue of this zone.
    Tainted(ZoneKey, TimedValue<NodeName>),
}

/// Pods of a node to mark as not ready, one after the other. Mirrors `MarkPodsNotReady`.
#[derive(Clone, Debug)]
pub(super) struct MarkPods {
    pub(super) node: NodeName,
    pub(super) pods: VecDeque<PodKey>,
    pub(super) failed: bool,
    /// Pod of the item that this belongs to; `None` for a health pass.
    pub(super) item: Option<PodKey>,
}

/// Pods of a node to delete, one after the other. Mirrors `DeletePods`.
#[derive(Clone, Debug)]
pub(super) struct DeletePods {
    pub(super) node: NodeName,
    pub(super) pods: VecDeque<PodKey>,
    /// Whether the event about deleting all pods was recorded.
    pub(super) announced: bool,
    /// Whether a write to a pod met a conflict.
    pub(super) conflict: bool,
    pub(super) then: AfterDelete,
}

#[derive(Clone, Debug)]
pub(super) enum AfterDelete {
    /// Nothing, after a health pass: a failure is only logged.
    Nothing,
    /// End the node's turn in the queue of this zone.
    Evicted(ZoneKey, TimedValue<NodeName>),
    /// Mark the pod of a pod item as not ready.
    Item(PodKey),
}

/// Status message of a pod whose node is lost.
pub(super) fn node_lost(node: &str, pod: &str) -> PodStatusPatch {
    let message = alloc::format!("Node {node} which was running pod {pod} is unresponsive");
    PodStatusPatch::NodeLost { message }
}

/// First and longest pause of a failed pod item.
const BASE_DELAY: Duration = Duration::from_millis(5);
const MAX_DELAY: Duration = Duration::from_secs(1_000);

/// Queue of pods that were bound to a node. Mirrors `podUpdateQueue`, without its overall limit of
/// ten items a second after a hundred failures.
#[derive(Clone, Debug, Default)]
pub(super) struct PodItems {
    pub(super) ready: WorkQueue<PodKey>,
    waiting: OrderedSet<(Timestamp, u64, PodKey)>,
    /// A pod's failures add up, since upstream never forgets them.
    failures: OrderedMap<PodKey, u32>,
    sequence: u64,
}

impl PodItems {
    /// Puts an item back, after a pause that doubles each time.
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

    /// Moves items whose pause is over to the queue.
    pub(super) fn wake(&mut self, now: Timestamp) {
        while self.waiting.first().is_some_and(|(at, ..)| *at <= now) {
            if let Some((_, _, pod)) = self.waiting.pop_first() {
                self.ready.push(pod);
            }
        }
    }

    /// Forgets the failures of a gone pod.
    pub(super) fn forget(&mut self, pod: &PodKey) {
        self.failures.remove(pod);
    }
}
