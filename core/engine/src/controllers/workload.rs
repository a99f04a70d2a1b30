//! What the controllers of workloads have in common: the queue, requests, events, names.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::{Ordering, Reverse};
use core::slice;

use serde_json::Value;
use taintlab_rules::api::{
    DaemonSetStatus, NodeName, OwnerReference, PersistentVolumeClaim, Pod, PodKey, PodPhase,
    PodTemplate, Toleration, Workload, WorkloadKey, WorkloadKind, WorkloadStatus, json_value,
};
use taintlab_rules::cluster::{Change, Cluster};
use taintlab_rules::order::Order;
use taintlab_rules::policy::admission::Addition;
use taintlab_rules::protocol::{ObjectReference, RecordedEvent, RequestId, TimeoutReason};
use taintlab_rules::queue::timer_queue::{TimerId, TimerQueue};
use taintlab_rules::queue::work_queue::NumberedWorkQueue;
use taintlab_rules::release::KubernetesRelease;
use taintlab_rules::time::{Time, Timestamp};

use super::claims::{Claimed, Claims};
use super::{Context, Controller, Machine, WorkTicket};

/// The label of pods that tells which version of a template they are of.
pub(crate) const REVISION_LABEL: &str = "controller-revision-hash";
/// The label that tells the pods of one ReplicaSet of a Deployment from those of another.
pub(super) const HASH_LABEL: &str = "pod-template-hash";
/// The condition of a ReplicaSet whose pods cannot be created or deleted.
pub(super) const REPLICA_FAILURE: &str = "ReplicaFailure";

/// What a controller of workloads wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkloadAction {
    /// Record a Kubernetes Event.
    RecordEvent(RecordedEvent),
    /// `POST` a pod. It may be refused.
    CreatePod {
        /// For [`Controller::handle_action_result`].
        id: RequestId,
        /// The pod.
        pod: Box<Pod>,
        /// What the controller has added to it besides its template.
        additions: Vec<Addition<Toleration>>,
        /// What is recorded once it is admitted, before anybody is told of the pod.
        event: RecordedEvent,
    },
    /// `POST` a claim for a volume, if there is none of that name, and record that.
    CreateClaim(Box<PersistentVolumeClaim>, RecordedEvent),
    /// `DELETE` a pod, with default options.
    DeletePod {
        /// For [`Controller::handle_action_result`].
        id: RequestId,
        /// Which one.
        pod: PodKey,
    },
    /// Take the controller out of a pod's owner references.
    ReleasePod {
        /// Which one.
        pod: PodKey,
    },
    /// `PATCH` a pod that no controller owns: from now on this one does.
    AdoptPod {
        /// Which one.
        pod: PodKey,
        /// The entry in its owner references.
        owner: Box<OwnerReference>,
    },
    /// `PUT` a pod.
    UpdatePod(Box<Pod>),
    /// `PATCH` away the finalizer by which a Job keeps a pod until it has counted it.
    FinalizePod {
        /// Which one.
        pod: PodKey,
    },
    /// `POST` a ReplicaSet.
    CreateReplicaSet(Box<Workload>),
    /// `PUT` a ReplicaSet: how many pods it wants, its annotations, `minReadySeconds`.
    UpdateReplicaSet(Box<Workload>),
    /// `DELETE` a ReplicaSet, or a Job that is over, with its pods.
    DeleteWorkload(WorkloadKey),
    /// `PUT` the status of a workload.
    UpdateStatus {
        /// Which one.
        workload: WorkloadKey,
        /// The whole of it.
        status: WorkloadStatus,
        /// Annotations that are set with it: the revision of a Deployment.
        annotations: BTreeMap<String, String>,
    },
    /// Write the status of a DaemonSet.
    UpdateDaemonSetStatus {
        /// Which one.
        workload: WorkloadKey,
        /// What it is now.
        status: DaemonSetStatus,
    },
}

/// What comes back of a request of a controller of workloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteAnswer {
    /// It was done.
    Done,
    /// It was refused, and why.
    Refused(String),
    /// There is an object of that name.
    AlreadyExists,
}

/// A request that is out: its name, and which pod it is to create.
type Awaited = (RequestId, Option<(WorkloadKey, PodKey)>);

/// The queue and the requests of a controller of workloads.
#[derive(Clone, Debug)]
pub(super) struct Reconciler<S> {
    pub(super) release: KubernetesRelease,
    kind: WorkloadKind,
    queue: NumberedWorkQueue<WorkloadKey>,
    /// When a workload is looked at again, and what for.
    timers: TimerQueue<(WorkloadKey, TimeoutReason)>,
    /// What is still to be done about the workload that is looked at.
    pub(super) steps: VecDeque<S>,
    actions: VecDeque<WorkloadAction>,
    awaited: Option<Awaited>,
    next_id: u64,
    pub(super) claims: Claims,
}

impl<S> Reconciler<S> {
    pub(super) fn new(release: KubernetesRelease, kind: WorkloadKind) -> Self {
        Self {
            release,
            kind,
            queue: NumberedWorkQueue::default(),
            timers: TimerQueue::default(),
            steps: VecDeque::new(),
            actions: VecDeque::new(),
            awaited: None,
            next_id: 0,
            claims: Claims::new(kind),
        }
    }

    pub(super) fn enqueue(&mut self, context: &mut Context<'_>, key: WorkloadKey) {
        self.queue.push(context.sequence, key);
    }

    /// Queues what is to be looked at since a pod has changed; see [`owners_to_look`].
    pub(super) fn enqueue_owners(
        &mut self,
        context: &mut Context<'_>,
        kind: WorkloadKind,
        (old, new): (Option<&Pod>, Option<&Pod>),
        any_change: bool,
    ) {
        for owner in owners_to_look(kind, old, new, any_change) {
            self.enqueue(context, owner);
        }
    }

    pub(super) fn push(&mut self, action: WorkloadAction) {
        self.actions.push_back(action);
    }

    fn request(&mut self, pod: Option<(WorkloadKey, PodKey)>) -> RequestId {
        let id = RequestId(self.next_id);
        self.next_id += 1;
        self.awaited = Some((id, pod));
        id
    }

    pub(super) fn event(
        workload: WorkloadKey,
        type_: &'static str,
        reason: &'static str,
        message: String,
    ) -> RecordedEvent {
        let component = component(workload.kind);
        let involved_object = ObjectReference::Workload { workload };
        RecordedEvent { involved_object, type_, reason, message, component }
    }

    /// Records an event about a workload.
    pub(super) fn record(
        &mut self,
        workload: &WorkloadKey,
        type_: &'static str,
        reason: &'static str,
        message: String,
    ) {
        let event = Self::event(workload.clone(), type_, reason, message);
        self.push(WorkloadAction::RecordEvent(event));
    }

    /// Finds out which pods a workload adopts and releases, of those for which `counts` says so,
    /// and does it; one that is being deleted lets its pods be.
    pub(super) fn claim(
        &mut self,
        cluster: &Cluster,
        workload: &Workload,
        counts: impl Fn(&Pod) -> bool,
    ) -> Claimed {
        let claimed = self.claims.claim(cluster, workload, counts);
        if workload.metadata.deletion_timestamp.is_some() {
            return claimed;
        }
        for pod in &claimed.released {
            self.push(WorkloadAction::ReleasePod { pod: pod.clone() });
        }
        for pod in &claimed.adopted {
            let owner = Box::new(workload.owner_reference());
            self.push(WorkloadAction::AdoptPod { pod: pod.clone(), owner });
        }
        claimed
    }

    /// Writes the status of a workload.
    pub(super) fn write_status(
        &mut self,
        workload: WorkloadKey,
        status: impl Into<WorkloadStatus>,
        annotations: BTreeMap<String, String>,
    ) {
        let status = status.into();
        self.push(WorkloadAction::UpdateStatus { workload, status, annotations });
    }

    /// What workloads wait for.
    pub(super) fn timers(&self) -> impl Iterator<Item = (&TimerId, &(WorkloadKey, TimeoutReason))> {
        self.timers.iter()
    }

    /// Looks at a workload again at that moment.
    pub(super) fn enqueue_at(
        &mut self,
        context: &mut Context<'_>,
        at: Timestamp,
        key: WorkloadKey,
        reason: TimeoutReason,
    ) {
        self.timers.start(context.sequence, at.max(context.now), (key, reason));
    }

    /// Deletes a pod because it is one too many, or is to be another.
    pub(super) fn delete_pod(&mut self, owner: &Workload, pod: PodKey) {
        let message = done_to(self.release, &pod, owner, "delete", "Deleted");
        self.record(&owner.key(), "Normal", "SuccessfulDelete", message);
        let id = self.request(None);
        self.push(WorkloadAction::DeletePod { id, pod });
    }

    /// Creates a pod of a workload's template.
    pub(super) fn create_pod(
        &mut self,
        owner: &Workload,
        key: PodKey,
        change: impl FnOnce(&mut Pod) -> Vec<Addition<Toleration>>,
    ) {
        let mut pod = pod_of_template(owner, &key);
        let additions = change(&mut pod);
        let message = done_to(self.release, &key, owner, "create", "Created");
        let event = Self::event(owner.key(), "Normal", "SuccessfulCreate", message);
        let id = self.request(Some((owner.key(), key)));
        self.push(WorkloadAction::CreatePod { id, pod: Box::new(pod), additions, event });
    }

    /// With `minReadySeconds`, a pod that is ready is available later: looks again then.
    pub(super) fn await_availability(&mut self, context: &mut Context<'_>, workload: &Workload) {
        let Some(seconds) = workload.number("minReadySeconds").filter(|seconds| *seconds > 0)
        else {
            return;
        };
        let key = workload.key();
        let cluster = context.cluster;
        let pods = cluster.owned_pods(&key).pods.iter().filter_map(|pod| cluster.get_pod(pod));
        let waits =
            pods.filter(|pod| pod.is_ready_replica() && !is_available(context, workload, pod));
        let since = waits.filter_map(|pod| pod.condition("Ready")?.last_transition_time).min();
        if let Some(since) = since {
            let start = context.start.unix_seconds();
            let at = since.unix_seconds().saturating_add(seconds).saturating_sub(start);
            let at = Timestamp::from_secs(u64::try_from(at).unwrap_or(0));
            let reason = TimeoutReason::PodsAvailable { workload: key.clone() };
            self.enqueue_at(context, at, key, reason);
        }
    }

    /// Looks at a workload again after a back-off.
    pub(super) fn retry_at(&mut self, context: &mut Context<'_>, at: Timestamp, key: WorkloadKey) {
        let reason = TimeoutReason::RetryWorkload { workload: key.clone() };
        self.enqueue_at(context, at, key, reason);
    }
}

/// What is special about one kind of workload.
pub(super) trait Reconcile {
    type Step;

    fn reconciler(&mut self) -> &mut Reconciler<Self::Step>;
    fn reconciler_ref(&self) -> &Reconciler<Self::Step>;

    /// An object has changed: what is to be looked at goes into the queue.
    fn observe(&mut self, context: &mut Context<'_>, change: &Change);

    /// Looks at one workload.
    fn reconcile(&mut self, context: &mut Context<'_>, key: &WorkloadKey);

    /// Does the next of the steps to which that has led.
    fn step(&mut self, context: &mut Context<'_>, step: Self::Step);

    /// A workload is to be looked at again, since time has passed.
    fn woken(&mut self, context: &mut Context<'_>, key: WorkloadKey) {
        self.reconciler().enqueue(context, key);
    }

    /// A pod was refused, with that error: drops the steps that are not done for that reason.
    fn refused(&mut self, _error: &str) {
        self.reconciler().steps.clear();
    }
}

fn go_on<T: Reconcile>(controller: &mut T, context: &mut Context<'_>) {
    while controller.reconciler().awaited.is_none()
        && let Some(step) = controller.reconciler().steps.pop_front()
    {
        controller.step(context, step);
    }
}

impl<T: Reconcile> Machine for T {
    fn handle_change(&mut self, context: &mut Context<'_>, change: &Change) {
        self.observe(context, change);
        let kind = self.reconciler_ref().kind;
        if kind != WorkloadKind::DaemonSet {
            for key in self.reconciler().claims.observe(context.cluster, change) {
                self.reconciler().enqueue(context, key);
            }
        } else if let Change::Pod { key, old: Some(old), new: Some(new) } = change
            && old.metadata.labels != new.metadata.labels
            && is_to_be_released(context.cluster, kind, new)
        {
            self.reconciler().push(WorkloadAction::ReleasePod { pod: key.clone() });
        }
    }

    fn handle_timeout(&mut self, context: &mut Context<'_>) {
        if let Some((key, _)) = self.reconciler().timers.pop_due(context.now) {
            self.woken(context, key);
        } else if let Some(key) = self.reconciler().queue.pop() {
            self.reconcile(context, &key);
        }
        go_on(self, context);
    }

    fn next_timer(&self) -> Option<TimerId> {
        self.reconciler_ref().timers.next()
    }

    fn timer_reason(&self) -> Option<TimeoutReason> {
        Some(self.reconciler_ref().timers.peek()?.1.clone())
    }

    fn next_work(&self) -> Option<WorkTicket> {
        let Reconciler { kind, queue, .. } = self.reconciler_ref();
        // Nodes are many: others go first.
        let class = u8::from(*kind == WorkloadKind::DaemonSet);
        queue.first().map(|number| (class, number))
    }
}

impl<T: Reconcile> Controller for T {
    type Action = WorkloadAction;
    type Answer = WriteAnswer;

    fn poll_action(&mut self, _: &mut Context<'_>) -> Option<WorkloadAction> {
        self.reconciler().actions.pop_front()
    }

    fn handle_action_result(
        &mut self,
        context: &mut Context<'_>,
        id: RequestId,
        answer: WriteAnswer,
    ) {
        let reconciler = self.reconciler();
        let pod = match reconciler.awaited.take() {
            Some((awaited, pod)) if awaited == id => pod,
            other => {
                reconciler.awaited = other;
                return;
            }
        };
        if answer == WriteAnswer::AlreadyExists {
            // Said by nobody; the workload is looked at again when the pod is gone.
            reconciler.steps.clear();
        } else if let (WriteAnswer::Refused(reason), Some((workload, pod))) = (answer, pod) {
            let name = pod.name();
            let error = format!("pods \"{name}\" is forbidden: {reason}");
            let message = format!("Error creating: {error}");
            reconciler.record(&workload, "Warning", "FailedCreate", message);
            self.refused(&error);
        }
        go_on(self, context);
    }
}

/// `source.component` of the events of a kind's controller.
pub(super) const fn component(kind: WorkloadKind) -> &'static str {
    match kind {
        WorkloadKind::Deployment => "deployment-controller",
        WorkloadKind::ReplicaSet => "replicaset-controller",
        WorkloadKind::StatefulSet => "statefulset-controller",
        WorkloadKind::DaemonSet => "daemonset-controller",
        WorkloadKind::Job => "job-controller",
    }
}

/// What a controller says of a pod that it has created or deleted; that of StatefulSets in other
/// words. Mirrors `recordPodEvent`.
pub(super) fn done_to(
    release: KubernetesRelease,
    pod: &PodKey,
    owner: &Workload,
    verb: &str,
    done: &str,
) -> String {
    let pod = pod.name();
    if owner.kind == WorkloadKind::StatefulSet {
        let verb = match verb {
            "create" if release.stateful_set_events_have_capitals() => "Create",
            "delete" if release.stateful_set_events_have_capitals() => "Delete",
            "update" if release.stateful_set_events_have_capitals() => "Update",
            _ => verb,
        };
        return format!("{verb} Pod {pod} in StatefulSet {} successful", owner.metadata.name);
    }
    format!("{done} pod: {pod}")
}

/// Whether a pod has labels that its controller does not select. Mirrors
/// `PodControllerRefManager.ReleasePod`.
fn is_to_be_released(cluster: &Cluster, kind: WorkloadKind, pod: &Pod) -> bool {
    if pod.is_terminating() {
        return false;
    }
    let owner = pod.metadata.controller_key_of(kind);
    let owner = owner.and_then(|owner| cluster.get_workload(&owner));
    let selector = owner.and_then(|owner| owner.selector().ok());
    selector.is_some_and(|selector| !selector.matches(&pod.metadata.labels))
}

/// The workloads of a kind that are to be looked at since a pod has changed, in their order;
/// `any_change` if every change counts.
pub(super) fn owners_to_look(
    kind: WorkloadKind,
    old: Option<&Pod>,
    new: Option<&Pod>,
    any_change: bool,
) -> Vec<WorkloadKey> {
    let owner = |pod: Option<&Pod>| pod.and_then(|pod| pod.metadata.controller_key_of(kind));
    let counts = |pod: Option<&Pod>| {
        (pod.is_some_and(Pod::is_active), pod.is_some_and(Pod::is_ready_replica))
    };
    let (before, after) = (owner(old), owner(new));
    let mut owners = Vec::new();
    if before == after {
        let changed = counts(old) != counts(new) || new.is_none() || any_change;
        owners.extend(after.filter(|_| changed));
    } else {
        owners.extend(before);
        let counted = counts(new) != (false, false) || any_change;
        owners.extend(after.filter(|_| counted));
    }
    owners
}

/// Whether a pod has been ready for the `minReadySeconds` of its workload. Mirrors
/// `podutil.IsPodAvailable`.
pub(crate) fn is_available(context: &Context<'_>, workload: &Workload, pod: &Pod) -> bool {
    is_available_at(context.wall_clock(), workload, pod)
}

/// The same at a moment of the wall clock.
pub(crate) fn is_available_at(now: Time, workload: &Workload, pod: &Pod) -> bool {
    let seconds = workload.number("minReadySeconds").unwrap_or(0);
    let since = pod.condition("Ready").and_then(|ready| ready.last_transition_time);
    match since {
        Some(since) if seconds > 0 => now.unix_seconds() >= since.unix_seconds() + seconds,
        _ => seconds <= 0,
    }
}

/// A name with a generated suffix that no pod has; `created` counts the names that were made up.
pub(super) fn generated_name(cluster: &Cluster, owner: &Workload, created: &mut u64) -> PodKey {
    loop {
        *created += 1;
        let name = suffixed_name(&owner.key(), *created);
        if cluster.get_pod(&name).is_none() {
            return name;
        }
    }
}

/// A pod of a workload's template, before its controller and admission have added anything. Mirrors
/// `GetPodFromTemplate`.
pub(super) fn pod_of_template(owner: &Workload, key: &PodKey) -> Pod {
    let template = &owner.spec.template;
    let mut pod = Pod::default();
    pod.metadata.name = key.name().into();
    pod.metadata.namespace = key.namespace().into();
    pod.metadata.labels.clone_from(&template.metadata.labels);
    pod.metadata.annotations.clone_from(&template.metadata.annotations);
    let finalizers = template.metadata.other.get("finalizers").cloned();
    pod.metadata.other.set("finalizers", finalizers.unwrap_or_default());
    pod.metadata.owner_references.push(owner.owner_reference());
    pod.spec = template.spec.clone();
    pod
}

/// The name of a pod with a suffix that depends on the number alone.
pub(super) fn suffixed_name(owner: &WorkloadKey, number: u64) -> PodKey {
    let suffix = super::names::suffix(&format!("{owner}"), number);
    PodKey::new(owner.name.namespace(), &format!("{}-{suffix}", owner.name.name()))
}

/// Which pods of a ReplicaSet go first where there are too many; `related` says how many active
/// pods of the ReplicaSets of the same Deployment are on a node. Mirrors
/// `ActivePodsWithRanks.Less`.
pub(super) fn surplus_of_replica_set(
    context: &Context<'_>,
    release: KubernetesRelease,
    pods: &[&Arc<Pod>],
    related: impl Fn(&str) -> i64,
    number: usize,
    preferred: Option<&mut VecDeque<(NodeName, Time)>>,
) -> Vec<PodKey> {
    let has_cost = release.has_pod_deletion_cost();
    let ages = release.scales_down_by_magnitude_of_age().then(|| context.wall_clock());
    surplus_pods(pods, number, preferred, ages, &|pod| {
        let cost = pod.metadata.annotations.get("controller.kubernetes.io/pod-deletion-cost");
        let cost = cost.and_then(|cost| cost.parse::<i32>().ok()).filter(|_| has_cost);
        (cost.unwrap_or(0), Reverse(related(&pod.spec.node_name)))
    })
}

/// The cost to delete a pod, and how many related pods are on its node.
pub(super) type Cost = (i32, Reverse<i64>);

/// The ranks of pods of which some go: whether they are bound, their phase, whether they are ready,
/// their cost, since when they are ready, their restarts, and when they were created. The least
/// goes first.
type Rank = (bool, u8, bool, Cost, Option<Reverse<Time>>, Reverse<i64>, Option<Reverse<Time>>);

/// A pod with its rank.
type Ranked<'a> = (Rank, PodKey, &'a Pod);

/// Pods of equal rank, with the least UID among them.
type Group<'a> = (&'a [Ranked<'a>], &'a str);

/// Which of these pods go first where there are too many; `extra` is compared after readiness, and
/// with `ages`, the present time, the ages of pods count only by their order of magnitude. Mirrors
/// `ActivePods.Less`. Where the order is left to chance, that is among equals and where UIDs decide,
/// pods that are preferred come first, each entry of a node and a time of creation once; then the
/// UIDs and names decide.
pub(super) fn surplus_pods(
    pods: &[&Arc<Pod>],
    number: usize,
    preferred: Option<&mut VecDeque<(NodeName, Time)>>,
    ages: Option<Time>,
    extra: &dyn Fn(&Pod) -> Cost,
) -> Vec<PodKey> {
    let rank = |pod: &Pod| {
        let phase = match pod.status.phase {
            PodPhase::Pending => 0,
            PodPhase::Unknown => 1,
            _ => 2,
        };
        let bound = !pod.spec.node_name.is_empty();
        let ready = pod.has_ready_condition();
        let since = pod.condition("Ready").filter(|_| ready);
        let since = since.and_then(|condition| condition.last_transition_time).map(Reverse);
        let created = pod.metadata.creation_timestamp.map(Reverse);
        (bound, phase, ready, extra(pod), since, Reverse(max_restarts(pod)), created)
    };
    let mut ranked: Vec<Ranked<'_>> =
        pods.iter().map(|pod| (rank(pod), pod.key(), &***pod)).collect();
    ranked.order_by(|(one, key, _), (other, other_key, _)| (one, key).cmp(&(other, other_key)));
    let mut groups: Vec<Group<'_>> = Vec::new();
    for equals in ranked.chunk_by(|(one, ..), (other, ..)| one == other) {
        let uid = equals.iter().map(|(_, _, pod)| &*pod.metadata.uid).min().unwrap_or_default();
        let group = (equals, uid);
        // The order of magnitudes has circles, over which a sort may panic.
        let at = ages.map(|now| {
            groups.partition_point(|known| compare_magnitudes(now, *known, group).is_lt())
        });
        groups.insert(at.unwrap_or(groups.len()), group);
    }
    let mut none = VecDeque::new();
    let preferred = preferred.unwrap_or(&mut none);
    let mut left: VecDeque<&Ranked<'_>> = groups.iter().flat_map(|(equals, _)| *equals).collect();
    // Whether a pod goes before another one whatever their UIDs are.
    let precedes = |one: &Ranked<'_>, other: &Ranked<'_>| match ages {
        Some(now) => [("a", "b"), ("b", "a")].iter().all(|(uid, other_uid)| {
            let (one, other) = (slice::from_ref(one), slice::from_ref(other));
            compare_magnitudes(now, (one, uid), (other, other_uid)).is_lt()
        }),
        None => one.0 < other.0,
    };
    let mut surplus = Vec::new();
    while surplus.len() < number && !left.is_empty() {
        let found = preferred.iter().enumerate().find_map(|(entry, (node, created))| {
            let distance = |pod: &Pod| {
                let known = pod.metadata.creation_timestamp.unwrap_or(*created);
                known.since(*created) + created.since(known)
            };
            let mut there: Vec<(usize, &&Ranked<'_>)> = left.iter().enumerate().collect();
            there.retain(|(_, (.., pod))| *pod.spec.node_name == *node.as_str());
            there.retain(|(_, pod)| !left.iter().any(|other| precedes(other, pod)));
            Some((entry, there.into_iter().min_by_key(|(_, (.., pod))| distance(pod))?.0))
        });
        if let Some((entry, _)) = found {
            preferred.remove(entry);
        }
        let next = left.remove(found.map_or(0, |(_, at)| at));
        surplus.extend(next.map(|(_, key, _)| key.clone()));
    }
    surplus
}

/// Compares two groups of pods of equal rank, each with the least UID among them: of different
/// times only the whole part of the binary logarithm of the age counts, and then the UID. Mirrors
/// `ActivePodsWithRanks.Less` with `logarithmicRankDiff`.
fn compare_magnitudes(
    now: Time,
    (one, one_uid): Group<'_>,
    (other, other_uid): Group<'_>,
) -> Ordering {
    let (Some((one, ..)), Some((other, ..))) = (one.first(), other.first()) else {
        return Ordering::Equal;
    };
    // Ages below 1 ns have no logarithm and go first.
    let magnitude = |Reverse(time): Reverse<Time>| now.since(time).as_nanos().checked_ilog2();
    let compare = |a: Option<Reverse<Time>>, b: Option<Reverse<Time>>| {
        if a == b {
            return Ordering::Equal;
        }
        (a.map(magnitude), one_uid).cmp(&(b.map(magnitude), other_uid))
    };
    let before = (one.0, one.1, one.2, one.3).cmp(&(other.0, other.1, other.2, other.3));
    before
        .then_with(|| compare(one.4, other.4))
        .then_with(|| one.5.cmp(&other.5))
        .then_with(|| compare(one.6, other.6))
}

/// Mirrors `maxContainerRestarts`.
fn max_restarts(pod: &Pod) -> i64 {
    container_restarts(pod, "containerStatuses").max().unwrap_or(0)
}

/// The restart counts in one of the lists of container statuses.
pub(super) fn container_restarts<'a>(
    pod: &'a Pod,
    list: &str,
) -> impl Iterator<Item = i64> + use<'a> {
    let statuses = pod.status.other.get(list).and_then(Value::as_array).into_iter().flatten();
    statuses.filter_map(|status| status.get("restartCount")?.as_i64())
}

/// In which batch each of so many pods is created: a batch is twice as large as the one before, and
/// the first is one pod. Mirrors `slowStartBatch`.
pub(super) fn slow_start_batches(number: i64) -> impl Iterator<Item = u32> {
    (1..=number.unsigned_abs()).take_while(move |_| number > 0).map(u64::ilog2)
}

/// A template without what tells it from another of the same Deployment.
pub(crate) fn comparable(template: &PodTemplate) -> String {
    let mut template = template.clone();
    template.metadata.labels.remove(HASH_LABEL);
    template.metadata.creation_timestamp = None;
    // Every key is a string, so that there is a JSON form.
    json_value(&template)
        .map_or_else(|_| String::new(), |value| alloc::string::ToString::to_string(&value))
}

/// Whether a workload has changed in its template.
pub(super) fn template_changed(old: Option<&Workload>, new: Option<&Workload>) -> bool {
    let (Some(old), Some(new)) = (old, new) else { return false };
    // The text is only needed to leave the hash out.
    old.spec.template != new.spec.template
        && comparable(&old.spec.template) != comparable(&new.spec.template)
}

/// What the label [`REVISION_LABEL`] of pods that were there at the beginning says of a template.
pub(super) fn known_revision(cluster: &Cluster, key: &WorkloadKey) -> Option<String> {
    let pods = cluster.pods_of_workload(key);
    let mut labels = pods
        .iter()
        .filter_map(|pod| cluster.get_pod(pod)?.metadata.labels.get(REVISION_LABEL).cloned());
    labels.next_back()
}

pub(super) fn count<T>(items: impl Iterator<Item = T>) -> i64 {
    i64::try_from(items.count()).unwrap_or(i64::MAX)
}
