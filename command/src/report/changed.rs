//! Changes in the objects of two clusters, with their places in the texts.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Value, json};
use taintlab_core::api::{PodKey, Taint, Toleration, WorkloadKey, WorkloadKind};
use taintlab_core::report::ReportSubject;
use taintlab_manifest::{Import, Sought, places_of};
use taintlab_words::report::ChangedObject;

use crate::reading::{Input, objects};

/// The longest value in words, in characters.
const LONGEST: usize = 80;

/// Kind, namespace and name of an object.
type Key = (String, String, String);

/// Changes from the objects of some texts to those of others.
pub(super) fn changed(before: &[Input], after: &[Input]) -> Vec<ChangedObject> {
    let (old, new) = (fields(&objects(before, false)), fields(&objects(after, false)));
    let keys: BTreeSet<&Key> = old.keys().chain(new.keys()).collect();
    let mut found = Vec::new();
    for key in keys {
        match (old.get(key), new.get(key)) {
            (None, _) => found.push((key, true, String::new(), "came".to_owned())),
            (_, None) => found.push((key, false, String::new(), "went".to_owned())),
            (Some(old), Some(new)) => {
                let mut changes = Vec::new();
                walk(old, new, "", &mut changes);
                found.extend(changes.into_iter().map(|(path, what)| (key, true, path, what)));
            }
        }
    }
    let sought: Vec<Sought> = found.iter().map(|(key, _, path, _)| sought(key, path)).collect();
    let (places_before, places_after) = (places(before, &sought), places(after, &sought));
    let places = places_before.into_iter().zip(places_after);
    let changes = found.into_iter().zip(places).map(|((key, is_there, _, what), (old, new))| {
        let place = if is_there { new } else { old };
        let (file, line, column) = match place {
            Some((file, line, column)) => (Some(file), Some(line), Some(column)),
            None => (None, None, None),
        };
        let (kind, namespace, name) = key;
        let slash = if namespace.is_empty() { "" } else { "/" };
        let object = format!("{kind} {namespace}{slash}{name}");
        ChangedObject { file, line, column, object, subject: subject(key), what }
    });
    changes.collect()
}

/// In JSON as it is printed.
pub(super) fn to_json(changed: &ChangedObject) -> Value {
    let ChangedObject { file, line, column, object, subject, what } = changed;
    json!({
        "file": file, "line": line, "column": column, "object": object, "subject": subject,
        "what": what,
    })
}

/// The objects of a cluster, with the fields on which a report depends.
fn fields(import: &Import) -> BTreeMap<Key, Value> {
    let mut all = BTreeMap::new();
    let mut add = |kind: &str, object: Value| {
        let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let (namespace, name) = (text("/metadata/namespace"), text("/metadata/name"));
        let key = (kind.to_owned(), namespace.to_owned(), name.to_owned());
        all.insert(key, kept(kind, &object));
    };
    for workload in import.workloads.iter().filter(|it| it.owner().is_none()) {
        add(workload.kind.as_str(), value(workload));
    }
    for pod in import.pods.iter().filter(|pod| pod.metadata.owner_references.is_empty()) {
        add("Pod", value(pod));
    }
    for node in &import.nodes {
        add("Node", value(node));
    }
    for budget in &import.budgets {
        add("PodDisruptionBudget", value(budget));
    }
    for class in import.others.iter().filter(|it| it.get("kind") == Some(&"PriorityClass".into())) {
        add("PriorityClass", class.clone());
    }
    all
}

fn value(object: &impl Serialize) -> Value {
    serde_json::to_value(object).unwrap_or_default()
}

/// Fields of an object that its author sets, without its status.
fn kept(kind: &str, object: &Value) -> Value {
    let part = |path: &str| object.pointer(path).cloned().unwrap_or_default();
    match kind {
        "Node" => json!({
            "metadata": {"labels": part("/metadata/labels")},
            "spec": {"taints": part("/spec/taints")},
            "status": {"allocatable": part("/status/allocatable")},
        }),
        "PriorityClass" => {
            json!({"value": part("/value"), "globalDefault": part("/globalDefault")})
        }
        "Pod" => {
            let mut spec = part("/spec");
            if let Some(spec) = spec.as_object_mut() {
                spec.remove("nodeName");
            }
            json!({"spec": spec})
        }
        _ => json!({"spec": part("/spec")}),
    }
}

/// The paths at which two values differ, each with the difference in words.
fn walk(before: &Value, after: &Value, path: &str, changes: &mut Vec<(String, String)>) {
    if before == after {
        return;
    }
    match (before, after) {
        (Value::Object(old), Value::Object(new)) => {
            let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            for name in names {
                let dot = if path.is_empty() { "" } else { "." };
                let part = |fields: &serde_json::Map<String, Value>| {
                    fields.get(name).cloned().unwrap_or_default()
                };
                walk(&part(old), &part(new), &format!("{path}{dot}{name}"), changes);
            }
        }
        (Value::Array(old), Value::Array(new)) => items(old, new, path, changes),
        (Value::Array(old), Value::Null) => items(old, &[], path, changes),
        (Value::Null, Value::Array(new)) => items(&[], new, path, changes),
        (Value::Null, new) => changes.push(said(path, &format!("{} came", words(path, new)))),
        (old, Value::Null) => changes.push(said(path, &format!("{} went", words(path, old)))),
        (old, new) => {
            changes.push(said(path, &format!("{} → {}", words(path, old), words(path, new))));
        }
    }
}

fn said(path: &str, what: &str) -> (String, String) {
    (path.to_owned(), format!("{path}: {what}"))
}

/// The items of two lists: those with a name are compared by it.
fn items(old: &[Value], new: &[Value], path: &str, changes: &mut Vec<(String, String)>) {
    let named = |list: &[Value], item: &Value| {
        let name = item.get("name")?;
        list.iter().find(|other| other.get("name") == Some(name)).cloned()
    };
    let before = changes.len();
    for (index, item) in new.iter().enumerate() {
        let place = format!("{path}[{index}]");
        match named(old, item) {
            Some(other) => walk(&other, item, &place, changes),
            None if old.contains(item) => {}
            None => changes.push((place, format!("{path}: {} came", words(path, item)))),
        }
    }
    for item in old {
        if named(new, item).is_none() && !new.contains(item) {
            changes.push(said(path, &format!("{} went", words(path, item))));
        }
    }
    if changes.len() == before && old.len() == new.len() && old != new {
        changes.push(said(path, "another order"));
    }
}

/// A value in a few words, as Kubernetes writes it.
fn words(path: &str, value: &Value) -> String {
    let last = path.rsplit('.').next().unwrap_or_default();
    let known = match last {
        "tolerations" => {
            serde_json::from_value::<Toleration>(value.clone()).map(|it| it.to_string()).ok()
        }
        "taints" => serde_json::from_value::<Taint>(value.clone()).map(|it| it.to_string()).ok(),
        _ => None,
    };
    let text = known.unwrap_or_else(|| match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    });
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST - 1).chain(['…']).collect()
}

fn sought((kind, namespace, name): &Key, path: &str) -> Sought {
    let fields = if path.is_empty() { Vec::new() } else { vec![path.to_owned()] };
    Sought { kind: kind.clone(), namespace: namespace.clone(), name: name.clone(), fields }
}

/// Places in the texts, the later of which change what is in those before them.
pub(super) fn places(inputs: &[Input], sought: &[Sought]) -> Vec<Option<(String, u32, u32)>> {
    let mut places = vec![None; sought.len()];
    for input in inputs.iter().rev() {
        for (known, found) in places.iter_mut().zip(places_of(&input.text, sought)) {
            if known.is_none() {
                *known = found.map(|(line, column)| (input.file.clone(), line, column));
            }
        }
    }
    places
}

/// Workload of the report for an object.
fn subject((kind, namespace, name): &Key) -> Option<ReportSubject> {
    if kind == "Pod" {
        return Some(ReportSubject::Pod(PodKey::new(namespace, name)));
    }
    let kind = WorkloadKind::ALL.into_iter().find(|known| known.as_str() == kind)?;
    Some(ReportSubject::Workload(WorkloadKey::new(kind, namespace, name)))
}
