//! How a node came to be tainted: the moments that decided when.

use core::time::Duration;

use serde::Serialize;

use super::controller::NodeLifecycleController;
use super::health::NodeHealth;
use super::view::RateSource;
use crate::api::{ConditionStatus, NodeName};
use crate::protocol::zone::{ZoneKey, as_flag};
use crate::time::{Time, Timestamp};

/// How a node came to be tainted (or without the taint manager, drained), as far as it has come.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeTaintHistory {
    /// Which heartbeats were missed, if any were.
    pub missed_heartbeats: Option<MissedHeartbeats>,
    /// Since when its kubelet reports that it is not ready, if it does.
    pub reported_at: Option<Time>,
    /// Without the taint manager: since when `--pod-eviction-timeout` runs, and how long it is.
    pub timeout: Option<(Time, Duration)>,
    /// The health pass that queued it.
    pub queued_at: Option<Timestamp>,
    /// When the queue of its zone was at it.
    pub dequeued: Option<Dequeued>,
    /// The health pass that exchanged one taint for the other, which costs no token.
    pub swapped_at: Option<Timestamp>,
}

/// How long a node sent no heartbeat before its conditions became Unknown.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MissedHeartbeats {
    /// Its last heartbeat; its creation if there was none.
    pub last_heartbeat_at: Time,
    /// From when the grace period ran: the health pass that saw that heartbeat.
    pub counted_from: Time,
    /// The end of a disruption of the whole cluster, if the grace period began anew with it.
    pub restarted: bool,
    /// The flag that says how long the node may send no heartbeat.
    pub grace_flag: &'static str,
    /// How long.
    pub grace: Duration,
    /// The health pass that turned its conditions Unknown.
    pub unknown_at: Timestamp,
}

impl MissedHeartbeats {
    /// Whether the node was never ready, so that the grace period begins with its creation.
    #[must_use]
    pub fn began_with_nothing(&self) -> bool {
        self.grace_flag == "node-startup-grace-period"
    }
}

/// How a node left the queue of its zone.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Dequeued {
    /// When the zone had a token for it.
    pub token_at: Timestamp,
    /// The tainting pass that found the token.
    pub at: Timestamp,
    /// Where the rate of the zone came from.
    pub rate_source: RateSource,
    /// Nodes per second.
    #[serde(serialize_with = "as_flag")]
    pub qps: f32,
}

impl NodeLifecycleController {
    /// How a node came to be tainted, as far as it has come; `None` for a node that nobody knows.
    #[must_use]
    pub fn taint_history(&self, node: &str) -> Option<&NodeTaintHistory> {
        self.records.get(node).map(|record| &record.taint_history)
    }

    /// How all nodes that there are came to be tainted, by name, each with its zone.
    pub(crate) fn taint_histories(
        &self,
    ) -> impl Iterator<Item = (&NodeName, &ZoneKey, &NodeTaintHistory)> {
        self.records.iter().filter_map(|(name, record)| {
            Some((name, &record.listed.as_ref()?.zone, &record.taint_history))
        })
    }

    /// A node is ready.
    pub(super) fn forget_taint_history(&mut self, name: &NodeName) {
        if let Some(record) = self.records.get_mut(name.as_str()) {
            record.taint_history = NodeTaintHistory::default();
        }
    }

    /// A health pass found that a node misses heartbeats, as its health before tells.
    pub(super) fn record_missed_heartbeats(
        &mut self,
        name: &NodeName,
        health: &NodeHealth,
        never_ready: bool,
    ) {
        let (unknown_at, grace) = (self.now, self.config.node_monitor_grace_period);
        let startup = self.config.node_startup_grace_period;
        let Some(record) = self.records.get_mut(name.as_str()) else { return };
        let renewed = health.lease.and_then(|lease| lease.renew_time);
        let heartbeat = health.ready.as_ref().and_then(|ready| ready.heartbeat);
        let counted_from = health.probe_timestamp;
        let restarted = record.grace_restarted == Some(counted_from);
        let last_heartbeat_at = if never_ready { None } else { renewed.max(heartbeat) };
        let last_heartbeat_at = last_heartbeat_at.unwrap_or(counted_from).min(counted_from);
        let (grace_flag, grace) = if never_ready {
            ("node-startup-grace-period", startup)
        } else {
            ("node-monitor-grace-period", grace)
        };
        record.taint_history = NodeTaintHistory {
            missed_heartbeats: Some(MissedHeartbeats {
                last_heartbeat_at,
                counted_from,
                restarted,
                grace_flag,
                grace,
                unknown_at,
            }),
            ..NodeTaintHistory::default()
        };
    }

    /// A health pass queued a node that is not ready.
    pub(super) fn record_queued(
        &mut self,
        name: &NodeName,
        status: &ConditionStatus,
        timeout: Option<(Time, Duration)>,
    ) {
        let (start, now) = (self.start, self.now);
        let Some(record) = self.records.get_mut(name.as_str()) else { return };
        record.taint_history.queued_at = Some(now);
        record.taint_history.timeout = timeout;
        record.taint_history.dequeued = None;
        if *status == ConditionStatus::False {
            let ready = record.health.as_ref().and_then(|health| health.ready.as_ref());
            record.taint_history.missed_heartbeats = None;
            let transition = ready.and_then(|ready| ready.transition);
            let changed = record.status_changed_at.map(|at| start.saturating_add(at.since_zero()));
            let exact = changed.filter(|at| Some(at.truncated_to_seconds()) == transition);
            record.taint_history.reported_at = exact.or(transition);
        }
    }
}
