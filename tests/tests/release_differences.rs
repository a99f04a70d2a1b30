//! Every difference between releases, observed from outside on both sides.
//!
//! A row names the method of [`KubernetesRelease`] (or the feature gate) that knows the difference,
//! the last release of the old behaviour, and what is observed before and after. It is observed on
//! every release, so that a boundary cannot move unnoticed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use taintlab_core::api::{Pod, PodKey, TolerationOperator, pod_requests};
use taintlab_core::command::Command;
use taintlab_core::event::{Event, Happening, ObjectReference, RecordedEvent, RequestVerb};
use taintlab_core::kubelet::{
    ActionResult, EvictionConfig, KubeletConfiguration, KubeletPod, Layout, Signal,
    default_eviction_hard,
};
use taintlab_core::release::{
    FeatureGate, KubernetesRelease, PreemptionMessage, Requeue, ScalingMessage, TaintReason,
};
use taintlab_core::simulator::{Simulator, SimulatorConfig};
use taintlab_core::time::Timestamp;
use taintlab_tests::text::Session;
use taintlab_tests::{kubelet, notation};

struct Difference {
    name: &'static str,
    last: &'static str,
    before: &'static str,
    after: &'static str,
    observe: fn(KubernetesRelease) -> String,
}

const DIFFERENCES: &[Difference] = &[
    Difference {
        name: "cancels_when_tolerated_forever",
        last: "1.19",
        before: "Marking",
        after: "Cancelling",
        observe: |release| {
            verbs(&play(
                release,
                "node n a; pod d/p on n tolerates a/9; at 1s tolerations d/p a/inf; run",
            ))
        },
    },
    Difference {
        name: "immediate_eviction_uses_timer",
        last: "1.28",
        before: "Marking Cancelling",
        after: "Marking",
        observe: |release| {
            verbs(&play(
                release,
                "node n; pod d/p on n; fail d/p delete 3; at 1s taints n a; at 1015ms taints n; run",
            ))
        },
    },
    Difference {
        name: "keeps_tombstones",
        last: "1.32",
        before: "tombstone of d/p\ntainted node n: a:NoExecute\n",
        after: "tainted node n: a:NoExecute\n",
        observe: |release| {
            let mut session = play(release, "node n a; pod d/p on n tolerates a/1; advance 1s");
            session.execute("state").unwrap()
        },
    },
    Difference {
        name: "taint_eviction_component",
        last: "1.28",
        before: "taint-controller",
        after: "taint-eviction-controller",
        observe: |release| first_event(&evicted(release), |event| event.component.to_owned()),
    },
    Difference {
        name: "has_unhealthy_pod_eviction_policy",
        last: "1.26",
        before: "false",
        after: "true",
        observe: |release| release.has_unhealthy_pod_eviction_policy().to_string(),
    },
    Difference {
        name: "collects_pods_out_of_service",
        last: "1.25",
        before: "false",
        after: "true",
        observe: |release| release.collects_pods_out_of_service().to_string(),
    },
    Difference {
        name: "has_pod_replacement_policy",
        last: "1.28",
        before: "false",
        after: "true",
        observe: |release| release.has_pod_replacement_policy().to_string(),
    },
    Difference {
        name: "counts_deleted_pods_as_failed",
        last: "1.25",
        before: "false",
        after: "true",
        observe: |release| release.counts_deleted_pods_as_failed().to_string(),
    },
    Difference {
        name: "has_pod_deletion_cost",
        last: "1.21",
        before: "false",
        after: "true",
        observe: |release| release.has_pod_deletion_cost().to_string(),
    },
    Difference {
        name: "labels_pods_with_index",
        last: "1.27",
        before: "false",
        after: "true",
        observe: |release| release.labels_pods_with_index().to_string(),
    },
    Difference {
        name: "has_first_ordinal",
        last: "1.26",
        before: "false",
        after: "true",
        observe: |release| release.has_first_ordinal().to_string(),
    },
    Difference {
        name: "scaling_message",
        last: "1.25",
        before: "true",
        after: "false",
        observe: |release| (release.scaling_message() == ScalingMessage::To).to_string(),
    },
    Difference {
        name: "scaling_message",
        last: "1.30",
        before: "false",
        after: "true",
        observe: |release| (release.scaling_message() == ScalingMessage::FromTo).to_string(),
    },
    Difference {
        name: "has_taint_eviction_controller",
        last: "1.28",
        before: "false",
        after: "true",
        observe: |release| release.has_taint_eviction_controller().to_string(),
    },
    Difference {
        name: "event_reference_has_api_version",
        last: "1.28",
        before: "",
        after: "v1",
        observe: |release| {
            first_event(&evicted(release), |event| match event.involved_object {
                ObjectReference::Pod { api_version, .. } => api_version.to_owned(),
                _ => "no pod".to_owned(),
            })
        },
    },
    Difference {
        name: "PodDisruptionConditions",
        last: "1.25",
        before: "",
        after: "DisruptionTarget",
        observe: |release| conditions(&evicted(release)),
    },
    Difference {
        name: "sets_observed_generation",
        last: "1.33",
        before: "None",
        after: "Some(3)",
        observe: |release| {
            let mut pod = notation::pod(&PodKey::new("d", "p"), "n", Vec::new());
            pod.metadata.other.set("generation", 3.into());
            let node = notation::node("n", notation::taints("a").unwrap());
            let config = SimulatorConfig::of(release);
            let mut simulator = Simulator::new(config, [node], [pod.clone()]).unwrap();
            simulator.advance_to(Timestamp::ZERO).unwrap();
            let pod = simulator.cluster().get_pod(&pod.key()).unwrap();
            let condition = pod.condition("DisruptionTarget");
            format!("{:?}", condition.and_then(|condition| condition.observed_generation))
        },
    },
    Difference {
        name: "validation_shows_whole_toleration",
        last: "1.31",
        before: "the toleration",
        after: "the value",
        observe: |release| {
            let mut session = play(release, "node n");
            let mut pod = notation::tolerations("k=v/inf").unwrap();
            pod[0].operator = TolerationOperator::Exists;
            let simulator = session.simulator_mut().unwrap();
            let pod = notation::pod(&PodKey::new("d", "p"), "", pod);
            let now = simulator.now();
            let command = Command::CreatePod(pod);
            let error = simulator.handle_command(now, command).unwrap_err().to_string();
            let text = if error.contains("Invalid value: \"v\": value must be empty") {
                "the value"
            } else if error.contains("core.Toleration{") {
                "the toleration"
            } else {
                &error
            };
            text.to_owned()
        },
    },
    Difference {
        name: "has_enable_taint_manager_flag",
        last: "1.26",
        before: "true",
        after: "false",
        observe: |release| release.has_enable_taint_manager_flag().to_string(),
    },
    Difference {
        name: "node_monitor_grace_period_seconds",
        last: "1.31",
        before: "40",
        after: "50",
        observe: |release| release.node_monitor_grace_period_seconds().to_string(),
    },
    Difference {
        name: "excludes_masters_by_name",
        last: "1.20",
        before: "true",
        after: "false",
        observe: |release| release.excludes_masters_by_name().to_string(),
    },
    Difference {
        name: "awaits_missing_ready_condition",
        last: "1.20",
        before: "false",
        after: "true",
        observe: |release| release.awaits_missing_ready_condition().to_string(),
    },
    Difference {
        name: "node_lifecycle_controller_name",
        last: "1.27",
        before: "nodelifecycle",
        after: "node-lifecycle-controller",
        observe: |release| release.node_lifecycle_controller_name().to_string(),
    },
    Difference {
        name: "requeue",
        last: "1.18",
        before: "keeps its place",
        after: "is queued again",
        observe: |release| match release.requeue() {
            Requeue::KeepsPlace => "keeps its place".to_owned(),
            Requeue::Duplicates | Requeue::MovesBack => "is queued again".to_owned(),
        },
    },
    Difference {
        name: "requeue",
        last: "1.20",
        before: "once in the queue or more",
        after: "once in the queue",
        observe: |release| match release.requeue() {
            Requeue::KeepsPlace | Requeue::Duplicates => "once in the queue or more".to_owned(),
            Requeue::MovesBack => "once in the queue".to_owned(),
        },
    },
    Difference {
        name: "TaintTolerationComparisonOperators",
        last: "1.34",
        before: "refused",
        after: "tolerated",
        observe: |release| {
            let mut session = Session::default();
            let gate = "TaintTolerationComparisonOperators=true";
            if session.execute(&format!("cluster {release} {gate}")).is_err() {
                return "refused".to_owned();
            }
            session.execute("node n a=5\npod d/p on n tolerates a>3/inf").unwrap();
            if verbs(&session).is_empty() { "tolerated" } else { "not tolerated" }.to_owned()
        },
    },
    // The kubelet's.
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
        name: "kubectl_says_unlabeled",
        last: "1.21",
        before: "node/n labeled\n",
        after: "node/n unlabeled\n",
        observe: |release| kubectl(release, "label node n a-").stdout,
    },
    Difference {
        name: "kubectl_delete_names_namespace",
        last: "1.33",
        before: "pod \"p\" deleted\n",
        after: "pod \"p\" deleted from d namespace\n",
        observe: |release| kubectl(release, "delete pod p -n d").stdout,
    },
    Difference {
        name: "kubectl_warns_in_capitals",
        last: "1.20",
        before: "warning",
        after: "Warning",
        observe: |release| {
            let outcome = kubectl(release, "delete pod p -n d --force");
            outcome.stderr.split(':').next().unwrap().to_owned()
        },
    },
    Difference {
        name: "drain_local_storage_error",
        last: "1.19",
        before: "error: cannot delete Pods with local storage (use --delete-local-data to \
                 override): d/e",
        after: "error: cannot delete Pods with local storage (use --delete-emptydir-data to \
                override): d/e",
        observe: |release| drain_lines(release, "--force").pop().unwrap(),
    },
    Difference {
        name: "drain_unmanaged_error",
        last: "1.23",
        before: "true",
        after: "false",
        observe: |release| {
            let line = drain_lines(release, "--delete-emptydir-data").pop().unwrap();
            line.starts_with("error: cannot delete Pods not managed by ReplicationController")
                .to_string()
        },
    },
    Difference {
        name: "drain_unmanaged_error",
        last: "1.29",
        before: "false",
        after: "true",
        observe: |release| {
            let line = drain_lines(release, "--delete-emptydir-data").pop().unwrap();
            let text = "error: cannot delete Pods that declare no controller (use --force to \
                        override): d/e, d/p";
            (line == text).to_string()
        },
    },
    Difference {
        name: "drain_unmanaged_warning",
        last: "1.23",
        before: "WARNING: deleting Pods not managed by ReplicationController, ReplicaSet, Job, \
                 DaemonSet or StatefulSet: d/e, d/p",
        after: "Warning: deleting Pods that declare no controller: d/e, d/p",
        observe: |release| drain_lines(release, "--force --delete-emptydir-data").swap_remove(0),
    },
    Difference {
        name: "drain_warning_word",
        last: "1.23",
        before: "WARNING",
        after: "Warning",
        observe: |release| {
            let line = drain_lines(release, "--force --delete-emptydir-data").swap_remove(0);
            line.split(':').next().unwrap().to_owned()
        },
    },
    Difference {
        name: "drained_word",
        last: "1.22",
        before: "node/n evicted",
        after: "node/n drained",
        observe: |release| {
            drain_lines(release, "--force --delete-emptydir-data --grace-period=0").pop().unwrap()
        },
    },
    Difference {
        name: "drain_continues_after_errors",
        last: "1.22",
        before: "aborting",
        after: "continuing",
        observe: |release| {
            let line = drain_lines(release, "").swap_remove(0);
            let command =
                line.trim_end().split(", ").find(|part| part.ends_with("command...")).unwrap();
            command.split(' ').next().unwrap().to_owned()
        },
    },
    Difference {
        name: "drain_wait_names_timeout",
        last: "1.26",
        before: "global timeout reached: 5s",
        after: "context deadline exceeded",
        observe: |release| {
            let lines = drain_lines(release, "--force --delete-emptydir-data --timeout=5s");
            let line =
                lines.iter().find(|line| line.starts_with("There are pending pods")).unwrap();
            line.split("terminate: ").last().unwrap().trim_end_matches(']').to_owned()
        },
    },
    Difference {
        name: "jobs_have_status_column",
        last: "1.30",
        before: "false",
        after: "true",
        observe: |release| release.jobs_have_status_column().to_string(),
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
    Difference {
        name: "has_sidecar_containers",
        last: "1.28",
        before: "1",
        after: "2",
        observe: |release| {
            let pod: Pod = serde_json::from_value(serde_json::json!({"spec": {
                "containers": [{"resources": {"requests": {"memory": 1}}}],
                "initContainers": [
                    {"restartPolicy": "Always", "resources": {"requests": {"memory": 1}}},
                ],
            }}))
            .unwrap();
            pod_requests(&pod, release, &[]).unwrap()["memory"].to_string()
        },
    },
    Difference {
        name: "filters_taints_before_resources",
        last: "1.22",
        before: "false",
        after: "true",
        observe: |release| release.filters_taints_before_resources().to_string(),
    },
    Difference {
        name: "score_weights_of_v1beta3",
        last: "1.22",
        before: "false",
        after: "true",
        observe: |release| release.score_weights_of_v1beta3().to_string(),
    },
    Difference {
        name: "names_missing_topology_label",
        last: "1.19",
        before: "false",
        after: "true",
        observe: |release| release.names_missing_topology_label().to_string(),
    },
    Difference {
        name: "gives_one_affinity_reason",
        last: "1.21",
        before: "false",
        after: "true",
        observe: |release| release.gives_one_affinity_reason().to_string(),
    },
    Difference {
        name: "has_min_domains",
        last: "1.24",
        before: "false",
        after: "true",
        observe: |release| release.has_min_domains().to_string(),
    },
    Difference {
        name: "has_node_inclusion_policies",
        last: "1.25",
        before: "false",
        after: "true",
        observe: |release| release.has_node_inclusion_policies().to_string(),
    },
    Difference {
        name: "has_match_label_keys",
        last: "1.26",
        before: "false",
        after: "true",
        observe: |release| release.has_match_label_keys().to_string(),
    },
    Difference {
        name: "has_out_of_service_taint",
        last: "1.25",
        before: "false",
        after: "true",
        observe: |release| release.has_out_of_service_taint().to_string(),
    },
    Difference {
        name: "untolerated_taint_reason",
        last: "1.23",
        before: "true",
        after: "false",
        observe: |release| {
            (release.untolerated_taint_reason() == TaintReason::DidNotTolerate).to_string()
        },
    },
    Difference {
        name: "untolerated_taint_reason",
        last: "1.34",
        before: "false",
        after: "true",
        observe: |release| {
            (release.untolerated_taint_reason() == TaintReason::WithoutTaint).to_string()
        },
    },
    Difference {
        name: "node_name_reason",
        last: "1.20",
        before: "node(s) didn't match the requested hostname",
        after: "node(s) didn't match the requested node name",
        observe: |release| release.node_name_reason().to_owned(),
    },
    Difference {
        name: "node_affinity_reason",
        last: "1.19",
        before: "false",
        after: "true",
        observe: |release| release.node_affinity_reason().contains("node affinity").to_string(),
    },
    Difference {
        name: "node_affinity_reason",
        last: "1.20",
        before: "false",
        after: "true",
        observe: |release| release.node_affinity_reason().ends_with("/selector").to_string(),
    },
    Difference {
        name: "preemption_message",
        last: "1.23",
        before: "true",
        after: "false",
        observe: |release| (release.preemption_message() == PreemptionMessage::None).to_string(),
    },
    Difference {
        name: "preemption_message",
        last: "1.28",
        before: "false",
        after: "true",
        observe: |release| {
            (release >= KubernetesRelease::new(25).unwrap()
                && release.preemption_message() == PreemptionMessage::OneFullStop)
                .to_string()
        },
    },
];

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

/// Runs a script on a release.
fn play(release: KubernetesRelease, script: &str) -> Session {
    let mut session = Session::default();
    let lines = script.replace(';', "\n");
    session.execute(&format!("cluster {release}\n{lines}")).unwrap();
    session
}

/// A pod that does not tolerate the taint that its node gets.
fn evicted(release: KubernetesRelease) -> Session {
    play(release, "node n; pod d/p on n; at 1s taints n a")
}

/// The first words of the events' messages.
fn verbs(session: &Session) -> String {
    let verb = |event: &Event| match &event.what {
        Happening::EventRecorded(event) => event.message.split(' ').next().map(str::to_owned),
        _ => None,
    };
    session.log().iter().filter_map(verb).collect::<Vec<_>>().join(" ")
}

fn first_event(session: &Session, part: fn(&RecordedEvent) -> String) -> String {
    let recorded = session.log().iter().find_map(|event| match &event.what {
        Happening::EventRecorded(event) => Some(event),
        _ => None,
    });
    part(recorded.unwrap())
}

fn conditions(session: &Session) -> String {
    let pods = session.simulator().unwrap().cluster().pods();
    let types = pods.flat_map(|(_, pod)| pod.status.conditions.iter().map(|c| c.type_.clone()));
    types.collect::<Vec<_>>().join(" ")
}

/// What a drain of the node `n` prints in the end, with its errors: a pod `d/p` and a pod `d/e` with
/// an emptyDir are there, which nobody manages.
fn drain_lines(release: KubernetesRelease, flags: &str) -> Vec<String> {
    use taintlab_manifest::kubectl::{Context, run};
    let mut node = taintlab_core::api::Node::default();
    node.metadata.name = "n".into();
    let pod = |name: &str, volumes: &str| -> Pod {
        serde_json::from_str(&format!(
            r#"{{"metadata":{{"namespace":"d","name":"{name}"}},
                 "spec":{{"nodeName":"n","volumes":[{volumes}]}}}}"#
        ))
        .unwrap()
    };
    let pods = [pod("p", ""), pod("e", r#"{"name":"v","emptyDir":{}}"#)];
    let mut simulator = Simulator::new(SimulatorConfig::of(release), [node], pods).unwrap();
    let line = format!("drain n {flags}");
    for command in run(&Context::new(&simulator, &[]), &line, None).commands {
        simulator.handle_command(Timestamp::ZERO, command).unwrap();
    }
    simulator.advance_to(Timestamp::from_secs(100)).unwrap();
    let printed = simulator.drain_events().into_iter().filter_map(|event| match event.what {
        Happening::DrainPrinted { line, .. } => Some(line),
        _ => None,
    });
    printed.collect()
}

/// What `kubectl` of that release does on a node `n` with a label `a` and a pod `d/p`.
fn kubectl(release: KubernetesRelease, line: &str) -> taintlab_manifest::kubectl::Outcome {
    use taintlab_manifest::kubectl::{Context, run};
    let mut node = taintlab_core::api::Node::default();
    node.metadata.name = "n".into();
    node.metadata.labels.insert("a".into(), "b".into());
    let mut pod = Pod::default();
    pod.metadata.name = "p".into();
    pod.metadata.namespace = "d".into();
    pod.spec.node_name = "n".into();
    let simulator = Simulator::new(SimulatorConfig::of(release), [node], [pod]).unwrap();
    run(&Context::new(&simulator, &[]), line, None)
}

#[test]
fn every_difference_on_every_release() {
    let mut failures = String::new();
    for difference in DIFFERENCES {
        let last = KubernetesRelease::parse(difference.last).unwrap();
        for release in KubernetesRelease::all() {
            let expected = if release <= last { difference.before } else { difference.after };
            let got = (difference.observe)(release);
            if got != expected {
                let name = difference.name;
                failures += &format!("{name} on {release}: expected {expected:?}, got {got:?}\n");
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// A gate can be switched where its stage allows it.
#[test]
fn gates_can_be_switched() {
    let patches = |cluster: &str| {
        let mut session = Session::default();
        session.execute(&format!("cluster {cluster}\nnode n\npod d/p on n\nat 1s taints n a")).map(
            |_| {
                let sent = |event: &Event| {
                    matches!(&event.what, Happening::Request { verb: RequestVerb::PatchStatus, .. })
                };
                session.log().iter().any(sent)
            },
        )
    };
    assert_eq!(patches("1.25 PodDisruptionConditions=true"), Ok(true));
    assert_eq!(patches("1.26 PodDisruptionConditions=false"), Ok(false));
    assert_eq!(patches("1.30 PodDisruptionConditions=false"), Ok(false));
    assert_eq!(patches("1.31 PodDisruptionConditions=true"), Ok(true));
    for wrong in ["1.24 PodDisruptionConditions=true", "1.31 PodDisruptionConditions=false"] {
        assert!(patches(wrong).is_err(), "{wrong}");
    }
    // Off unless switched on: the operator is refused, and where a pod has it, it never matches.
    let mut session = Session::default();
    let refused = session.execute("cluster 1.35\nnode n a=5\npod d/p on n tolerates a>3/inf");
    assert!(refused.unwrap().contains("Unsupported value: \"Gt\""));
    for release in ["1.34 stand-in", "1.35 stand-in"] {
        let script = format!("cluster {release}\nnode n a=5\npod d/p on n tolerates a>3/inf");
        let mut session = Session::default();
        session.execute(&script).unwrap();
        assert!(verbs(&session).starts_with("Marking"), "{release}");
    }
}

/// Whoever adds a method or a gate adds a row.
#[test]
fn no_difference_is_left_out() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/src/release.rs");
    let source = fs::read_to_string(path).unwrap();
    let methods = source
        .lines()
        .filter_map(|line| line.trim().strip_prefix("pub const fn "))
        .filter_map(|rest| rest.split_once("(self) -> "))
        .filter(|(_, result)| !result.starts_with("Option<Self>"))
        .map(|(name, _)| name.to_owned())
        // Of a gate, not of a release.
        .filter(|name| name != "name");
    let gates = FeatureGate::ALL.into_iter().map(|gate| gate.name().to_owned());
    let known: BTreeSet<String> = methods.chain(gates).collect();
    let tested: BTreeSet<String> =
        DIFFERENCES.iter().map(|difference| difference.name.to_owned()).collect();
    assert!(known.len() >= 8, "the source has changed: {known:?}");
    assert_eq!(known, tested);
}
