//! Views of the controller's state.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use serde::Serialize;
use taintlab_rules::api::{ConditionStatus, NodeName};
use taintlab_rules::order::{Order, OrderedSet};
use taintlab_rules::protocol::zone::{ZoneKey, ZoneState, as_flag};
use taintlab_rules::queue::rate_limited_timed_queue::EVICTION_RATE_LIMITER_BURST;
use taintlab_rules::time::{Time, Timestamp};

use super::config::NodeLifecycleConfig;
use super::controller::{NODE_EVICTION_PERIOD, NodeLifecycleController};
use super::health::NodeHealth;
use super::rate::RateSource;
use super::record::{EvictionStatus, Zone, ZoneCounts};
use super::taint_history::NodeTaintHistory;

/// A zone as the controller sees it, with the underlying arithmetic.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct ZoneView {
    /// Key of the zone, serialised as its name, `region/zone`.
    pub key: ZoneKey,
    /// Whether the zone is cut off the API server. Only a simulation knows.
    pub network_cut: bool,
    /// State of the zone; absent if it has no nodes any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<ZoneState>,
    /// Nodes that were ready at the last health pass.
    pub ready: usize,
    /// Nodes that were not ready. Excluded nodes are in neither number.
    pub not_ready: usize,
    /// `--unhealthy-zone-threshold`, with which `not_ready / (ready + not_ready)` is compared.
    #[serde(serialize_with = "as_flag")]
    pub unhealthy_zone_threshold: f32,
    /// Arithmetic of the state: `not ready 3 of 5, 0.6 >= 0.55, and more than 2`.
    pub arithmetic: String,
    /// Nodes per second; zero if the zone is stopped.
    #[serde(serialize_with = "as_flag")]
    pub qps: f32,
    /// Source of the rate.
    pub rate_source: RateSource,
    /// Source of the rate in words, with its flag.
    pub rate_text: String,
    /// Tokens in the bucket, from 0 to `capacity`.
    pub tokens: f64,
    /// Maximum number of tokens in the bucket.
    pub capacity: i32,
    /// Next tainting pass that finds a token; absent if there never is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_token: Option<Timestamp>,
    /// Waiting nodes, the first one first.
    pub queue: Vec<QueuedNode>,
    /// Nodes tainted (or evicted) since the controller started.
    pub evictions: u64,
}

/// A node waiting in the queue of its zone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct QueuedNode {
    /// The node.
    pub node: NodeName,
    /// Time at which it was added; a health pass with other work adds it again (since 1.21).
    pub added_at: Timestamp,
    /// Earliest time of its turn.
    pub process_at: Timestamp,
    /// Time of its turn if nothing changes; absent if it never comes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_at: Option<Timestamp>,
    /// Number of nodes that one health pass queued together, this one included. Upstream their
    /// order is that of a Go map, and every order is equally likely.
    pub tied: usize,
    /// Time of its turn if it is the first of them; absent if it never comes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earliest_at: Option<Timestamp>,
    /// Time of its turn if it is the last of them; absent if it never comes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest_at: Option<Timestamp>,
}

impl QueuedNode {
    /// Note about the number of possible orders, with the earliest and the latest time of the turn;
    /// `None` if the order is certain.
    #[must_use]
    pub fn order_text(&self) -> Option<String> {
        let (earliest, latest) = self.earliest_at.zip(self.latest_at)?;
        if self.tied < 2 {
            return None;
        }
        let orders = (1..=u64::try_from(self.tied).ok()?).try_fold(1_u64, u64::checked_mul);
        let orders = orders.filter(|orders| *orders <= 1_000_000);
        let orders = orders.map_or_else(|| format!("{}!", self.tied), |orders| format!("{orders}"));
        Some(format!("one of {orders} orders: first {earliest}, last {latest}"))
    }
}

/// Health of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct NodeHealthView {
    /// State that the controller keeps.
    #[serde(flatten)]
    pub health: NodeHealth,
    /// Flag that sets the grace period.
    pub grace_flag: &'static str,
    /// Length of the grace period; serialised in milliseconds.
    #[serde(rename = "graceMilliseconds", serialize_with = "taintlab_rules::time::milliseconds")]
    #[cfg_attr(feature = "typescript-all", tsify(type = "number"))]
    pub grace: Duration,
    /// Health pass that sets the node's Ready condition to Unknown if no heartbeat arrives; absent
    /// if it already is Unknown, or its kubelet sends heartbeats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns_unknown_at: Option<Timestamp>,
    /// Progress of the node in the legacy path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eviction: Option<EvictionStatus>,
}

/// Arithmetic that derives a zone's state from its numbers of nodes. Mirrors `ComputeZoneState`.
fn arithmetic(counts: ZoneCounts, threshold: f32) -> String {
    let (not_ready, total) = (counts.not_ready, counts.size());
    let numbers = format!("not ready {not_ready} of {total}");
    if not_ready == 0 {
        return numbers;
    }
    if counts.ready == 0 {
        return format!("{numbers}: none is ready");
    }
    // Thousandths, so that 0.545 does not look like 0.55.
    let thousandths = (not_ready * 2_000 + total) / (2 * total);
    let fraction = format!("0.{thousandths:03}");
    let fraction = if thousandths >= 1_000 { "1" } else { fraction.trim_end_matches('0') };
    let most = not_ready as f32 / total as f32 >= threshold;
    let sign = if most { ">=" } else { "<" };
    let minimum = match (most, not_ready > 2) {
        (true, true) => ", and more than 2",
        (true, false) => ", but not more than 2",
        (false, _) => "",
    };
    format!("{numbers}, {fraction} {sign} {threshold}{minimum}")
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

    /// Release whose behaviour it has.
    #[must_use]
    pub const fn release(&self) -> taintlab_rules::release::KubernetesRelease {
        self.release
    }

    /// Flags of the controller.
    #[must_use]
    pub const fn config(&self) -> &NodeLifecycleConfig {
        &self.config
    }

    /// Keys of all zones that ever had a node, in order.
    pub fn zone_keys(&self) -> impl Iterator<Item = &ZoneKey> {
        self.zones.keys()
    }

    /// State of a zone; `None` if it has no nodes.
    #[must_use]
    pub fn zone_state(&self, key: &str) -> Option<ZoneState> {
        self.zones.get(key)?.state
    }

    /// Rate of a zone in nodes per second; the inner `None` means stopped, the outer one an unknown
    /// zone.
    #[must_use]
    pub fn zone_limiter(&self, key: &str) -> Option<Option<f32>> {
        let limiter = self.zones.get(key)?.queue.limiter();
        Some((!limiter.is_never()).then(|| limiter.qps()))
    }

    /// Zones with nodes, by key: their state, and its reason with the rate. Much cheaper than
    /// [`zones`](Self::zones), which looks ahead.
    pub fn zone_states(&self) -> impl Iterator<Item = (&ZoneKey, ZoneState, String)> {
        self.zones.iter().filter_map(|(key, zone)| {
            let state = zone.state?;
            let source = RateSource::of(zone.queue.limiter(), zone.state);
            let arithmetic = arithmetic(zone.counts, self.config.unhealthy_zone_threshold);
            let rate = source.in_words(&self.config, zone.counts.size());
            Some((key, state, format!("{arithmetic}; {rate}")))
        })
    }

    /// All zones with nodes or a queue that is not empty, by key.
    #[must_use]
    pub fn zones(&self, now: Timestamp) -> Vec<ZoneView> {
        let zones = self.zones.iter();
        zones
            .filter(|(_, zone)| zone.state.is_some() || !zone.queue.queue().is_empty())
            .map(|(key, zone)| self.view_zone(now, key, zone))
            .collect()
    }

    fn view_zone(&self, now: Timestamp, key: &ZoneKey, zone: &Zone) -> ZoneView {
        let limiter = zone.queue.limiter();
        let rate_source = RateSource::of(limiter, zone.state);
        let from = self.tick_from(now);
        ZoneView {
            key: key.clone(),
            network_cut: false,
            state: zone.state,
            ready: zone.counts.ready,
            not_ready: zone.counts.not_ready,
            unhealthy_zone_threshold: self.config.unhealthy_zone_threshold,
            arithmetic: arithmetic(zone.counts, self.config.unhealthy_zone_threshold),
            qps: if limiter.is_never() { 0.0 } else { limiter.qps() },
            rate_source,
            rate_text: rate_source.in_words(&self.config, zone.counts.size()),
            capacity: EVICTION_RATE_LIMITER_BURST,
            tokens: limiter.tokens_at(now),
            next_token: limiter.next_accept(from).map(|at| self.tick_from(at)),
            queue: self.view_queue(now, zone),
            evictions: zone.evictions,
        }
    }

    /// Simulates the next tainting passes on a copy of the limiter.
    fn view_queue(&self, now: Timestamp, zone: &Zone) -> Vec<QueuedNode> {
        let mut entries: Vec<_> = zone.queue.queue().iter().collect();
        entries.order_by_key(|entry| (entry.process_at, entry.turn));
        let mut limiter = *zone.queue.limiter();
        let mut from = self.tick_from(now);
        if self.last_tick == Some(from) {
            from = from.saturating_add(NODE_EVICTION_PERIOD);
        }
        let mut stopped = false;
        let queued = entries.into_iter().map(|entry| {
            let mut expected_at = None;
            while !stopped && expected_at.is_none() {
                let Some(at) = limiter.next_accept(from).map(|at| self.tick_from(at)) else {
                    stopped = true;
                    break;
                };
                stopped = !limiter.try_accept(at);
                // A token is taken, and lost, before it is known whether the head is due.
                expected_at = (!stopped && entry.process_at <= at).then_some(at);
                from = at;
            }
            QueuedNode {
                node: entry.value.clone(),
                added_at: entry.added_at,
                process_at: entry.process_at,
                expected_at,
                tied: 1,
                earliest_at: expected_at,
                latest_at: expected_at,
            }
        });
        let mut queue: Vec<QueuedNode> = queued.collect();
        // Passes are a period apart: entries added within less time were added by one pass.
        let period = self.config.node_monitor_period;
        for tied in queue.chunk_by_mut(|one, other| other.added_at - one.added_at < period) {
            let ends = [tied.first(), tied.last()].map(|node| node.and_then(|it| it.expected_at));
            let count = tied.len();
            for node in tied {
                node.tied = count;
                [node.earliest_at, node.latest_at] = ends;
            }
        }
        queue
    }

    /// Health of a node, even of a deleted one whose health is kept. `None` if no health pass has
    /// seen the node.
    #[must_use]
    pub fn node_health(&self, now: Timestamp, node: &str) -> Option<NodeHealthView> {
        let record = self.records.get(node)?;
        let mut seen = record.clone();
        seen.settle(
            self.start,
            self.config.node_monitor_period,
            now.max(self.rules().passes_over()),
        );
        let health = seen.health?;
        let status = record.listed.as_ref().and_then(|listed| listed.status());
        let (grace_flag, grace) = match status {
            Some(_) => ("node-monitor-grace-period", self.config.node_monitor_grace_period),
            None => ("node-startup-grace-period", self.config.node_startup_grace_period),
        };
        let overdue = record.settled_health(self.start, self.config.node_monitor_period);
        let turns_unknown_at = overdue
            .filter(|_| record.listed.is_some() && record.heartbeats.is_none())
            .filter(|_| status != Some(&ConditionStatus::Unknown))
            .map(|health| {
                self.rules().first_pass_after(health.probe_timestamp.saturating_add(grace))
            });
        let eviction = record.eviction;
        Some(NodeHealthView { health, grace_flag, grace, turns_unknown_at, eviction })
    }

    /// Nodes that a health pass has registered, by name, with their UIDs. Mirrors `knownNodeSet`.
    pub fn known_nodes(&self) -> impl Iterator<Item = (&NodeName, &String)> {
        let records = self.records.iter();
        records.filter_map(|(name, record)| Some((name, record.registered.as_ref()?)))
    }

    /// Nodes some of whose pods could not be marked as not ready; the next health pass tries again.
    /// Mirrors `nodesToRetry`.
    #[must_use]
    pub fn nodes_to_retry(&self) -> OrderedSet<&NodeName> {
        let records = self.records.iter().filter(|(_, record)| record.retry_pods);
        records.map(|(name, _)| name).collect()
    }

    /// Next health pass, whether or not it has work to do.
    #[must_use]
    pub fn next_health_pass(&self, now: Timestamp) -> Timestamp {
        self.first_pass(now)
    }

    /// Wall-clock time at zero.
    #[must_use]
    pub const fn start(&self) -> Time {
        self.start
    }
}
