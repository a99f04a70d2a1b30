//! Each tab's work is saved in the browser as a session of its own.

use std::cell::Cell;
use std::rc::Rc;

use gloo_timers::callback::Timeout;
use taintlab_core::time::Timestamp;
use wasm_bindgen::closure::Closure;
use wasm_bindgen_futures::spawn_local;

use super::{App, linked};
use crate::connection::{Connection, Watch};
use crate::messages::{Dialog, Msg, Notice, NoticeAction};
use crate::protocol::{Origin, Progress, Reply, Request, Staged, StartText, Update};
use crate::store::WriteResult;
use crate::store::{Entry, Kept, Written};
use crate::tab::{Begin, Tab, Work};
use crate::{browser, link, store, tab};

/// The storage key of the only session, before there were several.
const OLD_KEY: &str = "taintlab.session";
/// The storage key of a session that could not be read.
const OLD_BROKEN_KEY: &str = "taintlab.session.broken";
/// Restoring a session shows progress from the start if its initial state is longer than this, in
/// bytes.
const LONG: usize = 1 << 18;
/// The pause in the user's edits before work is stored, in milliseconds.
const SAVE_AFTER: u32 = 400;

/// The storage state of this tab's session.
#[derive(Debug, Default)]
pub(crate) struct Keeping {
    pub(super) id: Rc<str>,
    /// The id of this page, which marks its writes.
    page: String,
    writes: u32,
    /// The stamp of the stored session, as this page last read or wrote it.
    seen: Option<String>,
    /// The stored start: its number among the starts received, and its length in bytes.
    start: Option<(u32, usize)>,
    /// Whether a write is under way.
    writing: bool,
    /// Whether another write follows.
    again: bool,
    /// Whether the user was told that storing fails.
    failed: bool,
    /// The previous page in this tab, whose writes count as this tab's own.
    previous_page: Option<String>,
    /// Whether the page was left. The tab then keeps a note of its work.
    left: Cell<bool>,
}

/// The initial state of a page.
pub(crate) struct InitialState {
    pub(super) connection: Connection,
    /// The fragment of the address when it was read.
    pub(super) fragment: String,
    /// The session's first report.
    pub(super) update: Box<Update>,
    pub(super) notices: Vec<Notice>,
    pub(super) keeping: Keeping,
    /// The contents of the link in the address, if the user must be asked before it opens.
    pub(super) offered: Option<Vec<String>>,
}

impl Default for InitialState {
    fn default() -> Self {
        Self {
            connection: Connection::begin(),
            fragment: browser::fragment(),
            update: Box::default(),
            notices: Vec::new(),
            keeping: Keeping::default(),
            offered: None,
        }
    }
}

/// A tab's earlier work. Its session is kept aside.
struct Found {
    notices: Vec<Notice>,
    keeping: Keeping,
}

impl Keeping {
    pub(super) fn of(id: Rc<str>, seen: Option<String>) -> Self {
        Self { id, page: browser::new_id(), seen, ..Self::default() }
    }

    /// Marks the page as in use: until it is left, the tab's memory is that of an open tab.
    pub(super) fn enter(&self) {
        self.left.set(false);
        tab::enter(&self.id, self.seen.as_deref(), &self.page);
    }
}

/// Restores the tab's work: as it was left, as a copy of the tab it was duplicated from, or else
/// the sample cluster.
pub(crate) async fn begin(tab: Tab) -> InitialState {
    let connection = Connection::begin();
    let fragment = browser::fragment();
    let own = tab::wrote(&fragment);
    let mut notices = Vec::new();
    let found = begin_with(tab.clone(), &connection, &mut notices).await;
    let is_old = found.is_some();
    let keeping = match found {
        Some(found) => {
            notices.splice(0..0, found.notices);
            found.keeping
        }
        None => Keeping::of(tab.id, None),
    };
    let link = if is_old && own { Ok(None) } else { link::parse(&fragment) };
    let mut offered = None;
    // The session kept aside is taken before a link replaces it.
    let mut update = None;
    if !is_old {
        let picture = if matches!(link, Ok(None)) { browser::sample_picture().await } else { None };
        if picture.is_some() {
            // The engine catches up with what is shown.
            connection.send(Request::Stage(Origin::Sample));
            connection.send(Request::Take);
            update = picture;
        } else {
            // The sample is built in, so this cannot fail.
            let _ = connection.stage(Origin::Sample).await;
        }
    }
    match link {
        Ok(None) => {}
        Ok(Some(parsed)) => {
            if is_old {
                update = taken(&connection).await;
            }
            match linked::stage(&connection, &fragment, &parsed).await {
                Ok(staged) if is_old => offered = Some(staged.contents),
                Ok(staged) => {
                    notices.extend(linked::told(&staged));
                    tab::record_address(&fragment, "");
                }
                Err(error) => notices.push(linked::broken(&error)),
            }
        }
        Err(error) => notices.push(linked::broken(&error)),
    }
    if update.is_none() {
        update = taken(&connection).await;
    }
    keeping.enter();
    let update = update.unwrap_or_default();
    InitialState { connection, fragment, update, notices, keeping, offered }
}

/// The session that was kept aside, as it is shown.
async fn taken(connection: &Connection) -> Option<Box<Update>> {
    connection.first(Request::Take).await.ok().map(|(_, update)| update)
}

async fn begin_with(tab: Tab, connection: &Connection, notices: &mut Vec<Notice>) -> Option<Found> {
    let moved = move_old_work(connection, notices).await;
    let Tab { id, stamp, page, begin } = tab;
    match begin {
        Begin::Sample => match moved {
            Some(id) => stored(connection, &id, &id, None, None).await,
            None => {
                if notices.is_empty() {
                    notices.extend(offer_last().await);
                }
                None
            }
        },
        Begin::Fresh => {
            notices.extend(say_where_work_is().await);
            None
        }
        Begin::Left(text) => {
            let keeping = Keeping { previous_page: page.clone(), ..Keeping::of(id.clone(), stamp) };
            match connection.stage(Origin::Saved(text.clone(), StartText::default())).await {
                Ok(_) => Some(Found { keeping, notices: Vec::new() }),
                Err(error) => Some(unreadable(connection, &error, &text).await),
            }
        }
        Begin::LeftEdits(edits) => {
            let kept = store::read(&id).await.ok().flatten();
            let Some(kept) = kept else {
                notices.push(no_longer_there());
                return None;
            };
            let kept = Kept { edits: edits.to_string(), ..kept };
            let mut found = match resume(connection, &kept).await {
                Ok(keeping) => Found { keeping, notices: Vec::new() },
                Err(error) => unreadable(connection, &error, whole(&kept)).await,
            };
            found.keeping.previous_page.clone_from(&page);
            Some(found)
        }
        Begin::Stored => {
            let found = stored(connection, &id, &id, stamp, page).await;
            if found.is_none() {
                notices.push(no_longer_there());
            }
            found
        }
        Begin::CopyOf(other) => stored(connection, &other, &id, None, None).await,
    }
}

/// A stored session, to continue as `own`; `None` if there is none.
async fn stored(
    connection: &Connection,
    id: &str,
    own: &Rc<str>,
    left: Option<String>,
    previous_page: Option<String>,
) -> Option<Found> {
    let kept = store::read(id).await.ok().flatten()?;
    let mut found = match resume(connection, &kept).await {
        Ok(keeping) => Found { keeping, notices: Vec::new() },
        Err(error) => return Some(unreadable(connection, &error, whole(&kept)).await),
    };
    if &**own == id {
        let writer = store::page_of(&kept.entry.stamp);
        let is_own = previous_page.as_deref() == Some(writer);
        if !is_own && left.is_some_and(|left| store::page_of(&left) != writer) {
            found.notices.push(Notice::error(
                "This session was changed in another tab. You see its latest state.",
            ));
        }
    } else {
        found.keeping = Keeping::of(own.clone(), None);
    }
    Some(found)
}

async fn resume(connection: &Connection, kept: &Kept) -> Result<Keeping, String> {
    let given_up = connection.clone();
    let stop = Closure::<dyn Fn()>::new(move || given_up.give_up()).into_js_value();
    let name = kept.entry.name().to_owned();
    let watch: Watch = Rc::new(move |progress: &Progress| {
        let what = format!("Restoring “{name}”. {}", progress.what);
        browser::show_restoring(&Progress { what, part: progress.part }, &stop);
    });
    if kept.start.len() > LONG {
        // Reading does not report progress and takes a while.
        watch(&Progress { what: "Reading".to_owned(), part: None });
    }
    connection.stage_watched(origin_of(kept), &watch).await?;
    Ok(keeping_of(kept))
}

fn origin_of(kept: &Kept) -> Origin {
    Origin::Saved(kept.edits.as_str().into(), kept.start.clone())
}

fn keeping_of(kept: &Kept) -> Keeping {
    let entry = &kept.entry;
    let keeping = Keeping::of(entry.id.as_str().into(), Some(entry.stamp.clone()));
    // The first start that the session will report.
    Keeping { start: Some((1, kept.start.len())), ..keeping }
}

/// The text to offer for download when a session cannot be read.
fn whole(kept: &Kept) -> &str {
    match &kept.start {
        StartText::Text(start) if kept.edits.is_empty() => start,
        _ => &kept.edits,
    }
}

/// Replaces an unreadable session by the sample, under a new id, so that the stored session stays
/// unchanged.
async fn unreadable(connection: &Connection, error: &str, text: &str) -> Found {
    let given_up = connection.take_given_up();
    // The sample is built in, so this cannot fail.
    let _ = connection.stage(Origin::Sample).await;
    let keeping = Keeping::of(browser::new_id().into(), None);
    let notice = match given_up {
        true => Notice::info("Here is the sample cluster. Your work is kept under Sessions.")
            .with(NoticeAction::Sessions),
        false => cannot_read(error, text),
    };
    Found { keeping, notices: vec![notice] }
}

fn no_longer_there() -> Notice {
    Notice::error(
        "The work of this tab is no longer in the browser's storage. Here is the sample cluster.",
    )
}

fn cannot_read(error: &str, text: &str) -> Notice {
    Notice::error(format!(
        "The work stored in this browser could not be read: {error}. Here is the sample cluster; \
         a copy of the stored work is kept under Sessions."
    ))
    .with(NoticeAction::Download("taintlab-session.json".to_owned(), text.into()))
}

/// Turns the work stored by earlier versions of the page into sessions. Returns the id of the
/// session that the user saw last, if it can be read.
async fn move_old_work(connection: &Connection, notices: &mut Vec<Notice>) -> Option<Rc<str>> {
    let mut last = None;
    for key in [OLD_BROKEN_KEY, OLD_KEY] {
        let Some(text) = browser::stored(key) else { continue };
        let read =
            connection.stage(Origin::Saved(text.as_str().into(), StartText::default())).await;
        let entry = |title: String| Entry {
            id: browser::new_id(),
            title,
            done: String::new(),
            changed: browser::now(),
            size: text.len(),
            stamp: format!("{}:0", browser::new_id()),
            name: None,
        };
        let kept = match &read {
            Ok(staged) => {
                let (work, start) = &staged.work;
                Kept {
                    entry: entry(staged.title.clone()),
                    start: start.clone().unwrap_or_default(),
                    edits: work.text(staged.now, staged.selection.as_ref(), None),
                }
            }
            Err(_) => Kept {
                entry: entry("Work that could not be read".to_owned()),
                start: StartText::default(),
                edits: text.clone(),
            },
        };
        // If this fails, the work stays where it is, to be found the next time.
        if store::put_back(&kept).await.is_ok() {
            browser::forget(key);
        }
        let dropped = read.as_ref().map(|staged| staged.dropped.clone()).unwrap_or_default();
        if !dropped.is_empty() {
            notices.push(linked::told_of_dropped(&dropped));
        }
        if key == OLD_KEY {
            match read {
                Ok(_) => last = Some(kept.entry.id.as_str().into()),
                Err(error) => notices.push(cannot_read(&error, &text)),
            }
        }
    }
    last
}

/// Offers a new tab to continue the latest session.
async fn offer_last() -> Option<Notice> {
    let last = store::list().await.ok()?.into_iter().next()?;
    let ago = crate::text::ago(browser::now().saturating_sub(last.changed));
    let notice = Notice::info(format!("Your last session: “{}”, changed {ago}.", last.name()));
    Some(notice.with(NoticeAction::Continue(last.id.into())))
}

async fn say_where_work_is() -> Option<Notice> {
    let any = !store::list().await.ok()?.is_empty();
    any.then(|| {
        Notice::info("This is a fresh start. Your earlier work is kept.")
            .with(NoticeAction::Sessions)
    })
}

impl App {
    pub(super) fn save_soon(&mut self) {
        let dispatch = self.dispatch.clone();
        self.save = Some(Timeout::new(SAVE_AFTER, move || dispatch.emit(Msg::Save)));
    }

    /// Whether there is work that the user would miss.
    pub(super) fn is_worth_keeping(&self) -> bool {
        self.shown.kept.can_undo || self.keeping.seen.is_some()
    }

    /// Stores the work, after a write that is under way.
    pub(super) fn store(&mut self) {
        self.save = None;
        if !self.is_worth_keeping() {
            return;
        }
        self.keeping.again = self.keeping.writing;
        if !self.keeping.writing {
            self.write();
        }
    }

    fn write(&mut self) {
        self.notices.retain(|notice| !notice.is_offer());
        let is_stored = self.has_stored_start();
        let start_text = (!is_stored).then(|| self.shown.start.clone());
        let start_size = self.shown.start.len();
        let work = &self.shown.kept;
        let edits = work.text(self.shown.clock.home, self.selection.as_ref(), None);
        self.keeping.writes += 1;
        self.keeping.writing = true;
        let stamp = format!("{}:{}", self.keeping.page, self.keeping.writes);
        let entry = Entry {
            id: self.keeping.id.to_string(),
            title: work.title.clone(),
            done: work.done.clone(),
            name: None,
            changed: browser::now(),
            size: start_size + edits.len(),
            stamp: stamp.clone(),
        };
        let start = (self.shown.starts, start_size);
        let (dispatch, seen) = (self.dispatch.clone(), self.keeping.seen.clone());
        let previous_page = self.keeping.previous_page.clone();
        spawn_local(async move {
            let result = store::write(entry, seen, previous_page, start_text, edits).await;
            dispatch.emit(Msg::Written(Box::new(WriteResult { stamp, start, result })));
        });
    }

    pub(super) fn written(&mut self, done: WriteResult) {
        // The result belongs to a session that this tab has left since.
        if !done.stamp.starts_with(&self.keeping.page) {
            return;
        }
        self.keeping.writing = false;
        match done.result {
            Ok(Written::Done) => {
                self.keeping.failed = false;
                self.keeping.seen = Some(done.stamp);
                self.keeping.start = Some(done.start);
                // The note of a page that was left stays until the page returns.
                if !self.keeping.left.get() {
                    self.keeping.enter();
                }
            }
            Ok(Written::Gone) => {
                self.keeping.start = None;
                self.keeping.again = true;
            }
            Ok(Written::ByAnother) => {
                self.keeping = Keeping::of(browser::new_id().into(), None);
                self.keeping.again = true;
                self.notice(Notice::info(
                    "This session is open in another tab. Your changes here are saved as a \
                     separate session.",
                ));
            }
            Err(error) => self.cannot_store(&error.to_string()),
        }
        if std::mem::take(&mut self.keeping.again) {
            self.write();
        }
    }

    fn cannot_store(&mut self, error: &str) {
        if !std::mem::replace(&mut self.keeping.failed, true) {
            let notice = Notice::error(format!(
                "Your work cannot be saved and will be lost when you close this tab: {error}. \
                 Export it, or delete sessions that you do not need."
            ));
            self.notice(notice.with(NoticeAction::Sessions));
        }
    }

    /// Whether the session's start is stored.
    fn has_stored_start(&self) -> bool {
        self.keeping.start.is_some_and(|(stored, _)| stored == self.shown.starts)
    }

    /// Whether work would be lost if the page were left now: its start is not stored, and too long for
    /// a note in the tab.
    pub(super) fn needs_page(&self) -> bool {
        let fits =
            matches!(&self.shown.start, StartText::Text(start) if start.len() <= tab::LONGEST_NOTE);
        self.is_worth_keeping() && !fits && !self.has_stored_start()
    }

    /// Notes the work in the tab when the page is left, as far as the tab has room.
    pub(super) fn record_work(&self) {
        let now = self.shown.clock.home;
        let untouched =
            !self.is_worth_keeping() && self.selection.is_none() && now == Timestamp::ZERO;
        let (work, selection) = (&self.shown.kept, self.selection.as_ref());
        let edits = || format!("{}{}", tab::EDITS, work.text(now, selection, None));
        let work = match &self.shown.start {
            _ if untouched => Work::None,
            StartText::Text(start) if start.len() <= tab::LONGEST_NOTE => {
                Work::Text(work.text(now, selection, Some(start)))
            }
            _ if self.has_stored_start() => Work::Text(edits()),
            _ => Work::Stored,
        };
        self.keeping.left.set(true);
        tab::leave(&work);
    }

    /// Stores unsaved work when the page is left, if the browser still permits it.
    pub(super) fn store_at_once(&mut self) {
        let unsaved = self.save.is_some() || self.playback.is_playing() || self.keeping.again;
        if unsaved && self.is_worth_keeping() {
            self.save = None;
            self.write();
        }
    }

    /// Switches this tab to another session, if it can be read.
    pub(super) fn open_session(&mut self, kept: Kept) {
        if self.save.is_some() {
            self.store();
        }
        self.ask(Request::Stage(origin_of(&kept)), move |app, reply| {
            if let Reply::Staged(staged) = reply {
                app.session_staged(&kept, staged);
            }
        });
    }

    fn session_staged(&mut self, kept: &Kept, staged: Result<Box<Staged>, String>) {
        if let Err(error) = staged {
            let notice = Notice::error(format!("This session cannot be read: {error}."));
            let file = ("taintlab-session.json".to_owned(), whole(kept).into());
            return self.notice(notice.with(NoticeAction::Download(file.0, file.1)));
        }
        self.play(false);
        self.turn_page();
        self.keeping = keeping_of(kept);
        self.dialog = None;
        self.notices.retain(|notice| !notice.is_offer());
        self.keeping.enter();
        self.ask(Request::Take, |app, _| {
            if let Some((known, _)) = &mut app.keeping.start {
                *known = app.shown.starts;
            }
        });
    }

    /// Reads a stored session and switches to it.
    pub(super) fn continue_session(&self, id: Rc<str>) {
        let dispatch = self.dispatch.clone();
        spawn_local(async move {
            dispatch.emit(match store::read(&id).await {
                Ok(Some(kept)) => Msg::OpenSession(Box::new(kept)),
                Ok(None) => Msg::Notice(Notice::error("This session is no longer there.")),
                Err(error) => Msg::Notice(Notice::error(error.to_string())),
            });
        });
    }

    pub(super) fn open_sessions(&mut self) {
        // The list must show this session as it is now.
        self.store();
        self.dialog = Some(Dialog::Sessions(self.keeping.id.clone()));
    }
}
