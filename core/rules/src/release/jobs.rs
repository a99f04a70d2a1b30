//! How the Job controller differs between releases.

use super::KubernetesRelease;

impl KubernetesRelease {
    /// How the Job controller waits after a failure: since 1.27 for each failed pod
    /// (kubernetes#114768).
    #[must_use]
    pub const fn job_backoff(self) -> JobBackoff {
        if self.minor >= 27 { JobBackoff::Pods } else { JobBackoff::Queue }
    }

    /// Whether Jobs are tracked with finalizers: in 1.23.0, where the gate
    /// `JobTrackingWithFinalizers` is on by default (late patches switch it off), and again since
    /// 1.25. Then a pod of a Job that is deleted counts as one that failed. Without, a Job counts
    /// those of its failed and succeeded pods that are still there.
    #[must_use]
    pub const fn tracks_jobs_with_finalizers(self) -> bool {
        self.minor == 23 || self.minor >= 25
    }
}

changes! {
    tracks_jobs_with_finalizers = 23:
        "A Job remembers pods that ended and were removed, and a pod that is deleted counts as \
         failed (the gate `JobTrackingWithFinalizers`).";
    tracks_jobs_with_finalizers = 24:
        "A Job counts those of its ended pods that are still there, and a pod that is deleted does \
         not count (the gate `JobTrackingWithFinalizers` is off again, kubernetes#109487).";
    tracks_jobs_with_finalizers = 25:
        "A Job remembers pods that ended and were removed, and a pod that is deleted counts as \
         failed (the gate `JobTrackingWithFinalizers` is on again, kubernetes#110948).";
    job_backoff = 27:
        "The Job controller waits after each failed pod, no longer in its queue \
         (kubernetes#114768).";
}

since! {
    /// Whether Jobs have `podReplacementPolicy`, and wait with a `podFailurePolicy` until a pod has
    /// ended: since 1.29, where the gate `JobPodReplacementPolicy` is on by default.
    has_pod_replacement_policy = 29;
    /// Whether the labels by which a Job knows its pods are there with the prefix
    /// `batch.kubernetes.io/` too, and it selects by that: since 1.27.
    prefixes_job_labels = 27;
    /// Whether `podFailurePolicy` of a Job counts: since 1.26, where the gate `JobPodFailurePolicy`
    /// is on by default.
    has_pod_failure_policy = 26;
    /// Whether a Job deletes pods that exceed the completions that are missing, not only those that
    /// exceed `parallelism`: since 1.21, which brought Indexed Jobs.
    deletes_surplus_job_pods = 21;
    /// Whether the pods of a Job can have numbers (`completionMode: Indexed`): since 1.22, where
    /// the gate `IndexedJob` is on by default.
    has_indexed_jobs = 22;
    /// Whether `backoffLimitPerIndex` and `maxFailedIndexes` of an Indexed Job count, and the
    /// action `FailIndex` of a failure policy: since 1.29, where the gate
    /// `JobBackoffLimitPerIndex` is on by default.
    has_backoff_limit_per_index = 29;
    /// Whether the label `batch.kubernetes.io/job-completion-index` is on the pods of an Indexed
    /// Job besides the annotation: since 1.28.
    labels_pods_with_completion_index = 28;
    /// Whether a Job that is over is deleted after `ttlSecondsAfterFinished`: since 1.21, where the
    /// gate `TTLAfterFinished` is on by default.
    has_ttl_after_finished = 21;
    /// Whether the Job controller waits for 1 s after a pod of a Job has changed, and then looks at
    /// all that has: since 1.24, where the gate `JobReadyPods` is on by default.
    batches_job_syncs = 24;
    /// Whether the status of a Job with more ready pods than active ones is refused, and with it
    /// all that a look at the Job has counted: since 1.31. A Job that waits after a failure says
    /// that it has no active pods (kubernetes#139428).
    refuses_ready_above_active = 31;
    /// Whether a Job has the condition `FailureTarget` or `SuccessCriteriaMet` until its last pod
    /// is gone, and only then `Failed` or `Complete`, and its status counts `ready` and
    /// `terminating` pods: since 1.31.
    /// The release is not certain.
    delays_end_of_jobs = 31, believed;
    /// Whether `successPolicy` of an Indexed Job counts: since 1.31, where the gate
    /// `JobSuccessPolicy` is on by default.
    /// The release is not certain.
    has_job_success_policy = 31, believed;
    /// Whether the condition of a Job that is complete has the reason `CompletionsReached`: since
    /// 1.32.
    /// The release is not certain.
    names_reached_completions = 32, believed;
    /// Whether a Job can be suspended: since 1.22, where the gate `SuspendJob` is on by default.
    has_job_suspend = 22;
}

until! {
    /// Whether a Job fails when its queue has looked again `backoffLimit` times, whatever the
    /// number of its failed pods: to 1.19; 1.20.2 is recorded to count pods.
    counts_job_requeues = 19;
    /// Whether `backoffLimit` of a Job only counts when a pod has failed that its status does not
    /// know, and not as many run as may: to 1.27, as recorded from 1.20.2.
    backoff_limit_asks_for_new_failure = 27;
}

/// How the Job controller waits after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobBackoff {
    /// The Job waits in the queue: not for the first failure, then 10 s, doubled each time, 6
    /// minutes at most.
    Queue,
    /// Pods are replaced 10 s after the last one ended, doubled for each failure since the last
    /// success, 10 minutes at most; ignored failures count, too.
    Pods,
}
