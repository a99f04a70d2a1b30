//! The API server's side of a simulation: stores, graceful deletion, refused writes.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use core::time::Duration;

use super::{Fault, Simulator, Terminating};
use crate::api::{Node, NodeName, ObjectMeta, Pod, PodCondition, PodKey, PodPhase};
use crate::command::PodWrite;
use crate::event::{Happening, RequestResult, RequestVerb};

/// The default of `spec.terminationGracePeriodSeconds`. Mirrors
/// `v1.DefaultTerminationGracePeriodSeconds`.
const DEFAULT_TERMINATION_GRACE_PERIOD_SECONDS: i64 = 30;

impl Simulator {
    /// What the API server fills in when it creates an object.
    pub(super) fn fill_in(&mut self, metadata: &mut ObjectMeta) {
        self.objects_created += 1;
        if metadata.uid.is_empty() {
            metadata.uid = format!("00000000-0000-4000-8000-{:012x}", self.objects_created);
        }
        if metadata.creation_timestamp.is_none() {
            metadata.creation_timestamp = Some(self.wall_clock(self.now).truncated_to_seconds());
        }
    }

    pub(super) fn store_node(&mut self, node: Node) {
        let new = Arc::new(node);
        let old = self.cluster.put_node(new.clone());
        let node = new.metadata.name.as_str().into();
        match &old {
            None => self.emit(Happening::NodeAdded { node }),
            Some(old) if *old == new => return,
            Some(_) => self.emit(Happening::NodeUpdated { node }),
        }
        self.tell_conditions(old.as_deref(), &new);
        self.tell_node(old.as_ref(), Some(&new));
        if self.config.node_lifecycle {
            let name: NodeName = new.metadata.name.as_str().into();
            self.review_kubelet(&name);
            self.review_status(&name);
        }
    }

    pub(super) fn remove_node(&mut self, name: &str) {
        if let Some(old) = self.cluster.remove_node(name) {
            let name: NodeName = name.into();
            self.emit(Happening::NodeDeleted { node: name.clone() });
            self.tell_node(Some(&old), None);
            self.node_faults.retain(|(node, _), _| *node != name);
            self.forget_post(&name);
            self.tell_heartbeats(&name);
        }
    }

    pub(super) fn store_pod(&mut self, key: &PodKey, pod: Pod) {
        let new = Arc::new(self.started(&pod).unwrap_or(pod));
        let old = self.cluster.put_pod(key, new.clone());
        let (pod, uid) = (key.clone(), new.metadata.uid.clone());
        match &old {
            None => self.emit(Happening::PodAdded { pod, uid }),
            Some(old) if *old == new => return,
            Some(old) => {
                let another = old.metadata.uid != uid;
                self.emit(Happening::PodUpdated { pod, uid });
                if another {
                    self.forget_ended_terminations();
                    self.drain_sees(key);
                }
            }
        }
        self.tell_pod(key, old.as_deref(), Some(&new));
    }

    pub(super) fn remove_pod(&mut self, key: &PodKey) {
        if let Some(old) = self.cluster.remove_pod(key) {
            self.note_gone(key);
            self.forget_faults(key);
            self.forget_ended_terminations();
            self.emit(Happening::PodDeleted { pod: key.clone(), uid: old.metadata.uid.clone() });
            self.tell_pod(key, Some(&old), None);
            self.drain_sees(key);
        }
    }

    fn forget_faults(&mut self, key: &PodKey) {
        if !self.faults.is_empty() {
            self.faults.retain(|(pod, _), _| pod != key);
        }
    }

    /// `DELETE` by a controller or a user, with the pod's own grace period.
    pub(super) fn delete_pod(&mut self, key: &PodKey) -> RequestResult {
        let Some(pod) = self.cluster.get_pod(key) else { return RequestResult::NotFound };
        let terminating = pod.is_terminating();
        if let Some(error) = self.take_fault(key, PodWrite::Delete) {
            return RequestResult::Error(error);
        }
        if terminating { RequestResult::AlreadyTerminating } else { RequestResult::Ok }
    }

    /// What an accepted `DELETE` does to the object.
    pub(super) fn tell_deleted(&mut self, key: &PodKey, result: RequestResult) {
        if result == RequestResult::Ok {
            self.delete_gracefully(key, None);
        }
    }

    /// `DELETE` with a grace period, or with the pod's own. A pod that is terminating keeps the
    /// time it has, unless it is to have less. Mirrors `rest.BeforeDelete`.
    pub(super) fn delete_gracefully(&mut self, key: &PodKey, asked: Option<i64>) {
        let Some(pod) = self.cluster.get_pod(key) else { return };
        let own = self.grace_period_seconds(pod);
        let seconds = if own == 0 { 0 } else { asked.unwrap_or(own) };
        if let Some(had) = pod.metadata.deletion_grace_period_seconds
            && pod.is_terminating()
            && (asked.is_none() || seconds >= had)
        {
            return;
        }
        if pod.is_terminating() && asked.is_none() {
            return;
        }
        let Ok(grace @ 1..) = u64::try_from(seconds) else {
            self.remove_pod(key);
            return;
        };
        self.forget_termination(key);
        let Some(pod) = self.cluster.get_pod(key) else { return };
        let grace = Duration::from_secs(grace);
        let mut pod = Pod::clone(pod);
        let ends = self.now.saturating_add(grace);
        let wall_clock = self.wall_clock(ends).truncated_to_seconds();
        pod.metadata.deletion_timestamp = Some(wall_clock);
        pod.metadata.deletion_grace_period_seconds = Some(seconds);
        self.await_termination(ends, key.clone(), pod.metadata.uid.clone(), grace);
        self.store_pod(key, pod);
    }

    /// Pods that were terminating when the simulation began: how much of their time is left is
    /// told by `deletionTimestamp`.
    pub(super) fn resume_terminations(&mut self) {
        let start = self.config.start.unix_seconds();
        let found: alloc::vec::Vec<_> = self
            .cluster
            .pods()
            .filter_map(|(key, pod)| {
                let left = pod.metadata.deletion_timestamp?.unix_seconds().saturating_sub(start);
                let grace = Duration::from_secs(u64::try_from(left).unwrap_or(0));
                Some((key.clone(), pod.metadata.uid.clone(), grace))
            })
            .collect();
        for (pod, uid, grace) in found {
            self.await_termination(self.now.saturating_add(grace), pod, uid, grace);
        }
    }

    fn await_termination(
        &mut self,
        ends: crate::time::Timestamp,
        pod: PodKey,
        uid: String,
        grace: Duration,
    ) {
        let terminating = Terminating { pod, uid, grace };
        let node = self.cluster.get_pod(&terminating.pod).map(|pod| pod.spec.node_name.clone());
        if node.is_some_and(|node| self.await_kubelet(&terminating, &node)) {
            return;
        }
        let sequence = self.next_sequence();
        self.terminating.insert((ends, sequence), terminating);
    }

    /// A terminating pod gets another grace period: what was awaited is no longer.
    fn forget_termination(&mut self, key: &PodKey) {
        if self.cluster.get_pod(key).is_some_and(|pod| pod.is_terminating()) {
            self.terminating.retain(|_, terminating| terminating.pod != *key);
            self.forget_unconfirmed(key);
        }
    }

    /// The kubelet confirms that the containers have ended.
    pub(super) fn grace_period_over(&mut self, terminating: &Terminating) {
        if self.is_terminating(terminating) {
            self.remove_pod(&terminating.pod);
        }
    }

    /// Whether the pod is still there, and not another one of its name.
    pub(super) fn is_terminating(&self, terminating: &Terminating) -> bool {
        let pod = self.cluster.get_pod(&terminating.pod);
        pod.is_some_and(|pod| pod.metadata.uid == terminating.uid)
    }

    /// The next end of a grace period is always that of a pod which is there, so that no deadline
    /// is told at which nothing happens.
    fn forget_ended_terminations(&mut self) {
        while let Some((_, first)) = self.terminating.first_key_value()
            && !self.is_terminating(first)
        {
            self.terminating.pop_first();
        }
    }

    /// `GET`, then `PATCH` if the condition changes the status. Mirrors
    /// `podutil.UpdatePodCondition`.
    pub(super) fn patch_pod_status(
        &mut self,
        key: &PodKey,
        mut condition: PodCondition,
    ) -> RequestResult {
        let Some(stored) = self.cluster.get_pod(key) else {
            let (pod, uid, verb) = (key.clone(), String::new(), RequestVerb::Get);
            let result = RequestResult::NotFound;
            self.emit(Happening::Request { pod, uid, verb, result });
            return result;
        };
        if self.config.release.sets_observed_generation() {
            let generation = stored.metadata.other.get("generation");
            condition.observed_generation = generation.and_then(serde_json::Value::as_i64);
        }
        let now = self.wall_clock(self.now).truncated_to_seconds();
        condition.last_transition_time = Some(now);
        let mut pod = Pod::clone(stored);
        let conditions = &mut pod.status.conditions;
        match conditions.iter_mut().find(|known| known.type_ == condition.type_) {
            Some(known) => {
                if known.status == condition.status {
                    condition.last_transition_time = known.last_transition_time;
                }
                if *known == condition {
                    return RequestResult::Ok;
                }
                *known = condition;
            }
            None => conditions.push(condition),
        }
        let refused = self.take_fault(key, PodWrite::PatchStatus);
        let result = refused.map_or(RequestResult::Ok, RequestResult::Error);
        let uid = pod.metadata.uid.clone();
        let verb = RequestVerb::PatchStatus;
        self.emit(Happening::Request { pod: key.clone(), uid, verb, result });
        if refused.is_none() {
            self.store_pod(key, pod);
        }
        result
    }

    pub(super) fn take_fault(
        &mut self,
        key: &PodKey,
        verb: PodWrite,
    ) -> Option<crate::command::ApiErrorKind> {
        if self.faults.is_empty() {
            return None;
        }
        let entry = (key.clone(), verb);
        let Fault { times, error } = self.faults.get_mut(&entry)?;
        *times = times.saturating_sub(1);
        let error = *error;
        if *times == 0 {
            self.faults.remove(&entry);
        }
        Some(error)
    }

    /// How long a delete leaves a pod.
    pub(super) fn grace_period_of(&self, pod: &Pod) -> Duration {
        Duration::from_secs(u64::try_from(self.grace_period_seconds(pod)).unwrap_or(0))
    }

    /// How long a graceful delete of this pod takes. A pod that no kubelet runs goes at once.
    /// Mirrors `podStrategy.CheckGracefulDelete`.
    fn grace_period_seconds(&self, pod: &Pod) -> i64 {
        let ended = matches!(pod.status.phase, PodPhase::Succeeded | PodPhase::Failed);
        if !self.config.stand_in_api_server && (pod.spec.node_name.is_empty() || ended) {
            return 0;
        }
        match pod.spec.termination_grace_period_seconds {
            None => DEFAULT_TERMINATION_GRACE_PERIOD_SECONDS,
            Some(seconds) if seconds < 0 => 1,
            Some(seconds) => seconds,
        }
    }
}
