//! Questions that need a cluster in simulated time, or its scheduler.

use serde::Deserialize;
use serde_json::Value;
pub use taintlab_answers::whatif::{
    DescribedAssumption, Evicted, NotEvicted, WhenEvicted, WhenEvictedOptions,
};
use taintlab_answers::whatif::{Lint, pod_source, when_evicted as answer};
use taintlab_core::api::{Node, Pod};
use taintlab_core::policy::scheduling::{self, SchedulerConfig};
use taintlab_core::warnings::warnings_of;
use tsify::Tsify;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::cluster::{ManifestCluster, cluster};
use crate::input::{read, read_list, read_options, wrong_call};
use crate::options::ReleaseOptions;
use crate::output::{Answer, to_js};
use crate::problem::{Problem, ProblemCode, fail};

/// What makes pods, as JavaScript gives it: Kubernetes' JSON, or what `@kubernetes/client-node`
/// returns.
#[derive(Deserialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadInput {
    /// `apps/v1` or `batch/v1`.
    #[tsify(optional)]
    pub api_version: String,
    /// `Deployment`, `ReplicaSet`, `StatefulSet`, `DaemonSet`, `Job` or `CronJob`. What the API
    /// returns in lists does not say it: add it.
    #[tsify(optional, type = "WorkloadKind | \"CronJob\" | (string & {})")]
    pub kind: String,
    /// Name, namespace, labels and so on.
    #[tsify(optional, type = "ObjectMetaInput")]
    pub metadata: Value,
    /// What was asked for.
    #[tsify(optional, type = "WorkloadSpecInput | CronJobSpecInput")]
    pub spec: Value,
}

/// When a pod is evicted from a node, and why: the terms that add up to the moment.
///
/// A workload stands for the pod that its controllers make of its template. A new pod gets what
/// admission adds, for example the tolerations of 300 seconds by `DefaultTolerationSeconds`;
/// `assumed` says what was added. Whatever node the pod names, it is put on this one.
#[wasm_bindgen(js_name = whenEvicted, unchecked_return_type = "WhenEvicted | Failure")]
pub fn when_evicted(
    #[wasm_bindgen(
        unchecked_param_type = "PodInput | WorkloadInput",
        param_description = "a pod or the template of one; or a Deployment, ReplicaSet, \
            StatefulSet, DaemonSet, Job or CronJob"
    )]
    pod: JsValue,
    #[wasm_bindgen(unchecked_param_type = "NodeInput", param_description = "the node")]
    node: JsValue,
    #[wasm_bindgen(
        unchecked_optional_param_type = "WhenEvictedOptions",
        param_description = "what happens to the node, and on which Kubernetes"
    )]
    options: JsValue,
) -> Result<JsValue, JsValue> {
    let pod: Value = read(&pod, "pod")?;
    let pod = pod_source(pod, "pod").map_err(|wrong| wrong_call(&wrong.0))?;
    let node: Node = read(&node, "node")?;
    let options: WhenEvictedOptions = read_options(&options, "options")?;
    match answer(pod, node, options) {
        Ok(answer) => to_js(&answer),
        Err(problems) => fail(problems),
    }
}

/// Where the scheduler would put a pod, or why nowhere, in its own words.
///
/// `pods` are those that are there already; without them the nodes are empty.
#[wasm_bindgen(unchecked_return_type = "({ ok: true } & SchedulingDecision) | Failure")]
pub fn schedule(
    #[wasm_bindgen(unchecked_param_type = "PodInput", param_description = "the pod")] pod: JsValue,
    #[wasm_bindgen(
        unchecked_param_type = "readonly NodeInput[]",
        param_description = "the nodes, in any order"
    )]
    nodes: JsValue,
    #[wasm_bindgen(
        unchecked_optional_param_type = "readonly PodInput[]",
        param_description = "the pods that are there already"
    )]
    pods: JsValue,
    #[wasm_bindgen(
        unchecked_optional_param_type = "ReleaseOptions",
        param_description = "which Kubernetes; the newest unless given"
    )]
    options: JsValue,
) -> Result<JsValue, JsValue> {
    let (pod, nodes): (Pod, Vec<Node>) = (read(&pod, "pod")?, read_list(&nodes, "nodes")?);
    let pods: Vec<Pod> = if pods.is_undefined() { Vec::new() } else { read_list(&pods, "pods")? };
    let options: ReleaseOptions = read_options(&options, "options")?;
    let config = match options.comparison_operators() {
        Ok(comparison_operators) => SchedulerConfig {
            comparison_operators,
            ..SchedulerConfig::of(options.release.unwrap_or_default())
        },
        Err(problem) => return fail(vec![problem]),
    };
    match scheduling::schedule(&pod, &nodes, &pods, config) {
        Ok(decision) => to_js(&Answer { ok: true, answer: &decision }),
        Err(error) => fail(vec![Problem::new(ProblemCode::InvalidObject, "", &error.to_string())]),
    }
}

/// What is likely to surprise in a cluster, the most pressing first: what it is about, why, and
/// what to do. `problems` is what is probably not meant in the text of the manifests.
#[wasm_bindgen(
    unchecked_return_type = "{ ok: true; warnings: Warning[]; problems: Problem[] } | Failure"
)]
pub fn lint(
    #[wasm_bindgen(
        unchecked_param_type = "string | readonly object[] | { items: readonly object[] }",
        param_description = "YAML or JSON text, or objects as Kubernetes' API returns them"
    )]
    manifests: JsValue,
    #[wasm_bindgen(
        unchecked_optional_param_type = "SimulatorOptions",
        param_description = "which Kubernetes; the newest with its defaults unless given"
    )]
    options: JsValue,
) -> Result<JsValue, JsValue> {
    match cluster(&manifests, &options)? {
        Ok(ManifestCluster { engine, problems, .. }) => {
            to_js(&Lint { ok: true, warnings: warnings_of(&engine), problems })
        }
        Err(errors) => fail(errors),
    }
}
