//! Preemption in a simulation: who goes, when the pod that needs the room gets it, and what is
//! said.

use serde_json::{Value, json};
use taintlab_core::api::{Node, Pod, PodDisruptionBudget, PodKey, PriorityClass};
use taintlab_core::command::Command;
use taintlab_core::event::EventKind;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scenario::Scenario;
use taintlab_core::simulator::{InitialState, Simulator, SimulatorConfig};
use taintlab_core::time::Timestamp;
use taintlab_manifest::{Limits, import};

fn node(name: &str) -> Node {
    serde_json::from_value(json!({
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {
            "allocatable": {"cpu": "1", "memory": "1Gi", "pods": 9},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }))
    .unwrap()
}

fn pod(name: &str, on: &str, cpu: &str, class: &str, priority: Option<i64>) -> Pod {
    let mut pod = json!({
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {"nodeName": on, "terminationGracePeriodSeconds": 5,
            "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]},
    });
    if !class.is_empty() {
        pod["spec"]["priorityClassName"] = class.into();
    }
    if let Some(priority) = priority {
        pod["spec"]["priority"] = priority.into();
    }
    if !on.is_empty() {
        pod["status"] = json!({"phase": "Running", "startTime": "2019-12-31T23:00:00Z",
            "conditions": [{"type": "Ready", "status": "True"}]});
    }
    serde_json::from_value(pod).unwrap()
}

fn class(name: &str, value: i64) -> PriorityClass {
    serde_json::from_value(json!({"metadata": {"name": name}, "value": value})).unwrap()
}

fn simulator(release: &str, nodes: &[Node], pods: Vec<Pod>, begin: InitialState) -> Simulator {
    let config = SimulatorConfig {
        release: KubernetesRelease::parse(release).unwrap(),
        node_lifecycle: true,
        control_plane: true,
        ..SimulatorConfig::default()
    };
    Simulator::beginning_with(config, nodes.to_vec(), pods, begin).unwrap()
}

fn key(name: &str) -> PodKey {
    PodKey::new("default", name)
}

/// What Kubernetes Events said of pods, with the second.
fn events(simulator: &mut Simulator) -> Vec<String> {
    let line = |event: &taintlab_core::event::Event| match &event.what {
        EventKind::EventRecorded(recorded) => {
            let second = event.at.since_zero().as_secs();
            Some(format!("{second} {} {}", recorded.reason, recorded.message))
        }
        _ => None,
    };
    simulator.drain_events().iter().filter_map(line).collect()
}

fn get<'a>(simulator: &'a Simulator, name: &str) -> Option<&'a Pod> {
    simulator.cluster().get_pod(&key(name)).map(AsRef::as_ref)
}

/// The less important of two pods goes with its grace period; the important one waits for it.
#[test]
fn a_pod_of_higher_priority_gets_room() {
    let classes = || vec![class("high", 1000), class("low", 10)];
    let begin = InitialState { priority_classes: classes(), ..InitialState::default() };
    let there = vec![pod("low", "n", "500m", "low", Some(10)), pod("none", "n", "500m", "", None)];
    for (release, words, reason) in [
        ("1.20", "Preempted by default/high on node n", None),
        ("1.26", "Preempted by default/high on node n", Some("PreemptionByKubeScheduler")),
        ("1.27", "Preempted by a pod on node n", Some("PreemptionByScheduler")),
        ("1.35", "Preempted by pod u on node n", Some("PreemptionByScheduler")),
    ] {
        let mut simulator = simulator(release, &[node("n")], there.clone(), begin.clone());
        let mut high = pod("high", "", "400m", "high", None);
        high.metadata.uid = "u".into();
        let at = Timestamp::from_secs(2);
        simulator.handle_command(at, Command::CreatePod(high)).unwrap();
        simulator.advance_to(at).unwrap();
        let high = get(&simulator, "high").unwrap();
        assert_eq!(high.spec.other.get("priority"), Some(&json!(1000)), "{release}");
        assert_eq!(high.nominated_node_name(), "n", "{release}");
        let victim = get(&simulator, "none").unwrap();
        assert!(victim.is_terminating(), "{release}");
        let condition = victim.condition("DisruptionTarget");
        assert_eq!(condition.map(|known| known.reason.as_str()), reason, "{release}");
        assert!(!get(&simulator, "low").unwrap().is_terminating(), "{release}");
        let said = events(&mut simulator);
        assert!(said.contains(&format!("2 Preempted {words}")), "{release}: {said:?}");
        simulator.advance_to(Timestamp::from_secs(20)).unwrap();
        assert!(get(&simulator, "none").is_none(), "{release}");
        assert_eq!(get(&simulator, "high").unwrap().spec.node_name, "n", "{release}");
        let said = events(&mut simulator);
        let bound = said.iter().find(|line| line.contains("Successfully assigned"));
        assert!(bound.unwrap().starts_with("7 "), "as soon as the room is there: {said:?}");
        assert_eq!(said.iter().filter(|line| line.contains("Preempted")).count(), 0, "{said:?}");
    }
}

/// Of nodes whose victims are alike the one is chosen whose victim started last; a pod that the
/// simulation has bound started then.
#[test]
fn the_pod_that_started_last_goes() {
    for release in ["1.20", "1.35"] {
        let begin =
            InitialState { priority_classes: vec![class("high", 1000)], ..InitialState::default() };
        let nodes = [node("n1"), node("n2")];
        let mut simulator = simulator(release, &nodes, Vec::new(), begin);
        for (second, name) in [(1, "early"), (4, "late")] {
            let create = Command::CreatePod(pod(name, "", "1", "", None));
            simulator.handle_command(Timestamp::from_secs(second), create).unwrap();
        }
        simulator.advance_to(Timestamp::from_secs(20)).unwrap();
        let create = Command::CreatePod(pod("high", "", "1", "high", None));
        simulator.handle_command(Timestamp::from_secs(20), create).unwrap();
        simulator.advance_to(Timestamp::from_secs(21)).unwrap();
        assert!(get(&simulator, "late").unwrap().is_terminating(), "{release}");
        assert!(!get(&simulator, "early").unwrap().is_terminating(), "{release}");
    }
}

/// A pod that is nominated keeps its nomination to 1.22 as long as preemption helps on some node,
/// even if room can be made nowhere.
#[test]
fn a_nomination_ends_when_room_can_be_made_nowhere() {
    for (release, nominated) in [("1.20", "n"), ("1.22", "n"), ("1.23", ""), ("1.35", "")] {
        let begin =
            InitialState { priority_classes: vec![class("high", 1000)], ..InitialState::default() };
        // The other pod is as important: it does not go.
        let mut waits = pod("high", "", "1", "high", Some(1000));
        waits.status.other.set("nominatedNodeName", "n".into());
        let there = vec![pod("a", "n", "1", "high", Some(1000)), waits];
        let mut simulator = simulator(release, &[node("n")], there, begin);
        simulator.advance_to(Timestamp::from_secs(2)).unwrap();
        assert_eq!(get(&simulator, "high").unwrap().nominated_node_name(), nominated, "{release}");
    }
}

/// While the room is made, nobody of lower priority takes it.
#[test]
fn room_is_kept_for_whom_it_was_made() {
    let begin = InitialState { priority_classes: vec![class("high", 1000)], ..Default::default() };
    let there = vec![pod("a", "n", "1", "", None)];
    let mut simulator = simulator("1.30", &[node("n")], there, begin);
    let at = Timestamp::from_secs(2);
    for new in [pod("high", "", "1", "high", None), pod("other", "", "1", "", None)] {
        simulator.handle_command(at, Command::CreatePod(new)).unwrap();
    }
    simulator.advance_to(Timestamp::from_secs(60)).unwrap();
    assert_eq!(get(&simulator, "high").unwrap().spec.node_name, "n");
    assert_eq!(get(&simulator, "other").unwrap().spec.node_name, "");
}

/// Of two nodes the one is chosen where no budget is violated.
#[test]
fn budgets_are_respected_where_possible() {
    let budget: PodDisruptionBudget = serde_json::from_value(json!({
        "metadata": {"name": "b", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}},
    }))
    .unwrap();
    let begin = InitialState {
        priority_classes: vec![class("high", 1000)],
        budgets: vec![budget],
        ..InitialState::default()
    };
    let there = vec![pod("a", "n1", "1", "", None), pod("b", "n2", "1", "", None)];
    let mut simulator = simulator("1.30", &[node("n1"), node("n2")], there, begin);
    let at = Timestamp::from_secs(2);
    let new = pod("high", "", "1", "high", None);
    simulator.handle_command(at, Command::CreatePod(new)).unwrap();
    simulator.advance_to(Timestamp::from_secs(20)).unwrap();
    assert_eq!(get(&simulator, "high").unwrap().spec.node_name, "n2");
    assert!(get(&simulator, "a").is_some() && get(&simulator, "b").is_none());
}

/// A class with `preemptionPolicy: Never` waits; so do equals.
#[test]
fn never_and_equals_wait() {
    let mut gentle = class("gentle", 1000);
    gentle.preemption_policy = "Never".into();
    for new in [pod("new", "", "1", "gentle", None), pod("new", "", "1", "", None)] {
        let begin = InitialState { priority_classes: vec![gentle.clone()], ..Default::default() };
        let there = vec![pod("a", "n", "1", "", None)];
        let mut simulator = simulator("1.30", &[node("n")], there, begin);
        let at = Timestamp::from_secs(2);
        simulator.handle_command(at, Command::CreatePod(new)).unwrap();
        simulator.advance_to(Timestamp::from_secs(60)).unwrap();
        assert!(!get(&simulator, "a").unwrap().is_terminating());
        assert_eq!(get(&simulator, "new").unwrap().nominated_node_name(), "");
    }
}

/// Classes: those given, the two of every cluster, the default, and those that running pods name.
#[test]
fn priority_comes_from_classes() {
    let mut default = class("default", 7);
    default.global_default = true;
    let begin = InitialState { priority_classes: vec![default], ..InitialState::default() };
    let there = vec![pod("a", "n", "100m", "known", Some(55))];
    let mut simulator = simulator("1.30", &[node("n")], there, begin);
    let mut create = |name: &str, class: &str, priority: Option<i64>| {
        let new = pod(name, "", "1m", class, priority);
        let created = simulator.handle_command(Timestamp::from_secs(2), Command::CreatePod(new));
        created.map(|()| get(&simulator, name).unwrap().spec.other.get("priority").cloned())
    };
    let priority = |value: i64| Ok(Some(Value::from(value)));
    assert_eq!(create("b", "", None), priority(7));
    assert_eq!(create("c", "system-node-critical", None), priority(2_000_001_000));
    assert_eq!(create("d", "known", None), priority(55));
    assert_eq!(create("e", "known", Some(55)), priority(55));
    let refused = create("f", "unknown", None).unwrap_err().to_string();
    assert!(refused.ends_with("no PriorityClass with name unknown was found"), "{refused}");
    let refused = create("g", "", Some(8)).unwrap_err().to_string();
    assert!(
        refused.contains("the integer value of priority (8) must not be provided"),
        "{refused}"
    );
}

/// `kubectl get pc -o yaml` is imported, and a scenario with it has the classes.
#[test]
fn classes_are_imported() {
    let manifests = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\n\
                     metadata: {name: high}\nvalue: 1000\npreemptionPolicy: Never\n\
                     description: for what must run\n";
    let import = import(manifests, "classes.yaml", &Limits::default());
    assert!(!import.has_errors(), "{:#?}", import.diagnostics);
    let mut scenario = Scenario::default();
    scenario.objects.others = import.others;
    scenario.kubernetes.control_plane = Some(true);
    let mut simulator = scenario.simulator().unwrap();
    let new = pod("new", "", "1m", "high", None);
    simulator.handle_command(Timestamp::ZERO, Command::CreatePod(new)).unwrap();
    let other = &get(&simulator, "new").unwrap().spec.other;
    assert_eq!(other.get("priority"), Some(&json!(1000)));
    assert_eq!(other.get("preemptionPolicy"), Some(&json!("Never")));
}
