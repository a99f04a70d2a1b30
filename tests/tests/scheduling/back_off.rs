//! When the scheduler tries a pod again that fitted nowhere.

use serde_json::json;
use taintlab_core::api::{Node, NodeName, Pod, PodKey};
use taintlab_core::command::Command;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::{Simulator, SimulatorConfig};
use taintlab_core::time::Timestamp;

/// A pod is created at one moment, the only node is uncordoned at another: when is it bound? Those
/// that wait are looked at once a second; to 1.20 the first attempt counts twice.
#[test]
fn pods_wait_for_a_whole_second() {
    for (release, created, uncordoned, bound) in [
        ("1.21", 2_000, 2_500, 3_000),
        ("1.21", 2_300, 2_500, 4_000),
        ("1.35", 2_300, 2_500, 4_000),
        ("1.20", 2_000, 2_500, 4_000),
        ("1.20", 2_300, 2_500, 5_000),
        ("1.20", 2_000, 7_700, 7_700),
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
