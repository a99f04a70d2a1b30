//! What is to come if nothing changes, and why a pod was or will be evicted when it is.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use taintlab_rules::api::{NodeName, PodKey, Taint, TaintEffect};
use taintlab_rules::order::OrderedMap;
use taintlab_rules::protocol::zone::{ZoneKey, ZoneState};
use taintlab_rules::time::{Timestamp, format_duration};

use super::{Simulator, device_eviction};
use crate::controllers::node_lifecycle::{Dequeued, NodeLifecycleConfig, NodeTaintHistory};
use crate::eviction_timeline::taint_order::ZoneQueue;
use crate::eviction_timeline::time_budget::{
    Eviction, EvictionRange, Moment, OpenPhases, TimeBudget, TokenRange,
};

/// How far [`Simulator::look_ahead`] looks: longer than the limiter of a large zone lets a node
/// wait, and than most tolerations.
pub(super) const AHEAD: Duration = Duration::from_secs(24 * 60 * 60);
/// How many deadlines that may be at most, so that a cluster that never comes to rest does not hold
/// up who asks: so many, and some for each pod, whose marks and deletions wait for a client.
const DEADLINES: usize = 10_000;
const DEADLINES_OF_POD: usize = 6;
const MOST_DEADLINES: usize = 40_000;

/// How many deadlines far [`Simulator::look_ahead`] looks.
pub(super) fn deadlines(simulator: &Simulator) -> usize {
    let pods = simulator.api.cluster.pod_count();
    MOST_DEADLINES.min(DEADLINES.saturating_add(pods.saturating_mul(DEADLINES_OF_POD)))
}

/// What will happen if nobody does anything: a copy of the simulation that has run ahead.
#[derive(Clone, Debug)]
pub struct Forecast {
    simulator: Simulator,
    from: Timestamp,
    /// When the zones have tokens for the nodes that wait.
    tokens: OrderedMap<NodeName, TokenRange>,
    /// When pods are due at once that wait for the controller's client, and when the last goes.
    throttled: OrderedMap<Timestamp, Timestamp>,
    /// Nodes that wait in a queue with others of the same health pass: when their turn is if they
    /// are the first of them, and the last.
    turns: OrderedMap<NodeName, (Moment, Moment)>,
}

impl Forecast {
    /// Runs a copy ahead to `until`, at most `steps` deadlines far.
    pub(super) fn of(now: &Simulator, until: Timestamp, steps: usize) -> Self {
        let mut simulator = now.clone();
        simulator.api.events.clear();
        for _ in 0..steps {
            let Some(next) = simulator.poll_timeout().filter(|next| next.at <= until) else {
                break;
            };
            // The deadline is never in the past.
            if simulator.handle_timeout(next.at).is_err() {
                break;
            }
            simulator.api.events.clear();
        }
        let throttled = simulator.nodes.records.throttled();
        let (from, tokens) = (now.api.now, OrderedMap::new());
        let mut forecast = Self { simulator, from, tokens, throttled, turns: turns(now) };
        forecast.tokens = forecast.all_tokens();
        forecast
    }

    /// Why a pod goes when it goes; `None` if it does not go before the forecast ends. Of pods that
    /// have one name after one another it is about the one that is there when the forecast begins,
    /// or else about the first one that goes.
    #[must_use]
    pub fn time_budget(&self, pod: &PodKey) -> Option<TimeBudget> {
        self.time_budget_of(pod, None)
    }

    /// The same; `uid` is that of the pod that is there when the forecast begins.
    fn time_budget_of(&self, pod: &PodKey, uid: Option<&str>) -> Option<TimeBudget> {
        let records = &self.simulator.nodes.records;
        let eviction = match uid {
            Some(_) => records.of_pod_at(pod, uid, self.from)?,
            None => records.of_pod_at(pod, None, self.from).or_else(|| records.last(pod))?,
        };
        let over = eviction.deleted_at? <= self.from;
        let budget = budget_of(&self.simulator, pod, eviction);
        let range = if over { None } else { self.range(eviction) };
        Some(TimeBudget { over, range, ..budget })
    }

    /// Between which moments an eviction to come lies.
    fn range(&self, eviction: &Eviction) -> Option<EvictionRange> {
        let history = eviction.taint_history()?;
        let token = self.tokens.get(eviction.node.as_str());
        let last = self.throttled.get(&eviction.fire_at).copied();
        let flags = &self.simulator.nodes.flags;
        let Some(open) = self.open_phases(&eviction.node, history) else {
            let (first, last) = self.turn(&eviction.node, history, token)?;
            return eviction.range_by_lot(first, last);
        };
        Some(eviction.range(&open, token, last, flags))
    }

    /// Between which moments a node has its turn that a health pass has found: the order of those
    /// that it found together is free.
    fn turn(
        &self,
        node: &NodeName,
        history: &NodeTaintHistory,
        token: Option<&TokenRange>,
    ) -> Option<(Moment, Moment)> {
        let missed = history.missed_heartbeats.as_ref();
        let is_found = missed.is_some_and(|missed| missed.unknown_at <= self.from);
        let is_queued = history.queued_at.is_some_and(|queued_at| queued_at <= self.from);
        if is_queued {
            return self.turns.get(node).copied();
        }
        let token = token.filter(|token| is_found && token.queued_at == history.queued_at)?;
        Some((token.first, token.last))
    }

    /// What nobody knows of how a node is found.
    fn open_phases(&self, node: &NodeName, history: &NodeTaintHistory) -> Option<OpenPhases> {
        let Simulator { api, nodes, kubelets, .. } = &self.simulator;
        let kubelet = kubelets.get(node.as_str())?;
        let period = nodes.lifecycle.as_ref()?.config().node_monitor_period;
        let doubt = |sent: Moment| kubelet.age_in_doubt(|at| Moment::from(at).since(sent));
        OpenPhases::new(history, self.from, api.config.start, period, doubt)
    }

    /// When the zones have tokens for the nodes that are tainted from now on.
    fn all_tokens(&self) -> OrderedMap<NodeName, TokenRange> {
        let Some(lifecycle) = &self.simulator.nodes.lifecycle else { return OrderedMap::new() };
        let mut zones: OrderedMap<&ZoneKey, Vec<Queued<'_>>> = OrderedMap::new();
        for (node, zone, history) in lifecycle.taint_histories() {
            let Some(dequeued) = &history.dequeued else { continue };
            // Those before have left their tokens behind.
            if dequeued.at.saturating_add(token_every(dequeued.qps)) < self.from {
                continue;
            }
            let simulated = Moment::from(history.queued_at.unwrap_or(dequeued.at));
            let queued = match self.open_phases(node, history) {
                Some(open) => open.of(simulated),
                None if dequeued.at <= self.from => (dequeued.at.into(), dequeued.at.into()),
                None => (simulated, simulated),
            };
            zones.entry(zone).or_default().push((node, dequeued, history, queued));
        }
        let lost = zones.values().flatten().count();
        let writing = self.writing_time(zones.values().flatten().map(|(node, ..)| *node));
        let doubt = if lost < 2 { Duration::ZERO } else { writing };
        let mut tokens = OrderedMap::new();
        for (zone, mut nodes) in zones {
            for (_, dequeued, _, (first, last)) in &mut nodes {
                if dequeued.at > self.from {
                    (*first, *last) = (first.minus(doubt), last.plus(doubt));
                }
            }
            let state = lifecycle.zone_state(zone.as_str());
            tokens.extend(self.tokens_of_zone(lifecycle.config(), state, writing, &nodes));
        }
        tokens
    }

    /// How much longer a health pass is for its writes to nodes that are lost at once and to their
    /// pods, which take tokens of the controller's client, too. A node is found that much later or
    /// earlier for the writes to others.
    fn writing_time<'a>(&self, nodes: impl Iterator<Item = &'a NodeName>) -> Duration {
        let (config, flags) = (&self.simulator.api.config, &self.simulator.nodes.flags);
        let cluster = &self.simulator.api.cluster;
        let pods: Vec<usize> = nodes.map(|node| cluster.pods_of(node.as_str()).count()).collect();
        let (nodes, pods) = (pods.len(), pods.into_iter().sum::<usize>());
        let per_write = config.health_pass.per_write.0;
        let workers = config.release.node_health_workers().max(1);
        // They are found by one pass, or each by one of its own, of which few fit between the
        // first and the last: heartbeats are that much apart.
        let passes = nodes.min(PASSES_BETWEEN);
        let writes = (nodes + pods).div_ceil(workers) + passes.saturating_sub(1);
        let writes = u32::try_from(writes).unwrap_or(u32::MAX);
        let writing = per_write.saturating_mul(writes);
        if per_write.is_zero() {
            return writing;
        }
        writing.max(flags.client_time(nodes, pods))
    }

    fn tokens_of_zone<'a>(
        &self,
        config: &NodeLifecycleConfig,
        state: Option<ZoneState>,
        writing: Duration,
        nodes: &'a [Queued<'a>],
    ) -> impl Iterator<Item = (NodeName, TokenRange)> + use<'a> {
        let every = || nodes.iter().map(|(_, dequeued, ..)| token_every(dequeued.qps));
        let (fast, slow) = (every().min().unwrap_or_default(), every().max().unwrap_or_default());
        // The one that is first waits only for a limiter that is new.
        let first = nodes
            .iter()
            .min_by_key(|(_, dequeued, history, _)| history.lost_token_at.unwrap_or(dequeued.at));
        let first = first.filter(|(_, dequeued, history, _)| {
            history.lost_token_at.is_none() && Some(dequeued.token_at) > history.queued_at
        });
        let first_token = first.map(|(_, dequeued, ..)| {
            Moment::from(dequeued.token_at).plus(config.node_monitor_period)
        });
        let queue = ZoneQueue {
            requeue: self.simulator.api.config.release.requeue(),
            tokens_every: (fast, slow),
            first_token,
            is_disrupted: state != Some(ZoneState::Normal) && nodes.len() > 2,
            period: config.node_monitor_period,
        };
        let queued: Vec<_> = nodes.iter().map(|(.., queued)| *queued).collect();
        let tokens = queue.tokens(&queued);
        let (lost, why) = self.lost_tokens(config, slow, writing, nodes);
        nodes.iter().zip(tokens).map(move |((node, dequeued, history, queued), (first, last))| {
            let rate = dequeued.rate_source.flag().map(|name| format!("--{name}={}", dequeued.qps));
            let text = match rate {
                Some(rate) if (first, last) != *queued => format!(
                    "; others of its zone can come before it, one every {} ({rate})",
                    format_duration(token_every(dequeued.qps)),
                ),
                _ => String::new(),
            } + why;
            let last = last.plus(lost);
            ((*node).clone(), TokenRange { first, last, queued_at: history.queued_at, text })
        })
    }

    /// How much later nodes are tainted if tokens are lost to an informer that lags, and the end of
    /// the sentence that says so. The next token comes after `slow`, and the next pass, which waits
    /// for the writes of this one, queues the node again.
    ///
    /// A token is lost only to a pass that ends its write just before. If the node is queued again
    /// before the next token, it takes that: another pass would have to end a write at that very
    /// moment, too, but each write makes it later. Otherwise each pass may lose one.
    fn lost_tokens(
        &self,
        config: &NodeLifecycleConfig,
        slow: Duration,
        writing: Duration,
        nodes: &[Queued<'_>],
    ) -> (Duration, &'static str) {
        let (lag, period) = (config.informer_lag, config.node_monitor_period);
        let is_open = |(.., history, _): &&Queued<'_>| {
            let missed = history.missed_heartbeats.as_ref();
            missed.is_some_and(|missed| missed.unknown_at > self.from)
        };
        let open = nodes.iter().filter(is_open).count();
        let by_written = self.simulator.api.config.release.taints_by_written_condition();
        if lag.is_zero() || !by_written || open == 0 {
            return (Duration::ZERO, "");
        }
        let requeued = period.saturating_add(writing);
        let is_one = slow >= requeued && config.write_time > lag;
        let times = if is_one { 1 } else { open.min(PASSES_BETWEEN) };
        let others = slow.saturating_mul(u32::try_from(times - 1).unwrap_or(u32::MAX));
        let why = "; a tainting pass that comes before the controller has heard of its own write \
                   loses a token";
        (slow.max(requeued).saturating_add(others).saturating_add(lag), why)
    }

    /// How long ago the forecast was made, seen from `now`; zero if that is before.
    #[must_use]
    pub const fn age(&self, now: Timestamp) -> Duration {
        now.since_zero().saturating_sub(self.from.since_zero())
    }

    /// The cluster at the end of the forecast.
    #[must_use]
    pub const fn simulator(&self) -> &Simulator {
        &self.simulator
    }
}

/// Between which moments nodes have their turns that wait in queues, in whatever order.
fn turns(simulator: &Simulator) -> OrderedMap<NodeName, (Moment, Moment)> {
    let lifecycle = simulator.nodes.lifecycle.as_ref();
    let zones = lifecycle.map(|lifecycle| lifecycle.zones(simulator.api.now));
    let queued = zones.into_iter().flatten().flat_map(|zone| zone.queue);
    let turns = queued.filter_map(|queued| {
        let (first, last) = queued.earliest_at.zip(queued.latest_at)?;
        (queued.tied > 1).then(|| (queued.node, (first.into(), last.into())))
    });
    turns.collect()
}

/// A node that is tainted from now on: how it leaves its queue and what came before that in the
/// simulation, and between which moments it is queued.
type Queued<'a> = (&'a NodeName, &'a Dequeued, &'a NodeTaintHistory, (Moment, Moment));

/// Health passes between the first and the last that find nodes lost at once: their heartbeats are
/// up to 10 s apart, and passes 5 s.
const PASSES_BETWEEN: usize = 3;

/// The time between two tokens at that rate, to the millisecond.
pub fn token_every(qps: f32) -> Duration {
    let seconds = 1.0 / f64::from(qps);
    let every = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    Duration::from_millis(u64::try_from(every.as_micros().div_ceil(1000)).unwrap_or(u64::MAX))
}

/// Why a pod was deleted when it was, or will be: `None` unless it was, or its time runs.
pub(super) fn time_budget(simulator: &Simulator, pod: &PodKey) -> Option<TimeBudget> {
    let known = simulator.nodes.records.get(pod);
    let over = |known: &Eviction| known.deleted_at.is_some() && known.gone_at.is_none();
    if !known.is_some_and(over)
        && let Some(planned) = device_eviction(simulator, pod)
        && let Some(object) = simulator.api.cluster.get_pod(pod)
        && known.is_none_or(|known| known.gone_at.is_some() || planned.fire_at() < known.fire_at)
    {
        let eviction = Eviction::by_device(object, planned.clone());
        return Some(budget_of(simulator, pod, &eviction));
    }
    Some(budget_of(simulator, pod, known?))
}

/// The same of the last pod of that name of which there is something to tell: of a StatefulSet's
/// pod that was evicted and made again, why the one before it went.
#[must_use]
pub fn last_time_budget(simulator: &Simulator, pod: &PodKey) -> Option<TimeBudget> {
    Some(budget_of(simulator, pod, simulator.nodes.records.last(pod)?))
}

fn budget_of(simulator: &Simulator, pod: &PodKey, eviction: &Eviction) -> TimeBudget {
    let ends = simulator.kubelets.grace_period_ends(&simulator.api.cluster, pod);
    let ends = ends.filter(|_| eviction.gone_at.is_none());
    let waits = eviction.gone_at.is_none() && simulator.awaits_kubelet(pod);
    let start = simulator.api.config.start;
    eviction.budget(pod, start, &simulator.nodes.flags, ends, waits)
}

/// The record of a pod, or what the forecast tells of it, which is made when it is needed first.
pub(super) fn record_or_look_ahead(
    simulator: &Simulator,
    pod: &PodKey,
    forecast: &mut Option<Forecast>,
) -> Option<TimeBudget> {
    let now = simulator.api.now;
    let mut planned = None;
    if let Some(known) = time_budget(simulator, pod) {
        let over = known.evicted_at <= Moment::from(now);
        let known = TimeBudget { over, ..known };
        if over || known.device.is_none() {
            return Some(known);
        }
        planned = Some(known);
    }
    // A node that is not tainted, and whose kubelet is connected and ready, is not tainted by
    // itself: no need to look.
    let cluster = &simulator.api.cluster;
    let object = cluster.get_pod(pod)?;
    let name = &object.spec.node_name;
    let evicts = |taint: &Taint| taint.effect == TaintEffect::NoExecute;
    let is_tainted = cluster.get_node(name)?.spec.taints.iter().any(evicts);
    if !is_tainted && simulator.node_view(name).is_none_or(|node| node.stays_ready()) {
        return planned;
    }
    let forecast = forecast.get_or_insert_with(|| simulator.look_ahead());
    // Whatever the node does to the pod may come before its devices do.
    forecast.time_budget_of(pod, Some(&object.metadata.uid)).or(planned)
}
