//! How a failure domain fails.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use serde::{Deserialize, Serialize};

use crate::api::{ConditionStatus, NodeName, Pod, PodPhase, Taint, node_condition_type};
use crate::command::Command;
use crate::policy::drain::DrainOptions;
use crate::policy::validation::validate_node_taints;
use crate::simulator::Simulator;
use crate::time::{Span, Timestamp};

/// How long a node that is shut down gives its pods: `shutdownGracePeriod` as most providers set
/// it.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(30);

/// How all nodes of a failure domain fail at once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum Fault {
    /// The kubelets fall silent and never come back. Whether the containers run on nobody knows.
    Lost,
    /// The nodes are off, their pods are down at once, and come back after a while.
    PowerOff {
        /// After how long.
        #[cfg_attr(feature = "typescript-all", tsify(type = "Span"))]
        back_after: Span,
    },
    /// The nodes are cut off the API server and stay so. Their containers run on.
    NetworkCut,
    /// `kubectl drain --ignore-daemonsets --delete-emptydir-data --force`, one node after the
    /// other.
    Drained,
    /// The nodes are shut down and their kubelets end the pods first: Ready is False at once, the
    /// pods fail after their grace period, at most 30 seconds, and then the kubelets are silent.
    ShutDown,
    /// Somebody puts a taint on the nodes.
    Tainted {
        /// The taint.
        taint: Taint,
    },
}

/// `lost`, `power off for 5m0s`.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost => f.write_str("lost"),
            Self::PowerOff { back_after } => write!(f, "power off for {back_after}"),
            Self::NetworkCut => f.write_str("network cut"),
            Self::Drained => f.write_str("drained"),
            Self::ShutDown => f.write_str("shut down"),
            Self::Tainted { taint } => write!(f, "tainted {taint}"),
        }
    }
}

impl Fault {
    /// Whether it can be.
    pub(super) fn check(&self) -> Result<(), String> {
        match self {
            Self::PowerOff { back_after } if back_after.0.is_zero() => {
                Err("a node that is off is back after 1s or more".into())
            }
            Self::Tainted { taint } => {
                let errors = validate_node_taints(core::slice::from_ref(taint), "taint");
                errors.first().map_or(Ok(()), |error| Err(error.to_string()))
            }
            Self::Lost
            | Self::PowerOff { .. }
            | Self::NetworkCut
            | Self::Drained
            | Self::ShutDown => Ok(()),
        }
    }

    /// Until when the pods of the nodes are down whatever the control plane sees, if they are.
    pub(super) fn down_until(&self, at: Timestamp) -> Option<Timestamp> {
        match self {
            Self::PowerOff { back_after } => Some(at.saturating_add(back_after.0)),
            Self::Lost
            | Self::NetworkCut
            | Self::Drained
            | Self::ShutDown
            | Self::Tainted { .. } => None,
        }
    }

    /// What is done to the nodes, and when.
    pub(super) fn commands(
        &self,
        simulator: &Simulator,
        nodes: &[NodeName],
        at: Timestamp,
    ) -> Vec<(Timestamp, Command)> {
        let each = |at: Timestamp, make: &dyn Fn(NodeName) -> Command| -> Vec<_> {
            nodes.iter().map(|node| (at, make(node.clone()))).collect()
        };
        let stop = |node| Command::StopKubelet { node };
        match self {
            Self::Lost => each(at, &stop),
            Self::PowerOff { back_after } => {
                let back = at.saturating_add(back_after.0);
                let mut all = each(at, &stop);
                all.extend(each(back, &|node| Command::StartKubelet { node }));
                all
            }
            Self::NetworkCut => each(at, &|node| Command::CutNetwork { node }),
            Self::Drained => {
                let cordon = |node| Command::SetUnschedulable { node, unschedulable: true };
                let options = DrainOptions {
                    ignore_daemonsets: true,
                    force: true,
                    delete_emptydir_data: true,
                    ..DrainOptions::default()
                };
                let mut all = each(at, &cordon);
                all.push((at, Command::Drain { nodes: nodes.to_vec(), options }));
                all
            }
            Self::ShutDown => {
                let mut all = each(at, &|node| Command::SetNodeCondition {
                    node,
                    type_: node_condition_type::READY.into(),
                    status: ConditionStatus::False,
                    reason: Some("KubeletNotReady".into()),
                    message: Some("node is shutting down".into()),
                });
                for node in nodes {
                    for (_, pod) in simulator.cluster().pods_of(node.as_str()) {
                        all.extend(ended(pod, at));
                    }
                }
                all.sort_by_key(|(at, _)| *at);
                all.extend(each(at.saturating_add(SHUTDOWN_GRACE), &stop));
                all
            }
            Self::Tainted { taint } => {
                each(at, &|node| Command::Taint { node, taint: taint.clone() })
            }
        }
    }
}

/// A pod as the kubelet of a node that shuts down leaves it, and when. Mirrors
/// `nodeshutdown.managerImpl.processShutdownEvent`.
fn ended(pod: &Pod, at: Timestamp) -> Option<(Timestamp, Command)> {
    if !pod.is_active() {
        return None;
    }
    let grace = pod.spec.termination_grace_period_seconds.unwrap_or(30);
    let grace = Duration::from_secs(u64::try_from(grace).unwrap_or_default()).min(SHUTDOWN_GRACE);
    let mut pod = pod.clone();
    pod.status.phase = PodPhase::Failed;
    pod.status.reason = "Terminated".into();
    pod.status.message = "Pod was terminated in response to imminent node shutdown.".into();
    for condition in &mut pod.status.conditions {
        if condition.type_ == "Ready" || condition.type_ == "ContainersReady" {
            condition.status = ConditionStatus::False;
        }
    }
    let update = Command::UpdatePod(pod);
    Some((at.saturating_add(grace), update))
}
