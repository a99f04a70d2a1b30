//! History of a node's taint: the moments that determined its time.

use core::time::Duration;

use serde::Serialize;
use taintlab_rules::api::{ConditionStatus, NodeName};
use taintlab_rules::protocol::zone::{ZoneKey, as_flag};
use taintlab_rules::time::{Time, Timestamp};

use super::controller::NodeLifecycleController;
use super::health::NodeHealth;
use super::view::RateSource;

/// History of a node's taint (or without the taint manager, of its eviction), up to now.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeTaintHistory {
    /// Missed heartbeats, if there were any.
    pub missed_heartbeats: Option<MissedHeartbeats>,
    /// Time from which the kubelet has reported the node as not ready, if it does.
    pub reported_at: Option<Time>,
    /// Without the taint manager: start and length of `--pod-eviction-timeout`.
    pub timeout: Option<(Time, Duration)>,
    /// Health pass that queued the node.
    pub queued_at: Option<Timestamp>,
    /// Dequeuing of the node.
    pub dequeued: Option<Dequeued>,
    /// Tainting pass before that one whose token was lost to an informer that lags.
    pub lost_token_at: Option<Timestamp>,
    /// Health pass that replaced one taint with the other, which needs no token.
    pub swapped_at: Option<Timestamp>,
}

/// Time without heartbeats before a node's conditions became Unknown.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MissedHeartbeats {
    /// Time of the last heartbeat; of the creation if there was none.
    pub last_heartbeat_at: Time,
    /// Start of the grace period: the health pass that saw that heartbeat.
    pub counted_from: Time,
    /// Whether the grace period restarted at the end of a disruption of the whole cluster.
    pub restarted: bool,
    /// Flag that sets the grace period.
    pub grace_flag: &'static str,
    /// Length of the grace period.
    pub grace: Duration,
    /// Health pass that set the conditions to Unknown.
    pub unknown_at: Timestamp,
}

impl MissedHeartbeats {
    /// Whether the node was never ready, so that the grace period starts with its creation.
    #[must_use]
    pub fn began_with_nothing(&self) -> bool {
        self.grace_flag == "node-startup-grace-period"
    }
}

/// Departure of a node from the queue of its zone.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Dequeued {
    /// Time at which the zone had a token for it.
    pub token_at: Timestamp,
    /// Tainting pass that took the token.
    pub at: Timestamp,
    /// Source of the zone's rate.
    pub rate_source: RateSource,
    /// Nodes per second.
    #[serde(serialize_with = "as_flag")]
    pub qps: f32,
}

impl NodeLifecycleController {
    /// History of a node's taint, up to now; `None` for an unknown node.
    #[must_use]
    pub fn taint_history(&self, node: &str) -> Option<&NodeTaintHistory> {
        self.records.get(node).map(|record| &record.taint_history)
    }

    /// Histories of all existing nodes, by name, each with the node's zone.
    pub(crate) fn taint_histories(
        &self,
    ) -> impl Iterator<Item = (&NodeName, &ZoneKey, &NodeTaintHistory)> {
        self.records.iter().filter_map(|(name, record)| {
            Some((name, &record.listed.as_ref()?.zone, &record.taint_history))
        })
    }

    /// Clears the history of a node that is ready.
    pub(super) fn forget_taint_history(&mut self, name: &NodeName) {
        if let Some(record) = self.records.get_mut(name.as_str()) {
            record.taint_history = NodeTaintHistory::default();
        }
    }

    /// Records missed heartbeats found by a health pass, from the node's health before it.
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

    /// Records that a health pass queued a node that is not ready.
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
