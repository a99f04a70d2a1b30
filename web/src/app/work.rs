//! Another cluster takes the place of the work, is added to it, or the work is handed out.

use std::rc::Rc;

use taintlab_core::scenario::Scenario;
use taintlab_manifest::Import;

use super::{App, incoming};
use crate::files::{Addition, ExportKind};
use crate::messages::{ExportTarget, Notice};
use crate::text::count;
use crate::view_models::import_report::{Objects, State};
use crate::{browser, files};

impl App {
    pub(super) fn load(&mut self, scenario: Scenario) {
        self.play(false);
        self.turn_page();
        match self.session.load(scenario) {
            Ok(()) => {
                self.story = None;
                self.selection = None;
                self.dialog = None;
                self.forget_what_was_done();
                self.changed();
            }
            Err(error) => self.notice(Notice::error(error.to_string())),
        }
    }

    /// Puts what was read in place of the cluster.
    pub(super) fn replace_cluster(&mut self, read: &Import, own_release: bool) {
        let present = self.session.simulator().config().release;
        let like = &self.session.timeline().start;
        self.load(files::start_with(read.clone(), like, present, own_release));
    }

    /// What adding what was read would do, object by object.
    pub(super) fn plan_import(&mut self, read: &Import, objects: &Objects) -> Rc<Objects> {
        let additions = self.additions(read, objects).into_iter();
        Rc::new(Objects::Planned(additions.map(|one| one.planned).collect()))
    }

    fn additions(&mut self, read: &Import, objects: &Objects) -> Vec<Addition> {
        let mut additions = files::additions(read, objects, &self.session);
        let groups = additions.iter().map(|addition| addition.commands.as_slice());
        let errors = self.session.try_out(groups);
        for (addition, error) in additions.iter_mut().zip(errors) {
            if let Some(error) = error {
                addition.planned.state = State::Refused;
                addition.planned.why = error.to_string();
                addition.commands.clear();
            }
        }
        additions
    }

    pub(super) fn add(&mut self, read: &Import, objects: &Objects) {
        let additions = self.additions(read, objects);
        let missing = additions.iter().filter(|one| one.planned.state.is_missing()).count();
        let commands: Vec<_> = additions.into_iter().flat_map(|one| one.commands).collect();
        let changes = commands.len();
        self.dialog = None;
        let branch = self.session.branch_name();
        if changes > 0
            && let Err(error) = self.session.apply(commands)
        {
            return self.notice(Notice::error(format!("Nothing was added: {error}")));
        }
        let missing = match missing {
            0 => String::new(),
            missing => format!("; {} left out", count(missing, "object")),
        };
        self.say_of_branch(&branch);
        self.notice(Notice::info(format!("{} made{missing}", count(changes, "change"))));
        self.changed();
    }

    pub(super) fn export(&mut self, what: ExportKind, how: ExportTarget) {
        let (name, text) = files::export_as(&self.session, what);
        match how {
            ExportTarget::Copy => incoming::copy(&self.dispatch, text.into()),
            ExportTarget::Download => {
                let result = browser::download(name, &text);
                self.notice_error(result);
            }
        }
    }
}
