//! The eviction managers of the nodes whose resources are known: what they are told, what they
//! want done, and the containers that end because of it.
//!
//! A node without a capacity has none and costs nothing. What a manager decides while its kubelet
//! is unreachable is carried out on the node at once; events and status wait until it is connected.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use taintlab_rules::api::{ConditionStatus, NodeName, Pod, PodKey};
use taintlab_rules::protocol::RecordedEvent;
use taintlab_rules::queue::timer_queue::TimerId;
use taintlab_rules::time::Timestamp;

use super::{KubeletAction, Kubelets, Step, Wake};
use crate::controllers::Context;
use crate::kubelet::heartbeat::Reported;
use crate::kubelet::{
    ActionResult, Deadline, DeadlineReason, EvictionConfig, EvictionManager, EvictionManagerAction,
    EvictionManagerReport, KubeletPod, Layout, NodeUsage, PodStatusPatch, PodUsage, Pressure,
    RequestId, admit,
};

/// How long a kubelet takes from hearing of a pod to telling that it does not admit it. Without, a
/// controller that replaces such pods at once would do so forever at one instant.
pub(super) const ADMISSION_TIME: Duration = Duration::from_secs(1);
/// How many past states of a node's usage are kept for charts.
const MOST_HISTORY: usize = 200;

/// A node whose resources are known.
#[derive(Clone, Debug)]
pub(super) struct ManagedNode {
    /// `None` while its kubelet does not run; its containers run on.
    pub(super) manager: Option<EvictionManager>,
    pub(super) layout: Layout,
    usage: Arc<NodeUsage>,
    /// Since when usage is as it is.
    pub(super) since: Timestamp,
    /// How it was before, and until when; the oldest first.
    pub(super) history: Vec<(Timestamp, Arc<NodeUsage>)>,
    /// Pods that are being killed.
    dying: Vec<Dying>,
    /// Pods that were bound to a node under pressure, and when the kubelet has looked at them.
    arriving: Vec<Arriving>,
    /// What is not sent to the API server yet.
    unsent: Vec<Effect>,
    timer: Option<TimerId>,
}

#[derive(Clone, Debug)]
struct Dying {
    at: Timestamp,
    /// `None` if the kubelet that wanted it is no more.
    id: Option<RequestId>,
    pod: PodKey,
}

#[derive(Clone, Debug)]
struct Arriving {
    at: Timestamp,
    pod: Arc<KubeletPod>,
    usage: Arc<PodUsage>,
}

/// What a manager wants done outside its node.
#[derive(Clone, Debug)]
pub(super) enum Effect {
    Event(RecordedEvent),
    Status { pod: PodKey, uid: Option<String>, patch: PodStatusPatch },
    Report(EvictionManagerReport),
}

impl ManagedNode {
    pub(super) fn new(layout: Layout, usage: NodeUsage, now: Timestamp) -> Self {
        Self {
            manager: None,
            layout,
            usage: Arc::new(usage),
            since: now,
            history: Vec::new(),
            dying: Vec::new(),
            arriving: Vec::new(),
            unsent: Vec::new(),
            timer: None,
        }
    }

    pub(super) fn usage(&self) -> &NodeUsage {
        &self.usage
    }

    /// The usage, to be changed from now on; how it was until now is kept.
    pub(super) fn usage_mut(&mut self, now: Timestamp) -> &mut NodeUsage {
        if now > self.since {
            if self.history.len() >= MOST_HISTORY {
                self.history.remove(0);
            }
            self.history.push((now, self.usage.clone()));
            self.since = now;
        }
        Arc::make_mut(&mut self.usage)
    }

    /// Usage has changed in another way than by pods.
    pub(super) fn usage_has_changed(&mut self, now: Timestamp) {
        if let Some(manager) = &mut self.manager {
            manager.handle_usage_change(now);
        }
    }

    fn is_dying(&self, key: &PodKey) -> bool {
        self.dying.iter().any(|dying| dying.pod == *key)
    }

    /// What it is to be woken for next.
    pub(super) fn next_deadline(&self, now: Timestamp) -> Option<Deadline> {
        let manager = self.manager.as_ref();
        if manager.is_some_and(EvictionManager::has_actions) {
            return Some(Deadline { at: now, reason: DeadlineReason::Synchronize });
        }
        let death = self.dying.iter().min_by_key(|dying| dying.at).map(|dying| Deadline {
            at: dying.at,
            reason: DeadlineReason::PodEnds { pod: dying.pod.clone() },
        });
        let arrival = self.arriving.first().map(|arriving| Deadline {
            at: arriving.at,
            reason: DeadlineReason::Admission { pod: arriving.pod.key.clone() },
        });
        let death = death.into_iter().chain(arrival);
        let deadline = manager.and_then(EvictionManager::poll_timeout);
        let next = death.chain(deadline).min_by_key(|deadline| deadline.at)?;
        Some(Deadline { at: next.at.max(now), reason: next.reason })
    }

    /// Lets happen on the node what is due; gives what is to be done outside it.
    fn work(&mut self, now: Timestamp) -> Vec<Effect> {
        let mut effects = Vec::new();
        while let Some(place) = self.dying.iter().position(|dying| dying.at <= now) {
            let Dying { id, pod, .. } = self.dying.remove(place);
            self.usage_mut(now).stop_pod(&pod);
            if let Some(manager) = &mut self.manager {
                manager.handle_pod_update(now, &pod, None);
                if let Some(id) = id {
                    manager.handle_action_result(now, id, ActionResult::Done);
                }
                manager.handle_pod_cleaned_up(now, &pod);
            }
            effects.push(Effect::Report(EvictionManagerReport::PodEnded { pod }));
        }
        while self.arriving.first().is_some_and(|arriving| arriving.at <= now) {
            let Arriving { pod, usage, .. } = self.arriving.remove(0);
            let manager = self.manager.as_mut();
            if manager.is_some_and(|manager| manager.admit(&pod).is_admitted()) {
                self.start_pod(now, pod, usage);
            }
        }
        if let Some(manager) = &mut self.manager
            && manager.poll_timeout().is_some_and(|deadline| deadline.at <= now)
        {
            manager.handle_timeout(now);
        }
        while let Some(action) = self.manager.as_mut().and_then(EvictionManager::poll_action) {
            effects.extend(self.act(now, action));
        }
        effects
    }

    fn act(&mut self, now: Timestamp, action: EvictionManagerAction) -> Option<Effect> {
        Some(match action {
            EvictionManagerAction::CollectStats { id } => {
                self.manager.as_mut()?.handle_usage(now, id, &self.usage);
                return None;
            }
            EvictionManagerAction::Reclaim { id, what } => {
                let result = self.usage_mut(now).reclaim(what);
                self.manager.as_mut()?.handle_action_result(now, id, result);
                let ActionResult::Reclaimed(bytes) = result else { return None };
                Effect::Report(EvictionManagerReport::Reclaimed { what, bytes })
            }
            EvictionManagerAction::RecordEvent { event, .. } => Effect::Event(event),
            EvictionManagerAction::PatchPodStatus { pod, patch } => {
                let uid = self.usage.running_pod(&pod).map(|running| running.uid.clone());
                Effect::Status { pod, uid, patch }
            }
            EvictionManagerAction::KillPod { id, pod, grace_period_override, .. } => {
                let grace = Duration::from_secs(grace_period_override.max(0).unsigned_abs());
                let found = self.usage.running().find(|(running, ..)| running.key == pod);
                let takes = found.and_then(|(_, _, usage)| usage.kill_takes);
                let at = now.saturating_add(takes.map_or(grace, |span| span.0));
                self.dying.push(Dying { at, id: Some(id), pod });
                return None;
            }
            EvictionManagerAction::Report(report) => Effect::Report(report),
        })
    }
}

impl Kubelets {
    pub(super) fn managed(&self, name: &str) -> Option<&ManagedNode> {
        self.by_node.get(name)?.eviction.as_deref()
    }

    pub(super) fn managed_mut(&mut self, name: &str) -> Option<&mut ManagedNode> {
        let kubelet = self.by_node.get_mut(name)?;
        kubelet.eviction.as_mut().map(Arc::make_mut)
    }

    /// What the kubelet of a node goes by.
    pub(super) fn eviction_config(&self, name: &str) -> EvictionConfig {
        let setup = self.by_node.get(name).and_then(|kubelet| kubelet.setup.as_ref());
        let config = setup.map_or(&*self.config.eviction, |setup| &setup.eviction);
        let mut config = config.clone();
        config.pod_disruption_conditions = self.config.pod_disruption_conditions;
        config
    }

    /// A kubelet that runs begins to watch over its node, knowing nothing but its pods.
    pub(super) fn start_eviction_manager(&mut self, context: &mut Context<'_>, name: &NodeName) {
        let (now, version) = (context.now, self.config.release.into());
        let runs = self.by_node.get(name.as_str()).is_some_and(|kubelet| kubelet.runs);
        if self.managed(name.as_str()).is_none() {
            return;
        }
        let config = self.eviction_config(name.as_str());
        let Some(managed) = self.managed_mut(name.as_str()) else { return };
        // What it had not told dies with it.
        managed.unsent.clear();
        managed.arriving.clear();
        for dying in &mut managed.dying {
            dying.id = None;
        }
        managed.manager = None;
        if runs {
            let layout = managed.layout;
            let mut manager = EvictionManager::new(version, config, name.clone(), layout, now);
            let running = managed.usage.running().filter(|(pod, ..)| !managed.is_dying(&pod.key));
            for (pod, ..) in running {
                manager.handle_pod_update(now, &pod.key, Some(pod.clone()));
            }
            managed.manager = Some(manager);
            self.set_pressures(context, name, &[]);
        }
        self.plan_eviction_manager(context, name);
    }

    /// The node is off: no pod uses anything any more, and who was being killed has ended.
    pub(super) fn stop_usage(&mut self, now: Timestamp, name: &NodeName) {
        let Some(managed) = self.managed_mut(name.as_str()) else { return };
        managed.dying.clear();
        let running: Vec<PodKey> =
            managed.usage.running().map(|(pod, ..)| pod.key.clone()).collect();
        for key in running {
            managed.stop_pod(now, &key);
        }
    }

    /// The kubelet is connected again: it sends what it did meanwhile, and learns what happened to
    /// its pods.
    pub(super) fn send_unsent(&mut self, name: &NodeName) {
        let Some(managed) = self.managed_mut(name.as_str()) else { return };
        let unsent = core::mem::take(&mut managed.unsent);
        let steps = unsent.into_iter().map(|effect| Step::CarryOut { effect, waits: false });
        let steps: Vec<Step> = steps.chain([Step::SyncPods]).collect();
        self.then(name, steps);
    }

    /// Compares the pods that run on a node with those that should.
    pub(super) fn sync_pods(&mut self, context: &mut Context<'_>, name: &NodeName) {
        let Some(managed) = self.managed(name.as_str()) else { return };
        let mut keys: Vec<PodKey> =
            managed.usage.running().map(|(pod, ..)| pod.key.clone()).collect();
        let bound = context.cluster.pods_of(name.as_str()).map(|(key, _)| key.clone());
        let bound: Vec<PodKey> = bound.filter(|key| !keys.contains(key)).collect();
        keys.extend(bound);
        for key in keys {
            self.sync_pod(context, name.as_str(), &key);
        }
        self.plan_eviction_manager(context, name);
    }

    /// A pod was added, changed or deleted: the kubelets of its nodes see it if they are connected.
    pub(super) fn notify_eviction_managers(
        &mut self,
        context: &mut Context<'_>,
        key: &PodKey,
        old: Option<&Pod>,
        new: Option<&Pod>,
    ) {
        let old = old.map_or("", |pod| pod.spec.node_name.as_str());
        let new = new.map_or("", |pod| pod.spec.node_name.as_str());
        for (name, counts) in [(old, old != new), (new, true)] {
            let known = self.by_node.get_key_value(name);
            let connected =
                known.filter(|(_, kubelet)| kubelet.eviction.is_some() && kubelet.connected);
            if let Some((name, _)) = connected.filter(|_| counts) {
                let name = name.clone();
                self.sync_pod(context, name.as_str(), key);
                self.plan_eviction_manager(context, &name);
            }
        }
    }

    fn sync_pod(&mut self, context: &Context<'_>, name: &str, key: &PodKey) {
        let (now, version) = (context.now, self.config.release.into());
        let object = context.cluster.get_pod(key).filter(|pod| pod.spec.node_name == name);
        // A pod whose resources cannot be read is none that an API server would have stored.
        let read = object.and_then(|pod| KubeletPod::new(version, pod).ok());
        let usage = object.map(|pod| crate::kubelet::usage_of(&self.usage, pod));
        let Some(managed) = self.managed_mut(name) else { return };
        let dying = managed.is_dying(key);
        let known = managed.usage.running_pod(key).cloned();
        match (known, read) {
            (Some(known), Some(pod)) if known.uid == pod.uid => {
                if *known == pod {
                    return;
                }
                if pod.is_terminated && !dying {
                    managed.stop_pod(now, key);
                    return;
                }
                let pod = Arc::new(pod);
                managed.usage_mut(now).update_pod(pod.clone());
                if let Some(manager) = &mut managed.manager {
                    manager.handle_pod_update(now, key, Some(pod));
                }
            }
            (known, Some(pod)) if !pod.is_terminated => {
                if known.is_some() {
                    managed.stop_pod(now, key);
                }
                let (pod, usage) = (Arc::new(pod), usage.unwrap_or_default());
                let pressures = managed.manager.as_ref().map(EvictionManager::node_conditions);
                if admit(version, pressures.unwrap_or_default(), &pod).is_admitted() {
                    managed.start_pod(now, pod, usage);
                } else if !managed.arriving.iter().any(|known| known.pod.uid == pod.uid) {
                    managed.arriving.push(Arriving {
                        at: now.saturating_add(ADMISSION_TIME),
                        pod,
                        usage,
                    });
                }
            }
            (Some(_), _) if !dying => managed.stop_pod(now, key),
            _ => managed.arriving.retain(|arriving| arriving.pod.key != *key),
        }
    }

    /// Sets the timer for what a manager wants next.
    pub(super) fn plan_eviction_manager(&mut self, context: &mut Context<'_>, name: &NodeName) {
        let kubelet = self.by_node.get_mut(name.as_str());
        let managed = kubelet.and_then(|kubelet| kubelet.eviction.as_mut()).map(Arc::make_mut);
        let Some(managed) = managed else { return };
        let wanted = managed.next_deadline(context.now).map(|deadline| deadline.at);
        if managed.timer.map(|(at, _)| at) == wanted {
            return;
        }
        if let Some(old) = managed.timer.take() {
            self.timers.stop(&old);
        }
        managed.timer = wanted.map(|at| {
            self.timers.start(context.sequence, at, (name.clone(), Wake::EvictionManager))
        });
    }

    /// Its timer has fired.
    pub(super) fn run_eviction_manager(&mut self, context: &Context<'_>, name: &NodeName) {
        let Some(managed) = self.managed_mut(name.as_str()) else { return };
        managed.timer = None;
        let effects = managed.work(context.now);
        let steps = effects.into_iter().map(|effect| Step::CarryOut { effect, waits: true });
        let steps: Vec<Step> = steps.chain([Step::PlanEvictionManager]).collect();
        self.then(name, steps);
    }

    /// What a manager wants done outside its node. Events and status wait, if they may, while
    /// the kubelet is unreachable.
    pub(super) fn carry_out(
        &mut self,
        context: &Context<'_>,
        name: &NodeName,
        effect: Effect,
        waits: bool,
    ) -> Option<KubeletAction> {
        if waits && !matches!(effect, Effect::Report(_)) && !self.is_connected(name.as_str()) {
            self.managed_mut(name.as_str())?.unsent.push(effect);
            return None;
        }
        match effect {
            Effect::Event(event) => Some(KubeletAction::RecordEvent(event)),
            Effect::Status { pod: key, uid, patch } => {
                let stored = context.cluster.get_pod(&key);
                let stored = stored.filter(|pod| uid.is_none_or(|uid| uid == pod.metadata.uid));
                let mut pod = Pod::clone(stored?);
                patch.apply(&mut pod, context.wall_clock().truncated_to_seconds());
                Some(KubeletAction::PatchPodStatus(key, Box::new(pod)))
            }
            Effect::Report(report) => {
                if let EvictionManagerReport::Pressures { now } = &report {
                    self.then(name, [Step::SetPressures(now.clone())]);
                }
                Some(KubeletAction::ReportEviction { node: name.clone(), report })
            }
        }
    }

    /// What the kubelet finds about pressures goes into its next post.
    pub(super) fn set_pressures(
        &mut self,
        context: &mut Context<'_>,
        name: &NodeName,
        pressures: &[Pressure],
    ) {
        let Some(kubelet) = self.by_node.get_mut(name.as_str()) else { return };
        for pressure in Pressure::ALL {
            let holds = pressures.contains(&pressure);
            let status = if holds { ConditionStatus::True } else { ConditionStatus::False };
            let reported = Reported::new(pressure.name(), status, None, None);
            kubelet.report = kubelet.report.with(reported);
        }
        self.update_status(context, name);
    }
}

impl ManagedNode {
    fn start_pod(&mut self, now: Timestamp, pod: Arc<KubeletPod>, usage: Arc<PodUsage>) {
        self.usage_mut(now).start_pod(now, pod.clone(), usage);
        if let Some(manager) = &mut self.manager {
            let key = pod.key.clone();
            manager.handle_pod_update(now, &key, Some(pod));
        }
    }

    fn stop_pod(&mut self, now: Timestamp, key: &PodKey) {
        self.usage_mut(now).stop_pod(key);
        if let Some(manager) = &mut self.manager {
            manager.handle_pod_update(now, key, None);
        }
    }
}
