//! Where pods go: the cases of the scheduler's own tests, its words, and what must always hold.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};
use taintlab_core::api::{Node, Pod, PodKey};
use taintlab_core::policy::matching::tolerations_tolerate_taint;
use taintlab_core::policy::scheduling::{
    Decision, SchedulerConfig, ScorePlugin, Snapshot, schedule,
};
use taintlab_core::release::KubernetesRelease;
use taintlab_tests::notation;

fn node(name: &str, zone: &str, taints: &str) -> Node {
    let mut node = notation::node(name, notation::taints(taints).unwrap());
    notation::put_into_zone(&mut node, zone);
    node.metadata.labels.insert("kubernetes.io/hostname".into(), name.into());
    node
}

fn sized(name: &str, allocatable: Value) -> Node {
    let mut node = node(name, "", "");
    node.status.other.set("allocatable", allocatable);
    node
}

fn pod(name: &str, on: &str, spec: Value) -> Pod {
    let mut pod: Pod = serde_json::from_value(json!({
        "metadata": {"name": name, "labels": {"app": "web"}}, "spec": spec}))
    .unwrap();
    pod.spec.node_name = on.into();
    pod
}

fn asks(cpu: &str) -> Value {
    json!({"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]})
}

fn run(release: &str, pod: &Pod, nodes: &[Node], pods: &[Pod]) -> Decision {
    let config = SchedulerConfig::of(KubernetesRelease::parse(release).unwrap());
    schedule(pod, nodes, pods, config).unwrap()
}

fn message(release: &str, pod: &Pod, nodes: &[Node], pods: &[Pod]) -> String {
    run(release, pod, nodes, pods).message.unwrap()
}

fn score(decision: &Decision, plugin: ScorePlugin) -> Vec<i64> {
    let of = |scores: &[taintlab_core::policy::scheduling::PluginScore]| {
        scores.iter().find(|score| score.plugin == plugin).map(|score| score.score)
    };
    decision.verdicts.iter().filter_map(|verdict| of(&verdict.scores)).collect()
}

/// Preferences that the scheduler cannot read keep a pod off all nodes; since 1.20 all are told.
#[test]
fn all_preferences_that_cannot_be_read_are_told() {
    let prefers = |operator: &str, values: Value| {
        json!({"weight": 1, "preference": {"matchExpressions": [
            {"key": "disk", "operator": operator, "values": values}]}})
    };
    let first = "for 'in', 'notin' operators, values set can't be empty";
    let second = "for 'Gt', 'Lt' operators, exactly one value is required";
    let terms = [prefers("In", json!([])), prefers("Gt", json!([])), prefers("In", json!([]))];
    let affinity = json!({"nodeAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": terms}});
    let pod = pod("p", "", json!({"affinity": affinity}));
    let nodes = [node("a", "", ""), node("b", "", "")];
    let said = message("1.20", &pod, &nodes, &[]);
    let (_, said) = said.split_once("failed with: [").unwrap();
    assert_eq!(said, format!("{first}, {second}]"), "the same is told once");
    let said = message("1.19", &pod, &nodes, &[]);
    assert!(said.contains(first) && !said.contains(second), "{said}");
}

/// `TestTaintTolerationFilter`.
#[test]
fn taint_toleration_filter() {
    for (name, tolerations, taints, fits) in [
        (
            "A pod having no tolerations can't be scheduled onto a node with nonempty taints",
            "",
            "dedicated=user1:NoSchedule",
            false,
        ),
        (
            "A pod which can be scheduled on a dedicated node",
            "dedicated=user1:NoSchedule/inf",
            "dedicated=user1:NoSchedule",
            true,
        ),
        (
            "A pod whose toleration has another value",
            "dedicated=user2:NoSchedule/inf",
            "dedicated=user1:NoSchedule",
            false,
        ),
        ("Exists operator", "foo:NoSchedule/inf", "foo=bar:NoSchedule", true),
        (
            "multiple tolerations",
            "dedicated=user2:NoSchedule/inf foo:NoSchedule/inf",
            "dedicated=user2:NoSchedule foo=bar:NoSchedule",
            true,
        ),
        (
            "the toleration's effect differs",
            "foo=bar:PreferNoSchedule/inf",
            "foo=bar:NoSchedule",
            false,
        ),
        ("empty effect", "foo=bar:/inf", "foo=bar:NoSchedule", true),
        ("PreferNoSchedule does not count", "", "dedicated=user1:PreferNoSchedule", true),
        ("NoExecute counts", "", "a", false),
    ] {
        let mut pod = pod("p", "", json!({}));
        pod.spec.tolerations = notation::tolerations(tolerations).unwrap().into();
        let decision = run("1.30", &pod, &[node("n", "", taints)], &[]);
        assert_eq!(decision.node.is_some(), fits, "{name}");
    }
}

/// `TestTaintTolerationScore`, and the numbers of its normalisation.
#[test]
fn taint_toleration_score() {
    for (taints, expected) in [
        (["", "a:PreferNoSchedule", "a:PreferNoSchedule b:PreferNoSchedule"], [100, 50, 0]),
        (
            [
                "a:PreferNoSchedule",
                "a:PreferNoSchedule b:PreferNoSchedule",
                "a:PreferNoSchedule b:PreferNoSchedule c:PreferNoSchedule",
            ],
            [67, 34, 0],
        ),
        (["a:PreferNoSchedule"; 3], [0, 0, 0]),
        (["t:PreferNoSchedule"; 3], [100, 100, 100]),
    ] {
        let nodes: Vec<Node> = ["n1", "n2", "n3"]
            .into_iter()
            .zip(taints)
            .map(|(name, taints)| node(name, "", taints))
            .collect();
        let mut pod = pod("p", "", json!({}));
        pod.spec.tolerations = notation::tolerations("t:/inf a:NoExecute/inf").unwrap().into();
        let decision = run("1.30", &pod, &nodes, &[]);
        assert_eq!(score(&decision, ScorePlugin::TaintToleration), expected, "{taints:?}");
        assert_eq!(decision.node.as_deref(), Some("n1"));
    }
}

/// `TestNodeAffinity`: every operator.
#[test]
fn node_affinity() {
    for (operator, values, key, fits) in [
        ("In", json!(["a", "z"]), "topology.kubernetes.io/zone", true),
        ("In", json!(["b"]), "topology.kubernetes.io/zone", false),
        ("NotIn", json!(["b"]), "topology.kubernetes.io/zone", true),
        ("NotIn", json!(["b"]), "absent", true),
        ("Exists", json!([]), "cores", true),
        ("Exists", json!([]), "absent", false),
        ("DoesNotExist", json!([]), "absent", true),
        ("DoesNotExist", json!([]), "cores", false),
        ("Gt", json!(["7"]), "cores", true),
        ("Gt", json!(["8"]), "cores", false),
        ("Lt", json!(["9"]), "cores", true),
        ("Lt", json!(["x"]), "cores", false),
        ("Near", json!(["8"]), "cores", false),
    ] {
        let term =
            json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]});
        let spec = json!({"affinity": {"nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}});
        let mut node = node("n", "a", "");
        node.metadata.labels.insert("cores".into(), "8".into());
        let decision = run("1.30", &pod("p", "", spec), &[node], &[]);
        assert_eq!(decision.node.is_some(), fits, "{key} {operator} {values}");
    }
    let empty = json!({"affinity": {"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{}]}}}});
    let nodes = [node("n", "a", "")];
    assert_eq!(run("1.30", &pod("p", "", empty), &nodes, &[]).node, None, "an empty term");
    let zone = json!({"nodeSelector": {"topology.kubernetes.io/zone": "b"}});
    let why = "0/1 nodes are available: 1 node(s) didn't match ";
    for (release, words) in [
        ("1.19", "node selector."),
        ("1.20", "Pod's node affinity."),
        ("1.23", "Pod's node affinity/selector."),
    ] {
        let message = message(release, &pod("p", "", zone.clone()), &nodes, &[]);
        assert_eq!(message, format!("{why}{words}"));
    }
}

#[test]
fn the_scheduler_says_why() {
    let mut cordoned = node("c", "", "");
    cordoned.spec.unschedulable = true;
    let small = |name| sized(name, json!({"cpu": "1", "pods": 10}));
    let nodes = [small("a"), small("b"), cordoned, node("d", "", "key=value:NoSchedule")];
    let pod = pod("p", "", asks("2"));
    for (release, expected) in [
        (
            "1.20",
            "1 node(s) had taint {key: value}, that the pod didn't tolerate, \
            1 node(s) were unschedulable, 2 Insufficient cpu.",
        ),
        (
            "1.24",
            "1 node(s) had untolerated taint {key: value}, 1 node(s) were unschedulable, \
            2 Insufficient cpu. preemption: 0/4 nodes are available: \
            2 No preemption victims found for incoming pod, \
            2 Preemption is not helpful for scheduling.",
        ),
        (
            "1.26",
            "1 node(s) had untolerated taint {key: value}, 1 node(s) were unschedulable, \
            2 Insufficient cpu. preemption: 0/4 nodes are available: \
            2 No preemption victims found for incoming pod, \
            2 Preemption is not helpful for scheduling..",
        ),
        (
            "1.33",
            "1 node(s) had untolerated taint {key: value}, 1 node(s) were unschedulable, \
            2 Insufficient cpu. preemption: 0/4 nodes are available: \
            2 No preemption victims found for incoming pod, \
            2 Preemption is not helpful for scheduling.",
        ),
        (
            "1.34",
            "1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, \
            2 Insufficient cpu. no new claims to deallocate, preemption: \
            0/4 nodes are available: 4 Preemption is not helpful for scheduling.",
        ),
        (
            "1.35",
            "1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, \
            2 Insufficient cpu. no new claims to deallocate, preemption: 0/4 nodes are available: \
            4 Preemption is not helpful for scheduling.",
        ),
    ] {
        let expected = format!("0/4 nodes are available: {expected}");
        assert_eq!(message(release, &pod, &nodes, &[]), expected, "{release}");
    }
    assert_eq!(message("1.30", &pod, &[], &[]), "no nodes available to schedule pods");
}

/// `TestEnoughRequests`, and where preemption would help.
#[test]
fn resources_fit() {
    let nodes = [sized("n", json!({"cpu": "1", "memory": "1Gi", "pods": 2}))];
    let low = pod("low", "n", asks("600m"));
    let mut spec = asks("500m");
    let refused = run("1.23", &pod("p", "", spec.clone()), &nodes, std::slice::from_ref(&low));
    assert_eq!(refused.message.unwrap(), "0/1 nodes are available: 1 Insufficient cpu.");
    assert!(
        run("1.30", &pod("p", "", asks("400m")), &nodes, std::slice::from_ref(&low)).node.is_some()
    );
    spec["priority"] = json!(1);
    let urgent = run("1.30", &pod("p", "", spec), &nodes, std::slice::from_ref(&low));
    assert_eq!(urgent.preemptable, ["n"]);
    assert_eq!(urgent.message.unwrap(), "0/1 nodes are available: 1 Insufficient cpu.");
    let full = [low, pod("other", "n", json!({}))];
    assert_eq!(
        message("1.23", &pod("p", "", json!({})), &nodes, &full),
        "0/1 nodes are available: 1 Too many pods."
    );
    let gpu = json!({"containers": [{"resources": {"limits": {"example.com/gpu": 1}}}]});
    assert_eq!(
        message("1.23", &pod("p", "", gpu), &nodes, &[]),
        "0/1 nodes are available: 1 Insufficient example.com/gpu."
    );
}

/// Zones a (two pods) and b (one): `maxSkew` 1 leaves b.
#[test]
fn topology_spread() {
    let constraint = |when: &str| {
        json!({"topologySpreadConstraints": [{"maxSkew": 1, "whenUnsatisfiable": when,
            "topologyKey": "topology.kubernetes.io/zone",
            "labelSelector": {"matchLabels": {"app": "web"}}}]})
    };
    let nodes = [node("a1", "a", ""), node("b1", "b", ""), node("x", "", "")];
    let on = |name, node| pod(name, node, json!({}));
    let pods = [on("p1", "a1"), on("p2", "a1"), on("p3", "b1")];
    let new = pod("p", "", constraint("DoNotSchedule"));
    let decision = run("1.30", &new, &nodes, &pods);
    assert_eq!(decision.node.as_deref(), Some("b1"));
    assert_eq!(
        decision.verdicts[2].rejection.as_ref().unwrap().reasons,
        ["node(s) didn't match pod topology spread constraints (missing required label)"]
    );
    assert!(decision.verdicts[0].rejection.as_ref().unwrap().preemption_may_help);
    let new = pod("p", "", constraint("ScheduleAnyway"));
    let decision = run("1.30", &new, &nodes, &pods);
    let scores = score(&decision, ScorePlugin::PodTopologySpread);
    assert_eq!((scores[1], scores[2]), (100, 0));
    assert_eq!(decision.node.as_deref(), Some("b1"));
}

#[test]
fn pods_keep_apart_and_together() {
    let term = json!([{"labelSelector": {"matchLabels": {"app": "web"}},
        "topologyKey": "topology.kubernetes.io/zone"}]);
    let required = |kind: &str| {
        json!({"affinity": {
        kind: {"requiredDuringSchedulingIgnoredDuringExecution": term}}})
    };
    let nodes = [node("a1", "a", ""), node("a2", "a", ""), node("b1", "b", "")];
    let apart = pod("p", "", required("podAntiAffinity"));
    let there = pod("q", "a1", json!({}));
    let decision = run("1.30", &apart, &nodes, std::slice::from_ref(&there));
    assert_eq!(decision.node.as_deref(), Some("b1"));
    let anti = [pod("q", "a1", required("podAntiAffinity"))];
    let decision = run("1.30", &pod("p", "", json!({})), &nodes, &anti);
    assert_eq!(decision.node.as_deref(), Some("b1"));
    assert_eq!(
        decision.verdicts[1].rejection.as_ref().unwrap().reasons,
        ["node(s) didn't satisfy existing pods anti-affinity rules"]
    );
    let together = pod("p", "", required("podAffinity"));
    assert_eq!(run("1.30", &together, &nodes, &[there]).node.as_deref(), Some("a2"));
    assert!(run("1.30", &together, &nodes, &[]).node.is_some(), "the first of its group");
}

#[test]
fn replicas_of_a_controller_spread_and_5000_nodes_are_no_matter() {
    let nodes: Vec<Node> =
        (0..5_000).map(|n| node(&format!("n{n:04}"), &format!("z{}", n % 3), "")).collect();
    let config = SchedulerConfig::of(KubernetesRelease::NEWEST);
    let mut snapshot = Snapshot::new(config, &nodes, &[]).unwrap();
    let mut zones = Vec::new();
    for index in 0..6 {
        let mut pod = pod(&format!("p{index}"), "", json!({}));
        let owner = json!([{"kind": "ReplicaSet", "name": "web", "controller": true}]);
        pod.metadata.owner_references = serde_json::from_value(owner).unwrap();
        pod.spec.node_name = snapshot.schedule(&pod).unwrap().node.unwrap();
        zones.push(pod.spec.node_name[1..].parse::<u32>().unwrap() % 3);
        snapshot.add_pod(&pod).unwrap();
    }
    zones.sort_unstable();
    assert_eq!(zones, [0, 0, 1, 1, 2, 2]);
    let first = PodKey::new("", "p0");
    assert!(snapshot.remove_pod(&first, "n0000") && !snapshot.remove_pod(&first, "n0000"));
}

#[test]
fn every_filter_is_explained() {
    let mut node = node("n", "", "a");
    node.spec.unschedulable = true;
    let config = SchedulerConfig::of(KubernetesRelease::NEWEST);
    let snapshot = Snapshot::new(config, [&node], []).unwrap();
    let verdicts = snapshot.explain(&pod("p", "m", json!({})), "n").unwrap();
    assert_eq!(verdicts.len(), 8);
    assert_eq!(verdicts.iter().filter(|verdict| verdict.rejection.is_some()).count(), 3);
    let json = serde_json::to_value(&verdicts[1]).unwrap();
    assert_eq!(json["rejection"]["reasons"][0], "node(s) didn't match the requested node name");
    let wrong = snapshot.schedule(&pod("p", "", json!({"affinity": 1}))).unwrap_err();
    assert_eq!(wrong.to_string(), "pod default/p: spec.affinity: must be an object");
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(0),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Nothing goes where a taint keeps it off, and the order of the input does not matter.
    #[test]
    fn taints_are_respected_in_any_order(
        taints in proptest::collection::vec(0..16_u8, 1..8),
        tolerated in 0..8_u8,
        placed in proptest::collection::vec(0..8_usize, 0..12),
    ) {
        const TAINTS: [&str; 4] =
            ["a:NoSchedule", "b:NoExecute", "c=x:NoSchedule", "d:PreferNoSchedule"];
        let chosen = |bits: u8, all: &[&str]| all.iter().enumerate()
            .filter(|(bit, _)| bits & (1 << bit) != 0).map(|(_, text)| *text)
            .collect::<Vec<_>>().join(" ");
        let mut nodes: Vec<Node> = taints.iter().enumerate()
            .map(|(n, bits)| node(&format!("n{n}"), ["a", "b"][n % 2], &chosen(*bits, &TAINTS)))
            .collect();
        let mut pods: Vec<Pod> = placed.iter().enumerate()
            .map(|(index, n)| pod(&format!("q{index}"), &format!("n{n}"), json!({}))).collect();
        let mut new = pod("p", "", json!({}));
        let all = ["a:NoSchedule/inf", "b/inf", "c=x:/inf"];
        new.spec.tolerations = notation::tolerations(&chosen(tolerated, &all)).unwrap().into();
        let decision = run("1.35", &new, &nodes, &pods);
        let open = |node: &Node| node.spec.taints.iter().all(|taint| {
            taint.effect.as_str() == "PreferNoSchedule"
                || tolerations_tolerate_taint(&new.spec.tolerations, taint, false)
        });
        match &decision.node {
            None => prop_assert!(!nodes.iter().any(open)),
            Some(name) => {
                let node = nodes.iter().find(|node| node.metadata.name == *name).unwrap();
                prop_assert!(open(node));
            }
        }
        nodes.reverse();
        pods.reverse();
        prop_assert_eq!(decision, run("1.35", &new, &nodes, &pods));
    }
}
