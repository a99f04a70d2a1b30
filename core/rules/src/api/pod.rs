//! Pods.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    ApiVersion, ConditionStatus, Kind, NoOtherFields, ObjectMeta, PodConditionFields, PodKey,
    PodSpecFields, PodStatusFields, Shared, SharedPool, Toleration, TypeName, is_default, nullable,
    string_enum,
};
use crate::time::Time;

/// The finalizer of the pods of a Job. Mirrors `batch.JobTrackingFinalizer`.
const JOB_FINALIZER: &str = "batch.kubernetes.io/job-tracking";

/// Annotation of the pod that mirrors a static one (`v1.MirrorPodAnnotationKey`).
pub const MIRROR_ANNOTATION: &str = "kubernetes.io/config.mirror";

/// Marks [`Pod`] as `v1`, `Pod`.
pub enum PodKind {}

impl TypeName for PodKind {
    const KIND: &'static str = "Pod";
}

/// `v1.Pod`: containers that run together on one node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default)]
pub struct Pod {
    /// `v1`.
    #[cfg_attr(feature = "typescript-all", tsify(type = "string"))]
    pub api_version: ApiVersion<PodKind>,
    /// `Pod`.
    #[cfg_attr(feature = "typescript-all", tsify(type = "string"))]
    pub kind: Kind<PodKind>,
    /// Name, namespace, labels and so on.
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    /// What was asked for.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub spec: PodSpec,
    /// What was observed.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub status: PodStatus,
    /// Everything else.
    #[serde(flatten)]
    pub other: NoOtherFields,
}

impl Pod {
    /// Namespace and name.
    #[must_use]
    pub fn key(&self) -> PodKey {
        PodKey::new(&self.metadata.namespace, &self.metadata.name)
    }

    /// Shares with other pods the parts that are equal; whether one before has the same containers.
    pub fn share_parts(&mut self, pool: &mut SharedPool) -> bool {
        let Self { metadata, spec, status, .. } = self;
        for fields in [&mut metadata.other, &mut status.other] {
            pool.fields(fields);
        }
        let is_known = pool.fields(&mut spec.other);
        pool.labels(&mut metadata.labels);
        pool.labels(&mut metadata.annotations);
        pool.owners(&mut metadata.owner_references);
        pool.tolerations(&mut spec.tolerations);
        is_known
    }

    /// `metadata.generation`: how often `spec` has changed, its creation and its deletion counted.
    /// Stored only where these two give another number.
    #[must_use]
    pub fn generation(&self) -> i64 {
        let known = self.metadata.other.get("generation").and_then(Value::as_i64);
        known.unwrap_or_else(|| 1 + i64::from(self.is_terminating()))
    }

    /// Whether the pod was deleted gracefully and is still there.
    #[must_use]
    pub fn is_terminating(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }

    /// The condition of that type, for example `Ready`.
    #[must_use]
    pub fn condition(&self, type_: &str) -> Option<&PodCondition> {
        self.status.conditions.iter().find(|condition| condition.type_ == type_)
    }

    /// Whether all its containers have ended for good.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        matches!(self.status.phase, PodPhase::Succeeded | PodPhase::Failed)
    }

    /// Whether it counts as a replica. Mirrors `controller.IsPodActive`.
    #[must_use]
    pub fn is_active(&self) -> bool {
        !self.is_terminating() && !self.has_ended()
    }

    /// Whether it mirrors a static pod, which its node has of itself: the kubelet makes it, and it
    /// is owned by its Node.
    #[must_use]
    pub fn is_static(&self) -> bool {
        self.metadata.annotations.contains_key(MIRROR_ANNOTATION)
            || self.metadata.controller().is_some_and(|it| it.kind == "Node")
    }

    /// Whether its condition Ready is True. Mirrors `podutil.IsPodReady`.
    #[must_use]
    pub fn has_ready_condition(&self) -> bool {
        self.condition("Ready").is_some_and(|ready| ready.status == super::ConditionStatus::True)
    }

    /// Whether it is ready and counts as a replica.
    #[must_use]
    pub fn is_ready_replica(&self) -> bool {
        self.is_active() && self.has_ready_condition()
    }

    /// Whether it is terminating and not at its end. Mirrors `controller.IsPodTerminating`.
    #[must_use]
    pub fn is_terminating_replica(&self) -> bool {
        self.is_terminating() && !self.has_ended()
    }

    /// `status.nominatedNodeName`: where the scheduler has made room for the pod, which waits for
    /// it; empty if nowhere.
    #[must_use]
    pub fn nominated_node_name(&self) -> &str {
        self.status.other.get("nominatedNodeName").and_then(|name| name.as_str()).unwrap_or("")
    }

    /// `status.startTime`: when its kubelet knew of it first. A simulated kubelet does not write
    /// that down: it knows of a pod as soon as it is bound.
    #[must_use]
    pub fn start_time(&self) -> Option<Time> {
        if let Some(time) = self.status.other.get("startTime") {
            return Time::parse(time.as_str()?).ok();
        }
        let bound = self.condition("PodScheduled")?;
        (bound.status == ConditionStatus::True).then_some(bound.last_transition_time).flatten()
    }

    /// Whether somebody is to let the pod be scheduled first.
    pub fn has_scheduling_gates(&self) -> bool {
        let gates = self.spec.other.get("schedulingGates").and_then(|gates| gates.as_array());
        gates.is_some_and(|gates| !gates.is_empty())
    }

    /// Whether a Job keeps the pod until it has counted it.
    pub fn has_job_finalizer(&self) -> bool {
        self.metadata.finalizers().any(|one| one == JOB_FINALIZER)
    }

    /// The finalizers that keep a deleted pod until somebody outside takes them off: those of Jobs
    /// and of the garbage collector go by themselves.
    pub fn foreign_finalizers(&self) -> impl Iterator<Item = &str> {
        let own = [JOB_FINALIZER, "foregroundDeletion", "orphan"];
        self.metadata.finalizers().filter(move |one| !own.contains(one))
    }

    /// Whether a finalizer keeps the pod until somebody outside takes it off.
    pub fn has_foreign_finalizer(&self) -> bool {
        self.foreign_finalizers().next().is_some()
    }

    /// The Job that the pod is of keeps it until it has counted it.
    pub fn add_job_finalizer(&mut self) {
        let list: Vec<&str> = self.metadata.finalizers().chain([JOB_FINALIZER]).collect();
        self.metadata.other.set("finalizers", list.into());
    }

    /// The Job has counted the pod.
    pub fn remove_job_finalizer(&mut self) {
        let finalizers = self.metadata.finalizers();
        let list: Vec<&str> = finalizers.filter(|one| *one != JOB_FINALIZER).collect();
        let list = if list.is_empty() { Value::Null } else { list.into() };
        self.metadata.other.set("finalizers", list);
    }

    /// Sets a condition; its transition is now if the status changes.
    pub fn set_condition(
        &mut self,
        type_: &str,
        holds: bool,
        reason: &str,
        message: &str,
        now: crate::time::Time,
    ) {
        use super::ConditionStatus::{False, True};
        let status = if holds { True } else { False };
        let known = self.status.conditions.iter_mut().find(|known| known.type_ == type_);
        if let Some(known) = known {
            if known.status != status {
                known.last_transition_time = Some(now);
            }
            known.status = status;
            known.reason = reason.into();
            known.message = message.into();
            return;
        }
        self.status.conditions.push(PodCondition {
            type_: type_.into(),
            status,
            last_transition_time: Some(now),
            reason: reason.into(),
            message: message.into(),
            ..PodCondition::default()
        });
    }
}

/// `v1.PodSpec`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    /// The node the pod is bound to; empty while it is not scheduled.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub node_name: String,
    /// The tolerations; their order matters: the first that tolerates a taint is the one used.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "typescript-all", tsify(type = "Toleration[]"))]
    pub tolerations: Shared<Vec<Toleration>>,
    /// Seconds between a graceful delete and the end; the API server's default is 30.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub termination_grace_period_seconds: Option<i64>,
    /// Everything else.
    #[serde(flatten)]
    pub other: PodSpecFields,
}

string_enum! {
    /// `v1.PodPhase`.
    PodPhase {
        /// Accepted, but not all containers have started.
        Pending = "Pending",
        /// Bound to a node, with at least one container running.
        Running = "Running",
        /// All containers ended well and will not start again.
        Succeeded = "Succeeded",
        /// All containers ended, at least one badly.
        Failed = "Failed",
        /// The state could not be obtained.
        Unknown = "Unknown",
    }
}

/// `v1.PodStatus`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default)]
pub struct PodStatus {
    /// Where the pod is in its life.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub phase: PodPhase,
    /// Ready, DisruptionTarget and so on.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub conditions: Vec<PodCondition>,
    /// Why the pod is in this state, in one word.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub reason: String,
    /// Why the pod is in this state, in a sentence.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub message: String,
    /// What the statuses of its containers say more of restarts than those in `other`; no field of
    /// Kubernetes' own.
    #[serde(skip)]
    pub restarts: Option<ContainerRestarts>,
    /// Everything else.
    #[serde(flatten)]
    pub other: PodStatusFields,
}

/// How often a simulated kubelet has started the containers of a pod again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContainerRestarts {
    /// How often, one or more.
    pub count: u32,
    /// When it last found that they had ended.
    pub ended_at: Time,
}

/// `v1.PodCondition`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default)]
pub struct PodCondition {
    /// The type, for example `Ready` or `DisruptionTarget`.
    #[serde(rename = "type", deserialize_with = "nullable")]
    pub type_: String,
    /// Whether it holds.
    #[serde(deserialize_with = "nullable")]
    pub status: ConditionStatus,
    /// When the status last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Time>,
    /// Why, in one word.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub reason: String,
    /// Why, in a sentence.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub message: String,
    /// The `metadata.generation` this condition was set for (1.34 and later).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Everything else.
    #[serde(flatten)]
    pub other: PodConditionFields,
}
