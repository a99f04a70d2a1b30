//! The lanes: the part in sight, and the actions on them.

use std::rc::Rc;

use taintlab_core::lanes::LaneSubject;
use taintlab_core::order::OrderedSet;
use taintlab_core::time::Timestamp;

use super::Host;
use crate::files;
use crate::protocol::{Effect, Pictured};
use crate::session::{Session, Way};
use crate::view_models::ViewModels;
use crate::view_models::board::density::Detail;
use crate::view_models::lanes::{
    Chosen, ChosenArea, ForecastState, Frame, LaneRows, LanesMsg, LanesView, LanesWindow, Move,
    Picture, View, Wanted, area, end, pieces, selection_of, window,
};
use crate::view_models::pane::MANY_PODS;

/// Rows of a picture at most.
const MOST_OF_PICTURE: usize = 2_000;

/// The lanes, and how the user looks at them.
pub(super) struct Lanes {
    in_sight: bool,
    /// Whether the user chose them, however many pods there are.
    even_large: bool,
    wanted: Wanted,
    rows: LaneRows,
    view: View,
    /// Whether the whole time stays in sight as it grows.
    fits: bool,
    window: LanesWindow,
    cursor: usize,
    /// The object and the moment that were chosen, and their description in this run.
    chosen: Option<(LaneSubject, Timestamp)>,
    said: Option<Rc<Chosen>>,
    area: Option<HeldArea>,
    /// The row and the time at which an area begins.
    begun: Option<(usize, Timestamp)>,
    /// Whether the forecast is not wanted until the next edit.
    stopped: bool,
}

/// An area that was chosen. It keeps its objects when rows move.
struct HeldArea {
    subjects: OrderedSet<LaneSubject>,
    time: (Timestamp, Timestamp),
    /// The state of the record and the forecast when it was counted.
    counted_for: CountedFor,
    shown: Rc<ChosenArea>,
}

/// The number of events and the latest moment known, unless the forecast covers the area; and the
/// end of the part that is drawn.
type CountedFor = (Option<(usize, Timestamp)>, Timestamp);

impl Default for Lanes {
    fn default() -> Self {
        let (from, to) = (Timestamp::ZERO, Timestamp::from_secs(60));
        Self {
            in_sight: false,
            even_large: false,
            wanted: Wanted::default(),
            rows: LaneRows::default(),
            view: View { first: 0, rows: 0, pixels: 600, from, to },
            fits: true,
            window: LanesWindow::default(),
            cursor: 0,
            chosen: None,
            said: None,
            area: None,
            begun: None,
            stopped: false,
        }
    }
}

impl Lanes {
    /// The lanes as the page shows them.
    pub(super) fn view(&self, forecast: ForecastState) -> LanesView {
        LanesView {
            window: self.window.clone(),
            wanted: self.wanted.clone(),
            cursor: self.cursor,
            chosen: self.said.clone(),
            area: self.area.as_ref().map(|area| area.shown.clone()),
            forecast,
        }
    }

    /// Forgets all choices, as the work was replaced.
    pub(super) fn forget(&mut self) {
        self.rows.forget();
        (self.chosen, self.said, self.area, self.begun) = (None, None, None, None);
    }

    /// Resumes the forecast and counts the area anew, since an edit may change the future.
    pub(super) fn begin_anew(&mut self) {
        self.stopped = false;
        if let Some(area) = &mut self.area {
            area.counted_for = CountedFor::default();
        }
    }
}

impl Host {
    /// Updates the part of the lanes that is in sight.
    pub(super) fn look_at_lanes(&mut self) {
        if !self.shows_lanes() {
            return;
        }
        let lanes = &mut self.lanes;
        if lanes.rows.update(&self.session, &lanes.wanted) {
            lanes.cursor = lanes.cursor.min(lanes.rows.rows.len().saturating_sub(1));
        }
        if lanes.fits {
            (lanes.view.from, lanes.view.to) = (Timestamp::ZERO, end(&self.session));
        } else if self.playing && self.session.now() > lanes.view.to {
            // The clock stays in sight while it runs.
            lanes.view = lanes.view.panned(0.5);
        }
        lanes.window = window(&self.session, &lanes.rows, lanes.view, self.session.is_peeking());
        if let Some((subject, at)) = &lanes.chosen {
            let said = Chosen::at(&self.session, subject, *at);
            if said.as_ref() != lanes.said.as_deref() {
                lanes.said = said.map(Rc::new);
            }
        }
        self.look_at_area();
    }

    /// Updates the contents of the area that was chosen.
    fn look_at_area(&mut self) {
        let (lanes, session) = (&mut self.lanes, &self.session);
        let Some(held) = &mut lanes.area else { return };
        for row in &mut lanes.window.rows {
            if held.subjects.contains(&row.subject) {
                Rc::make_mut(row).in_area = true;
            }
        }
        let place = (lanes.view.place(held.time.0), lanes.view.place(held.time.1));
        let counted_for = counted_for(session, held.time.1);
        if held.counted_for != counted_for {
            let (area, only_record) = area(session, &held.subjects, held.time);
            let objects = held.subjects.len();
            held.shown = Rc::new(ChosenArea::new(objects, area, only_record, place));
            held.counted_for = counted_for;
        } else if held.shown.place != place {
            Rc::make_mut(&mut held.shown).place = place;
        }
    }

    /// The state of the forecast.
    pub(super) fn forecast_state(&self) -> ForecastState {
        if !self.shows_lanes() || self.playing || self.session.is_peeking() {
            return ForecastState::Done;
        }
        match self.session.forecast_part() {
            None => ForecastState::Done,
            Some(_) if self.lanes.stopped => ForecastState::Stopped,
            Some(part) => ForecastState::Runs(part),
        }
    }

    /// Sets the rows that are wanted.
    pub(super) fn want_lanes(&mut self, wanted: Wanted) {
        self.lanes.wanted = wanted;
        self.look_at_lanes();
    }

    /// Whether the user looks at a forecast that could go further.
    pub(super) fn wants_forecast(&self) -> bool {
        matches!(self.forecast_state(), ForecastState::Runs(_))
    }

    /// Runs a slice of the forecast.
    pub(super) fn run_forecast(&mut self) {
        let (clock, until) = (self.clock, (self.clock)() + self.budgets.slice);
        self.session.run_forecast(|| clock() < until);
        self.look_at_lanes();
    }

    /// Shows the moment of the clock again.
    pub(super) fn end_peek(&mut self) {
        if self.session.end_peek() {
            self.refresh(ViewModels::follow_change);
            self.turn();
        }
    }

    pub(super) fn on_lanes(&mut self, msg: LanesMsg, narrow: bool) {
        match msg {
            LanesMsg::Show(show, chosen) => self.show_lanes(show, chosen),
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
            LanesMsg::Filter(text) => self.lanes.wanted.filter = text.trim().to_ascii_lowercase(),
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
                self.lanes.wanted.folded = Some(nodes.cloned().collect());
            }
            LanesMsg::Pin(subject) => self.pin(subject),
            LanesMsg::PinHere => {
                if let Some(subject) = self.at_cursor() {
                    self.pin(subject);
                }
            }
            LanesMsg::Move(to) => self.move_cursor(to),
            // The cursor is on no row.
            LanesMsg::Go => self.end_peek(),
            // While time runs the board shows the moment of the clock.
            LanesMsg::PeekAt(_) if self.playing => {}
            LanesMsg::PeekAt(at) => self.peek(at),
            LanesMsg::Peek(None) => self.end_peek(),
            // The page handles these by itself.
            LanesMsg::Peek(Some(_)) | LanesMsg::PeekNow => {}
            LanesMsg::Choose(subject, at) => {
                self.end_peek();
                self.put_cursor_on(&subject);
                self.choose(subject, at, narrow);
            }
            LanesMsg::Area(frame) => self.choose_area(frame),
            LanesMsg::Forecast(on) => self.lanes.stopped = !on,
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
                        self.announce("The area begins here; ] ends it");
                    }
                }
            }
            LanesMsg::Picture(picture) => self.picture(Pictured::Lanes, picture),
        }
        self.look_at_lanes();
    }

    /// Whether the lanes are in sight. For a large cluster the page shows the log, as soon as it
    /// knows.
    fn shows_lanes(&self) -> bool {
        let is_large = self.views.board.board().totals.pods > MANY_PODS;
        self.lanes.in_sight && (self.lanes.even_large || !is_large)
    }

    fn show_lanes(&mut self, show: bool, chosen: bool) {
        (self.lanes.in_sight, self.lanes.even_large) = (show, chosen);
        if !show {
            self.end_peek();
        }
    }

    fn pin(&mut self, subject: LaneSubject) {
        let cursor = self.at_cursor();
        let pins = &mut self.lanes.wanted.pins;
        let before = pins.len();
        pins.retain(|pin| *pin != subject);
        if pins.len() == before {
            pins.push(subject);
        }
        // Rows move, and the cursor stays with its own.
        self.look_at_lanes();
        if let Some(subject) = cursor {
            self.put_cursor_on(&subject);
        }
    }

    fn at_cursor(&self) -> Option<LaneSubject> {
        self.lanes.rows.rows.get(self.lanes.cursor).map(|row| row.subject.clone())
    }

    fn move_cursor(&mut self, to: Move) {
        let last = self.lanes.rows.rows.len().saturating_sub(1);
        let page = (self.lanes.view.rows / 3).max(1);
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

    /// Shows the moment of the previous or next change of the row at the cursor.
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
            && !self.playing
        {
            self.peek(to);
            self.choose_at_cursor();
        }
    }

    fn choose_at_cursor(&mut self) {
        let now = self.session.now();
        self.choose_segment(self.at_cursor().map(|subject| (subject, now)));
    }

    fn choose_segment(&mut self, chosen: Option<(LaneSubject, Timestamp)>) {
        (self.lanes.chosen, self.lanes.said) = (chosen, None);
        self.look_at_lanes();
    }

    fn put_cursor_on(&mut self, subject: &LaneSubject) {
        let place = self.lanes.rows.rows.iter().position(|row| row.subject == *subject);
        self.lanes.cursor = place.unwrap_or(self.lanes.cursor);
    }

    /// Begins to go to a moment of an object, if `msg` asks for that; returns the object and the
    /// way.
    pub(super) fn begin_lane(&mut self, msg: &LanesMsg) -> Option<(LaneSubject, Way)> {
        let (subject, at) = match msg {
            LanesMsg::Go => (self.at_cursor()?, self.session.now()),
            LanesMsg::Choose(subject, Some(at)) => (subject.clone(), *at),
            _ => return None,
        };
        self.end_peek();
        self.put_cursor_on(&subject);
        Some((subject, self.session.begin_way(at)))
    }

    /// Selects an object; its state at a moment is described.
    pub(super) fn choose(&mut self, subject: LaneSubject, at: Option<Timestamp>, narrow: bool) {
        if let Some(at) = at {
            self.choose_segment(Some((subject.clone(), at)));
        }
        // Where the inspector lies over the lanes, only a name opens it.
        if at.is_none() || !narrow {
            let selection = selection_of(&subject);
            self.effects.push(Effect::Reveal(selection.clone()));
            self.select(Some(selection));
        }
    }

    fn peek(&mut self, at: Timestamp) {
        self.session.peek(at);
        self.refresh(ViewModels::follow_change);
        self.turn();
    }

    fn choose_area(&mut self, frame: Option<Frame>) {
        self.lanes.begun = None;
        self.lanes.area = frame.map(|Frame { rows, time }| {
            let subjects = self.lanes.rows.subjects(rows);
            let (area, only_record) = area(&self.session, &subjects, time);
            let (objects, place) = (subjects.len(), <(f64, f64)>::default());
            let shown = Rc::new(ChosenArea::new(objects, area, only_record, place));
            HeldArea { subjects, time, counted_for: counted_for(&self.session, time.1), shown }
        });
    }

    /// Offers a picture of the lanes or of the board.
    pub(super) fn picture(&mut self, of: Pictured, picture: Picture) {
        let svg = match of {
            Pictured::Lanes => {
                // The user may never have looked at them.
                self.lanes.rows.update(&self.session, &self.lanes.wanted);
                let subjects = self.lanes.rows.subjects((0, MOST_OF_PICTURE));
                files::lanes_svg(&self.session, &subjects)
            }
            Pictured::Board => {
                let board = self.views.board.board();
                files::board_svg(&self.session, board, Detail::of(board, self.density))
            }
        };
        self.effects.push(Effect::Picture(of, svg, picture == Picture::Png));
    }
}

fn counted_for(session: &Session, to: Timestamp) -> CountedFor {
    let recorded = || (session.recorder().events(), session.reached());
    ((!session.forecast_covers(to)).then(recorded), end(session).min(to))
}
