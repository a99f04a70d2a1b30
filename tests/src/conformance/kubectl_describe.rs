//! `kubectl_describe_*`: the pages of `kubectl describe`.

use serde::Deserialize;
use serde_json::Value;
use taintlab_core::time::Time;
use taintlab_kubectl::print::{Surroundings, View, describe};

use super::{Outcome, compare, release_of, with_flagged_case};

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

/// View of a release at the time of all cases.
pub(super) fn view(release: &str) -> View {
    View {
        release: release_of(release),
        now: Time::parse("2020-01-01T00:00:00Z").expect("it is a time"),
    }
}

/// Runs one case of that release.
pub fn run(release: &str, line: &str) -> Outcome {
    with_flagged_case(
        line,
        |case: &Case| !case.flagged.is_null(),
        |case| {
            let mut events = case.events;
            // Kubectl searches the events of a node by two UIDs; the client that was recorded gave
            // all of them both times.
            if case.kind == "Node"
                && release_of(release).describe_node_shows_events_of_controllers()
            {
                events.extend(events.clone());
            }
            let surroundings = Surroundings::read(&case.others, Some(events))?;
            let text = describe(view(release), &case.kind, &case.object, &surroundings)?;
            Ok(compare(&case.text, &text))
        },
    )
}
