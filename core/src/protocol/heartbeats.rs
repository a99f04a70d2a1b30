//! Signs of life that are promised, so that nobody is woken for each of them.

use core::time::Duration;

use serde::Serialize;

use crate::time::{Time, Timestamp};

/// Something that a kubelet does again and again: renew its lease, or post its status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PeriodicHeartbeat {
    /// The last one before `next`, if there was any.
    pub last: Option<Time>,
    /// The next one.
    pub next: Timestamp,
    /// The time between two, more than nothing.
    pub period: Duration,
}

impl PeriodicHeartbeat {
    /// The last moment, from `next` on, that is not after `now`.
    #[must_use]
    pub fn moment(&self, now: Timestamp) -> Option<Timestamp> {
        let after = round_up(self.next, self.period, now);
        if after == now {
            return Some(now);
        }
        (now > self.next).then(|| Timestamp::from_nanos(after.as_nanos() - nanos(self.period)))
    }

    /// The wall-clock time of the last one that is not after `now`; `start` is that of zero.
    #[must_use]
    pub fn time(&self, start: Time, now: Timestamp) -> Option<Time> {
        self.moment(now).map(|at| start.saturating_add(at.since_zero())).or(self.last)
    }

    /// The first one that is not before `from`.
    #[must_use]
    pub fn next_from(&self, from: Timestamp) -> Timestamp {
        round_up(self.next, self.period, from)
    }

    /// The first one after `now`.
    #[must_use]
    pub fn next_after(&self, now: Timestamp) -> Timestamp {
        self.next_from(now.saturating_add(Duration::from_nanos(1)))
    }
}

/// What a kubelet promises to do until further notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HeartbeatSchedule {
    /// Renewals of the lease.
    pub lease: PeriodicHeartbeat,
    /// Posts of a status in which nothing but the heartbeats has changed.
    pub status: PeriodicHeartbeat,
}

impl HeartbeatSchedule {
    /// `lastHeartbeatTime` of the conditions as of `now`: whole seconds, as objects carry it.
    #[must_use]
    pub fn heartbeat(&self, start: Time, now: Timestamp) -> Option<Time> {
        self.status.time(start, now).map(Time::truncated_to_seconds)
    }

    /// Whether health passes every `period` see them so often that a node which may miss them for
    /// `grace` never is.
    pub(crate) fn suffice(&self, period: Duration, grace: Duration) -> bool {
        let (period, grace) = (nanos(period).max(1), nanos(grace));
        // The longest time between two passes that see a renewal, and the first pass that sees
        // none.
        let seen = nanos(self.lease.period).div_ceil(period);
        seen <= grace / period + 1
    }
}

/// The first of the moments `origin`, `origin + period`, … that is not before `from`.
pub(crate) fn round_up(origin: Timestamp, period: Duration, from: Timestamp) -> Timestamp {
    let period = u64::try_from(period.as_nanos()).unwrap_or(u64::MAX).max(1);
    let missing = from.as_nanos().saturating_sub(origin.as_nanos());
    let steps = missing.div_ceil(period);
    Timestamp::from_nanos(origin.as_nanos().saturating_add(steps.saturating_mul(period)))
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_a_beat() {
        let last = Some(Time::DEFAULT_START);
        let heartbeat = PeriodicHeartbeat {
            last,
            next: Timestamp::from_secs(3),
            period: Duration::from_secs(10),
        };
        for (now, expected) in [(0, None), (2, None), (3, Some(3)), (12, Some(3)), (13, Some(13))] {
            let moment = heartbeat.moment(Timestamp::from_secs(now));
            assert_eq!(moment, expected.map(Timestamp::from_secs), "{now}");
        }
        assert_eq!(heartbeat.next_after(Timestamp::from_secs(3)), Timestamp::from_secs(13));
        assert_eq!(heartbeat.next_after(Timestamp::ZERO), Timestamp::from_secs(3));
        assert_eq!(heartbeat.time(Time::DEFAULT_START, Timestamp::ZERO), last);
    }

    /// A renewal every 10 s that passes every 5 s see: overdue after 10 s, but never after more.
    #[test]
    fn how_long_a_grace_must_be() {
        let heartbeat = |secs| PeriodicHeartbeat {
            last: None,
            next: Timestamp::ZERO,
            period: Duration::from_secs(secs),
        };
        let heartbeats = HeartbeatSchedule { lease: heartbeat(10), status: heartbeat(300) };
        for (pass, grace, expected) in
            [(5, 40, true), (5, 5, true), (5, 4, false), (7, 7, true), (7, 6, false), (60, 0, true)]
        {
            let (pass, grace) = (Duration::from_secs(pass), Duration::from_secs(grace));
            assert_eq!(heartbeats.suffice(pass, grace), expected, "{pass:?} {grace:?}");
        }
    }
}
