//! An area of the lanes: some objects during a time span.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use taintlab_engine::event::Event;
use taintlab_rules::order::{OrderedMap, OrderedSet};
use taintlab_rules::plural::count;
use taintlab_rules::time::{Span, Timestamp};

use super::{LaneState, LaneSubject, Segment};
use crate::scenario::Expectation;

/// States and events of some objects during a time span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Area {
    /// Start of the time span.
    pub from: Timestamp,
    /// End of the time span.
    pub to: Timestamp,
    /// States of zones, then of nodes, then of pods, each in the order of legends.
    pub states: Vec<AreaState>,
    /// Events of these objects, as expectations of a scenario.
    pub expect: Vec<Expectation>,
}

/// A state that some objects of a kind were in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AreaState {
    /// Kind of the objects: `zone`, `node` or `pod`.
    pub kind: &'static str,
    /// The state.
    pub state: LaneState,
    /// Number of objects that were in it.
    pub objects: usize,
    /// Total time in it, summed over the objects.
    pub time: Span,
}

/// `2 nodes Unknown, 10m0s`.
impl fmt::Display for AreaState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}, {}", count(self.objects, self.kind), self.state, self.time)
    }
}

impl Area {
    /// States and events of objects from one moment to another. `segments` returns the segments of
    /// an object, each with its effective end, even if it continues: only the caller knows how far
    /// a record or a forecast reaches. `events` contains at least the events between the two
    /// moments.
    #[must_use]
    pub fn of(
        segments: impl Fn(&LaneSubject) -> Vec<Segment>,
        events: &[Event],
        subjects: &OrderedSet<LaneSubject>,
        (from, to): (Timestamp, Timestamp),
    ) -> Self {
        let mut found: OrderedMap<(&'static str, LaneState), (usize, Duration)> = OrderedMap::new();
        for subject in subjects {
            let mut own: OrderedMap<LaneState, Duration> = OrderedMap::new();
            for segment in segments(subject) {
                let end = segment.to.min(to);
                let begin = segment.from.max(from);
                if begin < end {
                    let time = end.since_zero().saturating_sub(begin.since_zero());
                    *own.entry(segment.state).or_default() += time;
                }
            }
            for (state, time) in own {
                let all = found.entry((subject.kind(), state)).or_default();
                *all = (all.0 + 1, all.1.saturating_add(time));
            }
        }
        let states = ["zone", "node", "pod"].into_iter().flat_map(|kind| {
            LaneState::ALL.into_iter().filter_map({
                let found = &found;
                move |state| {
                    let (objects, time) = *found.get(&(kind, state))?;
                    Some(AreaState { kind, state, objects, time: Span(time) })
                }
            })
        });
        let states = states.collect();
        let within = events.iter().filter(|event| (from..=to).contains(&event.at));
        let about = within.filter(|event| {
            let of = event.what.subject();
            let zone = of.zone.map(|zone| LaneSubject::Zone { zone: zone.clone() });
            let node = of.node.map(|node| LaneSubject::Node { node: node.clone() });
            let pod = of.pod.map(|pod| LaneSubject::Pod { pod: pod.clone() });
            pod.or(node).or(zone).is_some_and(|subject| subjects.contains(&subject))
        });
        let expect = about.flat_map(Expectation::of_event).collect();
        Self { from, to, states, expect }
    }
}

impl LaneSubject {
    /// `zone`, `node` or `pod`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Zone { .. } => "zone",
            Self::Node { .. } => "node",
            Self::Pod { .. } => "pod",
        }
    }

    /// Name of the object: `region/zone`, `node`, `namespace/pod`.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Zone { zone } => zone.name(),
            Self::Node { node } => node.as_str().into(),
            Self::Pod { pod } => pod.as_str().into(),
        }
    }
}
