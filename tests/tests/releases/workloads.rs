//! What the controllers of workloads and the eviction API do differently from release to release.

use serde_json::{Value, json};
use taintlab_core::api::{
    JobStatus, Pod, ReplicaSetStatus, StatefulSetStatus, WorkloadKey, WorkloadKind,
};
use taintlab_core::event::EventKind;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scenario::Scenario;
use taintlab_core::simulator::Simulator;
use taintlab_core::time::Timestamp;
use taintlab_tests::conformance::{Outcome, disruption, pod_gc, workloads};

use super::Difference;

pub(super) const DIFFERENCES: &[Difference] = &[
    Difference {
        name: "has_unhealthy_pod_eviction_policy",
        last: "1.26",
        before: "refused",
        after: "evicted",
        observe: |release| {
            let spec = json!({ "minAvailable": 2, "unhealthyPodEvictionPolicy": "AlwaysAllow" });
            evict_unready(release, spec)
        },
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
        before: "Failed",
        after: "Failed Pending",
        observe: |release| {
            // Its kubelet has been lost since, so that the pod stays.
            let metadata = json!({ "deletionTimestamp": "2020-01-01T00:00:00Z",
                                   "deletionGracePeriodSeconds": 30 });
            daemon_pods(release, "Failed", metadata)
        },
    },
    Difference {
        name: "counts_nodes_of_daemon_pods",
        last: "1.20",
        before: "1 of 2 pods",
        after: "2 of 2 pods",
        observe: replaced_beside_one_that_is_not_available,
    },
    Difference {
        name: "has_daemon_set_surge",
        last: "1.21",
        before: "refused",
        after: "2 pods",
        observe: |release| match surging(release, &[]) {
            Some(simulator) => format!("{} pods", simulator.cluster().pods().count()),
            None => "refused".to_owned(),
        },
    },
    Difference {
        name: "daemon_set_surge_asks_for_node",
        last: "1.21",
        before: "refused",
        after: "1 pod that nobody places",
        observe: placed_nowhere,
    },
    Difference {
        name: "daemon_set_surge_asks_for_node",
        last: "1.28",
        before: "1 pod that nobody places",
        after: "0 pod that nobody places",
        observe: placed_nowhere,
    },
    Difference {
        name: "replaces_succeeded_daemon_pods",
        last: "1.27",
        before: "Succeeded",
        after: "Running",
        observe: |release| daemon_pods(release, "Succeeded", json!({})),
    },
    Difference {
        name: "has_policy_v1",
        last: "1.20",
        before: "evicted",
        after: "refused",
        observe: |release| evict_unready(release, json!({ "minAvailable": 2, "selector": {} })),
    },
    Difference {
        name: "evicts_unready_pods_within_budgets",
        last: "1.19",
        before: "refused",
        after: "evicted",
        observe: |release| evict_unready(release, json!({ "minAvailable": 1 })),
    },
    Difference {
        name: "leaves_out_unmanaged_pods",
        last: "1.21",
        before: "true",
        after: "false",
        observe: |release| {
            let events = budget_events(release, json!({}));
            events.contains("CalculateExpectedPodCountFailed").to_string()
        },
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
        name: "tracks_jobs_with_finalizers",
        last: "1.22",
        before: "0, 0",
        after: "1, 1",
        observe: failures_of_pods_that_went,
    },
    Difference {
        name: "tracks_jobs_with_finalizers",
        last: "1.23",
        before: "1, 1",
        after: "0, 0",
        observe: failures_of_pods_that_went,
    },
    Difference {
        name: "tracks_jobs_with_finalizers",
        last: "1.24",
        before: "0, 0",
        after: "1, 1",
        observe: failures_of_pods_that_went,
    },
    Difference {
        name: "has_pod_deletion_cost",
        last: "1.21",
        before: "a-old c-grey",
        after: "a-old b-young",
        observe: |release| {
            let cost = json!({ "controller.kubernetes.io/pod-deletion-cost": "-1" });
            left_of_three(release, cost)
        },
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
        before: "2",
        after: "1",
        observe: |release| {
            let set = stateful_set(json!({ "replicas": 2, "minReadySeconds": 60 }));
            run(release, set, &[], 30).cluster().pods().count().to_string()
        },
    },
    Difference {
        name: "recreates_succeeded_pods",
        last: "1.28",
        before: "Succeeded",
        after: "Running",
        observe: |release| ended_stateful_pod(release, "Succeeded").0,
    },
    Difference {
        name: "recreates_ended_pods_at_once",
        last: "1.30",
        before: "RecreatingFailedPod SuccessfulDelete SuccessfulCreate",
        after: "SuccessfulDelete SuccessfulCreate",
        observe: |release| ended_stateful_pod(release, "Failed").1,
    },
    Difference {
        name: "has_pod_failure_policy",
        last: "1.25",
        before: "",
        after: "PodFailurePolicy",
        observe: |release| {
            let rule = json!({ "action": "FailJob", "onExitCodes": {
                "operator": "In", "values": [3] } });
            let policy = json!({ "podFailurePolicy": { "rules": [rule] } });
            ended_job(release, policy, &["Failed"]).0
        },
    },
    Difference {
        name: "counts_job_requeues",
        last: "1.19",
        before: "",
        after: "BackoffLimitExceeded",
        observe: |release| {
            // Three pods fail at once, which is one look.
            let spec = json!({ "parallelism": 3, "completions": 3, "backoffLimit": 1 });
            ended_job(release, spec, &["Failed"; 3]).0
        },
    },
    Difference {
        name: "backoff_limit_asks_for_new_failure",
        last: "1.27",
        before: "",
        after: "BackoffLimitExceeded",
        observe: |release| {
            // Its status knows of the failure already.
            let status = json!({ "failed": 1, "startTime": "2020-01-01T00:00:00Z" });
            let spec = json!({ "backoffLimit": 0, "status": status });
            ended_job(release, spec, &["Failed"]).0
        },
    },
    Difference {
        name: "deletes_surplus_job_pods",
        last: "1.20",
        before: "2",
        after: "1",
        observe: |release| {
            // One completion is missing, and two pods run; as many may run at once.
            let spec = json!({ "completions": 2, "parallelism": 2 });
            let pods = ["Succeeded", "Running", "Running"];
            let (_, simulator) = ended_job(release, spec, &pods);
            let runs = |pod: &&Pod| pod.status.phase.to_string() == "Running";
            let pods = simulator.cluster().pods().map(|(_, pod)| pod.as_ref());
            pods.filter(runs).filter(|pod| !pod.is_terminating()).count().to_string()
        },
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
        before: "Failed Running",
        after: "Failed",
        observe: |release| phases(&ended_job(release, json!({}), &["Failed"]).1),
    },
    Difference {
        name: "batches_job_syncs",
        last: "1.23",
        before: "Pending Succeeded",
        after: "Succeeded",
        observe: |release| {
            let two = job(json!({ "completions": 2, "parallelism": 1 }));
            let simulator = run(release, two, &[(7, json!({ "stopKubelet": { "node": "n" } }))], 7);
            phases(&simulator)
        },
    },
    Difference {
        name: "posts_phase_of_deleted_pods",
        last: "1.26",
        before: "false",
        after: "true",
        observe: |release| {
            // As long as a Job keeps it, the pod is seen; without finalizers nobody does.
            let policy = json!({ "rules": [{ "action": "Count", "onPodConditions": [] }] });
            let mut job = job(json!({ "podFailurePolicy": policy }));
            job["spec"]["template"]["metadata"]["annotations"] = json!({});
            job["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 3.into();
            let simulator = run(release, job, &[(4, json!("delete"))], 7);
            phases(&simulator).contains("Failed").to_string()
        },
    },
    Difference {
        name: "refuses_ready_above_active",
        last: "1.30",
        before: "1",
        after: "0",
        observe: |release| {
            let mut job = job(json!({ "parallelism": 2, "completions": 3 }));
            job["spec"]["template"]["metadata"]["annotations"] = json!({});
            // Up to 1.24 a pod that is deleted counts when it is gone, if at all.
            let force = |pod: &str| json!({ "deletePod": { "pod": pod, "force": true } });
            let simulator = run(release, job.clone(), &[], 4);
            let first = simulator.cluster().pods().next().unwrap().0.to_string();
            let simulator = run(release, job, &[(4, force(&first))], 6);
            let job = simulator.cluster().get_workload(&job_key()).unwrap();
            let failed = job.status::<JobStatus>().failed;
            (if release.tracks_jobs_with_finalizers() { failed } else { 1 }).to_string()
        },
    },
    Difference {
        name: "omits_event_about_missing_controllers",
        last: "1.21",
        before: "NoControllers CalculateExpectedPodCountFailed",
        after: "CalculateExpectedPodCountFailed",
        observe: |release| {
            let owner = json!({ "apiVersion": "apps.kruise.io/v1", "kind": "CloneSet",
                                "name": "it", "uid": "it", "controller": true });
            let said = budget_events(release, json!({ "ownerReferences": [owner] }));
            let reasons = said.split("; ").filter_map(|event| event.split(' ').next());
            let mut known = Vec::new();
            for reason in reasons.filter(|it| *it != "RegisteredNode") {
                // The condition that is written makes the controller look again.
                if !known.contains(&reason) {
                    known.push(reason);
                }
            }
            known.join(" ")
        },
    },
    Difference {
        name: "daemon_sets_overlook_node_changes",
        last: "1.32",
        before: "0",
        after: "1",
        observe: |release| {
            let mut set = stateful_set(json!({}));
            set["kind"] = "DaemonSet".into();
            let taint = json!({ "taint": { "node": "n",
                "taint": { "key": "k", "effect": "NoSchedule" } } });
            let simulator = run(release, set, &[(10, taint)], 12);
            let set = WorkloadKey::parse("daemonset/it").unwrap();
            simulator.workload_view(&set).unwrap().desired.to_string()
        },
    },
    Difference {
        name: "stateful_set_events_have_capitals",
        last: "1.34",
        before: "create Pod it-0 in StatefulSet it successful",
        after: "Create Pod it-0 in StatefulSet it successful",
        observe: |release| {
            let mut simulator = run(release, stateful_set(json!({})), &[], 5);
            let mut said =
                simulator.drain_events().into_iter().filter_map(|event| match event.what {
                    EventKind::EventRecorded(event) if event.reason == "SuccessfulCreate" => {
                        Some(event.message)
                    }
                    _ => None,
                });
            said.next().unwrap_or_default()
        },
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
        before: "",
        after: "FailedIndexes",
        observe: |release| {
            let mut job = indexed();
            job["spec"]["backoffLimitPerIndex"] = 0.into();
            why_failed(&run(release, job, &[(3, json!("delete"))], 60))
        },
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
        last: "1.24",
        before: "Scaled up replica set to 3",
        after: "Scaled up replica set to 3 from 1",
        observe: scaled,
    },
    Difference {
        name: "scaling_message",
        last: "1.31",
        before: "Scaled up replica set to 3 from 1",
        after: "Scaled up replica set from 1 to 3",
        observe: scaled,
    },
    Difference {
        name: "delays_end_of_jobs",
        last: "1.30",
        before: "Failed",
        after: "FailureTarget",
        observe: |release| {
            // The deadline is over, and the pod has 30 s to end.
            let mut job = job(json!({ "activeDeadlineSeconds": 5 }));
            job["spec"]["template"]["metadata"]["annotations"] = json!({});
            let simulator = run(release, job, &[(2, json!({ "stopKubelet": { "node": "n" } }))], 8);
            let job = simulator.cluster().get_workload(&job_key()).unwrap();
            let status = job.status::<JobStatus>();
            status.conditions.iter().map(|it| it.type_.clone()).collect::<Vec<_>>().join(" ")
        },
    },
    Difference {
        name: "has_job_success_policy",
        last: "1.30",
        before: "",
        after: "SuccessPolicy",
        observe: |release| {
            let rules = json!([{ "succeededIndexes": "0" }]);
            let pod = json!({
                "metadata": {
                    "name": "it-0", "namespace": "default", "uid": "it-0",
                    "annotations": { "batch.kubernetes.io/job-completion-index": "0" },
                    "finalizers": ["batch.kubernetes.io/job-tracking"],
                    "labels": { "job": "it" },
                    "ownerReferences": [{ "apiVersion": "batch/v1", "kind": "Job", "name": "it",
                                          "uid": "it", "controller": true }],
                },
                "status": { "phase": "Succeeded" },
            });
            let mut job = job(json!({ "completionMode": "Indexed", "completions": 2,
                                      "parallelism": 1, "successPolicy": { "rules": rules },
                                      "selector": { "matchLabels": { "job": "it" } } }));
            job["metadata"] = json!({ "name": "it", "namespace": "default", "uid": "it" });
            let case = json!({ "id": 0, "job": job, "pods": [pod], "result": {} });
            let got = answer(workloads::job(&case.to_string(), &release.to_string()));
            let reason = got.pointer("/status/conditions/0/reason").and_then(Value::as_str);
            reason.unwrap_or_default().to_owned()
        },
    },
    Difference {
        name: "names_reached_completions",
        last: "1.31",
        before: "",
        after: "CompletionsReached",
        observe: |release| {
            let simulator = run(release, job(json!({})), &[], 20);
            let job = simulator.cluster().get_workload(&job_key()).unwrap();
            job.status::<JobStatus>().finished().unwrap().reason.clone()
        },
    },
    Difference {
        name: "counts_stateful_pods_as_seen",
        last: "1.27",
        before: "1",
        after: "0",
        observe: |release| {
            // One look at a StatefulSet that creates a pod.
            let mut set = stateful_set(json!({}));
            set["metadata"]["generation"] = 1.into();
            let case = json!({ "id": 0, "statefulSet": set, "updateRevision": "it-1",
                               "previousRevision": "it-0", "result": {} });
            answer(workloads::stateful_set(&case.to_string(), &release.to_string()))
                .pointer("/status/replicas")
                .unwrap()
                .to_string()
        },
    },
    Difference {
        name: "collects_evicted_pods_first",
        last: "1.26",
        before: "default/old",
        after: "default/evicted",
        observe: |release| {
            let pod = |name: &str, created: &str, reason: &str| {
                json!({ "metadata": { "name": name, "namespace": "default",
                                      "creationTimestamp": created },
                        "status": { "phase": "Failed", "reason": reason } })
            };
            let pods = [
                pod("old", "2020-01-01T00:00:00Z", ""),
                pod("evicted", "2020-01-01T00:00:01Z", "Evicted"),
            ];
            let case = json!({ "id": 0, "nodes": [], "pods": pods, "terminatedPodThreshold": 1,
                               "deletedAt0s": [], "deletedAt41s": [] });
            let got = answer(pod_gc::run(&case.to_string(), &release.to_string()));
            got.pointer("/0/0/0").and_then(Value::as_str).unwrap().to_owned()
        },
    },
    Difference {
        name: "has_budget_conditions",
        last: "1.20",
        before: "",
        after: "InsufficientPods",
        observe: |release| {
            let budget = json!({ "metadata": { "name": "it", "namespace": "default",
                                               "generation": 1 },
                                 "spec": { "minAvailable": 1 } });
            let case = json!({ "kind": "sync", "id": 0, "podDisruptionBudget": budget,
                               "pods": [], "result": {} });
            let got = answer(disruption::run(&case.to_string(), &release.to_string()));
            let reason = got.pointer("/status/conditions/0/reason").and_then(Value::as_str);
            reason.unwrap_or_default().to_owned()
        },
    },
    Difference {
        name: "has_stateful_set_max_unavailable",
        last: "1.36",
        before: "it-3; it-3",
        after: "it-3 it-2; it-1 it-3",
        observe: |release| {
            let ordered = deleted_for_an_update(release, "OrderedReady", &[]);
            let parallel = deleted_for_an_update(release, "Parallel", &["it-1"]);
            format!("{ordered}; {parallel}")
        },
    },
    Difference {
        name: "completes_updates_on_delete",
        last: "1.36",
        before: "false",
        after: "true",
        observe: |release| {
            let strategy = json!({ "updateStrategy": { "type": "OnDelete" } });
            let mut changed = stateful_set(strategy.clone());
            changed["spec"]["template"]["metadata"]["annotations"] = json!({ "a": "b" });
            let steps = [(20, json!({ "updateWorkload": changed })), (30, json!("delete"))];
            let simulator = run(release, stateful_set(strategy), &steps, 90);
            let key = WorkloadKey::new(WorkloadKind::StatefulSet, "default", "it");
            let set = simulator.cluster().get_workload(&key).unwrap();
            let status = set.status::<StatefulSetStatus>();
            assert_eq!(status.updated_replicas, 1);
            (status.current_revision == status.update_revision).to_string()
        },
    },
    Difference {
        name: "tells_cause_of_forbidden_evictions",
        last: "1.36",
        before: "",
        after: "The disruption budget it does not allow evicting pods currently: pdb disruptions \
                allowed is negative",
        observe: |release| {
            let budget = json!({
                "apiVersion": "policy/v1",
                "metadata": { "name": "it", "namespace": "default" },
                "spec": { "selector": { "matchLabels": { "app": "it" } } },
                "status": { "disruptionsAllowed": -1 },
            });
            let pod = json!({
                "metadata": { "name": "it", "namespace": "default", "labels": { "app": "it" } },
                "status": { "phase": "Running",
                            "conditions": [{ "type": "Ready", "status": "True" }] },
            });
            let case = json!({ "kind": "evict", "id": 0, "pod": pod,
                               "podDisruptionBudgets": [budget], "result": {} });
            let got = answer(disruption::run(&case.to_string(), &release.to_string()));
            let cause = got.pointer("/status/details/causes/0/message").and_then(Value::as_str);
            cause.unwrap_or_default().to_owned()
        },
    },
    Difference {
        name: "says_why_eviction_is_refused",
        last: "1.34",
        before: "The disruption budget it needs 1 healthy pods and has 2 currently",
        after: "The disruption budget it does not allow evicting pods currently because it failed \
                sync: no scale",
        observe: |release| {
            let failed = json!({ "type": "DisruptionAllowed", "status": "False",
                                 "reason": "SyncFailed", "message": "no scale" });
            let budget = json!({
                "apiVersion": "policy/v1",
                "metadata": { "name": "it", "namespace": "default" },
                "spec": { "selector": { "matchLabels": { "app": "it" } } },
                "status": { "desiredHealthy": 1, "currentHealthy": 2, "conditions": [failed] },
            });
            let ready = json!([{ "type": "Ready", "status": "True" }]);
            let pod = json!({
                "metadata": { "name": "it", "namespace": "default", "labels": { "app": "it" } },
                "status": { "phase": "Running", "conditions": ready },
            });
            let case = json!({ "kind": "evict", "id": 0, "pod": pod,
                               "podDisruptionBudgets": [budget], "result": {} });
            let got = answer(disruption::run(&case.to_string(), &release.to_string()));
            let cause = got.pointer("/status/details/causes/0/message").and_then(Value::as_str);
            cause.unwrap().to_owned()
        },
    },
    Difference {
        name: "counts_terminating_replicas",
        last: "1.34",
        before: "None",
        after: "Some(1)",
        observe: |release| {
            let mut set = stateful_set(json!({}));
            set["kind"] = "ReplicaSet".into();
            let simulator = run(release, set, &[(5, json!("delete"))], 8);
            let set = WorkloadKey::parse("replicaset/it").unwrap();
            let set = simulator.cluster().get_workload(&set).unwrap();
            format!("{:?}", set.status::<ReplicaSetStatus>().terminating_replicas)
        },
    },
    Difference {
        name: "says_which_way_each_set_is_scaled",
        last: "1.35",
        before: "Scaled down",
        after: "Scaled up",
        observe: scaled_against_the_others,
    },
];

/// The engine's answer to a case whose recorded answer is another one.
fn answer(outcome: Outcome) -> Value {
    match outcome {
        Outcome::Differs { got, .. } => serde_json::from_str(&got).unwrap(),
        other => panic!("{other:?}"),
    }
}

/// Message of the event when one of two ReplicaSets grows although their Deployment has too many
/// pods.
fn scaled_against_the_others(release: KubernetesRelease) -> String {
    let metadata = |name: &str, more: Value| {
        let mut metadata = json!({ "name": name, "uid": name });
        metadata.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        metadata
    };
    let spec = |replicas: i64, image: &str| {
        json!({ "replicas": replicas,
                "selector": { "matchLabels": { "app": "web" } },
                "strategy": { "type": "RollingUpdate",
                              "rollingUpdate": { "maxSurge": 0, "maxUnavailable": 1 } },
                "template": { "metadata": { "labels": { "app": "web" } },
                              "spec": { "containers": [{ "name": "c", "image": image }] } } })
    };
    let owner = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "web",
                        "controller": true });
    // Each was a whole Deployment of as many pods as it has.
    let set = |name: &str, replicas: i64| {
        let annotations = json!({
            "deployment.kubernetes.io/desired-replicas": replicas.to_string(),
            "deployment.kubernetes.io/max-replicas": replicas.to_string(),
        });
        let more = json!({ "ownerReferences": [owner], "annotations": annotations });
        json!({ "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata(name, more),
                "spec": spec(replicas, name) })
    };
    let scenario: Scenario = serde_json::from_value(json!({
        "apiVersion": "taintlab/v1", "kind": "Scenario",
        "kubernetes": { "release": release.to_string(), "controlPlane": true },
        "objects": {
            "nodes": [{ "metadata": { "name": "n" } }],
            "workloads": [
                { "apiVersion": "apps/v1", "kind": "Deployment",
                  "metadata": metadata("web", json!({})), "spec": spec(6, "web-a") },
                set("web-a", 5),
                set("web-b", 3),
            ],
        },
    }))
    .unwrap();
    let mut simulator = scenario.simulator().unwrap();
    simulator.advance_to(Timestamp::from_secs(1)).unwrap();
    let said = simulator.drain_events().into_iter().filter_map(|event| match event.what {
        EventKind::EventRecorded(event) if event.reason == "ScalingReplicaSet" => {
            Some(event.message)
        }
        _ => None,
    });
    let mut said = said.filter(|message| message.contains("replica set web-b "));
    said.next().unwrap_or_default().split(' ').take(2).collect::<Vec<_>>().join(" ")
}

/// How many failures a Job counts whose pod is deleted while it runs, and one whose pod has failed
/// and is removed.
fn failures_of_pods_that_went(release: KubernetesRelease) -> String {
    let failed = |simulator: &Simulator| {
        let job = simulator.cluster().get_workload(&job_key()).unwrap();
        job.status::<JobStatus>().failed
    };
    let deleted = run(release, job(json!({})), &[(3, json!("delete"))], 4);
    let (_, mut removed) = ended_job(release, json!({}), &["Failed"]);
    let pod = json!({ "deletePod": { "pod": "it-0", "force": true } });
    removed.handle_command(Timestamp::from_secs(3), serde_json::from_value(pod).unwrap()).unwrap();
    removed.advance_to(Timestamp::from_secs(5)).unwrap();
    format!("{}, {}", failed(&deleted), failed(&removed))
}

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

/// A pod of a workload that was there before, on the node `n`.
fn owned(kind: &str, name: &str, phase: &str, more: Value) -> Value {
    let version = if kind == "Job" { "batch/v1" } else { "apps/v1" };
    let owner = json!({ "apiVersion": version, "kind": kind, "name": "it", "uid": "it",
                        "controller": true });
    let mut metadata = json!({ "name": name, "uid": name, "labels": { "app": "it" },
                               "ownerReferences": [owner] });
    metadata.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let ended = json!({ "exitCode": 3, "finishedAt": "2020-01-01T00:00:00Z" });
    json!({
        "metadata": metadata,
        "spec": { "nodeName": "n", "containers": [{ "name": "c" }] },
        "status": { "phase": phase, "containerStatuses": match phase {
            "Running" => json!([]),
            _ => json!([{ "name": "c", "state": { "terminated": ended } }]),
        } },
    })
}

/// A cluster of one node in which a workload and its pods have been before.
fn beginning_with(release: KubernetesRelease, mut workload: Value, pods: Vec<Value>) -> Simulator {
    workload["metadata"]["uid"] = "it".into();
    let scenario: Scenario = serde_json::from_value(json!({
        "apiVersion": "taintlab/v1", "kind": "Scenario",
        "kubernetes": { "release": release.to_string(), "controlPlane": true },
        "objects": {
            "nodes": [{ "metadata": { "name": "n" } }], "pods": pods, "workloads": [workload],
        },
    }))
    .unwrap();
    scenario.simulator().unwrap()
}

fn phases(simulator: &Simulator) -> String {
    let phases = simulator.cluster().pods().map(|(_, pod)| pod.status.phase.to_string());
    phases.collect::<Vec<_>>().join(" ")
}

/// The phases of the pods of a DaemonSet whose pod had ended, on a node whose kubelet is lost.
fn daemon_pods(release: KubernetesRelease, phase: &str, metadata: Value) -> String {
    let set = json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": { "name": "it" },
        "spec": {
            "selector": { "matchLabels": { "app": "it" } },
            "template": { "metadata": { "labels": { "app": "it" } },
                          "spec": { "containers": [{ "name": "c" }] } },
        },
    });
    let pods = vec![owned("DaemonSet", "a", phase, metadata.clone())];
    let mut simulator = beginning_with(release, set, pods);
    if metadata != json!({}) {
        let stop = json!({ "stopKubelet": { "node": "n" } });
        let stop = serde_json::from_value(stop).unwrap();
        simulator.handle_command(Timestamp::ZERO, stop).unwrap();
    }
    simulator.advance_to(Timestamp::from_secs(15)).unwrap();
    phases(&simulator)
}

/// The phase of the pod of a StatefulSet whose pod had ended, and what the StatefulSet says.
fn ended_stateful_pod(release: KubernetesRelease, phase: &str) -> (String, String) {
    let pods = vec![owned("StatefulSet", "it-0", phase, json!({}))];
    let mut simulator = beginning_with(release, stateful_set(json!({})), pods);
    simulator.advance_to(Timestamp::from_secs(15)).unwrap();
    let said = simulator.drain_events().into_iter().filter_map(|event| match event.what {
        EventKind::EventRecorded(it) if it.component == "statefulset-controller" => Some(it.reason),
        _ => None,
    });
    (phases(&simulator), said.collect::<Vec<_>>().join(" "))
}

/// The pods of a StatefulSet with four that a change of its template deletes first, of which two may
/// be away; some are not ready, all of the old template.
fn deleted_for_an_update(release: KubernetesRelease, policy: &str, away: &[&str]) -> String {
    let rolling = json!({ "maxUnavailable": 2 });
    let mut set = stateful_set(json!({
        "replicas": 4, "podManagementPolicy": policy, "updateStrategy": { "rollingUpdate": rolling },
    }));
    let pod = |name: String| {
        let labels = json!({ "app": "it", "controller-revision-hash": "it-0",
                             "statefulset.kubernetes.io/pod-name": name });
        let mut pod = owned("StatefulSet", &name, "Running", json!({ "labels": labels }));
        let ready = if away.contains(&name.as_str()) { "False" } else { "True" };
        pod["status"]["conditions"] = json!([{ "type": "Ready", "status": ready }]);
        pod
    };
    let pods = (0..4).map(|ordinal| pod(format!("it-{ordinal}"))).collect();
    let mut simulator = beginning_with(release, set.clone(), pods);
    simulator.advance_to(Timestamp::from_nanos(500_000_000)).unwrap();
    simulator.drain_events();
    set["spec"]["template"]["metadata"]["annotations"] = json!({ "a": "b" });
    let update = serde_json::from_value(json!({ "updateWorkload": set })).unwrap();
    simulator.handle_command(Timestamp::from_nanos(500_000_000), update).unwrap();
    simulator.advance_to(Timestamp::from_nanos(600_000_000)).unwrap();
    let deleted = simulator.drain_events().into_iter().filter_map(|event| match event.what {
        EventKind::EventRecorded(it) if it.reason == "SuccessfulDelete" => {
            it.message.split(' ').find(|word| word.starts_with("it-")).map(str::to_owned)
        }
        _ => None,
    });
    deleted.collect::<Vec<_>>().join(" ")
}

/// The reason for which a Job has failed.
fn why_failed(simulator: &Simulator) -> String {
    let job = simulator.cluster().get_workload(&job_key()).unwrap();
    let status = job.status::<JobStatus>();
    let failed = status.conditions.iter().find(|condition| condition.type_ == "Failed");
    failed.map(|failed| failed.reason.clone()).unwrap_or_default()
}

/// A second after the template of a DaemonSet has changed that lets pods come beside old ones, if
/// the API server takes that, and after some steps.
fn surging(release: KubernetesRelease, steps: &[(u64, Value)]) -> Option<Simulator> {
    let set = |version: &str| {
        json!({
            "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": { "name": "it" },
            "spec": {
                "updateStrategy": { "rollingUpdate": { "maxSurge": 1, "maxUnavailable": 0 } },
                "selector": { "matchLabels": { "app": "it" } },
                "template": { "metadata": { "labels": { "app": "it", "version": version } },
                              "spec": { "containers": [{ "name": "c" }] } },
            },
        })
    };
    let nothing: [Value; 0] = [];
    let mut simulator =
        beginning_with(release, stateful_set(json!({ "replicas": 0 })), nothing.into());
    let create = (1, json!({ "createWorkload": set("1") }));
    let update = (11, json!({ "updateWorkload": set("2") }));
    for (second, step) in [create].iter().chain(steps).chain([&update]) {
        let now = Timestamp::from_secs(*second);
        let step = serde_json::from_value(step.clone()).unwrap();
        simulator.handle_command(now, step).ok()?;
    }
    simulator.advance_to(Timestamp::from_secs(12)).unwrap();
    Some(simulator)
}

/// Number of a DaemonSet's pods that go when its template changes; one never was available.
fn replaced_beside_one_that_is_not_available(release: KubernetesRelease) -> String {
    let scenario: Scenario = serde_json::from_value(json!({
        "apiVersion": "taintlab/v1", "kind": "Scenario",
        "kubernetes": { "release": release.to_string(), "controlPlane": true },
        "objects": { "nodes": [{ "metadata": { "name": "n" } }, { "metadata": { "name": "m" } }] },
    }))
    .unwrap();
    let mut simulator = scenario.simulator().unwrap();
    let set = |version: &str| {
        json!({
            "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": { "name": "it" },
            "spec": {
                "selector": { "matchLabels": { "app": "it" } },
                "template": { "metadata": { "labels": { "app": "it", "version": version } },
                              "spec": { "containers": [{ "name": "c" }] } },
            },
        })
    };
    for (second, step) in [
        (1, json!({ "cutNetwork": { "node": "m" } })),
        (1, json!({ "createWorkload": set("1") })),
        (11, json!({ "updateWorkload": set("2") })),
    ] {
        let now = Timestamp::from_secs(second);
        simulator.handle_command(now, serde_json::from_value(step).unwrap()).unwrap();
    }
    simulator.advance_to(Timestamp::from_secs(12)).unwrap();
    let ends = simulator.cluster().pods().filter(|(_, pod)| pod.is_terminating()).count();
    format!("{ends} of {} pods", simulator.cluster().pods().count())
}

/// How many pods of a DaemonSet that surges wait for a node that no longer takes them.
fn placed_nowhere(release: KubernetesRelease) -> String {
    let taint = json!({ "key": "a", "effect": "NoSchedule" });
    let taint = json!({ "taint": { "node": "n", "taint": taint } });
    let Some(simulator) = surging(release, &[(10, taint)]) else { return "refused".to_owned() };
    let pods = simulator.cluster().pods();
    let waiting = pods.filter(|(_, pod)| pod.spec.node_name.is_empty()).count();
    format!("{waiting} pod that nobody places")
}

/// A Job whose pods have been in these phases before, after 2 s, and why it has failed.
fn ended_job(release: KubernetesRelease, mut more: Value, phases: &[&str]) -> (String, Simulator) {
    let status = more.as_object_mut().unwrap().remove("status").unwrap_or_default();
    let mut job = job(json!({ "selector": { "matchLabels": { "app": "it" } } }));
    job["spec"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    job["spec"]["template"]["metadata"]["labels"] = json!({ "app": "it" });
    if !status.is_null() {
        job["status"] = status;
    }
    let pods = phases.iter().zip(0..);
    let pods = pods.map(|(phase, n)| owned("Job", &format!("it-{n}"), phase, json!({}))).collect();
    let mut simulator = beginning_with(release, job, pods);
    simulator.advance_to(Timestamp::from_secs(2)).unwrap();
    (why_failed(&simulator), simulator)
}

/// Whether a pod that is not ready is evicted beside one that is, under a budget.
fn evict_unready(release: KubernetesRelease, more: Value) -> String {
    let mut spec = json!({ "selector": { "matchLabels": { "app": "it" } } });
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let pod = |name: &str, ready: &str| {
        json!({
            "metadata": { "name": name, "labels": { "app": "it" } }, "spec": { "nodeName": "n" },
            "status": { "phase": "Running", "conditions": [{ "type": "Ready", "status": ready }] },
        })
    };
    let scenario: Scenario = serde_json::from_value(json!({
        "apiVersion": "taintlab/v1", "kind": "Scenario",
        "kubernetes": { "release": release.to_string(), "controlPlane": true },
        "objects": {
            "nodes": [{ "metadata": { "name": "n" } }],
            "pods": [pod("ready", "True"), pod("unready", "False")],
            "budgets": [{ "metadata": { "name": "it" }, "spec": spec }],
        },
    }))
    .unwrap();
    let evict = serde_json::from_value(json!({ "evictPod": { "pod": "unready" } })).unwrap();
    let evicted = scenario.simulator().unwrap().handle_command(Timestamp::from_secs(1), evict);
    (if evicted.is_ok() { "evicted" } else { "refused" }).to_owned()
}

/// What a Deployment says when it is scaled from 1 to 3, without the name of the ReplicaSet.
fn scaled(release: KubernetesRelease) -> String {
    let mut deployment = stateful_set(json!({}));
    deployment["kind"] = "Deployment".into();
    let scale = json!({ "scale": { "workload": "deployment/it", "replicas": 3 } });
    let mut simulator = run(release, deployment, &[(10, scale)], 11);
    let said = simulator.drain_events().into_iter().filter_map(|event| match event.what {
        EventKind::EventRecorded(event) if event.reason == "ScalingReplicaSet" => {
            Some(event.message)
        }
        _ => None,
    });
    let message = said.last().unwrap();
    let words = message.split(' ').filter(|word| !word.starts_with("it-"));
    words.collect::<Vec<_>>().join(" ")
}

/// Which of two pods goes when there is one too many: one is some seconds older, and of the same
/// order of magnitude, and its UID is the lesser.
fn goes_by_age(release: KubernetesRelease) -> String {
    left_of_three(release, json!({}))
}

/// Which two of these three are left, if the oldest, of 2 h, has these annotations.
fn left_of_three(release: KubernetesRelease, annotations: Value) -> String {
    let pod = |name: &str, created: &str| -> Value {
        json!({
            "metadata": {
                "name": name, "uid": name, "labels": { "app": "web" },
                "creationTimestamp": created,
                "annotations": if name == "c-grey" { annotations.clone() } else { json!({}) },
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
