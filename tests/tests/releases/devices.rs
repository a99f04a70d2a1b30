//! Devices and their taints.

use serde_json::{Value, json};
use taintlab_core::api::{DeviceObject, Node, Pod, PodKey};
use taintlab_core::event::EventKind;
use taintlab_core::release::{FeatureGate, GateStage, KubernetesRelease};
use taintlab_core::simulator::{InitialState, Simulator, SimulatorConfig};
use taintlab_core::time::Timestamp;

use super::Difference;
use super::kubectl::kubectl;

pub(super) const DIFFERENCES: &[Difference] = &[
    Difference {
        name: "DynamicResourceAllocation",
        last: "1.25",
        before: "refused",
        after: "taken",
        observe: |release| switches(release, FeatureGate::DynamicResourceAllocation, true),
    },
    Difference {
        name: "DynamicResourceAllocation",
        last: "1.33",
        before: "stays",
        after: "evicted",
        observe: |release| evicted(release, &[FeatureGate::DRADeviceTaints], SLICE),
    },
    Difference {
        name: "DynamicResourceAllocation",
        last: "1.34",
        before: "taken",
        after: "refused",
        observe: |release| switches(release, FeatureGate::DynamicResourceAllocation, false),
    },
    Difference {
        name: "DRADeviceTaints",
        last: "1.32",
        before: "refused",
        after: "taken",
        observe: |release| switches(release, FeatureGate::DRADeviceTaints, true),
    },
    Difference {
        name: "DRADeviceTaints",
        last: "1.35",
        before: "stays",
        after: "evicted",
        observe: |release| evicted(release, &[FeatureGate::DynamicResourceAllocation], SLICE),
    },
    Difference {
        name: "DRADeviceTaintRules",
        last: "1.34",
        before: "evicted",
        after: "stays",
        observe: |release| {
            if FeatureGate::DRADeviceTaints.stage(release) == GateStage::Absent {
                // No rule can taint a device in this release.
                return "evicted".to_owned();
            }
            let gates = [FeatureGate::DynamicResourceAllocation, FeatureGate::DRADeviceTaints];
            evicted(release, &gates, RULE)
        },
    },
    Difference {
        name: "allocates_devices",
        last: "1.30",
        before: "bound",
        after: "bound with gpu",
        observe: |release| placed(release, &[FeatureGate::DynamicResourceAllocation], &[]),
    },
    Difference {
        name: "DynamicResourceAllocation",
        last: "1.33",
        before: "bound",
        after: "bound with gpu",
        observe: |release| placed(release, &[], &[]),
    },
    Difference {
        name: "DRADeviceTaints",
        last: "1.35",
        before: "bound",
        after: "waits",
        observe: |release| {
            let placed = placed(release, &[FeatureGate::DynamicResourceAllocation], &[SLICE]);
            placed.replace("bound with gpu", "bound")
        },
    },
    Difference {
        name: "DRADeviceTaintRules",
        last: "1.34",
        before: "waits",
        after: "bound with gpu",
        observe: |release| {
            if FeatureGate::DRADeviceTaints.stage(release) == GateStage::Absent {
                return "waits".to_owned();
            }
            let gates = [FeatureGate::DynamicResourceAllocation, FeatureGate::DRADeviceTaints];
            placed(release, &gates, &[RULE])
        },
    },
    Difference {
        name: "DRADeviceTaintRules",
        last: "1.36",
        before: "stays",
        after: "evicted",
        observe: |release| {
            let gates = [FeatureGate::DynamicResourceAllocation, FeatureGate::DRADeviceTaints];
            evicted(release, &gates, RULE)
        },
    },
    Difference {
        name: "serves_devices",
        last: "1.33",
        before: "",
        after: "resource.k8s.io/v1",
        observe: |release| api_version(release, "resourceslices"),
    },
    Difference {
        name: "serves_device_taint_rules",
        last: "1.35",
        before: "false",
        after: "true",
        observe: |release| (!api_version(release, "devicetaintrules").is_empty()).to_string(),
    },
    Difference {
        name: "has_device_taint_rules_in_v1",
        last: "1.36",
        before: "false",
        after: "true",
        observe: |release| {
            let version = api_version(release, "devicetaintrules");
            assert!(["", "resource.k8s.io/v1beta2", "resource.k8s.io/v1"].contains(&&*version));
            (version == "resource.k8s.io/v1").to_string()
        },
    },
];

/// The version of a type of objects that `kubectl api-resources` shows.
fn api_version(release: KubernetesRelease, plural: &str) -> String {
    let table = kubectl(release, "api-resources").stdout;
    let line = table.lines().find(|line| line.starts_with(plural)).unwrap_or_default();
    line.split_whitespace().nth(1).unwrap_or_default().to_owned()
}

/// Whether a gate can be set so.
fn switches(release: KubernetesRelease, gate: FeatureGate, on: bool) -> String {
    let mut config = SimulatorConfig::with_control_plane(release);
    config.feature_gates.insert(gate.name().to_owned(), on);
    let simulator = Simulator::new(config, [], []);
    simulator.map_or("refused", |_| "taken").to_owned()
}

const SLICE: &str = r#"{
    "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": { "name": "s" },
    "spec": {
        "driver": "d", "pool": { "name": "n", "generation": 1 }, "nodeName": "n",
        "devices": [{ "name": "gpu", "taints": [{ "key": "broken", "effect": "NoExecute" }] }]
    }
}"#;
const RULE: &str = r#"{
    "apiVersion": "resource.k8s.io/v1beta2", "kind": "DeviceTaintRule", "metadata": { "name": "r" },
    "spec": { "deviceSelector": { "driver": "d" }, "taint": { "key": "broken", "effect": "NoExecute" } }
}"#;

/// Whether a pod is deleted whose device has the taint of the object, with the gates that the
/// release has.
fn evicted(release: KubernetesRelease, gates: &[FeatureGate], object: &str) -> String {
    let config = config(release, gates);
    let node: Node = read(json!({ "metadata": { "name": "n" } }));
    let pod: Pod = read(json!({
        "metadata": { "name": "p", "uid": "pod" }, "status": { "phase": "Running" },
        "spec": { "nodeName": "n", "resourceClaims": [{ "name": "g", "resourceClaimName": "c" }] },
    }));
    let claim: DeviceObject = read(json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": { "name": "c" },
        "status": {
            "allocation": {
                "devices": { "results": [{ "driver": "d", "pool": "n", "device": "gpu" }] },
            },
            "reservedFor": [{ "resource": "pods", "name": "p", "uid": "pod" }],
        },
    }));
    let devices = vec![claim, serde_json::from_str(object).unwrap()];
    let begin = InitialState { devices, ..InitialState::default() };
    let mut simulator = Simulator::beginning_with(config, [node], [pod], begin).unwrap();
    simulator.advance_to(Timestamp::from_secs(60)).unwrap();
    let marked = simulator.drain_events().iter().any(|event| {
        matches!(&event.what, EventKind::EventRecorded(it) if it.message == "Marking for deletion")
    });
    if marked { "evicted" } else { "stays" }.to_owned()
}

fn config(release: KubernetesRelease, gates: &[FeatureGate]) -> SimulatorConfig {
    let mut config = SimulatorConfig::with_control_plane(release);
    for gate in gates.iter().filter(|gate| gate.stage(release) != GateStage::Absent) {
        config.feature_gates.insert(gate.name().to_owned(), true);
    }
    config
}

/// Whether a pod that claims the only device is bound, and with which device, where these objects
/// are there besides.
fn placed(release: KubernetesRelease, gates: &[FeatureGate], objects: &[&str]) -> String {
    let node: Node = read(json!({ "metadata": { "name": "n" } }));
    let pod: Pod = read(json!({
        "metadata": { "name": "p" },
        "spec": { "resourceClaims": [{ "name": "g", "resourceClaimName": "c" }] },
    }));
    let object = |kind: &str, name: &str, spec: Value| {
        read(json!({
            "apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": { "name": name },
            "spec": spec,
        }))
    };
    let slice = json!({
        "driver": "d", "pool": { "name": "n" }, "nodeName": "n", "devices": [{ "name": "gpu" }],
    });
    let requests = json!([{ "name": "r", "exactly": { "deviceClassName": "d" } }]);
    let mut devices = vec![
        object("DeviceClass", "d", json!({})),
        object("ResourceSlice", "s", slice),
        object("ResourceClaim", "c", json!({ "devices": { "requests": requests } })),
    ];
    devices.extend(objects.iter().map(|object| serde_json::from_str(object).unwrap()));
    let begin = InitialState { devices, ..InitialState::default() };
    let config = config(release, gates);
    let mut simulator = Simulator::beginning_with(config, [node], [pod], begin).unwrap();
    simulator.advance_to(Timestamp::from_secs(5)).unwrap();
    let pod = simulator.cluster().get_pod(&PodKey::new("", "p")).unwrap();
    if pod.spec.node_name.is_empty() {
        return "waits".to_owned();
    }
    let claim = simulator.cluster().devices().unwrap().claims().next().unwrap();
    let device = claim.allocation.as_ref().map(|devices| format!(" with {}", devices[0].device));
    format!("bound{}", device.unwrap_or_default())
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}
