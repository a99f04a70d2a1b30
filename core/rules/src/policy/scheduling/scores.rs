//! The scores of the nodes that fit, and which is the best.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::mem;

use serde::Serialize;

use super::alike::{Answer, LabelValues};
use super::filters::Cycle;
use super::info::NodeInfo;
use super::{MAX_NODE_SCORE, PluginScore, affinity, spread};
use crate::api::{Amounts, NodeSelectorTerm, TaintEffect, Toleration, Weighted};
use crate::policy::matching::tolerations_tolerate_taint;

/// A plugin that says how good a node is, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
pub enum ScorePlugin {
    /// Few `PreferNoSchedule` taints that are not tolerated.
    TaintToleration,
    /// Preferred node affinity.
    NodeAffinity,
    /// Much CPU and memory left (`LeastAllocated`), since 1.22.
    NodeResourcesFit,
    /// Much CPU and memory left, to 1.21.
    NodeResourcesLeastAllocated,
    /// CPU and memory used alike.
    NodeResourcesBalancedAllocation,
    /// Spread over hosts and zones.
    PodTopologySpread,
    /// Preferred affinity and anti-affinity between pods.
    InterPodAffinity,
    /// Images that are there already.
    ImageLocality,
    /// The node would rather not have pods of the controller, to 1.22.
    NodePreferAvoidPods,
    /// Spread over hosts and zones, to 1.19.
    SelectorSpread,
}

/// What one plugin says of the nodes that fit: before and after normalisation.
struct Column<'a> {
    plugin: ScorePlugin,
    weight: i64,
    raw: &'a [i64],
    normalised: &'a [i64],
}

impl Cycle<'_> {
    /// Why the nodes cannot be scored, which keeps the pod off all of them. Mirrors an error of
    /// `RunScorePlugins`.
    pub(super) fn score_error(&self) -> Option<String> {
        let likes = self.pod.fields.preferred_node_terms.iter().filter(|like| like.weight != 0);
        let mut errors: Vec<&str> = Vec::new();
        for error in likes.filter_map(|like| like.term.parse_error.as_deref()) {
            if !errors.contains(&error) {
                errors.push(error);
            }
        }
        // Before, the first one ended it.
        if !self.release().prefers_nodes_by_fields() {
            errors.truncate(1);
        }
        let all = match errors.as_slice() {
            [] => return None,
            [error] => (*error).to_string(),
            errors => format!("[{}]", errors.join(", ")),
        };
        let plugin = "running Score plugins: plugin \"NodeAffinity\" failed with: ";
        Some([plugin, &all].concat())
    }

    /// The scores of each of the nodes that fit.
    pub(super) fn scores(&self, nodes: &[&NodeInfo]) -> Vec<Vec<PluginScore>> {
        let kept = self.kept();
        let answers: Vec<Answer> =
            nodes.iter().map(|node| self.answer(node, true, &kept)).collect();
        let mut rows = alloc::vec![Vec::new(); nodes.len()];
        self.each_column(nodes, &answers, &mut LabelValues::default(), &mut |column| {
            let Column { plugin, weight, raw, normalised } = column;
            for ((row, raw), score) in rows.iter_mut().zip(raw).zip(normalised) {
                row.push(PluginScore { plugin, raw: *raw, score: *score, weight });
            }
        });
        rows
    }

    /// What a node says by itself; `kept` are [`kept`](Self::kept) tolerations.
    pub(super) fn answer(&self, node: &NodeInfo, fits: bool, kept: &[Toleration]) -> Answer {
        if !fits {
            return Answer { fits, taints: 0, labels: 0, least_allocated: 0, balanced: 0 };
        }
        Answer {
            fits,
            taints: self.intolerable(node, kept),
            labels: self.preferred(node),
            least_allocated: self.least_allocated(node),
            balanced: self.balanced(node),
        }
    }

    /// The tolerations that count for scores.
    pub(super) fn kept(&self) -> Vec<Toleration> {
        let counts = |toleration: &&Toleration| {
            matches!(toleration.effect, TaintEffect::Empty | TaintEffect::PreferNoSchedule)
        };
        self.pod.tolerations.iter().filter(counts).cloned().collect()
    }

    /// The sums of scores times weights of each of the nodes that fit, with what they say by
    /// themselves.
    pub(super) fn totals(
        &self,
        nodes: &[&NodeInfo],
        answers: &[Answer],
        labels: &mut LabelValues,
    ) -> Vec<i64> {
        let mut totals = alloc::vec![0; nodes.len()];
        self.each_column(nodes, answers, labels, &mut |column| {
            for (total, score) in totals.iter_mut().zip(column.normalised) {
                *total += score * column.weight;
            }
        });
        totals
    }

    /// Tells the scores of each plugin of the release, with its weight, one after the other.
    fn each_column(
        &self,
        nodes: &[&NodeInfo],
        answers: &[Answer],
        labels: &mut LabelValues,
        tell: &mut dyn FnMut(Column<'_>),
    ) {
        let (pod, release) = (&self.pod, self.release());
        let mut column = |plugin, weight, raw: &[i64], normalised: &[i64]| {
            tell(Column { plugin, weight, raw, normalised });
        };
        let new = release.score_weights_of_v1beta3();
        let (three, two) = if new { (3, 2) } else { (1, 1) };
        let (mut raw, mut normalised) =
            (mem::take(&mut labels.room.raw), mem::take(&mut labels.room.normalised));
        let said = |raw: &mut Vec<i64>, part: fn(&Answer) -> i64| {
            raw.clear();
            raw.extend(answers.iter().map(part));
        };
        said(&mut raw, |answer| answer.taints);
        normalise(&raw, true, &mut normalised);
        column(ScorePlugin::TaintToleration, three, &raw, &normalised);
        said(&mut raw, |answer| answer.labels);
        normalise(&raw, false, &mut normalised);
        column(ScorePlugin::NodeAffinity, two, &raw, &normalised);
        let least_allocated = match release.scores_resources_by_fit() {
            true => ScorePlugin::NodeResourcesFit,
            false => ScorePlugin::NodeResourcesLeastAllocated,
        };
        said(&mut raw, |answer| answer.least_allocated);
        column(least_allocated, 1, &raw, &raw);
        said(&mut raw, |answer| answer.balanced);
        column(ScorePlugin::NodeResourcesBalancedAllocation, 1, &raw, &raw);
        let weight = if release.weighs_spread_scores() { 2 } else { 1 };
        spread::scores(self.snapshot, pod, nodes, labels, &mut raw, &mut normalised);
        column(ScorePlugin::PodTopologySpread, weight, &raw, &normalised);
        affinity::raw_scores(self.snapshot, &pod.group, nodes, &mut raw);
        affinity::normalise(release, &raw, &mut normalised);
        column(ScorePlugin::InterPodAffinity, two, &raw, &normalised);
        let score = |raw: &mut Vec<i64>, score: &dyn Fn(&NodeInfo) -> i64| {
            raw.clear();
            raw.extend(nodes.iter().map(|node| score(node)));
        };
        score(&mut raw, &|node| self.image_locality(node));
        column(ScorePlugin::ImageLocality, 1, &raw, &raw);
        if release.scores_prefer_avoid_pods() {
            score(&mut raw, &|node| self.prefer_avoid(node));
            column(ScorePlugin::NodePreferAvoidPods, 10_000, &raw, &raw);
        }
        if !release.spreads_by_default_constraints() {
            spread::selector_scores(self.snapshot, pod, nodes, &mut raw, &mut normalised);
            column(ScorePlugin::SelectorSpread, 1, &raw, &normalised);
        }
        (labels.room.raw, labels.room.normalised) = (raw, normalised);
    }

    /// Mirrors `nodeaffinity.Score`.
    fn preferred(&self, node: &NodeInfo) -> i64 {
        let by_fields = self.release().prefers_nodes_by_fields();
        let likes = self.pod.fields.preferred_node_terms.iter();
        let matches = |like: &&Weighted<NodeSelectorTerm>| match by_fields {
            true => like.term.matches(&node.name, &node.labels),
            // The fields were not read, so that nothing was required.
            false => {
                let term = NodeSelectorTerm { match_fields: Vec::new(), ..like.term.clone() };
                term.is_empty() || term.matches(&node.name, &node.labels)
            }
        };
        likes.filter(matches).map(|like| like.weight).sum()
    }

    /// Mirrors `imagelocality.Score`.
    fn image_locality(&self, node: &NodeInfo) -> i64 {
        const LEAST: i64 = 23 << 20;
        const MOST: i64 = 1_000 << 20;
        if self.snapshot.images.is_empty() {
            return 0;
        }
        let counted = if self.release().scales_image_scores_by_volumes() {
            self.images.len()
        } else {
            self.container_images
        };
        let most = MOST.saturating_mul(i64::try_from(counted).unwrap_or(i64::MAX));
        if node.images.is_empty() || most <= LEAST {
            return 0;
        }
        let nodes = self.node_count;
        let scaled = |image: &String| {
            let name = normalised_image_name(image);
            let (size, then) = node.images.get(name.as_str())?;
            let now = self.snapshot.images.get(name.as_str()).copied().unwrap_or_default();
            let having = if self.release().counts_images_at_any_time() { now } else { *then };
            Some((*size as f64 * (having as f64 / nodes as f64)) as i64)
        };
        let sum: i64 = self.images.iter().filter_map(scaled).sum();
        MAX_NODE_SCORE.saturating_mul(sum.clamp(LEAST, most) - LEAST) / (most - LEAST)
    }

    /// Mirrors `nodepreferavoidpods.Score`.
    fn prefer_avoid(&self, node: &NodeInfo) -> i64 {
        let owner = self.pod.group.owner.as_ref();
        let owner = owner
            .filter(|(kind, _)| matches!(kind.as_str(), "ReplicationController" | "ReplicaSet"));
        let avoided = owner.is_some_and(|(kind, _)| {
            let mut avoids = node.avoids.iter();
            avoids.any(|avoided| avoided.kind == *kind && avoided.uid == self.controller_uid)
        });
        if avoided { 0 } else { MAX_NODE_SCORE }
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

    /// How much of a resource the node would have in use, of how much; `None` if it has none, or
    /// does not say.
    fn use_of(
        &self,
        node: &NodeInfo,
        name: &str,
        used: &Amounts,
        wanted: &Amounts,
    ) -> Option<(i64, i64)> {
        let most = *node.allocatable.get(name).filter(|most| **most > 0)?;
        let amount = |amounts: &Amounts| amounts.get(name).copied().unwrap_or_default();
        let uncounted = if name == "cpu" { self.uncounted_cpu } else { 0 };
        Some((amount(used).saturating_add(amount(wanted)).saturating_sub(uncounted), most))
    }

    /// Mirrors `leastResourceScorer`.
    fn least_allocated(&self, node: &NodeInfo) -> i64 {
        let (mut sum, mut resources) = (0, 0);
        for name in ["cpu", "memory"] {
            let (all, wanted) = (&node.scored_requested, &self.pod.wanted_in_scores);
            let Some((used, most)) = self.use_of(node, name, all, wanted) else {
                // What a node does not have was no reason to leave it out of the mean.
                resources += i64::from(!self.release().scores_resources_by_fit());
                continue;
            };
            sum += most.saturating_sub(used).max(0).saturating_mul(MAX_NODE_SCORE) / most;
            resources += 1;
        }
        if resources == 0 { 0 } else { sum / resources }
    }

    /// Mirrors `balancedResourceScorer`.
    fn balanced(&self, node: &NodeInfo) -> i64 {
        let asks = |name: &str| self.pod.requests.get(name).is_some_and(|amount| *amount > 0);
        if self.release().skips_balance_of_idle_pods() && !asks("cpu") && !asks("memory") {
            return 0;
        }
        let new = self.release().scores_resources_by_fit();
        let (all, wanted) = match new {
            true => (&node.requested, &self.pod.requests),
            false => (&node.scored_requested, &self.pod.scored_requests),
        };
        let with = self.balance(node, all, wanted);
        if self.release().scores_change_of_balance() {
            let change = with - self.balance(node, all, &Amounts::new());
            let half = MAX_NODE_SCORE / 2;
            return half + (half + change) / 2;
        }
        with
    }

    /// Balance of CPU and memory on a node that also gets `wanted`.
    fn balance(&self, node: &NodeInfo, used: &Amounts, wanted: &Amounts) -> i64 {
        let new = self.release().scores_resources_by_fit();
        let fraction = |name: &str| {
            let (used, most) = self.use_of(node, name, used, wanted)?;
            Some(used as f64 / most as f64)
        };
        let difference =
            |cpu: f64, memory: f64| if cpu > memory { cpu - memory } else { memory - cpu };
        let share = |imbalance: f64| ((1.0 - imbalance) * MAX_NODE_SCORE as f64) as i64;
        match (fraction("cpu"), fraction("memory")) {
            (Some(cpu), Some(memory)) if new => {
                share(difference(cpu.min(1.0), memory.min(1.0)) / 2.0)
            }
            (Some(cpu), Some(memory)) if cpu < 1.0 && memory < 1.0 => {
                share(difference(cpu, memory))
            }
            (Some(_), None) | (None, Some(_)) if new => MAX_NODE_SCORE,
            _ => 0,
        }
    }
}

/// The name of an image with a tag or digest. Mirrors `normalizedImageName`.
fn normalised_image_name(name: &str) -> String {
    match name.rfind(':') {
        Some(colon) if name.rfind('/').is_none_or(|slash| slash < colon) => name.to_string(),
        Some(_) | None => [name, ":latest"].concat(),
    }
}

/// Brings scores to 0 to 100 by the largest. Mirrors `DefaultNormalizeScore`.
fn normalise(scores: &[i64], reverse: bool, into: &mut Vec<i64>) {
    let most = scores.iter().max().copied().unwrap_or(0);
    let normalised = |score: &i64| {
        let share = if most == 0 { 0 } else { MAX_NODE_SCORE.saturating_mul(*score) / most };
        if reverse { MAX_NODE_SCORE - share } else { share }
    };
    into.clear();
    into.extend(scores.iter().map(normalised));
}
