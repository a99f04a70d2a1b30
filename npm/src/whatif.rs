//! Questions that need a cluster in simulated time, or its scheduler.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use taintlab_core::api::{DeviceObject, Node, Pod, WorkloadKind};
use taintlab_core::eviction_timeline::time_budget::{Moment, TimeBudget};
use taintlab_core::policy::matching::Explanation;
use taintlab_core::policy::scheduling::{self, SchedulerConfig};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::{
    self, Assumption, EvictionQuestion, NodeFault, PodSource, WhenEvictedError,
};
use taintlab_core::warnings::{Warning, warnings_of};
use tsify::Tsify;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::cluster::{ManifestCluster, cluster};
use crate::input::{decode, read, read_list, read_options, wrong_call};
use crate::options::{ReleaseOptions, of_config};
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

/// What happens to the node, and on which Kubernetes.
#[derive(Debug, Deserialize, Tsify)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct WhenEvictedOptions {
    /// What happens to the node at time zero: its taints are put on it (`tainted`, unless given),
    /// or its kubelet is unreachable (`lost`, once `unreachable`) or reports that it is not ready
    /// (`notReady`) in an otherwise healthy cluster.
    #[serde(alias = "trouble")]
    #[tsify(type = "NodeFault | \"unreachable\"")]
    pub node_fault: NodeFault,
    /// ResourceSlices, ResourceClaims and DeviceTaintRules of the cluster, each with its `kind`: taints
    /// of devices that the pod claims count, too.
    #[tsify(type = "readonly object[]")]
    pub devices: Vec<DeviceObject>,
    /// Whether a new pod passes the admission plugins of the API server, which add tolerations:
    /// `true` unless given. A pod that has a `uid` or a `creationTimestamp` was admitted before.
    pub admission: bool,
    /// The release, for example `1.34`; the newest known one unless given.
    #[tsify(type = "KubernetesRelease")]
    pub release: Option<KubernetesRelease>,
    /// Feature gates that differ from the defaults of the release.
    pub feature_gates: BTreeMap<String, bool>,
    /// Flags of kube-controller-manager that differ from the defaults of the release, by name
    /// without dashes; for `lost` and `notReady`.
    pub controller_manager_flags: BTreeMap<String, String>,
    /// Flags of kube-apiserver that differ from the defaults, by name without dashes; those of
    /// admission count here.
    pub api_server_flags: BTreeMap<String, String>,
}

impl Default for WhenEvictedOptions {
    fn default() -> Self {
        Self {
            node_fault: NodeFault::default(),
            devices: Vec::new(),
            admission: true,
            release: None,
            feature_gates: BTreeMap::new(),
            controller_manager_flags: BTreeMap::new(),
            api_server_flags: BTreeMap::new(),
        }
    }
}

/// Whether and when a pod is evicted; `evicted` tells the two apart.
#[derive(Serialize, Tsify)]
#[serde(untagged)]
pub enum WhenEvicted {
    /// It is.
    Evicted(Box<Evicted>),
    /// It is not.
    NotEvicted(Box<NotEvicted>),
}

/// A pod is evicted: when, and why.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct Evicted {
    /// Whether there is an answer: yes.
    #[tsify(type = "true")]
    pub ok: bool,
    /// Whether it is evicted: yes.
    #[tsify(type = "true")]
    pub evicted: bool,
    /// When a controller deletes it.
    pub at: Moment,
    /// When its object is gone; absent if it stays, as on a node that is unreachable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gone_at: Option<Moment>,
    /// The terms that add up to `at`.
    pub budget: TimeBudget,
    /// How its tolerations answer the taints that the node has in the end.
    pub matching: Explanation,
    /// What was added to the pod and what else the answer takes for granted, by whom and why.
    pub assumed: Vec<DescribedAssumption>,
}

/// A pod is not evicted.
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct NotEvicted {
    /// Whether there is an answer: yes.
    #[tsify(type = "true")]
    pub ok: bool,
    /// Whether it is evicted: no.
    #[tsify(type = "false")]
    pub evicted: bool,
    /// How its tolerations answer the taints that the node has in the end.
    pub matching: Explanation,
    /// What was added to the pod and what else the answer takes for granted, by whom and why.
    pub assumed: Vec<DescribedAssumption>,
}

/// Something that was added or taken for granted, also in words.
#[derive(Serialize, Tsify)]
pub struct DescribedAssumption {
    /// What, and by whom.
    #[serde(flatten)]
    #[tsify(type = "Assumption")]
    pub assumption: Assumption,
    /// The same in a sentence.
    pub text: String,
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
    let (pod, node): (PodSource, Node) = (pod_source(&pod, "pod")?, read(&node, "node")?);
    let options: WhenEvictedOptions = read_options(&options, "options")?;
    let release = ReleaseOptions { release: options.release, feature_gates: options.feature_gates };
    let mut config = release.config();
    config.controller_manager_flags = options.controller_manager_flags;
    config.api_server_flags = options.api_server_flags;
    let (fault, devices) = (options.node_fault, options.devices);
    let admission = options.admission;
    let question = EvictionQuestion { pod, node, fault, devices, admission };
    match simulator::when_evicted(config, question) {
        Ok(answer) => to_js(&described(answer)),
        Err(WhenEvictedError::Config(error)) => fail(vec![of_config(error)]),
        Err(WhenEvictedError::Admission(error)) => {
            fail(vec![Problem::new(ProblemCode::NotAdmitted, "pod", &error.to_string())])
        }
    }
}

fn described(answer: simulator::WhenEvicted) -> WhenEvicted {
    let simulator::WhenEvicted { budget, matching, assumed } = answer;
    let text =
        |assumption: Assumption| DescribedAssumption { text: assumption.to_string(), assumption };
    let assumed = assumed.into_iter().map(text).collect();
    match budget {
        Some(budget) => WhenEvicted::Evicted(Box::new(Evicted {
            ok: true,
            evicted: true,
            at: budget.evicted_at,
            gone_at: budget.gone_at,
            budget,
            matching,
            assumed,
        })),
        None => WhenEvicted::NotEvicted(Box::new(NotEvicted {
            ok: true,
            evicted: false,
            matching,
            assumed,
        })),
    }
}

/// A pod, or the object that makes it; its `kind` decides.
fn pod_source(value: &JsValue, what: &str) -> Result<PodSource, JsValue> {
    let object: Value = read(value, what)?;
    let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    let makes_pods =
        ["/spec/template", "/spec/jobTemplate"].iter().any(|path| object.pointer(path).is_some());
    Ok(match kind.as_str() {
        "" if makes_pods => {
            let message = "expected the kind of the workload, found nothing; what the API returns \
                in lists does not say it: add it";
            return Err(wrong_call(&format!("{what}.kind: {message}")));
        }
        "" | "Pod" => PodSource::Pod(Box::new(decode(object, what)?)),
        "CronJob" => PodSource::CronJob(Box::new(decode(object, what)?)),
        kind if WorkloadKind::ALL.iter().any(|known| known.as_str() == kind) => {
            PodSource::Workload(Box::new(decode(object, what)?))
        }
        kind => {
            let known = WorkloadKind::ALL.map(WorkloadKind::as_str).join("`, `");
            let message = format!("expected `Pod`, `{known}` or `CronJob`, found `{kind}`");
            return Err(wrong_call(&format!("{what}.kind: {message}")));
        }
    })
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

/// The answer of [`lint`]: warnings, and problems of the manifests' text.
#[derive(Serialize)]
struct Lint {
    ok: bool,
    warnings: Vec<Warning>,
    problems: Vec<Problem>,
}
