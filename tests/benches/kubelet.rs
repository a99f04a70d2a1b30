//! How fast the kubelet's eviction manager is.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::json;
use taintlab_core::api::{Pod, Quantity};
use taintlab_core::kubelet::{
    ActionResult, ContainerUsage, EvictionConfig, EvictionManager, EvictionManagerAction,
    KubeletPod, Layout, NodeCapacity, NodeUsage, PodUsage, Signal, SystemUsage, UsageCurve,
};
use taintlab_core::time::{Span, Timestamp};
use taintlab_tests::kubelet::version;

criterion_group!(benches, one_pass, idle_day);
criterion_main!(benches);

const DAY: u64 = 86_400;

fn mebibytes(count: u64) -> Quantity {
    Quantity::parse(&format!("{count}Mi")).expect("a quantity")
}

fn pod(index: u64) -> KubeletPod {
    let pod = json!({
        "metadata": {
            "name": format!("pod-{index}"), "namespace": "default", "uid": index.to_string(),
        },
        "spec": {
            "priority": index % 3,
            "containers": [{
                "name": "c",
                "resources": { "requests": { "memory": format!("{}Mi", 50 + index % 70) } }
            }]
        }
    });
    let pod: Pod = serde_json::from_value(pod).expect("a pod");
    KubeletPod::new(version(34), &pod).expect("a pod")
}

/// A node of `gibibytes` with pods that use some 100 MiB each, as a curve.
fn node(gibibytes: u64, pods: u64, curve: fn(u64) -> UsageCurve) -> (EvictionManager, NodeUsage) {
    let config = EvictionConfig::of(version(34)).expect("the defaults");
    let layout = Layout::OneFilesystem;
    let now = Timestamp::ZERO;
    let mut manager = EvictionManager::new(version(34), config, "node".into(), layout, now);
    let capacity = NodeCapacity {
        memory: Some(mebibytes(gibibytes * 1_024)),
        nodefs: Some(mebibytes(100 * 1_024)),
        pids: Some(mebibytes(4)),
        ..NodeCapacity::default()
    };
    let mut usage = NodeUsage::new(capacity, SystemUsage::default());
    for index in 0..pods {
        let container =
            ContainerUsage { name: "c".into(), memory: curve(index), ..ContainerUsage::default() };
        let pod_usage = PodUsage { containers: vec![container], ..PodUsage::default() };
        let pod = Arc::new(pod(index));
        usage.start_pod(now, pod.clone(), Arc::new(pod_usage));
        manager.handle_pod_update(now, &pod.key, Some(pod.clone()));
    }
    (manager, usage)
}

fn constant(index: u64) -> UsageCurve {
    UsageCurve::Constant(mebibytes(60 + index % 80))
}

fn sawtooth(index: u64) -> UsageCurve {
    UsageCurve::Sawtooth {
        low: mebibytes(10),
        high: mebibytes(60 + index % 80),
        period: Span(Duration::from_secs(60 + index)),
        start: Span(Duration::ZERO),
    }
}

/// Answers until nothing is wanted any more; how many pods were evicted.
fn drain(manager: &mut EvictionManager, usage: &NodeUsage, now: Timestamp) -> usize {
    let mut evicted = 0;
    while let Some(action) = manager.poll_action() {
        match action {
            EvictionManagerAction::CollectStats { id } => manager.handle_usage(now, id, usage),
            EvictionManagerAction::Reclaim { id, .. } => {
                manager.handle_action_result(now, id, ActionResult::Reclaimed(0));
            }
            EvictionManagerAction::KillPod { id, .. } => {
                evicted += 1;
                manager.handle_action_result(now, id, ActionResult::Done);
            }
            _ => {}
        }
    }
    evicted
}

/// A pass over 250 pods: one that has nothing to do, one that ranks them and evicts one, and the
/// ranking with its explanations.
fn one_pass(c: &mut Criterion) {
    let mut group = c.benchmark_group("EvictionManager_250pods");
    let pass = |manager: &mut EvictionManager, usage: &NodeUsage, second: u64| {
        let now = Timestamp::from_secs(second);
        manager.handle_memory_notification(now);
        drain(manager, usage, now)
    };
    for (name, gibibytes, evicts) in [("nothing_to_do", 64, 0), ("evict_one", 1, 1)] {
        let (mut manager, usage) = node(gibibytes, 250, constant);
        let mut second = 0;
        group.bench_function(name, |b| {
            b.iter(|| {
                second += 1;
                assert_eq!(pass(&mut manager, &usage, second), evicts);
            });
        });
    }
    let (manager, usage) = node(64, 250, constant);
    let summary = usage.summary(Timestamp::ZERO, Layout::OneFilesystem);
    group.bench_function("explain_ranking", |b| {
        b.iter(|| manager.ranking(black_box(Signal::MemoryAvailable), &summary));
    });
    group.finish();
}

/// Five thousand nodes of thirty pods for a day, in which 43,200,000 passes find nothing.
fn idle_day(c: &mut Criterion) {
    let mut group = c.benchmark_group("EvictionManager_5000nodes_30pods/idle_day");
    group.sample_size(10);
    for (name, curve) in [("constant", constant as fn(u64) -> UsageCurve), ("sawtooth", sawtooth)] {
        group.bench_function(name, |b| {
            b.iter_custom(|rounds| {
                let mut spent = Duration::ZERO;
                for _ in 0..rounds {
                    let mut nodes: Vec<_> = (0..5_000).map(|_| node(16, 30, curve)).collect();
                    let start = Instant::now();
                    for (manager, usage) in &mut nodes {
                        let end = Timestamp::from_secs(DAY);
                        let next = |manager: &EvictionManager| {
                            manager.poll_timeout().filter(|deadline| deadline.at <= end)
                        };
                        while let Some(deadline) = next(manager) {
                            manager.handle_timeout(deadline.at);
                            drain(manager, usage, deadline.at);
                        }
                    }
                    spent += start.elapsed();
                }
                spent
            });
        });
    }
    group.finish();
}
