//! Pods that are bound to a node: their kubelet starts them, and they are ready.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{KubeletAction, Kubelets, Step};
use crate::api::node_condition_type::READY;
use crate::api::{NodeName, Pod, PodKey, PodPhase, start_up_time};
use crate::cluster::Cluster;
use crate::controllers::Context;

impl Kubelets {
    /// A pod was added or bound: its kubelet, if it is heard, starts it.
    pub(super) fn start_pod(
        &mut self,
        context: &mut Context<'_>,
        key: &PodKey,
        old: Option<&Pod>,
        new: Option<&Pod>,
    ) {
        if !self.config.starts_pods {
            return;
        }
        let Some(pod) = new.filter(|pod| is_to_start(pod)) else { return };
        let bound_before = old.is_some_and(|old| {
            old.spec.node_name == pod.spec.node_name && old.metadata.uid == pod.metadata.uid
        });
        if !bound_before
            && self.is_connected(&pod.spec.node_name)
            && has_volumes(context.cluster, pod)
        {
            self.plan_start(context, key);
        }
    }

    /// The kubelet of a node is heard again: it starts what it had not heard of.
    pub(super) fn start_pods_of(&mut self, context: &mut Context<'_>, node: &NodeName) {
        if !self.config.starts_pods {
            return;
        }
        let pods = context
            .cluster
            .pods_of(node.as_str())
            .filter(|(_, pod)| is_to_start(pod) && has_volumes(context.cluster, pod));
        let pods: Vec<PodKey> = pods.map(|(key, _)| key.clone()).collect();
        for pod in pods {
            self.plan_start(context, &pod);
        }
    }

    pub(super) fn plan_start(&mut self, context: &mut Context<'_>, key: &PodKey) {
        let cluster = context.cluster;
        let Some(pod) = cluster.get_pod(key) else { return };
        let owner = pod.metadata.controller_key();
        let owner = owner.and_then(|owner| cluster.get_workload(&owner));
        let top = owner.and_then(|owner| owner.owner());
        let top = top.and_then(|top| cluster.get_workload(&top));
        let owners = [owner, top].map(|owner| owner.map(|owner| &owner.metadata));
        let own = [Some(&pod.metadata)].into_iter().chain(owners).flatten().find_map(|metadata| {
            // What cannot be read was refused.
            start_up_time(&metadata.annotations).ok().flatten()
        });
        let heard = context.now.saturating_add(self.config.settings.latency.0);
        let at = heard.saturating_add(own.unwrap_or(self.config.start_up_time));
        self.starts.start(context.sequence, at, (key.clone(), pod.metadata.uid.clone()));
    }

    /// The containers of a pod have started, and it is ready.
    pub(super) fn pod_started(&mut self, context: &Context<'_>, key: &PodKey, uid: &str) {
        let Some(pod) = context.cluster.get_pod(key) else { return };
        // A kubelet that is not heard says so when it is.
        if pod.metadata.uid != uid || !is_to_start(pod) || !self.is_connected(&pod.spec.node_name) {
            return;
        }
        let node = NodeName::from(pod.spec.node_name.as_str());
        let mut pod = Pod::clone(pod);
        let now = context.wall_clock().truncated_to_seconds();
        pod.status.phase = PodPhase::Running;
        for condition in ["Initialized", READY, "ContainersReady"] {
            pod.set_condition(condition, true, "", "", now);
        }
        let patch = KubeletAction::PatchPodStatus(key.clone(), Box::new(pod));
        self.then(&node, [Step::Act(patch)]);
    }
}

/// Whether its volumes are there, if volumes take part. Mirrors `WaitForAttachAndMount`.
pub(super) fn has_volumes(cluster: &Cluster, pod: &Pod) -> bool {
    cluster.volumes().is_none_or(|volumes| volumes.are_ready_for(pod))
}

/// Whether a kubelet has yet to start it.
pub(super) fn is_to_start(pod: &Pod) -> bool {
    pod.status.phase == PodPhase::Pending && !pod.spec.node_name.is_empty() && pod.is_active()
}
