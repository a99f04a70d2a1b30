//! The controllers of workloads: what they have in common, ReplicaSets and Jobs.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::super::Simulator;
use super::start::creation_error;
use super::{names, track};
use crate::admission::{Addition, AdmissionPlugin};
use crate::api::{Pod, PodKey, PodPhase, Toleration, Workload, WorkloadKey, WorkloadKind};
use crate::event::{Happening, ObjectReference, RecordedEvent};

/// `source.component` of the events of a kind's controller.
const fn component(kind: WorkloadKind) -> &'static str {
    match kind {
        WorkloadKind::Deployment => "deployment-controller",
        WorkloadKind::ReplicaSet => "replicaset-controller",
        WorkloadKind::StatefulSet => "statefulset-controller",
        WorkloadKind::DaemonSet => "daemonset-controller",
        WorkloadKind::Job => "job-controller",
    }
}

impl Simulator {
    /// The controller looks at one workload.
    pub(super) fn reconcile(&mut self, key: &WorkloadKey) {
        let Some(workload) = self.cluster.get_workload(key).cloned() else { return };
        match key.kind {
            WorkloadKind::Deployment => self.reconcile_deployment(&workload),
            WorkloadKind::ReplicaSet => self.reconcile_replica_set(&workload),
            WorkloadKind::StatefulSet => self.reconcile_stateful_set(&workload),
            WorkloadKind::DaemonSet => self.reconcile_daemon_set(&workload),
            WorkloadKind::Job => self.reconcile_job(&workload),
        }
    }

    /// Mirrors `ReplicaSetController.manageReplicas`.
    fn reconcile_replica_set(&mut self, set: &Arc<Workload>) {
        let key = set.key();
        let missing = set.replicas() - self.tracked(&key).map_or(0, |tracked| tracked.active);
        for _ in 0..missing {
            if !self.create_suffixed_pod(set) {
                return;
            }
        }
        if missing < 0 {
            let surplus = usize::try_from(-missing).unwrap_or(0);
            for pod in self.surplus_pods(&key, surplus) {
                self.controller_deletes(set, &pod);
            }
        }
        self.await_availability(set);
    }

    /// Mirrors `Controller.manageJob`, as far as eviction matters. What a pod of a Job does, and for
    /// how long, is not simulated: it runs until somebody ends it.
    fn reconcile_job(&mut self, job: &Arc<Workload>) {
        let key = job.key();
        let Some(tracked) = self.tracked(&key) else { return };
        let (active, succeeded) = (tracked.active, tracked.succeeded);
        let (failed, pods) = (tracked.failed, tracked.pods.clone());
        let limit = job.number("backoffLimit").unwrap_or(6);
        if failed > limit {
            self.fail_job(job);
            return;
        }
        if job.spec.other.get("suspend").is_some_and(|suspend| *suspend == true) {
            return;
        }
        let terminating = pods.iter().filter_map(|pod| self.cluster.get_pod(pod));
        let terminating = terminating.filter(|pod| {
            pod.is_terminating()
                && !matches!(pod.status.phase, PodPhase::Succeeded | PodPhase::Failed)
        });
        // With `Failed`, a pod is replaced when it has ended, not when it is deleted.
        let waits = self.config.release.has_pod_replacement_policy()
            && (job.text("podReplacementPolicy") == "Failed"
                || job.spec.other.get("podFailurePolicy").is_some());
        let taken = active + if waits { count(terminating) } else { 0 };
        let parallel = job.replicas();
        let wanted = match job.number("completions") {
            Some(completions) => parallel.min((completions - succeeded).max(0)),
            None if job.spec.other.get("parallelism").is_none() => (1 - succeeded).max(0),
            None if succeeded > 0 => active.min(parallel),
            None => parallel,
        };
        for _ in taken..wanted {
            if !self.create_suffixed_pod(job) {
                return;
            }
        }
        if wanted < active {
            let surplus = usize::try_from(active - wanted).unwrap_or(0);
            for pod in self.surplus_pods(&key, surplus) {
                self.controller_deletes(job, &pod);
            }
        }
    }

    fn fail_job(&mut self, job: &Arc<Workload>) {
        let key = job.key();
        let said = "Job has reached the specified backoff limit";
        let tracked = self.control.as_mut().and_then(|control| control.tracked.get_mut(&key));
        let Some(tracked) = tracked else { return };
        let first = !core::mem::replace(&mut tracked.over, true);
        let pods: Vec<PodKey> = tracked.pods.iter().cloned().collect();
        for pod in pods {
            if self.cluster.get_pod(&pod).is_some_and(|pod| track::is_active(pod)) {
                self.controller_deletes(job, &pod);
            }
        }
        if first {
            self.record(&key, "Warning", "BackoffLimitExceeded", said.into());
        }
    }

    pub(super) fn tracked(&self, key: &WorkloadKey) -> Option<&track::Tracked> {
        self.control.as_ref()?.tracked.get(key)
    }

    /// A controller records an event about its workload.
    pub(super) fn record(
        &mut self,
        workload: &WorkloadKey,
        type_: &'static str,
        reason: &'static str,
        message: String,
    ) {
        self.emit(Happening::EventRecorded(RecordedEvent {
            involved_object: ObjectReference::Workload { workload: workload.clone() },
            type_,
            reason,
            message,
            component: component(workload.kind),
        }));
    }

    /// Creates a pod with a generated name; whether it was admitted.
    fn create_suffixed_pod(&mut self, owner: &Arc<Workload>) -> bool {
        let (key, namespace) = (owner.key(), owner.metadata.namespace.clone());
        let pod = loop {
            let number = self.next_number(&key);
            let suffix = names::suffix(&format!("{key}"), number);
            let name = PodKey::new(&namespace, &format!("{}-{suffix}", owner.metadata.name));
            if self.cluster.get_pod(&name).is_none() {
                break name;
            }
        };
        self.create_pod_of(owner, &pod, |_| Vec::new())
    }

    pub(super) fn next_number(&mut self, key: &WorkloadKey) -> u64 {
        let tracked = self.control.as_mut().and_then(|control| control.tracked.get_mut(key));
        let Some(tracked) = tracked else { return 0 };
        tracked.created += 1;
        tracked.created
    }

    /// Creates a pod of a workload's template; whether it was admitted.
    pub(super) fn create_pod_of(
        &mut self,
        owner: &Arc<Workload>,
        key: &PodKey,
        change: impl FnOnce(&mut Pod) -> Vec<Addition<Toleration>>,
    ) -> bool {
        let template = &owner.spec.template;
        let mut pod = Pod::default();
        pod.metadata.name = key.name().into();
        pod.metadata.namespace = key.namespace().into();
        pod.metadata.labels.clone_from(&template.metadata.labels);
        pod.metadata.annotations.clone_from(&template.metadata.annotations);
        pod.metadata.owner_references.push(owner.owner_reference());
        pod.spec = template.spec.clone();
        let mut additions = change(&mut pod);
        debug_assert!(
            additions.iter().all(|a| a.plugin == AdmissionPlugin::DaemonSetController),
            "only the DaemonSet controller adds something by itself"
        );
        let workload = owner.key();
        match self.admit_pod(&mut pod) {
            Ok(more) => additions.extend(more),
            Err(reason) => {
                let message = creation_error(key.name(), &reason);
                self.record(&workload, "Warning", "FailedCreate", message);
                return false;
            }
        }
        let message = done_to(key, owner, "create", "Created");
        self.record(&workload, "Normal", "SuccessfulCreate", message);
        self.store_new_pod(key, pod, additions);
        true
    }

    /// A controller deletes one of its pods because it is one too many, or is to be another.
    pub(super) fn controller_deletes(&mut self, owner: &Workload, pod: &PodKey) {
        let message = done_to(pod, owner, "delete", "Deleted");
        self.record(&owner.key(), "Normal", "SuccessfulDelete", message);
        self.delete_gracefully(pod, None);
    }

    /// Which pods go first where there are too many. Mirrors `ActivePodsWithRanks.Less`.
    fn surplus_pods(&self, key: &WorkloadKey, number: usize) -> Vec<PodKey> {
        let Some(tracked) = self.tracked(key) else { return Vec::new() };
        let pods = tracked.pods.iter().filter_map(|pod| Some((pod, self.cluster.get_pod(pod)?)));
        let active: Vec<(&PodKey, &Arc<Pod>)> =
            pods.filter(|(_, pod)| track::is_active(pod)).collect();
        let deletion_cost = self.config.release.has_pod_deletion_cost();
        let mut ranked: Vec<_> = active
            .iter()
            .map(|(key, pod)| {
                let phase = match pod.status.phase {
                    PodPhase::Pending => 0,
                    PodPhase::Unknown => 1,
                    _ => 2,
                };
                let cost =
                    pod.metadata.annotations.get("controller.kubernetes.io/pod-deletion-cost");
                let cost = cost.and_then(|cost| cost.parse::<i32>().ok()).filter(|_| deletion_cost);
                let here = active
                    .iter()
                    .filter(|(_, other)| other.spec.node_name == pod.spec.node_name)
                    .count();
                let ready = pod.condition("Ready").filter(|_| track::is_ready(pod));
                let since = ready.and_then(|ready| ready.last_transition_time);
                (
                    !pod.spec.node_name.is_empty(),
                    phase,
                    track::is_ready(pod),
                    cost.unwrap_or(0),
                    core::cmp::Reverse(here),
                    core::cmp::Reverse(since.map(|since| since.unix_seconds())),
                    core::cmp::Reverse(
                        pod.metadata.creation_timestamp.map(|created| created.unix_seconds()),
                    ),
                    (*key).clone(),
                )
            })
            .collect();
        ranked.sort();
        ranked.into_iter().take(number).map(|ranked| ranked.7).collect()
    }

    /// With `minReadySeconds`, a pod that is ready is available later: looks again then.
    pub(super) fn await_availability(&mut self, workload: &Workload) {
        let Some(seconds) = workload.number("minReadySeconds").filter(|seconds| *seconds > 0)
        else {
            return;
        };
        let key = workload.key();
        let Some(tracked) = self.tracked(&key) else { return };
        let pods = tracked.pods.iter().filter_map(|pod| self.cluster.get_pod(pod));
        let waits = pods.filter(|pod| track::is_ready(pod) && !self.is_available(workload, pod));
        let since = waits.filter_map(|pod| pod.condition("Ready")?.last_transition_time).min();
        if let Some(since) = since {
            let start = self.config.start.unix_seconds();
            let at = since.unix_seconds().saturating_add(seconds).saturating_sub(start);
            let at = crate::time::Timestamp::from_secs(u64::try_from(at).unwrap_or(0));
            self.control_timer(at.max(self.now), super::Due::Available(key));
        }
    }
}

/// What a controller says of a pod that it has created or deleted; that of StatefulSets in other
/// words. Mirrors `recordPodEvent`.
fn done_to(pod: &PodKey, owner: &Workload, verb: &str, done: &str) -> String {
    let pod = pod.name();
    match owner.kind {
        WorkloadKind::StatefulSet => {
            format!("{verb} Pod {pod} in StatefulSet {} successful", owner.metadata.name)
        }
        _ => format!("{done} pod: {pod}"),
    }
}

fn count<T>(items: impl Iterator<Item = T>) -> i64 {
    i64::try_from(items.count()).unwrap_or(i64::MAX)
}
