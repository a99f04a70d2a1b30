//! Drains in a simulation: what they are told, and what they want done.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::Simulator;
use crate::api::{NodeName, PodKey};
use crate::command::{Command, CommandError};
use crate::controllers::drain::{DrainAction, DrainController, EvictAnswer};
use crate::controllers::{Context, Controller};
use crate::event::EventKind;
use crate::policy::drain::DrainOptions;

impl Simulator {
    /// `kubectl drain`, after it has cordoned the nodes.
    pub(super) fn start_drain(
        &mut self,
        nodes: Vec<NodeName>,
        options: DrainOptions,
    ) -> Result<(), CommandError> {
        for node in &nodes {
            self.api.node(node)?;
        }
        self.with_drains(|drains, context| drains.start(context, nodes, options));
        Ok(())
    }

    /// Ends a drain, as Ctrl+C does. What it has begun goes on.
    pub(super) fn cancel_drain(&mut self, id: u64) -> Result<(), CommandError> {
        let mut known = false;
        self.with_drains(|drains, _| known = drains.cancel(id));
        if known {
            return Ok(());
        }
        Err(CommandError::InvalidValue {
            field: "drain",
            value: format!("{id}"),
            expected: "the number of a drain that is under way",
        })
    }

    /// The drains that are under way: the number of each, the node it is at, and the pods that it
    /// has not done with.
    pub fn drains(&self) -> impl Iterator<Item = (u64, &NodeName, impl Iterator<Item = &PodKey>)> {
        self.drains.running()
    }

    /// Calls the drains, and carries out what they want done.
    pub(super) fn with_drains(
        &mut self,
        call: impl FnOnce(&mut DrainController, &mut Context<'_>),
    ) {
        self.call_drains(call);
        while let Some(action) = self.call_drains(|drains, context| drains.poll_action(context)) {
            match action {
                DrainAction::Started { drain } => self.api.emit(EventKind::DrainStarted { drain }),
                DrainAction::Print { drain, is_error, line } => {
                    self.api.emit(EventKind::DrainPrinted { drain, is_error, line });
                }
                DrainAction::Evict { id, pod, disable_eviction, grace_period_seconds } => {
                    let answer = self.evict_for_drain(pod, disable_eviction, grace_period_seconds);
                    self.call_drains(|drains, context| {
                        drains.handle_action_result(context, id, answer);
                    });
                }
                DrainAction::Ended { drain, failed } => {
                    self.api.emit(EventKind::DrainEnded { drain, failed });
                }
            }
        }
    }

    /// Calls the drains; what they want done waits.
    pub(super) fn call_drains<T>(
        &mut self,
        call: impl FnOnce(&mut DrainController, &mut Context<'_>) -> T,
    ) -> T {
        let mut context = Context {
            now: self.api.now,
            start: self.api.config.start,
            cluster: &self.api.cluster,
            sequence: &mut self.sequence,
        };
        call(&mut self.drains, &mut context)
    }

    fn evict_for_drain(
        &mut self,
        pod: PodKey,
        disable_eviction: bool,
        grace: Option<u32>,
    ) -> EvictAnswer {
        let command = if !disable_eviction && self.control.is_some() {
            Command::EvictPod { pod, grace_period_seconds: grace }
        } else {
            let grace_period_seconds = grace.filter(|seconds| *seconds > 0);
            Command::DeletePod { pod, force: grace == Some(0), grace_period_seconds }
        };
        match self.apply(command) {
            Ok(()) => EvictAnswer::Accepted,
            Err(
                error @ (CommandError::DisruptionBudget { .. }
                | CommandError::BudgetNotProcessed { .. }),
            ) => EvictAnswer::Forbidden(error.to_string()),
            Err(CommandError::PodNotFound(_)) => EvictAnswer::NotFound,
            Err(error) => EvictAnswer::Failed(error.to_string()),
        }
    }
}
