//! Objects of `resource.k8s.io`: what the API server fills in, and what it refuses.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde_json::{Value, json};
use taintlab_rules::api::{DeviceKind, DeviceObject, Fields, Pod, PodKey, RuleCondition};
use taintlab_rules::policy::devices::validate_device_object;

use super::{ApiServer, ConfigError, Write, keep_identity};
use crate::command::CommandError;

impl ApiServer {
    /// Begins with these objects.
    pub(crate) fn bootstrap_devices(
        &mut self,
        objects: Vec<DeviceObject>,
    ) -> Result<(), ConfigError> {
        for mut object in objects {
            let name =
                |object: &DeviceObject| format!("{} \"{}\"", object.kind, object.metadata.name);
            let wrong = |object: &DeviceObject, error: String| {
                ConfigError::Object(format!("{}: {error}", name(object)))
            };
            object.check().map_err(|error| wrong(&object, error.to_string()))?;
            self.complete_device_object(&mut object);
            if object.generation() == 0 {
                object.metadata.other.set("generation", 1.into());
            }
            self.default_uid(&mut object.metadata);
            let put = self.cluster.devices_mut().put(Arc::new(object.clone()));
            put.map_err(|error| wrong(&object, error.to_string()))?;
        }
        Ok(())
    }

    /// Sets `timeAdded` of taints, in whole seconds, as the API server does. Without the gate
    /// `DRADeviceTaints` it removes the taints of devices. Mirrors `SetDefaults_DeviceTaint` and
    /// `dropDisabledFields`.
    fn complete_device_object(&self, object: &mut DeviceObject) {
        if object.kind.is_namespaced() && object.metadata.namespace.is_empty() {
            object.metadata.namespace = "default".into();
        }
        let has_taints = self.gates.has_device_taints();
        let now = json!(self.wall_clock(self.now).truncated_to_seconds());
        let complete = |taint: &mut Value| {
            if let Value::Object(taint) = taint
                && taint.get("timeAdded").is_none_or(Value::is_null)
            {
                taint.insert("timeAdded".into(), now.clone());
            }
        };
        match object.kind {
            DeviceKind::DeviceTaintRule => change(&mut object.spec, "taint", complete),
            DeviceKind::ResourceSlice => change(&mut object.spec, "devices", |devices| {
                for device in devices.as_array_mut().into_iter().flatten() {
                    let in_basic = device.get("basic").is_some();
                    let place = if in_basic { device.get_mut("basic") } else { Some(device) };
                    let Some(Value::Object(device)) = place else { continue };
                    if !has_taints {
                        device.remove("taints");
                    }
                    let taints = device.get_mut("taints").and_then(Value::as_array_mut);
                    taints.into_iter().flatten().for_each(complete);
                }
            }),
            DeviceKind::DeviceClass
            | DeviceKind::ResourceClaim
            | DeviceKind::ResourceClaimTemplate
            | DeviceKind::Empty
            | DeviceKind::Other(_) => {}
        }
    }

    pub(crate) fn create_device_object(
        &mut self,
        mut object: DeviceObject,
    ) -> Result<Write, CommandError> {
        let key = object.key();
        if self.device_object(&object.kind, &key).is_some() {
            return Err(CommandError::DeviceObjectAlreadyExists(object.kind, key));
        }
        if object.kind == DeviceKind::DeviceTaintRule {
            object.status = Fields::default();
        }
        self.complete_device_object(&mut object);
        self.check_device_object(&object)?;
        self.default_metadata(&mut object.metadata);
        object.metadata.other.set("generation", 1.into());
        Ok(Write::PutDeviceObject(Box::new(object)))
    }

    /// Mirrors `deviceTaintRuleStrategy.PrepareForUpdate`: where the effect changes, the taint is a
    /// new one.
    pub(crate) fn update_device_object(
        &self,
        mut object: DeviceObject,
    ) -> Result<Write, CommandError> {
        let key = object.key();
        let Some(old) = self.device_object(&object.kind, &key) else {
            return Err(CommandError::DeviceObjectNotFound(object.kind, key));
        };
        if object.kind == DeviceKind::DeviceTaintRule {
            object.status = old.status.clone();
            let field = |spec: &Fields, name: &str| spec.get("taint")?.get(name).cloned();
            let (effect, time) = ("effect", "timeAdded");
            if field(&object.spec, effect) != field(&old.spec, effect)
                && field(&object.spec, time) == field(&old.spec, time)
            {
                change(&mut object.spec, "taint", |taint| {
                    if let Value::Object(taint) = taint {
                        taint.remove(time);
                    }
                });
            }
        } else if object.status.is_empty() {
            object.status = old.status.clone();
        }
        self.complete_device_object(&mut object);
        self.check_device_object(&object)?;
        keep_identity(&mut object.metadata, &old.metadata);
        let generation = old.generation() + i64::from(old.spec != object.spec);
        object.metadata.other.set("generation", generation.into());
        Ok(Write::PutDeviceObject(Box::new(object)))
    }

    pub(crate) fn delete_device_object(
        &self,
        kind: DeviceKind,
        key: PodKey,
    ) -> Result<Write, CommandError> {
        match self.device_object(&kind, &key) {
            Some(_) => Ok(Write::RemoveDeviceObject(kind, key)),
            None => Err(CommandError::DeviceObjectNotFound(kind, key)),
        }
    }

    /// The controller has written the condition of a rule.
    pub(crate) fn write_rule_status(&self, rule: &str, condition: &RuleCondition) -> Option<Write> {
        let key = PodKey::new("", rule);
        let mut rule = DeviceObject::clone(self.device_object(&DeviceKind::DeviceTaintRule, &key)?);
        rule.status.set("conditions", json!([condition.to_value()]));
        Some(Write::PutDeviceObject(Box::new(rule)))
    }

    /// The controller has made claims for a pod.
    pub(crate) fn set_claim_statuses(&self, key: PodKey, statuses: Value) -> Option<Write> {
        let mut pod = Pod::clone(self.cluster.get_pod(&key)?);
        pod.status.other.set("resourceClaimStatuses", statuses);
        Some(Write::PutPod(key, Box::new(pod)))
    }

    fn device_object(&self, kind: &DeviceKind, key: &PodKey) -> Option<&Arc<DeviceObject>> {
        self.cluster.devices()?.object(kind, key)
    }

    fn check_device_object(&self, object: &DeviceObject) -> Result<(), CommandError> {
        let name = || format!("{} \"{}\"", object.kind, object.metadata.name);
        let not_read = |error: String| CommandError::NotAdmitted { object: name(), reason: error };
        object.check().map_err(|error| not_read(error.to_string()))?;
        self.check(|_| validate_device_object(object), name)
    }
}

/// Changes a field, if it is there.
fn change(fields: &mut Fields, name: &str, change: impl FnOnce(&mut Value)) {
    if let Some(mut value) = fields.get(name).cloned() {
        change(&mut value);
        fields.set(name, value);
    }
}
