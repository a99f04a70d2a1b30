//! Scenarios: a cluster, the steps that change it, and the expected results.
//!
//! A scenario answers a question. The tests run it, the page shows it, the docs embed it: one
//! format, `apiVersion: taintlab/v1`, `kind: Scenario`, whose files the `manifest` crate reads.
//! Fields may be added, but existing files keep their meaning.

mod expectation;
mod names;
mod node_group;
mod player;
mod toleration_seconds;

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;
use taintlab_engine::command::{Command, CommandError};
use taintlab_engine::controllers::autoscaler::AutoscalerSettings;
use taintlab_engine::controllers::descheduler::DeschedulerSettings;
use taintlab_engine::event::Event;
use taintlab_engine::kubelet::heartbeat::KubeletSettings;
use taintlab_engine::kubelet::{ConfigError as KubeletError, KubeletConfiguration};
use taintlab_engine::simulator::{
    ConfigError, DEFAULT_START_UP_TIME, HealthPassTime, InitialState, InitialVolumes, Simulator,
    SimulatorConfig,
};
use taintlab_rules::api::{
    ApiVersion, DeviceKind, DeviceObject, Kind, Lease, Node, Pod, PodDisruptionBudget, TypeName,
    Workload, is_default,
};
use taintlab_rules::order::tree;
use taintlab_rules::release::KubernetesRelease;
use taintlab_rules::slices::at_once;
use taintlab_rules::time::{Span, Time, Timestamp};

pub use self::expectation::{
    AvailabilityExpectation, AvailableExpectation, ConditionExpectation, EventExpectation,
    Expectation, Outcome, PodExpectation, PodStatusExpectation, PodsOnExpectation,
    RankingExpectation, RateExpectation, ReplicasExpectation, ScheduledExpectation,
    TaintExpectation, ZoneExpectation,
};
pub use self::names::DuplicateName;
pub use self::node_group::NodeGroup;
pub use self::player::{Ended, MOST_EVENTS, MOST_MOMENTS, Next, NextWhat, Player};

/// Marks [`Scenario`] as `taintlab/v1`, `Scenario`.
pub enum ScenarioKind {}

impl TypeName for ScenarioKind {
    const KIND: &'static str = "Scenario";
    const API_VERSION: &'static str = "taintlab/v1";
}

/// A cluster, the steps that change it, and the expected results.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Scenario {
    /// `taintlab/v1`.
    #[cfg_attr(feature = "typescript-all", tsify(type = "\"taintlab/v1\""))]
    pub api_version: ApiVersion<ScenarioKind>,
    /// `Scenario`.
    #[cfg_attr(feature = "typescript-all", tsify(type = "\"Scenario\""))]
    pub kind: Kind<ScenarioKind>,
    /// Name, title, question and answer.
    #[serde(default)]
    pub metadata: ScenarioMetadata,
    /// Release and settings of Kubernetes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub kubernetes: Kubernetes,
    /// Wall-clock time at the beginning; 2020-01-01T00:00:00Z unless given. No deadline depends on
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Time>,
    /// Objects at the beginning.
    #[serde(default, skip_serializing_if = "is_default")]
    pub objects: Objects,
    /// Steps in the order of time. Steps of one instant are carried out in the given order.
    #[serde(default, skip_serializing_if = "is_default")]
    pub steps: Vec<Step>,
    /// End of the scenario. Unless given, it ends when nothing more will happen by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Span>,
    /// Statements that must turn out to be true.
    #[serde(default, skip_serializing_if = "is_default")]
    pub expect: Vec<Expectation>,
    /// Moments worth stopping at, in the order of time: a story in steps.
    #[serde(default, skip_serializing_if = "is_default")]
    pub bookmarks: Vec<Bookmark>,
}

/// A moment worth stopping at. It changes nothing in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Bookmark {
    /// Time since the beginning.
    pub at: Span,
    /// Text about this moment.
    #[serde(default, skip_serializing_if = "is_default")]
    pub note: String,
    /// Object to look at: `node worker-1`, `pod shop/web-0` or `workload deployment/shop/web`. A
    /// viewer ignores objects that it does not know.
    #[serde(default, skip_serializing_if = "is_default")]
    pub select: String,
}

/// Name, title, question and answer of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ScenarioMetadata {
    /// A short name in lower case with dashes, usually that of the file.
    #[serde(skip_serializing_if = "is_default")]
    pub name: String,
    /// A title for a list.
    #[serde(skip_serializing_if = "is_default")]
    pub title: String,
    /// The question that it answers.
    #[serde(skip_serializing_if = "is_default")]
    pub question: String,
    /// The answer.
    #[serde(skip_serializing_if = "is_default")]
    pub answer: String,
    /// Search words: `zones`, `statefulset`.
    #[serde(skip_serializing_if = "is_default")]
    pub tags: Vec<String>,
    /// Source of the question: `kubernetes/kubernetes#74651`.
    #[serde(skip_serializing_if = "is_default")]
    pub threads: Vec<String>,
}

/// Release and settings of the Kubernetes that a scenario runs on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Kubernetes {
    /// The release, in quotes; the newest known one unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<KubernetesRelease>,
    /// Feature gates that differ from the defaults of the release.
    #[serde(skip_serializing_if = "is_default")]
    pub feature_gates: BTreeMap<String, bool>,
    /// Whether kubelets send heartbeats and the node lifecycle controller monitors them, as in a
    /// real cluster. Unless given, they do if a step, an expectation, a flag or a setting needs
    /// them. Without them, taints are only added by hand, and stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_lifecycle: Option<bool>,
    /// Flags of kube-controller-manager that differ from the defaults of the release, by name.
    #[serde(skip_serializing_if = "is_default", deserialize_with = "flag_values")]
    pub controller_manager_flags: BTreeMap<String, String>,
    /// Settings of the kubelets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubelets: Option<KubeletSettings>,
    /// Duration of health passes, which delays the following ones. Unless given, as on a real
    /// machine: 350us for each node, and 25ms for each node written. `{}` means ideal clocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health_pass: Option<HealthPassTime>,
    /// The eviction part of all kubelets' KubeletConfiguration. Unless given, that of a
    /// `KubeletConfiguration` among the objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubelet_configuration: Option<KubeletConfiguration>,
    /// Eviction flags of all kubelets, by name: `eviction-hard`. They take precedence over the
    /// configuration.
    #[serde(skip_serializing_if = "is_default", deserialize_with = "flag_values")]
    pub kubelet_flags: BTreeMap<String, String>,
    /// Whether the rest of the control plane takes part: admission, scheduler, controllers of
    /// workloads, budgets, pod garbage collection. Unless given, it does if there are workloads or
    /// budgets, or if a step, an expectation or a setting needs it. Without it, pods stay as they
    /// are given and nothing replaces them. It implies `nodeLifecycle`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane: Option<bool>,
    /// Flags of kube-apiserver that differ from the defaults, by name.
    #[serde(skip_serializing_if = "is_default", deserialize_with = "flag_values")]
    pub api_server_flags: BTreeMap<String, String>,
    /// Time from the binding of a pod to its readiness, unless its workload says otherwise; 2s
    /// unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_up_time: Option<Span>,
    /// The descheduler with its plugin `RemovePodsViolatingNodeTaints`; none unless given, `{}` for
    /// its defaults. It implies `controlPlane`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub descheduler: Option<DeschedulerSettings>,
    /// The autoscaler of node groups; none unless given. It implies `controlPlane`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub autoscaler: Option<AutoscalerSettings>,
}

/// Flag values, which may be written as numbers, `true` or `false`.
fn flag_values<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    let values = BTreeMap::<String, Value>::deserialize(deserializer)?;
    let text = |(name, value): (String, Value)| match value {
        Value::String(text) => Ok((name, text)),
        Value::Number(number) => Ok((name, number.to_string())),
        Value::Bool(on) => Ok((name, on.to_string())),
        _ => Err(de::Error::custom(alloc::format!("the value of --{name} must be a text"))),
    };
    let values = values.into_iter().map(text).collect::<Result<Vec<_>, _>>()?;
    Ok(tree(values))
}

/// Objects at the beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Objects {
    // Copies of a scenario share nodes and pods, also with simulators that start from them.
    /// Nodes.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "typescript-all", tsify(type = "KubernetesNode[]"))]
    pub nodes: Vec<Arc<Node>>,
    /// Pods.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "typescript-all", tsify(type = "Pod[]"))]
    pub pods: Vec<Arc<Pod>>,
    /// Deployments, ReplicaSets, StatefulSets, DaemonSets and Jobs.
    #[serde(skip_serializing_if = "is_default")]
    pub workloads: Vec<Workload>,
    /// PodDisruptionBudgets.
    #[serde(skip_serializing_if = "is_default")]
    pub budgets: Vec<PodDisruptionBudget>,
    /// Groups of identical nodes with their pods; they follow the nodes given one by one.
    #[serde(skip_serializing_if = "is_default")]
    pub node_groups: Vec<NodeGroup>,
    /// Manifest files beside the scenario file; their objects follow those given here.
    #[serde(skip_serializing_if = "is_default")]
    pub files: Vec<String>,
    /// Objects of other kinds, kept for export. The engine uses PriorityClasses, the leases of
    /// nodes, PersistentVolumes, PersistentVolumeClaims, StorageClasses and VolumeAttachments.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "typescript-all", tsify(type = "object[]"))]
    pub others: Vec<Value>,
}

impl Objects {
    /// Number of initial nodes and pods, including those of the groups.
    #[must_use]
    pub fn nodes_and_pods(&self) -> u64 {
        let of_their_own = (self.nodes.len() + self.pods.len()) as u64;
        let in_group = |group: &NodeGroup| {
            u64::from(group.count).saturating_mul(u64::from(group.pods_per_node) + 1)
        };
        self.node_groups.iter().map(in_group).fold(of_their_own, u64::saturating_add)
    }
}

/// A command at a given time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Step {
    /// Time since the beginning.
    pub at: Span,
    /// The command.
    #[serde(rename = "do")]
    pub command: Command,
    /// The error with which it must be refused. Unless given, it must succeed, or fail because a
    /// request was made to fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl Step {
    /// Compares the result of the step with its expected result. Returns `None` if it was carried
    /// out, and the error if it was refused as expected or was made to fail. `index` counts the
    /// steps from 0.
    ///
    /// # Errors
    /// The step was refused with another error, or was carried out although it should have been
    /// refused.
    pub fn check(
        &self,
        index: usize,
        result: Result<(), CommandError>,
    ) -> Result<Option<CommandError>, ScenarioError> {
        match (result, &self.refused) {
            (Ok(()), None) => Ok(None),
            (Err(error), Some(wanted)) if error.to_string() == *wanted => Ok(Some(error)),
            (Err(error), None) if error.is_simulated() => Ok(Some(error)),
            (Err(error), _) => Err(ScenarioError::Step { index, error }),
            (Ok(()), Some(_)) => Err(ScenarioError::NotRefused { index }),
        }
    }
}

/// Reasons why a scenario cannot run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScenarioError {
    /// A feature gate, a flag or a setting of the kubelets is wrong.
    Config(ConfigError),
    /// A group of nodes is too large, or has no name.
    NodeGroup {
        /// Index of the group, from 0.
        index: usize,
        /// Reason.
        error: String,
    },
    /// Two objects have the same name, so that one of them would be lost.
    DuplicateName(DuplicateName),
    /// A step cannot be carried out.
    Step {
        /// Index of the step, from 0.
        index: usize,
        /// Reason.
        error: CommandError,
    },
    /// A step was carried out that should have been refused.
    NotRefused {
        /// Index of the step, from 0.
        index: usize,
    },
    /// Too much happens for one run: see [`MOST_MOMENTS`] and [`MOST_EVENTS`].
    TooMuch {
        /// Simulated time that it reached.
        at: Timestamp,
    },
}

impl ScenarioError {
    /// Field of the scenario with the error: `steps[2]`.
    #[must_use]
    pub fn path(&self) -> String {
        match self {
            Self::Config(ConfigError::FeatureGates(_)) => "kubernetes.featureGates".into(),
            Self::Config(ConfigError::ApiServerFlag(_)) => "kubernetes.apiServerFlags".into(),
            Self::Config(ConfigError::Flag(_)) => "kubernetes.controllerManagerFlags".into(),
            Self::Config(ConfigError::Kubelets(_)) => "kubernetes.kubelets".into(),
            Self::Config(ConfigError::KubeletConfiguration(error)) => match error {
                KubeletError::Settings(_) => "kubernetes.kubeletConfiguration".into(),
                _ => "kubernetes.kubeletFlags".into(),
            },
            Self::Config(ConfigError::Descheduler(_)) => "kubernetes.descheduler".into(),
            Self::Config(ConfigError::Autoscaler(_)) => "kubernetes.autoscaler".into(),
            Self::Config(ConfigError::Object(_)) => "objects".into(),
            Self::NodeGroup { index, .. } => alloc::format!("objects.nodeGroups[{index}]"),
            Self::DuplicateName(name) => name.second.clone(),
            Self::Step { index, .. } | Self::NotRefused { index } => {
                alloc::format!("steps[{index}]")
            }
            Self::TooMuch { .. } => "until".into(),
        }
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::NodeGroup { error, .. } => f.write_str(error),
            Self::DuplicateName(name) => write!(f, "{name}; {}", name.help()),
            Self::Step { error, .. } => error.fmt(f),
            Self::NotRefused { .. } => f.write_str("expected an error, but the command succeeded"),
            Self::TooMuch { at } => write!(
                f,
                "the scenario has come to {} and no further: {MOST_MOMENTS} moments or \
                 {MOST_EVENTS} events are the most; let it end earlier, with `until`",
                Span::from(*at),
            ),
        }
    }
}

impl core::error::Error for ScenarioError {}

/// Result of a scenario.
#[derive(Clone, Debug)]
pub struct ScenarioRun {
    /// All events.
    pub events: Vec<Event>,
    /// Outcome of each expectation, in order.
    pub outcomes: Vec<Outcome>,
    /// The simulation at the end.
    pub simulator: Simulator,
}

impl ScenarioRun {
    /// Whether every expectation turned out to be true.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.outcomes.iter().all(|outcome| outcome.failure.is_none())
    }
}

impl Scenario {
    /// Configuration of its simulation.
    #[must_use]
    pub fn config(&self) -> SimulatorConfig {
        SimulatorConfig {
            release: self.kubernetes.release.unwrap_or_default(),
            feature_gates: self.kubernetes.feature_gates.clone(),
            start: self.start.unwrap_or(Time::DEFAULT_START),
            stand_in_api_server: false,
            node_lifecycle: self.has_node_lifecycle(),
            controller_manager_flags: self.kubernetes.controller_manager_flags.clone(),
            kubelets: self.kubernetes.kubelets.unwrap_or_default(),
            health_pass: self.kubernetes.health_pass.unwrap_or(HealthPassTime::MEASURED),
            kubelet_configuration: self.kubelet_configuration(),
            kubelet_flags: self.kubernetes.kubelet_flags.clone(),
            control_plane: self.has_control_plane(),
            api_server_flags: self.kubernetes.api_server_flags.clone(),
            start_up_time: self.kubernetes.start_up_time.unwrap_or(DEFAULT_START_UP_TIME),
            descheduler: self.kubernetes.descheduler.clone(),
            autoscaler: self.kubernetes.autoscaler.clone(),
        }
    }

    /// Whether admission, the scheduler and the controllers of workloads take part; see
    /// [`Kubernetes::control_plane`].
    #[must_use]
    pub fn has_control_plane(&self) -> bool {
        self.kubernetes.control_plane.unwrap_or_else(|| {
            !self.objects.workloads.is_empty()
                || !self.objects.budgets.is_empty()
                || !self.kubernetes.api_server_flags.is_empty()
                || self.kubernetes.start_up_time.is_some()
                || self.kubernetes.descheduler.is_some()
                || self.kubernetes.autoscaler.is_some()
                || self.steps.iter().any(|step| step.command.needs_control_plane())
                || self.expect.iter().any(Expectation::needs_control_plane)
        })
    }

    /// Whether kubelets and the node lifecycle controller take part; see
    /// [`Kubernetes::node_lifecycle`].
    #[must_use]
    pub fn has_node_lifecycle(&self) -> bool {
        self.kubernetes.node_lifecycle.unwrap_or_else(|| {
            self.has_control_plane()
                || !self.kubernetes.controller_manager_flags.is_empty()
                || self.kubernetes.kubelets.is_some()
                || self.kubernetes.kubelet_configuration.is_some()
                || !self.kubernetes.kubelet_flags.is_empty()
                || self.steps.iter().any(|step| step.command.needs_node_lifecycle())
                || self.expect.iter().any(Expectation::needs_node_lifecycle)
        })
    }

    /// Removes all expectations. Components that take part because of them still take part.
    pub fn clear_expectations(&mut self) {
        let (control_plane, node_lifecycle) = (self.has_control_plane(), self.has_node_lifecycle());
        self.expect.clear();
        if self.has_control_plane() != control_plane {
            self.kubernetes.control_plane = Some(control_plane);
        }
        if self.has_node_lifecycle() != node_lifecycle {
            self.kubernetes.node_lifecycle = Some(node_lifecycle);
        }
    }

    /// Latest possible end. It ends earlier once nothing more happens by itself and no expectation
    /// names a later time. See [`Player`].
    fn ends_by(&self) -> Timestamp {
        let last = self.expect.iter().filter_map(Expectation::last_moment).max();
        self.until.map_or_else(|| self.latest_end(last), Span::timestamp)
    }

    /// Latest possible end of a scenario without `until`.
    fn latest_end(&self, last_expectation: Option<Timestamp>) -> Timestamp {
        if !self.has_node_lifecycle() {
            return Timestamp::MAX;
        }
        let last_step = self.steps.iter().map(|step| step.at.timestamp()).max();
        let last = last_step.max(last_expectation).unwrap_or_default();
        last.saturating_add(Duration::from_secs(24 * 60 * 60))
    }

    fn kubelet_configuration(&self) -> KubeletConfiguration {
        let is_one =
            |object: &&Value| object.get("kind").is_some_and(|kind| kind == "KubeletConfiguration");
        self.kubernetes.kubelet_configuration.clone().unwrap_or_else(|| {
            let found = self.objects.others.iter().find(is_one);
            found
                .and_then(|object| KubeletConfiguration::deserialize(object).ok())
                .unwrap_or_default()
        })
    }

    /// Leases of nodes among its other objects.
    fn leases(&self) -> impl Iterator<Item = Lease> {
        let others = self.objects.others.iter();
        others
            .filter(|object| object.get("kind").is_some_and(|kind| kind == "Lease"))
            .filter_map(|object| Lease::deserialize(object).ok())
            .filter(|lease| lease.metadata.namespace == Lease::NODE_NAMESPACE)
    }

    /// The objects of `resource.k8s.io` that the engine reads.
    fn device_objects(&self) -> Vec<DeviceObject> {
        let text = |object: &Value, name: &str| {
            object.get(name).and_then(Value::as_str).unwrap_or_default().to_string()
        };
        let is_one = |object: &&Value| {
            text(object, "apiVersion").starts_with("resource.k8s.io/")
                && DeviceKind::KNOWN.contains(&text(object, "kind").as_str().into())
        };
        let objects = self.objects.others.iter().filter(is_one);
        objects.filter_map(|object| DeviceObject::deserialize(object).ok()).collect()
    }

    fn services(&self) -> Vec<Value> {
        let is_one = |object: &&Value| object.get("kind").is_some_and(|kind| kind == "Service");
        self.objects.others.iter().filter(is_one).cloned().collect()
    }

    /// Objects of one kind among its other objects.
    fn others<'a, T: Deserialize<'a>>(&'a self, kind: &str) -> Vec<T> {
        let others = self.objects.others.iter();
        others
            .filter(|object| object.get("kind").is_some_and(|known| known == kind))
            .filter_map(|object| T::deserialize(object).ok())
            .collect()
    }

    /// Simulation of its initial cluster. `objects.files` must have been read into the other
    /// objects.
    ///
    /// # Errors
    /// A feature gate, a flag, a setting of the kubelets or a group of nodes is invalid, or two
    /// objects have the same name.
    pub fn simulator(&self) -> Result<Simulator, ScenarioError> {
        at_once(self.simulator_in_slices(&|_| {}))
    }

    /// As [`simulator`](Self::simulator), in slices, for large clusters: `watch` receives the
    /// number of pods placed so far, repeatedly.
    ///
    /// # Errors
    /// As [`simulator`](Self::simulator).
    pub async fn simulator_in_slices(
        &self,
        watch: &dyn Fn(usize),
    ) -> Result<Simulator, ScenarioError> {
        if let Some(name) = self.objects.duplicate_names().into_iter().next() {
            return Err(ScenarioError::DuplicateName(name));
        }
        let Objects { nodes, pods, .. } = &self.objects;
        self.place(nodes.iter().cloned(), pods.iter().cloned(), watch).await
    }

    /// As [`simulator`](Self::simulator), with these nodes and pods instead of its own, in addition
    /// to those of its groups. This spares large clusters a second copy, even if the simulator has
    /// to complete the objects. Their names must differ.
    ///
    /// # Errors
    /// As [`simulator`](Self::simulator), but for names.
    pub fn simulator_with(
        &self,
        nodes: impl Iterator<Item = Arc<Node>>,
        pods: impl Iterator<Item = Arc<Pod>>,
    ) -> Result<Simulator, ScenarioError> {
        at_once(self.place(nodes, pods, &|_| {}))
    }

    async fn place(
        &self,
        nodes: impl Iterator<Item = Arc<Node>>,
        pods: impl Iterator<Item = Arc<Pod>>,
        watch: &dyn Fn(usize),
    ) -> Result<Simulator, ScenarioError> {
        let groups = &self.objects.node_groups;
        for (index, group) in groups.iter().enumerate() {
            group.check().map_err(|error| ScenarioError::NodeGroup { index, error })?;
        }
        let nodes = nodes.chain(groups.iter().flat_map(NodeGroup::nodes).map(Arc::new));
        let pods = pods.chain(groups.iter().flat_map(NodeGroup::pods).map(Arc::new));
        let begin = InitialState {
            has_run_before: true,
            leases: self.leases().collect(),
            workloads: self.objects.workloads.clone(),
            budgets: self.objects.budgets.clone(),
            priority_classes: self.others("PriorityClass"),
            volumes: InitialVolumes {
                persistent_volumes: self.others("PersistentVolume"),
                claims: self.others("PersistentVolumeClaim"),
                classes: self.others("StorageClass"),
                attachments: self.others("VolumeAttachment"),
            },
            devices: self.device_objects(),
            services: self.services(),
            ..InitialState::default()
        };
        let placed = Simulator::sharing(self.config(), nodes, pods, begin, watch).await;
        placed.map_err(ScenarioError::Config)
    }

    /// Runs it to its end and checks its expectations.
    ///
    /// Without `until` it ends when nothing more happens by itself, but not before the times that
    /// its expectations name. With kubelets it could continue forever, and ends a day after the
    /// last named time.
    ///
    /// # Errors
    /// A feature gate is invalid, a step cannot be carried out, or too much happens.
    pub fn run(&self) -> Result<ScenarioRun, ScenarioError> {
        let mut simulator = self.simulator()?;
        let mut events = Vec::new();
        Player::new(self).show_to_end(&mut simulator, |_, happened| events.extend(happened))?;
        let outcomes = self.expect.iter().map(|e| e.check(&events, &simulator)).collect();
        Ok(ScenarioRun { events, outcomes, simulator })
    }
}
