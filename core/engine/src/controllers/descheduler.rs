//! The descheduler, with its plugin `RemovePodsViolatingNodeTaints` and none other: what a
//! `NoSchedule` taint does not do by itself. Mirrors `sigs.k8s.io/descheduler`:
//! `pkg/framework/plugins/removepodsviolatingnodetaints`, `defaultevictor` and
//! `pkg/descheduler/evictions`, as of v0.34.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use serde::{Deserialize, Serialize};
use taintlab_rules::api::{
    ConditionStatus, MIRROR_ANNOTATION, Node, NodeName, Pod, PodKey, PodPhase, PodResources,
    SYSTEM_CRITICAL_PRIORITY, Taint, TaintEffect, VolumeSource, claim_names, is_default,
};
use taintlab_rules::cluster::{Change, Cluster};
use taintlab_rules::order::OrderedMap;
use taintlab_rules::policy::matching::tolerations_tolerate_taint;
use taintlab_rules::protocol::{ObjectReference, RecordedEvent, RequestId, TimeoutReason};
use taintlab_rules::queue::timer_queue::{TimerId, TimerQueue};
use taintlab_rules::time::{Span, Timestamp};

use super::{Context, Controller, Machine, WorkTicket};

/// The annotation of a pod that may be evicted whatever the evictor's settings say of it.
const EVICT: &str = "descheduler.alpha.kubernetes.io/evict";
/// Where a kubelet got a pod from; `api` or absent for all but static pods.
const SOURCE: &str = "kubernetes.io/config.source";
/// Passes may not be closer than this.
const LEAST_INTERVAL: Duration = Duration::from_secs(1);

/// How the descheduler is set: its flag, and fields of `DeschedulerPolicy`,
/// `RemovePodsViolatingNodeTaintsArgs` and `DefaultEvictorArgs` by their own names. `nodeFit`,
/// `minReplicas`, `minPodAge` and selectors are not there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct DeschedulerSettings {
    /// `--descheduling-interval`: how often it looks through all nodes; 5m0s unless given, as its
    /// Helm chart has it. Passes are at multiples of it.
    pub descheduling_interval: Span,
    /// Whether pods leave for a taint of the effect `PreferNoSchedule` too.
    #[serde(skip_serializing_if = "is_default")]
    pub include_prefer_no_schedule: bool,
    /// Taints that do not count, as `key` or `key=value`.
    #[serde(skip_serializing_if = "is_default")]
    pub excluded_taints: Vec<String>,
    /// If any are given, the only taints that count, as `key` or `key=value`. Not together with
    /// `excludedTaints`.
    #[serde(skip_serializing_if = "is_default")]
    pub included_taints: Vec<String>,
    /// Whether pods with a volume of the type `emptyDir` or `hostPath` are evicted.
    #[serde(skip_serializing_if = "is_default")]
    pub evict_local_storage_pods: bool,
    /// Whether the pods of DaemonSets are evicted.
    #[serde(skip_serializing_if = "is_default")]
    pub evict_daemon_set_pods: bool,
    /// Whether pods of a priority of 2,000,000,000 and more are evicted.
    #[serde(skip_serializing_if = "is_default")]
    pub evict_system_critical_pods: bool,
    /// Whether failed pods without an owner are evicted. Others without an owner never are.
    #[serde(skip_serializing_if = "is_default")]
    pub evict_failed_bare_pods: bool,
    /// Whether pods with a PersistentVolumeClaim are left alone.
    #[serde(skip_serializing_if = "is_default")]
    pub ignore_pvc_pods: bool,
    /// How many pods of a node leave in one pass at most; any number unless given.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "typescript-all", tsify(optional, type = "number"))]
    pub max_no_of_pods_to_evict_per_node: Option<u32>,
    /// How many pods of a namespace leave in one pass at most; any number unless given.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "typescript-all", tsify(optional, type = "number"))]
    pub max_no_of_pods_to_evict_per_namespace: Option<u32>,
}

impl Default for DeschedulerSettings {
    fn default() -> Self {
        Self {
            descheduling_interval: Span(Duration::from_secs(300)),
            include_prefer_no_schedule: false,
            excluded_taints: Vec::new(),
            included_taints: Vec::new(),
            evict_local_storage_pods: false,
            evict_daemon_set_pods: false,
            evict_system_critical_pods: false,
            evict_failed_bare_pods: false,
            ignore_pvc_pods: false,
            max_no_of_pods_to_evict_per_node: None,
            max_no_of_pods_to_evict_per_namespace: None,
        }
    }
}

impl DeschedulerSettings {
    /// # Errors
    /// Names the field that is wrong, and what would be valid.
    pub fn check(&self) -> Result<(), String> {
        let interval = self.descheduling_interval;
        if interval.0 < LEAST_INTERVAL {
            return Err(format!(
                "descheduler.deschedulingInterval: invalid value {interval}: must be 1s or more, \
                 for example `5m`"
            ));
        }
        if !self.excluded_taints.is_empty() && !self.included_taints.is_empty() {
            return Err("descheduler.includedTaints: not together with `excludedTaints`: name \
                        either the taints that count, or those that do not"
                .into());
        }
        Ok(())
    }

    /// Whether pods that do not tolerate a taint leave for it.
    fn counts(&self, taint: &Taint) -> bool {
        let effect = match taint.effect {
            TaintEffect::NoSchedule => true,
            TaintEffect::PreferNoSchedule => self.include_prefer_no_schedule,
            TaintEffect::NoExecute | TaintEffect::Other(_) | TaintEffect::Empty => false,
        };
        let named = |names: &[String]| {
            names.iter().any(|name| {
                let pair = name.split_once('=').filter(|(_, value)| !value.is_empty());
                *name == taint.key || pair == Some((&taint.key, &taint.value))
            })
        };
        effect
            && !named(&self.excluded_taints)
            && (self.included_taints.is_empty() || named(&self.included_taints))
    }

    /// The taint for which a pod is to leave a node, if there is one.
    #[must_use]
    pub fn violated_taint<'a>(&self, pod: &Pod, node: &'a Node) -> Option<&'a Taint> {
        let mut taints = node.spec.taints.iter().filter(|taint| self.counts(taint));
        // It matches as Kubernetes does without the operators `Lt` and `Gt`.
        taints.find(|taint| !tolerations_tolerate_taint(&pod.spec.tolerations, taint, false))
    }

    /// Why a pod is never evicted, in the evictor's words; `None` if it may be. Mirrors
    /// `DefaultEvictor.Filter`.
    #[must_use]
    pub fn why_not(&self, pod: &Pod) -> Option<&'static str> {
        let annotations = &pod.metadata.annotations;
        if annotations.contains_key(EVICT) {
            return None;
        }
        let owners = &pod.metadata.owner_references;
        if annotations.contains_key(MIRROR_ANNOTATION) {
            return Some("pod is a mirror pod");
        }
        if annotations.get(SOURCE).is_some_and(|source| source != "api") {
            return Some("pod is a static pod");
        }
        if pod.is_terminating() {
            return Some("pod is terminating");
        }
        // What cannot be read is not there, as kubelets take it.
        let resources = PodResources::of(pod).unwrap_or_default();
        let critical = resources.priority.is_some_and(|it| it >= SYSTEM_CRITICAL_PRIORITY);
        if critical && !self.evict_system_critical_pods {
            return Some("pod has system critical priority and is protected against eviction");
        }
        if owners.is_empty() && !self.evict_failed_bare_pods {
            return Some("pod does not have any ownerRefs");
        }
        if owners.is_empty() && pod.status.phase != PodPhase::Failed {
            return Some("pod does not have any ownerRefs and is not in failed phase");
        }
        if !self.evict_daemon_set_pods && owners.iter().any(|owner| owner.kind == "DaemonSet") {
            return Some("daemonset pods are protected against eviction");
        }
        let is_local = resources.volumes.iter().any(|volume| {
            matches!(volume.source, VolumeSource::EmptyDir { .. } | VolumeSource::HostPath)
        });
        if is_local && !self.evict_local_storage_pods {
            return Some("pod has local storage and is protected against eviction");
        }
        if self.ignore_pvc_pods && claim_names(pod).is_ok_and(|claims| !claims.is_empty()) {
            return Some("pod with PVC is protected against eviction");
        }
        None
    }

    /// Whether a pass evicts a pod from its node, as far as budgets and limits let it.
    fn evicts(&self, cluster: &Cluster, pod: &Pod) -> bool {
        let node = cluster.get_node(&pod.spec.node_name).filter(|node| is_ready(node));
        node.is_some_and(|node| self.violated_taint(pod, node).is_some())
            && self.why_not(pod).is_none()
    }
}

/// What the descheduler wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeschedulerAction {
    /// `POST` an `Eviction` of a pod, with the pod's own grace period.
    Evict {
        /// For [`Controller::handle_action_result`]: whether it was granted.
        id: RequestId,
        /// Which pod.
        pod: PodKey,
    },
    /// Record a Kubernetes Event.
    RecordEvent(RecordedEvent),
}

/// The descheduler. A pass is not planned where nothing would come of it.
#[derive(Clone, Debug)]
pub struct Descheduler {
    settings: DeschedulerSettings,
    /// The next pass, if one is planned.
    timers: TimerQueue<()>,
    planned: bool,
    /// Pods that the pass under way still asks for, by node.
    queue: VecDeque<(NodeName, PodKey)>,
    /// The eviction that is asked for.
    asked: Option<(RequestId, NodeName, PodKey)>,
    /// How many the pass has evicted so far.
    from_nodes: OrderedMap<NodeName, u32>,
    from_namespaces: OrderedMap<String, u32>,
    next_id: u64,
    events: VecDeque<RecordedEvent>,
}

impl Descheduler {
    /// A descheduler that knows nothing yet.
    #[must_use]
    pub fn new(settings: DeschedulerSettings) -> Self {
        Self {
            settings,
            timers: TimerQueue::default(),
            planned: false,
            queue: VecDeque::new(),
            asked: None,
            from_nodes: OrderedMap::new(),
            from_namespaces: OrderedMap::new(),
            next_id: 0,
            events: VecDeque::new(),
        }
    }

    /// Plans the next pass, later than now.
    fn plan(&mut self, context: &mut Context<'_>) {
        if self.planned {
            return;
        }
        self.planned = true;
        let interval = self.settings.descheduling_interval.0.max(LEAST_INTERVAL).as_nanos();
        let next = (context.now.since_zero().as_nanos() / interval).saturating_add(1) * interval;
        let next = Timestamp::from_nanos(u64::try_from(next).unwrap_or(u64::MAX));
        self.timers.start(context.sequence, next, ());
    }

    /// A pass looks through the nodes that are ready, whether pods may be bound to them or not.
    /// Mirrors `RemovePodsViolatingNodeTaints.Deschedule`; there the pods of a node come in no
    /// order, here in that of their names.
    fn look_through(&mut self, cluster: &Cluster) {
        self.from_nodes.clear();
        self.from_namespaces.clear();
        for (name, _) in cluster.nodes() {
            let pods = cluster.pods_of(name.as_str());
            let pods = pods.filter(|(_, pod)| self.settings.evicts(cluster, pod));
            self.queue.extend(pods.map(|(key, _)| (name.clone(), key.clone())));
        }
    }

    /// Whether the pass may evict one more pod. Mirrors `PodEvictor.EvictPod`.
    fn has_room(&self, node: &NodeName, pod: &PodKey) -> bool {
        let settings = &self.settings;
        let of_node = self.from_nodes.get(node).copied().unwrap_or_default();
        let of_namespace = self.from_namespaces.get(pod.namespace()).copied().unwrap_or_default();
        settings.max_no_of_pods_to_evict_per_node.is_none_or(|most| of_node < most)
            && settings.max_no_of_pods_to_evict_per_namespace.is_none_or(|most| of_namespace < most)
    }

    /// What a pass leaves is for the next one.
    fn end_pass(&mut self, context: &mut Context<'_>) {
        let cluster = context.cluster;
        if cluster.pods().any(|(_, pod)| self.settings.evicts(cluster, pod)) {
            self.plan(context);
        }
    }
}

impl Machine for Descheduler {
    fn handle_change(&mut self, context: &mut Context<'_>, change: &Change) {
        if self.planned {
            return;
        }
        let cluster = context.cluster;
        let settings = &self.settings;
        let matters = match change {
            Change::Node { name, .. } => {
                cluster.pods_of(name.as_str()).any(|(_, pod)| settings.evicts(cluster, pod))
            }
            Change::Pod { new: Some(pod), .. } => settings.evicts(cluster, pod),
            Change::Pod { new: None, .. }
            | Change::Lease { .. }
            | Change::Workload { .. }
            | Change::Budget { .. }
            | Change::Volume(_)
            | Change::Device(_) => false,
        };
        if matters {
            self.plan(context);
        }
    }

    fn handle_timeout(&mut self, context: &mut Context<'_>) {
        if self.timers.pop_due(context.now).is_some() {
            self.planned = false;
            self.look_through(context.cluster);
        }
    }

    fn next_timer(&self) -> Option<TimerId> {
        self.timers.next()
    }

    fn timer_reason(&self) -> Option<TimeoutReason> {
        self.timers.peek().map(|()| TimeoutReason::Deschedule)
    }

    fn next_work(&self) -> Option<WorkTicket> {
        None
    }
}

impl Controller for Descheduler {
    type Action = DeschedulerAction;
    /// Whether an eviction was granted.
    type Answer = bool;

    fn poll_action(&mut self, context: &mut Context<'_>) -> Option<DeschedulerAction> {
        if let Some(event) = self.events.pop_front() {
            return Some(DeschedulerAction::RecordEvent(event));
        }
        if self.asked.is_some() {
            return None;
        }
        while let Some((node, pod)) = self.queue.pop_front() {
            if self.has_room(&node, &pod) {
                let id = RequestId(self.next_id);
                self.next_id += 1;
                self.asked = Some((id, node, pod.clone()));
                return Some(DeschedulerAction::Evict { id, pod });
            }
            if self.queue.is_empty() {
                self.end_pass(context);
            }
        }
        None
    }

    fn handle_action_result(&mut self, context: &mut Context<'_>, id: RequestId, granted: bool) {
        let Some((_, node, pod)) = self.asked.take_if(|(asked, ..)| *asked == id) else { return };
        if granted {
            *self.from_nodes.entry(node.clone()).or_default() += 1;
            *self.from_namespaces.entry(pod.namespace().into()).or_default() += 1;
            self.events.push_back(RecordedEvent {
                involved_object: ObjectReference::Pod { api_version: "v1", pod },
                type_: "Normal",
                reason: "RemovePodsViolatingNodeTaints",
                message: format!("pod evicted from {node} node by sigs.k8s.io/descheduler"),
                component: "sigs.k8s.io.descheduler",
            });
        }
        if self.queue.is_empty() {
            self.end_pass(context);
        }
    }
}

/// Whether the descheduler looks at a node. Mirrors `nodeutil.IsReady`.
fn is_ready(node: &Node) -> bool {
    node.condition("Ready").is_none_or(|ready| ready.status == ConditionStatus::True)
}
