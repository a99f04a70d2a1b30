//! Readiness of pods on a node that is not ready, including pods bound to it later.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use taintlab_rules::api::{ConditionStatus, NodeName, PodKey};
use taintlab_rules::cluster::Lister;
use taintlab_rules::protocol::RequestResult;
use taintlab_rules::time::Timestamp;

use super::action::{NodeLifecycleAction, PodStatusPatch};
use super::controller::NodeLifecycleController;
use super::work::{AfterDelete, MarkPods, Resume, Step};

impl NodeLifecycleController {
    /// Marks the next pod. Mirrors `nodeutil.MarkPodsNotReady`.
    pub(super) fn mark_pods_not_ready(&mut self, mut work: MarkPods, lister: &impl Lister) {
        while let Some(key) = work.pods.pop_front() {
            let pod = lister.pod(&key).filter(|pod| pod.spec.node_name == work.node.as_str());
            let ready = pod.and_then(|pod| pod.condition("Ready"));
            if ready.is_some_and(|ready| ready.status != ConditionStatus::False) {
                let patch = PodStatusPatch::NotReady { at: self.stamp() };
                let pod = key.clone();
                self.request(Resume::MarkedPod(work, key), |id| {
                    NodeLifecycleAction::PatchPodStatus { id, pod, patch }
                });
                return;
            }
        }
        match work.item {
            None => self.pods_marked(&work.node, work.failed),
            Some(pod) if work.failed => self.pod_items.add_rate_limited(self.now, pod),
            Some(_) => {}
        }
    }

    pub(super) fn pod_marked(&mut self, mut work: MarkPods, pod: &PodKey, result: RequestResult) {
        if result != RequestResult::NotFound {
            work.failed |= !result.is_ok();
            self.record_pod_event(pod, "Warning", "NodeNotReady", "Node is not ready".into());
        }
        let is_of_pass = work.item.is_none();
        self.steps.push_front(Step::MarkPods(work));
        if is_of_pass && !self.config.write_time.is_zero() {
            self.sleep(self.config.write_time);
        }
    }

    /// Records that the pods of a node are marked, or need not be; after failures the next pass
    /// tries again.
    pub(super) fn pods_marked(&mut self, node: &NodeName, failed: bool) {
        if let Some(record) = self.records.get_mut(node.as_str()) {
            record.retry_pods = failed;
        }
    }

    /// Handles a pod that was bound to a node. Mirrors `Controller.processPod`.
    pub(super) fn begin_pod_item(&mut self, key: PodKey, lister: &impl Lister) {
        let Some(pod) = lister.pod(&key) else { return };
        let name: NodeName = pod.spec.node_name.as_str().into();
        let (start, period, now) = (self.start, self.config.node_monitor_period, self.now);
        let over = self.rules().passes_over();
        let Some(record) = self.records.get_mut(name.as_str()) else { return };
        record.settle(start, period, over);
        let Some(health) = &record.health else { return };
        if record.listed.is_none() {
            self.pod_items.add_rate_limited(now, key);
            return;
        }
        let Some(ready) = &health.ready else { return };
        let status = ready.status.clone();
        let mut pods = VecDeque::new();
        pods.push_back(key.clone());
        if !self.config.enable_taint_manager {
            let then = AfterDelete::Item(key.clone());
            if let Some(work) = self.evict_if_timed_out(&name, &status, pods.clone(), then) {
                self.steps.push_back(Step::DeletePods(Box::new(work)));
                return;
            }
        }
        self.mark_pod_of_item(name, &status, key);
    }

    /// Marks the pod of an item after the legacy path is done with it.
    pub(super) fn mark_pod_of_item(
        &mut self,
        node: NodeName,
        status: &ConditionStatus,
        pod: PodKey,
    ) {
        if *status != ConditionStatus::True {
            let pods = VecDeque::from([pod.clone()]);
            let work = MarkPods { node, pods, failed: false, item: Some(pod) };
            self.steps.push_front(Step::MarkPods(work));
        }
    }

    /// Time of the next try for a failed pod item.
    #[must_use]
    pub fn next_pod_retry(&self) -> Option<Timestamp> {
        self.pod_items.next_retry().map(|(at, _)| at)
    }
}
