//! `kubectl describe pod`.

use serde_json::Value;
use taintlab_core::api::{Pod, PodPhase, PodResources};

use super::containers;
use super::resources::containers as with_requests;
use super::{Page, rfc1123, volumes};
use crate::fields::{string_map, text, time_at};
use crate::path::plain_text;

/// Describes a pod. Mirrors `describePod`.
pub(super) fn describe(pod: &Pod, page: &mut Page) {
    let release = page.view.release;
    let (spec, status) = (&pod.spec.other, &pod.status.other);
    let field = |name: &str| spec.get(name).and_then(Value::as_str).unwrap_or("");
    let told = |name: &str| status.get(name).and_then(Value::as_str).unwrap_or("");
    let list = |fields: Option<&Value>| -> Vec<Value> {
        fields.and_then(Value::as_array).cloned().unwrap_or_default()
    };
    page.field("Name", &pod.metadata.name);
    page.field("Namespace", &pod.metadata.namespace);
    if let Some(priority) = spec.get("priority").filter(|priority| !priority.is_null()) {
        page.field("Priority", plain_text(priority));
    }
    let newer = release.describe_tells_service_account();
    for (title, value, told) in [
        ("Priority Class Name", field("priorityClassName"), true),
        ("Runtime Class Name", field("runtimeClassName"), newer),
        ("Service Account", field("serviceAccountName"), newer),
    ] {
        if told && !value.is_empty() {
            page.field(title, value);
        }
    }
    if pod.spec.node_name.is_empty() {
        page.field("Node", "<none>");
    } else {
        page.field("Node", format_args!("{}/{}", pod.spec.node_name, told("hostIP")));
    }
    if let Some(started) = status.get("startTime").and_then(|value| time_at(value, "")) {
        page.field("Start Time", rfc1123(Some(started)));
    }
    page.labels("Labels", &pod.metadata.labels);
    page.annotations("Annotations", &pod.metadata.annotations);
    state(pod, page);
    if let Some(context) = spec.get("securityContext") {
        let spec = serde_json::json!({ "securityContext": context });
        containers::seccomp_profile(&spec, "", page);
    }
    addresses(pod, page);
    let owners = &pod.metadata.owner_references;
    if let Some(owner) = owners.iter().find(|owner| owner.controller == Some(true)) {
        page.field("Controlled By", format_args!("{}/{}", owner.kind, owner.name));
    }
    if !told("nominatedNodeName").is_empty() {
        page.field("NominatedNodeName", told("nominatedNodeName"));
    }
    if let Some(resources) = spec.get("resources").filter(|_| release.has_pod_level_resources()) {
        page.line("Resources:");
        containers::resources(Some(resources), "  ", page);
    }
    for (title, field, statuses) in [
        ("Init Containers", "initContainers", "initContainerStatuses"),
        ("Containers", "containers", "containerStatuses"),
        ("Ephemeral Containers", "ephemeralContainers", "ephemeralContainerStatuses"),
    ] {
        let containers = with_requests(pod, field);
        if !containers.is_empty() || field == "containers" {
            let statuses = list(status.get(statuses));
            containers::describe(title, &containers, &statuses, Some(pod), page);
        }
    }
    let gates = list(spec.get("readinessGates"));
    if !gates.is_empty() {
        page.line("Readiness Gates:\n  Type\tStatus");
    }
    for gate in &gates {
        let type_ = text(gate, "/conditionType");
        let status = pod.condition(type_).map_or("<none>", |condition| condition.status.as_str());
        page.line(format_args!("  {type_} \t{status} "));
    }
    if !pod.status.conditions.is_empty() {
        page.line("Conditions:\n  Type\tStatus");
    }
    for condition in &pod.status.conditions {
        page.line(format_args!("  {} \t{} ", condition.type_, condition.status));
    }
    volumes::describe(&list(spec.get("volumes")), "", page);
    page.field("QoS Class", qos_class(pod, page));
    page.labels("Node-Selectors", &string_map(spec.get("nodeSelector")));
    containers::tolerations_of("Tolerations", &pod.spec.tolerations, page);
    containers::spread(&list(spec.get("topologySpreadConstraints")), "", page);
}

fn state(pod: &Pod, page: &mut Page) {
    let ended = matches!(pod.status.phase, PodPhase::Succeeded | PodPhase::Failed);
    let by_phase = ended && page.view.release.shows_phase_of_deleted_pods_that_ended();
    match pod.metadata.deletion_timestamp {
        Some(deleted) if !by_phase => {
            let since = page.view.age(Some(deleted));
            page.field("Status", format_args!("Terminating (lasts {since})"));
            let grace = pod.metadata.deletion_grace_period_seconds.unwrap_or(0);
            page.field("Termination Grace Period", format_args!("{grace}s"));
        }
        _ => page.field("Status", pod.status.phase.as_str()),
    }
    if !pod.status.reason.is_empty() {
        page.field("Reason", &pod.status.reason);
    }
    if !pod.status.message.is_empty() {
        page.field("Message", &pod.status.message);
    }
}

fn addresses(pod: &Pod, page: &mut Page) {
    let status = &pod.status.other;
    page.field("IP", status.get("podIP").and_then(Value::as_str).unwrap_or(""));
    match status.get("podIPs").and_then(Value::as_array).filter(|ips| !ips.is_empty()) {
        None => page.field("IPs", "<none>"),
        Some(ips) => {
            page.line("IPs:");
            for ip in ips {
                page.line(format_args!("  IP:\t{}", text(ip, "/ip")));
            }
        }
    }
}

fn qos_class(pod: &Pod, page: &Page) -> String {
    let release = page.view.release;
    let known = pod.status.other.get("qosClass").and_then(Value::as_str);
    let known = known.filter(|class| !class.is_empty());
    if let Some(class) = known.filter(|_| !release.describe_computes_qos_class()) {
        return class.to_owned();
    }
    let mut resources = PodResources::of(pod).unwrap_or_default();
    resources.set_defaults();
    if !release.qos_of_kubectl_counts_init_containers() {
        resources.init_containers.clear();
    }
    format!("{:?}", resources.qos_class())
}
