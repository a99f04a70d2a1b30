//! Compares the engine with answers recorded from Kubernetes' own code.
//!
//! A family of cases is a file `NAME.jsonl` or `NAME.jsonl.gz` with one case a line; what the
//! lines hold is in `tests/vectors/README.md`. [`FAMILIES`] says who runs which.

pub mod admission;
mod control;
pub mod daemon_set;
pub mod device_taint_eviction;
pub mod disruption;
pub mod kubectl_describe;
pub mod kubectl_get;
pub mod kubectl_taint;
pub mod kubelet_eviction;
pub mod kubelet_shutdown;
pub mod matching;
pub mod node_lifecycle;
pub mod pod_gc;
pub mod qps;
pub mod rate_limited_queue;
pub mod report;
pub mod runner;
pub mod scheduling;
pub mod taint_utils;
pub mod timeline;
pub mod token_bucket;
pub mod tolerates;
pub mod trace;
pub mod validation;
pub mod workloads;
pub mod zone_state;

use serde::de::DeserializeOwned;
use serde::ser::Serialize;
use taintlab_core::release::KubernetesRelease;

/// One family of cases.
#[derive(Clone, Copy)]
pub struct Family {
    /// The name of its file, without `.jsonl`.
    pub name: &'static str,
    /// Runs one line.
    pub run: fn(&str) -> Outcome,
}

/// Every family that the engine answers.
pub const FAMILIES: &[Family] = &[
    Family { name: "daemonset_1.20", run: |line| daemon_set::run(line, "1.20") },
    Family { name: "daemonset_1.36", run: |line| daemon_set::run(line, "1.36") },
    Family { name: "defaulttolerations_1.20", run: admission::default_tolerations },
    Family { name: "deployment_1.20", run: |line| workloads::deployment(line, "1.20") },
    Family { name: "deployment_1.36", run: |line| workloads::deployment(line, "1.36") },
    Family { name: "device_taint_eviction_1.36", run: device_taint_eviction::run },
    Family { name: "disruption_1.20", run: |line| disruption::run(line, "1.20") },
    Family { name: "disruption_1.36", run: |line| disruption::run(line, "1.36") },
    Family { name: "job_1.20", run: |line| workloads::job(line, "1.20") },
    Family { name: "job_1.36", run: |line| workloads::job(line, "1.36") },
    Family { name: "kubectl_describe_1.20", run: |line| kubectl_describe::run("1.20", line) },
    Family { name: "kubectl_describe_1.36", run: |line| kubectl_describe::run("1.36", line) },
    Family { name: "kubectl_get_1.20", run: |line| kubectl_get::run("1.20", line) },
    Family { name: "kubectl_get_1.36", run: |line| kubectl_get::run("1.36", line) },
    Family { name: "kubectl_taint", run: |line| kubectl_taint::run("1.20", line) },
    Family { name: "kubectl_taint_1.36", run: |line| kubectl_taint::run("1.36", line) },
    Family { name: "kubelet_eviction_parse", run: |line| kubelet_eviction::parse(20, line) },
    Family { name: "kubelet_eviction_parse_1.36", run: |line| kubelet_eviction::parse(36, line) },
    Family { name: "kubelet_eviction_rank", run: |line| kubelet_eviction::rank(20, line) },
    Family { name: "kubelet_eviction_rank_1.36", run: |line| kubelet_eviction::rank(36, line) },
    Family { name: "kubelet_eviction_sync", run: |line| kubelet_eviction::sync(20, line) },
    Family { name: "kubelet_eviction_sync_1.36", run: |line| kubelet_eviction::sync(36, line) },
    Family { name: "kubelet_shutdown_1.36", run: |line| kubelet_shutdown::run("1.36", line) },
    Family { name: "matching", run: matching::run },
    Family { name: "matching_1.36", run: matching::run },
    Family { name: "node_lifecycle", run: node_lifecycle::run },
    Family { name: "node_lifecycle_1.36", run: node_lifecycle::run },
    Family { name: "node_lifecycle_current", run: node_lifecycle::run },
    Family { name: "node_lifecycle_legacy", run: node_lifecycle::run },
    Family { name: "podgc_1.20", run: |line| pod_gc::run(line, "1.20") },
    Family { name: "podgc_1.36", run: |line| pod_gc::run(line, "1.36") },
    Family { name: "priority_admission_1.20", run: admission::priority },
    Family { name: "qps", run: qps::run },
    Family { name: "rate_limited_queue", run: rate_limited_queue::run },
    Family { name: "replicaset_1.20", run: |line| workloads::replica_set(line, "1.20") },
    Family { name: "replicaset_1.36", run: |line| workloads::replica_set(line, "1.36") },
    Family { name: "scheduler_decisions", run: scheduling::decision },
    Family { name: "scheduler_filter_1.20", run: |line| scheduling::filter("1.20", line) },
    Family { name: "scheduler_filter_1.36", run: |line| scheduling::filter("1.36", line) },
    Family { name: "scheduler_preempt_1.20", run: |line| scheduling::preempt("1.20", line) },
    Family { name: "scheduler_preempt_1.36", run: |line| scheduling::preempt("1.36", line) },
    Family { name: "scheduler_score_1.20", run: |line| scheduling::score("1.20", line) },
    Family { name: "scheduler_score_1.36", run: |line| scheduling::score("1.36", line) },
    Family { name: "statefulset_1.20", run: |line| workloads::stateful_set(line, "1.20") },
    Family { name: "statefulset_1.36", run: |line| workloads::stateful_set(line, "1.36") },
    Family { name: "taint_utils", run: taint_utils::run },
    Family { name: "timeline-1.18", run: |line| timeline::run(line).into() },
    Family { name: "timeline-1.20", run: |line| timeline::run(line).into() },
    Family { name: "timeline-1.20-realtime", run: |line| timeline::run(line).into() },
    Family { name: "timeline-current", run: |line| timeline::run(line).into() },
    Family { name: "timeline_1.36", run: |line| timeline::run(line).into() },
    Family { name: "token_bucket", run: token_bucket::run },
    Family { name: "tolerates", run: tolerates::run },
    Family { name: "tolerates-numeric", run: tolerates::run },
    Family { name: "tolerates_1.36", run: tolerates::run },
    Family { name: "validation", run: |line| validation::run("1.20", line) },
    Family { name: "validation_1.36", run: |line| validation::run("1.36", line) },
    Family { name: "zone_state", run: zone_state::run },
];

/// What came of one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The engine gives the recorded answer.
    Agrees,
    /// The recorded answer is flagged as one of several that are possible.
    Skipped,
    /// The engine gives another answer.
    Differs {
        /// The recorded one, as JSON.
        expected: String,
        /// The engine's.
        got: String,
    },
    /// The case cannot be read, or there is more to say than two values; the text says it.
    Failed(String),
}

impl From<Result<(), String>> for Outcome {
    fn from(result: Result<(), String>) -> Self {
        result.map_or_else(Self::Failed, |()| Self::Agrees)
    }
}

/// Reads a case, then runs it.
pub(crate) fn with_case<C: DeserializeOwned>(
    line: &str,
    run: impl FnOnce(C) -> Outcome,
) -> Outcome {
    match serde_json::from_str(line) {
        Ok(case) => run(case),
        Err(error) => Outcome::Failed(format!("the case cannot be read: {error}")),
    }
}

/// Reads a case, then plays it. One that is flagged, because the recorded answer is one of several
/// that are possible, is skipped if it differs.
pub(crate) fn with_flagged_case<C: DeserializeOwned>(
    line: &str,
    is_flagged: impl FnOnce(&C) -> bool,
    play: impl FnOnce(C) -> Result<Outcome, String>,
) -> Outcome {
    with_case(line, |case: C| {
        let flagged = is_flagged(&case);
        match play(case) {
            Ok(Outcome::Agrees) => Outcome::Agrees,
            Ok(_) if flagged => Outcome::Skipped,
            Ok(outcome) => outcome,
            Err(error) => Outcome::Failed(error),
        }
    })
}

/// A release that is known.
pub(crate) fn release(minor: &str) -> KubernetesRelease {
    KubernetesRelease::parse(minor).expect("a known release")
}

/// Agrees if both are equal.
pub(crate) fn compare<T: PartialEq + Serialize>(expected: &T, got: &T) -> Outcome {
    if expected == got {
        return Outcome::Agrees;
    }
    let show = |value| serde_json::to_string(value).unwrap_or_else(|error| error.to_string());
    Outcome::Differs { expected: show(expected), got: show(got) }
}

/// The release of that name.
pub(crate) fn release_of(name: &str) -> KubernetesRelease {
    KubernetesRelease::parse(name).expect("it is one of the engine's")
}
