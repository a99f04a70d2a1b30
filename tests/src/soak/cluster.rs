//! Random clusters, as scenarios without steps.

use serde_json::{Value, json};
use taintlab_core::release::{FeatureGate, KubernetesRelease};
use taintlab_core::scenario::Scenario;

use crate::dice::Dice;

/// The zones of nodes.
pub const ZONES: [&str; 3] = ["a", "b", "c"];
/// The key of taints that users write.
pub const TAINT_KEY: &str = "maintenance";

/// A cluster of 3 to 9 nodes and up to 9 workloads.
///
/// # Panics
/// The cluster is no valid scenario, which is an error of this function.
#[must_use]
pub fn cluster(dice: &mut Dice) -> Scenario {
    let minors = KubernetesRelease::all().collect::<Vec<_>>();
    let release = *dice.pick(&minors);
    let minor = super::minor_of(release);
    let mut objects = workloads(dice, minor);
    let budgets = budgets(dice, minor);
    // Half of the clusters have more room than all workloads need.
    let cpu = *dice.pick(&["8", "8", "3", "2"]);
    let nodes: Vec<Value> = (0..3 + dice.below(7)).map(|number| node(number, cpu, dice)).collect();
    let mut others = Vec::new();
    for (name, value) in [("high", 1_000), ("low", -10)] {
        others.push(json!({ "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
            "metadata": { "name": name }, "value": value }));
    }
    if dice.one_in(3) {
        let mode = *dice.pick(&["WaitForFirstConsumer", "Immediate"]);
        others.push(json!({ "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
            "metadata": { "name": "disks" }, "provisioner": "disk.csi.example.com",
            "volumeBindingMode": mode }));
        let claim = json!({ "metadata": { "name": "data" },
            "spec": { "accessModes": ["ReadWriteOnce"], "storageClassName": "disks" } });
        let with_claims = objects.iter_mut().filter(|it| it["metadata"]["name"] == "db");
        with_claims.for_each(|it| it["spec"]["volumeClaimTemplates"] = json!([claim]));
    }
    let mut kubernetes = json!({
        "release": release.to_string(),
        "controlPlane": true,
        "controllerManagerFlags": flags(dice, minor),
        "featureGates": gates(dice, release),
        "kubelets": {
            "phaseSeed": *dice.pick(&[0, 1, 2, 3]),
            "jitterSeed": *dice.pick(&[0, 0, 1, 2]),
            "latency": *dice.pick(&["0s", "0s", "5ms", "300ms"]),
        },
        "startUpTime": *dice.pick(&["2s", "0s", "20s", "90s"]),
    });
    if dice.one_in(2) {
        kubernetes["healthPass"] = json!({});
    }
    if dice.one_in(2) {
        kubernetes["kubeletConfiguration"] = json!({ "shutdownGracePeriod": "30s",
            "shutdownGracePeriodCriticalPods": "10s" });
    }
    let scenario = json!({
        "apiVersion": "taintlab/v1",
        "kind": "Scenario",
        "kubernetes": kubernetes,
        "objects": { "nodes": nodes, "workloads": objects, "budgets": budgets, "others": others },
    });
    let mut scenario: Scenario = serde_json::from_value(scenario).unwrap();
    // Not every release has all gates together, or shutdowns.
    if scenario.simulator().is_err() {
        scenario.kubernetes.feature_gates.clear();
    }
    if scenario.simulator().is_err() {
        scenario.kubernetes.kubelet_configuration = None;
    }
    scenario
}

/// A node of one of the zones.
#[must_use]
pub fn node(number: usize, cpu: &str, dice: &mut Dice) -> Value {
    let resources = json!({ "cpu": cpu, "memory": "8Gi", "pods": "30" });
    json!({
        "metadata": { "name": format!("n{number}"), "labels": {
            "topology.kubernetes.io/zone": dice.pick(&ZONES),
            "disk": if number == 1 { "hdd" } else { "ssd" } } },
        "status": { "allocatable": resources, "capacity": resources },
    })
}

fn flags(dice: &mut Dice, minor: u8) -> Value {
    let mut flags = json!({});
    if minor <= 26 && dice.one_in(5) {
        flags["enable-taint-manager"] = "false".into();
        flags["pod-eviction-timeout"] = (*dice.pick(&["30s", "2m"])).into();
    }
    let all: [(&str, &[&str]); 6] = [
        ("large-cluster-size-threshold", &["2", "5"]),
        ("node-eviction-rate", &["1", "0.3", "0.01"]),
        ("secondary-node-eviction-rate", &["0.1", "0"]),
        ("unhealthy-zone-threshold", &["0.3", "0.8"]),
        ("node-monitor-period", &["2s", "7s"]),
        ("node-monitor-grace-period", &["30s", "2m"]),
    ];
    for (name, values) in all {
        if dice.one_in(4) {
            flags[name] = (*dice.pick(values)).into();
        }
    }
    flags
}

fn gates(dice: &mut Dice, release: KubernetesRelease) -> Value {
    use taintlab_core::release::GateStage;
    let mut gates = json!({});
    for gate in FeatureGate::ALL {
        let other = match gate.stage(release) {
            GateStage::Off => true,
            GateStage::On => false,
            GateStage::Absent | GateStage::LockedOn => continue,
        };
        if dice.one_in(4) {
            gates[gate.name()] = other.into();
        }
    }
    gates
}

fn tolerations(dice: &mut Dice) -> Value {
    let key = |name: &str| format!("node.kubernetes.io/{name}");
    let mut list = Vec::new();
    let seconds = *dice.pick(&[None, None, Some(0), Some(5), Some(60), Some(3_600)]);
    if let Some(seconds) = seconds {
        for name in ["not-ready", "unreachable"] {
            list.push(json!({ "key": key(name), "operator": "Exists", "effect": "NoExecute",
                "tolerationSeconds": seconds }));
        }
    }
    match dice.below(6) {
        0 => list.push(json!({ "key": TAINT_KEY, "operator": "Exists", "effect": "NoExecute",
            "tolerationSeconds": dice.pick(&[1, 30, 600]) })),
        1 => list.push(json!({ "key": TAINT_KEY, "operator": "Exists" })),
        2 => list.push(json!({ "key": key("unreachable"), "operator": "Exists" })),
        _ => {}
    }
    list.into()
}

fn workload(dice: &mut Dice, kind: &str, name: &str, more: &Value) -> Value {
    let cpu = *dice.pick(&["100m", "300m", "500m", "900m"]);
    let mut pod = json!({
        "containers": [{ "name": "app", "image": "app:1",
            "resources": { "requests": { "cpu": cpu, "memory": "200Mi" } } }],
        "terminationGracePeriodSeconds": dice.pick(&[0, 3, 30]),
        "tolerations": tolerations(dice),
    });
    if dice.one_in(4) {
        pod["priorityClassName"] = (*dice.pick(&["high", "low"])).into();
    }
    if dice.one_in(5) {
        pod["nodeSelector"] = json!({ "disk": "ssd" });
    }
    let mut spec =
        json!({ "template": { "metadata": { "labels": { "app": name } }, "spec": pod } });
    if kind == "Job" {
        spec["template"]["spec"]["restartPolicy"] = "Never".into();
    } else {
        spec["selector"] = json!({ "matchLabels": { "app": name } });
    }
    for (key, value) in more.as_object().into_iter().flatten() {
        spec[key] = value.clone();
    }
    let group = if kind == "Job" { "batch/v1" } else { "apps/v1" };
    json!({ "apiVersion": group, "kind": kind, "metadata": { "name": name }, "spec": spec })
}

fn workloads(dice: &mut Dice, minor: u8) -> Vec<Value> {
    let of = |text: &str| text.parse::<i64>().map_or_else(|_| json!(text), |it| json!(it));
    let strategy = |dice: &mut Dice| {
        if dice.one_in(5) {
            return json!({ "type": "Recreate" });
        }
        let all = [("25%", "25%"), ("1", "0"), ("0", "1"), ("50%", "0"), ("2", "40%")];
        let (surge, unavailable) = *dice.pick(&all);
        json!({ "rollingUpdate": { "maxSurge": of(surge), "maxUnavailable": of(unavailable) } })
    };
    let mut all = Vec::new();
    for name in ["web", "front"] {
        let more = json!({ "replicas": dice.below(6), "strategy": strategy(dice),
            "minReadySeconds": dice.pick(&[0, 0, 4]) });
        all.push(workload(dice, "Deployment", name, &more));
    }
    let more = json!({ "replicas": 1 + dice.below(3) });
    all.push(workload(dice, "ReplicaSet", "api", &more));
    let more = json!({ "replicas": dice.below(4), "updateStrategy": { "rollingUpdate": {
        "partition": dice.pick(&[0, 0, 1]), "maxUnavailable": dice.pick(&[1, 2]) } } });
    all.push(workload(dice, "StatefulSet", "db", &more));
    let more = json!({ "replicas": dice.below(4), "podManagementPolicy": "Parallel",
        "updateStrategy": { "rollingUpdate": { "maxUnavailable": "70%" } } });
    all.push(workload(dice, "StatefulSet", "mq", &more));
    let more = if dice.one_in(3) {
        let rolling = if minor < 22 {
            json!({ "maxUnavailable": 2 })
        } else {
            json!({ "maxSurge": dice.pick(&[json!(1), json!("100%")]), "maxUnavailable": 0 })
        };
        json!({ "updateStrategy": { "rollingUpdate": rolling } })
    } else {
        json!({})
    };
    all.push(workload(dice, "DaemonSet", "logs", &more));
    for (name, time) in [("sum", "40s"), ("late", "10m")] {
        let more = json!({ "parallelism": dice.pick(&[1, 2]), "completions": dice.pick(&[1, 3]),
            "backoffLimit": dice.pick(&[0, 1, 6]) });
        let mut job = workload(dice, "Job", name, &more);
        job["metadata"]["annotations"] = json!({ "taintlab/run-time": time });
        all.push(job);
    }
    // Each cluster has some of them.
    all.retain(|_| !dice.one_in(4));
    all
}

fn budgets(dice: &mut Dice, minor: u8) -> Vec<Value> {
    let mut budgets = Vec::new();
    for name in ["web", "front", "api", "db", "mq"] {
        if dice.one_in(2) {
            continue;
        }
        let mut spec = json!({ "selector": { "matchLabels": { "app": name } } });
        let field = *dice.pick(&["minAvailable", "maxUnavailable"]);
        let values = [json!(0), json!(1), json!(2), json!("40%"), json!("100%")];
        spec[field] = dice.pick(&values).clone();
        if minor >= 27 && dice.one_in(3) {
            spec["unhealthyPodEvictionPolicy"] = "AlwaysAllow".into();
        }
        budgets.push(json!({ "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": { "name": name }, "spec": spec }));
    }
    budgets
}
