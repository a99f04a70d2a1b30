//! `matching*`: which tolerations match a node's taints, and for how long.

use serde::Deserialize;
use taintlab_core::api::{Taint, Toleration};
use taintlab_core::policy::matching::{
    TolerationTime, explain, matching_tolerations, min_toleration_time,
};

use super::{Outcome, compare, with_case};
use crate::nullable::nullable;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(default, deserialize_with = "nullable")]
    taints: Vec<Taint>,
    #[serde(default, deserialize_with = "nullable")]
    tolerations: Vec<Toleration>,
    #[serde(default)]
    enable_comparison_operators: bool,
    all_tolerated: bool,
    #[serde(default, deserialize_with = "nullable")]
    used: Vec<Toleration>,
    min_ns: i64,
    min_seconds: Option<i64>,
    infinite: bool,
}

/// Runs one case; the explanation must name the same tolerations.
pub fn run(line: &str) -> Outcome {
    with_case(line, |case: Case| {
        let gate = case.enable_comparison_operators;
        let matching = matching_tolerations(&case.taints, &case.tolerations, gate);
        let used: Vec<_> =
            matching.used.iter().map(|index| case.tolerations[*index].clone()).collect();
        let explanation = explain(&case.taints, &case.tolerations, gate);
        let explained: Option<Vec<_>> = explanation.taints.iter().map(|t| t.answered_by).collect();
        let nanos = min_toleration_time(&used);
        let seconds = match nanos {
            -1 => Some(-1),
            nanos if nanos % 1_000_000_000 == 0 => Some(nanos / 1_000_000_000),
            _ => None,
        };
        let infinite = TolerationTime::from_nanos(nanos) == TolerationTime::Forever;
        let explained_used = explained.clone().unwrap_or_default();
        compare(
            &(
                (case.all_tolerated, case.used, case.min_ns, case.min_seconds, case.infinite),
                (case.all_tolerated, matching.used.clone()),
            ),
            &(
                (matching.all_tolerated, used, nanos, seconds, infinite),
                (explained.is_some(), explained_used),
            ),
        )
    })
}
