//! The rest of the control plane: admission, scheduler, controllers of workloads, budgets, the pod
//! garbage collector, and the kubelets' part in starting pods.
//!
//! Each controller looks at one thing at a time, when the controllers of nodes and taints have
//! nothing left to do at this instant: first a workload, then a node for a DaemonSet, then the
//! scheduler a pod.

mod assumed;
mod availability;
mod commands;
mod daemon_sets;
mod deployments;
mod disruption;
mod names;
mod scheduler;
mod start;
mod stateful_sets;
mod track;
mod views;
mod workloads;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

pub use self::availability::{Availability, Gap, ReadyStep};
pub use self::disruption::BudgetStatus;
pub use self::views::{PendingPod, PodStatusView, WorkloadView, pod_status};

use self::disruption::Protected;
use self::scheduler::Scheduler;
use self::track::Tracked;
use super::{ConfigError, Simulator};
use crate::admission::AdmissionConfig;
use crate::api::{
    MAX_REPLICAS, Node, NodeName, Pod, PodDisruptionBudget, PodKey, Workload, WorkloadKey,
};
use crate::event::TimeoutReason;
use crate::release::FeatureGate;
use crate::scheduling::{SchedulerConfig, Snapshot};
use crate::time::Timestamp;
use crate::validation::{FieldError, validate_budget, validate_workload};
use crate::work_queue::WorkQueue;

/// What the control plane remembers.
#[derive(Clone, Debug)]
pub(super) struct Control {
    admission: AdmissionConfig,
    /// What is known of each workload's pods.
    tracked: BTreeMap<WorkloadKey, Tracked>,
    /// What is known of each budget's pods.
    protected: BTreeMap<PodKey, Protected>,
    /// Workloads to look at.
    queue: WorkQueue<WorkloadKey>,
    /// Nodes that DaemonSets are to look at.
    daemons: WorkQueue<(WorkloadKey, NodeName)>,
    scheduler: Scheduler,
    /// In the order of time and creation.
    timers: BTreeMap<(Timestamp, u64), Due>,
    /// When the garbage collector looks around next.
    collection: Option<Timestamp>,
    /// Nodes that are gone while their pods are not, and since when that is known.
    quarantine: BTreeMap<NodeName, Timestamp>,
}

/// What a timer is for.
#[derive(Clone, Debug)]
enum Due {
    /// The containers of a pod with that UID have started.
    Start(PodKey, String),
    /// The scheduler may try a pod again.
    Schedule(PodKey),
    /// The pod garbage collector looks around.
    Collect,
    /// Pods of the workload may be available.
    Available(WorkloadKey),
}

impl Simulator {
    /// Begins with these workloads and budgets, if the control plane takes part.
    pub(super) fn start_control(
        &mut self,
        workloads: Vec<Workload>,
        budgets: Vec<PodDisruptionBudget>,
    ) -> Result<(), ConfigError> {
        if !self.config.control_plane || !self.config.node_lifecycle {
            return Ok(());
        }
        let config = SchedulerConfig {
            release: self.config.release,
            comparison_operators: self
                .gates
                .is_enabled(FeatureGate::TaintTolerationComparisonOperators),
        };
        let wrong =
            |error: crate::scheduling::SchedulingError| ConfigError::Object(error.to_string());
        let nodes = self.cluster.nodes().map(|(_, node)| node.as_ref());
        let snapshot = Snapshot::new(config, nodes, []).map_err(wrong)?;
        for (_, pod) in self.cluster.pods() {
            snapshot.check(pod).map_err(wrong)?;
        }
        self.control = Some(Box::new(Control {
            admission: self.config.admission().map_err(ConfigError::ApiServerFlag)?,
            tracked: BTreeMap::new(),
            protected: BTreeMap::new(),
            queue: WorkQueue::default(),
            daemons: WorkQueue::default(),
            scheduler: Scheduler::new(snapshot),
            timers: BTreeMap::new(),
            collection: None,
            quarantine: BTreeMap::new(),
        }));
        self.adopt_workloads(workloads)?;
        self.adopt_budgets(budgets)?;
        self.assume_owners();
        let pods: Vec<(PodKey, Arc<Pod>)> =
            self.cluster.pods().map(|(key, pod)| (key.clone(), pod.clone())).collect();
        for (key, pod) in pods {
            self.control_pod(&key, None, Some(&pod));
        }
        self.adopt_revisions();
        Ok(())
    }

    fn adopt_workloads(&mut self, workloads: Vec<Workload>) -> Result<(), ConfigError> {
        let mut known = Vec::new();
        let mut wanted = 0_i64;
        for mut workload in workloads {
            self.complete_workload(&mut workload);
            let key = workload.key();
            all_fine(&key, &validate_workload(&workload, &self.validation_options()))?;
            check_workload(&workload, wanted)
                .map_err(|error| ConfigError::Object(format!("{key}: {error}")))?;
            wanted = wanted.saturating_add(workload.replicas());
            self.fill_in(&mut workload.metadata);
            let workload = Arc::new(workload);
            self.cluster.put_workload(workload.clone());
            known.push(workload);
        }
        for workload in known {
            self.track_workload(&workload);
        }
        Ok(())
    }

    fn adopt_budgets(&mut self, budgets: Vec<PodDisruptionBudget>) -> Result<(), ConfigError> {
        for mut budget in budgets {
            if budget.metadata.namespace.is_empty() {
                budget.metadata.namespace = "default".into();
            }
            let key = budget.key();
            all_fine(&format!("poddisruptionbudget/{key}"), &validate_budget(&budget))?;
            self.fill_in(&mut budget.metadata);
            let budget = Arc::new(budget);
            self.cluster.put_budget(budget.clone());
            self.protect(&budget);
        }
        Ok(())
    }

    /// A node was added, changed or deleted.
    pub(super) fn control_node(&mut self, old: Option<&Node>, new: Option<&Node>) {
        if self.control.is_none() {
            return;
        }
        self.schedule_node(old, new);
        self.daemons_of_node(old, new);
        if let Some(node) = new.or(old) {
            self.review_collection(&node.metadata.name);
        }
    }

    /// A pod was added, changed or deleted.
    pub(super) fn control_pod(&mut self, key: &PodKey, old: Option<&Pod>, new: Option<&Pod>) {
        if self.control.is_none() {
            return;
        }
        self.track_pod(key, old, new);
        self.protect_pod(key, new);
        self.schedule_pod(key, old, new);
        self.start_pod(key, old, new);
        if let Some(pod) = new {
            self.review_collection(&pod.spec.node_name);
        }
        self.release_pod(key, old, new);
    }

    /// Plans something.
    fn control_timer(&mut self, at: Timestamp, due: Due) {
        let timer = (at, self.next_sequence());
        if let Some(control) = &mut self.control {
            control.timers.insert(timer, due);
        }
    }

    /// The next timer.
    pub(super) fn next_control_timer(&self) -> Option<(Timestamp, u64)> {
        self.control.as_ref()?.timers.first_key_value().map(|(timer, _)| *timer)
    }

    /// Which timer that is, if it is one of these.
    pub(super) fn control_timer_reason(&self, timer: (Timestamp, u64)) -> Option<TimeoutReason> {
        Some(match self.control.as_ref()?.timers.get(&timer)? {
            Due::Start(pod, _) => TimeoutReason::PodStarts { pod: pod.clone() },
            Due::Schedule(pod) => TimeoutReason::RetryScheduling { pod: pod.clone() },
            Due::Collect => TimeoutReason::CollectPods,
            Due::Available(workload) => TimeoutReason::PodsAvailable { workload: workload.clone() },
        })
    }

    /// Fires the timer, if it is one of these.
    pub(super) fn fire_control_timer(&mut self, timer: (Timestamp, u64)) -> bool {
        let due = self.control.as_mut().and_then(|control| control.timers.remove(&timer));
        match due {
            None => return false,
            Some(Due::Start(pod, uid)) => self.pod_started(&pod, &uid),
            Some(Due::Schedule(pod)) => self.try_again(&pod),
            Some(Due::Collect) => self.collect_pods(),
            Some(Due::Available(workload)) => {
                if let Some(control) = &mut self.control {
                    if let Some(owner) =
                        self.cluster.get_workload(&workload).and_then(|known| known.owner())
                    {
                        control.queue.push(owner);
                    }
                    control.queue.push(workload);
                }
            }
        }
        true
    }

    /// Whether a controller or the scheduler has something to look at.
    pub(super) fn control_has_work(&self) -> bool {
        self.control.as_ref().is_some_and(|control| {
            !control.queue.is_empty() || !control.daemons.is_empty() || control.scheduler.has_work()
        })
    }

    /// Looks at one thing; whether there was any.
    pub(super) fn run_control(&mut self) -> bool {
        let Some(control) = &mut self.control else { return false };
        if let Some(workload) = control.queue.pop() {
            self.reconcile(&workload);
        } else if let Some((set, node)) = control.daemons.pop() {
            self.reconcile_daemon(&set, &node);
        } else if control.scheduler.has_work() {
            self.schedule_next();
        } else {
            return false;
        }
        true
    }

    /// A pod whose labels its controller no longer selects is its own. Mirrors
    /// `PodControllerRefManager.ReleasePod`.
    fn release_pod(&mut self, key: &PodKey, old: Option<&Pod>, new: Option<&Pod>) {
        let (Some(old), Some(new)) = (old, new) else { return };
        if old.metadata.labels == new.metadata.labels || new.is_terminating() {
            return;
        }
        let owner = new.metadata.controller_key();
        let owner = owner.and_then(|owner| self.cluster.get_workload(&owner));
        let selector = owner.and_then(|owner| owner.selector().ok());
        if selector.is_some_and(|selector| !selector.matches(&new.metadata.labels)) {
            self.disown_pod(key);
        }
    }

    /// What the API server fills in.
    fn complete_workload(&self, workload: &mut Workload) {
        if workload.metadata.namespace.is_empty() {
            workload.metadata.namespace = "default".into();
        }
        if workload.api_version.is_empty() {
            workload.api_version = workload.kind.api_version().into();
        }
    }
}

/// Whether what is set by annotation can be read, and whether there is room for the pods beside
/// those that the others want. A ReplicaSet counts beside its Deployment.
fn check_workload(workload: &Workload, others: i64) -> Result<(), String> {
    workload.start_up_time()?;
    let room = MAX_REPLICAS.saturating_sub(others).max(0);
    let wanted = workload.replicas();
    if wanted > room {
        return Err(format!(
            "{wanted} replicas are more than fit: the workloads of a simulation have at most \
             {MAX_REPLICAS} together, so that this one can have {room}"
        ));
    }
    Ok(())
}

/// The errors of an object at the beginning, as one.
fn all_fine(object: &dyn core::fmt::Display, errors: &[FieldError]) -> Result<(), ConfigError> {
    match errors {
        [] => Ok(()),
        [error, ..] => Err(ConfigError::Object(format!("{object} is invalid: {error}"))),
    }
}
