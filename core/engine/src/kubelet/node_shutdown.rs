//! How a kubelet ends its pods before its node is shut down: which settings decide, in which order
//! pods end, and what their status says.
//!
//! logind tells the kubelet that the machine is about to be shut down and waits for it; how long,
//! the kubelet asks for when it starts. It ends its pods in groups, those of the lowest priority
//! first, and gives each group a time. Mirrors `pkg/kubelet/nodeshutdown`.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use serde::{Deserialize, Serialize};
use taintlab_rules::api::node_condition_type::READY;
use taintlab_rules::api::{Pod, PodKey, PodPhase};
use taintlab_rules::order::{Order, OrderedMap};
use taintlab_rules::release::{FeatureGate, FeatureGates, GateStage, KubernetesRelease};
use taintlab_rules::time::{Span, Time};

use super::eviction::{ConfigError, KubeletConfiguration, KubeletPod, SYSTEM_CRITICAL_PRIORITY};

/// How long a shutdown of the node waits for pods of this priority and above, up to the priority of
/// the next entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ShutdownGracePeriodByPodPriority {
    /// The least priority. Pods of a lower priority than any entry count with the lowest one.
    pub priority: i32,
    /// How many seconds these pods have to end; one that asks for less has less.
    pub shutdown_grace_period_seconds: i64,
}

/// What a kubelet goes by when its node is shut down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeShutdownConfig {
    /// The periods, by priority from low to high. Without any the node is shut down at once.
    periods: Vec<ShutdownGracePeriodByPodPriority>,
}

/// Pods that end together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShutdownGroup {
    /// The least priority of the group; those of the first group may have less.
    pub priority: i32,
    /// How long the shutdown waits for these pods.
    pub period: Duration,
    /// How much later than the shutdown they begin to end at the earliest.
    pub not_before: Duration,
    /// The pods and how many seconds each has to end, in the order in which they were given.
    pub pods: Vec<(PodKey, i64)>,
}

/// What the kubelet of a node that is shut down does, and no Kubernetes Event tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum NodeShutdownReport {
    /// The node is being shut down, and its kubelet ends the pods first.
    Started {
        /// How many pods there are to end.
        pods: usize,
        /// How long that takes at most.
        #[cfg_attr(feature = "typescript-all", tsify(type = "Span"))]
        within: Span,
    },
    /// The kubelet begins to end the pods of a group.
    EndingGroup {
        /// The least priority of the group.
        priority: i32,
        /// How many pods it has.
        pods: usize,
        /// How long the kubelet waits for them.
        #[cfg_attr(feature = "typescript-all", tsify(type = "Span"))]
        period: Span,
    },
    /// The kubelet tells the containers of a pod to end.
    Killing {
        /// Which pod.
        pod: PodKey,
        /// How many seconds it has.
        grace_period_seconds: i64,
        /// How many it asks for, if that is more.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript-all", tsify(optional))]
        asks_for_seconds: Option<i64>,
    },
    /// The containers of a pod have ended.
    PodEnded {
        /// Which pod.
        pod: PodKey,
    },
    /// The shutdown was cancelled. The pods have ended all the same.
    Cancelled,
    /// The node is off; whatever ran on it does not run any more.
    PoweredOff,
    /// The node has started again.
    Booted,
}

impl NodeShutdownReport {
    /// The pod this is about, if it is about one.
    #[must_use]
    pub const fn pod(&self) -> Option<&PodKey> {
        match self {
            Self::Killing { pod, .. } | Self::PodEnded { pod } => Some(pod),
            Self::Started { .. }
            | Self::EndingGroup { .. }
            | Self::Cancelled
            | Self::PoweredOff
            | Self::Booted => None,
        }
    }
}

/// What it tells, as the end of a sentence about the node.
impl fmt::Display for NodeShutdownReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = taintlab_rules::plural::count;
        match self {
            Self::Started { pods, within } => {
                write!(f, "is shutting down: {} to end within {within}", count(*pods, "pod"))
            }
            Self::EndingGroup { priority, pods, period } => write!(
                f,
                "terminates {} of priority {priority} and above, and waits up to {period}",
                count(*pods, "pod")
            ),
            Self::Killing { pod, grace_period_seconds, asks_for_seconds: None } => {
                write!(f, "terminates {pod}, grace period {grace_period_seconds}s")
            }
            Self::Killing { pod, grace_period_seconds, asks_for_seconds: Some(asks) } => {
                write!(
                    f,
                    "terminates {pod}, grace period {grace_period_seconds}s of the {asks}s that it asks for"
                )
            }
            Self::PodEnded { pod } => write!(f, "has ended {pod}"),
            Self::Cancelled => f.write_str("cancels the shutdown"),
            Self::PoweredOff => f.write_str("is off"),
            Self::Booted => f.write_str("has started again"),
        }
    }
}

impl KubeletConfiguration {
    /// What a kubelet makes of these settings when its node is shut down. Its own feature gates
    /// count before those of the cluster.
    ///
    /// # Errors
    /// Why it would not start, in its words.
    pub fn node_shutdown_config(
        &self,
        release: KubernetesRelease,
        gates: &FeatureGates,
    ) -> Result<NodeShutdownConfig, ConfigError> {
        let known = |gate: FeatureGate| gate.stage(release) != GateStage::Absent;
        let is_enabled = |gate: FeatureGate| {
            known(gate) && self.gate(gate.name()).unwrap_or_else(|| gates.is_enabled(gate))
        };
        let graceful = is_enabled(FeatureGate::GracefulNodeShutdown);
        let by_priority = is_enabled(FeatureGate::GracefulNodeShutdownBasedOnPodPriority);
        // A release that does not know a gate does not know its settings.
        let may = |on: bool, gate: FeatureGate| on || !known(gate);
        self.check_shutdown(
            may(graceful, FeatureGate::GracefulNodeShutdown),
            may(by_priority, FeatureGate::GracefulNodeShutdownBasedOnPodPriority),
        )
        .map_err(ConfigError::Settings)?;
        if !graceful {
            return Ok(NodeShutdownConfig::default());
        }
        let listed = self.shutdown_grace_period_by_pod_priority.as_deref().unwrap_or_default();
        if by_priority && !listed.is_empty() {
            let mut periods = listed.to_vec();
            periods.order_by_key(|period| period.priority);
            return Ok(NodeShutdownConfig { periods });
        }
        let (total, critical) = self.shutdown_periods();
        Ok(NodeShutdownConfig::of_two_periods(total, critical))
    }

    fn shutdown_periods(&self) -> (Duration, Duration) {
        let of = |span: Option<Span>| span.unwrap_or_default().0;
        (of(self.shutdown_grace_period), of(self.shutdown_grace_period_critical_pods))
    }

    /// Mirrors the checks of `ValidateKubeletConfiguration`, in the words of newer releases;
    /// `graceful` and `by_priority` say whether the settings of these gates may be given.
    fn check_shutdown(&self, graceful: bool, by_priority: bool) -> Result<(), String> {
        let (total, critical) = self.shutdown_periods();
        let listed = self.shutdown_grace_period_by_pod_priority.as_deref().unwrap_or_default();
        let given = !total.is_zero() || !critical.is_zero();
        let invalid = |what: String| Err(format!("invalid configuration: {what}"));
        if given && !graceful {
            return invalid(
                "specifying shutdownGracePeriod or shutdownGracePeriodCriticalPods requires \
                 feature gate GracefulNodeShutdown"
                    .to_string(),
            );
        }
        if critical > total {
            return invalid(format!(
                "shutdownGracePeriodCriticalPods {} must be <= shutdownGracePeriod {}",
                Span(critical),
                Span(total)
            ));
        }
        for (name, period) in
            [("shutdownGracePeriod", total), ("shutdownGracePeriodCriticalPods", critical)]
        {
            if !period.is_zero() && period < Duration::from_secs(1) {
                let period = Span(period);
                return invalid(format!(
                    "{name} {period} must be either zero or otherwise >= 1 sec"
                ));
            }
        }
        if !listed.is_empty() && !by_priority {
            return invalid(
                "Specifying shutdownGracePeriodByPodPriority requires feature gate \
                 GracefulNodeShutdownBasedOnPodPriority"
                    .to_string(),
            );
        }
        if !listed.is_empty() && given {
            return invalid(
                "Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at \
                 the same time"
                    .to_string(),
            );
        }
        if let Some(wrong) = listed.iter().find(|period| period.shutdown_grace_period_seconds < 0) {
            // Kubernetes does not look, and has no time to wait for then.
            return invalid(format!(
                "shutdownGracePeriodByPodPriority: shutdownGracePeriodSeconds {} of priority {} \
                 must be 0 or more",
                wrong.shutdown_grace_period_seconds, wrong.priority
            ));
        }
        Ok(())
    }
}

impl NodeShutdownConfig {
    /// What a kubelet goes by whose configuration has these two fields and no other. A release
    /// without graceful shutdowns, or whose gate is off, shuts down at once.
    ///
    /// # Errors
    /// Why the kubelet would not start, in its words.
    pub fn given(
        release: KubernetesRelease,
        gates: &FeatureGates,
        total: Option<Span>,
        critical: Option<Span>,
    ) -> Result<Self, ConfigError> {
        let configuration = KubeletConfiguration {
            shutdown_grace_period: total,
            shutdown_grace_period_critical_pods: critical,
            ..KubeletConfiguration::default()
        };
        configuration.check_shutdown(true, false).map_err(ConfigError::Settings)?;
        let gate = FeatureGate::GracefulNodeShutdown;
        if !gates.is_enabled(gate) || gate.stage(release) == GateStage::Absent {
            return Ok(Self::default());
        }
        configuration.node_shutdown_config(release, gates)
    }

    /// The two periods of `shutdownGracePeriod`, as periods by priority. Mirrors `migrateConfig`.
    fn of_two_periods(total: Duration, critical: Duration) -> Self {
        let Some(others) = total.checked_sub(critical).filter(|_| !total.is_zero()) else {
            return Self::default();
        };
        let period = |priority, period: Duration| ShutdownGracePeriodByPodPriority {
            priority,
            shutdown_grace_period_seconds: i64::try_from(period.as_secs()).unwrap_or(i64::MAX),
        };
        let critical = period(SYSTEM_CRITICAL_PRIORITY, critical);
        Self { periods: Vec::from([period(0, others), critical]) }
    }

    /// Whether the node is shut down at once.
    #[must_use]
    pub const fn is_off(&self) -> bool {
        self.periods.is_empty()
    }

    /// The periods, by priority from low to high.
    #[must_use]
    pub fn periods(&self) -> &[ShutdownGracePeriodByPodPriority] {
        &self.periods
    }

    /// How long a shutdown takes at most. Mirrors `periodRequested`.
    #[must_use]
    pub fn longest(&self) -> Duration {
        self.periods.iter().map(seconds).fold(Duration::ZERO, Duration::saturating_add)
    }

    /// How long a shutdown waits for a pod; `None` if it waits for no pod.
    #[must_use]
    pub fn period_of(&self, release: KubernetesRelease, pod: &Pod) -> Option<Duration> {
        if self.is_off() {
            return None;
        }
        self.periods.get(self.place_of(release, pod)).map(seconds)
    }

    /// Whether the periods are those of `shutdownGracePeriod`, and not listed by priority.
    pub fn is_of_two_periods(&self) -> bool {
        let priorities = self.periods.iter().map(|period| period.priority);
        priorities.eq([0, SYSTEM_CRITICAL_PRIORITY])
    }

    /// In which group a pod ends. Mirrors `groupByPriority`, and to 1.22 `processShutdownEvent`.
    pub fn place_of(&self, release: KubernetesRelease, pod: &Pod) -> usize {
        // A pod whose resources cannot be read is none that an API server would have stored.
        let read = KubeletPod::new(release.into(), pod).ok();
        let priority = read.as_ref().map_or(0, KubeletPod::priority);
        let last = self.periods.len().saturating_sub(1);
        if !release.shutdown_groups_pods() && read.is_some_and(|pod| pod.is_spared()) {
            return last;
        }
        let above = self.periods.partition_point(|period| period.priority <= priority);
        above.saturating_sub(1).min(last)
    }

    /// Pods in the groups in which they end; groups without pods are left out. Mirrors
    /// `groupByPriority`, and to 1.22 `processShutdownEvent`.
    pub fn groups<'a>(
        &self,
        release: KubernetesRelease,
        pods: impl IntoIterator<Item = (&'a PodKey, &'a Pod)>,
    ) -> Vec<ShutdownGroup> {
        let mut places: OrderedMap<usize, Vec<(PodKey, i64)>> = OrderedMap::new();
        for (key, pod) in pods {
            let place = self.place_of(release, pod);
            let Some(period) = self.periods.get(place) else { continue };
            let period = period.shutdown_grace_period_seconds;
            let grace = asked_seconds(pod).min(period);
            places.entry(place).or_default().push((key.clone(), grace));
        }
        let mut groups = Vec::new();
        let mut before = Duration::ZERO;
        for (place, period) in self.periods.iter().enumerate() {
            let (priority, period) = (period.priority, seconds(period));
            let not_before = if release.shutdown_groups_pods() { Duration::ZERO } else { before };
            before = before.saturating_add(period);
            if let Some(pods) = places.remove(&place) {
                groups.push(ShutdownGroup { priority, period, not_before, pods });
            }
        }
        groups
    }
}

/// How many seconds a pod asks for: `terminationGracePeriodSeconds`, or the default of the API
/// server.
pub fn asked_seconds(pod: &Pod) -> i64 {
    pod.spec.termination_grace_period_seconds.unwrap_or(30).max(0)
}

fn seconds(period: &ShutdownGracePeriodByPodPriority) -> Duration {
    Duration::from_secs(u64::try_from(period.shutdown_grace_period_seconds).unwrap_or_default())
}

/// The status of a pod whose containers are told to end since the node is shut down. Mirrors the
/// `podStatusFn` of `processShutdownEvent`.
pub(crate) fn mark_ending(release: KubernetesRelease, pod: &mut Pod) {
    if release.pods_fail_when_containers_have_ended() {
        return;
    }
    let (reason, message) = release.shutdown_pod_status();
    pod.status.reason = reason.into();
    pod.status.message = message.into();
    if release.shutdown_fails_pods() {
        // The new status has nothing else, and the conditions of the kubelet are gone with the old.
        pod.status.phase = PodPhase::Failed;
        let of_kubelet = ["PodScheduled", "Initialized", READY, "ContainersReady"];
        pod.status.conditions.retain(|known| !of_kubelet.contains(&known.type_.as_str()));
    }
}

/// The status of a pod whose containers have ended since the node is shut down.
pub(crate) fn mark_ended(
    release: KubernetesRelease,
    disruption_conditions: bool,
    pod: &mut Pod,
    now: Time,
) {
    if pod.has_ended() {
        return;
    }
    mark_ending(release, pod);
    if pod.has_ended() {
        return;
    }
    mark_containers_ended(pod, now);
    if !release.shutdown_fails_pods() {
        return;
    }
    let (reason, message) = release.shutdown_pod_status();
    pod.status.phase = PodPhase::Failed;
    pod.status.reason = reason.into();
    pod.status.message = message.into();
    if disruption_conditions && release.kubelet_sets_disruption_target() {
        pod.set_condition("DisruptionTarget", true, "TerminationByKubelet", message, now);
    }
}

/// The containers of a pod run no more: it is not ready, and has failed if they are not to be
/// started again. Mirrors `getPhase`.
pub(crate) fn mark_containers_ended(pod: &mut Pod, now: Time) {
    for condition in [READY, "ContainersReady"] {
        pod.set_condition(condition, false, "", "", now);
    }
    if pod.spec.other.get("restartPolicy").and_then(|policy| policy.as_str()) == Some("Never") {
        pod.status.phase = PodPhase::Failed;
    }
}

#[cfg(test)]
mod tests;
