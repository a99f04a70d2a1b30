//! Containers and pod templates.

use std::collections::BTreeMap;

use serde_json::Value;
use taintlab_core::api::{Pod, Quantity, Toleration};
use taintlab_core::order::Order;
use taintlab_core::release::KubernetesRelease;
use taintlab_manifest::typed;

use super::resources::amounts;
use super::{Page, rfc1123, volumes};
use crate::fields::{items, number, string_map, text, time_at};
use crate::path::plain_text;
use crate::selector::format_selector;

fn or_none(text: &str) -> &str {
    if text.is_empty() { "<none>" } else { text }
}

fn is(value: &Value, pointer: &str) -> bool {
    value.pointer(pointer).and_then(Value::as_bool) == Some(true)
}

/// Describes containers. Mirrors `describeContainers`. `pod` supplies the fields in environment
/// variables; a template has none, and is indented.
pub(super) fn describe(
    title: &str,
    containers: &[Value],
    statuses: &[Value],
    pod: Option<&Pod>,
    page: &mut Page,
) {
    let (space, indent) = if pod.is_some() { ("", "") } else { ("  ", " ") };
    let none = if containers.is_empty() { " <none>" } else { "" };
    page.line(format_args!("{space}{title}:{none}"));
    for container in containers {
        let name = text(container, "/name");
        let status = statuses.iter().rev().find(|status| text(status, "/name") == name);
        page.line(format_args!("  {indent}{name}:"));
        image_and_ports(container, status, pod, page);
        for (title, field) in [("Command", "command"), ("Args", "args")] {
            let words = items(container, field);
            if !words.is_empty() {
                page.line(format_args!("    {title}:"));
                for line in words.iter().map(plain_text) {
                    line.split('\n').for_each(|line| page.line(format_args!("      {line}")));
                }
            }
        }
        if let Some(status) = status {
            state(status, "State", "state", page);
            if status.pointer("/lastState/terminated").is_some() {
                state(status, "Last State", "lastState", page);
            }
            let ready = if is(status, "/ready") { "True" } else { "False" };
            page.line(format_args!("    Ready:\t{ready}"));
            let restarts = number(status, "/restartCount").unwrap_or(0);
            page.line(format_args!("    Restart Count:\t{restarts}"));
        }
        resources(container.get("resources"), "    ", page);
        for (title, field) in [
            ("Liveness", "livenessProbe"),
            ("Readiness", "readinessProbe"),
            ("Startup", "startupProbe"),
        ] {
            if let Some(value) = container.get(field) {
                page.line(format_args!("    {title}:\t{}", probe(value, page.view.release)));
            }
        }
        environment(container, pod, page);
        mounts(container, page);
    }
}

fn image_and_ports(container: &Value, status: Option<&Value>, pod: Option<&Pod>, page: &mut Page) {
    if let Some(status) = status {
        page.line(format_args!("    Container ID:\t{}", text(status, "/containerID")));
    }
    page.line(format_args!("    Image:\t{}", text(container, "/image")));
    if let Some(status) = status {
        page.line(format_args!("    Image ID:\t{}", text(status, "/imageID")));
    }
    // On the network of the node a port is the node's. Mirrors `SetDefaults_Pod`.
    let host_network = pod.and_then(|pod| pod.spec.other.get("hostNetwork"));
    let on_host = host_network.and_then(Value::as_bool).unwrap_or(false);
    let with_names = page.view.release.describe_tells_names_of_ports();
    for (title, field) in [("Port", "/containerPort"), ("Host Port", "/hostPort")] {
        let port = |port: &Value| {
            let protocol = Some(text(port, "/protocol")).filter(|text| !text.is_empty());
            let default = if on_host { number(port, "/containerPort") } else { None };
            let number = number(port, field).filter(|port| *port != 0).or(default).unwrap_or(0);
            let mut line = format!("{number}/{}", protocol.unwrap_or("TCP"));
            let name = text(port, "/name");
            if with_names && !name.is_empty() {
                line.push_str(&format!(" ({name})"));
            }
            line
        };
        let ports: Vec<String> = items(container, "ports").iter().map(port).collect();
        let many = if ports.len() > 1 { "s" } else { "" };
        page.line(format_args!("    {title}{many}:\t{}", or_none(&ports.join(", "))));
    }
    seccomp_profile(container, "    ", page);
}

/// Writes the seccomp profile of a pod's spec or of a container.
pub(super) fn seccomp_profile(value: &Value, space: &str, page: &mut Page) {
    let profile = value.pointer("/securityContext/seccompProfile");
    if let Some(profile) = profile.filter(|_| page.view.release.describe_tells_seccomp_profile()) {
        let type_ = text(profile, "/type");
        page.line(format_args!("{space}SeccompProfile:\t{type_}"));
        if type_ == "Localhost" {
            let inner = if space.is_empty() { "" } else { "      " };
            let name = text(profile, "/localhostProfile");
            page.line(format_args!("{inner}LocalhostProfile:\t{name}"));
        }
    }
}

/// Writes the state of a container. Mirrors `describeStatus`.
fn state(status: &Value, title: &str, field: &str, page: &mut Page) {
    let at = |pointer: &str| text(status, &format!("/{field}/{pointer}"));
    let state = |name: &str| status.pointer(&format!("/{field}/{name}")).is_some();
    let time = |pointer: &str| rfc1123(time_at(status, &format!("/{field}/{pointer}")));
    let whole = |pointer: &str| number(status, &format!("/{field}/{pointer}")).unwrap_or(0);
    if state("running") {
        page.line(format_args!("    {title}:\tRunning"));
        page.line(format_args!("      Started:\t{}", time("running/startedAt")));
    } else if state("terminated") && !state("waiting") {
        page.line(format_args!("    {title}:\tTerminated"));
        for (title, pointer) in [("Reason", "terminated/reason"), ("Message", "terminated/message")]
        {
            if !at(pointer).is_empty() {
                page.line(format_args!("      {title}:\t{}", at(pointer)));
            }
        }
        page.line(format_args!("      Exit Code:\t{}", whole("terminated/exitCode")));
        if whole("terminated/signal") > 0 {
            page.line(format_args!("      Signal:\t{}", whole("terminated/signal")));
        }
        page.line(format_args!("      Started:\t{}", time("terminated/startedAt")));
        page.line(format_args!("      Finished:\t{}", time("terminated/finishedAt")));
    } else {
        page.line(format_args!("    {title}:\tWaiting"));
        if !at("waiting/reason").is_empty() {
            page.line(format_args!("      Reason:\t{}", at("waiting/reason")));
        }
    }
}

/// Writes limits and requests.
pub(super) fn resources(resources: Option<&Value>, space: &str, page: &mut Page) {
    for (title, field) in [("Limits", "limits"), ("Requests", "requests")] {
        let amounts = amounts(resources.and_then(|resources| resources.get(field)));
        if !amounts.is_empty() {
            page.line(format_args!("{space}{title}:"));
        }
        for (name, amount) in &amounts {
            page.line(format_args!("{space}  {name}:\t{amount}"));
        }
    }
}

/// A probe in words. Mirrors `DescribeProbe`.
fn probe(probe: &Value, release: KubernetesRelease) -> String {
    let whole = |field: &str, default: i64| number(probe, field).unwrap_or(default);
    let (success, failure) = match release.describe_names_thresholds_of_probes() {
        true => ("successThreshold", "failureThreshold"),
        false => ("#success", "#failure"),
    };
    let attributes = format!(
        "delay={}s timeout={}s period={}s {success}={} {failure}={}",
        whole("/initialDelaySeconds", 0),
        whole("/timeoutSeconds", 1),
        whole("/periodSeconds", 10),
        whole("/successThreshold", 1),
        whole("/failureThreshold", 3),
    );
    let port = |action: &Value| action.get("port").map_or_else(String::new, plain_text);
    if let Some(action) = probe.get("exec") {
        let words: Vec<String> = items(action, "command").iter().map(plain_text).collect();
        format!("exec [{}] {attributes}", words.join(" "))
    } else if let Some(action) = probe.get("httpGet") {
        let scheme = Some(text(action, "/scheme")).filter(|scheme| !scheme.is_empty());
        let path = text(action, "/path");
        let slash = if path.is_empty() || path.starts_with('/') { "" } else { "/" };
        format!(
            "http-get {}://{}:{}{slash}{path} {attributes}",
            scheme.unwrap_or("HTTP").to_ascii_lowercase(),
            text(action, "/host"),
            port(action)
        )
    } else if let Some(action) = probe.get("tcpSocket") {
        format!("tcp-socket {}:{} {attributes}", text(action, "/host"), port(action))
    } else if let Some(action) = probe.get("grpc") {
        format!("grpc <pod>:{} {} {attributes}", port(action), text(action, "/service"))
    } else {
        format!("unknown {attributes}")
    }
}

/// Writes the environment of a container. Mirrors `describeContainerEnvFrom` and
/// `describeContainerEnvVars`.
fn environment(container: &Value, pod: Option<&Pod>, page: &mut Page) {
    let sources = items(container, "envFrom");
    if !sources.is_empty() {
        page.line("    Environment Variables from:");
    }
    for source in sources {
        let (from, reference) = match (source.get("configMapRef"), source.get("secretRef")) {
            (Some(reference), _) => ("ConfigMap", reference),
            (None, Some(reference)) => ("Secret", reference),
            (None, None) => ("", &Value::Null),
        };
        let with = match text(source, "/prefix") {
            "" => String::new(),
            prefix => format!(" with prefix '{prefix}'"),
        };
        let (name, optional) = (text(reference, "/name"), is(reference, "/optional"));
        page.line(format_args!("      {name}\t{from}{with}\tOptional: {optional}"));
    }
    let variables = items(container, "env");
    let none = if variables.is_empty() { "\t<none>" } else { "" };
    page.line(format_args!("    Environment:{none}"));
    for variable in variables {
        let name = text(variable, "/name");
        let Some(from) = variable.get("valueFrom") else {
            let value = text(variable, "/value").replace('\n', "\n      \t");
            page.line(format_args!("      {name}:\t{value}"));
            continue;
        };
        if let Some(field) = from.get("fieldRef") {
            let path = text(field, "/fieldPath");
            let version = Some(text(field, "/apiVersion")).filter(|version| !version.is_empty());
            let value = pod.map_or_else(String::new, |pod| pod_field(pod, path));
            let version = version.unwrap_or("v1");
            page.line(format_args!("      {name}:\t{value} ({version}:{path})"));
        } else if let Some(field) = from.get("resourceFieldRef") {
            let resource = text(field, "/resource");
            let value = resource_field(container, field);
            page.line(format_args!("      {name}:\t{value} ({resource})"));
        } else if let Some(key) = from.get("secretKeyRef") {
            page.line(format_args!(
                "      {name}:\t<set to the key '{}' in secret '{}'>\tOptional: {}",
                text(key, "/key"),
                text(key, "/name"),
                is(key, "/optional")
            ));
        } else if let Some(key) = from.get("configMapKeyRef") {
            page.line(format_args!(
                "      {name}:\t<set to the key '{}' of config map '{}'>\tOptional: {}",
                text(key, "/key"),
                text(key, "/name"),
                is(key, "/optional")
            ));
        }
    }
}

/// The value of a pod's metadata field. Mirrors `fieldpath.ExtractFieldPathAsString`.
fn pod_field(pod: &Pod, path: &str) -> String {
    let metadata = &pod.metadata;
    let subscript =
        path.split_once("['").and_then(|(field, rest)| Some((field, rest.strip_suffix("']")?)));
    let all = |map: &BTreeMap<String, String>| {
        let lines: Vec<String> =
            map.iter().map(|(key, value)| format!("{key}={value:?}")).collect();
        lines.join("\n")
    };
    match (path, subscript) {
        (_, Some(("metadata.annotations", key))) => metadata.annotations.get(key).cloned(),
        (_, Some(("metadata.labels", key))) => metadata.labels.get(key).cloned(),
        ("metadata.annotations", _) => Some(all(&metadata.annotations)),
        ("metadata.labels", _) => Some(all(&metadata.labels)),
        ("metadata.name", _) => Some(metadata.name.clone()),
        ("metadata.namespace", _) => Some(metadata.namespace.clone()),
        ("metadata.uid", _) => Some(metadata.uid.clone()),
        _ => None,
    }
    .unwrap_or_default()
}

/// The value of a container's resource in units of its divisor, rounded up. Mirrors
/// `ExtractContainerResourceValue`.
fn resource_field(container: &Value, field: &Value) -> String {
    let resource = text(field, "/resource");
    let Some((list, name)) = resource.split_once('.') else { return String::new() };
    let amounts = amounts(container.pointer(&format!("/resources/{list}")));
    let divisor = field.get("divisor").map(plain_text);
    let divisor = divisor.and_then(|text| Quantity::parse(&text).ok());
    let value = |quantity: &Quantity| match name {
        "cpu" => quantity.milli_value(),
        _ => quantity.value(),
    };
    let one = if name == "cpu" { 1000 } else { 1 };
    let divisor = divisor.map_or(one, |divisor| value(&divisor)).max(1);
    let amount = amounts.get(name).map_or(0, value);
    // Go rounds up in floating point.
    match amount.div_euclid(divisor) + i64::from(amount.rem_euclid(divisor) != 0) {
        0 if matches!(resource, "limits.cpu" | "limits.memory") => "node allocatable".to_owned(),
        count => count.to_string(),
    }
}

/// Writes mounts and devices. Mirrors `describeContainerVolumes`.
fn mounts(container: &Value, page: &mut Page) {
    let mut mounts: Vec<&Value> = items(container, "volumeMounts").iter().collect();
    mounts.order_by_key(|mount| text(mount, "/mountPath"));
    let none = if mounts.is_empty() { "\t<none>" } else { "" };
    page.line(format_args!("    Mounts:{none}"));
    for mount in mounts {
        let access = if is(mount, "/readOnly") { "ro" } else { "rw" };
        let path = match text(mount, "/subPath") {
            "" => String::new(),
            path => format!(",path={path:?}"),
        };
        let (at, name) = (text(mount, "/mountPath"), text(mount, "/name"));
        page.line(format_args!("      {at} from {name} ({access}{path})"));
    }
    let mut devices: Vec<&Value> = items(container, "volumeDevices").iter().collect();
    devices.order_by_key(|device| text(device, "/devicePath"));
    if !devices.is_empty() {
        page.line(format_args!("    Devices:{none}"));
    }
    for device in devices {
        let (at, name) = (text(device, "/devicePath"), text(device, "/name"));
        page.line(format_args!("      {at} from {name}"));
    }
}

/// Describes a pod template. Mirrors `DescribePodTemplate`.
pub(super) fn template(value: &Value, page: &mut Page) {
    let null = Value::Null;
    let template = value.pointer("/spec/template").unwrap_or(&null);
    let spec = template.get("spec").unwrap_or(&null);
    page.line("Pod Template:");
    page.labels("  Labels", &string_map(template.pointer("/metadata/labels")));
    let annotations = string_map(template.pointer("/metadata/annotations"));
    if !annotations.is_empty() {
        page.annotations("  Annotations", &annotations);
    }
    let account = text(spec, "/serviceAccountName");
    if !account.is_empty() {
        page.field("  Service Account", account);
    }
    if !items(spec, "initContainers").is_empty() {
        describe("Init Containers", items(spec, "initContainers"), &[], None, page);
    }
    describe("Containers", items(spec, "containers"), &[], None, page);
    volumes::describe(items(spec, "volumes"), "  ", page);
    spread(items(spec, "topologySpreadConstraints"), "  ", page);
    let class = text(spec, "/priorityClassName");
    if !class.is_empty() {
        page.field("  Priority Class Name", class);
    }
    if page.view.release.describe_tells_template_tolerations() {
        page.labels("  Node-Selectors", &string_map(spec.get("nodeSelector")));
        let list = spec.get("tolerations").map(typed::<Vec<Toleration>>);
        let list = list.and_then(Result::ok).unwrap_or_default();
        tolerations_of("  Tolerations", &list, page);
    }
}

/// Writes tolerations, sorted by key. Mirrors `printTolerationsMultilineWithIndent`.
pub(super) fn tolerations_of(title: &str, tolerations: &[Toleration], page: &mut Page) {
    let mut tolerations: Vec<&Toleration> = tolerations.iter().collect();
    tolerations.order_by(|left, right| left.key.cmp(&right.key));
    let release = page.view.release;
    page.lines(title, tolerations.into_iter().map(|toleration| words(release, toleration)));
}

/// A toleration in words, without `Lt` and `Gt`: kubectl prints no operator but `Exists`.
fn words(release: KubernetesRelease, toleration: &Toleration) -> String {
    let text = toleration.to_string().replacen(" op=Lt", "", 1).replacen(" op=Gt", "", 1);
    if release.describe_tells_operator_exists() {
        return text;
    }
    text.replacen(" op=Exists", "", 1).replacen("op=Exists", "", 1)
}

/// Writes spread constraints. Mirrors `describeTopologySpreadConstraints`.
pub(super) fn spread(constraints: &[Value], space: &str, page: &mut Page) {
    if constraints.is_empty() || !page.view.release.describe_tells_service_account() {
        return;
    }
    let mut constraints: Vec<&Value> = constraints.iter().collect();
    constraints.order_by_key(|constraint| text(constraint, "/topologyKey"));
    let line = |constraint: &Value| {
        let mut line = format!(
            "{}:{} when max skew {} is exceeded",
            text(constraint, "/topologyKey"),
            text(constraint, "/whenUnsatisfiable"),
            number(constraint, "/maxSkew").unwrap_or(0)
        );
        if let Some(selector) = constraint.get("labelSelector") {
            line.push_str(&format!(" for selector {}", format_selector(Some(selector))));
        }
        line
    };
    let title = format!("{space}Topology Spread Constraints");
    page.lines(&title, constraints.into_iter().map(line));
}
