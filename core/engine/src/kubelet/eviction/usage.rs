//! What a simulated node has and what is used of it, as the user gives it: amounts and curves.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use taintlab_rules::api::{Quantity, is_default};
use taintlab_rules::time::Span;

use super::curve::UsageCurve;
use super::signal::Signal;

/// What a node has. What is not said is not watched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct NodeCapacity {
    /// Memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Quantity>,
    /// Memory of the cgroup of all pods; all of it if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocatable_memory: Option<Quantity>,
    /// The kubelet's file system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodefs: Option<Quantity>,
    /// Inodes of the kubelet's file system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodefs_inodes: Option<Quantity>,
    /// The file system of images, if they have one of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imagefs: Option<Quantity>,
    /// Inodes of the file system of images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imagefs_inodes: Option<Quantity>,
    /// Process IDs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pids: Option<Quantity>,
}

/// What is used of a node besides its pods, over the time since the scenario began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct SystemUsage {
    /// Memory of the system and the kubelet.
    #[serde(skip_serializing_if = "is_default")]
    pub memory: UsageCurve,
    /// Space on the kubelet's file system.
    #[serde(skip_serializing_if = "is_default")]
    pub nodefs: UsageCurve,
    /// Inodes on the kubelet's file system.
    #[serde(skip_serializing_if = "is_default")]
    pub nodefs_inodes: UsageCurve,
    /// Space of the images that are in use.
    #[serde(skip_serializing_if = "is_default")]
    pub images: UsageCurve,
    /// Inodes of the images that are in use.
    #[serde(skip_serializing_if = "is_default")]
    pub images_inodes: UsageCurve,
    /// Processes.
    #[serde(skip_serializing_if = "is_default")]
    pub processes: UsageCurve,
}

/// What takes space and is used by nobody, until the kubelet deletes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Unused {
    /// Space.
    #[serde(skip_serializing_if = "is_default")]
    pub bytes: Quantity,
    /// Inodes.
    #[serde(skip_serializing_if = "is_default")]
    pub inodes: Quantity,
}

/// What a pod uses, over the time since it started: the same again wherever it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct PodUsage {
    /// By container.
    pub containers: Vec<ContainerUsage>,
    /// By volume.
    pub volumes: Vec<VolumeUsage>,
    /// How long its containers take to end when the kubelet evicts it; unless given, all of the
    /// grace period that it gets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kill_takes: Option<Span>,
}

/// What a node has only so much of, as a user loads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub enum NodeResource {
    /// Memory.
    Memory,
    /// Space on the kubelet's file system.
    Nodefs,
    /// Inodes on the kubelet's file system.
    NodefsInodes,
    /// Space of images.
    Images,
    /// Inodes of images.
    ImagesInodes,
    /// Processes.
    Processes,
}

impl NodeResource {
    /// The signal that watches it.
    #[must_use]
    pub const fn signal(self) -> Signal {
        match self {
            Self::Memory => Signal::MemoryAvailable,
            Self::Nodefs => Signal::NodeFsAvailable,
            Self::NodefsInodes => Signal::NodeFsInodesFree,
            Self::Images => Signal::ImageFsAvailable,
            Self::ImagesInodes => Signal::ImageFsInodesFree,
            Self::Processes => Signal::PidAvailable,
        }
    }
}

/// What a container uses, as a user loads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub enum PodResource {
    /// Memory (the working set).
    Memory,
    /// Space of its writable layer.
    Rootfs,
    /// Inodes of its writable layer.
    RootfsInodes,
    /// Space of its logs.
    Logs,
    /// Inodes of its logs.
    LogsInodes,
    /// Processes.
    Processes,
}

impl SystemUsage {
    /// The curve of a resource.
    pub const fn curve_mut(&mut self, resource: NodeResource) -> &mut UsageCurve {
        match resource {
            NodeResource::Memory => &mut self.memory,
            NodeResource::Nodefs => &mut self.nodefs,
            NodeResource::NodefsInodes => &mut self.nodefs_inodes,
            NodeResource::Images => &mut self.images,
            NodeResource::ImagesInodes => &mut self.images_inodes,
            NodeResource::Processes => &mut self.processes,
        }
    }

    /// What is wrong with a curve, if something is.
    ///
    /// # Errors
    /// Says where, what, and what would be valid.
    pub fn validate(&self) -> Result<(), String> {
        let curves = [
            ("memory", &self.memory),
            ("nodefs", &self.nodefs),
            ("nodefsInodes", &self.nodefs_inodes),
            ("images", &self.images),
            ("imagesInodes", &self.images_inodes),
            ("processes", &self.processes),
        ];
        curves.into_iter().try_for_each(|(name, curve)| {
            curve.validate().map_err(|error| format!("{name}: {error}"))
        })
    }
}

/// What a container uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ContainerUsage {
    /// Its name.
    pub name: String,
    /// Memory (the working set).
    #[serde(skip_serializing_if = "is_default")]
    pub memory: UsageCurve,
    /// Space of its writable layer.
    #[serde(skip_serializing_if = "is_default")]
    pub rootfs: UsageCurve,
    /// Inodes of its writable layer.
    #[serde(skip_serializing_if = "is_default")]
    pub rootfs_inodes: UsageCurve,
    /// Space of its logs.
    #[serde(skip_serializing_if = "is_default")]
    pub logs: UsageCurve,
    /// Inodes of its logs.
    #[serde(skip_serializing_if = "is_default")]
    pub logs_inodes: UsageCurve,
    /// Processes.
    #[serde(skip_serializing_if = "is_default")]
    pub processes: UsageCurve,
}

/// What is in a volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct VolumeUsage {
    /// Its name.
    pub name: String,
    /// Space.
    #[serde(skip_serializing_if = "is_default")]
    pub bytes: UsageCurve,
    /// Inodes.
    #[serde(skip_serializing_if = "is_default")]
    pub inodes: UsageCurve,
}

impl PodUsage {
    /// What is wrong with a curve, if something is.
    ///
    /// # Errors
    /// Says where, what, and what would be valid.
    pub fn validate(&self) -> Result<(), String> {
        let check = |what: &str, name: &str, field: &str, curve: &UsageCurve| {
            curve.validate().map_err(|error| format!("{what} `{name}`, {field}: {error}"))
        };
        for container in &self.containers {
            for (field, curve) in container.curves() {
                check("container", &container.name, field, curve)?;
            }
        }
        for volume in &self.volumes {
            check("volume", &volume.name, "bytes", &volume.bytes)?;
            check("volume", &volume.name, "inodes", &volume.inodes)?;
        }
        Ok(())
    }
}

impl ContainerUsage {
    /// The curve of a resource.
    pub const fn curve_mut(&mut self, resource: PodResource) -> &mut UsageCurve {
        match resource {
            PodResource::Memory => &mut self.memory,
            PodResource::Rootfs => &mut self.rootfs,
            PodResource::RootfsInodes => &mut self.rootfs_inodes,
            PodResource::Logs => &mut self.logs,
            PodResource::LogsInodes => &mut self.logs_inodes,
            PodResource::Processes => &mut self.processes,
        }
    }

    const fn curves(&self) -> [(&'static str, &UsageCurve); 6] {
        [
            ("memory", &self.memory),
            ("rootfs", &self.rootfs),
            ("rootfsInodes", &self.rootfs_inodes),
            ("logs", &self.logs),
            ("logsInodes", &self.logs_inodes),
            ("processes", &self.processes),
        ]
    }
}
