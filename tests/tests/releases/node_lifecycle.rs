//! What the node lifecycle controller and the pod garbage collector do differently from release to
//! release.

use serde_json::json;
use taintlab_core::api::Node;
use taintlab_core::command::Command;
use taintlab_core::event::{Event, EventKind};
use taintlab_core::release::{KubernetesRelease, Requeue};
use taintlab_core::simulator::{HealthPassTime, Simulator, SimulatorConfig};
use taintlab_core::time::Timestamp;

use super::Difference;

/// `Ready` of a node 1 s and 10 s after its kubelet was restarted.
fn ready_after_restart(release: KubernetesRelease) -> String {
    let config = SimulatorConfig { release, node_lifecycle: true, ..SimulatorConfig::default() };
    let node: Node = serde_json::from_value(json!({"metadata": {"name": "n"}})).unwrap();
    let mut simulator = Simulator::new(config, [node], []).unwrap();
    let restart = Command::RestartKubelet { node: "n".into() };
    simulator.handle_command(Timestamp::from_secs(3), restart).unwrap();
    let mut ready = |at| {
        simulator.advance_to(Timestamp::from_secs(at)).unwrap();
        let node = simulator.cluster().get_node("n").unwrap();
        let ready = node.status.conditions.iter().find(|one| one.type_ == "Ready").unwrap();
        format!("{:?} {}", ready.status, ready.message)
    };
    format!("{}; {}", ready(4), ready(13))
}

/// How much later the last of nine nodes that are lost together becomes Unknown than the first.
fn time_to_write_nine_nodes(release: KubernetesRelease) -> String {
    let config = SimulatorConfig {
        release,
        node_lifecycle: true,
        health_pass: HealthPassTime::MEASURED,
        ..SimulatorConfig::default()
    };
    let node = |name: &String| serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
    let names: Vec<String> = (0..10).map(|number| format!("n{number}")).collect();
    let mut simulator = Simulator::new(config, names.iter().map(node), []).unwrap();
    for name in names.iter().skip(1) {
        let stop = Command::StopKubelet { node: name.as_str().into() };
        simulator.handle_command(Timestamp::from_secs(3), stop).unwrap();
    }
    simulator.advance_to(Timestamp::from_secs(90)).unwrap();
    let unknown = |event: &Event| matches!(&event.what, EventKind::NodeConditionChanged { condition, .. } if condition == "Ready");
    let events: Vec<Event> = simulator.drain_events();
    let mut at = events.iter().filter(|event| unknown(event)).map(|event| event.at);
    let (first, last) = (at.next().unwrap(), at.next_back().unwrap());
    let between = last.since_zero().saturating_sub(first.since_zero());
    taintlab_core::time::format_duration(between)
}

pub(super) const DIFFERENCES: &[Difference] = &[
    Difference {
        name: "kubelet_starts_not_ready",
        last: "1.30",
        before: "False container runtime status check may not have completed yet; \
            True kubelet is posting ready status",
        after: "True kubelet is posting ready status; True kubelet is posting ready status",
        observe: ready_after_restart,
    },
    Difference {
        name: "collects_pods_out_of_service",
        last: "1.25",
        before: "false",
        after: "true",
        observe: |release| release.collects_pods_out_of_service().to_string(),
    },
    Difference {
        name: "detaches_by_force_from_unhealthy_nodes_only",
        last: "1.25",
        before: "false",
        after: "true",
        observe: |release| release.detaches_by_force_from_unhealthy_nodes_only().to_string(),
    },
    Difference {
        name: "node_monitor_grace_period_seconds",
        last: "1.31",
        before: "40",
        after: "50",
        observe: |release| release.node_monitor_grace_period_seconds().to_string(),
    },
    Difference {
        name: "excludes_masters_by_name",
        last: "1.20",
        before: "true",
        after: "false",
        observe: |release| release.excludes_masters_by_name().to_string(),
    },
    Difference {
        name: "awaits_missing_ready_condition",
        last: "1.20",
        before: "false",
        after: "true",
        observe: |release| release.awaits_missing_ready_condition().to_string(),
    },
    Difference {
        name: "node_health_workers",
        last: "1.26",
        before: "200ms",
        after: "25ms",
        observe: time_to_write_nine_nodes,
    },
    Difference {
        name: "node_lifecycle_controller_name",
        last: "1.27",
        before: "nodelifecycle",
        after: "node-lifecycle-controller",
        observe: |release| release.node_lifecycle_controller_name().to_string(),
    },
    Difference {
        name: "requeue",
        last: "1.18",
        before: "keeps its place",
        after: "is queued again",
        observe: |release| match release.requeue() {
            Requeue::KeepsPlace => "keeps its place".to_owned(),
            Requeue::Duplicates | Requeue::MovesBack => "is queued again".to_owned(),
        },
    },
    Difference {
        name: "requeue",
        last: "1.20",
        before: "once in the queue or more",
        after: "once in the queue",
        observe: |release| match release.requeue() {
            Requeue::KeepsPlace | Requeue::Duplicates => "once in the queue or more".to_owned(),
            Requeue::MovesBack => "once in the queue".to_owned(),
        },
    },
    Difference {
        name: "has_out_of_service_taint",
        last: "1.25",
        before: "false",
        after: "true",
        observe: |release| release.has_out_of_service_taint().to_string(),
    },
];
