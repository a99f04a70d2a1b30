//! What the node lifecycle controller and the pod garbage collector do differently from release to
//! release.

use std::time::Duration;

use serde_json::{Value, json};
use taintlab_core::api::{ConditionStatus, Node, Pod, TaintEffect};
use taintlab_core::command::Command;
use taintlab_core::controllers::node_lifecycle::NodeLifecycleConfig;
use taintlab_core::event::{Event, EventKind};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::{HealthPassTime, Simulator, SimulatorConfig};
use taintlab_core::time::Timestamp;

use super::Difference;
use crate::scheduling;

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

/// Nodes with kubelets, in a whole control plane, and pods on the first of them.
fn cluster(release: KubernetesRelease, nodes: &[&str], pods: &[&str]) -> Simulator {
    cluster_with(release, nodes, pods, &[])
}

/// The same with flags of the controller manager.
fn cluster_with(
    release: KubernetesRelease,
    nodes: &[&str],
    pods: &[&str],
    flags: &[(&str, &str)],
) -> Simulator {
    let pod = |name: &&str| -> Pod {
        let pod = json!({"metadata": {"name": name, "namespace": "default"},
                         "spec": {"nodeName": nodes[0], "tolerations": [{"operator": "Exists"}]}});
        serde_json::from_value(pod).unwrap()
    };
    let node = |name: &&str| -> Node {
        serde_json::from_value(json!({"metadata": {"name": name}})).unwrap()
    };
    let mut config = SimulatorConfig::with_control_plane(release);
    let flags = flags.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    config.controller_manager_flags = flags.collect();
    Simulator::new(config, nodes.iter().map(node), pods.iter().map(pod)).unwrap()
}

fn at(seconds: f64) -> Timestamp {
    Timestamp::ZERO.saturating_add(Duration::from_secs_f64(seconds))
}

fn advance(simulator: &mut Simulator, seconds: f64) {
    simulator.advance_to(at(seconds)).unwrap();
}

fn command(simulator: &mut Simulator, seconds: f64, command: Value) {
    simulator.handle_command(at(seconds), serde_json::from_value(command).unwrap()).unwrap();
}

/// The key of the `NoExecute` taint of a node.
fn no_execute(simulator: &Simulator, node: &str) -> String {
    let node = simulator.cluster().get_node(node).unwrap();
    let mut taints = node.spec.taints.iter();
    let taint = taints.find(|taint| taint.effect == TaintEffect::NoExecute);
    taint.map(|taint| taint.key.clone()).unwrap_or_default()
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
    let unknown = |event: &Event| {
        let EventKind::NodeConditionChanged { condition, .. } = &event.what else { return false };
        condition == "Ready"
    };
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
        name: "has_out_of_service_taint",
        last: "1.25",
        before: "there",
        after: "gone",
        observe: |release| {
            // The kubelet is lost, and the administrator says that the node is.
            let mut simulator = cluster(release, &["n"], &["p"]);
            command(&mut simulator, 3.0, json!({"stopKubelet": {"node": "n"}}));
            command(&mut simulator, 100.0, json!({"deletePod": {"pod": "p"}}));
            let taint = json!({"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"});
            let taint = json!({"setTaints": {"node": "n", "taints": [taint]}});
            command(&mut simulator, 200.0, taint);
            simulator.advance_to(Timestamp::from_secs(240)).unwrap();
            let left = simulator.cluster().pod_count();
            (if left == 0 { "gone" } else { "there" }).to_owned()
        },
    },
    Difference {
        name: "detaches_by_force_from_unhealthy_nodes_only",
        last: "1.24",
        before: "after 360 s",
        after: "never",
        observe: |release| {
            let node = scheduling::node("n", "a", true);
            let detached = scheduling::detached_after(release, Some(node), true);
            detached.map_or_else(|| "never".to_owned(), |seconds| format!("after {seconds} s"))
        },
    },
    Difference {
        name: "node_monitor_grace_period_seconds",
        last: "1.31",
        before: "45 s",
        after: "55 s",
        observe: |release| {
            let mut simulator = cluster(release, &["n"], &[]);
            command(&mut simulator, 3.0, json!({"stopKubelet": {"node": "n"}}));
            let ready = |simulator: &Simulator| {
                let node = simulator.cluster().get_node("n").unwrap();
                node.status
                    .conditions
                    .iter()
                    .any(|it| it.type_ == "Ready" && it.status == ConditionStatus::True)
            };
            let mut seconds = 3;
            while ready(&simulator) {
                seconds += 1;
                simulator.advance_to(Timestamp::from_secs(seconds)).unwrap();
            }
            format!("{seconds} s")
        },
    },
    Difference {
        name: "excludes_masters_by_name",
        last: "1.20",
        before: "",
        after: "node.kubernetes.io/unreachable",
        observe: |release| {
            // If the master does not count, its zone is lost as a whole, and nothing is tainted.
            let mut simulator = cluster(release, &["master", "n"], &[]);
            command(&mut simulator, 3.0, json!({"stopKubelet": {"node": "n"}}));
            simulator.advance_to(Timestamp::from_secs(100)).unwrap();
            no_execute(&simulator, "n")
        },
    },
    Difference {
        name: "awaits_missing_ready_condition",
        last: "1.29",
        before: "WouldCrash",
        after: "NoReadyCondition",
        observe: |release| {
            // While the second node waits to be tainted, somebody removes its conditions: a health
            // pass would write one, but the second token comes between two of them.
            let rate = [("node-eviction-rate", "0.13")];
            let mut simulator = cluster_with(release, &["a", "b", "c", "d", "e", "f"], &[], &rate);
            for node in ["a", "b"] {
                command(&mut simulator, 3.0, json!({"stopKubelet": {"node": node}}));
            }
            let waits = |simulator: &Simulator, node: &str| no_execute(simulator, node).is_empty();
            let mut now = 40.0;
            while waits(&simulator, "a") && waits(&simulator, "b") {
                now += 0.1;
                advance(&mut simulator, now);
            }
            let second = if waits(&simulator, "a") { "a" } else { "b" };
            advance(&mut simulator, now + 7.0);
            let mut bare = Node::clone(simulator.cluster().get_node(second).unwrap());
            bare.status.conditions.clear();
            command(&mut simulator, now + 7.0, json!({"updateNode": bare}));
            simulator.drain_events();
            advance(&mut simulator, now + 9.0);
            let outcome = simulator.drain_events().into_iter().find_map(|event| match event.what {
                EventKind::NodeDequeued { outcome, .. } => Some(format!("{outcome:?}")),
                _ => None,
            });
            outcome.unwrap_or_default()
        },
    },
    Difference {
        name: "taints_by_written_condition",
        last: "1.33",
        before: "5 s later",
        after: "at once",
        observe: |release| {
            let mut simulator = cluster(release, &["a", "b", "c", "d"], &[]);
            command(&mut simulator, 3.0, json!({"stopKubelet": {"node": "a"}}));
            let unknown = |simulator: &Simulator| {
                let node = simulator.cluster().get_node("a").unwrap();
                node.status.conditions.iter().any(|it| it.status == ConditionStatus::Unknown)
            };
            let mut now = 30.0;
            while !unknown(&simulator) {
                now += 0.5;
                advance(&mut simulator, now);
            }
            advance(&mut simulator, now + 1.0);
            let tainted = !no_execute(&simulator, "a").is_empty();
            advance(&mut simulator, now + 6.0);
            assert!(!no_execute(&simulator, "a").is_empty());
            (if tainted { "at once" } else { "5 s later" }).to_owned()
        },
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
        before: "*,-nodelifecycle",
        after: "*,-node-lifecycle-controller",
        observe: |release| {
            let mut config = NodeLifecycleConfig::of(release);
            let error = config.set_flag(release, "controllers", "!").unwrap_err().to_string();
            error.split('`').rev().nth(1).unwrap().to_owned()
        },
    },
    Difference {
        name: "requeue",
        last: "1.18",
        before: "",
        after: "node.kubernetes.io/unreachable",
        observe: |release| {
            // The taint of a node that has been tainted is removed by hand.
            let mut simulator = cluster(release, &["a", "b", "c", "d", "e", "f"], &[]);
            command(&mut simulator, 3.0, json!({"stopKubelet": {"node": "a"}}));
            command(&mut simulator, 100.0, json!({"setTaints": {"node": "a", "taints": []}}));
            advance(&mut simulator, 200.0);
            no_execute(&simulator, "a")
        },
    },
    Difference {
        name: "requeue",
        last: "1.20",
        before: "a b b b",
        after: "a b",
        observe: |release| {
            // Of two nodes that are lost at once the second waits for a token.
            let mut simulator = cluster(release, &["a", "b", "c", "d", "e", "f"], &[]);
            for node in ["a", "b"] {
                command(&mut simulator, 3.0, json!({"stopKubelet": {"node": node}}));
            }
            advance(&mut simulator, 150.0);
            let nodes = simulator.drain_events().into_iter().filter_map(|event| match event.what {
                EventKind::NodeDequeued { node, .. } => Some(node.to_string()),
                _ => None,
            });
            nodes.collect::<Vec<_>>().join(" ")
        },
    },
];
