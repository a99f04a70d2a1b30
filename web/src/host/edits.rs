//! Changes by the user, by hand or by a line of the console.

use taintlab_core::api::{PodKey, Toleration};
use taintlab_core::command::{Command, CommandError};
use taintlab_core::scenario::Scenario;

use super::{Host, console};
use crate::files;
use crate::protocol::Notice;
use crate::session::{Session, StartChange, Way};
use crate::view_models::ViewModels;
use crate::view_models::console::Outcome;
use crate::view_models::display;
use crate::view_models::selection::selection_after;

impl Host {
    /// Begins the timeline with another initial state.
    pub(super) fn begin_change_start(&mut self, change: StartChange) -> Result<Way, String> {
        let cluster = self.session.simulator().cluster();
        let model = change.model().and_then(|name| cluster.get_node(name.as_str()).cloned());
        let apply = |start: &mut Scenario| change.apply(start, model.as_deref());
        let begun = self.session.begin_change_start(apply);
        begun.map_err(|error| {
            self.notice(Notice::error(error.to_string()));
            self.changed();
            error.to_string()
        })
    }

    /// Begins the timeline with another initial state, and runs it to the time of the clock.
    fn change_start(&mut self, change: StartChange) -> Result<(), String> {
        let way = self.begin_change_start(change)?;
        self.session.arrive(way);
        self.changed();
        Ok(())
    }

    /// The change of the initial state that commands need, and the message about it: workloads need
    /// controllers that look after them, and kubelets; faults need kubelets that can fail, and a
    /// controller that notices.
    pub(super) fn start_needed(&self, commands: &[Command]) -> Option<(StartChange, &'static str)> {
        let config = self.session.simulator().config();
        if !config.control_plane && commands.iter().any(Command::needs_control_plane) {
            return Some((
                StartChange::ControlPlane(true),
                "The scheduler and the workload controllers are now simulated from the start of \
                 this timeline. Undo twice to disable them.",
            ));
        }
        let faults = commands.iter().any(Command::needs_node_lifecycle);
        (faults && !config.node_lifecycle).then_some((
            StartChange::NodeLifecycle,
            "Kubelets and the node lifecycle controller are now simulated from the start of \
             this timeline. Undo twice to disable them.",
        ))
    }

    pub(super) fn edit(&mut self, commands: Vec<Command>) -> Result<(), String> {
        let lines = console::lines_of(&commands, self.session.simulator());
        let at = self.session.now();
        let failed = self.carry_out(commands).map_err(|error| error.to_string())?;
        if let Some(lines) = lines {
            self.enter(at, lines.into(), Outcome::Clicked);
        }
        failed.map_or(Ok(()), |error| Err(error.to_string()))
    }

    /// The commands that replace a pod by one with these tolerations; none if it is gone.
    pub(super) fn replacement(&self, pod: &PodKey, tolerations: Vec<Toleration>) -> Vec<Command> {
        let Some(pod) = self.session.simulator().cluster().get_pod(pod) else { return Vec::new() };
        let mut pod = pod.as_ref().clone();
        pod.spec.tolerations = tolerations.into();
        files::replace_pod(pod).into()
    }

    /// Carries out commands as one edit, with the result of [`Session::apply`].
    pub(super) fn carry_out(
        &mut self,
        commands: Vec<Command>,
    ) -> Result<Option<CommandError>, CommandError> {
        if let Some((change, words)) = self.start_needed(&commands)
            && self.change_start(change).is_ok()
        {
            self.notice(Notice::info(words));
        }
        let follows = selection_after(&commands, self.selection.as_ref());
        let words = commands.first().map(display::command_text);
        let before = self.session.rows().len();
        let branch = self.session.branch_name();
        let failed = self.session.apply(commands)?;
        self.say_of_branch(&branch);
        if let Some(selection) = follows {
            self.selection = selection;
        }
        self.changed();
        self.announce_rows(before, words);
        Ok(failed)
    }

    pub(super) fn change(&mut self, change: impl FnOnce(&mut Session)) {
        change(&mut self.session);
        self.changed();
    }

    /// Updates all views, after the session was changed by hand.
    pub(super) fn changed(&mut self) {
        if !self.refresh(ViewModels::follow_change) {
            self.turn();
        }
    }
}
