//! What the controllers of workloads and the eviction API do differently from release to release.

use serde_json::{Value, json};
use taintlab_core::api::{JobStatus, WorkloadKey};
use taintlab_core::event::EventKind;
use taintlab_core::release::{JobBackoff, KubernetesRelease, ScalingMessage};
use taintlab_core::scenario::Scenario;
use taintlab_core::simulator::Simulator;
use taintlab_core::time::Timestamp;

use super::Difference;

pub(super) const DIFFERENCES: &[Difference] = &[
    Difference {
        name: "has_unhealthy_pod_eviction_policy",
        last: "1.26",
        before: "false",
        after: "true",
        observe: |release| release.has_unhealthy_pod_eviction_policy().to_string(),
    },
    Difference {
        name: "prefixes_job_labels",
        last: "1.26",
        before: "false",
        after: "true",
        observe: |release| {
            first_pod(release, job(json!({})), &[])
                .contains("batch.kubernetes.io/job-name")
                .to_string()
        },
    },
    Difference {
        name: "overlooks_deleted_daemon_pods_that_ended",
        last: "1.27",
        before: "false",
        after: "true",
        observe: |release| release.overlooks_deleted_daemon_pods_that_ended().to_string(),
    },
    Difference {
        name: "has_daemon_set_surge",
        last: "1.21",
        before: "false",
        after: "true",
        observe: |release| release.has_daemon_set_surge().to_string(),
    },
    Difference {
        name: "daemon_set_surge_asks_for_node",
        last: "1.28",
        before: "false",
        after: "true",
        observe: |release| release.daemon_set_surge_asks_for_node().to_string(),
    },
    Difference {
        name: "replaces_succeeded_daemon_pods",
        last: "1.27",
        before: "Succeeded",
        after: "Running",
        observe: daemon_pods,
    },
    Difference {
        name: "marks_collected_pods_as_failed",
        last: "1.25",
        before: "false",
        after: "true",
        observe: |release| release.marks_collected_pods_as_failed().to_string(),
    },
    Difference {
        name: "has_policy_v1",
        last: "1.20",
        before: "false",
        after: "true",
        observe: |release| release.has_policy_v1().to_string(),
    },
    Difference {
        name: "evicts_unready_pods_within_budgets",
        last: "1.19",
        before: "false",
        after: "true",
        observe: |release| release.evicts_unready_pods_within_budgets().to_string(),
    },
    Difference {
        name: "leaves_out_unmanaged_pods",
        last: "1.21",
        before: "false",
        after: "true",
        observe: |release| release.leaves_out_unmanaged_pods().to_string(),
    },
    Difference {
        name: "warns_of_unmanaged_pods",
        last: "1.26",
        before: "false",
        after: "true",
        observe: |release| {
            let events = budget_events(release, json!({}));
            events.contains("UnmanagedPods").to_string()
        },
    },
    Difference {
        name: "names_missing_scale",
        last: "1.20",
        before: "false",
        after: "true",
        observe: |release| {
            let owner = json!([{ "apiVersion": "batch/v1", "kind": "Job", "name": "it",
                                 "uid": "it", "controller": true }]);
            let events = budget_events(release, json!({ "ownerReferences": owner }));
            events.contains("jobs.batch does not implement the scale subresource").to_string()
        },
    },
    Difference {
        name: "eviction_sets_disruption_target",
        last: "1.25",
        before: "false",
        after: "true",
        observe: |release| {
            let evict = json!({ "evictPod": { "pod": "it-0" } });
            let pod = first_pod(release, stateful_set(json!({})), &[(10, evict)]);
            pod.contains("EvictionByEvictionAPI").to_string()
        },
    },
    Difference {
        name: "has_pod_replacement_policy",
        last: "1.28",
        before: "2",
        after: "1",
        observe: |release| {
            // Without a time to run it ends with its grace period.
            let template = json!({ "spec": { "restartPolicy": "Never",
                                             "containers": [{ "name": "c" }] } });
            let job = job(json!({ "podReplacementPolicy": "Failed", "template": template }));
            let simulator = run(release, job, &[(3, json!("delete"))], 20);
            simulator.cluster().pods().count().to_string()
        },
    },
    Difference {
        name: "counts_deleted_pods_as_failed",
        last: "1.25",
        before: "0",
        after: "1",
        observe: |release| {
            let simulator = run(release, job(json!({})), &[(3, json!("delete"))], 4);
            let job = simulator.cluster().get_workload(&job_key()).unwrap();
            job.status::<JobStatus>().failed.to_string()
        },
    },
    Difference {
        name: "has_pod_deletion_cost",
        last: "1.21",
        before: "false",
        after: "true",
        observe: |release| release.has_pod_deletion_cost().to_string(),
    },
    Difference {
        name: "scales_down_by_magnitude_of_age",
        last: "1.21",
        before: "a-old c-grey",
        after: "b-young c-grey",
        observe: goes_by_age,
    },
    Difference {
        name: "has_stateful_set_min_ready_seconds",
        last: "1.22",
        before: "false",
        after: "true",
        observe: |release| release.has_stateful_set_min_ready_seconds().to_string(),
    },
    Difference {
        name: "recreates_succeeded_pods",
        last: "1.27",
        before: "false",
        after: "true",
        observe: |release| release.recreates_succeeded_pods().to_string(),
    },
    Difference {
        name: "recreates_ended_pods_at_once",
        last: "1.30",
        before: "true",
        after: "false",
        observe: |release| release.recreates_ended_pods_at_once().to_string(),
    },
    Difference {
        name: "has_pod_failure_policy",
        last: "1.25",
        before: "false",
        after: "true",
        observe: |release| release.has_pod_failure_policy().to_string(),
    },
    Difference {
        name: "counts_job_requeues",
        last: "1.19",
        before: "true",
        after: "false",
        observe: |release| release.counts_job_requeues().to_string(),
    },
    Difference {
        name: "backoff_limit_asks_for_new_failure",
        last: "1.26",
        before: "true",
        after: "false",
        observe: |release| release.backoff_limit_asks_for_new_failure().to_string(),
    },
    Difference {
        name: "counts_job_pods_that_are_there",
        last: "1.22",
        before: "true",
        after: "false",
        observe: |release| release.counts_job_pods_that_are_there().to_string(),
    },
    Difference {
        name: "deletes_surplus_job_pods",
        last: "1.20",
        before: "false",
        after: "true",
        observe: |release| release.deletes_surplus_job_pods().to_string(),
    },
    Difference {
        name: "has_job_suspend",
        last: "1.21",
        before: "1",
        after: "0",
        observe: |release| {
            let simulator = run(release, job(json!({ "suspend": true })), &[], 5);
            simulator.cluster().pods().count().to_string()
        },
    },
    Difference {
        name: "job_backoff",
        last: "1.26",
        before: "true",
        after: "false",
        observe: |release| (release.job_backoff() == JobBackoff::Queue).to_string(),
    },
    Difference {
        name: "has_indexed_jobs",
        last: "1.21",
        before: "false",
        after: "true",
        observe: |release| {
            first_pod(release, indexed(), &[]).contains("job-completion-index").to_string()
        },
    },
    Difference {
        name: "has_backoff_limit_per_index",
        last: "1.28",
        before: "false",
        after: "true",
        observe: |release| release.has_backoff_limit_per_index().to_string(),
    },
    Difference {
        name: "labels_pods_with_completion_index",
        last: "1.27",
        before: "false",
        after: "true",
        observe: |release| {
            let pod = first_pod(release, indexed(), &[]);
            let pod: Value = serde_json::from_str(&pod).unwrap();
            let label = "/metadata/labels/batch.kubernetes.io~1job-completion-index";
            pod.pointer(label).is_some().to_string()
        },
    },
    Difference {
        name: "has_ttl_after_finished",
        last: "1.20",
        before: "there",
        after: "gone",
        observe: |release| {
            let simulator = run(release, job(json!({ "ttlSecondsAfterFinished": 10 })), &[], 60);
            let there = simulator.cluster().get_workload(&job_key()).is_some();
            (if there { "there" } else { "gone" }).to_owned()
        },
    },
    Difference {
        name: "labels_pods_with_index",
        last: "1.27",
        before: "false",
        after: "true",
        observe: |release| {
            first_pod(release, stateful_set(json!({})), &[])
                .contains("apps.kubernetes.io/pod-index")
                .to_string()
        },
    },
    Difference {
        name: "has_first_ordinal",
        last: "1.26",
        before: "false",
        after: "true",
        observe: |release| {
            let set = stateful_set(json!({ "ordinals": { "start": 5 } }));
            first_pod(release, set, &[]).contains("\"name\":\"it-5\"").to_string()
        },
    },
    Difference {
        name: "scaling_message",
        last: "1.25",
        before: "true",
        after: "false",
        observe: |release| (release.scaling_message() == ScalingMessage::To).to_string(),
    },
    Difference {
        name: "scaling_message",
        last: "1.30",
        before: "false",
        after: "true",
        observe: |release| (release.scaling_message() == ScalingMessage::FromTo).to_string(),
    },
];

/// A Job whose pod runs for 5 s.
fn job(more: Value) -> Value {
    let mut spec = json!({ "template": {
        "metadata": { "annotations": { "taintlab/run-time": "5s" } },
        "spec": { "restartPolicy": "Never", "containers": [{ "name": "c" }] },
    } });
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": "it" }, "spec": spec })
}

fn job_key() -> WorkloadKey {
    WorkloadKey::parse("job/it").unwrap()
}

fn indexed() -> Value {
    job(json!({ "completionMode": "Indexed", "completions": 1 }))
}

fn stateful_set(more: Value) -> Value {
    let mut spec = json!({
        "replicas": 1,
        "selector": { "matchLabels": { "app": "it" } },
        "template": { "metadata": { "labels": { "app": "it" } },
                      "spec": { "containers": [{ "name": "c" }] } },
    });
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let metadata = json!({ "name": "it" });
    json!({ "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata, "spec": spec })
}

/// A cluster of one node in which a workload is created, until some second. Of the steps `delete`
/// stands for deleting its first pod.
fn run(
    release: KubernetesRelease,
    workload: Value,
    steps: &[(u64, Value)],
    until: u64,
) -> Simulator {
    let scenario: Scenario = serde_json::from_value(json!({
        "apiVersion": "taintlab/v1", "kind": "Scenario",
        "kubernetes": { "release": release.to_string(), "controlPlane": true },
        "objects": { "nodes": [{ "metadata": { "name": "n" } }] },
    }))
    .unwrap();
    let mut simulator = scenario.simulator().unwrap();
    let create = (0, json!({ "createWorkload": workload }));
    for (second, step) in [create].iter().chain(steps) {
        let now = Timestamp::from_secs(*second);
        simulator.advance_to(now).unwrap();
        let first = simulator.cluster().pods().next().map(|(key, _)| key.to_string());
        let delete = json!({ "deletePod": { "pod": first } });
        let step = if *step == "delete" { delete } else { step.clone() };
        simulator.handle_command(now, serde_json::from_value(step).unwrap()).unwrap();
    }
    simulator.advance_to(Timestamp::from_secs(until)).unwrap();
    simulator
}

/// The first pod after 11 s, or when it was created, as JSON.
fn first_pod(release: KubernetesRelease, workload: Value, steps: &[(u64, Value)]) -> String {
    let simulator = run(release, workload, steps, if steps.is_empty() { 1 } else { 11 });
    let (_, pod) = simulator.cluster().pods().next().unwrap();
    serde_json::to_string(pod.as_ref()).unwrap()
}

/// What is said of a budget with `maxUnavailable` over a pod with these metadata.
fn budget_events(release: KubernetesRelease, more: Value) -> String {
    let mut metadata = json!({ "name": "it", "labels": { "app": "it" } });
    metadata.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let scenario: Scenario = serde_json::from_value(json!({
        "apiVersion": "taintlab/v1", "kind": "Scenario",
        "kubernetes": { "release": release.to_string(), "controlPlane": true },
        "objects": {
            "nodes": [{ "metadata": { "name": "n" } }],
            "pods": [{ "metadata": metadata, "spec": { "nodeName": "n" } }],
            "budgets": [{ "metadata": { "name": "it" }, "spec": {
                "maxUnavailable": 1, "selector": { "matchLabels": { "app": "it" } },
            } }],
        },
    }))
    .unwrap();
    let mut simulator = scenario.simulator().unwrap();
    simulator.advance_to(Timestamp::from_secs(5)).unwrap();
    let said = simulator.drain_events().into_iter().filter_map(|event| match event.what {
        EventKind::EventRecorded(event) => Some(format!("{} {}", event.reason, event.message)),
        _ => None,
    });
    said.collect::<Vec<_>>().join("; ")
}

/// The phases of the pods of a DaemonSet whose pod had ended well.
fn daemon_pods(release: KubernetesRelease) -> String {
    let owner = json!({ "apiVersion": "apps/v1", "kind": "DaemonSet", "name": "it", "uid": "it",
                        "controller": true });
    let scenario: Scenario = serde_json::from_value(json!({
        "apiVersion": "taintlab/v1", "kind": "Scenario",
        "kubernetes": { "release": release.to_string() },
        "objects": {
            "nodes": [{ "metadata": { "name": "n" } }],
            "pods": [{
                "metadata": { "name": "a", "uid": "a", "labels": { "app": "it" },
                              "ownerReferences": [owner] },
                "spec": { "nodeName": "n" }, "status": { "phase": "Succeeded" },
            }],
            "workloads": [{ "apiVersion": "apps/v1", "kind": "DaemonSet",
                "metadata": { "name": "it", "uid": "it" },
                "spec": {
                    "selector": { "matchLabels": { "app": "it" } },
                    "template": { "metadata": { "labels": { "app": "it" } },
                                  "spec": { "containers": [{ "name": "c" }] } },
                } }],
        },
    }))
    .unwrap();
    let mut simulator = scenario.simulator().unwrap();
    simulator.advance_to(Timestamp::from_secs(15)).unwrap();
    let phases = simulator.cluster().pods().map(|(_, pod)| pod.status.phase.to_string());
    phases.collect::<Vec<_>>().join(" ")
}

/// Which of two pods goes when there is one too many: one is some seconds older, and of the same
/// order of magnitude, and its UID is the lesser.
fn goes_by_age(release: KubernetesRelease) -> String {
    let pod = |name: &str, created: &str| -> Value {
        json!({
            "metadata": {
                "name": name, "uid": name, "labels": { "app": "web" },
                "creationTimestamp": created,
                "ownerReferences": [{
                    "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "set",
                    "controller": true,
                }],
            },
            "spec": { "nodeName": "n" },
            "status": {
                "phase": "Running",
                "conditions": [
                    { "type": "Ready", "status": "True", "lastTransitionTime": created },
                ],
            },
        })
    };
    let scenario: Scenario = serde_json::from_value(json!({
        "apiVersion": "taintlab/v1", "kind": "Scenario",
        "kubernetes": { "release": release.to_string() },
        "objects": {
            "nodes": [{ "metadata": { "name": "n" } }],
            "workloads": [{
                "apiVersion": "apps/v1", "kind": "ReplicaSet",
                "metadata": { "name": "web", "uid": "set" },
                "spec": {
                    "replicas": 2,
                    "selector": { "matchLabels": { "app": "web" } },
                    "template": { "metadata": { "labels": { "app": "web" } } },
                },
            }],
            "pods": [
                pod("a-old", "2019-12-31T23:58:20Z"),
                pod("b-young", "2019-12-31T23:58:40Z"),
                pod("c-grey", "2019-12-31T22:00:00Z"),
            ],
        },
    }))
    .unwrap();
    let mut simulator = scenario.simulator().unwrap();
    simulator.advance_to(Timestamp::from_secs(40)).unwrap();
    simulator.cluster().pods().map(|(key, _)| key.name().to_owned()).collect::<Vec<_>>().join(" ")
}
