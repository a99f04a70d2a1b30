//! What is measured on a node: the kubelet's summary, as far as eviction reads it.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use taintlab_rules::api::PodKey;
use taintlab_rules::time::Timestamp;

/// What is measured on a node at one moment. Mirrors `stats/v1alpha1.Summary`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Summary {
    /// The node as a whole.
    pub node: NodeStats,
    /// Its pods, in any order.
    pub pods: Vec<PodStats>,
}

/// The node as a whole. A figure that is missing is not watched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeStats {
    /// Memory.
    pub memory: Option<MemoryStats>,
    /// Memory of the cgroup of all pods (the system container `pods`).
    pub pods_memory: Option<MemoryStats>,
    /// The kubelet's file system.
    pub fs: Option<FsStats>,
    /// The container runtime's file system of images.
    pub image_fs: Option<FsStats>,
    /// The container runtime's file system of writable layers.
    pub container_fs: Option<FsStats>,
    /// Process IDs.
    pub rlimit: Option<RlimitStats>,
}

/// Memory, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MemoryStats {
    /// When it was measured.
    pub time: Option<Timestamp>,
    /// What is left.
    pub available_bytes: Option<u64>,
    /// What is used, with caches.
    pub usage_bytes: Option<u64>,
    /// What is used and cannot be taken back at once.
    pub working_set_bytes: Option<u64>,
}

/// A file system, or what is used of one; in bytes and inodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FsStats {
    /// When it was measured.
    pub time: Option<Timestamp>,
    /// What is left.
    pub available_bytes: Option<u64>,
    /// What there is altogether.
    pub capacity_bytes: Option<u64>,
    /// What is used.
    pub used_bytes: Option<u64>,
    /// Inodes left.
    pub inodes_free: Option<u64>,
    /// Inodes altogether.
    pub inodes: Option<u64>,
    /// Inodes used.
    pub inodes_used: Option<u64>,
}

/// Process IDs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RlimitStats {
    /// When it was measured.
    pub time: Option<Timestamp>,
    /// How many there are altogether.
    #[serde(rename = "maxpid")]
    pub max_pid: Option<i64>,
    /// How many are used.
    #[serde(rename = "curproc")]
    pub running_processes: Option<i64>,
}

/// A pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodStats {
    /// Namespace and name.
    pub pod: PodKey,
    /// The UID; a pod with another one has no stats yet.
    #[serde(default)]
    pub uid: String,
    /// Its containers.
    #[serde(default)]
    pub containers: Vec<ContainerStats>,
    /// Its memory.
    #[serde(default)]
    pub memory: Option<MemoryStats>,
    /// Its volumes.
    #[serde(default)]
    pub volumes: Vec<VolumeStats>,
    /// What it uses of local storage altogether: containers, local volumes, logs.
    #[serde(default)]
    pub ephemeral_storage: Option<FsStats>,
    /// How many processes it has.
    #[serde(default)]
    pub process_count: Option<u64>,
}

/// A container.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerStats {
    /// Its name.
    pub name: String,
    /// Its memory.
    pub memory: Option<MemoryStats>,
    /// Its writable layer.
    pub rootfs: Option<FsStats>,
    /// Its logs.
    pub logs: Option<FsStats>,
}

/// A volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VolumeStats {
    /// Its name.
    pub name: String,
    /// What is used of it.
    pub fs: FsStats,
}

impl MemoryStats {
    /// The working set, zero if it is missing. Mirrors `memoryUsage`.
    pub(super) fn working_set(stats: Option<&Self>) -> i64 {
        to_int64(stats.and_then(|stats| stats.working_set_bytes).unwrap_or_default())
    }
}

impl FsStats {
    /// What is used, zero if that is missing. Mirrors `diskUsage` and `inodeUsage`.
    pub(super) fn used(stats: Option<&Self>, inodes: bool) -> i64 {
        let used = stats.and_then(|s| if inodes { s.inodes_used } else { s.used_bytes });
        to_int64(used.unwrap_or_default())
    }
}

/// As Go's conversion does: what does not fit wraps.
pub(super) const fn to_int64(value: u64) -> i64 {
    value.cast_signed()
}
