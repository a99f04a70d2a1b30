//! The address bar is the state: the address follows the work, and the work an address that was
//! opened, or that the browser's Back and Forward lead to.

use std::collections::BTreeMap;
use std::rc::Rc;

use taintlab_core::time::Timestamp;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

use super::App;
use super::keeping::Keeping;
use super::linked::{broken, read, told};
use crate::link::{LONGEST_LINK, Opened};
use crate::messages::{Dialog, EmbedMade, LinkMade, Msg, Notice};
use crate::session::{Edit, Session, Timeline};
use crate::view_models::ViewModels;
use crate::view_models::selection::Selection;
use crate::{browser, embed, files, link, streams, tab};

/// What the entries of the browser's history stand for.
pub(super) struct Address {
    /// This page: entries of another one are read as links.
    page: String,
    /// The present entry, and how many were made.
    present: u32,
    made: u32,
    /// What was left in entries of this page.
    visits: BTreeMap<u32, Visit>,
    /// What stands in the address.
    written: String,
    /// The next write makes an entry of its own.
    push: bool,
    /// Counts links that are being made: only the last one is written.
    turn: u32,
}

/// Where somebody was.
struct Visit {
    session: Rc<str>,
    timeline: Timeline,
    now: Timestamp,
    selection: Option<Selection>,
}

impl Address {
    pub(super) fn new() -> Self {
        Self {
            page: browser::new_id(),
            present: 0,
            made: 0,
            visits: BTreeMap::new(),
            written: browser::fragment(),
            push: false,
            turn: 0,
        }
    }

    fn write(&mut self, fragment: &str) {
        let fragment = if fragment.len() > LONGEST_LINK { "" } else { fragment };
        let push = std::mem::take(&mut self.push);
        if push {
            // The entry that is left must be known again, even if it was never written.
            browser::set_address(&self.written, &self.state(), false);
            self.made += 1;
            self.present = self.made;
        }
        if browser::set_address(fragment, &self.state(), push) {
            self.is_now(fragment);
        }
    }

    /// What the browser keeps with the present entry.
    fn state(&self) -> String {
        format!("{}:{}", self.page, self.present)
    }

    /// What stands in the address is what this tab shows.
    fn is_now(&mut self, fragment: &str) {
        fragment.clone_into(&mut self.written);
        tab::record_address(fragment);
    }

    /// The entry that the browser is at, if this page made it.
    fn entry(&self) -> Option<u32> {
        let state = browser::address_state()?;
        state.strip_prefix(&self.page)?.strip_prefix(':')?.parse().ok()
    }
}

impl App {
    /// Writes the link of what is shown into the address.
    pub(super) fn follow_address(&mut self) {
        // The entry of a dialog goes away with it.
        if !self.back.is_idle() {
            return;
        }
        self.address.turn += 1;
        let draft = link::write(&self.session, self.selection.as_ref()).ok();
        match draft.filter(|draft| !draft.says_nothing()) {
            None => self.address.write(""),
            Some(draft) => match draft.json.clone() {
                None => self.address.write(&draft.fragment(&[])),
                Some(json) => {
                    let (dispatch, turn) = (self.dispatch.clone(), self.address.turn);
                    spawn_local(async move {
                        let fragment = match streams::deflate(&json).await {
                            Ok(deflated) => draft.fragment(&deflated),
                            Err(_) => String::new(),
                        };
                        dispatch.emit(Msg::Address(turn, fragment));
                    });
                }
            },
        }
    }

    /// A link is made.
    pub(super) fn write_address(&mut self, turn: u32, fragment: &str) {
        if turn == self.address.turn && self.back.is_idle() {
            self.address.write(fragment);
        }
    }

    /// Something else takes the place of the work: the browser's Back is to lead here again.
    pub(super) fn leave_visit(&mut self) {
        let visit = Visit {
            session: self.keeping.id.clone(),
            timeline: self.session.timeline().clone(),
            now: self.session.now(),
            selection: self.selection.clone(),
        };
        self.address.visits.insert(self.address.present, visit);
    }

    /// The same, and what comes gets an entry of its own in the browser's history.
    pub(super) fn turn_page(&mut self) {
        self.leave_visit();
        self.address.push = true;
        // Otherwise when the entry of the dialog is gone.
        if self.back.is_idle() {
            self.address.turn += 1;
            self.address.write("");
        }
    }

    /// The browser is at another address: one of the entries of this page, or a link.
    pub(super) fn arrive(&mut self) {
        let fragment = browser::fragment();
        let entry = self.address.entry();
        if entry == Some(self.address.present) {
            return self.follow_address();
        }
        if let Some(id) = entry
            && let Some(visit) = self.address.visits.remove(&id)
        {
            self.leave_visit();
            self.address.present = id;
            self.address.is_now(&fragment);
            return self.visit(visit);
        }
        if fragment == self.address.written {
            return;
        }
        let dispatch = self.dispatch.clone();
        match link::parse(&fragment) {
            Ok(None) => {}
            Ok(Some(parsed)) => spawn_local(async move {
                dispatch.emit(Msg::LinkRead(read(parsed).await));
            }),
            Err(error) => self.link_read(Err(error)),
        }
    }

    fn visit(&mut self, visit: Visit) {
        self.play(false);
        if visit.session == self.keeping.id {
            self.session.go_to(visit.timeline, visit.now);
        } else {
            let edits: Vec<Edit> = visit.timeline.log.iter().map(|edit| (**edit).clone()).collect();
            let start = (*visit.timeline.start).clone();
            match Session::resume(start, edits, visit.now) {
                Ok(session) => self.begin_session(session),
                Err(error) => return self.notice(Notice::error(error.to_string())),
            }
        }
        self.selection = visit.selection;
        self.story = None;
        self.forget_what_was_done();
        self.changed();
    }

    /// This tab leaves its session, which is stored, and goes on with a new one.
    fn begin_session(&mut self, session: Session) {
        if self.save.is_some() {
            self.store();
        }
        self.play(false);
        self.session = session;
        self.keeping = Keeping::of(browser::new_id().into(), None);
        self.keeping.enter();
        self.views.forget_baseline();
        self.forget_what_was_done();
        self.notices.retain(|notice| !notice.is_offer());
        if !self.refresh(ViewModels::follow_change) {
            self.new_epoch();
        }
    }

    /// A link was opened. It takes no work away: what there is to lose is asked about.
    pub(super) fn link_read(&mut self, read: Result<Box<Opened>, String>) {
        match read {
            Ok(opened) if self.is_worth_keeping() => self.offer_link(opened),
            Ok(opened) => self.open_link(*opened),
            Err(error) => {
                self.notice(broken(&error));
                self.follow_address();
            }
        }
    }

    /// Asks whether to open a link.
    pub(super) fn offer_link(&mut self, opened: Box<Opened>) {
        let draft = link::write(&opened.session, opened.selection.as_ref());
        let contents = draft.map(|draft| draft.contents).unwrap_or_default();
        self.offered = Some(opened);
        self.dialog = Some(Dialog::Link(Rc::new(contents)));
    }

    /// Opens the link that was offered, as a session of its own.
    pub(super) fn take_link(&mut self) {
        self.dialog = None;
        if let Some(opened) = self.offered.take() {
            self.open_link(*opened);
        }
    }

    fn open_link(&mut self, opened: Opened) {
        self.leave_visit();
        self.address.made += 1;
        self.address.present = self.address.made;
        self.address.is_now(&browser::fragment());
        if let Some(notice) = told(&opened) {
            self.notice(notice);
        }
        self.begin_session(opened.session);
        self.selection = opened.selection;
        self.story = None;
        self.changed();
    }

    /// Makes the link for the dialog; what comes of it is told to the callback.
    pub(super) fn make_link(&self, hide: bool, made: Callback<Rc<LinkMade>>) {
        let draft = match hide {
            false => link::write(&self.session, self.selection.as_ref()),
            true => self.hidden().and_then(|session| link::write(&session, None)),
        };
        spawn_local(async move {
            let packed = match draft {
                Ok(draft) => match &draft.json {
                    None => Ok((draft.fragment(&[]), draft.contents)),
                    Some(json) => streams::deflate(json)
                        .await
                        .map(|deflated| (draft.fragment(&deflated), draft.contents)),
                },
                Err(error) => Err(error),
            };
            made.emit(Rc::new(match packed {
                Ok((fragment, contents)) => {
                    LinkMade { link: browser::page_address() + &fragment, contents, why_not: None }
                }
                Err(error) => LinkMade { why_not: Some(error), ..LinkMade::default() },
            }));
        });
    }

    /// Makes an embed for the dialog; what comes of it is told to the callback.
    pub(super) fn make_embed(&self, made: Callback<Result<Rc<EmbedMade>, String>>) {
        let draft = embed::draft(&self.session, &browser::page_address());
        spawn_local(async move {
            let embed = match draft {
                Ok(draft) => streams::deflate(draft.text())
                    .await
                    .and_then(|deflated| draft.forms(&link::text::base64(&deflated)))
                    .map(|forms| EmbedMade { forms, picture: draft.picture() }),
                Err(error) => Err(error),
            };
            made.emit(embed.map(Rc::new));
        });
    }

    /// The session without its names.
    fn hidden(&self) -> Result<Session, String> {
        let start = &self.session.timeline().start;
        let (start, edits) = link::hide_names(start, &link::edits_of(&self.session))?;
        Session::resume(start, edits, self.session.now()).map_err(|error| error.to_string())
    }

    /// Hands the session out as a file, for a link would be too long.
    pub(super) fn download_shared(&mut self, hide: bool) {
        let text = match hide {
            false => Ok(files::export_as(&self.session, files::ExportKind::Scenario).1),
            true => self
                .hidden()
                .map(|session| files::export_as(&session, files::ExportKind::Scenario).1),
        };
        let result = text.and_then(|text| browser::download("scenario.yaml", &text));
        self.notice_error(result);
    }
}
