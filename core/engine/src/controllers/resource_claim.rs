//! The resource claim controller: it makes claims from templates for pods, and takes devices back
//! that nobody uses.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Value, json};
use taintlab_rules::api::{
    DeviceKind, DeviceObject, Fields, ObjectMeta, OwnerReference, Pod, PodKey, Shared,
    claim_statuses, pod_resource_claims,
};
use taintlab_rules::cluster::{Change, Cluster, DeviceChange, Devices};
use taintlab_rules::order::OrderedSet;
use taintlab_rules::policy::scheduling::{MOST_CONSUMERS, is_reserved_for, reserve_for};
use taintlab_rules::protocol::{ObjectReference, RecordedEvent, RequestId};

use super::names::suffix;
use super::{Context, Controller, Machine};

/// The annotation of a claim with its name in the pod. Mirrors `PodResourceClaimAnnotation`.
const POD_CLAIM_NAME: &str = "resource.kubernetes.io/pod-claim-name";
/// The longest start of a generated name. Mirrors `maxBaseLen`.
const LONGEST_BASE: usize = 57;

/// Requests and events of the controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceClaimAction {
    /// Record a Kubernetes Event.
    RecordEvent(RecordedEvent),
    /// `POST` a claim.
    CreateClaim(Box<DeviceObject>),
    /// `PUT` the status of a claim.
    UpdateClaim(Box<DeviceObject>),
    /// `DELETE` a claim that was made for a pod.
    DeleteClaim {
        /// Namespace and name of the claim.
        claim: PodKey,
    },
    /// Apply `status.resourceClaimStatuses` of a pod.
    SetClaimStatuses {
        /// Namespace and name of the pod.
        pod: PodKey,
        /// The claims of the pod that were made from templates.
        statuses: Value,
    },
}

/// The resource claim controller. Mirrors `pkg/controller/resourceclaim`, and the garbage collector
/// where a pod is gone that a claim was made for.
///
/// Claims are changed at once, so that no finalizer is needed. A claim that nobody uses any more loses
/// its devices even if it has no finalizer, unlike upstream.
#[derive(Clone, Debug, Default)]
pub struct ResourceClaimController {
    /// Pods whose template is missing.
    waiting: OrderedSet<PodKey>,
    actions: VecDeque<ResourceClaimAction>,
}

impl ResourceClaimController {
    /// Looks at all claims that are there at the beginning; it has been told of the pods.
    pub fn bootstrap(&mut self, cluster: &Cluster) {
        for claim in cluster.devices().into_iter().flat_map(|devices| devices.claims()) {
            self.sync_claim(cluster, &claim.key);
        }
    }

    fn observe_pod(&mut self, cluster: &Cluster, key: &PodKey, pod: &Pod, is_gone: bool) {
        if pod.spec.other.get("resourceClaims").is_none() {
            return;
        }
        if !is_gone && !is_done(pod) {
            self.sync_pod(cluster, key, pod);
            return;
        }
        self.waiting.remove(key);
        for claim in pod_resource_claims(pod).into_iter().filter_map(|used| used.claim) {
            self.sync_claim(cluster, &claim);
        }
    }

    /// Makes the claims that a pod lacks. Mirrors `Controller.syncPod`.
    fn sync_pod(&mut self, cluster: &Cluster, key: &PodKey, pod: &Pod) {
        if pod.is_terminating() {
            return;
        }
        let known = claim_statuses(pod).and_then(Value::as_array).cloned();
        let mut statuses = known.unwrap_or_default();
        let before = statuses.len();
        for used in pod_resource_claims(pod) {
            let devices = cluster.devices().map(AsRef::as_ref);
            match (used.claim, used.template) {
                (None, Some(template)) => {
                    match new_claim(devices, key, pod, &used.name, &template) {
                        Some(claim) => {
                            let name = &claim.metadata.name;
                            statuses.push(json!({ "name": used.name, "resourceClaimName": name }));
                            self.actions
                                .push_back(ResourceClaimAction::CreateClaim(Box::new(claim)));
                        }
                        None if self.waiting.insert(key.clone()) && devices.is_some() => {
                            self.record_missing(key, &used.name, &template);
                        }
                        None => {}
                    }
                }
                (Some(claim), _) if !pod.spec.node_name.is_empty() => {
                    self.reserve(devices, &claim, pod);
                }
                (None, None) | (Some(_), _) => {}
            }
        }
        if statuses.len() > before {
            let (pod, statuses) = (key.clone(), statuses.into());
            self.actions.push_back(ResourceClaimAction::SetClaimStatuses { pod, statuses });
        }
    }

    /// Lets a pod use an allocated claim that came to its node without the scheduler. Mirrors
    /// `Controller.reserveForPod`.
    fn reserve(&mut self, devices: Option<&Devices>, key: &PodKey, pod: &Pod) {
        let claim = devices.and_then(|devices| {
            let claim = devices.claim(key).filter(|claim| {
                claim.allocation.is_some()
                    && claim.reserved_for.len() < MOST_CONSUMERS
                    && !is_reserved_for(claim, pod)
            })?;
            devices.object(&DeviceKind::ResourceClaim, &claim.key)
        });
        if let Some(claim) = claim {
            let mut claim = DeviceObject::clone(claim);
            reserve_for(&mut claim, pod);
            self.actions.push_back(ResourceClaimAction::UpdateClaim(Box::new(claim)));
        }
    }

    fn record_missing(&mut self, pod: &PodKey, claim: &str, template: &str) {
        self.actions.push_back(ResourceClaimAction::RecordEvent(RecordedEvent {
            involved_object: ObjectReference::Pod { api_version: "v1", pod: pod.clone() },
            type_: "Warning",
            reason: "FailedResourceClaimCreation",
            message: format!(
                "PodResourceClaim {claim}: resource claim template \"{template}\": \
                 resourceclaimtemplate.resource.k8s.io \"{template}\" not found"
            ),
            component: "resource_claim",
        }));
    }

    /// Takes a claim away from pods that have ended or are gone, and deletes it if it was made for
    /// one of them. Mirrors `Controller.syncClaim`.
    fn sync_claim(&mut self, cluster: &Cluster, key: &PodKey) {
        let Some(devices) = cluster.devices() else { return };
        let (Some(claim), Some(object)) =
            (devices.claim(key), devices.object(&DeviceKind::ResourceClaim, key))
        else {
            return;
        };
        let uses = |name: &str, uid: &str| {
            let pod = cluster.get_pod(&PodKey::new(key.namespace(), name));
            pod.is_some_and(|pod| pod.metadata.uid == uid && !is_done(pod))
        };
        if claim.reserved_for.iter().any(|consumer| !consumer.is_pod) {
            return;
        }
        let consumers = object.status.get("reservedFor").and_then(Value::as_array);
        let consumers = consumers.into_iter().flatten().zip(&claim.reserved_for);
        let valid = consumers.filter(|(_, consumer)| uses(&consumer.name, &consumer.uid));
        let valid: Vec<Value> = valid.map(|(consumer, _)| consumer.clone()).collect();
        let is_free = valid.is_empty();
        if valid.len() < claim.reserved_for.len() {
            let mut object = DeviceObject::clone(object);
            if is_free {
                object.status = Fields::default();
            } else {
                object.status.set("reservedFor", valid.into());
            }
            self.actions.push_back(ResourceClaimAction::UpdateClaim(Box::new(object)));
        }
        let owner = object.metadata.controller().filter(|owner| owner.kind == "Pod");
        if is_free && owner.is_some_and(|owner| !uses(&owner.name, &owner.uid)) {
            self.actions.push_back(ResourceClaimAction::DeleteClaim { claim: key.clone() });
        }
    }
}

/// Whether a pod does not run and never will. Mirrors `isPodDone`.
fn is_done(pod: &Pod) -> bool {
    pod.has_ended() || pod.is_terminating() && pod.spec.node_name.is_empty()
}

/// The claim of a pod that its template makes, if there is the template.
fn new_claim(
    devices: Option<&Devices>,
    key: &PodKey,
    pod: &Pod,
    name: &str,
    template: &str,
) -> Option<DeviceObject> {
    let of = |name: &str| PodKey::new(key.namespace(), name);
    let devices = devices?;
    let template = devices.object(&DeviceKind::ResourceClaimTemplate, &of(template))?;
    let metadata = template.spec.get("metadata").cloned().unwrap_or_default();
    let metadata: ObjectMeta = serde_json::from_value(metadata).unwrap_or_default();
    let mut annotations = metadata.annotations;
    annotations.insert(POD_CLAIM_NAME.into(), name.into());
    let base = base_name(&pod.metadata.name, name);
    let names = (0..).map(|number| format!("{base}{}", suffix(&format!("{key}-{name}"), number)));
    let mut names = names.filter(|name| devices.claim(&of(name)).is_none());
    Some(DeviceObject {
        api_version: template.api_version.clone(),
        kind: DeviceKind::ResourceClaim,
        metadata: ObjectMeta {
            name: names.next()?,
            namespace: key.namespace().into(),
            labels: metadata.labels,
            annotations,
            owner_references: Shared::from(Vec::from([OwnerReference {
                api_version: "v1".into(),
                kind: "Pod".into(),
                name: pod.metadata.name.clone(),
                uid: pod.metadata.uid.clone(),
                controller: Some(true),
                ..OwnerReference::default()
            }])),
            ..ObjectMeta::default()
        },
        spec: serde_json::from_value(template.spec.get("spec").cloned()?).ok()?,
        ..DeviceObject::default()
    })
}

/// `<pod>-<claim>-`; of long names each keeps its share.
fn base_name(pod: &str, claim: &str) -> String {
    let length = pod.len() + claim.len() + 2;
    if length <= LONGEST_BASE {
        return format!("{pod}-{claim}-");
    }
    let share =
        |name: &str| -> String { name.chars().take(name.len() * LONGEST_BASE / length).collect() };
    format!("{}-{}", share(pod), share(claim))
}

impl Machine for ResourceClaimController {
    fn handle_change(&mut self, context: &mut Context<'_>, change: &Change) {
        let cluster = context.cluster;
        match change {
            Change::Pod { key, new: Some(pod), .. } => self.observe_pod(cluster, key, pod, false),
            Change::Pod { key, old: Some(pod), new: None } => {
                self.observe_pod(cluster, key, pod, true);
            }
            Change::Device(DeviceChange::Claim { new: Some(claim), .. }) => {
                self.sync_claim(cluster, &claim.key);
            }
            Change::Device(DeviceChange::Template) => {
                for key in core::mem::take(&mut self.waiting) {
                    if let Some(pod) = cluster.get_pod(&key) {
                        self.observe_pod(cluster, &key, pod, false);
                    }
                }
            }
            Change::Pod { old: None, new: None, .. }
            | Change::Device(_)
            | Change::Node { .. }
            | Change::Workload { .. }
            | Change::Lease { .. }
            | Change::Budget { .. }
            | Change::Volume(_) => {}
        }
    }
}

impl Controller for ResourceClaimController {
    type Action = ResourceClaimAction;
    type Answer = ();

    fn poll_action(&mut self, _: &mut Context<'_>) -> Option<ResourceClaimAction> {
        self.actions.pop_front()
    }

    fn handle_action_result(&mut self, _: &mut Context<'_>, _: RequestId, (): ()) {}
}
