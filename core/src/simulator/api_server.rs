//! The API server's side of a simulation: stores, graceful deletion, refused writes.

use alloc::string::String;
use alloc::sync::Arc;
use core::time::Duration;

use super::{Simulator, Terminating};
use crate::api::{Node, NodeName, Pod, PodCondition, PodKey};
use crate::cluster::Change;
use crate::command::PodWrite;
use crate::controllers::Controller;
use crate::event::{EventKind, RequestResult, RequestVerb};

impl Simulator {
    pub(super) fn store_node(&mut self, node: Node) {
        let new = Arc::new(node);
        let old = self.api.cluster.put_node(new.clone());
        let node = new.metadata.name.as_str().into();
        match &old {
            None => self.api.emit(EventKind::NodeAdded { node }),
            Some(old) if *old == new => return,
            Some(_) => self.api.emit(EventKind::NodeUpdated { node }),
        }
        self.api.emit_condition_changes(old.as_deref(), &new);
        self.notify_node(&Change::Node {
            name: new.metadata.name.as_str().into(),
            old,
            new: Some(new.clone()),
        });
        if self.api.config.node_lifecycle {
            let name: NodeName = new.metadata.name.as_str().into();
            self.update_kubelet(&name);
            self.update_status(&name);
        }
    }

    pub(super) fn remove_node(&mut self, name: &str) {
        if let Some(old) = self.api.cluster.remove_node(name) {
            let name: NodeName = name.into();
            self.api.emit(EventKind::NodeDeleted { node: name.clone() });
            self.notify_node(&Change::Node { name: name.clone(), old: Some(old), new: None });
            self.api.node_faults.retain(|(node, _), _| *node != name);
            self.forget_post(&name);
            self.notify_heartbeats(&name);
        }
    }

    pub(super) fn store_pod(&mut self, key: &PodKey, pod: Pod) {
        let new = Arc::new(self.started(&pod).unwrap_or(pod));
        let old = self.api.cluster.put_pod(key, new.clone());
        let (pod, uid) = (key.clone(), new.metadata.uid.clone());
        match &old {
            None => self.api.emit(EventKind::PodAdded { pod, uid }),
            Some(old) if *old == new => return,
            Some(old) => {
                let another = old.metadata.uid != uid;
                self.api.emit(EventKind::PodUpdated { pod, uid });
                if another {
                    self.forget_ended_terminations();
                }
            }
        }
        let change = Change::Pod { key: key.clone(), old, new: Some(new) };
        self.call_drains(|drains, context| drains.handle_change(context, &change));
        self.notify_pod(&change);
    }

    pub(super) fn remove_pod(&mut self, key: &PodKey) {
        if let Some(old) = self.api.cluster.remove_pod(key) {
            self.eviction_records.record_gone(self.api.now, key);
            self.api.forget_faults(key);
            self.forget_ended_terminations();
            self.api
                .emit(EventKind::PodDeleted { pod: key.clone(), uid: old.metadata.uid.clone() });
            let change = Change::Pod { key: key.clone(), old: Some(old), new: None };
            self.notify_pod(&change);
            self.call_drains(|drains, context| drains.handle_change(context, &change));
        }
    }

    /// `DELETE` by a controller or a user, with the pod's own grace period.
    pub(super) fn delete_pod(&mut self, key: &PodKey) -> RequestResult {
        let Some(pod) = self.api.cluster.get_pod(key) else { return RequestResult::NotFound };
        let terminating = pod.is_terminating();
        if let Some(error) = self.api.take_fault(key, PodWrite::Delete) {
            return RequestResult::Error(error);
        }
        if terminating { RequestResult::AlreadyTerminating } else { RequestResult::Ok }
    }

    /// What an accepted `DELETE` does to the object.
    pub(super) fn delete_accepted(&mut self, key: &PodKey, result: RequestResult) {
        if result == RequestResult::Ok {
            self.delete_gracefully(key, None);
        }
    }

    /// `DELETE` with a grace period, or with the pod's own. A pod that is terminating keeps the
    /// time it has, unless it is to have less. Mirrors `rest.BeforeDelete`.
    pub(super) fn delete_gracefully(&mut self, key: &PodKey, asked: Option<i64>) {
        let Some(pod) = self.api.cluster.get_pod(key) else { return };
        let own = self.api.grace_period_seconds(pod);
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
        let Some(pod) = self.api.cluster.get_pod(key) else { return };
        let grace = Duration::from_secs(grace);
        let mut pod = Pod::clone(pod);
        let ends = self.api.now.saturating_add(grace);
        let wall_clock = self.wall_clock(ends).truncated_to_seconds();
        pod.metadata.deletion_timestamp = Some(wall_clock);
        pod.metadata.deletion_grace_period_seconds = Some(seconds);
        self.await_termination(ends, key.clone(), pod.metadata.uid.clone(), grace);
        self.store_pod(key, pod);
    }

    /// Pods that were terminating when the simulation began: how much of their time is left is
    /// told by `deletionTimestamp`.
    pub(super) fn resume_terminations(&mut self) {
        let start = self.api.config.start.unix_seconds();
        let found: alloc::vec::Vec<_> = self
            .api
            .cluster
            .pods()
            .filter_map(|(key, pod)| {
                let left = pod.metadata.deletion_timestamp?.unix_seconds().saturating_sub(start);
                let grace = Duration::from_secs(u64::try_from(left).unwrap_or(0));
                Some((key.clone(), pod.metadata.uid.clone(), grace))
            })
            .collect();
        for (pod, uid, grace) in found {
            self.await_termination(self.api.now.saturating_add(grace), pod, uid, grace);
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
        let node = self.api.cluster.get_pod(&terminating.pod).map(|pod| pod.spec.node_name.clone());
        if node.is_some_and(|node| self.await_kubelet(&terminating, &node)) {
            return;
        }
        let sequence = self.next_sequence();
        self.terminating.insert((ends, sequence), terminating);
    }

    /// A terminating pod gets another grace period: what was awaited is no longer.
    fn forget_termination(&mut self, key: &PodKey) {
        if self.api.cluster.get_pod(key).is_some_and(|pod| pod.is_terminating()) {
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
        let pod = self.api.cluster.get_pod(&terminating.pod);
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
        condition: PodCondition,
    ) -> RequestResult {
        let Some(stored) = self.api.cluster.get_pod(key) else {
            let (pod, uid, verb) = (key.clone(), String::new(), RequestVerb::Get);
            let result = RequestResult::NotFound;
            self.api.emit(EventKind::Request { pod, uid, verb, result });
            return result;
        };
        let mut pod = Pod::clone(stored);
        if !self.api.update_pod_condition(&mut pod, condition) {
            return RequestResult::Ok;
        }
        let refused = self.api.take_fault(key, PodWrite::PatchStatus);
        let result = refused.map_or(RequestResult::Ok, RequestResult::Error);
        let uid = pod.metadata.uid.clone();
        let verb = RequestVerb::PatchStatus;
        self.api.emit(EventKind::Request { pod: key.clone(), uid, verb, result });
        if refused.is_none() {
            self.store_pod(key, pod);
        }
        result
    }
}
