//! Pods that are created, start and are ready; and those that are collected.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use super::super::Simulator;
use super::scheduler::set_condition;
use super::views::start_up_time;
use super::{Due, track};
use crate::admission::{Addition, admit, admit_node};
use crate::api::node_condition_type::READY;
use crate::api::{
    ConditionStatus, Node, NodeName, Pod, PodKey, PodPhase, PodStatus, TaintEffect, Toleration,
};
use crate::event::Happening;
use crate::time::Timestamp;

/// How often the pod garbage collector looks around. Mirrors `gcCheckPeriod`.
const COLLECTION_PERIOD: Duration = Duration::from_secs(20);
/// How long a node must be gone before its pods are. Mirrors `quarantineTime`.
const QUARANTINE: Duration = Duration::from_secs(40);
/// The taint by which an administrator says that a node is down for good.
const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";

impl Simulator {
    /// What the API server makes of a new pod, by default, by admission; an error is why it refuses
    /// it.
    pub(in super::super) fn admit_pod(
        &self,
        pod: &mut Pod,
    ) -> Result<Vec<Addition<Toleration>>, String> {
        let Some(control) = &self.control else { return Ok(Vec::new()) };
        control.scheduler.snapshot.check(pod).map_err(|error| error.error.to_string())?;
        start_up_time(&pod.metadata.annotations)?;
        pod.status = PodStatus { phase: PodPhase::Pending, ..PodStatus::default() };
        let namespace = alloc::collections::BTreeMap::new();
        let admission = admit(&control.admission, self.config.release, pod, &namespace)
            .map_err(|error| error.to_string())?;
        admission.apply(pod);
        Ok(admission.additions)
    }

    /// What the API server makes of a new node.
    pub(in super::super) fn admit_new_node(&mut self, node: &mut Node) -> Result<(), String> {
        let Some(control) = &self.control else { return Ok(()) };
        crate::api::node_allocatable(node).map_err(|error| error.to_string())?;
        if let Some(addition) = admit_node(&control.admission, node) {
            node.spec.taints.push(addition.added.clone());
            let name = node.metadata.name.as_str().into();
            self.emit(Happening::NodeAdmitted { node: name, addition });
        }
        Ok(())
    }

    /// A pod was added or bound: its kubelet, if it is heard, starts it.
    pub(super) fn start_pod(&mut self, key: &PodKey, old: Option<&Pod>, new: Option<&Pod>) {
        let Some(pod) = new.filter(|pod| is_to_start(pod)) else { return };
        let bound_before = old.is_some_and(|old| {
            old.spec.node_name == pod.spec.node_name && old.metadata.uid == pod.metadata.uid
        });
        if !bound_before && self.is_heard(&pod.spec.node_name) {
            self.plan_start(key);
        }
    }

    /// The kubelet of a node is heard again: it starts what it had not heard of.
    pub(in super::super) fn start_pods_of(&mut self, node: &NodeName) {
        if self.control.is_none() {
            return;
        }
        let pods = self.cluster.pods_of(node.as_str());
        let pods: Vec<PodKey> =
            pods.filter(|(_, pod)| is_to_start(pod)).map(|(key, _)| key.clone()).collect();
        for pod in pods {
            self.plan_start(&pod);
        }
    }

    fn plan_start(&mut self, key: &PodKey) {
        let Some(pod) = self.cluster.get_pod(key) else { return };
        let owner = pod.metadata.controller_key();
        let owner = owner.and_then(|owner| self.cluster.get_workload(&owner));
        let top = owner.and_then(|owner| owner.owner());
        let top = top.and_then(|top| self.cluster.get_workload(&top));
        let owners = [owner, top].map(|owner| owner.map(|owner| &owner.metadata));
        let own = [Some(&pod.metadata)].into_iter().chain(owners).flatten().find_map(|metadata| {
            // What cannot be read was refused.
            start_up_time(&metadata.annotations).ok().flatten()
        });
        let time = own.unwrap_or(self.config.start_up_time.0);
        let uid = pod.metadata.uid.clone();
        self.control_timer(self.now.saturating_add(time), Due::Start(key.clone(), uid));
    }

    fn is_heard(&self, node: &str) -> bool {
        self.kubelets.by_node.get(node).is_some_and(|kubelet| kubelet.heard)
    }

    /// The containers of a pod have started, and it is ready.
    pub(super) fn pod_started(&mut self, key: &PodKey, uid: &str) {
        let Some(pod) = self.cluster.get_pod(key) else { return };
        // A kubelet that is not heard says so when it is.
        if pod.metadata.uid != uid || !is_to_start(pod) || !self.is_heard(&pod.spec.node_name) {
            return;
        }
        let mut pod = Pod::clone(pod);
        let now = self.wall_clock(self.now).truncated_to_seconds();
        pod.status.phase = PodPhase::Running;
        for condition in ["Initialized", READY, "ContainersReady"] {
            set_condition(&mut pod, condition, true, "", "", now);
        }
        self.store_pod(key, pod);
    }

    /// The garbage collector has something to look at: plans its next pass. A pass is not planned
    /// where nothing would come of it.
    pub(super) fn plan_collection(&mut self) {
        let Some(control) = &mut self.control else { return };
        if control.collection.is_none() {
            let period = COLLECTION_PERIOD.as_nanos();
            let passed = self.now.since_zero().as_nanos();
            let next = passed.div_ceil(period) * period;
            let next = Timestamp::from_nanos(u64::try_from(next).unwrap_or(u64::MAX));
            control.collection = Some(next);
            self.control_timer(next, Due::Collect);
        }
    }

    /// A node or a pod has changed in a way that the garbage collector may care about.
    pub(super) fn review_collection(&mut self, node: &str) {
        if self.has_orphans(node) || !self.out_of_service_pods(node).is_empty() {
            self.plan_collection();
        }
    }

    fn has_orphans(&self, node: &str) -> bool {
        !node.is_empty()
            && self.cluster.get_node(node).is_none()
            && self.cluster.pods_of(node).next().is_some()
    }

    /// The pods of a node that is out of service which wait for its kubelet. Mirrors
    /// `gcTerminating`.
    fn out_of_service_pods(&self, name: &str) -> Vec<PodKey> {
        if !self.config.release.collects_pods_out_of_service() {
            return Vec::new();
        }
        let Some(node) = self.cluster.get_node(name) else { return Vec::new() };
        let ready = node.condition(READY);
        let ready = ready.is_some_and(|ready| ready.status == ConditionStatus::True);
        let marked = node.spec.taints.iter().any(|taint| {
            taint.key == OUT_OF_SERVICE
                && matches!(taint.effect, TaintEffect::NoExecute | TaintEffect::NoSchedule)
        });
        if ready || !marked {
            return Vec::new();
        }
        let pods = self.cluster.pods_of(name).filter(|(_, pod)| pod.is_terminating());
        pods.map(|(key, _)| key.clone()).collect()
    }

    /// A pass of the pod garbage collector. Mirrors `PodGCController.gc`, without the threshold for
    /// pods that have ended.
    pub(super) fn collect_pods(&mut self) {
        let nodes: Vec<NodeName> = self.cluster.nodes().map(|(name, _)| name.clone()).collect();
        for node in nodes {
            for pod in self.out_of_service_pods(node.as_str()) {
                self.remove_pod(&pod);
            }
        }
        let orphans: Vec<NodeName> = self
            .cluster
            .node_names_of_pods()
            .filter(|node| self.has_orphans(node.as_str()))
            .cloned()
            .collect();
        let now = self.now;
        let Some(control) = &mut self.control else { return };
        control.collection = None;
        let known = core::mem::take(&mut control.quarantine);
        let mut due = Vec::new();
        for node in orphans {
            let since = known.get(node.as_str()).copied().unwrap_or(now);
            if now.since_zero().saturating_sub(since.since_zero()) >= QUARANTINE {
                due.push(node);
            } else {
                control.quarantine.insert(node, since);
            }
        }
        for node in due {
            let pods: Vec<PodKey> =
                self.cluster.pods_of(node.as_str()).map(|(key, _)| key.clone()).collect();
            for pod in pods {
                self.remove_pod(&pod);
            }
        }
        let waits = self.control.as_ref().is_some_and(|control| !control.quarantine.is_empty());
        if waits {
            self.plan_next_collection();
        }
    }

    fn plan_next_collection(&mut self) {
        let next = self.now.saturating_add(COLLECTION_PERIOD);
        if let Some(control) = &mut self.control {
            control.collection = Some(next);
        }
        self.control_timer(next, Due::Collect);
    }

    /// Creates a pod for a user or a controller that was admitted with these additions.
    pub(in super::super) fn store_new_pod(
        &mut self,
        key: &PodKey,
        mut pod: Pod,
        additions: Vec<Addition<Toleration>>,
    ) {
        self.fill_in(&mut pod.metadata);
        if !additions.is_empty() {
            self.emit(Happening::PodAdmitted { pod: key.clone(), additions });
        }
        self.store_pod(key, pod);
    }
}

/// Whether a kubelet has yet to start it.
fn is_to_start(pod: &Pod) -> bool {
    pod.status.phase == PodPhase::Pending && !pod.spec.node_name.is_empty() && track::is_active(pod)
}

/// Why a controller cannot create a pod.
pub(super) fn creation_error(name: &str, reason: &str) -> String {
    format!("Error creating: pods \"{name}\" is forbidden: {reason}")
}
