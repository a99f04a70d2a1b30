//! `tolerates*`: one toleration against one taint.

use std::slice;

use serde::Deserialize;
use taintlab_core::api::{Taint, Toleration};
use taintlab_core::policy::matching::{TolerationOutcome, explain, tolerates};

use super::{Outcome, compare, with_case};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    taint: Taint,
    toleration: Toleration,
    #[serde(default)]
    enable_comparison_operators: bool,
    tolerates: bool,
}

/// Runs one case; the explanation must say the same as the predicate.
pub fn run(line: &str) -> Outcome {
    with_case(line, |case: Case| {
        let Case { taint, toleration, enable_comparison_operators: gate, .. } = case;
        let explanation = explain(slice::from_ref(&taint), slice::from_ref(&toleration), gate);
        let explained = explanation.taints.iter().flat_map(|taint| &taint.outcomes);
        let explained: Vec<_> =
            explained.map(|outcome| *outcome == TolerationOutcome::Used).collect();
        compare(
            &(case.tolerates, vec![case.tolerates]),
            &(tolerates(&toleration, &taint, gate), explained),
        )
    })
}
