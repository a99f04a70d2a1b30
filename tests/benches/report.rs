//! What a run of a resilience report costs, by the size of the cluster and by how many pods leave.

use std::time::Duration;

use criterion::{BatchSize, BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};
use serde_json::{Value, json};
use taintlab_core::report::{DomainKind, DomainList, Plan, Report, ReportOptions, Run, report};
use taintlab_core::scenario::Scenario;
use taintlab_core::simulator::Simulator;

#[path = "report/eks.rs"]
mod eks;

criterion_group!(benches, forks, runs, reports);
criterion_main!(benches);

/// Pods on each node.
const PODS: usize = 30;
/// Pods of each Deployment.
const REPLICAS: usize = 50;

fn read<T: serde::de::DeserializeOwned>(object: Value) -> T {
    serde_json::from_value(object).expect("an object")
}

/// What a pod says of the others of its Deployment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Says {
    Nothing,
    /// Spread over zones, rather on different hosts: as charts have it.
    Spread,
}

fn template(labels: &Value, says: Says) -> Value {
    let mut spec = json!({ "containers": [
        { "name": "app", "resources": { "requests": { "cpu": "500m" } } },
    ] });
    if says == Says::Spread {
        let selector = json!({ "matchLabels": { "app": labels["app"] } });
        spec["topologySpreadConstraints"] = json!([{
            "maxSkew": 10, "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector,
        }]);
        let apart = json!({ "topologyKey": "kubernetes.io/hostname", "labelSelector": selector });
        spec["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] =
            json!([{ "weight": 100, "podAffinityTerm": apart }]);
    }
    json!({ "metadata": { "labels": labels }, "spec": spec })
}

/// A cluster as an export has it: three zones, Deployments, their ReplicaSets and pods.
fn cluster(nodes: usize, says: Says) -> Scenario {
    let mut scenario = Scenario::default();
    let objects = &mut scenario.objects;
    for index in 0..nodes {
        let name = format!("node-{index}");
        let zone = ["a", "b", "c"][index % 3];
        let labels = json!({
            "topology.kubernetes.io/zone": zone,
            "kubernetes.io/hostname": name,
        });
        objects.nodes.push(read(json!({
            "metadata": { "name": name, "labels": labels },
            "status": { "allocatable": { "cpu": "64", "memory": "256Gi", "pods": "110" } },
        })));
    }
    for app in 0..nodes * PODS / REPLICAS {
        let (name, set) = (format!("app-{app}"), format!("app-{app}-5d"));
        let labels = json!({ "app": name, "pod-template-hash": "5d" });
        let owner = |kind: &str, name: &str| {
            json!([{ "apiVersion": "apps/v1", "kind": kind, "name": name, "controller": true,
                     "uid": format!("{kind}-{name}") }])
        };
        objects.workloads.push(read(json!({
            "kind": "Deployment",
            "metadata": { "name": name, "uid": format!("Deployment-{name}") },
            "spec": {
                "replicas": REPLICAS,
                "selector": { "matchLabels": { "app": name } },
                "template": template(&json!({ "app": name }), says),
            },
        })));
        objects.workloads.push(read(json!({
            "kind": "ReplicaSet",
            "metadata": { "name": set, "uid": format!("ReplicaSet-{set}"), "labels": labels,
                          "ownerReferences": owner("Deployment", &name) },
            "spec": {
                "replicas": REPLICAS,
                "selector": { "matchLabels": labels },
                "template": template(&labels, says),
            },
        })));
        for replica in 0..REPLICAS {
            let mut pod = template(&labels, says);
            pod["metadata"]["name"] = format!("{set}-{replica}").into();
            pod["metadata"]["ownerReferences"] = owner("ReplicaSet", &set);
            pod["spec"]["nodeName"] = format!("node-{}", (app * REPLICAS + replica) % nodes).into();
            let tolerate = |key: &str| {
                json!({ "key": format!("node.kubernetes.io/{key}"), "operator": "Exists",
                        "effect": "NoExecute", "tolerationSeconds": 300 })
            };
            pod["spec"]["tolerations"] = json!([tolerate("not-ready"), tolerate("unreachable")]);
            let ready = json!({ "type": "Ready", "status": "True" });
            pod["status"] = json!({ "phase": "Running", "conditions": [ready] });
            objects.pods.push(read(pod));
        }
    }
    scenario
}

/// A plan with one node, and so many nodes that fail at once.
fn plan(nodes: usize, says: Says, at_once: &[usize]) -> Plan {
    let list = |count: &usize| DomainList {
        name: count.to_string(),
        nodes: (0..*count).map(|index| format!("node-{}", index * 3).as_str().into()).collect(),
    };
    let options = ReportOptions {
        nodes: false,
        zones: false,
        regions: false,
        lists: at_once.iter().map(list).collect(),
        ..ReportOptions::default()
    };
    Plan::new(cluster(nodes, says), options).expect("a plan")
}

/// A copy of a settled cluster, which every run begins with.
fn forks(c: &mut Criterion) {
    let mut group = c.benchmark_group("ReportFork");
    group.sample_size(10).measurement_time(Duration::from_secs(5));
    for nodes in [100, 1_000, 5_000] {
        let simulator: Simulator = cluster(nodes, Says::Nothing).simulator().expect("a simulator");
        group.bench_function(BenchmarkId::new("nodes", nodes), |b| b.iter(|| simulator.clone()));
    }
    group.finish();
}

/// One run, by the nodes of the cluster and by the pods that leave.
fn runs(c: &mut Criterion) {
    let mut group = c.benchmark_group("ReportRun");
    group.sample_size(10).measurement_time(Duration::from_secs(5));
    let sizes = [100, 1_000, 5_000].map(|nodes| (nodes, Says::Nothing, ""));
    for (nodes, says, name) in sizes.into_iter().chain([(1_000, Says::Spread, "_spread")]) {
        // The largest failures come first.
        let at_once = [10, 1];
        let mut plan = plan(nodes, says, &at_once);
        assert!(plan.outline().domains.iter().all(|it| it.kind == DomainKind::List));
        let all: Vec<Run> = plan.runs();
        for (run, failed) in all.iter().zip(at_once) {
            let evicted = plan.run(run).expect("a run").evicted;
            assert_eq!(evicted, failed * PODS);
            let name = BenchmarkId::new(format!("{nodes}_nodes{name}_evicted"), evicted);
            group.bench_function(name, |b| {
                b.iter_batched(
                    || run.clone(),
                    |run| plan.run(&run).expect("a run"),
                    BatchSize::PerIteration,
                );
            });
        }
    }
    group.finish();
}

/// A whole report in one thread: every node and every zone, and what would help.
fn reports(c: &mut Criterion) {
    let mut group = c.benchmark_group("Report");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    for (remedies, name) in [(0, ""), (5, "_remedies")] {
        let scenario = cluster(100, Says::Nothing);
        group.bench_function(BenchmarkId::new("whole", format!("100_nodes{name}")), |b| {
            b.iter_batched(
                || scenario.clone(),
                |scenario| whole(scenario, remedies),
                BatchSize::PerIteration,
            );
        });
    }
    for (remedies, name) in [(0, ""), (5, "_remedies")] {
        let scenario = eks::cluster();
        group.bench_function(BenchmarkId::new("whole", format!("eks{name}")), |b| {
            b.iter_batched(
                || scenario.clone(),
                |scenario| whole(scenario, remedies),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

fn whole(scenario: Scenario, remedies: usize) -> Report {
    let options = ReportOptions { remedies, ..ReportOptions::default() };
    let mut plan = Plan::new(scenario, options).expect("a plan");
    let (mut results, mut runs) = (Vec::new(), plan.runs());
    while !runs.is_empty() {
        results.extend(runs.iter().map(|run| plan.run(run).expect("a run")));
        runs = plan.remedies(&results);
    }
    report(plan.outline(), &results).expect("a report")
}
