//! Which Kubernetes is simulated.

use alloc::collections::BTreeMap;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::api::is_default;
use crate::release::{FeatureGates, KubernetesRelease};
use crate::time::Time;

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
}

impl Default for SimulatorConfig {
    fn default() -> Self {
        Self {
            release: KubernetesRelease::default(),
            feature_gates: BTreeMap::new(),
            start: Time::DEFAULT_START,
            stand_in_api_server: false,
        }
    }
}

impl SimulatorConfig {
    /// The defaults of a release.
    #[must_use]
    pub fn of(release: KubernetesRelease) -> Self {
        Self { release, ..Self::default() }
    }

    /// Which feature gates are on.
    ///
    /// # Errors
    /// A gate that the release does not have, or that is locked.
    pub fn gates(&self) -> Result<FeatureGates, String> {
        let settings = self.feature_gates.iter().map(|(name, on)| (name.as_str(), *on));
        FeatureGates::new(self.release, settings)
    }
}
