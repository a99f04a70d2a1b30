//! A cluster in simulated time: commands in, events out, the next deadline with its reason.
//!
//! # The drive loop
//!
//! 1. [`Simulator::handle_command`] changes the cluster at a time that the caller chooses.
//! 2. [`Simulator::handle_timeout`] or [`Simulator::advance_to`] lets time pass: all that is due
//!    happens.
//! 3. [`Simulator::poll_event`] gives what happened, in order, until it gives nothing.
//! 4. [`Simulator::poll_timeout`] says when something will happen next, and what.
//!
//! Time never goes back. At one instant, first the timers that are due fire, in the order of their
//! time and then of their creation, each followed by a *drain*; then the commands of that instant
//! change the cluster, in their order; then comes one drain. In a drain, controllers look at what
//! has changed until nothing is left, nodes before pods.
//!
//! How an interval is divided into calls of `advance_to` makes no difference to the events.

mod api_server;
mod commands;
mod control;
mod control_plane;
mod drains;
mod eviction_managers;
mod eviction_views;
mod faults;
mod forecast;
mod kubelets;
mod lifecycle;
mod outcome;
mod ready_history;
mod states;
mod usage_commands;
mod views;
mod when_evicted;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use serde::Serialize;

pub use self::control::{PendingPod, PodStatusView, WorkloadView, pod_status};
use self::control_plane::ControlPlane;
pub use self::eviction_views::{EvictionView, PodSeries, SignalView, ThresholdLine, UsageSeries};
pub use self::forecast::Forecast;
use self::kubelets::{Kubelets, Wake};
pub use self::outcome::{OutcomeKind, OutcomePart, RunOutcome, StuckPods, UnschedulablePods};
pub use self::ready_history::{Availability, Gap, Readiness, ReadyStep};
pub use self::states::PodStates;
pub use self::views::NodeView;
pub use self::when_evicted::{
    Assumption, EvictionQuestion, NodeFault, PodSource, WhenEvicted, WhenEvictedError, when_evicted,
};
pub use crate::api::BudgetStatus;
use crate::api_server::{ApiServer, Fault};
pub use crate::api_server::{ConfigError, DEFAULT_START_UP_TIME, SimulatorConfig};

use crate::api::{Lease, Node, NodeName, Pod, PodDisruptionBudget, PodKey, Workload};
use crate::cluster::Cluster;
use crate::command::{Command, CommandError};
use crate::controllers::Controller;
use crate::controllers::drain::DrainController;
use crate::controllers::node_lifecycle::{NodeLifecycleConfig, NodeLifecycleController};
use crate::controllers::taint_eviction::{
    Action, ScheduledEviction, TaintEvictionController, shard_of,
};
use crate::event::{Event, EventKind, RequestResult, RequestVerb, Timeout, TimeoutReason};
use crate::eviction_timeline::EvictionRecords;
use crate::policy::matching::{Explanation, explain};
use crate::policy::validation::ValidationOptions;
use crate::queue::timer_queue::Sequence;
use crate::release::{FeatureGate, FeatureGates};
use crate::time::{Time, Timestamp};

/// In nanoseconds.
const A_DAY: u64 = 24 * 60 * 60 * 1_000_000_000;

/// A cluster in simulated time. See the [module](self) for how to drive it.
#[derive(Clone, Debug)]
pub struct Simulator {
    api: ApiServer,
    flags: NodeLifecycleConfig,
    taint_eviction: TaintEvictionController,
    /// Whether it runs: with kubelets, a flag can switch it off.
    evicts_by_taints: bool,
    lifecycle: Option<NodeLifecycleController>,
    kubelets: Kubelets,
    /// Scheduler, controllers of workloads and so on, if they take part.
    control: Option<Box<ControlPlane>>,
    drains: DrainController,
    eviction_records: EvictionRecords,
    /// Ends of grace periods, in the order of time and creation.
    terminating: BTreeMap<(Timestamp, u64), Terminating>,
    /// Numbers the timers of all components.
    sequence: Sequence,
}

#[derive(Clone, Debug)]
struct Terminating {
    pod: PodKey,
    uid: String,
    grace: Duration,
}

/// A cluster without nodes and pods, on the newest release.
impl Default for Simulator {
    fn default() -> Self {
        let config = SimulatorConfig::default();
        let flags = NodeLifecycleConfig::of(config.release);
        Self::empty(config, FeatureGates::default(), flags)
    }
}

/// A simulation as it was at some moment; see [`Simulator::snapshot`].
///
/// Objects are shared with the simulation, so that it costs a few dozen bytes for every object.
#[derive(Clone, Debug)]
pub struct Snapshot(Simulator);

/// What can be there at the beginning beside nodes and pods.
#[derive(Clone, Debug, Default)]
pub struct InitialState {
    /// The leases of nodes: they tell when a kubelet that beats did so last.
    pub leases: Vec<Lease>,
    /// Deployments and so on.
    pub workloads: Vec<Workload>,
    /// PodDisruptionBudgets.
    pub budgets: Vec<PodDisruptionBudget>,
}

/// The old name of [`InitialState`].
pub use self::InitialState as Beginning;

/// The clock was told to go back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeWentBack {
    /// The time asked for.
    pub at: Timestamp,
    /// The time reached.
    pub now: Timestamp,
}

impl core::fmt::Display for TimeWentBack {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "the simulation is already at {} and cannot go back to {}", self.now, self.at)
    }
}

impl core::error::Error for TimeWentBack {}

/// What is to become of a pod, and why; the one value that the page, the package and the docs
/// show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct PodExplanation {
    /// Which pod.
    pub pod: PodKey,
    /// Its node; empty if it has none.
    pub node: String,
    /// Whether there is such a node.
    pub node_exists: bool,
    /// How the pod's tolerations answer the node's taints.
    pub matching: Explanation,
    /// The timer that will delete the pod, if one runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer: Option<ScheduledEviction>,
    /// Whether the pod has been deleted and is still there until its grace period ends.
    pub terminating: bool,
    /// Whether it is, and stays so until a kubelet that nobody hears is back.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    #[cfg_attr(feature = "typescript-all", tsify(optional))]
    pub awaits_kubelet: bool,
    /// Whether the controller remembers it as deleted (to 1.32).
    pub tombstone: bool,
}

impl Simulator {
    /// A cluster of these nodes and pods at time zero, and controllers that have just started.
    ///
    /// They look at the objects with the first [`advance_to`](Self::advance_to), so that commands
    /// at time zero, such as scripted failures, come before. Objects are taken as they are; of two with the same name the last one counts.
    ///
    /// # Errors
    /// A feature gate, flag or setting that cannot be; see [`SimulatorConfig::check`].
    pub fn new(
        config: SimulatorConfig,
        nodes: impl IntoIterator<Item = Node>,
        pods: impl IntoIterator<Item = Pod>,
    ) -> Result<Self, ConfigError> {
        Self::with_leases(config, nodes, pods, [])
    }

    /// The same as [`new`](Self::new), with the leases of nodes: they tell when a kubelet that
    /// beats did so last.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_leases(
        config: SimulatorConfig,
        nodes: impl IntoIterator<Item = Node>,
        pods: impl IntoIterator<Item = Pod>,
        leases: impl IntoIterator<Item = Lease>,
    ) -> Result<Self, ConfigError> {
        let begin =
            InitialState { leases: leases.into_iter().collect(), ..InitialState::default() };
        Self::beginning_with(config, nodes, pods, begin)
    }

    /// The same as [`new`](Self::new), with all else that can be there at the beginning.
    ///
    /// # Errors
    /// As [`new`](Self::new); with the control plane also an object that the scheduler cannot read.
    pub fn beginning_with(
        config: SimulatorConfig,
        nodes: impl IntoIterator<Item = Node>,
        pods: impl IntoIterator<Item = Pod>,
        begin: InitialState,
    ) -> Result<Self, ConfigError> {
        config.check()?;
        let gates = config.gates().map_err(ConfigError::FeatureGates)?;
        let flags = config.flags().map_err(ConfigError::Flag)?;
        let mut simulator = Self::empty(config, gates, flags);
        for mut node in nodes {
            simulator.api.default_metadata(&mut node.metadata);
            simulator.api.cluster.put_node(Arc::new(node));
        }
        for mut pod in pods {
            if pod.metadata.namespace.is_empty() {
                pod.metadata.namespace = "default".into();
            }
            simulator.api.default_metadata(&mut pod.metadata);
            simulator.api.cluster.put_pod(&pod.key(), Arc::new(pod));
        }
        if simulator.api.config.node_lifecycle {
            let renewals = begin.leases.into_iter().filter_map(|lease| {
                Some((lease.metadata.name.as_str().into(), lease.spec.renew_time?))
            });
            simulator.bootstrap_kubelets(&renewals.collect());
        }
        simulator.start_control(begin.workloads, begin.budgets)?;
        simulator.resume_terminations();
        if simulator.evicts_by_taints {
            simulator.start_taint_eviction();
        }
        simulator.start_lifecycle();
        Ok(simulator)
    }

    fn empty(config: SimulatorConfig, gates: FeatureGates, flags: NodeLifecycleConfig) -> Self {
        Self {
            taint_eviction: TaintEvictionController::new(config.release, &gates),
            evicts_by_taints: config.evicts_by_taints(&flags),
            lifecycle: None,
            kubelets: Kubelets::default(),
            control: None,
            drains: DrainController::new(config.release),
            eviction_records: EvictionRecords::new(
                gates.is_enabled(FeatureGate::TaintTolerationComparisonOperators),
            ),
            api: ApiServer::new(config, gates),
            flags,
            terminating: BTreeMap::new(),
            sequence: Sequence::default(),
        }
    }

    /// Changes the cluster at time `now`, after all that is due until then.
    ///
    /// What follows from the change happens with the next [`handle_timeout`](Self::handle_timeout),
    /// [`advance_to`](Self::advance_to) or later command, so that several changes can be made at
    /// one instant.
    ///
    /// # Errors
    /// The command does not fit the cluster, or is older than the simulation. The cluster is as it
    /// was.
    pub fn handle_command(&mut self, now: Timestamp, command: Command) -> Result<(), CommandError> {
        if now < self.api.now {
            return Err(CommandError::TimeWentBack { at: now, now: self.api.now });
        }
        if now > self.api.now {
            self.run_until(now);
        }
        self.apply(command)
    }

    /// The last moment that a simulation reaches, a day before [`Timestamp::MAX`]. Times saturate there, so
    /// that whatever comes again and again would come without end.
    pub const LAST_MOMENT: Timestamp = Timestamp::from_nanos(Timestamp::MAX.as_nanos() - A_DAY);

    /// The clock has reached `now`: all that is due happens.
    ///
    /// # Errors
    /// `now` is in the past.
    pub fn handle_timeout(&mut self, now: Timestamp) -> Result<(), TimeWentBack> {
        self.advance_to(now)
    }

    /// Lets time pass until `now`, at most [`LAST_MOMENT`](Self::LAST_MOMENT). An interval without
    /// deadlines costs nothing.
    ///
    /// # Errors
    /// `now` is in the past.
    pub fn advance_to(&mut self, now: Timestamp) -> Result<(), TimeWentBack> {
        if now < self.api.now {
            return Err(TimeWentBack { at: now, now: self.api.now });
        }
        self.run_until(now);
        Ok(())
    }

    /// The next moment at which something will happen, and what; `None` if nothing will until the
    /// next command.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Timeout> {
        let lifecycle = self.lifecycle.as_ref();
        if self.taint_eviction.has_queued_work()
            || self.control.as_ref().is_some_and(|control| control.has_work())
            || lifecycle.is_some_and(NodeLifecycleController::has_queued_work)
        {
            return Some(Timeout { at: self.api.now, reason: TimeoutReason::WorkQueued });
        }
        let lifecycle = lifecycle.and_then(NodeLifecycleController::poll_timeout);
        let next = match (lifecycle, self.next_timer()) {
            (Some(lifecycle), Some((at, _))) if lifecycle.at < at => Some(lifecycle),
            (_, Some(timer)) => self.timer_reason(timer),
            (lifecycle, None) => lifecycle,
        };
        next.filter(|next| next.at <= Self::LAST_MOMENT)
    }

    /// Which timer that is.
    fn timer_reason(&self, timer: (Timestamp, u64)) -> Option<Timeout> {
        let (at, _) = timer;
        let control = self.control.as_ref();
        let reason = if let Some(reason) = control.and_then(|control| control.timer_reason(timer)) {
            reason
        } else if let Some((pod, _)) = self.kubelets.starts.get(&timer) {
            TimeoutReason::PodStarts { pod: pod.clone() }
        } else if self.drains.next_timer() == Some(timer) {
            self.drains.timer_reason()?
        } else if let Some(terminating) = self.terminating.get(&timer) {
            TimeoutReason::GracePeriodOver {
                pod: terminating.pod.clone(),
                grace: terminating.grace,
            }
        } else if let Some((node, wake)) = self.kubelets.timers.get(&timer) {
            let node = node.clone();
            match wake {
                Wake::Post => TimeoutReason::KubeletPosts { node },
                Wake::Start => TimeoutReason::KubeletStarts { node },
                Wake::Stop => TimeoutReason::KubeletStops { node },
                Wake::EvictionManager => {
                    let managed = self.managed(node.as_str())?;
                    let deadline = managed.next_deadline(at)?.reason;
                    TimeoutReason::KubeletEviction { node, deadline }
                }
            }
        } else {
            return self.taint_eviction.poll_timeout();
        };
        Some(Timeout { at, reason })
    }

    /// What happened next; `None` when all has been told.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.api.events.pop_front()
    }

    /// The state now, to come back to.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot(self.clone())
    }

    /// Goes back (or forth) to a snapshot. Events that had not been polled then are there again.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        *self = snapshot.0.clone();
    }

    /// The time the simulation has reached.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.api.now
    }

    /// The wall-clock time of a moment of the simulation.
    #[must_use]
    pub fn wall_clock(&self, at: Timestamp) -> Time {
        self.api.config.start.saturating_add(at.since_zero())
    }

    /// Which Kubernetes this is.
    #[must_use]
    pub fn config(&self) -> &SimulatorConfig {
        &self.api.config
    }

    /// How the API server of this simulation validates objects.
    #[must_use]
    pub fn validation_options(&self) -> ValidationOptions {
        ValidationOptions::new(self.api.config.release, &self.api.gates)
    }

    /// The nodes and pods.
    #[must_use]
    pub fn cluster(&self) -> &Cluster {
        &self.api.cluster
    }

    /// The flags of kube-controller-manager.
    #[must_use]
    pub fn flags(&self) -> &NodeLifecycleConfig {
        &self.flags
    }

    /// The node lifecycle controller, to look at; `None` if there is none.
    #[must_use]
    pub fn node_lifecycle(&self) -> Option<&NodeLifecycleController> {
        self.lifecycle.as_ref()
    }

    /// The taint-eviction controller, to look at its timers.
    #[must_use]
    pub fn taint_eviction(&self) -> &TaintEvictionController {
        &self.taint_eviction
    }

    /// When the grace period of a terminating pod ends.
    #[must_use]
    pub fn grace_period_ends(&self, pod: &PodKey) -> Option<Timestamp> {
        let of_pod =
            |terminating: &Terminating| terminating.pod == *pod && self.is_terminating(terminating);
        let ends = self.terminating.iter().find(|(_, terminating)| of_pod(terminating));
        ends.map(|((at, _), _)| *at)
    }

    /// The terminating pods and when the grace period of each ends, soonest first.
    pub fn terminations(&self) -> impl Iterator<Item = (&PodKey, Timestamp)> {
        self.terminating.iter().map(|((at, _), terminating)| (&terminating.pod, *at))
    }

    /// What is to become of a pod, and why.
    #[must_use]
    pub fn explain(&self, pod: &PodKey) -> Option<PodExplanation> {
        let object = self.api.cluster.get_pod(pod)?;
        let node = self.api.cluster.get_node(&object.spec.node_name);
        let taints = node.map_or(&[][..], |node| &node.spec.taints);
        let gate = self.api.gates.is_enabled(FeatureGate::TaintTolerationComparisonOperators);
        let worker = self.taint_eviction.scheduled_eviction(pod);
        Some(PodExplanation {
            pod: pod.clone(),
            node: object.spec.node_name.clone(),
            node_exists: node.is_some(),
            matching: explain(taints, &object.spec.tolerations, gate),
            timer: worker.map(|worker| ScheduledEviction {
                pod: pod.clone(),
                created_at: worker.created_at,
                fire_at: worker.fire_at,
            }),
            terminating: object.is_terminating(),
            awaits_kubelet: self.awaits_kubelet(pod),
            tombstone: self.taint_eviction.tombstones().contains(pod),
        })
    }

    /// Does all that is due until `now`. At one moment timers come first, then passes of the node
    /// lifecycle controller; each is followed by a drain.
    fn run_until(&mut self, now: Timestamp) {
        let now = now.min(Self::LAST_MOMENT);
        self.reconcile_until_idle();
        loop {
            let timer = self.next_timer().map(|(at, _)| at);
            let pass = self.lifecycle.as_ref().and_then(NodeLifecycleController::next_timer);
            let Some(at) = timer.into_iter().chain(pass).min().filter(|at| *at <= now) else {
                break;
            };
            self.api.now = self.api.now.max(at);
            if timer == Some(at) {
                self.fire_next_timer();
            } else {
                self.run_lifecycle();
            }
            self.reconcile_until_idle();
        }
        self.api.now = now;
        if let Some(lifecycle) = &mut self.lifecycle {
            lifecycle.end_instant(now);
        }
    }

    /// The next timer of any component: its time, and its number in the order of creation.
    fn next_timer(&self) -> Option<(Timestamp, u64)> {
        let end_of_grace = self.terminating.first_key_value().map(|(timer, _)| *timer);
        let kubelet = self.kubelets.timers.first_key_value().map(|(timer, _)| *timer);
        let timers = self.taint_eviction.next_timer().into_iter();
        let drain = self.drains.next_timer();
        let timers = timers.chain(end_of_grace).chain(kubelet).chain(drain);
        let control = self.control.as_ref().and_then(|control| control.next_timer());
        timers.chain(self.kubelets.starts.next()).chain(control).min()
    }

    /// The number of a timer that is created now.
    fn next_sequence(&mut self) -> u64 {
        self.sequence.take()
    }

    /// Lets the taint-eviction controller number its timers with those of the others.
    fn with_taint_eviction(
        &mut self,
        call: impl FnOnce(&mut TaintEvictionController, Timestamp, &Cluster),
    ) {
        self.taint_eviction.align_sequence(self.sequence.peek());
        call(&mut self.taint_eviction, self.api.now, &self.api.cluster);
        self.sequence.advance_to(self.taint_eviction.sequence());
    }

    fn fire_next_timer(&mut self) {
        let Some(timer) = self.next_timer() else { return };
        if let Some((control, mut context)) = self.control()
            && control.fire(&mut context, timer)
        {
            self.run_control_actions();
        } else if let Some((pod, uid)) = self.kubelets.starts.stop(&timer) {
            self.pod_started(&pod, &uid);
        } else if self.drains.next_timer() == Some(timer) {
            self.with_drains(|drains, context| drains.handle_timeout(context));
        } else if let Some(terminating) = self.terminating.remove(&timer) {
            self.grace_period_over(&terminating);
        } else if self.kubelets.timers.contains_key(&timer) {
            self.fire_kubelet_timer();
        } else {
            self.with_taint_eviction(|controller, now, cluster| {
                controller.handle_timeout(now, cluster)
            });
        }
    }

    /// Lets the controllers work until nothing is left at this instant: timers that are due, then
    /// one node and one pod that have changed, and so on.
    fn reconcile_until_idle(&mut self) {
        loop {
            self.run_actions();
            if self.next_timer().is_some_and(|(at, _)| at <= self.api.now) {
                self.fire_next_timer();
                continue;
            }
            let lifecycle = self.lifecycle.as_ref();
            let node = lifecycle.is_some_and(NodeLifecycleController::has_queued_node_work);
            if node {
                self.run_lifecycle();
            }
            if self.taint_eviction.has_queued_work() {
                self.with_taint_eviction(|controller, now, cluster| {
                    controller.handle_timeout(now, cluster)
                });
            } else if !node {
                let lifecycle = self.lifecycle.as_ref();
                if lifecycle.is_some_and(NodeLifecycleController::has_queued_work) {
                    self.run_lifecycle();
                } else if !self.run_control() {
                    break;
                }
            }
        }
    }

    fn run_actions(&mut self) {
        while let Some(action) = self.taint_eviction.poll_action() {
            match action {
                Action::RecordEvent(event) => self.api.emit(EventKind::EventRecorded(event)),
                Action::Report(decision) => {
                    let pod = self.api.cluster.get_pod(&decision.pod).map(AsRef::as_ref);
                    self.eviction_records.record_decision(self.api.now, &decision, pod);
                    self.api.emit(EventKind::Decided(decision));
                }
                Action::ReportNode { node, taints } => {
                    let lifecycle = self.lifecycle.as_ref();
                    let trail = lifecycle.and_then(|lifecycle| lifecycle.trail(node.as_str()));
                    self.eviction_records.record_node(self.api.now, &node, &taints, trail);
                    let shard = shard_of(node.as_str());
                    self.api.emit(EventKind::NodeEvaluated {
                        node,
                        shard,
                        taints: taints.to_vec(),
                    });
                }
                Action::PatchPodStatus { id, pod, condition } => {
                    let result = self.patch_pod_status(&pod, condition);
                    self.with_taint_eviction(|controller, now, _| {
                        controller.handle_action_result(now, id, result);
                    });
                }
                Action::DeletePod { id, pod } => {
                    let result = self.controller_deletes_pod(&pod, false);
                    self.with_taint_eviction(|controller, now, _| {
                        controller.handle_action_result(now, id, result);
                    });
                }
            }
        }
    }

    fn controller_deletes_pod(&mut self, pod: &PodKey, by_lifecycle: bool) -> RequestResult {
        let uid = self.api.uid_of(pod);
        let result = self.delete_pod(pod);
        let verb = RequestVerb::Delete;
        // Said before the object's own event, as the cause of it.
        self.api.emit(EventKind::Request { pod: pod.clone(), uid, verb, result });
        if result == RequestResult::Ok {
            self.record_unasked_budgets(pod);
            self.record_delete(pod, by_lifecycle);
        }
        self.delete_accepted(pod, result);
        result
    }

    /// A controller has deleted a pod.
    fn record_delete(&mut self, pod: &PodKey, by_lifecycle: bool) {
        let Some(object) = self.api.cluster.get_pod(pod) else { return };
        let node: NodeName = object.spec.node_name.as_str().into();
        let grace = self.api.grace_period_of(object);
        let lifecycle = self.lifecycle.as_ref();
        let trail = lifecycle.and_then(|lifecycle| lifecycle.trail(node.as_str())).cloned();
        let by_lifecycle = by_lifecycle.then(|| (node, trail.unwrap_or_default()));
        self.eviction_records.record_delete(self.api.now, pod, grace, by_lifecycle);
    }

    /// A controller that knows nothing is told of all nodes, then of all pods.
    fn start_taint_eviction(&mut self) {
        self.taint_eviction =
            TaintEvictionController::new(self.api.config.release, &self.api.gates);
        for (_, node) in self.api.cluster.nodes() {
            self.taint_eviction.handle_node_update(self.api.now, None, Some(node));
        }
        for (key, pod) in self.api.cluster.pods() {
            self.taint_eviction.handle_pod_update(self.api.now, key, None, Some(pod));
        }
    }

    /// The taint-eviction controller starts anew, if it runs.
    fn restart_taint_eviction(&mut self) -> Result<(), CommandError> {
        if !self.evicts_by_taints {
            return Ok(());
        }
        let timers_lost = self.taint_eviction.scheduled_evictions().len();
        self.api.emit(EventKind::TaintEvictionControllerRestarted { timers_lost });
        self.start_taint_eviction();
        Ok(())
    }

    /// All events that have not been polled, for callers that want them at once.
    pub fn drain_events(&mut self) -> Vec<Event> {
        self.api.events.drain(..).collect()
    }
}
