//! What kubelets post: status and heartbeats of their nodes, leases, events, and that pods are
//! ready.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use taintlab_rules::api::node_condition_type::READY;
use taintlab_rules::api::{
    ConditionStatus, Lease, Node, NodeName, Pod, PodCondition, PodKey, PodPhase,
};
use taintlab_rules::cluster::Cluster;
use taintlab_rules::protocol::{ObjectReference, RecordedEvent};
use taintlab_rules::time::{Time, Timestamp};

use super::{Heartbeats, KubeletAction, Kubelets, Step, Wake};
use crate::controllers::Context;
use crate::controllers::node_lifecycle::NODE_LOST;

impl Kubelets {
    /// What the node lifecycle controller can know about the heartbeats of a node.
    pub(crate) fn heartbeats(&self, cluster: &Cluster, name: &NodeName) -> Heartbeats {
        let node = cluster.get_node(name.as_str());
        match node.and_then(|_| self.by_node.get(name.as_str())) {
            None => Heartbeats::Gone,
            Some(kubelet) if kubelet.connected => Heartbeats::Periodic(kubelet.heartbeats),
            Some(kubelet) => Heartbeats::Ended(kubelet.heartbeats.lease.last),
        }
    }

    /// The object of a node with the heartbeats as of now, if it has others.
    pub(crate) fn node_as_posted(
        &self,
        (start, now): (Time, Timestamp),
        cluster: &Cluster,
        name: &str,
    ) -> Option<Node> {
        let node = cluster.get_node(name)?;
        let kubelet = self.by_node.get(name)?;
        let heartbeat = kubelet.heartbeats.heartbeat(start, now)?;
        let ready = node.condition(READY)?;
        if ready.last_heartbeat_time == Some(heartbeat)
            || kubelet.heartbeats.status.moment(now).is_none()
        {
            return None;
        }
        let mut node = Node::clone(node);
        kubelet.report.refresh(&mut node, heartbeat);
        Some(node)
    }

    /// What the kubelet did until now is written down, and nothing is to come.
    pub(super) fn disconnect(
        &mut self,
        context: &Context<'_>,
        name: &NodeName,
    ) -> Option<KubeletAction> {
        self.then(name, [Step::StopHeartbeats, Step::Heartbeats]);
        let time = (context.start, context.now);
        let node = self.node_as_posted(time, context.cluster, name.as_str())?;
        Some(KubeletAction::RecordHeartbeats(Arc::new(node)))
    }

    pub(super) fn stop_heartbeats(&mut self, context: &Context<'_>, name: &NodeName) {
        self.forget_post(name);
        let Some(kubelet) = self.by_node.get_mut(name.as_str()) else { return };
        if kubelet.heartbeats.status.moment(context.now).is_some() {
            kubelet.report_delay = 0;
        }
        for heartbeat in [&mut kubelet.heartbeats.lease, &mut kubelet.heartbeats.status] {
            heartbeat.last = heartbeat.time(context.start, context.now);
            heartbeat.next = Timestamp::MAX;
        }
        kubelet.disconnected_at = Some(context.now);
        let runs = kubelet.runs;
        self.suspend_terminations(context.cluster, name, runs);
        self.suspend_completions(context.cluster, name);
    }

    /// The kubelet posts its status, if its node is there; `renew` renews the lease as well.
    pub(super) fn post_status(
        &mut self,
        context: &Context<'_>,
        name: &NodeName,
        renew: bool,
    ) -> Option<KubeletAction> {
        let (start, now) = (context.start, context.now);
        let wall_clock = context.wall_clock();
        self.forget_post(name);
        let kubelet = self.by_node.get_mut(name.as_str())?;
        let lease =
            if renew { Some(wall_clock) } else { kubelet.heartbeats.lease.time(start, now) };
        let from = now.saturating_add(Duration::from_nanos(1));
        let posted = context.cluster.get_node(name.as_str());
        let changed = posted.is_some_and(|node| !kubelet.report.is_posted(node));
        let release = self.config.release;
        let is_delayed = changed && release.delays_report_after_change()
            || renew && release.delays_report_after_start();
        let settings = &self.config.settings;
        kubelet.report_delay =
            if is_delayed { settings.report_delay(name.as_str(), now) } else { 0 };
        let clocks = kubelet.clocks(&self.config, name);
        kubelet.heartbeats = clocks.heartbeats_from(from, lease, Some(wall_clock), start);
        let mut steps = Vec::new();
        let node = context.cluster.get_node(name.as_str()).map(|node| {
            let mut node = Node::clone(node);
            for reason in kubelet.report.post(&mut node, wall_clock.truncated_to_seconds()) {
                let message = format!("Node {name} status is now: {reason}");
                steps.push(Step::Act(record_event(name, reason, message)));
            }
            KubeletAction::PostStatus(Box::new(node))
        });
        steps.push(Step::Heartbeats);
        if kubelet.report.is_ready() {
            steps.push(Step::UnmarkPods);
        }
        self.then(name, steps);
        node
    }

    /// A kubelet that has just started posts its status, in older releases before it knows of the
    /// container runtime; it sees what is wrong when its clock ticks next.
    pub(super) fn post_first(
        &mut self,
        context: &Context<'_>,
        name: &NodeName,
    ) -> Option<KubeletAction> {
        let kubelet = self.by_node.get_mut(name.as_str())?;
        if !self.config.release.kubelet_starts_not_ready() {
            return self.post_status(context, name, true);
        }
        let early = kubelet.report.before_runtime_check();
        let known = core::mem::replace(&mut kubelet.report, early);
        let action = self.post_status(context, name, true);
        self.by_node.get_mut(name.as_str())?.report = known;
        action
    }

    /// The network is back: the kubelet renews its lease and posts its status when its clocks tick
    /// next, as `tryUpdateNodeStatus` and the lease controller do.
    pub(super) fn resume(&mut self, context: &Context<'_>, name: &NodeName) {
        let Some(kubelet) = self.by_node.get_mut(name.as_str()) else { return };
        let from = context.now.saturating_add(Duration::from_nanos(1));
        let (lease, posted) = (kubelet.heartbeats.lease.last, kubelet.heartbeats.status.last);
        let clocks = kubelet.clocks(&self.config, name);
        kubelet.heartbeats = clocks.heartbeats_from(from, lease, posted, context.start);
        self.then(name, [Step::Heartbeats, Step::UpdateStatus]);
    }

    /// The node is gone or unreachable: there is nothing to post.
    pub(super) fn forget_post(&mut self, name: &NodeName) {
        let Some(kubelet) = self.by_node.get_mut(name.as_str()) else { return };
        for timer in [kubelet.post.take(), kubelet.unmark.take()].into_iter().flatten() {
            self.timers.stop(&timer);
        }
    }

    /// A node has changed: the kubelet posts again if somebody else wrote its conditions.
    pub(super) fn update_status(&mut self, context: &mut Context<'_>, name: &NodeName) {
        let Some(kubelet) = self.by_node.get_mut(name.as_str()) else { return };
        let Some(node) = context.cluster.get_node(name.as_str()) else { return };
        if !kubelet.connected || kubelet.post.is_some() || kubelet.report.is_posted(node) {
            return;
        }
        let at = kubelet.clocks(&self.config, name).status.next_after(context.now);
        let timer = self.timers.start(context.sequence, at, (name.clone(), Wake::Post));
        kubelet.post = Some(timer);
    }

    /// A controller has written the status of a pod, which its kubelet knows better: it posts that
    /// with the status of its node, or by itself if its node is posted as ready. Mirrors
    /// `manager.syncBatch` and `needsReconcile` of the kubelet, which looks every 10 s.
    pub(crate) fn remember_marked(&mut self, context: &mut Context<'_>, key: &PodKey, node: &str) {
        let Some(kubelet) = self.by_node.get_mut(node) else { return };
        kubelet.marked.insert(key.clone());
        let is_planned = kubelet.post.is_some() || kubelet.unmark.is_some();
        if is_planned || !kubelet.connected || !kubelet.report.is_ready() {
            return;
        }
        let name = NodeName::from(node);
        let at = kubelet.clocks(&self.config, &name).status.next_after(context.now);
        let timer = self.timers.start(context.sequence, at, (name, Wake::UnmarkPods));
        kubelet.unmark = Some(timer);
    }

    /// A kubelet that is ready says that its pods are.
    pub(super) fn unmark_pods(&mut self, name: &NodeName) {
        let Some(kubelet) = self.by_node.get_mut(name.as_str()) else { return };
        let marked = core::mem::take(&mut kubelet.marked);
        if let Some(timer) = kubelet.unmark.take() {
            self.timers.stop(&timer);
        }
        self.then(name, marked.into_iter().map(Step::UnmarkPod));
    }

    /// Completes the status of a pod as its kubelet posts it once it has started, if it does not
    /// say whether the pod is ready and the kubelet is connected. How long a start takes is not
    /// simulated.
    pub(crate) fn complete_status(&self, wall_clock: Time, pod: &mut Pod) {
        if !self.lacks_status(pod) {
            return;
        }
        let conditions = &mut pod.status.conditions;
        conditions.retain(|known| known.type_ != "ContainersReady");
        // Thousands of pods have these two and never get another.
        conditions.reserve_exact(2);
        conditions.extend([READY, "ContainersReady"].map(|type_| PodCondition {
            type_: type_.into(),
            status: ConditionStatus::True,
            last_transition_time: Some(wall_clock.truncated_to_seconds()),
            ..PodCondition::default()
        }));
    }

    /// Whether [`complete_status`](Self::complete_status) would change a pod.
    pub(crate) fn lacks_status(&self, pod: &Pod) -> bool {
        let runs = matches!(pod.status.phase, PodPhase::Empty | PodPhase::Running);
        runs && pod.condition(READY).is_none() && self.is_connected(&pod.spec.node_name)
    }

    /// The lease of a node as the API server would show it, if its kubelet ever renewed it.
    pub(crate) fn lease(&self, start: Time, now: Timestamp, name: &str) -> Option<Lease> {
        let kubelet = self.by_node.get(name)?;
        let mut lease = Lease::default();
        lease.metadata.name = name.into();
        lease.metadata.namespace = Lease::NODE_NAMESPACE.into();
        lease.spec.holder_identity = name.into();
        let seconds = self.config.settings.node_lease_duration_seconds;
        lease.spec.lease_duration_seconds = i32::try_from(seconds).ok();
        lease.spec.renew_time = Some(kubelet.heartbeats.lease.time(start, now)?);
        Some(lease)
    }
}

/// The pod as a kubelet that is ready knows it.
pub(super) fn unmarked(pod: &Pod, stamp: Time) -> Pod {
    let mut pod = pod.clone();
    if pod.status.reason == NODE_LOST {
        (pod.status.reason, pod.status.message) = (String::new(), String::new());
    }
    let ready = pod.status.conditions.iter_mut().find(|known| known.type_ == READY);
    if let Some(ready) = ready.filter(|ready| ready.status == ConditionStatus::False) {
        ready.status = ConditionStatus::True;
        ready.last_transition_time = Some(stamp);
    }
    pod
}

/// An event of a kubelet about its node.
pub(super) fn record_event(
    node: &NodeName,
    reason: &'static str,
    message: String,
) -> KubeletAction {
    KubeletAction::RecordEvent(RecordedEvent {
        involved_object: ObjectReference::Node { node: node.clone() },
        type_: "Normal",
        reason,
        message,
        component: "kubelet",
    })
}
