//! `kubectl describe node`.

use serde_json::Value;
use taintlab_core::api::{Node, Pod, PodPhase, PodResources, Quantity, Resources};

use super::{Page, rfc1123, rows};
use crate::objects::text;
use crate::session::Session;

/// Mirrors `describeNode`.
pub(super) fn describe(session: &Session<'_>, node: &Node, page: &mut Page) {
    let metadata = &node.metadata;
    page.field("Name", &metadata.name);
    let roles = rows::node_roles(node).join(",");
    page.field("Roles", if roles.is_empty() { "<none>" } else { &roles });
    page.labels("Labels", &metadata.labels);
    page.annotations(&metadata.annotations);
    page.field("CreationTimestamp", rfc1123(metadata.creation_timestamp));
    let mut taints = node.spec.taints.clone();
    taints.sort_by(|left, right| {
        let key = |taint: &taintlab_core::api::Taint| {
            (taint.effect.to_string(), taint.key.clone(), taint.value.clone())
        };
        key(left).cmp(&key(right))
    });
    let taints: Vec<String> = taints.iter().map(ToString::to_string).collect();
    page.lines("Taints", &taints);
    page.field("Unschedulable", node.spec.unschedulable.to_string());
    lease(session, &metadata.name, page);
    conditions(node, page);
    page.line("Addresses:");
    for address in list(node, "addresses") {
        page.line(format!("  {}:\t{}", text(address, "/type"), text(address, "/address")));
    }
    for (title, field) in [("Capacity", "capacity"), ("Allocatable", "allocatable")] {
        if let Some(amounts) = node.status.other.get(field).and_then(Value::as_object) {
            page.line(format!("{title}:"));
            for (name, amount) in amounts {
                page.line(format!("  {name}:\t{}", super::amount(amount)));
            }
        }
    }
    system_info(node, page);
    resources(session, node, page);
}

fn list<'n>(node: &'n Node, field: &str) -> &'n [Value] {
    node.status.other.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Mirrors `describeNodeLease`.
fn lease(session: &Session<'_>, name: &str, page: &mut Page) {
    let Some(lease) = session.simulator().lease(name) else {
        return page.field(
            "Lease",
            format!("Failed to get lease: leases.coordination.k8s.io {name:?} not found"),
        );
    };
    page.line("Lease:");
    let or_unset = |text: String| if text.is_empty() { "<unset>".to_owned() } else { text };
    page.line(format!("  HolderIdentity:\t{}", or_unset(lease.spec.holder_identity)));
    let acquired = lease.spec.other.get("acquireTime").and_then(Value::as_str);
    let acquired = acquired.and_then(|text| taintlab_core::time::Time::parse(text).ok());
    let time =
        |time: Option<_>| or_unset(time.map_or_else(String::new, |time| rfc1123(Some(time))));
    page.line(format!("  AcquireTime:\t{}", time(acquired)));
    page.line(format!("  RenewTime:\t{}", time(lease.spec.renew_time)));
}

fn conditions(node: &Node, page: &mut Page) {
    if node.status.conditions.is_empty() {
        return;
    }
    page.line("Conditions:");
    page.line("  Type\tStatus\tLastHeartbeatTime\tLastTransitionTime\tReason\tMessage");
    page.line("  ----\t------\t-----------------\t------------------\t------\t-------");
    for condition in &node.status.conditions {
        page.line(format!(
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
    let field = |name: &str| {
        info.and_then(|info| info.get(name)).and_then(Value::as_str).unwrap_or("").to_owned()
    };
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
        page.line(format!("  {title}:\t{}", field(name)));
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

/// Requests and limits of CPU, memory and ephemeral storage.
#[derive(Clone)]
struct Amounts([Quantity; 3]);

impl Amounts {
    fn zero() -> Self {
        use taintlab_core::api::Format::{BinarySI, DecimalSI};
        Self([DecimalSI, BinarySI, BinarySI].map(|format| Quantity::new(0, format)))
    }

    fn each(resources: &Resources) -> [Option<&Quantity>; 3] {
        [&resources.cpu, &resources.memory, &resources.ephemeral_storage].map(Option::as_ref)
    }

    fn add(&mut self, resources: &Resources) {
        for (sum, amount) in self.0.iter_mut().zip(Self::each(resources)) {
            if let Some(amount) = amount {
                sum.add(amount);
            }
        }
    }

    fn add_all(&mut self, other: &Self) {
        for (sum, amount) in self.0.iter_mut().zip(&other.0) {
            sum.add(amount);
        }
    }

    /// The larger of both. Init containers run before the others.
    fn raise(&mut self, resources: &Resources) {
        for (sum, amount) in self.0.iter_mut().zip(Self::each(resources)) {
            if let Some(amount) = amount.filter(|amount| amount.compare(sum).is_gt()) {
                sum.clone_from(amount);
            }
        }
    }

    fn get(&self, index: usize) -> Quantity {
        let zero = || Quantity::new(0, taintlab_core::api::Format::DecimalSI);
        self.0.get(index).cloned().unwrap_or_else(zero)
    }
}

/// What a pod asks for and may use. Mirrors `resourcehelper.PodRequestsAndLimits`.
fn requests_and_limits(pod: &Pod) -> (Amounts, Amounts) {
    let (mut requests, mut limits) = (Amounts::zero(), Amounts::zero());
    if let Ok(mut resources) = PodResources::of(pod) {
        resources.set_defaults();
        for container in &resources.containers {
            requests.add(&container.requests);
            limits.add(&container.limits);
        }
        for container in &resources.init_containers {
            requests.raise(&container.requests);
            limits.raise(&container.limits);
        }
        requests.add(&resources.overhead);
    }
    (requests, limits)
}

/// How much of what a node has that is, in percent without fraction.
fn percent(amount: &Quantity, of: &Quantity, index: usize) -> i64 {
    let value = |quantity: &Quantity| {
        i128::from(if index == 0 { quantity.milli_value() } else { quantity.value() })
    };
    let whole = value(of);
    if whole == 0 { 0 } else { i64::try_from(value(amount) * 100 / whole).unwrap_or(i64::MAX) }
}

/// Mirrors `describeNodeResource`.
fn resources(session: &Session<'_>, node: &Node, page: &mut Page) {
    let cluster = session.simulator().cluster();
    let runs = |pod: &Pod| !matches!(pod.status.phase, PodPhase::Succeeded | PodPhase::Failed);
    let pods: Vec<_> = cluster.pods_of(&node.metadata.name).filter(|(_, pod)| runs(pod)).collect();
    let status = |name| node.status.other.get(name).filter(|value| value.is_object());
    let allocatable = status("allocatable").or_else(|| status("capacity"));
    let has = ["cpu", "memory", "ephemeral-storage"].map(|name| {
        let text = allocatable.and_then(|amounts| amounts.get(name)).map(crate::path::plain_text);
        text.and_then(|text| Quantity::parse(&text).ok())
            .unwrap_or_else(|| Quantity::new(0, taintlab_core::api::Format::DecimalSI))
    });
    let has = Amounts(has);
    let share = |amounts: &Amounts, index: usize| {
        let amount = amounts.get(index);
        format!("{amount} ({}%)", percent(&amount, &has.get(index), index))
    };
    page.line(format!("Non-terminated Pods:\t({} in total)", pods.len()));
    page.line("  Namespace\tName\t\tCPU Requests\tCPU Limits\tMemory Requests\tMemory Limits\tAge");
    page.line("  ---------\t----\t\t------------\t----------\t---------------\t-------------\t---");
    let (mut requests, mut limits) = (Amounts::zero(), Amounts::zero());
    for (key, pod) in pods {
        let (pod_requests, pod_limits) = requests_and_limits(pod);
        let cells = [
            share(&pod_requests, 0),
            share(&pod_limits, 0),
            share(&pod_requests, 1),
            share(&pod_limits, 1),
        ];
        page.line(format!(
            "  {}\t{}\t\t{}\t{}",
            key.namespace(),
            key.name(),
            cells.join("\t"),
            rows::age(session, pod.metadata.creation_timestamp)
        ));
        requests.add_all(&pod_requests);
        limits.add_all(&pod_limits);
    }
    page.line("Allocated resources:");
    page.line("  (Total limits may be over 100 percent, i.e., overcommitted.)");
    page.line("  Resource\tRequests\tLimits");
    page.line("  --------\t--------\t------");
    for (index, name) in ["cpu", "memory", "ephemeral-storage"].into_iter().enumerate() {
        page.line(format!("  {name}\t{}\t{}", share(&requests, index), share(&limits, index)));
    }
}
