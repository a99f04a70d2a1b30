//! Deadlines: the next health pass with work to do.

use core::time::Duration;

use taintlab_rules::api::{ConditionStatus, NodeName, well_known};
use taintlab_rules::order::OrderedMap;
use taintlab_rules::protocol::round_up;
use taintlab_rules::protocol::zone::ZoneKey;
use taintlab_rules::release::{KubernetesRelease, Requeue};
use taintlab_rules::time::{Time, Timestamp};

use super::config::NodeLifecycleConfig;
use super::health::NodeHealth;
use super::record::{CachedNode, EvictionStatus, NodeState, Zone, taint_keys};

/// Number of nodes that are due at each moment ([`NodeState::due`]).
#[derive(Clone, Debug, Default)]
pub(super) struct WakeupIndex(OrderedMap<Timestamp, usize>);

impl WakeupIndex {
    pub(super) fn first(&self) -> Option<Timestamp> {
        self.0.first_key_value().map(|(at, _)| *at)
    }

    /// Moves the deadline of a node.
    pub(super) fn replace(&mut self, before: Option<Timestamp>, after: Option<Timestamp>) {
        if before == after {
            return;
        }
        if let Some(before) = before
            && let Some(count) = self.0.get_mut(&before)
        {
            *count -= 1;
            if *count == 0 {
                self.0.remove(&before);
            }
        }
        if let Some(after) = after {
            *self.0.entry(after).or_default() += 1;
        }
    }
}

/// Inputs for the deadlines of nodes.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
    pub(super) release: KubernetesRelease,
    pub(super) config: &'a NodeLifecycleConfig,
    pub(super) start: Time,
    pub(super) zones: &'a OrderedMap<ZoneKey, Zone>,
    /// Whether a health pass is running.
    pub(super) passing: bool,
    pub(super) next_pass: Timestamp,
    pub(super) last_pass: Timestamp,
    pub(super) now: Timestamp,
}

impl Rules<'_> {
    /// First health pass at or after `from` that has not started.
    pub(super) fn first_pass(&self, from: Timestamp) -> Timestamp {
        round_up(self.next_pass, self.config.node_monitor_period, from)
    }

    /// First health pass later than `deadline` that has not started.
    pub(super) fn first_pass_after(&self, deadline: Time) -> Timestamp {
        if deadline < self.start {
            return self.first_pass(self.now);
        }
        let after = deadline.since(self.start).saturating_add(Duration::from_nanos(1));
        self.first_pass(self.now.max(Timestamp::ZERO.saturating_add(after)))
    }

    /// Time before which all passes are over, whether or not they were run.
    pub(super) fn passes_over(&self) -> Timestamp {
        if self.passing { self.now } else { self.now.max(self.next_pass) }
    }

    /// Prepares a change of a node: applies the observations of earlier passes first.
    pub(super) fn see_change(&self, record: &mut NodeState) {
        record.settle(self.start, self.config.node_monitor_period, self.passes_over());
        record.pending = Some(self.first_pass(self.now));
    }

    /// Next health pass that may do more with a node than record a heartbeat; `None` if there is
    /// none without a change.
    pub(super) fn due_of(&self, name: &NodeName, record: &NodeState) -> Option<Timestamp> {
        if self.passing {
            // Nodes that change during a pass are looked at when it ends.
            return Some(self.now);
        }
        let soon = self.first_pass(self.now);
        let Some(listed) = &record.listed else {
            return record.registered.is_some().then_some(soon);
        };
        let zone = self.zones.get(&listed.zone).filter(|zone| zone.state.is_some());
        let Some(zone) = zone.filter(|_| {
            record.registered.is_some() && !record.retry_pods && record.is_counted_right(listed)
        }) else {
            return Some(soon);
        };
        let health = record.settled_health(self.start, self.config.node_monitor_period)?;
        let overdue = |grace: Duration| {
            Some(self.first_pass_after(health.probe_timestamp.saturating_add(grace)))
        };
        // A kubelet with periodic heartbeats is never overdue, unless the grace period is too
        // short.
        let overdue = |grace: Duration| match &record.heartbeats {
            Some(heartbeats) if heartbeats.suffice(self.config.node_monitor_period, grace) => {
                // A kubelet that has just reconnected has not sent its first heartbeat yet.
                let first = heartbeats.lease.next.min(heartbeats.status.next);
                overdue(grace).filter(|at| self.now < first && *at < first)
            }
            Some(_) => Some(soon),
            None => overdue(grace),
        };
        let grace = self.config.node_monitor_grace_period;
        match listed.status() {
            None if !self.keeps_place(name, zone) => Some(soon),
            None => overdue(self.config.node_startup_grace_period),
            Some(ConditionStatus::True) => {
                let marked = zone.queue.set().contains(name)
                    || record.eviction.is_some_and(|status| status != EvictionStatus::Unmarked);
                let tainted = self.config.enable_taint_manager
                    && [well_known::NOT_READY, well_known::UNREACHABLE]
                        .iter()
                        .any(|key| listed.has_no_execute(key));
                if marked || tainted { Some(soon) } else { overdue(grace) }
            }
            Some(status) => {
                let unknown =
                    if *status == ConditionStatus::Unknown { None } else { overdue(grace) };
                let decision = if self.config.enable_taint_manager {
                    (!self.is_marked_for_tainting(name, listed, status, zone)).then_some(soon)
                } else {
                    self.eviction_due(name, record, status, &health, zone)
                };
                unknown.into_iter().chain(decision).min()
            }
        }
    }

    /// Whether the next health pass has no work with the taints of a node that is not ready.
    fn is_marked_for_tainting(
        &self,
        name: &NodeName,
        listed: &CachedNode,
        status: &ConditionStatus,
        zone: &Zone,
    ) -> bool {
        let Some((wanted, opposite)) = taint_keys(status) else {
            return self.keeps_place(name, zone);
        };
        if listed.has_no_execute(opposite) || !zone.queue.set().contains(name) {
            return false;
        }
        match self.release.requeue() {
            Requeue::KeepsPlace => true,
            Requeue::Duplicates => listed.has_no_execute(wanted),
            Requeue::MovesBack if listed.has_no_execute(wanted) => self.keeps_place(name, zone),
            // A pass moves all waiting nodes to the end; if the previous one did, their order
            // stays.
            Requeue::MovesBack => {
                let mut entries = zone.queue.queue().iter();
                entries.find(|entry| entry.value == *name).is_some_and(|entry| {
                    entry.added_at >= self.last_pass && entry.process_at == entry.added_at
                })
            }
        }
    }

    /// Whether no pass changes the position of a node that is not moved back itself: it does not
    /// wait, or nodes that are moved back have been moved since.
    fn keeps_place(&self, name: &NodeName, zone: &Zone) -> bool {
        let mut entries = zone.queue.queue().iter();
        self.release.requeue() != Requeue::MovesBack
            || !zone.queue.set().contains(name)
            || entries
                .find(|entry| entry.value == *name)
                .is_none_or(|entry| entry.added_at < self.last_pass)
    }

    /// Next health pass with work on the pods of a node that is not ready, in the legacy path.
    fn eviction_due(
        &self,
        name: &NodeName,
        record: &NodeState,
        status: &ConditionStatus,
        health: &NodeHealth,
        zone: &Zone,
    ) -> Option<Timestamp> {
        let since = health.lost_since(status)?;
        let soon = self.first_pass(self.now);
        if record.heartbeats.is_some() && *status == ConditionStatus::Unknown {
            // Every heartbeat postpones it.
            return Some(soon);
        }
        let over = self.first_pass_after(since.saturating_add(self.config.pod_eviction_timeout));
        if over > soon {
            return Some(over);
        }
        let nothing_to_do = match record.eviction {
            Some(EvictionStatus::Evicted) => !record.has_pods,
            Some(EvictionStatus::ToBeEvicted) => zone.queue.set().contains(name),
            _ => false,
        };
        (!nothing_to_do).then_some(soon)
    }
}
