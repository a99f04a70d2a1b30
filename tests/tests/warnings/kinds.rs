//! Warnings: for each kind, what causes it, and what is close to it and does not.

use serde_json::{Value, json};
use taintlab_core::scenario::Scenario;
use taintlab_core::simulator::Simulator;
use taintlab_core::warnings::{Severity, Subject, Warning, WarningCode, warnings_of};

/// The warnings of a cluster with these nodes and pods under that release.
fn of(release: &str, nodes: Value, pods: Value) -> Vec<Warning> {
    warnings_of(&simulator(json!({ "release": release }), nodes, pods))
}

fn simulator(kubernetes: Value, nodes: Value, pods: Value) -> Simulator {
    let scenario: Scenario = serde_json::from_value(json!({
        "apiVersion": "taintlab/v1",
        "kind": "Scenario",
        "kubernetes": kubernetes,
        "objects": { "nodes": nodes, "pods": pods }
    }))
    .unwrap();
    scenario.simulator().unwrap()
}

fn codes(warnings: &[Warning]) -> Vec<&'static str> {
    warnings.iter().map(|warning| warning.code.as_str()).collect()
}

fn only(warnings: Vec<Warning>, code: WarningCode) -> Vec<Warning> {
    warnings.into_iter().filter(|warning| warning.code == code).collect()
}

fn node(name: &str, taints: Value) -> Value {
    json!({ "metadata": { "name": name }, "spec": { "taints": taints } })
}

fn zoned(name: &str, zone: &str, ready: &str) -> Value {
    json!({
        "metadata": { "name": name, "labels": { "topology.kubernetes.io/zone": zone } },
        "status": { "conditions": [{ "type": "Ready", "status": ready }] }
    })
}

fn owned(name: &str, node: &str, kind: &str, owner: &str, tolerations: Value) -> Value {
    json!({
        "metadata": { "name": name, "labels": { "app": owner }, "ownerReferences": [
            { "apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": "u", "controller": true }
        ] },
        "spec": { "nodeName": node, "tolerations": tolerations }
    })
}

fn pod(name: &str, node: &str, tolerations: Value) -> Value {
    owned(name, node, "ReplicaSet", "web", tolerations)
}

/// A node with taint `example.com/gpu=a100:NoSchedule` and a pod with one toleration.
fn one(toleration: Value) -> Vec<Warning> {
    let taint = json!({ "key": "example.com/gpu", "value": "a100", "effect": "NoSchedule" });
    of("1.34", json!([node("w", json!([taint]))]), json!([pod("p", "w", json!([toleration]))]))
}

#[test]
fn what_one_toleration_is_warned_of() {
    let nothing: &[&str] = &[];
    for (toleration, expected, field) in [
        // Matches.
        (json!({ "key": "example.com/gpu", "operator": "Exists" }), nothing, ""),
        (json!({ "key": "example.com/gpu", "value": "a100", "effect": "NoSchedule" }), nothing, ""),
        // Matches nothing, for one reason after the other.
        (
            json!({ "key": "example.com/gpu", "value": "h100" }),
            &["toleration-matches-nothing"],
            "spec.tolerations[0].value",
        ),
        (
            json!({ "key": "example.com/gpu", "operator": "Exists", "effect": "NoExecute" }),
            &["toleration-matches-nothing"],
            "spec.tolerations[0].effect",
        ),
        (
            json!({ "key": "gpu", "operator": "Exists" }),
            &["toleration-matches-nothing"],
            "spec.tolerations[0].key",
        ),
        (
            json!({ "key": "example.com/spot", "operator": "Exists" }),
            &["toleration-matches-nothing"],
            "spec.tolerations[0].key",
        ),
        (
            json!({ "key": "example.com/gpu", "operator": "Lt", "value": "7" }),
            &["toleration-matches-nothing"],
            "spec.tolerations[0].operator",
        ),
        (
            json!({ "key": "node.kubernetes.io/not-ready", "value": "true", "effect": "NoExecute",
                    "tolerationSeconds": 30 }),
            &["toleration-matches-nothing"],
            "spec.tolerations[0].value",
        ),
        // What Kubernetes sets by itself may come at any time; so may what kubeadm sets.
        (
            json!({ "key": "node.kubernetes.io/not-ready", "operator": "Exists",
                    "effect": "NoExecute", "tolerationSeconds": 300 }),
            nothing,
            "",
        ),
        (
            json!({ "key": "node.kubernetes.io/memory-pressure", "operator": "Exists",
                    "effect": "NoSchedule" }),
            nothing,
            "",
        ),
        (json!({ "key": "node-role.kubernetes.io/master", "operator": "Exists" }), nothing, ""),
        (json!({ "key": "node.kubernetes.io/out-of-service", "value": "x" }), nothing, ""),
        // Cluster API's, not a misspelling of `node.cloudprovider.kubernetes.io/uninitialized`.
        (
            json!({ "key": "node.cluster.x-k8s.io/uninitialized", "operator": "Exists" }),
            nothing,
            "",
        ),
        // Fields that contradict one another.
        (
            json!({ "key": "example.com/gpu", "operator": "Exists", "value": "a100" }),
            &["exists-with-value"],
            "spec.tolerations[0].value",
        ),
        (
            json!({ "operator": "Equal", "effect": "NoSchedule" }),
            &["empty-key-without-exists"],
            "spec.tolerations[0].key",
        ),
        (json!({ "operator": "Exists", "effect": "NoSchedule" }), nothing, ""),
        (
            json!({ "key": "example.com/gpu", "operator": "Exists", "effect": "NoSchedule",
                    "tolerationSeconds": 60 }),
            &["seconds-without-no-execute"],
            "spec.tolerations[0].tolerationSeconds",
        ),
        (
            json!({ "key": "example.com/gpu", "operator": "Exists", "tolerationSeconds": 60 }),
            &["seconds-without-no-execute"],
            "spec.tolerations[0].tolerationSeconds",
        ),
        // Unreachable forever.
        (
            json!({ "key": "node.kubernetes.io/unreachable", "operator": "Exists",
                    "effect": "NoExecute" }),
            &["tolerates-unreachable-forever"],
            "spec.tolerations[0].tolerationSeconds",
        ),
        (
            json!({ "operator": "Exists" }),
            &["tolerates-unreachable-forever"],
            "spec.tolerations[0].tolerationSeconds",
        ),
        (
            json!({ "key": "node.kubernetes.io/unreachable", "operator": "Exists",
                    "effect": "NoSchedule" }),
            nothing,
            "",
        ),
        (
            json!({ "key": "node.kubernetes.io/unreachable", "operator": "Exists",
                    "effect": "NoExecute", "tolerationSeconds": 0 }),
            nothing,
            "",
        ),
    ] {
        let found = one(toleration.clone());
        assert_eq!(codes(&found), expected, "{toleration}");
        for warning in found {
            assert_eq!(warning.field, field, "{toleration}");
            assert!(warning.fix.is_some(), "{toleration}");
            assert_eq!(warning.message.matches(". ").count(), 0, "one sentence: {warning:?}");
        }
    }
}

#[test]
fn a_toleration_that_nearly_matches_is_told_how_it_would() {
    let found = one(json!({ "key": "example.com/gpu", "value": "h100" }));
    assert_eq!(
        found[0].explanation,
        "There is such a key, but node w has `example.com/gpu=a100:NoSchedule`: the values differ."
    );
    let fix = found[0].fix.as_ref().unwrap();
    assert_eq!(fix.text, "- key: \"example.com/gpu\"\n  operator: Equal\n  value: \"a100\"\n");
    let found = one(json!({ "key": "GPU", "operator": "Exists" }));
    assert_eq!(
        found[0].explanation,
        "No node has a taint with the key `GPU`, but there is `example.com/gpu`."
    );
    assert_eq!(found[0].severity, Severity::Warning);
    let found = one(json!({ "key": "example.com/spot", "value": "yes" }));
    assert_eq!(found[0].severity, Severity::Note);
    let fix = found[0].fix.as_ref().unwrap();
    assert_eq!(fix.text, "kubectl taint nodes NODE example.com/spot=yes:NoSchedule");
}

/// What others add to pods, and pods that nobody wrote for this cluster, are no news.
#[test]
fn what_others_wrote_is_not_warned_of() {
    let elsewhere = json!([{ "key": "example.com/elsewhere", "operator": "Exists" },
                           { "operator": "Exists" }]);
    let daemon = owned("d", "w", "DaemonSet", "agent", elsewhere.clone());
    let fixed = owned("s", "w", "Node", "w", elsewhere.clone());
    let mut mirror = pod("m", "w", elsewhere.clone());
    mirror["metadata"]["annotations"] = json!({ "kubernetes.io/config.mirror": "x" });
    mirror["metadata"]["ownerReferences"] = json!([]);
    let mut ended = pod("e", "w", elsewhere);
    ended["status"] = json!({ "phase": "Succeeded" });
    let mut device = pod(
        "g",
        "w",
        json!([
        { "key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule" }]),
    );
    device["spec"]["containers"] =
        json!([{ "name": "c", "resources": { "requests": { "nvidia.com/gpu": "1" } } }]);
    let pods = json!([daemon, fixed, mirror, ended, device]);
    assert_eq!(codes(&of("1.34", json!([node("w", json!([]))]), pods)), [""; 0]);
}

#[test]
fn the_pods_of_an_owner_are_one_warning() {
    let bad = json!([{ "key": "k", "operator": "Exists", "effect": "NoExecute" }]);
    let mut pods: Vec<Value> =
        (0..300).map(|i| pod(&format!("web-{i:03}"), "w", bad.clone())).collect();
    for pod in &mut pods {
        pod["metadata"]["labels"]["pod-template-hash"] = json!("5d8f");
        pod["metadata"]["ownerReferences"][0]["name"] = json!("web-5d8f");
    }
    let found = of("1.34", json!([node("w", json!([]))]), Value::Array(pods));
    assert_eq!(codes(&found), ["toleration-matches-nothing"]);
    assert_eq!(found[0].subjects.len(), 301);
    let owner = Subject::Owner { kind: "Deployment".into(), name: "web".parse_key() };
    assert_eq!(found[0].subjects[0], owner);
    assert!(found[0].message.starts_with("Deployment default/web (300 pods): "), "{found:?}");
}

/// A pod's key from its name.
trait ParseKey {
    fn parse_key(&self) -> taintlab_core::api::PodKey;
}

impl ParseKey for str {
    fn parse_key(&self) -> taintlab_core::api::PodKey {
        taintlab_core::api::PodKey::new("", self)
    }
}

#[test]
fn times_that_the_order_hides() {
    let all = json!({ "operator": "Exists" });
    let all_evicting = |seconds: u32| {
        json!({ "operator": "Exists", "effect": "NoExecute",
                                              "tolerationSeconds": seconds })
    };
    let lost = |seconds: u32| {
        json!({ "key": "node.kubernetes.io/unreachable", "operator": "Exists",
                                      "effect": "NoExecute", "tolerationSeconds": seconds })
    };
    for (tolerations, expected) in [
        (json!([all, lost(60)]), Some("spec.tolerations[1].tolerationSeconds")),
        (json!([lost(300), lost(60)]), Some("spec.tolerations[1].tolerationSeconds")),
        (json!([all_evicting(300), lost(60)]), Some("spec.tolerations[1].tolerationSeconds")),
        // Meant as an exception, and works as one.
        (json!([lost(60), all]), None),
        (json!([lost(300), all_evicting(60)]), None),
        (json!([lost(60), lost(60)]), None),
        (json!([lost(60), lost(300)]), None),
        // A daemon that is evicted every five minutes though it tolerates everything.
        (json!([all_evicting(300), all]), Some("spec.tolerations[1]")),
        // Another effect hides nothing.
        (
            json!([{ "key": "node.kubernetes.io/unreachable", "operator": "Exists",
                     "effect": "NoSchedule" }, lost(60)]),
            None,
        ),
        // Neither does another value.
        (
            json!([{ "key": "node.kubernetes.io/unreachable", "value": "x",
                     "effect": "NoExecute" }, lost(60)]),
            None,
        ),
    ] {
        let pods = json!([owned("d", "w", "DaemonSet", "agent", tolerations.clone())]);
        let found = of("1.34", json!([node("w", json!([]))]), pods);
        let found = only(found, WarningCode::HiddenByOrder);
        let fields: Vec<_> = found.iter().map(|warning| warning.field.as_str()).collect();
        assert_eq!(fields, Vec::from_iter(expected), "{tolerations}");
    }
}

/// The cure of a hidden time is said once.
#[test]
fn a_hidden_time_is_not_also_a_pod_that_stays_for_ever() {
    let lost = json!({ "key": "node.kubernetes.io/unreachable", "operator": "Exists",
                       "effect": "NoExecute", "tolerationSeconds": 60 });
    let pods = json!([pod("p", "w", json!([{ "operator": "Exists" }, lost]))]);
    let found = of("1.34", json!([node("w", json!([]))]), pods);
    assert_eq!(codes(&found), ["hidden-by-order"]);
    let fix = found[0].fix.as_ref().unwrap();
    assert_eq!(
        fix.text,
        "tolerations:\n- key: \"node.kubernetes.io/unreachable\"\n  operator: Exists\n  effect: \
         NoExecute\n  tolerationSeconds: 60\n- operator: Exists\n"
    );
}

#[test]
fn stateful_pods_of_lost_nodes() {
    let gone = json!({ "key": "node.kubernetes.io/unreachable", "effect": "NoExecute" });
    let freed = json!({ "key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown",
                        "effect": "NoExecute" });
    let nodes = |taints| json!([node("w", taints)]);
    let pods = |tolerations| json!([owned("db-0", "w", "StatefulSet", "db", tolerations)]);
    let forever = json!([{ "key": "node.kubernetes.io/unreachable", "operator": "Exists",
                           "effect": "NoExecute" }]);
    for (release, nodes, pods, expected) in [
        (
            "1.34",
            nodes(json!([gone])),
            pods(json!([])),
            Some((Severity::Critical, "kubectl taint")),
        ),
        (
            "1.25",
            nodes(json!([gone])),
            pods(json!([])),
            Some((Severity::Critical, "kubectl delete")),
        ),
        ("1.34", nodes(json!([])), pods(json!([])), Some((Severity::Note, ""))),
        // The garbage collector takes it.
        ("1.34", nodes(json!([gone, freed])), pods(json!([])), None),
        // It is never deleted.
        ("1.34", nodes(json!([gone])), pods(forever), None),
        // Another owner's name is free at once.
        ("1.34", nodes(json!([gone])), json!([pod("p", "w", json!([]))]), None),
    ] {
        let found = only(of(release, nodes, pods.clone()), WarningCode::StatefulSetStuck);
        let fix = |warning: &Warning| warning.fix.as_ref().map_or("", |fix| &fix.text).to_owned();
        match expected {
            None => assert_eq!(found, [], "{release} {pods}"),
            Some((severity, text)) => {
                assert_eq!(found.len(), 1, "{release} {pods}");
                assert_eq!(found[0].severity, severity);
                assert!(fix(&found[0]).starts_with(text), "{found:?}");
            }
        }
    }
}

#[test]
fn bare_pods() {
    let taint = json!({ "key": "k", "effect": "NoExecute" });
    let nodes = json!([node("fine", json!([])), node("bad", json!([taint]))]);
    let bare = |name: &str, on: &str, tolerations: Value| {
        json!({ "metadata": { "name": name },
                "spec": { "nodeName": on, "tolerations": tolerations,
                          "containers": [{ "name": "c", "image": "nginx" }] } })
    };
    let always = json!([{ "key": "k", "operator": "Exists", "effect": "NoExecute" }]);
    let pods = json!([
        bare("a", "fine", json!([])),
        bare("b", "fine", json!([])),
        bare("c", "bad", json!([])),
        bare("d", "bad", always),
        pod("owned", "bad", json!([])),
    ]);
    let found = only(of("1.34", nodes, pods), WarningCode::BarePodLost);
    let said: Vec<_> = found.iter().map(|w| (w.severity, w.message.as_str())).collect();
    assert_eq!(
        said,
        [
            (Severity::Critical, "pod default/c: being deleted, and nothing makes it again"),
            (
                Severity::Note,
                "2 bare pods of namespace default: lost when evicted, since nothing makes it again"
            ),
            (Severity::Note, "pod default/d: lost when evicted, since nothing makes it again"),
        ]
    );
    let fix = found[0].fix.as_ref().unwrap();
    assert_eq!(fix.text, "kubectl create deployment c -n default --image=nginx");
}

#[test]
fn zones_beside_the_thresholds() {
    let zone = |size: usize, lost: usize| -> Value {
        let ready = |i| if i < lost { "False" } else { "True" };
        (0..size).map(|i| zoned(&format!("n{i:02}"), "a", ready(i))).collect()
    };
    let large = json!({ "large-cluster-size-threshold": "3" });
    for (size, lost, flags, expected) in [
        (1, 0, json!({}), None),
        (1, 1, json!({}), None),
        (2, 0, json!({}), Some((Severity::Note, "too small ever"))),
        (3, 0, json!({}), Some((Severity::Note, "too small ever"))),
        (4, 0, json!({}), Some((Severity::Note, "evictions stop"))),
        (50, 0, json!({}), Some((Severity::Note, "evictions stop"))),
        (51, 0, json!({}), None),
        (51, 30, json!({}), None),
        (4, 3, json!({}), Some((Severity::Critical, "evictions stand still"))),
        (4, 4, json!({}), Some((Severity::Note, "evictions stop"))),
        (4, 0, large, None),
    ] {
        let kubernetes = json!({ "controllerManagerFlags": flags, "nodeLifecycle": true });
        let found = warnings_of(&simulator(kubernetes, zone(size, lost), json!([])));
        let found = only(found, WarningCode::ZoneTooSmall);
        match expected {
            None => assert_eq!(found, [], "{lost} of {size}"),
            Some((severity, words)) => {
                assert_eq!(found.len(), 1, "{lost} of {size}");
                assert_eq!(found[0].severity, severity, "{lost} of {size}");
                assert!(found[0].message.contains(words), "{found:?}");
            }
        }
    }
}

#[test]
fn deployments_in_one_zone() {
    let nodes =
        json!([zoned("a1", "a", "True"), zoned("a2", "a", "True"), zoned("b1", "b", "True")]);
    let web = |name: &str, on: &str| pod(name, on, json!([]));
    let other = |name: &str, on: &str| owned(name, on, "DaemonSet", "agent", json!([]));
    for (pods, expected) in [
        (json!([web("w1", "a1"), web("w2", "a2")]), 1),
        (json!([web("w1", "a1"), web("w2", "b1")]), 0),
        (json!([web("w1", "a1")]), 0),
        // One waits, and may go anywhere.
        (json!([web("w1", "a1"), web("w2", "")]), 0),
        (json!([other("d1", "a1"), other("d2", "a2")]), 0),
    ] {
        let found = only(of("1.34", nodes.clone(), pods.clone()), WarningCode::OneZone);
        assert_eq!(found.len(), expected, "{pods}");
    }
    // Where there is one zone, there is no other to go to.
    let nodes = json!([zoned("a1", "a", "True"), zoned("a2", "a", "True")]);
    let pods = json!([web("w1", "a1"), web("w2", "a2")]);
    assert_eq!(only(of("1.34", nodes, pods), WarningCode::OneZone), []);
}

#[test]
fn budgets() {
    let taint = json!({ "key": "k", "effect": "NoExecute" });
    let nodes = json!([node("fine", json!([])), node("bad", json!([taint]))]);
    let web = |name: &str, on: &str| pod(name, on, json!([]));
    let budget = |name: &str, spec: Value| {
        json!({ "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
                "metadata": { "name": name, "namespace": "default" }, "spec": spec })
    };
    let selecting = |limit: Value| {
        let mut spec = json!({ "selector": { "matchLabels": { "app": "web" } } });
        spec.as_object_mut().unwrap().extend(limit.as_object().unwrap().clone());
        spec
    };
    let one = json!({ "maxUnavailable": 1 });
    let other = json!({ "selector": { "matchLabels": { "app": "other" } }, "maxUnavailable": 1 });
    let (critical, warning, note) = (Severity::Critical, Severity::Warning, Severity::Note);
    for (on, specs, expected) in [
        ("fine", vec![selecting(one.clone())], vec![(note, "does not help when")]),
        ("bad", vec![selecting(one.clone())], vec![(critical, "does not help 2 pods that")]),
        ("fine", vec![other], vec![(warning, "selects no pod")]),
        ("fine", vec![json!({ "maxUnavailable": 1 })], vec![(warning, "selects no pod")]),
        (
            "fine",
            vec![selecting(json!({ "minAvailable": 0 }))],
            vec![(warning, "lets all of its pods be evicted")],
        ),
        (
            "fine",
            vec![selecting(json!({ "maxUnavailable": "100%" }))],
            vec![(warning, "lets all of its pods be evicted")],
        ),
        ("fine", vec![selecting(json!({ "minAvailable": "50%" }))], vec![(note, "does not help")]),
        (
            "fine",
            vec![selecting(one.clone()), selecting(one)],
            vec![
                (warning, "b0 and default/b1 select the same 2 pods"),
                (note, "default/b0: does not help"),
                (note, "default/b1: does not help"),
            ],
        ),
        ("bad", vec![], vec![]),
    ] {
        let budgets = specs.iter().enumerate();
        let budgets: Value =
            budgets.map(|(i, spec)| budget(&format!("b{i}"), spec.clone())).collect();
        let scenario: Scenario = serde_json::from_value(json!({
            "apiVersion": "taintlab/v1",
            "kind": "Scenario",
            "objects": { "nodes": nodes, "budgets": budgets,
                         "pods": [web("w1", on), web("w2", on)] }
        }))
        .unwrap();
        let found = warnings_of(&scenario.simulator().unwrap());
        let found = only(found, WarningCode::BudgetDoesNotHelp);
        assert_eq!(found.len(), expected.len(), "{specs:?}: {found:?}");
        for (warning, (severity, words)) in found.iter().zip(expected) {
            assert_eq!(warning.severity, severity, "{specs:?}");
            assert!(warning.message.contains(words), "{}", warning.message);
            // Only 429 is tried again.
            let two = warning.explanation.contains("answers 500. kubectl drain does not try");
            assert_eq!(two, words.contains("select the same"), "{}", warning.explanation);
        }
    }
}

/// The most pressing first, and always the same.
#[test]
fn the_order_is_that_of_severity_then_kind_then_objects() {
    let taint = json!({ "key": "k", "effect": "NoExecute" });
    let nodes = json!([node("w", json!([taint]))]);
    let exists = json!([{ "key": "k", "operator": "Exists", "value": "x", "effect": "NoExecute" }]);
    let bare = json!({ "metadata": { "name": "bare" }, "spec": { "nodeName": "w" } });
    let pods = json!([
        owned("z", "w", "ReplicaSet", "z", exists.clone()),
        bare,
        owned("a", "w", "ReplicaSet", "a", exists),
    ]);
    let found = of("1.34", nodes.clone(), pods.clone());
    let said: Vec<_> = found.iter().map(|w| (w.code.as_str(), w.subjects.len())).collect();
    assert_eq!(said, [("bare-pod-lost", 1), ("exists-with-value", 2), ("exists-with-value", 2)]);
    assert!(found[1].message.starts_with("pod default/a"));
    assert_eq!(found, of("1.34", nodes, pods));
}

/// Large clusters with an owner and a taint for each node are looked through once.
#[test]
fn many_owners_and_taints_take_no_square_of_time() {
    let nodes: Value = (0..3_000)
        .map(|i| {
            node(&format!("n{i}"), json!([{ "key": format!("k{i}"), "effect": "NoSchedule" }]))
        })
        .collect();
    let pods: Value = (0..6_000)
        .map(|i| {
            let tolerations = json!([{ "key": format!("k{i}"), "operator": "Exists" }]);
            owned(&format!("p{i}"), "n1", "ReplicaSet", &format!("o{i}"), tolerations)
        })
        .collect();
    let found = of("1.34", nodes, pods);
    // The taints of the other half are on no node.
    assert_eq!(only(found, WarningCode::TolerationMatchesNothing).len(), 3_000);
}

#[test]
fn a_control_plane_that_is_lost_as_a_whole() {
    let member = |name: &str, ready: &str| {
        let mut node = zoned(name, "a", ready);
        node["metadata"]["labels"]["node-role.kubernetes.io/control-plane"] = json!("");
        node
    };
    let lost = |nodes: Value| only(of("1.34", nodes, json!([])), WarningCode::ControlPlaneLost);
    assert!(lost(json!([zoned("w", "a", "Unknown")])).is_empty(), "no control plane to be seen");
    assert!(lost(json!([member("c", "True"), zoned("w", "a", "Unknown")])).is_empty());
    assert!(lost(json!([member("c", "Unknown"), member("d", "True")])).is_empty(), "one is left");
    let found = lost(json!([member("c", "Unknown"), member("d", "Unknown")]));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].severity, Severity::Warning);
    assert_eq!(
        found[0].message,
        "all control plane nodes are unreachable with c and d; Taintlab still runs the controllers"
    );
    assert!(found[0].explanation.contains("assumes that the controllers are reachable"));
    assert!(found[0].subjects.contains(&Subject::Node { name: "d".into() }));
    assert!(matches!(found[0].subjects.last(), Some(Subject::Zone { .. })));

    // A node whose network was just cut counts at once: its conditions follow later.
    let mut simulator =
        simulator(json!({ "nodeLifecycle": true }), json!([member("c", "True")]), json!([]));
    let codes_now = |simulator: &Simulator| codes(&warnings_of(simulator));
    assert!(!codes_now(&simulator).contains(&"control-plane-lost"));
    let cut = taintlab_core::command::Command::CutNetwork { node: "c".into() };
    simulator.handle_command(taintlab_core::time::Timestamp::ZERO, cut).unwrap();
    assert!(codes_now(&simulator).contains(&"control-plane-lost"));
}

#[test]
fn pods_that_ask_for_more_time_than_a_shutdown_has() {
    let pod = |name: &str, node: &str, seconds: i64, priority: i32| {
        json!({ "metadata": { "name": name }, "spec": {
            "nodeName": node, "terminationGracePeriodSeconds": seconds, "priority": priority,
        } })
    };
    let pods = json!([
        pod("slow", "a", 600, 0),
        pod("critical", "a", 11, 2_000_000_000),
        pod("quick", "a", 20, 0),
    ]);
    let nodes = json!([node("a", json!([])), node("b", json!([]))]);
    let found = |release: &str, configuration: Value| {
        let kubernetes = json!({ "release": release, "kubeletConfiguration": configuration });
        let found = warnings_of(&simulator(kubernetes, nodes.clone(), pods.clone()));
        only(found, WarningCode::ShutdownCutsGracePeriod)
    };
    assert!(found("1.34", json!({})).is_empty(), "a shutdown waits for nobody, and says nothing");
    let two = json!({ "shutdownGracePeriod": "30s", "shutdownGracePeriodCriticalPods": "10s" });
    let warned = found("1.34", two);
    let messages: Vec<&str> = warned.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "pod default/critical asks for 11s to end, and has 10s when the node is shut down",
            "pod default/slow asks for 600s to end, and has 20s when the node is shut down",
        ]
    );
    assert_eq!(warned[1].severity, Severity::Note);
    assert_eq!(warned[1].field, "spec.terminationGracePeriodSeconds");
    let fix = |index: usize| warned[index].fix.as_ref().unwrap().text.as_str();
    let yaml = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";
    let periods = "shutdownGracePeriod: 31s\nshutdownGracePeriodCriticalPods: 11s\n";
    assert_eq!(fix(0), format!("{yaml}{periods}"));
    let periods = "shutdownGracePeriod: 610s\nshutdownGracePeriodCriticalPods: 10s\n";
    assert_eq!(fix(1), format!("{yaml}{periods}"));
    let listed = json!({ "shutdownGracePeriodByPodPriority": [
        { "priority": 1000, "shutdownGracePeriodSeconds": 60 },
        { "priority": 0, "shutdownGracePeriodSeconds": 30 },
    ] });
    let warned = found("1.34", listed.clone());
    assert_eq!(warned.len(), 1, "{warned:?}");
    let periods = "shutdownGracePeriodByPodPriority:\n- priority: 0\n  \
                   shutdownGracePeriodSeconds: 600\n- priority: 1000\n  \
                   shutdownGracePeriodSeconds: 60\n";
    assert_eq!(warned[0].fix.as_ref().unwrap().text, format!("{yaml}{periods}"));

    // What one kubelet is set to counts for its pods.
    let mut simulator = simulator(json!({ "nodeLifecycle": true }), nodes.clone(), pods.clone());
    let mut warned_after = |node: &str| {
        let command = json!({ "configureKubelet": { "node": node, "configuration": listed } });
        let command = serde_json::from_value(command).unwrap();
        simulator.handle_command(taintlab_core::time::Timestamp::ZERO, command).unwrap();
        only(warnings_of(&simulator), WarningCode::ShutdownCutsGracePeriod).len()
    };
    assert_eq!([warned_after("b"), warned_after("a")], [0, 1]);
}

/// Volumes that a node has or that one zone alone can reach, and ports that are taken.
#[test]
fn what_keeps_the_next_pod_from_starting() {
    let owner = json!([{ "apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "db",
                         "controller": true }]);
    let pod = json!({
        "metadata": { "name": "db-0", "ownerReferences": owner },
        "spec": { "nodeName": "n1",
                  "volumes": [{ "name": "d", "persistentVolumeClaim": { "claimName": "data" } }] },
    });
    let found = |release: &str, ready: &str, mode: &str, key: &str, values: Value, surge: Value| {
        let required = json!({ "nodeSelectorTerms": [{ "matchExpressions": [
            { "key": key, "operator": "In", "values": values }] }] });
        let scenario: Scenario = serde_json::from_value(json!({
            "apiVersion": "taintlab/v1", "kind": "Scenario",
            "kubernetes": { "release": release, "controlPlane": true },
            "objects": {
                "nodes": [zoned("n1", "a", ready), zoned("n2", "b", "True")],
                "pods": [pod],
                "workloads": [{ "apiVersion": "apps/v1", "kind": "DaemonSet",
                    "metadata": { "name": "agent" },
                    "spec": {
                        "selector": { "matchLabels": { "app": "agent" } },
                        "updateStrategy": { "rollingUpdate": {
                            "maxSurge": surge,
                            "maxUnavailable": i32::from(surge != 1 || release == "1.21"),
                        } },
                        "template": { "metadata": { "labels": { "app": "agent" } }, "spec": {
                            "containers": [{ "name": "c", "ports": [{ "containerPort": 80,
                                                                     "hostPort": 80 }] }] } },
                    } }],
                "others": [
                    { "apiVersion": "v1", "kind": "PersistentVolumeClaim",
                      "metadata": { "name": "data", "namespace": "default" },
                      "spec": { "volumeName": "pv", "accessModes": [mode] } },
                    { "apiVersion": "v1", "kind": "PersistentVolume", "metadata": { "name": "pv" },
                      "spec": { "accessModes": [mode], "nodeAffinity": { "required": required },
                                "csi": { "driver": "disk" },
                                "claimRef": { "namespace": "default", "name": "data" } } },
                ],
            },
        }))
        .unwrap();
        let codes = [
            WarningCode::VolumeHeldByNode,
            WarningCode::VolumeInOnePlace,
            WarningCode::SurgeWithHostPort,
        ];
        let mut found = warnings_of(&scenario.simulator().unwrap());
        found.retain(|warning| codes.contains(&warning.code));
        found
    };
    let (zone, host) = ("topology.kubernetes.io/zone", "kubernetes.io/hostname");
    let held = "pod default/db-0 has a ReadWriteOnce volume that its replacement must wait for when \
                the node is lost";
    let placed = |place: &str| format!("pod default/db-0 runs only {place}, where the volume is");
    let surges = "DaemonSet default/agent surges and takes the host port 80: the new pod cannot \
                  start beside the old one";
    let (once, many) = ("ReadWriteOnce", "ReadWriteMany");
    for (release, mode, key, values, surge, expected) in [
        ("1.34", once, zone, json!(["a"]), json!(0), vec![held.to_owned(), placed("in zone a")]),
        ("1.34", once, zone, json!(["a", "b"]), json!(0), vec![held.to_owned()]),
        ("1.34", many, zone, json!(["a", "b"]), json!("0%"), vec![]),
        ("1.34", many, host, json!(["n1"]), json!(0), vec![placed("on node n1")]),
        ("1.34", many, zone, json!(["a", "b"]), json!(1), vec![surges.to_owned()]),
        ("1.21", many, zone, json!(["a", "b"]), json!(1), vec![]),
    ] {
        let found = found(release, "True", mode, key, values, surge);
        let messages: Vec<&String> = found.iter().map(|warning| &warning.message).collect();
        assert_eq!(messages, expected.iter().collect::<Vec<_>>(), "{release} {mode} {key}");
    }
    for (release, ready, severity, fix) in [
        (
            "1.34",
            "True",
            Severity::Note,
            "kubectl taint nodes n1 node.kubernetes.io/out-of-service",
        ),
        ("1.34", "Unknown", Severity::Critical, "kubectl taint nodes n1 "),
        ("1.25", "Unknown", Severity::Critical, "kubectl delete node n1"),
    ] {
        let found = found(release, ready, once, zone, json!(["a", "b"]), json!(0));
        let held = only(found, WarningCode::VolumeHeldByNode);
        assert_eq!(held[0].severity, severity, "{release} {ready}");
        assert!(held[0].fix.as_ref().unwrap().text.starts_with(fix), "{release} {ready}");
    }
}

/// A pod with two devices, and what is said of the tolerations at each of the three places.
#[test]
fn tolerations_and_rules_of_devices() {
    let key = "gpu.example.com/unhealthy";
    let found = |release: &str, in_pod: Value, asked: Value, copied: Value, selector: Value| {
        let scenario: Scenario = serde_json::from_value(json!({
            "apiVersion": "taintlab/v1", "kind": "Scenario",
            "kubernetes": { "release": release, "controlPlane": true },
            "objects": {
                "nodes": [{ "metadata": { "name": "n" } }],
                "pods": [{ "metadata": { "name": "train", "uid": "u" }, "spec": {
                    "nodeName": "n", "tolerations": in_pod,
                    "resourceClaims": [{ "name": "gpu", "resourceClaimName": "gpu" }] } }],
                "others": [
                    { "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
                      "metadata": { "name": "gpu" },
                      "spec": { "devices": { "requests": [
                          { "name": "gpu", "exactly": { "tolerations": asked } }] } },
                      "status": {
                          "allocation": { "devices": { "results": [{
                              "request": "gpu", "driver": "gpu.example.com", "pool": "n",
                              "device": "gpu-0", "tolerations": copied }] } },
                          "reservedFor": [{ "resource": "pods", "name": "train", "uid": "u" }] } },
                    { "apiVersion": "resource.k8s.io/v1beta2", "kind": "DeviceTaintRule",
                      "metadata": { "name": "broken" },
                      "spec": { "deviceSelector": selector,
                                "taint": { "key": "a/b", "effect": "NoExecute" } } },
                ],
            },
        }))
        .unwrap();
        let codes = ["device-", "taint-rule-", "toleration-matches"];
        let found = warnings_of(&scenario.simulator().unwrap()).into_iter();
        let found = found
            .filter(|warning| codes.iter().any(|start| warning.code.as_str().starts_with(start)));
        let named = |warning: Warning| (warning.code.as_str(), warning.field);
        found.map(named).map(|(code, field)| format!("{code} {field}")).collect::<Vec<_>>()
    };
    let toleration = |effect: &str| json!([{ "key": key, "operator": "Exists", "effect": effect }]);
    let (all, none) = (json!({}), json!([]));
    let right = toleration("NoExecute");
    let said = |in_pod: &Value, asked: &Value, copied: &Value| {
        found("1.36", in_pod.clone(), asked.clone(), copied.clone(), json!({ "driver": "other" }))
    };
    // Rules are off by default.
    let off = "taint-rule-off ".to_owned();
    assert_eq!(said(&none, &right, &right), [off.as_str()]);
    let in_pod = "device-toleration-in-pod spec.tolerations[0]";
    assert_eq!(said(&right, &none, &none), [in_pod, &off]);
    assert_eq!(
        said(&right, &right, &right),
        [&off, "toleration-matches-nothing spec.tolerations[0].key",]
    );
    let field = "status.allocation.devices.results[0].tolerations[0].effect";
    let without = format!("device-toleration-without-effect {field}");
    assert_eq!(said(&none, &toleration(""), &toleration("")), [without.as_str(), &off]);
    let late = "device-toleration-too-late spec.devices.requests[0].exactly.tolerations[0]";
    assert_eq!(said(&none, &right, &none), [late, &off]);
    // In 1.34 the gate of the taints is that of the rules.
    assert_eq!(found("1.34", none.clone(), none.clone(), none.clone(), all), [off.as_str()]);
}

#[test]
fn a_rule_without_a_selector_evicts_nobody() {
    let found = |selector: Value| {
        let scenario: Scenario = serde_json::from_value(json!({
            "apiVersion": "taintlab/v1", "kind": "Scenario",
            "kubernetes": { "release": "1.36", "controlPlane": true,
                            "featureGates": { "DRADeviceTaintRules": true } },
            "objects": { "nodes": [{ "metadata": { "name": "n" } }], "others": [
                { "apiVersion": "resource.k8s.io/v1beta2", "kind": "DeviceTaintRule",
                  "metadata": { "name": "broken" },
                  "spec": { "deviceSelector": selector,
                            "taint": { "key": "a/b", "effect": "NoExecute" } } },
            ] },
        }))
        .unwrap();
        codes(&warnings_of(&scenario.simulator().unwrap()))
    };
    assert_eq!(found(Value::Null), ["taint-rule-without-selector"]);
    assert!(found(json!({})).is_empty(), "it selects every device");
}
