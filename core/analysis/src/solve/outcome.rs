//! Outcome of wishes in failures.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;
use taintlab_rules::api::is_default;

use super::{Ask, Wish};
use crate::report::{Millis, ReportSubject, WorkloadRun};

/// A time without end.
pub const ENDLESS: Millis = Millis(u64::MAX);

fn is_endless(time: &Millis) -> bool {
    *time == ENDLESS
}

/// Outcome of all wishes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// Outcome of each wish, in their order.
    pub wishes: Vec<WishOutcome>,
    /// Longest time beyond the limit of a wish; 0 if all are kept. It is [`ENDLESS`], and left out of
    /// JSON, for a workload that is never whole again, or loses ready pods by the change.
    #[serde(skip_serializing_if = "is_endless")]
    pub over: Millis,
    /// Longest time that a wish limits.
    pub time: Millis,
    /// Pods that move in the worst failure in which none should.
    pub moved: usize,
}

impl Outcome {
    /// Whether all wishes are met.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.wishes.iter().all(|it| it.is_met())
    }

    /// Whether another outcome is at least as good in both time and moves.
    pub(super) fn is_beaten_by(&self, other: &Self) -> bool {
        other.over <= self.over && other.moved <= self.moved
    }
}

/// Outcome of a wish in all failures that it names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WishOutcome {
    /// The wish.
    pub wish: Wish,
    /// Failures that it names.
    pub failures: usize,
    /// Failures among these in which it is not met.
    pub missed: usize,
    /// Longest time in any of them; absent for moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Millis>,
    /// Whether that time goes on when the run ends, or the change takes ready pods away.
    #[serde(skip_serializing_if = "is_default")]
    pub endless: bool,
    /// Most pods that move in any of them; absent for times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved: Option<usize>,
    /// The failure with that time or number: `node a lost`; absent if none harms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl WishOutcome {
    /// Whether it is met in all failures.
    #[must_use]
    pub const fn is_met(&self) -> bool {
        self.missed == 0
    }
}

/// A wish in one failure.
#[derive(Clone, Copy, Default)]
pub(super) struct Figure {
    pub(super) missed: bool,
    pub(super) endless: bool,
    pub(super) time: Millis,
    pub(super) over: Millis,
    pub(super) moved: usize,
}

/// Pods of a workload that moved.
pub(super) fn moves(figures: &WorkloadRun) -> usize {
    figures.evicted + figures.preempted
}

impl Wish {
    /// The wish in a run; of one workload, if `only` is given. `runs` is absent if the changed
    /// cluster has fewer ready pods than before.
    pub(super) fn figure(
        &self,
        runs: Option<&[WorkloadRun]>,
        only: Option<&ReportSubject>,
        horizon: Millis,
    ) -> Figure {
        let Some(runs) = runs else {
            let endless = self.ask != Ask::NoMove;
            let (over, moved) = if endless { (ENDLESS, 0) } else { (Millis(0), usize::MAX) };
            return Figure { missed: true, endless, time: Millis(0), over, moved };
        };
        let is_own = |it: &&WorkloadRun| {
            self.subject.as_ref().is_none_or(|own| it.subject == *own)
                && only.is_none_or(|only| it.subject == *only)
        };
        let mut own = runs.iter().filter(is_own);
        match self.ask {
            Ask::NoMove => {
                let moved = own.map(moves).sum();
                Figure { missed: moved > 0, moved, ..Figure::default() }
            }
            Ask::Within { figure, most } => {
                let Some(run) = own.next() else { return Figure::default() };
                let (endless, time) = figure.of_run(run, horizon);
                let over = Millis(time.0.saturating_sub(Millis::from(most).0));
                let over = if endless { ENDLESS } else { over };
                Figure { missed: over.0 > 0, endless, time, over, moved: 0 }
            }
        }
    }
}
