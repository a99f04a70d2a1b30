//! Passes of the manager: when they run, which of them can be skipped, and what a skipped one would
//! have recorded.

use alloc::vec::Vec;

use taintlab_rules::time::Timestamp;

use super::config::EVICTION_MONITORING_PERIOD;
use super::manager::EvictionManager;
use super::schedule::{Steady, round_up};
use super::signal::Pressure;
use super::threshold::pressures;

impl EvictionManager {
    /// The next pass that has to be run.
    pub(super) fn due_pass(&self) -> Option<Timestamp> {
        let isolates = self.config.local_storage_capacity_isolation;
        if self.config.thresholds.is_empty() && !isolates {
            return None;
        }
        match &self.steady {
            None => Some(self.next_pass),
            Some(steady) if steady.until == Timestamp::MAX => None,
            Some(steady) => {
                Some(round_up(self.next_pass, EVICTION_MONITORING_PERIOD, steady.until))
            }
        }
    }

    /// Notes what the passes before `now` saw that were not run.
    pub(super) fn settle(&mut self, now: Timestamp) {
        let Some(last) = self.last_skipped_pass(now) else { return };
        for pressure in self.steady.iter().flat_map(|steady| &steady.observed) {
            if let Some(at) = self.conditions_last_observed_at.get_mut(*pressure as usize) {
                *at = Some(last);
            }
        }
        self.last_observations.measured_again(last);
        self.next_pass = last.saturating_add(EVICTION_MONITORING_PERIOD);
    }

    /// What was foreseen no longer holds.
    pub(super) fn unsettle(&mut self, now: Timestamp) {
        self.settle(now);
        self.steady = None;
        self.forecast.notification = None;
    }

    /// After a pass that has found nothing to do: until when the next ones would find the same.
    pub(super) fn foresee(&mut self, now: Timestamp) {
        let observed: Vec<usize> =
            self.thresholds_first_observed_at.iter().map(|(index, _)| *index).collect();
        let observed = pressures(&self.config.thresholds, &observed);
        let graces = self.thresholds_first_observed_at.iter().filter_map(|(index, since)| {
            let threshold = self.config.thresholds.get(*index)?;
            Some(since.saturating_add(threshold.grace_period))
        });
        let ends = self.node_conditions.iter().filter(|pressure| !observed.contains(pressure));
        let ends = ends.filter_map(|pressure| self.condition_ends_at(*pressure));
        let until = graces.chain(ends).fold(self.forecast.quiet_until, Timestamp::min);
        self.steady = Some(Steady { since: now, observed, until });
    }

    /// When the transition period of a condition is over, if it is not observed again.
    pub(super) fn condition_ends_at(&self, pressure: Pressure) -> Option<Timestamp> {
        let last = self.conditions_last_observed_at.get(pressure as usize).copied().flatten()?;
        Some(last.saturating_add(self.config.pressure_transition_period))
    }

    /// When a condition that is true ends if nothing is observed from now on; every pass that
    /// observes it again moves that on. `None` if it is not true.
    #[must_use]
    pub fn condition_until(&self, now: Timestamp, pressure: Pressure) -> Option<Timestamp> {
        let mut ends = self.condition_ends_at(pressure)?;
        let seen_again =
            self.steady.as_ref().is_some_and(|steady| steady.observed.contains(&pressure));
        if seen_again && let Some(last) = self.last_skipped_pass(now) {
            ends = last.saturating_add(self.config.pressure_transition_period);
        }
        self.node_conditions.contains(&pressure).then_some(ends)
    }

    /// The last pass before `now` that did not have to be run and is not noted yet.
    fn last_skipped_pass(&self, now: Timestamp) -> Option<Timestamp> {
        let steady = self.steady.as_ref()?;
        let until = steady.until.min(now);
        let next = round_up(self.next_pass, EVICTION_MONITORING_PERIOD, until);
        let period = u64::try_from(EVICTION_MONITORING_PERIOD.as_nanos()).unwrap_or(u64::MAX);
        let last = Timestamp::from_nanos(next.as_nanos().saturating_sub(period));
        (next > self.next_pass && last > steady.since).then_some(last)
    }
}
