//! Phases of a pass: where upstream waits (for stats, for garbage collection, for a pod to end), the
//! manager is in one of them until it receives the result.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use taintlab_rules::api::PodKey;
use taintlab_rules::protocol::RequestId;
use taintlab_rules::time::Timestamp;

use super::action::Reclaim;
use super::message::Message;
use super::observation::Observations;
use super::pod::KubeletPod;
use super::signal::Signal;

/// Answer that the manager waits for.
#[derive(Clone, Debug, Default)]
pub(super) enum Phase {
    /// For the next pass.
    #[default]
    Idle,
    /// For the stats of a pass that has begun.
    AwaitStats { id: RequestId, notified: bool },
    /// For garbage collection.
    Reclaiming { id: RequestId, pass: Pass, rest: VecDeque<Reclaim> },
    /// For the stats after garbage collection.
    AwaitStatsAfterReclaim { id: RequestId, pass: Pass },
    /// For a pod to die.
    Killing { id: RequestId, deadline: Timestamp, kills: Kills },
}

/// A pass that has too little of something.
#[derive(Clone, Debug)]
pub(super) struct Pass {
    pub(super) notified: bool,
    /// Thresholds that are acted upon, in the order of their priority.
    pub(super) thresholds: Vec<usize>,
    /// Signal of the deciding threshold.
    pub(super) signal: Signal,
    pub(super) hard: bool,
    pub(super) observations: Observations,
}

/// Pods that are evicted one after the other.
#[derive(Clone, Debug)]
pub(super) struct Kills {
    pub(super) notified: bool,
    /// The pod that is being killed.
    pub(super) current: PodKey,
    pub(super) rest: VecDeque<Kill>,
    /// Whether all of them go, or only the first that can be killed.
    pub(super) all: bool,
    /// Pods that are gone.
    pub(super) evicted: Vec<PodKey>,
}

/// A pod that is to be evicted.
#[derive(Clone, Debug)]
pub(super) struct Kill {
    pub(super) pod: Arc<KubeletPod>,
    pub(super) grace_period_override: i64,
    pub(super) message: Message,
    /// Whether it is for the node's sake, and not because of the pod's own limits.
    pub(super) for_node: bool,
}
