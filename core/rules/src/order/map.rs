//! [`OrderedMap`]: a map in the order of its keys.

use alloc::vec::{self, Vec};
use core::borrow::Borrow;
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::iter::Flatten;
use core::marker::PhantomData;
use core::mem;
use core::ops::{Bound, RangeBounds};
use core::slice;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Most entries of a chunk.
const MOST: usize = 128;

/// Map in the order of its keys: sorted entries in chunks of a limited length.
///
/// Its methods are those of [`BTreeMap`](alloc::collections::BTreeMap), and so are their results. The
/// compiled code of a map of one type is about a fourth, since a tree's nodes need not be split,
/// merged and balanced. Looking up takes the logarithm of the length; a change moves the rest of a
/// chunk.
#[derive(Clone)]
pub struct OrderedMap<K, V> {
    /// Chunks in order. None is empty.
    chunks: Vec<Vec<(K, V)>>,
    length: usize,
}

/// Place of an entry, or the one that it would have.
#[derive(Clone, Copy)]
struct Place {
    chunk: usize,
    entry: usize,
}

impl<K, V> OrderedMap<K, V> {
    /// Map without entries.
    #[must_use]
    pub const fn new() -> Self {
        Self { chunks: Vec::new(), length: 0 }
    }

    /// Number of entries.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.length
    }

    /// Whether there is no entry.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// Entries in order.
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter { front: [].iter(), chunks: self.chunks.iter(), back: [].iter() }
    }

    /// Entries in order, with values that can be changed.
    pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
        IterMut(self.chunks.iter_mut().flatten())
    }

    /// Keys in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + Clone {
        self.iter().map(|(key, _)| key)
    }

    /// Values in the order of their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + Clone {
        self.iter().map(|(_, value)| value)
    }

    /// Values in the order of their keys, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.iter_mut().map(|(_, value)| value)
    }

    /// Keys in order, without their values.
    pub fn into_keys(self) -> impl DoubleEndedIterator<Item = K> {
        self.into_iter().map(|(key, _)| key)
    }

    /// Values in the order of their keys.
    pub fn into_values(self) -> impl DoubleEndedIterator<Item = V> {
        self.into_iter().map(|(_, value)| value)
    }

    /// First entry.
    #[must_use]
    pub fn first_key_value(&self) -> Option<(&K, &V)> {
        self.iter().next()
    }

    /// Last entry.
    #[must_use]
    pub fn last_key_value(&self) -> Option<(&K, &V)> {
        self.iter().next_back()
    }

    /// Removes and returns the first entry.
    pub fn pop_first(&mut self) -> Option<(K, V)> {
        (!self.is_empty()).then(|| self.take(Place { chunk: 0, entry: 0 }))
    }

    /// Keeps the entries that a predicate is true of.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.length = 0;
        self.chunks.retain_mut(|chunk| {
            chunk.retain_mut(|(key, value)| keep(key, value));
            self.length += chunk.len();
            !chunk.is_empty()
        });
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "a place is looked up in the same call, while the map is borrowed"
    )]
    fn at(&mut self, place: Place) -> &mut (K, V) {
        &mut self.chunks[place.chunk][place.entry]
    }

    fn take(&mut self, place: Place) -> (K, V) {
        self.length -= 1;
        #[expect(clippy::indexing_slicing, reason = "as in `at`")]
        let chunk = &mut self.chunks[place.chunk];
        let entry = chunk.remove(place.entry);
        if chunk.is_empty() {
            self.chunks.remove(place.chunk);
        }
        entry
    }

    fn put(&mut self, place: Place, entry: (K, V)) -> &mut V {
        self.length += 1;
        let mut place = place;
        let is_last = place.chunk + 1 >= self.chunks.len();
        if let Some(chunk) = self.chunks.get_mut(place.chunk) {
            if chunk.len() < MOST {
                chunk.insert(place.entry, entry);
            } else if is_last && place.entry == chunk.len() {
                // Entries that come in order fill their chunks.
                self.chunks.push(Vec::from([entry]));
                place = Place { chunk: place.chunk + 1, entry: 0 };
            } else {
                let mut rest = chunk.split_off(MOST / 2);
                if let Some(in_rest) = place.entry.checked_sub(MOST / 2) {
                    rest.insert(in_rest, entry);
                    self.chunks.insert(place.chunk + 1, rest);
                    place = Place { chunk: place.chunk + 1, entry: in_rest };
                } else {
                    chunk.insert(place.entry, entry);
                    self.chunks.insert(place.chunk + 1, rest);
                }
            }
        } else {
            self.chunks.push(Vec::from([entry]));
        }
        &mut self.at(place).1
    }
}

impl<K: Ord, V> OrderedMap<K, V> {
    /// Place of a key, or the one at which it belongs.
    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Result<Place, Place>
    where
        K: Borrow<Q>,
    {
        let mut chunk = 0;
        if self.chunks.len() > 1 {
            let is_before = |it: &Vec<(K, V)>| it.first().is_some_and(|it| it.0.borrow() <= key);
            chunk = self.chunks.partition_point(is_before).saturating_sub(1);
        }
        let entries = self.chunks.get(chunk).map_or(&[][..], Vec::as_slice);
        match entries.binary_search_by(|it| it.0.borrow().cmp(key)) {
            Ok(entry) => Ok(Place { chunk, entry }),
            Err(entry) => Err(Place { chunk, entry }),
        }
    }

    /// Entry of a key.
    #[must_use]
    pub fn get_key_value<Q: Ord + ?Sized>(&self, key: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        let (key, value) = self.chunks.get(place.chunk)?.get(place.entry)?;
        Some((key, value))
    }

    /// Value of a key.
    #[must_use]
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.get_key_value(key).map(|(_, value)| value)
    }

    /// Value of a key, to be changed.
    #[must_use]
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        Some(&mut self.at(place).1)
    }

    /// Whether the key has a value.
    #[must_use]
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.place(key).is_ok()
    }

    /// Gives a key its value, and returns the one before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.place(&key) {
            Ok(place) => Some(mem::replace(&mut self.at(place).1, value)),
            Err(place) => {
                self.put(place, (key, value));
                None
            }
        }
    }

    /// Removes a key, and returns its value.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.remove_entry(key).map(|(_, value)| value)
    }

    /// Removes a key, and returns it with its value.
    pub fn remove_entry<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<(K, V)>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        Some(self.take(place))
    }

    /// Entry of a key, there or not.
    pub fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        match self.place(&key) {
            Ok(place) => Entry::Occupied(OccupiedEntry { map: self, place }),
            Err(place) => Entry::Vacant(VacantEntry { map: self, place, key }),
        }
    }

    /// Entries whose keys are within bounds, in order.
    pub fn range<Q: Ord + ?Sized>(&self, range: impl RangeBounds<Q>) -> Iter<'_, K, V>
    where
        K: Borrow<Q>,
    {
        let after = |place: Result<Place, Place>| match place {
            Ok(place) => Place { entry: place.entry + 1, ..place },
            Err(place) => place,
        };
        let start = match range.start_bound() {
            Bound::Included(key) => self.place(key).unwrap_or_else(|place| place),
            Bound::Excluded(key) => after(self.place(key)),
            Bound::Unbounded => Place { chunk: 0, entry: 0 },
        };
        let end = match range.end_bound() {
            Bound::Included(key) => after(self.place(key)),
            Bound::Excluded(key) => self.place(key).unwrap_or_else(|place| place),
            Bound::Unbounded => Place { chunk: self.chunks.len(), entry: 0 },
        };
        let part = |chunk: usize, from: usize, to: Option<usize>| {
            let chunk = self.chunks.get(chunk).map_or(&[][..], Vec::as_slice);
            chunk.get(from..to.unwrap_or(chunk.len())).unwrap_or(&[]).iter()
        };
        if start.chunk >= end.chunk {
            let front = part(start.chunk, start.entry, Some(end.entry));
            return Iter { front, chunks: [].iter(), back: [].iter() };
        }
        Iter {
            front: part(start.chunk, start.entry, None),
            chunks: self.chunks.get(start.chunk + 1..end.chunk).unwrap_or(&[]).iter(),
            back: part(end.chunk, 0, Some(end.entry)),
        }
    }
}

/// Entry of a key, there or not.
pub enum Entry<'a, K, V> {
    /// The key has a value.
    Occupied(OccupiedEntry<'a, K, V>),
    /// The key has no value yet.
    Vacant(VacantEntry<'a, K, V>),
}

/// Entry that is there.
pub struct OccupiedEntry<'a, K, V> {
    map: &'a mut OrderedMap<K, V>,
    place: Place,
}

/// Entry that is not there yet.
pub struct VacantEntry<'a, K, V> {
    map: &'a mut OrderedMap<K, V>,
    place: Place,
    key: K,
}

impl<'a, K, V> Entry<'a, K, V> {
    /// Its value, at first this one.
    pub fn or_insert(self, value: V) -> &'a mut V {
        self.or_insert_with(|| value)
    }

    /// Its value, at first the default one.
    pub fn or_default(self) -> &'a mut V
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }

    /// Its value, at first what the function returns.
    pub fn or_insert_with(self, value: impl FnOnce() -> V) -> &'a mut V {
        match self {
            Self::Occupied(entry) => entry.into_mut(),
            Self::Vacant(entry) => entry.insert(value()),
        }
    }

    /// Changes the value if there is one.
    #[must_use]
    pub fn and_modify(mut self, change: impl FnOnce(&mut V)) -> Self {
        if let Self::Occupied(entry) = &mut self {
            change(entry.get_mut());
        }
        self
    }
}

impl<'a, K, V> OccupiedEntry<'a, K, V> {
    /// The value.
    pub fn get(&mut self) -> &V {
        self.get_mut()
    }

    /// The value, to be changed.
    pub fn get_mut(&mut self) -> &mut V {
        &mut self.map.at(self.place).1
    }

    /// The value, to be changed as long as the map is there.
    pub fn into_mut(self) -> &'a mut V {
        &mut self.map.at(self.place).1
    }

    /// Exchanges the value for another.
    pub fn insert(&mut self, value: V) -> V {
        mem::replace(self.get_mut(), value)
    }

    /// Removes the entry, and returns the value.
    pub fn remove(self) -> V {
        self.map.take(self.place).1
    }
}

impl<'a, K, V> VacantEntry<'a, K, V> {
    /// The key.
    pub const fn key(&self) -> &K {
        &self.key
    }

    /// Gives the key its value.
    pub fn insert(self, value: V) -> &'a mut V {
        self.map.put(self.place, (self.key, value))
    }
}

/// Entries in order.
pub struct Iter<'a, K, V> {
    front: slice::Iter<'a, (K, V)>,
    chunks: slice::Iter<'a, Vec<(K, V)>>,
    back: slice::Iter<'a, (K, V)>,
}

impl<K, V> Clone for Iter<'_, K, V> {
    fn clone(&self) -> Self {
        Self { front: self.front.clone(), chunks: self.chunks.clone(), back: self.back.clone() }
    }
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((key, value)) = self.front.next() {
                return Some((key, value));
            }
            let Some(chunk) = self.chunks.next() else {
                return self.back.next().map(|(key, value)| (key, value));
            };
            self.front = chunk.iter();
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let rest: usize = self.chunks.clone().map(Vec::len).sum();
        let length = self.front.len() + rest + self.back.len();
        (length, Some(length))
    }
}

impl<K, V> DoubleEndedIterator for Iter<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((key, value)) = self.back.next_back() {
                return Some((key, value));
            }
            let Some(chunk) = self.chunks.next_back() else {
                return self.front.next_back().map(|(key, value)| (key, value));
            };
            self.back = chunk.iter();
        }
    }
}

impl<K, V> ExactSizeIterator for Iter<'_, K, V> {}

/// Entries in order, with values that can be changed.
pub struct IterMut<'a, K, V>(Flatten<slice::IterMut<'a, Vec<(K, V)>>>);

impl<'a, K, V> Iterator for IterMut<'a, K, V> {
    type Item = (&'a K, &'a mut V);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (&*key, value))
    }
}

impl<K, V> IntoIterator for OrderedMap<K, V> {
    type Item = (K, V);
    type IntoIter = Flatten<vec::IntoIter<Vec<(K, V)>>>;

    fn into_iter(self) -> Self::IntoIter {
        self.chunks.into_iter().flatten()
    }
}

impl<'a, K, V> IntoIterator for &'a OrderedMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, K, V> IntoIterator for &'a mut OrderedMap<K, V> {
    type Item = (&'a K, &'a mut V);
    type IntoIter = IterMut<'a, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<K: Ord, V> Extend<(K, V)> for OrderedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        entries.into_iter().for_each(|(key, value)| {
            self.insert(key, value);
        });
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for OrderedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        map.extend(entries);
        map
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for OrderedMap<K, V> {
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<K, V> Default for OrderedMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for OrderedMap<K, V> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self).finish()
    }
}

// Equal entries may be in unequal chunks.
impl<K: PartialEq, V: PartialEq> PartialEq for OrderedMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.length == other.length && self.iter().eq(other)
    }
}

impl<K: Eq, V: Eq> Eq for OrderedMap<K, V> {}

impl<K: PartialOrd, V: PartialOrd> PartialOrd for OrderedMap<K, V> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.iter().partial_cmp(other)
    }
}

impl<K: Ord, V: Ord> Ord for OrderedMap<K, V> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.iter().cmp(other)
    }
}

impl<K: Hash, V: Hash> Hash for OrderedMap<K, V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.length.hash(state);
        self.iter().for_each(|entry| entry.hash(state));
    }
}

impl<K: Serialize, V: Serialize> Serialize for OrderedMap<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self)
    }
}

impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Deserialize<'de> for OrderedMap<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

struct Entries<K, V>(PhantomData<(K, V)>);

impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Visitor<'de> for Entries<K, V> {
    type Value = OrderedMap<K, V>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut map = OrderedMap::new();
        while let Some((key, value)) = entries.next_entry()? {
            map.insert(key, value);
        }
        Ok(map)
    }
}
