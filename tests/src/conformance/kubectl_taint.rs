//! `kubectl_taint*`: what `kubectl taint` makes of its arguments, and of a node's taints.

use serde::{Deserialize, Serialize};
use taintlab_core::api::Taint;
use taintlab_core::policy::taints::kubectl::{parse_taints, update_taints, validate_changes};
use taintlab_core::release::KubernetesRelease;

use super::{Outcome, compare, release_of, with_case};
use crate::nullable::nullable;

/// The name of the node in every case.
const NODE: &str = "node-name";

#[derive(PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Parse,
    Update,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    kind: Kind,
    #[serde(default, deserialize_with = "nullable")]
    spec: Vec<String>,
    #[serde(default, deserialize_with = "nullable")]
    node_taints: Vec<Taint>,
    #[serde(default)]
    overwrite: bool,
    #[serde(default, deserialize_with = "nullable")]
    add: Vec<Taint>,
    #[serde(default, deserialize_with = "nullable")]
    remove: Vec<Taint>,
    #[serde(default)]
    error: String,
    #[serde(default)]
    validate_error: String,
    #[serde(default)]
    operation: String,
    #[serde(default, deserialize_with = "nullable")]
    result_taints: Vec<Taint>,
    #[serde(default)]
    update_error: String,
}

#[derive(Default, PartialEq, Serialize)]
struct Answer {
    add: Vec<Taint>,
    remove: Vec<Taint>,
    error: String,
    validate_error: String,
    operation: String,
    result_taints: Vec<Taint>,
    update_error: String,
}

/// Runs one case of that release.
pub fn run(release: &str, line: &str) -> Outcome {
    with_case(line, |case: Case| {
        let got = answer(release_of(release), &case);
        let expected = Answer {
            add: case.add,
            remove: case.remove,
            error: case.error,
            validate_error: case.validate_error,
            operation: case.operation,
            result_taints: case.result_taints,
            update_error: case.update_error,
        };
        compare(&expected, &got)
    })
}

fn answer(release: KubernetesRelease, case: &Case) -> Answer {
    let changes = match parse_taints(release, &case.spec) {
        Ok(changes) => changes,
        Err(error) => return Answer { error, ..Answer::default() },
    };
    let mut answer =
        Answer { add: changes.add.clone(), remove: changes.remove.clone(), ..Answer::default() };
    if case.kind == Kind::Parse {
        return answer;
    }
    answer.validate_error = validate_changes(release, &changes).err().unwrap_or_default();
    match update_taints(NODE, &case.node_taints, &changes, case.overwrite) {
        Ok((operation, taints)) => {
            answer.operation = operation.as_str().to_owned();
            answer.result_taints = taints;
        }
        Err(error) => {
            answer.update_error = error;
            answer.result_taints.clone_from(&case.node_taints);
        }
    }
    answer
}
