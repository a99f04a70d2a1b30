//! The cases of upstream's own tests of the eviction manager (`eviction_manager_test.go`,
//! `helpers_test.go`, `memory_threshold_notifier_test.go`), by their names there.

use std::time::Duration;

use taintlab_core::api::{PodKey, Quantity};
use taintlab_core::kubelet::{
    ActionResult, DeadlineReason, EvictionConfig, KubeletVersion, Layout, NodeCapacity, NodeUsage,
    Observations, Pressure, Reclaim, Signal, SystemUsage, Threshold, ThresholdValue, UsageCurve,
    admit,
};
use taintlab_core::time::{Span, Timestamp};
use taintlab_tests::kubelet::{ContainerCase, Node, NodeCase, PodCase, Seen, VolumeCase, version};
use taintlab_tests::kubelet_run::{Foresight, Run};

const MI: u64 = 1 << 20;
const GI: u64 = 1 << 30;
const LOW: i32 = -1;
const DEFAULT: i32 = 0;
const HIGH: i32 = 1;

fn memory(available: u64) -> NodeCase {
    NodeCase {
        memory_available: Some(available),
        memory_working_set: Some(4 * GI - available.min(4 * GI)),
        allocatable_available: Some(3 * GI),
        allocatable_working_set: Some(GI),
        ..NodeCase::default()
    }
}

fn memory_pods() -> Vec<PodCase> {
    vec![
        PodCase::of_memory("guaranteed-low-priority-high-usage", LOW, Some("1Gi"), 900 * MI),
        PodCase::of_memory("burstable-below-requests", DEFAULT, Some("100Mi"), 50 * MI),
        PodCase::of_memory("burstable-above-requests", DEFAULT, Some("100Mi"), 400 * MI),
        PodCase::of_memory("best-effort-high-priority-high-usage", HIGH, None, 400 * MI),
        PodCase::of_memory("best-effort-low-priority-low-usage", LOW, None, 100 * MI),
    ]
}

/// A pod that uses disk: bytes and inodes of its writable layer, its logs and a volume.
fn disk_pod(
    name: &str,
    priority: i32,
    request: &str,
    root: u64,
    logs: u64,
    volume: u64,
) -> PodCase {
    PodCase {
        name: name.into(),
        priority: Some(priority),
        containers: vec![ContainerCase {
            name: "c".into(),
            ephemeral_request: Some(request.into()),
            rootfs_used: Some(root * MI),
            rootfs_inodes_used: Some(root * MI),
            logs_used: Some(logs * MI),
            logs_inodes_used: Some(logs * MI),
            ..ContainerCase::default()
        }],
        volumes: vec![VolumeCase {
            name: "local-volume".into(),
            r#type: "emptyDir".into(),
            used: Some(volume * MI),
            inodes_used: Some(volume * MI),
            size_limit: None,
        }],
        has_stats: true,
        ..PodCase::default()
    }
}

fn order(pods: Vec<PodCase>, layout: Layout, signal: Signal) -> Vec<String> {
    let node = Node::with_layout(version(31), layout, &[], pods);
    let summary = NodeCase::default().summary(&node.pods);
    let ranking = node.manager.ranking(signal, &summary).expect("a ranking");
    ranking.pods.iter().map(|pod| pod.candidate.pod.name().to_owned()).collect()
}

fn soft_and_hard() -> [(&'static str, &'static str); 5] {
    [
        ("eviction-hard", "memory.available<1Gi"),
        ("eviction-soft", "memory.available<2Gi"),
        ("eviction-soft-grace-period", "memory.available=2m"),
        ("eviction-max-pod-grace-period", "5"),
        ("eviction-pressure-transition-period", "5m"),
    ]
}

fn killed(seen: &Seen) -> Vec<(&str, i64)> {
    seen.kills.iter().map(|kill| (kill.pod.as_str(), kill.grace_period_override)).collect()
}

/// `TestMemoryPressure_VerifyPodStatus`
#[test]
fn memory_pressure_verify_pod_status() {
    for (minor, has_condition) in [(25, false), (26, true), (34, true)] {
        let pods = vec![
            PodCase::of_memory("below-requests", DEFAULT, Some("1Gi"), 900 * MI),
            PodCase::of_memory("above-requests", DEFAULT, Some("100Mi"), 700 * MI),
        ];
        let flags = [("eviction-hard", "memory.available<2Gi")];
        let mut node = Node::new(version(minor), &flags, pods);
        let seen = node.pass(0, memory(1_500 * MI));
        let kill = &seen.kills[0];
        assert_eq!(kill.pod, "above-requests");
        let target = kill.patch.disruption_target.as_ref();
        assert_eq!(target.is_some(), has_condition, "1.{minor}");
        if let Some(target) = target {
            assert_eq!(target.type_, "DisruptionTarget");
            assert_eq!(target.reason, "TerminationByKubelet");
            assert_eq!(target.message, kill.patch.message);
            assert_eq!(
                target.message,
                "The node was low on resource: memory. Threshold quantity: 2Gi, available: \
                 1500Mi. Container c1 was using 700Mi, request is 100Mi, has larger consumption \
                 of memory. "
            );
        }
    }
}

/// `TestMemoryPressure`
#[test]
fn memory_pressure() {
    for (minor, hard_grace) in [(20, 0), (31, 1)] {
        let best_effort = PodCase::of_memory("best-admit", DEFAULT, None, 0);
        let burstable = PodCase::of_memory("burst-admit", DEFAULT, Some("100Mi"), 0);
        let mut node = Node::new(version(minor), &soft_and_hard(), memory_pods());
        let admits = |node: &Node| {
            [&best_effort, &burstable].map(|pod| {
                let pod = pod.kubelet_pod(version(minor)).unwrap();
                admit(version(minor), node.manager.node_conditions(), &pod).is_admitted()
            })
        };
        assert!(node.pass(0, memory(2 * GI)).kills.is_empty());
        assert_eq!((node.conditions().len(), admits(&node)), (0, [true, true]));
        // Soft.
        assert!(node.pass(60, memory(1_500 * MI)).kills.is_empty());
        assert_eq!(node.conditions(), ["MemoryPressure"]);
        // Longer than the grace period.
        let seen = node.pass(240, memory(1_500 * MI));
        assert_eq!(killed(&seen), [("best-effort-low-priority-low-usage", 5)]);
        // Back.
        assert!(node.pass(1_440, memory(3 * GI)).kills.is_empty());
        assert!(node.conditions().is_empty());
        // Hard.
        let seen = node.pass(1_500, memory(500 * MI));
        assert_eq!(killed(&seen), [("burstable-above-requests", hard_grace)]);
        assert_eq!(admits(&node), [false, true]);
        // Enough again, but not for long enough.
        assert!(node.pass(1_560, memory(2 * GI)).kills.is_empty());
        assert_eq!((node.conditions().len(), admits(&node)), (1, [false, true]));
        assert!(node.pass(1_860, memory(2 * GI)).kills.is_empty());
        assert_eq!((node.conditions().len(), admits(&node)), (0, [true, true]));
    }
}

/// `TestDiskPressureNodeFs`
#[test]
fn disk_pressure_node_fs() {
    let flags = [
        ("eviction-hard", "nodefs.available<1Gi"),
        ("eviction-soft", "nodefs.available<2Gi"),
        ("eviction-soft-grace-period", "nodefs.available=2m"),
        ("eviction-max-pod-grace-period", "5"),
    ];
    let disk = |available: u64| NodeCase {
        nodefs_available: Some(available),
        nodefs_capacity: Some(200 * GI),
        ..NodeCase::default()
    };
    let pods = vec![
        disk_pod("low-priority-high-usage", LOW, "100Mi", 900, 0, 0),
        disk_pod("below-requests", DEFAULT, "100Mi", 0, 50, 0),
        disk_pod("above-requests", DEFAULT, "100Mi", 0, 0, 400),
        disk_pod("high-priority-high-usage", HIGH, "100Mi", 0, 400, 0),
        disk_pod("low-priority-low-usage", LOW, "100Mi", 0, 0, 100),
    ];
    let mut node = Node::new(version(20), &flags, pods);
    assert!(node.pass(0, disk(16 * GI)).kills.is_empty());
    assert!(node.conditions().is_empty());
    assert!(node.pass(60, disk(1_500 * MI)).kills.is_empty());
    assert_eq!(node.conditions(), ["DiskPressure"]);
    assert_eq!(killed(&node.pass(240, disk(1_500 * MI))), [("low-priority-high-usage", 5)]);
    assert!(node.pass(1_440, disk(16 * GI)).kills.is_empty());
    assert!(node.conditions().is_empty());
    assert_eq!(killed(&node.pass(1_500, disk(500 * MI))), [("above-requests", 0)]);
    // Nobody is admitted, whatever its class.
    let burstable =
        PodCase::of_memory("p", DEFAULT, Some("1Gi"), 0).kubelet_pod(version(20)).unwrap();
    assert!(!admit(version(20), node.manager.node_conditions(), &burstable).is_admitted());
}

/// `TestMinReclaim`
#[test]
fn min_reclaim() {
    let flags = [
        ("eviction-hard", "memory.available<1Gi"),
        ("eviction-minimum-reclaim", "memory.available=500Mi"),
        ("eviction-pressure-transition-period", "5m"),
    ];
    let mut node = Node::new(version(20), &flags, memory_pods());
    assert!(node.pass(0, memory(2 * GI)).kills.is_empty());
    let first = node.pass(60, memory(500 * MI));
    assert_eq!(killed(&first), [("best-effort-low-priority-low-usage", 0)]);
    // Above the threshold, not above the minimum reclaim.
    let second = node.pass(120, memory(1_200 * MI));
    assert_eq!(killed(&second), [("burstable-above-requests", 0)]);
    assert!(node.pass(180, memory(2 * GI)).kills.is_empty());
    assert_eq!(node.conditions(), ["MemoryPressure"]);
    assert!(node.pass(480, memory(2 * GI)).kills.is_empty());
    assert!(node.conditions().is_empty());
}

/// `TestNodeReclaimFuncs`
#[test]
fn node_reclaim_funcs() {
    use Reclaim::{UnusedContainers, UnusedImages};
    let of = |minor, layout, signal: &str| {
        let flag = format!("{signal}<1Gi");
        let flags = [("eviction-hard", flag.as_str())];
        let mut node = Node::with_layout(version(minor), layout, &flags, Vec::new());
        let low = NodeCase {
            nodefs_available: Some(MI),
            nodefs_capacity: Some(GI),
            imagefs_available: Some(MI),
            imagefs_capacity: Some(GI),
            ..memory(MI)
        };
        node.pass(0, low).reclaimed
    };
    let both = vec![UnusedContainers, UnusedImages];
    for minor in [20, 34] {
        assert_eq!(of(minor, Layout::OneFilesystem, "nodefs.available"), both);
        assert_eq!(of(minor, Layout::OneFilesystem, "imagefs.available"), both);
        assert_eq!(of(minor, Layout::DedicatedImageFs, "nodefs.available"), []);
        assert_eq!(of(minor, Layout::DedicatedImageFs, "imagefs.available"), both);
        assert_eq!(of(minor, Layout::OneFilesystem, "memory.available"), []);
    }
    assert_eq!(of(34, Layout::SplitImageFs, "nodefs.available"), [UnusedContainers]);
    assert_eq!(of(34, Layout::SplitImageFs, "imagefs.available"), [UnusedImages]);
    // What was freed is enough: nobody goes.
    let flags = [("eviction-hard", "nodefs.available<1Gi")];
    let mut node = Node::new(version(20), &flags, memory_pods());
    let disk = |available| NodeCase {
        nodefs_available: Some(available),
        nodefs_capacity: Some(200 * GI),
        ..NodeCase::default()
    };
    let done = &mut |_: &PodKey| Some(ActionResult::Done);
    assert!(node.pass_with(0, disk(MI), disk(16 * GI), done).kills.is_empty());
    assert_eq!(node.conditions(), ["DiskPressure"]);
    assert_eq!(node.pass_with(10, disk(MI), disk(MI), done).kills.len(), 1);
}

/// `TestInodePressureFsInodes`
#[test]
fn inode_pressure_fs_inodes() {
    let flags = [
        ("eviction-hard", "nodefs.inodesFree<1Mi"),
        ("eviction-soft", "nodefs.inodesFree<2Mi"),
        ("eviction-soft-grace-period", "nodefs.inodesFree=2m"),
        ("eviction-max-pod-grace-period", "5"),
    ];
    let inodes = |free: u64| NodeCase {
        nodefs_inodes_free: Some(free),
        nodefs_inodes: Some(4 * MI),
        ..NodeCase::default()
    };
    let pods = vec![
        disk_pod("low-priority-high-usage", LOW, "0", 900, 0, 0),
        disk_pod("low-priority-low-usage", LOW, "0", 100, 0, 0),
        disk_pod("high-priority", HIGH, "0", 900, 0, 0),
    ];
    let mut node = Node::new(version(20), &flags, pods);
    assert!(node.pass(0, inodes(3 * MI)).kills.is_empty());
    assert!(node.pass(60, inodes(3 * MI / 2)).kills.is_empty());
    assert_eq!(node.conditions(), ["DiskPressure"]);
    let seen = node.pass(240, inodes(3 * MI / 2));
    assert_eq!(killed(&seen), [("low-priority-high-usage", 5)]);
    assert_eq!(seen.kills[0].patch.message, "The node was low on resource: inodes. ");
    let seen = node.pass(300, inodes(MI / 2));
    assert_eq!(killed(&seen), [("low-priority-low-usage", 0)]);
}

/// `TestStaticCriticalPodsAreNotEvicted`
#[test]
fn static_critical_pods_are_not_evicted() {
    let mut fixed = PodCase::of_memory("static", 2_000_001_000, None, 500 * MI);
    fixed.r#static = true;
    let mut node = Node::new(version(20), &soft_and_hard(), vec![fixed]);
    assert!(node.pass(0, memory(1_500 * MI)).kills.is_empty());
    assert!(node.pass(240, memory(1_500 * MI)).kills.is_empty());
    assert_eq!(node.conditions(), ["MemoryPressure"]);
    assert!(node.pass(250, memory(500 * MI)).kills.is_empty());
}

/// `TestStorageLimitEvictions`
#[test]
fn storage_limit_evictions() {
    for (name, volume, limit, evicted) in [
        ("eviction due to rootfs above limit", (0, None), Some((1_200, "1Gi")), 1),
        ("no eviction due to rootfs at limit", (0, None), Some((1_024, "1Gi")), 0),
        ("no eviction without a limit", (5_000, None), None, 0),
        ("eviction due to emptyDir above limit", (1_025, Some("1Gi")), None, 1),
        ("no eviction due to emptyDir at limit", (1_024, Some("1Gi")), None, 0),
        ("eviction due to pod above the sum", (600, None), Some((500, "1Gi")), 1),
    ] {
        let (root, storage_limit) = limit.map_or((0, None), |(root, limit)| (root, Some(limit)));
        let mut pod = disk_pod("p", DEFAULT, "0", root, 0, volume.0);
        pod.volumes[0].size_limit = volume.1.map(Into::into);
        pod.containers[0].ephemeral_limit = storage_limit.map(Into::into);
        let flags = [("eviction-hard", "memory.available<1Gi")];
        let mut node = Node::new(version(20), &flags, vec![pod.clone()]);
        assert_eq!(node.pass(0, memory(2 * GI)).kills.len(), evicted, "{name}");
        // Unless limits are not enforced.
        let flags = [flags[0], ("local-storage-capacity-isolation", "false")];
        let mut node = Node::new(version(20), &flags, vec![pod]);
        assert!(node.pass(0, memory(2 * GI)).kills.is_empty());
    }
}

/// `TestAllocatableMemoryPressure`
#[test]
fn allocatable_memory_pressure() {
    let flags = [("enforce-node-allocatable", "pods"), ("eviction-hard", "memory.available<1Gi")];
    let mut node = Node::new(version(20), &flags, memory_pods());
    let allocatable = |available| NodeCase {
        allocatable_available: Some(available),
        allocatable_working_set: Some(4 * GI - available),
        ..memory(4 * GI)
    };
    assert!(node.pass(0, allocatable(2 * GI)).kills.is_empty());
    let seen = node.pass(60, allocatable(500 * MI));
    assert_eq!(killed(&seen), [("best-effort-low-priority-low-usage", 0)]);
    assert_eq!(node.conditions(), ["MemoryPressure"]);
    // What is left of it as a user's own threshold has no operator.
    let flags = [("eviction-hard", "allocatableMemory.available<1Gi")];
    let mut node = Node::new(version(20), &flags, memory_pods());
    assert!(node.pass(0, allocatable(500 * MI)).kills.is_empty());
}

/// `TestPIDPressure`
#[test]
fn pid_pressure() {
    let flags = [
        ("eviction-hard", "pid.available<1200"),
        ("eviction-soft", "pid.available<1500"),
        ("eviction-soft-grace-period", "pid.available=2m"),
        ("eviction-max-pod-grace-period", "5"),
    ];
    let with = |name, priority, processes| PodCase {
        process_count: Some(processes),
        ..PodCase::of_memory(name, priority, None, 0)
    };
    let pods = vec![with("high", HIGH, 900), with("low-few", LOW, 10), with("low-many", LOW, 800)];
    let pids = |available: i64| NodeCase {
        max_pid: Some(4_096),
        num_processes: Some(4_096 - available),
        ..NodeCase::default()
    };
    let mut node = Node::new(version(20), &flags, pods);
    assert!(node.pass(0, pids(2_000)).kills.is_empty());
    assert!(node.pass(60, pids(1_400)).kills.is_empty());
    assert_eq!(node.conditions(), ["PIDPressure"]);
    assert_eq!(killed(&node.pass(240, pids(1_400))), [("low-many", 5)]);
    let seen = node.pass(250, pids(1_000));
    assert_eq!(killed(&seen), [("low-few", 0)]);
    assert_eq!(seen.kills[0].patch.message, "The node was low on resource: pids. ");
}

/// `TestUpdateThreshold` and `TestStart` of the memory threshold notifier: the kernel tells of a
/// crossing, and a pass follows at once.
#[test]
fn update_memcg_threshold() {
    let q = |mebibytes: u64| Quantity::parse(&format!("{mebibytes}Mi")).unwrap();
    let capacity = NodeCapacity { memory: Some(q(4_096)), ..NodeCapacity::default() };
    let seconds = |seconds| Span(Duration::from_secs(seconds));
    let memory =
        UsageCurve::Ramp { from: q(0), to: q(4_000), start: seconds(0), end: seconds(100) };
    let usage = NodeUsage::new(capacity, SystemUsage { memory, ..SystemUsage::default() });
    for notifies in [false, true] {
        let mut config = EvictionConfig::of(version(20)).unwrap();
        config.kernel_memcg_notification = notifies;
        config.thresholds.retain(|threshold| threshold.signal == Signal::MemoryAvailable);
        config.thresholds[0].value = ThresholdValue::Quantity(q(1_024));
        let layout = Layout::OneFilesystem;
        let mut run = Run::new(version(20), config, layout, usage.clone(), Foresight::Curves);
        run.advance_to(Timestamp::from_secs(60));
        // 3072 MiB are used after 76.8 s; the next pass but for the kernel is at 80 s.
        let deadline = run.manager.poll_timeout().expect("a deadline");
        let millis = deadline.at.as_nanos() / 1_000_000;
        if notifies {
            assert_eq!((deadline.reason, millis), (DeadlineReason::MemoryNotification, 76_800));
        } else {
            assert_eq!((deadline.reason, millis), (DeadlineReason::Synchronize, 80_000));
        }
        run.advance_to(deadline.at);
        assert_eq!(run.manager.node_conditions(), [Pressure::Memory]);
    }
}

/// `TestOrderedByExceedsRequestMemory`, `TestOrderedByPriority`, `TestOrderedByMemory`,
/// `TestOrderedByPriorityMemory`
#[test]
fn ordered_by_memory() {
    let pods = vec![
        PodCase::of_memory("below-requests-small", DEFAULT, Some("1Gi"), 300 * MI),
        PodCase::of_memory("exceeds-high-priority", HIGH, Some("100Mi"), 900 * MI),
        PodCase::of_memory("exceeds-low-priority-little", LOW, Some("100Mi"), 150 * MI),
        PodCase::of_memory("exceeds-low-priority-much", LOW, Some("100Mi"), 400 * MI),
        PodCase::of_memory("below-requests-nearly", DEFAULT, Some("1Gi"), 1_000 * MI),
        PodCase { has_stats: false, ..PodCase::of_memory("no-stats", HIGH, Some("9Gi"), 0) },
    ];
    assert_eq!(
        order(pods, Layout::OneFilesystem, Signal::MemoryAvailable),
        [
            "no-stats",
            "exceeds-low-priority-much",
            "exceeds-low-priority-little",
            "exceeds-high-priority",
            "below-requests-nearly",
            "below-requests-small"
        ]
    );
}

/// `TestOrderedbyDisk`, `TestOrderedbyInodes`, `TestOrderedByPriorityDisk`,
/// `TestOrderedByPriorityInodes`
#[test]
fn ordered_by_disk() {
    let pods = || {
        vec![
            disk_pod("rootfs", DEFAULT, "0", 300, 0, 0),
            disk_pod("logs", DEFAULT, "0", 0, 200, 0),
            disk_pod("volume", DEFAULT, "0", 0, 0, 400),
            disk_pod("asked", DEFAULT, "1Gi", 500, 0, 0),
            disk_pod("low", LOW, "0", 1, 1, 1),
        ]
    };
    let one = order(pods(), Layout::OneFilesystem, Signal::NodeFsAvailable);
    assert_eq!(one, ["low", "volume", "rootfs", "logs", "asked"]);
    let node = order(pods(), Layout::DedicatedImageFs, Signal::NodeFsAvailable);
    assert_eq!(node, ["low", "volume", "logs", "rootfs", "asked"]);
    let images = order(pods(), Layout::DedicatedImageFs, Signal::ImageFsAvailable);
    assert_eq!(images, ["low", "rootfs", "logs", "volume", "asked"]);
    // The request of bytes counts against the inodes, too.
    let inodes = order(pods(), Layout::OneFilesystem, Signal::NodeFsInodesFree);
    assert_eq!(inodes, ["low", "volume", "rootfs", "logs", "asked"]);
}

/// `TestOrderedByPriorityProcesses`
#[test]
fn ordered_by_priority_processes() {
    let with = |name, priority, processes| PodCase {
        process_count: processes,
        ..PodCase::of_memory(name, priority, None, 0)
    };
    let pods = vec![
        with("high-many", HIGH, Some(900)),
        with("few", DEFAULT, Some(3)),
        with("unknown", DEFAULT, None),
        with("many", DEFAULT, Some(90)),
    ];
    let order = order(pods, Layout::OneFilesystem, Signal::PidAvailable);
    assert_eq!(order, ["many", "few", "unknown", "high-many"]);
}

fn threshold(signal: Signal, value: ThresholdValue, min_reclaim: Option<&str>) -> Threshold {
    Threshold {
        signal,
        less_than: true,
        value,
        grace_period: Duration::ZERO,
        min_reclaim: min_reclaim
            .map(|text| ThresholdValue::Quantity(Quantity::parse(text).unwrap())),
    }
}

/// `TestThresholdsMet`, `TestPercentageThresholdsMet`
#[test]
fn thresholds_met() {
    let quantity = |text: &str| ThresholdValue::Quantity(Quantity::parse(text).unwrap());
    let at = |available: u64| {
        let node = NodeCase {
            memory_available: Some(available),
            memory_working_set: Some(10 * GI - available),
            ..NodeCase::default()
        };
        let observations = Observations::of(&node.summary(&[]).node);
        *observations.get(Signal::MemoryAvailable).expect("an observation")
    };
    let signal = Signal::MemoryAvailable;
    let hard = threshold(signal, quantity("1Gi"), Some("500Mi"));
    for (available, met, with_min_reclaim) in [
        (500 * MI, true, true),
        (GI, false, true),
        (1_523 * MI, false, true),
        (1_524 * MI, false, false),
        (2 * GI, false, false),
    ] {
        assert_eq!(hard.is_met(&at(available), false), met, "{available}");
        assert_eq!(hard.is_met(&at(available), true), with_min_reclaim, "{available}");
    }
    let percent = threshold(signal, ThresholdValue::Percentage(0.2), None);
    assert!(percent.is_met(&at(2 * GI - 512), false));
    assert!(!percent.is_met(&at(2 * GI + 512), false));
    let operator = Threshold { less_than: false, ..hard };
    assert!(!operator.is_met(&at(0), false));
}

/// `TestMakeSignalObservations`
#[test]
fn make_signal_observations() {
    let node = NodeCase {
        nodefs_available: Some(GI),
        nodefs_capacity: Some(2 * GI),
        nodefs_inodes_free: Some(7),
        imagefs_available: Some(GI),
        max_pid: Some(100),
        num_processes: Some(120),
        stats_time: Some(5),
        ..memory(3 * GI)
    };
    let observations = Observations::of(&node.summary(&[]).node);
    let figures = |signal| observations.get(signal).map(|seen| (seen.available, seen.capacity));
    let gi = |count: i64| count << 30;
    assert_eq!(figures(Signal::MemoryAvailable), Some((gi(3), gi(4))));
    assert_eq!(figures(Signal::AllocatableMemoryAvailable), Some((gi(3), gi(4))));
    assert_eq!(figures(Signal::NodeFsAvailable), Some((gi(1), gi(2))));
    // A figure is missing.
    assert_eq!(figures(Signal::NodeFsInodesFree), None);
    assert_eq!(figures(Signal::ImageFsAvailable), None);
    assert_eq!(figures(Signal::PidAvailable), Some((-20, 100)));
    let time = observations.get(Signal::PidAvailable).and_then(|seen| seen.time);
    assert_eq!(time, Some(Timestamp::from_secs(5)));
}

/// `TestSortByEvictionPriority`: memory before all others; within that, this engine's order.
#[test]
fn sort_by_eviction_priority() {
    let flags = [
        ("eviction-hard", "nodefs.available<1Gi,pid.available<100,memory.available<1Gi"),
        ("eviction-pressure-transition-period", "1s"),
    ];
    let low = |memory_available| NodeCase {
        nodefs_available: Some(0),
        nodefs_capacity: Some(GI),
        max_pid: Some(100),
        num_processes: Some(100),
        ..memory(memory_available)
    };
    let attempts = |node: &mut Node, t, case| node.pass(t, case).events[0].clone();
    let mut node = Node::new(version(20), &flags, memory_pods());
    let prefix = "node/node|Warning|EvictionThresholdMet|Attempting to reclaim ";
    assert_eq!(attempts(&mut node, 0, low(MI)), format!("{prefix}memory"));
    assert_eq!(node.conditions(), ["MemoryPressure", "DiskPressure", "PIDPressure"]);
    assert_eq!(attempts(&mut node, 10, low(2 * GI)), format!("{prefix}ephemeral-storage"));
    let disk = NodeCase { nodefs_available: Some(GI), ..low(2 * GI) };
    assert_eq!(attempts(&mut node, 20, disk), format!("{prefix}pids"));
}

/// `TestUpdateContainerFsThresholds`
#[test]
fn update_container_fs_thresholds() {
    let flags = [(
        "eviction-hard",
        "nodefs.available<1Gi,imagefs.available<2Gi,nodefs.inodesFree<10%,containerfs.available<9Gi",
    )];
    for (layout, space, inodes) in [
        (Layout::OneFilesystem, "1Gi", Some("10%")),
        (Layout::SplitImageFs, "1Gi", Some("10%")),
        (Layout::DedicatedImageFs, "2Gi", None),
    ] {
        let mut node = Node::with_layout(version(31), layout, &flags, Vec::new());
        node.pass(0, memory(GI));
        let value = |signal| {
            let mut all = node.manager.thresholds().iter();
            all.find(|threshold| threshold.signal == signal).map(|t| t.value.describe())
        };
        assert_eq!(value(Signal::ContainerFsAvailable).as_deref(), Some(space), "{layout:?}");
        assert_eq!(value(Signal::ContainerFsInodesFree).as_deref(), inodes, "{layout:?}");
    }
    let mut old = Node::new(version(20), &[("eviction-hard", "nodefs.available<1Gi")], Vec::new());
    old.pass(0, memory(GI));
    assert_eq!(old.manager.thresholds().len(), 1);
}

/// The tests of the 1.5 era by their names then: `TestOrderedByQoS`, `TestOrderedByQoSMemory`,
/// `TestOrderedByQoSDisk`.
#[test]
fn ordered_by_qos() {
    let with_disk = |name: &str, request: Option<&str>, root: u64| {
        let mut pod = PodCase::of_memory(name, DEFAULT, request, 0);
        pod.containers[0].rootfs_used = Some(root * MI);
        pod
    };
    let pods = vec![
        with_disk("burstable-much", Some("1"), 900),
        with_disk("best-effort-little", None, 1),
        with_disk("best-effort-much", None, 2),
    ];
    let old = KubeletVersion::QosEra;
    let node = Node::new(old, &[], pods);
    let summary = NodeCase::default().summary(&node.pods);
    let ranking = node.manager.ranking(Signal::NodeFsAvailable, &summary).expect("a ranking");
    let names: Vec<&str> = ranking.pods.iter().map(|pod| pod.candidate.pod.name()).collect();
    assert_eq!(names, ["best-effort-much", "best-effort-little", "burstable-much"]);
    // Images share the file system: there is no way to rank for them.
    assert_eq!(node.manager.ranking(Signal::ImageFsAvailable, &summary), None);
}
