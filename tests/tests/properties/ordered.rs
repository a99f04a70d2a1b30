//! Ordered maps and sets against those of the standard library, over random changes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use proptest::prelude::*;
use taintlab_core::order::{Entry, OrderedMap, OrderedSet};

use super::check;

/// One change of a map.
#[derive(Clone, Debug)]
enum Change {
    Insert(u16, u8),
    /// Keys in order, from the first one on.
    Append(u16, u16),
    Remove(u16),
    PopFirst,
    Retain(u8),
    Add(u16, u8),
    TakeEntry(u16),
    Rewrite(u8),
    Clear,
}

fn change() -> impl Strategy<Value = Change> {
    let key = || 0..2_000_u16;
    prop_oneof![
        6 => (key(), any::<u8>()).prop_map(|(key, value)| Change::Insert(key, value)),
        4 => (key(), 1..400_u16).prop_map(|(from, count)| Change::Append(from, count)),
        4 => key().prop_map(Change::Remove),
        1 => Just(Change::PopFirst),
        1 => (1..9_u8).prop_map(Change::Retain),
        2 => (key(), any::<u8>()).prop_map(|(key, value)| Change::Add(key, value)),
        2 => key().prop_map(Change::TakeEntry),
        1 => any::<u8>().prop_map(Change::Rewrite),
        1 => Just(Change::Clear),
    ]
}

/// Makes the change to both maps, and compares what they answer.
fn apply(
    map: &mut OrderedMap<u16, u8>,
    model: &mut BTreeMap<u16, u8>,
    change: &Change,
) -> Result<(), TestCaseError> {
    match *change {
        Change::Insert(key, value) => {
            prop_assert_eq!(map.insert(key, value), model.insert(key, value))
        }
        Change::Append(from, count) => {
            map.extend((from..from + count).map(|key| (key, 1)));
            model.extend((from..from + count).map(|key| (key, 1)));
        }
        Change::Remove(key) => {
            prop_assert_eq!(map.remove_entry(&key), model.remove_entry(&key));
        }
        Change::PopFirst => prop_assert_eq!(map.pop_first(), model.pop_first()),
        Change::Retain(part) => {
            map.retain(|key, _| key % u16::from(part) == 0);
            model.retain(|key, _| key % u16::from(part) == 0);
        }
        Change::Add(key, value) => {
            let add = |it: &mut u8| *it = it.wrapping_add(value);
            let new = *map.entry(key).and_modify(add).or_insert(value);
            prop_assert_eq!(new, *model.entry(key).and_modify(add).or_insert(value));
        }
        Change::TakeEntry(key) => {
            let taken = match map.entry(key) {
                Entry::Occupied(entry) => Some(entry.remove()),
                Entry::Vacant(entry) => {
                    prop_assert_eq!(*entry.key(), key);
                    None
                }
            };
            prop_assert_eq!(taken, model.remove(&key));
        }
        Change::Rewrite(value) => {
            map.iter_mut().for_each(|(_, it)| *it ^= value);
            model.iter_mut().for_each(|(_, it)| *it ^= value);
        }
        Change::Clear => {
            map.clear();
            model.clear();
        }
    }
    Ok(())
}

/// Compares everything that can be read.
fn compare(
    map: &OrderedMap<u16, u8>,
    model: &BTreeMap<u16, u8>,
    bounds: (u16, u16),
) -> Result<(), TestCaseError> {
    prop_assert_eq!((map.len(), map.is_empty()), (model.len(), model.is_empty()));
    prop_assert!(map.iter().eq(model));
    prop_assert!(map.iter().rev().eq(model.iter().rev()));
    prop_assert_eq!(map.iter().len(), model.len());
    prop_assert!(map.keys().eq(model.keys()) && map.values().eq(model.values()));
    prop_assert_eq!(map.first_key_value(), model.first_key_value());
    prop_assert_eq!(map.last_key_value(), model.last_key_value());
    prop_assert!(map.clone().into_iter().eq(model.clone()));
    prop_assert_eq!(format!("{map:?}"), format!("{model:?}"));
    let (low, high) = (bounds.0.min(bounds.1), bounds.0.max(bounds.1));
    prop_assert!(map.range(low..high).eq(model.range(low..high)));
    prop_assert!(map.range(low..=high).rev().eq(model.range(low..=high).rev()));
    prop_assert!(map.range(low..).eq(model.range(low..)));
    prop_assert!(map.range(..=high).eq(model.range(..=high)));
    if low < high {
        let between = (Bound::Excluded(low), Bound::Excluded(high));
        prop_assert!(map.range::<u16>(between).eq(model.range::<u16, _>(between)));
    }
    prop_assert_eq!(map.get(&low), model.get(&low));
    prop_assert_eq!(map.contains_key(&high), model.contains_key(&high));
    let (set, known): (OrderedSet<_>, BTreeSet<_>) =
        (map.keys().copied().collect(), model.keys().copied().collect());
    prop_assert!(set.iter().rev().eq(known.iter().rev()));
    prop_assert!(set.range(low..high).eq(known.range(low..high)));
    // However it came to be, a map equals one with the same entries.
    let anew: OrderedMap<_, _> = model.clone().into_iter().rev().collect();
    prop_assert_eq!(map, &anew);
    Ok(())
}

#[test]
fn an_ordered_map_answers_as_a_tree_does() {
    let changes = prop::collection::vec((change(), (0..2_100_u16, 0..2_100_u16)), 1..60);
    check(150, changes, |changes| {
        let (mut map, mut model) = (OrderedMap::new(), BTreeMap::new());
        for (change, bounds) in changes {
            apply(&mut map, &mut model, &change)?;
            compare(&map, &model, bounds)?;
        }
        Ok(())
    });
}
