//! The JSON Schema of requests, made of types that say what `fields` reads.

#![expect(dead_code, reason = "these types are only described")]

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, schema_for};

/// A taint of a node.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Taint {
    /// The key, a qualified name such as `example.com/maintenance`.
    key: String,
    /// The value; may be empty.
    value: Option<String>,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    effect: String,
    /// When the node lifecycle controller added the taint, RFC 3339.
    time_added: Option<String>,
}

/// A toleration of a pod.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Toleration {
    /// The taint key; empty or absent stands for every key.
    key: Option<String>,
    /// `Equal` (or absent), `Exists`, and `Lt` and `Gt` with a feature gate.
    operator: Option<String>,
    /// The value compared with the taint's.
    value: Option<String>,
    /// The taint effect; empty or absent stands for every effect.
    effect: Option<String>,
    /// For `NoExecute`: how many seconds the pod stays. Absent is forever; zero and less is not at
    /// all.
    toleration_seconds: Option<i64>,
}

/// Which Kubernetes answers.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReleaseOptions {
    /// The release, for example `1.34`; the newest known one unless given.
    release: Option<String>,
    /// Feature gates that differ from the defaults of the release.
    feature_gates: Option<BTreeMap<String, bool>>,
}

/// From which fraction on a zone is disrupted.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ZoneStateOptions {
    /// `--unhealthy-zone-threshold`: the fraction of nodes that are not ready; 0.55 unless given.
    unhealthy_zone_threshold: Option<f32>,
}

/// A node, of which only the Ready condition counts.
#[derive(JsonSchema)]
struct Node {
    /// What was observed.
    status: Option<NodeStatus>,
}

/// The status of a node.
#[derive(JsonSchema)]
struct NodeStatus {
    /// The conditions; other types than `Ready` are ignored.
    conditions: Option<Vec<NodeCondition>>,
}

/// A condition of a node.
#[derive(JsonSchema)]
struct NodeCondition {
    /// `Ready`, or another type.
    r#type: Option<String>,
    /// `True`, `False` or `Unknown`.
    status: Option<String>,
}

/// How tolerations answer taints. The answer is the npm package's `Explanation`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct Match {
    /// `match`
    function: String,
    /// The node's taints, in its order.
    taints: Vec<Taint>,
    /// The pod's tolerations, in its order.
    tolerations: Vec<Toleration>,
    /// Which Kubernetes; `Lt` and `Gt` are compared only with a feature gate.
    options: Option<ReleaseOptions>,
}

/// The least `tolerationSeconds` of tolerations that are all in use: a number, or `null` for
/// forever.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct TolerationTime {
    /// `toleration_time`
    function: String,
    /// For each `NoExecute` taint of the node the toleration that answers it.
    tolerations: Vec<Toleration>,
}

/// How disrupted a zone with these nodes is. The answer is the npm package's `ZoneStateAnswer`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct ZoneState {
    /// `zone_state`
    function: String,
    /// All nodes of the zone; one without a Ready condition is not ready.
    nodes: Vec<Node>,
    /// From which fraction on a zone is disrupted.
    options: Option<ZoneStateOptions>,
}

/// What the API server says of the taints of a node, of the tolerations of a new pod, or of both.
/// The answer is `{"ok":true}`, or the errors.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct Validate {
    /// `validate`
    function: String,
    /// The taints, in their order.
    taints: Option<Vec<Taint>>,
    /// The tolerations, in their order.
    tolerations: Option<Vec<Toleration>>,
    /// Which Kubernetes; for tolerations.
    options: Option<ReleaseOptions>,
}

/// When a pod is evicted from a node, and why. The answer is the npm package's `WhenEvicted`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct When {
    /// `when`
    function: String,
    /// A Pod, or a Deployment, ReplicaSet, StatefulSet, DaemonSet, Job or CronJob.
    pod: BTreeMap<String, serde_json::Value>,
    /// The Node.
    node: BTreeMap<String, serde_json::Value>,
    /// The npm package's `WhenEvictedOptions`: `nodeFault` (`tainted`, `lost` or `notReady`),
    /// `release` and others.
    options: Option<BTreeMap<String, serde_json::Value>>,
}

/// What is likely to surprise in a cluster, the most pressing first. The answer is that of the npm
/// package's `lint`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct Lint {
    /// `lint`
    function: String,
    /// An object, an array of objects, a List, or JSON text of them.
    manifests: serde_json::Value,
    /// The npm package's `SimulatorOptions`.
    options: Option<BTreeMap<String, serde_json::Value>>,
}

/// What is to become of one pod in a cluster, and why: the npm package's `PodExplanation`, or
/// `null` if there is no such pod.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
struct Explain {
    /// `explain`
    function: String,
    /// An array of objects, a List, or JSON text of them.
    manifests: serde_json::Value,
    /// `namespace/name`, or `name` in the namespace `default`.
    pod: String,
    /// The npm package's `SimulatorOptions`.
    options: Option<BTreeMap<String, serde_json::Value>>,
}

/// The schema of the requests of each function, by its name.
#[must_use]
pub fn requests() -> BTreeMap<&'static str, Schema> {
    BTreeMap::from([
        ("match", schema_for!(Match)),
        ("toleration_time", schema_for!(TolerationTime)),
        ("zone_state", schema_for!(ZoneState)),
        ("validate", schema_for!(Validate)),
        ("when", schema_for!(When)),
        ("lint", schema_for!(Lint)),
        ("explain", schema_for!(Explain)),
    ])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    /// The path of the file that others read.
    const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/policy-module.schema.json");

    #[test]
    fn the_file_is_what_the_types_say() {
        let schema = serde_json::to_string_pretty(&requests()).unwrap() + "\n";
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(FILE, &schema).unwrap();
        }
        let same = std::fs::read_to_string(FILE).unwrap() == schema;
        assert!(same, "docs/policy-module.schema.json is old: run this test with BLESS=1");
    }

    fn names(schema: &Value, pointer: &str) -> BTreeSet<String> {
        schema.pointer(pointer).unwrap().as_object().unwrap().keys().cloned().collect()
    }

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn the_types_have_the_fields_that_are_read() {
        let requests = serde_json::to_value(requests()).unwrap();
        assert_eq!(requests.as_object().unwrap().len(), crate::FUNCTIONS.len());
        for (name, fields) in crate::FUNCTIONS {
            assert_eq!(names(&requests, &format!("/{name}/properties")), set(fields));
        }
        let of_match = |name| names(&requests, &format!("/match/$defs/{name}/properties"));
        assert_eq!(of_match("Taint"), set(taintlab_answers::fields::TAINT));
        assert_eq!(of_match("Toleration"), set(taintlab_answers::fields::TOLERATION));
        assert_eq!(of_match("ReleaseOptions"), set(crate::values::RELEASE_OPTIONS));
        let options = names(&requests, "/zone_state/$defs/ZoneStateOptions/properties");
        assert_eq!(options, set(crate::values::ZONE_STATE_OPTIONS));
    }
}
