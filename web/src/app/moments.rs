//! Moments that the clock goes to: of the selected object, of a kind, of a condition.

use std::rc::Rc;

use taintlab_core::condition::Condition;
use taintlab_core::lanes::LaneSubject;
use taintlab_core::simulator::Simulator;
use yew::prelude::*;

use super::App;
use crate::messages::{Msg, Notice};
use crate::session::{MarkKind, Row, Session};
use crate::text::at;
use crate::view_models::display;
use crate::view_models::lanes::LanesMsg;
use crate::view_models::runs::{BranchMsg, Breakpoint, CompareWith, Compared, Until};
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
        | Msg::SetDensity(_)
        | Msg::NextDensity
        | Msg::Find(_)
        | Msg::Focus(_)
        | Msg::Notice(_)
        | Msg::Dismiss(_)
        | Msg::Dropping(_)
        | Msg::Download(..)
        | Msg::Save
        | Msg::Written(_)
        | Msg::Leave
        | Msg::Return
        | Msg::Address(..)
        | Msg::LinkRead(_)
        | Msg::Run(_)
        | Msg::ReportAnswer(..)
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
        | Msg::TakeLink
        | Msg::MakeLink(..)
        | Msg::MakeEmbed(_)
        | Msg::DownloadShared(_)
        | Msg::SetBookmarks(_)
        | Msg::Tell(_)
        | Msg::NextBookmark
        | Msg::PreviousBookmark
        | Msg::Tour(_)
        | Msg::Until(..)
        | Msg::Branch(_)
        | Msg::Compare(..)
        | Msg::Report(_)
        | Msg::Sessions => true,
    }
}

impl App {
    /// Runs until a condition, back to it, or stops there.
    pub(super) fn until(&mut self, until: Until, failed: &Callback<String>) {
        let line = match &until {
            Until::Run(line) | Until::Back(line) | Until::Stop(line) => line,
            Until::Pass(index) => {
                if *index < self.breakpoints.len() {
                    self.breakpoints.remove(*index);
                }
                return;
            }
        };
        let condition = match Condition::parse(line, self.session.simulator()) {
            Ok(condition) => condition,
            Err(error) => return failed.emit(error),
        };
        self.play(false);
        let mut found = false;
        match until {
            Until::Stop(_) | Until::Pass(_) => {
                let holds = condition.holds(self.session.simulator());
                self.announcement = format!("Time stops when {condition}").into();
                self.breakpoints.push(Breakpoint { condition, holds });
                return;
            }
            Until::Run(_) => self.change(|session| found = session.run_until(&condition)),
            Until::Back(_) => self.change(|session| found = session.back_to(&condition)),
        }
        if found {
            self.dialog = None;
            let now = self.session.now();
            self.notice(Notice::info(format!("{}: {condition}", at(now))));
        } else {
            let forth = matches!(until, Until::Run(_));
            let side = if forth { "in the next 24 hours" } else { "before this moment" };
            failed.emit(format!("`{condition}` does not come to be so {side}"));
        }
    }

    /// Stops where a breakpoint comes to be so; `true` if one does.
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

    pub(super) fn branch(&mut self, msg: BranchMsg) {
        self.play(false);
        match msg {
            BranchMsg::Fork => {
                self.change(Session::fork);
                self.announcement = format!("On {} now", self.session.branch_name()).into();
            }
            BranchMsg::Switch(id) => {
                self.change(|session| session.switch_branch(id));
                self.announcement = format!("On {} now", self.session.branch_name()).into();
            }
            BranchMsg::Rename(id, name) => {
                self.change(|session| session.rename_branch(id, &name));
            }
            BranchMsg::Delete(id) => self.change(|session| session.delete_branch(id)),
        }
    }

    pub(super) fn compare(&mut self, with: &CompareWith, failed: &Callback<String>) {
        self.play(false);
        match Compared::new(&self.session, with) {
            Ok(compared) => {
                self.announcement = compared.comparison.sentence().into();
                self.compared = Some(Rc::new(compared));
            }
            Err(error) => failed.emit(error),
        }
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
