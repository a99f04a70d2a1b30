//! Second opinions on the control plane: small, slow models to compare the engine with.
//!
//! They are written from the documented rules of Kubernetes (`docs/behaviours.md`,
//! `docs/upstream.md`) and read objects as plain JSON, as `kubectl get -o json` prints them: no
//! index, no cache, no code of the engine. Each has its own table of what releases differ in.

pub mod devices;
pub mod scheduler;
pub mod workloads;

use serde_json::Value;

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
