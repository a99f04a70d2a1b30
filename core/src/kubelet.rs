//! The kubelets: what they report of their nodes and when, and how they evict pods.

pub mod eviction;
pub mod heartbeat;
pub mod pod_status;

pub use self::eviction::*;
