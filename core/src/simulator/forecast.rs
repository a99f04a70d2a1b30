//! What is to come if nothing changes, and why a pod was or will be evicted when it is.

use core::time::Duration;

use super::Simulator;
use crate::api::{PodKey, Taint, TaintEffect};
use crate::eviction_timeline::time_budget::{Eviction, EvictionRange, Moment, TimeBudget};
use crate::time::Timestamp;

/// How far [`Simulator::look_ahead`] looks: longer than the limiter of a large zone lets a node
/// wait, and than most tolerations.
pub(super) const AHEAD: Duration = Duration::from_secs(24 * 60 * 60);
/// How many deadlines that may be at most, so that a cluster that never comes to rest does not hold
/// up who asks.
pub(super) const DEADLINES: usize = 10_000;

/// What will happen if nobody does anything: a copy of the simulation that has run ahead.
#[derive(Clone, Debug)]
pub struct Forecast {
    simulator: Simulator,
    from: Timestamp,
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
        Self { simulator, from: now.api.now }
    }

    /// Why a pod goes when it goes; `None` if it does not go before the forecast ends.
    #[must_use]
    pub fn time_budget(&self, pod: &PodKey) -> Option<TimeBudget> {
        let eviction = self.simulator.nodes.records.get(pod)?;
        let over = eviction.deleted_at? <= self.from;
        let budget = self.simulator.time_budget(pod)?;
        let range = if over { None } else { self.range(eviction) };
        Some(TimeBudget { over, range, ..budget })
    }

    /// Between which moments an eviction to come lies.
    fn range(&self, eviction: &Eviction) -> Option<EvictionRange> {
        let Simulator { api, nodes, kubelets, .. } = &self.simulator;
        let kubelet = kubelets.get(eviction.node.as_str())?;
        let period = nodes.lifecycle.as_ref()?.config().node_monitor_period;
        let doubt = |sent: Moment| kubelet.age_in_doubt(|at| Moment::from(at).since(sent));
        eviction.range(self.from, api.config.start, (&nodes.flags, period), doubt)
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

/// Why a pod was deleted when it was, or will be: `None` unless it was, or its time runs.
pub(super) fn time_budget(simulator: &Simulator, pod: &PodKey) -> Option<TimeBudget> {
    let eviction = simulator.nodes.records.get(pod)?;
    let ends = simulator.kubelets.grace_period_ends(&simulator.api.cluster, pod);
    let ends = ends.filter(|_| eviction.gone_at.is_none());
    let waits = eviction.gone_at.is_none() && simulator.awaits_kubelet(pod);
    let start = simulator.api.config.start;
    Some(eviction.budget(pod, start, &simulator.nodes.flags, ends, waits))
}

/// The record of a pod, or what the forecast tells of it, which is made when it is needed first.
pub(super) fn record_or_look_ahead(
    simulator: &Simulator,
    pod: &PodKey,
    forecast: &mut Option<Forecast>,
) -> Option<TimeBudget> {
    let now = simulator.api.now;
    if let Some(known) = time_budget(simulator, pod) {
        let over = known.evicted_at <= Moment::from(now);
        return Some(TimeBudget { over, ..known });
    }
    // A node that is not tainted, and whose kubelet is connected and ready, is not tainted by
    // itself: no need to look.
    let cluster = &simulator.api.cluster;
    let name = &cluster.get_pod(pod)?.spec.node_name;
    let evicts = |taint: &Taint| taint.effect == TaintEffect::NoExecute;
    let is_tainted = cluster.get_node(name)?.spec.taints.iter().any(evicts);
    if !is_tainted && simulator.node_view(name).is_none_or(|node| node.stays_ready()) {
        return None;
    }
    forecast.get_or_insert_with(|| simulator.look_ahead()).time_budget(pod)
}
