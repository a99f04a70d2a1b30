//! Faults of outages, and the times between them.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use serde::Serialize;
use taintlab_engine::command::Command;
use taintlab_engine::simulator::Simulator;
use taintlab_rules::api::{NodeName, Pod};
use taintlab_rules::order::OrderedSet;
use taintlab_rules::protocol::zone::ZoneKey;
use taintlab_rules::time::{Span, Timestamp};

use super::Goal;
use crate::report::Fault;

/// Time that a pod gets to end, unless it says otherwise.
const DEFAULT_TERMINATION_GRACE_PERIOD: Duration = Duration::from_secs(30);

/// Kinds of faults, in the order in which they are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutageFaultKind {
    /// [`OutageFault::NodeLost`].
    NodeLost,
    /// [`OutageFault::ZoneLost`].
    ZoneLost,
    /// [`OutageFault::KubeletStopped`].
    KubeletStopped,
    /// [`OutageFault::Drained`].
    Drained,
    /// [`OutageFault::ControlPlanePaused`].
    ControlPlanePaused,
}

impl OutageFaultKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [
        Self::NodeLost,
        Self::ZoneLost,
        Self::KubeletStopped,
        Self::Drained,
        Self::ControlPlanePaused,
    ];

    /// `node-lost` and so on.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NodeLost => "node-lost",
            Self::ZoneLost => "zone-lost",
            Self::KubeletStopped => "kubelet-stopped",
            Self::Drained => "drained",
            Self::ControlPlanePaused => "control-plane-paused",
        }
    }
}

/// Faults that are in reach of a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum OutageFault {
    /// A node loses power for good: its pods are down immediately.
    NodeLost {
        /// The node.
        node: NodeName,
    },
    /// All nodes of a zone lose power for good. Nodes without a zone are in none.
    ZoneLost {
        /// The zone: `region/zone`, or `zone`.
        zone: String,
    },
    /// The kubelet of a node stops for good. Its pods count as ready until the node lifecycle
    /// controller says otherwise.
    KubeletStopped {
        /// The node.
        node: NodeName,
    },
    /// `kubectl drain --ignore-daemonsets --delete-emptydir-data --force` begins. It is in flight
    /// when the next fault comes.
    Drained {
        /// The node.
        node: NodeName,
    },
    /// No kubelet reaches the API server for a time that no node is seen to be lost in, and then
    /// kube-controller-manager starts anew, without its timers and queues.
    ControlPlanePaused {
        /// The time: `--node-monitor-grace-period` less a renewal of the lease and two passes.
        time: Span,
    },
}

/// `node a is lost`.
impl fmt::Display for OutageFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NodeLost { node } => write!(f, "node {node} is lost"),
            Self::ZoneLost { zone } => write!(f, "zone {zone} is lost"),
            Self::KubeletStopped { node } => write!(f, "the kubelet of {node} stops"),
            Self::Drained { node } => write!(f, "a drain of {node} begins"),
            Self::ControlPlanePaused { time } => {
                write!(f, "the control plane stands still for {time}")
            }
        }
    }
}

impl OutageFault {
    /// Its kind.
    #[must_use]
    pub const fn kind(&self) -> OutageFaultKind {
        match self {
            Self::NodeLost { .. } => OutageFaultKind::NodeLost,
            Self::ZoneLost { .. } => OutageFaultKind::ZoneLost,
            Self::KubeletStopped { .. } => OutageFaultKind::KubeletStopped,
            Self::Drained { .. } => OutageFaultKind::Drained,
            Self::ControlPlanePaused { .. } => OutageFaultKind::ControlPlanePaused,
        }
    }

    /// Whether the pods of its nodes are down immediately.
    pub(super) const fn takes_power(&self) -> bool {
        matches!(self, Self::NodeLost { .. } | Self::ZoneLost { .. })
    }

    /// Its commands with their times; `nodes` are those that it hits.
    pub(super) fn commands(
        &self,
        simulator: &Simulator,
        nodes: &[NodeName],
        at: Timestamp,
    ) -> Vec<(Timestamp, Command)> {
        match self {
            Self::NodeLost { .. } | Self::ZoneLost { .. } => nodes
                .iter()
                .map(|node| (at, Command::PowerOffNode { node: node.clone() }))
                .collect(),
            Self::KubeletStopped { .. } => Fault::Lost.commands(nodes, at),
            Self::Drained { .. } => Fault::Drained.commands(nodes, at),
            Self::ControlPlanePaused { time } => {
                let back = at.saturating_add(time.0);
                let labels = simulator.cluster().nodes().map(|(_, node)| &node.metadata.labels);
                let zones =
                    labels.map(|labels| ZoneKey::of(labels).name()).collect::<OrderedSet<_>>();
                let cut = |zone: &String| (at, Command::CutZoneNetwork { zone: zone.clone() });
                let restore =
                    |zone: &String| (back, Command::RestoreZoneNetwork { zone: zone.clone() });
                let restart = [(back, Command::RestartControllerManager)];
                zones.iter().map(cut).chain(zones.iter().map(restore)).chain(restart).collect()
            }
        }
    }
}

/// Time in which no node is seen to be lost, though no kubelet reaches the API server.
pub(super) fn pause(simulator: &Simulator) -> Span {
    let flags = simulator.flags();
    let renewal = simulator.config().kubelets.node_lease_duration_seconds / 4;
    let unseen = Duration::from_secs(renewal.into()).saturating_add(flags.node_monitor_period * 2);
    let time = flags.node_monitor_grace_period.saturating_sub(unseen);
    Span(time.max(Duration::from_secs(1)))
}

/// A time between two faults of an outage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutageGap {
    /// The time.
    pub time: Span,
    /// State of the cluster when it is over.
    pub what: &'static str,
}

impl OutageGap {
    /// All of them, from the shortest; they depend on the flags, and on the pods of the goal.
    pub(super) fn all(simulator: &Simulator, goal: &Goal) -> Vec<Self> {
        let pods = goal.pods(simulator);
        let grace = pods.iter().map(|pod| grace_period(pod)).max();
        let grace = grace.unwrap_or(DEFAULT_TERMINATION_GRACE_PERIOD);
        let stays = pods.iter().filter_map(|pod| longest_stay(pod)).max();
        let stays = stays.unwrap_or_default();
        let flags = simulator.flags();
        let seen = flags.node_monitor_grace_period.saturating_add(flags.node_monitor_period * 2);
        let start_up = goal.start_up_time(simulator);
        let replaced = [stays, grace, start_up, flags.node_monitor_period * 2]
            .iter()
            .fold(seen, |sum, it| sum.saturating_add(*it));
        let gap = |time: Duration, what| Self { time: Span(time), what };
        Vec::from([
            gap((grace / 2).max(Duration::from_secs(1)), "pods of a drain are ending"),
            gap(seen, "a lost node is not ready, and nothing is evicted"),
            gap(replaced, "pods of a lost node are evicted and replaced"),
        ])
    }
}

/// Time that a pod gets to end.
fn grace_period(pod: &Pod) -> Duration {
    let seconds = pod.spec.termination_grace_period_seconds;
    seconds.map_or(DEFAULT_TERMINATION_GRACE_PERIOD, |seconds| {
        Duration::from_secs(u64::try_from(seconds).unwrap_or_default())
    })
}

/// The longest `tolerationSeconds` of a pod.
fn longest_stay(pod: &Pod) -> Option<Duration> {
    let seconds = pod.spec.tolerations.iter().filter_map(|it| it.toleration_seconds).max()?;
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or_default()))
}
