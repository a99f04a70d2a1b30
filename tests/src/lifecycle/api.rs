//! The API server of a scenario, and what its informers have told.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
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
    informer_leases: BTreeMap<NodeName, Time>,
    graces: BTreeMap<PodKey, i64>,
    written_nodes: BTreeSet<NodeName>,
    written_leases: BTreeSet<NodeName>,
    written_pods: BTreeSet<PodKey>,
}

pub(super) fn time(second: i64) -> Time {
    Time::from_unix_seconds(START.unix_seconds() + second)
}

/// An object before and after.
type Change<T> = (Option<Arc<T>>, Option<Arc<T>>);

impl Api {
    /// Nothing has been told yet.
    pub(super) fn forget(&mut self) {
        self.informer = Cluster::default();
        self.informer_leases.clear();
        self.written_nodes.extend(self.store.nodes().map(|(name, _)| name.clone()));
        self.written_leases.extend(self.leases.keys().cloned());
        self.written_pods.extend(self.store.pods().map(|(key, _)| key.clone()));
    }

    fn put_node(&mut self, node: Node) {
        self.written_nodes.insert(node.metadata.name.as_str().into());
        self.store.put_node(Arc::new(node));
    }

    fn put_pod(&mut self, key: &PodKey, pod: Pod) {
        self.written_pods.insert(key.clone());
        self.store.put_pod(key, Arc::new(pod));
    }

    fn renew(&mut self, node: &NodeName, at: Time) {
        self.written_leases.insert(node.clone());
        self.leases.insert(node.clone(), at);
    }

    /// What a node does at this second.
    pub(super) fn input(&mut self, node: &InputNode, second: i64) {
        let name: NodeName = node.name.as_str().into();
        if node.join == second {
            self.put_node(new_node(node));
            if let Some(renewed) = node.initial_lease {
                self.renew(&name, time(renewed));
            }
        }
        if node.leave == second {
            self.store.remove_node(&node.name);
            self.leases.remove(name.as_str());
            self.written_nodes.insert(name.clone());
            self.written_leases.insert(name.clone());
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
            self.put_node(stored);
        }
        if node.leases.iter().any(|repeat| repeat.has(second)) {
            self.renew(&name, time(second));
        }
    }

    pub(super) fn create_pod(&mut self, pod: &InputPod) {
        let mut new = Pod::default();
        new.metadata.namespace.clone_from(&pod.namespace);
        new.metadata.name.clone_from(&pod.name);
        new.spec.node_name.clone_from(&pod.node);
        new.spec.tolerations = pod.tolerations.clone().into();
        let status = if pod.ready { ConditionStatus::True } else { ConditionStatus::False };
        let ready = PodCondition { type_: "Ready".into(), status, ..PodCondition::default() };
        new.status.conditions.push(ready);
        if pod.daemonset {
            let owner = OwnerReference { kind: "DaemonSet".into(), ..OwnerReference::default() };
            new.metadata.owner_references.push(owner);
        }
        let key = new.key();
        self.graces.insert(key.clone(), pod.grace);
        self.put_pod(&key, new);
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
            self.put_node(node);
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
            self.put_pod(key, pod);
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
            self.written_pods.insert(key.clone());
        } else {
            let mut pod = Pod::clone(&stored);
            pod.metadata.deletion_timestamp = Some(START.saturating_add(Duration::MAX));
            pod.metadata.deletion_grace_period_seconds = Some(30);
            self.put_pod(key, pod);
        }
        RequestResult::Ok
    }

    pub(super) fn leases_to_tell(&mut self) -> Vec<(NodeName, Time)> {
        let mut changes = Vec::new();
        for name in mem::take(&mut self.written_leases) {
            let Some(&time) = self.leases.get(name.as_str()) else {
                self.informer_leases.remove(name.as_str());
                continue;
            };
            if self.informer_leases.insert(name.clone(), time) != Some(time) {
                changes.push((name, time));
            }
        }
        changes
    }

    pub(super) fn nodes_to_tell(&mut self) -> Vec<Change<Node>> {
        let mut changes = Vec::new();
        for name in mem::take(&mut self.written_nodes) {
            let old = self.informer.get_node(name.as_str()).cloned();
            let new = self.store.get_node(name.as_str()).cloned();
            if old != new {
                match &new {
                    Some(new) => drop(self.informer.put_node(new.clone())),
                    None => drop(self.informer.remove_node(name.as_str())),
                }
                changes.push((old, new));
            }
        }
        changes
    }

    /// Those that are there before those that are gone.
    pub(super) fn pods_to_tell(&mut self) -> Vec<(PodKey, Change<Pod>)> {
        let (mut changes, mut gone) = (Vec::new(), Vec::new());
        for key in mem::take(&mut self.written_pods) {
            let old = self.informer.get_pod(&key).cloned();
            if let Some(new) = self.store.get_pod(&key).cloned() {
                self.informer.put_pod(&key, new.clone());
                changes.push((key, (old, Some(new))));
            } else if old.is_some() {
                self.informer.remove_pod(&key);
                gone.push((key, (old, None)));
            }
        }
        changes.append(&mut gone);
        changes
    }
}

const fn repeats(post: &Post, second: i64) -> bool {
    super::input::Repeat { t: post.t, step: post.step, n: post.n }.has(second)
}

fn new_node(input: &InputNode) -> Node {
    let mut node = Node::default();
    node.metadata.name.clone_from(&input.name);
    node.metadata.labels = input.labels.clone().into();
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
