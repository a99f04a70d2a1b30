//! The views follow the session.

use std::rc::Rc;

use taintlab_core::slices::{Sliced, at_once};
use taintlab_core::warnings::{Warning, WarningCode, find_warnings, warnings_of};

use super::Host;
use crate::protocol::{Notice, Rest};
use crate::session::Session;
use crate::text::at;
use crate::view_models::selection::{PodGroup, Selection};
use crate::view_models::warning_marks::WarningMarks;
use crate::view_models::{ViewModels, announcement};

/// Pods above which warnings are searched for in slices, while time stands still and nothing else
/// is to be done.
const MANY_PODS: usize = 2_000;

/// The way in which view models follow the session: while time passes, or after a change by hand.
type Follow = fn(&mut ViewModels, &mut Session, Option<&Selection>, bool) -> bool;

impl Host {
    /// Updates the views from the session; `true` if something on the board may have changed.
    pub(super) fn refresh(&mut self, follow: Follow) -> bool {
        self.forget_what_was_seen();
        let before_counts = self.views.board.board().totals.counts;
        let selection = self.selection.as_ref();
        let changed = follow(&mut self.views, &mut self.session, selection, self.playing);
        if changed {
            self.turn();
            let counts = self.views.board.board().totals.counts;
            if let Some(said) = announcement::of_counts(&before_counts, &counts) {
                self.announce(said);
            }
            self.look_for_warnings();
        }
        self.look_at_outcome();
        self.look_at_lanes();
        self.follow_drains();
        changed
    }

    /// Forgets views of work that no longer exists: the comparison of two runs once one of them
    /// changed, and the choices on the lanes once these are others.
    fn forget_what_was_seen(&mut self) {
        let timeline = self.session.timeline();
        if self.seen_of.is_same(timeline) {
            return;
        }
        self.compared = None;
        self.lanes.begin_anew();
        if !self.seen_of.has_same_beginning(timeline) {
            self.lanes.forget();
        }
        self.seen_of = timeline.clone();
    }

    /// Announces the outcome, when nothing is due any more.
    fn look_at_outcome(&mut self) {
        let outcome = match self.session.next() {
            Some(_) => None,
            None => self.session.simulator().outcome(),
        };
        if self.outcome.as_deref() == outcome.as_ref() {
            return;
        }
        self.outcome = outcome.map(Rc::new);
        if let Some(outcome) = self.outcome.clone()
            && self.has_begun()
        {
            self.announce(format!("Nothing more is due. {outcome}"));
        }
    }

    /// Looks for warnings in all objects; in a large cluster later, when time stands still.
    pub(super) fn look_for_warnings(&mut self) {
        let many = self.views.board.board().totals.pods > MANY_PODS;
        self.looks_for_warnings = many;
        self.warning_search = None;
        if !many {
            let warnings = warnings_of(self.session.simulator());
            let marked = at_once(WarningMarks::of(&warnings));
            self.put_warnings(warnings, marked);
        }
    }

    /// Whether a search for warnings of a large cluster is due, as soon as nothing else is to be
    /// done.
    pub(super) fn wants_warnings(&self) -> bool {
        self.looks_for_warnings && !self.playing
    }

    /// Searches for warnings for a slice, a short one, as nobody waits for it; `true` when that is
    /// done.
    pub(super) fn search_warnings(&mut self) -> bool {
        let search = self.warning_search.get_or_insert_with(|| {
            let simulator = self.session.simulator().clone();
            Sliced::new(async move {
                let warnings = find_warnings(&simulator).await;
                let marked = WarningMarks::of(&warnings).await;
                (warnings, marked)
            })
        });
        let (clock, until) = (self.clock, (self.clock)() + self.budgets.play);
        let Some((warnings, marked)) = search.go_on(|| clock() < until) else { return false };
        (self.looks_for_warnings, self.warning_search) = (false, None);
        self.put_warnings(warnings, marked);
        true
    }

    fn put_warnings(&mut self, warnings: Vec<Warning>, marked: WarningMarks) {
        if *self.warnings != warnings {
            self.say_of_control_plane(&warnings);
            if *self.marked != marked {
                self.marked = Rc::new(marked);
            }
            self.warnings = Rc::new(warnings);
        }
    }

    /// Shows the warning about the control plane when it is new: an assumption about the
    /// controllers matters once all nodes are lost on which they would run.
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

    /// Announces the states of the pods in the rows after the first `before`; without any, the edit
    /// that was `done`.
    pub(super) fn announce_rows(&mut self, before: usize, done: Option<String>) {
        let rows = self.session.rows().get(before..).unwrap_or_default();
        let said = announcement::of_rows(rows, &self.views.board);
        if let Some(said) = said.or(done) {
            self.announce(said);
        }
    }

    /// Whether the user or the scenario has done something.
    pub(super) fn has_begun(&self) -> bool {
        let timeline = self.session.timeline();
        !timeline.log.is_empty() || !timeline.start.steps.is_empty()
    }

    /// The words for when nothing is due.
    pub(super) fn rest(&self) -> Rest {
        match &self.outcome {
            Some(outcome) if self.has_begun() || !outcome.is_uneventful() => {
                let parts = outcome.parts().into_iter().map(|part| {
                    let group = PodGroup::Outcome(part.kind);
                    (part.text, (part.pods > 0).then_some(Selection::Pods(group)))
                });
                Rest::Ended(format!("Ended at {}:", at(outcome.ended_at)), parts.collect())
            }
            _ if self.views.board.board().totals.nodes == 0 => {
                Rest::Hint("Nothing is here yet. Import a cluster, or choose a scenario.".into())
            }
            _ => Rest::Hint(
                "Nothing happens by itself now. Taint a node, or stop its kubelet.".into(),
            ),
        }
    }
}
