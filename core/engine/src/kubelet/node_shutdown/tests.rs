//! The settings, the groups and the status of pods, on both sides of each release that differs.

use alloc::string::ToString;

use taintlab_rules::api::ConditionStatus;

use super::*;

fn release(minor: u8) -> KubernetesRelease {
    KubernetesRelease::new(minor).unwrap()
}

fn configuration(text: &str) -> KubeletConfiguration {
    serde_json::from_str(text).unwrap()
}

/// What a kubelet of a release makes of a configuration: periods as `priority:seconds`.
fn read(minor: u8, text: &str) -> Result<String, String> {
    let release = release(minor);
    let gates = FeatureGates::new(release, []).unwrap();
    let config = configuration(text).node_shutdown_config(release, &gates);
    let config = config.map_err(|error| error.to_string())?;
    let periods = config.periods().iter();
    let text = |period: &ShutdownGracePeriodByPodPriority| {
        format!("{}:{}", period.priority, period.shutdown_grace_period_seconds)
    };
    Ok(periods.map(text).collect::<Vec<_>>().join(" "))
}

#[test]
fn settings_by_release() {
    let two = r#"{"shutdownGracePeriod":"30s","shutdownGracePeriodCriticalPods":"10s"}"#;
    let listed = r#"{"shutdownGracePeriodByPodPriority":[
        {"priority":1000,"shutdownGracePeriodSeconds":120},
        {"priority":0,"shutdownGracePeriodSeconds":60},
        {"priority":100000,"shutdownGracePeriodSeconds":10}]}"#;
    let gated = |gate: &str, text: &str| {
        text.replacen('{', &format!("{{\"featureGates\":{{\"{gate}\":true}},"), 1)
    };
    let without = |gate: &str, text: &str| gated(gate, text).replace("true", "false");
    let needs_gate = "invalid configuration: specifying shutdownGracePeriod or \
                      shutdownGracePeriodCriticalPods requires feature gate GracefulNodeShutdown";
    let needs_other = "invalid configuration: Specifying shutdownGracePeriodByPodPriority requires \
                       feature gate GracefulNodeShutdownBasedOnPodPriority";
    let (alpha, other) = ("GracefulNodeShutdown", "GracefulNodeShutdownBasedOnPodPriority");
    for (minor, text, expected) in [
        (18, "{}", Ok("")),
        (35, "{}", Ok("")),
        (19, two, Ok("")),
        (19, &gated(alpha, two), Ok("")),
        (20, two, Err(needs_gate)),
        (20, &gated(alpha, two), Ok("0:20 2000000000:10")),
        (21, two, Ok("0:20 2000000000:10")),
        (35, two, Ok("0:20 2000000000:10")),
        (22, &without(alpha, two), Err(needs_gate)),
        (35, &without(alpha, two), Err(needs_gate)),
        (22, listed, Ok("")),
        (22, &gated(other, listed), Ok("")),
        (23, listed, Err(needs_other)),
        (23, &gated(other, listed), Ok("0:60 1000:120 100000:10")),
        (24, listed, Ok("0:60 1000:120 100000:10")),
        (30, r#"{"shutdownGracePeriod":"30s"}"#, Ok("0:30 2000000000:0")),
        (30, r#"{"shutdownGracePeriod":"1500ms"}"#, Ok("0:1 2000000000:0")),
    ] {
        let got = read(minor, text);
        assert_eq!(got.as_deref().map_err(String::as_str), expected, "1.{minor} {text}");
    }
}

#[test]
fn settings_that_cannot_be() {
    for (text, expected) in [
        (
            r#"{"shutdownGracePeriod":"10s","shutdownGracePeriodCriticalPods":"30s"}"#,
            "shutdownGracePeriodCriticalPods 30s must be <= shutdownGracePeriod 10s",
        ),
        (
            r#"{"shutdownGracePeriodCriticalPods":"30s"}"#,
            "shutdownGracePeriodCriticalPods 30s must be <= shutdownGracePeriod 0s",
        ),
        (
            r#"{"shutdownGracePeriod":"500ms"}"#,
            "shutdownGracePeriod 500ms must be either zero or otherwise >= 1 sec",
        ),
        (
            r#"{"shutdownGracePeriod":"30s","shutdownGracePeriodCriticalPods":"500ms"}"#,
            "shutdownGracePeriodCriticalPods 500ms must be either zero or otherwise >= 1 sec",
        ),
        (
            r#"{"shutdownGracePeriod":"30s","shutdownGracePeriodByPodPriority":[{"priority":0}]}"#,
            "Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the \
             same time",
        ),
        (
            r#"{"shutdownGracePeriodByPodPriority":[{"shutdownGracePeriodSeconds":-1}]}"#,
            "shutdownGracePeriodByPodPriority: shutdownGracePeriodSeconds -1 of priority 0 must be \
             0 or more",
        ),
    ] {
        let error = read(35, text).unwrap_err();
        assert_eq!(error.strip_prefix("invalid configuration: "), Some(expected), "{text}");
    }
}

#[test]
fn periods_that_somebody_gives_need_the_gate() {
    let span = |seconds| Some(Span(Duration::from_secs(seconds)));
    for (minor, gate, expected) in
        [(19, false, 0), (20, false, 0), (20, true, 30), (21, false, 30), (35, false, 30)]
    {
        let release = release(minor);
        let gates = [(FeatureGate::GracefulNodeShutdown.name(), true)];
        let gates = FeatureGates::new(release, gates.into_iter().filter(|_| gate)).unwrap();
        let config = NodeShutdownConfig::given(release, &gates, span(30), span(10)).unwrap();
        assert_eq!(config.longest(), Duration::from_secs(expected), "1.{minor}");
        assert_eq!(config.is_off(), expected == 0, "1.{minor}");
        let nothing = NodeShutdownConfig::given(release, &gates, None, None).unwrap();
        assert!(nothing.is_off());
        let wrong = NodeShutdownConfig::given(release, &gates, span(1), span(2)).unwrap_err();
        assert!(wrong.to_string().contains("2s must be <= shutdownGracePeriod 1s"), "{wrong}");
    }
}

/// Pods by name, priority, whether they are static, and `terminationGracePeriodSeconds`.
const PODS: [(&str, Option<i32>, bool, Option<i64>); 8] = [
    ("negative", Some(-5), false, Some(5)),
    ("usual", None, false, None),
    ("slow", Some(999), false, Some(600)),
    ("thousand", Some(1_000), false, Some(0)),
    ("below", Some(99_999), false, Some(120)),
    ("static", None, true, Some(30)),
    ("critical", Some(2_000_000_000), false, Some(30)),
    ("node-critical", Some(2_000_001_000), false, Some(-1)),
];

/// The groups of a release: `priority in period after not_before: pod=grace …`.
fn groups(minor: u8, config: &str) -> Vec<String> {
    let release = release(minor);
    let names = FeatureGate::ALL.into_iter().filter(|gate| gate.stage(release) == GateStage::Off);
    let gates = FeatureGates::new(release, names.map(|gate| (gate.name(), true))).unwrap();
    let config = configuration(config).node_shutdown_config(release, &gates).unwrap();
    let pods: Vec<(PodKey, Pod)> = PODS
        .into_iter()
        .map(|(name, priority, is_static, grace)| {
            let key = PodKey::new("default", name);
            let mut pod = Pod::default();
            pod.metadata.name = name.into();
            pod.metadata.namespace = "default".into();
            pod.spec.termination_grace_period_seconds = grace;
            if let Some(priority) = priority {
                pod.spec.other.set("priority", priority.into());
            }
            if is_static {
                let source = ("kubernetes.io/config.source".into(), "file".into());
                pod.metadata.annotations.extend([source]);
            }
            (key, pod)
        })
        .collect();
    let groups = config.groups(release, pods.iter().map(|(key, pod)| (key, pod)));
    let line = |group: ShutdownGroup| {
        let pods = group.pods.iter().map(|(key, grace)| format!(" {}={grace}", key.name()));
        let (period, after) = (group.period.as_secs(), group.not_before.as_secs());
        format!("{} in {period} after {after}:{}", group.priority, pods.collect::<String>())
    };
    groups.into_iter().map(line).collect()
}

#[test]
fn pods_end_in_groups_by_priority() {
    let two = r#"{"shutdownGracePeriod":"40s","shutdownGracePeriodCriticalPods":"10s"}"#;
    for minor in [20, 22] {
        assert_eq!(
            groups(minor, two),
            [
                "0 in 30 after 0: negative=5 usual=30 slow=30 thousand=0 below=30",
                "2000000000 in 10 after 30: static=10 critical=10 node-critical=0",
            ],
            "1.{minor}"
        );
    }
    for minor in [23, 35] {
        assert_eq!(
            groups(minor, two),
            [
                "0 in 30 after 0: negative=5 usual=30 slow=30 thousand=0 below=30 static=30",
                "2000000000 in 10 after 0: critical=10 node-critical=0",
            ],
            "1.{minor}"
        );
    }
    let listed = r#"{"shutdownGracePeriodByPodPriority":[
        {"priority":100000,"shutdownGracePeriodSeconds":10},
        {"priority":5000,"shutdownGracePeriodSeconds":11},
        {"priority":1000,"shutdownGracePeriodSeconds":60},
        {"priority":7,"shutdownGracePeriodSeconds":180}]}"#;
    assert_eq!(
        groups(24, listed),
        [
            "7 in 180 after 0: negative=5 usual=30 slow=180 static=30",
            "1000 in 60 after 0: thousand=0",
            "5000 in 11 after 0: below=11",
            "100000 in 10 after 0: critical=10 node-critical=0",
        ]
    );
}

#[test]
fn period_of_a_pod() {
    let gates = FeatureGates::default();
    let config = configuration(r#"{"shutdownGracePeriod":"40s"}"#);
    let config = config.node_shutdown_config(release(35), &gates).unwrap();
    let mut pod = Pod::default();
    assert_eq!(config.period_of(release(35), &pod), Some(Duration::from_secs(40)));
    pod.spec.other.set("priority", 2_000_000_000.into());
    assert_eq!(config.period_of(release(35), &pod), Some(Duration::ZERO));
    assert_eq!(NodeShutdownConfig::default().period_of(release(35), &pod), None);
}

#[test]
fn status_of_pods_by_release() {
    let time = Time::from_unix_seconds(60);
    let pod = |policy: Option<&str>| {
        let mut pod = Pod::default();
        pod.status.phase = PodPhase::Running;
        for condition in ["PodScheduled", "Ready", "ContainersReady"] {
            pod.set_condition(condition, true, "", "", Time::from_unix_seconds(1));
        }
        if let Some(policy) = policy {
            pod.spec.other.set("restartPolicy", policy.into());
        }
        pod
    };
    let text = |pod: &Pod| {
        let conditions = pod.status.conditions.iter().map(|condition| {
            let holds = condition.status == ConditionStatus::True;
            format!(" {}{}", if holds { "" } else { "!" }, condition.type_)
        });
        let (phase, reason) = (&pod.status.phase, &pod.status.reason);
        format!("{phase:?} {reason:?}{}", conditions.collect::<String>())
    };
    // When its containers are told to end; when they have.
    for (minor, policy, ending, ended) in [
        (21, None, r#"Failed "Shutdown""#, r#"Failed "Shutdown""#),
        (
            22,
            None,
            r#"Running "Terminated" PodScheduled Ready ContainersReady"#,
            r#"Running "Terminated" PodScheduled !Ready !ContainersReady"#,
        ),
        (
            23,
            Some("OnFailure"),
            r#"Running "Terminated" PodScheduled Ready ContainersReady"#,
            r#"Running "Terminated" PodScheduled !Ready !ContainersReady"#,
        ),
        (
            23,
            Some("Never"),
            r#"Running "Terminated" PodScheduled Ready ContainersReady"#,
            r#"Failed "Terminated" PodScheduled !Ready !ContainersReady"#,
        ),
        (
            24,
            None,
            r#"Running "" PodScheduled Ready ContainersReady"#,
            r#"Failed "Terminated" PodScheduled !Ready !ContainersReady"#,
        ),
        (
            25,
            None,
            r#"Running "" PodScheduled Ready ContainersReady"#,
            r#"Failed "Terminated" PodScheduled !Ready !ContainersReady"#,
        ),
        (
            26,
            None,
            r#"Running "" PodScheduled Ready ContainersReady"#,
            r#"Failed "Terminated" PodScheduled !Ready !ContainersReady DisruptionTarget"#,
        ),
        (
            35,
            Some("Never"),
            r#"Running "" PodScheduled Ready ContainersReady"#,
            r#"Failed "Terminated" PodScheduled !Ready !ContainersReady DisruptionTarget"#,
        ),
    ] {
        let mut pod = pod(policy);
        mark_ending(release(minor), &mut pod);
        assert_eq!(text(&pod), ending, "1.{minor} {policy:?}");
        mark_ended(release(minor), true, &mut pod, time);
        assert_eq!(text(&pod), ended, "1.{minor} {policy:?}");
    }
    let mut ungated = pod(None);
    mark_ended(release(30), false, &mut ungated, time);
    assert_eq!(ungated.condition("DisruptionTarget"), None);
    let mut failed = pod(None);
    mark_ended(release(35), true, &mut failed, time);
    let target = failed.condition("DisruptionTarget").unwrap();
    assert_eq!(target.reason, "TerminationByKubelet");
    let message = "Pod was terminated in response to imminent node shutdown.";
    assert_eq!([&*target.message, &*failed.status.message], [message, message]);
    let mut succeeded = pod(None);
    succeeded.status.phase = PodPhase::Succeeded;
    mark_ended(release(35), true, &mut succeeded, time);
    assert_eq!(succeeded.status.phase, PodPhase::Succeeded);
    let mut old = pod(None);
    mark_ending(release(21), &mut old);
    assert_eq!(old.status.message, "Node is shutting, evicting pods");
}
