//! What a pod requests and what a node has, resource by resource.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;

use serde_json::Value;

use super::is_qualified_name;
use super::resources::Field;
use super::{Node, Pod, ResourceError};
use crate::release::KubernetesRelease;

/// Amounts by name of the resource: `cpu` in thousandths, anything else in whole units.
pub type Amounts = BTreeMap<String, i64>;

/// `status.allocatable`, or `status.capacity` where that is all there is. Nothing, if the node says
/// neither.
///
/// # Errors
/// An amount that is no quantity.
pub fn node_allocatable(node: &Node) -> Result<Amounts, ResourceError> {
    let name =
        if node.status.other.get("allocatable").is_some() { "allocatable" } else { "capacity" };
    let value = node.status.other.get(name);
    amounts(&Field::new(format_args!("status.{name}"), value))
}

/// What a pod asks of a node: its containers together, or the largest need while its init
/// containers run, and its overhead. A limit without a request is the request. Mirrors
/// `resource.PodRequests`.
///
/// `least` is what a container counts for at least where it asks for nothing; the scheduler has
/// such amounts for its scores.
///
/// # Errors
/// A field of another type than it should be, or an amount that is no quantity.
pub fn pod_requests(
    pod: &Pod,
    release: KubernetesRelease,
    least: &[(&str, i64)],
) -> Result<Amounts, ResourceError> {
    let at = |name| Field::of_spec(&pod.spec.other, name);
    let mut total = aggregated(pod, release, least)?;
    if release.has_pod_level_resources() {
        total.extend(requests(&at("resources"))?);
    }
    add(&mut total, &amounts(&at("overhead"))?);
    Ok(total)
}

/// Requests of the containers, without those of the whole pod (`spec.resources`).
///
/// # Errors
/// A field of another type than it should be, or an amount that is no quantity.
pub fn container_requests(
    pod: &Pod,
    release: KubernetesRelease,
    least: &[(&str, i64)],
) -> Result<Amounts, ResourceError> {
    let mut total = aggregated(pod, release, least)?;
    add(&mut total, &amounts(&Field::of_spec(&pod.spec.other, "overhead"))?);
    Ok(total)
}

/// Requests of all containers together. Mirrors `AggregateContainerRequests`.
fn aggregated(
    pod: &Pod,
    release: KubernetesRelease,
    least: &[(&str, i64)],
) -> Result<Amounts, ResourceError> {
    let at = |name| Field::of_spec(&pod.spec.other, name);
    let container = |field: &Field<'_>| -> Result<Amounts, ResourceError> {
        let mut amounts = requests(&field.get("resources")?)?;
        for (name, amount) in least {
            amounts.entry((*name).into()).or_insert(*amount);
        }
        Ok(amounts)
    };
    let mut total = Amounts::new();
    for field in at("containers").items()? {
        add(&mut total, &container(&field)?);
    }
    // Sidecars run beside all that is started after them.
    let (mut sidecars, mut init) = (Amounts::new(), Amounts::new());
    for field in at("initContainers").items()? {
        let mut needed = container(&field)?;
        let policy = field.get("restartPolicy")?.text()?;
        if release.has_sidecar_containers() && policy == "Always" {
            add(&mut total, &needed);
            add(&mut sidecars, &needed);
            needed.clone_from(&sidecars);
        } else {
            add(&mut needed, &sidecars);
        }
        raise(&mut init, &needed);
    }
    raise(&mut total, &init);
    Ok(total)
}

/// The CPU of a pod's overhead in thousandths, and in whole units, rounded up.
///
/// # Errors
/// A field of another type than it should be, or an amount that is no quantity.
pub fn overhead_cpu(pod: &Pod) -> Result<(i64, i64), ResourceError> {
    let cpu = Field::of_spec(&pod.spec.other, "overhead").get("cpu")?.quantity()?;
    Ok(cpu.map_or((0, 0), |cpu| (cpu.milli_value(), cpu.value())))
}

/// The extended resources that containers and init containers request, in the order of their names.
///
/// # Errors
/// A field of another type than it should be, or an amount that is no quantity.
pub fn extended_resources(pod: &Pod) -> Result<BTreeSet<String>, ResourceError> {
    let mut names = BTreeSet::new();
    for list in ["containers", "initContainers"] {
        for container in Field::of_spec(&pod.spec.other, list).items()? {
            let requested = requests(&container.get("resources")?)?;
            names.extend(requested.into_keys().filter(|name| is_extended(name)));
        }
    }
    Ok(names)
}

/// Mirrors `IsExtendedResourceName`.
fn is_extended(name: &str) -> bool {
    name.contains('/')
        && !name.contains("kubernetes.io/")
        && !name.starts_with("requests.")
        && is_qualified_name(&format!("requests.{name}")).is_empty()
}

fn requests(resources: &Field<'_>) -> Result<Amounts, ResourceError> {
    let mut all = amounts(&resources.get("limits")?)?;
    all.extend(amounts(&resources.get("requests")?)?);
    Ok(all)
}

fn amounts(field: &Field<'_>) -> Result<Amounts, ResourceError> {
    let mut amounts = Amounts::new();
    match field.value {
        None => {}
        Some(Value::Object(map)) => {
            for name in map.keys() {
                if let Some(quantity) = field.get(name)?.quantity()? {
                    let amount =
                        if name == "cpu" { quantity.milli_value() } else { quantity.value() };
                    amounts.insert(name.clone(), amount);
                }
            }
        }
        Some(_) => return Err(field.wrong("must be an object")),
    }
    Ok(amounts)
}

fn add(sum: &mut Amounts, more: &Amounts) {
    for (name, amount) in more {
        let total = sum.entry(name.clone()).or_default();
        *total = total.saturating_add(*amount);
    }
}

/// Raises amounts to these; a zero is no entry. Mirrors `Resource.SetMaxResource`.
fn raise(most: &mut Amounts, amounts: &Amounts) {
    for (name, amount) in amounts {
        if *amount > most.get(name).copied().unwrap_or_default() {
            most.insert(name.clone(), *amount);
        }
    }
}
