//! One run: a fork of the settled cluster fails and is measured. Only objects named by events are
//! examined, so that unaffected objects cost no time.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use taintlab_engine::command::Command;
use taintlab_engine::controllers::job::wanted_pods;
use taintlab_engine::event::{Event, EventKind};
use taintlab_engine::simulator::{Simulator, why_unschedulable};
use taintlab_rules::api::{
    DeviceKind, DeviceObject, NodeName, Pod, PodKey, WorkloadKey, WorkloadKind, is_default,
};
use taintlab_rules::cluster::Cluster;
use taintlab_rules::order::{Order, OrderedMap, OrderedSet};
use taintlab_rules::policy::endpoints::ServiceSelector;
use taintlab_rules::protocol::zone::{ZoneKey, ZoneState};
use taintlab_rules::time::{Span, Timestamp};

use super::{Fault, Millis, Remedy, ReportSubject, Run, RunResult};
use crate::lanes::{LaneRecorder, LaneSubject, Lanes};
use crate::scenario::Step;

/// Outcome for one workload in one run. Times count from the fault on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct WorkloadRun {
    /// The workload or pod.
    pub subject: ReportSubject,
    /// Ready pods wanted: the desired number, but no more than were ready before the fault. A
    /// DaemonSet wants none on the failed nodes.
    pub wanted: i64,
    /// Pods evicted from the failed nodes: deleted, or ended there.
    pub evicted: usize,
    /// New pods that are ready at the end.
    pub moved: usize,
    /// Pods preempted by others.
    pub preempted: usize,
    /// Pods without a node at the end, by the scheduler's reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<PendingReason>,
    /// Pods still terminating at the end, unconfirmed by their kubelets.
    pub stuck: usize,
    /// Pods lost for good: no controller recreates them.
    pub lost: usize,
    /// Pods deleted although a budget would have refused their eviction.
    pub budgets_not_asked: usize,
    /// Fewest pods that were ready at any time.
    pub least_ready: i64,
    /// Start of that minimum.
    pub worst_at: Millis,
    /// Total time with fewer ready pods than wanted.
    pub below: Millis,
    /// Total time without any ready pod.
    pub at_zero: Millis,
    /// Longest uninterrupted time with fewer ready pods than wanted.
    pub longest_gap: Millis,
    /// Time that pods were missing, summed over all missing pods.
    pub replica_time_lost: Millis,
    /// Total time in which a Service sends connections to a dead node: an endpoint of one of its pods
    /// is `ready`, and no kubelet on its node is in reach. Zero without Services.
    #[serde(default, skip_serializing_if = "is_default")]
    pub dead_endpoints: Millis,
    /// Time of the final recovery to all wanted pods; absent if it never recovered, or was never
    /// short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_again: Option<Millis>,
}

impl WorkloadRun {
    /// Whether it fell short and still is at the end.
    #[must_use]
    pub const fn never_whole_again(&self) -> bool {
        self.below.0 > 0 && self.whole_again.is_none()
    }

    /// Whether the fault had no noticeable effect.
    const fn is_untouched(&self) -> bool {
        self.evicted == 0
            && self.preempted == 0
            && self.moved == 0
            && self.stuck == 0
            && self.lost == 0
            && self.budgets_not_asked == 0
            && self.below.0 == 0
            && self.dead_endpoints.0 == 0
            && self.pending.is_empty()
    }
}

/// A workload with fewer ready pods than it asks for before the fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Shortfall {
    /// The workload or pod.
    pub subject: ReportSubject,
    /// Ready pods.
    pub ready: i64,
    /// Pods it asks for.
    pub desired: i64,
}

/// Pods that cannot be scheduled for the same reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct PendingReason {
    /// Message of the scheduler without the part about preemption; empty if there is none yet.
    pub reason: String,
    /// Number of pods.
    pub pods: usize,
}

/// A change of a zone's state or rate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct ZoneStep {
    /// Time of the change, from the fault on.
    pub at: Millis,
    /// Name of the zone.
    pub zone: String,
    /// The new state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<ZoneState>,
    /// The new rate: nodes per second that may be tainted, written as in a flag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<String>,
}

/// Result of a drain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct DrainResult {
    /// Time at which it ended; absent if it continues at the horizon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Millis>,
    /// Whether some node was not drained.
    pub failed: bool,
    /// Last error that it printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl DrainResult {
    /// Whether it continues at the horizon, or some node was not drained.
    #[must_use]
    pub const fn does_not_end(&self) -> bool {
        self.ended.is_none() || self.failed
    }
}

/// The top-level workload that owns a pod, or the pod itself. `None` for a static pod, which is
/// part of its node.
fn subject_of(cluster: &Cluster, pod: &Pod) -> Option<ReportSubject> {
    match pod.metadata.controller_key() {
        Some(owner) => Some(ReportSubject::Workload(top(cluster, owner))),
        None => (!pod.is_static()).then(|| ReportSubject::Pod(pod.key())),
    }
}

fn top(cluster: &Cluster, key: WorkloadKey) -> WorkloadKey {
    let owner = cluster.get_workload(&key).and_then(|workload| workload.owner());
    match owner {
        Some(owner) if cluster.get_workload(&owner).is_some() => owner,
        _ => key,
    }
}

/// All top-level workloads, and pods without an owner.
pub(crate) fn subjects(simulator: &Simulator) -> Vec<ReportSubject> {
    let cluster = simulator.cluster();
    let workloads = cluster.workloads().map(|(key, _)| top(cluster, key.clone()));
    let pods = cluster.pods().map(|(_, pod)| pod).filter(|pod| !pod.has_ended());
    let bare = pods.filter(|pod| pod.metadata.controller_key().is_none() && !pod.is_static());
    let bare = bare.map(|pod| ReportSubject::Pod(pod.key()));
    let all: OrderedSet<_> = workloads.map(ReportSubject::Workload).chain(bare).collect();
    all.into_iter().collect()
}

/// Subjects with fewer ready pods than they ask for.
pub(super) fn short(simulator: &Simulator, subjects: &[ReportSubject]) -> Vec<Shortfall> {
    let each = subjects.iter().map(|subject| Shortfall {
        subject: subject.clone(),
        ready: ready(simulator, subject),
        desired: desired(simulator, subject),
    });
    each.filter(|it| it.ready < it.desired).collect()
}

/// Subjects that ask for no pod and have none.
pub(super) fn idle(simulator: &Simulator, subjects: &[ReportSubject]) -> Vec<ReportSubject> {
    let is_idle = |it: &&ReportSubject| desired(simulator, it) == 0 && ready(simulator, it) == 0;
    subjects.iter().filter(is_idle).cloned().collect()
}

/// Subjects with ready endpoints of a Service.
pub(super) fn served(simulator: &Simulator, services: &[ServiceSelector]) -> Vec<ReportSubject> {
    let cluster = simulator.cluster();
    let pods = cluster.pods().map(|(_, pod)| pod).filter(|pod| is_ready_endpoint(services, pod));
    let owners: OrderedSet<_> = pods.filter_map(|pod| subject_of(cluster, pod)).collect();
    owners.into_iter().collect()
}

/// Whether connections go to a pod.
fn is_ready_endpoint(services: &[ServiceSelector], pod: &Pod) -> bool {
    let mut endpoints = services.iter().filter_map(|service| service.endpoint(pod));
    endpoints.any(|it| it.ready)
}

/// Number of ready pods, without regard to power failures.
pub(crate) fn ready(simulator: &Simulator, subject: &ReportSubject) -> i64 {
    match subject {
        ReportSubject::Workload(workload) => simulator.cluster().ready_pods(workload),
        ReportSubject::Pod(pod) => {
            i64::from(simulator.cluster().get_pod(pod).is_some_and(|pod| is_ready(pod)))
        }
    }
}

/// Parts that fail: nodes, or the devices of a pool on them, `driver/pool`.
#[derive(Clone, Debug)]
pub(super) struct Failing {
    pub(super) nodes: Vec<NodeName>,
    pub(super) pool: Option<String>,
}

/// Updates of the slices of a pool that taint all its devices.
fn taint_pool(settled: &Simulator, pool: &str) -> Vec<Command> {
    let mut commands = Vec::new();
    let devices = settled.cluster().devices();
    for object in devices.into_iter().flat_map(|devices| devices.objects()) {
        let Ok(slice) = object.resource_slice() else { continue };
        if object.kind != DeviceKind::ResourceSlice
            || pool.split_once('/') != Some((slice.driver.as_str(), slice.pool.as_str()))
        {
            continue;
        }
        let taint = json!({ "key": format!("{}/unhealthy", slice.driver), "effect": "NoExecute" });
        let mut tainted = DeviceObject::clone(object);
        let mut devices = tainted.spec.get("devices").cloned().unwrap_or_default();
        for device in devices.as_array_mut().into_iter().flatten() {
            // To v1beta1 all but the name is in `basic`.
            let in_basic = device.get("basic").is_some();
            let place = if in_basic { device.get_mut("basic") } else { Some(device) };
            let Some(Value::Object(device)) = place else { continue };
            let taints = device.entry("taints").or_insert_with(|| json!([]));
            if let Value::Array(taints) = taints {
                taints.push(taint.clone());
            }
        }
        tainted.spec.set("devices", devices);
        commands.push(Command::UpdateDeviceObject(Box::new(tainted)));
    }
    commands
}

/// Commands of a run in the order of time: the fault, and a remedy that follows it.
fn commands(
    settled: &Simulator,
    at: Timestamp,
    failing: &Failing,
    run: &Run,
) -> Vec<(Timestamp, Command)> {
    let nodes = &failing.nodes;
    let mut commands = match &failing.pool {
        Some(pool) => taint_pool(settled, pool).into_iter().map(|it| (at, it)).collect(),
        None => run.fault.commands(nodes, at),
    };
    if let Some(Remedy::OutOfService { after }) = &run.remedy {
        let at = at.saturating_add(after.0);
        let taint = Remedy::out_of_service_taint();
        let taint = |node: &NodeName| Command::Taint { node: node.clone(), taint: taint.clone() };
        commands.extend(nodes.iter().map(|node| (at, taint(node))));
    }
    commands.order_by_key(|(at, _)| *at);
    commands
}

/// Commands of a run as steps of a scenario, without the refused ones: a refused step would be an
/// error there.
pub(super) fn steps(
    settled: &Simulator,
    at: Timestamp,
    horizon: Span,
    nodes: &Failing,
    run: &Run,
) -> Vec<Step> {
    let end = at.saturating_add(horizon.0);
    let mut simulator = settled.clone();
    let mut steps = Vec::new();
    for (at, command) in commands(settled, at, nodes, run) {
        if at <= end && simulator.handle_command(at, command.clone()).is_ok() {
            let at = Span(Duration::from_nanos(at.as_nanos()));
            steps.push(Step { at, command, refused: None });
        }
    }
    steps
}

/// A fork of the settled cluster with failing nodes, up to some moment.
#[derive(Clone, Debug)]
struct Course {
    simulator: Simulator,
    /// Remaining commands, in the order of time.
    commands: VecDeque<(Timestamp, Command)>,
    /// Time at which pods that are down come back, if they do.
    back: Option<Timestamp>,
    /// Time of the last event.
    last: Timestamp,
}

impl Course {
    fn new(settled: &Simulator, at: Timestamp, nodes: &Failing, run: &Run) -> Self {
        Self {
            simulator: settled.clone(),
            commands: commands(settled, at, nodes, run).into(),
            back: run.fault.down_until(at),
            last: at,
        }
    }

    /// Continues to `end` and shows each moment with its events, and the moment at which pods that
    /// were down come back. Returns the time of the last event, or `None` if more is due after
    /// `end`.
    fn go_on(
        &mut self,
        end: Timestamp,
        mut show: impl FnMut(&Simulator, &[Event]),
    ) -> Option<Timestamp> {
        loop {
            let command = self.commands.front().map(|(at, _)| *at);
            let deadline = self.simulator.poll_timeout().map(|next| next.at);
            let Some(next) = command.into_iter().chain(deadline).chain(self.back).min() else {
                return Some(self.last);
            };
            if next > end {
                return None;
            }
            while let Some((_, command)) = self.commands.pop_front_if(|(at, _)| *at <= next) {
                // A refused command, such as a write to a pod that is gone, has no effect.
                let _ = self.simulator.handle_command(next, command);
            }
            if self.simulator.advance_to(next).is_err() {
                return Some(self.last);
            }
            let events = self.simulator.drain_events();
            let is_back = self.back.take_if(|back| *back <= next).is_some();
            if is_back || !events.is_empty() {
                self.last = next;
                show(&self.simulator, &events);
            }
        }
    }
}

/// Makes a run.
pub(super) fn record(
    settled: &Arc<Simulator>,
    services: &Arc<Vec<ServiceSelector>>,
    at: Timestamp,
    horizon: Span,
    nodes: &Failing,
    run: &Run,
) -> RunResult {
    let course = Course::new(settled, at, nodes, run);
    let recorder = Recorder::new(settled, at, &nodes.nodes, run.fault.down_until(at));
    let recorder = recorder.with_services(services);
    finish(course, recorder, at.saturating_add(horizon.0), run)
}

/// Continues to the end and returns the result.
fn finish(mut course: Course, mut recorder: Recorder, end: Timestamp, run: &Run) -> RunResult {
    let at_rest = course.go_on(end, |simulator, events| recorder.take_in(simulator, events));
    let at_rest = at_rest.map(|last| Millis::between(recorder.at, last));
    recorder.result(&course.simulator, end, run, at_rest)
}

/// Nodes with unreachable kubelets. The end of the outage is not known in advance, so that outages
/// of all lengths share their beginning; the shorter ones have to come first.
#[derive(Clone, Debug)]
pub(super) struct UnreachableNodes {
    domain: usize,
    course: Course,
    /// Time up to which it was simulated, inclusive.
    until: Timestamp,
    /// For lost nodes.
    lost: Recorder,
    /// For nodes without power.
    off: Recorder,
}

impl UnreachableNodes {
    /// Starts an outage in the cluster and with the domain of a run.
    pub(super) fn new(
        settled: &Arc<Simulator>,
        services: &Arc<Vec<ServiceSelector>>,
        at: Timestamp,
        nodes: &Failing,
        run: &Run,
    ) -> Self {
        let recorder = |down_until| {
            Recorder::new(settled, at, &nodes.nodes, down_until).with_services(services)
        };
        let lost = Run { fault: Fault::Lost, ..run.clone() };
        Self {
            domain: run.domain,
            course: Course::new(settled, at, nodes, &lost),
            until: at,
            lost: recorder(None),
            off: recorder(Some(Timestamp::MAX)),
        }
    }

    /// Whether a run of the same cluster can continue from here.
    pub(super) fn begins(&self, run: &Run) -> bool {
        let later = run.fault.down_until(self.lost.at).is_none_or(|back| back > self.until);
        run.domain == self.domain && makes_unreachable(run) && later
    }

    /// Makes a run for which [`begins`](Self::begins) holds, up to the horizon.
    pub(super) fn record(&mut self, horizon: Span, nodes: &Failing, run: &Run) -> RunResult {
        let at = self.lost.at;
        let end = at.saturating_add(horizon.0);
        let Some(back) = run.fault.down_until(at) else {
            return finish(self.course.clone(), self.lost.clone(), end, run);
        };
        // Events at the end of the outage belong to the part after it.
        let before = Timestamp::from_nanos(back.as_nanos().saturating_sub(1)).min(end);
        let Self { course, lost, off, .. } = self;
        course.go_on(before, |simulator, events| {
            lost.take_in(simulator, events);
            off.take_in(simulator, events);
        });
        self.until = before;
        let mut course = self.course.clone();
        let rest = commands(&self.course.simulator, at, nodes, run).into_iter();
        course.commands.extend(rest.filter(|(time, _)| *time >= back));
        course.back = Some(back);
        finish(course, Recorder { down_until: Some(back), ..self.off.clone() }, end, run)
    }
}

/// Whether a run does nothing but lose its nodes, or switch them off for a while.
pub(super) const fn makes_unreachable(run: &Run) -> bool {
    matches!(run.fault, Fault::Lost | Fault::PowerOff { .. })
        && !matches!(run.remedy, Some(Remedy::OutOfService { .. }))
}

/// Lanes of a run: those of the failing nodes, and of the pods of one workload.
pub(super) fn lanes(
    settled: &Simulator,
    at: Timestamp,
    horizon: Span,
    nodes: &Failing,
    run: &Run,
    subject: &ReportSubject,
) -> Lanes {
    let end = at.saturating_add(horizon.0);
    let mut course = Course::new(settled, at, nodes, run);
    let mut recorder = LaneRecorder::new(settled);
    let mut pods: OrderedSet<PodKey> = OrderedSet::new();
    let mut note = |simulator: &Simulator| match subject {
        ReportSubject::Workload(key) => pods.extend(simulator.cluster().pods_of_workload(key)),
        ReportSubject::Pod(pod) => _ = pods.insert(pod.clone()),
    };
    note(settled);
    let last = course.go_on(end, |simulator, events| {
        recorder.record(simulator, events);
        note(simulator);
    });
    // A run that came to rest early is not drawn to the horizon.
    let until = last.map_or(end, |last| last.saturating_add(Duration::from_secs(60)).min(end));
    let mut lanes = recorder.lanes(until);
    lanes.lanes.retain(|lane| match &lane.subject {
        LaneSubject::Zone { .. } => false,
        LaneSubject::Node { node } => nodes.nodes.contains(node),
        LaneSubject::Pod { pod } => pods.contains(pod),
    });
    lanes
}

#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    settled: Arc<Simulator>,
    services: Arc<Vec<ServiceSelector>>,
    at: Timestamp,
    /// The failing nodes.
    nodes: OrderedSet<NodeName>,
    /// Time until which the pods that were on them are down.
    down_until: Option<Timestamp>,
    /// Pods that were ready there, with their UIDs, by owner.
    down: OrderedMap<ReportSubject, Vec<(PodKey, String)>>,
    tracks: OrderedMap<ReportSubject, Track>,
    /// Owners of pods that are gone, or did not exist before the fault.
    owners: OrderedMap<PodKey, ReportSubject>,
    evicted: OrderedSet<PodKey>,
    zones: Vec<ZoneStep>,
    drain: Option<DrainResult>,
}

/// State of a workload over time.
#[derive(Clone, Debug, Default)]
struct Track {
    wanted: i64,
    /// Steps: a time, and the ready and wanted pods from then on.
    curve: Vec<(Timestamp, i64, i64)>,
    evicted: usize,
    preempted: usize,
    budgets_not_asked: usize,
    /// Pods on nodes out of reach whose endpoints are ready.
    dead: OrderedSet<PodKey>,
    /// Time since which there is one.
    dead_since: Option<Timestamp>,
    /// Time in which there was one before.
    dead_for: Duration,
}

impl Recorder {
    pub(crate) fn new(
        settled: &Arc<Simulator>,
        at: Timestamp,
        nodes: &[NodeName],
        down_until: Option<Timestamp>,
    ) -> Self {
        let mut recorder = Self {
            settled: settled.clone(),
            services: Arc::default(),
            at,
            nodes: nodes.iter().cloned().collect(),
            down_until,
            down: OrderedMap::new(),
            tracks: OrderedMap::new(),
            owners: OrderedMap::new(),
            evicted: OrderedSet::new(),
            zones: Vec::new(),
            drain: None,
        };
        if down_until.is_some() {
            recorder.power_off(settled, nodes, at);
        }
        recorder
    }

    /// The same, which follows the endpoints of these Services, too.
    fn with_services(self, services: &Arc<Vec<ServiceSelector>>) -> Self {
        Self { services: services.clone(), ..self }
    }

    /// The same, in which nodes that lose power later are off until then.
    pub(crate) fn with_power_off_until(self, down_until: Option<Timestamp>) -> Self {
        Self { down_until, ..self }
    }

    /// The pods of these nodes are down from now on.
    pub(crate) fn power_off(&mut self, simulator: &Simulator, nodes: &[NodeName], at: Timestamp) {
        let cluster = simulator.cluster();
        for (key, pod) in nodes.iter().flat_map(|node| cluster.pods_of(node.as_str())) {
            if let Some(subject) = subject_of(cluster, pod).filter(|_| is_ready(pod)) {
                let down = self.down.entry(subject).or_default();
                down.push((key.clone(), pod.metadata.uid.clone()));
            }
        }
        self.look(simulator, at);
    }

    /// Ready and wanted pods of a workload over time; empty if nothing has happened to it.
    pub(crate) fn curve(&self, subject: &ReportSubject) -> &[(Timestamp, i64, i64)] {
        self.tracks.get(subject).map_or(&[], |track| &track.curve)
    }

    /// Changes of the states and rates of zones.
    pub(crate) fn zones(&self) -> &[ZoneStep] {
        &self.zones
    }

    /// Records the events of one moment.
    pub(crate) fn take_in(&mut self, simulator: &Simulator, events: &[Event]) {
        let mut pods: OrderedSet<&PodKey> = OrderedSet::new();
        let mut reached = OrderedSet::new();
        for event in events {
            pods.extend(event.what.subject().pod);
            match &event.what {
                EventKind::ZoneStateChanged { zone, to, .. } => {
                    self.zone(event.at, zone, *to, None);
                }
                EventKind::ZoneRateChanged { zone, rate } => {
                    self.zone(event.at, zone, None, Some(alloc::format!("{rate}")));
                }
                EventKind::DrainStarted { .. } => self.drain = Some(DrainResult::default()),
                EventKind::DrainPrinted { is_error: true, line, .. } => {
                    self.drain.get_or_insert_default().error = Some(line.clone());
                }
                EventKind::DrainEnded { failed, .. } => {
                    let drain = self.drain.get_or_insert_default();
                    drain.ended = Some(Millis::between(self.at, event.at));
                    drain.failed = *failed;
                }
                EventKind::HeartbeatLost { node, .. }
                | EventKind::HeartbeatResumed { node, .. } => {
                    reached.extend(self.endpoints_of(simulator, node));
                }
                EventKind::BudgetNotAsked { .. }
                | EventKind::VolumeDetached { .. }
                | EventKind::EventRecorded(_)
                | EventKind::DrainPrinted { .. }
                | EventKind::NodeAdded { .. }
                | EventKind::NodeUpdated { .. }
                | EventKind::NodeDeleted { .. }
                | EventKind::PodAdded { .. }
                | EventKind::PodUpdated { .. }
                | EventKind::PodDeleted { .. }
                | EventKind::Request { .. }
                | EventKind::Decided(_)
                | EventKind::DeviceEvictionPlanned { .. }
                | EventKind::NodeEvaluated { .. }
                | EventKind::TaintEvictionControllerRestarted { .. }
                | EventKind::ControllerManagerRestarted
                | EventKind::NodeConditionChanged { .. }
                | EventKind::NodeTaintsChanged { .. }
                | EventKind::NodeWriteRefused { .. }
                | EventKind::NodeSkipped { .. }
                | EventKind::NodeQueued { .. }
                | EventKind::NodeDequeued { .. }
                | EventKind::KubeletEviction { .. }
                | EventKind::NodeShutdown { .. }
                | EventKind::MasterDisruptionEntered
                | EventKind::MasterDisruptionLeft
                | EventKind::WorkloadAdded { .. }
                | EventKind::WorkloadUpdated { .. }
                | EventKind::WorkloadDeleted { .. }
                | EventKind::OwnerInferred { .. }
                | EventKind::PodAdmitted { .. }
                | EventKind::NodeAdmitted { .. }
                | EventKind::BudgetChanged { .. } => {}
            }
        }
        for key in pods {
            let Some(subject) = self.owner(simulator, key) else { continue };
            if self.has_left(simulator, key) && self.evicted.insert(key.clone()) {
                self.track(&subject).evicted += 1;
            }
            reached.insert(subject);
        }
        for event in events {
            let (pod, budget) = if let EventKind::BudgetNotAsked { pod, .. } = &event.what {
                (pod.clone(), true)
            } else if let EventKind::EventRecorded(recorded) = &event.what
                && recorded.reason == "Preempted"
                && let Some(pod) = event.what.subject().pod
            {
                (pod.clone(), false)
            } else {
                continue;
            };
            if let Some(subject) = self.owner(simulator, &pod) {
                let track = self.track(&subject);
                *(if budget { &mut track.budgets_not_asked } else { &mut track.preempted }) += 1;
            }
        }
        for subject in reached {
            self.sample(simulator, &subject, simulator.now());
        }
        if self.down_until == Some(simulator.now()) {
            self.look(simulator, simulator.now());
        }
    }

    /// Notes the ready endpoints on a node that has got out of reach or is back; returns the owners
    /// of their pods.
    fn endpoints_of(&mut self, simulator: &Simulator, node: &NodeName) -> Vec<ReportSubject> {
        let mut owners = Vec::new();
        if self.services.is_empty() {
            return owners;
        }
        for (key, pod) in simulator.cluster().pods_of(node.as_str()) {
            if is_ready_endpoint(&self.services, pod)
                && let Some(owner) = subject_of(simulator.cluster(), pod)
            {
                self.track(&owner).dead.insert(key.clone());
                owners.push(owner);
            }
        }
        owners
    }

    /// Drops endpoints of a workload that are gone, not ready any more, or on nodes that are back.
    fn sample_endpoints(&mut self, simulator: &Simulator, subject: &ReportSubject, at: Timestamp) {
        let mut dead = core::mem::take(&mut self.track(subject).dead);
        dead.retain(|key| {
            let pod = simulator.cluster().get_pod(key);
            pod.is_some_and(|pod| {
                let node = NodeName::from(pod.spec.node_name.as_str());
                simulator.unreachable_cause(&node).is_some()
                    && is_ready_endpoint(&self.services, pod)
            })
        });
        let track = self.track(subject);
        if dead.is_empty() {
            let since = track.dead_since.take().unwrap_or(at);
            track.dead_for += at.since_zero().saturating_sub(since.since_zero());
        } else {
            track.dead_since.get_or_insert(at);
        }
        track.dead = dead;
    }

    fn zone(
        &mut self,
        at: Timestamp,
        zone: &ZoneKey,
        state: Option<ZoneState>,
        rate: Option<String>,
    ) {
        let at = Millis::between(self.at, at);
        self.zones.push(ZoneStep { at, zone: zone.name(), state, rate });
    }

    /// Owner of a pod; `None` for a pod that came and went in one instant, and for a static pod.
    fn owner(&mut self, simulator: &Simulator, key: &PodKey) -> Option<ReportSubject> {
        if let Some(known) = self.owners.get(key) {
            return Some(known.clone());
        }
        let cluster = simulator.cluster();
        let pod = cluster.get_pod(key).or_else(|| self.settled.cluster().get_pod(key))?;
        let subject = subject_of(cluster, pod)?;
        self.owners.insert(key.clone(), subject.clone());
        Some(subject)
    }

    /// Whether a pod was on a failed node and is terminating, ended or gone.
    fn has_left(&self, simulator: &Simulator, key: &PodKey) -> bool {
        let Some(before) = self.settled.cluster().get_pod(key) else { return false };
        before.is_active()
            && self.nodes.contains(before.spec.node_name.as_str())
            && simulator
                .cluster()
                .get_pod(key)
                .is_none_or(|now| now.metadata.uid != before.metadata.uid || !now.is_active())
    }

    fn track(&mut self, subject: &ReportSubject) -> &mut Track {
        if !self.tracks.contains_key(subject) {
            let (ready, desired) = (ready(&self.settled, subject), desired(&self.settled, subject));
            // A failed node needs no DaemonSet pod.
            let there = match subject {
                ReportSubject::Workload(key) if key.kind == WorkloadKind::DaemonSet => {
                    self.ready_on_failed(key)
                }
                ReportSubject::Workload(_) | ReportSubject::Pod(_) => 0,
            };
            let wanted = ready.min(desired) - there;
            let curve = Vec::from([(self.at, ready, wanted)]);
            self.tracks.insert(subject.clone(), Track { wanted, curve, ..Track::default() });
        }
        self.tracks.entry(subject.clone()).or_default()
    }

    /// Ready pods of a workload on the failing nodes.
    fn ready_on_failed(&self, workload: &WorkloadKey) -> i64 {
        let cluster = self.settled.cluster();
        let pods = cluster.pods_of_workload(workload);
        let failed = pods.iter().filter_map(|key| cluster.get_pod(key)).filter(|pod| {
            self.nodes.contains(pod.spec.node_name.as_str()) && pod.is_ready_replica()
        });
        i64::try_from(failed.count()).unwrap_or(0)
    }

    /// Samples all subjects whose pods go down or come back now.
    fn look(&mut self, simulator: &Simulator, at: Timestamp) {
        let subjects: Vec<ReportSubject> = self.down.keys().cloned().collect();
        for subject in subjects {
            self.sample(simulator, &subject, at);
        }
    }

    fn sample(&mut self, simulator: &Simulator, subject: &ReportSubject, at: Timestamp) {
        let mut ready = ready(simulator, subject);
        if let ReportSubject::Pod(key) = subject {
            let uid = |simulator: &Simulator| {
                simulator.cluster().get_pod(key).map(|pod| pod.metadata.uid.clone())
            };
            // A recreated pod of the same name is a different pod.
            ready *= i64::from(uid(simulator) == uid(&self.settled));
        }
        if self.down_until.is_some_and(|until| at < until) {
            let down = self.down.get(subject).into_iter().flatten().filter(|(key, uid)| {
                let pod = simulator.cluster().get_pod(key);
                pod.is_some_and(|pod| pod.metadata.uid == *uid && is_ready(pod))
            });
            ready -= i64::try_from(down.count()).unwrap_or(0);
        }
        if !self.services.is_empty() {
            self.sample_endpoints(simulator, subject, at);
        }
        let desired = desired(simulator, subject);
        let track = self.track(subject);
        let step = (at, ready, desired.min(track.wanted));
        match track.curve.last_mut() {
            Some(last) if (last.1, last.2) == (step.1, step.2) => {}
            Some(last) if last.0 == at => *last = step,
            _ => track.curve.push(step),
        }
    }

    fn result(
        self,
        simulator: &Simulator,
        end: Timestamp,
        run: &Run,
        at_rest: Option<Millis>,
    ) -> RunResult {
        RunResult {
            run: run.clone(),
            at_rest,
            evicted: self.evicted.len(),
            zones: self.zones.clone(),
            drain: self.drain.clone(),
            yaml: None,
            workloads: self.workloads(simulator, end).map(|(figures, _)| figures).collect(),
        }
    }

    /// Figures of the workloads that were affected, with the steps of their ready and wanted pods.
    pub(crate) fn workloads(
        &self,
        simulator: &Simulator,
        end: Timestamp,
    ) -> impl Iterator<Item = (WorkloadRun, &[(Timestamp, i64, i64)])> {
        let all = self.tracks.iter().map(move |(subject, track)| {
            let mut figures = measure(subject, track, self.at, end);
            self.look_at_the_end(simulator, &mut figures);
            (figures, track.curve.as_slice())
        });
        all.filter(|(figures, _)| !figures.is_untouched())
    }

    /// Completes the figures with the pods that exist at the end.
    fn look_at_the_end(&self, simulator: &Simulator, figures: &mut WorkloadRun) {
        let (cluster, before) = (simulator.cluster(), self.settled.cluster());
        let pods = match &figures.subject {
            ReportSubject::Workload(workload) => cluster.pods_of_workload(workload),
            ReportSubject::Pod(pod) => OrderedSet::from([pod.clone()]),
        };
        let mut reasons: OrderedMap<String, usize> = OrderedMap::new();
        let mut active = 0;
        for key in pods {
            let Some(pod) = cluster.get_pod(&key) else { continue };
            let same = before.get_pod(&key).is_some_and(|old| old.metadata.uid == pod.metadata.uid);
            active += usize::from(pod.is_active() && same);
            figures.moved += usize::from(!same && is_ready(pod));
            if pod.is_terminating() {
                figures.stuck += usize::from(simulator.awaits_kubelet(&key));
            } else if pod.is_active() && pod.spec.node_name.is_empty() {
                *reasons.entry(why_unschedulable(simulator, &key)).or_default() += 1;
            }
        }
        if matches!(figures.subject, ReportSubject::Pod(_)) {
            figures.lost = usize::from(active == 0);
        }
        let mut pending: Vec<_> =
            reasons.into_iter().map(|(reason, pods)| PendingReason { reason, pods }).collect();
        pending.order_by_key(|group| core::cmp::Reverse(group.pods));
        figures.pending = pending;
    }
}

/// Whether a pod serves. Without a `Ready` condition it does once it is on a node.
fn is_ready(pod: &Pod) -> bool {
    let said = pod.condition("Ready").is_none() || pod.has_ready_condition();
    pod.is_active() && !pod.spec.node_name.is_empty() && said
}

/// Desired number of pods.
fn desired(simulator: &Simulator, subject: &ReportSubject) -> i64 {
    let ReportSubject::Workload(key) = subject else { return 1 };
    let cluster = simulator.cluster();
    if key.kind == WorkloadKind::DaemonSet {
        let steps = simulator.availability(key).map(|known| known.steps).unwrap_or_default();
        return steps.last().map_or(0, |step| step.desired);
    }
    cluster.get_workload(key).map_or(0, |workload| match key.kind {
        WorkloadKind::Job => wanted_pods(cluster, workload),
        _ => workload.replicas(),
    })
}

/// Figures of a curve.
fn measure(subject: &ReportSubject, track: &Track, at: Timestamp, end: Timestamp) -> WorkloadRun {
    let ends = track.curve.iter().skip(1).map(|(at, ..)| *at).chain([end]);
    let (mut below, mut at_zero, mut lost) = (Duration::ZERO, Duration::ZERO, 0_u128);
    let (mut gap, mut longest_gap) = (Duration::ZERO, Duration::ZERO);
    let (mut least_ready, mut worst_at) = (track.wanted, at);
    let mut whole_again = None;
    for ((from, ready, wanted), to) in track.curve.iter().zip(ends) {
        let length = to.since_zero().saturating_sub(from.since_zero());
        if ready < wanted {
            below += length;
            gap += length;
            longest_gap = longest_gap.max(gap);
            whole_again = None;
            let missing = u128::try_from(wanted - ready).unwrap_or(0);
            lost += length.as_millis() * missing;
            if *ready == 0 {
                at_zero += length;
            }
            if *ready < least_ready && !length.is_zero() {
                (least_ready, worst_at) = (*ready, *from);
            }
        } else {
            gap = Duration::ZERO;
            whole_again = whole_again.or_else(|| (!below.is_zero()).then_some(*from));
        }
    }
    let millis = |time: Duration| Millis::from(Span(time));
    WorkloadRun {
        subject: subject.clone(),
        wanted: track.wanted,
        evicted: track.evicted,
        moved: 0,
        preempted: track.preempted,
        pending: Vec::new(),
        stuck: 0,
        lost: 0,
        budgets_not_asked: track.budgets_not_asked,
        least_ready,
        // Rounded up: nothing has happened before that time.
        worst_at: Millis((worst_at.as_nanos().saturating_sub(at.as_nanos())).div_ceil(1_000_000)),
        below: millis(below),
        at_zero: millis(at_zero),
        longest_gap: millis(longest_gap),
        dead_endpoints: millis(track.dead_for.saturating_add(
            track.dead_since.map_or(Duration::ZERO, |since| {
                end.since_zero().saturating_sub(since.since_zero())
            }),
        )),
        replica_time_lost: Millis(u64::try_from(lost).unwrap_or(u64::MAX)),
        whole_again: whole_again.map(|whole| Millis::between(at, whole)),
    }
}
