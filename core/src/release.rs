//! How releases of Kubernetes differ: the one place that knows.
//!
//! A [`KubernetesRelease`] is a minor release; where patches of one minor differ, the doc of the
//! method says which patch is meant. Everything else in this crate asks a method here and never
//! compares release numbers.

mod kubectl;

use alloc::format;
use alloc::string::String;
use core::fmt;
use core::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A minor release of Kubernetes, from 1.18 to 1.35.
///
/// `1.18` behaves as 1.18.6 and `1.20` as 1.20.2, whose running code was recorded; any other one
/// as its first patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "typescript",
    derive(tsify::Tsify),
    tsify(type = "`1.${string}` | `v1.${string}`")
)]
pub struct KubernetesRelease {
    minor: u8,
}

impl KubernetesRelease {
    /// The oldest release known here.
    pub const OLDEST: Self = Self { minor: 18 };
    /// The newest release known here.
    pub const NEWEST: Self = Self { minor: 35 };

    /// The release 1.`minor`, if it is known here.
    #[must_use]
    pub const fn new(minor: u8) -> Option<Self> {
        if minor < Self::OLDEST.minor || minor > Self::NEWEST.minor {
            None
        } else {
            Some(Self { minor })
        }
    }

    /// The release 1.`minor`, or the nearest one that is known here.
    #[must_use]
    pub fn nearest(minor: u32) -> Self {
        let (oldest, newest) = (Self::OLDEST.minor, Self::NEWEST.minor);
        Self { minor: u8::try_from(minor).unwrap_or(u8::MAX).clamp(oldest, newest) }
    }

    /// All releases known here, oldest first.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> {
        (Self::OLDEST.minor..=Self::NEWEST.minor).map(|minor| Self { minor })
    }

    /// Reads `1.30`, `v1.30` or a full version such as `v1.30.4+k3s1`.
    ///
    /// # Errors
    /// Says which releases there are.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is not a known Kubernetes release; use {} to {}",
                Self::OLDEST,
                Self::NEWEST
            )
        };
        let rest = text.strip_prefix('v').unwrap_or(text).strip_prefix("1.").ok_or_else(wrong)?;
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let minor = rest.get(..end).and_then(|digits| digits.parse().ok()).ok_or_else(wrong)?;
        let tail_is_patch =
            rest.get(end..).is_some_and(|t| t.is_empty() || t.starts_with(['.', '+', '-']));
        Self::new(minor).filter(|_| tail_is_patch).ok_or_else(wrong)
    }

    /// Whether a pod that tolerates its node's taints *for ever now* has its pending eviction
    /// cancelled (kubernetes#93722: 1.20.0 and the patches 1.18.9 and 1.17.12; the patch of 1.19
    /// is not known, so 1.19 is taken as 1.19.0). Before, the timer ran on and the pod was deleted
    /// although it tolerated the taint.
    #[must_use]
    pub const fn cancels_when_tolerated_forever(self) -> bool {
        self.minor >= 20
    }

    /// Whether the immediate eviction of a pod that does not tolerate a taint goes through a timer
    /// (of a few nanoseconds, from two reads of the clock), so that it counts as pending while its
    /// delete is tried: to 1.28. The minor is not certain.
    #[must_use]
    pub const fn immediate_eviction_uses_timer(self) -> bool {
        self.minor <= 28
    }

    /// Whether the queue remembers a pod after its delete succeeded (a `nil` entry, the
    /// *tombstone*), until the pod is really gone: to 1.32 (kubernetes#129577). The minor is not
    /// certain.
    #[must_use]
    pub const fn keeps_tombstones(self) -> bool {
        self.minor <= 32
    }

    /// The `source.component` of the eviction events: `taint-controller` to 1.28,
    /// `taint-eviction-controller` since the controller stands on its own (KEP-3902).
    #[must_use]
    pub const fn taint_eviction_component(self) -> &'static str {
        if self.has_taint_eviction_controller() {
            "taint-eviction-controller"
        } else {
            "taint-controller"
        }
    }

    /// Whether budgets are served as `policy/v1`, where an empty selector selects all pods of the
    /// namespace, not none: since 1.21.
    #[must_use]
    pub const fn has_policy_v1(self) -> bool {
        self.minor >= 21
    }

    /// Whether a pod that is not ready may be evicted as long as a budget has enough that are:
    /// since 1.20 (kubernetes#94381). Before, it counts as if it were ready.
    #[must_use]
    pub const fn evicts_unready_pods_within_budgets(self) -> bool {
        self.minor >= 20
    }

    /// Whether a budget over pods without a controller leaves them out where it needs the scale of
    /// controllers: since 1.22 (kubernetes#103414; the minor is not certain). Before, it cannot be
    /// worked out.
    #[must_use]
    pub const fn leaves_out_unmanaged_pods(self) -> bool {
        self.minor >= 22
    }

    /// Whether an event says so of such a budget: since 1.27 (kubernetes#115861).
    #[must_use]
    pub const fn warns_of_unmanaged_pods(self) -> bool {
        self.minor >= 27
    }

    /// Whether a budget over pods of Jobs or DaemonSets names the resource that has no scale, in
    /// place of *found no controllers*: since 1.21. The minor is not certain.
    #[must_use]
    pub const fn names_missing_scale(self) -> bool {
        self.minor >= 21
    }

    /// Whether the eviction API writes the condition `DisruptionTarget`, if the gate
    /// `PodDisruptionConditions` is on: since 1.26. The minor is not certain.
    #[must_use]
    pub const fn eviction_sets_disruption_target(self) -> bool {
        self.minor >= 26
    }

    /// Whether budgets have `unhealthyPodEvictionPolicy`: since 1.27, where the gate
    /// `PDBUnhealthyPodEvictionPolicy` is on by default.
    #[must_use]
    pub const fn has_unhealthy_pod_eviction_policy(self) -> bool {
        self.minor >= 27
    }

    /// Whether the pod garbage collector removes terminating pods from nodes with the
    /// out-of-service taint: since 1.26, where the gate `NodeOutOfServiceVolumeDetach` is on by
    /// default.
    #[must_use]
    pub const fn collects_pods_out_of_service(self) -> bool {
        self.minor >= 26
    }

    /// Whether the pod garbage collector marks a pod as failed before it deletes it, if the gate
    /// `PodDisruptionConditions` is on: since 1.26. The minor is not certain.
    #[must_use]
    pub const fn marks_collected_pods_as_failed(self) -> bool {
        self.minor >= 26
    }

    /// Whether a daemon pod that has ended and is deleted does not keep its node occupied: since
    /// 1.28 (kubernetes#118716).
    #[must_use]
    pub const fn overlooks_deleted_daemon_pods_that_ended(self) -> bool {
        self.minor >= 28
    }

    /// Whether a daemon pod that has ended well is replaced, as one that has failed: since 1.28
    /// (kubernetes#117073, which late patches of 1.26 and 1.27 have too).
    #[must_use]
    pub const fn replaces_succeeded_daemon_pods(self) -> bool {
        self.minor >= 28
    }

    /// Whether Jobs have `podReplacementPolicy`, and wait with a `podFailurePolicy` until a pod has
    /// ended: since 1.29, where the gate `JobPodReplacementPolicy` is on by default.
    #[must_use]
    pub const fn has_pod_replacement_policy(self) -> bool {
        self.minor >= 29
    }

    /// Whether a pod of a Job that is deleted counts as one that failed: with the finalizers by
    /// which Jobs are tracked, taken to have come for good with 1.26.
    #[must_use]
    pub const fn counts_deleted_pods_as_failed(self) -> bool {
        self.minor >= 26
    }

    /// Whether `podFailurePolicy` of a Job counts: since 1.26, where the gate `JobPodFailurePolicy`
    /// is on by default.
    #[must_use]
    pub const fn has_pod_failure_policy(self) -> bool {
        self.minor >= 26
    }

    /// How the Job controller waits after a failure: since 1.27 for each failed pod
    /// (kubernetes#114768). The minor is not certain.
    #[must_use]
    pub const fn job_backoff(self) -> JobBackoff {
        if self.minor >= 27 { JobBackoff::Pods } else { JobBackoff::Queue }
    }

    /// Whether a Job fails when its queue has looked again `backoffLimit` times, whatever the
    /// number of its failed pods: to 1.19; 1.20.2 is recorded to count pods. The minor is not
    /// certain.
    #[must_use]
    pub const fn counts_job_requeues(self) -> bool {
        self.minor <= 19
    }

    /// Whether `backoffLimit` of a Job only counts when a pod has failed that its status does not
    /// know, and not as many run as may: to 1.26, as recorded from 1.20.2. The minor is not
    /// certain.
    #[must_use]
    pub const fn backoff_limit_asks_for_new_failure(self) -> bool {
        self.minor <= 26
    }

    /// Whether a Job counts those of its failed and succeeded pods that are still there: to 1.22,
    /// before Jobs were tracked with finalizers.
    #[must_use]
    pub const fn counts_job_pods_that_are_there(self) -> bool {
        self.minor <= 22
    }

    /// Whether a Job deletes pods that exceed the completions that are missing, not only those that
    /// exceed `parallelism`: since 1.21, which brought Indexed Jobs. The minor is not certain.
    #[must_use]
    pub const fn deletes_surplus_job_pods(self) -> bool {
        self.minor >= 21
    }

    /// Whether the pods of a Job can have numbers (`completionMode: Indexed`): since 1.22, where
    /// the gate `IndexedJob` is on by default.
    #[must_use]
    pub const fn has_indexed_jobs(self) -> bool {
        self.minor >= 22
    }

    /// Whether the label `batch.kubernetes.io/job-completion-index` is on the pods of an Indexed
    /// Job besides the annotation: since 1.28.
    #[must_use]
    pub const fn labels_pods_with_completion_index(self) -> bool {
        self.minor >= 28
    }

    /// Whether a Job that is over is deleted after `ttlSecondsAfterFinished`: since 1.21, where the
    /// gate `TTLAfterFinished` is on by default.
    #[must_use]
    pub const fn has_ttl_after_finished(self) -> bool {
        self.minor >= 21
    }

    /// Whether a Job can be suspended: since 1.22, where the gate `SuspendJob` is on by default.
    #[must_use]
    pub const fn has_job_suspend(self) -> bool {
        self.minor >= 22
    }

    /// Whether the annotation `controller.kubernetes.io/pod-deletion-cost` says which pods go
    /// first: since 1.22.
    #[must_use]
    pub const fn has_pod_deletion_cost(self) -> bool {
        self.minor >= 22
    }

    /// Whether the pods of a StatefulSet carry the label `apps.kubernetes.io/pod-index`: since
    /// 1.28.
    #[must_use]
    pub const fn labels_pods_with_index(self) -> bool {
        self.minor >= 28
    }

    /// Whether a StatefulSet can begin at another number than 0 (`spec.ordinals.start`): since
    /// 1.27.
    #[must_use]
    pub const fn has_first_ordinal(self) -> bool {
        self.minor >= 27
    }

    /// Whether `minReadySeconds` of a StatefulSet counts: since 1.23, where the gate
    /// `StatefulSetMinReadySeconds` is on by default.
    #[must_use]
    pub const fn has_stateful_set_min_ready_seconds(self) -> bool {
        self.minor >= 23
    }

    /// Whether a StatefulSet replaces a pod that has ended well, as one that has failed: since
    /// 1.28. The minor is not certain.
    #[must_use]
    pub const fn recreates_succeeded_pods(self) -> bool {
        self.minor >= 28
    }

    /// Whether a StatefulSet says that it recreates a pod that has ended, deletes it even if it is
    /// terminating and creates the next at once: to 1.30 (kubernetes#123809).
    #[must_use]
    pub const fn recreates_ended_pods_at_once(self) -> bool {
        self.minor <= 30
    }

    /// How the event `ScalingReplicaSet` words it. The releases of the changes are not certain.
    #[must_use]
    pub const fn scaling_message(self) -> ScalingMessage {
        match self.minor {
            ..26 => ScalingMessage::To,
            26..31 => ScalingMessage::ToFrom,
            _ => ScalingMessage::FromTo,
        }
    }

    /// Whether taint eviction is a controller of its own: since 1.29.
    #[must_use]
    pub const fn has_taint_eviction_controller(self) -> bool {
        self.minor >= 29
    }

    /// Whether eviction events name the `apiVersion` of their pod. It is absent in 1.20 and `v1`
    /// in the newest source; taken to have come with the controller of its own, 1.29.
    #[must_use]
    pub const fn event_reference_has_api_version(self) -> bool {
        self.minor >= 29
    }

    /// Whether conditions carry `observedGeneration`: since 1.34.
    #[must_use]
    pub const fn sets_observed_generation(self) -> bool {
        self.minor >= 34
    }

    /// Whether the error for `operator: Exists` with a value shows the whole toleration: to 1.31
    /// (kubernetes#128119).
    #[must_use]
    pub const fn validation_shows_whole_toleration(self) -> bool {
        self.minor <= 31
    }

    /// Whether nodes can be drained without taints, the *legacy path*, and so whether the flags
    /// `--enable-taint-manager` and `--pod-eviction-timeout` exist: to 1.26 (kubernetes#115840).
    #[must_use]
    pub const fn has_enable_taint_manager_flag(self) -> bool {
        self.minor <= 26
    }

    /// The default of `--node-monitor-grace-period` in seconds: 40, and 50 since 1.32
    /// (kubernetes#126287).
    #[must_use]
    pub const fn node_monitor_grace_period_seconds(self) -> u64 {
        if self.minor >= 32 { 50 } else { 40 }
    }

    /// How a node that waits to be tainted is queued again by the next health pass: not at all in
    /// 1.18, twice in 1.19 and 1.20 (kubernetes#89059), anew since 1.21 (kubernetes#96876, which
    /// late patches of the older ones have too).
    #[must_use]
    pub const fn requeue(self) -> Requeue {
        match self.minor {
            ..=18 => Requeue::KeepsPlace,
            19..=20 => Requeue::Duplicates,
            _ => Requeue::MovesBack,
        }
    }

    /// Whether nodes with the name of a master (`master`, `…-master-xyz`) do not count for the
    /// state of their zone: to 1.20 (the gate `LegacyNodeRoleBehavior`; the minor is not certain).
    #[must_use]
    pub const fn excludes_masters_by_name(self) -> bool {
        self.minor <= 20
    }

    /// Whether the tainting pass waits for a queued node that has no Ready condition; 1.20 and
    /// older run into a nil pointer there. The minor is not certain.
    #[must_use]
    pub const fn awaits_missing_ready_condition(self) -> bool {
        self.minor >= 21
    }

    /// The name of the node lifecycle controller in `--controllers`: `nodelifecycle`, and
    /// `node-lifecycle-controller` since 1.28, which takes the old name too.
    #[must_use]
    pub const fn node_lifecycle_controller_name(self) -> &'static str {
        if self.minor >= 28 { "node-lifecycle-controller" } else { "nodelifecycle" }
    }

    /// Whether the kubelet's `imagefs.inodesFree<5%` is among the default hard eviction thresholds:
    /// since 1.30 (kubernetes#121834).
    #[must_use]
    pub const fn default_imagefs_inodes_threshold(self) -> bool {
        self.minor >= 30
    }

    /// Up to which fraction the kubelet takes an eviction threshold in percent: 1, and by mistake
    /// 100 (10000 %) to 1.20 (kubernetes#97321).
    #[must_use]
    pub const fn largest_eviction_fraction(self) -> f32 {
        if self.minor >= 21 { 1.0 } else { 100.0 }
    }

    /// Whether the kubelet, after it has deleted unused containers and images, asks for the minimum
    /// reclaim too before it lets the pods be: since 1.22 (kubernetes#99095).
    #[must_use]
    pub const fn reclaim_check_asks_minimum_reclaim(self) -> bool {
        self.minor >= 22
    }

    /// The grace period in seconds of a pod that the kubelet evicts at once (a hard threshold, a
    /// local storage limit): 0, and 1 since 1.31 (kubernetes#124063).
    #[must_use]
    pub const fn immediate_eviction_grace_period_seconds(self) -> i64 {
        if self.minor >= 31 { 1 } else { 0 }
    }

    /// Whether a soft eviction leaves a pod no more than its own grace period: since 1.32
    /// (kubernetes#122890), unless the gate `AllowOverwriteTerminationGracePeriodSeconds` is on.
    #[must_use]
    pub const fn soft_eviction_respects_pod_grace_period(self) -> bool {
        self.minor >= 32
    }

    /// Whether the gate `AllowOverwriteTerminationGracePeriodSeconds` can be switched on: 1.32 to
    /// 1.34; it is locked since 1.35.
    #[must_use]
    pub const fn allows_overwriting_grace_period(self) -> bool {
        self.minor >= 32 && self.minor <= 34
    }

    /// Whether the kubelet's eviction message says the threshold and what is available, and about
    /// a container `request is R, has larger consumption of` (kubernetes#111597): since 1.26. The
    /// minor is not certain.
    #[must_use]
    pub const fn eviction_message_tells_threshold(self) -> bool {
        self.minor >= 26
    }

    /// Whether the kubelet's eviction message tells of init containers: since 1.32
    /// (kubernetes#124947).
    #[must_use]
    pub const fn eviction_message_tells_init_containers(self) -> bool {
        self.minor >= 32
    }

    /// Whether the kubelet writes the condition `DisruptionTarget`, if the gate
    /// `PodDisruptionConditions` is on: since 1.26.
    #[must_use]
    pub const fn kubelet_sets_disruption_target(self) -> bool {
        self.minor >= 26
    }

    /// Whether the kubelet knows the signals `containerfs.available` and `containerfs.inodesFree`,
    /// and a file system of images apart from that of containers: since 1.29. The minor is not
    /// certain.
    #[must_use]
    pub const fn has_containerfs_signals(self) -> bool {
        self.minor >= 29
    }

    /// Whether `mergeDefaultEvictionSettings` exists: since 1.35. The minor is not certain.
    #[must_use]
    pub const fn has_merge_default_eviction_settings(self) -> bool {
        self.minor >= 35
    }

    /// Whether `spec.resources` of a pod counts (the gate `PodLevelResources`, on by default since
    /// 1.34).
    #[must_use]
    pub const fn has_pod_level_resources(self) -> bool {
        self.minor >= 34
    }

    /// Whether an init container with `restartPolicy: Always` is a sidecar: since 1.29, where the
    /// gate `SidecarContainers` is on by default.
    #[must_use]
    pub const fn has_sidecar_containers(self) -> bool {
        self.minor >= 29
    }

    /// The order in which the scheduler asks its filters: those that no preemption helps with
    /// before resources since 1.20 (kubernetes#95539).
    #[must_use]
    pub const fn filters_taints_before_resources(self) -> bool {
        self.minor >= 20
    }

    /// Whether the scheduler asks for topology spread before affinity between pods: since 1.19. In
    /// 1.18 the gate `EvenPodsSpread` appends the plugin.
    #[must_use]
    pub const fn filters_spread_before_pod_affinity(self) -> bool {
        self.minor >= 19
    }

    /// Whether the scheduler lets a pod that requests none of a resource onto a node that has less
    /// than none left: since 1.27 (kubernetes#116408).
    #[must_use]
    pub const fn fits_zero_requests(self) -> bool {
        self.minor >= 27
    }

    /// The same for extended resources: since 1.26 (kubernetes#111544).
    #[must_use]
    pub const fn fits_zero_extended_requests(self) -> bool {
        self.minor >= 26
    }

    /// How much the scheduler's scores weigh: TaintToleration 3, NodeAffinity and InterPodAffinity
    /// 2 since 1.23 (`kubescheduler.config.k8s.io/v1beta3`), all of them 1 before.
    #[must_use]
    pub const fn score_weights_of_v1beta3(self) -> bool {
        self.minor >= 23
    }

    /// Whether nodes are scored by the annotation `scheduler.alpha.kubernetes.io/preferAvoidPods`:
    /// to 1.22; `v1beta3` removes the plugin.
    #[must_use]
    pub const fn scores_prefer_avoid_pods(self) -> bool {
        self.minor <= 22
    }

    /// Whether resources are scored by `NodeResourcesFit`, of all resources that a node has, and a
    /// balance is how much the requests differ, with at most 100 % used: since 1.22
    /// (kubernetes#101946, kubernetes#102925, which late patches of the older ones have in part).
    /// Before, by `NodeResourcesLeastAllocated`; a balance counted containers without requests like
    /// that too, and was 0 on a full node.
    #[must_use]
    pub const fn scores_resources_by_fit(self) -> bool {
        self.minor >= 22
    }

    /// Whether the scheduler's scores count the overhead's CPU of the pod to be placed in
    /// thousandths: since 1.28, where it is counted as everywhere else; in whole CPUs taken for
    /// thousandths before. The minor is not certain.
    #[must_use]
    pub const fn scores_overhead_in_thousandths(self) -> bool {
        self.minor >= 28
    }

    /// Whether scores of affinity between pods are normalised by the least and the most of them:
    /// since 1.21 (kubernetes#98096). Before, zero was one of them always.
    #[must_use]
    pub const fn normalises_pod_affinity_by_true_range(self) -> bool {
        self.minor >= 21
    }

    /// Whether pods without topology spread constraints are spread by `PodTopologySpread`: since
    /// 1.20, where the gate `DefaultPodTopologySpread` is on by default; by `SelectorSpread`
    /// before.
    #[must_use]
    pub const fn spreads_by_default_constraints(self) -> bool {
        self.minor >= 20
    }

    /// Whether the default constraints spread the pods of the controller and the Services alone:
    /// since 1.22 (kubernetes#102236). Before, those of every ReplicaSet and StatefulSet that
    /// selects the pod.
    #[must_use]
    pub const fn spreads_by_owner(self) -> bool {
        self.minor >= 22
    }

    /// Whether the default constraints score nodes without a zone too: since 1.23
    /// (kubernetes#105046, which late patches of the older ones have too).
    #[must_use]
    pub const fn default_spread_scores_all_nodes(self) -> bool {
        self.minor >= 23
    }

    /// Whether pods on nodes that the pod's own node affinity excludes do not count for topology
    /// spread: since 1.24 (kubernetes#107009). Before, they counted if another node of their part
    /// of the cluster was not excluded.
    #[must_use]
    pub const fn spread_excludes_nodes_by_affinity(self) -> bool {
        self.minor >= 24
    }

    /// Whether a score of topology spread is rounded to the nearest number: since 1.24
    /// (kubernetes#107384); down before.
    #[must_use]
    pub const fn rounds_spread_scores(self) -> bool {
        self.minor >= 24
    }

    /// Whether `PodTopologySpread` says nothing of nodes if a pod has no constraints: since 1.28.
    /// Before, every node was as good as any other, 100. The minor is not certain.
    #[must_use]
    pub const fn skips_idle_score_plugins(self) -> bool {
        self.minor >= 28
    }

    /// Whether a score counts all nodes that have an image: since 1.29. Before, those that had it
    /// when the node was added. The minor is not certain.
    #[must_use]
    pub const fn counts_images_at_any_time(self) -> bool {
        self.minor >= 29
    }

    /// Whether preferred node affinity reads `matchFields`, and an empty preference prefers
    /// nothing: since 1.20. Before, it preferred every node alike. The minor is not certain.
    #[must_use]
    pub const fn prefers_nodes_by_fields(self) -> bool {
        self.minor >= 20
    }

    /// How many nodes are enough to choose victims from, as a percentage of all and at least:
    /// since 1.21 (kubernetes#94814; the minor is not certain). Before, all are looked at.
    #[must_use]
    pub const fn preemption_candidates(self) -> Option<(usize, usize)> {
        if self.minor >= 21 { Some((10, 100)) } else { None }
    }

    /// How the event `Preempted` names the pod that needs the room: by namespace and name to 1.26,
    /// not at all in 1.27 and 1.28 (kubernetes#114923), by its UID since 1.29 (kubernetes#119971).
    #[must_use]
    pub const fn preempted_message(self) -> PreemptedMessage {
        match self.minor {
            ..=26 => PreemptedMessage::ByName,
            27..=28 => PreemptedMessage::ByAPod,
            _ => PreemptedMessage::ByUid,
        }
    }

    /// Whether the condition of a pod that the scheduler preempts has the reason
    /// `PreemptionByScheduler` and does not name the pod that needs the room: since 1.27
    /// (kubernetes#114914); `PreemptionByKubeScheduler` before.
    #[must_use]
    pub const fn preempts_by_scheduler(self) -> bool {
        self.minor >= 27
    }

    /// Whether a pod waits for the end of others on its nominated node only if the scheduler
    /// preempted them: since 1.27 (kubernetes#114623). Before, for all that are terminating.
    #[must_use]
    pub const fn awaits_victims_only(self) -> bool {
        self.minor >= 27
    }

    /// Whether a request that is larger than all that a node has is unresolvable, so that
    /// preemption is not thought of: since 1.34 (kubernetes#131345).
    #[must_use]
    pub const fn gives_up_on_small_nodes(self) -> bool {
        self.minor >= 34
    }

    /// Whether the scheduler says of nodes that a pod's affinity does not name that they
    /// `didn't satisfy plugin(s) [NodeAffinity]`: since 1.31. The minor is not certain.
    #[must_use]
    pub const fn names_plugin_of_absent_nodes(self) -> bool {
        self.minor >= 31
    }

    /// Whether the scheduler takes the write of a pod's status, by which it says that the pod is
    /// unschedulable, for a change of the pod, and tries it once more at once: to 1.20, which
    /// compares `managedFields` too. The minor is not certain.
    #[must_use]
    pub const fn retries_after_status_write(self) -> bool {
        self.minor <= 20
    }

    /// Whether a kubelet that starts posts that its node is not ready, until it posts again: to
    /// 1.30 (kubernetes#124430).
    #[must_use]
    pub const fn kubelet_starts_not_ready(self) -> bool {
        self.minor <= 30
    }

    /// Whether the labels by which a Job knows its pods are there with the prefix
    /// `batch.kubernetes.io/` too, and it selects by that: since 1.27. The minor is not certain.
    #[must_use]
    pub const fn prefixes_job_labels(self) -> bool {
        self.minor >= 27
    }

    /// Whether the scheduler tries a pod again only if a change may help against what refused it
    /// (`EventsToRegister`): since 1.22. The minor is not certain.
    #[must_use]
    pub const fn retries_by_plugin(self) -> bool {
        self.minor >= 22
    }

    /// How long a pod that fits nowhere waits before the scheduler tries it again although nothing
    /// has changed that may help it: `unschedulableQTimeInterval` of 1 min to 1.22,
    /// `podMaxInUnschedulablePodsDuration` of 5 min since 1.23. The minor is not certain.
    #[must_use]
    pub const fn longest_time_unschedulable(self) -> Duration {
        Duration::from_secs(if self.minor <= 22 { 60 } else { 300 })
    }

    /// Whether admission copies `preemptionPolicy` of a priority class into pods: since 1.19, where
    /// the gate `NonPreemptingPriority` is on by default.
    #[must_use]
    pub const fn has_preemption_policy(self) -> bool {
        self.minor >= 19
    }

    /// How the scheduler says that a taint keeps a pod away: with the taint in a sentence to 1.23,
    /// shorter since 1.24, without the taint since 1.35 (kubernetes#134740). That the second
    /// begins with 1.24 is not certain.
    #[must_use]
    pub const fn untolerated_taint_reason(self) -> TaintReason {
        match self.minor {
            ..=23 => TaintReason::DidNotTolerate,
            24..=34 => TaintReason::Untolerated,
            _ => TaintReason::WithoutTaint,
        }
    }

    /// What the scheduler says where `spec.nodeName` names another node: `requested hostname` to
    /// 1.20, `requested node name` since. The minor is not certain.
    #[must_use]
    pub const fn node_name_reason(self) -> &'static str {
        if self.minor >= 21 {
            "node(s) didn't match the requested node name"
        } else {
            "node(s) didn't match the requested hostname"
        }
    }

    /// What the scheduler says of a node selector or node affinity. That 1.20 and 1.21 each have
    /// words of their own is not certain.
    #[must_use]
    pub const fn node_affinity_reason(self) -> &'static str {
        match self.minor {
            ..=19 => "node(s) didn't match node selector",
            20 => "node(s) didn't match Pod's node affinity",
            _ => "node(s) didn't match Pod's node affinity/selector",
        }
    }

    /// Whether the scheduler names a node that lacks the label of a topology spread constraint
    /// apart from one with too many pods: since 1.20. The minor is not certain.
    #[must_use]
    pub const fn names_missing_topology_label(self) -> bool {
        self.minor >= 20
    }

    /// Whether the scheduler gives one reason for (anti-)affinity between pods: since 1.22. Before,
    /// a general one came with it. The minor is not certain.
    #[must_use]
    pub const fn gives_one_affinity_reason(self) -> bool {
        self.minor >= 22
    }

    /// How the scheduler's message tells why preemption does not help: not at all to 1.23; since
    /// 1.25 (kubernetes#110894) with a second full stop at the end, which went in 1.29. The minors
    /// 1.24 and 1.29 are not certain.
    #[must_use]
    pub const fn preemption_message(self) -> PreemptionMessage {
        match self.minor {
            ..=23 => PreemptionMessage::None,
            25..=28 => PreemptionMessage::TwoFullStops,
            _ => PreemptionMessage::OneFullStop,
        }
    }

    /// Whether the scheduler asks the plugin DynamicResources for room before it thinks of
    /// preemption, and says of a pod without claims that there are `no new claims to deallocate`:
    /// since 1.34, where the gate `DynamicResourceAllocation` is on by default.
    #[must_use]
    pub const fn deallocates_claims(self) -> bool {
        self.minor >= 34
    }

    /// Whether `minDomains` of a topology spread constraint counts: since 1.27, where the gate
    /// `MinDomainsInPodTopologySpread` is on by default (beta but off in 1.25 and 1.26).
    #[must_use]
    pub const fn has_min_domains(self) -> bool {
        self.minor >= 27
    }

    /// Whether `nodeAffinityPolicy` and `nodeTaintsPolicy` of a topology spread constraint count:
    /// since 1.26, where the gate `NodeInclusionPolicyInPodTopologySpread` is on by default.
    #[must_use]
    pub const fn has_node_inclusion_policies(self) -> bool {
        self.minor >= 26
    }

    /// Whether `matchLabelKeys` of a topology spread constraint counts: since 1.27, where the gate
    /// `MatchLabelKeysInPodTopologySpread` is on by default.
    #[must_use]
    pub const fn has_match_label_keys(self) -> bool {
        self.minor >= 27
    }

    /// Whether the taint `node.kubernetes.io/out-of-service` frees the pods of a node that was
    /// shut down: since 1.26, where the gate `NodeOutOfServiceVolumeDetach` is on by default.
    #[must_use]
    pub const fn has_out_of_service_taint(self) -> bool {
        self.minor >= 26
    }

    /// Whether the kubelet takes a pod's use of ephemeral storage from the pod's own figure instead
    /// of adding up its containers and volumes: since 1.23. The minor is not certain.
    #[must_use]
    pub const fn measures_pod_ephemeral_storage(self) -> bool {
        self.minor >= 23
    }

    /// Whether `kubectl label` says `unlabeled` of an object that has lost a label: since 1.23.
    #[must_use]
    pub const fn kubectl_says_unlabeled(self) -> bool {
        self.minor >= 23
    }

    /// Whether `kubectl delete` says from which namespace an object was deleted
    /// (kubernetes#126619): since 1.34. The minor is not certain.
    #[must_use]
    pub const fn kubectl_delete_names_namespace(self) -> bool {
        self.minor >= 34
    }

    /// Whether the warning of `kubectl delete --force` begins with a capital letter: since 1.25.
    #[must_use]
    pub const fn kubectl_warns_in_capitals(self) -> bool {
        self.minor >= 25
    }

    /// What `kubectl drain` says of pods with an emptyDir, whose flag was called
    /// `--delete-local-data` to 1.19.
    #[must_use]
    pub const fn drain_local_storage_error(self) -> &'static str {
        if self.minor >= 20 {
            "Pods with local storage (use --delete-emptydir-data to override)"
        } else {
            "Pods with local storage (use --delete-local-data to override)"
        }
    }

    /// What `kubectl drain` says of pods without a controller: they are *not managed by …* to 1.23,
    /// *declare no controller* since 1.24. The minors are not certain.
    #[must_use]
    pub const fn drain_unmanaged_error(self) -> &'static str {
        match self.minor {
            ..=23 => {
                "Pods not managed by ReplicationController, ReplicaSet, Job, DaemonSet or \
                 StatefulSet (use --force to override)"
            }
            24..=29 => "Pods declare no controller (use --force to override)",
            _ => "cannot delete Pods that declare no controller (use --force to override)",
        }
    }

    /// The same as a warning.
    #[must_use]
    pub const fn drain_unmanaged_warning(self) -> &'static str {
        if self.minor >= 24 {
            "deleting Pods that declare no controller"
        } else {
            "deleting Pods not managed by ReplicationController, ReplicaSet, Job, DaemonSet or \
             StatefulSet"
        }
    }

    /// What comes before the warnings of `kubectl drain`: `Warning` since 1.25, `WARNING` before.
    #[must_use]
    pub const fn drain_warning_word(self) -> &'static str {
        if self.minor >= 25 { "Warning" } else { "WARNING" }
    }

    /// Whether `kubectl drain` goes on with the next node after an error: since 1.23, as was said
    /// before by a warning.
    #[must_use]
    pub const fn drain_continues_after_errors(self) -> bool {
        self.minor >= 23
    }

    /// Whether `kubectl drain` names its timeout when it gives up waiting for a pod: to 1.31; since
    /// then it says `context deadline exceeded`.
    #[must_use]
    pub const fn drain_wait_names_timeout(self) -> bool {
        self.minor <= 31
    }

    /// Whether `kubectl get jobs` has a column `STATUS`: since 1.31.
    #[must_use]
    pub const fn jobs_have_status_column(self) -> bool {
        self.minor >= 31
    }
}

/// How the scheduler says that a taint keeps a pod away; see
/// [`KubernetesRelease::untolerated_taint_reason`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaintReason {
    /// `node(s) had taint {key: value}, that the pod didn't tolerate`.
    DidNotTolerate,
    /// `node(s) had untolerated taint {key: value}`.
    Untolerated,
    /// `node(s) had untolerated taint(s)`.
    WithoutTaint,
}

/// How the event `Preempted` names the pod that needs the room; see
/// [`KubernetesRelease::preempted_message`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreemptedMessage {
    /// `Preempted by NAMESPACE/NAME on node NODE`.
    ByName,
    /// `Preempted by a pod on node NODE`.
    ByAPod,
    /// `Preempted by pod UID on node NODE`.
    ByUid,
}

/// How the Job controller waits after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobBackoff {
    /// The Job waits in the queue: not for the first failure, then 10 s, doubled each time, 6
    /// minutes at most.
    Queue,
    /// Pods are replaced 10 s after the last one failed, doubled for each failure since the last
    /// success, 10 minutes at most.
    Pods,
}

/// How the event `ScalingReplicaSet` words it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalingMessage {
    /// `Scaled up replica set NAME to 3`.
    To,
    /// `Scaled up replica set NAME to 3 from 1`.
    ToFrom,
    /// `Scaled up replica set NAME from 1 to 3`.
    FromTo,
}

/// How the scheduler's message ends; see [`KubernetesRelease::preemption_message`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreemptionMessage {
    /// Nothing is said of preemption.
    None,
    /// Why preemption does not help.
    OneFullStop,
    /// The same, with another full stop.
    TwoFullStops,
}

/// What a health pass does with a node that waits to be tainted already; see
/// [`KubernetesRelease::requeue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requeue {
    /// It keeps its place. A taint that is removed by hand never comes back.
    KeepsPlace,
    /// It is queued once more. The spare entries use up tokens, and those of a node that has
    /// recovered block its zone.
    Duplicates,
    /// It leaves its place and goes to the end, in the order of the pass.
    MovesBack,
}

impl Default for KubernetesRelease {
    fn default() -> Self {
        Self::NEWEST
    }
}

impl fmt::Display for KubernetesRelease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.minor)
    }
}

impl Serialize for KubernetesRelease {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for KubernetesRelease {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = KubernetesRelease;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a Kubernetes release in quotes, for example \"1.30\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<KubernetesRelease, E> {
                KubernetesRelease::parse(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for KubernetesRelease {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "KubernetesRelease".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        use alloc::string::ToString;
        let all: alloc::vec::Vec<String> = Self::all().map(|release| release.to_string()).collect();
        schemars::json_schema!({ "type": "string", "examples": all, "pattern": "^v?1\\.[0-9]+" })
    }
}

/// A feature gate that changes what this engine does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FeatureGate {
    /// Write the `DisruptionTarget` condition before deleting a pod (KEP-3329): alpha in 1.25, on
    /// by default in 1.26, locked on in 1.31.
    PodDisruptionConditions,
    /// Honour the toleration operators `Lt` and `Gt` (KEP-5471): alpha in 1.35.
    TaintTolerationComparisonOperators,
}

impl FeatureGate {
    /// All of them.
    pub const ALL: [Self; 2] =
        [Self::PodDisruptionConditions, Self::TaintTolerationComparisonOperators];

    /// The name, as in `--feature-gates`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PodDisruptionConditions => "PodDisruptionConditions",
            Self::TaintTolerationComparisonOperators => "TaintTolerationComparisonOperators",
        }
    }

    /// What the gate is in a release.
    #[must_use]
    pub const fn stage(self, release: KubernetesRelease) -> GateStage {
        match (self, release.minor) {
            (Self::PodDisruptionConditions, 25) => GateStage::Off,
            (Self::PodDisruptionConditions, 26..=30) => GateStage::On,
            (Self::PodDisruptionConditions, 31..) => GateStage::LockedOn,
            (Self::TaintTolerationComparisonOperators, 35..) => GateStage::Off,
            (Self::PodDisruptionConditions | Self::TaintTolerationComparisonOperators, _) => {
                GateStage::Absent
            }
        }
    }
}

/// What a feature gate is in one release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateStage {
    /// The release does not know the gate; the feature is off.
    Absent,
    /// Off unless switched on.
    Off,
    /// On unless switched off.
    On,
    /// On, and cannot be switched off.
    LockedOn,
}

/// Which feature gates are on: the defaults of a release and what a user set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureGates {
    enabled: [bool; FeatureGate::ALL.len()],
}

impl FeatureGates {
    /// The gates of `release` after the settings `name: on`.
    ///
    /// # Errors
    /// A gate that the release does not have, or that is locked; the message is that of
    /// `--feature-gates`.
    pub fn new<'a>(
        release: KubernetesRelease,
        settings: impl IntoIterator<Item = (&'a str, bool)>,
    ) -> Result<Self, String> {
        let mut enabled = FeatureGate::ALL
            .map(|gate| matches!(gate.stage(release), GateStage::On | GateStage::LockedOn));
        for (name, on) in settings {
            let known = FeatureGate::ALL
                .into_iter()
                .zip(&mut enabled)
                .find(|(gate, _)| gate.name() == name)
                .map(|(gate, enabled)| (gate.stage(release), enabled));
            match known {
                None => {
                    let names = FeatureGate::ALL.map(FeatureGate::name).join("`, `");
                    return Err(format!(
                        "unrecognized feature gate: {name}; the gates known here are `{names}`"
                    ));
                }
                Some((GateStage::Absent, _)) => {
                    return Err(format!(
                        "unrecognized feature gate: {name}; Kubernetes {release} does not have it"
                    ));
                }
                Some((GateStage::LockedOn, _)) if !on => {
                    return Err(format!(
                        "cannot set feature gate {name} to false, feature is locked to true"
                    ));
                }
                Some((_, enabled)) => *enabled = on,
            }
        }
        Ok(Self { enabled })
    }

    /// Whether `gate` is on.
    #[must_use]
    pub fn is_enabled(&self, gate: FeatureGate) -> bool {
        FeatureGate::ALL.iter().zip(self.enabled).any(|(known, on)| *known == gate && on)
    }
}

impl Default for FeatureGates {
    fn default() -> Self {
        let release = KubernetesRelease::default();
        Self {
            enabled: FeatureGate::ALL
                .map(|gate| matches!(gate.stage(release), GateStage::On | GateStage::LockedOn)),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn releases_read_and_print() {
        for (text, printed) in
            [("1.18", "1.18"), ("v1.30", "1.30"), ("v1.29.3+k3s1", "1.29"), ("1.35.0-rc.1", "1.35")]
        {
            assert_eq!(KubernetesRelease::parse(text).unwrap().to_string(), printed);
        }
        for bad in ["1.17", "1.36", "2.0", "1.", "1.20x", "", "1.300"] {
            assert!(KubernetesRelease::parse(bad).unwrap_err().contains("1.18 to 1.35"), "{bad}");
        }
    }

    #[test]
    fn gates_have_their_stage_by_release() {
        let gates = |minor, settings: &[(&str, bool)]| {
            FeatureGates::new(KubernetesRelease::new(minor).unwrap(), settings.iter().copied())
        };
        let pdc = FeatureGate::PodDisruptionConditions;
        assert!(!gates(24, &[]).unwrap().is_enabled(pdc));
        assert!(!gates(25, &[]).unwrap().is_enabled(pdc));
        assert!(gates(25, &[(pdc.name(), true)]).unwrap().is_enabled(pdc));
        assert!(gates(26, &[]).unwrap().is_enabled(pdc));
        assert!(!gates(30, &[(pdc.name(), false)]).unwrap().is_enabled(pdc));
        assert!(gates(31, &[(pdc.name(), false)]).unwrap_err().contains("locked to true"));
        assert!(gates(24, &[(pdc.name(), true)]).unwrap_err().contains("1.24 does not have it"));
        assert!(gates(30, &[("Nope", true)]).unwrap_err().contains("unrecognized feature gate"));
        let lt = FeatureGate::TaintTolerationComparisonOperators;
        assert!(!gates(35, &[]).unwrap().is_enabled(lt));
        assert!(gates(35, &[(lt.name(), true)]).unwrap().is_enabled(lt));
    }
}
