//! Pods that are created, start and are ready; and those that are collected.

use alloc::vec::Vec;

use super::super::Simulator;
use crate::api::node_condition_type::READY;
use crate::api::{NodeName, Pod, PodKey, PodPhase, Toleration};
use crate::api_server::start_up_time;
use crate::event::EventKind;
use crate::policy::admission::Addition;

impl Simulator {
    /// A pod was added or bound: its kubelet, if it is heard, starts it.
    pub(super) fn start_pod(&mut self, key: &PodKey, old: Option<&Pod>, new: Option<&Pod>) {
        let Some(pod) = new.filter(|pod| is_to_start(pod)) else { return };
        let bound_before = old.is_some_and(|old| {
            old.spec.node_name == pod.spec.node_name && old.metadata.uid == pod.metadata.uid
        });
        if !bound_before && self.is_connected(&pod.spec.node_name) {
            self.plan_start(key);
        }
    }

    /// The kubelet of a node is heard again: it starts what it had not heard of.
    pub(in super::super) fn start_pods_of(&mut self, node: &NodeName) {
        if self.control.is_none() {
            return;
        }
        let pods = self.api.cluster.pods_of(node.as_str());
        let pods: Vec<PodKey> =
            pods.filter(|(_, pod)| is_to_start(pod)).map(|(key, _)| key.clone()).collect();
        for pod in pods {
            self.plan_start(&pod);
        }
    }

    fn plan_start(&mut self, key: &PodKey) {
        let Some(pod) = self.api.cluster.get_pod(key) else { return };
        let owner = pod.metadata.controller_key();
        let owner = owner.and_then(|owner| self.api.cluster.get_workload(&owner));
        let top = owner.and_then(|owner| owner.owner());
        let top = top.and_then(|top| self.api.cluster.get_workload(&top));
        let owners = [owner, top].map(|owner| owner.map(|owner| &owner.metadata));
        let own = [Some(&pod.metadata)].into_iter().chain(owners).flatten().find_map(|metadata| {
            // What cannot be read was refused.
            start_up_time(&metadata.annotations).ok().flatten()
        });
        let time = own.unwrap_or(self.api.config.start_up_time.0);
        let uid = pod.metadata.uid.clone();
        let at = self.api.now.saturating_add(time);
        self.kubelets.starts.start(&mut self.sequence, at, (key.clone(), uid));
    }

    fn is_connected(&self, node: &str) -> bool {
        self.kubelets.by_node.get(node).is_some_and(|kubelet| kubelet.connected)
    }

    /// The containers of a pod have started, and it is ready.
    pub(in super::super) fn pod_started(&mut self, key: &PodKey, uid: &str) {
        let Some(pod) = self.api.cluster.get_pod(key) else { return };
        // A kubelet that is not heard says so when it is.
        if pod.metadata.uid != uid || !is_to_start(pod) || !self.is_connected(&pod.spec.node_name) {
            return;
        }
        let mut pod = Pod::clone(pod);
        let now = self.wall_clock(self.api.now).truncated_to_seconds();
        pod.status.phase = PodPhase::Running;
        for condition in ["Initialized", READY, "ContainersReady"] {
            pod.set_condition(condition, true, "", "", now);
        }
        self.store_pod(key, pod);
    }

    /// Creates a pod for a user or a controller that was admitted with these additions.
    pub(in super::super) fn store_new_pod(
        &mut self,
        key: &PodKey,
        mut pod: Pod,
        additions: Vec<Addition<Toleration>>,
    ) {
        self.api.default_metadata(&mut pod.metadata);
        if !additions.is_empty() {
            self.api.emit(EventKind::PodAdmitted { pod: key.clone(), additions });
        }
        self.store_pod(key, pod);
    }
}

/// Whether a kubelet has yet to start it.
fn is_to_start(pod: &Pod) -> bool {
    pod.status.phase == PodPhase::Pending && !pod.spec.node_name.is_empty() && pod.is_active()
}
