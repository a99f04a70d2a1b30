//! The rows of `kubectl get`. Mirrors `pkg/printers/internalversion`, which the API server uses.

use std::collections::BTreeMap;

use serde_json::Value;
use taintlab_core::api::{Node, Pod, PodPhase};
use taintlab_core::simulator;
use taintlab_core::time::Time;

use crate::objects::{Object, number, string_map, text};
use crate::resources::{self, Resource};
use crate::selector::format_labels;
use crate::session::Session;
use crate::table::human_duration;

/// The titles of the columns of a type: those that are always there, and those of `-o wide`.
pub(crate) fn titles(
    session: &Session<'_>,
    resource: &Resource,
) -> (Vec<&'static str>, Vec<&'static str>) {
    let images = vec!["CONTAINERS", "IMAGES", "SELECTOR"];
    if *resource == resources::NODES {
        let wide =
            ["INTERNAL-IP", "EXTERNAL-IP", "OS-IMAGE", "KERNEL-VERSION", "CONTAINER-RUNTIME"];
        (vec!["NAME", "STATUS", "ROLES", "AGE", "VERSION"], wide.into())
    } else if *resource == resources::PODS {
        let wide = vec!["IP", "NODE", "NOMINATED NODE", "READINESS GATES"];
        (vec!["NAME", "READY", "STATUS", "RESTARTS", "AGE"], wide)
    } else if *resource == resources::EVENTS {
        let titles = vec!["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"];
        (titles, vec!["SUBOBJECT", "SOURCE", "FIRST SEEN", "COUNT", "NAME"])
    } else if *resource == resources::DEPLOYMENTS {
        (vec!["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"], images)
    } else if *resource == resources::REPLICA_SETS {
        (vec!["NAME", "DESIRED", "CURRENT", "READY", "AGE"], images)
    } else if *resource == resources::STATEFUL_SETS {
        (vec!["NAME", "READY", "AGE"], vec!["CONTAINERS", "IMAGES"])
    } else if *resource == resources::DAEMON_SETS {
        let titles = [
            "NAME",
            "DESIRED",
            "CURRENT",
            "READY",
            "UP-TO-DATE",
            "AVAILABLE",
            "NODE SELECTOR",
            "AGE",
        ];
        (titles.into(), images)
    } else if *resource == resources::JOBS {
        let titles = if session.release().jobs_have_status_column() {
            vec!["NAME", "STATUS", "COMPLETIONS", "DURATION", "AGE"]
        } else {
            vec!["NAME", "COMPLETIONS", "DURATION", "AGE"]
        };
        (titles, images)
    } else if *resource == resources::BUDGETS {
        let titles = ["NAME", "MIN AVAILABLE", "MAX UNAVAILABLE", "ALLOWED DISRUPTIONS", "AGE"];
        (titles.into(), Vec::new())
    } else if *resource == resources::LEASES {
        (vec!["NAME", "HOLDER", "AGE"], Vec::new())
    } else {
        (vec!["NAME", "STATUS", "AGE"], Vec::new())
    }
}

/// The cells of an object, in the order of its columns.
pub(crate) fn cells(session: &Session<'_>, object: &Object, wide: bool) -> Vec<String> {
    match object {
        Object::Node(node) => node_cells(session, node, wide),
        Object::Pod(pod) => pod_cells(session, pod, wide),
        Object::Other(resource, value) => other_cells(session, resource, value, wide),
    }
}

/// How long ago a time was. Mirrors `translateTimestampSince`.
pub(crate) fn age(session: &Session<'_>, time: Option<Time>) -> String {
    match time {
        Some(time) => human_duration(session.now().since(time)),
        None => "<unknown>".to_owned(),
    }
}

/// The time at a JSON pointer.
pub(crate) fn time_at(value: &Value, pointer: &str) -> Option<Time> {
    Time::parse(text(value, pointer)).ok()
}

fn or_none(text: &str, otherwise: &str) -> String {
    if text.is_empty() { otherwise.to_owned() } else { text.to_owned() }
}

/// The phase of a pod. One that is empty in the simulation is what the API server and a kubelet
/// would have made of it.
pub(crate) fn phase(pod: &Pod) -> &str {
    match &pod.status.phase {
        PodPhase::Empty if pod.spec.node_name.is_empty() => "Pending",
        PodPhase::Empty => "Running",
        phase => phase.as_str(),
    }
}

fn node_cells(session: &Session<'_>, node: &Node, wide: bool) -> Vec<String> {
    let mut cells = vec![
        node.metadata.name.clone(),
        node_status(node),
        or_none(&node_roles(node).join(","), "<none>"),
        age(session, node.metadata.creation_timestamp),
    ];
    let status = |pointer: &str| {
        let value = node.status.other.get("nodeInfo").and_then(|info| info.get(pointer));
        value.and_then(Value::as_str).unwrap_or("").to_owned()
    };
    cells.push(node.kubelet_version().unwrap_or("<unknown>").to_owned());
    if wide {
        let address = |type_: &str| {
            let addresses = node.status.other.get("addresses").and_then(Value::as_array);
            let mut addresses = addresses.into_iter().flatten();
            let found = addresses.find(|address| text(address, "/type") == type_);
            or_none(found.map_or("", |address| text(address, "/address")), "<none>")
        };
        cells.extend([address("InternalIP"), address("ExternalIP")]);
        for field in ["osImage", "kernelVersion", "containerRuntimeVersion"] {
            cells.push(or_none(&status(field), "<unknown>"));
        }
    }
    cells
}

/// `Ready`, `NotReady`, `Unknown`, with `SchedulingDisabled`. Mirrors `printNode`.
pub(crate) fn node_status(node: &Node) -> String {
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

/// Mirrors `findNodeRoles`.
pub(crate) fn node_roles(node: &Node) -> Vec<&str> {
    let mut roles: Vec<&str> = Vec::new();
    for (key, value) in &node.metadata.labels {
        if let Some(role) = key.strip_prefix("node-role.kubernetes.io/") {
            roles.extend(Some(role).filter(|role| !role.is_empty()));
        } else if key == "kubernetes.io/role" && !value.is_empty() {
            roles.push(value);
        }
    }
    roles.sort_unstable();
    roles.dedup();
    roles
}

fn list<'v>(pod: &'v Pod, field: &str) -> &'v [Value] {
    pod.status.other.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// How many containers a pod has; one that lists none is simulated as if it had one.
pub(crate) fn container_count(pod: &Pod) -> usize {
    let containers = pod.spec.other.get("containers").and_then(Value::as_array);
    containers.map_or(0, Vec::len).max(1)
}

fn pod_cells(session: &Session<'_>, pod: &Pod, wide: bool) -> Vec<String> {
    let total = container_count(pod);
    let statuses = list(pod, "containerStatuses");
    let is_ready = |status: &&Value| status.get("ready").and_then(Value::as_bool) == Some(true);
    let restarts: i64 = statuses.iter().filter_map(|status| number(status, "/restartCount")).sum();
    let ready = if statuses.is_empty() {
        simulator::pod_status(pod).ready
    } else {
        statuses.iter().filter(is_ready).count()
    };
    let mut cells = vec![
        pod.metadata.name.clone(),
        format!("{ready}/{total}"),
        pod_status(pod),
        restarts.to_string(),
        age(session, pod.metadata.creation_timestamp),
    ];
    if wide {
        let status =
            |field: &str| pod.status.other.get(field).and_then(Value::as_str).unwrap_or("");
        cells.push(or_none(status("podIP"), "<none>"));
        cells.push(or_none(&pod.spec.node_name, "<none>"));
        cells.push(or_none(status("nominatedNodeName"), "<none>"));
        let gates = pod.spec.other.get("readinessGates").and_then(Value::as_array);
        cells.push(match gates.filter(|gates| !gates.is_empty()) {
            None => "<none>".to_owned(),
            Some(gates) => {
                let holds = |gate: &&Value| {
                    let condition = pod.condition(text(gate, "/conditionType"));
                    condition.is_some_and(|condition| condition.status.as_str() == "True")
                };
                format!("{}/{}", gates.iter().filter(holds).count(), gates.len())
            }
        });
    }
    cells
}

/// The column `STATUS`. Mirrors `printPod`.
pub(crate) fn pod_status(pod: &Pod) -> String {
    // What a real kubelet told of its containers is shown as the API server does; otherwise the
    // simulation knows.
    if list(pod, "containerStatuses").is_empty() && list(pod, "initContainerStatuses").is_empty() {
        return simulator::pod_status(pod).status;
    }
    let mut reason = phase(pod).to_owned();
    if !pod.status.reason.is_empty() {
        reason.clone_from(&pod.status.reason);
    }
    let scheduled = pod.condition("PodScheduled");
    if scheduled.is_some_and(|condition| condition.reason == "SchedulingGated") {
        "SchedulingGated".clone_into(&mut reason);
    }
    let state = |status: &Value| {
        let waiting = text(status, "/state/waiting/reason");
        let terminated = text(status, "/state/terminated/reason");
        if !waiting.is_empty() {
            Some(waiting.to_owned())
        } else if !terminated.is_empty() {
            Some(terminated.to_owned())
        } else {
            let code = number(status, "/state/terminated/exitCode")?;
            Some(match number(status, "/state/terminated/signal").filter(|signal| *signal != 0) {
                Some(signal) => format!("Signal:{signal}"),
                None => format!("ExitCode:{code}"),
            })
        }
    };
    let mut initializing = false;
    for (index, status) in list(pod, "initContainerStatuses").iter().enumerate() {
        if number(status, "/state/terminated/exitCode") == Some(0)
            || status.get("started").and_then(Value::as_bool) == Some(true)
        {
            continue;
        }
        let waiting = text(status, "/state/waiting/reason");
        reason = match state(status) {
            Some(state) if waiting != "PodInitializing" => format!("Init:{state}"),
            _ => {
                let all = pod.spec.other.get("initContainers").and_then(Value::as_array);
                format!("Init:{index}/{}", all.map_or(0, Vec::len))
            }
        };
        initializing = true;
        break;
    }
    if !initializing {
        let mut running = false;
        for status in list(pod, "containerStatuses").iter().rev() {
            match state(status) {
                Some(state) => reason = state,
                None => {
                    running |= status.get("ready").and_then(Value::as_bool) == Some(true)
                        && status.pointer("/state/running").is_some();
                }
            }
        }
        if reason == "Completed" && running {
            let ready = pod.condition("Ready").is_some_and(|c| c.status.as_str() == "True");
            (if ready { "Running" } else { "NotReady" }).clone_into(&mut reason);
        }
    }
    if pod.is_terminating() && pod.status.reason == "NodeLost" {
        return "Unknown".to_owned();
    }
    let ended = matches!(pod.status.phase, PodPhase::Succeeded | PodPhase::Failed);
    if pod.is_terminating() && !ended {
        return "Terminating".to_owned();
    }
    reason
}

/// Names and images of the containers of a pod template.
fn containers(value: &Value) -> [String; 2] {
    let list = value.pointer("/spec/template/spec/containers").and_then(Value::as_array);
    ["/name", "/image"].map(|field| {
        let texts: Vec<&str> =
            list.into_iter().flatten().map(|container| text(container, field)).collect();
        texts.join(",")
    })
}

/// A label selector in JSON form. Mirrors `metav1.FormatLabelSelector`.
pub(crate) fn selector(value: &Value) -> String {
    let mut parts: Vec<String> = string_map(value.pointer("/matchLabels"))
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    let expressions = value.pointer("/matchExpressions").and_then(Value::as_array);
    for expression in expressions.into_iter().flatten() {
        let key = text(expression, "/key");
        let values = expression.get("values").and_then(Value::as_array);
        let mut values: Vec<&str> =
            values.into_iter().flatten().filter_map(Value::as_str).collect();
        values.sort_unstable();
        let values = values.join(",");
        parts.push(match text(expression, "/operator") {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        });
    }
    or_none(&parts.join(","), "<none>")
}

fn other_cells(
    session: &Session<'_>,
    resource: &Resource,
    value: &Value,
    wide: bool,
) -> Vec<String> {
    let name = text(value, "/metadata/name").to_owned();
    let age = age(session, time_at(value, "/metadata/creationTimestamp"));
    let count = |pointer: &str| number(value, pointer).unwrap_or(0);
    let status = |field: &str| count(&format!("/status/{field}")).to_string();
    let desired = number(value, "/spec/replicas").unwrap_or(1);
    let mut cells = if *resource == resources::DEPLOYMENTS {
        let ready = format!("{}/{desired}", status("readyReplicas"));
        vec![name, ready, status("updatedReplicas"), status("availableReplicas"), age]
    } else if *resource == resources::REPLICA_SETS {
        vec![name, desired.to_string(), status("replicas"), status("readyReplicas"), age]
    } else if *resource == resources::STATEFUL_SETS {
        vec![name, format!("{}/{desired}", status("readyReplicas")), age]
    } else if *resource == resources::DAEMON_SETS {
        let node_selector = string_map(value.pointer("/spec/template/spec/nodeSelector"));
        vec![
            name,
            status("desiredNumberScheduled"),
            status("currentNumberScheduled"),
            status("numberReady"),
            status("updatedNumberScheduled"),
            status("numberAvailable"),
            format_labels(&node_selector),
            age,
        ]
    } else if *resource == resources::JOBS {
        job_cells(session, value, name, age)
    } else if *resource == resources::BUDGETS {
        let amount = |pointer: &str| match value.pointer(pointer) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => "N/A".to_owned(),
        };
        let (min, max) = (amount("/spec/minAvailable"), amount("/spec/maxUnavailable"));
        vec![name, min, max, status("disruptionsAllowed"), age]
    } else if *resource == resources::LEASES {
        vec![name, text(value, "/spec/holderIdentity").to_owned(), age]
    } else if *resource == resources::EVENTS {
        return event_cells(session, value, wide);
    } else {
        return vec![name, text(value, "/status/phase").to_owned(), age];
    };
    if wide && *resource != resources::BUDGETS && *resource != resources::LEASES {
        cells.extend(containers(value));
        if *resource != resources::STATEFUL_SETS {
            cells.push(value.pointer("/spec/selector").map_or("<none>".to_owned(), selector));
        }
    }
    cells
}

fn job_cells(session: &Session<'_>, value: &Value, name: String, age: String) -> Vec<String> {
    let succeeded = number(value, "/status/succeeded").unwrap_or(0);
    let completions = match number(value, "/spec/completions") {
        Some(completions) => format!("{succeeded}/{completions}"),
        None => match number(value, "/spec/parallelism").filter(|parallelism| *parallelism > 1) {
            Some(parallelism) => format!("{succeeded}/1 of {parallelism}"),
            None => format!("{succeeded}/1"),
        },
    };
    let started = time_at(value, "/status/startTime");
    let ended = time_at(value, "/status/completionTime");
    let duration = started.map_or_else(String::new, |started| {
        human_duration(ended.unwrap_or_else(|| session.now()).since(started))
    });
    let mut cells = vec![name];
    if session.release().jobs_have_status_column() {
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
            } else {
                "Running"
            }
            .to_owned(),
        );
    }
    cells.extend([completions, duration, age]);
    cells
}

/// Mirrors `printEvent`.
fn event_cells(session: &Session<'_>, value: &Value, wide: bool) -> Vec<String> {
    let seen = |pointer: &str| age(session, time_at(value, pointer));
    let (first, mut last) = (seen("/firstTimestamp"), seen("/lastTimestamp"));
    let count = number(value, "/count").unwrap_or(1);
    if count > 1 {
        last = format!("{last} (x{count} over {first})");
    }
    let field = |pointer: &str| text(value, pointer).to_owned();
    let kind = text(value, "/involvedObject/kind").to_lowercase();
    let object = format!("{kind}/{}", text(value, "/involvedObject/name"));
    let message = text(value, "/message").trim().to_owned();
    let mut cells = vec![last, field("/type"), field("/reason"), object];
    if wide {
        cells.extend([String::new(), field("/source/component"), message]);
        cells.extend([first, count.to_string(), field("/metadata/name")]);
    } else {
        cells.push(message);
    }
    cells
}

/// Labels by column, for `-L`.
pub(crate) fn label_cells(labels: &BTreeMap<String, String>, columns: &[&str]) -> Vec<String> {
    columns.iter().map(|column| labels.get(*column).cloned().unwrap_or_default()).collect()
}
