//! `taintlab lint`: the place, the format and the exit code of what is likely to surprise.

use serde_json::Value;

use super::host::taintlab;

const STUCK: &str = "\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec:
  replicas: 1
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: db}]
---
apiVersion: v1
kind: Node
metadata: {name: b}
";

const FOREVER: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      tolerations:
      - {key: example.com/gpu, operator: Exists}
      - {operator: Exists}
      containers: [{name: web}]
---
apiVersion: v1
kind: Node
metadata: {name: a}
";

#[test]
fn a_warning_has_the_place_of_its_field() {
    let ran = taintlab("lint web.yaml", &[("web.yaml", FOREVER)]);
    assert!(ran.out.contains("web.yaml:11:9: warning: pod shop/web-"), "{ran:?}");
    assert!(ran.out.contains("[tolerates-unreachable-forever]"), "{ran:?}");
    assert_eq!(ran.code, 1);
}

#[test]
fn several_files_each_have_their_lines() {
    let files = [("web.yaml", FOREVER), ("db.yaml", STUCK)];
    let ran = taintlab("lint web.yaml db.yaml --format json", &files);
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    let places: Vec<String> = json["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["file"].is_string())
        .map(|it| format!("{}:{}:{}", it["file"].as_str().unwrap(), it["line"], it["code"]))
        .collect();
    assert!(places.contains(&"db.yaml:1:\"stateful-set-stuck\"".to_owned()), "{places:?}");
    assert!(places.contains(&"web.yaml:11:\"tolerates-unreachable-forever\"".to_owned()));
}

#[test]
fn the_exit_code_goes_by_severity() {
    for (line, code) in [
        ("lint db.yaml", 0),
        ("lint db.yaml --fail-on note", 1),
        ("lint db.yaml --fail-on critical", 0),
        ("lint web.yaml", 1),
        ("lint web.yaml --fail-on critical", 0),
        ("lint web.yaml --fail-on never", 0),
        ("lint web.yaml --fail-on often", 2),
        ("lint web.yaml --format xml", 2),
        ("lint missing.yaml", 1),
        ("lint", 2),
    ] {
        let ran = taintlab(line, &[("db.yaml", STUCK), ("web.yaml", FOREVER)]);
        assert_eq!(ran.code, code, "{line}: {ran:?}");
    }
}

#[test]
fn sarif_and_annotations_name_rule_and_place() {
    let files = [("web.yaml", FOREVER)];
    let sarif: Value =
        serde_json::from_str(&taintlab("lint web.yaml --format sarif", &files).out).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let found = results.iter().find(|it| it["ruleId"] == "tolerates-unreachable-forever").unwrap();
    let place = &found["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "web.yaml");
    assert_eq!(place["region"]["startLine"], 11);
    let rules = sarif["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    let is_known = |it: &Value| rules.iter().any(|rule| rule["id"] == it["ruleId"]);
    assert!(results.iter().all(is_known), "{results:?}");

    let github = taintlab("lint web.yaml --format github", &files).out;
    let title = "title=taintlab tolerates-unreachable-forever::pod shop/web-";
    assert!(github.contains(&format!("::warning file=web.yaml,line=11,col=9,{title}")), "{github}");
    let lines = github.lines().all(|line| line.starts_with("::"));
    assert!(lines, "a message is one line: {github}");
}

#[test]
fn what_the_api_server_would_refuse_is_an_error_with_its_place() {
    let wrong = STUCK.replace("replicas: 1", "replicas: one");
    let ran = taintlab("lint db.yaml", &[("db.yaml", &wrong)]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.starts_with("db.yaml:5:13: error: spec.replicas: expected"), "{}", ran.err);
}

#[test]
fn each_severity_is_counted_by_its_name() {
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c}]}}";
    let node = "{apiVersion: v1, kind: Node, metadata: {name: worker}}";
    let (note, both) = (format!("{pod}\n---\n{node}\n"), format!("{FOREVER}---\n{pod}\n"));
    let files = [("note.yaml", note.as_str()), ("both.yaml", both.as_str())];
    let ran = taintlab("lint note.yaml", &files);
    assert!(ran.out.ends_with("\n1 note\n") && ran.code == 0, "{ran:?}");
    let ran = taintlab("lint both.yaml", &files);
    assert!(ran.out.contains("\n1 warning, 2 notes\n") && ran.code == 1, "{ran:?}");
}

#[test]
fn nothing_is_said_of_nothing() {
    let node = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n";
    let ran = taintlab("lint a.yaml", &[("a.yaml", node)]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "nothing is likely to surprise\n"), "{ran:?}");
}
