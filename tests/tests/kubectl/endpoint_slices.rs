//! EndpointSlices of the Services of a scenario, over time.

use serde_json::Value;
use taintlab_core::simulator::Simulator;
use taintlab_core::time::parse_duration;
use taintlab_kubectl::{Context, run};
use taintlab_manifest::{Limits, read_scenario};

const CLUSTER: &str = "
apiVersion: taintlab/v1
kind: Scenario
metadata: {name: slices}
kubernetes: {release: \"1.34\", controlPlane: true}
objects:
  nodes:
    - {metadata: {name: n1}, status: {allocatable: {cpu: \"400\", pods: \"400\"}}}
    - {metadata: {name: n2, labels: {topology.kubernetes.io/zone: b}}, status: {allocatable: {cpu: \"400\", pods: \"400\"}}}
  workloads:
    - apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: REPLICAS
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            terminationGracePeriodSeconds: 30
            containers: [{name: web, ports: [{name: http, containerPort: 8080}]}]
  others:
    - apiVersion: v1
      kind: Service
      metadata: {name: web}
      spec: {clusterIP: 10.96.0.9, selector: {app: web}, ports: [{port: 80, targetPort: http}]}
until: 1h
";

fn simulator(replicas: usize) -> Simulator {
    let text = CLUSTER.replace("REPLICAS", &replicas.to_string());
    let load = &mut |_: &str| unreachable!("it names no file");
    let opened = read_scenario(&text, "slices.yaml", &Limits::default(), load);
    opened.scenario.unwrap_or_else(|| panic!("{:?}", opened.diagnostics)).simulator().unwrap()
}

fn wait(simulator: &mut Simulator, duration: &str) {
    let then = simulator.now().saturating_add(parse_duration(duration).unwrap());
    simulator.advance_to(then).unwrap();
}

/// Runs a line, and carries out its commands.
fn kubectl(simulator: &mut Simulator, line: &str) -> String {
    let outcome = run(&Context::new(simulator, &[]), line, None);
    assert_eq!(outcome.exit_code, 0, "{}", outcome.stderr);
    let now = simulator.now();
    for command in outcome.commands {
        simulator.handle_command(now, command).unwrap();
    }
    outcome.stdout
}

fn slices(simulator: &mut Simulator) -> Vec<Value> {
    let text = kubectl(simulator, "get endpointslices -o json");
    let list: Value = serde_json::from_str(&text).unwrap();
    list["items"].as_array().unwrap().clone()
}

#[test]
fn a_slice_has_a_hundred_endpoints_at_most() {
    let mut simulator = simulator(250);
    wait(&mut simulator, "1m");
    let slices = slices(&mut simulator);
    let endpoints = |slice: &Value| slice["endpoints"].as_array().unwrap().clone();
    let mut sizes: Vec<usize> = slices.iter().map(|slice| endpoints(slice).len()).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [50, 100, 100]);
    let mut names: Vec<&str> =
        slices.iter().map(|slice| slice["metadata"]["name"].as_str().unwrap()).collect();
    names.dedup();
    assert_eq!(names.len(), 3);
    let pods: std::collections::BTreeSet<String> = slices
        .iter()
        .flat_map(endpoints)
        .map(|it| it["targetRef"]["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(pods.len(), 250);
}

#[test]
fn endpoints_follow_an_eviction() {
    let mut simulator = simulator(1);
    wait(&mut simulator, "1m");
    let endpoints = |simulator: &mut Simulator| -> Vec<(Value, Value)> {
        let slices = slices(simulator);
        let endpoints = slices[0]["endpoints"].as_array().cloned().unwrap_or_default();
        endpoints.into_iter().map(|it| (it["nodeName"].clone(), it["conditions"].clone())).collect()
    };
    let before = endpoints(&mut simulator);
    let [(node, conditions)] = before.as_slice() else { panic!("{before:?}") };
    assert_eq!(conditions["ready"], true);
    // What the table shows is the address that `get pods -o wide` shows.
    let address = kubectl(&mut simulator, "get pods -o jsonpath={.items[0].status.podIP}");
    let table = kubectl(&mut simulator, "get endpointslice");
    let row: Vec<&str> = table.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(row[1..4], ["IPv4", "8080", address.as_str()], "{table}");
    let node = node.as_str().unwrap().to_owned();
    kubectl(&mut simulator, &format!("taint nodes {node} a=b:NoExecute"));
    wait(&mut simulator, "10s");
    let during = endpoints(&mut simulator);
    let on = |node: &str, is: bool| {
        let found = during.iter().filter(|(on, _)| (on == node) == is);
        found.map(|(_, conditions)| conditions.clone()).collect::<Vec<_>>()
    };
    let [old] = &on(&node, true)[..] else { panic!("{during:?}") };
    assert_eq!(
        (&old["ready"], &old["serving"], &old["terminating"]),
        (&false.into(), &true.into(), &true.into())
    );
    let [new] = &on(&node, false)[..] else { panic!("{during:?}") };
    assert_eq!((&new["ready"], &new["terminating"]), (&true.into(), &false.into()));
    wait(&mut simulator, "1m");
    let after = endpoints(&mut simulator);
    assert_eq!(after.len(), 1, "{after:?}");
    assert_ne!(after[0].0, node.as_str());
}
