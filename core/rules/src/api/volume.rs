//! Volumes: PersistentVolumes, the claims for them, their classes, and where they are attached.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::scheduling::node_terms;
use super::{
    ApiVersion, Fields, Kind, NodeSelectorTerm, ObjectMeta, Pod, PodKey, TypeName, claim_names,
    is_default, nullable,
};
use crate::order::Order;

/// Marks [`PersistentVolume`] as `v1`, `PersistentVolume`.
pub enum PersistentVolumeKind {}

impl TypeName for PersistentVolumeKind {
    const KIND: &'static str = "PersistentVolume";
}

/// Marks [`PersistentVolumeClaim`] as `v1`, `PersistentVolumeClaim`.
pub enum PersistentVolumeClaimKind {}

impl TypeName for PersistentVolumeClaimKind {
    const KIND: &'static str = "PersistentVolumeClaim";
}

/// Marks [`StorageClass`] as `storage.k8s.io/v1`, `StorageClass`.
pub enum StorageClassKind {}

impl TypeName for StorageClassKind {
    const KIND: &'static str = "StorageClass";
    const API_VERSION: &'static str = "storage.k8s.io/v1";
}

/// Marks [`VolumeAttachment`] as `storage.k8s.io/v1`, `VolumeAttachment`.
pub enum VolumeAttachmentKind {}

impl TypeName for VolumeAttachmentKind {
    const KIND: &'static str = "VolumeAttachment";
    const API_VERSION: &'static str = "storage.k8s.io/v1";
}

/// `status` of a [`PersistentVolume`] or a [`PersistentVolumeClaim`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VolumeStatus {
    /// `Pending`, `Available`, `Bound`, `Released`, `Lost` or `Failed`.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub phase: String,
    /// Everything else.
    #[serde(flatten)]
    pub other: Fields,
}

/// `v1.PersistentVolume`: storage that is there, whoever uses it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PersistentVolume {
    /// `v1`.
    pub api_version: ApiVersion<PersistentVolumeKind>,
    /// `PersistentVolume`.
    pub kind: Kind<PersistentVolumeKind>,
    /// Name, labels and so on; it has no namespace.
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    /// What it is.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub spec: PersistentVolumeSpec,
    /// What was observed.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub status: VolumeStatus,
    /// Everything else.
    #[serde(flatten)]
    pub other: Fields,
}

/// `v1.PersistentVolumeSpec`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PersistentVolumeSpec {
    /// How it can be mounted: `ReadWriteOnce` and so on.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub access_modes: Vec<String>,
    /// Its class; empty if it has none.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub storage_class_name: String,
    /// The claim that it is bound to, or kept for.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    pub claim_ref: Option<ClaimReference>,
    /// Everything else: `capacity`, `nodeAffinity`, and what kind of storage it is (`csi`,
    /// `local`).
    #[serde(flatten)]
    pub other: Fields,
}

/// The claim that a volume is for (`v1.ObjectReference`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClaimReference {
    /// The namespace of the claim.
    #[serde(deserialize_with = "nullable")]
    pub namespace: String,
    /// The name of the claim.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// Everything else.
    #[serde(flatten)]
    pub other: Fields,
}

impl ClaimReference {
    /// Namespace and name of the claim.
    #[must_use]
    pub fn key(&self) -> PodKey {
        PodKey::new(&self.namespace, &self.name)
    }
}

/// What kinds of storage are on a node, or reached over its network, so that nothing is attached.
const NEVER_ATTACHED: [&str; 6] = ["local", "hostPath", "nfs", "cephfs", "glusterfs", "quobyte"];

impl PersistentVolume {
    /// The nodes from which it can be reached: one of the terms, if there are any. What cannot be
    /// read is no restriction.
    #[must_use]
    pub fn node_terms(&self) -> Option<Vec<NodeSelectorTerm>> {
        let required = self.spec.other.get("nodeAffinity")?.get("required")?;
        node_terms(required.get("nodeSelectorTerms")).ok()
    }

    /// Whether it must be attached to a node before a pod can use it there. Mirrors
    /// `FindAttachablePluginBySpec`; every CSI driver is taken to attach.
    #[must_use]
    pub fn is_attachable(&self) -> bool {
        NEVER_ATTACHED.iter().all(|source| self.spec.other.get(source).is_none())
    }

    /// Whether it can be attached to one node alone. Mirrors `isMultiAttachForbidden`.
    #[must_use]
    pub fn is_exclusive(&self) -> bool {
        let shared = |mode: &String| mode == "ReadWriteMany" || mode == "ReadOnlyMany";
        !self.spec.access_modes.is_empty() && !self.spec.access_modes.iter().any(shared)
    }

    /// Who attaches it: its CSI driver.
    #[must_use]
    pub fn attacher(&self) -> &str {
        let driver = self.spec.other.get("csi").and_then(|csi| csi.get("driver"));
        driver.and_then(Value::as_str).unwrap_or("kubernetes.io/in-tree")
    }

    /// What becomes of it when its claim is gone: `Retain` unless it says `Delete` or `Recycle`.
    #[must_use]
    pub fn reclaim_policy(&self) -> &str {
        let policy = self.spec.other.get("persistentVolumeReclaimPolicy").and_then(Value::as_str);
        policy.unwrap_or("Retain")
    }

    /// `spec.capacity.storage`.
    #[must_use]
    pub fn capacity(&self) -> Option<&str> {
        self.spec.other.get("capacity")?.get("storage")?.as_str()
    }
}

/// `v1.PersistentVolumeClaim`: a wish for storage, and the volume that it got.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PersistentVolumeClaim {
    /// `v1`.
    pub api_version: ApiVersion<PersistentVolumeClaimKind>,
    /// `PersistentVolumeClaim`.
    pub kind: Kind<PersistentVolumeClaimKind>,
    /// Name, namespace, labels and so on.
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    /// What was asked for.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub spec: PersistentVolumeClaimSpec,
    /// What was observed.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub status: VolumeStatus,
    /// Everything else.
    #[serde(flatten)]
    pub other: Fields,
}

/// `v1.PersistentVolumeClaimSpec`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PersistentVolumeClaimSpec {
    /// How it is to be mounted: `ReadWriteOnce` and so on.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub access_modes: Vec<String>,
    /// The class of the volume: the default class if absent, a volume without a class if empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_class_name: Option<String>,
    /// The volume that it is bound to, or wants.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub volume_name: String,
    /// Everything else, with `resources`.
    #[serde(flatten)]
    pub other: Fields,
}

/// The annotation by which the scheduler says where a volume is needed.
const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

impl PersistentVolumeClaim {
    /// Namespace and name.
    #[must_use]
    pub fn key(&self) -> PodKey {
        PodKey::new(&self.metadata.namespace, &self.metadata.name)
    }

    /// Whether it has its volume.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        !self.spec.volume_name.is_empty() && matches!(&*self.status.phase, "Bound" | "Lost")
    }

    /// The node for which the scheduler wants the volume.
    #[must_use]
    pub fn selected_node(&self) -> Option<&str> {
        self.metadata.annotations.get(SELECTED_NODE).map(String::as_str)
    }

    /// Says for which node the volume is wanted.
    pub fn select_node(&mut self, node: &str) {
        self.metadata.annotations.insert(SELECTED_NODE.into(), node.into());
    }

    /// Whether one pod alone may use it.
    #[must_use]
    pub fn is_for_one_pod(&self) -> bool {
        self.spec.access_modes.iter().any(|mode| mode == "ReadWriteOncePod")
    }

    /// `spec.resources.requests.storage`.
    #[must_use]
    pub fn requested(&self) -> Option<&str> {
        self.spec.other.get("resources")?.get("requests")?.get("storage")?.as_str()
    }
}

/// `storage.k8s.io/v1` `StorageClass`: who makes volumes, and when they are bound.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StorageClass {
    /// `storage.k8s.io/v1`.
    pub api_version: ApiVersion<StorageClassKind>,
    /// `StorageClass`.
    pub kind: Kind<StorageClassKind>,
    /// Name, labels and so on; it has no namespace.
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    /// Who makes volumes of this class.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub provisioner: String,
    /// `WaitForFirstConsumer`, or `Immediate`, which is the default.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub volume_binding_mode: String,
    /// Where volumes can be made; anywhere if empty.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub allowed_topologies: Vec<TopologySelectorTerm>,
    /// Everything else.
    #[serde(flatten)]
    pub other: Fields,
}

/// `v1.TopologySelectorTerm`: all of its requirements.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TopologySelectorTerm {
    /// What is required of labels.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub match_label_expressions: Vec<TopologySelectorRequirement>,
}

/// `v1.TopologySelectorLabelRequirement`: one of the values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TopologySelectorRequirement {
    /// The label of nodes.
    pub key: String,
    /// Its values.
    #[serde(deserialize_with = "nullable")]
    pub values: Vec<String>,
}

/// The provisioner of classes whose volumes nobody makes.
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

impl StorageClass {
    /// Whether a volume is bound only once a pod needs it.
    #[must_use]
    pub fn waits_for_first_consumer(&self) -> bool {
        self.volume_binding_mode == "WaitForFirstConsumer"
    }

    /// Whether somebody makes volumes of this class.
    #[must_use]
    pub fn is_provisioned(&self) -> bool {
        !self.provisioner.is_empty() && self.provisioner != NO_PROVISIONER
    }

    /// Whether claims without a class are of this one.
    #[must_use]
    pub fn is_default(&self) -> bool {
        let annotation = "storageclass.kubernetes.io/is-default-class";
        self.metadata.annotations.get(annotation).is_some_and(|value| value == "true")
    }

    /// Whether volumes can be made where nodes have these labels. Mirrors
    /// `MatchTopologySelectorTerms`.
    #[must_use]
    pub fn allows(&self, label: impl Fn(&str) -> Option<String>) -> bool {
        self.allowed_topologies.is_empty()
            || self.allowed_topologies.iter().any(|term| {
                term.match_label_expressions.iter().all(|requirement| {
                    label(&requirement.key).is_some_and(|value| requirement.values.contains(&value))
                })
            })
    }
}

/// `storage.k8s.io/v1` `VolumeAttachment`: a volume is, or is to be, attached to a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VolumeAttachment {
    /// `storage.k8s.io/v1`.
    pub api_version: ApiVersion<VolumeAttachmentKind>,
    /// `VolumeAttachment`.
    pub kind: Kind<VolumeAttachmentKind>,
    /// Name, labels and so on; it has no namespace.
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    /// What is to be.
    #[serde(deserialize_with = "nullable")]
    pub spec: VolumeAttachmentSpec,
    /// What is.
    #[serde(deserialize_with = "nullable")]
    pub status: VolumeAttachmentStatus,
    /// Everything else.
    #[serde(flatten)]
    pub other: Fields,
}

/// `storage.k8s.io/v1` `VolumeAttachmentSpec`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VolumeAttachmentSpec {
    /// The driver.
    #[serde(deserialize_with = "nullable")]
    pub attacher: String,
    /// The node.
    #[serde(deserialize_with = "nullable")]
    pub node_name: String,
    /// The volume.
    #[serde(deserialize_with = "nullable")]
    pub source: VolumeAttachmentSource,
}

/// `storage.k8s.io/v1` `VolumeAttachmentSource`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VolumeAttachmentSource {
    /// The name of the PersistentVolume.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub persistent_volume_name: String,
    /// Everything else.
    #[serde(flatten)]
    pub other: Fields,
}

/// `storage.k8s.io/v1` `VolumeAttachmentStatus`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VolumeAttachmentStatus {
    /// Whether it is attached.
    #[serde(deserialize_with = "nullable")]
    pub attached: bool,
    /// Everything else.
    #[serde(flatten)]
    pub other: Fields,
}

/// The claims that a pod's volumes refer to. What cannot be read refers to none.
#[must_use]
pub fn pod_claims(pod: &Pod) -> Vec<PodKey> {
    if pod.spec.other.get("volumes").is_none() {
        return Vec::new();
    }
    let names = claim_names(pod).unwrap_or_default();
    let mut claims: Vec<PodKey> =
        names.iter().map(|name| PodKey::new(&pod.metadata.namespace, name)).collect();
    claims.order();
    claims.dedup();
    claims
}
