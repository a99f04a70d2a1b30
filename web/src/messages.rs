//! The messages of the application.

use std::collections::BTreeMap;
use std::rc::Rc;

use taintlab_core::api::{PodKey, Toleration};
use taintlab_core::command::Command;
use taintlab_core::order::OrderedMap;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scenario::Bookmark;
use taintlab_core::time::Timestamp;
use taintlab_kubectl::Completion;
use taintlab_manifest::Diagnostic;
use yew::prelude::*;

use crate::board_keys::Step;
use crate::connection::Told;
use crate::files::ExportKind;
use crate::playback::Speed;
pub(crate) use crate::protocol::{EmbedMade, Notice, NoticeAction, Pictured};
use crate::protocol::{FlagsView, Origin, Staged};
use crate::reporter::Answer;
use crate::session::{MarkKind, StartChange};
use crate::store::{Kept, WriteResult};
use crate::test_id::TestId;
use crate::view_models::board::density::Density;
use crate::view_models::display::Category;
use crate::view_models::import_report::{Listed, Listing, ReadView};
use crate::view_models::lanes::{LanesMsg, Picture};
use crate::view_models::log::LogWanted;
use crate::view_models::pane::PaneMsg;
use crate::view_models::report::ReportMsg;
use crate::view_models::runs::{BranchMsg, CompareWith, Until};
use crate::view_models::selection::Selection;

/// The source of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A text and its name.
    Text(Rc<str>, Rc<str>),
    /// Files too long to be shown, which the session reads by itself; their names, and their length
    /// in bytes.
    Files(Rc<Vec<web_sys::File>>, Rc<str>, usize),
}

impl Source {
    /// An empty text.
    pub(crate) fn empty() -> Self {
        Self::Text("".into(), "".into())
    }

    /// A number that tells one source from another.
    pub(crate) fn key(&self) -> usize {
        match self {
            Self::Text(text, _) => text.as_ptr().addr(),
            Self::Files(files, ..) => Rc::as_ptr(files).addr(),
        }
    }
}

/// The callback by which components send messages. The whole page shares one, so that comparing it
/// is comparing a pointer.
pub(crate) type Dispatch = Callback<Msg>;

/// A command of the user, or an event.
pub(crate) enum Msg {
    /// A frame is painted, at this time of the page.
    Frame(f64),
    /// Run commands together, now; the callback gets a refusal.
    Edit(Vec<Command>, Callback<String>),
    /// Run commands from a dialog, which closes unless they are refused.
    EditAndClose(Vec<Command>, Callback<String>),
    /// Apply the edited YAML of a node or a pod; `true` replaces the pod.
    EditYaml(Selection, String, bool, Callback<String>),
    /// Replace a pod by one with these tolerations.
    ReplacePod(PodKey, Vec<Toleration>, Callback<String>),
    /// Undo the last edit.
    Undo,
    /// Redo the edit that was undone last.
    Redo,
    /// Play or pause.
    TogglePlay,
    /// Set the speed of time.
    SetSpeed(Speed),
    /// Speed time up.
    Faster,
    /// Slow time down.
    Slower,
    /// Go to the next event.
    Step,
    /// Go back to the previous event.
    StepBack,
    /// Run until nothing more happens.
    RunToEnd,
    /// Move the clock.
    Seek(Timestamp),
    /// Move the clock, and select an object if one is given.
    GoTo(Timestamp, Option<Selection>),
    /// Select something, or nothing.
    Select(Option<Selection>),
    /// Open a dialog.
    Open(Dialog),
    /// Close the dialog.
    CloseDialog,
    /// Replace everything with an empty cluster.
    Clear,
    /// Read a source; `true` keeps everything in it.
    Read(Source, bool, Callback<Rc<ReadView>>),
    /// Read the last source again; `true` keeps everything in it.
    ReadAgain(bool, Callback<Rc<ReadView>>),
    /// Load the text that was read: a scenario, or objects in place of the cluster. `true` takes
    /// the release that their nodes report, `false` the present one.
    Replace(bool),
    /// Say what adding the objects that were read to the cluster would do.
    Plan(Callback<Rc<ReadView>>),
    /// Add the objects that were read to the cluster, as far as they fit.
    Add,
    /// List some of the objects that were read.
    List(Listing, Callback<Rc<Listed>>),
    /// Show a line of the text that was read, with its neighbours.
    Excerpt(u32, Callback<Vec<(u32, String)>>),
    /// Find the errors in the edited YAML of a node or a pod.
    ReadYaml(Selection, String, Callback<Vec<Diagnostic>>),
    /// Export the work.
    Export(ExportKind, ExportTarget),
    /// Offer a picture as a file.
    Picture(Pictured, Picture),
    /// Run the timeline on another Kubernetes.
    ChangeStart(StartChange),
    /// Run the timeline on another Kubernetes; the settings close unless that is refused.
    ChangeSettings(StartChange),
    /// Compare later runs with this one.
    SetBaseline,
    /// Select something, close the dialog that showed it, and go into the inspector.
    Show(Selection),
    /// An element got the focus.
    Focused(web_sys::Element),
    /// Move the focus on the board.
    Move(Step),
    /// Move the focus to the board; from there, or from nowhere, close the inspector.
    Escape,
    /// Move the focus to the board.
    ToBoard,
    /// The browser went back or forth in its history.
    WentBack,
    /// Copy a text to the clipboard.
    Copy(Rc<str>),
    /// Run a line of kubectl.
    Kubectl(String),
    /// A message to the pane below the board.
    Pane(PaneMsg),
    /// Complete the line at the cursor, a byte index.
    Complete(String, usize, Callback<Vec<Completion>>),
    /// Switch to the next theme.
    NextTheme,
    /// Set how much of each node is shown.
    SetDensity(Density),
    /// Switch to the next density of the board.
    NextDensity,
    /// Fold nodes on which nothing happens, or show them.
    ToggleFine,
    /// Focus an element of the page.
    Focus(TestId),
    /// Select the next node or pod with this in its name.
    Find(String),
    /// Show a message to the user.
    Notice(Notice),
    /// Remove the message of this number.
    Dismiss(u32),
    /// Files are dragged over the page, or no longer.
    Dropping(bool),
    /// The user gave files.
    Files(Vec<web_sys::File>),
    /// Offer a text as a file of that name.
    Download(String, Rc<str>),
    /// Offer a stored session as a scenario file: its name, its edits and its initial state.
    DownloadStored(String, Rc<str>, Rc<str>),
    /// A message to the lanes.
    Lanes(LanesMsg),
    /// Set the part of the log that is seen.
    Log(LogWanted),
    /// Show rows of a category in the log, or hide them.
    ToggleLog(Category),
    /// Show only rows about the selection in the log, or all.
    ToggleLogSelected,
    /// The session sent an update, or its worker broke down.
    Told(Box<Told>),
    /// Stop the long work.
    Cancel,
    /// Cancelled requests up to this one had time to stop.
    StillBusy(u32),
    /// The reply to this request takes long.
    Slow(u32),
    /// Complete the beginning of a condition.
    Offers(String, Callback<Vec<String>>),
    /// List the flags of a release beside those of another, and the errors in these values.
    Flags([KubernetesRelease; 2], BTreeMap<String, String>, Callback<Box<FlagsView>>),
    /// Find the errors in flags of a kubelet.
    CheckKubeletFlags(BTreeMap<String, String>, Callback<OrderedMap<String, String>>),
    /// Go to the next event of the selection (`true`), or back to the previous one.
    StepAbout(bool),
    /// Mark a kind of rows and step to it, or no longer.
    ToggleKind(MarkKind),
    /// Run until a condition, back to it, or stop there; the callback gets an error.
    Until(Until, Callback<String>),
    /// A message about branches.
    Branch(BranchMsg),
    /// Compare two runs; the callback gets an error.
    Compare(CompareWith, Callback<String>),
    /// Store the work.
    Save,
    /// The work was stored, or it was not.
    Written(Box<WriteResult>),
    /// The page is left: store work that is not stored yet.
    Leave,
    /// The page is back, as it was left.
    Return,
    /// Continue a stored session.
    OpenSession(Box<Kept>),
    /// Read the session with this id, and continue it.
    ContinueSession(Rc<str>),
    /// Show the stored sessions.
    Sessions,
    /// The link asked for at this turn is made: write it into the address.
    Address(u32, String),
    /// A link was read, or is broken.
    LinkRead(Result<Box<Staged>, String>),
    /// The text of an embed is packed.
    EmbedPacked(String, Callback<Result<Rc<EmbedMade>, String>>),
    /// Make a session and keep it aside.
    Stage(Origin),
    /// Open the link that was offered.
    TakeLink,
    /// Make a link, without names if `true`.
    MakeLink(bool, Callback<Rc<LinkMade>>),
    /// Make an embed.
    MakeEmbed(Callback<Result<Rc<EmbedMade>, String>>),
    /// Offer a file in place of a link, without names if `true`.
    DownloadShared(bool),
    /// Run a row of the command palette.
    Run(Rc<dyn Fn() -> Self>),
    /// Set the bookmarks.
    SetBookmarks(Vec<Bookmark>),
    /// Tell the story from the bookmark of this number on, or end it.
    Tell(Option<usize>),
    /// Go to the next bookmark of the story.
    NextBookmark,
    /// Go to the previous bookmark of the story.
    PreviousBookmark,
    /// Find pods with this in their names; the callback gets their keys.
    PodsNamed(String, Callback<Vec<String>>),
    /// Tell the story of an eviction that comes later than the toleration says, in the present
    /// release.
    LateEviction,
    /// Open an example.
    OpenExample(String),
    /// Make the lanes of an example; the callback gets them as SVG.
    Preview(String, Callback<Result<Rc<str>, String>>),
    /// A message about resilience reports.
    Report(ReportMsg),
    /// The worker of this number, for the report of that number, answered or broke down.
    ReportAnswer(u32, usize, Box<Result<Answer, String>>),
}

/// A link that was made, or why there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LinkMade {
    /// The link.
    pub(crate) link: String,
    /// The contents of the link, in words.
    pub(crate) contents: Vec<String>,
    /// The reason why there is none.
    pub(crate) why_not: Option<String>,
}

/// The target of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExportTarget {
    /// A file.
    Download,
    /// The clipboard.
    Copy,
}

/// A dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Dialog {
    /// Import of a text.
    Import(Source),
    /// Export.
    Export,
    /// The stored sessions; this tab works on the one with this id.
    Sessions(Rc<str>),
    /// Keyboard shortcuts and first steps.
    Help,
    /// The scenarios that come with the page.
    Scenarios,
    /// The basis of what is known about the release.
    Release,
    /// Flags of the controllers.
    Settings,
    /// Warnings: all, or those about one object.
    Warnings(Option<Selection>),
    /// Run until a condition is met, back to it, or stop there; the field begins with this line.
    Until(Rc<str>),
    /// The branches.
    Branches,
    /// Two runs side by side.
    Compare,
    /// The link of what is shown.
    Share,
    /// The offer to open a link with these contents.
    Link(Rc<Vec<String>>),
    /// The bookmarks.
    Bookmarks,
    /// The resilience report.
    Report,
    /// All commands.
    Palette,
    /// A new node.
    CreateNode,
    /// A new pod, on that node if it is not empty.
    CreatePod(Rc<str>),
}

/// A callback for events that may mean a message.
pub(crate) fn maybe<E: 'static>(
    dispatch: &Dispatch,
    meaning: impl Fn(E) -> Option<Msg> + 'static,
) -> Callback<E> {
    let dispatch = dispatch.clone();
    Callback::from(move |event| {
        if let Some(msg) = meaning(event) {
            dispatch.emit(msg);
        }
    })
}

/// A callback that shows a refusal at the edge of the page, for edits that no form waits for.
pub(crate) fn refused(dispatch: &Dispatch) -> Callback<String> {
    dispatch.reform(|error: String| Msg::Notice(Notice::error(error)))
}
