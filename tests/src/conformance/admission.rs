//! `priority_admission_1.20`, `defaulttolerations_1.20`: what admission of 1.20.2 makes of new
//! pods.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use taintlab_core::api::{Pod, PriorityClass, Toleration};
use taintlab_core::command::CommandError;
use taintlab_core::policy::admission::{AdmissionConfig, admit, admit_priority};

use super::{Outcome, compare, release_of, with_case, with_flagged_case};
use crate::nullable::nullable;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct PriorityCase {
    #[serde(rename = "id")]
    _id: u64,
    #[serde(default)]
    flagged: bool,
    #[serde(default, rename = "different")]
    _different: u64,
    priority_classes: Vec<PriorityClass>,
    pod: Pod,
    result: PriorityResult,
}

#[derive(PartialEq, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
struct PriorityResult {
    error: Option<String>,
    priority: Option<i64>,
    priority_class_name: String,
    preemption_policy: Option<String>,
}

/// Runs one case of `priority_admission_1.20`.
pub fn priority(line: &str) -> Outcome {
    with_flagged_case(
        line,
        |case: &PriorityCase| case.flagged,
        |case| {
            let admitted =
                admit_priority(release_of("1.20"), case.priority_classes.iter(), &case.pod);
            let got = match admitted {
                Ok(priority) => PriorityResult {
                    error: None,
                    priority: Some(priority.value),
                    priority_class_name: priority.class_name,
                    preemption_policy: priority.preemption_policy,
                },
                Err(error) => {
                    let object = format!("pods \"{}\"", case.pod.metadata.name);
                    let refused = CommandError::NotAdmitted { object, reason: error.to_string() };
                    PriorityResult { error: Some(refused.to_string()), ..Default::default() }
                }
            };
            Ok(compare(&case.result, &got))
        },
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TolerationsCase {
    #[serde(rename = "id")]
    _id: u64,
    #[serde(default, deserialize_with = "nullable")]
    tolerations: Vec<Toleration>,
    #[serde(default, deserialize_with = "nullable")]
    result: Vec<Toleration>,
}

/// Runs one case of `defaulttolerations_1.20`.
pub fn default_tolerations(line: &str) -> Outcome {
    with_case(line, |case: TolerationsCase| {
        let mut pod = Pod::default();
        pod.spec.tolerations = case.tolerations.into();
        let config = AdmissionConfig::default();
        match admit(&config, release_of("1.20"), &pod, &BTreeMap::new()) {
            Ok(admission) => compare(&case.result, &admission.tolerations),
            Err(error) => Outcome::Failed(error.to_string()),
        }
    })
}
