//! Solving for wishes: the smallest change of settings with which a cluster meets them in every
//! failure that they name, or the proof that none in reach does.
//!
//! 1. [`Solve::new`] settles the cluster, makes the failures that the wishes name, and finds the
//!    [`Knob`]s in reach.
//! 2. [`Solve::trials`] lists the combinations of settings to try, the smallest first.
//! 3. [`Solve::run`] tries one. They are independent of each other, so that they can be run in
//!    several threads.
//! 4. If none meets the wishes, [`Solve::open`] and [`Solve::approach`] find what comes nearest.
//!
//! A trial applies its settings to the objects and lets the cluster settle, so that a changed
//! workload rolls out as after `kubectl apply`. Then it makes runs like those of the
//! [report](crate::report), except that the pods of a lost node are down from the fault on: a time
//! is that of detection, toleration and start-up. A change that leaves a workload with fewer ready
//! pods than before does not count. A trial ends at the first failure in which a wish is not met,
//! and begins with the failures that were missed before: no setting is dropped unless a run shows
//! that it fails, but for the whole seconds between two that were tried (see [`Knob::Seconds`]).

mod reach;
mod setting;
mod wish;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use serde::Serialize;

pub use self::reach::{Knob, Seconds};
pub use self::setting::{Setting, apply, apply_document, patch};
pub use self::wish::{Ask, Wish, WishError, WishedFailures};
use crate::api::is_default;
use crate::order::{Order, OrderedSet};
use crate::release::KubernetesRelease;
use crate::report::{
    DomainKind, Fault, Millis, Outline, Plan, Remedy, ReportError, ReportOptions, ReportSubject,
    Run, SEED, Shortfall, WorkloadRun,
};
use crate::scenario::Scenario;
use crate::time::Span;

/// Nearest changes that are looked at together.
const CHUNK: usize = 8;

/// Limits of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SolveOptions {
    /// Time from each fault to the end of its run; an hour unless given.
    pub horizon: Span,
    /// Fields, objects and flags that a change may have; 3 unless given.
    pub most_fields: usize,
    /// Combinations that are tried; 2,000 unless given.
    pub most_trials: usize,
    /// Kinds of settings that may change, of [`Setting::KINDS`]; all of them if empty.
    pub kinds: Vec<String>,
}

impl Default for SolveOptions {
    fn default() -> Self {
        Self {
            horizon: ReportOptions::default().horizon,
            most_fields: 3,
            most_trials: 2_000,
            kinds: Vec::new(),
        }
    }
}

/// A search for settings, ready to try combinations.
#[derive(Clone, Debug)]
pub struct Solve {
    scenario: Scenario,
    wishes: Vec<Wish>,
    options: ReportOptions,
    outline: Outline,
    checks: Vec<Check>,
    /// Checks that are made first: in the cluster as it is, they are the worst of each wish.
    hard: Vec<usize>,
    now: Outcome,
    knobs: Vec<Knob>,
    trials: Vec<Trial>,
    combinations: usize,
}

/// A failure, with the wishes that name it.
#[derive(Clone, Debug)]
struct Check {
    domain: usize,
    fault: Fault,
    wishes: Vec<usize>,
}

/// A combination of settings; the values of those in seconds are found when it is tried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trial {
    fixed: Vec<Setting>,
    seconds: Vec<Seconds>,
}

impl Trial {
    fn settings(&self) -> impl Iterator<Item = Setting> {
        self.fixed.iter().cloned().chain(self.seconds.iter().map(|it| it.setting(it.now)))
    }

    /// Number of fields that change, and their cost: see [`Setting::fields`] and [`Setting::cost`].
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        let each = self.settings().map(|it| (it.fields(), it.cost()));
        each.fold((0, 0), |(fields, cost), it| (fields + it.0, cost + it.1))
    }
}

/// Wishes with which seconds are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goal {
    /// All, as near to the value of the cluster as it is as possible.
    All,
    /// Limits of times alone, as late as possible; at once if none is met.
    Times,
    /// No moves alone, as early as possible; as late as possible if none is met.
    Moves,
}

impl Goal {
    fn has(self, ask: Ask) -> bool {
        let is_time = matches!(ask, Ask::Within { .. });
        self == Self::All || (self == Self::Times) == is_time
    }
}

/// Outcome of a trial.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The change that meets all wishes in all failures, if there is one.
    pub met: Option<Change>,
    /// Changes of this trial that may come nearest.
    corners: Vec<Corner>,
}

/// A change that does not meet all wishes, and the least that it costs.
#[derive(Clone, Debug)]
struct Corner {
    goal: Goal,
    over: Millis,
    moved: usize,
}

/// A corner to look at, by its trial.
#[derive(Clone, Copy, Debug)]
pub struct Open {
    trial: usize,
    corner: usize,
}

/// Settings with their outcome in all failures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The settings, in the order in which they are applied; none for the cluster as it is.
    pub settings: Vec<Setting>,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: Outcome,
}

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
    fn is_beaten_by(&self, other: &Self) -> bool {
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
struct Figure {
    missed: bool,
    endless: bool,
    time: Millis,
    over: Millis,
    moved: usize,
}

/// Pods of a workload that moved.
fn moves(figures: &WorkloadRun) -> usize {
    figures.evicted + figures.preempted
}

impl Wish {
    /// The wish in a run; of one workload, if `only` is given. `runs` is absent if the changed
    /// cluster has fewer ready pods than before.
    fn figure(
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
struct Lab<'s> {
    solve: &'s Solve,
    /// By the settings that precede a failure; absent for a cluster with fewer ready pods.
    plans: BTreeMap<Vec<Setting>, Option<Plan>>,
    results: BTreeMap<(Vec<Setting>, usize), Option<Vec<WorkloadRun>>>,
    stop: &'s dyn Fn() -> bool,
}

impl Lab<'_> {
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
    fn meets(
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
    fn choose(
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
    fn outcome(&mut self, settings: &[Setting]) -> Option<Outcome> {
        let solve = self.solve;
        let all: Vec<usize> = (0..solve.checks.len()).collect();
        self.outcome_in(settings, &all)
    }

    /// The outcome in some failures.
    fn outcome_in(&mut self, settings: &[Setting], checks: &[usize]) -> Option<Outcome> {
        let mut results = Vec::new();
        for check in checks {
            results.push((*check, self.run(settings, *check)?.map(<[WorkloadRun]>::to_vec)));
        }
        Some(self.solve.outcome(&results))
    }
}

/// Whether a cluster has fewer ready pods than it asks for where another has not.
fn is_short(changed: &Outline, before: &Outline) -> bool {
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

impl Solve {
    /// Settles the cluster of a scenario, without its steps, makes the failures that the wishes
    /// name, and finds the settings in reach.
    ///
    /// # Errors
    /// The cluster cannot be simulated, a wish names what it does not have, or an option is wrong.
    pub fn new(
        scenario: Scenario,
        wishes: Vec<Wish>,
        options: &SolveOptions,
    ) -> Result<Self, ReportError> {
        let wrong = |message: String| Err(ReportError::Option { name: "want", message });
        if wishes.is_empty() {
            return wrong("expected one wish at least".into());
        }
        let of = |kind| wishes.iter().any(|it| it.failures.kind == kind);
        let faults = wishes.iter().map(|it| run_fault(&it.failures.fault, options.horizon));
        let faults = faults.collect::<OrderedSet<_>>();
        let report = ReportOptions {
            nodes: of(DomainKind::Node),
            zones: of(DomainKind::Zone),
            regions: of(DomainKind::Region),
            device_pools: false,
            faults: faults.into_iter().collect(),
            horizon: options.horizon,
            ..ReportOptions::default()
        };
        let mut plan = Plan::new(scenario.clone(), report.clone())?;
        let outline = plan.outline().clone();
        for wish in &wishes {
            let fails =
                |it: &crate::report::Domain| wish.failures.contains(it, &wish.failures.fault);
            let kind = wish.failures.kind;
            if !outline.domains.iter().any(fails) {
                let of_kind = outline.domains.iter().filter(|it| it.kind == kind);
                let known: Vec<&str> = of_kind.map(|it| it.name.as_str()).collect();
                let name = wish.failures.name.as_deref().unwrap_or_default();
                return wrong(match names(&known) {
                    known if known.is_empty() => {
                        format!("`{wish}`: no node has a {}", kind.as_str())
                    }
                    known => {
                        format!(
                            "`{wish}`: there is no {} `{name}`: there are {known}",
                            kind.as_str()
                        )
                    }
                });
            }
            let Some(subject) = &wish.subject else { continue };
            if !outline.subjects.contains(subject) {
                let known: Vec<String> = outline.subjects.iter().map(ToString::to_string).collect();
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                return wrong(format!(
                    "`{wish}`: there is no `{subject}`: there are {}",
                    names(&known)
                ));
            }
            let is_down = |it: &Shortfall| it.subject == *subject && it.ready == 0;
            if outline.short_already.iter().any(is_down) {
                return wrong(format!("`{wish}`: no pod of it is ready before anything fails"));
            }
        }
        let checks = checks(&outline, &wishes);
        let none = Outcome { wishes: Vec::new(), over: Millis(0), time: Millis(0), moved: 0 };
        let mut solve = Self {
            scenario,
            wishes,
            options: report,
            outline,
            checks,
            hard: Vec::new(),
            now: none,
            knobs: Vec::new(),
            trials: Vec::new(),
            combinations: 0,
        };
        let results: Vec<(usize, Option<Vec<WorkloadRun>>)> = solve
            .checks
            .iter()
            .map(|check| solve.make(&mut plan, &[], check))
            .enumerate()
            .collect();
        solve.now = solve.outcome(&results);
        solve.hard = solve.worst(&results);
        let moving = solve.moving(&results);
        let mut domains = solve.checks.iter().filter_map(|it| solve.outline.domains.get(it.domain));
        let are_several =
            domains.any(|it| it.nodes.len() > 1) || !solve.outline.lost_already.is_empty();
        let simulator = plan.simulator();
        let mut knobs =
            reach::knobs(&solve.scenario, simulator, &solve.wishes, &moving, are_several);
        let kinds = &options.kinds;
        knobs.retain(|it| kinds.is_empty() || kinds.iter().any(|kind| kind == it.kind()));
        solve.combinations = combinations(&knobs, options.most_fields);
        solve.trials = trials(&knobs, options);
        solve.knobs = knobs;
        Ok(solve)
    }

    /// Makes the run of a failure in a cluster; `None` if the run does not belong to it.
    fn make(
        &self,
        plan: &mut Plan,
        settings: &[Setting],
        check: &Check,
    ) -> Option<Vec<WorkloadRun>> {
        let after = settings.iter().find_map(|it| match it {
            Setting::OutOfService { after } => Some(*after),
            _ => None,
        });
        // Nobody declares a node off that is back.
        let after = after.filter(|after| match &check.fault {
            Fault::Lost => true,
            Fault::PowerOff { back_after } => after < back_after,
            _ => false,
        });
        let remedy = after.map(|after| Remedy::OutOfService { after });
        let fault = run_fault(&check.fault, self.options.horizon);
        let run = Run { remedy, seed: SEED, fault, domain: check.domain };
        plan.run(&run).ok().map(|result| result.workloads)
    }

    fn wishes_of(&self, check: usize) -> impl Iterator<Item = &Wish> {
        let places = self.checks.get(check).map(|it| it.wishes.as_slice()).unwrap_or_default();
        places.iter().filter_map(|place| self.wishes.get(*place))
    }

    /// The outcome of the wishes in some failures, by the runs of these.
    fn outcome(&self, results: &[(usize, Option<Vec<WorkloadRun>>)]) -> Outcome {
        let horizon = self.options.horizon.into();
        let mut whole = Outcome { wishes: Vec::new(), over: Millis(0), time: Millis(0), moved: 0 };
        for (place, wish) in self.wishes.iter().enumerate() {
            let is_time = wish.ask != Ask::NoMove;
            let mut own = WishOutcome {
                wish: wish.clone(),
                failures: 0,
                missed: 0,
                time: is_time.then_some(Millis(0)),
                endless: false,
                moved: (!is_time).then_some(0),
                failure: None,
            };
            let mut worst = Figure::default();
            for (check, runs) in results {
                let Some(check) = self.checks.get(*check) else { continue };
                if !check.wishes.contains(&place) {
                    continue;
                }
                let figure = wish.figure(runs.as_deref(), None, horizon);
                own.failures += 1;
                own.missed += usize::from(figure.missed);
                let rank = |it: &Figure| (it.over, it.time, it.moved);
                if rank(&figure) > rank(&worst) {
                    worst = figure;
                    let domain = self.outline.domains.get(check.domain).map(ToString::to_string);
                    own.failure = Some(format!("{} {}", domain.unwrap_or_default(), check.fault));
                }
            }
            own.endless = worst.endless;
            own.time = own.time.map(|_| worst.time);
            own.moved = own.moved.map(|_| worst.moved);
            whole.over = whole.over.max(worst.over);
            whole.time = whole.time.max(worst.time);
            whole.moved = whole.moved.max(worst.moved);
            whole.wishes.push(own);
        }
        whole
    }

    /// The worst failure of each wish.
    fn worst(&self, results: &[(usize, Option<Vec<WorkloadRun>>)]) -> Vec<usize> {
        let horizon = self.options.horizon.into();
        let each = self.wishes.iter().enumerate().filter_map(|(place, wish)| {
            let own = results.iter().filter(|(check, _)| {
                self.checks.get(*check).is_some_and(|it| it.wishes.contains(&place))
            });
            let rank = |(_, runs): &&(usize, Option<Vec<WorkloadRun>>)| {
                let it = wish.figure(runs.as_deref(), None, horizon);
                (it.over, it.time, it.moved)
            };
            own.rev().max_by_key(rank).map(|(check, _)| *check)
        });
        each.collect::<OrderedSet<_>>().into_iter().collect()
    }

    /// Workloads of which pods move though none should.
    fn moving(&self, results: &[(usize, Option<Vec<WorkloadRun>>)]) -> OrderedSet<ReportSubject> {
        let mut moving = OrderedSet::new();
        for (check, runs) in results {
            for wish in self.wishes_of(*check).filter(|it| it.ask == Ask::NoMove) {
                let runs = runs.iter().flatten().filter(|it| moves(it) > 0);
                let own =
                    runs.filter(|it| wish.subject.as_ref().is_none_or(|own| it.subject == *own));
                moving.extend(own.map(|it| it.subject.clone()));
            }
        }
        moving
    }

    /// Release of Kubernetes.
    #[must_use]
    pub const fn release(&self) -> KubernetesRelease {
        self.outline.release
    }

    /// The wishes.
    #[must_use]
    pub fn wishes(&self) -> &[Wish] {
        &self.wishes
    }

    /// Number of failures that the wishes name.
    #[must_use]
    pub const fn failures(&self) -> usize {
        self.checks.len()
    }

    /// The cluster as it is.
    #[must_use]
    pub fn now(&self) -> Change {
        Change { settings: Vec::new(), outcome: self.now.clone() }
    }

    /// The settings in reach, the cheapest first.
    #[must_use]
    pub fn knobs(&self) -> &[Knob] {
        &self.knobs
    }

    /// Number of combinations of settings in reach, up to the limit of fields. A setting in seconds
    /// counts once, whatever its value.
    #[must_use]
    pub const fn combinations(&self) -> usize {
        self.combinations
    }

    /// Combinations to try, the smallest first; fewer than [`combinations`](Self::combinations) only
    /// if there are more than the limit.
    #[must_use]
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// Tries a combination; `None` if `stop` says so before it is done.
    #[must_use]
    pub fn run(&self, trial: &Trial, stop: &dyn Fn() -> bool) -> Option<Tried> {
        let mut lab = self.lab(stop);
        let met = self.reach(&mut lab, trial, Goal::All)?;
        let met = met.filter(|it| it.outcome.is_met());
        let mut corners = Vec::new();
        if met.is_none() {
            for goal in self.goals(trial) {
                let Some(settings) = lab.choose(trial, goal, &self.hard)? else { continue };
                let Outcome { over, moved, .. } = lab.outcome_in(&settings, &self.hard)?;
                corners.push(Corner { goal, over, moved });
            }
        }
        Some(Tried { met, corners })
    }

    fn lab<'s>(&'s self, stop: &'s dyn Fn() -> bool) -> Lab<'s> {
        Lab { solve: self, plans: BTreeMap::new(), results: BTreeMap::new(), stop }
    }

    /// Goals whose changes may come nearest.
    fn goals(&self, trial: &Trial) -> Vec<Goal> {
        let goals = [Goal::Times, Goal::Moves];
        let own = goals.into_iter().filter(|goal| self.wishes.iter().any(|it| goal.has(it.ask)));
        own.take(if trial.seconds.is_empty() { 1 } else { goals.len() }).collect()
    }

    /// Chooses the seconds of a trial so that the wishes of a goal are met in all failures, or, for
    /// a goal that cannot be met, as well as possible. The inner value is absent if all wishes have
    /// to be met and are not.
    fn reach(&self, lab: &mut Lab<'_>, trial: &Trial, goal: Goal) -> Option<Option<Change>> {
        let mut hard = self.hard.clone();
        loop {
            let Some(settings) = lab.choose(trial, goal, &hard)? else { return Some(None) };
            let rest = (0..self.checks.len()).filter(|it| !hard.contains(it));
            let mut missed = None;
            for check in hard.iter().copied().chain(rest) {
                if !lab.meets(&settings, &[check], None, &|it| goal.has(it.ask))? {
                    missed = Some(check);
                    break;
                }
            }
            match missed {
                // A failure that was not among those by which the seconds were chosen.
                Some(check) if !hard.contains(&check) && !trial.seconds.is_empty() => {
                    hard.push(check);
                }
                Some(_) if goal == Goal::All => return Some(None),
                _ => {
                    let outcome = lab.outcome(&settings)?;
                    return Some(Some(Change { settings, outcome }));
                }
            }
        }
    }

    /// The next changes that may come nearer than those that are known, a few at a time; `done` are
    /// those that were listed before.
    #[must_use]
    pub fn open(
        &self,
        tried: &[(usize, Tried)],
        known: &[Change],
        done: usize,
    ) -> (Vec<Open>, usize) {
        let all = tried.iter().flat_map(|(trial, it)| {
            it.corners.iter().enumerate().map(move |(corner, it)| (*trial, corner, it))
        });
        let mut open = Vec::new();
        let mut listed = done;
        for (trial, corner, it) in all.skip(done) {
            if open.len() == CHUNK {
                break;
            }
            listed += 1;
            let beats =
                |known: &Change| known.outcome.over <= it.over && known.outcome.moved <= it.moved;
            if !known.iter().any(beats) {
                open.push(Open { trial, corner });
            }
        }
        (open, listed)
    }

    /// Makes a change that may come nearest, in all failures.
    #[must_use]
    pub fn approach(
        &self,
        tried: &[(usize, Tried)],
        open: Open,
        stop: &dyn Fn() -> bool,
    ) -> Option<Change> {
        let (_, known) = tried.iter().find(|(trial, _)| *trial == open.trial)?;
        let goal = known.corners.get(open.corner)?.goal;
        self.reach(&mut self.lab(stop), self.trials.get(open.trial)?, goal)?
    }

    /// The changes among these that no other one beats in time without moving more, or in moves
    /// without taking longer; of equal ones the first. They come in the order of moves.
    #[must_use]
    pub fn front(&self, changes: &[Change]) -> Vec<Change> {
        let mut front: Vec<Change> = Vec::new();
        for change in changes {
            if front.iter().any(|it| change.outcome.is_beaten_by(&it.outcome)) {
                continue;
            }
            front.retain(|it| !it.outcome.is_beaten_by(&change.outcome));
            front.push(change.clone());
        }
        front.order_by_key(|it| (it.outcome.moved, it.outcome.over));
        front
    }

    /// The outcome in another cluster: that of these settings, made from what was printed.
    ///
    /// # Errors
    /// The cluster cannot be simulated.
    pub fn outcome_of(
        &self,
        scenario: Scenario,
        settings: &[Setting],
    ) -> Result<Outcome, ReportError> {
        let mut plan = Plan::new(scenario, self.options.clone())?;
        let short = is_short(plan.outline(), &self.outline);
        let make = |check: &Check| {
            let made = self.make(&mut plan, settings, check);
            made.filter(|_| !short)
        };
        let results: Vec<_> = self.checks.iter().map(make).enumerate().collect();
        Ok(self.outcome(&results))
    }
}

/// The fault of a run. The pods of a lost node are down from then on, whatever the control plane
/// sees: otherwise a longer grace period would seem to shorten an outage.
fn run_fault(fault: &Fault, horizon: Span) -> Fault {
    match fault {
        Fault::Lost => {
            let back_after = Span(horizon.0.saturating_add(Duration::from_secs(1)));
            Fault::PowerOff { back_after }
        }
        fault => fault.clone(),
    }
}

/// Failures of the wishes, each once.
fn checks(outline: &Outline, wishes: &[Wish]) -> Vec<Check> {
    let mut checks = Vec::new();
    let faults = wishes.iter().map(|it| it.failures.fault.clone()).collect::<OrderedSet<_>>();
    for (domain, it) in outline.domains.iter().enumerate() {
        for fault in &faults {
            let named =
                wishes.iter().enumerate().filter(|(_, wish)| wish.failures.contains(it, fault));
            let wishes: Vec<usize> = named.map(|(place, _)| place).collect();
            if !wishes.is_empty() {
                checks.push(Check { domain, fault: fault.clone(), wishes });
            }
        }
    }
    checks
}

/// Names in a sentence, at most ten.
fn names(known: &[&str]) -> String {
    const MOST: usize = 10;
    let more = if known.len() > MOST { ", …" } else { "" };
    let known: Vec<&str> = known.iter().take(MOST).copied().collect();
    format!("{}{more}", known.join(", "))
}

/// Values of a knob as parts of trials.
fn parts(knob: &Knob) -> Vec<Trial> {
    match knob {
        Knob::Values(values) => {
            let part = |it: &Setting| Trial { fixed: [it.clone()].into(), seconds: Vec::new() };
            values.iter().map(part).collect()
        }
        Knob::Seconds(seconds) => {
            Vec::from([Trial { fixed: Vec::new(), seconds: [seconds.clone()].into() }])
        }
    }
}

/// Number of combinations with 1 to `most` fields.
fn combinations(knobs: &[Knob], most: usize) -> usize {
    let mut counts = alloc::vec![0_usize; most.saturating_add(1)];
    if let Some(none) = counts.first_mut() {
        *none = 1;
    }
    for knob in knobs {
        let before = counts.clone();
        for part in parts(knob) {
            for (to, count) in counts.iter_mut().enumerate().skip(part.size().0) {
                let from = before.get(to - part.size().0).copied().unwrap_or_default();
                *count = count.saturating_add(from);
            }
        }
    }
    counts.iter().skip(1).fold(0, |sum, it| sum.saturating_add(*it))
}

/// Combinations by their size, as many as may be tried.
fn trials(knobs: &[Knob], options: &SolveOptions) -> Vec<Trial> {
    let parts: Vec<Vec<Trial>> = knobs.iter().map(parts).collect();
    let dearest = parts.iter().flatten().map(|it| it.size().1).max().unwrap_or_default();
    let mut all = Vec::new();
    for fields in 1..=options.most_fields {
        for cost in 1..=dearest * fields {
            combine(&parts, (fields, cost), &Trial::default(), options.most_trials, &mut all);
        }
    }
    all
}

/// Adds the combinations of a size.
fn combine(
    parts: &[Vec<Trial>],
    (fields, cost): (usize, usize),
    begun: &Trial,
    most: usize,
    all: &mut Vec<Trial>,
) {
    if fields == 0 && cost == 0 && all.len() < most {
        all.push(begun.clone());
    }
    let mut rest = parts;
    while let Some((first, later)) = rest.split_first() {
        rest = later;
        for part in first {
            let own = part.size();
            if own.0 > fields || own.1 > cost || all.len() >= most {
                continue;
            }
            let mut trial = begun.clone();
            trial.fixed.extend(part.fixed.iter().cloned());
            trial.seconds.extend(part.seconds.iter().cloned());
            combine(later, (fields - own.0, cost - own.1), &trial, most, all);
        }
    }
}
