//! Running deletions: up to five attempts, ten milliseconds apart.

use core::time::Duration;

use taintlab_rules::api::{ConditionStatus, PodCondition, PodKey};
use taintlab_rules::order::OrderedMap;
use taintlab_rules::protocol::{RequestId, RequestResult};
use taintlab_rules::time::Timestamp;

use super::TaintEvictionAction;

/// Attempts to delete a pod. Mirrors `retries` in `tainteviction`.
const ATTEMPTS: u8 = 5;
/// Pause after every failed attempt, the last one included.
const PAUSE: Duration = Duration::from_millis(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Patching,
    Deleting,
    Sleeping,
}

#[derive(Clone, Debug)]
struct Deletion {
    pod: PodKey,
    /// Attempts that have failed.
    failed: u8,
    phase: Phase,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Deletions {
    running: OrderedMap<RequestId, Deletion>,
    sleeping: OrderedMap<(Timestamp, u64), RequestId>,
    next_id: u64,
}

/// Consequence of a result.
pub(super) enum Next {
    Act(TaintEvictionAction),
    /// A timer with the given sequence number wakes the deletion.
    Retry,
    Succeeded(PodKey),
    Unknown,
}

/// Next step of a deletion after its pause.
pub(super) enum Woken {
    Try(TaintEvictionAction),
    GaveUp(PodKey),
}

impl Deletions {
    /// Starts to delete a pod; returns the first request.
    pub(super) fn start(&mut self, pod: PodKey, with_condition: bool) -> TaintEvictionAction {
        let id = RequestId(self.next_id);
        self.next_id += 1;
        let mut deletion = Deletion { pod, failed: 0, phase: Phase::Deleting };
        let action = deletion.attempt(id, with_condition);
        self.running.insert(id, deletion);
        action
    }

    pub(super) fn handle_result(
        &mut self,
        now: Timestamp,
        sequence: u64,
        id: RequestId,
        result: RequestResult,
        with_condition: bool,
    ) -> Next {
        let Some(deletion) = self.running.get_mut(&id) else { return Next::Unknown };
        match (deletion.phase, result.is_ok()) {
            (Phase::Sleeping, _) => Next::Unknown,
            (Phase::Patching, true) => {
                debug_assert!(with_condition, "only releases with the condition patch");
                deletion.phase = Phase::Deleting;
                Next::Act(TaintEvictionAction::DeletePod { id, pod: deletion.pod.clone() })
            }
            (Phase::Deleting, true) => match self.running.remove(&id) {
                Some(deletion) => Next::Succeeded(deletion.pod),
                None => Next::Unknown,
            },
            (_, false) => {
                deletion.failed += 1;
                deletion.phase = Phase::Sleeping;
                self.sleeping.insert((now.saturating_add(PAUSE), sequence), id);
                Next::Retry
            }
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<(Timestamp, u64)> {
        self.sleeping.first_key_value().map(|(timer, _)| *timer)
    }

    /// Pod whose deletion wakes next, and the number of failed attempts.
    pub(super) fn next_retry(&self) -> Option<(&PodKey, u8)> {
        let (_, id) = self.sleeping.first_key_value()?;
        self.running.get(id).map(|deletion| (&deletion.pod, deletion.failed))
    }

    pub(super) fn wake_next(&mut self, with_condition: bool) -> Option<Woken> {
        let (_, id) = self.sleeping.pop_first()?;
        let deletion = self.running.get_mut(&id)?;
        if deletion.failed < ATTEMPTS {
            return Some(Woken::Try(deletion.attempt(id, with_condition)));
        }
        self.running.remove(&id).map(|deletion| Woken::GaveUp(deletion.pod))
    }
}

impl Deletion {
    /// One attempt: with `with_condition`, the condition `DisruptionTarget` is patched first.
    /// Mirrors `addConditionAndDeletePod`.
    fn attempt(&mut self, id: RequestId, with_condition: bool) -> TaintEvictionAction {
        let pod = self.pod.clone();
        if !with_condition {
            self.phase = Phase::Deleting;
            return TaintEvictionAction::DeletePod { id, pod };
        }
        self.phase = Phase::Patching;
        let condition = PodCondition {
            type_: "DisruptionTarget".into(),
            status: ConditionStatus::True,
            reason: "DeletionByTaintManager".into(),
            message: "Taint manager: deleting due to NoExecute taint".into(),
            ..PodCondition::default()
        };
        TaintEvictionAction::PatchPodStatus { id, pod, condition }
    }
}
