//! The order in which pods are evicted.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Ordering;

use serde::Serialize;
use taintlab_rules::api::{Format, Pod, PodKey, QosClass, Quantity};
use taintlab_rules::order::Order;
use taintlab_rules::time::Timestamp;

use super::node_usage::NodeUsage;
use super::pod::{Critical, KubeletPod};
use super::signal::{Layout, Signal};
use super::stats::{FsStats, MemoryStats, PodStats, Summary, to_int64};
use super::usage::PodUsage;
use super::version::KubeletVersion;

/// What two pods are compared by; an earlier key of the list decides before a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub enum RankKey {
    /// BestEffort, then Burstable, then Guaranteed (1.5).
    QosClass,
    /// A pod that uses more than it asked for goes first.
    ExceedsRequest,
    /// A lower priority goes first.
    Priority,
    /// The more above the request, the earlier.
    UsageAboveRequest,
    /// The more is used, the earlier (1.5, disks).
    Usage,
    /// The more processes, the earlier.
    Processes,
}

/// A pod with what it is ranked by.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// Which pod.
    pub pod: PodKey,
    /// Why it is skipped when its turn comes, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critical: Option<Critical>,
    /// Whether there are figures about it; a pod without goes first.
    pub has_stats: bool,
    /// The QoS class.
    pub qos_class: QosClass,
    /// The priority.
    pub priority: i32,
    /// What it uses of the resource: bytes, inodes or processes.
    pub usage: i64,
    /// What it asked for of the resource; for inodes the request of ephemeral storage in bytes,
    /// which is what upstream subtracts.
    #[cfg_attr(feature = "typescript-all", tsify(type = "string"))]
    pub request: Quantity,
    /// Whether it uses more than it asked for; nothing can be asked for of inodes and processes.
    pub exceeds_request: bool,
}

/// The pods in the order in which they would go.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Ranking {
    /// What there is too little of.
    pub signal: Signal,
    /// What they are compared by.
    pub keys: Vec<RankKey>,
    /// The first one goes first.
    pub pods: Vec<RankedPod>,
}

/// A pod in its place.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct RankedPod {
    /// The pod and its keys.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// Which key puts it before the next one; absent for the last one, and for a pod that is equal
    /// to the next one and only happens to be listed earlier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_next_by: Option<RankReason>,
    /// What would put it behind the next one.
    pub behind_next_if: Vec<Change>,
}

/// Why a pod goes before the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[cfg_attr(feature = "typescript-all", tsify(type = "\"missingStats\" | RankKey"))]
#[serde(rename_all = "camelCase")]
pub enum RankReason {
    /// There are no figures about it.
    MissingStats,
    /// A key.
    #[serde(untagged)]
    Key(RankKey),
}

impl RankReason {
    /// Why, as the end of a sentence.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::MissingStats => "it has no stats",
            Self::Key(RankKey::QosClass) => "of its QoS class",
            Self::Key(RankKey::ExceedsRequest) => "its usage exceeds its request",
            Self::Key(RankKey::Priority) => "its priority is lower",
            Self::Key(RankKey::UsageAboveRequest) => "it is further above its request",
            Self::Key(RankKey::Usage) => "it uses more",
            Self::Key(RankKey::Processes) => "it has more processes",
        }
    }
}

/// A change of one pod that would move it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(tag = "type", content = "to", rename_all = "camelCase")]
pub enum Change {
    /// A priority of at least this.
    RaisePriority(i32),
    /// A request of at least this, in units of the resource.
    RaiseRequest(i64),
    /// A usage of at most this, in units of the resource.
    LowerUsage(i64),
}

/// The keys for a signal; `None` if there is no way to rank for it. Mirrors
/// `buildSignalToRankFunc`.
#[must_use]
pub fn rank_keys(
    version: KubeletVersion,
    layout: Layout,
    signal: Signal,
) -> Option<&'static [RankKey]> {
    use RankKey::{ExceedsRequest, Priority, Processes, QosClass, Usage, UsageAboveRequest};
    let is_memory = matches!(signal, Signal::MemoryAvailable | Signal::AllocatableMemoryAvailable);
    if version.is_qos_era() {
        let image_fs = matches!(signal, Signal::ImageFsAvailable | Signal::ImageFsInodesFree);
        return match signal {
            _ if !signal.exists(version) => None,
            _ if is_memory => Some(&[QosClass, UsageAboveRequest]),
            _ if image_fs && !layout.has_image_fs() => None,
            _ => Some(&[QosClass, Usage]),
        };
    }
    Some(match signal {
        Signal::PidAvailable => &[Priority, Processes],
        _ => &[ExceedsRequest, Priority, UsageAboveRequest],
    })
}

/// Which figures of a pod count for a file system.
#[derive(Clone, Copy)]
struct Measured {
    rootfs: bool,
    logs: bool,
    volumes: bool,
}

impl Measured {
    /// Images are measured nowhere, though upstream's tables name them.
    fn of(layout: Layout, signal: Signal) -> Self {
        let image_fs = matches!(signal, Signal::ImageFsAvailable | Signal::ImageFsInodesFree);
        let node_fs = matches!(signal, Signal::NodeFsAvailable | Signal::NodeFsInodesFree);
        match layout {
            Layout::OneFilesystem => Self { rootfs: true, logs: true, volumes: true },
            Layout::DedicatedImageFs => Self { rootfs: !node_fs, logs: node_fs, volumes: node_fs },
            Layout::SplitImageFs => Self { rootfs: !image_fs, logs: !image_fs, volumes: !image_fs },
        }
    }
}

/// The stats of pods, to be looked up.
pub(super) struct StatsByPod<'a>(Vec<&'a PodStats>);

impl<'a> StatsByPod<'a> {
    pub(super) fn new(summary: &'a Summary) -> Self {
        let mut list: Vec<&PodStats> = summary.pods.iter().collect();
        list.order_by(|one, other| (&one.pod, &one.uid).cmp(&(&other.pod, &other.uid)));
        Self(list)
    }

    pub(super) fn get(&self, pod: &KubeletPod) -> Option<&'a PodStats> {
        let key = (&pod.key, &pod.uid);
        let found = self.0.binary_search_by(|stats| (&stats.pod, &stats.uid).cmp(&key)).ok()?;
        self.0.get(found).copied()
    }
}

impl Candidate {
    fn new(pod: &KubeletPod, stats: Option<&PodStats>, layout: Layout, signal: Signal) -> Self {
        let (usage, request) = match signal {
            Signal::MemoryAvailable | Signal::AllocatableMemoryAvailable => {
                let memory = stats.and_then(|stats| stats.memory.as_ref());
                (MemoryStats::working_set(memory), pod.memory_request.clone())
            }
            Signal::PidAvailable => {
                let count = stats.and_then(|stats| stats.process_count).unwrap_or_default();
                (to_int64(count), Quantity::default())
            }
            _ => {
                let measured = Measured::of(layout, signal);
                let usage =
                    stats.map_or(0, |stats| disk_usage(pod, stats, measured, signal.is_inodes()));
                (usage, pod.ephemeral_storage_request.clone())
            }
        };
        let mut candidate = Self {
            pod: pod.key.clone(),
            critical: pod.critical,
            has_stats: stats.is_some(),
            qos_class: pod.qos_class,
            priority: pod.priority(),
            usage,
            request,
            exceeds_request: false,
        };
        candidate.exceeds_request = candidate.exceeds(signal);
        candidate
    }

    fn exceeds(&self, signal: Signal) -> bool {
        if signal.is_inodes() || signal == Signal::PidAvailable {
            return self.usage > 0;
        }
        self.usage_quantity().compare(&self.request) == Ordering::Greater
    }

    fn usage_quantity(&self) -> Quantity {
        Quantity::new(self.usage, Format::BinarySI)
    }

    /// How far its usage is above what it asked for; below zero if it uses less.
    #[must_use]
    pub fn above_request(&self) -> Quantity {
        self.usage_quantity().minus(&self.request)
    }

    /// By one key; the one that goes first is less.
    fn compare_by(&self, other: &Self, key: RankKey) -> Ordering {
        let needs_stats = !matches!(key, RankKey::QosClass | RankKey::Priority);
        if needs_stats && !(self.has_stats && other.has_stats) {
            return self.has_stats.cmp(&other.has_stats);
        }
        match key {
            RankKey::QosClass => self.qos_class.cmp(&other.qos_class),
            RankKey::ExceedsRequest => other.exceeds_request.cmp(&self.exceeds_request),
            RankKey::Priority => self.priority.cmp(&other.priority),
            RankKey::UsageAboveRequest => other.above_request().compare(&self.above_request()),
            RankKey::Usage | RankKey::Processes => other.usage.cmp(&self.usage),
        }
    }

    fn compare(&self, other: &Self, keys: &[RankKey]) -> Ordering {
        let orders = keys.iter().map(|key| self.compare_by(other, *key));
        orders.fold(Ordering::Equal, Ordering::then)
    }

    /// Which key puts it before another one.
    pub(super) fn reason(&self, next: &Self, keys: &[RankKey]) -> Option<RankReason> {
        let key = keys.iter().find(|key| self.compare_by(next, **key) != Ordering::Equal)?;
        let needs_stats = !matches!(key, RankKey::QosClass | RankKey::Priority);
        Some(if needs_stats && !self.has_stats {
            RankReason::MissingStats
        } else {
            RankReason::Key(*key)
        })
    }

    /// What would put it behind another one by itself: each tried before it is said.
    fn changes(&self, next: &Self, keys: &[RankKey], signal: Signal) -> Vec<Change> {
        // By how much it must come down to be below the next one.
        let above = self.above_request().minus(&next.above_request()).value();
        let requests = [
            self.request.value().saturating_add(above).saturating_add(1),
            self.usage.max(self.request.value()),
        ];
        let usages = [
            self.usage.saturating_sub(above).saturating_sub(1),
            self.request.value(),
            next.usage.saturating_sub(1),
        ];
        let priorities = [next.priority, next.priority.saturating_add(1)];
        let priority = priorities.into_iter().map(Change::RaisePriority);
        let request = requests.into_iter().map(Change::RaiseRequest);
        let usage = usages.into_iter().filter(|usage| *usage >= 0).map(Change::LowerUsage);
        let works = |change: &Change| {
            let raises = match change {
                Change::RaisePriority(to) => *to > self.priority,
                Change::RaiseRequest(to) => *to > self.request.value(),
                Change::LowerUsage(to) => *to < self.usage,
            };
            if !raises {
                return false;
            }
            let mut changed = self.clone();
            match *change {
                Change::RaisePriority(to) => changed.priority = to,
                Change::RaiseRequest(to) => changed.request = Quantity::new(to, Format::BinarySI),
                Change::LowerUsage(to) => changed.usage = to,
            }
            changed.exceeds_request = changed.exceeds(signal);
            changed.compare(next, keys) == Ordering::Greater
        };
        let least = |change: &Change| match change {
            Change::RaisePriority(to) => i64::from(*to),
            Change::RaiseRequest(to) => *to,
            Change::LowerUsage(to) => to.saturating_neg(),
        };
        let mut found: Vec<Change> = priority.filter(works).min_by_key(least).into_iter().collect();
        found.extend(request.filter(works).min_by_key(least));
        found.extend(usage.filter(works).min_by_key(least));
        found
    }
}

/// Mirrors `podDiskUsage`.
fn disk_usage(pod: &KubeletPod, stats: &PodStats, measured: Measured, inodes: bool) -> i64 {
    let used = |fs: Option<&FsStats>| FsStats::used(fs, inodes);
    let mut sum = 0_i64;
    for container in &stats.containers {
        if measured.rootfs {
            sum = sum.saturating_add(used(container.rootfs.as_ref()));
        }
        if measured.logs {
            sum = sum.saturating_add(used(container.logs.as_ref()));
        }
    }
    if measured.volumes {
        for volume in pod.resources.volumes.iter().filter(|volume| volume.source.is_local()) {
            let stats = stats.volumes.iter().find(|stats| stats.name == volume.name);
            sum = sum.saturating_add(used(stats.map(|stats| &stats.fs)));
        }
    }
    sum
}

/// Sorts the pods, by index, each with what it is ranked by; pods that are equal keep their order.
/// `None` if there is no way to rank for the signal.
pub(super) fn sort(
    version: KubeletVersion,
    layout: Layout,
    signal: Signal,
    pods: &[&KubeletPod],
    stats: &StatsByPod<'_>,
) -> Option<Vec<(usize, Candidate)>> {
    let keys = rank_keys(version, layout, signal)?;
    let candidate = |(index, pod): (usize, &&KubeletPod)| {
        (index, Candidate::new(pod, stats.get(pod), layout, signal))
    };
    let mut ranked: Vec<_> = pods.iter().enumerate().map(candidate).collect();
    ranked.order_by(|(_, one), (_, other)| one.compare(other, keys));
    Some(ranked)
}

/// The pods in the order in which a kubelet would evict them if there were too little of what a
/// signal watches, at a moment since they all started, each with what it uses.
///
/// # Errors
/// Names a field of a pod that cannot be read, or what is wrong with a curve.
pub fn rank_for_eviction(
    version: KubeletVersion,
    layout: Layout,
    signal: Signal,
    pods: &[(Pod, PodUsage)],
    at: Timestamp,
) -> Result<Option<Ranking>, String> {
    let mut usage = NodeUsage::default();
    for (pod, used) in pods {
        used.validate().map_err(|error| format!("{}: {error}", pod.key()))?;
        let read = KubeletPod::new(version, pod);
        let pod = read.map_err(|error| format!("{}: {error}", pod.key()))?;
        usage.start_pod(Timestamp::ZERO, Arc::new(pod), Arc::new(used.clone()));
    }
    let summary = usage.summary(at, layout);
    let read: Vec<&KubeletPod> = usage.running().map(|(pod, ..)| pod.as_ref()).collect();
    Ok(rank(version, layout, signal, &read, &summary))
}

/// The pods in the order in which they would go for a signal, and why in that order. `None` if
/// there is no way to rank for it.
#[must_use]
pub fn rank(
    version: KubeletVersion,
    layout: Layout,
    signal: Signal,
    pods: &[&KubeletPod],
    summary: &Summary,
) -> Option<Ranking> {
    let layout = layout.for_version(version);
    let keys = rank_keys(version, layout, signal)?;
    let sorted = sort(version, layout, signal, pods, &StatsByPod::new(summary))?;
    let next = sorted.iter().map(|(_, candidate)| Some(candidate)).skip(1).chain([None]);
    let pods = sorted.iter().zip(next).map(|((_, candidate), next)| RankedPod {
        candidate: candidate.clone(),
        before_next_by: next.and_then(|next| candidate.reason(next, keys)),
        behind_next_if: next.map_or_else(Vec::new, |next| candidate.changes(next, keys, signal)),
    });
    Some(Ranking { signal, keys: keys.to_vec(), pods: pods.collect() })
}
