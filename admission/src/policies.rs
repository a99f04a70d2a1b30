//! Manifests of policies.

use serde_json::{Map, Value, json};

use crate::cel;
use crate::settings::{Mode, Settings};

/// The program that evaluates a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// An API server from 1.30 on: `ValidatingAdmissionPolicy` with its binding.
    ValidatingAdmissionPolicy,
    /// Kyverno: `ValidatingPolicy`.
    Kyverno,
    /// Kubewarden: `ClusterAdmissionPolicy`, with the module `taintlab-tolerations`.
    Kubewarden,
}

/// The name of every policy.
const NAME: &str = "taintlab-tolerations";

/// The module of the policy of Kubewarden.
const MODULE: &str =
    concat!("registry://ghcr.io/taintlab/taintlab-tolerations:v", env!("CARGO_PKG_VERSION"));

/// The manifests of a policy with these settings.
///
/// # Errors
/// The target does not correct objects, and the settings ask for it.
pub fn policies(target: Target, settings: &Settings) -> Result<Vec<Value>, String> {
    let correcting = settings.mode == Mode::Mutate;
    let (words, kind) = match target {
        Target::Kubewarden => return Ok(vec![kubewarden(settings)]),
        Target::ValidatingAdmissionPolicy => ("a ValidatingAdmissionPolicy", "vap"),
        Target::Kyverno => ("a ValidatingPolicy of Kyverno", "kyverno"),
    };
    if correcting {
        return Err(format!(
            "{words} changes no object, so that `{kind}` has no mode `mutate`; `kubewarden` has"
        ));
    }
    Ok(match target {
        Target::Kyverno => vec![kyverno(settings)],
        _ => validating_admission_policy(settings),
    })
}

/// The requests that a policy sees.
fn rules() -> Value {
    let operations = ["CREATE", "UPDATE"];
    json!([
        {
            "apiGroups": [""], "apiVersions": ["v1"], "operations": operations,
            "resources": ["pods", "replicationcontrollers"],
        },
        {
            "apiGroups": ["apps"], "apiVersions": ["v1"], "operations": operations,
            "resources": ["daemonsets", "deployments", "replicasets", "statefulsets"],
        },
        {
            "apiGroups": ["batch"], "apiVersions": ["v1"], "operations": operations,
            "resources": ["cronjobs", "jobs"],
        },
    ])
}

/// Every namespace but the one of the cluster's own pods.
fn namespaces() -> Value {
    json!({"matchExpressions": [{
        "key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system"],
    }]})
}

/// The parts that policies in CEL share.
fn in_cel(settings: &Settings) -> Map<String, Value> {
    let variables: Vec<Value> = cel::variables(settings)
        .into_iter()
        .map(|it| json!({"name": it.name, "expression": it.expression}))
        .collect();
    let validations: Vec<Value> = cel::validations(settings)
        .into_iter()
        .map(|it| {
            json!({
                "expression": it.expression,
                "message": it.rule.as_str(),
                "messageExpression": it.message_expression,
            })
        })
        .collect();
    // An object that cannot be judged is refused by a policy that refuses, and by no other.
    let failure = if settings.mode == Mode::Deny { "Fail" } else { "Ignore" };
    let conditions = json!([{"name": "not-static", "expression": cel::is_judged()}]);
    Map::from_iter([
        ("failurePolicy".into(), failure.into()),
        ("matchConditions".into(), conditions),
        ("variables".into(), variables.into()),
        ("validations".into(), validations.into()),
    ])
}

fn actions(settings: &Settings) -> Value {
    if settings.mode == Mode::Deny { json!(["Deny"]) } else { json!(["Warn", "Audit"]) }
}

fn validating_admission_policy(settings: &Settings) -> Vec<Value> {
    let mut spec = in_cel(settings);
    spec.insert("matchConstraints".into(), json!({"resourceRules": rules()}));
    vec![
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": NAME},
            "spec": spec,
        }),
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": NAME},
            "spec": {
                "policyName": NAME,
                "validationActions": actions(settings),
                "matchResources": {"namespaceSelector": namespaces()},
            },
        }),
    ]
}

fn kyverno(settings: &Settings) -> Value {
    let mut spec = in_cel(settings);
    spec.insert("validationActions".into(), actions(settings));
    let constraints = json!({"namespaceSelector": namespaces(), "resourceRules": rules()});
    spec.insert("matchConstraints".into(), constraints);
    json!({
        "apiVersion": "policies.kyverno.io/v1",
        "kind": "ValidatingPolicy",
        "metadata": {"name": NAME},
        "spec": spec,
    })
}

fn kubewarden(settings: &Settings) -> Value {
    json!({
        "apiVersion": "policies.kubewarden.io/v1",
        "kind": "ClusterAdmissionPolicy",
        "metadata": {"name": NAME},
        "spec": {
            "module": MODULE,
            "mutating": settings.mode == Mode::Mutate,
            "namespaceSelector": namespaces(),
            "rules": rules(),
            "settings": settings.to_value(),
        },
    })
}
