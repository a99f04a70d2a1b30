//! What is added to objects when they are created.
//!
//! [`admit`] returns the [`Addition`]s of a pod and [`admit_node`] those of a node, each with the
//! plugin that adds it and the reason. They change nothing; [`PodAdmission::apply`] does. Admission
//! acts at creation only: changing a flag does not change pods that exist.

mod priority;
mod restriction;

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

pub use priority::{PodPriority, PriorityError, admit_priority};
pub use restriction::{
    DEFAULT_TOLERATIONS_ANNOTATION, NamespaceTolerations, RestrictionError, TolerationRestriction,
    WHITELIST_ANNOTATION, is_superset, merge_tolerations,
};

use crate::api::{
    Node, Pod, PodResources, QosClass, ResourceError, Shared, Taint, TaintEffect, Toleration,
    TolerationOperator, extended_resources, well_known,
};
use crate::policy::taints::{add_or_update_toleration, taint_exists};
use crate::protocol::FlagError;
use crate::release::KubernetesRelease;

/// The default of `--default-not-ready-toleration-seconds` and of
/// `--default-unreachable-toleration-seconds`.
pub const DEFAULT_TOLERATION_SECONDS: i64 = 300;

/// The tolerations that a pod gets which has none of its own, in their order: for nodes that are
/// not ready, and for nodes that are unreachable. Mirrors the admission plugin
/// `DefaultTolerationSeconds`.
#[must_use]
pub fn default_tolerations() -> [Toleration; 2] {
    [well_known::NOT_READY, well_known::UNREACHABLE]
        .map(|key| no_execute(key, Some(DEFAULT_TOLERATION_SECONDS)))
}

/// The admission plugins of the API server and their flags.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct AdmissionConfig {
    /// Whether the plugin `DefaultTolerationSeconds` is on. Default: yes.
    pub default_toleration_seconds: bool,
    /// `--default-not-ready-toleration-seconds`. Default: 300; zero and less are allowed.
    pub default_not_ready_toleration_seconds: i64,
    /// `--default-unreachable-toleration-seconds`. Default: 300; zero and less are allowed.
    pub default_unreachable_toleration_seconds: i64,
    /// Whether the plugin `TaintNodesByCondition` is on. Default: yes.
    pub taint_nodes_by_condition: bool,
    /// Whether the plugin `ExtendedResourceToleration` is on. Default: no.
    pub extended_resource_toleration: bool,
    /// The plugin `PodTolerationRestriction`, the only one that lets pods that are not BestEffort
    /// tolerate memory pressure. Default: off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_toleration_restriction: Option<TolerationRestriction>,
}

impl Default for AdmissionConfig {
    fn default() -> Self {
        Self {
            default_toleration_seconds: true,
            default_not_ready_toleration_seconds: DEFAULT_TOLERATION_SECONDS,
            default_unreachable_toleration_seconds: DEFAULT_TOLERATION_SECONDS,
            taint_nodes_by_condition: true,
            extended_resource_toleration: false,
            pod_toleration_restriction: None,
        }
    }
}

/// The plugins that can be switched on and off here, by their names.
const PLUGINS: [&str; 4] = [
    "DefaultTolerationSeconds",
    "ExtendedResourceToleration",
    "PodTolerationRestriction",
    "TaintNodesByCondition",
];

/// The flags of kube-apiserver that concern admission here, without dashes.
pub const API_SERVER_FLAGS: [&str; 4] = [
    "default-not-ready-toleration-seconds",
    "default-unreachable-toleration-seconds",
    "disable-admission-plugins",
    "enable-admission-plugins",
];

impl AdmissionConfig {
    /// Sets a flag of kube-apiserver, as on its command line; the name with dashes or without.
    ///
    /// # Errors
    /// There is no such flag here, or the value does not fit.
    pub fn set_flag(&mut self, name: &str, value: &str) -> Result<(), FlagError> {
        let bare = name.strip_prefix("--").unwrap_or(name);
        let Some(name) = API_SERVER_FLAGS.into_iter().find(|known| *known == bare) else {
            return Err(FlagError::Unknown { name: bare.into(), known: API_SERVER_FLAGS.into() });
        };
        let wrong = |expected: &str| FlagError::Value {
            name,
            value: value.into(),
            expected: expected.into(),
        };
        let seconds = || value.parse().map_err(|_| wrong("a whole number of seconds"));
        match name {
            "default-not-ready-toleration-seconds" => {
                self.default_not_ready_toleration_seconds = seconds()?;
            }
            "default-unreachable-toleration-seconds" => {
                self.default_unreachable_toleration_seconds = seconds()?;
            }
            _ => {
                let on = name == "enable-admission-plugins";
                for plugin in value.split(',').map(str::trim).filter(|plugin| !plugin.is_empty()) {
                    if !self.switch(plugin, on) {
                        return Err(wrong(&format!("a list of {}", PLUGINS.join(", "))));
                    }
                }
            }
        }
        Ok(())
    }

    /// Switches a plugin; whether there is one of that name.
    fn switch(&mut self, plugin: &str, on: bool) -> bool {
        match plugin {
            "DefaultTolerationSeconds" => self.default_toleration_seconds = on,
            "TaintNodesByCondition" => self.taint_nodes_by_condition = on,
            "ExtendedResourceToleration" => self.extended_resource_toleration = on,
            "PodTolerationRestriction" => {
                self.pod_toleration_restriction = on.then(TolerationRestriction::default);
            }
            _ => return false,
        }
        true
    }
}

/// Who adds something to an object that is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
pub enum AdmissionPlugin {
    /// Pods: how long they stay on nodes that are not ready or unreachable.
    DefaultTolerationSeconds,
    /// Pods: tolerations by namespace, and memory pressure.
    PodTolerationRestriction,
    /// Pods: the taints of nodes that are set apart for an extended resource.
    ExtendedResourceToleration,
    /// Nodes: not ready, until the kubelet says otherwise.
    TaintNodesByCondition,
    /// Pods: the number of their priority class.
    Priority,
    /// Daemon pods: not a plugin, but the controller that writes them.
    DaemonSetController,
}

impl AdmissionPlugin {
    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DefaultTolerationSeconds => "DefaultTolerationSeconds",
            Self::PodTolerationRestriction => "PodTolerationRestriction",
            Self::ExtendedResourceToleration => "ExtendedResourceToleration",
            Self::TaintNodesByCondition => "TaintNodesByCondition",
            Self::Priority => "Priority",
            Self::DaemonSetController => "DaemonSetController",
        }
    }
}

/// One thing that was added to a new object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Addition<T> {
    /// Who adds it.
    pub plugin: AdmissionPlugin,
    /// What: a toleration of a pod, or a taint of a node.
    pub added: T,
    /// Why, in a sentence.
    pub because: String,
}

/// What admission does with a new pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PodAdmission {
    /// What was added, in the order of the plugins.
    pub additions: Vec<Addition<Toleration>>,
    /// All tolerations afterwards, in their order.
    pub tolerations: Shared<Vec<Toleration>>,
    /// `status.qosClass`.
    pub qos_class: QosClass,
}

impl PodAdmission {
    /// Writes the outcome into the pod.
    pub fn apply(&self, pod: &mut Pod) {
        pod.spec.tolerations.clone_from(&self.tolerations);
        let class = match self.qos_class {
            QosClass::BestEffort => "BestEffort",
            QosClass::Burstable => "Burstable",
            QosClass::Guaranteed => "Guaranteed",
        };
        pod.status.other.set("qosClass", class.into());
    }
}

/// Why a new pod is not admitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdmissionError {
    /// What the pod asks for cannot be read.
    Resources(ResourceError),
    /// `PodTolerationRestriction` refuses it.
    Restriction(RestrictionError),
}

impl core::fmt::Display for AdmissionError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Resources(error) => error.fmt(f),
            Self::Restriction(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for AdmissionError {}

/// What the API server adds to a new pod, plugin by plugin in its order. `namespace` has the
/// annotations of the pod's namespace; only `PodTolerationRestriction` reads them.
///
/// # Errors
/// A field of the pod that cannot be read, or what `PodTolerationRestriction` refuses.
pub fn admit(
    config: &AdmissionConfig,
    release: KubernetesRelease,
    pod: &Pod,
    namespace: &BTreeMap<String, String>,
) -> Result<PodAdmission, AdmissionError> {
    let qos_class = qos_class(release, pod).map_err(AdmissionError::Resources)?;
    let mut tolerations = pod.spec.tolerations.clone();
    let mut additions = add_default_tolerations(config, &mut tolerations);
    if let Some(restriction) = &config.pod_toleration_restriction {
        let policy = restriction.of_namespace(namespace).map_err(AdmissionError::Restriction)?;
        restriction::restrict(&policy, qos_class, &mut tolerations, &mut additions)
            .map_err(AdmissionError::Restriction)?;
    }
    if config.extended_resource_toleration {
        for name in extended_resources(pod).map_err(AdmissionError::Resources)? {
            let added = exists(&name, TaintEffect::NoSchedule);
            if tolerations.contains(&added) {
                continue;
            }
            add_or_update_toleration(&mut tolerations, &added);
            additions.push(Addition {
                plugin: AdmissionPlugin::ExtendedResourceToleration,
                added,
                because: format!("a container requests the extended resource {name}"),
            });
        }
    }
    Ok(PodAdmission { additions, tolerations, qos_class })
}

/// Puts the tolerations of lost nodes into `tolerations`, unless one of them answers already; what
/// was added. Mirrors the admission plugin `DefaultTolerationSeconds`.
pub fn add_default_tolerations(
    config: &AdmissionConfig,
    tolerations: &mut Vec<Toleration>,
) -> Vec<Addition<Toleration>> {
    if !config.default_toleration_seconds {
        return Vec::new();
    }
    let seconds = [
        (well_known::NOT_READY, config.default_not_ready_toleration_seconds),
        (well_known::UNREACHABLE, config.default_unreachable_toleration_seconds),
    ];
    let missing = seconds.into_iter().filter(|(key, _)| !covers(tolerations, key));
    let additions: Vec<Addition<Toleration>> = missing
        .map(|(key, seconds)| Addition {
            plugin: AdmissionPlugin::DefaultTolerationSeconds,
            added: no_execute(key, Some(seconds)),
            because: format!("no toleration of the pod covers {key}:NoExecute"),
        })
        .collect();
    tolerations.extend(additions.iter().map(|addition| addition.added.clone()));
    additions
}

/// The QoS class that a new pod gets, after a limit without a request has become the request.
/// Mirrors `qos.ComputePodQOS`.
///
/// # Errors
/// A field of the pod that cannot be read.
pub fn qos_class(release: KubernetesRelease, pod: &Pod) -> Result<QosClass, ResourceError> {
    let mut resources = PodResources::of(pod)?;
    if !release.has_pod_level_resources() {
        resources.pod_level = None;
    }
    resources.set_defaults();
    Ok(resources.qos_class())
}

/// The taint that a new node gets, unless it has one of that key and effect. Mirrors the admission
/// plugin `TaintNodesByCondition` (`nodetaint`).
#[must_use]
pub fn admit_node(config: &AdmissionConfig, node: &Node) -> Option<Addition<Taint>> {
    let added = Taint::new(well_known::NOT_READY, "", TaintEffect::NoSchedule);
    let missing = config.taint_nodes_by_condition && !taint_exists(&node.spec.taints, &added);
    missing.then(|| Addition {
        plugin: AdmissionPlugin::TaintNodesByCondition,
        added,
        because: "a new node is not ready until its kubelet has said that it is".to_owned(),
    })
}

/// Puts the tolerations of every daemon pod into `tolerations`, those of the DaemonSet's template;
/// what was added or made infinite, in the controller's order. Mirrors
/// `AddOrUpdateDaemonPodTolerations`.
pub fn add_daemon_pod_tolerations(
    tolerations: &mut Vec<Toleration>,
    host_network: bool,
) -> Vec<Addition<Toleration>> {
    let mut additions = Vec::new();
    for (key, effect, because) in DAEMON_TOLERATIONS {
        if key == well_known::NETWORK_UNAVAILABLE && !host_network {
            continue;
        }
        let added = exists(key, effect);
        let before = tolerations.clone();
        add_or_update_toleration(tolerations, &added);
        if *tolerations == before {
            continue;
        }
        let (plugin, because) = (AdmissionPlugin::DaemonSetController, because.to_owned());
        additions.push(Addition { plugin, added, because });
    }
    additions
}

/// Key, effect and reason of what the DaemonSet controller adds, in its order.
const DAEMON_TOLERATIONS: [(&str, TaintEffect, &str); 7] = {
    use TaintEffect::{NoExecute, NoSchedule};
    [
        (well_known::NOT_READY, NoExecute, "a daemon pod stays on a node that is not ready"),
        (well_known::UNREACHABLE, NoExecute, "a daemon pod stays on a node that is unreachable"),
        (well_known::DISK_PRESSURE, NoSchedule, "a daemon pod runs in spite of disk pressure"),
        (well_known::MEMORY_PRESSURE, NoSchedule, "a daemon pod runs in spite of memory pressure"),
        (well_known::PID_PRESSURE, NoSchedule, "a daemon pod runs in spite of PID pressure"),
        (well_known::UNSCHEDULABLE, NoSchedule, "a daemon pod runs on a cordoned node"),
        (
            well_known::NETWORK_UNAVAILABLE,
            NoSchedule,
            "a daemon pod with the host's network needs no network of the cluster",
        ),
    ]
};

/// Whether one of them answers for the `NoExecute` taint `key`, as the plugin looks at it:
/// operator, value and seconds do not count.
fn covers(tolerations: &[Toleration], key: &str) -> bool {
    tolerations.iter().any(|toleration| {
        (toleration.key.is_empty() || toleration.key == key)
            && matches!(toleration.effect, TaintEffect::NoExecute | TaintEffect::Empty)
    })
}

fn exists(key: &str, effect: TaintEffect) -> Toleration {
    Toleration {
        key: key.to_owned(),
        operator: TolerationOperator::Exists,
        effect,
        ..Toleration::default()
    }
}

fn no_execute(key: &str, toleration_seconds: Option<i64>) -> Toleration {
    Toleration { toleration_seconds, ..exists(key, TaintEffect::NoExecute) }
}
