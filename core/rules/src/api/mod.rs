//! Kubernetes' objects, with its own names and JSON field names.
//!
//! Fields the engine reads are typed; every other field is kept in [`Fields`], so that what a user
//! imported is there again on export. A `null` means the same as an absent field, as in
//! Kubernetes.

mod cron_job;
mod defaults;
mod device;
mod fields;
mod keys;
mod lease;
mod meta;
mod names;
mod node;
mod pod;
mod priority_class;
mod quantity;
mod requests;
mod resources;
mod scheduling;
mod shared;
mod start_up_time;
mod taint;
mod toleration;
mod volume;
mod workload;
mod workload_status;

pub use cron_job::{CronJob, CronJobSpec, JobTemplate};
pub use defaults::default_host_ports;
pub use defaults::{default_claim, default_persistent_volume, default_pod, default_storage_class};
pub use device::{
    AllocatedDevice, ClaimConsumer, Device, DeviceKind, DeviceObject, DeviceRequest,
    DeviceSelector, DeviceSubRequest, DeviceTaintRule, PodResourceClaim, ResourceClaim,
    ResourceSlice, RuleCondition, claim_statuses, pod_resource_claims,
};
pub use fields::{
    ApiVersion, Fields, Kind, NoOtherFields, NodeSpecFields, NodeStatusFields, ObjectMetaFields,
    OwnerReferenceFields, PodConditionFields, PodSpecFields, PodStatusFields, TypeName,
    WorkloadFields, WorkloadSpecFields, json_value, object,
};
pub use keys::{NodeName, PodKey};
pub use lease::{Lease, LeaseKind, LeaseSpec};
pub use meta::{ObjectMeta, OwnerReference};
pub(crate) use names::in_bytes;
pub use names::{
    is_dns1123_label, is_dns1123_subdomain, is_qualified_name, is_valid_label_value, label_words,
    validate_namespace_name, validate_node_name, validate_pod_name,
};
pub use node::{
    ConditionStatus, Node, NodeCondition, NodeKind, NodeSpec, NodeStatus, node_condition_type,
};
pub use pod::{
    ContainerRestarts, MIRROR_ANNOTATION, Pod, PodCondition, PodKind, PodPhase, PodSpec, PodStatus,
};
pub use priority_class::{PriorityClass, PriorityClassKind, SYSTEM_CRITICAL_PRIORITY};
pub use quantity::{Format, Quantity, QuantityError};
pub use requests::{
    Amounts, container_requests, extended_resources, node_allocatable, overhead_cpu, pod_requests,
};
pub use resources::{
    ContainerResources, PodResources, QosClass, ResourceError, Resources, Volume, VolumeSource,
};
pub use scheduling::{
    ALL_ADDRESSES, HostPort, LabelSelector, NodeSelectorTerm, PodAffinity, PodAffinityTerm,
    Requirement, SchedulingFields, SelectorOperator, TopologySpread, Weighted, WhenUnsatisfiable,
    claim_names, container_images,
};
pub use shared::{Collection, CopyOnWrite, Labels, Shared, SharedPool};
pub use taint::{Taint, TaintEffect, well_known};
pub use toleration::{Toleration, TolerationOperator};
pub use volume::{
    ClaimReference, PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimKind,
    PersistentVolumeClaimSpec, PersistentVolumeKind, PersistentVolumeSpec, StorageClass,
    StorageClassKind, TopologySelectorRequirement, TopologySelectorTerm, VolumeAttachment,
    VolumeAttachmentKind, VolumeAttachmentSource, VolumeAttachmentSpec, VolumeAttachmentStatus,
    VolumeStatus, pod_claims,
};
pub use workload::{
    IntOrPercent, MAX_REPLICAS, PodDisruptionBudget, PodDisruptionBudgetKind,
    PodDisruptionBudgetSpec, PodTemplate, RUN_TIME_ANNOTATION, SHUTDOWN_TIME_ANNOTATION,
    START_UP_TIME_ANNOTATION, TIME_ANNOTATIONS, Workload, WorkloadKey, WorkloadKind, WorkloadSpec,
};
pub use workload_status::{
    BudgetStatus, DaemonSetStatus, DeploymentStatus, JobStatus, ReplicaSetStatus,
    StatefulSetStatus, StatusOfWorkload, WorkloadCondition, WorkloadStatus,
};

pub use fields::{is_default, nullable};
pub use start_up_time::duration_of;

/// An open set of strings, as Kubernetes' API types are: the known values are variants, the empty
/// string is `Empty`, and anything else is kept as `Other`.
macro_rules! string_enum {
    ($(#[$meta:meta])* $name:ident {
        $($(#[$vmeta:meta])* $variant:ident = $text:literal),+ $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
        pub enum $name {
            /// The empty string, also when the field is absent.
            #[default]
            #[cfg_attr(feature = "typescript", serde(rename = ""))]
            Empty,
            $($(#[$vmeta])* #[cfg_attr(feature = "typescript", serde(rename = $text))] $variant,)+
            /// A value that Kubernetes does not know.
            // TypeScript is told of the known values alone, which is what editors propose.
            #[cfg_attr(feature = "typescript", serde(skip))]
            Other(alloc::boxed::Box<str>),
        }

        impl $name {
            /// The values Kubernetes knows, in its own order.
            pub const KNOWN: &'static [Self] = &[$(Self::$variant),+];

            /// The text of this value.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    Self::Empty => "",
                    $(Self::$variant => $text,)+
                    Self::Other(text) => text,
                }
            }

            /// Whether the text is empty.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                *self == Self::Empty
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                match text {
                    "" => Self::Empty,
                    $($text => Self::$variant,)+
                    other => Self::Other(other.into()),
                }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl serde::de::Visitor<'_> for Visitor {
                    type Value = $name;
                    fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                        f.write_str("a string")
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        Ok(text.into())
                    }
                }
                deserializer.deserialize_str(Visitor)
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> alloc::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "enum": ["", $($text),+] })
            }
        }
    };
}
pub(crate) use string_enum;
