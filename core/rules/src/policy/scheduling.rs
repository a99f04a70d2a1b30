//! On which node a pod is placed: the scheduler's filters, scores and messages. Pure; nothing is
//! bound here.
//!
//! A [`Snapshot`] counts once what is on the nodes and can be kept up to date pod by pod;
//! [`Snapshot::schedule`] answers for one pod. [`schedule`] does both for callers that ask once.
//!
//! # Where this differs from Kubernetes
//!
//! - [`Snapshot::schedule`] looks at all nodes, however many fit; [`Snapshot::place`], which the
//!   simulator asks, stops at a share of a large cluster, as upstream does.
//! - Among nodes of the same score upstream picks one at random. Here the one with the fewest pods
//!   is picked, and among those the first by name, so that the order of the input does not matter.
//! - A node without allocatable `cpu`, `memory`, `ephemeral-storage` or `pods` has no limit of it,
//!   unless [`SchedulerConfig::requires_allocatable`]; upstream takes it as zero.
//! - Where a pod has no topology spread constraints, upstream spreads it over hosts and zones by
//!   the selectors of services and controllers. Here the pods of the same controller are counted,
//!   unless [`Snapshot::set_workload_selector`] told of the controller.
//! - Volumes and claims are looked at only if [`Snapshot::set_volumes`] told of them; of limits of
//!   nodes, and of disks without claims, nothing is known.
//! - Resource claims are looked at in a simulation only. A device suits every class and request: CEL
//!   selectors, constraints, counters, capacity and admin access are not evaluated, and no claim
//!   is deallocated in `PostFilter`.

mod affinity;
mod alike;
mod arithmetic;
mod devices;
mod filters;
mod groups;
mod hints;
mod info;
mod message;
mod needs;
mod plugins;
mod predicates;
mod preemption;
mod scores;
mod snapshot;
mod spread;
mod volumes;

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;

use serde::Serialize;

pub use devices::{MOST_CONSUMERS, is_reserved_for, reserve_for};
pub use hints::ClusterEvent;
pub use message::{NO_NODES_AVAILABLE, fit_error};
pub use plugins::{FilterPlugin, Rejectors};
pub use preemption::{
    BudgetOfVictims, Candidate, Preemption, preempted_condition, preempted_message,
};
pub use scores::ScorePlugin;
pub use snapshot::check_pod;
pub use snapshot::{SchedulerConfig, Snapshot};
pub use volumes::{find_matching_volume, is_free_for};

use crate::api::{Node, Pod, ResourceError};
use alike::{Answer, KnownAnswers, answer_of};
use filters::{Change, Cycle};
use info::NodeInfo;

/// The highest score of a plugin. Mirrors `framework.MaxNodeScore`.
pub const MAX_NODE_SCORE: i64 = 100;

/// An object whose fields the scheduler cannot read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedulingError {
    /// Which, for example `pod default/web-0`.
    pub object: String,
    /// Which field, and what would be valid.
    pub error: ResourceError,
}

impl fmt::Display for SchedulingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.object, self.error)
    }
}

impl core::error::Error for SchedulingError {}

/// Why a filter keeps a pod off a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Rejection {
    /// Which filter.
    pub plugin: FilterPlugin,
    /// In the scheduler's words; `NodeResourcesFit` can have several.
    pub reasons: Vec<String>,
    /// Whether it could be otherwise without some of the node's pods (`Unschedulable`, not
    /// `UnschedulableAndUnresolvable`).
    pub preemption_may_help: bool,
}

/// What a plugin thinks of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct PluginScore {
    /// Which plugin.
    pub plugin: ScorePlugin,
    /// As the plugin said it first.
    pub raw: i64,
    /// 0 to 100, after normalisation over all nodes that fit.
    pub score: i64,
    /// How often it counts.
    pub weight: i64,
}

/// What the scheduler thinks of one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct NodeVerdict {
    /// The node.
    pub node: String,
    /// The first filter that keeps the pod off, if one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejection: Option<Rejection>,
    /// The scores, if the pod fits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript-all", tsify(optional))]
    pub scores: Vec<PluginScore>,
    /// The sum of scores times weights.
    pub total: i64,
}

/// What one filter says of one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FilterVerdict {
    /// Which filter.
    pub plugin: FilterPlugin,
    /// Why it keeps the pod off; nothing if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejection: Option<Rejection>,
}

/// Where a pod goes, or why it goes nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(rename = "SchedulingDecision"))]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// The node the pod is bound to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The message of the event `FailedScheduling` and of the condition `PodScheduled`, if it goes
    /// nowhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Why it fits on no node whatever the nodes are; every verdict says so then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Rejection>,
    /// Every node, in the order of names.
    pub verdicts: Vec<NodeVerdict>,
    /// If it goes nowhere: the nodes where it would fit without pods of lower priority.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript-all", tsify(optional))]
    pub preemptable: Vec<String>,
}

/// Where `pod` goes among `nodes` that have `pods`. For several pods one after the other, keep a
/// [`Snapshot`].
///
/// # Errors
/// The first object with a field that cannot be read.
pub fn schedule<'a>(
    pod: &Pod,
    nodes: impl IntoIterator<Item = &'a Node>,
    pods: impl IntoIterator<Item = &'a Pod>,
    config: SchedulerConfig,
) -> Result<Decision, SchedulingError> {
    Snapshot::new(config, nodes, pods)?.schedule(pod)
}

/// How many nodes that fit are enough. Mirrors `numFeasibleNodesToFind` with the default of
/// `percentageOfNodesToScore`.
fn nodes_to_find(nodes: usize) -> usize {
    const LEAST: usize = 100;
    if nodes < LEAST {
        return nodes;
    }
    let percentage = 50_usize.saturating_sub(nodes / 125).max(5);
    (nodes * percentage / 100).max(LEAST)
}

impl Snapshot {
    /// Where the pod goes. Nothing is changed: tell [`Snapshot::add_pod`] once it is bound.
    ///
    /// # Errors
    /// A field of the pod that cannot be read.
    pub fn schedule(&self, pod: &Pod) -> Result<Decision, SchedulingError> {
        let cycle = Cycle::new(self, pod)?;
        let unchanged = Change::default();
        let mut verdicts = Vec::new();
        let mut feasible = Vec::new();
        let absent = cycle.absent_nodes();
        for node in self.nodes() {
            let refusal = cycle.refusal.clone();
            let refusal = refusal.or_else(|| absent.as_ref().and_then(|absent| absent(&node.name)));
            let rejection = refusal.or_else(|| cycle.first_rejection(node, &unchanged));
            if rejection.is_none() {
                feasible.push((verdicts.len(), node));
            }
            verdicts.push(NodeVerdict {
                node: String::from(&*node.name),
                rejection,
                scores: Vec::new(),
                total: 0,
            });
        }
        let nodes: Vec<_> = feasible.iter().map(|(_, node)| *node).collect();
        if let Some(error) = cycle.score_error().filter(|_| nodes.len() > 1) {
            let (node, message, refusal, preemptable) = (None, Some(error), None, Vec::new());
            return Ok(Decision { node, message, refusal, verdicts, preemptable });
        }
        let mut best = None;
        for ((index, node), scores) in feasible.iter().zip(cycle.scores(&nodes)) {
            let Some(verdict) = verdicts.get_mut(*index) else { continue };
            verdict.total = scores.iter().map(|score| score.score * score.weight).sum();
            verdict.scores = scores;
            let rank = (verdict.total, Reverse(node.pods.len()), Reverse(&node.name));
            if best.as_ref().is_none_or(|best| rank > *best) {
                best = Some(rank);
            }
        }
        let node = best.map(|(_, _, Reverse(name))| String::from(&**name));
        let (mut message, mut preemptable) = (None, Vec::new());
        if node.is_none() {
            let (text, nodes) = message::failure(&cycle, &verdicts);
            (message, preemptable) = (Some(text), nodes);
        }
        let refusal = cycle.refusal.clone();
        Ok(Decision { node, message, refusal, verdicts, preemptable })
    }

    /// Where the pod goes, found with less work than by [`schedule`](Self::schedule): of many nodes
    /// only so many are looked at as upstream does by default, beginning where the last search
    /// ended, and nothing is explained. In a cluster of fewer than 100 nodes it is the same node.
    /// `next` is where the search begins, and then where it ended. All nodes of the best score are
    /// given: first the one that [`schedule`](Self::schedule) takes, then the others in no order.
    ///
    /// # Errors
    /// A field of the pod that cannot be read.
    pub fn place(&mut self, pod: &Pod, next: &mut usize) -> Result<Vec<Arc<str>>, SchedulingError> {
        let order = self.in_turn();
        let mut known = core::mem::take(&mut self.answers);
        let placed = self.place_with(pod, next, &order, &mut known);
        self.answers = known;
        placed
    }

    /// The same; what nodes say to pods like this one is `known` in part.
    fn place_with(
        &self,
        pod: &Pod,
        next: &mut usize,
        order: &[usize],
        known: &mut KnownAnswers,
    ) -> Result<Vec<Arc<str>>, SchedulingError> {
        known.begin();
        let cycle = Cycle::new(self, pod)?;
        if cycle.refusal.is_some() {
            return Ok(Vec::new());
        }
        let needs = cycle.pod.needs.clone();
        let any = cycle.fits_among_all();
        if any && known.fails(&needs, self.stamp()) {
            return Ok(Vec::new());
        }
        let unchanged = Change::default();
        let mut feasible = Vec::new();
        let kept = cycle.kept();
        let mut answers = known.take(&needs);
        let mut ask = |node: &NodeInfo| {
            answer_of(&mut answers, node, || {
                cycle.answer(node, cycle.fits_alone(node, &unchanged), &kept)
            })
        };
        let fits = |node: &NodeInfo, answer: &Answer| {
            answer.fits && (any || cycle.fits_among(node, &unchanged))
        };
        let mut said = Vec::new();
        if let Some(names) = cycle.named_nodes() {
            for node in names.iter().filter_map(|name| self.node(name)) {
                let answer = ask(node);
                if fits(node, &answer) {
                    feasible.push(node);
                    said.push(answer);
                }
            }
        } else {
            let wanted = nodes_to_find(order.len());
            feasible.reserve(wanted);
            said.reserve(wanted);
            let begin = if order.is_empty() { 0 } else { *next % order.len() };
            let (before, after) = order.split_at(begin);
            let mut looked_at = 0;
            for node in after.iter().chain(before).filter_map(|place| self.node_at(*place)) {
                if feasible.len() >= wanted {
                    break;
                }
                looked_at += 1;
                let answer = ask(node);
                if fits(node, &answer) {
                    feasible.push(node);
                    said.push(answer);
                }
            }
            *next = if order.is_empty() { 0 } else { (begin + looked_at) % order.len() };
        }
        known.keep(needs.clone(), answers);
        if any && feasible.is_empty() {
            known.fail(needs, self.stamp());
        }
        if let [only] = feasible.as_slice() {
            return Ok(Vec::from([only.name.clone()]));
        }
        if cycle.score_error().is_some() {
            return Ok(Vec::new());
        }
        let totals = cycle.totals(&feasible, &said, &mut known.labels);
        let most = totals.iter().max().copied();
        let best = feasible.into_iter().zip(totals).filter(|(_, total)| Some(*total) == most);
        let mut best: Vec<&NodeInfo> = best.map(|(node, _)| node).collect();
        let rank = |at: &usize| best.get(*at).map(|node| (node.pods.len(), &node.name));
        if let Some(first) = (0..best.len()).min_by_key(rank) {
            best.swap(0, first);
        }
        Ok(best.into_iter().map(|node| node.name.clone()).collect())
    }

    /// What every filter says of one node, also those that the scheduler no longer asks once one
    /// has refused. Nothing if there is no such node.
    ///
    /// # Errors
    /// A field of the pod that cannot be read.
    pub fn explain(&self, pod: &Pod, node: &str) -> Result<Vec<FilterVerdict>, SchedulingError> {
        let cycle = Cycle::new(self, pod)?;
        let Some(node) = self.nodes().find(|known| *known.name == *node) else {
            return Ok(Vec::new());
        };
        let unchanged = Change::default();
        let verdict =
            |plugin| FilterVerdict { plugin, rejection: cycle.filter(plugin, node, &unchanged) };
        Ok(cycle.plugins().map(verdict).collect())
    }
}
