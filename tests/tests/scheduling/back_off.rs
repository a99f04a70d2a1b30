//! When the scheduler tries a pod again that fitted nowhere.

use serde_json::json;
use taintlab_core::api::{Node, NodeName, Pod, PodKey};
use taintlab_core::command::Command;
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

/// A node that goes gives no reason to try pods again, although one of them fits now: it is tried
/// when the queue is next flushed of what waits for long.
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
        let there = pod("there", json!({"nodeName": "one"}));
        let nodes = [node("one", 9), node("full", 0)];
        let mut simulator = Simulator::new(config(release), nodes, [there]).unwrap();
        let waits = pod("waits", json!({"topologySpreadConstraints": spread}));
        simulator.handle_command(Timestamp::from_secs(2), Command::CreatePod(waits)).unwrap();
        let gone = Command::DeleteNode { node: "full".into() };
        simulator.handle_command(Timestamp::from_secs(10), gone).unwrap();
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
