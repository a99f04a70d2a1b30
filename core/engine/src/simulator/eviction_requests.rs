//! The requests of the taint-eviction controller, as its client sends them.
//!
//! Upstream all timers that fire at one moment run at once, each in a goroutine of its own, and each
//! request waits for a token of the client.

use taintlab_rules::api::PodKey;
use taintlab_rules::queue::timer_queue::{Sequence, TimerId, TimerQueue};
use taintlab_rules::time::Timestamp;

use crate::controllers::node_lifecycle::{Client, NodeLifecycleController};
use crate::controllers::taint_eviction::{TaintEvictionAction, TaintEvictionController};

/// Requests that wait for tokens.
#[derive(Clone, Debug, Default)]
pub(super) struct EvictionRequests {
    /// The controller's own client since 1.29. To 1.28 it shares that of the node lifecycle
    /// controller, which it is a part of.
    client: Option<Client>,
    /// Requests by the moment of their next token, with the number of tokens they still need.
    waiting: TimerQueue<(TaintEvictionAction, u8)>,
}

/// The controller's next request.
pub(super) enum Next {
    /// Its tokens are there.
    Act(TaintEvictionAction),
    /// The requests about this pod wait.
    Waits(PodKey),
}

/// The number of requests of an action.
const fn cost(action: &TaintEvictionAction) -> u8 {
    match action {
        // GET and PATCH.
        TaintEvictionAction::PatchPodStatus { .. } => 2,
        TaintEvictionAction::DeletePod { .. } => 1,
        // Events are sent beside the rest.
        TaintEvictionAction::RecordEvent(_)
        | TaintEvictionAction::ReportNode { .. }
        | TaintEvictionAction::Report(_) => 0,
    }
}

impl EvictionRequests {
    /// Those of a controller that begins; `client` is its own, if it has one.
    pub(super) fn new(client: Option<Client>) -> Self {
        Self { client, waiting: TimerQueue::default() }
    }

    /// The moment at which the next waiting request is sent.
    pub(super) fn next_timer(&self) -> Option<TimerId> {
        self.waiting.next()
    }

    /// The pod that the next request is about.
    pub(super) fn next_pod(&self) -> Option<&PodKey> {
        self.waiting.peek().and_then(|(action, _)| pod_of(action))
    }

    /// What is to be done next: what has its tokens, or else what the controller wants done.
    pub(super) fn poll(
        &mut self,
        (now, sequence): (Timestamp, &mut Sequence),
        controller: &mut TaintEvictionController,
        lifecycle: Option<&mut NodeLifecycleController>,
    ) -> Option<Next> {
        let (action, mut left) = match self.waiting.pop_due(now) {
            Some(due) => due,
            None => {
                let action = controller.poll_action()?;
                let cost = cost(&action);
                (action, cost)
            }
        };
        let shared = lifecycle.map(NodeLifecycleController::client_mut);
        let Some(client) = self.client.as_mut().or(shared) else { return Some(Next::Act(action)) };
        if matches!(action, TaintEvictionAction::RecordEvent(_)) {
            client.record(now);
        }
        while left > 0 {
            left -= 1;
            let at = client.reserve(now);
            if let Some(pod) = pod_of(&action).filter(|_| at > now).cloned() {
                self.waiting.start(sequence, at, (action, left));
                return Some(Next::Waits(pod));
            }
        }
        Some(Next::Act(action))
    }
}

/// The pod of a request.
const fn pod_of(action: &TaintEvictionAction) -> Option<&PodKey> {
    match action {
        TaintEvictionAction::PatchPodStatus { pod, .. }
        | TaintEvictionAction::DeletePod { pod, .. } => Some(pod),
        TaintEvictionAction::RecordEvent(_)
        | TaintEvictionAction::ReportNode { .. }
        | TaintEvictionAction::Report(_) => None,
    }
}
