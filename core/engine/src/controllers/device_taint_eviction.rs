//! The device taint eviction controller: it deletes the pods that use devices with a `NoExecute`
//! taint which their claims do not tolerate, and tells in the status of rules how far it is.

mod eviction;
mod queue;
mod rule_status;

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use serde::Serialize;
use taintlab_rules::api::{
    ClaimConsumer, ConditionStatus, DeviceTaintRule, Pod, PodCondition, PodKey, ResourceClaim,
    ResourceSlice, RuleCondition, claim_statuses, pod_resource_claims,
};
use taintlab_rules::cluster::{Change, Cluster, DeviceChange};
use taintlab_rules::order::{OrderedMap, OrderedSet};
use taintlab_rules::protocol::{
    ObjectReference, RecordedEvent, RequestId, RequestResult, TimeoutReason,
};
use taintlab_rules::queue::timer_queue::TimerId;
use taintlab_rules::time::{Time, Timestamp};

use self::eviction::{Eviction, Reason, Taints};
use self::queue::{Item, Queue};
use super::{Context, Controller, Machine, WorkTicket};

/// The least time between two writes of the status of a rule. Mirrors `ruleStatusPeriod`.
const RULE_STATUS_PERIOD: Duration = Duration::from_secs(10);
/// Limit of remembered evicted pods. Mirrors `maxUIDCacheEntries`.
const MOST_EVICTED: usize = 500;

/// Requests and events of the controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceTaintEvictionAction {
    /// Record a Kubernetes Event.
    RecordEvent(RecordedEvent),
    /// `PATCH` the status of a pod: put the condition into it.
    PatchPodStatus {
        /// For [`Controller::handle_action_result`].
        id: RequestId,
        /// Namespace and name of the pod.
        pod: PodKey,
        /// The condition, without `lastTransitionTime` and `observedGeneration`.
        condition: PodCondition,
    },
    /// `DELETE` a pod, with default options.
    DeletePod {
        /// For [`Controller::handle_action_result`].
        id: RequestId,
        /// Namespace and name of the pod.
        pod: PodKey,
    },
    /// Apply the status of a DeviceTaintRule.
    UpdateRuleStatus {
        /// For [`Controller::handle_action_result`].
        id: RequestId,
        /// The name of the rule.
        rule: String,
        /// Its condition `EvictionInProgress`.
        condition: RuleCondition,
    },
    /// Nothing to do: the controller plans the eviction of a pod, or at another time.
    Report(PodKey, DeviceEviction),
}

/// Planned eviction of a pod: the device with the taint that decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct DeviceEviction {
    /// Namespace and name of the claim that has the device.
    pub claim: PodKey,
    /// Driver, pool and name of the device: `gpu.example.com/worker-1/gpu-0`.
    pub device: String,
    /// The taint: `example.com/unhealthy:NoExecute`.
    pub taint: String,
    /// Name of the DeviceTaintRule with the taint; absent if the ResourceSlice has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript-all", tsify(optional))]
    pub rule: Option<String>,
    /// The field of the claim that delays the eviction, with its value; absent if none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript-all", tsify(optional))]
    pub toleration: Option<String>,
    /// `timeAdded` of the taint.
    pub tainted_at: Time,
    /// End of the toleration; that of a taint without one is `timeAdded`.
    pub tolerated_until: Timestamp,
    /// Time of the decision.
    pub created_at: Timestamp,
}

impl DeviceEviction {
    /// Time of the deletion: never before the decision.
    #[must_use]
    pub fn fire_at(&self) -> Timestamp {
        self.tolerated_until.max(self.created_at)
    }

    /// The decision in a line.
    #[must_use]
    pub fn decision(&self) -> String {
        let (claim, at) = (&self.claim, self.fire_at());
        match &self.toleration {
            None => format!("{self}, which claim {claim} does not tolerate, deleted at once"),
            Some(_) => {
                format!(
                    "{self}, which claim {claim} tolerates for a time, deletion scheduled for {at}"
                )
            }
        }
    }
}

/// `device gpu.example.com/worker-1/gpu-0 has taint example.com/unhealthy:NoExecute`.
impl fmt::Display for DeviceEviction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "device {} has taint {}", self.device, self.taint)?;
        match &self.rule {
            Some(rule) => write!(f, " of DeviceTaintRule {rule}"),
            None => Ok(()),
        }
    }
}

/// A pod, told from others that had its name before.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PodInstance {
    /// Namespace and name.
    pub key: PodKey,
    /// The UID.
    pub uid: String,
}

impl PodInstance {
    fn of(key: &PodKey, pod: &Pod) -> Self {
        Self { key: key.clone(), uid: pod.metadata.uid.clone() }
    }
}

/// An allocated claim, and when its pods are to be evicted.
#[derive(Clone, Debug)]
struct AllocatedClaim {
    claim: Arc<ResourceClaim>,
    eviction: Option<Eviction>,
}

/// A request that is out.
#[derive(Clone, Debug)]
enum Request {
    Patch(PodInstance, Vec<Reason>),
    Delete(PodInstance, Vec<Reason>),
    Status(Item),
}

/// The device taint eviction controller. Mirrors `pkg/controller/devicetainteviction`.
///
/// Its workers are one after the other here, and it sees a change as soon as it is made.
#[derive(Clone, Debug)]
pub struct DeviceTaintEvictionController {
    /// Whether it knows rules, and not only the taints that drivers publish.
    rules: bool,
    /// Planned evictions. Mirrors `deletePodAt`.
    delete_pod_at: OrderedMap<PodInstance, (Eviction, Option<DeviceEviction>)>,
    claims: OrderedMap<PodKey, AllocatedClaim>,
    taints: Taints,
    /// Pods evicted because of each rule, by its UID.
    evicted_by_rule: OrderedMap<String, u64>,
    /// The UIDs of pods that were evicted.
    evicted: VecDeque<String>,
    queue: Queue,
    requests: OrderedMap<RequestId, Request>,
    next_id: u64,
    actions: VecDeque<DeviceTaintEvictionAction>,
}

impl DeviceTaintEvictionController {
    /// A controller that knows nothing yet. `rules` is the feature gate `DRADeviceTaintRules`.
    #[must_use]
    pub fn new(rules: bool) -> Self {
        Self {
            rules,
            delete_pod_at: OrderedMap::new(),
            claims: OrderedMap::new(),
            taints: Taints::default(),
            evicted_by_rule: OrderedMap::new(),
            evicted: VecDeque::new(),
            queue: Queue::default(),
            requests: OrderedMap::new(),
            next_id: 0,
            actions: VecDeque::new(),
        }
    }

    /// Tells it of everything that is there at the beginning, as its informers do.
    pub fn bootstrap(&mut self, context: &mut Context<'_>) {
        let cluster = context.cluster;
        let Some(devices) = cluster.devices() else { return };
        for claim in devices.claims() {
            self.handle_claim(context, None, Some(claim));
        }
        for (key, pod) in cluster.pods() {
            self.handle_pod(context, key, pod);
        }
        for rule in devices.rules() {
            self.handle_rule(context, None, Some(rule));
        }
        for slice in devices.slices() {
            self.handle_slice(context, None, Some(slice));
        }
    }

    /// Whether there is something to do or to tell now.
    #[must_use]
    pub fn has_work(&self) -> bool {
        !self.actions.is_empty() || self.queue.first().is_some()
    }

    /// The pods that are to be evicted, each with the time (in nanoseconds from zero on, negative
    /// before) and the taints that are the reasons, in words.
    #[must_use]
    pub fn pending(&self) -> Vec<(PodInstance, i64, String)> {
        let pending = self.delete_pod_at.iter();
        pending.map(|(pod, (it, _))| (pod.clone(), it.at, it.reasons_in_words())).collect()
    }

    /// Planned time of a pod's eviction, in nanoseconds since the start.
    #[must_use]
    pub fn eviction_of(&self, key: &PodKey, pod: &Pod) -> Option<i64> {
        self.delete_pod_at.get(&PodInstance::of(key, pod)).map(|(it, _)| it.at)
    }

    /// Evicted pods of each existing rule, by the rule's UID.
    #[must_use]
    pub fn evicted_by_rule(&self) -> &OrderedMap<String, u64> {
        &self.evicted_by_rule
    }

    /// Mirrors `Controller.handleClaimChange`.
    fn handle_claim(
        &mut self,
        context: &mut Context<'_>,
        old: Option<&Arc<ResourceClaim>>,
        new: Option<&Arc<ResourceClaim>>,
    ) {
        if let (Some(before), Some(after)) = (old, new)
            && before.uid != after.uid
        {
            self.handle_claim(context, old, None);
            self.handle_claim(context, None, new);
            return;
        }
        let is_allocated = |claim: &Arc<ResourceClaim>| claim.allocation.is_some();
        let allocated = new.filter(|claim| is_allocated(claim));
        if let Some(claim) = allocated {
            // An allocation does not change, so that only a new one is looked at.
            let known = self.claims.get(&claim.key).filter(|_| old.is_some_and(is_allocated));
            let eviction = match known {
                Some(known) => known.eviction.clone(),
                None => self.taints.eviction_of(claim, context.start),
            };
            let known = AllocatedClaim { claim: claim.clone(), eviction };
            self.claims.insert(claim.key.clone(), known);
        } else if let Some(claim) = new.or(old) {
            self.claims.remove(&claim.key);
        }
        let was_deleted = new.is_none();
        if !was_deleted && allocated.is_none() && !old.is_some_and(is_allocated) {
            return;
        }
        if let (Some(before), Some(after)) = (old, new)
            && before.reserved_for != after.reserved_for
        {
            self.handle_pods_of(context, before);
        }
        if let Some(claim) = new.or(old) {
            self.handle_pods_of(context, claim);
        }
    }

    /// Mirrors `Controller.handleRuleChange`.
    fn handle_rule(
        &mut self,
        context: &mut Context<'_>,
        old: Option<&Arc<DeviceTaintRule>>,
        new: Option<&Arc<DeviceTaintRule>>,
    ) {
        if !self.rules {
            return;
        }
        let item = |rule: &DeviceTaintRule| Item::Rule(rule.name.clone(), rule.uid.clone());
        match (old, new) {
            (None, Some(new)) => self.queue.add(context, item(new)),
            (Some(old), None) => {
                self.evicted_by_rule.remove(&old.uid);
            }
            (Some(old), Some(new)) if old.uid == new.uid => {
                if old.selector == new.selector && old.taint == new.taint {
                    return;
                }
                self.queue.add(context, item(new));
            }
            (Some(_), Some(_)) | (None, None) => {}
        }
        self.taints.replace_rule(old.map(AsRef::as_ref), new);
        let keys: Vec<PodKey> = self.claims.keys().cloned().collect();
        for key in keys {
            self.update_claim(context, &key);
        }
    }

    /// Mirrors `Controller.handleSliceChange`.
    fn handle_slice(
        &mut self,
        context: &mut Context<'_>,
        old: Option<&Arc<ResourceSlice>>,
        new: Option<&Arc<ResourceSlice>>,
    ) {
        let Some(slice) = new.or(old) else { return };
        let modified = self.taints.replace_slice(old.map(AsRef::as_ref), new);
        let uses = |claim: &ResourceClaim| {
            claim.allocation.iter().flatten().any(|device| {
                device.driver == slice.driver
                    && device.pool == slice.pool
                    && modified.contains(&device.device)
            })
        };
        let claims = self.claims.iter().filter(|(_, known)| uses(&known.claim));
        let keys: Vec<PodKey> = claims.map(|(key, _)| key.clone()).collect();
        for key in keys {
            self.update_claim(context, &key);
        }
    }

    /// Looks anew when the pods of a claim are to be evicted, and at them if that has changed, or
    /// is never and has been so.
    fn update_claim(&mut self, context: &mut Context<'_>, key: &PodKey) {
        let Some(known) = self.claims.get_mut(key) else { return };
        let eviction = self.taints.eviction_of(&known.claim, context.start);
        let same = eviction.is_some() && eviction == known.eviction;
        known.eviction = eviction;
        if !same {
            let claim = known.claim.clone();
            self.handle_pods_of(context, &claim);
        }
    }

    /// Mirrors `Controller.handlePods`.
    fn handle_pods_of(&mut self, context: &mut Context<'_>, claim: &ResourceClaim) {
        let cluster = context.cluster;
        for ClaimConsumer { is_pod, name, uid } in &claim.reserved_for {
            let key = PodKey::new(claim.key.namespace(), name);
            let pod = cluster.get_pod(&key).filter(|pod| *is_pod && pod.metadata.uid == *uid);
            if let Some(pod) = pod {
                self.handle_pod(context, &key, pod);
            }
        }
    }

    /// Plans or cancels the eviction of a pod. Mirrors `Controller.handlePod`.
    fn handle_pod(&mut self, context: &mut Context<'_>, key: &PodKey, pod: &Pod) {
        let instance = PodInstance::of(key, pod);
        let Some(eviction) = self.pod_eviction(pod) else {
            if self.delete_pod_at.remove(&instance).is_some() {
                self.record(key, "Cancelling deletion");
            }
            return;
        };
        let due = timestamp(eviction.at);
        let item = Item::Pod(instance.clone());
        if due <= context.now {
            self.queue.add(context, item);
        } else {
            self.queue.add_after(context, item, due);
        }
        for reason in &eviction.reasons {
            self.update_status_later(context, reason);
        }
        // What is known of a claim can be older than its taints, as upstream: then nothing decides.
        let planned = self.deciding(context, pod);
        let planned = planned.map(|it| DeviceEviction { tolerated_until: due, ..it });
        let known = self.delete_pod_at.insert(instance, (eviction, planned.clone()));
        let known = known.and_then(|(_, known)| known);
        let same = |planned: &DeviceEviction| {
            known.as_ref().is_some_and(|known| {
                known.tolerated_until == planned.tolerated_until && known.taint == planned.taint
            })
        };
        if let Some(planned) = planned.filter(|planned| !same(planned)) {
            self.actions.push_back(DeviceTaintEvictionAction::Report(key.clone(), planned));
        }
    }

    /// The device whose taint decides when a pod is evicted.
    fn deciding(&self, context: &Context<'_>, pod: &Pod) -> Option<DeviceEviction> {
        let claims = self.claims_of(pod);
        let deciding =
            |known: &AllocatedClaim| self.taints.deciding_taint(&known.claim, context.start);
        let (_, eviction) = claims.filter_map(deciding).min_by_key(|(at, _)| *at)?;
        Some(DeviceEviction { created_at: context.now, ..eviction })
    }

    /// The pods whose eviction is planned, each with its time.
    pub fn planned_evictions(&self) -> impl Iterator<Item = (&PodKey, Timestamp)> {
        let planned = self.delete_pod_at.iter();
        planned.filter_map(|(pod, (_, planned))| Some((&pod.key, planned.as_ref()?.fire_at())))
    }

    /// The planned eviction of a pod, unless it was evicted.
    #[must_use]
    pub fn planned_eviction(&self, key: &PodKey, cluster: &Cluster) -> Option<&DeviceEviction> {
        // Most clusters have none, and this is asked of each pod.
        let planned = Some(&self.delete_pod_at).filter(|planned| !planned.is_empty())?;
        let (_, planned) = planned.get(&PodInstance::of(key, cluster.get_pod(key)?))?;
        planned.as_ref()
    }

    fn update_status_later(&mut self, context: &mut Context<'_>, reason: &Reason) {
        if let Reason::Rule(rule) = reason {
            let at = context.now.saturating_add(RULE_STATUS_PERIOD);
            self.queue.add_after(context, Item::Rule(rule.name.clone(), rule.uid.clone()), at);
        }
    }

    /// Eviction of a pod with its reasons, over all of its claims. Mirrors
    /// `Controller.podEvictionTime`.
    fn pod_eviction(&self, pod: &Pod) -> Option<Eviction> {
        let mut eviction: Option<Eviction> = None;
        for claim in self.claims_of(pod) {
            if let Some(other) = &claim.eviction {
                match &mut eviction {
                    None => eviction = Some(other.clone()),
                    Some(known) => known.join(other),
                }
            }
        }
        eviction
    }

    /// The allocated claims of a pod on a node that it may use.
    fn claims_of(&self, pod: &Pod) -> impl Iterator<Item = &AllocatedClaim> {
        let uid = pod.metadata.uid.clone();
        let is_bound = !pod.spec.node_name.is_empty() && !self.claims.is_empty();
        let used = if is_bound { pod_resource_claims(pod) } else { Vec::new() };
        used.into_iter().filter_map(move |used| {
            let known = self.claims.get(&used.claim?)?;
            let owned = used.template.is_none() || known.claim.controller.as_ref() == Some(&uid);
            let reserved = || known.claim.reserved_for.iter().any(|consumer| consumer.uid == uid);
            (owned && reserved()).then_some(known)
        })
    }

    /// Deletes a pod if its time has come. Mirrors `Controller.maybeDeletePod`.
    fn maybe_delete_pod(&mut self, context: &mut Context<'_>, instance: PodInstance) {
        let item = Item::Pod(instance.clone());
        let eviction = self.delete_pod_at.get(&instance);
        let Some((eviction, _)) = eviction.filter(|_| !self.evicted.contains(&instance.uid)) else {
            self.queue.forget(&item);
            return;
        };
        let due = timestamp(eviction.at);
        if due > context.now {
            self.queue.add_after(context, item, due);
            return;
        }
        let reasons = eviction.reasons.clone();
        let pod = context.cluster.get_pod(&instance.key);
        let Some(pod) = pod.filter(|pod| pod.metadata.uid == instance.uid) else {
            self.finish(instance);
            return;
        };
        if pod.is_terminating() {
            self.count(context, &reasons);
            self.finish(instance);
            return;
        }
        self.record(&instance.key, "Marking for deletion");
        let condition = PodCondition {
            type_: "DisruptionTarget".into(),
            status: ConditionStatus::True,
            reason: "DeletionByDeviceTaintManager".into(),
            message: "Device Taint manager: deleting due to NoExecute taint".into(),
            ..PodCondition::default()
        };
        let same = pod.condition(&condition.type_).is_some_and(|known| {
            known.status == condition.status
                && known.reason == condition.reason
                && known.message == condition.message
        });
        if same {
            self.delete(instance, reasons);
            return;
        }
        let id = self.new_id();
        let pod = instance.key.clone();
        self.requests.insert(id, Request::Patch(instance, reasons));
        self.actions.push_back(DeviceTaintEvictionAction::PatchPodStatus { id, pod, condition });
    }

    fn delete(&mut self, instance: PodInstance, reasons: Vec<Reason>) {
        let (id, pod) = (self.new_id(), instance.key.clone());
        self.requests.insert(id, Request::Delete(instance, reasons));
        self.actions.push_back(DeviceTaintEvictionAction::DeletePod { id, pod });
    }

    /// A pod was evicted: it counts for the rules among the reasons.
    fn count(&mut self, context: &mut Context<'_>, reasons: &[Reason]) {
        for reason in reasons {
            if let Reason::Rule(rule) = reason {
                *self.evicted_by_rule.entry(rule.uid.clone()).or_default() += 1;
            }
            self.update_status_later(context, reason);
        }
    }

    /// A pod needs no more looking at.
    fn finish(&mut self, instance: PodInstance) {
        self.delete_pod_at.remove(&instance);
        if !self.evicted.contains(&instance.uid) {
            if self.evicted.len() >= MOST_EVICTED {
                self.evicted.pop_front();
            }
            self.evicted.push_back(instance.uid.clone());
        }
        self.queue.forget(&Item::Pod(instance));
    }

    fn new_id(&mut self) -> RequestId {
        let id = RequestId(self.next_id);
        self.next_id += 1;
        id
    }

    fn record(&mut self, pod: &PodKey, message: &str) {
        self.actions.push_back(DeviceTaintEvictionAction::RecordEvent(RecordedEvent {
            involved_object: ObjectReference::Pod { api_version: "v1", pod: pod.clone() },
            type_: "Normal",
            reason: "DeviceTaintManagerEviction",
            message: message.into(),
            component: "device-taint-eviction-controller",
        }));
    }
}

impl Machine for DeviceTaintEvictionController {
    fn handle_change(&mut self, context: &mut Context<'_>, change: &Change) {
        match change {
            Change::Device(DeviceChange::Claim { old, new }) => {
                self.handle_claim(context, old.as_ref(), new.as_ref());
            }
            Change::Device(DeviceChange::Rule { old, new }) => {
                self.handle_rule(context, old.as_ref(), new.as_ref());
            }
            Change::Device(DeviceChange::Slice { old, new }) => {
                self.handle_slice(context, old.as_ref(), new.as_ref());
            }
            Change::Pod { key, old: Some(old), new: None } => {
                if !self.delete_pod_at.is_empty() {
                    self.delete_pod_at.remove(&PodInstance::of(key, old));
                }
            }
            Change::Pod { key, old, new: Some(new) } => {
                let looked_at = old.as_ref().is_some_and(|old| {
                    old.spec.node_name == new.spec.node_name
                        && claim_statuses(old) == claim_statuses(new)
                });
                if !looked_at {
                    self.handle_pod(context, key, new);
                }
            }
            Change::Pod { old: None, new: None, .. }
            | Change::Device(DeviceChange::Class { .. } | DeviceChange::Template)
            | Change::Node { .. }
            | Change::Workload { .. }
            | Change::Lease { .. }
            | Change::Budget { .. }
            | Change::Volume(_) => {}
        }
    }

    fn handle_timeout(&mut self, context: &mut Context<'_>) {
        match self.queue.next(context) {
            Some(Item::Pod(pod)) => self.maybe_delete_pod(context, pod),
            Some(Item::Rule(name, uid)) => self.maybe_update_rule(context, name, uid),
            None => {}
        }
    }

    fn next_timer(&self) -> Option<TimerId> {
        self.queue.next_timer()
    }

    fn timer_reason(&self) -> Option<TimeoutReason> {
        Some(match self.queue.next_timed()? {
            Item::Pod(pod) => TimeoutReason::EvictionDue { pod: pod.key.clone() },
            Item::Rule(rule, _) => TimeoutReason::UpdateTaintRule { rule: rule.clone() },
        })
    }

    /// After the controllers of workloads and the scheduler.
    fn next_work(&self) -> Option<WorkTicket> {
        self.queue.first().map(|number| (4, number))
    }
}

impl Controller for DeviceTaintEvictionController {
    type Action = DeviceTaintEvictionAction;
    type Answer = RequestResult;

    fn poll_action(&mut self, _: &mut Context<'_>) -> Option<DeviceTaintEvictionAction> {
        self.actions.pop_front()
    }

    fn handle_action_result(
        &mut self,
        context: &mut Context<'_>,
        id: RequestId,
        answer: RequestResult,
    ) {
        let Some(request) = self.requests.remove(&id) else { return };
        match (request, answer) {
            (Request::Patch(pod, reasons), answer) if answer.is_ok() => self.delete(pod, reasons),
            (Request::Delete(pod, reasons), answer) if answer.is_ok() => {
                self.count(context, &reasons);
                self.finish(pod);
            }
            (Request::Status(item), answer) if answer.is_ok() => self.queue.forget(&item),
            (Request::Patch(pod, _) | Request::Delete(pod, _), RequestResult::NotFound) => {
                self.finish(pod);
            }
            (Request::Patch(pod, _) | Request::Delete(pod, _), _) => {
                self.queue.add_rate_limited(context, Item::Pod(pod));
            }
            (Request::Status(item), _) => self.queue.add_rate_limited(context, item),
        }
    }
}

/// A moment in nanoseconds from zero on; zero if it was before.
fn timestamp(nanos: i64) -> Timestamp {
    Timestamp::from_nanos(u64::try_from(nanos).unwrap_or_default())
}

/// The pods that a count is about, and in how many namespaces they are.
fn count_pods(cluster: &Cluster, counts: &dyn Fn(&Pod) -> bool) -> (u64, u64) {
    let (mut pods, mut namespaces) = (0, OrderedSet::new());
    for (key, pod) in cluster.pods() {
        if !pod.is_terminating() && counts(pod) {
            pods += 1;
            namespaces.insert(key.namespace());
        }
    }
    (pods, u64::try_from(namespaces.len()).unwrap_or(u64::MAX))
}
