//! The timeline: marks of past events, and of deadlines.

use std::time::Duration;

use taintlab_core::order::{OrderedMap, OrderedSet};
use taintlab_core::time::Timestamp;

use crate::session::{MarkKind, Session};

/// Parts in which the timeline is painted, each with one mark at most.
const PARTS: u64 = 400;
/// The time ahead beyond which deadlines are not on the timeline.
const FAR: Duration = Duration::from_secs(24 * 60 * 60);
/// The length of an empty timeline.
const SHORTEST: Timestamp = Timestamp::from_secs(60);

/// A mark; the more important, the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TimelineMark {
    /// A deadline.
    Due,
    /// A condition or the taints of a node changed.
    Node,
    /// The state or the rate of a zone changed.
    Zone,
    /// A pod was evicted.
    Eviction,
    /// A change by the user or the scenario.
    Change,
}

/// The timeline as it is painted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimelineView {
    /// The end.
    pub(crate) end: Timestamp,
    /// The marks, in thousandths of the timeline.
    pub(crate) marks: OrderedMap<u64, TimelineMark>,
    /// The places of the bookmarks, in thousandths.
    pub(crate) noted: OrderedSet<u64>,
}

/// The contents of the timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimelineModel {
    marks: Vec<(Timestamp, TimelineMark)>,
    noted: Vec<Timestamp>,
    last: Timestamp,
}

impl TimelineModel {
    /// The timeline of a session, without marks of the kinds that are `hidden`.
    pub(crate) fn new(session: &Session, hidden: &[MarkKind]) -> Self {
        let simulator = session.simulator();
        let far = simulator.now().saturating_add(FAR);
        let mut marks: Vec<(Timestamp, TimelineMark)> = session
            .marks()
            .iter()
            .filter(|mark| !hidden.contains(&mark.kind))
            .map(|mark| match mark.kind {
                MarkKind::Change => (mark.at, TimelineMark::Change),
                MarkKind::Eviction => (mark.at, TimelineMark::Eviction),
                MarkKind::Zone => (mark.at, TimelineMark::Zone),
                MarkKind::Node | MarkKind::Other => (mark.at, TimelineMark::Node),
            })
            .collect();
        let due = simulator.taint_eviction().scheduled_evictions().into_iter().map(|e| e.fire_at);
        let ends = simulator.terminations().map(|(_, end)| end);
        let steps = session.timeline().start.steps.iter().map(|step| step.at.timestamp());
        let steps = steps.filter(|at| *at > simulator.now());
        marks.extend(due.chain(steps).filter(|at| *at <= far).map(|at| (at, TimelineMark::Due)));
        let noted = session.timeline().start.bookmarks.iter().map(|it| it.at.timestamp());
        let noted: Vec<Timestamp> = noted.filter(|at| *at <= far).collect();
        // The end of a grace period has no mark: the eviction before it has one.
        let shown = marks.iter().map(|(at, _)| *at).chain(ends.filter(|at| *at <= far));
        let last = shown.chain(noted.iter().copied()).max().unwrap_or_default();
        Self { marks, noted, last }
    }

    /// The timeline to paint when the clock has been at `reached`.
    pub(crate) fn view(&self, reached: Timestamp) -> TimelineView {
        let end = self.end(reached);
        TimelineView { end, marks: self.marks(end), noted: self.noted(end) }
    }

    /// The end of the timeline when the clock has been at `reached`.
    pub(crate) fn end(&self, reached: Timestamp) -> Timestamp {
        self.last.max(reached).max(SHORTEST)
    }

    /// The marks, in thousandths of the timeline.
    fn marks(&self, end: Timestamp) -> OrderedMap<u64, TimelineMark> {
        let mut marks = OrderedMap::new();
        for (at, sign) in &self.marks {
            let strongest = marks.entry(place(*at, end)).or_insert(*sign);
            *strongest = (*strongest).max(*sign);
        }
        marks
    }

    /// The places of the bookmarks, in thousandths of the timeline.
    fn noted(&self, end: Timestamp) -> OrderedSet<u64> {
        self.noted.iter().map(|at| place(*at, end)).collect()
    }
}

fn place(at: Timestamp, end: Timestamp) -> u64 {
    let part = (end.as_nanos() / PARTS).max(1);
    (at.as_nanos() / part).min(PARTS) * 1_000 / PARTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_share_places_and_the_strongest_is_seen() {
        let at = Timestamp::from_secs;
        let marks = vec![
            (at(0), TimelineMark::Change),
            (at(50), TimelineMark::Eviction),
            (Timestamp::from_millis(50_001), TimelineMark::Due),
            (at(100), TimelineMark::Due),
        ];
        let noted = vec![at(50), at(100)];
        let timeline = TimelineModel { marks, noted, last: at(100) };
        let end = timeline.end(at(10));
        assert_eq!(end, at(100));
        let expected =
            [(0, TimelineMark::Change), (500, TimelineMark::Eviction), (1_000, TimelineMark::Due)];
        assert_eq!(timeline.marks(end), OrderedMap::from(expected));
        assert_eq!(timeline.noted(end), OrderedSet::from([500, 1_000]));
        assert_eq!(TimelineModel::default().end(Timestamp::ZERO), at(60));
    }
}
