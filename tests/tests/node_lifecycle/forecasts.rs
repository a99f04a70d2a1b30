//! What [`Simulator::record_or_forecast`] says before a node is tainted.

use serde_json::json;
use taintlab_core::api::{ConditionStatus, Node, Pod, PodKey, TaintEffect};
use taintlab_core::command::Command;
use taintlab_core::policy::taints::kubectl::parse_taint;
use taintlab_core::simulator::{Simulator, SimulatorConfig};
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
