//! `kubectl describe pod`.

use serde_json::Value;
use taintlab_core::api::{Pod, PodPhase, PodResources, Toleration};

use super::{Page, rfc1123, rows};
use crate::objects::{number, string_map, text};
use crate::path::plain_text;
use crate::session::Session;

/// Mirrors `describePod`.
pub(super) fn describe(session: &Session<'_>, pod: &Pod, page: &mut Page) {
    let spec = |name: &str| pod.spec.other.get(name);
    let status = |name: &str| pod.status.other.get(name).and_then(Value::as_str).unwrap_or("");
    page.field("Name", &pod.metadata.name);
    page.field("Namespace", &pod.metadata.namespace);
    page.field("Priority", spec("priority").map_or_else(|| "0".to_owned(), plain_text));
    for (title, name) in [
        ("Priority Class Name", "priorityClassName"),
        ("Runtime Class Name", "runtimeClassName"),
        ("Service Account", "serviceAccountName"),
    ] {
        if let Some(value) = spec(name).and_then(Value::as_str).filter(|value| !value.is_empty()) {
            page.field(title, value);
        }
    }
    if pod.spec.node_name.is_empty() {
        page.field("Node", "<none>");
    } else {
        page.field("Node", format!("{}/{}", pod.spec.node_name, status("hostIP")));
    }
    if let Ok(started) = taintlab_core::time::Time::parse(status("startTime")) {
        page.field("Start Time", rfc1123(Some(started)));
    }
    page.labels("Labels", &pod.metadata.labels);
    page.annotations(&pod.metadata.annotations);
    state(session, pod, page);
    page.field("IP", status("podIP"));
    match pod.status.other.get("podIPs").and_then(Value::as_array).filter(|ips| !ips.is_empty()) {
        None => page.field("IPs", "<none>"),
        Some(ips) => {
            page.line("IPs:");
            for ip in ips {
                page.line(format!("  IP:\t{}", text(ip, "/ip")));
            }
        }
    }
    let owners = &pod.metadata.owner_references;
    if let Some(owner) = owners.iter().find(|owner| owner.controller == Some(true)) {
        page.field("Controlled By", format!("{}/{}", owner.kind, owner.name));
    }
    if !status("nominatedNodeName").is_empty() {
        page.field("NominatedNodeName", status("nominatedNodeName"));
    }
    if spec("initContainers").is_some() {
        containers(pod, "Init Containers", "initContainers", "initContainerStatuses", page);
    }
    containers(pod, "Containers", "containers", "containerStatuses", page);
    if !pod.status.conditions.is_empty() {
        page.line("Conditions:\n  Type\tStatus");
        for condition in &pod.status.conditions {
            page.line(format!("  {} \t{} ", condition.type_, condition.status));
        }
    }
    volumes(pod, page);
    let mut resources = PodResources::of(pod).unwrap_or_default();
    resources.set_defaults();
    page.field("QoS Class", format!("{:?}", resources.qos_class()));
    page.labels("Node-Selectors", &string_map(spec("nodeSelector")));
    let mut tolerations: Vec<&Toleration> = pod.spec.tolerations.iter().collect();
    tolerations.sort_by(|left, right| left.key.cmp(&right.key));
    let tolerations: Vec<String> = tolerations.iter().map(ToString::to_string).collect();
    page.lines("Tolerations", &tolerations);
    spread(pod, page);
}

fn state(session: &Session<'_>, pod: &Pod, page: &mut Page) {
    let ended = matches!(pod.status.phase, PodPhase::Succeeded | PodPhase::Failed);
    match pod.metadata.deletion_timestamp {
        Some(deleted) if !ended => {
            let since = rows::age(session, Some(deleted));
            page.field("Status", format!("Terminating (lasts {since})"));
            let grace = pod.metadata.deletion_grace_period_seconds.unwrap_or(0);
            page.field("Termination Grace Period", format!("{grace}s"));
        }
        _ => page.field("Status", rows::phase(pod)),
    }
    if !pod.status.reason.is_empty() {
        page.field("Reason", &pod.status.reason);
    }
    if !pod.status.message.is_empty() {
        page.field("Message", &pod.status.message);
    }
}

/// Mirrors `describeContainers`, without environment and probes, which mean nothing here.
fn containers(pod: &Pod, title: &str, field: &str, statuses: &str, page: &mut Page) {
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let containers = list(pod.spec.other.get(field));
    let statuses = list(pod.status.other.get(statuses));
    if containers.is_empty() {
        page.field(title, "<none>");
        return;
    }
    page.line(format!("{title}:"));
    for container in &containers {
        let name = text(container, "/name");
        page.line(format!("  {name}:"));
        let status = statuses.iter().find(|status| text(status, "/name") == name);
        if let Some(status) = status {
            page.line(format!("    Container ID:\t{}", text(status, "/containerID")));
        }
        page.line(format!("    Image:\t{}", text(container, "/image")));
        if let Some(status) = status {
            page.line(format!("    Image ID:\t{}", text(status, "/imageID")));
        }
        for (title, field) in [("Command", "command"), ("Args", "args")] {
            let words = list(container.get(field));
            if !words.is_empty() {
                page.line(format!("    {title}:"));
                words.iter().for_each(|word| page.line(format!("      {}", plain_text(word))));
            }
        }
        if let Some(status) = status {
            container_state(status, "State", "state", page);
            if status
                .get("lastState")
                .and_then(Value::as_object)
                .is_some_and(|last| !last.is_empty())
            {
                container_state(status, "Last State", "lastState", page);
            }
            let ready = status.get("ready").and_then(Value::as_bool) == Some(true);
            page.line(format!("    Ready:\t{}", if ready { "True" } else { "False" }));
            let restarts = number(status, "/restartCount").unwrap_or(0);
            page.line(format!("    Restart Count:\t{restarts}"));
        }
        for (title, field) in [("Limits", "limits"), ("Requests", "requests")] {
            let amounts = container.pointer(&format!("/resources/{field}"));
            let amounts = amounts.and_then(Value::as_object).filter(|amounts| !amounts.is_empty());
            if let Some(amounts) = amounts {
                page.line(format!("    {title}:"));
                for (name, amount) in amounts {
                    page.line(format!("      {name}:\t{}", super::amount(amount)));
                }
            }
        }
    }
}

/// Mirrors `describeStatus`.
fn container_state(status: &Value, title: &str, field: &str, page: &mut Page) {
    let at = |pointer: &str| text(status, &format!("/{field}/{pointer}")).to_owned();
    let state = |name: &str| status.pointer(&format!("/{field}/{name}")).is_some();
    let time = |pointer: &str| rfc1123(taintlab_core::time::Time::parse(&at(pointer)).ok());
    if state("running") {
        page.line(format!("    {title}:\tRunning"));
        page.line(format!("      Started:\t{}", time("running/startedAt")));
    } else if state("terminated") {
        page.line(format!("    {title}:\tTerminated"));
        if !at("terminated/reason").is_empty() {
            page.line(format!("      Reason:\t{}", at("terminated/reason")));
        }
        if !at("terminated/message").is_empty() {
            page.line(format!("      Message:\t{}", at("terminated/message")));
        }
        let code = number(status, &format!("/{field}/terminated/exitCode")).unwrap_or(0);
        page.line(format!("      Exit Code:\t{code}"));
        page.line(format!("      Started:\t{}", time("terminated/startedAt")));
        page.line(format!("      Finished:\t{}", time("terminated/finishedAt")));
    } else {
        page.line(format!("    {title}:\tWaiting"));
        if !at("waiting/reason").is_empty() {
            page.line(format!("      Reason:\t{}", at("waiting/reason")));
        }
    }
}

/// The volumes; of those other than emptyDir, hostPath and claims only the kind is told.
fn volumes(pod: &Pod, page: &mut Page) {
    let volumes = pod.spec.other.get("volumes").and_then(Value::as_array);
    let Some(volumes) = volumes.filter(|volumes| !volumes.is_empty()) else {
        return page.field("Volumes", "<none>");
    };
    page.line("Volumes:");
    for volume in volumes {
        page.line(format!("  {}:", text(volume, "/name")));
        if let Some(volume) = volume.get("emptyDir") {
            page.line("    Type:\tEmptyDir (a temporary directory that shares a pod's lifetime)");
            page.line(format!("    Medium:\t{}", text(volume, "/medium")));
            let limit = volume.get("sizeLimit").map(super::amount);
            page.line(format!("    SizeLimit:\t{}", limit.as_deref().unwrap_or("<unset>")));
        } else if let Some(volume) = volume.get("hostPath") {
            page.line("    Type:\tHostPath (bare host directory volume)");
            page.line(format!("    Path:\t{}", text(volume, "/path")));
            page.line(format!("    HostPathType:\t{}", text(volume, "/type")));
        } else if let Some(volume) = volume.get("persistentVolumeClaim") {
            page.line(
                "    Type:\tPersistentVolumeClaim (a reference to a PersistentVolumeClaim in the \
                 same namespace)",
            );
            page.line(format!("    ClaimName:\t{}", text(volume, "/claimName")));
            let read_only = volume.get("readOnly").and_then(Value::as_bool) == Some(true);
            page.line(format!("    ReadOnly:\t{read_only}"));
        } else {
            let mut sources = volume.as_object().into_iter().flatten();
            let source = sources.find(|(key, _)| *key != "name");
            let source = source.map_or("<unknown>".to_owned(), |(key, _)| super::spaced(key));
            page.line(format!("    Type:\t{}", source.replace(' ', "")));
        }
    }
}

/// Mirrors `describeTopologySpreadConstraints`.
fn spread(pod: &Pod, page: &mut Page) {
    let constraints = pod.spec.other.get("topologySpreadConstraints").and_then(Value::as_array);
    let mut constraints: Vec<&Value> = constraints.into_iter().flatten().collect();
    constraints.sort_by_key(|constraint| text(constraint, "/topologyKey"));
    let line = |constraint: &&Value| {
        let mut line = format!(
            "{}:{} when max skew {} is exceeded",
            text(constraint, "/topologyKey"),
            text(constraint, "/whenUnsatisfiable"),
            number(constraint, "/maxSkew").unwrap_or(0)
        );
        if let Some(selector) = constraint.get("labelSelector") {
            line.push_str(&format!(" for selector {}", rows::selector(selector)));
        }
        line
    };
    let lines: Vec<String> = constraints.iter().map(line).collect();
    if !lines.is_empty() {
        page.lines("Topology Spread Constraints", &lines);
    }
}
