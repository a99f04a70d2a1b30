//! Faults: how a failure domain fails.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};
use taintlab_engine::command::Command;
use taintlab_rules::api::{NodeName, Taint};
use taintlab_rules::policy::drain::DrainOptions;
use taintlab_rules::policy::validation::validate_node_taints;
use taintlab_rules::time::{Span, Timestamp};

/// A fault that hits all nodes of a failure domain at the same time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum Fault {
    /// The kubelets are unreachable and never come back. Whether the containers keep running is
    /// unknown.
    Lost,
    /// The nodes lose power: their pods are down immediately, and start again when the nodes are
    /// back.
    PowerOff {
        /// Time without power.
        #[cfg_attr(feature = "typescript-all", tsify(type = "Span"))]
        back_after: Span,
    },
    /// The nodes lose the network to the API server for good. Their containers keep running.
    NetworkCut,
    /// `kubectl drain --ignore-daemonsets --delete-emptydir-data --force`, one node after the
    /// other.
    Drained,
    /// The nodes are shut down and stay off. Their kubelets end the pods first, as configured, or
    /// by default within 30 seconds, the last 10 of them for critical pods. Up to 1.20 kubelets do
    /// not, and the pods end with the nodes.
    ShutDown,
    /// The driver of a device pool taints all its devices, `DRIVER/unhealthy:NoExecute`. The fault of
    /// device pools alone.
    DevicesTainted,
    /// Somebody taints the nodes.
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
            Self::DevicesTainted => f.write_str("tainted by its driver"),
            Self::Tainted { taint } => write!(f, "tainted {taint}"),
        }
    }
}

impl Fault {
    /// Verb at the start of a sentence: `losing`.
    pub(super) const fn act(&self) -> &'static str {
        match self {
            Self::Lost => "losing",
            Self::PowerOff { .. } => "switching off",
            Self::NetworkCut => "cutting off",
            Self::Drained => "draining",
            Self::ShutDown => "shutting down",
            Self::DevicesTainted | Self::Tainted { .. } => "tainting",
        }
    }

    /// Rejects invalid values.
    pub(super) fn check(&self) -> Result<(), String> {
        match self {
            Self::PowerOff { back_after } if back_after.0.is_zero() => {
                Err("a node that is off is back after 1s or more".into())
            }
            Self::Tainted { taint } => {
                let errors = validate_node_taints(core::slice::from_ref(taint), "taint");
                errors.first().map_or(Ok(()), |error| Err(error.to_string()))
            }
            Self::DevicesTainted => {
                Err("`devicesTainted` is the fault of device pools, whatever is given here".into())
            }
            Self::Lost
            | Self::PowerOff { .. }
            | Self::NetworkCut
            | Self::Drained
            | Self::ShutDown => Ok(()),
        }
    }

    /// Time until which the pods of the nodes are down, whatever the control plane sees; `None`
    /// unless the power is off.
    pub(super) fn down_until(&self, at: Timestamp) -> Option<Timestamp> {
        match self {
            Self::PowerOff { back_after } => Some(at.saturating_add(back_after.0)),
            Self::Lost
            | Self::NetworkCut
            | Self::Drained
            | Self::ShutDown
            | Self::DevicesTainted
            | Self::Tainted { .. } => None,
        }
    }

    /// Commands that the fault gives to nodes, with their times.
    pub(crate) fn commands(&self, nodes: &[NodeName], at: Timestamp) -> Vec<(Timestamp, Command)> {
        let each = |at: Timestamp, make: &dyn Fn(NodeName) -> Command| -> Vec<_> {
            nodes.iter().map(|node| (at, make(node.clone()))).collect()
        };
        match self {
            Self::Lost => each(at, &|node| Command::StopKubelet { node }),
            Self::PowerOff { back_after } => {
                let back = at.saturating_add(back_after.0);
                let mut all = each(at, &|node| Command::PowerOffNode { node });
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
            Self::ShutDown => each(at, &Command::shut_down_gracefully),
            Self::DevicesTainted => Vec::new(),
            Self::Tainted { taint } => {
                each(at, &|node| Command::Taint { node, taint: taint.clone() })
            }
        }
    }
}
