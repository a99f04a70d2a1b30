//! The work queue: items that wait for a time, and items to be looked at now.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use taintlab_rules::order::{OrderedMap, OrderedSet};
use taintlab_rules::queue::flowcontrol::TokenBucketRateLimiter;
use taintlab_rules::queue::timer_queue::TimerId;
use taintlab_rules::time::Timestamp;

use super::PodInstance;
use crate::controllers::Context;

/// The delay after the first failure, which doubles with each. Mirrors
/// `DefaultTypedControllerRateLimiter`, as do the others.
const BASE_DELAY: Duration = Duration::from_millis(5);
const LONGEST_DELAY: Duration = Duration::from_secs(1_000);
const RETRIES_PER_SECOND: f32 = 10.0;
const BURST: i32 = 100;

/// A piece of work.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Item {
    /// A pod may have to be deleted.
    Pod(PodInstance),
    /// The status of a rule, by name and UID, may have to be written.
    Rule(String, String),
}

/// An item that waits: until when, and its number among the timers of that moment.
#[derive(Clone, Debug)]
struct Waiting {
    timer: TimerId,
    item: Item,
}

/// A rate limiting, delaying work queue. Mirrors `workqueue.TypedRateLimitingInterface`.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    /// Items that wait, each once, in Go's `container/heap` by their time: its order among items of
    /// one moment is not that in which they came.
    heap: Vec<Waiting>,
    /// The place of each in the heap.
    places: OrderedMap<Item, usize>,
    /// Items to be looked at, each once, with their numbers in the order of all work.
    ready: VecDeque<(u64, Item)>,
    is_ready: OrderedSet<Item>,
    failures: OrderedMap<Item, u32>,
    limiter: TokenBucketRateLimiter,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            heap: Vec::new(),
            places: OrderedMap::new(),
            ready: VecDeque::new(),
            is_ready: OrderedSet::new(),
            failures: OrderedMap::new(),
            limiter: TokenBucketRateLimiter::new(RETRIES_PER_SECOND, BURST),
        }
    }
}

impl Queue {
    /// An item is to be looked at now.
    pub(super) fn add(&mut self, context: &mut Context<'_>, item: Item) {
        if self.is_ready.insert(item.clone()) {
            self.ready.push_back((context.sequence.take(), item));
        }
    }

    /// An item is to be looked at then. Of two times the earlier one holds.
    pub(super) fn add_after(&mut self, context: &mut Context<'_>, item: Item, at: Timestamp) {
        let timer = (at, context.sequence.take());
        match self.places.get(&item).copied() {
            None => {
                let place = self.heap.len();
                self.places.insert(item.clone(), place);
                self.heap.push(Waiting { timer, item });
                self.rise(place);
            }
            Some(place) => {
                if let Some(known) = self.heap.get_mut(place).filter(|it| at < it.timer.0) {
                    known.timer = timer;
                    self.rise(place);
                }
            }
        }
    }

    fn is_before(&self, one: usize, other: usize) -> bool {
        let at = |place: usize| self.heap.get(place).map(|waiting| waiting.timer.0);
        at(one).zip(at(other)).is_some_and(|(one, other)| one < other)
    }

    fn swap(&mut self, one: usize, other: usize) {
        self.heap.swap(one, other);
        for place in [one, other] {
            if let Some(moved) = self.heap.get(place).map(|waiting| &waiting.item)
                && let Some(known) = self.places.get_mut(moved)
            {
                *known = place;
            }
        }
    }

    /// Mirrors `heap.up`.
    fn rise(&mut self, mut place: usize) {
        while let Some(above) = place.checked_sub(1).map(|below| below / 2)
            && self.is_before(place, above)
        {
            self.swap(place, above);
            place = above;
        }
    }

    /// Takes the item that waits for the earliest time. Mirrors `heap.Pop` with `heap.down`.
    fn pop(&mut self) -> Option<Item> {
        let last = self.heap.len().checked_sub(1)?;
        self.swap(0, last);
        let taken = self.heap.pop()?;
        self.places.remove(&taken.item);
        let mut place = 0;
        loop {
            let (left, right) = (2 * place + 1, 2 * place + 2);
            let below = if self.is_before(right, left) { right } else { left };
            if !self.is_before(below, place) {
                return Some(taken.item);
            }
            self.swap(place, below);
            place = below;
        }
    }

    /// An attempt has failed: the item is tried again later.
    pub(super) fn add_rate_limited(&mut self, context: &mut Context<'_>, item: Item) {
        let failures = self.failures.entry(item.clone()).or_default();
        let factor = 1_u32.checked_shl(*failures).unwrap_or(u32::MAX);
        *failures += 1;
        let delay = BASE_DELAY.saturating_mul(factor).min(LONGEST_DELAY);
        let token = self.limiter.reserve(context.now);
        self.add_after(context, item, token.max(context.now.saturating_add(delay)));
    }

    /// An item is done, and its failures are forgotten.
    pub(super) fn forget(&mut self, item: &Item) {
        self.failures.remove(item);
    }

    /// The item to be looked at now. If the time of one that waits has come, that is queued, and
    /// there is none.
    pub(super) fn next(&mut self, context: &mut Context<'_>) -> Option<Item> {
        if self.next_timer().is_some_and(|(at, _)| at <= context.now) {
            let item = self.pop()?;
            self.add(context, item);
            return None;
        }
        let (_, item) = self.ready.pop_front()?;
        self.is_ready.remove(&item);
        Some(item)
    }

    /// The number of the first item to be looked at now.
    pub(super) fn first(&self) -> Option<u64> {
        self.ready.front().map(|(number, _)| *number)
    }

    pub(super) fn next_timer(&self) -> Option<TimerId> {
        self.heap.first().map(|waiting| waiting.timer)
    }

    /// The item that the next timer is for.
    pub(super) fn next_timed(&self) -> Option<&Item> {
        self.heap.first().map(|waiting| &waiting.item)
    }
}
