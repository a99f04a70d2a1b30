//! The examples of the eviction manager in `docs/behaviours.md`, K1 to K18 (K4 to K6 are beside the
//! code that reads settings), and what later releases changed about them.

use std::sync::Arc;
use std::time::Duration;

use taintlab_core::api::PodKey;
use taintlab_core::kubelet::{
    ActionResult, Admission, DeadlineReason, EvictionConfig, EvictionManagerReport,
    KubeletConfiguration, KubeletPod, KubeletVersion, Layout, Pressure, Reclaim, Signal, admit,
};
use taintlab_core::time::Timestamp;
use taintlab_tests::kubelet::{
    ContainerCase, Node, NodeCase, PodCase, Seen, VolumeCase, drain, version,
};

const MI: u64 = 1 << 20;
const GI: u64 = 1 << 30;

fn memory(available: u64) -> NodeCase {
    let working_set = (64 * GI).saturating_sub(available);
    NodeCase {
        memory_available: Some(available),
        memory_working_set: Some(working_set),
        ..NodeCase::default()
    }
}

fn nodefs(available: u64) -> NodeCase {
    NodeCase {
        nodefs_available: Some(available),
        nodefs_capacity: Some(100 * GI),
        ..NodeCase::default()
    }
}

fn k1_pods() -> Vec<PodCase> {
    vec![
        PodCase::of_memory("g", -1, Some("1Gi"), 900 * MI),
        PodCase::of_memory("bu-below", 0, Some("100Mi"), 50 * MI),
        PodCase::of_memory("bu-above", 0, Some("100Mi"), 400 * MI),
        PodCase::of_memory("be-hi", 1, None, 400 * MI),
        PodCase::of_memory("be-lo", -1, None, 100 * MI),
        PodCase::of_memory("be0", 0, None, 250 * MI),
    ]
}

fn ranking(node: &Node, signal: Signal) -> Vec<String> {
    let summary = NodeCase::default().summary(&node.pods);
    let ranking = node.manager.ranking(signal, &summary).expect("a ranking");
    ranking.pods.iter().map(|pod| pod.candidate.pod.name().to_owned()).collect()
}

#[test]
fn k1_minimum_reclaim_and_transition_period() {
    let flags = [
        ("eviction-hard", "memory.available<1Gi"),
        ("eviction-minimum-reclaim", "memory.available=500Mi"),
        ("eviction-pressure-transition-period", "30s"),
    ];
    let mut node = Node::new(version(20), &flags, k1_pods());
    let order = ["be-lo", "bu-above", "be0", "be-hi", "g", "bu-below"];
    assert_eq!(ranking(&node, Signal::MemoryAvailable), order);
    for (t, available, pressure, evicted) in [
        (0, 2 * GI, false, ""),
        (10, GI, false, ""),
        (20, 1_023 * MI, true, "be-lo"),
        (30, 1_200 * MI, true, "bu-above"),
        (40, 1_523 * MI, true, "be0"),
        (50, 1_524 * MI, true, ""),
        (60, 1_524 * MI, true, ""),
        (70, 1_524 * MI, false, ""),
    ] {
        let seen = node.pass(t, memory(available));
        assert_eq!(seen.evicted.join(" "), evicted, "at {t} s");
        assert!(seen.kills.iter().all(|kill| kill.grace_period_override == 0));
        assert_eq!(!node.conditions().is_empty(), pressure, "at {t} s");
    }
}

#[test]
fn k2_soft_threshold() {
    let flags = [
        ("eviction-hard", ""),
        ("eviction-soft", "memory.available<2Gi"),
        ("eviction-soft-grace-period", "memory.available=30s"),
        ("eviction-minimum-reclaim", "memory.available=500Mi"),
        ("eviction-max-pod-grace-period", "7"),
        ("eviction-pressure-transition-period", "60s"),
    ];
    let mut node = Node::new(version(20), &flags, vec![PodCase::of_memory("p", 0, None, MI)]);
    node.leaves = false;
    for (t, available, pressure, killed) in [
        (0, 1_900, true, false),
        (10, 1_900, true, false),
        (20, 2_100, true, false),
        (30, 1_900, true, false),
        (40, 1_900, true, false),
        (50, 1_900, true, false),
        (60, 1_900, true, true),
        (70, 2_400, true, true),
        (80, 2_600, true, false),
        (90, 2_600, true, false),
        (120, 2_600, true, false),
        (130, 2_600, false, false),
    ] {
        let seen = node.pass(t, memory(available * MI));
        let graces: Vec<i64> = seen.kills.iter().map(|kill| kill.grace_period_override).collect();
        assert_eq!(graces, if killed { vec![7] } else { vec![] }, "at {t} s");
        assert_eq!(!node.conditions().is_empty(), pressure, "at {t} s");
    }
}

#[test]
fn k3_soft_then_hard() {
    let flags = [
        ("eviction-hard", "memory.available<1Gi"),
        ("eviction-soft", "memory.available<2Gi"),
        ("eviction-soft-grace-period", "memory.available=2m"),
        ("eviction-max-pod-grace-period", "5"),
    ];
    let mut node = Node::new(version(20), &flags, k1_pods());
    let mut pass = |t, available: u64| {
        let seen = node.pass(t, memory(available));
        let kills = seen.kills.iter().map(|kill| (kill.pod.clone(), kill.grace_period_override));
        (kills.collect::<Vec<_>>(), !node.conditions().is_empty())
    };
    assert_eq!(pass(0, 2 * GI), (vec![], false));
    assert_eq!(pass(60, 1_500 * MI), (vec![], true));
    assert_eq!(pass(240, 1_500 * MI), (vec![("be-lo".to_owned(), 5)], true));
    assert_eq!(pass(1_440, 3 * GI), (vec![], false));
    assert_eq!(pass(1_500, 500 * MI), (vec![("bu-above".to_owned(), 0)], true));
}

#[test]
fn k7_allocatable_thresholds() {
    let mut settings = KubeletConfiguration::default();
    for (name, value) in [
        ("eviction-hard", "memory.available<100Mi"),
        ("eviction-soft", "memory.available<300Mi"),
        ("eviction-soft-grace-period", "memory.available=0s"),
        ("eviction-minimum-reclaim", "memory.available=50Mi"),
    ] {
        settings.set_flag(version(20), name, value).unwrap();
    }
    let config = settings.eviction_config(version(20)).unwrap();
    let thresholds: Vec<String> = config
        .thresholds
        .iter()
        .map(|threshold| {
            assert!(threshold.is_hard());
            let reclaim = threshold.min_reclaim.as_ref().expect("a minimum reclaim").describe();
            assert_eq!(reclaim, "50Mi");
            format!("{} {}", threshold.signal, threshold.value.describe())
        })
        .collect();
    assert_eq!(
        thresholds,
        [
            "memory.available 100Mi",
            "memory.available 300Mi",
            "allocatableMemory.available 100Mi",
            "allocatableMemory.available 300Mi"
        ]
    );
}

#[test]
fn k8_messages() {
    let flags = [("eviction-hard", "memory.available<1Gi")];
    let low = "The node was low on resource: memory. ";
    for (request, usages, sentences) in [
        (
            None,
            [100 * MI, 1],
            "Container c1 was using 100Mi, which exceeds its request of 0. \
             Container c2 was using 1, which exceeds its request of 0. ",
        ),
        (
            Some("100Mi"),
            [400 * MI, 1],
            "Container c1 was using 400Mi, which exceeds its request of 100Mi. ",
        ),
        (Some("100Mi"), [100 * MI, 1], ""),
        (
            Some("100Mi"),
            [419_430_401, 1],
            "Container c1 was using 419430401, which exceeds its request of 100Mi. ",
        ),
        (
            Some("0.5Gi"),
            [GI, 1],
            "Container c1 was using 1Gi, which exceeds its request of 512Mi. ",
        ),
    ] {
        let mut victim = PodCase::of_memory("p", 0, request, usages[0]);
        let mut second = victim.containers[0].clone();
        second.name = "c2".into();
        second.memory_working_set = Some(usages[1]);
        victim.containers.push(second);
        let mut node = Node::new(version(20), &flags, vec![victim]);
        let seen = node.pass(0, memory(1_023 * MI));
        let message = format!("{low}{sentences}");
        assert_eq!(seen.kills[0].patch.message, message);
        assert_eq!(
            seen.events,
            [
                "node/node|Warning|EvictionThresholdMet|Attempting to reclaim memory".to_owned(),
                format!("pod/p|Warning|Evicted|{message}")
            ]
        );
        let annotations = seen.annotations.expect("annotations");
        assert_eq!(annotations["starved_resource"], "memory");
        let names = annotations["offending_containers"].split_terminator(',').count();
        assert_eq!(names, sentences.matches("Container ").count());
    }
}

#[test]
fn k9_disk_ranking() {
    let disk = |name: &str, priority, request: &str, root: u64, logs: u64| PodCase {
        name: name.into(),
        priority: Some(priority),
        containers: vec![ContainerCase {
            name: "c1".into(),
            ephemeral_request: Some(request.into()),
            rootfs_used: Some(root * MI),
            logs_used: Some(logs * MI),
            ..ContainerCase::default()
        }],
        has_stats: true,
        ..PodCase::default()
    };
    let pods = vec![
        disk("low-below", -1, "900Mi", 850, 0),
        disk("hi-over", 1, "100Mi", 0, 1_000),
        disk("def-500", 0, "400Mi", 500, 0),
    ];
    let node = |layout| Node::with_layout(version(20), layout, &[], pods.clone());
    let one = node(Layout::OneFilesystem);
    let order = ["def-500", "hi-over", "low-below"];
    assert_eq!(ranking(&one, Signal::NodeFsAvailable), order);
    assert_eq!(ranking(&one, Signal::ImageFsAvailable), order);
    let two = node(Layout::DedicatedImageFs);
    assert_eq!(ranking(&two, Signal::NodeFsAvailable), ["hi-over", "low-below", "def-500"]);
    assert_eq!(ranking(&two, Signal::ImageFsAvailable), ["def-500", "low-below", "hi-over"]);
    // Images apart: writable layers are on the kubelet's file system; 1.20 does not know that.
    assert_eq!(
        ranking(&node(Layout::SplitImageFs), Signal::NodeFsAvailable),
        ranking(&two, Signal::NodeFsAvailable)
    );
    let split = Node::with_layout(version(31), Layout::SplitImageFs, &[], pods);
    assert_eq!(ranking(&split, Signal::NodeFsAvailable), order);
    assert_eq!(ranking(&split, Signal::ContainerFsAvailable), order);
    // Nobody uses any of it: by priority.
    let images = ranking(&split, Signal::ImageFsAvailable);
    assert_eq!(images, ["low-below", "def-500", "hi-over"]);
}

#[test]
fn k10_reclaim_before_eviction() {
    let flags = [
        ("eviction-hard", "nodefs.available<1Gi"),
        ("eviction-minimum-reclaim", "nodefs.available=500Mi"),
    ];
    for (minor, second) in [(20, 0), (22, 1)] {
        let mut node = Node::new(version(minor), &flags, k1_pods());
        let mut pass = |t, available: u64, after: u64| {
            let killed = &mut |_: &PodKey| Some(ActionResult::Done);
            let seen = node.pass_with(t, nodefs(available * MI), nodefs(after * MI), killed);
            assert_eq!(seen.reclaimed, [Reclaim::UnusedContainers, Reclaim::UnusedImages]);
            let attempt = "|EvictionThresholdMet|Attempting to reclaim ephemeral-storage";
            assert!(seen.events[0].ends_with(attempt));
            seen.evicted.len()
        };
        // Enough for the threshold; since 1.22 not for the minimum reclaim.
        assert_eq!(pass(0, 900, 1_100), second, "1.{minor}");
        assert_eq!(pass(10, 1_100, 1_200), second, "1.{minor}");
        assert_eq!(pass(20, 900, 950), 1, "1.{minor}");
    }
}

#[test]
fn k11_ranking_by_qos_class() {
    let both = |name: &str, memory: &str, limits: bool, usage: u64| {
        let mut pod = PodCase::of_memory(name, 0, Some(memory), usage);
        pod.containers[0].cpu_request = Some("100m".into());
        pod.containers[0].memory_limit = limits.then(|| memory.into());
        pod
    };
    let mut guaranteed = both("gu", "10Gi", true, 11 * GI).pod();
    let containers = guaranteed.spec.other.get("containers").unwrap().clone();
    let mut containers = containers;
    containers[0]["resources"]["limits"]["cpu"] = "100m".into();
    guaranteed.spec.other.set("containers", containers);
    let pods = vec![
        both("gu", "10Gi", true, 11 * GI),
        both("bu-9", "1Gi", false, 9 * GI),
        both("bu-10", "1Gi", false, 10 * GI),
        PodCase::of_memory("be", 0, None, 50 * MI),
    ];
    let flags = [("eviction-hard", "memory.available<1Gi")];
    let mut node = Node::new(KubeletVersion::QosEra, &flags, pods);
    let guaranteed = KubeletPod::as_stored(KubeletVersion::QosEra, &guaranteed).unwrap();
    let key = guaranteed.key.clone();
    node.manager.handle_pod_update(Timestamp::ZERO, &key, Some(guaranteed.into()));
    assert_eq!(ranking(&node, Signal::MemoryAvailable), ["be", "bu-10", "bu-9", "gu"]);
    let seen = node.pass(0, memory(GI - 1));
    assert_eq!(seen.kills[0].patch.message, "The node was low on resource: memory.");
    assert_eq!((seen.evicted.join(" "), seen.annotations), ("be".to_owned(), None));
}

#[test]
fn k12_critical_pods_are_skipped_without_a_word() {
    let flags = [("eviction-hard", "memory.available<1Gi")];
    let mut critical = PodCase::of_memory("critical", 2_000_000_000, None, 40 * GI);
    let mut fixed = PodCase::of_memory("static", -9, None, 30 * GI);
    let mut mirror = PodCase::of_memory("mirror", -9, None, 20 * GI);
    fixed.r#static = true;
    mirror.mirror = true;
    let normal = PodCase::of_memory("normal", 1_999_999_999, Some("1Gi"), MI);
    let pods = vec![critical.clone(), fixed.clone(), mirror.clone(), normal];
    let mut node = Node::new(version(20), &flags, pods);
    let order = ["static", "mirror", "critical", "normal"];
    assert_eq!(ranking(&node, Signal::MemoryAvailable), order);
    let seen = node.pass(0, memory(MI));
    assert_eq!(seen.evicted, ["normal"]);
    assert_eq!(seen.events.len(), 2);
    let spared =
        seen.reports.iter().filter(|report| matches!(report, EvictionManagerReport::Spared { .. }));
    assert_eq!(spared.count(), 3);
    // With nobody else, nothing but the event of the node.
    let seen = node.pass(10, memory(MI));
    assert_eq!((seen.evicted.len(), seen.events.len()), (0, 1));
    let signal = Signal::MemoryAvailable;
    assert!(seen.reports.contains(&EvictionManagerReport::NobodyToEvict { signal }));
    // They are spared because of their own limits, too.
    for pod in [&mut critical, &mut fixed, &mut mirror] {
        pod.containers[0].ephemeral_limit = Some("1".into());
        pod.containers[0].logs_used = Some(2);
    }
    let mut node = Node::new(version(20), &flags, vec![critical, fixed, mirror]);
    assert!(node.pass(0, memory(2 * GI)).kills.is_empty());
}

#[test]
fn k13_a_kill_that_takes_too_long() {
    let soft = |version: KubeletVersion, grace: i32| {
        let mut config = EvictionConfig::of(version).unwrap();
        config.max_pod_grace_period_seconds = grace.into();
        config.thresholds.retain(|threshold| threshold.signal == Signal::MemoryAvailable);
        if grace > 0 {
            config.thresholds[0].grace_period = Duration::from_nanos(1);
        }
        config
    };
    for (version, grace, seconds) in [
        (version(20), 0, 10),
        (version(20), 7, 10),
        (version(20), 30, 45),
        (KubeletVersion::QosEra, 0, 2),
        (KubeletVersion::QosEra, 7, 10),
        (KubeletVersion::QosEra, 30, 45),
    ] {
        let pods = vec![
            PodCase::of_memory("first", 0, None, 2 * GI),
            PodCase::of_memory("second", 0, None, GI),
        ];
        let layout = Layout::OneFilesystem;
        let mut node = Node::with_config(version, layout, soft(version, grace), pods);
        let never = &mut |_: &PodKey| None;
        let start = if grace > 0 { 10 } else { 0 };
        node.pass_with(0, memory(MI), memory(MI), never);
        if grace > 0 {
            node.pass_with(10, memory(MI), memory(MI), never);
        }
        let deadline = node.manager.poll_timeout().expect("a deadline");
        assert_eq!(deadline.at, Timestamp::from_secs(start + seconds), "{version} {grace}");
        assert_eq!(
            deadline.reason,
            DeadlineReason::KillTimeout { pod: PodKey::new("default", "first") }
        );
        node.manager.handle_timeout(deadline.at);
        let none = &mut |_: &Seen| None;
        let (seen, _) = drain(&mut node.manager, deadline.at, none, never);
        assert_eq!(
            seen.events[0],
            "pod/first|Warning|ExceededGracePeriod|Container runtime did not kill the pod within \
             specified grace period."
        );
        let next: Vec<&str> = seen.kills.iter().map(|kill| kill.pod.as_str()).collect();
        if version == KubeletVersion::QosEra {
            assert_eq!((next, seen.evicted.len()), (vec!["second"], 0));
        } else {
            assert_eq!((next.len(), seen.evicted.join(" ")), (0, "first".to_owned()));
        }
    }
}

#[test]
fn k14_admission() {
    use Pressure::{Disk, Memory};
    let read = |version, case: &PodCase| case.kubelet_pod(version).unwrap();
    let best_effort = PodCase::of_memory("be", 0, None, 0);
    let burstable = PodCase::of_memory("bu", 0, Some("1Mi"), 0);
    let mut critical = PodCase::of_memory("critical", 2_000_000_000, None, 0);
    let new = version(20);
    let rejected =
        |message: &str| Admission::Rejected { reason: "Evicted", message: message.into() };
    assert_eq!(
        admit(new, &[Memory, Disk], &read(new, &best_effort)),
        rejected("The node had condition: [MemoryPressure DiskPressure]. ")
    );
    assert_eq!(
        admit(new, &[Memory], &read(new, &best_effort)),
        rejected("The node had condition: [MemoryPressure]. ")
    );
    assert!(admit(new, &[Memory], &read(new, &burstable)).is_admitted());
    assert!(!admit(new, &[Disk], &read(new, &burstable)).is_admitted());
    assert!(admit(new, &[Memory, Disk], &read(new, &critical)).is_admitted());
    critical.priority = None;
    critical.r#static = true;
    assert!(admit(new, &[Disk], &read(new, &critical)).is_admitted());
    let old = KubeletVersion::QosEra;
    assert!(admit(old, &[Memory, Disk], &read(old, &burstable)).is_admitted());
    assert_eq!(
        admit(old, &[Memory], &read(old, &best_effort)),
        rejected("The node was low on resource: [MemoryPressure].")
    );
    assert!(!admit(old, &[Disk], &read(old, &burstable)).is_admitted());
    let mut system = best_effort.pod();
    system.metadata.namespace = "kube-system".into();
    let annotation = "scheduler.alpha.kubernetes.io/critical-pod".to_owned();
    system.metadata.annotations.insert(annotation, String::new());
    let system = KubeletPod::as_stored(old, &system).unwrap();
    assert!(admit(old, &[Memory], &system).is_admitted());
    // What the pod is left with.
    let flags = [("eviction-hard", "nodefs.available<1Gi")];
    let mut node = Node::new(new, &flags, Vec::new());
    node.pass(0, nodefs(MI));
    node.manager.admit(&read(new, &burstable));
    let none = &mut |_: &Seen| None;
    let (seen, _) = drain(&mut node.manager, Timestamp::ZERO, none, &mut |_| None);
    assert_eq!(seen.events, ["pod/bu|Warning|Evicted|The node had condition: [DiskPressure]. "]);
    let mut object = burstable.pod();
    let patch = &seen.patches[0].1;
    patch.apply(&mut object, taintlab_core::time::Time::DEFAULT_START);
    let status = &object.status;
    assert_eq!(status.phase.as_str(), "Failed");
    assert_eq!(status.reason, "Evicted");
    assert_eq!(status.message, "Pod The node had condition: [DiskPressure]. ");
    assert!(status.conditions.is_empty());
}

#[test]
fn k15_figures_that_are_not_newer() {
    let flags =
        [("eviction-hard", "memory.available<1Gi"), ("eviction-pressure-transition-period", "15s")];
    let old_figures = NodeCase { stats_time: Some(5), ..memory(MI) };
    for (version, holds) in [(version(20), true), (KubeletVersion::QosEra, false)] {
        let mut node = Node::new(version, &flags, k1_pods());
        assert_eq!(node.pass(5, old_figures).evicted.len(), 1);
        for t in [15, 25, 35] {
            assert!(node.pass(t, old_figures).events.is_empty());
        }
        assert_eq!(!node.conditions().is_empty(), holds, "{version}");
        assert_eq!(node.pass(45, memory(MI)).evicted.len(), 1);
    }
}

#[test]
fn k16_limits_of_local_storage() {
    let with_volume = |name: &str, used: u64| {
        let mut pod = PodCase::of_memory(name, 0, None, 0);
        pod.volumes.push(VolumeCase {
            name: "v".into(),
            r#type: "emptyDir".into(),
            size_limit: Some("1Gi".into()),
            used: Some(used),
            inodes_used: None,
        });
        pod
    };
    for (minor, grace) in [(20, 0), (31, 1)] {
        let pods =
            vec![with_volume("fine", GI), with_volume("a", GI + 1), with_volume("b", 2 * GI)];
        let flags = [("eviction-hard", "memory.available<1Gi")];
        let mut node = Node::new(version(minor), &flags, pods);
        let seen = node.pass(0, memory(MI));
        assert_eq!(seen.evicted, ["a", "b"]);
        for kill in &seen.kills {
            assert_eq!(kill.grace_period_override, grace);
            let message = "Usage of EmptyDir volume \"v\" exceeds the limit \"1Gi\". ";
            assert_eq!(kill.patch.message, message);
            assert_eq!(kill.patch.disruption_target, None);
        }
        // No threshold is looked at in this pass, though one is met.
        assert!(!seen.events.iter().any(|event| event.contains("EvictionThresholdMet")));
        assert_eq!(node.conditions(), ["MemoryPressure"]);
    }
    let mut greedy = PodCase::of_memory("p", 0, None, 0);
    greedy.containers[0].ephemeral_limit = Some("1Gi".into());
    greedy.containers[0].logs_used = Some(GI / 2);
    greedy.containers[0].rootfs_used = Some(GI / 2 + 1);
    let evicted = |layout, pod: &PodCase| {
        let mut node =
            Node::with_layout(version(20), layout, &[("eviction-hard", "")], vec![pod.clone()]);
        let seen = node.pass(0, memory(GI));
        seen.kills.first().map(|kill| kill.patch.message.clone()).unwrap_or_default()
    };
    assert_eq!(
        evicted(Layout::OneFilesystem, &greedy),
        "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. "
    );
    assert_eq!(evicted(Layout::DedicatedImageFs, &greedy), "");
    // The other container's limit makes room for the pod, not for the container.
    let mut second = greedy.containers[0].clone();
    second.name = "c2".into();
    (second.logs_used, second.rootfs_used) = (None, None);
    greedy.containers.push(second);
    assert_eq!(
        evicted(Layout::OneFilesystem, &greedy),
        "Container c1 exceeded its local ephemeral storage limit \"1Gi\". "
    );
}

#[test]
fn k17_the_pass_after_an_eviction() {
    let key = PodKey::new("default", "be-lo");
    let low = memory(MI);
    for (version, cleaned, next) in [
        (version(20), Some(0), 1),
        (version(20), Some(500), 1),
        (version(20), Some(1_000), 1),
        (version(20), Some(4_001), 5),
        (version(20), Some(29_500), 30),
        (version(20), None, 30),
        (KubeletVersion::QosEra, Some(0), 10),
    ] {
        let flags = [("eviction-hard", "memory.available<1Gi")];
        let mut node = Node::new(version, &flags, vec![PodCase::of_memory("be-lo", 0, None, MI)]);
        let start = node.manager.poll_timeout().expect("a first pass").at;
        assert_eq!(start, Timestamp::ZERO);
        node.manager.handle_timeout(start);
        let summary = NodeCase { stats_time: Some(0), ..low }.summary(&node.pods);
        let stats = &mut |_: &Seen| Some(summary.clone());
        let (seen, _) = drain(&mut node.manager, start, stats, &mut |_| Some(ActionResult::Done));
        assert_eq!(seen.evicted, ["be-lo"]);
        if let Some(cleaned) = cleaned {
            node.manager.handle_pod_cleaned_up(Timestamp::from_millis(cleaned), &key);
        }
        let deadline = node.manager.poll_timeout().expect("the next pass");
        assert_eq!(deadline.at, Timestamp::from_secs(next), "{version} {cleaned:?}");
    }
}

/// Upstream takes either; this engine the hard one.
#[test]
fn k18_hard_and_soft_at_once() {
    let flags = [
        ("eviction-hard", "memory.available<1Gi"),
        ("eviction-soft", "memory.available<2Gi"),
        ("eviction-soft-grace-period", "memory.available=10s"),
        ("eviction-max-pod-grace-period", "60"),
    ];
    let mut node = Node::new(version(20), &flags, k1_pods());
    node.pass(0, memory(1_500 * MI));
    let seen = node.pass(10, memory(500 * MI));
    assert_eq!(seen.kills[0].grace_period_override, 0);
}

/// A kubelet that lost its pods still says what it is short of.
#[test]
fn pods_that_have_ended_are_no_candidates() {
    let flags = [("eviction-hard", "memory.available<1Gi")];
    let mut node = Node::new(version(20), &flags, vec![PodCase::of_memory("p", 0, None, GI)]);
    let mut ended = node.pods[0].pod();
    ended.status.phase = "Failed".into();
    let ended = Arc::new(KubeletPod::as_stored(version(20), &ended).unwrap());
    let key = ended.key.clone();
    node.manager.handle_pod_update(Timestamp::ZERO, &key, Some(ended));
    let seen = node.pass(0, memory(MI));
    assert_eq!((seen.evicted.len(), seen.events.len()), (0, 1));
}
