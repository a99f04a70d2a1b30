//! `taintlab mcp`: the limits of its answers. The protocol, and that the figures are those of the
//! commands, are tested beside the program.

use std::sync::Arc;

use serde_json::{Value, json};
use taintlab_command::{Reply, Tools};

use super::host::{taintlab, tools};

const NODE_AND_POD: &str = "\
apiVersion: v1
kind: Node
metadata: {name: nNUMBER}
status: {nodeInfo: {kubeletVersion: v1.34.2}}
---
apiVersion: v1
kind: Pod
metadata: {name: pNUMBER}
spec: {nodeName: nNUMBER, containers: [{name: c}]}
status: {phase: Running}
---
";

/// Nodes with a pod on each.
fn cluster(nodes: usize) -> String {
    (0..nodes).map(|number| NODE_AND_POD.replace("NUMBER", &number.to_string())).collect()
}

fn ask(tools: &Arc<dyn Tools>, tool: &str, arguments: Value) -> Reply {
    tools.call(tool, arguments, &|| false)
}

#[test]
fn a_question_that_would_take_too_long_is_refused_with_another_one() {
    let said = ask(&tools(&cluster(501)), "report", json!({ "domains": ["node"] }));
    assert!(said.figures.is_none());
    let part =
        "it would take 501 runs, and at most 500 are made for a chat; ask with fewer domains";
    assert!(said.text.contains(part), "{}", said.text);
}

#[test]
fn a_call_that_is_broken_off_says_how_far_it_came() {
    let tools = tools(&cluster(3));
    for (tool, arguments, part) in [
        ("report", json!({}), "broken off after 45s, 0 of 3 runs made: ask with fewer domains"),
        ("simulate", json!({ "until": "1h" }), "broken off after 45s, at 0s: ask with an earlier"),
        (
            "plan",
            json!({ "act": "drain", "nodes": ["n0", "n1"] }),
            "broken off after 45s, with 1 order",
        ),
    ] {
        let reply = tools.call(tool, arguments, &|| true);
        assert!(reply.text.contains(part), "{}", reply.text);
        let limits = reply.figures.unwrap()["limits"].to_string();
        assert!(limits.contains(part), "{limits}");
    }
}

#[test]
fn a_long_answer_is_cut_and_says_so() {
    let tools = tools(&cluster(501));
    let lines = json!([{ "line": "delete pods --all" }, { "line": "get pods", "at": "1m" }]);
    let reply = ask(&tools, "simulate", json!({ "lines": lines, "until": "2m" }));
    assert!(reply.text.len() < 7_500, "{}", reply.text.len());
    let figures = reply.figures.unwrap();
    assert_eq!(figures["events"].as_array().unwrap().len(), 30);
    let limits = figures["limits"].to_string();
    assert!(limits.contains("more events left out: ask with an earlier until"), "{limits}");
    // A large cluster does not fit into a link.
    assert!(figures.get("link").is_none());
    assert!(reply.text.contains("No link: the cluster is too large"), "{}", reply.text);
    let schedule = ask(&tools, "why_pending", json!({ "pod": "default/p7" }));
    assert!(schedule.text.contains("more lines left out"), "{}", schedule.text);
    assert!(schedule.text.contains("471 more nodes left out"), "{}", schedule.text);
}

const SCENARIO: &str = "\
apiVersion: taintlab/v1
kind: Scenario
metadata: {name: waits}
kubernetes: {release: '1.34'}
objects:
  nodes: [{kind: Node, metadata: {name: a}, spec: {taints: [{key: x, effect: NoSchedule}]}}]
  nodeGroups: [{name: g, count: 2, podsPerNode: 1, pod: {metadata: {name: p}}}]
  pods: [{kind: Pod, metadata: {name: q}, spec: {nodeSelector: {k: v}, containers: [{name: c}]}}]
";

/// The command that an answer names answers the same of a scenario.
#[test]
fn a_scenario_is_asked_as_manifests_are() {
    let tools = tools(SCENARIO);
    let reply = ask(&tools, "why_pending", json!({ "pod": "q" })).figures.unwrap();
    let line = "schedule --release=1.34 --json --nodes=cluster.yaml -- default/q";
    assert_eq!(reply["command"], format!("taintlab {line}"));
    let ran = taintlab(line, &[("cluster.yaml", SCENARIO)]);
    let decision: Value =
        serde_json::from_str(&ran.out).unwrap_or_else(|why| panic!("{why}: {ran:?}"));
    assert_eq!(reply["verdicts"], decision["verdicts"]);
    assert_eq!((&reply["message"], &reply["nodes"]), (&decision["message"], &json!(3)));
    assert!(reply["message"].as_str().unwrap().starts_with("0/3 nodes are available"));
}
