//! Owners that pods name and nobody gave, and what imported pods say of their templates.

use alloc::boxed::Box;

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use taintlab_rules::api::{MAX_REPLICAS, Pod, PodKey, Workload, WorkloadKey, WorkloadKind};
use taintlab_rules::order::OrderedMap;
use taintlab_rules::protocol::zone::{REGION_LABEL, ZONE_LABEL};

use super::{ApiServer, Write};
use crate::controllers::stateful_set::ordinal_of;

/// Labels that a controller gives to each pod by itself.
const OWN_LABELS: [&str; 3] = [
    "statefulset.kubernetes.io/pod-name",
    "apps.kubernetes.io/pod-index",
    "controller-revision-hash",
];

impl ApiServer {
    /// The controllers that pods name and that are not there, with those pods.
    pub(crate) fn missing_owners(&self) -> OrderedMap<WorkloadKey, Vec<Arc<Pod>>> {
        let mut owners: OrderedMap<WorkloadKey, Vec<Arc<Pod>>> = OrderedMap::new();
        for (_, pod) in self.cluster.pods() {
            if let Some(owner) = pod.metadata.controller_key()
                && self.cluster.get_workload(&owner).is_none()
            {
                owners.entry(owner).or_default().push(pod.clone());
            }
        }
        owners
    }

    /// A user created a pod whose controller is not there, or only assumed.
    pub(crate) fn infer_owner_of(&mut self, key: &PodKey) -> Option<Write> {
        let owner = self.cluster.get_pod(key)?.metadata.controller_key()?;
        if self.cluster.get_workload(&owner).is_some_and(|known| !known.inferred) {
            return None;
        }
        let pods = self.cluster.pods_of_workload(&owner);
        let pods: Vec<Arc<Pod>> =
            pods.iter().filter_map(|pod| self.cluster.get_pod(pod).cloned()).collect();
        self.infer_owner(&owner, &pods)
    }

    /// A controller that nobody gave is assumed to want the pods that are there.
    pub(crate) fn infer_owner(&mut self, key: &WorkloadKey, pods: &[Arc<Pod>]) -> Option<Write> {
        let active: Vec<&Arc<Pod>> = pods.iter().filter(|pod| pod.is_active()).collect();
        let first = active.first().copied().or(pods.first())?;
        let mut workload = Workload {
            api_version: key.kind.api_version().into(),
            kind: key.kind,
            inferred: true,
            ..Workload::default()
        };
        workload.metadata.namespace = key.name.namespace().into();
        workload.metadata.name = key.name.name().into();
        let template = &mut workload.spec.template;
        template.metadata.labels.clone_from(&first.metadata.labels);
        template.metadata.annotations.clone_from(&first.metadata.annotations);
        for label in OWN_LABELS {
            template.metadata.labels.remove(label);
        }
        if self.config.release.labels_pods_with_topology() {
            for label in [REGION_LABEL, ZONE_LABEL] {
                template.metadata.labels.remove(label);
            }
        }
        template.spec = first.spec.clone();
        template.spec.node_name = String::new();
        // Admission gave it to the pod.
        if template.spec.other.get("priorityClassName").is_some() {
            template.spec.other.set("priority", serde_json::Value::Null);
        }
        let wanted = i64::try_from(active.len()).unwrap_or(i64::MAX);
        match key.kind {
            WorkloadKind::Job => {
                workload.spec.other.set("parallelism", wanted.into());
                workload.spec.other.set("completions", wanted.into());
            }
            WorkloadKind::StatefulSet => {
                let last = pods.iter().filter_map(|pod| ordinal_of(&workload, &pod.metadata.name));
                // A name with a larger number is not believed to be one of a row.
                let last = last.filter(|last| *last < MAX_REPLICAS / 100).max();
                workload.spec.replicas = Some(last.map_or(wanted, |last| last + 1));
            }
            WorkloadKind::DaemonSet => {}
            WorkloadKind::Deployment | WorkloadKind::ReplicaSet => {
                workload.spec.replicas = Some(wanted);
            }
        }
        self.default_metadata(&mut workload.metadata);
        if let Some(deployment) = self.deployment_of(&workload) {
            workload.metadata.owner_references.push(deployment.owner_reference());
        }
        Some(Write::InferOwner(Box::new(workload)))
    }

    /// The Deployment that an assumed ReplicaSet is evidently of.
    fn deployment_of(&self, set: &Workload) -> Option<Arc<Workload>> {
        if set.kind != WorkloadKind::ReplicaSet {
            return None;
        }
        let namespace = &set.metadata.namespace;
        let mut deployments = self.cluster.workloads_in(WorkloadKind::Deployment, namespace);
        let found = deployments.find(|(_, known)| {
            let rest = set.metadata.name.strip_prefix(known.metadata.name.as_str());
            let labels = &set.spec.template.metadata.labels;
            rest.is_some_and(|rest| rest.starts_with('-'))
                && known.selector().is_ok_and(|selector| selector.matches(labels))
        });
        found.map(|(_, deployment)| deployment.clone())
    }
}
