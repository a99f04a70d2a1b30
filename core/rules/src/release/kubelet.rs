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
    /// `Pod ` to 1.25, `Pod was rejected: ` since 1.26 (kubernetes#112644).
    #[must_use]
    pub const fn rejected_pod_prefix(self) -> &'static str {
        if self.minor >= 26 { "Pod was rejected: " } else { "Pod " }
    }

    /// The reason and the message in the status of a pod that a kubelet ends since its node is shut
    /// down: `Shutdown` to 1.21, `Terminated` since 1.22 (kubernetes#102840).
    #[must_use]
    pub const fn shutdown_pod_status(self) -> (&'static str, &'static str) {
        if self.minor >= 22 {
            ("Terminated", "Pod was terminated in response to imminent node shutdown.")
        } else {
            ("Shutdown", "Node is shutting, evicting pods")
        }
    }

    /// The reason and the message with which a kubelet refuses a pod since its node is shut down:
    /// `Shutdown` in 1.21, `NodeShutdown` since 1.22 (kubernetes#102840). See
    /// [`shutdown_is_posted_at_once`](Self::shutdown_is_posted_at_once) for 1.20.
    #[must_use]
    pub const fn shutdown_rejection(self) -> (&'static str, &'static str) {
        if self.minor >= 22 {
            ("NodeShutdown", "Pod was rejected as the node is shutting down.")
        } else {
            ("Shutdown", "Node is in progress of shutting down, not admitting any new pods")
        }
    }

    /// Whether a pod that a kubelet ends since its node is shut down becomes `Failed`: not in 1.22
    /// (kubernetes#102344) and 1.23, where its phase is what its containers make it, which is
    /// `Running` if they are to be restarted; again since 1.24 (kubernetes#106901), and in later
    /// patches of 1.22 and 1.23.
    #[must_use]
    pub const fn shutdown_fails_pods(self) -> bool {
        self.minor <= 21 || self.minor >= 24
    }

    /// Whether a kubelet moves its first report of a status after a change by a random time of up to
    /// half a `nodeStatusReportFrequency`, earlier or later: in 1.32 (kubernetes#128640; later
    /// patches do not, kubernetes#130356), and again since 1.34 (kubernetes#130919).
    #[must_use]
    pub const fn delays_report_after_change(self) -> bool {
        self.minor == 32 || self.minor >= 34
    }

    /// Whether the gate `AllowOverwriteTerminationGracePeriodSeconds` can be switched on: 1.32 to
    /// 1.34; it is locked since 1.35.
    #[must_use]
    pub const fn allows_overwriting_grace_period(self) -> bool {
        self.minor >= 32 && self.minor <= 34
    }
}

changes! {
    delays_report_after_change = 32:
        "The first report of a node's status after a change comes up to half a \
         `nodeStatusReportFrequency` earlier or later (kubernetes#128640).";
    delays_report_after_change = 33:
        "The first report of a node's status after a change comes when it is due again \
         (kubernetes#130356).";
    delays_report_after_change = 34:
        "The first report of a node's status after a change, or after the kubelet has started, \
         comes up to half a `nodeStatusReportFrequency` earlier or later (kubernetes#130919).";
    shutdown_pod_status = 22:
        "A pod that its kubelet ends since the node is shut down has the reason `Terminated`, no \
         longer `Shutdown` (kubernetes#102840).";
    shutdown_rejection = 22:
        "A kubelet whose node is shut down refuses pods with the reason `NodeShutdown`, no longer \
         with `Shutdown` (kubernetes#102840).";
    shutdown_fails_pods = 22:
        "A pod that its kubelet ends since the node is shut down is no longer `Failed` and is not \
         replaced (kubernetes#102344).";
    shutdown_fails_pods = 24:
        "A pod that its kubelet ends since the node is shut down is `Failed` again, and replaced \
         (kubernetes#106901).";
    largest_eviction_fraction = 21:
        "The kubelet refuses eviction thresholds of more than 100 %, no longer of more than \
         10000 % (kubernetes#97321).";
    rejected_pod_prefix = 26:
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
    /// Whether kubelets post the condition `PodReadyToStartContainers` and `status.hostIPs`: since
    /// 1.29, where the gates `PodReadyToStartContainersCondition` and `PodHostIPs` are on by
    /// default.
    posts_ready_to_start_containers = 29;
    /// Whether a kubelet renews its lease up to 4 % of the period late each time: since 1.22
    /// (kubernetes#101652), and in later patches of 1.20 and 1.21.
    leases_have_jitter = 22;
    /// Whether a kubelet looks at the status of its node up to 4 % of the period late each time:
    /// since 1.23 (kubernetes#105272).
    node_status_has_jitter = 23;
    /// Whether the first report of a node's status is moved as after a change, if the kubelet has
    /// started: since 1.34 (kubernetes#130919).
    delays_report_after_start = 34;
    /// Whether a kubelet posts the phase in which a deleted pod has ended before it confirms the
    /// deletion: since 1.27 (kubernetes#115331).
    posts_phase_of_deleted_pods = 27;
    /// Whether a kubelet whose node is shut down posts at once that the node is not ready, and
    /// refuses pods from then on: since 1.21 (kubernetes#98005). In 1.20.2 it posts so when its
    /// status is due, and starts pods that are bound to the node.
    shutdown_is_posted_at_once = 21;
    /// Whether a kubelet records the event `Shutdown` when its node is shut down: since 1.23
    /// (kubernetes#101081).
    records_shutdown = 23;
    /// Whether a kubelet whose node is shut down ends the next group of pods as soon as the one
    /// before has ended, and tells critical pods by their priority alone: since 1.23
    /// (kubernetes#102915). Before, critical pods, static ones among them, end after the whole time
    /// of the others.
    shutdown_groups_pods = 23;
    /// Whether a pod that a kubelet ends since its node is shut down is `Failed` only when its
    /// containers have ended: since 1.24 (kubernetes#108366).
    pods_fail_when_containers_have_ended = 24;
    /// Whether the kubelet does not admit a pod that does not tolerate a `NoExecute` taint of its
    /// node: since 1.24 (kubernetes#101218).
    kubelet_checks_no_execute_taints = 24;
    /// Whether the kubelet says why a predicate failed by which it does not admit a pod: since 1.31
    /// (kubernetes#125498).
    kubelet_describes_failed_predicates = 31;
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
    /// a container `request is R, has larger consumption of` (kubernetes#111597): since 1.26.
    eviction_message_tells_threshold = 26;
    /// Whether the kubelet's eviction message tells of init containers: since 1.32
    /// (kubernetes#124947).
    eviction_message_tells_init_containers = 32;
    /// Whether the kubelet writes the condition `DisruptionTarget`, if the gate
    /// `PodDisruptionConditions` is on: since 1.26.
    kubelet_sets_disruption_target = 26;
    /// Whether the kubelet knows the signals `containerfs.available` and `containerfs.inodesFree`,
    /// and a file system of images apart from that of containers: since 1.29.
    has_containerfs_signals = 29;
    /// Whether a threshold of `allocatableMemory.available` that a user sets is compared, and can be
    /// met: since 1.29, which is not certain.
    compares_allocatable_memory = 29, believed;
    /// Whether the kubelet takes the huge pages of a node off `memory.available`: since 1.37, where
    /// the gate `HugepageAwareEviction` is on by default (kubernetes#138127).
    subtracts_huge_pages = 37;
    /// Whether a sidecar that exceeds its limit of ephemeral storage has its pod evicted: since 1.37
    /// (kubernetes#138462).
    limits_ephemeral_storage_of_sidecars = 37;
    /// Whether `mergeDefaultEvictionSettings` exists: since 1.33.
    has_merge_default_eviction_settings = 33;
    /// Whether `spec.resources` of a pod counts (the gate `PodLevelResources`, on by default since
    /// 1.34).
    has_pod_level_resources = 34;
    /// Whether an init container with `restartPolicy: Always` is a sidecar: since 1.29, where the
    /// gate `SidecarContainers` is on by default.
    has_sidecar_containers = 29;
    /// Whether the kubelet takes a pod's use of ephemeral storage from the pod's own figure instead
    /// of adding up its containers and volumes: since 1.21.
    measures_pod_ephemeral_storage = 21;
}

until! {
    /// Whether a kubelet that starts posts that its node is not ready, until it posts again: to
    /// 1.30 (kubernetes#124430).
    kubelet_starts_not_ready = 30;
}
