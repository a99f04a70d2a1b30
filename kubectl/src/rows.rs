//! The rows of `kubectl get`. Mirrors `pkg/printers/internalversion`, which the API server uses.

use serde_json::Value;
use taintlab_core::api::{Node, Pod};
use taintlab_core::kubelet::pod_columns::PodColumns;
use taintlab_core::order::OrderedSet;

use crate::fields::{amount, items, number, string_map, text, time_at};
use crate::objects::Object;
use crate::path::plain_text;
use crate::resources::{self, Resource};
use crate::selector::{format_labels, format_selector};
use crate::storage::{self, access_modes};
use crate::table::human_duration;
use crate::view::View;

/// The columns of a type, each with whether only `-o wide` shows it.
pub(crate) fn columns(view: View, resource: &Resource) -> Vec<(&'static str, bool)> {
    let split = |always: &[&'static str], wide: &[&'static str]| {
        let always = always.iter().map(|name| (*name, false));
        always.chain(wide.iter().map(|name| (*name, true))).collect()
    };
    let images = &["Containers", "Images", "Selector"];
    if *resource == resources::NODES {
        let wide =
            ["Internal-IP", "External-IP", "OS-Image", "Kernel-Version", "Container-Runtime"];
        split(&["Name", "Status", "Roles", "Age", "Version"], &wide)
    } else if *resource == resources::PODS {
        let wide = ["IP", "Node", "Nominated Node", "Readiness Gates"];
        split(&["Name", "Ready", "Status", "Restarts", "Age"], &wide)
    } else if *resource == resources::EVENTS {
        vec![
            ("Last Seen", false),
            ("Type", false),
            ("Reason", false),
            ("Object", false),
            ("Subobject", true),
            ("Source", true),
            ("Message", false),
            ("First Seen", true),
            ("Count", true),
            ("Name", true),
        ]
    } else if *resource == resources::DEPLOYMENTS {
        split(&["Name", "Ready", "Up-to-date", "Available", "Age"], images)
    } else if *resource == resources::REPLICA_SETS {
        split(&["Name", "Desired", "Current", "Ready", "Age"], images)
    } else if *resource == resources::STATEFUL_SETS {
        split(&["Name", "Ready", "Age"], &["Containers", "Images"])
    } else if *resource == resources::DAEMON_SETS {
        let always = [
            "Name",
            "Desired",
            "Current",
            "Ready",
            "Up-to-date",
            "Available",
            "Node Selector",
            "Age",
        ];
        split(&always, images)
    } else if *resource == resources::JOBS {
        if view.release.jobs_have_status_column() {
            split(&["Name", "Status", "Completions", "Duration", "Age"], images)
        } else {
            split(&["Name", "Completions", "Duration", "Age"], images)
        }
    } else if *resource == resources::BUDGETS {
        split(&["Name", "Min Available", "Max Unavailable", "Allowed Disruptions", "Age"], &[])
    } else if *resource == resources::VOLUMES {
        let mut columns =
            vec!["Name", "Capacity", "Access Modes", "Reclaim Policy", "Status", "Claim"];
        columns.push("StorageClass");
        columns.extend(view.release.shows_volume_attributes_class().then_some(ATTRIBUTES_CLASS));
        columns.extend(["Reason", "Age"]);
        split(&columns, &["VolumeMode"])
    } else if *resource == resources::CLAIMS {
        let mut columns = vec!["Name", "Status", "Volume", "Capacity", "Access Modes"];
        columns.push("StorageClass");
        columns.extend(view.release.shows_volume_attributes_class().then_some(ATTRIBUTES_CLASS));
        columns.push("Age");
        split(&columns, &["VolumeMode"])
    } else if *resource == resources::STORAGE_CLASSES {
        let columns = [
            "Name",
            "Provisioner",
            "ReclaimPolicy",
            "VolumeBindingMode",
            "AllowVolumeExpansion",
            "Age",
        ];
        split(&columns, &[])
    } else if *resource == resources::ATTACHMENTS {
        split(&["Name", "Attacher", "PV", "Node", "Attached", "Age"], &[])
    } else if *resource == resources::PRIORITY_CLASSES {
        let mut columns = split(&["Name", "Value", "Global-Default", "Age"], &[]);
        let policy = ("PreemptionPolicy", false);
        columns.extend(view.release.shows_preemption_policy().then_some(policy));
        columns
    } else if *resource == resources::SERVICES {
        let always = ["Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age"];
        split(&always, &["Selector"])
    } else if *resource == resources::ENDPOINT_SLICES {
        split(&["Name", "AddressType", "Ports", "Endpoints", "Age"], &[])
    } else if *resource == resources::RESOURCE_SLICES {
        split(&["Name", "Node", "Driver", "Pool", "Age"], &[])
    } else if *resource == resources::RESOURCE_CLAIMS {
        split(&["Name", "State", "Age"], &[])
    } else if resources::is_of_devices(resource) {
        split(&["Name", "Age"], &[])
    } else if *resource == resources::LEASES {
        split(&["Name", "Holder", "Age"], &[])
    } else {
        split(&["Name", "Status", "Age"], &[])
    }
}

/// The cells of an object, one for each column.
pub(crate) fn cells(view: View, object: &Object) -> Vec<Value> {
    match object {
        Object::Node(node) => node_cells(view, node),
        Object::Pod(pod) => pod_cells(view, pod),
        Object::Other(resource, value) => other_cells(view, resource, value),
    }
}

fn or<'t>(text: &'t str, otherwise: &'t str) -> &'t str {
    if text.is_empty() { otherwise } else { text }
}

fn node_cells(view: View, node: &Node) -> Vec<Value> {
    let info = |field: &str| {
        let value = node.status.other.get("nodeInfo").and_then(|info| info.get(field));
        value.and_then(Value::as_str).unwrap_or("").to_owned()
    };
    let address = |type_: &str| {
        let addresses = node.status.other.get("addresses").and_then(Value::as_array);
        let mut addresses = addresses.into_iter().flatten();
        let found = addresses.find(|address| text(address, "/type") == type_);
        Value::from(or(found.map_or("", |address| text(address, "/address")), "<none>"))
    };
    let mut cells: Vec<Value> = vec![
        node.metadata.name.clone().into(),
        node_status(node).into(),
        node_roles(node).into(),
        view.age(node.metadata.creation_timestamp).into(),
        info("kubeletVersion").into(),
    ];
    cells.extend([address("InternalIP"), address("ExternalIP")]);
    let mut kernel = info("kernelVersion");
    let architecture = info("architecture");
    if !kernel.is_empty() && !architecture.is_empty() && view.release.shows_architecture_of_kernel()
    {
        kernel = format!("{kernel} ({architecture})");
    }
    for cell in [info("osImage"), kernel, info("containerRuntimeVersion")] {
        cells.push(or(&cell, "<unknown>").into());
    }
    cells
}

/// Status of a node: `Ready`, `NotReady` or `Unknown`, with `SchedulingDisabled`. Mirrors
/// `printNode`.
fn node_status(node: &Node) -> String {
    let mut status = match node.condition("Ready") {
        Some(condition) if condition.status.as_str() == "True" => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    }
    .to_owned();
    if node.spec.unschedulable {
        status.push_str(",SchedulingDisabled");
    }
    status
}

/// Roles of a node, from its labels, or `<none>`. Mirrors `findNodeRoles`.
pub(crate) fn node_roles(node: &Node) -> String {
    let roles: OrderedSet<&str> = node
        .metadata
        .labels
        .iter()
        .filter_map(|(key, value)| match key.strip_prefix("node-role.kubernetes.io/") {
            Some(role) => Some(role),
            None => (key == "kubernetes.io/role").then_some(value.as_str()),
        })
        .filter(|role| !role.is_empty())
        .collect();
    or(&roles.into_iter().collect::<Vec<_>>().join(","), "<none>").to_owned()
}

fn spec_list<'p>(pod: &'p Pod, field: &str) -> &'p [Value] {
    pod.spec.other.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Cells of a pod. Mirrors `printPod`.
fn pod_cells(view: View, pod: &Pod) -> Vec<Value> {
    let columns = PodColumns::of(view.release, pod);
    let status = |name: &str| pod.status.other.get(name).and_then(Value::as_str).unwrap_or("");
    let mut restarts = match view.release.shows_time_of_last_restart() {
        true => columns.restarts.to_string().into(),
        false => Value::from(columns.restarts),
    };
    if let Some(last) = columns
        .last_restart
        .filter(|_| columns.restarts > 0 && view.release.shows_time_of_last_restart())
    {
        restarts = format!("{} ({} ago)", columns.restarts, view.age(Some(last))).into();
    }
    let ips = pod.status.other.get("podIPs").and_then(|ips| ips.get(0));
    let ip = ips.map_or_else(|| status("podIP"), |ip| text(ip, "/ip"));
    let gates = spec_list(pod, "readinessGates");
    let holds = |gate: &&Value| {
        let condition = pod.condition(text(gate, "/conditionType"));
        condition.is_some_and(|condition| condition.status.as_str() == "True")
    };
    vec![
        pod.metadata.name.clone().into(),
        format!("{}/{}", columns.ready, columns.containers).into(),
        columns.status.into(),
        restarts,
        view.age(pod.metadata.creation_timestamp).into(),
        or(ip, "<none>").into(),
        or(&pod.spec.node_name, "<none>").into(),
        or(status("nominatedNodeName"), "<none>").into(),
        if gates.is_empty() {
            "<none>".into()
        } else {
            format!("{}/{}", gates.iter().filter(holds).count(), gates.len()).into()
        },
    ]
}

/// Names and images of the containers in a pod template.
fn containers(value: &Value) -> [Value; 2] {
    let list = value.pointer("/spec/template/spec/containers").and_then(Value::as_array);
    ["/name", "/image"].map(|field| {
        let texts: Vec<&str> =
            list.into_iter().flatten().map(|container| text(container, field)).collect();
        texts.join(",").into()
    })
}

fn other_cells(view: View, resource: &Resource, value: &Value) -> Vec<Value> {
    let name = Value::from(text(value, "/metadata/name"));
    let age = Value::from(view.age(time_at(value, "/metadata/creationTimestamp")));
    let status = |field: &str| number(value, &format!("/status/{field}")).unwrap_or(0);
    let cell = |field: &str| Value::from(status(field));
    let desired = number(value, "/spec/replicas").unwrap_or(1);
    let ready = || Value::from(format!("{}/{desired}", status("readyReplicas")));
    let mut cells = if *resource == resources::DEPLOYMENTS {
        vec![name, ready(), cell("updatedReplicas"), cell("availableReplicas"), age]
    } else if *resource == resources::REPLICA_SETS {
        vec![name, desired.into(), cell("replicas"), cell("readyReplicas"), age]
    } else if *resource == resources::STATEFUL_SETS {
        vec![name, ready(), age]
    } else if *resource == resources::DAEMON_SETS {
        let node_selector = string_map(value.pointer("/spec/template/spec/nodeSelector"));
        vec![
            name,
            cell("desiredNumberScheduled"),
            cell("currentNumberScheduled"),
            cell("numberReady"),
            cell("updatedNumberScheduled"),
            cell("numberAvailable"),
            format_labels(&node_selector).into(),
            age,
        ]
    } else if *resource == resources::JOBS {
        job_cells(view, value, name, age)
    } else if *resource == resources::BUDGETS {
        let amount = |pointer: &str| match value.pointer(pointer) {
            Some(Value::String(text)) => Value::from(text.as_str()),
            Some(Value::Number(number)) => number.to_string().into(),
            _ => "N/A".into(),
        };
        let (min, max) = (amount("/spec/minAvailable"), amount("/spec/maxUnavailable"));
        return vec![name, min, max, cell("disruptionsAllowed"), age];
    } else if resources::is_storage(resource) {
        return storage_cells(view, resource, value, name, age);
    } else if *resource == resources::PRIORITY_CLASSES {
        let default = value.get("globalDefault").and_then(Value::as_bool).unwrap_or(false);
        let mut cells =
            vec![name, number(value, "/value").unwrap_or(0).into(), default.into(), age];
        let policy = text(value, "/preemptionPolicy").into();
        cells.extend(view.release.shows_preemption_policy().then_some(policy));
        return cells;
    } else if *resource == resources::SERVICES {
        let ports = value.pointer("/spec/ports").and_then(Value::as_array);
        let port = |port: &Value| {
            format!("{}/{}", number(port, "/port").unwrap_or(0), or(text(port, "/protocol"), "TCP"))
        };
        let ports: Vec<String> = ports.into_iter().flatten().map(port).collect();
        return vec![
            name,
            or(text(value, "/spec/type"), "ClusterIP").into(),
            or(text(value, "/spec/clusterIP"), "<none>").into(),
            "<none>".into(),
            or(&ports.join(","), "<none>").into(),
            age,
            format_labels(&string_map(value.pointer("/spec/selector"))).into(),
        ];
    } else if *resource == resources::ENDPOINT_SLICES {
        let ports = with_more(value, "ports", "port");
        let addresses = with_more(value, "endpoints", "addresses");
        return vec![name, text(value, "/addressType").into(), ports, addresses, age];
    } else if *resource == resources::LEASES {
        return vec![name, text(value, "/spec/holderIdentity").into(), age];
    } else if *resource == resources::RESOURCE_SLICES {
        let cell = |pointer: &str| Value::from(text(value, pointer));
        let node = or(text(value, "/spec/nodeName"), "<unset>").into();
        return vec![name, node, cell("/spec/driver"), cell("/spec/pool/name"), age];
    } else if *resource == resources::RESOURCE_CLAIMS {
        return vec![name, claim_state(value).into(), age];
    } else if resources::is_of_devices(resource) {
        return vec![name, age];
    } else if *resource == resources::EVENTS {
        return event_cells(view, value);
    } else {
        return vec![name, text(value, "/status/phase").into(), age];
    };
    cells.extend(containers(value));
    if *resource != resources::STATEFUL_SETS {
        cells.push(format_selector(value.pointer("/spec/selector")).into());
    }
    cells
}

/// The first three values of a field in a list, and the number of the others. Mirrors
/// `listWithMoreString`.
fn with_more(slice: &Value, list: &str, field: &str) -> Value {
    let (mut first, mut count) = (String::new(), 0);
    for item in items(slice, list) {
        let one = item.get(field).map_or(&[][..], std::slice::from_ref);
        for value in one.first().and_then(Value::as_array).map_or(one, Vec::as_slice) {
            count += 1;
            if count <= 3 {
                let comma = if count > 1 { "," } else { "" };
                first = first + comma + &plain_text(value);
            }
        }
    }
    match count {
        0 => "<unset>".into(),
        1..=3 => first.into(),
        _ => format!("{first} + {} more...", count - 3).into(),
    }
}

/// Mirrors `resourceClaimState` of the printers.
fn claim_state(claim: &Value) -> String {
    let reserved = claim.pointer("/status/reservedFor").and_then(Value::as_array);
    let states = [
        (!text(claim, "/metadata/deletionTimestamp").is_empty()).then_some("deleted"),
        claim.pointer("/status/allocation").map(|_| "allocated"),
        reserved.filter(|list| !list.is_empty()).map(|_| "reserved"),
    ];
    let states: Vec<&str> = states.into_iter().flatten().collect();
    if states.is_empty() { "pending".into() } else { states.join(",") }
}

/// The title of a column of volumes and claims.
const ATTRIBUTES_CLASS: &str = "VolumeAttributesClass";

/// Cells of a storage object. Mirrors `printPersistentVolume`, `printPersistentVolumeClaim`,
/// `printStorageClass` and `printVolumeAttachment`.
fn storage_cells(
    view: View,
    resource: &Resource,
    value: &Value,
    name: Value,
    age: Value,
) -> Vec<Value> {
    let cell = |pointer: &str| Value::from(text(value, pointer));
    let or_unset = |pointer: &str| Value::from(or(text(value, pointer), "<unset>"));
    let quantity =
        |pointer: &str| Value::from(value.pointer(pointer).map_or(String::new(), amount));
    let modes = |pointer: &str| Value::from(access_modes(value.pointer(pointer)));
    let phase = match text(value, "/metadata/deletionTimestamp") {
        "" => cell("/status/phase"),
        _ => "Terminating".into(),
    };
    let class = Value::from(storage::class(value));
    let attributes = view.release.shows_volume_attributes_class();
    let attributes = attributes.then(|| or_unset("/spec/volumeAttributesClassName"));
    if *resource == resources::VOLUMES {
        let claim = value.pointer("/spec/claimRef");
        let claim =
            claim.map(|claim| format!("{}/{}", text(claim, "/namespace"), text(claim, "/name")));
        let mut cells = vec![
            name,
            quantity("/spec/capacity/storage"),
            modes("/spec/accessModes"),
            cell("/spec/persistentVolumeReclaimPolicy"),
            phase,
            claim.unwrap_or_default().into(),
            class,
        ];
        cells.extend(attributes);
        cells.extend([cell("/status/reason"), age, or_unset("/spec/volumeMode")]);
        return cells;
    }
    if *resource == resources::CLAIMS {
        let bound = !text(value, "/spec/volumeName").is_empty();
        let (capacity, modes) = match bound {
            true => (quantity("/status/capacity/storage"), modes("/status/accessModes")),
            false => ("".into(), "".into()),
        };
        let mut cells = vec![name, phase, cell("/spec/volumeName"), capacity, modes, class];
        cells.extend(attributes);
        cells.extend([age, or_unset("/spec/volumeMode")]);
        return cells;
    }
    if *resource == resources::STORAGE_CLASSES {
        let default = if storage::is_default(value) { " (default)" } else { "" };
        let expansion = value.get("allowVolumeExpansion") == Some(&Value::Bool(true));
        return vec![
            format!("{}{default}", text(value, "/metadata/name")).into(),
            cell("/provisioner"),
            cell("/reclaimPolicy"),
            cell("/volumeBindingMode"),
            expansion.to_string().into(),
            age,
        ];
    }
    let attached = value.pointer("/status/attached") == Some(&Value::Bool(true));
    let (attacher, volume) = (cell("/spec/attacher"), cell("/spec/source/persistentVolumeName"));
    vec![name, attacher, volume, cell("/spec/nodeName"), attached.to_string().into(), age]
}

fn job_cells(view: View, value: &Value, name: Value, age: Value) -> Vec<Value> {
    let succeeded = number(value, "/status/succeeded").unwrap_or(0);
    let parallelism = number(value, "/spec/parallelism");
    // If neither is given, the API server sets both to 1.
    let completions =
        number(value, "/spec/completions").or_else(|| parallelism.is_none().then_some(1));
    let completions = match (completions, parallelism) {
        (Some(completions), _) => format!("{succeeded}/{completions}"),
        (None, Some(parallelism)) if parallelism > 1 => format!("{succeeded}/1 of {parallelism}"),
        (None, _) => format!("{succeeded}/1"),
    };
    let started = time_at(value, "/status/startTime");
    let duration = match (started, time_at(value, "/status/completionTime")) {
        (None, _) => String::new(),
        (Some(started), None) => view.age(Some(started)),
        (Some(started), Some(completed)) => human_duration(completed.since(started)),
    };
    let mut cells = vec![name];
    if view.release.jobs_have_status_column() {
        let conditions = value.pointer("/status/conditions").and_then(Value::as_array);
        let holds = |type_: &str| {
            let mut conditions = conditions.into_iter().flatten();
            conditions.any(|c| text(c, "/type") == type_ && text(c, "/status") == "True")
        };
        cells.push(
            if holds("Complete") {
                "Complete"
            } else if holds("Failed") {
                "Failed"
            } else if !text(value, "/metadata/deletionTimestamp").is_empty() {
                "Terminating"
            } else if holds("Suspended") {
                "Suspended"
            } else if holds("FailureTarget") {
                "FailureTarget"
            } else if holds("SuccessCriteriaMet") {
                "SuccessCriteriaMet"
            } else {
                "Running"
            }
            .into(),
        );
    }
    cells.extend([completions.into(), duration.into(), age]);
    cells
}

/// Cells of an event. Mirrors `printEvent`.
fn event_cells(view: View, value: &Value) -> Vec<Value> {
    let time = |pointer: &str| time_at(value, pointer);
    let first = view.age(time("/firstTimestamp").or_else(|| time("/eventTime")));
    let mut last = match time("/lastTimestamp") {
        Some(last) => view.age(Some(last)),
        None => first.clone(),
    };
    // In the newer API, events without a series have no count.
    let mut count = number(value, "/count").filter(|count| *count != 0).unwrap_or(1);
    if let Some(series) = value.get("series").filter(|series| series.is_object()) {
        last = view.age(time_at(series, "/lastObservedTime"));
        count = number(series, "/count").unwrap_or(0);
    }
    let field = |pointer: &str| text(value, pointer);
    let kind = field("/involvedObject/kind").to_ascii_lowercase();
    let object = match field("/involvedObject/name") {
        "" => kind,
        name => format!("{kind}/{name}"),
    };
    let component = or(field("/source/component"), field("/reportingComponent"));
    let source = match or(field("/source/host"), field("/reportingInstance")) {
        "" => component.to_owned(),
        host => format!("{component}, {host}"),
    };
    vec![
        last.into(),
        field("/type").into(),
        field("/reason").into(),
        object.into(),
        field("/involvedObject/fieldPath").into(),
        source.into(),
        field("/message").trim().into(),
        first.into(),
        count.into(),
        field("/metadata/name").into(),
    ]
}
