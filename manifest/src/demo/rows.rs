//! The events of a run for readers: what a cluster would show, and the steps of the scenario.

use serde_json::Value;
use taintlab_core::api::json_value;
use taintlab_core::event::{Event, EventKind, EventVisibility};
use taintlab_core::order::Order;
use taintlab_core::scenario::{Scenario, ScenarioRun};
use taintlab_core::time::Timestamp;

/// Rows of one moment with the same kind that are shown; more are counted.
const MOST_ALIKE: usize = 3;

/// One row of the list of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Simulated time of the row.
    pub at: Timestamp,
    /// Description for people.
    pub text: String,
    /// Whether a step of the scenario did it, rather than the cluster.
    pub is_step: bool,
    /// The kind; rows of the same kind count as alike.
    kind: String,
}

/// The rows of a run, in the order of time; steps come before their consequences.
#[must_use]
pub fn rows(scenario: &Scenario, report: &ScenarioRun) -> Vec<Row> {
    let mut rows: Vec<Row> = scenario
        .steps
        .iter()
        .filter_map(|step| {
            let command = json_value(&step.command).ok()?;
            let (kind, text) = in_words(&command);
            Some(Row { at: step.at.timestamp(), text, is_step: true, kind })
        })
        .collect();
    rows.extend(report.events.iter().filter_map(row));
    rows.order_by_key(|row| row.at);
    without_repetition(rows)
}

/// Shortens rows of one moment that are alike, and says how many are hidden.
fn without_repetition(rows: Vec<Row>) -> Vec<Row> {
    let mut shown: Vec<Row> = Vec::new();
    for group in rows.chunk_by(|a, b| a.at == b.at) {
        let mut kinds: Vec<&str> = Vec::new();
        for row in group {
            if !kinds.contains(&row.kind.as_str()) {
                kinds.push(&row.kind);
            }
        }
        for kind in kinds {
            let alike: Vec<&Row> = group.iter().filter(|row| row.kind == kind).collect();
            let most = if alike.len() > MOST_ALIKE { MOST_ALIKE - 1 } else { MOST_ALIKE };
            shown.extend(alike.iter().take(most).map(|row| (*row).clone()));
            if let Some(next) = alike.get(most) {
                let text = format!("{} more like this", alike.len() - most);
                shown.push(Row { text, ..(*next).clone() });
            }
        }
    }
    shown
}

/// A command in words: its name, and the objects and values that it names.
fn in_words(command: &Value) -> (String, String) {
    match command {
        Value::Object(fields) => match fields.iter().next() {
            Some((name, arguments)) => {
                let mut words = vec![name.clone()];
                collect(arguments, "", &mut words);
                (name.clone(), words.join(" "))
            }
            None => Default::default(),
        },
        other => {
            let name = other.as_str().unwrap_or_default().to_owned();
            (name.clone(), name)
        }
    }
}

/// The plain values of an argument; for an object, kind and name say enough.
fn collect(value: &Value, name: &str, words: &mut Vec<String>) {
    let plain = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(on) => Some(on.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    match value {
        Value::Object(fields) => {
            if let Some(metadata) = fields.get("metadata") {
                words.extend(["kind", "name"].iter().filter_map(|field| {
                    plain(fields.get(*field).or_else(|| metadata.get(*field))?)
                }));
                return;
            }
            for (field, value) in fields {
                collect(value, field, words);
            }
        }
        Value::Array(items) => {
            for item in items {
                collect(item, name, words);
            }
        }
        _ => words.extend(plain(value).map(|text| {
            let named = name.is_empty() || text.is_empty();
            if named { text } else { format!("{name}={text}") }
        })),
    }
}

/// The row of an event, if the event is notable.
fn row(event: &Event) -> Option<Row> {
    if event.what.visibility() != EventVisibility::Notable {
        return None;
    }
    let mut text = event.what.to_string();
    // Some texts do not name their pod, such as `Node is not ready`.
    if let Some(pod) = event.what.pod()
        && !text.contains(pod.name())
    {
        text += &format!(" ({pod})");
    }
    Some(Row { at: event.at, text, is_step: false, kind: kind(&event.what) })
}

/// A key that events which are alike have in common.
fn kind(what: &EventKind) -> String {
    if let EventKind::EventRecorded(recorded) = what {
        return recorded.reason.to_owned();
    }
    if let EventKind::NodeConditionChanged { condition, .. } = what {
        return condition.clone();
    }
    if let EventKind::NodeTaintsChanged { added, removed, .. } = what {
        let named = |taints: &[taintlab_core::api::Taint]| {
            taints.iter().map(|taint| format!("{}:{}", taint.key, taint.effect)).collect()
        };
        let (added, removed): (String, String) = (named(added), named(removed));
        return format!("+{added}-{removed}");
    }
    format!("{:?}", std::mem::discriminant(what))
}
