//! How a run ended, once nothing is due any more.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::Serialize;
use taintlab_rules::api::{NodeName, PodKey};
use taintlab_rules::order::{Order, OrderedMap};
use taintlab_rules::plural::count;
use taintlab_rules::time::Timestamp;

use super::Simulator;
use crate::pod_state::{PodHealth, PodState, PodVerdict};

/// More nodes or reasons than these are only counted in a sentence.
const MOST_NAMED: usize = 2;

/// How a run ended: what became of its pods, and what is left undone. Its text is one sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunOutcome {
    /// When something happened last.
    pub ended_at: Timestamp,
    /// How many pods are there.
    pub pods: usize,
    /// How many times a pod was evicted, by a controller or by its kubelet.
    pub evictions: usize,
    /// The pods that stay `Terminating` until their node is back, by node.
    pub stuck: Vec<StuckPods>,
    /// The pods for which the scheduler finds no node, by its reason; the commonest comes first.
    pub unschedulable: Vec<UnschedulablePods>,
    /// The pods without a node that nobody schedules.
    pub pending: Vec<PodKey>,
    /// The pods that have a node and do not start: its kubelet is unreachable.
    pub starting: Vec<PodKey>,
    /// The pods that stay and are not ready.
    pub not_ready: Vec<PodKey>,
}

/// Pods that are deleted and wait for the kubelet of their node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StuckPods {
    /// The node whose kubelet is unreachable.
    pub node: NodeName,
    /// Its pods, by key.
    pub pods: Vec<PodKey>,
}

/// Pods that cannot be scheduled for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UnschedulablePods {
    /// The scheduler's words, without what it says of preemption.
    pub reason: String,
    /// The pods, by key.
    pub pods: Vec<PodKey>,
}

/// What a part of the sentence speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum OutcomeKind {
    /// How many pods were evicted.
    Evictions,
    /// [`RunOutcome::stuck`].
    Stuck,
    /// [`RunOutcome::unschedulable`].
    Unschedulable,
    /// [`RunOutcome::pending`].
    Pending,
    /// [`RunOutcome::starting`].
    Starting,
    /// [`RunOutcome::not_ready`].
    NotReady,
}

/// A part of the sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutcomePart {
    /// What it speaks of.
    pub kind: OutcomeKind,
    /// How many pods it speaks of.
    pub pods: usize,
    /// Its words: `9 pods cannot be scheduled (0/5 nodes are available: 5 Insufficient cpu)`.
    pub text: String,
}

impl RunOutcome {
    /// Whether nothing was evicted and every pod is ready or has ended.
    #[must_use]
    pub fn is_uneventful(&self) -> bool {
        self.evictions == 0 && self.parts().len() == 1
    }

    /// The parts of the sentence after `Ended at 6m10s: `, in order; at least one.
    #[must_use]
    pub fn parts(&self) -> Vec<OutcomePart> {
        let stuck = self.stuck.iter().map(|stuck| stuck.pods.len()).sum();
        let unschedulable = self.unschedulable.iter().map(|group| group.pods.len()).sum();
        // Stuck pods are not ready, too, and stand in a part of their own.
        let not_ready = match (stuck, self.not_ready.len()) {
            (0, _) => "not ready",
            (_, 1) => "other not ready",
            _ => "others not ready",
        };
        let candidates = [
            (OutcomeKind::Stuck, stuck, self.until_back()),
            (OutcomeKind::Unschedulable, unschedulable, self.reasons()),
            (OutcomeKind::Pending, self.pending.len(), "have no node".into()),
            (OutcomeKind::Starting, self.starting.len(), "do not start".into()),
            (OutcomeKind::NotReady, self.not_ready.len(), not_ready.into()),
        ];
        let mut parts = Vec::from([OutcomePart {
            kind: OutcomeKind::Evictions,
            pods: self.evictions,
            text: match self.evictions {
                0 => "no pod was evicted".into(),
                evictions => format!("{} evicted", count(evictions, "pod")),
            },
        }]);
        for (kind, pods, words) in candidates {
            if pods > 0 {
                let words = match (pods, words.as_str()) {
                    (1, "have no node") => "has no node",
                    (1, "do not start") => "does not start",
                    (_, words) => words,
                };
                parts.push(OutcomePart { kind, pods, text: format!("{pods} {words}") });
            }
        }
        parts
    }

    fn until_back(&self) -> String {
        let names: Vec<&str> =
            self.stuck.iter().take(MOST_NAMED).map(|stuck| stuck.node.as_str()).collect();
        let more = self.stuck.len().saturating_sub(MOST_NAMED);
        let nodes = match more {
            0 => names.join(" and "),
            more => format!("{} and {}", names.join(", "), count(more, "more node")),
        };
        let are = if self.stuck.len() == 1 { "is" } else { "are" };
        format!("stuck Terminating until {nodes} {are} back")
    }

    fn reasons(&self) -> String {
        let said = self.unschedulable.iter().filter(|group| !group.reason.is_empty());
        let shown: Vec<String> = match self.unschedulable.as_slice() {
            [only] => said.map(|_| only.reason.clone()).collect(),
            _ => said
                .take(MOST_NAMED)
                .map(|group| format!("{}: {}", group.pods.len(), group.reason))
                .collect(),
        };
        let more = self.unschedulable.len().saturating_sub(MOST_NAMED);
        let more =
            if more == 0 { String::new() } else { format!("; {}", count(more, "other reason")) };
        if shown.is_empty() {
            "cannot be scheduled".into()
        } else {
            format!("cannot be scheduled ({}{more})", shown.join("; "))
        }
    }
}

/// `Ended at 6m10s: 12 pods evicted; 12 stuck Terminating until n1 is back`.
impl fmt::Display for RunOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ended at {}: ", self.ended_at)?;
        for (index, part) in self.parts().iter().enumerate() {
            f.write_str(if index == 0 { "" } else { "; " })?;
            f.write_str(&part.text)?;
        }
        Ok(())
    }
}

impl RunOutcome {
    /// How the run ended; `None` while something is due.
    pub(super) fn of(simulator: &Simulator) -> Option<Self> {
        if simulator.poll_timeout().is_some_and(|next| next.at < Timestamp::MAX) {
            return None;
        }
        let mut stuck: OrderedMap<&str, Vec<PodKey>> = OrderedMap::new();
        let mut reasons: OrderedMap<String, Vec<PodKey>> = OrderedMap::new();
        let (mut pending, mut starting, mut not_ready) = (Vec::new(), Vec::new(), Vec::new());
        for (key, PodState { verdict, health, .. }) in simulator.pod_states().iter() {
            match (verdict, health) {
                (PodVerdict::Stuck, _) => {
                    let pod = simulator.api.cluster.get_pod(key);
                    let node = pod.map(|pod| pod.spec.node_name.as_str()).unwrap_or_default();
                    stuck.entry(node).or_default().push(key.clone());
                }
                // Finalizers keep it.
                (PodVerdict::Terminating, _) => not_ready.push(key.clone()),
                (_, PodHealth::Unschedulable) => {
                    reasons.entry(why_unschedulable(simulator, key)).or_default().push(key.clone());
                }
                (_, PodHealth::Pending) => pending.push(key.clone()),
                (_, PodHealth::Starting) => starting.push(key.clone()),
                (_, PodHealth::NotReady) => not_ready.push(key.clone()),
                _ => {}
            }
        }
        let mut unschedulable: Vec<UnschedulablePods> =
            reasons.into_iter().map(|(reason, pods)| UnschedulablePods { reason, pods }).collect();
        unschedulable.order_by_key(|group| core::cmp::Reverse(group.pods.len()));
        Some(Self {
            ended_at: simulator.api.tally.last_event,
            pods: simulator.api.cluster.pod_count(),
            evictions: simulator.api.tally.evictions,
            stuck: stuck
                .into_iter()
                .map(|(node, pods)| StuckPods { node: node.into(), pods })
                .collect(),
            unschedulable,
            pending,
            starting,
            not_ready,
        })
    }
}

/// What the scheduler said of a pod, without what it said of preemption.
pub fn why_unschedulable(simulator: &Simulator, key: &PodKey) -> String {
    let pod = simulator.api.cluster.get_pod(key);
    let condition = pod.and_then(|pod| pod.condition("PodScheduled"));
    let message = condition.map_or("", |condition| condition.message.as_str());
    let (reason, _) = message.split_once(" preemption:").unwrap_or((message, ""));
    // What is said of claims since 1.34 belongs to preemption.
    let reason = reason.strip_suffix(" no new claims to deallocate,").unwrap_or(reason);
    reason.trim().trim_end_matches('.').into()
}
