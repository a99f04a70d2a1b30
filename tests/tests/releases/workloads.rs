//! What the controllers of workloads and the eviction API do differently from release to release.

use taintlab_core::release::{JobBackoff, ScalingMessage};

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
