//! When the scheduler tries a pod again that fitted nowhere.

use serde_json::{Value, json};
use taintlab_core::api::{Node, NodeName, Pod, PodKey};
use taintlab_core::command::Command;
use taintlab_core::event::{Event, EventKind};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::{InitialState, Simulator, SimulatorConfig};
use taintlab_core::time::Timestamp;

/// A pod is created at one moment, the only node is uncordoned at another: when is it bound? Those
/// that wait are looked at once a second, since 1.33 at once; to 1.21 the first attempt counts
/// twice.
#[test]
fn pods_wait_for_a_whole_second() {
    for (release, created, uncordoned, bound) in [
        ("1.22", 2_000, 2_500, 3_000),
        ("1.22", 2_300, 2_500, 4_000),
        ("1.32", 2_300, 2_500, 4_000),
        // Since 1.33 nobody waits while there are no others.
        ("1.33", 2_300, 2_500, 2_500),
        ("1.35", 2_300, 2_500, 2_500),
        ("1.35", 2_000, 7_700, 7_700),
        ("1.20", 2_000, 2_500, 4_000),
        ("1.20", 2_300, 2_500, 5_000),
        // Uncordoned in one write, without its taint in another: it was tried in between.
        ("1.20", 2_000, 7_700, 12_000),
        ("1.22", 2_000, 7_700, 10_000),
    ] {
        let config = SimulatorConfig {
            release: KubernetesRelease::parse(release).unwrap(),
            node_lifecycle: true,
            control_plane: true,
            ..SimulatorConfig::default()
        };
        let node: Node = serde_json::from_value(json!({"metadata": {"name": "n"},
            "spec": {"unschedulable": true},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]}}))
        .unwrap();
        let pod: Pod = serde_json::from_value(json!({"metadata": {"name": "p"}})).unwrap();
        let mut simulator = Simulator::new(config, [node], []).unwrap();
        let at = |milliseconds: u64| Timestamp::from_nanos(milliseconds * 1_000_000);
        simulator.handle_command(at(created), Command::CreatePod(pod)).unwrap();
        let (node, unschedulable) = (NodeName::from("n"), false);
        let uncordon = Command::SetUnschedulable { node, unschedulable };
        simulator.handle_command(at(uncordoned), uncordon).unwrap();
        let is_bound = |simulator: &Simulator| {
            let pod = simulator.cluster().get_pod(&PodKey::new("default", "p"));
            pod.is_some_and(|pod| !pod.spec.node_name.is_empty())
        };
        let case = format!("{release} {created} {uncordoned}");
        if bound > uncordoned {
            simulator.advance_to(at(bound - 1)).unwrap();
            assert!(!is_bound(&simulator), "{case}: too early");
        }
        simulator.advance_to(at(bound)).unwrap();
        assert!(is_bound(&simulator), "{case}");
    }
}

fn node(name: &str, pods: u32) -> Node {
    let labels = json!({"kubernetes.io/hostname": name});
    let ready = json!([{"type": "Ready", "status": "True"}]);
    serde_json::from_value(json!({"metadata": {"name": name, "labels": labels},
        "status": {"allocatable": {"pods": pods}, "conditions": ready}}))
    .unwrap()
}

fn config(release: &str) -> SimulatorConfig {
    SimulatorConfig {
        release: KubernetesRelease::parse(release).unwrap(),
        node_lifecycle: true,
        control_plane: true,
        ..SimulatorConfig::default()
    }
}

/// A terminating pod no longer counts, so another one fits; but its deletion is no reason to try
/// that one again. It is tried when the queue is next flushed of long waiting pods.
#[test]
fn what_waits_for_long_is_tried_again() {
    for (release, bound) in [("1.20", 90), ("1.23", 90), ("1.24", 330), ("1.35", 330)] {
        let spread = json!([{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "a"}}}]);
        let pod = |name: &str, spec| -> Pod {
            serde_json::from_value(json!({
                "metadata": {"name": name, "labels": {"app": "a"}}, "spec": spec}))
            .unwrap()
        };
        let there = pod("there", json!({"nodeName": "one", "terminationGracePeriodSeconds": 1000}));
        let nodes = [node("one", 9), node("full", 0)];
        let mut simulator = Simulator::new(config(release), nodes, [there]).unwrap();
        let waits = pod("waits", json!({"topologySpreadConstraints": spread}));
        simulator.handle_command(Timestamp::from_secs(2), Command::CreatePod(waits)).unwrap();
        let delete = json!({ "deletePod": { "pod": "default/there" } });
        let delete: Command = serde_json::from_value(delete).unwrap();
        simulator.handle_command(Timestamp::from_secs(10), delete).unwrap();
        let is_bound = |simulator: &Simulator| {
            let pod = simulator.cluster().get_pod(&PodKey::new("default", "waits")).unwrap();
            pod.spec.node_name == "one"
        };
        simulator.advance_to(Timestamp::from_nanos(bound * 1_000_000_000 - 1)).unwrap();
        assert!(!is_bound(&simulator), "{release}: too early");
        simulator.advance_to(Timestamp::from_secs(bound)).unwrap();
        assert!(is_bound(&simulator), "{release}");
    }
}

/// A change wakes a pod if a plugin that rejected the pod says that it may help.
#[test]
fn hints_decide_who_is_tried_again() {
    let requests =
        |cpu: &str| json!({"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]});
    let ports = |port: u32| {
        let ports = json!([{"containerPort": 1, "hostPort": port}]);
        json!({"containers": [{"name": "c", "ports": ports}]})
    };
    let near = |app: &str| {
        json!({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname",
             "labelSelector": {"matchLabels": {"app": app}}}]}}})
    };
    let label = |name: &str, value: &str| {
        json!({"setNodeLabels": {"node": "n", "labels": {
            "kubernetes.io/hostname": "n", name: value}}})
    };
    let taints = |key: &str, effect: &str| {
        let taint = json!({"key": key, "effect": effect});
        json!({"setTaints": {"node": "n", "taints": [taint]}})
    };
    let cordon = |on: bool| json!({"setUnschedulable": {"node": "n", "unschedulable": on}});
    let app = |app: &str| {
        json!({"createPod": {"metadata": {"name": "new", "labels": {"app": app}},
                             "spec": {"nodeName": "n"}}})
    };
    let delete = |pod: &str| json!({"deletePod": {"pod": pod, "force": true}});
    let (another_label, soft) = (label("more", "1"), taints("soft", "PreferNoSchedule"));
    let tainted: &[Value] = &[taints("hard", "NoSchedule")];
    let cordoned: &[Value] = &[cordon(true)];
    let ssd = json!({"nodeSelector": {"disk": "ssd"}});
    let nothing: &[Value] = &[];
    for (what, spec, before, change, wakes) in [
        ("resources and a label", requests("9"), nothing, &another_label, false),
        ("resources and any taint", requests("9"), nothing, &soft, true),
        ("resources and the end of a pod", requests("9"), nothing, &delete("idle"), true),
        ("resources and another pod", requests("9"), nothing, &app("db"), false),
        ("a taint and a label", json!({}), tainted, &another_label, false),
        ("a taint and another one", json!({}), tainted, &taints("other", "NoSchedule"), false),
        ("a taint and a softer one", json!({}), tainted, &soft, true),
        ("a taint and the end of a pod", json!({}), tainted, &delete("idle"), false),
        ("a selector and another label", ssd.clone(), nothing, &another_label, false),
        ("a selector and its label", ssd.clone(), nothing, &label("disk", "ssd"), true),
        ("a selector and any taint", ssd.clone(), nothing, &soft, true),
        ("a selector and the end of a pod", ssd.clone(), nothing, &delete("idle"), false),
        ("a port and the end of another pod", ports(80), nothing, &delete("idle"), false),
        ("a port and the end of its pod", ports(80), nothing, &delete("taken"), true),
        ("affinity and another pod", near("db"), nothing, &app("web"), false),
        ("affinity and its pod", near("db"), nothing, &app("db"), true),
        ("affinity and a label", near("db"), nothing, &another_label, false),
        ("a cordon and a label", json!({}), cordoned, &another_label, false),
        ("a cordon and its end", json!({}), cordoned, &cordon(false), true),
    ] {
        let pod = |name: &str, spec: Value| -> Pod {
            serde_json::from_value(json!({"metadata": {"name": name}, "spec": spec})).unwrap()
        };
        let mut taken = ports(80);
        taken["nodeName"] = "n".into();
        let pods = [pod("idle", json!({"nodeName": "n"})), pod("taken", taken)];
        let mut own = node("n", 9);
        own.status.other.set("allocatable", json!({"cpu": "4", "pods": "9"}));
        let mut simulator = Simulator::new(config("1.35"), [own], pods).unwrap();
        let create = json!({"createPod": {"metadata": {"name": "p"}, "spec": spec}});
        for (second, step) in before.iter().map(|step| (1, step)).chain([(2, &create)]) {
            let step: Command = serde_json::from_value(step.clone()).unwrap();
            simulator.handle_command(Timestamp::from_secs(second), step).unwrap();
        }
        simulator.advance_to(Timestamp::from_secs(19)).unwrap();
        simulator.drain_events();
        let change: Command = serde_json::from_value(change.clone()).unwrap();
        simulator.handle_command(Timestamp::from_secs(20), change).unwrap();
        simulator.advance_to(Timestamp::from_secs(25)).unwrap();
        let is_attempt = |event: &Event| match &event.what {
            EventKind::EventRecorded(one) => {
                ["FailedScheduling", "Scheduled"].contains(&one.reason)
            }
            _ => false,
        };
        assert_eq!(simulator.drain_events().iter().any(is_attempt), wakes, "{what}");
    }
}

/// A recorded run says when the scheduler got to know pods: not before it they are tried.
#[test]
fn recorded_arrivals_decide_who_is_tried_first() {
    for (late, first) in [("", "p"), ("p", "q"), ("q", "p")] {
        let arrivals = [(format!("default/{late}"), vec![Timestamp::from_nanos(1_200_000_000)])];
        let begin = InitialState { arrivals: arrivals.into(), ..InitialState::default() };
        let nodes = [node("one", 1)];
        let mut simulator = Simulator::beginning_with(config("1.36"), nodes, [], begin).unwrap();
        for name in ["p", "q"] {
            let pod: Pod = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
            simulator.handle_command(Timestamp::from_secs(1), Command::CreatePod(pod)).unwrap();
        }
        simulator.advance_to(Timestamp::from_secs(2)).unwrap();
        let placed = simulator.cluster().pods().filter(|(_, pod)| !pod.spec.node_name.is_empty());
        let placed: Vec<&str> = placed.map(|(key, _)| key.name()).collect();
        assert_eq!(placed, [first], "{late}");
    }
}

/// A recorded run says where pods went: that is taken among the best nodes, and nowhere else.
#[test]
fn recorded_placements_decide_among_equals() {
    for (placement, expected) in [("two", "two"), ("full", "one"), ("nowhere", "one")] {
        let nodes = [node("one", 9), node("two", 9), node("full", 0)];
        let placements = [("default/p".to_owned(), vec![NodeName::from(placement)])];
        let begin = InitialState { placements: placements.into(), ..InitialState::default() };
        let mut simulator = Simulator::beginning_with(config("1.20"), nodes, [], begin).unwrap();
        let pod: Pod = serde_json::from_value(json!({"metadata": {"name": "p"}})).unwrap();
        simulator.handle_command(Timestamp::from_secs(1), Command::CreatePod(pod)).unwrap();
        simulator.advance_to(Timestamp::from_secs(1)).unwrap();
        let pod = simulator.cluster().get_pod(&PodKey::new("default", "p")).unwrap();
        assert_eq!(pod.spec.node_name, expected, "{placement}");
    }
}
