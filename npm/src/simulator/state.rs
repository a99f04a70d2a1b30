//! A simulation for JavaScript: what its calls take and answer.

use taintlab_answers::simulation::Simulation;
use taintlab_core::event::Event;
use taintlab_core::scenario::{Next, NextWhat};
use taintlab_core::time::Timestamp;
use wasm_bindgen::JsValue;

use super::answers::{
    DeadlineReason, KubectlOptions, KubectlOutcome, NextDeadline, Progress, Stopped,
};
use crate::input::{self, expected};
use crate::js;
use crate::output::{list_to_js, to_js};
use crate::problem::{Problem, fail};

/// Calls of a simulation, with JavaScript's values.
pub(super) trait Calls {
    /// A moment given by a caller; now if left out.
    fn moment(&self, at: &JsValue) -> Result<Result<Timestamp, Problem>, JsValue>;
    /// Runs a line of kubectl now.
    fn kubectl_outcome(&mut self, line: &str, options: &KubectlOptions)
    -> Result<JsValue, JsValue>;
    /// The next moment at which something happens, in words too.
    fn next_deadline(&self) -> Option<NextDeadline>;
    /// Lets time pass until a moment.
    fn advance_to(&mut self, at: Timestamp) -> Result<JsValue, JsValue>;
    /// Lets time pass until a predicate says `true`.
    fn run_until(&mut self, predicate: &JsValue, until: Timestamp) -> Result<JsValue, JsValue>;
    /// How far it has come.
    fn progress(&mut self, stopped: Stopped) -> Result<JsValue, JsValue>;
}

impl Calls for Simulation {
    fn moment(&self, at: &JsValue) -> Result<Result<Timestamp, Problem>, JsValue> {
        if at.is_undefined() { Ok(Ok(self.engine.now())) } else { input::moment(at, "at") }
    }

    fn kubectl_outcome(
        &mut self,
        line: &str,
        options: &KubectlOptions,
    ) -> Result<JsValue, JsValue> {
        match self.kubectl(line, &options.namespace, options.stdin.as_deref()) {
            Ok(outcome) => to_js(&KubectlOutcome {
                ok: true,
                stdout: outcome.stdout,
                stderr: outcome.stderr,
                terminal: outcome.terminal,
                exit_code: outcome.exit_code,
                commands: outcome.commands,
            }),
            Err(errors) => fail(errors),
        }
    }

    fn next_deadline(&self) -> Option<NextDeadline> {
        let Next { at, what } = self.next()?;
        let (text, reason) = match what {
            NextWhat::Deadline(reason) => (reason.to_string(), DeadlineReason::Engine(reason)),
            NextWhat::Step(step) => {
                let command = Box::new(step.command.clone());
                let reason = DeadlineReason::Step { type_: "scenarioStep", command };
                ("the scenario goes on".into(), reason)
            }
        };
        Some(NextDeadline { at, reason, text })
    }

    fn advance_to(&mut self, at: Timestamp) -> Result<JsValue, JsValue> {
        match self.run(at) {
            Ok(()) => self.progress(Stopped::Reached),
            Err(errors) => fail(errors),
        }
    }

    fn run_until(&mut self, predicate: &JsValue, until: Timestamp) -> Result<JsValue, JsValue> {
        loop {
            let Some(next) = self.next_deadline() else { return self.progress(Stopped::Idle) };
            if next.at > until {
                return self.advance_to(until.max(self.engine.now()));
            }
            let before = self.run.events.len();
            if let Err(errors) = self.run(next.at) {
                return fail(errors);
            }
            self.collect();
            let batch: Vec<&Event> = self.run.events.iter().skip(before).collect();
            let now = self.engine.now().as_fractional_millis();
            let answer = js::call(predicate, &list_to_js(&batch)?, now)?;
            match answer.as_bool() {
                Some(true) => return self.progress(Stopped::Predicate),
                Some(false) => {}
                None => {
                    return Err(expected("the predicate's answer", "`true` or `false`", &answer));
                }
            }
        }
    }

    fn progress(&mut self, stopped: Stopped) -> Result<JsValue, JsValue> {
        self.collect();
        let (now, pending_events) = (self.engine.now(), self.run.events.len());
        to_js(&Progress { ok: true, now, pending_events, stopped })
    }
}
