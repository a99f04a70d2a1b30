//! State that the controller keeps about nodes and zones.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use serde::Serialize;
use taintlab_rules::api::{ConditionStatus, Node, NodeName, Taint, TaintEffect, well_known};
use taintlab_rules::order::Order;
use taintlab_rules::protocol::zone::{ZoneKey, ZoneState};
use taintlab_rules::protocol::{HeartbeatSchedule, round_up};
use taintlab_rules::queue::rate_limited_timed_queue::RateLimitedTimedQueue;
use taintlab_rules::release::KubernetesRelease;
use taintlab_rules::time::{Time, Timestamp};

use super::health::{HealthSample, NodeHealth, Ready, Renewal};
use super::taint_history::NodeTaintHistory;

/// Label of nodes that do not count for the state of their zone. Mirrors
/// `labelNodeDisruptionExclusion`.
pub(super) const EXCLUDE_DISRUPTION_LABEL: &str = "node.kubernetes.io/exclude-disruption";

/// Progress of a node in the legacy path. Mirrors `scheduler.evictionStatus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub enum EvictionStatus {
    /// The pods of the node stay.
    Unmarked,
    /// The node waits for its turn.
    ToBeEvicted,
    /// The pods of the node were deleted; new ones are deleted immediately.
    Evicted,
}

/// State of a node: its entries in the cache, `knownNodeSet`, `nodeHealthMap`, `nodesToRetry` and
/// `nodeEvictionMap`. It outlives the node, as the node's health does.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeState {
    /// The node in the cache.
    pub(super) listed: Option<CachedNode>,
    /// Exact time of the last change of its Ready status; the object has it in whole seconds.
    pub(super) status_changed_at: Option<Timestamp>,
    /// Time at which the informer knows that a ready node was set to Unknown.
    pub(super) known_at: Timestamp,
    /// UID of the node that a health pass has registered.
    pub(super) registered: Option<String>,
    pub(super) health: Option<NodeHealth>,
    /// The reported lease; `heartbeats` take precedence.
    pub(super) lease: Option<Renewal>,
    /// Heartbeats known in advance; those in `listed` are then out of date.
    pub(super) heartbeats: Option<HeartbeatSchedule>,
    /// Whether some pods of the node could not be marked as not ready.
    pub(super) retry_pods: bool,
    /// `None` if the node is not in the cache.
    pub(super) eviction: Option<EvictionStatus>,
    /// Entry in the counts of the last health pass: the zone, and whether the node was ready.
    pub(super) counted: Option<(ZoneKey, bool)>,
    /// First pass that sees the changes since the last one.
    pub(super) pending: Option<Timestamp>,
    /// Next pass that may do more than record a heartbeat.
    pub(super) due: Option<Timestamp>,
    /// History of its taint.
    pub(super) taint_history: NodeTaintHistory,
    /// End of a disruption of the whole cluster, if it restarted the grace period.
    pub(super) grace_restarted: Option<Time>,
    /// Whether pods may be bound to the node; exact at the end of a health pass.
    pub(super) has_pods: bool,
}

/// Relevant parts of a node in the cache.
#[derive(Clone, Debug)]
pub(super) struct CachedNode {
    pub(super) node: Arc<Node>,
    pub(super) zone: ZoneKey,
    /// Whether it is excluded from the state of its zone.
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
        // The API server always sets it; a node without it counts as created at the start.
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
    /// Ready condition and lease as a pass at `at` sees them; `ready` is the condition of the
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

    /// Applies the skipped passes before `before`.
    pub(super) fn settle(&mut self, start: Time, period: Duration, before: Timestamp) {
        if self.pending.is_some_and(|at| at < before) {
            (self.health, self.pending) = self.seen(start, period, before);
        }
    }

    /// Health after all pending observations; with heartbeats known in advance, after the next two
    /// passes only.
    pub(super) fn settled_health(&self, start: Time, period: Duration) -> Option<NodeHealth> {
        let before = match (self.heartbeats, self.pending) {
            (Some(_), Some(at)) => at.saturating_add(period).saturating_add(period),
            _ => Timestamp::MAX,
        };
        self.seen(start, period, before).0
    }

    /// Health after the passes before `before`, and the next pass that may change it.
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
            // The next pass sees the same, unless this one has dropped the lease: see `observe`.
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

/// The passes from `first` until before `before` that affect the final health under regular
/// heartbeats, and the pass after them.
///
/// A pass overwrites the observations of the previous one. So only the last pass that sees a
/// heartbeat of each kind matters, and the one after it, which may miss a dropped lease. The first
/// two see the state reported before the heartbeat schedule.
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
    passes.order();
    passes.dedup();
    (passes, next)
}

pub(super) fn has_no_execute(node: &Node, key: &str) -> bool {
    node.spec.taints.iter().any(|taint| taint.is_no_execute() && taint.key == key)
}

/// The `NoExecute` taint with this key.
pub(super) fn no_execute(key: &str) -> Taint {
    Taint::new(key, "", TaintEffect::NoExecute)
}

/// Keys of the taint that a node that is not ready gets, and of the one that it must not have then.
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

/// A zone with its queue. Mirrors an entry of `zoneNoExecuteTainter` or `zonePodEvictor`, and of
/// `zoneStates` if there is one.
#[derive(Clone, Debug)]
pub(super) struct Zone {
    /// `None` if it has no nodes any more; its queue remains.
    pub(super) state: Option<ZoneState>,
    pub(super) queue: RateLimitedTimedQueue<NodeName>,
    /// Counts of the last health pass.
    pub(super) counts: ZoneCounts,
    /// Nodes tainted, or in the legacy path evicted. Mirrors the metric `evictions_number`.
    pub(super) evictions: u64,
}

/// Numbers of nodes in a zone, by readiness.
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
    fn masters_are_recognised_by_name() {
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
