//! Workloads: the objects whose controllers make pods.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

use super::resources::Field;
use super::{
    CopyOnWrite, Fields, LabelSelector, NoOtherFields, ObjectMeta, OwnerReference, PodKey, PodSpec,
    ResourceError, WorkloadFields, WorkloadSpecFields, WorkloadStatus, is_default, nullable,
};

/// The kinds of objects whose controllers make pods, directly or through one another.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
pub enum WorkloadKind {
    /// `apps/v1`, `Deployment`: makes ReplicaSets.
    #[default]
    Deployment,
    /// `apps/v1`, `ReplicaSet`: a number of pods that are alike.
    ReplicaSet,
    /// `apps/v1`, `StatefulSet`: numbered pods, at most one of each name.
    StatefulSet,
    /// `apps/v1`, `DaemonSet`: a pod on every node.
    DaemonSet,
    /// `batch/v1`, `Job`: pods that run to their end.
    Job,
}

impl WorkloadKind {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Deployment, Self::ReplicaSet, Self::StatefulSet, Self::DaemonSet, Self::Job];

    /// The value of `kind`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deployment => "Deployment",
            Self::ReplicaSet => "ReplicaSet",
            Self::StatefulSet => "StatefulSet",
            Self::DaemonSet => "DaemonSet",
            Self::Job => "Job",
        }
    }

    /// The value of `apiVersion`.
    #[must_use]
    pub const fn api_version(self) -> &'static str {
        match self {
            Self::Job => "batch/v1",
            _ => "apps/v1",
        }
    }

    /// The plural by which the API names it: `deployments`.
    #[must_use]
    pub const fn resource(self) -> &'static str {
        match self {
            Self::Deployment => "deployments",
            Self::ReplicaSet => "replicasets",
            Self::StatefulSet => "statefulsets",
            Self::DaemonSet => "daemonsets",
            Self::Job => "jobs",
        }
    }

    /// The singular by which kubectl names it: `deployment`.
    #[must_use]
    pub const fn singular(self) -> &'static str {
        match self {
            Self::Deployment => "deployment",
            Self::ReplicaSet => "replicaset",
            Self::StatefulSet => "statefulset",
            Self::DaemonSet => "daemonset",
            Self::Job => "job",
        }
    }

    /// The API group: `apps` or `batch`.
    #[must_use]
    pub const fn group(self) -> &'static str {
        match self {
            Self::Job => "batch",
            _ => "apps",
        }
    }

    /// The kind that a word means to kubectl: singular, plural, short name, with the group or
    /// without, in any case.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase();
        let name = word.split('.').next().unwrap_or_default();
        let short = |kind: Self| match kind {
            Self::Deployment => "deploy",
            Self::ReplicaSet => "rs",
            Self::StatefulSet => "sts",
            Self::DaemonSet => "ds",
            Self::Job => "job",
        };
        Self::ALL
            .into_iter()
            .find(|kind| [kind.singular(), kind.resource(), short(*kind)].contains(&name))
    }

    /// The kind of an object with that `apiVersion` and `kind`, if it is one of these.
    #[must_use]
    pub fn from_type(api_version: &str, kind: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|known| known.as_str() == kind && known.api_version() == api_version)
    }
}

impl fmt::Display for WorkloadKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Kind, namespace and name of a workload, written `deployment/namespace/name`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(type = "string"))]
pub struct WorkloadKey {
    /// The kind.
    pub kind: WorkloadKind,
    /// Namespace and name.
    pub name: PodKey,
}

impl WorkloadKey {
    /// The key of workload `name` in `namespace`; an empty namespace is `default`.
    #[must_use]
    pub fn new(kind: WorkloadKind, namespace: &str, name: &str) -> Self {
        Self { kind, name: PodKey::new(namespace, name) }
    }

    /// Reads `kind/namespace/name`, or `kind/name` in the namespace `default`; the kind as kubectl
    /// takes it.
    ///
    /// # Errors
    /// Says what such a key looks like.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` does not name a workload; write `deployment/name` or \
                 `statefulset/namespace/name`"
            )
        };
        let (kind, name) = text.split_once('/').ok_or_else(wrong)?;
        let kind = WorkloadKind::from_word(kind).ok_or_else(wrong)?;
        let name = PodKey::parse(name).map_err(|_| wrong())?;
        Ok(Self { kind, name })
    }
}

impl fmt::Display for WorkloadKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind.singular(), self.name)
    }
}

impl Serialize for WorkloadKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for WorkloadKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for WorkloadKey {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "WorkloadKey".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "`kind/namespace/name` of a workload, or `kind/name` in the namespace \
                            `default`; the kind as kubectl takes it: `deployment`, `sts`.",
            "pattern": "^[A-Za-z.]+/([^/]+/)?[^/]+$"
        })
    }
}

/// A Deployment, ReplicaSet, StatefulSet, DaemonSet or Job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Workload {
    /// `apps/v1` or `batch/v1`; that of the kind if it is left out.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub api_version: String,
    /// Which kind.
    pub kind: WorkloadKind,
    /// Name, namespace, labels and so on.
    #[serde(default, deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    /// What was asked for.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub spec: WorkloadSpec,
    /// Status as its controller has written it.
    #[serde(default, skip_serializing_if = "WorkloadStatus::is_absent")]
    #[cfg_attr(feature = "schema", schemars(with = "WorkloadFields"))]
    #[cfg_attr(feature = "typescript-all", tsify(optional, type = "unknown"))]
    pub status: WorkloadStatus,
    /// Everything else.
    #[serde(flatten)]
    pub other: WorkloadFields,
    /// Whether nobody gave this object: pods name it as their controller, and that is all that is
    /// known. Never written.
    #[serde(skip)]
    pub inferred: bool,
}

/// What was asked of a workload's controller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default)]
pub struct WorkloadSpec {
    /// How many pods; 1 unless given. DaemonSets and Jobs have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i64>,
    /// Which pods are its own: a label selector, as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript-all", tsify(type = "unknown"))]
    pub selector: Option<Value>,
    // A status is written all the time; the template stays.
    /// What its pods are like.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schema", schemars(with = "PodTemplate"))]
    #[cfg_attr(feature = "typescript-all", tsify(type = "PodTemplate"))]
    pub template: CopyOnWrite<PodTemplate>,
    /// Everything else: strategy, policies, `completions`.
    #[serde(flatten)]
    pub other: WorkloadSpecFields,
}

/// `v1.PodTemplateSpec`: what the pods of a workload are like.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default)]
pub struct PodTemplate {
    /// Their labels and annotations.
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    /// What is asked for.
    #[serde(deserialize_with = "nullable")]
    pub spec: PodSpec,
}

/// A number of pods, or a part of all (`intstr.IntOrString`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntOrPercent {
    /// So many.
    Int(i64),
    /// So many of a hundred.
    Percent(i64),
}

impl IntOrPercent {
    /// Whether it is nothing of anything.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        matches!(self, Self::Int(0) | Self::Percent(0))
    }

    /// How many of `total`, rounded up or down. Mirrors `GetScaledValueFromIntOrPercent`.
    #[must_use]
    pub fn of(self, total: i64, up: bool) -> i64 {
        match self {
            Self::Int(number) => number,
            Self::Percent(percent) => {
                let parts = percent.saturating_mul(total);
                parts.saturating_add(if up { 99 } else { 0 }).div_euclid(100)
            }
        }
    }

    /// Reads a number or a text such as `25%`.
    ///
    /// # Errors
    /// What it must be.
    pub(super) fn read(field: &Field<'_>) -> Result<Option<Self>, ResourceError> {
        let wrong = || field.wrong("must be a whole number, or a percentage such as `25%`");
        match field.value {
            None => Ok(None),
            Some(Value::Number(number)) => {
                let number = number.as_i64().filter(|number| *number >= 0).ok_or_else(wrong)?;
                Ok(Some(Self::Int(number)))
            }
            Some(Value::String(text)) => {
                let percent = text.strip_suffix('%').and_then(|text| text.parse::<u32>().ok());
                Ok(Some(Self::Percent(percent.ok_or_else(wrong)?.into())))
            }
            Some(_) => Err(wrong()),
        }
    }
}

/// The annotation that says how long the pods of a workload, or a pod, take from being bound to
/// being ready: a duration such as `20s`.
pub const START_UP_TIME_ANNOTATION: &str = "taintlab/start-up-time";
/// The annotation that says how long the pods of a workload, or a pod, take to end once they are
/// told to: a duration such as `2s`. Without it, and at the latest, they end with their grace
/// period.
pub const SHUTDOWN_TIME_ANNOTATION: &str = "taintlab/shutdown-time";
/// The annotation that says how long the containers of the pods of a workload, or of a pod, run
/// before they end well: a duration such as `5m` from when the pod is ready. It counts for pods
/// with the `restartPolicy` `Never` or `OnFailure`, which then have the phase `Succeeded`; without
/// it containers run until somebody ends them.
pub const RUN_TIME_ANNOTATION: &str = "taintlab/run-time";
/// All annotations that say how long something takes.
pub const TIME_ANNOTATIONS: [&str; 3] =
    [START_UP_TIME_ANNOTATION, SHUTDOWN_TIME_ANNOTATION, RUN_TIME_ANNOTATION];

/// How many pods the workloads of a simulation may ask for together. Kubernetes has no such limit,
/// but a larger number is a slip of the keyboard, and would fill the memory.
pub const MAX_REPLICAS: i64 = 500_000;

impl Workload {
    /// Kind, namespace and name.
    #[must_use]
    pub fn key(&self) -> WorkloadKey {
        WorkloadKey::new(self.kind, &self.metadata.namespace, &self.metadata.name)
    }

    /// `spec.replicas`, or 1; for a Job how many pods may run at once (`spec.parallelism`); for a
    /// DaemonSet 0, since the nodes say how many.
    #[must_use]
    pub fn replicas(&self) -> i64 {
        match self.kind {
            WorkloadKind::DaemonSet => 0,
            WorkloadKind::Job => self.number("parallelism").unwrap_or(1),
            _ => self.spec.replicas.unwrap_or(1),
        }
    }

    /// Which pods are its own. A workload without a selector has the labels of its template, as old
    /// API versions and Jobs have it.
    ///
    /// # Errors
    /// A part of the selector that has another type than it should.
    pub fn selector(&self) -> Result<LabelSelector, ResourceError> {
        match LabelSelector::read("spec.selector", self.spec.selector.as_ref())? {
            Some(selector) => Ok(selector),
            None => {
                let mut selector = LabelSelector::default();
                for (key, value) in &self.spec.template.metadata.labels {
                    selector.require(key, value);
                }
                Ok(selector)
            }
        }
    }

    /// A whole number among the fields of `spec` that are kept as they are.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<i64> {
        self.spec.other.get(name).and_then(Value::as_i64)
    }

    /// A text among them; empty if there is none.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.spec.other.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// `spec.strategy.type` or `spec.updateStrategy.type`; empty for the default.
    #[must_use]
    pub fn strategy(&self) -> &str {
        let strategy = self.strategy_field().and_then(|strategy| strategy.get("type"));
        strategy.and_then(Value::as_str).unwrap_or_default()
    }

    fn strategy_field(&self) -> Option<&Value> {
        let name = match self.kind {
            WorkloadKind::Deployment => "strategy",
            _ => "updateStrategy",
        };
        self.spec.other.get(name)
    }

    /// A field of `rollingUpdate` of the strategy: `maxSurge`, `maxUnavailable`, `partition`.
    ///
    /// # Errors
    /// It is neither a number nor a percentage.
    pub fn rolling_update(&self, name: &str) -> Result<Option<IntOrPercent>, ResourceError> {
        let rolling = self.strategy_field().and_then(|strategy| strategy.get("rollingUpdate"));
        let value = rolling.and_then(|rolling| rolling.get(name)).filter(|value| !value.is_null());
        let strategy =
            if self.kind == WorkloadKind::Deployment { "strategy" } else { "updateStrategy" };
        let path = format_args!("spec.{strategy}.rollingUpdate.{name}");
        IntOrPercent::read(&Field::new(path, value))
    }

    /// The entry by which its pods, or ReplicaSets, name it.
    #[must_use]
    pub fn owner_reference(&self) -> OwnerReference {
        let mut other = Fields::default();
        other.set("blockOwnerDeletion", true.into());
        OwnerReference {
            api_version: self.kind.api_version().to_owned(),
            kind: self.kind.as_str().to_owned(),
            name: self.metadata.name.clone(),
            uid: self.metadata.uid.clone(),
            controller: Some(true),
            other,
        }
    }

    /// Its controller, if that is a workload as well: the Deployment of a ReplicaSet.
    #[must_use]
    pub fn owner(&self) -> Option<WorkloadKey> {
        self.metadata.controller_key()
    }

    /// Whether its controller is a workload as well, as that of a ReplicaSet of a Deployment.
    #[must_use]
    pub fn is_owned(&self) -> bool {
        self.metadata.controller().is_some_and(|owner| owner.workload_kind().is_some())
    }
}

impl ObjectMeta {
    /// The owner that manages this object.
    #[must_use]
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.owner_references.iter().find(|owner| owner.controller == Some(true))
    }

    /// The workload that manages this object, if a workload does. A ReplicationController counts as
    /// a ReplicaSet.
    #[must_use]
    pub fn controller_key(&self) -> Option<WorkloadKey> {
        self.controller()?.workload_key(&self.namespace)
    }

    /// The same, if it is of that kind. Nothing is made for one of another kind.
    #[must_use]
    pub fn controller_key_of(&self, kind: WorkloadKind) -> Option<WorkloadKey> {
        let owner = self.controller().filter(|owner| owner.workload_kind() == Some(kind));
        owner.map(|owner| WorkloadKey::new(kind, &self.namespace, &owner.name))
    }
}

impl OwnerReference {
    /// The workload that it names, if it names one, for an object in `namespace`.
    #[must_use]
    pub fn workload_key(&self, namespace: &str) -> Option<WorkloadKey> {
        Some(WorkloadKey::new(self.workload_kind()?, namespace, &self.name))
    }

    /// The kind of the workload that it names, if it names one.
    fn workload_kind(&self) -> Option<WorkloadKind> {
        match (self.api_version.as_str(), self.kind.as_str()) {
            ("v1", "ReplicationController") => Some(WorkloadKind::ReplicaSet),
            (version, kind) => WorkloadKind::from_type(version, kind).or_else(|| {
                let known = WorkloadKind::ALL.into_iter().find(|known| known.as_str() == kind)?;
                // Groups that the kinds were in before, and references that name none.
                let old = version.is_empty()
                    || version == "v1"
                    || version.starts_with("apps/")
                    || version.starts_with("batch/")
                    || version.starts_with("extensions/");
                old.then_some(known)
            }),
        }
    }
}

/// `policy/v1`, `PodDisruptionBudget`: how many of certain pods may be evicted through the eviction
/// API. Whoever deletes pods does not ask it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default)]
pub struct PodDisruptionBudget {
    /// `policy/v1`, or `policy/v1beta1` to 1.24.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub api_version: String,
    /// `PodDisruptionBudget`.
    #[cfg_attr(feature = "typescript-all", tsify(type = "string"))]
    pub kind: super::Kind<PodDisruptionBudgetKind>,
    /// Name, namespace, labels and so on.
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    /// What was asked for.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub spec: PodDisruptionBudgetSpec,
    /// Status as its controller has written it.
    #[serde(default, skip_serializing_if = "WorkloadStatus::is_absent")]
    #[cfg_attr(feature = "schema", schemars(with = "WorkloadFields"))]
    #[cfg_attr(feature = "typescript-all", tsify(optional, type = "unknown"))]
    pub status: WorkloadStatus,
    /// Everything else.
    #[serde(flatten)]
    pub other: WorkloadFields,
}

/// Marks [`PodDisruptionBudget`].
pub enum PodDisruptionBudgetKind {}

impl super::TypeName for PodDisruptionBudgetKind {
    const KIND: &'static str = "PodDisruptionBudget";
    const API_VERSION: &'static str = "policy/v1";
}

/// What a budget asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default)]
pub struct PodDisruptionBudgetSpec {
    /// How many pods must stay: a number or a percentage.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript-all", tsify(type = "unknown"))]
    pub min_available: Option<Value>,
    /// How many pods may be missing: a number or a percentage.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript-all", tsify(type = "unknown"))]
    pub max_unavailable: Option<Value>,
    /// Which pods: a label selector, as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript-all", tsify(type = "unknown"))]
    pub selector: Option<Value>,
    /// `IfHealthyBudget` or `AlwaysAllow`; empty means the first.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub unhealthy_pod_eviction_policy: String,
    /// Everything else.
    #[serde(flatten)]
    pub other: NoOtherFields,
}

impl PodDisruptionBudget {
    /// Namespace and name.
    #[must_use]
    pub fn key(&self) -> PodKey {
        PodKey::new(&self.metadata.namespace, &self.metadata.name)
    }

    /// `metadata.generation`: how often its `spec` has changed.
    #[must_use]
    pub fn generation(&self) -> i64 {
        self.metadata.other.get("generation").and_then(Value::as_i64).unwrap_or(0)
    }

    /// Which pods it counts; none without a selector. An empty selector selects all pods of the
    /// namespace, but none under `policy/v1beta1`.
    ///
    /// # Errors
    /// A part of the selector that has another type than it should.
    pub fn selector(&self) -> Result<Option<LabelSelector>, ResourceError> {
        let selector = LabelSelector::read("spec.selector", self.spec.selector.as_ref())?;
        let beta = self.api_version == "policy/v1beta1";
        Ok(selector.filter(|selector| !beta || !selector.requirements.is_empty()))
    }

    /// `spec.minAvailable` and `spec.maxUnavailable`.
    ///
    /// # Errors
    /// One of them is neither a number nor a percentage.
    pub fn limits(&self) -> Result<[Option<IntOrPercent>; 2], ResourceError> {
        let read = |name: &str, value: &Option<Value>| {
            let value = value.as_ref().filter(|value| !value.is_null());
            IntOrPercent::read(&Field::new(format_args!("spec.{name}"), value))
        };
        Ok([
            read("minAvailable", &self.spec.min_available)?,
            read("maxUnavailable", &self.spec.max_unavailable)?,
        ])
    }
}

impl LabelSelector {
    /// Reads a `metav1.LabelSelector` at `path`.
    ///
    /// # Errors
    /// A part of it that has another type than it should.
    pub fn read(path: &str, value: Option<&Value>) -> Result<Option<Self>, ResourceError> {
        let value = value.filter(|value| !value.is_null());
        super::scheduling::label_selector(&Field::new(path, value))
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn keys_read_and_print() {
        let key = WorkloadKey::parse("deploy/web").unwrap();
        assert_eq!(key, WorkloadKey::new(WorkloadKind::Deployment, "default", "web"));
        assert_eq!(key.to_string(), "deployment/default/web");
        let key = WorkloadKey::parse("StatefulSets.apps/data/db").unwrap();
        assert_eq!(key, WorkloadKey::new(WorkloadKind::StatefulSet, "data", "db"));
        for bad in ["web", "pod/web", "deploy/", "deploy/a/b/c"] {
            assert!(WorkloadKey::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn parts_of_a_whole_are_rounded_as_asked() {
        let part = IntOrPercent::Percent(25);
        assert_eq!((part.of(10, true), part.of(10, false), part.of(4, true)), (3, 2, 1));
        assert_eq!(IntOrPercent::Int(7).of(2, true), 7);
    }

    #[test]
    fn the_controller_of_a_pod_is_found_whatever_its_group_was() {
        let mut meta = ObjectMeta { namespace: "a".into(), ..ObjectMeta::default() };
        for (version, kind, found) in [
            ("apps/v1", "ReplicaSet", true),
            ("extensions/v1beta1", "ReplicaSet", true),
            ("v1", "ReplicationController", true),
            ("example.com/v1", "ReplicaSet", false),
            ("v1", "Node", false),
        ] {
            meta.owner_references = [OwnerReference {
                api_version: version.into(),
                kind: kind.into(),
                name: "web".into(),
                controller: Some(true),
                ..OwnerReference::default()
            }]
            .into();
            let key = WorkloadKey::new(WorkloadKind::ReplicaSet, "a", "web");
            assert_eq!(meta.controller_key(), found.then_some(key), "{version} {kind}");
        }
    }
}
