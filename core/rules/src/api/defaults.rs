//! What the API server fills in of pods that say nothing of it.

use alloc::string::{String, ToString};

use serde_json::{Map, Value, json};

use super::{Fields, PersistentVolume, PersistentVolumeClaim, Pod, PodSpecFields, StorageClass};
use crate::release::KubernetesRelease;

/// Fills in what the API server fills in when it stores a pod, and its admission: policies, grace
/// period, probes, modes of volumes. What a pod says stays. Mirrors `SetObjectDefaults_Pod` and
/// `Priority.admitPod`.
pub fn default_pod(pod: &mut Pod, release: KubernetesRelease) {
    let spec = &mut pod.spec;
    spec.termination_grace_period_seconds.get_or_insert(30);
    let fields = [
        ("dnsPolicy", "ClusterFirst".into()),
        ("enableServiceLinks", true.into()),
        ("restartPolicy", "Always".into()),
        ("schedulerName", "default-scheduler".into()),
        ("securityContext", json!({})),
    ];
    for (name, value) in fields {
        set_missing(&mut spec.other, name, value);
    }
    if release.has_preemption_policy() {
        set_missing(&mut spec.other, "preemptionPolicy", "PreemptLowerPriority".into());
    }
    default_host_ports(&mut spec.other);
    change_items(&mut spec.other, "initContainers", default_container);
    change_items(&mut spec.other, "containers", default_container);
    change_items(&mut spec.other, "volumes", default_volume);
}

/// With the network of the node, each port of a container is one of the node. Mirrors
/// `SetHardNetworkDefaults`.
pub fn default_host_ports(spec: &mut PodSpecFields) {
    if spec.get("hostNetwork") != Some(&Value::Bool(true)) {
        return;
    }
    for containers in ["initContainers", "containers"] {
        change_items(spec, containers, |container| {
            let Some(Value::Array(ports)) = container.get_mut("ports") else { return };
            for port in ports.iter_mut().filter_map(Value::as_object_mut) {
                if let Some(number) = port.get("containerPort").cloned() {
                    default_field(port, "hostPort", number);
                }
            }
        });
    }
}

fn set_missing(fields: &mut Fields, name: &str, value: Value) {
    if fields.get(name).is_none() {
        fields.set(name, value);
    }
}

fn change_items(fields: &mut PodSpecFields, name: &str, change: impl Fn(&mut Map<String, Value>)) {
    let Some(Value::Array(items)) = fields.get(name) else { return };
    let mut items = items.clone();
    items.iter_mut().filter_map(Value::as_object_mut).for_each(change);
    fields.set(name, Value::Array(items));
}

fn default_field(object: &mut Map<String, Value>, name: &str, value: impl Into<Value>) {
    object.entry(name).or_insert_with(|| value.into());
}

/// Mirrors `SetDefaults_Container` and what is generated for the parts of containers.
fn default_container(container: &mut Map<String, Value>) {
    let image = container.get("image").and_then(Value::as_str).unwrap_or_default();
    let always = !image.contains('@') && matches!(tag_of(image), None | Some("latest"));
    let policy = if always { "Always" } else { "IfNotPresent" };
    default_field(container, "imagePullPolicy", policy);
    default_field(container, "terminationMessagePath", "/dev/termination-log");
    default_field(container, "terminationMessagePolicy", "File");
    default_field(container, "resources", json!({}));
    if let Some(Value::Object(resources)) = container.get_mut("resources") {
        let limits = resources.get("limits").and_then(Value::as_object).cloned();
        if let Some(limits) = limits
            && let Value::Object(requests) =
                resources.entry("requests").or_insert_with(|| json!({}))
        {
            for (name, limit) in limits {
                requests.entry(name).or_insert(limit);
            }
        }
    }
    if let Some(Value::Array(ports)) = container.get_mut("ports") {
        for port in ports.iter_mut().filter_map(Value::as_object_mut) {
            default_field(port, "protocol", "TCP");
        }
    }
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(Value::Object(probe)) = container.get_mut(name) else { continue };
        let numbers = [
            ("failureThreshold", 3),
            ("periodSeconds", 10),
            ("successThreshold", 1),
            ("timeoutSeconds", 1),
        ];
        for (name, number) in numbers {
            default_field(probe, name, number);
        }
        if let Some(Value::Object(get)) = probe.get_mut("httpGet") {
            default_field(get, "path", "/");
            default_field(get, "scheme", "HTTP");
        }
    }
    if let Some(Value::Array(variables)) = container.get_mut("env") {
        for variable in variables {
            if let Some(Value::Object(field)) = variable.pointer_mut("/valueFrom/fieldRef") {
                default_field(field, "apiVersion", "v1");
            }
        }
    }
}

/// The tag of an image: what follows the last colon, unless that is of the registry's port.
/// Mirrors `parsers.ParseImageName`.
fn tag_of(image: &str) -> Option<&str> {
    let name = image.rsplit_once('/').map_or(image, |(_, name)| name);
    name.split_once(':').map(|(_, tag)| tag)
}

/// Mirrors `SetDefaults_Volume` and those of the kinds of volumes.
fn default_volume(volume: &mut Map<String, Value>) {
    if volume.keys().all(|key| key == "name") {
        volume.insert("emptyDir".to_string(), json!({}));
    }
    for kind in ["configMap", "downwardAPI", "projected", "secret"] {
        if let Some(Value::Object(source)) = volume.get_mut(kind) {
            default_field(source, "defaultMode", 0o644);
        }
    }
    if let Some(Value::Object(source)) = volume.get_mut("hostPath") {
        default_field(source, "type", "");
    }
}

/// The same of a PersistentVolume, with the finalizer that protects it while a claim is bound to
/// it. Mirrors `SetDefaults_PersistentVolume` and `storageobjectinuseprotection`.
pub fn default_persistent_volume(volume: &mut PersistentVolume) {
    let policy = volume.reclaim_policy().to_string();
    volume.spec.other.set("persistentVolumeReclaimPolicy", policy.into());
    set_missing(&mut volume.spec.other, "volumeMode", "Filesystem".into());
    let finalizers = json!(["kubernetes.io/pv-protection"]);
    set_missing(&mut volume.metadata.other, "finalizers", finalizers);
    if volume.status.phase.is_empty() {
        volume.status.phase = "Pending".into();
    }
}

/// The same of a claim, with the volume that it is bound to. Mirrors
/// `SetDefaults_PersistentVolumeClaim` and `updateClaimStatus`.
pub fn default_claim(claim: &mut PersistentVolumeClaim, volume: Option<&PersistentVolume>) {
    set_missing(&mut claim.spec.other, "volumeMode", "Filesystem".into());
    let finalizers = json!(["kubernetes.io/pvc-protection"]);
    set_missing(&mut claim.metadata.other, "finalizers", finalizers);
    if claim.status.phase.is_empty() {
        claim.status.phase = "Pending".into();
    }
    let Some(volume) = volume else { return };
    set_missing(&mut claim.status.other, "accessModes", json!(volume.spec.access_modes));
    if let Some(capacity) = volume.spec.other.get("capacity") {
        set_missing(&mut claim.status.other, "capacity", capacity.clone());
    }
}

/// The same of a StorageClass. Mirrors `SetDefaults_StorageClass`.
pub fn default_storage_class(class: &mut StorageClass) {
    set_missing(&mut class.other, "reclaimPolicy", "Delete".into());
    if class.volume_binding_mode.is_empty() {
        class.volume_binding_mode = "Immediate".into();
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn defaulted(text: &str, minor: u8) -> Value {
        let mut pod: Pod = serde_json::from_str(text).unwrap();
        default_pod(&mut pod, KubernetesRelease::new(minor).unwrap());
        serde_json::to_value(pod).unwrap()
    }

    #[test]
    fn what_a_pod_does_not_say_is_filled_in() {
        let text = r#"{"spec":{"volumes":[{"name":"v"},{"name":"s","secret":{}}],"containers":[
            {"name":"c","image":"registry:5000/nginx",
             "resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"500m"}},
             "readinessProbe":{"httpGet":{"port":80},"periodSeconds":2},
             "ports":[{"containerPort":80}]}]}}"#;
        let pod = defaulted(text, 20);
        let container = &pod["spec"]["containers"][0];
        let expected = json!({
            "name": "c", "image": "registry:5000/nginx", "imagePullPolicy": "Always",
            "resources": {
                "limits": { "cpu": "1", "memory": "1Gi" },
                "requests": { "cpu": "500m", "memory": "1Gi" },
            },
            "readinessProbe": {
                "httpGet": { "port": 80, "path": "/", "scheme": "HTTP" }, "periodSeconds": 2,
                "failureThreshold": 3, "successThreshold": 1, "timeoutSeconds": 1,
            },
            "ports": [{ "containerPort": 80, "protocol": "TCP" }],
            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
        });
        assert_eq!(*container, expected);
        let volumes = json!([
            { "name": "v", "emptyDir": {} }, { "name": "s", "secret": { "defaultMode": 420 } },
        ]);
        assert_eq!(pod["spec"]["volumes"], volumes);
        assert_eq!(pod["spec"]["preemptionPolicy"], "PreemptLowerPriority");
        assert_eq!(defaulted(text, 18)["spec"].get("preemptionPolicy"), None);
        assert_eq!(pod["spec"]["terminationGracePeriodSeconds"], 30);
    }

    #[test]
    fn what_a_pod_says_stays() {
        let text = r#"{"spec":{"restartPolicy":"Never","terminationGracePeriodSeconds":0,
            "hostNetwork":true,"containers":[
                {"name":"a","image":"a:1","ports":[{"containerPort":80}]},
                {"name":"b","image":"b@sha256:0"},{"name":"c","image":"c:latest"}]}}"#;
        let pod = defaulted(text, 20);
        assert_eq!(pod["spec"]["restartPolicy"], "Never");
        assert_eq!(pod["spec"]["terminationGracePeriodSeconds"], 0);
        let policies: Vec<&str> = (0..3)
            .map(|at| pod["spec"]["containers"][at]["imagePullPolicy"].as_str().unwrap())
            .collect();
        assert_eq!(policies, ["IfNotPresent", "IfNotPresent", "Always"]);
        assert_eq!(pod["spec"]["containers"][0]["ports"][0]["hostPort"], 80);
    }
}
