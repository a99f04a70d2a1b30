//! Why a kubelet is unreachable.

use serde::Serialize;

/// Why a kubelet is unreachable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub enum UnreachableCause {
    /// It does not run.
    KubeletStopped,
    /// The node is off.
    NodeOff,
    /// The node is cut off.
    NetworkCut,
    /// The node's zone is cut off.
    ZoneNetworkCut,
}
