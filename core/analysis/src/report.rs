//! The resilience report: for every node, zone and other failure domain, the losses of each
//! workload when it fails, how long they last, and the changes that would help.
//!
//! A report consists of independent runs, which can be made in any order, in several threads or on
//! several machines:
//!
//! 1. [`Plan::new`] settles the cluster and finds its failure domains; [`Plan::outline`] lists
//!    them.
//! 2. [`Plan::runs`] lists the runs, and [`Plan::run`] makes one of them.
//! 3. [`Plan::remedies`] lists further runs until none is left: first the changes that could help
//!    in the worst findings, then the best of these changes in other failures. Each is a run of a
//!    changed cluster.
//! 4. [`report`] combines the results of all runs, in any order.
//!
//! Every run forks the settled cluster, lets the domain fail and continues to the horizon. Its
//! figures show the view of the control plane, and so of Services: a pod on a lost node counts as
//! ready until the node lifecycle controller says otherwise. Only a power failure takes the pods of
//! a node down immediately, until the node is back.

mod combined;
mod difference;
mod domains;
mod fault;
mod findings;
mod recorder;
mod remedy;
mod rows;
mod score;
mod targets;
#[cfg(test)]
mod tests;
mod text;
mod trial;
mod verdict;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;
use core::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use taintlab_engine::kubelet::heartbeat::hash;
use taintlab_engine::simulator::Simulator;
use taintlab_rules::api::{
    ConditionStatus, Node, NodeName, ObjectMeta, PodKey, WorkloadKey, is_default,
};
use taintlab_rules::order::{Order, OrderedMap};
use taintlab_rules::policy::endpoints::ServiceSelector;
use taintlab_rules::time::{Span, Time, Timestamp};

pub use self::combined::{Report, RunSummary, report};
pub use self::difference::{
    Change, Difference, EarlierReport, NOISE, Outcome, Verdict, worst_outcomes,
};
pub use self::domains::{Domain, DomainKind, DomainList, Headroom};
pub use self::fault::Fault;
pub use self::findings::{Effect, FalseAlarm, Finding, MadeWorse, OverAll};
pub use self::recorder::{DrainResult, PendingReason, Shortfall, WorkloadRun, ZoneStep};
use self::recorder::{Failing, UnreachableNodes};
pub(crate) use self::recorder::{Recorder, ready, subjects};
pub use self::remedy::Remedy;
pub(crate) use self::remedy::{
    CONSTRAINTS, Template, another_node, of_template, priority_class, tolerate, yaml,
};
pub use self::rows::FailureRow;
pub use self::score::{Cell, Score, Spread, WorkloadScore};
pub use self::targets::{
    TARGETS_ANNOTATION, Target, TargetFailures, TargetFigure, TargetResult, TargetVerdict, Targets,
    judge,
};
pub use self::verdict::{FailureTotal, FindingGroup};
use crate::lanes::Lanes;
use crate::scenario::{Ended, MOST_MOMENTS, NodeGroup, Player, Scenario, ScenarioError};

/// A time in milliseconds, rounded down. A whole number, so that reports have the same bytes on
/// every machine.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(transparent)]
pub struct Millis(pub u64);

impl Millis {
    /// Time from one moment to a later one.
    #[must_use]
    pub fn between(from: Timestamp, to: Timestamp) -> Self {
        Self(to.as_nanos().saturating_sub(from.as_nanos()) / 1_000_000)
    }
}

impl From<Span> for Millis {
    fn from(span: Span) -> Self {
        Self(u64::try_from(span.0.as_millis()).unwrap_or(u64::MAX))
    }
}

/// Subject of the figures: a workload, or a pod without an owner.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(type = "string"))]
pub enum ReportSubject {
    /// `deployment/shop/web`: a top-level workload, which no other workload owns.
    Workload(WorkloadKey),
    /// `pod/shop/debug`: a pod that no controller recreates.
    Pod(PodKey),
}

impl fmt::Display for ReportSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workload(workload) => workload.fmt(f),
            Self::Pod(pod) => write!(f, "pod/{pod}"),
        }
    }
}

impl Serialize for ReportSubject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl ReportSubject {
    /// Reads `kind/namespace/name` of a workload, or `pod/namespace/name`.
    ///
    /// # Errors
    /// Says what such a name looks like.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.strip_prefix("pod/") {
            Some(pod) => PodKey::parse(pod).map(Self::Pod),
            None => WorkloadKey::parse(text).map(Self::Workload),
        }
    }
}

impl<'de> Deserialize<'de> for ReportSubject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

/// Failure domains, faults and time spans of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ReportOptions {
    /// Whether each node fails by itself; `true` unless given.
    pub nodes: bool,
    /// Whether each zone fails as a whole; `true` unless given. A zone that contains all nodes
    /// fails, too.
    pub zones: bool,
    /// Whether each region fails as a whole; `true` unless given.
    pub regions: bool,
    /// Whether the devices of each pool of a driver fail together; `true` unless given. Pools without
    /// a device that a pod has are left out. The fault is always `devicesTainted`.
    pub device_pools: bool,
    /// Node labels; the nodes of each value are a failure domain, such as a node pool or a rack.
    pub labels: Vec<String>,
    /// Further failure domains, as lists of nodes.
    pub lists: Vec<DomainList>,
    /// Kinds of domains to fail in pairs: `node`, `zone`, `region`, `label`, `list`.
    pub pairs: Vec<DomainKind>,
    /// Faults to run; `lost` unless given.
    pub faults: Vec<Fault>,
    /// Time from the fault to the end of each run; an hour unless given.
    #[cfg_attr(feature = "typescript-all", tsify(type = "Span"))]
    pub horizon: Span,
    /// Time up to which the scenario and its steps are played before the cluster settles and fails.
    /// Unless given, the initial cluster settles, and no step counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript-all", tsify(type = "Span"))]
    pub after: Option<Span>,
    /// Longest time for the cluster to come to rest before the fault; 10 minutes unless given.
    #[cfg_attr(feature = "typescript-all", tsify(type = "Span"))]
    pub settle: Span,
    /// Runs of each failure, each with different heartbeat times; 1 unless given.
    pub seeds: u32,
    /// Number of finding groups, from the worst, to try remedies for, each for its worst finding; 5
    /// unless given.
    pub remedies: usize,
    /// Origin of the cluster's objects.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "typescript-all", tsify(type = "ReportSource"))]
    pub source: ReportSource,
}

/// Origin of the cluster of a report, as far as it is known. It changes no figure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ReportSource {
    /// Context of the kubeconfig.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Version that the API server reports: `v1.37.2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The only namespace whose pods were read; absent if all were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Objects that could not be read, with the reason: `poddisruptionbudgets: forbidden`.
    #[serde(skip_serializing_if = "is_default")]
    pub not_read: Vec<String>,
}

impl Default for ReportOptions {
    fn default() -> Self {
        Self {
            nodes: true,
            zones: true,
            regions: true,
            device_pools: true,
            labels: Vec::new(),
            lists: Vec::new(),
            pairs: Vec::new(),
            faults: Vec::from([Fault::Lost]),
            horizon: Span(Duration::from_secs(60 * 60)),
            after: None,
            settle: Span(Duration::from_secs(10 * 60)),
            seeds: 1,
            remedies: 5,
            source: ReportSource::default(),
        }
    }
}

/// Reasons why there is no report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportError {
    /// The cluster cannot be simulated.
    Scenario(ScenarioError),
    /// An option is invalid.
    Option {
        /// Name of the field in [`ReportOptions`].
        name: &'static str,
        /// The problem, and the valid values.
        message: String,
    },
    /// A run names a failure domain that the plan does not have.
    UnknownDomain {
        /// Number of the failure domain.
        domain: usize,
        /// Number of failure domains in the plan.
        domains: usize,
    },
    /// A remedy names an object that does not exist.
    Remedy(String),
    /// The results belong to different reports.
    Results(String),
}

impl fmt::Display for ReportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario(error) => error.fmt(f),
            Self::Option { name, message } => write!(f, "{name}: {message}"),
            Self::UnknownDomain { domain, domains } => {
                write!(f, "there is no failure domain {domain}: the plan has {domains}")
            }
            Self::Remedy(message) | Self::Results(message) => f.write_str(message),
        }
    }
}

impl core::error::Error for ReportError {}

/// One run: a fault of a failure domain, in the cluster as it is or with a change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(rename = "ReportRun"))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Run {
    /// The change made to the cluster; absent for the cluster as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Remedy>,
    /// Seed of the heartbeat times, from 1.
    pub seed: u32,
    /// The fault.
    pub fault: Fault,
    /// Failure domain, as its index in the outline.
    pub domain: usize,
}

/// Result of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(rename = "ReportRunResult"))]
#[serde(rename_all = "camelCase")]
pub struct RunResult {
    /// The run.
    #[cfg_attr(feature = "typescript-all", tsify(type = "ReportRun"))]
    pub run: Run,
    /// Time of the last event, from the fault on; absent if more was due after the horizon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_rest: Option<Millis>,
    /// Pods that left the failure domain.
    pub evicted: usize,
    /// Changes of the states and rates of zones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<ZoneStep>,
    /// Result of the drain; absent for other faults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain: Option<DrainResult>,
    /// YAML of the remedy; absent for the cluster as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yaml: Option<String>,
    /// Every workload that the fault affected, by name.
    pub workloads: Vec<WorkloadRun>,
}

/// Subject of a report, without results; parts of one report have equal outlines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(rename = "ReportOutline"))]
#[serde(rename_all = "camelCase")]
pub struct Outline {
    /// Version of Taintlab.
    pub version: String,
    /// Identity of the cluster.
    pub cluster: ClusterIdentity,
    /// Release of Kubernetes.
    #[cfg_attr(feature = "typescript-all", tsify(type = "KubernetesRelease"))]
    pub release: taintlab_rules::release::KubernetesRelease,
    /// Options of the report.
    pub options: ReportOptions,
    /// Time of the fault, after the cluster has settled, since the beginning.
    pub fault_at: Millis,
    /// Number of nodes.
    pub nodes: usize,
    /// Number of pods.
    pub pods: usize,
    /// All top-level workloads, and pods without an owner. Static pods belong to their nodes.
    pub subjects: Vec<ReportSubject>,
    /// Nodes that are not ready before the fault.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_already: Vec<NodeName>,
    /// Workloads with fewer ready pods than they ask for before the fault.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub short_already: Vec<Shortfall>,
    /// Workloads that ask for no pod before the fault: scaled to zero, done, or without a node.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub idle: Vec<ReportSubject>,
    /// Workloads with ready endpoints of a Service before the fault.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub served: Vec<ReportSubject>,
    /// Longest time from the first taint to the last among nodes of one zone that fail together,
    /// over all domains, at the rate of a zone without disruption. Their order is unspecified
    /// upstream.
    #[serde(default, skip_serializing_if = "is_default")]
    pub taint_spread: Millis,
    /// Failure domains.
    #[cfg_attr(feature = "typescript-all", tsify(type = "FailureDomain[]"))]
    pub domains: Vec<Domain>,
}

impl Outline {
    /// Domains to run, each with itself and the other domains of the same nodes.
    fn by_nodes(&self) -> OrderedMap<usize, Vec<usize>> {
        let mut all: OrderedMap<usize, Vec<usize>> = OrderedMap::new();
        for (index, domain) in self.domains.iter().enumerate() {
            all.entry(domain.same_nodes_as.unwrap_or(index)).or_default().push(index);
        }
        all
    }

    /// The faults of all domains: those of the options, and then that of device pools.
    fn faults(&self) -> Vec<Fault> {
        let mut faults = self.options.faults.clone();
        if self.domains.iter().any(|domain| domain.kind == DomainKind::DevicePool) {
            faults.push(Fault::DevicesTainted);
        }
        faults
    }

    /// Whether a domain counts for scores, findings and rules: see [`Domain::whole_cluster`].
    fn counts(&self, domain: usize) -> bool {
        self.domains.get(domain).is_some_and(|domain| !domain.whole_cluster)
    }

    /// The reason why failures say nothing about a workload: it has no ready pod that they could
    /// take.
    #[must_use]
    pub fn not_judged(&self, subject: &ReportSubject) -> Option<NotJudged> {
        if self.short_already.iter().any(|it| it.ready == 0 && it.subject == *subject) {
            return Some(NotJudged::Down);
        }
        self.idle.contains(subject).then_some(NotJudged::Idle)
    }

    /// Number of workloads with a ready pod before the fault.
    fn judged(&self) -> usize {
        self.subjects.iter().filter(|subject| self.not_judged(subject).is_none()).count()
    }
}

/// Reason why failures say nothing about a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotJudged {
    /// Pods that were not ready before the fault.
    Down,
    /// No pod that it asked for.
    Idle,
}

impl NotJudged {
    /// The reason as a clause.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Down => "no pod was ready before anything failed",
            Self::Idle => "it asked for no pod when things failed",
        }
    }
}

/// Identity of the cluster that a report is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct ClusterIdentity {
    /// Name of the cluster: the context, or the title of the scenario; empty if neither is known.
    #[serde(default, skip_serializing_if = "is_default")]
    pub name: String,
    /// 16 hexadecimal digits: a hash of the names and UIDs of the initial nodes and workloads.
    /// Changes by later steps do not change it.
    pub digest: String,
    /// Wall-clock time of the cluster when it fails; absent if its objects name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Time>,
}

impl ClusterIdentity {
    /// Identity of the initial cluster of a scenario, in a report with these options.
    #[must_use]
    pub fn of(scenario: &Scenario, options: &ReportOptions) -> Self {
        let (objects, about) = (&scenario.objects, &scenario.metadata);
        let grouped: Vec<_> = objects.node_groups.iter().flat_map(NodeGroup::nodes).collect();
        let given = objects.nodes.iter().map(|node| &node.metadata);
        let nodes = given.chain(grouped.iter().map(|node| &node.metadata));
        let workloads = objects.workloads.iter().map(|it| (it.kind.as_str(), &it.metadata));
        let mut names: Vec<[&str; 4]> = nodes
            .map(|node| ("Node", node))
            .chain(workloads)
            .map(|(kind, ObjectMeta { namespace, name, uid, .. })| [kind, namespace, name, uid])
            .collect();
        names.order();
        let bytes = names.iter().flatten().flat_map(|text| text.bytes().chain([0]));
        let title = if about.title.is_empty() { &about.name } else { &about.title };
        let since = options.after.unwrap_or_default();
        Self {
            name: options.source.context.as_ref().unwrap_or(title).clone(),
            digest: format!("{:016x}", hash(0, bytes)),
            at: scenario.start.map(|start| start.saturating_add(since.0)),
        }
    }

    /// Whether two reports are about one cluster and can be compared.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.name, &self.digest) == (&other.name, &other.digest)
    }
}

/// A settled cluster, ready to fail again and again.
#[derive(Clone, Debug)]
pub struct Plan {
    scenario: Scenario,
    outline: Outline,
    /// The unchanged cluster with the first seed, kept for the choice of remedies whichever run was
    /// made last.
    plain: Settled,
    /// The cluster used last: runs with the same seed and remedy share it.
    settled: Settled,
}

/// A settled cluster.
#[derive(Clone, Debug)]
pub(crate) struct Settled {
    seed: u32,
    /// The change made before it settled; changes after the fault do not count.
    remedy: Option<Remedy>,
    pub(crate) simulator: Arc<Simulator>,
    /// Services with a selector.
    services: Arc<Vec<ServiceSelector>>,
    /// Time of the fault.
    pub(crate) at: Timestamp,
    /// Shared beginning of outages of different lengths, for runs that try remedies.
    unreachable: Option<UnreachableNodes>,
}

/// Seed of the cluster as it settles first.
pub(crate) const SEED: u32 = 1;

/// The fault comes at the first multiple of this time (in nanoseconds), so that only the seed
/// changes its position between heartbeats.
const FAULT_AT: u64 = 10_000_000_000;

/// Scenario at the start of a run: with the heartbeats of a seed, and without the later steps,
/// expectations and bookmarks, which belong to another run.
pub(crate) fn initial(scenario: &Scenario, seed: u32, after: Option<Span>) -> Scenario {
    let steps = scenario.steps.iter().filter(|step| after.is_some_and(|after| step.at <= after));
    let mut scenario = Scenario {
        steps: steps.cloned().collect(),
        until: None,
        expect: Vec::new(),
        bookmarks: Vec::new(),
        ..scenario.clone()
    };
    let kubelets = scenario.kubernetes.kubelets.get_or_insert_default();
    kubelets.phase_seed = seed.into();
    scenario
}

impl Settled {
    fn new(scenario: &Scenario, seed: u32, options: &ReportOptions) -> Result<Self, ReportError> {
        let scenario = initial(scenario, seed, options.after);
        let services = scenario.objects.others.iter().filter_map(ServiceSelector::of).collect();
        let mut simulator = scenario.simulator().map_err(ReportError::Scenario)?;
        // The controllers look at the objects for the first time at time zero.
        let mut last = options.after.unwrap_or_default().timestamp();
        let mut player = Player::new(&scenario);
        loop {
            match player.play_to(&mut simulator, last, MOST_MOMENTS) {
                Ok(Ended::AtRest) => break,
                Ok(Ended::TooManyMoments) => {
                    let at = simulator.now();
                    return Err(ReportError::Scenario(ScenarioError::TooMuch { at }));
                }
                // A step that is refused in a changed cluster has no effect there.
                Err(_) => {}
            }
        }
        simulator.drain_events();
        let end = last.saturating_add(options.settle.0);
        while let Some(next) = simulator.poll_timeout().filter(|next| next.at <= end) {
            if simulator.advance_to(next.at).is_err() {
                break;
            }
            simulator.drain_events();
            last = simulator.now();
        }
        let periods = (last.as_nanos() / FAULT_AT).saturating_add(1);
        let at = Timestamp::from_nanos(periods.saturating_mul(FAULT_AT));
        // Nothing is due before then, so that it cannot fail.
        let _ = simulator.advance_to(at);
        simulator.drain_events();
        Ok(Self {
            seed,
            remedy: None,
            simulator: Arc::new(simulator),
            services: Arc::new(services),
            at,
            unreachable: None,
        })
    }
}

impl Settled {
    /// Settles the cluster of a scenario with the control plane, and returns it with the scenario from
    /// which it came, which has no steps but those of the options.
    pub(crate) fn prepared(
        mut scenario: Scenario,
        options: &ReportOptions,
    ) -> Result<(Scenario, Self), ReportError> {
        check(options)?;
        scenario.kubernetes.control_plane = Some(true);
        scenario.kubernetes.node_lifecycle = Some(true);
        if let Some(name) = scenario.objects.duplicate_names().into_iter().next() {
            return Err(ReportError::Scenario(ScenarioError::DuplicateName(name)));
        }
        let settled = Self::new(&scenario, SEED, options)?;
        Ok((scenario, settled))
    }

    /// Makes a run.
    fn run(&mut self, options: &ReportOptions, nodes: &Failing, run: &Run) -> RunResult {
        let (at, horizon) = (self.at, options.horizon);
        let several = run.remedy.is_some() || !options.faults.contains(&run.fault);
        if !several || !recorder::makes_unreachable(run) {
            return recorder::record(&self.simulator, &self.services, at, horizon, nodes, run);
        }
        let known = self.unreachable.take().filter(|known| known.begins(run));
        let unreachable = known.unwrap_or_else(|| {
            UnreachableNodes::new(&self.simulator, &self.services, at, nodes, run)
        });
        self.unreachable.insert(unreachable).record(horizon, nodes, run)
    }
}

impl Plan {
    /// Settles the cluster of a scenario, without its later steps and its expectations, and finds
    /// its failure domains. The control plane always takes part, whatever the scenario says.
    ///
    /// # Errors
    /// The cluster cannot be simulated, or an option is wrong.
    pub fn new(scenario: Scenario, options: ReportOptions) -> Result<Self, ReportError> {
        let (scenario, settled) = Settled::prepared(scenario, &options)?;
        let simulator = &settled.simulator;
        let subjects = subjects(simulator);
        let is_ready = |node: &Node| {
            node.condition("Ready").is_none_or(|it| it.status == ConditionStatus::True)
        };
        let lost = simulator.cluster().nodes().filter(|(_, node)| !is_ready(node));
        let domains = domains::domains(simulator, &options)?;
        let outline = Outline {
            version: env!("CARGO_PKG_VERSION").into(),
            cluster: ClusterIdentity::of(&scenario, &options),
            lost_already: lost.map(|(name, _)| name.clone()).collect(),
            short_already: recorder::short(simulator, &subjects),
            idle: recorder::idle(simulator, &subjects),
            served: recorder::served(simulator, &settled.services),
            release: simulator.config().release,
            fault_at: Millis::between(Timestamp::ZERO, settled.at),
            nodes: simulator.cluster().nodes().len(),
            pods: simulator.cluster().pod_count(),
            subjects,
            taint_spread: domains::taint_spread(simulator, &domains),
            domains,
            options,
        };
        Ok(Self { scenario, outline, plain: settled.clone(), settled })
    }

    /// Subject of the report.
    #[must_use]
    pub const fn outline(&self) -> &Outline {
        &self.outline
    }

    /// The settled cluster without a change.
    pub(crate) fn simulator(&self) -> &Simulator {
        &self.plain.simulator
    }

    /// Runs of the unchanged cluster: every fault of every domain with every seed. The largest
    /// failures come first, since a zone takes as long as a thousand single nodes.
    #[must_use]
    pub fn runs(&self) -> Vec<Run> {
        runs(&self.outline)
    }

    /// Makes a run. Runs with the same seed and remedy should follow one another: for any other,
    /// the cluster has to settle anew.
    ///
    /// # Errors
    /// The run does not belong to this plan.
    pub fn run(&mut self, run: &Run) -> Result<RunResult, ReportError> {
        let nodes = self.settle_for(run)?;
        let options = &self.outline.options;
        let mut result = self.settled.run(options, &nodes, run);
        if let Some(remedy) = &run.remedy {
            result.yaml = Some(remedy.yaml(&self.scenario, &nodes.nodes)?);
        }
        Ok(result)
    }

    /// Lanes of the failing nodes and of the pods of one workload during a run, for drawing.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn lanes(&mut self, run: &Run, subject: &ReportSubject) -> Result<Lanes, ReportError> {
        let nodes = self.settle_for(run)?;
        let (Settled { simulator, at, .. }, options) = (&self.settled, &self.outline.options);
        Ok(recorder::lanes(simulator, *at, options.horizon, &nodes, run, subject))
    }

    /// A run as a scenario that can be played by itself to inspect its figures, and the time of the
    /// fault in it. It starts with the cluster of the run, ends at the horizon, and its last steps
    /// are the commands of the fault. Times of a [`WorkloadRun`] count from the fault. While the
    /// power is off, the scenario shows the view of the control plane, as any simulation does.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn scenario_of(&mut self, run: &Run) -> Result<(Scenario, Timestamp), ReportError> {
        let nodes = self.settle_for(run)?;
        let (Settled { simulator, at, .. }, options) = (&self.settled, &self.outline.options);
        let steps = recorder::steps(simulator, *at, options.horizon, &nodes, run);
        let end = at.saturating_add(options.horizon.0);
        let changed = match &run.remedy {
            Some(remedy) => &remedy.applied_to(&self.scenario)?,
            None => &self.scenario,
        };
        let mut scenario = initial(changed, run.seed, options.after);
        scenario.steps.extend(steps);
        scenario.until = Some(Span(Duration::from_nanos(end.as_nanos())));
        Ok((scenario, *at))
    }

    /// Settles the cluster that a run needs, unless it is at hand, and returns the failing nodes.
    fn settle_for(&mut self, run: &Run) -> Result<Failing, ReportError> {
        let domains = self.outline.domains.len();
        let Some(domain) = self.outline.domains.get(run.domain) else {
            return Err(ReportError::UnknownDomain { domain: run.domain, domains });
        };
        let remedy = run.remedy.as_ref().filter(|remedy| remedy.is_before()).cloned();
        if self.settled.seed != run.seed || self.settled.remedy != remedy {
            if self.plain.seed == run.seed && self.plain.remedy == remedy {
                self.settled = self.plain.clone();
            } else {
                let changed = match &remedy {
                    Some(remedy) => remedy.applied_to(&self.scenario)?,
                    None => self.scenario.clone(),
                };
                self.settled = Settled::new(&changed, run.seed, &self.outline.options)?;
                self.settled.remedy.clone_from(&remedy);
            }
        }
        let pool = (domain.kind == DomainKind::DevicePool).then(|| domain.name.clone());
        if remedy.is_none() {
            return Ok(Failing { nodes: domain.nodes.clone(), pool });
        }
        // An added node fails with its zone.
        let nodes = domains::nodes_in(&self.settled.simulator, &self.outline, domain);
        Ok(Failing { nodes: nodes.into_iter().collect(), pool })
    }

    /// Runs that try remedies for the worst findings among these results of [`runs`](Self::runs),
    /// in any order. With the results of these runs it lists further ones, which try the best
    /// remedies in other failures; when nothing is left to try, it lists none.
    ///
    /// Runs of one cluster follow one another, and among these the runs that share most work.
    #[must_use]
    pub fn remedies(&self, results: &[RunResult]) -> Vec<Run> {
        trial::remedies(&self.outline, &self.plain.simulator, results)
    }
}

/// Runs of an outline, the largest first. Domains of the same nodes share runs.
fn runs(outline: &Outline) -> Vec<Run> {
    let domains = outline.domains.iter().enumerate();
    let mut domains: Vec<(usize, &Domain)> =
        domains.filter(|(_, domain)| domain.same_nodes_as.is_none()).collect();
    domains.order_by_key(|(_, domain)| Reverse(domain.nodes.len()));
    let mut runs = Vec::new();
    for seed in 1..=outline.options.seeds {
        for fault in &outline.faults() {
            let of_devices = *fault == Fault::DevicesTainted;
            let fails = |it: &Domain| (it.kind == DomainKind::DevicePool) == of_devices;
            for (domain, _) in domains.iter().copied().filter(|(_, it)| fails(it)) {
                runs.push(Run { remedy: None, seed, fault: fault.clone(), domain });
            }
        }
    }
    runs
}

/// Upper limit of seeds: further runs of a failure reveal nothing new.
const MOST_SEEDS: u32 = 1_000;

fn check(options: &ReportOptions) -> Result<(), ReportError> {
    let wrong = |name, message: String| Err(ReportError::Option { name, message });
    if options.seeds == 0 || options.seeds > MOST_SEEDS {
        return wrong("seeds", format!("expected 1 to {MOST_SEEDS}, found {}", options.seeds));
    }
    if options.faults.is_empty() {
        return wrong("faults", "expected at least one fault, for example `lost`".into());
    }
    if options.horizon.0 < Duration::from_secs(1) {
        return wrong("horizon", format!("expected 1s or more, found {}", options.horizon));
    }
    let day = Duration::from_secs(24 * 60 * 60);
    let after = options.after.unwrap_or_default();
    let spans = [("horizon", options.horizon), ("after", after), ("settle", options.settle)];
    for (name, span) in spans {
        if span.0 > 365 * day {
            return wrong(name, format!("expected at most a year, found {span}"));
        }
    }
    if options.pairs.contains(&DomainKind::DevicePool) {
        return wrong("pairs", "device pools do not fail in pairs".into());
    }
    let mut names = OrderedMap::new();
    for (index, list) in options.lists.iter().enumerate() {
        if list.nodes.is_empty() {
            let message = format!("list `{}` names no node", list.name);
            return wrong("lists", message);
        }
        if names.insert(&list.name, index).is_some() {
            return wrong("lists", format!("two lists are called `{}`", list.name));
        }
    }
    for fault in &options.faults {
        fault.check().map_err(|message| ReportError::Option { name: "faults", message })?;
    }
    let mut faults: Vec<String> = options.faults.iter().map(ToString::to_string).collect();
    faults.order();
    if let Some([first, _]) = faults.array_windows::<2>().find(|[one, other]| one == other) {
        return wrong("faults", format!("`{first}` is given twice"));
    }
    Ok(())
}
