//! Nodes that are shut down, and start again: what becomes of their pods.

use serde_json::{Value, json};
use taintlab_core::api::{ConditionStatus, Pod, PodKey, PodPhase};
use taintlab_core::command::Command;
use taintlab_core::event::{Event, EventKind};
use taintlab_core::kubelet::pod_columns::PodColumns;
use taintlab_core::kubelet::pod_status::pod_as_served;
use taintlab_core::kubelet::{NodePower, NodeShutdownReport};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scenario::Scenario;
use taintlab_core::simulator::Simulator;
use taintlab_core::time::Timestamp;

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_secs(seconds)
}

fn pod(name: &str, node: &str, more: Value) -> Value {
    let mut spec = json!({
        "nodeName": node, "terminationGracePeriodSeconds": 5, "tolerations": [{ "operator": "Exists" }],
    });
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let conditions = json!([
        { "type": "Ready", "status": "True" }, { "type": "ContainersReady", "status": "True" },
    ]);
    json!({
        "metadata": { "name": name }, "spec": spec,
        "status": { "phase": "Running", "conditions": conditions },
    })
}

/// Two nodes with a control plane; kubelets wait for 30 s, of which 10 are for critical pods.
fn cluster(release: &str, pods: Value, kubernetes: Value) -> Simulator {
    let mut settings = json!({
        "release": release,
        "controlPlane": true,
        "kubeletConfiguration": {
            "shutdownGracePeriod": "30s", "shutdownGracePeriodCriticalPods": "10s",
        },
    });
    settings.as_object_mut().unwrap().extend(kubernetes.as_object().unwrap().clone());
    let scenario: Scenario = serde_json::from_value(json!({
        "apiVersion": "taintlab/v1", "kind": "Scenario",
        "kubernetes": settings,
        "objects": { "nodes": [{ "metadata": { "name": "a" } }, { "metadata": { "name": "b" } }],
            "pods": pods },
    }))
    .unwrap();
    scenario.simulator().unwrap()
}

fn give(simulator: &mut Simulator, seconds: u64, command: Value) {
    let command: Command = serde_json::from_value(command).unwrap();
    simulator.handle_command(at(seconds), command).unwrap();
    simulator.advance_to(at(seconds)).unwrap();
}

fn shut_down(simulator: &mut Simulator, seconds: u64) {
    give(simulator, seconds, json!({ "shutDownNode": { "node": "a" } }));
}

/// The column RESTARTS of a pod, and whether it is known when its containers had last ended.
fn restarts(simulator: &Simulator, name: &str) -> (i64, bool) {
    let pod = pod_as_served(KubernetesRelease::NEWEST, object(simulator, name).unwrap(), None);
    let columns = PodColumns::of(KubernetesRelease::NEWEST, &pod);
    (columns.restarts, columns.last_restart.is_some())
}

fn object<'a>(simulator: &'a Simulator, name: &str) -> Option<&'a Pod> {
    simulator.cluster().get_pod(&PodKey::new("default", name)).map(AsRef::as_ref)
}

/// Phase, reason and whether it is ready: `Running  ready`.
fn state(simulator: &Simulator, name: &str) -> String {
    let Some(pod) = object(simulator, name) else { return "gone".into() };
    let ready = |type_| {
        let condition = pod.condition(type_);
        condition.is_some_and(|condition| condition.status == ConditionStatus::True)
    };
    let words = match (ready("Ready"), ready("ContainersReady")) {
        (true, true) => "ready",
        (false, true) => "marked",
        _ => "not ready",
    };
    format!("{:?} {} {words}", pod.status.phase, pod.status.reason)
}

fn power(simulator: &Simulator, node: &str) -> NodePower {
    simulator.node_view(node).unwrap().power
}

#[test]
fn the_node_is_off_when_its_pods_have_ended() {
    let pods = json!([
        pod("short", "a", json!({})),
        pod("long", "a", json!({ "terminationGracePeriodSeconds": 600 })),
        pod("critical", "a", json!({ "priority": 2_000_000_000 })),
        pod("other", "b", json!({})),
    ]);
    let mut simulator = cluster("1.34", pods, json!({}));
    shut_down(&mut simulator, 10);
    let not_ready = simulator.cluster().get_node("a").unwrap().condition("Ready").unwrap().clone();
    assert_eq!(not_ready.status, ConditionStatus::False);
    assert_eq!(not_ready.reason, "KubeletNotReady");
    assert_eq!(not_ready.message, "node is shutting down");
    for (second, short, long, critical, off) in [
        (14, "Running  ready", "Running  ready", "Running  ready", false),
        (15, "Failed Terminated not ready", "Running  ready", "Running  ready", false),
        (29, "Failed Terminated not ready", "Running  ready", "Running  ready", false),
        (30, "Failed Terminated not ready", "Failed Terminated not ready", "Running  ready", false),
        (34, "Failed Terminated not ready", "Failed Terminated not ready", "Running  ready", false),
        (
            35,
            "Failed Terminated not ready",
            "Failed Terminated not ready",
            "Failed Terminated not ready",
            true,
        ),
    ] {
        simulator.advance_to(at(second)).unwrap();
        let got = ["short", "long", "critical"].map(|name| state(&simulator, name));
        // The node is not ready, so that its pods are not either; their containers are.
        let got = got.map(|text| text.replace("marked", "ready"));
        assert_eq!(got, [short, long, critical], "{second}");
        let expected = if off { NodePower::Off } else { NodePower::ShuttingDown };
        assert_eq!(power(&simulator, "a"), expected, "{second}");
        assert_eq!(state(&simulator, "other"), "Running  ready");
    }
    give(&mut simulator, 60, json!({ "startKubelet": { "node": "a" } }));
    assert_eq!(power(&simulator, "a"), NodePower::On);
    simulator.advance_to(at(600)).unwrap();
    assert_eq!(state(&simulator, "short"), "Failed Terminated not ready", "it is never started");
}

#[test]
fn what_a_node_that_was_off_starts_again() {
    let pods = json!([
        pod("always", "a", json!({})),
        pod("once", "a", json!({ "restartPolicy": "Never" })),
        pod("retried", "a", json!({ "restartPolicy": "OnFailure" })),
        pod("deleted", "a", json!({})),
    ]);
    let mut simulator = cluster("1.34", pods, json!({}));
    give(&mut simulator, 10, json!({ "powerOffNode": { "node": "a" } }));
    assert_eq!(power(&simulator, "a"), NodePower::Off);
    give(&mut simulator, 20, json!({ "deletePod": { "pod": "default/deleted" } }));
    simulator.advance_to(at(200)).unwrap();
    assert!(object(&simulator, "deleted").unwrap().is_terminating(), "nobody confirms it");
    for name in ["always", "once", "retried"] {
        assert_eq!(state(&simulator, name), "Running  marked", "{name}");
    }
    give(&mut simulator, 200, json!({ "startKubelet": { "node": "a" } }));
    assert_eq!(state(&simulator, "always"), "Running  not ready");
    assert_eq!(state(&simulator, "retried"), "Running  not ready");
    assert_eq!(state(&simulator, "once"), "Failed  not ready");
    assert_eq!(state(&simulator, "deleted"), "gone", "there are no containers to wait for");
    simulator.advance_to(at(201)).unwrap();
    assert_eq!(state(&simulator, "always"), "Running  not ready");
    simulator.advance_to(at(202)).unwrap();
    assert_eq!(state(&simulator, "always"), "Running  ready");
    assert_eq!(state(&simulator, "retried"), "Running  ready");
    assert_eq!(state(&simulator, "once"), "Failed  not ready");
    for (name, expected) in [("always", (1, true)), ("retried", (1, true)), ("once", (0, false))] {
        assert_eq!(restarts(&simulator, name), expected, "{name}");
    }
    give(&mut simulator, 300, json!({ "powerOffNode": { "node": "a" } }));
    give(&mut simulator, 310, json!({ "startKubelet": { "node": "a" } }));
    assert_eq!(restarts(&simulator, "always"), (2, true));
}

/// Neither the network alone nor a kubelet that stops makes containers start again.
#[test]
fn only_a_node_that_was_off_starts_its_pods_again() {
    for (down, up) in [("stopKubelet", "startKubelet"), ("cutNetwork", "restoreNetwork")] {
        let pods = json!([pod("once", "a", json!({ "restartPolicy": "Never" }))]);
        let mut simulator = cluster("1.34", pods, json!({}));
        give(&mut simulator, 10, json!({ down: { "node": "a" } }));
        give(&mut simulator, 200, json!({ up: { "node": "a" } }));
        simulator.advance_to(at(220)).unwrap();
        assert_eq!(state(&simulator, "once"), "Running  ready", "{down}");
        assert_eq!(restarts(&simulator, "once"), (0, false), "{down}");
    }
}

#[test]
fn pods_that_were_starting_start_anew() {
    let kubernetes = json!({ "startUpTime": "60s" });
    let mut simulator = cluster("1.34", json!([]), kubernetes);
    let late = json!({ "metadata": { "name": "late" }, "spec": {
        "nodeName": "a", "tolerations": [{ "operator": "Exists" }],
    } });
    give(&mut simulator, 10, json!({ "createPod": late }));
    give(&mut simulator, 30, json!({ "powerOffNode": { "node": "a" } }));
    give(&mut simulator, 40, json!({ "startKubelet": { "node": "a" } }));
    for (second, phase) in [(70, "Pending"), (99, "Pending"), (100, "Running")] {
        simulator.advance_to(at(second)).unwrap();
        assert_eq!(format!("{:?}", object(&simulator, "late").unwrap().status.phase), phase);
    }
}

/// A pod that is bound to a node while it is shut down is refused; 1.20.2 starts it, and nobody
/// ends it before the node is off.
#[test]
fn pods_that_come_too_late_are_refused() {
    let gate = json!({ "featureGates": { "GracefulNodeShutdown": true } });
    for (release, kubernetes, expected) in [
        ("1.20", &gate, "Running "),
        ("1.21", &json!({}), "Failed Shutdown"),
        ("1.22", &json!({}), "Failed NodeShutdown"),
        ("1.35", &json!({}), "Failed NodeShutdown"),
    ] {
        let pods = json!([pod("first", "a", json!({ "terminationGracePeriodSeconds": 20 }))]);
        let mut simulator = cluster(release, pods, kubernetes.clone());
        shut_down(&mut simulator, 10);
        let late = json!({ "metadata": { "name": "late" }, "spec": {
            "nodeName": "a", "tolerations": [{ "operator": "Exists" }],
        } });
        give(&mut simulator, 12, json!({ "createPod": late }));
        simulator.advance_to(at(15)).unwrap();
        let late = object(&simulator, "late").unwrap();
        let got = format!("{:?} {}", late.status.phase, late.status.reason);
        assert_eq!(got, expected, "{release}");
        simulator.advance_to(at(31)).unwrap();
        assert_eq!(power(&simulator, "a"), NodePower::Off, "{release}");
    }
}

/// How long a pod takes to end: its grace period, or what it says, if that is shorter; for a
/// deletion as for a shutdown, and said by the pod or by a workload that made it.
#[test]
fn pods_end_in_the_time_that_they_say() {
    for (says, ends) in [(None, 15), (Some("2s"), 12), (Some("0s"), 10), (Some("60s"), 15)] {
        for down in [
            json!({ "deletePod": { "pod": "default/it" } }),
            json!({ "shutDownNode": { "node": "a" } }),
        ] {
            let mut it = pod("it", "a", json!({}));
            if let Some(says) = says {
                it["metadata"]["annotations"] = json!({ "taintlab/shutdown-time": says });
            }
            let mut simulator = cluster("1.34", json!([it]), json!({}));
            simulator.advance_to(at(10)).unwrap();
            give(&mut simulator, 10, down.clone());
            if ends > 10 {
                simulator.advance_to(at(ends - 1)).unwrap();
                assert!(state(&simulator, "it").starts_with("Running"), "{says:?} {down}");
            }
            simulator.advance_to(at(ends)).unwrap();
            assert!(!state(&simulator, "it").starts_with("Running"), "{says:?} {down}");
        }
    }
}

#[test]
fn a_time_to_end_that_cannot_be_read_is_refused() {
    let it = json!({ "metadata": { "name": "it", "annotations": {
        "taintlab/shutdown-time": "soon",
    } } });
    let mut simulator = cluster("1.34", json!([]), json!({}));
    let command: Command = serde_json::from_value(json!({ "createPod": it })).unwrap();
    let error = simulator.handle_command(at(1), command).unwrap_err().to_string();
    assert!(error.contains("metadata.annotations[taintlab/shutdown-time]"), "{error}");
}

/// A shutdown that was cancelled is over when the pods have ended, and pods are taken again.
#[test]
fn a_node_goes_on_after_a_cancelled_shutdown() {
    let mut simulator = cluster("1.34", json!([pod("first", "a", json!({}))]), json!({}));
    shut_down(&mut simulator, 11);
    give(&mut simulator, 12, json!({ "cancelShutdown": { "node": "a" } }));
    assert_eq!(power(&simulator, "a"), NodePower::ShuttingDown);
    simulator.advance_to(at(16)).unwrap();
    assert_eq!(state(&simulator, "first"), "Failed Terminated not ready");
    assert_eq!(power(&simulator, "a"), NodePower::On);
    let ready = |simulator: &Simulator| {
        let node = simulator.cluster().get_node("a").unwrap();
        node.condition("Ready").unwrap().status.clone()
    };
    assert_eq!(ready(&simulator), ConditionStatus::False, "until the next update of the status");
    simulator.advance_to(at(20)).unwrap();
    assert_eq!(ready(&simulator), ConditionStatus::True);
    let late = json!({ "metadata": { "name": "late" }, "spec": { "nodeName": "a" } });
    give(&mut simulator, 21, json!({ "createPod": late }));
    simulator.advance_to(at(23)).unwrap();
    assert_eq!(state(&simulator, "late"), "Running  ready");
}

/// What one kubelet is set to counts before what all are; periods of a command only if neither says
/// anything.
#[test]
fn the_settings_of_the_node_count() {
    let ends = |settings: Option<Value>, given: Option<&str>| {
        let slow = json!({ "terminationGracePeriodSeconds": 600 });
        let none = json!({ "kubeletConfiguration": {} });
        let all = if given.is_some() && settings.is_none() { none } else { json!({}) };
        let mut simulator = cluster("1.34", json!([pod("slow", "a", slow)]), all);
        if let Some(settings) = settings {
            let command = json!({ "node": "a", "configuration": settings });
            give(&mut simulator, 1, json!({ "configureKubelet": command }));
        }
        simulator.drain_events();
        let command = json!({ "node": "a", "shutdownGracePeriod": given });
        give(&mut simulator, 10, json!({ "shutDownNode": command }));
        simulator.advance_to(at(1_000)).unwrap();
        let off = |event: &Event| {
            let report = NodeShutdownReport::PoweredOff;
            matches!(&event.what, EventKind::NodeShutdown { report: known, .. } if *known == report)
        };
        let at = simulator.drain_events().into_iter().find(off).unwrap().at;
        at.since_zero().as_secs() - 10
    };
    let by_priority = json!({ "shutdownGracePeriodByPodPriority": [
        { "priority": 0, "shutdownGracePeriodSeconds": 45 },
    ] });
    assert_eq!(ends(None, None), 20);
    assert_eq!(ends(Some(by_priority.clone()), None), 45);
    assert_eq!(ends(Some(by_priority), Some("7s")), 45);
    assert_eq!(ends(Some(json!({})), None), 0);
    assert_eq!(ends(Some(json!({})), Some("7s")), 7);
    assert_eq!(ends(None, Some("7s")), 7);
}

/// A kubelet does not start with settings that cannot be: the command is refused.
#[test]
fn settings_that_cannot_be_are_refused() {
    let mut simulator = cluster("1.23", json!([]), json!({}));
    let command = json!({ "configureKubelet": { "node": "a", "configuration": {
        "shutdownGracePeriodByPodPriority": [{ "priority": 0, "shutdownGracePeriodSeconds": 5 }],
    } } });
    let command: Command = serde_json::from_value(command).unwrap();
    let error = simulator.handle_command(at(1), command).unwrap_err().to_string();
    assert!(
        error.contains("requires feature gate GracefulNodeShutdownBasedOnPodPriority"),
        "{error}"
    );
}

/// What a node that is off used is free, and is used again when it is on.
#[test]
fn usage_ends_with_the_node() {
    let mut simulator = cluster("1.34", json!([pod("p", "a", json!({}))]), json!({}));
    let resources = json!({ "node": "a", "capacity": { "memory": "1Gi" } });
    give(&mut simulator, 1, json!({ "setNodeResources": resources }));
    let usage =
        json!({ "pods": {}, "usage": { "containers": [{ "memory": { "constant": "512Mi" } }] } });
    give(&mut simulator, 2, json!({ "setPodUsage": usage }));
    let available = |simulator: &Simulator| {
        let view = simulator.eviction_view("a").unwrap();
        view.signals
            .iter()
            .find(|known| known.signal.name() == "memory.available")
            .unwrap()
            .available
    };
    assert_eq!(available(&simulator), 512 << 20);
    give(&mut simulator, 10, json!({ "powerOffNode": { "node": "a" } }));
    assert_eq!(available(&simulator), 1 << 30);
    give(&mut simulator, 20, json!({ "startKubelet": { "node": "a" } }));
    simulator.advance_to(at(30)).unwrap();
    assert_eq!(available(&simulator), 512 << 20);
    assert_eq!(object(&simulator, "p").unwrap().status.phase, PodPhase::Running);
}

/// To 1.23 a kubelet does not look at taints. One that starts is given all pods as if they were
/// new; one whose network is back does not.
#[test]
fn a_kubelet_that_starts_admits_its_pods_anew() {
    let start = ("stopKubelet", "startKubelet");
    let flags = json!({ "controllers": "*,-taint-eviction-controller" });
    for (release, (down, up), kept) in [
        ("1.35", start, false),
        ("1.35", ("stopKubelet", "restartKubelet"), false),
        ("1.35", ("powerOffNode", "startKubelet"), false),
        ("1.35", ("cutNetwork", "restoreNetwork"), true),
        ("1.35", ("restartKubelet", "restartKubelet"), false),
    ] {
        let pods = json!([
            pod("bare", "a", json!({ "tolerations": [] })),
            pod("tolerant", "a", json!({})),
        ]);
        let more = json!({ "controllerManagerFlags": flags });
        let mut simulator = cluster(release, pods, more);
        let taint = json!({ "key": "k", "effect": "NoExecute" });
        give(&mut simulator, 5, json!({ "taint": { "node": "a", "taint": taint } }));
        assert_eq!(state(&simulator, "bare"), "Running  ready", "nobody evicts it");
        give(&mut simulator, 10, json!({ down: { "node": "a" } }));
        give(&mut simulator, 20, json!({ up: { "node": "a" } }));
        simulator.advance_to(at(60)).unwrap();
        let what = format!("{release} {down} {up}");
        let expected = if kept { "Running  ready" } else { "Failed TaintToleration not ready" };
        assert_eq!(state(&simulator, "bare"), expected, "{what}");
        assert_eq!(state(&simulator, "tolerant"), "Running  ready", "{what}");
    }
    // One that is being deleted has no more time: its containers are not waited for.
    for (release, gone) in [("1.23", 205), ("1.24", 201)] {
        let pods = json!([pod("bare", "a", json!({ "tolerations": [] }))]);
        let mut simulator = cluster(release, pods, json!({}));
        give(&mut simulator, 10, json!({ "stopKubelet": { "node": "a" } }));
        simulator.advance_to(at(199)).unwrap();
        assert!(object(&simulator, "bare").unwrap().is_terminating(), "{release}");
        give(&mut simulator, 200, json!({ "startKubelet": { "node": "a" } }));
        simulator.advance_to(at(gone - 1)).unwrap();
        assert!(object(&simulator, "bare").is_some(), "{release}");
        simulator.advance_to(at(gone)).unwrap();
        assert!(object(&simulator, "bare").is_none(), "{release}");
    }
}
