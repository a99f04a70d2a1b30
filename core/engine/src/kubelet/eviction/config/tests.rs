use alloc::string::ToString;

use taintlab_rules::release::KubernetesRelease;

use super::*;

fn release(minor: u8) -> KubeletVersion {
    KubernetesRelease::new(minor).unwrap().into()
}

fn thresholds(config: &EvictionConfig) -> String {
    let one = |threshold: &Threshold| {
        format!(
            "{}<{}{}",
            threshold.signal,
            threshold.value.describe(),
            if threshold.is_hard() { "" } else { " soft" }
        )
    };
    config.thresholds.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[test]
fn defaults_by_version() {
    let text = |version| thresholds(&EvictionConfig::of(version).unwrap());
    let old = "imagefs.available<15%, memory.available<100Mi, nodefs.available<10%, \
               nodefs.inodesFree<5%, allocatableMemory.available<100Mi";
    assert_eq!(text(KubeletVersion::QosEra), "memory.available<100Mi");
    assert_eq!(text(release(20)), old);
    assert_eq!(text(release(29)), old);
    let new = old.replace("memory.", "imagefs.inodesFree<5%, memory.");
    assert_eq!(
        text(release(30)),
        new.replacen("allocatableimagefs.inodesFree<5%, m", "allocatableM", 1)
    );
    let config = EvictionConfig::of(release(20)).unwrap();
    assert_eq!(config.pressure_transition_period, Duration::from_secs(300));
    assert_eq!(config.max_pod_grace_period_seconds, 0);
    assert!(config.local_storage_capacity_isolation && !config.kernel_memcg_notification);
}

/// The worked example K6.
#[test]
fn flags_are_lists_of_signals() {
    let mut settings = KubeletConfiguration::default();
    let mut set = |name: &str, value: &str| {
        settings.set_flag(release(20), name, value)?;
        let enforced = settings.set_flag(release(20), "enforce-node-allocatable", "none");
        enforced.and_then(|()| settings.eviction_config(release(20)))
    };
    let config = set("--eviction-hard", "memory.available<100Mi, nodefs.available<10%,").unwrap();
    assert_eq!(thresholds(&config), "memory.available<100Mi, nodefs.available<10%");
    let config = set("eviction-hard", "memory.available<1Gi,memory.available<2Gi").unwrap();
    assert_eq!(thresholds(&config), "memory.available<2Gi");
    let config = set("eviction-hard", "").unwrap();
    assert_eq!(thresholds(&config), "");
    let error = set("eviction-hard", "memory.available").unwrap_err();
    assert_eq!(
        error.to_string(),
        "invalid argument \"memory.available\" for \"--eviction-hard\" flag: malformed pair, \
         expect string<string"
    );
    let mut old = KubeletConfiguration::default();
    let twice = "memory.available<1Gi,memory.available<2Gi";
    let error = old.set_flag(KubeletVersion::QosEra, "eviction-hard", twice).unwrap_err();
    assert_eq!(error.to_string(), "found duplicate eviction threshold for signal memory.available");
    let error = old.set_flag(KubeletVersion::QosEra, "eviction-hard", "memory.available>1Gi");
    assert_eq!(
        error.unwrap_err().to_string(),
        "invalid eviction threshold syntax memory.available>1Gi, expected \
         <signal><operator><value>"
    );
}

#[test]
fn every_flag_reads_what_it_prints() {
    for (name, value) in [
        ("eviction-hard", "memory.available<1Gi"),
        ("eviction-soft", "memory.available<2Gi,nodefs.available<15%"),
        ("eviction-soft-grace-period", "memory.available=1m30s"),
        ("eviction-minimum-reclaim", "memory.available=500Mi"),
        ("eviction-max-pod-grace-period", "-1"),
        ("eviction-pressure-transition-period", "30s"),
        ("kernel-memcg-notification", "true"),
        ("enforce-node-allocatable", "pods,system-reserved"),
        ("local-storage-capacity-isolation", "false"),
    ] {
        let before = KubeletConfiguration::default();
        let mut settings = before.clone();
        settings.set_flag(release(30), name, value).unwrap();
        let changed: Vec<_> = settings
            .flags(release(30))
            .zip(before.flags(release(30)))
            .filter(|(new, old)| new != old)
            .map(|(new, _)| new)
            .collect();
        assert_eq!(changed, [(name, value.to_string())]);
    }
}

#[test]
fn errors_are_the_kubelets() {
    for (name, value, message) in [
        ("eviction-max-pod-grace-period", "x", "strconv.ParseInt: parsing \"x\": invalid syntax"),
        (
            "eviction-max-pod-grace-period",
            "3000000000",
            "strconv.ParseInt: parsing \"3000000000\": value out of range",
        ),
        ("eviction-pressure-transition-period", "5", "time: missing unit in duration \"5\""),
        ("kernel-memcg-notification", "yes", "strconv.ParseBool: parsing \"yes\": invalid syntax"),
        ("eviction-soft-grace-period", "a", "malformed pair, expect string=string"),
    ] {
        let mut settings = KubeletConfiguration::default();
        let error = settings.set_flag(release(30), name, value).unwrap_err();
        let start = format!("invalid argument \"{value}\" for \"--{name}\" flag: ");
        assert_eq!(error.to_string(), format!("{start}{message}"));
        assert_eq!(settings, KubeletConfiguration::default());
    }
    let error = KubeletConfiguration::default().set_flag(release(30), "--nope", "").unwrap_err();
    assert!(error.to_string().starts_with("unknown flag: --nope; the flags known here are --evic"));
    let mut settings = KubeletConfiguration::default();
    for (value, message) in [
        ("pods,none", "may not contain additional enforcements when \"none\" is specified"),
        ("pod", "option \"pod\" specified for enforceNodeAllocatable"),
    ] {
        settings.set_flag(release(30), "enforce-node-allocatable", value).unwrap();
        let error = settings.eviction_config(release(30)).unwrap_err().to_string();
        assert!(error.starts_with("invalid configuration: ") && error.contains(message), "{error}");
    }
}

/// The worked example K5, and what changed after it.
#[test]
fn values_by_version() {
    let read = |version, value: &str| {
        let hard = [("memory.available".to_string(), value.to_string())].into();
        let settings = KubeletConfiguration {
            eviction_hard: Some(hard),
            enforce_node_allocatable: Some(Vec::new()),
            ..KubeletConfiguration::default()
        };
        settings
            .eviction_config(version)
            .map(|config| thresholds(&config))
            .map_err(|e| e.to_string())
    };
    let ok = |text: &str| Ok(text.to_string());
    let error = |text: &str| Err(text.to_string());
    assert_eq!(read(release(20), "0%"), ok(""));
    assert_eq!(read(release(20), "100%"), ok(""));
    assert_eq!(read(release(20), "0.0%"), ok("memory.available<0%"));
    assert_eq!(read(release(20), "100.0%"), ok("memory.available<100%"));
    assert_eq!(read(release(20), "101%"), ok("memory.available<101%"));
    let above = "eviction percentage threshold memory.available must be <= 100%: 101%";
    assert_eq!(read(release(21), "101%"), error(above));
    assert_eq!(read(release(20), "10001%"), error(&above.replace("101%", "10001%")));
    assert_eq!(
        read(release(20), "-1%"),
        error("eviction percentage threshold memory.available must be >= 0%: -1%")
    );
    assert_eq!(
        read(KubeletVersion::QosEra, "0%"),
        error("eviction percentage threshold memory.available must be positive: 0%")
    );
    assert_eq!(
        read(release(20), "0"),
        error("eviction threshold memory.available must be positive: 0")
    );
}

#[test]
fn defaults_are_merged_where_that_exists() {
    let settings = KubeletConfiguration {
        eviction_hard: Some([("memory.available".to_string(), "1Gi".to_string())].into()),
        merge_default_eviction_settings: Some(true),
        ..KubeletConfiguration::default()
    };
    let text = |minor| thresholds(&settings.eviction_config(release(minor)).unwrap());
    assert_eq!(text(32), "memory.available<1Gi, allocatableMemory.available<1Gi");
    assert!(text(33).starts_with("imagefs.available<15%, imagefs.inodesFree<5%, memory.avail"));
}
