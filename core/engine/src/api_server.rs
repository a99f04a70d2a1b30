//! The API server: the store, validation, admission, and writes that were made to fail.
//!
//! A request that is accepted gives a [`Write`], or several. [`ApiServer::store`] makes one and
//! gives the [`Change`](taintlab_rules::cluster::Change) that watchers see, so that all of them can
//! see it before the next write is made.

mod config;
mod devices;
mod inferred_owners;
mod nodes;
mod pods;
mod store;
mod volumes;
mod workloads;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use serde_json::Value;
use taintlab_rules::api::{
    MAX_REPLICAS, Node, NodeName, ObjectMeta, Pod, PodCondition, PodDisruptionBudget, PodKey,
    PodPhase, PodStatus, PriorityClass, SharedPool, TIME_ANNOTATIONS, Toleration, Workload,
    WorkloadKey, duration_of, node_allocatable,
};
use taintlab_rules::cluster::Cluster;
use taintlab_rules::order::OrderedMap;
use taintlab_rules::policy::admission::{
    Addition, AdmissionConfig, admit, admit_node, admit_priority,
};
use taintlab_rules::policy::scheduling::check_pod;
use taintlab_rules::policy::validation::{
    FieldError, ValidationOptions, validate_budget, validate_node, validate_workload,
};
use taintlab_rules::protocol::{ApiErrorKind, NodeWrite, PodWrite};
use taintlab_rules::queue::timer_queue::Sequence;
use taintlab_rules::release::FeatureGates;
use taintlab_rules::time::{Time, Timestamp};

pub(crate) use self::config::eviction_config;
pub use self::config::{ConfigError, DEFAULT_START_UP_TIME, HealthPassTime, SimulatorConfig};
pub(crate) use self::store::Write;
pub use self::volumes::InitialVolumes;
pub(crate) use self::volumes::VolumeWrite;
pub(crate) use self::workloads::complete_workload;
use crate::command::CommandError;
use crate::controllers::Context;
use crate::event::{Event, EventKind};

/// The default of `spec.terminationGracePeriodSeconds`. Mirrors
/// `v1.DefaultTerminationGracePeriodSeconds`.
const DEFAULT_TERMINATION_GRACE_PERIOD_SECONDS: i64 = 30;

/// The store, and what the API server makes of requests.
#[derive(Clone, Debug)]
pub(crate) struct ApiServer {
    pub(crate) config: SimulatorConfig,
    pub(crate) gates: FeatureGates,
    /// The admission plugins, if the control plane takes part.
    pub(crate) admission: Option<AdmissionConfig>,
    pub(crate) cluster: Cluster,
    /// The priority classes that there are, with those that every cluster has.
    pub(crate) priority_classes: Vec<PriorityClass>,
    /// The Services that were given, each with its namespace.
    pub(crate) services: Arc<Vec<Value>>,
    faults: OrderedMap<(PodKey, PodWrite), Fault>,
    node_faults: OrderedMap<(NodeName, NodeWrite), Fault>,
    /// What happened and was not polled.
    pub(crate) events: VecDeque<Event>,
    pub(crate) tally: Tally,
    objects_created: u64,
    pub(crate) now: Timestamp,
    /// The labels of pods with those of their nodes.
    labels: SharedPool,
}

/// What a summary of the run counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// How many pods controllers have deleted and kubelets have evicted.
    pub(crate) evictions: usize,
    /// When something happened last.
    pub(crate) last_event: Timestamp,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    pub(crate) times: u32,
    pub(crate) error: ApiErrorKind,
}

impl ApiServer {
    /// Begins with these priority classes. Pods that are there name classes that are not among
    /// them: such a class is inferred from the pod's own priority.
    pub(crate) fn bootstrap_priority_classes(&mut self, classes: Vec<PriorityClass>) {
        let known = &mut self.priority_classes;
        let mut add = |class: PriorityClass| {
            if known.iter().all(|other| other.metadata.name != class.metadata.name) {
                known.push(class);
            }
        };
        classes.into_iter().for_each(&mut add);
        for (_, pod) in self.cluster.pods() {
            let field = |name: &str| pod.spec.other.get(name);
            if let Some(name) = field("priorityClassName").and_then(|name| name.as_str())
                && let Some(value) = field("priority").and_then(|value| value.as_i64())
            {
                let policy = field("preemptionPolicy").and_then(|policy| policy.as_str());
                add(PriorityClass {
                    metadata: ObjectMeta { name: name.into(), ..ObjectMeta::default() },
                    value,
                    preemption_policy: policy.unwrap_or_default().into(),
                    ..PriorityClass::default()
                });
            }
        }
    }

    pub(crate) fn new(config: SimulatorConfig, gates: FeatureGates) -> Self {
        Self {
            config,
            gates,
            admission: None,
            cluster: Cluster::default(),
            priority_classes: PriorityClass::system().into(),
            services: Arc::default(),
            faults: OrderedMap::new(),
            node_faults: OrderedMap::new(),
            events: VecDeque::new(),
            tally: Tally::default(),
            objects_created: 0,
            now: Timestamp::ZERO,
            labels: SharedPool::default(),
        }
    }

    /// What watchers of the store are called with.
    pub(crate) fn context<'a>(&'a self, sequence: &'a mut Sequence) -> Context<'a> {
        Context { now: self.now, start: self.config.start, cluster: &self.cluster, sequence }
    }

    /// The wall-clock time of a moment of the simulation.
    pub(crate) fn wall_clock(&self, at: Timestamp) -> Time {
        self.config.start.saturating_add(at.since_zero())
    }

    /// How objects are validated.
    pub(crate) fn validation_options(&self) -> ValidationOptions {
        ValidationOptions::new(self.config.release, &self.gates)
    }

    /// What the API server fills in when it creates an object.
    pub(crate) fn default_metadata(&mut self, metadata: &mut ObjectMeta) {
        self.default_uid(metadata);
        if metadata.creation_timestamp.is_none() {
            metadata.creation_timestamp = Some(self.wall_clock(self.now).truncated_to_seconds());
        }
    }

    /// The same of an object that was there before, so that nobody knows when it was created.
    pub(crate) fn default_uid(&mut self, metadata: &mut ObjectMeta) {
        self.count_object();
        if metadata.uid.is_empty() {
            metadata.uid = format!("00000000-0000-4000-8000-{:012x}", self.objects_created);
        }
    }

    /// Counts an object that was there before, and lacks nothing.
    pub(crate) const fn count_object(&mut self) {
        self.objects_created += 1;
    }

    pub(crate) fn forget_faults(&mut self, key: &PodKey) {
        if !self.faults.is_empty() {
            self.faults.retain(|(pod, _), _| pod != key);
        }
    }

    pub(crate) fn take_fault(&mut self, key: &PodKey, verb: PodWrite) -> Option<ApiErrorKind> {
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
    pub(crate) fn grace_period_of(&self, pod: &Pod) -> Duration {
        Duration::from_secs(u64::try_from(self.grace_period_seconds(pod)).unwrap_or(0))
    }

    /// How long a graceful delete of this pod takes. A pod that no kubelet runs goes at once.
    /// Mirrors `podStrategy.CheckGracefulDelete`.
    pub(crate) fn grace_period_seconds(&self, pod: &Pod) -> i64 {
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

    /// Writes a condition into a pod; whether that changes anything. Mirrors
    /// `podutil.UpdatePodCondition`.
    pub(crate) fn update_pod_condition(&self, pod: &mut Pod, mut condition: PodCondition) -> bool {
        if self.config.release.sets_observed_generation() {
            let generation = pod.metadata.other.get("generation");
            condition.observed_generation = generation.and_then(serde_json::Value::as_i64);
        }
        condition.last_transition_time = Some(self.wall_clock(self.now).truncated_to_seconds());
        let conditions = &mut pod.status.conditions;
        match conditions.iter_mut().find(|known| known.type_ == condition.type_) {
            Some(known) => {
                if known.status == condition.status {
                    condition.last_transition_time = known.last_transition_time;
                }
                // None is written for the sake of its generation alone.
                let observed = condition.observed_generation;
                condition.observed_generation = known.observed_generation;
                let changes = *known != condition;
                if changes {
                    condition.observed_generation = observed;
                    *known = condition;
                }
                changes
            }
            None => {
                conditions.push(condition);
                true
            }
        }
    }

    pub(crate) fn node(&self, name: &NodeName) -> Result<&Node, CommandError> {
        let node = self.cluster.get_node(name.as_str());
        node.map(AsRef::as_ref).ok_or_else(|| CommandError::NodeNotFound(name.clone()))
    }

    pub(crate) fn pod(&self, key: &PodKey) -> Result<&Pod, CommandError> {
        let pod = self.cluster.get_pod(key);
        pod.map(AsRef::as_ref).ok_or_else(|| CommandError::PodNotFound(key.clone()))
    }

    pub(crate) fn check_node(&self, node: &Node) -> Result<(), CommandError> {
        let name = &node.metadata.name;
        self.check(|options| validate_node(node, options), || format!("Node \"{name}\""))
    }

    pub(crate) fn check(
        &self,
        validate: impl FnOnce(&ValidationOptions) -> Vec<FieldError>,
        object: impl FnOnce() -> String,
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

    pub(crate) fn fail_pod_writes(
        &mut self,
        pod: PodKey,
        verb: PodWrite,
        fault: Fault,
    ) -> Result<(), CommandError> {
        self.pod(&pod)?;
        self.faults.remove(&(pod.clone(), verb));
        if fault.times > 0 {
            self.faults.insert((pod, verb), fault);
        }
        Ok(())
    }

    pub(crate) fn fail_node_writes(
        &mut self,
        node: NodeName,
        write: NodeWrite,
        fault: Fault,
    ) -> Result<(), CommandError> {
        self.node(&node)?;
        self.node_faults.remove(&(node.clone(), write));
        if fault.times > 0 {
            self.node_faults.insert((node, write), fault);
        }
        Ok(())
    }

    pub(crate) fn take_node_fault(
        &mut self,
        name: &NodeName,
        write: NodeWrite,
    ) -> Option<ApiErrorKind> {
        if self.node_faults.is_empty() {
            return None;
        }
        let entry = (name.clone(), write);
        let fault = self.node_faults.get_mut(&entry)?;
        fault.times = fault.times.saturating_sub(1);
        let error = fault.error;
        if fault.times == 0 {
            self.node_faults.remove(&entry);
        }
        Some(error)
    }

    /// Tells which conditions of a node have changed.
    pub(crate) fn emit_condition_changes(&mut self, old: Option<&Node>, new: &Node) {
        if !self.config.node_lifecycle {
            return;
        }
        let before = old.map_or(&[][..], |node| &node.status.conditions);
        let mut changes = Vec::new();
        for condition in &new.status.conditions {
            let from = before.iter().find(|known| known.type_ == condition.type_);
            if from.is_none_or(|from| from.status != condition.status) {
                changes.push((
                    condition.type_.clone(),
                    from.map(|from| from.status.clone()).unwrap_or_default(),
                    condition.status.clone(),
                    condition.reason.clone(),
                ));
            }
        }
        let gone = before.iter().filter(|known| new.condition(&known.type_).is_none());
        changes.extend(gone.map(|known| {
            (known.type_.clone(), known.status.clone(), Default::default(), Default::default())
        }));
        let node: NodeName = new.metadata.name.as_str().into();
        for (condition, from, to, reason) in changes {
            let node = node.clone();
            self.emit(EventKind::NodeConditionChanged { node, condition, from, to, reason });
        }
    }

    /// The workload of that key; one that is only assumed is there, too.
    pub(crate) fn workload(&self, key: &WorkloadKey) -> Result<&Arc<Workload>, CommandError> {
        let workload = self.cluster.get_workload(key);
        workload.ok_or_else(|| CommandError::WorkloadNotFound(key.clone()))
    }

    pub(crate) fn has_room(&self, workload: &Workload) -> Result<(), CommandError> {
        let key = workload.key();
        let others = self.cluster.workloads().filter(|(other, _)| **other != key);
        let others = others.fold(0_i64, |sum, (_, other)| sum.saturating_add(other.replicas()));
        check_workload(workload, others).map_err(|reason| {
            let object = format!("{} \"{}\"", workload.kind, workload.metadata.name);
            CommandError::NotAdmitted { object, reason }
        })
    }

    pub(crate) fn check_new(&self, workload: &Workload) -> Result<(), CommandError> {
        let key = workload.key();
        let object = || format!("{} \"{}\"", workload.kind, key.name.name());
        self.check(|options| validate_workload(workload, options), object)?;
        self.has_room(workload)
    }

    pub(crate) fn complete_budget(
        &self,
        budget: &mut PodDisruptionBudget,
    ) -> Result<(), CommandError> {
        if budget.metadata.namespace.is_empty() {
            budget.metadata.namespace = "default".into();
        }
        if budget.api_version.is_empty() {
            budget.api_version = "policy/v1".into();
        }
        let name = || format!("PodDisruptionBudget \"{}\"", budget.metadata.name);
        self.check(|options| validate_budget(budget, options), name)
    }

    /// What the API server makes of a new pod, by default, by admission; an error is why it refuses
    /// it.
    pub(crate) fn admit_pod(&self, pod: &mut Pod) -> Result<Vec<Addition<Toleration>>, String> {
        let Some(admission) = &self.admission else { return Ok(Vec::new()) };
        let release = self.config.release;
        check_pod(release, pod).map_err(|error| error.error.to_string())?;
        for time in TIME_ANNOTATIONS {
            duration_of(&pod.metadata.annotations, time)?;
        }
        pod.status = PodStatus { phase: PodPhase::Pending, ..PodStatus::default() };
        let namespace = BTreeMap::new();
        let admission =
            admit(admission, release, pod, &namespace).map_err(|error| error.to_string())?;
        let priority = admit_priority(release, self.priority_classes.iter(), pod)
            .map_err(|error| error.to_string())?;
        admission.apply(pod);
        priority.apply(pod);
        Ok(admission.additions)
    }

    /// What the API server makes of a new node.
    pub(crate) fn admit_new_node(&mut self, node: &mut Node) -> Result<(), String> {
        let Some(admission) = &self.admission else { return Ok(()) };
        node_allocatable(node).map_err(|error| error.to_string())?;
        if let Some(addition) = admit_node(admission, node) {
            node.spec.taints.push(addition.added.clone());
            let name = node.metadata.name.as_str().into();
            self.emit(EventKind::NodeAdmitted { node: name, addition });
        }
        Ok(())
    }

    pub(crate) fn emit(&mut self, what: EventKind) {
        self.tally.last_event = self.now;
        self.tally.evictions += usize::from(what.is_eviction());
        self.events.push_back(Event { at: self.now, what });
    }

    pub(crate) fn uid_of(&self, pod: &PodKey) -> String {
        self.cluster.get_pod(pod).map_or_else(String::new, |pod| pod.metadata.uid.clone())
    }
}

/// An update without a UID or creation time means the object that is there.
fn keep_identity(new: &mut ObjectMeta, old: &ObjectMeta) {
    if new.uid.is_empty() {
        new.uid.clone_from(&old.uid);
    }
    if new.creation_timestamp.is_none() {
        new.creation_timestamp = old.creation_timestamp;
    }
}

/// Whether what is set by annotation can be read, and whether there is room for the pods beside
/// those that the others want. A ReplicaSet counts beside its Deployment.
pub(crate) fn check_workload(workload: &Workload, others: i64) -> Result<(), String> {
    workload.start_up_time()?;
    workload.shutdown_time()?;
    workload.run_time()?;
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
