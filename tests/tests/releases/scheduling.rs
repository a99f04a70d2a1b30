//! What the scheduler does and says differently from release to release.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use taintlab_core::api::{
    LabelSelector, Node, Pod, PodCondition, PodKey, PriorityClass, pod_requests,
};
use taintlab_core::cluster::Volumes;
use taintlab_core::controllers::scheduler::preempted_event;
use taintlab_core::event::{Event, EventKind};
use taintlab_core::kubelet::pod_status::pod_as_served;
use taintlab_core::policy::admission::admit_priority;
use taintlab_core::policy::scheduling::{
    BudgetOfVictims, Decision, SchedulerConfig, ScorePlugin, Snapshot, preempted_condition,
};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scenario::Scenario;
use taintlab_core::simulator::{Simulator, SimulatorConfig};
use taintlab_core::time::{Time, Timestamp};

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
        name: "has_queueing_hints",
        last: "1.31",
        before: "",
        after: "n",
        observe: |release| {
            // The zone of the other node gets a pod, so that the skew allows one more on this one.
            let spec = spread("topology.kubernetes.io/zone", "DoNotSchedule");
            let p =
                json!({ "metadata": { "name": "p", "labels": { "app": "web" } }, "spec": spec });
            let web = |name: &str, on: &str| {
                json!({ "metadata": { "name": name, "labels": { "app": "web" } },
                        "spec": { "nodeName": on } })
            };
            let mut simulator = waiting(release, &[web("there", "n"), p]);
            command(&mut simulator, 10_000, json!({ "createPod": web("new", "m") }));
            node_of_p(&mut simulator)
        },
    },
    Difference {
        name: "hints_at_both_sides_of_anti_affinity",
        last: "1.31",
        before: "n",
        after: "",
        observe: after_end_of_one_with_anti_affinity,
    },
    Difference {
        name: "hints_at_both_sides_of_anti_affinity",
        last: "1.35",
        before: "",
        after: "n",
        observe: after_end_of_one_with_anti_affinity,
    },
    Difference {
        name: "labels_pods_with_topology",
        last: "1.34",
        before: "None",
        after: "Some(\"n\")",
        observe: |release| {
            let simulator = waiting(release, &[asking_for("1")]);
            let pod = simulator.cluster().get_pod(&PodKey::new("default", "p")).unwrap();
            format!("{:?}", pod.metadata.labels.get("topology.kubernetes.io/zone"))
        },
    },
    Difference {
        name: "counts_pod_generations",
        last: "1.32",
        before: "None",
        after: "Some(Number(3))",
        observe: |release| {
            // The pod is created, gets another image and is deleted.
            let mut simulator = waiting(release, &[asking_for("1")]);
            let mut other = asking_for("1");
            other["spec"]["nodeName"] = "n".into();
            other["spec"]["containers"][0]["image"] = "other".into();
            command(&mut simulator, 10_000, json!({ "updatePod": other }));
            command(&mut simulator, 11_000, json!({ "deletePod": { "pod": "default/p" } }));
            let pod = simulator.cluster().get_pod(&PodKey::new("default", "p")).unwrap();
            let served = pod_as_served(release, pod, None);
            format!("{:?}", served.metadata.other.get("generation"))
        },
    },
    Difference {
        name: "counts_second_attempt",
        last: "1.25",
        before: "0",
        after: "1",
        observe: |release| {
            // A pod that does not fit is tried whenever the taints of a node change.
            let mut simulator = waiting(release, &[asking_for("9")]);
            for second in [10, 20] {
                simulator.drain_events();
                let taint = json!({ "key": second.to_string(), "effect": "PreferNoSchedule" });
                let taints = json!({ "setTaints": { "node": "n", "taints": [taint] } });
                command(&mut simulator, second * 1_000, taints);
                simulator.advance_to(Timestamp::from_secs(second + 9)).unwrap();
            }
            failed_attempts(&simulator.drain_events())
        },
    },
    Difference {
        name: "hints_count_nominated_pods",
        last: "1.35",
        before: "",
        after: "n",
        observe: |release| {
            let p = json!({ "metadata": { "name": "p" }, "spec": apart_from("web") });
            let mut simulator = waiting(release, &[nominated(), p]);
            command(&mut simulator, 10_000, json!({ "deletePod": { "pod": "default/q" } }));
            node_of_p(&mut simulator)
        },
    },
    Difference {
        name: "wakes_pods_after_nominations",
        last: "1.32",
        before: "",
        after: "n",
        observe: |release| {
            let mut simulator = waiting(release, &[nominated(), asking_for("1")]);
            command(&mut simulator, 10_000, json!({ "deletePod": { "pod": "default/q" } }));
            node_of_p(&mut simulator)
        },
    },
    Difference {
        name: "wakes_pods_after_nominated_binding",
        last: "1.32",
        before: "0",
        after: "1",
        observe: attempts_after_nominated_binding,
    },
    Difference {
        name: "wakes_pods_after_nominated_binding",
        last: "1.34",
        before: "1",
        after: "0",
        observe: attempts_after_nominated_binding,
    },
    Difference {
        name: "has_scheduling_gates",
        last: "1.26",
        before: "True ",
        after: "False SchedulingGated",
        observe: |release| {
            let pod = json!({ "metadata": { "name": "p" }, "spec": {
                "schedulingGates": [{ "name": "example.com/quota" }] } });
            let scheduled = condition_of_new_pod(release, pod);
            format!("{} {}", scheduled.status, scheduled.reason)
        },
    },
    Difference {
        name: "clears_nomination_when_bound",
        last: "1.34",
        before: "n n",
        after: "n ",
        observe: |release| {
            let pod = json!({ "metadata": { "name": "p" },
                              "status": { "nominatedNodeName": "n" } });
            let other = json!({ "metadata": { "name": "other" } });
            let simulator = with_new_pod(release, &[pod], other);
            let pod = simulator.cluster().get_pod(&PodKey::new("default", "p")).unwrap();
            format!("{} {}", pod.spec.node_name, pod.nominated_node_name())
        },
    },
    Difference {
        name: "pops_from_backoff",
        last: "1.32",
        before: "2",
        after: "1",
        observe: |release| {
            // The node becomes schedulable 0.2 s after the pod was tried in vain.
            let mut simulator = cluster(release);
            let cordon =
                |on: bool| json!({ "setUnschedulable": { "node": "n", "unschedulable": on } });
            let pod = json!({ "createPod": { "metadata": { "name": "p" } } });
            for (at, step) in [(0, cordon(true)), (1_000, pod), (1_200, cordon(false))] {
                command(&mut simulator, at, step);
            }
            let is_bound = |simulator: &Simulator| {
                let pod = simulator.cluster().get_pod(&PodKey::new("default", "p")).unwrap();
                !pod.spec.node_name.is_empty()
            };
            let mut second = 1;
            simulator.advance_to(Timestamp::from_millis(1_900)).unwrap();
            while !is_bound(&simulator) && second < 10 {
                second += 1;
                simulator.advance_to(Timestamp::from_secs(second)).unwrap();
            }
            (if second > 1 { "2" } else { "1" }).to_owned()
        },
    },
    Difference {
        name: "clears_nomination_without_candidates",
        last: "1.22",
        before: "n",
        after: "",
        observe: |release| {
            let pod = json!({ "metadata": { "name": "p" }, "spec": { "containers": [
                { "name": "c", "resources": { "requests": { "cpu": "2" } } }] },
                "status": { "nominatedNodeName": "n" } });
            let there = json!({ "metadata": { "name": "it" }, "spec": { "nodeName": "n",
                "containers": [{ "name": "c", "resources": { "requests": { "cpu": "3" } } }] } });
            let other = json!({ "metadata": { "name": "other" } });
            let simulator = with_new_pod(release, &[there, pod], other);
            let pod = simulator.cluster().get_pod(&PodKey::new("default", "p")).unwrap();
            pod.nominated_node_name().to_owned()
        },
    },
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
        last: "1.27",
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
        before: "false",
        after: "true",
        observe: |release| {
            let nodes = [node("n", json!({}), json!({}))];
            let new = pod("p", "", json!({"memory": "1Mi"}), json!({}));
            let decision = decide(release, &nodes, &[], &new);
            (!scores(&decision, ScorePlugin::NodeResourcesFit).is_empty()).to_string()
        },
    },
    Difference {
        name: "scores_overhead_in_thousandths",
        last: "1.26",
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
        name: "scores_images_of_init_containers",
        last: "1.28",
        before: "100",
        after: "50",
        observe: |release| {
            let image = json!([{"names": ["a:1"], "sizeBytes": 1_i64 << 30}]);
            let nodes = [node("n", json!({}), json!({"status": {"images": image}}))];
            let spec = json!({"initContainers": [{"image": "other:1"}]});
            let decision = decide(release, &nodes, &[], &pod("p", "", json!({}), spec));
            scores(&decision, ScorePlugin::ImageLocality)
        },
    },
    Difference {
        name: "scores_images_of_volumes",
        last: "1.35",
        before: "false",
        after: "true",
        observe: |release| (score_of_image_volume(release) != "0").to_string(),
    },
    Difference {
        name: "scales_image_scores_by_volumes",
        last: "1.36",
        before: "100",
        after: "50",
        observe: |release| match score_of_image_volume(release).as_str() {
            // To 1.35 they do not count at all.
            "0" => "100".to_owned(),
            score => score.to_owned(),
        },
    },
    Difference {
        name: "hints_ask_for_any_anti_affinity",
        last: "1.36",
        before: "",
        after: "n",
        observe: |release| {
            // Before 1.32 no hints decide.
            if !release.has_queueing_hints() {
                return String::new();
            }
            let mut there = json!({ "metadata": { "name": "there", "labels": { "app": "web" } } });
            json_patch(&mut there, json!({ "spec": { "nodeName": "n" } }));
            let mut p = json!({ "metadata": { "name": "p" }, "spec": apart_from("web") });
            let terms = "/spec/affinity/podAntiAffinity/\
                         requiredDuringSchedulingIgnoredDuringExecution";
            let selector = json!({ "matchLabels": { "app": "other" } });
            let term = json!({ "topologyKey": HOST, "labelSelector": selector });
            p.pointer_mut(terms).unwrap().as_array_mut().unwrap().push(term);
            let mut simulator = waiting(release, &[there, p]);
            let delete = json!({ "deletePod": { "pod": "default/there", "force": true } });
            command(&mut simulator, 10_000, delete);
            node_of_p(&mut simulator)
        },
    },
    Difference {
        name: "scores_change_of_balance",
        last: "1.35",
        before: "100",
        after: "75",
        observe: |release| {
            let nodes = [node("n", json!({}), json!({}))];
            let new = pod("p", "", json!({"cpu": "500m", "memory": "512Mi"}), json!({}));
            let decision = decide(release, &nodes, &[], &new);
            scores(&decision, ScorePlugin::NodeResourcesBalancedAllocation)
        },
    },
    Difference {
        name: "empty_spread_selector_counts_nothing",
        last: "1.24",
        before: "PodTopologySpread",
        after: "",
        observe: |release| {
            let nodes = ["m", "n"].map(|name| node(name, json!({"rack": name}), json!({})));
            let on = [pod("a", "m", json!({}), json!({}))];
            let spec = json!({"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "rack",
                "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}]});
            filter(&decide(release, &nodes, &on, &pod("p", "", json!({}), spec)))
        },
    },
    Difference {
        name: "selects_namespaces_by_absent_labels",
        last: "1.34",
        before: "",
        after: "InterPodAffinity",
        observe: |release| {
            let nodes = [node("n", json!({HOST: "n"}), json!({}))];
            let mut other = pod("a", "n", json!({}), json!({}));
            other.metadata.namespace = "team".into();
            let spec = json!({"affinity": {"podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [{
                    "topologyKey": HOST,
                    "labelSelector": {"matchLabels": {"app": "web"}},
                    "namespaceSelector": {"matchExpressions": [
                        {"key": "team", "operator": "DoesNotExist"}]}}]}}});
            let mut snapshot = snapshot(release, &nodes, &[other]);
            let labels: BTreeMap<String, String> = [("team".into(), "a".into())].into();
            snapshot.set_namespaces([("team".to_owned(), labels.into())].into());
            filter(&snapshot.schedule(&pod("p", "", json!({}), spec)).unwrap())
        },
    },
    Difference {
        name: "skips_terminating_victims",
        last: "1.33",
        before: "1",
        after: "0",
        observe: |release| {
            let needs = json!([{"name": "c", "resources": {"requests": {"cpu": "4"}}}]);
            let there = json!({"metadata": {"name": "a"}, "spec": {"nodeName": "n",
                "terminationGracePeriodSeconds": 100, "containers": needs}});
            let other = json!({"metadata": {"name": "other"}});
            let mut simulator = with_new_pod(release, &[there], other);
            let new = json!({"metadata": {"name": "p"}, "spec": {"containers": needs,
                "priorityClassName": "system-cluster-critical"}});
            command(&mut simulator, 2_000, json!({"deletePod": {"pod": "default/a"}}));
            command(&mut simulator, 3_000, json!({ "createPod": new }));
            simulator.advance_to(Timestamp::from_secs(4)).unwrap();
            let is_preemption = |event: &&Event| match &event.what {
                EventKind::EventRecorded(recorded) => recorded.reason == "Preempted",
                _ => false,
            };
            let events = simulator.drain_events();
            let preempted = events.iter().filter(is_preemption);
            preempted.count().to_string()
        },
    },
    Difference {
        name: "preemption_candidates",
        last: "1.19",
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
        name: "absent_nodes",
        last: "1.23",
        before: "what the filter says",
        after: "nothing",
        observe: about_absent_nodes,
    },
    Difference {
        name: "absent_nodes",
        last: "1.29",
        before: "nothing",
        after: "node is filtered out by the prefilter result, no preemption",
        observe: about_absent_nodes,
    },
    Difference {
        name: "absent_nodes",
        last: "1.30",
        before: "node is filtered out by the prefilter result, no preemption",
        after: "nothing, no preemption",
        observe: about_absent_nodes,
    },
    Difference {
        name: "absent_nodes",
        last: "1.31",
        before: "nothing, no preemption",
        after: "node(s) didn't satisfy plugin(s) [NodeAffinity], no preemption",
        observe: about_absent_nodes,
    },
    Difference {
        name: "retries_after_status_write",
        last: "1.21",
        before: "bound after 2000 ms",
        after: "bound after 1000 ms",
        observe: bound_after,
    },
    Difference {
        name: "retries_by_plugin",
        last: "1.21",
        before: "backs off",
        after: "was left alone",
        observe: |release| {
            // A taint keeps a pod away, and another one goes, which does not help it. Whoever was
            // tried in vain is not tried at once when the taint goes.
            let taints = |taints: Value| json!({"setTaints": {"node": "n", "taints": taints}});
            let mut simulator = cluster(release);
            command(&mut simulator, 0, json!({"createPod": {"metadata": {"name": "q"}}}));
            let tainted = taints(json!([{"key": "a", "effect": "NoSchedule"}]));
            command(&mut simulator, 5_000, tainted);
            command(&mut simulator, 6_000, json!({"createPod": {"metadata": {"name": "p"}}}));
            command(&mut simulator, 20_000, json!({"deletePod": {"pod": "q", "force": true}}));
            command(&mut simulator, 20_500, taints(json!([])));
            simulator.advance_to(Timestamp::from_secs(21)).unwrap();
            let waits = simulator.cluster().pods().any(|(_, pod)| pod.spec.node_name.is_empty());
            (if waits { "backs off" } else { "was left alone" }).to_owned()
        },
    },
    Difference {
        name: "longest_time_unschedulable",
        last: "1.23",
        before: "bound after 90 s",
        after: "bound after 330 s",
        observe: |release| {
            // A terminating pod no longer counts, but its deletion lets no other pod be tried again.
            let labelled = |name: &str, pods: u32| {
                let more = json!({"status": {"allocatable": {"pods": pods},
                    "conditions": [{"type": "Ready", "status": "True"}]}});
                node(name, json!({HOST: name}), more)
            };
            let config = SimulatorConfig::with_control_plane(release);
            let grace = json!({"terminationGracePeriodSeconds": 1000});
            let there = pod("there", "one", json!({}), grace);
            let nodes = [labelled("one", 9), labelled("full", 0)];
            let mut simulator = Simulator::new(config, nodes, [there]).unwrap();
            let waits = pod("waits", "", json!({}), spread(HOST, "DoNotSchedule"));
            command(&mut simulator, 0, json!({"createPod": waits}));
            command(&mut simulator, 10_000, json!({"deletePod": {"pod": "there"}}));
            let mut seconds = 10;
            while simulator.cluster().pods().any(|(_, pod)| pod.spec.node_name.is_empty()) {
                seconds += 10;
                simulator.advance_to(Timestamp::from_secs(seconds)).unwrap();
            }
            format!("bound after {seconds} s")
        },
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
        before: "1",
        after: "3",
        observe: |release| {
            let preferred = json!({"spec": {"taints": [
                {"key": "a", "effect": "PreferNoSchedule"}]}});
            let nodes = [node("m", json!({}), json!({})), node("n", json!({}), preferred)];
            let decision = decide(release, &nodes, &[], &pod("p", "", json!({}), json!({})));
            let mut scores = decision.verdicts[0].scores.iter();
            let score = scores.find(|score| score.plugin == ScorePlugin::TaintToleration);
            score.unwrap().weight.to_string()
        },
    },
    Difference {
        name: "names_missing_topology_label",
        last: "1.18",
        before: "node(s) didn't match pod topology spread constraints",
        after: "node(s) didn't match pod topology spread constraints (missing required label)",
        observe: |release| {
            let nodes = [node("n", json!({}), json!({}))];
            let spec = spread("absent", "DoNotSchedule");
            reason(&decide(release, &nodes, &[], &pod("p", "", json!({}), spec)))
        },
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
                disrupted_pods: taintlab_core::order::OrderedSet::new(),
            };
            let new = pod("p", "", json!({"cpu": 1}), json!({"priority": 10}));
            let preemption = snapshot(release, &nodes, &on).preempt(&new, &[budget]).unwrap();
            preemption.chosen().unwrap().node.clone()
        },
    },
    Difference {
        name: "has_min_domains",
        last: "1.26",
        before: "",
        after: "PodTopologySpread",
        observe: |release| {
            // Each of two racks has a pod, and three racks should be there.
            let nodes = ["m", "n"].map(|name| node(name, json!({"rack": name}), json!({})));
            let on = [pod("a", "m", json!({}), json!({})), pod("b", "n", json!({}), json!({}))];
            let spec = spread_with(json!({"minDomains": 3}));
            filter(&decide(release, &nodes, &on, &pod("p", "", json!({}), spec)))
        },
    },
    Difference {
        name: "says_refusal_once",
        last: "1.25",
        before: "0/1 nodes are available: 1 pod has unbound immediate PersistentVolumeClaims",
        after: "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims",
        observe: |release| {
            let message = claims(release, "ReadWriteOnce", None, &[]).message.unwrap();
            message.split('.').next().unwrap().to_owned()
        },
    },
    Difference {
        name: "has_read_write_once_pod",
        last: "1.26",
        before: "",
        after: "VolumeRestrictions",
        observe: |release| {
            let other = pod("q", "n", json!({}), claim_of("c"));
            filter(&claims(release, "ReadWriteOncePod", Some("a"), &[other]))
        },
    },
    Difference {
        name: "volume_affinity_reason",
        last: "1.32",
        before: "node(s) had volume node affinity conflict",
        after: "node(s) didn't match PersistentVolume's node affinity",
        observe: |release| reason(&claims(release, "ReadWriteOnce", Some("b"), &[])),
    },
    Difference {
        name: "has_node_inclusion_policies",
        last: "1.25",
        before: "PodTopologySpread",
        after: "",
        observe: |release| {
            // The rack without pods is one that the pod does not tolerate.
            let tainted = json!({"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}});
            let nodes = [
                node("m", json!({"rack": "m"}), json!({})),
                node("n", json!({"rack": "n"}), tainted),
            ];
            let on = [pod("a", "m", json!({}), json!({}))];
            let spec = spread_with(json!({"nodeTaintsPolicy": "Honor"}));
            filter(&decide(release, &nodes, &on, &pod("p", "", json!({}), spec)))
        },
    },
    Difference {
        name: "has_match_label_keys",
        last: "1.26",
        before: "PodTopologySpread",
        after: "",
        observe: |release| {
            // The pod that is there is of another revision.
            let nodes = ["m", "n"].map(|name| node(name, json!({"rack": name}), json!({})));
            let revision = |name, on, revision: &str, spec| {
                let mut pod = pod(name, on, json!({}), spec);
                pod.metadata.labels.insert("revision".into(), revision.into());
                pod
            };
            let on = [revision("a", "m", "1", json!({}))];
            let spec = spread_with(json!({"matchLabelKeys": ["revision"]}));
            filter(&decide(release, &nodes, &on, &revision("p", "", "2", spec)))
        },
    },
    Difference {
        name: "untolerated_taint_reason",
        last: "1.23",
        before: "node(s) had taint {a: b}, that the pod didn't tolerate",
        after: "node(s) had untolerated taint {a: b}",
        observe: |release| reason(&untolerated(release)),
    },
    Difference {
        name: "untolerated_taint_reason",
        last: "1.33",
        before: "node(s) had untolerated taint {a: b}",
        after: "node(s) had untolerated taint(s)",
        observe: |release| reason(&untolerated(release)),
    },
    Difference {
        name: "node_name_reason",
        last: "1.20",
        before: "node(s) didn't match the requested hostname",
        after: "node(s) didn't match the requested node name",
        observe: |release| {
            let nodes = [node("n", json!({}), json!({}))];
            reason(&decide(release, &nodes, &[], &pod("p", "m", json!({}), json!({}))))
        },
    },
    Difference {
        name: "node_affinity_reason",
        last: "1.19",
        before: "node(s) didn't match node selector",
        after: "node(s) didn't match Pod's node affinity",
        observe: |release| reason(&unselected(release)),
    },
    Difference {
        name: "node_affinity_reason",
        last: "1.20",
        before: "node(s) didn't match Pod's node affinity",
        after: "node(s) didn't match Pod's node affinity/selector",
        observe: |release| reason(&unselected(release)),
    },
    Difference {
        name: "deallocates_claims",
        last: "1.33",
        before: "false",
        after: "true",
        observe: |release| {
            let words = ". no new claims to deallocate, preemption: 0/1 nodes are available: ";
            unselected(release).message.unwrap().contains(words).to_string()
        },
    },
    Difference {
        name: "preemption_message",
        last: "1.23",
        before: "",
        after: "0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
        observe: |release| about_preemption(release),
    },
    Difference {
        name: "preemption_message",
        last: "1.25",
        before: "0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
        after: "0/1 nodes are available: 1 Preemption is not helpful for scheduling..",
        observe: |release| about_preemption(release),
    },
    Difference {
        name: "preemption_message",
        last: "1.28",
        before: "0/1 nodes are available: 1 Preemption is not helpful for scheduling..",
        after: "0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
        observe: |release| about_preemption(release),
    },
];

/// What the message says of a node that the pod's affinity does not name, while the one that it
/// names is full.
fn about_absent_nodes(release: KubernetesRelease) -> String {
    let full = pod("q", "m", json!({"cpu": 2}), json!({}));
    let nodes = ["m", "n"].map(|name| node(name, json!({}), json!({})));
    let field = json!([{"key": "metadata.name", "operator": "In", "values": ["m"]}]);
    let spec = json!({"affinity": {"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchFields": field}]}}}});
    let new = pod("p", "", json!({"cpu": 1}), spec);
    let message = decide(release, &nodes, &[full], &new).message.unwrap();
    let message = message.strip_prefix("0/2 nodes are available: ").unwrap();
    let (reasons, rest) = message.split_once('.').unwrap();
    let mut reasons = reasons.split(", ").filter(|reason| *reason != "1 Insufficient cpu");
    let reason = reasons.next().map_or("nothing", |reason| match reason.strip_prefix("1 ") {
        Some(reason) if !reason.contains("didn't match") => reason,
        _ => "what the filter says",
    });
    let hopeless = rest.contains("1 Preemption is not helpful for scheduling");
    format!("{reason}{}", if hopeless { ", no preemption" } else { "" })
}

/// Why the first node does not fit.
fn reason(decision: &Decision) -> String {
    decision.verdicts[0].rejection.as_ref().unwrap().reasons.join(", ")
}

/// A constraint over racks, and what it says besides.
fn spread_with(more: Value) -> Value {
    let mut spec = spread("rack", "DoNotSchedule");
    json_patch(&mut spec["topologySpreadConstraints"][0], more);
    spec
}

/// A pod on a node with a taint that it does not tolerate.
fn untolerated(release: KubernetesRelease) -> Decision {
    let taint = json!({"key": "a", "value": "b", "effect": "NoSchedule"});
    let nodes = [node("n", json!({}), json!({"spec": {"taints": [taint]}}))];
    decide(release, &nodes, &[], &pod("p", "", json!({}), json!({})))
}

/// A pod whose node selector no node has.
fn unselected(release: KubernetesRelease) -> Decision {
    let nodes = [node("n", json!({}), json!({}))];
    let spec = json!({"nodeSelector": {"a": "b"}});
    decide(release, &nodes, &[], &pod("p", "", json!({}), spec))
}

/// What the scheduler says of preemption after it has said why the pod fits nowhere.
fn about_preemption(release: KubernetesRelease) -> String {
    let message = unselected(release).message.unwrap();
    message.split_once("preemption: ").map_or("", |(_, rest)| rest).to_owned()
}

/// A pod has the claim.
fn claim_of(claim: &str) -> Value {
    json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]})
}

/// A pod with the claim `c`, which is bound to a volume of a zone, or to none, on a node of the
/// zone `a`.
fn claims(release: KubernetesRelease, mode: &str, zone: Option<&str>, others: &[Pod]) -> Decision {
    let mut volumes = Volumes::default();
    let claim = json!({
        "metadata": {"name": "c", "namespace": "default"},
        "spec": {"accessModes": [mode], "storageClassName": "",
                 "volumeName": zone.map_or("", |_| "v")},
        "status": {"phase": zone.map_or("Pending", |_| "Bound")},
    });
    volumes.put_claim(Arc::new(serde_json::from_value(claim).unwrap()));
    if let Some(zone) = zone {
        let terms = json!([{"matchExpressions": [
            {"key": "zone", "operator": "In", "values": [zone]}]}]);
        let volume = json!({
            "metadata": {"name": "v"},
            "spec": {"accessModes": [mode], "csi": {"driver": "disk", "volumeHandle": "v"},
                     "claimRef": {"namespace": "default", "name": "c"},
                     "nodeAffinity": {"required": {"nodeSelectorTerms": terms}}},
        });
        volumes.put_persistent_volume(Arc::new(serde_json::from_value(volume).unwrap()));
    }
    let in_default = |pod: &Pod| {
        let mut pod = pod.clone();
        pod.metadata.namespace = "default".into();
        pod
    };
    let others: Vec<Pod> = others.iter().map(in_default).collect();
    let nodes = [node("n", json!({"zone": "a"}), json!({}))];
    let mut snapshot = snapshot(release, &nodes, &others);
    snapshot.set_volumes(Some(Arc::new(volumes)));
    snapshot.schedule(&in_default(&pod("p", "", json!({}), claim_of("c")))).unwrap()
}

/// A node `n` with a kubelet, in a whole control plane.
fn cluster(release: KubernetesRelease) -> Simulator {
    let ready = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    let config = SimulatorConfig::with_control_plane(release);
    Simulator::new(config, [node("n", json!({}), ready)], []).unwrap()
}

fn command(simulator: &mut Simulator, milliseconds: u64, command: Value) {
    let at = Timestamp::from_nanos(milliseconds * 1_000_000);
    simulator.handle_command(at, serde_json::from_value(command).unwrap()).unwrap();
}

/// The score of a node that has the image of a pod's volume, of 1 GiB, and not that of its container.
fn score_of_image_volume(release: KubernetesRelease) -> String {
    let image = json!([{"names": ["other:1"], "sizeBytes": 1_i64 << 30}]);
    let nodes = [node("n", json!({}), json!({"status": {"images": image}}))];
    let spec = json!({"volumes": [{"name": "v", "image": {"reference": "other:1"}}]});
    let decision = decide(release, &nodes, &[], &pod("p", "", json!({}), spec));
    scores(&decision, ScorePlugin::ImageLocality)
}

/// How long after its creation a pod is bound whose only node is uncordoned half a second later.
fn bound_after(release: KubernetesRelease) -> String {
    let mut simulator = cluster(release);
    let cordon =
        |cordoned: bool| json!({"setUnschedulable": {"node": "n", "unschedulable": cordoned}});
    command(&mut simulator, 0, cordon(true));
    command(&mut simulator, 2_000, json!({"createPod": {"metadata": {"name": "p"}}}));
    command(&mut simulator, 2_500, cordon(false));
    let is_bound = |simulator: &Simulator| {
        simulator.cluster().pods().any(|(_, pod)| !pod.spec.node_name.is_empty())
    };
    let mut waited = 500;
    while !is_bound(&simulator) {
        waited += 500;
        simulator.advance_to(Timestamp::from_nanos((2_000 + waited) * 1_000_000)).unwrap();
    }
    format!("bound after {waited} ms")
}

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

/// A pod one second after it was created in a cluster of one node with 4 CPUs.
fn with_new_pod(release: KubernetesRelease, there: &[Value], pod: Value) -> Simulator {
    let scenario: Scenario = serde_json::from_value(json!({
        "apiVersion": "taintlab/v1", "kind": "Scenario",
        "kubernetes": { "release": release.to_string(), "controlPlane": true },
        "objects": {
            "nodes": [{ "metadata": { "name": "n" },
                        "status": { "allocatable": { "cpu": "4", "pods": "9" } } }],
            "pods": there,
        },
    }))
    .unwrap();
    let mut simulator = scenario.simulator().unwrap();
    let create = serde_json::from_value(json!({ "createPod": pod })).unwrap();
    simulator.handle_command(Timestamp::from_secs(1), create).unwrap();
    simulator.advance_to(Timestamp::from_secs(2)).unwrap();
    simulator
}

/// Two nodes in two zones, and pods of which some wait; nine seconds later.
fn waiting(release: KubernetesRelease, pods: &[Value]) -> Simulator {
    let zone = |name: &str, spec: Value| {
        json!({ "metadata": { "name": name, "labels": {
                    "kubernetes.io/hostname": name, "topology.kubernetes.io/zone": name } },
                "spec": spec, "status": { "allocatable": { "cpu": "4", "pods": "9" } } })
    };
    let cordoned = json!({ "unschedulable": true, "taints": [
        { "key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule" }] });
    let scenario: Scenario = serde_json::from_value(json!({
        "apiVersion": "taintlab/v1", "kind": "Scenario",
        "kubernetes": { "release": release.to_string(), "controlPlane": true },
        "objects": { "nodes": [zone("n", json!({})), zone("m", cordoned)], "pods": pods },
    }))
    .unwrap();
    let mut simulator = scenario.simulator().unwrap();
    simulator.advance_to(Timestamp::from_secs(9)).unwrap();
    simulator
}

/// Node of the pod `p` at 40 s.
fn node_of_p(simulator: &mut Simulator) -> String {
    simulator.advance_to(Timestamp::from_secs(40)).unwrap();
    let pod = simulator.cluster().get_pod(&PodKey::new("default", "p")).unwrap();
    pod.spec.node_name.clone()
}

/// The pod `q`, which does not fit, and for which room is kept on the node.
fn nominated() -> Value {
    let mut pod = asking_for("9");
    let spec = json!({ "preemptionPolicy": "Never" });
    json_patch(
        &mut pod,
        json!({ "metadata": { "name": "q", "labels": { "app": "web" } },
        "spec": spec, "status": { "nominatedNodeName": "n" } }),
    );
    pod
}

/// The pod `p`.
fn asking_for(cpu: &str) -> Value {
    json!({ "metadata": { "name": "p" }, "spec": {
        "nodeSelector": { "kubernetes.io/hostname": "n" },
        "containers": [{ "name": "c", "resources": { "requests": { "cpu": cpu } } }] } })
}

/// The `spec` of a pod that is kept apart from those of an application.
fn apart_from(app: &str) -> Value {
    json!({ "nodeSelector": { "kubernetes.io/hostname": "n" }, "affinity": { "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            { "topologyKey": HOST, "labelSelector": { "matchLabels": { "app": app } } }] } } })
}

/// Node of a pod after the end of another whose anti-affinity excluded it.
fn after_end_of_one_with_anti_affinity(release: KubernetesRelease) -> String {
    let mut there = json!({ "metadata": { "name": "there" }, "spec": apart_from("web") });
    json_patch(&mut there, json!({ "spec": { "nodeName": "n" } }));
    let p = json!({ "metadata": { "name": "p", "labels": { "app": "web" } },
                    "spec": { "nodeSelector": { "kubernetes.io/hostname": "n" } } });
    let mut simulator = waiting(release, &[there, p]);
    let delete = json!({ "deletePod": { "pod": "default/there", "force": true } });
    command(&mut simulator, 10_000, delete);
    node_of_p(&mut simulator)
}

/// Vain attempts of a pod after a nominated one has got a node.
fn attempts_after_nominated_binding(release: KubernetesRelease) -> String {
    let mut simulator = waiting(release, &[nominated(), asking_for("1")]);
    simulator.drain_events();
    command(&mut simulator, 10_000, json!({ "bindPod": { "pod": "default/q", "node": "n" } }));
    simulator.advance_to(Timestamp::from_secs(40)).unwrap();
    failed_attempts(&simulator.drain_events())
}

/// Number of `FailedScheduling` events.
fn failed_attempts(events: &[Event]) -> String {
    let is_attempt = |event: &&Event| match &event.what {
        EventKind::EventRecorded(one) => one.reason == "FailedScheduling",
        _ => false,
    };
    events.iter().filter(is_attempt).count().to_string()
}

/// Its condition `PodScheduled`.
fn condition_of_new_pod(release: KubernetesRelease, pod: Value) -> PodCondition {
    let simulator = with_new_pod(release, &[], pod);
    let pod = simulator.cluster().get_pod(&PodKey::new("default", "p")).unwrap();
    pod.condition("PodScheduled").cloned().unwrap_or_default()
}
