//! The versions of the kubelet that differ.

use alloc::format;
use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use taintlab_rules::release::KubernetesRelease;

/// A kubelet by its version: one of a release that the engine knows as a whole, or one of the time
/// in which the QoS class decided who is evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KubeletVersion {
    /// About 1.5 and 1.6: eviction by QoS class, one string per flag, no clean-up of containers.
    QosEra,
    /// The kubelet of a release.
    Release(KubernetesRelease),
}

impl KubeletVersion {
    /// Reads `1.5`, `1.6` or a release.
    ///
    /// # Errors
    /// Says what there is.
    pub fn parse(text: &str) -> Result<Self, String> {
        if matches!(text.strip_prefix('v').unwrap_or(text), "1.5" | "1.6") {
            return Ok(Self::QosEra);
        }
        KubernetesRelease::parse(text)
            .map(Self::Release)
            .map_err(|error| format!("{error}, or 1.5 for eviction by QoS class"))
    }

    /// The release, if it is one.
    #[must_use]
    pub const fn release(self) -> Option<KubernetesRelease> {
        match self {
            Self::QosEra => None,
            Self::Release(release) => Some(release),
        }
    }

    /// Whether this is the kubelet of about 1.5.
    #[must_use]
    pub const fn is_qos_era(self) -> bool {
        matches!(self, Self::QosEra)
    }

    /// The least time in seconds that killing a pod may take before the kubelet goes on.
    pub(super) const fn least_kill_timeout_seconds(self) -> i64 {
        if self.is_qos_era() { 2 } else { 10 }
    }

    /// What a method of the release says, or `old` for the time before releases are known here.
    pub(super) fn rule<T>(self, old: T, rule: fn(KubernetesRelease) -> T) -> T {
        self.release().map_or(old, rule)
    }
}

impl From<KubernetesRelease> for KubeletVersion {
    fn from(release: KubernetesRelease) -> Self {
        Self::Release(release)
    }
}

impl fmt::Display for KubeletVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::QosEra => f.write_str("1.5"),
            Self::Release(release) => release.fmt(f),
        }
    }
}

impl Serialize for KubeletVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for KubeletVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for KubeletVersion {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "KubeletVersion".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^v?1\\.[0-9]+" })
    }
}
