//! The controllers of the control plane. They know neither one another nor the simulator.
//!
//! # How to drive one
//!
//! 1. Keep a [`Cluster`] as the caches of informers would be, and tell the controller of every
//!    change of it: [`Machine::handle_change`].
//! 2. Carry out what [`Controller::poll_action`] gives until it gives nothing, and tell the result
//!    of every request with [`Controller::handle_action_result`].
//! 3. When [`Machine::poll_timeout`] names a moment that has come, call
//!    [`Machine::handle_timeout`] and go to 2.

pub mod attach_detach;
pub mod autoscaler;
mod claims;
pub mod daemon_set;
pub mod deployment;
pub mod descheduler;
pub mod device_taint_eviction;
pub mod disruption;
pub mod drain;
mod first_pod;
pub mod job;
pub(crate) mod names;
pub mod node_lifecycle;
pub mod node_ttl;
pub mod persistent_volume;
pub mod pod_gc;
pub mod replica_set;
pub mod resource_claim;
pub mod scheduler;
pub mod stateful_set;
pub mod taint_eviction;
pub mod workload;

use taintlab_rules::cluster::{Change, Cluster};
use taintlab_rules::protocol::{RequestId, Timeout, TimeoutReason};
use taintlab_rules::queue::timer_queue::{Sequence, TimerId};
use taintlab_rules::time::{Time, Timestamp};

pub(crate) use self::first_pod::{FirstPod, first_pod};

/// What a controller is called with.
#[derive(Debug)]
pub struct Context<'a> {
    /// The time.
    pub now: Timestamp,
    /// The wall-clock time at zero.
    pub start: Time,
    /// The cluster, as the caches of informers show it.
    pub cluster: &'a Cluster,
    /// Where timers and queued work get their numbers, which order those of several controllers.
    pub sequence: &'a mut Sequence,
}

impl Context<'_> {
    /// The wall-clock time now.
    #[must_use]
    pub fn wall_clock(&self) -> Time {
        self.start.saturating_add(self.now.since_zero())
    }
}

/// The place of a piece of work among those that wait: its class, and its number in that class.
/// Work of a lower class goes first.
pub type WorkTicket = (u8, u64);

/// A machine: changes and time go in, and the next deadline comes out.
pub trait Machine {
    /// An object was added, changed or deleted; the cluster shows it already.
    fn handle_change(&mut self, context: &mut Context<'_>, change: &Change);

    /// Does one piece of what is due: a timer that has fired; if there is none, one piece of
    /// queued work.
    fn handle_timeout(&mut self, _: &mut Context<'_>) {}

    /// The next timer.
    fn next_timer(&self) -> Option<TimerId> {
        None
    }

    /// What the next timer is for.
    fn timer_reason(&self) -> Option<TimeoutReason> {
        None
    }

    /// The place of the work that is to be done next, if any is queued.
    fn next_work(&self) -> Option<WorkTicket> {
        None
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called, and what for.
    fn poll_timeout(&self, now: Timestamp) -> Option<Timeout>
    where
        Self: Sized,
    {
        if self.next_work().is_some() {
            return Some(Timeout { at: now, reason: TimeoutReason::WorkQueued });
        }
        let (at, _) = self.next_timer()?;
        Some(Timeout { at, reason: self.timer_reason()? })
    }
}

/// A controller: a machine whose actions come out, and that is told the result of each request.
pub trait Controller: Machine {
    /// A thing that it wants done.
    type Action;
    /// The answer to an action.
    type Answer;

    /// The next action, if there is one.
    fn poll_action(&mut self, context: &mut Context<'_>) -> Option<Self::Action>;

    /// The result of a request. An unknown `id` is ignored.
    fn handle_action_result(
        &mut self,
        context: &mut Context<'_>,
        id: RequestId,
        answer: Self::Answer,
    );
}
