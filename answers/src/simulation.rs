//! A running simulation: the engine, and the remaining steps of its scenario.

use std::collections::VecDeque;
use std::sync::Arc;

use taintlab_core::event::{Event, EventKind};
use taintlab_core::lanes::{LaneRecorder, Lanes};
use taintlab_core::scenario::{Ended, MOST_EVENTS, Next, Player, Scenario, ScenarioError};
use taintlab_core::simulator::{Forecast, Simulator as Engine, TimeWentBack};
use taintlab_core::time::{Span, Timestamp};
use taintlab_kubectl::{Context, Outcome};
use taintlab_manifest::ScenarioFile;
use taintlab_manifest::memory::grow_ahead;

use crate::problem::{Problem, ProblemCode};
use crate::scenario::{SCENARIO, at};

/// Time for which an API server keeps Kubernetes Events (`--event-ttl`).
const REMEMBERED: core::time::Duration = core::time::Duration::from_secs(60 * 60);

/// Moments with events in one call at most: many times the number in the outage of a zone.
const MOST_MOMENTS: usize = 250_000;

/// Simulated time in one call at most: in a longer time, a busy cluster has millions of moments.
const A_YEAR: core::time::Duration = core::time::Duration::from_secs(365 * 24 * 60 * 60);

/// A running simulation.
#[derive(Debug)]
pub struct Simulation {
    /// The engine.
    pub engine: Engine,
    /// The part outside of the engine.
    pub run: Run,
    /// The forecast; `None` after every change.
    pub forecast: Option<Forecast>,
}

/// The part of a simulation outside of the engine; snapshots keep it too.
#[derive(Clone, Debug)]
pub struct Run {
    /// Player of the scenario's remaining steps.
    player: Player,
    /// Events that were not read yet.
    pub events: VecDeque<Event>,
    /// The Kubernetes Events of the last hour; an API server keeps them that long.
    history: VecDeque<Event>,
    /// The recorder of lanes, once somebody asked for them.
    lanes: Option<LaneRecorder>,
    /// Tells where in the file a step is that cannot be carried out.
    file: Option<Arc<ScenarioFile>>,
}

impl Simulation {
    /// A simulation that begins with this engine and plays the steps of the scenario; `file` is where
    /// it was read.
    #[must_use]
    pub fn new(engine: Engine, scenario: &Scenario, file: Option<ScenarioFile>) -> Self {
        let run = Run {
            player: Player::new(scenario),
            events: VecDeque::new(),
            history: VecDeque::new(),
            lanes: None,
            file: file.map(Arc::new),
        };
        Self { engine, run, forecast: None }
    }

    /// Begins to record lanes, unless it has begun already.
    pub fn record_lanes(&mut self) {
        self.collect();
        let recorder = || LaneRecorder::new(&self.engine);
        self.run.lanes.get_or_insert_with(recorder);
    }

    /// The lanes until now; `None` if they are not recorded.
    pub fn lanes(&mut self) -> Option<Lanes> {
        self.collect();
        self.run.lanes.as_ref().map(|recorder| recorder.lanes(self.engine.now()))
    }

    /// Takes the new events from the engine.
    pub fn collect(&mut self) {
        let events = self.engine.drain_events();
        if let Some(recorder) = &mut self.run.lanes {
            recorder.record(&self.engine, &events);
        }
        for event in events {
            if matches!(event.what, EventKind::EventRecorded(_)) {
                self.run.history.push_back(event.clone());
            }
            self.run.events.push_back(event);
        }
        let now = self.engine.now();
        while self.run.history.pop_front_if(|event| now - event.at > REMEMBERED).is_some() {}
    }

    /// Runs a line of kubectl now, and does what it does to the cluster.
    ///
    /// # Errors
    /// The cluster refuses what the line would do; what kubectl says is no error here.
    pub fn kubectl(
        &mut self,
        line: &str,
        namespace: &str,
        stdin: Option<&str>,
    ) -> Result<Outcome, Vec<Problem>> {
        let events = self.run.history.make_contiguous();
        let context = Context { simulator: &self.engine, events, namespace };
        let outcome = taintlab_kubectl::run(&context, line, stdin);
        let now = self.engine.now();
        for command in &outcome.commands {
            // A request that was made to fail is in the output already.
            if let Err(error) = self.engine.handle_command(now, command.clone())
                && !error.is_simulated()
            {
                return Err(Problem::of_command(&error, ""));
            }
        }
        Ok(outcome)
    }

    /// The next moment at which something happens, and what.
    #[must_use]
    pub fn next(&self) -> Option<Next<'_>> {
        self.run.player.next(&self.engine)
    }

    /// The problems of a step of the scenario.
    fn of_step(&self, wrong: &ScenarioError) -> Vec<Problem> {
        let (path, message) = (wrong.path(), wrong.to_string());
        match (&self.run.file, wrong) {
            (Some(file), _) => vec![at(file, &path, &message, SCENARIO)],
            (None, ScenarioError::Step { error, .. }) => Problem::of_command(error, &path),
            (None, _) => vec![Problem::new(SCENARIO, &path, &message)],
        }
    }

    /// Lets time pass to just before a command: deadlines and steps of the moment `at` come first,
    /// and their consequences after the command.
    ///
    /// # Errors
    /// A step cannot be carried out, or too much happens until then.
    pub fn run_before(&mut self, at: Timestamp) -> Result<(), Vec<Problem>> {
        let before = Timestamp::from_nanos(at.as_nanos().saturating_sub(1));
        if before > self.engine.now() {
            self.run(before)?;
        }
        self.forecast = None;
        self.run_steps(at)
    }

    /// Plays the steps of the scenario that are due by `at`.
    fn run_steps(&mut self, at: Timestamp) -> Result<(), Vec<Problem>> {
        let Self { engine, run, .. } = self;
        while run.player.next_step().is_some_and(|step| step.at.timestamp() <= at) {
            if let Some(Err(error)) = run.player.play_step(engine) {
                return Err(self.of_step(&error));
            }
        }
        Ok(())
    }

    /// Lets time pass, including the scenario's steps.
    ///
    /// # Errors
    /// A step cannot be carried out, `at` is in the past, or too much happens until then.
    pub fn run(&mut self, at: Timestamp) -> Result<(), Vec<Problem>> {
        let now = self.engine.now();
        if at < now {
            return Err(vec![Problem::of_time(TimeWentBack { at, now })]);
        }
        if at - now > A_YEAR {
            let message = format!("one call simulates at most a year; it is {now} now");
            return Err(vec![Problem::new(ProblemCode::TooManyMoments, "at", &message)]);
        }
        self.moments(|player, engine| player.play_to(engine, at, 1))
    }

    /// Lets time pass to the end of the scenario, or for a day.
    ///
    /// # Errors
    /// A step cannot be carried out, or too much happens.
    pub fn run_to_end(&mut self) -> Result<(), Vec<Problem>> {
        self.moments(|player, engine| player.run_to_end(engine, 1))
    }

    /// Plays one moment after the other, and reserves memory before each.
    fn moments(
        &mut self,
        play: impl Fn(&mut Player, &mut Engine) -> Result<Ended, ScenarioError>,
    ) -> Result<(), Vec<Problem>> {
        self.forecast = None;
        for _ in 0..MOST_MOMENTS {
            if self.run.events.len() >= MOST_EVENTS {
                let waits =
                    format!("{MOST_EVENTS} events wait to be read; read them with events()");
                return Err(vec![self.too_much(&waits)]);
            }
            grow_ahead();
            let ended = play(&mut self.run.player, &mut self.engine);
            self.collect();
            match ended {
                Ok(Ended::AtRest) => return Ok(()),
                Ok(Ended::TooManyMoments) => {}
                Err(error) => return Err(self.of_step(&error)),
            }
        }
        let busy = format!("something happens at each of {MOST_MOMENTS} moments until then");
        Err(vec![self.too_much(&busy)])
    }

    /// The problem of a call that would take too long, or too much memory.
    fn too_much(&self, why: &str) -> Problem {
        let now = Span(self.engine.now().since_zero());
        let message =
            format!("the simulation has come to {now} and no further: {why}; to go on, call again");
        Problem::new(ProblemCode::TooManyMoments, "at", &message)
    }
}
