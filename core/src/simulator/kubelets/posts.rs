//! What kubelets post: status and heartbeats of their nodes, leases, events, and that pods are ready.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use core::time::Duration;

use super::Wake;
use crate::api::node_condition_type::READY;
use crate::api::{ConditionStatus, Lease, Node, NodeName, Pod, PodCondition, PodKey, PodPhase};
use crate::controllers::node_lifecycle::{NODE_LOST, PeriodicHeartbeat};
use crate::event::{EventKind, ObjectReference, RecordedEvent};
use crate::kubelet::heartbeat::beats_from;
use crate::simulator::Simulator;

impl Simulator {
    /// Puts the heartbeats of a node's last post into its object. Nothing is told of it: that they
    /// come is no news.
    pub(in super::super) fn record_heartbeats(&mut self, name: &NodeName) {
        let Some(node) = self.node_as_posted(name.as_str()) else { return };
        let new = Arc::new(node);
        let old = self.api.cluster.put_node(new.clone());
        if let Some(lifecycle) = &mut self.lifecycle {
            lifecycle.handle_node_update(self.api.now, old.as_ref(), Some(&new));
        }
    }

    /// The object of a node with the heartbeats as of now, if it has others.
    fn node_as_posted(&self, name: &str) -> Option<Node> {
        let node = self.api.cluster.get_node(name)?;
        let kubelet = self.kubelets.by_node.get(name)?;
        let heartbeat = kubelet.beats.heartbeat(self.api.config.start, self.api.now)?;
        let ready = node.condition(READY)?;
        if ready.last_heartbeat_time == Some(heartbeat)
            || kubelet.beats.status.moment(self.api.now).is_none()
        {
            return None;
        }
        let mut node = Node::clone(node);
        kubelet.report.refresh(&mut node, heartbeat);
        Some(node)
    }

    /// The kubelet of a node that is there posts its status; `at_once` renews the lease as well.
    pub(in super::super) fn post_status(&mut self, name: &NodeName, at_once: bool) {
        let (start, now, settings) =
            (self.api.config.start, self.api.now, self.api.config.kubelets);
        let wall_clock = self.wall_clock(now);
        let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) else { return };
        if let Some(timer) = kubelet.post.take() {
            self.kubelets.timers.remove(&timer);
        }
        let lease = if at_once { Some(wall_clock) } else { kubelet.beats.lease.time(start, now) };
        let from = now.saturating_add(Duration::from_nanos(1));
        kubelet.beats = beats_from(&settings, kubelet.origin, from, lease, Some(wall_clock), start);
        let report = kubelet.report.clone();
        if let Some(node) = self.api.cluster.get_node(name.as_str()) {
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
        self.notify_heartbeats(name);
        if report.is_ready() {
            self.unmark_pods(name);
        }
    }

    /// The node is gone: there is nothing to post.
    pub(in super::super) fn forget_post(&mut self, name: &NodeName) {
        if let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str())
            && let Some(timer) = kubelet.post.take()
        {
            self.kubelets.timers.remove(&timer);
        }
    }

    /// A node has changed: the kubelet posts again if somebody else wrote its conditions.
    pub(in super::super) fn update_status(&mut self, name: &NodeName) {
        let Some(kubelet) = self.kubelets.by_node.get(name.as_str()) else { return };
        let Some(node) = self.api.cluster.get_node(name.as_str()) else { return };
        if !kubelet.connected || kubelet.post.is_some() || kubelet.report.is_posted(node) {
            return;
        }
        let period = self.api.config.kubelets.node_status_update_frequency.0;
        let ticks = PeriodicHeartbeat { last: None, next: kubelet.origin, period };
        let timer = (ticks.next_after(self.api.now), self.next_sequence());
        self.kubelets.timers.insert(timer, (name.clone(), Wake::Post));
        if let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) {
            kubelet.post = Some(timer);
        }
    }

    pub(in super::super) fn record_kubelet_event(
        &mut self,
        node: &NodeName,
        reason: &'static str,
        message: &str,
    ) {
        self.api.emit(EventKind::EventRecorded(RecordedEvent {
            involved_object: ObjectReference::Node { node: node.clone() },
            type_: "Normal",
            reason,
            message: message.into(),
            component: "kubelet",
        }));
    }

    /// A controller has written the status of a pod, which its kubelet knows better.
    pub(in super::super) fn remember_marked(&mut self, key: &PodKey, node: &str) {
        if let Some(kubelet) = self.kubelets.by_node.get_mut(node) {
            kubelet.marked.insert(key.clone());
        }
    }

    /// A kubelet that is ready says that its pods are.
    fn unmark_pods(&mut self, name: &NodeName) {
        let Some(kubelet) = self.kubelets.by_node.get_mut(name.as_str()) else { return };
        for key in core::mem::take(&mut kubelet.marked) {
            let Some(pod) = self.api.cluster.get_pod(&key) else { continue };
            if pod.spec.node_name != name.as_str() {
                continue;
            }
            let mut pod = Pod::clone(pod);
            if pod.status.reason == NODE_LOST {
                (pod.status.reason, pod.status.message) = (String::new(), String::new());
            }
            let stamp = self.wall_clock(self.api.now).truncated_to_seconds();
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
    pub(in super::super) fn started(&self, pod: &Pod) -> Option<Pod> {
        let kubelet = self.kubelets.by_node.get(pod.spec.node_name.as_str())?;
        let runs = matches!(pod.status.phase, PodPhase::Empty | PodPhase::Running);
        if !kubelet.connected || !runs || pod.condition(READY).is_some() {
            return None;
        }
        let mut pod = pod.clone();
        for type_ in [READY, "ContainersReady"] {
            pod.status.conditions.retain(|known| known.type_ != type_);
            pod.status.conditions.push(PodCondition {
                type_: type_.into(),
                status: ConditionStatus::True,
                last_transition_time: Some(self.wall_clock(self.api.now).truncated_to_seconds()),
                ..PodCondition::default()
            });
        }
        Some(pod)
    }

    /// A node as the API server would show it now: the heartbeats of its conditions are those of
    /// the last post. The objects of [`cluster`](Self::cluster) do not follow every post.
    #[must_use]
    pub fn node_as_served(&self, name: &str) -> Option<Arc<Node>> {
        let node = self.api.cluster.get_node(name)?;
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
        let seconds = self.api.config.kubelets.node_lease_duration_seconds;
        lease.spec.lease_duration_seconds = i32::try_from(seconds).ok();
        lease.spec.renew_time =
            Some(kubelet.beats.lease.time(self.api.config.start, self.api.now)?);
        Some(lease)
    }
}
