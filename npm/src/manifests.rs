//! Kubernetes objects read from texts.

use serde::{Deserialize, Serialize};
use serde_json::Value;
pub use taintlab_answers::cluster::Imported;
pub(crate) use taintlab_answers::cluster::{import_options, sort};
use taintlab_core::api::{Node, Pod, PodDisruptionBudget, Workload};
use taintlab_manifest::Import;
use tsify::Tsify;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::input::{self, read_options};
use crate::output::to_js;
use crate::problem::{Problem, ProblemCode};

/// What a text holds.
#[derive(Serialize, Tsify)]
pub struct Manifests {
    /// Whether everything could be taken.
    pub ok: bool,
    /// The nodes, in the order of the text.
    #[tsify(type = "KubernetesNode[]")]
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
    /// What the text says of its cluster, and what of it was left out on purpose.
    pub imported: Imported,
}

/// How a text is read.
#[derive(Debug, Default, Deserialize, Tsify)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ManifestOptions {
    /// The name that errors show, for example `cluster.yaml`.
    pub file: String,
    /// Whether to keep what no simulation reads, which may be secret: environment, commands,
    /// annotations, data of Secrets and so on. It is dropped unless this is `true`.
    pub keep_all: bool,
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
    #[wasm_bindgen(unchecked_param_type = "string", param_description = "the text")] text: JsValue,
    #[wasm_bindgen(
        unchecked_optional_param_type = "ManifestOptions",
        param_description = "how the text is read"
    )]
    options: JsValue,
) -> Result<JsValue, JsValue> {
    let text = input::text(&text, "text")?;
    let options: ManifestOptions = read_options(&options, "options")?;
    let mut import =
        taintlab_manifest::import(&text, &options.file, import_options(options.keep_all));
    let ok = !import.has_errors();
    let (errors, warnings) =
        sort(std::mem::take(&mut import.diagnostics), ProblemCode::InvalidManifest);
    let imported = Imported::of(&import);
    let Import { nodes, pods, workloads, budgets, others, .. } = import;
    to_js(&Manifests { ok, nodes, pods, workloads, budgets, others, errors, warnings, imported })
}
