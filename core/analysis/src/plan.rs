//! Plans: what becomes of a cluster while nodes are drained, replaced, taken away or tainted, and in
//! which order of the nodes that hurts least.
//!
//! 1. [`Rehearsal::new`] settles the cluster and finds the nodes of a [`Procedure`].
//! 2. [`Rehearsal::run`] carries it out in one order of the nodes, beginning with
//!    [`Rehearsal::order`].
//! 3. [`Rehearsal::orders`] lists further orders to try until none is left. They are independent of
//!    each other, so that they can be run in several threads.
//! 4. [`Rehearsal::counts`] lists the numbers of nodes of a curve, and [`Rehearsal::run_count`] makes
//!    one of its rows, where a procedure meets all nodes at once.
//!
//! Each run forks the settled cluster, like one of the [report](crate::report), and its figures mean
//! the same. It ends when nothing more is due, at the horizon, or when a drain waits for what does
//! not come.

mod blocker;
mod by_count;
mod course;
mod order;
mod procedure;
mod start_up;

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use serde::Serialize;
use taintlab_engine::simulator::Simulator;
use taintlab_rules::api::{NodeName, WorkloadKey};
use taintlab_rules::plural::no_such;
use taintlab_rules::release::KubernetesRelease;
use taintlab_rules::time::{Span, Timestamp};

pub use self::blocker::{Blocked, Blocker};
pub use self::by_count::{CountRun, CountedWorkload, FirstAtZero, PodsOnNode};
use self::course::Course;
pub use self::order::Cost;
pub(crate) use self::order::permutations;
pub use self::procedure::{Act, NodeChoice, Procedure, SpotHandler};
pub(crate) use self::start_up::give as give_start_up_times;
pub use self::start_up::measured_start_up_times;
use crate::report::{
    Millis, ReportError, ReportOptions, SEED, Settled, WorkloadRun, ZoneStep, initial,
};
use crate::scenario::{Scenario, Step};

/// A procedure in a settled cluster, ready to be tried in one order of the nodes after the other.
#[derive(Clone, Debug)]
pub struct Rehearsal {
    scenario: Scenario,
    simulator: Arc<Simulator>,
    /// Time at which the procedure begins.
    at: Timestamp,
    end: Timestamp,
    nodes: Vec<NodeName>,
    act: Act,
    start_up: Vec<(WorkloadKey, Span)>,
}

/// Outcome of a procedure in one order of the nodes. All times count from its beginning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rehearsed {
    /// Nodes in the order in which their turn came.
    pub order: Vec<NodeName>,
    /// Time at which the procedure was done with the last node; absent if it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Millis>,
    /// Outcome for each node, in this order.
    pub nodes: Vec<NodeCourse>,
    /// Pods for which drains wait at the end of the run.
    pub blocked: Vec<Blocked>,
    /// Pods that left the nodes.
    pub moved: usize,
    /// Those among them that had come from another of the nodes.
    pub moved_again: usize,
    /// Workloads that were affected, by name.
    pub workloads: Vec<WorkloadCourse>,
    /// Changes of the states of zones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<ZoneStep>,
}

/// Outcome for one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeCourse {
    /// The node.
    pub node: NodeName,
    /// Time at which its turn came; absent if it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began: Option<Millis>,
    /// Time at which it was drained, replaced or gone, or the last pod had left a tainted node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Millis>,
    /// Pods that left it.
    pub pods: usize,
    /// Pods, other than those of DaemonSets and static ones, that had not ended when the node was gone.
    #[serde(skip_serializing_if = "taintlab_rules::api::is_default")]
    pub cut_off: usize,
    /// Whether its drain failed.
    #[serde(skip_serializing_if = "taintlab_rules::api::is_default")]
    pub failed: bool,
    /// Errors that `kubectl` printed when its drain failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
}

/// Outcome for one workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadCourse {
    /// Its figures.
    #[serde(flatten)]
    pub figures: WorkloadRun,
    /// Ready pods over time, a step for each change.
    pub steps: Vec<ReadyStep>,
}

/// Number of ready pods from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadyStep {
    /// The time.
    pub at: Millis,
    /// Ready pods.
    pub ready: i64,
    /// Wanted pods.
    pub wanted: i64,
}

/// Times of a rehearsal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RehearsalOptions {
    /// Time from the beginning of the procedure to the end of each run at the latest; 12 hours unless
    /// given, and 1 hour for a curve by the number of nodes, which takes many runs.
    pub horizon: Span,
    /// Longest time for the cluster to come to rest before; 10 minutes unless given.
    pub settle: Span,
}

impl Default for RehearsalOptions {
    fn default() -> Self {
        Self {
            horizon: Span(Duration::from_secs(12 * 60 * 60)),
            settle: ReportOptions::default().settle,
        }
    }
}

impl RehearsalOptions {
    /// Those of a curve by the number of nodes, unless given.
    #[must_use]
    pub fn by_count() -> Self {
        Self { horizon: ReportOptions::default().horizon, ..Self::default() }
    }
}

impl Rehearsal {
    /// Settles the cluster of a scenario, without its steps, and finds the nodes. The control plane
    /// always takes part. Pods take as long to become ready as the workload's annotation
    /// [`START_UP_TIME_ANNOTATION`](taintlab_rules::api::START_UP_TIME_ANNOTATION) says, or else as
    /// [`measured_start_up_times`].
    ///
    /// # Errors
    /// The cluster cannot be simulated, or the procedure is about nodes that it does not have.
    pub fn new(
        scenario: Scenario,
        procedure: &Procedure,
        options: RehearsalOptions,
    ) -> Result<Self, ReportError> {
        let mut scenario = scenario;
        let start_up = give_start_up_times(&mut scenario);
        let RehearsalOptions { horizon, settle } = options;
        let options = ReportOptions { settle, horizon, ..ReportOptions::default() };
        let (scenario, settled) = Settled::prepared(scenario, &options)?;
        let simulator = settled.simulator.clone();
        let nodes = procedure.nodes.of(simulator.cluster())?;
        procedure.act.check()?;
        let (at, end) = (settled.at, settled.at.saturating_add(horizon.0));
        let act = procedure.act.clone();
        Ok(Self { scenario, simulator, at, end, nodes, act, start_up })
    }

    /// The nodes, in the order in which they were given, or by name.
    #[must_use]
    pub fn order(&self) -> &[NodeName] {
        &self.nodes
    }

    /// The procedure, whatever the nodes.
    #[must_use]
    pub const fn act(&self) -> &Act {
        &self.act
    }

    /// Release of Kubernetes.
    #[must_use]
    pub fn release(&self) -> KubernetesRelease {
        self.simulator.config().release
    }

    /// Time at which the procedure begins in the [scenario](Self::scenario_of) of a run.
    #[must_use]
    pub const fn begins_at(&self) -> Timestamp {
        self.at
    }

    /// Time from the beginning of the procedure to the end of each run at the latest.
    #[must_use]
    pub fn horizon(&self) -> Span {
        Span(self.end.since_zero().saturating_sub(self.at.since_zero()))
    }

    /// Number of nodes in the cluster.
    #[must_use]
    pub fn cluster_size(&self) -> usize {
        self.simulator.cluster().nodes().len()
    }

    /// Workloads whose start-up time was measured, with that time.
    #[must_use]
    pub fn start_up(&self) -> &[(WorkloadKey, Span)] {
        &self.start_up
    }

    /// Carries the procedure out in this order of the nodes.
    #[must_use]
    pub fn run(&self, order: &[NodeName]) -> Rehearsed {
        Course::new(self, order).run().0
    }

    /// A run as a scenario that can be played by itself; its steps are the commands of the procedure.
    #[must_use]
    pub fn scenario_of(&self, order: &[NodeName]) -> Scenario {
        let (rehearsed, steps) = Course::new(self, order).run();
        let last = steps.last().map_or(self.at, |step: &Step| step.at.timestamp());
        let ended = rehearsed.ended.map_or(last, |ended| {
            self.at.saturating_add(Duration::from_millis(ended.0.saturating_add(1)))
        });
        let mut scenario = initial(&self.scenario, SEED, None);
        scenario.steps = steps;
        // A while longer, to see the last pods come back.
        let end = ended.max(last).saturating_add(Duration::from_secs(600)).min(self.end);
        scenario.until = Some(Span(end.since_zero()));
        scenario
    }
}

/// An option that is wrong.
fn wrong(name: &'static str, message: String) -> ReportError {
    ReportError::Option { name, message }
}

/// `there is no node x: there are a, b, c`.
fn no_node(name: &str, known: &[&str]) -> ReportError {
    wrong("nodes", no_such("node", name, known))
}
