//! The part of a scenario that is in a link: data that a run depends on, the title, the bookmarks.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use taintlab_core::api::{
    CopyOnWrite, MIRROR_ANNOTATION, Node, OwnerReference, Pod, PodPhase, PodSpec, PodTemplate,
    Workload, WorkloadKey, WorkloadKind,
};
use taintlab_core::command::Command;
use taintlab_core::order::OrderedSet;
use taintlab_core::scenario::{Scenario, ScenarioMetadata};
use taintlab_manifest::{Extent, redact_scenario};

/// The prefix of UIDs of pods in links: only their order counts, for ties.
pub(super) const RANKED: &str = "10000000-0000-4000-8000-";

/// The number of such a UID.
pub(super) fn rank_of(uid: &str) -> Option<u64> {
    let digits = uid.strip_prefix(RANKED)?;
    let rank = u64::from_str_radix(digits, 16).ok()?;
    (format!("{rank:012x}") == digits).then_some(rank)
}

/// Kinds of other objects that a run depends on.
const USED: [&str; 12] = [
    "PriorityClass",
    "Lease",
    "KubeletConfiguration",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "StorageClass",
    "VolumeAttachment",
    "ResourceSlice",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "DeviceClass",
    "DeviceTaintRule",
];

/// The conditions of nodes that matter in a run.
const CONDITIONS: [&str; 5] =
    ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"];

/// The kinds of volumes that a run depends on.
const VOLUMES: [&str; 5] =
    ["emptyDir", "persistentVolumeClaim", "hostPath", "configMap", "gitRepo"];

/// A scenario with the data that a run needs, its title and its bookmarks. `commands` are carried
/// out in it.
///
/// # Errors
/// A part of it has no JSON form; nothing that was read lacks one.
pub(super) fn slim<'c>(
    start: &'c Scenario,
    commands: impl Iterator<Item = &'c Command>,
) -> Result<Scenario, String> {
    let mut slim = start.clone();
    slim.kubernetes.release = Some(start.kubernetes.release.unwrap_or_default());
    slim.clear_expectations();
    slim.metadata =
        ScenarioMetadata { title: start.metadata.title.clone(), ..ScenarioMetadata::default() };
    redact_scenario(&mut slim, Extent::Shown)?;
    let whole: Vec<CopyOnWrite<PodTemplate>> =
        slim.objects.workloads.iter().map(|workload| workload.spec.template.clone()).collect();
    redact_scenario(&mut slim, Extent::Run)?;
    let objects = &mut slim.objects;
    objects.others.retain(|object| {
        let text = |path: &str| object.pointer(path).and_then(Value::as_str);
        let kind = text("/kind").unwrap_or_default();
        let is_of_node = text("/metadata/namespace") == Some("kube-node-lease");
        USED.contains(&kind) && (kind != "Lease" || is_of_node)
    });
    let mut said = String::new();
    let steps = start.steps.iter().map(|step| &step.command);
    for command in steps.chain(commands) {
        said += &serde_json::to_string(command).map_err(|error| error.to_string())?;
    }
    let settled = settled(&slim, &said);
    let images = Images::of(&slim, &said, settled.iter().all(|settled| *settled));
    let objects = &mut slim.objects;
    let uids = objects.pods.iter().map(|pod| pod.metadata.uid.clone());
    let uids: OrderedSet<String> = uids.filter(|uid| !uid.is_empty()).collect();
    let ranks: BTreeMap<String, String> = uids
        .into_iter()
        .zip(0..)
        .map(|(uid, rank)| (uid, format!("{RANKED}{rank:012x}")))
        .collect();
    for node in &mut objects.nodes {
        let node = Arc::make_mut(node);
        node.metadata.uid.clear();
        clear_owners(&mut node.metadata.owner_references);
        slim_node(node, &images);
    }
    for pod in &mut objects.pods {
        let pod = Arc::make_mut(pod);
        if let Some(rank) = ranks.get(&pod.metadata.uid) {
            pod.metadata.uid.clone_from(rank);
        }
        clear_owners(&mut pod.metadata.owner_references);
        // Only its presence counts.
        if let Some(hash) = pod.metadata.annotations.get_mut(MIRROR_ANNOTATION) {
            hash.clear();
        }
        slim_pod_spec(&mut pod.spec, &images);
        slim_containers(pod);
    }
    for ((workload, whole), settled) in objects.workloads.iter_mut().zip(whole).zip(settled) {
        workload.metadata.uid.clear();
        clear_owners(&mut workload.metadata.owner_references);
        if settled {
            slim_pod_spec(&mut workload.spec.template.spec, &images);
        } else {
            workload.spec.template = whole;
        }
    }
    for budget in &mut objects.budgets {
        budget.metadata.uid.clear();
    }
    for object in &mut objects.others {
        let is_lease = object.get("kind").is_some_and(|kind| kind == "Lease");
        let is_claim = object.get("kind").is_some_and(|kind| kind == "ResourceClaim");
        if is_claim {
            // A claim names pods by UID, its owner among them.
            rank_uids(object, &ranks);
        }
        if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
            metadata.remove("uid");
            if is_lease {
                metadata.remove("creationTimestamp");
            }
            if !is_claim {
                metadata.remove("ownerReferences");
            }
        }
    }
    Ok(slim)
}

/// Gives the UIDs in an object the ranks of those of pods.
fn rank_uids(value: &mut Value, ranks: &BTreeMap<String, String>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| rank_uids(item, ranks)),
        Value::Object(fields) => {
            for (name, field) in fields {
                match (name.as_str(), field.as_str().and_then(|uid| ranks.get(uid))) {
                    ("uid", Some(rank)) => *field = rank.as_str().into(),
                    _ => rank_uids(field, ranks),
                }
            }
        }
        _ => {}
    }
}

/// Whether each workload has already made the objects of its template. Other workloads make them in
/// the run, and name them after a hash of the whole template.
fn settled(scenario: &Scenario, said: &str) -> Vec<bool> {
    let objects = &scenario.objects;
    let pods = objects.pods.iter().filter_map(|pod| pod.metadata.controller_key());
    let sets = objects.workloads.iter().filter_map(|workload| workload.metadata.controller_key());
    let made: OrderedSet<WorkloadKey> = pods.chain(sets).collect();
    let is_changed = said.contains("updateWorkload");
    let is_settled = |workload: &Workload| match workload.kind {
        WorkloadKind::ReplicaSet | WorkloadKind::Job => true,
        WorkloadKind::Deployment | WorkloadKind::StatefulSet | WorkloadKind::DaemonSet => {
            !is_changed && made.contains(&workload.key())
        }
    };
    objects.workloads.iter().map(is_settled).collect()
}

fn clear_owners(owners: &mut [OwnerReference]) {
    for owner in owners {
        owner.uid.clear();
    }
}

fn slim_node(node: &mut Node, images: &Images) {
    node.status.conditions.retain(|condition| CONDITIONS.contains(&condition.type_.as_str()));
    for condition in &mut node.status.conditions {
        condition.message.clear();
        if condition.type_ != "Ready" {
            condition.last_heartbeat_time = None;
        }
    }
    let all = node.status.other.get("images").and_then(Value::as_array);
    let own: Vec<Value> = all
        .into_iter()
        .flatten()
        .filter_map(|image| {
            let names = image.get("names").and_then(Value::as_array)?;
            let name = names.iter().filter_map(Value::as_str).find_map(|name| images.get(name))?;
            Some(json!({ "names": [name], "sizeBytes": image.get("sizeBytes") }))
        })
        .collect();
    let own = if own.is_empty() { Value::Null } else { own.into() };
    node.status.other.set("images", own);
}

fn slim_pod_spec(spec: &mut PodSpec, images: &Images) {
    for list in ["containers", "initContainers"] {
        let Some(Value::Array(mut containers)) = spec.other.get(list).cloned() else { continue };
        for container in containers.iter_mut().filter_map(Value::as_object_mut) {
            if let Some(Value::String(image)) = container.remove("image")
                && let Some(known) = images.get(&image)
            {
                container.insert("image".to_owned(), known.into());
            }
        }
        spec.other.set(list, containers.into());
    }
    if let Some(Value::Array(mut volumes)) = spec.other.get("volumes").cloned() {
        volumes.retain(|volume| VOLUMES.iter().any(|kind| volume.get(kind).is_some()));
        spec.other.set("volumes", if volumes.is_empty() { Value::Null } else { volumes.into() });
    }
}

/// Leaves out the statuses of containers if they only say that all is well.
fn slim_containers(pod: &mut Pod) {
    let is_empty = |value: Option<&Value>| {
        value.is_none_or(|value| value.as_object().is_none_or(Map::is_empty))
    };
    let is_well = |status: &Value| {
        let ended = status.pointer("/state/terminated/exitCode").and_then(Value::as_i64);
        let runs = status.get("ready") == Some(&Value::Bool(true))
            && status.pointer("/state/running").is_some();
        status.get("restartCount").is_none_or(|count| count == 0)
            && is_empty(status.get("lastState"))
            && (runs || ended == Some(0))
    };
    let lists = ["containerStatuses", "initContainerStatuses"];
    let statuses = lists.iter().filter_map(|list| pod.status.other.get(list)?.as_array());
    let is_up = pod.status.phase == PodPhase::Running;
    if is_up && statuses.flatten().all(is_well) {
        for list in lists {
            pod.status.other.set(list, Value::Null);
        }
    }
}

/// The images that are on some node and in some pod: the scheduler prefers nodes that have them.
/// Their names do not matter, unless a command says them or a hash depends on them.
struct Images(BTreeMap<String, String>);

impl Images {
    fn of(scenario: &Scenario, said: &str, by_number: bool) -> Self {
        let images = |node: &Arc<Node>| -> Vec<String> {
            let images = node.status.other.get("images").and_then(Value::as_array);
            let names = |image: &Value| image.get("names").and_then(Value::as_array).cloned();
            let names = images.into_iter().flatten().filter_map(names).flatten();
            names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
        };
        let present: OrderedSet<String> = scenario.objects.nodes.iter().flat_map(images).collect();
        let objects = &scenario.objects;
        let pods = objects.pods.iter().map(|pod| &pod.spec);
        let templates = objects.workloads.iter().map(|workload| &workload.spec.template.spec);
        let mut names = BTreeMap::new();
        for spec in pods.chain(templates) {
            let containers = spec.other.get("containers").and_then(Value::as_array);
            for container in containers.into_iter().flatten() {
                let Some(image) = container.get("image").and_then(Value::as_str) else { continue };
                if present.contains(image) && !names.contains_key(image) {
                    let name = if by_number && !said.contains(image) {
                        format!("image-{}", names.len() + 1)
                    } else {
                        image.to_owned()
                    };
                    names.insert(image.to_owned(), name);
                }
            }
        }
        Self(names)
    }

    fn get(&self, image: &str) -> Option<&str> {
        self.0.get(image).map(String::as_str)
    }
}
