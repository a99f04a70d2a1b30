//! Accepted writes: what they do to the store, and what watchers see.

use alloc::boxed::Box;
use alloc::sync::Arc;

use taintlab_rules::api::{
    DeviceKind, DeviceObject, Node, NodeName, Pod, PodDisruptionBudget, PodKey, Workload,
    WorkloadKey,
};
use taintlab_rules::cluster::Change;

use super::ApiServer;
use super::volumes::VolumeWrite;
use crate::event::EventKind;
use crate::kubelet::Termination;

/// A write that was accepted and is to be made.
#[derive(Clone, Debug)]
pub(crate) enum Write {
    /// Creates or replaces a node.
    PutNode(Box<Node>),
    /// Removes a node.
    RemoveNode(NodeName),
    /// Creates or replaces a pod.
    PutPod(PodKey, Box<Pod>),
    /// Marks a pod as deleted: its grace period begins.
    Terminate(Termination, Box<Pod>),
    /// Removes a pod.
    RemovePod(PodKey),
    /// Creates or replaces a workload.
    PutWorkload(Box<Workload>),
    /// Replaces a workload of which only the status or an annotation is new, which is no event.
    PutWorkloadStatus(Box<Workload>),
    /// Creates a workload that nobody gave, in place of one that pods refer to.
    InferOwner(Box<Workload>),
    /// Removes a workload.
    RemoveWorkload(WorkloadKey),
    /// Creates or replaces a budget.
    PutBudget(Box<PodDisruptionBudget>),
    /// Replaces a budget of which only the status is new, which is no event.
    PutBudgetStatus(Box<PodDisruptionBudget>),
    /// Removes a budget.
    RemoveBudget(PodKey),
    /// Writes storage.
    Volume(VolumeWrite),
    /// Creates or replaces an object of `resource.k8s.io`.
    PutDeviceObject(Box<DeviceObject>),
    /// Removes such an object.
    RemoveDeviceObject(DeviceKind, PodKey),
}

impl ApiServer {
    /// Makes a write; gives what watchers see, `None` if nothing has changed.
    pub(crate) fn store(&mut self, write: Write) -> Option<Change> {
        match write {
            Write::PutNode(node) => self.put_node(*node),
            Write::RemoveNode(name) => {
                let old = self.cluster.remove_node(name.as_str())?;
                self.emit(EventKind::NodeDeleted { node: name.clone() });
                self.node_faults.retain(|(node, _), _| *node != name);
                Some(Change::Node { name, old: Some(old), new: None })
            }
            Write::PutPod(key, pod) => self.put_pod(key, *pod),
            Write::Terminate(termination, pod) => self.put_pod(termination.pod, *pod),
            Write::RemovePod(key) => {
                let old = self.cluster.remove_pod(&key)?;
                self.forget_faults(&key);
                let uid = old.metadata.uid.clone();
                self.emit(EventKind::PodDeleted { pod: key.clone(), uid });
                Some(Change::Pod { key, old: Some(old), new: None })
            }
            Write::PutWorkload(workload) => self.put_workload(*workload),
            Write::PutWorkloadStatus(workload) => {
                let (key, new) = (workload.key(), Arc::new(*workload));
                let old = self.cluster.put_workload(new.clone());
                // First what most likely differs: all else is long.
                let same = |old: &Arc<Workload>| old.status == new.status && *old == new;
                let changed = !old.as_ref().is_some_and(same);
                changed.then_some(Change::Workload { key, old, new: Some(new) })
            }
            Write::InferOwner(workload) => {
                let (key, new) = (workload.key(), Arc::new(*workload));
                let desired = new.replicas();
                self.cluster.put_workload(new.clone());
                self.emit(EventKind::OwnerInferred { workload: key.clone(), desired });
                Some(Change::Workload { key, old: None, new: Some(new) })
            }
            Write::RemoveWorkload(key) => {
                let old = self.cluster.remove_workload(&key)?;
                self.emit(EventKind::WorkloadDeleted { workload: key.clone() });
                Some(Change::Workload { key, old: Some(old), new: None })
            }
            Write::PutBudget(budget) => {
                let (key, new) = (budget.key(), Arc::new(*budget));
                let old = self.cluster.put_budget(new.clone());
                self.emit(EventKind::BudgetChanged { budget: key.clone(), deleted: false });
                Some(Change::Budget { key, old, new: Some(new) })
            }
            Write::PutBudgetStatus(budget) => {
                let (key, new) = (budget.key(), Arc::new(*budget));
                let old = self.cluster.put_budget(new.clone());
                let changed = old.as_ref() != Some(&new);
                changed.then_some(Change::Budget { key, old, new: Some(new) })
            }
            Write::RemoveBudget(key) => {
                let old = self.cluster.remove_budget(&key)?;
                self.emit(EventKind::BudgetChanged { budget: key.clone(), deleted: true });
                Some(Change::Budget { key, old: Some(old), new: None })
            }
            Write::Volume(write) => self.store_volume(write),
            Write::PutDeviceObject(object) => {
                // Unreadable objects were refused before.
                let change = self.cluster.devices_mut().put(Arc::from(object)).ok()?;
                Some(Change::Device(change))
            }
            Write::RemoveDeviceObject(kind, key) => {
                Some(Change::Device(self.cluster.devices_mut().remove(&kind, &key)?))
            }
        }
    }

    fn put_node(&mut self, node: Node) -> Option<Change> {
        let new = Arc::new(node);
        let old = self.cluster.put_node(new.clone());
        let name: NodeName = new.metadata.name.as_str().into();
        match &old {
            None => self.emit(EventKind::NodeAdded { node: name.clone() }),
            Some(old) if *old == new => return None,
            Some(_) => self.emit(EventKind::NodeUpdated { node: name.clone() }),
        }
        self.emit_condition_changes(old.as_deref(), &new);
        Some(Change::Node { name, old, new: Some(new) })
    }

    fn put_pod(&mut self, key: PodKey, pod: Pod) -> Option<Change> {
        let new = Arc::new(pod);
        let old = self.cluster.put_pod(&key, new.clone());
        let (pod, uid) = (key.clone(), new.metadata.uid.clone());
        match &old {
            None => self.emit(EventKind::PodAdded { pod, uid }),
            // First what most likely differs: all else is long.
            Some(old) if old.status == new.status && *old == new => return None,
            Some(_) => self.emit(EventKind::PodUpdated { pod, uid }),
        }
        Some(Change::Pod { key, old, new: Some(new) })
    }

    fn put_workload(&mut self, workload: Workload) -> Option<Change> {
        let (key, new) = (workload.key(), Arc::new(workload));
        let old = self.cluster.put_workload(new.clone());
        match &old {
            None => self.emit(EventKind::WorkloadAdded { workload: key.clone() }),
            Some(old) if *old == new => return None,
            Some(_) => self.emit(EventKind::WorkloadUpdated { workload: key.clone() }),
        }
        Some(Change::Workload { key, old, new: Some(new) })
    }
}
