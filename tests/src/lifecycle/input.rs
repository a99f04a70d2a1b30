//! What nodes and users do in a scenario. All times are seconds.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use taintlab_core::api::{Taint, Toleration};
use taintlab_core::controllers::node_lifecycle::NodeLifecycleConfig;
use taintlab_core::controllers::node_lifecycle::zone::EvictionRates;
use taintlab_core::release::KubernetesRelease;

use crate::nullable::nullable;

/// The release that was recorded as `1.20.2`.
pub const BEHAVIOUR_1_20: u8 = 20;
/// The release that was recorded as `current`.
pub const BEHAVIOUR_CURRENT: u8 = 33;

/// Nodes, pods and flags.
#[derive(Clone, Deserialize)]
pub struct Scenario {
    /// The flags.
    pub config: Config,
    /// How long it is.
    pub duration: u64,
    /// The nodes.
    pub nodes: Vec<InputNode>,
    /// The pods.
    #[serde(default, deserialize_with = "nullable")]
    pub pods: Vec<InputPod>,
}

/// The flags, in seconds.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// `--node-monitor-period`.
    pub monitor_period: u64,
    /// `--node-startup-grace-period`.
    pub startup_grace: u64,
    /// `--node-monitor-grace-period`.
    pub monitor_grace: u64,
    /// `--pod-eviction-timeout`.
    pub pod_eviction_timeout: u64,
    /// `--node-eviction-rate`.
    pub qps: f32,
    /// `--secondary-node-eviction-rate`.
    pub secondary_qps: f32,
    /// `--large-cluster-size-threshold`.
    pub large_cluster_threshold: i32,
    /// `--unhealthy-zone-threshold`.
    pub unhealthy_zone_threshold: f32,
    /// `--enable-taint-manager`.
    pub taint_manager: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            monitor_period: 5,
            startup_grace: 60,
            monitor_grace: 40,
            pod_eviction_timeout: 300,
            qps: 0.1,
            secondary_qps: 0.01,
            large_cluster_threshold: 50,
            unhealthy_zone_threshold: 0.55,
            taint_manager: true,
        }
    }
}

impl Config {
    /// As the controller takes them.
    #[must_use]
    pub fn flags(&self, release: KubernetesRelease) -> NodeLifecycleConfig {
        NodeLifecycleConfig {
            node_monitor_period: Duration::from_secs(self.monitor_period),
            node_monitor_grace_period: Duration::from_secs(self.monitor_grace),
            node_startup_grace_period: Duration::from_secs(self.startup_grace),
            rates: EvictionRates {
                node_eviction_rate: self.qps,
                secondary_node_eviction_rate: self.secondary_qps,
                large_cluster_size_threshold: self.large_cluster_threshold,
            },
            unhealthy_zone_threshold: self.unhealthy_zone_threshold,
            enable_taint_manager: self.taint_manager,
            pod_eviction_timeout: Duration::from_secs(self.pod_eviction_timeout),
            ..NodeLifecycleConfig::of(release)
        }
    }
}

/// A node and what it does.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputNode {
    /// Its name.
    pub name: String,
    /// Its labels.
    #[serde(default, deserialize_with = "nullable")]
    pub labels: BTreeMap<String, String>,
    /// `metadata.creationTimestamp`.
    pub created: i64,
    /// When it appears.
    pub join: i64,
    /// When it goes; −1 for never.
    pub leave: i64,
    /// `spec.unschedulable`.
    pub unschedulable: bool,
    /// Its conditions when it appears.
    #[serde(default, deserialize_with = "nullable")]
    pub conditions: Vec<InputCondition>,
    /// Its taints when it appears.
    #[serde(default, deserialize_with = "nullable")]
    pub taints: Vec<Taint>,
    /// When its lease was renewed, if it has one when it appears.
    pub initial_lease: Option<i64>,
    /// When it renews its lease.
    #[serde(default, deserialize_with = "nullable")]
    pub leases: Vec<Repeat>,
    /// When it posts its status.
    #[serde(default, deserialize_with = "nullable")]
    pub posts: Vec<Post>,
    /// A comment.
    #[serde(default, rename = "note")]
    pub _note: Vec<String>,
}

/// A condition of a node.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputCondition {
    /// Its type.
    #[serde(rename = "type")]
    pub type_: String,
    /// Its status.
    pub status: String,
    /// `lastHeartbeatTime`.
    pub last_heartbeat: i64,
    /// `lastTransitionTime`.
    pub last_transition: i64,
}

/// `n` moments from `t` on, `step` apart.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repeat {
    /// The first one.
    pub t: i64,
    /// The time between two.
    pub step: i64,
    /// How many.
    pub n: i64,
}

impl Repeat {
    /// Whether `second` is one of them.
    #[must_use]
    pub const fn has(&self, second: i64) -> bool {
        let after = second - self.t;
        if self.step <= 0 {
            return after == 0 && self.n > 0;
        }
        after >= 0 && after % self.step == 0 && after / self.step < self.n
    }
}

/// Posts of a status.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Post {
    /// The first one.
    pub t: i64,
    /// The time between two.
    pub step: i64,
    /// How many.
    pub n: i64,
    /// Ready.
    pub ready: String,
    /// MemoryPressure.
    pub memory: String,
    /// DiskPressure.
    pub disk: String,
    /// PIDPressure.
    pub pid: String,
}

/// A pod.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputPod {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its node.
    pub node: String,
    /// When it is created.
    pub t: i64,
    /// Whether its condition Ready is true.
    pub ready: bool,
    /// Whether a DaemonSet owns it.
    pub daemonset: bool,
    /// 0 if a delete removes it at once, −1 if it never goes.
    pub grace: i64,
    /// Its tolerations.
    #[serde(default, deserialize_with = "nullable")]
    pub tolerations: Vec<Toleration>,
}
