//! The kubelets of a simulation: who is heard, what they post, which deletions they confirm.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::evictions::Managed;
use super::{Simulator, Terminating};
use crate::api::node_condition_type::READY;
use crate::api::{ConditionStatus, Lease, Node, NodeName, Pod, PodCondition, PodKey, PodPhase};
use crate::event::{Happening, ObjectReference, RecordedEvent, SilenceCause};
use crate::kubelet::{EvictionConfig, UsageRule};
use crate::kubelet_heartbeat::{KubeletSettings, Report, beats_from};
use crate::node_lifecycle::zone::ZoneKey;
use crate::node_lifecycle::{Beat, Heartbeats, NODE_LOST, Renewal};
use crate::time::{Time, Timestamp};

/// All kubelets, and what is to happen to them.
#[derive(Clone, Debug)]
pub(super) struct Kubelets {
    pub(super) by_node: BTreeMap<NodeName, Kubelet>,
    /// The zones that are cut off the API server.
    pub(super) cut_zones: BTreeSet<ZoneKey>,
    /// In the order of time and creation.
    pub(super) timers: BTreeMap<(Timestamp, u64), (NodeName, Wake)>,
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
    pub(super) heard: bool,
    /// When its clock began to tick.
    origin: Timestamp,
    /// Its signs of life; those to come count only while it is heard.
    pub(super) beats: Heartbeats,
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
    pub(super) eviction: Option<Arc<Managed>>,
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
            healthy: Report::healthy(),
            usage: Arc::default(),
        }
    }
}

impl Kubelet {
    fn new(report: Report, runs: bool, origin: Timestamp, beats: Heartbeats) -> Self {
        Self {
            runs,
            cut: false,
            heard: false,
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
fn no_beats(settings: &KubeletSettings) -> Heartbeats {
    let beat = |period| Beat { last: None, next: Timestamp::MAX, period };
    Heartbeats {
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
    pub(super) fn adopt_nodes(&mut self, leases: &BTreeMap<NodeName, Time>) {
        let nodes: Vec<(NodeName, Arc<Node>)> =
            self.cluster.nodes().map(|(name, node)| (name.clone(), node.clone())).collect();
        for (name, node) in nodes {
            self.adopt_node(name.clone(), &node, leases.get(&name).copied());
        }
        let pods: Vec<PodKey> = self.cluster.pods().map(|(key, _)| key.clone()).collect();
        for key in pods {
            if let Some(pod) = self.cluster.get_pod(&key).cloned()
                && let Some(started) = self.started(&pod)
            {
                self.cluster.put_pod(&key, Arc::new(started));
            }
        }
    }

    fn adopt_node(&mut self, name: NodeName, node: &Arc<Node>, renewed: Option<Time>) {
        let (start, settings) = (self.config.start, self.config.kubelets);
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
            self.cluster.put_node(Arc::new(node));
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
        kubelet.heard = !silent;
        self.kubelets.by_node.insert(name, kubelet);
    }

    /// Tells the node lifecycle controller all it can know about a kubelet.
    pub(super) fn tell_heartbeats(&mut self, name: &NodeName) {
        let now = self.now;
        let exists = self.cluster.get_node(name.as_str()).is_some();
        let Some(lifecycle) = &mut self.lifecycle else { return };
        let Some(kubelet) = self.kubelets.by_node.get(name.as_str()).filter(|_| exists) else {
            lifecycle.handle_heartbeats(now, name, None);
            lifecycle.handle_renewal(now, name, None);
            return;
        };
        if kubelet.heard {
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
        let settings = self.config.kubelets;
        let Some(node) = self.cluster.get_node(name.as_str()) else { return };
        let (silent, report) = (is_silent(node), Report::of(node, &self.kubelets.healthy));
        if let Some(known) = self.kubelets.by_node.get_mut(name.as_str()) {
            if known.heard {
                self.post_status(name, true);
            }
            return;
        }
        let kubelet = Kubelet::new(report, runs && !silent, self.now, no_beats(&settings));
        self.kubelets.by_node.insert(name.clone(), kubelet);
        if self.can_be_heard(name) {
            if let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) {
                kubelet.heard = true;
            }
            self.post_status(name, true);
            self.start_pods_of(name);
        } else {
            self.tell_heartbeats(name);
        }
    }

    fn zone_is_cut(&self, name: &NodeName) -> bool {
        if self.kubelets.cut_zones.is_empty() {
            return false;
        }
        let node = self.cluster.get_node(name.as_str());
        node.is_some_and(|node| {
            self.kubelets.cut_zones.contains(&ZoneKey::of(&node.metadata.labels))
        })
    }

    fn can_be_heard(&self, name: &NodeName) -> bool {
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
    pub(super) fn review_kubelet(&mut self, name: &NodeName) {
        let can = self.can_be_heard(name);
        let cause = self.silence_cause(name);
        let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) else { return };
        if kubelet.heard == can {
            return;
        }
        kubelet.heard = can;
        match cause {
            Some(cause) => {
                self.emit(Happening::HeartbeatLost { node: name.clone(), cause });
                self.fall_silent(name);
            }
            None => {
                self.emit(Happening::HeartbeatResumed { node: name.clone() });
                self.post_status(name, true);
                self.confirm_deletions(name);
                self.start_pods_of(name);
                self.eviction_manager_is_heard(name);
            }
        }
    }

    /// What the kubelet did until now is written down, and nothing is to come.
    fn fall_silent(&mut self, name: &NodeName) {
        self.write_down_heartbeats(name);
        let (start, now) = (self.config.start, self.now);
        let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) else { return };
        if let Some(timer) = kubelet.post.take() {
            self.kubelets.timers.remove(&timer);
        }
        for beat in [&mut kubelet.beats.lease, &mut kubelet.beats.status] {
            beat.last = beat.time(start, now);
            beat.next = Timestamp::MAX;
        }
        let runs = kubelet.runs;
        self.tell_heartbeats(name);
        self.suspend_terminations(name, runs);
    }

    /// Puts the heartbeats of a node's last post into its object. Nothing is told of it: that they
    /// come is no news.
    pub(super) fn write_down_heartbeats(&mut self, name: &NodeName) {
        let Some(node) = self.node_as_posted(name.as_str()) else { return };
        let new = Arc::new(node);
        let old = self.cluster.put_node(new.clone());
        if let Some(lifecycle) = &mut self.lifecycle {
            lifecycle.handle_node_update(self.now, old.as_ref(), Some(&new));
        }
    }

    /// The object of a node with the heartbeats as of now, if it has others.
    fn node_as_posted(&self, name: &str) -> Option<Node> {
        let node = self.cluster.get_node(name)?;
        let kubelet = self.kubelets.by_node.get(name)?;
        let heartbeat = kubelet.beats.heartbeat(self.config.start, self.now)?;
        let ready = node.condition(READY)?;
        if ready.last_heartbeat_time == Some(heartbeat)
            || kubelet.beats.status.moment(self.now).is_none()
        {
            return None;
        }
        let mut node = Node::clone(node);
        kubelet.report.refresh(&mut node, heartbeat);
        Some(node)
    }

    /// The kubelet of a node that is there posts its status; `at_once` renews the lease as well.
    pub(super) fn post_status(&mut self, name: &NodeName, at_once: bool) {
        let (start, now, settings) = (self.config.start, self.now, self.config.kubelets);
        let wall_clock = self.wall_clock(now);
        let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) else { return };
        if let Some(timer) = kubelet.post.take() {
            self.kubelets.timers.remove(&timer);
        }
        let lease = if at_once { Some(wall_clock) } else { kubelet.beats.lease.time(start, now) };
        let from = now.saturating_add(Duration::from_nanos(1));
        kubelet.beats = beats_from(&settings, kubelet.origin, from, lease, Some(wall_clock), start);
        let report = kubelet.report.clone();
        if let Some(node) = self.cluster.get_node(name.as_str()) {
            let mut node = Node::clone(node);
            let reasons = report.post(&mut node, wall_clock.truncated_to_seconds());
            self.store_node(node);
            for reason in reasons {
                self.record_kubelet_event(
                    name,
                    reason,
                    &format!("Node {name} status is now: {reason}"),
                );
            }
        }
        self.tell_heartbeats(name);
        if report.is_ready() {
            self.unmark_pods(name);
        }
    }

    /// The node is gone: there is nothing to post.
    pub(super) fn forget_post(&mut self, name: &NodeName) {
        if let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str())
            && let Some(timer) = kubelet.post.take()
        {
            self.kubelets.timers.remove(&timer);
        }
    }

    /// A node has changed: the kubelet posts again if somebody else wrote its conditions.
    pub(super) fn review_status(&mut self, name: &NodeName) {
        let Some(kubelet) = self.kubelets.by_node.get(name.as_str()) else { return };
        let Some(node) = self.cluster.get_node(name.as_str()) else { return };
        if !kubelet.heard || kubelet.post.is_some() || kubelet.report.is_posted(node) {
            return;
        }
        let period = self.config.kubelets.node_status_update_frequency.0;
        let ticks = Beat { last: None, next: kubelet.origin, period };
        let timer = (ticks.next_after(self.now), self.next_sequence());
        self.kubelets.timers.insert(timer, (name.clone(), Wake::Post));
        if let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) {
            kubelet.post = Some(timer);
        }
    }

    pub(super) fn record_kubelet_event(
        &mut self,
        node: &NodeName,
        reason: &'static str,
        message: &str,
    ) {
        self.emit(Happening::EventRecorded(RecordedEvent {
            involved_object: ObjectReference::Node { node: node.clone() },
            type_: "Normal",
            reason,
            message: message.into(),
            component: "kubelet",
        }));
    }

    /// Changes whether a kubelet runs. A start that is no resumption of the network begins anew.
    pub(super) fn switch_kubelet(&mut self, name: &NodeName, runs: bool) {
        let now = self.now;
        let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) else { return };
        if kubelet.runs == runs {
            return;
        }
        kubelet.runs = runs;
        if runs {
            kubelet.origin = now;
            // It finds its pods anew, and those that are to end have all their time.
            for deletion in &mut kubelet.unconfirmed {
                deletion.ends = None;
            }
            self.announce_start(name);
        } else {
            for deletion in &mut kubelet.unconfirmed {
                deletion.ends = None;
            }
        }
        self.start_eviction_manager(name);
        self.review_kubelet(name);
    }

    /// The event that a kubelet records when it starts; it reaches the API server if that hears it.
    fn announce_start(&mut self, name: &NodeName) {
        if self.can_be_heard(name) {
            self.record_kubelet_event(name, "Starting", "Starting kubelet.");
        }
    }

    /// A kubelet that runs is replaced by a new process.
    pub(super) fn restart_kubelet(&mut self, name: &NodeName) {
        let now = self.now;
        let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) else { return };
        if !kubelet.runs {
            self.switch_kubelet(name, true);
            return;
        }
        kubelet.origin = now;
        for deletion in &mut kubelet.unconfirmed {
            deletion.ends = None;
        }
        let heard = kubelet.heard;
        self.start_eviction_manager(name);
        if heard {
            self.announce_start(name);
            self.suspend_terminations(name, false);
            self.post_status(name, true);
            self.confirm_deletions(name);
            self.eviction_manager_is_heard(name);
        }
    }

    /// Ends what was planned for a kubelet.
    pub(super) fn forget_switch(&mut self, name: &NodeName) {
        if let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) {
            kubelet.flap = None;
            if let Some(timer) = kubelet.switch.take() {
                self.kubelets.timers.remove(&timer);
            }
        }
    }

    pub(super) fn plan_switch(&mut self, name: &NodeName, after: Duration, wake: Wake) {
        let timer = (self.now.saturating_add(after), self.next_sequence());
        if let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) {
            kubelet.switch = Some(timer);
            self.kubelets.timers.insert(timer, (name.clone(), wake));
        }
    }

    /// A kubelet goes down now, and up and down again as `flap` says.
    pub(super) fn begin_flapping(&mut self, name: &NodeName, flap: Flap) {
        self.forget_switch(name);
        if let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) {
            kubelet.flap = Some(flap);
        }
        self.flap(name, Wake::Stop);
    }

    fn flap(&mut self, name: &NodeName, wake: Wake) {
        let kubelet = self.kubelets.by_node.get_mut(name.as_str());
        let Some(flap) = kubelet.and_then(|kubelet| kubelet.flap.as_mut()) else { return };
        let (down, up) = (flap.down, flap.up);
        match wake {
            Wake::Start => {
                let again = flap.left != Some(0);
                self.switch_kubelet(name, true);
                if again {
                    self.plan_switch(name, up, Wake::Stop);
                } else {
                    self.forget_switch(name);
                }
            }
            Wake::Stop | Wake::Post | Wake::EvictionManager => {
                flap.left = flap.left.map(|left| left.saturating_sub(1));
                self.switch_kubelet(name, false);
                self.plan_switch(name, down, Wake::Start);
            }
        }
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

    /// What a deletion waits for: the end of the grace period, or a kubelet that is not heard.
    pub(super) fn await_kubelet(&mut self, pod: &Terminating, node: &str) -> bool {
        match self.kubelets.by_node.get_mut(node) {
            Some(kubelet) if !kubelet.heard => {
                kubelet.unconfirmed.push(Unconfirmed { pod: pod.clone(), ends: None });
                true
            }
            _ => false,
        }
    }

    /// The deletions of a node that were to be confirmed wait; if the kubelet `runs`, containers
    /// end all the same.
    fn suspend_terminations(&mut self, name: &NodeName, runs: bool) {
        let of_node = |terminating: &Terminating| {
            let pod = self.cluster.get_pod(&terminating.pod);
            pod.is_some_and(|pod| pod.spec.node_name == name.as_str())
        };
        let found = self.terminating.iter().filter(|(_, terminating)| of_node(terminating));
        let found: Vec<(Timestamp, u64)> = found.map(|(timer, _)| *timer).collect();
        for timer in found {
            if let Some(pod) = self.terminating.remove(&timer)
                && let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str())
            {
                let ends = runs.then_some(timer.0);
                kubelet.unconfirmed.push(Unconfirmed { pod, ends });
            }
        }
    }

    /// The kubelet is back: what has ended is confirmed, and what it had not heard of ends when its
    /// grace period does.
    fn confirm_deletions(&mut self, name: &NodeName) {
        let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) else { return };
        for Unconfirmed { pod, ends } in core::mem::take(&mut kubelet.unconfirmed) {
            if !self.is_terminating(&pod) {
                continue;
            }
            match ends {
                Some(ends) if ends <= self.now => self.grace_period_over(&pod),
                _ => {
                    let ends = ends.unwrap_or_else(|| self.now.saturating_add(pod.grace));
                    let sequence = self.next_sequence();
                    self.terminating.insert((ends, sequence), pod);
                }
            }
        }
    }

    /// The kubelet of a pod's node need not confirm its deletion as it is.
    pub(super) fn forget_unconfirmed(&mut self, key: &PodKey) {
        let node = self.cluster.get_pod(key).map(|pod| pod.spec.node_name.clone());
        if let Some(kubelet) = node.and_then(|node| self.kubelets.by_node.get_mut(node.as_str())) {
            kubelet.unconfirmed.retain(|deletion| deletion.pod.pod != *key);
        }
    }

    /// Whether the pod is deleted and waits for a kubelet that is not heard.
    #[must_use]
    pub fn awaits_kubelet(&self, key: &PodKey) -> bool {
        let pod = self.cluster.get_pod(key).filter(|pod| pod.is_terminating());
        let kubelet = pod.and_then(|pod| self.kubelets.by_node.get(pod.spec.node_name.as_str()));
        kubelet.is_some_and(|kubelet| {
            kubelet.unconfirmed.iter().any(|deletion| deletion.pod.pod == *key)
        })
    }

    /// A controller has written the status of a pod, which its kubelet knows better.
    pub(super) fn remember_marked(&mut self, key: &PodKey, node: &str) {
        if let Some(kubelet) = self.kubelets.by_node.get_mut(node) {
            kubelet.marked.insert(key.clone());
        }
    }

    /// A kubelet that is ready says that its pods are.
    fn unmark_pods(&mut self, name: &NodeName) {
        let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) else { return };
        for key in core::mem::take(&mut kubelet.marked) {
            let Some(pod) = self.cluster.get_pod(&key) else { continue };
            if pod.spec.node_name != name.as_str() {
                continue;
            }
            let mut pod = Pod::clone(pod);
            if pod.status.reason == NODE_LOST {
                (pod.status.reason, pod.status.message) = (String::new(), String::new());
            }
            let stamp = self.wall_clock(self.now).truncated_to_seconds();
            let ready = pod.status.conditions.iter_mut().find(|known| known.type_ == READY);
            if let Some(ready) = ready.filter(|ready| ready.status == ConditionStatus::False) {
                ready.status = ConditionStatus::True;
                ready.last_transition_time = Some(stamp);
            }
            self.store_pod(&key, pod);
        }
    }

    /// The pod as its kubelet has it once it has started, if its status does not say whether it is
    /// ready and the kubelet is heard. How long a start takes is not simulated.
    pub(super) fn started(&self, pod: &Pod) -> Option<Pod> {
        let kubelet = self.kubelets.by_node.get(pod.spec.node_name.as_str())?;
        let runs = matches!(pod.status.phase, PodPhase::Empty | PodPhase::Running);
        if !kubelet.heard || !runs || pod.condition(READY).is_some() {
            return None;
        }
        let mut pod = pod.clone();
        pod.status.conditions.push(PodCondition {
            type_: READY.into(),
            status: ConditionStatus::True,
            last_transition_time: Some(self.wall_clock(self.now).truncated_to_seconds()),
            ..PodCondition::default()
        });
        Some(pod)
    }

    /// A node as the API server would show it now: the heartbeats of its conditions are those of
    /// the last post. The objects of [`cluster`](Self::cluster) do not follow every post.
    #[must_use]
    pub fn posted_node(&self, name: &str) -> Option<Arc<Node>> {
        let node = self.cluster.get_node(name)?;
        Some(self.node_as_posted(name).map_or_else(|| node.clone(), Arc::new))
    }

    /// The lease of a node as the API server would show it now, if there are kubelets and this one
    /// ever renewed it.
    #[must_use]
    pub fn lease(&self, name: &str) -> Option<Lease> {
        let kubelet = self.kubelets.by_node.get(name)?;
        let mut lease = Lease::default();
        lease.metadata.name = name.into();
        lease.metadata.namespace = Lease::NODE_NAMESPACE.into();
        lease.spec.holder_identity = name.into();
        let seconds = self.config.kubelets.node_lease_duration_seconds;
        lease.spec.lease_duration_seconds = i32::try_from(seconds).ok();
        lease.spec.renew_time = Some(kubelet.beats.lease.time(self.config.start, self.now)?);
        Some(lease)
    }
}

/// When a kubelet that beat so long before the beginning beats first.
fn phase_of(before: Duration, interval: Duration) -> Timestamp {
    let interval = interval.as_nanos().max(1);
    let rest = before.as_nanos() % interval;
    let phase = if rest == 0 { 0 } else { interval - rest };
    Timestamp::from_nanos(u64::try_from(phase).unwrap_or(0))
}
