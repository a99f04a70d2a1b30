//! Events become rows of the log, and leave traces on the board.

use std::rc::Rc;

use taintlab_core::api::{NodeName, PodKey};
use taintlab_core::command::{Command, CommandError};
use taintlab_core::event::{Event, EventKind, ObjectReference, RequestResult, RequestVerb};
use taintlab_core::kubelet::EVICTED;
use taintlab_core::time::Timestamp;

use super::Session;

/// One row of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// When.
    pub(crate) at: Timestamp,
    /// What.
    pub(crate) kind: RowKind,
}

/// What a row of the log tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RowKind {
    /// Something happened in the simulation.
    Happened(EventKind),
    /// The user did something.
    Edit(Command),
    /// The scenario did something.
    Step(Command),
    /// A step was refused, as the scenario says it must be.
    Refused {
        /// Its command.
        command: Command,
        /// The error.
        error: CommandError,
    },
    /// A step was carried out that should have been refused.
    NotRefused(Command),
    /// A command did not fit and was passed over.
    Skipped {
        /// The command.
        command: Command,
        /// Why it did not fit.
        error: CommandError,
    },
}

/// A mark on the timeline, also ahead of the clock when it was moved back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// When.
    pub(crate) at: Timestamp,
    /// The row that it stands for.
    row: usize,
    /// What.
    pub(crate) kind: MarkKind,
}

/// What a mark stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MarkKind {
    /// A pod was evicted.
    Eviction,
    /// The state or the rate of a zone changed.
    Zone,
    /// The user or the scenario did something.
    Change,
}

/// Whether the state or the rate of a zone changed, or of all of them.
pub(crate) const fn is_about_zones(what: &EventKind) -> bool {
    matches!(
        what,
        EventKind::ZoneStateChanged { .. }
            | EventKind::ZoneRateChanged { .. }
            | EventKind::MasterDisruptionEntered
            | EventKind::MasterDisruptionLeft
    )
}

/// A pod that is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gone {
    /// Which pod.
    pub(crate) pod: PodKey,
    /// Where it was; empty if it had no node.
    pub(crate) node: NodeName,
    /// When the object was removed.
    pub(crate) at: Timestamp,
    /// When a controller's `DELETE` was accepted, if that is why it is gone.
    pub(crate) evicted: Option<Timestamp>,
    /// Whether it had no controller that would make another.
    pub(crate) bare: bool,
}

impl Gone {
    /// Whether it was evicted and nobody makes another.
    pub(crate) fn lost(&self) -> bool {
        self.bare && self.evicted.is_some()
    }
}

/// Where a pod is and what awaits it, to be told when it is gone.
#[derive(Clone, Debug)]
pub(super) struct Home {
    node: NodeName,
    evicted: Option<Timestamp>,
    bare: bool,
}

impl Home {
    pub(super) fn on(node: &str) -> Self {
        Self { node: node.into(), evicted: None, bare: false }
    }
}

impl Session {
    pub(super) fn push_row(&mut self, at: Timestamp, kind: RowKind) {
        self.mark(at, &kind);
        Rc::make_mut(&mut self.rows).push(Rc::new(Row { at, kind }));
    }

    /// Rows that the clock has passed before are marked already.
    fn mark(&mut self, at: Timestamp, kind: &RowKind) {
        let row = self.rows.len();
        if row < self.marked_rows {
            return;
        }
        self.marked_rows = row + 1;
        let kind = match kind {
            RowKind::Edit(_)
            | RowKind::Step(_)
            | RowKind::Refused { .. }
            | RowKind::NotRefused(_) => MarkKind::Change,
            RowKind::Happened(EventKind::Request {
                verb: RequestVerb::Delete,
                result: RequestResult::Ok,
                ..
            }) => MarkKind::Eviction,
            RowKind::Happened(EventKind::EventRecorded(event)) if event.reason == EVICTED => {
                MarkKind::Eviction
            }
            RowKind::Happened(what) if is_about_zones(what) => MarkKind::Zone,
            RowKind::Happened(_) | RowKind::Skipped { .. } => return,
        };
        self.marks.push(Mark { at, row, kind });
    }

    /// Forgets the marks of rows from this one on: they will be others.
    pub(super) fn unmark_from(&mut self, row: usize) {
        self.marks.retain(|mark| mark.row < row);
        self.marked_rows = row;
    }

    /// What happened in the simulation until now.
    pub(crate) fn events(&self) -> Vec<Event> {
        let events = self.rows.iter().filter_map(|row| match &row.kind {
            RowKind::Happened(what) => Some(Event { at: row.at, what: what.clone() }),
            _ => None,
        });
        events.collect()
    }

    /// Takes what happened from the simulation.
    pub(super) fn take_events(&mut self) {
        while let Some(event) = self.simulator.poll_event() {
            self.note(event.at, &event.what);
            self.push_row(event.at, RowKind::Happened(event.what));
        }
    }

    fn note(&mut self, at: Timestamp, what: &EventKind) {
        match what {
            EventKind::EventRecorded(event) => match &event.involved_object {
                ObjectReference::Pod { pod, .. } => self.touch_pod(pod),
                ObjectReference::Node { node } => self.touch_node(node),
                ObjectReference::Budget { .. } | ObjectReference::Workload { .. } => {}
            },
            EventKind::NodeAdded { node }
            | EventKind::NodeUpdated { node }
            | EventKind::NodeDeleted { node }
            | EventKind::NodeEvaluated { node, .. } => self.touch_node(node),
            EventKind::PodAdded { pod, .. } => {
                self.find_home(pod, None);
                self.touch_pod(pod);
            }
            EventKind::PodUpdated { pod, .. } => {
                let evicted = self.homes.get(pod).and_then(|home| home.evicted);
                self.find_home(pod, evicted);
                self.touch_pod(pod);
            }
            EventKind::PodDeleted { pod, .. } => {
                let home = self.homes.remove(pod).unwrap_or_else(|| Home::on(""));
                let Home { node, evicted, bare } = home;
                let gone = Gone { pod: pod.clone(), node, at, evicted, bare };
                Rc::make_mut(&mut self.gone).push(Rc::new(gone));
                self.touch_pod(pod);
            }
            EventKind::Request { pod, verb, result, .. } => {
                let accepted = *verb == RequestVerb::Delete && *result == RequestResult::Ok;
                if accepted && let Some(home) = self.homes.get_mut(pod) {
                    home.evicted = Some(at);
                }
                self.touch_pod(pod);
            }
            EventKind::Decided(decision) => self.touch_pod(&decision.pod),
            EventKind::TaintEvictionControllerRestarted { .. } => self.touched.all = true,
            // What a drain prints is for the console.
            EventKind::DrainStarted { .. }
            | EventKind::DrainPrinted { .. }
            | EventKind::DrainEnded { .. } => {}
            other => match (other.pod(), other.node()) {
                (Some(pod), _) => self.touch_pod(pod),
                (None, Some(node)) => self.touch_node(node),
                (None, None) => self.touched.all = true,
            },
        }
    }

    fn find_home(&mut self, pod: &PodKey, evicted: Option<Timestamp>) {
        if let Some(object) = self.simulator.cluster().get_pod(pod) {
            let node = object.spec.node_name.as_str().into();
            let bare = object.metadata.controller().is_none();
            self.homes.insert(pod.clone(), Home { node, evicted, bare });
        }
    }

    fn touch_pod(&mut self, pod: &PodKey) {
        self.touched.pods.insert(pod.clone());
    }

    fn touch_node(&mut self, node: &NodeName) {
        self.touched.nodes.insert(node.clone());
    }
}
