//! Smallest outages: the fewest faults that take a workload to zero ready pods, or a zone out of
//! `Normal`.
//!
//! 1. [`OutageSearch::new`] settles the cluster, and finds the faults that are in reach and what
//!    they have to hit.
//! 2. [`OutageSearch::level`] lists the outages of a number of faults that can reach the goal, in
//!    one order, and [`OutageSearch::run`] tries one of them. Runs are independent of each other,
//!    so that they can be made in several threads.
//! 3. The first outage that reaches the goal, in the order of levels and then within its level, is
//!    the smallest one.
//!
//! # What is in reach
//!
//! The faults of [`OutageFault`], at once or one after the other with the times of
//! [`OutageGap`] between them. Every run forks the settled cluster and goes on to the horizon.
//!
//! # What is left out, and why nothing is missed
//!
//! A pod that is ready stays so until its node is hit: lost, with its zone or alone, its kubelet
//! stopped, or drained; a pause of the control plane is too short to be seen. Else it can only be
//! preempted, by a pod of higher priority that had to leave a node that was hit. So an outage that
//! hits neither all nodes with ready pods of the workload nor any node with such a pod of higher
//! priority cannot reach the goal, and is not run. In the same way a zone leaves `Normal` only if
//! enough of its nodes are hit. Where the workload is not at rest before, or kubelets watch over
//! resources, nothing is left out.

mod fault;
mod goal;
mod level;
mod run;

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use serde::Serialize;
use taintlab_engine::simulator::Simulator;
use taintlab_rules::api::{NodeName, WorkloadKey};
use taintlab_rules::order::OrderedSet;
use taintlab_rules::protocol::zone::ZoneKey;
use taintlab_rules::release::KubernetesRelease;
use taintlab_rules::time::{Span, Timestamp};

pub use self::fault::{OutageFault, OutageFaultKind, OutageGap};
pub use self::goal::Goal;
use self::goal::Needed;
pub use self::level::Level;
pub use self::run::Reached;
use crate::plan::give_start_up_times;
use crate::report::{ReportError, ReportOptions, Settled};
use crate::scenario::Scenario;

/// Greatest number of faults in an outage.
pub const MOST_FAULTS: usize = 4;

/// Faults in reach, and times of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutageOptions {
    /// Kinds of faults in reach; all unless given.
    pub kinds: Vec<OutageFaultKind>,
    /// Time from the first fault to the end of each run; an hour unless given.
    pub horizon: Span,
    /// Longest time for the cluster to come to rest before; 10 minutes unless given.
    pub settle: Span,
}

impl Default for OutageOptions {
    fn default() -> Self {
        let ReportOptions { horizon, settle, .. } = ReportOptions::default();
        Self { kinds: OutageFaultKind::ALL.to_vec(), horizon, settle }
    }
}

/// Faults in the order in which they come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Outage {
    /// The faults; the first comes at 0s.
    pub faults: Vec<TimedFault>,
}

/// A fault of an outage, and its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TimedFault {
    /// Time since the first fault.
    pub after: Span,
    /// The fault.
    #[serde(flatten)]
    pub fault: OutageFault,
}

/// A fault in reach.
#[derive(Clone, Debug)]
struct Candidate {
    fault: OutageFault,
    nodes: Vec<NodeName>,
    /// Nodes that have to be hit, among its nodes, by number.
    hits: Vec<usize>,
    /// Whether what it does may reach the goal by another way than by hitting these nodes.
    displaces: bool,
}

/// A search in a settled cluster.
#[derive(Clone, Debug)]
pub struct OutageSearch {
    scenario: Scenario,
    simulator: Arc<Simulator>,
    /// Time of the first fault.
    at: Timestamp,
    end: Timestamp,
    goal: Goal,
    /// Faults in reach, in the order in which they are tried.
    candidates: Vec<Candidate>,
    /// Number of nodes that have to be hit.
    needed: usize,
    gaps: Vec<OutageGap>,
    pause: Span,
    start_up: Vec<(WorkloadKey, Span)>,
}

impl OutageSearch {
    /// Settles the cluster of a scenario, without its steps, and finds what the goal needs. The
    /// control plane always takes part. Pods take as long to become ready as in a
    /// [rehearsal](crate::plan::Rehearsal::new).
    ///
    /// `goal` makes the goal from the settled cluster: [`Goal::workload`] or [`Goal::zone`].
    ///
    /// # Errors
    /// The cluster cannot be simulated, it does not have what the goal is about, or the goal is
    /// reached before any fault.
    pub fn new(
        scenario: Scenario,
        goal: impl FnOnce(&Simulator) -> Result<Goal, ReportError>,
        options: OutageOptions,
    ) -> Result<Self, ReportError> {
        let mut scenario = scenario;
        let start_up = give_start_up_times(&mut scenario);
        let OutageOptions { kinds, horizon, settle } = options;
        let options = ReportOptions { settle, horizon, ..ReportOptions::default() };
        let (scenario, settled) = Settled::prepared(scenario, &options)?;
        let simulator = settled.simulator.clone();
        let goal = goal(&simulator)?;
        let mut search = Self {
            gaps: OutageGap::all(&simulator, &goal),
            pause: fault::pause(&simulator),
            needed: 0,
            candidates: Vec::new(),
            at: settled.at,
            end: settled.at.saturating_add(horizon.0),
            goal,
            scenario,
            simulator,
            start_up,
        };
        let needed = search.goal.needed(&search)?;
        search.find_candidates(&needed, &kinds);
        search.needed = needed.least;
        Ok(search)
    }

    /// The goal.
    #[must_use]
    pub const fn goal(&self) -> &Goal {
        &self.goal
    }

    /// Release of Kubernetes.
    #[must_use]
    pub fn release(&self) -> KubernetesRelease {
        self.simulator.config().release
    }

    /// Workloads whose start-up time was measured, with that time.
    #[must_use]
    pub fn start_up(&self) -> &[(WorkloadKey, Span)] {
        &self.start_up
    }

    /// Times between faults that come one after the other.
    #[must_use]
    pub fn gaps(&self) -> &[OutageGap] {
        &self.gaps
    }

    /// Whether pods may reach the goal by preempting others, so that faults elsewhere are tried.
    #[must_use]
    pub fn tries_everything(&self) -> bool {
        self.candidates.iter().any(|it| it.displaces)
    }

    /// All faults in reach: those that touch what the goal needs first, then by kind in the order of
    /// [`OutageFault`], then by name.
    fn find_candidates(&mut self, needed: &Needed, kinds: &[OutageFaultKind]) {
        let cluster = self.simulator.cluster();
        let mut found: Vec<Candidate> = Vec::new();
        let mut add = |fault: OutageFault, nodes: Vec<NodeName>| {
            let is_hit = |node: &NodeName| nodes.contains(node);
            let counts = match fault {
                OutageFault::Drained { .. } => needed.drained,
                OutageFault::NodeLost { .. }
                | OutageFault::ZoneLost { .. }
                | OutageFault::KubeletStopped { .. }
                | OutageFault::ControlPlanePaused { .. } => true,
            };
            let places = needed.nodes.iter().enumerate();
            let hits = places.filter(|(_, node)| counts && is_hit(node)).map(|(place, _)| place);
            let hits = hits.collect();
            let displaces = needed.everything || nodes.iter().any(|it| needed.others.contains(it));
            found.push(Candidate { fault, hits, displaces, nodes });
        };
        let names = || cluster.nodes().map(|(name, _)| name.clone());
        for node in names() {
            add(OutageFault::NodeLost { node: node.clone() }, Vec::from([node]));
        }
        let zone_of = |name: &NodeName| {
            let node = cluster.get_node(name.as_str());
            node.map(|node| ZoneKey::of(&node.metadata.labels)).unwrap_or_default()
        };
        let zones: OrderedSet<ZoneKey> = names().map(|name| zone_of(&name)).collect();
        for zone in zones {
            // Losing a zone is no answer to the question how it is lost.
            if zone.name().is_empty() || self.goal.is_zone(&zone) {
                continue;
            }
            let nodes = names().filter(|name| zone_of(name) == zone).collect();
            add(OutageFault::ZoneLost { zone: zone.name() }, nodes);
        }
        for node in names() {
            add(OutageFault::KubeletStopped { node: node.clone() }, Vec::from([node]));
        }
        for node in names() {
            add(OutageFault::Drained { node: node.clone() }, Vec::from([node]));
        }
        add(OutageFault::ControlPlanePaused { time: self.pause }, Vec::new());
        // A stop of the kubelet is to the control plane what the loss of its node is, and leaves at
        // least as many pods ready: with the same faults besides, the loss comes first.
        let loses_nodes = kinds.contains(&OutageFaultKind::NodeLost);
        found.retain(|it| {
            let kind = it.fault.kind();
            kinds.contains(&kind) && !(loses_nodes && kind == OutageFaultKind::KubeletStopped)
        });
        let touches = |it: &Candidate| it.displaces || !it.hits.is_empty();
        let (mut first, rest): (Vec<Candidate>, Vec<Candidate>) =
            found.into_iter().partition(touches);
        // Nodes that are lost at once are enough: what hits nothing adds nothing, unless by way of
        // other pods.
        if !loses_nodes || first.iter().any(|it| it.displaces) {
            first.extend(rest);
        }
        self.candidates = first;
    }

    /// Time after which a run is watched no longer, from the first fault.
    #[must_use]
    pub fn horizon(&self) -> Duration {
        self.end.since_zero().saturating_sub(self.at.since_zero())
    }
}
