//! The scheduler at work: pods that wait for a node, in their order, and when they are tried again.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::time::Duration;

use taintlab_rules::api::{
    DeviceObject, Node, NodeName, Pod, PodCondition, PodKey, SchedulingFields, claim_statuses,
    pod_claims,
};
use taintlab_rules::cluster::{Change, Cluster, DeviceChange, Devices, VolumeChange, Volumes};
use taintlab_rules::order::{OrderedMap, OrderedSet};
use taintlab_rules::policy::devices::AllocatorFeatures;
use taintlab_rules::policy::scheduling::{
    BudgetOfVictims, ClusterEvent, Decision, Preemption, Rejectors, Snapshot, preempted_condition,
    preempted_message,
};
use taintlab_rules::protocol::{
    ObjectReference, RecordedEvent, RequestId, TimeoutReason, round_up,
};
use taintlab_rules::queue::timer_queue::{TimerId, TimerQueue};
use taintlab_rules::release::KubernetesRelease;
use taintlab_rules::time::Timestamp;

use super::{Context, Controller, Machine, WorkTicket};

/// `--pod-initial-backoff-seconds` and `--pod-max-backoff-seconds`: how long a pod waits before it
/// is tried again, at first and at most.
const BACKOFF: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(10));

/// What the scheduler wants done. The result of none matters to it: what comes of it, a watch
/// tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchedulerAction {
    /// Record a Kubernetes Event.
    RecordEvent(RecordedEvent),
    /// A claim of a pod waits for its first consumer, which is about to be bound: keep this volume
    /// for it, or have one made for the node. Mirrors `BindPodVolumes`.
    SelectNode {
        /// Which claim.
        claim: PodKey,
        /// The node.
        node: NodeName,
        /// A volume that is there.
        volume: Option<String>,
    },
    /// `PUT` the status of a resource claim of a pod that is about to be bound: its devices, and
    /// that the pod may use them.
    ReserveClaim(Box<DeviceObject>),
    /// `POST` a binding of the pod to the node.
    BindPod {
        /// Which pod.
        pod: PodKey,
        /// Which node.
        node: NodeName,
    },
    /// `PATCH` the condition `PodScheduled` of the pod: False, with the reason `Unschedulable`.
    MarkUnschedulable {
        /// Which pod.
        pod: PodKey,
        /// The message.
        message: String,
        /// Where room was made for it, if it was: `status.nominatedNodeName` is set too.
        nominated: Option<NodeName>,
    },
    /// `DELETE` a pod that makes room for another one.
    PreemptPod {
        /// Which pod.
        pod: PodKey,
        /// Its condition `DisruptionTarget`, written before if the gate `PodDisruptionConditions`
        /// is on.
        condition: PodCondition,
        /// The event that is recorded after it.
        event: RecordedEvent,
    },
    /// `PATCH` away `status.nominatedNodeName` of the pod.
    ClearNomination {
        /// Which pod.
        pod: PodKey,
    },
}

/// Pods that are tried between two writes of a node, which follow one another within 3 to 29 ms.
/// How many a real scheduler tries depends on the machine: `docs/upstream.md` says what was
/// recorded. With two, recordings of 1.20.2 agree less; one that is played says it itself.
const TRIED_AHEAD: usize = 1;

/// How often pods are looked at that have waited for long. Mirrors `flushUnschedulableQLeftover`.
const FLUSH: Duration = Duration::from_secs(30);

/// The pods that have no node, and what is known of nodes. Mirrors `pkg/scheduler`.
#[derive(Clone, Debug)]
pub struct Scheduler {
    snapshot: Snapshot,
    /// `None` if it allocates no devices.
    allocator: Option<AllocatorFeatures>,
    /// Changes with the snapshot.
    version: u64,
    waiting: OrderedMap<PodKey, Waiting>,
    /// Those to be tried: by priority, then by when they came or were tried last.
    active: OrderedMap<Rank, PodKey>,
    /// Those that wait for the end of their back-off, by its second and then as those to be tried:
    /// since 1.33 they are tried if there are no others. Mirrors `podBackoffQ`.
    backoff: OrderedMap<(Timestamp, Rank), PodKey>,
    /// Those that were tried in vain and wait for a change, with the plugins that rejected them.
    /// Mirrors `unschedulableQ`.
    unschedulable: OrderedMap<PodKey, Rejectors>,
    /// Those of them that nothing has changed for since: to try them again would change nothing.
    unflushed: OrderedSet<PodKey>,
    /// Those of them that want to be where certain other pods are.
    seeking: OrderedSet<PodKey>,
    /// Where the search for nodes goes on.
    next: usize,
    entered: u64,
    /// What was said last of pods of one controller, and when in terms of `version`.
    failures: OrderedMap<String, (u64, String, Rejectors)>,
    /// When pods are tried again.
    timers: TimerQueue<PodKey>,
    actions: VecDeque<SchedulerAction>,
    /// Pods that are tried before any controller looks at the node that has just changed.
    ahead: usize,
    /// That number for each node, in the order in which it is uncordoned.
    ahead_of: OrderedMap<NodeName, VecDeque<usize>>,
    /// Times at which the scheduler learns of pods created about then, by pod or controller.
    arrivals: OrderedMap<String, Vec<Timestamp>>,
    /// Nodes to be taken where several are equally good, by pod or controller.
    placements: OrderedMap<String, VecDeque<NodeName>>,
    /// The UIDs of pods for which such a node was taken out of several.
    placed_by_lot: OrderedSet<String>,
}

/// Longest time between a recorded arrival and the creation, in nanoseconds.
const ARRIVED_WITHIN: u64 = 1_000_000_000;

/// The order of pods that are to be tried. Mirrors `queuesort.PrioritySort`.
type Rank = (Reverse<i64>, Timestamp, u64);

/// A pod without a node. Mirrors `framework.QueuedPodInfo`.
#[derive(Clone, Debug, Default)]
struct Waiting {
    attempts: u32,
    /// When it came, or was tried last, and a number that tells apart those of one moment.
    since: (Timestamp, u64),
    message: String,
    /// Its place among those to be tried.
    place: Option<Rank>,
    /// When it is put among them.
    timer: Option<TimerId>,
    /// Its place among those that back off, if that timer is the end of its back-off.
    backoff: Option<(Timestamp, Rank)>,
    /// Number of changes of its object.
    revision: u64,
    /// `revision` at the last recorded event, and the event's message if it may be counted again.
    recorded: Option<(u64, Option<String>)>,
}

impl Waiting {
    /// When it may be tried again. Mirrors `calculateBackoffDuration`.
    fn backoff_ends(&self) -> Timestamp {
        if self.attempts == 0 {
            return self.since.0;
        }
        let (first, most) = BACKOFF;
        let doubled = first.saturating_mul(1 << self.attempts.saturating_sub(1).min(8));
        self.since.0.saturating_add(doubled.min(most))
    }

    /// When it is tried again although nothing has changed that may help it.
    fn flush(&self, release: KubernetesRelease) -> Timestamp {
        let over = self.since.0.saturating_add(release.longest_time_unschedulable());
        round_up(Timestamp::ZERO, FLUSH, over.saturating_add(Duration::from_nanos(1)))
    }

    /// Counts the attempts that failed as the one before because nothing had changed.
    fn catch_up(&mut self, now: Timestamp, release: KubernetesRelease) {
        let first = self.flush(release);
        if first >= now {
            return;
        }
        self.since.0 = first;
        let period = self.flush(release).as_nanos().saturating_sub(first.as_nanos()).max(1);
        let more = (now.as_nanos() - first.as_nanos() - 1) / period;
        self.since.0 = Timestamp::from_nanos(first.as_nanos() + more * period);
        let more = u32::try_from(more).unwrap_or(u32::MAX);
        self.attempts = self.attempts.saturating_add(more).saturating_add(1);
    }
}

/// Whether this scheduler is to find a node for the pod.
fn is_ours(release: KubernetesRelease, pod: &Pod) -> bool {
    let scheduler = pod.spec.other.get("schedulerName").and_then(serde_json::Value::as_str);
    pod.spec.node_name.is_empty()
        && matches!(scheduler, None | Some("" | "default-scheduler"))
        && !(release.has_scheduling_gates() && pod.has_scheduling_gates())
        && pod.is_active()
}

impl Scheduler {
    /// A scheduler that knows these nodes: tell it of all pods.
    #[must_use]
    pub fn new(snapshot: Snapshot) -> Self {
        Self {
            snapshot,
            allocator: None,
            version: 0,
            waiting: OrderedMap::new(),
            active: OrderedMap::new(),
            backoff: OrderedMap::new(),
            unschedulable: OrderedMap::new(),
            unflushed: OrderedSet::new(),
            seeking: OrderedSet::new(),
            next: 0,
            entered: 0,
            failures: OrderedMap::new(),
            timers: TimerQueue::default(),
            actions: VecDeque::new(),
            ahead: 0,
            ahead_of: OrderedMap::new(),
            arrivals: OrderedMap::new(),
            placements: OrderedMap::new(),
            placed_by_lot: OrderedSet::new(),
        }
    }

    /// Where several nodes are equally good, the first of these that is among them is taken, and
    /// crossed out: by `namespace/name` of a pod, or of the workload that its pods are of.
    /// Upstream draws lots.
    pub fn prefer(&mut self, placements: OrderedMap<String, Vec<NodeName>>) {
        let placements = placements.into_iter();
        self.placements =
            placements.map(|(key, nodes)| (key, nodes.into())).collect::<OrderedMap<_, _>>();
    }

    /// A pod that is created at about such a time is known then, not before, each entry for one
    /// pod: by `namespace/name` of the pod, or of the workload that it is of.
    pub fn arrive(&mut self, arrivals: OrderedMap<String, Vec<Timestamp>>) {
        self.arrivals = arrivals;
    }

    /// Sets the number of pods tried between the two writes that uncordon a node, in the order of
    /// the uncordonings; 1 by default.
    pub fn try_ahead(&mut self, tried: OrderedMap<NodeName, Vec<usize>>) {
        self.ahead_of = tried
            .into_iter()
            .map(|(node, tried)| (node, tried.into()))
            .collect::<OrderedMap<_, _>>();
    }

    /// The UIDs of pods for which several nodes were equally good and a preferred one was taken.
    #[must_use]
    pub const fn placed_by_lot(&self) -> &OrderedSet<String> {
        &self.placed_by_lot
    }

    /// Whether a pod is to be tried before any controller looks at the node that has changed: a
    /// node is uncordoned, or a condition of it clears, in one write, and loses the taint for it
    /// in another one.
    pub fn take_ahead(&mut self) -> bool {
        self.ahead > 0 && self.next_work().is_some()
    }

    /// Tells of the volumes that there are; `None` if they do not take part.
    pub fn set_volumes(&mut self, volumes: Option<Arc<Volumes>>) {
        self.snapshot.set_volumes(volumes);
    }

    /// Lets it allocate devices.
    pub const fn allocate_devices(&mut self, features: AllocatorFeatures) {
        self.allocator = Some(features);
    }

    /// Tells of the devices that there are, if there are any and it allocates devices.
    pub fn set_devices(&mut self, devices: Option<&Arc<Devices>>) {
        if let (Some(features), Some(devices)) = (self.allocator, devices) {
            self.snapshot.set_devices(devices.clone(), features);
        }
    }

    /// What it knows of nodes and the pods on them.
    #[must_use]
    pub const fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// What it would say now of every node, for a pod that waits for one; `None` if the pod does
    /// not wait for this scheduler.
    #[must_use]
    pub fn decision(&self, pod: &Pod) -> Option<Decision> {
        is_ours(self.snapshot.release(), pod).then(|| self.snapshot.schedule(pod).ok()).flatten()
    }

    fn forget(&mut self, key: &PodKey) {
        self.unqueue(key);
        self.waiting.remove(key);
    }

    /// Takes the pod out of the queue that it is in.
    fn unqueue(&mut self, key: &PodKey) {
        self.unschedulable.remove(key);
        self.unflushed.remove(key);
        self.seeking.remove(key);
        let Some(waiting) = self.waiting.get_mut(key) else { return };
        if let Some(place) = waiting.backoff.take() {
            self.backoff.remove(&place);
        }
        if let Some(timer) = waiting.timer.take() {
            self.timers.stop(&timer);
        }
        if let Some(place) = waiting.place.take() {
            self.active.remove(&place);
        }
    }

    /// The pod is to be tried.
    fn activate(&mut self, now: Timestamp, key: &PodKey, priority: i64) {
        let known = self.waiting.get(key);
        if known.is_some_and(|waiting| waiting.place.is_some()) {
            return;
        }
        self.unqueue(key);
        self.entered += 1;
        let entered = (now, self.entered);
        let waiting = self.waiting.entry(key.clone());
        let waiting = waiting.or_insert_with(|| Waiting { since: entered, ..Waiting::default() });
        let place = (Reverse(priority), waiting.since.0, waiting.since.1);
        waiting.place = Some(place);
        self.active.insert(place, key.clone());
    }

    /// What is known has changed: pods that wait for long are tried again in a while.
    fn changed(&mut self, context: &mut Context<'_>) {
        self.version += 1;
        let release = self.snapshot.release();
        for key in core::mem::take(&mut self.unflushed) {
            let Some(waiting) = self.waiting.get_mut(&key) else { continue };
            waiting.catch_up(context.now, release);
            let at = waiting.flush(release);
            waiting.timer = Some(self.timers.start(context.sequence, at, key));
        }
    }

    fn observe_node(&mut self, context: &mut Context<'_>, old: Option<&Node>, new: Option<&Node>) {
        let Some(node) = new else {
            let name = old.map(|old| old.metadata.name.clone()).unwrap_or_default();
            self.snapshot.remove_node(&name);
            self.changed(context);
            if self.has_hints() {
                self.wake(context, &ClusterEvent::of_node(old, None), i64::MAX);
            }
            return;
        };
        let same = old.is_some_and(|old| {
            old.spec == node.spec
                && old.metadata.labels == node.metadata.labels
                && old.status.other == node.status.other
        });
        if !same {
            // What cannot be read was refused, or is as it was.
            if self.snapshot.set_node(node).is_err() {
                return;
            }
            self.changed(context);
        }
        if old.is_none_or(|old| may_help(old, node)) {
            let tried = |it: &Self| match it.snapshot.release().pops_from_backoff() {
                true => it.active.len() + it.backoff.len(),
                false => it.active.len(),
            };
            let before = tried(self);
            if self.has_hints() {
                self.wake(context, &ClusterEvent::of_node(old, Some(node)), i64::MAX);
            } else {
                let unschedulable: Vec<PodKey> = self.unschedulable.keys().cloned().collect();
                self.retry(context, unschedulable);
            }
            let uncordoned =
                old.is_some_and(|old| old.spec.unschedulable) && !node.spec.unschedulable;
            let most = self.ahead_of.get_mut(node.metadata.name.as_str()).filter(|_| uncordoned);
            let most = most.and_then(VecDeque::pop_front).unwrap_or(TRIED_AHEAD);
            self.ahead = tried(self).saturating_sub(before).min(most);
        }
    }

    /// Whether hints of plugins decide which pods are tried again, and any pod waits for that.
    fn has_hints(&self) -> bool {
        self.snapshot.release().has_queueing_hints() && !self.unschedulable.is_empty()
    }

    /// Pods of at most this priority that an event may help are tried again. Mirrors
    /// `MoveAllToActiveOrBackoffQueue`.
    fn wake(&mut self, context: &mut Context<'_>, event: &ClusterEvent, most: i64) {
        if !event.is_of_interest() {
            return;
        }
        let concerned = self.unschedulable.iter().filter(|(_, by)| event.concerns(**by));
        let helped = concerned.filter(|(key, by)| {
            let pod = context.cluster.get_pod(key);
            let pod = pod.filter(|pod| most == i64::MAX || priority_of(pod) <= most);
            pod.is_some_and(|pod| self.snapshot.may_help(event, **by, pod))
        });
        let pods: Vec<PodKey> = helped.map(|(key, _)| key.clone()).collect();
        self.retry(context, pods);
    }

    /// A pod with a node, or with a nomination, has come, has changed or is gone.
    fn wake_after_pod(&mut self, context: &mut Context<'_>, old: Option<&Pod>, new: Option<&Pod>) {
        let release = self.snapshot.release();
        let lives = |pod: &&Pod| !pod.spec.node_name.is_empty() && !pod.has_ended();
        let (was, is) = (old.filter(lives), new.filter(lives));
        // Of pods that stay only a change of labels matters to others.
        let labels = |pod: &Pod| pod.metadata.labels.clone();
        if was.is_some() != is.is_some() || was.map(labels) != is.map(labels) {
            let event = self.snapshot.pod_event(was, is, false);
            self.wake(context, &event, i64::MAX);
        }
        // Room that was kept for a pod is free when its nomination is gone.
        let nominated =
            |pod: &&Pod| pod.spec.node_name.is_empty() && !pod.nominated_node_name().is_empty();
        if let Some(old) = old.filter(nominated)
            && release.wakes_pods_after_nominations()
            && match is {
                Some(_) => release.wakes_pods_after_nominated_binding(),
                None => {
                    new.is_none_or(|new| old.nominated_node_name() != new.nominated_node_name())
                }
            }
        {
            let event = self.snapshot.pod_event(Some(old), None, false);
            self.wake(context, &event, priority_of(old));
        }
    }

    fn observe_pod(
        &mut self,
        context: &mut Context<'_>,
        key: &PodKey,
        old: Option<&Pod>,
        new: Option<&Pod>,
    ) {
        let node = |pod: Option<&Pod>| {
            pod.map(|pod| pod.spec.node_name.clone()).filter(|node| !node.is_empty())
        };
        let (was_on, is_on) = (node(old), node(new));
        let mut freed = false;
        if let Some(was_on) = &was_on
            && is_on.as_ref() != Some(was_on)
        {
            freed = self.snapshot.remove_pod(key, was_on);
        }
        if let Some(pod) = new.filter(|_| is_on.is_some()) {
            let active = pod.is_active();
            let same = old.is_some_and(|old| {
                was_on == is_on
                    && old.spec == pod.spec
                    && old.metadata.labels == pod.metadata.labels
                    && old.is_terminating() == pod.is_terminating()
                    && old.is_active() == active
                    && old.start_time() == pod.start_time()
                    && old.metadata.owner_references == pod.metadata.owner_references
            });
            if !same {
                let _ = self.snapshot.add_pod(pod);
                // A pod that is terminating takes its room until it is gone.
                freed |= pod.has_ended();
                self.changed(context);
            }
            if !self.snapshot.release().has_queueing_hints() {
                self.retry_company(context, pod);
            }
        }
        if freed {
            self.changed(context);
        }
        if self.has_hints() {
            self.wake_after_pod(context, old, new);
        }
        match new.filter(|pod| is_ours(self.snapshot.release(), pod)) {
            None => {
                if is_on.is_none() {
                    self.snapshot.remove_pod(key, "");
                }
                self.forget(key);
            }
            Some(pod) => {
                let nominated = |pod: &Pod| pod.nominated_node_name().to_string();
                let renominated = nominated(pod) != old.map(nominated).unwrap_or_default();
                if renominated {
                    let _ = self.snapshot.add_pod(pod);
                    self.changed(context);
                }
                self.observe_waiting(context, key, old, pod, renominated);
            }
        }
        if freed && !self.snapshot.release().has_queueing_hints() {
            let by_plugin = self.snapshot.release().retries_by_plugin();
            let helped = self.unschedulable.iter().filter(|(_, by)| !by_plugin || by.are_on_pods());
            let pods: Vec<PodKey> = helped.map(|(key, _)| key.clone()).collect();
            self.retry(context, pods);
        }
    }

    /// A claim or a volume has changed, which may help pods with claims.
    fn observe_volume(&mut self, context: &mut Context<'_>, change: &VolumeChange) {
        match change {
            VolumeChange::Claim(_) | VolumeChange::PersistentVolume(_) => {}
            VolumeChange::Attachment { .. } | VolumeChange::InUse { .. } => return,
        }
        self.snapshot.set_volumes(context.cluster.volumes().cloned());
        self.failures.clear();
        self.changed(context);
        if self.snapshot.release().has_queueing_hints() {
            let volumes = context.cluster.volumes();
            let claim = match change {
                VolumeChange::Claim(claim) => {
                    if volumes.is_none_or(|volumes| volumes.claim(claim).is_none()) {
                        return;
                    }
                    Some(claim.clone())
                }
                _ => None,
            };
            self.wake(context, &ClusterEvent::of_volume(claim), i64::MAX);
            return;
        }
        let waits = |key: &&PodKey| {
            let pod = context.cluster.get_pod(key);
            pod.is_some_and(|pod| !pod_claims(pod).is_empty())
        };
        let pods: Vec<PodKey> = self.unschedulable.keys().filter(waits).cloned().collect();
        self.retry(context, pods);
    }

    /// A claim for devices, a slice of them, a class or a rule has changed.
    fn observe_devices(&mut self, context: &mut Context<'_>, change: &DeviceChange) {
        let by_rule = matches!(change, DeviceChange::Rule { .. });
        if self.allocator.is_none_or(|features| by_rule && !features.rules) {
            return;
        }
        self.set_devices(context.cluster.devices());
        let event = ClusterEvent::of_devices(change);
        if !event.is_of_interest() {
            return;
        }
        self.failures.clear();
        self.changed(context);
        if self.snapshot.release().has_queueing_hints() {
            self.wake(context, &event, i64::MAX);
            return;
        }
        let waiting = self.unschedulable.iter().filter(|(_, by)| by.any_of(Rejectors::DEVICES));
        let pods: Vec<PodKey> = waiting.map(|(key, _)| key.clone()).collect();
        self.retry(context, pods);
    }

    /// A pod that waits for a node was created or has changed. Mirrors `PriorityQueue.Update`.
    fn observe_waiting(
        &mut self,
        context: &mut Context<'_>,
        key: &PodKey,
        old: Option<&Pod>,
        pod: &Pod,
        renominated: bool,
    ) {
        let changed = old.is_none_or(|old| {
            old.metadata.uid != pod.metadata.uid
                || old.spec != pod.spec
                || old.metadata.labels != pod.metadata.labels
        });
        if old.is_some_and(|old| old.metadata.uid != pod.metadata.uid) {
            self.forget(key);
        }
        let Some(waiting) = self.waiting.get_mut(key) else {
            self.failures.clear();
            if let Some(at) = self.arrival(context, pod) {
                self.entered += 1;
                let since = (at, self.entered);
                let timer = Some(self.timers.start(context.sequence, at, key.clone()));
                let waiting = Waiting { since, timer, ..Waiting::default() };
                self.waiting.insert(key.clone(), waiting);
                return;
            }
            self.activate(context.now, key, priority_of(pod));
            return;
        };
        waiting.revision += 1;
        if self.unschedulable.get(key).is_some_and(|by| by.any_of(Rejectors::DEVICES))
            && old.and_then(claim_statuses) != claim_statuses(pod)
        {
            self.retry(context, [key.clone()]);
            return;
        }
        let backs_off = waiting.backoff.is_some();
        if changed {
            self.failures.clear();
        }
        if self.snapshot.release().retries_after_status_write() {
            // That a field of the status is new or gone is seen in `managedFields`.
            let condition = |pod: &Pod| pod.condition("PodScheduled").is_some();
            let fields = renominated || old.map(condition) != Some(condition(pod));
            let waits = self.unschedulable.contains_key(key);
            if changed || backs_off || (waits && fields) {
                self.activate(context.now, key, priority_of(pod));
            }
        } else if changed {
            if self.snapshot.release().has_queueing_hints() {
                let event = self.snapshot.pod_event(old, Some(pod), true);
                let rejectors = self.unschedulable.get(key);
                if rejectors.is_none_or(|by| !self.snapshot.may_help(&event, *by, pod)) {
                    return;
                }
            }
            self.retry(context, [key.clone()]);
        }
    }

    /// Pods that want to be where a pod like this one is are tried again. Mirrors
    /// `AssignedPodAdded`.
    fn retry_company(&mut self, context: &mut Context<'_>, pod: &Pod) {
        let waits = |key: &&PodKey| {
            let waiting = context.cluster.get_pod(key);
            waiting.is_some_and(|waiting| self.snapshot.seeks_company_of(waiting, pod))
        };
        let pods: Vec<PodKey> = self.seeking.iter().filter(waits).cloned().collect();
        self.retry(context, pods);
    }

    /// Something has changed that may help these pods: they are tried again, but not too often.
    /// Mirrors `movePodsToActiveOrBackoffQueue`.
    fn retry(&mut self, context: &mut Context<'_>, pods: impl IntoIterator<Item = PodKey>) {
        let release = self.snapshot.release();
        for key in pods {
            let idle = self.unflushed.contains(&key);
            self.unqueue(&key);
            let Some(waiting) = self.waiting.get_mut(&key) else { continue };
            if idle {
                waiting.catch_up(context.now, release);
            }
            let ends = waiting.backoff_ends();
            if ends > context.now {
                // Those that wait are looked at once a second.
                let flush = round_up(Timestamp::ZERO, Duration::from_secs(1), ends);
                waiting.timer = Some(self.timers.start(context.sequence, flush, key.clone()));
                let pod = context.cluster.get_pod(&key);
                let priority = pod.map_or(0, |pod| priority_of(pod));
                let second = Timestamp::from_secs(ends.since_zero().as_secs());
                let place = (second, (Reverse(priority), waiting.since.0, waiting.since.1));
                waiting.backoff = Some(place);
                self.backoff.insert(place, key);
            } else {
                self.try_again(context, &key);
            }
        }
    }

    /// The pod has waited for long enough.
    fn try_again(&mut self, context: &Context<'_>, key: &PodKey) {
        let release = self.snapshot.release();
        let pod = context.cluster.get_pod(key).filter(|pod| is_ours(release, pod));
        match pod.filter(|_| self.waiting.contains_key(key)) {
            Some(pod) => self.activate(context.now, key, priority_of(pod)),
            None => self.forget(key),
        }
    }

    /// Of nodes that are equally good the one that is preferred, or the first.
    fn choose(&mut self, cluster: &Cluster, pod: &Pod, best: &[Arc<str>]) -> Option<String> {
        let first = best.first()?;
        let is_best = |node: &str| best.iter().any(|best| node == &**best);
        let Some((name, at)) = self.preferred(cluster, pod, is_best) else {
            return Some(first.to_string());
        };
        if best.len() > 1 {
            self.placed_by_lot.insert(pod.metadata.uid.clone());
        }
        self.placements.get_mut(&name)?.remove(at).map(|node| node.to_string())
    }

    /// The first preferred node of a pod that is good enough: its list in `placements`, and its
    /// index there.
    fn preferred(
        &self,
        cluster: &Cluster,
        pod: &Pod,
        is_best: impl Fn(&str) -> bool,
    ) -> Option<(String, usize)> {
        if self.placements.is_empty() {
            return None;
        }
        names_of(cluster, pod).find_map(|name| {
            let at = self.placements.get(&name)?.iter().position(|node| is_best(node.as_str()))?;
            Some((name, at))
        })
    }

    /// Time at which a created pod gets to be known, if that is later than now.
    fn arrival(&mut self, context: &Context<'_>, pod: &Pod) -> Option<Timestamp> {
        let now = context.now;
        let distance = |at: &Timestamp| at.as_nanos().abs_diff(now.as_nanos());
        let (known, entry) = names_of(context.cluster, pod).find_map(|name| {
            let near = self.arrivals.get(&name)?.iter().enumerate();
            let near = near.filter(|(_, at)| distance(at) < ARRIVED_WITHIN);
            let (entry, _) = near.min_by_key(|(_, at)| distance(at))?;
            Some((name, entry))
        })?;
        let at = self.arrivals.get_mut(&known)?.remove(entry);
        (at > now).then_some(at)
    }

    /// The next pod to be tried. Mirrors `activeQueue.pop`.
    fn pop(&mut self) -> Option<PodKey> {
        if let Some((_, key)) = self.active.pop_first() {
            return Some(key);
        }
        if !self.snapshot.release().pops_from_backoff() {
            return None;
        }
        let key = self.backoff.first_key_value()?.1.clone();
        self.unqueue(&key);
        Some(key)
    }

    /// Finds a node for the next pod.
    fn schedule_next(&mut self, context: &Context<'_>) {
        let Some(key) = self.pop() else { return };
        self.ahead = self.ahead.saturating_sub(1);
        let pod = context.cluster.get_pod(&key);
        let is_gated = pod.is_some_and(|pod| self.snapshot.lacks_claims(pod));
        if let Some(waiting) = self.waiting.get_mut(&key) {
            waiting.place = None;
            waiting.attempts = waiting.attempts.saturating_add(u32::from(!is_gated));
        }
        if is_gated {
            // `PreEnqueue` records nothing.
            self.unschedulable.insert(key, Rejectors::DEVICES);
            return;
        }
        let Some(pod) = pod else { return };
        if self.snapshot.seeks_company(pod) {
            self.seeking.insert(key.clone());
        }
        let best = self.snapshot.place(pod, &mut self.next);
        match best.map(|best| self.choose(context.cluster, pod, &best)) {
            Ok(Some(node)) => {
                let message = format!("Successfully assigned {key} to {node}");
                self.record(&key, "Normal", "Scheduled", message);
                let selected = self.snapshot.claims_to_bind(pod, &node);
                let reserved = self.snapshot.claims_to_reserve(pod, &node).into_iter();
                let reserve = |claim| SchedulerAction::ReserveClaim(Box::new(claim));
                self.actions.extend(reserved.map(reserve));
                let node = NodeName::from(node.as_str());
                for (claim, volume) in selected {
                    let node = node.clone();
                    self.actions.push_back(SchedulerAction::SelectNode { claim, node, volume });
                }
                self.actions.push_back(SchedulerAction::BindPod { pod: key, node });
            }
            Ok(None) => {
                let why = self.explain_alike(pod);
                let nominated = self.preempt(context.cluster, pod);
                self.unschedulable(context.now, key, why, nominated);
            }
            Err(error) => {
                let why = (error.to_string(), Rejectors::default());
                self.unschedulable(context.now, key, why, None);
            }
        }
    }

    /// Makes room for a pod that fits nowhere, if it can be made; where. Mirrors
    /// `DefaultPreemption.PostFilter`.
    fn preempt(&mut self, cluster: &Cluster, pod: &Pod) -> Option<NodeName> {
        let priority = priority_of(pod);
        if pod.nominated_node_name().is_empty() && !self.snapshot.has_lower_priority(priority) {
            return None;
        }
        let budgets = cluster.budgets().filter_map(|(_, budget)| BudgetOfVictims::of(budget));
        let budgets: Vec<BudgetOfVictims> = budgets.collect();
        let mut preemption = self.snapshot.preempt(pod, &budgets).ok()?;
        if preemption.best.len() > 1 {
            self.choose_candidate(cluster, pod, &mut preemption);
        }
        let Some(chosen) = preemption.chosen() else {
            if preemption.gives_up && !pod.nominated_node_name().is_empty() {
                self.actions.push_back(SchedulerAction::ClearNomination { pod: pod.key() });
            }
            return None;
        };
        let release = self.snapshot.release();
        let ends = |victim: &PodKey| {
            release.skips_terminating_victims()
                && cluster.get_pod(victim).is_some_and(|pod| pod.is_terminating())
        };
        for victim in chosen.victims.iter().filter(|victim| !ends(victim)) {
            self.actions.push_back(SchedulerAction::PreemptPod {
                pod: victim.clone(),
                condition: preempted_condition(release, pod),
                event: preempted_event(release, pod, victim, &chosen.node),
            });
        }
        for pod in preemption.outranked.iter().cloned() {
            self.actions.push_back(SchedulerAction::ClearNomination { pod });
        }
        Some(chosen.node.as_str().into())
    }

    /// Puts first the candidate that is preferred among those that are equally good.
    fn choose_candidate(&mut self, cluster: &Cluster, pod: &Pod, preemption: &mut Preemption) {
        let Preemption { candidates, best, outranked, .. } = preemption;
        let node = |index: &usize| candidates.get(*index).map(|candidate| candidate.node.as_str());
        let is_best = |name: &str| best.iter().any(|index| node(index) == Some(name));
        let preferred = self.preferred(cluster, pod, is_best).and_then(|(list, at)| {
            let name = self.placements.get(&list)?.get(at)?;
            best.iter().position(|index| node(index) == Some(name.as_str()))
        });
        if let Some(at) = preferred {
            best.swap(0, at);
            let node = best.first().and_then(node).unwrap_or_default();
            *outranked = self.snapshot.outranked_on(node, priority_of(pod));
            self.placed_by_lot.insert(pod.metadata.uid.clone());
        }
    }

    /// Why a pod goes nowhere, and which plugins rejected it.
    fn explain_alike(&mut self, pod: &Pod) -> (String, Rejectors) {
        // Pods of one controller are alike, but for those that are for one node each.
        let owner = pod.metadata.controller().filter(|owner| owner.kind != "DaemonSet");
        let namespace = pod.key();
        let alike =
            owner.map(|owner| format!("{}/{}/{}", namespace.namespace(), owner.kind, owner.name));
        let known = alike.as_ref().and_then(|alike| self.failures.get(alike));
        let (message, rejectors) = match known {
            Some((version, message, rejectors)) if *version == self.version => {
                (message.clone(), *rejectors)
            }
            _ => self.snapshot.known_failure().unwrap_or_else(|| {
                let (message, rejectors) = self.explain(pod);
                self.snapshot.keep_failure(&message, rejectors);
                (message, rejectors)
            }),
        };
        if let Some(alike) = alike {
            self.failures.insert(alike, (self.version, message.clone(), rejectors));
        }
        (message, rejectors)
    }

    fn explain(&self, pod: &Pod) -> (String, Rejectors) {
        match self.snapshot.schedule(pod) {
            Err(error) => (error.to_string(), Rejectors::default()),
            Ok(decision) => {
                let rejectors = Rejectors::of_decision(&decision);
                (decision.message.unwrap_or_default(), rejectors)
            }
        }
    }

    /// The pod goes nowhere for now.
    fn unschedulable(
        &mut self,
        now: Timestamp,
        key: PodKey,
        (message, rejectors): (String, Rejectors),
        nominated: Option<NodeName>,
    ) {
        self.unschedulable.insert(key.clone(), rejectors);
        self.unflushed.insert(key.clone());
        self.entered += 1;
        let Some(waiting) = self.waiting.get_mut(&key) else { return };
        waiting.since = (now, self.entered);
        let same = waiting.message == message;
        waiting.message.clone_from(&message);
        // Events of one pod at one `resourceVersion` are the same, whatever they say. The second one
        // makes a series, and later ones are not sent for some minutes.
        let revision = waiting.revision;
        let words = match &mut waiting.recorded {
            Some((known, words)) if *known == revision => words.take(),
            _ => {
                let counts = self.snapshot.release().counts_second_attempt();
                waiting.recorded = Some((revision, counts.then(|| message.clone())));
                Some(message.clone())
            }
        };
        if let Some(words) = words {
            self.record(&key, "Warning", "FailedScheduling", words);
        }
        if !same || nominated.is_some() {
            let pod = key;
            self.actions.push_back(SchedulerAction::MarkUnschedulable { pod, message, nominated });
        }
    }

    fn record(&mut self, pod: &PodKey, type_: &'static str, reason: &'static str, message: String) {
        let event = event_of(pod, type_, reason, message);
        self.actions.push_back(SchedulerAction::RecordEvent(event));
    }
}

/// The event of a pod that goes to make room on a node.
#[must_use]
pub fn preempted_event(
    release: KubernetesRelease,
    preemptor: &Pod,
    victim: &PodKey,
    node: &str,
) -> RecordedEvent {
    let message = preempted_message(release.preempted_message(), preemptor, node);
    event_of(victim, "Normal", "Preempted", message)
}

fn event_of(
    pod: &PodKey,
    type_: &'static str,
    reason: &'static str,
    message: String,
) -> RecordedEvent {
    RecordedEvent {
        involved_object: ObjectReference::Pod { api_version: "v1", pod: pod.clone() },
        type_,
        reason,
        message,
        component: "default-scheduler",
    }
}

/// Whether a change of a node may help pods that fit nowhere. Mirrors
/// `nodeSchedulingPropertiesChange`.
fn may_help(old: &Node, new: &Node) -> bool {
    let conditions = |node: &Node| {
        let conditions = node.status.conditions.iter();
        let conditions = conditions.map(|one| (one.type_.clone(), one.status.clone()));
        conditions.collect::<OrderedMap<_, _>>()
    };
    let allocatable = |node: &Node| node.status.other.get("allocatable").cloned();
    old.spec.unschedulable && !new.spec.unschedulable
        || old.spec.taints != new.spec.taints
        || old.metadata.labels != new.metadata.labels
        || allocatable(old) != allocatable(new)
        || conditions(old) != conditions(new)
}

/// The names by which a pod may be known in a recorded run: its own, and those of its workloads.
fn names_of(cluster: &Cluster, pod: &Pod) -> impl Iterator<Item = String> + use<> {
    let owner = pod.metadata.controller_key();
    let workload = owner.as_ref().and_then(|owner| cluster.get_workload(owner));
    let top = workload.and_then(|workload| workload.owner());
    let names = [Some(pod.key()), top.map(|top| top.name), owner.map(|owner| owner.name)];
    names.into_iter().flatten().map(|name| name.to_string())
}

fn priority_of(pod: &Pod) -> i64 {
    SchedulingFields::of(pod).map_or(0, |fields| fields.priority)
}

impl Machine for Scheduler {
    fn handle_change(&mut self, context: &mut Context<'_>, change: &Change) {
        match change {
            Change::Node { old, new, .. } => {
                self.observe_node(context, old.as_deref(), new.as_deref());
            }
            Change::Pod { key, old, new } => {
                self.observe_pod(context, key, old.as_deref(), new.as_deref());
            }
            Change::Volume(change) => self.observe_volume(context, change),
            Change::Device(change) => self.observe_devices(context, change),
            Change::Workload { .. } | Change::Budget { .. } | Change::Lease { .. } => {}
        }
    }

    fn handle_timeout(&mut self, context: &mut Context<'_>) {
        match self.timers.pop_due(context.now) {
            Some(pod) => self.try_again(context, &pod),
            None => self.schedule_next(context),
        }
    }

    fn next_timer(&self) -> Option<TimerId> {
        self.timers.next()
    }

    fn timer_reason(&self) -> Option<TimeoutReason> {
        Some(TimeoutReason::RetryScheduling { pod: self.timers.peek()?.clone() })
    }

    fn next_work(&self) -> Option<WorkTicket> {
        let pops = self.snapshot.release().pops_from_backoff();
        let backoff = self.backoff.keys().next().filter(|_| pops).map(|(_, rank)| rank);
        let next = self.active.keys().next().or(backoff);
        next.map(|(.., entered)| (2, *entered))
    }
}

impl Controller for Scheduler {
    type Action = SchedulerAction;
    type Answer = ();

    fn poll_action(&mut self, _: &mut Context<'_>) -> Option<SchedulerAction> {
        self.actions.pop_front()
    }

    fn handle_action_result(&mut self, _: &mut Context<'_>, _: RequestId, (): ()) {}
}
