//! Questions about single values: no simulation, no state.

use serde::{Deserialize, Serialize};
use serde_json::Value;
pub use taintlab_answers::questions::{Valid, ZoneStateAnswer, ZoneStateOptions};
use taintlab_core::api::Taint;
use taintlab_core::controllers::node_lifecycle::zone::compute_zone_state;
use taintlab_core::policy::matching::{explain, min_toleration_time};
use taintlab_core::policy::taints::kubectl;
use taintlab_core::policy::validation::{validate_node_taints, validate_tolerations};
use taintlab_core::release::KubernetesRelease;
use tsify::Tsify;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::input::{self, wrong_call};
use crate::problem::{Problem, ProblemCode, fail};
use crate::taint_js::{decode, encode};

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
    #[tsify(type = "EffectText<Effect>")]
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
    #[tsify(optional, type = "EffectText<Effect>")]
    pub effect: String,
    /// For `NoExecute`: how many seconds the pod stays. Absent is forever; zero and less is not
    /// at all.
    #[tsify(optional, type = "number")]
    pub toleration_seconds: Option<i64>,
}

/// A node as JavaScript gives it: Kubernetes' JSON, or what `@kubernetes/client-node` returns.
#[derive(Deserialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct NodeInput {
    /// `v1`.
    #[tsify(optional)]
    pub api_version: String,
    /// `Node`.
    #[tsify(optional)]
    pub kind: String,
    /// Name, labels and so on.
    #[tsify(optional, type = "ObjectMetaInput")]
    pub metadata: Value,
    /// What was asked for.
    #[tsify(optional, type = "NodeSpecInput<Effect>")]
    pub spec: Value,
    /// What was observed.
    #[tsify(optional, type = "NodeStatusInput")]
    pub status: Value,
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
    taints: JsValue,
    #[wasm_bindgen(
        unchecked_param_type = "readonly TolerationInput[]",
        param_description = "the pod's tolerations, in its order"
    )]
    tolerations: JsValue,
    #[wasm_bindgen(
        unchecked_optional_param_type = "ReleaseOptions",
        param_description = "which Kubernetes; `Lt` and `Gt` are compared only with a feature gate"
    )]
    options: JsValue,
) -> Result<JsValue, JsValue> {
    let read_taints = decode::taints(&taints, "taints")?;
    let read_tolerations = decode::tolerations(&tolerations, "tolerations")?;
    let options = decode::release_options(&options)?;
    let operators = options.comparison_operators().map_err(|problem| in_options(&problem))?;
    encode::explanation(&explain(&read_taints, &read_tolerations, operators))
}

/// The least `tolerationSeconds` of tolerations that are all in use: `Infinity` forever, 0 if
/// there are none or one has 0 or less.
///
/// Mirrors `getMinTolerationTime`, with seconds so large that they overflow there.
#[wasm_bindgen(js_name = minTolerationSeconds)]
pub fn min_toleration_seconds(
    #[wasm_bindgen(
        unchecked_param_type = "readonly TolerationInput[]",
        param_description = "for each NoExecute taint of the node the toleration that answers it"
    )]
    tolerations: JsValue,
) -> Result<f64, JsValue> {
    let tolerations = decode::tolerations(&tolerations, "tolerations")?;
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
    nodes: JsValue,
    #[wasm_bindgen(
        unchecked_optional_param_type = "ZoneStateOptions",
        param_description = "from which fraction on a zone is disrupted"
    )]
    options: JsValue,
) -> Result<JsValue, JsValue> {
    let nodes = decode::ready_conditions(&nodes, "nodes")?;
    let threshold = decode::zone_state_options(&options)?
        .unwrap_or_else(|| ZoneStateOptions::default().unhealthy_zone_threshold);
    let (not_ready, state) = compute_zone_state(nodes.iter().map(Option::as_ref), threshold);
    encode::zone_state(state.as_str(), nodes.len() - not_ready, not_ready)
}

/// What the API server would say of the taints of a node.
#[wasm_bindgen(js_name = validateTaints, unchecked_return_type = "Valid | Failure")]
pub fn validate_taints(
    #[wasm_bindgen(
        unchecked_param_type = "readonly TaintInput[]",
        param_description = "the taints, in their order"
    )]
    taints: JsValue,
) -> Result<JsValue, JsValue> {
    let taints = decode::taints(&taints, "taints")?;
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
    tolerations: JsValue,
    #[wasm_bindgen(
        unchecked_optional_param_type = "ReleaseOptions",
        param_description = "which Kubernetes; the newest unless given"
    )]
    options: JsValue,
) -> Result<JsValue, JsValue> {
    let tolerations = decode::tolerations(&tolerations, "tolerations")?;
    let options = decode::release_options(&options)?;
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
    text: JsValue,
) -> Result<JsValue, JsValue> {
    let text = input::text(&text, "text")?;
    match kubectl::parse_taints(KubernetesRelease::NEWEST, &[&text]) {
        Ok(mut changes) => {
            let removed = changes.remove.pop();
            let remove = removed.is_some();
            match removed.or_else(|| changes.add.pop()) {
                Some(taint) => encode::parsed_taint(&taint, remove),
                None => {
                    fail(vec![Problem::new(ProblemCode::InvalidTaint, "", "there is no taint")])
                }
            }
        }
        Err(error) => fail(vec![Problem::new(ProblemCode::InvalidTaint, "", &error)]),
    }
}

/// The releases of Kubernetes that the engine knows, oldest first.
#[wasm_bindgen(unchecked_return_type = "KubernetesRelease[]")]
pub fn releases() -> Result<JsValue, JsValue> {
    encode::texts(KubernetesRelease::all().map(|release| release.to_string()))
}

/// The version of this package.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").into()
}

fn valid_or(errors: Vec<Problem>) -> Result<JsValue, JsValue> {
    if errors.is_empty() { encode::valid() } else { fail(errors) }
}

/// Options come from the programmer, so wrong options are a wrong call.
pub(crate) fn in_options(problem: &Problem) -> JsValue {
    wrong_call(&format!("options.{}: {}", problem.path, problem.message))
}
