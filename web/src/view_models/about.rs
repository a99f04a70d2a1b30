//! The rows of the log that are about the selection: for the filter of the log, and for stepping.

use taintlab_core::api::{PodKey, WorkloadKey};
use taintlab_core::event::EventKind;
use taintlab_core::order::OrderedSet;

use super::board::BoardModel;
use super::display;
use super::selection::{PodGroup, Selection};
use crate::session::{MarkKind, Row, RowKind, Session};

/// The subject of rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct About {
    selection: Option<Selection>,
    /// The pods of the selected group.
    pods: OrderedSet<PodKey>,
    /// The workloads of the selected one: for a Deployment, its ReplicaSets.
    workloads: OrderedSet<WorkloadKey>,
}

impl About {
    /// The selection as it is now.
    pub(crate) fn of(session: &Session, board: &BoardModel, selection: Option<&Selection>) -> Self {
        let mut about = Self { selection: selection.cloned(), ..Self::default() };
        if let Some(Selection::Pods(group)) = selection {
            about.pods = pods_of(session, board, *group);
        }
        about.find_workloads(session);
        about
    }

    fn find_workloads(&mut self, session: &Session) {
        if let Some(Selection::Workload(key)) = &self.selection {
            let owned = session.simulator().cluster().workloads_owned_by(key);
            self.workloads.extend(owned.cloned());
        }
    }

    /// Follows new rows: a Deployment may have another ReplicaSet.
    pub(crate) fn follow(&mut self, session: &Session, rows: &[std::rc::Rc<Row>]) {
        let is_new = |row: &std::rc::Rc<Row>| {
            matches!(row.kind, RowKind::Happened(EventKind::WorkloadAdded { .. }))
        };
        if rows.iter().any(is_new) {
            self.find_workloads(session);
        }
    }

    /// Whether a row is about the selection.
    pub(crate) fn holds(&self, row: &Row) -> bool {
        self.selects(display::row(row).selects.as_ref())
    }

    /// Whether a row that leads to this object is about the selection.
    pub(crate) fn selects(&self, selects: Option<&Selection>) -> bool {
        match selects {
            None => false,
            Some(Selection::Pod(key)) if self.pods.contains(key) => true,
            Some(Selection::Workload(key)) if self.workloads.contains(key) => true,
            selects => selects == self.selection.as_ref(),
        }
    }

    /// The reason why no row can ever be about the selection, if these kinds of rows are hidden.
    pub(crate) fn never(&self, session: &Session, hidden: &[MarkKind]) -> Option<&'static str> {
        match &self.selection {
            Some(Selection::Pods(_)) if self.pods.is_empty() => {
                Some("There are no such pods now, so nothing can happen to them")
            }
            Some(Selection::Zone(_)) if !session.simulator().config().node_lifecycle => {
                Some("Nothing can happen to a zone: the node lifecycle controller does not run")
            }
            Some(Selection::Zone(_))
                if [MarkKind::Zone, MarkKind::Change].iter().all(|it| hidden.contains(it)) =>
            {
                Some("Nothing of the kinds that are shown can happen to a zone")
            }
            _ => None,
        }
    }
}

fn pods_of(session: &Session, board: &BoardModel, group: PodGroup) -> OrderedSet<PodKey> {
    let there = board.pods().values().filter(|pod| group.holds(pod.state));
    let gone = session.gone().iter().filter(|gone| group.holds_gone(gone));
    there.map(|pod| pod.key.clone()).chain(gone.map(|gone| gone.pod.clone())).collect()
}
