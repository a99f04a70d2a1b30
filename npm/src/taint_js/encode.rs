//! Answers about taints and tolerations as objects of JavaScript.
//!
//! One import makes each object of its values. For objects this small, JSON takes more than twice
//! as long, and its writer is half as large again as all of `taintlab/lite`.

use std::cell::RefCell;

use js_sys::{Array, JsString};
use taintlab_answers::problem::Problem;
use taintlab_core::api::{Taint, Toleration};
use taintlab_core::policy::matching::{
    Consequence, Explanation, Mismatch, TaintExplanation, TolerationOutcome, Verdict,
};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsThreadLocal, JsValue};

use crate::js;

// rustfmt drops the strings.
#[rustfmt::skip]
#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(thread_local_v2, static_string)]
    static EXPLANATION: JsString = "tolerations taints verdict";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static TAINT: JsString = "key value effect timeAdded";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static TOLERATION: JsString = "key operator value effect tolerationSeconds";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static EXPLAINED: JsString = "taint noExecute tolerationIndex consequence outcomes";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static OUTCOME: JsString = "type tolerationIndex test tolerationValue taintValue";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static VERDICT: JsString = "type afterMilliseconds tolerationIndex taintIndex overflowed overflowedIndex";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static FAILURE: JsString = "ok errors";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static PROBLEM: JsString = "code message path file line column help";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static PARSED_TAINT: JsString = "ok taint remove";
    #[wasm_bindgen(thread_local_v2, static_string)]
    static ZONE_STATE: JsString = "state ready notReady";
}

const NOTHING: JsValue = JsValue::UNDEFINED;

type Made = Result<JsValue, JsValue>;

/// Makes an object with these fields; fields that are `undefined` are left out.
fn object<const N: usize>(names: &'static JsThreadLocal<JsString>, values: [JsValue; N]) -> Made {
    let mut values = values.into_iter();
    let mut next = || values.next().unwrap_or(NOTHING);
    let all = (next(), next(), next(), next(), next(), next(), next());
    names.with(|names| js::object(names, &all.0, &all.1, &all.2, &all.3, &all.4, &all.5, &all.6))
}

fn list<T>(of: &[T], make: impl Fn(&T) -> Made) -> Made {
    let list = Array::new();
    for element in of {
        js::append(&list, &make(element)?)?;
    }
    Ok(list.into())
}

/// A text; `undefined` if it is empty.
fn unless_empty(text: &str) -> JsValue {
    if text.is_empty() { NOTHING } else { text.into() }
}

/// Makes an explanation.
///
/// # Errors
/// Fails only on an internal error; no input of the caller causes it.
pub(crate) fn explanation(explanation: &Explanation) -> Made {
    let tolerations = list(&explanation.tolerations, toleration)?;
    let taints = list(&explanation.taints, explained)?;
    object(&EXPLANATION, [tolerations, taints, verdict(explanation.verdict)?])
}

fn toleration(toleration: &Toleration) -> Made {
    #[expect(clippy::cast_precision_loss, reason = "it came from such a number")]
    let seconds = toleration.toleration_seconds.map_or(NOTHING, |seconds| (seconds as f64).into());
    let Toleration { key, operator, value, effect, .. } = toleration;
    let operator = if operator.is_empty() { NOTHING } else { word_of(operator.as_str()) };
    let effect = if effect.is_empty() { NOTHING } else { word_of(effect.as_str()) };
    object(&TOLERATION, [unless_empty(key), operator, unless_empty(value), effect, seconds])
}

fn taint(taint: &Taint) -> Made {
    let time = taint.time_added.map_or(NOTHING, |time| time.to_string().into());
    let effect = word_of(taint.effect.as_str());
    object(&TAINT, [taint.key.as_str().into(), unless_empty(&taint.value), effect, time])
}

fn explained(explained: &TaintExplanation) -> Made {
    let answered_by = explained.answered_by.map_or(NOTHING, index);
    let consequence = word(consequence(explained.consequence));
    let outcomes = list(&explained.outcomes, outcome)?;
    let no_execute = explained.no_execute.into();
    let taint = taint(&explained.taint)?;
    object(&EXPLAINED, [taint, no_execute, answered_by, consequence, outcomes])
}

fn outcome(outcome: &TolerationOutcome) -> Made {
    match outcome {
        TolerationOutcome::Used => object(&OUTCOME, [word("used")]),
        TolerationOutcome::Shadowed { by } => object(&OUTCOME, [word("shadowed"), index(*by)]),
        TolerationOutcome::Failed { test, toleration, taint } => {
            let taint = taint.as_deref().map_or(NOTHING, JsValue::from_str);
            let test = word(mismatch(*test));
            object(&OUTCOME, [word("failed"), NOTHING, test, toleration.as_str().into(), taint])
        }
    }
}

fn verdict(verdict: Verdict) -> Made {
    let none = NOTHING;
    match verdict {
        Verdict::NoNoExecuteTaints => object(&VERDICT, [word("noNoExecuteTaints")]),
        Verdict::ToleratedForever { overflowed } => {
            let overflowed = overflowed.map_or(NOTHING, index);
            object(
                &VERDICT,
                [
                    word("toleratedForever"),
                    none.clone(),
                    none.clone(),
                    none.clone(),
                    none,
                    overflowed,
                ],
            )
        }
        Verdict::EvictedAfter { after, toleration, overflowed } => {
            let after = after.timestamp().as_fractional_millis().into();
            let (toleration, overflowed) = (index(toleration), overflowed.into());
            object(&VERDICT, [word("evictedAfter"), after, toleration, none, overflowed])
        }
        Verdict::NotTolerated { taint } => {
            object(&VERDICT, [word("notTolerated"), none.clone(), none, index(taint)])
        }
        Verdict::ToleratedNotAtAll { toleration } => {
            object(&VERDICT, [word("toleratedNotAtAll"), none, index(toleration)])
        }
    }
}

/// Makes a [`crate::problem::Failure`].
///
/// # Errors
/// Those of [`explanation`].
pub(crate) fn failure(errors: &[Problem]) -> Made {
    object(&FAILURE, [false.into(), list(errors, problem)?])
}

fn problem(problem: &Problem) -> Made {
    let Problem { code, message, path, file, line, column, help } = problem;
    let number = |number: Option<u32>| number.map_or(NOTHING, JsValue::from);
    let text = |text: &Option<String>| text.as_deref().map_or(NOTHING, JsValue::from_str);
    let (file, line, column, help) = (text(file), number(*line), number(*column), text(help));
    let (message, path) = (message.as_str().into(), path.as_str().into());
    object(&PROBLEM, [word(code.name()), message, path, file, line, column, help])
}

/// Makes a [`crate::questions::Valid`].
///
/// # Errors
/// Those of [`explanation`].
pub(crate) fn valid() -> Made {
    object(&FAILURE, [true.into()])
}

/// Makes a [`crate::questions::ParsedTaint`].
///
/// # Errors
/// Those of [`explanation`].
pub(crate) fn parsed_taint(parsed: &Taint, remove: bool) -> Made {
    object(&PARSED_TAINT, [true.into(), taint(parsed)?, remove.into()])
}

/// Makes a [`crate::questions::ZoneStateAnswer`].
///
/// # Errors
/// Those of [`explanation`].
pub(crate) fn zone_state(state: &'static str, ready: usize, not_ready: usize) -> Made {
    object(&ZONE_STATE, [word(state), index(ready), index(not_ready)])
}

/// Makes a list of texts.
///
/// # Errors
/// Those of [`explanation`].
pub(crate) fn texts(texts: impl Iterator<Item = String>) -> Made {
    list(&texts.collect::<Vec<_>>(), |text| Ok(text.as_str().into()))
}

/// A count or an index.
fn index(index: usize) -> JsValue {
    u32::try_from(index).unwrap_or(u32::MAX).into()
}

/// An operator or an effect; known ones share one JavaScript text.
fn word_of(text: &str) -> JsValue {
    const KNOWN: [&str; 7] =
        ["NoExecute", "NoSchedule", "PreferNoSchedule", "Exists", "Equal", "Lt", "Gt"];
    KNOWN.into_iter().find(|known| *known == text).map_or_else(|| text.into(), word)
}

thread_local! {
    /// The words used so far, as JavaScript texts: making one takes longer than the rest of an
    /// answer.
    static WORDS: RefCell<Vec<(&'static str, JsValue)>> = const { RefCell::new(Vec::new()) };
}

/// A text that is used again and again, made once.
fn word(word: &'static str) -> JsValue {
    WORDS.with_borrow_mut(|words| {
        if let Some((_, known)) = words.iter().find(|(text, _)| core::ptr::eq(*text, word)) {
            return known.clone();
        }
        let new = JsValue::from_str(word);
        words.push((word, new.clone()));
        new
    })
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
    fn names_equal_those_of_the_types() {
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
