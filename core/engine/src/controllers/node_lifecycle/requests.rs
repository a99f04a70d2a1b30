//! Requests of the controller, and the pauses of its flows.

use alloc::boxed::Box;
use core::time::Duration;

use taintlab_rules::protocol::RequestId;

use super::action::NodeLifecycleAction;
use super::controller::NodeLifecycleController;
use super::flow::{Client, Flow, FlowKind};
use super::work::{Resume, Step};

/// The number of requests of an action.
const fn cost(action: &NodeLifecycleAction) -> u8 {
    let reads_first = matches!(
        action,
        NodeLifecycleAction::PatchNodeTaints { .. } | NodeLifecycleAction::PatchNodeLabels { .. }
    );
    // A `GET` and a `PATCH`.
    if reads_first { 2 } else { 1 }
}

impl NodeLifecycleController {
    /// Client of the controller, shared with the taint manager up to 1.28.
    pub(crate) const fn client_mut(&mut self) -> &mut Client {
        &mut self.client
    }

    /// Sends a request when the client allows it; `resume` continues with its result.
    pub(super) fn request(
        &mut self,
        resume: Resume,
        action: impl FnOnce(RequestId) -> NodeLifecycleAction,
    ) {
        let id = RequestId(self.next_id);
        self.next_id += 1;
        let action = action(id);
        let left = cost(&action);
        self.send(id, Box::new(resume), Box::new(action), left);
    }

    /// Waits for the tokens of a request, one after the other, and sends it.
    pub(super) fn send(
        &mut self,
        id: RequestId,
        resume: Box<Resume>,
        action: Box<NodeLifecycleAction>,
        mut left: u8,
    ) {
        while left > 0 {
            left -= 1;
            let at = self.client.reserve(self.now);
            if at > self.now {
                self.steps.push_front(Step::Send { id, resume, action, left });
                return self.sleep(at - self.now);
            }
        }
        self.awaiting = Some((id, *resume));
        self.actions.push_back(*action);
    }

    /// Suspends the current steps for a pause; other work continues meanwhile.
    pub(super) fn sleep(&mut self, pause: Duration) {
        let steps = core::mem::take(&mut self.steps);
        let Some(kind) = self.flows.current.take() else { return };
        self.flows.sequence += 1;
        let key = (self.now.saturating_add(pause), self.flows.sequence);
        self.flows.asleep.insert(key, Flow { kind, steps });
    }

    /// Continues the next flow whose pause is over; returns whether there is one.
    pub(super) fn wake_flow(&mut self) -> bool {
        if self.flows.next().is_none_or(|at| at > self.now) {
            return false;
        }
        let Some((_, flow)) = self.flows.asleep.pop_first() else { return false };
        self.steps = flow.steps;
        self.flows.current = Some(flow.kind);
        true
    }

    /// Ends the current flow, whose steps are all done.
    pub(super) fn end_flow(&mut self) {
        match self.flows.current.take() {
            Some(FlowKind::Tainting) => self.last_tick = Some(self.now),
            Some(FlowKind::Node(name)) => {
                if self.flows.changed.remove(name.as_str()) {
                    self.node_items.push(name);
                }
            }
            Some(FlowKind::Pass | FlowKind::Pod) | None => {}
        }
    }
}
