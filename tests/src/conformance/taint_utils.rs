//! `taint_utils`: changes to lists of taints.

use serde::{Deserialize, Serialize};
use taintlab_core::api::Taint;
use taintlab_core::policy::taints::{
    add_or_update_taint, delete_taint, delete_taints_by_key, remove_taint, taint_exists,
    taint_set_diff,
};

use super::{Outcome, compare, with_case};
use crate::nullable::nullable;

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Op {
    AddOrUpdate,
    RemoveTaint,
    DeleteTaint,
    DeleteByKey,
    Exists,
    SetDiff,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    op: Op,
    #[serde(default, deserialize_with = "nullable")]
    taints: Vec<Taint>,
    #[serde(default, deserialize_with = "nullable")]
    taint: Taint,
    #[serde(default, deserialize_with = "nullable")]
    key: String,
    #[serde(default, deserialize_with = "nullable")]
    other: Vec<Taint>,
    #[serde(default, deserialize_with = "nullable")]
    result: Vec<Taint>,
    #[serde(default, deserialize_with = "nullable")]
    result2: Vec<Taint>,
    changed: bool,
}

#[derive(PartialEq, Serialize)]
struct Answer {
    result: Vec<Taint>,
    result2: Vec<Taint>,
    changed: bool,
}

/// Runs one case.
pub fn run(line: &str) -> Outcome {
    with_case(line, |case: Case| {
        let Case { op, mut taints, taint, key, other, .. } = case;
        let mut result2 = Vec::new();
        let changed = match op {
            Op::AddOrUpdate => add_or_update_taint(&mut taints, &taint),
            Op::RemoveTaint => remove_taint(&mut taints, &taint),
            Op::DeleteTaint => delete_taint(&mut taints, &taint),
            Op::DeleteByKey => delete_taints_by_key(&mut taints, &key),
            Op::Exists => taint_exists(&taints, &taint),
            Op::SetDiff => {
                (taints, result2) = taint_set_diff(&taints, &other);
                !taints.is_empty() || !result2.is_empty()
            }
        };
        // Whether a taint exists says nothing about a list.
        let result = if op == Op::Exists { case.result.clone() } else { taints };
        compare(
            &Answer { result: case.result, result2: case.result2, changed: case.changed },
            &Answer { result, result2, changed },
        )
    })
}
