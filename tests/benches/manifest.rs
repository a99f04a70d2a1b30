//! How fast manifests are read and written: a cluster of 600 nodes and 18,000 pods, with all that
//! `kubectl get nodes,pods -A -o yaml` prints about each, and many small documents.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde_json::{Value, json};
use taintlab_manifest::{Format, Import, Limits, Purpose, export, import};

criterion_group!(benches, reading, small_documents, writing);
criterion_main!(benches);

const NODES: usize = 600;
const PODS: usize = 18_000;

fn reading(c: &mut Criterion) {
    let cluster = cluster();
    for (name, format) in [("yaml", Format::Yaml), ("json", Format::Json)] {
        let text = write(&cluster, format);
        let mut group = c.benchmark_group("Import_600nodes_18000pods");
        group.sample_size(10).throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |b| b.iter(|| read(black_box(&text))));
    }
}

/// Many documents of a few lines each: the time per byte must not depend on how many there are.
fn small_documents(c: &mut Criterion) {
    let mut group = c.benchmark_group("Import_small_documents");
    for count in [10_000, 40_000, 160_000] {
        let document = |n| format!("---\napiVersion: v1\nkind: Node\nmetadata:\n  name: n{n}\n");
        let text: String = (0..count).map(document).collect();
        group.sample_size(10).throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(count.to_string(), |b| {
            b.iter(|| {
                let import = import(black_box(&text), "documents", &Limits::default());
                assert_eq!(import.nodes.len(), count);
                import
            });
        });
    }
}

fn writing(c: &mut Criterion) {
    let cluster = cluster();
    for (name, format) in [("yaml", Format::Yaml), ("json", Format::Json)] {
        let length = write(&cluster, format).len() as u64;
        let mut group = c.benchmark_group("Export_600nodes_18000pods");
        group.sample_size(10).throughput(Throughput::Bytes(length));
        group.bench_function(name, |b| b.iter(|| write(black_box(&cluster), format)));
    }
}

fn cluster() -> Import {
    let nodes = (0..NODES).map(node);
    let pods = (0..PODS).map(pod);
    let items: Vec<Value> = nodes.chain(pods).collect();
    read(&json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string())
}

fn read(text: &str) -> Import {
    let import = import(text, "cluster", &Limits::default());
    assert!(import.diagnostics.is_empty(), "{:?}", import.diagnostics.first());
    assert_eq!((import.nodes.len(), import.pods.len()), (NODES, PODS));
    import
}

fn write(cluster: &Import, format: Format) -> String {
    export(&cluster.nodes, &cluster.pods, &cluster.others, Purpose::State, format)
}

const TIME: &str = "2024-05-01T10:00:00Z";

fn node(number: usize) -> Value {
    let images: Vec<Value> = (0..50)
        .map(|image| {
            let name = format!("example.com/team/image-{image}:1.0");
            json!({ "names": [name], "sizeBytes": 123_456_789 })
        })
        .collect();
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": format!("node-{number}"),
            "creationTimestamp": TIME,
            "uid": format!("5f3c0d6e-0000-4000-8000-{number:012}"),
            "annotations": { "node.alpha.kubernetes.io/ttl": "0" },
            "labels": {
                "kubernetes.io/hostname": format!("node-{number}"),
                "topology.kubernetes.io/zone": format!("zone-{}", number % 3),
            },
        },
        "spec": { "podCIDR": "10.1.0.0/24", "providerID": "example:///zone/machine" },
        "status": {
            "addresses": [{ "address": "10.0.0.1", "type": "InternalIP" }],
            "allocatable": { "cpu": "3920m", "memory": "15Gi", "pods": "110" },
            "conditions": [{
                "type": "Ready", "status": "True", "reason": "KubeletReady",
                "message": "kubelet is posting ready status",
                "lastHeartbeatTime": TIME, "lastTransitionTime": TIME,
            }],
            "images": images,
        },
    })
}

fn pod(number: usize) -> Value {
    let conditions = ["Initialized", "Ready", "ContainersReady", "PodScheduled"]
        .map(|type_| json!({ "type": type_, "status": "True", "lastTransitionTime": TIME }));
    let toleration = |key: &str| {
        json!({
            "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300,
        })
    };
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": format!("web-7d4b9c6f5d-{number:05}"),
            "namespace": format!("team-{}", number % 40),
            "generateName": "web-7d4b9c6f5d-",
            "creationTimestamp": TIME,
            "uid": format!("8a7c0d6e-0000-4000-8000-{number:012}"),
            "labels": { "app": "web", "pod-template-hash": "7d4b9c6f5d" },
            "ownerReferences": [{
                "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-7d4b9c6f5d",
                "uid": "0d9a5e5e-0b9c-4a4e-9d0a-5d1f6f2c1c11",
                "controller": true, "blockOwnerDeletion": true,
            }],
        },
        "spec": {
            "containers": [{
                "name": "app",
                "image": "example.com/team/app:1.2.3",
                "imagePullPolicy": "IfNotPresent",
                "env": [
                    { "name": "LEVEL", "value": "1" },
                    { "name": "URL", "value": "http://example.com:8080/path?x=1#part" },
                    { "name": "POD_IP", "valueFrom": {
                        "fieldRef": { "apiVersion": "v1", "fieldPath": "status.podIP" } } },
                ],
                "livenessProbe": {
                    "httpGet": { "path": "/healthz", "port": 8080, "scheme": "HTTP" },
                    "failureThreshold": 3, "periodSeconds": 10, "timeoutSeconds": 1,
                },
                "ports": [{ "containerPort": 8080, "name": "http", "protocol": "TCP" }],
                "resources": {
                    "limits": { "cpu": "500m", "memory": "256Mi" },
                    "requests": { "cpu": "100m", "memory": "128Mi" },
                },
                "volumeMounts": [{
                    "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
                    "name": "token", "readOnly": true,
                }],
            }],
            "dnsPolicy": "ClusterFirst",
            "nodeName": format!("node-{}", number % NODES),
            "priority": 0,
            "restartPolicy": "Always",
            "schedulerName": "default-scheduler",
            "securityContext": {},
            "serviceAccountName": "default",
            "terminationGracePeriodSeconds": 30,
            "tolerations": [
                toleration("node.kubernetes.io/not-ready"),
                toleration("node.kubernetes.io/unreachable"),
            ],
            "volumes": [{ "name": "token", "projected": { "defaultMode": 420, "sources": [
                { "serviceAccountToken": { "expirationSeconds": 3607, "path": "token" } },
            ] } }],
        },
        "status": {
            "phase": "Running",
            "conditions": conditions,
            "containerStatuses": [{
                "name": "app", "ready": true, "restartCount": 0, "started": true,
                "image": "example.com/team/app:1.2.3",
                "state": { "running": { "startedAt": TIME } },
                "lastState": {},
            }],
            "hostIP": "10.0.0.1",
            "podIP": "10.1.2.3",
            "podIPs": [{ "ip": "10.1.2.3" }],
            "qosClass": "Burstable",
            "startTime": TIME,
        },
    })
}
