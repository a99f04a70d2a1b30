//! The status of workloads, as their controllers write it.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::{
    ConditionStatus, NoOtherFields, PodDisruptionBudget, Shared, Workload, is_default, nullable,
};
use crate::time::Time;

/// `status` of a workload or a budget: as it was read, until a controller writes one of a type.
///
/// Copies share it. Equal are statuses with the same JSON.
#[derive(Clone, Debug, Default)]
pub struct WorkloadStatus(Form);

#[derive(Clone, Debug, Default)]
enum Form {
    #[default]
    Absent,
    Read(Arc<Value>),
    // Not an enum of the types: only a program that writes one has its code.
    Written(Arc<dyn Written>),
}

/// Questions to a status whatever its type.
trait Written: fmt::Debug + Send + Sync {
    fn to_value(&self) -> Value;
    fn as_any(&self) -> &dyn Any;
    fn is_same(&self, other: &dyn Any) -> bool;
    fn observed_generation(&self) -> Option<i64>;
}

impl<S: StatusOfWorkload> Written for S {
    fn to_value(&self) -> Value {
        // Every key is a string, so that there is a JSON form.
        serde_json::to_value(self).unwrap_or_default()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_same(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<S>() == Some(self)
    }

    fn observed_generation(&self) -> Option<i64> {
        self.observed()
    }
}

/// A type of [`WorkloadStatus`].
pub trait StatusOfWorkload:
    Clone + fmt::Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// The `metadata.generation` that its controller has seen, if such a status tells it.
    fn observed(&self) -> Option<i64>;
}

macro_rules! statuses {
    ($($type:ident: $observed:expr),* $(,)?) => {$(
        impl StatusOfWorkload for $type {
            fn observed(&self) -> Option<i64> {
                let observed: fn(&Self) -> Option<i64> = $observed;
                observed(self)
            }
        }
    )*};
}

statuses!(
    BudgetStatus: |_| None,
    DaemonSetStatus: |it| Some(it.observed_generation),
    DeploymentStatus: |it| Some(it.observed_generation),
    JobStatus: |_| None,
    ReplicaSetStatus: |it| Some(it.observed_generation),
    StatefulSetStatus: |it| Some(it.observed_generation),
);

impl<S: StatusOfWorkload> From<S> for WorkloadStatus {
    fn from(status: S) -> Self {
        Self(Form::Written(Arc::new(status)))
    }
}

impl WorkloadStatus {
    /// A status as it is in an object; absent if it is `null`.
    #[must_use]
    pub fn read(value: Value) -> Self {
        Self(if value.is_null() { Form::Absent } else { Form::Read(Arc::new(value)) })
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_absent(&self) -> bool {
        matches!(self.0, Form::Absent)
    }

    /// The status as a type, such as [`DeploymentStatus`]; `None` if it is absent or of another
    /// form.
    #[must_use]
    pub fn get<S: StatusOfWorkload>(&self) -> Option<S> {
        match &self.0 {
            Form::Absent => None,
            Form::Read(value) => S::deserialize(&**value).ok(),
            Form::Written(status) => status.as_any().downcast_ref().cloned(),
        }
    }

    /// As JSON; `null` if it is absent.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match &self.0 {
            Form::Absent => Value::Null,
            Form::Read(value) => Value::clone(value),
            Form::Written(status) => status.to_value(),
        }
    }
}

impl PartialEq for WorkloadStatus {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Form::Absent, Form::Absent) => true,
            (Form::Absent, _) | (_, Form::Absent) => false,
            (Form::Read(one), Form::Read(other)) => one == other,
            (Form::Written(one), Form::Written(other)) => {
                Arc::ptr_eq(one, other) || one.is_same(other.as_any())
            }
            (Form::Read(_), Form::Written(_)) | (Form::Written(_), Form::Read(_)) => {
                self.to_value() == other.to_value()
            }
        }
    }
}

impl Eq for WorkloadStatus {}

impl Serialize for WorkloadStatus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Form::Read(value) => value.serialize(serializer),
            Form::Absent | Form::Written(_) => self.to_value().serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for WorkloadStatus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::read)
    }
}

/// A condition of a workload: `appsv1.ReplicaSetCondition`, `appsv1.DeploymentCondition`,
/// `batchv1.JobCondition`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkloadCondition {
    /// The type, for example `Progressing`.
    #[serde(rename = "type", deserialize_with = "nullable")]
    pub type_: String,
    /// Whether it holds.
    #[serde(deserialize_with = "nullable")]
    pub status: ConditionStatus,
    /// When it was last looked at (Jobs).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_probe_time: Option<Time>,
    /// When it was last written (Deployments).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_update_time: Option<Time>,
    /// When the status last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Time>,
    /// Why, in one word.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub reason: String,
    /// Why, in a sentence.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub message: String,
}

/// `appsv1.ReplicaSetStatus`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReplicaSetStatus {
    /// How many pods there are that are neither terminating nor at their end.
    #[serde(deserialize_with = "nullable")]
    pub replicas: i64,
    /// How many of those have all labels of the template.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub fully_labeled_replicas: i64,
    /// How many are ready.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub ready_replicas: i64,
    /// How many have been ready for `minReadySeconds`.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub available_replicas: i64,
    /// Terminating pods that have not ended (1.35 and later).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminating_replicas: Option<i64>,
    /// The `metadata.generation` that the controller has seen.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub observed_generation: i64,
    /// `ReplicaFailure`.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub conditions: Vec<WorkloadCondition>,
    /// Everything else.
    #[serde(flatten)]
    pub other: NoOtherFields,
}

/// `appsv1.DeploymentStatus`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeploymentStatus {
    /// The `metadata.generation` that the controller has seen.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub observed_generation: i64,
    /// How many pods its ReplicaSets have.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub replicas: i64,
    /// How many of those are of the present template.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub updated_replicas: i64,
    /// How many are ready.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub ready_replicas: i64,
    /// How many have been ready for `minReadySeconds`.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub available_replicas: i64,
    /// How many of those that its ReplicaSets want are not available.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub unavailable_replicas: i64,
    /// Terminating pods that have not ended (1.35 and later).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminating_replicas: Option<i64>,
    /// `Available`, `Progressing`, `ReplicaFailure`.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub conditions: Vec<WorkloadCondition>,
    /// How often a name of a ReplicaSet was taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collision_count: Option<i64>,
}

impl DeploymentStatus {
    /// A condition by its type.
    #[must_use]
    pub fn condition(&self, type_: &str) -> Option<&WorkloadCondition> {
        self.conditions.iter().find(|condition| condition.type_ == type_)
    }

    /// Removes a condition. Mirrors `RemoveDeploymentCondition`.
    pub fn remove_condition(&mut self, type_: &str) {
        self.conditions.retain(|condition| condition.type_ != type_);
    }

    /// Sets a condition; its times stay where nothing changes. Mirrors `SetDeploymentCondition`.
    pub fn set_condition(&mut self, mut condition: WorkloadCondition) {
        if let Some(known) = self.condition(&condition.type_) {
            if known.status == condition.status && known.reason == condition.reason {
                return;
            }
            if known.status == condition.status {
                condition.last_transition_time = known.last_transition_time;
            }
        }
        self.remove_condition(&condition.type_);
        self.conditions.push(condition);
    }
}

/// `appsv1.StatefulSetStatus`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StatefulSetStatus {
    /// The `metadata.generation` that the controller has seen.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub observed_generation: i64,
    /// How many pods there are.
    #[serde(deserialize_with = "nullable")]
    pub replicas: i64,
    /// How many run and are ready.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub ready_replicas: i64,
    /// How many are of the current revision.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub current_replicas: i64,
    /// How many are of the update revision.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub updated_replicas: i64,
    /// How many have been ready for `minReadySeconds` (1.22 and later).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_replicas: Option<i64>,
    /// The revision that pods were of before the update that goes on.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub current_revision: String,
    /// The revision of the present template.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub update_revision: String,
    /// How often a name of a revision was taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collision_count: Option<i64>,
}

/// `batchv1.JobStatus`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct JobStatus {
    /// `Complete`, `Failed`, `Suspended`.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub conditions: Vec<WorkloadCondition>,
    /// When the controller first saw the Job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_time: Option<Time>,
    /// When it was complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_time: Option<Time>,
    /// How many pods are neither terminating nor at their end.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub active: i64,
    /// How many have ended well.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub succeeded: i64,
    /// How many have failed.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub failed: i64,
    /// Everything else.
    #[serde(flatten)]
    pub other: NoOtherFields,
}

impl JobStatus {
    /// Whether the Job is over. Mirrors `IsJobFinished`.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.finished().is_some()
    }

    /// The condition that says that the Job is over.
    #[must_use]
    pub fn finished(&self) -> Option<&WorkloadCondition> {
        self.conditions.iter().find(|condition| {
            matches!(condition.type_.as_str(), "Complete" | "Failed")
                && condition.status == ConditionStatus::True
        })
    }
}

impl Workload {
    /// `status` as a type, such as [`DeploymentStatus`]; the default if it is absent or of another
    /// form.
    #[must_use]
    pub fn status<S: StatusOfWorkload + Default>(&self) -> S {
        self.status.get().unwrap_or_default()
    }

    /// `metadata.generation`, or 0.
    #[must_use]
    pub fn generation(&self) -> i64 {
        self.metadata.other.get("generation").and_then(Value::as_i64).unwrap_or(0)
    }

    /// Whether its controller has not seen its `spec` yet: `metadata.generation` is above
    /// `status.observedGeneration`. A workload without that field, such as one whose status was left out,
    /// counts as seen.
    #[must_use]
    pub fn is_unobserved(&self) -> bool {
        let observed = match &self.status.0 {
            Form::Absent => None,
            Form::Read(value) => value.get("observedGeneration").and_then(Value::as_i64),
            Form::Written(status) => status.observed_generation(),
        };
        observed.is_some_and(|observed| observed < self.generation())
    }

    /// Gives it a later generation, which its controller has not seen.
    pub fn advance(&mut self, generation: i64) {
        let seen = self.generation();
        let mut status = self.status.to_value();
        if status.is_null() {
            status = json!({});
        }
        if let Some(fields) = status.as_object_mut() {
            fields.entry("observedGeneration").or_insert_with(|| seen.into());
        }
        self.status = WorkloadStatus::read(status);
        self.metadata.other.set("generation", generation.into());
    }
}

/// `v1.DaemonSetStatus`, as its controller writes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DaemonSetStatus {
    /// How many nodes that are to have a pod have one.
    pub current_number_scheduled: i64,
    /// How many nodes are to have a pod.
    pub desired_number_scheduled: i64,
    /// How many nodes have a pod that are to have none.
    pub number_misscheduled: i64,
    /// On how many nodes the oldest pod is ready.
    pub number_ready: i64,
    /// On how many it is of the present template.
    #[serde(skip_serializing_if = "is_default")]
    pub updated_number_scheduled: i64,
    /// On how many it has been ready for `minReadySeconds`.
    #[serde(skip_serializing_if = "is_default")]
    pub number_available: i64,
    /// How many of the nodes that are to have a pod have none that is available.
    #[serde(skip_serializing_if = "is_default")]
    pub number_unavailable: i64,
    /// The `metadata.generation` that this is about.
    #[serde(skip_serializing_if = "is_default")]
    pub observed_generation: i64,
}

fn is_disruption_allowed(condition: &Value) -> bool {
    condition.get("type").is_some_and(|type_| *type_ == "DisruptionAllowed")
}

/// `status` of a budget, as the disruption controller writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BudgetStatus {
    /// How many pods there should be, as their controllers say.
    pub expected_pods: i64,
    /// How many of them are ready and not terminating.
    pub current_healthy: i64,
    /// How many must be.
    pub desired_healthy: i64,
    /// How many may be evicted now.
    pub disruptions_allowed: i64,
    /// Pods whose eviction was granted and is not seen yet, by name, and since when.
    #[serde(skip_serializing_if = "is_default")]
    pub disrupted_pods: BTreeMap<String, Time>,
    /// The `metadata.generation` that this is about.
    #[serde(skip_serializing_if = "is_default")]
    pub observed_generation: i64,
    /// `DisruptionAllowed`, as a `metav1.Condition` (1.21 and later).
    #[serde(skip_serializing_if = "is_default")]
    pub conditions: Shared<Vec<Value>>,
}

impl BudgetStatus {
    /// The condition `DisruptionAllowed`.
    #[must_use]
    pub fn disruption_allowed(&self) -> Option<&Value> {
        self.conditions.iter().find(|known| is_disruption_allowed(known))
    }

    /// Says in the condition `DisruptionAllowed` whether evictions are allowed, or with a message
    /// that the controller has failed to look. Mirrors `UpdateDisruptionAllowedCondition` and
    /// `failSafe`.
    pub fn set_disruption_allowed(&mut self, now: Time, failure: Option<&str>) {
        let (status, reason) = match failure {
            Some(_) => ("False", "SyncFailed"),
            None if self.disruptions_allowed > 0 => ("True", "SufficientPods"),
            None => ("False", "InsufficientPods"),
        };
        let fields = [
            ("type", "DisruptionAllowed"),
            ("status", status),
            ("reason", reason),
            ("message", failure.unwrap_or_default()),
        ];
        let known = self.disruption_allowed();
        let says = |(name, text): &(&str, &str)| {
            known.and_then(|known| known.get(*name)?.as_str()) == Some(*text)
        };
        let seen = known.and_then(|known| known.get("observedGeneration")?.as_i64());
        if seen.unwrap_or(0) == self.observed_generation && fields.iter().all(says) {
            return;
        }
        let same = known.filter(|_| says(&("status", status)));
        let since = same.and_then(|known| known.get("lastTransitionTime")).cloned();
        let mut condition = Map::new();
        for (name, value) in fields {
            condition.insert(name.into(), value.into());
        }
        let since = since.unwrap_or_else(|| now.truncated_to_seconds().to_string().into());
        condition.insert("lastTransitionTime".into(), since);
        if self.observed_generation != 0 {
            condition.insert("observedGeneration".into(), self.observed_generation.into());
        }
        let known = self.conditions.iter_mut().find(|known| is_disruption_allowed(known));
        match known {
            Some(known) => *known = condition.into(),
            None => self.conditions.push(condition.into()),
        }
    }

    /// The status in the object of a budget; all zero without one.
    #[must_use]
    pub fn of(budget: &PodDisruptionBudget) -> Self {
        budget.status.get().unwrap_or_default()
    }
}
