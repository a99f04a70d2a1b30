//! The scores of the nodes that fit, and which is the best.

use alloc::vec::Vec;

use serde::Serialize;

use super::filters::Cycle;
use super::snapshot::NodeInfo;
use super::{MAX_NODE_SCORE, PluginScore, affinity, spread};
use crate::api::{TaintEffect, Toleration};
use crate::policy::matching::tolerations_tolerate_taint;

/// A plugin that says how good a node is, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
pub enum ScorePlugin {
    /// Few `PreferNoSchedule` taints that are not tolerated.
    TaintToleration,
    /// Preferred node affinity.
    NodeAffinity,
    /// Much CPU and memory left (`LeastAllocated`).
    NodeResourcesFit,
    /// CPU and memory used alike.
    NodeResourcesBalancedAllocation,
    /// Spread over hosts and zones.
    PodTopologySpread,
    /// Preferred affinity and anti-affinity between pods.
    InterPodAffinity,
}

impl Cycle<'_> {
    /// The scores of each of the nodes that fit, after normalisation.
    pub(super) fn scores(&self, nodes: &[&NodeInfo]) -> Vec<Vec<PluginScore>> {
        let pod = &self.pod;
        let raw = |score: &dyn Fn(&NodeInfo) -> i64| nodes.iter().map(|node| score(node)).collect();
        let kept: Vec<Toleration> = pod
            .tolerations
            .iter()
            .filter(|toleration| {
                matches!(toleration.effect, TaintEffect::Empty | TaintEffect::PreferNoSchedule)
            })
            .cloned()
            .collect();
        let new = self.release().score_weights_of_v1beta3();
        let (three, two) = if new { (3, 2) } else { (1, 1) };
        let preferred = &pod.fields.preferred_node_terms;
        let columns = [
            (
                ScorePlugin::TaintToleration,
                three,
                normalise(raw(&|node| self.intolerable(node, &kept)), true),
            ),
            (
                ScorePlugin::NodeAffinity,
                two,
                normalise(
                    raw(&|node| {
                        let likes = preferred
                            .iter()
                            .filter(|like| like.term.matches(&node.name, &node.labels));
                        likes.map(|like| like.weight).sum()
                    }),
                    false,
                ),
            ),
            (ScorePlugin::NodeResourcesFit, 1, raw(&|node| self.least_allocated(node))),
            (ScorePlugin::NodeResourcesBalancedAllocation, 1, raw(&|node| self.balanced(node))),
            (ScorePlugin::PodTopologySpread, 2, spread::scores(self.snapshot, pod, nodes)),
            (ScorePlugin::InterPodAffinity, two, affinity::scores(self.snapshot, pod, nodes)),
        ];
        let row = |index: usize| {
            let cell = |(plugin, weight, scores): &(ScorePlugin, i64, Vec<i64>)| PluginScore {
                plugin: *plugin,
                score: scores.get(index).copied().unwrap_or_default(),
                weight: *weight,
            };
            columns.iter().map(cell).collect()
        };
        (0..nodes.len()).map(row).collect()
    }

    /// Mirrors `countIntolerableTaintsPreferNoSchedule`.
    fn intolerable(&self, node: &NodeInfo, tolerations: &[Toleration]) -> i64 {
        let operators = self.snapshot.config.comparison_operators;
        let taints = node.taints.iter().filter(|taint| {
            taint.effect == TaintEffect::PreferNoSchedule
                && !tolerations_tolerate_taint(tolerations, taint, operators)
        });
        i64::try_from(taints.count()).unwrap_or(i64::MAX)
    }

    /// Mirrors `leastResourceScorer`.
    fn least_allocated(&self, node: &NodeInfo) -> i64 {
        let (mut sum, mut resources) = (0, 0);
        for name in ["cpu", "memory"] {
            let Some(most) = node.allocatable.get(name).filter(|most| **most > 0) else { continue };
            let used = node.scored_requested.get(name).copied().unwrap_or_default();
            let wanted = self.pod.scored_requests.get(name).copied().unwrap_or_default();
            let left = most.saturating_sub(used.saturating_add(wanted)).max(0);
            sum += left.saturating_mul(MAX_NODE_SCORE) / most;
            resources += 1;
        }
        if resources == 0 { 0 } else { sum / resources }
    }

    /// Mirrors `balancedResourceScorer`.
    fn balanced(&self, node: &NodeInfo) -> i64 {
        let fraction = |name: &str| {
            let most = node.allocatable.get(name).filter(|most| **most > 0)?;
            let used = node.requested.get(name).copied().unwrap_or_default();
            let wanted = self.pod.requests.get(name).copied().unwrap_or_default();
            Some((used.saturating_add(wanted) as f64 / *most as f64).min(1.0))
        };
        match (fraction("cpu"), fraction("memory")) {
            (Some(cpu), Some(memory)) => {
                let deviation = (if cpu > memory { cpu - memory } else { memory - cpu }) / 2.0;
                ((1.0 - deviation) * MAX_NODE_SCORE as f64) as i64
            }
            (None, None) => 0,
            _ => MAX_NODE_SCORE,
        }
    }
}

/// Brings scores to 0 to 100 by the largest. Mirrors `DefaultNormalizeScore`.
fn normalise(mut scores: Vec<i64>, reverse: bool) -> Vec<i64> {
    let most = scores.iter().max().copied().unwrap_or(0);
    for score in &mut scores {
        let share = if most == 0 { 0 } else { MAX_NODE_SCORE.saturating_mul(*score) / most };
        *score = if reverse { MAX_NODE_SCORE - share } else { share };
    }
    scores
}

/// The scores, none of them outside 0 to 100.
pub(super) fn clamp(scores: impl Iterator<Item = i64>) -> Vec<i64> {
    scores.map(|score| score.clamp(0, MAX_NODE_SCORE)).collect()
}
