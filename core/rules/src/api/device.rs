//! Devices that pods claim: the objects of `resource.k8s.io`. Each is kept as it was given, and what
//! the engine reads of it is a view with types.

mod read;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Fields, NodeSelectorTerm, ObjectMeta, Pod, PodKey, Taint, Toleration, is_default, nullable,
    string_enum,
};
use crate::time::Time;

string_enum! {
    /// The kinds of the group `resource.k8s.io` that the engine reads.
    DeviceKind {
        /// Devices by what they have in common.
        DeviceClass = "DeviceClass",
        /// A taint for all devices that it selects.
        DeviceTaintRule = "DeviceTaintRule",
        /// A request for devices, and the devices that it got.
        ResourceClaim = "ResourceClaim",
        /// The claims that are made for pods which name it.
        ResourceClaimTemplate = "ResourceClaimTemplate",
        /// Devices that a driver publishes.
        ResourceSlice = "ResourceSlice",
    }
}

impl DeviceKind {
    /// The API server's name of the resource: `resourceslices`.
    #[must_use]
    pub fn resource(&self) -> &str {
        match self {
            Self::DeviceClass => "deviceclasses",
            Self::DeviceTaintRule => "devicetaintrules",
            Self::ResourceClaim => "resourceclaims",
            Self::ResourceClaimTemplate => "resourceclaimtemplates",
            Self::ResourceSlice => "resourceslices",
            Self::Empty | Self::Other(_) => self.as_str(),
        }
    }

    /// Whether objects of this kind have a namespace.
    #[must_use]
    pub fn is_namespaced(&self) -> bool {
        matches!(self, Self::ResourceClaim | Self::ResourceClaimTemplate)
    }
}

/// An object of the group `resource.k8s.io`, as it was given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default)]
pub struct DeviceObject {
    /// For example `resource.k8s.io/v1`.
    pub api_version: String,
    /// Its kind.
    pub kind: DeviceKind,
    /// Name, namespace, owners and so on.
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    /// The request, or the devices that there are.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "typescript-all", tsify(type = "Record<string, unknown>"))]
    pub spec: Fields,
    /// The observed state: the devices of a claim, the condition of a rule.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "typescript-all", tsify(type = "Record<string, unknown>"))]
    pub status: Fields,
}

impl DeviceObject {
    /// Namespace and name. The namespace says nothing if objects of the kind have none.
    #[must_use]
    pub fn key(&self) -> PodKey {
        let namespace = if self.kind.is_namespaced() { &*self.metadata.namespace } else { "" };
        PodKey::new(namespace, &self.metadata.name)
    }
}

/// `resource/v1` `ResourceSlice`: devices of a pool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceSlice {
    /// Its name.
    pub name: String,
    /// Its UID.
    pub uid: String,
    /// The driver that publishes it.
    pub driver: String,
    /// The pool of its devices.
    pub pool: String,
    /// The generation of the pool; slices of lower ones are outdated.
    pub generation: i64,
    /// Number of slices of the pool in this generation; 0 if the slice does not say.
    pub slice_count: i64,
    /// The node of its devices, or empty.
    pub node_name: String,
    /// Whether all nodes reach its devices.
    pub all_nodes: bool,
    /// The nodes that reach its devices, if a selector says so.
    pub node_selector: Vec<NodeSelectorTerm>,
    /// Its devices, in order.
    pub devices: Vec<Device>,
}

/// `resource/v1` `Device`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// Its name in the pool.
    pub name: String,
    /// Its taints, in order.
    pub taints: Vec<Taint>,
}

/// `resource/v1` `ResourceClaim`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceClaim {
    /// Namespace and name.
    pub key: PodKey,
    /// Its UID.
    pub uid: String,
    /// The UID of the object that controls it: of a pod, if it was made from a template.
    pub controller: Option<String>,
    /// Its requests, in order.
    pub requests: Vec<DeviceRequest>,
    /// The devices that it has, if it has any.
    pub allocation: Option<Vec<AllocatedDevice>>,
    /// The nodes that reach these devices; without terms, all nodes.
    pub node_selector: Vec<NodeSelectorTerm>,
    /// Who may use it.
    pub reserved_for: Vec<ClaimConsumer>,
}

/// `resource/v1` `DeviceRequest`: one of several alternatives, the first that can be had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceRequest {
    /// Its name in the claim.
    pub name: String,
    /// The alternatives; one without a name if it is `exactly` that.
    pub alternatives: Vec<DeviceSubRequest>,
}

/// `resource/v1` `ExactDeviceRequest` or `DeviceSubRequest`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceSubRequest {
    /// The name of an alternative.
    pub name: String,
    /// The class of the devices.
    pub class: String,
    /// Number of devices; `None` is all that the node has.
    pub count: Option<i64>,
    /// The taints that it tolerates.
    pub tolerations: Vec<Toleration>,
}

/// `resource/v1` `DeviceRequestAllocationResult`: a device of a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllocatedDevice {
    /// The driver of the device.
    pub driver: String,
    /// Its pool.
    pub pool: String,
    /// Its name.
    pub device: String,
    /// The tolerations of the request, as they were when the device was allocated.
    pub tolerations: Vec<Toleration>,
}

/// `driver/pool/name`.
impl fmt::Display for AllocatedDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.driver, self.pool, self.device)
    }
}

/// `resource/v1` `ResourceClaimConsumerReference`: who may use a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimConsumer {
    /// Whether it is a pod.
    pub is_pod: bool,
    /// Its name.
    pub name: String,
    /// Its UID.
    pub uid: String,
}

/// `resource/v1beta2` `DeviceTaintRule`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceTaintRule {
    /// Its name.
    pub name: String,
    /// Its UID.
    pub uid: String,
    /// Counts the changes of its `spec`, from 1.
    pub generation: i64,
    /// The devices that it taints, if it names any.
    pub selector: Option<DeviceSelector>,
    /// Their taint.
    pub taint: Taint,
    /// The condition `EvictionInProgress`.
    pub condition: Option<RuleCondition>,
}

/// `resource/v1beta2` `DeviceTaintSelector`: what is given must be equal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceSelector {
    /// The driver of the device.
    pub driver: Option<String>,
    /// Its pool.
    pub pool: Option<String>,
    /// Its name.
    pub device: Option<String>,
}

impl DeviceSelector {
    /// Whether it selects a device.
    #[must_use]
    pub fn selects(&self, driver: &str, pool: &str, device: &str) -> bool {
        let fits = |wanted: &Option<String>, is: &str| wanted.as_ref().is_none_or(|it| it == is);
        fits(&self.driver, driver) && fits(&self.pool, pool) && fits(&self.device, device)
    }
}

/// The condition `EvictionInProgress` of a rule (`metav1.Condition`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleCondition {
    /// `True` while pods are to be evicted.
    pub status: bool,
    /// Why, in one word.
    pub reason: String,
    /// Why, in sentences.
    pub message: String,
    /// The generation of the rule that it is about.
    pub observed_generation: i64,
    /// The time at which any part of it changed last.
    pub last_transition_time: Time,
}

impl RuleCondition {
    /// Its type. Mirrors `DeviceTaintConditionEvictionInProgress`.
    pub const TYPE: &'static str = "EvictionInProgress";

    /// Its JSON form.
    #[must_use]
    pub fn to_value(&self) -> Value {
        serde_json::json!({
            "type": Self::TYPE,
            "status": if self.status { "True" } else { "False" },
            "reason": self.reason,
            "message": self.message,
            "observedGeneration": self.observed_generation,
            "lastTransitionTime": self.last_transition_time,
        })
    }
}

/// A claim that a pod uses (`v1.PodResourceClaim`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodResourceClaim {
    /// Its name in the pod.
    pub name: String,
    /// Namespace and name of the claim, once it is known.
    pub claim: Option<PodKey>,
    /// The template that the claim is made from.
    pub template: Option<String>,
}

/// The claims that a pod uses. One from a template has its claim when
/// `status.resourceClaimStatuses` names it. Mirrors `resourceclaim.Name`.
#[must_use]
pub fn pod_resource_claims(pod: &Pod) -> Vec<PodResourceClaim> {
    let given = pod.spec.other.get("resourceClaims").and_then(Value::as_array);
    let text = |value: &Value, name: &str| Some(value.get(name)?.as_str()?.into());
    let claim = |given: &Value| {
        let name: String = text(given, "name")?;
        let template: Option<String> = text(given, "resourceClaimTemplateName");
        let claim: Option<String> = match &template {
            None => text(given, "resourceClaimName"),
            Some(_) => {
                let statuses = claim_statuses(pod).and_then(Value::as_array);
                let mut statuses = statuses.into_iter().flatten();
                let status = statuses.find(|it| it.get("name") == given.get("name"));
                status.and_then(|status| text(status, "resourceClaimName"))
            }
        };
        let claim = claim.map(|claim| PodKey::new(&pod.metadata.namespace, &claim));
        Some(PodResourceClaim { name, claim, template })
    };
    given.into_iter().flatten().filter_map(claim).collect()
}

/// `status.resourceClaimStatuses` of a pod: the claims that were made from templates.
#[must_use]
pub fn claim_statuses(pod: &Pod) -> Option<&Value> {
    pod.status.other.get("resourceClaimStatuses")
}
