//! What `kubectl` prints differently from release to release.

use serde_json::{Value, json};
use taintlab_core::api::{Node, Pod, Workload};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::{InitialState, Simulator, SimulatorConfig};
use taintlab_core::time::{Time, Timestamp};
use taintlab_kubectl::print::{Surroundings, TableOptions, View, describe, get};
use taintlab_kubectl::{Context, Outcome, run};

use super::Difference;

pub(super) const DIFFERENCES: &[Difference] = &[
    Difference {
        name: "taint_names_conflicts_as_pairs",
        last: "1.22",
        before: "{\"a\":\"\"}, {\"b\":\"NoExecute\"}",
        after: "a=, b=NoExecute",
        observe: |release| {
            let line = "taint node n a:NoSchedule b:NoExecute a- b:NoExecute-";
            let error = kubectl(release, line).stderr;
            error.trim_end().split_once("same command: ").unwrap().1.to_owned()
        },
    },
    Difference {
        name: "shows_preemption_policy",
        last: "1.31",
        before: "NAME VALUE GLOBAL-DEFAULT AGE",
        after: "NAME VALUE GLOBAL-DEFAULT AGE PREEMPTIONPOLICY",
        observe: |release| {
            let table = kubectl(release, "get priorityclasses").stdout;
            let title = table.lines().next().unwrap_or_default();
            title.split_whitespace().collect::<Vec<_>>().join(" ")
        },
    },
    Difference {
        name: "kubectl_says_unlabeled",
        last: "1.22",
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
        last: "1.24",
        before: "warning: Immediate deletion does not wait for confirmation that the running \
                 resource has been terminated. The resource may continue to run on the cluster \
                 indefinitely.\n",
        after: "Warning: Immediate deletion does not wait for confirmation that the running \
                resource has been terminated. The resource may continue to run on the cluster \
                indefinitely.\n",
        observe: |release| kubectl(release, "delete pod p -n d --force").stderr,
    },
    Difference {
        name: "version_short_is_deprecated",
        last: "1.23",
        before: "true",
        after: "false",
        observe: |release| kubectl(release, "version --short").stderr.is_empty().to_string(),
    },
    Difference {
        name: "version_is_always_short",
        last: "1.27",
        before: "0",
        after: "1",
        observe: |release| kubectl(release, "version --short").exit_code.to_string(),
    },
    Difference {
        name: "kustomize_version",
        last: "1.23",
        before: "no Kustomize",
        after: "v4.5.4",
        observe: kustomize_version,
    },
    Difference {
        name: "kustomize_version",
        last: "1.24",
        before: "v4.5.4",
        after: "v4.5.7",
        observe: kustomize_version,
    },
    Difference {
        name: "kustomize_version",
        last: "1.26",
        before: "v4.5.7",
        after: "v5.0.1",
        observe: kustomize_version,
    },
    Difference {
        name: "kustomize_version",
        last: "1.27",
        before: "v5.0.1",
        after: "v5.0.4-0.20230601165947-6ce0bf390ce3",
        observe: kustomize_version,
    },
    Difference {
        name: "kustomize_version",
        last: "1.30",
        before: "v5.0.4-0.20230601165947-6ce0bf390ce3",
        after: "v5.4.2",
        observe: kustomize_version,
    },
    Difference {
        name: "kustomize_version",
        last: "1.31",
        before: "v5.4.2",
        after: "v5.5.0",
        observe: kustomize_version,
    },
    Difference {
        name: "kustomize_version",
        last: "1.32",
        before: "v5.5.0",
        after: "v5.6.0",
        observe: kustomize_version,
    },
    Difference {
        name: "kustomize_version",
        last: "1.33",
        before: "v5.6.0",
        after: "v5.7.1",
        observe: kustomize_version,
    },
    Difference {
        name: "kustomize_version",
        last: "1.35",
        before: "v5.7.1",
        after: "v5.8.1",
        observe: kustomize_version,
    },
    Difference {
        name: "shows_architecture_of_kernel",
        last: "1.35",
        before: "\"5.10.0\"",
        after: "\"5.10.0 (arm64)\"",
        observe: |release| {
            let info = json!({ "kernelVersion": "5.10.0", "architecture": "arm64" });
            let node = json!({ "status": { "nodeInfo": info } });
            let table = get(view(release), "Node", &[node], &TableOptions::default()).unwrap();
            table.rows[0][8].to_string()
        },
    },
    Difference {
        name: "shows_containers_of_initialized_pods",
        last: "1.27",
        before: "Init:0/1",
        after: "Completed",
        observe: |release| {
            let status = json!({
                "conditions": [{ "type": "Initialized", "status": "True" }],
                "initContainerStatuses": [{ "name": "i", "state": { "running": {} } }],
                "containerStatuses": [ended("Completed", 0)],
            });
            let spec = json!({ "initContainers": [{ "name": "i" }] });
            status_of(release, &json!({ "spec": spec, "status": status }))
        },
    },
    Difference {
        name: "shows_failure_before_completion",
        last: "1.34",
        before: "Completed",
        after: "Error",
        observe: |release| {
            let statuses = [ended("Completed", 0), ended("Error", 1)];
            status_of(release, &json!({ "status": { "containerStatuses": statuses } }))
        },
    },
    Difference {
        name: "describe_lists_empty_replica_sets",
        last: "1.26",
        before: "false",
        after: "true",
        observe: |release| {
            let metadata = json!({ "name": "web", "uid": "u" });
            let selector = json!({ "matchLabels": { "app": "web" } });
            let deployment = json!({ "metadata": metadata, "spec": { "selector": selector } });
            let owner = json!({ "kind": "Deployment", "name": "web", "uid": "u",
                                "apiVersion": "apps/v1", "controller": true });
            let set = json!({
                "kind": "ReplicaSet",
                "metadata": { "name": "old", "labels": { "app": "web" },
                              "ownerReferences": [owner] },
                "spec": { "replicas": 0, "template": { "metadata": { "labels": { "a": "b" } } } },
            });
            let surroundings = Surroundings::read(&[set], Some(Vec::new())).unwrap();
            let page = describe(view(release), "Deployment", &deployment, &surroundings);
            page.unwrap().contains("old (0/0 replicas created)").to_string()
        },
    },
    Difference {
        name: "describe_counts_pod_level_resources",
        last: "1.35",
        before: "false",
        after: "true",
        observe: |release| {
            let pod = json!({
                "kind": "Pod",
                "metadata": { "name": "p" },
                "spec": { "nodeName": "n", "containers": [],
                          "resources": { "requests": { "cpu": "3" } } },
            });
            let node = json!({ "metadata": { "name": "n" },
                               "status": { "allocatable": { "cpu": "4" } } });
            let surroundings = Surroundings::read(&[pod], Some(Vec::new())).unwrap();
            let page = describe(view(release), "Node", &node, &surroundings).unwrap();
            page.contains("3 (75%)").to_string()
        },
    },
    Difference {
        name: "describe_tells_kube_proxy_version",
        last: "1.35",
        before: "true",
        after: "false",
        observe: |release| shows(release, "Node", "{}", "Kube-Proxy Version:"),
    },
    Difference {
        name: "describe_tells_node_local_slices",
        last: "1.35",
        before: "",
        after: "Driver,Pool,Slices,Devices ------,----,------,------- d,a,1,1 d,b,2,3",
        observe: |release| {
            let slice = |node, pool, devices: &[&str]| {
                let devices: Vec<Value> = devices.iter().map(|it| json!({ "name": it })).collect();
                json!({
                    "kind": "ResourceSlice",
                    "spec": { "driver": "d", "pool": { "name": pool }, "nodeName": node,
                              "devices": devices },
                })
            };
            let slices = [
                slice("n", "b", &["x", "y"]),
                slice("n", "a", &["x"]),
                slice("other", "c", &["x"]),
                slice("n", "b", &["z"]),
            ];
            let node = json!({ "metadata": { "name": "n" } });
            let surroundings = Surroundings::read(&slices, None).unwrap();
            let page = describe(view(release), "Node", &node, &surroundings).unwrap();
            let (_, rest) = page.split_once("Node-Local ResourceSlices:\n").unwrap_or_default();
            let lines = rest.lines().take_while(|line| line.starts_with(' '));
            let words = lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(","));
            words.collect::<Vec<_>>().join(" ")
        },
    },
    Difference {
        name: "describe_keeps_case_of_names",
        last: "1.35",
        before: "Pod Cid Rs|Share Id|Volume OSB|Own UID|node.name",
        after: "Pod CIDRs|Share ID|Volume Osb|Own UID|node.name",
        observe: |release| {
            let spec = json!({ "podCIDRs": 1, "shareID": 2, "volumeOsb": 3, "ownUid": 4,
                               "node.name": 5 });
            let claim = json!({ "spec": spec });
            let surroundings = Surroundings::default();
            let page = describe(view(release), "ResourceClaim", &claim, &surroundings).unwrap();
            let (_, fields) = page.split_once("Spec:\n").unwrap();
            let mut fields: Vec<(&str, &str)> =
                fields.lines().filter_map(|line| line.trim().split_once(':')).collect();
            fields.sort_by_key(|(_, value)| value.trim());
            let names: Vec<&str> = fields.into_iter().map(|(name, _)| name).collect();
            names.join("|")
        },
    },
    Difference {
        name: "scale_prints_new_replicas",
        last: "1.35",
        before: "replicas: 2",
        after: "replicas: 5",
        observe: |release| {
            let labels = json!({ "app": "web" });
            let web: Workload = serde_json::from_value(json!({
                "kind": "Deployment", "metadata": { "name": "web", "namespace": "d" },
                "spec": { "replicas": 2, "selector": { "matchLabels": labels },
                          "template": { "metadata": { "labels": labels } } },
            }))
            .unwrap();
            let config = SimulatorConfig::with_control_plane(release);
            let begin = InitialState { workloads: vec![web], ..InitialState::default() };
            let simulator = Simulator::beginning_with(config, [], [], begin).unwrap();
            let line = "scale deployment web -n d --replicas=5 -o yaml";
            let printed = run(&Context::new(&simulator, &[]), line, None).stdout;
            let mut lines = printed.lines().map(str::trim);
            lines.find(|line| line.starts_with("replicas")).unwrap_or(&printed).to_owned()
        },
    },
    Difference {
        name: "describe_shows_events_of_one_object",
        last: "1.35",
        before: "2 1 2",
        after: "0 1 2",
        observe: |release| {
            let shown = |line| kubectl(release, line).stdout.matches("Events:").count();
            let (several, one) = ("describe node/n pod/p -n d", "describe node n");
            let told = "describe node/n pod/p -n d --show-events";
            format!("{} {} {}", shown(several), shown(one), shown(told))
        },
    },
    Difference {
        name: "describe_names_thresholds_of_probes",
        last: "1.36",
        before: "false",
        after: "true",
        observe: |release| {
            let probe = json!({ "exec": { "command": ["true"] }, "failureThreshold": 5 });
            let pod =
                json!({ "spec": { "containers": [{ "name": "c", "livenessProbe": probe }] } });
            shows(release, "Pod", &pod.to_string(), "successThreshold=1 failureThreshold=5")
        },
    },
    Difference {
        name: "describe_tells_policies_of_stateful_set",
        last: "1.36",
        before: "",
        after: "Service Name: db, Pod Management Policy: OrderedReady, WhenDeleted: Delete, \
                WhenScaled: Retain",
        observe: |release| {
            let policy = json!({ "whenDeleted": "Delete" });
            let set = json!({ "spec": { "serviceName": "db",
                                        "persistentVolumeClaimRetentionPolicy": policy } });
            let surroundings = Surroundings::default();
            let page = describe(view(release), "StatefulSet", &set, &surroundings).unwrap();
            let told = ["Service Name", "Pod Management Policy", "WhenDeleted", "WhenScaled"];
            let fields = page.lines().filter_map(|line| line.trim().split_once(':'));
            let fields = fields.filter(|(name, _)| told.contains(name));
            let fields = fields.map(|(name, value)| format!("{name}: {}", value.trim()));
            fields.collect::<Vec<_>>().join(", ")
        },
    },
    Difference {
        name: "run_tells_restart_policies",
        last: "1.36",
        before: "error: invalid restart policy: Often\n\
                 See 'kubectl run -h' for help and examples\n",
        after: "error: invalid restart policy: Often, valid values are: Always, OnFailure, Never\n",
        observe: |release| kubectl(release, "run p --image=i --restart=Often").stderr,
    },
    Difference {
        name: "get_refuses_labels_of_custom_columns",
        last: "1.36",
        before: "N\nn\n",
        after: "error: --label-columns option cannot be used with custom-columns=N:.metadata.name \
                printer\n",
        observe: |release| {
            let line = "get nodes -L a -o custom-columns=N:.metadata.name";
            let outcome = kubectl(release, line);
            outcome.stdout + &outcome.stderr
        },
    },
    Difference {
        name: "shows_effective_default_class",
        last: "1.36",
        before: "a (default), b (default), c (default)",
        after: "a, b (default), c",
        observe: |release| {
            let class = |name, created| {
                let annotations = json!({ "storageclass.kubernetes.io/is-default-class": "true" });
                json!({ "metadata": { "name": name, "creationTimestamp": created,
                                      "annotations": annotations } })
            };
            let (old, new) = ("2019-12-01T00:00:00Z", "2019-12-31T00:00:00Z");
            let classes = [class("a", old), class("b", new), class("c", new)];
            let options = TableOptions::default();
            let table = get(view(release), "StorageClass", &classes, &options).unwrap();
            let names = table.rows.iter().map(|row| row[0].as_str().unwrap().to_owned());
            names.collect::<Vec<_>>().join(", ")
        },
    },
    Difference {
        name: "kubectl_says_modified_labels",
        last: "1.35",
        before: "node/n labeled\nnode/n labeled\n",
        after: "node/n modified\nnode/n unlabeled\n",
        observe: |release| {
            let of = |line| kubectl(release, line).stdout;
            of("label node n a- c=d") + &of("label node n a- --overwrite")
        },
    },
    Difference {
        name: "jobs_have_status_column",
        last: "1.29",
        before: "false",
        after: "true",
        observe: |release| {
            let table = get(view(release), "Job", &[json!({})], &TableOptions::default());
            let columns = table.unwrap().columns;
            columns.iter().any(|column| column == "Status").to_string()
        },
    },
    Difference {
        name: "describe_says_that_lease_is_missing",
        last: "1.18",
        before: "false",
        after: "true",
        observe: |release| shows(release, "Node", r#"{}"#, "Failed to get lease"),
    },
    Difference {
        name: "describe_tells_operator_exists",
        last: "1.18",
        before: "false",
        after: "true",
        observe: |release| {
            shows(
                release,
                "Pod",
                r#"{"spec":{"tolerations":[{"key":"k","operator":"Exists"}]}}"#,
                "k op=Exists",
            )
        },
    },
    Difference {
        name: "describe_reads_event_time",
        last: "1.18",
        before: "false",
        after: "true",
        observe: |release| {
            shows(
                release,
                "Event of Job",
                r#"{"eventTime":"2019-12-31T23:59:00.000000Z","reason":"R"}"#,
                "60s",
            )
        },
    },
    Difference {
        name: "describe_names_reporting_controller",
        last: "1.19",
        before: "false",
        after: "true",
        observe: |release| {
            shows(
                release,
                "Event of Job",
                r#"{"reason":"R","reportingComponent":"somebody"}"#,
                "somebody",
            )
        },
    },
    Difference {
        name: "describe_node_writes_age",
        last: "1.20",
        before: "false",
        after: "true",
        observe: |release| shows(release, "Node", r#"{}"#, "Limits  Age"),
    },
    Difference {
        name: "describe_leaves_out_absent_replica_sets",
        last: "1.21",
        before: "true",
        after: "false",
        observe: |release| shows(release, "Deployment", r#"{}"#, "NewReplicaSet:"),
    },
    Difference {
        name: "describe_tells_completion_mode",
        last: "1.21",
        before: "false",
        after: "true",
        observe: |release| shows(release, "Job", r#"{}"#, "Completion Mode:"),
    },
    Difference {
        name: "shows_time_of_last_restart",
        last: "1.21",
        before: "3",
        after: "3 (5d ago)",
        observe: |release| restarts(release),
    },
    Difference {
        name: "describe_counts_active_pods",
        last: "1.22",
        before: "false",
        after: "true",
        observe: |release| {
            shows(release, "Job", r#"{"status":{"active":2,"ready":1}}"#, "2 Active (1 Ready)")
        },
    },
    Difference {
        name: "describe_reads_event_series",
        last: "1.22",
        before: "false",
        after: "true",
        observe: |release| {
            shows(
                release,
                "Event of Job",
                r#"{"series":{"count":7,"lastObservedTime":"2019-12-31T23:59:30.000000Z"}}"#,
                "30s (x7 over",
            )
        },
    },
    Difference {
        name: "qos_of_kubectl_counts_init_containers",
        last: "1.23",
        before: "false",
        after: "true",
        observe: |release| {
            shows(
                release,
                "Pod",
                concat!(
                    r#"{"spec":{"containers":[{"name":"c"}],"initContainers":"#,
                    r#"[{"name":"i","resources":{"requests":{"cpu":"1"}}}]}}"#,
                ),
                "Burstable",
            )
        },
    },
    Difference {
        name: "describe_node_shows_events_of_controllers",
        last: "1.23",
        before: "false",
        after: "true",
        observe: |release| registered_is_shown(release),
    },
    Difference {
        name: "describe_tells_preemption_policy",
        last: "1.23",
        before: "false",
        after: "true",
        observe: |release| {
            shows(release, "PriorityClass", r#"{"value":5}"#, "PreemptLowerPriority")
        },
    },
    Difference {
        name: "describe_claim_title_of_pods",
        last: "1.19",
        before: "true",
        after: "false",
        observe: |release| shows(release, "PersistentVolumeClaim", "{}", "Mounted By:"),
    },
    Difference {
        name: "shows_endpoint_slices",
        last: "1.21",
        before: "false",
        after: "true",
        observe: |release| {
            let table = kubectl(release, "api-resources").stdout;
            table.contains("\nendpointslices ").to_string()
        },
    },
    Difference {
        name: "shows_volume_attributes_class",
        last: "1.28",
        before: "6 8",
        after: "7 9",
        observe: |release| {
            // Without the column of `-o wide`, and that of the age or the reason.
            let columns = |kind| {
                let table = get(view(release), kind, &[json!({})], &TableOptions::default());
                table.unwrap().columns.len()
            };
            let (claims, volumes) = (columns("PersistentVolumeClaim"), columns("PersistentVolume"));
            format!("{} {}", claims - 2, volumes - 2)
        },
    },
    Difference {
        name: "describe_tells_service_account",
        last: "1.24",
        before: "false",
        after: "true",
        observe: |release| {
            shows(release, "Pod", r#"{"spec":{"serviceAccountName":"a"}}"#, "Service Account:")
        },
    },
    Difference {
        name: "describe_tells_seccomp_profile",
        last: "1.26",
        before: "false",
        after: "true",
        observe: |release| {
            shows(
                release,
                "Pod",
                r#"{"spec":{"securityContext":{"seccompProfile":{"type":"RuntimeDefault"}}}}"#,
                "SeccompProfile:",
            )
        },
    },
    Difference {
        name: "describe_computes_qos_class",
        last: "1.28",
        before: "false",
        after: "true",
        observe: |release| {
            shows(release, "Pod", r#"{"status":{"qosClass":"Burstable"}}"#, "BestEffort")
        },
    },
    Difference {
        name: "describe_tells_template_tolerations",
        last: "1.29",
        before: "false",
        after: "true",
        observe: |release| shows(release, "Job", r#"{}"#, "  Tolerations:"),
    },
    Difference {
        name: "describe_tells_backoff_limit",
        last: "1.29",
        before: "false",
        after: "true",
        observe: |release| shows(release, "Job", r#"{}"#, "Backoff Limit:"),
    },
    Difference {
        name: "shows_phase_of_deleted_pods_that_ended",
        last: "1.30",
        before: "false",
        after: "true",
        observe: |release| {
            shows(
                release,
                "Pod",
                r#"{"metadata":{"deletionTimestamp":"2020-01-01T00:00:00Z"},"status":{"phase":"Failed"}}"#,
                "Failed",
            )
        },
    },
    Difference {
        name: "describe_tells_namespace_of_daemon_set",
        last: "1.32",
        before: "false",
        after: "true",
        observe: |release| shows(release, "DaemonSet", r#"{}"#, "Namespace:"),
    },
    Difference {
        name: "describe_says_optional_of_projected_volume",
        last: "1.32",
        before: "false",
        after: "true",
        observe: |release| {
            shows(
                release,
                "Pod",
                r#"{"spec":{"volumes":[{"name":"v","projected":{"sources":[{"secret":{"name":"s"}}]}}]}}"#,
                "    Optional:",
            )
        },
    },
    Difference {
        name: "describe_tells_names_of_ports",
        last: "1.33",
        before: "false",
        after: "true",
        observe: |release| {
            shows(
                release,
                "Pod",
                r#"{"spec":{"containers":[{"name":"c","ports":[{"name":"web","containerPort":80}]}]}}"#,
                "80/TCP (web)",
            )
        },
    },
    Difference {
        name: "describe_tells_field_path_of_events",
        last: "1.34",
        before: "false",
        after: "true",
        observe: |release| {
            shows(
                release,
                "Event of Job",
                r#"{"message":"m","involvedObject":{"fieldPath":"spec.containers{c}"}}"#,
                "spec.containers{c}: m",
            )
        },
    },
];

/// Whether `kubectl describe` of an object, or about an event of one, prints a text.
fn shows(release: KubernetesRelease, kind: &str, object: &str, text: &str) -> String {
    let object: Value = serde_json::from_str(object).unwrap();
    let surroundings = |events| Surroundings::read(&[], Some(events)).unwrap();
    let page = match kind.strip_prefix("Event of ") {
        Some(kind) => describe(view(release), kind, &json!({}), &surroundings(vec![object])),
        None => describe(view(release), kind, &object, &surroundings(Vec::new())),
    };
    page.unwrap().contains(text).to_string()
}

fn view(release: KubernetesRelease) -> View {
    View { release, now: Time::parse("2020-01-01T00:00:00Z").unwrap() }
}

/// A container that has ended.
fn ended(reason: &str, code: i64) -> Value {
    json!({ "name": "c", "state": { "terminated": { "reason": reason, "exitCode": code } } })
}

/// The column STATUS of a pod.
fn status_of(release: KubernetesRelease, pod: &Value) -> String {
    let pods = std::slice::from_ref(pod);
    let table = get(view(release), "Pod", pods, &TableOptions::default()).unwrap();
    table.rows[0][2].as_str().unwrap().to_owned()
}

/// The column RESTARTS of a pod.
fn restarts(release: KubernetesRelease) -> String {
    let pod = json!({ "status": { "containerStatuses": [{
        "name": "c", "restartCount": 3,
        "lastState": { "terminated": { "finishedAt": "2019-12-27T00:00:00Z" } },
    }] } });
    let table = get(view(release), "Pod", &[pod], &TableOptions::default()).unwrap();
    match &table.rows[0][3] {
        Value::String(text) => text.clone(),
        number => number.to_string(),
    }
}

/// Whether the page of a node has what the node lifecycle controller recorded.
fn registered_is_shown(release: KubernetesRelease) -> String {
    let mut config = SimulatorConfig::of(release);
    config.node_lifecycle = true;
    let mut node = Node::default();
    node.metadata.name = "n".into();
    let mut simulator = Simulator::new(config, [node], []).unwrap();
    simulator.advance_to(Timestamp::from_secs(10)).unwrap();
    let events = simulator.drain_events();
    let page = run(&Context::new(&simulator, &events), "describe node n", None).stdout;
    page.contains("RegisteredNode").to_string()
}

/// What `kubectl` of that release does on a node `n` with a label `a` and a pod `d/p`.
/// The version of Kustomize between those of client and server.
fn kustomize_version(release: KubernetesRelease) -> String {
    let printed = kubectl(release, "version").stdout;
    let lines: Vec<&str> = printed.lines().collect();
    let version = release.version();
    let server = format!("Server Version: {version}");
    assert_eq!(lines[0], format!("Client Version: {version}"));
    assert_eq!(*lines.last().unwrap(), server);
    match lines[1].strip_prefix("Kustomize Version: ") {
        Some(version) => version.to_owned(),
        None => "no Kustomize".to_owned(),
    }
}

pub(super) fn kubectl(release: KubernetesRelease, line: &str) -> Outcome {
    let mut node = Node::default();
    node.metadata.name = "n".into();
    node.metadata.labels.insert("a".into(), "b".into());
    let mut pod = Pod::default();
    pod.metadata.name = "p".into();
    pod.metadata.namespace = "d".into();
    pod.spec.node_name = "n".into();
    let simulator = Simulator::new(SimulatorConfig::of(release), [node], [pod]).unwrap();
    run(&Context::new(&simulator, &[]), line, None)
}
