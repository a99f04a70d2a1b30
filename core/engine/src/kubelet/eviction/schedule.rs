//! Moments that the manager waits for: of a figure, of the next pass that finds something new, of
//! pods that are cleaned up.

use alloc::vec::Vec;
use core::time::Duration;

use taintlab_rules::api::PodKey;
use taintlab_rules::time::Timestamp;

use super::signal::Pressure;

/// Period of the question whether evicted pods are cleaned up. Mirrors `podCleanupPollFreq`.
const POD_CLEANUP_POLL_FREQ: Duration = Duration::from_secs(1);
/// Limit of that wait. Mirrors `podCleanupTimeout`.
const POD_CLEANUP_TIMEOUT: Duration = Duration::from_secs(30);

/// Forecast of the figures of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// Moment before which no figure crosses a threshold or a limit of local storage.
    pub quiet_until: Timestamp,
    /// Moment at which the kernel will say that memory crosses a threshold, if it is asked to.
    pub notification: Option<Timestamp>,
}

impl Forecast {
    /// Nothing is foreseen: every pass is run.
    #[must_use]
    pub const fn unknown(now: Timestamp) -> Self {
        Self { quiet_until: now, notification: None }
    }
}

/// Nothing changes from pass to pass until some moment.
#[derive(Clone, Debug)]
pub(super) struct Steady {
    /// The pass that has found it so.
    pub(super) since: Timestamp,
    /// Pressures of the thresholds that are met, though in their grace period: every pass sees
    /// them again.
    pub(super) observed: Vec<Pressure>,
    /// The first pass from then on is run.
    pub(super) until: Timestamp,
}

/// Evicted pods are being cleaned up.
#[derive(Clone, Debug)]
pub(super) struct CleanUp {
    began: Timestamp,
    /// Pods that are not cleaned up yet.
    missing: Vec<PodKey>,
    /// Time at which the last one was.
    done: Option<Timestamp>,
}

impl CleanUp {
    pub(super) fn new(began: Timestamp, missing: Vec<PodKey>) -> Self {
        Self { began, missing, done: None }
    }

    pub(super) fn done(&mut self, now: Timestamp, key: &PodKey) {
        let was_missing = !self.missing.is_empty();
        self.missing.retain(|missing| missing != key);
        if was_missing && self.missing.is_empty() {
            self.done = Some(now);
        }
    }

    /// End of the waiting: at the first question after all is clean, or after 30 s.
    pub(super) fn ends_at(&self) -> Timestamp {
        let limit = self.began.saturating_add(POD_CLEANUP_TIMEOUT);
        let first = self.began.saturating_add(POD_CLEANUP_POLL_FREQ);
        let asked = self.done.map(|done| round_up(first, POD_CLEANUP_POLL_FREQ, done));
        asked.map_or(limit, |asked| asked.min(limit))
    }
}

/// The first of the moments `origin`, `origin + period`, … that is not before `from`.
pub(super) fn round_up(origin: Timestamp, period: Duration, from: Timestamp) -> Timestamp {
    let period = u64::try_from(period.as_nanos()).unwrap_or(u64::MAX).max(1);
    let missing = from.as_nanos().saturating_sub(origin.as_nanos());
    let steps = missing.div_ceil(period).saturating_mul(period);
    Timestamp::from_nanos(origin.as_nanos().saturating_add(steps))
}
