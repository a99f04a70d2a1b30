//! A scenario at play: the one place that knows how steps, time and the end of a scenario go
//! together.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Expectation, Scenario, ScenarioError, Step};
use crate::command::CommandError;
use crate::event::{Event, TimeoutReason};
use crate::order::Order;
use crate::simulator::Simulator;
use crate::time::{Span, Timestamp};

/// At so many moments something may happen in a scenario that is played at once: many times what
/// the outage of a zone of 5,000 nodes and 150,000 pods takes.
pub const MOST_MOMENTS: usize = 1_000_000;
/// So many events may come of it, about a gigabyte.
pub const MOST_EVENTS: usize = 4_000_000;

/// What a scenario still has to do with its simulation, and when it ends. It is cheap to clone.
///
/// Whoever wants to do something between two moments (show them, ask a predicate, make an edit)
/// drives it with [`next`](Self::next) and [`play_to`](Self::play_to);
/// [`run_to_end`](Self::run_to_end) does the rest at once.
#[derive(Clone, Debug)]
pub struct Player {
    /// In the order of time, each with its number in the scenario.
    steps: Arc<[(usize, Step)]>,
    /// How many of them have been played.
    played: usize,
    ends_by: Timestamp,
    ends_after: Timestamp,
}

/// The next moment at which something happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Next<'a> {
    /// When; never in the past.
    pub at: Timestamp,
    /// What.
    pub what: NextWhat<'a>,
}

/// What happens next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextWhat<'a> {
    /// The simulation has a deadline.
    Deadline(TimeoutReason),
    /// The scenario has a step.
    Step(&'a Step),
}

/// How a run came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The scenario is over, or nothing more happens by itself.
    AtRest,
    /// More happens than was allowed; the run can be continued.
    TooManyMoments,
}

impl Player {
    /// The scenario from its beginning.
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

    /// The step that is played next.
    #[must_use]
    pub fn next_step(&self) -> Option<&Step> {
        self.steps.get(self.played).map(|(_, step)| step)
    }

    /// The next moment at which something happens. Of one moment the steps are named first: all of
    /// them are played before what follows from one of them.
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

    /// Plays the next step, at its time or now if that is over: what [`Step::check`] says of it.
    /// `None` if there is none. The step counts as played, whatever came of it.
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

    /// Plays the steps until `to` and lets time pass until then, through at most so many moments.
    /// A `to` in the past is now.
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

    /// Plays the rest, through at most so many moments: until nothing more happens by itself, and
    /// not past the end of the scenario, nor before it or the times that its expectations name.
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

    /// Plays the rest, and shows each moment with the events that came since the one before.
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

    /// Plays what happens until `until`, then lets time pass to `end`.
    fn play(
        &mut self,
        simulator: &mut Simulator,
        until: Timestamp,
        end: Timestamp,
        moments: usize,
    ) -> Result<Ended, ScenarioError> {
        for _ in 0..moments {
            let Some(next) = self.next(simulator).filter(|next| next.at <= until) else {
                // Neither here nor below is it in the past, so that it cannot fail.
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
