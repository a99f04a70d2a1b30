//! Kubernetes Events, as the API server keeps them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use taintlab_core::event::{Happening, ObjectReference, RecordedEvent};
use taintlab_core::time::Timestamp;

use crate::objects::text;
use crate::session::Session;

/// How long an API server keeps an event (`--event-ttl`).
const TIME_TO_LIVE: Duration = Duration::from_secs(3600);

/// An event, and how often and when it was recorded.
struct Recorded<'e> {
    event: &'e RecordedEvent,
    count: u64,
    first: Timestamp,
    last: Timestamp,
}

/// Kind, namespace and name of what an event is about.
fn reference(object: &ObjectReference) -> (&str, &str, &str) {
    match object {
        ObjectReference::Pod { pod, .. } => ("Pod", pod.namespace(), pod.name()),
        ObjectReference::Node { node } => ("Node", "", node.as_str()),
        ObjectReference::Workload { workload } => {
            (workload.kind.as_str(), workload.name.namespace(), workload.name.name())
        }
    }
}

/// The events that are still kept, in the order of their last time. What was recorded again is one
/// event with a count, as client-go's correlator makes it.
pub(crate) fn values(session: &Session<'_>) -> Vec<Value> {
    let simulator = session.context.simulator;
    let mut found: Vec<Recorded<'_>> = Vec::new();
    let mut known: BTreeMap<(&ObjectReference, &str, &str), usize> = BTreeMap::new();
    let is_kept = |at: Timestamp| at.saturating_add(TIME_TO_LIVE) > simulator.now();
    for event in session.context.events.iter().filter(|event| is_kept(event.at)) {
        let Happening::EventRecorded(recorded) = &event.what else { continue };
        let key = (&recorded.involved_object, recorded.reason, recorded.message.as_str());
        match known.get(&key).and_then(|index| found.get_mut(*index)) {
            Some(before) => {
                before.count += 1;
                before.last = event.at;
            }
            None => {
                known.insert(key, found.len());
                found.push(Recorded { event: recorded, count: 1, first: event.at, last: event.at });
            }
        }
    }
    found.sort_by_key(|recorded| recorded.last);
    let numbered = found.iter().zip(1_u64..);
    numbered.map(|(recorded, number)| value(session, recorded, number)).collect()
}

fn value(session: &Session<'_>, recorded: &Recorded<'_>, number: u64) -> Value {
    let simulator = session.context.simulator;
    let time = |at| simulator.wall_clock(at).truncated_to_seconds().to_string();
    let (kind, namespace, name) = reference(&recorded.event.involved_object);
    let event = recorded.event;
    let mut object = json!({ "kind": kind, "name": name });
    if let (Value::Object(object), false) = (&mut object, namespace.is_empty()) {
        object.insert("namespace".into(), namespace.into());
    }
    json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": format!("{name}.{number:016x}"),
            // Events about nodes are in the default namespace.
            "namespace": if namespace.is_empty() { "default" } else { namespace },
            "creationTimestamp": time(recorded.first),
        },
        "involvedObject": object,
        "reason": event.reason,
        "message": event.message,
        "source": { "component": event.component },
        "firstTimestamp": time(recorded.first),
        "lastTimestamp": time(recorded.last),
        "count": recorded.count,
        "type": event.type_,
    })
}

/// The events about one object, oldest first.
pub(crate) fn about(session: &Session<'_>, kind: &str, namespace: &str, name: &str) -> Vec<Value> {
    let mut events = values(session);
    events.retain(|event| {
        text(event, "/involvedObject/kind") == kind
            && text(event, "/involvedObject/name") == name
            && text(event, "/involvedObject/namespace") == namespace
    });
    events
}
