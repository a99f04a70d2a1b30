//! The kubelets: what they report of their nodes and when, how they evict pods, and how they end
//! them when the node is shut down; and all of a cluster as one machine.

pub mod eviction;
pub mod heartbeat;
mod kubelets;
pub mod node_shutdown;
pub mod pod_columns;
pub mod pod_status;

pub(crate) use self::eviction::is_static_pod;
pub use self::eviction::*;
pub use self::kubelets::{
    EvictionView, NodePower, PodSeries, SignalView, ThresholdLine, UsageSeries,
};
pub(crate) use self::kubelets::{
    Heartbeats, KubeletAction, KubeletError, KubeletSetup, Kubelets, KubeletsConfig, Termination,
    usage_by_status,
};
pub use self::node_shutdown::{
    NodeShutdownConfig, NodeShutdownReport, ShutdownGracePeriodByPodPriority, ShutdownGroup,
};
pub(crate) use self::pod_status::identifier;
