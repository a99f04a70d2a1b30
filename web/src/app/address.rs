//! The address bar is part of the state: the address follows the work, and the work follows an
//! address that was opened, or that the browser's Back and Forward lead to.

use std::rc::Rc;

use taintlab_core::order::OrderedMap;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

use super::App;
use super::keeping::Keeping;
use super::linked::{broken, origin, told};
use crate::link::LONGEST_LINK;
use crate::messages::{Dialog, EmbedMade, LinkMade, Msg};
use crate::protocol::{Origin, Reply, Request, Staged};
use crate::{browser, link, streams, tab};

/// The page's view of the browser's history entries.
pub(super) struct Address {
    /// The id of this page load: history entries of other page loads are opened as links.
    page: String,
    /// The present entry.
    present: u32,
    made: u32,
    /// Sessions that were left, by history entry. The page keeps where each of them was.
    visits: OrderedMap<u32, Rc<str>>,
    /// The fragment that stands in the address.
    written: String,
    /// Whether the next write makes a history entry of its own.
    push: bool,
    /// Counts links that are being made: only the last one is written.
    turn: u32,
}

impl Address {
    /// The address with which the page was loaded.
    pub(super) fn new(fragment: &str) -> Self {
        Self {
            page: browser::new_id(),
            present: 0,
            made: 0,
            visits: OrderedMap::new(),
            written: fragment.to_owned(),
            push: false,
            turn: 0,
        }
    }

    fn write(&mut self, fragment: &str) {
        let fragment = if fragment.len() > LONGEST_LINK { "" } else { fragment };
        let push = std::mem::take(&mut self.push);
        if push {
            // The entry being left must be recognized later, even if it was never written.
            browser::set_address(&self.written, &self.state(), false);
            self.made += 1;
            self.present = self.made;
        }
        if browser::set_address(fragment, &self.state(), push) {
            let before = std::mem::replace(&mut self.written, fragment.to_owned());
            // A new entry holds other work, so the tab does not remember the address before it.
            tab::record_address(fragment, if push { "" } else { &before });
        }
    }

    /// Forgets earlier sessions: their history entries are opened as links.
    pub(super) fn forget_visits(&mut self) {
        self.visits.clear();
    }

    /// The state that the browser stores with the present entry.
    fn state(&self) -> String {
        format!("{}:{}", self.page, self.present)
    }

    /// Records that the fragment in the address is this tab's own.
    fn is_now(&mut self, fragment: &str) {
        fragment.clone_into(&mut self.written);
        tab::record_address(fragment, "");
    }

    /// The number of the browser's present entry, if this page made it.
    fn entry(&self) -> Option<u32> {
        let state = browser::address_state()?;
        state.strip_prefix(&self.page)?.strip_prefix(':')?.parse().ok()
    }
}

impl App {
    /// Makes the link of the present view and writes it into the address.
    pub(super) fn follow_address(&mut self) {
        // The history entry of a dialog must go first.
        if !self.back.is_idle() {
            return;
        }
        self.address.turn += 1;
        let turn = self.address.turn;
        self.ask_aside(Request::Link(false), move |app, reply| {
            let Reply::Link(draft) = reply else { return };
            let Some(draft) = draft.ok().filter(|draft| !draft.says_nothing()) else {
                return app.write_address(turn, "");
            };
            let Some(json) = draft.json.clone() else {
                return app.write_address(turn, &draft.fragment(&[]));
            };
            let dispatch = app.dispatch.clone();
            spawn_local(async move {
                let fragment = match streams::deflate(&json).await {
                    Ok(deflated) => draft.fragment(&deflated),
                    Err(_) => String::new(),
                };
                dispatch.emit(Msg::Address(turn, fragment));
            });
        });
    }

    /// Writes a finished link into the address, unless a newer one is being made.
    pub(super) fn write_address(&mut self, turn: u32, fragment: &str) {
        if turn == self.address.turn && self.back.is_idle() {
            self.address.write(fragment);
        }
    }

    /// Keeps the present work, so that the browser's Back leads to it again.
    pub(super) fn leave_visit(&mut self) {
        let entry = self.address.present;
        self.address.visits.insert(entry, self.keeping.id.clone());
        self.request(Request::LeaveVisit(entry));
    }

    /// Keeps the present work, and gives the work that follows a history entry of its own.
    pub(super) fn turn_page(&mut self) {
        self.leave_visit();
        self.address.push = true;
        // With a dialog open, the address is written when the dialog's entry is gone.
        if self.back.is_idle() {
            self.address.turn += 1;
            self.address.write("");
        }
    }

    /// Follows the browser to another address: an entry of this page, or a link.
    pub(super) fn arrive(&mut self) {
        let fragment = browser::fragment();
        let entry = self.address.entry();
        if entry == Some(self.address.present) {
            return self.follow_address();
        }
        if let Some(id) = entry
            && let Some(session) = self.address.visits.remove(&id)
        {
            self.leave_visit();
            self.address.present = id;
            // A link of the work being left, still in the making, does not belong here.
            self.address.turn += 1;
            self.address.is_now(&fragment);
            return self.visit(id, &session);
        }
        if fragment == self.address.written {
            return;
        }
        let dispatch = self.dispatch.clone();
        match link::parse(&fragment) {
            Ok(None) => {}
            Ok(Some(parsed)) => spawn_local(async move {
                match origin(&fragment, &parsed).await {
                    Ok(origin) => dispatch.emit(Msg::Stage(origin)),
                    Err(error) => dispatch.emit(Msg::LinkRead(Err(error))),
                }
            }),
            Err(error) => self.link_read(Err(error)),
        }
    }

    fn visit(&mut self, entry: u32, session: &Rc<str>) {
        self.play(false);
        let present = *session == self.keeping.id;
        if !present {
            self.leave_session();
            self.keeping = Keeping::of(browser::new_id().into(), None);
            self.keeping.enter();
        }
        self.request(Request::Visit(entry, present));
        self.save_soon();
    }

    /// Reads a link or a saved session, and keeps it aside.
    pub(super) fn stage_link(&mut self, origin: Origin) {
        self.ask(Request::Stage(origin), |app, reply| {
            if let Reply::Staged(staged) = reply {
                app.link_read(staged);
            }
        });
    }

    /// Leaves this tab's session, after storing it.
    pub(super) fn leave_session(&mut self) {
        if self.save.is_some() {
            self.store();
        }
        self.play(false);
        self.notices.retain(|notice| !notice.is_offer());
    }

    /// Opens a link that was read. If there is work to lose, it asks first.
    pub(super) fn link_read(&mut self, read: Result<Box<Staged>, String>) {
        match read {
            Ok(staged) if self.is_worth_keeping() => {
                self.told_of_link = told(&staged);
                self.offer_link(staged.contents);
            }
            Ok(staged) => {
                self.told_of_link = told(&staged);
                self.open_link();
            }
            Err(error) => {
                self.notice(broken(&error));
                self.follow_address();
            }
        }
    }

    /// Asks whether to open a link.
    pub(super) fn offer_link(&mut self, contents: Vec<String>) {
        self.dialog = Some(Dialog::Link(Rc::new(contents)));
    }

    /// Opens the link that was offered, as a session of its own.
    pub(super) fn take_link(&mut self) {
        self.dialog = None;
        self.open_link();
    }

    fn open_link(&mut self) {
        self.leave_visit();
        self.address.made += 1;
        self.address.present = self.address.made;
        self.address.is_now(&browser::fragment());
        if let Some(notice) = self.told_of_link.take() {
            self.notice(notice);
        }
        self.leave_session();
        self.keeping = Keeping::of(browser::new_id().into(), None);
        self.keeping.enter();
        self.request(Request::Take);
        self.save_soon();
    }

    /// Makes the link for the dialog, and passes it to the callback.
    pub(super) fn make_link(&mut self, hide: bool, made: Callback<Rc<LinkMade>>) {
        self.ask(Request::Link(hide), move |_, reply| {
            let Reply::Link(draft) = reply else { return };
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
                // A link that is too long to be opened is not offered.
                let packed = packed.and_then(|packed| {
                    link::check_fragment(&packed.0)?;
                    Ok(packed)
                });
                made.emit(Rc::new(match packed {
                    Ok((fragment, contents)) => LinkMade {
                        link: browser::page_address() + &fragment,
                        contents,
                        why_not: None,
                    },
                    Err(error) => LinkMade { why_not: Some(error), ..LinkMade::default() },
                }));
            });
        });
    }

    /// Makes an embed for the dialog, and passes it to the callback.
    pub(super) fn make_embed(&mut self, made: Callback<Result<Rc<EmbedMade>, String>>) {
        self.ask(Request::Embed(browser::page_address()), move |app, reply| {
            let Reply::Text(text) = reply else { return };
            let text = match text {
                Ok((_, text)) => text,
                Err(error) => return made.emit(Err(error)),
            };
            let dispatch = app.dispatch.clone();
            spawn_local(async move {
                match streams::deflate(&text).await {
                    Ok(packed) => {
                        dispatch.emit(Msg::EmbedPacked(link::text::base64(&packed), made));
                    }
                    Err(error) => made.emit(Err(error)),
                }
            });
        });
    }

    /// Makes the forms of an embed, once its data is packed.
    pub(super) fn embed_packed(
        &mut self,
        packed: String,
        made: Callback<Result<Rc<EmbedMade>, String>>,
    ) {
        self.ask(Request::EmbedForms(packed), move |_, reply| {
            if let Reply::Embed(embed) = reply {
                made.emit(embed.map(Rc::new));
            }
        });
    }
}
