//! A Deployment controller, a ReplicaSet controller and a scheduler, driven by hand.
//!
//! There is no simulator: the loop below keeps the objects, tells the controllers of each change,
//! and carries out what they want done. A loop over a real watch looks the same.

use std::error::Error;
use std::sync::Arc;

use taintlab_core::api::{Node, Pod, Workload};
use taintlab_core::cluster::{Change, Cluster};
use taintlab_core::controllers::deployment::DeploymentController;
use taintlab_core::controllers::replica_set::ReplicaSetController;
use taintlab_core::controllers::scheduler::{Scheduler, SchedulerAction};
use taintlab_core::controllers::workload::{WorkloadAction, WriteAnswer};
use taintlab_core::controllers::{Context, Controller, Machine};
use taintlab_core::policy::scheduling::{SchedulerConfig, Snapshot};
use taintlab_core::protocol::RecordedEvent;
use taintlab_core::queue::timer_queue::Sequence;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::time::{Time, Timestamp};

/// Calls a controller with the time and the objects.
macro_rules! call {
    ($world:expr, $controller:ident.$method:ident($($argument:expr),*)) => {{
        let mut context = Context {
            now: Timestamp::ZERO,
            start: Time::DEFAULT_START,
            cluster: &$world.cluster,
            sequence: &mut $world.sequence,
        };
        $world.$controller.$method(&mut context $(, $argument)*)
    }};
}

struct World {
    /// The objects, as the caches of informers would have them.
    cluster: Cluster,
    /// Numbers what waits, so that all queues have one order.
    sequence: Sequence,
    deployments: DeploymentController,
    replica_sets: ReplicaSetController,
    scheduler: Scheduler,
    /// What was recorded.
    events: Vec<String>,
}

impl World {
    fn new(release: KubernetesRelease, nodes: Vec<Node>) -> Result<Self, Box<dyn Error>> {
        let snapshot = Snapshot::new(SchedulerConfig::of(release), &nodes, [])
            .map_err(|error| error.to_string())?;
        let mut cluster = Cluster::default();
        for node in nodes {
            cluster.put_node(Arc::new(node));
        }
        Ok(Self {
            cluster,
            sequence: Sequence::default(),
            deployments: DeploymentController::new(release),
            replica_sets: ReplicaSetController::new(release),
            scheduler: Scheduler::new(snapshot),
            events: Vec::new(),
        })
    }

    fn tell(&mut self, change: &Change) {
        call!(self, replica_sets.handle_change(change));
        call!(self, deployments.handle_change(change));
        call!(self, scheduler.handle_change(change));
    }

    fn put_workload(&mut self, workload: Workload) {
        let (key, new) = (workload.key(), Arc::new(workload));
        let old = self.cluster.put_workload(new.clone());
        self.tell(&Change::Workload { key, old, new: Some(new) });
    }

    fn put_pod(&mut self, pod: Pod) {
        let (key, new) = (pod.key(), Arc::new(pod));
        let old = self.cluster.put_pod(&key, new.clone());
        self.tell(&Change::Pod { key, old, new: Some(new) });
    }

    fn record(&mut self, event: RecordedEvent) {
        self.events.push(format!("{}: {}", event.component, event.message));
    }

    /// Carries out what a controller of workloads wants; gives what it is to be told.
    fn act(&mut self, action: WorkloadAction) -> Option<taintlab_core::protocol::RequestId> {
        match action {
            WorkloadAction::RecordEvent(event) => self.record(event),
            WorkloadAction::CreatePod { id, pod, event, .. } => {
                self.record(event);
                self.put_pod(*pod);
                return Some(id);
            }
            WorkloadAction::DeletePod { id, pod } => {
                let old = self.cluster.remove_pod(&pod);
                self.tell(&Change::Pod { key: pod, old, new: None });
                return Some(id);
            }
            WorkloadAction::CreateReplicaSet(set) => self.put_workload(*set),
            WorkloadAction::UpdateReplicaSet(set) => self.put_workload(*set),
            WorkloadAction::UpdateStatus { workload, status, annotations } => {
                if let Some(known) = self.cluster.get_workload(&workload) {
                    let mut known = Workload::clone(known);
                    known.status = status;
                    known.metadata.annotations.extend(annotations);
                    self.put_workload(known);
                }
            }
            // Of no use to this rollout.
            WorkloadAction::AdoptPod { .. }
            | WorkloadAction::CreateClaim(..)
            | WorkloadAction::ReleasePod { .. }
            | WorkloadAction::UpdatePod(_)
            | WorkloadAction::FinalizePod { .. }
            | WorkloadAction::DeleteWorkload(_)
            | WorkloadAction::UpdateDaemonSetStatus { .. } => {}
        }
        None
    }

    /// Lets all of them work until nothing is left to do.
    fn run_until_idle(&mut self) {
        loop {
            if let Some(action) = call!(self, deployments.poll_action()) {
                if let Some(id) = self.act(action) {
                    call!(self, deployments.handle_action_result(id, WriteAnswer::Done));
                }
            } else if let Some(action) = call!(self, replica_sets.poll_action()) {
                if let Some(id) = self.act(action) {
                    call!(self, replica_sets.handle_action_result(id, WriteAnswer::Done));
                }
            } else if let Some(action) = call!(self, scheduler.poll_action()) {
                match action {
                    SchedulerAction::RecordEvent(event) => self.record(event),
                    SchedulerAction::BindPod { pod, node } => {
                        if let Some(pod) = self.cluster.get_pod(&pod) {
                            let mut pod = Pod::clone(pod);
                            pod.spec.node_name = node.as_str().into();
                            self.put_pod(pod);
                        }
                    }
                    SchedulerAction::MarkUnschedulable { .. }
                    | SchedulerAction::PreemptPod { .. }
                    | SchedulerAction::SelectNode { .. }
                    | SchedulerAction::ReserveClaim(_)
                    | SchedulerAction::ClearNomination { .. } => {}
                }
            } else if self.deployments.next_work().is_some() {
                call!(self, deployments.handle_timeout());
            } else if self.replica_sets.next_work().is_some() {
                call!(self, replica_sets.handle_timeout());
            } else if self.scheduler.next_work().is_some() {
                call!(self, scheduler.handle_timeout());
            } else {
                return;
            }
        }
    }
}

/// Rolls a Deployment of three pods out on two nodes; gives what was recorded.
fn roll_out() -> Result<Vec<String>, Box<dyn Error>> {
    let node = |name: &str| -> Result<Node, serde_json::Error> {
        serde_json::from_value(serde_json::json!({
            "metadata": { "name": name },
            "status": { "capacity": { "cpu": "2", "pods": "2" } },
        }))
    };
    let deployment: Workload = serde_json::from_value(serde_json::json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": "web", "namespace": "default" },
        "spec": {
            "replicas": 3,
            "selector": { "matchLabels": { "app": "web" } },
            "template": {
                "metadata": { "labels": { "app": "web" } },
                "spec": { "containers": [{ "name": "web", "image": "nginx" }] },
            },
        },
    }))?;
    let nodes = vec![node("worker-1")?, node("worker-2")?];
    let mut world = World::new(KubernetesRelease::parse("1.34")?, nodes)?;
    world.put_workload(deployment);
    world.run_until_idle();
    Ok(world.events)
}

fn main() -> Result<(), Box<dyn Error>> {
    for event in roll_out()? {
        println!("{event}");
    }
    Ok(())
}

#[test]
fn a_deployment_rolls_out_without_a_simulator() {
    let events = roll_out().unwrap();
    let of = |component: &str| events.iter().filter(|e| e.starts_with(component)).count();
    let first = events.first().unwrap();
    assert!(first.contains("Scaled up replica set web-"), "{events:#?}");
    assert!(first.ends_with(" from 0 to 3"), "{events:#?}");
    assert_eq!(of("replicaset-controller: Created pod: web-"), 3, "{events:#?}");
    assert_eq!(of("default-scheduler: Successfully assigned default/web-"), 3, "{events:#?}");
}
