//! A node whose usage follows curves, its eviction manager, and a driver that plays the rest of the
//! kubelet: pods die after their grace period and are cleaned up a while later.

use std::sync::Arc;
use std::time::Duration;

use taintlab_core::api::{Pod, PodKey};
use taintlab_core::kubelet::{
    ActionResult, EvictionConfig, EvictionManager, EvictionManagerAction, EvictionManagerReport,
    Forecast, KubeletPod, KubeletVersion, Layout, NodeUsage, Observations, PodUsage, Pressure,
    RequestId, Threshold,
};
use taintlab_core::time::Timestamp;

/// How much of the future the driver tells the manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foresight {
    /// Nothing: every pass is run.
    None,
    /// All that the curves say.
    Curves,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// When.
    pub at: Timestamp,
    /// What.
    pub what: Happened,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    /// A Kubernetes Event: object, reason and message.
    Event(String),
    /// A pod is killed.
    Kill(PodKey),
    /// The node is under these pressures from now on.
    Pressures(Vec<Pressure>),
}

/// Something that will happen outside the manager.
#[derive(Clone, Debug)]
enum Outside {
    Dead(RequestId, PodKey),
    CleanedUp(PodKey),
}

/// The node at work.
pub struct Run {
    /// The manager.
    pub manager: EvictionManager,
    /// What the node has and what is used of it.
    pub usage: NodeUsage,
    /// What happened.
    pub log: Vec<Entry>,
    /// How many passes were run.
    pub passes: usize,
    /// What each pass that was run must have seen: when, and what there was too little of.
    pub observed: Vec<(Timestamp, Vec<Pressure>)>,
    foresight: Foresight,
    outside: Vec<(Timestamp, Outside)>,
    /// From the death of a pod until nothing is left of it.
    clean_up: Duration,
}

impl Run {
    /// A node that begins at zero.
    #[must_use]
    pub fn new(
        version: KubeletVersion,
        config: EvictionConfig,
        layout: Layout,
        usage: NodeUsage,
        foresight: Foresight,
    ) -> Self {
        let now = Timestamp::ZERO;
        Self {
            manager: EvictionManager::new(version, config, "node".into(), layout, now),
            usage,
            log: Vec::new(),
            passes: 0,
            observed: Vec::new(),
            foresight,
            outside: Vec::new(),
            clean_up: Duration::from_millis(2_500),
        }
    }

    /// A pod starts.
    ///
    /// # Panics
    /// If it cannot be read.
    pub fn start(&mut self, now: Timestamp, pod: &Pod, usage: Arc<PodUsage>) {
        let pod = KubeletPod::new(self.manager.version(), pod).expect("a pod");
        let (key, pod) = (pod.key.clone(), Arc::new(pod));
        self.usage.start_pod(now, pod.clone(), usage);
        self.manager.handle_pod_update(now, &key, Some(pod));
    }

    /// Lets all happen that is due until a moment.
    pub fn advance_to(&mut self, end: Timestamp) {
        self.drain(Timestamp::ZERO);
        loop {
            let outside = self.outside.iter().map(|(at, _)| *at).min();
            let deadline = self.manager.poll_timeout().map(|deadline| deadline.at);
            let Some(now) = outside.into_iter().chain(deadline).min().filter(|at| *at <= end)
            else {
                return;
            };
            if outside == Some(now) {
                let next = self.outside.iter().position(|(at, _)| *at == now);
                let (_, what) = self.outside.remove(next.expect("it is there"));
                self.happen(now, what);
            } else {
                self.manager.handle_timeout(now);
            }
            self.drain(now);
        }
    }

    fn happen(&mut self, now: Timestamp, what: Outside) {
        match what {
            Outside::Dead(id, key) => {
                self.usage.stop_pod(&key);
                self.manager.handle_pod_update(now, &key, None);
                self.manager.handle_action_result(now, id, ActionResult::Done);
                let gone = now.saturating_add(self.clean_up);
                self.outside.push((gone, Outside::CleanedUp(key)));
            }
            Outside::CleanedUp(key) => self.manager.handle_pod_cleaned_up(now, &key),
        }
    }

    fn log(&mut self, at: Timestamp, what: Happened) {
        self.log.push(Entry { at, what });
    }

    fn drain(&mut self, now: Timestamp) {
        while let Some(action) = self.manager.poll_action() {
            match action {
                EvictionManagerAction::CollectStats { id } => {
                    self.passes += 1;
                    self.record_shortages(now);
                    self.give_stats(now, id);
                }
                EvictionManagerAction::Reclaim { id, what } => {
                    let result = self.usage.reclaim(what);
                    self.manager.handle_action_result(now, id, result);
                }
                EvictionManagerAction::RecordEvent { event, .. } => {
                    let text =
                        format!("{:?} {} {}", event.involved_object, event.reason, event.message);
                    self.log(now, Happened::Event(text));
                }
                EvictionManagerAction::KillPod { id, pod, grace_period_override, .. } => {
                    let seconds = grace_period_override.max(0).unsigned_abs();
                    let dead = now.saturating_add(Duration::from_secs(seconds));
                    self.log(now, Happened::Kill(pod.clone()));
                    self.outside.push((dead, Outside::Dead(id, pod)));
                }
                EvictionManagerAction::Report(EvictionManagerReport::Pressures {
                    now: pressures,
                }) => {
                    self.log(now, Happened::Pressures(pressures));
                }
                EvictionManagerAction::PatchPodStatus { .. } | EvictionManagerAction::Report(_) => {
                }
            }
        }
    }

    fn record_shortages(&mut self, now: Timestamp) {
        let seen = Observations::of(&self.usage.summary(now, self.manager.layout()).node);
        let is_met = |threshold: &&Threshold| {
            seen.get(threshold.signal).is_some_and(|seen| threshold.is_met(seen, false))
        };
        let met = self.manager.thresholds().iter().filter(is_met);
        self.observed.push((now, met.map(|threshold| threshold.signal.pressure()).collect()));
    }

    fn give_stats(&mut self, now: Timestamp, id: RequestId) {
        if self.foresight == Foresight::Curves {
            self.manager.handle_usage(now, id, &self.usage);
            return;
        }
        let layout = self.manager.layout();
        let summary = Arc::new(self.usage.summary(now, layout));
        let notification = if self.manager.config().kernel_memcg_notification {
            self.usage.memory_notification(now, layout, self.manager.thresholds())
        } else {
            None
        };
        let forecast = Forecast { notification, ..Forecast::unknown(now) };
        self.manager.handle_stats(now, id, Some(summary), forecast);
    }
}
