//! What the controller keeps about a node and about a zone.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use serde::Serialize;

use super::health::{HealthSample, NodeHealth, Ready, Renewal};
use super::taint_history::NodeTaintHistory;
use crate::api::{ConditionStatus, Node, NodeName, Taint, TaintEffect, well_known};
use crate::protocol::zone::{ZoneKey, ZoneState};
use crate::protocol::{HeartbeatSchedule, round_up};
use crate::queue::rate_limited_timed_queue::RateLimitedTimedQueue;
use crate::release::KubernetesRelease;
use crate::time::{Time, Timestamp};

/// The label of nodes that do not count for the state of their zone. Mirrors
/// `labelNodeDisruptionExclusion`.
pub(super) const EXCLUDE_DISRUPTION_LABEL: &str = "node.kubernetes.io/exclude-disruption";

/// Where a node is in the legacy path. Mirrors `scheduler.evictionStatus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub enum EvictionStatus {
    /// Its pods stay.
    Unmarked,
    /// It waits for its turn.
    ToBeEvicted,
    /// Its pods were deleted; new ones are deleted at once.
    Evicted,
}

/// A node by name: of the cache, of `knownNodeSet`, of `nodeHealthMap`, `nodesToRetry` and
/// `nodeEvictionMap`. It stays when the node is deleted, since its health does.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeState {
    /// The node, as the cache has it.
    pub(super) listed: Option<CachedNode>,
    /// When the status of its Ready condition last changed; the object says it in whole seconds.
    pub(super) status_changed_at: Option<Timestamp>,
    /// The UID of the node that a health pass has registered.
    pub(super) registered: Option<String>,
    pub(super) health: Option<NodeHealth>,
    /// As told; `heartbeats` count more.
    pub(super) lease: Option<Renewal>,
    /// Signs of life that are promised: heartbeats in `listed` are then out of date.
    pub(super) heartbeats: Option<HeartbeatSchedule>,
    /// Pods of the node could not be marked as not ready.
    pub(super) retry_pods: bool,
    /// `None` if the node is not in the cache.
    pub(super) eviction: Option<EvictionStatus>,
    /// What the last health pass counted: the zone, and whether the node was ready.
    pub(super) counted: Option<(ZoneKey, bool)>,
    /// The first pass that sees what has changed since the last.
    pub(super) pending: Option<Timestamp>,
    /// The next pass that may do more than note a sign of life.
    pub(super) due: Option<Timestamp>,
    /// How it came to be tainted.
    pub(super) taint_history: NodeTaintHistory,
    /// The end of a disruption of the whole cluster, from which a grace period runs.
    pub(super) grace_restarted: Option<Time>,
    /// Whether pods may be bound to the node; exact when a health pass ends.
    pub(super) has_pods: bool,
}

/// What matters of a node in the cache.
#[derive(Clone, Debug)]
pub(super) struct CachedNode {
    pub(super) node: Arc<Node>,
    pub(super) zone: ZoneKey,
    /// Whether it does not count for the state of its zone.
    pub(super) excluded: bool,
    pub(super) ready: Option<Ready>,
    pub(super) created: Time,
}

impl CachedNode {
    pub(super) fn new(
        node: Arc<Node>,
        before: Option<&Self>,
        release: KubernetesRelease,
        start: Time,
    ) -> Self {
        let known = before.filter(|before| before.node.metadata.labels == node.metadata.labels);
        let zone = match known {
            Some(before) => before.zone.clone(),
            None => ZoneKey::of(&node.metadata.labels),
        };
        let excluded = node.metadata.labels.contains_key(EXCLUDE_DISRUPTION_LABEL)
            || release.excludes_masters_by_name() && is_legacy_master(&node.metadata.name);
        let ready = Ready::of(&node);
        // The API server sets it always; a node that was given without is as old as the start.
        let created = node.metadata.creation_timestamp.unwrap_or(start.truncated_to_seconds());
        Self { node, zone, excluded, ready, created }
    }

    pub(super) fn status(&self) -> Option<&ConditionStatus> {
        self.ready.as_ref().map(|ready| &ready.status)
    }

    /// Whether it has the taint `key:NoExecute`.
    pub(super) fn has_no_execute(&self, key: &str) -> bool {
        has_no_execute(&self.node, key)
    }

    pub(super) fn is_ready(&self) -> bool {
        self.status() == Some(&ConditionStatus::True)
    }
}

impl NodeState {
    /// The Ready condition and the lease as a pass at `at` sees them; `ready` is that of the
    /// object.
    pub(super) fn signs(
        &self,
        mut ready: Option<Ready>,
        start: Time,
        at: Timestamp,
    ) -> (Option<Ready>, Option<Renewal>) {
        let Some(heartbeats) = &self.heartbeats else { return (ready, self.lease) };
        if let Some(ready) = &mut ready {
            ready.heartbeat = heartbeats.heartbeat(start, at).or(ready.heartbeat);
        }
        let renewed = heartbeats.lease.time(start, at);
        (ready, renewed.map(|renewed| Renewal { renew_time: Some(renewed) }).or(self.lease))
    }

    /// Notes what the passes before `before` saw that were not run.
    pub(super) fn settle(&mut self, start: Time, period: Duration, before: Timestamp) {
        if self.pending.is_some_and(|at| at < before) {
            (self.health, self.pending) = self.seen(start, period, before);
        }
    }

    /// Its health once passes have seen what there is to see, or with promised heartbeats what
    /// there is now.
    pub(super) fn settled_health(&self, start: Time, period: Duration) -> Option<NodeHealth> {
        let before = match (self.heartbeats, self.pending) {
            (Some(_), Some(at)) => at.saturating_add(period).saturating_add(period),
            _ => Timestamp::MAX,
        };
        self.seen(start, period, before).0
    }

    /// Its health after the passes before `before`, and the next one that may change it.
    fn seen(
        &self,
        start: Time,
        period: Duration,
        before: Timestamp,
    ) -> (Option<NodeHealth>, Option<Timestamp>) {
        let (mut health, mut pending) = (self.health.clone(), self.pending);
        let Some(listed) = &self.listed else { return (health, None) };
        let mut see = |at: Timestamp| {
            let (ready, lease) = self.signs(listed.ready.clone(), start, at);
            let sight = HealthSample { ready: ready.as_ref(), created: listed.created, lease };
            let now = start.saturating_add(at.since_zero());
            let seen = NodeHealth::observe(health.as_ref(), sight, now);
            // Another pass sees the same, unless this one has dropped the lease: see `observe`.
            let again = lease.is_some() && seen.lease.is_none();
            health = Some(seen);
            again
        };
        if let (Some(heartbeats), Some(first)) = (&self.heartbeats, pending) {
            if first < before {
                let (passes, next) = passes_that_matter(heartbeats, first, period, before);
                for at in passes {
                    see(at);
                }
                pending = Some(next);
            }
            return (health, pending);
        }
        while let Some(at) = pending.filter(|at| *at < before) {
            pending = see(at).then(|| at.saturating_add(period));
        }
        (health, pending)
    }

    /// Whether the last health pass counted the node as the next one will.
    pub(super) fn is_counted_right(&self, listed: &CachedNode) -> bool {
        match &self.counted {
            None => listed.excluded,
            Some((zone, ready)) => {
                !listed.excluded && *zone == listed.zone && *ready == listed.is_ready()
            }
        }
    }
}

/// Which of the passes from `first` to before `before` make a difference to what is known in the
/// end, if heartbeats come all the time; and the pass after them.
///
/// A pass overwrites what the one before it noted. So the last that sees a heartbeat of a kind
/// matters, and the one after it, which may miss a lease that was dropped. The first two see what
/// was told when the promise was given.
fn passes_that_matter(
    heartbeats: &HeartbeatSchedule,
    first: Timestamp,
    period: Duration,
    before: Timestamp,
) -> (Vec<Timestamp>, Timestamp) {
    let next = round_up(first, period, before);
    let period_nanos = u64::try_from(period.as_nanos()).unwrap_or(u64::MAX);
    let last = Timestamp::from_nanos(next.as_nanos().saturating_sub(period_nanos));
    let mut passes = Vec::with_capacity(6);
    let seen = [&heartbeats.status, &heartbeats.lease]
        .into_iter()
        .filter_map(|heartbeat| heartbeat.moment(last));
    for at in seen.map(|moment| round_up(first, period, moment)) {
        passes.extend([at, at.saturating_add(period)]);
    }
    passes.extend([first, first.saturating_add(period)]);
    passes.retain(|at| (first..=last).contains(at));
    passes.sort_unstable();
    passes.dedup();
    (passes, next)
}

pub(super) fn has_no_execute(node: &Node, key: &str) -> bool {
    node.spec.taints.iter().any(|taint| taint.is_no_execute() && taint.key == key)
}

/// The `NoExecute` taint with that key.
pub(super) fn no_execute(key: &str) -> Taint {
    Taint::new(key, "", TaintEffect::NoExecute)
}

/// The taint key that a node that is not ready gets, and the one that it then must not have.
pub(super) fn taint_keys(status: &ConditionStatus) -> Option<(&'static str, &'static str)> {
    match status {
        ConditionStatus::False => Some((well_known::NOT_READY, well_known::UNREACHABLE)),
        ConditionStatus::Unknown => Some((well_known::UNREACHABLE, well_known::NOT_READY)),
        _ => None,
    }
}

/// Mirrors `legacyIsMasterNode`: `master(-...)?$`.
fn is_legacy_master(name: &str) -> bool {
    let before_suffix = name.len().checked_sub(3).and_then(|end| name.as_bytes().get(..end));
    name.ends_with("master")
        || name.len() >= 10 && before_suffix.is_some_and(|start| start.ends_with(b"master-"))
}

/// A zone with a queue. Mirrors an entry of `zoneNoExecuteTainter` or `zonePodEvictor`, and that of
/// `zoneStates` if there is one.
#[derive(Clone, Debug)]
pub(super) struct Zone {
    /// `None` if no node is in it any more; its queue remains.
    pub(super) state: Option<ZoneState>,
    pub(super) queue: RateLimitedTimedQueue<NodeName>,
    /// Of the nodes that the last health pass counted.
    pub(super) counts: ZoneCounts,
    /// Nodes tainted, or in the legacy path drained. Mirrors the metric `evictions_number`.
    pub(super) evictions: u64,
}

/// How many nodes of a zone are ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ZoneCounts {
    pub(super) ready: usize,
    pub(super) not_ready: usize,
}

impl ZoneCounts {
    pub(super) const fn size(self) -> usize {
        self.ready + self.not_ready
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masters_are_known_by_their_names() {
        for (name, master) in [
            ("master", true),
            ("foo-master", true),
            ("master-abc", true),
            ("foo-master-0ab", true),
            ("master-ab", false),
            ("master-abcd", false),
            ("masterabc", false),
            ("worker", false),
            ("", false),
            ("-ab", false),
        ] {
            assert_eq!(is_legacy_master(name), master, "{name}");
        }
    }
}
