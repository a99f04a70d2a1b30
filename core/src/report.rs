//! The resilience report: for every node, zone and other failure domain, what each workload loses
//! when it fails, how long it is short, and what would help.
//!
//! A report consists of runs that know nothing of one another, so that they can be made in any
//! order, in several threads or on several machines:
//!
//! 1. [`Plan::new`] settles the cluster and finds its failure domains; [`Plan::outline`] says
//!    which.
//! 2. [`Plan::runs`] lists the runs, and [`Plan::run`] makes one of them.
//! 3. [`Plan::remedies`] lists more runs, until it lists none: what would help where it hurts most,
//!    and then in other failures, each of them a run of the changed cluster.
//! 4. [`report`] puts the results of all runs together, in whatever order they come.
//!
//! Every run forks the settled cluster, lets the domain fail and goes on to the horizon. What its
//! figures say is what the control plane sees, and so what Services see: a pod on a node that is
//! lost counts as ready until the node lifecycle controller says otherwise. Only where the power is
//! off do the pods of the node count as down from that moment on, until the node is back.

mod domains;
mod fault;
mod findings;
mod recorder;
mod remedy;
mod rows;
#[cfg(test)]
mod tests;
mod text;
mod verdict;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;
use core::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub use self::domains::{Domain, DomainKind, DomainList, Headroom};
pub use self::fault::Fault;
pub use self::findings::{
    Cell, Effect, FalseAlarm, Finding, MadeWorse, OverAll, Report, RunSummary, Score, Spread,
    WorkloadScore, report,
};
use self::recorder::UnreachableNodes;
pub use self::recorder::{DrainResult, PendingReason, Shortfall, WorkloadRun, ZoneStep};
pub use self::remedy::Remedy;
pub use self::rows::FailureRow;
pub use self::verdict::{FailureTotal, FindingGroup};
use crate::api::{ConditionStatus, Node, NodeName, ObjectMeta, PodKey, WorkloadKey, is_default};
use crate::kubelet::heartbeat::hash;
use crate::lanes::Lanes;
use crate::order::{Order, Ordered};
use crate::scenario::{Ended, MOST_MOMENTS, NodeGroup, Player, Scenario, ScenarioError};
use crate::simulator::Simulator;
use crate::time::{Span, Time, Timestamp};

/// A time in milliseconds, rounded down. It is a whole number everywhere, so that reports are the
/// same bytes everywhere.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(transparent)]
pub struct Millis(pub u64);

impl Millis {
    /// The time from one moment to a later one.
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

/// Whose figures they are: a workload, or a pod that none owns.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(type = "string"))]
pub enum ReportSubject {
    /// `deployment/shop/web`: the workload that nobody else owns.
    Workload(WorkloadKey),
    /// `pod/shop/debug`: a pod that no controller brings back.
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

impl<'de> Deserialize<'de> for ReportSubject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.strip_prefix("pod/") {
            Some(pod) => PodKey::parse(pod).map(Self::Pod).map_err(de::Error::custom),
            None => WorkloadKey::parse(&text).map(Self::Workload).map_err(de::Error::custom),
        }
    }
}

/// What fails, how, and for how long it is watched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ReportOptions {
    /// Whether each node fails by itself; `true` unless given.
    pub nodes: bool,
    /// Whether each zone fails as a whole; `true` unless given. A zone that has all nodes fails,
    /// too.
    pub zones: bool,
    /// Whether each region fails as a whole; `true` unless given.
    pub regions: bool,
    /// Labels of nodes, each value of which is a failure domain: a node pool, a rack.
    pub labels: Vec<String>,
    /// Other failure domains, by their nodes.
    pub lists: Vec<DomainList>,
    /// Of which kinds two fail at once: `node`, `zone`, `region`, `label`, `list`.
    pub pairs: Vec<DomainKind>,
    /// How they fail; `lost` unless given.
    pub faults: Vec<Fault>,
    /// How long each run is watched, from the fault on; an hour unless given.
    #[cfg_attr(feature = "typescript-all", tsify(type = "Span"))]
    pub horizon: Span,
    /// How far the scenario is played, with its steps until then, before it settles and anything
    /// fails. Unless given, it settles as it begins, and none of its steps counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript-all", tsify(type = "Span"))]
    pub after: Option<Span>,
    /// How long the cluster may take to come to rest before anything fails; 10 minutes unless
    /// given.
    #[cfg_attr(feature = "typescript-all", tsify(type = "Span"))]
    pub settle: Span,
    /// How many times each failure is run, each with other moments of the heartbeats; 1 unless
    /// given.
    pub seeds: u32,
    /// For how many of the worst groups of findings it is computed what would help, of each for
    /// the worst finding; 5 unless given.
    pub remedies: usize,
    /// Where the cluster was read.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "typescript-all", tsify(type = "ReportSource"))]
    pub source: ReportSource,
}

/// Where the cluster of a report was read, as far as it is known. It changes no figure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ReportSource {
    /// The name of the context of the kubeconfig.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// What the API server says of its version: `v1.37.2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The namespace whose pods alone were read; absent if those of all were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// What could not be read, and why: `poddisruptionbudgets: forbidden`.
    #[serde(skip_serializing_if = "is_default")]
    pub not_read: Vec<String>,
}

impl Default for ReportOptions {
    fn default() -> Self {
        Self {
            nodes: true,
            zones: true,
            regions: true,
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

/// Why there is no report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportError {
    /// The cluster cannot be simulated.
    Scenario(ScenarioError),
    /// An option is wrong: which, and what would be valid.
    Option {
        /// Its name in [`ReportOptions`].
        name: &'static str,
        /// What is wrong, and what would be valid.
        message: String,
    },
    /// A run is not one of this plan.
    UnknownDomain {
        /// The number of its failure domain.
        domain: usize,
        /// How many there are.
        domains: usize,
    },
    /// A remedy is about an object that is not there.
    Remedy(String),
    /// Results are not of one and the same report.
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

/// One run: what fails, how, and in which cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(rename = "ReportRun"))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Run {
    /// What was changed before; absent for the cluster as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Remedy>,
    /// Which moments the heartbeats come at, from 1.
    pub seed: u32,
    /// How it fails.
    pub fault: Fault,
    /// What fails: the number of a domain of the outline.
    pub domain: usize,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(rename = "ReportRunResult"))]
#[serde(rename_all = "camelCase")]
pub struct RunResult {
    /// Which run.
    #[cfg_attr(feature = "typescript-all", tsify(type = "ReportRun"))]
    pub run: Run,
    /// When something happened last, from the fault on; absent if more was to come at the horizon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_rest: Option<Millis>,
    /// How many pods of the domain left it.
    pub evicted: usize,
    /// How the zones and their rates changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<ZoneStep>,
    /// What became of a drain; absent if the fault is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain: Option<DrainResult>,
    /// The YAML of the remedy; absent for the cluster as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yaml: Option<String>,
    /// Every workload that the fault reached, by name.
    pub workloads: Vec<WorkloadRun>,
}

/// What a report is about, without its results: parts of one report have the same outline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), tsify(rename = "ReportOutline"))]
#[serde(rename_all = "camelCase")]
pub struct Outline {
    /// The version of Taintlab.
    pub version: String,
    /// Which cluster it is.
    pub cluster: ClusterIdentity,
    /// The release of Kubernetes.
    #[cfg_attr(feature = "typescript-all", tsify(type = "KubernetesRelease"))]
    pub release: crate::release::KubernetesRelease,
    /// What was asked for.
    pub options: ReportOptions,
    /// When the fault comes, after the cluster has settled: time since the beginning.
    pub fault_at: Millis,
    /// How many nodes there are.
    pub nodes: usize,
    /// How many pods there are.
    pub pods: usize,
    /// All workloads, and the pods that nobody owns. Static pods are a part of their nodes.
    pub subjects: Vec<ReportSubject>,
    /// The nodes that are not ready before anything fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_already: Vec<NodeName>,
    /// The workloads that have fewer ready pods than they ask for before anything fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub short_already: Vec<Shortfall>,
    /// Of the nodes of one zone that fail together, how much later than the first one the last one
    /// is tainted: the most of all domains, at the rate of a zone that is not partially disrupted.
    /// Their order is free upstream.
    #[serde(default, skip_serializing_if = "is_default")]
    pub taint_spread: Millis,
    /// What can fail.
    #[cfg_attr(feature = "typescript-all", tsify(type = "FailureDomain[]"))]
    pub domains: Vec<Domain>,
}

impl Outline {
    /// The domains that are run, each with itself and the others that have its nodes.
    fn by_nodes(&self) -> BTreeMap<usize, Vec<usize>> {
        let mut all: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (index, domain) in self.domains.iter().enumerate() {
            all.entry(domain.same_nodes_as.unwrap_or(index)).or_default().push(index);
        }
        all
    }

    /// Whether scores, findings and rules count a domain: see [`Domain::whole_cluster`].
    fn counts(&self, domain: usize) -> bool {
        self.domains.get(domain).is_some_and(|domain| !domain.whole_cluster)
    }

    /// Those of which no pod was ready before anything failed, although they ask for some.
    fn down_already(&self) -> BTreeSet<&ReportSubject> {
        let down = self.short_already.iter().filter(|it| it.ready == 0);
        down.map(|it| &it.subject).ordered_set()
    }
}

/// Which cluster a report is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct ClusterIdentity {
    /// What it is called: the context, or the title of the scenario; empty if nobody says it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub name: String,
    /// 16 hexadecimal digits that stand for the names and UIDs of the nodes and workloads of the
    /// beginning. What is changed in steps from there on does not change it.
    pub digest: String,
    /// The wall-clock time of the cluster that fails; absent if its objects say none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Time>,
}

impl ClusterIdentity {
    /// The identity of the cluster that a scenario begins with, in a report with these options.
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

    /// Whether two reports are about one cluster, so that they can be compared.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.name, &self.digest) == (&other.name, &other.digest)
    }
}

/// A cluster that has settled, ready to fail again and again.
#[derive(Clone, Debug)]
pub struct Plan {
    scenario: Scenario,
    outline: Outline,
    /// The cluster as it is, with the first seed: what could help is looked for in it, whichever
    /// run was made last.
    plain: Settled,
    /// The cluster that was used last: runs of one seed and remedy share it.
    settled: Settled,
}

/// A cluster that has settled.
#[derive(Clone, Debug)]
struct Settled {
    seed: u32,
    /// What was changed before; a change that comes after the fault is none.
    remedy: Option<Remedy>,
    simulator: Arc<Simulator>,
    /// When the fault comes.
    at: Timestamp,
    /// What outages of several lengths have in common: of those that tell what would help.
    unreachable: Option<UnreachableNodes>,
}

/// The fault comes at the first multiple of this, so that seeds alone move the heartbeats.
const FAULT_AT: u64 = 10_000_000_000;

/// What a run begins with: without the later steps, expectations and bookmarks of the scenario,
/// which are about another run, and with the heartbeats of a seed.
fn initial(scenario: &Scenario, seed: u32, after: Option<Span>) -> Scenario {
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
        let mut simulator = scenario.simulator().map_err(ReportError::Scenario)?;
        // At zero the controllers look at the objects for the first time.
        let mut last = options.after.unwrap_or_default().timestamp();
        let mut player = Player::new(&scenario);
        loop {
            match player.play_to(&mut simulator, last, MOST_MOMENTS) {
                Ok(Ended::AtRest) => break,
                Ok(Ended::TooManyMoments) => {
                    let at = simulator.now();
                    return Err(ReportError::Scenario(ScenarioError::TooMuch { at }));
                }
                // A step that is refused in a changed cluster changes nothing there.
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
        // Nothing is due before: it cannot fail.
        let _ = simulator.advance_to(at);
        simulator.drain_events();
        Ok(Self { seed, remedy: None, simulator: Arc::new(simulator), at, unreachable: None })
    }
}

impl Settled {
    /// Makes a run.
    fn run(&mut self, options: &ReportOptions, nodes: &[NodeName], run: &Run) -> RunResult {
        let (at, horizon) = (self.at, options.horizon);
        let several = run.remedy.is_some() || !options.faults.contains(&run.fault);
        if !several || !recorder::makes_unreachable(run) {
            return recorder::record(&self.simulator, at, horizon, nodes, run);
        }
        let known = self.unreachable.take().filter(|known| known.begins(run));
        let unreachable =
            known.unwrap_or_else(|| UnreachableNodes::new(&self.simulator, at, nodes, run));
        self.unreachable.insert(unreachable).record(horizon, nodes, run)
    }
}

impl Plan {
    /// Settles the cluster of a scenario, whose later steps and expectations do not count, and
    /// finds its failure domains. The control plane takes part, whatever the scenario says.
    ///
    /// # Errors
    /// The cluster cannot be simulated, or an option is wrong.
    pub fn new(scenario: Scenario, options: ReportOptions) -> Result<Self, ReportError> {
        check(&options)?;
        let mut scenario = scenario;
        scenario.kubernetes.control_plane = Some(true);
        scenario.kubernetes.node_lifecycle = Some(true);
        if let Some(name) = scenario.objects.duplicate_names().into_iter().next() {
            return Err(ReportError::Scenario(ScenarioError::DuplicateName(name)));
        }
        let settled = Settled::new(&scenario, 1, &options)?;
        let simulator = &settled.simulator;
        let subjects = recorder::subjects(simulator);
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

    /// What the report is about.
    #[must_use]
    pub const fn outline(&self) -> &Outline {
        &self.outline
    }

    /// The runs of the cluster as it is: every fault of every domain with every seed, the largest
    /// failures first, since a zone takes as long as a thousand nodes one by one.
    #[must_use]
    pub fn runs(&self) -> Vec<Run> {
        runs(&self.outline)
    }

    /// Makes a run. Those of one seed and one remedy should come one after the other: the cluster
    /// is settled anew for another.
    ///
    /// # Errors
    /// The run is not one of this plan.
    pub fn run(&mut self, run: &Run) -> Result<RunResult, ReportError> {
        let nodes = self.settle_for(run)?;
        let options = &self.outline.options;
        let mut result = self.settled.run(options, &nodes, run);
        if let Some(remedy) = &run.remedy {
            result.yaml = Some(remedy.yaml(&self.scenario, &nodes)?);
        }
        Ok(result)
    }

    /// What happens in a run, to be drawn: the lanes of the nodes that fail and of the pods of a
    /// workload.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn lanes(&mut self, run: &Run, subject: &ReportSubject) -> Result<Lanes, ReportError> {
        let nodes = self.settle_for(run)?;
        let (Settled { simulator, at, .. }, options) = (&self.settled, &self.outline.options);
        Ok(recorder::lanes(simulator, *at, options.horizon, &nodes, run, subject))
    }

    /// A run as a scenario that can be played by itself, to look at what its figures say, and when
    /// the fault comes in it. It begins with the cluster of the run, the commands of the fault are
    /// its last steps, and it ends at the horizon. Times of a [`WorkloadRun`] count from the fault.
    /// Where the power is off, it shows what the control plane sees, as any simulation does.
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

    /// Settles the cluster that a run needs, unless it is there; the nodes that fail.
    fn settle_for(&mut self, run: &Run) -> Result<Vec<NodeName>, ReportError> {
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
        if remedy.is_none() {
            return Ok(domain.nodes.clone());
        }
        // A node that was added fails with its zone.
        let nodes = domains::nodes_in(&self.settled.simulator, &self.outline, domain);
        Ok(nodes.into_iter().collect())
    }

    /// The runs that tell what would help in the worst findings among these results of
    /// [`runs`](Self::runs), in whatever order they are. Once they are made, it lists with their
    /// results more: what helps most is tried in other failures, too. When there is no more to be
    /// known, it lists none.
    ///
    /// They are in an order in which runs of one cluster follow one another, and of those the ones
    /// that share most.
    #[must_use]
    pub fn remedies(&self, results: &[RunResult]) -> Vec<Run> {
        findings::remedies(&self.outline, &self.plain.simulator, results)
    }
}

/// The runs of an outline, the largest first. Domains of the same nodes share theirs.
fn runs(outline: &Outline) -> Vec<Run> {
    let domains = outline.domains.iter().enumerate();
    let mut domains: Vec<(usize, &Domain)> =
        domains.filter(|(_, domain)| domain.same_nodes_as.is_none()).collect();
    domains.order_by_key(|(_, domain)| Reverse(domain.nodes.len()));
    let mut runs = Vec::new();
    for seed in 1..=outline.options.seeds {
        for fault in &outline.options.faults {
            for (domain, _) in domains.iter().copied() {
                runs.push(Run { remedy: None, seed, fault: fault.clone(), domain });
            }
        }
    }
    runs
}

/// More runs of one failure than these tell nothing new.
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
    let mut names = BTreeMap::new();
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
