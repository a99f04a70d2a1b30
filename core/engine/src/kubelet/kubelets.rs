//! The kubelets of a cluster as one machine: changes, commands and time go in, actions come out.
//!
//! What a kubelet does, such as to come back from an outage, is a row of [`Step`]s, of which some
//! give a [`KubeletAction`] whose effects the next ones must see: a kubelet compares its pods with
//! those of the API server after it has patched their status. So the steps wait on a stack, an
//! action is carried out before [`poll_action`](Controller::poll_action) goes on with the step
//! after it, and the steps that follow from its effects come before those that were waiting.

mod completions;
mod deletions;
mod eviction_managers;
mod posts;
mod shutdowns;
mod starts;
mod switches;
mod usage_commands;
mod views;
mod volumes;

use alloc::boxed::Box;

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use serde::Serialize;
use taintlab_rules::api::node_condition_type::READY;
use taintlab_rules::api::{ConditionStatus, Node, NodeName, Pod, PodKey};
use taintlab_rules::cluster::{Change, Cluster, VolumeChange};
use taintlab_rules::order::{Order, OrderedMap, OrderedSet};
use taintlab_rules::protocol::zone::{ZoneKey, find_zone};
use taintlab_rules::protocol::{
    HeartbeatSchedule, RecordedEvent, RequestId, TimeoutReason, UnreachableCause,
};
use taintlab_rules::queue::timer_queue::{TimerId, TimerQueue};
use taintlab_rules::release::KubernetesRelease;
use taintlab_rules::time::{Time, Timestamp};

use self::completions::{Completion, Unposted};
pub(crate) use self::deletions::Termination;
use self::deletions::Unconfirmed;
use self::eviction_managers::{Effect, ManagedNode};
use self::shutdowns::{Ending, Power};
use self::starts::Start;
use self::switches::Flap;
pub(crate) use self::usage_commands::usage_by_status;
pub use self::views::{EvictionView, PodSeries, SignalView, ThresholdLine, UsageSeries};
use super::heartbeat::{self, Clocks, KubeletSettings, Reported};
use super::{
    EvictionConfig, EvictionManagerReport, NodeShutdownConfig, NodeShutdownReport, Pressure,
    UsageRule,
};
use crate::controllers::{Context, Controller, Machine, WorkTicket};

/// What all kubelets go by.
#[derive(Clone, Debug)]
pub(crate) struct KubeletsConfig {
    pub(crate) release: KubernetesRelease,
    pub(crate) settings: KubeletSettings,
    /// What an eviction manager goes by, unless a command set it in another way.
    pub(crate) eviction: Arc<EvictionConfig>,
    /// What they go by when their node is shut down, unless a command set it in another way.
    pub(crate) shutdown: Arc<NodeShutdownConfig>,
    pub(crate) pod_disruption_conditions: bool,
    /// Whether pods that are bound to a node are started; else they are as they are given.
    pub(crate) starts_pods: bool,
    /// The gate `TaintTolerationComparisonOperators`.
    pub(crate) comparison_operators: bool,
    /// How long a pod takes to start, unless it or its workload says otherwise.
    pub(crate) start_up_time: Duration,
}

/// What one kubelet goes by, as its configuration says.
#[derive(Clone, Debug)]
pub(crate) struct KubeletSetup {
    pub(crate) eviction: EvictionConfig,
    pub(crate) shutdown: Arc<NodeShutdownConfig>,
}

/// All kubelets, and what is to happen to them.
#[derive(Clone, Debug)]
pub(crate) struct Kubelets {
    config: KubeletsConfig,
    by_node: OrderedMap<NodeName, Kubelet>,
    /// The zones that are cut off the API server.
    cut_zones: OrderedSet<ZoneKey>,
    /// When the clocks of kubelets to come tick, for their leases and their status.
    ticks: [OrderedMap<NodeName, Timestamp>; 2],
    timers: TimerQueue<(NodeName, Wake)>,
    /// When the containers of pods have started, or pods are not admitted.
    starts: TimerQueue<Start>,
    /// When the containers of pods end by themselves.
    completions: TimerQueue<Completion>,
    /// Ends of grace periods.
    terminating: TimerQueue<Termination>,
    healthy: heartbeat::KubeletConditions,
    /// What pods use; the last rule that matches counts.
    usage: Arc<Vec<UsageRule>>,
    /// What is to be done at once, the next last.
    steps: Vec<(NodeName, Step)>,
}

/// What a kubelet is woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wake {
    Post,
    UnmarkPods,
    Start,
    Stop,
    EvictionManager,
    Shutdown,
}

/// What a kubelet does in one go.
#[derive(Clone, Debug)]
enum Step {
    /// Something that was decided.
    Act(KubeletAction),
    /// Compares whether it can be connected with whether it is.
    Connect,
    Disconnect,
    StopHeartbeats,
    /// Tells the node lifecycle controller of its heartbeats.
    Heartbeats,
    /// Posts its status; `renew` renews the lease as well.
    Post {
        renew: bool,
    },
    /// The same when it has just started.
    PostFirst,
    /// Sends heartbeats again when its clocks tick.
    Resume,
    /// Plans a post if somebody else wrote the node's conditions.
    UpdateStatus,
    /// Says that the pods are ready which a controller has marked as not ready.
    UnmarkPods,
    UnmarkPod(PodKey),
    /// Starts or stops.
    Switch {
        runs: bool,
    },
    PlanSwitch(Duration, Wake),
    ForgetSwitch,
    /// Records that it starts.
    Announce,
    StartEvictionManager,
    SuspendTerminations,
    ConfirmDeletions,
    ConfirmDeletion(Unconfirmed),
    PostCompletions,
    StartPods,
    /// Says which volumes are mounted.
    ReportVolumes,
    /// Sends what its eviction manager did while it was unreachable.
    SendUnsent,
    SyncPods,
    /// What the eviction manager wants done; `waits` keeps it until the kubelet is connected.
    CarryOut {
        effect: Effect,
        waits: bool,
    },
    SetPressures(Vec<Pressure>),
    PlanEvictionManager,
    /// Looks which pods of a node that is shut down have ended, and what comes next.
    GoOnShuttingDown,
    MarkEnding(PodKey),
    EndPod(Ending),
    PostEnded(Ending),
    PostAllEnded,
    PowerOff,
    RestartPods,
    RestartPod(PodKey),
    /// Admits pods anew that it has not started itself.
    ReadmitPods,
}

/// What kubelets want done.
#[derive(Clone, Debug)]
pub(crate) enum KubeletAction {
    /// Record an event.
    RecordEvent(RecordedEvent),
    /// The kubelet of a node is unreachable.
    ReportLost { node: NodeName, cause: UnreachableCause },
    /// The kubelet of a node is connected again.
    ReportResumed { node: NodeName },
    /// An eviction manager has something to say.
    ReportEviction { node: NodeName, report: EvictionManagerReport },
    /// The kubelet of a node that is shut down has something to say.
    ReportShutdown { node: NodeName, report: NodeShutdownReport },
    /// Write the status of a node.
    PostStatus(Box<Node>),
    /// Write the status of a pod.
    PatchPodStatus(PodKey, Box<Pod>),
    /// Remove a pod whose containers have ended.
    ConfirmDeletion(PodKey),
    /// Say whether a volume is mounted (`status.volumesInUse`).
    ReportVolumeInUse { node: NodeName, volume: String, mounted: bool },
    /// Put the heartbeats of a post into the node's object, which is news for nobody but the node
    /// lifecycle controller.
    RecordHeartbeats(Arc<Node>),
    /// Tell the node lifecycle controller which heartbeats are to come.
    Heartbeats { node: NodeName, heartbeats: Heartbeats },
}

/// What can be known of the heartbeats of a node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Heartbeats {
    /// There is no such node, or no kubelet.
    Gone,
    /// They come until something else is told.
    Periodic(HeartbeatSchedule),
    /// None are to come; the lease was renewed last then, if ever.
    Ended(Option<Time>),
}

/// Why a command about kubelets was not carried out.
#[derive(Clone, Debug)]
pub(crate) enum KubeletError {
    NodeNotFound(NodeName),
    PodNotFound(PodKey),
    ZoneNotFound { zone: String, zones: Vec<String>, ambiguous: bool },
    InvalidUsage(String),
}

/// Whether a machine is on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub enum NodePower {
    /// It is on.
    #[default]
    On,
    /// It is being shut down, and its kubelet ends the pods first.
    ShuttingDown,
    /// It is off.
    Off,
}

/// The kubelet of one node.
#[derive(Clone, Debug)]
pub(crate) struct Kubelet {
    pub(crate) runs: bool,
    /// Its node is cut off by itself.
    pub(crate) cut: bool,
    /// Whether it sends and receives: it runs, and neither node nor zone is cut off.
    pub(crate) connected: bool,
    /// When it last ceased to be connected, if it did.
    pub(crate) disconnected_at: Option<Timestamp>,
    /// Whether nobody said when it sends its heartbeats: their phase is that of the settings.
    phase_is_assumed: bool,
    /// When its clock began to tick.
    origin: Timestamp,
    /// The same for the clock of its status.
    status_origin: Timestamp,
    /// By how many milliseconds its first report after a change comes later than others, or
    /// earlier; 0 once it has come.
    report_delay: i64,
    /// When it last confirmed a deletion.
    confirmed: Timestamp,
    /// Its heartbeats; those to come count only while it is connected.
    pub(crate) heartbeats: HeartbeatSchedule,
    report: heartbeat::KubeletConditions,
    /// When it posts a status that is not what the object says.
    post: Option<TimerId>,
    /// Timer for its next post of the statuses of pods that a controller has written meanwhile.
    unmark: Option<TimerId>,
    /// When it starts or stops by itself.
    switch: Option<TimerId>,
    flap: Option<Flap>,
    /// Pods whose Ready condition a controller has set False; the kubelet knows better.
    marked: OrderedSet<PodKey>,
    /// Deletions that it has not confirmed.
    unconfirmed: Vec<Unconfirmed>,
    /// Pods whose containers end by themselves, or have, while it is unreachable.
    completions: Vec<Unposted>,
    power: Power,
    /// Whether its machine has started since it was connected last.
    has_booted: bool,
    /// Pods that have ended since the node is shut down, and whose status is not posted yet.
    unposted: Vec<Ending>,
    /// The node's resources, if they are known, and who watches over them.
    eviction: Option<Arc<ManagedNode>>,
    /// What its eviction manager goes by, if it is set in another way than all.
    setup: Option<Arc<KubeletSetup>>,
}

impl Kubelet {
    fn new(
        report: heartbeat::KubeletConditions,
        runs: bool,
        origin: Timestamp,
        heartbeats: HeartbeatSchedule,
    ) -> Self {
        Self {
            runs,
            cut: false,
            connected: false,
            disconnected_at: None,
            phase_is_assumed: false,
            origin,
            status_origin: origin,
            report_delay: 0,
            confirmed: Timestamp::ZERO,
            heartbeats,
            report,
            post: None,
            unmark: None,
            switch: None,
            flap: None,
            marked: OrderedSet::new(),
            unconfirmed: Vec::new(),
            completions: Vec::new(),
            power: Power::On,
            has_booted: false,
            unposted: Vec::new(),
            eviction: None,
            setup: None,
        }
    }

    fn clocks(&self, config: &KubeletsConfig, name: &NodeName) -> Clocks {
        let origins = (self.origin, self.status_origin);
        let clocks = Clocks::new(&config.settings, config.release, name.as_str(), origins);
        clocks.with_delay(self.report_delay)
    }

    /// When it became unreachable, and how long before that its last heartbeat may have been sent
    /// at least and at most, for all that can be known without looking at its clocks; here that was
    /// at `sent_before` that moment. `None` if there is no doubt: its phase is known, and its clocks
    /// are exact.
    pub(crate) fn age_in_doubt(
        &self,
        sent_before: impl FnOnce(Timestamp) -> Duration,
    ) -> Option<(Timestamp, (Duration, Duration))> {
        let at = self.disconnected_at?;
        let HeartbeatSchedule { lease, status } = &self.heartbeats;
        let gap = lease.longest_period();
        let any = (Duration::ZERO, gap.min(status.longest_period()));
        if self.phase_is_assumed {
            return Some((at, any));
        }
        lease.jitter?;
        // How often a clock that began at a known moment has ticked if all gaps were as long, and
        // if all were as short as they can be.
        let passed = at.since_zero().saturating_sub(self.origin.since_zero());
        let ticks = |gap: Duration| {
            u32::try_from(passed.as_nanos() / gap.as_nanos().max(1)).unwrap_or(u32::MAX)
        };
        let (fewest, most) = (ticks(gap), ticks(lease.period));
        let latest = if fewest == most { gap.saturating_mul(fewest) } else { passed };
        let earliest = lease.period.saturating_mul(fewest);
        let ages = (passed.saturating_sub(latest), gap.min(passed.saturating_sub(earliest)));
        // A post of the status may have come later than the last renewal.
        let posts_often = status.longest_period() <= gap;
        let holds = !posts_often && (ages.0..=ages.1).contains(&sent_before(at));
        Some((at, if holds { ages } else { any }))
    }

    /// When it posts its status next, if nothing changes.
    pub(crate) fn posts_at(&self, now: Timestamp) -> Timestamp {
        let regular = self.heartbeats.status.next_after(now);
        self.post.map_or(regular, |(at, _)| at.min(regular))
    }

    /// When it starts or stops by itself.
    pub(crate) fn switches_at(&self) -> Option<Timestamp> {
        self.switch.map(|(at, _)| at)
    }

    /// Whether its machine is on.
    pub(crate) const fn power(&self) -> NodePower {
        match self.power {
            Power::On => NodePower::On,
            Power::ShuttingDown(_) => NodePower::ShuttingDown,
            Power::Off => NodePower::Off,
        }
    }

    /// How many deletions it has not confirmed.
    pub(crate) fn unconfirmed_count(&self) -> usize {
        self.unconfirmed.len()
    }
}

/// Whether the conditions of a node say that its kubelet is unreachable.
fn is_unreachable(node: &Node) -> bool {
    node.condition(READY).is_some_and(|ready| ready.status == ConditionStatus::Unknown)
}

impl Kubelets {
    pub(crate) fn new(config: KubeletsConfig) -> Self {
        Self {
            config,
            by_node: OrderedMap::new(),
            cut_zones: OrderedSet::new(),
            ticks: [OrderedMap::new(), OrderedMap::new()],
            timers: TimerQueue::default(),
            starts: TimerQueue::default(),
            completions: TimerQueue::default(),
            terminating: TimerQueue::default(),
            healthy: heartbeat::KubeletConditions::healthy(),
            usage: Arc::default(),
            steps: Vec::new(),
        }
    }

    /// The kubelet of a node, which may outlive its node.
    pub(crate) fn get(&self, node: &str) -> Option<&Kubelet> {
        self.by_node.get(node)
    }

    fn get_mut(&mut self, node: &NodeName) -> Result<&mut Kubelet, KubeletError> {
        let kubelet = self.by_node.get_mut(node.as_str());
        kubelet.ok_or_else(|| KubeletError::NodeNotFound(node.clone()))
    }

    /// Whether a zone is cut off the API server.
    pub(crate) fn is_zone_cut(&self, zone: &ZoneKey) -> bool {
        self.cut_zones.contains(zone)
    }

    /// These steps are next, in this order.
    fn then(
        &mut self,
        node: &NodeName,
        steps: impl IntoIterator<Item = Step, IntoIter: DoubleEndedIterator>,
    ) {
        self.steps.extend(steps.into_iter().rev().map(|step| (node.clone(), step)));
    }

    /// The kubelets of nodes that are there at the beginning: as the conditions of each say. One
    /// that says nothing is taken for healthy. Nobody watches the cluster yet.
    pub(crate) fn bootstrap(
        &mut self,
        start: Time,
        cluster: &mut Cluster,
        leases: &OrderedMap<NodeName, Time>,
    ) {
        let nodes: Vec<(NodeName, Arc<Node>)> =
            cluster.nodes().map(|(name, node)| (name.clone(), node.clone())).collect();
        for (name, node) in nodes {
            let renewed = leases.get(&name).copied();
            self.bootstrap_kubelet(start, cluster, name, &node, renewed);
        }
    }

    /// The clocks of these kubelets by which they post their status tick then.
    pub(crate) fn set_status_ticks(
        &mut self,
        start: Time,
        ticks: &OrderedMap<NodeName, Timestamp>,
    ) {
        for (name, at) in ticks {
            let Some(kubelet) = self.by_node.get_mut(name.as_str()) else { continue };
            kubelet.status_origin = *at;
            if kubelet.connected {
                let (lease, posted) =
                    (kubelet.heartbeats.lease.last, kubelet.heartbeats.status.last);
                let clocks = kubelet.clocks(&self.config, name);
                kubelet.heartbeats = clocks.heartbeats_from(Timestamp::ZERO, lease, posted, start);
            }
        }
    }

    /// The clocks of kubelets that are registered later tick then, for leases and for status.
    pub(crate) fn expect_ticks(
        &mut self,
        lease: OrderedMap<NodeName, Timestamp>,
        status: OrderedMap<NodeName, Timestamp>,
    ) {
        self.ticks = [lease, status];
    }

    fn bootstrap_kubelet(
        &mut self,
        start: Time,
        cluster: &mut Cluster,
        name: NodeName,
        node: &Arc<Node>,
        renewed: Option<Time>,
    ) {
        let settings = self.config.settings;
        let report = heartbeat::KubeletConditions::of(node, &self.healthy);
        let unreachable = is_unreachable(node);
        // Times after the beginning are those of another clock.
        let renewed = renewed.map(|renewed| renewed.min(start));
        let interval = settings.lease_renew_interval();
        let origin = match renewed {
            Some(renewed) if !unreachable => phase_of(start.since(renewed), interval),
            _ => settings.phase(name.as_str()),
        };
        let ready = node.condition(READY);
        let mut posted = ready.and_then(|ready| ready.last_heartbeat_time);
        posted = posted.map(|posted| posted.min(start));
        if ready.is_none() {
            let mut node = Node::clone(node);
            let _ = report.post(&mut node, start.truncated_to_seconds());
            cluster.put_node(Arc::new(node));
        }
        if !unreachable && posted.is_none() {
            posted = Some(start);
        }
        let origins = (origin, origin);
        let clocks = Clocks::new(&settings, self.config.release, name.as_str(), origins);
        let mut heartbeats = clocks.heartbeats_from(Timestamp::ZERO, renewed, posted, start);
        if unreachable {
            heartbeats.status.next = Timestamp::MAX;
            heartbeats.lease.next = Timestamp::MAX;
        }
        let mut kubelet = Kubelet::new(report, !unreachable, origin, heartbeats);
        kubelet.connected = !unreachable;
        kubelet.phase_is_assumed = renewed.is_none();
        self.by_node.insert(name, kubelet);
    }

    /// A node was created; `runs` says whether its kubelet does, if it is not known already.
    pub(crate) fn register(&mut self, context: &mut Context<'_>, name: &NodeName, runs: bool) {
        let Some(node) = context.cluster.get_node(name.as_str()) else { return };
        if let Some(known) = self.by_node.get(name.as_str()) {
            if known.connected {
                self.then(name, [Step::Post { renew: true }]);
            }
            return;
        }
        let (unreachable, report) =
            (is_unreachable(node), heartbeat::KubeletConditions::of(node, &self.healthy));
        let tick = |ticks: &OrderedMap<NodeName, Timestamp>| ticks.get(name.as_str()).copied();
        let [lease, status] = self.ticks.each_ref().map(tick);
        let origin = lease.unwrap_or(context.now);
        let origins = (origin, status.or(lease).unwrap_or(context.now));
        let Self { config: KubeletsConfig { settings, release, .. }, .. } = self;
        let heartbeats = Clocks::new(settings, *release, name.as_str(), origins).none();
        let mut kubelet = Kubelet::new(report, runs && !unreachable, origin, heartbeats);
        kubelet.status_origin = origins.1;
        self.by_node.insert(name.clone(), kubelet);
        if !self.can_connect(context.cluster, name) {
            self.then(name, [Step::Heartbeats]);
            return;
        }
        if let Some(kubelet) = self.by_node.get_mut(name.as_str()) {
            kubelet.connected = true;
        }
        self.then(name, [Step::Post { renew: true }, Step::StartPods]);
    }

    /// Cuts a node off the API server, or no longer.
    pub(crate) fn cut_node(&mut self, name: &NodeName, cut: bool) -> Result<(), KubeletError> {
        self.get_mut(name)?.cut = cut;
        self.then(name, [Step::Connect]);
        Ok(())
    }

    /// Cuts a zone off the API server, or no longer.
    pub(crate) fn cut_zone(
        &mut self,
        context: &mut Context<'_>,
        text: &str,
        cut: bool,
    ) -> Result<(), KubeletError> {
        let zone_of = |node: &Node| ZoneKey::of(&node.metadata.labels);
        let nodes = context.cluster.nodes().map(|(name, node)| (name.clone(), zone_of(node)));
        let nodes: Vec<(NodeName, ZoneKey)> = nodes.collect();
        let known = nodes.iter().map(|(_, zone)| zone).chain(&self.cut_zones);
        let zone = find_zone(known, text).map_err(|similar| KubeletError::ZoneNotFound {
            zone: text.into(),
            ambiguous: !similar.is_empty(),
            zones: if similar.is_empty() { names(&nodes) } else { similar },
        })?;
        if cut {
            self.cut_zones.insert(zone.clone());
        } else {
            self.cut_zones.remove(&zone);
        }
        for (name, _) in nodes.iter().rev().filter(|(_, of_node)| *of_node == zone) {
            self.then(name, [Step::Connect]);
        }
        Ok(())
    }

    /// A kubelet finds something out about its node.
    pub(crate) fn report(
        &mut self,
        name: &NodeName,
        reported: Reported,
    ) -> Result<(), KubeletError> {
        let kubelet = self.get_mut(name)?;
        kubelet.report = kubelet.report.with(reported);
        if kubelet.connected {
            self.then(name, [Step::Post { renew: false }]);
        }
        Ok(())
    }

    fn zone_is_cut(&self, cluster: &Cluster, name: &NodeName) -> bool {
        if self.cut_zones.is_empty() {
            return false;
        }
        let node = cluster.get_node(name.as_str());
        node.is_some_and(|node| self.cut_zones.contains(&ZoneKey::of(&node.metadata.labels)))
    }

    fn can_connect(&self, cluster: &Cluster, name: &NodeName) -> bool {
        let kubelet = self.by_node.get(name.as_str());
        kubelet.is_some_and(|kubelet| kubelet.runs && !kubelet.cut)
            && !self.zone_is_cut(cluster, name)
    }

    fn is_connected(&self, node: &str) -> bool {
        self.by_node.get(node).is_some_and(|kubelet| kubelet.connected)
    }

    /// Why the kubelet of a node is unreachable, if it is.
    pub(crate) fn unreachable_cause(
        &self,
        cluster: &Cluster,
        name: &NodeName,
    ) -> Option<UnreachableCause> {
        let kubelet = self.by_node.get(name.as_str())?;
        if matches!(kubelet.power, Power::Off) {
            Some(UnreachableCause::NodeOff)
        } else if !kubelet.runs {
            Some(UnreachableCause::KubeletStopped)
        } else if kubelet.cut {
            Some(UnreachableCause::NetworkCut)
        } else {
            self.zone_is_cut(cluster, name).then_some(UnreachableCause::ZoneNetworkCut)
        }
    }

    /// A kubelet runs or not, a network is cut or not: a kubelet may have become
    /// unreachable, or is connected again and has much to send.
    ///
    /// One that starts posts at once; one whose network is back renews and posts when its clocks
    /// tick next.
    fn connect(&mut self, context: &Context<'_>, name: &NodeName) {
        let cluster = context.cluster;
        let can = self.can_connect(cluster, name);
        let cause = self.unreachable_cause(cluster, name);
        let Some(kubelet) = self.by_node.get_mut(name.as_str()) else { return };
        if kubelet.connected == can {
            return;
        }
        kubelet.connected = can;
        let kubelet_starts = kubelet.origin == context.now;
        let has_booted = can && core::mem::take(&mut kubelet.has_booted);
        let has_unposted = can && !kubelet.unposted.is_empty();
        if has_booted {
            self.forget_containers(context.now, name);
        }
        let node = name.clone();
        match cause {
            Some(cause) => self.then(
                name,
                [Step::Act(KubeletAction::ReportLost { node, cause }), Step::Disconnect],
            ),
            None => {
                let steps = [
                    Some(Step::Act(KubeletAction::ReportResumed { node })),
                    Some(if kubelet_starts { Step::PostFirst } else { Step::Resume }),
                    Some(Step::PostCompletions),
                    Some(Step::ConfirmDeletions),
                    has_unposted.then_some(Step::PostAllEnded),
                    has_booted.then_some(Step::RestartPods),
                    (kubelet_starts && !has_booted).then_some(Step::ReadmitPods),
                    Some(Step::StartPods),
                    Some(Step::ReportVolumes),
                    Some(Step::SendUnsent),
                ];
                self.then(name, steps.into_iter().flatten().collect::<Vec<_>>());
            }
        }
    }

    /// Does one step; gives what is to be done before the next.
    fn take_step(
        &mut self,
        context: &mut Context<'_>,
        name: &NodeName,
        step: Step,
    ) -> Option<KubeletAction> {
        let cluster = context.cluster;
        match step {
            Step::Act(action) => return Some(action),
            Step::Connect => self.connect(context, name),
            Step::Disconnect => return self.disconnect(context, name),
            Step::StopHeartbeats => self.stop_heartbeats(context, name),
            Step::Heartbeats => {
                let heartbeats = self.heartbeats(cluster, name);
                return Some(KubeletAction::Heartbeats { node: name.clone(), heartbeats });
            }
            Step::Post { renew } => return self.post_status(context, name, renew),
            Step::PostFirst => return self.post_first(context, name),
            Step::Resume => self.resume(context, name),
            Step::UpdateStatus => self.update_status(context, name),
            Step::UnmarkPods => self.unmark_pods(name),
            Step::UnmarkPod(key) => return unmark_pod(context, name, key),
            Step::Switch { runs } => self.switch(context, name, runs),
            Step::PlanSwitch(after, wake) => self.plan_switch(context, name, after, wake),
            Step::ForgetSwitch => self.forget_switch(name),
            Step::Announce => return self.announce_start(cluster, name),
            Step::StartEvictionManager => self.start_eviction_manager(context, name),
            Step::SuspendTerminations => self.suspend_terminations(cluster, name, false),
            Step::PostCompletions => self.post_completions(context, name),
            Step::ConfirmDeletions => self.confirm_deletions(name),
            Step::ConfirmDeletion(deletion) => return self.confirm_deletion(context, deletion),
            Step::StartPods => self.start_pods_of(context, name),
            Step::ReportVolumes => self.report_volumes(context, name),
            Step::SendUnsent => self.send_unsent(name),
            Step::SyncPods => self.sync_pods(context, name),
            Step::CarryOut { effect, waits } => {
                return self.carry_out(context, name, effect, waits);
            }
            Step::SetPressures(pressures) => self.set_pressures(context, name, &pressures),
            Step::PlanEvictionManager => self.plan_eviction_manager(context, name),
            Step::GoOnShuttingDown => self.go_on_shutting_down(context, name),
            Step::MarkEnding(key) => return self.mark_ending(context, name, key),
            Step::EndPod(ended) => self.end_pod(name, ended),
            Step::PostEnded(ended) => return self.post_ended(context, name, ended),
            Step::PostAllEnded => self.post_all_ended(name),
            Step::PowerOff => self.power_off(context, name),
            Step::RestartPods => self.restart_pods(context, name),
            Step::ReadmitPods => self.readmit_pods(context, name),
            Step::RestartPod(key) => self.plan_restart(context, &key),
        }
        None
    }
}

impl Machine for Kubelets {
    fn handle_change(&mut self, context: &mut Context<'_>, change: &Change) {
        match change {
            Change::Node { name, new: Some(_), .. } => {
                self.then(name, [Step::Connect, Step::UpdateStatus]);
            }
            Change::Node { name, new: None, .. } => {
                self.forget_post(name);
                self.then(name, [Step::Heartbeats]);
            }
            Change::Pod { key, old, new } => {
                let (old, new) = (old.as_deref(), new.as_deref());
                let is = |new: &Pod, old: &Pod| new.metadata.uid == old.metadata.uid;
                if let Some(old) = old.filter(|old| new.is_none_or(|new| !is(new, old))) {
                    self.forget_ended_terminations(context.cluster);
                    self.observe_shutdown(context, old);
                }
                self.forget_ended_completions(context.cluster);
                self.start_pod(context, key, old, new);
                self.observe_volumes_of(context, old, new);
                self.notify_eviction_managers(context, key, old, new);
            }
            Change::Volume(VolumeChange::Attachment { volume, node, attached: true }) => {
                self.start_pods_with(context, node, volume);
                self.then(node, [Step::ReportVolumes]);
            }
            Change::Volume(_)
            | Change::Device(_)
            | Change::Workload { .. }
            | Change::Lease { .. }
            | Change::Budget { .. } => {}
        }
    }

    fn handle_timeout(&mut self, context: &mut Context<'_>) {
        let Some(timer) = self.next_timer() else { return };
        if let Some(start) = self.starts.stop(&timer) {
            self.pod_started(context, &start);
        } else if let Some(completion) = self.completions.stop(&timer) {
            self.containers_completed(context, &completion);
        } else if let Some(termination) = self.terminating.stop(&timer) {
            self.grace_period_over(context, termination);
        } else if let Some((name, wake)) = self.timers.stop(&timer) {
            self.wake(context, &name, wake);
        }
    }

    fn next_timer(&self) -> Option<TimerId> {
        let timers = [
            self.starts.next(),
            self.completions.next(),
            self.terminating.next(),
            self.timers.next(),
        ];
        timers.into_iter().flatten().min()
    }

    fn timer_reason(&self) -> Option<TimeoutReason> {
        let timer = self.next_timer()?;
        if let Some(start) = self.starts.get(&timer) {
            return Some(TimeoutReason::PodStarts { pod: start.pod.clone() });
        }
        if let Some(completion) = self.completions.get(&timer) {
            return Some(TimeoutReason::ContainersEnd { pod: completion.pod.clone() });
        }
        if let Some(Termination { pod, grace, .. }) = self.terminating.get(&timer) {
            return Some(TimeoutReason::GracePeriodOver { pod: pod.clone(), grace: *grace });
        }
        let (node, wake) = self.timers.get(&timer)?;
        let node = node.clone();
        Some(match wake {
            Wake::Post | Wake::UnmarkPods => TimeoutReason::KubeletPosts { node },
            Wake::Start => TimeoutReason::KubeletStarts { node },
            Wake::Stop => TimeoutReason::KubeletStops { node },
            Wake::Shutdown => TimeoutReason::ShutdownGoesOn { node },
            Wake::EvictionManager => {
                let deadline = self.managed(node.as_str())?.next_deadline(timer.0)?.reason;
                TimeoutReason::KubeletEviction { node, deadline }
            }
        })
    }

    /// Whatever is to be done at once is done with what led to it.
    fn next_work(&self) -> Option<WorkTicket> {
        None
    }
}

impl Controller for Kubelets {
    type Action = KubeletAction;
    type Answer = ();

    fn poll_action(&mut self, context: &mut Context<'_>) -> Option<KubeletAction> {
        while let Some((name, step)) = self.steps.pop() {
            let action = self.take_step(context, &name, step);
            if action.is_some() {
                return action;
            }
        }
        None
    }

    /// Kubelets do not wait for results: what was refused they would post again.
    fn handle_action_result(&mut self, _: &mut Context<'_>, _: RequestId, (): ()) {}
}

/// A kubelet says that a pod is ready which a controller has marked as not ready.
fn unmark_pod(context: &Context<'_>, name: &NodeName, key: PodKey) -> Option<KubeletAction> {
    let pod = context.cluster.get_pod(&key)?;
    if pod.spec.node_name != name.as_str() {
        return None;
    }
    let pod = posts::unmarked(pod, context.wall_clock().truncated_to_seconds());
    Some(KubeletAction::PatchPodStatus(key, Box::new(pod)))
}

fn names(nodes: &[(NodeName, ZoneKey)]) -> Vec<String> {
    let mut names: Vec<String> = nodes.iter().map(|(_, zone)| zone.name()).collect();
    names.order();
    names.dedup();
    names
}

/// When a kubelet whose last heartbeat was so long before the beginning sends the next.
fn phase_of(before: Duration, interval: Duration) -> Timestamp {
    let interval = interval.as_nanos().max(1);
    let rest = before.as_nanos() % interval;
    let phase = if rest == 0 { 0 } else { interval - rest };
    Timestamp::from_nanos(u64::try_from(phase).unwrap_or(0))
}
