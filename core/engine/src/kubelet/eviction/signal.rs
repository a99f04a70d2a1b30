//! The signals that the kubelet monitors, and what it calls them in conditions and messages.

use alloc::format;
use alloc::string::String;
use core::fmt;

use serde::{Serialize, Serializer};
use taintlab_rules::api::{Format, node_condition_type};

use super::version::KubeletVersion;

/// A figure of the node that must not become too low (`evictionapi.Signal`), in the order in which
/// this engine acts on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[cfg_attr(
    feature = "typescript-all",
    tsify(
        type = "\"memory.available\" | \"allocatableMemory.available\" | \"nodefs.available\" | \
            \"nodefs.inodesFree\" | \"imagefs.available\" | \"imagefs.inodesFree\" | \
            \"containerfs.available\" | \"containerfs.inodesFree\" | \"pid.available\""
    )
)]
pub enum Signal {
    /// Memory of the node.
    MemoryAvailable,
    /// Memory of the cgroup of all pods.
    AllocatableMemoryAvailable,
    /// Space on the kubelet's file system.
    NodeFsAvailable,
    /// Inodes on the kubelet's file system.
    NodeFsInodesFree,
    /// Space on the container runtime's file system of images.
    ImageFsAvailable,
    /// Inodes on the container runtime's file system of images.
    ImageFsInodesFree,
    /// Space on the container runtime's file system of writable layers (1.29 and later).
    ContainerFsAvailable,
    /// Inodes on the container runtime's file system of writable layers (1.29 and later).
    ContainerFsInodesFree,
    /// Process IDs.
    PidAvailable,
}

/// A condition of the node that says what it runs out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
pub enum Pressure {
    /// `MemoryPressure`.
    #[serde(rename = "MemoryPressure")]
    Memory,
    /// `DiskPressure`.
    #[serde(rename = "DiskPressure")]
    Disk,
    /// `PIDPressure`.
    #[serde(rename = "PIDPressure")]
    Pid,
}

impl Pressure {
    /// All of them, in the order in which the kubelet posts them.
    pub const ALL: [Self; 3] = [Self::Memory, Self::Disk, Self::Pid];

    /// The type of the node condition.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => node_condition_type::MEMORY_PRESSURE,
            Self::Disk => node_condition_type::DISK_PRESSURE,
            Self::Pid => node_condition_type::PID_PRESSURE,
        }
    }
}

impl Signal {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::MemoryAvailable,
        Self::AllocatableMemoryAvailable,
        Self::NodeFsAvailable,
        Self::NodeFsInodesFree,
        Self::ImageFsAvailable,
        Self::ImageFsInodesFree,
        Self::ContainerFsAvailable,
        Self::ContainerFsInodesFree,
        Self::PidAvailable,
    ];

    /// The name, as in `--eviction-hard`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MemoryAvailable => "memory.available",
            Self::AllocatableMemoryAvailable => "allocatableMemory.available",
            Self::NodeFsAvailable => "nodefs.available",
            Self::NodeFsInodesFree => "nodefs.inodesFree",
            Self::ImageFsAvailable => "imagefs.available",
            Self::ImageFsInodesFree => "imagefs.inodesFree",
            Self::ContainerFsAvailable => "containerfs.available",
            Self::ContainerFsInodesFree => "containerfs.inodesFree",
            Self::PidAvailable => "pid.available",
        }
    }

    /// Whether a kubelet knows the signal.
    #[must_use]
    pub fn exists(self, version: KubeletVersion) -> bool {
        match self {
            Self::AllocatableMemoryAvailable | Self::PidAvailable => !version.is_qos_era(),
            Self::ContainerFsAvailable | Self::ContainerFsInodesFree => {
                version.rule(false, |release| release.has_containerfs_signals())
            }
            _ => true,
        }
    }

    /// Reads a name.
    ///
    /// # Errors
    /// The kubelet's words.
    pub fn parse(version: KubeletVersion, name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|signal| signal.name() == name);
        found
            .filter(|signal| signal.exists(version))
            .ok_or_else(|| format!("unsupported eviction signal {name}"))
    }

    /// What runs out, as messages call it. Mirrors `signalToResource`.
    #[must_use]
    pub const fn resource(self, version: KubeletVersion) -> &'static str {
        match (self, version.is_qos_era()) {
            (Self::MemoryAvailable | Self::AllocatableMemoryAvailable, _) => "memory",
            (Self::PidAvailable, _) => "pids",
            (Self::NodeFsAvailable, true) => "nodefs",
            (Self::NodeFsInodesFree, true) => "nodefsInodes",
            (Self::ImageFsAvailable, true) => "imagefs",
            (Self::ImageFsInodesFree, true) => "imagefsInodes",
            (Self::NodeFsAvailable | Self::ImageFsAvailable | Self::ContainerFsAvailable, _) => {
                "ephemeral-storage"
            }
            (Self::NodeFsInodesFree | Self::ImageFsInodesFree | Self::ContainerFsInodesFree, _) => {
                "inodes"
            }
        }
    }

    /// The condition that the node gets. Mirrors `signalToNodeCondition`.
    #[must_use]
    pub const fn pressure(self) -> Pressure {
        match self {
            Self::MemoryAvailable | Self::AllocatableMemoryAvailable => Pressure::Memory,
            Self::PidAvailable => Pressure::Pid,
            _ => Pressure::Disk,
        }
    }

    /// Whether the figure counts inodes.
    #[must_use]
    pub const fn is_inodes(self) -> bool {
        matches!(
            self,
            Self::NodeFsInodesFree | Self::ImageFsInodesFree | Self::ContainerFsInodesFree
        )
    }

    /// How amounts of it are printed.
    pub(super) const fn format(self) -> Format {
        if self.is_inodes() || matches!(self, Self::PidAvailable) {
            Format::DecimalSI
        } else {
            Format::BinarySI
        }
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Signal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> serde::Deserialize<'de> for Signal {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::ALL.into_iter().find(|signal| signal.name() == name).ok_or_else(|| {
            let known: alloc::vec::Vec<&str> = Self::ALL.iter().map(|known| known.name()).collect();
            serde::de::Error::custom(format!(
                "unsupported eviction signal {name}; there are {}",
                known.join(", ")
            ))
        })
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Signal {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "Signal".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "enum": Self::ALL.map(Self::name) })
    }
}

impl fmt::Display for Pressure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where the container runtime keeps images and the writable layers of containers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub enum Layout {
    /// All on the kubelet's file system.
    #[default]
    OneFilesystem,
    /// Both on a file system of their own.
    DedicatedImageFs,
    /// Images on a file system of their own, writable layers on the kubelet's (1.29 and later;
    /// before, the same as a dedicated one).
    SplitImageFs,
}

impl Layout {
    /// Whether images have a file system of their own (`dedicatedImageFs`).
    #[must_use]
    pub const fn has_image_fs(self) -> bool {
        !matches!(self, Self::OneFilesystem)
    }

    /// What a kubelet makes of it.
    #[must_use]
    pub fn for_version(self, version: KubeletVersion) -> Self {
        if self == Self::SplitImageFs && !Signal::ContainerFsAvailable.exists(version) {
            Self::DedicatedImageFs
        } else {
            self
        }
    }
}
