//! Workloads and pods, to look at.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use serde::Serialize;
use serde_json::Value;

use super::super::Simulator;
use super::track::{has_ready_condition, is_active, is_ready};
use crate::api::{
    Pod, PodKey, PodPhase, START_UP_TIME_ANNOTATION, Workload, WorkloadKey, WorkloadKind,
};
use crate::time::parse_duration;

/// A workload and how its pods are doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct WorkloadView {
    /// Which one.
    pub workload: WorkloadKey,
    /// Whether it is not here, but pods name it as their controller: it is assumed to want the pods
    /// that were there.
    pub assumed: bool,
    /// Its own controller: the Deployment of a ReplicaSet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<WorkloadKey>,
    /// How many pods it wants.
    pub desired: i64,
    /// How many it has that are neither terminating nor at their end.
    pub current: i64,
    /// How many of those are of the present template.
    pub updated: i64,
    /// How many of those it has are ready.
    pub ready: i64,
    /// How many have been ready for `minReadySeconds`.
    pub available: i64,
    /// How many are missing from what it wants.
    pub unavailable: i64,
    /// How many are terminating.
    pub terminating: i64,
    /// Those that have no node, and why.
    pub pending: Vec<PendingPod>,
    /// All its pods, also those that are terminating or have ended, by name.
    pub pods: Vec<PodKey>,
}

/// A pod that has no node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct PendingPod {
    /// Which one.
    pub pod: PodKey,
    /// Why, in the scheduler's words; empty if it has not been tried.
    pub reason: String,
}

/// A pod as a line of `kubectl get pods`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PodStatusView {
    /// How many containers are ready: all or none.
    pub ready: usize,
    /// How many containers there are.
    pub containers: usize,
    /// The column STATUS.
    pub status: String,
}

/// What `kubectl get pods` shows in the columns READY and STATUS. Mirrors `printPod`, as far as a
/// pod has that state here.
#[must_use]
pub fn pod_status(pod: &Pod) -> PodStatusView {
    let listed = pod.spec.other.get("containers").and_then(Value::as_array).map(Vec::len);
    let containers = listed.unwrap_or(1).max(1);
    let phase = match &pod.status.phase {
        // A pod on a node whose phase was never written runs.
        PodPhase::Empty if pod.spec.node_name.is_empty() => &PodPhase::Pending,
        PodPhase::Empty => &PodPhase::Running,
        phase => phase,
    };
    let mut status = phase.to_string();
    if !pod.status.reason.is_empty() {
        status.clone_from(&pod.status.reason);
    } else if *phase == PodPhase::Pending && !pod.spec.node_name.is_empty() {
        status = "ContainerCreating".into();
    } else if *phase == PodPhase::Pending
        && pod.condition("PodScheduled").is_some_and(|known| known.reason == "SchedulingGated")
    {
        status = "SchedulingGated".into();
    }
    if *phase == PodPhase::Succeeded && pod.status.reason.is_empty() {
        status = "Completed".into();
    }
    if pod.is_terminating() {
        let lost = pod.status.reason == crate::node_lifecycle::NODE_LOST;
        status = if lost { "Unknown" } else { "Terminating" }.into();
    }
    let ready = *phase == PodPhase::Running
        && (has_ready_condition(pod) || pod.condition("Ready").is_none());
    PodStatusView { ready: if ready { containers } else { 0 }, containers, status }
}

impl Workload {
    /// How long its pods take to start, if it says so.
    ///
    /// # Errors
    /// The annotation is no duration.
    pub fn start_up_time(&self) -> Result<Option<Duration>, String> {
        start_up_time(&self.metadata.annotations)
    }
}

/// What an object's annotation says of the time pods take to start.
pub(super) fn start_up_time(
    annotations: &alloc::collections::BTreeMap<String, String>,
) -> Result<Option<Duration>, String> {
    let Some(text) = annotations.get(START_UP_TIME_ANNOTATION) else { return Ok(None) };
    let time = parse_duration(text)
        .map_err(|error| format!("metadata.annotations[{START_UP_TIME_ANNOTATION}]: {error}"))?;
    Ok(Some(time))
}

impl Simulator {
    /// A workload and how its pods are doing; `None` if there is no such workload.
    #[must_use]
    pub fn workload_view(&self, key: &WorkloadKey) -> Option<WorkloadView> {
        let workload = self.cluster.get_workload(key)?;
        let pods = self.pods_of_workload(key);
        let objects = || pods.iter().filter_map(|key| self.cluster.get_pod(key));
        let of = |test: &dyn Fn(&Pod) -> bool| {
            i64::try_from(objects().filter(|pod| test(pod)).count()).unwrap_or(i64::MAX)
        };
        let tracked = self.control.as_ref()?.tracked.get(key)?;
        let available = of(&|pod| is_ready(pod) && self.is_available(workload, pod));
        let pending = objects().filter(|pod| pod.spec.node_name.is_empty() && is_active(pod));
        let pending = pending.map(|pod| PendingPod {
            pod: pod.key(),
            reason: pod
                .condition("PodScheduled")
                .map_or_else(String::new, |condition| condition.message.clone()),
        });
        Some(WorkloadView {
            workload: key.clone(),
            assumed: workload.assumed,
            owner: workload.owner(),
            desired: tracked.desired,
            current: of(&is_active),
            updated: of(&|pod| is_active(pod) && self.is_updated(workload, pod)),
            ready: of(&is_ready),
            available,
            unavailable: (tracked.desired - available).max(0),
            terminating: of(&|pod| pod.is_terminating()),
            pending: pending.collect(),
            pods: pods.iter().cloned().collect(),
        })
    }

    /// The pods of a workload, those of its ReplicaSets included.
    #[must_use]
    pub fn pods_of_workload(&self, key: &WorkloadKey) -> BTreeSet<PodKey> {
        let Some(control) = &self.control else { return BTreeSet::new() };
        let Some(tracked) = control.tracked.get(key) else { return BTreeSet::new() };
        let children = tracked.children.iter().filter_map(|child| control.tracked.get(child));
        let own = tracked.pods.iter();
        own.chain(children.flat_map(|child| child.pods.iter())).cloned().collect()
    }

    /// Whether a pod has been ready for the `minReadySeconds` of its workload. Mirrors
    /// `podutil.IsPodAvailable`.
    pub(super) fn is_available(&self, workload: &Workload, pod: &Pod) -> bool {
        let seconds = workload.number("minReadySeconds").unwrap_or(0);
        let since = pod.condition("Ready").and_then(|ready| ready.last_transition_time);
        match since {
            Some(since) if seconds > 0 => {
                self.wall_clock(self.now()).unix_seconds() >= since.unix_seconds() + seconds
            }
            _ => seconds <= 0,
        }
    }

    /// Whether a pod is of the present template of its workload.
    fn is_updated(&self, workload: &Workload, pod: &Pod) -> bool {
        let Some(control) = &self.control else { return true };
        let Some(tracked) = control.tracked.get(&workload.key()) else { return true };
        match workload.kind {
            WorkloadKind::Deployment => {
                tracked.revision.is_empty()
                    || pod.metadata.controller().is_some_and(|owner| owner.name == tracked.revision)
            }
            WorkloadKind::StatefulSet | WorkloadKind::DaemonSet => {
                let label = pod.metadata.labels.get("controller-revision-hash");
                tracked.revision.is_empty() || label.is_none_or(|hash| *hash == tracked.revision)
            }
            WorkloadKind::ReplicaSet | WorkloadKind::Job => true,
        }
    }
}
