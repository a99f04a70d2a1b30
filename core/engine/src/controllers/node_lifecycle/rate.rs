//! Rates at which zones lose nodes.

use alloc::format;
use alloc::string::String;

use serde::Serialize;
use taintlab_rules::protocol::zone::ZoneState;
use taintlab_rules::queue::flowcontrol::RateLimiter;

use super::config::NodeLifecycleConfig;

/// Source of a zone's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub enum RateSource {
    /// `--node-eviction-rate`: the zone is healthy or new, or none of its nodes is ready while
    /// other zones have ready nodes.
    NodeEvictionRate,
    /// `--secondary-node-eviction-rate`: a large zone that is partially disrupted.
    SecondaryNodeEvictionRate,
    /// Stopped: a partially disrupted zone that is not large (`--large-cluster-size-threshold`).
    SmallZoneStopped,
    /// Stopped: no node of the cluster is ready.
    MasterDisruption,
}

impl RateSource {
    pub(super) fn of(limiter: &RateLimiter, state: Option<ZoneState>) -> Self {
        match (limiter.is_never(), state) {
            (true, Some(ZoneState::FullDisruption)) => Self::MasterDisruption,
            (true, _) => Self::SmallZoneStopped,
            (false, Some(ZoneState::PartialDisruption)) => Self::SecondaryNodeEvictionRate,
            (false, _) => Self::NodeEvictionRate,
        }
    }

    /// Flag that sets the rate, or stops the zone.
    #[must_use]
    pub const fn flag(self) -> Option<&'static str> {
        match self {
            Self::NodeEvictionRate => Some("node-eviction-rate"),
            Self::SecondaryNodeEvictionRate => Some("secondary-node-eviction-rate"),
            Self::SmallZoneStopped => Some("large-cluster-size-threshold"),
            Self::MasterDisruption => None,
        }
    }

    /// The rate of a zone of `size` nodes in words, with its flag.
    pub(super) fn in_words(self, config: &NodeLifecycleConfig, size: usize) -> String {
        let rates = &config.rates;
        let threshold = rates.large_cluster_size_threshold;
        match self {
            Self::NodeEvictionRate => {
                format!("--node-eviction-rate={}", rates.node_eviction_rate)
            }
            Self::SecondaryNodeEvictionRate => format!(
                "--secondary-node-eviction-rate={}: partially disrupted, and {size} nodes > \
             --large-cluster-size-threshold={threshold}",
                rates.secondary_node_eviction_rate
            ),
            Self::SmallZoneStopped => format!(
                "0: partially disrupted, and {size} nodes <= --large-cluster-size-threshold={threshold}"
            ),
            Self::MasterDisruption => "0: no node of the cluster is ready".into(),
        }
    }
}
