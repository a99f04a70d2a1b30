//! `validation*`: what the API server says about taints and tolerations.

use serde::{Deserialize, Serialize};
use taintlab_core::api::{Taint, Toleration};
use taintlab_core::policy::validation::{
    BadValue, FieldError, ValidationOptions, check_node_taints, validate_only_added_tolerations,
    validate_tolerations,
};
use taintlab_core::release::{FeatureGate, FeatureGates};

use super::{Outcome, compare, release_of, with_case};
use crate::nullable::nullable;

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Tolerations,
    NodeTaints,
    OnlyAddedTolerations,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    kind: Kind,
    #[serde(default)]
    enable_comparison_operators: bool,
    #[serde(default, deserialize_with = "nullable")]
    taints: Vec<Taint>,
    #[serde(default, deserialize_with = "nullable")]
    tolerations: Vec<Toleration>,
    #[serde(default, deserialize_with = "nullable")]
    old_tolerations: Vec<Toleration>,
    #[serde(default, deserialize_with = "nullable")]
    errors: Vec<Answer>,
}

#[derive(PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    field: String,
    r#type: String,
    #[serde(default)]
    bad_value: String,
    #[serde(default)]
    detail: String,
    error: String,
}

impl From<FieldError> for Answer {
    fn from(error: FieldError) -> Self {
        Self {
            error: error.to_string(),
            field: error.field,
            r#type: error.type_.name().to_owned(),
            bad_value: match error.bad_value {
                BadValue::Text(text) => text,
                BadValue::Toleration(_) => "toleration".to_owned(),
                BadValue::Taint(_) | BadValue::TaintAsJson(_) => "taint".to_owned(),
                BadValue::Number(number) => number.to_string(),
                BadValue::Literal(literal) => literal,
            },
            detail: error.detail,
        }
    }
}

/// Runs one case of that release.
pub fn run(release: &str, line: &str) -> Outcome {
    let release = release_of(release);
    with_case(line, |case: Case| {
        let gate = FeatureGate::TaintTolerationComparisonOperators.name();
        let set = case.enable_comparison_operators.then_some((gate, true));
        let gates = match FeatureGates::new(release, set) {
            Ok(gates) => gates,
            Err(error) => return Outcome::Failed(error),
        };
        let options = ValidationOptions::new(release, &gates);
        let path = "spec.tolerations";
        let errors = match case.kind {
            Kind::Tolerations => validate_tolerations(&case.tolerations, path, &options),
            Kind::NodeTaints => check_node_taints(&case.taints, "spec.taints", &options),
            Kind::OnlyAddedTolerations => validate_only_added_tolerations(
                &case.tolerations,
                &case.old_tolerations,
                path,
                &options,
            ),
        };
        compare(&case.errors, &errors.into_iter().map(Into::into).collect())
    })
}
