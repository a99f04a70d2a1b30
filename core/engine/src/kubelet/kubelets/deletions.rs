//! Pods that are being deleted: a kubelet ends their containers in the grace period and confirms
//! it, if it is connected; else it does so when it is again.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use taintlab_rules::api::node_condition_type::READY;
use taintlab_rules::api::{
    NodeName, Pod, PodKey, PodPhase, SHUTDOWN_TIME_ANNOTATION, WorkloadKind,
};
use taintlab_rules::cluster::Cluster;
use taintlab_rules::queue::timer_queue::TimerId;
use taintlab_rules::time::{Time, Timestamp};

use super::starts::{has_run, time_of};
use super::{KubeletAction, Kubelets, Step};
use crate::controllers::Context;

/// A pod whose grace period runs.
#[derive(Clone, Debug)]
pub(crate) struct Termination {
    pub(crate) pod: PodKey,
    pub(crate) uid: String,
    /// Its grace period, or the time that it takes to end if that is shorter.
    pub(crate) grace: Duration,
}

/// A deletion that an unreachable kubelet cannot confirm.
#[derive(Clone, Debug)]
pub(super) struct Unconfirmed {
    pub(super) pod: Termination,
    /// When the containers end, if the kubelet knows of the deletion and runs.
    pub(super) ends: Option<Timestamp>,
}

impl Termination {
    /// Whether the pod is still there, and not another one of its name.
    fn is_of(&self, cluster: &Cluster) -> bool {
        cluster.get_pod(&self.pod).is_some_and(|pod| pod.metadata.uid == self.uid)
    }
}

impl Kubelets {
    /// A pod is deleted: its grace period begins. A pod that was terminating already gets another
    /// one, and what was awaited is no longer.
    pub(crate) fn terminate(&mut self, context: &mut Context<'_>, termination: Termination) {
        let Some(pod) = context.cluster.get_pod(&termination.pod) else { return };
        if pod.is_terminating() {
            self.terminating.retain(|known| known.pod != termination.pod);
            if let Some(kubelet) = self.by_node.get_mut(pod.spec.node_name.as_str()) {
                kubelet.unconfirmed.retain(|deletion| deletion.pod.pod != termination.pod);
            }
        }
        let takes =
            time_of(context.cluster, pod, SHUTDOWN_TIME_ANNOTATION).unwrap_or(termination.grace);
        let grace = termination.grace.min(takes);
        self.await_termination(context, pod, Termination { grace, ..termination });
    }

    /// Pods that were terminating when the simulation began: how much of their time is left is
    /// told by `deletionTimestamp`.
    pub(crate) fn resume_terminations(&mut self, context: &mut Context<'_>) {
        let start = context.start.unix_seconds();
        for (key, pod) in context.cluster.pods() {
            let Some(ends) = pod.metadata.deletion_timestamp else { continue };
            let left = ends.unix_seconds().saturating_sub(start);
            let grace = Duration::from_secs(u64::try_from(left).unwrap_or(0));
            let uid = pod.metadata.uid.clone();
            self.await_termination(context, pod, Termination { pod: key.clone(), uid, grace });
        }
    }

    fn await_termination(&mut self, context: &mut Context<'_>, pod: &Pod, what: Termination) {
        match self.by_node.get_mut(pod.spec.node_name.as_str()) {
            Some(kubelet) if !kubelet.connected => {
                kubelet.unconfirmed.push(Unconfirmed { pod: what, ends: None });
            }
            _ => {
                let known = context.now.saturating_add(self.config.settings.latency.0);
                self.terminating.start(context.sequence, known.saturating_add(what.grace), what);
            }
        }
    }

    /// The kubelet confirms that the containers have ended, one deletion after the other.
    pub(super) fn grace_period_over(
        &mut self,
        context: &mut Context<'_>,
        termination: Termination,
    ) {
        let cluster = context.cluster;
        let Some(pod) = cluster.get_pod(&termination.pod) else { return };
        if termination.is_of(cluster) {
            let node = NodeName::from(pod.spec.node_name.as_str());
            let latency = self.config.settings.latency.0;
            if let Some(kubelet) = self.by_node.get_mut(node.as_str()) {
                let soonest = kubelet.confirmed.saturating_add(latency);
                if soonest > context.now && kubelet.confirmed > Timestamp::ZERO {
                    self.terminating.start(context.sequence, soonest, termination);
                    return;
                }
                kubelet.confirmed = context.now;
            }
            self.then(&node, [Step::Act(KubeletAction::ConfirmDeletion(termination.pod))]);
        }
    }

    /// The status in which a deleted pod of a Job or with finalizers ends: since 1.27 that is posted
    /// before the deletion is confirmed. Nobody would see it of other pods, which are gone at once.
    pub(crate) fn last_status(&self, now: Time, pod: &Pod) -> Option<Pod> {
        let of_job = pod.metadata.controller_key_of(WorkloadKind::Job).is_some();
        if !of_job && !pod.has_foreign_finalizer()
            || pod.has_ended()
            || !pod.is_terminating()
            || !self.config.release.posts_phase_of_deleted_pods()
        {
            return None;
        }
        let now = now.truncated_to_seconds();
        let mut ended = pod.clone();
        if has_run(pod) {
            for condition in [READY, "ContainersReady"] {
                ended.set_condition(condition, false, "PodFailed", "", now);
            }
        }
        ended.status.phase = PodPhase::Failed;
        Some(ended)
    }

    /// The next end of a grace period is always that of a pod which is there, so that no deadline
    /// is told at which nothing happens.
    pub(super) fn forget_ended_terminations(&mut self, cluster: &Cluster) {
        while self.terminating.peek().is_some_and(|first| !first.is_of(cluster)) {
            self.terminating.pop();
        }
    }

    /// The deletions of a node that were to be confirmed wait; if the kubelet `runs`, containers
    /// end all the same.
    pub(super) fn suspend_terminations(&mut self, cluster: &Cluster, name: &NodeName, runs: bool) {
        let Some(kubelet) = self.by_node.get_mut(name.as_str()) else { return };
        let of_node = |known: &Termination| {
            let pod = cluster.get_pod(&known.pod);
            pod.is_some_and(|pod| pod.spec.node_name == name.as_str())
        };
        let found = self.terminating.iter().filter(|(_, known)| of_node(known));
        let found: Vec<TimerId> = found.map(|(timer, _)| *timer).collect();
        for timer in found {
            if let Some(pod) = self.terminating.stop(&timer) {
                let ends = runs.then_some(timer.0);
                kubelet.unconfirmed.push(Unconfirmed { pod, ends });
            }
        }
    }

    /// The kubelet is back: what has ended is confirmed, and what it did not know of ends when its
    /// grace period does.
    pub(super) fn confirm_deletions(&mut self, name: &NodeName) {
        let Some(kubelet) = self.by_node.get_mut(name.as_str()) else { return };
        let unconfirmed = core::mem::take(&mut kubelet.unconfirmed);
        self.then(name, unconfirmed.into_iter().map(Step::ConfirmDeletion));
    }

    pub(super) fn confirm_deletion(
        &mut self,
        context: &mut Context<'_>,
        Unconfirmed { pod, ends }: Unconfirmed,
    ) -> Option<KubeletAction> {
        if !pod.is_of(context.cluster) {
            return None;
        }
        if ends.is_some_and(|ends| ends <= context.now) {
            return Some(KubeletAction::ConfirmDeletion(pod.pod));
        }
        let ends = ends.unwrap_or_else(|| context.now.saturating_add(pod.grace));
        self.terminating.start(context.sequence, ends, pod);
        None
    }

    /// Whether a pod is deleted and waits for a kubelet that is unreachable.
    pub(crate) fn is_awaited(&self, cluster: &Cluster, key: &PodKey) -> bool {
        let pod = cluster.get_pod(key).filter(|pod| pod.is_terminating());
        let kubelet = pod.and_then(|pod| self.by_node.get(pod.spec.node_name.as_str()));
        kubelet.is_some_and(|kubelet| {
            kubelet.unconfirmed.iter().any(|deletion| deletion.pod.pod == *key)
        })
    }

    /// The terminating pods and when the grace period of each ends, soonest first.
    pub(crate) fn terminations(&self) -> impl Iterator<Item = (&PodKey, Timestamp)> {
        self.terminating.iter().map(|((at, _), known)| (&known.pod, *at))
    }

    /// The pods whose deletion an unreachable kubelet is to confirm.
    pub(crate) fn unconfirmed(&self) -> impl Iterator<Item = &PodKey> {
        self.by_node.values().flat_map(|it| &it.unconfirmed).map(|deletion| &deletion.pod.pod)
    }

    /// When the grace period of a terminating pod ends.
    pub(crate) fn grace_period_ends(&self, cluster: &Cluster, pod: &PodKey) -> Option<Timestamp> {
        let of_pod = |known: &Termination| known.pod == *pod && known.is_of(cluster);
        let ends = self.terminating.iter().find(|(_, known)| of_pod(known));
        ends.map(|((at, _), _)| *at)
    }
}
