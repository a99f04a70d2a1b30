//! What is likely to surprise the owner of a cluster, found in its objects: with a reason and a
//! fix.
//!
//! A warning is about objects as they are, not about what has happened. [`warnings`] is a pure
//! function of the cluster and of how its control plane is set.
//!
//! # What causes no warning
//!
//! - Pods that have ended, static pods, and tolerations that admission or the DaemonSet controller
//!   added: their author cannot change them.
//! - The pods of one owner with the same tolerations are one warning, however many they are.

mod budgets;
mod control_plane;
mod descheduler;
mod lost;
mod pods;
mod shutdown;
mod spread;
mod tolerations;
mod volumes;

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Serialize, Serializer};

use crate::api::{Node, NodeName, PodKey};
use crate::cluster::Cluster;
use crate::controllers::node_lifecycle::NodeLifecycleConfig;
use crate::kubelet::NodeShutdownConfig;
use crate::order::Order;
use crate::protocol::zone::ZoneKey;
use crate::release::{FeatureGate, KubernetesRelease};
use crate::simulator::{NodeView, Simulator, SimulatorConfig};
use crate::slices::{Pace, at_once};

/// What a warning is about; its text never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify), serde(rename_all = "kebab-case"))]
pub enum WarningCode {
    /// A toleration that no taint of this cluster, and none that Kubernetes sets, can match.
    TolerationMatchesNothing,
    /// Operator `Exists` together with a value.
    ExistsWithValue,
    /// An empty key with an operator other than `Exists`.
    EmptyKeyWithoutExists,
    /// `tolerationSeconds` together with an effect other than `NoExecute`.
    SecondsWithoutNoExecute,
    /// A toleration whose time never counts, since an earlier one matches whatever it matches.
    HiddenByOrder,
    /// A pod that stays on an unreachable node forever.
    ToleratesUnreachableForever,
    /// A pod of a StatefulSet that is not replaced when its node is lost.
    StatefulSetStuck,
    /// A pod that nothing replaces.
    BarePodLost,
    /// A PodDisruptionBudget that does not protect what it seems to.
    BudgetDoesNotHelp,
    /// A zone of a size at which the thresholds of the eviction limiter do not do what they are
    /// for.
    ZoneTooSmall,
    /// A Deployment all of whose pods are lost with one zone.
    OneZone,
    /// All nodes of the control plane are lost, and its controllers are assumed to go on.
    ControlPlaneLost,
    /// A pod that does not tolerate a taint of its node, and that the descheduler does not evict.
    DeschedulerLeavesPod,
    /// A pod that has less time to end than it asks for when its node is shut down.
    ShutdownCutsGracePeriod,
    /// A pod whose volume the next pod has to wait for when the node is lost.
    VolumeHeldByNode,
    /// A pod whose volume can be reached from one node or one zone alone.
    VolumeInOnePlace,
    /// A DaemonSet whose new pod needs the port that the old one has.
    SurgeWithHostPort,
}

impl WarningCode {
    /// All of them, in the order in which warnings of one severity come.
    pub const ALL: [Self; 17] = [
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
    ];

    /// Its text, for example `toleration-matches-nothing`.
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

/// How pressing a warning is; the most pressing comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// It is happening: something is stuck, or is being lost.
    Critical,
    /// What is written does not do what it seems to.
    Warning,
    /// It will matter when a node or a zone is lost.
    Note,
}

impl Severity {
    /// Its name: `critical`, `warning` or `note`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }

    /// What one of that severity is called in a sentence: `critical warning`, `warning`, `note`.
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
    /// The controller of pods, which need not be here as an object.
    Owner {
        /// `Deployment`, `StatefulSet` and so on.
        kind: String,
        /// Its namespace and name.
        name: PodKey,
    },
    /// A PodDisruptionBudget.
    Budget {
        /// Its namespace and name.
        name: PodKey,
    },
    /// A pod.
    Pod {
        /// Its namespace and name.
        name: PodKey,
    },
    /// A node.
    Node {
        /// Its name.
        name: NodeName,
    },
    /// A zone.
    Zone {
        /// Its key.
        name: ZoneKey,
    },
}

/// What to do about it, ready to be pasted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Fix {
    /// What it does, in a sentence.
    pub what: String,
    /// In which language `text` is.
    pub language: FixLanguage,
    /// YAML of the part concerned, or a command line.
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

/// Something that is likely to surprise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Warning {
    /// How pressing it is.
    pub severity: Severity,
    /// What it is about.
    pub code: WarningCode,
    /// Whose it is, first the owner of the pods, if they have one.
    pub subjects: Vec<Subject>,
    /// The field concerned, for example `spec.tolerations[1].tolerationSeconds`; empty if it is the
    /// whole.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[cfg_attr(feature = "typescript-all", tsify(optional))]
    pub field: String,
    /// What is the matter, in one sentence.
    pub message: String,
    /// Why that is so.
    pub explanation: String,
    /// What to do about it, if there is something ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
}

/// How the control plane is set, as far as warnings depend on it.
struct Settings {
    release: KubernetesRelease,
    /// `TaintTolerationComparisonOperators`.
    comparison_operators: bool,
    flags: NodeLifecycleConfig,
}

/// After so many pods or groups of them the search pauses.
const PACE: Pace = Pace::every(1_000);

/// All warnings, the most pressing first. A configuration that cannot be counts with the defaults
/// of its release.
#[must_use]
pub fn warnings(cluster: &Cluster, config: &SimulatorConfig) -> Vec<Warning> {
    let shutdown = config.node_shutdown_config().unwrap_or_default();
    at_once(find(cluster, config, |_, node| pods::is_unreachable(node), |_| &shutdown))
}

/// All warnings; `is_lost` knows the nodes that are unreachable, `shutdown` what the kubelet of a
/// node goes by when it is shut down.
async fn find<'c>(
    cluster: &Cluster,
    config: &SimulatorConfig,
    is_lost: impl Fn(&NodeName, &Node) -> bool,
    shutdown: impl Fn(&NodeName) -> &'c NodeShutdownConfig,
) -> Vec<Warning> {
    let settings = Settings {
        release: config.release,
        comparison_operators: config
            .gates()
            .is_ok_and(|gates| gates.is_enabled(FeatureGate::TaintTolerationComparisonOperators)),
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
    // A stable sort: within one kind the order of the objects stays.
    found.order_by_key(|warning| (warning.severity, warning.code));
    found
}

/// All warnings about the cluster of a simulation as it is now; see [`warnings`]. A node
/// whose kubelet is unreachable counts as lost at once, before its conditions say so.
#[must_use]
pub fn warnings_of(simulator: &Simulator) -> Vec<Warning> {
    at_once(find_warnings(simulator))
}

/// The same in slices, for large clusters. What it is told of is a copy of a simulation, so that
/// this can go on meanwhile.
pub async fn find_warnings(simulator: &Simulator) -> Vec<Warning> {
    let is_lost = |name: &NodeName, node: &Node| {
        simulator.unreachable_cause(name).is_some() || pods::is_unreachable(node)
    };
    find(simulator.cluster(), simulator.config(), is_lost, |node| {
        NodeView::shutdown_config(simulator, node)
    })
    .await
}

/// The first of some names, and how many more there are.
fn some_of(all: &[String]) -> String {
    match all {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [first, second] => format!("{first} and {second}"),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    }
}

/// Values by key, in the order of keys.
type Index<'a, V> = BTreeMap<&'a str, V>;
