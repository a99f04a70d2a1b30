//! What can be looked at from outside.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use serde::Serialize;

use super::config::NodeLifecycleConfig;
use super::controller::{NODE_EVICTION_PERIOD, NodeLifecycleController};
use super::health::NodeHealth;
use super::record::{EvictionStatus, Zone, ZoneCounts};
use crate::api::{ConditionStatus, NodeName};
use crate::order::{Order, Ordered};
use crate::protocol::zone::{ZoneKey, ZoneState, as_flag};
use crate::queue::flowcontrol::RateLimiter;
use crate::queue::rate_limited_timed_queue::EVICTION_RATE_LIMITER_BURST;
use crate::time::{Time, Timestamp};

/// A zone as the controller sees it, with the arithmetic behind.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct ZoneView {
    /// The key of the zone, written as its name,
    /// `region/zone`.
    pub key: ZoneKey,
    /// Whether the zone is cut off the API server. Only a simulation knows.
    pub network_cut: bool,
    /// Its state; absent if no node is in it any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<ZoneState>,
    /// How many of its nodes were ready at the last health pass.
    pub ready: usize,
    /// How many were not. Excluded nodes are in neither number.
    pub not_ready: usize,
    /// `--unhealthy-zone-threshold`, with which `not_ready / (ready + not_ready)` is compared.
    #[serde(serialize_with = "as_flag")]
    pub unhealthy_zone_threshold: f32,
    /// The arithmetic that leads to the state: `not ready 3 of 5, 0.6 >= 0.55, and more than 2`.
    pub arithmetic: String,
    /// Nodes per second; zero if the zone is stopped.
    #[serde(serialize_with = "as_flag")]
    pub qps: f32,
    /// Where the rate comes from.
    pub rate_source: RateSource,
    /// The same in words, with the flag that gives it.
    pub rate_text: String,
    /// Tokens in the bucket, from 0 to `capacity`.
    pub tokens: f64,
    /// How many tokens the bucket holds.
    pub capacity: i32,
    /// The next tainting pass that finds a token; absent if none ever will.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_token: Option<Timestamp>,
    /// What waits, the first one first.
    pub queue: Vec<QueuedNode>,
    /// How many nodes were tainted (or drained) since the controller began.
    pub evictions: u64,
}

/// Why a zone has the rate it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub enum RateSource {
    /// `--node-eviction-rate`: the zone is healthy or new, or no node of it is ready while other
    /// zones live.
    NodeEvictionRate,
    /// `--secondary-node-eviction-rate`: a large zone that is partially disrupted.
    SecondaryNodeEvictionRate,
    /// Stopped: a partially disrupted zone that is not large (`--large-cluster-size-threshold`).
    SmallZoneStopped,
    /// Stopped: no node of the cluster is ready.
    MasterDisruption,
}

impl RateSource {
    pub(super) fn of(limiter: &RateLimiter, state: Option<ZoneState>) -> Self {
        match (limiter.is_never(), state) {
            (true, Some(ZoneState::FullDisruption)) => Self::MasterDisruption,
            (true, _) => Self::SmallZoneStopped,
            (false, Some(ZoneState::PartialDisruption)) => Self::SecondaryNodeEvictionRate,
            (false, _) => Self::NodeEvictionRate,
        }
    }

    /// The flag that gives the rate, or decides that there is none.
    #[must_use]
    pub const fn flag(self) -> Option<&'static str> {
        match self {
            Self::NodeEvictionRate => Some("node-eviction-rate"),
            Self::SecondaryNodeEvictionRate => Some("secondary-node-eviction-rate"),
            Self::SmallZoneStopped => Some("large-cluster-size-threshold"),
            Self::MasterDisruption => None,
        }
    }
}

/// A node that waits in the queue of its zone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct QueuedNode {
    /// Which node.
    pub node: NodeName,
    /// When it was added; a health pass with other work adds it anew (since 1.21).
    pub added_at: Timestamp,
    /// The earliest moment of its turn.
    pub process_at: Timestamp,
    /// When its turn is, if nothing changes; absent if never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_at: Option<Timestamp>,
    /// How many nodes one health pass queued together, this one included. Upstream their order is
    /// that of a Go map, and any other is as likely as this one.
    pub tied: usize,
    /// When its turn is if it is the first of them; absent if never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earliest_at: Option<Timestamp>,
    /// When its turn is if it is the last of them; absent if never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest_at: Option<Timestamp>,
}

impl QueuedNode {
    /// That the order is one of several, and between which moments the turn lies; `None` if the
    /// order is certain.
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

/// How a node is doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct NodeHealthView {
    /// What the controller remembers.
    #[serde(flatten)]
    pub health: NodeHealth,
    /// The flag that says how long the node may send no heartbeat.
    pub grace_flag: &'static str,
    /// How long; serialised in milliseconds.
    #[serde(rename = "graceMilliseconds", serialize_with = "crate::time::milliseconds")]
    #[cfg_attr(feature = "typescript-all", tsify(type = "number"))]
    pub grace: Duration,
    /// The health pass that turns the node's Ready condition Unknown if no heartbeat comes; absent
    /// if it is Unknown already, or its kubelet sends heartbeats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns_unknown_at: Option<Timestamp>,
    /// Where it is in the legacy path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eviction: Option<EvictionStatus>,
}

/// How the state of a zone comes from the numbers of its nodes. Mirrors `ComputeZoneState`.
fn arithmetic(counts: ZoneCounts, threshold: f32) -> String {
    let (not_ready, total) = (counts.not_ready, counts.size());
    let numbers = format!("not ready {not_ready} of {total}");
    if not_ready == 0 {
        return numbers;
    }
    if counts.ready == 0 {
        return format!("{numbers}: none is ready");
    }
    // In thousandths, so that 0.545 does not look like 0.55.
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

fn rate_text(source: RateSource, config: &NodeLifecycleConfig, size: usize) -> String {
    let rates = &config.rates;
    let threshold = rates.large_cluster_size_threshold;
    match source {
        RateSource::NodeEvictionRate => {
            format!("--node-eviction-rate={}", rates.node_eviction_rate)
        }
        RateSource::SecondaryNodeEvictionRate => format!(
            "--secondary-node-eviction-rate={}: partially disrupted, and {size} nodes > \
             --large-cluster-size-threshold={threshold}",
            rates.secondary_node_eviction_rate
        ),
        RateSource::SmallZoneStopped => format!(
            "0: partially disrupted, and {size} nodes <= --large-cluster-size-threshold={threshold}"
        ),
        RateSource::MasterDisruption => "0: no node of the cluster is ready".into(),
    }
}

impl NodeLifecycleController {
    /// The release it behaves as.
    #[must_use]
    pub const fn release(&self) -> crate::release::KubernetesRelease {
        self.release
    }

    /// Its flags.
    #[must_use]
    pub const fn config(&self) -> &NodeLifecycleConfig {
        &self.config
    }

    /// The keys of all zones that ever had a node, in order.
    pub fn zone_keys(&self) -> impl Iterator<Item = &ZoneKey> {
        self.zones.keys()
    }

    /// The state of a zone; `None` if no node is in it.
    #[must_use]
    pub fn zone_state(&self, key: &str) -> Option<ZoneState> {
        self.zones.get(key)?.state
    }

    /// The rate of a zone in nodes per second, `None` inside if it is stopped; `None` for an
    /// unknown zone.
    #[must_use]
    pub fn zone_limiter(&self, key: &str) -> Option<Option<f32>> {
        let limiter = self.zones.get(key)?.queue.limiter();
        Some((!limiter.is_never()).then(|| limiter.qps()))
    }

    /// The zones that have a node, by key: of each its state, and why it has it, with its rate. It
    /// costs much less than [`zones`](Self::zones), which looks ahead.
    pub fn zone_states(&self) -> impl Iterator<Item = (&ZoneKey, ZoneState, String)> {
        self.zones.iter().filter_map(|(key, zone)| {
            let state = zone.state?;
            let source = RateSource::of(zone.queue.limiter(), zone.state);
            let arithmetic = arithmetic(zone.counts, self.config.unhealthy_zone_threshold);
            let rate = rate_text(source, &self.config, zone.counts.size());
            Some((key, state, format!("{arithmetic}; {rate}")))
        })
    }

    /// All zones that have a node or a queue that is not empty, by key.
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
            rate_text: rate_text(rate_source, &self.config, zone.counts.size()),
            capacity: EVICTION_RATE_LIMITER_BURST,
            tokens: limiter.tokens_at(now),
            next_token: limiter.next_accept(from).map(|at| self.tick_from(at)),
            queue: self.view_queue(now, zone),
            evictions: zone.evictions,
        }
    }

    /// Plays the tainting passes to come on a copy of the queue.
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
                // A token is taken, and lost, before the head is known to be due.
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
        // Passes are a period apart: what was added within less was added by one of them.
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

    /// How a node is doing; also one that is gone, whose health is remembered. `None` if no health
    /// pass has seen such a node.
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

    /// The nodes that a health pass has registered, by name, with their UIDs. Mirrors
    /// `knownNodeSet`.
    pub fn known_nodes(&self) -> impl Iterator<Item = (&NodeName, &String)> {
        let records = self.records.iter();
        records.filter_map(|(name, record)| Some((name, record.registered.as_ref()?)))
    }

    /// The nodes whose pods could not all be marked as not ready, which the next health pass tries
    /// again. Mirrors `nodesToRetry`.
    #[must_use]
    pub fn nodes_to_retry(&self) -> BTreeSet<&NodeName> {
        let records = self.records.iter().filter(|(_, record)| record.retry_pods);
        records.map(|(name, _)| name).ordered_set()
    }

    /// The next health pass, whether or not it has something to do.
    #[must_use]
    pub fn next_health_pass(&self, now: Timestamp) -> Timestamp {
        self.first_pass(now)
    }

    /// The wall-clock time at zero.
    #[must_use]
    pub const fn start(&self) -> Time {
        self.start
    }
}
