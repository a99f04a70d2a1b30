//! Options of questions: which Kubernetes answers.

use std::collections::BTreeMap;

use serde::Deserialize;
use taintlab_core::policy::validation::ValidationOptions;
use taintlab_core::release::{FeatureGate, FeatureGates, KubernetesRelease};

#[cfg(feature = "simulator")]
use {
    core::fmt,
    serde::de::{self, Deserializer, Visitor},
    taintlab_core::{
        controllers::{autoscaler::AutoscalerSettings, descheduler::DeschedulerSettings},
        kubelet::KubeletConfiguration,
        kubelet::heartbeat::KubeletSettings,
        scenario::{Kubernetes, Scenario, ScenarioError},
        simulator::{ConfigError, HealthPassTime, SimulatorConfig},
        time::{Span, Time, parse_duration},
    },
};

use crate::problem::{Problem, ProblemCode};

/// Which release of Kubernetes, with which feature gates.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ReleaseOptions {
    /// The release, for example `1.34`; the newest known one unless given.
    #[cfg_attr(feature = "typescript", tsify(type = "KubernetesRelease"))]
    pub release: Option<KubernetesRelease>,
    /// Feature gates that differ from the defaults of the release.
    pub feature_gates: BTreeMap<String, bool>,
}

/// Which Kubernetes is simulated.
#[cfg(feature = "simulator")]
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct SimulatorOptions {
    /// The release, for example `1.34`. Unless given, that of the newest kubelet among the nodes,
    /// or else the newest known one.
    #[cfg_attr(feature = "typescript", tsify(type = "KubernetesRelease"))]
    pub release: Option<KubernetesRelease>,
    /// Feature gates that differ from the defaults of the release.
    pub feature_gates: BTreeMap<String, bool>,
    /// Whether kubelets send heartbeats and the node lifecycle controller monitors them, as in a
    /// real cluster: `true` unless given. Without, taints come only by hand and stay.
    #[cfg_attr(feature = "typescript", tsify(type = "boolean"))]
    pub node_lifecycle: Option<bool>,
    /// Flags of kube-controller-manager that differ from the defaults of the release, by name
    /// without dashes: `{ "node-monitor-grace-period": "20s" }`.
    pub controller_manager_flags: BTreeMap<String, String>,
    /// How the kubelets are set.
    #[cfg_attr(feature = "typescript", tsify(type = "Partial<KubeletSettings>"))]
    pub kubelets: Option<KubeletSettings>,
    /// How long the health passes of the node lifecycle controller take, by which they drift.
    /// Unless given, as on a real machine: `{ perNode: "350us", perWrite: "25ms", informerLag: "3ms"
    /// }`; `{}` is for ideal clocks.
    #[cfg_attr(feature = "typescript", tsify(type = "Partial<HealthPassTime>"))]
    pub health_pass: Option<HealthPassTime>,
    /// The KubeletConfiguration of all kubelets, as far as it is about eviction.
    #[cfg_attr(feature = "typescript", tsify(type = "KubeletConfiguration"))]
    pub kubelet_configuration: Option<KubeletConfiguration>,
    /// Flags of all kubelets about eviction, by name without dashes: `{ "eviction-hard":
    /// "memory.available<500Mi" }`.
    pub kubelet_flags: BTreeMap<String, String>,
    /// Whether the rest of the control plane takes part: admission, scheduler, controllers of
    /// workloads, budgets, pod garbage collection. Unless given, it does if there are workloads or
    /// budgets.
    #[cfg_attr(feature = "typescript", tsify(type = "boolean"))]
    pub control_plane: Option<bool>,
    /// Flags of kube-apiserver that differ from the defaults, by name without dashes.
    pub api_server_flags: BTreeMap<String, String>,
    /// How long a pod takes from being bound to a node to being ready, unless its workload says
    /// otherwise; 2 seconds unless given.
    #[cfg_attr(feature = "typescript", tsify(type = "Span"))]
    pub start_up_time: Option<DurationText>,
    /// The descheduler with its plugin `RemovePodsViolatingNodeTaints`; there is none unless given,
    /// `{}` for its defaults.
    #[cfg_attr(feature = "typescript", tsify(type = "Partial<DeschedulerSettings>"))]
    pub descheduler: Option<DeschedulerSettings>,
    /// The autoscaler of groups of nodes; there is none unless given.
    #[cfg_attr(feature = "typescript", tsify(type = "Partial<AutoscalerSettings>"))]
    pub autoscaler: Option<AutoscalerSettings>,
    /// The wall-clock time at which the simulation begins, RFC 3339. Unless given, the newest time
    /// in the objects, or else 2020-01-01T00:00:00Z.
    #[cfg_attr(feature = "typescript", tsify(type = "Time | Date"))]
    pub start: Option<Time>,
    /// The name that errors in the manifests show, for example `cluster.yaml`.
    pub file: String,
    /// Whether to keep what no simulation reads, which may be secret: environment, commands,
    /// annotations, data of Secrets and so on. It is dropped unless this is `true`.
    pub keep_all: bool,
}

/// A duration among the options of a call: Kubernetes' text. Numbers are refused, since they would
/// be seconds in a scenario file and milliseconds elsewhere in JavaScript.
#[cfg(feature = "simulator")]
#[derive(Clone, Copy, Debug, Default)]
pub struct DurationText(pub Span);

#[cfg(feature = "simulator")]
impl<'de> Deserialize<'de> for DurationText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = DurationText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a duration with its unit, such as `5m0s` or `1500ms`")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<DurationText, E> {
                parse_duration(text).map(|span| DurationText(Span(span))).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Text)
    }
}

impl ReleaseOptions {
    /// A simulator of this Kubernetes, with its defaults.
    #[cfg(feature = "simulator")]
    #[must_use]
    pub fn config(self) -> SimulatorConfig {
        let release = self.release.unwrap_or_default();
        SimulatorConfig { feature_gates: self.feature_gates, ..SimulatorConfig::of(release) }
    }

    /// The feature gates of the release, with these settings.
    ///
    /// # Errors
    /// The release has no such gate, or it cannot be switched.
    pub fn gates(&self) -> Result<FeatureGates, Problem> {
        let settings = self.feature_gates.iter().map(|(name, on)| (name.as_str(), *on));
        FeatureGates::new(self.release.unwrap_or_default(), settings).map_err(|error| {
            Problem::new(ProblemCode::InvalidConfiguration, "featureGates", &error)
        })
    }

    /// Whether the operators `Lt` and `Gt` compare numbers.
    ///
    /// # Errors
    /// Those of [`gates`](Self::gates).
    pub fn comparison_operators(&self) -> Result<bool, Problem> {
        Ok(self.gates()?.is_enabled(FeatureGate::TaintTolerationComparisonOperators))
    }

    /// What validation of the API server depends on.
    ///
    /// # Errors
    /// Those of [`gates`](Self::gates).
    pub fn validation(&self) -> Result<ValidationOptions, Problem> {
        Ok(ValidationOptions::new(self.release.unwrap_or_default(), &self.gates()?))
    }
}

/// The problem of a configuration given as options.
#[cfg(feature = "simulator")]
#[must_use]
pub fn of_config(error: ConfigError) -> Problem {
    Problem::of_config(&ScenarioError::Config(error))
}

#[cfg(feature = "simulator")]
impl SimulatorOptions {
    /// A scenario on this Kubernetes, without objects and steps.
    #[must_use]
    pub fn scenario(self) -> Scenario {
        Scenario {
            kubernetes: Kubernetes {
                release: self.release,
                feature_gates: self.feature_gates,
                node_lifecycle: Some(self.node_lifecycle.unwrap_or(true)),
                controller_manager_flags: self.controller_manager_flags,
                kubelets: self.kubelets,
                health_pass: self.health_pass,
                kubelet_configuration: self.kubelet_configuration,
                kubelet_flags: self.kubelet_flags,
                control_plane: self.control_plane,
                api_server_flags: self.api_server_flags,
                start_up_time: self.start_up_time.map(|time| time.0),
                descheduler: self.descheduler,
                autoscaler: self.autoscaler,
            },
            start: self.start,
            ..Scenario::default()
        }
    }
}
