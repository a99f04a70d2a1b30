//! Pods and nodes as the scheduler sees them. Mirrors `framework.PodInfo` and `framework.NodeInfo`.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Deref;

use serde_json::Value;

use super::groups::PodGroup;
use super::needs::PodNeeds;
use crate::api::{Amounts, HostPort, Labels, Node, Pod, PodKey, ResourceError, Taint, pod_claims};
use crate::order::{OrderedMap, OrderedSet};
use crate::protocol::zone::ZoneKey;
use crate::release::KubernetesRelease;
use crate::time::Time;

/// A pod with its requests, and with all by which others choose it. Mirrors `framework.PodInfo`.
#[derive(Clone, Debug)]
pub(super) struct PodInfo {
    /// The part that other pods can see.
    pub(super) group: Arc<PodGroup>,
    /// Needs that it shares with pods that are alike.
    pub(super) needs: Arc<PodNeeds>,
    pub(super) node_name: String,
    /// Whether the scheduler preempted it, as its condition says.
    pub(super) preempted: bool,
    /// `status.startTime`.
    pub(super) start_time: Option<Time>,
    /// Later ones came to their node later.
    pub(super) entered: u64,
    /// The claims of its volumes.
    pub(super) claims: Vec<PodKey>,
}

impl Deref for PodInfo {
    type Target = PodNeeds;

    fn deref(&self) -> &PodNeeds {
        &self.needs
    }
}

impl PodInfo {
    /// Reads a pod; nothing is read twice that `alike`, another pod, has as well.
    pub(super) fn of(
        pod: &Pod,
        release: KubernetesRelease,
        alike: Option<(&Arc<PodGroup>, &Arc<PodNeeds>)>,
    ) -> Result<Self, ResourceError> {
        let alike = alike.filter(|(_, needs)| needs.are_of(pod));
        let needs = match alike {
            Some((_, needs)) => needs.clone(),
            None => Arc::new(PodNeeds::read(pod, release)?),
        };
        let metadata = &pod.metadata;
        let owner = metadata.controller();
        let key = pod.key();
        let group = alike.map(|(group, _)| group).filter(|group| {
            let same_owner = match (owner, &group.owner) {
                (Some(owner), Some((kind, name))) => (&owner.kind, &owner.name) == (kind, name),
                (owner, known) => owner.is_none() && known.is_none(),
            };
            same_owner
                && group.namespace == key.namespace()
                && group.terminating == pod.is_terminating()
                && group.labels == metadata.labels
        });
        let group = group.cloned().unwrap_or_else(|| {
            Arc::new(PodGroup {
                namespace: key.namespace().to_string(),
                owner: owner.map(|owner| (owner.kind.clone(), owner.name.clone())),
                terminating: pod.is_terminating(),
                labels: metadata.labels.clone(),
                affinity: needs.fields.pod_affinity.clone(),
            })
        });
        Ok(Self {
            group,
            needs,
            node_name: pod.spec.node_name.clone(),
            preempted: is_preempted(pod),
            start_time: pod.start_time(),
            entered: 0,
            claims: pod_claims(pod),
        })
    }
}

/// A node and what is on it. Mirrors `framework.NodeInfo`.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeInfo {
    pub(super) name: Arc<str>,
    /// Place among the nodes, which stays the same as long as it is there or has pods.
    pub(super) place: usize,
    /// Another one after each change of the node or its pods.
    pub(super) version: u64,
    /// Pods can be bound to a node that is not there (any more).
    pub(super) exists: bool,
    pub(super) labels: Labels,
    /// The zone that its labels say.
    pub(super) zone: ZoneKey,
    pub(super) taints: Vec<Taint>,
    pub(super) unschedulable: bool,
    pub(super) allocatable: Amounts,
    pub(super) requested: Amounts,
    pub(super) scored_requested: Amounts,
    pub(super) pods: OrderedMap<PodKey, Arc<PodInfo>>,
    /// The ports of the node that pods take. A pod that goes gives its ports back, even if another
    /// one has the same, as upstream.
    pub(super) ports: OrderedSet<HostPort>,
    /// `status.images`: of each name the size of the image, and how many nodes had it when the node
    /// was added or has changed.
    pub(super) images: OrderedMap<String, (i64, usize)>,
    /// Controllers whose pods the node would rather not have.
    pub(super) avoids: Vec<AvoidedController>,
}

/// A controller whose pods a node would rather not have: kind and UID. Mirrors
/// `v1.PreferAvoidPodsEntry`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AvoidedController {
    pub(super) kind: String,
    pub(super) uid: String,
}

impl AvoidedController {
    /// Controllers in the annotation of a node; none if that cannot be read. Mirrors
    /// `GetAvoidPodsFromNodeAnnotations`.
    pub(super) fn all_of(node: &Node) -> Vec<Self> {
        let annotation = "scheduler.alpha.kubernetes.io/preferAvoidPods";
        let text = node.metadata.annotations.get(annotation).map_or("", String::as_str);
        let Ok(value) = serde_json::from_str::<Value>(text) else { return Vec::new() };
        let entries = value.get("preferAvoidPods").and_then(Value::as_array);
        let avoided = |entry: &Value| {
            let controller = entry.get("podSignature")?.get("podController")?;
            let text = |name: &str| Some(controller.get(name)?.as_str()?.to_string());
            Some(Self { kind: text("kind")?, uid: text("uid").unwrap_or_default() })
        };
        entries.into_iter().flatten().filter_map(avoided).collect()
    }
}

fn is_preempted(pod: &Pod) -> bool {
    let condition = pod.condition(DISRUPTION_TARGET);
    condition.is_some_and(|condition| condition.reason == PREEMPTION_BY_SCHEDULER)
}

/// The condition of pods that are about to go for another's sake.
pub(super) const DISRUPTION_TARGET: &str = "DisruptionTarget";

/// Its reason if the scheduler preempts the pod. Mirrors `PodReasonPreemptionByScheduler`.
pub(super) const PREEMPTION_BY_SCHEDULER: &str = "PreemptionByScheduler";

/// Adds amounts to a sum, or takes them off it (`sign` -1).
pub(super) fn add(sum: &mut Amounts, amounts: &Amounts, sign: i64) {
    for (name, amount) in amounts {
        let more = amount.saturating_mul(sign);
        match sum.get_mut(name) {
            Some(total) => *total = total.saturating_add(more),
            None => _ = sum.insert(name.clone(), more),
        }
    }
}
