//! Kubernetes objects read from texts.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use taintlab_core::api::{Node, Pod, PodDisruptionBudget, Workload};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::time::Time;
use taintlab_manifest::{Diagnostic, Dropped, Import, ImportOptions, Limits};
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

/// What manifests say of the cluster that they were taken from, and what of them does not enter.
#[derive(Debug, Default, Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct Imported {
    /// The release that the kubelets of the nodes suggest; absent if no node reports a version.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(type = "KubernetesRelease")]
    pub release: Option<KubernetesRelease>,
    /// What the nodes report, in words: `3 nodes report v1.30.4; the control plane is at least
    /// 1.30`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release_text: Option<String>,
    /// The newest time in the objects, at which a simulation begins unless told otherwise; absent
    /// if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newest_time: Option<Time>,
    /// What was dropped because no simulation reads it, so that nothing secret enters, in words;
    /// absent if nothing was. `keepAll` keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped: Option<String>,
}

impl Imported {
    pub(crate) fn of(import: &Import) -> Self {
        let release = import.detected_release();
        Self {
            release: release.as_ref().map(|detected| detected.release),
            release_text: release.as_ref().map(ToString::to_string),
            newest_time: import.newest_time,
            ..Self::of_dropped(&import.dropped)
        }
    }

    /// Facts about a text of which only the dropped fields are known.
    pub(crate) fn of_dropped(dropped: &Dropped) -> Self {
        let dropped = Some(dropped).filter(|dropped| !dropped.is_empty());
        Self { dropped: dropped.map(ToString::to_string), ..Self::default() }
    }
}

/// Options of reading a text, with the default limits.
pub(crate) fn import_options(keep_all: bool) -> ImportOptions {
    ImportOptions { limits: Limits::default(), keep_all }
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

/// Separates errors from warnings.
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
