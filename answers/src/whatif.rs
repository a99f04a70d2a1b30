//! Answers that need a cluster in simulated time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use taintlab_core::api::{DeviceObject, Node, WorkloadKind};
use taintlab_core::eviction_timeline::time_budget::{Moment, TimeBudget};
use taintlab_core::policy::matching::Explanation;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::{
    self, Assumption, EvictionQuestion, NodeFault, PodSource, WhenEvictedError,
};
use taintlab_core::warnings::Warning;

use crate::options::{ReleaseOptions, of_config};
use crate::problem::{Problem, ProblemCode};
use crate::read::{WrongCall, decode};

/// What happens to the node, and on which Kubernetes.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct WhenEvictedOptions {
    /// What happens to the node at time zero: its taints are put on it (`tainted`, unless given),
    /// or its kubelet is unreachable (`lost`, once `unreachable`) or reports that it is not ready
    /// (`notReady`) in an otherwise healthy cluster.
    #[serde(alias = "trouble")]
    #[cfg_attr(feature = "typescript", tsify(type = "NodeFault | \"unreachable\""))]
    pub node_fault: NodeFault,
    /// ResourceSlices, ResourceClaims and DeviceTaintRules of the cluster, each with its `kind`: taints
    /// of devices that the pod claims count, too.
    #[cfg_attr(feature = "typescript", tsify(type = "readonly object[]"))]
    pub devices: Vec<DeviceObject>,
    /// Whether a new pod passes the admission plugins of the API server, which add tolerations:
    /// `true` unless given. A pod that has a `uid` or a `creationTimestamp` was admitted before.
    pub admission: bool,
    /// The release, for example `1.34`; the newest known one unless given.
    #[cfg_attr(feature = "typescript", tsify(type = "KubernetesRelease"))]
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
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
#[serde(untagged)]
pub enum WhenEvicted {
    /// It is.
    Evicted(Box<Evicted>),
    /// It is not.
    NotEvicted(Box<NotEvicted>),
}

/// A pod is evicted: when, and why.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Evicted {
    /// Whether there is an answer: yes.
    #[cfg_attr(feature = "typescript", tsify(type = "true"))]
    pub ok: bool,
    /// Whether it is evicted: yes.
    #[cfg_attr(feature = "typescript", tsify(type = "true"))]
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
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct NotEvicted {
    /// Whether there is an answer: yes.
    #[cfg_attr(feature = "typescript", tsify(type = "true"))]
    pub ok: bool,
    /// Whether it is evicted: no.
    #[cfg_attr(feature = "typescript", tsify(type = "false"))]
    pub evicted: bool,
    /// How its tolerations answer the taints that the node has in the end.
    pub matching: Explanation,
    /// What was added to the pod and what else the answer takes for granted, by whom and why.
    pub assumed: Vec<DescribedAssumption>,
}

/// Something that was added or taken for granted, also in words.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
pub struct DescribedAssumption {
    /// What, and by whom.
    #[serde(flatten)]
    #[cfg_attr(feature = "typescript", tsify(type = "Assumption"))]
    pub assumption: Assumption,
    /// The same in a sentence.
    pub text: String,
}

/// When a pod is evicted from a node, and why.
///
/// # Errors
/// The options are none that the release takes, admission refuses the pod, or the API server its
/// tolerations.
pub fn when_evicted(
    pod: PodSource,
    node: Node,
    options: WhenEvictedOptions,
) -> Result<WhenEvicted, Vec<Problem>> {
    let release = ReleaseOptions { release: options.release, feature_gates: options.feature_gates };
    let mut config = release.config();
    config.controller_manager_flags = options.controller_manager_flags;
    config.api_server_flags = options.api_server_flags;
    let (fault, devices) = (options.node_fault, options.devices);
    let admission = options.admission;
    let question = EvictionQuestion { pod, node, fault, devices, admission };
    simulator::when_evicted(config, question).map(described).map_err(|error| match error {
        WhenEvictedError::Config(error) => vec![of_config(error)],
        WhenEvictedError::Admission(error) => {
            vec![Problem::new(ProblemCode::NotAdmitted, "pod", &error.to_string())]
        }
        WhenEvictedError::Tolerations(errors) => errors.iter().map(Problem::of_field).collect(),
    })
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
///
/// # Errors
/// The kind is another one, or a field has the wrong type.
pub fn pod_source(object: Value, what: &str) -> Result<PodSource, WrongCall> {
    let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    let makes_pods =
        ["/spec/template", "/spec/jobTemplate"].iter().any(|path| object.pointer(path).is_some());
    Ok(match kind.as_str() {
        "" if makes_pods => {
            let message = "expected the kind of the workload, found nothing; what the API returns \
                in lists does not say it: add it";
            return Err(WrongCall(format!("{what}.kind: {message}")));
        }
        "" | "Pod" => PodSource::Pod(Box::new(decode(object, what)?)),
        "CronJob" => PodSource::CronJob(Box::new(decode(object, what)?)),
        kind if WorkloadKind::ALL.iter().any(|known| known.as_str() == kind) => {
            PodSource::Workload(Box::new(decode(object, what)?))
        }
        kind => {
            let known = WorkloadKind::ALL.map(WorkloadKind::as_str).join("`, `");
            let message = format!("expected `Pod`, `{known}` or `CronJob`, found `{kind}`");
            return Err(WrongCall(format!("{what}.kind: {message}")));
        }
    })
}

/// The answer of `lint`: warnings, and problems of the manifests' text.
#[derive(Serialize)]
pub struct Lint {
    /// Whether the manifests could be read: yes.
    pub ok: bool,
    /// What is likely to surprise, the most pressing first.
    pub warnings: Vec<Warning>,
    /// What is probably not meant in the text of the manifests.
    pub problems: Vec<Problem>,
}
