//! The scenarios that come with the page.

use taintlab_core::scenario::Scenario;
use taintlab_manifest::{Limits, read_scenario};

/// A list of files of `examples/`, by name.
macro_rules! samples {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../examples/", $name, ".yaml")))),+]
    };
}

/// The name and the text of each file.
type Files = &'static [(&'static str, &'static str)];

/// The name of the sample cluster.
pub(crate) const SAMPLE: &str = "sample-cluster";

/// The files of `examples/` by subject, the sample cluster first.
pub(crate) const SUBJECTS: &[(&str, Files)] = &[
    ("To begin with", samples!["sample-cluster", "service-in-an-outage",]),
    (
        "Taints and tolerations",
        samples![
            "default-tolerations",
            "three-effects",
            "toleration-is-not-attraction",
            "truth-table-of-matching",
            "order-of-tolerations",
            "two-taints",
            "taint-removed-in-time",
            "lengthen-toleration-in-flight",
            "shorten-toleration-in-flight",
            "small-toleration-seconds",
            "zero-and-negative-seconds",
            "numeric-tolerations",
            "gpu-fails",
            "gpu-replacement",
            "gpu-pool-in-quarantine",
            "device-toleration-in-the-wrong-place",
            "daemonset-pods-stay",
            "node-deleted-while-timer-runs",
            "timer-follows-the-name",
            "controller-restarts",
            "delete-fails-five-times",
            "two-taints-one-removed-1.18",
            "two-taints-one-removed-1.20",
            "lost-eviction-1.32",
            "lost-eviction-1.33",
        ],
    ),
    (
        "What becomes of a service",
        samples![
            "statefulset-waits-deployment-does-not",
            "out-of-service-taint",
            "pods-of-a-deleted-node",
            "bare-pod-vanishes",
            "disruption-budget-is-not-asked",
            "evicted-again-and-again",
            "nowhere-to-go",
            "preemption-in-an-outage",
            "taint-plus-affinity",
            "changed-default-toleration-seconds",
            "daemonset-on-every-node",
            "descheduler-and-no-schedule",
            "cordon-under-a-descheduler",
            "autoscaler-after-an-outage",
            "daemonset-max-surge",
            "surge-with-a-host-port",
            "job-limit-per-index",
            "jobs-in-an-outage",
        ],
    ),
    (
        "Taints that others write",
        samples![
            "cloud-controller-waits-for-itself",
            "startup-taint-comes-back",
            "spot-notice-taint",
            "spot-notice-drain",
            "quarantine-node-by-node",
        ],
    ),
    (
        "A node is lost",
        samples![
            "why-345-seconds",
            "kubelets-drift-apart",
            "one-second-still-takes-a-minute",
            "kubelet-reports-not-ready",
            "stuck-terminating",
            "flapping-kubelet",
            "kubelet-restarts-1.30",
            "node-that-never-reports",
            "pressure-taints-do-not-evict",
            "controller-manager-restarts",
            "pod-eviction-timeout-1.26",
        ],
    ),
    (
        "A node is shut down",
        samples![
            "terminated-pods-after-a-restart",
            "shutdown-by-priority",
            "shutdown-without-grace",
            "shutdown-1.22",
        ],
    ),
    (
        "Volumes",
        samples![
            "volume-on-a-dead-node",
            "volume-of-a-deployment",
            "volume-out-of-service",
            "volume-in-another-zone",
            "volume-bound-too-early",
        ],
    ),
    (
        "Zones and rates",
        samples![
            "one-zone-of-three",
            "one-large-zone-of-three",
            "every-zone-lost-and-back",
            "tainted-in-the-pass-of-a-total-outage",
            "recovery-storm",
            "two-nodes-of-two",
            "two-nodes-of-three",
            "three-nodes-of-five",
            "sixty-percent-of-50-nodes",
            "sixty-percent-of-51-nodes",
            "499-of-500-nodes",
            "control-plane-nodes-count",
        ],
    ),
    (
        "A node runs out",
        samples![
            "who-goes-first",
            "soft-threshold-blocks-hard",
            "minimum-reclaim",
            "evicted-too-much",
            "evicted-too-late",
            "transition-period",
        ],
    ),
    (
        "The same outage, release by release",
        samples!["same-outage-1.18", "same-outage-1.26", "same-outage-1.31", "same-outage-1.35",],
    ),
];

/// All samples: name and text.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    SUBJECTS.iter().flat_map(|(_, files)| files.iter().copied())
}

/// The sample of that name.
///
/// # Errors
/// No sample has that name, or it cannot be read.
pub(crate) fn read(name: &str) -> Result<Scenario, String> {
    let text = all().find(|(known, _)| *known == name).map(|(_, text)| text);
    let text = text.ok_or_else(|| format!("there is no example `{name}`"))?;
    let mut load = |file: &str| Err(format!("an example has no file such as `{file}`"));
    let read = read_scenario(text, name, &Limits::default(), &mut load);
    let why = || read.diagnostics.first().map(ToString::to_string).unwrap_or_default();
    read.scenario.ok_or_else(why)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_example_is_there() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
        let files: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".yaml"))
            .collect();
        let listed: BTreeSet<String> = all().map(|(name, _)| format!("{name}.yaml")).collect();
        assert_eq!(listed, files);
    }
}
