//! The settings of a kubelet: its flags, the fields of a KubeletConfiguration, and the thresholds
//! that result from them.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use serde::{Deserialize, Serialize};
use taintlab_rules::order::tree;
use taintlab_rules::quote::go_quote;
use taintlab_rules::time::{Span, format_duration};

use super::golang::parse_signed_duration;
use super::parse::parse_threshold_config;
use super::signal::Signal;
use super::threshold::Threshold;
use super::version::KubeletVersion;
use crate::kubelet::ShutdownGracePeriodByPodPriority;

/// The pause between two passes. Mirrors the kubelet's `evictionMonitoringPeriod`; no flag sets it.
pub const EVICTION_MONITORING_PERIOD: Duration = Duration::from_secs(10);

/// What `--eviction-pressure-transition-period` is if nothing, or zero, is said.
const DEFAULT_TRANSITION_PERIOD: Duration = Duration::from_secs(300);

/// The fields of a `KubeletConfiguration` (`kubelet.config.k8s.io/v1beta1`) that decide about
/// eviction and about what becomes of pods when the node is shut down. A field that is absent has
/// its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default)]
pub struct KubeletConfiguration {
    /// Signals and how much there must be, else pods go at once: `memory.available: 100Mi`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eviction_hard: Option<BTreeMap<String, String>>,
    /// Signals and how much there must be, else pods go after a grace period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eviction_soft: Option<BTreeMap<String, String>>,
    /// The grace period of each soft threshold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eviction_soft_grace_period: Option<BTreeMap<String, String>>,
    /// How much more than the threshold there must be before the kubelet stops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eviction_minimum_reclaim: Option<BTreeMap<String, String>>,
    /// How many seconds a pod has to end when a soft threshold evicts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eviction_max_pod_grace_period: Option<i32>,
    /// How long a condition stays after its last cause is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eviction_pressure_transition_period: Option<Span>,
    /// Whether the kernel wakes the kubelet when memory crosses a threshold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel_memcg_notification: Option<bool>,
    /// Which cgroups are held to what is allocatable; `pods` brings a threshold of their memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enforce_node_allocatable: Option<Vec<String>>,
    /// Whether signals that are not named keep their default (1.35 and later).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merge_default_eviction_settings: Option<bool>,
    /// Whether limits of local storage are enforced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_storage_capacity_isolation: Option<bool>,
    /// How long a shutdown of the node waits for its pods to end, of which
    /// `shutdownGracePeriodCriticalPods` is for critical ones; it does not wait unless given (1.20
    /// and later).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shutdown_grace_period: Option<Span>,
    /// How much of `shutdownGracePeriod`, at its end, is for critical pods; 0s unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shutdown_grace_period_critical_pods: Option<Span>,
    /// How long a shutdown waits for pods by their priority, instead of `shutdownGracePeriod` (1.23
    /// and later). Those of the lowest priority end first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shutdown_grace_period_by_pod_priority: Option<Vec<ShutdownGracePeriodByPodPriority>>,
    /// Feature gates; `AllowOverwriteTerminationGracePeriodSeconds`, `GracefulNodeShutdown`,
    /// `GracefulNodeShutdownBasedOnPodPriority` and `LocalStorageCapacityIsolation` are read here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feature_gates: Option<BTreeMap<String, bool>>,
}

/// What a kubelet goes by. Mirrors `eviction.Config`.
#[derive(Clone, Debug, PartialEq)]
pub struct EvictionConfig {
    /// The thresholds.
    pub thresholds: Vec<Threshold>,
    /// How many seconds a pod has to end when a soft threshold evicts it.
    pub max_pod_grace_period_seconds: i64,
    /// How long a condition stays after its last cause is gone.
    pub pressure_transition_period: Duration,
    /// Whether the kernel wakes the kubelet when memory crosses a threshold.
    pub kernel_memcg_notification: bool,
    /// Whether limits of local storage are enforced.
    pub local_storage_capacity_isolation: bool,
    /// Whether a soft eviction may leave a pod more than its own grace period.
    pub overwrites_grace_period: bool,
    /// Whether the gate `PodDisruptionConditions` is on; it matters from 1.26 on.
    pub pod_disruption_conditions: bool,
}

/// Why a kubelet would not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// No flag has that name.
    UnknownFlag {
        /// The name.
        name: String,
        /// Those there are.
        known: Vec<&'static str>,
    },
    /// The value of a flag cannot be read; the message is the kubelet's.
    Flag {
        /// The name, without dashes.
        name: &'static str,
        /// The value.
        value: String,
        /// What is wrong, in the kubelet's words.
        message: String,
    },
    /// The settings do not go together; the message is the kubelet's.
    Settings(String),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownFlag { name, known } => write!(
                f,
                "unknown flag: --{name}; the flags known here are --{}",
                known.join(", --")
            ),
            Self::Flag { name, value, message } => {
                write!(f, "invalid argument {} for \"--{name}\" flag: {message}", go_quote(value))
            }
            Self::Settings(message) => f.write_str(message),
        }
    }
}

impl core::error::Error for ConfigError {}

impl EvictionConfig {
    /// The defaults of a kubelet.
    ///
    /// # Errors
    /// None: the defaults can be read.
    pub fn of(version: KubeletVersion) -> Result<Self, ConfigError> {
        KubeletConfiguration::default().eviction_config(version)
    }
}

/// The hard thresholds of a kubelet on Linux if nothing is said. Mirrors `DefaultEvictionHard`.
#[must_use]
pub fn default_eviction_hard(version: KubeletVersion) -> BTreeMap<String, String> {
    let mut list: Vec<(Signal, &str)> = Vec::from([(Signal::MemoryAvailable, "100Mi")]);
    if !version.is_qos_era() {
        list.push((Signal::NodeFsAvailable, "10%"));
        list.push((Signal::NodeFsInodesFree, "5%"));
        list.push((Signal::ImageFsAvailable, "15%"));
    }
    if version.rule(false, |release| release.default_imagefs_inodes_threshold()) {
        list.push((Signal::ImageFsInodesFree, "5%"));
    }
    tree(list.into_iter().map(|(signal, value)| (signal.name().into(), value.into())))
}

/// Flags and what they set.
const FLAGS: [&str; 9] = [
    "eviction-hard",
    "eviction-soft",
    "eviction-soft-grace-period",
    "eviction-minimum-reclaim",
    "eviction-max-pod-grace-period",
    "eviction-pressure-transition-period",
    "kernel-memcg-notification",
    "enforce-node-allocatable",
    "local-storage-capacity-isolation",
];
/// The name in 1.5 of `--kernel-memcg-notification`.
const OLD_NOTIFICATION: &str = "experimental-kernel-memcg-notification";

impl KubeletConfiguration {
    /// Sets the flag `name`, written with or without its dashes, to what `value` says. What the
    /// flag said before, or its default, is replaced.
    ///
    /// # Errors
    /// Names the flag, in the kubelet's words.
    pub fn set_flag(
        &mut self,
        version: KubeletVersion,
        name: &str,
        value: &str,
    ) -> Result<(), ConfigError> {
        let bare = name.strip_prefix("--").unwrap_or(name);
        let known = if bare == OLD_NOTIFICATION && version.is_qos_era() {
            "kernel-memcg-notification"
        } else {
            bare
        };
        let Some(name) = FLAGS.into_iter().find(|flag| *flag == known) else {
            return Err(ConfigError::UnknownFlag { name: bare.into(), known: FLAGS.into() });
        };
        self.set(version, name, value).map_err(|message| match message {
            SetError::Flag(message) => ConfigError::Flag { name, value: value.into(), message },
            SetError::Settings(message) => ConfigError::Settings(message),
        })
    }

    fn set(&mut self, version: KubeletVersion, name: &str, value: &str) -> Result<(), SetError> {
        let map = |separator| read_map(version, value, separator);
        match name {
            "eviction-hard" => self.eviction_hard = Some(map('<')?),
            "eviction-soft" => self.eviction_soft = Some(map('<')?),
            "eviction-soft-grace-period" => self.eviction_soft_grace_period = Some(map('=')?),
            "eviction-minimum-reclaim" => self.eviction_minimum_reclaim = Some(map('=')?),
            "eviction-max-pod-grace-period" => {
                self.eviction_max_pod_grace_period = Some(read_int32(value)?);
            }
            "eviction-pressure-transition-period" => {
                let nanos = parse_signed_duration(value)?;
                let nanos = u64::try_from(nanos)
                    .map_err(|_| "must not be less than 0s, for example `5m`".to_owned())?;
                self.eviction_pressure_transition_period = Some(Span(Duration::from_nanos(nanos)));
            }
            "kernel-memcg-notification" => self.kernel_memcg_notification = Some(read_bool(value)?),
            "enforce-node-allocatable" => {
                let list = value.split(',').filter(|key| !key.is_empty()).map(ToOwned::to_owned);
                self.enforce_node_allocatable = Some(list.collect());
            }
            _ => self.local_storage_capacity_isolation = Some(read_bool(value)?),
        }
        Ok(())
    }

    /// The flags with their values, as text.
    pub fn flags(&self, version: KubeletVersion) -> impl Iterator<Item = (&'static str, String)> {
        let text = |map: Option<&BTreeMap<String, String>>, separator: char| {
            let pair = |(key, value): (&String, &String)| format!("{key}{separator}{value}");
            map.into_iter().flatten().map(pair).collect::<Vec<_>>().join(",")
        };
        let hard = self.eviction_hard.clone().unwrap_or_else(|| default_eviction_hard(version));
        let values = [
            text(Some(&hard), '<'),
            text(self.eviction_soft.as_ref(), '<'),
            text(self.eviction_soft_grace_period.as_ref(), '='),
            text(self.eviction_minimum_reclaim.as_ref(), '='),
            self.eviction_max_pod_grace_period.unwrap_or_default().to_string(),
            format_duration(self.transition_period()),
            self.kernel_memcg_notification.unwrap_or_default().to_string(),
            self.enforced(version).join(","),
            self.isolates_local_storage(version).to_string(),
        ];
        FLAGS.into_iter().zip(values)
    }

    fn transition_period(&self) -> Duration {
        let period = self.eviction_pressure_transition_period.map(|span| span.0);
        period.filter(|period| !period.is_zero()).unwrap_or(DEFAULT_TRANSITION_PERIOD)
    }

    fn enforced(&self, version: KubeletVersion) -> Vec<String> {
        let default =
            if version.is_qos_era() { Vec::new() } else { Vec::from(["pods".to_owned()]) };
        self.enforce_node_allocatable.clone().unwrap_or(default)
    }

    /// What the configuration itself says about a feature gate.
    pub(crate) fn gate(&self, name: &str) -> Option<bool> {
        self.feature_gates.as_ref()?.get(name).copied()
    }

    fn isolates_local_storage(&self, version: KubeletVersion) -> bool {
        !version.is_qos_era()
            && self.local_storage_capacity_isolation.unwrap_or(true)
            && self.gate("LocalStorageCapacityIsolation").unwrap_or(true)
    }

    /// What a kubelet makes of these settings.
    ///
    /// # Errors
    /// Why it would not start, in its words.
    pub fn eviction_config(&self, version: KubeletVersion) -> Result<EvictionConfig, ConfigError> {
        let enforced = self.enforced(version);
        validate_enforced(&enforced).map_err(ConfigError::Settings)?;
        let mut hard = match &self.eviction_hard {
            None => default_eviction_hard(version),
            Some(hard) => hard.clone(),
        };
        let merges = self.merge_default_eviction_settings.unwrap_or_default()
            && version.rule(false, |release| release.has_merge_default_eviction_settings());
        if merges {
            for (signal, value) in default_eviction_hard(version) {
                hard.entry(signal).or_insert(value);
            }
        }
        let none = BTreeMap::new();
        let thresholds = parse_threshold_config(
            version,
            &enforced,
            &hard,
            self.eviction_soft.as_ref().unwrap_or(&none),
            self.eviction_soft_grace_period.as_ref().unwrap_or(&none),
            self.eviction_minimum_reclaim.as_ref().unwrap_or(&none),
        )
        .map_err(ConfigError::Settings)?;
        let overwrites = self.gate("AllowOverwriteTerminationGracePeriodSeconds");
        Ok(EvictionConfig {
            thresholds,
            max_pod_grace_period_seconds: self
                .eviction_max_pod_grace_period
                .unwrap_or_default()
                .into(),
            pressure_transition_period: self.transition_period(),
            kernel_memcg_notification: self.kernel_memcg_notification.unwrap_or_default(),
            local_storage_capacity_isolation: self.isolates_local_storage(version),
            overwrites_grace_period: overwrites.unwrap_or_default()
                && version.rule(false, |release| release.allows_overwriting_grace_period()),
            pod_disruption_conditions: true,
        })
    }
}

/// Mirrors the checks of `ValidateKubeletConfiguration`.
fn validate_enforced(enforced: &[String]) -> Result<(), String> {
    for key in enforced {
        if !matches!(key.as_str(), "pods" | "system-reserved" | "kube-reserved" | "none") {
            return Err(format!(
                "invalid configuration: option {} specified for enforceNodeAllocatable \
                 (--enforce-node-allocatable). Valid options are \"pods\", \"system-reserved\", \
                 \"kube-reserved\", or \"none\"",
                go_quote(key)
            ));
        }
    }
    if enforced.len() > 1 && enforced.iter().any(|key| key == "none") {
        return Err("invalid configuration: enforceNodeAllocatable (--enforce-node-allocatable) \
                    may not contain additional enforcements when \"none\" is specified"
            .to_owned());
    }
    Ok(())
}

enum SetError {
    Flag(String),
    Settings(String),
}

impl From<String> for SetError {
    fn from(message: String) -> Self {
        Self::Flag(message)
    }
}

/// Reads `signal<value,…` or `signal=value,…`. Mirrors `LangleSeparatedMapStringString.Set` and
/// `MapStringString.Set`: a signal that is named again has its last value. In 1.5 the text was read
/// later, blanks counted, and a second value was an error.
fn read_map(
    version: KubeletVersion,
    text: &str,
    separator: char,
) -> Result<BTreeMap<String, String>, SetError> {
    let mut map = BTreeMap::new();
    for pair in text.split(',') {
        if version.is_qos_era() {
            if text.is_empty() {
                break;
            }
            let parts: Vec<&str> = pair.split(separator).collect();
            let [signal, value] = parts.as_slice() else {
                let expected = if separator == '<' {
                    format!(
                        "invalid eviction threshold syntax {pair}, expected \
                         <signal><operator><value>"
                    )
                } else {
                    format!("invalid eviction syntax {pair}, expected <signal>=<value>")
                };
                return Err(SetError::Settings(expected));
            };
            if map.insert((*signal).to_owned(), (*value).to_owned()).is_some() {
                return Err(SetError::Settings(format!(
                    "found duplicate eviction threshold for signal {signal}"
                )));
            }
        } else if !pair.is_empty() {
            let Some((signal, value)) = pair.split_once(separator) else {
                return Err(SetError::Flag(format!(
                    "malformed pair, expect string{separator}string"
                )));
            };
            map.insert(signal.trim().to_owned(), value.trim().to_owned());
        }
    }
    Ok(map)
}

fn read_int32(text: &str) -> Result<i32, String> {
    text.parse().map_err(|_| {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let why = if is_number { "value out of range" } else { "invalid syntax" };
        format!("strconv.ParseInt: parsing {}: {why}", go_quote(text))
    })
}

fn read_bool(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(format!("strconv.ParseBool: parsing {}: invalid syntax", go_quote(text))),
    }
}

#[cfg(test)]
#[path = "config/tests.rs"]
mod tests;
