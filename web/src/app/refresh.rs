//! The page follows the session.

use std::rc::Rc;

use taintlab_core::warnings::{Warning, WarningCode, warnings_of};

use super::App;
use crate::messages::Notice;
use crate::session::Session;
use crate::view_models::board::density::Detail;
use crate::view_models::selection::Selection;
use crate::view_models::warning_marks::WarningMarks;
use crate::view_models::{ViewModels, announcement};

/// With more pods than these, warnings wait until time stands still.
const MANY_PODS: usize = 2_000;

/// How the view models follow the session: while time passes, or after a change by hand.
type Follow = fn(&mut ViewModels, &mut Session, Option<&Selection>, bool) -> bool;

impl App {
    /// Looks at what the session did; `true` if something on the board may have changed.
    pub(super) fn refresh(&mut self, follow: Follow) -> bool {
        let before_counts = self.views.board.board().totals.counts;
        // Only pods with names are animated, not dots.
        let animates = self.views.workloads.is_some() && self.detail() == Detail::Full;
        let before = animates.then(|| self.views.board.pods().clone());
        let playing = self.playback.is_playing();
        let selection = self.selection.as_ref();
        let changed = follow(&mut self.views, &mut self.session, selection, playing);
        if changed {
            if let Some(before) = before {
                self.pod_animation.record(&before, self.views.board.pods());
            }
            self.new_epoch();
            let counts = self.views.board.board().totals.counts;
            self.announce(announcement::of_counts(&before_counts, &counts));
            self.look_for_warnings();
        }
        self.look_at_outcome();
        self.look_at_lanes();
        self.follow_drains();
        changed
    }

    /// Says how it ended, when nothing is due any more.
    fn look_at_outcome(&mut self) {
        let outcome = match self.session.next() {
            Some(_) => None,
            None => self.session.simulator().outcome(),
        };
        if self.outcome.as_deref() == outcome.as_ref() {
            return;
        }
        self.outcome = outcome.map(Rc::new);
        if let Some(outcome) = &self.outcome
            && self.has_begun()
        {
            self.announcement = format!("Nothing more is due. {outcome}").into();
        }
    }

    /// Looks through all objects, which while time runs fast is only done for clusters that are
    /// looked through in no time.
    pub(super) fn look_for_warnings(&mut self) {
        if self.playback.is_playing() && self.views.board.board().totals.pods > MANY_PODS {
            return;
        }
        let warnings = warnings_of(self.session.simulator());
        if *self.warnings != warnings {
            self.say_of_control_plane(&warnings);
            let marked = WarningMarks::of(&warnings);
            if *self.marked != marked {
                self.marked = Rc::new(marked);
            }
            self.warnings = Rc::new(warnings);
        }
    }

    /// What is assumed of the controllers matters from the moment on at which all nodes are lost
    /// that they would run on.
    fn say_of_control_plane(&mut self, new: &[Warning]) {
        let is_it = |warning: &&Warning| warning.code == WarningCode::ControlPlaneLost;
        if self.warnings.iter().any(|warning| is_it(&warning)) {
            return;
        }
        if let Some(warning) = new.iter().find(is_it) {
            let text = format!("Warning: {}.", warning.message);
            self.notice(Notice::info(text));
        }
    }

    /// Says what became of pods since the log had so many rows; if nothing did, what was done.
    pub(super) fn announce_rows(&mut self, before: usize, done: Option<String>) {
        let rows = self.session.rows().get(before..).unwrap_or_default();
        let said = announcement::of_rows(rows, &self.views.board);
        self.announce(said.or(done));
    }

    fn announce(&mut self, said: Option<String>) {
        if let Some(said) = said {
            self.announcement = said.into();
        }
    }
}
