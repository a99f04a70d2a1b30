//! Questions whose answer takes a cluster in simulated time, or its scheduler.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use taintlab_core::api::{Node, Pod};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scheduling::{self, SchedulerConfig};
use taintlab_core::simulator::{self, Trouble};
use taintlab_core::warnings::Warning;
use tsify::Tsify;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::cluster::cluster;
use crate::input::{read, read_list, read_options};
use crate::options::{ReleaseOptions, of_config};
use crate::output::{Answer, to_js};
use crate::problem::{Problem, ProblemCode, fail};

/// What becomes of the node, and on which Kubernetes.
#[derive(Debug, Default, Deserialize, Tsify)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct WhenEvictedOptions {
    /// What happens to the node at time zero: its taints are put on it (`tainted`, unless given),
    /// or its kubelet falls silent in an otherwise healthy cluster (`lost`).
    pub trouble: Trouble,
    /// The release, for example `1.34`; the newest known one unless given.
    #[tsify(type = "KubernetesRelease")]
    pub release: Option<KubernetesRelease>,
    /// Feature gates that differ from the defaults of the release.
    pub feature_gates: BTreeMap<String, bool>,
    /// Flags of kube-controller-manager that differ from the defaults of the release, by name
    /// without dashes; for `lost`.
    pub controller_manager_flags: BTreeMap<String, String>,
}

/// When a pod is evicted from a node, and why: the terms that add up to the moment.
///
/// Whatever node the pod names, it is put on this one.
#[wasm_bindgen(
    js_name = whenEvicted,
    unchecked_return_type = "({ ok: true } & WhenEvicted) | Failure"
)]
pub fn when_evicted(
    #[wasm_bindgen(unchecked_param_type = "PodInput", param_description = "the pod")] pod: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "NodeInput", param_description = "the node")]
    node: &JsValue,
    #[wasm_bindgen(
        unchecked_optional_param_type = "WhenEvictedOptions",
        param_description = "what becomes of the node, and on which Kubernetes"
    )]
    options: &JsValue,
) -> Result<JsValue, JsValue> {
    let (pod, node): (Pod, Node) = (read(pod, "pod")?, read(node, "node")?);
    let options: WhenEvictedOptions = read_options(options, "options")?;
    let release = ReleaseOptions { release: options.release, feature_gates: options.feature_gates };
    let mut config = release.config();
    config.controller_manager_flags = options.controller_manager_flags;
    match simulator::when_evicted(config, node, pod, options.trouble) {
        Ok(answer) => to_js(&Answer { ok: true, answer: &answer }),
        Err(error) => fail(vec![of_config(error)]),
    }
}

/// Where the scheduler would put a pod, or why nowhere, in its own words.
///
/// `pods` are those that are there already; without them the nodes are empty.
#[wasm_bindgen(unchecked_return_type = "({ ok: true } & SchedulingDecision) | Failure")]
pub fn schedule(
    #[wasm_bindgen(unchecked_param_type = "PodInput", param_description = "the pod")] pod: &JsValue,
    #[wasm_bindgen(
        unchecked_param_type = "readonly NodeInput[]",
        param_description = "the nodes, in any order"
    )]
    nodes: &JsValue,
    #[wasm_bindgen(
        unchecked_optional_param_type = "readonly PodInput[]",
        param_description = "the pods that are there already"
    )]
    pods: &JsValue,
    #[wasm_bindgen(
        unchecked_optional_param_type = "ReleaseOptions",
        param_description = "which Kubernetes; the newest unless given"
    )]
    options: &JsValue,
) -> Result<JsValue, JsValue> {
    let (pod, nodes): (Pod, Vec<Node>) = (read(pod, "pod")?, read_list(nodes, "nodes")?);
    let pods: Vec<Pod> = if pods.is_undefined() { Vec::new() } else { read_list(pods, "pods")? };
    let options: ReleaseOptions = read_options(options, "options")?;
    let config = match options.comparison_operators() {
        Ok(comparison_operators) => {
            SchedulerConfig { release: options.release.unwrap_or_default(), comparison_operators }
        }
        Err(problem) => return fail(vec![problem]),
    };
    match scheduling::schedule(&pod, &nodes, &pods, config) {
        Ok(decision) => to_js(&Answer { ok: true, answer: &decision }),
        Err(error) => fail(vec![Problem::new(ProblemCode::InvalidObject, "", &error.to_string())]),
    }
}

/// What is likely to surprise in a cluster, the most pressing first: what it is about, why, and what to
/// do.
#[wasm_bindgen(
    unchecked_return_type = "{ ok: true; warnings: Warning[]; problems: Problem[] } | Failure"
)]
pub fn warnings(
    #[wasm_bindgen(
        unchecked_param_type = "string | readonly object[] | { items: readonly object[] }",
        param_description = "YAML or JSON text, or objects as Kubernetes' API returns them"
    )]
    manifests: &JsValue,
    #[wasm_bindgen(
        unchecked_optional_param_type = "SimulatorOptions",
        param_description = "which Kubernetes; the newest with its defaults unless given"
    )]
    options: &JsValue,
) -> Result<JsValue, JsValue> {
    match cluster(manifests, options)? {
        Ok((engine, _, problems)) => {
            to_js(&Warnings { ok: true, warnings: engine.warnings(), problems })
        }
        Err(errors) => fail(errors),
    }
}

/// Warnings, and what is probably not meant in the manifests.
#[derive(Serialize)]
struct Warnings {
    ok: bool,
    warnings: Vec<Warning>,
    problems: Vec<Problem>,
}
