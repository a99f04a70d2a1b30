//! Zones: their keys, their disruption states, and the rates at which their nodes are tainted.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize, Serializer};

use crate::api::{ConditionStatus, NodeCondition};

/// Disruption of a zone. Mirrors `nodelifecycle.ZoneState`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
pub enum ZoneState {
    /// The zone is new; nothing was decided yet.
    #[default]
    Initial,
    /// Most nodes are ready.
    Normal,
    /// Many nodes are not ready.
    PartialDisruption,
    /// No node is ready.
    FullDisruption,
}

impl ZoneState {
    /// Name in Kubernetes.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Initial => "Initial",
            Self::Normal => "Normal",
            Self::PartialDisruption => "PartialDisruption",
            Self::FullDisruption => "FullDisruption",
        }
    }
}

impl fmt::Display for ZoneState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Number of nodes in a zone that are not ready, and the resulting state.
///
/// `ready_conditions` has the Ready condition of every node; `None` counts as not ready.
/// `unhealthy_zone_threshold` is the fraction at which a disruption becomes partial. Mirrors
/// `Controller.ComputeZoneState`, in float32.
#[must_use]
pub fn compute_zone_state<'a>(
    ready_conditions: impl IntoIterator<Item = Option<&'a NodeCondition>>,
    unhealthy_zone_threshold: f32,
) -> (usize, ZoneState) {
    let (mut total, mut ready) = (0, 0);
    for condition in ready_conditions {
        total += 1;
        // Counted without a branch: a large zone is a hot path.
        ready += usize::from(matches!(
            condition,
            Some(NodeCondition { status: ConditionStatus::True, .. })
        ));
    }
    let not_ready = total - ready;
    (not_ready, zone_state(ready, not_ready, unhealthy_zone_threshold))
}

/// State of a zone, from its numbers of nodes that are ready and not ready.
#[must_use]
pub fn zone_state(ready: usize, not_ready: usize, unhealthy_zone_threshold: f32) -> ZoneState {
    let fraction = || not_ready as f32 / (not_ready + ready) as f32;
    if ready == 0 && not_ready > 0 {
        ZoneState::FullDisruption
    } else if not_ready > 2 && fraction() >= unhealthy_zone_threshold {
        ZoneState::PartialDisruption
    } else {
        ZoneState::Normal
    }
}

/// The key of a zone.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify), tsify(type = "string"))]
pub struct ZoneKey(Arc<str>);

impl ZoneKey {
    /// Key of the zone of a node with these labels; see [`zone_key`].
    #[must_use]
    pub fn of(labels: &BTreeMap<String, String>) -> Self {
        Self(zone_key(labels).into())
    }

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Region and zone as people write them: `region/zone`, `zone` without a region, `region/`
    /// without a zone, and nothing for nodes with neither label. Labels contain no slash, so that
    /// every zone has a unique name.
    #[must_use]
    pub fn name(&self) -> String {
        match self.0.split_once(":\0:") {
            Some(("", zone)) => zone.into(),
            Some((region, zone)) => format!("{region}/{zone}"),
            None => String::new(),
        }
    }

    /// The zone in a sentence: `zone eu-1a`, or `no zone`.
    #[must_use]
    pub fn in_words(&self) -> String {
        let name = self.name();
        if name.is_empty() { "no zone".into() } else { format!("zone {name}") }
    }

    /// The zone label alone; empty if there is none.
    #[must_use]
    pub fn zone(&self) -> &str {
        self.0.split_once(":\0:").map_or("", |(_, zone)| zone)
    }
}

/// Finds a zone by its full [name](ZoneKey::name), or by its zone label alone if that is
/// unambiguous.
///
/// # Errors
/// The names that the text could mean; empty if there is no such zone.
pub fn find_zone<'a>(
    zones: impl IntoIterator<Item = &'a ZoneKey>,
    text: &str,
) -> Result<ZoneKey, Vec<String>> {
    let mut similar: Vec<&ZoneKey> = Vec::new();
    for zone in zones {
        if zone.name() == text {
            return Ok(zone.clone());
        }
        if !text.is_empty() && zone.zone() == text && !similar.contains(&zone) {
            similar.push(zone);
        }
    }
    match similar.as_slice() {
        [one] => Ok((*one).clone()),
        many => Err(many.iter().map(|zone| zone.name()).collect()),
    }
}

/// Wraps a key returned by [`zone_key`].
impl From<&str> for ZoneKey {
    fn from(key: &str) -> Self {
        Self(key.into())
    }
}

impl core::borrow::Borrow<str> for ZoneKey {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ZoneKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Serialised as its [name](ZoneKey::name).
impl Serialize for ZoneKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

/// Key of the zone of a node with these labels: `region:\0:zone`, or nothing if it has neither. The
/// beta labels take precedence over the stable ones, even when they are empty. Mirrors
/// `utilnode.GetZoneKey`.
#[must_use]
pub fn zone_key(labels: &BTreeMap<String, String>) -> String {
    let label = |beta: &str, stable: &str| {
        labels.get(beta).or_else(|| labels.get(stable)).map_or("", String::as_str)
    };
    let zone = label(BETA_ZONE_LABEL, ZONE_LABEL);
    let region = label(BETA_REGION_LABEL, REGION_LABEL);
    if zone.is_empty() && region.is_empty() {
        return String::new();
    }
    format!("{region}:\0:{zone}")
}

/// Label with a node's zone.
pub const ZONE_LABEL: &str = "topology.kubernetes.io/zone";
/// Label with a node's region.
pub const REGION_LABEL: &str = "topology.kubernetes.io/region";
/// Label with a node's zone before 1.17.
pub const BETA_ZONE_LABEL: &str = "failure-domain.beta.kubernetes.io/zone";
/// Label with a node's region before 1.17.
pub const BETA_REGION_LABEL: &str = "failure-domain.beta.kubernetes.io/region";

/// Serialises a float32 with the digits of the flag: 0.55 in every format, where widening it yields
/// 0.550000011920929.
///
/// # Errors
/// Errors of the serialiser.
pub fn as_flag<S: Serializer>(number: &f32, serializer: S) -> Result<S::Ok, S::Error> {
    let widened = f64::from(*number);
    serializer.serialize_f64(number.to_string().parse().unwrap_or(widened))
}

/// Rates at which nodes of one zone are tainted (or their pods evicted), in nodes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EvictionRates {
    /// `--node-eviction-rate`: in a healthy zone, and in one without any ready node.
    pub node_eviction_rate: f32,
    /// `--secondary-node-eviction-rate`: in a large zone that is partially disrupted.
    pub secondary_node_eviction_rate: f32,
    /// `--large-cluster-size-threshold`: a zone with more nodes is large. In a smaller zone that is
    /// partially disrupted, evictions stop.
    pub large_cluster_size_threshold: i32,
}

impl Default for EvictionRates {
    fn default() -> Self {
        Self {
            node_eviction_rate: 0.1,
            secondary_node_eviction_rate: 0.01,
            large_cluster_size_threshold: 50,
        }
    }
}

impl EvictionRates {
    /// Rate in a healthy zone of any size. Mirrors `Controller.HealthyQPSFunc`.
    #[must_use]
    pub const fn healthy_qps(&self) -> f32 {
        self.node_eviction_rate
    }

    /// Rate in a partially disrupted zone of `size` nodes, truncated to 32 bits as upstream.
    /// Mirrors `Controller.ReducedQPSFunc`.
    #[must_use]
    pub const fn reduced_qps(&self, size: usize) -> f32 {
        if size as i32 > self.large_cluster_size_threshold {
            self.secondary_node_eviction_rate
        } else {
            0.0
        }
    }

    /// Rate of a zone of `size` nodes that enters `state`; `None` keeps the current rate. Mirrors
    /// `Controller.setLimiterInZone`.
    #[must_use]
    pub const fn qps(&self, state: ZoneState, size: usize) -> Option<f32> {
        match state {
            ZoneState::Initial => None,
            ZoneState::Normal | ZoneState::FullDisruption => Some(self.healthy_qps()),
            ZoneState::PartialDisruption => Some(self.reduced_qps(size)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions(ready: usize, not_ready: usize) -> Vec<Option<NodeCondition>> {
        let condition = |status| Some(NodeCondition { status, ..NodeCondition::default() });
        let kinds = [
            None,
            condition(ConditionStatus::False),
            condition(ConditionStatus::Unknown),
            condition(ConditionStatus::Empty),
        ];
        let mut all: Vec<_> = kinds.into_iter().cycle().take(not_ready).collect();
        all.extend(core::iter::repeat_n(condition(ConditionStatus::True), ready));
        all
    }

    /// The worked example N23, and those beside the definition.
    #[test]
    fn n23_states_by_number() {
        use ZoneState::{FullDisruption, Normal, PartialDisruption};
        for (ready, not_ready, expected) in [
            (0, 0, Normal),
            (0, 1, FullDisruption),
            (1, 2, Normal),
            (2, 3, PartialDisruption),
            (3, 3, Normal),
            (9, 11, PartialDisruption),
            (5, 6, Normal),
            (0, 100, FullDisruption),
            (45, 55, PartialDisruption),
            (0, 2, FullDisruption),
        ] {
            let conditions = conditions(ready, not_ready);
            let state = compute_zone_state(conditions.iter().map(Option::as_ref), 0.55);
            assert_eq!(state, (not_ready, expected), "{ready} ready, {not_ready} not");
        }
    }

    #[test]
    fn n24_zone_keys() {
        let (zone, region) = ((ZONE_LABEL, "z"), (REGION_LABEL, "r"));
        for (labels, expected) in [
            (&[][..], ""),
            (&[zone], ":\0:z"),
            (&[region, zone], "r:\0:z"),
            (&[(BETA_ZONE_LABEL, ""), zone], ""),
            (&[(BETA_ZONE_LABEL, "b"), zone, region], "r:\0:b"),
            (&[region], "r:\0:"),
            (&[(BETA_REGION_LABEL, "b"), region], "b:\0:"),
        ] {
            let map = labels.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
            assert_eq!(zone_key(&map), expected, "{labels:?}");
        }
    }

    #[test]
    fn zones_are_found_as_people_name_them() {
        let key = |region: &str, zone: &str| {
            let labels = [(REGION_LABEL, region), (ZONE_LABEL, zone)];
            let given = labels.into_iter().filter(|(_, value)| !value.is_empty());
            ZoneKey::of(&given.map(|(key, value)| (key.into(), value.into())).collect())
        };
        let zones = [key("eu", "a"), key("us", "a"), key("us", "b"), key("", "c"), key("ap", "")];
        let names: Vec<String> = zones.iter().map(ZoneKey::name).collect();
        assert_eq!(names, ["eu/a", "us/a", "us/b", "c", "ap/"]);
        for (text, expected) in [
            ("eu/a", Ok(0)),
            ("b", Ok(2)),
            ("c", Ok(3)),
            ("ap/", Ok(4)),
            ("a", Err(&["eu/a", "us/a"][..])),
            ("", Err(&[])),
            ("d", Err(&[])),
        ] {
            let found = find_zone(&zones, text);
            match expected {
                Ok(index) => assert_eq!(found.unwrap(), zones[index], "{text}"),
                Err(names) => assert_eq!(found.unwrap_err(), names, "{text}"),
            }
        }
        assert_eq!(find_zone(&[key("", "")], "").unwrap().as_str(), "");
    }

    #[test]
    fn rates_by_state_and_size() {
        let rates = EvictionRates::default();
        assert_eq!(rates.qps(ZoneState::Initial, 60), None);
        assert_eq!(rates.qps(ZoneState::Normal, 60), Some(0.1));
        assert_eq!(rates.qps(ZoneState::FullDisruption, 60), Some(0.1));
        assert_eq!(rates.qps(ZoneState::PartialDisruption, 51), Some(0.01));
        assert_eq!(rates.qps(ZoneState::PartialDisruption, 50), Some(0.0));
        assert_eq!(rates.reduced_qps(1 << 31), 0.0);
    }
}
