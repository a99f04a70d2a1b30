//! One pod on one node: when is it evicted?

use alloc::format;

use serde::{Deserialize, Serialize};

use super::{ConfigError, Simulator, SimulatorConfig};
use crate::api::{Node, Pod};
use crate::command::Command;
use crate::matching::{Explanation, explain};
use crate::release::FeatureGate;
use crate::time::Timestamp;
use crate::time_budget::{Moment, TimeBudget};

/// What happens to the node, at time zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub enum Trouble {
    /// The taints that it has are put on it: the pod and the taints meet at zero.
    #[default]
    Tainted,
    /// Its kubelet falls silent, in a cluster that is otherwise healthy.
    Lost,
}

/// When a pod is evicted, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct WhenEvicted {
    /// Whether it is evicted at all.
    pub evicted: bool,
    /// When a controller deletes it; absent if none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Moment>,
    /// When its object is gone; absent if it stays, as on a node that is lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gone_at: Option<Moment>,
    /// How its tolerations answer the taints that the node has in the end.
    pub matching: Explanation,
    /// The terms that add up to the moment; absent if it is not evicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<TimeBudget>,
}

/// How many deadlines one eviction takes at most; a few dozen in fact.
const MOST_DEADLINES: usize = 10_000;

/// When `pod` is evicted from `node`, and why. Whatever node the pod names, it is put on this one.
///
/// A node that is lost is one of two, of which the other is healthy; were it the only one, the node
/// lifecycle controller would take the fault for its own and evict nothing.
///
/// # Errors
/// The configuration cannot be.
pub fn when_evicted(
    mut config: SimulatorConfig,
    mut node: Node,
    mut pod: Pod,
    trouble: Trouble,
) -> Result<WhenEvicted, ConfigError> {
    if node.metadata.name.is_empty() {
        node.metadata.name = "node".into();
    }
    if pod.metadata.name.is_empty() {
        pod.metadata.name = "pod".into();
    }
    let name = node.metadata.name.clone();
    pod.spec.node_name.clone_from(&name);
    let key = pod.key();
    config.node_lifecycle = trouble == Trouble::Lost;
    let mut simulator = if config.node_lifecycle {
        let mut healthy = Node::default();
        healthy.metadata.name = format!("{name}-healthy");
        healthy.metadata.labels.clone_from(&node.metadata.labels);
        Simulator::new(config, [node, healthy], [pod.clone()])?
    } else {
        Simulator::new(config, [node], [pod.clone()])?
    };
    if trouble == Trouble::Lost {
        let command = Command::StopKubelet { node: name.as_str().into() };
        // The node is there and its kubelet runs, so this cannot be refused.
        let _ = simulator.handle_command(Timestamp::ZERO, command);
    }
    let forecast = simulator.forecast(Timestamp::MAX, MOST_DEADLINES);
    let end = forecast.simulator();
    let budget = end.time_budget(&key).filter(|budget| budget.over);
    let taints = end.cluster.get_node(&name).map_or(&[][..], |node| &node.spec.taints);
    let gate = end.gates.is_enabled(FeatureGate::TaintTolerationComparisonOperators);
    Ok(WhenEvicted {
        evicted: budget.is_some(),
        at: budget.as_ref().map(|budget| budget.evicted_at),
        gone_at: budget.as_ref().and_then(|budget| budget.gone_at),
        matching: explain(taints, &pod.spec.tolerations, gate),
        budget,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::default_tolerations;
    use crate::api::{Taint, TaintEffect, Toleration, TolerationOperator};

    fn tolerating(seconds: Option<i64>) -> Pod {
        let mut pod = Pod::default();
        pod.spec.tolerations.push(Toleration {
            key: "example.com/maintenance".into(),
            operator: TolerationOperator::Exists,
            toleration_seconds: seconds,
            effect: TaintEffect::NoExecute,
            ..Toleration::default()
        });
        pod
    }

    fn at(node: &Node, pod: &Pod, trouble: Trouble) -> Option<i64> {
        let config = SimulatorConfig::default();
        let answer = when_evicted(config, node.clone(), pod.clone(), trouble).unwrap();
        assert_eq!(answer.evicted, answer.at.is_some());
        answer.at.map(|at| at.as_nanos() / 1_000_000_000)
    }

    #[test]
    fn a_tainted_node() {
        let mut node = Node::default();
        let taint = Taint::new("example.com/maintenance", "", TaintEffect::NoExecute);
        assert_eq!(at(&node, &Pod::default(), Trouble::Tainted), None, "no taint");
        node.spec.taints.push(taint);
        assert_eq!(at(&node, &Pod::default(), Trouble::Tainted), Some(0));
        assert_eq!(at(&node, &tolerating(Some(90)), Trouble::Tainted), Some(90));
        assert_eq!(at(&node, &tolerating(None), Trouble::Tainted), None, "for ever");
    }

    #[test]
    fn a_lost_node_is_not_the_only_one() {
        let mut pod = Pod::default();
        pod.spec.tolerations = default_tolerations().to_vec();
        let node = Node::default();
        let release = SimulatorConfig::default();
        let answer = when_evicted(release, node.clone(), pod.clone(), Trouble::Lost).unwrap();
        let budget = answer.budget.unwrap();
        assert!(budget.terms.len() > 3, "{budget}");
        assert!(at(&node, &pod, Trouble::Lost).unwrap() > 340, "{budget}");
        assert_eq!(at(&node, &Pod::default(), Trouble::Lost).map(|s| s < 100), Some(true));
    }
}
