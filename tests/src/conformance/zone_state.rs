//! `zone_state`: the state of a zone by the readiness of its nodes.

use serde::Deserialize;
use taintlab_core::api::{ConditionStatus, NodeCondition};
use taintlab_core::controllers::node_lifecycle::zone::{ZoneState, compute_zone_state};

use super::{Outcome, compare, with_case};
use crate::nullable::nullable;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    ready: usize,
    not_ready: usize,
    /// The statuses of those that are not ready; `nil` for no condition at all.
    #[serde(default, deserialize_with = "nullable")]
    not_ready_kinds: Vec<String>,
    unhealthy_zone_threshold: f32,
    result_not_ready: usize,
    result_state: ZoneState,
}

/// Runs one case.
pub fn run(line: &str) -> Outcome {
    with_case(line, |case: Case| {
        let condition = |status| Some(NodeCondition { status, ..NodeCondition::default() });
        let mut conditions = vec![condition(ConditionStatus::True); case.ready];
        let kinds = case.not_ready_kinds.iter().map(|kind| match kind.as_str() {
            "nil" => None,
            status => condition(status.into()),
        });
        conditions.extend(kinds);
        conditions.resize(case.ready + case.not_ready, None);
        let conditions = conditions.iter().map(Option::as_ref);
        let got = compute_zone_state(conditions, case.unhealthy_zone_threshold);
        compare(&(case.result_not_ready, case.result_state), &got)
    })
}
