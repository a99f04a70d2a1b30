//! Requests about pods: creation, updates, graceful deletion, status.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use taintlab_rules::api::{
    ConditionStatus, JobStatus, NodeName, OwnerReference, Pod, PodCondition, PodKey, PodPhase,
    Toleration,
};
use taintlab_rules::policy::admission::Addition;
use taintlab_rules::policy::validation::{ValidationOptions, validate_pod, validate_pod_update};
use taintlab_rules::protocol::zone::{REGION_LABEL, ZONE_LABEL};
use taintlab_rules::time::Time;

use super::{ApiServer, Write, keep_identity};
use crate::command::{CommandError, PodWrite};
use crate::controllers::node_lifecycle::PodStatusPatch;
use crate::event::{EventKind, RequestResult, RequestVerb};
use crate::kubelet::Termination;

impl ApiServer {
    pub(crate) fn create_pod(&mut self, mut pod: Pod) -> Result<Write, CommandError> {
        if pod.metadata.namespace.is_empty() {
            pod.metadata.namespace = "default".into();
        }
        let key = pod.key();
        self.check(|options| validate_pod(&pod, options), || format!("Pod \"{}\"", key.name()))?;
        if self.cluster.get_pod(&key).is_some() {
            return Err(CommandError::PodAlreadyExists(key));
        }
        let additions = self.admit_pod(&mut pod).map_err(|reason| CommandError::NotAdmitted {
            object: format!("pods \"{}\"", key.name()),
            reason,
        })?;
        Ok(self.store_new_pod(pod, additions))
    }

    /// Creates a pod for a user or a controller that was admitted with these additions.
    pub(crate) fn store_new_pod(
        &mut self,
        mut pod: Pod,
        additions: Vec<Addition<Toleration>>,
    ) -> Write {
        let key = pod.key();
        self.default_metadata(&mut pod.metadata);
        self.gate_scheduling(&mut pod);
        self.label_with_topology(&mut pod);
        if !additions.is_empty() {
            self.emit(EventKind::PodAdmitted { pod: key.clone(), additions });
        }
        Write::PutPod(key, Box::new(pod))
    }

    /// A pod with scheduling gates says that it waits for them. Mirrors
    /// `applySchedulingGatedCondition`.
    pub(crate) fn gate_scheduling(&self, pod: &mut Pod) {
        if self.config.release.has_scheduling_gates()
            && pod.has_scheduling_gates()
            && pod.condition("PodScheduled").is_none()
        {
            let now = self.wall_clock(self.now).truncated_to_seconds();
            let message = "Scheduling is blocked due to non-empty scheduling gates";
            pod.set_condition("PodScheduled", false, "SchedulingGated", message, now);
        }
    }

    pub(crate) fn update_pod(&self, mut pod: Pod) -> Result<Write, CommandError> {
        if pod.metadata.namespace.is_empty() {
            pod.metadata.namespace = "default".into();
        }
        let key = pod.key();
        let old = self.pod(&key)?;
        let another = !pod.metadata.uid.is_empty() && pod.metadata.uid != old.metadata.uid;
        keep_identity(&mut pod.metadata, &old.metadata);
        if !another {
            // Nothing brings a deleted pod back. Mirrors `ValidateObjectMetaAccessorUpdate`.
            pod.metadata.deletion_timestamp = old.metadata.deletion_timestamp;
            let grace = old.metadata.deletion_grace_period_seconds;
            pod.metadata.deletion_grace_period_seconds = grace;
        }
        let check = |options: &ValidationOptions| {
            if another {
                validate_pod(&pod, options)
            } else {
                validate_pod_update(&pod, old, options)
            }
        };
        self.check(check, || format!("Pod \"{}\"", key.name()))?;
        if !another {
            self.count_generation(&mut pod, old);
        }
        Ok(self.put_or_remove(key, pod))
    }

    /// Stores a changed pod, unless only finalizers kept it and now none does. Mirrors
    /// `ShouldDeleteDuringUpdate`.
    fn put_or_remove(&self, key: PodKey, pod: Pod) -> Write {
        let ended = pod.is_terminating() && pod.metadata.deletion_grace_period_seconds == Some(0);
        if ended && !self.is_kept(&pod) {
            return Write::RemovePod(key);
        }
        Write::PutPod(key, Box::new(pod))
    }

    /// A change of `spec` is another generation. Mirrors `updatePodGeneration`. The first one is
    /// not kept: see [`Pod::generation`].
    fn count_generation(&self, pod: &mut Pod, old: &Pod) {
        if self.counts_generations() {
            let changes = pod.spec != old.spec;
            let known = changes || old.metadata.other.get("generation").is_some();
            let generation = old.generation().saturating_add(changes.into());
            let generation = known.then(|| serde_json::Value::from(generation));
            pod.metadata.other.set("generation", generation.unwrap_or_default());
        }
    }

    /// Whether generations count: recorded runs were made with an API server that does not count.
    fn counts_generations(&self) -> bool {
        self.config.release.counts_pod_generations() && !self.config.stand_in_api_server
    }

    pub(crate) fn change_pod(
        &self,
        key: PodKey,
        change: impl FnOnce(&mut Pod),
    ) -> Result<Write, CommandError> {
        let old = self.pod(&key)?;
        let mut pod = old.clone();
        change(&mut pod);
        let check = |options: &ValidationOptions| validate_pod_update(&pod, old, options);
        self.check(check, || format!("Pod \"{}\"", key.name()))?;
        self.count_generation(&mut pod, old);
        Ok(self.put_or_remove(key, pod))
    }

    pub(crate) fn bind_pod(&mut self, key: PodKey, node: &NodeName) -> Result<Write, CommandError> {
        let old = self.pod(&key)?;
        if !old.spec.node_name.is_empty() {
            let node = old.spec.node_name.as_str().into();
            return Err(CommandError::PodAlreadyBound { pod: key, node });
        }
        let mut pod = old.clone();
        self.bind(&mut pod, node);
        Ok(Write::PutPod(key, Box::new(pod)))
    }

    /// What the scheduler writes when it has found a node.
    pub(crate) fn write_binding(&mut self, key: PodKey, node: &NodeName) -> Option<Write> {
        let stamp = self.wall_clock(self.now).truncated_to_seconds();
        let mut pod = Pod::clone(self.cluster.get_pod(&key)?);
        self.bind(&mut pod, node);
        pod.set_condition("PodScheduled", true, "", "", stamp);
        Some(Write::PutPod(key, Box::new(pod)))
    }

    /// Mirrors `BindingREST.setPodNodeAndMetadata`.
    fn bind(&mut self, pod: &mut Pod, node: &NodeName) {
        pod.spec.node_name = node.as_str().into();
        if self.config.release.clears_nomination_when_bound() {
            pod.status.other.set("nominatedNodeName", serde_json::Value::Null);
        }
        self.label_with_topology(pod);
    }

    /// A pod with a node gets the labels that say in which zone and region that is. Mirrors
    /// `podtopologylabels.Plugin.Admit`.
    fn label_with_topology(&mut self, pod: &mut Pod) {
        let Some(node) = self.cluster.get_node(&pod.spec.node_name) else { return };
        let labels =
            [REGION_LABEL, ZONE_LABEL].map(|label| (label, node.metadata.labels.get(label)));
        let is_there = |(label, value): &(&str, Option<&String>)| {
            value.is_none() || pod.metadata.labels.get(*label) == *value
        };
        if !self.config.release.labels_pods_with_topology() || labels.iter().all(is_there) {
            return;
        }
        for (label, value) in labels {
            if let Some(value) = value {
                pod.metadata.labels.insert(label.into(), value.clone());
            }
        }
        // The pods of one template in one zone share them.
        self.labels.labels(&mut pod.metadata.labels);
    }

    /// What the scheduler writes when it has found none, but perhaps one to make room on.
    pub(crate) fn mark_unschedulable(
        &self,
        key: PodKey,
        message: &str,
        nominated: Option<&NodeName>,
    ) -> Option<Write> {
        self.with_pod(key, |pod, stamp| {
            pod.set_condition("PodScheduled", false, "Unschedulable", message, stamp);
            if let Some(node) = nominated {
                pod.status.other.set("nominatedNodeName", node.as_str().into());
            }
        })
    }

    /// The pod no longer waits for room on a node.
    pub(crate) fn clear_nomination(&self, key: PodKey) -> Option<Write> {
        self.with_pod(key, |pod, _| {
            pod.status.other.set("nominatedNodeName", serde_json::Value::Null);
        })
    }

    /// A pod with a change, and the wall-clock time of it.
    fn with_pod(&self, key: PodKey, change: impl FnOnce(&mut Pod, Time)) -> Option<Write> {
        let stamp = self.wall_clock(self.now).truncated_to_seconds();
        let mut pod = Pod::clone(self.cluster.get_pod(&key)?);
        change(&mut pod, stamp);
        Some(Write::PutPod(key, Box::new(pod)))
    }

    /// A request about a pod that somebody sends who is no controller, if it was made to fail.
    pub(crate) fn check_pod_request(
        &mut self,
        key: &PodKey,
        verb: RequestVerb,
    ) -> Result<(), CommandError> {
        let uid = self.pod(key)?.metadata.uid.clone();
        // Recorded runs were made with failing requests of the controller alone.
        if self.config.stand_in_api_server {
            return Ok(());
        }
        let Some(error) = self.take_fault(key, PodWrite::Delete) else { return Ok(()) };
        let (pod, result) = (key.clone(), RequestResult::Error(error));
        self.emit(EventKind::Request { pod: pod.clone(), uid, verb, result });
        Err(CommandError::RequestFailed { pod, verb, error })
    }

    /// Reports what the eviction API answers, before the object's own event.
    pub(crate) fn report_eviction(&mut self, pod: &PodKey, result: RequestResult) {
        let (uid, verb) = (self.uid_of(pod), RequestVerb::Evict);
        self.emit(EventKind::Request { pod: pod.clone(), uid, verb, result });
    }

    /// `kubectl delete`.
    pub(crate) fn user_deletes_pod(
        &mut self,
        key: PodKey,
        force: bool,
        grace: Option<u32>,
    ) -> Result<Option<Write>, CommandError> {
        self.check_pod_request(&key, RequestVerb::Delete)?;
        if force {
            return Ok(Some(self.remove_pod(key)));
        }
        Ok(self.delete_gracefully(&key, grace.map(i64::from)))
    }

    /// What comes of a `DELETE` by a controller, with the pod's own grace period.
    pub(crate) fn delete_result(&mut self, key: &PodKey) -> RequestResult {
        let Some(pod) = self.cluster.get_pod(key) else { return RequestResult::NotFound };
        let terminating = pod.is_terminating();
        if let Some(error) = self.take_fault(key, PodWrite::Delete) {
            return RequestResult::Error(error);
        }
        if terminating { RequestResult::AlreadyTerminating } else { RequestResult::Ok }
    }

    /// `DELETE` with a grace period, or with the pod's own. A pod that is terminating keeps the
    /// time it has, unless it is to have less. Mirrors `rest.BeforeDelete`.
    pub(crate) fn delete_gracefully(&self, key: &PodKey, asked: Option<i64>) -> Option<Write> {
        let pod = self.cluster.get_pod(key)?;
        let own = self.grace_period_seconds(pod);
        let seconds = if own == 0 { 0 } else { asked.unwrap_or(own) };
        let had = pod.metadata.deletion_grace_period_seconds;
        if pod.is_terminating() && (asked.is_none() || had.is_some_and(|had| seconds >= had)) {
            return None;
        }
        let Ok(grace @ 1..) = u64::try_from(seconds) else {
            return Some(self.remove_pod(key.clone()));
        };
        let grace = Duration::from_secs(grace);
        let mut pod = Pod::clone(pod);
        let ends = self.now.saturating_add(grace);
        if pod.metadata.other.get("generation").is_some()
            && !pod.is_terminating()
            && self.counts_generations()
        {
            let generation = pod.generation().saturating_add(1);
            pod.metadata.other.set("generation", generation.into());
        }
        pod.metadata.deletion_timestamp = Some(self.wall_clock(ends).truncated_to_seconds());
        pod.metadata.deletion_grace_period_seconds = Some(seconds);
        let termination = Termination { pod: key.clone(), uid: pod.metadata.uid.clone(), grace };
        Some(Write::Terminate(termination, Box::new(pod)))
    }

    /// `DELETE` with a grace period of zero. A pod with finalizers stays, with a grace period that
    /// is over. Mirrors `deletionFinalizersForGarbageCollection` and `rest.BeforeDelete`.
    pub(crate) fn remove_pod(&self, key: PodKey) -> Write {
        let pod = self.cluster.get_pod(&key).filter(|pod| self.is_kept(pod));
        let Some(pod) = pod else { return Write::RemovePod(key) };
        let mut pod = Pod::clone(pod);
        let now = self.wall_clock(self.now).truncated_to_seconds();
        pod.metadata.deletion_timestamp.get_or_insert(now);
        pod.metadata.deletion_grace_period_seconds = Some(0);
        Write::PutPod(key, Box::new(pod))
    }

    /// Whether a finalizer keeps the pod: that of a Job which is over or gone is taken off at once.
    fn is_kept(&self, pod: &Pod) -> bool {
        if pod.has_foreign_finalizer() {
            return true;
        }
        let job = pod.metadata.controller_key().filter(|_| pod.has_job_finalizer());
        let job = job.and_then(|job| self.cluster.get_workload(&job));
        self.config.control_plane
            && job.is_some_and(|job| {
                job.metadata.deletion_timestamp.is_none()
                    && !job.status::<JobStatus>().is_finished()
            })
    }

    /// Takes the finalizer of a Job off a pod, which is gone then if it was only kept by that.
    pub(crate) fn finalize_pod(&self, key: &PodKey) -> Option<Write> {
        let mut pod = Pod::clone(self.cluster.get_pod(key)?);
        pod.remove_job_finalizer();
        Some(self.put_or_remove(key.clone(), pod))
    }

    /// `GET`, then `PATCH` if the condition changes the status: what came of it, and what is to be
    /// stored. Mirrors `podutil.UpdatePodCondition`.
    pub(crate) fn patch_pod_condition(
        &mut self,
        key: &PodKey,
        condition: PodCondition,
    ) -> (RequestResult, Option<Write>) {
        let Some(stored) = self.cluster.get_pod(key) else {
            let (pod, uid, verb) = (key.clone(), String::new(), RequestVerb::Get);
            let result = RequestResult::NotFound;
            self.emit(EventKind::Request { pod, uid, verb, result });
            return (result, None);
        };
        let mut pod = Pod::clone(stored);
        if !self.update_pod_condition(&mut pod, condition) {
            return (RequestResult::Ok, None);
        }
        let result = self.request_status_patch(key, &pod);
        let accepted = result == RequestResult::Ok;
        (result, accepted.then(|| Write::PutPod(key.clone(), Box::new(pod))))
    }

    /// A pod that is evicted says so. Mirrors `addConditionAndDeletePod`.
    pub(crate) fn mark_evicted(&self, key: &PodKey) -> Option<Write> {
        let mut pod = Pod::clone(self.cluster.get_pod(key)?);
        let condition = PodCondition {
            type_: "DisruptionTarget".into(),
            status: ConditionStatus::True,
            reason: "EvictionByEvictionAPI".into(),
            message: "Eviction API: evicting".into(),
            ..PodCondition::default()
        };
        let changed = self.update_pod_condition(&mut pod, condition);
        changed.then(|| Write::PutPod(key.clone(), Box::new(pod)))
    }

    /// The pod garbage collector marks a pod as failed before it deletes it.
    pub(crate) fn mark_failed(
        &self,
        key: PodKey,
        condition: Option<PodCondition>,
    ) -> Option<Write> {
        let mut pod = Pod::clone(self.cluster.get_pod(&key)?);
        pod.status.phase = PodPhase::Failed;
        if let Some(condition) = condition {
            self.update_pod_condition(&mut pod, condition);
        }
        Some(Write::PutPod(key, Box::new(pod)))
    }

    /// A patch of the node lifecycle controller: what came of it, and what is to be stored.
    pub(crate) fn patch_pod_status(
        &mut self,
        key: &PodKey,
        patch: &PodStatusPatch,
    ) -> (RequestResult, Option<Pod>) {
        let Some(pod) = self.cluster.get_pod(key) else { return (RequestResult::NotFound, None) };
        let mut pod = Pod::clone(pod);
        let result = self.request_status_patch(key, &pod);
        let changed = result == RequestResult::Ok && patch.apply(&mut pod);
        (result, changed.then_some(pod))
    }

    /// Whether a patch of the status of a pod is accepted.
    fn request_status_patch(&mut self, key: &PodKey, pod: &Pod) -> RequestResult {
        let refused = self.take_fault(key, PodWrite::PatchStatus);
        let result = refused.map_or(RequestResult::Ok, RequestResult::Error);
        let (uid, verb) = (pod.metadata.uid.clone(), RequestVerb::PatchStatus);
        self.emit(EventKind::Request { pod: key.clone(), uid, verb, result });
        result
    }

    /// A controller has found a pod that is its own by its labels, and that nobody owns.
    pub(crate) fn adopt_pod(&self, key: &PodKey, owner: OwnerReference) -> Option<Write> {
        let mut pod = Pod::clone(self.cluster.get_pod(key)?);
        pod.metadata.owner_references.push(owner);
        Some(Write::PutPod(key.clone(), Box::new(pod)))
    }

    /// Nobody owns the pod any more.
    pub(crate) fn disown_pod(&self, key: &PodKey) -> Option<Write> {
        let mut pod = Pod::clone(self.cluster.get_pod(key)?);
        pod.metadata.owner_references.retain(|owner| owner.controller != Some(true));
        pod.remove_job_finalizer();
        Some(self.put_or_remove(key.clone(), pod))
    }
}
