//! Which Kubernetes is simulated.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use serde::{Deserialize, Serialize};
use taintlab_rules::api::is_default;
use taintlab_rules::policy::admission::AdmissionConfig;
use taintlab_rules::release::{FeatureGate, FeatureGates, KubernetesRelease};
use taintlab_rules::time::{Span, Time};

use crate::controllers::autoscaler::AutoscalerSettings;
use crate::controllers::descheduler::DeschedulerSettings;
use crate::controllers::node_lifecycle::{FlagError, NodeLifecycleConfig};
use crate::kubelet::heartbeat::KubeletSettings;
use crate::kubelet::{
    ConfigError as KubeletError, EvictionConfig, KubeletConfiguration, KubeletsConfig,
    NodeShutdownConfig,
};

/// Which Kubernetes is simulated, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct SimulatorConfig {
    /// The release of the control plane.
    pub release: KubernetesRelease,
    /// Feature gates that differ from the defaults of the release.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub feature_gates: BTreeMap<String, bool>,
    /// The wall-clock time at which the simulation begins.
    pub start: Time,
    /// `true` replaces the API server by a stand-in that takes every object as it is and grants
    /// every pod its own grace period, scheduled or not. Recorded runs of the controllers alone
    /// are replayed with it.
    #[serde(skip_serializing_if = "is_default")]
    pub stand_in_api_server: bool,
    /// Whether kubelets send heartbeats and a node lifecycle controller monitors them, as in a real
    /// cluster. Without, taints come only by hand and stay: the taint-eviction controller alone,
    /// which is what simulations stored before this field was there showed.
    #[serde(skip_serializing_if = "is_default")]
    pub node_lifecycle: bool,
    /// Flags of kube-controller-manager that differ from the defaults of the release, by name
    /// without dashes; they count with `node_lifecycle`. [`NodeLifecycleConfig`] has them all.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub controller_manager_flags: BTreeMap<String, String>,
    /// How the kubelets are set; counts with `node_lifecycle`.
    #[serde(skip_serializing_if = "is_default")]
    pub kubelets: KubeletSettings,
    /// How long the health passes of the node lifecycle controller take, by which they drift;
    /// counts with `node_lifecycle`. Nothing by default, so that passes are exactly a period apart;
    /// scenarios have [`HealthPassTime::MEASURED`] unless they say otherwise.
    #[serde(skip_serializing_if = "is_default")]
    pub health_pass: HealthPassTime,
    /// The KubeletConfiguration of all kubelets, as far as it is about eviction and shutdowns; what
    /// it says about eviction counts for nodes whose resources are known.
    #[serde(skip_serializing_if = "is_default")]
    pub kubelet_configuration: KubeletConfiguration,
    /// Flags of all kubelets about eviction, by name without dashes; they count before the
    /// configuration.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub kubelet_flags: BTreeMap<String, String>,
    /// Whether the rest of the control plane takes part: admission of new objects, the scheduler,
    /// the controllers of workloads, the disruption controller and the pod garbage collector; it
    /// counts with `node_lifecycle`. Without, pods are as they are given, and nothing replaces
    /// them, which is what simulations stored before this field was there showed.
    #[serde(skip_serializing_if = "is_default")]
    pub control_plane: bool,
    /// Flags of kube-apiserver that differ from the defaults, by name without dashes; they count
    /// with `control_plane`. [`AdmissionConfig`] has them all.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub api_server_flags: BTreeMap<String, String>,
    /// How long a pod takes from being bound to a node to being ready, unless its workload says
    /// otherwise; it counts with `control_plane`.
    #[serde(skip_serializing_if = "is_default_start_up_time")]
    pub start_up_time: Span,
    /// The descheduler, if there is one; it counts with `control_plane`.
    #[serde(skip_serializing_if = "is_default")]
    pub descheduler: Option<DeschedulerSettings>,
    /// The autoscaler of groups of nodes, if there is one; it counts with `control_plane`.
    #[serde(skip_serializing_if = "is_default")]
    pub autoscaler: Option<AutoscalerSettings>,
}

/// How long a health pass takes. The controller sleeps for `--node-monitor-period` *after* each
/// pass (`wait.Until`), so that passes are further apart than that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct HealthPassTime {
    /// For each node that there is when the controller starts, such as `350us`; 0s unless given.
    pub per_node: Span,
    /// For each status that it writes, of a node or of a pod that it marks as not ready, such as
    /// `25ms`; 0s unless given. Since 1.27 eight nodes are looked at beside one another. Tainting
    /// goes on meanwhile. With 0s no request waits for `--kube-api-qps`.
    pub per_write: Span,
    /// How long after the answer to its write the controller's informer knows that a node is
    /// Unknown, such as `3ms`; 0s unless given. Since 1.34 a tainting pass in between takes the
    /// node for ready: its token is lost, and the next health pass queues the node again.
    pub informer_lag: Span,
}

impl HealthPassTime {
    /// As on a real machine, and what scenarios have unless they say otherwise: 350us for each
    /// node, 25ms for each write, and 3ms for the informer, since one of 32 nodes lost its token
    /// where tainting passes are 100ms apart. Passes that take any time at all drift, so that the
    /// eighth of them after a heartbeat comes more than eight periods later.
    pub const MEASURED: Self = Self {
        per_node: Span(Duration::from_micros(350)),
        per_write: Span(Duration::from_millis(25)),
        informer_lag: Span(Duration::from_millis(3)),
    };
}

/// Default of [`SimulatorConfig::start_up_time`]: an image that is there, and a fast process.
pub const DEFAULT_START_UP_TIME: Span = Span(Duration::from_secs(2));

fn is_default_start_up_time(time: &Span) -> bool {
    *time == DEFAULT_START_UP_TIME
}

/// An invalid configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// A feature gate that the release does not have, or that is locked.
    FeatureGates(String),
    /// A flag of kube-controller-manager.
    Flag(FlagError),
    /// A flag of kube-apiserver.
    ApiServerFlag(FlagError),
    /// A setting of the kubelets, with its range.
    Kubelets(String),
    /// A kubelet would not start: its KubeletConfiguration, or its flags.
    KubeletConfiguration(KubeletError),
    /// A setting of the descheduler, and what would be valid.
    Descheduler(String),
    /// A setting of the autoscaler, and what would be valid.
    Autoscaler(String),
    /// An object at the beginning that the control plane cannot read: which, which field, and what
    /// would be valid.
    Object(String),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FeatureGates(error)
            | Self::Kubelets(error)
            | Self::Descheduler(error)
            | Self::Autoscaler(error)
            | Self::Object(error) => f.write_str(error),
            Self::KubeletConfiguration(error) => error.fmt(f),
            Self::Flag(error) | Self::ApiServerFlag(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ConfigError {}

impl From<ConfigError> for String {
    fn from(error: ConfigError) -> Self {
        error.to_string()
    }
}

impl Default for SimulatorConfig {
    /// The newest release, with the taint-eviction controller alone and ideal clocks.
    fn default() -> Self {
        Self {
            release: KubernetesRelease::default(),
            feature_gates: BTreeMap::new(),
            start: Time::DEFAULT_START,
            stand_in_api_server: false,
            node_lifecycle: false,
            controller_manager_flags: BTreeMap::new(),
            kubelets: KubeletSettings::default(),
            health_pass: HealthPassTime::default(),
            kubelet_configuration: KubeletConfiguration::default(),
            kubelet_flags: BTreeMap::new(),
            control_plane: false,
            api_server_flags: BTreeMap::new(),
            start_up_time: DEFAULT_START_UP_TIME,
            descheduler: None,
            autoscaler: None,
        }
    }
}

impl SimulatorConfig {
    /// The defaults of a release, with the taint-eviction controller alone.
    #[must_use]
    pub fn of(release: KubernetesRelease) -> Self {
        Self { release, ..Self::default() }
    }

    /// The defaults of a release, with kubelets and the node lifecycle controller.
    #[must_use]
    pub fn with_node_lifecycle(release: KubernetesRelease) -> Self {
        Self { node_lifecycle: true, ..Self::of(release) }
    }

    /// The defaults of a release, with kubelets and the whole control plane.
    #[must_use]
    pub fn with_control_plane(release: KubernetesRelease) -> Self {
        Self { control_plane: true, ..Self::with_node_lifecycle(release) }
    }

    /// The admission plugins: the defaults of kube-apiserver and what is set here.
    ///
    /// # Errors
    /// Names the flag that is wrong, and what would be valid.
    pub fn admission(&self) -> Result<AdmissionConfig, FlagError> {
        let mut admission = AdmissionConfig::default();
        for (name, value) in &self.api_server_flags {
            admission.set_flag(name, value)?;
        }
        Ok(admission)
    }

    /// Which feature gates are on.
    ///
    /// # Errors
    /// A gate that the release does not have, or that is locked.
    pub fn gates(&self) -> Result<FeatureGates, String> {
        let settings = self.feature_gates.iter().map(|(name, on)| (name.as_str(), *on));
        FeatureGates::new(self.release, settings)
    }

    /// The flags of kube-controller-manager: the defaults of the release and what is set here.
    ///
    /// # Errors
    /// Names the flag that is wrong, and what would be valid.
    pub fn flags(&self) -> Result<NodeLifecycleConfig, FlagError> {
        let mut flags = NodeLifecycleConfig::of(self.release);
        for (name, value) in &self.controller_manager_flags {
            flags.set_flag(self.release, name, value)?;
        }
        Ok(flags)
    }

    /// Whether all of it can be.
    ///
    /// # Errors
    /// What is wrong, and what would be valid.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.gates().map_err(ConfigError::FeatureGates)?;
        self.flags().map_err(ConfigError::Flag)?;
        self.admission().map_err(ConfigError::ApiServerFlag)?;
        self.eviction_config().map_err(ConfigError::KubeletConfiguration)?;
        if let Some(descheduler) = &self.descheduler {
            descheduler.check().map_err(ConfigError::Descheduler)?;
        }
        if let Some(autoscaler) = &self.autoscaler {
            autoscaler.check().map_err(ConfigError::Autoscaler)?;
        }
        self.node_shutdown_config().map_err(ConfigError::KubeletConfiguration)?;
        self.kubelets.check().map_err(ConfigError::Kubelets)
    }

    /// What the eviction manager of a kubelet goes by, unless a command sets it in another way.
    ///
    /// # Errors
    /// Why a kubelet would not start, in its words.
    pub fn eviction_config(&self) -> Result<EvictionConfig, KubeletError> {
        let (base, flags) = (&self.kubelet_configuration, &self.kubelet_flags);
        eviction_config(self.release, base, flags, &BTreeMap::new())
    }

    /// What a kubelet goes by when its node is shut down, unless a command sets it in another way.
    ///
    /// # Errors
    /// Why a kubelet would not start, in its words.
    pub fn node_shutdown_config(&self) -> Result<NodeShutdownConfig, KubeletError> {
        let gates = self.gates().unwrap_or_default();
        self.kubelet_configuration.node_shutdown_config(self.release, &gates)
    }

    /// What all kubelets go by.
    pub(crate) fn kubelets_config(&self, gates: &FeatureGates) -> KubeletsConfig {
        // The settings were checked, and those that Kubernetes has by itself can be.
        let eviction = self.eviction_config().or_else(|_| EvictionConfig::of(self.release.into()));
        let eviction = eviction.unwrap_or(EvictionConfig {
            thresholds: Vec::new(),
            max_pod_grace_period_seconds: 0,
            pressure_transition_period: Duration::from_secs(300),
            kernel_memcg_notification: false,
            local_storage_capacity_isolation: true,
            overwrites_grace_period: false,
            pod_disruption_conditions: true,
        });
        KubeletsConfig {
            release: self.release,
            settings: self.kubelets,
            eviction: Arc::new(eviction),
            shutdown: Arc::new(self.node_shutdown_config().unwrap_or_default()),
            pod_disruption_conditions: gates.is_enabled(FeatureGate::PodDisruptionConditions),
            starts_pods: self.control_plane && self.node_lifecycle,
            comparison_operators: gates.is_enabled(FeatureGate::TaintTolerationComparisonOperators),
            start_up_time: self.start_up_time.0,
        }
    }

    /// Whether pods are deleted from nodes with `NoExecute` taints: with `node_lifecycle`, unless a
    /// flag switches that off. To 1.28 the node lifecycle controller does it.
    pub(crate) fn evicts_by_taints(&self, flags: &NodeLifecycleConfig) -> bool {
        if !self.node_lifecycle {
            true
        } else if self.release.has_taint_eviction_controller() {
            flags.is_controller_enabled(&["taint-eviction-controller"])
        } else {
            flags.is_enabled() && flags.enable_taint_manager
        }
    }
}

/// What a kubelet makes of its configuration and of its flags, of which the later ones count.
pub(crate) fn eviction_config(
    release: KubernetesRelease,
    configuration: &KubeletConfiguration,
    flags: &BTreeMap<String, String>,
    more_flags: &BTreeMap<String, String>,
) -> Result<EvictionConfig, KubeletError> {
    let version = release.into();
    let mut configuration = configuration.clone();
    for (name, value) in flags.iter().chain(more_flags) {
        configuration.set_flag(version, name, value)?;
    }
    configuration.eviction_config(version)
}
