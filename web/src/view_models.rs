//! The models of components: plain values, derived from the session when something has changed.

pub(crate) mod about;
pub(crate) mod about_release;
pub(crate) mod announcement;
pub(crate) mod board;
pub(crate) mod caption;
pub(crate) mod console;
pub(crate) mod display;
pub(crate) mod import_report;
pub(crate) mod incident;
pub(crate) mod inspector_model;
pub(crate) mod lanes;
pub(crate) mod late_eviction;
pub(crate) mod log;
pub(crate) mod names;
pub(crate) mod pane;
pub(crate) mod report;
pub(crate) mod runs;
pub(crate) mod search;
pub(crate) mod selection;
pub(crate) mod timeline;
pub(crate) mod warning_marks;
pub(crate) mod workloads;

use std::rc::Rc;

use taintlab_core::simulator::Availability;
use taintlab_core::time::{SECOND, Timestamp};

use self::board::BoardModel;
use self::inspector_model::InspectorModel;
use self::selection::Selection;
use self::timeline::TimelineModel;
use self::workloads::WorkloadsModel;
use crate::session::{MarkKind, Session};

/// Marks above which the timeline does not follow at each frame while time runs.
const MANY_MARKS: usize = 1_000;

/// The view models of a session, which follow it.
#[derive(Default)]
pub(crate) struct ViewModels {
    /// The board.
    pub(crate) board: BoardModel,
    /// The selection.
    pub(crate) inspector: Rc<InspectorModel>,
    /// The timeline.
    pub(crate) timeline: Rc<TimelineModel>,
    /// The time of the timeline, and whether it was left unchanged since.
    timeline_at: Timestamp,
    timeline_left: bool,
    /// The workloads, if their controllers run.
    pub(crate) workloads: Option<Rc<WorkloadsModel>>,
    /// The run that others are compared with.
    baseline: Vec<Availability>,
    /// Kinds of rows that are not marked on the timeline.
    pub(crate) hidden: Vec<MarkKind>,
    /// The number of times the inspector was made.
    #[cfg(test)]
    inspections: usize,
}

impl ViewModels {
    /// Follows a session in which time has passed; `true` if something on the board may have
    /// changed. Views that change with time alone do not follow at each frame while it is
    /// `playing`.
    pub(crate) fn follow(
        &mut self,
        session: &mut Session,
        selection: Option<&Selection>,
        playing: bool,
    ) -> bool {
        let changed = self.board.update(session);
        let now = session.now();
        let is_old = |shown, axis| is_old(now, shown, axis, playing);
        let few = !playing || session.marks().len() <= MANY_MARKS;
        if changed && few || self.timeline_left && is_old(self.timeline_at, self.timeline.end(now))
        {
            self.timeline = Rc::new(TimelineModel::new(session, &self.hidden));
            (self.timeline_at, self.timeline_left) = (now, false);
        } else {
            self.timeline_left |= changed;
        }
        let known = self.workloads.as_deref();
        // Where not all are shown, they are many.
        let few = !playing || known.is_none_or(|known| known.more == 0);
        if changed && few || known.is_some_and(|known| is_old(known.now, known.end)) {
            self.look_at_workloads(session);
        }
        if changed || self.inspector.as_of().is_some_and(|at| is_old(at, Timestamp::ZERO)) {
            self.inspect(session, selection);
        }
        changed
    }

    /// Follows a session that was changed by hand: not every change shows on the board. `true` if
    /// something on the board may have changed.
    pub(crate) fn follow_change(
        &mut self,
        session: &mut Session,
        selection: Option<&Selection>,
        playing: bool,
    ) -> bool {
        let changed = self.follow(session, selection, playing);
        if !changed {
            self.inspect(session, selection);
        }
        changed
    }

    /// Sets the kinds of rows that are not marked on the timeline.
    pub(crate) fn hide(&mut self, hidden: Vec<MarkKind>, session: &Session) {
        self.hidden = hidden;
        self.timeline = Rc::new(TimelineModel::new(session, &self.hidden));
    }

    /// Updates the inspector.
    pub(crate) fn inspect(&mut self, session: &Session, selection: Option<&Selection>) {
        #[cfg(test)]
        {
            self.inspections += 1;
        }
        let inspector = InspectorModel::new(session, &self.board, &self.baseline, selection);
        if *self.inspector != inspector {
            self.inspector = Rc::new(inspector);
        }
    }

    /// Makes this run the one with which later runs are compared.
    pub(crate) fn set_baseline(&mut self, session: &Session, selection: Option<&Selection>) {
        self.baseline = self.workloads.as_ref().map(|known| known.run()).unwrap_or_default();
        self.look_at_workloads(session);
        self.inspect(session, selection);
    }

    /// Forgets the run to compare with.
    pub(crate) fn forget_baseline(&mut self) {
        self.baseline.clear();
    }

    fn look_at_workloads(&mut self, session: &Session) {
        let workloads = WorkloadsModel::new(session, &self.baseline);
        if self.workloads.as_deref() != workloads.as_ref() {
            self.workloads = workloads.map(Rc::new);
        }
    }
}

/// Whether a view that changes with time alone is too old. While time runs, it may be a second old,
/// or a part of a long axis.
fn is_old(now: Timestamp, shown: Timestamp, axis: Timestamp, playing: bool) -> bool {
    let age = now.as_nanos().abs_diff(shown.as_nanos());
    if playing { age >= SECOND.max(axis.as_nanos() / 200) } else { age > 0 }
}

#[cfg(test)]
mod tests {
    use taintlab_core::api::{PodKey, Taint, TaintEffect};
    use taintlab_core::command::Command;
    use taintlab_core::scenario::Scenario;

    use super::*;

    /// An update includes a look ahead, which takes time in a large cluster.
    #[test]
    fn a_change_by_hand_is_inspected_once() {
        let scenario: Scenario = serde_json::from_value(serde_json::json!({
            "apiVersion": "taintlab/v1", "kind": "Scenario",
            "objects": {
                "nodes": [{ "metadata": { "name": "worker-1" } }],
                "pods": [{ "metadata": { "name": "p" }, "spec": { "nodeName": "worker-1" } }],
            }
        }))
        .unwrap();
        let mut session = Session::new(scenario).unwrap();
        let mut views = ViewModels::default();
        let selection = Some(Selection::Pod(PodKey::new("", "p")));
        views.follow(&mut session, selection.as_ref(), false);
        let taint = Taint::new("k", "", TaintEffect::NoExecute);
        for (command, on_board) in [
            (Command::Taint { node: "worker-1".into(), taint }, true),
            (Command::RestartTaintEvictionController, true),
        ] {
            let before = views.inspections;
            session.apply(vec![command]).unwrap();
            let changed = views.follow_change(&mut session, selection.as_ref(), false);
            assert_eq!((changed, views.inspections - before), (on_board, 1));
        }
        let before = views.inspections;
        assert!(!views.follow_change(&mut session, selection.as_ref(), false));
        assert_eq!(views.inspections - before, 1);
        assert!(!views.follow(&mut session, selection.as_ref(), false));
        assert_eq!(views.inspections - before, 1, "nothing has happened");
    }
}
