//! The eviction API and the pod garbage collector on both sides of their differences.

use serde_json::json;
use taintlab_core::api::{JobStatus, Node, Pod, PodKey, WorkloadKey};
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

/// Whoever collects the pods of a node that is gone says so in the pods before it deletes them,
/// which a Job reads: it does not count them, unless the gate is off.
#[test]
fn a_job_that_ignores_disruptions_ignores_collected_pods() {
    for (release, says_so, failed) in [
        ("1.26", true, ""),
        ("1.26", false, "BackoffLimitExceeded"),
        ("1.30", false, "BackoffLimitExceeded"),
        ("1.35", true, ""),
    ] {
        let release = KubernetesRelease::parse(release).unwrap();
        let node = |name| -> Node {
            serde_json::from_value(json!({ "metadata": { "name": name } })).unwrap()
        };
        let mut config = SimulatorConfig::with_control_plane(release);
        if !says_so {
            config.feature_gates.insert("PodDisruptionConditions".into(), false);
        }
        let mut simulator = Simulator::new(config, [node("n")], []).unwrap();
        let on_condition = json!([{ "type": "DisruptionTarget", "status": "True" }]);
        let rule = json!({ "action": "Ignore", "onPodConditions": on_condition });
        let job = json!({ "createWorkload": {
            "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": "it" },
            "spec": {
                "backoffLimit": 0, "podFailurePolicy": { "rules": [rule] },
                "template": { "spec": {
                    "restartPolicy": "Never", "containers": [{ "name": "c" }],
                } },
            },
        } });
        let job = serde_json::from_value(job).unwrap();
        simulator.handle_command(Timestamp::from_secs(1), job).unwrap();
        simulator.handle_command(Timestamp::from_secs(5), Command::CreateNode(node("m"))).unwrap();
        let command = Command::DeleteNode { node: "n".into() };
        simulator.handle_command(Timestamp::from_secs(15), command).unwrap();
        simulator.advance_to(Timestamp::from_secs(200)).unwrap();
        let job = simulator.cluster().get_workload(&WorkloadKey::parse("job/it").unwrap()).unwrap();
        let status = job.status::<JobStatus>();
        let found = status.conditions.iter().find(|known| known.type_ == "Failed");
        let reason = found.map_or("", |known| known.reason.as_str());
        assert_eq!(reason, failed, "{release} {says_so}");
        let on_the_other = simulator.cluster().pods_of("m").count();
        assert_eq!(on_the_other, usize::from(failed.is_empty()), "{release} {says_so}");
    }
}
