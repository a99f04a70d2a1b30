//! What a scenario expects, and whether it turned out to be true.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::api::{PodKey, is_default};
use crate::event::{Event, Happening, ObjectReference, RecordedEvent, RequestResult, RequestVerb};
use crate::simulator::Simulator;
use crate::time::{Span, Timestamp};

/// Something that must turn out to be true.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Expectation {
    /// A controller deletes the pod: the API server accepts a `DELETE` for it.
    Evicted(PodExpectation),
    /// No controller deletes the pod (in the given time).
    NotEvicted(PodExpectation),
    /// The pod object is gone, after its grace period.
    Gone(PodExpectation),
    /// The pod object is still there at the end.
    Present(PodExpectation),
    /// A component records such an event.
    Event(EventExpectation),
    /// No component records such an event (in the given time).
    NoEvent(EventExpectation),
}

/// Which pod, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PodExpectation {
    /// Which pod, `namespace/name`.
    pub pod: PodKey,
    /// Exactly at this time.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at: Option<Span>,
    /// At this time or before.
    #[serde(default, skip_serializing_if = "is_default")]
    pub by: Option<Span>,
    /// At this time or later.
    #[serde(default, skip_serializing_if = "is_default")]
    pub from: Option<Span>,
}

/// Which event, and when. Fields that are left out match everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct EventExpectation {
    /// The pod it is about, `namespace/name`.
    #[serde(skip_serializing_if = "is_default")]
    pub pod: Option<PodKey>,
    /// The node it is about.
    #[serde(skip_serializing_if = "is_default")]
    pub node: Option<String>,
    /// The reason, for example `TaintManagerEviction`.
    #[serde(skip_serializing_if = "is_default")]
    pub reason: Option<String>,
    /// The whole message.
    #[serde(skip_serializing_if = "is_default")]
    pub message: Option<String>,
    /// Exactly at this time.
    #[serde(skip_serializing_if = "is_default")]
    pub at: Option<Span>,
    /// At this time or before.
    #[serde(skip_serializing_if = "is_default")]
    pub by: Option<Span>,
    /// At this time or later.
    #[serde(skip_serializing_if = "is_default")]
    pub from: Option<Span>,
    /// Exactly this many such events; at least one unless given.
    #[serde(skip_serializing_if = "is_default")]
    pub times: Option<u32>,
}

/// Whether an expectation turned out to be true.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// The expectation in words: `default/web-1 is evicted at 5m0s`.
    pub expectation: String,
    /// What happened instead; absent if it was true.
    pub failure: Option<String>,
}

/// A time in an expectation.
#[derive(Clone, Copy, Debug)]
struct Window {
    at: Option<Span>,
    by: Option<Span>,
    from: Option<Span>,
}

impl Window {
    fn contains(self, time: Timestamp) -> bool {
        self.at.is_none_or(|at| time == at.timestamp())
            && self.by.is_none_or(|by| time <= by.timestamp())
            && self.from.is_none_or(|from| time >= from.timestamp())
    }

    fn last_moment(self) -> Option<Timestamp> {
        [self.at, self.by, self.from].into_iter().flatten().map(Span::timestamp).max()
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (word, time) in [("at", self.at), ("from", self.from), ("by", self.by)] {
            if let Some(time) = time {
                write!(f, " {word} {time}")?;
            }
        }
        Ok(())
    }
}

impl PodExpectation {
    fn window(&self) -> Window {
        Window { at: self.at, by: self.by, from: self.from }
    }
}

impl EventExpectation {
    fn window(&self) -> Window {
        Window { at: self.at, by: self.by, from: self.from }
    }

    fn matches(&self, event: &RecordedEvent) -> bool {
        let about = match &event.involved_object {
            ObjectReference::Pod { pod, .. } => {
                self.node.is_none() && self.pod.as_ref().is_none_or(|wanted| wanted == pod)
            }
            ObjectReference::Node { node } => {
                let wanted = self.node.as_deref();
                self.pod.is_none() && wanted.is_none_or(|wanted| wanted == node.as_str())
            }
        };
        about
            && self.reason.as_deref().is_none_or(|reason| reason == event.reason)
            && self.message.as_deref().is_none_or(|message| message == event.message)
    }
}

impl fmt::Display for EventExpectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("event")?;
        if let Some(reason) = &self.reason {
            write!(f, " {reason}")?;
        }
        if let Some(message) = &self.message {
            write!(f, " \"{message}\"")?;
        }
        if let Some(pod) = &self.pod {
            write!(f, " about pod {pod}")?;
        }
        if let Some(node) = &self.node {
            write!(f, " about node {node}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Evicted(e) => write!(f, "{} is evicted{}", e.pod, e.window()),
            Self::NotEvicted(e) => write!(f, "{} is not evicted{}", e.pod, e.window()),
            Self::Gone(e) => write!(f, "{} is gone{}", e.pod, e.window()),
            Self::Present(e) => write!(f, "{} is still there", e.pod),
            Self::Event(e) => {
                write!(f, "{e} is recorded{}", e.window())?;
                e.times.map_or(Ok(()), |times| write!(f, ", {times} times"))
            }
            Self::NoEvent(e) => write!(f, "{e} is not recorded{}", e.window()),
        }
    }
}

impl Expectation {
    /// The last moment this speaks of; a scenario without an end runs at least until then.
    pub(super) fn last_moment(&self) -> Option<Timestamp> {
        match self {
            Self::Evicted(e) | Self::NotEvicted(e) | Self::Gone(e) | Self::Present(e) => {
                e.window().last_moment()
            }
            Self::Event(e) | Self::NoEvent(e) => e.window().last_moment(),
        }
    }

    /// Compares this with what happened.
    #[must_use]
    pub fn check(&self, events: &[Event], simulator: &Simulator) -> Outcome {
        let failure = match self {
            Self::Evicted(e) => within(e.window(), &evictions(events, &e.pod), "evicted"),
            Self::NotEvicted(e) => outside(e.window(), &evictions(events, &e.pod), "evicted"),
            Self::Gone(e) => within(e.window(), &removals(events, &e.pod), "gone"),
            Self::Present(e) => {
                let gone = simulator.cluster().get_pod(&e.pod).is_none();
                gone.then(|| times_text(&removals(events, &e.pod), "gone"))
            }
            Self::Event(e) => {
                let times = recorded(events, e);
                let hits = times.iter().filter(|time| e.window().contains(**time)).count();
                match e.times {
                    Some(times) if hits == times as usize => None,
                    Some(_) => Some(format!("it is recorded {hits} times")),
                    None => within(e.window(), &times, "recorded"),
                }
            }
            Self::NoEvent(e) => outside(e.window(), &recorded(events, e), "recorded"),
        };
        Outcome { expectation: self.to_string(), failure }
    }
}

/// When the API server accepted a controller's `DELETE` for the pod.
fn evictions(events: &[Event], wanted: &PodKey) -> Vec<Timestamp> {
    let accepted = events.iter().filter(|event| {
        let (verb, result) = (RequestVerb::Delete, RequestResult::Ok);
        matches!(&event.what, Happening::Request { pod, verb: v, result: r, .. }
            if pod == wanted && *v == verb && *r == result)
    });
    accepted.map(|event| event.at).collect()
}

fn removals(events: &[Event], wanted: &PodKey) -> Vec<Timestamp> {
    let gone = events
        .iter()
        .filter(|event| matches!(&event.what, Happening::PodDeleted { pod, .. } if pod == wanted));
    gone.map(|event| event.at).collect()
}

fn recorded(events: &[Event], wanted: &EventExpectation) -> Vec<Timestamp> {
    let hits = events.iter().filter(
        |event| matches!(&event.what, Happening::EventRecorded(event) if wanted.matches(event)),
    );
    hits.map(|event| event.at).collect()
}

fn within(window: Window, times: &[Timestamp], what: &str) -> Option<String> {
    let hit = times.iter().any(|time| window.contains(*time));
    (!hit).then(|| times_text(times, what))
}

fn outside(window: Window, times: &[Timestamp], what: &str) -> Option<String> {
    let hits: Vec<Timestamp> =
        times.iter().copied().filter(|time| window.contains(*time)).collect();
    (!hits.is_empty()).then(|| times_text(&hits, what))
}

fn times_text(times: &[Timestamp], what: &str) -> String {
    if times.is_empty() {
        return format!("it is never {what}");
    }
    let times: Vec<String> = times.iter().map(ToString::to_string).collect();
    format!("it is {what} at {}", times.join(", "))
}
