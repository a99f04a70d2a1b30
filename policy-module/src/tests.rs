//! The contract of `docs/policy-module.md`, natively: answers, errors and limits.

use crate::{DEFAULT_LIMIT, MAX_LIMIT, call};
use serde_json::{Value, json};

fn text(request: &Value) -> String {
    String::from_utf8(call(request.to_string().as_bytes(), 0)).unwrap()
}

fn answer(request: &Value) -> Value {
    serde_json::from_str(&text(request)).unwrap()
}

/// The message of the only error.
fn refused(request: &[u8], limit: usize) -> String {
    let answer: Value = serde_json::from_slice(&call(request, limit)).unwrap();
    assert_eq!(answer["ok"], false, "{answer}");
    assert_eq!(answer["errors"][0]["code"], "invalidRequest", "{answer}");
    answer["errors"][0]["message"].as_str().unwrap().to_owned()
}

#[test]
fn matching_explains_each_pair() {
    let request = json!({
        "function": "match",
        "taints": [{ "key": "a", "effect": "NoExecute" }],
        "tolerations": [{ "key": "a", "operator": "Exists", "tolerationSeconds": 300 }],
    });
    let toleration = r#"{"key":"a","operator":"Exists","tolerationSeconds":300}"#;
    let taint = r#"{"key":"a","effect":"NoExecute"}"#;
    assert_eq!(
        text(&request),
        format!(
            "{{\"tolerations\":[{toleration}],\"taints\":[{{\"taint\":{taint},\"noExecute\":true,\
             \"tolerationIndex\":0,\"consequence\":\"toleratedForAWhile\",\
             \"outcomes\":[{{\"type\":\"used\"}}]}}],\"verdict\":{{\"type\":\"evictedAfter\",\
             \"afterMilliseconds\":300000,\"tolerationIndex\":0,\"overflowed\":false}}}}"
        )
    );
}

#[test]
fn toleration_time_is_seconds_or_null_for_forever() {
    let time = |tolerations: Value| {
        text(&json!({ "function": "toleration_time", "tolerations": tolerations }))
    };
    assert_eq!(time(json!([{ "tolerationSeconds": 300 }, { "tolerationSeconds": 60 }])), "60");
    assert_eq!(time(json!([{}])), "null");
    assert_eq!(time(json!([])), "0");
}

#[test]
fn zone_state_counts_ready_conditions() {
    let node =
        |status| json!({ "status": { "conditions": [{ "type": "Ready", "status": status }] } });
    let request = json!({
        "function": "zone_state",
        "nodes": [node("True"), node("Unknown"), { "metadata": { "name": "no-condition" } }],
    });
    assert_eq!(text(&request), r#"{"state":"Normal","ready":1,"notReady":2}"#);
}

#[test]
fn validation_speaks_as_the_api_server() {
    let valid = json!({ "function": "validate", "tolerations": [{ "operator": "Exists" }] });
    assert_eq!(text(&valid), r#"{"ok":true}"#);
    let wrong = json!({
        "function": "validate",
        "taints": [{ "key": "a", "effect": "NoExec" }],
        "tolerations": [{ "key": "a", "operator": "Sometimes" }],
    });
    let paths: Vec<_> =
        answer(&wrong)["errors"].as_array().unwrap().iter().map(|e| e["path"].clone()).collect();
    assert_eq!(paths, ["spec.taints[0].effect", "spec.tolerations[0].operator"]);
}

#[cfg(feature = "simulator")]
mod simulated {
    use super::*;

    const POD: &str = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-0"},
        "spec":{"nodeName":"n1","containers":[{"name":"c","image":"i"}]}}"#;
    const NODE: &str = r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}}"#;

    fn object(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_lost_node_takes_345_seconds() {
        let request = json!({
            "function": "when",
            "pod": object(POD),
            "node": object(NODE),
            "options": { "nodeFault": "lost" },
        });
        let answer = answer(&request);
        assert_eq!(answer["evicted"], true, "{answer}");
        let seconds = answer["at"].as_f64().unwrap() / 1000.0;
        assert!((340.0..355.0).contains(&seconds), "{answer}");
    }

    #[test]
    fn lint_and_explain_read_objects_and_text() {
        let objects = json!([object(POD), object(NODE)]);
        let lint = json!({ "function": "lint", "manifests": objects });
        assert_eq!(answer(&lint)["ok"], true);
        let as_text = json!({ "function": "lint", "manifests": objects.to_string() });
        assert_eq!(answer(&as_text), answer(&lint));
        let explain = json!({ "function": "explain", "manifests": objects, "pod": "web-0" });
        assert_eq!(answer(&explain)["node"], "n1");
        let nobody = json!({ "function": "explain", "manifests": objects, "pod": "web-9" });
        assert_eq!(text(&nobody), "null");
    }

    #[test]
    fn objects_of_the_wrong_kind_are_refused() {
        let request = json!({ "function": "when", "pod": { "kind": "Node" }, "node": {} });
        let message = refused(request.to_string().as_bytes(), 0);
        assert!(message.starts_with("pod.kind: expected `Pod`"), "{message}");
    }
}

#[test]
fn wrong_requests_say_what_is_wrong() {
    let cases = [
        ("", "EOF while parsing a value"),
        ("[]", "there is no function ``; the functions are `match`, `toleration_time`"),
        (r#"{"function":"matches"}"#, "there is no function `matches`"),
        (r#"{"function":"match"}"#, "taints: expected an array, found nothing"),
        (
            r#"{"function":"match","taints":[],"toleration":[]}"#,
            "there is no field `toleration` here (did you mean `tolerations`?)",
        ),
        (
            r#"{"function":"match","taints":[{"key":5}],"tolerations":[]}"#,
            "taints[0].key: expected a string, found the number `5`",
        ),
        (
            r#"{"function":"toleration_time","tolerations":[{"tolerationSecond":5}]}"#,
            "tolerations[0]: there is no field `tolerationSecond` here \
             (did you mean `tolerationSeconds`?)",
        ),
        (
            r#"{"function":"toleration_time","tolerations":[{"tolerationSeconds":1.5}]}"#,
            "tolerations[0].tolerationSeconds: expected an integer, found the number `1.5`",
        ),
        (r#"{"function":"validate","options":{"release":"1.2"}}"#, "options.release: "),
        (
            r#"{"function":"validate","options":{"featureGates":{"No":true}}}"#,
            "options.featureGates: ",
        ),
    ];
    for (request, message) in cases {
        let said = refused(request.as_bytes(), 0);
        assert!(said.starts_with(message), "{request}: {said}");
    }
}

#[test]
fn fields_that_kubernetes_ignores_are_ignored() {
    let request = json!({ "function": "toleration_time", "tolerations": [{ "note": 1 }] });
    assert_eq!(text(&request), "null");
}

#[test]
fn a_request_that_is_too_long_is_refused_unread() {
    let long = vec![b'x'; DEFAULT_LIMIT + 1];
    assert_eq!(
        refused(&long, 0),
        format!("a request may have {DEFAULT_LIMIT} bytes; this one has {}", long.len())
    );
    let most = refused(&vec![b'x'; MAX_LIMIT + 1], usize::MAX);
    assert!(most.starts_with(&format!("a request may have {MAX_LIMIT} bytes")), "{most}");
    assert!(refused(b"{}", 1).starts_with("a request may have 1 bytes"));
}

#[test]
fn an_answer_that_would_be_too_long_is_refused() {
    let many = |length| vec![json!({ "key": "a", "effect": "NoExecute" }); length];
    let request = json!({ "function": "match", "taints": many(1000), "tolerations": many(1000) });
    let said = refused(request.to_string().as_bytes(), 0);
    assert!(said.starts_with("1000 taints against 1000 tolerations may need"), "{said}");
    let long = "x".repeat(100_000);
    let request = json!({
        "function": "match",
        "taints": [{ "key": long, "effect": "NoExecute" }],
        "tolerations": many(500),
    });
    assert!(refused(request.to_string().as_bytes(), 0).contains("may need an answer"));
    let request = json!({ "function": "toleration_time", "tolerations": many(20_000) });
    let said = refused(request.to_string().as_bytes(), 0);
    assert_eq!(said, "tolerations: a list of 20000 elements; at most 16384 are read");
}

/// Every beginning of a request, and every request with one byte changed, has an answer in JSON.
#[test]
fn nothing_makes_it_panic() {
    let request = json!({
        "function": "match",
        "taints": [{ "key": "a", "effect": "NoExecute", "timeAdded": "2020-01-01T00:00:00Z" }],
        "tolerations": [{ "key": "ä", "operator": "Lt", "value": "-1", "tolerationSeconds": -5 }],
        "options": {
            "release": "1.35",
            "featureGates": { "TaintTolerationComparisonOperators": true },
        },
    });
    let request = request.to_string().into_bytes();
    let is_json = |request: &[u8]| {
        serde_json::from_slice::<Value>(&call(request, 0)).expect("the answer is JSON");
    };
    for length in 0..request.len() {
        is_json(request.get(..length).unwrap());
    }
    for index in 0..request.len() {
        for byte in [0, b'"', b'{', b'9', b'\\', 0xff] {
            let mut changed = request.clone();
            *changed.get_mut(index).unwrap() = byte;
            is_json(&changed);
        }
    }
}
