//! Writes Kubernetes manifests.

use serde::Serialize;
use serde_json::{Map, Value, json};
use taintlab_core::api::{Node, Pod, json_value};

use crate::json_writer;
use crate::yaml_writer::{Style, write_document, write_element};

/// The syntax of the written objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// YAML, as `kubectl get -o yaml` prints it.
    #[default]
    Yaml,
    /// JSON, as `kubectl get -o json` prints it.
    Json,
}

/// The use of the written objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// To be imported again: everything, with status and UIDs. An import gives the same objects,
    /// except for messages that the engine wrote for people.
    #[default]
    State,
    /// For `kubectl apply` to a cluster: the user's part of each object, without the cluster's
    /// (status, UID, times, owners, computed priority). A pod without containers, which no API
    /// server takes, gets one that does nothing. Pods stay bound to their nodes.
    ///
    /// Objects with nothing but an identity are left out: applying them would remove from the
    /// cluster what the import dropped. Other objects lack what the import dropped, such as
    /// environment and commands.
    Apply,
}

/// Writes objects as one `List`: nodes first, then pods, then the others.
///
/// ```
/// use taintlab_manifest::{Format, Limits, Purpose, export, import};
///
/// let text = "{apiVersion: v1, kind: Node, metadata: {name: \"1.0\"}}";
/// let import = import(text, "node.yaml", &Limits::default());
/// assert_eq!(
///     export(&import.nodes, &import.pods, &import.others, Purpose::Apply, Format::Yaml),
///     "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata:\n    \
///      name: \"1.0\"\n"
/// );
/// ```
pub fn export<'a>(
    nodes: impl IntoIterator<Item = &'a Node>,
    pods: impl IntoIterator<Item = &'a Pod>,
    others: impl IntoIterator<Item = &'a Value>,
    purpose: Purpose,
    format: Format,
) -> String {
    let nodes = nodes.into_iter().map(value_of);
    let pods = pods.into_iter().map(|pod| complete(value_of(pod), purpose));
    let others = others.into_iter().filter(|object| match purpose {
        Purpose::State => true,
        Purpose::Apply => !is_identity(object),
    });
    let others = others.cloned();
    let objects = nodes.chain(pods).chain(others).map(|object| match purpose {
        Purpose::State => object,
        Purpose::Apply => without_observations(object),
    });
    match format {
        Format::Yaml => yaml_list(objects),
        Format::Json => json_list(objects),
    }
}

/// Writes one object, or anything else that has a JSON form, as YAML.
///
/// # Errors
/// The value has no JSON form, for example a map whose keys are not strings.
pub fn to_yaml<T: Serialize + ?Sized>(value: &T) -> Result<String, serde_json::Error> {
    let mut out = String::new();
    write_document(&mut out, &json_value(value)?, Style::Plain);
    Ok(out)
}

/// Writes a value as `kubectl get -o yaml` prints it: the keys of every object sorted, and the
/// quotes of `sigs.k8s.io/yaml`.
///
/// ```
/// use serde_json::json;
/// use taintlab_manifest::to_kubectl_yaml;
///
/// let value = json!({ "name": "b", "message": "0/1 nodes: none", "args": ["--all", "*", "on"] });
/// assert_eq!(
///     to_kubectl_yaml(&value),
///     "args:\n- --all\n- '*'\n- \"on\"\nmessage: '0/1 nodes: none'\nname: b\n"
/// );
/// ```
#[must_use]
pub fn to_kubectl_yaml(value: &Value) -> String {
    let mut out = String::new();
    write_document(&mut out, value, Style::Kubectl);
    out
}

/// Writes a value as JSON, as `kubectl get -o json` prints it, without a final line feed.
#[must_use]
pub fn to_json(value: &Value) -> String {
    let mut out = String::new();
    json_writer::write(&mut out, value, 0);
    out
}

/// The JSON form of an object. It exists: all keys of a node or a pod are strings.
fn value_of<T: Serialize>(object: &T) -> Value {
    json_value(object).unwrap_or_default()
}

fn yaml_list(objects: impl Iterator<Item = Value>) -> String {
    let mut out = String::from("apiVersion: v1\nkind: List\nitems:");
    let mut objects = objects.peekable();
    out.push_str(if objects.peek().is_none() { " []\n" } else { "\n" });
    // Make one object at a time a value; all at once would need many times the memory of the text.
    for object in objects {
        write_element(&mut out, &object, 0, Style::Plain);
    }
    out
}

fn json_list(objects: impl Iterator<Item = Value>) -> String {
    let mut out =
        String::from("{\n    \"apiVersion\": \"v1\",\n    \"kind\": \"List\",\n    \"items\": [");
    let mut separator = "\n        ";
    for object in objects {
        out.push_str(separator);
        separator = ",\n        ";
        json_writer::write(&mut out, &object, 8);
    }
    out.push_str("\n    ]\n}\n");
    out
}

/// Whether only the identity of an object is known.
fn is_identity(object: &Value) -> bool {
    let known = ["apiVersion", "kind", "metadata", "status"];
    object.get("kind").and_then(Value::as_str) != Some("Namespace")
        && object
            .as_object()
            .is_some_and(|fields| fields.keys().all(|key| known.contains(&key.as_str())))
}

/// For `Apply`, adds to a pod what an API server requires of a new one.
fn complete(mut pod: Value, purpose: Purpose) -> Value {
    if purpose == Purpose::Apply
        && let Value::Object(object) = &mut pod
    {
        let spec = object.entry("spec").or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(spec) = spec {
            spec.entry("containers").or_insert_with(
                || json!([{ "name": "pause", "image": "registry.k8s.io/pause:3.10" }]),
            );
            // The priority class sets it; the API server refuses another value.
            spec.remove("priority");
        }
    }
    pod
}

/// Removes what the cluster, not the user, says about an object.
fn without_observations(mut object: Value) -> Value {
    const OBSERVED: [&str; 10] = [
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "selfLink",
        "managedFields",
        // Nobody would take them off again where their controller is not.
        "finalizers",
        // The cluster would delete an object whose owner does not exist.
        "ownerReferences",
    ];
    if let Value::Object(fields) = &mut object {
        fields.remove("status");
        if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
            for field in OBSERVED {
                metadata.remove(field);
            }
        }
    }
    object
}
