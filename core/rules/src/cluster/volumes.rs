//! Volumes, claims, classes and attachments.

use alloc::string::{String, ToString};
use alloc::sync::Arc;

use crate::api::{
    NodeName, PersistentVolume, PersistentVolumeClaim, Pod, PodKey, StorageClass, VolumeAttachment,
    pod_claims,
};
use crate::order::{OrderedMap, OrderedSet};

/// Storage of a cluster, if it takes part in a simulation.
#[derive(Clone, Debug, Default)]
pub struct Volumes {
    volumes: OrderedMap<String, Arc<PersistentVolume>>,
    claims: OrderedMap<PodKey, Arc<PersistentVolumeClaim>>,
    classes: OrderedMap<String, Arc<StorageClass>>,
    /// Attachments by volume and node.
    attachments: OrderedMap<(String, NodeName), Arc<VolumeAttachment>>,
    /// `status.volumesInUse` of nodes: the volumes that kubelets last reported as mounted.
    in_use: OrderedSet<(NodeName, String)>,
}

impl Volumes {
    /// All volumes, by name.
    pub fn persistent_volumes(&self) -> impl Iterator<Item = &Arc<PersistentVolume>> {
        self.volumes.values()
    }

    /// The volume with this name.
    #[must_use]
    pub fn persistent_volume(&self, name: &str) -> Option<&Arc<PersistentVolume>> {
        self.volumes.get(name)
    }

    /// All claims, by namespace and name.
    pub fn claims(&self) -> impl Iterator<Item = (&PodKey, &Arc<PersistentVolumeClaim>)> {
        self.claims.iter()
    }

    /// The claim with this namespace and name.
    #[must_use]
    pub fn claim(&self, key: &PodKey) -> Option<&Arc<PersistentVolumeClaim>> {
        self.claims.get(key)
    }

    /// All classes, by name.
    pub fn classes(&self) -> impl Iterator<Item = &Arc<StorageClass>> {
        self.classes.values()
    }

    /// Class of a claim, if it names one that exists.
    #[must_use]
    pub fn class_of(&self, claim: &PersistentVolumeClaim) -> Option<&Arc<StorageClass>> {
        self.classes.get(claim.spec.storage_class_name.as_deref()?)
    }

    /// All attachments, by volume and node.
    pub fn attachments(&self) -> impl Iterator<Item = (&(String, NodeName), &VolumeAttachment)> {
        self.attachments.iter().map(|(key, attachment)| (key, attachment.as_ref()))
    }

    /// Nodes to which a volume is attached, by name.
    pub fn nodes_of<'a>(&'a self, volume: &str) -> impl Iterator<Item = &'a NodeName> {
        let first = (volume.to_string(), NodeName::from(""));
        let volume = first.0.clone();
        let from = self.attachments.range(first..);
        from.take_while(move |((name, _), _)| *name == volume).map(|((_, node), _)| node)
    }

    /// Whether a volume is attached to a node.
    #[must_use]
    pub fn is_attached(&self, volume: &str, node: &str) -> bool {
        self.attachments.contains_key(&(volume.to_string(), NodeName::from(node)))
    }

    /// Whether a node's kubelet last reported the volume as mounted.
    #[must_use]
    pub fn is_in_use(&self, volume: &str, node: &str) -> bool {
        self.in_use.contains(&(NodeName::from(node), volume.to_string()))
    }

    /// Volume that a claim is bound to.
    #[must_use]
    pub fn volume_of(&self, claim: &PodKey) -> Option<&Arc<PersistentVolume>> {
        let claim = self.claims.get(claim).filter(|claim| claim.is_bound())?;
        self.volumes.get(&claim.spec.volume_name)
    }

    /// Volumes of a pod that have to be attached.
    pub fn attachable_of<'a>(
        &'a self,
        pod: &Pod,
    ) -> impl Iterator<Item = &'a Arc<PersistentVolume>> {
        let claims = pod_claims(pod).into_iter();
        claims.filter_map(|claim| self.volume_of(&claim)).filter(|volume| volume.is_attachable())
    }

    /// Whether all volumes of a pod are bound and, where necessary, attached to its node.
    #[must_use]
    pub fn are_ready_for(&self, pod: &Pod) -> bool {
        pod_claims(pod).iter().all(|claim| {
            self.volume_of(claim).is_some_and(|volume| {
                !volume.is_attachable()
                    || self.is_attached(&volume.metadata.name, &pod.spec.node_name)
            })
        })
    }

    /// Stores a volume and returns the version it replaces.
    pub fn put_persistent_volume(
        &mut self,
        volume: Arc<PersistentVolume>,
    ) -> Option<Arc<PersistentVolume>> {
        self.volumes.insert(volume.metadata.name.clone(), volume)
    }

    /// Stores a claim and returns the version it replaces.
    pub fn put_claim(
        &mut self,
        claim: Arc<PersistentVolumeClaim>,
    ) -> Option<Arc<PersistentVolumeClaim>> {
        self.claims.insert(claim.key(), claim)
    }

    /// Removes a volume.
    pub fn remove_persistent_volume(&mut self, name: &str) -> Option<Arc<PersistentVolume>> {
        self.volumes.remove(name)
    }

    /// Removes a claim.
    pub fn remove_claim(&mut self, key: &PodKey) -> Option<Arc<PersistentVolumeClaim>> {
        self.claims.remove(key)
    }

    /// Stores a class.
    pub fn put_class(&mut self, class: Arc<StorageClass>) {
        self.classes.insert(class.metadata.name.clone(), class);
    }

    /// Stores an attachment.
    pub fn put_attachment(&mut self, attachment: Arc<VolumeAttachment>) {
        let volume = attachment.spec.source.persistent_volume_name.clone();
        let node = NodeName::from(attachment.spec.node_name.as_str());
        self.attachments.insert((volume, node), attachment);
    }

    /// Removes an attachment; returns whether it existed.
    pub fn remove_attachment(&mut self, volume: &str, node: &NodeName) -> bool {
        let key = (volume.to_string(), node.clone());
        self.in_use.remove(&(node.clone(), volume.to_string()));
        self.attachments.remove(&key).is_some()
    }

    /// Records a kubelet's report on a mounted volume; returns whether it is new.
    pub fn set_in_use(&mut self, volume: &str, node: &NodeName, mounted: bool) -> bool {
        let key = (node.clone(), volume.to_string());
        if mounted { self.in_use.insert(key) } else { self.in_use.remove(&key) }
    }
}
