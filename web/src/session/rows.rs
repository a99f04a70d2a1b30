//! Rows of the log from events, and their traces on the board.

use std::rc::Rc;
use std::time::Duration;

use taintlab_core::api::{NodeName, PodKey};
use taintlab_core::command::{Command, CommandError};
use taintlab_core::event::{
    Event, EventKind, EventSubject, EventVisibility, ObjectReference, RecordedEvent, RequestResult,
    RequestVerb,
};
use taintlab_core::kubelet::NodeShutdownReport;
use taintlab_core::order::OrderedSet;
use taintlab_core::time::Timestamp;

use super::Session;

/// One row of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The time.
    pub(crate) at: Timestamp,
    /// The kind.
    pub(crate) kind: RowKind,
}

/// The kind of a row, with its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RowKind {
    /// An event of the simulation.
    Happened(EventKind),
    // Commands are long and few, and there may be a million rows.
    /// A command of the user.
    Edit(Box<Command>),
    /// A command of the scenario.
    Step(Box<Command>),
    /// A step was refused, as the scenario says it must be.
    Refused {
        /// The command.
        command: Box<Command>,
        /// The error.
        error: CommandError,
    },
    /// A step was carried out that should have been refused.
    NotRefused(Box<Command>),
    /// A command did not fit and was skipped.
    Skipped {
        /// The command.
        command: Box<Command>,
        /// The reason why it did not fit.
        error: CommandError,
    },
}

/// A mark on the timeline, also ahead of the clock when it was moved back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The time.
    pub(crate) at: Timestamp,
    /// The row that it stands for.
    row: usize,
    /// The kind.
    pub(crate) kind: MarkKind,
}

/// The subject of a row, for marks on the timeline and for stepping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MarkKind {
    /// Anything else.
    Other,
    /// A condition or the taints of a node changed, or its kubelet is unreachable, or connected.
    Node,
    /// The state or the rate of a zone changed.
    Zone,
    /// A pod was evicted.
    Eviction,
    /// A change by the user or the scenario.
    Change,
}

impl MarkKind {
    /// All kinds, in the order of lists.
    pub(crate) const ALL: [Self; 5] =
        [Self::Change, Self::Eviction, Self::Node, Self::Zone, Self::Other];

    /// The name of its marks.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Change => "Changes",
            Self::Eviction => "Evictions",
            Self::Node => "Nodes",
            Self::Zone => "Zones",
            Self::Other => "All else",
        }
    }

    /// Whether it has marks on the timeline.
    pub(crate) const fn has_tick(self) -> bool {
        !matches!(self, Self::Other)
    }
}

impl RowKind {
    /// The subject of the row.
    pub(crate) fn mark(&self) -> MarkKind {
        match self {
            Self::Edit(_) | Self::Step(_) | Self::Refused { .. } | Self::NotRefused(_) => {
                MarkKind::Change
            }
            Self::Happened(what) if what.is_eviction() => MarkKind::Eviction,
            Self::Happened(
                EventKind::NodeConditionChanged { .. }
                | EventKind::NodeTaintsChanged { .. }
                | EventKind::HeartbeatLost { .. }
                | EventKind::NodeShutdown {
                    report: NodeShutdownReport::Started { .. } | NodeShutdownReport::PoweredOff,
                    ..
                }
                | EventKind::HeartbeatResumed { .. },
            ) => MarkKind::Node,
            Self::Happened(what) if is_about_zones(what) => MarkKind::Zone,
            Self::Happened(_) | Self::Skipped { .. } => MarkKind::Other,
        }
    }
}

/// The rows at which a step stops, of the kinds that are not hidden: what somebody sees who watches
/// the cluster.
pub(crate) fn stops<'a>(
    rows: &'a [Rc<Row>],
    hidden: &'a [MarkKind],
) -> impl DoubleEndedIterator<Item = &'a Rc<Row>> {
    let stops = move |(index, row): &(usize, &Rc<Row>)| {
        let mark = row.kind.mark();
        let before = index.checked_sub(1).and_then(|before| rows.get(before));
        let patched = before.is_some_and(|before| is_patch(&before.kind));
        !hidden.contains(&mark) && (mark.has_tick() || is_seen(&row.kind, patched))
    };
    rows.iter().enumerate().filter(stops).map(|(_, row)| row)
}

/// Whether a controller wrote the status of a pod. That of the pods of a node that is not ready is
/// written one pod after the other, with an Event for each.
const fn is_patch(kind: &RowKind) -> bool {
    matches!(kind, RowKind::Happened(EventKind::Request { verb: RequestVerb::PatchStatus, .. }))
}

fn is_seen(kind: &RowKind, patched: bool) -> bool {
    let RowKind::Happened(what) = kind else { return true };
    let comes = matches!(
        what,
        EventKind::PodAdded { .. } | EventKind::NodeAdded { .. } | EventKind::NodeDeleted { .. }
    );
    let reported = matches!(what, EventKind::PodUpdated { .. }) && !patched;
    let marked = matches!(
        what,
        EventKind::EventRecorded(RecordedEvent {
            involved_object: ObjectReference::Pod { .. },
            reason: "NodeNotReady",
            ..
        })
    );
    comes || reported || what.visibility() == EventVisibility::Notable && !marked
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

/// Whether an event changes nothing that the board shows: output of a drain is for the console, an
/// event of a workload or a budget for the log.
const fn is_only_text(what: &EventKind) -> bool {
    matches!(
        what,
        EventKind::EventRecorded(_)
            | EventKind::DrainStarted { .. }
            | EventKind::DrainPrinted { .. }
            | EventKind::DrainEnded { .. }
    )
}

/// A pod that is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gone {
    /// The pod.
    pub(crate) pod: PodKey,
    /// The node it was on; empty if it had none.
    pub(crate) node: NodeName,
    /// The time when the object was removed.
    pub(crate) at: Timestamp,
    /// The time when a controller's `DELETE` was accepted, if that is why the pod is gone.
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

/// Facts about a pod that are told when it is gone: its node, its eviction, its controller.
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
    /// Adds a row, unless the clock has passed it before: then it is there already.
    pub(super) fn push_row(&mut self, at: Timestamp, kind: RowKind) {
        if self.past == self.rows.len() {
            let mark = kind.mark();
            if mark.has_tick() && !self.only_forth {
                self.marks.push(Mark { at, row: self.past, kind: mark });
            }
            Rc::make_mut(&mut self.rows).push(Rc::new(Row { at, kind }));
        }
        self.past += 1;
    }

    /// Forgets the known future, as something else will follow.
    pub(super) fn forget_what_follows(&mut self) {
        self.forget_rows_from(self.past);
        if self.recorder.events() > self.events {
            self.recorder.go_back(&self.simulator, self.events);
        }
        self.forecast = None;
    }

    /// Forgets rows that the clock has not passed, with their marks.
    pub(super) fn forget_rows_from(&mut self, row: usize) {
        if row < self.rows.len() {
            Rc::make_mut(&mut self.rows).truncate(row);
        }
        self.marks.retain(|mark| mark.row < row);
    }

    /// The events of the simulation until now.
    pub(crate) fn events(&self) -> Vec<Event> {
        Self::events_of(self.rows())
    }

    /// The events from one moment to another, past and future, as far as they are known.
    pub(crate) fn events_between(&self, from: Timestamp, to: Timestamp) -> Vec<Event> {
        let within = |rows: &[Rc<Row>], from: Timestamp, to: Timestamp| {
            let first = rows.partition_point(|row| row.at < from);
            let last = rows.partition_point(|row| row.at <= to);
            Self::events_of(rows.get(first..last).unwrap_or_default())
        };
        // A peek may have gone further than the record.
        let reached = self.reached();
        let mut events = within(&self.rows, from, to.min(reached));
        if let Some(ahead) = self.forecast.as_ref().filter(|_| to > reached) {
            let later = reached.saturating_add(Duration::from_nanos(1));
            events.extend(within(&ahead.rows, from.max(later), to));
        }
        events
    }

    fn events_of(rows: &[Rc<Row>]) -> Vec<Event> {
        let events = rows.iter().filter_map(|row| match &row.kind {
            RowKind::Happened(what) => Some(Event { at: row.at, what: what.clone() }),
            _ => None,
        });
        events.collect()
    }

    /// Takes new events from the simulation.
    pub(super) fn take_events(&mut self) {
        let events = self.simulator.drain_events();
        // Events that the clock has passed before are recorded already.
        let known = self.recorder.events().saturating_sub(self.events);
        let new = events.get(known..).unwrap_or_default();
        if !new.is_empty() {
            self.recorder.record(&self.simulator, new);
        }
        self.events += events.len();
        for event in events {
            if !self.only_forth {
                self.note(event.at, &event.what);
            }
            self.push_row(event.at, RowKind::Happened(event.what));
        }
    }

    /// Notes the home of an event's pod, and the parts of the board to draw anew.
    fn note(&mut self, at: Timestamp, what: &EventKind) {
        if let EventKind::PodAdded { pod, .. } = what {
            self.find_home(pod, None);
        } else if let EventKind::PodUpdated { pod, .. } = what {
            let evicted = self.homes.get(pod).and_then(|home| home.evicted);
            self.find_home(pod, evicted);
        } else if let EventKind::PodDeleted { pod, .. } = what {
            let home = self.homes.remove(pod).unwrap_or_else(|| Home::on(""));
            let Home { node, evicted, bare } = home;
            let gone = Gone { pod: pod.clone(), node, at, evicted, bare };
            Rc::make_mut(&mut self.gone).push(Rc::new(gone));
        } else if let EventKind::Request { pod, verb, result: RequestResult::Ok, .. } = what
            && verb.removes_pod()
            && let Some(home) = self.homes.get_mut(pod)
        {
            home.evicted = Some(at);
        }
        let EventSubject { pod, node, .. } = what.subject();
        if let Some(pod) = pod {
            self.touched.pods.insert(pod.clone());
        } else if let Some(node) = node {
            // Whether a kubelet can confirm a deletion is no event of the pod.
            let pods = self.simulator.cluster().pods_of(node.as_str());
            let ending = pods.filter(|(_, pod)| pod.is_terminating());
            self.touched.pods.extend(ending.map(|(pod, _)| pod.clone()));
            self.touched.nodes.insert(node.clone());
        } else if is_about_zones(what) {
            self.touched.zones = true;
        } else if !is_only_text(what) {
            self.touched.all = true;
        }
    }

    /// Finds the homes of the changed pods, and the evictions of all, after the clock was moved
    /// back.
    pub(super) fn find_homes(&mut self, changed: &OrderedSet<PodKey>) {
        for pod in changed {
            self.homes.remove(pod);
            self.find_home(pod, None);
        }
        for home in self.homes.values_mut() {
            home.evicted = None;
        }
        for row in self.rows.iter().take(self.past) {
            let (pod, evicted) = if let RowKind::Happened(EventKind::Request {
                pod,
                verb,
                result: RequestResult::Ok,
                ..
            }) = &row.kind
                && verb.removes_pod()
            {
                (pod, Some(row.at))
            } else if let RowKind::Happened(EventKind::PodAdded { pod, .. }) = &row.kind {
                // Another pod of the same name.
                (pod, None)
            } else {
                continue;
            };
            if let Some(home) = self.homes.get_mut(pod) {
                home.evicted = evicted;
            }
        }
    }

    fn find_home(&mut self, pod: &PodKey, evicted: Option<Timestamp>) {
        if let Some(object) = self.simulator.cluster().get_pod(pod) {
            let node = object.spec.node_name.as_str().into();
            let bare = object.metadata.controller().is_none();
            self.homes.insert(pod.clone(), Home { node, evicted, bare });
        }
    }
}
