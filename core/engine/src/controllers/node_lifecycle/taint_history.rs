//! History of a node's taint: the moments that determined its time.

use core::time::Duration;

use serde::Serialize;
use taintlab_rules::protocol::zone::as_flag;
use taintlab_rules::time::{Time, Timestamp};

use super::rate::RateSource;

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
