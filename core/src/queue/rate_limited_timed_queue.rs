//! Work that waits for a rate limiter, each piece at most once.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use crate::queue::flowcontrol::{RateLimiter, TokenBucketRateLimiter};
use crate::time::Timestamp;

/// How many pieces of work may start at once: the size of the token bucket. Mirrors
/// `scheduler.EvictionRateLimiterBurst`.
pub const EVICTION_RATE_LIMITER_BURST: i32 = 1;

/// How long work waits that has failed, before it is tried again: what `doNoExecuteTaintingPass`
/// and `doEvictionPass` ask for.
pub const RETRY_AFTER: Duration = Duration::from_millis(50);

/// A piece of work in the queue. Mirrors `scheduler.TimedValue`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedValue<K> {
    /// What it is about, for example the name of a node.
    pub value: K,
    /// The UID of that object.
    pub uid: String,
    /// When it was added.
    pub added_at: Timestamp,
    /// When it may be processed; the queue is in this order.
    pub process_at: Timestamp,
    /// Which of several with the same `process_at` is first; see
    /// [`RateLimitedTimedQueue::add_in_turn`].
    pub turn: u64,
}

/// A queue whose head is processed when a rate limiter allows. Mirrors
/// `scheduler.RateLimitedTimedQueue`.
///
/// A value that was added is *seen*: it cannot be added again, even after it was processed, until
/// it is removed. Ties in time are in the order of Go's `container/heap`, which is not that of
/// insertion, unless values are added in turn.
#[derive(Clone, Debug)]
pub struct RateLimitedTimedQueue<K> {
    queue: Vec<TimedValue<K>>,
    set: BTreeSet<K>,
    limiter: RateLimiter,
    turns: u64,
}

impl<K: Clone + Ord> RateLimitedTimedQueue<K> {
    /// An empty queue with that limiter.
    #[must_use]
    pub const fn new(limiter: RateLimiter) -> Self {
        Self { queue: Vec::new(), set: BTreeSet::new(), limiter, turns: 0 }
    }

    /// An empty queue whose limiter has a token and gets `qps` a second; none at all if `qps` is
    /// not positive.
    #[must_use]
    pub fn with_qps(qps: f32) -> Self {
        Self::new(limiter_of(qps))
    }

    /// Adds a value that was not seen yet; false if it was. Mirrors `Add`.
    pub fn add(&mut self, now: Timestamp, value: K, uid: impl Into<String>) -> bool {
        self.insert(now, value, uid.into(), 0)
    }

    /// Adds a value as [`add`](Self::add) does, behind all that was added in turn at the same
    /// moment. A real clock moves between two values; a simulated one does not.
    pub fn add_in_turn(&mut self, now: Timestamp, value: K, uid: impl Into<String>) -> bool {
        self.turns += 1;
        self.insert(now, value, uid.into(), self.turns)
    }

    fn insert(&mut self, now: Timestamp, value: K, uid: String, turn: u64) -> bool {
        if !self.set.insert(value.clone()) {
            return false;
        }
        self.push(TimedValue { value, uid, added_at: now, process_at: now, turn });
        true
    }

    /// Removes a value and forgets that it was seen; true if it was, even if it is no longer
    /// waiting. Mirrors `Remove`.
    pub fn remove(&mut self, value: &K) -> bool {
        let seen = self.set.remove(value);
        if seen {
            self.take(value);
        }
        seen
    }

    /// Forgets that a value was seen, but leaves it waiting: what 1.19 and 1.20 did by mistake.
    /// Mirrors `SetRemove`.
    pub fn set_remove(&mut self, value: &K) {
        self.set.remove(value);
    }

    /// Removes and forgets everything. Mirrors `Clear`.
    pub fn clear(&mut self) {
        self.queue.clear();
        self.set.clear();
    }

    /// Processes values as long as the limiter has tokens and the head is due. Mirrors `Try`.
    ///
    /// `action` says how it went: `Err` is to be tried again after that time and a nanosecond.
    pub fn try_each(
        &mut self,
        now: Timestamp,
        mut action: impl FnMut(&TimedValue<K>) -> Result<(), Duration>,
    ) {
        while let Some(head) = self.try_next(now) {
            match action(&head) {
                Ok(()) => self.done(&head.value),
                Err(wait) => self.retry(now, head, wait),
            }
        }
    }

    /// One turn of [`try_each`](Self::try_each) for callers that learn later how it went: takes a
    /// token and gives the head, if there is a token and the head is due.
    ///
    /// The head stays until the caller says [`done`](Self::done) or [`retry`](Self::retry). As
    /// upstream, the token is gone even if the head is not due yet.
    pub fn try_next(&mut self, now: Timestamp) -> Option<TimedValue<K>> {
        if self.queue.is_empty() || !self.limiter.try_accept(now) {
            return None;
        }
        self.queue.first().filter(|head| head.process_at <= now).cloned()
    }

    /// A value was processed: it leaves the queue, but stays seen. Mirrors
    /// `UniqueQueue.RemoveFromQueue`.
    pub fn done(&mut self, value: &K) {
        if self.set.contains(value) {
            self.take(value);
        }
    }

    /// Processing failed: the value waits `wait` and a nanosecond from `now`. Mirrors
    /// `UniqueQueue.Replace`.
    pub fn retry(&mut self, now: Timestamp, mut entry: TimedValue<K>, wait: Duration) {
        entry.process_at = now.saturating_add(wait.saturating_add(Duration::from_nanos(1)));
        if self.take(&entry.value) {
            self.push(entry);
        }
    }

    /// Changes the rate. Mirrors `SwapLimiter`, which keeps the tokens of neither limiter:
    ///
    /// - A rate equal to the present one changes nothing. A stopped limiter says that its rate is
    ///   1, so a stopped queue stays stopped when the new rate is 1.
    /// - A rate that is not positive stops the queue.
    /// - Otherwise the new limiter has a token if the old one had.
    pub fn swap_limiter(&mut self, now: Timestamp, qps: f32) {
        if self.limiter.qps() == qps {
            return;
        }
        let mut limiter = limiter_of(qps);
        if !limiter.is_never() && !self.limiter.try_accept(now) {
            limiter.try_accept(now);
        }
        self.limiter = limiter;
    }

    /// The first moment, from `now` on, at which a try could take a token; `None` if nothing waits
    /// or the limiter allows nothing. Tries before it change nothing.
    #[must_use]
    pub fn poll_timeout(&self, now: Timestamp) -> Option<Timestamp> {
        if self.queue.is_empty() { None } else { self.limiter.next_accept(now) }
    }

    /// The limiter.
    #[must_use]
    pub const fn limiter(&self) -> &RateLimiter {
        &self.limiter
    }

    /// What is waiting, in the order of the heap; the first is the head.
    #[must_use]
    pub fn queue(&self) -> &[TimedValue<K>] {
        &self.queue
    }

    /// What was seen, in order.
    #[must_use]
    pub const fn set(&self) -> &BTreeSet<K> {
        &self.set
    }

    /// Mirrors `heap.Push`.
    fn push(&mut self, entry: TimedValue<K>) {
        self.queue.push(entry);
        self.up(self.queue.len().saturating_sub(1));
    }

    /// Removes the first entry with that value, in the order of the heap; false if there is none.
    /// Mirrors `heap.Remove`.
    fn take(&mut self, value: &K) -> bool {
        let Some(index) = self.queue.iter().position(|entry| entry.value == *value) else {
            return false;
        };
        self.queue.swap_remove(index);
        if index < self.queue.len() && !self.down(index) {
            self.up(index);
        }
        true
    }

    /// Whether the first entry is due before the second.
    fn less(&self, first: usize, second: usize) -> bool {
        match (self.queue.get(first), self.queue.get(second)) {
            (Some(first), Some(second)) => {
                (first.process_at, first.turn) < (second.process_at, second.turn)
            }
            _ => false,
        }
    }

    /// Mirrors `heap.up`.
    fn up(&mut self, mut index: usize) {
        while index > 0 {
            let parent = (index - 1) / 2;
            if !self.less(index, parent) {
                break;
            }
            self.queue.swap(parent, index);
            index = parent;
        }
    }

    /// Mirrors `heap.down`.
    fn down(&mut self, start: usize) -> bool {
        let mut index = start;
        loop {
            let left = 2 * index + 1;
            let right = left + 1;
            let child = if self.less(right, left) { right } else { left };
            if !self.less(child, index) {
                break;
            }
            self.queue.swap(index, child);
            index = child;
        }
        index > start
    }
}

fn limiter_of(qps: f32) -> RateLimiter {
    if qps > 0.0 {
        RateLimiter::TokenBucket(TokenBucketRateLimiter::new(qps, EVICTION_RATE_LIMITER_BURST))
    } else {
        RateLimiter::Never
    }
}

#[cfg(test)]
mod tests;
