//! The first pod of a workload, for a question about a workload that does not run.

use alloc::vec::Vec;

use taintlab_rules::api::{Pod, Toleration, Workload, WorkloadKind};
use taintlab_rules::policy::admission::Addition;
use taintlab_rules::release::KubernetesRelease;

use super::workload::{component, pod_of_template, suffixed_name};
use super::{daemon_set, deployment, stateful_set};

/// A pod as its controller makes it, before admission.
pub(crate) struct FirstPod {
    pub(crate) pod: Pod,
    /// What the controller adds to the tolerations of the template.
    pub(crate) additions: Vec<Addition<Toleration>>,
    /// `source.component` of the events of the controller that makes it.
    pub(crate) controller: &'static str,
}

/// The first pod of a workload, on this node if the workload is a DaemonSet.
pub(crate) fn first_pod(workload: &Workload, node: &str, release: KubernetesRelease) -> FirstPod {
    let controller = component(workload.kind);
    let key = workload.key();
    match workload.kind {
        WorkloadKind::Deployment => {
            let hash = deployment::template_hash(workload);
            let set = deployment::replica_set_of(workload, &hash, workload.replicas());
            first_pod(&set, node, release)
        }
        WorkloadKind::ReplicaSet | WorkloadKind::Job => {
            let pod = pod_of_template(workload, &suffixed_name(&key, 1));
            FirstPod { pod, additions: Vec::new(), controller }
        }
        WorkloadKind::StatefulSet => {
            let ordinal = stateful_set::first_ordinal(workload, release);
            let mut pod = pod_of_template(workload, &stateful_set::pod_name(workload, ordinal));
            let name = pod.metadata.name.clone();
            pod.metadata.labels.insert(stateful_set::POD_NAME_LABEL.into(), name);
            FirstPod { pod, additions: Vec::new(), controller }
        }
        WorkloadKind::DaemonSet => {
            let mut pod = pod_of_template(workload, &suffixed_name(&key, 1));
            let (template, additions) = daemon_set::daemon_template(workload, node);
            pod.spec = template.spec;
            FirstPod { pod, additions, controller }
        }
    }
}
