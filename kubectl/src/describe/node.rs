//! `kubectl describe node`.

use serde_json::Value;
use taintlab_core::api::{Node, Pod, PodPhase, Quantity, Taint};
use taintlab_core::order::{Order, OrderedMap};

use super::resources::{Amounts, add, amounts, requests_and_limits};
use super::{Page, Surroundings, rfc1123};
use crate::fields::{text, time_at};
use crate::rows;

/// Describes a node. Mirrors `describeNode`.
pub(super) fn describe(node: &Node, surroundings: &Surroundings, page: &mut Page) {
    let metadata = &node.metadata;
    page.field("Name", &metadata.name);
    page.field("Roles", rows::node_roles(node));
    page.labels("Labels", &metadata.labels);
    page.annotations("Annotations", &metadata.annotations);
    page.field("CreationTimestamp", rfc1123(metadata.creation_timestamp));
    let mut taints: Vec<&Taint> = node.spec.taints.iter().collect();
    taints.order_by_key(|taint| format!("{},{}", taint.effect, taint.key));
    page.lines("Taints", taints.into_iter().map(ToString::to_string));
    page.field("Unschedulable", node.spec.unschedulable);
    lease(&metadata.name, surroundings, page);
    conditions(node, page);
    page.line("Addresses:");
    for address in list(node, "addresses") {
        page.line(format_args!("  {}:\t{}", text(address, "/type"), text(address, "/address")));
    }
    for (title, amounts) in [
        ("Capacity", amounts(node.status.other.get("capacity"))),
        ("Allocatable", allocatable(node)),
    ] {
        if !amounts.is_empty() {
            page.line(format_args!("{title}:"));
        }
        for (name, amount) in &amounts {
            page.line(format_args!("  {name}:\t{amount}"));
        }
    }
    if page.view.release.describe_tells_node_local_slices() {
        resource_slices(&metadata.name, surroundings, page);
    }
    system_info(node, page);
    resources(node, surroundings, page);
}

/// Resources that pods may use; the whole capacity unless the node says otherwise. Mirrors
/// `SetDefaults_NodeStatus`.
fn allocatable(node: &Node) -> Amounts {
    let of = |field: &str| amounts(node.status.other.get(field));
    let allocatable = of("allocatable");
    if allocatable.is_empty() { of("capacity") } else { allocatable }
}

fn list<'n>(node: &'n Node, field: &str) -> &'n [Value] {
    node.status.other.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Writes the lease of a node. Mirrors `describeNodeLease`.
fn lease(name: &str, surroundings: &Surroundings, page: &mut Page) {
    let mut leases = surroundings.leases.iter();
    let lease = leases.find(|lease| {
        text(lease, "/metadata/name") == name
            && text(lease, "/metadata/namespace") == "kube-node-lease"
    });
    if lease.is_none() && page.view.release.describe_says_that_lease_is_missing() {
        return page.field(
            "Lease",
            format_args!("Failed to get lease: leases.coordination.k8s.io {name:?} not found"),
        );
    }
    let spec = |field: &str| lease.and_then(|lease| lease.pointer(&format!("/spec/{field}")));
    let unset = || "<unset>".to_owned();
    let time = |field: &str| {
        let time = spec(field).and_then(|value| time_at(value, ""));
        time.map_or_else(unset, |time| time.to_rfc1123())
    };
    page.line("Lease:");
    let holder = spec("holderIdentity").and_then(Value::as_str);
    page.line(format_args!("  HolderIdentity:\t{}", holder.map_or_else(unset, str::to_owned)));
    page.line(format_args!("  AcquireTime:\t{}", time("acquireTime")));
    page.line(format_args!("  RenewTime:\t{}", time("renewTime")));
}

/// Writes how many devices the slices of a node have, by driver and pool. Mirrors
/// `describeNodeResourceSlices`.
fn resource_slices(node: &str, surroundings: &Surroundings, page: &mut Page) {
    /// Greatest number of pools that are shown.
    const MOST: usize = 10;
    let mut pools: OrderedMap<String, (&Value, usize, usize)> = OrderedMap::new();
    let slices = surroundings.resource_slices.iter();
    for slice in slices.filter(|slice| text(slice, "/spec/nodeName") == node) {
        let key = format!("{}/{}", text(slice, "/spec/driver"), text(slice, "/spec/pool/name"));
        let devices = slice.pointer("/spec/devices").and_then(Value::as_array);
        let (_, slices, count) = pools.entry(key).or_insert((slice, 0, 0));
        *slices += 1;
        *count += devices.map_or(0, Vec::len);
    }
    if pools.is_empty() {
        return;
    }
    page.line("Node-Local ResourceSlices:\n  Driver\tPool\tSlices\tDevices");
    page.line("  ------\t----\t------\t-------");
    for (slice, slices, devices) in pools.values().take(MOST) {
        let (driver, pool) = (text(slice, "/spec/driver"), text(slice, "/spec/pool/name"));
        page.line(format_args!("  {driver}\t{pool}\t{slices}\t{devices}"));
    }
    if pools.len() > MOST {
        page.line(format_args!("  ...and {} more pools", pools.len() - MOST));
    }
}

fn conditions(node: &Node, page: &mut Page) {
    if node.status.conditions.is_empty() {
        return;
    }
    page.line("Conditions:");
    page.line("  Type\tStatus\tLastHeartbeatTime\tLastTransitionTime\tReason\tMessage");
    page.line("  ----\t------\t-----------------\t------------------\t------\t-------");
    for condition in &node.status.conditions {
        page.line(format_args!(
            "  {} \t{} \t{} \t{} \t{} \t{}",
            condition.type_,
            condition.status,
            rfc1123(condition.last_heartbeat_time),
            rfc1123(condition.last_transition_time),
            condition.reason,
            condition.message
        ));
    }
}

fn system_info(node: &Node, page: &mut Page) {
    let info = node.status.other.get("nodeInfo");
    page.line("System Info:");
    for (title, name) in [
        ("Machine ID", "machineID"),
        ("System UUID", "systemUUID"),
        ("Boot ID", "bootID"),
        ("Kernel Version", "kernelVersion"),
        ("OS Image", "osImage"),
        ("Operating System", "operatingSystem"),
        ("Architecture", "architecture"),
        ("Container Runtime Version", "containerRuntimeVersion"),
        ("Kubelet Version", "kubeletVersion"),
        ("Kube-Proxy Version", "kubeProxyVersion"),
    ] {
        if name == "kubeProxyVersion" && !page.view.release.describe_tells_kube_proxy_version() {
            continue;
        }
        let value = info.and_then(|info| info.get(name)).and_then(Value::as_str);
        page.line(format_args!("  {title}:\t{}", value.unwrap_or("")));
    }
    let spec = |name: &str| node.spec.other.get(name);
    if let Some(cidr) = spec("podCIDR").and_then(Value::as_str).filter(|cidr| !cidr.is_empty()) {
        page.field("PodCIDR", cidr);
    }
    if let Some(cidrs) =
        spec("podCIDRs").and_then(Value::as_array).filter(|cidrs| !cidrs.is_empty())
    {
        let cidrs: Vec<&str> = cidrs.iter().filter_map(Value::as_str).collect();
        page.field("PodCIDRs", cidrs.join(","));
    }
    if let Some(id) = spec("providerID").and_then(Value::as_str).filter(|id| !id.is_empty()) {
        page.field("ProviderID", id);
    }
}

/// Computes amounts as shares of a node's resources.
struct Share<'a> {
    has: &'a Amounts,
}

impl Share<'_> {
    /// An amount with its percentage, as Go computes it: in floating point, truncated, and the
    /// smallest integer if the result is not finite.
    fn of(&self, amounts: &Amounts, name: &str) -> String {
        let in_units = |quantity: &Quantity| match name {
            "cpu" => quantity.milli_value(),
            _ => quantity.value(),
        };
        let amount = amounts.get(name).cloned().unwrap_or_default();
        let whole = self.has.get(name).map_or(0, in_units);
        #[expect(clippy::cast_precision_loss, reason = "Go loses it too")]
        let percent = in_units(&amount) as f64 / whole as f64 * 100.0;
        #[expect(clippy::cast_possible_truncation, reason = "the fraction is to be cut off")]
        let percent = match percent.is_finite() {
            true => percent as i64,
            // Go has no case for a node without any resources, since no kubelet registers one.
            false if self.has.is_empty() => 0,
            false => i64::MIN,
        };
        format!("{amount} ({percent}%)")
    }

    /// An amount of a total with its percentage, which is 0 % if the node has none of that
    /// resource.
    fn of_total(&self, amounts: &Amounts, name: &str) -> String {
        match self.has.get(name).filter(|has| has.sign() != 0) {
            Some(_) => self.of(amounts, name),
            None => format!("{} (0%)", amounts.get(name).cloned().unwrap_or_default()),
        }
    }
}

/// Writes the node's pods and the resources allocated to them. Mirrors `describeNodeResource`.
fn resources(node: &Node, surroundings: &Surroundings, page: &mut Page) {
    let runs = |pod: &Pod| {
        pod.spec.node_name == node.metadata.name
            && !matches!(pod.status.phase, PodPhase::Succeeded | PodPhase::Failed)
    };
    let pods: Vec<&Pod> =
        surroundings.pods.iter().map(AsRef::as_ref).filter(|pod| runs(pod)).collect();
    let has = allocatable(node);
    let share = Share { has: &has };
    let age = if page.view.release.describe_node_writes_age() { "Age" } else { "AGE" };
    page.line(format_args!("Non-terminated Pods:\t({} in total)", pods.len()));
    page.line(format_args!(
        "  Namespace\tName\t\tCPU Requests\tCPU Limits\tMemory Requests\tMemory Limits\t{age}"
    ));
    page.line("  ---------\t----\t\t------------\t----------\t---------------\t-------------\t---");
    let (mut requests, mut limits) = (Amounts::new(), Amounts::new());
    for pod in pods {
        let (pod_requests, pod_limits) = requests_and_limits(pod, page.view.release);
        page.line(format_args!(
            "  {}\t{}\t\t{}\t{}\t{}\t{}\t{}",
            pod.metadata.namespace,
            pod.metadata.name,
            share.of(&pod_requests, "cpu"),
            share.of(&pod_limits, "cpu"),
            share.of(&pod_requests, "memory"),
            share.of(&pod_limits, "memory"),
            page.view.age(pod.metadata.creation_timestamp)
        ));
        add(&mut requests, &pod_requests);
        add(&mut limits, &pod_limits);
    }
    page.line("Allocated resources:");
    page.line("  (Total limits may be over 100 percent, i.e., overcommitted.)");
    page.line("  Resource\tRequests\tLimits");
    page.line("  --------\t--------\t------");
    let standard = ["cpu", "memory", "ephemeral-storage"];
    let is_huge_page = |name: &&str| name.starts_with("hugepages-");
    let names = has.keys().map(String::as_str);
    for name in standard.into_iter().chain(names.clone().filter(is_huge_page)) {
        let (requests, limits) = (share.of_total(&requests, name), share.of_total(&limits, name));
        page.line(format_args!("  {name}\t{requests}\t{limits}"));
    }
    let is_extended =
        |name: &&str| !standard.contains(name) && !is_huge_page(name) && *name != "pods";
    for name in names.filter(is_extended) {
        let of = |amounts: &Amounts| amounts.get(name).cloned().unwrap_or_default();
        page.line(format_args!("  {name}\t{}\t{}", of(&requests), of(&limits)));
    }
}
