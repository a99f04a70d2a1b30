//! What is to come if nothing changes, and why a pod was or will be evicted when it is.

use core::time::Duration;

use super::Simulator;
use crate::api::PodKey;
use crate::eviction_timeline::time_budget::{Moment, TimeBudget};
use crate::time::Timestamp;

/// How far ahead it is asked whether a pod of a silent node will go: longer than the limiter of a
/// large zone lets a node wait, and than most tolerations.
const AHEAD: Duration = Duration::from_secs(7_200);
/// How many deadlines that may be at most, so that a large cluster does not hold up a page.
const STEPS: usize = 400;

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
        let deleted_at = self.simulator.nodes.records.get(pod)?.deleted_at?;
        let budget = self.simulator.time_budget(pod)?;
        Some(TimeBudget { over: deleted_at <= self.from, ..budget })
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
    let ends = simulator.grace_period_ends(pod).filter(|_| eviction.gone_at.is_none());
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
    // Only where something is about to come is it worth looking for it.
    let node = &simulator.api.cluster.get_pod(pod)?.spec.node_name;
    simulator.node_view(node)?.silent?;
    let look_ahead = || Forecast::of(simulator, now.saturating_add(AHEAD), STEPS);
    forecast.get_or_insert_with(look_ahead).time_budget(pod)
}
