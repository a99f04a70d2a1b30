//! Heartbeats known in advance, so that the simulation need not wake up for each of them.

use core::num::NonZeroU64;
use core::time::Duration;

use serde::Serialize;

use crate::time::{Time, Timestamp};

/// A periodic action of a kubelet: renewing its lease, or posting its status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PeriodicHeartbeat {
    /// The last heartbeat before `next`, if there was one.
    pub last: Option<Time>,
    /// The next heartbeat.
    pub next: Timestamp,
    /// Time between two heartbeats, more than zero; with jitter, the shortest time.
    pub period: Duration,
    /// Jitter that delays each heartbeat a little; without it they come exactly on time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Jitter>,
}

impl PeriodicHeartbeat {
    /// Last heartbeat from `next` on, up to and including `now`.
    #[must_use]
    pub fn moment(&self, now: Timestamp) -> Option<Timestamp> {
        if let Some(jitter) = &self.jitter {
            return (now >= self.next).then(|| jitter.moment(self.period, now));
        }
        let after = round_up(self.next, self.period, now);
        if after == now {
            return Some(now);
        }
        (now > self.next).then(|| Timestamp::from_nanos(after.as_nanos() - nanos(self.period)))
    }

    /// Wall-clock time of the last heartbeat up to and including `now`; `start` is the wall-clock
    /// time at zero.
    #[must_use]
    pub fn time(&self, start: Time, now: Timestamp) -> Option<Time> {
        self.moment(now).map(|at| start.saturating_add(at.since_zero())).or(self.last)
    }

    /// First heartbeat at or after `from`.
    #[must_use]
    pub fn next_from(&self, from: Timestamp) -> Timestamp {
        match &self.jitter {
            Some(_) if from <= self.next => self.next,
            Some(jitter) => jitter.next_from(self.period, from),
            None => round_up(self.next, self.period, from),
        }
    }

    /// First heartbeat after `now`.
    #[must_use]
    pub fn next_after(&self, now: Timestamp) -> Timestamp {
        self.next_from(now.saturating_add(Duration::from_nanos(1)))
    }

    /// Longest time between two heartbeats.
    #[must_use]
    pub fn longest_period(&self) -> Duration {
        match &self.jitter {
            Some(jitter) => Duration::from_nanos(jitter.clock(self.period).longest(jitter.every)),
            None => self.period,
        }
    }

    /// Heartbeats at every `every`-th tick of this clock, starting with the first tick at or after
    /// `from`; `last` is the time of the last one before.
    #[must_use]
    pub fn every(&self, every: u32, from: Timestamp, last: Option<Time>) -> Self {
        let (next, every) = (self.next_from(from), every.max(1));
        let jitter = self.jitter.map(|jitter| {
            let ticks = jitter.clock(self.period).last_not_after(jitter.since_origin(next)).ticks;
            let phase = u32::try_from(ticks % u64::from(every)).unwrap_or(0);
            Jitter { every, phase, ..jitter }
        });
        Self { last, next, period: self.period.saturating_mul(every), jitter }
    }
}

/// Jitter of heartbeats: the kubelet waits 0 to 4 % longer than the period, each time anew
/// (`wait.JitterUntil(…, 0.04, …)`), so that in the long run its phase is arbitrary.
///
/// Each heartbeat is still known in advance, independently of the ones before it: see `Clock`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Jitter {
    /// Seed of the delays.
    seed: NonZeroU64,
    /// First tick of the kubelet's clock.
    origin: Timestamp,
    /// Number of ticks from one heartbeat to the next.
    every: u32,
    /// Offset of the heartbeats within that number, counted from the first tick.
    phase: u32,
}

impl Jitter {
    /// Jitter of a clock whose first tick is at `origin`.
    #[must_use]
    pub const fn new(seed: NonZeroU64, origin: Timestamp) -> Self {
        Self { seed, origin, every: 1, phase: 0 }
    }

    fn clock(&self, period: Duration) -> Clock {
        Clock::new(self.seed, period / self.every)
    }

    const fn since_origin(&self, at: Timestamp) -> u64 {
        at.as_nanos().saturating_sub(self.origin.as_nanos())
    }

    const fn at(&self, tick: Tick) -> Timestamp {
        Timestamp::from_nanos(self.origin.as_nanos().saturating_add(tick.nanos))
    }

    /// Number of the tick of the last heartbeat up to `at`, which must not be before the first
    /// heartbeat.
    fn heartbeat(&self, clock: &Clock, at: Timestamp) -> u64 {
        let ticks = clock.last_not_after(self.since_origin(at)).ticks;
        ticks - ticks.saturating_sub(self.phase.into()) % u64::from(self.every)
    }

    fn moment(&self, period: Duration, now: Timestamp) -> Timestamp {
        let clock = self.clock(period);
        self.at(clock.tick(self.heartbeat(&clock, now)))
    }

    fn next_from(&self, period: Duration, from: Timestamp) -> Timestamp {
        let clock = self.clock(period);
        let number = self.heartbeat(&clock, from);
        let last = self.at(clock.tick(number));
        if last == from {
            return last;
        }
        let next = number.saturating_add(self.every.into());
        if next < clock.ticks() { self.at(clock.tick(next)) } else { Timestamp::MAX }
    }
}

/// A clock with a random delay of up to 4 % of its period after each tick. Finding the time of any
/// tick, or the tick of any time, takes a few dozen steps.
///
/// The gaps between ticks are the leaves of a binary tree. For each subtree, the total delay of its
/// gaps is known; the seed decides how much of it falls into the first half of the subtree, and so
/// on down to a single gap. Each draw has the spread of a sum of independent gaps, and never leaves
/// a gap more than its maximum.
struct Clock {
    seed: u64,
    /// Shortest time between two ticks, in nanoseconds.
    period: u64,
    /// Longest delay of a gap, in milliseconds.
    most: u64,
}

/// A tick: its number, and its time since the first tick.
struct Tick {
    ticks: u64,
    nanos: u64,
}

const MILLISECOND: u64 = 1_000_000;

impl Clock {
    fn new(seed: NonZeroU64, period: Duration) -> Self {
        let period = nanos(period).max(1);
        // Whole milliseconds keep the times readable.
        Self { seed: seed.get(), period, most: period / 25 / MILLISECOND }
    }

    /// Longest time of this number of gaps, in nanoseconds.
    fn longest(&self, gaps: u32) -> u64 {
        self.period.saturating_add(self.most * MILLISECOND).saturating_mul(gaps.into())
    }

    /// Depth of the tree of gaps, which has as many gaps as fit into a [`Timestamp`].
    fn levels(&self) -> u32 {
        (u64::MAX / self.longest(1)).max(1).ilog2()
    }

    /// Number of ticks.
    fn ticks(&self) -> u64 {
        1 << self.levels()
    }

    fn tick(&self, number: u64) -> Tick {
        self.find(|tick| tick.ticks <= number)
    }

    fn last_not_after(&self, nanos: u64) -> Tick {
        self.find(|tick| tick.nanos <= nanos)
    }

    /// Last tick for which a predicate holds that is true of the first tick and of all before that
    /// one.
    fn find(&self, holds: impl Fn(&Tick) -> bool) -> Tick {
        let mut level = self.levels();
        let mut found = Tick { ticks: 0, nanos: 0 };
        // Total delay of the gaps in the subtree after `found`.
        let mut longer = (self.most << level) / 2;
        while level > 0 {
            level -= 1;
            let ticks = found.ticks + (1 << level);
            let first = self.first_half(longer, level, ticks);
            let nanos = found.nanos + (self.period << level) + first * MILLISECOND;
            let middle = Tick { ticks, nanos };
            if holds(&middle) {
                found = middle;
                longer -= first;
            } else {
                longer = first;
            }
        }
        found
    }

    /// Part of the delay `longer` that falls into the first of two halves with 2^`level` gaps each;
    /// the second half starts at tick number `middle`.
    fn first_half(&self, longer: u64, level: u32, middle: u64) -> u64 {
        let most = longer.min(self.most << level);
        let widest = 2 * most - longer;
        // For two gaps every split is equally likely; for n gaps the spread is that of √n.
        let width = match level {
            0 => widest,
            _ if level % 2 == 1 => widest >> level.div_ceil(2),
            _ => ((widest >> (level / 2)) * 46_341) >> 16,
        };
        let drawn = u128::from(scatter(self.seed, middle)) * u128::from(width + 1);
        let drawn = u64::try_from(drawn >> 64).unwrap_or(0);
        longer / 2 + drawn - width / 2
    }
}

/// A pseudo-random number for each seed and number (SplitMix64).
fn scatter(seed: u64, number: u64) -> u64 {
    let mut mixed = seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Future heartbeats of a kubelet, until further notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HeartbeatSchedule {
    /// Renewals of the lease.
    pub lease: PeriodicHeartbeat,
    /// Posts of a status in which only the heartbeat times have changed.
    pub status: PeriodicHeartbeat,
}

impl HeartbeatSchedule {
    /// `lastHeartbeatTime` of the conditions at `now`, in whole seconds, as objects store it.
    #[must_use]
    pub fn heartbeat(&self, start: Time, now: Timestamp) -> Option<Time> {
        self.status.time(start, now).map(Time::truncated_to_seconds)
    }

    /// Whether health passes every `period` see the heartbeats often enough that the node never
    /// exceeds `grace`.
    pub fn suffice(&self, period: Duration, grace: Duration) -> bool {
        let (period, grace) = (nanos(period).max(1), nanos(grace));
        // The longest time between two passes that see a renewal, and the first pass that sees
        // none.
        let seen = nanos(self.lease.longest_period()).div_ceil(period);
        seen <= grace / period + 1
    }
}

/// First of the moments `origin`, `origin + period`, … at or after `from`.
pub fn round_up(origin: Timestamp, period: Duration, from: Timestamp) -> Timestamp {
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
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn the_last_and_the_next_heartbeat_of_a_moment() {
        let last = Some(Time::DEFAULT_START);
        let heartbeat = PeriodicHeartbeat {
            last,
            next: Timestamp::from_secs(3),
            period: Duration::from_secs(10),
            jitter: None,
        };
        for (now, expected) in [(0, None), (2, None), (3, Some(3)), (12, Some(3)), (13, Some(13))] {
            let moment = heartbeat.moment(Timestamp::from_secs(now));
            assert_eq!(moment, expected.map(Timestamp::from_secs), "{now}");
        }
        assert_eq!(heartbeat.next_after(Timestamp::from_secs(3)), Timestamp::from_secs(13));
        assert_eq!(heartbeat.next_after(Timestamp::ZERO), Timestamp::from_secs(3));
        assert_eq!(heartbeat.time(Time::DEFAULT_START, Timestamp::ZERO), last);
    }

    /// A renewal every 10 s seen by passes every 5 s: overdue after 10 s, but never later.
    #[test]
    fn the_shortest_sufficient_grace() {
        let heartbeat = |secs| PeriodicHeartbeat {
            last: None,
            next: Timestamp::ZERO,
            period: Duration::from_secs(secs),
            jitter: None,
        };
        let heartbeats = HeartbeatSchedule { lease: heartbeat(10), status: heartbeat(300) };
        for (pass, grace, expected) in
            [(5, 40, true), (5, 5, true), (5, 4, false), (7, 7, true), (7, 6, false), (60, 0, true)]
        {
            let (pass, grace) = (Duration::from_secs(pass), Duration::from_secs(grace));
            assert_eq!(heartbeats.suffice(pass, grace), expected, "{pass:?} {grace:?}");
        }
    }

    /// A clock with jitter whose first tick is at 3 s.
    fn late(seed: u64, millis: u64) -> PeriodicHeartbeat {
        let next = Timestamp::from_secs(3);
        PeriodicHeartbeat {
            last: None,
            next,
            period: Duration::from_millis(millis),
            jitter: NonZeroU64::new(seed).map(|seed| Jitter::new(seed, next)),
        }
    }

    /// All heartbeats, starting with the first one.
    fn all(heartbeat: &PeriodicHeartbeat) -> impl Iterator<Item = Timestamp> {
        core::iter::successors(Some(heartbeat.next), |last| Some(heartbeat.next_after(*last)))
    }

    /// C15.
    #[test]
    fn each_gap_is_up_to_4_percent_too_long() {
        for (millis, most) in [(10_000, 400), (250, 10), (24, 0), (1, 0), (99_999, 3_999)] {
            let heartbeat = late(7, millis);
            let moments: Vec<u64> = all(&heartbeat).take(2_000).map(Timestamp::as_nanos).collect();
            let gaps = moments.windows(2).map(|two| (two[1] - two[0]) / MILLISECOND - millis);
            let gaps: Vec<u64> = gaps.collect();
            assert!(gaps.iter().all(|gap| *gap <= most), "{millis}: {gaps:?}");
            let (least, greatest) = (*gaps.iter().min().unwrap(), *gaps.iter().max().unwrap());
            assert!(least <= most / 50 && greatest >= most - most / 50, "{least} {greatest}");
            let longest = Duration::from_millis(millis + most);
            assert_eq!(heartbeat.longest_period(), longest, "{millis}");
        }
    }

    /// C15: kubelets that started together drift apart as far as independent delays do.
    #[test]
    fn lags_add_up() {
        for beats in [2_u64, 10, 100, 3_600] {
            let times: Vec<f64> = (1..=400)
                .map(|seed| {
                    let at = late(seed, 10_000).jitter.unwrap().clock(Duration::from_secs(10));
                    at.tick(beats).nanos as f64 / 1e9
                })
                .collect();
            let mean = times.iter().sum::<f64>() / 400.0;
            let spread = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / 400.0;
            // A delay is between 0 and 0.4 s, so that its variance is 0.16 / 12.
            let expected = beats as f64 * 0.16 / 12.0;
            assert!((mean - beats as f64 * 10.2).abs() < 5.0 * expected.sqrt() / 20.0, "{mean}");
            assert!((0.7..1.4).contains(&(spread / expected)), "{beats}: {spread} {expected}");
        }
    }

    #[test]
    fn moments_with_jitter_are_those_of_one_clock() {
        for every in [1, 3, 30] {
            let ticks = late(9, 1_000);
            let expected: Vec<Timestamp> =
                all(&ticks).skip(4).step_by(usize::try_from(every).unwrap()).take(40).collect();
            let from = expected[0];
            let heartbeat = ticks.every(every, from, None);
            assert_eq!(all(&heartbeat).take(40).collect::<Vec<_>>(), expected, "{every}");
            assert_eq!(heartbeat.moment(Timestamp::from_nanos(from.as_nanos() - 1)), None);
            for two in expected.windows(2) {
                let before = Timestamp::from_nanos(two[1].as_nanos() - 1);
                assert_eq!(heartbeat.moment(two[0]), Some(two[0]));
                assert_eq!(heartbeat.moment(before), Some(two[0]));
                assert_eq!(heartbeat.next_from(two[0]), two[0]);
                assert_eq!(heartbeat.next_from(before), two[1]);
                let between = (two[1].as_nanos() - two[0].as_nanos()) / MILLISECOND;
                let every = u64::from(every);
                assert!((1_000 * every..=1_040 * every).contains(&between), "{every}: {between}");
            }
        }
    }

    #[test]
    fn a_clock_with_jitter_ends_with_time() {
        let heartbeat = late(1, 10_000);
        let end = Timestamp::from_nanos(u64::MAX - 1);
        assert_eq!(heartbeat.next_from(end), Timestamp::MAX);
        assert!(heartbeat.moment(end).unwrap() < end);
        let slow = PeriodicHeartbeat { period: Duration::MAX, ..late(1, 10_000) };
        assert_eq!(slow.next_after(slow.next), Timestamp::MAX);
        assert_eq!(slow.moment(end), Some(slow.next));
    }
}
