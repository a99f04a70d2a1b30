//! The messages of the kubelet when it evicts a pod.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt::Write;

use taintlab_rules::api::{ContainerResources, Format, Quantity, Resources};

use super::observation::Observations;
use super::pod::KubeletPod;
use super::stats::{ContainerStats, MemoryStats, PodStats, to_int64};
use super::threshold::Threshold;
use super::version::KubeletVersion;

/// `status.reason` of an evicted pod, and the reason of the event. Mirrors `eviction.Reason`.
pub const EVICTED: &str = "Evicted";

/// A message, and the annotations of its event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) text: String,
    pub(super) annotations: BTreeMap<String, String>,
}

/// What there is too little of, for [`eviction_message`].
pub(super) struct Shortage<'a> {
    pub(super) version: KubeletVersion,
    pub(super) resource: &'static str,
    /// All thresholds that are acted upon, in order.
    pub(super) thresholds: Vec<&'a Threshold>,
    pub(super) observations: &'a Observations,
}

/// Says why a pod goes. Mirrors `evictionMessage`.
pub(super) fn eviction_message(
    shortage: &Shortage<'_>,
    pod: &KubeletPod,
    stats: Option<&PodStats>,
) -> Message {
    let Shortage { version, resource, .. } = *shortage;
    let mut message = Message {
        text: format!("The node was low on resource: {resource}."),
        ..Message::default()
    };
    if version.is_qos_era() {
        return message;
    }
    message.text.push(' ');
    let tells_threshold = version.rule(false, |release| release.eviction_message_tells_threshold());
    if tells_threshold && let Some((quantity, available)) = threshold_met(shortage) {
        // Writing to a string cannot fail.
        let _ = write!(message.text, "Threshold quantity: {quantity}, available: {available}. ");
    }
    let Some(stats) = stats else { return message };
    describe_pod(&mut message, resource, pod, stats);
    let (mut names, mut usages) = (Vec::new(), Vec::new());
    let init = version.rule(false, |release| release.eviction_message_tells_init_containers());
    for container_stats in &stats.containers {
        let init_containers = pod.resources.init_containers.iter().filter(|_| init);
        let mut containers = pod.resources.containers.iter().chain(init_containers);
        let container = containers.find(|container| container.name == container_stats.name);
        let Some(ContainerResources { name, requests, .. }) = container else { continue };
        let request = request_of(requests, resource);
        let Some(usage) = usage_of(container_stats, resource) else { continue };
        if usage.compare(&request) != Ordering::Greater {
            continue;
        }
        let _ = if tells_threshold {
            write!(
                message.text,
                "Container {name} was using {usage}, request is {request}, has larger consumption \
                 of {resource}. "
            )
        } else {
            write!(
                message.text,
                "Container {name} was using {usage}, which exceeds its request of {request}. "
            )
        };
        names.push(name.as_str());
        usages.push(usage.to_string());
    }
    for (key, value) in [
        ("offending_containers", names.join(",")),
        ("offending_containers_usage", usages.join(",")),
        ("starved_resource", resource.to_string()),
    ] {
        message.annotations.insert(key.into(), value);
    }
    message
}

/// About the pod as a whole, if it has resources as a whole.
fn describe_pod(message: &mut Message, resource: &str, pod: &KubeletPod, stats: &PodStats) {
    let pod_level = pod.resources.pod_level.as_ref().filter(|_| resource == "memory");
    let request = pod_level.and_then(|pod_level| pod_level.requests.memory.as_ref());
    let (Some(request), Some(memory)) = (request, &stats.memory) else { return };
    let name = pod.key.name();
    let usage = Quantity::new(MemoryStats::working_set(Some(memory)), Format::BinarySI);
    let _ = write!(
        message.text,
        "Pod {name} was using {usage}, request is {request}, has larger consumption of {resource}. "
    );
    message.annotations.insert("offending_pod".into(), name.into());
    message.annotations.insert("offending_pod_usage".into(), usage.to_string());
}

/// Mirrors `getThresholdMetInfo`.
fn threshold_met(shortage: &Shortage<'_>) -> Option<(Quantity, Quantity)> {
    shortage.thresholds.iter().find_map(|threshold| {
        let signal = threshold.signal;
        let observation = shortage.observations.get(signal)?;
        (signal.resource(shortage.version) == shortage.resource).then(|| {
            (threshold.quantity(observation, false), observation.available_quantity(signal))
        })
    })
}

fn request_of(requests: &Resources, resource: &str) -> Quantity {
    let request = match resource {
        "memory" => &requests.memory,
        "ephemeral-storage" => &requests.ephemeral_storage,
        _ => &None,
    };
    request.clone().unwrap_or_default()
}

fn usage_of(stats: &ContainerStats, resource: &str) -> Option<Quantity> {
    let bytes = match resource {
        "memory" => stats.memory?.working_set_bytes?,
        "ephemeral-storage" => stats.rootfs?.used_bytes?.wrapping_add(stats.logs?.used_bytes?),
        _ => return None,
    };
    Some(Quantity::new(to_int64(bytes), Format::BinarySI))
}
