//! Where the resource claims of a pod let it go, and the devices that they get.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde_json::{Value, json};

use super::Rejection;
use super::info::NodeInfo;
use super::plugins::FilterPlugin;
use super::snapshot::{SchedulerDevices, Snapshot};
use crate::api::{
    ClaimConsumer, DeviceKind, DeviceObject, Pod, PodKey, ResourceClaim, pod_resource_claims,
};
use crate::cluster::Devices;
use crate::policy::devices::{AllocatorFeatures, Alternative, PublishedDevice, allocate};

/// Limit of consumers of a claim. Mirrors `ResourceClaimReservedForMaxSize`.
pub const MOST_CONSUMERS: usize = 256;

/// The claims of one pod, read once. Mirrors `stateData` of `DynamicResources`.
#[derive(Debug, Default)]
pub(super) struct DeviceState<'a> {
    claims: Vec<&'a ResourceClaim>,
    /// The devices that its claims without an allocation choose from.
    published: Vec<PublishedDevice<'a>>,
}

impl<'a> DeviceState<'a> {
    /// The state, and why the pod fits on no node whatever the nodes are. Mirrors
    /// `DynamicResources.PreFilter`.
    pub(super) fn new(snapshot: &'a Snapshot, pod: &Pod) -> (Self, Option<Rejection>) {
        let Some(known) = &snapshot.devices else { return (Self::default(), None) };
        let refused = |reason: String| {
            let rejection = Rejection {
                plugin: FilterPlugin::DynamicResources,
                reasons: Vec::from([reason]),
                preemption_may_help: false,
            };
            (Self::default(), Some(rejection))
        };
        let claims = match claims_of(&known.devices, pod) {
            Ok(claims) => claims,
            Err(reason) => return refused(reason),
        };
        let mut state = Self { claims, published: Vec::new() };
        for claim in &state.claims {
            if claim.allocation.is_some() {
                if claim.reserved_for.len() >= MOST_CONSUMERS && !is_reserved_for(claim, pod) {
                    return refused("resourceclaim in use".to_owned());
                }
                continue;
            }
            for request in &claim.requests {
                for wanted in &request.alternatives {
                    let (name, class) = (request_name(&request.name, &wanted.name), &wanted.class);
                    let key = PodKey::new("", class);
                    if known.devices.object(&DeviceKind::DeviceClass, &key).is_none() {
                        let reason = format!("request {name}: device class {class} does not exist");
                        return refused(reason);
                    }
                }
            }
        }
        if state.unallocated().next().is_some() {
            state.published = PublishedDevice::all(&known.devices, known.features);
        }
        (state, None)
    }

    /// Whether the pod has no claims.
    pub(super) fn is_empty(&self) -> bool {
        self.claims.is_empty()
    }

    fn unallocated(&self) -> impl Iterator<Item = &'a ResourceClaim> {
        self.claims.iter().copied().filter(|claim| claim.allocation.is_none())
    }

    /// Devices of the node for the claims that have none yet; `None` if it lacks some.
    fn allocate(&self, node: &NodeInfo) -> Option<Vec<(&PublishedDevice<'_>, Alternative<'_>)>> {
        let devices = self.published.iter().filter(|it| it.is_on(&node.name, &node.labels));
        allocate(&self.unallocated().collect::<Vec<_>>(), &devices.collect::<Vec<_>>())
    }

    /// Mirrors `DynamicResources.Filter`.
    pub(super) fn filter(&self, node: &NodeInfo) -> Vec<String> {
        let is_reached = |claim: &&ResourceClaim| {
            let terms = &claim.node_selector;
            terms.is_empty() || terms.iter().any(|term| term.matches(&node.name, &node.labels))
        };
        let reason = if self.allocate(node).is_none() {
            "cannot allocate all claims"
        } else if self.claims.iter().all(is_reached) {
            return Vec::new();
        } else {
            "resourceclaim not available on the node"
        };
        Vec::from([reason.to_owned()])
    }
}

impl Snapshot {
    /// Says which devices there are, with their claims; unless this is said, claims keep no pod off
    /// a node.
    pub fn set_devices(&mut self, devices: Arc<Devices>, features: AllocatorFeatures) {
        self.devices = Some(SchedulerDevices { devices, features });
    }

    /// Whether a pod has to wait for a claim before it is tried at all. Mirrors
    /// `DynamicResources.PreEnqueue`.
    pub fn lacks_claims(&self, pod: &Pod) -> bool {
        self.devices.as_ref().is_some_and(|known| claims_of(&known.devices, pod).is_err())
    }

    /// The claims of a pod that goes to the node, as they are to be written: allocated, and reserved
    /// for the pod. Mirrors `DynamicResources.PreBind`.
    pub fn claims_to_reserve(&self, pod: &Pod, node: &str) -> Vec<DeviceObject> {
        let (Some(known), Some(node)) = (&self.devices, self.node(node)) else {
            return Vec::new();
        };
        let (state, _) = DeviceState::new(self, pod);
        let given = state.allocate(node).unwrap_or_default();
        let unallocated: Vec<&ResourceClaim> = state.unallocated().collect();
        let reserve = |claim: &&ResourceClaim| {
            let object = known.devices.object(&DeviceKind::ResourceClaim, &claim.key)?;
            let mut object = DeviceObject::clone(object);
            if let Some(index) = unallocated.iter().position(|it| it.key == claim.key) {
                let given = given.iter().filter(|(_, it)| it.claim == index);
                object.status.set("allocation", allocation(&known.devices, given));
            }
            reserve_for(&mut object, pod);
            Some(object)
        };
        let unreserved = state.claims.iter().filter(|claim| !is_reserved_for(claim, pod));
        unreserved.filter_map(reserve).collect()
    }
}

/// The claims of a pod, or why it has to wait for one. Mirrors `foreachPodResourceClaim`.
fn claims_of<'a>(devices: &'a Devices, pod: &Pod) -> Result<Vec<&'a ResourceClaim>, String> {
    let mut claims = Vec::new();
    for used in pod_resource_claims(pod) {
        let Some(key) = used.claim else {
            return Err(format!("pod \"{}\": ResourceClaim not created yet", pod.key()));
        };
        let Some(claim) = devices.claim(&key) else {
            return Err(format!("could not find ResourceClaim \"{key}\""));
        };
        if used.template.is_some() && claim.controller.as_ref() != Some(&pod.metadata.uid) {
            let pod = pod.key();
            return Err(format!(
                "ResourceClaim {key} was not created for pod {pod} (pod is not owner)"
            ));
        }
        claims.push(claim.as_ref());
    }
    Ok(claims)
}

/// Mirrors `IsReservedForPod`.
pub fn is_reserved_for(claim: &ResourceClaim, pod: &Pod) -> bool {
    claim.reserved_for.iter().any(|consumer: &ClaimConsumer| consumer.uid == pod.metadata.uid)
}

/// Adds a pod to those that may use a claim.
pub fn reserve_for(claim: &mut DeviceObject, pod: &Pod) {
    let consumer =
        json!({ "resource": "pods", "name": pod.metadata.name, "uid": pod.metadata.uid });
    let known = claim.status.get("reservedFor").and_then(Value::as_array);
    let consumers: Vec<Value> = known.into_iter().flatten().cloned().chain([consumer]).collect();
    claim.status.set("reservedFor", consumers.into());
}

fn request_name(request: &str, alternative: &str) -> String {
    match alternative.is_empty() {
        true => request.to_owned(),
        false => format!("{request}/{alternative}"),
    }
}

/// `status.allocation` of a claim. Mirrors `createNodeSelector`, but for selectors of several
/// slices, of which the first counts.
fn allocation<'a>(
    devices: &Devices,
    given: impl Iterator<Item = &'a (&'a PublishedDevice<'a>, Alternative<'a>)>,
) -> Value {
    let mut results = Vec::new();
    let (mut node, mut selector) = (None, None);
    for (PublishedDevice { slice, device, .. }, it) in given {
        let result = json!({
            "request": request_name(it.request, &it.wanted.name),
            "driver": slice.driver,
            "pool": slice.pool,
            "device": device.name,
        });
        let tolerations = Some(&it.wanted.tolerations).filter(|given| !given.is_empty());
        let tolerations = tolerations.and_then(|given| serde_json::to_value(given).ok());
        results.push(with(result, "tolerations", tolerations));
        if !slice.node_name.is_empty() {
            node = Some(&slice.node_name);
        }
        let key = PodKey::new("", &slice.name);
        let object = devices.object(&DeviceKind::ResourceSlice, &key);
        selector = selector.or(object.and_then(|object| object.spec.get("nodeSelector").cloned()));
    }
    if let Some(node) = node {
        let name = json!({ "key": "metadata.name", "operator": "In", "values": [node] });
        selector = Some(json!({ "nodeSelectorTerms": [{ "matchFields": [name] }] }));
    }
    with(json!({ "devices": { "results": results } }), "nodeSelector", selector)
}

/// An object with a field more, if there is a value for it.
fn with(mut object: Value, name: &str, value: Option<Value>) -> Value {
    if let (Value::Object(map), Some(value)) = (&mut object, value) {
        map.insert(name.into(), value);
    }
    object
}
