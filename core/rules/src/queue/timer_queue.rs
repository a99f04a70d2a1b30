//! Timers in the order of their time, then of their creation.

use crate::order::OrderedMap;
use crate::time::Timestamp;

/// Numbers for timers and other waiting items, in the order of creation, across all queues that
/// share the sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sequence(u64);

impl Sequence {
    /// Takes the next number.
    pub fn take(&mut self) -> u64 {
        let number = self.0;
        self.0 += 1;
        number
    }

    /// The next number, without taking it.
    #[must_use]
    pub const fn peek(self) -> u64 {
        self.0
    }

    /// Makes the next number at least `number`.
    pub fn advance_to(&mut self, number: u64) {
        self.0 = self.0.max(number);
    }
}

/// Time of a timer, and its number in the order of creation.
pub type TimerId = (Timestamp, u64);

/// Timers with their purposes.
#[derive(Clone, Debug)]
pub struct TimerQueue<T> {
    timers: OrderedMap<TimerId, T>,
}

impl<T> Default for TimerQueue<T> {
    fn default() -> Self {
        Self { timers: OrderedMap::new() }
    }
}

impl<T> TimerQueue<T> {
    /// Starts a timer.
    pub fn start(&mut self, sequence: &mut Sequence, at: Timestamp, what: T) -> TimerId {
        let timer = (at, sequence.take());
        self.timers.insert(timer, what);
        timer
    }

    /// Stops a timer and returns its purpose.
    pub fn stop(&mut self, timer: &TimerId) -> Option<T> {
        self.timers.remove(timer)
    }

    /// The next timer.
    #[must_use]
    pub fn next(&self) -> Option<TimerId> {
        self.timers.first_key_value().map(|(timer, _)| *timer)
    }

    /// Purpose of the next timer.
    #[must_use]
    pub fn peek(&self) -> Option<&T> {
        self.timers.first_key_value().map(|(_, what)| what)
    }

    /// Purpose of a timer.
    #[must_use]
    pub fn get(&self, timer: &TimerId) -> Option<&T> {
        self.timers.get(timer)
    }

    /// Takes the next timer, whatever its time.
    pub fn pop(&mut self) -> Option<(TimerId, T)> {
        self.timers.pop_first()
    }

    /// Takes the next timer if it is due by `now`.
    pub fn pop_due(&mut self, now: Timestamp) -> Option<T> {
        let (at, _) = self.next()?;
        if at > now {
            return None;
        }
        self.pop().map(|(_, what)| what)
    }

    /// Stops all timers except those for which `keep` returns true.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.timers.retain(|_, what| keep(what));
    }

    /// All timers, the next one first.
    pub fn iter(&self) -> impl Iterator<Item = (&TimerId, &T)> {
        self.timers.iter()
    }
}
