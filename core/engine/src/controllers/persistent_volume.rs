//! The persistent volume controller: claims get their volumes. The provisioner of a class, which is
//! no part of Kubernetes, is assumed to make volumes at once.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Value, json};
use taintlab_rules::api::{
    ClaimReference, Node, ObjectMeta, PersistentVolume, PersistentVolumeClaim,
    PersistentVolumeSpec, PodKey, StorageClass, VolumeStatus, object, pod_claims,
};
use taintlab_rules::cluster::{Change, Cluster, VolumeChange, Volumes};
use taintlab_rules::order::OrderedSet;
use taintlab_rules::policy::scheduling::{find_matching_volume, is_free_for};
use taintlab_rules::protocol::RequestId;
use taintlab_rules::protocol::zone::{REGION_LABEL, ZONE_LABEL};

use super::{Context, Controller, Machine};

/// What the controller wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PersistentVolumeAction {
    /// `POST` a volume that was made for a claim.
    CreateVolume(Box<PersistentVolume>),
    /// Bind a claim and a volume that is there to each other.
    BindClaim {
        /// Which claim.
        claim: PodKey,
        /// Which volume.
        volume: String,
    },
    /// Take the finalizer off a claim that is being deleted, so that it is gone.
    RemoveClaim {
        /// Which claim.
        claim: PodKey,
    },
    /// Say that the claim of a volume is gone.
    ReleaseVolume {
        /// Which volume.
        volume: String,
    },
    /// Take the finalizer off a volume that is being deleted, or delete one that its class made.
    RemoveVolume {
        /// Which volume.
        volume: String,
    },
}

/// The persistent volume controller with the provisioners of all classes. Mirrors
/// `pkg/controller/volume/persistentvolume`, `pvcprotection`, `pvprotection` and
/// `sig-storage-lib-external-provisioner`.
#[derive(Clone, Debug, Default)]
pub struct PersistentVolumeController {
    /// Claims without a volume.
    pending: OrderedSet<PodKey>,
    /// Claims that are being deleted.
    deleted: OrderedSet<PodKey>,
    actions: VecDeque<PersistentVolumeAction>,
}

impl PersistentVolumeController {
    /// A controller that knows nothing yet: tell it of all claims.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Mirrors `syncUnboundClaim`.
    fn sync_claim(&mut self, cluster: &Cluster, key: &PodKey) {
        let Some(volumes) = cluster.volumes() else { return };
        let claim = volumes.claim(key);
        match claim {
            None => self.release_volumes_of(volumes, key),
            Some(claim) if claim.metadata.deletion_timestamp.is_some() => {
                self.deleted.insert(key.clone());
                self.remove_if_unused(cluster, key);
            }
            Some(_) => {}
        }
        let Some(claim) = claim.filter(|claim| !claim.is_bound()) else {
            self.pending.remove(key);
            return;
        };
        self.pending.insert(key.clone());
        if !claim.spec.volume_name.is_empty() {
            let wanted = volumes.persistent_volume(&claim.spec.volume_name);
            if wanted.is_some_and(|volume| is_free_for(volume, key)) {
                self.bind(key, &claim.spec.volume_name);
            }
            return;
        }
        let class = volumes.class_of(claim);
        let waits = class.is_some_and(|class| class.waits_for_first_consumer());
        if let Some(kept) = volumes.persistent_volumes().find(|volume| is_kept_for(volume, key)) {
            self.bind(key, &kept.metadata.name);
            return;
        }
        let node = claim.selected_node();
        if waits && node.is_none() {
            return;
        }
        if !waits && let Some(volume) = find_matching_volume(volumes, claim, |_| true) {
            self.bind(key, &volume.metadata.name);
            return;
        }
        let Some(class) = class.filter(|class| class.is_provisioned()) else { return };
        let node = node.and_then(|node| cluster.get_node(node));
        if let Some(volume) = provision(cluster, claim, class, node.map(AsRef::as_ref)) {
            self.actions.push_back(PersistentVolumeAction::CreateVolume(Box::new(volume)));
        }
    }

    /// A claim that is being deleted is gone when no pod on a node uses it, whether or not that has
    /// ended. Mirrors `podUsesPVC` of `pvcprotection`.
    fn remove_if_unused(&mut self, cluster: &Cluster, key: &PodKey) {
        let is_used = cluster.pods().any(|(_, pod)| {
            !pod.spec.node_name.is_empty()
                && pod.metadata.namespace == key.namespace()
                && pod_claims(pod).contains(key)
        });
        if !is_used && self.deleted.remove(key) {
            let claim = key.clone();
            self.actions.push_back(PersistentVolumeAction::RemoveClaim { claim });
        }
    }

    /// A claim is gone, and its volume is free of it. Mirrors the part of `syncVolume` about claims
    /// that are not there.
    fn release_volumes_of(&mut self, volumes: &Volumes, key: &PodKey) {
        self.deleted.remove(key);
        let bound = volumes
            .persistent_volumes()
            .filter(|volume| volume.status.phase == "Bound" && is_kept_for(volume, key));
        let names = bound.map(|volume| volume.metadata.name.clone());
        let release = |volume| PersistentVolumeAction::ReleaseVolume { volume };
        self.actions.extend(names.map(release));
    }

    /// A volume that is being deleted is gone when no claim is bound to it, and one that its class
    /// has made when its claim is gone and it is attached nowhere. Mirrors `reclaimVolume` and
    /// `pvprotection`.
    fn sync_volume(&mut self, volumes: &Volumes, name: &str) {
        let Some(volume) = volumes.persistent_volume(name) else { return };
        let is_deleted =
            volume.metadata.deletion_timestamp.is_some() && volume.status.phase != "Bound";
        let is_reclaimed = volume.status.phase == "Released"
            && volume.reclaim_policy() == "Delete"
            && volumes.nodes_of(name).next().is_none();
        if is_deleted || is_reclaimed {
            let volume = name.to_string();
            self.actions.push_back(PersistentVolumeAction::RemoveVolume { volume });
        }
    }

    fn bind(&mut self, claim: &PodKey, volume: &str) {
        let (claim, volume) = (claim.clone(), volume.to_string());
        self.actions.push_back(PersistentVolumeAction::BindClaim { claim, volume });
    }
}

/// Whether a volume is bound to this claim, or kept for it.
fn is_kept_for(volume: &PersistentVolume, claim: &PodKey) -> bool {
    volume.status.phase != "Released"
        && volume.spec.claim_ref.as_ref().is_some_and(|kept| kept.key() == *claim)
}

/// A volume that is made for a claim, in the zone of the node that was selected. One that does not
/// wait is made in a zone of its own choice.
fn provision(
    cluster: &Cluster,
    claim: &PersistentVolumeClaim,
    class: &StorageClass,
    node: Option<&Node>,
) -> Option<PersistentVolume> {
    let zone_of = |node: &Node| {
        let label = |name: &str| node.metadata.labels.get(name).cloned();
        let zone = label(ZONE_LABEL)?;
        class.allows(label).then(|| (zone, label(REGION_LABEL)))
    };
    let topology = match node {
        Some(node) => zone_of(node),
        None => {
            let zones: OrderedSet<(String, Option<String>)> =
                cluster.nodes().filter_map(|(_, node)| zone_of(node)).collect();
            let zones: Vec<_> = zones.into_iter().collect();
            let place = place_of(&claim.metadata.name).checked_rem(zones.len());
            place.and_then(|place| zones.get(place).cloned())
        }
    };
    if topology.is_none() && !class.allowed_topologies.is_empty() {
        return None;
    }
    let name = format!("pvc-{}", claim.metadata.uid);
    let mut spec = PersistentVolumeSpec {
        access_modes: claim.spec.access_modes.clone(),
        storage_class_name: class.metadata.name.clone(),
        claim_ref: Some(ClaimReference {
            namespace: claim.key().namespace().to_string(),
            name: claim.metadata.name.clone(),
            ..ClaimReference::default()
        }),
        ..PersistentVolumeSpec::default()
    };
    if let Some(storage) = claim.requested() {
        spec.other.set("capacity", json!({ "storage": storage }));
    }
    let policy = class.other.get("reclaimPolicy").and_then(Value::as_str).unwrap_or("Delete");
    spec.other.set("persistentVolumeReclaimPolicy", policy.into());
    let source = if class.provisioner.starts_with("kubernetes.io/") {
        ("awsElasticBlockStore", json!({ "volumeID": name }))
    } else {
        ("csi", json!({ "driver": class.provisioner, "volumeHandle": name }))
    };
    spec.other.set(source.0, source.1);
    if let Some((zone, region)) = topology {
        let label = |key: &str, value: &str| {
            let values = Value::Array(Vec::from([value.into()]));
            object(&mut [("key", key.into()), ("operator", "In".into()), ("values", values)])
        };
        let mut labels = Vec::from([label(ZONE_LABEL, &zone)]);
        labels.extend(region.map(|region| label(REGION_LABEL, &region)));
        let terms = Value::Array(Vec::from([object(&mut [("matchExpressions", labels.into())])]));
        let required = object(&mut [("nodeSelectorTerms", terms)]);
        spec.other.set("nodeAffinity", object(&mut [("required", required)]));
    }
    Some(PersistentVolume {
        metadata: ObjectMeta { name, ..ObjectMeta::default() },
        spec,
        status: VolumeStatus { phase: "Bound".into(), ..VolumeStatus::default() },
        ..PersistentVolume::default()
    })
}

/// Which of the zones a claim gets that does not wait: the hash of the name of its StatefulSet and
/// its number, so that the claims of one set go around. Mirrors `getPVCNameHashAndIndexOffset` of
/// `external-provisioner`.
fn place_of(claim: &str) -> usize {
    let (text, index) = match claim.rsplit_once('-') {
        Some((prefix, number)) => match number.parse::<u32>() {
            Ok(index) => (prefix.rsplit_once('-').map_or(prefix, |(_, set)| set), index),
            Err(_) => (claim, 0),
        },
        None => (claim, 0),
    };
    // FNV-1.
    let hash = text
        .bytes()
        .fold(2_166_136_261_u32, |hash, byte| hash.wrapping_mul(16_777_619) ^ u32::from(byte));
    usize::try_from(hash.wrapping_add(index)).unwrap_or_default()
}

impl Machine for PersistentVolumeController {
    fn handle_change(&mut self, context: &mut Context<'_>, change: &Change) {
        match change {
            Change::Volume(VolumeChange::Claim(claim)) => self.sync_claim(context.cluster, claim),
            Change::Volume(VolumeChange::PersistentVolume(name)) => {
                if let Some(volumes) = context.cluster.volumes() {
                    self.sync_volume(volumes, name);
                }
                for claim in self.pending.clone() {
                    self.sync_claim(context.cluster, &claim);
                }
            }
            Change::Volume(VolumeChange::Attachment { volume, attached: false, .. }) => {
                if let Some(volumes) = context.cluster.volumes() {
                    self.sync_volume(volumes, volume);
                }
            }
            Change::Pod { old: Some(old), new: None, .. } if !self.deleted.is_empty() => {
                for claim in pod_claims(old) {
                    if self.deleted.contains(&claim) {
                        self.remove_if_unused(context.cluster, &claim);
                    }
                }
            }
            Change::Volume(VolumeChange::Attachment { .. } | VolumeChange::InUse { .. })
            | Change::Node { .. }
            | Change::Pod { .. }
            | Change::Workload { .. }
            | Change::Lease { .. }
            | Change::Budget { .. }
            | Change::Device(_) => {}
        }
    }
}

impl Controller for PersistentVolumeController {
    type Action = PersistentVolumeAction;
    type Answer = ();

    fn poll_action(&mut self, _: &mut Context<'_>) -> Option<PersistentVolumeAction> {
        self.actions.pop_front()
    }

    fn handle_action_result(&mut self, _: &mut Context<'_>, _: RequestId, (): ()) {}
}
