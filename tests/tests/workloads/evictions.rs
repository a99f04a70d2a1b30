//! The eviction API and the pod garbage collector on both sides of their differences.

use serde_json::json;
use taintlab_core::api::{Node, Pod, PodKey};
use taintlab_core::command::Command;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::{InitialState, Simulator, SimulatorConfig};
use taintlab_core::time::Timestamp;

fn pod(name: &str, ready: &str) -> Pod {
    serde_json::from_value(json!({
        "metadata": { "name": name, "labels": { "app": "web" } },
        "spec": { "nodeName": "n" },
        "status": {
            "phase": "Running",
            "conditions": [{ "type": "Ready", "status": ready }],
        },
    }))
    .unwrap()
}

/// A node with one pod that is ready and one that is not, and a budget that needs one.
fn cluster(release: &str) -> Simulator {
    let release = KubernetesRelease::parse(release).unwrap();
    let node: Node = serde_json::from_value(json!({ "metadata": { "name": "n" } })).unwrap();
    let budget = serde_json::from_value(json!({
        "metadata": { "name": "web" },
        "spec": { "minAvailable": 1, "selector": { "matchLabels": { "app": "web" } } },
    }));
    let begin = InitialState { budgets: vec![budget.unwrap()], ..InitialState::default() };
    let config = SimulatorConfig::with_control_plane(release);
    let pods = [pod("ready", "True"), pod("unready", "False")];
    Simulator::beginning_with(config, [node], pods, begin).unwrap()
}

fn evict(simulator: &mut Simulator, name: &str) -> bool {
    let pod = PodKey::new("", name);
    let command = Command::EvictPod { pod, grace_period_seconds: None };
    simulator.handle_command(Timestamp::from_secs(1), command).is_ok()
}

fn reason(simulator: &Simulator, name: &str) -> String {
    let pod = simulator.cluster().get_pod(&PodKey::new("", name));
    let condition = pod.and_then(|pod| pod.condition("DisruptionTarget"));
    condition.map(|condition| condition.reason.clone()).unwrap_or_default()
}

#[test]
fn a_pod_that_is_not_ready_may_go_since_1_20() {
    for (release, granted) in [("1.19", false), ("1.20", true), ("1.34", true)] {
        let mut simulator = cluster(release);
        assert!(!evict(&mut simulator, "ready"), "{release}");
        assert_eq!(evict(&mut simulator, "unready"), granted, "{release}");
    }
}

#[test]
fn evictions_say_so_since_1_26() {
    for (release, expected) in [("1.25", ""), ("1.26", "EvictionByEvictionAPI")] {
        let mut simulator = cluster(release);
        assert!(evict(&mut simulator, "unready"), "{release}");
        assert_eq!(reason(&simulator, "unready"), expected, "{release}");
    }
}

#[test]
fn pods_of_a_deleted_node_go_with_the_fourth_pass() {
    let mut simulator = cluster("1.34");
    let command = Command::DeleteNode { node: "n".into() };
    simulator.handle_command(Timestamp::from_secs(15), command).unwrap();
    let there = |simulator: &Simulator| simulator.cluster().pod_count();
    // Passes at 20, 40, 60 and 80 s; that at 60 s comes a moment too early.
    simulator.advance_to(Timestamp::from_secs(79)).unwrap();
    assert_eq!(there(&simulator), 2);
    simulator.advance_to(Timestamp::from_secs(80)).unwrap();
    assert_eq!(there(&simulator), 0);
}
