//! StatefulSets: numbered pods, at most one of each name.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::super::Simulator;
use super::deployments::comparable;
use super::{names, track};
use crate::api::{IntOrPercent, PodKey, PodPhase, Workload};

const REVISION_LABEL: &str = "controller-revision-hash";

impl Simulator {
    /// Mirrors `defaultStatefulSetControl.updateStatefulSet`. A pod that is terminating keeps its
    /// name until it is gone, so that there is never another one of that name.
    pub(super) fn reconcile_stateful_set(&mut self, set: &Arc<Workload>) {
        let one_by_one = set.text("podManagementPolicy") != "Parallel";
        let start = self.first_ordinal(set);
        let end = start + set.replicas();
        for ordinal in start..end {
            if !self.settle_ordinal(set, ordinal) && one_by_one {
                return;
            }
        }
        let mut surplus = self.ordinals(set);
        surplus.retain(|ordinal| *ordinal < start || *ordinal >= end);
        for ordinal in surplus.into_iter().rev() {
            let pod = pod_name(set, ordinal);
            let Some(object) = self.cluster.get_pod(&pod) else { continue };
            if !object.is_terminating() {
                self.controller_deletes(set, &pod);
            }
            if one_by_one {
                return;
            }
        }
        self.update_stateful_set(set, start, end);
    }

    /// Looks after one pod; whether the next may be looked at.
    fn settle_ordinal(&mut self, set: &Arc<Workload>, ordinal: i64) -> bool {
        let key = pod_name(set, ordinal);
        let Some(pod) = self.cluster.get_pod(&key).cloned() else {
            self.create_ordinal(set, ordinal, &key);
            return false;
        };
        if pod.metadata.controller_key() != Some(set.key()) {
            // Somebody else's pod of that name stands in the way.
            return false;
        }
        if matches!(pod.status.phase, PodPhase::Failed | PodPhase::Succeeded)
            && !pod.is_terminating()
        {
            let (namespace, name) = (key.namespace(), &set.metadata.name);
            let message = format!(
                "StatefulSet {namespace}/{name} is recreating {} Pod {}",
                if pod.status.phase == PodPhase::Failed { "failed" } else { "succeeded" },
                key.name()
            );
            let reason = if pod.status.phase == PodPhase::Failed {
                "RecreatingFailedPod"
            } else {
                "RecreatingTerminatedPod"
            };
            self.record(&set.key(), "Warning", reason, message);
            self.controller_deletes(set, &key);
            return false;
        }
        track::is_ready(&pod) && self.is_available(set, &pod)
    }

    fn create_ordinal(&mut self, set: &Arc<Workload>, ordinal: i64, key: &PodKey) {
        let revision = self.stateful_revision(set);
        let index = self.config.release.labels_pods_with_index();
        self.create_pod_of(set, key, |pod| {
            let labels = &mut pod.metadata.labels;
            labels.insert("statefulset.kubernetes.io/pod-name".into(), key.name().into());
            labels.insert(REVISION_LABEL.into(), revision);
            if index {
                labels.insert("apps.kubernetes.io/pod-index".into(), ordinal.to_string());
            }
            Vec::new()
        });
    }

    /// The label of pods of the present template.
    pub(super) fn stateful_revision(&mut self, set: &Workload) -> String {
        let key = set.key();
        let known = self.tracked(&key).map(|tracked| tracked.revision.clone());
        if let Some(known) = known.filter(|known| !known.is_empty()) {
            return known;
        }
        let hash = names::template_hash(&comparable(&set.spec.template));
        let revision = format!("{}-{hash}", set.metadata.name);
        self.set_revision(&key, &revision);
        revision
    }

    /// Pods of another template go one by one, the highest number first. Mirrors the last part of
    /// `updateStatefulSet`.
    fn update_stateful_set(&mut self, set: &Arc<Workload>, start: i64, end: i64) {
        if set.strategy() == "OnDelete" {
            return;
        }
        let partition = set.rolling_update("partition").ok().flatten();
        let partition = match partition {
            Some(IntOrPercent::Int(partition)) => partition,
            _ => 0,
        };
        let revision = self.stateful_revision(set);
        for ordinal in ((start + partition)..end).rev() {
            let key = pod_name(set, ordinal);
            let Some(pod) = self.cluster.get_pod(&key) else { return };
            let label = pod.metadata.labels.get(REVISION_LABEL);
            if label.is_some_and(|label| *label != revision) && !pod.is_terminating() {
                self.controller_deletes(set, &key);
                return;
            }
            if !track::is_ready(pod) {
                return;
            }
        }
    }

    fn first_ordinal(&self, set: &Workload) -> i64 {
        let start = set.spec.other.get("ordinals").and_then(|ordinals| ordinals.get("start"));
        let start = start.and_then(serde_json::Value::as_i64);
        start.filter(|_| self.config.release.has_first_ordinal()).unwrap_or(0)
    }

    /// The numbers of the pods that are there, in their order.
    fn ordinals(&self, set: &Workload) -> Vec<i64> {
        let Some(tracked) = self.tracked(&set.key()) else { return Vec::new() };
        let mut ordinals: Vec<i64> =
            tracked.pods.iter().filter_map(|pod| ordinal_of(set, pod.name())).collect();
        ordinals.sort_unstable();
        ordinals
    }
}

pub(super) fn ordinal_of(set: &Workload, name: &str) -> Option<i64> {
    let rest = name.strip_prefix(set.metadata.name.as_str())?.strip_prefix('-')?;
    rest.parse().ok().filter(|ordinal| *ordinal >= 0)
}

fn pod_name(set: &Workload, ordinal: i64) -> PodKey {
    PodKey::new(&set.metadata.namespace, &format!("{}-{ordinal}", set.metadata.name))
}
