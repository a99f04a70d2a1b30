//! What the user changes, by hand or by a line of the console.

use taintlab_core::command::{Command, CommandError};
use taintlab_core::scenario::Scenario;
use yew::prelude::*;

use super::{App, console};
use crate::focus::{Goal, Place};
use crate::messages::{Notice, selection_after};
use crate::session::{Session, run_control_plane};
use crate::view_models::ViewModels;
use crate::view_models::console::Outcome;
use crate::view_models::display;

impl App {
    /// Runs the timeline with another initial state; `false` if that cannot be, which is said.
    pub(super) fn change_start(&mut self, change: Box<dyn FnOnce(&mut Scenario)>) -> bool {
        let result = self.session.change_start(change);
        let changed = result.is_ok();
        self.notice_error(result);
        self.changed();
        changed
    }

    /// Workloads need controllers that look after them.
    pub(super) fn let_controllers_run(&mut self, commands: &[Command]) {
        let runs = self.session.simulator().config().control_plane;
        let wanted = commands.iter().any(Command::needs_control_plane);
        if wanted && !runs && self.change_start(Box::new(|start| run_control_plane(start, true))) {
            self.notice(Notice::info(
                "The scheduler and the controllers of workloads run now, from the beginning of \
                 this timeline. Undo twice to be without them.",
            ));
        }
    }

    /// Faults need kubelets that can fail, and a controller that notices.
    pub(super) fn let_kubelets_run(&mut self, commands: &[Command]) {
        let runs = self.session.simulator().config().node_lifecycle;
        let wanted = commands.iter().any(Command::needs_node_lifecycle);
        if wanted
            && !runs
            && self.change_start(Box::new(|start| start.kubernetes.node_lifecycle = Some(true)))
        {
            self.notice(Notice::info(
                "Kubelets and the node lifecycle controller run now, from the beginning of this \
                 timeline. Undo twice to be without them.",
            ));
        }
    }

    pub(super) fn edit(
        &mut self,
        commands: Vec<Command>,
        refused: &Callback<CommandError>,
    ) -> bool {
        let lines = console::lines_of(&commands, self.session.simulator());
        let at = self.session.now();
        match self.carry_out(commands) {
            Ok(()) => {
                if let Some(lines) = lines {
                    self.enter(at, lines.into(), Outcome::Clicked);
                }
                // What is applied is left: the space bar plays, and takes nothing back.
                if self.dialog.is_some() || Place::now() == Place::Inspector {
                    self.focus.go(Goal::Card(self.selection.clone()));
                }
                true
            }
            Err(error) => {
                refused.emit(error);
                false
            }
        }
    }

    /// Does what commands say, as one edit.
    pub(super) fn carry_out(&mut self, commands: Vec<Command>) -> Result<(), CommandError> {
        self.let_controllers_run(&commands);
        self.let_kubelets_run(&commands);
        let follows = selection_after(&commands, self.selection.as_ref());
        let words = commands.first().map(display::command_text);
        let before = self.session.rows().len();
        let branch = self.session.branch_name();
        self.session.apply(commands)?;
        self.say_of_branch(&branch);
        if let Some(selection) = follows {
            self.selection = selection;
        }
        self.changed();
        self.announce_rows(before, words);
        Ok(())
    }

    pub(super) fn change(&mut self, change: impl FnOnce(&mut Session)) {
        change(&mut self.session);
        self.changed();
    }

    /// The session was changed by hand: everything looks at it, and it is saved.
    pub(super) fn changed(&mut self) {
        if !self.refresh(ViewModels::follow_change) {
            self.new_epoch();
        }
        self.save_soon();
    }
}
