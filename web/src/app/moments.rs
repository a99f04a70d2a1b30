//! Moments that the clock goes to: of the selected object, of a kind, of a condition.

use taintlab_core::lanes::LaneSubject;

use super::App;
use crate::messages::Msg;
use crate::session::{MarkKind, Row};
use crate::view_models::display;
use crate::view_models::lanes::LanesMsg;
use crate::view_models::selection::Selection;

/// Whether a message is about the clock or the work, so that it means the moment of the clock, and
/// not one that is only looked at.
pub(super) fn is_of_the_clock(msg: &Msg) -> bool {
    match msg {
        Msg::Frame(_)
        | Msg::Lanes(_)
        | Msg::Ahead
        | Msg::Select(_)
        | Msg::Focused(_)
        | Msg::Move(_)
        | Msg::Copy(_)
        | Msg::Complete(..)
        | Msg::NextTheme
        | Msg::Notice(_)
        | Msg::Dismiss(_)
        | Msg::Dropping(_)
        | Msg::Download(..)
        | Msg::Save
        | Msg::Written(_)
        | Msg::Leave
        | Msg::Return
        | Msg::PlanImport(..) => false,
        Msg::Edit(..)
        | Msg::EditAndClose(..)
        | Msg::Undo
        | Msg::Redo
        | Msg::TogglePlay
        | Msg::SetSpeed(_)
        | Msg::Faster
        | Msg::Slower
        | Msg::Step
        | Msg::StepBack
        | Msg::StepAbout(_)
        | Msg::ToggleKind(_)
        | Msg::RunToEnd
        | Msg::Seek(_)
        | Msg::GoTo(..)
        | Msg::Open(_)
        | Msg::CloseDialog
        | Msg::Load(_)
        | Msg::ReplaceCluster(..)
        | Msg::AddToCluster(..)
        | Msg::Export(..)
        | Msg::ChangeStart(_)
        | Msg::ChangeSettings(_)
        | Msg::SetBaseline
        | Msg::Show(_)
        | Msg::Escape
        | Msg::ToBoard
        | Msg::WentBack
        | Msg::Kubectl(_)
        | Msg::OpenConsole(_)
        | Msg::Files(_)
        | Msg::OpenSession(_)
        | Msg::ContinueSession(_)
        | Msg::Sessions => true,
    }
}

impl App {
    /// Steps to what happens next, of the kinds that are shown.
    pub(super) fn step(&mut self) {
        let before = self.session.rows().len();
        let hidden = self.views.hidden.clone();
        let mut stepped = true;
        self.change(|session| stepped = session.step_to_shown(&hidden));
        if stepped {
            self.announce_rows(before, None);
        } else {
            self.announcement = "Nothing more of the kinds that are shown".into();
        }
    }

    pub(super) fn toggle_kind(&mut self, kind: MarkKind) {
        let mut hidden = self.views.hidden.clone();
        let before = hidden.len();
        hidden.retain(|known| *known != kind);
        if hidden.len() == before {
            hidden.push(kind);
        }
        // There is nothing to step to without any kind.
        if hidden.len() < MarkKind::ALL.len() {
            self.views.hide(hidden, &self.session);
        }
    }

    /// Goes to what happens next to what is selected, or to what happened before.
    pub(super) fn step_about(&mut self, later: bool) {
        self.play(false);
        let Some(selection) = self.selection.clone() else {
            self.announcement = "Select something first".into();
            return;
        };
        let hidden = self.views.hidden.clone();
        let is_it = |row: &Row| !hidden.contains(&row.kind.mark()) && is_about(row, &selection);
        let before = self.session.rows().len();
        let mut found = false;
        self.change(|session| {
            found = if later {
                session.run_to(|_, rows| rows.iter().any(|row| is_it(row)))
            } else {
                session.back_to_row(is_it)
            };
        });
        if found {
            self.announce_rows(before, None);
        } else {
            let side = if later { "after" } else { "before" };
            self.announcement = format!("Nothing happens to it {side} this moment").into();
        }
        if let Some(subject) = subject_of(&selection) {
            let at = Some(self.session.now());
            // Where the lanes are shown, they say why.
            self.on_lanes(LanesMsg::Choose(subject, at.filter(|_| found)));
        }
    }
}

/// Whether a row speaks of what is selected.
fn is_about(row: &Row, selection: &Selection) -> bool {
    display::row(row).selects.as_ref() == Some(selection)
}

/// The lane of what is selected, if it has one.
fn subject_of(selection: &Selection) -> Option<LaneSubject> {
    match selection {
        Selection::Node(node) => Some(LaneSubject::Node { node: node.clone() }),
        Selection::Pod(pod) => Some(LaneSubject::Pod { pod: pod.clone() }),
        Selection::Zone(_) | Selection::Workload(_) | Selection::Pods(_) => None,
    }
}
