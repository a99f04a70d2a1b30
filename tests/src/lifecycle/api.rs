//! The API server of a scenario, and what its informers have told.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use taintlab_core::api::{
    ConditionStatus, Node, NodeCondition, NodeName, OwnerReference, Pod, PodCondition, PodKey,
};
use taintlab_core::cluster::Cluster;
use taintlab_core::command::ApiErrorKind;
use taintlab_core::event::RequestResult;
use taintlab_core::time::Time;

use super::START;
use super::input::{InputNode, InputPod, Post};

/// A kind of write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// The status of a node.
    NodeStatus,
    /// The taints of a node.
    NodeTaints,
    /// The labels of a node.
    NodeLabels,
    /// The status of a pod.
    PodStatus,
    /// The deletion of a pod.
    PodDelete,
}

/// Writes that are refused.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The node, or `namespace/name` of the pod.
    pub object: String,
    /// Which kind.
    pub write: Write,
    /// How often.
    pub times: usize,
    /// With what.
    pub error: ApiErrorKind,
}

#[derive(Clone, Default)]
pub(super) struct Api {
    pub(super) store: Cluster,
    pub(super) informer: Cluster,
    pub(super) faults: Vec<Fault>,
    leases: BTreeMap<NodeName, Time>,
    pub(super) informer_leases: BTreeMap<NodeName, Time>,
    graces: BTreeMap<PodKey, i64>,
}

pub(super) fn time(second: i64) -> Time {
    Time::from_unix_seconds(START.unix_seconds() + second)
}

/// An object before and after.
type Change<T> = (Option<Arc<T>>, Option<Arc<T>>);

impl Api {
    /// What a node does at this second.
    pub(super) fn input(&mut self, node: &InputNode, second: i64) {
        let name: NodeName = node.name.as_str().into();
        if node.join == second {
            self.store.put_node(Arc::new(new_node(node)));
            if let Some(renewed) = node.initial_lease {
                self.leases.insert(name.clone(), time(renewed));
            }
        }
        if node.leave == second {
            self.store.remove_node(&node.name);
            self.leases.remove(name.as_str());
        }
        let Some(stored) = self.store.get_node(&node.name) else { return };
        let stored = stored.clone();
        for post in node.posts.iter().filter(|post| repeats(post, second)) {
            let mut stored = Node::clone(&stored);
            for (type_, status) in [
                ("MemoryPressure", &post.memory),
                ("DiskPressure", &post.disk),
                ("PIDPressure", &post.pid),
                ("Ready", &post.ready),
            ] {
                set_condition(&mut stored, type_, status.as_str().into(), second);
            }
            self.store.put_node(Arc::new(stored));
        }
        if node.leases.iter().any(|repeat| repeat.has(second)) {
            self.leases.insert(name, time(second));
        }
    }

    pub(super) fn create_pod(&mut self, pod: &InputPod) {
        let mut new = Pod::default();
        new.metadata.namespace.clone_from(&pod.namespace);
        new.metadata.name.clone_from(&pod.name);
        new.spec.node_name.clone_from(&pod.node);
        new.spec.tolerations.clone_from(&pod.tolerations);
        let status = if pod.ready { ConditionStatus::True } else { ConditionStatus::False };
        let ready = PodCondition { type_: "Ready".into(), status, ..PodCondition::default() };
        new.status.conditions.push(ready);
        if pod.daemonset {
            let owner = OwnerReference { kind: "DaemonSet".into(), ..OwnerReference::default() };
            new.metadata.owner_references.push(owner);
        }
        let key = new.key();
        self.graces.insert(key.clone(), pod.grace);
        self.store.put_pod(&key, Arc::new(new));
    }

    fn fault(&mut self, object: &str, write: Write) -> Option<RequestResult> {
        let fault = self
            .faults
            .iter_mut()
            .find(|fault| fault.object == object && fault.write == write && fault.times > 0)?;
        fault.times -= 1;
        Some(RequestResult::Error(fault.error))
    }

    pub(super) fn change_node(
        &mut self,
        name: &NodeName,
        write: Write,
        change: impl FnOnce(&mut Node) -> bool,
    ) -> RequestResult {
        let Some(stored) = self.store.get_node(name.as_str()).cloned() else {
            return RequestResult::NotFound;
        };
        if let Some(error) = self.fault(name.as_str(), write) {
            return error;
        }
        let mut node = Node::clone(&stored);
        if change(&mut node) {
            self.store.put_node(Arc::new(node));
        }
        RequestResult::Ok
    }

    pub(super) fn change_pod(
        &mut self,
        key: &PodKey,
        write: Write,
        change: impl FnOnce(&mut Pod) -> bool,
    ) -> RequestResult {
        let Some(stored) = self.store.get_pod(key).cloned() else {
            return RequestResult::NotFound;
        };
        if let Some(error) = self.fault(key.as_str(), write) {
            return error;
        }
        let mut pod = Pod::clone(&stored);
        if change(&mut pod) {
            self.store.put_pod(key, Arc::new(pod));
        }
        RequestResult::Ok
    }

    pub(super) fn delete_pod(&mut self, key: &PodKey) -> RequestResult {
        let Some(stored) = self.store.get_pod(key).cloned() else {
            return RequestResult::NotFound;
        };
        if let Some(error) = self.fault(key.as_str(), Write::PodDelete) {
            return error;
        }
        if stored.is_terminating() {
            return RequestResult::AlreadyTerminating;
        }
        if self.graces.get(key).is_none_or(|grace| *grace == 0) {
            self.store.remove_pod(key);
        } else {
            let mut pod = Pod::clone(&stored);
            pod.metadata.deletion_timestamp = Some(START.saturating_add(Duration::MAX));
            pod.metadata.deletion_grace_period_seconds = Some(30);
            self.store.put_pod(key, Arc::new(pod));
        }
        RequestResult::Ok
    }

    pub(super) fn leases_to_tell(&mut self) -> Vec<(NodeName, Time)> {
        let told = &self.informer_leases;
        let changed = self.leases.iter().filter(|(name, time)| told.get(*name) != Some(*time));
        let changed: Vec<_> = changed.map(|(name, time)| (name.clone(), *time)).collect();
        self.informer_leases.clone_from(&self.leases);
        changed
    }

    pub(super) fn nodes_to_tell(&mut self) -> Vec<Change<Node>> {
        let mut changes = Vec::new();
        for (name, new) in self.store.nodes() {
            let old = self.informer.get_node(name.as_str());
            if old.is_none_or(|old| old != new) {
                changes.push((old.cloned(), Some(new.clone())));
            }
        }
        for (name, old) in self.informer.nodes() {
            if self.store.get_node(name.as_str()).is_none() {
                changes.push((Some(old.clone()), None));
            }
        }
        let name = |change: &Change<Node>| {
            let node = change.1.as_ref().or(change.0.as_ref());
            node.map(|node| node.metadata.name.clone())
        };
        changes.sort_by_key(name);
        for (old, new) in &changes {
            match (old, new) {
                (_, Some(new)) => drop(self.informer.put_node(new.clone())),
                (Some(old), None) => drop(self.informer.remove_node(&old.metadata.name)),
                (None, None) => {}
            }
        }
        changes
    }

    pub(super) fn pods_to_tell(&mut self) -> Vec<(PodKey, Change<Pod>)> {
        let mut changes = Vec::new();
        for (key, new) in self.store.pods() {
            let old = self.informer.get_pod(key);
            if old.is_none_or(|old| !Arc::ptr_eq(old, new)) {
                changes.push((key.clone(), (old.cloned(), Some(new.clone()))));
            }
        }
        for (key, old) in self.informer.pods() {
            if self.store.get_pod(key).is_none() {
                changes.push((key.clone(), (Some(old.clone()), None)));
            }
        }
        for (key, (_, new)) in &changes {
            match new {
                Some(new) => drop(self.informer.put_pod(key, new.clone())),
                None => drop(self.informer.remove_pod(key)),
            }
        }
        changes
    }
}

const fn repeats(post: &Post, second: i64) -> bool {
    super::input::Repeat { t: post.t, step: post.step, n: post.n }.has(second)
}

fn new_node(input: &InputNode) -> Node {
    let mut node = Node::default();
    node.metadata.name.clone_from(&input.name);
    node.metadata.labels.clone_from(&input.labels);
    node.metadata.creation_timestamp = Some(time(input.created));
    node.spec.unschedulable = input.unschedulable;
    node.spec.taints.clone_from(&input.taints);
    node.status.conditions = input
        .conditions
        .iter()
        .map(|condition| NodeCondition {
            type_: condition.type_.clone(),
            status: condition.status.as_str().into(),
            last_heartbeat_time: Some(time(condition.last_heartbeat)),
            last_transition_time: Some(time(condition.last_transition)),
            ..NodeCondition::default()
        })
        .collect();
    node
}

fn set_condition(node: &mut Node, type_: &str, status: ConditionStatus, second: i64) {
    let now = Some(time(second));
    let conditions = &mut node.status.conditions;
    match conditions.iter_mut().find(|condition| condition.type_ == type_) {
        Some(condition) => {
            condition.last_heartbeat_time = now;
            if condition.status != status {
                condition.status = status;
                condition.last_transition_time = now;
            }
            condition.reason.clear();
            condition.message.clear();
        }
        None => conditions.push(NodeCondition {
            type_: type_.into(),
            status,
            last_heartbeat_time: now,
            last_transition_time: now,
            ..NodeCondition::default()
        }),
    }
}
