//! Notes of the controller in the histories of taints.

use core::time::Duration;

use taintlab_rules::api::{ConditionStatus, NodeName};
use taintlab_rules::time::Time;

use super::controller::NodeLifecycleController;
use super::health::NodeHealth;
use super::taint_history::{MissedHeartbeats, NodeTaintHistory};

impl NodeLifecycleController {
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
