//! `kubelet_eviction_*`: thresholds, the order of eviction, and passes of the kubelet.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use taintlab_core::api::{Quantity, Toleration};
use taintlab_core::kubelet::{
    ActionResult, EvictionConfig, EvictionManager, KubeletPod, KubeletVersion, Layout, Reclaim,
    Signal, Threshold, ThresholdValue, admit, parse_threshold_config, rank as rank_pods,
};
use taintlab_core::time::{Timestamp, format_duration};

use super::{Outcome, compare, with_case, with_flagged_case};
use crate::kubelet::{ContainerCase, NodeCase, PodCase, Seen, drain, version};
use crate::nullable::nullable;

type Statements = BTreeMap<String, String>;

fn read(
    version: KubeletVersion,
    enforced: &[String],
    hard: &Statements,
    soft: &Statements,
    grace: &Statements,
    reclaim: &Statements,
) -> Result<Vec<Threshold>, String> {
    parse_threshold_config(version, enforced, hard, soft, grace, reclaim)
}

fn layout(dedicated_imagefs: bool, split_containerfs: bool) -> Layout {
    match (dedicated_imagefs, split_containerfs) {
        (_, true) => Layout::SplitImageFs,
        (true, false) => Layout::DedicatedImageFs,
        (false, false) => Layout::OneFilesystem,
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ParseCase {
    #[serde(rename = "kind")]
    _kind: String,
    #[serde(deserialize_with = "nullable")]
    enforce_node_allocatable: Vec<String>,
    #[serde(deserialize_with = "nullable")]
    eviction_hard: Statements,
    #[serde(deserialize_with = "nullable")]
    eviction_soft: Statements,
    #[serde(deserialize_with = "nullable")]
    eviction_soft_grace_period: Statements,
    #[serde(deserialize_with = "nullable")]
    eviction_minimum_reclaim: Statements,
    #[serde(deserialize_with = "nullable")]
    thresholds: Vec<ThresholdAnswer>,
    #[serde(deserialize_with = "nullable")]
    errors: Vec<String>,
}

#[derive(PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct ThresholdAnswer {
    signal: String,
    operator: String,
    value: ValueAnswer,
    grace_ns: u64,
    #[serde(default)]
    min_reclaim: Option<ValueAnswer>,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
struct ValueAnswer {
    quantity: Option<String>,
    value: Option<i64>,
    milli_value: Option<i64>,
    percentage: Option<f32>,
    nan: bool,
    inf: Option<serde_json::Value>,
}

impl PartialEq for ValueAnswer {
    fn eq(&self, other: &Self) -> bool {
        let parts = |v: &Self| (v.quantity.clone(), v.value, v.milli_value, v.nan);
        // What is no number has no decimal, and `-0` is `0`.
        parts(self) == parts(other)
            && (self.nan || self.inf.is_some() == other.inf.is_some())
            && (self.nan || self.inf.is_some() || self.percentage == other.percentage)
    }
}

impl From<&ThresholdValue> for ValueAnswer {
    fn from(value: &ThresholdValue) -> Self {
        let none = Self::default();
        match value {
            ThresholdValue::Quantity(quantity) => Self {
                quantity: Some(quantity.to_string()),
                value: Some(quantity.value()),
                milli_value: Some(quantity.milli_value()),
                ..none
            },
            ThresholdValue::Percentage(fraction) if fraction.is_nan() => Self { nan: true, ..none },
            ThresholdValue::Percentage(fraction) if fraction.is_infinite() => {
                Self { inf: Some(fraction.to_string().into()), ..none }
            }
            ThresholdValue::Percentage(fraction) => Self { percentage: Some(*fraction), ..none },
        }
    }
}

impl From<&Threshold> for ThresholdAnswer {
    fn from(threshold: &Threshold) -> Self {
        Self {
            signal: threshold.signal.to_string(),
            operator: if threshold.less_than { "LessThan" } else { "" }.to_owned(),
            value: (&threshold.value).into(),
            grace_ns: u64::try_from(threshold.grace_period.as_nanos()).expect("it fits"),
            min_reclaim: threshold.min_reclaim.as_ref().map(Into::into),
        }
    }
}

/// Runs one case of `kubelet_eviction_parse*` of that release. Upstream goes through a map; each error it may give
/// first is right.
pub fn parse(minor: u8, line: &str) -> Outcome {
    with_case(line, |case: ParseCase| {
        let read = read(
            version(minor),
            &case.enforce_node_allocatable,
            &case.eviction_hard,
            &case.eviction_soft,
            &case.eviction_soft_grace_period,
            &case.eviction_minimum_reclaim,
        );
        match read {
            Ok(mut thresholds) => {
                thresholds
                    .sort_by_key(|threshold| (threshold.signal.name(), threshold.grace_period));
                let got: Vec<ThresholdAnswer> = thresholds.iter().map(Into::into).collect();
                compare(&(case.thresholds, case.errors), &(got, Vec::new()))
            }
            Err(error) if case.errors.contains(&error) => Outcome::Agrees,
            Err(error) => compare(&case.errors, &vec![error]),
        }
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RankCase {
    #[serde(rename = "id")]
    _id: u64,
    signal: String,
    dedicated_imagefs: bool,
    #[serde(default)]
    split_containerfs: bool,
    pods: Vec<PodCase>,
    /// Pods of one group are equal.
    #[serde(rename = "order")]
    groups: Vec<Vec<String>>,
    #[serde(rename = "ties")]
    _ties: bool,
    /// What Go's sort made of equal ones; it keeps the order of up to twelve.
    raw_order: Vec<String>,
}

/// Runs one case of `kubelet_eviction_rank*` of that release.
pub fn rank(minor: u8, line: &str) -> Outcome {
    with_case(line, |case: RankCase| match ranked(version(minor), &case) {
        Ok((names, groups)) => compare(&(case.raw_order, case.groups), &(names, groups)),
        Err(error) => Outcome::Failed(error),
    })
}

fn ranked(
    version: KubeletVersion,
    case: &RankCase,
) -> Result<(Vec<String>, Vec<Vec<String>>), String> {
    let signal = Signal::parse(version, &case.signal)?;
    let pods: Result<Vec<KubeletPod>, String> =
        case.pods.iter().map(|pod| pod.kubelet_pod(version)).collect();
    let pods = pods?;
    let summary = NodeCase::default().summary(&case.pods);
    let references: Vec<&KubeletPod> = pods.iter().collect();
    let layout = layout(case.dedicated_imagefs, case.split_containerfs);
    let ranking =
        rank_pods(version, layout, signal, &references, &summary).ok_or("no way to rank")?;
    let mut groups: Vec<Vec<String>> = Vec::new();
    let mut is_equal = false;
    for pod in &ranking.pods {
        let name = pod.candidate.pod.name().to_owned();
        match groups.last_mut().filter(|_| is_equal) {
            Some(group) => group.push(name),
            None => groups.push(vec![name]),
        }
        is_equal = pod.before_next_by.is_none();
    }
    Ok((groups.concat(), groups))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SyncCase {
    #[serde(rename = "id")]
    _id: u64,
    config: SyncConfig,
    dedicated_imagefs: bool,
    #[serde(default)]
    split_containerfs: bool,
    pods: Vec<PodCase>,
    steps: Vec<Step>,
    results: Vec<StepResult>,
    nondeterministic: bool,
    kill_errors: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SyncConfig {
    max_pod_grace_period_seconds: i64,
    pressure_transition_period: u64,
    #[serde(deserialize_with = "nullable")]
    enforce_node_allocatable: Vec<String>,
    #[serde(deserialize_with = "nullable")]
    eviction_hard: Statements,
    #[serde(deserialize_with = "nullable")]
    eviction_soft: Statements,
    #[serde(deserialize_with = "nullable")]
    eviction_soft_grace_period: Statements,
    #[serde(deserialize_with = "nullable")]
    eviction_minimum_reclaim: Statements,
    #[serde(rename = "threshold_order")]
    _threshold_order: serde_json::Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    t: u64,
    node: NodeCase,
    #[serde(default)]
    after_gc: Option<NodeCase>,
}

#[derive(PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct StepResult {
    t: u64,
    #[serde(deserialize_with = "nullable")]
    evicted: Vec<String>,
    #[serde(deserialize_with = "nullable")]
    kills: Vec<Kill>,
    #[serde(deserialize_with = "nullable")]
    node_conditions: Vec<String>,
    #[serde(deserialize_with = "nullable")]
    events: Vec<String>,
    #[serde(default)]
    event_annotations: Option<BTreeMap<String, String>>,
    image_gc_calls: usize,
    container_gc_calls: usize,
    #[serde(deserialize_with = "nullable")]
    thresholds_met: Vec<String>,
    admit: BTreeMap<String, bool>,
}

#[derive(PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Kill {
    pod: String,
    grace_period_override: i64,
    reason: String,
    message: String,
}

/// Runs one case of `kubelet_eviction_sync*` of that release. It is flagged if upstream takes several thresholds in
/// the order of a map.
pub fn sync(minor: u8, line: &str) -> Outcome {
    // The first pass replaces what a user set for the file system of containers in a slice that the
    // pass may share or not, as its capacity has it.
    let sets_containerfs = |case: &SyncCase| {
        let mut signals = case.config.eviction_hard.keys().chain(case.config.eviction_soft.keys());
        signals.any(|signal| signal.starts_with("containerfs."))
    };
    let is_flagged = |case: &SyncCase| case.nondeterministic || sets_containerfs(case);
    with_flagged_case(line, is_flagged, |case| play(version(minor), case))
}

fn play(version: KubeletVersion, case: SyncCase) -> Result<Outcome, String> {
    let config = &case.config;
    let config = EvictionConfig {
        thresholds: read(
            version,
            &config.enforce_node_allocatable,
            &config.eviction_hard,
            &config.eviction_soft,
            &config.eviction_soft_grace_period,
            &config.eviction_minimum_reclaim,
        )?,
        max_pod_grace_period_seconds: config.max_pod_grace_period_seconds,
        pressure_transition_period: Duration::from_secs(config.pressure_transition_period),
        kernel_memcg_notification: false,
        local_storage_capacity_isolation: true,
        overwrites_grace_period: false,
        pod_disruption_conditions: true,
    };
    let layout = layout(case.dedicated_imagefs, case.split_containerfs);
    let mut manager = EvictionManager::new(version, config, "node".into(), layout, Timestamp::ZERO);
    for pod in &case.pods {
        let kubelet_pod = Arc::new(pod.kubelet_pod(version)?);
        manager.handle_pod_update(Timestamp::ZERO, &pod.key(), Some(kubelet_pod));
    }
    let kill_result = if case.kill_errors { ActionResult::Failed } else { ActionResult::Done };
    let mut results = Vec::new();
    for step in &case.steps {
        let now = Timestamp::from_secs(step.t);
        // The steps are at any time; so is this.
        manager.handle_memory_notification(now);
        let mut stats = |seen: &Seen| {
            let after_gc = step.after_gc.as_ref().filter(|_| !seen.reclaimed.is_empty());
            Some(after_gc.unwrap_or(&step.node).summary(&case.pods))
        };
        let (seen, _) = drain(&mut manager, now, &mut stats, &mut |_| Some(kill_result));
        for name in &seen.evicted {
            let key = taintlab_core::api::PodKey::new("default", name);
            manager.handle_pod_update(now, &key, None);
        }
        results.push(result(&manager, step.t, seen));
    }
    let at = case.results.iter().zip(&results).position(|(one, other)| one != other);
    Ok(match at {
        None if case.results.len() == results.len() => Outcome::Agrees,
        at => {
            let at = at.unwrap_or(results.len().min(case.results.len()));
            compare(&case.results.get(at), &results.get(at))
        }
    })
}

fn result(manager: &EvictionManager, t: u64, seen: Seen) -> StepResult {
    let calls = |what| seen.reclaimed.iter().filter(|called| **called == what).count();
    let met = |threshold: &Threshold| {
        format!("{}/{}", threshold.signal, format_duration(threshold.grace_period))
    };
    let mut thresholds_met: Vec<String> = manager.thresholds_met().map(met).collect();
    thresholds_met.sort();
    let mut node_conditions: Vec<String> =
        manager.node_conditions().iter().map(ToString::to_string).collect();
    node_conditions.sort();
    let kills = seen.kills.into_iter().map(|kill| Kill {
        pod: kill.pod,
        grace_period_override: kill.grace_period_override,
        reason: "Evicted".to_owned(),
        message: kill.patch.message,
    });
    StepResult {
        t,
        evicted: seen.evicted,
        kills: kills.collect(),
        node_conditions,
        events: seen.events,
        event_annotations: seen.annotations,
        image_gc_calls: calls(Reclaim::UnusedImages),
        container_gc_calls: calls(Reclaim::UnusedContainers),
        thresholds_met,
        admit: probes(manager),
    }
}

/// Whether four pods would be admitted.
fn probes(manager: &EvictionManager) -> BTreeMap<String, bool> {
    let tolerates = Toleration {
        key: "node.kubernetes.io/memory-pressure".into(),
        operator: "Exists".into(),
        effect: "NoSchedule".into(),
        ..Toleration::default()
    };
    let burstable = ContainerCase {
        name: "c".into(),
        memory_request: Some(Quantity::new(1, taintlab_core::api::Format::BinarySI).to_string()),
        ..ContainerCase::default()
    };
    let critical = PodCase { priority: Some(2_000_000_000), ..PodCase::default() };
    let burstable = PodCase { containers: vec![burstable], ..PodCase::default() };
    let probe = |case: &PodCase, tolerations: Vec<Toleration>| {
        let pod = case.kubelet_pod(manager.version()).expect("it can be read");
        let pod = KubeletPod { tolerations: tolerations.into(), ..pod };
        admit(manager.version(), manager.node_conditions(), &pod).is_admitted()
    };
    [
        ("best_effort", probe(&PodCase::default(), Vec::new())),
        ("best_effort_tolerating", probe(&PodCase::default(), vec![tolerates])),
        ("burstable", probe(&burstable, Vec::new())),
        ("critical", probe(&critical, Vec::new())),
    ]
    .map(|(name, admitted)| (name.to_owned(), admitted))
    .into()
}
