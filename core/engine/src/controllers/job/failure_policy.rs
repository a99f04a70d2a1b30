//! What `podFailurePolicy` of a Job makes of a pod that has failed.

use alloc::format;
use alloc::string::String;

use serde_json::Value;
use taintlab_rules::api::Pod;

/// What becomes of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It does not count.
    Ignore,
    /// It fails the Job, and why.
    FailJob(String),
    /// It fails the number of the pod, whatever its limit.
    FailIndex,
    /// It counts.
    Count,
}

fn list<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The first rule that matches decides; `None` if there is none. Mirrors `matchPodFailurePolicy`.
pub(super) fn match_failure_policy(policy: &Value, pod: &Pod) -> Option<Verdict> {
    for (index, rule) in list(policy, "rules").enumerate() {
        let found = match rule.get("onExitCodes").filter(|codes| !codes.is_null()) {
            Some(codes) => match_exit_codes(codes, pod),
            None => match_conditions(rule, pod),
        };
        let Some(found) = found else { continue };
        match text(rule, "action") {
            "Ignore" => return Some(Verdict::Ignore),
            "FailJob" => {
                let message = format!("{found} matching FailJob rule at index {index}");
                return Some(Verdict::FailJob(message));
            }
            "FailIndex" => return Some(Verdict::FailIndex),
            "Count" => return Some(Verdict::Count),
            _ => {}
        }
    }
    None
}

/// Mirrors `matchOnExitCodes`.
fn match_exit_codes(codes: &Value, pod: &Pod) -> Option<String> {
    let containers = ["containerStatuses", "initContainerStatuses"].into_iter();
    let statuses = containers.filter_map(|name| pod.status.other.get(name)?.as_array()).flatten();
    for status in statuses {
        let (name, wanted) = (text(status, "name"), text(codes, "containerName"));
        let exit = status.pointer("/state/terminated/exitCode").and_then(Value::as_i64);
        let Some(exit) = exit.filter(|exit| *exit != 0) else { continue };
        let listed = list(codes, "values").any(|value| value.as_i64() == Some(exit));
        let matches = match text(codes, "operator") {
            "In" => listed,
            "NotIn" => !listed,
            _ => false,
        };
        if matches && (wanted.is_empty() || wanted == name) {
            let pod = pod.key();
            return Some(format!("Container {name} for pod {pod} failed with exit code {exit}"));
        }
    }
    None
}

/// Mirrors `matchOnPodConditions`.
fn match_conditions(rule: &Value, pod: &Pod) -> Option<String> {
    for pattern in list(rule, "onPodConditions") {
        let status = pattern.get("status").and_then(Value::as_str).unwrap_or("True");
        let condition = pod.condition(text(pattern, "type"));
        if let Some(condition) = condition.filter(|known| known.status.as_str() == status) {
            return Some(format!("Pod {} has condition {}", pod.key(), condition.type_));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_rule_that_matches_decides() {
        let policy = json!({ "rules": [
            { "action": "FailJob", "onExitCodes": { "operator": "In", "values": [42] } },
            { "action": "Ignore", "onPodConditions": [{ "type": "DisruptionTarget" }] },
            { "action": "Count", "onExitCodes": { "operator": "NotIn", "values": [1] } },
        ] });
        let pod = |exit: i64, disrupted: &str| -> Pod {
            serde_json::from_value(json!({
                "metadata": { "name": "sum-x", "namespace": "default" },
                "status": {
                    "phase": "Failed",
                    "conditions": [{ "type": "DisruptionTarget", "status": disrupted }],
                    "containerStatuses": [
                        { "name": "main", "state": { "terminated": { "exitCode": exit } } },
                    ],
                },
            }))
            .unwrap()
        };
        let message = "Container main for pod default/sum-x failed with exit code 42 matching \
                       FailJob rule at index 0";
        let failed = Some(Verdict::FailJob(message.into()));
        assert_eq!(match_failure_policy(&policy, &pod(42, "True")), failed);
        assert_eq!(match_failure_policy(&policy, &pod(1, "True")), Some(Verdict::Ignore));
        assert_eq!(match_failure_policy(&policy, &pod(2, "False")), Some(Verdict::Count));
        assert_eq!(match_failure_policy(&policy, &pod(1, "False")), None);
        assert_eq!(match_failure_policy(&policy, &pod(0, "False")), None);
    }
}
