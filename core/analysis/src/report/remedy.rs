//! Remedies: changes of the cluster that could help, with their YAML.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use taintlab_rules::api::{
    Node, NodeName, PodKey, PodSpec, PodStatus, Taint, TaintEffect, Toleration, TolerationOperator,
    Workload, WorkloadKey, is_default, object, well_known,
};
use taintlab_rules::order::{OrderedMap, OrderedSet};
use taintlab_rules::time::Span;

use super::ReportError;
use super::domains::HOSTNAME;
use crate::scenario::{NodeGroup, Scenario};

/// Name and value of the priority class that is tried.
const PRIORITY: (&str, i64) = ("important", 1_000_000);
/// Suffix of the added node's name.
const MORE: &str = "-more";
pub(crate) const CONSTRAINTS: &str = "topologySpreadConstraints";
/// Values of `whenUnsatisfiable`.
const ANYWAY: &str = "ScheduleAnyway";
const HARD: &str = "DoNotSchedule";

/// A change that could help. It is applied to the objects before the cluster settles.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum Remedy {
    /// The pods of a workload stay this long on an unreachable or not ready node.
    TolerationSeconds {
        /// The workload.
        workload: WorkloadKey,
        /// Value of `tolerationSeconds`.
        seconds: u32,
    },
    /// The pods of a workload are spread, and placed again.
    Spread {
        /// The workload.
        workload: WorkloadKey,
        /// Node label over whose values they are spread.
        topology_key: String,
        /// Whether an existing constraint of the workload over this label changes from
        /// `DoNotSchedule` to `ScheduleAnyway`.
        #[serde(default, skip_serializing_if = "is_default")]
        softens: bool,
    },
    /// One node is added.
    OneMoreNode {
        /// The node that it is a copy of.
        like: NodeName,
    },
    /// The pods of a workload may preempt others.
    Priority {
        /// The workload.
        workload: WorkloadKey,
    },
    /// A budget lets one pod go at a time.
    Budget {
        /// The budget, `namespace/name`.
        budget: PodKey,
    },
    /// Somebody declares the nodes off: the taint `node.kubernetes.io/out-of-service`.
    OutOfService {
        /// Time from the fault to the taint.
        #[cfg_attr(feature = "typescript-all", tsify(type = "Span"))]
        after: Span,
    },
}

/// The change in a few words.
impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TolerationSeconds { workload, seconds } => {
                write!(f, "tolerationSeconds {seconds} for {workload}")
            }
            Self::Spread { workload, topology_key, softens: false } => {
                write!(f, "spread {workload} over {topology_key}")
            }
            Self::Spread { workload, topology_key, softens: true } => {
                write!(
                    f,
                    "{ANYWAY} in place of {HARD} where {workload} is spread over {topology_key}"
                )
            }
            Self::OneMoreNode { like } => write!(f, "one more node like {like}"),
            Self::Priority { workload } => {
                write!(f, "priority {} for {workload}", PRIORITY.1)
            }
            Self::Budget { budget } => write!(f, "maxUnavailable 1 for budget {budget}"),
            Self::OutOfService { after } => {
                write!(f, "taint {} after {after}", Self::out_of_service_taint())
            }
        }
    }
}

impl Remedy {
    pub(super) fn out_of_service_taint() -> Taint {
        Taint::new(well_known::OUT_OF_SERVICE, "nodeshutdown", TaintEffect::NoExecute)
    }

    /// Whether the change precedes the fault.
    pub(super) const fn is_before(&self) -> bool {
        !matches!(self, Self::OutOfService { .. })
    }

    /// Scenario with this change.
    ///
    /// # Errors
    /// The object that it changes does not exist.
    pub fn applied_to(&self, scenario: &Scenario) -> Result<Scenario, ReportError> {
        let mut changed = scenario.clone();
        match self {
            Self::TolerationSeconds { workload, seconds } => {
                Template::of(&changed, workload)?;
                edit(&mut changed, workload, &|spec| tolerate(spec, *seconds));
            }
            Self::Spread { workload, topology_key, .. } => {
                let constraints = Template::of(&changed, workload)?.spread(topology_key).1;
                edit(&mut changed, workload, &|spec| {
                    spec.other.set(CONSTRAINTS, json!(constraints));
                    // Placed again.
                    spec.node_name = String::new();
                });
                let sets = sets(&changed, workload);
                for pod in &mut changed.objects.pods {
                    if pod.metadata.controller_key().is_some_and(|owner| sets.contains(&owner)) {
                        Arc::make_mut(pod).status = PodStatus::default();
                    }
                }
            }
            Self::OneMoreNode { like } => {
                let node = one_more(&changed, like)?;
                changed.objects.nodes.push(Arc::new(node));
            }
            Self::Priority { workload } => {
                let (name, value) = PRIORITY;
                Template::of(&changed, workload)?;
                edit(&mut changed, workload, &|spec| {
                    spec.other.set("priorityClassName", name.into());
                });
                let sets = sets(&changed, workload);
                for pod in &mut changed.objects.pods {
                    if pod.metadata.controller_key().is_some_and(|owner| sets.contains(&owner)) {
                        Arc::make_mut(pod).spec.other.set("priority", value.into());
                    }
                }
                changed.objects.others.push(priority_class());
            }
            Self::Budget { budget } => {
                let known = changed.objects.budgets.iter_mut().find(|it| it.key() == *budget);
                let Some(known) = known else {
                    return Err(ReportError::Remedy(format!("there is no budget `{budget}`")));
                };
                known.spec.min_available = None;
                known.spec.max_unavailable = Some(1.into());
            }
            // The taint follows the fault.
            Self::OutOfService { .. } => {}
        }
        Ok(changed)
    }

    /// YAML of the change, for `kubectl apply` or `kubectl patch`; or a command, where a patch
    /// would keep the replaced value. `nodes` are the failing ones.
    ///
    /// # Errors
    /// The object that it changes does not exist.
    pub fn yaml(&self, scenario: &Scenario, nodes: &[NodeName]) -> Result<String, ReportError> {
        let documents = match self {
            Self::TolerationSeconds { workload, seconds } => {
                let mut spec = Template::of(scenario, workload)?.spec.clone();
                tolerate(&mut spec, *seconds);
                let tolerations = json!({ "tolerations": spec.tolerations });
                Vec::from([of_template(workload, tolerations)])
            }
            Self::Spread { workload, topology_key, softens } => {
                let (ours, all) = Template::of(scenario, workload)?.spread(topology_key);
                // Lists in patches are merged, by server-side apply with `whenUnsatisfiable` as a
                // part of the key, which would keep the old constraint.
                if *softens {
                    let patch = json!({ "spec": { "template": { "spec": { CONSTRAINTS: all } } } });
                    return Ok(format!(
                        "kubectl patch {} {} --namespace {} --type merge \
                         --patch-file /dev/stdin <<'EOF'\n{}EOF\n",
                        workload.kind.as_str().to_ascii_lowercase(),
                        workload.name.name(),
                        workload.name.namespace(),
                        yaml(&patch),
                    ));
                }
                Vec::from([of_template(workload, json!({ CONSTRAINTS: [ours] }))])
            }
            Self::OneMoreNode { like } => {
                let node = one_more(scenario, like)?;
                Vec::from([json!({
                    "apiVersion": "v1",
                    "kind": "Node",
                    "metadata": { "name": node.metadata.name, "labels": node.metadata.labels },
                    "spec": { "taints": node.spec.taints },
                    "status": node.status.other,
                })])
            }
            Self::Priority { workload } => {
                let spec = json!({ "priorityClassName": PRIORITY.0 });
                Vec::from([priority_class(), of_template(workload, spec)])
            }
            Self::Budget { budget } => {
                let mut spec = [("minAvailable", Value::Null), ("maxUnavailable", 1.into())];
                Vec::from([object(&mut [
                    ("apiVersion", "policy/v1".into()),
                    ("kind", "PodDisruptionBudget".into()),
                    ("metadata", named(budget)),
                    ("spec", object(&mut spec)),
                ])])
            }
            Self::OutOfService { .. } => {
                let names: Vec<&str> = nodes.iter().map(NodeName::as_str).collect();
                let taint = Self::out_of_service_taint();
                return Ok(format!("kubectl taint nodes {} {taint}\n", names.join(" ")));
            }
        };
        Ok(documents.iter().map(yaml).collect::<Vec<_>>().join("---\n"))
    }
}

/// Pod template of a workload; for a workload without a manifest, its first pod.
pub(crate) struct Template<'a> {
    pub(crate) spec: &'a PodSpec,
    pub(crate) selector: Value,
}

/// Labels that controllers add to their pods, and nobody selects by.
const LABELS_OF_CONTROLLERS: [&str; 4] = [
    "pod-template-hash",
    "controller-revision-hash",
    "statefulset.kubernetes.io/pod-name",
    "apps.kubernetes.io/pod-index",
];

impl<'a> Template<'a> {
    pub(crate) fn of(scenario: &'a Scenario, key: &WorkloadKey) -> Result<Self, ReportError> {
        let selector = |labels: &BTreeMap<String, String>| {
            let ours =
                |(label, _): &(&String, &String)| !LABELS_OF_CONTROLLERS.contains(&label.as_str());
            json!({ "matchLabels": labels.iter().filter(ours).collect::<OrderedMap<_, _>>() })
        };
        let objects = &scenario.objects;
        if let Some(workload) = objects.workloads.iter().find(|known| known.key() == *key) {
            let template = &workload.spec.template;
            let given = workload.spec.selector.clone();
            let selector = given.unwrap_or_else(|| selector(&template.metadata.labels));
            return Ok(Self { spec: &template.spec, selector });
        }
        let mut pods = objects.pods.iter();
        let pod = pods.find(|pod| pod.metadata.controller_key().as_ref() == Some(key));
        let missing = || ReportError::Remedy(format!("there is no `{key}`, and no pod of it"));
        let pod = pod.ok_or_else(missing)?;
        Ok(Self { spec: &pod.spec, selector: selector(&pod.metadata.labels) })
    }

    /// The constraint that spreads the pods over a node label as far as possible, and the list of
    /// all constraints with it.
    pub(crate) fn spread(&self, topology_key: &str) -> (Value, Vec<Value>) {
        let known = self.spec.other.get(CONSTRAINTS).and_then(Value::as_array);
        let (same, mut all): (Vec<Value>, Vec<Value>) =
            known.into_iter().flatten().cloned().partition(|it| is_over(it, topology_key));
        let mut ours = Map::new();
        ours.insert("labelSelector".into(), self.selector.clone());
        // Other settings of the workload stay, except those that only DoNotSchedule allows.
        ours.extend(same.into_iter().filter_map(|it| it.as_object().cloned()).flatten());
        ours.remove("minDomains");
        ours.insert("maxSkew".into(), 1.into());
        ours.insert("topologyKey".into(), topology_key.into());
        ours.insert("whenUnsatisfiable".into(), ANYWAY.into());
        let ours = Value::from(ours);
        all.push(ours.clone());
        (ours, all)
    }
}

/// Whether a topology spread constraint uses this label.
fn is_over(constraint: &Value, topology_key: &str) -> bool {
    constraint.get("topologyKey").and_then(Value::as_str) == Some(topology_key)
}

/// Whether a pod has a hard spread constraint over a label.
pub(super) fn must_spread(spec: &PodSpec, topology_key: &str) -> bool {
    let known = spec.other.get(CONSTRAINTS).and_then(Value::as_array);
    known.into_iter().flatten().any(|it| {
        is_over(it, topology_key)
            && it.get("whenUnsatisfiable").and_then(Value::as_str) != Some(ANYWAY)
    })
}

/// The workload, and the ones it owns, which own the pods.
fn sets(scenario: &Scenario, key: &WorkloadKey) -> OrderedSet<WorkloadKey> {
    let owned = scenario.objects.workloads.iter();
    let owned = owned.filter(|workload| workload.owner().as_ref() == Some(key));
    owned.map(Workload::key).chain([key.clone()]).collect::<OrderedSet<_>>()
}

/// Changes the template of a workload, those of its ReplicaSets, and its pods.
fn edit(scenario: &mut Scenario, key: &WorkloadKey, change: &dyn Fn(&mut PodSpec)) {
    let sets = sets(scenario, key);
    for workload in &mut scenario.objects.workloads {
        if sets.contains(&workload.key()) {
            change(&mut workload.spec.template.spec);
        }
    }
    for pod in &mut scenario.objects.pods {
        if pod.metadata.controller_key().is_some_and(|owner| sets.contains(&owner)) {
            change(&mut Arc::make_mut(pod).spec);
        }
    }
}

/// Puts the tolerations first: the first one that matches a taint counts.
pub(crate) fn tolerate(spec: &mut PodSpec, seconds: u32) {
    let keys = [well_known::NOT_READY, well_known::UNREACHABLE];
    spec.tolerations.retain(|toleration| {
        let no_execute = matches!(toleration.effect, TaintEffect::NoExecute | TaintEffect::Empty);
        !(no_execute && keys.contains(&toleration.key.as_str()))
    });
    let ours = keys.map(|key| Toleration {
        key: key.into(),
        operator: TolerationOperator::Exists,
        effect: TaintEffect::NoExecute,
        toleration_seconds: Some(seconds.into()),
        ..Toleration::default()
    });
    spec.tolerations.splice(0..0, ours);
}

fn one_more(scenario: &Scenario, like: &NodeName) -> Result<Node, ReportError> {
    let objects = &scenario.objects;
    let given = objects.nodes.iter().map(|node| node.as_ref().clone());
    let grouped = objects.node_groups.iter().flat_map(NodeGroup::nodes);
    let node = given
        .chain(grouped)
        .find(|node| node.metadata.name == like.as_str())
        .ok_or_else(|| ReportError::Remedy(format!("there is no node `{like}`")))?;
    let name = format!("{like}{MORE}");
    Ok(another_node(node, name))
}

/// A new node of the same kind as another one.
pub(crate) fn another_node(mut node: Node, name: String) -> Node {
    node.metadata.uid = String::new();
    node.metadata.creation_timestamp = None;
    node.metadata.labels.insert(HOSTNAME.to_owned(), name.clone());
    node.metadata.name = name;
    node.spec.taints.retain(|taint| !taint.key.starts_with("node.kubernetes.io/"));
    node
}

pub(crate) fn priority_class() -> Value {
    let (name, value) = PRIORITY;
    object(&mut [
        ("apiVersion", "scheduling.k8s.io/v1".into()),
        ("kind", "PriorityClass".into()),
        ("metadata", object(&mut [("name", name.into())])),
        ("value", value.into()),
    ])
}

/// Partial manifest of a workload: some fields of its template's `spec`.
pub(crate) fn of_template(key: &WorkloadKey, spec: Value) -> Value {
    let template = object(&mut [("spec", spec)]);
    object(&mut [
        ("apiVersion", key.kind.api_version().into()),
        ("kind", key.kind.as_str().into()),
        ("metadata", named(&key.name)),
        ("spec", object(&mut [("template", template)])),
    ])
}

/// Metadata of an object in a namespace.
fn named(key: &PodKey) -> Value {
    object(&mut [("name", key.name().into()), ("namespace", key.namespace().into())])
}

/// YAML of an object: block style, two spaces, strings in quotes where necessary.
pub(crate) fn yaml(value: &Value) -> String {
    let mut out = String::new();
    block(&mut out, value, 0);
    out
}

fn block(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(map) => fields(out, map, indent, ""),
        Value::Array(items) => {
            for item in items {
                let dash = format!("{}- ", " ".repeat(indent));
                match item {
                    Value::Object(map) if !map.is_empty() => fields(out, map, indent + 2, &dash),
                    item => _ = writeln!(out, "{dash}{}", scalar(item)),
                }
            }
        }
        value => _ = writeln!(out, "{}", scalar(value)),
    }
}

/// Fields of an object; `first` replaces the indentation of the first one.
fn fields(out: &mut String, map: &Map<String, Value>, indent: usize, first: &str) {
    for (index, (name, value)) in map.iter().enumerate() {
        match first {
            "" => out.push_str(&" ".repeat(indent)),
            first if index == 0 => out.push_str(first),
            _ => out.push_str(&" ".repeat(indent)),
        }
        out.push_str(&text(name));
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                out.push_str(":\n");
                fields(out, inner, indent + 2, "");
            }
            Value::Array(items) if !items.is_empty() => {
                out.push_str(":\n");
                block(out, value, indent + 2);
            }
            value => _ = writeln!(out, ": {}", scalar(value)),
        }
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(string) => text(string),
        value => format!("{value}"),
    }
}

/// A string, in quotes unless it is certain to be read as text.
fn text(string: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let begins = string.starts_with(|c: char| c.is_ascii_alphabetic());
    if begins && string.chars().all(plain) && !words.contains(&string.to_ascii_lowercase().as_str())
    {
        return string.to_owned();
    }
    format!("{}", Value::from(string))
}
