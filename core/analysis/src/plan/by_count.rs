//! A curve by the number of nodes: what becomes of the cluster if the first node of a list is hit,
//! the first two, and so on.
//!
//! Each number is a run of its own from the same settled cluster, in which the procedure meets all its
//! nodes at the same moment.

use alloc::vec::Vec;
use core::cmp::Reverse;

use serde::Serialize;
use taintlab_rules::api::{NodeName, Pod};
use taintlab_rules::order::{Order, OrderedMap};

use super::{Rehearsal, WorkloadCourse};
use crate::report::{ReportSubject, WorkloadRun, ZoneStep};

/// Numbers of nodes that are tried at most.
const MOST_COUNTS: usize = 60;

/// Outcome of a procedure on the first nodes of the order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CountRun {
    /// Number of nodes, from 1.
    pub nodes: usize,
    /// The last of them.
    pub last: NodeName,
    /// Whether the procedure was done with every node, and no drain failed.
    pub is_done: bool,
    /// Pods that left the nodes, without those of DaemonSets.
    pub left: usize,
    /// Pods that had not ended when their node was gone, without those of DaemonSets.
    pub cut_off: usize,
    /// Pods without a node at the end.
    pub pending: usize,
    /// Pods that are gone for good: no controller makes them again.
    pub lost: usize,
    /// Workloads that fell short, the longest time at zero first.
    pub workloads: Vec<CountedWorkload>,
    /// Changes of the states of zones.
    pub zones: Vec<ZoneStep>,
}

/// Outcome for one workload that fell short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CountedWorkload {
    /// Its figures.
    #[serde(flatten)]
    pub figures: WorkloadRun,
    /// Whether no pod is ready at the end of the run.
    pub at_zero_in_the_end: bool,
}

/// Number of nodes from which on a workload is at zero, with the pods that make it so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FirstAtZero {
    /// The workload or pod.
    pub subject: ReportSubject,
    /// Smallest number of nodes tried at which no pod is ready for a while.
    pub nodes: usize,
    /// Greatest number tried below that; 0 if there is none. The numbers between were not tried.
    pub not_at: usize,
    /// Whether it is at zero at every greater number tried.
    pub and_at_all_above: bool,
    /// Smallest number tried from which on it is at zero in the end, there and at all above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_the_end_from: Option<usize>,
    /// Ready pods before.
    pub ready: usize,
    /// Those of them on the nodes, in the order of the nodes.
    pub on_nodes: Vec<PodsOnNode>,
}

/// Ready pods of a workload on a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PodsOnNode {
    /// The node.
    pub node: NodeName,
    /// Number of pods, from 1.
    pub pods: usize,
}

impl Rehearsal {
    /// Numbers of nodes to try: each of up to 60; of more, 60 at most, evenly spaced, with 1 and all.
    /// Empty if the procedure takes the nodes one after the other.
    #[must_use]
    pub fn counts(&self) -> Vec<usize> {
        let all = self.nodes.len();
        if self.act.has_order() {
            return Vec::new();
        }
        // One place is left for the number 1, where the steps are greater.
        let places = if all > MOST_COUNTS { MOST_COUNTS - 1 } else { MOST_COUNTS };
        let step = all.div_ceil(places).max(1);
        (1..=all).filter(|count| *count == 1 || *count == all || count % step == 0).collect()
    }

    /// Carries the procedure out on the first nodes of the order, as many as `count` says.
    #[must_use]
    pub fn run_count(&self, count: usize) -> CountRun {
        let order: Vec<NodeName> = self.nodes.iter().take(count).cloned().collect();
        let run = self.run(&order);
        let fell_short = |it: &WorkloadCourse| {
            it.figures.below.0 > 0 || it.figures.lost > 0 || !it.figures.pending.is_empty()
        };
        let mut workloads: Vec<CountedWorkload> = run
            .workloads
            .into_iter()
            .filter(fell_short)
            .map(|it| CountedWorkload {
                at_zero_in_the_end: it.figures.at_zero.0 > 0
                    && it.steps.last().is_some_and(|step| step.ready <= 0),
                figures: it.figures,
            })
            .collect();
        workloads.order_by_key(|it| Reverse((it.figures.at_zero, it.figures.replica_time_lost)));
        let groups = workloads.iter().flat_map(|it| &it.figures.pending);
        CountRun {
            nodes: order.len(),
            last: order.last().cloned().unwrap_or_else(|| NodeName::from("")),
            is_done: run.nodes.iter().all(|node| node.ended.is_some() && !node.failed),
            left: run.moved,
            cut_off: run.nodes.iter().map(|node| node.cut_off).sum(),
            pending: groups.map(|group| group.pods).sum(),
            lost: workloads.iter().map(|it| it.figures.lost).sum(),
            workloads,
            zones: run.zones,
        }
    }

    /// Workloads that are at zero in one of these runs, the fewest nodes first. The runs are in the
    /// order of their numbers.
    #[must_use]
    pub fn first_at_zero(&self, runs: &[CountRun]) -> Vec<FirstAtZero> {
        let mut seen: OrderedMap<&ReportSubject, Vec<(usize, bool)>> = OrderedMap::new();
        for (place, run) in runs.iter().enumerate() {
            for it in run.workloads.iter().filter(|it| it.figures.at_zero.0 > 0) {
                let places = seen.entry(&it.figures.subject).or_default();
                places.push((place, it.at_zero_in_the_end));
            }
        }
        let number = |place: usize| runs.get(place).map_or(0, |run| run.nodes);
        let first = |(subject, places): (&ReportSubject, Vec<(usize, bool)>)| {
            let place = places.first()?.0;
            let nodes = number(place);
            // From the greatest number on downwards.
            let in_the_end = places.iter().rev().zip((0..runs.len()).rev());
            let in_the_end =
                in_the_end.take_while(|((place, in_the_end), next)| place == next && *in_the_end);
            let (ready, on_nodes) = self.ready_before(subject, nodes);
            Some(FirstAtZero {
                subject: subject.clone(),
                nodes,
                not_at: place.checked_sub(1).map_or(0, number),
                and_at_all_above: places.len() == runs.len() - place,
                in_the_end_from: in_the_end.last().map(|((place, _), _)| number(*place)),
                ready,
                on_nodes,
            })
        };
        let mut all: Vec<FirstAtZero> = seen.into_iter().filter_map(first).collect();
        all.order_by_key(|it| it.nodes);
        all
    }

    /// Ready pods of a workload before the procedure, and those among them on its first nodes.
    fn ready_before(&self, subject: &ReportSubject, count: usize) -> (usize, Vec<PodsOnNode>) {
        let cluster = self.simulator.cluster();
        let ready: Vec<&Pod> = match subject {
            ReportSubject::Workload(key) => {
                let pods = cluster.pods_of_workload(key).into_iter();
                let pods = pods.filter_map(|key| Some(&**cluster.get_pod(&key)?));
                pods.filter(|pod| pod.is_ready_replica()).collect()
            }
            ReportSubject::Pod(key) => cluster.get_pod(key).map(|pod| &**pod).into_iter().collect(),
        };
        let on = |node: &NodeName| PodsOnNode {
            node: node.clone(),
            pods: ready.iter().filter(|pod| pod.spec.node_name == node.as_str()).count(),
        };
        let on_nodes = self.nodes.iter().take(count).map(on).filter(|it| it.pods > 0);
        (ready.len(), on_nodes.collect())
    }
}
