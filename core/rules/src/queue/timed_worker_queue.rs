//! Work that starts at a given time, at most one piece per key.

use core::hash::{BuildHasher, Hash};
use core::time::Duration;

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use slab::Slab;

use crate::order::{OrderedMap, OrderedSet};
use crate::time::Timestamp;

/// A piece of work with its times. Mirrors `tainteviction.TimedWorker`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedWorker {
    /// Time of the decision; later decisions never move the work.
    pub created_at: Timestamp,
    /// Start of the work.
    pub fire_at: Timestamp,
}

/// Result of [`TimedWorkerQueue::add_work`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddWork {
    /// The key has work already (or a `nil` entry): nothing changed.
    AlreadyExists,
    /// A timer was started.
    Armed,
    /// No delay: the caller starts the work now.
    StartNow,
}

/// Timers by key. Mirrors `tainteviction.TimedWorkerQueue`.
///
/// An entry is a [`TimedWorker`] or `nil`. A `nil` entry means that work without a delay is
/// running, or, in releases that keep tombstones, that work was done; both refuse new work.
///
/// As upstream, the end of a piece of work overwrites the entry of its key, even one added
/// meanwhile: a timer that loses its entry this way can no longer be cancelled, and fires.
///
/// Keys are copied, so they should be cheap to copy. Work that starts at the same moment, as for
/// the pods of a node, is kept together: the time of every operation grows only with the logarithm
/// of the number of different moments.
#[derive(Clone, Debug)]
pub struct TimedWorkerQueue<K> {
    slots: Slab<Slot<K>>,
    /// Slots by key. Never iterated, so that its order has no effect.
    by_key: HashTable<usize>,
    /// Slots by the time of their timers.
    timers: OrderedMap<Timestamp, Chain>,
    sequence: u64,
    hasher: FixedState,
}

#[derive(Clone, Debug)]
struct Slot<K> {
    key: K,
    hash: u64,
    worker: Option<TimedWorker>,
    timer: Option<Timer>,
    /// Whether the key leads here; a timer that lost its entry keeps its slot until it fires.
    indexed: bool,
}

/// A running timer, and its neighbours among those of the same moment.
#[derive(Clone, Copy, Debug)]
struct Timer {
    at: Timestamp,
    sequence: u64,
    before: Option<usize>,
    after: Option<usize>,
}

/// Timers of one moment, linked through their slots in the order of creation.
#[derive(Clone, Copy, Debug)]
struct Chain {
    first: usize,
    last: usize,
}

impl<K> Default for TimedWorkerQueue<K> {
    fn default() -> Self {
        Self {
            slots: Slab::new(),
            by_key: HashTable::new(),
            timers: OrderedMap::new(),
            sequence: 0,
            hasher: FixedState::with_seed(0),
        }
    }
}

impl<K: Clone + Eq + Hash + Ord> TimedWorkerQueue<K> {
    /// Adds work decided at `created_at` that starts at `fire_at`.
    ///
    /// The delay `fire_at - created_at` counts from `now`. Mirrors `TimedWorkerQueue.AddWork`.
    pub fn add_work(
        &mut self,
        now: Timestamp,
        key: K,
        created_at: Timestamp,
        fire_at: Timestamp,
    ) -> AddWork {
        if fire_at > created_at {
            return self.arm(now, key, created_at, fire_at);
        }
        match self.insert(key, None) {
            Some(_) => AddWork::StartNow,
            None => AddWork::AlreadyExists,
        }
    }

    /// As [`add_work`](Self::add_work), but with a timer even for no delay, as in releases whose
    /// two reads of the clock are some nanoseconds apart.
    pub fn arm(
        &mut self,
        now: Timestamp,
        key: K,
        created_at: Timestamp,
        fire_at: Timestamp,
    ) -> AddWork {
        let Some(slot) = self.insert(key, Some(TimedWorker { created_at, fire_at })) else {
            return AddWork::AlreadyExists;
        };
        let delay: Duration = fire_at - created_at;
        self.start_timer(slot, now.saturating_add(delay));
        AddWork::Armed
    }

    /// Replaces the work of a key if its `fire_at` differs; otherwise nothing changes. Mirrors
    /// `TimedWorkerQueue.UpdateWork` of the newest source.
    pub fn update_work(
        &mut self,
        now: Timestamp,
        key: K,
        created_at: Timestamp,
        fire_at: Timestamp,
    ) -> AddWork {
        if self.is_nil(&key) || self.get_worker(&key).is_some_and(|w| w.fire_at == fire_at) {
            return AddWork::AlreadyExists;
        }
        self.cancel_work(&key);
        self.add_work(now, key, created_at, fire_at)
    }

    /// Removes the entry of a key and stops its timer. Returns true if the entry was a
    /// [`TimedWorker`], whose work may have started; false if it was `nil` or absent.
    ///
    /// Started work continues. Mirrors `TimedWorkerQueue.CancelWork`.
    pub fn cancel_work(&mut self, key: &K) -> bool {
        let Some(slot) = self.unindex(key) else { return false };
        self.stop_timer(slot);
        self.slots.try_remove(slot).is_some_and(|slot| slot.worker.is_some())
    }

    /// Work of a key; `None` if there is none or the entry is `nil`.
    #[must_use]
    pub fn get_worker(&self, key: &K) -> Option<&TimedWorker> {
        self.find(key)?.worker.as_ref()
    }

    /// Whether the entry of a key is `nil`.
    #[must_use]
    pub fn is_nil(&self, key: &K) -> bool {
        self.find(key).is_some_and(|slot| slot.worker.is_none())
    }

    /// Time of the next timer, and its number in the order of creation.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<(Timestamp, u64)> {
        let slot = self.next_slot()?;
        slot.timer.map(|timer| (timer.at, timer.sequence))
    }

    /// Key of the next timer.
    #[must_use]
    pub fn next_key(&self) -> Option<&K> {
        self.next_slot().map(|slot| &slot.key)
    }

    /// Takes the next key whose timer is due by `now`, in the order of time, then of creation. The
    /// caller does the work and reports it with [`finish`](Self::finish).
    pub fn pop_due(&mut self, now: Timestamp) -> Option<K> {
        let (at, chain) = self.timers.first_key_value()?;
        if *at > now {
            return None;
        }
        let index = chain.first;
        self.stop_timer(index);
        let slot = self.slots.get(index)?;
        let key = slot.key.clone();
        if !slot.indexed {
            self.slots.try_remove(index);
        }
        Some(key)
    }

    /// Ends the work of a key: its entry becomes `nil` or is removed.
    ///
    /// Mirrors `TimedWorkerQueue.getWrappedWorkerFunc`.
    pub fn finish(&mut self, key: K, leave_nil: bool) {
        if let Some(index) = self.unindex(&key)
            && let Some(slot) = self.slots.get_mut(index)
        {
            slot.indexed = false;
            if slot.timer.is_none() {
                self.slots.try_remove(index);
            }
        }
        if leave_nil {
            self.insert(key, None);
        }
    }

    /// Work by key, in the order of keys, without `nil` entries.
    #[must_use]
    pub fn pending(&self) -> OrderedMap<&K, TimedWorker> {
        self.entries().filter_map(|slot| Some((&slot.key, slot.worker?))).collect()
    }

    /// Keys with a `nil` entry, in order.
    #[must_use]
    pub fn nil_keys(&self) -> OrderedSet<&K> {
        self.entries().filter(|slot| slot.worker.is_none()).map(|slot| &slot.key).collect()
    }

    /// Number of keys with an entry.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_key.len()
    }

    /// Whether no key has an entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }

    /// Number of the next timer.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Raises the number of the next timer to at least `sequence`, so that timers of several queues
    /// have a common order of creation.
    pub fn align_sequence(&mut self, sequence: u64) {
        self.sequence = self.sequence.max(sequence);
    }

    fn entries(&self) -> impl Iterator<Item = &Slot<K>> {
        self.slots.iter().map(|(_, slot)| slot).filter(|slot| slot.indexed)
    }

    fn find(&self, key: &K) -> Option<&Slot<K>> {
        let same = |index: &usize| self.slots.get(*index).is_some_and(|slot| slot.key == *key);
        let index = self.by_key.find(self.hasher.hash_one(key), same)?;
        self.slots.get(*index)
    }

    fn next_slot(&self) -> Option<&Slot<K>> {
        let (_, chain) = self.timers.first_key_value()?;
        self.slots.get(chain.first)
    }

    /// Adds a slot for a key; `None` if the key has one.
    fn insert(&mut self, key: K, worker: Option<TimedWorker>) -> Option<usize> {
        let slots = &self.slots;
        let hash = self.hasher.hash_one(&key);
        let same = |index: &usize| slots.get(*index).is_some_and(|slot| slot.key == key);
        let rehash = |index: &usize| slots.get(*index).map_or(0, |slot| slot.hash);
        match self.by_key.entry(hash, same, rehash) {
            Entry::Occupied(_) => None,
            Entry::Vacant(entry) => {
                entry.insert(slots.vacant_key());
                let slot = Slot { key, hash, worker, timer: None, indexed: true };
                Some(self.slots.insert(slot))
            }
        }
    }

    fn unindex(&mut self, key: &K) -> Option<usize> {
        let slots = &self.slots;
        let same = |index: &usize| slots.get(*index).is_some_and(|slot| slot.key == *key);
        let entry = self.by_key.find_entry(self.hasher.hash_one(key), same).ok()?;
        Some(entry.remove().0)
    }

    fn start_timer(&mut self, index: usize, at: Timestamp) {
        let alone = Chain { first: index, last: index };
        let chain = self.timers.entry(at).or_insert(alone);
        let before = (chain.last != index).then_some(chain.last);
        chain.last = index;
        let sequence = self.sequence;
        self.sequence += 1;
        if let Some(slot) = self.slots.get_mut(index) {
            slot.timer = Some(Timer { at, sequence, before, after: None });
        }
        self.link(before, |timer| timer.after = Some(index));
    }

    fn stop_timer(&mut self, index: usize) {
        let Some(timer) = self.slots.get_mut(index).and_then(|slot| slot.timer.take()) else {
            return;
        };
        self.link(timer.before, |before| before.after = timer.after);
        self.link(timer.after, |after| after.before = timer.before);
        match (timer.before, timer.after) {
            (None, None) => {
                self.timers.remove(&timer.at);
            }
            (Some(last), None) => self.rechain(timer.at, |chain| chain.last = last),
            (None, Some(first)) => self.rechain(timer.at, |chain| chain.first = first),
            (Some(_), Some(_)) => {}
        }
    }

    fn link(&mut self, index: Option<usize>, change: impl FnOnce(&mut Timer)) {
        let slot = index.and_then(|index| self.slots.get_mut(index));
        if let Some(timer) = slot.and_then(|slot| slot.timer.as_mut()) {
            change(timer);
        }
    }

    fn rechain(&mut self, at: Timestamp, change: impl FnOnce(&mut Chain)) {
        if let Some(chain) = self.timers.get_mut(&at) {
            change(chain);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Timestamp {
        Timestamp::from_secs(seconds)
    }

    // Upstream: TestExecute, TestExecuteDelayed.
    #[test]
    fn work_starts_immediately_or_at_its_time() {
        let mut queue = TimedWorkerQueue::default();
        assert_eq!(queue.add_work(s(0), "1", s(0), s(0)), AddWork::StartNow);
        assert_eq!(queue.add_work(s(0), "2", s(0), s(10)), AddWork::Armed);
        assert_eq!(queue.add_work(s(0), "3", s(0), s(5)), AddWork::Armed);
        // The key already has work.
        assert_eq!(queue.add_work(s(1), "1", s(1), s(1)), AddWork::AlreadyExists);
        assert_eq!(queue.add_work(s(1), "2", s(1), s(2)), AddWork::AlreadyExists);
        assert_eq!(queue.pop_due(s(4)), None);
        assert_eq!(queue.pop_due(s(11)), Some("3"));
        assert_eq!(queue.pop_due(s(11)), Some("2"));
        assert_eq!(queue.pop_due(s(11)), None);
    }

    // Upstream: TestCancel, TestCancelAndReadd.
    #[test]
    fn cancelled_work_never_starts_and_can_be_added_again() {
        let mut queue = TimedWorkerQueue::default();
        queue.add_work(s(0), "1", s(0), s(10));
        queue.add_work(s(0), "2", s(0), s(10));
        assert!(queue.cancel_work(&"1"));
        assert!(!queue.cancel_work(&"1"));
        assert!(!queue.cancel_work(&"5"));
        assert_eq!(queue.add_work(s(5), "1", s(5), s(15)), AddWork::Armed);
        assert_eq!(queue.poll_timeout().map(|timer| timer.0), Some(s(10)));
        assert_eq!(queue.pop_due(s(12)), Some("2"));
        assert_eq!(queue.pop_due(s(12)), None);
        assert_eq!(queue.pop_due(s(15)), Some("1"));
    }

    #[test]
    fn the_delay_counts_from_the_call() {
        let mut queue = TimedWorkerQueue::default();
        queue.add_work(s(7), "1", s(0), s(10));
        assert_eq!(queue.get_worker(&"1").unwrap().fire_at, s(10));
        assert_eq!(queue.poll_timeout().unwrap().0, s(17));
    }

    #[test]
    fn a_timer_that_lost_its_entry_still_fires() {
        let mut queue = TimedWorkerQueue::default();
        queue.add_work(s(0), "1", s(0), s(1));
        assert_eq!(queue.pop_due(s(1)), Some("1"));
        // Cancelled while the work runs, then added again, then the first work ends.
        assert!(queue.cancel_work(&"1"));
        queue.add_work(s(1), "1", s(1), s(3));
        queue.finish("1", true);
        assert!(queue.is_nil(&"1"));
        assert!(!queue.cancel_work(&"1"));
        assert_eq!(queue.pop_due(s(3)), Some("1"));
    }

    // Upstream: TestTimedWorkerQueue_Update.
    #[test]
    fn an_update_replaces_work_unless_its_time_is_the_same() {
        let mut queue = TimedWorkerQueue::default();
        assert_eq!(queue.update_work(s(0), "1", s(0), s(10)), AddWork::Armed);
        assert_eq!(queue.update_work(s(1), "1", s(1), s(10)), AddWork::AlreadyExists);
        assert_eq!(queue.get_worker(&"1").unwrap().created_at, s(0));
        assert_eq!(queue.update_work(s(1), "1", s(1), s(5)), AddWork::Armed);
        assert_eq!(queue.pop_due(s(20)), Some("1"));
        assert_eq!(queue.pop_due(s(20)), None);
    }
}
