//! Answers about single values: no simulation, no state.

use serde::{Deserialize, Serialize};
use taintlab_core::controllers::node_lifecycle::NodeLifecycleConfig;
use taintlab_core::controllers::node_lifecycle::zone::ZoneState;
use taintlab_core::release::KubernetesRelease;

/// Nothing is wrong.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
pub struct Valid {
    /// Whether it is valid: yes.
    #[cfg_attr(feature = "typescript", tsify(type = "true"))]
    pub ok: bool,
}

/// How disrupted a zone is, and from which numbers.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct ZoneStateAnswer {
    /// The state.
    pub state: ZoneState,
    /// How many of the nodes are ready.
    pub ready: usize,
    /// How many are not.
    pub not_ready: usize,
}

/// From which fraction on a zone is disrupted.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ZoneStateOptions {
    /// `--unhealthy-zone-threshold`: the fraction of nodes that are not ready; 0.55 unless given.
    pub unhealthy_zone_threshold: f32,
}

impl Default for ZoneStateOptions {
    fn default() -> Self {
        let flags = NodeLifecycleConfig::of(KubernetesRelease::default());
        Self { unhealthy_zone_threshold: flags.unhealthy_zone_threshold }
    }
}
