//! What [`Simulator::record_or_forecast`] says before a node is tainted.

use serde_json::json;
use taintlab_core::api::{ConditionStatus, Node, NodeName, Pod, PodKey, TaintEffect, Workload};
use taintlab_core::command::Command;
use taintlab_core::policy::taints::kubectl::parse_taint;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::{InitialState, Simulator, SimulatorConfig};
use taintlab_core::time::Timestamp;

fn simulator() -> Simulator {
    let nodes = ["one", "two"].map(|name| -> Node {
        serde_json::from_value(json!({
            "metadata": {"name": name},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]},
        }))
        .unwrap()
    });
    let pod: Pod = serde_json::from_value(json!({
        "metadata": {"name": "web"},
        "spec": {"nodeName": "one", "tolerations": [{
            "key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute",
            "tolerationSeconds": 30}]},
    }))
    .unwrap();
    let config = SimulatorConfig { node_lifecycle: true, ..SimulatorConfig::default() };
    let mut simulator = Simulator::new(config, nodes, [pod]).unwrap();
    simulator.advance_to(Timestamp::from_secs(7)).unwrap();
    simulator
}

/// A taint that was added at this instant has not reached the controller yet.
#[test]
fn a_taint_has_a_forecast_at_once() {
    let web = PodKey::new("default", "web");
    let mut simulator = simulator();
    let taint = parse_taint("example.com/a:NoExecute").unwrap();
    let command = Command::Taint { node: "one".into(), taint };
    simulator.handle_command(Timestamp::from_secs(7), command).unwrap();
    let budget = simulator.record_or_forecast(&web, &mut None).unwrap();
    assert_eq!(budget.evicted_at, Timestamp::from_secs(7).into());
}

/// The next health pass will see it and the pass after that will taint it; until then nothing but a
/// look ahead can tell.
#[test]
fn a_node_that_reports_not_ready_has_a_forecast_before_its_taint() {
    let web = PodKey::new("default", "web");
    let mut simulator = simulator();
    assert_eq!(simulator.record_or_forecast(&web, &mut None), None, "nothing is wrong");

    let command = Command::SetNodeCondition {
        node: "one".into(),
        type_: "Ready".into(),
        status: ConditionStatus::False,
        reason: None,
        message: None,
    };
    simulator.handle_command(Timestamp::from_secs(7), command).unwrap();
    simulator.advance_to(Timestamp::from_secs(8)).unwrap();
    let taints = &simulator.cluster().get_node("one").unwrap().spec.taints;
    assert!(taints.iter().all(|taint| taint.effect != TaintEffect::NoExecute));
    let budget = simulator.record_or_forecast(&web, &mut None).unwrap();
    assert!(!budget.over);

    let forecast = budget.evicted_at;
    simulator.advance_to(Timestamp::from_secs(60)).unwrap();
    let record = simulator.record_or_forecast(&web, &mut None).unwrap();
    assert!(record.over);
    assert_eq!(record.evicted_at, forecast);
}

/// A StatefulSet makes a pod again under its name: what is told of the one that went is not told of
/// the one that is there.
#[test]
fn a_pod_made_again_has_a_record_of_its_own() {
    let nodes = ["one", "two"].map(|name| -> Node {
        serde_json::from_value(json!({
            "metadata": {"name": name},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "20"}},
        }))
        .unwrap()
    });
    let database: Workload = serde_json::from_value(json!({
        "kind": "StatefulSet", "metadata": {"name": "db"},
        "spec": {
            "replicas": 1, "selector": {"matchLabels": {"app": "db"}},
            "template": {
                "metadata": {"labels": {"app": "db"}},
                "spec": {"containers": [{"name": "db"}], "tolerations": [{
                    "key": "example.com/a", "operator": "Exists", "effect": "NoExecute",
                    "tolerationSeconds": 60}]},
            },
        },
    }))
    .unwrap();
    let release = KubernetesRelease::parse("1.34").unwrap();
    let config = SimulatorConfig::with_control_plane(release);
    let begin = InitialState { workloads: vec![database], ..InitialState::default() };
    let mut simulator = Simulator::beginning_with(config, nodes, [], begin).unwrap();
    simulator.advance_to(Timestamp::from_secs(60)).unwrap();

    let db = PodKey::new("default", "db-0");
    let node_of = |simulator: &Simulator| -> NodeName {
        simulator.cluster().get_pod(&db).unwrap().spec.node_name.as_str().into()
    };
    let taint = |simulator: &mut Simulator, second, taint| {
        let taint = parse_taint(taint).unwrap();
        let command = Command::Taint { node: node_of(simulator), taint };
        simulator.handle_command(Timestamp::from_secs(second), command).unwrap();
    };
    let first = node_of(&simulator);
    taint(&mut simulator, 60, "example.com/a:NoExecute");
    taint(&mut simulator, 60, "example.com/b:NoSchedule");
    let told = simulator.record_or_forecast(&db, &mut None).unwrap();
    assert_eq!(told.evicted_at, Timestamp::from_secs(120).into());

    simulator.advance_to(Timestamp::from_secs(200)).unwrap();
    assert_ne!(node_of(&simulator), first, "it runs elsewhere");
    assert_eq!(simulator.time_budget(&db), None, "that is about the pod before it");
    assert_eq!(simulator.record_or_forecast(&db, &mut None), None);
    assert_eq!(
        taintlab_core::simulator::last_time_budget(&simulator, &db).unwrap().evicted_at,
        told.evicted_at
    );
    assert_eq!(simulator.evictions().map(|(pod, _)| pod).collect::<Vec<_>>(), [&db]);

    taint(&mut simulator, 200, "example.com/a:NoExecute");
    simulator.advance_to(Timestamp::from_secs(201)).unwrap();
    let own = simulator.record_or_forecast(&db, &mut None).unwrap();
    assert!(!own.over);
    assert_eq!(own.evicted_at, Timestamp::from_secs(260).into());
    assert_eq!(simulator.time_budget(&db).unwrap().evicted_at, own.evicted_at);
}

/// A forecast tells of the pod that is there when it begins, also where the next pod of its name goes
/// before it ends.
#[test]
fn a_forecast_tells_of_the_pod_that_is_there() {
    let web = PodKey::new("default", "web");
    let mut simulator = simulator();
    let taint = |node: &str| {
        let taint = parse_taint("example.com/a:NoExecute").unwrap();
        Command::Taint { node: node.into(), taint }
    };
    simulator.handle_command(Timestamp::from_secs(7), taint("one")).unwrap();
    simulator.advance_to(Timestamp::from_secs(60)).unwrap();
    let first = simulator.time_budget(&web).unwrap();
    assert!(first.over, "it is gone, and nothing has its name");

    let mut pod: Pod = serde_json::from_value(json!({
        "metadata": {"name": "web"},
        "spec": {"nodeName": "two", "tolerations": [{
            "key": "example.com/a", "operator": "Exists", "effect": "NoExecute",
            "tolerationSeconds": 30}]},
    }))
    .unwrap();
    simulator.handle_command(Timestamp::from_secs(60), Command::CreatePod(pod.clone())).unwrap();
    assert_eq!(simulator.time_budget(&web), None);
    assert_eq!(simulator.record_or_forecast(&web, &mut None), None);
    assert_eq!(taintlab_core::simulator::last_time_budget(&simulator, &web), Some(first));

    simulator.handle_command(Timestamp::from_secs(60), taint("two")).unwrap();
    let second = simulator.look_ahead().time_budget(&web).unwrap();
    assert_eq!(second.evicted_at, Timestamp::from_secs(90).into());
    assert_eq!(simulator.record_or_forecast(&web, &mut None), Some(second.clone()));

    // A timer goes by the name: who takes it over by an update takes over the time.
    simulator.advance_to(Timestamp::from_secs(61)).unwrap();
    pod.metadata.uid = "another".into();
    simulator.handle_command(Timestamp::from_secs(61), Command::UpdatePod(pod)).unwrap();
    simulator.advance_to(Timestamp::from_secs(62)).unwrap();
    let taken_over = simulator.record_or_forecast(&web, &mut None).unwrap();
    assert_eq!(taken_over.evicted_at, second.evicted_at);
}
