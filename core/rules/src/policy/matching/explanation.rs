//! Why a pod stays on a node or leaves it: one value, which every user interface renders.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use serde::{Serialize, Serializer};

use super::{Mismatch, TolerationTime, check, min_toleration_time};
use crate::api::{Taint, TaintEffect, Toleration};
use crate::time::{SECOND, Span, milliseconds};

/// Why a pod stays on a node or leaves it: every taint against every toleration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// The pod's tolerations, in its order; the indices below point into this list.
    pub tolerations: Vec<Toleration>,
    /// The node's taints, in its order.
    pub taints: Vec<TaintExplanation>,
    /// What follows for a running pod, from the `NoExecute` taints alone.
    pub verdict: Verdict,
}

/// One taint against every toleration of the pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct TaintExplanation {
    /// The taint.
    pub taint: Taint,
    /// Whether its effect is `NoExecute`, so that it counts for eviction.
    pub no_execute: bool,
    /// The index of the first toleration that tolerates it; absent if none does.
    #[serde(rename = "tolerationIndex", skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<usize>,
    /// What the taint means for this pod.
    pub consequence: Consequence,
    /// The outcome for every toleration, in the pod's order.
    pub outcomes: Vec<TolerationOutcome>,
}

/// What became of one toleration against one taint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum TolerationOutcome {
    /// It tolerates the taint and is the first to do so: its `tolerationSeconds` counts.
    Used,
    /// It tolerates the taint, but an earlier one does too: its `tolerationSeconds` is not looked
    /// at.
    Shadowed {
        /// The index of the earlier one.
        #[serde(rename = "tolerationIndex")]
        by: usize,
    },
    /// It does not tolerate the taint.
    Failed {
        /// The first test that failed.
        test: Mismatch,
        /// What the toleration has in the field under test.
        #[serde(rename = "tolerationValue")]
        toleration: String,
        /// What the taint has in that field; absent when the test does not look at the taint.
        #[serde(rename = "taintValue", skip_serializing_if = "Option::is_none")]
        taint: Option<String>,
    },
}

/// What one taint means for one pod, on its node and for the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub enum Consequence {
    /// The pod tolerates the taint: it may be scheduled here.
    Tolerated,
    /// The pod tolerates the `NoExecute` taint for a limited time: it may be scheduled here, and
    /// is evicted when that time is over.
    ToleratedForAWhile,
    /// `NoSchedule`: such a pod is not scheduled here; a running one stays.
    NotScheduled,
    /// `PreferNoSchedule`: the scheduler prefers other nodes; a running pod stays.
    Avoided,
    /// `NoExecute`: such a pod is not scheduled here, and a running one is evicted.
    Evicted,
    /// The effect is none that Kubernetes knows: neither the scheduler nor eviction looks at it.
    Ignored,
}

/// What the `NoExecute` taints of a node mean for a running pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Verdict {
    /// It stays: there is no such taint.
    NoNoExecuteTaints,
    /// It stays: all of them are tolerated forever.
    ToleratedForever {
        /// The index of the toleration that does so only because its seconds overflow to a negative
        /// time.
        #[serde(rename = "overflowedIndex", skip_serializing_if = "Option::is_none")]
        overflowed: Option<usize>,
    },
    /// It is evicted when the shortest toleration in use is over.
    EvictedAfter {
        /// How long after the pod's taints and tolerations were first seen together; serialised in
        /// milliseconds.
        #[serde(rename = "afterMilliseconds", serialize_with = "span_milliseconds")]
        #[cfg_attr(feature = "schema", schemars(with = "f64"))]
        #[cfg_attr(feature = "typescript", tsify(type = "number"))]
        after: Span,
        /// The index of the toleration that decides.
        #[serde(rename = "tolerationIndex")]
        toleration: usize,
        /// Whether its seconds overflow, so that the time is not what it says.
        overflowed: bool,
    },
    /// It is evicted at once: nothing tolerates this taint.
    NotTolerated {
        /// The index of the first such taint.
        #[serde(rename = "taintIndex")]
        taint: usize,
    },
    /// It is evicted at once: a toleration in use has `tolerationSeconds` of 0 or less.
    ToleratedNotAtAll {
        /// The index of the first such toleration.
        #[serde(rename = "tolerationIndex")]
        toleration: usize,
    },
}

fn span_milliseconds<S: Serializer>(span: &Span, serializer: S) -> Result<S::Ok, S::Error> {
    milliseconds(&span.0, serializer)
}

/// Explains what the taints of a node mean for a pod with these tolerations.
///
/// `comparison_operators` is the feature gate `TaintTolerationComparisonOperators`.
#[must_use]
pub fn explain(
    taints: &[Taint],
    tolerations: &[Toleration],
    comparison_operators: bool,
) -> Explanation {
    let taints: Vec<_> = taints
        .iter()
        .map(|taint| explain_taint(taint, tolerations, comparison_operators))
        .collect();
    let verdict = verdict(&taints, tolerations);
    Explanation { tolerations: tolerations.to_vec(), taints, verdict }
}

fn explain_taint(
    taint: &Taint,
    tolerations: &[Toleration],
    comparison_operators: bool,
) -> TaintExplanation {
    let mut first: Option<(usize, &Toleration)> = None;
    let mut outcomes = Vec::with_capacity(tolerations.len());
    for (index, toleration) in tolerations.iter().enumerate() {
        outcomes.push(match (check(toleration, taint, comparison_operators), first) {
            (Err(test), _) => failed(test, toleration, taint),
            (Ok(()), Some((by, _))) => TolerationOutcome::Shadowed { by },
            (Ok(()), None) => {
                first = Some((index, toleration));
                TolerationOutcome::Used
            }
        });
    }
    let no_execute = taint.is_no_execute();
    let limited = |toleration: &Toleration| {
        let time = min_toleration_time([toleration]);
        TolerationTime::from_nanos(time) != TolerationTime::Forever
    };
    let consequence = match (first, &taint.effect) {
        (_, TaintEffect::Empty | TaintEffect::Other(_)) => Consequence::Ignored,
        (Some((_, used)), _) if no_execute && limited(used) => Consequence::ToleratedForAWhile,
        (Some(_), _) => Consequence::Tolerated,
        (None, TaintEffect::NoSchedule) => Consequence::NotScheduled,
        (None, TaintEffect::PreferNoSchedule) => Consequence::Avoided,
        (None, TaintEffect::NoExecute) => Consequence::Evicted,
    };
    let answered_by = first.map(|(index, _)| index);
    TaintExplanation { taint: taint.clone(), no_execute, answered_by, consequence, outcomes }
}

/// The compared values of a failed test.
fn failed(test: Mismatch, toleration: &Toleration, taint: &Taint) -> TolerationOutcome {
    let (toleration, taint) = match test {
        Mismatch::Effect => (toleration.effect.as_str(), Some(taint.effect.as_str())),
        Mismatch::Key => (toleration.key.as_str(), Some(taint.key.as_str())),
        Mismatch::Value
        | Mismatch::TolerationNotInteger
        | Mismatch::TaintNotInteger
        | Mismatch::NotLess
        | Mismatch::NotGreater => (toleration.value.as_str(), Some(taint.value.as_str())),
        Mismatch::UnknownOperator | Mismatch::ComparisonOperatorsOff => {
            (toleration.operator.as_str(), None)
        }
    };
    TolerationOutcome::Failed { test, toleration: toleration.into(), taint: taint.map(Into::into) }
}

fn verdict(taints: &[TaintExplanation], tolerations: &[Toleration]) -> Verdict {
    let no_execute = || taints.iter().enumerate().filter(|(_, taint)| taint.no_execute);
    if no_execute().next().is_none() {
        return Verdict::NoNoExecuteTaints;
    }
    if let Some((taint, _)) = no_execute().find(|(_, taint)| taint.answered_by.is_none()) {
        return Verdict::NotTolerated { taint };
    }
    let used = || {
        let indices = no_execute().filter_map(|(_, taint)| taint.answered_by);
        indices.filter_map(|index| Some((index, tolerations.get(index)?)))
    };
    let time = min_toleration_time(used().map(|(_, toleration)| toleration));
    // The first of the shortest: as upstream, one of zero seconds or less ends the search.
    let shortest = used()
        .filter_map(|(index, toleration)| Some((index, toleration.toleration_seconds?.max(0))))
        .min_by_key(|(_, seconds)| *seconds);
    let overflows = |seconds: i64| seconds != i64::MAX && seconds.checked_mul(BILLION).is_none();
    match (TolerationTime::from_nanos(time), shortest) {
        (TolerationTime::Forever, shortest) => Verdict::ToleratedForever {
            overflowed: shortest.filter(|(_, s)| overflows(*s)).map(|(index, _)| index),
        },
        (TolerationTime::After(_), Some((toleration, 0))) => {
            Verdict::ToleratedNotAtAll { toleration }
        }
        (TolerationTime::After(after), Some((toleration, seconds))) => {
            Verdict::EvictedAfter { after: Span(after), toleration, overflowed: overflows(seconds) }
        }
        // A limited time comes from some toleration's seconds.
        (TolerationTime::After(_), None) => Verdict::ToleratedForever { overflowed: None },
    }
}

const BILLION: i64 = SECOND as i64;

impl Mismatch {
    /// The field of the toleration that the test looks at.
    #[must_use]
    pub const fn field(self) -> &'static str {
        match self {
            Self::Effect => "effect",
            Self::Key => "key",
            Self::UnknownOperator | Self::ComparisonOperatorsOff => "operator",
            Self::Value
            | Self::TolerationNotInteger
            | Self::TaintNotInteger
            | Self::NotLess
            | Self::NotGreater => "value",
        }
    }
}

/// A short sentence: lower case, no full stop, values in backticks.
impl fmt::Display for TolerationOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Used => f.write_str("tolerates the taint, and is the first to do so"),
            Self::Shadowed { by } => {
                write!(f, "tolerates the taint too, but `tolerations[{by}]` comes first")
            }
            Self::Failed { test, toleration, taint } => {
                let has = quoted(toleration);
                let taint = quoted(taint.as_deref().unwrap_or_default());
                match test {
                    Mismatch::Effect | Mismatch::Key | Mismatch::Value => {
                        let field = test.field();
                        write!(f, "{field} differs: it has {has}, the taint has {taint}")
                    }
                    Mismatch::UnknownOperator => {
                        write!(f, "operator {has} is unknown; `Equal` and `Exists` are valid")
                    }
                    Mismatch::ComparisonOperatorsOff => write!(
                        f,
                        "operator {has} needs the feature gate \
                         `TaintTolerationComparisonOperators`, which is off"
                    ),
                    Mismatch::TolerationNotInteger => write!(f, "its value {has} {NOT_INTEGER}"),
                    Mismatch::TaintNotInteger => {
                        write!(f, "the taint's value {taint} {NOT_INTEGER}")
                    }
                    Mismatch::NotLess => write!(f, "the taint's {taint} is not less than {has}"),
                    Mismatch::NotGreater => {
                        write!(f, "the taint's {taint} is not greater than {has}")
                    }
                }
            }
        }
    }
}

const NOT_INTEGER: &str = "is not a decimal integer in canonical form that fits 64 bits";

/// A value in backticks; an empty one is `""`, so that it can be seen.
fn quoted(text: &str) -> String {
    if text.is_empty() { "`\"\"`".to_owned() } else { format!("`{text}`") }
}

/// A short sentence for learners: lower case, no full stop.
impl fmt::Display for Consequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tolerated => "such a pod may be scheduled here, and a running one stays",
            Self::ToleratedForAWhile => {
                "such a pod may be scheduled here, and is evicted when its time is over"
            }
            Self::NotScheduled => "such a pod is not scheduled here; a running one stays",
            Self::Avoided => "the scheduler prefers other nodes; a running pod stays",
            Self::Evicted => "such a pod is not scheduled here, and a running one is evicted",
            Self::Ignored => "this effect is unknown: neither scheduling nor eviction looks at it",
        })
    }
}

impl Verdict {
    /// Whether the pod leaves, now or later.
    #[must_use]
    pub const fn is_evicted(&self) -> bool {
        !matches!(self, Self::NoNoExecuteTaints | Self::ToleratedForever { .. })
    }

    /// After what time the pod leaves: zero is at once; `None` if it stays.
    #[must_use]
    pub const fn evicted_after(&self) -> Option<Duration> {
        match self {
            Self::NoNoExecuteTaints | Self::ToleratedForever { .. } => None,
            Self::EvictedAfter { after, .. } => Some(after.0),
            Self::NotTolerated { .. } | Self::ToleratedNotAtAll { .. } => Some(Duration::ZERO),
        }
    }
}

impl Explanation {
    /// The verdict as a sentence: lower case, no full stop, values in backticks.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self.verdict {
            Verdict::NoNoExecuteTaints => "stays: the node has no `NoExecute` taint".to_owned(),
            Verdict::ToleratedForever { overflowed: None } => {
                "stays: every `NoExecute` taint is tolerated forever".to_owned()
            }
            Verdict::ToleratedForever { overflowed: Some(index) } => format!(
                "stays: {} overflows to a negative time, which counts as forever",
                self.seconds_of(index)
            ),
            Verdict::EvictedAfter { after, toleration, overflowed: true } => {
                format!("evicted after {after}: {} overflows", self.seconds_of(toleration))
            }
            Verdict::EvictedAfter { after, toleration, overflowed: false } => format!(
                "evicted after {after}: {} is the shortest in use",
                self.seconds_of(toleration)
            ),
            Verdict::NotTolerated { taint } => {
                let taint = self.taints.get(taint).map(|taint| taint.taint.to_string());
                let taint = taint.unwrap_or_default();
                format!("evicted at once: no toleration matches the taint `{taint}`")
            }
            Verdict::ToleratedNotAtAll { toleration } => {
                format!("evicted at once: {} leaves no time", self.seconds_of(toleration))
            }
        }
    }

    /// `tolerations[1].tolerationSeconds: 300`, in backticks.
    fn seconds_of(&self, index: usize) -> String {
        let toleration = self.tolerations.get(index);
        let seconds = toleration.and_then(|toleration| toleration.toleration_seconds);
        format!("`tolerations[{index}].tolerationSeconds: {}`", seconds.unwrap_or_default())
    }

    /// The sentence about one toleration against one taint, with the toleration's place and text;
    /// `None` if there is no such taint or toleration.
    #[must_use]
    pub fn outcome_sentence(&self, taint: usize, toleration: usize) -> Option<String> {
        let outcome = self.taints.get(taint)?.outcomes.get(toleration)?;
        let text = self.tolerations.get(toleration)?.to_string();
        // The one with everything empty has no text of its own.
        let text = if text.is_empty() { text } else { format!(" (`{text}`)") };
        Some(format!("`tolerations[{toleration}]`{text}: {outcome}"))
    }
}

/// The sentence of the verdict.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence())
    }
}
