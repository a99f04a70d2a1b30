//! The rest of the control plane: the controllers of workloads, the scheduler, budgets and the pod
//! garbage collector, in the order in which they are called.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;

use taintlab_rules::api::{Pod, PodDisruptionBudget, PodKey, Workload, WorkloadKind};
use taintlab_rules::cluster::{Change, Cluster, VolumeChange};
use taintlab_rules::policy::devices::AllocatorFeatures;
use taintlab_rules::policy::eviction::{DeleteOptions, Eviction, EvictionError, evict};
use taintlab_rules::policy::scheduling::{SchedulerConfig, SchedulingError, Snapshot};
use taintlab_rules::policy::validation::{FieldError, validate_budget, validate_workload};
use taintlab_rules::protocol::{ApiErrorKind, RequestId, RequestResult, TimeoutReason};
use taintlab_rules::queue::timer_queue::{Sequence, TimerId};
use taintlab_rules::release::FeatureGate;

use super::ConfigError;
use super::ready_history::ReadyHistory;
use crate::api_server::{ApiServer, check_workload, complete_workload};
use crate::command::CommandError;
use crate::controllers::attach_detach::{AttachDetachAction, AttachDetachController};
use crate::controllers::autoscaler::{Autoscaler, AutoscalerAction};
use crate::controllers::daemon_set::DaemonSetController;
use crate::controllers::deployment::DeploymentController;
use crate::controllers::descheduler::{Descheduler, DeschedulerAction};
use crate::controllers::device_taint_eviction::{
    DeviceTaintEvictionAction, DeviceTaintEvictionController,
};
use crate::controllers::disruption::{DisruptionAction, DisruptionController};
use crate::controllers::job::JobController;
use crate::controllers::persistent_volume::{PersistentVolumeAction, PersistentVolumeController};
use crate::controllers::pod_gc::{PodGcAction, PodGcAnswer, PodGcConfig, PodGcController};
use crate::controllers::replica_set::ReplicaSetController;
use crate::controllers::resource_claim::{ResourceClaimAction, ResourceClaimController};
use crate::controllers::scheduler::{Scheduler, SchedulerAction};
use crate::controllers::stateful_set::StatefulSetController;
use crate::controllers::workload::{WorkloadAction, WriteAnswer};
use crate::controllers::{Context, Controller, Machine};

/// The controllers that take part with `controlPlane`.
#[derive(Clone, Debug)]
pub(super) struct ControlPlane {
    pub(super) replica_sets: ReplicaSetController,
    pub(super) stateful_sets: StatefulSetController,
    pub(super) daemon_sets: DaemonSetController,
    pub(super) jobs: JobController,
    deployments: DeploymentController,
    pub(super) disruption: DisruptionController,
    pub(super) scheduler: Scheduler,
    pub(super) pod_gc: PodGcController,
    volumes: PersistentVolumeController,
    pub(super) attach_detach: AttachDetachController,
    /// `None` unless the release has it, switched on.
    pub(super) device_taint_eviction: Option<DeviceTaintEvictionController>,
    /// `None` unless the scheduler allocates devices.
    resource_claims: Option<ResourceClaimController>,
    /// `None` unless the cluster has one.
    descheduler: Option<Descheduler>,
    autoscaler: Option<Autoscaler>,
    pub(super) ready_history: ReadyHistory,
}

/// What one of them wants done.
pub(super) enum ControlAction {
    Workload(WorkloadKind, WorkloadAction),
    Scheduler(SchedulerAction),
    Collect(PodGcAction),
    Disruption(DisruptionAction),
    Volume(PersistentVolumeAction),
    ResourceClaim(ResourceClaimAction),
    Attach(AttachDetachAction),
    DeviceTaint(DeviceTaintEvictionAction),
    Deschedule(DeschedulerAction),
    Autoscale(AutoscalerAction),
}

/// The machines of a control plane in the order of their precedence, borrowed in one way.
macro_rules! machines {
    ($plane:expr, $option:ident, $($borrow:tt)+) => {{
        let all: [Option<$($borrow)+ dyn Machine>; 14] = [
            Some($($borrow)+ $plane.replica_sets),
            Some($($borrow)+ $plane.stateful_sets),
            Some($($borrow)+ $plane.daemon_sets),
            Some($($borrow)+ $plane.jobs),
            Some($($borrow)+ $plane.deployments),
            Some($($borrow)+ $plane.disruption),
            Some($($borrow)+ $plane.scheduler),
            Some($($borrow)+ $plane.pod_gc),
            Some($($borrow)+ $plane.volumes),
            Some($($borrow)+ $plane.attach_detach),
            $plane.device_taint_eviction.$option().map(|it| it as _),
            $plane.resource_claims.$option().map(|it| it as _),
            $plane.descheduler.$option().map(|it| it as _),
            $plane.autoscaler.$option().map(|it| it as _),
        ];
        all.into_iter().flatten()
    }};
}

impl ControlPlane {
    /// Begins with these workloads and budgets, if the control plane takes part.
    pub(super) fn start(
        api: &mut ApiServer,
        sequence: &mut Sequence,
        workloads: Vec<Workload>,
        budgets: Vec<PodDisruptionBudget>,
    ) -> Result<Option<Box<Self>>, ConfigError> {
        if !api.config.control_plane || !api.config.node_lifecycle {
            return Ok(None);
        }
        let gate = FeatureGate::TaintTolerationComparisonOperators;
        let config = SchedulerConfig {
            comparison_operators: api.gates.is_enabled(gate),
            ..SchedulerConfig::of(api.config.release)
        };
        let admission = api.config.admission().map_err(ConfigError::ApiServerFlag)?;
        let conditions = api.gates.is_enabled(FeatureGate::PodDisruptionConditions);
        let mut control = Self::new(config, conditions, &api.cluster)?;
        api.admission = Some(admission);
        let taints = api.gates.has_device_taints();
        let rules = api.gates.has_device_taint_rules(api.config.release);
        if api.config.release.allocates_devices()
            && api.gates.is_enabled(FeatureGate::DynamicResourceAllocation)
        {
            control.scheduler.allocate_devices(AllocatorFeatures { taints, rules });
            control.resource_claims = Some(ResourceClaimController::default());
        }
        if taints {
            control.device_taint_eviction = Some(DeviceTaintEvictionController::new(rules));
        }
        control.descheduler = api.config.descheduler.clone().map(Descheduler::new);
        let autoscaler = api.config.autoscaler.clone();
        control.autoscaler = autoscaler.map(|settings| Autoscaler::new(settings, config));
        control.bootstrap_workloads(api, sequence, workloads)?;
        control.bootstrap_budgets(api, sequence, budgets)?;
        Ok(Some(Box::new(control)))
    }

    fn bootstrap_workloads(
        &mut self,
        api: &mut ApiServer,
        sequence: &mut Sequence,
        workloads: Vec<Workload>,
    ) -> Result<(), ConfigError> {
        let mut known = Vec::new();
        let mut wanted = 0_i64;
        for mut workload in workloads {
            complete_workload(&mut workload);
            let key = workload.key();
            all_fine(&key, &validate_workload(&workload, &api.validation_options()))?;
            check_workload(&workload, wanted)
                .map_err(|error| ConfigError::Object(format!("{key}: {error}")))?;
            wanted = wanted.saturating_add(workload.replicas());
            api.default_metadata(&mut workload.metadata);
            let workload = Arc::new(workload);
            api.cluster.put_workload(workload.clone());
            known.push(Change::Workload { key, old: None, new: Some(workload) });
        }
        for change in known {
            self.handle_change(&mut api.context(sequence), &change);
        }
        Ok(())
    }

    fn bootstrap_budgets(
        &mut self,
        api: &mut ApiServer,
        sequence: &mut Sequence,
        budgets: Vec<PodDisruptionBudget>,
    ) -> Result<(), ConfigError> {
        for mut budget in budgets {
            if budget.metadata.namespace.is_empty() {
                budget.metadata.namespace = "default".into();
            }
            let key = budget.key();
            let errors = validate_budget(&budget, &api.validation_options());
            all_fine(&format!("poddisruptionbudget/{key}"), &errors)?;
            api.default_metadata(&mut budget.metadata);
            let budget = Arc::new(budget);
            let old = api.cluster.put_budget(budget.clone());
            let change = Change::Budget { key, old, new: Some(budget) };
            self.handle_change(&mut api.context(sequence), &change);
        }
        Ok(())
    }

    /// Controllers that know the nodes of the cluster, and nothing else yet.
    /// `conditions` is the gate `PodDisruptionConditions`.
    pub(super) fn new(
        config: SchedulerConfig,
        conditions: bool,
        cluster: &Cluster,
    ) -> Result<Self, ConfigError> {
        let wrong = |error: SchedulingError| ConfigError::Object(error.to_string());
        let nodes = cluster.nodes().map(|(_, node)| node.as_ref());
        let mut snapshot = Snapshot::new(config, nodes, []).map_err(wrong)?;
        snapshot.check_all(cluster.pods().map(|(_, pod)| pod.as_ref())).map_err(wrong)?;
        let release = config.release;
        Ok(Self {
            replica_sets: ReplicaSetController::new(release),
            stateful_sets: StatefulSetController::new(release),
            daemon_sets: DaemonSetController::new(release, config.comparison_operators),
            jobs: JobController::new(release),
            deployments: DeploymentController::new(release),
            disruption: DisruptionController::new(release),
            scheduler: Scheduler::new(snapshot),
            pod_gc: PodGcController::new(PodGcConfig {
                release,
                marks_failed: conditions,
                terminated_pod_threshold: PodGcConfig::DEFAULT_TERMINATED_POD_THRESHOLD,
                missing_phase_is_ended: false,
            }),
            volumes: PersistentVolumeController::new(),
            attach_detach: AttachDetachController::new(release),
            device_taint_eviction: None,
            resource_claims: None,
            descheduler: None,
            autoscaler: None,
            ready_history: ReadyHistory::default(),
        })
    }

    /// Tells of the volumes and claims that are there at the beginning.
    pub(super) fn bootstrap_volumes(&mut self, api: &ApiServer, sequence: &mut Sequence) {
        let Some(volumes) = api.cluster.volumes() else { return };
        self.scheduler.set_volumes(Some(volumes.clone()));
        for (claim, _) in volumes.claims() {
            let change = Change::Volume(VolumeChange::Claim(claim.clone()));
            self.handle_change(&mut api.context(sequence), &change);
        }
        self.attach_detach.bootstrap(&mut api.context(sequence));
    }

    /// Tells of the devices and claims that are there at the beginning.
    pub(super) fn bootstrap_devices(&mut self, api: &ApiServer, sequence: &mut Sequence) {
        self.scheduler.set_devices(api.cluster.devices());
        if let Some(controller) = &mut self.resource_claims {
            controller.bootstrap(&api.cluster);
        }
        if let Some(controller) = &mut self.device_taint_eviction {
            controller.bootstrap(&mut api.context(sequence));
        }
    }

    /// What is there at the beginning is of the templates that there are.
    pub(super) fn bootstrap_revisions(&mut self, cluster: &Cluster) {
        self.deployments.bootstrap_revisions(cluster);
        self.stateful_sets.bootstrap_revisions(cluster);
        self.daemon_sets.bootstrap_revisions(cluster);
    }

    /// ReplicaSets with the status that their controller had written before the beginning.
    pub(super) fn initial_statuses(&self, context: &Context<'_>) -> Vec<Arc<Workload>> {
        let sets =
            context.cluster.workloads().filter(|(key, _)| key.kind == WorkloadKind::ReplicaSet);
        let sets = sets.map(|(_, set)| {
            let status = self.replica_sets.initial_status(context, set);
            let mut set = Workload::clone(set);
            set.status = status.into();
            Arc::new(set)
        });
        sets.collect()
    }

    /// An object has changed.
    pub(super) fn handle_change(&mut self, context: &mut Context<'_>, change: &Change) {
        if let Change::Node { .. } = change {
            // The scheduler before the DaemonSets: retries of pods are planned first.
            self.scheduler.handle_change(context, change);
            self.daemon_sets.handle_change(context, change);
            self.pod_gc.handle_change(context, change);
            self.attach_detach.handle_change(context, change);
            if let Some(descheduler) = &mut self.descheduler {
                descheduler.handle_change(context, change);
            }
            if let Some(autoscaler) = &mut self.autoscaler {
                autoscaler.handle_change(context, change);
            }
            return;
        }
        self.machines_mut().for_each(|machine| machine.handle_change(context, change));
        self.ready_history.handle_change(context, change);
    }

    fn machines(&self) -> impl Iterator<Item = &dyn Machine> {
        machines!(self, as_ref, &)
    }

    fn machines_mut(&mut self) -> impl Iterator<Item = &mut dyn Machine> {
        machines!(self, as_mut, &mut)
    }

    /// The next timer.
    pub(super) fn next_timer(&self) -> Option<TimerId> {
        self.machines().filter_map(Machine::next_timer).min()
    }

    /// What a timer is for, if it is the next one of one of these.
    pub(super) fn timer_reason(&self, timer: TimerId) -> Option<TimeoutReason> {
        self.machines().find(|machine| machine.next_timer() == Some(timer))?.timer_reason()
    }

    /// Fires a timer, if it is the next one of one of these.
    pub(super) fn fire(&mut self, context: &mut Context<'_>, timer: TimerId) -> bool {
        let due = self.machines_mut().find(|machine| machine.next_timer() == Some(timer));
        due.map(|machine| machine.handle_timeout(context)).is_some()
    }

    /// Whether something is to be looked at.
    pub(super) fn has_work(&self) -> bool {
        self.machines().any(|machine| machine.next_work().is_some())
            || self.device_taint_eviction.as_ref().is_some_and(|it| it.has_work())
    }

    /// Looks at one thing, the one that is first; whether there was any.
    pub(super) fn work(&mut self, context: &mut Context<'_>) -> bool {
        let waiting = self.machines_mut().filter_map(|it| Some((it.next_work()?, it)));
        let first = waiting.min_by_key(|(ticket, _)| *ticket);
        first.map(|(_, machine)| machine.handle_timeout(context)).is_some()
    }

    /// What one of them wants done next.
    pub(super) fn poll_action(&mut self, context: &mut Context<'_>) -> Option<ControlAction> {
        use WorkloadKind as Kind;
        // First, so that a claim has its volume before the scheduler binds the pod, and a pod its
        // claims.
        if let Some(action) = self.volumes.poll_action(context) {
            return Some(ControlAction::Volume(action));
        }
        if let Some(controller) = &mut self.resource_claims
            && let Some(action) = controller.poll_action(context)
        {
            return Some(ControlAction::ResourceClaim(action));
        }
        let mut workload = |kind: WorkloadKind| {
            let action = match kind {
                Kind::ReplicaSet => self.replica_sets.poll_action(context),
                Kind::StatefulSet => self.stateful_sets.poll_action(context),
                Kind::DaemonSet => self.daemon_sets.poll_action(context),
                Kind::Job => self.jobs.poll_action(context),
                Kind::Deployment => self.deployments.poll_action(context),
            };
            Some(ControlAction::Workload(kind, action?))
        };
        let kinds =
            [Kind::ReplicaSet, Kind::StatefulSet, Kind::DaemonSet, Kind::Job, Kind::Deployment];
        if let Some(action) = kinds.into_iter().find_map(&mut workload) {
            return Some(action);
        }
        if let Some(action) = self.scheduler.poll_action(context) {
            return Some(ControlAction::Scheduler(action));
        }
        if let Some(action) = self.disruption.poll_action(context) {
            return Some(ControlAction::Disruption(action));
        }
        if let Some(action) = self.attach_detach.poll_action(context) {
            return Some(ControlAction::Attach(action));
        }
        if let Some(controller) = &mut self.device_taint_eviction
            && let Some(action) = controller.poll_action(context)
        {
            return Some(ControlAction::DeviceTaint(action));
        }
        if let Some(action) = self.pod_gc.poll_action(context) {
            return Some(ControlAction::Collect(action));
        }
        if let Some(descheduler) = &mut self.descheduler
            && let Some(action) = descheduler.poll_action(context)
        {
            return Some(ControlAction::Deschedule(action));
        }
        self.autoscaler.as_mut()?.poll_action(context).map(ControlAction::Autoscale)
    }

    /// Tells a controller of workloads what came of its request.
    pub(super) fn answer(
        &mut self,
        context: &mut Context<'_>,
        kind: WorkloadKind,
        id: RequestId,
        answer: WriteAnswer,
    ) {
        match kind {
            WorkloadKind::ReplicaSet => {
                self.replica_sets.handle_action_result(context, id, answer);
            }
            WorkloadKind::StatefulSet => {
                self.stateful_sets.handle_action_result(context, id, answer);
            }
            WorkloadKind::DaemonSet => self.daemon_sets.handle_action_result(context, id, answer),
            WorkloadKind::Job => self.jobs.handle_action_result(context, id, answer),
            WorkloadKind::Deployment => self.deployments.handle_action_result(context, id, answer),
        }
    }

    /// Tells the garbage collector what came of its request.
    pub(super) fn collected(
        &mut self,
        context: &mut Context<'_>,
        id: RequestId,
        answer: PodGcAnswer,
    ) {
        self.pod_gc.handle_action_result(context, id, answer);
    }

    /// Tells the device taint eviction controller what came of its request.
    pub(super) fn device_taint_answered(
        &mut self,
        context: &mut Context<'_>,
        id: RequestId,
        answer: RequestResult,
    ) {
        if let Some(controller) = &mut self.device_taint_eviction {
            controller.handle_action_result(context, id, answer);
        }
    }

    /// Tells the descheduler what came of its request.
    pub(super) fn descheduled(&mut self, context: &mut Context<'_>, id: RequestId, granted: bool) {
        if let Some(descheduler) = &mut self.descheduler {
            descheduler.handle_action_result(context, id, granted);
        }
    }

    /// What the eviction subresource of a pod decides. Mirrors `EvictionREST.Create`.
    pub(super) fn decide_eviction(
        &self,
        api: &ApiServer,
        key: &PodKey,
        grace: Option<u32>,
    ) -> Result<Eviction, CommandError> {
        Ok(self.ask_budgets(api, api.pod(key)?, grace)?)
    }

    /// What the budgets of a pod say to its eviction.
    pub(super) fn ask_budgets(
        &self,
        api: &ApiServer,
        pod: &Pod,
        grace: Option<u32>,
    ) -> Result<Eviction, EvictionError> {
        let budgets = self.disruption.budgets_of(pod);
        let budgets = budgets.iter().filter_map(|budget| api.cluster.get_budget(budget));
        let budgets: Vec<&PodDisruptionBudget> = budgets.map(AsRef::as_ref).collect();
        let grace_period_seconds = grace.map(i64::from);
        let options = DeleteOptions { grace_period_seconds, ..DeleteOptions::default() };
        let now = api.wall_clock(api.now).truncated_to_seconds();
        evict(api.config.release, pod, &budgets, &options, now)
    }

    /// What the API server answers to a controller that evicts a pod.
    pub(super) fn answer_eviction(&self, api: &ApiServer, key: &PodKey) -> RequestResult {
        match self.decide_eviction(api, key, None) {
            Ok(_) => RequestResult::Ok,
            Err(CommandError::PodNotFound(_)) => RequestResult::NotFound,
            Err(CommandError::SeveralBudgets { .. }) => {
                RequestResult::Error(ApiErrorKind::InternalError)
            }
            Err(_) => RequestResult::Error(ApiErrorKind::TooManyRequests),
        }
    }

    /// The budgets that would have forbidden to evict a pod, which a controller deletes without
    /// asking them.
    pub(super) fn unasked_budgets(&self, api: &ApiServer, key: &PodKey) -> Vec<PodKey> {
        let pod = api.cluster.get_pod(key).filter(|_| !self.disruption.is_empty());
        let Some(pod) = pod else { return Vec::new() };
        let (options, now) = (DeleteOptions::default(), api.wall_clock(api.now));
        let mut budgets = self.disruption.budgets_of(pod);
        budgets.retain(|budget| {
            let budget = api.cluster.get_budget(budget);
            budget.is_some_and(|budget| {
                evict(api.config.release, pod, &[budget], &options, now).is_err()
            })
        });
        budgets
    }

    /// Whether a pod is of the present template of its workload.
    pub(super) fn is_updated(&self, workload: &Workload, pod: &Pod) -> bool {
        let key = workload.key();
        let hash = || pod.metadata.labels.get(crate::controllers::workload::REVISION_LABEL);
        let is = |revision: Option<&str>| {
            revision.is_none_or(|revision| hash().is_none_or(|hash| hash == revision))
        };
        match workload.kind {
            WorkloadKind::Deployment => self.deployments.revision(&key).is_none_or(|revision| {
                pod.metadata.controller().is_some_and(|owner| owner.name == revision)
            }),
            WorkloadKind::StatefulSet => is(self.stateful_sets.revision(&key)),
            WorkloadKind::DaemonSet => is(self.daemon_sets.revision(&key)),
            WorkloadKind::ReplicaSet | WorkloadKind::Job => true,
        }
    }
}

/// The errors of an object at the beginning, as one.
fn all_fine(object: &dyn core::fmt::Display, errors: &[FieldError]) -> Result<(), ConfigError> {
    match errors {
        [] => Ok(()),
        [error, ..] => Err(ConfigError::Object(format!("{object} is invalid: {error}"))),
    }
}
