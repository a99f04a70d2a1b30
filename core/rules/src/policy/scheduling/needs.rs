//! Needs of the pods of one template.

use alloc::vec::Vec;

use crate::api::{
    Amounts, Pod, PodSpecFields, ResourceError, SchedulingFields, Shared, Toleration,
    container_requests, pod_requests,
};
use crate::release::KubernetesRelease;

/// Amounts of a container in scores if it asks for nothing: 0.1 CPU and 200 MiB. Mirrors
/// `DefaultMilliCPURequest` and `DefaultMemoryRequest`.
const LEAST: [(&str, i64); 2] = [("cpu", 100), ("memory", 200 << 20)];

/// Needs in the `spec` of a pod, which pods of one template share.
#[derive(Debug)]
pub(super) struct PodNeeds {
    /// The fields that they were read from.
    pub(super) spec: PodSpecFields,
    pub(super) tolerations: Shared<Vec<Toleration>>,
    pub(super) requests: Amounts,
    /// Requests as its node's scores count them: at least [`LEAST`] for each container.
    pub(super) scored_requests: Amounts,
    /// Requests as its own `NodeResourcesFit` scores count them, without `spec.resources`.
    pub(super) wanted_in_scores: Amounts,
    pub(super) fields: SchedulingFields,
}

impl PodNeeds {
    /// Reads those of a pod.
    ///
    /// # Errors
    /// A field of the pod that cannot be read.
    pub(super) fn read(pod: &Pod, release: KubernetesRelease) -> Result<Self, ResourceError> {
        let requests = pod_requests(pod, release, &[])?;
        let whole = release.has_pod_level_resources()
            && pod.spec.other.get("resources").is_some_and(serde_json::Value::is_object);
        // With requests of the whole pod only what nothing asks for has a least amount.
        let least = LEAST.iter().filter(|(name, _)| !whole || !requests.contains_key(*name));
        let least: Vec<(&str, i64)> = least.copied().collect();
        Ok(Self {
            spec: pod.spec.other.clone(),
            tolerations: pod.spec.tolerations.clone(),
            scored_requests: pod_requests(pod, release, &least)?,
            wanted_in_scores: container_requests(pod, release, &LEAST)?,
            requests,
            fields: SchedulingFields::of(pod)?,
        })
    }

    /// Whether they are those of a pod.
    pub(super) fn are_of(&self, pod: &Pod) -> bool {
        self.spec == pod.spec.other && self.tolerations == pod.spec.tolerations
    }

    /// Whether a node by itself says the same to both, whatever they say of other pods.
    pub(super) fn are_like(&self, other: &Self) -> bool {
        let (own, others) = (&self.fields, &other.fields);
        self.requests == other.requests
            && self.scored_requests == other.scored_requests
            && self.wanted_in_scores == other.wanted_in_scores
            && self.tolerations == other.tolerations
            && own.priority == others.priority
            && own.never_preempts == others.never_preempts
            && own.host_ports == others.host_ports
            && own.node_selector == others.node_selector
            && own.required_node_terms == others.required_node_terms
            && own.preferred_node_terms == others.preferred_node_terms
            && self.spec.get("overhead") == other.spec.get("overhead")
    }
}
