//! Which toleration tolerates which taint, for how long, and why.
//!
//! Mirrors `k8s.io/component-helpers/scheduling/corev1` and parts of
//! `pkg/controller/tainteviction`.
//! [`check`] alone decides whether one toleration tolerates one taint; everything else here, the
//! [`Explanation`] included, calls it.

mod explanation;

use alloc::vec::Vec;
use core::time::Duration;

use crate::api::{Taint, Toleration, TolerationOperator};

pub use explanation::{
    Consequence, Explanation, TaintExplanation, TolerationOutcome, Verdict, explain,
};

/// The first test by which a toleration does not tolerate a taint, in Kubernetes' order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub enum Mismatch {
    /// The toleration names another effect.
    Effect,
    /// The toleration names another key.
    Key,
    /// The operator is `Equal` (or empty) and the values differ.
    Value,
    /// The operator is none that Kubernetes knows.
    UnknownOperator,
    /// The operator is `Lt` or `Gt`, and this cluster does not compare numbers.
    ComparisonOperatorsOff,
    /// The operator is `Lt` or `Gt`, and the toleration's value is not a number.
    TolerationNotInteger,
    /// The operator is `Lt` or `Gt`, and the taint's value is not a number.
    TaintNotInteger,
    /// The operator is `Lt`, and the taint's number is not less than the toleration's.
    NotLess,
    /// The operator is `Gt`, and the taint's number is not greater than the toleration's.
    NotGreater,
}

/// Whether `toleration` tolerates `taint`, or the first test that failed.
///
/// `comparison_operators` is the feature gate `TaintTolerationComparisonOperators`, absent before
/// Kubernetes 1.35. Mirrors `Toleration.ToleratesTaint`.
///
/// # Errors
/// The first test that failed.
#[inline]
pub fn check(
    toleration: &Toleration,
    taint: &Taint,
    comparison_operators: bool,
) -> Result<(), Mismatch> {
    if !toleration.effect.is_empty() && toleration.effect != taint.effect {
        return Err(Mismatch::Effect);
    }
    if !toleration.key.is_empty() && toleration.key != taint.key {
        return Err(Mismatch::Key);
    }
    let holds = |test: bool, mismatch| if test { Ok(()) } else { Err(mismatch) };
    match toleration.operator {
        TolerationOperator::Empty | TolerationOperator::Equal => {
            holds(toleration.value == taint.value, Mismatch::Value)
        }
        TolerationOperator::Exists => Ok(()),
        TolerationOperator::Lt | TolerationOperator::Gt if !comparison_operators => {
            Err(Mismatch::ComparisonOperatorsOff)
        }
        TolerationOperator::Lt => {
            let (bound, number) = numbers(toleration, taint)?;
            holds(number < bound, Mismatch::NotLess)
        }
        TolerationOperator::Gt => {
            let (bound, number) = numbers(toleration, taint)?;
            holds(number > bound, Mismatch::NotGreater)
        }
        TolerationOperator::Other(_) => Err(Mismatch::UnknownOperator),
    }
}

/// The numbers in the values of a toleration and a taint.
fn numbers(toleration: &Toleration, taint: &Taint) -> Result<(i64, i64), Mismatch> {
    let bound = parse_canonical(&toleration.value).ok_or(Mismatch::TolerationNotInteger)?;
    let number = parse_canonical(&taint.value).ok_or(Mismatch::TaintNotInteger)?;
    Ok((bound, number))
}

/// Reads a decimal integer in canonical form that fits int64: `0`, `7`, `-12`, but not `-0`, `+5`,
/// `007`, `9.5` or blanks. Mirrors `content.IsDecimalInteger` followed by `strconv.ParseInt`.
#[must_use]
pub fn parse_canonical(text: &str) -> Option<i64> {
    if is_canonical(text) { text.parse().ok() } else { None }
}

/// Whether this is a decimal integer in canonical form, of any size. Mirrors
/// `content.IsDecimalInteger`.
pub(crate) fn is_canonical(text: &str) -> bool {
    match text.strip_prefix('-').unwrap_or(text).as_bytes() {
        [b'0'] => text.len() == 1,
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// Whether `toleration` tolerates `taint`. Mirrors `Toleration.ToleratesTaint`.
///
/// `comparison_operators` is the feature gate `TaintTolerationComparisonOperators`.
#[inline]
#[must_use]
pub fn tolerates(toleration: &Toleration, taint: &Taint, comparison_operators: bool) -> bool {
    check(toleration, taint, comparison_operators).is_ok()
}

/// Whether any of the tolerations tolerates `taint`. Mirrors `TolerationsTolerateTaint`.
#[must_use]
pub fn tolerations_tolerate_taint(
    tolerations: &[Toleration],
    taint: &Taint,
    comparison_operators: bool,
) -> bool {
    tolerations.iter().any(|toleration| tolerates(toleration, taint, comparison_operators))
}

/// The first taint, in the node's order, that passes `filter` and that no toleration tolerates.
/// Mirrors `FindMatchingUntoleratedTaint`.
pub fn find_matching_untolerated_taint<'a>(
    taints: &'a [Taint],
    tolerations: &[Toleration],
    comparison_operators: bool,
    filter: impl Fn(&Taint) -> bool,
) -> Option<&'a Taint> {
    taints.iter().find(|taint| {
        filter(taint) && !tolerations_tolerate_taint(tolerations, taint, comparison_operators)
    })
}

/// The answer of [`matching_tolerations`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchingTolerations {
    /// Whether every taint is tolerated.
    pub all_tolerated: bool,
    /// For each taint, in the node's order, the index of the toleration that tolerates it. Empty
    /// unless all are tolerated.
    pub used: Vec<usize>,
}

/// For each taint the first toleration, in the pod's order, that tolerates it.
///
/// Not the longest, the shortest or the most specific one. Mirrors `GetMatchingTolerations`.
#[must_use]
pub fn matching_tolerations(
    taints: &[Taint],
    tolerations: &[Toleration],
    comparison_operators: bool,
) -> MatchingTolerations {
    let mut used = Vec::with_capacity(taints.len());
    for taint in taints {
        let first = tolerations
            .iter()
            .position(|toleration| tolerates(toleration, taint, comparison_operators));
        match first {
            Some(index) => used.push(index),
            None => return MatchingTolerations::default(),
        }
    }
    MatchingTolerations { all_tolerated: true, used }
}

/// The least `tolerationSeconds` of the used tolerations, in nanoseconds.
///
/// Negative means forever; 0 if there are no tolerations, or as soon as one has 0 seconds or
/// less. Upstream multiplies without a check, so large values wrap around, and so they do here.
/// Mirrors `getMinTolerationTime`.
#[must_use]
pub fn min_toleration_time<'a>(used: impl IntoIterator<Item = &'a Toleration>) -> i64 {
    let mut min = i64::MAX;
    let mut none = true;
    for toleration in used {
        none = false;
        match toleration.toleration_seconds {
            Some(seconds) if seconds <= 0 => return 0,
            Some(seconds) => min = min.min(seconds),
            None => {}
        }
    }
    match (none, min) {
        (true, _) => 0,
        (false, i64::MAX) => -1,
        (false, seconds) => seconds.wrapping_mul(1_000_000_000),
    }
}

/// How long a pod may stay on a node, all of whose taints it tolerates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TolerationTime {
    /// It is not evicted.
    Forever,
    /// It is evicted after this time; zero is at once.
    After(Duration),
}

impl TolerationTime {
    /// The meaning of what [`min_toleration_time`] gives.
    #[must_use]
    pub fn from_nanos(nanos: i64) -> Self {
        match u64::try_from(nanos) {
            Ok(nanos) => Self::After(Duration::from_nanos(nanos)),
            Err(_) => Self::Forever,
        }
    }
}

#[cfg(test)]
mod tests;
