//! The kubelets of a simulation: who there is, and who is heard.

mod deletions;
mod posts;
mod switches;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::eviction_managers::ManagedNode;
use super::{Simulator, Terminating};
use crate::api::node_condition_type::READY;
use crate::api::{ConditionStatus, Node, NodeName, PodKey};
use crate::controllers::node_lifecycle::{HeartbeatSchedule, PeriodicHeartbeat, Renewal};
use crate::event::{EventKind, SilenceCause};
use crate::kubelet::heartbeat::{KubeletSettings, Report, beats_from};
use crate::kubelet::{EvictionConfig, UsageRule};
use crate::protocol::zone::ZoneKey;
use crate::queue::timer_queue::TimerQueue;
use crate::time::{Time, Timestamp};

/// All kubelets, and what is to happen to them.
#[derive(Clone, Debug)]
pub(super) struct Kubelets {
    pub(super) by_node: BTreeMap<NodeName, Kubelet>,
    /// The zones that are cut off the API server.
    pub(super) cut_zones: BTreeSet<ZoneKey>,
    /// In the order of time and creation.
    pub(super) timers: BTreeMap<(Timestamp, u64), (NodeName, Wake)>,
    /// When the containers of a pod with that UID have started.
    pub(super) starts: TimerQueue<(PodKey, String)>,
    healthy: Report,
    /// What pods use; the last rule that matches counts.
    pub(super) usage: Arc<Vec<UsageRule>>,
}

/// What a kubelet is woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wake {
    Post,
    Start,
    Stop,
    EvictionManager,
}

/// The kubelet of one node.
#[derive(Clone, Debug)]
pub(super) struct Kubelet {
    pub(super) runs: bool,
    /// Its node is cut off by itself.
    pub(super) cut: bool,
    /// Whether it reports and hears: it runs, and neither node nor zone is cut off.
    pub(super) connected: bool,
    /// When its clock began to tick.
    origin: Timestamp,
    /// Its signs of life; those to come count only while it is heard.
    pub(super) beats: HeartbeatSchedule,
    pub(super) report: Report,
    /// When it posts a status that is not what the object says.
    post: Option<(Timestamp, u64)>,
    /// When it starts or stops by itself.
    switch: Option<(Timestamp, u64)>,
    flap: Option<Flap>,
    /// Pods whose Ready condition a controller has set False; the kubelet knows better.
    marked: BTreeSet<PodKey>,
    /// Deletions that it has not confirmed.
    unconfirmed: Vec<Unconfirmed>,
    /// The node's resources, if they are known, and who watches over them.
    pub(super) eviction: Option<Arc<ManagedNode>>,
    /// What its eviction manager goes by, if it is set in another way than all.
    pub(super) setup: Option<Arc<EvictionConfig>>,
}

/// How a kubelet goes down and up in turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flap {
    pub(super) down: Duration,
    pub(super) up: Duration,
    /// How often it still goes down; `None` for ever.
    pub(super) left: Option<u32>,
}

/// A deletion that a kubelet which is not heard cannot confirm.
#[derive(Clone, Debug)]
struct Unconfirmed {
    pod: Terminating,
    /// When the containers end, if the kubelet knows of the deletion and runs.
    ends: Option<Timestamp>,
}

impl Default for Kubelets {
    fn default() -> Self {
        Self {
            by_node: BTreeMap::new(),
            cut_zones: BTreeSet::new(),
            timers: BTreeMap::new(),
            starts: TimerQueue::default(),
            healthy: Report::healthy(),
            usage: Arc::default(),
        }
    }
}

impl Kubelet {
    fn new(report: Report, runs: bool, origin: Timestamp, beats: HeartbeatSchedule) -> Self {
        Self {
            runs,
            cut: false,
            connected: false,
            origin,
            beats,
            report,
            post: None,
            switch: None,
            flap: None,
            marked: BTreeSet::new(),
            unconfirmed: Vec::new(),
            eviction: None,
            setup: None,
        }
    }
}

impl Kubelet {
    /// When it posts its status next, if nothing changes.
    pub(super) fn posts_at(&self, now: Timestamp) -> Timestamp {
        let regular = self.beats.status.next_after(now);
        self.post.map_or(regular, |(at, _)| at.min(regular))
    }

    /// When it starts or stops by itself.
    pub(super) fn switches_at(&self) -> Option<Timestamp> {
        self.switch.map(|(at, _)| at)
    }

    /// How many deletions it has not confirmed.
    pub(super) fn unconfirmed_count(&self) -> usize {
        self.unconfirmed.len()
    }
}

/// Beats that have never been.
fn no_beats(settings: &KubeletSettings) -> HeartbeatSchedule {
    let beat = |period| PeriodicHeartbeat { last: None, next: Timestamp::MAX, period };
    HeartbeatSchedule {
        lease: beat(settings.lease_renew_interval()),
        status: beat(settings.report_interval()),
    }
}

/// Whether the conditions of a node say that its kubelet is silent.
fn is_silent(node: &Node) -> bool {
    node.condition(READY).is_some_and(|ready| ready.status == ConditionStatus::Unknown)
}

impl Simulator {
    /// The kubelets of nodes that are there at the beginning: as the conditions of each say. One
    /// that says nothing is taken for healthy.
    pub(super) fn bootstrap_kubelets(&mut self, leases: &BTreeMap<NodeName, Time>) {
        let nodes: Vec<(NodeName, Arc<Node>)> =
            self.api.cluster.nodes().map(|(name, node)| (name.clone(), node.clone())).collect();
        for (name, node) in nodes {
            self.bootstrap_kubelet(name.clone(), &node, leases.get(&name).copied());
        }
        let pods: Vec<PodKey> = self.api.cluster.pods().map(|(key, _)| key.clone()).collect();
        for key in pods {
            if let Some(pod) = self.api.cluster.get_pod(&key).cloned()
                && let Some(started) = self.started(&pod)
            {
                self.api.cluster.put_pod(&key, Arc::new(started));
            }
        }
    }

    fn bootstrap_kubelet(&mut self, name: NodeName, node: &Arc<Node>, renewed: Option<Time>) {
        let (start, settings) = (self.api.config.start, self.api.config.kubelets);
        let report = Report::of(node, &self.kubelets.healthy);
        let silent = is_silent(node);
        // Times after the beginning are those of another clock.
        let renewed = renewed.map(|renewed| renewed.min(start));
        let interval = settings.lease_renew_interval();
        let origin = match renewed {
            Some(renewed) if !silent => phase_of(start.since(renewed), interval),
            _ => settings.phase(name.as_str()),
        };
        let ready = node.condition(READY);
        let mut posted = ready.and_then(|ready| ready.last_heartbeat_time);
        posted = posted.map(|posted| posted.min(start));
        if ready.is_none() {
            let mut node = Node::clone(node);
            let _ = report.post(&mut node, start.truncated_to_seconds());
            self.api.cluster.put_node(Arc::new(node));
        }
        if !silent && posted.is_none() {
            posted = Some(start);
        }
        let mut beats = beats_from(&settings, origin, Timestamp::ZERO, renewed, posted, start);
        if silent {
            beats.status.next = Timestamp::MAX;
            beats.lease.next = Timestamp::MAX;
        }
        let mut kubelet = Kubelet::new(report, !silent, origin, beats);
        kubelet.connected = !silent;
        self.kubelets.by_node.insert(name, kubelet);
    }

    /// Tells the node lifecycle controller all it can know about a kubelet.
    pub(super) fn notify_heartbeats(&mut self, name: &NodeName) {
        let now = self.api.now;
        let exists = self.api.cluster.get_node(name.as_str()).is_some();
        let Some(lifecycle) = &mut self.lifecycle else { return };
        let Some(kubelet) = self.kubelets.by_node.get(name.as_str()).filter(|_| exists) else {
            lifecycle.handle_heartbeats(now, name, None);
            lifecycle.handle_renewal(now, name, None);
            return;
        };
        if kubelet.connected {
            lifecycle.handle_heartbeats(now, name, Some(kubelet.beats));
            return;
        }
        lifecycle.handle_heartbeats(now, name, None);
        if let Some(renewed) = kubelet.beats.lease.last {
            lifecycle.handle_renewal(now, name, Some(Renewal { renew_time: Some(renewed) }));
        }
    }

    /// A node was created; `runs` says whether its kubelet does, if it is not known already.
    pub(super) fn register_kubelet(&mut self, name: &NodeName, runs: bool) {
        let settings = self.api.config.kubelets;
        let Some(node) = self.api.cluster.get_node(name.as_str()) else { return };
        let (silent, report) = (is_silent(node), Report::of(node, &self.kubelets.healthy));
        if let Some(known) = self.kubelets.by_node.get_mut(name.as_str()) {
            if known.connected {
                self.post_status(name, true);
            }
            return;
        }
        let kubelet = Kubelet::new(report, runs && !silent, self.api.now, no_beats(&settings));
        self.kubelets.by_node.insert(name.clone(), kubelet);
        if self.can_connect(name) {
            if let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) {
                kubelet.connected = true;
            }
            self.post_status(name, true);
            self.start_pods_of(name);
        } else {
            self.notify_heartbeats(name);
        }
    }

    fn zone_is_cut(&self, name: &NodeName) -> bool {
        if self.kubelets.cut_zones.is_empty() {
            return false;
        }
        let node = self.api.cluster.get_node(name.as_str());
        node.is_some_and(|node| {
            self.kubelets.cut_zones.contains(&ZoneKey::of(&node.metadata.labels))
        })
    }

    fn can_connect(&self, name: &NodeName) -> bool {
        let kubelet = self.kubelets.by_node.get(name.as_str());
        kubelet.is_some_and(|kubelet| kubelet.runs && !kubelet.cut) && !self.zone_is_cut(name)
    }

    /// Why nobody hears the kubelet of a node, if nobody does.
    #[must_use]
    pub fn silence_cause(&self, name: &NodeName) -> Option<SilenceCause> {
        let kubelet = self.kubelets.by_node.get(name.as_str())?;
        if !kubelet.runs {
            Some(SilenceCause::KubeletStopped)
        } else if kubelet.cut {
            Some(SilenceCause::NetworkCut)
        } else {
            self.zone_is_cut(name).then_some(SilenceCause::ZoneNetworkCut)
        }
    }

    /// A kubelet runs or not, a network is cut or not: who was heard may be silent now, and who was
    /// silent is heard again and has much to tell.
    pub(super) fn update_kubelet(&mut self, name: &NodeName) {
        let can = self.can_connect(name);
        let cause = self.silence_cause(name);
        let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) else { return };
        if kubelet.connected == can {
            return;
        }
        kubelet.connected = can;
        match cause {
            Some(cause) => {
                self.api.emit(EventKind::HeartbeatLost { node: name.clone(), cause });
                self.fall_silent(name);
            }
            None => {
                self.api.emit(EventKind::HeartbeatResumed { node: name.clone() });
                self.post_status(name, true);
                self.confirm_deletions(name);
                self.start_pods_of(name);
                self.eviction_manager_reconnects(name);
            }
        }
    }

    /// What the kubelet did until now is written down, and nothing is to come.
    fn fall_silent(&mut self, name: &NodeName) {
        self.record_heartbeats(name);
        let (start, now) = (self.api.config.start, self.api.now);
        let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) else { return };
        if let Some(timer) = kubelet.post.take() {
            self.kubelets.timers.remove(&timer);
        }
        for beat in [&mut kubelet.beats.lease, &mut kubelet.beats.status] {
            beat.last = beat.time(start, now);
            beat.next = Timestamp::MAX;
        }
        let runs = kubelet.runs;
        self.notify_heartbeats(name);
        self.suspend_terminations(name, runs);
    }

    pub(super) fn fire_kubelet_timer(&mut self) {
        let Some((_, (name, wake))) = self.kubelets.timers.pop_first() else { return };
        if wake == Wake::EvictionManager {
            self.run_eviction_manager(&name);
            return;
        }
        let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) else { return };
        if wake == Wake::Post {
            kubelet.post = None;
            self.post_status(&name, false);
            return;
        }
        kubelet.switch = None;
        if kubelet.flap.is_some() {
            self.flap(&name, wake);
        } else {
            self.switch_kubelet(&name, wake == Wake::Start);
        }
    }
}

/// When a kubelet that beat so long before the beginning beats first.
fn phase_of(before: Duration, interval: Duration) -> Timestamp {
    let interval = interval.as_nanos().max(1);
    let rest = before.as_nanos() % interval;
    let phase = if rest == 0 { 0 } else { interval - rest };
    Timestamp::from_nanos(u64::try_from(phase).unwrap_or(0))
}
