//! Changes of the view since the last update: only differences are told.

use std::rc::Rc;

use taintlab_core::order::{OrderedMap, OrderedSet};
use taintlab_core::report::{ClusterIdentity, ReportOptions};
use taintlab_core::scenario::Scenario;
use taintlab_core::time::Timestamp;
use taintlab_core::warnings::Warning;

use super::{Host, Tell};
use crate::protocol::{
    BranchView, Changes, ClockView, Reply, Selected, StartText, Update, WarningView, WorkView,
};
use crate::saved::{SavedWork, start_pieces};
use crate::session::{MAIN, Timeline};
use crate::view_models::board::Board;
use crate::view_models::board::density::Detail;
use crate::view_models::board::patch::BoardPatch;
use crate::view_models::caption::caption;
use crate::view_models::console::Entry;
use crate::view_models::display;
use crate::view_models::inspector_model::InspectorModel;
use crate::view_models::lanes::LanesView;
use crate::view_models::log::LogView;
use crate::view_models::runs::Compared;
use crate::view_models::selection::Selection;
use crate::view_models::timeline::TimelineModel;
use crate::view_models::warning_marks::{WarningMarks, counts_about, is_about};
use crate::view_models::workloads::WorkloadsModel;

/// Subjects that a warning names at most; the mark is on all of them.
const MOST_SUBJECTS: usize = 6;

/// Changed nodes above which the changes are told in an update of their own.
const MANY_NODES: usize = 500;

/// The view as it was told last.
#[derive(Default)]
pub(super) struct Told {
    /// Whether there is a session; without one, nothing is told.
    begun: bool,
    clock: ClockView,
    work: Option<Rc<WorkView>>,
    selected: Option<Selected>,
    board: Option<(Detail, Rc<Board>)>,
    marked: Option<(Detail, Rc<WarningMarks>)>,
    warnings: Option<(Option<Selection>, Rc<Vec<Warning>>)>,
    /// The numbers of warnings about the selection.
    about: Option<About>,
    inspector: Option<Rc<InspectorModel>>,
    timeline: Option<(Rc<TimelineModel>, Timestamp)>,
    workloads: Option<Option<Rc<WorkloadsModel>>>,
    pub(super) log: Option<Rc<LogView>>,
    lanes: Option<Rc<LanesView>>,
    console: OrderedMap<usize, Rc<Entry>>,
    forgotten: usize,
    pub(super) compared: Option<Rc<Compared>>,
    kept: Option<(Timeline, bool)>,
    start: Option<Rc<Scenario>>,
    /// The initial state of the first branch, with the identity of its cluster and its pools.
    cluster: Option<(Rc<Scenario>, ToldCluster)>,
}

/// The identity of a cluster, and the labels of its pools with the number of pools.
type ToldCluster = (Rc<ClusterIdentity>, Vec<(String, usize)>);

/// The labels by which clouds put nodes in pools.
const POOL_LABELS: [&str; 4] = [
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "karpenter.sh/nodepool",
    "kubernetes.azure.com/agentpool",
];

/// The labels that put nodes in pools, with the number of pools of each.
fn pools_of(start: &Scenario) -> Vec<(String, usize)> {
    let groups = start.objects.node_groups.iter().map(|group| &group.labels);
    let nodes = start.objects.nodes.iter().map(|node| &*node.metadata.labels);
    let labels: Vec<_> = nodes.chain(groups).collect();
    let pools = POOL_LABELS.map(|label| {
        let values =
            labels.iter().filter_map(|labels| labels.get(label)).collect::<OrderedSet<_>>();
        (label.to_owned(), values.len())
    });
    pools.into_iter().filter(|(_, number)| *number > 0).collect()
}

/// The selection, the warnings at that time, and the numbers of those about it, by severity.
type About = (Option<Selection>, Rc<Vec<Warning>>, [usize; 3]);

fn same<T>(old: Option<&Rc<T>>, new: &Rc<T>) -> bool {
    old.is_some_and(|old| Rc::ptr_eq(old, new))
}

impl Host {
    /// Tells the reply to a request, and the changes of the view.
    pub(super) fn tell(&mut self, done: Option<(u32, Reply)>, tell: Tell<'_>) {
        let has_board = self.told.board.is_some();
        let changes = self.changes();
        let mut update = Update { done, effects: std::mem::take(&mut self.effects), changes };
        let board = update.changes.board.as_ref().filter(|_| has_board);
        if board.is_some_and(|(_, patch)| patch.node_count() > MANY_NODES) {
            // The page draws them first, and closes a dialog after that: each takes it a frame.
            let changes = std::mem::take(&mut update.changes);
            tell(Update { changes, ..Update::default() });
        }
        tell(update);
    }

    /// Makes the next update tell the selection, even if it is the same: the page may know another.
    pub(super) fn send_selection(&mut self) {
        self.told.selected = None;
    }

    /// Starts to tell the page, now that there is a session.
    pub(super) fn begin_telling(&mut self) {
        self.told.begun = true;
    }

    /// Whether there is a session to tell of.
    pub(super) fn has_begun_telling(&self) -> bool {
        self.told.begun
    }

    fn changes(&mut self) -> Changes {
        if !self.told.begun {
            return Changes::default();
        }
        let detail = Detail::of(self.views.board.board(), self.density);
        let (start, long_start) = self.start_change();
        Changes {
            clock: self.clock_change(),
            work: self.work_change(),
            selected: self.selected_change(),
            board: self.board_change(detail),
            marked: self.marked_change(detail),
            warnings: self.warnings_change(),
            inspector: self.inspector_change(),
            timeline: self.timeline_change(),
            workloads: self.workloads_change(),
            log: self.log_change(),
            lanes: self.lanes_change(),
            console: self.console_change(),
            compared: self.compared_change(),
            kept: self.kept_change(),
            start,
            long_start,
        }
    }

    fn clock_change(&mut self) -> Option<ClockView> {
        let session = &self.session;
        let now = session.now();
        let next = session.next();
        let wall_clock = session.simulator().wall_clock(now).truncated_to_seconds();
        let clock = ClockView {
            now,
            home: session.home(),
            reached: session.reached(),
            peeks: session.is_peeking(),
            wall_clock: wall_clock.to_string(),
            next: next.map(|next| (next.at, display::next(&next))),
            rest: self.rest(),
            caption: caption(session),
        };
        (self.told.clock != clock).then(|| {
            self.told.clock = clock.clone();
            clock
        })
    }

    /// The identity of the cluster as it was at first, in the form of reports; and the labels by
    /// which its nodes are in pools, with the number of pools.
    fn cluster(&mut self) -> ToldCluster {
        let timeline = self.session.timeline();
        let main = timeline.branches.iter().find(|it| it.id == MAIN && it.id != timeline.branch);
        let start = main.map_or(&timeline.start, |main| &main.start);
        if let Some((known, cluster)) = &self.told.cluster
            && Rc::ptr_eq(known, start)
        {
            return cluster.clone();
        }
        let identity = ClusterIdentity::of(start, &ReportOptions::default());
        let cluster = (Rc::new(identity), pools_of(start));
        self.told.cluster = Some((start.clone(), cluster.clone()));
        cluster
    }

    fn work_change(&mut self) -> Option<Rc<WorkView>> {
        let (cluster, pools) = self.cluster();
        let timeline = self.session.timeline();
        let config = self.session.simulator().config();
        let branches = timeline.branches.iter().map(|branch| {
            let here = branch.id == timeline.branch;
            BranchView {
                id: branch.id,
                name: branch.name.clone(),
                parent: branch.parent,
                forked_at: branch.forked_at,
                edits: if here { timeline.log.len() } else { branch.log.len() },
                reached: branch.reached,
            }
        });
        let work = WorkView {
            start: self.session.outline(),
            title: timeline.start.metadata.title.clone(),
            cluster,
            pools,
            release: config.release,
            node_lifecycle: config.node_lifecycle,
            flags: config.controller_manager_flags.clone(),
            health_pass: config.health_pass,
            kubelets: config.kubelets,
            descheduler: config.descheduler.clone(),
            autoscaler: config.autoscaler.as_ref().map(|it| {
                let groups = it.node_groups.iter();
                groups.map(|group| (group.name.clone(), group.max_size)).collect()
            }),
            options: self.session.simulator().validation_options(),
            can_undo: self.session.can_undo(),
            can_redo: self.session.can_redo(),
            branch: timeline.branch,
            branches: branches.collect(),
            breakpoints: self.breakpoints.iter().map(|it| it.condition.to_string()).collect(),
            story: self.story.filter(|told| *told < timeline.start.bookmarks.len()),
            hidden: self.views.hidden.clone(),
            edits: timeline.log.len(),
        };
        if self.told.work.as_deref() == Some(&work) {
            return None;
        }
        self.told.work = Some(Rc::new(work));
        self.told.work.clone()
    }

    fn selected_change(&mut self) -> Option<Selected> {
        let selection = self.selection.clone();
        let known = self.told.about.as_ref().filter(|(about, warnings, _)| {
            *about == selection && Rc::ptr_eq(warnings, &self.warnings)
        });
        let warnings = match (known, &selection) {
            (Some((.., counts)), _) => *counts,
            (None, Some(about)) => counts_about(&self.warnings, about),
            (None, None) => [0; 3],
        };
        self.told.about = Some((selection.clone(), self.warnings.clone(), warnings));
        let at = match &selection {
            Some(Selection::Node(name)) => Some(name.clone()),
            Some(Selection::Pod(key)) => {
                self.views.board.pod(key).map(|pod| pod.node.as_str().into())
            }
            _ => None,
        };
        let selected = Selected { selection, at, warnings };
        (self.told.selected.as_ref() != Some(&selected)).then(|| {
            self.told.selected = Some(selected.clone());
            selected
        })
    }

    fn board_change(&mut self, detail: Detail) -> Option<(Detail, BoardPatch)> {
        let board = self.views.board.board();
        let known = self.told.board.as_ref().filter(|(known, _)| *known == detail);
        if same(known.map(|(_, board)| board), board) {
            return None;
        }
        let patch = BoardPatch::new(known.map(|(_, board)| &**board), board, detail);
        self.told.board = Some((detail, board.clone()));
        Some((detail, patch))
    }

    fn marked_change(&mut self, detail: Detail) -> Option<Rc<WarningMarks>> {
        let known = self.told.marked.as_ref().filter(|(known, _)| *known == detail);
        if same(known.map(|(_, marked)| marked), &self.marked) {
            return None;
        }
        self.told.marked = Some((detail, self.marked.clone()));
        let mut marked = WarningMarks { counts: self.marked.counts, ..WarningMarks::default() };
        if detail <= Detail::Compact {
            marked.pods.clone_from(&self.marked.pods);
        }
        if detail <= Detail::Rows {
            marked.nodes.clone_from(&self.marked.nodes);
        }
        Some(Rc::new(marked))
    }

    fn warnings_change(&mut self) -> Option<Rc<Vec<WarningView>>> {
        let Some(about) = &self.looks_at_warnings else {
            self.told.warnings = None;
            return None;
        };
        let known = self.told.warnings.as_ref().filter(|(known, _)| known == about);
        if same(known.map(|(_, warnings)| warnings), &self.warnings) {
            return None;
        }
        self.told.warnings = Some((about.clone(), self.warnings.clone()));
        let shown =
            self.warnings.iter().filter(|one| about.as_ref().is_none_or(|it| is_about(one, it)));
        let views = shown.map(|one| {
            let subjects = one.subjects.iter().take(MOST_SUBJECTS).cloned().collect();
            let more = one.subjects.len().saturating_sub(MOST_SUBJECTS);
            let warning = Warning {
                severity: one.severity,
                code: one.code,
                subjects,
                field: one.field.clone(),
                message: one.message.clone(),
                explanation: one.explanation.clone(),
                fix: one.fix.clone(),
            };
            WarningView { warning, more }
        });
        Some(Rc::new(views.collect()))
    }

    fn inspector_change(&mut self) -> Option<Rc<InspectorModel>> {
        let inspector = &self.views.inspector;
        if same(self.told.inspector.as_ref(), inspector) {
            return None;
        }
        self.told.inspector = Some(inspector.clone());
        Some(inspector.clone())
    }

    fn timeline_change(&mut self) -> Option<Rc<crate::view_models::timeline::TimelineView>> {
        let reached = self.session.reached();
        let model = &self.views.timeline;
        let end = model.end(reached);
        if let Some((known, told)) = &self.told.timeline
            && Rc::ptr_eq(known, model)
            && (*told == end
                || self.playing && end.as_nanos() - told.as_nanos() < end.as_nanos() / 200)
        {
            return None;
        }
        self.told.timeline = Some((model.clone(), end));
        Some(Rc::new(model.view(reached)))
    }

    fn workloads_change(&mut self) -> Option<Option<Rc<WorkloadsModel>>> {
        let workloads = &self.views.workloads;
        let same = match (self.told.workloads.as_ref(), workloads) {
            (Some(Some(old)), Some(new)) => Rc::ptr_eq(old, new),
            (Some(None), None) => true,
            _ => false,
        };
        if same {
            return None;
        }
        self.told.workloads = Some(workloads.clone());
        Some(workloads.clone())
    }

    fn log_change(&mut self) -> Option<Rc<LogView>> {
        let view = self.log.view(&self.session, &self.views.board, self.selection.as_ref());
        if self.told.log.as_deref() == Some(&view) {
            return None;
        }
        self.told.log = Some(Rc::new(view));
        self.told.log.clone()
    }

    fn lanes_change(&mut self) -> Option<Rc<LanesView>> {
        let view = self.lanes.view(self.forecast_state());
        if self.told.lanes.as_deref() == Some(&view) {
            return None;
        }
        self.told.lanes = Some(Rc::new(view));
        self.told.lanes.clone()
    }

    fn console_change(&mut self) -> Option<(usize, Vec<Rc<Entry>>)> {
        let known = &self.told.console;
        let new = self.console.iter().filter(|entry| !same(known.get(&entry.number), entry));
        let new: Vec<Rc<Entry>> = new.cloned().collect();
        let forgotten = self.entries_forgotten;
        if new.is_empty() && std::mem::replace(&mut self.told.forgotten, forgotten) == forgotten {
            return None;
        }
        self.told.forgotten = forgotten;
        self.told.console =
            self.console.iter().map(|it| (it.number, it.clone())).collect::<OrderedMap<_, _>>();
        Some((forgotten, new))
    }

    fn compared_change(&mut self) -> Option<Option<Rc<Compared>>> {
        let known = match (&self.told.compared, &self.compared) {
            (old, Some(new)) => same(old.as_ref(), new),
            (old, None) => old.is_none(),
        };
        if known {
            return None;
        }
        self.told.compared.clone_from(&self.compared);
        Some(self.compared.clone())
    }

    fn kept_change(&mut self) -> Option<Rc<SavedWork>> {
        let (timeline, can_undo) = (self.session.timeline(), self.session.can_undo());
        if let Some((known, could_undo)) = &self.told.kept
            && *could_undo == can_undo
            && known.is_same(timeline)
        {
            return None;
        }
        self.told.kept = Some((timeline.clone(), can_undo));
        Some(Rc::new(SavedWork::of(&self.session)))
    }

    fn start_change(&mut self) -> (Option<StartText>, Vec<Vec<u8>>) {
        let start = &self.session.timeline().start;
        if same(self.told.start.as_ref(), start) {
            return (None, Vec::new());
        }
        self.told.start = Some(start.clone());
        let pieces = start_pieces(start);
        match pieces.as_slice() {
            [text] => {
                let text = String::from_utf8_lossy(text);
                (Some(StartText::Text(text.into())), Vec::new())
            }
            _ => (None, pieces),
        }
    }
}
