//! Pods that are bound to a node: their kubelet admits and starts them, and they are ready.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use taintlab_rules::api::node_condition_type::READY;
use taintlab_rules::api::{
    NodeName, ObjectMeta, Pod, PodKey, PodPhase, START_UP_TIME_ANNOTATION, TaintEffect, duration_of,
};
use taintlab_rules::cluster::Cluster;
use taintlab_rules::policy::matching::find_matching_untolerated_taint;
use taintlab_rules::protocol::{ObjectReference, RecordedEvent};

use super::eviction_managers::ADMISSION_TIME;
use super::{KubeletAction, Kubelets, Step};
use crate::controllers::Context;
use crate::kubelet::is_static_pod;
use crate::kubelet::node_shutdown::mark_containers_ended;

/// A pod that its kubelet knows of.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub(super) pod: PodKey,
    pub(super) uid: String,
    outcome: Outcome,
}

/// What becomes of a pod that a kubelet knows of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// The kubelet admits it, and its containers start.
    Starts,
    /// Its containers, which have run before, start again.
    Restarts,
    /// The kubelet does not admit it, and it fails.
    Rejected(Refusal),
    /// The same of a pod that has run before the kubelet was started anew.
    RejectedAgain(Refusal),
}

/// Why a kubelet does not admit a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    Taint,
    Shutdown,
}

/// The name of the scheduler's plugin by whose rule the kubelet does not admit a pod.
const TAINT_TOLERATION: &str = "TaintToleration";
/// What that plugin says. Mirrors `tainttoleration.ErrReasonNotMatch`.
const NOT_TOLERATED: &str = "node(s) had taints that the pod didn't tolerate";

impl Kubelets {
    /// A pod was added or bound: its kubelet, if it is connected, starts it.
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

    /// The kubelet of a node is connected again: it starts what it did not know of.
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
        let Some(pod) = context.cluster.get_pod(key) else { return };
        let refusal = self.refusal(context.cluster, pod);
        self.plan(context, key, refusal.map_or(Outcome::Starts, Outcome::Rejected));
    }

    /// The containers of a pod that have run before start again, if the kubelet admits it anew.
    pub(super) fn plan_restart(&mut self, context: &mut Context<'_>, key: &PodKey) {
        let Some(pod) = context.cluster.get_pod(key) else { return };
        let refusal = self.refusal(context.cluster, pod);
        self.plan(context, key, refusal.map_or(Outcome::Restarts, Outcome::RejectedAgain));
    }

    /// A kubelet that has started admits its pods anew, also those that run or are being deleted:
    /// what it refuses fails. Mirrors `HandlePodAdditions`, which is given all pods then.
    pub(super) fn readmit_pods(&mut self, context: &mut Context<'_>, node: &NodeName) {
        if !self.config.starts_pods || !self.config.release.kubelet_checks_no_execute_taints() {
            return;
        }
        let cluster = context.cluster;
        let is_tainted = cluster.get_node(node.as_str()).is_some_and(|node| {
            node.spec.taints.iter().any(|taint| taint.effect == TaintEffect::NoExecute)
        });
        if !is_tainted {
            return;
        }
        let refused = cluster
            .pods_of(node.as_str())
            .filter(|(_, pod)| has_run(pod) && !self.admits(cluster, pod));
        let refused: Vec<PodKey> = refused.map(|(key, _)| key.clone()).collect();
        for pod in refused {
            self.plan(context, &pod, Outcome::RejectedAgain(Refusal::Taint));
        }
    }

    fn plan(&mut self, context: &mut Context<'_>, key: &PodKey, outcome: Outcome) {
        let cluster = context.cluster;
        let Some(pod) = cluster.get_pod(key) else { return };
        let own = time_of(cluster, pod, START_UP_TIME_ANNOTATION);
        let known = context.now.saturating_add(self.config.settings.latency.0);
        let at = known.saturating_add(match outcome {
            Outcome::Starts | Outcome::Restarts => own.unwrap_or(self.config.start_up_time),
            Outcome::Rejected(_) | Outcome::RejectedAgain(_) => ADMISSION_TIME,
        });
        let start = Start { pod: key.clone(), uid: pod.metadata.uid.clone(), outcome };
        self.starts.start(context.sequence, at, start);
    }

    /// Why a kubelet does not take a pod, if it does not. Mirrors `canAdmitPod`, whose handlers
    /// come in this order.
    fn refusal(&self, cluster: &Cluster, pod: &Pod) -> Option<Refusal> {
        if !self.admits(cluster, pod) {
            return Some(Refusal::Taint);
        }
        let shuts_down = self.config.release.shutdown_is_posted_at_once()
            && self.is_shutting_down(&pod.spec.node_name);
        shuts_down.then_some(Refusal::Shutdown)
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

    /// A pod that its kubelet knows of: it is ready, or it fails because it is not admitted.
    pub(super) fn pod_started(&mut self, context: &mut Context<'_>, start: &Start) {
        match start.outcome {
            Outcome::Starts => self.pod_is_ready(context, &start.pod, &start.uid, is_to_start),
            Outcome::Restarts => {
                let runs = |pod: &Pod| pod.is_active() && pod.status.phase == PodPhase::Running;
                self.pod_is_ready(context, &start.pod, &start.uid, runs);
            }
            Outcome::Rejected(refusal) => {
                let is_new = |pod: &Pod| pod.status.phase == PodPhase::Pending;
                self.reject_pod(context, &start.pod, &start.uid, refusal, is_new);
            }
            Outcome::RejectedAgain(refusal) => {
                self.reject_pod(context, &start.pod, &start.uid, refusal, has_run);
            }
        }
    }

    /// The kubelet does not admit a pod. If it was deleted in the meantime, it is gone: it never
    /// had containers. Mirrors `Kubelet.rejectPod`.
    fn reject_pod(
        &mut self,
        context: &Context<'_>,
        key: &PodKey,
        uid: &str,
        refusal: Refusal,
        is_it: fn(&Pod) -> bool,
    ) {
        let Some(pod) = context.cluster.get_pod(key) else { return };
        if pod.metadata.uid != uid || !is_it(pod) || !self.is_connected(&pod.spec.node_name) {
            return;
        }
        let release = self.config.release;
        let (reason, message) = match refusal {
            Refusal::Taint if release.kubelet_describes_failed_predicates() => {
                let failed = alloc::format!("Predicate {TAINT_TOLERATION} failed: {NOT_TOLERATED}");
                (TAINT_TOLERATION, failed)
            }
            Refusal::Taint => {
                (TAINT_TOLERATION, alloc::format!("Predicate {TAINT_TOLERATION} failed"))
            }
            Refusal::Shutdown => {
                let (reason, message) = release.shutdown_rejection();
                (reason, message.to_string())
            }
        };
        let node = NodeName::from(pod.spec.node_name.as_str());
        let mut failed = Pod::clone(pod);
        if has_run(pod) {
            mark_containers_ended(&mut failed, context.wall_clock().truncated_to_seconds());
        }
        failed.status.phase = PodPhase::Failed;
        failed.status.reason = reason.into();
        failed.status.message = release.rejected_pod_prefix().to_string() + &message;
        let event = RecordedEvent {
            involved_object: ObjectReference::Pod { api_version: "v1", pod: key.clone() },
            type_: "Warning",
            reason,
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
    fn pod_is_ready(
        &mut self,
        context: &mut Context<'_>,
        key: &PodKey,
        uid: &str,
        starts: fn(&Pod) -> bool,
    ) {
        let Some(pod) = context.cluster.get_pod(key) else { return };
        // A kubelet that is unreachable says so when it is connected.
        if pod.metadata.uid != uid || !starts(pod) || !self.is_connected(&pod.spec.node_name) {
            return;
        }
        let node = NodeName::from(pod.spec.node_name.as_str());
        let mut pod = Pod::clone(pod);
        let now = context.wall_clock().truncated_to_seconds();
        pod.status.phase = PodPhase::Running;
        for condition in ["Initialized", READY, "ContainersReady"] {
            pod.set_condition(condition, true, "", "", now);
        }
        self.plan_completion(context, &pod, Duration::ZERO);
        let patch = KubeletAction::PatchPodStatus(key.clone(), Box::new(pod));
        self.then(&node, [Step::Act(patch)]);
    }
}

/// Whether its volumes are there, if volumes take part. Mirrors `WaitForAttachAndMount`.
pub(super) fn has_volumes(cluster: &Cluster, pod: &Pod) -> bool {
    cluster.volumes().is_none_or(|volumes| volumes.are_ready_for(pod))
}

/// Whether its containers have run, and have not ended for good.
pub(super) fn has_run(pod: &Pod) -> bool {
    matches!(pod.status.phase, PodPhase::Running | PodPhase::Empty)
}

/// Whether a kubelet has yet to start it.
pub(super) fn is_to_start(pod: &Pod) -> bool {
    pod.status.phase == PodPhase::Pending && !pod.spec.node_name.is_empty() && pod.is_active()
}

/// What an annotation of a pod says, or one of those that made it.
pub(super) fn time_of(cluster: &Cluster, pod: &Pod, annotation: &str) -> Option<Duration> {
    let owner = pod.metadata.controller_key();
    let owner = owner.and_then(|owner| cluster.get_workload(&owner));
    let top = owner.and_then(|owner| owner.owner());
    let top = top.and_then(|top| cluster.get_workload(&top));
    let owners = [owner, top].map(|owner| owner.map(|owner| &owner.metadata));
    // What cannot be read was refused.
    let read = |of: &ObjectMeta| duration_of(&of.annotations, annotation).ok().flatten();
    [Some(&pod.metadata)].into_iter().chain(owners).flatten().find_map(read)
}
