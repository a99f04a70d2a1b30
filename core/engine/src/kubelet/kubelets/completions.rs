//! Pods that run to their end: their containers end well after the time that an annotation says,
//! whether or not their kubelet is connected, which posts it when it is.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use taintlab_rules::api::node_condition_type::READY;
use taintlab_rules::api::{ConditionStatus, NodeName, Pod, PodKey, PodPhase, RUN_TIME_ANNOTATION};
use taintlab_rules::cluster::Cluster;
use taintlab_rules::queue::timer_queue::TimerId;
use taintlab_rules::time::Timestamp;

use super::starts::{has_run, time_of};
use super::{KubeletAction, Kubelets, Step};
use crate::controllers::Context;
use crate::controllers::node_lifecycle::NODE_LOST;

/// Why the conditions of a pod that has succeeded do not hold.
const POD_COMPLETED: &str = "PodCompleted";

/// A pod whose containers end by themselves.
#[derive(Clone, Debug)]
pub(super) struct Completion {
    pub(super) pod: PodKey,
    uid: String,
}

/// The same while the kubelet is unreachable: when they end, or have ended.
#[derive(Clone, Debug)]
pub(super) struct Unposted {
    pub(super) at: Timestamp,
    completion: Completion,
}

impl Completion {
    /// The pod, if its containers run.
    fn running<'a>(&self, cluster: &'a Cluster) -> Option<&'a Pod> {
        let pod = cluster.get_pod(&self.pod)?;
        (pod.metadata.uid == self.uid && has_run(pod)).then_some(pod)
    }
}

impl Kubelets {
    /// The containers of a pod have run for `ago`.
    pub(super) fn plan_completion(&mut self, context: &mut Context<'_>, pod: &Pod, ago: Duration) {
        let policy = pod.spec.other.get("restartPolicy").and_then(|policy| policy.as_str());
        if !matches!(policy, Some("Never" | "OnFailure")) {
            return;
        }
        let Some(time) = time_of(context.cluster, pod, RUN_TIME_ANNOTATION) else { return };
        let at = context.now.saturating_add(time.saturating_sub(ago));
        let completion = Completion { pod: pod.key(), uid: pod.metadata.uid.clone() };
        match self.by_node.get_mut(pod.spec.node_name.as_str()) {
            Some(kubelet) if !kubelet.connected => {
                kubelet.completions.push(Unposted { at, completion });
            }
            _ => {
                self.completions.start(context.sequence, at, completion);
            }
        }
    }

    /// Pods that run when the simulation begins have run since they are ready, or begin to.
    pub(crate) fn resume_completions(&mut self, context: &mut Context<'_>) {
        if !self.config.starts_pods {
            return;
        }
        let pods = context.cluster.pods();
        for (_, pod) in pods.filter(|(_, pod)| has_run(pod) && !pod.spec.node_name.is_empty()) {
            let ready = pod.condition("ContainersReady").or_else(|| pod.condition(READY));
            let ready = ready.filter(|ready| ready.status == ConditionStatus::True);
            let since = ready.and_then(|ready| ready.last_transition_time);
            let ago = since.map(|since| context.start.since(since)).unwrap_or_default();
            self.plan_completion(context, pod, ago);
        }
    }

    /// The containers of a pod have ended well, and their kubelet is connected.
    pub(super) fn containers_completed(&mut self, context: &Context<'_>, ended: &Completion) {
        let Some(pod) = ended.running(context.cluster) else { return };
        let node = NodeName::from(pod.spec.node_name.as_str());
        if let Some(kubelet) = self.by_node.get_mut(node.as_str()) {
            kubelet.marked.remove(&ended.pod);
        }
        let mut succeeded = Pod::clone(pod);
        let now = context.wall_clock().truncated_to_seconds();
        succeeded.status.phase = PodPhase::Succeeded;
        if succeeded.status.reason == NODE_LOST {
            (succeeded.status.reason, succeeded.status.message) = (String::new(), String::new());
        }
        for (condition, holds) in
            [("Initialized", true), (READY, false), ("ContainersReady", false)]
        {
            succeeded.set_condition(condition, holds, POD_COMPLETED, "", now);
        }
        let patch = KubeletAction::PatchPodStatus(ended.pod.clone(), Box::new(succeeded));
        let gone = pod.is_terminating().then(|| KubeletAction::ConfirmDeletion(ended.pod.clone()));
        self.then(
            &node,
            [Some(patch), gone].into_iter().flatten().map(Step::Act).collect::<Vec<_>>(),
        );
    }

    /// The kubelet of a node is unreachable; its containers go on.
    pub(super) fn suspend_completions(&mut self, cluster: &Cluster, name: &NodeName) {
        let Some(kubelet) = self.by_node.get_mut(name.as_str()) else { return };
        let of_node = |known: &Completion| {
            let pod = cluster.get_pod(&known.pod);
            pod.is_some_and(|pod| pod.spec.node_name == name.as_str())
        };
        let found = self.completions.iter().filter(|(_, known)| of_node(known));
        let found: Vec<TimerId> = found.map(|(timer, _)| *timer).collect();
        for timer in found {
            if let Some(completion) = self.completions.stop(&timer) {
                kubelet.completions.push(Unposted { at: timer.0, completion });
            }
        }
    }

    /// The kubelet is connected again: it posts what has ended, unless that was killed before since
    /// the pod was deleted, and the others go on.
    pub(super) fn post_completions(&mut self, context: &mut Context<'_>, name: &NodeName) {
        let Some(kubelet) = self.by_node.get_mut(name.as_str()) else { return };
        let was_killed = |known: &Unposted| {
            kubelet.unconfirmed.iter().any(|deletion| {
                deletion.pod.pod == known.completion.pod
                    && deletion.ends.is_some_and(|ends| ends <= known.at)
            })
        };
        let mut known = core::mem::take(&mut kubelet.completions);
        known.retain(|known| !was_killed(known));
        for Unposted { at, completion } in known {
            if at <= context.now {
                self.containers_completed(context, &completion);
            } else if completion.running(context.cluster).is_some() {
                self.completions.start(context.sequence, at, completion);
            }
        }
    }

    /// The next end is always that of a pod that runs, so that no deadline is told at which nothing
    /// happens.
    pub(super) fn forget_ended_completions(&mut self, cluster: &Cluster) {
        while self.completions.peek().is_some_and(|first| first.running(cluster).is_none()) {
            self.completions.pop();
        }
    }
}
