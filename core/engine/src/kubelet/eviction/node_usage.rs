//! The usage of a simulated node at a moment: stats computed from curves.

use alloc::sync::Arc;
use alloc::vec::Vec;

use taintlab_rules::api::{PodKey, VolumeSource};
use taintlab_rules::time::Timestamp;

use super::action::{ActionResult, Reclaim};
use super::curve::UsageCurve;
use super::pod::KubeletPod;
use super::signal::{Layout, Signal};
use super::stats::{
    ContainerStats, FsStats, MemoryStats, NodeStats, PodStats, RlimitStats, Summary, VolumeStats,
};
use super::usage::{ContainerUsage, NodeCapacity, PodUsage, SystemUsage, Unused, VolumeUsage};

/// A pod that runs on the node.
#[derive(Clone, Debug)]
pub(super) struct Running {
    pub(super) pod: Arc<KubeletPod>,
    pub(super) started: Timestamp,
    pub(super) usage: Arc<PodUsage>,
}

/// What a node has and what is used of it.
#[derive(Clone, Debug, Default)]
pub struct NodeUsage {
    /// What it has.
    pub capacity: NodeCapacity,
    /// What is used besides its pods.
    pub system: SystemUsage,
    /// Containers that have ended.
    pub unused_containers: Unused,
    /// Images that no container uses.
    pub unused_images: Unused,
    /// Bytes in huge pages, which are not available as other memory.
    pub huge_pages: i64,
    pub(super) pods: Vec<Running>,
}

/// A curve, and when its time began.
#[derive(Clone, Copy)]
pub(super) struct Term<'a> {
    pub(super) curve: &'a UsageCurve,
    pub(super) origin: Timestamp,
}

impl Term<'_> {
    pub(super) fn elapsed(&self, at: Timestamp) -> u64 {
        at.as_nanos().saturating_sub(self.origin.as_nanos())
    }

    fn value_at(&self, at: Timestamp) -> i64 {
        self.curve.value_at(Timestamp::from_nanos(self.elapsed(at)))
    }
}

/// What is used of something: curves and what does not change.
pub(super) struct Used<'a> {
    pub(super) terms: Vec<Term<'a>>,
    pub(super) fixed: i64,
}

impl Used<'_> {
    pub(super) fn value_at(&self, at: Timestamp) -> i64 {
        self.terms.iter().map(|term| term.value_at(at)).fold(self.fixed, i64::saturating_add)
    }
}

/// Where a file system keeps what.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fs {
    Node,
    Image,
}

impl NodeUsage {
    /// A node without pods, and with nothing to delete.
    #[must_use]
    pub fn new(capacity: NodeCapacity, system: SystemUsage) -> Self {
        Self { capacity, system, ..Self::default() }
    }

    /// A pod starts to use something. One of the same name is replaced.
    pub fn start_pod(&mut self, now: Timestamp, pod: Arc<KubeletPod>, usage: Arc<PodUsage>) {
        self.stop_pod(&pod.key);
        self.pods.push(Running { pod, started: now, usage });
    }

    /// A pod is gone with all it used. Whether there was one.
    pub fn stop_pod(&mut self, key: &PodKey) -> bool {
        let before = self.pods.len();
        self.pods.retain(|running| running.pod.key != *key);
        self.pods.len() < before
    }

    /// A running pod uses something else from now on, on the same clock.
    pub fn set_pod_usage(&mut self, key: &PodKey, usage: Arc<PodUsage>) {
        if let Some(running) = self.pods.iter_mut().find(|running| running.pod.key == *key) {
            running.usage = usage;
        }
    }

    /// The pods that run, when each started, and what it uses.
    pub fn running(&self) -> impl Iterator<Item = (&Arc<KubeletPod>, Timestamp, &Arc<PodUsage>)> {
        self.pods.iter().map(|running| (&running.pod, running.started, &running.usage))
    }

    /// The pod of that name, if it runs.
    #[must_use]
    pub fn running_pod(&self, key: &PodKey) -> Option<&Arc<KubeletPod>> {
        self.pods.iter().find(|running| running.pod.key == *key).map(|running| &running.pod)
    }

    /// The object of a running pod has changed.
    pub fn update_pod(&mut self, pod: Arc<KubeletPod>) {
        if let Some(running) = self.pods.iter_mut().find(|running| running.pod.key == pod.key) {
            running.pod = pod;
        }
    }

    /// How much there is of what a signal watches, if that is known.
    #[must_use]
    pub fn capacity(&self, layout: Layout, signal: Signal) -> Option<i64> {
        self.capacity_of(layout, signal)
    }

    /// How much is used at a moment of what a signal watches: all of it, and by each pod.
    #[must_use]
    pub fn shares(&self, layout: Layout, signal: Signal, at: Timestamp) -> (i64, Vec<i64>) {
        let share = |running: &Running| {
            let mut terms = Vec::new();
            running.add(&mut terms, layout, signal);
            Used { terms, fixed: 0 }.value_at(at)
        };
        (self.used(layout, signal).value_at(at), self.pods.iter().map(share).collect())
    }

    /// Deletes what nobody uses.
    pub fn reclaim(&mut self, what: Reclaim) -> ActionResult {
        let unused = match what {
            Reclaim::UnusedContainers => &mut self.unused_containers,
            Reclaim::UnusedImages => &mut self.unused_images,
        };
        let freed = core::mem::take(unused);
        ActionResult::Reclaimed(freed.bytes.value().max(0).unsigned_abs())
    }

    /// What is used of what a signal watches; `None` if the node has none.
    pub(super) fn used(&self, layout: Layout, signal: Signal) -> Used<'_> {
        let system = &self.system;
        let mut terms = Vec::new();
        let mut fixed = 0;
        match signal {
            Signal::MemoryAvailable => {
                terms.push(Term { curve: &system.memory, origin: Timestamp::ZERO });
            }
            Signal::AllocatableMemoryAvailable => {}
            Signal::PidAvailable => {
                terms.push(Term { curve: &system.processes, origin: Timestamp::ZERO });
            }
            _ => {
                let inodes = signal.is_inodes();
                let fs = fs_of(layout, signal);
                fixed = self.add_disk(&mut terms, layout, fs, inodes);
            }
        }
        for running in &self.pods {
            running.add(&mut terms, layout, signal);
        }
        Used { terms, fixed }
    }

    /// What is on a file system; what nobody uses is the part that does not change.
    fn add_disk<'a>(
        &'a self,
        terms: &mut Vec<Term<'a>>,
        layout: Layout,
        fs: Fs,
        inodes: bool,
    ) -> i64 {
        let system = &self.system;
        let images_here = (fs == Fs::Image) == layout.has_image_fs();
        let (layers_here, files_here) = (layers_are_on(layout, fs), files_are_on(layout, fs));
        let mut add = |bytes, count| {
            let curve = if inodes { count } else { bytes };
            terms.push(Term { curve, origin: Timestamp::ZERO });
        };
        if files_here {
            add(&system.nodefs, &system.nodefs_inodes);
        }
        if images_here {
            add(&system.images, &system.images_inodes);
        }
        let unused = [(layers_here, &self.unused_containers), (images_here, &self.unused_images)];
        let here = unused.into_iter().filter(|(here, _)| *here);
        here.map(|(_, unused)| if inodes { &unused.inodes } else { &unused.bytes })
            .map(|quantity| quantity.value().max(0))
            .fold(0, i64::saturating_add)
    }

    /// How much there is of what a signal watches; `None` if nothing is said.
    pub(super) fn capacity_of(&self, layout: Layout, signal: Signal) -> Option<i64> {
        let capacity = &self.capacity;
        let quantity = match signal {
            Signal::MemoryAvailable => capacity.memory.as_ref(),
            Signal::AllocatableMemoryAvailable => {
                capacity.allocatable_memory.as_ref().or(capacity.memory.as_ref())
            }
            Signal::PidAvailable => capacity.pids.as_ref(),
            _ => match (fs_of(layout, signal), signal.is_inodes()) {
                (Fs::Node, false) => capacity.nodefs.as_ref(),
                (Fs::Node, true) => capacity.nodefs_inodes.as_ref(),
                (Fs::Image, false) => capacity.imagefs.as_ref(),
                (Fs::Image, true) => capacity.imagefs_inodes.as_ref(),
            },
        };
        let huge_pages = if signal == Signal::MemoryAvailable { self.huge_pages } else { 0 };
        quantity.map(|quantity| quantity.value().saturating_sub(huge_pages).max(0))
    }

    /// What the kubelet measures at a moment.
    #[must_use]
    pub fn summary(&self, now: Timestamp, layout: Layout) -> Summary {
        let memory = |signal| {
            let capacity = self.capacity_of(layout, signal)?;
            let used = self.used(layout, signal).value_at(now).clamp(0, capacity);
            let used = used.unsigned_abs();
            let available = capacity.unsigned_abs() - used;
            Some(MemoryStats {
                time: Some(now),
                available_bytes: Some(available),
                usage_bytes: Some(used),
                working_set_bytes: Some(used),
            })
        };
        let space = |signal| {
            let capacity = self.capacity_of(layout, signal)?;
            let used = self.used(layout, signal).value_at(now).clamp(0, capacity);
            Some((capacity.unsigned_abs(), used.unsigned_abs()))
        };
        let fs = |bytes, inodes| {
            let (bytes, inodes) = (space(bytes), space(inodes));
            (bytes.is_some() || inodes.is_some()).then(|| FsStats {
                time: Some(now),
                capacity_bytes: bytes.map(|(capacity, _)| capacity),
                used_bytes: bytes.map(|(_, used)| used),
                available_bytes: bytes.map(|(capacity, used)| capacity - used),
                inodes: inodes.map(|(capacity, _)| capacity),
                inodes_used: inodes.map(|(_, used)| used),
                inodes_free: inodes.map(|(capacity, used)| capacity - used),
            })
        };
        let pids = Signal::PidAvailable;
        let node = NodeStats {
            memory: memory(Signal::MemoryAvailable),
            pods_memory: memory(Signal::AllocatableMemoryAvailable),
            fs: fs(Signal::NodeFsAvailable, Signal::NodeFsInodesFree),
            image_fs: fs(Signal::ImageFsAvailable, Signal::ImageFsInodesFree),
            container_fs: fs(Signal::ContainerFsAvailable, Signal::ContainerFsInodesFree),
            rlimit: self.capacity_of(layout, pids).map(|max_pid| RlimitStats {
                time: Some(now),
                max_pid: Some(max_pid),
                running_processes: Some(self.used(layout, pids).value_at(now)),
            }),
        };
        Summary { node, pods: self.pods.iter().map(|running| running.stats(now)).collect() }
    }
}

fn fs_of(layout: Layout, signal: Signal) -> Fs {
    let image = match signal {
        Signal::ImageFsAvailable | Signal::ImageFsInodesFree => layout.has_image_fs(),
        Signal::ContainerFsAvailable | Signal::ContainerFsInodesFree => {
            layout == Layout::DedicatedImageFs
        }
        _ => false,
    };
    if image { Fs::Image } else { Fs::Node }
}

/// Whether writable layers are on a file system.
fn layers_are_on(layout: Layout, fs: Fs) -> bool {
    match layout {
        Layout::OneFilesystem => true,
        Layout::DedicatedImageFs => fs == Fs::Image,
        Layout::SplitImageFs => fs == Fs::Node,
    }
}

/// Whether logs and volumes are on a file system.
fn files_are_on(layout: Layout, fs: Fs) -> bool {
    fs == Fs::Node || !layout.has_image_fs()
}

impl Running {
    /// What the pod uses of what a signal watches.
    fn add<'a>(&'a self, terms: &mut Vec<Term<'a>>, layout: Layout, signal: Signal) {
        match signal {
            Signal::MemoryAvailable | Signal::AllocatableMemoryAvailable => self.add_memory(terms),
            Signal::PidAvailable => self.add_processes(terms),
            _ => {
                let (fs, inodes) = (fs_of(layout, signal), signal.is_inodes());
                if layers_are_on(layout, fs) {
                    self.add_rootfs(terms, inodes);
                }
                if files_are_on(layout, fs) {
                    self.add_logs(terms, inodes);
                    self.add_volumes(terms, inodes, VolumeSource::is_local);
                }
            }
        }
    }

    fn term<'a>(&self, curve: &'a UsageCurve) -> Term<'a> {
        Term { curve, origin: self.started }
    }

    /// A volume in memory is memory of the pod.
    fn add_memory<'a>(&'a self, terms: &mut Vec<Term<'a>>) {
        terms.extend(self.usage.containers.iter().map(|c| self.term(&c.memory)));
        self.add_volumes(
            terms,
            false,
            |source| matches!(source, VolumeSource::EmptyDir { medium, .. } if medium == "Memory"),
        );
    }

    fn add_processes<'a>(&'a self, terms: &mut Vec<Term<'a>>) {
        terms.extend(self.usage.containers.iter().map(|c| self.term(&c.processes)));
    }

    pub(super) fn add_rootfs<'a>(&'a self, terms: &mut Vec<Term<'a>>, inodes: bool) {
        let curve = |c: &'a ContainerUsage| if inodes { &c.rootfs_inodes } else { &c.rootfs };
        terms.extend(self.usage.containers.iter().map(|c| self.term(curve(c))));
    }

    pub(super) fn add_logs<'a>(&'a self, terms: &mut Vec<Term<'a>>, inodes: bool) {
        let curve = |c: &'a ContainerUsage| if inodes { &c.logs_inodes } else { &c.logs };
        terms.extend(self.usage.containers.iter().map(|c| self.term(curve(c))));
    }

    pub(super) fn add_volumes<'a>(
        &'a self,
        terms: &mut Vec<Term<'a>>,
        inodes: bool,
        counts: impl Fn(&VolumeSource) -> bool,
    ) {
        let counts = |usage: &&VolumeUsage| {
            let volumes = &self.pod.resources.volumes;
            volumes.iter().any(|volume| volume.name == usage.name && counts(&volume.source))
        };
        let volumes = self.usage.volumes.iter().filter(counts);
        let curve = |v: &'a VolumeUsage| if inodes { &v.inodes } else { &v.bytes };
        terms.extend(volumes.map(|v| self.term(curve(v))));
    }

    fn stats(&self, now: Timestamp) -> PodStats {
        let value = |curve: &UsageCurve| self.term(curve).value_at(now).unsigned_abs();
        let sum = |terms: Vec<Term<'_>>| Used { terms, fixed: 0 }.value_at(now).unsigned_abs();
        let used = |bytes: &UsageCurve, inodes: &UsageCurve| FsStats {
            time: Some(now),
            used_bytes: Some(value(bytes)),
            inodes_used: Some(value(inodes)),
            ..FsStats::default()
        };
        let memory = |bytes| MemoryStats {
            time: Some(now),
            available_bytes: None,
            usage_bytes: Some(bytes),
            working_set_bytes: Some(bytes),
        };
        let container = |c: &ContainerUsage| ContainerStats {
            name: c.name.clone(),
            memory: Some(memory(value(&c.memory))),
            rootfs: Some(used(&c.rootfs, &c.rootfs_inodes)),
            logs: Some(used(&c.logs, &c.logs_inodes)),
        };
        let volume =
            |v: &VolumeUsage| VolumeStats { name: v.name.clone(), fs: used(&v.bytes, &v.inodes) };
        let (mut bytes, mut pages, mut processes) = (Vec::new(), Vec::new(), Vec::new());
        self.add_rootfs(&mut bytes, false);
        self.add_logs(&mut bytes, false);
        self.add_volumes(&mut bytes, false, VolumeSource::is_local_ephemeral);
        self.add_memory(&mut pages);
        self.add_processes(&mut processes);
        PodStats {
            pod: self.pod.key.clone(),
            uid: self.pod.uid.clone(),
            containers: self.usage.containers.iter().map(container).collect(),
            memory: Some(memory(sum(pages))),
            volumes: self.usage.volumes.iter().map(volume).collect(),
            ephemeral_storage: Some(FsStats {
                time: Some(now),
                used_bytes: Some(sum(bytes)),
                ..FsStats::default()
            }),
            process_count: Some(sum(processes)),
        }
    }
}
