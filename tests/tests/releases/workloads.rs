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
