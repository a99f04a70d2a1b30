//! Playback of a scenario: the one place that combines steps, time and the end of a scenario.

use alloc::sync::Arc;
use alloc::vec::Vec;

use taintlab_engine::command::CommandError;
use taintlab_engine::event::{Event, TimeoutReason};
use taintlab_engine::simulator::Simulator;
use taintlab_rules::order::Order;
use taintlab_rules::time::{Span, Timestamp};

use super::{Expectation, Scenario, ScenarioError, Step};

/// Maximum number of moments in one playback: many times the number in an outage of a zone of 5,000
/// nodes with 150,000 pods.
pub const MOST_MOMENTS: usize = 1_000_000;
/// Maximum number of events in one playback, about a gigabyte.
pub const MOST_EVENTS: usize = 4_000_000;

/// Remaining steps and the end of a scenario. It is cheap to clone.
///
/// To act between two moments (show them, ask a predicate, make an edit), use [`next`](Self::next)
/// and [`play_to`](Self::play_to); [`run_to_end`](Self::run_to_end) does the rest in one call.
#[derive(Clone, Debug)]
pub struct Player {
    /// Steps in the order of time, each with its index in the scenario.
    steps: Arc<[(usize, Step)]>,
    /// Number of steps played.
    played: usize,
    ends_by: Timestamp,
    ends_after: Timestamp,
}

/// The next moment at which something happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Next<'a> {
    /// Time; never in the past.
    pub at: Timestamp,
    /// Step or deadline.
    pub what: NextWhat<'a>,
}

/// The next thing to happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextWhat<'a> {
    /// A deadline of the simulation.
    Deadline(TimeoutReason),
    /// A step of the scenario.
    Step(&'a Step),
}

/// Reason why a playback ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The scenario is over, or nothing more happens by itself.
    AtRest,
    /// More happens than was allowed; playback can be continued.
    TooManyMoments,
}

impl Player {
    /// Starts at the beginning of a scenario.
    #[must_use]
    pub fn new(scenario: &Scenario) -> Self {
        let mut steps: Vec<_> = scenario.steps.iter().cloned().enumerate().collect();
        steps.order_by_key(|(_, step)| step.at);
        let last = scenario.expect.iter().filter_map(Expectation::last_moment).max();
        Self {
            steps: steps.into(),
            played: 0,
            ends_by: scenario.ends_by(),
            ends_after: scenario.until.map_or_else(|| last.unwrap_or_default(), Span::timestamp),
        }
    }

    /// The next step to play.
    #[must_use]
    pub fn next_step(&self) -> Option<&Step> {
        self.steps.get(self.played).map(|(_, step)| step)
    }

    /// The next moment at which something happens. Steps come before a deadline of the same moment:
    /// all of them are played before their consequences.
    #[must_use]
    pub fn next(&self, simulator: &Simulator) -> Option<Next<'_>> {
        let deadline = simulator.poll_timeout().filter(|next| next.at < Timestamp::MAX);
        let deadline =
            deadline.map(|next| Next { at: next.at, what: NextWhat::Deadline(next.reason) });
        let step = self.next_step().map(|step| Next {
            at: step.at.timestamp().max(simulator.now()),
            what: NextWhat::Step(step),
        });
        [step, deadline].into_iter().flatten().min_by_key(|next| next.at)
    }

    /// Plays the next step, at its time or now if that has passed, and returns the result of
    /// [`Step::check`]; `None` if no step is left. The step counts as played, whatever the result.
    pub fn play_step(
        &mut self,
        simulator: &mut Simulator,
    ) -> Option<Result<Option<CommandError>, ScenarioError>> {
        let (index, step) = self.steps.get(self.played)?;
        self.played += 1;
        let at = step.at.timestamp().max(simulator.now());
        let result = simulator.handle_command(at, step.command.clone());
        Some(step.check(*index, result))
    }

    /// Plays the steps up to `to` and advances to that time, through at most `moments` moments. A
    /// `to` in the past means now.
    ///
    /// # Errors
    /// As [`Step::check`].
    pub fn play_to(
        &mut self,
        simulator: &mut Simulator,
        to: Timestamp,
        moments: usize,
    ) -> Result<Ended, ScenarioError> {
        self.play(simulator, to, to, moments)
    }

    /// Plays the rest, through at most `moments` moments: until nothing more happens by itself, not
    /// past the end of the scenario, and at least to that end or to the times that its expectations
    /// name.
    ///
    /// # Errors
    /// As [`Step::check`].
    pub fn run_to_end(
        &mut self,
        simulator: &mut Simulator,
        moments: usize,
    ) -> Result<Ended, ScenarioError> {
        self.play(simulator, self.ends_by, self.ends_after, moments)
    }

    /// Plays the rest, and shows each moment with the events since the previous one.
    ///
    /// # Errors
    /// As [`Step::check`]; or more happens than [`MOST_MOMENTS`] and [`MOST_EVENTS`] allow.
    pub fn show_to_end(
        &mut self,
        simulator: &mut Simulator,
        show: impl FnMut(&Simulator, Vec<Event>),
    ) -> Result<(), ScenarioError> {
        self.show_moments(simulator, MOST_MOMENTS, show)
    }

    /// As [`show_to_end`](Self::show_to_end), with another limit.
    fn show_moments(
        &mut self,
        simulator: &mut Simulator,
        moments: usize,
        mut show: impl FnMut(&Simulator, Vec<Event>),
    ) -> Result<(), ScenarioError> {
        let mut events = 0;
        for _ in 0..moments {
            let ended = self.run_to_end(simulator, 1)?;
            let happened = simulator.drain_events();
            events += happened.len();
            show(simulator, happened);
            if ended == Ended::AtRest {
                return Ok(());
            }
            if events >= MOST_EVENTS {
                break;
            }
        }
        Err(ScenarioError::TooMuch { at: simulator.now() })
    }

    /// Plays everything up to `until`, then advances to `end`.
    fn play(
        &mut self,
        simulator: &mut Simulator,
        until: Timestamp,
        end: Timestamp,
        moments: usize,
    ) -> Result<Ended, ScenarioError> {
        for _ in 0..moments {
            let Some(next) = self.next(simulator).filter(|next| next.at <= until) else {
                // Neither time is in the past, here or below, so that this cannot fail.
                let _ = simulator.advance_to(end.max(simulator.now()));
                return Ok(Ended::AtRest);
            };
            match next.what {
                NextWhat::Step(_) => _ = self.play_step(simulator).transpose()?,
                NextWhat::Deadline(_) => {
                    let _ = simulator.advance_to(next.at);
                }
            }
        }
        Ok(Ended::TooManyMoments)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_scenario_without_end_says_how_far_it_came() {
        let scenario: Scenario = serde_json::from_value(json!({
            "apiVersion": "taintlab/v1", "kind": "Scenario",
            "objects": { "nodes": [{ "metadata": { "name": "a" } }] },
            "steps": [{ "at": "40s", "do": { "flapKubelet": {
                "node": "a", "down": "1ms", "up": "1ms", "times": 1_000_000_000,
            } } }],
        }))
        .unwrap();
        let mut simulator = scenario.simulator().unwrap();
        let error =
            Player::new(&scenario).show_moments(&mut simulator, 1_000, |_, _| {}).unwrap_err();
        assert!(matches!(error, ScenarioError::TooMuch { at } if at > Timestamp::from_secs(40)));
        assert_eq!(error.path(), "until");
        let text = error.to_string();
        assert!(text.contains("1000000 moments or 4000000 events are the most"), "{text}");
    }
}
