//! What the controllers of workloads and the eviction API do differently from release to release.

use taintlab_core::release::ScalingMessage;

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
        name: "overlooks_deleted_daemon_pods_that_ended",
        last: "1.27",
        before: "false",
        after: "true",
        observe: |release| release.overlooks_deleted_daemon_pods_that_ended().to_string(),
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
