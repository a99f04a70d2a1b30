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

mod lab;
mod outcome;
mod reach;
mod setting;
mod trial;
mod wish;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use serde::Serialize;
use taintlab_rules::order::{Order, OrderedSet};
use taintlab_rules::plural::no_such;
use taintlab_rules::release::KubernetesRelease;
use taintlab_rules::time::Span;

use self::lab::{Goal, Lab, is_short};
pub use self::outcome::{ENDLESS, Outcome, WishOutcome};
use self::outcome::{Figure, moves};
pub use self::reach::{Knob, Seconds};
pub use self::setting::{Setting, apply, apply_document, patch};
pub use self::trial::Trial;
use self::trial::{combinations, trials};
pub use self::wish::{Ask, Wish, WishError, WishedFailures};
use crate::report::{
    DomainKind, Fault, Millis, Outline, Plan, Remedy, ReportError, ReportOptions, ReportSubject,
    Run, SEED, WorkloadRun,
};
use crate::scenario::Scenario;

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
        if let Some(wish) = wishes.iter().find(|it| it.longest() >= options.horizon) {
            let (longest, horizon) = (wish.longest(), options.horizon);
            let message = format!("`{wish}` needs runs of more than {longest}, not of {horizon}");
            return Err(ReportError::Option { name: "horizon", message });
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
                let why = match known.as_slice() {
                    [] if kind == DomainKind::Node => "the cluster has no node".into(),
                    [] => format!("no node has a {}", kind.as_str()),
                    known => no_such(kind.as_str(), name, known),
                };
                return wrong(format!("`{wish}`: {why}"));
            }
            let Some(subject) = &wish.subject else { continue };
            if !outline.subjects.contains(subject) {
                let known: Vec<String> = outline.subjects.iter().map(ToString::to_string).collect();
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                let why = no_such("workload", &subject.to_string(), &known);
                return wrong(format!("`{wish}`: {why}"));
            }
            if let Some(reason) = outline.not_judged(subject) {
                return wrong(format!("`{wish}`: {}", reason.as_str()));
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
        Lab::new(self, stop)
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
