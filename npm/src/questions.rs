//! Questions about single values: no simulation, no state.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use taintlab_core::api::{
    Node, Pod, PodDisruptionBudget, Taint, Toleration, Workload, node_condition_type,
};
use taintlab_core::matching::{explain, min_toleration_time};
use taintlab_core::node_lifecycle::zone::{ZoneState, compute_zone_state};
use taintlab_core::scheduling::{self, SchedulerConfig};
use taintlab_core::simulator::{self, Trouble};
use taintlab_core::taints::kubectl;
use taintlab_core::validation::{validate_node_taints, validate_tolerations};
use taintlab_manifest::{Diagnostic, Import, Limits};
use tsify::Tsify;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::input::{self, read, read_list, read_options, wrong_call};
use crate::options::{ReleaseOptions, of_config};
use crate::output::to_js;
use crate::problem::{Problem, ProblemCode, fail};

/// A taint as JavaScript gives it: that of a manifest, or of `@kubernetes/client-node`.
#[derive(Deserialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct TaintInput {
    /// The key, a qualified name such as `example.com/maintenance`.
    pub key: String,
    /// The value; may be empty.
    #[tsify(optional)]
    pub value: String,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    #[tsify(type = "TaintEffect | (string & {})")]
    pub effect: String,
    /// When the node lifecycle controller added the taint. Eviction never computes from it.
    #[tsify(optional, type = "string | Date")]
    pub time_added: Option<String>,
}

/// A toleration as JavaScript gives it: that of a manifest, or of `@kubernetes/client-node`.
#[derive(Deserialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct TolerationInput {
    /// The taint key; empty or absent stands for every key.
    #[tsify(optional)]
    pub key: String,
    /// How values are compared: `Equal` (or absent), `Exists`, and `Lt` and `Gt` with a feature
    /// gate.
    #[tsify(optional, type = "TolerationOperator | (string & {})")]
    pub operator: String,
    /// The value compared with the taint's.
    #[tsify(optional)]
    pub value: String,
    /// The taint effect; empty or absent stands for every effect.
    #[tsify(optional, type = "TaintEffect | (string & {})")]
    pub effect: String,
    /// For `NoExecute`: how many seconds the pod stays. Absent is for ever; zero and less is not
    /// at all.
    #[tsify(optional, type = "number")]
    pub toleration_seconds: Option<i64>,
}

/// A node as JavaScript gives it: Kubernetes' JSON, or what `@kubernetes/client-node` returns.
#[derive(Deserialize, Tsify)]
pub struct NodeInput {
    /// Name, labels and so on.
    #[tsify(optional, type = "ObjectMeta | object")]
    pub metadata: Value,
    /// What was asked for.
    #[tsify(optional, type = "NodeSpec | { taints?: TaintInput[]; unschedulable?: boolean }")]
    pub spec: Value,
    /// What was observed.
    #[tsify(optional, type = "NodeStatus | object")]
    pub status: Value,
}

/// A pod as JavaScript gives it: Kubernetes' JSON, or what `@kubernetes/client-node` returns.
#[derive(Deserialize, Tsify)]
pub struct PodInput {
    /// Name, namespace, labels, owners and so on.
    #[tsify(optional, type = "ObjectMeta | object")]
    pub metadata: Value,
    /// What was asked for.
    #[tsify(optional, type = "PodSpec | { tolerations?: TolerationInput[]; nodeName?: string }")]
    pub spec: Value,
    /// What was observed.
    #[tsify(optional, type = "PodStatus | object")]
    pub status: Value,
}

/// Nothing is wrong.
#[derive(Serialize, Tsify)]
pub struct Valid {
    /// Whether it is valid: yes.
    #[tsify(type = "true")]
    pub ok: bool,
}

/// A taint that was read as `kubectl taint` reads it.
#[derive(Serialize, Tsify)]
pub struct ParsedTaint {
    /// Whether it could be read: yes.
    #[tsify(type = "true")]
    pub ok: bool,
    /// The taint. One that is to be removed has no value, and an empty effect for all effects.
    pub taint: Taint,
    /// Whether it ends with `-`: the taint is to be removed.
    pub remove: bool,
}

/// How disrupted a zone is, and from which numbers.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct ZoneStateAnswer {
    /// The state.
    pub state: ZoneState,
    /// How many of the nodes are ready.
    pub ready: usize,
    /// How many are not.
    pub not_ready: usize,
}

/// From which fraction on a zone is disrupted.
#[derive(Debug, Deserialize, Tsify)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ZoneStateOptions {
    /// `--unhealthy-zone-threshold`: the fraction of nodes that are not ready; 0.55 unless given.
    pub unhealthy_zone_threshold: f32,
}

impl Default for ZoneStateOptions {
    fn default() -> Self {
        let flags = taintlab_core::node_lifecycle::NodeLifecycleConfig::of(
            taintlab_core::release::KubernetesRelease::default(),
        );
        Self { unhealthy_zone_threshold: flags.unhealthy_zone_threshold }
    }
}

/// What a text holds.
#[derive(Serialize, Tsify)]
pub struct Manifests {
    /// Whether everything could be taken.
    pub ok: bool,
    /// The nodes, in the order of the text.
    pub nodes: Vec<Node>,
    /// The pods, in the order of the text.
    pub pods: Vec<Pod>,
    /// Deployments, ReplicaSets, StatefulSets, DaemonSets and Jobs, in the order of the text.
    pub workloads: Vec<Workload>,
    /// PodDisruptionBudgets, in the order of the text.
    pub budgets: Vec<PodDisruptionBudget>,
    /// Objects of other kinds, as they are.
    #[tsify(type = "object[]")]
    pub others: Vec<Value>,
    /// What was left out, and why; empty if `ok`.
    pub errors: Vec<Problem>,
    /// What was taken but is probably not meant.
    pub warnings: Vec<Problem>,
}

/// How a text is read.
#[derive(Debug, Default, Deserialize, Tsify)]
#[serde(default, deny_unknown_fields)]
pub struct ManifestOptions {
    /// The name that errors show, for example `cluster.yaml`.
    pub file: String,
}

/// What becomes of the node, and on which Kubernetes.
#[derive(Debug, Default, Deserialize, Tsify)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct WhenEvictedOptions {
    /// What happens to the node at time zero: its taints are put on it (`tainted`, unless given),
    /// or its kubelet falls silent in an otherwise healthy cluster (`lost`).
    pub trouble: Trouble,
    /// The release, for example `1.34`; the newest known one unless given.
    #[tsify(type = "KubernetesRelease")]
    pub release: Option<taintlab_core::release::KubernetesRelease>,
    /// Feature gates that differ from the defaults of the release.
    pub feature_gates: std::collections::BTreeMap<String, bool>,
    /// Flags of kube-controller-manager that differ from the defaults of the release, by name
    /// without dashes; for `lost`.
    pub controller_manager_flags: std::collections::BTreeMap<String, String>,
}

/// An answer of a function that can also fail.
#[derive(Serialize)]
struct Answer<'a, T> {
    ok: bool,
    #[serde(flatten)]
    answer: &'a T,
}

/// How tolerations answer taints: every taint against every toleration, which test failed, and what
/// follows for a running pod.
///
/// Mirrors `GetMatchingTolerations` and `getMinTolerationTime`.
#[wasm_bindgen(js_name = matchTolerations, unchecked_return_type = "Explanation")]
pub fn match_tolerations(
    #[wasm_bindgen(
        unchecked_param_type = "readonly TaintInput[]",
        param_description = "the node's taints, in its order"
    )]
    taints: &JsValue,
    #[wasm_bindgen(
        unchecked_param_type = "readonly TolerationInput[]",
        param_description = "the pod's tolerations, in its order"
    )]
    tolerations: &JsValue,
    #[wasm_bindgen(
        unchecked_optional_param_type = "ReleaseOptions",
        param_description = "which Kubernetes; `Lt` and `Gt` are compared only with a feature gate"
    )]
    options: &JsValue,
) -> Result<JsValue, JsValue> {
    let taints: Vec<Taint> = read_list(taints, "taints")?;
    let tolerations: Vec<Toleration> = read_list(tolerations, "tolerations")?;
    let options: ReleaseOptions = read_options(options, "options")?;
    let operators = options.comparison_operators().map_err(|problem| in_options(&problem))?;
    to_js(&explain(&taints, &tolerations, operators))
}

/// The least `tolerationSeconds` of tolerations that are all in use: `Infinity` for ever, 0 if there
/// are none or one has 0 or less.
///
/// Mirrors `getMinTolerationTime`, with seconds so large that they overflow there.
#[wasm_bindgen(js_name = minTolerationSeconds)]
pub fn min_toleration_seconds(
    #[wasm_bindgen(
        unchecked_param_type = "readonly TolerationInput[]",
        param_description = "for each NoExecute taint of the node the toleration that answers it"
    )]
    tolerations: &JsValue,
) -> Result<f64, JsValue> {
    let tolerations: Vec<Toleration> = read_list(tolerations, "tolerations")?;
    let nanos = min_toleration_time(&tolerations);
    #[expect(clippy::cast_precision_loss, reason = "whole seconds of at most 292 years")]
    let seconds = (nanos / 1_000_000_000) as f64;
    Ok(if nanos < 0 { f64::INFINITY } else { seconds })
}

/// How disrupted a zone with these nodes is. Mirrors `ComputeZoneState`.
#[wasm_bindgen(js_name = zoneState, unchecked_return_type = "ZoneStateAnswer")]
pub fn zone_state(
    #[wasm_bindgen(
        unchecked_param_type = "readonly NodeInput[]",
        param_description = "all nodes of the zone; one without a Ready condition is not ready"
    )]
    nodes: &JsValue,
    #[wasm_bindgen(
        unchecked_optional_param_type = "ZoneStateOptions",
        param_description = "from which fraction on a zone is disrupted"
    )]
    options: &JsValue,
) -> Result<JsValue, JsValue> {
    let nodes: Vec<Node> = read_list(nodes, "nodes")?;
    let options: ZoneStateOptions = read_options(options, "options")?;
    let ready = nodes.iter().map(|node| node.condition(node_condition_type::READY));
    let (not_ready, state) = compute_zone_state(ready, options.unhealthy_zone_threshold);
    to_js(&ZoneStateAnswer { state, ready: nodes.len() - not_ready, not_ready })
}

/// What the API server would say of the taints of a node.
#[wasm_bindgen(js_name = validateTaints, unchecked_return_type = "Valid | Failure")]
pub fn validate_taints(
    #[wasm_bindgen(
        unchecked_param_type = "readonly TaintInput[]",
        param_description = "the taints, in their order"
    )]
    taints: &JsValue,
) -> Result<JsValue, JsValue> {
    let taints: Vec<Taint> = read_list(taints, "taints")?;
    let errors = validate_node_taints(&taints, "spec.taints");
    valid_or(errors.iter().map(Problem::of_field).collect())
}

/// What the API server would say of the tolerations of a new pod.
#[wasm_bindgen(js_name = validateTolerations, unchecked_return_type = "Valid | Failure")]
pub fn validate_tolerations_(
    #[wasm_bindgen(
        unchecked_param_type = "readonly TolerationInput[]",
        param_description = "the tolerations, in their order"
    )]
    tolerations: &JsValue,
    #[wasm_bindgen(
        unchecked_optional_param_type = "ReleaseOptions",
        param_description = "which Kubernetes; the newest unless given"
    )]
    options: &JsValue,
) -> Result<JsValue, JsValue> {
    let tolerations: Vec<Toleration> = read_list(tolerations, "tolerations")?;
    let options: ReleaseOptions = read_options(options, "options")?;
    let options = options.validation().map_err(|problem| in_options(&problem))?;
    let errors = validate_tolerations(&tolerations, "spec.tolerations", &options);
    valid_or(errors.iter().map(Problem::of_field).collect())
}

/// Reads a taint as `kubectl taint` does: `key=value:effect`, `key:effect`, and with a `-` at the
/// end, also `key-`, one that is to be removed.
#[wasm_bindgen(js_name = parseTaint, unchecked_return_type = "ParsedTaint | Failure")]
pub fn parse_taint(
    #[wasm_bindgen(
        unchecked_param_type = "string",
        param_description = "the taint, for example `example.com/maintenance=true:NoExecute`"
    )]
    text: &JsValue,
) -> Result<JsValue, JsValue> {
    let text = input::text(text, "text")?;
    match kubectl::parse_taints(&[&text]) {
        Ok(mut changes) => {
            let removed = changes.remove.pop();
            let remove = removed.is_some();
            match removed.or_else(|| changes.add.pop()) {
                Some(taint) => to_js(&ParsedTaint { ok: true, taint, remove }),
                None => {
                    fail(vec![Problem::new(ProblemCode::InvalidTaint, "", "there is no taint")])
                }
            }
        }
        Err(error) => fail(vec![Problem::new(ProblemCode::InvalidTaint, "", &error)]),
    }
}

/// Reads Kubernetes objects from YAML or JSON, for example the output of
/// `kubectl get nodes,pods -A -o yaml`.
///
/// What is wrong is left out and reported by line, column and field; what is right is taken.
#[wasm_bindgen(
    js_name = parseManifests,
    unchecked_return_type = "(Manifests & { ok: true }) | (Manifests & Failure)"
)]
pub fn parse_manifests(
    #[wasm_bindgen(unchecked_param_type = "string", param_description = "the text")] text: &JsValue,
    #[wasm_bindgen(
        unchecked_optional_param_type = "ManifestOptions",
        param_description = "how the text is read"
    )]
    options: &JsValue,
) -> Result<JsValue, JsValue> {
    let text = input::text(text, "text")?;
    let options: ManifestOptions = read_options(options, "options")?;
    let mut import = taintlab_manifest::import(&text, &options.file, &Limits::default());
    let ok = !import.has_errors();
    let (errors, warnings) =
        sort(std::mem::take(&mut import.diagnostics), ProblemCode::InvalidManifest);
    let Import { nodes, pods, workloads, budgets, others, .. } = import;
    to_js(&Manifests { ok, nodes, pods, workloads, budgets, others, errors, warnings })
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

/// The releases of Kubernetes that the engine knows, oldest first.
#[wasm_bindgen(unchecked_return_type = "KubernetesRelease[]")]
pub fn releases() -> Result<JsValue, JsValue> {
    to_js(&taintlab_core::release::KubernetesRelease::all().collect::<Vec<_>>())
}

/// The version of this package.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").into()
}

/// Errors and warnings apart.
pub(crate) fn sort(
    diagnostics: Vec<Diagnostic>,
    code: ProblemCode,
) -> (Vec<Problem>, Vec<Problem>) {
    let (errors, warnings): (Vec<_>, Vec<_>) =
        diagnostics.into_iter().partition(Diagnostic::is_error);
    let problems = |list: Vec<Diagnostic>| {
        list.into_iter().map(|diagnostic| Problem::of_diagnostic(diagnostic, code)).collect()
    };
    (problems(errors), problems(warnings))
}

fn valid_or(errors: Vec<Problem>) -> Result<JsValue, JsValue> {
    if errors.is_empty() { to_js(&Valid { ok: true }) } else { fail(errors) }
}

/// Options are the programmer's, so that a wrong one is a wrong call.
fn in_options(problem: &Problem) -> JsValue {
    wrong_call(&format!("options.{}: {}", problem.path, problem.message))
}
