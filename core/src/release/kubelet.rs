//! How kubelets, and the resources of pods that they count, differ between releases.

use super::KubernetesRelease;

impl KubernetesRelease {
    /// Up to which fraction the kubelet takes an eviction threshold in percent: 1, and by mistake
    /// 100 (10000 %) to 1.20 (kubernetes#97321).
    #[must_use]
    pub const fn largest_eviction_fraction(self) -> f32 {
        if self.minor >= 21 { 1.0 } else { 100.0 }
    }

    /// The grace period in seconds of a pod that the kubelet evicts at once (a hard threshold, a
    /// local storage limit): 0, and 1 since 1.31 (kubernetes#124063).
    #[must_use]
    pub const fn immediate_eviction_grace_period_seconds(self) -> i64 {
        if self.minor >= 31 { 1 } else { 0 }
    }

    /// What comes before the message of a pod that the kubelet does not admit, in its status:
    /// `Pod ` to 1.25, `Pod was rejected: ` since 1.26 (kubernetes#112644). The minor is not certain.
    #[must_use]
    pub const fn rejected_pod_prefix(self) -> &'static str {
        if self.minor >= 26 { "Pod was rejected: " } else { "Pod " }
    }

    /// Whether the gate `AllowOverwriteTerminationGracePeriodSeconds` can be switched on: 1.32 to
    /// 1.34; it is locked since 1.35.
    #[must_use]
    pub const fn allows_overwriting_grace_period(self) -> bool {
        self.minor >= 32 && self.minor <= 34
    }
}

changes! {
    largest_eviction_fraction = 21:
        "The kubelet refuses eviction thresholds of more than 100 %, no longer of more than \
         10000 % (kubernetes#97321).";
    rejected_pod_prefix = 26, believed:
        "The status of a pod that the kubelet does not admit begins with `Pod was rejected: `, no \
         longer with `Pod ` (kubernetes#112644).";
    immediate_eviction_grace_period_seconds = 31:
        "A pod that the kubelet evicts at once has a grace period of 1 s, no longer 0 \
         (kubernetes#124063).";
    allows_overwriting_grace_period = 32:
        "The gate `AllowOverwriteTerminationGracePeriodSeconds` is there.";
    allows_overwriting_grace_period = 35:
        "The gate `AllowOverwriteTerminationGracePeriodSeconds` is locked.";
}

since! {
    /// Whether the kubelet does not admit a pod that does not tolerate a `NoExecute` taint of its
    /// node: since 1.22 (kubernetes#101218). The minor is not certain.
    kubelet_checks_no_execute_taints = 22, believed;
    /// Whether the kubelet says why a predicate failed by which it does not admit a pod: since 1.31
    /// (kubernetes#125498). The minor is not certain.
    kubelet_describes_failed_predicates = 31, believed;
    /// Whether the kubelet's `imagefs.inodesFree<5%` is among the default hard eviction thresholds:
    /// since 1.30 (kubernetes#121834).
    default_imagefs_inodes_threshold = 30;
    /// Whether the kubelet, after it has deleted unused containers and images, asks for the minimum
    /// reclaim too before it lets the pods be: since 1.22 (kubernetes#99095).
    reclaim_check_asks_minimum_reclaim = 22;
    /// Whether a soft eviction leaves a pod no more than its own grace period: since 1.32
    /// (kubernetes#122890), unless the gate `AllowOverwriteTerminationGracePeriodSeconds` is on.
    soft_eviction_respects_pod_grace_period = 32;
    /// Whether the kubelet's eviction message says the threshold and what is available, and about
    /// a container `request is R, has larger consumption of` (kubernetes#111597): since 1.26. The
    /// minor is not certain.
    eviction_message_tells_threshold = 26, believed;
    /// Whether the kubelet's eviction message tells of init containers: since 1.32
    /// (kubernetes#124947).
    eviction_message_tells_init_containers = 32;
    /// Whether the kubelet writes the condition `DisruptionTarget`, if the gate
    /// `PodDisruptionConditions` is on: since 1.26.
    kubelet_sets_disruption_target = 26;
    /// Whether the kubelet knows the signals `containerfs.available` and `containerfs.inodesFree`,
    /// and a file system of images apart from that of containers: since 1.29. The minor is not
    /// certain.
    has_containerfs_signals = 29, believed;
    /// Whether `mergeDefaultEvictionSettings` exists: since 1.35. The minor is not certain.
    has_merge_default_eviction_settings = 35, believed;
    /// Whether `spec.resources` of a pod counts (the gate `PodLevelResources`, on by default since
    /// 1.34).
    has_pod_level_resources = 34;
    /// Whether an init container with `restartPolicy: Always` is a sidecar: since 1.29, where the
    /// gate `SidecarContainers` is on by default.
    has_sidecar_containers = 29;
    /// Whether the kubelet takes a pod's use of ephemeral storage from the pod's own figure instead
    /// of adding up its containers and volumes: since 1.23. The minor is not certain.
    measures_pod_ephemeral_storage = 23, believed;
}

until! {
    /// Whether a kubelet that starts posts that its node is not ready, until it posts again: to 1.30
    /// (kubernetes#124430).
    kubelet_starts_not_ready = 30;
}
