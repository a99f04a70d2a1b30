//! Where a pod wants to run, read from the fields that are kept as they are.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::Value;

use super::resources::Field;
use super::{Pod, ResourceError, is_valid_label_value, string_enum};
use crate::quote::go_quote;

string_enum! {
    /// How a label is compared (`metav1.LabelSelectorOperator`, `v1.NodeSelectorOperator`).
    SelectorOperator {
        /// The label has one of the values.
        In = "In",
        /// The label has none of the values, or is not there.
        NotIn = "NotIn",
        /// The label is there.
        Exists = "Exists",
        /// The label is not there.
        DoesNotExist = "DoesNotExist",
        /// Nodes only: the label is a number above the value.
        Gt = "Gt",
        /// Nodes only: the label is a number below the value.
        Lt = "Lt",
    }
}

/// One comparison of a label, or of a field of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Requirement {
    /// The label's key.
    pub key: String,
    /// How it is compared.
    pub operator: SelectorOperator,
    /// With what.
    pub values: Vec<String>,
}

impl Requirement {
    /// Whether `value`, that of the label if it is there, is as required. An operator that does not
    /// exist, or has the wrong number of values, matches nothing. Mirrors
    /// `labels.Requirement.Matches`.
    #[must_use]
    pub fn matches(&self, value: Option<&str>) -> bool {
        let listed = || self.values.iter().any(|wanted| Some(wanted.as_str()) == value);
        match self.operator {
            SelectorOperator::In => !self.values.is_empty() && listed(),
            SelectorOperator::NotIn => !self.values.is_empty() && !listed(),
            SelectorOperator::Exists => self.values.is_empty() && value.is_some(),
            SelectorOperator::DoesNotExist => self.values.is_empty() && value.is_none(),
            SelectorOperator::Gt | SelectorOperator::Lt => {
                let [wanted] = self.values.as_slice() else { return false };
                let number = |text: &str| text.parse::<i64>().ok();
                // What no label can have, such as a negative number, makes the term invalid.
                let wanted = Some(wanted).filter(|wanted| is_valid_label_value(wanted).is_empty());
                let numbers = value.and_then(number).zip(wanted.and_then(|text| number(text)));
                let Some((value, wanted)) = numbers else {
                    return false;
                };
                if self.operator == SelectorOperator::Gt { value > wanted } else { value < wanted }
            }
            SelectorOperator::Empty | SelectorOperator::Other(_) => false,
        }
    }

    /// Why the scheduler cannot compare labels so: the API server looks at a node selector less
    /// closely. Mirrors `labels.NewRequirement`.
    #[must_use]
    pub fn parse_error(&self) -> Option<String> {
        use SelectorOperator::{DoesNotExist, Empty, Exists, Gt, In, Lt, NotIn, Other};
        let text = match (&self.operator, self.values.as_slice()) {
            (In | NotIn, []) => "for 'in', 'notin' operators, values set can't be empty",
            (Exists | DoesNotExist, [_, ..]) => {
                "values set must be empty for exists and does not exist"
            }
            (Gt | Lt, [] | [_, _, ..]) => "for 'Gt', 'Lt' operators, exactly one value is required",
            (Gt | Lt, [value]) if value.parse::<i64>().is_err() => {
                "for 'Gt', 'Lt' operators, the value must be an integer"
            }
            (Empty | Other(_), _) => {
                let operator = go_quote(self.operator.as_str());
                return Some(format!("{operator} is not a valid node selector operator"));
            }
            (In | NotIn | Exists | DoesNotExist | Gt | Lt, values) => {
                return values.iter().find_map(|value| {
                    let errors = is_valid_label_value(value);
                    let (shown, key) = (go_quote(value), go_quote(&self.key));
                    let all = errors.join("; ");
                    (!errors.is_empty())
                        .then(|| format!("invalid label value: {shown}: at key: {key}: {all}"))
                });
            }
        };
        Some(text.to_owned())
    }
}

/// `metav1.LabelSelector`: all of its requirements. One without any matches everything; one that is
/// absent matches nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LabelSelector {
    /// `matchLabels` and then `matchExpressions`.
    pub requirements: Vec<Requirement>,
}

impl LabelSelector {
    /// Whether the labels are as required.
    #[must_use]
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.requirements.iter().all(|requirement| {
            requirement.matches(labels.get(&requirement.key).map(String::as_str))
        })
    }

    /// Requires that label `key` is `value`.
    pub fn require(&mut self, key: &str, value: &str) {
        self.requirements.push(Requirement {
            key: key.to_owned(),
            operator: SelectorOperator::In,
            values: Vec::from([value.to_owned()]),
        });
    }
}

/// `v1.NodeSelectorTerm`: all of its requirements. One without any matches no node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeSelectorTerm {
    /// What is required of labels.
    pub match_expressions: Vec<Requirement>,
    /// What is required of fields; `metadata.name` is the only one.
    pub match_fields: Vec<Requirement>,
    /// Why the scheduler cannot use the term, which the API server took; such a term matches no
    /// node.
    pub parse_error: Option<String>,
}

impl NodeSelectorTerm {
    /// Whether it requires nothing. Mirrors `isEmptyNodeSelectorTerm`.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.match_expressions.is_empty() && self.match_fields.is_empty()
    }

    /// Whether a node of that name and with these labels is as required. Mirrors
    /// `nodeaffinity.nodeSelectorTerm.match`.
    #[must_use]
    pub fn matches(&self, name: &str, labels: &BTreeMap<String, String>) -> bool {
        let label = |requirement: &Requirement| {
            requirement.matches(labels.get(&requirement.key).map(String::as_str))
        };
        let field = |requirement: &Requirement| {
            requirement.key == "metadata.name" && requirement.matches(Some(name))
        };
        !self.is_empty()
            && self.parse_error.is_none()
            && self.match_expressions.iter().all(label)
            && self.match_fields.iter().all(field)
    }
}

/// A preference: what is preferred and how much.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weighted<T> {
    /// 1 to 100.
    pub weight: i64,
    /// What is preferred.
    pub term: T,
}

/// `v1.PodAffinityTerm`: pods, and the parts of the cluster in which they are looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PodAffinityTerm {
    /// Which pods.
    pub label_selector: Option<LabelSelector>,
    /// Their namespaces; that of the pod, if neither these nor the selector is given.
    pub namespaces: Vec<String>,
    /// Their namespaces, by label. Of a namespace only its name is known here, as the label
    /// `kubernetes.io/metadata.name`.
    pub namespace_selector: Option<LabelSelector>,
    /// The label of nodes that says which part they are in.
    pub topology_key: String,
}

/// What a pod says of other pods (`podAffinity` and `podAntiAffinity`).
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PodAffinity {
    /// Pods it must be with.
    pub required: Vec<PodAffinityTerm>,
    /// Pods it would rather be with.
    pub preferred: Vec<Weighted<PodAffinityTerm>>,
    /// Pods it must be apart from.
    pub required_anti: Vec<PodAffinityTerm>,
    /// Pods it would rather be apart from.
    pub preferred_anti: Vec<Weighted<PodAffinityTerm>>,
}

impl PodAffinity {
    /// It says nothing.
    pub const NONE: Self = Self {
        required: Vec::new(),
        preferred: Vec::new(),
        required_anti: Vec::new(),
        preferred_anti: Vec::new(),
    };

    /// Whether it says nothing.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.required.is_empty()
            && self.preferred.is_empty()
            && self.required_anti.is_empty()
            && self.preferred_anti.is_empty()
    }
}

string_enum! {
    /// `v1.UnsatisfiableConstraintAction`.
    WhenUnsatisfiable {
        /// The pod is not scheduled.
        DoNotSchedule = "DoNotSchedule",
        /// The pod goes where it is spread best.
        ScheduleAnyway = "ScheduleAnyway",
    }
}

/// `v1.TopologySpreadConstraint`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopologySpread {
    /// How many pods more than elsewhere one part of the cluster may have.
    pub max_skew: i64,
    /// The label of nodes that says which part they are in.
    pub topology_key: String,
    /// What happens if it cannot be.
    pub when_unsatisfiable: WhenUnsatisfiable,
    /// Which pods are counted.
    pub label_selector: Option<LabelSelector>,
    /// Fewer parts than these count as if there were an empty one.
    pub min_domains: Option<i64>,
    /// Labels whose value must be that of the pod.
    pub match_label_keys: Vec<String>,
    /// Whether nodes that the pod's own node affinity excludes are left out of account.
    pub honors_node_affinity: bool,
    /// Whether nodes whose taints the pod does not tolerate are left out of account.
    pub honors_node_taints: bool,
}

/// A port of the node that a container takes (`hostPort`): address, protocol, number. Mirrors the
/// entries of `framework.HostPortInfo`.
pub type HostPort = (String, String, i64);

/// The fields of a pod that say where it wants to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchedulingFields {
    /// `spec.nodeSelector`.
    pub node_selector: LabelSelector,
    /// The required node affinity: one of the terms, if there is one at all.
    pub required_node_terms: Option<Vec<NodeSelectorTerm>>,
    /// The preferred node affinity.
    pub preferred_node_terms: Vec<Weighted<NodeSelectorTerm>>,
    /// Near which pods it wants to be, and far from which.
    pub pod_affinity: PodAffinity,
    /// How it is spread.
    pub topology_spread: Vec<TopologySpread>,
    /// The ports of the node that its containers take.
    pub host_ports: Vec<HostPort>,
    /// `spec.priority`.
    pub priority: i64,
    /// Whether `spec.preemptionPolicy` is `Never`.
    pub never_preempts: bool,
}

impl SchedulingFields {
    /// Reads the fields as they are.
    ///
    /// # Errors
    /// The first field that has another type than it should.
    pub fn of(pod: &Pod) -> Result<Self, ResourceError> {
        let at = |name| Field::of_spec(&pod.spec.other, name);
        let affinity = at("affinity");
        let node = affinity.get("nodeAffinity")?;
        let required = node.get(REQUIRED)?;
        let required_node_terms = match required.value {
            None => None,
            Some(_) => Some(list(&required.get("nodeSelectorTerms")?, node_term)?),
        };
        let pods = affinity.get("podAffinity")?;
        let anti = affinity.get("podAntiAffinity")?;
        Ok(Self {
            node_selector: LabelSelector { requirements: match_labels(&at("nodeSelector"))? },
            required_node_terms,
            preferred_node_terms: list(&node.get(PREFERRED)?, |field| {
                weighted(field, "preference", node_term)
            })?,
            pod_affinity: PodAffinity {
                required: list(&pods.get(REQUIRED)?, pod_term)?,
                preferred: list(&pods.get(PREFERRED)?, weighted_pod_term)?,
                required_anti: list(&anti.get(REQUIRED)?, pod_term)?,
                preferred_anti: list(&anti.get(PREFERRED)?, weighted_pod_term)?,
            },
            topology_spread: list(&at("topologySpreadConstraints"), spread)?,
            host_ports: host_ports(&at("containers"), &at("hostNetwork"))?,
            priority: number(&at("priority"))?.unwrap_or_default(),
            never_preempts: at("preemptionPolicy").text()? == "Never",
        })
    }
}

/// The images of a pod's containers, in their order.
///
/// # Errors
/// A field of another type than it should be.
pub fn container_images(
    pod: &Pod,
    with_init: bool,
    with_volumes: bool,
) -> Result<Vec<String>, ResourceError> {
    let of = |name: &str| {
        let field = Field::of_spec(&pod.spec.other, name);
        list(&field, |field| field.get("image")?.text())
    };
    let mut images = of("containers")?;
    if with_init {
        images.extend(of("initContainers")?);
    }
    if with_volumes {
        let volumes = Field::of_spec(&pod.spec.other, "volumes");
        let image = |field: &Field<'_>| field.get("image")?.get("reference")?.text();
        images.extend(list(&volumes, image)?.into_iter().filter(|image| !image.is_empty()));
    }
    Ok(images)
}

/// The names of the claims that a pod's volumes refer to (`persistentVolumeClaim`), in their order.
///
/// # Errors
/// A field of another type than it should be.
pub fn claim_names(pod: &Pod) -> Result<Vec<String>, ResourceError> {
    let names = list(&Field::of_spec(&pod.spec.other, "volumes"), |field| {
        let claim = field.get("persistentVolumeClaim")?;
        claim.value.map(|_| claim.get("claimName")?.text()).transpose()
    })?;
    Ok(names.into_iter().flatten().collect())
}

/// The ports of the node that containers take. With the host's network each port is one.
fn host_ports(
    containers: &Field<'_>,
    host_network: &Field<'_>,
) -> Result<Vec<HostPort>, ResourceError> {
    let on_host = host_network.value == Some(&Value::Bool(true));
    let mut ports = Vec::new();
    for container in containers.items()? {
        for port in container.get("ports")?.items()? {
            let mut number = number(&port.get("hostPort")?)?.unwrap_or_default();
            if number == 0 && on_host {
                number = self::number(&port.get("containerPort")?)?.unwrap_or_default();
            }
            let or = |text: String, default: &str| {
                if text.is_empty() { default.to_owned() } else { text }
            };
            if number > 0 {
                let address = or(port.get("hostIP")?.text()?, ALL_ADDRESSES);
                let protocol = or(port.get("protocol")?.text()?, "TCP");
                ports.push((address, protocol, number));
            }
        }
    }
    Ok(ports)
}

/// The address of a [`HostPort`] that is taken at every address. Mirrors `DefaultBindAllHostIP`.
pub const ALL_ADDRESSES: &str = "0.0.0.0";

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

pub(super) fn list<T>(
    field: &Field<'_>,
    read: impl Fn(&Field<'_>) -> Result<T, ResourceError>,
) -> Result<Vec<T>, ResourceError> {
    field.items()?.iter().map(read).collect()
}

pub(super) fn text(field: &Field<'_>) -> Result<String, ResourceError> {
    field.text()
}

pub(super) fn number(field: &Field<'_>) -> Result<Option<i64>, ResourceError> {
    match field.value {
        None => Ok(None),
        Some(value) => match value.as_i64() {
            Some(number) => Ok(Some(number)),
            None => Err(field.wrong("must be a whole number")),
        },
    }
}

fn weighted<T>(
    field: &Field<'_>,
    name: &str,
    read: impl Fn(&Field<'_>) -> Result<T, ResourceError>,
) -> Result<Weighted<T>, ResourceError> {
    let weight = number(&field.get("weight")?)?.unwrap_or_default();
    Ok(Weighted { weight, term: read(&field.get(name)?)? })
}

fn match_labels(field: &Field<'_>) -> Result<Vec<Requirement>, ResourceError> {
    let mut selector = LabelSelector::default();
    match field.value {
        None => {}
        Some(Value::Object(map)) => {
            for key in map.keys() {
                selector.require(key, &field.get(key)?.text()?);
            }
        }
        Some(_) => return Err(field.wrong("must be an object")),
    }
    Ok(selector.requirements)
}

fn requirement(field: &Field<'_>) -> Result<Requirement, ResourceError> {
    Ok(Requirement {
        key: field.get("key")?.text()?,
        operator: field.get("operator")?.text()?.as_str().into(),
        values: list(&field.get("values")?, text)?,
    })
}

pub(super) fn label_selector(field: &Field<'_>) -> Result<Option<LabelSelector>, ResourceError> {
    if field.value.is_none() {
        return Ok(None);
    }
    let mut requirements = match_labels(&field.get("matchLabels")?)?;
    requirements.extend(list(&field.get("matchExpressions")?, requirement)?);
    Ok(Some(LabelSelector { requirements }))
}

/// The terms of a node selector, wherever it is.
pub(super) fn node_terms(value: Option<&Value>) -> Result<Vec<NodeSelectorTerm>, ResourceError> {
    list(&Field::new("nodeSelectorTerms", value), node_term)
}

fn node_term(field: &Field<'_>) -> Result<NodeSelectorTerm, ResourceError> {
    let match_expressions = list(&field.get("matchExpressions")?, requirement)?;
    let match_fields = list(&field.get("matchFields")?, requirement)?;
    let parse_error = match_expressions.iter().find_map(Requirement::parse_error);
    Ok(NodeSelectorTerm { match_expressions, match_fields, parse_error })
}

fn pod_term(field: &Field<'_>) -> Result<PodAffinityTerm, ResourceError> {
    Ok(PodAffinityTerm {
        label_selector: label_selector(&field.get("labelSelector")?)?,
        namespaces: list(&field.get("namespaces")?, text)?,
        namespace_selector: label_selector(&field.get("namespaceSelector")?)?,
        topology_key: field.get("topologyKey")?.text()?,
    })
}

fn weighted_pod_term(field: &Field<'_>) -> Result<Weighted<PodAffinityTerm>, ResourceError> {
    weighted(field, "podAffinityTerm", pod_term)
}

fn spread(field: &Field<'_>) -> Result<TopologySpread, ResourceError> {
    let policy = |name: &str, default: &str| -> Result<bool, ResourceError> {
        let field = field.get(name)?;
        let text = field.text()?;
        match if text.is_empty() { default.to_string() } else { text }.as_str() {
            "Honor" => Ok(true),
            "Ignore" => Ok(false),
            _ => Err(field.wrong("must be `Honor` or `Ignore`")),
        }
    };
    let when = field.get("whenUnsatisfiable")?.text()?;
    Ok(TopologySpread {
        max_skew: number(&field.get("maxSkew")?)?.unwrap_or(1),
        topology_key: field.get("topologyKey")?.text()?,
        when_unsatisfiable: when.as_str().into(),
        label_selector: label_selector(&field.get("labelSelector")?)?,
        min_domains: number(&field.get("minDomains")?)?,
        match_label_keys: list(&field.get("matchLabelKeys")?, text)?,
        honors_node_affinity: policy("nodeAffinityPolicy", "Honor")?,
        honors_node_taints: policy("nodeTaintsPolicy", "Ignore")?,
    })
}
