//! `ObjectMeta` and its parts.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{Labels, ObjectMetaFields, OwnerReferenceFields, Shared, is_default, nullable};
use crate::time::Time;

/// `metav1.ObjectMeta`: what every Kubernetes object carries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectMeta {
    /// The name, unique among objects of its kind (and namespace).
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub name: String,
    /// The namespace; empty for objects that have none, such as nodes.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub namespace: String,
    /// Unique in time: a pod created again under the same name has another one.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub uid: String,
    /// Labels.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "typescript", tsify(type = "Record<string, string>"))]
    pub labels: Labels,
    /// Annotations.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "typescript", tsify(type = "Record<string, string>"))]
    pub annotations: Labels,
    /// When the API server stored the object first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<Time>,
    /// When the object will be gone at the latest; set by a graceful delete, then the object is
    /// *terminating*.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<Time>,
    /// How many seconds a graceful delete allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_grace_period_seconds: Option<i64>,
    /// Who made this object, for example the ReplicaSet of a pod.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "typescript", tsify(type = "OwnerReference[]"))]
    pub owner_references: Shared<Vec<OwnerReference>>,
    /// Everything else.
    #[serde(flatten)]
    pub other: ObjectMetaFields,
}

impl ObjectMeta {
    /// The names in `finalizers`: a deleted object stays until all have been taken off.
    pub fn finalizers(&self) -> impl Iterator<Item = &str> {
        let list = self.other.get("finalizers").and_then(|list| list.as_array());
        list.into_iter().flatten().filter_map(|one| one.as_str())
    }
}

/// `metav1.OwnerReference`: an object that owns this one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerReference {
    /// The owner's `apiVersion`.
    #[serde(deserialize_with = "nullable")]
    pub api_version: String,
    /// The owner's `kind`, for example `ReplicaSet`.
    #[serde(deserialize_with = "nullable")]
    pub kind: String,
    /// The owner's name.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// The owner's UID.
    #[serde(deserialize_with = "nullable")]
    pub uid: String,
    /// Whether this owner is the managing controller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<bool>,
    /// Everything else.
    #[serde(flatten)]
    pub other: OwnerReferenceFields,
}
