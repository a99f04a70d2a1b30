//! Outages of a number of faults, in the order in which they are tried.

use alloc::vec::Vec;
use core::time::Duration;

use taintlab_rules::order::OrderedSet;
use taintlab_rules::time::Span;

use super::{Candidate, Outage, OutageSearch, TimedFault};
use crate::plan::permutations;

/// Sets of faults in a level at most; more could not be run.
const MOST_SETS: usize = 1_000_000;

/// All outages of a number of faults that can reach the goal: first every set of faults at once,
/// then, for each set, its orders with each list of gaps. Sets are in the order of their faults.
#[derive(Clone, Debug)]
pub struct Level<'s> {
    search: &'s OutageSearch,
    sets: Vec<Vec<usize>>,
    /// Ways to place the faults of a set in time: their places in the set, with their times. The
    /// first has all at once.
    timings: Vec<Vec<(usize, Duration)>>,
}

impl Level<'_> {
    /// Number of outages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sets.len().saturating_mul(self.timings.len())
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// The outage with this number, from 0.
    #[must_use]
    pub fn get(&self, number: usize) -> Option<Outage> {
        let others = self.timings.len().saturating_sub(1);
        let (set, timing) = match number.checked_sub(self.sets.len()) {
            None => (number, 0),
            Some(rest) => (rest.checked_div(others)?, rest.checked_rem(others)? + 1),
        };
        let (set, timing) = (self.sets.get(set)?, self.timings.get(timing)?);
        let faults = timing.iter().map(|(place, after)| {
            let candidate = self.search.candidates.get(*set.get(*place)?)?;
            Some(TimedFault { after: Span(*after), fault: candidate.fault.clone() })
        });
        Some(Outage { faults: faults.collect::<Option<_>>()? })
    }
}

impl OutageSearch {
    /// Outages of this number of faults.
    #[must_use]
    pub fn level(&self, faults: usize) -> Level<'_> {
        let mut sets = Sets {
            candidates: &self.candidates,
            needed: self.needed,
            most_hits: self.candidates.iter().map(|it| it.hits.len()).max().unwrap_or_default(),
            found: Vec::new(),
        };
        sets.extend(&mut Vec::new(), 0, faults);
        let gaps: Vec<Duration> = self.gaps.iter().map(|gap| gap.time.0).collect();
        Level { search: self, sets: sets.found, timings: timings(faults, &gaps) }
    }
}

/// Sets of faults that can reach the goal.
struct Sets<'s> {
    candidates: &'s [Candidate],
    needed: usize,
    /// Nodes that one fault hits at most.
    most_hits: usize,
    found: Vec<Vec<usize>>,
}

impl Sets<'_> {
    /// Finds those that begin with `set`, go on with faults from `from`, and have `left` more.
    fn extend(&mut self, set: &mut Vec<usize>, from: usize, left: usize) {
        let chosen = || set.iter().filter_map(|index| self.candidates.get(*index));
        let rest = self.candidates.get(from..).filter(|_| left > 0).unwrap_or_default();
        if !chosen().chain(rest).any(|it| it.displaces) {
            let hit = chosen().flat_map(|it| &it.hits).collect::<OrderedSet<_>>();
            if hit.len().saturating_add(left.saturating_mul(self.most_hits)) < self.needed {
                return;
            }
        }
        if self.found.len() >= MOST_SETS {
            return;
        }
        if left == 0 {
            self.found.push(set.clone());
            return;
        }
        for index in from..self.candidates.len() {
            set.push(index);
            self.extend(set, index + 1, left - 1);
            set.pop();
        }
    }
}

/// All ways to place a number of faults in time. Faults at one time are in the order of the set.
fn timings(faults: usize, gaps: &[Duration]) -> Vec<Vec<(usize, Duration)>> {
    let places: Vec<usize> = (0..faults).collect();
    let mut lists: Vec<Vec<Duration>> = Vec::from([Vec::new()]);
    for _ in 1..faults {
        let longer = lists.iter().flat_map(|list| {
            [Duration::ZERO].iter().chain(gaps).map(|gap| {
                let mut list = list.clone();
                list.push(*gap);
                list
            })
        });
        lists = longer.collect();
    }
    let mut all: Vec<Vec<(usize, Duration)>> = Vec::new();
    for order in permutations(&places) {
        for list in &lists {
            let mut after = Duration::ZERO;
            let times = core::iter::once(&Duration::ZERO).chain(list).map(|gap| {
                after = after.saturating_add(*gap);
                after
            });
            let timing: Vec<(usize, Duration)> = order.iter().copied().zip(times).collect();
            if timing.windows(2).all(|pair| !matches!(pair, [a, b] if a.1 == b.1 && a.0 > b.0)) {
                all.push(timing);
            }
        }
    }
    all
}
