//! A kubelet and its node, to look at.

use alloc::vec::Vec;

use serde::Serialize;
use taintlab_rules::api::{ConditionStatus, NodeCondition, NodeName, node_condition_type};
use taintlab_rules::time::Timestamp;

use super::Simulator;
use crate::controllers::node_lifecycle::NodeHealthView;
use crate::event::UnreachableCause;
use crate::eviction_timeline::time_budget::Moment;
use crate::kubelet::{NodePower, NodeShutdownConfig};

/// A node's kubelet, and how the node lifecycle controller sees the node.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct NodeView {
    /// Which node.
    pub node: NodeName,
    /// Whether its kubelet runs.
    pub kubelet_runs: bool,
    /// Whether the node is on; absent if it is.
    #[serde(skip_serializing_if = "taintlab_rules::api::is_default")]
    #[cfg_attr(feature = "typescript-all", tsify(optional))]
    pub power: NodePower,
    /// Whether the node by itself is cut off the API server.
    pub network_cut: bool,
    /// Why its kubelet is disconnected from the API server; absent if it is connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreachable: Option<UnreachableCause>,
    /// When it renewed its lease last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_renewed_at: Option<Moment>,
    /// When it posted its status last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_posted_at: Option<Moment>,
    /// When it renews its lease next; absent while it is disconnected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_renewal: Option<Timestamp>,
    /// When it posts its status next, if nothing changes; absent while it is disconnected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_post: Option<Timestamp>,
    /// When it starts or stops by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switches_at: Option<Timestamp>,
    /// How many deletions of pods it has not confirmed, since it is disconnected.
    pub unconfirmed_deletions: usize,
    /// What the node lifecycle controller knows; absent if it has not seen the node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<NodeHealthView>,
    /// The conditions of the node, with the heartbeats of the last post.
    pub conditions: Vec<NodeCondition>,
}

impl NodeView {
    /// What the kubelet of a node goes by when the node is shut down.
    pub fn shutdown_config<'s>(
        simulator: &'s Simulator,
        node: &NodeName,
    ) -> &'s NodeShutdownConfig {
        simulator.kubelets.shutdown_config(node)
    }

    /// Whether the node is ready and nothing known makes it otherwise: its kubelet is connected,
    /// says that the node is ready, and does not stop by itself.
    pub(super) fn stays_ready(&self) -> bool {
        let is_ready = |condition: &NodeCondition| {
            condition.type_ == node_condition_type::READY
                && condition.status == ConditionStatus::True
        };
        self.unreachable.is_none()
            && self.switches_at.is_none()
            && self.conditions.iter().any(is_ready)
    }

    /// How a node is doing; `None` if there is no such node, or if there are no kubelets.
    pub(super) fn of(simulator: &Simulator, name: &str) -> Option<Self> {
        let Simulator { api, kubelets, nodes, .. } = simulator;
        let kubelet = kubelets.get(name)?;
        let posted = simulator.node_as_served(name)?;
        let node = NodeName::from(name);
        let (start, now) = (api.config.start, api.now);
        let moment = |time| Moment::of(time, start);
        let (lease, status) = (&kubelet.heartbeats.lease, &kubelet.heartbeats.status);
        let next = |at: Timestamp| kubelet.connected.then_some(at);
        Some(Self {
            kubelet_runs: kubelet.runs,
            power: kubelet.power(),
            network_cut: kubelet.cut,
            unreachable: kubelets.unreachable_cause(&api.cluster, &node),
            lease_renewed_at: lease.time(start, now).map(moment),
            status_posted_at: status.time(start, now).map(moment),
            next_renewal: next(lease.next_after(now)),
            next_post: next(kubelet.posts_at(now)),
            switches_at: kubelet.switches_at(),
            unconfirmed_deletions: kubelet.unconfirmed_count(),
            health: nodes.lifecycle.as_ref().and_then(|c| c.node_health(now, name)),
            conditions: posted.status.conditions.clone(),
            node,
        })
    }
}
