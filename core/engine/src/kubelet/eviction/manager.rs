//! The eviction manager: its state, its inputs, its actions and its next deadline.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use taintlab_rules::api::{NodeName, PodKey};
use taintlab_rules::protocol::{DeadlineReason, ObjectReference, RecordedEvent, RequestId};
use taintlab_rules::time::Timestamp;

use super::action::{ActionResult, Deadline, EvictionManagerAction, EvictionManagerReport};
use super::config::{EVICTION_MONITORING_PERIOD, EvictionConfig};
use super::observation::Observations;
use super::phase::Phase;
use super::pod::KubeletPod;
use super::schedule::{CleanUp, Forecast, Steady};
use super::signal::{Layout, Pressure};
use super::stats::Summary;
use super::threshold::Threshold;
use super::version::KubeletVersion;

/// Who records the events.
const COMPONENT: &str = "kubelet";

/// Watches over the resources of one node. See the [module](super) for how to drive it.
#[derive(Clone, Debug)]
pub struct EvictionManager {
    pub(super) version: KubeletVersion,
    pub(super) config: EvictionConfig,
    pub(super) node: NodeName,
    pub(super) layout: Layout,
    /// In the order in which they were told.
    pub(super) pods: Vec<Arc<KubeletPod>>,
    /// Whether the thresholds of the writable layers' file system are set, which the first pass
    /// does.
    pub(super) knows_filesystems: bool,
    pub(super) node_conditions: Vec<Pressure>,
    pub(super) conditions_last_observed_at: [Option<Timestamp>; Pressure::ALL.len()],
    /// By index of the threshold.
    pub(super) thresholds_first_observed_at: Vec<(usize, Timestamp)>,
    pub(super) thresholds_met: Vec<usize>,
    pub(super) last_observations: Observations,
    pub(super) phase: Phase,
    /// What the pass under way works on.
    pub(super) summary: Arc<Summary>,
    pub(super) forecast: Forecast,
    pub(super) steady: Option<Steady>,
    pub(super) clean_up: Option<CleanUp>,
    /// The first pass that has not begun; while evicted pods are cleaned up, none.
    pub(super) next_pass: Timestamp,
    actions: VecDeque<EvictionManagerAction>,
    next_id: u64,
}

impl EvictionManager {
    /// A manager that starts at `now` with a pass, and knows no pods yet: tell it of all.
    #[must_use]
    pub fn new(
        version: KubeletVersion,
        config: EvictionConfig,
        node: NodeName,
        layout: Layout,
        now: Timestamp,
    ) -> Self {
        Self {
            version,
            config,
            node,
            layout: layout.for_version(version),
            pods: Vec::new(),
            knows_filesystems: false,
            node_conditions: Vec::new(),
            conditions_last_observed_at: [None; Pressure::ALL.len()],
            thresholds_first_observed_at: Vec::new(),
            thresholds_met: Vec::new(),
            last_observations: Observations::default(),
            phase: Phase::Idle,
            summary: Arc::default(),
            forecast: Forecast::unknown(now),
            steady: None,
            clean_up: None,
            next_pass: now,
            actions: VecDeque::new(),
            next_id: 0,
        }
    }

    /// A pod of the node was added or changed, or is gone (`None`).
    pub fn handle_pod_update(
        &mut self,
        now: Timestamp,
        key: &PodKey,
        pod: Option<Arc<KubeletPod>>,
    ) {
        self.unsettle(now);
        let place = self.pods.iter().position(|known| known.key == *key);
        match (place.and_then(|place| self.pods.get_mut(place)), pod) {
            (Some(known), Some(pod)) => *known = pod,
            (Some(_), None) => self.pods.retain(|known| known.key != *key),
            (None, Some(pod)) => self.pods.push(pod),
            (None, None) => {}
        }
    }

    /// Usage changes from now on in another way than was foreseen: the next pass is run.
    pub fn handle_usage_change(&mut self, now: Timestamp) {
        self.unsettle(now);
    }

    /// Nothing is left on the node of a pod that was evicted: no containers, no volumes, no cgroup.
    pub fn handle_pod_cleaned_up(&mut self, now: Timestamp, key: &PodKey) {
        if let Some(clean_up) = &mut self.clean_up {
            clean_up.done(now, key);
        }
    }

    /// The kernel says that memory has crossed a threshold: a pass is run at once, or when the one
    /// under way is over.
    pub fn handle_memory_notification(&mut self, now: Timestamp) {
        self.settle(now);
        self.forecast.notification = Some(now);
        if matches!(self.phase, Phase::Idle) {
            self.begin_notified_pass();
        }
    }

    /// What is measured on the node, asked for by [`EvictionManagerAction::CollectStats`]; `None`
    /// if that failed. An unknown `id` is ignored.
    ///
    /// Until `forecast` says, figures stay on their side of every threshold and limit, so that
    /// passes before can be worked out instead of run; [`Forecast::unknown`] runs each one.
    pub fn handle_stats(
        &mut self,
        now: Timestamp,
        id: RequestId,
        summary: Option<Arc<Summary>>,
        forecast: Forecast,
    ) {
        match core::mem::take(&mut self.phase) {
            Phase::AwaitStats { id: awaited, notified } if awaited == id => {
                self.forecast = forecast;
                match summary {
                    Some(summary) => self.synchronize(now, notified, summary),
                    None => self.end_pass(now, notified, Vec::new()),
                }
            }
            Phase::AwaitStatsAfterReclaim { id: awaited, pass } if awaited == id => {
                self.forecast = Forecast::unknown(now);
                self.check_reclaim(now, pass, summary.as_deref());
            }
            other => self.phase = other,
        }
    }

    /// The result of a request. An unknown `id` is ignored.
    pub fn handle_action_result(&mut self, now: Timestamp, id: RequestId, result: ActionResult) {
        match core::mem::take(&mut self.phase) {
            Phase::Reclaiming { id: awaited, pass, rest } if awaited == id => {
                self.reclaimed(now, pass, rest, result);
            }
            Phase::Killing { id: awaited, kills, .. } if awaited == id => {
                self.killed(now, kills, result != ActionResult::Failed);
            }
            other => self.phase = other,
        }
    }

    /// Whether there is something to do.
    #[must_use]
    pub fn has_actions(&self) -> bool {
        !self.actions.is_empty()
    }

    /// What to do next, or `None`.
    pub fn poll_action(&mut self) -> Option<EvictionManagerAction> {
        self.actions.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called, and what for; `None` if
    /// nothing can change by itself, or until a result is known.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        let deadline = |at, reason| Some(Deadline { at, reason });
        match &self.phase {
            Phase::Killing { deadline: at, kills, .. } => {
                return deadline(*at, DeadlineReason::KillTimeout { pod: kills.current.clone() });
            }
            Phase::Idle => {}
            _ => return None,
        }
        let regular = match &self.clean_up {
            Some(clean_up) => deadline(clean_up.ends_at(), DeadlineReason::PodsCleanedUp),
            None => self.due_pass().and_then(|at| deadline(at, DeadlineReason::Synchronize)),
        };
        let notification = self.forecast.notification;
        let notified = notification.and_then(|at| deadline(at, DeadlineReason::MemoryNotification));
        regular.into_iter().chain(notified).min_by_key(|deadline| deadline.at)
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Timestamp) {
        match core::mem::take(&mut self.phase) {
            Phase::Killing { deadline, kills, .. } if deadline <= now => {
                self.kill_timed_out(now, kills);
                return;
            }
            Phase::Idle => {}
            other => {
                self.phase = other;
                return;
            }
        }
        if let Some(clean_up) = self.clean_up.take_if(|clean_up| clean_up.ends_at() <= now) {
            self.next_pass = clean_up.ends_at();
        }
        if self.clean_up.is_none() && self.due_pass().is_some_and(|at| at <= now) {
            self.settle(now);
            self.begin_pass(false);
        } else if self.forecast.notification.is_some_and(|at| at <= now) {
            self.settle(now);
            self.begin_notified_pass();
        }
    }

    /// Which kubelet it is.
    #[must_use]
    pub const fn version(&self) -> KubeletVersion {
        self.version
    }

    /// What it goes by.
    #[must_use]
    pub const fn config(&self) -> &EvictionConfig {
        &self.config
    }

    /// The thresholds, with those of the writable layers' file system once it is known.
    #[must_use]
    pub fn thresholds(&self) -> &[Threshold] {
        &self.config.thresholds
    }

    /// The thresholds that the last pass acted upon, or would have with newer figures. Until there
    /// is their minimum reclaim too, they stay.
    pub fn thresholds_met(&self) -> impl Iterator<Item = &Threshold> {
        self.thresholds_met.iter().filter_map(|index| self.config.thresholds.get(*index))
    }

    /// Where images and writable layers are.
    #[must_use]
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// The pods it was told of, in that order.
    #[must_use]
    pub fn pods(&self) -> &[Arc<KubeletPod>] {
        &self.pods
    }

    /// Those that have not ended. Mirrors `ActivePodsFunc`.
    pub fn active_pods(&self) -> impl Iterator<Item = &Arc<KubeletPod>> {
        self.pods.iter().filter(|pod| !pod.is_terminated)
    }

    /// What the node is under. Mirrors `IsUnderMemoryPressure` and its like.
    #[must_use]
    pub fn node_conditions(&self) -> &[Pressure] {
        &self.node_conditions
    }

    /// When the next pass is, whether it will be run or worked out; `None` while one is under way
    /// or evicted pods are cleaned up.
    #[must_use]
    pub fn next_pass(&self, now: Timestamp) -> Option<Timestamp> {
        if self.clean_up.is_some() || !matches!(self.phase, Phase::Idle) {
            return None;
        }
        Some(super::schedule::round_up(self.next_pass, EVICTION_MONITORING_PERIOD, now))
    }

    /// Which pod is being killed.
    #[must_use]
    pub fn killing(&self) -> Option<&PodKey> {
        match &self.phase {
            Phase::Killing { kills, .. } => Some(&kills.current),
            _ => None,
        }
    }

    pub(super) fn push(&mut self, action: EvictionManagerAction) {
        self.actions.push_back(action);
    }

    pub(super) fn report(&mut self, report: EvictionManagerReport) {
        self.push(EvictionManagerAction::Report(report));
    }

    pub(super) fn new_id(&mut self) -> RequestId {
        self.next_id += 1;
        RequestId(self.next_id)
    }

    fn begin_notified_pass(&mut self) {
        self.forecast.notification = None;
        self.begin_pass(true);
    }

    pub(super) fn record_pod_event(
        &mut self,
        pod: &PodKey,
        reason: &'static str,
        message: String,
        annotations: BTreeMap<String, String>,
    ) {
        let object = ObjectReference::Pod { api_version: "v1", pod: pod.clone() };
        self.record_event(object, reason, message, annotations);
    }

    pub(super) fn record_event(
        &mut self,
        involved_object: ObjectReference,
        reason: &'static str,
        message: String,
        annotations: BTreeMap<String, String>,
    ) {
        let event = RecordedEvent {
            involved_object,
            type_: "Warning",
            reason,
            message,
            component: COMPONENT,
        };
        self.push(EvictionManagerAction::RecordEvent { event, annotations });
    }

    /// The pass is over. One that the kernel asked for leaves the regular ones alone.
    pub(super) fn end_pass(&mut self, now: Timestamp, notified: bool, evicted: Vec<PodKey>) {
        self.phase = Phase::Idle;
        if !evicted.is_empty() {
            self.report(EvictionManagerReport::Evicted { pods: evicted.clone() });
        }
        if !notified {
            if evicted.is_empty() || self.version.is_qos_era() {
                self.next_pass = now.saturating_add(EVICTION_MONITORING_PERIOD);
            } else {
                self.clean_up = Some(CleanUp::new(now, evicted));
            }
        }
        if self.forecast.notification.is_some_and(|at| at <= now) {
            self.begin_notified_pass();
        }
    }

    /// How long a kill may take: the grace period and half of it, at least some seconds. Mirrors
    /// `killPodNow`.
    pub(super) fn kill_timeout(&self, grace_period: i64) -> Duration {
        let seconds = grace_period.saturating_add(grace_period / 2);
        let seconds = seconds.max(self.version.least_kill_timeout_seconds());
        Duration::from_secs(seconds.unsigned_abs())
    }
}
