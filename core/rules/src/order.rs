//! Sorting and ordered maps with little compiled code.
//!
//! The standard library compiles its sort for each type and each comparison, about four kilobytes
//! of WebAssembly each time, and a tree of some four kilobytes for each type of map. Here the sort is
//! compiled once, over indexes and a comparison behind a reference, with the result of the standard
//! library's stable sort; [`OrderedMap`] and [`OrderedSet`] are sorted slices, and [`tree`] makes a tree
//! without a sort.

mod map;
mod set;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cmp::Ordering;

pub use self::map::{Entry, OrderedMap};
pub use self::set::OrderedSet;

/// A tree of these entries, put in one by one; of equal keys the last one counts. To collect them
/// would sort them first.
pub fn tree<K: Ord, V>(entries: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut tree = BTreeMap::new();
    tree.extend(entries);
    tree
}

/// Stable sorting of slices.
pub trait Order<T> {
    /// Sorts by a comparison.
    fn order_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);

    /// Sorts by a key, which is computed for each comparison.
    fn order_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.order_by(|one, other| key(one).cmp(&key(other)));
    }

    /// Sorts by a key, which is computed once for each item.
    fn order_by_cached_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K);

    /// Sorts by the natural order of the items.
    fn order(&mut self)
    where
        T: Ord,
    {
        self.order_by(T::cmp);
    }
}

impl<T> Order<T> for [T] {
    fn order_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        let mut places =
            places(self.len(), &mut |one, other| match (self.get(one), self.get(other)) {
                (Some(one), Some(other)) => compare(one, other),
                _ => Ordering::Equal,
            });
        put_in_place(&mut places, &mut |one, other| self.swap(one, other));
    }

    fn order_by_cached_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K) {
        let keys: Vec<K> = self.iter().map(key).collect();
        let mut places = places(self.len(), &mut |one, other| keys.get(one).cmp(&keys.get(other)));
        put_in_place(&mut places, &mut |one, other| self.swap(one, other));
    }
}

/// Indexes of the items in sorted order.
#[inline(never)]
fn places(length: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..length).collect();
    places.sort_by(|one, other| compare(*one, *other));
    places
}

/// Swaps items until the item from `places[n]` is at `n`.
#[inline(never)]
fn put_in_place(places: &mut [usize], swap: &mut dyn FnMut(usize, usize)) {
    for start in 0..places.len() {
        let mut at = start;
        while let Some(place) = places.get_mut(at) {
            let from = core::mem::replace(place, at);
            if from == start || from == at {
                break;
            }
            swap(at, from);
            at = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random numbers from a linear congruential generator.
    fn drawn(length: u32) -> Vec<(u32, u32)> {
        (0..length)
            .map(|n| (n.wrapping_mul(1_664_525).wrapping_add(1_013_904_223) >> 28, n))
            .collect()
    }

    #[test]
    fn the_result_is_that_of_the_stable_sort() {
        for length in 0..200 {
            let mut expected = drawn(length);
            let mut ordered = expected.clone();
            expected.sort_by_key(|(key, _)| *key);
            ordered.order_by_key(|(key, _)| *key);
            assert_eq!(ordered, expected, "{length}");
            let mut cached = drawn(length);
            cached.order_by_cached_key(|(key, _)| *key);
            assert_eq!(cached, expected, "{length}");
            let mut backwards = drawn(length);
            backwards.order_by(|one, other| other.cmp(one));
            assert!(backwards.iter().rev().is_sorted(), "{length}");
        }
    }
}
