//! Values that many objects have alike and keep in memory once.

use alloc::collections::{BTreeMap, btree_map};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::{Deref, DerefMut};

use foldhash::fast::FixedState;
use hashbrown::HashSet;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Fields, OwnerReference, Toleration};

/// Labels or annotations by name.
pub type Labels = Shared<BTreeMap<String, String>>;

/// A list or map of which copies share one value until one of them is changed: thousands of pods
/// have the labels, owners and tolerations of one template.
///
/// One pointer wide. It reads as the value itself; changing it copies the value first if others
/// have it too.
#[derive(Clone)]
pub struct Shared<T>(Option<Arc<T>>);

/// A collection that can be shared.
pub trait Collection: Clone + Default + 'static {
    /// The one without entries.
    const EMPTY: &'static Self;

    /// Whether it has no entries.
    fn has_none(&self) -> bool;
}

impl<T: Clone + 'static> Collection for Vec<T> {
    const EMPTY: &'static Self = &Self::new();

    fn has_none(&self) -> bool {
        self.is_empty()
    }
}

impl<K: Clone + 'static, V: Clone + 'static> Collection for BTreeMap<K, V> {
    const EMPTY: &'static Self = &Self::new();

    fn has_none(&self) -> bool {
        self.is_empty()
    }
}

impl<T> Shared<T> {
    /// The one without entries.
    #[must_use]
    pub const fn new() -> Self {
        Self(None)
    }
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Collection> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self((!value.has_none()).then(|| Arc::new(value)))
    }
}

impl<A, T: Collection + FromIterator<A>> FromIterator<A> for Shared<T> {
    fn from_iter<I: IntoIterator<Item = A>>(values: I) -> Self {
        T::from_iter(values).into()
    }
}

impl<T: Collection> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_deref().unwrap_or(T::EMPTY)
    }
}

impl<T: Collection> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(self.0.get_or_insert_default())
    }
}

impl<T: Collection + PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(&**self, &**other) || **self == **other
    }
}

impl<T: Collection + Eq> Eq for Shared<T> {}

impl<T: Collection + PartialOrd> PartialOrd for Shared<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: Collection + Ord> Ord for Shared<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        if core::ptr::eq(&**self, &**other) {
            return Ordering::Equal;
        }
        (**self).cmp(&**other)
    }
}

impl<T: Collection + Hash> Hash for Shared<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: Collection + fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<'a, T: Clone + 'static> IntoIterator for &'a Shared<Vec<T>> {
    type Item = &'a T;
    type IntoIter = core::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a Labels {
    type Item = (&'a String, &'a String);
    type IntoIter = btree_map::Iter<'a, String, String>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: Clone + 'static, const N: usize> From<[T; N]> for Shared<Vec<T>> {
    fn from(values: [T; N]) -> Self {
        Vec::from(values).into()
    }
}

impl<T: Collection + Serialize> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, T: Collection + Deserialize<'de>> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(feature = "schema")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for Shared<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        T::schema_name()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        T::json_schema(generator)
    }
}

/// A part of an object that its copies share until it is changed in one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CopyOnWrite<T>(Arc<T>);

impl<T> Deref for CopyOnWrite<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for CopyOnWrite<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<T> From<T> for CopyOnWrite<T> {
    fn from(part: T) -> Self {
        Self(Arc::new(part))
    }
}

/// Lets objects that say the same share it: of thousands of pods of one template, the containers
/// are in memory once.
#[derive(Debug, Default)]
pub struct SharedPool {
    fields: HashSet<Fields, FixedState>,
    labels: HashSet<Labels, FixedState>,
    owners: HashSet<Shared<Vec<OwnerReference>>, FixedState>,
    tolerations: HashSet<Shared<Vec<Toleration>>, FixedState>,
}

/// A pool is no state, so a copy begins empty.
impl Clone for SharedPool {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl SharedPool {
    /// Replaces fields by equal ones that were given before; whether there are any.
    pub fn fields(&mut self, fields: &mut Fields) -> bool {
        !fields.is_empty() && share(&mut self.fields, fields)
    }

    /// Replaces labels or annotations by equal ones that were given before, if there are any.
    pub fn labels(&mut self, labels: &mut Labels) {
        share(&mut self.labels, labels);
    }

    /// Replaces owners by equal ones that were given before, if there are any.
    pub fn owners(&mut self, owners: &mut Shared<Vec<OwnerReference>>) {
        share(&mut self.owners, owners);
    }

    /// Replaces tolerations by equal ones that were given before, if there are any.
    pub fn tolerations(&mut self, tolerations: &mut Shared<Vec<Toleration>>) {
        share(&mut self.tolerations, tolerations);
    }
}

fn share<T: Clone + Eq + Hash>(known: &mut HashSet<T, FixedState>, value: &mut T) -> bool {
    let found = known.get(value);
    let is_known = found.is_some();
    match found {
        Some(known) => value.clone_from(known),
        None => _ = known.insert(value.clone()),
    }
    is_known
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use crate::api::Pod;

    fn labels(pairs: &[(&str, &str)]) -> Labels {
        pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    #[test]
    fn a_copy_is_the_same_value_until_it_is_changed() {
        let first = labels(&[("app", "web")]);
        let mut second = first.clone();
        assert!(core::ptr::eq(&*first, &*second));
        second.insert("tier".into(), "front".into());
        assert_eq!(first, labels(&[("app", "web")]));
        assert_eq!(second, labels(&[("app", "web"), ("tier", "front")]));
        assert!(first < second);
        second.remove("tier");
        assert_eq!(first, second);
        second.remove("app");
        assert_eq!(second, Labels::new());
    }

    #[test]
    fn a_pool_gives_equal_pods_one_value() {
        let text = r#"{ "metadata": { "labels": { "app": "web" },
            "ownerReferences": [{ "kind": "ReplicaSet", "name": "web" }] },
            "spec": { "tolerations": [{ "operator": "Exists" }] } }"#;
        let mut pool = SharedPool::default();
        let [first, second] = [(); 2].map(|()| {
            let mut pod: Pod = serde_json::from_str(text).unwrap();
            pod.share_parts(&mut pool);
            pod
        });
        assert!(core::ptr::eq(&*first.metadata.labels, &*second.metadata.labels));
        assert!(core::ptr::eq(
            &*first.metadata.owner_references,
            &*second.metadata.owner_references
        ));
        assert!(core::ptr::eq(&*first.spec.tolerations, &*second.spec.tolerations));
    }
}
