//! An explanation as an object of JavaScript.

use js_sys::Array;
use taintlab_core::api::Toleration;
use taintlab_core::matching::{
    Consequence, Explanation, Mismatch, TaintExplanation, TolerationOutcome, Verdict,
};
use wasm_bindgen::{JsCast, JsValue};

use crate::plain::{Plain, plain, set, word};

/// Nanoseconds as milliseconds: the nearest number that JavaScript has.
#[expect(clippy::cast_precision_loss, reason = "exact for 104 days, and nobody counts later")]
pub(crate) fn millis(nanos: i64) -> f64 {
    nanos as f64 / 1e6
}

/// An explanation of the elements of two lists, as an object: its texts are those of the elements.
pub(crate) fn explanation(
    explanation: &Explanation,
    taints: &JsValue,
    tolerations: &JsValue,
) -> JsValue {
    let (taints, tolerations): (&Array, &Array) =
        (taints.unchecked_ref(), tolerations.unchecked_ref());
    let answer = plain();
    let all = Array::new();
    for (index, toleration) in (0..).zip(&explanation.tolerations) {
        all.push(&toleration_of(toleration, tolerations.get(index).unchecked_ref()));
    }
    answer.set_tolerations(&all);
    let all = Array::new();
    for (index, taint) in (0..).zip(&explanation.taints) {
        all.push(&taint_of(taint, taints.get(index).unchecked_ref()));
    }
    answer.set_taints(&all);
    answer.set_verdict(&verdict_of(explanation.verdict));
    answer.into()
}

fn toleration_of(toleration: &Toleration, from: &Plain) -> JsValue {
    let to = plain();
    if !toleration.key.is_empty() {
        to.set_key(&from.key());
    }
    if !toleration.operator.is_empty() {
        to.set_operator(&from.operator());
    }
    if !toleration.value.is_empty() {
        to.set_value(&from.value());
    }
    if !toleration.effect.is_empty() {
        to.set_effect(&from.effect());
    }
    if let Some(seconds) = toleration.toleration_seconds {
        #[expect(clippy::cast_precision_loss, reason = "it came from such a number")]
        to.set_toleration_seconds(seconds as f64);
    }
    to.into()
}

fn taint_of(explained: &TaintExplanation, from: &Plain) -> JsValue {
    let taint = plain();
    let or_empty = |has: bool, get: fn(&Plain) -> JsValue| if has { get(from) } else { word("") };
    taint.set_key(&or_empty(!explained.taint.key.is_empty(), Plain::key));
    if !explained.taint.value.is_empty() {
        taint.set_value(&from.value());
    }
    taint.set_effect(&or_empty(!explained.taint.effect.is_empty(), Plain::effect));
    if let Some(time) = explained.taint.time_added {
        set(&taint, "timeAdded", &JsValue::from_str(&time.to_string()));
    }
    let to = plain();
    to.set_taint(&taint);
    to.set_no_execute(explained.no_execute);
    to.set_answered_by(&explained.answered_by.map_or(JsValue::NULL, index));
    to.set_consequence(&word(consequence(explained.consequence)));
    let outcomes = Array::new();
    for outcome in &explained.outcomes {
        outcomes.push(&outcome_of(outcome));
    }
    to.set_outcomes(&outcomes);
    to.into()
}

fn outcome_of(outcome: &TolerationOutcome) -> JsValue {
    let to = plain();
    match outcome {
        TolerationOutcome::Used => to.set_outcome(&word("used")),
        TolerationOutcome::Shadowed { by } => {
            to.set_outcome(&word("shadowed"));
            set(&to, "by", &index(*by));
        }
        TolerationOutcome::Failed { test, toleration, taint } => {
            to.set_outcome(&word("failed"));
            to.set_test(&word(mismatch(*test)));
            to.set_toleration(&JsValue::from_str(toleration));
            if let Some(taint) = taint {
                to.set_taint(&JsValue::from_str(taint));
            }
        }
    }
    to.into()
}

fn verdict_of(verdict: Verdict) -> JsValue {
    let to = plain();
    match verdict {
        Verdict::NoNoExecuteTaints => to.set_verdict(&word("noNoExecuteTaints")),
        Verdict::ToleratedForever { overflowed } => {
            to.set_verdict(&word("toleratedForever"));
            if let Some(overflowed) = overflowed {
                to.set_overflowed(&index(overflowed));
            }
        }
        Verdict::EvictedAfter { after, toleration, overflowed } => {
            to.set_verdict(&word("evictedAfter"));
            let nanos = i64::try_from(after.0.as_nanos()).unwrap_or(i64::MAX);
            to.set_after(millis(nanos));
            to.set_toleration(&index(toleration));
            to.set_overflowed(&overflowed.into());
        }
        Verdict::NotTolerated { taint } => {
            to.set_verdict(&word("notTolerated"));
            to.set_taint(&index(taint));
        }
        Verdict::ToleratedNotAtAll { toleration } => {
            to.set_verdict(&word("toleratedNotAtAll"));
            to.set_toleration(&index(toleration));
        }
    }
    to.into()
}

/// A count or an index.
pub(crate) fn index(index: usize) -> JsValue {
    u32::try_from(index).unwrap_or(u32::MAX).into()
}

const fn consequence(consequence: Consequence) -> &'static str {
    match consequence {
        Consequence::Tolerated => "tolerated",
        Consequence::ToleratedForAWhile => "toleratedForAWhile",
        Consequence::NotScheduled => "notScheduled",
        Consequence::Avoided => "avoided",
        Consequence::Evicted => "evicted",
        Consequence::Ignored => "ignored",
    }
}

const fn mismatch(test: Mismatch) -> &'static str {
    match test {
        Mismatch::Effect => "effect",
        Mismatch::Key => "key",
        Mismatch::Value => "value",
        Mismatch::UnknownOperator => "unknownOperator",
        Mismatch::ComparisonOperatorsOff => "comparisonOperatorsOff",
        Mismatch::TolerationNotInteger => "tolerationNotInteger",
        Mismatch::TaintNotInteger => "taintNotInteger",
        Mismatch::NotLess => "notLess",
        Mismatch::NotGreater => "notGreater",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_types() {
        let name = |text: &str| format!("\"{text}\"");
        use Consequence as C;
        for value in [
            C::Tolerated,
            C::ToleratedForAWhile,
            C::NotScheduled,
            C::Avoided,
            C::Evicted,
            C::Ignored,
        ] {
            assert_eq!(serde_json::to_string(&value).unwrap(), name(consequence(value)));
        }
        for value in [
            Mismatch::Effect,
            Mismatch::Key,
            Mismatch::Value,
            Mismatch::UnknownOperator,
            Mismatch::ComparisonOperatorsOff,
            Mismatch::TolerationNotInteger,
            Mismatch::TaintNotInteger,
            Mismatch::NotLess,
            Mismatch::NotGreater,
        ] {
            assert_eq!(serde_json::to_string(&value).unwrap(), name(mismatch(value)));
        }
    }
}
