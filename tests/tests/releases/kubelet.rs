//! What the kubelet does differently from release to release when a node runs out of something.

use serde_json::json;
use taintlab_core::api::{Node, Pod, PodKey};
use taintlab_core::command::Command;
use taintlab_core::event::{Event, EventKind};
use taintlab_core::kubelet::{
    ActionResult, EvictionConfig, KubeletConfiguration, KubeletPod, Layout, Signal,
    default_eviction_hard,
};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::{Simulator, SimulatorConfig};
use taintlab_core::time::Timestamp;
use taintlab_tests::kubelet;

use super::Difference;

pub(super) const DIFFERENCES: &[Difference] = &[
    Difference {
        name: "kubelet_checks_no_execute_taints",
        last: "1.21",
        before: "30 s",
        after: "1 s",
        observe: |release| {
            let events = bound_to_a_tainted_node(release);
            let gone = events.iter().find(|event| is_gone(event)).unwrap();
            format!("{} s", gone.at.since_zero().as_secs())
        },
    },
    Difference {
        name: "kubelet_describes_failed_predicates",
        last: "1.30",
        before: "",
        after: "node(s) had taints that the pod didn't tolerate",
        observe: |release| {
            let events = bound_to_a_tainted_node(release);
            let message = events.iter().find_map(|event| match &event.what {
                EventKind::EventRecorded(event) if event.reason == "TaintToleration" => {
                    Some(event.message.clone())
                }
                _ => None,
            });
            let message = message.unwrap_or("Predicate TaintToleration failed".to_owned());
            let end = message.strip_prefix("Predicate TaintToleration failed").unwrap();
            end.trim_start_matches(": ").to_owned()
        },
    },
    Difference {
        name: "rejected_pod_prefix",
        last: "1.25",
        before: "Pod The node had condition: [MemoryPressure]. ",
        after: "Pod was rejected: The node had condition: [MemoryPressure]. ",
        observe: |release| {
            let flags = [("eviction-hard", "memory.available<1Gi")];
            let mut node = kubelet::Node::new(release.into(), &flags, Vec::new());
            node.pass(0, memory());
            let mut best_effort = pod().pod();
            best_effort.spec.other.set("containers", json!([]));
            let pod = KubeletPod::new(release.into(), &best_effort).unwrap();
            assert!(!node.manager.admit(&pod).is_admitted());
            let none = &mut |_: &kubelet::Seen| None;
            let (seen, _) = kubelet::drain(&mut node.manager, Timestamp::ZERO, none, &mut |_| None);
            seen.patches[0].1.message.clone()
        },
    },
    Difference {
        name: "default_imagefs_inodes_threshold",
        last: "1.29",
        before: "4",
        after: "5",
        observe: |release| default_eviction_hard(release.into()).len().to_string(),
    },
    Difference {
        name: "largest_eviction_fraction",
        last: "1.20",
        before: "",
        after: "eviction percentage threshold memory.available must be <= 100%: 101%",
        observe: |release| {
            let mut settings = KubeletConfiguration::default();
            settings.set_flag(release.into(), "eviction-hard", "memory.available<101%").unwrap();
            let config = settings.eviction_config(release.into());
            config.err().map_or_else(String::new, |error| error.to_string())
        },
    },
    Difference {
        name: "reclaim_check_asks_minimum_reclaim",
        last: "1.21",
        before: "",
        after: "p",
        observe: |release| {
            let flags = [
                ("eviction-hard", "nodefs.available<1Gi"),
                ("eviction-minimum-reclaim", "nodefs.available=500Mi"),
            ];
            let mut node = kubelet::Node::new(release.into(), &flags, vec![pod()]);
            let disk = |mebibytes: u64| kubelet::NodeCase {
                nodefs_available: Some(mebibytes << 20),
                nodefs_capacity: Some(10 << 30),
                ..Default::default()
            };
            let killed = &mut |_: &PodKey| Some(ActionResult::Done);
            node.pass_with(0, disk(900), disk(1_200), killed).evicted.join(" ")
        },
    },
    Difference {
        name: "immediate_eviction_grace_period_seconds",
        last: "1.30",
        before: "0",
        after: "1",
        observe: |release| {
            let flags = [("eviction-hard", "memory.available<1Gi")];
            evicted_from(release, &flags, pod()).grace_period_override.to_string()
        },
    },
    Difference {
        name: "soft_eviction_respects_pod_grace_period",
        last: "1.31",
        before: "60",
        after: "30",
        observe: |release| {
            soft_grace_period(
                EvictionConfig { overwrites_grace_period: false, ..soft_config(release) },
                release,
            )
        },
    },
    Difference {
        name: "allows_overwriting_grace_period",
        last: "1.34",
        before: "60",
        after: "30",
        observe: |release| soft_grace_period(soft_config(release), release),
    },
    Difference {
        name: "eviction_message_tells_threshold",
        last: "1.25",
        before: "The node was low on resource: memory. Container c was using 200Mi, which exceeds \
                 its request of 100Mi. ",
        after: "The node was low on resource: memory. Threshold quantity: 1Gi, available: 1023Mi. \
                Container c was using 200Mi, request is 100Mi, has larger consumption of memory. ",
        observe: |release| {
            let flags = [("eviction-hard", "memory.available<1Gi")];
            evicted_from(release, &flags, pod()).patch.message
        },
    },
    Difference {
        name: "eviction_message_tells_init_containers",
        last: "1.31",
        before: "",
        after: "c",
        observe: |release| {
            let flags = [("eviction-hard", "memory.available<1Gi")];
            let mut pod = pod();
            pod.init_containers = pod.containers.clone();
            pod.init_containers[0].memory_working_set = None;
            pod.containers[0].memory_request = Some("1Gi".into());
            // Only the init container's request is below what a container of that name uses.
            pod.init_containers[0].name = "c".into();
            pod.containers[0].name = "d".into();
            let mut node = kubelet::Node::new(release.into(), &flags, vec![pod.clone()]);
            node.pods[0].containers[0].name = "c".into();
            let seen = node.pass(0, memory());
            seen.annotations.unwrap()["offending_containers"].clone()
        },
    },
    Difference {
        name: "kubelet_sets_disruption_target",
        last: "1.25",
        before: "None",
        after: "Some(\"TerminationByKubelet\")",
        observe: |release| {
            let flags = [("eviction-hard", "memory.available<1Gi")];
            let patch = evicted_from(release, &flags, pod()).patch;
            format!("{:?}", patch.disruption_target.map(|condition| condition.reason))
        },
    },
    Difference {
        name: "has_containerfs_signals",
        last: "1.28",
        before: "unsupported eviction signal containerfs.available",
        after: "containerfs.available",
        observe: |release| match Signal::parse(release.into(), "containerfs.available") {
            Ok(signal) => signal.to_string(),
            Err(error) => error,
        },
    },
    Difference {
        name: "has_merge_default_eviction_settings",
        last: "1.34",
        before: "1",
        after: "5",
        observe: |release| {
            let settings = KubeletConfiguration {
                eviction_hard: Some([("nodefs.available".into(), "1Gi".into())].into()),
                enforce_node_allocatable: Some(Vec::new()),
                merge_default_eviction_settings: Some(true),
                ..KubeletConfiguration::default()
            };
            settings.eviction_config(release.into()).unwrap().thresholds.len().to_string()
        },
    },
    Difference {
        name: "has_pod_level_resources",
        last: "1.33",
        before: "BestEffort",
        after: "Burstable",
        observe: |release| {
            let mut pod = pod().pod();
            pod.spec.other.set("containers", serde_json::json!([]));
            let resources = serde_json::json!({ "requests": { "memory": "1Gi" } });
            pod.spec.other.set("resources", resources);
            format!("{:?}", KubeletPod::new(release.into(), &pod).unwrap().qos_class)
        },
    },
    Difference {
        name: "measures_pod_ephemeral_storage",
        last: "1.22",
        before: "p",
        after: "",
        observe: |release| {
            let mut pod = pod();
            // The limits of the containers are not exceeded, their sum is.
            pod.containers[0].ephemeral_limit = Some("1Gi".into());
            pod.volumes.push(kubelet::VolumeCase {
                name: "v".into(),
                r#type: "emptyDir".into(),
                used: Some(2 << 30),
                ..Default::default()
            });
            // What the pod uses altogether is not measured here.
            let flags = [("eviction-hard", "")];
            let mut node = kubelet::Node::new(release.into(), &flags, vec![pod]);
            node.pass(0, memory()).evicted.join(" ")
        },
    },
];

/// What happens to a pod that names a node with a `NoExecute` taint which it does not tolerate.
fn bound_to_a_tainted_node(release: KubernetesRelease) -> Vec<Event> {
    let config = SimulatorConfig::with_control_plane(release);
    let node: Node = serde_json::from_value(json!({
        "metadata": { "name": "n" },
        "spec": { "taints": [{ "key": "a", "effect": "NoExecute" }] },
        "status": { "conditions": [{ "type": "Ready", "status": "True" }] },
    }))
    .unwrap();
    let pod: Pod =
        serde_json::from_value(json!({ "metadata": { "name": "p" }, "spec": { "nodeName": "n" } }))
            .unwrap();
    let mut simulator = Simulator::new(config, [node], []).unwrap();
    simulator.handle_command(Timestamp::ZERO, Command::CreatePod(pod)).unwrap();
    simulator.advance_to(Timestamp::from_secs(60)).unwrap();
    simulator.drain_events()
}

fn is_gone(event: &Event) -> bool {
    matches!(event.what, EventKind::PodDeleted { .. })
}

/// A pod that uses more memory than it asked for.
fn pod() -> kubelet::PodCase {
    kubelet::PodCase {
        name: "p".into(),
        containers: vec![kubelet::ContainerCase {
            name: "c".into(),
            memory_request: Some("100Mi".into()),
            memory_working_set: Some(200 << 20),
            ..Default::default()
        }],
        has_stats: true,
        ..Default::default()
    }
}

/// 1023 MiB are left.
fn memory() -> kubelet::NodeCase {
    kubelet::NodeCase {
        memory_available: Some(1_023 << 20),
        memory_working_set: Some(1 << 30),
        ..Default::default()
    }
}

/// How a pod is evicted from a node that has little memory.
fn evicted_from(
    release: KubernetesRelease,
    flags: &[(&str, &str)],
    pod: kubelet::PodCase,
) -> kubelet::KillSeen {
    let mut node = kubelet::Node::new(release.into(), flags, vec![pod]);
    node.pass(0, memory()).kills.remove(0)
}

/// A soft threshold without a grace period to wait for, and the gate that overwrites that of pods.
fn soft_config(release: KubernetesRelease) -> EvictionConfig {
    let settings = KubeletConfiguration {
        eviction_hard: Some(Default::default()),
        eviction_soft: Some([("memory.available".into(), "1Gi".into())].into()),
        eviction_soft_grace_period: Some([("memory.available".into(), "10s".into())].into()),
        eviction_max_pod_grace_period: Some(60),
        feature_gates: Some([("AllowOverwriteTerminationGracePeriodSeconds".into(), true)].into()),
        ..KubeletConfiguration::default()
    };
    settings.eviction_config(release.into()).unwrap()
}

/// The grace period of a pod, which has 30 s of its own, at a soft threshold.
fn soft_grace_period(config: EvictionConfig, release: KubernetesRelease) -> String {
    let mut node =
        kubelet::Node::with_config(release.into(), Layout::OneFilesystem, config, Vec::new());
    let mut object = pod().pod();
    object.spec.termination_grace_period_seconds = Some(30);
    let kubelet_pod = KubeletPod::new(release.into(), &object).unwrap();
    let key = kubelet_pod.key.clone();
    node.manager.handle_pod_update(Timestamp::ZERO, &key, Some(kubelet_pod.into()));
    assert!(node.pass(0, memory()).kills.is_empty());
    node.pass(10, memory()).kills[0].grace_period_override.to_string()
}
