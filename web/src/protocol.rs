//! The requests of the page to the session, and the updates of the session to the page: plain
//! values, which go to and from a worker as bytes, and to a session on the page's own thread as
//! they are.

use std::collections::BTreeMap;
use std::rc::Rc;

use taintlab_core::api::{NodeName, PodKey, Toleration};
use taintlab_core::command::Command;
use taintlab_core::controllers::descheduler::DeschedulerSettings;
use taintlab_core::kubelet::heartbeat::KubeletSettings;
use taintlab_core::order::OrderedMap;
use taintlab_core::policy::validation::ValidationOptions;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::report::{ClusterIdentity, ReportOptions};
use taintlab_core::scenario::Bookmark;
use taintlab_core::simulator::HealthPassTime;
use taintlab_core::time::Timestamp;
use taintlab_core::warnings::Warning;
use taintlab_kubectl::Completion;
use taintlab_manifest::Diagnostic;
use web_sys::Blob;

use crate::embed::Form;
use crate::files::{Catalogue, ExportKind};
use crate::link::Draft;
use crate::saved::SavedWork;
use crate::session::{MarkKind, Outline, StartChange};
use crate::view_models::about_release::AboutRelease;
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

/// A request to the session. Its reply is [`Reply::Done`], unless another one is named.
#[derive(Clone, Debug)]
pub(crate) enum Request {
    /// Make a session and keep it aside. Reply: [`Reply::Staged`].
    Stage(Origin),
    /// Replace the present session with the one that was kept aside.
    Take,
    /// Restore the state, besides the work, of a session that broke down.
    Resume(Box<Resumed>),
    /// Remember the present work under this number, for a visit.
    LeaveVisit(u32),
    /// Go back to the work of this number; `true` if it belongs to the present session.
    Visit(u32, bool),
    /// Run commands together, now. Reply: [`Reply::Edited`].
    Edit(Vec<Command>),
    /// Apply the edited YAML of a node or a pod, now; `true` replaces the pod. Reply:
    /// [`Reply::Edited`].
    EditYaml(Selection, String, bool),
    /// Replace a pod by one with these tolerations, now. Reply: [`Reply::Edited`].
    ReplacePod(PodKey, Vec<Toleration>),
    /// Undo the last edit.
    Undo,
    /// Redo the edit that was undone last.
    Redo,
    /// Let time pass, or stop it.
    Playing(bool),
    /// Let time pass to this moment, as far as there is time for. Reply: [`Reply::Played`].
    Play(Timestamp),
    /// Go to the next event.
    Step,
    /// Go back to the previous event.
    StepBack,
    /// Run until nothing more happens.
    RunToEnd,
    /// Move the clock.
    Seek(Timestamp),
    /// Go to the next event of the selection (`true`), or back to the previous one.
    StepAbout(bool),
    /// Show the moment of the clock again.
    EndPeek,
    /// Select something, or nothing.
    Select(Option<Selection>),
    /// Select the next node or pod with this in its name.
    Find(String),
    /// Set how much of each node is drawn.
    Draw(Density),
    /// Set the part of the log that is seen.
    Log(LogWanted),
    /// A message to the lanes; `true` if the inspector lies over them.
    Lanes(LanesMsg, bool),
    /// Show warnings, all or those about one object, or none any more.
    Warnings(Option<Option<Selection>>),
    /// List the nodes that a group of the autoscaler may be like. Reply: [`Reply::Nodes`].
    Nodes,
    /// Say how the behaviour of the release is known. Reply: [`Reply::AboutRelease`].
    AboutRelease,
    /// List the flags of a release beside those of another, and the errors in these values. Reply:
    /// [`Reply::Flags`].
    Flags([KubernetesRelease; 2], BTreeMap<String, String>),
    /// Find the errors in flags of a kubelet. Reply: [`Reply::FlagErrors`].
    CheckKubeletFlags(BTreeMap<String, String>),
    /// Mark a kind of rows and step to it, or no longer.
    ToggleKind(MarkKind),
    /// Replace everything with a scenario in JSON; empty, with an empty cluster.
    Load(Rc<str>),
    /// List the metadata of the examples. Reply: [`Reply::Catalogue`].
    Catalogue,
    /// Draw the lanes of an example. Reply: [`Reply::Text`], SVG.
    Preview(String),
    /// Replace everything with an example.
    OpenExample(String),
    /// Tell the story of an example of an eviction that comes later than the toleration says, in
    /// the present release.
    LateEviction,
    /// Read a text of that name; `true` keeps everything in it. Reply: [`Reply::Read`].
    Read(String, String, bool),
    /// Read the last text again; `true` keeps everything in it. Reply: [`Reply::Read`].
    ReadAgain(bool),
    /// Load the text that was read: a scenario, or objects in place of the cluster. `true` takes
    /// the release that their nodes report, `false` the present one.
    Replace(bool),
    /// Say what adding the objects that were read would do. Reply: [`Reply::Read`].
    Plan,
    /// Add the objects that were read, as far as they fit.
    Add,
    /// List some of the objects that were read, or are to be added. Reply: [`Reply::Listed`].
    List(Listing),
    /// Show a line of the text that was read, with its neighbours. Reply: [`Reply::Lines`].
    Excerpt(u32),
    /// Find the errors in the edited YAML of a node or a pod. Reply: [`Reply::Diagnostics`].
    ReadYaml(Selection, String),
    /// Make a scenario file of a stored session: its edits, and its initial state. Reply:
    /// [`Reply::Text`].
    StoredScenario(Rc<str>, Rc<str>),
    /// Export a text. Reply: [`Reply::Text`].
    Export(ExportKind),
    /// Draw a picture. Effect: [`Effect::Picture`].
    Picture(Pictured, Picture),
    /// Write a scenario file, without names if `true`. Reply: [`Reply::Text`].
    ExportShared(bool),
    /// Run the timeline on another Kubernetes. Reply: [`Reply::Edited`].
    ChangeStart(StartChange),
    /// Compare later runs with this one.
    SetBaseline,
    /// Run a line of kubectl.
    Kubectl(String),
    /// List some pods with this in their names. Reply: [`Reply::Offers`].
    PodsNamed(String),
    /// Complete a line at a byte index. Reply: [`Reply::Completions`].
    Complete(String, usize),
    /// Complete the beginning of a condition. Reply: [`Reply::Offers`].
    Offers(String),
    /// Run until a condition, back to it, or stop there. Reply: [`Reply::Edited`].
    Until(Until),
    /// A message about branches.
    Branch(BranchMsg),
    /// Compare two runs. Reply: [`Reply::Edited`].
    Compare(CompareWith),
    /// Set the bookmarks.
    SetBookmarks(Vec<Bookmark>),
    /// Tell the story from the bookmark of this number on, or end it.
    Tell(Option<usize>),
    /// Go to the next bookmark of the story (`true`), or back to the previous one.
    TellNext(bool),
    /// Make a link of what is shown, without names if `true`. Reply: [`Reply::Link`].
    Link(bool),
    /// Make an embed, for the playground at this address. Reply: [`Reply::Text`], to be packed.
    Embed(String),
    /// Make the forms of that embed, with its packed text. Reply: [`Reply::Embed`].
    EmbedForms(String),
    /// Make the first request to a reporter. Reply: [`Reply::Text`].
    Report(ReportOptions),
    /// Begin a branch with a run of a report.
    OpenRun(Box<OpenedRun>),
    /// Stop the long work.
    Cancel,
}

/// The origin of a session.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// The sample cluster.
    Sample,
    /// A stored session: its edits, and its initial state if that is a text of its own.
    Saved(Rc<str>, StartText),
    /// A link, and the text of its packed part.
    Link(Rc<str>, Rc<str>),
}

/// The initial state of a session, as text. A long one is in no memory of the page: the browser has
/// it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StartText {
    /// A text.
    Text(Rc<str>),
    /// A long text, with its length in bytes.
    Long(Blob, usize),
}

impl Default for StartText {
    fn default() -> Self {
        Self::Text("".into())
    }
}

impl StartText {
    /// The length in bytes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Long(_, length) => *length,
        }
    }
}

/// The state of a session that broke down, as the page knew it, besides the work.
#[derive(Clone, Debug)]
pub(crate) struct Resumed {
    /// The entries of the console.
    pub(crate) console: Vec<Rc<Entry>>,
    /// Entries up to this one are about something that no longer exists.
    pub(crate) forgotten: usize,
    /// The conditions at which time stops.
    pub(crate) breakpoints: Vec<String>,
    /// Kinds of rows that are hidden.
    pub(crate) hidden: Vec<MarkKind>,
    /// The lanes that are wanted.
    pub(crate) lanes: Wanted,
}

/// A run of a report.
#[derive(Clone, Debug)]
pub(crate) struct OpenedRun {
    /// The name of the branch.
    pub(crate) name: String,
    /// Its scenario, as JSON.
    pub(crate) scenario: String,
    /// The bookmarks to add.
    pub(crate) bookmarks: Vec<Bookmark>,
    /// The moment to go to.
    pub(crate) at: Timestamp,
    /// The selection there.
    pub(crate) select: Option<Selection>,
}

/// The reply to a request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// The request is done.
    Done,
    /// The session that was made and is kept aside, or why it is not.
    Staged(Result<Box<Staged>, String>),
    /// The request is done, or why it is not.
    Edited(Result<(), String>),
    /// The progress of time.
    Played(Played),
    /// The names of nodes.
    Nodes(Vec<NodeName>),
    /// The text that was read.
    Read(Box<ReadView>),
    /// Objects.
    Listed(Box<Listed>),
    /// Lines by their numbers.
    Lines(Vec<(u32, String)>),
    /// A name and a text, or why there is none.
    Text(Result<(String, Rc<str>), String>),
    /// The errors of a text.
    Diagnostics(Vec<Diagnostic>),
    /// Suggestions.
    Completions(Vec<Completion>),
    /// Lines.
    Offers(Vec<String>),
    /// The evidence for the release.
    AboutRelease(Box<AboutRelease>),
    /// The flags of a release.
    Flags(Box<FlagsView>),
    /// The errors in flags, by the name of the flag.
    FlagErrors(OrderedMap<String, String>),
    /// The examples by subject.
    Catalogue(Catalogue),
    /// A link that is still to be packed.
    Link(Result<Draft, String>),
    /// The forms of an embed and its picture.
    Embed(Result<EmbedMade, String>),
}

/// A session that was kept aside.
#[derive(Clone, Debug)]
pub(crate) struct Staged {
    /// The contents of its link, in words.
    pub(crate) contents: Vec<String>,
    /// Whether the events differ from those where the link was made.
    pub(crate) differs: bool,
    /// A description of the data that was taken out, as it should not have been stored; empty if
    /// there was none.
    pub(crate) dropped: String,
    /// The title.
    pub(crate) title: String,
    /// The time of the clock.
    pub(crate) now: Timestamp,
    /// The selection.
    pub(crate) selection: Option<Selection>,
    /// The work as it is stored, and its initial state if that is to be stored anew.
    pub(crate) work: (SavedWork, Option<StartText>),
}

/// An embed that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EmbedMade {
    /// The forms.
    pub(crate) forms: Vec<Form>,
    /// The picture, as SVG; or why there is none.
    pub(crate) picture: Result<String, String>,
}

/// The flags of a release, beside those of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FlagsView {
    /// The release.
    pub(crate) release: KubernetesRelease,
    /// Its flags with their defaults, in the order in which they are listed.
    pub(crate) defaults: Vec<(String, String)>,
    /// Those of the other release.
    pub(crate) others: OrderedMap<String, String>,
    /// The errors in values, by the name of the flag; flags that the release does not have are left
    /// out.
    pub(crate) errors: OrderedMap<String, String>,
}

/// The progress of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Played {
    /// Whether the run is over: something was due, and nothing is any more.
    pub(crate) over: bool,
}

/// An update from the session to the page.
#[derive(Debug, Default)]
pub(crate) struct Update {
    /// The request that this ends, and its reply.
    pub(crate) done: Option<(u32, Reply)>,
    /// The effects on the page, in this order.
    pub(crate) effects: Vec<Effect>,
    /// The changes of the view.
    pub(crate) changes: Changes,
}

/// An effect on the page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    /// A message appears at the edge of the page.
    Say(Notice),
    /// A text is announced to those who do not see the page.
    Announce(String),
    /// The dialog closes.
    CloseDialog,
    /// Time stops.
    Stop,
    /// Countdowns begin anew: something on the board may have changed.
    Turn,
    /// Something on the board is brought into sight.
    Reveal(Selection),
    /// A file is offered: its name, and SVG, as it is or (`true`) as pixels.
    Picture(Pictured, String, bool),
    /// The progress of long work.
    Progress(Progress),
}

/// The subject of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pictured {
    /// The lanes.
    Lanes,
    /// The board.
    Board,
}

impl Pictured {
    /// The name of its file, without the extension.
    pub(crate) const fn file(self) -> &'static str {
        match self {
            Self::Lanes => "lanes",
            Self::Board => "board",
        }
    }
}

/// The progress of long work.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Progress {
    /// The work being done.
    pub(crate) what: String,
    /// The part that is done, from 0 to 1, if that is known.
    pub(crate) part: Option<f64>,
}

impl Progress {
    /// The progress of work on pods, one by one.
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

/// Changes of the view since the last update.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// The clock.
    pub(crate) clock: Option<ClockView>,
    /// The work.
    pub(crate) work: Option<Rc<WorkView>>,
    /// The selection, and its place.
    pub(crate) selected: Option<Selected>,
    /// The level of detail, and the board.
    pub(crate) board: Option<(Detail, BoardPatch)>,
    /// The objects with warnings.
    pub(crate) marked: Option<Rc<WarningMarks>>,
    /// The warnings that are shown.
    pub(crate) warnings: Option<Rc<Vec<WarningView>>>,
    /// The selection in depth.
    pub(crate) inspector: Option<Rc<InspectorModel>>,
    /// The timeline.
    pub(crate) timeline: Option<Rc<TimelineView>>,
    /// The workloads, if their controllers run.
    pub(crate) workloads: Option<Option<Rc<WorkloadsModel>>>,
    /// The event log.
    pub(crate) log: Option<Rc<LogView>>,
    /// The lanes.
    pub(crate) lanes: Option<Rc<LanesView>>,
    /// The number up to which entries of the console are no longer about the last edit, and the
    /// entries that are new or print something else.
    pub(crate) console: Option<(usize, Vec<Rc<Entry>>)>,
    /// The two runs that were compared; none once they are no longer those of the work.
    pub(crate) compared: Option<Option<Rc<Compared>>>,
    /// The work as it is stored.
    pub(crate) kept: Option<Rc<SavedWork>>,
    /// The initial state.
    pub(crate) start: Option<StartText>,
    /// An initial state that is too long for the page: pieces that the browser makes one text of.
    pub(crate) long_start: Vec<Vec<u8>>,
}

/// The view of the clock.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ClockView {
    /// The simulated time.
    pub(crate) now: Timestamp,
    /// The moment of the clock, also while another one is shown.
    pub(crate) home: Timestamp,
    /// The latest moment that was reached.
    pub(crate) reached: Timestamp,
    /// Whether another moment is shown.
    pub(crate) peeks: bool,
    /// The wall-clock time of the scenario.
    pub(crate) wall_clock: String,
    /// The time and the description of the next event.
    pub(crate) next: Option<(Timestamp, String)>,
    /// The words for when nothing is due.
    pub(crate) rest: Rest,
    /// The caption of the last event; none before anything was done.
    pub(crate) caption: Option<Caption>,
}

/// The words for when nothing is due.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Rest {
    /// A hint at possible actions.
    Hint(String),
    /// The outcome: `Ended at 6m10s`, then the outcomes of pods, each with a selection of its pods.
    Ended(String, Vec<(String, Option<Selection>)>),
}

impl Default for Rest {
    fn default() -> Self {
        Self::Hint(String::new())
    }
}

/// The work: its initial state, and the actions that are possible.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WorkView {
    /// The initial state, without its objects.
    pub(crate) start: Rc<Outline>,
    /// The title.
    pub(crate) title: String,
    /// The identity of its cluster.
    pub(crate) cluster: Rc<ClusterIdentity>,
    /// The labels by which its nodes are in pools, each with its number of pools.
    pub(crate) pools: Vec<(String, usize)>,
    /// The release of Kubernetes.
    pub(crate) release: KubernetesRelease,
    /// Whether kubelets and the node lifecycle controller run.
    pub(crate) node_lifecycle: bool,
    /// The flags of kube-controller-manager that were set.
    pub(crate) flags: BTreeMap<String, String>,
    /// The durations of health passes.
    pub(crate) health_pass: HealthPassTime,
    /// The settings of the kubelets.
    pub(crate) kubelets: KubeletSettings,
    /// The descheduler, if there is one.
    pub(crate) descheduler: Option<DeschedulerSettings>,
    /// The node groups of the autoscaler, each with its maximum size, if there is one.
    pub(crate) autoscaler: Option<Vec<(String, u32)>>,
    /// The validation options of the API server.
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
    /// The number of the bookmark being told.
    pub(crate) story: Option<usize>,
    /// Kinds of rows that are neither marked on the timeline nor stepped to.
    pub(crate) hidden: Vec<MarkKind>,
    /// The number of edits.
    pub(crate) edits: usize,
}

impl WorkView {
    /// The identity of the work at this moment, for results that outlive it.
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
    /// The name.
    pub(crate) name: Rc<str>,
    /// The branch from which it was forked.
    pub(crate) parent: Option<u32>,
    /// The time of the fork.
    pub(crate) forked_at: Timestamp,
    /// The number of its edits.
    pub(crate) edits: usize,
    /// The latest moment that it has reached; for the present branch the clock tells it.
    pub(crate) reached: Timestamp,
}

/// The selection, and facts about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selected {
    /// The selection.
    pub(crate) selection: Option<Selection>,
    /// Its node, or the node of its pod.
    pub(crate) at: Option<NodeName>,
    /// The numbers of warnings about it, by severity.
    pub(crate) warnings: [usize; 3],
}

/// A warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WarningView {
    /// The warning, with as many of its subjects as are shown.
    pub(crate) warning: Warning,
    /// The number of further subjects.
    pub(crate) more: usize,
}

/// A message to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    /// The number, given when it is shown.
    pub(crate) id: u32,
    /// Whether something went wrong.
    pub(crate) error: bool,
    /// The text.
    pub(crate) text: String,
    /// An action that it offers.
    pub(crate) action: Option<NoticeAction>,
}

/// An action that a message offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoticeAction {
    /// Download a copy of something: name and text.
    Download(String, Rc<str>),
    /// Continue the session with this id.
    Continue(Rc<str>),
    /// Show the sessions.
    Sessions,
}

impl Notice {
    /// A message of success.
    pub(crate) fn info(text: impl Into<String>) -> Self {
        Self { id: 0, error: false, text: text.into(), action: None }
    }

    /// A message of an error.
    pub(crate) fn error(text: impl Into<String>) -> Self {
        Self { id: 0, error: true, text: text.into(), action: None }
    }

    /// The message, with an action that it offers.
    pub(crate) fn with(self, action: NoticeAction) -> Self {
        Self { action: Some(action), ..self }
    }

    /// Whether its action makes sense only as long as nothing was done.
    pub(crate) fn is_offer(&self) -> bool {
        matches!(self.action, Some(NoticeAction::Continue(_)))
    }
}
