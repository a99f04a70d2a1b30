//! Records of evictions, small and shared among the pods of a node.

use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hashbrown::hash_map::EntryRef;
use taintlab_rules::api::{NodeName, Pod, PodKey, Taint, Toleration, well_known};
use taintlab_rules::order::{Order, OrderedMap};
use taintlab_rules::policy::matching::matching_tolerations;
use taintlab_rules::time::{Time, Timestamp};

use super::time_budget::{Cause, Eviction, Moment};
use crate::controllers::device_taint_eviction::DeviceEviction;
use crate::controllers::node_lifecycle::NodeTaintHistory;
use crate::controllers::taint_eviction::{Decision, EvictionDecision};

/// Records of evictions.
#[derive(Clone, Debug)]
pub(crate) struct EvictionRecords {
    /// Iterated only by [`sorted`](Self::sorted), so that its order has no effect.
    evictions: HashMap<PodKey, Eviction, FixedState>,
    /// Evictions of gone pods whose name another pod has taken, in order.
    earlier: OrderedMap<PodKey, Vec<Eviction>>,
    /// Nodes as the taint-eviction controller last saw them.
    nodes: OrderedMap<NodeName, TaintedNode>,
    /// The feature gate `TaintTolerationComparisonOperators`.
    comparison_operators: bool,
}

#[derive(Clone, Debug)]
struct TaintedNode {
    taints: Arc<[Taint]>,
    /// Text of each taint, and the time at which the node got it.
    told: Arc<[(Arc<str>, Moment)]>,
    taint_history: Option<Arc<NodeTaintHistory>>,
}

impl EvictionRecords {
    pub(crate) fn new(comparison_operators: bool) -> Self {
        let evictions = HashMap::with_hasher(FixedState::with_seed(0));
        Self {
            evictions,
            earlier: OrderedMap::new(),
            nodes: OrderedMap::new(),
            comparison_operators,
        }
    }

    /// Eviction of the pod with this name, or of the last one if it is gone: a past deletion or a
    /// running timer.
    pub(crate) fn get(&self, pod: &PodKey) -> Option<&Eviction> {
        self.evictions.get(pod)
    }

    /// Last eviction of a pod with this name, even one that another pod has replaced.
    pub(crate) fn last(&self, pod: &PodKey) -> Option<&Eviction> {
        self.get(pod).or_else(|| self.earlier.get(pod)?.last())
    }

    /// Eviction of the pod that had this name at a moment: one that was not over then, or the next
    /// one, if it is of the same pod. A pod without a grace period can go at that very moment.
    pub(crate) fn of_pod_at(
        &self,
        pod: &PodKey,
        uid: Option<&str>,
        at: Timestamp,
    ) -> Option<&Eviction> {
        let earlier = self.earlier.get(pod).map(Vec::as_slice).unwrap_or_default();
        let mut all = earlier.iter().chain(self.evictions.get(pod));
        let is_same = |eviction: &Eviction| uid.is_some_and(|uid| *eviction.uid == *uid);
        let found = all.find(|eviction| {
            eviction.gone_at.is_none_or(|gone| gone > at || gone == at && is_same(eviction))
        });
        // Timers are by name, so that a running one may belong to an earlier pod.
        found.filter(|eviction| {
            eviction.created_at <= at.into() || uid.is_none() || is_same(eviction)
        })
    }

    /// Last eviction of each name, by key.
    pub(crate) fn sorted(&self) -> Vec<(&PodKey, &Eviction)> {
        let earlier = self.earlier.iter().filter(|(pod, _)| !self.evictions.contains_key(*pod));
        let earlier = earlier.filter_map(|(pod, evictions)| Some((pod, evictions.last()?)));
        let mut evictions: Vec<_> = self.evictions.iter().chain(earlier).collect();
        evictions.order_by_key(|(pod, _)| *pod);
        evictions
    }

    /// Records a node that the taint-eviction controller has looked at.
    pub(crate) fn record_node(
        &mut self,
        (now, start): (Timestamp, Time),
        node: &NodeName,
        taints: &[Taint],
        taint_history: Option<&NodeTaintHistory>,
    ) {
        if taints.is_empty() {
            self.nodes.remove(node.as_str());
            return;
        }
        let tainted = taint_history.filter(|taint_history| {
            taint_history.dequeued.is_some() || taint_history.swapped_at.is_some()
        });
        let before = self.nodes.get(node.as_str());
        let told = |taint: &Taint| {
            let known = before.and_then(|before| before.told_of(|known| known == taint));
            let since = known.map(|(_, told)| told.clone());
            since.unwrap_or_else(|| {
                // What is there at the beginning came before.
                let added = taint.time_added.filter(|_| now == Timestamp::ZERO);
                let since =
                    added.map_or(now.into(), |added| Moment::of(added, start).min(now.into()));
                (format!("{}:{}", taint.key, taint.effect).into(), since)
            })
        };
        let known = TaintedNode {
            taints: taints.into(),
            told: taints.iter().map(told).collect(),
            taint_history: tainted.map(|taint_history| Arc::new(taint_history.clone())),
        };
        self.nodes.insert(node.clone(), known);
    }

    /// Records a decision of the taint-eviction controller; `object` is the pod, if it exists.
    pub(crate) fn record_decision(
        &mut self,
        now: Timestamp,
        decision: &Decision,
        object: Option<&Pod>,
    ) {
        let pod = &decision.pod;
        match &decision.decision {
            EvictionDecision::Scheduled { created_at, fire_at } => {
                self.record_eviction(pod, object, (*created_at, *fire_at), None);
            }
            EvictionDecision::ToleratedForNoTime => {
                self.record_eviction(pod, object, (now, now), None)
            }
            EvictionDecision::NotTolerated { taint } => {
                self.record_eviction(pod, object, (now, now), Some(taint));
            }
            EvictionDecision::ToleratedForever
            | EvictionDecision::TaintsRemoved { .. }
            | EvictionDecision::PodGone { .. } => {
                if let Some(eviction) = self.evictions.get(pod)
                    && eviction.deleted_at.is_none()
                {
                    self.evictions.remove(pod);
                }
            }
            EvictionDecision::TimerKept { .. }
            | EvictionDecision::AlreadyDeleted
            | EvictionDecision::ToleratedForeverTooLate { .. } => {}
        }
    }

    fn record_eviction(
        &mut self,
        pod: &PodKey,
        object: Option<&Pod>,
        (created_at, fire_at): (Timestamp, Timestamp),
        untolerated: Option<&Taint>,
    ) {
        let entry = self.evictions.entry_ref(pod);
        // A terminating pod is not deleted for the first time.
        if let EntryRef::Occupied(known) = &entry
            && known.get().deleted_at.is_some()
            && known.get().gone_at.is_none()
        {
            return;
        }
        let Some(object) = object else { return };
        let Some((node, tainted)) = self.nodes.get_key_value(object.spec.node_name.as_str()) else {
            return;
        };
        let (taint, toleration) = match untolerated {
            Some(taint) => (tainted.told_of(|known| known.matches(taint)), None),
            None => {
                let gate = self.comparison_operators;
                tainted.limit(&object.spec.tolerations, gate, (created_at, fire_at))
            }
        };
        let Some((taint, (name, since))) = taint else { return };
        // Only these two taints come from the node lifecycle controller.
        let own = [well_known::NOT_READY, well_known::UNREACHABLE].contains(&taint.key.as_str());
        let taint_history = tainted.taint_history.clone().filter(|_| own);
        let cause = Cause::Taint { taint: name.clone(), toleration, since: *since, taint_history };
        // A timer that has been running since before the beginning is shorter.
        let whole = toleration.map(|(_, seconds)| u64::try_from(seconds).unwrap_or_default());
        let began = whole.map(|whole| Moment::from(fire_at).minus(Duration::from_secs(whole)));
        let created_at = began.map_or(created_at.into(), |began| began.min(created_at.into()));
        entry.insert(begun(object, node.clone(), cause, (created_at, fire_at)));
    }

    /// Records that a controller deleted a pod, with its grace period. `eviction` is the one that
    /// ends so, unless it is that of the taint-eviction controller.
    pub(crate) fn record_delete(
        &mut self,
        now: Timestamp,
        pod: &PodKey,
        grace: Duration,
        eviction: Option<Eviction>,
    ) {
        if let Some(eviction) = eviction {
            self.evictions.insert(pod.clone(), eviction);
        }
        if let Some(eviction) = self.evictions.get_mut(pod) {
            eviction.deleted_at = Some(now);
            eviction.grace = Some(grace);
        }
    }

    /// Records that the delete request of a pod waits for a token of the controller's client.
    pub(crate) fn record_throttled(&mut self, pod: &PodKey) {
        if let Some(eviction) = self.evictions.get_mut(pod) {
            eviction.throttled |= eviction.deleted_at.is_none();
        }
    }

    /// Due times at which some pods had to wait for the client, each with the last deletion
    /// time. The order among these pods is unspecified.
    pub(crate) fn throttled(&self) -> OrderedMap<Timestamp, Timestamp> {
        let all = || self.evictions.values().chain(self.earlier.values().flatten());
        let mut moments: OrderedMap<Timestamp, Timestamp> = OrderedMap::new();
        for eviction in all().filter(|eviction| eviction.throttled) {
            let last = moments.entry(eviction.fire_at).or_default();
            *last = eviction.deleted_at.map_or(*last, |deleted| deleted.max(*last));
        }
        moments
    }

    /// Records the creation of a pod, which separates it from a gone pod of its name.
    pub(crate) fn record_created(&mut self, pod: &PodKey) {
        if self.evictions.get(pod).is_some_and(|eviction| eviction.gone_at.is_some())
            && let Some((pod, eviction)) = self.evictions.remove_entry(pod)
        {
            self.earlier.entry(pod).or_default().push(eviction);
        }
    }

    /// Records that a pod object is gone.
    pub(crate) fn record_gone(&mut self, now: Timestamp, pod: &PodKey) {
        if let Some(eviction) = self.evictions.get_mut(pod)
            && eviction.deleted_at.is_some()
        {
            eviction.gone_at.get_or_insert(now);
        }
    }
}

impl Eviction {
    /// Eviction by the node lifecycle controller.
    pub(crate) fn by_lifecycle(now: Timestamp, pod: &Pod, history: NodeTaintHistory) -> Self {
        let node = pod.spec.node_name.as_str().into();
        begun(pod, node, Cause::NodeLost(Arc::new(history)), (now.into(), now))
    }

    /// Eviction by the device taint eviction controller.
    pub(crate) fn by_device(pod: &Pod, planned: DeviceEviction) -> Self {
        let times = (planned.created_at.into(), planned.fire_at());
        let node = pod.spec.node_name.as_str().into();
        begun(pod, node, Cause::DeviceTaint(Arc::new(planned)), times)
    }
}

fn begun(
    pod: &Pod,
    node: NodeName,
    cause: Cause,
    (created_at, fire_at): (Moment, Timestamp),
) -> Eviction {
    let uid = pod.metadata.uid.as_str().into();
    let (deleted_at, grace, gone_at) = (None, None, None);
    let throttled = false;
    Eviction { uid, node, cause, created_at, fire_at, throttled, deleted_at, grace, gone_at }
}

/// A taint, its text, and the time at which the node got it.
type Told<'a> = (&'a Taint, &'a (Arc<str>, Moment));

impl TaintedNode {
    fn told_of(&self, wanted: impl Fn(&Taint) -> bool) -> Option<Told<'_>> {
        self.taints.iter().zip(self.told.iter()).find(|(taint, _)| wanted(taint))
    }

    /// The taint that is tolerated for the shortest time, and the toleration with that time; of a timer
    /// that ran before, those with which it began, since other taints do not make it shorter.
    fn limit(
        &self,
        tolerations: &[Toleration],
        gate: bool,
        (created_at, fire_at): (Timestamp, Timestamp),
    ) -> (Option<Told<'_>>, Option<(usize, i64)>) {
        let used = matching_tolerations(&self.taints, tolerations, gate).used;
        let told = self.taints.iter().zip(self.told.iter());
        let limits = used.iter().zip(told).filter_map(|(index, told)| {
            Some((tolerations.get(*index)?.toleration_seconds?, *index, told))
        });
        let explains = |since: Moment, seconds: i64| {
            let whole = Duration::from_secs(u64::try_from(seconds).unwrap_or_default());
            let begins = Moment::from(fire_at).minus(whole);
            begins == created_at.into() || begins == since
        };
        match limits
            .min_by_key(|(seconds, _, (_, (_, since)))| (!explains(*since, *seconds), *seconds))
        {
            Some((seconds, index, told)) => (Some(told), Some((index, seconds))),
            None => (None, None),
        }
    }
}
