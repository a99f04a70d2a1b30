//! The part of the kubelet that evicts pods when its node runs low on memory, disk, inodes or
//! process IDs.
//!
//! Mirrors `k8s.io/kubernetes/pkg/kubelet/eviction`.
//!
//! # How to drive it
//!
//! 1. Tell it of every pod of its node: [`handle_pod_update`].
//! 2. Carry out what [`poll_action`] gives until it gives nothing. What is measured goes to
//!    [`handle_stats`] (a simulated node: [`handle_usage`]), every other result to
//!    [`handle_action_result`], and that nothing is left of an evicted pod to
//!    [`handle_pod_cleaned_up`].
//! 3. When [`poll_timeout`] names a moment that has come, call [`handle_timeout`] and go to 2.
//! 4. Ask [`admit`](EvictionManager::admit) about every pod that is bound to the node, and put
//!    [`node_conditions`] into the status of the node with [`post_pressures`].
//!
//! # Passes
//!
//! The kubelet looks at its node every 10 s, and again at once when evicted pods are cleaned up.
//! Here a pass that would change nothing is not run and is no deadline: whoever gives the stats
//! says until when they stay on their side of every threshold ([`Forecast`]), which for a
//! simulated node follows from the curves of usage ([`NodeUsage`]). What a skipped pass would have
//! noted is worked out when it is needed.
//!
//! Where Kubernetes leaves an order open, this engine has one: thresholds by memory first, then
//! hard before soft; conditions in the order of [`Pressure::ALL`]; pods that are equal as they
//! were told.
//!
//! [`handle_pod_update`]: EvictionManager::handle_pod_update
//! [`handle_stats`]: EvictionManager::handle_stats
//! [`handle_usage`]: EvictionManager::handle_usage
//! [`handle_action_result`]: EvictionManager::handle_action_result
//! [`handle_pod_cleaned_up`]: EvictionManager::handle_pod_cleaned_up
//! [`handle_timeout`]: EvictionManager::handle_timeout
//! [`poll_action`]: EvictionManager::poll_action
//! [`poll_timeout`]: EvictionManager::poll_timeout
//! [`node_conditions`]: EvictionManager::node_conditions

mod action;
mod admit;
mod conditions;
mod config;
mod curve;
mod explanation;
mod forecast;
mod golang;
mod local_storage;
mod manager;
mod message;
mod node_usage;
mod observation;
mod parse;
mod passes;
mod phase;
mod pod;
mod pod_match;
mod rank;
mod schedule;
mod signal;
mod stats;
mod synchronize;
mod threshold;
mod usage;
mod version;

pub use self::action::{
    ActionResult, Deadline, EvictionManagerAction, EvictionManagerReport, PodStatusPatch, Reclaim,
};
pub use self::admit::{Admission, AdmittedBecause, admit};
pub use self::conditions::post_pressures;
pub use self::config::{
    ConfigError, EVICTION_MONITORING_PERIOD, EvictionConfig, KubeletConfiguration,
    default_eviction_hard,
};
pub use self::curve::{Point, UsageCurve};
pub use self::explanation::ConditionView;
pub use self::manager::EvictionManager;
pub use self::message::EVICTED;
pub use self::node_usage::NodeUsage;
pub use self::observation::{Observation, Observations};
pub use self::parse::parse_threshold_config;
pub(crate) use self::pod::is_static_pod;
pub use self::pod::{Critical, KubeletPod, SYSTEM_CRITICAL_PRIORITY};
pub use self::pod_match::PodMatch;
pub(crate) use self::pod_match::{UsageRule, first_container, usage_of};
pub use self::rank::{
    Candidate, Change, RankKey, RankReason, RankedPod, Ranking, rank, rank_for_eviction, rank_keys,
};
pub use self::schedule::Forecast;
pub use self::signal::{Layout, Pressure, Signal};
pub use self::stats::{
    ContainerStats, FsStats, MemoryStats, NodeStats, PodStats, RlimitStats, Summary, VolumeStats,
};
pub use self::threshold::{Distance, Threshold, ThresholdState, ThresholdValue};
pub use self::usage::{
    ContainerUsage, NodeCapacity, NodeResource, PodResource, PodUsage, SystemUsage, Unused,
    VolumeUsage,
};
pub use self::version::KubeletVersion;
pub use taintlab_rules::protocol::{DeadlineReason, RequestId};
