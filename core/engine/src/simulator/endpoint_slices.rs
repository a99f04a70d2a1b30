//! EndpointSlices of Services, to look at.

use alloc::format;
use alloc::vec::Vec;

use serde_json::Value;
use taintlab_rules::api::{Pod, object};
use taintlab_rules::policy::endpoints::ServiceSelector;

use super::Simulator;
use crate::controllers::names::suffix;
use crate::kubelet::pod_status::pod_as_served;

/// Endpoints of a slice at most: the default of `--max-endpoints-per-slice`.
const MOST_ENDPOINTS: usize = 100;

/// The Services that were there at the beginning.
#[must_use]
pub fn services(simulator: &Simulator) -> &[Value] {
    &simulator.api.services
}

/// EndpointSlices that the endpoint-slice controller keeps for Services with a selector, as
/// `discovery.k8s.io/v1`; of addresses of the family of the cluster IP. Pods whose ports have other
/// numbers have slices of their own.
#[must_use]
pub fn endpoint_slices(simulator: &Simulator) -> Vec<Value> {
    let mut all = Vec::new();
    for service in services(simulator) {
        let Some(selector) = ServiceSelector::of(service) else { continue };
        let mut slices: Vec<Value> = Vec::new();
        for (_, pod) in simulator.cluster().pods() {
            add_endpoint(simulator, service, &selector, pod, &mut slices);
        }
        if slices.is_empty() {
            slices.push(slice(service, &selector, 0, Value::Null, Value::Null));
        }
        all.append(&mut slices);
    }
    all
}

fn add_endpoint(
    simulator: &Simulator,
    service: &Value,
    selector: &ServiceSelector,
    pod: &Pod,
    slices: &mut Vec<Value>,
) {
    let Some(conditions) = selector.endpoint(pod) else { return };
    let node = simulator.cluster().get_node(&pod.spec.node_name).map(AsRef::as_ref);
    let pod = pod_as_served(simulator.config().release, pod, node);
    let mut addresses: Vec<Value> = Vec::new();
    for ip in items(pod.status.other.get("podIPs")) {
        let ip = text(ip, "/ip");
        if is_v6(ip) == is_v6(text(service, "/spec/clusterIP")) {
            addresses.push(ip.into());
        }
    }
    if addresses.is_empty() {
        return;
    }
    // As `podToEndpoint` makes it.
    let conditions = object(&mut [
        ("ready", conditions.ready.into()),
        ("serving", conditions.serving.into()),
        ("terminating", conditions.terminating.into()),
    ]);
    let target = object(&mut [
        ("kind", "Pod".into()),
        ("name", pod.metadata.name.as_str().into()),
        ("namespace", pod.metadata.namespace.as_str().into()),
        ("uid", pod.metadata.uid.as_str().into()),
    ]);
    let mut endpoint = object(&mut [
        ("addresses", addresses.into()),
        ("conditions", conditions),
        ("nodeName", pod.spec.node_name.as_str().into()),
        ("targetRef", target),
    ]);
    let zone = node.and_then(|node| node.metadata.labels.get("topology.kubernetes.io/zone"));
    add(&mut endpoint, "", "zone", zone.map(|zone| zone.as_str().into()).as_ref());
    if pod.spec.other.get("subdomain") == service.pointer("/metadata/name") {
        add(&mut endpoint, "", "hostname", pod.spec.other.get("hostname"));
    }
    let ports = ports(service, &pod);
    let has_room = |slice: &Value| {
        slice.get("ports") == Some(&ports) && items(slice.get("endpoints")).len() < MOST_ENDPOINTS
    };
    let place = slices.iter().position(has_room).unwrap_or_else(|| {
        slices.push(slice(service, selector, slices.len(), ports, Value::Array(Vec::new())));
        slices.len() - 1
    });
    let list = slices.get_mut(place).and_then(|slice| slice.get_mut("endpoints"));
    if let Some(Value::Array(endpoints)) = list {
        endpoints.push(endpoint);
    }
}

/// A slice as `newEndpointSlice` makes it; `number` tells those of a Service apart.
fn slice(
    service: &Value,
    selector: &ServiceSelector,
    number: usize,
    ports: Value,
    endpoints: Value,
) -> Value {
    let name = text(service, "/metadata/name");
    let seed = format!("endpointslices/{}/{name}", selector.namespace);
    let prefix = format!("{name}-");
    let full = format!("{prefix}{}", suffix(&seed, number as u64));
    let cluster_ip = text(service, "/spec/clusterIP");
    let labels = object(&mut [
        ("endpointslice.kubernetes.io/managed-by", "endpointslice-controller.k8s.io".into()),
        ("kubernetes.io/service-name", name.into()),
    ]);
    let owner = object(&mut [
        ("apiVersion", "v1".into()),
        ("blockOwnerDeletion", true.into()),
        ("controller", true.into()),
        ("kind", "Service".into()),
        ("name", name.into()),
    ]);
    let created = service.pointer("/metadata/creationTimestamp").cloned().unwrap_or_default();
    let metadata = object(&mut [
        ("creationTimestamp", created),
        ("generateName", prefix.into()),
        ("labels", labels),
        ("name", full.into()),
        ("namespace", selector.namespace.as_str().into()),
        ("ownerReferences", [owner].into_iter().collect()),
    ]);
    let mut slice = object(&mut [
        ("addressType", if is_v6(cluster_ip) { "IPv6" } else { "IPv4" }.into()),
        ("apiVersion", "discovery.k8s.io/v1".into()),
        ("endpoints", endpoints),
        ("kind", "EndpointSlice".into()),
        ("metadata", metadata),
        ("ports", ports),
    ]);
    add(&mut slice, "/metadata/ownerReferences/0", "uid", service.pointer("/metadata/uid"));
    if let Some(Value::Object(labels)) = service.pointer("/metadata/labels") {
        for (label, value) in labels {
            add(&mut slice, "/metadata/labels", label, Some(value));
        }
    }
    if matches!(cluster_ip, "" | "None") {
        add(&mut slice, "/metadata/labels", "service.kubernetes.io/headless", Some(&"".into()));
    }
    slice
}

/// Ports of a pod at which a Service is served; null if there are none. Mirrors `getEndpointPorts`.
fn ports(service: &Value, pod: &Pod) -> Value {
    let mut found: Vec<Value> = Vec::new();
    for of_service in items(service.pointer("/spec/ports")) {
        let target = of_service.get("targetPort").or_else(|| of_service.get("port"));
        let number = match target {
            Some(Value::String(name)) => named_port(pod, name, protocol(of_service)),
            _ => target,
        };
        let Some(number) = number else { continue };
        let mut port = object(&mut [
            ("name", text(of_service, "/name").into()),
            ("port", number.clone()),
            ("protocol", protocol(of_service).into()),
        ]);
        add(&mut port, "", "appProtocol", of_service.get("appProtocol"));
        found.push(port);
    }
    if found.is_empty() { Value::Null } else { found.into() }
}

/// Number of the port of this name, also of an init container that keeps running. Mirrors `FindPort`.
fn named_port<'p>(pod: &'p Pod, name: &str, of_service: &str) -> Option<&'p Value> {
    for list in ["containers", "initContainers"] {
        for container in items(pod.spec.other.get(list)) {
            if list == "initContainers" && text(container, "/restartPolicy") != "Always" {
                continue;
            }
            for port in items(container.get("ports")) {
                if text(port, "/name") == name && protocol(port) == of_service {
                    return port.get("containerPort");
                }
            }
        }
    }
    None
}

fn protocol(port: &Value) -> &str {
    match text(port, "/protocol") {
        "" => "TCP",
        protocol => protocol,
    }
}

fn is_v6(ip: &str) -> bool {
    ip.contains(':')
}

fn items(list: Option<&Value>) -> &[Value] {
    list.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[inline(never)]
fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or("")
}

/// Adds a field, if there is one and the object lacks it.
#[inline(never)]
fn add(value: &mut Value, pointer: &str, field: &str, new: Option<&Value>) {
    if let (Some(Value::Object(fields)), Some(new)) = (value.pointer_mut(pointer), new) {
        fields.entry(field).or_insert_with(|| new.clone());
    }
}

/// Gives Services without a namespace the usual one.
pub(crate) fn default_services(services: &mut [Value]) {
    for service in services {
        if text(service, "/metadata/namespace").is_empty() {
            add(service, "/metadata", "namespace", Some(&"default".into()));
        }
    }
}
