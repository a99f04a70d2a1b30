//! Time budgets: what is remembered of each eviction, and what is to come if nothing changes.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::time::Duration;

use super::Simulator;
use crate::api::{NodeName, PodKey, Taint, Toleration, well_known};
use crate::event::RequestResult;
use crate::matching::matching_tolerations;
use crate::node_lifecycle::NodeTrail;
use crate::release::FeatureGate;
use crate::taint_eviction::{Decision, Ruling};
use crate::time::Timestamp;
use crate::time_budget::{Cause, Eviction, Moment, TimeBudget};

/// What is remembered of evictions, small and shared among the pods of a node.
#[derive(Clone, Debug, Default)]
pub(super) struct Budgets {
    evictions: BTreeMap<PodKey, Eviction>,
    /// The nodes that the taint-eviction controller has looked at, as they were then.
    nodes: BTreeMap<NodeName, TaintedNode>,
}

#[derive(Clone, Debug)]
struct TaintedNode {
    /// Each with its text, and since when the node has it.
    taints: Arc<[(Arc<str>, Taint, Timestamp)]>,
    trail: Option<Arc<NodeTrail>>,
}

/// How far ahead it is asked whether a pod of a silent node will go: longer than the limiter of a
/// large zone lets a node wait, and than most tolerations.
const AHEAD: Duration = Duration::from_secs(7_200);
/// How many deadlines that may be at most, so that a large cluster does not hold up a page.
const STEPS: usize = 400;

/// What will happen if nobody does anything: a copy of the simulation that has run ahead.
#[derive(Clone, Debug)]
pub struct Forecast {
    simulator: Simulator,
    from: Timestamp,
}

impl Forecast {
    /// Why a pod goes when it goes; `None` if it does not go before the forecast ends.
    #[must_use]
    pub fn time_budget(&self, pod: &PodKey) -> Option<TimeBudget> {
        let deleted_at = self.simulator.budgets.evictions.get(pod)?.deleted_at?;
        let budget = self.simulator.time_budget(pod)?;
        Some(TimeBudget { over: deleted_at <= self.from, ..budget })
    }

    /// The cluster at the end of the forecast.
    #[must_use]
    pub const fn simulator(&self) -> &Simulator {
        &self.simulator
    }
}

impl Simulator {
    /// Why a pod was deleted when it was, or will be: `None` unless it was, or its time runs.
    /// [`forecast`](Self::forecast) tells of pods whose nodes are not tainted yet.
    #[must_use]
    pub fn time_budget(&self, pod: &PodKey) -> Option<TimeBudget> {
        let eviction = self.budgets.evictions.get(pod)?;
        let ends = self.grace_period_ends(pod).filter(|_| eviction.gone_at.is_none());
        let waits = eviction.gone_at.is_none() && self.awaits_kubelet(pod);
        Some(eviction.budget(pod, self.config.start, &self.flags, ends, waits))
    }

    /// The record of a pod that was deleted, or what is to come of one that is on a node that is
    /// tainted or silent, as far as the next two hours tell; see [`forecast`](Self::forecast).
    #[must_use]
    pub fn record_or_forecast(&self, pod: &PodKey) -> Option<TimeBudget> {
        self.record_or_look_ahead(pod, &mut None)
    }

    /// The same for each pod that is there, by key, with one look ahead for all of them.
    pub fn records_and_forecasts(&self) -> impl Iterator<Item = (&PodKey, TimeBudget)> {
        let mut forecast = None;
        let pods = self.cluster.pods();
        pods.filter_map(move |(pod, _)| Some((pod, self.record_or_look_ahead(pod, &mut forecast)?)))
    }

    fn record_or_look_ahead(
        &self,
        pod: &PodKey,
        forecast: &mut Option<Forecast>,
    ) -> Option<TimeBudget> {
        if let Some(known) = self.time_budget(pod) {
            let over = known.evicted_at <= Moment::from(self.now);
            return Some(TimeBudget { over, ..known });
        }
        // Only where something is about to come is it worth looking for it.
        let node = &self.cluster.get_pod(pod)?.spec.node_name;
        self.node_view(node)?.silent?;
        let look_ahead = || self.forecast(self.now.saturating_add(AHEAD), STEPS);
        forecast.get_or_insert_with(look_ahead).time_budget(pod)
    }

    /// The pods that a controller has deleted or whose time runs, by key, and when each was or will
    /// be deleted.
    pub fn evictions(&self) -> impl Iterator<Item = (&PodKey, Timestamp)> {
        let evictions = self.budgets.evictions.iter();
        evictions.map(|(pod, eviction)| (pod, eviction.deleted_at.unwrap_or(eviction.fire_at)))
    }

    /// Runs a copy ahead to `until`, at most `steps` deadlines far, and tells what is to come. It
    /// holds until something is done to this simulation.
    ///
    /// What takes time is to run what happens, so ask once after a change rather than for each pod:
    /// the 6,000 pods of a lost zone of 200 nodes take less than a tenth of a second natively.
    #[must_use]
    pub fn forecast(&self, until: Timestamp, steps: usize) -> Forecast {
        let mut simulator = self.clone();
        simulator.events.clear();
        for _ in 0..steps {
            let Some(next) = simulator.poll_timeout().filter(|next| next.at <= until) else {
                break;
            };
            // The deadline is never in the past.
            if simulator.handle_timeout(next.at).is_err() {
                break;
            }
            simulator.events.clear();
        }
        Forecast { simulator, from: self.now }
    }

    /// The taint-eviction controller has looked at a node.
    pub(super) fn note_node(&mut self, node: &NodeName, taints: &[Taint]) {
        if taints.is_empty() {
            self.budgets.nodes.remove(node.as_str());
            return;
        }
        let trail = self.lifecycle.as_ref().and_then(|lifecycle| lifecycle.trail(node.as_str()));
        let tainted = trail.filter(|trail| trail.turn.is_some() || trail.swapped_at.is_some());
        let before = self.budgets.nodes.get(node.as_str()).map(|known| known.taints.clone());
        let named = |taint: &Taint| -> (Arc<str>, Taint, Timestamp) {
            let known = before.iter().flat_map(|taints| taints.iter());
            if let Some(known) = known.into_iter().find(|(_, known, _)| known == taint) {
                return known.clone();
            }
            let name = alloc::format!("{}:{}", taint.key, taint.effect);
            (name.into(), taint.clone(), self.now)
        };
        let known = TaintedNode {
            taints: taints.iter().map(named).collect(),
            trail: tainted.map(|trail| Arc::new(trail.clone())),
        };
        self.budgets.nodes.insert(node.clone(), known);
    }

    /// The taint-eviction controller has decided about a pod.
    pub(super) fn note_decision(&mut self, decision: &Decision) {
        let pod = &decision.pod;
        match &decision.ruling {
            Ruling::Scheduled { created_at, fire_at } => {
                self.note_eviction(pod, *created_at, *fire_at, None);
            }
            Ruling::ToleratedForNoTime => self.note_eviction(pod, self.now, self.now, None),
            Ruling::NotTolerated { taint } => {
                self.note_eviction(pod, self.now, self.now, Some(taint));
            }
            Ruling::ToleratedForever | Ruling::TaintsRemoved { .. } | Ruling::PodGone { .. } => {
                if let Some(eviction) = self.budgets.evictions.get(pod)
                    && eviction.deleted_at.is_none()
                {
                    self.budgets.evictions.remove(pod);
                }
            }
            Ruling::TimerKept { .. }
            | Ruling::AlreadyDeleted
            | Ruling::ToleratedForeverTooLate { .. } => {}
        }
    }

    fn note_eviction(
        &mut self,
        pod: &PodKey,
        created_at: Timestamp,
        fire_at: Timestamp,
        untolerated: Option<&Taint>,
    ) {
        // A pod that is terminating is not deleted for the first time.
        let known = self.budgets.evictions.get(pod);
        if known.is_some_and(|known| known.deleted_at.is_some() && known.gone_at.is_none()) {
            return;
        }
        let Some(object) = self.cluster.get_pod(pod) else { return };
        let node: NodeName = object.spec.node_name.as_str().into();
        let Some(tainted) = self.budgets.nodes.get(node.as_str()) else { return };
        let gate = self.gates.is_enabled(FeatureGate::TaintTolerationComparisonOperators);
        let (taint, toleration) = match untolerated {
            Some(taint) => (tainted.name_of(taint), None),
            None => tainted.limit(&object.spec.tolerations, gate),
        };
        let Some((name, taint, since)) = taint else { return };
        // Of the taints, the node lifecycle controller gives these two.
        let own = [well_known::NOT_READY, well_known::UNREACHABLE].contains(&taint.key.as_str());
        let trail = tainted.trail.clone().filter(|_| own);
        let cause = Cause::Taint { taint: name.clone(), toleration, since: *since, trail };
        let eviction = Eviction {
            node,
            cause,
            created_at,
            fire_at,
            deleted_at: None,
            grace: None,
            gone_at: None,
        };
        self.budgets.evictions.insert(pod.clone(), eviction);
    }

    /// A controller's delete was answered.
    pub(super) fn note_delete(&mut self, pod: &PodKey, result: RequestResult, by_lifecycle: bool) {
        if result != RequestResult::Ok {
            return;
        }
        let Some(object) = self.cluster.get_pod(pod) else { return };
        let node: NodeName = object.spec.node_name.as_str().into();
        let grace = self.grace_period_of(object);
        if by_lifecycle {
            let lifecycle = self.lifecycle.as_ref();
            let trail = lifecycle.and_then(|lifecycle| lifecycle.trail(node.as_str())).cloned();
            let now = self.now;
            let cause = Cause::NodeLost(Arc::new(trail.unwrap_or_default()));
            let (deleted_at, gone_at) = (None, None);
            let eviction = Eviction {
                node,
                cause,
                created_at: now,
                fire_at: now,
                deleted_at,
                grace: None,
                gone_at,
            };
            self.budgets.evictions.insert(pod.clone(), eviction);
        }
        if let Some(eviction) = self.budgets.evictions.get_mut(pod) {
            eviction.deleted_at = Some(self.now);
            eviction.grace = Some(grace);
        }
    }

    /// A pod object is gone.
    pub(super) fn note_gone(&mut self, pod: &PodKey) {
        let now = self.now;
        if let Some(eviction) = self.budgets.evictions.get_mut(pod)
            && eviction.deleted_at.is_some()
        {
            eviction.gone_at.get_or_insert(now);
        }
    }
}

type NamedTaint<'a> = Option<&'a (Arc<str>, Taint, Timestamp)>;

impl TaintedNode {
    fn name_of(&self, taint: &Taint) -> NamedTaint<'_> {
        self.taints.iter().find(|(_, known, _)| known.matches(taint))
    }

    /// The taint that is tolerated for the least time, and the toleration that says so.
    fn limit(
        &self,
        tolerations: &[Toleration],
        gate: bool,
    ) -> (NamedTaint<'_>, Option<(usize, i64)>) {
        let taints: alloc::vec::Vec<Taint> =
            self.taints.iter().map(|(_, taint, _)| taint.clone()).collect();
        let used = matching_tolerations(&taints, tolerations, gate).used;
        let limits = used.iter().zip(self.taints.iter()).filter_map(|(index, taint)| {
            Some((tolerations.get(*index)?.toleration_seconds?, *index, taint))
        });
        match limits.min_by_key(|(seconds, ..)| *seconds) {
            Some((seconds, index, taint)) => (Some(taint), Some((index, seconds))),
            None => (None, None),
        }
    }
}
