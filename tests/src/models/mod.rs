//! Second opinions on the control plane: small, slow models to compare the engine with.
//!
//! They are written from the documented rules of Kubernetes (`docs/behaviours.md`,
//! `docs/upstream.md`) and read objects as plain JSON, as `kubectl get -o json` prints them: no
//! index, no cache, no code of the engine. Each has its own table of what releases differ in.

pub mod devices;
pub mod scheduler;
pub mod workloads;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use taintlab_core::release::KubernetesRelease;

/// Objects as JSON. States share the objects that are equal in both.
#[derive(Clone, Debug, Default)]
pub struct Objects(Vec<Arc<Value>>);

impl Objects {
    /// The objects in their order.
    #[must_use]
    pub fn iter(&self) -> <&Self as IntoIterator>::IntoIter {
        self.into_iter()
    }

    /// Copies of the objects.
    #[must_use]
    pub fn to_vec(&self) -> Vec<Value> {
        self.iter().cloned().collect()
    }
}

impl<'a> IntoIterator for &'a Objects {
    type Item = &'a Value;
    type IntoIter = std::iter::Map<std::slice::Iter<'a, Arc<Value>>, fn(&Arc<Value>) -> &Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter().map(|object| object)
    }
}

impl FromIterator<Value> for Objects {
    fn from_iter<I: IntoIterator<Item = Value>>(objects: I) -> Self {
        Self(objects.into_iter().map(Arc::new).collect())
    }
}

/// Reads objects of one kind, and writes those anew that are others than the last time.
#[derive(Clone, Debug)]
pub struct Reader<T>(BTreeMap<*const T, (Arc<T>, Arc<Value>)>);

impl<T> Default for Reader<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: Serialize> Reader<T> {
    /// The objects as JSON.
    ///
    /// # Panics
    /// An object cannot be written as JSON, which is an error of its type.
    pub fn read<'a>(&mut self, objects: impl Iterator<Item = &'a Arc<T>>) -> Objects
    where
        T: 'a,
    {
        let mut known = BTreeMap::new();
        let read = objects.map(|object| {
            // An object that is known is alive, so that no other one has its address.
            let found = self.0.remove(&Arc::as_ptr(object)).map(|(_, json)| json);
            let json = found.unwrap_or_else(|| Arc::new(serde_json::to_value(&**object).unwrap()));
            known.insert(Arc::as_ptr(object), (object.clone(), json.clone()));
            json
        });
        let read = Objects(read.collect());
        self.0 = known;
        read
    }
}

/// The minor of a release.
///
/// # Panics
/// A release has another form than `1.30`.
#[must_use]
pub fn minor_of(release: KubernetesRelease) -> u8 {
    let text = release.to_string();
    text.strip_prefix("1.").and_then(|minor| minor.parse().ok()).unwrap()
}

/// The text at a path, empty if there is none.
#[must_use]
pub fn text<'a>(object: &'a Value, path: &str) -> &'a str {
    object.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

/// The whole number at a path.
#[must_use]
pub fn number(object: &Value, path: &str) -> Option<i64> {
    object.pointer(path).and_then(Value::as_i64)
}

/// The list at a path, empty if there is none.
#[must_use]
pub fn list<'a>(object: &'a Value, path: &str) -> &'a [Value] {
    object.pointer(path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// `metadata.name`.
#[must_use]
pub fn name(object: &Value) -> &str {
    text(object, "/metadata/name")
}

/// The value of a label.
#[must_use]
pub fn label<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.pointer("/metadata/labels")?.get(key)?.as_str()
}

/// Whether a deletion has begun.
#[must_use]
pub fn is_terminating(object: &Value) -> bool {
    !text(object, "/metadata/deletionTimestamp").is_empty()
}

/// Whether a pod has succeeded or failed.
#[must_use]
pub fn has_ended(pod: &Value) -> bool {
    matches!(text(pod, "/status/phase"), "Succeeded" | "Failed")
}

/// Since when the condition of that type is what it is, empty if there is none.
#[must_use]
pub fn condition_since<'a>(object: &'a Value, type_: &str) -> &'a str {
    let mut conditions = list(object, "/status/conditions").iter();
    let found = conditions.find(|it| text(it, "/type") == type_);
    found.map_or("", |it| text(it, "/lastTransitionTime"))
}

/// Whether the condition of that type is `True`.
#[must_use]
pub fn has_condition(object: &Value, type_: &str) -> bool {
    let mut conditions = list(object, "/status/conditions").iter();
    conditions.any(|it| text(it, "/type") == type_ && text(it, "/status") == "True")
}

/// A label selector: absent selects nothing, empty selects everything.
#[must_use]
pub fn selects(selector: Option<&Value>, object: &Value) -> bool {
    let Some(selector) = selector else { return false };
    let wanted = selector.get("matchLabels").and_then(Value::as_object);
    let all = wanted.into_iter().flatten().all(|(key, value)| label(object, key) == value.as_str());
    all && list(selector, "/matchExpressions").iter().all(|it| expression(it, object))
}

/// One requirement of a selector.
#[must_use]
pub fn expression(requirement: &Value, object: &Value) -> bool {
    let found = label(object, text(requirement, "/key"));
    let values: Vec<&str> = list(requirement, "/values").iter().filter_map(Value::as_str).collect();
    let whole = |text: Option<&str>| text.and_then(|text| text.parse::<i64>().ok());
    match text(requirement, "/operator") {
        "In" => found.is_some_and(|found| values.contains(&found)),
        "NotIn" => found.is_none_or(|found| !values.contains(&found)),
        "Exists" => found.is_some(),
        "DoesNotExist" => found.is_none(),
        "Gt" => whole(found).zip(whole(values.first().copied())).is_some_and(|(a, b)| a > b),
        "Lt" => whole(found).zip(whole(values.first().copied())).is_some_and(|(a, b)| a < b),
        _ => false,
    }
}

/// Whether one toleration matches a taint, by the operators `Exists` and `Equal`.
#[must_use]
pub fn tolerates(toleration: &Value, taint: &Value) -> bool {
    let (effect, key) = (text(toleration, "/effect"), text(toleration, "/key"));
    let matches = |wanted: &str, path: &str| wanted.is_empty() || wanted == text(taint, path);
    matches(effect, "/effect")
        && matches(key, "/key")
        && match text(toleration, "/operator") {
            "Exists" => true,
            "" | "Equal" => text(toleration, "/value") == text(taint, "/value"),
            _ => false,
        }
}

/// Whether a node's labels satisfy a pod's `nodeSelector` and required node affinity.
#[must_use]
pub fn node_matches(pod: &Value, node: &Value) -> bool {
    let selector = pod.pointer("/spec/nodeSelector").and_then(Value::as_object);
    let selected =
        selector.into_iter().flatten().all(|(key, value)| label(node, key) == value.as_str());
    let path = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution";
    let Some(required) = pod.pointer(path) else { return selected };
    // Terms are alternatives; one without requirements matches nothing.
    let matches = |term: &Value| {
        let (labels, fields) = (list(term, "/matchExpressions"), list(term, "/matchFields"));
        let by_name = |it: &Value| {
            let named = list(it, "/values").iter().any(|value| value.as_str() == Some(name(node)));
            if text(it, "/operator") == "In" { named } else { !named }
        };
        !(labels.is_empty() && fields.is_empty())
            && labels.iter().all(|it| expression(it, node))
            && fields.iter().all(by_name)
    };
    selected && list(required, "/nodeSelectorTerms").iter().any(matches)
}
