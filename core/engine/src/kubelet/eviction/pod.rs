//! A pod as the kubelet sees it.

use alloc::string::String;
use alloc::vec::Vec;

use taintlab_rules::api::{
    ContainerResources, MIRROR_ANNOTATION, Pod, PodKey, PodPhase, PodResources, QosClass, Quantity,
    ResourceError, Resources, Shared, Toleration,
};

use super::version::KubeletVersion;

pub use taintlab_rules::api::SYSTEM_CRITICAL_PRIORITY;
/// Where a pod comes from: `api`, else it is a static pod of the node itself.
const CONFIG_SOURCE: &str = "kubernetes.io/config.source";
/// Marked critical pods in 1.5.
const CRITICAL_POD: &str = "scheduler.alpha.kubernetes.io/critical-pod";

/// A pod as the kubelet sees it: what eviction reads of it.
#[derive(Clone, Debug, PartialEq)]
pub struct KubeletPod {
    /// Namespace and name.
    pub key: PodKey,
    /// The UID.
    pub uid: String,
    /// Containers, volumes, overhead.
    pub resources: PodResources,
    /// What it tolerates.
    pub tolerations: Shared<Vec<Toleration>>,
    /// `spec.terminationGracePeriodSeconds`.
    pub termination_grace_period_seconds: Option<i64>,
    /// The QoS class.
    pub qos_class: QosClass,
    /// Why the kubelet spares it, if it does.
    pub critical: Option<Critical>,
    /// Whether its phase says that it runs no more.
    pub is_terminated: bool,
    /// The request of memory of the whole pod.
    pub memory_request: Quantity,
    /// The request of ephemeral storage of the whole pod.
    pub ephemeral_storage_request: Quantity,
    /// The limit of ephemeral storage of the whole pod.
    pub ephemeral_storage_limit: Option<Quantity>,
}

/// Why the kubelet spares a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub enum Critical {
    /// It comes from the node itself.
    Static,
    /// It is the copy of one that does.
    Mirror,
    /// Its priority is that of the system.
    Priority,
    /// It is in `kube-system` and has the annotation of critical pods (1.5); only admission asks.
    Annotation,
}

impl KubeletPod {
    /// Reads a pod as a user wrote it: what the API server would fill in is filled in.
    ///
    /// # Errors
    /// Names a field that cannot be read.
    pub fn new(version: KubeletVersion, pod: &Pod) -> Result<Self, ResourceError> {
        let mut resources = PodResources::of(pod)?;
        resources.set_defaults();
        Ok(Self::with_resources(version, pod, resources))
    }

    /// Reads a pod that an API server gave: nothing is filled in.
    ///
    /// # Errors
    /// Names a field that cannot be read.
    pub fn as_stored(version: KubeletVersion, pod: &Pod) -> Result<Self, ResourceError> {
        Ok(Self::with_resources(version, pod, PodResources::of(pod)?))
    }

    fn with_resources(version: KubeletVersion, pod: &Pod, mut resources: PodResources) -> Self {
        if !version.rule(false, |release| release.has_pod_level_resources()) {
            resources.pod_level = None;
        }
        let memory = |list: &Resources| list.memory.clone();
        let storage = |list: &Resources| list.ephemeral_storage.clone();
        let phase = &pod.status.phase;
        if !version.rule(false, |release| release.has_sidecar_containers()) {
            resources.init_containers.iter_mut().for_each(|container| container.is_sidecar = false);
        }
        Self {
            key: pod.key(),
            uid: pod.metadata.uid.clone(),
            tolerations: pod.spec.tolerations.clone(),
            termination_grace_period_seconds: pod.spec.termination_grace_period_seconds,
            qos_class: resources.qos_class(),
            critical: critical(version, pod, resources.priority),
            is_terminated: matches!(phase, PodPhase::Failed | PodPhase::Succeeded),
            memory_request: request(&resources, memory),
            ephemeral_storage_request: request(&resources, storage),
            ephemeral_storage_limit: total(&resources, |c| storage(&c.limits), storage),
            resources,
        }
    }

    /// The priority; 0 if it has none. Mirrors `corev1helpers.PodPriority`.
    #[must_use]
    pub fn priority(&self) -> i32 {
        self.resources.priority.unwrap_or_default()
    }

    /// Whether the kubelet refuses to evict it. Mirrors `kubelettypes.IsCriticalPod`.
    #[must_use]
    pub fn is_spared(&self) -> bool {
        !matches!(self.critical, None | Some(Critical::Annotation))
    }
}

/// Mirrors `kubelettypes.IsCriticalPod`, and that of 1.5.
fn critical(version: KubeletVersion, pod: &Pod, priority: Option<i32>) -> Option<Critical> {
    let annotation = |name: &str| pod.metadata.annotations.get(name);
    if version.is_qos_era() {
        let is_critical = pod.metadata.namespace == "kube-system"
            && annotation(CRITICAL_POD).is_some_and(String::is_empty);
        return is_critical.then_some(Critical::Annotation);
    }
    if annotation(CONFIG_SOURCE).is_some_and(|source| source != "api") {
        Some(Critical::Static)
    } else if annotation(MIRROR_ANNOTATION).is_some() {
        Some(Critical::Mirror)
    } else if priority.is_some_and(|priority| priority >= SYSTEM_CRITICAL_PRIORITY) {
        Some(Critical::Priority)
    } else {
        None
    }
}

/// Whether a pod comes from a file of its node, or stands for one that does: the kubelet admits
/// such pods whatever taints the node has. Mirrors `kubelettypes.IsStaticPod`.
pub(crate) fn is_static_pod(pod: &Pod) -> bool {
    let annotation = |name: &str| pod.metadata.annotations.get(name);
    annotation(CONFIG_SOURCE).is_some_and(|source| source != "api")
        || annotation(MIRROR_ANNOTATION).is_some()
}

/// What a pod asks for of a resource, zero if nothing. Mirrors `GetResourceRequestQuantity`.
fn request(resources: &PodResources, of: impl Fn(&Resources) -> Option<Quantity>) -> Quantity {
    match &resources.pod_level {
        // Requests of containers do not count then, not even of other resources.
        Some(pod) => {
            let mut request = of(&pod.requests).unwrap_or_default();
            if let Some(overhead) = of(&resources.overhead).filter(|_| request.sign() != 0) {
                request.add(&overhead);
            }
            request
        }
        None => total(resources, |container| of(&container.requests), &of).unwrap_or_default(),
    }
}

/// The sum over containers and sidecars, raised to that of any single init container beside the
/// sidecars before it, plus the overhead unless the sum is zero; `None` if no container says
/// anything. Mirrors `PodRequestsAndLimits`.
fn total(
    resources: &PodResources,
    of: impl Fn(&ContainerResources) -> Option<Quantity>,
    overhead: impl Fn(&Resources) -> Option<Quantity>,
) -> Option<Quantity> {
    let mut sum: Option<Quantity> = None;
    let add = |sum: &mut Option<Quantity>, quantity: &Quantity| match sum {
        Some(sum) => sum.add(quantity),
        None => *sum = Some(quantity.clone()),
    };
    for quantity in resources.containers.iter().filter_map(&of) {
        add(&mut sum, &quantity);
    }
    let (mut sidecars, mut largest): (Option<Quantity>, Option<Quantity>) = (None, None);
    for container in &resources.init_containers {
        let Some(quantity) = of(container) else { continue };
        let mut needed = sidecars.clone();
        add(&mut needed, &quantity);
        if container.is_sidecar {
            add(&mut sum, &quantity);
            add(&mut sidecars, &quantity);
        }
        if let Some(needed) = needed
            && largest.as_ref().is_none_or(|largest| largest.compare(&needed).is_lt())
        {
            largest = Some(needed);
        }
    }
    if let Some(largest) = largest
        && sum.as_ref().is_none_or(|sum| sum.compare(&largest).is_lt())
    {
        sum = Some(largest);
    }
    if let Some(overhead) = overhead(&resources.overhead)
        && let Some(sum) = sum.as_mut().filter(|sum| sum.sign() != 0)
    {
        sum.add(&overhead);
    }
    sum
}
