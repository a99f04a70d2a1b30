//! What can happen to the application.

use std::rc::Rc;

use taintlab_core::command::Command;
use taintlab_core::scenario::{Bookmark, Scenario};
use taintlab_core::time::Timestamp;
use taintlab_kubectl::Completion;
use yew::prelude::*;

use crate::board_keys::Step;
use crate::connection::Told;
use crate::files::ExportKind;
use crate::playback::Speed;
pub(crate) use crate::protocol::{EmbedMade, Notice, NoticeAction, Pictured};
use crate::protocol::{Origin, Staged};
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

/// What is to be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A text, and its name.
    Text(Rc<str>, Rc<str>),
    /// Files too long to be shown, which the session reads by itself; their names, and how many
    /// bytes they have.
    Files(Rc<Vec<web_sys::File>>, Rc<str>, usize),
}

impl Source {
    /// Nothing yet.
    pub(crate) fn empty() -> Self {
        Self::Text("".into(), "".into())
    }

    /// Tells one from another: a number.
    pub(crate) fn key(&self) -> usize {
        match self {
            Self::Text(text, _) => text.as_ptr().addr(),
            Self::Files(files, ..) => Rc::as_ptr(files).addr(),
        }
    }
}

/// How components say what the user wants. There is one for the whole page, so that comparing it
/// is comparing a pointer.
pub(crate) type Dispatch = Callback<Msg>;

/// What the user wants, or what happened.
pub(crate) enum Msg {
    /// A frame is painted, at this time of the page.
    Frame(f64),
    /// Commands, together, now; what is refused is told to the callback.
    Edit(Vec<Command>, Callback<String>),
    /// The same, from a dialog, which closes if they are not refused.
    EditAndClose(Vec<Command>, Callback<String>),
    /// Take the last edit back.
    Undo,
    /// Do it again.
    Redo,
    /// Play or pause.
    TogglePlay,
    /// Let time pass so fast.
    SetSpeed(Speed),
    /// Let time pass faster.
    Faster,
    /// Let time pass slower.
    Slower,
    /// Go to what happens next.
    Step,
    /// Back to what happened before.
    StepBack,
    /// Go on until nothing more happens.
    RunToEnd,
    /// Move the clock.
    Seek(Timestamp),
    /// Move the clock, and select what is spoken of there, if anything.
    GoTo(Timestamp, Option<Selection>),
    /// Select something, or nothing.
    Select(Option<Selection>),
    /// Open a dialog.
    Open(Dialog),
    /// Close it.
    CloseDialog,
    /// Put a scenario in place of everything.
    Load(Box<Scenario>),
    /// Read what is to be imported; whether everything is kept.
    Read(Source, bool, Callback<Rc<ReadView>>),
    /// Read it again, the other way.
    ReadAgain(bool, Callback<Rc<ReadView>>),
    /// Load what was read: a scenario; or objects in place of the cluster, on the release that
    /// their nodes report (`true`), or on the present one.
    Replace(bool),
    /// What adding what was read to the cluster would do.
    Plan(Callback<Rc<ReadView>>),
    /// Add what was read to the cluster, as far as it fits.
    Add,
    /// Some of the objects that were read.
    List(Listing, Callback<Rc<Listed>>),
    /// A line of what was read, with its neighbours.
    Excerpt(u32, Callback<Vec<(u32, String)>>),
    /// Hand out the work.
    Export(ExportKind, ExportTarget),
    /// Offer a picture as a file.
    Picture(Pictured, Picture),
    /// Run the same on another Kubernetes.
    ChangeStart(StartChange),
    /// The same, from the settings, which close unless it is refused.
    ChangeSettings(StartChange),
    /// Later runs are to be compared with this one.
    SetBaseline,
    /// Select something, close the dialog that showed it, and go into the inspector.
    Show(Selection),
    /// Something got the focus.
    Focused(web_sys::Element),
    /// Move the focus on the board.
    Move(Step),
    /// Leave what has the focus for the board; from there, or from nowhere, close the inspector.
    Escape,
    /// Move the focus to the board.
    ToBoard,
    /// The browser went back or forth in its history.
    WentBack,
    /// Put a text on the clipboard.
    Copy(Rc<str>),
    /// Run a line of kubectl.
    Kubectl(String),
    /// Something about the pane below the board.
    Pane(PaneMsg),
    /// What could stand at the cursor, a byte index into the line.
    Complete(String, usize, Callback<Vec<Completion>>),
    /// Change the colours.
    NextTheme,
    /// Show so much of each node.
    SetDensity(Density),
    /// Show more or less of each node.
    NextDensity,
    /// Fold nodes on which nothing happens, or show them.
    ToggleFine,
    /// Give an element of the page the focus.
    Focus(TestId),
    /// Select the next node or pod with this in its name.
    Find(String),
    /// Say something.
    Notice(Notice),
    /// Take a message away.
    Dismiss(u32),
    /// Files are dragged over the page, or no longer.
    Dropping(bool),
    /// Files were given.
    Files(Vec<web_sys::File>),
    /// Offer a text as a file of that name.
    Download(String, Rc<str>),
    /// Something about the lanes.
    Lanes(LanesMsg),
    /// What is seen of the log.
    Log(LogWanted),
    /// Rows of a category are shown in the log, or no longer.
    ToggleLog(Category),
    /// The log shows only what is about the selection, or everything.
    ToggleLogSelected,
    /// The session tells something, or its worker broke down.
    Told(Box<Told>),
    /// Stop what takes long.
    Cancel,
    /// What was to be stopped had time for it: requests up to this one.
    StillBusy(u32),
    /// The answer to this request has taken long.
    Slow(u32),
    /// The beginning of a condition: what it could become.
    Offers(String, Callback<Vec<String>>),
    /// Go to what happens next to what is selected, or to what happened before.
    StepAbout(bool),
    /// Kinds of rows are marked and stepped to, or no longer.
    ToggleKind(MarkKind),
    /// Run until a condition, back to it, or stop there; what is wrong with it is told back.
    Until(Until, Callback<String>),
    /// Something about branches.
    Branch(BranchMsg),
    /// Compare two runs; what is wrong is told back.
    Compare(CompareWith, Callback<String>),
    /// Store the work.
    Save,
    /// The work was stored, or not.
    Written(Box<WriteResult>),
    /// The page is left: store what is not stored yet.
    Leave,
    /// The page is there again as it was left.
    Return,
    /// Go on with a session that is kept.
    OpenSession(Box<Kept>),
    /// Read the session of this id and go on with it.
    ContinueSession(Rc<str>),
    /// Show the sessions that are kept.
    Sessions,
    /// The link of so many is made: write it into the address.
    Address(u32, String),
    /// A link was read, or is broken.
    LinkRead(Result<Box<Staged>, String>),
    /// What of an embed was to be packed is.
    EmbedPacked(String, Callback<Result<Rc<EmbedMade>, String>>),
    /// Keep aside what is in a link.
    Stage(Origin),
    /// Open the link that was offered.
    TakeLink,
    /// Make a link, without names if so wanted.
    MakeLink(bool, Callback<Rc<LinkMade>>),
    /// Make an embed.
    MakeEmbed(Callback<Result<Rc<EmbedMade>, String>>),
    /// Hand out a file in place of a link, without names if so wanted.
    DownloadShared(bool),
    /// Do what a row of the command palette says.
    Run(Rc<dyn Fn() -> Self>),
    /// Set the bookmarks.
    SetBookmarks(Vec<Bookmark>),
    /// Tell the story from the bookmark of this number on, or end it.
    Tell(Option<usize>),
    /// The bookmark after the one that is told.
    NextBookmark,
    /// The bookmark before it.
    PreviousBookmark,
    /// Pods with this in their names are wanted there, by their keys.
    PodsNamed(String, Callback<Vec<String>>),
    /// Tell why an eviction comes later than the toleration says, in the present release.
    LateEviction,
    /// Open an example.
    OpenExample(&'static str),
    /// The lanes of an example, SVG, are wanted there.
    Preview(&'static str, Callback<Result<Rc<str>, String>>),
    /// Do something with resilience reports.
    Report(ReportMsg),
    /// The worker of this number, for the report of that number, answered or broke down.
    ReportAnswer(u32, usize, Box<Result<Answer, String>>),
}

/// A link that was made, or why there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LinkMade {
    /// The link.
    pub(crate) link: String,
    /// What is in it, in words.
    pub(crate) contents: Vec<String>,
    /// Why there is none.
    pub(crate) why_not: Option<String>,
}

/// How something is handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExportTarget {
    /// As a file.
    Download,
    /// On the clipboard.
    Copy,
}

/// A dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Dialog {
    /// Import of a text.
    Import(Source),
    /// Export.
    Export,
    /// The sessions that are kept; this tab works on the one of this id.
    Sessions(Rc<str>),
    /// Keyboard shortcuts and first steps.
    Help,
    /// The scenarios that come with the page.
    Scenarios,
    /// What the release rests on.
    Release,
    /// Flags of the controllers.
    Settings,
    /// Warnings: all, or those about one object.
    Warnings(Option<Selection>),
    /// Run until a condition is met, back to it, or stop there; with this line to begin with.
    Until(Rc<str>),
    /// The branches.
    Branches,
    /// Two runs side by side.
    Compare,
    /// The link of what is shown.
    Share,
    /// Whether to open a link that holds this.
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

/// A callback for events that may mean something, or not.
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

/// Says what was refused at the edge of the page, for edits that no form waits for.
pub(crate) fn refused(dispatch: &Dispatch) -> Callback<String> {
    dispatch.reform(|error: String| Msg::Notice(Notice::error(error)))
}
