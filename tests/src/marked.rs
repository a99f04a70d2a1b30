//! Objects of Kubernetes with a mark in every field that can hold a text, each its own.
//!
//! The fields are those of `tests/fields/kubernetes.txt`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

const TABLE: &str = include_str!("../fields/kubernetes.txt");

/// A cluster whose objects hold marks, and which field each mark stands in.
#[derive(Debug)]
pub struct Marked {
    /// The objects.
    pub objects: Vec<Value>,
    /// The field of each mark: `Pod.spec.nodeName`.
    pub fields: BTreeMap<String, String>,
}

impl Marked {
    /// One object of each kind of the table.
    #[must_use]
    pub fn cluster() -> Self {
        let table = Table::read();
        let mut marked = Self { objects: Vec::new(), fields: BTreeMap::new() };
        for (api_version, kind) in &table.roots {
            let mut object = marked.object(&table, kind, kind);
            object["apiVersion"] = api_version.as_str().into();
            object["kind"] = kind.as_str().into();
            valid(&mut object, kind);
            marked.objects.push(object);
        }
        marked
    }

    /// The objects as one `List`.
    #[must_use]
    pub fn text(&self) -> String {
        json!({ "apiVersion": "v1", "kind": "List", "items": self.objects }).to_string()
    }

    /// The fields whose marks stand in a text.
    #[must_use]
    pub fn found_in(&self, text: &str) -> BTreeSet<&str> {
        let marks = text.match_indices("mark").filter_map(|(at, _)| text.get(at..at + 9));
        marks.filter_map(|mark| self.fields.get(mark)).map(String::as_str).collect()
    }

    fn mark(&mut self, field: &str) -> Value {
        let mark = format!("mark{:04}x", self.fields.len());
        self.fields.insert(mark.clone(), field.to_owned());
        mark.into()
    }

    fn object(&mut self, table: &Table, type_: &str, path: &str) -> Value {
        let mut object = Map::new();
        for (name, type_) in &table.types[type_] {
            let path = format!("{path}.{name}");
            let value = match type_.as_str() {
                "text" => self.mark(&path),
                "[text]" => json!([self.mark(&path)]),
                "{text}" => json!({ "key": self.mark(&path) }),
                list if list.starts_with('[') => {
                    json!([self.object(table, list.trim_matches(['[', ']']), &path)])
                }
                map if map.starts_with('{') => {
                    json!({ "key": self.object(table, map.trim_matches(['{', '}']), &path) })
                }
                type_ => self.object(table, type_, &path),
            };
            object.insert(name.clone(), value);
        }
        Value::Object(object)
    }
}

/// The types and their fields.
struct Table {
    /// `apiVersion` and `kind`.
    roots: Vec<(String, String)>,
    types: BTreeMap<String, Vec<(String, String)>>,
}

impl Table {
    fn read() -> Self {
        let mut table = Self { roots: Vec::new(), types: BTreeMap::new() };
        let lines = TABLE.replace("\n  ", " ");
        for line in lines.lines().filter(|line| !line.starts_with('#')) {
            if let Some(root) = line.strip_prefix("= ") {
                let words: Vec<&str> = root.split(' ').collect();
                table.roots.push((words[0].to_owned(), words[1].to_owned()));
                continue;
            }
            let (type_, fields) = line.split_once(':').unwrap();
            let fields = fields.split_whitespace().map(|field| {
                let (name, type_) = field.split_once(':').unwrap_or((field, "text"));
                (name.to_owned(), type_.to_owned())
            });
            table.types.insert(type_.to_owned(), fields.collect());
        }
        table
    }
}

/// Puts valid words where an API server, or a selector, would refuse any other.
fn valid(value: &mut Value, kind: &str) {
    let Value::Object(fields) = value else {
        if let Value::Array(items) = value {
            items.iter_mut().for_each(|item| valid(item, kind));
        }
        return;
    };
    let is_toleration = fields.contains_key("effect") && fields.contains_key("operator");
    let is_expression = fields.contains_key("operator") && fields.contains_key("values");
    for (name, value) in fields {
        let word: Value = match name.as_str() {
            "effect" => "NoExecute".into(),
            "operator" if is_toleration => "Equal".into(),
            "operator" if is_expression => "In".into(),
            "whenUnsatisfiable" => "ScheduleAnyway".into(),
            "nodeAffinityPolicy" | "nodeTaintsPolicy" => "Honor".into(),
            "capacity" | "allocatable" | "requests" | "limits" | "overhead"
                if value.is_object() =>
            {
                json!({ "cpu": "1", "memory": "1Gi", "storage": "1Gi" })
            }
            "sizeLimit" => "1Gi".into(),
            "labels" => json!({ "app": "web" }),
            "selector" if value.get("matchLabels").is_some() => {
                json!({ "matchLabels": { "app": "web" } })
            }
            "priorityClassName" => "system-node-critical".into(),
            "maxUnavailable" if kind != "PodDisruptionBudget" => "25%".into(),
            "minAvailable" => "25%".into(),
            "maxSurge" | "maxUnavailable" => Value::Null,
            "unhealthyPodEvictionPolicy" => "AlwaysAllow".into(),
            "preemptionPolicy" => "PreemptLowerPriority".into(),
            _ => {
                valid(value, kind);
                continue;
            }
        };
        *value = word;
    }
}
