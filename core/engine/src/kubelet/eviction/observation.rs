//! What the stats say about each signal.

use serde::Serialize;
use taintlab_rules::api::{Format, Quantity};
use taintlab_rules::time::Timestamp;

use super::signal::Signal;
use super::stats::{FsStats, MemoryStats, NodeStats, to_int64};

/// What the stats say about a signal. Mirrors `signalObservation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Observation {
    /// How much there is left.
    pub available: i64,
    /// How much there is altogether.
    pub capacity: i64,
    /// When it was measured.
    pub time: Option<Timestamp>,
}

/// What the stats say about each signal; nothing about one with a figure missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observations([Option<Observation>; Signal::ALL.len()]);

impl Observations {
    /// Reads the stats of a node. Mirrors `makeSignalObservations`.
    #[must_use]
    pub fn of(node: &NodeStats) -> Self {
        let mut all = Self::default();
        all.set(Signal::MemoryAvailable, node.memory.as_ref().and_then(memory));
        all.set(Signal::AllocatableMemoryAvailable, node.pods_memory.as_ref().and_then(memory));
        for (fs, space, inodes) in [
            (&node.fs, Signal::NodeFsAvailable, Signal::NodeFsInodesFree),
            (&node.image_fs, Signal::ImageFsAvailable, Signal::ImageFsInodesFree),
            (&node.container_fs, Signal::ContainerFsAvailable, Signal::ContainerFsInodesFree),
        ] {
            let Some(FsStats { time, available_bytes, capacity_bytes, inodes_free, .. }) = *fs
            else {
                continue;
            };
            let all_inodes = fs.and_then(|fs| fs.inodes);
            all.set(space, pair(available_bytes, capacity_bytes, time));
            all.set(inodes, pair(inodes_free, all_inodes, time));
        }
        all.set(
            Signal::PidAvailable,
            node.rlimit.and_then(|rlimit| {
                let capacity = rlimit.max_pid?;
                let available = capacity.wrapping_sub(rlimit.running_processes?);
                Some(Observation { available, capacity, time: rlimit.time })
            }),
        );
        all
    }

    /// What is known about a signal.
    #[must_use]
    pub fn get(&self, signal: Signal) -> Option<&Observation> {
        self.0.get(signal as usize)?.as_ref()
    }

    fn set(&mut self, signal: Signal, observation: Option<Observation>) {
        if let Some(place) = self.0.get_mut(signal as usize) {
            *place = observation;
        }
    }

    /// All were measured again, at `time`.
    pub(super) fn measured_again(&mut self, time: Timestamp) {
        for observation in self.0.iter_mut().flatten() {
            observation.time = observation.time.map(|_| time);
        }
    }

    /// There is so much more of a signal: what the kubelet of 1.5 reckons with after it has deleted
    /// images.
    pub(super) fn add_available(&mut self, signal: Signal, amount: i64) {
        if let Some(Some(observation)) = self.0.get_mut(signal as usize) {
            observation.available = observation.available.saturating_add(amount);
        }
    }
}

impl Observation {
    /// How much there is left, as a quantity that prints in the unit of the signal.
    #[must_use]
    pub fn available_quantity(&self, signal: Signal) -> Quantity {
        let format: Format = signal.format();
        Quantity::new(self.available, format)
    }
}

fn memory(stats: &MemoryStats) -> Option<Observation> {
    let (available, used) = (stats.available_bytes?, stats.working_set_bytes?);
    let capacity = to_int64(available.wrapping_add(used));
    Some(Observation { available: to_int64(available), capacity, time: stats.time })
}

fn pair(
    available: Option<u64>,
    capacity: Option<u64>,
    time: Option<Timestamp>,
) -> Option<Observation> {
    let (available, capacity) = (to_int64(available?), to_int64(capacity?));
    Some(Observation { available, capacity, time })
}
