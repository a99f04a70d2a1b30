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

mod commands;
mod control_plane;
mod device_views;
mod differences;
mod drain_views;
mod driver;
mod endpoint_slices;
mod eviction_requests;
mod forecast;
mod node_controllers;
mod node_view;
mod outcome;
mod pod_explanation;
mod ready_history;
mod states;
mod views;
mod volume_views;
mod when_evicted;
mod workload_views;

use alloc::boxed::Box;

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde_json::Value;
use taintlab_rules::api::{
    DeviceObject, Lease, Node, NodeName, Pod, PodDisruptionBudget, PodKey, PriorityClass, Workload,
};
use taintlab_rules::cluster::{Change, Cluster};
use taintlab_rules::order::OrderedMap;
use taintlab_rules::policy::validation::ValidationOptions;
use taintlab_rules::queue::timer_queue::{Sequence, TimerId};
use taintlab_rules::release::FeatureGates;
use taintlab_rules::slices::{Pace, at_once};
use taintlab_rules::time::{Time, Timestamp};

use self::control_plane::ControlPlane;
pub use self::device_views::{DeviceView, devices_of_node, pods_with_device};
pub use self::differences::Differences;
pub use self::drain_views::{drains, eviction_refusal};
use self::endpoint_slices::default_services;
pub use self::endpoint_slices::{endpoint_slices, services};
pub use self::forecast::token_every;
pub use self::forecast::{Forecast, last_time_budget};
use self::node_controllers::NodeControllers;
pub use self::node_view::NodeView;
pub use self::outcome::why_unschedulable;
pub use self::outcome::{OutcomeKind, OutcomePart, RunOutcome, StuckPods, UnschedulablePods};
pub use self::pod_explanation::{PodExplanation, device_eviction};
pub use self::ready_history::{Availability, Gap, Readiness, ReadyStep};
pub use self::states::PodStates;
pub use self::views::stopped_zone;
pub use self::volume_views::{
    AttachmentView, ClaimView, StorageClassView, StorageView, VolumeView,
};
pub use self::when_evicted::{
    Assumption, EvictionQuestion, NodeFault, PodSource, WhenEvicted, WhenEvictedError, when_evicted,
};
pub use self::workload_views::{JobView, PendingPod, WorkloadView};
use crate::api_server::ApiServer;
pub use crate::api_server::{
    ConfigError, DEFAULT_START_UP_TIME, HealthPassTime, InitialVolumes, SimulatorConfig,
};
pub use crate::kubelet::{EvictionView, PodSeries, SignalView, ThresholdLine, UsageSeries};
pub use taintlab_rules::api::BudgetStatus;

use crate::command::{Command, CommandError};
use crate::controllers::Machine;
use crate::controllers::drain::DrainController;
use crate::controllers::node_lifecycle::{NodeLifecycleConfig, NodeLifecycleController};
use crate::controllers::taint_eviction::TaintEvictionController;
use crate::event::{Event, Timeout, TimeoutReason};
use crate::kubelet::Kubelets;

/// So many pods are put in place between two pauses.
const PODS_PER_SLICE: u32 = 250;

/// In nanoseconds.
const A_DAY: u64 = 24 * 60 * 60 * 1_000_000_000;

/// A cluster in simulated time. See the [module](self) for how to drive it.
#[derive(Debug)]
pub struct Simulator {
    api: ApiServer,
    nodes: NodeControllers,
    kubelets: Kubelets,
    /// Scheduler, controllers of workloads and so on, if they take part.
    control: Option<Box<ControlPlane>>,
    drains: DrainController,
    /// Numbers the timers of all components.
    sequence: Sequence,
}

/// Written out, since a derived one is inlined: each crate that makes copies would have 12 KB of it.
impl Clone for Simulator {
    fn clone(&self) -> Self {
        Self {
            api: self.api.clone(),
            nodes: self.nodes.clone(),
            kubelets: self.kubelets.clone(),
            control: self.control.clone(),
            drains: self.drains.clone(),
            sequence: self.sequence,
        }
    }
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
pub struct SimulatorSnapshot(Simulator);

impl SimulatorSnapshot {
    /// The simulation as it was then, to look at.
    #[must_use]
    pub const fn simulator(&self) -> &Simulator {
        &self.0
    }
}

/// What can be there at the beginning beside nodes and pods.
#[derive(Clone, Debug, Default)]
pub struct InitialState {
    /// The leases of nodes: they tell when a kubelet sent its last heartbeat.
    pub leases: Vec<Lease>,
    /// Deployments and so on.
    pub workloads: Vec<Workload>,
    /// PodDisruptionBudgets.
    pub budgets: Vec<PodDisruptionBudget>,
    /// PriorityClasses, beside the two that every cluster has.
    pub priority_classes: Vec<PriorityClass>,
    /// Volumes, claims, classes and attachments; they take part with the control plane alone.
    pub volumes: InitialVolumes,
    /// Objects of `resource.k8s.io`; they take part with the control plane alone.
    pub devices: Vec<DeviceObject>,
    /// Whether the control plane has been running, so that timers of pods on tainted nodes run since
    /// the taints were added (`timeAdded`); otherwise it starts now, and so do they.
    pub has_run_before: bool,
    /// Services, from which [`endpoint_slices`] follow.
    pub services: Vec<Value>,
    /// When the clocks of kubelets tick by which they post their status, after the beginning; that
    /// of their leases unless given.
    pub status_ticks: OrderedMap<NodeName, Timestamp>,
    /// When the clocks of kubelets tick by which they renew their leases, after the beginning; for
    /// nodes that are there, [`leases`](Self::leases) say it. Of a node that is created later it is
    /// the moment of its creation unless given.
    pub lease_ticks: OrderedMap<NodeName, Timestamp>,
    /// Nodes that the scheduler takes where several are equally good, each once: by
    /// `namespace/name` of a pod, or of a workload for its pods. Upstream draws lots; with these a
    /// recorded run is played. A DaemonSet updates its nodes in this order, which upstream is that
    /// of a map.
    pub placements: OrderedMap<String, Vec<NodeName>>,
    /// When the scheduler gets to know pods that are created at about that time, each entry for one
    /// pod: by `namespace/name` of a pod, or of a workload for its pods. Upstream controllers create
    /// pods at the same time, and what a watch tells takes its time; with these a recorded run is
    /// played.
    pub arrivals: OrderedMap<String, Vec<Timestamp>>,
    /// Pods that a ReplicaSet deletes first where several are ranked equally, or where their UIDs
    /// decide, by node and time of creation, each once: by `namespace/name` of the Deployment or
    /// ReplicaSet. Upstream's order among them is that of a map, and UIDs are random; with these a
    /// recorded run is played.
    pub scale_downs: OrderedMap<String, Vec<(NodeName, Time)>>,
    /// Budgets that were chosen where a pod that changed has several, and when, each once. Upstream
    /// the choice is that of a map, and only the chosen budget is looked at; with these a recorded
    /// run is played. Without them all are looked at.
    pub budget_choices: Vec<(Timestamp, PodKey)>,
    /// The orders in which health passes look at nodes, each of some nodes among themselves; others
    /// come by name. Upstream the order is that of a map, which is random, and decides which of
    /// several nodes that are lost together is tainted first; with these a recorded run is played.
    pub pass_orders: Vec<Vec<NodeName>>,
    /// Number of pods that the scheduler tries in vain between the two writes that uncordon a node,
    /// in the order of the uncordonings; 1 by default. Upstream it depends on the machine's speed,
    /// so a replay of a recorded run sets it.
    pub tried_ahead: OrderedMap<NodeName, Vec<usize>>,
    /// Whether the pod garbage collector collects the pods of a deleted node in its fourth pass
    /// and not in its third. Upstream two timers race; the third pass wins on a machine that is not
    /// too slow. With this a recorded run is played.
    pub quarantine_ends_late: bool,
    /// When the pod garbage collector makes its first pass, at most 20 s after the beginning. Upstream
    /// it depends on when the controller manager started its controllers.
    pub first_collection: Timestamp,
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

/// The priority classes: those of the system, those that were given, and those that pods name which
/// were there before.
#[must_use]
pub fn priority_classes(simulator: &Simulator) -> &[PriorityClass] {
    &simulator.api.priority_classes
}

/// The UIDs of pods whose node was one of several that were equally good, and the one of
/// [`InitialState::placements`].
pub fn placed_by_lot(simulator: &Simulator) -> impl Iterator<Item = &str> {
    let control = simulator.control.as_ref();
    let pods = control.map(|control| control.scheduler.placed_by_lot().iter());
    pods.into_iter().flatten().map(String::as_str)
}

impl Simulator {
    /// A cluster of these nodes and pods at time zero, and controllers that have just started.
    ///
    /// They look at the objects with the first [`advance_to`](Self::advance_to), so that commands
    /// at time zero, such as scripted failures, come before. Objects are taken as they are; of two
    /// with the same name the last one counts.
    ///
    /// # Errors
    /// A feature gate, flag or setting that cannot be; see [`SimulatorConfig::check`].
    pub fn new(
        config: SimulatorConfig,
        nodes: impl IntoIterator<Item = Node>,
        pods: impl IntoIterator<Item = Pod>,
    ) -> Result<Self, ConfigError> {
        Self::beginning_with(config, nodes, pods, InitialState::default())
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
        let nodes = nodes.into_iter().map(Arc::new);
        at_once(Self::sharing(config, nodes, pods.into_iter().map(Arc::new), begin, &|_| {}))
    }

    /// The same in slices, with objects that others have too. Those that lack nothing are not
    /// copied. `watch` is told again and again how many pods are in place.
    pub async fn sharing(
        config: SimulatorConfig,
        nodes: impl Iterator<Item = Arc<Node>>,
        pods: impl Iterator<Item = Arc<Pod>>,
        begin: InitialState,
        watch: &dyn Fn(usize),
    ) -> Result<Self, ConfigError> {
        config.check()?;
        let gates = config.gates().map_err(ConfigError::FeatureGates)?;
        let flags = config.flags().map_err(ConfigError::Flag)?;
        let mut simulator = Self::empty(config, gates, flags);
        for mut node in nodes {
            if node.metadata.uid.is_empty() {
                simulator.api.default_uid(&mut Arc::make_mut(&mut node).metadata);
            } else {
                simulator.api.count_object();
            }
            simulator.api.cluster.put_node(node);
        }
        let controlled = simulator.api.config.control_plane && simulator.api.config.node_lifecycle;
        let mut pace = Pace::every(PODS_PER_SLICE);
        let Self { api, kubelets, .. } = &mut simulator;
        if api.config.node_lifecycle {
            let renewals = begin.leases.into_iter().filter_map(|lease| {
                Some((lease.metadata.name.as_str().into(), lease.spec.renew_time?))
            });
            kubelets.bootstrap(api.config.start, &mut api.cluster, &renewals.collect());
            kubelets.set_status_ticks(api.config.start, &begin.status_ticks);
            kubelets.expect_ticks(begin.lease_ticks, begin.status_ticks);
        }
        for mut pod in pods {
            if pod.metadata.namespace.is_empty() {
                Arc::make_mut(&mut pod).metadata.namespace = "default".into();
            }
            if pod.metadata.uid.is_empty() || pod.metadata.creation_timestamp.is_none() {
                api.default_metadata(&mut Arc::make_mut(&mut pod).metadata);
            } else {
                api.count_object();
            }
            if kubelets.lacks_status(&pod) {
                kubelets.complete_status(api.config.start, Arc::make_mut(&mut pod));
            }
            if pod.has_scheduling_gates() {
                api.gate_scheduling(Arc::make_mut(&mut pod));
            }
            api.cluster.put_pod(&pod.key(), pod);
            // With a control plane that is half of the work.
            watch(api.cluster.pod_count() / if controlled { 2 } else { 1 });
            pace.step().await;
        }
        if controlled {
            simulator.api.bootstrap_volumes(begin.volumes);
            simulator.api.bootstrap_devices(begin.devices)?;
        }
        simulator.api.bootstrap_priority_classes(begin.priority_classes);
        let mut services = begin.services;
        default_services(&mut services);
        simulator.api.services = Arc::new(services);
        simulator.start_control(begin.workloads, begin.budgets, watch).await?;
        if let Some(control) = &mut simulator.control {
            control.daemon_sets.prefer(begin.placements.clone());
            control.scheduler.prefer(begin.placements);
            control.scheduler.arrive(begin.arrivals);
            control.scheduler.try_ahead(begin.tried_ahead);
            control.replica_sets.prefer(begin.scale_downs);
            control.disruption.prefer(begin.budget_choices);
            control.pod_gc.end_quarantine_late(begin.quarantine_ends_late);
            control.pod_gc.collect_first_at(begin.first_collection);
        }
        let Self { api, nodes, kubelets, sequence, .. } = &mut simulator;
        kubelets.resume_terminations(&mut api.context(sequence));
        kubelets.resume_completions(&mut api.context(sequence));
        nodes.start_taint_eviction(api);
        nodes.pass_orders = begin.pass_orders;
        nodes.start_lifecycle(api, kubelets);
        if begin.has_run_before {
            nodes.resume(&mut api.context(sequence));
        }
        Ok(simulator)
    }

    /// Begins with these workloads and budgets, if the control plane takes part. Owners that pods
    /// name and nobody gave are assumed.
    async fn start_control(
        &mut self,
        workloads: Vec<Workload>,
        budgets: Vec<PodDisruptionBudget>,
        watch: &dyn Fn(usize),
    ) -> Result<(), ConfigError> {
        let (api, sequence) = (&mut self.api, &mut self.sequence);
        self.control = ControlPlane::start(api, sequence, workloads, budgets)?;
        if self.control.is_none() {
            return Ok(());
        }
        for (owner, pods) in self.api.missing_owners() {
            let write = self.api.infer_owner(&owner, &pods);
            self.commit(write);
        }
        let Self { api, kubelets, control: Some(control), sequence, .. } = self else {
            return Ok(());
        };
        let mut pace = Pace::every(PODS_PER_SLICE);
        let pods = api.cluster.pod_count();
        for (told, (key, pod)) in api.cluster.pods().enumerate() {
            let change = Change::Pod { key: key.clone(), old: None, new: Some(pod.clone()) };
            control.handle_change(&mut api.context(sequence), &change);
            kubelets.handle_change(&mut api.context(sequence), &change);
            watch(pods.midpoint(told));
            pace.step().await;
        }
        control.bootstrap_volumes(api, sequence);
        control.bootstrap_devices(api, sequence);
        control.bootstrap_revisions(&api.cluster);
        for set in control.initial_statuses(&api.context(sequence)) {
            api.cluster.put_workload(set);
        }
        self.sync_budgets();
        Ok(())
    }

    fn empty(config: SimulatorConfig, gates: FeatureGates, flags: NodeLifecycleConfig) -> Self {
        Self {
            nodes: NodeControllers::new(&config, &gates, flags),
            kubelets: Kubelets::new(config.kubelets_config(&gates)),
            control: None,
            drains: DrainController::new(config.release),
            api: ApiServer::new(config, gates),
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
    /// was. [A request that was made to fail](CommandError::RequestFailed) counts as one.
    pub fn handle_command(&mut self, now: Timestamp, command: Command) -> Result<(), CommandError> {
        if now < self.api.now {
            return Err(CommandError::TimeWentBack { at: now, now: self.api.now });
        }
        if now > self.api.now {
            self.run_until(now);
        }
        self.apply(command)
    }

    /// The last moment that a simulation reaches, a day before [`Timestamp::MAX`]. Times saturate
    /// there, so that whatever comes again and again would come without end.
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
        let NodeControllers { lifecycle, taint_eviction, .. } = &self.nodes;
        let lifecycle = lifecycle.as_ref();
        if taint_eviction.has_queued_work()
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

    /// What the next timer is for.
    fn timer_reason(&self, timer: TimerId) -> Option<Timeout> {
        let control = self.control.as_ref();
        let reason = if let Some(reason) = control.and_then(|control| control.timer_reason(timer)) {
            reason
        } else if self.drains.next_timer() == Some(timer) {
            self.drains.timer_reason()?
        } else if self.kubelets.next_timer() == Some(timer) {
            self.kubelets.timer_reason()?
        } else if self.nodes.requests.next_timer() == Some(timer) {
            TimeoutReason::EvictionDue { pod: self.nodes.requests.next_pod()?.clone() }
        } else {
            return self.nodes.taint_eviction.poll_timeout();
        };
        Some(Timeout { at: timer.0, reason })
    }

    /// What happened next; `None` when all has been told.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.api.events.pop_front()
    }

    /// The state now, to come back to.
    #[must_use]
    pub fn snapshot(&self) -> SimulatorSnapshot {
        SimulatorSnapshot(self.clone())
    }

    /// Goes back (or forth) to a snapshot. Events that had not been polled then are there again.
    pub fn restore(&mut self, snapshot: &SimulatorSnapshot) {
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
        self.api.wall_clock(at)
    }

    /// Which Kubernetes this is.
    #[must_use]
    pub fn config(&self) -> &SimulatorConfig {
        &self.api.config
    }

    /// How the API server of this simulation validates objects.
    #[must_use]
    pub fn validation_options(&self) -> ValidationOptions {
        self.api.validation_options()
    }

    /// The nodes and pods.
    #[must_use]
    pub fn cluster(&self) -> &Cluster {
        &self.api.cluster
    }

    /// The flags of kube-controller-manager.
    #[must_use]
    pub fn flags(&self) -> &NodeLifecycleConfig {
        &self.nodes.flags
    }

    /// The node lifecycle controller, to look at; `None` if there is none.
    #[must_use]
    pub fn node_lifecycle(&self) -> Option<&NodeLifecycleController> {
        self.nodes.lifecycle.as_ref()
    }

    /// The taint-eviction controller, to look at its timers.
    #[must_use]
    pub fn taint_eviction(&self) -> &TaintEvictionController {
        &self.nodes.taint_eviction
    }

    /// Does all that is due until `now`. At one moment timers come first, then passes of the node
    /// lifecycle controller; each is followed by a drain.
    fn run_until(&mut self, now: Timestamp) {
        let now = now.min(Self::LAST_MOMENT);
        self.reconcile_until_idle();
        loop {
            let timer = self.next_timer().map(|(at, _)| at);
            let lifecycle = self.nodes.lifecycle.as_ref();
            let pass = lifecycle.and_then(NodeLifecycleController::next_timer);
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
        if let Some(lifecycle) = &mut self.nodes.lifecycle {
            lifecycle.end_instant(now);
        }
    }

    /// The next timer of any component: its time, and its number in the order of creation.
    fn next_timer(&self) -> Option<TimerId> {
        let control = self.control.as_ref().and_then(|control| control.next_timer());
        let (kubelets, drains) = (self.kubelets.next_timer(), self.drains.next_timer());
        let evictions = [self.nodes.taint_eviction.next_timer(), self.nodes.requests.next_timer()];
        let timers = evictions.into_iter().chain([kubelets, drains, control]);
        timers.flatten().min()
    }

    fn fire_next_timer(&mut self) {
        let Some(timer) = self.next_timer() else { return };
        let mut context = self.api.context(&mut self.sequence);
        if let Some(control) = &mut self.control
            && control.fire(&mut context, timer)
        {
            self.run_control_actions();
        } else if self.drains.next_timer() == Some(timer) {
            self.with_drains(|drains, context| drains.handle_timeout(context));
        } else if self.kubelets.next_timer() == Some(timer) {
            self.with_kubelets(|kubelets, context| kubelets.handle_timeout(context));
        } else if self.nodes.requests.next_timer() == Some(timer) {
            self.run_taint_eviction_actions();
        } else {
            self.nodes.run_taint_eviction(&mut context);
        }
    }

    /// Lets the controllers work until nothing is left at this instant: timers that are due, then
    /// one node and one pod that have changed, and so on.
    fn reconcile_until_idle(&mut self) {
        loop {
            self.run_taint_eviction_actions();
            // What kubelets do is seen a while later: controllers work before it is.
            let is_late = !self.api.config.kubelets.latency.0.is_zero()
                && self.kubelets.next_timer() == self.next_timer()
                && self.control.as_ref().is_some_and(|control| control.has_work());
            if self.next_timer().is_some_and(|(at, _)| at <= self.api.now) && !is_late {
                self.fire_next_timer();
                continue;
            }
            let lifecycle = self.nodes.lifecycle.as_ref();
            let node = lifecycle.is_some_and(NodeLifecycleController::has_queued_node_work);
            if node {
                if let Some(control) = &mut self.control
                    && control.scheduler.take_ahead()
                {
                    control.scheduler.handle_timeout(&mut self.api.context(&mut self.sequence));
                    self.run_control_actions();
                    continue;
                }
                self.run_lifecycle();
            }
            if self.nodes.taint_eviction.has_queued_work() {
                self.nodes.run_taint_eviction(&mut self.api.context(&mut self.sequence));
            } else if !node {
                let lifecycle = self.nodes.lifecycle.as_ref();
                if lifecycle.is_some_and(NodeLifecycleController::has_queued_work) {
                    self.run_lifecycle();
                } else if !self.run_control() {
                    break;
                }
            }
        }
    }

    /// All events that have not been polled, for callers that want them at once.
    pub fn drain_events(&mut self) -> Vec<Event> {
        self.api.events.drain(..).collect()
    }
}
