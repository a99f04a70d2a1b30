//! Of a marked cluster nothing comes out but the fields that enter, whichever way it takes.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use taintlab_core::api::WorkloadKey;
use taintlab_core::command::Command;
use taintlab_core::lanes::Lanes;
use taintlab_core::report::{Plan, ReportOptions, report};
use taintlab_core::scenario::Scenario;
use taintlab_core::simulator::Simulator;
use taintlab_core::time::{Span, Timestamp};
use taintlab_kubectl::{Context, run};
use taintlab_manifest::demo::{Demo, DemoOptions};
use taintlab_manifest::{
    Dropped, Extent, Format, Import, ImportOptions, Purpose, SvgOptions, export, import,
    read_scenario, redact_commands, redact_scenario, timeline_svg, to_yaml, write_scenario,
};
use taintlab_tests::marked::Marked;

const ENTERING: &str = include_str!("../fields/entering.txt");

fn entering() -> BTreeSet<&'static str> {
    ENTERING.lines().collect()
}

fn read(text: &str) -> Import {
    let read = import(text, "cluster", ImportOptions::default());
    let errors: Vec<_> = read.diagnostics.iter().filter(|it| it.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    read
}

/// Everything that an import becomes, as text.
fn exports(import: &Import) -> String {
    let mut out = format!("{import:?}");
    for purpose in [Purpose::State, Purpose::Apply] {
        for format in [Format::Yaml, Format::Json] {
            out += &export(&import.nodes, &import.pods, &import.others, purpose, format);
        }
    }
    for workload in &import.workloads {
        out += &to_yaml(workload).unwrap();
    }
    out + &write_scenario(&import.clone().into_scenario(Scenario::default()))
}

#[track_caller]
fn assert_clean(marked: &Marked, text: &str, what: &str) {
    let found = marked.found_in(text);
    let more: Vec<_> = found.difference(&entering()).copied().collect();
    assert!(more.is_empty(), "{what}: {more:?}");
}

#[test]
fn the_fields_that_enter_are_those_of_the_list() {
    let marked = Marked::cluster();
    let json = marked.text();
    let yaml = to_yaml(&serde_json::from_str::<Value>(&json).unwrap()).unwrap();
    for text in [json, yaml] {
        let out = exports(&read(&text));
        let found: Vec<&str> = marked.found_in(&out).into_iter().collect();
        let found = found.join("\n") + "\n";
        if std::env::var_os("BLESS").is_some() {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fields/entering.txt");
            std::fs::write(path, &found).unwrap();
            continue;
        }
        assert_eq!(found, ENTERING, "BLESS=1 writes it anew");
    }
    // With everything kept hardly a field is missing.
    let kept = import(&marked.text(), "cluster", ImportOptions::keep_all());
    let found = marked.found_in(&exports(&kept)).len();
    assert!(found > marked.fields.len() * 9 / 10, "{found} of {}", marked.fields.len());
    assert_eq!(kept.dropped, Dropped::default());
}

fn scenario(marked: &Marked) -> Scenario {
    let mut scenario = read(&marked.text()).into_scenario(Scenario::default());
    scenario.kubernetes.node_lifecycle = Some(true);
    scenario.kubernetes.control_plane = Some(true);
    scenario
}

#[test]
fn nothing_else_is_in_a_scenario_or_in_stored_work() {
    let marked = Marked::cluster();
    let options = ImportOptions::keep_all();
    let kept = import(&marked.text(), "cluster", options).into_scenario(Scenario::default());
    let text = write_scenario(&kept);
    let file = read_scenario(&text, "s", ImportOptions::default(), &mut |_| Err(String::new()));
    let scenario = file.scenario.unwrap_or_else(|| panic!("{:?}", file.diagnostics));
    assert_clean(&marked, &write_scenario(&scenario), "scenario");

    let mut stored = kept;
    assert!(!redact_scenario(&mut stored, Extent::Shown).unwrap().is_empty());
    assert_clean(&marked, &write_scenario(&stored), "stored work");
    assert_eq!(stored, scenario);
    assert_eq!(redact_scenario(&mut stored, Extent::Shown).unwrap(), Dropped::default());

    let workload =
        |at: usize| Command::CreateWorkload(Box::new(stored.objects.workloads[at].clone()));
    let mut edits = vec![workload(0), workload(1)];
    assert_eq!(redact_commands(&mut edits).unwrap(), Dropped::default());
}

#[test]
fn nothing_else_is_in_what_a_run_says() {
    let marked = Marked::cluster();
    let scenario = scenario(&marked);
    let mut simulator = scenario.simulator().unwrap();
    let mut said = format!("{:?}", simulator.snapshot());
    simulator.advance_to(Timestamp::from_secs(900)).unwrap();
    said += &format!("{:?}", simulator.drain_events());
    let lanes = Lanes::of(&scenario).unwrap();
    said += &timeline_svg(&lanes, &SvgOptions::default());
    let mut plan = Plan::new(scenario, ReportOptions::default()).unwrap();
    let runs = plan.runs();
    let results: Vec<_> = runs.iter().take(3).map(|run| plan.run(run).unwrap()).collect();
    let made = report(plan.outline(), &results).unwrap();
    said += &format!("{made:?}{}", serde_json::to_string(&made).unwrap());
    assert_clean(&marked, &said, "run");
}

/// What was dropped is not in the text that a demo carries, in whichever form.
#[test]
fn nothing_else_is_in_a_demo() {
    let marked = Marked::cluster();
    let kept = import(&marked.text(), "cluster", ImportOptions::keep_all());
    let short = Scenario { until: Some(Span(Duration::from_secs(10))), ..Scenario::default() };
    let text = write_scenario(&kept.into_scenario(short));
    assert!(marked.found_in(&text).difference(&entering()).count() > 100);
    let file = read_scenario(&text, "s", ImportOptions::default(), &mut |_| Err(String::new()));
    let scenario = file.scenario.unwrap_or_else(|| panic!("{:?}", file.diagnostics));
    assert!(!file.dropped.is_empty());
    let text = write_scenario(&scenario);
    let options = DemoOptions::default();
    let demo = Demo::new(&scenario, &text, &options).unwrap();
    // In place of what is packed, what would be.
    let embed = demo.embed(&options, "embed/", demo.text());
    for said in [
        demo.html(&options, demo.text()).unwrap(),
        serde_json::to_string(&demo.recording()).unwrap(),
        serde_json::to_string(&embed).unwrap(),
    ] {
        assert!(!marked.found_in(&said).is_empty());
        assert_clean(&marked, &said, "demo");
    }
}

const KINDS: &str = "nodes pods deployments replicasets statefulsets daemonsets jobs pdb pv pvc \
                     storageclasses volumeattachments services namespaces priorityclasses leases \
                     resourceslices resourceclaims resourceclaimtemplates deviceclasses \
                     devicetaintrules events";

fn line(simulator: &Simulator, line: &str, stdin: Option<&str>) -> taintlab_kubectl::Outcome {
    run(&Context::new(simulator, &[]), line, stdin)
}

#[test]
fn nothing_else_is_in_the_console() {
    let marked = Marked::cluster();
    let simulator = scenario(&marked).simulator().unwrap();
    let mut said = String::new();
    for kind in KINDS.split_whitespace() {
        for words in [
            format!("get {kind} -A -o yaml"),
            format!("get {kind} -A -o wide"),
            format!("describe {kind} -A"),
        ] {
            let outcome = line(&simulator, &format!("kubectl {words}"), None);
            said += &outcome.terminal;
        }
    }
    assert!(marked.found_in(&said).len() > 100, "{said}");
    assert_clean(&marked, &said, "console");
}

#[test]
fn nothing_else_enters_by_a_line_of_the_console() {
    let marked = Marked::cluster();
    let mut simulator = Scenario {
        kubernetes: serde_json::from_str(r#"{"controlPlane":true}"#).unwrap(),
        ..Scenario::default()
    }
    .simulator()
    .unwrap();
    let taken = ["Node", "Pod", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"];
    let mut said = String::new();
    for object in &marked.objects {
        let kind = object["kind"].as_str().unwrap();
        if !taken.contains(&kind) {
            continue;
        }
        let text = object.to_string();
        // What a pod is made of cannot be replaced.
        let verbs: &[&str] = if kind == "Pod" { &["apply"] } else { &["apply", "replace"] };
        for verb in verbs {
            let outcome = line(&simulator, &format!("kubectl {verb} -f -"), Some(&text));
            assert_eq!(outcome.exit_code, 0, "{kind}: {}", outcome.terminal);
            assert!(outcome.stderr.contains("not kept, since no simulation reads it"), "{kind}");
            said += &format!("{outcome:?}");
            for command in outcome.commands {
                simulator.handle_command(simulator.now(), command).unwrap();
            }
        }
    }
    said += &format!("{:?}", simulator.snapshot());
    assert_clean(&marked, &said, "console");
}

/// Two templates that differ in what does not enter are alike; the revision tells which is newer.
#[test]
fn a_rollout_goes_on_to_the_template_that_is_newer() {
    let template = |value: &str| {
        json!({
            "metadata": { "labels": { "app": "web" } },
            "spec": { "containers": [{ "name": "c", "env": [{ "name": "V", "value": value }] }] },
        })
    };
    let object = |kind: &str, name: &str, revision: &str, replicas: u32, value: &str| {
        let mut object = json!({
            "apiVersion": "apps/v1", "kind": kind,
            "metadata": {
                "name": name, "namespace": "default", "uid": name, "labels": { "app": "web" },
                "annotations": { "deployment.kubernetes.io/revision": revision },
            },
            "spec": {
                "replicas": replicas, "selector": { "matchLabels": { "app": "web" } },
                "template": template(value),
            },
        });
        if kind == "ReplicaSet" {
            object["metadata"]["ownerReferences"] = json!([{
                "apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "web",
                "controller": true,
            }]);
        }
        object
    };
    let items = [
        json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "a" } }),
        object("Deployment", "web", "2", 3, "new"),
        object("ReplicaSet", "web-old", "1", 3, "old"),
        object("ReplicaSet", "web-new", "2", 1, "new"),
    ];
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string();
    let mut scenario = read(&list).into_scenario(Scenario::default());
    scenario.kubernetes.control_plane = Some(true);
    let mut simulator = scenario.simulator().unwrap();
    simulator.advance_to(Timestamp::from_secs(600)).unwrap();
    let key = WorkloadKey::parse("replicaset/default/web-new").unwrap();
    assert_eq!(simulator.cluster().get_workload(&key).unwrap().replicas(), 3);
}
