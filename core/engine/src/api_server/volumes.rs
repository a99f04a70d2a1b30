//! Volumes in the store: what is there at the beginning, and writes.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde_json::json;
use taintlab_rules::api::{
    ClaimReference, ConditionStatus, NodeName, ObjectMeta, PersistentVolume, PersistentVolumeClaim,
    PersistentVolumeSpec, PodKey, PodPhase, StorageClass, VolumeAttachment, VolumeAttachmentSource,
    VolumeAttachmentSpec, VolumeAttachmentStatus, VolumeStatus, pod_claims,
};
use taintlab_rules::cluster::{Change, VolumeChange, Volumes};

use super::{ApiServer, Write};
use crate::command::CommandError;
use crate::event::EventKind;
use crate::kubelet::identifier;

/// Volumes that are there at the beginning.
#[derive(Clone, Debug, Default)]
pub struct InitialVolumes {
    /// PersistentVolumes.
    pub persistent_volumes: Vec<PersistentVolume>,
    /// PersistentVolumeClaims.
    pub claims: Vec<PersistentVolumeClaim>,
    /// StorageClasses.
    pub classes: Vec<StorageClass>,
    /// VolumeAttachments.
    pub attachments: Vec<VolumeAttachment>,
}

/// A write of storage that was accepted.
#[derive(Clone, Debug)]
pub(crate) enum VolumeWrite {
    /// Creates or replaces a volume.
    PutVolume(Box<PersistentVolume>),
    /// Creates or replaces a claim.
    PutClaim(Box<PersistentVolumeClaim>),
    /// Removes a volume.
    RemoveVolume(String),
    /// Removes a claim.
    RemoveClaim(PodKey),
    /// Attaches a volume to a node.
    Attach { volume: String, node: NodeName },
    /// Detaches it; `forced` if the node may still have it mounted.
    Detach { volume: String, node: NodeName, forced: bool },
    /// What a kubelet says of a volume.
    SetInUse { volume: String, node: NodeName, mounted: bool },
}

impl ApiServer {
    /// Begins with these volumes, if they are enough to say how storage works: a claim, or a class
    /// where no pod uses a claim. Otherwise volumes do not take part, and keep no pod from
    /// anything.
    pub(crate) fn bootstrap_volumes(&mut self, begin: InitialVolumes) {
        let named = || self.cluster.pods().any(|(_, pod)| !pod_claims(pod).is_empty());
        if begin.claims.is_empty() && (begin.classes.is_empty() || named()) {
            return;
        }
        let mut volumes = Volumes::default();
        for mut class in begin.classes {
            self.default_metadata(&mut class.metadata);
            volumes.put_class(Arc::new(class));
        }
        for mut volume in begin.persistent_volumes {
            self.default_metadata(&mut volume.metadata);
            if volume.status.phase.is_empty() {
                let bound = volume.spec.claim_ref.is_some();
                volume.status.phase = if bound { "Bound" } else { "Available" }.into();
            }
            volumes.put_persistent_volume(Arc::new(volume));
        }
        for mut claim in begin.claims {
            self.complete_claim(&volumes, &mut claim);
            infer_volume(&mut volumes, &mut claim);
            volumes.put_claim(Arc::new(claim));
        }
        for mut attachment in begin.attachments {
            if attachment.status.attached {
                self.default_metadata(&mut attachment.metadata);
                volumes.put_attachment(Arc::new(attachment));
            }
        }
        self.bootstrap_mounted(&mut volumes);
        self.cluster.set_volumes(volumes);
    }

    /// A pod that runs has its volumes, whether or not somebody said that they are attached; and
    /// what is attached to a node that is not ready may be mounted there.
    fn bootstrap_mounted(&mut self, volumes: &mut Volumes) {
        let mut mounted: Vec<(String, NodeName)> = Vec::new();
        for (_, pod) in self.cluster.pods() {
            let runs = matches!(pod.status.phase, PodPhase::Running | PodPhase::Empty);
            if runs && !pod.spec.node_name.is_empty() {
                let node = NodeName::from(pod.spec.node_name.as_str());
                let used = volumes.attachable_of(pod);
                mounted.extend(used.map(|volume| (volume.metadata.name.clone(), node.clone())));
            }
        }
        for (volume, node) in &mounted {
            if !volumes.is_attached(volume, node.as_str()) {
                let attachment = self.new_attachment(volumes, volume, node);
                volumes.put_attachment(Arc::new(attachment));
            }
        }
        let lost = |node: &str| {
            let ready = self.cluster.get_node(node).and_then(|node| node.condition("Ready"));
            ready.is_none_or(|ready| ready.status != ConditionStatus::True)
        };
        let attached = volumes.attachments().map(|(key, _)| key.clone());
        mounted.extend(attached.filter(|(_, node)| lost(node.as_str())));
        for (volume, node) in &mounted {
            volumes.set_in_use(volume, node, true);
        }
    }

    fn new_attachment(
        &mut self,
        volumes: &Volumes,
        volume: &str,
        node: &NodeName,
    ) -> VolumeAttachment {
        let attacher = volumes.persistent_volume(volume).map(|volume| volume.attacher().into());
        let name = format!("csi-{}", identifier(&[volume, node.as_str()]));
        let mut attachment = VolumeAttachment {
            metadata: ObjectMeta { name, ..ObjectMeta::default() },
            spec: VolumeAttachmentSpec {
                attacher: attacher.unwrap_or_default(),
                node_name: node.to_string(),
                source: VolumeAttachmentSource {
                    persistent_volume_name: volume.to_string(),
                    ..VolumeAttachmentSource::default()
                },
            },
            status: VolumeAttachmentStatus { attached: true, ..VolumeAttachmentStatus::default() },
            ..VolumeAttachment::default()
        };
        self.default_metadata(&mut attachment.metadata);
        attachment
    }

    /// What the API server fills in. Mirrors `setdefault.admitStorageClass`.
    fn complete_claim(&mut self, volumes: &Volumes, claim: &mut PersistentVolumeClaim) {
        if claim.metadata.namespace.is_empty() {
            claim.metadata.namespace = "default".into();
        }
        self.default_metadata(&mut claim.metadata);
        if claim.spec.storage_class_name.is_none() {
            let class = volumes.classes().find(|class| class.is_default());
            claim.spec.storage_class_name = class.map(|class| class.metadata.name.clone());
        }
        if claim.status.phase.is_empty() {
            claim.status.phase = "Pending".into();
        }
    }

    /// A claim that a StatefulSet wants; nothing if there is one of that name.
    pub(crate) fn create_claim(&mut self, mut claim: PersistentVolumeClaim) -> Option<Write> {
        let volumes = self.cluster.volumes()?.clone();
        if volumes.claim(&claim.key()).is_some() {
            return None;
        }
        self.complete_claim(&volumes, &mut claim);
        Some(Write::Volume(VolumeWrite::PutClaim(Box::new(claim))))
    }

    /// A volume that was made; nothing if there is one of that name.
    pub(crate) fn create_volume(&mut self, mut volume: PersistentVolume) -> Option<Write> {
        if self.cluster.volumes()?.persistent_volume(&volume.metadata.name).is_some() {
            return None;
        }
        self.default_metadata(&mut volume.metadata);
        Some(Write::Volume(VolumeWrite::PutVolume(Box::new(volume))))
    }

    /// Binds a claim and a volume to each other, unless one of them is bound already.
    pub(crate) fn bind_claim(&self, key: &PodKey, volume: &str) -> Vec<Write> {
        let objects = self.cluster.volumes().and_then(|volumes| {
            let claim = volumes.claim(key).filter(|claim| !claim.is_bound())?;
            Some((claim, volumes.persistent_volume(volume)?))
        });
        let Some((claim, volume)) = objects else { return Vec::new() };
        let (mut claim, mut volume) =
            (PersistentVolumeClaim::clone(claim), PersistentVolume::clone(volume));
        if volume.spec.claim_ref.as_ref().is_some_and(|other| other.key() != *key) {
            return Vec::new();
        }
        claim.spec.volume_name.clone_from(&volume.metadata.name);
        claim.status.phase = "Bound".into();
        // What the claim got, which may be more than it asked for.
        claim.status.other.set("accessModes", json!(volume.spec.access_modes));
        if let Some(capacity) = volume.spec.other.get("capacity") {
            claim.status.other.set("capacity", capacity.clone());
        }
        volume.spec.claim_ref.get_or_insert_with(|| reference(key));
        volume.status.phase = "Bound".into();
        // The claim last: whoever waits for it finds the volume.
        [VolumeWrite::PutVolume(Box::new(volume)), VolumeWrite::PutClaim(Box::new(claim))]
            .map(Write::Volume)
            .into()
    }

    /// Deletes a claim, which is there until its finalizer is taken off: nothing if it is being
    /// deleted already.
    pub(crate) fn delete_claim(&self, key: &PodKey) -> Result<Option<Write>, CommandError> {
        let claim = self.cluster.volumes().and_then(|volumes| volumes.claim(key));
        let claim = claim.ok_or_else(|| CommandError::ClaimNotFound(key.clone()))?;
        let mut claim = PersistentVolumeClaim::clone(claim);
        let is_new = self.mark_deleted(&mut claim.metadata);
        Ok(is_new.then(|| Write::Volume(VolumeWrite::PutClaim(Box::new(claim)))))
    }

    /// The same with a volume.
    pub(crate) fn delete_volume(&self, name: &str) -> Result<Option<Write>, CommandError> {
        let volume = self.cluster.volumes().and_then(|volumes| volumes.persistent_volume(name));
        let volume = volume.ok_or_else(|| CommandError::VolumeNotFound(name.to_string()))?;
        let mut volume = PersistentVolume::clone(volume);
        let is_new = self.mark_deleted(&mut volume.metadata);
        Ok(is_new.then(|| Write::Volume(VolumeWrite::PutVolume(Box::new(volume)))))
    }

    fn mark_deleted(&self, metadata: &mut ObjectMeta) -> bool {
        if metadata.deletion_timestamp.is_some() {
            return false;
        }
        metadata.deletion_timestamp = Some(self.wall_clock(self.now).truncated_to_seconds());
        metadata.deletion_grace_period_seconds = Some(0);
        true
    }

    /// The claim of a volume is gone.
    pub(crate) fn release_volume(&self, name: &str) -> Option<Write> {
        let volume = self.cluster.volumes()?.persistent_volume(name)?;
        let mut volume = PersistentVolume::clone(volume);
        volume.status.phase = "Released".into();
        Some(Write::Volume(VolumeWrite::PutVolume(Box::new(volume))))
    }

    /// The scheduler has found a node for a pod: says so in its claim, and keeps the volume for it
    /// if one is there already.
    pub(crate) fn select_node(
        &self,
        key: &PodKey,
        node: &NodeName,
        volume: Option<&str>,
    ) -> Vec<Write> {
        let Some(volumes) = self.cluster.volumes() else { return Vec::new() };
        let mut writes = Vec::new();
        if let Some(volume) = volume.and_then(|volume| volumes.persistent_volume(volume)) {
            let mut volume = PersistentVolume::clone(volume);
            volume.spec.claim_ref.get_or_insert_with(|| reference(key));
            writes.push(Write::Volume(VolumeWrite::PutVolume(Box::new(volume))));
        } else if let Some(claim) = volumes.claim(key) {
            let mut claim = PersistentVolumeClaim::clone(claim);
            claim.select_node(node.as_str());
            writes.push(Write::Volume(VolumeWrite::PutClaim(Box::new(claim))));
        }
        writes
    }

    /// Makes a write of storage; gives what watchers see.
    pub(super) fn store_volume(&mut self, write: VolumeWrite) -> Option<Change> {
        let change = match write {
            VolumeWrite::PutVolume(volume) => {
                let name = volume.metadata.name.clone();
                let new = Arc::new(*volume);
                let old = self.cluster.volumes_mut()?.put_persistent_volume(new.clone());
                if old.as_ref() == Some(&new) {
                    return None;
                }
                VolumeChange::PersistentVolume(name)
            }
            VolumeWrite::PutClaim(claim) => {
                let (key, new) = (claim.key(), Arc::new(*claim));
                let old = self.cluster.volumes_mut()?.put_claim(new.clone());
                if old.as_ref() == Some(&new) {
                    return None;
                }
                VolumeChange::Claim(key)
            }
            VolumeWrite::RemoveVolume(name) => {
                self.cluster.volumes_mut()?.remove_persistent_volume(&name)?;
                VolumeChange::PersistentVolume(name)
            }
            VolumeWrite::RemoveClaim(key) => {
                self.cluster.volumes_mut()?.remove_claim(&key)?;
                VolumeChange::Claim(key)
            }
            VolumeWrite::Attach { volume, node } => {
                let volumes = self.cluster.volumes()?.clone();
                let attachment = Arc::new(self.new_attachment(&volumes, &volume, &node));
                self.cluster.volumes_mut()?.put_attachment(attachment);
                VolumeChange::Attachment { volume, node, attached: true }
            }
            VolumeWrite::Detach { volume, node, forced } => {
                if !self.cluster.volumes_mut()?.remove_attachment(&volume, &node) {
                    return None;
                }
                let (name, on) = (volume.clone(), node.clone());
                self.emit(EventKind::VolumeDetached { volume: name, node: on, forced });
                VolumeChange::Attachment { volume, node, attached: false }
            }
            VolumeWrite::SetInUse { volume, node, mounted } => {
                if !self.cluster.volumes_mut()?.set_in_use(&volume, &node, mounted) {
                    return None;
                }
                VolumeChange::InUse { volume, node }
            }
        };
        Some(Change::Volume(change))
    }
}

fn reference(claim: &PodKey) -> ClaimReference {
    ClaimReference {
        namespace: claim.namespace().to_string(),
        name: claim.name().to_string(),
        ..ClaimReference::default()
    }
}

/// The volume of a claim that is bound to one which nobody gave: it can be reached from everywhere,
/// as far as anybody knows. A claim that names its volume and says nothing more is bound if that is
/// kept for it.
fn infer_volume(volumes: &mut Volumes, claim: &mut PersistentVolumeClaim) {
    let name = &claim.spec.volume_name;
    if name.is_empty() {
        return;
    }
    match volumes.persistent_volume(name) {
        Some(volume) => {
            let kept = volume.spec.claim_ref.as_ref();
            if claim.status.phase == "Pending" && kept.is_some_and(|kept| kept.key() == claim.key())
            {
                claim.status.phase = "Bound".into();
            }
        }
        None if claim.is_bound() => {
            volumes.put_persistent_volume(Arc::new(PersistentVolume {
                metadata: ObjectMeta { name: name.clone(), ..ObjectMeta::default() },
                spec: PersistentVolumeSpec {
                    access_modes: claim.spec.access_modes.clone(),
                    storage_class_name: claim.spec.storage_class_name.clone().unwrap_or_default(),
                    claim_ref: Some(reference(&claim.key())),
                    ..PersistentVolumeSpec::default()
                },
                status: VolumeStatus { phase: "Bound".into(), ..VolumeStatus::default() },
                ..PersistentVolume::default()
            }));
        }
        None => {}
    }
}
