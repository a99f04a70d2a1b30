//! What admission adds to new pods and nodes: the examples of `docs/behaviours.md`, with the values
//! of the plugins' own tests.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use taintlab_core::api::{Node, Pod, QosClass, Toleration};
use taintlab_core::policy::admission::{
    AdmissionConfig, AdmissionPlugin, PodAdmission, TolerationRestriction,
    add_daemon_pod_tolerations, admit, admit_node, is_superset, merge_tolerations,
};
use taintlab_core::release::KubernetesRelease;
use taintlab_tests::notation;

const MEMORY: &str = "node.kubernetes.io/memory-pressure:NoSchedule op=Exists";

fn pod(spec: Value) -> Pod {
    serde_json::from_value(json!({"metadata": {"name": "p"}, "spec": spec})).unwrap()
}

fn tolerating(text: &str) -> Pod {
    let mut pod = pod(json!({}));
    pod.spec.tolerations = list(text).into();
    pod
}

fn list(text: &str) -> Vec<Toleration> {
    let text = text
        .replace("not-ready", "node.kubernetes.io/not-ready")
        .replace("unreachable", "node.kubernetes.io/unreachable");
    notation::tolerations(&text).unwrap()
}

fn words(tolerations: &[Toleration]) -> Vec<String> {
    tolerations.iter().map(ToString::to_string).collect()
}

fn admitted(config: &AdmissionConfig, pod: &Pod) -> PodAdmission {
    admit(config, KubernetesRelease::NEWEST, pod, &BTreeMap::new()).unwrap()
}

/// `TestForgivenessAdmission`, and A1 to A4.
#[test]
fn forgiveness_admission() {
    for (name, before, after) in [
        (
            "A1 pod has no tolerations, expect add tolerations for both",
            "",
            "not-ready/300 unreachable/300",
        ),
        ("pod has an unrelated toleration", "foo/inf", "foo/inf not-ready/300 unreachable/300"),
        ("A2 not-ready with a value covers", "not-ready=x/inf", "not-ready=x/inf unreachable/300"),
        ("not-ready without an effect covers", "not-ready:/inf", "not-ready:/inf unreachable/300"),
        (
            "not-ready of another effect does not",
            "not-ready:NoSchedule/inf",
            "not-ready:NoSchedule/inf not-ready/300 unreachable/300",
        ),
        ("A4 unreachable for long", "unreachable/6000", "unreachable/6000 not-ready/300"),
        ("not-ready for no time", "not-ready/0", "not-ready/0 unreachable/300"),
        ("pod has both", "unreachable/700 not-ready/700", "unreachable/700 not-ready/700"),
        ("A3 wildcard", "*:/inf", "*:/inf"),
        ("wildcard of NoExecute", "*/inf", "*/inf"),
        (
            "A3 wildcard of NoSchedule",
            "*:NoSchedule/inf",
            "*:NoSchedule/inf not-ready/300 unreachable/300",
        ),
    ] {
        let admission = admitted(&AdmissionConfig::default(), &tolerating(before));
        assert_eq!(words(&admission.tolerations), words(&list(after)), "{name}");
        let added = admission.tolerations.len() - list(before).len();
        assert_eq!(admission.additions.len(), added, "{name}");
    }
}

#[test]
fn flags_decide_the_seconds() {
    let config: AdmissionConfig = serde_json::from_value(json!({
        "defaultNotReadyTolerationSeconds": -1, "defaultUnreachableTolerationSeconds": 7,
    }))
    .unwrap();
    let admission = admitted(&config, &tolerating(""));
    let seconds: Vec<_> = admission.tolerations.iter().map(|t| t.toleration_seconds).collect();
    assert_eq!(seconds, [Some(-1), Some(7)]);
    assert!(admission.additions[0].because.contains("not-ready:NoExecute"));
    let off = AdmissionConfig { default_toleration_seconds: false, ..config };
    assert!(admitted(&off, &tolerating("")).additions.is_empty());
}

/// A6, and `TestAdmit` of ExtendedResourceToleration.
#[test]
fn extended_resources_are_tolerated_in_order() {
    let spec = json!({
        "tolerations": [{"key": "example.com/tpu", "operator": "Exists", "effect": "NoSchedule"}],
        "containers": [
            {"name": "a", "resources": {"requests": {"example.com/gpu": 1, "cpu": 1}}},
            {"name": "b", "resources": {"limits": {"example.com/tpu": 1, "kubernetes.io/x": 1}}}],
        "initContainers": [{"name": "i", "resources": {"requests": {
            "example.com/fpga": "2", "requests.example.com/no": 1, "hugepages-2Mi": 1}}}],
        "ephemeralContainers": [{"name": "e", "resources": {"requests": {"example.com/e": 1}}}],
    });
    let config = AdmissionConfig { default_toleration_seconds: false, ..Default::default() };
    assert!(admitted(&config, &pod(spec.clone())).additions.is_empty(), "off by default");
    let config = AdmissionConfig { extended_resource_toleration: true, ..config };
    let admission = admitted(&config, &pod(spec));
    assert_eq!(
        words(&admission.tolerations),
        ["tpu", "fpga", "gpu"].map(|name| format!("example.com/{name}:NoSchedule op=Exists"))
    );
    assert_eq!(admission.additions.len(), 2);
    assert_eq!(admission.additions[0].plugin, AdmissionPlugin::ExtendedResourceToleration);
}

/// A7.
#[test]
fn new_nodes_are_tainted() {
    let config = AdmissionConfig::default();
    for (taints, added) in [
        ("", true),
        ("node.kubernetes.io/not-ready=x:NoSchedule", false),
        ("node.kubernetes.io/not-ready:NoExecute", true),
    ] {
        let node: Node = notation::node("n", notation::taints(taints).unwrap());
        let addition = admit_node(&config, &node);
        assert_eq!(addition.is_some(), added, "{taints}");
        if let Some(addition) = addition {
            assert_eq!(addition.added.to_string(), "node.kubernetes.io/not-ready:NoSchedule");
            assert_eq!(addition.added.time_added, None);
        }
    }
    let off = AdmissionConfig { taint_nodes_by_condition: false, ..config };
    assert_eq!(admit_node(&off, &notation::node("n", Vec::new())), None);
}

/// A5, and the table of `AddOrUpdateDaemonPodTolerations`.
#[test]
fn daemon_pods_tolerate_what_nodes_suffer() {
    let mut tolerations = list("a/1 not-ready/60");
    let additions = add_daemon_pod_tolerations(&mut tolerations, false);
    assert_eq!(
        words(&tolerations),
        [
            "a:NoExecute op=Exists for 1s",
            "node.kubernetes.io/not-ready:NoExecute op=Exists",
            "node.kubernetes.io/unreachable:NoExecute op=Exists",
            "node.kubernetes.io/disk-pressure:NoSchedule op=Exists",
            MEMORY,
            "node.kubernetes.io/pid-pressure:NoSchedule op=Exists",
            "node.kubernetes.io/unschedulable:NoSchedule op=Exists",
        ]
    );
    assert_eq!(additions.len(), 6);
    let again = add_daemon_pod_tolerations(&mut tolerations, true);
    assert_eq!(
        again[0].added.to_string(),
        "node.kubernetes.io/network-unavailable:NoSchedule op=Exists"
    );
    assert_eq!(again.len(), 1);
    let mut pod = pod(json!({}));
    pod.spec.tolerations = tolerations.into();
    assert!(admitted(&AdmissionConfig::default(), &pod).additions.is_empty());
}

#[test]
fn memory_pressure_is_tolerated_by_the_restriction_only() {
    let burstable =
        pod(json!({"containers": [{"name": "c", "resources": {"requests": {"cpu": "1m"}}}]}));
    let plain = admitted(&AdmissionConfig::default(), &burstable);
    assert_eq!((plain.qos_class, plain.tolerations.len()), (QosClass::Burstable, 2));
    let config = AdmissionConfig {
        pod_toleration_restriction: Some(TolerationRestriction::default()),
        ..Default::default()
    };
    let admission = admitted(&config, &burstable);
    assert_eq!(admission.tolerations[2].to_string(), MEMORY);
    assert_eq!(admission.additions[2].plugin, AdmissionPlugin::PodTolerationRestriction);
    assert_eq!(admitted(&config, &tolerating("")).tolerations.len(), 2, "BestEffort");
    let mut stored = burstable;
    admission.apply(&mut stored);
    assert_eq!(stored.status.other.get("qosClass"), Some(&json!("Burstable")));
    assert_eq!(stored.spec.tolerations, admission.tolerations);
}

/// `TestPodAdmission` of PodTolerationRestriction.
#[test]
fn namespaces_give_and_forbid_tolerations() {
    let restriction = TolerationRestriction { default: list("c/9"), whitelist: list("c/9") };
    let config = AdmissionConfig {
        default_toleration_seconds: false,
        pod_toleration_restriction: Some(restriction),
        ..Default::default()
    };
    let run = |annotations: &[(&str, &str)], tolerations: &str| {
        let annotations = annotations
            .iter()
            .map(|(name, value)| {
                (format!("scheduler.alpha.kubernetes.io/{name}"), (*value).to_owned())
            })
            .collect();
        let pod = tolerating(tolerations);
        match admit(&config, KubernetesRelease::NEWEST, &pod, &annotations) {
            Ok(admission) => words(&admission.tolerations).join(", "),
            Err(error) => error.to_string(),
        }
    };
    let conflict = |scope| {
        format!(
            "pod tolerations (possibly merged with namespace default tolerations) conflict with \
             its {scope} whitelist"
        )
    };
    let none = ("tolerationsWhitelist", "");
    assert_eq!(run(&[], ""), "c:NoExecute op=Exists for 9s");
    assert_eq!(run(&[], "d/1"), conflict("cluster"));
    assert_eq!(run(&[none], "d/1"), "d:NoExecute op=Exists for 1s, c:NoExecute op=Exists for 9s");
    assert_eq!(run(&[("defaultTolerations", ""), none], ""), "");
    let own = ("defaultTolerations", r#"[{"key":"k","operator":"Exists"}]"#);
    assert_eq!(run(&[own, none], ""), "k op=Exists");
    let whitelist = ("tolerationsWhitelist", r#"[{"key":"z","operator":"Exists"}]"#);
    assert_eq!(run(&[whitelist], ""), conflict("namespace"));
    assert!(run(&[("defaultTolerations", "{")], "").starts_with(
        "annotation scheduler.alpha.kubernetes.io/defaultTolerations of the namespace: invalid type: map"
    ));
}

/// A9, and `TestIsSuperset`.
#[test]
fn tolerations_merge() {
    let merged = |first: &str, second: &str| words(&merge_tolerations(&list(first), &list(second)));
    assert_eq!(merged("k/300", "*:/inf"), ["op=Exists"]);
    assert_eq!(merged("k=v:NoSchedule/inf", "k:NoSchedule/inf"), ["k:NoSchedule op=Exists"]);
    assert_eq!(merged("a/1 b/2", "a/1"), words(&list("a/1 b/2")));
    for (all, one, expected) in [
        ("k/300", "k/200", true),
        ("k/300", "k/301", false),
        ("k/300", "k/inf", false),
        ("k/inf", "k/inf", true),
        ("k:/inf", "k/5", true),
        ("k=v/inf", "k=v/5", true),
        ("k=v/inf", "k/5", false),
        ("k=v/inf", "k=w/inf", false),
        ("j/inf", "k/5", false),
    ] {
        assert_eq!(is_superset(&list(all)[0], &list(one)[0]), expected, "{all} {one}");
    }
    let mut implicit = list("k=v/5").remove(0);
    implicit.operator = Default::default();
    assert!(!is_superset(&list("k=v/inf")[0], &implicit), "an empty operator is not Equal");
}

/// Limits become requests before the class is found; from 1.34 on the pod's own amounts decide.
#[test]
fn classes_are_of_the_defaulted_pod() {
    let guaranteed = pod(json!({"containers": [
        {"name": "c", "resources": {"limits": {"cpu": 1, "memory": "1Gi"}}}]}));
    assert_eq!(admitted(&AdmissionConfig::default(), &guaranteed).qos_class, QosClass::Guaranteed);
    let level = pod(json!({"resources": {"requests": {"cpu": 1}}, "containers": [{"name": "c"}]}));
    let class = |release| {
        let release = KubernetesRelease::parse(release).unwrap();
        admit(&AdmissionConfig::default(), release, &level, &BTreeMap::new()).unwrap().qos_class
    };
    assert_eq!((class("1.33"), class("1.34")), (QosClass::BestEffort, QosClass::Burstable));
    let wrong = pod(json!({"containers": [{"resources": {"requests": {"cpu": "x"}}}]}));
    let error =
        admit(&AdmissionConfig::default(), KubernetesRelease::NEWEST, &wrong, &BTreeMap::new());
    assert!(
        error.unwrap_err().to_string().starts_with("spec.containers[0].resources.requests.cpu: ")
    );
}
