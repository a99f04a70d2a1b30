//! The node lifecycle controller, the taint-eviction controller and an API server, over nodes
//! with given heartbeats: the loop by which Kubernetes' own answers were recorded.
//!
//! Time goes in steps of 100 ms. In each step: timers of the taint-eviction controller; in whole
//! seconds what nodes and users do; a health pass; a tainting pass. Each is followed by a drain,
//! which begins with the informers' view of what was written. Controllers are called only when
//! they ask for it, so that a pass that they leave out wrongly shows.

mod api;
mod input;
mod outcome;

use std::collections::BTreeMap;
use std::sync::Arc;

use taintlab_core::api::{NodeName, PodKey};
use taintlab_core::controllers::node_lifecycle::{NodeLifecycleController, Renewal};
use taintlab_core::controllers::taint_eviction::TaintEvictionController;
use taintlab_core::release::{FeatureGates, KubernetesRelease};
use taintlab_core::time::{Time, Timestamp};

use self::api::Api;
pub use self::api::{Fault, Write};
pub use self::input::{
    BEHAVIOUR_1_20, BEHAVIOUR_CURRENT, Config, InputCondition, InputNode, InputPod, Post, Repeat,
    Scenario,
};
pub use self::outcome::{FinalCondition, FinalNode, Outcome};
use self::outcome::{Kind, Sample};

/// The wall-clock time at which every scenario begins.
pub const START: Time = Time::DEFAULT_START;

/// A scenario that is being played.
#[derive(Clone)]
pub struct World {
    scenario: Scenario,
    api: Api,
    lifecycle: NodeLifecycleController,
    taint_eviction: Option<TaintEvictionController>,
    sample: Sample,
    outcomes: Vec<Outcome>,
    now: Timestamp,
    release: KubernetesRelease,
    /// How often the lifecycle controller was called for a timer.
    pub timers: usize,
    /// How often it then had nothing to say.
    pub idle_timers: usize,
    actions: usize,
}

impl World {
    /// The controllers of `release`, before time zero.
    ///
    /// # Errors
    /// A release without such a configuration.
    pub fn new(scenario: Scenario, release: KubernetesRelease) -> Result<Self, String> {
        let config = scenario.config.flags(release);
        let taint_eviction = scenario.config.taint_manager.then(|| {
            FeatureGates::new(release, [])
                .map(|gates| TaintEvictionController::new(release, &gates))
        });
        Ok(Self {
            api: Api::default(),
            lifecycle: NodeLifecycleController::new(release, config, START, Timestamp::ZERO),
            taint_eviction: taint_eviction.transpose()?,
            sample: Sample::default(),
            outcomes: Vec::new(),
            now: Timestamp::ZERO,
            scenario,
            release,
            timers: 0,
            idle_timers: 0,
            actions: 0,
        })
    }

    /// Makes writes fail from now on.
    pub fn fail(&mut self, fault: Fault) {
        self.api.faults.push(fault);
    }

    /// The controller, to look at.
    #[must_use]
    pub const fn lifecycle(&self) -> &NodeLifecycleController {
        &self.lifecycle
    }

    /// Plays to the end and gives all outcomes, in their order.
    #[must_use]
    pub fn play(mut self) -> (Vec<Outcome>, Self) {
        let end = self.scenario.duration * 10;
        for tick in 0..=end {
            self.tick(tick, |_| {});
        }
        self.finish()
    }

    /// The outcomes so far, sorted.
    #[must_use]
    pub fn finish(mut self) -> (Vec<Outcome>, Self) {
        let mut outcomes = std::mem::take(&mut self.outcomes);
        outcomes.sort_by_cached_key(Outcome::order);
        (outcomes, self)
    }

    /// One step of 100 ms; `meddle` may change the world after the inputs of this step.
    pub fn tick(&mut self, tick: u64, meddle: impl FnOnce(&mut Self)) {
        self.now = Timestamp::from_millis(tick * 100);
        while self.fire_timer() {
            self.drain();
        }
        if tick.is_multiple_of(10) {
            self.input(i64::try_from(tick / 10).unwrap_or(i64::MAX));
        }
        meddle(self);
        self.drain();
        let passes_before = self.lifecycle.next_health_pass(self.now);
        while self.lifecycle.next_timer().is_some_and(|at| at <= self.now) {
            let was_pass = self.lifecycle.next_health_pass(Timestamp::ZERO) <= self.now;
            let actions = self.actions;
            self.step(|world| {
                world.lifecycle.handle_timeout(world.now, &world.api.informer);
                world.run_lifecycle();
            });
            self.timers += 1;
            self.idle_timers += usize::from(self.actions == actions);
            if was_pass {
                self.take_sample();
            }
            self.drain();
        }
        // A pass that was left out is sampled all the same: nothing must have changed.
        if passes_before == self.now {
            self.take_sample();
        }
    }

    fn take_sample(&mut self) {
        let outcomes = self.sample.take(&self.lifecycle);
        for kind in outcomes {
            self.tell(kind);
        }
    }

    fn tell(&mut self, kind: Kind) {
        self.outcomes.push(kind.at(self.now));
    }

    /// What nodes and users do at this second.
    fn input(&mut self, second: i64) {
        for node in &self.scenario.nodes {
            self.api.input(node, second);
        }
        self.synchronise();
        for pod in self.scenario.pods.iter().filter(|pod| pod.t == second) {
            self.api.create_pod(pod);
        }
    }

    /// Removes all taints of a node, as a user does.
    pub fn remove_taints(&mut self, name: &str) {
        let change = |node: &mut taintlab_core::api::Node| {
            node.spec.taints.clear();
            true
        };
        self.api.change_node(&name.into(), Write::NodeTaints, change);
    }

    /// The same controllers start again and know nothing.
    ///
    /// # Errors
    /// As [`World::new`].
    pub fn restart(&mut self) -> Result<(), String> {
        let config = self.scenario.config.flags(self.release);
        self.lifecycle = NodeLifecycleController::new(self.release, config, START, self.now);
        if self.taint_eviction.is_some() {
            let gates = FeatureGates::new(self.release, [])?;
            self.taint_eviction = Some(TaintEvictionController::new(self.release, &gates));
        }
        self.sample = Sample::default();
        self.api.forget();
        Ok(())
    }

    /// Runs something and tells what it changed in all of the nodes together.
    fn step(&mut self, act: impl FnOnce(&mut Self)) {
        let before: BTreeMap<NodeName, _> = self.nodes();
        act(self);
        let after = self.nodes();
        for kind in outcome::differences(&before, &after) {
            self.tell(kind);
        }
    }

    fn nodes(&self) -> BTreeMap<NodeName, Arc<taintlab_core::api::Node>> {
        self.api.store.nodes().map(|(name, node)| (name.clone(), node.clone())).collect()
    }

    /// Tells the controllers what was written since the last time.
    fn synchronise(&mut self) {
        let now = self.now;
        for (node, renewed) in self.api.leases_to_tell() {
            let renewal = Renewal { renew_time: Some(renewed) };
            self.lifecycle.handle_renewal(now, &node, Some(renewal));
        }
        for (old, new) in self.api.nodes_to_tell() {
            if let Some(controller) = &mut self.taint_eviction {
                controller.handle_node_update(now, old.as_deref(), new.as_deref());
            }
            self.lifecycle.handle_node_update(now, old.as_ref(), new.as_ref());
        }
        for (key, (old, new)) in self.api.pods_to_tell() {
            if let Some(controller) = &mut self.taint_eviction {
                controller.handle_pod_update(now, &key, old.as_deref(), new.as_deref());
            }
            self.lifecycle.handle_pod_update(now, &key, old.as_deref(), new.as_deref());
        }
    }

    fn fire_timer(&mut self) -> bool {
        let Some(controller) = &mut self.taint_eviction else { return false };
        if controller.next_timer().is_none_or(|(at, _)| at > self.now) {
            return false;
        }
        controller.handle_timeout(self.now, &self.api.informer);
        self.run_taint_eviction();
        true
    }

    fn drain(&mut self) {
        loop {
            self.synchronise();
            self.run_taint_eviction();
            if self.fire_timer() {
                continue;
            }
            let node = self.lifecycle.has_queued_node_work();
            if node {
                self.step(|world| {
                    world.lifecycle.handle_timeout(world.now, &world.api.informer);
                    world.run_lifecycle();
                });
            }
            let work = self.taint_eviction.as_ref().is_some_and(|c| c.has_queued_work());
            if work && let Some(controller) = &mut self.taint_eviction {
                controller.handle_timeout(self.now, &self.api.informer);
                self.run_taint_eviction();
                continue;
            }
            if !node && self.lifecycle.has_queued_work() {
                self.lifecycle.handle_timeout(self.now, &self.api.informer);
                self.run_lifecycle();
            } else if !node {
                break;
            }
        }
    }

    /// Carries out what the lifecycle controller wants, and what follows, until one piece is done.
    fn run_lifecycle(&mut self) {
        use taintlab_core::controllers::node_lifecycle::NodeLifecycleAction as Action;
        loop {
            let mut answered = false;
            while let Some(action) = self.lifecycle.poll_action() {
                self.actions += 1;
                let (id, result) = match action {
                    Action::RecordEvent(event) => {
                        self.outcomes.extend(Kind::of_event(&event).map(|kind| kind.at(self.now)));
                        continue;
                    }
                    Action::Report(_) => continue,
                    Action::PatchNodeStatus { id, node, conditions } => {
                        let change = |node: &mut taintlab_core::api::Node| {
                            node.status.conditions = conditions;
                            true
                        };
                        (id, self.api.change_node(&node, Write::NodeStatus, change))
                    }
                    Action::PatchNodeTaints { id, node, patch } => {
                        let change = |node: &mut _| patch.apply(node);
                        (id, self.api.change_node(&node, Write::NodeTaints, change))
                    }
                    Action::PatchNodeLabels { id, node, labels } => {
                        let change = |node: &mut taintlab_core::api::Node| {
                            node.metadata.labels.extend(labels);
                            true
                        };
                        (id, self.api.change_node(&node, Write::NodeLabels, change))
                    }
                    Action::PatchPodStatus { id, pod, patch } => {
                        let result =
                            self.api.change_pod(&pod, Write::PodStatus, |pod| patch.apply(pod));
                        if result.is_ok() {
                            self.tell(Kind::of_patch(&pod, &patch));
                        }
                        (id, result)
                    }
                    Action::DeletePod { id, pod } => (id, self.delete_pod(&pod)),
                };
                self.lifecycle.handle_action_result(self.now, id, result);
                answered = true;
            }
            if !answered {
                return;
            }
            self.lifecycle.handle_timeout(self.now, &self.api.informer);
        }
    }

    fn run_taint_eviction(&mut self) {
        use taintlab_core::controllers::taint_eviction::TaintEvictionAction as Action;
        while let Some(action) = self.taint_eviction.as_mut().and_then(|c| c.poll_action()) {
            let (id, result) = match action {
                Action::RecordEvent(event) => {
                    self.outcomes.extend(Kind::of_event(&event).map(|kind| kind.at(self.now)));
                    continue;
                }
                Action::Report(_) | Action::ReportNode { .. } => continue,
                Action::PatchPodStatus { id, pod, condition } => {
                    let change = |pod: &mut taintlab_core::api::Pod| {
                        pod.status.conditions.retain(|old| old.type_ != condition.type_);
                        pod.status.conditions.push(condition);
                        true
                    };
                    (id, self.api.change_pod(&pod, Write::PodStatus, change))
                }
                Action::DeletePod { id, pod } => (id, self.delete_pod(&pod)),
            };
            if let Some(controller) = &mut self.taint_eviction {
                controller.handle_action_result(self.now, id, result);
            }
        }
    }

    fn delete_pod(&mut self, pod: &PodKey) -> taintlab_core::event::RequestResult {
        let result = self.api.delete_pod(pod);
        self.tell(Kind::of_delete(pod, result));
        result
    }

    /// The nodes as they are.
    #[must_use]
    pub fn final_nodes(&self) -> BTreeMap<String, FinalNode> {
        let nodes = self.api.store.nodes();
        nodes.map(|(name, node)| (name.to_string(), FinalNode::of(node))).collect()
    }

    /// The states of the zones as they are.
    #[must_use]
    pub fn final_zone_states(&self) -> BTreeMap<String, String> {
        let keys = self.lifecycle.zone_keys();
        keys.filter_map(|key| {
            let state = self.lifecycle.zone_state(key.as_str())?;
            Some((key.to_string(), state.to_string()))
        })
        .collect()
    }
}
