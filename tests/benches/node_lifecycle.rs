//! How fast the node lifecycle is: a health pass, idle time, and a zone that is lost.

#[path = "engine/objects.rs"]
mod objects;

use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use taintlab_core::api::{Node, NodeName};
use taintlab_core::cluster::Cluster;
use taintlab_core::command::Command;
use taintlab_core::controllers::node_lifecycle::zone::ZONE_LABEL;
use taintlab_core::controllers::node_lifecycle::{
    HeartbeatSchedule, NodeLifecycleConfig, NodeLifecycleController, PeriodicHeartbeat, Renewal,
};
use taintlab_core::event::{EventKind, RequestVerb};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::{Simulator, SimulatorConfig};
use taintlab_core::time::{Time, Timestamp};

use objects::{nodes, pods};

criterion_group!(benches, health_pass, idle, outage, forecast);
criterion_main!(benches);

const NODES: usize = 5_000;
const PODS: usize = 150_000;

fn s(seconds: u64) -> Timestamp {
    Timestamp::from_secs(seconds)
}

/// Nodes of three zones, 1,667 in the first.
fn zoned_nodes() -> Vec<Node> {
    let mut nodes = nodes(NODES);
    for (index, node) in nodes.iter_mut().enumerate() {
        let zone = ["a", "b", "c"][index % 3];
        node.metadata.labels.insert(ZONE_LABEL.into(), zone.into());
    }
    nodes
}

fn simulator(pods: Vec<taintlab_core::api::Pod>) -> Simulator {
    let config = SimulatorConfig::with_node_lifecycle(KubernetesRelease::NEWEST);
    let mut simulator = Simulator::new(config, zoned_nodes(), pods).expect("a simulator");
    simulator.advance_to(s(0)).expect("the beginning");
    simulator.drain_events();
    simulator
}

/// A controller that watches over healthy nodes, and runs every pass.
struct Watch {
    controller: NodeLifecycleController,
    cluster: Cluster,
    names: Vec<NodeName>,
    /// A node in two versions: one that changes zone makes a pass due.
    versions: [Arc<Node>; 2],
    now: u64,
}

impl Watch {
    fn new(pods_per_node: usize, promised: bool) -> Self {
        let simulator = simulator(pods(NODES * pods_per_node, NODES, Some(300)));
        let cluster = simulator.cluster().clone();
        let release = KubernetesRelease::NEWEST;
        let (config, start) = (NodeLifecycleConfig::of(release), Time::DEFAULT_START);
        let mut controller = NodeLifecycleController::new(release, config, start, s(0));
        let names: Vec<NodeName> = cluster.nodes().map(|(name, _)| name.clone()).collect();
        let heartbeat = |period| PeriodicHeartbeat {
            last: Some(start),
            next: s(period),
            period: Duration::from_secs(period),
            jitter: None,
        };
        for (name, node) in cluster.nodes() {
            controller.handle_node_update(s(0), None, Some(node));
            let heartbeats = HeartbeatSchedule { lease: heartbeat(10), status: heartbeat(300) };
            controller.handle_heartbeats(s(0), name, promised.then_some(heartbeats));
        }
        let node = cluster.nodes().next().expect("a node").1.clone();
        let mut moved = Node::clone(&node);
        moved.metadata.labels.insert(ZONE_LABEL.into(), "b".into());
        let mut watch =
            Self { controller, cluster, names, versions: [node, Arc::new(moved)], now: 0 };
        watch.work();
        watch
    }

    fn renew_all(&mut self) {
        let now = s(self.now);
        let time = Time::DEFAULT_START.saturating_add(now.since_zero());
        for name in &self.names {
            let renewal = Renewal { renew_time: Some(time) };
            self.controller.handle_renewal(now, name, Some(renewal));
        }
    }

    /// The next health pass, with one node to look at.
    fn pass(&mut self) {
        self.versions.swap(0, 1);
        let [new, old] = &self.versions;
        self.controller.handle_node_update(s(self.now), Some(old), Some(new));
        self.now += 5;
        self.work();
    }

    fn work(&mut self) {
        let now = s(self.now);
        while self.controller.poll_timeout().is_some_and(|next| next.at <= now) {
            self.controller.handle_timeout(now, &self.cluster);
            while self.controller.poll_action().is_some() {}
        }
    }
}

/// One whole pass with nothing to change, as Kubernetes runs it every 5 s; this engine runs none in
/// which no node is due, so one is made due.
fn health_pass(c: &mut Criterion) {
    let mut group = c.benchmark_group("MonitorNodeHealth_5000nodes");
    for (name, pods_per_node) in [("0pods", 0), ("30pods", 30)] {
        let mut watch = Watch::new(pods_per_node, true);
        group.bench_function(format!("healthy_no_change_{name}"), |b| b.iter(|| watch.pass()));
        let mut watch = Watch::new(pods_per_node, false);
        group.bench_function(format!("leases_renewed_{name}"), |b| {
            b.iter(|| {
                watch.renew_all();
                watch.pass();
            });
        });
    }
    group.finish();
}

/// The cost of time in which nothing happens does not depend on how much there is.
fn idle(c: &mut Criterion) {
    let mut group = c.benchmark_group("Simulator_5000nodes_idle");
    for (name, seconds) in [("300s", 300), ("a_day", 86_400)] {
        let mut simulator = simulator(Vec::new());
        let mut now = 0;
        group.bench_function(name, |b| {
            b.iter(|| {
                now += seconds;
                simulator.advance_to(s(now))
            });
        });
        assert!(simulator.drain_events().is_empty());
        assert_eq!(simulator.poll_timeout(), None);
    }
    group.finish();
}

/// A zone of 1,667 nodes is cut off, until the last of its pods is deleted.
fn outage(c: &mut Criterion) {
    let mut group = c.benchmark_group("Simulator_5000nodes_150000pods");
    group.sample_size(10).measurement_time(Duration::from_secs(30));
    let healthy = simulator(pods(PODS, NODES, Some(300)));
    group.bench_function("lose_a_zone_of_1667_nodes", |b| {
        b.iter_batched(
            || healthy.clone(),
            |mut simulator| {
                let (end, events) = lose_zone(&mut simulator);
                assert!(end > s(16_000) && events > 50_000);
                simulator
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
    let mut simulator = healthy.clone();
    let began = Instant::now();
    let (end, events) = lose_zone(&mut simulator);
    let took = began.elapsed().as_secs_f64();
    let speed = end.as_secs_f64() / took;
    println!(
        "from cut to last eviction: {end}, {events} events, {took:.2} s: \
         {speed:.0} simulated seconds per second"
    );
}

/// What a page asks when a zone of 200 nodes of 600 has just been cut off: when does each pod go?
fn forecast(c: &mut Criterion) {
    let mut nodes = zoned_nodes();
    nodes.truncate(600);
    let config = SimulatorConfig::with_node_lifecycle(KubernetesRelease::NEWEST);
    let pods = pods(18_000, 600, Some(300));
    let mut simulator = Simulator::new(config, nodes, pods).expect("a simulator");
    simulator.handle_command(s(7), Command::CutZoneNetwork { zone: "a".into() }).expect("a zone");
    simulator.advance_to(s(7)).expect("a later moment");
    c.bench_function("Simulator_600nodes_18000pods/forecast_of_a_lost_zone", |b| {
        b.iter(|| simulator.forecast(s(86_400), usize::MAX).simulator().evictions().count());
    });
}

fn lose_zone(simulator: &mut Simulator) -> (Timestamp, usize) {
    simulator.handle_command(s(7), Command::CutZoneNetwork { zone: "a".into() }).expect("a zone");
    let (mut last, mut events) = (s(0), 0);
    while let Some(next) = simulator.poll_timeout() {
        simulator.handle_timeout(next.at).expect("a later moment");
        while let Some(event) = simulator.poll_event() {
            events += 1;
            if matches!(event.what, EventKind::Request { verb: RequestVerb::Delete, .. }) {
                last = event.at;
            }
        }
    }
    (last, events)
}
