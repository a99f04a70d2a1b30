//! `kubelet_shutdown_*`: in which groups the kubelet ends pods before its node is shut down, and how
//! long each pod has.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use taintlab_core::api::{Pod, PodKey};
use taintlab_core::kubelet::{KubeletConfiguration, NodeShutdownConfig};
use taintlab_core::release::FeatureGates;

use super::{Outcome, compare, release_of, with_flagged_case};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Case {
    #[serde(rename = "id")]
    _id: u64,
    #[serde(default)]
    flagged: bool,
    shutdown_grace_period: Option<u64>,
    shutdown_grace_period_critical_pods: Option<u64>,
    #[serde(default)]
    shutdown_grace_period_by_pod_priority: Value,
    groups: Option<Vec<(i32, i64)>>,
    pods: Vec<CasePod>,
    outcomes: Vec<Step>,
    #[serde(rename = "end")]
    _end: f64,
}

/// A pod. How long it takes to end, and whether that fails, only moves what comes after it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CasePod {
    name: String,
    priority: Option<i32>,
    #[serde(rename = "terminationGracePeriodSeconds")]
    grace: Option<i64>,
    phase: String,
    #[serde(rename = "takes")]
    _takes: f64,
    #[serde(rename = "unmount_takes")]
    _unmount_takes: f64,
    #[serde(rename = "kill_fails")]
    _kill_fails: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Step {
    t: f64,
    kind: String,
    pod: String,
    #[serde(default)]
    grace_period: i64,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    message: String,
    #[serde(rename = "phase")]
    _phase: Option<String>,
    #[serde(rename = "condition")]
    _condition: Option<String>,
}

#[derive(PartialEq, Serialize)]
struct Kill {
    grace_period: i64,
    reason: String,
    message: String,
}

/// The groups with their pods, in the order in which they end.
type Kills = Vec<BTreeMap<String, Kill>>;

/// Runs one case of that release.
pub fn run(release: &str, line: &str) -> Outcome {
    with_flagged_case(line, |case: &Case| case.flagged, |case| play(release, case))
}

fn play(release: &str, case: Case) -> Result<Outcome, String> {
    let release = release_of(release);
    let seconds = |seconds: Option<u64>| seconds.map(|seconds| format!("{seconds}s"));
    let mut settings = json!({
        "shutdownGracePeriod": seconds(case.shutdown_grace_period),
        "shutdownGracePeriodCriticalPods": seconds(case.shutdown_grace_period_critical_pods),
        "shutdownGracePeriodByPodPriority": case.shutdown_grace_period_by_pod_priority,
    });
    if let Value::Object(settings) = &mut settings {
        settings.retain(|_, value| !value.is_null());
    }
    let settings: KubeletConfiguration =
        serde_json::from_value(settings).map_err(|error| error.to_string())?;
    let gates = FeatureGates::new(release, [])?;
    // A kubelet that would not start has no groups.
    let config = settings.node_shutdown_config(release, &gates).ok();
    let config = config.filter(|config| !config.is_off());
    let periods = |config: &NodeShutdownConfig| {
        let periods = config.periods().iter();
        periods.map(|period| (period.priority, period.shutdown_grace_period_seconds)).collect()
    };
    let pods = case.pods.iter().map(pod).collect::<Result<Vec<Pod>, String>>()?;
    let keys: Vec<PodKey> = pods.iter().map(Pod::key).collect();
    let groups = config.as_ref().map(|config| config.groups(release, keys.iter().zip(&pods)));
    let (reason, message) = release.shutdown_pod_status();
    let kills = |pods: &[(PodKey, i64)]| {
        let kill = |(pod, grace): &(PodKey, i64)| {
            let (reason, message) = (reason.to_owned(), message.to_owned());
            (pod.name().to_owned(), Kill { grace_period: *grace, reason, message })
        };
        pods.iter().map(kill).collect()
    };
    // Whether the pods of a group without any time are told before all is over is a race.
    let groups = groups.iter().flatten().filter(|group| !group.period.is_zero());
    let got: Kills = groups.map(|group| kills(&group.pods)).collect();
    let expected = (case.groups, recorded(&case.outcomes, &got));
    Ok(compare(&expected, &(config.as_ref().map(periods), got)))
}

/// The kills that were recorded, of the pods that are in a group, by their moment.
fn recorded(outcomes: &[Step], got: &Kills) -> Kills {
    let mut kills: Kills = Vec::new();
    let mut last = None;
    let is_known = |pod: &str| got.iter().any(|group| group.contains_key(pod));
    for step in outcomes.iter().filter(|step| step.kind == "kill" && is_known(&step.pod)) {
        if last != Some(step.t) {
            kills.push(BTreeMap::new());
            last = Some(step.t);
        }
        let kill = Kill {
            grace_period: step.grace_period,
            reason: step.reason.clone(),
            message: step.message.clone(),
        };
        kills.last_mut().expect("one was pushed").insert(step.pod.clone(), kill);
    }
    kills
}

fn pod(case: &CasePod) -> Result<Pod, String> {
    let pod = json!({
        "metadata": { "name": case.name, "namespace": "default" },
        "spec": {
            "priority": case.priority,
            // Upstream a pod without it has all the time of its group; the API server sets it.
            "terminationGracePeriodSeconds": case.grace.unwrap_or(i64::MAX),
            "containers": [{ "name": "c" }],
        },
        "status": { "phase": case.phase },
    });
    serde_json::from_value(pod).map_err(|error| error.to_string())
}
