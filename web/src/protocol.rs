//! What the page asks of the session, and what the session tells the page: plain values, which go
//! to a worker and back as bytes, and to a session on the page's own thread as they are.

use std::collections::BTreeMap;
use std::rc::Rc;

use taintlab_core::api::{Node, NodeName};
use taintlab_core::command::Command;
use taintlab_core::controllers::autoscaler::AutoscalerSettings;
use taintlab_core::controllers::descheduler::DeschedulerSettings;
use taintlab_core::kubelet::heartbeat::KubeletSettings;
use taintlab_core::policy::validation::ValidationOptions;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::report::{ClusterIdentity, ReportOptions};
use taintlab_core::scenario::{Bookmark, Scenario, ScenarioMetadata};
use taintlab_core::simulator::HealthPassTime;
use taintlab_core::time::Timestamp;
use taintlab_core::warnings::Warning;
use taintlab_kubectl::Completion;
use web_sys::Blob;

use crate::embed::Form;
use crate::files::ExportKind;
use crate::link::Draft;
use crate::saved::SavedWork;
use crate::session::{MarkKind, StartChange};
use crate::view_models::board::density::{Density, Detail};
use crate::view_models::board::patch::BoardPatch;
use crate::view_models::caption::Caption;
use crate::view_models::console::Entry;
use crate::view_models::import_report::{Listed, Listing, ReadView};
use crate::view_models::inspector_model::InspectorModel;
use crate::view_models::lanes::{LanesMsg, LanesView, Picture, Wanted};
use crate::view_models::log::{LogView, LogWanted};
use crate::view_models::report::WorkKey;
use crate::view_models::runs::{BranchMsg, CompareWith, Compared, Until};
use crate::view_models::selection::Selection;
use crate::view_models::timeline::TimelineView;
use crate::view_models::warning_marks::WarningMarks;
use crate::view_models::workloads::WorkloadsModel;

/// What is asked of the session.
#[derive(Clone, Debug)]
pub(crate) enum Request {
    /// Make a session and keep it aside. Told: [`Reply::Staged`].
    Stage(Origin),
    /// The session that was kept aside takes the place of the present one.
    Take,
    /// What was known, besides the work, of a session that broke down.
    Resume(Box<Resumed>),
    /// The work of so many may be asked for again.
    LeaveVisit(u32),
    /// Go back to it; whether it is of the present session.
    Visit(u32, bool),
    /// The commands, together, now. Told: [`Reply::Edited`].
    Edit(Vec<Command>),
    /// Take the last edit back.
    Undo,
    /// Do it again.
    Redo,
    /// Time passes, or stands still.
    Playing(bool),
    /// Let time pass until then, as far as there is time for. Told: [`Reply::Played`].
    Play(Timestamp),
    /// Go to what happens next.
    Step,
    /// Back to what happened before.
    StepBack,
    /// Go on until nothing more happens.
    RunToEnd,
    /// Move the clock.
    Seek(Timestamp),
    /// To what happens next to what is selected, or to what happened before.
    StepAbout(bool),
    /// The clock shows its own moment again.
    EndPeek,
    /// Select something, or nothing.
    Select(Option<Selection>),
    /// Select the next node or pod with this in its name.
    Find(String),
    /// So much of each node is drawn.
    Draw(Density),
    /// What is seen of the log.
    Log(LogWanted),
    /// Something about the lanes; whether the inspector lies over them.
    Lanes(LanesMsg, bool),
    /// The warnings are looked at, all or those about one object, or no longer.
    Warnings(Option<Option<Selection>>),
    /// The nodes that a group of the autoscaler may be like. Told: [`Reply::Nodes`].
    Nodes,
    /// Kinds of rows are marked and stepped to, or no longer.
    ToggleKind(MarkKind),
    /// Put a scenario in place of everything.
    Load(Box<Scenario>),
    /// What the examples are about. Told: [`Reply::Catalogue`].
    Catalogue,
    /// The lanes of an example. Told: [`Reply::Text`], SVG.
    Preview(String),
    /// Put an example in place of everything.
    OpenExample(String),
    /// The example of an eviction that comes later than the toleration says, in the present
    /// release: tell its story.
    LateEviction,
    /// Read a text of that name; whether everything is kept. Told: [`Reply::Read`].
    Read(String, String, bool),
    /// Read it again, the other way.
    ReadAgain(bool),
    /// Load what was read: a scenario; or objects in place of the cluster, on the release that its
    /// nodes report (`true`), or on the present one.
    Replace(bool),
    /// What adding what was read would do. Told: [`Reply::Read`].
    Plan,
    /// Add it, as far as it fits.
    Add,
    /// Some of the objects that were read, or are to be added. Told: [`Reply::Listed`].
    List(Listing),
    /// A line of what was read with its neighbours. Told: [`Reply::Lines`].
    Excerpt(u32),
    /// A text to hand out. Told: [`Reply::Text`].
    Export(ExportKind),
    /// A picture of something. Told: [`Effect::Picture`].
    Picture(Pictured, Picture),
    /// A scenario file, without names if so wanted. Told: [`Reply::Text`].
    ExportShared(bool),
    /// Run the same on another Kubernetes. Told: [`Reply::Edited`].
    ChangeStart(StartChange),
    /// Later runs are to be compared with this one.
    SetBaseline,
    /// Run a line of kubectl.
    Kubectl(String),
    /// The pods with this in their names, some of them. Told: [`Reply::Offers`].
    PodsNamed(String),
    /// What could stand at a byte of a line. Told: [`Reply::Completions`].
    Complete(String, usize),
    /// What the beginning of a condition could become. Told: [`Reply::Offers`].
    Offers(String),
    /// Run until a condition, back to it, or stop there. Told: [`Reply::Edited`].
    Until(Until),
    /// Something about branches.
    Branch(BranchMsg),
    /// Compare two runs. Told: [`Reply::Edited`].
    Compare(CompareWith),
    /// Set the bookmarks.
    SetBookmarks(Vec<Bookmark>),
    /// Tell the story from the bookmark of this number on, or end it.
    Tell(Option<usize>),
    /// The bookmark after the one that is told (`true`), or before it.
    TellNext(bool),
    /// The link of what is shown, without names if so wanted. Told: [`Reply::Link`].
    Link(bool),
    /// An embed, for the playground at this address. Told: [`Reply::Text`], what is to be packed.
    Embed(String),
    /// Its forms, with that packed. Told: [`Reply::Embed`].
    EmbedForms(String),
    /// What a reporter is asked first. Told: [`Reply::Text`].
    Report(ReportOptions),
    /// Begin a branch with a run of a report.
    OpenRun(Box<OpenedRun>),
    /// Stop what takes long.
    Cancel,
}

/// What a session is made of.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// The sample cluster.
    Sample,
    /// A session that was kept: its edits, and where it began, if that is a text of its own.
    Saved(Rc<str>, StartText),
    /// A link, and what is packed in it.
    Link(Rc<str>, Rc<str>),
}

/// Where a session begins, as text. A long one is in no memory of the page: the browser has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StartText {
    /// A text.
    Text(Rc<str>),
    /// A long one, of so many bytes.
    Long(Blob, usize),
}

impl Default for StartText {
    fn default() -> Self {
        Self::Text("".into())
    }
}

impl StartText {
    /// How many bytes it has.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Long(_, length) => *length,
        }
    }
}

/// What the page knew, besides the work, of a session that broke down.
#[derive(Clone, Debug)]
pub(crate) struct Resumed {
    /// The entries of the console.
    pub(crate) console: Vec<Rc<Entry>>,
    /// Up to which of them they are about something that is no longer there.
    pub(crate) forgotten: usize,
    /// Where time stops.
    pub(crate) breakpoints: Vec<String>,
    /// Kinds of rows that are hidden.
    pub(crate) hidden: Vec<MarkKind>,
    /// Which lanes are wanted.
    pub(crate) lanes: Wanted,
}

/// A run of a report.
#[derive(Clone, Debug)]
pub(crate) struct OpenedRun {
    /// What the branch is called.
    pub(crate) name: String,
    /// Its scenario, with bookmarks.
    pub(crate) scenario: Scenario,
    /// Where to go.
    pub(crate) at: Timestamp,
    /// What to select.
    pub(crate) select: Option<Selection>,
}

/// What is told of a request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// That it is done.
    Done,
    /// What was made and is kept aside, or why it is not.
    Staged(Result<Box<Staged>, String>),
    /// That it is done, or why not.
    Edited(Result<(), String>),
    /// How far time has passed.
    Played(Played),
    /// Nodes.
    Nodes(Vec<Node>),
    /// What was read.
    Read(Box<ReadView>),
    /// Objects.
    Listed(Box<Listed>),
    /// Lines by their numbers.
    Lines(Vec<(u32, String)>),
    /// A name and a text, or why there is none.
    Text(Result<(String, Rc<str>), String>),
    /// Suggestions.
    Completions(Vec<Completion>),
    /// Lines.
    Offers(Vec<String>),
    /// What each example is about, in the order in which they are listed.
    Catalogue(Vec<ScenarioMetadata>),
    /// A link that is still to be packed.
    Link(Result<Draft, String>),
    /// The forms of an embed and its picture.
    Embed(Result<EmbedMade, String>),
}

/// A session that was kept aside.
#[derive(Clone, Debug)]
pub(crate) struct Staged {
    /// What a link of it would hold, in words.
    pub(crate) contents: Vec<String>,
    /// Whether what happens is not what happened where the link was made.
    pub(crate) differs: bool,
    /// What was taken out, since it should not have been stored; empty if nothing was.
    pub(crate) dropped: String,
    /// What it is about.
    pub(crate) title: String,
    /// What the clock shows.
    pub(crate) now: Timestamp,
    /// What is selected.
    pub(crate) selection: Option<Selection>,
    /// The work, as it is kept, and where it began.
    pub(crate) work: (SavedWork, Option<StartText>),
}

/// An embed that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EmbedMade {
    /// Its forms.
    pub(crate) forms: Vec<Form>,
    /// What it looks like, SVG; or why there is no picture.
    pub(crate) picture: Result<String, String>,
}

/// How far time has passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Played {
    /// Something was due, and nothing is any more.
    pub(crate) over: bool,
}

/// What the session tells the page.
#[derive(Debug, Default)]
pub(crate) struct Update {
    /// The request that this ends, and what is told of it.
    pub(crate) done: Option<(u32, Reply)>,
    /// What is to be done on the page, in this order.
    pub(crate) effects: Vec<Effect>,
    /// What is shown now.
    pub(crate) changes: Changes,
}

/// What is to be done on the page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    /// Something is said at its edge.
    Say(Notice),
    /// Something is said to those who do not see it.
    Announce(String),
    /// The dialog closes.
    CloseDialog,
    /// Time no longer passes.
    Stop,
    /// Something on the board may have changed: countdowns begin anew.
    Turn,
    /// Something on the board is brought into sight.
    Reveal(Selection),
    /// A file is offered: its name, and SVG, as it is or (`true`) as pixels.
    Picture(Pictured, String, bool),
    /// How far something is that takes long.
    Progress(Progress),
}

/// What there is a picture of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pictured {
    /// The lanes.
    Lanes,
    /// The board.
    Board,
}

impl Pictured {
    /// The name of its file, without what says of which kind it is.
    pub(crate) const fn file(self) -> &'static str {
        match self {
            Self::Lanes => "lanes",
            Self::Board => "board",
        }
    }
}

/// How far something is that takes long.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Progress {
    /// What is being done.
    pub(crate) what: String,
    /// How much of it is done, from 0 to 1, if that is known.
    pub(crate) part: Option<f64>,
}

impl Progress {
    /// Something is done to pods, one by one.
    pub(crate) fn of_pods(what: &str, done: usize, pods: usize) -> Self {
        if done == 0 {
            return Self { what: what.to_owned(), part: None };
        }
        #[expect(clippy::cast_precision_loss, reason = "a bar")]
        let part = done as f64 / pods.max(1) as f64;
        let what = format!("{what}: {done} of {}", crate::text::count(pods, "pod"));
        Self { what, part: Some(part.min(1.0)) }
    }
}

/// What is shown otherwise than before.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// The clock.
    pub(crate) clock: Option<ClockView>,
    /// The work.
    pub(crate) work: Option<Rc<WorkView>>,
    /// What is selected, and where that is.
    pub(crate) selected: Option<Selected>,
    /// How much is drawn, and the board.
    pub(crate) board: Option<(Detail, BoardPatch)>,
    /// What there are warnings about.
    pub(crate) marked: Option<Rc<WarningMarks>>,
    /// The warnings that are looked at.
    pub(crate) warnings: Option<Rc<Vec<WarningView>>>,
    /// What is selected, in depth.
    pub(crate) inspector: Option<Rc<InspectorModel>>,
    /// The timeline.
    pub(crate) timeline: Option<Rc<TimelineView>>,
    /// The workloads, if their controllers run.
    pub(crate) workloads: Option<Option<Rc<WorkloadsModel>>>,
    /// The event log.
    pub(crate) log: Option<Rc<LogView>>,
    /// The lanes.
    pub(crate) lanes: Option<Rc<LanesView>>,
    /// Entries of the console that are new, or print something else; up to which they are not what
    /// was done last.
    pub(crate) console: Option<(usize, Vec<Rc<Entry>>)>,
    /// Two runs that were compared; none if they are no longer those of the work.
    pub(crate) compared: Option<Option<Rc<Compared>>>,
    /// The work as it is kept.
    pub(crate) kept: Option<Rc<SavedWork>>,
    /// Where it began.
    pub(crate) start: Option<StartText>,
    /// The same, if it is too long for the page: pieces that the browser makes one text of.
    pub(crate) long_start: Vec<Vec<u8>>,
}

/// What the clock shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ClockView {
    /// The simulated time.
    pub(crate) now: Timestamp,
    /// Where the clock is, also while another moment is shown.
    pub(crate) home: Timestamp,
    /// How far it has been.
    pub(crate) reached: Timestamp,
    /// Whether another moment is shown.
    pub(crate) peeks: bool,
    /// The wall-clock time of the scenario.
    pub(crate) wall_clock: String,
    /// When something happens next, and what.
    pub(crate) next: Option<(Timestamp, String)>,
    /// What there is to say when nothing is due.
    pub(crate) rest: Rest,
    /// What just happened; none before anything was done.
    pub(crate) caption: Option<Caption>,
}

/// What there is to say when nothing is due.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Rest {
    /// What could be done.
    Hint(String),
    /// How it ended: `Ended at 6m10s`, what became of pods, and which pods those are.
    Ended(String, Vec<(String, Option<Selection>)>),
}

impl Default for Rest {
    fn default() -> Self {
        Self::Hint(String::new())
    }
}

/// The work: where it begins, and what can be done with it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WorkView {
    /// Where it begins, without its objects.
    pub(crate) start: Rc<Scenario>,
    /// What it is about.
    pub(crate) title: String,
    /// Which cluster it is about.
    pub(crate) cluster: Rc<ClusterIdentity>,
    /// The labels by which its nodes are in pools, and how many pools there are.
    pub(crate) pools: Vec<(String, usize)>,
    /// Which Kubernetes runs.
    pub(crate) release: KubernetesRelease,
    /// Whether kubelets and the node lifecycle controller run.
    pub(crate) node_lifecycle: bool,
    /// The flags of kube-controller-manager that were set.
    pub(crate) flags: BTreeMap<String, String>,
    /// How long health passes take.
    pub(crate) health_pass: HealthPassTime,
    /// How the kubelets are set.
    pub(crate) kubelets: KubeletSettings,
    /// The descheduler, if there is one.
    pub(crate) descheduler: Option<DeschedulerSettings>,
    /// The autoscaler, if there is one.
    pub(crate) autoscaler: Option<AutoscalerSettings>,
    /// How the API server checks.
    pub(crate) options: ValidationOptions,
    /// Whether there is something to undo.
    pub(crate) can_undo: bool,
    /// Whether there is something to redo.
    pub(crate) can_redo: bool,
    /// The present branch.
    pub(crate) branch: u32,
    /// All branches.
    pub(crate) branches: Vec<BranchView>,
    /// The conditions at which time stops.
    pub(crate) breakpoints: Vec<String>,
    /// The bookmark that is told.
    pub(crate) story: Option<usize>,
    /// Kinds of rows that are not marked on the timeline, nor stepped to.
    pub(crate) hidden: Vec<MarkKind>,
    /// How many edits there are.
    pub(crate) edits: usize,
}

impl WorkView {
    /// Which work it is at this moment, for what outlives it.
    pub(crate) fn key(&self, now: Timestamp) -> WorkKey {
        WorkKey {
            cluster: self.cluster.clone(),
            release: self.release,
            branch: self.branch_name(),
            edits: self.edits,
            now,
        }
    }

    /// The name of the present branch.
    pub(crate) fn branch_name(&self) -> Rc<str> {
        let here = self.branches.iter().find(|branch| branch.id == self.branch);
        here.map_or_else(|| "main".into(), |branch| branch.name.clone())
    }
}

/// A branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BranchView {
    /// Its number.
    pub(crate) id: u32,
    /// What it is called.
    pub(crate) name: Rc<str>,
    /// Which one it was forked from.
    pub(crate) parent: Option<u32>,
    /// When it was forked.
    pub(crate) forked_at: Timestamp,
    /// How many edits it has.
    pub(crate) edits: usize,
    /// How far it has been played; of the present one the clock says it.
    pub(crate) reached: Timestamp,
}

/// What is selected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selected {
    /// What.
    pub(crate) selection: Option<Selection>,
    /// The node that it is, or that has the pod that it is.
    pub(crate) at: Option<NodeName>,
    /// How many warnings there are about it, by severity.
    pub(crate) warnings: [usize; 3],
}

/// A warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WarningView {
    /// It, with as many of its subjects as are shown.
    pub(crate) warning: Warning,
    /// How many more subjects it has.
    pub(crate) more: usize,
}

/// A message to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    /// Given when it is shown.
    pub(crate) id: u32,
    /// Whether something went wrong.
    pub(crate) error: bool,
    /// What.
    pub(crate) text: String,
    /// What can be done about it.
    pub(crate) action: Option<NoticeAction>,
}

/// What can be done about a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoticeAction {
    /// Download a copy of something: name and text.
    Download(String, Rc<str>),
    /// Go on with the session of this id.
    Continue(Rc<str>),
    /// Look at the sessions.
    Sessions,
}

impl Notice {
    /// Something went well.
    pub(crate) fn info(text: impl Into<String>) -> Self {
        Self { id: 0, error: false, text: text.into(), action: None }
    }

    /// Something went wrong.
    pub(crate) fn error(text: impl Into<String>) -> Self {
        Self { id: 0, error: true, text: text.into(), action: None }
    }

    /// The same, with something that can be done about it.
    pub(crate) fn with(self, action: NoticeAction) -> Self {
        Self { action: Some(action), ..self }
    }

    /// Whether it offers something that makes sense only as long as nothing was done.
    pub(crate) fn is_offer(&self) -> bool {
        matches!(self.action, Some(NoticeAction::Continue(_)))
    }
}
