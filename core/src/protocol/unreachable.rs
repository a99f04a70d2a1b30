//! Causes of unreachable kubelets.

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
