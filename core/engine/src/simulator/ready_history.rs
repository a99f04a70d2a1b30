//! How many pods of a workload were ready, over time.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use serde::Serialize;
use taintlab_rules::api::{DaemonSetStatus, Pod, Workload, WorkloadKey, WorkloadKind};
use taintlab_rules::cluster::Change;
use taintlab_rules::order::{OrderedMap, OrderedSet};
use taintlab_rules::time::{Span, Timestamp};

use super::Simulator;
use crate::controllers::{Context, job};

/// From when on how many pods were ready, and how many were wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct ReadyStep {
    /// Since when.
    pub at: Timestamp,
    /// How many were ready; those that are terminating do not count.
    pub ready: i64,
    /// How many were wanted.
    pub desired: i64,
}

/// How many of the wanted pods are ready, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Readiness {
    /// All of them.
    All,
    /// Some are missing.
    Some,
    /// None is ready.
    None,
    /// They were never all ready until then: the workload is being rolled out.
    NotYet,
}

impl Readiness {
    /// All of them, in the order in which legends show them.
    pub const ALL: [Self; 4] = [Self::All, Self::Some, Self::None, Self::NotYet];

    /// The workloads with fewer ready pods than they want, by key.
    pub fn lacking(simulator: &Simulator) -> impl Iterator<Item = &WorkloadKey> {
        simulator.control.iter().flat_map(|control| &control.ready_history.lacking)
    }

    /// Whether a workload has fewer ready pods than it wants.
    #[must_use]
    pub fn lacks(simulator: &Simulator, key: &WorkloadKey) -> bool {
        let control = simulator.control.as_ref();
        control.is_some_and(|control| control.ready_history.lacking.contains(key))
    }

    /// What is said of a workload: `some missing`.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::All => "all ready",
            Self::Some => "some missing",
            Self::None => "none ready",
            Self::NotYet => "not ready yet",
        }
    }
}

/// A time during which something was missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Gap {
    /// Since when.
    pub from: Timestamp,
    /// Until when; the present, if it lasts.
    pub to: Timestamp,
}

impl Gap {
    /// How long it was.
    #[must_use]
    pub fn length(self) -> Span {
        Span(self.to.since_zero().saturating_sub(self.from.since_zero()))
    }
}

/// How a workload fared until now, as the control plane sees it: a pod on a node that is lost is
/// ready until the node lifecycle controller says otherwise.
///
/// What was missing before the workload was whole for the first time does not count: it was being
/// rolled out. A Job wants as many pods as its controller would have at once: none once it is over
/// or while it is suspended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Availability {
    /// Which workload.
    pub workload: WorkloadKey,
    /// The curve, in the order of time.
    pub steps: Vec<ReadyStep>,
    /// Until when it goes.
    pub until: Timestamp,
    /// When all wanted pods were ready for the first time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole_at: Option<Timestamp>,
    /// The longest time with fewer ready pods than wanted; the first of those that are equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_below: Option<Gap>,
    /// The longest time without any ready pod, though some were wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_at_zero: Option<Gap>,
    /// How long pods were missing, added up over all that were; serialised in milliseconds.
    #[serde(
        rename = "replicaTimeLostMilliseconds",
        serialize_with = "taintlab_rules::time::milliseconds"
    )]
    #[cfg_attr(feature = "typescript-all", tsify(type = "number"))]
    pub replica_time_lost: Duration,
    /// The fewest that were ready at once.
    pub least_ready: i64,
}

impl Availability {
    /// How many of the wanted pods are ready from a step of the curve on.
    #[must_use]
    pub fn readiness(&self, step: &ReadyStep) -> Readiness {
        match self.whole_at {
            _ if step.ready >= step.desired => Readiness::All,
            Some(whole_at) if step.at >= whole_at && step.ready == 0 => Readiness::None,
            Some(whole_at) if step.at >= whole_at => Readiness::Some,
            _ => Readiness::NotYet,
        }
    }

    /// How many of the wanted pods are ready at the end of the curve.
    #[must_use]
    pub fn readiness_now(&self) -> Readiness {
        self.steps.last().map_or(Readiness::All, |step| self.readiness(step))
    }
}

/// The curves of all workloads, also of those that are gone.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadyHistory {
    /// Shared with copies until one of them changes.
    curves: OrderedMap<WorkloadKey, Arc<Curve>>,
    /// The workloads with fewer ready pods than they want.
    lacking: OrderedSet<WorkloadKey>,
}

#[derive(Clone, Debug, Default)]
struct Curve {
    /// How many pods are wanted; of a DaemonSet it is its controller that says so, of a Job its
    /// status.
    desired: i64,
    steps: Vec<ReadyStep>,
}

/// Whether a curve may change with a workload: not if only its status is another one, which counts
/// for Jobs alone.
fn concerns_workload(key: &WorkloadKey, old: Option<&Workload>, new: Option<&Workload>) -> bool {
    let (Some(old), Some(new)) = (old, new) else { return true };
    key.kind == WorkloadKind::Job
        || old.replicas() != new.replicas()
        || old.metadata.owner_references != new.metadata.owner_references
}

/// Whether a curve may change with a pod: not if as many are ready as before. Of a Job all counts.
fn concerns_pods(old: Option<&Pod>, new: Option<&Pod>) -> bool {
    let Some(old) = old else { return true };
    let is_ready = |pod: Option<&Pod>| pod.is_some_and(Pod::is_ready_replica);
    let owners = &old.metadata.owner_references;
    is_ready(Some(old)) != is_ready(new)
        || new.is_some_and(|new| new.metadata.owner_references != *owners)
        || owners.iter().any(|owner| owner.kind == WorkloadKind::Job.as_str())
}

impl ReadyHistory {
    pub(super) fn handle_change(&mut self, context: &Context<'_>, change: &Change) {
        match change {
            Change::Workload { key, old, new }
                if concerns_workload(key, old.as_deref(), new.as_deref()) =>
            {
                let curve = Arc::make_mut(self.curves.entry(key.clone()).or_default());
                match new {
                    Some(new) if key.kind == WorkloadKind::Job => {
                        curve.desired = job::wanted_pods(context.cluster, new);
                    }
                    Some(new) if key.kind != WorkloadKind::DaemonSet => {
                        curve.desired = new.replicas();
                    }
                    Some(new) if old.is_none() => {
                        let status = new.status::<DaemonSetStatus>();
                        curve.desired = status.desired_number_scheduled;
                    }
                    Some(_) => {}
                    None => curve.desired = 0,
                }
                self.write_on(context, key);
                for workload in [old, new].into_iter().flatten() {
                    if let Some(owner) = workload.owner() {
                        self.write_on(context, &owner);
                    }
                }
            }
            Change::Pod { old, new, .. } if concerns_pods(old.as_deref(), new.as_deref()) => {
                let owner = |pod: &Option<Arc<Pod>>| pod.as_ref()?.metadata.controller_key();
                let before = owner(old);
                // Most have one owner, which is written on once.
                let after = owner(new).filter(|after| before.as_ref() != Some(after));
                for owner in before.iter().chain(&after) {
                    let parent = context.cluster.get_workload(owner);
                    if let Some(job) = parent.filter(|parent| parent.kind == WorkloadKind::Job) {
                        let curve = Arc::make_mut(self.curves.entry(owner.clone()).or_default());
                        curve.desired = job::wanted_pods(context.cluster, job);
                    }
                    self.write_on(context, owner);
                    if let Some(parent) = parent.and_then(|workload| workload.owner()) {
                        self.write_on(context, &parent);
                    }
                }
            }
            Change::Workload { .. }
            | Change::Pod { .. }
            | Change::Node { .. }
            | Change::Budget { .. }
            | Change::Lease { .. }
            | Change::Volume(_)
            | Change::Device(_) => {}
        }
    }

    /// A DaemonSet wants that many pods.
    pub(super) fn set_desired(&mut self, context: &Context<'_>, key: &WorkloadKey, desired: i64) {
        Arc::make_mut(self.curves.entry(key.clone()).or_default()).desired = desired;
        self.write_on(context, key);
    }

    /// How many pods a workload wants.
    pub(super) fn desired(&self, key: &WorkloadKey) -> i64 {
        self.curves.get(key).map_or(0, |curve| curve.desired)
    }

    /// How a workload fared until now; `None` if it was never there.
    pub(super) fn availability(&self, key: &WorkloadKey, now: Timestamp) -> Option<Availability> {
        let curve = self.curves.get(key)?;
        Some(measure(key.clone(), curve.steps.clone(), now))
    }

    /// Writes the curve of a workload on, if it has changed. What lasts for no time is left out.
    fn write_on(&mut self, context: &Context<'_>, key: &WorkloadKey) {
        let ready = context.cluster.ready_pods(key);
        let curve = match self.curves.get_mut(key) {
            Some(curve) => curve,
            None => self.curves.entry(key.clone()).or_default(),
        };
        let step = ReadyStep { at: context.now, ready, desired: curve.desired };
        let same = |other: &ReadyStep| (other.ready, other.desired) == (step.ready, step.desired);
        if curve.steps.last().is_some_and(same) {
            return;
        }
        let lacks = |step: &ReadyStep| step.ready < step.desired;
        match (curve.steps.last().is_some_and(lacks), lacks(&step)) {
            (false, true) => _ = self.lacking.insert(key.clone()),
            (true, false) => _ = self.lacking.remove(key),
            (false, false) | (true, true) => {}
        }
        let Curve { steps, .. } = Arc::make_mut(curve);
        match steps.last_mut() {
            Some(last) if last.at == step.at => {
                *last = step;
                if steps.iter().rev().nth(1).is_some_and(same) {
                    steps.pop();
                }
            }
            _ => steps.push(step),
        }
    }
}

/// What a curve comes to.
fn measure(workload: WorkloadKey, steps: Vec<ReadyStep>, until: Timestamp) -> Availability {
    let whole_at = steps.iter().find(|step| step.ready >= step.desired && step.desired > 0);
    let whole_at = whole_at.map(|step| step.at);
    let ends = steps.iter().skip(1).map(|step| step.at).chain([until]);
    let counted = steps.iter().zip(ends).filter(|(step, _)| Some(step.at) >= whole_at);
    let counted = counted.filter(|_| whole_at.is_some());
    let mut lost: u128 = 0;
    let (mut below, mut zero) = (Longest::default(), Longest::default());
    let mut least_ready = i64::MAX;
    for (step, end) in counted {
        let gap = Gap { from: step.at, to: end };
        let missing = step.desired.saturating_sub(step.ready).max(0);
        lost += gap.length().0.as_nanos() * u128::try_from(missing).unwrap_or(0);
        below.note(gap, missing > 0);
        zero.note(gap, missing > 0 && step.ready == 0);
        least_ready = least_ready.min(step.ready);
    }
    Availability {
        workload,
        until,
        whole_at,
        longest_below: below.longest,
        longest_at_zero: zero.longest,
        replica_time_lost: Duration::from_nanos(u64::try_from(lost).unwrap_or(u64::MAX)),
        least_ready: if least_ready == i64::MAX { 0 } else { least_ready },
        steps,
    }
}

/// The longest of the gaps seen; those that touch are one.
#[derive(Default)]
struct Longest {
    open: Option<Gap>,
    longest: Option<Gap>,
}

impl Longest {
    fn note(&mut self, gap: Gap, missing: bool) {
        if !missing {
            self.open = None;
            return;
        }
        let from = self.open.map_or(gap.from, |open| open.from);
        let gap = Gap { from, to: gap.to };
        self.open = Some(gap);
        if gap.length().0 > self.longest.map_or(Duration::ZERO, |longest| longest.length().0) {
            self.longest = Some(gap);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_that_touch_are_one_and_the_rollout_does_not_count() {
        let step = |at, ready| ReadyStep { at: Timestamp::from_secs(at), ready, desired: 3 };
        let steps = [step(0, 0), step(2, 3), step(10, 1), step(20, 0), step(25, 2), step(30, 3)];
        let key = WorkloadKey::parse("deployment/web").unwrap();
        let found = measure(key, steps.into(), Timestamp::from_secs(60));
        let gap =
            |from, to| Some(Gap { from: Timestamp::from_secs(from), to: Timestamp::from_secs(to) });
        assert_eq!(found.whole_at, Some(Timestamp::from_secs(2)));
        assert_eq!(found.longest_below, gap(10, 30));
        assert_eq!(found.longest_at_zero, gap(20, 25));
        // 2 for 10 s, 3 for 5 s, 1 for 5 s.
        assert_eq!(found.replica_time_lost, Duration::from_secs(40));
        assert_eq!(found.least_ready, 0);
    }
}
