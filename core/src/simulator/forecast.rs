//! What is to come if nothing changes, and why a pod was or will be evicted when it is.

use core::time::Duration;

use super::Simulator;
use crate::api::PodKey;
use crate::eviction_timeline::time_budget::{Moment, TimeBudget};
use crate::time::Timestamp;

/// How far [`Simulator::look_ahead`] looks: longer than the limiter of a large zone lets a node
/// wait, and than most tolerations.
const AHEAD: Duration = Duration::from_secs(24 * 60 * 60);
/// How many deadlines that may be at most, so that a cluster that never comes to rest does not hold
/// up who asks.
const DEADLINES: usize = 10_000;

/// What will happen if nobody does anything: a copy of the simulation that has run ahead.
#[derive(Clone, Debug)]
pub struct Forecast {
    simulator: Simulator,
    from: Timestamp,
}

impl Forecast {
    /// Why a pod goes when it goes; `None` if it does not go before the forecast ends.
    #[must_use]
    pub fn time_budget(&self, pod: &PodKey) -> Option<TimeBudget> {
        let deleted_at = self.simulator.eviction_records.get(pod)?.deleted_at?;
        let budget = self.simulator.time_budget(pod)?;
        Some(TimeBudget { over: deleted_at <= self.from, ..budget })
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

impl Simulator {
    /// Why a pod was deleted when it was, or will be: `None` unless it was, or its time runs.
    /// [`forecast`](Self::forecast) tells of pods whose nodes are not tainted yet.
    #[must_use]
    pub fn time_budget(&self, pod: &PodKey) -> Option<TimeBudget> {
        let eviction = self.eviction_records.get(pod)?;
        let ends = self.grace_period_ends(pod).filter(|_| eviction.gone_at.is_none());
        let waits = eviction.gone_at.is_none() && self.awaits_kubelet(pod);
        Some(eviction.budget(pod, self.api.config.start, &self.flags, ends, waits))
    }

    /// The record of a pod that was deleted, or what is to come of one that is on a node that is
    /// tainted or silent, as far as [`look_ahead`](Self::look_ahead) tells. The look ahead is kept in
    /// `ahead`, to be given again until something is done to this simulation.
    #[must_use]
    pub fn record_or_forecast(
        &self,
        pod: &PodKey,
        ahead: &mut Option<Forecast>,
    ) -> Option<TimeBudget> {
        if let Some(known) = self.time_budget(pod) {
            let over = known.evicted_at <= Moment::from(self.api.now);
            return Some(TimeBudget { over, ..known });
        }
        // Only where something is about to come is it worth looking for it.
        let node = &self.api.cluster.get_pod(pod)?.spec.node_name;
        self.node_view(node)?.silent?;
        ahead.get_or_insert_with(|| self.look_ahead()).time_budget(pod)
    }

    /// The same for each pod that is there, by key, with one look ahead for all of them.
    pub fn records_and_forecasts(&self) -> impl Iterator<Item = (&PodKey, TimeBudget)> {
        let mut ahead = None;
        let pods = self.api.cluster.pods();
        pods.filter_map(move |(pod, _)| Some((pod, self.record_or_forecast(pod, &mut ahead)?)))
    }

    /// The forecast of a day, at most 10,000 deadlines far: what the page and the packages show.
    #[must_use]
    pub fn look_ahead(&self) -> Forecast {
        self.forecast(self.api.now.saturating_add(AHEAD), DEADLINES)
    }

    /// The pods that a controller has deleted or whose time runs, by key, and when each was or will
    /// be deleted.
    pub fn evictions(&self) -> impl Iterator<Item = (&PodKey, Timestamp)> {
        let evictions = self.eviction_records.iter();
        evictions.map(|(pod, eviction)| (pod, eviction.deleted_at.unwrap_or(eviction.fire_at)))
    }

    /// Runs a copy ahead to `until`, at most `steps` deadlines far, and tells what is to come. It
    /// holds until something is done to this simulation.
    ///
    /// What takes time is to run what happens, so ask once after a change rather than for each pod:
    /// the 6,000 pods of a lost zone of 200 nodes take less than a tenth of a second natively.
    #[must_use]
    pub fn forecast(&self, until: Timestamp, steps: usize) -> Forecast {
        let mut simulator = self.clone();
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
        Forecast { simulator, from: self.api.now }
    }
}
