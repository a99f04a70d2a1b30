//! One pass, step by step, from one [`Phase`] to the next. Mirrors `managerImpl.synchronize`.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use taintlab_rules::api::{ConditionStatus, PodCondition, PodKey};
use taintlab_rules::order::Order;
use taintlab_rules::protocol::ObjectReference;
use taintlab_rules::time::Timestamp;

use super::action::{
    ActionResult, EvictionManagerAction, EvictionManagerReport, PodStatusPatch, Reclaim,
};
use super::local_storage::exceeded_limit;
use super::manager::EvictionManager;
use super::message::{EVICTED, Message, Shortage, eviction_message};
use super::observation::Observations;
use super::phase::{Kill, Kills, Pass, Phase};
use super::pod::KubeletPod;
use super::rank::{self, StatsByPod};
use super::signal::{Layout, Pressure, Signal};
use super::stats::Summary;
use super::threshold::{self, Threshold, met};

/// Which grace periods of soft thresholds have begun, or ended without an eviction.
fn grace_period_reports(
    list: &[Threshold],
    before: &[(usize, Timestamp)],
    first: &[(usize, Timestamp)],
) -> Vec<EvictionManagerReport> {
    let soft = |index: &usize| list.get(*index).filter(|threshold| !threshold.is_hard());
    let new = |(index, since): &(usize, Timestamp)| {
        let known = before.iter().any(|(known, at)| known == index && at == since);
        let threshold = soft(index).filter(|_| !known)?;
        let until = since.saturating_add(threshold.grace_period);
        Some(EvictionManagerReport::GracePeriodStarted { signal: threshold.signal, until })
    };
    let over = |(index, _): &(usize, Timestamp)| {
        let gone = !first.iter().any(|(known, _)| known == index);
        let signal = soft(index).filter(|_| gone)?.signal;
        Some(EvictionManagerReport::GracePeriodEnded { signal })
    };
    first.iter().filter_map(new).chain(before.iter().filter_map(over)).collect()
}

impl EvictionManager {
    /// Begins a pass: asks for stats.
    pub(super) fn begin_pass(&mut self, notified: bool) {
        let isolates = self.config.local_storage_capacity_isolation;
        if self.config.thresholds.is_empty() && !isolates {
            return;
        }
        self.steady = None;
        let id = self.new_id();
        self.phase = Phase::AwaitStats { id, notified };
        self.push(EvictionManagerAction::CollectStats { id });
    }

    /// From the stats to the first thing that takes time.
    pub(super) fn synchronize(&mut self, now: Timestamp, notified: bool, summary: Arc<Summary>) {
        self.summary = summary;
        let observations = Observations::of(&self.summary.node);
        let acted_upon = self.observe(now, &observations);
        let kills = self.local_storage_kills();
        if !kills.is_empty() {
            self.begin_kills(now, notified, kills, true);
            return;
        }
        let mut thresholds = acted_upon;
        let priority = |index: &usize| self.config.thresholds.get(*index).map(Threshold::priority);
        thresholds.order_by_key(priority);
        let first = thresholds.first().and_then(|index| self.config.thresholds.get(*index));
        let Some(first) = first else {
            if self.thresholds_met.is_empty() {
                self.foresee(now);
            }
            self.end_pass(now, notified, Vec::new());
            return;
        };
        let signal = first.signal;
        let resource = signal.resource(self.version);
        // In 1.5 it is the resource that is soft, unless one of its thresholds is hard.
        let hard = if self.version.is_qos_era() {
            thresholds
                .iter()
                .filter_map(|index| self.config.thresholds.get(*index))
                .any(|other| other.is_hard() && other.signal.resource(self.version) == resource)
        } else {
            first.is_hard()
        };
        let node = ObjectReference::Node { node: self.node.clone() };
        let message = format!("Attempting to reclaim {resource}");
        self.record_event(node, "EvictionThresholdMet", message, Default::default());
        self.report(EvictionManagerReport::Reclaiming { signal, hard });
        let pass = Pass { notified, thresholds, signal, hard, observations };
        let functions = self.reclaim_functions(signal);
        self.reclaim_next(now, pass, functions);
    }

    /// Which thresholds are acted upon. Steps 5 to 11 of the specification of the pass.
    fn observe(&mut self, now: Timestamp, observations: &Observations) -> Vec<usize> {
        let all = 0..self.config.thresholds.len();
        let mut thresholds = met(&self.config.thresholds, all, observations, false);
        if !self.knows_filesystems {
            self.knows_filesystems = true;
            if Signal::ContainerFsAvailable.exists(self.version) {
                threshold::update_containerfs(&mut self.config.thresholds, self.layout);
            }
        }
        let list = &self.config.thresholds;
        if !self.thresholds_met.is_empty() {
            let before = self.thresholds_met.iter().copied();
            let not_resolved = met(list, before, observations, true);
            threshold::merge(list, &mut thresholds, not_resolved);
        }
        let last = &self.last_observations;
        if self.version.is_qos_era() {
            thresholds = threshold::with_updated_stats(list, &thresholds, observations, last);
        }
        let before = &self.thresholds_first_observed_at;
        let first = threshold::first_observed_at(&thresholds, before, now);
        let reports = grace_period_reports(list, before, &first);
        let observed = threshold::pressures(list, &thresholds);
        let mut thresholds = threshold::met_grace_period(list, &first, now);
        self.thresholds_first_observed_at = first;
        self.thresholds_met.clone_from(&thresholds);
        if !self.version.is_qos_era() {
            thresholds = threshold::with_updated_stats(list, &thresholds, observations, last);
        }
        self.last_observations.clone_from(observations);
        self.set_conditions(now, &observed);
        for report in reports {
            self.report(report);
        }
        thresholds
    }

    /// Mirrors `nodeConditionsLastObservedAt` and `nodeConditionsObservedSince`.
    fn set_conditions(&mut self, now: Timestamp, observed: &[Pressure]) {
        let period = self.config.pressure_transition_period;
        let mut conditions = Vec::new();
        for (pressure, at) in Pressure::ALL.into_iter().zip(&mut self.conditions_last_observed_at) {
            if observed.contains(&pressure) {
                *at = Some(now);
            }
            if at.is_some_and(|at| now - at < period) {
                conditions.push(pressure);
            }
        }
        if conditions != self.node_conditions {
            self.node_conditions.clone_from(&conditions);
            self.report(EvictionManagerReport::Pressures { now: conditions });
        }
    }

    /// Mirrors `localStorageEviction`.
    fn local_storage_kills(&mut self) -> VecDeque<Kill> {
        if !self.config.local_storage_capacity_isolation {
            return VecDeque::new();
        }
        let stats = StatsByPod::new(&self.summary);
        let grace_period_override = self.immediate_grace_period();
        let kill = |pod: &Arc<KubeletPod>| {
            let text = exceeded_limit(self.version, self.layout, pod, stats.get(pod)?)?;
            let message = Message { text, ..Message::default() };
            Some(Kill { pod: pod.clone(), grace_period_override, message, for_node: false })
        };
        let pods = self.active_pods().filter(|pod| !pod.is_spared());
        pods.filter_map(kill).collect()
    }

    fn immediate_grace_period(&self) -> i64 {
        self.version.rule(0, |release| release.immediate_eviction_grace_period_seconds())
    }

    /// Mirrors `buildSignalToNodeReclaimFuncs`; deleting logs, which 1.5 only planned, is left out.
    fn reclaim_functions(&self, signal: Signal) -> VecDeque<Reclaim> {
        use Reclaim::{UnusedContainers, UnusedImages};
        let images = matches!(signal, Signal::ImageFsAvailable | Signal::ImageFsInodesFree);
        let node = matches!(signal, Signal::NodeFsAvailable | Signal::NodeFsInodesFree);
        let functions: &[Reclaim] = match self.layout {
            _ if signal.pressure() != Pressure::Disk => &[],
            Layout::DedicatedImageFs if node => &[],
            Layout::OneFilesystem if self.version.is_qos_era() && images => &[],
            _ if self.version.is_qos_era() => &[UnusedImages],
            Layout::SplitImageFs if images => &[UnusedImages],
            Layout::SplitImageFs => &[UnusedContainers],
            Layout::OneFilesystem | Layout::DedicatedImageFs => &[UnusedContainers, UnusedImages],
        };
        functions.iter().copied().collect()
    }

    /// The next function that may free something; after the last one, whether it was enough.
    fn reclaim_next(&mut self, now: Timestamp, pass: Pass, mut rest: VecDeque<Reclaim>) {
        match rest.pop_front() {
            Some(what) => {
                let id = self.new_id();
                self.phase = Phase::Reclaiming { id, pass, rest };
                self.push(EvictionManagerAction::Reclaim { id, what });
            }
            None => self.evict(now, pass),
        }
    }

    pub(super) fn reclaimed(
        &mut self,
        now: Timestamp,
        mut pass: Pass,
        rest: VecDeque<Reclaim>,
        result: ActionResult,
    ) {
        if self.version.is_qos_era() {
            // What was freed is added to what was observed; of inodes nothing is known.
            if let ActionResult::Reclaimed(bytes) = result
                && !pass.signal.is_inodes()
            {
                let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
                pass.observations.add_available(pass.signal, bytes);
            }
            let list = &self.config.thresholds;
            let before = self.thresholds_met.iter().copied();
            if result != ActionResult::Failed
                && met(list, before, &pass.observations, true).is_empty()
            {
                self.reclaimed_enough(now, &pass);
            } else {
                self.reclaim_next(now, pass, rest);
            }
        } else if rest.is_empty() {
            let id = self.new_id();
            self.phase = Phase::AwaitStatsAfterReclaim { id, pass };
            self.push(EvictionManagerAction::CollectStats { id });
        } else {
            self.reclaim_next(now, pass, rest);
        }
    }

    /// Mirrors the end of `reclaimNodeLevelResources`: all thresholds must be left, not only the
    /// one that decided.
    pub(super) fn check_reclaim(&mut self, now: Timestamp, pass: Pass, summary: Option<&Summary>) {
        let with_min_reclaim =
            self.version.rule(false, |release| release.reclaim_check_asks_minimum_reclaim());
        let is_enough = summary.is_some_and(|summary| {
            let observations = Observations::of(&summary.node);
            let all = 0..self.config.thresholds.len();
            met(&self.config.thresholds, all, &observations, with_min_reclaim).is_empty()
        });
        if is_enough {
            self.reclaimed_enough(now, &pass);
        } else {
            self.evict(now, pass);
        }
    }

    fn reclaimed_enough(&mut self, now: Timestamp, pass: &Pass) {
        self.report(EvictionManagerReport::ReclaimedEnough { signal: pass.signal });
        self.end_pass(now, pass.notified, Vec::new());
    }

    /// Ranks the pods and evicts the first that can be. Steps 17 to 21.
    fn evict(&mut self, now: Timestamp, pass: Pass) {
        let kills = self.ranked_kills(&pass);
        if kills.is_empty() {
            self.report(EvictionManagerReport::NobodyToEvict { signal: pass.signal });
            self.end_pass(now, pass.notified, Vec::new());
            return;
        }
        self.begin_kills(now, pass.notified, kills, false);
    }

    fn ranked_kills(&mut self, pass: &Pass) -> VecDeque<Kill> {
        let (version, signal) = (self.version, pass.signal);
        let pods: Vec<Arc<KubeletPod>> = self.active_pods().cloned().collect();
        let references: Vec<&KubeletPod> = pods.iter().map(Arc::as_ref).collect();
        let summary = self.summary.clone();
        let stats = StatsByPod::new(&summary);
        let Some(ranked) = rank::sort(version, self.layout, signal, &references, &stats) else {
            return VecDeque::new();
        };
        let mut kills = VecDeque::new();
        self.report_ranked(signal, &ranked);
        for pod in ranked.iter().filter_map(|(index, _)| pods.get(*index)) {
            if let Some(why) = pod.critical.filter(|_| pod.is_spared()) {
                self.report(EvictionManagerReport::Spared { pod: pod.key.clone(), why });
                continue;
            }
            let shortage = Shortage {
                version,
                resource: signal.resource(version),
                thresholds: pass
                    .thresholds
                    .iter()
                    .filter_map(|index| self.config.thresholds.get(*index))
                    .collect(),
                observations: &pass.observations,
            };
            kills.push_back(Kill {
                pod: pod.clone(),
                grace_period_override: self.grace_period(pass.hard, pod),
                message: eviction_message(&shortage, pod, stats.get(pod)),
                for_node: true,
            });
            // Only in 1.5 another one follows, if the first cannot be killed.
            if !version.is_qos_era() {
                break;
            }
        }
        kills
    }

    /// Who goes, and what puts that pod before the next one that could go.
    fn report_ranked(&mut self, signal: Signal, ranked: &[(usize, rank::Candidate)]) {
        let keys = rank::rank_keys(self.version, self.layout, signal).unwrap_or_default();
        let can_go = |candidate: &&rank::Candidate| {
            matches!(candidate.critical, None | Some(super::pod::Critical::Annotation))
        };
        let mut goers = ranked.iter().map(|(_, candidate)| candidate).filter(can_go);
        let Some(first) = goers.next() else { return };
        let next = goers.next();
        let report = EvictionManagerReport::Ranked {
            signal,
            pod: first.pod.clone(),
            next: next.map(|next| next.pod.clone()),
            because: next.and_then(|next| first.reason(next, keys)),
        };
        self.report(report);
    }

    fn grace_period(&self, hard: bool, pod: &KubeletPod) -> i64 {
        if hard {
            return self.immediate_grace_period();
        }
        let most = self.config.max_pod_grace_period_seconds;
        let respects =
            self.version.rule(false, |release| release.soft_eviction_respects_pod_grace_period());
        match pod.termination_grace_period_seconds {
            Some(own) if respects && !self.config.overwrites_grace_period => most.min(own),
            _ => most,
        }
    }

    fn begin_kills(&mut self, now: Timestamp, notified: bool, mut rest: VecDeque<Kill>, all: bool) {
        let Some(first) = rest.pop_front() else { return };
        let kills =
            Kills { notified, current: first.pod.key.clone(), rest, all, evicted: Vec::new() };
        self.kill(now, first, kills);
    }

    /// Mirrors `evictPod`.
    fn kill(&mut self, now: Timestamp, kill: Kill, kills: Kills) {
        let Kill { pod, grace_period_override, message: Message { text, annotations }, for_node } =
            kill;
        let sets_condition = for_node
            && self.config.pod_disruption_conditions
            && self.version.rule(false, |release| release.kubelet_sets_disruption_target());
        let disruption_target = sets_condition.then(|| PodCondition {
            type_: "DisruptionTarget".into(),
            status: ConditionStatus::True,
            reason: "TerminationByKubelet".into(),
            message: text.clone(),
            ..PodCondition::default()
        });
        self.record_pod_event(&pod.key, EVICTED, text.clone(), annotations);
        let patch = PodStatusPatch { message: text, disruption_target };
        self.push(EvictionManagerAction::PatchPodStatus { pod: pod.key.clone(), patch });
        let (key, grace_period_seconds) = (pod.key.clone(), grace_period_override);
        self.report(EvictionManagerReport::Killing { pod: key, grace_period_seconds });
        let id = self.new_id();
        let deadline = now.saturating_add(self.kill_timeout(grace_period_override));
        self.phase = Phase::Killing { id, deadline, kills };
        let (pod, uid): (PodKey, String) = (pod.key.clone(), pod.uid.clone());
        self.push(EvictionManagerAction::KillPod { id, pod, uid, grace_period_override });
    }

    /// A pod had its time.
    pub(super) fn kill_timed_out(&mut self, now: Timestamp, kills: Kills) {
        let message = "Container runtime did not kill the pod within specified grace period.";
        let pod = kills.current.clone();
        self.record_pod_event(&pod, "ExceededGracePeriod", message.to_string(), Default::default());
        self.killed(now, kills, false);
    }

    /// A pod is dead, or could not be killed, which counts as well except in 1.5.
    pub(super) fn killed(&mut self, now: Timestamp, mut kills: Kills, succeeded: bool) {
        let counts = succeeded || !self.version.is_qos_era();
        if counts {
            kills.evicted.push(kills.current.clone());
        }
        let next = if kills.all || !counts { kills.rest.pop_front() } else { None };
        match next {
            Some(next) => {
                kills.current = next.pod.key.clone();
                self.kill(now, next, kills);
            }
            None => self.end_pass(now, kills.notified, kills.evicted),
        }
    }
}
