//! Work that waits for a rate limiter, with at most one entry per value.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use crate::order::OrderedSet;
use crate::queue::flowcontrol::{RateLimiter, TokenBucketRateLimiter};
use crate::time::Timestamp;

/// Size of the token bucket: the work that may start without waiting. Mirrors
/// `scheduler.EvictionRateLimiterBurst`.
pub const EVICTION_RATE_LIMITER_BURST: i32 = 1;

/// Delay before failed work is tried again, as `doNoExecuteTaintingPass` and `doEvictionPass`
/// request it.
pub const RETRY_AFTER: Duration = Duration::from_millis(50);

/// A piece of work in the queue. Mirrors `scheduler.TimedValue`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedValue<K> {
    /// Subject of the work, for example the name of a node.
    pub value: K,
    /// UID of that object.
    pub uid: String,
    /// Time at which it was added.
    pub added_at: Timestamp,
    /// Earliest time for processing; the queue is in this order.
    pub process_at: Timestamp,
    /// Order among entries with the same `process_at`; see [`RateLimitedTimedQueue::add_in_turn`].
    pub turn: u64,
}

/// A queue that processes its head when a rate limiter allows. Mirrors
/// `scheduler.RateLimitedTimedQueue`.
///
/// An added value is *seen*: it cannot be added again until it is removed, even after it was
/// processed. Ties in time follow Go's `container/heap`, which does not keep the order of
/// insertion, unless values are added in turn.
#[derive(Clone, Debug)]
pub struct RateLimitedTimedQueue<K> {
    queue: Vec<TimedValue<K>>,
    set: OrderedSet<K>,
    limiter: RateLimiter,
    turns: u64,
}

impl<K: Clone + Ord> RateLimitedTimedQueue<K> {
    /// An empty queue with this limiter.
    #[must_use]
    pub const fn new(limiter: RateLimiter) -> Self {
        Self { queue: Vec::new(), set: OrderedSet::new(), limiter, turns: 0 }
    }

    /// An empty queue whose limiter starts with a token and receives `qps` a second; it allows
    /// nothing if `qps` is not positive.
    #[must_use]
    pub fn with_qps(qps: f32) -> Self {
        Self::new(limiter_of(qps))
    }

    /// Adds a value unless it was seen; returns false if it was. Mirrors `Add`.
    pub fn add(&mut self, now: Timestamp, value: K, uid: impl Into<String>) -> bool {
        self.insert(now, value, uid.into(), 0)
    }

    /// Adds a value as [`add`](Self::add) does, behind the values added in turn at the same moment.
    /// A real clock advances between two values; a simulated one does not.
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

    /// Removes a value and forgets that it was seen. Returns true if it was seen, even if it is no
    /// longer waiting. Mirrors `Remove`.
    pub fn remove(&mut self, value: &K) -> bool {
        let seen = self.set.remove(value);
        if seen {
            self.take(value);
        }
        seen
    }

    /// Forgets that a value was seen, but leaves it waiting, as 1.19 and 1.20 did by mistake.
    /// Mirrors `SetRemove`.
    pub fn set_remove(&mut self, value: &K) {
        self.set.remove(value);
    }

    /// Remembers a value as processed before, so that it is not added again.
    pub fn set_insert(&mut self, value: K) {
        self.set.insert(value);
    }

    /// Removes and forgets all values. Mirrors `Clear`.
    pub fn clear(&mut self) {
        self.queue.clear();
        self.set.clear();
    }

    /// Processes values as long as the limiter has tokens and the head is due. Mirrors `Try`.
    ///
    /// `action` returns `Err` with a delay to be tried again after it and a nanosecond.
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

    /// One step of [`try_each`](Self::try_each), for callers that learn the result later: takes a
    /// token and returns the head, if it is due.
    ///
    /// The head stays until the caller reports [`done`](Self::done) or [`retry`](Self::retry). As
    /// upstream, the token is used even if the head is not due yet.
    pub fn try_next(&mut self, now: Timestamp) -> Option<TimedValue<K>> {
        if self.queue.is_empty() || !self.limiter.try_accept(now) {
            return None;
        }
        self.queue.first().filter(|head| head.process_at <= now).cloned()
    }

    /// Ends processing with success: the value leaves the queue, but stays seen. Mirrors
    /// `UniqueQueue.RemoveFromQueue`.
    pub fn done(&mut self, value: &K) {
        if self.set.contains(value) {
            self.take(value);
        }
    }

    /// Ends processing with a failure: the value waits for `wait` and a nanosecond from `now`.
    /// Mirrors `UniqueQueue.Replace`.
    pub fn retry(&mut self, now: Timestamp, mut entry: TimedValue<K>, wait: Duration) {
        entry.process_at = now.saturating_add(wait.saturating_add(Duration::from_nanos(1)));
        if self.take(&entry.value) {
            self.push(entry);
        }
    }

    /// Changes the rate. Mirrors `SwapLimiter`, which keeps the tokens of neither limiter:
    ///
    /// - A rate equal to the current one changes nothing. A stopped limiter reports a rate of 1, so
    ///   that a stopped queue stays stopped when the new rate is 1.
    /// - A rate that is not positive stops the queue.
    /// - Otherwise the new limiter has a token if the old one had one.
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

    /// First moment, from `now` on, at which a try could take a token; `None` if nothing waits or
    /// the limiter allows nothing. Earlier tries change nothing.
    #[must_use]
    pub fn poll_timeout(&self, now: Timestamp) -> Option<Timestamp> {
        if self.queue.is_empty() { None } else { self.limiter.next_accept(now) }
    }

    /// The limiter.
    #[must_use]
    pub const fn limiter(&self) -> &RateLimiter {
        &self.limiter
    }

    /// Waiting entries, in the order of the heap, the head first.
    #[must_use]
    pub fn queue(&self) -> &[TimedValue<K>] {
        &self.queue
    }

    /// Seen values, in order.
    #[must_use]
    pub const fn set(&self) -> &OrderedSet<K> {
        &self.set
    }

    /// Mirrors `heap.Push`.
    fn push(&mut self, entry: TimedValue<K>) {
        self.queue.push(entry);
        self.up(self.queue.len().saturating_sub(1));
    }

    /// Removes the first entry of this value, in the order of the heap; false if there is none.
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
