//! Workloads and pods, to look at.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;
use taintlab_rules::api::{JobStatus, Pod, PodKey, Workload, WorkloadKey, WorkloadKind};
use taintlab_rules::time::Time;

use super::control_plane::ControlPlane;
use crate::api_server::ApiServer;
use crate::controllers::job::{self, JobController};
use crate::controllers::workload::is_available_at;
use crate::eviction_timeline::time_budget::Moment;

/// A workload and how its pods are doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct WorkloadView {
    /// Which one.
    pub workload: WorkloadKey,
    /// Whether it is not here, but pods name it as their controller: it is assumed to want the pods
    /// that were there.
    pub inferred: bool,
    /// Its own controller: the Deployment of a ReplicaSet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<WorkloadKey>,
    /// How many pods it wants: of a Job no more than completions that are missing, and none once it
    /// is over or while it is suspended.
    pub desired: i64,
    /// How many it has that are neither terminating nor at their end. Of a DaemonSet these are
    /// nodes, as its controller counts them: only those on which it wants a pod.
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
    /// What else there is to know of a Job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<JobView>,
}

/// A Job and how far it has come, as its status says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct JobView {
    /// `spec.completions`; absent if one pod that ends well completes the Job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completions: Option<i64>,
    /// `spec.parallelism`: how many pods run at once.
    pub parallelism: i64,
    /// `status.active`: how many pods are neither terminating nor at their end.
    pub active: i64,
    /// `status.succeeded`: how many have ended well.
    pub succeeded: i64,
    /// `status.failed`: how many have failed.
    pub failed: i64,
    /// `spec.backoffLimit`: with more failures than that the Job fails.
    pub backoff_limit: i64,
    /// When the next pods are created, while the Job waits after failures: 10 s after the last one,
    /// doubled for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_retry: Option<Moment>,
    /// When `spec.activeDeadlineSeconds` are over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Moment>,
    /// `Complete` or `Failed`, once it is, and the reason for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished: Option<String>,
}

impl JobView {
    fn of(job: &Workload, (active, jobs): (i64, &JobController), api: &ApiServer) -> Option<Self> {
        let (start, release) = (api.config.start, api.config.release);
        if job.kind != WorkloadKind::Job {
            return None;
        }
        let status: JobStatus = job.status();
        let completions = job::completions(job);
        // The status is written when the controller looks, which may be when the wait is over.
        let waits = active < job::wanted_pods(&api.cluster, job);
        let deadline = status.start_time.zip(job.number("activeDeadlineSeconds"));
        Some(Self {
            completions,
            parallelism: job.replicas(),
            active: status.active,
            succeeded: status.succeeded,
            failed: status.failed,
            backoff_limit: job::backoff_limit(job, release),
            next_retry: jobs.next_retry(start, job).filter(|_| waits).map(Moment::from),
            deadline: deadline.map(|(since, seconds)| {
                let at = Time::from_unix_seconds(since.unix_seconds().saturating_add(seconds));
                Moment::of(at, start)
            }),
            finished: status.finished().map(|condition| match condition.reason.as_str() {
                "" => condition.type_.clone(),
                reason => format!("{}: {reason}", condition.type_),
            }),
        })
    }
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

impl ControlPlane {
    /// A workload and how its pods are doing; `None` if there is no such workload.
    pub(super) fn workload_view(&self, api: &ApiServer, key: &WorkloadKey) -> Option<WorkloadView> {
        let workload = api.cluster.get_workload(key)?;
        let pods = api.cluster.pods_of_workload(key);
        let objects = || pods.iter().filter_map(|key| api.cluster.get_pod(key));
        let of = |test: &dyn Fn(&Pod) -> bool| {
            i64::try_from(objects().filter(|pod| test(pod)).count()).unwrap_or(i64::MAX)
        };
        let desired = self.ready_history.desired(key);
        let daemons = self.daemon_sets.status(key);
        let now = api.wall_clock(api.now);
        let available = of(&|pod| pod.is_ready_replica() && is_available_at(now, workload, pod));
        let pending = objects().filter(|pod| pod.spec.node_name.is_empty() && pod.is_active());
        let pending = pending.map(|pod| PendingPod {
            pod: pod.key(),
            reason: pod
                .condition("PodScheduled")
                .map_or_else(String::new, |condition| condition.message.clone()),
        });
        let mut view = WorkloadView {
            workload: key.clone(),
            inferred: workload.inferred,
            owner: workload.owner(),
            desired,
            current: of(&Pod::is_active),
            updated: of(&|pod| pod.is_active() && self.is_updated(workload, pod)),
            ready: of(&Pod::is_ready_replica),
            available,
            unavailable: (desired - available).max(0),
            terminating: of(&|pod| pod.is_terminating()),
            pending: pending.collect(),
            pods: pods.iter().cloned().collect(),
            job: {
                let active = of(&Pod::is_active);
                let jobs = (active, &self.jobs);
                JobView::of(workload, jobs, api)
            },
        };
        if let Some(status) = daemons {
            view.current = status.current_number_scheduled;
            view.updated = status.updated_number_scheduled;
            view.ready = status.number_ready;
            view.available = status.number_available;
            view.unavailable = status.number_unavailable;
        }
        Some(view)
    }
}
