//! Prepares the sample cluster for the page, and the page for being split.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::{env, fs};

use serde_json::{Map, Value};
use taintlab_manifest::{Limits, read_scenario};

const SAMPLE: &str = "../examples/sample-cluster.yaml";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={SAMPLE}");
    println!("cargo:rerun-if-changed=build.rs");
    // As code: what reads YAML is loaded later than the page, and so is all that decodes.
    let text = fs::read_to_string(SAMPLE)?;
    let mut no_files = |name: &str| Err(format!("{SAMPLE} must not need `{name}`"));
    let read = read_scenario(&text, SAMPLE, &Limits::default(), &mut no_files);
    let scenario = read.scenario.ok_or_else(|| format!("{SAMPLE}: {:?}", read.diagnostics))?;
    let code = Code::of(&serde_json::to_value(&scenario)?)?;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("sample_cluster.rs"), code)?;
    // What cuts the page's wasm in two needs to know what refers to what.
    if env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm") {
        println!("cargo:rustc-link-arg-bins=--emit-relocs");
    }
    Ok(())
}

/// What a field holds.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    /// `Option<bool>` or `Option<i64>`.
    Maybe,
    /// An enum whose variants are named as they are written.
    Variant(&'static str),
    Labels,
    Struct(&'static str),
    List(&'static str),
}

/// The fields of the API that are used in the sample, by type and name. A test compares what comes
/// out with the file; what is not listed here is kept as it is, in `other`.
const FIELDS: &[(&str, &str, &str, Kind)] = &[
    ("Scenario", "metadata", "metadata", Kind::Struct("ScenarioMetadata")),
    ("Scenario", "objects", "objects", Kind::Struct("Objects")),
    ("ScenarioMetadata", "name", "name", Kind::Text),
    ("ScenarioMetadata", "title", "title", Kind::Text),
    ("ScenarioMetadata", "question", "question", Kind::Text),
    ("ScenarioMetadata", "answer", "answer", Kind::Text),
    ("Objects", "nodes", "nodes", Kind::List("Node")),
    ("Objects", "pods", "pods", Kind::List("Pod")),
    ("Node", "metadata", "metadata", Kind::Struct("ObjectMeta")),
    ("Node", "spec", "spec", Kind::Struct("NodeSpec")),
    ("Node", "status", "status", Kind::Struct("NodeStatus")),
    ("NodeSpec", "taints", "taints", Kind::List("Taint")),
    ("NodeStatus", "conditions", "conditions", Kind::List("NodeCondition")),
    ("NodeCondition", "type", "type_", Kind::Text),
    ("NodeCondition", "status", "status", Kind::Variant("ConditionStatus")),
    ("NodeCondition", "reason", "reason", Kind::Text),
    ("Taint", "key", "key", Kind::Text),
    ("Taint", "value", "value", Kind::Text),
    ("Taint", "effect", "effect", Kind::Variant("TaintEffect")),
    ("ObjectMeta", "name", "name", Kind::Text),
    ("ObjectMeta", "namespace", "namespace", Kind::Text),
    ("ObjectMeta", "labels", "labels", Kind::Labels),
    ("ObjectMeta", "ownerReferences", "owner_references", Kind::List("OwnerReference")),
    ("OwnerReference", "apiVersion", "api_version", Kind::Text),
    ("OwnerReference", "kind", "kind", Kind::Text),
    ("OwnerReference", "name", "name", Kind::Text),
    ("OwnerReference", "uid", "uid", Kind::Text),
    ("OwnerReference", "controller", "controller", Kind::Maybe),
    ("Pod", "metadata", "metadata", Kind::Struct("ObjectMeta")),
    ("Pod", "spec", "spec", Kind::Struct("PodSpec")),
    ("Pod", "status", "status", Kind::Struct("PodStatus")),
    ("PodSpec", "nodeName", "node_name", Kind::Text),
    ("PodSpec", "tolerations", "tolerations", Kind::List("Toleration")),
    ("PodSpec", "terminationGracePeriodSeconds", "termination_grace_period_seconds", Kind::Maybe),
    ("Toleration", "key", "key", Kind::Text),
    ("Toleration", "operator", "operator", Kind::Variant("TolerationOperator")),
    ("Toleration", "value", "value", Kind::Text),
    ("Toleration", "effect", "effect", Kind::Variant("TaintEffect")),
    ("Toleration", "tolerationSeconds", "toleration_seconds", Kind::Maybe),
    ("PodStatus", "phase", "phase", Kind::Variant("PodPhase")),
    ("PodStatus", "conditions", "conditions", Kind::List("PodCondition")),
    ("PodCondition", "type", "type_", Kind::Text),
    ("PodCondition", "status", "status", Kind::Variant("ConditionStatus")),
];

/// Functions that make a value, each part that occurs again being one of its own.
#[derive(Default)]
struct Code {
    /// Body of a function to its number.
    made: BTreeMap<String, usize>,
    text: String,
}

impl Code {
    fn of(scenario: &Value) -> Result<String, Box<dyn Error>> {
        let mut code = Self::default();
        let made = code.part("Scenario", scenario)?;
        let begin = "/// The sample cluster.\npub(crate) fn sample() -> Scenario {\n    ";
        Ok(format!("{begin}{made}\n}}\n{}", code.text))
    }

    /// A call of the function that makes a value of a type.
    fn part(&mut self, type_: &str, value: &Value) -> Result<String, Box<dyn Error>> {
        let fields = value.as_object().ok_or_else(|| format!("{type_}: no object: {value}"))?;
        let (mut typed, mut kept) = (String::new(), String::new());
        for (name, value) in fields {
            if matches!(name.as_str(), "apiVersion" | "kind") && type_ != "OwnerReference" {
                continue;
            }
            let known = FIELDS.iter().find(|(of, json, ..)| *of == type_ && json == name);
            match known {
                Some((_, _, field, kind)) => {
                    typed += &format!("{field}: {}, ", self.field(*kind, value)?);
                }
                None => kept += &format!("it.other.set({name:?}, {}); ", self.json(value)),
            }
        }
        let made = format!("{type_} {{ {typed}..{type_}::default() }}");
        let body = match kept.is_empty() {
            true => made,
            false => format!("let mut it = {made};\n    {kept}\n    it"),
        };
        Ok(self.function(type_, &body))
    }

    fn field(&mut self, kind: Kind, value: &Value) -> Result<String, Box<dyn Error>> {
        Ok(match (kind, value) {
            (Kind::Text, Value::String(text)) => format!("{text:?}.into()"),
            (Kind::Maybe, Value::Bool(_) | Value::Number(_)) => format!("Some({value})"),
            (Kind::Variant(of), Value::String(name)) => format!("{of}::{name}"),
            (Kind::Labels, Value::Object(labels)) => labels_of(labels),
            (Kind::Struct(of), value) => self.part(of, value)?,
            (Kind::List(of), Value::Array(items)) => {
                let items = items.iter().map(|item| self.part(of, item));
                let items = items.collect::<Result<Vec<_>, _>>()?.join(", ");
                self.function(&format!("Vec<{of}>"), &format!("vec![{items}]"))
            }
            _ => return Err(format!("unexpected {value}").into()),
        })
    }

    fn json(&mut self, value: &Value) -> String {
        let body = match value {
            Value::Null => "Value::Null".to_owned(),
            Value::Bool(flag) => format!("Value::Bool({flag})"),
            Value::Number(number) => format!("Value::from({number})"),
            Value::String(text) => format!("Value::String({text:?}.into())"),
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| self.json(item)).collect();
                format!("Value::Array(vec![{}])", items.join(", "))
            }
            Value::Object(fields) => {
                let fields = fields.iter();
                let fields: Vec<String> = fields
                    .map(|(name, value)| format!("({name:?}.into(), {})", self.json(value)))
                    .collect();
                format!("Value::Object([{}].into_iter().collect())", fields.join(", "))
            }
        };
        self.function("Value", &body)
    }

    fn function(&mut self, type_: &str, body: &str) -> String {
        let next = self.made.len();
        let number = *self.made.entry(format!("{type_} {body}")).or_insert(next);
        if number == next {
            self.text += &format!("fn part_{number}() -> {type_} {{\n    {body}\n}}\n");
        }
        format!("part_{number}()")
    }
}

fn labels_of(labels: &Map<String, Value>) -> String {
    let pairs: Vec<String> =
        labels.iter().map(|(key, value)| format!("({key:?}.into(), {value}.into())")).collect();
    format!("[{}].into()", pairs.join(", "))
}
