//! Requests to the policy module.

use serde_json::Value;

use crate::mutate::{Bytes, text};
use crate::show;

/// A request for each function.
pub(super) const REQUESTS: &[&str] = &[
    r#"{"function":"match",
"taints":[{"key":"a","value":"x","effect":"NoExecute","timeAdded":"2020-01-01T00:00:00Z"}],
"tolerations":[{"key":"a","operator":"Exists","tolerationSeconds":300},{"operator":"Lt","value":"5"}],
"options":{"release":"1.34","featureGates":{"TaintTolerationComparisonOperators":true}}}"#,
    r#"{"function":"toleration_time",
"tolerations":[{"tolerationSeconds":300},{"tolerationSeconds":-9223372036854775808}]}"#,
    r#"{"function":"zone_state",
"nodes":[{"status":{"conditions":[{"type":"Ready","status":"True"}]}},{}],
"options":{"unhealthyZoneThreshold":0.55}}"#,
    r#"{"function":"validate",
"taints":[{"key":"a","effect":"NoSchedule"}],
"tolerations":[{"key":"k","operator":"Equal","value":"v","effect":"NoExecute","tolerationSeconds":0}]}"#,
    r#"{"function":"when",
"pod":{"kind":"Pod","metadata":{"name":"web-0"},"spec":{"nodeName":"n",
"tolerations":[{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":60}]}},
"node":{"metadata":{"name":"n"},"spec":{"taints":[{"key":"a","effect":"NoExecute"}]}},
"options":{"nodeFault":"lost","release":"1.30",
"controllerManagerFlags":{"node-monitor-grace-period":"20s"}}}"#,
    r#"{"function":"when",
"pod":{"kind":"Deployment","metadata":{"name":"web"},
"spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}},
"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c"}]}}}},
"node":{"metadata":{"name":"n"}},"options":{"nodeFault":"notReady","admission":false}}"#,
    r#"{"function":"lint",
"manifests":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"d"},
"spec":{"nodeName":"n","containers":[{"name":"c"}]}}],
"options":{"release":"1.33","controlPlane":true}}"#,
    r#"{"function":"explain",
"manifests":"[{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"p\"}}]",
"pod":"default/p"}"#,
];

/// Words of requests, put in place of others.
pub(super) const WORDS: &[&str] = &[
    "function",
    "taints",
    "tolerations",
    "options",
    "nodes",
    "match",
    "validate",
    "when",
    "lint",
    "explain",
    "null",
    "[]",
    "{}",
    "true",
    "1e999",
    "-0.0",
    "\"1.18\"",
    "NoExecute",
    "Exists",
    "lost",
    "tainted",
    "notReady",
    "release",
    "featureGates",
    "kubelets",
    "kubeletConfiguration",
    "autoscaler",
    "descheduler",
    "healthPass",
    "startUpTime",
    "apiServerFlags",
    "default-not-ready-toleration-seconds",
    "node-eviction-rate",
    "node-monitor-period",
    "unhealthy-zone-threshold",
];

/// Whatever comes in: an answer comes out that is JSON, the same twice, and not longer than it may
/// be.
pub fn run(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let limit = if bytes.one_in(16) { bytes.below(1_000) } else { 0 };
    let request = text(&mut bytes, REQUESTS, WORDS, 4_000);
    // Not always UTF-8.
    let mut request = request.into_bytes();
    if data.first() == Some(&255) {
        request.extend(data);
    }
    show("request", &String::from_utf8_lossy(&request));
    let answer = taintlab_policy::call(&request, limit);
    let read: Result<Value, _> = serde_json::from_slice(&answer);
    let read = read.unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&answer)));
    if read.get("ok") == Some(&Value::Bool(false)) {
        let errors = read["errors"].as_array().map_or(0, Vec::len);
        assert!(errors > 0, "refused without a reason: {read}");
    }
    assert_eq!(taintlab_policy::call(&request, limit), answer, "another answer");
}
