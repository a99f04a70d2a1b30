//! Requests about nodes.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use taintlab_rules::api::{Node, NodeName, Taint, TaintEffect};
use taintlab_rules::protocol::{NodeWrite, RequestResult};

use super::{ApiServer, Write, keep_identity};
use crate::command::CommandError;
use crate::event::EventKind;

impl ApiServer {
    pub(crate) fn create_node(&mut self, mut node: Node) -> Result<Write, CommandError> {
        self.check_node(&node)?;
        let name: NodeName = node.metadata.name.as_str().into();
        if self.cluster.get_node(name.as_str()).is_some() {
            return Err(CommandError::NodeAlreadyExists(name));
        }
        self.admit_new_node(&mut node).map_err(|reason| CommandError::NotAdmitted {
            object: format!("nodes \"{name}\""),
            reason,
        })?;
        self.default_metadata(&mut node.metadata);
        Ok(Write::PutNode(Box::new(node)))
    }

    pub(crate) fn update_node(&self, mut node: Node) -> Result<Write, CommandError> {
        self.check_node(&node)?;
        let old = self.node(&node.metadata.name.as_str().into())?;
        keep_identity(&mut node.metadata, &old.metadata);
        Ok(Write::PutNode(Box::new(node)))
    }

    pub(crate) fn change_node(
        &self,
        name: &NodeName,
        change: impl FnOnce(&mut Node),
    ) -> Result<Write, CommandError> {
        let mut node = self.node(name)?.clone();
        change(&mut node);
        self.check_node(&node)?;
        Ok(Write::PutNode(Box::new(node)))
    }

    pub(crate) fn delete_node(&self, name: NodeName) -> Result<Write, CommandError> {
        self.node(&name)?;
        Ok(Write::RemoveNode(name))
    }

    pub(crate) fn taint(&self, node: &NodeName, taint: Taint) -> Result<Write, CommandError> {
        self.change_node(node, |node| {
            node.spec.taints.retain(|old| !old.matches(&taint));
            node.spec.taints.insert(0, taint);
        })
    }

    pub(crate) fn untaint(
        &self,
        node: NodeName,
        key: String,
        effect: &TaintEffect,
    ) -> Result<Write, CommandError> {
        let goes =
            |taint: &Taint| taint.key == key && (effect.is_empty() || taint.effect == *effect);
        if !self.node(&node)?.spec.taints.iter().any(goes) {
            let taint = if effect.is_empty() { key } else { format!("{key}:{effect}") };
            return Err(CommandError::TaintNotFound { node, taint });
        }
        self.change_node(&node, |node| node.spec.taints.retain(|taint| !goes(taint)))
    }

    /// A write of the node lifecycle controller: what came of it, and what is to be stored.
    pub(crate) fn patch_node(
        &mut self,
        name: &NodeName,
        write: NodeWrite,
        change: impl FnOnce(&mut Node),
    ) -> (RequestResult, Option<Write>) {
        let Some(old) = self.cluster.get_node(name.as_str()).cloned() else {
            return (RequestResult::NotFound, None);
        };
        if let Some(error) = self.take_node_fault(name, write) {
            self.emit(EventKind::NodeWriteRefused { node: name.clone(), write, error });
            return (RequestResult::Error(error), None);
        }
        let mut new = Node::clone(&old);
        change(&mut new);
        let differs = |taint: &&Taint, others: &[Taint]| !others.contains(taint);
        let (before, after) = (&old.spec.taints, &new.spec.taints);
        let added: Vec<Taint> = after.iter().filter(|t| differs(t, before)).cloned().collect();
        let removed: Vec<Taint> = before.iter().filter(|t| differs(t, after)).cloned().collect();
        if !added.is_empty() || !removed.is_empty() {
            self.emit(EventKind::NodeTaintsChanged { node: name.clone(), added, removed });
        }
        (RequestResult::Ok, Some(Write::PutNode(Box::new(new))))
    }
}
