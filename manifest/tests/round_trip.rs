//! What is written is read again as it was.

#![expect(clippy::unwrap_used, reason = "a test says with a panic that it failed")]

use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Map, Value, json};
use taintlab_core::api::{Node, Pod, Taint, TaintEffect, Toleration, TolerationOperator};
use taintlab_core::scenario::Scenario;
use taintlab_core::time::Time;
use taintlab_manifest::{
    Format, ImportOptions, Purpose, export, import, is_scenario, read_scenario, to_yaml,
    write_scenario,
};

/// Texts that some reader of YAML takes for something else, or cannot take at all.
const NASTY: &[&str] = &[
    "",
    " ",
    "yes",
    "No",
    "y",
    "on",
    "true",
    "null",
    "~",
    "1.0",
    "1e3",
    "0x1F",
    "0644",
    "1_000",
    "12:30:45",
    "12:30",
    "2020-01-01",
    "2020-01-01T00:00:00Z",
    ".5",
    "-",
    "--",
    "---",
    "...",
    "- a",
    "? a",
    "a: b",
    "a:",
    ":a",
    "a #b",
    "#a",
    "*a",
    "&a",
    "!a",
    "%a",
    "@a",
    "`a",
    "|",
    ">",
    "{a}",
    "[a]",
    "a,b",
    "'",
    "\"",
    "'a'",
    "\"a\"",
    "\\",
    "\\n",
    "a\\",
    "<<",
    "=",
    "+",
    "+1",
    "0o7",
    "a\nb",
    "a\nb\n",
    "a\n\nb",
    "a\n\n",
    "\na",
    "\n",
    " a\nb",
    "a \nb",
    "a\n b",
    "a\n# b\n",
    "a\n---\nb",
    "a\r\nb",
    "a\rb",
    "a\tb",
    "\ta\nb",
    "a\n\tb",
    "trailing ",
    " leading",
    "é 世界 😀",
    "\0",
    "\u{1}",
    "\u{7f}",
    "\u{85}",
    "\u{a0}",
    "\u{200b}",
    "\u{2028}",
    "\u{feff}",
    "\u{fffe}",
    "\u{10ffff}",
    "🚀\nrocket",
    "key: |\n  text\n",
    "{{ template }}",
    "Null",
    "NaN",
    ".nan",
    "inf",
    "100m",
    "10.0.0.1",
    "a=b",
    "/var/run",
    "1.2.3",
    "1.30",
    "0b1",
    "é\nü\n",
    "/a\nb",
    "a:b",
    "a::",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::sample::select(NASTY).prop_map(String::from),
        1 => "[ -~]{0,20}",
        1 => "[a-z \n:#'\"\\-|>]{0,12}",
        1 => any::<String>(),
        1 => prop::collection::vec(prop::sample::select(NASTY), 1..4).prop_map(|all| all.concat()),
    ]
}

/// Any JSON that Kubernetes could hold; a whole number is never written with a fraction there.
fn json_value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        4 => text().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => (-1_000_000..1_000_000_i64, 0..20_i32)
            .prop_filter("a fraction", |(digits, scale)| {
                f64::from(*scale) > 0.0 && digits % 10 != 0
            })
            .prop_map(|(digits, scale)| Value::from(digits as f64 / 10_f64.powi(scale)))
            .prop_filter("a fraction", |value| value.as_f64().unwrap().fract() != 0.0),
        1 => Just(Value::Null),
    ];
    scalar.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![9 => text(), 1 => "[a-z]{600,1500}"]
}

fn label() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(&["yes", "1.0", "null", "0644", "a", "e1", "1e3", "", "N"][..])
            .prop_map(String::from),
        "[a-z0-9]([a-z0-9._]{0,5}[a-z0-9])?",
    ]
}

fn key_name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,8}", "[a-z]{1,5}\\.io/[a-z]{1,8}", Just("yes".into()), Just("1".into())]
}

fn effect() -> impl Strategy<Value = TaintEffect> {
    prop::sample::select(TaintEffect::KNOWN)
}

/// Fields that no type has, so that they are kept as they are.
fn others() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::btree_map("x[a-zA-Z]{3,8}", json_value(), 0..3)
        .prop_map(|map| map.into_iter().filter(|(_, value)| !value.is_null()).collect())
}

prop_compose! {
    fn nodes()(all in prop::collection::vec((
        prop::collection::btree_map(key_name(), label(), 0..3),
        prop::collection::btree_map(key_name(), text(), 0..3),
        prop::collection::btree_map((key_name(), effect()), label(), 0..3),
        any::<bool>(), others(), others(), others(), text(),
    ), 0..4)) -> Vec<Node> {
        all.into_iter().enumerate().map(|(i, (labels, annotations, taints, flag, a, b, c, uid))| {
            let mut node = Node::default();
            node.metadata.name = format!("{i}");
            node.metadata.labels = labels.into();
            node.metadata.annotations = annotations.into();
            node.metadata.uid = uid;
            node.metadata.other = a.into();
            node.spec.unschedulable = flag;
            node.spec.taints = taints.into_iter().map(|((key, effect), value)| {
                let time_added = flag.then(|| Time::from_unix_seconds(1_700_000_000));
                Taint { time_added, ..Taint::new(&key, &value, effect) }
            }).collect();
            node.spec.other = b.into();
            node.other = c.into();
            node
        }).collect()
    }
}

prop_compose! {
    fn pods()(all in prop::collection::vec((
        prop::collection::btree_map(key_name(), text(), 0..3),
        prop::collection::vec((key_name(), label(), any::<Option<i64>>()), 0..3),
        others(), others(), text(), text(),
    ), 0..4)) -> Vec<Pod> {
        all.into_iter().enumerate().map(|(i, (annotations, tolerations, a, b, reason, message))| {
            let mut pod = Pod::default();
            pod.metadata.name = format!("p{i}");
            pod.metadata.namespace = if i == 1 { "no".into() } else { "default".into() };
            pod.metadata.annotations = annotations.into();
            pod.spec.tolerations = tolerations.into_iter().map(|(key, value, seconds)| Toleration {
                key,
                operator: TolerationOperator::Equal,
                value,
                effect: TaintEffect::NoExecute,
                toleration_seconds: seconds,
            }).collect();
            pod.spec.other = a.into();
            pod.status.other = b.into();
            pod.status.reason = reason;
            pod.status.message = message;
            pod
        }).collect()
    }
}

prop_compose! {
    fn objects()(all in prop::collection::vec(json_value(), 0..3)) -> Vec<Value> {
        all.into_iter().map(|data| {
            json!({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "c" }, "data": data,
            })
        }).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        rng_seed: RngSeed::Fixed(0),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn exported_objects_import_the_same(nodes in nodes(), pods in pods(), others in objects()) {
        for format in [Format::Yaml, Format::Json] {
            let text = export(&nodes, &pods, &others, Purpose::State, format);
            let import = import(&text, "export", ImportOptions::keep_all());
            let errors: Vec<_> = import.diagnostics.iter().filter(|d| d.is_error()).collect();
            prop_assert!(errors.is_empty(), "{errors:?}\n{text}");
            prop_assert_eq!(&import.nodes, &nodes, "{}", text);
            prop_assert_eq!(&import.pods, &pods, "{}", text);
            prop_assert_eq!(&import.others, &others, "{}", text);
        }
    }

    #[test]
    fn exports_for_kubectl_have_what_it_wants(nodes in nodes(), pods in pods()) {
        let text = export(&nodes, &pods, &[], Purpose::Apply, Format::Yaml);
        let import = import(&text, "export", ImportOptions::keep_all());
        prop_assert!(!import.has_errors(), "{:?}\n{}", import.diagnostics, text);
        for pod in &import.pods {
            prop_assert!(pod.spec.other.get("containers").is_some());
            prop_assert!(pod.status == Default::default() && pod.metadata.uid.is_empty());
        }
        prop_assert_eq!(
            import.pods.iter().map(|pod| &pod.spec.tolerations).collect::<Vec<_>>(),
            pods.iter().map(|pod| &pod.spec.tolerations).collect::<Vec<_>>()
        );
        prop_assert_eq!(
            import.nodes.iter().map(|node| &node.spec).collect::<Vec<_>>(),
            nodes.iter().map(|node| &node.spec).collect::<Vec<_>>()
        );
    }

    #[test]
    fn any_value_is_written_so_that_it_is_read_the_same(value in json_value(), in_list: bool) {
        let value = if in_list { json!([value]) } else { json!({ "value": value }) };
        let object = json!({ "apiVersion": "example.com/v1", "kind": "Any", "spec": value });
        let text = to_yaml(&object).unwrap();
        let import = import(&text, "value.yaml", ImportOptions::keep_all());
        prop_assert_eq!(&import.others, &[object], "{}\n{:?}", text, import.diagnostics);
    }

    #[test]
    fn a_scenario_with_any_texts_is_read_the_same(
        nodes in nodes(), pods in pods(), title in text(), question in text(),
    ) {
        let mut scenario = Scenario::default();
        scenario.metadata.title = title;
        scenario.metadata.question = question;
        scenario.objects.nodes = nodes.into_iter().map(Arc::new).collect();
        scenario.objects.pods = pods.into_iter().map(Arc::new).collect();
        let text = write_scenario(&scenario);
        let (all, mut none) = (ImportOptions::keep_all(), |_: &str| Err("none".into()));
        let read = read_scenario(&text, "s.yaml", all, &mut none);
        prop_assert_eq!(read.scenario, Some(scenario), "{:?}\n{}", read.diagnostics, text);
    }
}

#[test]
fn example_scenarios_survive_being_written() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
    let load = |name: &str| {
        std::fs::read_to_string(format!("{folder}/{name}")).map_err(|error| error.to_string())
    };
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let text = load(&name).unwrap();
        if !is_scenario(&text) {
            assert!(!import(&text, &name, ImportOptions::keep_all()).has_errors(), "{name}");
            continue;
        }
        let read = read_scenario(&text, &name, ImportOptions::keep_all(), &mut { load });
        let scenario = read.scenario.unwrap_or_else(|| panic!("{:?}", read.diagnostics));
        let written = write_scenario(&scenario);
        assert!(is_scenario(&written), "{written}");
        let again = read_scenario(&written, &name, ImportOptions::keep_all(), &mut { load });
        assert_eq!(again.scenario, Some(scenario), "{name}: {:?}", again.diagnostics);
        count += 1;
    }
    assert!(count > 0);
}
