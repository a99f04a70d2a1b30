//! Whole clusters over simulated years: random faults and changes, and after every step invariants
//! that hold whatever happens.
//!
//! A seed gives one run: a random cluster ([`cluster`]), and bursts of commands ([`faults`]) with
//! quiet hours between them. Each step is checked ([`invariants`]). Since a run is a scenario with
//! the commands as its steps, a run that fails is made smaller by leaving out steps and objects, and
//! ends as a file that `taintlab run` shows.

pub mod cluster;
pub mod faults;
pub mod invariants;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use taintlab_core::api::Node;
use taintlab_core::command::Command;
use taintlab_core::event::Event;
use taintlab_core::scenario::{Scenario, Step};
use taintlab_core::simulator::Simulator;
use taintlab_core::time::{Span, Timestamp};

use self::invariants::{
    DEADLINE, FORECAST, ORDER, PANIC, PROGRESS, RECOVERED_AFTER, SPLIT, Violation, Watch,
};
use crate::dice::Dice;
use crate::models::minor_of;

/// The most deadlines of one minute.
const MOST_OF_A_MINUTE: usize = 3_000;
/// The most deadlines of a forecast.
const MOST_OF_A_FORECAST: usize = 20_000;

/// Amounts of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Steps after which all invariants were checked.
    pub steps: u64,
    /// Events.
    pub events: u64,
    /// Commands that were carried out.
    pub commands: u64,
    /// Moments at which a cluster had recovered from all faults.
    pub recoveries: u64,
    /// Simulated time.
    pub simulated: Duration,
}

impl Tally {
    /// Adds what another run did.
    pub fn add(&mut self, other: &Self) {
        self.steps += other.steps;
        self.events += other.events;
        self.commands += other.commands;
        self.recoveries += other.recoveries;
        self.simulated += other.simulated;
    }
}

/// A run of one seed.
#[derive(Clone, Debug)]
pub struct Run {
    /// The cluster, with the commands that were carried out.
    pub scenario: Scenario,
    /// Its amounts.
    pub tally: Tally,
    /// The invariant that does not hold.
    pub violation: Option<Violation>,
}

/// A cluster that runs, and what watches it.
struct Driver {
    simulator: Simulator,
    watch: Watch,
    nodes: Vec<Node>,
    steps: Vec<Step>,
    tally: Tally,
}

impl Driver {
    fn new(scenario: &Scenario) -> Option<Self> {
        let simulator = scenario.simulator().ok()?;
        let watch = Watch::new(&simulator);
        let nodes = scenario.objects.nodes.iter().map(|node| Node::clone(node)).collect();
        Some(Self { simulator, watch, nodes, steps: Vec::new(), tally: Tally::default() })
    }

    fn check(&mut self, events: &[Event]) -> Result<(), Violation> {
        self.tally.steps += 1;
        self.tally.events += events.len() as u64;
        self.watch.step(&self.simulator, events)
    }

    /// Lets time pass, deadline by deadline, and compares that with a copy and with the forecast.
    fn advance_to(&mut self, to: Timestamp) -> Result<(), Violation> {
        let mut copy = self.simulator.clone();
        let began = self.simulator.now();
        let mut all: Vec<Event> = Vec::new();
        let mut forecast = Vec::new();
        let (mut minute, mut of_minute) = (began, 0);
        // Events that follow at once from commands.
        self.advance(began)?;
        let events = self.simulator.drain_events();
        if !events.is_empty() {
            self.check(&events)?;
            all.extend(events);
        }
        while let Some(next) = self.simulator.poll_timeout().filter(|next| next.at <= to) {
            let now = self.simulator.now();
            let broken = |invariant, detail| Violation { invariant, at: now, detail };
            if next.at < now {
                return Err(broken(ORDER, format!("the next deadline is at {}", next.at)));
            }
            if next.at > now {
                if next.at >= minute.saturating_add(Duration::from_secs(60)) {
                    (minute, of_minute) = (next.at, 0);
                }
                if now == began && forecast.is_empty() {
                    forecast = self.forecast(to);
                }
                let before = Timestamp::from_nanos(next.at.as_nanos() - 1);
                self.advance(before)?;
                let events = self.simulator.drain_events();
                let again = self.simulator.poll_timeout();
                if !events.is_empty() || again.as_ref() != Some(&next) {
                    let first = events.first().map(|event| event.what.to_string());
                    return Err(broken(DEADLINE, format!("{next:?}, {first:?}, then {again:?}")));
                }
            }
            of_minute += 1;
            if of_minute > MOST_OF_A_MINUTE {
                return Err(broken(PROGRESS, format!("{next:?}")));
            }
            self.advance(next.at)?;
            let events = self.simulator.drain_events();
            self.check(&events)?;
            all.extend(events);
        }
        self.advance(to)?;
        let broken = |invariant, detail| Violation { invariant, at: to, detail };
        let late = self.simulator.drain_events();
        if let Some(event) = late.first() {
            return Err(broken(DEADLINE, format!("no deadline, then {}", event.what)));
        }
        if copy.advance_to(to).is_err() {
            return Err(broken(ORDER, "time went back".into()));
        }
        let copied = copy.drain_events();
        if copied != all {
            let differs = copied.iter().zip(&all).find(|(one, other)| one != other);
            return Err(broken(SPLIT, format!("{differs:?}, {} and {}", copied.len(), all.len())));
        }
        for (uid, pod, at) in forecast {
            let ended = self.watch.ended_at(&uid);
            if ended.is_none_or(|ended| ended > at) {
                return Err(broken(FORECAST, format!("{pod} at {at}, ended at {ended:?}")));
            }
        }
        if self.watch.recovery(&self.simulator, &self.nodes)? {
            self.tally.recoveries += 1;
        }
        self.watch.forget(&self.simulator);
        self.tally.simulated = self.simulator.now().since_zero();
        Ok(())
    }

    fn advance(&mut self, to: Timestamp) -> Result<(), Violation> {
        let at = self.simulator.now();
        let broken = |error: taintlab_core::simulator::TimeWentBack| Violation {
            invariant: ORDER,
            at,
            detail: error.to_string(),
        };
        self.simulator.advance_to(to).map_err(broken)
    }

    /// The evictions that the forecast announces until `to`: UID, name and time.
    fn forecast(&self, to: Timestamp) -> Vec<(String, String, Timestamp)> {
        if self.simulator.taint_eviction().scheduled_evictions().is_empty() {
            return Vec::new();
        }
        let forecast = self.simulator.forecast(to, MOST_OF_A_FORECAST);
        let pods = self.simulator.cluster().pods().filter(|(_, pod)| !pod.is_terminating());
        let evictions = pods.filter_map(|(key, pod)| {
            let budget = forecast.time_budget(key).filter(|budget| !budget.over)?;
            let at = Timestamp::from_nanos(u64::try_from(budget.evicted_at.as_nanos()).ok()?);
            (at <= to).then(|| (pod.metadata.uid.clone(), key.to_string(), at))
        });
        evictions.collect()
    }

    /// Carries a command out, if it can be; what follows from it comes with the next
    /// [`advance_to`](Self::advance_to).
    fn command(&mut self, command: Command) -> Result<(), Violation> {
        let at = self.simulator.now();
        let before = matches!(command, Command::EvictPod { .. }).then(|| self.simulator.clone());
        if self.simulator.handle_command(at, command.clone()).is_err() {
            return Ok(());
        }
        self.tally.commands += 1;
        self.watch.disturbed_at = at;
        if let (Some(before), Some(pod)) = (before, command.pod()) {
            Watch::evicted(&before, &pod, &self.simulator)?;
        }
        self.steps.push(Step { at: at.into(), command, refused: None });
        Ok(())
    }

    /// The run, with its violation.
    fn finish(self, scenario: &Scenario, violation: Option<Violation>) -> Run {
        let end = violation.as_ref().map_or(self.simulator.now(), |violation| violation.at);
        let scenario =
            Scenario { steps: self.steps, until: Some(Span::from(end)), ..scenario.clone() };
        Run { scenario, tally: self.tally, violation }
    }

    /// Lets `play` run; a panic is a violation.
    fn guarded(
        mut self,
        scenario: &Scenario,
        play: impl FnOnce(&mut Self) -> Result<(), Violation>,
    ) -> Run {
        let result = catch_unwind(AssertUnwindSafe(|| play(&mut self)));
        let violation = match result {
            Ok(result) => result.err(),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|it| (*it).to_owned()));
                let (at, detail) = (self.simulator.now(), text.unwrap_or_default());
                Some(Violation { invariant: PANIC, at, detail })
            }
        };
        self.finish(scenario, violation)
    }
}

/// Runs the cluster of a seed for a simulated time.
///
/// # Panics
/// The cluster is no valid scenario, which is an error of [`cluster::cluster`].
#[must_use]
pub fn run(seed: u64, time: Duration) -> Run {
    let mut dice = Dice::new(seed);
    let mut scenario = cluster::cluster(&mut dice);
    scenario.metadata.name = format!("soak-{seed}");
    let driver = Driver::new(&scenario).unwrap();
    let end = Timestamp::ZERO.saturating_add(time);
    driver.guarded(&scenario, |driver| {
        driver.advance_to(Timestamp::ZERO)?;
        while driver.simulator.now() < end {
            burst(driver, &mut dice)?;
            // So that what is played again does not take burst and repairs for one instant.
            pause(driver, Duration::from_millis(1))?;
            let repairs = !dice.one_in(3);
            let hours = if repairs {
                repair(driver)?;
                *dice.pick(&[1, 1, 5, 24, 240])
            } else {
                *dice.pick(&[0, 1, 5, 24])
            };
            pause(driver, Duration::from_secs(hours * 3_600 + 120))?;
        }
        repair(driver)?;
        pause(driver, RECOVERED_AFTER + Duration::from_secs(600))
    })
}

fn pause(driver: &mut Driver, time: Duration) -> Result<(), Violation> {
    driver.advance_to(driver.simulator.now().saturating_add(time))
}

/// Some faults and changes, close together.
fn burst(driver: &mut Driver, dice: &mut Dice) -> Result<(), Violation> {
    for _ in 0..1 + dice.below(8) {
        let pauses = [0, 0, 0, 1, 700, 5_000, 10_000, 41_000, 61_000, 300_000, 400_000, 2_000_000];
        let millis = *dice.pick(&pauses);
        if millis > 0 {
            pause(driver, Duration::from_millis(millis))?;
        }
        if let Some(command) = faults::fault(dice, &driver.simulator, &driver.nodes) {
            driver.command(command)?;
        }
    }
    Ok(())
}

fn repair(driver: &mut Driver) -> Result<(), Violation> {
    for command in faults::repairs(&driver.simulator, &driver.nodes, &driver.watch.drains) {
        driver.command(command)?;
    }
    Ok(())
}

/// Runs a scenario with all checks; steps that are refused are left out.
#[must_use]
pub fn replay(scenario: &Scenario) -> Option<Run> {
    let driver = Driver::new(scenario)?;
    let run = driver.guarded(scenario, |driver| {
        driver.advance_to(Timestamp::ZERO)?;
        for step in &scenario.steps {
            let at = step.at.timestamp();
            if at > driver.simulator.now() {
                driver.advance_to(at)?;
            }
            driver.command(step.command.clone())?;
        }
        let end = scenario.until.map_or(driver.simulator.now(), Span::timestamp);
        driver.advance_to(end.max(driver.simulator.now()))
    });
    Some(run)
}

/// The smallest scenario found in `time` that fails with the same invariant: without steps first,
/// then without objects. Classes stay, since what names one would be another object without it.
///
/// # Panics
/// `run` has no violation.
#[must_use]
pub fn shrink(run: &Run, time: Duration) -> Run {
    let (started, violation) = (Instant::now(), run.violation.as_ref().unwrap());
    let mut best = run.clone();
    let fails = |scenario: &Scenario| still_fails(scenario, violation);
    let mut size = best.scenario.steps.len().max(1);
    while size > 0 && started.elapsed() < time {
        let mut from = 0;
        while from < best.scenario.steps.len() && started.elapsed() < time {
            let mut smaller = best.scenario.clone();
            let to = (from + size).min(smaller.steps.len());
            smaller.steps.drain(from..to);
            match fails(&smaller) {
                Some(run) => best = run,
                None => from += size,
            }
        }
        size /= 2;
    }
    let mut changed = true;
    while changed && started.elapsed() < time {
        changed = false;
        let objects = best.scenario.objects.clone();
        let without = |change: &dyn Fn(&mut Scenario)| {
            let mut smaller = best.scenario.clone();
            change(&mut smaller);
            fails(&smaller)
        };
        let mut found = None;
        for index in (0..objects.workloads.len()).rev() {
            found = found.or_else(|| without(&|it| drop(it.objects.workloads.remove(index))));
        }
        for index in (0..objects.budgets.len()).rev() {
            found = found.or_else(|| without(&|it| drop(it.objects.budgets.remove(index))));
        }
        for index in (0..objects.nodes.len()).rev() {
            found = found.or_else(|| without(&|it| drop(it.objects.nodes.remove(index))));
        }
        let settings: [&dyn Fn(&mut Scenario); 4] = [
            &|it| it.kubernetes.controller_manager_flags.clear(),
            &|it| it.kubernetes.feature_gates.clear(),
            &|it| it.kubernetes.kubelets = None,
            &|it| it.kubernetes.kubelet_configuration = None,
        ];
        for change in settings {
            let mut smaller = best.scenario.clone();
            change(&mut smaller);
            if smaller != best.scenario {
                found = found.or_else(|| fails(&smaller));
            }
        }
        if let Some(run) = found {
            best = run;
            changed = true;
        }
    }
    best
}

/// The run of a scenario, if it fails in the same way: with the same invariant, and with the same
/// words but for numbers.
fn still_fails(scenario: &Scenario, violation: &Violation) -> Option<Run> {
    let run = replay(scenario)?;
    let words = |it: &Violation| {
        let first = it.detail.split(';').next().unwrap_or_default();
        let words: String = first.chars().filter(|c| !c.is_ascii_digit()).collect();
        (it.invariant, words)
    };
    run.violation.as_ref().is_some_and(|it| words(it) == words(violation)).then_some(run)
}
