//! A part of the lanes: some objects for some time.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use super::{LaneState, LaneSubject, Segment};
use crate::event::Event;
use crate::plural::count;
use crate::scenario::Expectation;
use crate::time::{Span, Timestamp};

/// What some objects were for some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Area {
    /// Since when.
    pub from: Timestamp,
    /// Until when.
    pub to: Timestamp,
    /// What they were: zones, nodes, pods; of each the states in the order of legends.
    pub states: Vec<AreaState>,
    /// What happened to them, as a scenario would expect it.
    pub expect: Vec<Expectation>,
}

/// A state that some objects of a kind were in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AreaState {
    /// Of what kind they are: `zone`, `node` or `pod`.
    pub kind: &'static str,
    /// The state.
    pub state: LaneState,
    /// How many of them were in it.
    pub objects: usize,
    /// For how long, added up over all of them.
    pub time: Span,
}

/// `2 nodes Unknown, 10m0s`.
impl fmt::Display for AreaState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}, {}", count(self.objects, self.kind), self.state, self.time)
    }
}

impl Area {
    /// What objects were from a moment to another one. `segments` has those of an object, each with
    /// the end that counts, also if it goes on there: how far a record or a forecast reaches, only
    /// the caller knows. `events` are at least those between the two moments.
    #[must_use]
    pub fn of(
        segments: impl Fn(&LaneSubject) -> Vec<Segment>,
        events: &[Event],
        subjects: &BTreeSet<LaneSubject>,
        (from, to): (Timestamp, Timestamp),
    ) -> Self {
        let mut found: BTreeMap<(&'static str, LaneState), (usize, Duration)> = BTreeMap::new();
        for subject in subjects {
            let mut own: BTreeMap<LaneState, Duration> = BTreeMap::new();
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

    /// Its name as people write it: `region/zone`, `node`, `namespace/pod`.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Zone { zone } => zone.name(),
            Self::Node { node } => node.as_str().into(),
            Self::Pod { pod } => pod.as_str().into(),
        }
    }
}
