//! The work of each tab is kept in the browser as a session of its own.

use std::cell::Cell;
use std::rc::Rc;

use gloo_timers::callback::Timeout;
use taintlab_core::scenario::Scenario;
use taintlab_core::time::Timestamp;
use wasm_bindgen_futures::spawn_local;

use super::{App, linked};
use crate::link::Opened;
use crate::messages::{Dialog, Msg, Notice, NoticeAction};
use crate::session::Session;
use crate::store::WriteResult;
use crate::store::{Entry, Kept, Written};
use crate::tab::{Begin, Tab};
use crate::view_models::ViewModels;
use crate::view_models::selection::Selection;
use crate::{browser, files, link, saved, store, tab};

/// Where the page kept its only session before there were several.
const OLD_KEY: &str = "taintlab.session";
/// Where it kept what it could not read.
const OLD_BROKEN_KEY: &str = "taintlab.session.broken";
/// Storing waits until the user has paused for so long, in milliseconds.
const SAVE_AFTER: u32 = 400;

/// How the session of this tab is kept.
#[derive(Debug, Default)]
pub(crate) struct Keeping {
    pub(super) id: Rc<str>,
    /// This page, to tell its writes from those of others.
    page: String,
    writes: u32,
    /// The stamp of what is stored, as this page read or wrote it last.
    seen: Option<String>,
    /// The start that is stored, and how long its text is.
    start: Option<(Rc<Scenario>, usize)>,
    /// A write is under way.
    writing: bool,
    /// Another one is to follow.
    again: bool,
    /// That storing fails was said.
    failed: bool,
    /// The page that was in this tab before, whose writes are this tab's own.
    previous_page: Option<String>,
    /// The page was left, and the tab notes its work.
    left: Cell<bool>,
}

/// What a page begins with.
#[derive(Default)]
pub(crate) struct InitialState {
    pub(super) session: Session,
    pub(super) selection: Option<Selection>,
    pub(super) notices: Vec<Notice>,
    pub(super) keeping: Keeping,
    /// Whether it is work of before.
    is_old: bool,
    /// A link that the address holds, to be asked about.
    pub(super) offered: Option<Box<Opened>>,
}

impl Keeping {
    pub(super) fn of(id: Rc<str>, seen: Option<String>) -> Self {
        Self { id, page: browser::new_id(), seen, ..Self::default() }
    }

    /// The page is in use: until it is left, the memory of the tab is that of an open one.
    pub(super) fn enter(&self) {
        self.left.set(false);
        tab::enter(&self.id, self.seen.as_deref(), &self.page);
    }

    /// The session as it is stored has this start, of so many bytes.
    fn has_start(&mut self, session: &Session, size: usize) {
        self.start = Some((session.timeline().start.clone(), size));
    }
}

/// What this tab begins with: where it was left, a copy of the tab it was duplicated from, or the
/// sample cluster.
pub(crate) async fn begin(tab: Tab) -> InitialState {
    let fragment = browser::fragment();
    let own = tab::wrote(&fragment);
    let mut initial = begin_with(tab).await;
    if initial.is_old && own {
        return initial;
    }
    let read = match link::parse(&fragment) {
        Ok(None) => return initial,
        Ok(Some(parsed)) => linked::read(parsed).await,
        Err(error) => Err(error),
    };
    match read {
        Ok(opened) if initial.is_old => initial.offered = Some(opened),
        Ok(opened) => {
            initial.notices.extend(linked::told(&opened));
            initial.session = opened.session;
            initial.selection = opened.selection;
            tab::record_address(&fragment);
        }
        Err(error) => initial.notices.push(linked::broken(&error)),
    }
    initial
}

async fn begin_with(tab: Tab) -> InitialState {
    let mut notices = Vec::new();
    let moved = move_old_work(&mut notices).await;
    let Tab { id, stamp, page, begin } = tab;
    let mut found = match begin {
        Begin::Sample => match moved {
            Some(id) => stored(&id, &id, None, None).await,
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
            match saved::from_text(&text, "").and_then(saved::Restored::session) {
                Ok((session, selection)) => {
                    Some(InitialState { session, selection, keeping, ..InitialState::default() })
                }
                Err(error) => Some(unreadable(&error, &text)),
            }
        }
        Begin::LeftEdits(edits) => {
            let kept = store::read(&id).await.ok().flatten();
            if kept.is_none() {
                notices.push(no_longer_there());
            }
            kept.map(|kept| {
                let kept = Kept { edits: edits.to_string(), ..kept };
                let mut initial =
                    resume(&kept).unwrap_or_else(|error| unreadable(&error, whole(&kept)));
                initial.keeping.previous_page.clone_from(&page);
                initial
            })
        }
        Begin::Stored => {
            let found = stored(&id, &id, stamp, page).await;
            if found.is_none() {
                notices.push(no_longer_there());
            }
            found
        }
        Begin::CopyOf(other) => stored(&other, &id, None, None).await,
    };
    let is_old = found.is_some();
    let mut initial = found.take().unwrap_or_else(|| {
        let session = Session::new(files::sample()).unwrap_or_default();
        InitialState { session, keeping: Keeping::of(id, None), ..InitialState::default() }
    });
    initial.is_old = is_old;
    initial.notices.append(&mut notices);
    initial.keeping.enter();
    initial
}

/// A stored session, to go on with as `own`; nothing if there is none.
async fn stored(
    id: &str,
    own: &Rc<str>,
    left: Option<String>,
    previous_page: Option<String>,
) -> Option<InitialState> {
    let kept = store::read(id).await.ok().flatten()?;
    let mut initial = match resume(&kept) {
        Ok(initial) => initial,
        Err(error) => return Some(unreadable(&error, whole(&kept))),
    };
    if &**own == id {
        let writer = store::page_of(&kept.entry.stamp);
        let is_own = previous_page.as_deref() == Some(writer);
        if !is_own && left.is_some_and(|left| store::page_of(&left) != writer) {
            initial.notices.push(Notice::error(
                "Another tab has worked on this session since. This is what it left.",
            ));
        }
    } else {
        initial.keeping = Keeping::of(own.clone(), None);
    }
    Some(initial)
}

fn resume(kept: &Kept) -> Result<InitialState, String> {
    let (session, selection) = saved::from_text(&kept.edits, &kept.start)?.session()?;
    let entry = &kept.entry;
    let mut keeping = Keeping::of(entry.id.as_str().into(), Some(entry.stamp.clone()));
    keeping.has_start(&session, kept.start.len());
    Ok(InitialState { session, selection, keeping, ..InitialState::default() })
}

/// The text to give away of a session that cannot be read.
fn whole(kept: &Kept) -> &str {
    if kept.edits.is_empty() { &kept.start } else { &kept.edits }
}

/// The sample in place of what cannot be read, under an id of its own, so that what is stored stays
/// as it is.
fn unreadable(error: &str, text: &str) -> InitialState {
    let session = Session::new(files::sample()).unwrap_or_default();
    let keeping = Keeping::of(browser::new_id().into(), None);
    let notices = vec![cannot_read(error, text)];
    InitialState { session, keeping, notices, ..InitialState::default() }
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

/// Makes sessions of what earlier versions of the page stored. Returns the id of the one that the
/// user saw last, if it can be read.
async fn move_old_work(notices: &mut Vec<Notice>) -> Option<Rc<str>> {
    let mut last = None;
    for key in [OLD_BROKEN_KEY, OLD_KEY] {
        let Some(text) = browser::stored(key) else { continue };
        let restored = saved::from_text(&text, "");
        let dropped = restored.as_ref().map(|restored| restored.dropped).unwrap_or_default();
        let read = restored.and_then(saved::Restored::session);
        let entry = |title: String| Entry {
            id: browser::new_id(),
            title,
            changed: browser::now(),
            size: text.len(),
            stamp: format!("{}:0", browser::new_id()),
            name: None,
        };
        let kept = match &read {
            Ok((session, selection)) => {
                let start = &session.timeline().start;
                let (Ok(edits), Ok(start_text)) =
                    (saved::edits_text(session, selection.as_ref()), saved::start_text(start))
                else {
                    continue;
                };
                Kept { entry: entry(saved::title(start)), start: start_text, edits }
            }
            Err(_) => Kept {
                entry: entry("Work that could not be read".to_owned()),
                start: String::new(),
                edits: text.clone(),
            },
        };
        // Without success it stays where it is, to be found the next time.
        if store::put_back(&kept).await.is_ok() {
            browser::forget(key);
        }
        if !dropped.is_empty() {
            notices.push(Notice::info(format!(
                "An earlier version of this page stored what may be secret. It was removed from \
                 your work: {dropped}."
            )));
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

/// Offers a new tab to go on with what was done last.
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

    /// Whether there is something that the user would miss.
    pub(super) fn is_worth_keeping(&self) -> bool {
        self.session.can_undo() || self.keeping.seen.is_some()
    }

    /// Stores the work, after the write that is under way.
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
        let start = self.session.timeline().start.clone();
        let known = self.keeping.start.as_ref().filter(|(known, _)| Rc::ptr_eq(known, &start));
        let start_text = match known {
            Some(_) => Ok(None),
            None => saved::start_text(&start).map(Some),
        };
        let edits = saved::edits_text(&self.session, self.selection.as_ref());
        let (start_text, edits) = match (start_text, edits) {
            (Ok(start), Ok(edits)) => (start, edits),
            (Err(error), _) | (_, Err(error)) => return self.cannot_store(&error),
        };
        let start_size = start_text
            .as_ref()
            .map_or_else(|| known.map(|(_, size)| *size).unwrap_or_default(), String::len);
        self.keeping.writes += 1;
        self.keeping.writing = true;
        let stamp = format!("{}:{}", self.keeping.page, self.keeping.writes);
        let entry = Entry {
            id: self.keeping.id.to_string(),
            title: saved::title(&start),
            name: None,
            changed: browser::now(),
            size: start_size + edits.len(),
            stamp: stamp.clone(),
        };
        let (dispatch, seen) = (self.dispatch.clone(), self.keeping.seen.clone());
        let previous_page = self.keeping.previous_page.clone();
        spawn_local(async move {
            let result = store::write(entry, seen, previous_page, start_text, edits).await;
            dispatch.emit(Msg::Written(Box::new(WriteResult { stamp, start, start_size, result })));
        });
    }

    pub(super) fn written(&mut self, done: WriteResult) {
        // Of a session that this tab has left since.
        if !done.stamp.starts_with(&self.keeping.page) {
            return;
        }
        self.keeping.writing = false;
        match done.result {
            Ok(Written::Done) => {
                self.keeping.failed = false;
                self.keeping.seen = Some(done.stamp);
                self.keeping.start = Some((done.start, done.start_size));
                // What is noted of a page that was left stays until it is there again.
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
                    "Another tab goes on with the same session. What you do here is kept as a \
                     session of its own.",
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
                "This work is not kept when the tab is closed: {error}. Export it, or delete \
                 sessions that you do not need."
            ));
            self.notice(notice.with(NoticeAction::Sessions));
        }
    }

    /// The page is left: notes in the tab what can be noted.
    pub(super) fn record_work(&self) {
        let untouched = !self.is_worth_keeping()
            && self.selection.is_none()
            && self.session.home() == Timestamp::ZERO;
        let start = &self.session.timeline().start;
        let long =
            self.keeping.start.as_ref().is_some_and(|(stored, size)| {
                Rc::ptr_eq(stored, start) && *size > tab::LONGEST_NOTE
            });
        let selection = self.selection.as_ref();
        let text = match (untouched, long) {
            (true, _) => None,
            (_, true) => saved::edits_text(&self.session, selection)
                .ok()
                .map(|edits| format!("{}{edits}", tab::EDITS)),
            _ => saved::to_text(&self.session, selection).ok(),
        };
        self.keeping.left.set(true);
        tab::leave(text.as_deref());
    }

    /// The page is left: stores what is not stored yet, if the browser still lets it.
    pub(super) fn store_at_once(&mut self) {
        let unsaved = self.save.is_some() || self.playback.is_playing() || self.keeping.again;
        if unsaved && self.is_worth_keeping() {
            self.save = None;
            self.write();
        }
    }

    /// This tab leaves its session, which is stored, and goes on with another.
    pub(super) fn open_session(&mut self, kept: &Kept) {
        if self.save.is_some() {
            self.store();
        }
        match resume(kept) {
            Ok(initial) => {
                self.play(false);
                self.turn_page();
                self.story = None;
                self.session = initial.session;
                self.keeping = initial.keeping;
                self.selection = initial.selection;
                self.dialog = None;
                self.views.forget_baseline();
                self.forget_what_was_done();
                self.notices.retain(|notice| !notice.is_offer());
                self.keeping.enter();
                if !self.refresh(ViewModels::follow_change) {
                    self.new_epoch();
                }
            }
            Err(error) => {
                let notice = Notice::error(format!("This session cannot be read: {error}."));
                let file = ("taintlab-session.json".to_owned(), whole(kept).into());
                self.notice(notice.with(NoticeAction::Download(file.0, file.1)));
            }
        }
    }

    /// Reads a session and goes on with it.
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
        // So that the list has it as it is now.
        self.store();
        self.dialog = Some(Dialog::Sessions(self.keeping.id.clone()));
    }
}
