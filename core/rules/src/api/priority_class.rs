//! Priority classes.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::{ApiVersion, Fields, Kind, ObjectMeta, TypeName, is_default, nullable};

/// Marks [`PriorityClass`] as `scheduling.k8s.io/v1`, `PriorityClass`.
pub enum PriorityClassKind {}

impl TypeName for PriorityClassKind {
    const KIND: &'static str = "PriorityClass";
    const API_VERSION: &'static str = "scheduling.k8s.io/v1";
}

/// `scheduling.k8s.io/v1` `PriorityClass`: a name for a priority of pods.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct PriorityClass {
    /// `scheduling.k8s.io/v1`.
    pub api_version: ApiVersion<PriorityClassKind>,
    /// `PriorityClass`.
    pub kind: Kind<PriorityClassKind>,
    /// Name, labels and so on; it has no namespace.
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    /// The priority; higher ones go first. Up to 1,000,000,000 for users' own.
    pub value: i64,
    /// Whether pods that name no class are of this one.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub global_default: bool,
    /// `Never` or `PreemptLowerPriority`; empty means the second.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub preemption_policy: String,
    /// Everything else, with the description.
    #[serde(flatten)]
    pub other: Fields,
}

/// From this priority on a pod is critical. Mirrors `scheduling.SystemCriticalPriority`.
pub const SYSTEM_CRITICAL_PRIORITY: i32 = 2_000_000_000;

impl PriorityClass {
    /// The classes that every cluster has: their names and values. Mirrors `SystemPriorityClasses`.
    pub const SYSTEM: [(&'static str, i64); 2] =
        [("system-node-critical", 2_000_001_000), ("system-cluster-critical", 2_000_000_000)];

    /// The classes that every cluster has.
    #[must_use]
    pub fn system() -> [Self; 2] {
        Self::SYSTEM.map(|(name, value)| {
            let metadata = ObjectMeta { name: name.into(), ..ObjectMeta::default() };
            Self { metadata, value, ..Self::default() }
        })
    }
}
