//! Flags of kube-controller-manager for this controller.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use taintlab_rules::protocol::FlagError;
use taintlab_rules::protocol::zone::EvictionRates;
use taintlab_rules::release::KubernetesRelease;
use taintlab_rules::time::{format_duration, parse_duration};

/// Default rate of a client. Mirrors `rest.DefaultQPS`.
pub(super) const DEFAULT_QPS: f32 = 5.0;

/// Shortest `--node-monitor-period`: without a pause the controller would do nothing else.
const LEAST_PERIOD: Duration = Duration::from_millis(1);

/// Configuration of the controller: flags of kube-controller-manager.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeLifecycleConfig {
    /// `--node-monitor-period`: time between two health passes.
    pub node_monitor_period: Duration,
    /// `--node-monitor-grace-period`: time allowed without heartbeats.
    pub node_monitor_grace_period: Duration,
    /// `--node-startup-grace-period`: time allowed without heartbeats for a node that never posted
    /// a Ready condition.
    pub node_startup_grace_period: Duration,
    /// `--node-eviction-rate`, `--secondary-node-eviction-rate` and
    /// `--large-cluster-size-threshold`.
    pub rates: EvictionRates,
    /// `--unhealthy-zone-threshold`: fraction of nodes not ready at which a zone is partially
    /// disrupted.
    pub unhealthy_zone_threshold: f32,
    /// `--enable-taint-manager` (up to 1.26): `false` deletes pods without taints, the legacy path.
    pub enable_taint_manager: bool,
    /// `--pod-eviction-timeout` (up to 1.26): waiting time of the legacy path.
    pub pod_eviction_timeout: Duration,
    /// `--kube-api-qps`: requests per second of the controller's client after its burst; a negative
    /// rate means no limit, and 0 means client-go's default of 5. It is ignored if
    /// [`write_time`](Self::write_time) is zero.
    pub kube_api_qps: f32,
    /// `--kube-api-burst`: requests that the client sends without waiting; 0 means client-go's
    /// default of 10.
    pub kube_api_burst: i32,
    /// Time that a health pass takes to write the status of a node or of a pod; as many nodes as
    /// there are [workers](KubernetesRelease::node_health_workers) are looked at in parallel. Zero
    /// also disables the limit of requests. Not a flag.
    pub write_time: Duration,
    /// Time after the answer to a write in which the controller's informer still has the node as
    /// it was. Not a flag.
    pub informer_lag: Duration,
    /// `--controllers`: `*` for all, `NAME` to switch one on, `-NAME` to switch it off.
    pub controllers: Vec<String>,
}

/// A flag: its name, its release, and functions that print and parse its value.
struct Flag {
    name: &'static str,
    only_with_taint_manager_flag: bool,
    get: fn(&NodeLifecycleConfig) -> String,
    set: fn(&mut NodeLifecycleConfig, KubernetesRelease, &str) -> Result<(), String>,
}

impl NodeLifecycleConfig {
    /// The defaults of a release.
    #[must_use]
    pub fn of(release: KubernetesRelease) -> Self {
        Self {
            node_monitor_period: Duration::from_secs(5),
            node_monitor_grace_period: Duration::from_secs(
                release.node_monitor_grace_period_seconds(),
            ),
            node_startup_grace_period: Duration::from_secs(60),
            rates: EvictionRates::default(),
            unhealthy_zone_threshold: 0.55,
            enable_taint_manager: true,
            pod_eviction_timeout: Duration::from_secs(300),
            kube_api_qps: 20.0,
            kube_api_burst: 30,
            write_time: Duration::ZERO,
            informer_lag: Duration::ZERO,
            controllers: Vec::from(["*".into()]),
        }
    }

    /// Sets the flag `name`, with or without leading dashes, to `value`.
    ///
    /// # Errors
    /// Names the flag and its valid values.
    pub fn set_flag(
        &mut self,
        release: KubernetesRelease,
        name: &str,
        value: &str,
    ) -> Result<(), FlagError> {
        let bare = name.strip_prefix("--").unwrap_or(name);
        let Some(flag) = FLAGS.iter().find(|flag| flag.name == bare) else {
            let known = FLAGS.iter().filter(|flag| flag.exists(release)).map(|flag| flag.name);
            return Err(FlagError::Unknown { name: bare.into(), known: known.collect() });
        };
        if !flag.exists(release) {
            return Err(FlagError::Absent { name: flag.name, release });
        }
        (flag.set)(self, release, value).map_err(|expected| FlagError::Value {
            name: flag.name,
            value: value.into(),
            expected,
        })
    }

    /// Flags of a release with their values as text.
    pub fn flags(
        &self,
        release: KubernetesRelease,
    ) -> impl Iterator<Item = (&'static str, String)> {
        let flags = FLAGS.iter().filter(move |flag| flag.exists(release));
        flags.map(|flag| (flag.name, (flag.get)(self)))
    }

    /// Time that the controller's client needs for all requests about this number of lost nodes and
    /// pods, after its burst: a status, an Event and two taints for each node, and a status and an
    /// Event for each pod.
    #[must_use]
    pub fn client_time(&self, nodes: usize, pods: usize) -> Duration {
        let (qps, burst) = (f64::from(self.kube_api_qps), self.kube_api_burst);
        let requests = nodes.saturating_mul(6).saturating_add(pods.saturating_mul(2));
        let over = requests.saturating_sub(usize::try_from(burst).unwrap_or_default());
        let over = u32::try_from(over).unwrap_or(u32::MAX);
        if qps < 0.0 {
            return Duration::ZERO;
        }
        let qps = if qps > 0.0 { qps } else { f64::from(DEFAULT_QPS) };
        Duration::try_from_secs_f64(f64::from(over) / qps).unwrap_or(Duration::MAX)
    }

    /// The longest time until a node whose kubelet sends no more heartbeats is found lost and
    /// tainted, if the rate of its zone lets it: the grace period, and a pause between two health
    /// passes.
    #[must_use]
    pub fn lost_within(&self) -> Duration {
        self.node_monitor_grace_period + self.node_monitor_period
    }

    /// Whether `--controllers` switches the node lifecycle controller on.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.is_controller_enabled(&["node-lifecycle-controller", "nodelifecycle"])
    }

    /// Whether `--controllers` enables the controller with one of these names. The first entry
    /// about it decides, then `*`. Mirrors `genericcontrollermanager.IsControllerEnabled`.
    #[must_use]
    pub fn is_controller_enabled(&self, names: &[&str]) -> bool {
        for entry in &self.controllers {
            if names.contains(&entry.as_str()) {
                return true;
            }
            if entry.strip_prefix('-').is_some_and(|name| names.contains(&name)) {
                return false;
            }
        }
        self.controllers.iter().any(|entry| entry == "*")
    }
}

impl Flag {
    const fn exists(&self, release: KubernetesRelease) -> bool {
        !self.only_with_taint_manager_flag || release.has_enable_taint_manager_flag()
    }
}

macro_rules! flag {
    ($name:literal, $only:expr, |$c:ident| $field:expr, $print:expr, $read:expr) => {
        Flag {
            name: $name,
            only_with_taint_manager_flag: $only,
            get: |$c| $print(&$field),
            set: |$c, release, text| {
                $field = $read(release, text)?;
                Ok(())
            },
        }
    };
}

const FLAGS: &[Flag] = &[
    flag!("node-monitor-period", false, |c| c.node_monitor_period, print_duration, read_period),
    flag!(
        "node-monitor-grace-period",
        false,
        |c| c.node_monitor_grace_period,
        print_duration,
        read_duration
    ),
    flag!(
        "node-startup-grace-period",
        false,
        |c| c.node_startup_grace_period,
        print_duration,
        read_duration
    ),
    flag!("node-eviction-rate", false, |c| c.rates.node_eviction_rate, f32::to_string, read_rate),
    flag!(
        "secondary-node-eviction-rate",
        false,
        |c| c.rates.secondary_node_eviction_rate,
        f32::to_string,
        read_rate
    ),
    flag!(
        "large-cluster-size-threshold",
        false,
        |c| c.rates.large_cluster_size_threshold,
        i32::to_string,
        read_size
    ),
    flag!(
        "unhealthy-zone-threshold",
        false,
        |c| c.unhealthy_zone_threshold,
        f32::to_string,
        read_fraction
    ),
    flag!("pod-eviction-timeout", true, |c| c.pod_eviction_timeout, print_duration, read_duration),
    flag!("enable-taint-manager", true, |c| c.enable_taint_manager, bool::to_string, read_bool),
    flag!("kube-api-qps", false, |c| c.kube_api_qps, f32::to_string, read_qps),
    flag!("kube-api-burst", false, |c| c.kube_api_burst, i32::to_string, read_burst),
    flag!("controllers", false, |c| c.controllers, print_list, read_controllers),
];

fn print_duration(duration: &Duration) -> String {
    format_duration(*duration)
}

fn print_list(list: &impl AsRef<[String]>) -> String {
    list.as_ref().join(",")
}

fn read_duration(_: KubernetesRelease, text: &str) -> Result<Duration, String> {
    parse_duration(text).map_err(|why| format!("a duration of 0s or more ({why})"))
}

fn read_period(release: KubernetesRelease, text: &str) -> Result<Duration, String> {
    let period = read_duration(release, text)
        .map_err(|expected| expected.replace("0s or more", "1ms or more"))?;
    if period < LEAST_PERIOD {
        return Err("a duration of 1ms or more, for example `5s`".into());
    }
    Ok(period)
}

fn read_float(text: &str, most: f32, expected: &str) -> Result<f32, String> {
    let number: Option<f32> = text.trim().parse().ok();
    number.filter(|number| (0.0..=most).contains(number)).ok_or_else(|| expected.into())
}

fn read_rate(_: KubernetesRelease, text: &str) -> Result<f32, String> {
    read_float(text, f32::MAX, "a number of nodes per second, 0 or more, for example `0.1`")
}

fn read_fraction(_: KubernetesRelease, text: &str) -> Result<f32, String> {
    read_float(text, 1.0, "a fraction from 0 to 1, for example `0.55`")
}

fn read_size(_: KubernetesRelease, text: &str) -> Result<i32, String> {
    let number: Option<i32> = text.trim().parse().ok();
    number
        .filter(|number| *number >= 0)
        .ok_or_else(|| "a whole number of nodes from 0 to 2147483647, for example `50`".into())
}

fn read_qps(_: KubernetesRelease, text: &str) -> Result<f32, String> {
    let number: Option<f32> = text.trim().parse().ok();
    number.filter(|number| number.is_finite()).ok_or_else(|| {
        "a number of requests per second, for example `20`; below 0 for no limit".into()
    })
}

fn read_burst(_: KubernetesRelease, text: &str) -> Result<i32, String> {
    let number: Option<i32> = text.trim().parse().ok();
    number
        .filter(|number| *number >= 0)
        .ok_or_else(|| "a whole number of requests from 0 to 2147483647, for example `30`".into())
}

fn read_bool(_: KubernetesRelease, text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err("`true` or `false`".into()),
    }
}

fn read_controllers(release: KubernetesRelease, text: &str) -> Result<Vec<String>, String> {
    let entries: Vec<String> = text.split(',').map(|entry| entry.trim().to_string()).collect();
    let is_name = |entry: &str| {
        entry.starts_with(|c: char| c.is_ascii_lowercase())
            && entry.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    let fits = |entry: &String| entry == "*" || is_name(entry.strip_prefix('-').unwrap_or(entry));
    if entries.iter().all(fits) {
        return Ok(entries);
    }
    let name = release.node_lifecycle_controller_name();
    Err(format!(
        "a list of `*` (all), `NAME` (on) and `-NAME` (off) with commas, for example `*,-{name}`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(minor: u8) -> KubernetesRelease {
        KubernetesRelease::new(minor).unwrap()
    }

    #[test]
    fn defaults_by_release() {
        let text = |minor| {
            let flags = NodeLifecycleConfig::of(release(minor));
            let flags: Vec<_> = flags.flags(release(minor)).collect();
            flags.iter().map(|(name, value)| format!("--{name}={value}")).collect::<Vec<_>>()
        };
        let old = [
            "--node-monitor-period=5s",
            "--node-monitor-grace-period=40s",
            "--node-startup-grace-period=1m0s",
            "--node-eviction-rate=0.1",
            "--secondary-node-eviction-rate=0.01",
            "--large-cluster-size-threshold=50",
            "--unhealthy-zone-threshold=0.55",
            "--pod-eviction-timeout=5m0s",
            "--enable-taint-manager=true",
            "--kube-api-qps=20",
            "--kube-api-burst=30",
            "--controllers=*",
        ];
        assert_eq!(text(18), old);
        assert_eq!(text(26), old);
        let mut new = old.to_vec();
        new.drain(7..9);
        assert_eq!(text(27), new);
        assert_eq!(text(31), new);
        new[1] = "--node-monitor-grace-period=50s";
        assert_eq!(text(32), new);
        assert_eq!(text(35), new);
    }

    #[test]
    fn every_flag_reads_what_it_prints_and_changes_one_thing() {
        for (name, value) in [
            ("--node-monitor-period", "2s"),
            ("node-monitor-grace-period", "20s"),
            ("node-startup-grace-period", "30s"),
            ("node-eviction-rate", "0.5"),
            ("secondary-node-eviction-rate", "0"),
            ("large-cluster-size-threshold", "20"),
            ("unhealthy-zone-threshold", "1"),
            ("pod-eviction-timeout", "30s"),
            ("enable-taint-manager", "false"),
            ("kube-api-qps", "-1"),
            ("kube-api-burst", "50"),
            ("controllers", "*,-nodelifecycle"),
        ] {
            let before = NodeLifecycleConfig::of(release(20));
            let mut config = before.clone();
            config.set_flag(release(20), name, value).unwrap();
            let changed: Vec<_> = config
                .flags(release(20))
                .zip(before.flags(release(20)))
                .filter(|(new, old)| new != old)
                .map(|(new, _)| new)
                .collect();
            assert_eq!(changed, [(name.trim_start_matches('-'), value.to_string())]);
        }
    }

    #[test]
    fn bad_values_name_the_flag_and_what_is_valid() {
        for (name, value, expected) in [
            ("node-monitor-period", "0s", "1ms or more"),
            ("node-monitor-period", "5", "1ms or more (a unit"),
            ("node-monitor-grace-period", "-1s", "0s or more"),
            ("node-eviction-rate", "NaN", "0 or more"),
            ("node-eviction-rate", "-0.1", "0 or more"),
            ("secondary-node-eviction-rate", "inf", "0 or more"),
            ("large-cluster-size-threshold", "2147483648", "0 to 2147483647"),
            ("large-cluster-size-threshold", "-1", "0 to 2147483647"),
            ("unhealthy-zone-threshold", "1.1", "from 0 to 1"),
            ("enable-taint-manager", "yes", "`true` or `false`"),
            ("kube-api-qps", "inf", "below 0 for no limit"),
            ("kube-api-burst", "-1", "0 to 2147483647"),
            ("controllers", "*,", "`*,-nodelifecycle`"),
        ] {
            let mut config = NodeLifecycleConfig::of(release(20));
            let error = config.set_flag(release(20), name, value).unwrap_err().to_string();
            let start = format!("invalid argument \"{value}\" for \"--{name}\" flag: must be ");
            assert!(error.starts_with(&start) && error.contains(expected), "{error}");
            assert_eq!(config, NodeLifecycleConfig::of(release(20)), "{name} {value}");
        }
        let mut config = NodeLifecycleConfig::of(release(27));
        for name in ["pod-eviction-timeout", "enable-taint-manager"] {
            let error = config.set_flag(release(27), name, "1").unwrap_err().to_string();
            assert!(error.contains("Kubernetes 1.27 does not have it"), "{error}");
        }
        for (minor, name) in [(27, "`*,-nodelifecycle`"), (28, "`*,-node-lifecycle-controller`")] {
            let error = config.set_flag(release(minor), "controllers", "").unwrap_err();
            assert!(error.to_string().contains(name), "{error}");
        }
        let error = config.set_flag(release(27), "--nope", "1").unwrap_err().to_string();
        assert!(error.starts_with("unknown flag: --nope;"), "{error}");
        assert!(error.contains("--node-monitor-period") && !error.contains("taint"), "{error}");
    }

    #[test]
    fn the_first_entry_about_a_controller_decides() {
        for (text, enabled) in [
            ("*", true),
            ("*,-nodelifecycle", false),
            ("*,-node-lifecycle-controller", false),
            ("nodelifecycle", true),
            ("deployment", false),
            ("nodelifecycle,-nodelifecycle", true),
            ("-deployment,*", true),
        ] {
            let mut config = NodeLifecycleConfig::of(release(30));
            config.set_flag(release(30), "controllers", text).unwrap();
            assert_eq!(config.is_enabled(), enabled, "{text}");
        }
    }
}
