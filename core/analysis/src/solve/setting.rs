//! Settings: the changes that are tried, as patches of objects and flags of the control plane.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use taintlab_rules::api::{PodKey, WorkloadKey, well_known};
use taintlab_rules::time::Span;

use crate::report::{
    CONSTRAINTS, ReportError, Template, of_template, priority_class, tolerate, yaml,
};
use crate::scenario::Scenario;

/// Flags of kube-apiserver with the `tolerationSeconds` that new pods get.
const DEFAULTS: [&str; 2] =
    ["default-not-ready-toleration-seconds", "default-unreachable-toleration-seconds"];

/// A change of one setting.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Setting {
    /// The pods of a workload stay this long on an unreachable or not ready node.
    TolerationSeconds {
        /// The workload.
        workload: WorkloadKey,
        /// Value of `tolerationSeconds`.
        seconds: u32,
    },
    /// A budget lets one pod of a workload go at a time: `maxUnavailable: 1`.
    Budget {
        /// The workload.
        workload: WorkloadKey,
        /// The budget; a new one unless it exists.
        budget: PodKey,
    },
    /// The pods of a workload are spread by `topologySpreadConstraints`, `ScheduleAnyway`.
    Spread {
        /// The workload.
        workload: WorkloadKey,
        /// Node label over whose values they are spread.
        topology_key: String,
    },
    /// No two pods of a workload share a value of a node label: required `podAntiAffinity`.
    AntiAffinity {
        /// The workload.
        workload: WorkloadKey,
        /// The node label.
        topology_key: String,
    },
    /// A workload has this number of pods.
    Replicas {
        /// The workload.
        workload: WorkloadKey,
        /// Value of `replicas`.
        replicas: i64,
    },
    /// The pods of a workload may preempt others. It makes a PriorityClass, too.
    Priority {
        /// The workload.
        workload: WorkloadKey,
    },
    /// Somebody declares lost nodes off: the taint `node.kubernetes.io/out-of-service`.
    OutOfService {
        /// Time from the loss to the taint. Nodes that are back before then are not tainted.
        after: Span,
    },
    /// A flag of kube-controller-manager.
    ControllerManagerFlag {
        /// Name without dashes.
        name: String,
        /// Value.
        value: String,
    },
    /// Both flags of kube-apiserver with the `tolerationSeconds` that new pods get. Pods that exist
    /// keep theirs.
    DefaultTolerationSeconds {
        /// Value of the flags.
        seconds: u32,
    },
}

impl Setting {
    /// Number of fields, objects and flags that it changes or makes.
    #[must_use]
    pub const fn fields(&self) -> usize {
        match self {
            Self::Priority { .. } | Self::DefaultTolerationSeconds { .. } => 2,
            Self::TolerationSeconds { .. }
            | Self::Budget { .. }
            | Self::Spread { .. }
            | Self::AntiAffinity { .. }
            | Self::Replicas { .. }
            | Self::OutOfService { .. }
            | Self::ControllerManagerFlag { .. } => 1,
        }
    }

    /// Rank among changes of as many fields, the cheapest first: a field of one workload, a new
    /// constraint on its nodes, more pods, pods of others at its mercy, something that somebody has
    /// to do in each failure, and a flag for the whole cluster.
    #[must_use]
    pub const fn cost(&self) -> usize {
        match self {
            Self::TolerationSeconds { .. } => 1,
            Self::Budget { .. } => 2,
            Self::Spread { .. } => 3,
            Self::AntiAffinity { .. } => 4,
            Self::Replicas { .. } => 5,
            Self::Priority { .. } => 6,
            Self::OutOfService { .. } => 7,
            Self::ControllerManagerFlag { .. } => 8,
            Self::DefaultTolerationSeconds { .. } => 9,
        }
    }

    /// Name of its kind: `tolerationSeconds`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::TolerationSeconds { .. } => "tolerationSeconds",
            Self::Budget { .. } => "budget",
            Self::Spread { .. } => "spread",
            Self::AntiAffinity { .. } => "antiAffinity",
            Self::Replicas { .. } => "replicas",
            Self::Priority { .. } => "priority",
            Self::OutOfService { .. } => "outOfService",
            Self::ControllerManagerFlag { .. } | Self::DefaultTolerationSeconds { .. } => "flags",
        }
    }

    /// Its name and its value in words, for lists of values.
    pub(super) fn name_and_value(&self) -> (String, String) {
        match self {
            Self::TolerationSeconds { workload, seconds } => {
                (format!("tolerationSeconds of {workload}"), seconds.to_string())
            }
            Self::Budget { budget, .. } => {
                (format!("maxUnavailable of PodDisruptionBudget {budget}"), "1".into())
            }
            Self::Spread { workload, topology_key } => {
                (format!("topologySpreadConstraints of {workload}"), topology_key.clone())
            }
            Self::AntiAffinity { workload, topology_key } => {
                (format!("podAntiAffinity of {workload}"), topology_key.clone())
            }
            Self::Replicas { workload, replicas } => {
                (format!("replicas of {workload}"), replicas.to_string())
            }
            Self::Priority { workload } => {
                (format!("priorityClassName of {workload}"), "a new PriorityClass".into())
            }
            Self::OutOfService { after } => {
                (format!("time until the taint {}", well_known::OUT_OF_SERVICE), after.to_string())
            }
            Self::ControllerManagerFlag { name, value } => (format!("--{name}"), value.clone()),
            Self::DefaultTolerationSeconds { seconds } => {
                (DEFAULTS.map(|name| format!("--{name}")).join(" and "), seconds.to_string())
            }
        }
    }

    /// All names of [`kind`](Self::kind).
    pub const KINDS: [&str; 8] = [
        "tolerationSeconds",
        "budget",
        "spread",
        "antiAffinity",
        "replicas",
        "priority",
        "outOfService",
        "flags",
    ];

    /// The change as merge patches of objects and as new objects; empty if it changes none.
    fn documents(&self, scenario: &Scenario) -> Result<Vec<Value>, ReportError> {
        let of = |workload: &WorkloadKey, spec: Value| Vec::from([of_template(workload, spec)]);
        Ok(match self {
            Self::TolerationSeconds { workload, seconds } => {
                let mut spec = Template::of(scenario, workload)?.spec.clone();
                tolerate(&mut spec, *seconds);
                of(workload, json!({ "tolerations": spec.tolerations }))
            }
            Self::Budget { workload, budget } => {
                let known = scenario.objects.budgets.iter().any(|it| it.key() == *budget);
                let mut spec = json!({ "minAvailable": null, "maxUnavailable": 1 });
                if !known {
                    let selector = Template::of(scenario, workload)?.selector;
                    spec = json!({ "maxUnavailable": 1, "selector": selector });
                }
                Vec::from([json!({
                    "apiVersion": "policy/v1",
                    "kind": "PodDisruptionBudget",
                    "metadata": { "name": budget.name(), "namespace": budget.namespace() },
                    "spec": spec,
                })])
            }
            Self::Spread { workload, topology_key } => {
                let (_, all) = Template::of(scenario, workload)?.spread(topology_key);
                let mut spec = Map::new();
                spec.insert(CONSTRAINTS.into(), all.into());
                of(workload, spec.into())
            }
            Self::AntiAffinity { workload, topology_key } => {
                const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
                let template = Template::of(scenario, workload)?;
                let known = template.spec.other.get("affinity");
                let known = known.and_then(|it| it.get("podAntiAffinity")?.get(REQUIRED));
                let mut terms: Vec<Value> =
                    known.and_then(Value::as_array).cloned().unwrap_or_default();
                let selector = template.selector;
                terms.push(json!({ "labelSelector": selector, "topologyKey": topology_key }));
                let mut required = Map::new();
                required.insert(REQUIRED.into(), terms.into());
                of(workload, json!({ "affinity": { "podAntiAffinity": required } }))
            }
            Self::Replicas { workload, replicas } => Vec::from([json!({
                "apiVersion": workload.kind.api_version(),
                "kind": workload.kind.as_str(),
                "metadata": {
                    "name": workload.name.name(),
                    "namespace": workload.name.namespace(),
                },
                "spec": { "replicas": replicas },
            })]),
            Self::Priority { workload } => {
                let class = priority_class();
                let name = class.pointer("/metadata/name").cloned();
                let patch = of_template(workload, json!({ "priorityClassName": name }));
                Vec::from([class, patch])
            }
            Self::OutOfService { .. }
            | Self::ControllerManagerFlag { .. }
            | Self::DefaultTolerationSeconds { .. } => Vec::new(),
        })
    }

    /// The flags that it sets, by component.
    fn flags(&self) -> Vec<(&'static str, &str, String)> {
        match self {
            Self::ControllerManagerFlag { name, value } => {
                Vec::from([("kube-controller-manager", name.as_str(), value.clone())])
            }
            Self::DefaultTolerationSeconds { seconds } => {
                DEFAULTS.map(|name| ("kube-apiserver", name, seconds.to_string())).into()
            }
            Self::TolerationSeconds { .. }
            | Self::Budget { .. }
            | Self::Spread { .. }
            | Self::AntiAffinity { .. }
            | Self::Replicas { .. }
            | Self::Priority { .. }
            | Self::OutOfService { .. } => Vec::new(),
        }
    }

    /// Sets its flags in a scenario, and leaves objects alone.
    pub fn set_flags(&self, scenario: &mut Scenario) {
        for (component, name, value) in self.flags() {
            let kubernetes = &mut scenario.kubernetes;
            let flags = if component == "kube-apiserver" {
                &mut kubernetes.api_server_flags
            } else {
                &mut kubernetes.controller_manager_flags
            };
            flags.insert(name.into(), value);
        }
    }

    /// Lines that say what no patch can: flags, and what somebody has to do.
    #[must_use]
    pub fn commands(&self) -> Vec<String> {
        if let Self::OutOfService { after } = self {
            let taint = format!("{}=nodeshutdown:NoExecute", well_known::OUT_OF_SERVICE);
            return Vec::from([format!(
                "kubectl taint nodes NODE {taint}   # {after} after NODE is lost, if it is not back"
            )]);
        }
        let flags = self.flags();
        flags
            .iter()
            .map(|(component, name, value)| format!("{component} --{name}={value}"))
            .collect()
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TolerationSeconds { workload, seconds } => {
                write!(f, "tolerationSeconds {seconds} for {workload}")
            }
            Self::Budget { budget, .. } => {
                write!(f, "maxUnavailable 1 for PodDisruptionBudget {budget}")
            }
            Self::Spread { workload, topology_key } => {
                write!(f, "spread {workload} over {topology_key}")
            }
            Self::AntiAffinity { workload, topology_key } => {
                write!(f, "anti-affinity of {workload} over {topology_key}")
            }
            Self::Replicas { workload, replicas } => {
                write!(f, "replicas {replicas} for {workload}")
            }
            Self::Priority { workload } => write!(f, "a higher priority for {workload}"),
            Self::OutOfService { after } => {
                write!(f, "taint {} after {after}", well_known::OUT_OF_SERVICE)
            }
            Self::ControllerManagerFlag { name, value } => write!(f, "--{name}={value}"),
            Self::DefaultTolerationSeconds { seconds } => {
                write!(f, "--{}={seconds}, --{}={seconds}", DEFAULTS[0], DEFAULTS[1])
            }
        }
    }
}

/// Kind, namespace and name of an object.
fn identity(object: &Value) -> [&str; 3] {
    let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
    [text("/kind"), text("/metadata/namespace"), text("/metadata/name")]
}

/// A patch onto another patch, or onto an object: maps are merged, and all else is replaced.
fn merge(into: &mut Value, patch: &Value) {
    match (into, patch) {
        (Value::Object(into), Value::Object(patch)) => {
            for (name, value) in patch {
                merge(into.entry(name.clone()).or_insert_with(|| json!({})), value);
            }
        }
        (into, patch) => *into = patch.clone(),
    }
}

/// The value without the fields that are `null`.
fn without_nulls(value: &mut Value) {
    if let Value::Object(fields) = value {
        fields.retain(|_, value| !value.is_null());
        fields.values_mut().for_each(without_nulls);
    }
}

/// An object with a patch, as `kubectl patch --type merge` makes it.
fn patched<T: Serialize + DeserializeOwned>(object: &T, patch: &Value) -> Result<T, ReportError> {
    let wrong = |why: serde_json::Error| ReportError::Remedy(why.to_string());
    let mut whole = serde_json::to_value(object).map_err(wrong)?;
    merge(&mut whole, patch);
    without_nulls(&mut whole);
    serde_json::from_value(whole).map_err(wrong)
}

/// Applies a merge patch, or a new object, to a scenario; returns the whole object.
///
/// # Errors
/// The patch is of a workload that does not exist, or is not valid.
pub fn apply_document(scenario: &mut Scenario, document: &Value) -> Result<Value, ReportError> {
    let [kind, namespace, name] = identity(document);
    let objects = &mut scenario.objects;
    let key = PodKey::new(namespace, name);
    let wrong = |why: serde_json::Error| ReportError::Remedy(why.to_string());
    if kind == "PodDisruptionBudget" {
        let known = objects.budgets.iter_mut().find(|it| it.key() == key);
        let Some(known) = known else {
            objects.budgets.push(serde_json::from_value(document.clone()).map_err(wrong)?);
            return Ok(document.clone());
        };
        *known = patched(known, document)?;
        return typed(known, document);
    }
    let mut workloads = objects.workloads.iter_mut();
    let known = workloads.find(|it| it.kind.as_str() == kind && it.key().name == key);
    if let Some(known) = known {
        let mut changed = patched(known, document)?;
        if changed.spec.template != known.spec.template {
            // It rolls out.
            changed.advance(known.generation() + 1);
        }
        *known = changed;
        return typed(known, document);
    }
    if kind != "PriorityClass" {
        return Err(ReportError::Remedy(format!("there is no {kind} `{key}` to be patched")));
    }
    objects.others.retain(|it| identity(it) != identity(document));
    objects.others.push(document.clone());
    Ok(document.clone())
}

/// An object as a manifest, with the type of a document.
fn typed(object: &impl Serialize, document: &Value) -> Result<Value, ReportError> {
    let wrong = |why: serde_json::Error| ReportError::Remedy(why.to_string());
    let mut whole = serde_json::to_value(object).map_err(wrong)?;
    for name in ["apiVersion", "kind"] {
        if let (Some(fields), Some(value)) = (whole.as_object_mut(), document.get(name)) {
            fields.insert(name.into(), value.clone());
        }
    }
    Ok(whole)
}

/// Applies settings to a scenario one after the other. Those that somebody makes after a failure
/// change nothing here.
///
/// # Errors
/// A setting is of an object that does not exist.
pub fn apply(scenario: &Scenario, settings: &[Setting]) -> Result<Scenario, ReportError> {
    let mut changed = scenario.clone();
    for setting in settings {
        for document in setting.documents(&changed)? {
            apply_document(&mut changed, &document)?;
        }
        setting.set_flags(&mut changed);
    }
    Ok(changed)
}

/// Settings as YAML: one merge patch for each object that changes, and new objects.
///
/// # Errors
/// As [`apply`].
pub fn patch(scenario: &Scenario, settings: &[Setting]) -> Result<String, ReportError> {
    let mut changed = scenario.clone();
    let mut places: BTreeMap<[String; 3], usize> = BTreeMap::new();
    let mut all: Vec<Value> = Vec::new();
    for setting in settings {
        for document in setting.documents(&changed)? {
            apply_document(&mut changed, &document)?;
            let key = identity(&document).map(ToString::to_string);
            match places.get(&key).and_then(|place| all.get_mut(*place)) {
                Some(known) => merge(known, &document),
                None => {
                    places.insert(key, all.len());
                    all.push(document);
                }
            }
        }
    }
    Ok(all.iter().map(yaml).collect::<Vec<_>>().join("---\n"))
}
