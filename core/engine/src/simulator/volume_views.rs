//! Volumes, claims, classes and attachments, to look at.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::Serialize;
use taintlab_rules::api::{
    Node, NodeName, PersistentVolume, PersistentVolumeClaim, Pod, PodKey, StorageClass, pod_claims,
};
use taintlab_rules::order::Order;

use super::Simulator;
use crate::controllers::attach_detach::AttachDetachController;
use crate::eviction_timeline::time_budget::Moment;

/// The storage of a cluster as it is now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct StorageView {
    /// The PersistentVolumes, by name.
    pub volumes: Vec<VolumeView>,
    /// The PersistentVolumeClaims, by namespace and name.
    pub claims: Vec<ClaimView>,
    /// The StorageClasses, by name.
    pub classes: Vec<StorageClassView>,
    /// The VolumeAttachments, by volume and node.
    pub attachments: Vec<AttachmentView>,
}

/// A PersistentVolume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct VolumeView {
    /// Its name.
    pub volume: String,
    /// `status.phase`: `Available`, `Bound`, `Released` or `Failed`; empty until the controller has
    /// looked at it.
    pub phase: String,
    /// Its class; empty if it has none.
    pub storage_class: String,
    /// The claim that it is bound to, or kept for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<PodKey>,
    /// `spec.capacity.storage`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<String>,
    /// How it can be mounted: `ReadWriteOnce` and so on.
    pub access_modes: Vec<String>,
    /// What becomes of it when its claim is gone: `Retain`, `Delete` or `Recycle`.
    pub reclaim_policy: String,
    /// The nodes from which it can be reached; absent if nothing restricts that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reachable_from: Option<Vec<NodeName>>,
    /// Whether it must be attached to a node before a pod can use it there.
    pub attachable: bool,
    /// Whether it can be attached to one node alone.
    pub exclusive: bool,
}

/// A PersistentVolumeClaim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct ClaimView {
    /// Its namespace and name.
    pub claim: PodKey,
    /// `status.phase`: `Pending`, `Bound` or `Lost`; empty until the controller has looked at it.
    pub phase: String,
    /// Its class; absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_class: Option<String>,
    /// The volume that it is bound to, or wants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume: Option<String>,
    /// `spec.resources.requests.storage`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested: Option<String>,
    /// How it is to be mounted: `ReadWriteOnce` and so on.
    pub access_modes: Vec<String>,
    /// The node for which the scheduler wants the volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selected_node: Option<NodeName>,
    /// Whether it waits for a pod to need it (`WaitForFirstConsumer`).
    pub waits_for_first_consumer: bool,
    /// Whether it was deleted, and stays as long as a pod uses it.
    pub terminating: bool,
    /// The pods whose volumes name it, by name.
    pub pods: Vec<PodKey>,
}

/// A StorageClass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct StorageClassView {
    /// Its name.
    pub storage_class: String,
    /// Who makes volumes of this class; empty if nobody does.
    pub provisioner: String,
    /// `WaitForFirstConsumer` or `Immediate`.
    pub volume_binding_mode: String,
    /// Whether claims without a class are of this one.
    pub is_default: bool,
}

/// A VolumeAttachment: a volume at a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct AttachmentView {
    /// The volume.
    pub volume: String,
    /// The node.
    pub node: NodeName,
    /// `status.attached`.
    pub attached: bool,
    /// Whether the kubelet of the node last said that it has the volume mounted
    /// (`status.volumesInUse`).
    pub mounted: bool,
    /// The pods on the node that use it, also those that are terminating, by name.
    pub pods: Vec<PodKey>,
    /// When it is detached although it may be mounted, if nothing happens before: 6 min after the
    /// last pod was gone. Absent as long as a pod uses it, and since 1.26 while the node is
    /// healthy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forced_detach_at: Option<Moment>,
}

impl VolumeView {
    fn of(simulator: &Simulator, volume: &PersistentVolume) -> Self {
        let reachable_from = volume.node_terms().map(|terms| {
            let reaches = |(name, node): &(&NodeName, &Arc<Node>)| {
                terms.iter().any(|term| term.matches(name.as_str(), &node.metadata.labels))
            };
            let nodes = simulator.api.cluster.nodes().filter(reaches);
            nodes.map(|(name, _)| name.clone()).collect()
        });
        Self {
            volume: volume.metadata.name.clone(),
            phase: volume.status.phase.clone(),
            storage_class: volume.spec.storage_class_name.clone(),
            claim: volume.spec.claim_ref.as_ref().map(|claim| claim.key()),
            capacity: volume.capacity().map(ToString::to_string),
            access_modes: volume.spec.access_modes.clone(),
            reclaim_policy: volume.reclaim_policy().into(),
            reachable_from,
            attachable: volume.is_attachable(),
            exclusive: volume.is_exclusive(),
        }
    }
}

impl ClaimView {
    fn of(claim: &PersistentVolumeClaim, class: Option<&StorageClass>, pods: Vec<PodKey>) -> Self {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_string());
        Self {
            claim: claim.key(),
            phase: claim.status.phase.clone(),
            storage_class: claim.spec.storage_class_name.as_deref().and_then(text),
            volume: text(&claim.spec.volume_name),
            requested: claim.requested().map(ToString::to_string),
            access_modes: claim.spec.access_modes.clone(),
            selected_node: claim.selected_node().map(NodeName::from),
            waits_for_first_consumer: !claim.is_bound()
                && claim.selected_node().is_none()
                && class.is_some_and(StorageClass::waits_for_first_consumer),
            terminating: claim.metadata.deletion_timestamp.is_some(),
            pods,
        }
    }
}

impl StorageClassView {
    fn of(class: &StorageClass) -> Self {
        let waits = class.waits_for_first_consumer();
        Self {
            storage_class: class.metadata.name.clone(),
            provisioner: if class.is_provisioned() { class.provisioner.clone() } else { "".into() },
            volume_binding_mode: if waits { "WaitForFirstConsumer" } else { "Immediate" }.into(),
            is_default: class.is_default(),
        }
    }
}

impl StorageView {
    /// The storage of a simulated cluster as it is now; `None` where volumes take no part: without
    /// a claim, unless there is a class and no pod that uses a claim.
    #[must_use]
    pub fn of(simulator: &Simulator) -> Option<Self> {
        Self::look(simulator, None)
    }

    /// The claims of one pod, the volumes that they are bound to or want, and where those are
    /// attached, without classes; `None` if it has no claim, or volumes take no part.
    #[must_use]
    pub fn of_pod(simulator: &Simulator, pod: &Pod) -> Option<Self> {
        let claims = pod_claims(pod);
        if claims.is_empty() { None } else { Self::look(simulator, Some(&claims)) }
    }

    /// All storage, or that of some claims.
    fn look(simulator: &Simulator, only: Option<&[PodKey]>) -> Option<Self> {
        let cluster = &simulator.api.cluster;
        let volumes = cluster.volumes()?;
        let is_wanted = |claim: &PodKey| only.is_none_or(|only| only.contains(claim));
        let mut users: Vec<(PodKey, PodKey)> = cluster
            .pods()
            .flat_map(|(key, pod)| pod_claims(pod).into_iter().map(|claim| (claim, key.clone())))
            .filter(|(claim, _)| is_wanted(claim))
            .collect();
        users.order();
        let pods_of = |claim: &PodKey| {
            let from = users.partition_point(|(known, _)| known < claim);
            let users = users.iter().skip(from).take_while(|(known, _)| known == claim);
            users.map(|(_, pod)| pod.clone()).collect()
        };
        let claims: Vec<ClaimView> = volumes
            .claims()
            .filter(|(key, _)| is_wanted(key))
            .map(|(key, claim)| {
                let class = volumes.class_of(claim).map(AsRef::as_ref);
                ClaimView::of(claim, class, pods_of(key))
            })
            .collect();
        let is_of_those = |volume: &str| {
            only.is_none() || claims.iter().any(|claim| claim.volume.as_deref() == Some(volume))
        };
        let controller = simulator.control.as_ref().map(|control| &control.attach_detach);
        let attachments = volumes
            .attachments()
            .filter(|((volume, _), _)| is_of_those(volume))
            .map(|((volume, node), attachment)| {
                let users =
                    |it: &AttachDetachController| it.users_on(volume, node).cloned().collect();
                let forced = |it: &AttachDetachController| it.forced_at(cluster, volume, node);
                AttachmentView {
                    volume: volume.clone(),
                    node: node.clone(),
                    attached: attachment.status.attached,
                    mounted: volumes.is_in_use(volume, node.as_str()),
                    pods: controller.map(users).unwrap_or_default(),
                    forced_detach_at: controller.and_then(forced).map(Moment::from),
                }
            })
            .collect();
        let persistent = volumes.persistent_volumes();
        let persistent = persistent.filter(|volume| is_of_those(&volume.metadata.name));
        let classes = volumes.classes().filter(|_| only.is_none());
        Some(Self {
            volumes: persistent.map(|volume| VolumeView::of(simulator, volume)).collect(),
            classes: classes.map(|class| StorageClassView::of(class)).collect(),
            attachments,
            claims,
        })
    }
}
