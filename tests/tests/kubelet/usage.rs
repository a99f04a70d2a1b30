//! A node whose usage follows curves: what is measured of it, which passes are run, and what is
//! explained.

use std::sync::Arc;

use serde_json::{Value, json};
use taintlab_core::api::{Pod, PodKey};
use taintlab_core::kubelet::{
    ActionResult, EvictionConfig, KubeletConfiguration, KubeletPod, Layout, NodeCapacity,
    NodeUsage, Observations, PodUsage, Pressure, Reclaim, Signal, SystemUsage, Unused,
};
use taintlab_core::time::Timestamp;
use taintlab_tests::kubelet::version;
use taintlab_tests::kubelet_run::{Foresight, Happened, Run};

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn pod(name: &str, spec: Value) -> Pod {
    read(json!({
        "metadata": { "name": name, "namespace": "default", "uid": name },
        "spec": spec,
    }))
}

fn seconds(seconds: u64) -> Timestamp {
    Timestamp::from_secs(seconds)
}

fn config(flags: &[(&str, &str)]) -> EvictionConfig {
    let mut settings = KubeletConfiguration::default();
    settings.set_flag(version(34), "enforce-node-allocatable", "none").unwrap();
    for (name, value) in flags {
        settings.set_flag(version(34), name, value).unwrap();
    }
    settings.eviction_config(version(34)).unwrap()
}

fn run(flags: &[(&str, &str)], usage: NodeUsage) -> Run {
    Run::new(version(34), config(flags), Layout::OneFilesystem, usage, Foresight::Curves)
}

/// Every part of a pod and of its node on the file system where it is.
#[test]
fn what_is_measured_by_file_system() {
    let capacity: NodeCapacity = read(json!({
        "memory": 1_000, "allocatableMemory": 800, "pids": 100,
        "nodefs": 100_000, "nodefsInodes": 10_000, "imagefs": 50_000, "imagefsInodes": 5_000,
    }));
    let system: SystemUsage = read(json!({
        "memory": { "constant": 100 }, "processes": { "constant": 7 },
        "nodefs": { "constant": 1 }, "images": { "constant": 20 },
        "nodefsInodes": { "constant": 3 }, "imagesInodes": { "constant": 5 },
    }));
    let mut usage = NodeUsage::new(capacity, system);
    usage.unused_containers = Unused { bytes: read(json!(300)), inodes: read(json!(1)) };
    usage.unused_images = Unused { bytes: read(json!(4_000)), inodes: read(json!(2)) };
    let spec = json!({ "containers": [{ "name": "c" }], "volumes": [
        { "name": "empty", "emptyDir": {} },
        { "name": "memory", "emptyDir": { "medium": "Memory" } },
        { "name": "host", "hostPath": { "path": "/" } },
        { "name": "claim", "persistentVolumeClaim": { "claimName": "x" } },
    ] });
    let kubelet_pod = KubeletPod::new(version(34), &pod("p", spec)).unwrap();
    let pod_usage: PodUsage = read(json!({
        "containers": [{
            "name": "c", "memory": { "constant": 40 }, "processes": { "constant": 2 },
            "rootfs": { "constant": 5_000 }, "rootfsInodes": { "constant": 10 },
            "logs": { "constant": 600 }, "logsInodes": { "constant": 20 },
        }],
        "volumes": [
            { "name": "empty", "bytes": { "constant": 7_000 }, "inodes": { "constant": 30 } },
            { "name": "memory", "bytes": { "constant": 9 } },
            { "name": "host", "bytes": { "constant": 8_000 }, "inodes": { "constant": 40 } },
            { "name": "claim", "bytes": { "constant": 90_000 }, "inodes": { "constant": 50 } },
        ],
    }));
    usage.start_pod(seconds(0), Arc::new(kubelet_pod), Arc::new(pod_usage));
    let used = |layout, signal| {
        let summary = usage.summary(seconds(1), layout);
        let seen = *Observations::of(&summary.node).get(signal).expect("an observation");
        assert_eq!(seen.time, Some(seconds(1)));
        seen.capacity - seen.available
    };
    let one = Layout::OneFilesystem;
    assert_eq!(used(one, Signal::MemoryAvailable), 100 + 40 + 9);
    assert_eq!(used(one, Signal::AllocatableMemoryAvailable), 40 + 9);
    assert_eq!(used(one, Signal::PidAvailable), 7 + 2);
    let files = 1 + 600 + 7_000 + 8_000;
    let layers = 5_000 + 300;
    let images = 20 + 4_000;
    for (layout, node, image, container) in [
        (one, files + layers + images, files + layers + images, files + layers + images),
        (Layout::DedicatedImageFs, files, layers + images, layers + images),
        (Layout::SplitImageFs, files + layers, images, files + layers),
    ] {
        assert_eq!(used(layout, Signal::NodeFsAvailable), node, "{layout:?}");
        assert_eq!(used(layout, Signal::ImageFsAvailable), image, "{layout:?}");
        assert_eq!(used(layout, Signal::ContainerFsAvailable), container, "{layout:?}");
    }
    let (files, layers, images) = (3 + 20 + 30 + 40, 10 + 1, 5 + 2);
    assert_eq!(used(one, Signal::NodeFsInodesFree), files + layers + images);
    assert_eq!(used(Layout::SplitImageFs, Signal::NodeFsInodesFree), files + layers);
    assert_eq!(used(Layout::DedicatedImageFs, Signal::ImageFsInodesFree), layers + images);

    let summary = usage.summary(seconds(1), one);
    let stats = &summary.pods[0];
    assert_eq!(stats.memory.unwrap().working_set_bytes, Some(49));
    assert_eq!(stats.process_count, Some(2));
    assert_eq!(stats.ephemeral_storage.unwrap().used_bytes, Some(5_000 + 600 + 7_000));

    // What nobody uses goes when it is asked for, once.
    assert_eq!(usage.reclaim(Reclaim::UnusedImages), ActionResult::Reclaimed(4_000));
    assert_eq!(usage.reclaim(Reclaim::UnusedImages), ActionResult::Reclaimed(0));
}

fn memory_node(gibibytes: u64) -> NodeUsage {
    let capacity = read(json!({ "memory": format!("{gibibytes}Gi") }));
    NodeUsage::new(capacity, SystemUsage::default())
}

fn memory(curve: Value) -> Arc<PodUsage> {
    Arc::new(read(json!({ "containers": [{ "name": "c", "memory": curve }] })))
}

fn simple(name: &str) -> Pod {
    pod(name, json!({ "containers": [{ "name": "c" }] }))
}

const HARD: [(&str, &str); 1] = [("eviction-hard", "memory.available<1Gi")];

/// A day has 8640 passes; those that find nothing are not run.
#[test]
fn passes_that_find_nothing_are_not_run() {
    for (curve, passes) in [
        (json!({ "constant": "2Gi" }), 1),
        (json!({ "sawtooth": { "low": "1Gi", "high": "3Gi", "period": "1m" } }), 1),
        (json!({ "ramp": { "from": "0", "to": "3Gi", "end": "20h" } }), 1),
        (json!({ "step": { "before": "1Gi", "after": "2Gi", "at": "10h" } }), 1),
    ] {
        let mut run = run(&HARD, memory_node(4));
        run.start(seconds(0), &simple("p"), memory(curve.clone()));
        run.advance_to(seconds(86_400));
        assert_eq!((run.passes, run.log.len()), (passes, 0), "{curve}");
        assert_eq!(run.manager.poll_timeout(), None);
    }
    // It crosses the threshold once, after 13.5 of 18 hours, and the pod goes in that pass. The
    // one that follows the clean-up finds nothing; the condition ends in the last.
    let mut run = run(&HARD, memory_node(4));
    let ramp = json!({ "ramp": { "from": "0", "to": "4Gi", "end": "18h" } });
    run.start(seconds(0), &simple("p"), memory(ramp));
    run.advance_to(seconds(86_400));
    let kills: Vec<u64> = run
        .log
        .iter()
        .filter(|entry| matches!(entry.what, Happened::Kill(_)))
        .map(|entry| entry.at.as_nanos() / 1_000_000_000)
        .collect();
    assert_eq!(kills, [48_610]);
    let conditions: Vec<_> = run
        .log
        .iter()
        .filter_map(|entry| match &entry.what {
            Happened::Pressures(now) => Some((entry.at.as_nanos() / 1_000_000_000, now.as_slice())),
            _ => None,
        })
        .collect();
    // Dead after 1 s, cleaned up 2.5 s later, seen after 4 s by the next question; passes from
    // there.
    assert_eq!(conditions, [(48_610, [Pressure::Memory].as_slice()), (48_914, &[])]);
    assert!(run.passes <= 5, "{}", run.passes);
}

/// The same curve begins again where the pod is started again.
#[test]
fn usage_grows_again_after_a_restart() {
    let mut run = run(&HARD, memory_node(4));
    let leak = memory(json!({ "ramp": { "from": "0", "to": "4Gi", "end": "200s" } }));
    let mut at = 0;
    for round in 0..3 {
        run.start(seconds(at), &simple("leak"), leak.clone());
        run.advance_to(seconds(at + 199));
        let kills = run.log.iter().filter(|entry| matches!(entry.what, Happened::Kill(_)));
        assert_eq!(kills.count(), round + 1);
        at += 200;
    }
}

/// A soft eviction leaves a pod the shorter of both grace periods, since 1.32.
#[test]
fn the_shorter_grace_period_counts() {
    for (own, grace) in [(Some(60), 20), (Some(5), 5), (None, 20)] {
        let flags = [
            ("eviction-hard", ""),
            ("eviction-soft", "memory.available<1Gi"),
            ("eviction-soft-grace-period", "memory.available=1m"),
            ("eviction-max-pod-grace-period", "20"),
        ];
        let mut run = run(&flags, memory_node(4));
        let mut pod = simple("p");
        pod.spec.termination_grace_period_seconds = own;
        run.start(seconds(0), &pod, memory(json!({ "constant": "3584Mi" })));
        run.advance_to(seconds(60));
        assert!(run.manager.killing().is_some());
        run.advance_to(seconds(60 + grace));
        assert!(run.manager.killing().is_none(), "{own:?}");
        assert!(run.log.iter().any(|entry| entry.at == seconds(60)));
    }
}

/// Distances, grace periods and the ranking are plain values, ready for a page.
#[test]
fn explanations_are_plain_values() {
    let flags = [
        ("eviction-hard", "memory.available<10%"),
        ("eviction-soft", "memory.available<1Gi"),
        ("eviction-soft-grace-period", "memory.available=1m"),
        ("eviction-minimum-reclaim", "memory.available=500Mi"),
        ("eviction-max-pod-grace-period", "1"),
    ];
    let mut run = run(&flags, memory_node(4));
    run.start(seconds(0), &simple("big"), memory(json!({ "constant": "3Gi" })));
    run.start(seconds(0), &simple("small"), memory(json!({ "constant": "512Mi" })));
    run.advance_to(seconds(25));
    let now = seconds(25);
    let observations = run.manager.observations_of(now, &run.usage);
    let distances = serde_json::to_value(run.manager.distances(&observations)).unwrap();
    let gi = 1_i64 << 30;
    assert_eq!(
        distances,
        json!([
            {
                "signal": "memory.available", "hard": true, "value": "10%",
                "threshold": 429_496_736, "resolvedAt": 429_496_736 + (500 << 20),
                "available": gi / 2, "capacity": 4 * gi, "distance": gi / 2 - 429_496_736,
                "state": { "state": "notMet" },
            },
            {
                "signal": "memory.available", "hard": false, "value": "1Gi",
                "threshold": gi, "resolvedAt": gi + (500 << 20),
                "available": gi / 2, "capacity": 4 * gi, "distance": gi / 2 - gi,
                "state": {
                    "state": "inGracePeriod", "since": 0.0, "until": 60_000.0,
                },
            },
        ])
    );
    let conditions = serde_json::to_value(run.manager.conditions(now)).unwrap();
    // Seen last by the pass at 20 s, which was not run.
    assert_eq!(
        conditions,
        json!([{ "pressure": "MemoryPressure", "observed": true, "until": 320_000.0 }])
    );
    let summary = run.usage.summary(now, Layout::OneFilesystem);
    let ranking = run.manager.ranking(Signal::MemoryAvailable, &summary).unwrap();
    let ranking = serde_json::to_value(ranking).unwrap();
    assert_eq!(ranking["keys"], json!(["exceedsRequest", "priority", "usageAboveRequest"]));
    assert_eq!(
        ranking["pods"][0],
        json!({
            "pod": "default/big", "hasStats": true, "qosClass": "BestEffort",
            "priority": 0, "usage": 3 * gi, "request": "0", "exceedsRequest": true,
            "beforeNextBy": "usageAboveRequest",
            "behindNextIf": [
                { "type": "raisePriority", "to": 1 },
                { "type": "raiseRequest", "to": 3 * gi - gi / 2 + 1 },
                { "type": "lowerUsage", "to": gi / 2 - 1 },
            ],
        })
    );
    assert_eq!(ranking["pods"][1]["beforeNextBy"], Value::Null);
    let states = |run: &Run, at: u64| -> Vec<Value> {
        let observations = run.manager.observations_of(seconds(at), &run.usage);
        let distances = run.manager.distances(&observations);
        distances.iter().map(|distance| serde_json::to_value(distance.state).unwrap()).collect()
    };
    // The grace period is over: it goes, and takes a second for that.
    run.advance_to(seconds(60));
    let not_met = json!({ "state": "notMet" });
    let acting = json!({ "state": "acting", "since": 0.0 });
    assert_eq!(run.manager.killing(), Some(&PodKey::new("default", "big")));
    assert_eq!(states(&run, 60), [not_met.clone(), acting]);
    // Gone; another one takes so much that there is enough but for the minimum reclaim.
    run.advance_to(seconds(61));
    assert_eq!(states(&run, 61), [not_met.clone(), not_met.clone()]);
    run.start(seconds(61), &simple("other"), memory(json!({ "constant": "2304Mi" })));
    let reclaiming = json!({ "state": "reclaiming", "since": 0.0 });
    assert_eq!(states(&run, 61), [not_met.clone(), reclaiming]);
    // Nothing is left, and no pass has seen it yet.
    run.start(seconds(62), &simple("huge"), memory(json!({ "constant": "4Gi" })));
    assert_eq!(states(&run, 62)[0], json!({ "state": "unnoticed" }));
}

/// What a user may write wrongly is refused with its place.
#[test]
fn wrong_usage_is_refused() {
    let usage: PodUsage = read(json!({
        "containers": [{ "name": "c", "logs": { "ramp": {
            "from": 0, "to": 1, "start": "2s", "end": "1s"
        } } }],
    }));
    let error = usage.validate().unwrap_err();
    assert_eq!(error, "container `c`, logs: a ramp must end after its start");
    let unknown = serde_json::from_value::<PodUsage>(json!({ "containers": [{ "cpu": 1 }] }));
    assert!(unknown.unwrap_err().to_string().contains("unknown field `cpu`"));
    let quantity = json!({ "memory": "4GB" });
    let error = serde_json::from_value::<NodeCapacity>(quantity).unwrap_err().to_string();
    assert!(error.contains("`4GB` is not a quantity: quantities must match"), "{error}");
}
