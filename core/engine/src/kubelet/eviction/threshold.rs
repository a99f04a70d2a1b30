//! Eviction thresholds: a signal, how low it may be, and for how long.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::time::Duration;

use serde::Serialize;
use taintlab_rules::api::{Format, Quantity};
use taintlab_rules::time::Timestamp;

use super::golang::float_to_int64;
use super::observation::{Observation, Observations};
use super::signal::{Layout, Pressure, Signal};

/// What makes the kubelet act. Mirrors `evictionapi.Threshold`.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// What is watched.
    pub signal: Signal,
    /// Whether there is an operator (`LessThan`). Without one, as for an
    /// `allocatableMemory.available` of a user, the threshold is never met.
    pub less_than: bool,
    /// How much there must be.
    pub value: ThresholdValue,
    /// How long the signal may be too low; zero for a hard threshold.
    pub grace_period: Duration,
    /// How much more there must be before the kubelet stops.
    pub min_reclaim: Option<ThresholdValue>,
}

/// An amount, or a part of the capacity. Mirrors `evictionapi.ThresholdValue`.
#[derive(Clone, Debug, PartialEq)]
pub enum ThresholdValue {
    /// An amount.
    Quantity(Quantity),
    /// A fraction of the capacity; 0.1 is 10 %.
    Percentage(f32),
}

impl ThresholdValue {
    /// The amount at a capacity. Mirrors `evictionapi.GetThresholdQuantity`, whose fraction is a
    /// number of 32 bits: 10 % of 107374182400 is 10737418400.
    #[must_use]
    pub fn quantity(&self, capacity: i64) -> Quantity {
        match self {
            Self::Quantity(quantity) => quantity.clone(),
            Self::Percentage(fraction) => {
                #[expect(clippy::cast_precision_loss, reason = "as upstream")]
                let part = capacity as f64 * f64::from(*fraction);
                Quantity::new(float_to_int64(part), Format::BinarySI)
            }
        }
    }

    /// Mirrors `compareThresholdValue`.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Quantity(one), Self::Quantity(other)) => one.compare(other) == Ordering::Equal,
            (Self::Percentage(one), Self::Percentage(other)) => one == other,
            _ => false,
        }
    }

    /// As a user would write it, for a person to read.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Quantity(quantity) => quantity.to_string(),
            Self::Percentage(fraction) => percent(*fraction),
        }
    }
}

/// `0.1` as `10%`: the shortest decimal with its point moved.
fn percent(fraction: f32) -> String {
    let text = fraction.to_string();
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    let digit = |index| rest.chars().nth(index).unwrap_or('0');
    let whole: String = whole.chars().chain([digit(0), digit(1)]).collect();
    let whole = whole.trim_start_matches('0');
    let rest: String = rest.chars().skip(2).collect();
    let point = if rest.is_empty() { "" } else { "." };
    format!("{}{point}{rest}%", if whole.is_empty() { "0" } else { whole })
}

impl Threshold {
    /// Whether it acts at once. Mirrors `isHardEvictionThreshold`: a soft one with a grace period
    /// of zero is hard.
    #[must_use]
    pub fn is_hard(&self) -> bool {
        self.grace_period.is_zero()
    }

    /// How much there must be at an observation, with the minimum reclaim or without.
    #[must_use]
    pub fn quantity(&self, observation: &Observation, with_min_reclaim: bool) -> Quantity {
        let mut quantity = self.value.quantity(observation.capacity);
        if let Some(min_reclaim) = self.min_reclaim.as_ref().filter(|_| with_min_reclaim) {
            quantity.add(&min_reclaim.quantity(observation.capacity));
        }
        quantity
    }

    /// Whether there is too little at an observation.
    #[must_use]
    pub fn is_met(&self, observation: &Observation, with_min_reclaim: bool) -> bool {
        let available = Quantity::new(observation.available, Format::DecimalSI);
        self.less_than
            && self.quantity(observation, with_min_reclaim).compare(&available) == Ordering::Greater
    }

    /// Mirrors the comparison of `hasThreshold`.
    fn is_same(&self, other: &Self) -> bool {
        self.grace_period == other.grace_period
            && self.less_than == other.less_than
            && self.signal == other.signal
            && self.value.is_same(&other.value)
    }

    /// The order in which this engine acts when several are met, which upstream leaves open
    /// (`byEvictionPriority`): memory, then the others; hard before soft; then by signal.
    pub(super) fn priority(&self) -> (bool, bool, Signal) {
        (self.signal.pressure() != Pressure::Memory, !self.is_hard(), self.signal)
    }
}

/// The thresholds of the list, by index, that are met. Mirrors `thresholdsMet`.
pub(super) fn met(
    thresholds: &[Threshold],
    among: impl IntoIterator<Item = usize>,
    observations: &Observations,
    with_min_reclaim: bool,
) -> Vec<usize> {
    let is_met = |index: &usize| {
        thresholds.get(*index).is_some_and(|threshold| {
            let observation = observations.get(threshold.signal);
            observation.is_some_and(|observation| threshold.is_met(observation, with_min_reclaim))
        })
    };
    among.into_iter().filter(is_met).collect()
}

/// Adds those of the second list that are not the same as one in the first. Mirrors
/// `mergeThresholds`.
pub(super) fn merge(thresholds: &[Threshold], into: &mut Vec<usize>, more: Vec<usize>) {
    for index in more {
        let Some(threshold) = thresholds.get(index) else { continue };
        let is_known = into
            .iter()
            .any(|known| thresholds.get(*known).is_some_and(|known| known.is_same(threshold)));
        if !is_known {
            into.push(index);
        }
    }
}

/// When each was met first, without a gap. Mirrors `thresholdsFirstObservedAt`.
pub(super) fn first_observed_at(
    met: &[usize],
    before: &[(usize, Timestamp)],
    now: Timestamp,
) -> Vec<(usize, Timestamp)> {
    let first = |index: &usize| {
        let known = before.iter().find(|(known, _)| known == index);
        (*index, known.map_or(now, |(_, at)| *at))
    };
    met.iter().map(first).collect()
}

/// Those whose grace period is over. Mirrors `thresholdsMetGracePeriod`.
pub(super) fn met_grace_period(
    thresholds: &[Threshold],
    first_observed_at: &[(usize, Timestamp)],
    now: Timestamp,
) -> Vec<usize> {
    let is_over = |(index, at): &&(usize, Timestamp)| {
        thresholds.get(*index).is_some_and(|threshold| now - *at >= threshold.grace_period)
    };
    first_observed_at.iter().filter(is_over).map(|(index, _)| *index).collect()
}

/// The conditions of the thresholds, each once. Mirrors `nodeConditions`.
pub(super) fn pressures(thresholds: &[Threshold], met: &[usize]) -> Vec<Pressure> {
    let mut found = Vec::new();
    for threshold in met.iter().filter_map(|index| thresholds.get(*index)) {
        let pressure = threshold.signal.pressure();
        if !found.contains(&pressure) {
            found.push(pressure);
        }
    }
    found
}

/// Those whose figure is newer than at the last pass. Mirrors `thresholdsUpdatedStats`.
pub(super) fn with_updated_stats(
    thresholds: &[Threshold],
    met: &[usize],
    observations: &Observations,
    last: &Observations,
) -> Vec<usize> {
    let is_newer = |index: &usize| {
        let Some(threshold) = thresholds.get(*index) else { return false };
        let Some(observed) = observations.get(threshold.signal) else { return false };
        match (observed.time, last.get(threshold.signal)) {
            (Some(time), Some(last)) => last.time.is_none_or(|last| time > last),
            _ => true,
        }
    };
    met.iter().copied().filter(is_newer).collect()
}

/// Sets the thresholds of the file system of writable layers to those of the file system it shares.
/// Mirrors `UpdateContainerFsThresholds`, without the entries that can never be met.
pub(super) fn update_containerfs(thresholds: &mut Vec<Threshold>, layout: Layout) {
    let shared = if layout == Layout::DedicatedImageFs {
        [Signal::ImageFsAvailable, Signal::ImageFsInodesFree]
    } else {
        [Signal::NodeFsAvailable, Signal::NodeFsInodesFree]
    };
    let own = [Signal::ContainerFsAvailable, Signal::ContainerFsInodesFree];
    for (shared, own) in shared.into_iter().zip(own) {
        for hard in [true, false] {
            let of = |signal| {
                move |threshold: &&Threshold| {
                    threshold.signal == signal && threshold.is_hard() == hard
                }
            };
            let model = thresholds.iter().rfind(of(shared)).cloned();
            let place = thresholds.iter().rposition(|threshold| of(own)(&threshold));
            let copy = model.map(|model| Threshold { signal: own, ..model });
            match (place.and_then(|place| thresholds.get_mut(place)), copy) {
                (Some(place), Some(copy)) => *place = copy,
                (Some(place), None) => place.less_than = false,
                (None, Some(copy)) => thresholds.push(copy),
                (None, None) => {}
            }
        }
    }
}

/// How far a signal is from a threshold, for a person to see.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Distance {
    /// What is watched.
    pub signal: Signal,
    /// Whether the threshold acts at once.
    pub hard: bool,
    /// The threshold as it was written: an amount or a percentage.
    pub value: String,
    /// The amount it is at the present capacity; `None` if the signal has no figures.
    pub threshold: Option<i64>,
    /// The amount from which on a threshold that was acted upon counts as resolved.
    pub resolved_at: Option<i64>,
    /// How much there is.
    pub available: Option<i64>,
    /// How much there is altogether.
    pub capacity: Option<i64>,
    /// How much more may be used before there is less than the threshold asks for; less than zero
    /// if it is met.
    pub distance: Option<i64>,
    /// Where it is on the way from harmless to acted upon.
    pub state: ThresholdState,
}

/// Where a threshold is on the way from harmless to acted upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ThresholdState {
    /// There is enough.
    NotMet,
    /// There is too little since the last pass; the next one will see it.
    Unnoticed,
    /// There is too little, and the grace period runs.
    InGracePeriod {
        /// Since when there is too little.
        since: Timestamp,
        /// When the grace period is over; a pass from then on acts.
        until: Timestamp,
    },
    /// There is too little, and every pass acts.
    Acting {
        /// Since when there is too little.
        since: Timestamp,
    },
    /// There is enough, but not the minimum reclaim, so every pass acts.
    Reclaiming {
        /// Since when there is too little.
        since: Timestamp,
    },
    /// The signal has no figures, or the threshold no operator: it is never met.
    Never,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_print_as_they_were_written() {
        for (fraction, text) in [
            (0.1, "10%"),
            (0.15, "15%"),
            (0.005, "0.5%"),
            (0.155, "15.5%"),
            (1.0, "100%"),
            (0.0, "0%"),
        ] {
            assert_eq!(percent(fraction), text);
        }
    }

    /// The worked example K4: a fraction has 32 bits.
    #[test]
    fn percentages_of_a_capacity() {
        for (percent, capacity, amount) in [
            (10.0, 107_374_182_400, 10_737_418_400),
            (10.0, 10_737_418_240, 1_073_741_840),
            (15.0, 107_374_182_400, 16_106_128_000),
            (5.0, 6_553_600, 327_680),
            (30.0, 10, 3),
            (12.5, 1_000, 125),
            (10.0, 4_294_967_296, 429_496_736),
        ] {
            let value = ThresholdValue::Percentage(percent / 100.0_f32);
            assert_eq!(value.quantity(capacity).value(), amount, "{percent} % of {capacity}");
        }
    }
}
