//! A policy about tolerations: what it finds, what it corrects, and the same rules in CEL.

use std::collections::BTreeMap;

use cel::{Context, Program, Value as Cel};
use proptest::prelude::*;
use serde_json::{Value, json};
use taintlab_admission::cel::{is_judged, validations, variables};
use taintlab_admission::{LONGEST, Mode, Rule, Settings, Target, correct, judge, policies};

/// Settings of a cluster with nodes of two kinds.
fn settings(more: Value) -> Settings {
    let mut all = json!({
        "release": "1.31",
        "taints": ["dedicated=gpu:NoSchedule", "drain=soon:NoExecute"],
    });
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Settings::read(&all).unwrap()
}

fn deployment(tolerations: Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"template": {"spec": {"containers": [], "tolerations": tolerations}}},
    })
}

/// Sentences about an object, findings first.
fn said(object: &Value, settings: &Settings) -> Vec<String> {
    let judgement = judge(object, settings).unwrap();
    judgement.findings.into_iter().map(|it| it.message).chain(judgement.notes).collect()
}

#[test]
fn each_rule_says_what_is_wrong_and_what_was_meant() {
    let plain = settings(json!({}));
    let most = settings(json!({"tolerationSeconds": {"min": 30, "max": 60}}));
    let cases: &[(Value, &Settings, &[&str])] = &[
        (json!([{"key": "dedicated", "value": "gpu"}]), &plain, &[]),
        (
            json!([{"key": "dedicatd", "operator": "Exists"}]),
            &plain,
            &["tolerations[0]: nothing taints with `dedicatd`; did you mean `dedicated`?"],
        ),
        (
            json!([{"key": "dedicated", "value": "cpu", "effect": "NoSchedule"}]),
            &plain,
            &["tolerations[0]: `dedicated=cpu:NoSchedule` matches no taint, but there is \
               `dedicated=gpu:NoSchedule`"],
        ),
        (
            json!([{"operator": "Exists"}]),
            &plain,
            &["tolerations[0]: every taint is tolerated forever"],
        ),
        (
            json!([{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}]),
            &plain,
            &[],
        ),
        (
            json!([]),
            &most,
            &[
                "node.kubernetes.io/not-ready is tolerated for 300 s; the most is 60 s",
                "node.kubernetes.io/unreachable is tolerated for 300 s; the most is 60 s",
                "a lost node: evicted after about 345 s, of which 300 are the default",
            ],
        ),
        (
            json!([
                {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "tolerationSeconds": 40,
                 "effect": "NoExecute"},
                {"key": "node.kubernetes.io/unreachable", "operator": "Exists",
                 "effect": "NoExecute"},
            ]),
            &most,
            &[
                "node.kubernetes.io/unreachable is tolerated forever; the most is 60 s",
                "a lost node: never evicted, and not replaced",
            ],
        ),
    ];
    for (tolerations, settings, expected) in cases {
        assert_eq!(said(&deployment(tolerations.clone()), settings), *expected, "{tolerations}");
    }
}

#[test]
fn the_time_on_a_lost_node_is_that_of_the_release() {
    let times = [("1.31", "345"), ("1.32", "355")].map(|(release, all)| {
        let settings = settings(json!({"sayTime": true, "release": release}));
        let expected =
            format!("a lost node: evicted after about {all} s, of which 300 are the default");
        (said(&deployment(json!([])), &settings), vec![expected])
    });
    for (said, expected) in times {
        assert_eq!(said, expected);
    }
}

#[test]
fn without_taints_only_keys_of_kubernetes_are_known_to_be_wrong() {
    let none = Settings::default();
    let tolerations = json!([{"key": "dedicated"}, {"key": "node.kubernetes.io/unreachble"}]);
    assert_eq!(
        said(&deployment(tolerations), &none),
        ["tolerations[1]: nothing taints with `node.kubernetes.io/unreachble`; did you mean \
             `node.kubernetes.io/unreachable`?"]
    );
}

#[test]
fn daemons_may_tolerate_everything_but_are_told_what_evicts_them() {
    let settings = settings(json!({"tolerationSeconds": {"max": 60}}));
    let daemon = |tolerations: Value| {
        let mut set = deployment(tolerations);
        set["kind"] = json!("DaemonSet");
        set
    };
    for (tolerations, expected) in [
        (json!([{"operator": "Exists"}]), None),
        (json!([]), Some("a node with `drain=soon:NoExecute` evicts this daemon")),
        (
            json!([{"key": "drain", "operator": "Exists", "tolerationSeconds": 9}]),
            Some("a node with `drain=soon:NoExecute` evicts this daemon after 9 s"),
        ),
    ] {
        let said = said(&daemon(tolerations.clone()), &settings);
        assert_eq!(said, Vec::from_iter(expected.map(String::from)), "{tolerations}");
    }
    let mut pod = json!({
        "kind": "Pod", "metadata": {"ownerReferences": [{"kind": "DaemonSet", "controller": true}]},
        "spec": {"tolerations": [{"operator": "Exists"}]},
    });
    assert!(said(&pod, &settings).is_empty());
    pod["metadata"] = json!({"annotations": {"kubernetes.io/config.mirror": "x"}});
    assert!(said(&pod, &settings).is_empty(), "nobody evicts a static pod");
    assert!(said(&json!({"kind": "ConfigMap"}), &settings).is_empty());
}

#[test]
fn a_resource_that_is_asked_for_may_have_been_added_by_the_api_server() {
    let mut object = deployment(json!([{"key": "example.com/gpu", "operator": "Exists"}]));
    assert_eq!(said(&object, &settings(json!({}))).len(), 1);
    object["spec"]["template"]["spec"]["containers"] =
        json!([{"resources": {"limits": {"example.com/gpu": "1"}}}]);
    assert!(said(&object, &settings(json!({}))).is_empty());
}

#[test]
fn no_message_is_longer_than_api_clients_show() {
    let key = format!("{}.example.com/{}", "long".repeat(40), "k".repeat(60));
    let tolerations = json!([{"key": key, "value": "v".repeat(63), "effect": "NoExecute"}]);
    let said = said(&deployment(tolerations), &settings(json!({})));
    assert_eq!(said[0].chars().count(), LONGEST);
    assert!(said[0].ends_with('…'), "{}", said[0]);
}

#[test]
fn wrong_settings_are_named_with_what_would_be_right() {
    for (wrong, expected) in [
        (json!({"mode": "audit"}), "mode: expected `warn`, `deny` or `mutate`, found `audit`"),
        (json!({"mod": "deny"}), "there is no field `mod` here (did you mean `mode`?)"),
        (json!({"release": "1.5"}), "release: "),
        (json!({"taints": ["a"]}), "taints[0]: "),
        (json!({"taints": [{"key": "a"}]}), "taints[0]: expected a taint as `kubectl taint` takes"),
        (json!({"taints": ["a:NoExecute-"]}), "taints[0]: "),
        (
            json!({"tolerationSeconds": {"min": 9, "max": 8}}),
            "tolerationSeconds.min: 9 is more than tolerationSeconds.max, 8",
        ),
        (
            json!({"tolerationSeconds": {"max": -1}}),
            "tolerationSeconds.max: expected seconds, from 0 to 9223372036, found the number `-1`",
        ),
        (json!({"sayTime": "yes"}), "sayTime: expected true or false, found the string `yes`"),
        (json!([]), "expected an object, found an array"),
    ] {
        let error = Settings::read(&wrong).unwrap_err().0;
        assert!(error.starts_with(expected), "{wrong}: {error}");
    }
    // What Kubernetes sets by itself is known without being said.
    let known = Settings::read(&json!({"taints": ["node.kubernetes.io/unreachable:NoExecute"]}));
    assert!(known.unwrap().taints.is_empty());
}

#[test]
fn policies_are_manifests_and_those_in_cel_correct_nothing() {
    let warn = settings(json!({"tolerationSeconds": {"max": 60}}));
    let vap = policies(Target::ValidatingAdmissionPolicy, &warn).unwrap();
    assert_eq!(vap.len(), 2);
    assert_eq!(vap[1]["spec"]["validationActions"], json!(["Warn", "Audit"]));
    assert_eq!(vap[0]["spec"]["failurePolicy"], "Ignore");
    let kyverno = policies(Target::Kyverno, &Settings { mode: Mode::Deny, ..warn }).unwrap();
    assert_eq!(kyverno[0]["spec"]["validationActions"], json!(["Deny"]));
    assert_eq!(kyverno[0]["spec"]["failurePolicy"], "Fail");
    let mutate = settings(json!({"mode": "mutate"}));
    let kubewarden = policies(Target::Kubewarden, &mutate).unwrap();
    assert_eq!(kubewarden[0]["spec"]["mutating"], true);
    assert_eq!(Settings::read(&kubewarden[0]["spec"]["settings"]), Ok(mutate.clone()));
    let refused = policies(Target::Kyverno, &mutate).unwrap_err();
    assert!(refused.ends_with("has no mode `mutate`; `kubewarden` has"), "{refused}");
}

/// The expressions of a policy, compiled once.
struct Evaluated {
    condition: Program,
    variables: Vec<(&'static str, Program)>,
    rules: Vec<(Rule, Program, Program)>,
}

impl Evaluated {
    fn of(settings: &Settings) -> Self {
        let compiled =
            |text: &str| Program::compile(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        Self {
            condition: compiled(&is_judged()),
            variables: variables(settings)
                .iter()
                .map(|it| (it.name, compiled(&it.expression)))
                .collect(),
            rules: validations(settings)
                .iter()
                .map(|it| (it.rule, compiled(&it.expression), compiled(&it.message_expression)))
                .collect(),
        }
    }

    /// The rules that an object breaks, once each, with what is said of it.
    fn broken(&self, object: &Value) -> BTreeMap<&'static str, String> {
        let mut context = Context::default();
        context.add_variable("object", object.clone()).unwrap();
        if self.condition.execute(&context).unwrap() != Cel::Bool(true) {
            return BTreeMap::new();
        }
        let mut values: std::collections::HashMap<String, Cel> = Default::default();
        for (name, program) in &self.variables {
            context.add_variable_from_value("variables", values.clone());
            let value = program.execute(&context).unwrap_or_else(|why| panic!("{name}: {why}"));
            values.insert((*name).to_owned(), value);
        }
        context.add_variable_from_value("variables", values);
        let mut broken = BTreeMap::new();
        for (rule, holds, message) in &self.rules {
            let holds = holds.execute(&context).unwrap_or_else(|why| panic!("{rule:?}: {why}"));
            if holds == Cel::Bool(false) {
                let Cel::String(message) = message.execute(&context).unwrap() else {
                    panic!("the message of {rule:?} is no text");
                };
                broken.insert(rule.as_str(), message.to_string());
            }
        }
        broken
    }
}

fn toleration() -> impl Strategy<Value = Value> {
    let key = prop::sample::select(vec![
        "",
        "other",
        "sla",
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
        "node.kubernetes.io/unreachble",
        "node.kubernetes.io/out-of-service",
        "example.com/gpu",
    ]);
    let value = prop::sample::select(vec![
        "",
        "950",
        "951",
        "-1",
        "007",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "-0",
    ]);
    // Many have a taint's key and value: chance alone seldom makes a match.
    let taint = vec![
        ("dedicated", "gpu"),
        ("drain", "soon"),
        ("drain", ""),
        ("sla", "950"),
        ("sla", "951"),
    ];
    let number = value.clone().prop_map(|value| ("sla", value));
    let pair = prop_oneof![(key, value), number, prop::sample::select(taint)];
    let operator = prop::sample::select(vec!["", "Exists", "Equal", "Lt", "Gt"]);
    let effect = prop::sample::select(vec!["", "NoSchedule", "NoExecute", "PreferNoSchedule"]);
    let seconds = prop::option::of(prop::sample::select(vec![-5_i64, 0, 30, 45, 60, 300, 9_000]));
    (pair, operator, effect, seconds).prop_map(|((key, value), operator, effect, seconds)| {
        let mut all = serde_json::Map::new();
        // As an API server sends it: what is empty is absent.
        for (name, text) in
            [("key", key), ("operator", operator), ("value", value), ("effect", effect)]
        {
            if !text.is_empty() {
                all.insert(name.into(), text.into());
            }
        }
        if let Some(seconds) = seconds {
            all.insert("tolerationSeconds".into(), seconds.into());
        }
        Value::Object(all)
    })
}

fn object() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec!["Pod", "Deployment", "DaemonSet", "CronJob", "Job"]);
    let tolerations = prop::option::of(prop::collection::vec(toleration(), 0..5));
    (kind, tolerations, any::<bool>(), 0..6_u8).prop_map(|(kind, tolerations, asks, owner)| {
        let mut spec = json!({"containers": [{"name": "c"}]});
        if asks {
            spec["containers"][0]["resources"] = json!({"limits": {"example.com/gpu": "1"}});
        }
        if let Some(tolerations) = tolerations {
            spec["tolerations"] = tolerations.into();
        }
        let metadata = match owner {
            0 => json!({"annotations": {"kubernetes.io/config.mirror": "x"}}),
            1 => json!({"ownerReferences": [{"kind": "DaemonSet", "controller": true}]}),
            2 => json!({"ownerReferences": [{"kind": "DaemonSet"}, {"kind": "Job", "controller": true}]}),
            3 => json!({"annotations": {"a": "b"}}),
            _ => json!({"name": "a"}),
        };
        let spec = match kind {
            "Pod" => spec,
            "CronJob" => json!({"jobTemplate": {"spec": {"template": {"spec": spec}}}}),
            _ => json!({"template": {"spec": spec}}),
        };
        json!({"kind": kind, "metadata": metadata, "spec": spec})
    })
}

fn any_settings() -> impl Strategy<Value = Settings> {
    let taints = prop::sample::subsequence(
        vec![
            "dedicated=gpu:NoSchedule",
            "drain=soon:NoExecute",
            "sla=950:NoExecute",
            "sla=7:NoSchedule",
            "drain:NoSchedule",
        ],
        0..=5,
    );
    let bound = || prop::option::of(prop::sample::select(vec![0_i64, 30, 60, 300]));
    (taints, bound(), bound(), any::<bool>()).prop_map(|(taints, one, other, blanket)| {
        let (min, max) = match (one, other) {
            (Some(one), Some(other)) => (Some(one.min(other)), Some(one.max(other))),
            both => both,
        };
        let bounds = json!({"min": min, "max": max});
        let all =
            json!({"taints": taints, "tolerationSeconds": bounds, "allowBlanketExists": blanket});
        Settings::read(&all).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// An API server that evaluates the expressions says what the engine says.
    #[test]
    fn cel_finds_what_the_engine_finds(
        settings in any_settings(),
        objects in prop::collection::vec(object(), 100..150),
    ) {
        let evaluated = Evaluated::of(&settings);
        for object in objects {
            let findings = judge(&object, &settings).unwrap().findings;
            let found: Vec<&str> = {
                let names: std::collections::BTreeSet<&str> =
                    findings.iter().map(|finding| finding.rule.as_str()).collect();
                names.into_iter().collect()
            };
            let broken = evaluated.broken(&object);
            prop_assert_eq!(
                found, broken.keys().copied().collect::<Vec<_>>(), "{} {:?}", object, settings
            );
            prop_assert!(broken.values().all(|message| message.len() > 10), "{:?}", broken);
        }
    }

    /// Corrected objects are within the bounds, and nothing else changes.
    #[test]
    fn corrected_objects_are_within_the_bounds(settings in any_settings(), object in object()) {
        let late = |object: &Value| {
            let findings = judge(object, &settings).unwrap().findings;
            findings.into_iter().filter(|it| it.rule == Rule::TolerationSeconds).count()
        };
        let corrected = correct(&object, &settings).unwrap();
        prop_assert_eq!(corrected.is_some(), late(&object) > 0, "{}", object);
        if let Some(mut corrected) = corrected {
            prop_assert_eq!(late(&corrected), 0, "{} becomes {}", object, corrected);
            let mut before = object.clone();
            for object in [&mut before, &mut corrected] {
                for place in
                    ["/spec", "/spec/template/spec", "/spec/jobTemplate/spec/template/spec"]
                {
                    if let Some(spec) = object.pointer_mut(place).and_then(Value::as_object_mut) {
                        spec.remove("tolerations");
                    }
                }
            }
            prop_assert_eq!(before, corrected);
        }
    }
}
