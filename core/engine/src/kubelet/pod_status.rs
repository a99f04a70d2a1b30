//! The status of a pod as its kubelet posts it.
//!
//! A simulated kubelet keeps of a pod what others act on: phase and conditions. The rest of the
//! status follows from these and is made where somebody wants to read it.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Value, json};
use taintlab_rules::api::{
    ConditionStatus, ContainerRestarts, Node, Pod, PodCondition, PodPhase, PodResources,
    default_host_ports, object,
};
use taintlab_rules::order::Order;
use taintlab_rules::release::KubernetesRelease;
use taintlab_rules::time::Time;

/// The phase of a pod. One that was never written is what the API server and a kubelet would have
/// made of it.
#[must_use]
pub fn pod_phase(pod: &Pod) -> PodPhase {
    match &pod.status.phase {
        PodPhase::Empty if pod.spec.node_name.is_empty() => PodPhase::Pending,
        PodPhase::Empty => PodPhase::Running,
        phase => phase.clone(),
    }
}

/// A pod on this node with the status that the API server has of it: phase, QoS class, priority,
/// and what a kubelet posts of a pod that it runs. What the pod says itself stays as it is; one
/// whose status lists containers has been posted by a real kubelet.
///
/// Addresses and the identifiers of containers are made up of the pod's UID and name; they are
/// always the same for one pod. Mirrors `generateAPIPodStatus`.
#[must_use]
pub fn pod_as_served(release: KubernetesRelease, pod: &Pod, node: Option<&Node>) -> Pod {
    let mut served = pod.clone();
    served.status.phase = pod_phase(pod);
    if pod.spec.other.get("containers").is_none() {
        // The simulation takes pods that no API server would take.
        let pause = json!([{ "name": "pause", "image": "registry.k8s.io/pause:3.10" }]);
        served.spec.other.set("containers", pause);
    }
    default_host_ports(&mut served.spec.other);
    let mut resources = PodResources::of(pod).unwrap_or_default();
    resources.set_defaults();
    if pod.spec.other.get("priority").is_none() {
        served.spec.other.set("priority", resources.priority.unwrap_or(0).into());
    }
    if pod.status.other.get("qosClass").is_none() {
        let class = format!("{:?}", resources.qos_class());
        served.status.other.set("qosClass", class.into());
    }
    let lists_containers = ["containerStatuses", "initContainerStatuses"]
        .iter()
        .any(|field| pod.status.other.get(field).is_some());
    // The kubelet knows no more of a pod that it has refused or evicted than why.
    if !(pod.spec.node_name.is_empty() || lists_containers || !pod.status.reason.is_empty()) {
        default_status(release, &mut served, node);
    }
    if release.counts_pod_generations() {
        set_generations(release, &mut served);
    }
    if let Some(restarts) = pod.status.restarts {
        add_restarts(&mut served, restarts);
    }
    served
}

/// The containers of the pod were lost with their node and started again: the runtime does not know
/// how they ended.
fn add_restarts(pod: &mut Pod, restarts: ContainerRestarts) {
    let statuses = pod.status.other.get("containerStatuses").and_then(Value::as_array);
    let Some(mut statuses) = statuses.cloned() else { return };
    let started = pod.status.other.get("startTime").cloned();
    for status in statuses.iter_mut().filter_map(Value::as_object_mut) {
        let before = status.get("restartCount").and_then(Value::as_u64).unwrap_or(0);
        status.insert("restartCount".into(), (before + u64::from(restarts.count)).into());
        let id = status.get("containerID").cloned().unwrap_or_default();
        let started = started.clone().unwrap_or_default();
        let ended = terminated(255, "Unknown", (started, restarts.ended_at.to_string().into()), id);
        status.insert("lastState".into(), ended);
    }
    pod.status.other.set("containerStatuses", statuses.into());
}

/// Sets `metadata.generation`, and which generation a kubelet and the scheduler have seen. A kubelet
/// posts nothing of a deletion until the containers have ended.
fn set_generations(release: KubernetesRelease, pod: &mut Pod) {
    let generation = pod.generation();
    pod.metadata.other.set("generation", generation.into());
    if !release.sets_observed_generation() {
        return;
    }
    let before = generation.saturating_sub(pod.is_terminating().into());
    let seen = if pod.has_ended() { generation } else { before };
    let is_posted = pod.status.other.get("startTime").is_some();
    if is_posted && pod.status.other.get("observedGeneration").is_none() {
        pod.status.other.set("observedGeneration", seen.into());
    }
    for condition in &mut pod.status.conditions {
        let of_kubelet = is_posted && place(&condition.type_) < OF_KUBELET.len();
        let of_others =
            condition.reason == "Unschedulable" || condition.type_ == "DisruptionTarget";
        if condition.observed_generation.is_none() && (of_kubelet || of_others) {
            condition.observed_generation = Some(if of_kubelet { seen } else { before });
        }
    }
}

fn default_status(release: KubernetesRelease, pod: &mut Pod, node: Option<&Node>) {
    let sandbox = OF_KUBELET[0];
    let runs = pod.status.phase == PodPhase::Running;
    if release.posts_ready_to_start_containers()
        && pod.condition(sandbox).is_none()
        && let Some(initialized) = pod.condition("Initialized")
    {
        let ended = pod.condition("Ready").filter(|_| !runs).unwrap_or(initialized);
        let since = ended.last_transition_time;
        let mut condition = PodCondition { type_: sandbox.into(), ..PodCondition::default() };
        condition.status = if runs { ConditionStatus::True } else { ConditionStatus::False };
        condition.last_transition_time = since;
        pod.status.conditions.push(condition);
    }
    pod.status.conditions.order_by_key(|condition| place(&condition.type_));
    let scheduled = since(pod, "PodScheduled").or(pod.metadata.creation_timestamp);
    let started = since(pod, "ContainersReady").or_else(|| since(pod, "Ready")).or(scheduled);
    let has_started = pod.status.phase != PodPhase::Pending;
    // Of a node that is not ready the node lifecycle controller makes the pods not ready, but not
    // their containers.
    let of_node = node.and_then(|node| node.condition("Ready"));
    let is_lost = of_node.is_some_and(|ready| ready.status != ConditionStatus::True);
    let of_pod = pod.condition("Ready").filter(|_| !is_lost);
    let ready = pod.condition("ContainersReady").or(of_pod);
    let ready = ready.is_none_or(|condition| condition.status == ConditionStatus::True);
    let containers = |field: &str| -> Vec<Value> {
        let list = pod.spec.other.get(field).and_then(Value::as_array);
        list.into_iter().flatten().map(|c| container_status(pod, c, started, ready)).collect()
    };
    let lists = [
        ("containerStatuses", containers("containers")),
        ("initContainerStatuses", containers("initContainers")),
    ];
    let host = node.and_then(|node| node.status.other.get("addresses")).and_then(Value::as_array);
    let mut hosts = host.into_iter().flatten();
    let host = hosts.find(|address| address.get("type") == Some(&"InternalIP".into()));
    let host = host.and_then(|host| host.get("address")).and_then(Value::as_str);
    let on_host = pod.spec.other.get("hostNetwork") == Some(&Value::Bool(true));
    let known = pod.status.other.get("podIP").and_then(Value::as_str).map(ToString::to_string);
    let ip = if on_host { host.map(ToString::to_string) } else { Some(pod_ip(pod, node)) };
    let ip = known.or(ip).filter(|_| has_started);
    let mut insert = |name: &str, value: Option<Value>| {
        if let Some(value) = value.filter(|_| pod.status.other.get(name).is_none()) {
            pod.status.other.set(name, value);
        }
    };
    insert("startTime", scheduled.map(|time| time.to_string().into()));
    insert("hostIP", host.map(Into::into));
    if release.posts_ready_to_start_containers() {
        insert("hostIPs", host.map(|ip| json!([{ "ip": ip }])));
    }
    insert("podIPs", ip.as_ref().map(|ip| json!([{ "ip": ip }])));
    insert("podIP", ip.map(Into::into));
    for (name, list) in lists {
        insert(name, (!list.is_empty()).then_some(Value::Array(list)));
    }
}

/// The conditions that a kubelet writes, in this order.
const OF_KUBELET: [&str; 4] =
    ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady"];

/// The place of a condition among those that a kubelet writes.
fn place(type_: &str) -> usize {
    let order = OF_KUBELET;
    order.iter().position(|known| *known == type_).map_or(order.len(), |place| place)
}

/// Since when a condition holds.
fn since(pod: &Pod, type_: &str) -> Option<Time> {
    let holds = |condition: &&PodCondition| condition.status == ConditionStatus::True;
    pod.condition(type_).filter(holds)?.last_transition_time
}

/// Mirrors `convertToAPIContainerStatuses`.
fn container_status(pod: &Pod, container: &Value, started: Option<Time>, ready: bool) -> Value {
    let text = |field: &str| container.get(field).and_then(Value::as_str).unwrap_or("");
    let started = started.map_or(Value::Null, |time| time.to_string().into());
    let (name, image) = (text("name"), text("image"));
    let id = format!("containerd://{}", identifier(&[&pod.metadata.uid, &pod.metadata.name, name]));
    let ended = |code: i64, reason: &str| {
        let at = pod.condition("Ready").and_then(|ready| ready.last_transition_time);
        let at = at.map_or_else(|| started.clone(), |time| time.to_string().into());
        terminated(code, reason, (started.clone(), at), id.as_str().into())
    };
    let state = match pod.status.phase {
        PodPhase::Running => {
            object(&mut [("running", object(&mut [("startedAt", started.clone())]))])
        }
        PodPhase::Succeeded => ended(0, "Completed"),
        PodPhase::Failed => ended(1, "Error"),
        _ => object(&mut [("waiting", object(&mut [("reason", "ContainerCreating".into())]))]),
    };
    let runs = pod.status.phase == PodPhase::Running;
    let has_started = pod.status.phase != PodPhase::Pending;
    let image_id = format!("sha256:{}", identifier(&[image]));
    let known = |id: String| Value::from(if has_started { id } else { String::new() });
    object(&mut [
        ("name", name.into()),
        ("image", image.into()),
        ("imageID", known(image_id)),
        ("containerID", known(id)),
        ("restartCount", 0.into()),
        ("ready", (runs && ready).into()),
        ("started", runs.into()),
        ("state", state),
    ])
}

/// State of a container that has ended, with the times of its start and end.
fn terminated(code: i64, reason: &str, (started, finished): (Value, Value), id: Value) -> Value {
    let ended = object(&mut [
        ("exitCode", code.into()),
        ("reason", reason.into()),
        ("startedAt", started),
        ("finishedAt", finished),
        ("containerID", id),
    ]);
    object(&mut [("terminated", ended)])
}

/// An address in the range of the node, or in a range that is often used for pods.
fn pod_ip(pod: &Pod, node: Option<&Node>) -> String {
    let hash = hash(&[&pod.metadata.uid, &pod.metadata.namespace, &pod.metadata.name]);
    let range = node.and_then(|node| node.spec.other.get("podCIDR")).and_then(Value::as_str);
    let range = range.and_then(|range| range.strip_suffix(".0/24")).map(ToString::to_string);
    let range = range
        .unwrap_or_else(|| format!("10.244.{}", self::hash(&[pod.spec.node_name.as_str()]) % 255));
    format!("{range}.{}", 2 + hash % 253)
}

/// 64 hexadecimal digits that are always the same for the same words.
pub(crate) fn identifier(words: &[&str]) -> String {
    let part = |salt: &&str| {
        let mut salted: Vec<&str> = Vec::from([*salt]);
        salted.extend(words);
        format!("{:016x}", hash(&salted))
    };
    ["a", "b", "c", "d"].iter().map(part).collect()
}

/// FNV-1a, with the bits mixed at the end.
fn hash(words: &[&str]) -> u64 {
    let bytes = words.iter().flat_map(|word| word.bytes().chain([0]));
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(text: &str) -> Pod {
        serde_json::from_str(text).unwrap()
    }

    fn ready(pod: &Pod) -> Value {
        pod.status.other.get("containerStatuses").unwrap()[0]["ready"].clone()
    }

    #[test]
    fn containers_of_a_pod_on_a_lost_node_stay_ready() {
        let text = r#"{"metadata":{"name":"p"},"spec":{"nodeName":"n","containers":[{"name":"c"}]},
            "status":{"phase":"Running","conditions":[
                {"type":"PodScheduled","status":"True"},
                {"type":"Ready","status":"False"},{"type":"ContainersReady","status":"True"}]}}"#;
        let served = pod_as_served(KubernetesRelease::default(), &pod(text), None);
        assert_eq!(ready(&served), Value::Bool(true));
        let types: Vec<&str> =
            served.status.conditions.iter().map(|condition| condition.type_.as_str()).collect();
        assert_eq!(types, ["Ready", "ContainersReady", "PodScheduled"]);
        let text = text.replace("Ready\",\"status\":\"True", "Ready\",\"status\":\"False");
        assert_eq!(
            ready(&pod_as_served(KubernetesRelease::default(), &pod(&text), None)),
            Value::Bool(false)
        );
    }

    #[test]
    fn what_a_real_kubelet_posted_stays() {
        let text = r#"{"metadata":{"name":"p"},"spec":{"nodeName":"n","containers":[{"name":"c"}]},
            "status":{"phase":"Pending","containerStatuses":[]}}"#;
        let served = pod_as_served(KubernetesRelease::default(), &pod(text), None);
        assert_eq!(served.status.other.get("containerStatuses"), Some(&json!([])));
        assert_eq!(served.status.other.get("podIP"), None);
    }
}
