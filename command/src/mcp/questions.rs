//! The arguments of the tools, and the command line that each stands for.

use schemars::JsonSchema;
use serde::Deserialize;

/// What fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) enum Lost {
    /// A single node
    Node,
    /// All nodes of a zone
    Zone,
    /// All nodes of a region
    Region,
    /// All nodes with a label of one value
    Label,
    /// The devices of a pool of a driver
    DevicePool,
}

/// Arguments of `blast_radius`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BlastRadius {
    /// The kind of domain that fails
    pub(super) kind: Lost,
    /// Its name; LABEL=VALUE for a label, DRIVER/POOL for devices
    pub(super) name: String,
    /// lost (unless given), power-off=5m (and back), network-cut, drained, shut-down, or
    /// tainted=KEY:EFFECT
    pub(super) fault: Option<String>,
    /// How long it is watched, such as 30m; 1h unless given, 24h at most
    pub(super) horizon: Option<String>,
}

/// Arguments of `when_evicted`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct WhenEvicted {
    /// NAMESPACE/NAME of a pod that has a node
    pub(super) pod: String,
    /// What happens to its node now: lost (unless given), network-cut, power-off, kubelet-stopped,
    /// tainted=KEY:EFFECT, or none
    pub(super) fault: Option<String>,
}

/// A line of kubectl, and when.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct KubectlLine {
    /// Such as: taint node worker-1 maintenance:NoExecute
    pub(super) line: String,
    /// When, since the beginning, such as 30s; 0s unless given
    pub(super) at: Option<String>,
}

/// Arguments of `simulate`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Simulate {
    /// Lines of kubectl in the order of time, 20 at most
    #[serde(default)]
    pub(super) lines: Vec<KubectlLine>,
    /// How far time is played, such as 30m; 10m unless given, 24h at most
    pub(super) until: Option<String>,
}

/// What is done to nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Act {
    /// Drain nodes one after the other
    Drain,
    /// Replace the nodes of a pool
    Upgrade,
    /// Lose nodes after a notice of the provider
    Spot,
    /// Drain all nodes of a zone
    ZoneEvacuation,
    /// Taint nodes
    Taint,
}

/// Arguments of `plan`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Plan {
    /// What is done
    pub(super) act: Act,
    /// For drain, spot and taint: the nodes
    #[serde(default)]
    pub(super) nodes: Vec<String>,
    /// For zone-evacuation: the zone
    pub(super) zone: Option<String>,
    /// For upgrade: LABEL=VALUE of the nodes
    pub(super) pool: Option<String>,
    /// For taint: KEY=VALUE:EFFECT or KEY:EFFECT
    pub(super) taint: Option<String>,
    /// For drain and zone-evacuation: how many nodes at a time; 1 unless given
    pub(super) parallel: Option<u32>,
    /// For upgrade: how many nodes may be missing; 0 unless given
    pub(super) max_unavailable: Option<u32>,
    /// For upgrade: how many new nodes may come before the old ones go; 1 unless given
    pub(super) surge: Option<u32>,
    /// For spot: how long before it is announced; 2m unless given
    pub(super) notice: Option<String>,
    /// For spot: what acts on the notice: drain (unless given), taint=KEY:NoExecute or none
    pub(super) handler: Option<String>,
    /// For drain and zone-evacuation, as that of kubectl drain: pods without a controller go, too; the
    /// others always take them
    pub(super) force: Option<bool>,
    /// Not for taint, as that of kubectl drain: budgets are not asked
    pub(super) disable_eviction: Option<bool>,
    /// Not for taint, as that of kubectl drain: how long each drain may take
    pub(super) timeout: Option<String>,
    /// How long it is watched; 12h unless given, 24h at most
    pub(super) horizon: Option<String>,
    /// How many orders of the nodes are tried; 40 unless given, which is the most
    pub(super) orders: Option<u32>,
}

/// Arguments of `report`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Report {
    /// Kinds of domains that fail: node, zone, region, device-pool; all of them unless given
    #[serde(default)]
    pub(super) domains: Vec<String>,
    /// Labels of nodes: each value of one is a domain, too
    #[serde(default)]
    pub(super) labels: Vec<String>,
    /// lost (unless given), power-off=5m (and back), network-cut, drained, shut-down, or
    /// tainted=KEY:EFFECT
    #[serde(default)]
    pub(super) faults: Vec<String>,
    /// How long each run is watched, such as 30m; 1h unless given, 24h at most
    pub(super) horizon: Option<String>,
    /// For how many groups of findings it is tried what would help; 5 unless given, which is the most
    pub(super) remedies: Option<u32>,
}

/// Arguments of `why_pending`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct WhyPending {
    /// NAMESPACE/NAME of a pod
    pub(super) pod: String,
}

/// Severities of warnings, the worst first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) enum AtLeast {
    /// Only critical warnings
    Critical,
    /// Without notes
    Warning,
    /// All
    #[default]
    Note,
}

/// Arguments of `lint`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Lint {
    /// From which severity on: critical, warning, or note (unless given)
    #[serde(default)]
    pub(super) at_least: AtLeast,
}

/// `--name=value`, if there is a value: a value is never an option of its own.
fn option(name: &str, value: Option<&impl ToString>) -> Option<String> {
    value.map(|value| format!("--{name}={}", value.to_string()))
}

impl BlastRadius {
    /// Words after `taintlab`, without the files.
    pub(super) fn words(&self) -> Vec<String> {
        let domains = match self.kind {
            Lost::Node => "--domains=node",
            Lost::Zone => "--domains=zone",
            Lost::Region => "--domains=region",
            Lost::Label => "--domains=",
            Lost::DevicePool => "--domains=device-pool",
        };
        let label = self.name.split('=').next().filter(|_| self.kind == Lost::Label);
        let options = [
            Some(domains.into()),
            option("label", label.as_ref()),
            option("fault", self.fault.as_ref()),
            option("horizon", self.horizon.as_ref()),
            Some("--remedies=0".into()),
        ];
        ["report".into()].into_iter().chain(options.into_iter().flatten()).collect()
    }
}

impl WhenEvicted {
    /// Words after `taintlab`, without the files; names come after `--`.
    pub(super) fn words(&self) -> [Vec<String>; 2] {
        let fault = option("fault", self.fault.as_ref());
        let options = ["when".into()].into_iter().chain(fault).collect();
        [options, vec![self.pod.clone()]]
    }
}

impl Simulate {
    /// Words after `taintlab`, without the files.
    pub(super) fn words(&self, until: &str) -> Vec<String> {
        let lines = self.lines.iter().flat_map(|KubectlLine { line, at }| {
            let options = [option("kubectl", Some(line)), option("at", at.as_ref())];
            options.into_iter().flatten()
        });
        let until = option("until", Some(&until));
        ["run".into()].into_iter().chain(lines).chain(until).collect()
    }
}

impl Plan {
    /// Words after `taintlab`, without the files; names come after `--`.
    ///
    /// # Errors
    /// An argument is none of this act.
    pub(super) fn words(&self) -> Result<[Vec<String>; 2], String> {
        let (act, own): (&str, &[&str]) = match self.act {
            Act::Drain => ("drain", &["nodes", "parallel", "force", DRAIN]),
            Act::Upgrade => ("upgrade", &["pool", "maxUnavailable", "surge", DRAIN]),
            Act::Spot => ("spot", &["nodes", "notice", "handler", DRAIN]),
            Act::ZoneEvacuation => ("zone-evacuation", &["zone", "parallel", "force", DRAIN]),
            Act::Taint => ("taint", &["nodes", "taint"]),
        };
        let given = [
            ("nodes", !self.nodes.is_empty()),
            ("zone", self.zone.is_some()),
            ("pool", self.pool.is_some()),
            ("taint", self.taint.is_some()),
            ("parallel", self.parallel.is_some()),
            ("maxUnavailable", self.max_unavailable.is_some()),
            ("surge", self.surge.is_some()),
            ("notice", self.notice.is_some()),
            ("handler", self.handler.is_some()),
            ("force", self.force.is_some()),
        ];
        let of_drain = self.disable_eviction.is_some() || self.timeout.is_some();
        let wrong = given.iter().find(|(name, given)| *given && !own.contains(name));
        let wrong = wrong.map(|(name, _)| *name);
        if let Some(name) = wrong.or((of_drain && !own.contains(&DRAIN)).then_some(DRAIN)) {
            let valid = own.join(", ");
            return Err(format!("{act} takes no {name}; it takes {valid}, horizon, orders"));
        }
        let needed = match self.act {
            Act::ZoneEvacuation => ("zone", self.zone.is_none()),
            Act::Upgrade => ("pool", self.pool.is_none()),
            Act::Taint if self.taint.is_none() => ("taint", true),
            Act::Drain | Act::Spot | Act::Taint => ("nodes", self.nodes.is_empty()),
        };
        if let (name, true) = needed {
            return Err(format!("{act} needs {name}"));
        }
        let flag =
            |name: &str, set: Option<bool>| set.filter(|set| *set).map(|_| format!("--{name}"));
        let options = [
            option("pool", self.pool.as_ref()),
            option("parallel", self.parallel.as_ref()),
            option("max-unavailable", self.max_unavailable.as_ref()),
            option("surge", self.surge.as_ref()),
            option("notice", self.notice.as_ref()),
            option("handler", self.handler.as_ref()),
            flag("force", self.force),
            flag("disable-eviction", self.disable_eviction),
            option("timeout", self.timeout.as_ref()),
            option("horizon", self.horizon.as_ref()),
            option("orders", self.orders.as_ref()),
        ];
        let words = ["plan".into(), act.into()];
        let words = words.into_iter().chain(options.into_iter().flatten()).collect();
        let named = self.nodes.iter().chain(&self.zone).chain(&self.taint).cloned().collect();
        Ok([words, named])
    }
}

/// The flags of a drain.
const DRAIN: &str = "disableEviction, timeout";

impl Report {
    /// Words after `taintlab`, without the files.
    pub(super) fn words(&self) -> Vec<String> {
        let domains = (!self.domains.is_empty()).then(|| self.domains.join(","));
        let each = |name: &'static str, list: &[String]| -> Vec<String> {
            list.iter().filter_map(|value| option(name, Some(value))).collect()
        };
        let words = ["report".into()].into_iter().chain(option("domains", domains.as_ref()));
        let words = words.chain(each("label", &self.labels)).chain(each("fault", &self.faults));
        let words = words.chain(option("horizon", self.horizon.as_ref()));
        words.chain(option("remedies", self.remedies.as_ref())).collect()
    }
}
