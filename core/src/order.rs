//! Sorting and ordered maps with little compiled code.
//!
//! The standard library compiles its sort for each type and each comparison, about four kilobytes
//! of WebAssembly each time; collecting into a `BTreeMap` or a `BTreeSet` sorts, too. Here the sort
//! is compiled once, over indexes and a comparison behind a reference. The result equals that of
//! the standard library's stable sort.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::cmp::Ordering;

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

/// Ordered collections of an iterator's items.
pub trait Ordered: Iterator + Sized {
    /// Set of the items.
    fn ordered_set(self) -> BTreeSet<Self::Item>
    where
        Self::Item: Ord,
    {
        let mut set = BTreeSet::new();
        self.for_each(|item| {
            set.insert(item);
        });
        set
    }

    /// Map of the entries; the last entry of a key counts.
    fn ordered_map<K: Ord, V>(self) -> BTreeMap<K, V>
    where
        Self: Iterator<Item = (K, V)>,
    {
        let mut map = BTreeMap::new();
        self.for_each(|(key, value)| {
            map.insert(key, value);
        });
        map
    }
}

impl<I: Iterator> Ordered for I {}

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

    #[test]
    fn maps_and_sets_are_those_of_the_standard_library() {
        let entries = drawn(99);
        let all = || entries.iter().copied();
        assert_eq!(all().ordered_map(), all().collect::<BTreeMap<_, _>>());
        assert_eq!(all().ordered_set(), all().collect::<BTreeSet<_>>());
    }
}
