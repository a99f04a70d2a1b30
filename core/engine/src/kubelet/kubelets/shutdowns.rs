//! Nodes that are shut down: their kubelets end the pods first, if they are set so, and then the
//! node is off until somebody starts it again.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use taintlab_rules::api::node_condition_type::READY;
use taintlab_rules::api::{
    ConditionStatus, ContainerRestarts, NodeName, Pod, PodKey, PodPhase, SHUTDOWN_TIME_ANNOTATION,
};
use taintlab_rules::cluster::Cluster;
use taintlab_rules::queue::timer_queue::TimerId;
use taintlab_rules::time::{Span, Timestamp};

use super::starts::time_of;
use super::{KubeletAction, KubeletError, Kubelets, Step, Wake, posts};
use crate::controllers::Context;
use crate::controllers::node_lifecycle::NODE_LOST;
use crate::kubelet::heartbeat::Reported;
use crate::kubelet::node_shutdown::{
    asked_seconds, mark_containers_ended, mark_ended, mark_ending,
};
use crate::kubelet::{NodeShutdownConfig, NodeShutdownReport, ShutdownGroup};

/// What a kubelet that is shutting down says of its node. Mirrors `ShutdownStatus`.
const SHUTTING_DOWN: &str = "node is shutting down";

/// Whether a machine is on.
#[derive(Clone, Debug, Default)]
pub(super) enum Power {
    #[default]
    On,
    /// Its kubelet ends the pods before it is off.
    ShuttingDown(Box<Shutdown>),
    Off,
}

/// A shutdown that waits for pods.
#[derive(Clone, Debug)]
pub(super) struct Shutdown {
    /// When it began.
    since: Timestamp,
    /// Groups of pods that are not told to end yet, the next last.
    groups: Vec<ShutdownGroup>,
    /// Pods that are told to end.
    ending: Vec<Ending>,
    /// Until when the kubelet waits for them.
    until: Timestamp,
    timer: Option<TimerId>,
    /// What the kubelet said of its node before.
    ready: Option<Reported>,
    cancelled: bool,
}

/// A pod whose containers are told to end.
#[derive(Clone, Debug)]
pub(super) struct Ending {
    at: Timestamp,
    pod: PodKey,
    uid: String,
    /// Whether its status says already that it has failed, so that its object may be gone before
    /// its containers have ended.
    has_failed: bool,
}

impl Ending {
    /// The pod, if it is still there, and not another one of its name.
    fn object<'a>(&self, cluster: &'a Cluster) -> Option<&'a Arc<Pod>> {
        cluster.get_pod(&self.pod).filter(|pod| pod.metadata.uid == self.uid)
    }
}

impl Kubelets {
    /// Shuts a node down. Its kubelet ends the pods first if its configuration says so or, should
    /// that say nothing, if `periods` do. A node that is being shut down, or is off, stays so.
    pub(crate) fn shut_down(
        &mut self,
        context: &mut Context<'_>,
        name: &NodeName,
        periods: &NodeShutdownConfig,
    ) -> Result<(), KubeletError> {
        let kubelet = self.get_mut(name)?;
        let runs = kubelet.runs;
        match &mut kubelet.power {
            Power::Off => return Ok(()),
            Power::ShuttingDown(shutdown) => {
                shutdown.cancelled = false;
                return Ok(());
            }
            Power::On => {}
        }
        self.forget_switch(name);
        let config = self.shutdown_config(name).clone();
        let config = if config.is_off() { periods } else { config.as_ref() };
        if !runs || config.is_off() {
            self.then(name, [Step::PowerOff]);
            return Ok(());
        }
        let config = config.clone();
        self.begin_shutdown(context, name, &config);
        Ok(())
    }

    /// Cuts the power of a node, whatever its kubelet is set to do.
    pub(crate) fn power_off_node(&mut self, name: &NodeName) -> Result<(), KubeletError> {
        self.get_mut(name)?;
        self.forget_switch(name);
        self.then(name, [Step::PowerOff]);
        Ok(())
    }

    /// Cancels a shutdown that waits for pods; whether there was one.
    pub(crate) fn cancel_shutdown(&mut self, name: &NodeName) -> Result<bool, KubeletError> {
        let Power::ShuttingDown(shutdown) = &mut self.get_mut(name)?.power else {
            return Ok(false);
        };
        let was_cancelled = core::mem::replace(&mut shutdown.cancelled, true);
        Ok(!was_cancelled)
    }

    /// What the kubelet of a node goes by when it is shut down.
    pub(crate) fn shutdown_config(&self, name: &NodeName) -> &Arc<NodeShutdownConfig> {
        let kubelet = self.by_node.get(name.as_str());
        let own = kubelet.and_then(|kubelet| kubelet.setup.as_ref());
        own.map_or(&self.config.shutdown, |setup| &setup.shutdown)
    }

    /// Whether a kubelet ends the pods of its node, which is shut down.
    pub(super) fn is_shutting_down(&self, name: &str) -> bool {
        let kubelet = self.by_node.get(name);
        kubelet.is_some_and(|kubelet| matches!(kubelet.power, Power::ShuttingDown(_)))
    }

    fn shutdown_mut(&mut self, name: &NodeName) -> Option<&mut Shutdown> {
        match &mut self.by_node.get_mut(name.as_str())?.power {
            Power::ShuttingDown(shutdown) => Some(shutdown),
            Power::On | Power::Off => None,
        }
    }

    fn begin_shutdown(
        &mut self,
        context: &Context<'_>,
        name: &NodeName,
        config: &NodeShutdownConfig,
    ) {
        let release = self.config.release;
        let active = context.cluster.pods_of(name.as_str()).filter(|(_, pod)| !pod.has_ended());
        let mut groups = config.groups(release, active.map(|(key, pod)| (key, pod.as_ref())));
        groups.reverse();
        let pods = groups.iter().map(|group| group.pods.len()).sum();
        let Some(kubelet) = self.by_node.get_mut(name.as_str()) else { return };
        let ready = kubelet.report.of_type(READY).cloned();
        let message = Some(SHUTTING_DOWN.to_string());
        let not_ready = Reported::new(READY, ConditionStatus::False, None, message);
        kubelet.report = kubelet.report.with(not_ready);
        let connected = kubelet.connected;
        kubelet.power = Power::ShuttingDown(Box::new(Shutdown {
            since: context.now,
            groups,
            ending: Vec::new(),
            until: context.now,
            timer: None,
            ready,
            cancelled: false,
        }));
        let started = NodeShutdownReport::Started { pods, within: Span(config.longest()) };
        let post = if release.shutdown_is_posted_at_once() && connected {
            Step::Post { renew: false }
        } else {
            Step::UpdateStatus
        };
        let steps = [
            Some(self.report_shutdown(name, started)),
            self.record_shutdown(name, "Shutdown manager detected shutdown event"),
            Some(post),
            Some(Step::GoOnShuttingDown),
        ];
        self.then(name, steps.into_iter().flatten().collect::<Vec<_>>());
    }

    fn report_shutdown(&self, name: &NodeName, report: NodeShutdownReport) -> Step {
        Step::Act(KubeletAction::ReportShutdown { node: name.clone(), report })
    }

    /// The event that a kubelet records about the shutdown, if it is connected.
    fn record_shutdown(&self, name: &NodeName, message: &str) -> Option<Step> {
        let connected = self.is_connected(name.as_str()) && self.config.release.records_shutdown();
        connected.then(|| Step::Act(posts::record_event(name, "Shutdown", message.into())))
    }

    /// Pods have ended, or have had their time: the next group ends, or the node is off.
    pub(super) fn go_on_shutting_down(&mut self, context: &mut Context<'_>, name: &NodeName) {
        let now = context.now;
        self.forget_shutdown_timer(name);
        let Some(shutdown) = self.shutdown_mut(name) else { return };
        let runs = |ending: &Ending| ending.has_failed || ending.object(context.cluster).is_some();
        shutdown.ending.retain(runs);
        let ended = |ending: &mut Ending| ending.at <= now;
        let ended: Vec<Ending> = shutdown.ending.extract_if(.., ended).collect();
        if !ended.is_empty() {
            let steps = ended.into_iter().map(Step::EndPod).chain([Step::GoOnShuttingDown]);
            self.then(name, steps.collect::<Vec<_>>());
            return;
        }
        let next_end = shutdown.ending.iter().map(|ending| ending.at).min();
        if let Some(at) = next_end.filter(|_| shutdown.until > now) {
            self.plan_shutdown(context, name, at);
            return;
        }
        let begins =
            shutdown.groups.last().map(|group| shutdown.since.saturating_add(group.not_before));
        match begins {
            Some(at) if at > now => self.plan_shutdown(context, name, at),
            Some(_) => self.end_next_group(context, name),
            None => self.finish_shutdown(name),
        }
    }

    fn end_next_group(&mut self, context: &mut Context<'_>, name: &NodeName) {
        let now = context.now;
        let marks = !self.config.release.pods_fail_when_containers_have_ended();
        let fails = self.config.release.shutdown_fails_pods();
        let Some(group) = self.shutdown_mut(name).and_then(|shutdown| shutdown.groups.pop()) else {
            return;
        };
        let (mut ending, mut steps) = (Vec::new(), Vec::new());
        for (key, grace) in &group.pods {
            let Some(pod) = context.cluster.get_pod(key) else { continue };
            if pod.has_ended() || pod.spec.node_name != name.as_str() {
                continue;
            }
            let span = Duration::from_secs(u64::try_from(*grace).unwrap_or_default());
            let takes = time_of(context.cluster, pod, SHUTDOWN_TIME_ANNOTATION).unwrap_or(span);
            let at = now.saturating_add(span.min(takes));
            // One that is being deleted does not get more time than it has left.
            let deleted = Some(key).filter(|_| pod.is_terminating());
            let left = deleted.and_then(|key| self.grace_period_ends(context.cluster, key));
            let at = left.map_or(at, |left| at.min(left));
            let asks = asked_seconds(pod);
            let (uid, has_failed) = (pod.metadata.uid.clone(), marks && fails);
            ending.push(Ending { at, pod: key.clone(), uid, has_failed });
            let killing = NodeShutdownReport::Killing {
                pod: key.clone(),
                grace_period_seconds: *grace,
                asks_for_seconds: (asks > *grace).then_some(asks),
            };
            steps.push(Step::Act(KubeletAction::ReportShutdown {
                node: name.clone(),
                report: killing,
            }));
            if marks {
                steps.push(Step::MarkEnding(key.clone()));
            }
        }
        let (priority, pods, period) = (group.priority, ending.len(), Span(group.period));
        if let Some(shutdown) = self.shutdown_mut(name) {
            shutdown.until = now.saturating_add(group.period);
            shutdown.ending.extend(ending);
        }
        let report = NodeShutdownReport::EndingGroup { priority, pods, period };
        let first = (pods > 0).then(|| self.report_shutdown(name, report));
        let steps = first.into_iter().chain(steps).chain([Step::GoOnShuttingDown]);
        self.then(name, steps.collect::<Vec<_>>());
    }

    /// All pods have ended, or have had their time.
    fn finish_shutdown(&mut self, name: &NodeName) {
        let Some(shutdown) = self.shutdown_mut(name) else { return };
        if !shutdown.cancelled {
            self.then(name, [Step::PowerOff]);
            return;
        }
        self.turn_on(name);
        let steps = [
            Some(self.report_shutdown(name, NodeShutdownReport::Cancelled)),
            self.record_shutdown(name, "Shutdown manager detected shutdown cancellation"),
            Some(Step::UpdateStatus),
        ];
        self.then(name, steps.into_iter().flatten().collect::<Vec<_>>());
    }

    /// The machine of a kubelet is on, and not being shut down: what the kubelet says of its node
    /// is what it said before.
    fn turn_on(&mut self, name: &NodeName) {
        let Some(kubelet) = self.by_node.get_mut(name.as_str()) else { return };
        if !matches!(kubelet.power, Power::ShuttingDown(_)) {
            return;
        }
        let Power::ShuttingDown(shutdown) = core::mem::take(&mut kubelet.power) else { return };
        let said = kubelet.report.of_type(READY);
        // Unless somebody has said something else meanwhile.
        if said.is_some_and(|said| said.message == SHUTTING_DOWN)
            && let Some(ready) = shutdown.ready
        {
            kubelet.report = kubelet.report.with(ready);
        }
        if let Some(timer) = shutdown.timer {
            self.timers.stop(&timer);
        }
    }

    /// The node is off: nothing runs on it any more.
    pub(super) fn power_off(&mut self, context: &mut Context<'_>, name: &NodeName) {
        self.turn_on(name);
        let Some(kubelet) = self.by_node.get_mut(name.as_str()) else { return };
        if matches!(kubelet.power, Power::Off) {
            return;
        }
        kubelet.power = Power::Off;
        kubelet.runs = false;
        kubelet.unposted.clear();
        // What has ended before is known to its kubelet when it starts again.
        kubelet.completions.retain(|known| known.at <= context.now);
        let on_node = |pod: &PodKey| {
            let pod = context.cluster.get_pod(pod);
            pod.is_some_and(|pod| pod.spec.node_name == name.as_str())
        };
        self.starts.retain(|start| !on_node(&start.pod));
        self.completions.retain(|known| !on_node(&known.pod));
        self.stop_usage(context.now, name);
        let off = self.report_shutdown(name, NodeShutdownReport::PoweredOff);
        self.then(name, [off, Step::StartEvictionManager, Step::Connect]);
    }

    /// The machine of a kubelet that starts is on again, if it was off.
    pub(super) fn boot(&mut self, name: &NodeName) -> Option<Step> {
        let kubelet = self.by_node.get_mut(name.as_str())?;
        if !matches!(kubelet.power, Power::Off) {
            return None;
        }
        kubelet.power = Power::On;
        kubelet.has_booted = true;
        Some(self.report_shutdown(name, NodeShutdownReport::Booted))
    }

    /// A kubelet is connected for the first time since its machine has started: containers that
    /// were to end have ended with it, and what controllers have marked is so.
    pub(super) fn forget_containers(&mut self, now: Timestamp, name: &NodeName) {
        let Some(kubelet) = self.by_node.get_mut(name.as_str()) else { return };
        for deletion in &mut kubelet.unconfirmed {
            deletion.ends = Some(now);
        }
        if self.config.starts_pods {
            kubelet.marked.clear();
        }
    }

    /// A kubelet whose machine has started again finds pods whose containers do not run: it starts
    /// them anew, unless they are to run once. Mirrors `computePodActions`, `getPhase`.
    pub(super) fn restart_pods(&mut self, context: &mut Context<'_>, name: &NodeName) {
        if !self.config.starts_pods {
            return;
        }
        let now = context.wall_clock().truncated_to_seconds();
        let ran = |pod: &Pod| matches!(pod.status.phase, PodPhase::Running | PodPhase::Empty);
        let pods = context.cluster.pods_of(name.as_str());
        let pods = pods.filter(|(_, pod)| pod.is_active() && ran(pod));
        let mut steps = Vec::new();
        for (key, pod) in pods {
            let mut pod = Pod::clone(pod);
            mark_containers_ended(&mut pod, now);
            if pod.status.reason == NODE_LOST {
                (pod.status.reason, pod.status.message) = (String::new(), String::new());
            }
            let starts = !pod.has_ended();
            if starts {
                let before = pod.status.restarts.map_or(0, |restarts| restarts.count);
                pod.status.restarts = Some(ContainerRestarts { count: before + 1, ended_at: now });
            }
            let patch = KubeletAction::PatchPodStatus(key.clone(), Box::new(pod));
            steps.push(Step::Act(patch));
            if starts {
                steps.push(Step::RestartPod(key.clone()));
            }
        }
        self.then(name, steps);
    }

    /// The status of a pod whose containers are told to end.
    pub(super) fn mark_ending(
        &mut self,
        context: &Context<'_>,
        name: &NodeName,
        key: PodKey,
    ) -> Option<KubeletAction> {
        let pod = context.cluster.get_pod(&key)?;
        if !self.is_connected(name.as_str()) || pod.is_terminating() {
            return None;
        }
        let mut pod = Pod::clone(pod);
        mark_ending(self.config.release, &mut pod);
        Some(KubeletAction::PatchPodStatus(key, Box::new(pod)))
    }

    /// The containers of a pod have ended.
    pub(super) fn end_pod(&mut self, name: &NodeName, ended: Ending) {
        let pod = ended.pod.clone();
        let report = self.report_shutdown(name, NodeShutdownReport::PodEnded { pod });
        self.then(name, [report, Step::PostEnded(ended)]);
    }

    /// Says that the containers of a pod have ended, if the kubelet is connected.
    pub(super) fn post_ended(
        &mut self,
        context: &Context<'_>,
        name: &NodeName,
        ended: Ending,
    ) -> Option<KubeletAction> {
        let object = ended.object(context.cluster)?;
        let kubelet = self.by_node.get_mut(name.as_str())?;
        if !kubelet.connected {
            kubelet.unposted.push(ended);
            return None;
        }
        kubelet.marked.remove(&ended.pod);
        if object.is_terminating() {
            return Some(KubeletAction::ConfirmDeletion(ended.pod));
        }
        let mut pod = Pod::clone(object);
        let now = context.wall_clock().truncated_to_seconds();
        let conditions = self.config.pod_disruption_conditions;
        mark_ended(self.config.release, conditions, &mut pod, now);
        (pod != **object).then(|| KubeletAction::PatchPodStatus(ended.pod, Box::new(pod)))
    }

    /// What ended while the kubelet was unreachable is posted.
    pub(super) fn post_all_ended(&mut self, name: &NodeName) {
        let Some(kubelet) = self.by_node.get_mut(name.as_str()) else { return };
        let unposted = core::mem::take(&mut kubelet.unposted);
        self.then(name, unposted.into_iter().map(Step::PostEnded));
    }

    /// A pod is gone: a shutdown that waits for it waits no longer. It goes on after what is under
    /// way at this instant.
    pub(super) fn observe_shutdown(&mut self, context: &mut Context<'_>, pod: &Pod) {
        if self.is_shutting_down(&pod.spec.node_name) {
            let node = NodeName::from(pod.spec.node_name.as_str());
            self.forget_shutdown_timer(&node);
            self.plan_shutdown(context, &node, context.now);
        }
    }

    fn plan_shutdown(&mut self, context: &mut Context<'_>, name: &NodeName, at: Timestamp) {
        let timer = self.timers.start(context.sequence, at, (name.clone(), Wake::Shutdown));
        if let Some(shutdown) = self.shutdown_mut(name) {
            shutdown.timer = Some(timer);
        }
    }

    fn forget_shutdown_timer(&mut self, name: &NodeName) {
        if let Some(timer) = self.shutdown_mut(name).and_then(|shutdown| shutdown.timer.take()) {
            self.timers.stop(&timer);
        }
    }
}
