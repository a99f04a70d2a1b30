//! How the scheduler differs between releases.

use core::time::Duration;

use super::KubernetesRelease;

impl KubernetesRelease {
    /// How long a pod that fits nowhere waits before the scheduler tries it again although nothing
    /// has changed that may help it: `unschedulableQTimeInterval` of 1 min to 1.23,
    /// `podMaxInUnschedulablePodsDuration` of 5 min since 1.24.
    #[must_use]
    pub const fn longest_time_unschedulable(self) -> Duration {
        Duration::from_secs(if self.minor <= 23 { 60 } else { 300 })
    }

    /// How many nodes are enough to choose victims from, as a percentage of all and at least:
    /// since 1.20 (kubernetes#94814). Before, all are looked at.
    #[must_use]
    pub const fn preemption_candidates(self) -> Option<(usize, usize)> {
        if self.minor >= 20 { Some((10, 100)) } else { None }
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

    /// How the scheduler says that a taint keeps a pod away: with the taint in a sentence to 1.23,
    /// shorter since 1.24, without the taint since 1.34 (kubernetes#134740, in 1.34.2).
    #[must_use]
    pub const fn untolerated_taint_reason(self) -> TaintReason {
        match self.minor {
            ..=23 => TaintReason::DidNotTolerate,
            24..=33 => TaintReason::Untolerated,
            _ => TaintReason::WithoutTaint,
        }
    }

    /// What the scheduler says where `spec.nodeName` names another node: `requested hostname` to
    /// 1.20, `requested node name` since.
    #[must_use]
    pub const fn node_name_reason(self) -> &'static str {
        if self.minor >= 21 {
            "node(s) didn't match the requested node name"
        } else {
            "node(s) didn't match the requested hostname"
        }
    }

    /// What the scheduler says of nodes from which a volume cannot be reached: that they `had
    /// volume node affinity conflict` to 1.32.
    #[must_use]
    pub const fn volume_affinity_reason(self) -> &'static str {
        if self.minor >= 33 {
            "node(s) didn't match PersistentVolume's node affinity"
        } else {
            "node(s) had volume node affinity conflict"
        }
    }

    /// What the scheduler says of a node selector or node affinity. 1.20 has words of its own.
    #[must_use]
    pub const fn node_affinity_reason(self) -> &'static str {
        match self.minor {
            ..=19 => "node(s) didn't match node selector",
            20 => "node(s) didn't match Pod's node affinity",
            _ => "node(s) didn't match Pod's node affinity/selector",
        }
    }

    /// What the scheduler says besides the reason proper if (anti-)affinity between pods keeps a
    /// pod away: without `rules` to 1.20, nothing since 1.22 (kubernetes#102518).
    #[must_use]
    pub const fn general_affinity_reason(self) -> Option<&'static str> {
        match self.minor {
            ..=20 => Some("node(s) didn't match pod affinity/anti-affinity"),
            21 => Some("node(s) didn't match pod affinity/anti-affinity rules"),
            _ => None,
        }
    }

    /// How the scheduler's message tells why preemption does not help: not at all to 1.23; with a
    /// second full stop at the end in 1.26 (kubernetes#110894) to 1.28.
    #[must_use]
    pub const fn preemption_message(self) -> PreemptionMessage {
        match self.minor {
            ..=23 => PreemptionMessage::None,
            26..=28 => PreemptionMessage::TwoFullStops,
            _ => PreemptionMessage::OneFullStop,
        }
    }

    /// Whether the end of a pod wakes those that its own anti-affinity kept off, and a pod that
    /// affinity between pods rejected is tried again when its labels change: not from 1.32, where
    /// hints of plugins decide, to 1.35 (kubernetes#135325, kubernetes#135394).
    #[must_use]
    pub const fn hints_at_both_sides_of_anti_affinity(self) -> bool {
        !matches!(self.minor, 32..=35)
    }

    /// Whether the binding of a pod with a nomination is taken for the end of the nomination (see
    /// [`Self::wakes_pods_after_nominations`]): in 1.33 and 1.34, which is not certain.
    #[must_use]
    pub const fn wakes_pods_after_nominated_binding(self) -> bool {
        matches!(self.minor, 33..=34)
    }

    /// What the scheduler's message says of nodes that a pod's affinity does not name by
    /// `metadata.name`, as that of a daemon pod does. Since 1.24 `NodeAffinity.PreFilter` leaves
    /// them out, and no filter is asked.
    #[must_use]
    pub const fn absent_nodes(self) -> AbsentNodes {
        match self.minor {
            ..=23 => AbsentNodes::AreFiltered,
            24..=29 => AbsentNodes::MayBePreempted,
            30 => AbsentNodes::HaveReason("node is filtered out by the prefilter result"),
            31 => AbsentNodes::AreLeftOut,
            _ => AbsentNodes::HaveReason("node(s) didn't satisfy plugin(s) [NodeAffinity]"),
        }
    }
}

changes! {
    node_affinity_reason = 20:
        "The scheduler says `node(s) didn't match Pod's node affinity`, no longer `node(s) \
         didn't match node selector`.";
    node_affinity_reason = 21:
        "The scheduler says `node(s) didn't match Pod's node affinity/selector`.";
    node_name_reason = 21:
        "The scheduler says `the requested node name`, no longer `the requested hostname`.";
    general_affinity_reason = 21:
        "The scheduler says `node(s) didn't match pod affinity/anti-affinity rules`.";
    preemption_candidates = 20:
        "Preemption chooses among 10 % of the nodes, at least 100, no longer among all \
         (kubernetes#94814).";
    general_affinity_reason = 22:
        "The scheduler says of affinity between pods the reason proper alone \
         (kubernetes#102518).";
    longest_time_unschedulable = 24:
        "A pod that fits nowhere is tried again after 5 min, no longer after 1 min, although \
         nothing has changed that may help it.";
    absent_nodes = 24:
        "The scheduler's message says nothing of nodes that a pod's affinity does not name, as \
         that of a daemon pod does.";
    absent_nodes = 30:
        "The scheduler says of nodes that a pod's affinity does not name `node is filtered out by \
         the prefilter result`.";
    absent_nodes = 31:
        "The scheduler's message says nothing of nodes that a pod's affinity does not name, but \
         that preemption does not help there.";
    absent_nodes = 32:
        "The scheduler says of nodes that a pod's affinity does not name `node(s) didn't satisfy \
         plugin(s) [NodeAffinity]`.";
    untolerated_taint_reason = 24:
        "The scheduler says `node(s) had untolerated taint {key: value}`.";
    preemption_message = 24:
        "The scheduler's message tells why preemption does not help.";
    preemption_message = 26:
        "The scheduler's message ends with two full stops (kubernetes#110894).";
    preempted_message = 27:
        "The event `Preempted` does not name the pod that needs the room (kubernetes#114923).";
    preempted_message = 29:
        "The event `Preempted` names the pod that needs the room by its UID \
         (kubernetes#119971).";
    preemption_message = 29: "The scheduler's message ends with one full stop.";
    volume_affinity_reason = 33:
        "The scheduler says `node(s) didn't match PersistentVolume's node affinity`, no longer \
         `node(s) had volume node affinity conflict`.";
    hints_at_both_sides_of_anti_affinity = 32:
        "The end of a pod no longer wakes those that its own anti-affinity kept off, and no change \
         of its labels a pod that affinity between pods rejected.";
    wakes_pods_after_nominated_binding = 33, believed:
        "The binding of a pod with a nomination wakes those of no higher priority.";
    untolerated_taint_reason = 34, recorded:
        "The scheduler says `node(s) had untolerated taint(s)`, without the taint \
         (kubernetes#134740, in 1.34 since 1.34.2).";
    wakes_pods_after_nominated_binding = 35, believed:
        "The binding of a pod with a nomination wakes nobody for its sake.";
    hints_at_both_sides_of_anti_affinity = 36:
        "The end of a pod wakes those that its own anti-affinity kept off, and a change of its \
         labels a pod that affinity between pods rejected (kubernetes#135325, kubernetes#135394).";
}

since! {
    /// Whether the scheduler tries a pod again only if a change may help against what refused it
    /// (`EventsToRegister`): since 1.22; in 1.21 of `NodeResourcesFit` alone.
    retries_by_plugin = 22;
    /// The order in which the scheduler asks its filters: those that no preemption helps with
    /// before resources since 1.20 (kubernetes#95539).
    filters_taints_before_resources = 20;
    /// Whether the scheduler asks for topology spread before affinity between pods: since 1.19. In
    /// 1.18 the gate `EvenPodsSpread` appends the plugin.
    filters_spread_before_pod_affinity = 19;
    /// Whether the scheduler lets a pod that requests none of a resource onto a node that has less
    /// than none left: since 1.28 (kubernetes#116408).
    fits_zero_requests = 28;
    /// The same for extended resources: since 1.26 (kubernetes#111544).
    fits_zero_extended_requests = 26;
    /// How much the scheduler's scores weigh: TaintToleration 3, NodeAffinity and InterPodAffinity
    /// 2 since 1.23 (`kubescheduler.config.k8s.io/v1beta3`), all of them 1 before.
    score_weights_of_v1beta3 = 23;
    /// Whether resources are scored by `NodeResourcesFit`, of all resources that a node has, and a
    /// balance is how much the requests differ, with at most 100 % used: since 1.22
    /// (kubernetes#101946, kubernetes#102925, which late patches of the older ones have in part).
    /// Before, by `NodeResourcesLeastAllocated`; a balance counted containers without requests like
    /// that too, and was 0 on a full node.
    scores_resources_by_fit = 22;
    /// Whether `NodeResourcesBalancedAllocation` says nothing of nodes if a pod requests neither
    /// CPU nor memory: since 1.33 (kubernetes#130260). Before, the node whose use was balanced best
    /// drew all such pods.
    skips_balance_of_idle_pods = 33;
    /// Whether `NodeResourcesBalancedAllocation` scores how the pod changes the balance of a node,
    /// 75 if it does not: since 1.36. Before, it scored the balance with the pod alone.
    scores_change_of_balance = 36;
    /// Whether the scheduler's scores count the overhead's CPU of the pod to be placed in
    /// thousandths: since 1.27, where it is counted as everywhere else; in whole CPUs taken for
    /// thousandths before.
    scores_overhead_in_thousandths = 27;
    /// Whether scores of affinity between pods are normalised by the least and the most of them:
    /// since 1.21 (kubernetes#98096). Before, zero was one of them always.
    normalises_pod_affinity_by_true_range = 21;
    /// Whether pods without topology spread constraints are spread by `PodTopologySpread`: since
    /// 1.20, where the gate `DefaultPodTopologySpread` is on by default; by `SelectorSpread`
    /// before.
    spreads_by_default_constraints = 20;
    /// Whether the default constraints spread the pods of the controller and the Services alone:
    /// since 1.22 (kubernetes#102236). Before, those of every ReplicaSet and StatefulSet that
    /// selects the pod.
    spreads_by_owner = 22;
    /// Whether the default constraints score nodes without a zone too: since 1.23
    /// (kubernetes#105046, which late patches of the older ones have too).
    default_spread_scores_all_nodes = 23;
    /// Whether pods on nodes that the pod's own node affinity excludes do not count for topology
    /// spread: since 1.24 (kubernetes#107009). Before, they counted if another node of their part
    /// of the cluster was not excluded.
    spread_excludes_nodes_by_affinity = 24;
    /// Whether the first pod of a group that wants to be together needs a node with the labels of
    /// its topology: since 1.19 (kubernetes#91168). Before, it could go where there are none.
    first_of_group_needs_topology = 19;
    /// Whether a score of topology spread weighs constraints by how many parts the cluster has for
    /// them (kubernetes#90475), thinks of `maxSkew` (kubernetes#90820) and counts twice
    /// (kubernetes#91258): since 1.19. Before, pods were counted, and what a node had fewer of
    /// them than all nodes together was its score.
    weighs_spread_scores = 19;
    /// Whether a score of topology spread is rounded to the nearest number: since 1.24
    /// (kubernetes#107384); down before.
    rounds_spread_scores = 24;
    /// Whether `PodTopologySpread` says nothing of nodes if a pod has no constraints: since 1.28.
    /// Before, every node was as good as any other, 100.
    skips_idle_score_plugins = 28;
    /// Whether a score counts all nodes that have an image: since 1.29. Before, those that had it
    /// when the node was added.
    counts_images_at_any_time = 29;
    /// Whether preferred node affinity reads `matchFields`, and an empty preference prefers
    /// nothing: since 1.20. Before, it preferred every node alike.
    prefers_nodes_by_fields = 20;
    /// Whether the condition of a pod that the scheduler preempts has the reason
    /// `PreemptionByScheduler` and does not name the pod that needs the room: since 1.27
    /// (kubernetes#114914); `PreemptionByKubeScheduler` before.
    preempts_by_scheduler = 27;
    /// Whether the victims of preemption on a node are sorted by importance before nodes are
    /// compared by the first of them: since 1.32 (kubernetes#128307, which late patches of the
    /// older ones have too). Before, those whose budget forbids it came first, and one of them
    /// could hide another of higher priority.
    sorts_victims = 32;
    /// Whether a pod waits for the end of others on its nominated node only if the scheduler
    /// preempted them: since 1.27 (kubernetes#114623). Before, for all that are terminating.
    awaits_victims_only = 27;
    /// Whether a request that is larger than all that a node has is unresolvable, so that
    /// preemption is not thought of: since 1.34 (kubernetes#131345).
    gives_up_on_small_nodes = 34;
    /// Whether admission copies `preemptionPolicy` of a priority class into pods: since 1.19, where
    /// the gate `NonPreemptingPriority` is on by default.
    has_preemption_policy = 19;
    /// Whether the scheduler names a node that lacks the label of a topology spread constraint
    /// apart from one with too many pods: since 1.19. That 1.18 does not is not certain.
    names_missing_topology_label = 19, believed;
    /// Whether the scheduler asks the plugin DynamicResources for room before it thinks of
    /// preemption, and says of a pod without claims that there are `no new claims to deallocate`:
    /// since 1.34, where the gate `DynamicResourceAllocation` is on by default.
    deallocates_claims = 34;
    /// Whether the scheduler itself allocates devices, if the gate `DynamicResourceAllocation` is on:
    /// since 1.31, which is not certain. Before, drivers did, or knew only devices of another form.
    allocates_devices = 31, believed;
    /// Whether a topology spread constraint whose selector is empty counts no pods, instead of all:
    /// since 1.25, which is not certain.
    empty_spread_selector_counts_nothing = 25, believed;
    /// Whether a `namespaceSelector` that the pod to be placed requires selects every namespace if it
    /// asks for the absence of labels alone, by mistake: since 1.35, which is not certain.
    selects_namespaces_by_absent_labels = 35, believed;
    /// Whether a score counts the images of init containers too: since 1.29, which is not certain.
    scores_images_of_init_containers = 29, believed;
    /// Whether a score counts the images of image volumes too: since 1.36.
    scores_images_of_volumes = 36;
    /// Whether image volumes raise the sum of image sizes from which a score is the greatest: since
    /// 1.37 (kubernetes#138951). Before, a pod with them could reach it with smaller images. That no
    /// patch of 1.36 has the change is not certain.
    scales_image_scores_by_volumes = 37, believed;
    /// Whether the scheduler leaves a victim of preemption alone that is being deleted already, with
    /// no second request and no event: since 1.34, which is not certain.
    skips_terminating_victims = 34, believed;
    /// Whether `minDomains` of a topology spread constraint counts: since 1.27, where the gate
    /// `MinDomainsInPodTopologySpread` is on by default (beta but off in 1.25 and 1.26).
    has_min_domains = 27;
    /// Whether `nodeAffinityPolicy` and `nodeTaintsPolicy` of a topology spread constraint count:
    /// since 1.26, where the gate `NodeInclusionPolicyInPodTopologySpread` is on by default.
    has_node_inclusion_policies = 26;
    /// Whether what keeps a pod off all nodes is said once, and not counted node by node
    /// (`Diagnosis.PreFilterMsg`): since 1.26.
    says_refusal_once = 26;
    /// Whether a claim with the access mode `ReadWriteOncePod` is for one pod alone: since 1.27,
    /// where the gate of that name is on by default.
    has_read_write_once_pod = 27;
    /// Whether a pod gives up its nomination whenever room can be made nowhere: since 1.23, which
    /// is not certain. Before, only if preemption helps on no node, whatever pods are there.
    clears_nomination_without_candidates = 23, believed;
    /// Whether the binding of a pod clears `status.nominatedNodeName`: since 1.35, where the gate
    /// `ClearingNominatedNodeNameAfterBinding` is on by default.
    clears_nomination_when_bound = 35;
    /// Whether the scheduler tries pods that wait for the end of their back-off if no other pod is
    /// there: since 1.33, where the gate `SchedulerPopFromBackoffQ` is on by default.
    pops_from_backoff = 33;
    /// Whether the scheduler tries a pod again only if each event is asked, by the hint of a plugin
    /// that rejected the pod, whether it may help: since 1.32, where the gate
    /// `SchedulerQueueingHints` is on by default. Any change of taints helps against plugins that
    /// ask about nodes, but not about taints (kubernetes#109437).
    has_queueing_hints = 32;
    /// Whether hints of affinity between pods and of topology spread count a pod for which room was
    /// made on a node as one with a node: since 1.36 (kubernetes#135392).
    hints_count_nominated_pods = 36;
    /// Whether the hint of affinity between pods asks for any of several terms of anti-affinity:
    /// since 1.37 (kubernetes#139161). Before, for all of them.
    hints_ask_for_any_anti_affinity = 37;
    /// Whether a second attempt is counted in the event `FailedScheduling` of the first one if the
    /// pod has not changed in between: since 1.26 (kubernetes#112365), which is not certain. Before,
    /// a series of events began with one.
    counts_second_attempt = 26, believed;
    /// Whether pods of no higher priority are tried again when a pod gives up its nomination or is
    /// deleted with it: since 1.33, which is not certain.
    wakes_pods_after_nominations = 33, believed;
    /// Whether `schedulingGates` of a pod count, and the API server says so in its condition
    /// `PodScheduled`: since 1.27, where the gate `PodSchedulingReadiness` is on by default.
    has_scheduling_gates = 27;
    /// Whether `matchLabelKeys` of a topology spread constraint counts: since 1.27, where the gate
    /// `MatchLabelKeysInPodTopologySpread` is on by default.
    has_match_label_keys = 27;
}

until! {
    /// Whether the scheduler asks for the anti-affinity of the pods that are there before it asks
    /// for what the new pod wants: to 1.18 (kubernetes#91168).
    asks_existing_pods_first = 18;
    /// Whether nodes are scored by the annotation `scheduler.alpha.kubernetes.io/preferAvoidPods`:
    /// to 1.22; `v1beta3` removes the plugin.
    scores_prefer_avoid_pods = 22;
    /// Whether the scheduler takes the write of a pod's status, by which it says that the pod is
    /// unschedulable, for a change of the pod, and tries it once more at once: to 1.21, which
    /// compares `managedFields` too.
    retries_after_status_write = 21;
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

/// What the scheduler's message says of nodes that a pod's affinity does not name; see
/// [`KubernetesRelease::absent_nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbsentNodes {
    /// What the filters say.
    AreFiltered,
    /// Nothing, and preemption is tried there.
    MayBePreempted,
    /// This, and that preemption does not help.
    HaveReason(&'static str),
    /// Only that preemption does not help.
    AreLeftOut,
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
