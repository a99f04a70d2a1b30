//! Moments that the clock goes to, and branches of time.

use taintlab_core::simulator::Simulator;

use super::Host;
use crate::protocol::Notice;
use crate::session::{MarkKind, Session, Way};
use crate::view_models::runs::{BranchMsg, Breakpoint};

impl Host {
    /// Handles a message about branches; returns the way of the clock if it switches to another
    /// one.
    pub(super) fn branch(&mut self, msg: BranchMsg) -> Option<Way> {
        match msg {
            BranchMsg::Fork => {
                self.change(Session::fork);
                self.announce(format!("On {} now", self.session.branch_name()));
            }
            BranchMsg::Switch(id) => return self.session.begin_switch(id),
            BranchMsg::Rename(id, name) => {
                self.change(|session| session.rename_branch(id, &name));
            }
            BranchMsg::Delete(id) => self.change(|session| session.delete_branch(id)),
        }
        None
    }

    /// Says that an edit began a branch, if it did.
    pub(super) fn say_of_branch(&mut self, before: &str) {
        let name = self.session.branch_name();
        if *name != *before {
            self.notice(Notice::info(format!(
                "You went back: this edit begins “{name}”, and what came later stays on \
                 “{before}”. G shows both; undo goes back to it.",
            )));
        }
    }

    pub(super) fn toggle_kind(&mut self, kind: MarkKind) {
        let mut hidden = self.views.hidden.clone();
        let before = hidden.len();
        hidden.retain(|known| *known != kind);
        if hidden.len() == before {
            hidden.push(kind);
        }
        // Without any kind there is nothing to step to.
        if hidden.len() < MarkKind::ALL.len() {
            self.views.hide(hidden, &self.session);
        }
    }
}

/// The condition of a breakpoint that has become true, if there is one: time stops there.
pub(super) fn stops(breakpoints: &mut [Breakpoint], simulator: &Simulator) -> Option<String> {
    let mut stops = None;
    for one in breakpoints {
        let holds = one.condition.holds(simulator);
        if holds && !std::mem::replace(&mut one.holds, holds) {
            stops = Some(one.condition.to_string());
        }
        one.holds = holds;
    }
    stops
}
