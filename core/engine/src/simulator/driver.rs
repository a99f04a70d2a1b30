//! What the machines want done, and who is told: writes reach the store one by one, and all that
//! watch it see one before the next is made.
#![deny(clippy::wildcard_enum_match_arm, reason = "a new action is thought of here")]

use alloc::boxed::Box;

use taintlab_rules::api::{DeviceKind, Node, PodKey, WorkloadKind};
use taintlab_rules::cluster::Change;
use taintlab_rules::protocol::RequestId;
use taintlab_rules::release::FeatureGate;

use super::control_plane::ControlAction;
use super::node_controllers::Deleter;
use super::{Simulator, device_eviction};
use crate::api_server::{VolumeWrite, Write};
use crate::command::{Cascade, CommandError, NodeWrite, PodWrite};
use crate::controllers::attach_detach::AttachDetachAction;
use crate::controllers::autoscaler::AutoscalerAction;
use crate::controllers::descheduler::DeschedulerAction;
use crate::controllers::device_taint_eviction::DeviceTaintEvictionAction;
use crate::controllers::disruption::DisruptionAction;
use crate::controllers::drain::{DrainAction, DrainController};
use crate::controllers::persistent_volume::PersistentVolumeAction;
use crate::controllers::pod_gc::{PodGcAction, PodGcAnswer};
use crate::controllers::resource_claim::ResourceClaimAction;
use crate::controllers::scheduler::SchedulerAction;
use crate::controllers::taint_eviction::shard_of;
use crate::controllers::workload::{WorkloadAction, WriteAnswer};
use crate::controllers::{Context, Controller, Machine, node_lifecycle, taint_eviction};
use crate::event::{EventKind, RequestResult, RequestVerb};
use crate::kubelet::{KubeletAction, Kubelets};

impl Simulator {
    /// Makes writes in their order, each with all that kubelets do at once because of it.
    pub(super) fn commit(&mut self, writes: impl IntoIterator<Item = Write>) {
        for write in writes {
            self.store(write);
            self.run_kubelets();
        }
    }

    /// Makes a write, and tells all that watch the store.
    fn store(&mut self, mut write: Write) {
        if let Write::PutPod(_, pod) | Write::Terminate(_, pod) = &mut write {
            let wall_clock = self.api.wall_clock(self.api.now);
            self.kubelets.complete_status(wall_clock, pod);
        }
        if let Write::Terminate(termination, _) = &write {
            let mut context = self.api.context(&mut self.sequence);
            self.kubelets.terminate(&mut context, termination.clone());
        }
        let Some(change) = self.api.store(write) else { return };
        let mut context = self.api.context(&mut self.sequence);
        let removed = matches!(change, Change::Pod { new: None, .. });
        if !removed {
            self.drains.handle_change(&mut context, &change);
        }
        self.nodes.handle_change(context.now, &change);
        if let Some(control) = &mut self.control {
            control.handle_change(&mut context, &change);
        }
        self.kubelets.handle_change(&mut context, &change);
        if removed {
            self.drains.handle_change(&mut context, &change);
        }
        if let Change::Pod { old: Some(old), new: Some(new), .. } = &change
            && old.metadata.labels != new.metadata.labels
        {
            self.run_control_actions();
        }
    }

    /// Calls the kubelets, and carries out what they want done.
    pub(super) fn with_kubelets<T>(
        &mut self,
        call: impl FnOnce(&mut Kubelets, &mut Context<'_>) -> T,
    ) -> T {
        let answer = call(&mut self.kubelets, &mut self.api.context(&mut self.sequence));
        self.run_kubelets();
        answer
    }

    fn run_kubelets(&mut self) {
        while let Some(action) =
            self.kubelets.poll_action(&mut self.api.context(&mut self.sequence))
        {
            match action {
                KubeletAction::RecordEvent(event) => {
                    self.api.emit(EventKind::EventRecorded(event));
                }
                KubeletAction::ReportLost { node, cause } => {
                    self.api.emit(EventKind::HeartbeatLost { node, cause });
                }
                KubeletAction::ReportResumed { node } => {
                    self.api.emit(EventKind::HeartbeatResumed { node });
                }
                KubeletAction::ReportEviction { node, report } => {
                    self.api.emit(EventKind::KubeletEviction { node, report });
                }
                KubeletAction::ReportShutdown { node, report } => {
                    self.api.emit(EventKind::NodeShutdown { node, report });
                }
                KubeletAction::PostStatus(node) => self.store(Write::PutNode(node)),
                KubeletAction::PatchPodStatus(key, pod) => self.store(Write::PutPod(key, pod)),
                KubeletAction::ConfirmDeletion(key) => {
                    let now = self.api.wall_clock(self.api.now);
                    let pod = self.api.cluster.get_pod(&key);
                    if let Some(ended) = pod.and_then(|pod| self.kubelets.last_status(now, pod)) {
                        self.store(Write::PutPod(key.clone(), Box::new(ended)));
                    }
                    self.store(self.api.remove_pod(key));
                }
                KubeletAction::ReportVolumeInUse { node, volume, mounted } => {
                    self.store(Write::Volume(VolumeWrite::SetInUse { volume, node, mounted }));
                }
                KubeletAction::RecordHeartbeats(node) => {
                    self.nodes.record_heartbeats(&mut self.api, node);
                }
                KubeletAction::Heartbeats { node, heartbeats } => {
                    self.nodes.handle_heartbeats(self.api.now, &node, heartbeats);
                }
            }
        }
    }

    /// Calls the drains, and carries out what they want done.
    pub(super) fn with_drains<T>(
        &mut self,
        call: impl FnOnce(&mut DrainController, &mut Context<'_>) -> T,
    ) -> T {
        let answer = call(&mut self.drains, &mut self.api.context(&mut self.sequence));
        while let Some(action) = self.drains.poll_action(&mut self.api.context(&mut self.sequence))
        {
            match action {
                DrainAction::Started { drain } => self.api.emit(EventKind::DrainStarted { drain }),
                DrainAction::Print { drain, is_error, line } => {
                    self.api.emit(EventKind::DrainPrinted { drain, is_error, line });
                }
                DrainAction::Evict { id, pod, disable_eviction, grace_period_seconds } => {
                    let answer = self.evict_for_drain(pod, disable_eviction, grace_period_seconds);
                    let mut context = self.api.context(&mut self.sequence);
                    self.drains.handle_action_result(&mut context, id, answer);
                }
                DrainAction::Ended { drain, failed } => {
                    self.api.emit(EventKind::DrainEnded { drain, failed });
                }
            }
        }
        answer
    }

    /// The control plane looks at one thing; whether there was any.
    pub(super) fn run_control(&mut self) -> bool {
        let Some(control) = &mut self.control else { return false };
        let worked = control.work(&mut self.api.context(&mut self.sequence));
        self.run_control_actions();
        // What it did can be news for one that has looked already.
        worked || self.control.as_ref().is_some_and(|control| control.has_work())
    }

    /// Carries out what the control plane wants done.
    pub(super) fn run_control_actions(&mut self) {
        while let Some(control) = &mut self.control
            && let Some(action) = control.poll_action(&mut self.api.context(&mut self.sequence))
        {
            match action {
                ControlAction::Workload(kind, action) => {
                    if let Some((id, answer)) = self.act_for_workload(action)
                        && let Some(control) = &mut self.control
                    {
                        let mut context = self.api.context(&mut self.sequence);
                        control.answer(&mut context, kind, id, answer);
                    }
                }
                ControlAction::Scheduler(action) => self.act_for_scheduler(action),
                ControlAction::Volume(PersistentVolumeAction::CreateVolume(volume)) => {
                    let write = self.api.create_volume(*volume);
                    self.commit(write);
                }
                ControlAction::Volume(PersistentVolumeAction::BindClaim { claim, volume }) => {
                    self.commit(self.api.bind_claim(&claim, &volume));
                }
                ControlAction::Volume(PersistentVolumeAction::RemoveClaim { claim }) => {
                    self.commit([Write::Volume(VolumeWrite::RemoveClaim(claim))]);
                }
                ControlAction::Volume(PersistentVolumeAction::ReleaseVolume { volume }) => {
                    self.commit(self.api.release_volume(&volume));
                }
                ControlAction::Volume(PersistentVolumeAction::RemoveVolume { volume }) => {
                    self.commit([Write::Volume(VolumeWrite::RemoveVolume(volume))]);
                }
                ControlAction::ResourceClaim(ResourceClaimAction::RecordEvent(event)) => {
                    self.api.emit(EventKind::EventRecorded(event));
                }
                ControlAction::ResourceClaim(ResourceClaimAction::CreateClaim(claim)) => {
                    // One of that name is there if somebody created it meanwhile.
                    let write = self.api.create_device_object(*claim).ok();
                    self.commit(write);
                }
                ControlAction::ResourceClaim(ResourceClaimAction::UpdateClaim(claim)) => {
                    self.commit([Write::PutDeviceObject(claim)]);
                }
                ControlAction::ResourceClaim(ResourceClaimAction::DeleteClaim { claim }) => {
                    self.commit([Write::RemoveDeviceObject(DeviceKind::ResourceClaim, claim)]);
                }
                ControlAction::ResourceClaim(ResourceClaimAction::SetClaimStatuses {
                    pod,
                    statuses,
                }) => self.commit(self.api.set_claim_statuses(pod, statuses)),
                ControlAction::Attach(AttachDetachAction::RecordEvent(event)) => {
                    self.api.emit(EventKind::EventRecorded(event));
                }
                ControlAction::Attach(AttachDetachAction::Attach { volume, node }) => {
                    self.commit([Write::Volume(VolumeWrite::Attach { volume, node })]);
                }
                ControlAction::Attach(AttachDetachAction::Detach { volume, node, forced }) => {
                    self.commit([Write::Volume(VolumeWrite::Detach { volume, node, forced })]);
                }
                ControlAction::DeviceTaint(action) => act_for_device_taints(self, action),
                ControlAction::Disruption(DisruptionAction::RecordEvent(event)) => {
                    self.api.emit(EventKind::EventRecorded(event));
                }
                ControlAction::Disruption(DisruptionAction::UpdateStatus { budget, status }) => {
                    self.commit(self.api.write_budget_status(&budget, status));
                }
                ControlAction::Autoscale(AutoscalerAction::CreateNode(node)) => {
                    // One of that name is there if somebody created it meanwhile.
                    let _ = self.create_node(node, true);
                }
                ControlAction::Autoscale(AutoscalerAction::RecordEvent(event))
                | ControlAction::Deschedule(DeschedulerAction::RecordEvent(event)) => {
                    self.api.emit(EventKind::EventRecorded(event));
                }
                ControlAction::Deschedule(DeschedulerAction::Evict { id, pod }) => {
                    // Budgets are asked as they are now.
                    self.sync_budgets();
                    let result = match (self.api.take_fault(&pod, PodWrite::Delete), &self.control)
                    {
                        (Some(error), _) => RequestResult::Error(error),
                        (None, Some(control)) => control.answer_eviction(&self.api, &pod),
                        (None, None) => RequestResult::NotFound,
                    };
                    let granted = result.is_ok() && self.evict(&pod, None).is_ok();
                    if !result.is_ok() {
                        self.api.report_eviction(&pod, result);
                    }
                    if let Some(control) = &mut self.control {
                        control.descheduled(&mut self.api.context(&mut self.sequence), id, granted);
                    }
                }
                ControlAction::Collect(action) => {
                    let (id, answer) = match action {
                        PodGcAction::GetNode { id, node } => {
                            let exists = self.api.cluster.get_node(node.as_str()).is_some();
                            (id, PodGcAnswer::NodeExists(exists))
                        }
                        PodGcAction::MarkFailed { id, pod, condition } => {
                            self.commit(self.api.mark_failed(pod, condition));
                            sync_stateful_set(self);
                            (id, PodGcAnswer::Done)
                        }
                        PodGcAction::DeletePod { id, pod } => {
                            self.commit([self.api.remove_pod(pod)]);
                            (id, PodGcAnswer::Done)
                        }
                    };
                    if let Some(control) = &mut self.control {
                        control.collected(&mut self.api.context(&mut self.sequence), id, answer);
                    }
                }
            }
        }
    }

    /// The disruption controller looks at all budgets that wait for it: nobody who asks a budget is
    /// quicker.
    pub(super) fn sync_budgets(&mut self) {
        while let Some(control) = &mut self.control
            && control.disruption.next_work().is_some()
        {
            control.disruption.handle_timeout(&mut self.api.context(&mut self.sequence));
            self.run_control_actions();
        }
    }

    /// The eviction subresource of a pod.
    pub(super) fn evict(&mut self, pod: &PodKey, grace: Option<u32>) -> Result<(), CommandError> {
        self.sync_budgets();
        let control = self.control.as_ref().ok_or(CommandError::NoControlPlane)?;
        let eviction = control.decide_eviction(&self.api, pod, grace)?;
        self.api.report_eviction(pod, RequestResult::Ok);
        if let Some((budget, status)) = eviction.charged {
            self.commit(self.api.write_budget_status(&budget, status));
        }
        if self.api.gates.is_enabled(FeatureGate::PodDisruptionConditions) {
            self.commit(self.api.mark_evicted(pod));
        }
        let grace = eviction.delete_options.grace_period_seconds;
        self.commit(self.api.delete_gracefully(pod, grace));
        Ok(())
    }

    fn act_for_scheduler(&mut self, action: SchedulerAction) {
        match action {
            SchedulerAction::RecordEvent(event) => self.api.emit(EventKind::EventRecorded(event)),
            SchedulerAction::SelectNode { claim, node, volume } => {
                self.commit(self.api.select_node(&claim, &node, volume.as_deref()));
            }
            SchedulerAction::ReserveClaim(claim) => self.commit([Write::PutDeviceObject(claim)]),
            SchedulerAction::BindPod { pod, node } => {
                let binding = self.api.write_binding(pod, &node);
                self.commit(binding);
            }
            SchedulerAction::MarkUnschedulable { pod, message, nominated } => {
                self.commit(self.api.mark_unschedulable(pod, &message, nominated.as_ref()));
            }
            SchedulerAction::PreemptPod { pod, condition, event } => {
                if self.api.gates.is_enabled(FeatureGate::PodDisruptionConditions) {
                    let (_, write) = self.api.patch_pod_condition(&pod, condition);
                    self.commit(write);
                }
                self.delete_for_controller(&pod, Deleter::Other);
                self.api.emit(EventKind::EventRecorded(event));
            }
            SchedulerAction::ClearNomination { pod } => {
                self.commit(self.api.clear_nomination(pod));
            }
        }
    }

    fn act_for_workload(&mut self, action: WorkloadAction) -> Option<(RequestId, WriteAnswer)> {
        match action {
            WorkloadAction::RecordEvent(event) => self.api.emit(EventKind::EventRecorded(event)),
            WorkloadAction::CreatePod { id, pod, .. }
                if self.api.cluster.get_pod(&pod.key()).is_some() =>
            {
                return Some((id, WriteAnswer::AlreadyExists));
            }
            WorkloadAction::CreatePod { id, mut pod, mut additions, event } => {
                match self.api.admit_pod(&mut pod) {
                    Ok(more) => additions.extend(more),
                    Err(reason) => return Some((id, WriteAnswer::Refused(reason))),
                }
                self.api.emit(EventKind::EventRecorded(event));
                let write = self.api.store_new_pod(*pod, additions);
                self.commit([write]);
                return Some((id, WriteAnswer::Done));
            }
            WorkloadAction::DeletePod { id, pod } => {
                self.commit(self.api.delete_gracefully(&pod, None));
                return Some((id, WriteAnswer::Done));
            }
            WorkloadAction::CreateClaim(claim, event) => {
                if let Some(write) = self.api.create_claim(*claim) {
                    self.commit([write]);
                    self.api.emit(EventKind::EventRecorded(event));
                }
            }
            WorkloadAction::ReleasePod { pod } => self.commit(self.api.disown_pod(&pod)),
            WorkloadAction::CreateReplicaSet(mut set) => {
                self.api.default_metadata(&mut set.metadata);
                self.commit([Write::PutWorkload(set)]);
            }
            WorkloadAction::AdoptPod { pod, owner } => {
                self.commit(self.api.adopt_pod(&pod, *owner))
            }
            WorkloadAction::FinalizePod { pod } => self.commit(self.api.finalize_pod(&pod)),
            WorkloadAction::UpdatePod(pod) => self.commit([Write::PutPod(pod.key(), pod)]),
            WorkloadAction::UpdateReplicaSet(set) => {
                self.commit(self.api.update_replica_set(*set));
            }
            WorkloadAction::DeleteWorkload(workload) => {
                // One that is gone is gone.
                let writes = self.api.delete_workload(&workload, Cascade::Background);
                self.commit(writes.unwrap_or_default());
            }
            WorkloadAction::UpdateStatus { workload, status, annotations } => {
                self.commit(self.api.write_workload_status(&workload, status, annotations));
            }
            WorkloadAction::UpdateDaemonSetStatus { workload, status } => {
                let desired = status.desired_number_scheduled;
                if let Some(control) = &mut self.control {
                    let context = self.api.context(&mut self.sequence);
                    control.ready_history.set_desired(&context, &workload, desired);
                }
            }
        }
        None
    }

    /// Carries out what the taint-eviction controller wants done.
    pub(super) fn run_taint_eviction_actions(&mut self) {
        use taint_eviction::TaintEvictionAction as Action;
        let now = self.api.now;
        while let Some(action) = self.nodes.poll_taint_eviction(now, &mut self.sequence) {
            let (id, result) = match action {
                Action::RecordEvent(event) => {
                    self.api.emit(EventKind::EventRecorded(event));
                    continue;
                }
                Action::Report(decision) => {
                    self.nodes.record_decision(&self.api, &decision);
                    self.api.emit(EventKind::Decided(decision));
                    continue;
                }
                Action::ReportNode { node, taints } => {
                    self.nodes.record_node(&self.api, &node, &taints);
                    let (shard, taints) = (shard_of(node.as_str()), taints.to_vec());
                    self.api.emit(EventKind::NodeEvaluated { node, shard, taints });
                    continue;
                }
                Action::PatchPodStatus { id, pod, condition } => {
                    let (result, write) = self.api.patch_pod_condition(&pod, condition);
                    self.commit(write);
                    (id, result)
                }
                Action::DeletePod { id, pod } => {
                    (id, self.delete_for_controller(&pod, Deleter::Other))
                }
            };
            let mut context = self.api.context(&mut self.sequence);
            self.nodes.number_timers(&mut context, |controller, context| {
                controller.handle_action_result(context.now, id, result);
            });
        }
    }

    /// The node lifecycle controller does one piece of what is due, and all that its results allow
    /// to go on.
    pub(super) fn run_lifecycle(&mut self) {
        use node_lifecycle::NodeLifecycleAction as Action;
        loop {
            let Some(lifecycle) = &mut self.nodes.lifecycle else { return };
            lifecycle.handle_timeout(self.api.now, &self.api.cluster);
            let mut answered = false;
            while let Some(action) = self.nodes.lifecycle.as_mut().and_then(|c| c.poll_action()) {
                let (id, (result, write)) = match action {
                    Action::RecordEvent(event) => {
                        self.api.emit(EventKind::EventRecorded(event));
                        continue;
                    }
                    Action::Report(report) => {
                        self.api.emit(report.into());
                        continue;
                    }
                    Action::PatchNodeStatus { id, node, conditions } => {
                        let change = |node: &mut Node| node.status.conditions = conditions;
                        (id, self.api.patch_node(&node, NodeWrite::Status, change))
                    }
                    Action::PatchNodeTaints { id, node, patch } => {
                        let change = |node: &mut Node| {
                            patch.apply(node);
                        };
                        (id, self.api.patch_node(&node, NodeWrite::Taints, change))
                    }
                    Action::PatchNodeLabels { id, node, labels } => {
                        let change = |node: &mut Node| node.metadata.labels.extend(labels);
                        (id, self.api.patch_node(&node, NodeWrite::Labels, change))
                    }
                    Action::PatchPodStatus { id, pod: key, patch } => {
                        let (result, pod) = self.api.patch_pod_status(&key, &patch);
                        let write = pod.map(|pod| {
                            let node = &pod.spec.node_name;
                            let mut context = self.api.context(&mut self.sequence);
                            self.kubelets.remember_marked(&mut context, &key, node);
                            Write::PutPod(key, Box::new(pod))
                        });
                        (id, (result, write))
                    }
                    Action::DeletePod { id, pod } => {
                        (id, (self.delete_for_controller(&pod, Deleter::Lifecycle), None))
                    }
                };
                self.commit(write);
                if let Some(lifecycle) = &mut self.nodes.lifecycle {
                    lifecycle.handle_action_result(self.api.now, id, result);
                }
                answered = true;
            }
            if !answered {
                return;
            }
        }
    }

    /// A controller deletes a pod, which asks no budget: it is said which would have forbidden it.
    fn delete_for_controller(&mut self, pod: &PodKey, deleter: Deleter) -> RequestResult {
        let uid = self.api.uid_of(pod);
        let result = self.api.delete_result(pod);
        let verb = RequestVerb::Delete;
        // Said before the object's own event, as the cause of it.
        self.api.emit(EventKind::Request { pod: pod.clone(), uid, verb, result });
        if result != RequestResult::Ok {
            return result;
        }
        self.sync_budgets();
        if let Some(control) = &self.control {
            for budget in control.unasked_budgets(&self.api, pod) {
                self.api.emit(EventKind::BudgetNotAsked { pod: pod.clone(), budget });
            }
        }
        self.nodes.record_delete(&self.api, pod, deleter);
        self.commit(self.api.delete_gracefully(pod, None));
        result
    }
}

/// Carries out what the device taint eviction controller wants done.
fn act_for_device_taints(simulator: &mut Simulator, action: DeviceTaintEvictionAction) {
    use DeviceTaintEvictionAction as Action;
    let (id, result) = match action {
        Action::RecordEvent(event) => {
            simulator.api.emit(EventKind::EventRecorded(event));
            return;
        }
        Action::PatchPodStatus { id, pod, condition } => {
            let (result, write) = simulator.api.patch_pod_condition(&pod, condition);
            simulator.commit(write);
            (id, result)
        }
        Action::DeletePod { id, pod } => {
            let planned = device_eviction(simulator, &pod).cloned();
            let deleter = planned.map_or(Deleter::Other, Deleter::Devices);
            (id, simulator.delete_for_controller(&pod, deleter))
        }
        Action::Report(pod, eviction) => {
            simulator.api.emit(EventKind::DeviceEvictionPlanned { pod, eviction });
            return;
        }
        Action::UpdateRuleStatus { id, rule, condition } => {
            simulator.commit(simulator.api.write_rule_status(&rule, &condition));
            (id, RequestResult::Ok)
        }
    };
    if let Some(control) = &mut simulator.control {
        let mut context = simulator.api.context(&mut simulator.sequence);
        control.device_taint_answered(&mut context, id, result);
    }
}

/// The StatefulSet controller sees that the garbage collector has marked a pod as failed before
/// that deletes it, and deletes it, too.
fn sync_stateful_set(simulator: &mut Simulator) {
    if simulator.api.config.release.recreates_ended_pods_at_once() {
        return;
    }
    // The pods that are gone by now have no timers any more when others take their names.
    while simulator.nodes.taint_eviction.has_queued_work() {
        simulator.nodes.run_taint_eviction(&mut simulator.api.context(&mut simulator.sequence));
        simulator.run_taint_eviction_actions();
    }
    if let Some(control) = &mut simulator.control
        && control.stateful_sets.next_work().is_some()
    {
        control.stateful_sets.handle_timeout(&mut simulator.api.context(&mut simulator.sequence));
    }
    while let Some(control) = &mut simulator.control
        && let Some(action) =
            control.stateful_sets.poll_action(&mut simulator.api.context(&mut simulator.sequence))
    {
        if let Some((id, answer)) = simulator.act_for_workload(action)
            && let Some(control) = &mut simulator.control
        {
            let mut context = simulator.api.context(&mut simulator.sequence);
            control.answer(&mut context, WorkloadKind::StatefulSet, id, answer);
        }
    }
}
