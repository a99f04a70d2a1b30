//! Tolerations against taints, in a terminal.

use alloc::format;
use alloc::string::{String, ToString};

use taintlab_core::api::{Taint, Toleration};
use taintlab_core::policy::matching::{
    Consequence, Explanation, Mismatch, TolerationOutcome, Verdict,
};
use taintlab_core::protocol::zone::ZoneState;

use crate::table::Style;

/// Every taint against every toleration, and what follows for a running pod. Each line ends with a
/// line break.
#[must_use]
pub fn explanation(explanation: &Explanation, style: Style) -> String {
    let mut text = String::new();
    for (index, explained) in explanation.taints.iter().enumerate() {
        let Taint { key, value, effect, .. } = &explained.taint;
        let value = if value.is_empty() { String::new() } else { format!("={value}") };
        let what = consequence(explained.consequence);
        let line = format!("taint {}: {key}{value}:{effect}: {what}", index + 1);
        text += &format!("{}\n", style.bold(&line));
        for (place, (outcome, toleration)) in
            explained.outcomes.iter().zip(&explanation.tolerations).enumerate()
        {
            let (number, shown) = (place + 1, shown(toleration));
            let outcome = said(outcome, style);
            text += &format!("  toleration {number} ({shown}): {outcome}\n");
        }
    }
    text + &verdict(&explanation.verdict) + "\n"
}

/// Reason why a running pod stays in a zone of that state, whose eviction rate is 0 for that reason.
#[must_use]
pub fn stopped(state: ZoneState, rate_text: &str) -> String {
    format!(
        "a running pod stays: its zone is in {state}, so that the node lifecycle controller taints \
         no node of it; eviction rate {rate_text}"
    )
}

/// Verdict on a running pod, in a sentence that counts taints and tolerations from 1.
#[must_use]
pub fn verdict(verdict: &Verdict) -> String {
    match verdict {
        Verdict::NoNoExecuteTaints => "a running pod stays: there is no NoExecute taint".into(),
        Verdict::ToleratedForever { .. } => {
            "a running pod stays: every NoExecute taint is tolerated forever".into()
        }
        Verdict::EvictedAfter { after, toleration, .. } => {
            let number = toleration + 1;
            format!("a running pod is evicted after {after}: toleration {number} limits the time")
        }
        Verdict::NotTolerated { taint } => {
            format!("a running pod is evicted at once: nothing tolerates taint {}", taint + 1)
        }
        Verdict::ToleratedNotAtAll { toleration } => {
            let number = toleration + 1;
            format!("a running pod is evicted at once: toleration {number} tolerates for no time")
        }
    }
}

fn shown(toleration: &Toleration) -> String {
    let Toleration { key, operator, value, effect, toleration_seconds, .. } = toleration;
    let or =
        |text: &str, other: &str| if text.is_empty() { other.to_string() } else { text.into() };
    let (key, operator) = (or(key, "every key"), or(operator.as_str(), "Equal"));
    let value = if value.is_empty() { String::new() } else { format!(" {value}") };
    let effect = or(effect.as_str(), "every effect");
    let seconds = toleration_seconds.map(|seconds| format!(", {seconds} s")).unwrap_or_default();
    format!("{key} {operator}{value}, {effect}{seconds}")
}

const fn consequence(consequence: Consequence) -> &'static str {
    match consequence {
        Consequence::Tolerated => "tolerated",
        Consequence::ToleratedForAWhile => "tolerated for a while",
        Consequence::NotScheduled => "not scheduled",
        Consequence::Avoided => "avoided",
        Consequence::Evicted => "evicted",
        Consequence::Ignored => "ignored",
    }
}

fn said(outcome: &TolerationOutcome, style: Style) -> String {
    match outcome {
        TolerationOutcome::Used => style.green("tolerates it"),
        TolerationOutcome::Shadowed { by } => {
            format!("tolerates it, but toleration {} comes first", by + 1)
        }
        TolerationOutcome::Failed { test, .. } => format!("does not: {}", mismatch(*test)),
    }
}

const fn mismatch(test: Mismatch) -> &'static str {
    match test {
        Mismatch::Effect => "another effect",
        Mismatch::Key => "another key",
        Mismatch::Value => "another value",
        Mismatch::UnknownOperator => "an operator that Kubernetes does not know",
        Mismatch::ComparisonOperatorsOff => "the operators Lt and Gt are off in this release",
        Mismatch::TolerationNotInteger => "its value is not a number",
        Mismatch::TaintNotInteger => "the taint's value is not a number",
        Mismatch::NotLess => "the taint's number is not less",
        Mismatch::NotGreater => "the taint's number is not greater",
    }
}
