//! Causes of unreachable kubelets.

use core::fmt;

use serde::Serialize;

/// Cause of an unreachable kubelet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub enum UnreachableCause {
    /// The kubelet does not run.
    KubeletStopped,
    /// The node is off.
    NodeOff,
    /// The node has no network.
    NetworkCut,
    /// The node's zone has no network.
    ZoneNetworkCut,
}

/// The cause as a sentence about a node.
impl fmt::Display for UnreachableCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::KubeletStopped => "the kubelet is stopped",
            Self::NodeOff => "the node is off",
            Self::NetworkCut => "the network of the node is cut",
            Self::ZoneNetworkCut => "the network of the zone is cut",
        })
    }
}
