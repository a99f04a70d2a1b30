//! Procedures: nodes, and an act on them.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use serde::Serialize;
use taintlab_rules::api::{Node, NodeName, Taint};
use taintlab_rules::cluster::Cluster;
use taintlab_rules::order::OrderedSet;
use taintlab_rules::plural::no_such;
use taintlab_rules::policy::drain::DrainOptions;
use taintlab_rules::policy::validation::validate_node_taints;
use taintlab_rules::protocol::zone::{ZoneKey, find_zone};
use taintlab_rules::time::Span;

use super::{no_node, wrong};
use crate::report::ReportError;

/// Something that is done to several nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Procedure {
    /// Which nodes.
    pub nodes: NodeChoice,
    /// What is done to them.
    pub act: Act,
}

/// Some nodes of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeChoice {
    /// Those with these names, in this order.
    Named(Vec<NodeName>),
    /// Those with a label of this value, by name.
    Labelled {
        /// Name of the label.
        key: String,
        /// Its value.
        value: String,
    },
    /// Those of a zone, by name: the value of the label `topology.kubernetes.io/zone`.
    Zone(String),
}

/// What is done to nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Act {
    /// `kubectl drain`. All nodes are cordoned at the beginning, and stay so.
    Drain {
        /// Flags of the drain.
        options: DrainOptions,
        /// Number of nodes that are drained at the same time, from 1.
        at_once: usize,
    },
    /// The nodes are replaced, as providers upgrade pools: each is cordoned and drained when its turn
    /// comes, then deleted, and a new one of the same kind takes its place. A drain that fails ends
    /// the upgrade.
    Upgrade {
        /// Flags of the drains.
        options: DrainOptions,
        /// Number of nodes whose replacement comes after they are gone.
        max_unavailable: usize,
        /// Number of nodes whose replacement comes before they are drained.
        surge: usize,
        /// Time from the request for a new node to its being ready.
        node_start_up: Span,
    },
    /// The provider takes all nodes away at the same time, after a notice. Each node is deleted once
    /// it is seen not to be ready, as the cloud node lifecycle controller does.
    Spot {
        /// Time between the notice and the end of the nodes.
        notice: Span,
        /// What is done at the notice.
        handler: SpotHandler,
        /// Flags of the drains.
        options: DrainOptions,
    },
    /// The nodes are tainted at the same time.
    Taint {
        /// The taint.
        taint: Taint,
    },
}

/// What a program on the nodes does when the provider announces that it takes them away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum SpotHandler {
    /// It cordons and drains them.
    Drain,
    /// It taints them.
    Taint(Taint),
    /// There is none.
    None,
}

/// Time between two looks of the cloud node lifecycle controller at nodes that are not ready:
/// `--node-monitor-period` of the cloud controller manager.
pub(super) const CLOUD_NODE_PERIOD: Duration = Duration::from_secs(5);

impl NodeChoice {
    /// The nodes in a cluster.
    pub(super) fn of(&self, cluster: &Cluster) -> Result<Vec<NodeName>, ReportError> {
        let chosen = |is_chosen: &dyn Fn(&Node) -> bool| -> Vec<NodeName> {
            let nodes = cluster.nodes().filter(|(_, node)| is_chosen(node));
            nodes.map(|(name, _)| name.clone()).collect()
        };
        let nodes = match self {
            Self::Named(names) => {
                let known: Vec<&str> = cluster.nodes().map(|(name, _)| name.as_str()).collect();
                if let Some(name) = names.iter().find(|it| cluster.get_node(it.as_str()).is_none())
                {
                    return Err(no_node(name.as_str(), &known));
                }
                names.clone()
            }
            Self::Labelled { key, value } => {
                let found = chosen(&|node| node.metadata.labels.get(key) == Some(value));
                if found.is_empty() {
                    return Err(wrong("nodes", format!("no node has the label {key}={value}")));
                }
                found
            }
            Self::Zone(zone) => {
                let zone_of = |node: &Node| ZoneKey::of(&node.metadata.labels);
                let zones: OrderedSet<ZoneKey> =
                    cluster.nodes().map(|(_, node)| zone_of(node)).collect::<OrderedSet<_>>();
                let zone = find_zone(&zones, zone).map_err(|meant| {
                    let all = || zones.iter().map(ZoneKey::name).collect();
                    let known: Vec<String> = if meant.is_empty() { all() } else { meant };
                    let known: Vec<&str> = known.iter().map(String::as_str).collect();
                    wrong("nodes", no_such("zone", zone, &known))
                })?;
                chosen(&|node| zone_of(node) == zone)
            }
        };
        if nodes.is_empty() {
            return Err(wrong("nodes", "expected one node at least".into()));
        }
        let distinct = nodes.iter().collect::<OrderedSet<_>>();
        if distinct.len() < nodes.len() {
            return Err(wrong("nodes", "a node is named twice".into()));
        }
        Ok(nodes)
    }
}

impl Act {
    pub(super) fn check(&self) -> Result<(), ReportError> {
        match self {
            Self::Drain { at_once: 0, .. } => {
                Err(wrong("parallel", "expected one node at a time at least".into()))
            }
            Self::Upgrade { max_unavailable: 0, surge: 0, .. } => {
                let why = "nothing can begin while neither a node may be missing nor a further one \
                    may come: expected 1 or more of either";
                Err(wrong("max-unavailable", why.into()))
            }
            Self::Taint { taint } | Self::Spot { handler: SpotHandler::Taint(taint), .. } => {
                let errors = validate_node_taints(core::slice::from_ref(taint), "taint");
                errors.first().map_or(Ok(()), |error| Err(wrong("taint", format!("{error}"))))
            }
            Self::Drain { .. } | Self::Upgrade { .. } | Self::Spot { .. } => Ok(()),
        }
    }

    /// Flags of the drains.
    pub(super) const fn drain_options(&self) -> Option<&DrainOptions> {
        match self {
            Self::Drain { options, .. }
            | Self::Upgrade { options, .. }
            | Self::Spot { options, handler: SpotHandler::Drain, .. } => Some(options),
            Self::Spot { .. } | Self::Taint { .. } => None,
        }
    }

    /// Number of nodes whose turn it is at the same time; `None` if it is that of all.
    pub(super) const fn at_once(&self) -> Option<usize> {
        match self {
            Self::Drain { at_once, .. } => Some(*at_once),
            Self::Upgrade { max_unavailable, surge, .. } => Some(*max_unavailable + *surge),
            Self::Spot { .. } | Self::Taint { .. } => None,
        }
    }
}
