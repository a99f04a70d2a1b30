//! How fast the circle is: pods of workloads are created, placed, lost with a zone and replaced.

use std::time::Duration;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use serde_json::json;
use taintlab_core::api::{Node, Workload};
use taintlab_core::command::Command;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::{InitialState, Simulator, SimulatorConfig};
use taintlab_core::time::Timestamp;

criterion_group!(benches, circle);
criterion_main!(benches);

/// Nodes of three zones.
fn nodes(count: usize) -> Vec<Node> {
    let node = |index: usize| {
        let zone = ["a", "b", "c"][index % 3];
        serde_json::from_value(json!({
            "metadata": {
                "name": format!("node-{index}"),
                "labels": { "topology.kubernetes.io/zone": zone },
            },
            "status": { "allocatable": { "cpu": "64", "memory": "256Gi", "pods": "110" } },
        }))
        .expect("a node")
    };
    (0..count).map(node).collect()
}

/// Deployments of 50 pods each, 30 pods for each node.
fn workloads(nodes: usize) -> Vec<Workload> {
    let deployment = |index: usize| {
        let name = format!("app-{index}");
        serde_json::from_value(json!({
            "kind": "Deployment",
            "metadata": { "name": name },
            "spec": {
                "replicas": 50,
                "selector": { "matchLabels": { "app": name } },
                "template": {
                    "metadata": { "labels": { "app": name } },
                    "spec": { "containers": [
                        { "name": "app", "resources": { "requests": { "cpu": "500m" } } },
                    ] },
                },
            },
        }))
        .expect("a deployment")
    };
    (0..nodes * 30 / 50).map(deployment).collect()
}

fn placed(count: usize) -> Simulator {
    let begin = InitialState { workloads: workloads(count), ..InitialState::default() };
    let config = SimulatorConfig::with_control_plane(KubernetesRelease::NEWEST);
    let mut simulator =
        Simulator::beginning_with(config, nodes(count), [], begin).expect("a simulator");
    simulator.advance_to(Timestamp::from_secs(30)).expect("a later moment");
    simulator.drain_events();
    simulator
}

fn circle(c: &mut Criterion) {
    const NODES: usize = 600;
    const PODS: usize = NODES * 30;
    let mut group = c.benchmark_group("Workloads_600nodes_18000pods");
    group.sample_size(10).measurement_time(Duration::from_secs(20));
    group.bench_function("create_and_place", |b| b.iter(|| placed(NODES)));
    let healthy = placed(NODES);
    let running = healthy.cluster().pods().filter(|(_, pod)| !pod.spec.node_name.is_empty());
    assert_eq!(running.count(), PODS);
    group.bench_function("lose_a_zone_and_replace_its_pods", |b| {
        b.iter_batched(
            || healthy.clone(),
            |mut simulator| {
                let cut = Command::CutZoneNetwork { zone: "a".into() };
                simulator.handle_command(Timestamp::from_secs(37), cut).expect("a zone");
                simulator.advance_to(Timestamp::from_secs(86_400)).expect("a later moment");
                simulator.drain_events()
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}
