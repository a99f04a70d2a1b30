//! Why a node evicts or does not: distances to thresholds, grace periods and candidates, as plain
//! values.

use alloc::vec::Vec;

use serde::Serialize;
use taintlab_rules::time::Timestamp;

use super::manager::EvictionManager;
use super::observation::Observations;
use super::pod::KubeletPod;
use super::rank::{Ranking, rank};
use super::signal::{Pressure, Signal};
use super::stats::Summary;
use super::threshold::{Distance, Threshold, ThresholdState};

/// A condition of the node and how long it lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConditionView {
    /// Which condition.
    pub pressure: Pressure,
    /// Whether a threshold is met for it, so that every pass renews it.
    pub observed: bool,
    /// When it ends if nothing is observed any more; the first pass from then on clears it.
    pub until: Timestamp,
}

impl EvictionManager {
    /// How far each signal is from each of its thresholds, by what is measured at `now`.
    #[must_use]
    pub fn distances(&self, observations: &Observations) -> Vec<Distance> {
        let view = |(index, threshold): (usize, &Threshold)| {
            let observation = observations.get(threshold.signal);
            let amount = |with_min_reclaim| {
                observation.map(|seen| threshold.quantity(seen, with_min_reclaim).value())
            };
            let value = amount(false);
            let since = self.thresholds_first_observed_at.iter().find(|(known, _)| *known == index);
            let met = |with_min_reclaim| {
                observation.is_some_and(|seen| threshold.is_met(seen, with_min_reclaim))
            };
            let acts = self.thresholds_met.contains(&index);
            let state = match since.map(|(_, since)| *since) {
                _ if !threshold.less_than || observation.is_none() => ThresholdState::Never,
                None if met(false) => ThresholdState::Unnoticed,
                Some(since) if acts && met(false) => ThresholdState::Acting { since },
                Some(since) if acts && met(true) => ThresholdState::Reclaiming { since },
                Some(since) if met(false) => {
                    let until = since.saturating_add(threshold.grace_period);
                    ThresholdState::InGracePeriod { since, until }
                }
                _ => ThresholdState::NotMet,
            };
            let available = observation.map(|seen| seen.available);
            Distance {
                signal: threshold.signal,
                hard: threshold.is_hard(),
                value: threshold.value.describe(),
                threshold: value,
                resolved_at: amount(true),
                available,
                capacity: observation.map(|seen| seen.capacity),
                distance: available.zip(value).map(|(has, needs)| has.saturating_sub(needs)),
                state,
            }
        };
        self.thresholds().iter().enumerate().map(view).collect()
    }

    /// The conditions that are true and how long they last.
    #[must_use]
    pub fn conditions(&self, now: Timestamp) -> Vec<ConditionView> {
        let observed: Vec<usize> =
            self.thresholds_first_observed_at.iter().map(|(index, _)| *index).collect();
        let observed = super::threshold::pressures(self.thresholds(), &observed);
        let view = |pressure: &Pressure| {
            Some(ConditionView {
                pressure: *pressure,
                observed: observed.contains(pressure),
                until: self.condition_until(now, *pressure)?,
            })
        };
        self.node_conditions().iter().filter_map(view).collect()
    }

    /// The pods in the order in which they would go if there were too little of something, and why.
    /// `None` if there is no way to rank for the signal.
    #[must_use]
    pub fn ranking(&self, signal: Signal, summary: &Summary) -> Option<Ranking> {
        let pods: Vec<&KubeletPod> = self.active_pods().map(AsRef::as_ref).collect();
        rank(self.version(), self.layout(), signal, &pods, summary)
    }
}
