//! The lanes: what of them is in sight, and what is done with them.

use std::collections::BTreeSet;
use std::rc::Rc;

use gloo_render::AnimationFrame;
use gloo_timers::callback::Timeout;
use taintlab_core::lanes::LaneSubject;
use taintlab_core::lanes::area::Area;
use taintlab_core::time::Timestamp;

use super::App;
use crate::messages::{Msg, Notice};
use crate::playback::FRAME_BUDGET;
use crate::view_models::ViewModels;
use crate::view_models::lanes::{
    Chosen, ChosenArea, Frame, LaneRows, LanesMsg, LanesWindow, Move, Picture, Room, View, Wanted,
    end, pieces, selection_of, window,
};
use crate::{browser, files};

/// So long the pointer rests on a moment before the page shows it, in milliseconds: in a large
/// cluster that takes time.
const PEEK_AFTER: [u32; 2] = [30, 250];
/// A picture has at most so many rows.
const MOST_OF_PICTURE: usize = 2_000;
/// With more pods than these a cluster is large.
const LARGE: usize = 1_000;

/// The lanes as they are looked at.
pub(super) struct Lanes {
    pub(super) room: Room,
    pub(super) wanted: Wanted,
    rows: LaneRows,
    view: View,
    /// All of the time is shown, however long it becomes.
    fits: bool,
    pub(super) window: Rc<LanesWindow>,
    pub(super) cursor: usize,
    pub(super) chosen: Option<Rc<Chosen>>,
    pub(super) area: Option<Rc<ChosenArea>>,
    /// Where an area begins.
    begun: Option<(usize, Timestamp)>,
    /// The moment that is to be shown when the pointer has rested.
    peek: Option<Timestamp>,
    waits: Option<Timeout>,
    /// The forecast goes on with the next frame.
    ahead: Option<AnimationFrame>,
}

impl Default for Lanes {
    fn default() -> Self {
        let (from, to) = (Timestamp::ZERO, Timestamp::from_secs(60));
        Self {
            room: Room::default(),
            wanted: Wanted::default(),
            rows: LaneRows::default(),
            view: View { first: 0, rows: 0, pixels: 600, from, to },
            fits: true,
            window: Rc::default(),
            cursor: 0,
            chosen: None,
            area: None,
            begun: None,
            peek: None,
            waits: None,
            ahead: None,
        }
    }
}

impl App {
    /// What of the lanes is in sight, as things are now.
    pub(super) fn look_at_lanes(&mut self) {
        if self.lanes.room == Room::Closed {
            return;
        }
        let lanes = &mut self.lanes;
        if lanes.rows.update(&self.session, &lanes.wanted) {
            lanes.cursor = lanes.cursor.min(lanes.rows.rows.len().saturating_sub(1));
        }
        if lanes.fits {
            (lanes.view.from, lanes.view.to) = (Timestamp::ZERO, end(&self.session));
        } else if self.playback.is_playing() && self.session.now() > lanes.view.to {
            // The clock stays in sight while it runs.
            lanes.view = lanes.view.panned(0.5);
        }
        let seen = window(&self.session, &lanes.rows, lanes.view, self.session.is_peeking());
        if *lanes.window != seen {
            lanes.window = Rc::new(seen);
        }
        if let Some(area) = &lanes.area {
            let (from, to) = area.frame.time;
            let place = (lanes.view.place(from), lanes.view.place(to));
            if area.place != place {
                lanes.area = Some(Rc::new(ChosenArea { place, ..ChosenArea::clone(area) }));
            }
        }
    }

    /// Runs the forecast on with the next frame, if somebody looks and there is time.
    pub(super) fn keep_forecasting(&mut self) {
        let wanted = self.lanes.room != Room::Closed
            && !self.playback.is_playing()
            && !self.session.is_peeking()
            && !self.session.forecast_is_done();
        if !wanted {
            self.lanes.ahead = None;
        } else if self.lanes.ahead.is_none() {
            let dispatch = self.dispatch.clone();
            let frame = gloo_render::request_animation_frame(move |_| dispatch.emit(Msg::Ahead));
            self.lanes.ahead = Some(frame);
        }
    }

    /// A frame of the forecast.
    pub(super) fn run_forecast(&mut self) {
        self.lanes.ahead = None;
        let until = browser::stopwatch() + FRAME_BUDGET;
        self.session.run_forecast(|| browser::stopwatch() < until);
        self.look_at_lanes();
    }

    /// The clock shows its own moment again.
    pub(super) fn end_peek(&mut self) {
        self.lanes.waits = None;
        self.lanes.peek = None;
        if self.session.end_peek() {
            self.refresh(ViewModels::follow_change);
            self.new_epoch();
        }
    }

    pub(super) fn on_lanes(&mut self, msg: LanesMsg) {
        match msg {
            LanesMsg::Room(room) => self.give_room(room),
            LanesMsg::ToggleFull if self.lanes.room == Room::Full => self.give_room(Room::Closed),
            LanesMsg::ToggleFull => self.give_room(Room::Full),
            LanesMsg::Look(first, rows, pixels) => {
                let view = &mut self.lanes.view;
                (view.first, view.rows, view.pixels) = (first, rows, pixels.max(1));
            }
            LanesMsg::Zoom(by, around) => {
                let view = self.lanes.view;
                let now = self.session.now();
                let seen = (view.from..=view.to).contains(&now);
                let middle = view.from.saturating_add(
                    view.to.since_zero().saturating_sub(view.from.since_zero()) / 2,
                );
                let around = around.unwrap_or(if seen { now } else { middle });
                self.lanes.view = view.zoomed(by, around);
                self.lanes.fits = false;
            }
            LanesMsg::Pan(by) => {
                self.lanes.view = self.lanes.view.panned(by);
                self.lanes.fits = false;
            }
            LanesMsg::Range(from, to) => {
                let (from, to) = (from.min(to), from.max(to));
                self.lanes.view = View { from, to, ..self.lanes.view }.zoomed(1.0, from);
                self.lanes.fits = false;
            }
            LanesMsg::Fit => self.lanes.fits = true,
            LanesMsg::Filter(text) => self.lanes.wanted.filter = text.trim().to_lowercase(),
            LanesMsg::ToggleChanged => self.lanes.wanted.changed = !self.lanes.wanted.changed,
            LanesMsg::Fold(subject) => {
                let mut folded = self.lanes.rows.folded.clone();
                if !folded.remove(&subject) {
                    folded.insert(subject);
                }
                self.lanes.wanted.folded = Some(folded);
            }
            LanesMsg::FoldAll(fold) => {
                let nodes = self.session.recorder().subjects();
                let nodes = nodes.filter(|it| fold && matches!(it, LaneSubject::Node { .. }));
                self.lanes.wanted.folded = Some(nodes.cloned().collect::<BTreeSet<_>>());
            }
            LanesMsg::Pin(subject) => self.pin(subject),
            LanesMsg::PinHere => {
                if let Some(subject) = self.at_cursor() {
                    self.pin(subject);
                }
            }
            LanesMsg::Move(to) => self.move_cursor(to),
            LanesMsg::Go => {
                let at = self.session.now();
                let chosen = self.at_cursor();
                self.end_peek();
                if let Some(subject) = chosen {
                    self.choose(subject, Some(at));
                }
            }
            LanesMsg::Peek(Some(at)) => {
                // While time runs the board shows that.
                if !self.playback.is_playing() {
                    self.lanes.peek = Some(at);
                    self.wait_to_peek();
                }
            }
            LanesMsg::Peek(None) => self.end_peek(),
            LanesMsg::PeekNow => {
                self.lanes.waits = None;
                if let Some(at) = self.lanes.peek.take() {
                    self.peek(at);
                }
            }
            LanesMsg::Choose(subject, at) => {
                self.end_peek();
                let rows = self.lanes.rows.rows.iter();
                let place = rows.enumerate().find(|(_, row)| row.subject == subject);
                self.lanes.cursor = place.map_or(self.lanes.cursor, |(place, _)| place);
                self.choose(subject, at);
            }
            LanesMsg::Area(frame) => self.choose_area(frame),
            LanesMsg::AreaHere(ends) => {
                let here = (self.lanes.cursor, self.session.now());
                match self.lanes.begun {
                    Some((row, at)) if ends => {
                        let rows = (row.min(here.0), row.max(here.0));
                        let time = (at.min(here.1), at.max(here.1));
                        self.choose_area(Some(Frame { rows, time }));
                    }
                    _ => {
                        self.lanes.begun = Some(here);
                        self.announcement = "The area begins here; ] ends it".into();
                    }
                }
            }
            LanesMsg::Picture(picture) => self.picture(picture),
        }
        self.look_at_lanes();
    }

    fn give_room(&mut self, room: Room) {
        self.lanes.room = room;
        if room == Room::Closed {
            self.end_peek();
        }
    }

    fn pin(&mut self, subject: LaneSubject) {
        let pins = &mut self.lanes.wanted.pins;
        let before = pins.len();
        pins.retain(|pin| *pin != subject);
        if pins.len() == before {
            pins.push(subject);
        }
    }

    fn at_cursor(&self) -> Option<LaneSubject> {
        self.lanes.rows.rows.get(self.lanes.cursor).map(|row| row.subject.clone())
    }

    fn move_cursor(&mut self, to: Move) {
        let last = self.lanes.rows.rows.len().saturating_sub(1);
        let page = self.lanes.view.rows.max(1);
        let cursor = self.lanes.cursor;
        self.lanes.cursor = match to {
            Move::Up => cursor.saturating_sub(1),
            Move::Down => (cursor + 1).min(last),
            Move::PageUp => cursor.saturating_sub(page),
            Move::PageDown => (cursor + page).min(last),
            Move::First => 0,
            Move::Last => last,
            Move::Earlier | Move::Later => {
                self.peek_at_change(to == Move::Later);
                return;
            }
        };
        self.choose_at_cursor();
    }

    /// Shows the moment at which the row of the cursor became something else.
    fn peek_at_change(&mut self, later: bool) {
        let Some(subject) = self.at_cursor() else { return };
        let now = self.session.now();
        let pieces = pieces(&self.session, &subject);
        let ends = pieces.iter().filter(|(_, it)| !it.goes_on).map(|(_, it)| it.to);
        let changes = pieces.iter().map(|(_, it)| it.from).chain(ends);
        let to = if later {
            changes.filter(|at| *at > now).min()
        } else {
            changes.filter(|at| *at < now).max()
        };
        if let Some(to) = to
            && !self.playback.is_playing()
        {
            self.peek(to);
            self.choose_at_cursor();
        }
    }

    fn choose_at_cursor(&mut self) {
        let subject = self.at_cursor();
        let chosen = subject.and_then(|it| Chosen::at(&self.session, &it, self.session.now()));
        self.lanes.chosen = chosen.map(Rc::new);
    }

    /// Selects an object, and goes to a moment of it.
    fn choose(&mut self, subject: LaneSubject, at: Option<Timestamp>) {
        if let Some(at) = at {
            self.play(false);
            self.change(|session| session.seek(at));
            let chosen = Chosen::at(&self.session, &subject, at);
            self.lanes.chosen = chosen.map(Rc::new);
        }
        // Where the inspector lies over the lanes, only a name opens it.
        if at.is_none() || !browser::is_narrow() {
            self.select(Some(selection_of(&subject)));
        }
    }

    fn wait_to_peek(&mut self) {
        if self.lanes.waits.is_some() {
            return;
        }
        let [small, large] = PEEK_AFTER;
        let is_large = self.views.board.board().totals.pods > LARGE;
        let dispatch = self.dispatch.clone();
        let wait = if is_large { large } else { small };
        self.lanes.waits = Some(Timeout::new(wait, move || {
            dispatch.emit(Msg::Lanes(LanesMsg::PeekNow));
        }));
    }

    fn peek(&mut self, at: Timestamp) {
        self.session.peek(at);
        self.refresh(ViewModels::follow_change);
        self.new_epoch();
    }

    fn choose_area(&mut self, frame: Option<Frame>) {
        self.lanes.begun = None;
        self.lanes.area = frame.map(|frame| {
            let subjects = self.lanes.rows.subjects(frame.rows);
            let events = self.session.known_events();
            let area = Area::of(self.session.recorder(), &events, &subjects, frame.time);
            let (from, to) = frame.time;
            let place = (self.lanes.view.place(from), self.lanes.view.place(to));
            Rc::new(ChosenArea { frame, area: Rc::new(area), place })
        });
    }

    fn picture(&mut self, picture: Picture) {
        let svg = files::lanes_svg(&self.session, &self.lanes.rows.subjects((0, MOST_OF_PICTURE)));
        match picture {
            Picture::Svg => {
                let result = browser::download("lanes.svg", &svg);
                self.notice_error(result);
            }
            Picture::Png => {
                let dispatch = self.dispatch.clone();
                wasm_bindgen_futures::spawn_local(async move {
                    if let Err(error) = browser::download_png("lanes.png", &svg).await {
                        dispatch.emit(Msg::Notice(Notice::error(error)));
                    }
                });
            }
        }
    }
}
