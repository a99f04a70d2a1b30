//! Mistakes on a line of the command: what is wrong, and what would be valid.

use super::host::taintlab_words;

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
