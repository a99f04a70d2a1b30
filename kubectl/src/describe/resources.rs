//! Requests and limits of pods, for resources of any name.

use serde_json::{Map, Value};
use taintlab_core::api::{Pod, Quantity};
use taintlab_core::order::OrderedMap;
use taintlab_core::release::KubernetesRelease;

use crate::path::plain_text;

/// Amounts by resource name.
pub(super) type Amounts = OrderedMap<String, Quantity>;

/// The amounts of a field such as `requests`.
pub(super) fn amounts(value: Option<&Value>) -> Amounts {
    let pairs = value.and_then(Value::as_object).into_iter().flatten();
    let parsed = pairs.filter_map(|(name, amount)| {
        Some((name.clone(), Quantity::parse(&plain_text(amount)).ok()?))
    });
    parsed.collect()
}

/// A container as the API server stores it: a limit without a request is the request too. Mirrors
/// `SetDefaults_Pod`.
pub(super) fn with_default_requests(container: &Value) -> Value {
    let mut container = container.clone();
    let Some(Value::Object(limits)) = container.pointer("/resources/limits").cloned() else {
        return container;
    };
    if let Some(Value::Object(resources)) = container.get_mut("resources") {
        let requests = resources.entry("requests").or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(requests) = requests {
            for (name, amount) in limits {
                requests.entry(name).or_insert(amount);
            }
        }
    }
    container
}

/// The containers in a field of a pod's spec, with default requests.
pub(super) fn containers(pod: &Pod, field: &str) -> Vec<Value> {
    let list = pod.spec.other.get(field).and_then(Value::as_array);
    list.into_iter().flatten().map(with_default_requests).collect()
}

/// Adds `amounts` to `sums`.
pub(super) fn add(sums: &mut Amounts, amounts: &Amounts) {
    for (name, amount) in amounts {
        match sums.get_mut(name) {
            Some(sum) => sum.add(amount),
            None => {
                sums.insert(name.clone(), amount.clone());
            }
        }
    }
}

/// Raises each of `sums` to the amount of the same name, if that is greater.
fn raise(sums: &mut Amounts, amounts: &Amounts) {
    for (name, amount) in amounts {
        if sums.get(name).is_none_or(|sum| amount.compare(sum).is_gt()) {
            sums.insert(name.clone(), amount.clone());
        }
    }
}

/// Requests and limits of a pod. Mirrors `resourcehelper.PodRequestsAndLimits`, including sidecars
/// (init containers that keep running), which old releases do not have.
pub(super) fn requests_and_limits(pod: &Pod, release: KubernetesRelease) -> (Amounts, Amounts) {
    let main = containers(pod, "containers");
    let init = containers(pod, "initContainers");
    let overhead = amounts(pod.spec.other.get("overhead"));
    let total = |field: &str| {
        let of = |container: &Value| amounts(container.pointer(&format!("/resources/{field}")));
        let mut sums = Amounts::new();
        main.iter().for_each(|container| add(&mut sums, &of(container)));
        let (mut sidecars, mut largest) = (Amounts::new(), Amounts::new());
        for container in &init {
            if container.get("restartPolicy").and_then(Value::as_str) == Some("Always") {
                add(&mut sums, &of(container));
                add(&mut sidecars, &of(container));
                raise(&mut largest, &sidecars);
            } else {
                let mut needed = of(container);
                add(&mut needed, &sidecars);
                raise(&mut largest, &needed);
            }
        }
        raise(&mut sums, &largest);
        if release.describe_counts_pod_level_resources() {
            let whole = pod.spec.other.get("resources").and_then(|of| of.get(field));
            let counts =
                |name: &str| matches!(name, "cpu" | "memory") || name.starts_with("hugepages-");
            sums.extend(amounts(whole).into_iter().filter(|(name, _)| counts(name)));
        }
        sums
    };
    let (mut requests, mut limits) = (total("requests"), total("limits"));
    add(&mut requests, &overhead);
    for (name, limit) in &mut limits {
        if let Some(overhead) = overhead.get(name).filter(|_| limit.sign() != 0) {
            limit.add(overhead);
        }
    }
    (requests, limits)
}
