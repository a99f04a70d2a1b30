//! The page's requests to the session, and its replies: the page shows what the session reports.

use std::rc::Rc;

use gloo_timers::callback::Timeout;
use taintlab_core::time::Timestamp;

use super::{App, Epoch, incoming};
use crate::browser;
use crate::components::parts::busy::Activity;
use crate::connection::Told;
use crate::messages::{Dialog, Msg, Notice};
use crate::playback::Speed;
use crate::protocol::{Changes, Effect, Origin, Progress, Reply, Request, Resumed, Update};
use crate::view_models::board::density::Detail;
use crate::view_models::console::MOST_ENTRIES;
use crate::view_models::names::Shared;

/// The time for which a cancelled request may go on before its worker is ended, in milliseconds.
const STOPS_WITHIN: u32 = 800;

/// The time without an answer after which the page says that it works, in milliseconds.
const SLOW_AFTER: u32 = 300;

/// The handler of a reply.
pub(super) type Waiting = Box<dyn FnOnce(&mut App, Reply)>;

impl App {
    /// Sends a request to the session; `then` handles the reply.
    pub(super) fn ask(&mut self, request: Request, then: impl FnOnce(&mut Self, Reply) + 'static) {
        let id = self.connection.send(request);
        self.waiting.insert(id, Box::new(then));
        if self.slow.is_none() {
            self.await_answer(id);
        }
    }

    fn await_answer(&mut self, id: u32) {
        let dispatch = self.dispatch.clone();
        self.slow = Some(Timeout::new(SLOW_AFTER, move || dispatch.emit(Msg::Slow(id))));
    }

    /// Shows that work is going on if a request is still unanswered and no progress is known. This
    /// lets the user stop also requests that do not run in slices.
    pub(super) fn say_that_it_works(&mut self, request: u32) {
        self.slow = None;
        if self.waiting.contains_key(&request) {
            let what = "Loading the engine".to_owned();
            self.activity.get_or_insert(match self.connection.works() {
                true => Activity::Working,
                false => Activity::Told(Rc::new(Progress { what, part: None })),
            });
        } else if let Some(first) = self.waiting.keys().next().copied() {
            self.await_answer(first);
        }
    }

    /// Sends a request while the page does not seem busy; `then` handles the reply.
    pub(super) fn ask_aside(
        &mut self,
        request: Request,
        then: impl FnOnce(&mut Self, Reply) + 'static,
    ) {
        let id = self.connection.send(request);
        self.aside.insert(id, Box::new(then));
    }

    /// Sends a request whose result the session reports by itself.
    pub(super) fn request(&mut self, request: Request) {
        self.ask(request, |_, _| {});
    }

    /// Handles a report of the session, or its crash; `true` if the page must be painted.
    pub(super) fn told(&mut self, told: Told) -> bool {
        match told {
            Told::Update(update) => self.update_shown(*update),
            Told::Broken(_) if !self.connection.works() && self.connection.is_in_worker() => {
                // Such a page cannot have workers. It still shows how the sample begins.
                self.waiting.clear();
                self.connection.restart(false);
                self.request(Request::Stage(Origin::Sample));
                self.request(Request::Take);
                true
            }
            Told::Broken(why) => {
                self.begin_again(&format!(
                    "The engine crashed ({why}) and was restarted. Your work is restored; only the \
                     last action was lost.",
                ));
                true
            }
        }
    }

    fn update_shown(&mut self, update: Update) -> bool {
        let Update { done, effects, changes } = update;
        let played = matches!(done, Some((_, Reply::Played(_))));
        self.ticks &= !played;
        let before = self.shown.clock.now;
        let changed = self.follow(changes);
        let mut seen = changed || !effects.is_empty();
        for effect in effects {
            self.effect(effect);
        }
        let at_max = self.playback.is_playing() && self.playback.speed == Speed::Max;
        if played && at_max && std::mem::take(&mut self.has_painted) {
            // The engine goes on while the page shows how far it got.
            self.tick(Timestamp::MAX);
        }
        if let Some((id, reply)) = done {
            seen |= !played;
            if let Some(then) = self.waiting.remove(&id).or_else(|| self.aside.remove(&id)) {
                then(self, reply);
            }
        }
        if self.waiting.is_empty() {
            (self.activity, self.slow) = (None, None);
        }
        seen || self.shown.clock.now != before
    }

    fn effect(&mut self, effect: Effect) {
        match effect {
            Effect::Say(notice) => self.notice(notice),
            Effect::Announce(words) => self.announcement = words.into(),
            Effect::CloseDialog => self.dialog = None,
            Effect::Stop => {
                self.playback.set_playing(false);
                self.save_soon();
            }
            Effect::Turn => self.new_epoch(),
            Effect::Reveal(selection) => self.focus.reveal(self.place_of(&selection)),
            Effect::Picture(of, svg, false) => {
                let result = browser::download(&format!("{}.svg", of.file()), &svg);
                self.notice_error(result);
            }
            Effect::Picture(of, svg, true) => {
                let dispatch = self.dispatch.clone();
                let name = format!("{}.png", of.file());
                wasm_bindgen_futures::spawn_local(async move {
                    if let Err(error) = browser::download_png(&name, &svg).await {
                        dispatch.emit(Msg::Notice(Notice::error(error)));
                    }
                });
            }
            Effect::Progress(progress) => {
                self.activity = Some(Activity::Told(Rc::new(progress)));
            }
        }
    }

    /// Applies changes to the shown state; `true` if there were any.
    pub(super) fn follow(&mut self, changes: Changes) -> bool {
        let shown = &mut self.shown;
        let mut changed = false;
        let mut put = |new: bool| changed |= new;
        put(set(&mut shown.clock, changes.clock));
        put(set(&mut shown.work, changes.work));
        put(set(&mut shown.marked, changes.marked));
        put(set(&mut shown.warnings, changes.warnings));
        put(set(&mut shown.inspector, changes.inspector));
        put(set(&mut shown.timeline, changes.timeline));
        put(set(&mut shown.workloads, changes.workloads));
        put(set(&mut shown.log, changes.log));
        put(set(&mut shown.lanes, changes.lanes));
        put(set(&mut shown.compared, changes.compared));
        if let Some(start) = changes.start {
            shown.start = start;
            shown.starts += 1;
        }
        if let Some((detail, patch)) = changes.board {
            let board = Rc::new(patch.applied_to(&shown.board));
            // Only pods with names are animated, not dots.
            if shown.workloads.is_some() && (shown.detail, detail) == (Detail::Full, Detail::Full) {
                self.pod_animation.record(&shown.board, &board);
            }
            (shown.detail, shown.board) = (detail, board);
            let nodes = shown.board.zones.iter().flat_map(|zone| &zone.nodes);
            self.names = Shared::of(nodes.map(|node| node.name.as_str()));
            put(true);
        }
        if let Some((forgotten, entries)) = changes.console {
            let console = Rc::make_mut(&mut shown.console);
            for entry in entries {
                match console.iter_mut().find(|known| known.number == entry.number) {
                    Some(known) => *known = entry,
                    None => console.push(entry),
                }
            }
            let old = console.len().saturating_sub(MOST_ENTRIES);
            console.drain(..old);
            shown.forgotten = forgotten;
            put(true);
        }
        if let Some(selected) = changes.selected {
            self.selection.clone_from(&selected.selection);
            if let Some(selection) = self.reveals.take().filter(|_| selected.at.is_some()) {
                shown.selected = selected.clone();
                let place = self.place_of(&selection);
                self.focus.reveal(place);
            }
            self.shown.selected = selected;
            put(true);
        }
        if let Some(kept) = changes.kept {
            self.shown.kept = kept;
            self.save_soon();
            put(true);
        }
        changed
    }

    pub(super) fn new_epoch(&mut self) {
        self.epoch = Epoch { at: self.shown.clock.now, turn: !self.epoch.turn };
    }

    /// Whether the page waits for the session.
    pub(super) fn is_busy(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Stops long work. Work that cannot be stopped is ended with its worker.
    pub(super) fn cancel(&mut self) {
        let last = self.waiting.keys().next_back().copied().unwrap_or_default();
        self.request(Request::Cancel);
        // Nothing is imported, even if the answer arrives before the import stops.
        self.dialog = self.dialog.take().filter(|dialog| !matches!(dialog, Dialog::Import(_)));
        let dispatch = self.dispatch.clone();
        self.stops = Some(Timeout::new(STOPS_WITHIN, move || dispatch.emit(Msg::StillBusy(last))));
    }

    /// Ends the worker if `last` or an earlier request is still unanswered.
    pub(super) fn end_what_is_busy(&mut self, last: u32) {
        self.stops = None;
        let still_busy = self.waiting.keys().next().is_some_and(|first| *first <= last);
        if still_busy && self.connection.is_in_worker() {
            self.begin_again("Cancelled. Nothing has changed.");
        }
    }

    /// Starts a new worker, which continues from the last known state.
    fn begin_again(&mut self, why: &str) {
        let works = self.connection.works();
        if std::mem::replace(&mut self.begins_again, true) {
            // The new worker crashed before it had caught up: the next one would, too.
            return browser::show_crash(why);
        }
        self.waiting.clear();
        self.aside.clear();
        self.activity = None;
        self.ticks = false;
        self.dialog = None;
        self.playback.set_playing(false);
        self.connection.restart(works);
        let work = &self.shown.kept;
        let edits = work.text(self.shown.clock.home, self.selection.as_ref(), None);
        let origin = Origin::Saved(edits.into(), self.shown.start.clone());
        let known = Box::new(Resumed {
            console: self.shown.console.to_vec(),
            forgotten: self.shown.forgotten,
            breakpoints: self.shown.work.breakpoints.clone(),
            hidden: self.shown.work.hidden.clone(),
            lanes: self.shown.lanes.wanted.clone(),
        });
        self.address.forget_visits();
        self.ask(Request::Stage(origin), |app, reply| {
            if let Reply::Staged(Err(error)) = reply {
                app.notice(Notice::error(error));
            }
        });
        self.request(Request::Take);
        self.request(Request::Resume(known));
        self.request(Request::Draw(self.density));
        let (shows, chosen) = self.shows_lanes();
        let show = crate::view_models::lanes::LanesMsg::Show(shows, chosen);
        self.request(Request::Lanes(show, false));
        self.ask(Request::Log(self.log.clone()), |app, _| app.begins_again = false);
        self.notice(Notice::error(why));
    }

    /// Requests a text, to copy or to download it.
    pub(super) fn hand_out(&mut self, request: Request, copies: bool) {
        self.ask(request, move |app, reply| match reply {
            Reply::Text(Ok((_, text))) if copies => incoming::copy(&app.dispatch, text),
            Reply::Text(Ok((name, text))) => {
                let result = browser::download(&name, &text);
                app.notice_error(result);
            }
            Reply::Text(Err(error)) => app.notice(Notice::error(error)),
            _ => {}
        });
    }
}

fn set<T>(known: &mut T, new: Option<T>) -> bool {
    let changed = new.is_some();
    if let Some(new) = new {
        *known = new;
    }
    changed
}
