//! What the scheduler does and says differently from release to release.

use taintlab_core::api::{Pod, pod_requests};
use taintlab_core::release::{KubernetesRelease, PreemptionMessage, TaintReason};

use super::Difference;

pub(super) const DIFFERENCES: &[Difference] = &[
    Difference {
        name: "has_sidecar_containers",
        last: "1.28",
        before: "1",
        after: "2",
        observe: |release| {
            let pod: Pod = serde_json::from_value(serde_json::json!({"spec": {
                "containers": [{"resources": {"requests": {"memory": 1}}}],
                "initContainers": [
                    {"restartPolicy": "Always", "resources": {"requests": {"memory": 1}}},
                ],
            }}))
            .unwrap();
            pod_requests(&pod, release, &[]).unwrap()["memory"].to_string()
        },
    },
    Difference {
        name: "filters_taints_before_resources",
        last: "1.22",
        before: "false",
        after: "true",
        observe: |release| release.filters_taints_before_resources().to_string(),
    },
    Difference {
        name: "score_weights_of_v1beta3",
        last: "1.22",
        before: "false",
        after: "true",
        observe: |release| release.score_weights_of_v1beta3().to_string(),
    },
    Difference {
        name: "names_missing_topology_label",
        last: "1.19",
        before: "false",
        after: "true",
        observe: |release| release.names_missing_topology_label().to_string(),
    },
    Difference {
        name: "gives_one_affinity_reason",
        last: "1.21",
        before: "false",
        after: "true",
        observe: |release| release.gives_one_affinity_reason().to_string(),
    },
    Difference {
        name: "has_min_domains",
        last: "1.24",
        before: "false",
        after: "true",
        observe: |release| release.has_min_domains().to_string(),
    },
    Difference {
        name: "has_node_inclusion_policies",
        last: "1.25",
        before: "false",
        after: "true",
        observe: |release| release.has_node_inclusion_policies().to_string(),
    },
    Difference {
        name: "has_match_label_keys",
        last: "1.26",
        before: "false",
        after: "true",
        observe: |release| release.has_match_label_keys().to_string(),
    },
    Difference {
        name: "untolerated_taint_reason",
        last: "1.23",
        before: "true",
        after: "false",
        observe: |release| {
            (release.untolerated_taint_reason() == TaintReason::DidNotTolerate).to_string()
        },
    },
    Difference {
        name: "untolerated_taint_reason",
        last: "1.34",
        before: "false",
        after: "true",
        observe: |release| {
            (release.untolerated_taint_reason() == TaintReason::WithoutTaint).to_string()
        },
    },
    Difference {
        name: "node_name_reason",
        last: "1.20",
        before: "node(s) didn't match the requested hostname",
        after: "node(s) didn't match the requested node name",
        observe: |release| release.node_name_reason().to_owned(),
    },
    Difference {
        name: "node_affinity_reason",
        last: "1.19",
        before: "false",
        after: "true",
        observe: |release| release.node_affinity_reason().contains("node affinity").to_string(),
    },
    Difference {
        name: "node_affinity_reason",
        last: "1.20",
        before: "false",
        after: "true",
        observe: |release| release.node_affinity_reason().ends_with("/selector").to_string(),
    },
    Difference {
        name: "deallocates_claims",
        last: "1.33",
        before: "false",
        after: "true",
        observe: |release| release.deallocates_claims().to_string(),
    },
    Difference {
        name: "preemption_message",
        last: "1.23",
        before: "true",
        after: "false",
        observe: |release| (release.preemption_message() == PreemptionMessage::None).to_string(),
    },
    Difference {
        name: "preemption_message",
        last: "1.28",
        before: "false",
        after: "true",
        observe: |release| {
            (release >= KubernetesRelease::new(25).unwrap()
                && release.preemption_message() == PreemptionMessage::OneFullStop)
                .to_string()
        },
    },
];
