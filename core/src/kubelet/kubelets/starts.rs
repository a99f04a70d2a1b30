//! Pods that are bound to a node: their kubelet admits and starts them, and they are ready.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::eviction_managers::ADMISSION_TIME;
use super::{KubeletAction, Kubelets, Step};
use crate::api::node_condition_type::READY;
use crate::api::{NodeName, Pod, PodKey, PodPhase, TaintEffect, start_up_time};
use crate::cluster::Cluster;
use crate::controllers::Context;
use crate::kubelet::is_static_pod;
use crate::policy::matching::find_matching_untolerated_taint;
use crate::protocol::{ObjectReference, RecordedEvent};

/// A pod whose kubelet has heard of it.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub(super) pod: PodKey,
    pub(super) uid: String,
    /// Whether the kubelet admits it: then its containers start, else it fails.
    admitted: bool,
}

/// The name of the scheduler's plugin by whose rule the kubelet does not admit a pod.
const TAINT_TOLERATION: &str = "TaintToleration";
/// What that plugin says. Mirrors `tainttoleration.ErrReasonNotMatch`.
const NOT_TOLERATED: &str = "node(s) had taints that the pod didn't tolerate";

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
        let admitted = self.admits(cluster, pod);
        let takes = own.unwrap_or(self.config.start_up_time);
        let at = heard.saturating_add(if admitted { takes } else { ADMISSION_TIME });
        let start = Start { pod: key.clone(), uid: pod.metadata.uid.clone(), admitted };
        self.starts.start(context.sequence, at, start);
    }

    /// Whether a kubelet takes a pod, as far as the taints of its node go. Mirrors the end of
    /// `generalFilter` in `pkg/kubelet/lifecycle`.
    fn admits(&self, cluster: &Cluster, pod: &Pod) -> bool {
        let release = self.config.release;
        let Some(node) = cluster.get_node(&pod.spec.node_name) else { return true };
        if !release.kubelet_checks_no_execute_taints() || is_static_pod(pod) {
            return true;
        }
        let (taints, gate) = (&node.spec.taints, self.config.comparison_operators);
        let untolerated =
            find_matching_untolerated_taint(taints, &pod.spec.tolerations, gate, |taint| {
                taint.effect == TaintEffect::NoExecute
            });
        untolerated.is_none()
    }

    /// A pod that its kubelet has heard of: it is ready, or it fails because it is not admitted.
    pub(super) fn pod_started(&mut self, context: &Context<'_>, start: &Start) {
        if start.admitted {
            self.pod_is_ready(context, &start.pod, &start.uid);
        } else {
            self.reject_pod(context, &start.pod, &start.uid);
        }
    }

    /// The kubelet does not admit a pod. If it was deleted in the meantime, it is gone: it never
    /// had containers. Mirrors `Kubelet.rejectPod`.
    fn reject_pod(&mut self, context: &Context<'_>, key: &PodKey, uid: &str) {
        let Some(pod) = context.cluster.get_pod(key) else { return };
        let is_new = pod.metadata.uid == uid && pod.status.phase == PodPhase::Pending;
        if !is_new || !self.is_connected(&pod.spec.node_name) {
            return;
        }
        let release = self.config.release;
        let mut message = alloc::format!("Predicate {TAINT_TOLERATION} failed");
        if release.kubelet_describes_failed_predicates() {
            message = alloc::format!("{message}: {NOT_TOLERATED}");
        }
        let node = NodeName::from(pod.spec.node_name.as_str());
        let mut failed = Pod::clone(pod);
        failed.status.phase = PodPhase::Failed;
        failed.status.reason = TAINT_TOLERATION.into();
        failed.status.message = release.rejected_pod_prefix().to_string() + &message;
        let event = RecordedEvent {
            involved_object: ObjectReference::Pod { api_version: "v1", pod: key.clone() },
            type_: "Warning",
            reason: TAINT_TOLERATION,
            message,
            component: "kubelet",
        };
        let mut actions = Vec::from([
            KubeletAction::RecordEvent(event),
            KubeletAction::PatchPodStatus(key.clone(), Box::new(failed)),
        ]);
        if pod.is_terminating() {
            actions.push(KubeletAction::ConfirmDeletion(key.clone()));
        }
        self.then(&node, actions.into_iter().map(Step::Act));
    }

    /// The containers of a pod have started, and it is ready.
    fn pod_is_ready(&mut self, context: &Context<'_>, key: &PodKey, uid: &str) {
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
