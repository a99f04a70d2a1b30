//! What the scrubber shows: marks of what happened, and what is due.

use std::collections::BTreeMap;
use std::time::Duration;

use taintlab_core::time::Timestamp;

use crate::session::{MarkKind, Session};

/// The scrubber is painted in so many parts, each with one mark at most.
const PARTS: u64 = 400;
/// What is due later than this is not waited for on the scrubber.
const FAR: Duration = Duration::from_secs(24 * 60 * 60);
/// An empty scrubber is this long.
const SHORTEST: Timestamp = Timestamp::from_secs(60);

/// A mark, the more important the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sign {
    /// A deadline.
    Due,
    /// The state or the rate of a zone changed.
    Zone,
    /// A pod was evicted.
    Eviction,
    /// The user or the scenario did something.
    Change,
}

/// What the scrubber shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scrub {
    signs: Vec<(Timestamp, Sign)>,
    last: Timestamp,
}

impl Scrub {
    /// What there is to show about a session.
    pub(crate) fn new(session: &Session) -> Self {
        let simulator = session.simulator();
        let far = simulator.now().saturating_add(FAR);
        let mut signs: Vec<(Timestamp, Sign)> = session
            .marks()
            .iter()
            .map(|mark| match mark.kind {
                MarkKind::Change => (mark.at, Sign::Change),
                MarkKind::Eviction => (mark.at, Sign::Eviction),
                MarkKind::Zone => (mark.at, Sign::Zone),
            })
            .collect();
        let due = simulator.taint_eviction().scheduled_evictions().into_iter().map(|e| e.fire_at);
        let ends = simulator.terminations().map(|(_, end)| end);
        let steps = session.timeline().start.steps.iter().map(|step| step.at.timestamp());
        let steps = steps.filter(|at| *at > simulator.now());
        signs.extend(due.chain(steps).filter(|at| *at <= far).map(|at| (at, Sign::Due)));
        // The end of a grace period has no mark: the eviction before it has one.
        let shown = signs.iter().map(|(at, _)| *at).chain(ends.filter(|at| *at <= far));
        let last = shown.max().unwrap_or_default();
        Self { signs, last }
    }

    /// How far the scrubber reaches when the clock has been at `reached`.
    pub(crate) fn end(&self, reached: Timestamp) -> Timestamp {
        self.last.max(reached).max(SHORTEST)
    }

    /// The marks, in thousandths of the scrubber.
    pub(crate) fn signs(&self, end: Timestamp) -> BTreeMap<u64, Sign> {
        let part = (end.as_nanos() / PARTS).max(1);
        let mut signs = BTreeMap::new();
        for (at, sign) in &self.signs {
            let place = (at.as_nanos() / part).min(PARTS) * 1_000 / PARTS;
            let strongest = signs.entry(place).or_insert(*sign);
            *strongest = (*strongest).max(*sign);
        }
        signs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_share_places_and_the_strongest_is_seen() {
        let at = Timestamp::from_secs;
        let signs = vec![
            (at(0), Sign::Change),
            (at(50), Sign::Eviction),
            (Timestamp::from_millis(50_001), Sign::Due),
            (at(100), Sign::Due),
        ];
        let scrub = Scrub { signs, last: at(100) };
        let end = scrub.end(at(10));
        assert_eq!(end, at(100));
        let expected = [(0, Sign::Change), (500, Sign::Eviction), (1_000, Sign::Due)];
        assert_eq!(scrub.signs(end), BTreeMap::from(expected));
        assert_eq!(Scrub::default().end(Timestamp::ZERO), at(60));
    }
}
