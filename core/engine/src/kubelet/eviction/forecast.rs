//! When a figure can first cross a threshold or a limit, by arithmetic on the curves of usage.

use alloc::sync::Arc;
use alloc::vec::Vec;

use taintlab_rules::api::{Quantity, VolumeSource};
use taintlab_rules::protocol::RequestId;
use taintlab_rules::time::Timestamp;

use super::curve::RATE_BITS;
use super::manager::EvictionManager;
use super::node_usage::{NodeUsage, Running, Term, Used};
use super::observation::Observations;
use super::schedule::Forecast;
use super::signal::{Layout, Signal};
use super::threshold::Threshold;
use super::version::KubeletVersion;

/// How many straight pieces are looked at. A pass then looks further.
const PIECES: usize = 64;

impl Used<'_> {
    /// Before which moment what is used stays on its side of `level`: above it, or not. Never later
    /// than the crossing; it may be a little earlier, since what is used is rounded.
    pub(super) fn quiet_until(&self, now: Timestamp, level: i64) -> Timestamp {
        let bounds = self.terms.iter().map(|term| term.curve.bounds());
        let (least, most) = bounds.fold((self.fixed, self.fixed), |sum, bounds| {
            (sum.0.saturating_add(bounds.0), sum.1.saturating_add(bounds.1))
        });
        let is_above = self.value_at(now) > level;
        if is_above && least > level || !is_above && most <= level {
            return Timestamp::MAX;
        }
        let mut at = now;
        for _ in 0..PIECES {
            let value = self.value_at(at);
            if (value > level) != is_above {
                return at;
            }
            let (bend, slowest, fastest) = self.rates(at);
            let distance = (i128::from(value) - i128::from(level)).abs();
            let rate = if is_above { -slowest } else { fastest };
            let crossing = if rate > 0 {
                // Each curve is rounded down to a whole unit.
                let rounding = i128::try_from(self.terms.len()).unwrap_or(i128::MAX);
                let safe = (distance - rounding).max(0);
                let wait = u64::try_from((safe << RATE_BITS) / rate).unwrap_or(u64::MAX);
                Timestamp::from_nanos(at.as_nanos().saturating_add(wait))
            } else {
                Timestamp::MAX
            };
            match bend {
                Some(bend) if bend <= crossing => at = bend,
                _ => return crossing,
            }
        }
        at
    }

    /// When what is used next crosses `level`, in either direction: a few units late at most, so
    /// that it has. Worked out from where the curves bend, so that it is the same whenever asked.
    fn next_crossing(&self, now: Timestamp, level: i64) -> Option<Timestamp> {
        if self.quiet_until(now, level) == Timestamp::MAX {
            return None;
        }
        let begins = self.terms.iter().map(|term| {
            let begin = term.curve.piece(term.elapsed(now)).begin;
            term.origin.as_nanos().saturating_add(begin)
        });
        let mut begin = Timestamp::from_nanos(begins.max().unwrap_or(0));
        let rounding = i128::try_from(self.terms.len()).unwrap_or(i128::MAX);
        for _ in 0..2 * PIECES {
            let value = i128::from(self.value_at(begin));
            let (bend, slowest, fastest) = self.rates(begin);
            let is_above = value > i128::from(level);
            let (way, rate) = if is_above {
                (value - i128::from(level), -fastest)
            } else {
                (i128::from(level) + 1 + rounding - value, slowest)
            };
            let crossing = (rate > 0).then(|| {
                let wait = ((way << RATE_BITS) / rate).saturating_add(1);
                let wait = u64::try_from(wait).unwrap_or(u64::MAX);
                Timestamp::from_nanos(begin.as_nanos().saturating_add(wait))
            });
            let crossing = crossing.filter(|at| bend.is_none_or(|bend| *at < bend));
            if crossing.is_some_and(|at| at > now) {
                return crossing;
            }
            let was_above = is_above != crossing.is_some();
            begin = bend?;
            if begin > now && was_above != (self.value_at(begin) > level) {
                return Some(begin);
            }
        }
        None
    }

    /// The next moment at which a curve bends, and bounds of the rate of growth until then.
    fn rates(&self, at: Timestamp) -> (Option<Timestamp>, i128, i128) {
        let (mut bend, mut slowest, mut fastest) = (None::<Timestamp>, 0, 0);
        for Term { curve, origin } in &self.terms {
            let elapsed = at.as_nanos().saturating_sub(origin.as_nanos());
            let piece = curve.piece(elapsed);
            let rates = piece.rates();
            slowest += rates.0;
            fastest += rates.1;
            if let Some(end) = piece.end {
                let end = Timestamp::from_nanos(origin.as_nanos().saturating_add(end));
                bend = Some(bend.map_or(end, |bend| bend.min(end)));
            }
        }
        (bend, slowest, fastest)
    }
}

/// The largest whole number that is not more than a limit.
fn floor(limit: &Quantity) -> i64 {
    let value = limit.value();
    let whole = Quantity::new(value, taintlab_rules::api::Format::DecimalSI);
    if whole.compare(limit).is_gt() { value.saturating_sub(1) } else { value }
}

impl NodeUsage {
    /// Before which moment no signal crosses one of the thresholds, and no pod one of its limits.
    #[must_use]
    pub fn quiet_until(
        &self,
        now: Timestamp,
        version: KubeletVersion,
        layout: Layout,
        thresholds: &[Threshold],
    ) -> Timestamp {
        let signals = thresholds.iter().filter_map(|threshold| {
            let level = self.level(layout, threshold)?;
            Some(self.used(layout, threshold.signal).quiet_until(now, level))
        });
        let pods = self.pods.iter().filter(|running| !running.pod.is_spared());
        let limits = pods.map(|running| running.quiet_until(now, version, layout));
        signals.chain(limits).min().unwrap_or(Timestamp::MAX)
    }

    /// When memory next crosses one of the thresholds, in either direction: the kernel tells.
    #[must_use]
    pub fn memory_notification(
        &self,
        now: Timestamp,
        layout: Layout,
        thresholds: &[Threshold],
    ) -> Option<Timestamp> {
        let memory = [Signal::MemoryAvailable, Signal::AllocatableMemoryAvailable];
        let thresholds = thresholds.iter().filter(|threshold| memory.contains(&threshold.signal));
        let crossings = thresholds.filter_map(|threshold| {
            let level = self.level(layout, threshold)?;
            self.used(layout, threshold.signal).next_crossing(now, level)
        });
        crossings.min()
    }

    /// Above which usage a threshold is met; `None` if it never is.
    fn level(&self, layout: Layout, threshold: &Threshold) -> Option<i64> {
        let capacity = self.capacity_of(layout, threshold.signal)?;
        let quantity = threshold.value.quantity(capacity).value();
        (threshold.less_than && quantity > 0).then(|| capacity.saturating_sub(quantity))
    }
}

impl Running {
    /// Before which moment no limit of local storage is crossed.
    fn quiet_until(&self, now: Timestamp, version: KubeletVersion, layout: Layout) -> Timestamp {
        let mut quiet = Timestamp::MAX;
        let mut watch = |terms: Vec<Term<'_>>, limit: &Quantity| {
            quiet = quiet.min(Used { terms, fixed: 0 }.quiet_until(now, floor(limit)));
        };
        let resources = &self.pod.resources;
        for volume in &resources.volumes {
            if let VolumeSource::EmptyDir { size_limit: Some(limit), .. } = &volume.source
                && let Some(usage) = self.usage.volumes.iter().find(|u| u.name == volume.name)
            {
                watch(Vec::from([Term { curve: &usage.bytes, origin: self.started }]), limit);
            }
        }
        let pod_level = version.rule(false, |release| release.measures_pod_ephemeral_storage());
        if let Some(limit) = &self.pod.ephemeral_storage_limit {
            let mut terms = Vec::new();
            if pod_level || !layout.has_image_fs() {
                self.add_rootfs(&mut terms, false);
            }
            self.add_logs(&mut terms, false);
            self.add_volumes(&mut terms, false, VolumeSource::is_local_ephemeral);
            watch(terms, limit);
        }
        for container in &resources.containers {
            let Some(limit) = &container.limits.ephemeral_storage else { continue };
            for usage in self.usage.containers.iter().filter(|u| u.name == container.name) {
                let curves = [Some(&usage.logs), (!layout.has_image_fs()).then_some(&usage.rootfs)];
                let terms = curves.into_iter().flatten();
                let terms = terms.map(|curve| Term { curve, origin: self.started });
                watch(terms.collect(), limit);
            }
        }
        quiet
    }
}

impl EvictionManager {
    /// Answers [`EvictionManagerAction::CollectStats`](super::EvictionManagerAction::CollectStats)
    /// with what a simulated node uses, and with what its curves foresee.
    pub fn handle_usage(&mut self, now: Timestamp, id: RequestId, usage: &NodeUsage) {
        let summary = Arc::new(usage.summary(now, self.layout()));
        // The thresholds as they will be once this pass has looked at the file systems: those of
        // the writable layers are copies, so that they cross with their models.
        let thresholds = self.thresholds();
        let quiet_until = usage.quiet_until(now, self.version(), self.layout(), thresholds);
        let notification = if self.config().kernel_memcg_notification {
            usage.memory_notification(now, self.layout(), thresholds)
        } else {
            None
        };
        self.handle_stats(now, id, Some(summary), Forecast { quiet_until, notification });
    }

    /// What a simulated node's stats say about each signal now.
    #[must_use]
    pub fn observations_of(&self, now: Timestamp, usage: &NodeUsage) -> Observations {
        Observations::of(&usage.summary(now, self.layout()).node)
    }
}
