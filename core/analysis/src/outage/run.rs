//! One outage in a fork of the settled cluster.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use serde::Serialize;
use taintlab_engine::command::Command;
use taintlab_engine::simulator::Simulator;
use taintlab_rules::api::NodeName;
use taintlab_rules::order::{Order, OrderedSet};
use taintlab_rules::protocol::zone::ZoneState;
use taintlab_rules::time::{Span, Timestamp};

use super::{Goal, Outage, OutageFault, OutageSearch};
use crate::plan::ReadyStep;
use crate::report::{Millis, Recorder, ReportSubject, SEED, ZoneStep, initial};
use crate::scenario::{Scenario, Step};

/// An outage that reaches its goal. All times count from its first fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reached {
    /// The outage.
    pub faults: Outage,
    /// Time at which the goal is reached.
    pub at: Millis,
    /// Total time in which it is reached, up to the horizon.
    pub lasts: Millis,
    /// Whether it still is at the horizon.
    #[serde(skip_serializing_if = "taintlab_rules::api::is_default")]
    pub at_the_end: bool,
    /// Ready pods of the workload over time; empty for a zone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ready: Vec<ReadyStep>,
    /// States of the zone over time; empty for a workload.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<ZoneStep>,
}

/// A fork of the settled cluster.
struct Fork<'s> {
    search: &'s OutageSearch,
    simulator: Simulator,
    recorder: Recorder,
    /// Nodes that lose power, with their times.
    power: VecDeque<(Timestamp, Vec<NodeName>)>,
    commands: VecDeque<(Timestamp, Command)>,
    steps: Vec<Step>,
}

impl<'s> Fork<'s> {
    fn new(search: &'s OutageSearch, outage: &Outage) -> Self {
        let (mut power, mut commands) = (VecDeque::new(), Vec::new());
        let mut hit: OrderedSet<NodeName> = OrderedSet::new();
        let mut off: OrderedSet<NodeName> = OrderedSet::new();
        for timed in &outage.faults {
            let at = search.at.saturating_add(timed.after.0);
            let nodes = search.nodes_of(&timed.fault);
            commands.extend(timed.fault.commands(&search.simulator, nodes, at));
            hit.extend(nodes.iter().cloned());
            if timed.fault.takes_power() {
                // A node is off once, though it is lost alone and with its zone.
                let now = nodes.iter().filter(|node| off.insert((*node).clone()));
                power.push_back((at, now.cloned().collect()));
            }
        }
        commands.order_by_key(|(at, _)| *at);
        let hit: Vec<NodeName> = hit.into_iter().collect();
        let recorder = Recorder::new(&search.simulator, search.at, &hit, None);
        Self {
            search,
            simulator: Simulator::clone(&search.simulator),
            recorder: recorder.with_power_off_until(Some(Timestamp::MAX)),
            power,
            commands: commands.into(),
            steps: Vec::new(),
        }
    }

    /// Goes on until nothing more is due, or to the horizon.
    fn run(&mut self) {
        loop {
            let command = self.commands.front().map(|(at, _)| *at);
            let deadline = self.simulator.poll_timeout().map(|next| next.at);
            let next = command.into_iter().chain(deadline).min();
            let Some(next) = next.filter(|next| *next <= self.search.end) else { return };
            while let Some((at, nodes)) = self.power.pop_front_if(|(at, _)| *at <= next) {
                self.recorder.power_off(&self.simulator, &nodes, at);
            }
            while let Some((_, command)) = self.commands.pop_front_if(|(at, _)| *at <= next) {
                // A refused command, such as one to a node that is off, has no effect.
                if self.simulator.handle_command(next, command.clone()).is_ok() {
                    let at = Span(next.since_zero());
                    self.steps.push(Step { at, command, refused: None });
                }
            }
            if self.simulator.advance_to(next).is_err() {
                return;
            }
            let events = self.simulator.drain_events();
            if !events.is_empty() {
                self.recorder.take_in(&self.simulator, &events);
            }
        }
    }

    /// Ready pods of a workload over time; empty if nothing happened to it.
    fn ready(&self, subject: &ReportSubject) -> Vec<ReadyStep> {
        let step = |(time, ready, wanted): &(Timestamp, i64, i64)| ReadyStep {
            at: Millis::between(self.search.at, *time),
            ready: *ready,
            wanted: *wanted,
        };
        self.recorder.curve(subject).iter().map(step).collect()
    }

    fn zone_steps(&self, zone: &str) -> Vec<ZoneStep> {
        let steps = self.recorder.zones().iter();
        steps.filter(|step| step.zone == zone && step.state.is_some()).cloned().collect()
    }
}

impl OutageSearch {
    /// Tries an outage; `None` if it does not reach the goal.
    #[must_use]
    pub fn run(&self, outage: &Outage) -> Option<Reached> {
        let mut fork = Fork::new(self, outage);
        fork.run();
        let (mut ready, mut states) = (Vec::new(), Vec::new());
        // Times from which on the goal is reached, or not.
        let changes: Vec<(Millis, bool)> = match &self.goal {
            Goal::AtZero(subject) => {
                ready = fork.ready(subject);
                ready.iter().map(|step| (step.at, step.ready <= 0)).collect()
            }
            Goal::NotNormal(zone) => {
                states = fork.zone_steps(&zone.name());
                let disrupted = |step: &ZoneStep| {
                    let state = step.state.unwrap_or_default();
                    matches!(state, ZoneState::PartialDisruption | ZoneState::FullDisruption)
                };
                states.iter().map(|step| (step.at, disrupted(step))).collect()
            }
        };
        let end = Millis::from(Span(self.horizon()));
        let ends = changes.iter().skip(1).map(|(at, _)| *at).chain([end]);
        let reached = changes.iter().zip(ends).filter(|((from, is), to)| *is && from < to);
        let reached: Vec<(Millis, Millis)> = reached.map(|((from, _), to)| (*from, to)).collect();
        let (at, _) = *reached.first()?;
        let lasts = reached.iter().map(|(from, to)| to.0.saturating_sub(from.0)).sum();
        let at_the_end = reached.last().is_some_and(|(_, to)| *to == end);
        Some(Reached {
            faults: outage.clone(),
            at,
            lasts: Millis(lasts),
            at_the_end,
            ready,
            states,
        })
    }

    /// An outage as a scenario that can be played by itself; its steps are the commands of the
    /// faults. It shows the view of the control plane: a pod on a node without power counts as
    /// ready until the node is seen to be lost.
    #[must_use]
    pub fn scenario_of(&self, outage: &Outage) -> Scenario {
        let mut fork = Fork::new(self, outage);
        fork.run();
        let mut scenario = initial(&self.scenario, SEED, None);
        let last = fork.steps.last().map_or(self.at, |step| step.at.timestamp());
        scenario.steps = fork.steps;
        // Long enough to see pods being evicted and replaced.
        let longest = self.gaps.last().map_or(Duration::ZERO, |gap| gap.time.0);
        let end = last.saturating_add(longest).saturating_add(Duration::from_secs(60));
        scenario.until = Some(Span(end.min(self.end).since_zero()));
        scenario
    }

    /// Time of the first fault in the [scenario](Self::scenario_of).
    #[must_use]
    pub const fn begins_at(&self) -> Timestamp {
        self.at
    }

    /// Whether the ready pods of a workload stay the same without any fault.
    pub(super) fn is_steady(&self, subject: &ReportSubject) -> bool {
        let mut fork = Fork::new(self, &Outage::default());
        fork.run();
        let ready = fork.ready(subject);
        ready.iter().all(|step| ready.first().is_some_and(|first| first.ready == step.ready))
    }

    fn nodes_of(&self, fault: &OutageFault) -> &[NodeName] {
        let candidate = self.candidates.iter().find(|it| it.fault == *fault);
        candidate.map_or(&[], |it| &it.nodes)
    }
}
