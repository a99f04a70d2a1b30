//! Options: the Kubernetes to simulate, and the settings of other calls.

use std::collections::BTreeMap;

use serde::Deserialize;
use taintlab_core::policy::validation::ValidationOptions;
use taintlab_core::release::{FeatureGate, FeatureGates, KubernetesRelease};
use tsify::Tsify;

#[cfg(feature = "simulator")]
use taintlab_core::{
    controllers::{autoscaler::AutoscalerSettings, descheduler::DeschedulerSettings},
    kubelet::KubeletConfiguration,
    kubelet::heartbeat::KubeletSettings,
    lanes::Lanes,
    scenario::{Kubernetes, Scenario, ScenarioError},
    simulator::{ConfigError, HealthPassTime, SimulatorConfig},
    time::{Span, Time, parse_duration},
};
#[cfg(feature = "simulator")]
use {
    core::fmt,
    serde::de::{self, Deserializer, Visitor},
    taintlab_manifest::{SvgOptions, timeline_svg},
};

use crate::problem::{Problem, ProblemCode};

/// Which release of Kubernetes, with which feature gates.
#[derive(Debug, Default, Deserialize, Tsify)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ReleaseOptions {
    /// The release, for example `1.34`; the newest known one unless given.
    #[tsify(type = "KubernetesRelease")]
    pub release: Option<KubernetesRelease>,
    /// Feature gates that differ from the defaults of the release.
    pub feature_gates: BTreeMap<String, bool>,
}

/// Which Kubernetes is simulated.
#[cfg(feature = "simulator")]
#[derive(Debug, Default, Deserialize, Tsify)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct SimulatorOptions {
    /// The release, for example `1.34`. Unless given, that of the newest kubelet among the nodes,
    /// or else the newest known one.
    #[tsify(type = "KubernetesRelease")]
    pub release: Option<KubernetesRelease>,
    /// Feature gates that differ from the defaults of the release.
    pub feature_gates: BTreeMap<String, bool>,
    /// Whether kubelets send heartbeats and the node lifecycle controller monitors them, as in a
    /// real cluster: `true` unless given. Without, taints come only by hand and stay.
    #[tsify(type = "boolean")]
    pub node_lifecycle: Option<bool>,
    /// Flags of kube-controller-manager that differ from the defaults of the release, by name
    /// without dashes: `{ "node-monitor-grace-period": "20s" }`.
    pub controller_manager_flags: BTreeMap<String, String>,
    /// How the kubelets are set.
    #[tsify(type = "Partial<KubeletSettings>")]
    pub kubelets: Option<KubeletSettings>,
    /// How long the health passes of the node lifecycle controller take, by which they drift.
    /// Unless given, as on a real machine: `{ perNode: "350us", perWrite: "25ms" }`; `{}` is for
    /// ideal clocks.
    #[tsify(type = "Partial<HealthPassTime>")]
    pub health_pass: Option<HealthPassTime>,
    /// The KubeletConfiguration of all kubelets, as far as it is about eviction.
    #[tsify(type = "KubeletConfiguration")]
    pub kubelet_configuration: Option<KubeletConfiguration>,
    /// Flags of all kubelets about eviction, by name without dashes: `{ "eviction-hard":
    /// "memory.available<500Mi" }`.
    pub kubelet_flags: BTreeMap<String, String>,
    /// Whether the rest of the control plane takes part: admission, scheduler, controllers of
    /// workloads, budgets, pod garbage collection. Unless given, it does if there are workloads or
    /// budgets.
    #[tsify(type = "boolean")]
    pub control_plane: Option<bool>,
    /// Flags of kube-apiserver that differ from the defaults, by name without dashes.
    pub api_server_flags: BTreeMap<String, String>,
    /// How long a pod takes from being bound to a node to being ready, unless its workload says
    /// otherwise; 2 seconds unless given.
    #[tsify(type = "Span")]
    pub start_up_time: Option<DurationText>,
    /// The descheduler with its plugin `RemovePodsViolatingNodeTaints`; there is none unless given,
    /// `{}` for its defaults.
    #[tsify(type = "Partial<DeschedulerSettings>")]
    pub descheduler: Option<DeschedulerSettings>,
    /// The autoscaler of groups of nodes; there is none unless given.
    #[tsify(type = "Partial<AutoscalerSettings>")]
    pub autoscaler: Option<AutoscalerSettings>,
    /// The wall-clock time at which the simulation begins, RFC 3339. Unless given, the newest time
    /// in the objects, or else 2020-01-01T00:00:00Z.
    #[tsify(type = "Time | Date")]
    pub start: Option<Time>,
    /// The name that errors in the manifests show, for example `cluster.yaml`.
    pub file: String,
    /// Whether to keep what no simulation reads, which may be secret: environment, commands,
    /// annotations, data of Secrets and so on. It is dropped unless this is `true`.
    pub keep_all: bool,
}

/// What is read besides a scenario.
#[cfg(feature = "simulator")]
#[derive(Debug, Default, Deserialize, Tsify)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ScenarioOptions {
    /// The name that errors show, for example `outage.yaml`.
    pub file: String,
    /// The texts of the files that the scenario names in `objects.files`, by name.
    pub files: BTreeMap<String, String>,
    /// Another release than the one that the scenario names.
    #[tsify(type = "KubernetesRelease")]
    pub release: Option<KubernetesRelease>,
    /// Flags of kube-controller-manager that differ from those of the scenario, by name without
    /// dashes.
    pub controller_manager_flags: BTreeMap<String, String>,
    /// Another end than the one that the scenario names: a duration.
    #[tsify(type = "Span")]
    pub until: Option<DurationText>,
    /// Whether to keep what no simulation reads, which may be secret: environment, commands,
    /// annotations, data of Secrets and so on. It is dropped unless this is `true`.
    pub keep_all: bool,
}

/// How a picture of lanes is made.
#[cfg(feature = "simulator")]
#[derive(Debug, Default, Deserialize, Tsify)]
#[serde(default, deny_unknown_fields)]
pub struct TimelineOptions {
    /// What the picture is called, for those who do not see it; the title of the scenario unless
    /// given.
    pub title: String,
    /// What its ids begin with. Two pictures in one page need different ones.
    pub id: String,
    /// A moment that is marked, as the time since the start.
    #[tsify(type = "Span")]
    pub at: Option<DurationText>,
}

#[cfg(feature = "simulator")]
impl TimelineOptions {
    /// Draws the picture; `title` is used if the options have no title.
    pub(crate) fn draw(self, lanes: &Lanes, title: &str) -> String {
        let title = if self.title.is_empty() { title.to_owned() } else { self.title };
        let at = self.at.map(|at| at.0.timestamp());
        timeline_svg(lanes, &SvgOptions { title, id: self.id, at, ..SvgOptions::default() })
    }
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
    #[cfg(feature = "simulator")]
    pub(crate) fn config(self) -> SimulatorConfig {
        let release = self.release.unwrap_or_default();
        SimulatorConfig { feature_gates: self.feature_gates, ..SimulatorConfig::of(release) }
    }

    /// The feature gates of the release, with these settings.
    pub(crate) fn gates(&self) -> Result<FeatureGates, Problem> {
        let settings = self.feature_gates.iter().map(|(name, on)| (name.as_str(), *on));
        FeatureGates::new(self.release.unwrap_or_default(), settings).map_err(|error| {
            Problem::new(ProblemCode::InvalidConfiguration, "featureGates", &error)
        })
    }

    /// Whether the operators `Lt` and `Gt` compare numbers.
    pub(crate) fn comparison_operators(&self) -> Result<bool, Problem> {
        Ok(self.gates()?.is_enabled(FeatureGate::TaintTolerationComparisonOperators))
    }

    pub(crate) fn validation(&self) -> Result<ValidationOptions, Problem> {
        Ok(ValidationOptions::new(self.release.unwrap_or_default(), &self.gates()?))
    }
}

#[cfg(feature = "simulator")]
pub(crate) fn of_config(error: ConfigError) -> Problem {
    Problem::of_config(&ScenarioError::Config(error))
}

#[cfg(feature = "simulator")]
impl SimulatorOptions {
    /// A scenario on this Kubernetes, without objects and steps.
    pub(crate) fn scenario(self) -> Scenario {
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
