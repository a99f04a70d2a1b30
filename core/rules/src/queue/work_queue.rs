//! A queue that holds every item once.

use alloc::collections::VecDeque;
use core::hash::Hash;

use foldhash::fast::FixedState;
use hashbrown::HashSet;

use super::timer_queue::Sequence;

/// A first-in, first-out queue that ignores items already waiting. Mirrors `workqueue.Interface`,
/// for one worker.
#[derive(Clone, Debug)]
pub struct WorkQueue<T> {
    order: VecDeque<T>,
    /// Never iterated, so that its order has no effect.
    waiting: HashSet<T, FixedState>,
}

impl<T> Default for WorkQueue<T> {
    fn default() -> Self {
        Self { order: VecDeque::new(), waiting: HashSet::with_hasher(FixedState::with_seed(0)) }
    }
}

impl<T: Clone + Eq + Hash> WorkQueue<T> {
    /// Adds an item, unless it waits already.
    pub fn push(&mut self, item: T) {
        if self.waiting.insert(item.clone()) {
            self.order.push_back(item);
        }
    }

    /// Removes the item that has waited longest.
    pub fn pop(&mut self) -> Option<T> {
        let item = self.order.pop_front()?;
        self.waiting.remove(&item);
        Some(item)
    }

    /// Whether no item waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

/// A [`WorkQueue`] that numbers its items in the order of arrival, so that the items of several
/// queues have a common order.
#[derive(Clone, Debug)]
pub struct NumberedWorkQueue<T> {
    order: VecDeque<(u64, T)>,
    /// Never iterated, so that its order has no effect.
    waiting: HashSet<T, FixedState>,
}

impl<T> Default for NumberedWorkQueue<T> {
    fn default() -> Self {
        Self { order: VecDeque::new(), waiting: HashSet::with_hasher(FixedState::with_seed(0)) }
    }
}

impl<T: Clone + Eq + Hash> NumberedWorkQueue<T> {
    /// Adds an item with the next number of `sequence`, unless it waits already.
    pub fn push(&mut self, sequence: &mut Sequence, item: T) {
        if self.waiting.insert(item.clone()) {
            self.order.push_back((sequence.take(), item));
        }
    }

    /// Removes the item that has waited longest.
    pub fn pop(&mut self) -> Option<T> {
        let (_, item) = self.order.pop_front()?;
        self.waiting.remove(&item);
        Some(item)
    }

    /// Number of the item that waits longest.
    #[must_use]
    pub fn first(&self) -> Option<u64> {
        self.order.front().map(|(number, _)| *number)
    }
}
