//! Work that starts at a given time, at most one piece per key.

use alloc::collections::BTreeMap;
use core::hash::Hash;
use core::time::Duration;

use foldhash::fast::FixedState;
use indexmap::IndexMap;

use crate::time::Timestamp;

/// A piece of work and its times. Mirrors `tainteviction.TimedWorker`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedWorker {
    /// When it was decided; a later decision never moves the work.
    pub created_at: Timestamp,
    /// When it is to start.
    pub fire_at: Timestamp,
    /// Under which number its timer waits.
    timer: (Timestamp, u64),
}

/// What [`TimedWorkerQueue::add_work`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddWork {
    /// The key has work already (or a `nil` entry): nothing changed.
    AlreadyExists,
    /// A timer runs.
    Armed,
    /// There is nothing to wait for: the caller starts the work now.
    StartNow,
}

/// Timers by key. Mirrors `tainteviction.TimedWorkerQueue`.
///
/// An entry is a [`TimedWorker`] or `nil`. A `nil` entry means that work without a delay is
/// running, or, in releases that keep tombstones, that work was done; both refuse new work.
///
/// As upstream, the end of a piece of work overwrites the entry of its key whatever has come there
/// meanwhile: a timer that has lost its entry this way can no longer be cancelled and will fire.
///
/// Keys are copied, so they should be cheap to copy.
#[derive(Clone, Debug)]
pub struct TimedWorkerQueue<K> {
    workers: IndexMap<K, Option<TimedWorker>, FixedState>,
    timers: BTreeMap<(Timestamp, u64), K>,
    sequence: u64,
}

impl<K> Default for TimedWorkerQueue<K> {
    fn default() -> Self {
        Self {
            workers: IndexMap::with_hasher(FixedState::with_seed(0)),
            timers: BTreeMap::new(),
            sequence: 0,
        }
    }
}

impl<K: Clone + Eq + Hash + Ord> TimedWorkerQueue<K> {
    /// Adds work that was decided at `created_at` and is to start at `fire_at`.
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
        match self.workers.entry(key) {
            indexmap::map::Entry::Occupied(_) => AddWork::AlreadyExists,
            indexmap::map::Entry::Vacant(entry) => {
                entry.insert(None);
                AddWork::StartNow
            }
        }
    }

    /// The same, but with a timer even when there is nothing to wait for, as releases do whose two
    /// reads of the clock are some nanoseconds apart.
    pub fn arm(
        &mut self,
        now: Timestamp,
        key: K,
        created_at: Timestamp,
        fire_at: Timestamp,
    ) -> AddWork {
        match self.workers.entry(key) {
            indexmap::map::Entry::Occupied(_) => AddWork::AlreadyExists,
            indexmap::map::Entry::Vacant(entry) => {
                let delay: Duration = fire_at - created_at;
                let timer = (now.saturating_add(delay), self.sequence);
                self.sequence += 1;
                self.timers.insert(timer, entry.key().clone());
                entry.insert(Some(TimedWorker { created_at, fire_at, timer }));
                AddWork::Armed
            }
        }
    }

    /// Replaces the work of a key by one with another `fire_at`; the same `fire_at` changes
    /// nothing. Mirrors `TimedWorkerQueue.UpdateWork` of the newest source.
    pub fn update_work(
        &mut self,
        now: Timestamp,
        key: K,
        created_at: Timestamp,
        fire_at: Timestamp,
    ) -> AddWork {
        match self.workers.get(&key) {
            Some(Some(worker)) if worker.fire_at == fire_at => return AddWork::AlreadyExists,
            Some(None) => return AddWork::AlreadyExists,
            Some(Some(_)) => {
                self.cancel_work(&key);
            }
            None => {}
        }
        self.add_work(now, key, created_at, fire_at)
    }

    /// Forgets a key and stops its timer. True if there was a timer, or work that a timer has
    /// started; a `nil` entry is forgotten too but gives false.
    ///
    /// Work that has started goes on. Mirrors `TimedWorkerQueue.CancelWork`.
    pub fn cancel_work(&mut self, key: &K) -> bool {
        match self.workers.swap_remove(key).flatten() {
            None => false,
            Some(worker) => {
                self.timers.remove(&worker.timer);
                true
            }
        }
    }

    /// The work of a key, unless there is none or the entry is `nil`.
    #[must_use]
    pub fn get_worker(&self, key: &K) -> Option<&TimedWorker> {
        self.workers.get(key)?.as_ref()
    }

    /// Whether the entry of a key is `nil`.
    #[must_use]
    pub fn is_nil(&self, key: &K) -> bool {
        matches!(self.workers.get(key), Some(None))
    }

    /// When the next timer fires, and its number among timers of that moment.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<(Timestamp, u64)> {
        self.timers.first_key_value().map(|(timer, _)| *timer)
    }

    /// The key whose timer fires next.
    #[must_use]
    pub fn next_key(&self) -> Option<&K> {
        self.timers.first_key_value().map(|(_, key)| key)
    }

    /// Takes the next key whose timer has fired by `now`, in the order of time, then of creation.
    /// The caller does the work and says so with [`finish`](Self::finish).
    pub fn pop_due(&mut self, now: Timestamp) -> Option<K> {
        let entry = self.timers.first_entry()?;
        (entry.key().0 <= now).then(|| entry.remove())
    }

    /// The work of a key has ended: from now on the entry is `nil`, or there is none.
    ///
    /// Mirrors `TimedWorkerQueue.getWrappedWorkerFunc`.
    pub fn finish(&mut self, key: K, leave_nil: bool) {
        if leave_nil {
            self.workers.insert(key, None);
        } else {
            self.workers.swap_remove(&key);
        }
    }

    /// The work of all keys, in the order of keys. Entries that are `nil` are left out.
    #[must_use]
    pub fn pending(&self) -> BTreeMap<&K, TimedWorker> {
        self.workers.iter().filter_map(|(key, worker)| Some((key, (*worker)?))).collect()
    }

    /// The keys whose entry is `nil`, in their order.
    #[must_use]
    pub fn nil_keys(&self) -> alloc::collections::BTreeSet<&K> {
        self.workers.iter().filter(|(_, worker)| worker.is_none()).map(|(key, _)| key).collect()
    }

    /// How many keys have an entry.
    #[must_use]
    pub fn len(&self) -> usize {
        self.workers.len()
    }

    /// Whether no key has an entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.workers.is_empty()
    }

    /// The number that the next timer gets.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Makes the number of the next timer at least `sequence`, so that timers of several queues
    /// can be put in one order of creation.
    pub fn align_sequence(&mut self, sequence: u64) {
        self.sequence = self.sequence.max(sequence);
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
    fn work_starts_at_once_or_when_its_time_has_come() {
        let mut queue = TimedWorkerQueue::default();
        assert_eq!(queue.add_work(s(0), "1", s(0), s(0)), AddWork::StartNow);
        assert_eq!(queue.add_work(s(0), "2", s(0), s(10)), AddWork::Armed);
        assert_eq!(queue.add_work(s(0), "3", s(0), s(5)), AddWork::Armed);
        // Trying to add already existing work.
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
