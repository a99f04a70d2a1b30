//! Kubernetes Events, as the API server keeps them.

use std::time::Duration;

use serde_json::Value;
use taintlab_core::api::{PodKey, object};
use taintlab_core::event::{EventKind, ObjectReference, RecordedEvent};
use taintlab_core::order::{Order, OrderedMap, OrderedSet};
use taintlab_core::time::Timestamp;

use crate::Context;
use crate::fields::text;

/// Time for which an API server keeps an event (`--event-ttl`).
const TIME_TO_LIVE: Duration = Duration::from_secs(3600);

/// Number of different messages about one object from which client-go combines further ones into
/// one event (`defaultAggregateMaxEvents`).
const MOST_MESSAGES: usize = 10;

/// Messages after a longer pause than this start anew (`defaultAggregateIntervalInSeconds`).
const AGGREGATE_INTERVAL: Duration = Duration::from_secs(600);

/// Number of events about one object that a component may record at once, and the time until it may
/// record one more; events beyond that are lost (`defaultSpamBurst`, `defaultSpamQPS`).
const BURST: u32 = 25;
const REFILL: Duration = Duration::from_secs(300);

/// An event, with the number and the times of its occurrences.
struct Recorded<'e> {
    event: &'e RecordedEvent,
    message: String,
    uid: String,
    /// Number of occurrences.
    seen: u64,
    /// Number of occurrences that the API server knows; 0 if it was never told.
    count: u64,
    first: Timestamp,
    last: Timestamp,
}

/// Similar events agree in this key: everything but the message. The number tells pods of the same
/// name apart.
type Kind<'e> = (&'e ObjectReference, usize, &'e str, &'e str, &'e str);

/// Messages of similar events so far.
#[derive(Default)]
struct Messages<'e> {
    known: OrderedSet<&'e str>,
    last: Timestamp,
}

/// Kind, namespace and name of the object that an event is about.
fn reference(object: &ObjectReference) -> (&str, &str, &str) {
    match object {
        ObjectReference::Pod { pod, .. } => ("Pod", pod.namespace(), pod.name()),
        ObjectReference::Node { node } => ("Node", "", node.as_str()),
        ObjectReference::Budget { budget } => {
            ("PodDisruptionBudget", budget.namespace(), budget.name())
        }
        ObjectReference::Workload { workload } => {
            (workload.kind.as_str(), workload.name.namespace(), workload.name.name())
        }
    }
}

const SCHEDULER: &str = "default-scheduler";

/// The events that are still kept, as the API server lists them: by namespace and name, which
/// begins with the object's name. Repeated events are one event with a count, many different
/// messages about one object are combined, and of many events about one object only some are sent.
/// Mirrors `EventCorrelator`, which a restart of its process empties; the scheduler uses the newer
/// API, in which each recording is an event of its own.
pub(crate) fn values(context: &Context<'_>) -> Vec<Value> {
    let simulator = context.simulator;
    let mut found: Vec<Recorded<'_>> = Vec::new();
    let mut known: OrderedMap<(Kind<'_>, &str), usize> = OrderedMap::new();
    let mut similar: OrderedMap<Kind<'_>, Messages<'_>> = OrderedMap::new();
    // The time at which a component may again record a full burst about an object.
    let mut spent: OrderedMap<(&ObjectReference, usize, &str), Timestamp> = OrderedMap::new();
    // UIDs of deleted pods by name, in order: each pod had its own.
    let mut gone: OrderedMap<&PodKey, Vec<&str>> = OrderedMap::new();
    for event in context.events {
        if let EventKind::PodDeleted { pod, uid } = &event.what {
            gone.entry(pod).or_default().push(uid);
        }
    }
    let mut before: OrderedMap<&PodKey, usize> = OrderedMap::new();
    // The last event of the scheduler about a pod that has not changed since.
    let mut series: OrderedMap<&PodKey, usize> = OrderedMap::new();
    for event in context.events {
        if let EventKind::PodUpdated { pod, .. } | EventKind::PodDeleted { pod, .. } = &event.what {
            series.remove(pod);
        }
        if let EventKind::PodDeleted { pod, .. } = &event.what {
            *before.entry(pod).or_default() += 1;
        }
        if event.what == EventKind::ControllerManagerRestarted {
            known.retain(|(kind, _), _| !is_of_controller_manager(kind.4));
            similar.retain(|kind, _| !is_of_controller_manager(kind.4));
            spent.retain(|(_, _, component), _| !is_of_controller_manager(component));
        }
        let EventKind::EventRecorded(recorded) = &event.what else { continue };
        let object = &recorded.involved_object;
        let generation = match object {
            ObjectReference::Pod { pod, .. } => before.get(pod).copied().unwrap_or_default(),
            _ => 0,
        };
        let until = spent.entry((object, generation, recorded.component)).or_default();
        let then = event.at.max(*until).saturating_add(REFILL);
        let sent = then <= event.at.saturating_add(REFILL * BURST);
        if sent {
            *until = then;
        }
        let sent = sent || recorded.component == SCHEDULER;
        if event.at.saturating_add(TIME_TO_LIVE) <= simulator.now() {
            continue;
        }
        let kind: Kind<'_> =
            (object, generation, recorded.type_, recorded.reason, recorded.component);
        let message = recorded.message.as_str();
        let messages = similar.entry(kind).or_default();
        if event.at - messages.last > AGGREGATE_INTERVAL {
            messages.known.clear();
        }
        messages.last = event.at;
        messages.known.insert(message);
        let combined = messages.known.len() >= MOST_MESSAGES && recorded.component != SCHEDULER;
        let (key, message) = if combined {
            messages.known.pop_first();
            ("", format!("(combined from similar events): {message}"))
        } else {
            (message, message.to_owned())
        };
        let of_scheduler = match object {
            ObjectReference::Pod { pod, .. } if recorded.component == SCHEDULER => Some(pod),
            _ => None,
        };
        let known_as = match of_scheduler {
            Some(pod) => {
                let of_reason = |index: &&usize| {
                    let known = found.get(**index);
                    known.is_some_and(|known| known.event.reason == recorded.reason)
                };
                series.get(pod).filter(of_reason)
            }
            None => known.get(&(kind, key)),
        };
        match known_as.and_then(|index| found.get_mut(*index)) {
            Some(known) => {
                known.seen += 1;
                if sent {
                    known.count = known.seen;
                    known.last = event.at;
                    known.message = message;
                }
            }
            None => {
                known.insert((kind, key), found.len());
                series.extend(of_scheduler.map(|pod| (pod, found.len())));
                found.push(Recorded {
                    event: recorded,
                    message,
                    uid: match object {
                        ObjectReference::Pod { pod, .. }
                            if !is_of_taint_eviction(context, recorded) =>
                        {
                            gone.get(pod)
                                .and_then(|uids| uids.get(generation))
                                .map_or_else(|| uid(context, recorded), |uid| (*uid).to_owned())
                        }
                        _ => uid(context, recorded),
                    },
                    seen: 1,
                    count: u64::from(sent),
                    first: event.at,
                    last: event.at,
                });
            }
        }
    }
    found.retain(|recorded| recorded.count > 0);
    let numbered = found.iter().zip(1_u64..);
    let mut values: Vec<Value> =
        numbered.map(|(recorded, number)| value(context, recorded, number)).collect();
    values.order_by_cached_key(|event| {
        let of = |path| text(event, path).to_owned();
        (of("/metadata/namespace"), of("/metadata/name"))
    });
    values
}

/// Whether a component is part of kube-controller-manager.
fn is_of_controller_manager(component: &str) -> bool {
    !matches!(component, SCHEDULER | "kubelet" | "cluster-autoscaler" | "sigs.k8s.io.descheduler")
}

fn is_of_taint_eviction(context: &Context<'_>, recorded: &RecordedEvent) -> bool {
    recorded.component == context.simulator.config().release.taint_eviction_component()
}

/// The current UID of the object that an event is about.
fn uid(context: &Context<'_>, recorded: &RecordedEvent) -> String {
    let cluster = context.simulator.cluster();
    match &recorded.involved_object {
        // Taint eviction knows only the pod's name.
        ObjectReference::Pod { .. } if is_of_taint_eviction(context, recorded) => String::new(),
        ObjectReference::Pod { pod, .. } => {
            cluster.get_pod(pod).map_or_else(String::new, |pod| pod.metadata.uid.clone())
        }
        // A kubelet does not know the UID of its node.
        ObjectReference::Node { node } if recorded.component == "kubelet" => node.to_string(),
        ObjectReference::Node { node } => {
            let node = cluster.get_node(node.as_str());
            node.map_or_else(String::new, |node| node.metadata.uid.clone())
        }
        ObjectReference::Budget { budget } => {
            let budget = cluster.get_budget(budget);
            budget.map_or_else(String::new, |budget| budget.metadata.uid.clone())
        }
        ObjectReference::Workload { workload } => {
            let workload = cluster.get_workload(workload);
            workload.map_or_else(String::new, |workload| workload.metadata.uid.clone())
        }
    }
}

fn value(context: &Context<'_>, recorded: &Recorded<'_>, number: u64) -> Value {
    let simulator = context.simulator;
    let time = |at| simulator.wall_clock(at).truncated_to_seconds().to_string();
    let (kind, namespace, name) = reference(&recorded.event.involved_object);
    let event = recorded.event;
    let mut about = object(&mut [
        ("kind", kind.into()),
        ("name", name.into()),
        ("uid", recorded.uid.as_str().into()),
    ]);
    if let (Value::Object(about), false) = (&mut about, namespace.is_empty()) {
        about.insert("namespace".into(), namespace.into());
    }
    // Events about nodes are in the default namespace.
    let place = if namespace.is_empty() { "default" } else { namespace };
    let (first, last) = (Value::from(time(recorded.first)), time(recorded.last));
    let metadata = object(&mut [
        ("name", format!("{name}.{number:016x}").into()),
        ("namespace", place.into()),
        ("creationTimestamp", first.clone()),
    ]);
    object(&mut [
        ("apiVersion", "v1".into()),
        ("kind", "Event".into()),
        ("metadata", metadata),
        ("involvedObject", about),
        ("reason", event.reason.into()),
        ("message", recorded.message.as_str().into()),
        ("source", object(&mut [("component", event.component.into())])),
        ("firstTimestamp", first),
        ("lastTimestamp", last.into()),
        ("count", recorded.count.into()),
        ("type", event.type_.into()),
    ])
}
