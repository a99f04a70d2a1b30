//! All pods of a cluster, in parts that copies of the cluster share until one of them changes.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::api::{Pod, PodKey};

/// Number of parts, chosen by the hash of the key.
const PARTS: u64 = 512;
/// Longest run of keys.
const LONGEST: usize = 128;

/// Never iterated, so that its order has no effect.
type Part = HashTable<(PodKey, Arc<Pod>)>;

/// Pods by key, and their keys in order. A copy shares everything; later changes copy only the
/// parts concerned.
#[derive(Clone, Debug)]
pub(super) struct Pods {
    parts: Vec<Arc<Part>>,
    /// Keys in order, including those of gone pods: finding a key here takes longer than finding
    /// its pod, so that keys of gone pods are removed together. No run is empty.
    keys: Vec<Arc<Vec<PodKey>>>,
    /// Number of keys with a pod.
    count: usize,
    /// Number of keys without a pod.
    gone: usize,
}

impl Default for Pods {
    fn default() -> Self {
        let empty = Arc::new(Part::new());
        let parts = (0..PARTS).map(|_| empty.clone()).collect();
        Self { parts, keys: Vec::new(), count: 0, gone: 0 }
    }
}

fn hash_of(key: &PodKey) -> u64 {
    FixedState::with_seed(0).hash_one(key)
}

/// Part of a pod. The hash table of a part uses the lowest and the highest bits.
fn part_of(hash: u64) -> usize {
    usize::try_from((hash >> 32) % PARTS).unwrap_or(0)
}

impl Pods {
    pub(super) const fn len(&self) -> usize {
        self.count
    }

    pub(super) fn get(&self, key: &PodKey) -> Option<&Arc<Pod>> {
        self.get_key_value(key).map(|(_, pod)| pod)
    }

    pub(super) fn get_key_value(&self, key: &PodKey) -> Option<(&PodKey, &Arc<Pod>)> {
        let hash = hash_of(key);
        let found = self.parts.get(part_of(hash))?.find(hash, |(known, _)| known == key);
        found.map(|(key, pod)| (key, pod))
    }

    /// Pods by namespace and name.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&PodKey, &Arc<Pod>)> {
        self.of_parts(|_| true)
    }

    /// Pods of the wanted parts, by namespace and name.
    fn of_parts(
        &self,
        wanted: impl Fn(usize) -> bool,
    ) -> impl Iterator<Item = (&PodKey, &Arc<Pod>)> {
        let in_order = self.keys.iter().flat_map(|keys| keys.iter());
        in_order.filter_map(move |key| {
            let hash = hash_of(key);
            let part = Some(part_of(hash)).filter(|part| wanted(*part))?;
            let (key, pod) = self.parts.get(part)?.find(hash, |(known, _)| known == key)?;
            Some((key, pod))
        })
    }

    /// Calls `differs` with the key of each pod that exists in only one of the two, or is not the
    /// same object in both.
    pub(super) fn visit_different(&self, other: &Self, mut differs: impl FnMut(&PodKey)) {
        let pairs = self.parts.iter().zip(&other.parts);
        let shared: Vec<bool> = pairs.map(|(a, b)| Arc::ptr_eq(a, b)).collect();
        if shared.iter().all(|shared| *shared) {
            return;
        }
        let differ = |part: usize| shared.get(part) == Some(&false);
        for (key, pod) in self.of_parts(differ) {
            if other.get(key).is_none_or(|other| !Arc::ptr_eq(pod, other)) {
                differs(key);
            }
        }
        for (key, _) in other.of_parts(differ) {
            if self.get(key).is_none() {
                differs(key);
            }
        }
    }

    pub(super) fn insert(&mut self, key: PodKey, pod: Arc<Pod>) -> Option<Arc<Pod>> {
        let hash = hash_of(&key);
        let part = Arc::make_mut(self.parts.get_mut(part_of(hash))?);
        let entry = part.entry(hash, |(known, _)| *known == key, |(known, _)| hash_of(known));
        match entry {
            Entry::Occupied(mut known) => {
                return Some(core::mem::replace(&mut known.get_mut().1, pod));
            }
            Entry::Vacant(place) => place.insert((key.clone(), pod)),
        };
        self.count += 1;
        self.insert_key(key);
        None
    }

    pub(super) fn remove(&mut self, key: &PodKey) -> Option<Arc<Pod>> {
        let hash = hash_of(key);
        let is_it = |(known, _): &(PodKey, Arc<Pod>)| known == key;
        let part = self.parts.get_mut(part_of(hash))?;
        // A shared part is not copied for a pod that it does not have.
        if Arc::get_mut(part).is_none() {
            part.find(hash, is_it)?;
        }
        let entry = Arc::make_mut(part).find_entry(hash, is_it).ok()?;
        let ((_, old), _) = entry.remove();
        self.count -= 1;
        self.gone += 1;
        if self.gone > self.count.max(LONGEST) {
            self.forget_gone();
        }
        Some(old)
    }

    /// Removes the keys of gone pods.
    fn forget_gone(&mut self) {
        let mut left = Vec::with_capacity(self.count);
        left.extend(self.iter().map(|(key, _)| key.clone()));
        self.keys = left.chunks(LONGEST / 2).map(|run| Arc::new(run.to_vec())).collect();
        self.gone = 0;
    }

    /// First run that does not end before the key.
    fn run_of(&self, key: &PodKey) -> usize {
        self.keys.partition_point(|run| run.last().is_some_and(|last| last < key))
    }

    fn insert_key(&mut self, key: PodKey) {
        let at = self.run_of(&key).min(self.keys.len().saturating_sub(1));
        let Some(run) = self.keys.get_mut(at).map(Arc::make_mut) else {
            self.keys.push(Arc::new(Vec::from([key])));
            return;
        };
        match run.binary_search(&key) {
            // Key of a gone pod.
            Ok(_) => self.gone -= 1,
            Err(index) => run.insert(index, key),
        }
        if run.len() > LONGEST {
            let rest = run.split_off(LONGEST / 2);
            self.keys.insert(at + 1, Arc::new(rest));
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;
    use alloc::format;
    use alloc::string::{String, ToString};

    use super::*;

    fn key(number: usize) -> PodKey {
        PodKey::new("default", &format!("p-{number}"))
    }

    fn pod(node: &str) -> Arc<Pod> {
        let mut pod = Pod::default();
        pod.spec.node_name = node.into();
        Arc::new(pod)
    }

    fn nodes(pods: &Pods) -> Vec<(PodKey, String)> {
        assert_eq!(pods.len(), pods.iter().count());
        pods.iter().map(|(key, pod)| (key.clone(), pod.spec.node_name.to_string())).collect()
    }

    /// More pods than a run of keys holds, inserted in mixed order and removed in another one.
    #[test]
    fn pods_are_in_order_and_a_copy_keeps_its_pods() {
        const MANY: usize = 3 * LONGEST;
        let (mut pods, mut known) = (Pods::default(), BTreeMap::new());
        for number in (0..MANY).map(|number| number * 7 % MANY) {
            assert!(pods.insert(key(number), pod("a")).is_none());
            known.insert(key(number), "a");
        }
        let wanted = |known: &BTreeMap<PodKey, &str>| -> Vec<_> {
            known.iter().map(|(key, node)| (key.clone(), node.to_string())).collect()
        };
        assert_eq!(nodes(&pods), wanted(&known));
        let (copy, before) = (pods.clone(), known.clone());
        let different = |a: &Pods, b: &Pods| {
            let mut keys = Vec::new();
            a.visit_different(b, |key| keys.push(key.clone()));
            keys.sort();
            keys
        };
        assert!(different(&pods, &copy).is_empty());
        for number in (0..MANY).map(|number| number * 11 % MANY) {
            match number % 3 {
                0 => {
                    let old = pods.insert(key(number), pod("b")).unwrap();
                    assert_eq!(old.spec.node_name.as_str(), "a");
                    known.insert(key(number), "b");
                }
                1 => {
                    assert!(
                        pods.remove(&key(number)).is_some() && pods.remove(&key(number)).is_none()
                    );
                    known.remove(&key(number));
                }
                _ => assert!(pods.get(&key(number)).is_some()),
            }
        }
        assert_eq!(nodes(&pods), wanted(&known));
        assert_eq!(nodes(&copy), wanted(&before));
        let mut changed: Vec<_> = (0..MANY).filter(|it| it % 3 < 2).map(key).collect();
        changed.sort();
        assert_eq!(different(&pods, &copy), changed);
        assert_eq!(different(&copy, &pods), changed);
        // A pod that comes back has a key already.
        pods.insert(key(1), pod("c"));
        known.insert(key(1), "c");
        assert_eq!(nodes(&pods), wanted(&known));
        for number in 0..MANY {
            pods.remove(&key(number));
        }
        assert_eq!(nodes(&pods), []);
        assert!(pods.keys.iter().map(|run| run.len()).sum::<usize>() <= LONGEST);
    }
}
