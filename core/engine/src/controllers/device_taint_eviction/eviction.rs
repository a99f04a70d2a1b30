//! Times at which the pods of a claim are evicted, with the taints that cause it.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Ordering;

use taintlab_rules::api::{AllocatedDevice, DeviceTaintRule, ResourceClaim, ResourceSlice, Taint};
use taintlab_rules::order::{Order, OrderedMap, OrderedSet};
use taintlab_rules::policy::devices::{deciding_device_toleration, device_toleration_time};
use taintlab_rules::time::{Time, Timestamp};

use super::{DeviceEviction, timestamp};

/// The taint that is the reason of an eviction. Mirrors `trackedTaint`.
#[derive(Clone, Debug)]
pub(super) enum Reason {
    /// The taint of a rule.
    Rule(Arc<DeviceTaintRule>),
    /// A taint in a slice: the device's name and the taint's index.
    Slice(Arc<ResourceSlice>, String, usize),
}

impl Reason {
    /// Rules by name, then slices by driver, pool, device and place. Mirrors
    /// `trackedTaint.Compare`.
    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Rule(one), Self::Rule(other)) => one.name.cmp(&other.name),
            (Self::Rule(_), Self::Slice(..)) => Ordering::Less,
            (Self::Slice(..), Self::Rule(_)) => Ordering::Greater,
            (Self::Slice(one, device, place), Self::Slice(other, other_device, other_place)) => one
                .driver
                .cmp(&other.driver)
                .then_with(|| one.pool.cmp(&other.pool))
                .then_with(|| device.cmp(other_device))
                .then_with(|| place.cmp(other_place)),
        }
    }
}

/// Equality means the same taint in the same version of an object.
impl PartialEq for Reason {
    fn eq(&self, other: &Self) -> bool {
        let same_object = match (self, other) {
            (Self::Rule(one), Self::Rule(other)) => Arc::ptr_eq(one, other),
            (Self::Slice(one, ..), Self::Slice(other, ..)) => Arc::ptr_eq(one, other),
            (Self::Rule(_), Self::Slice(..)) | (Self::Slice(..), Self::Rule(_)) => false,
        };
        same_object && self.compare(other) == Ordering::Equal
    }
}

/// Time and reasons of an eviction. Mirrors `evictionAndReason`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Eviction {
    /// Nanoseconds from zero on; negative if that was before.
    pub(super) at: i64,
    /// All taints that are not tolerated for good, also those that would evict later.
    pub(super) reasons: Vec<Reason>,
}

impl Eviction {
    /// The earlier one of both, because of both.
    pub(super) fn join(&mut self, other: &Self) {
        self.at = self.at.min(other.at);
        // Of two equal reasons the other claim's stays.
        let known = core::mem::replace(&mut self.reasons, other.reasons.clone());
        self.reasons.extend(known);
        self.tidy();
    }

    fn tidy(&mut self) {
        self.reasons.order_by(Reason::compare);
        self.reasons.dedup_by(|one, other| one.compare(other) == Ordering::Equal);
    }

    /// Mirrors `evictionReason.String`.
    pub(super) fn reasons_in_words(&self) -> String {
        let words = self.reasons.iter().map(|reason| match reason {
            Reason::Rule(rule) => format!("DeviceTaintRule /{}:{}", rule.name, rule.uid),
            Reason::Slice(slice, device, place) => {
                let ResourceSlice { name, uid, driver, pool, .. } = slice.as_ref();
                format!("ResourceSlice /{name}:{uid} {driver}/{pool}/{device} taint #{place}")
            }
        });
        words.collect::<Vec<_>>().join(", ")
    }
}

/// A taint that evicts the pods of a claim.
struct Evicting<'a> {
    /// The time of the eviction, in nanoseconds from zero on.
    at: i64,
    /// Index of the device among those of the claim.
    index: usize,
    device: &'a AllocatedDevice,
    taint: &'a Taint,
    reason: Reason,
}

/// The taints of devices: slices by pool, and the rules that evict.
#[derive(Clone, Debug, Default)]
pub(super) struct Taints {
    /// By driver and pool, and then by name.
    pools: OrderedMap<(String, String), OrderedMap<String, Arc<ResourceSlice>>>,
    /// By name.
    rules: OrderedMap<String, Arc<DeviceTaintRule>>,
}

impl Taints {
    /// Puts one version of a rule in the place of another; only those that evict are kept.
    pub(super) fn replace_rule(
        &mut self,
        old: Option<&DeviceTaintRule>,
        new: Option<&Arc<DeviceTaintRule>>,
    ) {
        if let Some(old) = old {
            self.rules.remove(&old.name);
        }
        if let Some(new) = new.filter(|new| new.taint.is_no_execute()) {
            self.rules.insert(new.name.clone(), new.clone());
        }
    }

    /// Puts one version of a slice in the place of another, and gives the names of the devices of
    /// its pool that have other taints now.
    pub(super) fn replace_slice(
        &mut self,
        old: Option<&ResourceSlice>,
        new: Option<&Arc<ResourceSlice>>,
    ) -> OrderedSet<String> {
        let Some(slice) = new.map(AsRef::as_ref).or(old) else { return OrderedSet::new() };
        let id = (slice.driver.clone(), slice.pool.clone());
        let pool = self.pools.entry(id.clone()).or_default();
        let before = tainted_devices(pool);
        if let Some(old) = old {
            pool.remove(&old.name);
        }
        if let Some(new) = new {
            pool.insert(new.name.clone(), new.clone());
        }
        let after = tainted_devices(pool);
        if pool.is_empty() {
            self.pools.remove(&id);
        }
        modified_devices(&before, &after)
    }

    /// The slices of the newest generation of each pool.
    pub(super) fn newest_slices(&self) -> impl Iterator<Item = &Arc<ResourceSlice>> {
        self.pools.values().flat_map(newest)
    }

    /// Eviction of the pods of an allocated claim. `start` is the time at zero. Mirrors
    /// `Controller.claimEvictionTime`.
    pub(super) fn eviction_of(&self, claim: &ResourceClaim, start: Time) -> Option<Eviction> {
        let mut at = i64::MAX;
        let mut reasons = Vec::new();
        self.visit_evicting_taints(claim, start, &mut |evicting| {
            at = at.min(evicting.at);
            reasons.push(evicting.reason);
        });
        if reasons.is_empty() {
            return None;
        }
        let mut eviction = Eviction { at, reasons };
        eviction.tidy();
        Some(eviction)
    }

    /// The taint that decides when the pods of a claim are evicted: of those that evict first, the
    /// first one. `start` is the time at zero.
    pub(super) fn deciding_taint(
        &self,
        claim: &ResourceClaim,
        start: Time,
    ) -> Option<(i64, DeviceEviction)> {
        let mut deciding: Option<(i64, DeviceEviction)> = None;
        self.visit_evicting_taints(claim, start, &mut |evicting| {
            let Evicting { at, index, device, taint, reason } = evicting;
            if deciding.as_ref().is_some_and(|(known, _)| *known <= at) {
                return;
            }
            let toleration = deciding_device_toleration(taint, &device.tolerations);
            let toleration = toleration.map(|(place, toleration)| {
                let seconds = toleration.toleration_seconds.unwrap_or_default();
                format!(
                    "status.allocation.devices.results[{index}].tolerations[{place}]\
                     .tolerationSeconds={seconds}"
                )
            });
            let eviction = DeviceEviction {
                claim: claim.key.clone(),
                device: device.to_string(),
                taint: taint.to_string(),
                rule: match reason {
                    Reason::Rule(rule) => Some(rule.name.clone()),
                    Reason::Slice(..) => None,
                },
                toleration,
                tainted_at: taint.time_added.unwrap_or(start),
                tolerated_until: timestamp(at),
                created_at: Timestamp::ZERO,
            };
            deciding = Some((at, eviction));
        });
        deciding
    }

    /// Calls `see` with each taint that evicts the pods of a claim at some time.
    fn visit_evicting_taints(
        &self,
        claim: &ResourceClaim,
        start: Time,
        see: &mut dyn FnMut(Evicting<'_>),
    ) {
        for (index, device) in claim.allocation.iter().flatten().enumerate() {
            let mut add = |taint: &Taint, reason: Reason| {
                let time = device_toleration_time(taint, &device.tolerations);
                // The API server gives each taint a time.
                let Some((tolerated, added)) = time.zip(taint.time_added) else { return };
                let at = nanos_between(start, added).saturating_add(tolerated);
                see(Evicting { at, index, device, taint, reason });
            };
            self.visit_slice_taints(device, &mut add);
            for rule in self.rules.values().filter(|rule| hits(rule, device)) {
                add(&rule.taint, Reason::Rule(rule.clone()));
            }
        }
    }

    fn visit_slice_taints(&self, wanted: &AllocatedDevice, add: &mut dyn FnMut(&Taint, Reason)) {
        let Some(pool) = self.pools.get(&(wanted.driver.clone(), wanted.pool.clone())) else {
            return;
        };
        for slice in newest(pool) {
            let mut devices = slice.devices.iter();
            if let Some(device) = devices.find(|device| device.name == wanted.device) {
                for (place, taint) in device.taints.iter().enumerate() {
                    if taint.is_no_execute() {
                        add(taint, Reason::Slice(slice.clone(), device.name.clone(), place));
                    }
                }
                return;
            }
        }
    }
}

/// Whether a rule selects a device of a claim. One without a selector selects none. Mirrors
/// `ruleMatchesDevice`.
pub(super) fn hits(rule: &DeviceTaintRule, device: &AllocatedDevice) -> bool {
    let AllocatedDevice { driver, pool, device, .. } = device;
    rule.selector.as_ref().is_some_and(|selector| selector.selects(driver, pool, device))
}

/// The slices of a pool that are not outdated, by name.
fn newest(
    pool: &OrderedMap<String, Arc<ResourceSlice>>,
) -> impl Iterator<Item = &Arc<ResourceSlice>> {
    let newest = pool.values().map(|slice| slice.generation).max();
    pool.values().filter(move |slice| Some(slice.generation) == newest)
}

/// The `NoExecute` taints of devices, by the name of the device. Mirrors `pool.getTaintedDevices`.
fn tainted_devices(pool: &OrderedMap<String, Arc<ResourceSlice>>) -> Vec<(String, Taint)> {
    let mut tainted = Vec::new();
    for device in newest(pool).flat_map(|slice| &slice.devices) {
        for taint in device.taints.iter().filter(|taint| taint.is_no_execute()) {
            tainted.push((device.name.clone(), taint.clone()));
        }
    }
    tainted.order_by(|(one, _), (other, _)| one.cmp(other));
    tainted
}

/// The devices whose taints differ in two lists in the order of their names. Where one list has
/// more of a device than the other, the next device may be counted as well, as upstream.
fn modified_devices(before: &[(String, Taint)], after: &[(String, Taint)]) -> OrderedSet<String> {
    let mut modified = OrderedSet::new();
    let (mut old, mut new) = (before.iter().peekable(), after.iter().peekable());
    while old.peek().is_some() || new.peek().is_some() {
        while let (Some((name, taint)), Some((other, other_taint))) = (old.peek(), new.peek())
            && name == other
        {
            if taint != other_taint {
                modified.insert(name.clone());
            }
            old.next();
            new.next();
        }
        let next = new.peek().map(|(name, _)| name);
        while let Some((name, _)) = old.next_if(|(name, _)| Some(name) != next) {
            modified.insert(name.clone());
        }
        let next = old.peek().map(|(name, _)| name);
        if let Some((name, _)) = new.next_if(|(name, _)| Some(name) != next) {
            modified.insert(name.clone());
        }
    }
    modified
}

/// From one moment to another; negative if that was before.
fn nanos_between(from: Time, to: Time) -> i64 {
    let nanos = |later: Time, earlier: Time| {
        i64::try_from(later.since(earlier).as_nanos()).unwrap_or(i64::MAX)
    };
    if to >= from { nanos(to, from) } else { -nanos(from, to) }
}
