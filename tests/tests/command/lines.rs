//! Mistakes on a line of the command: what is wrong, and what would be valid.

use super::host::{taintlab, taintlab_words};

const PAIR: &str = "\
apiVersion: v1
kind: Node
metadata: {name: a}
---
apiVersion: v1
kind: Node
metadata: {name: b}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web}]}
";

const NOTHING: &str = "{apiVersion: v1, kind: List, items: []}\n";

const FILES: [(&str, &str); 2] = [("pair.yaml", PAIR), ("nothing.yaml", NOTHING)];

#[test]
fn a_toleration_is_one_that_the_api_server_takes() {
    let explain = |toleration: &str| {
        let line = ["explain", "--taint", "x=1:NoExecute", "--toleration", toleration];
        taintlab_words(&line, &[])
    };
    let short = "expected key=value:effect@seconds, or * for every key, found";
    for (toleration, said) in [
        ("", format!("--toleration: {short} ``")),
        (":NoExecute", format!("--toleration: {short} `:NoExecute`")),
        (
            "x@300",
            "--toleration x@300: the API server refuses it: effect: Invalid value: \"\": effect must \
             be 'NoExecute' when `tolerationSeconds` is set"
                .into(),
        ),
        (
            r#"{"key":"x","operator":"Exists","value":"1"}"#,
            r#"--toleration {"key":"x","operator":"Exists","value":"1"}: the API server refuses it: "#
                .to_owned()
                + "operator: Invalid value: \"1\": value must be empty when `operator` is 'Exists'",
        ),
        (
            "{}",
            "--toleration {}: the API server refuses it: operator: Invalid value: \"\": operator \
             must be Exists when `key` is empty"
                .into(),
        ),
        (" ", "--toleration  : the API server refuses it: key: Invalid value: \" \"".into()),
    ] {
        let ran = explain(toleration);
        assert!(ran.err.starts_with(&format!("error: {said}")), "{}", ran.err);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{toleration}");
    }
    for toleration in ["*", "*:NoExecute@30", "x=1:NoExecute@300", "null"] {
        assert_eq!(explain(toleration).code, 0, "{toleration}");
    }
}

#[test]
fn a_value_that_is_wrong_leads_to_one_that_is_not() {
    let taint = "invalid taint spec: x; expected KEY[=VALUE]:EFFECT, with one of NoSchedule, \
        PreferNoSchedule, NoExecute";
    for (line, said) in [
        ("explain --taint x", format!("--taint: {taint}")),
        ("when web -f pair.yaml --fault tainted=x", format!("--fault tainted: {taint}")),
        ("when web -f pair.yaml --taint x", format!("--taint: {taint}")),
        (
            "plan drain a -f pair.yaml --parallel 99999999999999",
            "--parallel: expected a whole number from 1 to 4294967295, found `99999999999999`"
                .into(),
        ),
        (
            "plan drain a -f pair.yaml --parallel 0",
            "--parallel: expected a whole number from 1 on, found `0`".into(),
        ),
        (
            "plan drain a -f pair.yaml --horizon 10000h",
            "--horizon: expected a year (8760h0m0s) at most, found `10000h`".into(),
        ),
        ("man plan melt", "man: expected one of drain, upgrade, spot, ".into()),
    ] {
        let ran = taintlab(line, &FILES);
        assert!(ran.err.starts_with(&format!("error: {said}")), "{line}: {}", ran.err);
        assert_eq!(ran.code, 2, "{line}");
    }
}

#[test]
fn a_cluster_without_anything_has_nothing_to_name() {
    let empty = "nothing.yaml:1:1: warning: the list is empty\n";
    for (line, said) in [
        ("plan drain a -f nothing.yaml", "error: plan: nodes: there is no node `a`"),
        ("plan zone-evacuation z -f nothing.yaml", "error: plan: nodes: there is no zone `z`"),
        (
            "smallest-outage web -f nothing.yaml",
            "error: smallest-outage: workload: there is no workload `web`",
        ),
        (
            "smallest-outage --zone z -f nothing.yaml",
            "error: smallest-outage: zone: there is no zone `z`",
        ),
        // Its nodes have no zones.
        (
            "smallest-outage --zone z -f pair.yaml",
            "error: smallest-outage: zone: there is no zone `z`",
        ),
    ] {
        let ran = taintlab(line, &FILES);
        assert!(
            ran.err.contains(&format!("{said}: the cluster has none\n")),
            "{line}: {}",
            ran.err
        );
        assert_eq!(ran.err.starts_with(empty), line.contains("nothing"), "{line}: {}", ran.err);
    }
    for (wish, said) in [
        ("no move if a node is lost", "the cluster has no node\n"),
        ("no move if a zone is lost", "no node has a zone\n"),
    ] {
        let ran = taintlab_words(&["solve", "nothing.yaml", "--want", wish], &FILES);
        assert!(ran.err.starts_with(empty) && ran.err.contains(said), "{}", ran.err);
    }
    let report = taintlab("report nothing.yaml", &FILES);
    assert!(report.out.ends_with("\nThe cluster has no workload\n"), "{}", report.out);
}

#[test]
fn nodes_without_a_zone_are_named_as_such() {
    let ran = taintlab_words(&["smallest-outage", "--zone", "", "-f", "pair.yaml"], &FILES);
    let said = "2 faults take the nodes without a zone out of Normal\n";
    assert!(ran.out.starts_with(said), "{ran:?}");
}

#[test]
fn a_workload_of_the_namespace_default_goes_by_its_kind_and_name() {
    let long = taintlab("smallest-outage deployment/default/web -f pair.yaml", &FILES);
    assert_eq!(long.code, 0, "{long:?}");
    for name in ["deployment/web", "deploy/web", "web"] {
        let ran = taintlab(&format!("smallest-outage {name} -f pair.yaml"), &FILES);
        assert_eq!((ran.code, ran.out), (0, long.out.clone()), "{name}");
    }
}

#[test]
fn a_place_that_is_wrong_in_settings_is_a_line_and_a_column() {
    for (settings, said) in [
        ("mode: log\n", "s.yaml:1:7: error: mode: expected"),
        (
            "mode: warn\ntolerationSeconds:\n  min: -1\n",
            "s.yaml:3:8: error: tolerationSeconds.min: expected",
        ),
        ("mode: warn\ntaints:\n- a=b\n", "s.yaml:3:3: error: taints[0]: invalid taint spec"),
        ("mode: warn\nmood: 1\n", "s.yaml:2:7: error: there is no field `mood` here"),
    ] {
        let ran = taintlab("policy --settings s.yaml", &[("s.yaml", settings)]);
        assert!(ran.err.starts_with(said), "{}", ran.err);
        assert_eq!(ran.code, 1);
    }
}

#[test]
fn a_number_that_does_not_fit_is_too_large() {
    for (seconds, said) in [
        ("99999999999999999999999", "which is too large\n"),
        ("-99999999999999999999999", "which is too small\n"),
    ] {
        let pod = format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n  tolerations:\n  - {{key: x, \
             operator: Exists, effect: NoExecute, tolerationSeconds: {seconds}}}\n"
        );
        let ran = taintlab("run pod.yaml", &[("pod.yaml", &pod)]);
        let said = format!("expected an integer, found the number `{seconds}`, {said}");
        assert!(ran.err.ends_with(&said), "{}", ran.err);
    }
}
