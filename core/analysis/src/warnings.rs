//! Warnings: facts in the objects of a cluster that are likely to surprise its owner, each with a
//! reason and a fix.
//!
//! A warning is about objects as they are, not about past events. [`warnings`] is a pure function
//! of the cluster and the settings of its control plane.
//!
//! # Objects without warnings
//!
//! - Pods that have ended, static pods, and tolerations that admission or the DaemonSet controller
//!   added: their author cannot change them.
//! - Pods of one owner with the same tolerations share one warning.

mod budgets;
mod control_plane;
mod descheduler;
mod devices;
mod lost;
mod pods;
mod shutdown;
mod spread;
mod tolerations;
mod volumes;

use alloc::borrow::ToOwned;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Serialize, Serializer};
use taintlab_engine::controllers::node_lifecycle::NodeLifecycleConfig;
use taintlab_engine::kubelet::NodeShutdownConfig;
use taintlab_engine::simulator::{NodeView, Simulator, SimulatorConfig};
use taintlab_rules::api::{Node, NodeName, PodKey};
use taintlab_rules::cluster::Cluster;
use taintlab_rules::order::{Order, OrderedMap};
use taintlab_rules::protocol::zone::ZoneKey;
use taintlab_rules::release::{FeatureGate, KubernetesRelease};
use taintlab_rules::slices::{Pace, at_once};

/// Kind of a warning; its text never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), serde(rename_all = "kebab-case"))]
pub enum WarningCode {
    /// A toleration that matches no taint of this cluster, and none that Kubernetes sets.
    TolerationMatchesNothing,
    /// Operator `Exists` together with a value.
    ExistsWithValue,
    /// An empty key with an operator other than `Exists`.
    EmptyKeyWithoutExists,
    /// `tolerationSeconds` together with an effect other than `NoExecute`.
    SecondsWithoutNoExecute,
    /// A toleration whose time never counts, since an earlier one matches all its taints.
    HiddenByOrder,
    /// A pod that stays on an unreachable node forever.
    ToleratesUnreachableForever,
    /// A pod of a StatefulSet that is not replaced when its node is lost.
    StatefulSetStuck,
    /// A pod that no controller replaces.
    BarePodLost,
    /// A PodDisruptionBudget that gives less protection than it seems to.
    BudgetDoesNotHelp,
    /// A zone with so few nodes that the thresholds of the eviction limiter cannot work as
    /// intended.
    ZoneTooSmall,
    /// A Deployment all of whose pods are lost with one zone.
    OneZone,
    /// All control plane nodes are lost, but its controllers are assumed to run.
    ControlPlaneLost,
    /// A pod that does not tolerate a taint of its node, but that the descheduler does not evict.
    DeschedulerLeavesPod,
    /// A pod with less time to end than its grace period when its node is shut down.
    ShutdownCutsGracePeriod,
    /// A pod whose replacement has to wait for its volume when the node is lost.
    VolumeHeldByNode,
    /// A pod whose volume is reachable from a single node or zone.
    VolumeInOnePlace,
    /// A DaemonSet whose new pod needs a host port that the old one still holds.
    SurgeWithHostPort,
    /// A toleration of a pod that seems to be meant for its devices.
    DeviceTolerationInPod,
    /// A toleration of a claim without an effect, which does not delay an eviction.
    DeviceTolerationWithoutEffect,
    /// A toleration that the request of a claim got after its device was allocated.
    DeviceTolerationTooLate,
    /// A DeviceTaintRule without a selector, which evicts no pod.
    TaintRuleWithoutSelector,
    /// A DeviceTaintRule whose feature gate is off.
    TaintRuleOff,
}

impl WarningCode {
    /// All codes, in the order of warnings with the same severity.
    pub const ALL: [Self; 22] = [
        Self::TolerationMatchesNothing,
        Self::ExistsWithValue,
        Self::EmptyKeyWithoutExists,
        Self::SecondsWithoutNoExecute,
        Self::HiddenByOrder,
        Self::ToleratesUnreachableForever,
        Self::StatefulSetStuck,
        Self::BarePodLost,
        Self::BudgetDoesNotHelp,
        Self::ZoneTooSmall,
        Self::OneZone,
        Self::ControlPlaneLost,
        Self::DeschedulerLeavesPod,
        Self::ShutdownCutsGracePeriod,
        Self::VolumeHeldByNode,
        Self::VolumeInOnePlace,
        Self::SurgeWithHostPort,
        Self::DeviceTolerationInPod,
        Self::DeviceTolerationWithoutEffect,
        Self::DeviceTolerationTooLate,
        Self::TaintRuleWithoutSelector,
        Self::TaintRuleOff,
    ];

    /// Text of the code, for example `toleration-matches-nothing`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TolerationMatchesNothing => "toleration-matches-nothing",
            Self::ExistsWithValue => "exists-with-value",
            Self::EmptyKeyWithoutExists => "empty-key-without-exists",
            Self::SecondsWithoutNoExecute => "seconds-without-no-execute",
            Self::HiddenByOrder => "hidden-by-order",
            Self::ToleratesUnreachableForever => "tolerates-unreachable-forever",
            Self::StatefulSetStuck => "stateful-set-stuck",
            Self::BarePodLost => "bare-pod-lost",
            Self::BudgetDoesNotHelp => "budget-does-not-help",
            Self::ZoneTooSmall => "zone-too-small",
            Self::OneZone => "one-zone",
            Self::ControlPlaneLost => "control-plane-lost",
            Self::DeschedulerLeavesPod => "descheduler-leaves-pod",
            Self::ShutdownCutsGracePeriod => "shutdown-cuts-grace-period",
            Self::VolumeHeldByNode => "volume-held-by-node",
            Self::VolumeInOnePlace => "volume-in-one-place",
            Self::SurgeWithHostPort => "surge-with-host-port",
            Self::DeviceTolerationInPod => "device-toleration-in-pod",
            Self::DeviceTolerationWithoutEffect => "device-toleration-without-effect",
            Self::DeviceTolerationTooLate => "device-toleration-too-late",
            Self::TaintRuleWithoutSelector => "taint-rule-without-selector",
            Self::TaintRuleOff => "taint-rule-off",
        }
    }
}

impl fmt::Display for WarningCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for WarningCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Severity of a warning; the most severe comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// Something is stuck, or is being lost, now.
    Critical,
    /// A setting does not do what it seems to.
    Warning,
    /// The problem appears when a node or a zone is lost.
    Note,
}

impl Severity {
    /// Name of the severity: `critical`, `warning` or `note`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }

    /// Noun for a warning of this severity: `critical warning`, `warning`, `note`.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Critical => "critical warning",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// An object that a warning is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", tag = "type")]
pub enum Subject {
    /// The controller of pods, which need not exist as an object.
    Owner {
        /// `Deployment`, `StatefulSet` and so on.
        kind: String,
        /// Namespace and name.
        name: PodKey,
    },
    /// A PodDisruptionBudget.
    Budget {
        /// Namespace and name.
        name: PodKey,
    },
    /// A pod.
    Pod {
        /// Namespace and name.
        name: PodKey,
    },
    /// A node.
    Node {
        /// Name of the node.
        name: NodeName,
    },
    /// A ResourceClaim.
    ResourceClaim {
        /// Namespace and name.
        name: PodKey,
    },
    /// A DeviceTaintRule.
    TaintRule {
        /// Name of the rule.
        name: String,
    },
    /// A zone.
    Zone {
        /// Key of the zone.
        name: ZoneKey,
    },
}

/// A remedy, ready to be pasted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Fix {
    /// Purpose of the fix, in a sentence.
    pub what: String,
    /// Language of `text`.
    pub language: FixLanguage,
    /// YAML of the part to change, or a command line.
    pub text: String,
}

/// The language of a fix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub enum FixLanguage {
    /// A part of a manifest.
    Yaml,
    /// A command line of kubectl.
    Kubectl,
    /// A flag of kube-controller-manager.
    Flag,
}

/// A fact that is likely to surprise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Warning {
    /// Severity of the warning.
    pub severity: Severity,
    /// Kind of the warning.
    pub code: WarningCode,
    /// Objects concerned, starting with the owner of the pods, if any.
    pub subjects: Vec<Subject>,
    /// The field concerned, for example `spec.tolerations[1].tolerationSeconds`; empty for the
    /// whole object.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[cfg_attr(feature = "typescript-all", tsify(optional))]
    pub field: String,
    /// The problem in one sentence.
    pub message: String,
    /// Explanation of the problem.
    pub explanation: String,
    /// Remedy, if one is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
}

/// Settings of the control plane that warnings depend on.
struct Settings {
    release: KubernetesRelease,
    /// The feature gate `TaintTolerationComparisonOperators`.
    comparison_operators: bool,
    /// Whether DeviceTaintRules count.
    device_taint_rules: bool,
    flags: NodeLifecycleConfig,
}

/// Number of pods or groups after which the search pauses.
const PACE: Pace = Pace::every(1_000);

/// All warnings, the most severe first. An invalid configuration counts as the defaults of its
/// release.
#[must_use]
pub fn warnings(cluster: &Cluster, config: &SimulatorConfig) -> Vec<Warning> {
    let shutdown = config.node_shutdown_config().unwrap_or_default();
    at_once(find(cluster, config, |_, node| pods::is_unreachable(node), |_| &shutdown))
}

/// All warnings. `is_lost` returns whether a node is unreachable, `shutdown` the shutdown
/// configuration of a node's kubelet.
async fn find<'c>(
    cluster: &Cluster,
    config: &SimulatorConfig,
    is_lost: impl Fn(&NodeName, &Node) -> bool,
    shutdown: impl Fn(&NodeName) -> &'c NodeShutdownConfig,
) -> Vec<Warning> {
    let gates = config.gates().ok();
    let is_on = |gate| gates.as_ref().is_some_and(|gates| gates.is_enabled(gate));
    let settings = Settings {
        release: config.release,
        comparison_operators: is_on(FeatureGate::TaintTolerationComparisonOperators),
        device_taint_rules: gates
            .as_ref()
            .is_some_and(|gates| gates.has_device_taint_rules(config.release)),
        flags: config.flags().unwrap_or_else(|_| NodeLifecycleConfig::of(config.release)),
    };
    let nodes = pods::Nodes::of(cluster);
    let groups = pods::groups(cluster).await;
    let mut found = Vec::new();
    tolerations::look(&groups, &nodes, &settings, &mut found).await;
    budgets::look(cluster, &groups, &nodes, &settings, &mut found).await;
    lost::look(&groups, &nodes, &settings, &mut found).await;
    spread::look(cluster, &groups, &settings, &mut found).await;
    control_plane::look(cluster, is_lost, &mut found);
    if let Some(descheduler) = &config.descheduler {
        descheduler::look(cluster, &groups, descheduler, &mut found).await;
    }
    shutdown::look(&groups, &settings, shutdown, &mut found).await;
    volumes::look(cluster, &groups, &settings, &mut found).await;
    devices::look(cluster, &groups, &nodes, &settings, &mut found).await;
    // The sort is stable: within one kind the objects keep their order.
    found.order_by_key(|warning| (warning.severity, warning.code));
    found
}

/// All warnings about the current cluster of a simulation; see [`warnings`]. A node with an
/// unreachable kubelet counts as lost immediately, before its conditions say so.
#[must_use]
pub fn warnings_of(simulator: &Simulator) -> Vec<Warning> {
    at_once(find_warnings(simulator))
}

/// As [`warnings_of`], in slices, for large clusters. The caller passes a copy of its simulation,
/// and can continue with the original meanwhile.
pub async fn find_warnings(simulator: &Simulator) -> Vec<Warning> {
    let is_lost = |name: &NodeName, node: &Node| {
        simulator.unreachable_cause(name).is_some() || pods::is_unreachable(node)
    };
    find(simulator.cluster(), simulator.config(), is_lost, |node| {
        NodeView::shutdown_config(simulator, node)
    })
    .await
}

/// The first one or two names, and the number of further ones.
fn some_of(all: &[String]) -> String {
    match all {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [first, second] => format!("{first} and {second}"),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    }
}

/// Values by key, in the order of keys.
type Index<'a, V> = OrderedMap<&'a str, V>;
