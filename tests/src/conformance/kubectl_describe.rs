//! `kubectl_describe_1.20`: the pages of `kubectl describe`.

use serde::Deserialize;
use serde_json::Value;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::time::Time;
use taintlab_kubectl::print::{Surroundings, View, describe};

use super::{Outcome, compare, with_flagged_case};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(rename = "id")]
    _id: u64,
    kind: String,
    object: Value,
    #[serde(default)]
    others: Vec<Value>,
    #[serde(default)]
    events: Vec<Value>,
    text: String,
    #[serde(default)]
    flagged: Value,
}

/// The release and the clock of all cases.
pub(super) fn view() -> View {
    let release = KubernetesRelease::parse("1.20").expect("it is known");
    View { release, now: Time::parse("2020-01-01T00:00:00Z").expect("it is a time") }
}

/// Runs one case.
pub fn run(line: &str) -> Outcome {
    with_flagged_case(
        line,
        |case: &Case| !case.flagged.is_null(),
        |case| {
            let surroundings = Surroundings::read(&case.others, Some(case.events))?;
            let text = describe(view(), &case.kind, &case.object, &surroundings)?;
            Ok(compare(&case.text, &text))
        },
    )
}
