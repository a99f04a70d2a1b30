//! One trial: its clusters, the runs that were made of them, and the seconds that are chosen by these.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::outcome::{Figure, moves};
use super::{Ask, Check, Outcome, Seconds, Setting, Solve, Trial, Wish, apply};
use crate::report::{Outline, Plan, ReportSubject, Shortfall, WorkloadRun};

/// Wishes with which seconds are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// All, as near to the value of the cluster as it is as possible.
    All,
    /// Limits of times alone, as late as possible; at once if none is met.
    Times,
    /// No moves alone, as early as possible; as late as possible if none is met.
    Moves,
}

impl Goal {
    pub(super) fn has(self, ask: Ask) -> bool {
        let is_time = matches!(ask, Ask::Within { .. });
        self == Self::All || (self == Self::Times) == is_time
    }
}

/// The settings of a trial beside one in seconds: those that are chosen, the place of that one among
/// them, and those that are not chosen yet.
struct Around<'a> {
    settings: &'a [Setting],
    place: usize,
    later: &'a [Seconds],
}

impl Around<'_> {
    /// All settings, with a value of the one and values of those that are not chosen yet.
    fn with(&self, knob: &Seconds, value: u32, others: fn(&Seconds) -> u32) -> Vec<Setting> {
        let (chosen, fixed) = self.settings.split_at(self.place.min(self.settings.len()));
        let later = self.later.iter().map(|it| it.setting(others(it)));
        let all = chosen.iter().cloned().chain([knob.setting(value)]).chain(later);
        all.chain(fixed.iter().cloned()).collect()
    }
}

/// Clusters of one trial with the runs that were made of them.
pub(super) struct Lab<'s> {
    solve: &'s Solve,
    /// By the settings that precede a failure; absent for a cluster with fewer ready pods.
    plans: BTreeMap<Vec<Setting>, Option<Plan>>,
    results: BTreeMap<(Vec<Setting>, usize), Option<Vec<WorkloadRun>>>,
    stop: &'s dyn Fn() -> bool,
}

impl<'s> Lab<'s> {
    pub(super) fn new(solve: &'s Solve, stop: &'s dyn Fn() -> bool) -> Self {
        Self { solve, plans: BTreeMap::new(), results: BTreeMap::new(), stop }
    }

    /// The workloads in a failure; `None` if the search is to stop.
    fn run(&mut self, settings: &[Setting], check: usize) -> Option<Option<&[WorkloadRun]>> {
        let key = (settings.to_vec(), check);
        if !self.results.contains_key(&key) {
            if (self.stop)() {
                return None;
            }
            let made = self.make(settings, self.solve.checks.get(check)?);
            self.results.insert(key.clone(), made);
        }
        self.results.get(&key).map(Option::as_deref)
    }

    fn make(&mut self, settings: &[Setting], check: &Check) -> Option<Vec<WorkloadRun>> {
        let before = |it: &&Setting| !matches!(it, Setting::OutOfService { .. });
        let lasting: Vec<Setting> = settings.iter().filter(before).cloned().collect();
        let solve = self.solve;
        let plan = self.plans.entry(lasting).or_insert_with_key(|lasting| {
            let plan =
                Plan::new(apply(&solve.scenario, lasting).ok()?, solve.options.clone()).ok()?;
            (!is_short(plan.outline(), &solve.outline)).then_some(plan)
        });
        solve.make(plan.as_mut()?, settings, check)
    }

    /// A wish in a failure.
    fn figure(
        &mut self,
        settings: &[Setting],
        check: usize,
        wish: &Wish,
        only: Option<&ReportSubject>,
    ) -> Option<Figure> {
        let horizon = self.solve.options.horizon.into();
        Some(wish.figure(self.run(settings, check)?, only, horizon))
    }

    /// Whether settings meet some of the wishes of one workload in these checks.
    pub(super) fn meets(
        &mut self,
        settings: &[Setting],
        checks: &[usize],
        only: Option<&ReportSubject>,
        which: &dyn Fn(&Wish) -> bool,
    ) -> Option<bool> {
        let solve = self.solve;
        for check in checks {
            for wish in solve.wishes_of(*check).filter(|it| which(it)) {
                let is_other = wish.subject.is_some() && only.is_some();
                if is_other && wish.subject.as_ref() != only {
                    continue;
                }
                if self.figure(settings, *check, wish, only)?.missed {
                    return Some(false);
                }
            }
        }
        Some(true)
    }

    /// Chooses the seconds of a trial by some checks. The inner value is absent if none meets the
    /// goal there.
    pub(super) fn choose(
        &mut self,
        trial: &Trial,
        goal: Goal,
        checks: &[usize],
    ) -> Option<Option<Vec<Setting>>> {
        let mut settings = trial.fixed.clone();
        let mut rest = trial.seconds.as_slice();
        let mut place = 0;
        while let Some((knob, later)) = rest.split_first() {
            let around = Around { settings: &settings, place, later };
            let Some(value) = self.seconds(knob, &around, goal, checks)? else {
                return Some(None);
            };
            settings.insert(place, knob.setting(value));
            place += 1;
            rest = later;
        }
        Some(Some(settings))
    }

    /// Chooses the seconds of one setting, by runs in which those that are not chosen yet are as good
    /// as they can be.
    fn seconds(
        &mut self,
        knob: &Seconds,
        around: &Around<'_>,
        goal: Goal,
        checks: &[usize],
    ) -> Option<Option<u32>> {
        let only = knob.workload.clone().map(ReportSubject::Workload);
        let only = only.as_ref();
        let soon = |value: u32| around.with(knob, value, |_| 0);
        let late = |value: u32| around.with(knob, value, |it| it.most);
        let has = |it: &Wish| goal.has(it.ask);
        let no_move = |it: &Wish| has(it) && it.ask == Ask::NoMove;
        let gone = |it: &Wish| has(it) && it.ask != Ask::NoMove && !it.failures.comes_back();
        let back = |it: &Wish| has(it) && it.ask != Ask::NoMove && it.failures.comes_back();
        // Moves become fewer with longer times.
        let least = first(knob.most, |value| self.meets(&late(value), checks, only, &no_move))?;
        // Nodes that do not come back cost more time with longer times.
        let most = last(knob.most, |value| self.meets(&soon(value), checks, only, &gone))?;
        let (least, most) = match (least, most) {
            (Some(least), Some(most)) => (least, most),
            _ if goal == Goal::All => return Some(None),
            (least, most) => (least.unwrap_or(knob.most), most.unwrap_or(0)),
        };
        // Nodes that come back cost more time with longer times up to the one from which on no pod
        // is evicted.
        let solve = self.solve;
        let returns: Vec<usize> =
            checks.iter().copied().filter(|it| solve.wishes_of(*it).any(&back)).collect();
        let stays =
            |it: &WorkloadRun| only.is_some_and(|only| it.subject != *only) || moves(it) == 0;
        let waits = first(knob.most, |value| {
            for check in &returns {
                let runs = self.run(&late(value), *check)?;
                if !runs.is_some_and(|runs| runs.iter().all(stays)) {
                    return Some(false);
                }
            }
            Some(true)
        })?;
        let pick = |from: u32, to: u32| match goal {
            Goal::All => knob.now.clamp(from, to),
            Goal::Times => to,
            Goal::Moves => from,
        };
        if let Some(from) = waits.map(|waits| waits.max(least)).filter(|from| *from <= most) {
            let value = pick(from, most);
            if self.meets(&soon(value), checks, only, &back)? {
                return Some(Some(value));
            }
        }
        let before = waits.map_or(most, |waits| most.min(waits.saturating_sub(1)));
        let early = last(before, |value| self.meets(&soon(value), checks, only, &back))?;
        Some(match early {
            Some(to) if to >= least => Some(pick(least, to)),
            _ if goal == Goal::All => None,
            _ => Some(pick(0, before)),
        })
    }

    /// The outcome in all failures.
    pub(super) fn outcome(&mut self, settings: &[Setting]) -> Option<Outcome> {
        let solve = self.solve;
        let all: Vec<usize> = (0..solve.checks.len()).collect();
        self.outcome_in(settings, &all)
    }

    /// The outcome in some failures.
    pub(super) fn outcome_in(&mut self, settings: &[Setting], checks: &[usize]) -> Option<Outcome> {
        let mut results = Vec::new();
        for check in checks {
            results.push((*check, self.run(settings, *check)?.map(<[WorkloadRun]>::to_vec)));
        }
        Some(self.solve.outcome(&results))
    }
}

/// Whether a cluster has fewer ready pods than it asks for where another has not.
pub(super) fn is_short(changed: &Outline, before: &Outline) -> bool {
    let short = |it: &Shortfall| it.desired - it.ready;
    changed.short_already.iter().any(|it| {
        let known = before.short_already.iter().find(|old| old.subject == it.subject);
        short(it) > known.map_or(0, short)
    })
}

/// The smallest number up to `most` for which a condition holds that holds from there on. The inner
/// value is absent if it holds for none.
fn first(most: u32, mut holds: impl FnMut(u32) -> Option<bool>) -> Option<Option<u32>> {
    if holds(0)? {
        return Some(Some(0));
    }
    if !holds(most)? {
        return Some(None);
    }
    let (mut below, mut at) = (0, most);
    while at - below > 1 {
        let middle = below + (at - below) / 2;
        *(if holds(middle)? { &mut at } else { &mut below }) = middle;
    }
    Some(Some(at))
}

/// The largest number up to `most` for which a condition holds that holds up to there.
fn last(most: u32, mut holds: impl FnMut(u32) -> Option<bool>) -> Option<Option<u32>> {
    let first = first(most, |number| holds(number).map(|it| !it))?;
    Some(first.map_or(Some(most), |first| first.checked_sub(1)))
}
