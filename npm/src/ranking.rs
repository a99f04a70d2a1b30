//! Ranking: the order in which a kubelet evicts pods when its node runs low.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;
use taintlab_core::api::{Pod, PodKey};
use taintlab_core::kubelet::{self, KubeletVersion, Layout, PodUsage, Signal};
use taintlab_core::release::KubernetesRelease;
use tsify::Tsify;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::input::{self, read_list, read_options};
use crate::options::DurationText;
use crate::output::{Answer, to_js};
use crate::problem::{Problem, ProblemCode, fail};

/// A pod as JavaScript gives it: Kubernetes' JSON, or what `@kubernetes/client-node` returns.
#[derive(Deserialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct PodInput {
    /// `v1`.
    #[tsify(optional)]
    pub api_version: String,
    /// `Pod`.
    #[tsify(optional)]
    pub kind: String,
    /// Name, namespace, labels, owners and so on.
    #[tsify(optional, type = "ObjectMetaInput")]
    pub metadata: Value,
    /// What was asked for.
    #[tsify(optional, type = "PodSpecInput<Effect>")]
    pub spec: Value,
    /// What was observed.
    #[tsify(optional, type = "PodStatusInput")]
    pub status: Value,
}

/// Which kubelet it is, and what the pods use.
#[derive(Debug, Default, Deserialize, Tsify)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct RankOptions {
    /// The release of the kubelet, for example `1.34`; the newest known one unless given. `1.5` and
    /// `1.6` are the kubelets that went by QoS class.
    #[tsify(type = "KubernetesRelease | \"1.5\" | \"1.6\"")]
    pub release: Option<KubeletVersion>,
    /// Where images and writable layers are: `oneFilesystem` unless given.
    pub layout: Layout,
    /// What each pod uses, by its `namespace/name`, or `name` for the namespace `default`. A pod
    /// that is not named uses nothing.
    #[tsify(type = "Record<string, PodUsage>")]
    pub usage: BTreeMap<PodKey, PodUsage>,
    /// At which moment after all pods started, if their usage changes over time: 0 unless given.
    #[tsify(type = "Span")]
    pub at: Option<DurationText>,
}

/// The pods in the order in which the kubelet would evict them if a signal fell below its
/// threshold, why each goes before the next one, and what change of it alone would put it behind.
///
/// Static, mirror and critical pods have their place too; `critical` says why they are skipped when
/// their turn comes. Mirrors `buildSignalToRankFunc` and the comparisons that it names.
#[wasm_bindgen(
    js_name = rankForEviction,
    unchecked_return_type = "({ ok: true } & Ranking) | Failure"
)]
pub fn rank_for_eviction(
    #[wasm_bindgen(
        unchecked_param_type = "readonly PodInput[]",
        param_description = "the pods of the node, as the kubelet was told of them: of two that are \
            equal the first goes first"
    )]
    pods: JsValue,
    #[wasm_bindgen(
        unchecked_param_type = "Signal",
        param_description = "what there is too little of, for example `memory.available`"
    )]
    signal: JsValue,
    #[wasm_bindgen(
        unchecked_optional_param_type = "RankOptions",
        param_description = "which kubelet it is, and what the pods use"
    )]
    options: JsValue,
) -> Result<JsValue, JsValue> {
    let pods: Vec<Pod> = read_list(&pods, "pods")?;
    let signal = input::text(&signal, "signal")?;
    let options: RankOptions = read_options(&options, "options")?;
    let version = options.release.unwrap_or_else(|| KubernetesRelease::default().into());
    let (pods, signal) = match (with_usage(pods, options.usage), parse(version, &signal)) {
        (Ok(pods), Ok(signal)) => (pods, signal),
        (Err(problem), _) | (_, Err(problem)) => return fail(vec![problem]),
    };
    let at = options.at.unwrap_or_default().0.timestamp();
    match kubelet::rank_for_eviction(version, options.layout, signal, &pods, at) {
        Ok(Some(ranking)) => to_js(&Answer { ok: true, answer: &ranking }),
        Ok(None) => {
            let name = signal.name();
            let message = format!("this kubelet does not rank for `{name}` with this `layout`");
            fail(vec![Problem::new(ProblemCode::InvalidSignal, "signal", &message)])
        }
        Err(error) => fail(vec![Problem::new(ProblemCode::InvalidObject, "pods", &error)]),
    }
}

/// Pairs each pod with its usage.
fn with_usage(
    pods: Vec<Pod>,
    mut usage: BTreeMap<PodKey, PodUsage>,
) -> Result<Vec<(Pod, PodUsage)>, Problem> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::with_capacity(pods.len());
    for (index, pod) in pods.into_iter().enumerate() {
        let key = pod.key();
        let used = usage.remove(&key).unwrap_or_default();
        if seen.contains(&key) {
            let message = format!("there is another pod `{key}` in the list");
            let path = format!("pods[{index}]");
            return Err(Problem::new(ProblemCode::PodAlreadyExists, &path, &message));
        }
        seen.insert(key);
        all.push((pod, used));
    }
    match usage.into_keys().next() {
        None => Ok(all),
        Some(key) => {
            let message = format!("there is no pod `{key}` in the list");
            Err(Problem::new(ProblemCode::PodNotFound, "options.usage", &message))
        }
    }
}

fn parse(version: KubeletVersion, name: &str) -> Result<Signal, Problem> {
    Signal::parse(version, name).map_err(|error| {
        let known = Signal::ALL.into_iter().filter(|signal| signal.exists(version));
        let known: Vec<&str> = known.map(Signal::name).collect();
        let message = format!("{error}; this kubelet has `{}`", known.join("`, `"));
        Problem::new(ProblemCode::InvalidSignal, "signal", &message)
    })
}
