//! The controller that monitors nodes: it detects missing heartbeats, taints nodes so that their
//! pods leave, and stops when too many nodes are in trouble.
//!
//! Mirrors `k8s.io/kubernetes/pkg/controller/nodelifecycle`.
//!
//! # How to drive it
//!
//! 1. Report every change of a node, of a node's lease, or of a pod: [`handle_node_update`],
//!    [`handle_lease_update`], [`handle_pod_update`]. For a kubelet with periodic heartbeats, a
//!    single [`handle_heartbeats`] suffices.
//! 2. Carry out the actions from [`poll_action`] until it returns `None`, and report the result of
//!    every request with [`handle_action_result`].
//! 3. When the moment from [`poll_timeout`] has come, call [`handle_timeout`] and go to 2.
//!
//! # Passes
//!
//! Kubernetes looks at all nodes every `--node-monitor-period` (the *health pass*) and at the
//! queues of the zones every 100 ms (the *tainting pass*). Here a pass without effect is neither
//! run nor a deadline; its observations, such as heartbeats, are computed when they are needed. The
//! result is the same as if every pass ran.
//!
//! A health pass works on the nodes as they were at its start; if results are reported immediately,
//! it starts and ends at one moment. A change reported at the moment of a pass, before the pass has
//! run, is seen by it; [`end_instant`] ends a moment.
//!
//! This engine orders by name where Kubernetes leaves an order unspecified (nodes in a pass,
//! zones).
//!
//! [`handle_node_update`]: NodeLifecycleController::handle_node_update
//! [`handle_lease_update`]: NodeLifecycleController::handle_lease_update
//! [`handle_heartbeats`]: NodeLifecycleController::handle_heartbeats
//! [`handle_pod_update`]: NodeLifecycleController::handle_pod_update
//! [`poll_action`]: NodeLifecycleController::poll_action
//! [`handle_action_result`]: NodeLifecycleController::handle_action_result
//! [`poll_timeout`]: NodeLifecycleController::poll_timeout
//! [`handle_timeout`]: NodeLifecycleController::handle_timeout
//! [`end_instant`]: NodeLifecycleController::end_instant

mod action;
mod config;
mod controller;
mod disruption;
mod due;
mod flow;
mod health;
mod legacy;
mod no_schedule;
mod pass;
mod pods;
mod rate;
mod record;
mod recording;
mod requests;
mod taint_history;
mod tainting;
#[cfg(test)]
mod tests;
mod view;
mod work;

pub use self::action::{
    DequeueOutcome, NODE_LOST, NodeLifecycleAction, NodeLifecycleReport, PodStatusPatch, TaintPatch,
};
pub use self::config::NodeLifecycleConfig;
pub use self::controller::{NODE_EVICTION_PERIOD, NodeLifecycleController};
pub(crate) use self::flow::Client;
pub use self::health::{NodeHealth, Ready, Renewal};
pub use self::rate::RateSource;
pub use self::record::EvictionStatus;
pub use self::taint_history::{Dequeued, MissedHeartbeats, NodeTaintHistory};
pub use self::view::{NodeHealthView, QueuedNode, ZoneView};
pub use taintlab_rules::protocol::{
    FlagError, HeartbeatSchedule, Jitter, PeriodicHeartbeat, RequestId, zone,
};
