//! The resources of a node and its eviction manager, to look at.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Serialize;
use taintlab_rules::api::PodKey;
use taintlab_rules::time::{Timestamp, format_duration};

use super::Kubelets;
use crate::kubelet::{
    ConditionView, Distance, EvictionManager, Layout, NodeUsage, Observations, Pressure, Ranking,
    Signal,
};

/// The most points of a chart.
const MOST_POINTS: usize = 2_000;

/// A node's resources, and what its kubelet makes of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EvictionView {
    /// Where images and writable layers are.
    pub layout: Layout,
    /// Whether the kubelet runs; if not, nobody watches.
    pub watches: bool,
    /// What is watched, and how much there is of it.
    pub signals: Vec<SignalView>,
    /// How far each signal is from each of its thresholds, and how long a soft one still waits.
    pub thresholds: Vec<Distance>,
    /// The conditions as the kubelet knows them, and how long they last.
    pub conditions: Vec<ConditionView>,
    /// How long a condition stays after its last cause is gone, as Go writes it.
    pub transition_period: String,
    /// How many seconds a pod has to end when a soft threshold evicts it.
    pub max_pod_grace_period_seconds: i64,
    /// When the next pass is; absent while one is under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_pass: Option<Timestamp>,
    /// Which pod is being killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub killing: Option<PodKey>,
    /// Of what there is too little now, and the kubelet acts or waits; else what is next to it: the
    /// signal to look at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Signal>,
}

/// How much a node has of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SignalView {
    /// What is watched.
    pub signal: Signal,
    /// The condition that the node gets.
    pub pressure: Pressure,
    /// How much there is altogether.
    pub capacity: i64,
    /// How much of it is left.
    pub available: i64,
}

/// Usage over time: what was, and after now what will be if nothing is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageSeries {
    /// What is watched.
    pub signal: Signal,
    /// How much the node has; absent if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<i64>,
    /// The moments.
    pub times: Vec<Timestamp>,
    /// What is used besides pods, at each moment.
    pub system: Vec<i64>,
    /// What each pod uses, in the order in which they started.
    pub pods: Vec<PodSeries>,
    /// The amounts of the thresholds, as usage: above them is too little.
    pub thresholds: Vec<ThresholdLine>,
}

/// What a pod uses at each moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PodSeries {
    /// Which pod.
    pub pod: PodKey,
    /// How much; zero while it does not run.
    pub values: Vec<i64>,
}

/// A threshold in a chart of usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ThresholdLine {
    /// Whether it acts at once.
    pub hard: bool,
    /// The usage above which it is met.
    pub usage: i64,
}

impl Kubelets {
    /// What the kubelet of a node makes of its resources; `None` if nobody has said what it has.
    pub(crate) fn eviction_view(&self, now: Timestamp, node: &str) -> Option<EvictionView> {
        let managed = self.managed(node)?;
        let (usage, layout) = (managed.usage(), managed.layout);
        let seen = Observations::of(&usage.summary(now, layout).node);
        let signal = |signal: Signal| {
            let seen = seen.get(signal)?;
            let (capacity, available) = (seen.capacity, seen.available);
            Some(SignalView { signal, pressure: signal.pressure(), capacity, available })
        };
        let manager = managed.manager.as_ref();
        let thresholds = manager.map_or_else(Vec::new, |manager| manager.distances(&seen));
        let config = manager.map(EvictionManager::config);
        let period = config.map(|config| config.pressure_transition_period);
        // By how much of its capacity a signal is away from its threshold.
        let away = |distance: &&Distance| {
            let capacity = i128::from(distance.capacity.unwrap_or(1).max(1));
            i128::from(distance.distance.unwrap_or(i64::MAX)) * 1_000_000 / capacity
        };
        let known = thresholds.iter().filter(|distance| distance.distance.is_some());
        Some(EvictionView {
            layout,
            watches: manager.is_some(),
            signals: Signal::ALL.into_iter().filter_map(signal).collect(),
            nearest: known.min_by_key(away).map(|distance| distance.signal),
            conditions: manager.map_or_else(Vec::new, |manager| manager.conditions(now)),
            transition_period: period.map(format_duration).unwrap_or_default(),
            max_pod_grace_period_seconds: config.map_or(0, |c| c.max_pod_grace_period_seconds),
            next_pass: manager.and_then(|manager| manager.next_pass(now)),
            killing: manager.and_then(|manager| manager.killing().cloned()),
            thresholds,
        })
    }

    /// The pods of a node in the order in which they would go if there were too little of
    /// something, and what would change that; `None` if nobody watches.
    pub(crate) fn eviction_ranking(
        &self,
        now: Timestamp,
        node: &str,
        signal: Signal,
    ) -> Option<Ranking> {
        let managed = self.managed(node)?;
        let summary = managed.usage().summary(now, managed.layout);
        managed.manager.as_ref()?.ranking(signal, &summary)
    }

    /// The settings of eviction of a node's kubelet: names of flags and their values, as the
    /// kubelet counts them. `None` if there is no kubelet.
    pub(crate) fn eviction_flags(&self, node: &str) -> Option<Vec<(&'static str, String)>> {
        self.by_node.get(node)?;
        let config = self.eviction_config(node);
        let pairs = |hard: bool, separator: char| {
            let of_kind = config.thresholds.iter().filter(|threshold| {
                threshold.is_hard() == hard
                    && threshold.signal != Signal::AllocatableMemoryAvailable
            });
            let text = of_kind.map(|threshold| {
                let value = threshold.value.describe();
                alloc::format!("{}{separator}{value}", threshold.signal)
            });
            text.collect::<Vec<_>>().join(",")
        };
        let soft = config.thresholds.iter().filter(|threshold| !threshold.is_hard());
        let graces = soft.map(|threshold| {
            alloc::format!("{}={}", threshold.signal, format_duration(threshold.grace_period))
        });
        let mut reclaims: Vec<String> = Vec::new();
        for threshold in &config.thresholds {
            if let Some(least) = &threshold.min_reclaim
                && threshold.signal != Signal::AllocatableMemoryAvailable
            {
                let text = alloc::format!("{}={}", threshold.signal, least.describe());
                if !reclaims.contains(&text) {
                    reclaims.push(text);
                }
            }
        }
        Some(Vec::from([
            ("eviction-hard", pairs(true, '<')),
            ("eviction-soft", pairs(false, '<')),
            ("eviction-soft-grace-period", graces.collect::<Vec<_>>().join(",")),
            ("eviction-minimum-reclaim", reclaims.join(",")),
            ("eviction-max-pod-grace-period", config.max_pod_grace_period_seconds.to_string()),
            (
                "eviction-pressure-transition-period",
                format_duration(config.pressure_transition_period),
            ),
        ]))
    }

    /// What is used of what a signal watches, over time: `points` moments from `from` to `to`, both
    /// included. What was before the last 200 changes of a node is not known any more. `None` if
    /// nobody has said what the node has.
    pub(crate) fn usage_series(
        &self,
        node: &str,
        signal: Signal,
        from: Timestamp,
        to: Timestamp,
        points: usize,
    ) -> Option<UsageSeries> {
        let managed = self.managed(node)?;
        let layout = managed.layout;
        let last = points.clamp(2, MOST_POINTS) - 1;
        let length = to.as_nanos().saturating_sub(from.as_nanos());
        let moment = |index: usize| {
            let (index, last) = (u128::try_from(index), u128::try_from(last));
            let part = index.ok()? * u128::from(length) / last.ok()?.max(1);
            let part = u64::try_from(part).ok()?;
            Some(Timestamp::from_nanos(from.as_nanos().saturating_add(part)))
        };
        let times: Vec<Timestamp> = (0..=last).filter_map(moment).collect();
        let (mut system, mut pods) = (Vec::new(), Vec::<PodSeries>::new());
        for (index, at) in times.iter().enumerate() {
            let past = managed.history.iter().find(|(until, _)| at < until);
            let usage: &NodeUsage = past.map_or(managed.usage(), |(_, usage)| usage);
            let (total, shares) = usage.shares(layout, signal, *at);
            let mut rest = total;
            for ((pod, ..), share) in usage.running().zip(shares) {
                rest = rest.saturating_sub(share);
                let place = pods.iter().position(|known| known.pod == pod.key);
                let place = place.unwrap_or_else(|| {
                    pods.push(PodSeries { pod: pod.key.clone(), values: Vec::new() });
                    pods.len() - 1
                });
                if let Some(series) = pods.get_mut(place) {
                    series.values.resize(index, 0);
                    series.values.push(share);
                }
            }
            system.push(rest.max(0));
        }
        for series in &mut pods {
            series.values.resize(times.len(), 0);
        }
        let capacity = managed.usage().capacity(layout, signal);
        let manager = managed.manager.as_ref();
        let lines = manager.into_iter().flat_map(|manager| manager.thresholds());
        let lines = lines.filter(|threshold| threshold.signal == signal);
        let thresholds = lines.filter_map(|threshold| {
            let capacity = capacity?;
            let usage = capacity.saturating_sub(threshold.value.quantity(capacity).value());
            Some(ThresholdLine { hard: threshold.is_hard(), usage })
        });
        let thresholds = thresholds.collect();
        Some(UsageSeries { signal, capacity, times, system, pods, thresholds })
    }

    /// What a node has and what it uses, if somebody has said what it has.
    pub(crate) fn usage_of_node(&self, node: &str) -> Option<(Layout, &NodeUsage)> {
        let managed = self.managed(node)?;
        Some((managed.layout, managed.usage()))
    }
}
