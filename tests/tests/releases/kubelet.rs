//! What the kubelet does differently from release to release when a node runs out of something, and
//! when it is shut down.

use std::time::Duration;

use serde_json::{Value, json};
use taintlab_core::api::{ConditionStatus, Node, Pod, PodKey};
use taintlab_core::command::Command;
use taintlab_core::event::{Event, EventKind};
use taintlab_core::eviction_timeline::time_budget::Moment;
use taintlab_core::kubelet::pod_status::pod_as_served;
use taintlab_core::kubelet::{
    ActionResult, EvictionConfig, KubeletConfiguration, KubeletPod, Layout, NodeShutdownReport,
    ShutdownGracePeriodByPodPriority, Signal, default_eviction_hard,
};
use taintlab_core::release::{FeatureGate, FeatureGates, GateStage, KubernetesRelease};
use taintlab_core::simulator::{NodeView, Simulator, SimulatorConfig};
use taintlab_core::time::{Span, Timestamp, format_duration};
use taintlab_tests::kubelet;
use taintlab_tests::text::Session;

use super::Difference;

pub(super) const DIFFERENCES: &[Difference] = &[
    Difference {
        name: "posts_ready_to_start_containers",
        last: "1.28",
        before: "None None",
        after: "Some(True) Some(1)",
        observe: |release| {
            let pod: Pod = serde_json::from_value(json!({
                "metadata": { "name": "p" }, "spec": { "nodeName": "n" },
                "status": { "phase": "Running", "conditions": [
                    { "type": "Initialized", "status": "True" }] } }))
            .unwrap();
            let node: Node = serde_json::from_value(json!({ "status": { "addresses": [
                { "type": "InternalIP", "address": "10.0.0.1" }] } }))
            .unwrap();
            let served = pod_as_served(release, &pod, Some(&node));
            let condition = served.condition("PodReadyToStartContainers");
            let addresses = served.status.other.get("hostIPs").and_then(Value::as_array);
            format!("{:?} {:?}", condition.map(|it| &it.status), addresses.map(Vec::len))
        },
    },
    Difference {
        name: "leases_have_jitter",
        last: "1.21",
        before: "exact",
        after: "up to 4 % late",
        observe: |release| late(lag(release, 1_000, |view| view.lease_renewed_at), 10),
    },
    Difference {
        name: "node_status_has_jitter",
        last: "1.22",
        before: "exact",
        after: "up to 4 % late",
        observe: |release| late(lag(release, 1_000, |view| view.status_posted_at), 300),
    },
    Difference {
        name: "delays_report_after_change",
        last: "1.31",
        before: "when it is due",
        after: "moved",
        observe: |release| first_report(release, &not_ready()),
    },
    Difference {
        name: "delays_report_after_change",
        last: "1.32",
        before: "moved",
        after: "when it is due",
        observe: |release| first_report(release, &not_ready()),
    },
    Difference {
        name: "delays_report_after_change",
        last: "1.33",
        before: "when it is due",
        after: "moved",
        observe: |release| first_report(release, &not_ready()),
    },
    Difference {
        name: "delays_report_after_start",
        last: "1.33",
        before: "when it is due",
        after: "moved",
        observe: |release| first_report(release, &Command::RestartKubelet { node: "n".into() }),
    },
    Difference {
        name: "kubelet_checks_no_execute_taints",
        last: "1.23",
        before: "30 s",
        after: "1 s",
        observe: |release| {
            let events = bound_to_a_tainted_node(release);
            let gone = events.iter().find(|event| is_gone(event)).unwrap();
            format!("{} s", gone.at.since_zero().as_secs())
        },
    },
    Difference {
        name: "GracefulNodeShutdown",
        last: "1.20",
        before: "0",
        after: "1",
        observe: |release| {
            let session =
                play_with_kubelets(release, "node n;pod d/p on n;at 2s shutdown n 30s;advance 1m");
            killed(session.log()).to_string()
        },
    },
    Difference {
        name: "GracefulNodeShutdownBasedOnPodPriority",
        last: "1.23",
        before: "no time",
        after: "1m0s",
        observe: |release| {
            let period =
                ShutdownGracePeriodByPodPriority { priority: 0, shutdown_grace_period_seconds: 60 };
            let settings = KubeletConfiguration {
                shutdown_grace_period_by_pod_priority: Some(vec![period]),
                ..KubeletConfiguration::default()
            };
            let gates = FeatureGates::new(release, []).unwrap();
            let config = settings.node_shutdown_config(release, &gates);
            let config = config.ok().filter(|config| !config.is_off());
            config.map_or("no time".into(), |config| format_duration(config.longest()))
        },
    },
    Difference {
        name: "shutdown_is_posted_at_once",
        last: "1.20",
        before: "false",
        after: "true",
        observe: |release| {
            let posted = |event: &Event| {
                event.at == Timestamp::from_secs(2)
                    && matches!(&event.what, EventKind::NodeConditionChanged { .. })
            };
            shut_down(release).iter().any(posted).to_string()
        },
    },
    Difference {
        name: "records_shutdown",
        last: "1.22",
        before: "",
        after: "Shutdown manager detected shutdown event",
        observe: |release| {
            let message = |event: &Event| match &event.what {
                EventKind::EventRecorded(event) if event.reason == "Shutdown" => {
                    Some(event.message.clone())
                }
                _ => None,
            };
            shut_down(release).iter().find_map(message).unwrap_or_default()
        },
    },
    Difference {
        name: "shutdown_pod_status",
        last: "1.21",
        before: "Shutdown: Node is shutting, evicting pods",
        after: "Terminated: Pod was terminated in response to imminent node shutdown.",
        observe: |release| {
            // To 1.19 there is no such pod.
            let status = ended_by_a_shutdown(release.max(at(20)), None).status;
            format!("{}: {}", status.reason, status.message)
        },
    },
    Difference {
        name: "shutdown_rejection",
        last: "1.21",
        before: "Shutdown: Node is in progress of shutting down, not admitting any new pods",
        after: "NodeShutdown: Pod was rejected as the node is shutting down.",
        observe: |release| {
            // To 1.20 there is no such pod.
            let refused = |event: &Event| match &event.what {
                EventKind::EventRecorded(event) if event.type_ == "Warning" => {
                    Some(format!("{}: {}", event.reason, event.message))
                }
                _ => None,
            };
            let release = release.max(at(21));
            bound_to_a_node_that_is_shut_down(release).iter().find_map(refused).unwrap()
        },
    },
    Difference {
        name: "shutdown_fails_pods",
        last: "1.21",
        before: "Failed",
        after: "Running",
        observe: |release| {
            let release = release.clamp(at(20), at(23));
            format!("{:?}", ended_by_a_shutdown(release, None).status.phase)
        },
    },
    Difference {
        name: "shutdown_fails_pods",
        last: "1.23",
        before: "Running",
        after: "Failed",
        observe: |release| {
            format!("{:?}", ended_by_a_shutdown(release.max(at(22)), None).status.phase)
        },
    },
    Difference {
        name: "shutdown_groups_pods",
        last: "1.22",
        before: "20 s",
        after: "5 s",
        observe: |release| {
            let ends = ended_by_a_shutdown(release.max(at(20)), Some(2_000_000_000));
            ends.metadata.annotations["ends"].clone()
        },
    },
    Difference {
        name: "pods_fail_when_containers_have_ended",
        last: "1.23",
        before: "2 s",
        after: "7 s",
        observe: |release| {
            let pod = ended_by_a_shutdown(release.max(at(20)), None);
            pod.metadata.annotations["said"].clone()
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
        name: "compares_allocatable_memory",
        last: "1.28",
        before: "false",
        after: "true",
        observe: |release| {
            let mut settings = KubeletConfiguration::default();
            let flags = [
                ("enforce-node-allocatable", "none"),
                ("eviction-hard", "allocatableMemory.available<1Gi"),
            ];
            for (name, value) in flags {
                settings.set_flag(release.into(), name, value).unwrap();
            }
            let config = settings.eviction_config(release.into()).unwrap();
            config.thresholds[0].less_than.to_string()
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
        last: "1.32",
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
        name: "subtracts_huge_pages",
        last: "1.36",
        before: "8 GiB, 5 left",
        after: "6 GiB, 3 left",
        observe: |release| {
            let capacity = json!({ "memory": "8Gi", "hugepages-2Mi": "2Gi", "hugepages-1Gi": "0" });
            let node: Node = serde_json::from_value(json!({
                "metadata": { "name": "n" }, "status": { "capacity": capacity },
            }))
            .unwrap();
            let config = SimulatorConfig::with_node_lifecycle(release);
            let mut simulator = Simulator::new(config, [node], []).unwrap();
            let usage = json!({ "constant": "3Gi" });
            let load = json!({ "loadNode": { "node": "n", "resource": "memory", "usage": usage } });
            let load = serde_json::from_value(load).unwrap();
            simulator.handle_command(Timestamp::ZERO, load).unwrap();
            simulator.advance_to(Timestamp::from_secs(30)).unwrap();
            let signals = simulator.eviction_view("n").unwrap().signals;
            let memory = signals.iter().find(|it| it.signal == Signal::MemoryAvailable).unwrap();
            format!("{} GiB, {} left", memory.capacity >> 30, memory.available >> 30)
        },
    },
    Difference {
        name: "limits_ephemeral_storage_of_sidecars",
        last: "1.36",
        before: "",
        after: "p",
        observe: |release| {
            let mut pod = pod();
            let mut sidecar = kubelet::ContainerCase {
                name: "s".into(),
                ephemeral_limit: Some("1Gi".into()),
                logs_used: Some(2 << 30),
                ..Default::default()
            };
            // What an init container uses that goes does not count.
            pod.init_containers.push(sidecar.clone());
            (sidecar.name, sidecar.restartable) = ("t".into(), true);
            pod.init_containers.push(sidecar);
            // Its limits altogether are not exceeded.
            pod.ephemeral_storage_used = Some(0);
            pod.containers[0].ephemeral_limit = Some("9Gi".into());
            let mut node = kubelet::Node::new(release.into(), &[("eviction-hard", "")], vec![pod]);
            node.pass(0, memory()).evicted.join(" ")
        },
    },
    Difference {
        name: "measures_pod_ephemeral_storage",
        last: "1.20",
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

/// A node whose kubelet has jitter.
fn with_jitter(release: KubernetesRelease) -> Simulator {
    let mut config = SimulatorConfig::with_node_lifecycle(release);
    config.kubelets.jitter_seed = 1;
    let node: Node = serde_json::from_value(json!({"metadata": {"name": "n"}})).unwrap();
    Simulator::new(config, [node], []).unwrap()
}

/// When the kubelet has last done something that the view tells, in milliseconds.
fn lag(
    release: KubernetesRelease,
    seconds: u64,
    done: fn(&NodeView) -> Option<Moment>,
) -> Option<i64> {
    let mut simulator = with_jitter(release);
    simulator.advance_to(Timestamp::from_secs(seconds)).unwrap();
    done(&simulator.node_view("n").unwrap()).map(|at| at.as_nanos() / 1_000_000)
}

/// Whether something that is done every so many seconds was done at a multiple of that.
fn late(at: Option<i64>, period: i64) -> String {
    if at.unwrap() % (1_000 * period) == 0 { "exact".into() } else { "up to 4 % late".into() }
}

fn not_ready() -> Command {
    let (type_, status) = ("Ready".into(), ConditionStatus::False);
    Command::SetNodeCondition { node: "n".into(), type_, status, reason: None, message: None }
}

/// The first report of a status, every 300 s if nothing changes, after what happens at 5 s: at the
/// first look after 300 s, and looks are 10 to 10.4 s apart.
fn first_report(release: KubernetesRelease, command: &Command) -> String {
    let mut simulator = with_jitter(release);
    let at = Timestamp::from_secs(5);
    simulator.handle_command(at, command.clone()).unwrap();
    // A kubelet that has posted that it is not ready yet posts again when it looks next.
    simulator.advance_to(Timestamp::from_secs(20)).unwrap();
    let view = simulator.node_view("n").unwrap();
    let after = view.next_post.unwrap().as_secs_f64()
        - view.status_posted_at.unwrap().as_nanos() as f64 / 1e9;
    if (300.0..=310.4).contains(&after) { "when it is due".into() } else { "moved".into() }
}

fn play_with_kubelets(release: KubernetesRelease, script: &str) -> Session {
    let mut session = Session::default();
    let lines = script.replace(';', "\n");
    session.execute(&format!("cluster {release} kubelets\n{lines}")).unwrap();
    session
}

fn at(minor: u8) -> KubernetesRelease {
    KubernetesRelease::new(minor).unwrap()
}

/// A control plane whose kubelets end pods within 30 s, of which 10 are for critical ones; with the
/// gates that the release has.
fn graceful(release: KubernetesRelease) -> SimulatorConfig {
    let mut config = SimulatorConfig::with_control_plane(release);
    let gate = FeatureGate::GracefulNodeShutdown;
    if gate.stage(release) != GateStage::Absent {
        config.feature_gates.insert(gate.name().into(), true);
        let seconds = |seconds| Some(Span(Duration::from_secs(seconds)));
        config.kubelet_configuration.shutdown_grace_period = seconds(30);
        config.kubelet_configuration.shutdown_grace_period_critical_pods = seconds(10);
    }
    config
}

fn shut_down_command() -> Command {
    Command::ShutDownNode {
        node: "n".into(),
        shutdown_grace_period: None,
        shutdown_grace_period_critical_pods: None,
    }
}

/// A node with a pod `p` that has 5 s to end, beside a critical one or of that priority.
fn shutting_down(release: KubernetesRelease, priority: Option<i32>) -> Simulator {
    let node: Node = serde_json::from_value(json!({ "metadata": { "name": "n" } })).unwrap();
    let pod = |name: &str, priority: Option<i32>| -> Pod {
        let mut pod: Pod = serde_json::from_value(json!({
            "metadata": { "name": name },
            "spec": { "nodeName": "n", "terminationGracePeriodSeconds": 5 },
            "status": { "phase": "Running" },
        }))
        .unwrap();
        if let Some(priority) = priority {
            pod.spec.other.set("priority", priority.into());
        }
        pod
    };
    let pods = [pod("other", None), pod("p", priority)];
    let mut simulator = Simulator::new(graceful(release), [node], pods).unwrap();
    simulator.handle_command(Timestamp::from_secs(2), shut_down_command()).unwrap();
    simulator
}

/// What happens when a node is shut down.
fn shut_down(release: KubernetesRelease) -> Vec<Event> {
    let mut simulator = shutting_down(release, None);
    simulator.advance_to(Timestamp::from_secs(30)).unwrap();
    simulator.drain_events()
}

/// The pod `p` of a node that was shut down, annotated with when its status said why (`said`), and
/// how long after the shutdown it was told to end (`ends`).
fn ended_by_a_shutdown(release: KubernetesRelease, priority: Option<i32>) -> Pod {
    let mut simulator = shutting_down(release, priority);
    let key = PodKey::new("default", "p");
    let (mut said, mut ends) = (String::new(), String::new());
    for second in 2..60 {
        simulator.advance_to(Timestamp::from_secs(second)).unwrap();
        if simulator.drain_events().iter().any(|event| {
            matches!(&event.what, EventKind::NodeShutdown {
                report: NodeShutdownReport::Killing { pod, .. }, ..
            } if *pod == key)
        }) {
            ends = format!("{} s", second - 2);
        }
        if said.is_empty() && !simulator.cluster().get_pod(&key).unwrap().status.reason.is_empty() {
            said = format!("{second} s");
        }
    }
    let mut pod = Pod::clone(simulator.cluster().get_pod(&key).unwrap());
    pod.metadata.annotations.extend([("said".into(), said), ("ends".into(), ends)]);
    pod
}

/// What happens to a pod that names a node which is being shut down, and tolerates its taints.
fn bound_to_a_node_that_is_shut_down(release: KubernetesRelease) -> Vec<Event> {
    let mut simulator = shutting_down(release, None);
    let pod: Pod = serde_json::from_value(json!({
        "metadata": { "name": "late" },
        "spec": { "nodeName": "n", "tolerations": [{ "operator": "Exists" }] },
    }))
    .unwrap();
    simulator.handle_command(Timestamp::from_secs(3), Command::CreatePod(pod)).unwrap();
    simulator.advance_to(Timestamp::from_secs(6)).unwrap();
    simulator.drain_events()
}

/// How many pods a kubelet has ended.
fn killed(events: &[Event]) -> usize {
    let is_one = |event: &&Event| {
        let what = &event.what;
        matches!(what, EventKind::NodeShutdown { report: NodeShutdownReport::Killing { .. }, .. })
    };
    events.iter().filter(is_one).count()
}

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
