//! What clusters with a real control plane showed, each as the smallest cluster that shows it.

use serde_json::{Value, json};
use taintlab_core::api::{Node, Pod};
use taintlab_core::command::Command;
use taintlab_core::event::{Event, EventKind};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::{HealthPassTime, Simulator, SimulatorConfig};
use taintlab_core::time::Timestamp;
use taintlab_kubectl::{Context, run as kubectl};

fn release(minor: u8) -> KubernetesRelease {
    KubernetesRelease::new(minor).unwrap()
}

/// Nodes and pods in a whole control plane whose health passes take as long as real ones.
fn cluster(minor: u8, nodes: usize, pods: &[Value]) -> Simulator {
    let mut config = SimulatorConfig::with_control_plane(release(minor));
    config.health_pass = HealthPassTime::MEASURED;
    let nodes = (0..nodes).map(|number| -> Node {
        serde_json::from_value(json!({"metadata": {"name": format!("n{number}")}})).unwrap()
    });
    let pods = pods.iter().map(|pod| -> Pod { serde_json::from_value(pod.clone()).unwrap() });
    Simulator::new(config, nodes, pods).unwrap()
}

fn command(simulator: &mut Simulator, seconds: u64, command: Value) {
    let command: Command = serde_json::from_value(command).unwrap();
    simulator.handle_command(Timestamp::from_secs(seconds), command).unwrap();
}

/// All that happens until then.
fn run(simulator: &mut Simulator, seconds: u64) -> Vec<Event> {
    simulator.advance_to(Timestamp::from_secs(seconds)).unwrap();
    simulator.drain_events()
}

/// When the node's `Ready` becomes another.
fn unknown_at(events: &[Event], name: &str) -> f64 {
    let is_unknown = |event: &&Event| {
        matches!(&event.what, EventKind::NodeConditionChanged { node, condition, .. }
            if node.as_str() == name && condition == "Ready")
    };
    events.iter().find(is_unknown).unwrap().at.since_zero().as_secs_f64()
}

/// A pass that writes a status is longer than others. It still knows the heartbeats that the passes
/// before it saw of other nodes.
#[test]
fn a_node_that_is_lost_after_another_one_is_found_as_soon_as_alone() {
    for minor in [18, 20, 26, 31, 32, 35] {
        let found = |others: &[(&str, u64)]| {
            let mut simulator = cluster(minor, 4, &[]);
            for (node, at) in others {
                command(&mut simulator, *at, json!({"cutNetwork": {"node": node}}));
            }
            let events = run(&mut simulator, 150);
            (unknown_at(&events, "n2"), events)
        };
        for cut in [45, 50, 55, 60] {
            let (alone, _) = found(&[("n2", cut)]);
            let (after, events) = found(&[("n1", 28), ("n2", cut)]);
            assert!(unknown_at(&events, "n1") < after, "1.{minor} {cut}: {events:?}");
            assert!((after - alone).abs() < 0.1, "1.{minor} {cut}: {alone} alone, {after} after");
        }
    }
}

/// The passes of the garbage collector take some time, so the third one after a deletion comes when
/// the quarantine is over.
#[test]
fn pods_of_a_deleted_node_go_with_the_third_pass() {
    for minor in [18, 26, 35] {
        let pod = json!({"metadata": {"name": "p"}, "spec": {"nodeName": "n0"}});
        let mut simulator = cluster(minor, 2, &[pod]);
        command(&mut simulator, 3, json!({"stopKubelet": {"node": "n0"}}));
        command(&mut simulator, 61, json!({"deleteNode": {"node": "n0"}}));
        let events = run(&mut simulator, 200);
        let gone = |event: &&Event| matches!(event.what, EventKind::PodDeleted { .. });
        let gone = events.iter().find(gone).unwrap().at;
        // It misses the node at 80 s, and again at 100 s and 120 s.
        assert_eq!(gone, Timestamp::from_secs(120), "1.{minor}");
    }
}

/// What puts Events together is in the memory of a process: after a restart the same message is a
/// new Event.
#[test]
fn a_restarted_controller_manager_counts_its_events_anew() {
    for minor in [20, 35] {
        let mut simulator = cluster(minor, 1, &[]);
        let mut events = run(&mut simulator, 10);
        command(&mut simulator, 10, json!("restartControllerManager"));
        events.extend(run(&mut simulator, 30));
        let outcome = kubectl(&Context::new(&simulator, &events), "kubectl get events", None);
        let lines: Vec<&str> =
            outcome.stdout.lines().filter(|line| line.contains("RegisteredNode")).collect();
        assert_eq!(lines.len(), 2, "1.{minor}: {}", outcome.stdout);
        assert!(lines[0].starts_with("30s ") && lines[1].starts_with("20s "), "{lines:?}");
    }
}
