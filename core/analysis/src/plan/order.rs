//! Orders of the nodes: which are worth a try, and which one hurts least.

use alloc::vec::Vec;

use serde::Serialize;
use taintlab_rules::api::NodeName;
use taintlab_rules::order::Order;

use super::{Act, Rehearsal, Rehearsed};
use crate::report::Millis;

/// Largest number of nodes that are tried in all orders.
const MOST_IN_ALL_ORDERS: usize = 4;

/// Harm of a procedure, the most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// Nodes that the procedure was not done with, or whose drains failed.
    pub nodes_left: usize,
    /// Time without any ready pod, over all workloads.
    pub at_zero: Millis,
    /// Pods without a node at the end, and pods that are lost for good.
    pub without_node: usize,
    /// Time that pods were missing, over all pods.
    pub replica_time_lost: Millis,
    /// Pods that had to leave a node.
    pub moved: usize,
    /// Time until the procedure was done, or the horizon.
    pub time: Millis,
}

impl Rehearsed {
    /// Harm of this order of the nodes.
    #[must_use]
    pub fn cost(&self) -> Cost {
        let is_left = |it: &&super::NodeCourse| it.ended.is_none() || it.failed;
        let runs = self.workloads.iter().map(|it| &it.figures);
        let sum = |millis: &mut dyn Iterator<Item = Millis>| {
            Millis(millis.fold(0, |sum, it| u64::saturating_add(sum, it.0)))
        };
        Cost {
            nodes_left: self.nodes.iter().filter(is_left).count(),
            at_zero: sum(&mut runs.clone().map(|it| it.at_zero)),
            without_node: runs
                .clone()
                .map(|it| it.lost + it.pending.iter().map(|group| group.pods).sum::<usize>())
                .sum(),
            replica_time_lost: sum(&mut runs.map(|it| it.replica_time_lost)),
            moved: self.moved,
            time: self.ended.unwrap_or(Millis(u64::MAX)),
        }
    }
}

impl Rehearsal {
    /// Orders that are worth a try after these, at most `most` in all: every order of up to four
    /// nodes; of more, those by number of pods, and neighbours of the best one so far.
    #[must_use]
    pub fn orders(&self, known: &[Rehearsed], most: usize) -> Vec<Vec<NodeName>> {
        let (nodes, at_once) = (self.order(), self.act().at_once());
        // Where the turn of all comes at the same time there is no order.
        if at_once.is_none_or(|at_once| at_once >= nodes.len()) {
            return Vec::new();
        }
        let mut candidates = if nodes.len() <= MOST_IN_ALL_ORDERS {
            permutations(nodes)
        } else if known.len() <= 1 {
            self.by_pods()
        } else {
            let best = known.iter().min_by_key(|it| it.cost());
            best.map(|best| neighbours(&best.order)).unwrap_or_default()
        };
        let mut new: Vec<Vec<NodeName>> = Vec::new();
        candidates.retain(|order| known.iter().all(|it| it.order != *order));
        for order in candidates {
            if known.len() + new.len() < most && !new.contains(&order) {
                new.push(order);
            }
        }
        new
    }

    /// Orders by the number of pods: the fewest first, and the most first.
    fn by_pods(&self) -> Vec<Vec<NodeName>> {
        let mut fewest = self.nodes.clone();
        let cluster = self.simulator.cluster();
        fewest.order_by_cached_key(|node| cluster.pods_of(node.as_str()).count());
        let most = fewest.iter().rev().cloned().collect();
        Vec::from([fewest, most])
    }
}

impl Act {
    /// Whether the order of the nodes matters to it.
    #[must_use]
    pub const fn has_order(&self) -> bool {
        self.at_once().is_some()
    }
}

/// An order with each node moved to the front, and with each pair of neighbours exchanged.
fn neighbours(order: &[NodeName]) -> Vec<Vec<NodeName>> {
    let mut all = Vec::new();
    for place in 1..order.len() {
        let mut swapped = order.to_vec();
        swapped.swap(place - 1, place);
        all.push(swapped);
        let mut first = order.to_vec();
        let node = first.remove(place);
        first.insert(0, node);
        all.push(first);
    }
    all
}

/// All orders of some items, in the order of their places.
pub(crate) fn permutations<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    if items.is_empty() {
        return Vec::from([Vec::new()]);
    }
    let mut all = Vec::new();
    for place in 0..items.len() {
        let mut rest = items.to_vec();
        let first = rest.remove(place);
        all.extend(permutations(&rest).into_iter().map(|mut order| {
            order.insert(0, first.clone());
            order
        }));
    }
    all
}
