//! Controllers that are driven alone: a cluster as informers show it, and what is asked for.

use std::sync::Arc;

use serde_json::{Value, json};
use taintlab_core::api::{Node, Pod, PodDisruptionBudget, PodKey, Workload};
use taintlab_core::cluster::{Change, Cluster};
use taintlab_core::controllers::workload::{WorkloadAction, WriteAnswer};
use taintlab_core::controllers::{Context, Controller, Machine};
use taintlab_core::event::{ObjectReference, RecordedEvent};
use taintlab_core::queue::timer_queue::Sequence;
use taintlab_core::time::{Time, Timestamp};

/// A cluster that changes only when it is told to, whatever controllers ask for, as the fake
/// clients did under which the cases were recorded.
pub(super) struct Driver {
    pub(super) cluster: Cluster,
    pub(super) now: Timestamp,
    start: Time,
    sequence: Sequence,
}

impl Driver {
    /// An empty cluster at the time of the recordings.
    pub(super) fn new() -> Self {
        Self::starting_at(Time::parse("2026-11-22T12:00:00Z").expect("a time"))
    }

    /// An empty cluster at another time.
    pub(super) fn starting_at(start: Time) -> Self {
        Self {
            cluster: Cluster::default(),
            now: Timestamp::ZERO,
            start,
            sequence: Sequence::default(),
        }
    }

    /// The time of day.
    pub(super) fn wall_clock(&self) -> Time {
        self.start.saturating_add(self.now.since_zero())
    }

    /// Calls a controller.
    pub(super) fn call<C: Controller, T>(
        &mut self,
        controller: &mut C,
        call: impl FnOnce(&mut C, &mut Context<'_>) -> T,
    ) -> T {
        let mut context = Context {
            now: self.now,
            start: self.start,
            cluster: &self.cluster,
            sequence: &mut self.sequence,
        };
        call(controller, &mut context)
    }

    pub(super) fn notify<C: Controller>(&mut self, controller: &mut C, change: &Change) {
        self.call(controller, |controller, context| controller.handle_change(context, change));
    }

    pub(super) fn put_nodes<C: Controller>(&mut self, controller: &mut C, nodes: Vec<Node>) {
        for node in nodes {
            let (name, new) = (node.metadata.name.as_str().into(), Arc::new(node));
            let old = self.cluster.put_node(new.clone());
            self.notify(controller, &Change::Node { name, old, new: Some(new) });
        }
    }

    pub(super) fn put_pods<C: Controller>(&mut self, controller: &mut C, pods: Vec<Pod>) {
        for pod in pods {
            let (key, new) = (pod.key(), Arc::new(pod));
            let old = self.cluster.put_pod(&key, new.clone());
            self.notify(controller, &Change::Pod { key, old, new: Some(new) });
        }
    }

    pub(super) fn put_workload<C: Controller>(
        &mut self,
        controller: &mut C,
        workload: Arc<Workload>,
    ) {
        let old = self.cluster.put_workload(workload.clone());
        let change = Change::Workload { key: workload.key(), old, new: Some(workload) };
        self.notify(controller, &change);
    }

    pub(super) fn put_budget<C: Controller>(
        &mut self,
        controller: &mut C,
        budget: PodDisruptionBudget,
    ) {
        let (key, new) = (budget.key(), Arc::new(budget));
        let old = self.cluster.put_budget(new.clone());
        self.notify(controller, &Change::Budget { key, old, new: Some(new) });
    }

    pub(super) fn remove_pod<C: Controller>(&mut self, controller: &mut C, key: &PodKey) {
        let old = self.cluster.remove_pod(key);
        self.notify(controller, &Change::Pod { key: key.clone(), old, new: None });
    }

    /// What the sync of the one workload that has changed asks for. Every request succeeds, and
    /// none of them is seen by the controller.
    pub(super) fn sync_workload<C>(&mut self, controller: &mut C) -> Vec<WorkloadAction>
    where
        C: Controller<Action = WorkloadAction, Answer = WriteAnswer>,
    {
        let mut actions = Vec::new();
        self.call(controller, Machine::handle_timeout);
        while let Some(action) = self.call(controller, Controller::poll_action) {
            if let WorkloadAction::CreatePod { id, .. } | WorkloadAction::DeletePod { id, .. } =
                &action
            {
                self.call(controller, |controller, context| {
                    controller.handle_action_result(context, *id, WriteAnswer::Done);
                });
            }
            actions.push(action);
        }
        actions
    }

    /// The patch by which a pod gets a controller.
    pub(super) fn adopt_patch(&self, pod: &PodKey, owner: &Workload) -> Value {
        self.patch(pod, json!(owner.owner_reference()))
    }

    /// The patch by which a pod loses its controller.
    pub(super) fn release_patch(&self, pod: &PodKey, owner: &Workload) -> Value {
        self.patch(pod, json!({ "$patch": "delete", "uid": owner.metadata.uid }))
    }

    fn patch(&self, pod: &PodKey, owner: Value) -> Value {
        let uid = self.cluster.get_pod(pod).map(|pod| pod.metadata.uid.clone());
        let metadata = json!({ "ownerReferences": [owner], "uid": uid });
        json!({ "target": format!("pods/{}", pod.name()), "body": { "metadata": metadata } })
    }
}

/// An event as the cases write it: `Normal NoPods PodDisruptionBudget/a No matching pods found`.
pub(super) fn describe_event(event: &RecordedEvent) -> String {
    let object = match &event.involved_object {
        ObjectReference::Pod { pod, .. } => format!("Pod/{}", pod.name()),
        ObjectReference::Node { node } => format!("Node/{node}"),
        ObjectReference::Budget { budget } => format!("PodDisruptionBudget/{}", budget.name()),
        ObjectReference::Workload { workload } => {
            format!("{}/{}", workload.kind, workload.name.name())
        }
    };
    format!("{} {} {object} {}", event.type_, event.reason, event.message)
}

/// Each value once, sorted.
pub(super) fn unique(mut values: Vec<Value>) -> Vec<Value> {
    values.sort_by_key(Value::to_string);
    values.dedup();
    values
}
