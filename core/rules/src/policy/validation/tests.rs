use alloc::string::{String, ToString};
use alloc::{vec, vec::Vec};

use super::*;
use crate::api::Workload;

const OLD: ValidationOptions = ValidationOptions {
    exists_value_dump: true,
    comparison_operators: false,
    names_comparison_operators: false,
    counts_bytes_of_labels: false,
    shows_json: false,
    daemon_set_surge: false,
    backoff_limit_per_index: false,
};
const NEW: ValidationOptions = ValidationOptions {
    exists_value_dump: false,
    comparison_operators: false,
    names_comparison_operators: true,
    counts_bytes_of_labels: true,
    shows_json: true,
    daemon_set_surge: true,
    backoff_limit_per_index: true,
};
const GATE: ValidationOptions = ValidationOptions { comparison_operators: true, ..NEW };

fn toleration(key: &str, operator: &str, value: &str, effect: &str) -> Toleration {
    Toleration {
        key: key.into(),
        operator: operator.into(),
        value: value.into(),
        effect: effect.into(),
        toleration_seconds: None,
    }
}

fn seconds(seconds: i64, toleration: Toleration) -> Toleration {
    Toleration { toleration_seconds: Some(seconds), ..toleration }
}

fn texts(errors: Vec<FieldError>) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

/// The worked examples V1 to V7.
#[test]
fn tolerations() {
    let none: &[&str] = &[];
    for (id, toleration, options, expected) in [
        ("V1", toleration("", "Exists", "", ""), OLD, none),
        (
            "V2",
            Toleration::default(),
            OLD,
            &["spec.tolerations[0].operator: Invalid value: \"\": operator must be Exists when \
               `key` is empty, which means \"match all values and all keys\""],
        ),
        (
            "V3 to 1.31",
            toleration("k", "Exists", "v", ""),
            OLD,
            &["spec.tolerations[0].operator: Invalid value: core.Toleration{Key:\"k\", \
               Operator:\"Exists\", Value:\"v\", Effect:\"\", TolerationSeconds:(*int64)(nil)}: \
               value must be empty when `operator` is 'Exists'"],
        ),
        (
            "V3 since 1.32",
            toleration("k", "Exists", "v", ""),
            NEW,
            &["spec.tolerations[0].operator: Invalid value: \"v\": value must be empty when \
               `operator` is 'Exists'"],
        ),
        (
            "V4",
            toleration("k", "Gt", "5", ""),
            OLD,
            &["spec.tolerations[0].operator: Unsupported value: \"Gt\": supported values: \
               \"Equal\", \"Exists\""],
        ),
        (
            "V4 since 1.35",
            toleration("k", "Gt", "5", ""),
            NEW,
            &["spec.tolerations[0].operator: Unsupported value: \"Gt\": supported values: \
               \"Equal\", \"Exists\", \"Lt\", \"Gt\""],
        ),
        ("V4 with the gate", toleration("k", "Gt", "5", ""), GATE, none),
        (
            "a leading zero with the gate",
            toleration("k", "Lt", "05", ""),
            GATE,
            &["spec.tolerations[0].value: Invalid value: \"05\": must be a valid decimal integer \
               in canonical form"],
        ),
        (
            "no number with the gate",
            toleration("k", "Lt", "", ""),
            GATE,
            &[
                "spec.tolerations[0].value: Invalid value: \"\": must be non-empty",
                "spec.tolerations[0].value: Invalid value: \"\": strconv.ParseInt: parsing \"\": \
                 invalid syntax",
            ],
        ),
        (
            "too large a number with the gate",
            toleration("k", "Lt", "9223372036854775808", ""),
            GATE,
            &["spec.tolerations[0].value: Invalid value: \"9223372036854775808\": \
               strconv.ParseInt: parsing \"9223372036854775808\": value out of range"],
        ),
        (
            "an unknown operator with the gate",
            toleration("k", "In", "5", ""),
            GATE,
            &["spec.tolerations[0].operator: Unsupported value: \"In\": supported values: \
               \"Equal\", \"Exists\""],
        ),
        (
            "V5",
            seconds(5, toleration("k", "Exists", "", "NoSchedule")),
            OLD,
            &["spec.tolerations[0].effect: Invalid value: \"NoSchedule\": effect must be \
               'NoExecute' when `tolerationSeconds` is set"],
        ),
        (
            "V6",
            seconds(5, toleration("k", "Exists", "", "")),
            OLD,
            &["spec.tolerations[0].effect: Invalid value: \"\": effect must be 'NoExecute' when \
               `tolerationSeconds` is set"],
        ),
        ("V7", seconds(-5, toleration("k", "Exists", "", "NoExecute")), OLD, none),
    ] {
        let errors = validate_tolerations(&[toleration], "spec.tolerations", &options);
        assert_eq!(texts(errors), expected, "{id}");
    }
}

/// The worked examples V8 to V10.
#[test]
fn node_taints() {
    let check = |taints: &[Taint]| texts(validate_node_taints(taints, "metadata.taints"));
    let taint = |key, value, effect: &str| Taint::new(key, value, effect.into());
    let mut stamped = taint("k", "x", "NoSchedule");
    stamped.time_added = Some(crate::time::Time::from_unix_seconds(1_577_836_865));
    assert_eq!(
        check(&[taint("k", "", "NoSchedule"), stamped]),
        ["metadata.taints[1]: Duplicate value: core.Taint{Key:\"k\", Value:\"x\", \
          Effect:\"NoSchedule\", TimeAdded:time.Date(2020, time.January, 1, 0, 1, 5, 0, \
          time.Local)}: taints must be unique by key and effect pair"],
        "V8"
    );
    assert_eq!(check(&[taint("k", "", "")]), ["metadata.taints[0].effect: Required value"], "V9");
    assert!(check(&[taint("k", "", "NoSchedule"), taint("k", "", "NoExecute")]).is_empty(), "V10");
    let empty_key = check(&[taint("", "", "NoSchedule")]);
    assert_eq!(empty_key.len(), 2, "an empty key is two errors: {empty_key:?}");
}

/// The worked examples V11 to V13.
#[test]
fn pod_update() {
    let check = |new: &[Toleration], old: &[Toleration]| {
        texts(validate_only_added_tolerations(new, old, "spec.tolerations", &NEW))
    };
    let exists = |key, seconds| Toleration {
        toleration_seconds: seconds,
        ..toleration(key, "Exists", "", "NoExecute")
    };
    let forbidden = vec![
        "spec.tolerations: Forbidden: existing toleration can not be modified except its \
         tolerationSeconds",
    ];
    assert_eq!(check(&[], &[exists("k", Some(5))]), forbidden, "V11");
    let old = [exists("k", Some(5))];
    assert!(check(&[exists("z", None), exists("k", Some(-5))], &old).is_empty(), "V12");
    let old = [exists("k", None)];
    assert_eq!(check(&[toleration("k", "", "", "NoExecute")], &old), forbidden, "V13");
    // A pod that has one of the operators may get more.
    let pod = |tolerations: &[Toleration]| {
        let mut pod = Pod::default();
        pod.spec.tolerations = tolerations.to_vec().into();
        pod
    };
    let old = [toleration("k", "Lt", "5", "")];
    let new = [old[0].clone(), toleration("j", "Gt", "1", "")];
    assert!(validate_pod_update(&pod(&new), &pod(&old), &NEW).is_empty());
    assert!(!validate_pod_update(&pod(&new), &pod(&[]), &NEW).is_empty());
}

#[test]
fn names_of_nodes_pods_and_namespaces() {
    let mut pod = Pod::default();
    assert_eq!(
        texts(validate_pod(&pod, &NEW)),
        [
            "metadata.name: Required value: name or generateName is required",
            "metadata.namespace: Required value"
        ]
    );
    pod.metadata.name = "web.0".into();
    pod.metadata.namespace = "a.b".into();
    pod.spec.node_name = "Node".into();
    let errors = validate_pod(&pod, &NEW);
    let fields: Vec<_> = errors.iter().map(|error| error.field.as_str()).collect();
    assert_eq!(fields, ["metadata.namespace", "spec.nodeName"]);
    assert_eq!(
        errors[0].to_string(),
        "metadata.namespace: Invalid value: \"a.b\": a lowercase RFC 1123 label must consist of \
         lower case alphanumeric characters or '-', and must start and end with an alphanumeric \
         character (e.g. 'my-name',  or '123-abc', regex used for validation is \
         '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
    );
    let mut node = Node::default();
    node.metadata.name = "-n".into();
    node.metadata.labels.insert("a/b/c".into(), "x y".into());
    node.metadata.annotations.insert("Example.COM/A".into(), "anything at all".into());
    let errors = validate_node(&node, &NEW);
    let fields: Vec<_> = errors.iter().map(|error| error.field.as_str()).collect();
    assert_eq!(fields, ["metadata.name", "metadata.labels", "metadata.labels"]);
}

#[test]
fn errors_are_camel_case_json() {
    let errors = validate_tolerations(&[toleration("k", "Exists", "v", "")], "t", &OLD);
    assert_eq!(
        serde_json::to_value(&errors).unwrap(),
        serde_json::json!([{
            "field": "t[0].operator",
            "type": "FieldValueInvalid",
            "badValue": { "key": "k", "operator": "Exists", "value": "v" },
            "detail": "value must be empty when `operator` is 'Exists'",
        }])
    );
}

#[test]
fn a_daemon_set_takes_away_or_surges() {
    let of = |rolling: serde_json::Value, type_: &str, options| -> Vec<String> {
        let set: Workload = serde_json::from_value(serde_json::json!({
            "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": { "name": "logs" },
            "spec": {
                "selector": { "matchLabels": { "app": "logs" } },
                "template": { "metadata": { "labels": { "app": "logs" } } },
                "updateStrategy": { "type": type_, "rollingUpdate": rolling },
            },
        }))
        .unwrap();
        validate_workload(&set, options).iter().map(ToString::to_string).collect()
    };
    let path = "spec.updateStrategy.rollingUpdate";
    let surge = |value: &str| {
        format!(
            "{path}.maxSurge: Invalid value: {value}: may not be set when maxUnavailable is non-zero"
        )
    };
    let one = surge("intstr.IntOrString{Type:0, IntVal:1, StrVal:\"\"}");
    let part = surge("intstr.IntOrString{Type:1, IntVal:0, StrVal:\"10%\"}");
    let none = format!("{path}.maxUnavailable: Required value: cannot be 0 when maxSurge is 0");
    let old = format!(
        "{path}.maxUnavailable: Invalid value: \
         intstr.IntOrString{{Type:0, IntVal:0, StrVal:\"\"}}: cannot be 0"
    );
    for (rolling, before, since) in [
        (serde_json::json!({}), None, None),
        (serde_json::json!({ "maxSurge": 1 }), None, Some(&one)),
        (serde_json::json!({ "maxSurge": "10%", "maxUnavailable": 2 }), None, Some(&part)),
        (serde_json::json!({ "maxSurge": 1, "maxUnavailable": 0 }), Some(&old), None),
        (serde_json::json!({ "maxUnavailable": 0 }), Some(&old), Some(&none)),
        (serde_json::json!({ "maxSurge": "0%", "maxUnavailable": "50%" }), None, None),
    ] {
        for (options, expected) in [(&OLD, before), (&NEW, since)] {
            let expected: Vec<String> = expected.into_iter().cloned().collect();
            assert_eq!(of(rolling.clone(), "", options), expected, "{rolling}");
            assert!(of(rolling.clone(), "OnDelete", options).is_empty(), "{rolling}");
        }
    }
}

#[test]
fn limits_per_index_are_for_jobs_with_indexes() {
    for (mode, options, number) in [("", &NEW, 2), ("Indexed", &NEW, 0), ("", &OLD, 0)] {
        let job: Workload = serde_json::from_value(serde_json::json!({
            "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": "j" },
            "spec": {
                "completionMode": mode, "completions": 2, "backoffLimitPerIndex": 1,
                "maxFailedIndexes": 1, "template": {},
            },
        }))
        .unwrap();
        let errors = validate_workload(&job, options);
        assert_eq!(errors.len(), number, "{mode} {errors:?}");
        if let Some(first) = errors.first() {
            let said =
                "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode";
            assert_eq!(first.to_string(), said);
        }
    }
}
