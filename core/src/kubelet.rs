//! The kubelets: what they report of their nodes and when, and how they evict pods; and all of a
//! cluster as one machine.

pub mod eviction;
pub mod heartbeat;
mod kubelets;
pub mod pod_columns;
pub mod pod_status;

pub(crate) use self::eviction::is_static_pod;
pub use self::eviction::*;
pub use self::kubelets::{EvictionView, PodSeries, SignalView, ThresholdLine, UsageSeries};
pub(crate) use self::kubelets::{
    Heartbeats, KubeletAction, KubeletError, Kubelets, KubeletsConfig, Termination, usage_by_status,
};
pub(crate) use self::pod_status::identifier;
