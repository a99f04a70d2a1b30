//! A simulation at work: the engine, and what a scenario still has to do with it.

use std::collections::VecDeque;

use taintlab_core::event::{Event, Happening};
use taintlab_core::scenario::{Scenario, ScenarioError, Step};
use taintlab_core::simulator::{Forecast, Simulator as Engine};
use taintlab_core::time::{Span, Timestamp};
use taintlab_manifest::ScenarioFile;
use taintlab_manifest::kubectl::{self, Context};
use taintlab_manifest::memory::grow_ahead;
use wasm_bindgen::JsValue;

use super::answers::{
    DeadlineReason, KubectlOptions, KubectlOutcome, NextDeadline, Progress, Stopped,
};
use super::millis_of;
use crate::input::{self, expected};
use crate::js;
use crate::output::to_js;
use crate::problem::{Problem, ProblemCode, fail};
use crate::scenario::{self, SCENARIO};

/// How long an API server keeps Kubernetes Events (`--event-ttl`).
const REMEMBERED: core::time::Duration = core::time::Duration::from_secs(60 * 60);

/// At how many moments something may happen in one call: many times what the outage of a zone takes.
pub(super) const MOST_MOMENTS: usize = 1_000_000;

/// What [`super::Simulator`] holds.
pub(super) struct Inner {
    pub(super) engine: Engine,
    /// What the scenario still has to do, in the order of time, with the number of each step.
    pub(super) steps: VecDeque<(usize, Step)>,
    /// What happened and was not asked for yet.
    pub(super) events: VecDeque<Event>,
    /// The Kubernetes Events of the last hour, which is how long an API server keeps them.
    pub(super) history: VecDeque<Event>,
    pub(super) ends_by: Timestamp,
    /// The end that a scenario names.
    pub(super) until: Option<Timestamp>,
    /// To say where a step is that cannot be carried out.
    file: Option<ScenarioFile>,
    /// What will happen; `None` once something has been done.
    pub(super) forecast: Option<Forecast>,
}

impl Inner {
    pub(super) fn new(engine: Engine, scenario: &Scenario, file: Option<ScenarioFile>) -> Self {
        let mut steps: Vec<_> = scenario.steps.iter().cloned().enumerate().collect();
        steps.sort_by_key(|(_, step)| step.at);
        Self {
            engine,
            steps: steps.into(),
            events: VecDeque::new(),
            history: VecDeque::new(),
            ends_by: scenario.ends_by(),
            until: scenario.until.map(Span::timestamp),
            file,
            forecast: None,
        }
    }

    /// A moment given by a caller; now if it is left out.
    pub(super) fn moment(&self, at: &JsValue) -> Result<Result<Timestamp, Problem>, JsValue> {
        if at.is_undefined() { Ok(Ok(self.engine.now())) } else { input::moment(at, "at") }
    }

    /// Takes what happened over from the engine.
    pub(super) fn collect(&mut self) {
        while let Some(event) = self.engine.poll_event() {
            if matches!(event.what, Happening::EventRecorded(_)) {
                self.history.push_back(event.clone());
            }
            self.events.push_back(event);
        }
        let now = self.engine.now();
        while self.history.pop_front_if(|event| now - event.at > REMEMBERED).is_some() {}
    }

    pub(super) fn kubectl(
        &mut self,
        line: &str,
        options: &KubectlOptions,
    ) -> Result<JsValue, JsValue> {
        let context = Context {
            simulator: &self.engine,
            events: self.history.make_contiguous(),
            namespace: &options.namespace,
        };
        let outcome = kubectl::run(&context, line, options.stdin.as_deref());
        let now = self.engine.now();
        for command in &outcome.commands {
            if let Err(error) = self.engine.handle_command(now, command.clone()) {
                return fail(Problem::of_command(&error, ""));
            }
        }
        to_js(&KubectlOutcome {
            ok: true,
            stdout: outcome.stdout,
            stderr: outcome.stderr,
            terminal: outcome.terminal,
            exit_code: outcome.exit_code,
            commands: outcome.commands,
        })
    }

    pub(super) fn next(&self) -> Option<NextDeadline> {
        let timeout = self.engine.poll_timeout();
        let step = self.steps.front();
        match (timeout, step) {
            (timeout, Some((_, step)))
                if timeout.as_ref().is_none_or(|next| step.at.timestamp() <= next.at) =>
            {
                let reason = DeadlineReason::Step {
                    type_: "scenarioStep",
                    command: Box::new(step.command.clone()),
                };
                let text = "the scenario goes on".into();
                Some(NextDeadline { at: step.at.timestamp().max(self.engine.now()), reason, text })
            }
            (timeout, _) => timeout.map(|timeout| NextDeadline {
                at: timeout.at,
                text: timeout.reason.to_string(),
                reason: DeadlineReason::Engine(timeout.reason),
            }),
        }
    }

    /// Does the steps of the scenario that are due until then.
    pub(super) fn run_steps(&mut self, at: Timestamp) -> Result<(), Vec<Problem>> {
        while let Some((index, step)) =
            self.steps.pop_front_if(|(_, step)| step.at.timestamp() <= at)
        {
            let time = step.at.timestamp().max(self.engine.now());
            let result = self.engine.handle_command(time, step.command.clone());
            let Err(wrong) = step.check(index, result) else { continue };
            let (path, message) = (wrong.path(), wrong.to_string());
            return Err(match (&self.file, &wrong) {
                (Some(file), _) => vec![scenario::at(file, &path, &message, SCENARIO)],
                (None, ScenarioError::Step { error, .. }) => Problem::of_command(error, &path),
                (None, _) => vec![Problem::new(SCENARIO, &path, &message)],
            });
        }
        Ok(())
    }

    /// Lets time pass, with the steps of the scenario in it.
    ///
    /// # Errors
    /// A step cannot be carried out, `at` is in the past, or too much happens until then.
    pub(super) fn run(&mut self, at: Timestamp) -> Result<(), Vec<Problem>> {
        self.run_steps(at)?;
        for _ in 0..MOST_MOMENTS {
            grow_ahead();
            let next = self.engine.poll_timeout().map_or(at, |next| next.at.min(at));
            self.engine.advance_to(next).map_err(|error| vec![Problem::of_time(error)])?;
            if next >= at.min(Engine::LAST_MOMENT) {
                return Ok(());
            }
        }
        Err(vec![self.too_much()])
    }

    /// What is said when a call would take too long.
    pub(super) fn too_much(&self) -> Problem {
        let now = Span(self.engine.now().since_zero());
        let message = format!(
            "the simulation has come to {now} and no further: something happens at each of \
             {MOST_MOMENTS} moments until then; to go on, call again"
        );
        Problem::new(ProblemCode::TooManyMoments, "at", &message)
    }

    pub(super) fn advance_to(&mut self, at: Timestamp) -> Result<JsValue, JsValue> {
        self.forecast = None;
        match self.run(at) {
            Ok(()) => self.progress(Stopped::Reached),
            Err(errors) => fail(errors),
        }
    }

    pub(super) fn run_until(
        &mut self,
        predicate: &JsValue,
        until: Timestamp,
    ) -> Result<JsValue, JsValue> {
        self.forecast = None;
        loop {
            let Some(next) = self.next() else { return self.progress(Stopped::Idle) };
            if next.at > until {
                return self.advance_to(until.max(self.engine.now()));
            }
            if let Err(errors) = self.run(next.at) {
                return fail(errors);
            }
            let before = self.events.len();
            self.collect();
            let batch: Vec<&Event> = self.events.iter().skip(before).collect();
            let now = millis_of(self.engine.now());
            let answer = js::call(predicate, &to_js(&batch)?, now)?;
            match answer.as_bool() {
                Some(true) => return self.progress(Stopped::Predicate),
                Some(false) => {}
                None => {
                    return Err(expected("the predicate's answer", "`true` or `false`", &answer));
                }
            }
        }
    }

    pub(super) fn progress(&mut self, stopped: Stopped) -> Result<JsValue, JsValue> {
        self.collect();
        let (now, pending_events) = (self.engine.now(), self.events.len());
        to_js(&Progress { ok: true, now, pending_events, stopped })
    }
}
