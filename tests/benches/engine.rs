//! How fast the engine is. `cargo xtask bench [NAME]` shows it beside Kubernetes' own code; the
//! names are those of the Go benchmarks where there is one.

#[path = "engine/objects.rs"]
mod objects;
#[path = "engine/world.rs"]
mod world;

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use taintlab_core::api::{ConditionStatus, NodeCondition, PodKey, Taint, TaintEffect, Toleration};
use taintlab_core::controllers::node_lifecycle::zone::compute_zone_state;
use taintlab_core::policy::matching::{explain, matching_tolerations, min_toleration_time};
use taintlab_core::queue::flowcontrol::TokenBucketRateLimiter;
use taintlab_core::queue::rate_limited_timed_queue::RateLimitedTimedQueue;
use taintlab_core::queue::timed_worker_queue::TimedWorkerQueue;
use taintlab_core::simulator::{Simulator, SimulatorConfig};
use taintlab_core::time::Timestamp;

use objects::{nodes, pods};
use world::{World, key_names, taint_everything};

criterion_group!(
    benches,
    matching,
    zone_state,
    limiter,
    queue,
    node_update,
    one_pod,
    simulator,
    idle
);
criterion_main!(benches);

/// The pods of a large cluster.
const PODS: u32 = 150_000;

fn s(seconds: u64) -> Timestamp {
    Timestamp::from_secs(seconds)
}

/// Three taints, answered by the third, fourth and fifth of five tolerations.
fn matching(c: &mut Criterion) {
    let taints = ["example.com/maintenance", "node.kubernetes.io/unreachable", "dedicated"]
        .map(|key| Taint::new(key, "yes", TaintEffect::NoExecute));
    let tolerations = [
        ("node.kubernetes.io/not-ready", "Exists", "", Some(300)),
        ("example.com/gpu", "Equal", "a100", None),
        ("example.com/maintenance", "Equal", "yes", Some(600)),
        ("node.kubernetes.io/unreachable", "Exists", "", Some(300)),
        ("dedicated", "Equal", "yes", None),
    ]
    .map(|(key, operator, value, toleration_seconds)| Toleration {
        key: key.into(),
        operator: operator.into(),
        value: value.into(),
        effect: TaintEffect::NoExecute,
        toleration_seconds,
    });
    let matching = || matching_tolerations(black_box(&taints), black_box(&tolerations), false);
    assert_eq!(matching().used, [2, 3, 4]);
    c.bench_function("GetMatchingTolerations_3x5", |b| b.iter(matching));
    c.bench_function("GetMatchingTolerations_3x5_MinTime", |b| {
        b.iter(|| {
            min_toleration_time(matching().used.iter().filter_map(|index| tolerations.get(*index)))
        });
    });
    c.bench_function("explain_3x5", |b| {
        b.iter(|| explain(black_box(&taints), black_box(&tolerations), false));
    });
}

/// Five thousand nodes, every tenth not ready.
fn zone_state(c: &mut Criterion) {
    let condition = |index| {
        let status = if index % 10 == 0 { ConditionStatus::Unknown } else { ConditionStatus::True };
        Some(NodeCondition { type_: "Ready".into(), status, ..NodeCondition::default() })
    };
    let conditions: Vec<_> = (0..5_000).map(condition).collect();
    c.bench_function("ComputeZoneState_5000", |b| {
        b.iter(|| compute_zone_state(black_box(&conditions).iter().map(Option::as_ref), 0.55));
    });
}

fn limiter(c: &mut Criterion) {
    let mut limiter = TokenBucketRateLimiter::new(0.1, 1);
    let mut tick = 0;
    c.bench_function("TokenBucketRateLimiter/try_accept", |b| {
        b.iter(|| {
            tick += 100;
            limiter.try_accept(Timestamp::from_millis(tick))
        });
    });
    let names: Vec<String> = (0..5_000).map(|index| format!("node-{index}")).collect();
    c.bench_function("RateLimitedTimedQueue_5000/add_all_remove_all", |b| {
        b.iter_batched(
            || RateLimitedTimedQueue::with_qps(0.1),
            |mut queue| {
                for name in &names {
                    queue.add(Timestamp::ZERO, name.as_str(), "");
                }
                for name in &names {
                    queue.remove(&name.as_str());
                }
            },
            BatchSize::LargeInput,
        );
    });
}

fn fill(queue: &mut TimedWorkerQueue<PodKey>, keys: &[PodKey]) {
    for (key, spread) in keys.iter().zip((0..7).cycle()) {
        queue.add_work(s(0), key.clone(), s(0), s(300 + spread));
    }
}

fn queue(c: &mut Criterion) {
    let keys = key_names(PODS);
    let mut group = c.benchmark_group("TimedWorkerQueue_150k");
    group.sample_size(20);
    let mut queue = TimedWorkerQueue::default();
    group.bench_function("add_all_cancel_all_per_entry", |b| {
        b.iter_custom(|rounds| {
            let start = Instant::now();
            for _ in 0..rounds {
                fill(&mut queue, &keys);
                for key in &keys {
                    queue.cancel_work(key);
                }
            }
            start.elapsed() / PODS
        });
    });
    group.bench_function("add_all_pop_all_per_entry", |b| {
        b.iter_custom(|rounds| {
            let mut spent = Duration::ZERO;
            for _ in 0..rounds {
                let start = Instant::now();
                fill(&mut queue, &keys);
                while let Some(key) = queue.pop_due(s(1_000)) {
                    queue.finish(key, false);
                }
                spent += start.elapsed();
            }
            spent / PODS
        });
    });
    fill(&mut queue, &keys);
    let one_more = PodKey::new("default", "one-more");
    group.bench_function("add_cancel_with_150k_pending", |b| {
        b.iter(|| {
            queue.add_work(s(1), one_more.clone(), s(1), s(301));
            queue.cancel_work(&one_more)
        });
    });
}

/// A node with 110 pods that tolerate its taint for 300 seconds.
fn node_update(c: &mut Criterion) {
    let mut world = World::new(110, Some(300));
    world.taint();
    c.bench_function("HandleNodeUpdate_110pods/already_scheduled", |b| b.iter(|| world.touch()));
    c.bench_function("HandleNodeUpdate_110pods/taint_then_untaint", |b| {
        b.iter(|| {
            world.untaint();
            world.taint();
        });
    });
}

/// One pod, from the notification to the last action.
fn one_pod(c: &mut Criterion) {
    let mut world = World::new(1, Some(300));
    world.taint();
    c.bench_function("ProcessPodOnNode/already_scheduled", |b| b.iter(|| world.look_at_pod(0)));
    c.bench_function("ProcessPodOnNode/schedule_then_cancel", |b| {
        b.iter(|| {
            world.untaint();
            world.taint();
        });
    });
    let mut world = World::new(1, None);
    world.taint();
    c.bench_function("ProcessPodOnNode/tolerates_forever", |b| b.iter(|| world.look_at_pod(0)));
    let mut group = c.benchmark_group("ProcessPodOnNode");
    group.sample_size(10);
    group.bench_function("schedule_distinct_150k", |b| {
        b.iter_custom(|rounds| {
            let mut spent = Duration::ZERO;
            for _ in 0..rounds {
                let mut world = World::new(PODS as usize, Some(300));
                world.taint_without_pods();
                let start = Instant::now();
                for index in 0..PODS as usize {
                    world.look_at_pod(index);
                }
                spent += start.elapsed();
            }
            spent / PODS
        });
    });
}

/// The whole simulation: every node of a large cluster is tainted, every pod is evicted, marked
/// with its condition, terminated and gone.
fn simulator(c: &mut Criterion) {
    let mut group = c.benchmark_group("Simulator_5000nodes_150000pods");
    group.sample_size(10).measurement_time(Duration::from_secs(20));
    group.bench_function("taint_all_evict_all", |b| {
        b.iter_batched(
            || (nodes(5_000), pods(PODS as usize, 5_000, Some(300))),
            |(nodes, pods)| {
                let config = SimulatorConfig::default();
                let mut simulator = Simulator::new(config, nodes, pods).expect("a simulator");
                taint_everything(&mut simulator, s(1));
                simulator.advance_to(s(1_000)).expect("the end");
                assert_eq!(simulator.cluster().pod_count(), 0);
                simulator
            },
            BatchSize::PerIteration,
        );
    });
}

fn idle(c: &mut Criterion) {
    c.bench_function("Simulator_5000nodes_150000pods/idle_hour", |b| {
        let mut simulator = Simulator::new(
            SimulatorConfig::default(),
            nodes(5_000),
            pods(PODS as usize, 5_000, Some(300)),
        )
        .expect("a simulator");
        simulator.advance_to(s(0)).expect("the beginning");
        let mut hour = 0;
        b.iter(|| {
            hour += 1;
            simulator.advance_to(s(3_600 * hour))
        });
    });
}
