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
mod budgets;
mod commands;
mod config;
mod control;
mod drains;
mod eviction_views;
mod evictions;
mod faults;
mod kubelets;
mod lifecycle;
mod question;
mod usage_commands;
mod views;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use serde::Serialize;

use self::budgets::Budgets;
pub use self::budgets::Forecast;
pub use self::config::{ConfigError, DEFAULT_START_UP_TIME, SimulatorConfig};
use self::control::Control;
pub use self::control::{
    Availability, BudgetStatus, Gap, PendingPod, PodStatusView, ReadyStep, WorkloadView, pod_status,
};
use self::drains::Drains;
pub use self::eviction_views::{EvictionView, PodSeries, SignalView, ThresholdLine, UsageSeries};
use self::kubelets::{Kubelets, Wake};
pub use self::question::{Trouble, WhenEvicted, when_evicted};
pub use self::views::NodeView;

use crate::api::{Lease, Node, NodeName, Pod, PodDisruptionBudget, PodKey, Workload};
use crate::cluster::Cluster;
use crate::command::{ApiErrorKind, Command, CommandError, NodeWrite, PodWrite};
use crate::event::{Event, Happening, RequestResult, RequestVerb, Timeout, TimeoutReason};
use crate::matching::{Explanation, explain};
use crate::node_lifecycle::{NodeLifecycleConfig, NodeLifecycleController};
use crate::release::{FeatureGate, FeatureGates};
use crate::taint_eviction::{Action, ScheduledEviction, TaintEvictionController, shard_of};
use crate::time::{Time, Timestamp};
use crate::validation::ValidationOptions;

/// A cluster in simulated time. See the [module](self) for how to drive it.
#[derive(Clone, Debug)]
pub struct Simulator {
    config: SimulatorConfig,
    gates: FeatureGates,
    flags: NodeLifecycleConfig,
    cluster: Cluster,
    taint_eviction: TaintEvictionController,
    /// Whether it runs: with kubelets, a flag can switch it off.
    evicts_by_taints: bool,
    lifecycle: Option<NodeLifecycleController>,
    kubelets: Kubelets,
    /// Scheduler, controllers of workloads and so on, if they take part.
    control: Option<Box<Control>>,
    drains: Drains,
    budgets: Budgets,
    /// Ends of grace periods, in the order of time and creation.
    terminating: BTreeMap<(Timestamp, u64), Terminating>,
    faults: BTreeMap<(PodKey, PodWrite), Fault>,
    node_faults: BTreeMap<(NodeName, NodeWrite), Fault>,
    events: VecDeque<Event>,
    objects_created: u64,
    now: Timestamp,
}

#[derive(Clone, Debug)]
struct Terminating {
    pod: PodKey,
    uid: String,
    grace: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Fault {
    times: u32,
    error: ApiErrorKind,
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
pub struct Beginning {
    /// The leases of nodes: they tell when a kubelet that beats did so last.
    pub leases: Vec<Lease>,
    /// Deployments and so on.
    pub workloads: Vec<Workload>,
    /// PodDisruptionBudgets.
    pub budgets: Vec<PodDisruptionBudget>,
}

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
        let begin = Beginning { leases: leases.into_iter().collect(), ..Beginning::default() };
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
        begin: Beginning,
    ) -> Result<Self, ConfigError> {
        config.check()?;
        let gates = config.gates().map_err(ConfigError::FeatureGates)?;
        let flags = config.flags().map_err(ConfigError::Flag)?;
        let mut simulator = Self::empty(config, gates, flags);
        for mut node in nodes {
            simulator.fill_in(&mut node.metadata);
            simulator.cluster.put_node(Arc::new(node));
        }
        for mut pod in pods {
            if pod.metadata.namespace.is_empty() {
                pod.metadata.namespace = "default".into();
            }
            simulator.fill_in(&mut pod.metadata);
            simulator.cluster.put_pod(&pod.key(), Arc::new(pod));
        }
        if simulator.config.node_lifecycle {
            let renewals = begin.leases.into_iter().filter_map(|lease| {
                Some((lease.metadata.name.as_str().into(), lease.spec.renew_time?))
            });
            simulator.adopt_nodes(&renewals.collect());
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
            drains: Drains::default(),
            budgets: Budgets::default(),
            node_faults: BTreeMap::new(),
            config,
            gates,
            flags,
            cluster: Cluster::default(),
            terminating: BTreeMap::new(),
            faults: BTreeMap::new(),
            events: VecDeque::new(),
            objects_created: 0,
            now: Timestamp::ZERO,
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
        if now < self.now {
            return Err(CommandError::TimeWentBack { at: now, now: self.now });
        }
        if now > self.now {
            self.run_until(now);
        }
        self.apply(command)
    }

    /// The clock has reached `now`: all that is due happens.
    ///
    /// # Errors
    /// `now` is in the past.
    pub fn handle_timeout(&mut self, now: Timestamp) -> Result<(), TimeWentBack> {
        self.advance_to(now)
    }

    /// Lets time pass until `now`. An interval without deadlines costs nothing.
    ///
    /// # Errors
    /// `now` is in the past.
    pub fn advance_to(&mut self, now: Timestamp) -> Result<(), TimeWentBack> {
        if now < self.now {
            return Err(TimeWentBack { at: now, now: self.now });
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
            || self.control_has_work()
            || lifecycle.is_some_and(NodeLifecycleController::has_queued_work)
        {
            return Some(Timeout { at: self.now, reason: TimeoutReason::WorkQueued });
        }
        let lifecycle = lifecycle.and_then(NodeLifecycleController::poll_timeout);
        let Some((at, timer)) = self.next_timer() else { return lifecycle };
        match lifecycle {
            Some(lifecycle) if lifecycle.at < at => Some(lifecycle),
            _ => self.timer_reason((at, timer)),
        }
    }

    /// Which timer that is.
    fn timer_reason(&self, timer: (Timestamp, u64)) -> Option<Timeout> {
        let (at, _) = timer;
        let reason = if let Some(reason) = self.control_timer_reason(timer) {
            reason
        } else if let Some(reason) = self.drain_reason(timer) {
            reason
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
        self.events.pop_front()
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
        self.now
    }

    /// The wall-clock time of a moment of the simulation.
    #[must_use]
    pub fn wall_clock(&self, at: Timestamp) -> Time {
        self.config.start.saturating_add(at.since_zero())
    }

    /// Which Kubernetes this is.
    #[must_use]
    pub fn config(&self) -> &SimulatorConfig {
        &self.config
    }

    /// How the API server of this simulation validates objects.
    #[must_use]
    pub fn validation_options(&self) -> ValidationOptions {
        ValidationOptions::new(self.config.release, &self.gates)
    }

    /// The nodes and pods.
    #[must_use]
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
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
        let object = self.cluster.get_pod(pod)?;
        let node = self.cluster.get_node(&object.spec.node_name);
        let taints = node.map_or(&[][..], |node| &node.spec.taints);
        let gate = self.gates.is_enabled(FeatureGate::TaintTolerationComparisonOperators);
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
        self.drain();
        loop {
            let timer = self.next_timer().map(|(at, _)| at);
            let pass = self.lifecycle.as_ref().and_then(NodeLifecycleController::next_timer);
            let Some(at) = timer.into_iter().chain(pass).min().filter(|at| *at <= now) else {
                break;
            };
            self.now = self.now.max(at);
            if timer == Some(at) {
                self.fire_next_timer();
            } else {
                self.run_lifecycle();
            }
            self.drain();
        }
        self.now = now;
        if let Some(lifecycle) = &mut self.lifecycle {
            lifecycle.pass_over(now);
        }
    }

    /// The next timer of any component: its time, and its number in the order of creation.
    fn next_timer(&self) -> Option<(Timestamp, u64)> {
        let end_of_grace = self.terminating.first_key_value().map(|(timer, _)| *timer);
        let kubelet = self.kubelets.timers.first_key_value().map(|(timer, _)| *timer);
        let timers = self.taint_eviction.next_timer().into_iter();
        let drain = self.drains.timers.first_key_value().map(|(timer, _)| *timer);
        let timers = timers.chain(end_of_grace).chain(kubelet).chain(drain);
        timers.chain(self.next_control_timer()).min()
    }

    /// The number of a timer that is created now.
    fn next_sequence(&mut self) -> u64 {
        let sequence = self.taint_eviction.sequence();
        self.taint_eviction.align_sequence(sequence + 1);
        sequence
    }

    fn fire_next_timer(&mut self) {
        let Some(timer) = self.next_timer() else { return };
        if self.fire_control_timer(timer) {
            // Done.
        } else if self.drains.timers.contains_key(&timer) {
            self.fire_drain_timer();
        } else if let Some(terminating) = self.terminating.remove(&timer) {
            self.grace_period_over(&terminating);
        } else if self.kubelets.timers.contains_key(&timer) {
            self.fire_kubelet_timer();
        } else {
            self.taint_eviction.handle_timeout(self.now, &self.cluster);
        }
    }

    /// Lets the controllers work until nothing is left at this instant: timers that are due, then
    /// one node and one pod that have changed, and so on.
    fn drain(&mut self) {
        loop {
            self.run_actions();
            if self.next_timer().is_some_and(|(at, _)| at <= self.now) {
                self.fire_next_timer();
                continue;
            }
            let lifecycle = self.lifecycle.as_ref();
            let node = lifecycle.is_some_and(NodeLifecycleController::has_queued_node_work);
            if node {
                self.run_lifecycle();
            }
            if self.taint_eviction.has_queued_work() {
                self.taint_eviction.handle_timeout(self.now, &self.cluster);
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
                Action::RecordEvent(event) => self.emit(Happening::EventRecorded(event)),
                Action::Report(decision) => {
                    self.note_decision(&decision);
                    self.emit(Happening::Decided(decision));
                }
                Action::ReportNode { node, taints } => {
                    self.note_node(&node, &taints);
                    let shard = shard_of(node.as_str());
                    self.emit(Happening::NodeEvaluated { node, shard, taints: taints.to_vec() });
                }
                Action::PatchPodStatus { id, pod, condition } => {
                    let result = self.patch_pod_status(&pod, condition);
                    self.taint_eviction.handle_action_result(self.now, id, result);
                }
                Action::DeletePod { id, pod } => {
                    let result = self.controller_deletes_pod(&pod, false);
                    self.taint_eviction.handle_action_result(self.now, id, result);
                }
            }
        }
    }

    fn controller_deletes_pod(&mut self, pod: &PodKey, by_lifecycle: bool) -> RequestResult {
        let uid = self.uid_of(pod);
        let result = self.delete_pod(pod);
        let verb = RequestVerb::Delete;
        // Said before the object's own event, as the cause of it.
        self.emit(Happening::Request { pod: pod.clone(), uid, verb, result });
        if result == RequestResult::Ok {
            self.note_unasked(pod);
        }
        self.note_delete(pod, result, by_lifecycle);
        self.tell_deleted(pod, result);
        result
    }

    /// A controller that knows nothing is told of all nodes, then of all pods.
    fn start_taint_eviction(&mut self) {
        let sequence = self.taint_eviction.sequence();
        self.taint_eviction = TaintEvictionController::new(self.config.release, &self.gates);
        self.taint_eviction.align_sequence(sequence);
        for (_, node) in self.cluster.nodes() {
            self.taint_eviction.handle_node_update(self.now, None, Some(node));
        }
        for (key, pod) in self.cluster.pods() {
            self.taint_eviction.handle_pod_update(self.now, key, None, Some(pod));
        }
    }

    fn restart_taint_eviction(&mut self) {
        let timers_lost = self.taint_eviction.scheduled_evictions().len();
        self.emit(Happening::TaintEvictionControllerRestarted { timers_lost });
        self.start_taint_eviction();
    }

    fn emit(&mut self, what: Happening) {
        self.events.push_back(Event { at: self.now, what });
    }

    fn uid_of(&self, pod: &PodKey) -> String {
        self.cluster.get_pod(pod).map_or_else(String::new, |pod| pod.metadata.uid.clone())
    }

    /// All events that have not been polled, for callers that want them at once.
    pub fn drain_events(&mut self) -> Vec<Event> {
        self.events.drain(..).collect()
    }
}
