//! The legacy path without taints: pods of a lost node are deleted after `--pod-eviction-timeout`
//! (up to 1.26).

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;

use taintlab_rules::api::{ConditionStatus, NodeName, PodKey};
use taintlab_rules::cluster::Lister;
use taintlab_rules::protocol::ApiErrorKind;
use taintlab_rules::protocol::RequestResult;
use taintlab_rules::protocol::zone::ZoneKey;
use taintlab_rules::queue::rate_limited_timed_queue::TimedValue;

use super::action::{DequeueOutcome, NODE_LOST, NodeLifecycleAction, NodeLifecycleReport};
use super::controller::NodeLifecycleController;
use super::record::EvictionStatus;
use super::work::{AfterDelete, Check, DeletePods, Resume, Step, node_lost};

impl NodeLifecycleController {
    /// Mirrors `Controller.processNoTaintBaseEviction`, for a node of a health pass.
    pub(super) fn process_no_taint_base_eviction(&mut self, check: &Check) -> Option<Step> {
        let status = check.observed.as_ref()?.status.clone();
        if status == ConditionStatus::True {
            self.cancel_pod_eviction(&check.name, &check.zone);
            return None;
        }
        let pods = check.pods.clone();
        let work = self.evict_if_timed_out(&check.name, &status, pods, AfterDelete::Nothing)?;
        Some(Step::DeletePods(Box::new(work)))
    }

    /// Queues a node whose timeout is over; if its turn has already been, returns the pods to
    /// delete immediately. Mirrors the rest of `processNoTaintBaseEviction`, and `evictPods`.
    pub(super) fn evict_if_timed_out(
        &mut self,
        name: &NodeName,
        status: &ConditionStatus,
        pods: VecDeque<PodKey>,
        then: AfterDelete,
    ) -> Option<DeletePods> {
        let now = self.now;
        let record = self.records.get_mut(name.as_str())?;
        let listed = record.listed.as_ref()?;
        if *status == ConditionStatus::True {
            let zone = listed.zone.clone();
            self.cancel_pod_eviction(name, &zone);
            return None;
        }
        let since = record.health.as_ref()?.lost_since(status)?;
        let deadline = since.saturating_add(self.config.pod_eviction_timeout);
        if self.start.saturating_add(now.since_zero()) <= deadline {
            return None;
        }
        if record.eviction == Some(EvictionStatus::Evicted) {
            return Some(DeletePods {
                node: name.clone(),
                pods,
                announced: false,
                conflict: false,
                then,
            });
        }
        if let Some(eviction) = &mut record.eviction {
            *eviction = EvictionStatus::ToBeEvicted;
        }
        let (key, uid) = (listed.zone.clone(), listed.node.metadata.uid.clone());
        let zone = self.zones.get_mut(&key)?;
        self.queues_changed = now;
        if zone.queue.add_in_turn(now, name.clone(), uid) {
            self.record_queued(name, status, Some((since, self.config.pod_eviction_timeout)));
            self.report(NodeLifecycleReport::Queued { node: name.clone(), zone: key });
        }
        None
    }

    /// Mirrors `Controller.cancelPodEviction`.
    pub(super) fn cancel_pod_eviction(&mut self, name: &NodeName, zone: &ZoneKey) {
        if let Some(record) = self.records.get_mut(name.as_str())
            && let Some(eviction) = &mut record.eviction
        {
            *eviction = EvictionStatus::Unmarked;
        }
        if let Some(zone) = self.zones.get_mut(zone) {
            zone.queue.remove(name);
        }
    }

    /// Deletes the pods of a dequeued node, even if the node is gone. Mirrors the function that
    /// `Controller.doEvictionPass` passes to the queue.
    pub(super) fn evict(
        &mut self,
        zone: ZoneKey,
        entry: TimedValue<NodeName>,
        lister: &impl Lister,
    ) {
        let node = entry.value.clone();
        let pods = lister.pods_on_node(node.as_str()).map(|(key, _)| key.clone()).collect();
        let then = AfterDelete::Evicted(zone, entry);
        let work = DeletePods { node, pods, announced: false, conflict: false, then };
        self.steps.push_front(Step::DeletePods(Box::new(work)));
    }

    /// Handles the next pod, writing its reason first. Mirrors `nodeutil.DeletePods`.
    pub(super) fn delete_pods(&mut self, mut work: Box<DeletePods>, lister: &impl Lister) {
        if !work.announced && !work.pods.is_empty() {
            let node = &work.node;
            let what = format!("event: Deleting all Pods from Node {node}.");
            self.record_node_event(node, "DeletingAllPods", &what);
        }
        work.announced = true;
        while let Some(key) = work.pods.pop_front() {
            let pod = lister.pod(&key).filter(|pod| pod.spec.node_name == work.node.as_str());
            let Some(pod) = pod else { continue };
            if pod.status.reason != NODE_LOST {
                let patch = node_lost(work.node.as_str(), key.name());
                let pod = key.clone();
                self.request(Resume::PodReason(work, key), |id| {
                    NodeLifecycleAction::PatchPodStatus { id, pod, patch }
                });
                return;
            }
            if self.delete_pod(&mut work, &key, lister) {
                return;
            }
        }
        if let Some(record) = self.records.get_mut(work.node.as_str()) {
            record.has_pods = lister.pods_on_node(work.node.as_str()).next().is_some();
        }
        let ok = !work.conflict;
        self.pods_deleted(*work, ok);
    }

    pub(super) fn pod_reason_written(
        &mut self,
        mut work: Box<DeletePods>,
        pod: &PodKey,
        result: RequestResult,
        lister: &impl Lister,
    ) {
        // All errors except conflicts are ignored.
        if result == RequestResult::Error(ApiErrorKind::Conflict) {
            work.conflict = true;
        } else if self.delete_pod(&mut work, pod, lister) {
            return;
        }
        self.steps.push_front(Step::DeletePods(work));
    }

    /// Requests the deletion of a pod, unless it stays or is terminating; returns whether it did.
    fn delete_pod(
        &mut self,
        work: &mut Box<DeletePods>,
        key: &PodKey,
        lister: &impl Lister,
    ) -> bool {
        let Some(pod) = lister.pod(key) else { return false };
        if pod.metadata.deletion_grace_period_seconds.is_some() || lister.has_daemon_set(pod) {
            return false;
        }
        let message = format!("Marking for deletion Pod {} from Node {}", key.name(), work.node);
        self.record_pod_event(key, "Normal", "NodeControllerEviction", message);
        let pod = key.clone();
        self.request(Resume::DeletedPod(work.clone()), |id| NodeLifecycleAction::DeletePod {
            id,
            pod,
        });
        true
    }

    pub(super) fn pod_deleted(&mut self, work: Box<DeletePods>, result: RequestResult) {
        if result.is_ok() || result == RequestResult::NotFound {
            self.steps.push_front(Step::DeletePods(work));
        } else {
            self.pods_deleted(*work, false);
        }
    }

    fn pods_deleted(&mut self, work: DeletePods, ok: bool) {
        match work.then {
            AfterDelete::Nothing => {}
            AfterDelete::Evicted(zone, entry) => {
                let record = self.records.get_mut(work.node.as_str());
                let record = record.filter(|record| record.listed.is_some());
                let exists = record.is_some();
                if ok
                    && let Some(record) = record
                    && let Some(eviction) = &mut record.eviction
                {
                    *eviction = EvictionStatus::Evicted;
                }
                let outcome = match (ok, exists) {
                    (false, _) => DequeueOutcome::Failed,
                    (true, true) => DequeueOutcome::Done,
                    (true, false) => DequeueOutcome::NodeGone,
                };
                self.end_turn(&zone, entry, outcome);
            }
            AfterDelete::Item(pod) if ok => {
                let record = self.records.get(work.node.as_str());
                let ready = record.and_then(|record| record.health.as_ref()?.ready.as_ref());
                if let Some(status) = ready.map(|ready| ready.status.clone()) {
                    self.mark_pod_of_item(work.node, &status, pod);
                }
            }
            AfterDelete::Item(pod) => self.pod_items.add_rate_limited(self.now, pod),
        }
    }
}
