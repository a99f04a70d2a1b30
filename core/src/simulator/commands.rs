//! What each command does.

use alloc::format;
use alloc::vec::Vec;

use super::{Fault, Simulator};
use crate::api::{Node, NodeName, Pod, PodKey};
use crate::command::{Command, CommandError};
use crate::validation::{
    FieldError, ValidationOptions, validate_node, validate_pod, validate_pod_update,
};

impl Simulator {
    pub(super) fn apply(&mut self, command: Command) -> Result<(), CommandError> {
        if command.needs_node_lifecycle() {
            return self.apply_fault(command);
        }
        if command.needs_control_plane() {
            return self.apply_control(command);
        }
        match command {
            Command::CreateNode(node) => self.create_node(node, true).map(|_| ()),
            Command::UpdateNode(node) => self.update_node(node),
            Command::DeleteNode { node } => {
                self.node(&node)?;
                self.remove_node(node.as_str());
                Ok(())
            }
            Command::SetTaints { node, taints } => {
                self.change_node(&node, |node| node.spec.taints = taints)
            }
            Command::Taint { node, taint } => self.change_node(&node, |node| {
                node.spec.taints.retain(|old| !old.matches(&taint));
                node.spec.taints.insert(0, taint);
            }),
            Command::Untaint { node, key, effect } => {
                let goes = |taint: &crate::api::Taint| {
                    taint.key == key && (effect.is_empty() || taint.effect == effect)
                };
                if !self.node(&node)?.spec.taints.iter().any(goes) {
                    let taint = if effect.is_empty() { key } else { format!("{key}:{effect}") };
                    return Err(CommandError::TaintNotFound { node, taint });
                }
                self.change_node(&node, |node| node.spec.taints.retain(|taint| !goes(taint)))
            }
            Command::SetUnschedulable { node, unschedulable } => {
                self.change_node(&node, |node| node.spec.unschedulable = unschedulable)
            }
            Command::SetNodeLabels { node, labels } => {
                self.change_node(&node, |node| node.metadata.labels = labels)
            }
            Command::CreatePod(pod) => self.create_pod(pod),
            Command::UpdatePod(pod) => self.update_pod(pod),
            Command::DeletePod { pod, force, grace_period_seconds } => {
                self.user_deletes_pod(&pod, force, grace_period_seconds)
            }
            Command::SetTolerations { pod, tolerations } => {
                self.change_pod(&pod, |pod| pod.spec.tolerations = tolerations)
            }
            Command::SetPodLabels { pod, labels } => {
                self.change_pod(&pod, |pod| pod.metadata.labels = labels)
            }
            Command::BindPod { pod, node } => self.bind_pod(pod, &node),
            Command::FailPodWrites { pod, verb, times, error } => {
                self.pod(&pod)?;
                self.faults.remove(&(pod.clone(), verb));
                if times > 0 {
                    self.faults.insert((pod, verb), Fault { times, error });
                }
                Ok(())
            }
            Command::Drain { nodes, options } => self.start_drain(nodes, options),
            Command::CancelDrain { drain } => self.cancel_drain(drain),
            Command::RestartTaintEvictionController => {
                if self.evicts_by_taints {
                    self.restart_taint_eviction();
                }
                Ok(())
            }
            _ => Err(CommandError::NoNodeLifecycle),
        }
    }

    pub(super) fn node(&self, name: &NodeName) -> Result<&Node, CommandError> {
        let node = self.cluster.get_node(name.as_str());
        node.map(AsRef::as_ref).ok_or_else(|| CommandError::NodeNotFound(name.clone()))
    }

    pub(super) fn pod(&self, key: &PodKey) -> Result<&Pod, CommandError> {
        let pod = self.cluster.get_pod(key);
        pod.map(AsRef::as_ref).ok_or_else(|| CommandError::PodNotFound(key.clone()))
    }

    /// Creates a node; its kubelet runs if it is told so and nobody knows it yet.
    pub(super) fn create_node(
        &mut self,
        mut node: Node,
        kubelet_runs: bool,
    ) -> Result<NodeName, CommandError> {
        self.check_node(&node)?;
        let name: NodeName = node.metadata.name.as_str().into();
        if self.cluster.get_node(name.as_str()).is_some() {
            return Err(CommandError::NodeAlreadyExists(name));
        }
        self.admit_new_node(&mut node).map_err(|reason| CommandError::NotAdmitted {
            object: format!("nodes \"{name}\""),
            reason,
        })?;
        self.fill_in(&mut node.metadata);
        self.store_node(node);
        if self.config.node_lifecycle {
            self.register_kubelet(&name, kubelet_runs);
        }
        Ok(name)
    }

    fn update_node(&mut self, mut node: Node) -> Result<(), CommandError> {
        self.check_node(&node)?;
        let old = self.node(&node.metadata.name.as_str().into())?;
        keep_identity(&mut node.metadata, &old.metadata);
        self.store_node(node);
        Ok(())
    }

    fn change_node(
        &mut self,
        name: &NodeName,
        change: impl FnOnce(&mut Node),
    ) -> Result<(), CommandError> {
        let mut node = self.node(name)?.clone();
        change(&mut node);
        self.check_node(&node)?;
        self.store_node(node);
        Ok(())
    }

    fn create_pod(&mut self, mut pod: Pod) -> Result<(), CommandError> {
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
        self.store_new_pod(&key, pod, additions);
        self.assume_owner_of(&key);
        Ok(())
    }

    fn update_pod(&mut self, mut pod: Pod) -> Result<(), CommandError> {
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
        self.store_pod(&key, pod);
        Ok(())
    }

    fn change_pod(
        &mut self,
        key: &PodKey,
        change: impl FnOnce(&mut Pod),
    ) -> Result<(), CommandError> {
        let old = self.pod(key)?;
        let mut pod = old.clone();
        change(&mut pod);
        let check = |options: &ValidationOptions| validate_pod_update(&pod, old, options);
        self.check(check, || format!("Pod \"{}\"", key.name()))?;
        self.store_pod(key, pod);
        Ok(())
    }

    fn bind_pod(&mut self, key: PodKey, node: &NodeName) -> Result<(), CommandError> {
        let old = self.pod(&key)?;
        if !old.spec.node_name.is_empty() {
            let node = old.spec.node_name.as_str().into();
            return Err(CommandError::PodAlreadyBound { pod: key, node });
        }
        let mut pod = old.clone();
        pod.spec.node_name = node.as_str().into();
        self.store_pod(&key, pod);
        Ok(())
    }

    fn user_deletes_pod(
        &mut self,
        key: &PodKey,
        force: bool,
        grace: Option<u32>,
    ) -> Result<(), CommandError> {
        self.pod(key)?;
        if force {
            self.remove_pod(key);
        } else {
            self.delete_gracefully(key, grace.map(i64::from));
        }
        Ok(())
    }

    fn check_node(&self, node: &Node) -> Result<(), CommandError> {
        let name = &node.metadata.name;
        self.check(|options| validate_node(node, options), || format!("Node \"{name}\""))
    }

    pub(super) fn check(
        &self,
        validate: impl FnOnce(&ValidationOptions) -> Vec<FieldError>,
        object: impl FnOnce() -> alloc::string::String,
    ) -> Result<(), CommandError> {
        if self.config.stand_in_api_server {
            return Ok(());
        }
        let errors = validate(&self.validation_options());
        if errors.is_empty() {
            return Ok(());
        }
        Err(CommandError::Invalid { object: object(), errors })
    }
}

/// An update without a UID or creation time means the object that is there.
pub(super) fn keep_identity(new: &mut crate::api::ObjectMeta, old: &crate::api::ObjectMeta) {
    if new.uid.is_empty() {
        new.uid.clone_from(&old.uid);
    }
    if new.creation_timestamp.is_none() {
        new.creation_timestamp = old.creation_timestamp;
    }
}
