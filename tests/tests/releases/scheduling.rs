//! What the scheduler does and says differently from release to release.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use taintlab_core::api::{LabelSelector, Node, Pod, PriorityClass, pod_requests};
use taintlab_core::controllers::scheduler::preempted_event;
use taintlab_core::policy::admission::admit_priority;
use taintlab_core::policy::scheduling::{
    BudgetOfVictims, Decision, SchedulerConfig, ScorePlugin, Snapshot, preempted_condition,
};
use taintlab_core::release::{KubernetesRelease, PreemptionMessage, TaintReason};
use taintlab_core::time::Time;

use super::Difference;

/// A node with room for pods, and what `more` says besides.
fn node(name: &str, labels: Value, more: Value) -> Node {
    let mut node = json!({"metadata": {"name": name, "labels": labels}, "status": {
        "allocatable": {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "1Gi", "pods": 9}}});
    json_patch(&mut node, more);
    serde_json::from_value(node).unwrap()
}

fn json_patch(into: &mut Value, more: Value) {
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            for (name, value) in more {
                json_patch(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, more) => *into = more,
    }
}

/// A pod that asks for these things.
fn pod(name: &str, on: &str, requests: Value, spec: Value) -> Pod {
    let mut pod = json!({"metadata": {"name": name, "labels": {"app": "web"}}, "spec": {
        "nodeName": on, "containers": [{"image": "a:1", "resources": {"requests": requests}}]}});
    json_patch(&mut pod["spec"], spec);
    serde_json::from_value(pod).unwrap()
}

fn snapshot(release: KubernetesRelease, nodes: &[Node], pods: &[Pod]) -> Snapshot {
    let config = SchedulerConfig { requires_allocatable: true, ..SchedulerConfig::of(release) };
    Snapshot::new(config, nodes, pods).unwrap()
}

fn decide(release: KubernetesRelease, nodes: &[Node], pods: &[Pod], pod: &Pod) -> Decision {
    snapshot(release, nodes, pods).schedule(pod).unwrap()
}

/// Which filter keeps the pod off the first node; empty if it fits.
fn filter(decision: &Decision) -> String {
    let rejection = decision.verdicts[0].rejection.as_ref();
    rejection.map_or_else(String::new, |rejection| format!("{:?}", rejection.plugin))
}

/// The normalised scores of a plugin, node by node; empty if the release does not have it.
fn scores(decision: &Decision, plugin: ScorePlugin) -> String {
    let all = decision.verdicts.iter().flat_map(|verdict| &verdict.scores);
    let all = all.filter(|score| score.plugin == plugin).map(|score| score.score.to_string());
    all.collect::<Vec<_>>().join(" ")
}

/// A constraint of topology spread over the label `key`.
fn spread(key: &str, when: &str) -> Value {
    json!({"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": key,
        "whenUnsatisfiable": when, "labelSelector": {"matchLabels": {"app": "web"}}}]})
}

const HOST: &str = "kubernetes.io/hostname";

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
        last: "1.19",
        before: "NodeResourcesFit",
        after: "TaintToleration",
        observe: |release| {
            let tainted = json!({"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}});
            let nodes = [node("n", json!({}), tainted)];
            filter(&decide(release, &nodes, &[], &pod("p", "", json!({"cpu": 2}), json!({}))))
        },
    },
    Difference {
        name: "filters_spread_before_pod_affinity",
        last: "1.18",
        before: "InterPodAffinity",
        after: "PodTopologySpread",
        observe: |release| {
            let mut spec = spread("absent", "DoNotSchedule");
            spec["affinity"] = json!({"podAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "absent",
                    "labelSelector": {"matchLabels": {"app": "other"}}}]}});
            let nodes = [node("n", json!({}), json!({}))];
            filter(&decide(release, &nodes, &[], &pod("p", "", json!({}), spec)))
        },
    },
    Difference {
        name: "fits_zero_requests",
        last: "1.26",
        before: "NodeResourcesFit",
        after: "",
        observe: |release| {
            let nodes = [node("n", json!({}), json!({}))];
            let on = [pod("q", "n", json!({"cpu": 2}), json!({}))];
            let new = pod("p", "", json!({"memory": "1Mi"}), json!({}));
            filter(&decide(release, &nodes, &on, &new))
        },
    },
    Difference {
        name: "fits_zero_extended_requests",
        last: "1.25",
        before: "NodeResourcesFit",
        after: "",
        observe: |release| {
            let nodes = [node("n", json!({}), json!({}))];
            let on = [pod("q", "n", json!({"example.com/gpu": 1}), json!({}))];
            let new = pod("p", "", json!({"cpu": "1m", "example.com/gpu": 0}), json!({}));
            filter(&decide(release, &nodes, &on, &new))
        },
    },
    Difference {
        name: "scores_prefer_avoid_pods",
        last: "1.22",
        before: "0",
        after: "",
        observe: |release| {
            let controller = json!({"kind": "ReplicaSet", "uid": "u", "controller": true});
            let avoid = json!({"preferAvoidPods": [{"podSignature": {
                "podController": controller}}]});
            let annotation = "scheduler.alpha.kubernetes.io/preferAvoidPods";
            let annotations = json!({"metadata": {"annotations": {annotation: avoid.to_string()}}});
            let mut new = pod("p", "", json!({}), json!({}));
            let mut owner = controller;
            owner["name"] = json!("web");
            new.metadata.owner_references = serde_json::from_value(json!([owner])).unwrap();
            let nodes = [node("n", json!({}), annotations)];
            scores(&decide(release, &nodes, &[], &new), ScorePlugin::NodePreferAvoidPods)
        },
    },
    Difference {
        name: "scores_resources_by_fit",
        last: "1.21",
        before: "90",
        after: "99",
        observe: |release| {
            let nodes = [node("n", json!({}), json!({}))];
            let new = pod("p", "", json!({"memory": "1Mi"}), json!({}));
            let decision = decide(release, &nodes, &[], &new);
            scores(&decision, ScorePlugin::NodeResourcesBalancedAllocation)
        },
    },
    Difference {
        name: "scores_overhead_in_thousandths",
        last: "1.27",
        before: "94",
        after: "75",
        observe: |release| {
            let nodes = [node("n", json!({}), json!({}))];
            let requests = json!({"cpu": "100m", "memory": 0});
            let new = pod("p", "", requests, json!({"overhead": {"cpu": "400m"}}));
            let decision = decide(release, &nodes, &[], &new);
            [ScorePlugin::NodeResourcesLeastAllocated, ScorePlugin::NodeResourcesFit]
                .map(|plugin| scores(&decision, plugin))
                .concat()
        },
    },
    Difference {
        name: "normalises_pod_affinity_by_true_range",
        last: "1.20",
        before: "50 100",
        after: "0 100",
        observe: |release| {
            let nodes = ["n1", "n2"].map(|name| node(name, json!({HOST: name}), json!({})));
            let on = [("q1", "n1"), ("q2", "n2"), ("q3", "n2")]
                .map(|(name, node)| pod(name, node, json!({}), json!({})));
            let like = json!({"affinity": {"podAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1,
                    "podAffinityTerm": {"topologyKey": HOST, "labelSelector": {}}}]}}});
            let decision = decide(release, &nodes, &on, &pod("p", "", json!({}), like));
            scores(&decision, ScorePlugin::InterPodAffinity)
        },
    },
    Difference {
        name: "spreads_by_default_constraints",
        last: "1.19",
        before: "0 100",
        after: "",
        observe: |release| {
            let of_zone = "topology.kubernetes.io/zone";
            let nodes =
                ["n1", "n2"].map(|name| node(name, json!({HOST: name, of_zone: name}), json!({})));
            let mut on = pod("q", "n1", json!({}), json!({}));
            on.metadata.owner_references = serde_json::from_value(
                json!([{"kind": "ReplicaSet", "name": "web", "controller": true}]),
            )
            .unwrap();
            let mut new = pod("p", "", json!({}), json!({}));
            new.metadata.owner_references.clone_from(&on.metadata.owner_references);
            let decision = decide(release, &nodes, &[on], &new);
            scores(&decision, ScorePlugin::SelectorSpread)
        },
    },
    Difference {
        name: "spreads_by_owner",
        last: "1.21",
        before: "true",
        after: "false",
        observe: |release| {
            let of_zone = "topology.kubernetes.io/zone";
            let nodes =
                ["n1", "n2"].map(|name| node(name, json!({HOST: name, of_zone: name}), json!({})));
            let on = [pod("q", "n1", json!({}), json!({}))];
            let mut snapshot = snapshot(release, &nodes, &on);
            for (name, labels) in [("a", json!({"app": "web"})), ("b", json!({"tier": "x"}))] {
                let selector = json!({"matchLabels": labels});
                let selector = LabelSelector::read("", Some(&selector)).unwrap().unwrap();
                snapshot.set_workload_selector("ReplicaSet", "default", name, selector);
            }
            let mut new = pod("p", "", json!({}), json!({}));
            new.metadata.labels.insert("tier".into(), "x".into());
            new.metadata.owner_references = serde_json::from_value(
                json!([{"kind": "ReplicaSet", "name": "a", "controller": true}]),
            )
            .unwrap();
            // The other one selects no pod that is there.
            let decision = snapshot.schedule(&new).unwrap();
            (scores(&decision, ScorePlugin::PodTopologySpread) == "100 100").to_string()
        },
    },
    Difference {
        name: "default_spread_scores_all_nodes",
        last: "1.22",
        before: "false",
        after: "true",
        observe: |release| {
            let nodes = ["n1", "n2"].map(|name| node(name, json!({HOST: name}), json!({})));
            let mut new = pod("p", "", json!({}), json!({}));
            new.metadata.owner_references = serde_json::from_value(
                json!([{"kind": "ReplicaSet", "name": "web", "controller": true}]),
            )
            .unwrap();
            let decision = decide(release, &nodes, &[], &new);
            let by_default = release >= KubernetesRelease::new(20).unwrap();
            let scored = scores(&decision, ScorePlugin::PodTopologySpread) == "100 100";
            (by_default && scored).to_string()
        },
    },
    Difference {
        name: "spread_excludes_nodes_by_affinity",
        last: "1.23",
        before: "n3",
        after: "n2",
        observe: |release| {
            let zoned = |name, zone, kind| node(name, json!({"z": zone, "kind": kind}), json!({}));
            let nodes = [zoned("n1", "a", "x"), zoned("n2", "a", "y"), zoned("n3", "b", "y")];
            let on = [("q1", "n1"), ("q2", "n1"), ("q3", "n3")]
                .map(|(name, node)| pod(name, node, json!({}), json!({})));
            let mut spec = spread("z", "DoNotSchedule");
            spec["nodeSelector"] = json!({"kind": "y"});
            decide(release, &nodes, &on, &pod("p", "", json!({}), spec)).node.unwrap()
        },
    },
    Difference {
        name: "rounds_spread_scores",
        last: "1.23",
        before: "1",
        after: "2",
        observe: |release| {
            let nodes = ["n1", "n2", "n3"].map(|name| node(name, json!({HOST: name}), json!({})));
            let on = [pod("q", "n1", json!({}), json!({}))];
            let new = pod("p", "", json!({}), spread(HOST, "ScheduleAnyway"));
            let decision = decide(release, &nodes, &on, &new);
            let of_first = decision.verdicts[0].scores.iter();
            let mut spread = of_first.filter(|one| one.plugin == ScorePlugin::PodTopologySpread);
            spread.next().unwrap().raw.to_string()
        },
    },
    Difference {
        name: "prefers_nodes_by_fields",
        last: "1.19",
        before: "100 100",
        after: "0 100",
        observe: |release| {
            let nodes = ["n1", "n2"].map(|name| node(name, json!({}), json!({})));
            let field = json!([{"key": "metadata.name", "operator": "In", "values": ["n2"]}]);
            let like = json!({"affinity": {"nodeAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 1, "preference": {"matchFields": field}}]}}});
            let decision = decide(release, &nodes, &[], &pod("p", "", json!({}), like));
            scores(&decision, ScorePlugin::NodeAffinity)
        },
    },
    Difference {
        name: "skips_idle_score_plugins",
        last: "1.27",
        before: "100",
        after: "0",
        observe: |release| {
            let nodes = [node("n", json!({}), json!({}))];
            let decision = decide(release, &nodes, &[], &pod("p", "", json!({}), json!({})));
            scores(&decision, ScorePlugin::PodTopologySpread)
        },
    },
    Difference {
        name: "counts_images_at_any_time",
        last: "1.28",
        before: "50 100",
        after: "100 100",
        observe: |release| {
            let image = json!([{"names": ["a:1"], "sizeBytes": 1_i64 << 30}]);
            let nodes = ["n1", "n2"]
                .map(|name| node(name, json!({}), json!({"status": {"images": image}})));
            let decision = decide(release, &nodes, &[], &pod("p", "", json!({}), json!({})));
            scores(&decision, ScorePlugin::ImageLocality)
        },
    },
    Difference {
        name: "preemption_candidates",
        last: "1.20",
        before: "120",
        after: "100",
        observe: |release| {
            let nodes: Vec<Node> =
                (0..120).map(|n| node(&format!("n{n}"), json!({}), json!({}))).collect();
            let full = |node: &Node| {
                let name = &node.metadata.name;
                pod(name, name, json!({"cpu": 1}), json!({}))
            };
            let on: Vec<Pod> = nodes.iter().map(full).collect();
            let new = pod("p", "", json!({"cpu": 1}), json!({"priority": 1}));
            let preemption = snapshot(release, &nodes, &on).preempt(&new, &[]).unwrap();
            preemption.candidates.len().to_string()
        },
    },
    Difference {
        name: "preempted_message",
        last: "1.26",
        before: "true",
        after: "false",
        observe: |release| (preempted(release) == "Preempted by default/p on node n").to_string(),
    },
    Difference {
        name: "preempted_message",
        last: "1.28",
        before: "false",
        after: "true",
        observe: |release| (preempted(release) == "Preempted by pod u on node n").to_string(),
    },
    Difference {
        name: "preempts_by_scheduler",
        last: "1.26",
        before: "PreemptionByKubeScheduler",
        after: "PreemptionByScheduler",
        observe: |release| preempted_condition(release, &pod("p", "", json!({}), json!({}))).reason,
    },
    Difference {
        name: "awaits_victims_only",
        last: "1.26",
        before: "false",
        after: "true",
        observe: |release| {
            let nodes = [node("n", json!({}), json!({}))];
            let mut ends = pod("q", "n", json!({"cpu": 1}), json!({}));
            ends.metadata.deletion_timestamp = Some(Time::DEFAULT_START);
            let mut new = pod("p", "", json!({"cpu": 1}), json!({"priority": 1}));
            new.status.other.set("nominatedNodeName", "n".into());
            let snapshot = snapshot(release, &nodes, &[ends]);
            snapshot.preempt(&new, &[]).unwrap().eligible.to_string()
        },
    },
    Difference {
        name: "gives_up_on_small_nodes",
        last: "1.33",
        before: "true",
        after: "false",
        observe: |release| {
            let nodes = [node("n", json!({}), json!({}))];
            let new = pod("p", "", json!({"cpu": 2}), json!({}));
            let decision = decide(release, &nodes, &[], &new);
            let rejection = decision.verdicts[0].rejection.as_ref().unwrap();
            rejection.preemption_may_help.to_string()
        },
    },
    Difference {
        name: "names_plugin_of_absent_nodes",
        last: "1.30",
        before: "false",
        after: "true",
        observe: |release| {
            let nodes = [node("n", json!({}), json!({}))];
            let field = json!([{"key": "metadata.name", "operator": "In", "values": ["m"]}]);
            let spec = json!({"affinity": {"nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchFields": field}]}}}});
            let decision = decide(release, &nodes, &[], &pod("p", "", json!({}), spec));
            let words = "1 node(s) didn't satisfy plugin(s) [NodeAffinity]";
            decision.message.unwrap().contains(words).to_string()
        },
    },
    Difference {
        name: "retries_after_status_write",
        last: "1.20",
        before: "true",
        after: "false",
        observe: |release| release.retries_after_status_write().to_string(),
    },
    Difference {
        name: "retries_by_plugin",
        last: "1.21",
        before: "false",
        after: "true",
        observe: |release| release.retries_by_plugin().to_string(),
    },
    Difference {
        name: "longest_time_unschedulable",
        last: "1.22",
        before: "60s",
        after: "300s",
        observe: |release| format!("{:?}", release.longest_time_unschedulable()),
    },
    Difference {
        name: "has_preemption_policy",
        last: "1.18",
        before: "None",
        after: "Some(\"Never\")",
        observe: |release| {
            let class = json!({"metadata": {"name": "c"}, "value": 1, "preemptionPolicy": "Never"});
            let class: PriorityClass = serde_json::from_value(class).unwrap();
            let new = pod("p", "", json!({}), json!({"priorityClassName": "c"}));
            let priority = admit_priority(release, [&class].into_iter(), &new).unwrap();
            format!("{:?}", priority.preemption_policy)
        },
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
        name: "general_affinity_reason",
        last: "1.20",
        before: "true",
        after: "false",
        observe: |release| {
            lonely(release)
                .contains("1 node(s) didn't match pod affinity/anti-affinity.")
                .to_string()
        },
    },
    Difference {
        name: "general_affinity_reason",
        last: "1.21",
        before: "true",
        after: "false",
        observe: |release| lonely(release).contains("affinity/anti-affinity").to_string(),
    },
    Difference {
        name: "first_of_group_needs_topology",
        last: "1.18",
        before: "",
        after: "InterPodAffinity",
        observe: |release| {
            let nodes = [node("n", json!({}), json!({}))];
            filter(&decide(
                release,
                &nodes,
                &[],
                &pod("p", "", json!({}), with("web", "podAffinity")),
            ))
        },
    },
    Difference {
        name: "asks_existing_pods_first",
        last: "1.18",
        before: "true",
        after: "false",
        observe: |release| {
            let nodes = [node("n", json!({"rack": "r"}), json!({}))];
            let on = [pod("q", "n", json!({}), with("web", "podAntiAffinity"))];
            let new = pod("p", "", json!({}), with("other", "podAffinity"));
            let message = decide(release, &nodes, &on, &new).message.unwrap();
            message.contains("didn't satisfy existing pods anti-affinity rules").to_string()
        },
    },
    Difference {
        name: "weighs_spread_scores",
        last: "1.18",
        before: "33 100",
        after: "25 100",
        observe: |release| {
            let nodes = ["m", "n"].map(|name| node(name, json!({"rack": name}), json!({})));
            let on = [("a", "m"), ("b", "m"), ("c", "m"), ("d", "n")]
                .map(|(name, on)| pod(name, on, json!({}), json!({})));
            let new = pod("p", "", json!({}), spread("rack", "ScheduleAnyway"));
            scores(&decide(release, &nodes, &on, &new), ScorePlugin::PodTopologySpread)
        },
    },
    Difference {
        name: "skips_balance_of_idle_pods",
        last: "1.32",
        before: "false",
        after: "true",
        observe: |release| {
            let nodes = [node("n", json!({}), json!({}))];
            let decision = decide(release, &nodes, &[], &pod("p", "", json!({}), json!({})));
            let score = scores(&decision, ScorePlugin::NodeResourcesBalancedAllocation);
            (score == "0").to_string()
        },
    },
    Difference {
        name: "sorts_victims",
        last: "1.31",
        before: "m",
        after: "n",
        observe: |release| {
            let nodes = ["m", "n"].map(|name| node(name, json!({}), json!({})));
            let victim = |name, on, priority, cpu, app: &str| {
                let mut pod = pod(name, on, json!({"cpu": cpu}), json!({"priority": priority}));
                pod.metadata.labels.insert("app".into(), app.into());
                pod
            };
            // On each node one pod that its budget keeps; on the first the other one matters more.
            let on = [
                victim("a", "m", 1, "500m", "kept"),
                victim("b", "m", 5, "500m", "free"),
                victim("c", "n", 3, "1", "kept"),
            ];
            let selector = json!({"matchLabels": {"app": "kept"}});
            let budget = BudgetOfVictims {
                namespace: "default".into(),
                selector: LabelSelector::read("selector", Some(&selector)).unwrap().unwrap(),
                disruptions_allowed: 0,
                disrupted_pods: BTreeSet::new(),
            };
            let new = pod("p", "", json!({"cpu": 1}), json!({"priority": 10}));
            let preemption = snapshot(release, &nodes, &on).preempt(&new, &[budget]).unwrap();
            preemption.chosen().unwrap().node.clone()
        },
    },
    Difference {
        name: "has_min_domains",
        last: "1.26",
        before: "false",
        after: "true",
        observe: |release| release.has_min_domains().to_string(),
    },
    Difference {
        name: "says_refusal_once",
        last: "1.25",
        before: "false",
        after: "true",
        observe: |release| release.says_refusal_once().to_string(),
    },
    Difference {
        name: "has_read_write_once_pod",
        last: "1.26",
        before: "false",
        after: "true",
        observe: |release| release.has_read_write_once_pod().to_string(),
    },
    Difference {
        name: "volume_affinity_reason",
        last: "1.32",
        before: "node(s) had volume node affinity conflict",
        after: "node(s) didn't match PersistentVolume's node affinity",
        observe: |release| release.volume_affinity_reason().to_owned(),
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

/// What a pod requires of pods with that label in its rack.
fn with(app: &str, kind: &str) -> Value {
    let term = json!({"topologyKey": "rack", "labelSelector": {"matchLabels": {"app": app}}});
    json!({"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}})
}

/// What the scheduler says of a pod that has to be near another one that is not there.
fn lonely(release: KubernetesRelease) -> String {
    let nodes = [node("n", json!({"rack": "r"}), json!({}))];
    let new = pod("p", "", json!({}), with("other", "podAffinity"));
    decide(release, &nodes, &[], &new).message.unwrap()
}

/// What the event of a victim says.
fn preempted(release: KubernetesRelease) -> String {
    let mut new = pod("p", "", json!({}), json!({}));
    new.metadata.uid = "u".into();
    preempted_event(release, &new, &new.key(), "n").message
}
