//! Values of the engine, as bytes.

use std::collections::BTreeMap;

use taintlab_core::api::{
    ConditionStatus, NoOtherFields, NodeCondition, NodeName, PodKey, QosClass, Quantity, Shared,
    Taint, TaintEffect, Toleration, TolerationOperator, WorkloadKey,
};
use taintlab_core::command::{Command, NodeResources};
use taintlab_core::controllers::descheduler::DeschedulerSettings;
use taintlab_core::controllers::device_taint_eviction::DeviceEviction;
use taintlab_core::controllers::node_lifecycle::{
    EvictionStatus, NodeHealth, NodeHealthView, QueuedNode, RateSource, Ready, Renewal,
    ZoneView as ZoneRates,
};
use taintlab_core::controllers::taint_eviction::{EvictionDecision, ScheduledEviction};
use taintlab_core::eviction_timeline::time_budget::{
    EvictionRange, Moment, Term, TermKind, TimeBudget,
};
use taintlab_core::kubelet::heartbeat::KubeletSettings;
use taintlab_core::kubelet::{
    Candidate, Change, ConditionView, Critical, Distance, Layout, NodeCapacity, NodePower, Point,
    Pressure, RankKey, RankReason, RankedPod, Ranking, Signal, SystemUsage, ThresholdState, Unused,
    UsageCurve,
};
use taintlab_core::lanes::area::AreaState;
use taintlab_core::lanes::comparison::{Comparison, Divergence, Downtime};
use taintlab_core::lanes::{Cause, LaneState, LaneSubject};
use taintlab_core::pod_state::{PodCounts, PodHealth, PodState, PodTimer, PodVerdict};
use taintlab_core::policy::matching::{
    Consequence, Explanation, Mismatch, TaintExplanation, TolerationOutcome, Verdict,
};
use taintlab_core::policy::scheduling::{
    Decision, FilterPlugin, NodeVerdict, PluginScore, Rejection, ScorePlugin,
};
use taintlab_core::policy::validation::ValidationOptions;
use taintlab_core::protocol::UnreachableCause;
use taintlab_core::protocol::zone::{ZoneKey, ZoneState};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::report::ClusterIdentity;
use taintlab_core::scenario::{Bookmark, ScenarioMetadata};
use taintlab_core::simulator::{
    AttachmentView, Availability, ClaimView, DeviceView, EvictionView, Gap, HealthPassTime,
    JobView, NodeView as NodeStatus, OutcomeKind, PendingPod, PodExplanation, PodSeries, ReadyStep,
    SignalView, StorageClassView, StorageView, ThresholdLine, UsageSeries, VolumeView,
    WorkloadView,
};
use taintlab_core::time::{Span, Time, Timestamp};
use taintlab_core::warnings::{Fix, FixLanguage, Severity, Subject, Warning, WarningCode};
use taintlab_kubectl::Completion;
use taintlab_manifest::{
    Assumption, DetectedRelease, DiagnosedObject, Diagnostic, Dropped, ObjectOutcome, ObjectReport,
    ReleaseKnown, Severity as Gravity,
};

use super::{Wire, as_json, enums, put_text, structs, take_text};

// Only written by the page, and only read by the engine: a reader of whole objects would be a sixth
// of the page's program.
as_json!(Command);

/// Types that are written as a text.
macro_rules! names {
    ($($name:ty: $write:expr, $read:expr),* $(,)?) => {$(
        impl Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                put_text(($write)(self).as_ref(), out);
            }
            fn take(from: &mut &[u8]) -> Option<Self> {
                ($read)(take_text(from)?)
            }
        }
    )*};
}

names!(
    ConditionStatus: Self::as_str, |text: &str| Some(text.into()),
    KubernetesRelease: |it: &Self| it.text(), |text| Self::parse(text).ok(),
    NodeName: Self::as_str, |text: &str| Some(text.into()),
    PodKey: Self::as_str, |text| Self::parse(text).ok(),
    Quantity: Self::to_string, |text| Self::parse(text).ok(),
    TaintEffect: Self::as_str, |text: &str| Some(text.into()),
    Time: Self::to_string, |text| Self::parse(text).ok(),
    TolerationOperator: Self::as_str, |text: &str| Some(text.into()),
    WorkloadKey: Self::to_string, |text| Self::parse(text).ok(),
    ZoneKey: Self::as_str, |text: &str| Some(text.into()),
);

/// Types that are written as another value.
macro_rules! as_other {
    ($($name:ty: $put:expr, $take:expr);* $(;)?) => {$(
        impl Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                Wire::put(&($put)(self), out);
            }
            fn take(from: &mut &[u8]) -> Option<Self> {
                Wire::take(from).map($take)
            }
        }
    )*};
}

as_other!(
    Timestamp: |it: &Self| it.as_nanos(), Self::from_nanos;
    Moment: |it: &Self| it.as_nanos(), Self::from_nanos;
    Span: |it: &Self| it.0, Self;
    Shared<Vec<Toleration>>: |it: &Self| Vec::clone(it), |it: Vec<_>| it.into();
    Shared<BTreeMap<String, String>>:
        |it: &Self| BTreeMap::clone(it), |it: BTreeMap<_, _>| it.into();
    NoOtherFields: |_: &Self| (), |()| Self::default();
    PodCounts: |it: &Self| it.numbers(),
        |(verdicts, healths)| Self::from_numbers(verdicts, healths);
);

structs! {
    Bookmark { at, note, select }
    ClusterIdentity { name, digest, at }
    DeschedulerSettings {
        descheduling_interval, include_prefer_no_schedule, excluded_taints, included_taints,
        evict_local_storage_pods, evict_daemon_set_pods, evict_system_critical_pods,
        evict_failed_bare_pods, ignore_pvc_pods, max_no_of_pods_to_evict_per_node,
        max_no_of_pods_to_evict_per_namespace,
    }
    HealthPassTime { per_node, per_write, informer_lag }
    KubeletSettings {
        node_status_update_frequency, node_status_report_frequency, node_lease_duration_seconds,
        phase_seed, jitter_seed, latency,
    }
    NodeCapacity {
        memory, allocatable_memory, nodefs, nodefs_inodes, imagefs, imagefs_inodes, pids,
    }
    NodeCondition {
        type_, status, last_heartbeat_time, last_transition_time, reason, message, other,
    }
    NodeResources { node, capacity, layout, system, unused_containers, unused_images }
    Point { at, value }
    ScenarioMetadata { name, title, question, answer, tags, threads }
    SystemUsage { memory, nodefs, nodefs_inodes, images, images_inodes, processes }
    Taint { key, value, effect, time_added }
    Toleration { key, operator, value, effect, toleration_seconds }
    Unused { bytes, inodes }
    PodState { verdict, health, timer }
    PodTimer { since, until }
    Warning { severity, code, subjects, field, message, explanation, fix }
    Fix { what, language, text }
    Cause { at, event, text }
    AreaState { kind, state, objects, time }
    Comparison { names, until, divergence, subjects, evictions, downtimes, stuck, pending }
    Divergence { at, subject, text }
    Downtime { replica_time_lost, longest_gap }
    EvictionView {
        layout, watches, signals, thresholds, conditions, transition_period,
        max_pod_grace_period_seconds, next_pass, killing, nearest,
    }
    SignalView { signal, pressure, capacity, available }
    ConditionView { pressure, observed, until }
    Distance {
        signal, hard, value, threshold, resolved_at, available, capacity, distance, state,
    }
    UsageSeries { signal, capacity, times, system, pods, thresholds }
    PodSeries { pod, values }
    ThresholdLine { hard, usage }
    Ranking { signal, keys, pods }
    RankedPod { candidate, before_next_by, behind_next_if }
    Candidate { pod, critical, has_stats, qos_class, priority, usage, request, exceeds_request }
    Availability {
        workload, steps, until, whole_at, longest_below, longest_at_zero, replica_time_lost,
        least_ready,
    }
    Gap { from, to }
    ReadyStep { at, ready, desired }
    WorkloadView {
        workload, inferred, owner, desired, current, updated, ready, available, unavailable,
        terminating, pending, pods, job,
    }
    JobView {
        completions, parallelism, active, succeeded, failed, backoff_limit, next_retry, deadline,
        finished,
    }
    PendingPod { pod, reason }
    StorageView { volumes, claims, classes, attachments }
    VolumeView {
        volume, phase, storage_class, claim, capacity, access_modes, reclaim_policy,
        reachable_from, attachable, exclusive,
    }
    ClaimView {
        claim, phase, storage_class, volume, requested, access_modes, selected_node,
        waits_for_first_consumer, terminating, pods,
    }
    StorageClassView { storage_class, provisioner, volume_binding_mode, is_default }
    AttachmentView { volume, node, attached, mounted, pods, forced_detach_at }
    PodExplanation {
        pod, node, node_exists, matching, timer, device, terminating, awaits_kubelet, tombstone,
    }
    ScheduledEviction { pod, created_at, fire_at }
    DeviceView { driver, pool, device, taints }
    DeviceEviction {
        claim, device, taint, rule, toleration, tainted_at, tolerated_until, created_at,
    }
    Explanation { tolerations, taints, verdict }
    TaintExplanation { taint, no_execute, answered_by, consequence, outcomes }
    TimeBudget {
        pod, node, evicted_at, over, range, gone_at, awaits_kubelet, device, counted_from, terms,
    }
    Term { kind, start, end, duration, text, set_by }
    EvictionRange { earliest, latest, text }
    ValidationOptions {
        exists_value_dump, comparison_operators, names_comparison_operators,
        counts_bytes_of_labels, shows_json, daemon_set_surge, backoff_limit_per_index,
    }
    Completion { start, text, hint, ends_word }
    ObjectReport { kind, namespace, name, line, column, outcome, assumed, dropped }
    Diagnostic {
        severity, file, line, column, path, message, object, consequence, help,
    }
    DiagnosedObject { kind, namespace, name, left_out }
    Dropped { fields, annotations, credentials }
    DetectedRelease { release, newest, known, versions, unreported }
    NodeStatus {
        node, kubelet_runs, power, network_cut, unreachable, lease_renewed_at, status_posted_at,
        next_renewal, next_post, switches_at, unconfirmed_deletions, health, conditions,
    }
    NodeHealthView { health, grace_flag, grace, turns_unknown_at, eviction }
    NodeHealth { probe_timestamp, ready_transition_timestamp, ready, lease }
    Ready { status, heartbeat, transition }
    Renewal { renew_time }
    ZoneRates {
        key, network_cut, state, ready, not_ready, unhealthy_zone_threshold, arithmetic, qps,
        rate_source, rate_text, tokens, capacity, next_token, queue, evictions,
    }
    QueuedNode { node, added_at, process_at, expected_at, tied, earliest_at, latest_at }
    Decision { node, message, refusal, verdicts, preemptable }
    NodeVerdict { node, rejection, scores, total }
    Rejection { plugin, reasons, preemption_may_help }
    PluginScore { plugin, raw, score, weight }
}

enums! {
    Layout { OneFilesystem, DedicatedImageFs, SplitImageFs }
    QosClass { BestEffort, Burstable, Guaranteed }
    UsageCurve {
        Constant(value), Ramp { from, to, start, end }, Step { before, after, at },
        Sawtooth { low, high, period, start }, Points(points),
    }
    PodVerdict { Stays, Orphaned, Counting, Terminating, Stuck, Evicted, Gone }
    PodHealth { Pending, Unschedulable, Starting, Ready, NotReady, Failed, Succeeded }
    UnreachableCause { KubeletStopped, NodeOff, NetworkCut, ZoneNetworkCut }
    WarningCode {
        TolerationMatchesNothing, ExistsWithValue, EmptyKeyWithoutExists, SecondsWithoutNoExecute,
        HiddenByOrder, ToleratesUnreachableForever, StatefulSetStuck, BarePodLost,
        BudgetDoesNotHelp, ZoneTooSmall, OneZone, ControlPlaneLost, DeschedulerLeavesPod,
        ShutdownCutsGracePeriod, VolumeHeldByNode, VolumeInOnePlace, SurgeWithHostPort,
        DeviceTolerationInPod, DeviceTolerationWithoutEffect, DeviceTolerationTooLate,
        TaintRuleWithoutSelector, TaintRuleOff,
    }
    Severity { Critical, Warning, Note }
    Gravity { Error, Warning }
    FixLanguage { Yaml, Kubectl, Flag }
    Subject {
        Owner { kind, name }, Budget { name }, Pod { name }, Node { name }, ResourceClaim { name },
        TaintRule { name }, Zone { name },
    }
    LaneState {
        Ready, NotReady, Unreachable, Unknown, Pending, Unschedulable, Starting, Counting,
        Terminating, Stuck, Evicted, Failed, Succeeded, Initial, Normal, PartialDisruption,
        FullDisruption,
    }
    LaneSubject { Zone { zone }, Node { node }, Pod { pod } }

    Pressure { Memory, Disk, Pid }
    ThresholdState {
        NotMet, Unnoticed, InGracePeriod { since, until }, Acting { since }, Reclaiming { since },
        Never,
    }
    Signal {
        MemoryAvailable, AllocatableMemoryAvailable, NodeFsAvailable, NodeFsInodesFree,
        ImageFsAvailable, ImageFsInodesFree, ContainerFsAvailable, ContainerFsInodesFree,
        PidAvailable,
    }
    RankKey { QosClass, ExceedsRequest, Priority, UsageAboveRequest, Usage, Processes }
    RankReason { MissingStats, Key(key) }
    Critical { Static, Mirror, Priority, Annotation }
    Change { RaisePriority(to), RaiseRequest(to), LowerUsage(to) }
    TolerationOutcome { Used, Shadowed { by }, Failed { test, toleration, taint } }
    Mismatch {
        Effect, Key, Value, UnknownOperator, ComparisonOperatorsOff, TolerationNotInteger,
        TaintNotInteger, NotLess, NotGreater,
    }
    Consequence { Tolerated, ToleratedForAWhile, NotScheduled, Avoided, Evicted, Ignored }
    Verdict {
        NoNoExecuteTaints, ToleratedForever { overflowed },
        EvictedAfter { after, toleration, overflowed }, NotTolerated { taint },
        ToleratedNotAtAll { toleration },
    }
    EvictionDecision {
        NotTolerated { taint }, ToleratedForNoTime, Scheduled { created_at, fire_at },
        TimerKept { fire_at, otherwise }, AlreadyDeleted, ToleratedForever,
        ToleratedForeverTooLate { fire_at }, TaintsRemoved { timer_cancelled },
        PodGone { timer_cancelled },
    }
    TermKind {
        LastHeartbeat, DisruptionOver, GracePeriod, MonitorPass, Report, PodEvictionTimeout,
        QueueingPass, Limiter, TaintingTick, Tainted, Noticed, Toleration, Client, Retries,
        TerminationGrace, KubeletAway,
    }
    OutcomeKind { Evictions, Stuck, Unschedulable, Pending, Starting, NotReady }
    ObjectOutcome { Read, Kept, LeftOut }
    Assumption { Namespace, Kind, Owner(owner) }
    ReleaseKnown { Yes, TooOld, TooNew }
    EvictionStatus { Unmarked, ToBeEvicted, Evicted }
    NodePower { On, ShuttingDown, Off }
    RateSource {
        NodeEvictionRate, SecondaryNodeEvictionRate, SmallZoneStopped, MasterDisruption,
    }
    ZoneState { Initial, Normal, PartialDisruption, FullDisruption }
    FilterPlugin {
        NodeUnschedulable, NodeName, TaintToleration, NodeAffinity, NodePorts, NodeResourcesFit,
        VolumeRestrictions, VolumeBinding, VolumeZone, PodTopologySpread, InterPodAffinity,
        DynamicResources,
    }
    ScorePlugin {
        TaintToleration, NodeAffinity, NodeResourcesFit, NodeResourcesLeastAllocated,
        NodeResourcesBalancedAllocation, PodTopologySpread, InterPodAffinity, ImageLocality,
        NodePreferAvoidPods, SelectorSpread,
    }
}
