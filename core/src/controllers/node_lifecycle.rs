//! The controller that watches over nodes: it notices that a node sends no heartbeats, taints nodes
//! so that their pods leave, and stops when too many nodes are in trouble.
//!
//! Mirrors `k8s.io/kubernetes/pkg/controller/nodelifecycle`.
//!
//! # How to drive it
//!
//! 1. Tell it of every change of a node, of a node's lease, or of a pod: [`handle_node_update`],
//!    [`handle_lease_update`], [`handle_pod_update`]. A kubelet that sends by the clock is told of
//!    once, by [`handle_heartbeats`].
//! 2. Carry out what [`poll_action`] gives until it gives nothing, and tell the result of every
//!    request with [`handle_action_result`].
//! 3. When [`poll_timeout`] names a moment that has come, call [`handle_timeout`] and go to 2.
//!
//! # Passes
//!
//! Kubernetes looks at all nodes every `--node-monitor-period` (the *health pass*) and at the
//! queues of the zones every 100 ms (the *tainting pass*). Here a pass that would change nothing is
//! not run and is no deadline; what it would have noted, such as a sign of life, is worked out when
//! it is needed. The result is that of running each one.
//!
//! A health pass is one piece: it works on the nodes as they were when it began and, if results
//! are given at once, begins and ends at one moment. A change told at the moment of a pass, before
//! the pass has run, is seen by it; [`end_instant`] ends a moment.
//!
//! Where Kubernetes leaves an order open (nodes in a pass, zones), this engine goes by name.
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
mod record;
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
pub use self::record::EvictionStatus;
pub use self::taint_history::{Dequeued, MissedHeartbeats, NodeTaintHistory};
pub use self::view::{NodeHealthView, QueuedNode, RateSource, ZoneView};
pub use crate::protocol::{
    FlagError, HeartbeatSchedule, Jitter, PeriodicHeartbeat, RequestId, zone,
};
