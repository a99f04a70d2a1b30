//! A cluster as a managed service has it: many small Deployments, DaemonSets on every node, budgets
//! and the leases of the nodes.

use serde_json::{Value, json};
use taintlab_core::scenario::Scenario;

/// How many nodes there are.
const NODES: usize = 100;
/// How many Deployments of 2 to 10 pods.
const DEPLOYMENTS: usize = 618;
/// What runs on every node.
const DAEMON_SETS: [&str; 3] = ["aws-node", "ebs-csi-node", "kube-proxy"];

/// How many pods a Deployment has.
const fn replicas(deployment: usize) -> usize {
    // Most have few.
    const OF: [usize; 13] = [2, 3, 2, 6, 3, 2, 10, 4, 2, 8, 3, 6, 8];
    OF[deployment % OF.len()]
}

fn name_of(node: usize) -> String {
    format!("ip-10-0-{}-{}.eu-west-1.compute.internal", node % 3 * 16 + node / 50, 17 + node * 2)
}

fn toleration(key: &str) -> Value {
    json!({ "key": format!("node.kubernetes.io/{key}"), "operator": "Exists",
            "effect": "NoExecute", "tolerationSeconds": 300 })
}

fn owner(kind: &str, name: &str) -> Value {
    json!([{ "apiVersion": "apps/v1", "kind": kind, "name": name, "controller": true,
             "uid": format!("{kind}-{name}") }])
}

/// What the pods of a Deployment say of one another: every third is spread over zones, as charts
/// have it.
fn spec(app: usize, labels: &Value) -> Value {
    let cpu = format!("{}m", [100, 250, 50, 500, 150][app % 5]);
    let memory = format!("{}Mi", [256, 512, 128, 1024][app % 4]);
    let requests = json!({ "cpu": cpu, "memory": memory });
    let mut spec = json!({
        "containers": [{ "name": "app", "image": "app", "resources": { "requests": requests } }],
    });
    if app.is_multiple_of(3) {
        spec["topologySpreadConstraints"] = json!([{
            "maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": { "matchLabels": labels },
        }]);
    }
    spec
}

/// The cluster.
pub(crate) fn cluster() -> Scenario {
    let mut scenario = Scenario::default();
    let objects = &mut scenario.objects;
    let read = |object: Value| serde_json::from_value(object).expect("a node");
    for index in 0..NODES {
        let name = name_of(index);
        let labels = json!({
            "topology.kubernetes.io/zone": (["eu-west-1a", "eu-west-1b", "eu-west-1c"][index % 3]),
            "topology.kubernetes.io/region": "eu-west-1",
            "kubernetes.io/hostname": name,
            "eks.amazonaws.com/nodegroup": (["general", "general", "spot"][index / 4 % 3]),
        });
        objects.nodes.push(read(json!({
            "metadata": { "name": name, "labels": labels },
            "status": {
                "allocatable": { "cpu": "7910m", "memory": "29Gi", "pods": "58" },
                "conditions": [{ "type": "Ready", "status": "True" }],
            },
        })));
        objects.others.push(json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": { "name": name, "namespace": "kube-node-lease" },
            "spec": { "holderIdentity": name, "leaseDurationSeconds": 40 },
        }));
    }
    let ready =
        json!({ "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }] });
    for name in DAEMON_SETS {
        let labels = json!({ "k8s-app": name });
        let spec = json!({ "containers": [{ "name": name }] });
        objects.workloads.push(
            serde_json::from_value(json!({
                "kind": "DaemonSet",
                "metadata": { "name": name, "namespace": "kube-system",
                              "uid": format!("DaemonSet-{name}") },
                "spec": { "selector": { "matchLabels": labels },
                          "template": { "metadata": { "labels": labels }, "spec": spec } },
            }))
            .expect("a DaemonSet"),
        );
        for node in 0..NODES {
            objects.pods.push(
                serde_json::from_value(json!({
                    "metadata": { "name": format!("{name}-{node:05}"), "namespace": "kube-system",
                                  "labels": labels, "ownerReferences": owner("DaemonSet", name) },
                    "spec": { "nodeName": name_of(node), "containers": [{ "name": name }],
                              "tolerations": [{ "operator": "Exists" }] },
                    "status": ready,
                }))
                .expect("a pod"),
            );
        }
    }
    let mut place = 0;
    for app in 0..DEPLOYMENTS {
        let namespace = format!("team-{}", app % 24);
        let (name, set) = (format!("service-{app}"), format!("service-{app}-6f9d8c7b5"));
        let own = json!({ "app.kubernetes.io/name": name });
        let labels = json!({ "app.kubernetes.io/name": name, "pod-template-hash": "6f9d8c7b5" });
        let spec = spec(app, &own);
        let mut add = |kind: &str, name: &str, labels: &Value, owners: Value| {
            objects.workloads.push(
                serde_json::from_value(json!({
                    "kind": kind,
                    "metadata": { "name": name, "namespace": namespace, "labels": labels,
                                  "uid": format!("{kind}-{name}"), "ownerReferences": owners },
                    "spec": { "replicas": replicas(app), "selector": { "matchLabels": labels },
                              "template": { "metadata": { "labels": labels }, "spec": spec } },
                }))
                .expect("a workload"),
            );
        };
        add("Deployment", &name, &own, json!([]));
        add("ReplicaSet", &set, &labels, owner("Deployment", &name));
        for replica in 0..replicas(app) {
            let mut pod = spec.clone();
            pod["nodeName"] = name_of(place % NODES).into();
            place += 37;
            pod["tolerations"] = json!([toleration("not-ready"), toleration("unreachable")]);
            objects.pods.push(
                serde_json::from_value(json!({
                    "metadata": { "name": format!("{set}-{replica:05}"), "namespace": namespace,
                                  "labels": labels, "ownerReferences": owner("ReplicaSet", &set) },
                    "spec": pod,
                    "status": ready,
                }))
                .expect("a pod"),
            );
        }
        if app.is_multiple_of(3) {
            objects.budgets.push(
                serde_json::from_value(json!({
                    "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
                    "metadata": { "name": name, "namespace": namespace },
                    "spec": { "maxUnavailable": 1, "selector": { "matchLabels": own } },
                }))
                .expect("a budget"),
            );
        }
    }
    scenario
}
