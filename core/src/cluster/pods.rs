//! All pods of a cluster, in parts that copies of the cluster share until one of them changes.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::api::{Pod, PodKey};

/// Into how many parts the pods are divided by the hash of their key.
const PARTS: u64 = 512;
/// How many keys stand together at most.
const LONGEST: usize = 512;

/// Never walked, so that its order matters to nobody.
type Part = HashMap<PodKey, Arc<Pod>, FixedState>;

/// Pods by key, and their keys in order. A copy shares all of them, and a change after that copies
/// only the parts that it is in.
#[derive(Clone, Debug)]
pub(super) struct Pods {
    parts: Vec<Arc<Part>>,
    /// The keys in order. No run of them is empty.
    keys: Vec<Arc<Vec<PodKey>>>,
    count: usize,
}

impl Default for Pods {
    fn default() -> Self {
        let empty = Arc::new(HashMap::with_hasher(FixedState::with_seed(0)));
        let parts = (0..PARTS).map(|_| empty.clone()).collect();
        Self { parts, keys: Vec::new(), count: 0 }
    }
}

/// Which part a pod is in. The parts themselves go by the lowest and the highest bits.
fn part_of(key: &PodKey) -> usize {
    let hash = FixedState::with_seed(0).hash_one(key);
    usize::try_from((hash >> 32) % PARTS).unwrap_or(0)
}

impl Pods {
    pub(super) const fn len(&self) -> usize {
        self.count
    }

    pub(super) fn get(&self, key: &PodKey) -> Option<&Arc<Pod>> {
        self.parts.get(part_of(key))?.get(key)
    }

    pub(super) fn get_key_value(&self, key: &PodKey) -> Option<(&PodKey, &Arc<Pod>)> {
        self.parts.get(part_of(key))?.get_key_value(key)
    }

    /// By namespace and name.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&PodKey, &Arc<Pod>)> {
        self.keys.iter().flat_map(|keys| keys.iter()).filter_map(|key| self.get_key_value(key))
    }

    pub(super) fn insert(&mut self, key: PodKey, pod: Arc<Pod>) -> Option<Arc<Pod>> {
        let part = Arc::make_mut(self.parts.get_mut(part_of(&key))?);
        if let Some(known) = part.get_mut(&key) {
            return Some(core::mem::replace(known, pod));
        }
        part.insert(key.clone(), pod);
        self.count += 1;
        self.insert_key(key);
        None
    }

    pub(super) fn remove(&mut self, key: &PodKey) -> Option<Arc<Pod>> {
        let part = self.parts.get_mut(part_of(key)).filter(|part| part.contains_key(key))?;
        let old = Arc::make_mut(part).remove(key);
        self.count -= 1;
        let at = self.run_of(key);
        if let Some(run) = self.keys.get_mut(at).map(Arc::make_mut) {
            if let Ok(index) = run.binary_search(key) {
                run.remove(index);
            }
            if run.is_empty() {
                self.keys.remove(at);
            }
        }
        old
    }

    /// The first run that does not end before the key.
    fn run_of(&self, key: &PodKey) -> usize {
        self.keys.partition_point(|run| run.last().is_some_and(|last| last < key))
    }

    fn insert_key(&mut self, key: PodKey) {
        let at = self.run_of(&key).min(self.keys.len().saturating_sub(1));
        let Some(run) = self.keys.get_mut(at).map(Arc::make_mut) else {
            self.keys.push(Arc::new(Vec::from([key])));
            return;
        };
        if let Err(index) = run.binary_search(&key) {
            run.insert(index, key);
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

    /// More pods than a run of keys holds, in no order, removed in another one.
    #[test]
    fn pods_stand_in_order_and_a_copy_keeps_what_it_had() {
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
        for number in 0..MANY {
            pods.remove(&key(number));
        }
        assert!(pods.keys.is_empty() && pods.iter().next().is_none());
    }
}
