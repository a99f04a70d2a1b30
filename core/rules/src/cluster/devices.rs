//! Devices, the claims for them, and the rules that taint them.

use alloc::string::String;
use alloc::sync::Arc;

use super::DeviceChange;
use crate::api::{
    DeviceKind, DeviceObject, DeviceTaintRule, PodKey, ResourceClaim, ResourceError, ResourceSlice,
};
use crate::order::OrderedMap;

/// The objects of `resource.k8s.io`, as they were given and as the engine reads them.
#[derive(Clone, Debug, Default)]
pub struct Devices {
    objects: OrderedMap<(DeviceKind, PodKey), Arc<DeviceObject>>,
    slices: OrderedMap<String, Arc<ResourceSlice>>,
    claims: OrderedMap<PodKey, Arc<ResourceClaim>>,
    rules: OrderedMap<String, Arc<DeviceTaintRule>>,
}

impl Devices {
    /// All objects, by kind, namespace and name.
    pub fn objects(&self) -> impl Iterator<Item = &Arc<DeviceObject>> {
        self.objects.values()
    }

    /// The object of that kind, namespace and name.
    #[must_use]
    pub fn object(&self, kind: &DeviceKind, key: &PodKey) -> Option<&Arc<DeviceObject>> {
        self.objects.get(&(kind.clone(), key.clone()))
    }

    /// All slices, by name.
    pub fn slices(&self) -> impl Iterator<Item = &Arc<ResourceSlice>> {
        self.slices.values()
    }

    /// All claims, by namespace and name.
    pub fn claims(&self) -> impl Iterator<Item = &Arc<ResourceClaim>> {
        self.claims.values()
    }

    /// The claim of that namespace and name.
    #[must_use]
    pub fn claim(&self, key: &PodKey) -> Option<&Arc<ResourceClaim>> {
        self.claims.get(key)
    }

    /// All rules, by name.
    pub fn rules(&self) -> impl Iterator<Item = &Arc<DeviceTaintRule>> {
        self.rules.values()
    }

    /// The rule of that name.
    #[must_use]
    pub fn rule(&self, name: &str) -> Option<&Arc<DeviceTaintRule>> {
        self.rules.get(name)
    }

    /// Stores an object in the place of the one of its name.
    ///
    /// # Errors
    /// Names the field that cannot be read; then nothing has changed.
    pub fn put(&mut self, object: Arc<DeviceObject>) -> Result<DeviceChange, ResourceError> {
        let (key, name) = (object.key(), object.metadata.name.clone());
        let change = match object.kind {
            DeviceKind::ResourceSlice => {
                let new = Arc::new(object.resource_slice()?);
                DeviceChange::Slice { old: self.slices.insert(name, new.clone()), new: Some(new) }
            }
            DeviceKind::ResourceClaim => {
                let new = Arc::new(object.resource_claim()?);
                let old = self.claims.insert(key.clone(), new.clone());
                DeviceChange::Claim { old, new: Some(new) }
            }
            DeviceKind::DeviceTaintRule => {
                let new = Arc::new(object.device_taint_rule()?);
                DeviceChange::Rule { old: self.rules.insert(name, new.clone()), new: Some(new) }
            }
            DeviceKind::DeviceClass => DeviceChange::Class { exists: true },
            DeviceKind::ResourceClaimTemplate | DeviceKind::Empty | DeviceKind::Other(_) => {
                DeviceChange::Template
            }
        };
        self.objects.insert((object.kind.clone(), key), object);
        Ok(change)
    }

    /// Removes an object, if it is there.
    pub fn remove(&mut self, kind: &DeviceKind, key: &PodKey) -> Option<DeviceChange> {
        self.objects.remove(&(kind.clone(), key.clone()))?;
        Some(match kind {
            DeviceKind::ResourceSlice => {
                DeviceChange::Slice { old: self.slices.remove(key.name()), new: None }
            }
            DeviceKind::ResourceClaim => {
                DeviceChange::Claim { old: self.claims.remove(key), new: None }
            }
            DeviceKind::DeviceTaintRule => {
                DeviceChange::Rule { old: self.rules.remove(key.name()), new: None }
            }
            DeviceKind::DeviceClass => DeviceChange::Class { exists: false },
            DeviceKind::ResourceClaimTemplate | DeviceKind::Empty | DeviceKind::Other(_) => {
                DeviceChange::Template
            }
        })
    }
}
