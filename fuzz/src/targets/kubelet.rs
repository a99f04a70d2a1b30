//! KubeletConfiguration as text, and flags of the kubelet.

use taintlab_core::kubelet::{KubeletConfiguration, KubeletVersion};
use taintlab_core::release::{FeatureGates, KubernetesRelease};
use taintlab_manifest::{Limits, read_value, to_yaml};

use super::check_places;
use crate::mutate::{Bytes, text};
use crate::show;

const SEEDS: &[&str] = &[
    "evictionHard: {memory.available: 100Mi, nodefs.available: 10%, imagefs.available: 15%}\n\
     evictionSoft: {memory.available: 300Mi}\n\
     evictionSoftGracePeriod: {memory.available: 1m30s}\n\
     evictionMinimumReclaim:\n  memory.available: 0Mi\n  nodefs.available: 500Mi\n\
     evictionMaxPodGracePeriod: 60\n\
     evictionPressureTransitionPeriod: 5m0s\n",
    "evictionHard:\n  memory.available: 5%\n  pid.available: \"10\"\n  nodefs.inodesFree: 5%\n  \
     imagefs.inodesFree: 1k\n  allocatableMemory.available: 1Gi\n  containerfs.available: 5%\n\
     mergeDefaultEvictionSettings: true\n\
     enforceNodeAllocatable: [pods, system-reserved]\n\
     kernelMemcgNotification: true\nlocalStorageCapacityIsolation: false\n",
    "shutdownGracePeriod: 30s\nshutdownGracePeriodCriticalPods: 10s\n\
     featureGates: {GracefulNodeShutdown: true, LocalStorageCapacityIsolation: false}\n",
    "shutdownGracePeriodByPodPriority:\n- {priority: 100000, shutdownGracePeriodSeconds: 10}\n\
     - {priority: 0, shutdownGracePeriodSeconds: 60}\n\
     featureGates:\n  GracefulNodeShutdownBasedOnPodPriority: true\n",
];

const FLAGS: &[&str] = &[
    "--eviction-hard\nmemory.available<100Mi,nodefs.available<10%",
    "eviction-soft\nmemory.available<1.5Gi",
    "--eviction-soft-grace-period\nmemory.available=1m30s",
    "--eviction-minimum-reclaim\nmemory.available=0Mi,nodefs.available=500Mi",
    "--eviction-max-pod-grace-period\n60",
    "--eviction-pressure-transition-period\n5m",
    "--kernel-memcg-notification\ntrue",
    "--enforce-node-allocatable\npods,kube-reserved",
    "--local-storage-capacity-isolation\nfalse",
];

const WORDS: &[&str] = &[
    "memory.available",
    "nodefs.available",
    "imagefs.inodesFree",
    "pid.available",
    "containerfs.available",
    "10%",
    "100%",
    "0%",
    "-5%",
    "1e3",
    "1.5Gi",
    "-1h",
    "1h30m",
    "evictionHard",
    "evictionSoft",
    "none",
    "pods",
    "2147483647",
    "-2147483648",
    "9223372036854775807",
];

/// Reads a configuration: the same once it is written and read again, and the same thresholds if its
/// flags are given instead; or an error with its place.
pub fn run(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let releases: Vec<KubernetesRelease> = KubernetesRelease::all().collect();
    let release = *bytes.pick(&releases);
    let version =
        if bytes.one_in(6) { KubeletVersion::QosEra } else { KubeletVersion::Release(release) };
    if bytes.one_in(3) {
        let text = text(&mut bytes, FLAGS, WORDS, 1_000);
        show("flag", &text);
        let (name, value) = text.split_once('\n').unwrap_or((&text, ""));
        let mut configuration = KubeletConfiguration::default();
        match configuration.set_flag(version, name, value) {
            Ok(()) => check(&configuration, version, release),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        return;
    }
    let text = text(&mut bytes, SEEDS, WORDS, 2_000);
    show("configuration", &text);
    match read_value::<KubeletConfiguration>(&text, "k", &Limits::default()) {
        Ok(configuration) => check(&configuration, version, release),
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty());
            check_places(&diagnostics, &text, "k");
        }
    }
}

fn check(
    configuration: &KubeletConfiguration,
    version: KubeletVersion,
    release: KubernetesRelease,
) {
    let written = to_yaml(configuration).unwrap();
    let again = read_value::<KubeletConfiguration>(&written, "w", &Limits::default());
    assert_eq!(again.as_ref(), Ok(configuration), "{written}");
    let gates = FeatureGates::new(release, []).unwrap();
    if let Ok(shutdown) = configuration.node_shutdown_config(release, &gates) {
        let longest = shutdown.longest();
        assert!(shutdown.periods().iter().all(|period| {
            u64::try_from(period.shutdown_grace_period_seconds).unwrap() <= longest.as_secs()
        }));
    }
    let Ok(config) = configuration.eviction_config(version) else { return };
    // Flags say nothing of gates, and nothing of what goes with the defaults.
    if configuration.feature_gates.is_some()
        || configuration.merge_default_eviction_settings.is_some()
    {
        return;
    }
    let mut by_flags = KubeletConfiguration::default();
    for (name, value) in configuration.flags(version) {
        let set = by_flags.set_flag(version, name, &value);
        assert_eq!(set, Ok(()), "--{name}={value}");
    }
    assert_eq!(by_flags.eviction_config(version).as_ref(), Ok(&config));
}
