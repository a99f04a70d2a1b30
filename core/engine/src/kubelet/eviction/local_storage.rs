//! Limits of local storage: the volumes, containers and pods that use too much disk.

use alloc::format;
use alloc::string::String;
use core::cmp::Ordering;

use taintlab_rules::api::{Format, Quantity, VolumeSource};
use taintlab_rules::quote::go_quote;

use super::pod::KubeletPod;
use super::signal::Layout;
use super::stats::{FsStats, PodStats};
use super::version::KubeletVersion;

/// Says which limit a pod exceeds first. Mirrors `localStorageEviction`.
pub(super) fn exceeded_limit(
    version: KubeletVersion,
    layout: Layout,
    pod: &KubeletPod,
    stats: &PodStats,
) -> Option<String> {
    empty_dir(pod, stats)
        .or_else(|| whole_pod(version, layout, pod, stats))
        .or_else(|| container(version, layout, pod, stats))
}

fn is_above(usage: i64, limit: &Quantity) -> bool {
    Quantity::new(usage, Format::BinarySI).compare(limit) == Ordering::Greater
}

/// Mirrors `emptyDirLimitEviction`.
fn empty_dir(pod: &KubeletPod, stats: &PodStats) -> Option<String> {
    pod.resources.volumes.iter().find_map(|volume| {
        let VolumeSource::EmptyDir { size_limit: Some(limit), .. } = &volume.source else {
            return None;
        };
        let used = stats.volumes.iter().rfind(|stats| stats.name == volume.name)?;
        used.fs.used_bytes?;
        (limit.sign() > 0 && is_above(FsStats::used(Some(&used.fs), false), limit)).then(|| {
            let (name, limit) = (go_quote(&volume.name), go_quote(&format!("{limit}")));
            format!("Usage of EmptyDir volume {name} exceeds the limit {limit}. ")
        })
    })
}

/// Mirrors `podEphemeralStorageLimitEviction`.
fn whole_pod(
    version: KubeletVersion,
    layout: Layout,
    pod: &KubeletPod,
    stats: &PodStats,
) -> Option<String> {
    let limit = pod.ephemeral_storage_limit.as_ref()?;
    let usage = if version.rule(false, |release| release.measures_pod_ephemeral_storage()) {
        FsStats::used(stats.ephemeral_storage.as_ref(), false)
    } else {
        added_up(layout, pod, stats)
    };
    is_above(usage, limit).then(|| {
        format!("Pod ephemeral local storage usage exceeds the total limit of containers {limit}. ")
    })
}

/// Mirrors `podLocalEphemeralStorageUsage`. The file `/etc/hosts` of a pod, a few hundred bytes, is
/// not counted.
fn added_up(layout: Layout, pod: &KubeletPod, stats: &PodStats) -> i64 {
    let containers = stats.containers.iter();
    let containers = containers.map(|container| container_usage(layout, container));
    let volumes = pod.resources.volumes.iter().filter(|volume| volume.source.is_local_ephemeral());
    let volumes = volumes.map(|volume| {
        let stats = stats.volumes.iter().find(|stats| stats.name == volume.name);
        FsStats::used(stats.map(|stats| &stats.fs), false)
    });
    containers.chain(volumes).fold(0, i64::saturating_add)
}

/// What a container uses of the kubelet's file system.
fn container_usage(layout: Layout, stats: &super::stats::ContainerStats) -> i64 {
    let logs = FsStats::used(stats.logs.as_ref(), false);
    if layout.has_image_fs() {
        logs
    } else {
        logs.saturating_add(FsStats::used(stats.rootfs.as_ref(), false))
    }
}

/// Mirrors `containerEphemeralStorageLimitEviction`.
fn container(
    version: KubeletVersion,
    layout: Layout,
    pod: &KubeletPod,
    stats: &PodStats,
) -> Option<String> {
    let sidecars = version.rule(false, |release| release.limits_ephemeral_storage_of_sidecars());
    let sidecars =
        pod.resources.init_containers.iter().filter(|container| sidecars && container.is_sidecar);
    stats.containers.iter().find_map(|stats| {
        let mut containers = pod.resources.containers.iter().chain(sidecars.clone());
        let container = containers.find(|container| container.name == stats.name)?;
        let limit = container.limits.ephemeral_storage.as_ref()?;
        (limit.value() != 0 && is_above(container_usage(layout, stats), limit)).then(|| {
            let limit = go_quote(&format!("{limit}"));
            let name = &stats.name;
            format!("Container {name} exceeded its local ephemeral storage limit {limit}. ")
        })
    })
}
