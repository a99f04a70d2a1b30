//! What the node lifecycle controller and the pod garbage collector do differently from release to
//! release.

use taintlab_core::release::Requeue;

use super::Difference;

pub(super) const DIFFERENCES: &[Difference] = &[
    Difference {
        name: "collects_pods_out_of_service",
        last: "1.25",
        before: "false",
        after: "true",
        observe: |release| release.collects_pods_out_of_service().to_string(),
    },
    Difference {
        name: "node_monitor_grace_period_seconds",
        last: "1.31",
        before: "40",
        after: "50",
        observe: |release| release.node_monitor_grace_period_seconds().to_string(),
    },
    Difference {
        name: "excludes_masters_by_name",
        last: "1.20",
        before: "true",
        after: "false",
        observe: |release| release.excludes_masters_by_name().to_string(),
    },
    Difference {
        name: "awaits_missing_ready_condition",
        last: "1.20",
        before: "false",
        after: "true",
        observe: |release| release.awaits_missing_ready_condition().to_string(),
    },
    Difference {
        name: "node_lifecycle_controller_name",
        last: "1.27",
        before: "nodelifecycle",
        after: "node-lifecycle-controller",
        observe: |release| release.node_lifecycle_controller_name().to_string(),
    },
    Difference {
        name: "requeue",
        last: "1.18",
        before: "keeps its place",
        after: "is queued again",
        observe: |release| match release.requeue() {
            Requeue::KeepsPlace => "keeps its place".to_owned(),
            Requeue::Duplicates | Requeue::MovesBack => "is queued again".to_owned(),
        },
    },
    Difference {
        name: "requeue",
        last: "1.20",
        before: "once in the queue or more",
        after: "once in the queue",
        observe: |release| match release.requeue() {
            Requeue::KeepsPlace | Requeue::Duplicates => "once in the queue or more".to_owned(),
            Requeue::MovesBack => "once in the queue".to_owned(),
        },
    },
    Difference {
        name: "has_out_of_service_taint",
        last: "1.25",
        before: "false",
        after: "true",
        observe: |release| release.has_out_of_service_taint().to_string(),
    },
];
