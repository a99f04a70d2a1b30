//! What the controllers of workloads and the eviction API do differently from release to release.

use serde_json::{Value, json};
use taintlab_core::release::{JobBackoff, KubernetesRelease, ScalingMessage};
use taintlab_core::scenario::Scenario;
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
        observe: |release| release.prefixes_job_labels().to_string(),
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
        before: "false",
        after: "true",
        observe: |release| release.replaces_succeeded_daemon_pods().to_string(),
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
        observe: |release| release.warns_of_unmanaged_pods().to_string(),
    },
    Difference {
        name: "names_missing_scale",
        last: "1.20",
        before: "false",
        after: "true",
        observe: |release| release.names_missing_scale().to_string(),
    },
    Difference {
        name: "eviction_sets_disruption_target",
        last: "1.25",
        before: "false",
        after: "true",
        observe: |release| release.eviction_sets_disruption_target().to_string(),
    },
    Difference {
        name: "has_pod_replacement_policy",
        last: "1.28",
        before: "false",
        after: "true",
        observe: |release| release.has_pod_replacement_policy().to_string(),
    },
    Difference {
        name: "counts_deleted_pods_as_failed",
        last: "1.25",
        before: "false",
        after: "true",
        observe: |release| release.counts_deleted_pods_as_failed().to_string(),
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
        before: "false",
        after: "true",
        observe: |release| release.has_job_suspend().to_string(),
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
        observe: |release| release.has_indexed_jobs().to_string(),
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
        observe: |release| release.labels_pods_with_completion_index().to_string(),
    },
    Difference {
        name: "has_ttl_after_finished",
        last: "1.20",
        before: "false",
        after: "true",
        observe: |release| release.has_ttl_after_finished().to_string(),
    },
    Difference {
        name: "labels_pods_with_index",
        last: "1.27",
        before: "false",
        after: "true",
        observe: |release| release.labels_pods_with_index().to_string(),
    },
    Difference {
        name: "has_first_ordinal",
        last: "1.26",
        before: "false",
        after: "true",
        observe: |release| release.has_first_ordinal().to_string(),
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
