//! The lanes: what of them is in sight, and what is done with them.

use std::collections::BTreeSet;
use std::rc::Rc;

use taintlab_core::lanes::LaneSubject;
use taintlab_core::lanes::area::Area;
use taintlab_core::time::Timestamp;

use super::Host;
use crate::files;
use crate::protocol::{Effect, Pictured};
use crate::view_models::ViewModels;
use crate::view_models::board::density::Detail;
use crate::view_models::lanes::{
    Chosen, ChosenArea, Frame, LaneRows, LanesMsg, LanesView, LanesWindow, Move, Picture, Room,
    View, Wanted, end, pieces, selection_of, window,
};

/// A picture has at most so many rows.
const MOST_OF_PICTURE: usize = 2_000;

/// The lanes as they are looked at.
pub(super) struct Lanes {
    room: Room,
    wanted: Wanted,
    rows: LaneRows,
    view: View,
    /// All of the time is shown, however long it becomes.
    fits: bool,
    window: LanesWindow,
    cursor: usize,
    chosen: Option<Rc<Chosen>>,
    area: Option<Rc<ChosenArea>>,
    /// Where an area begins.
    begun: Option<(usize, Timestamp)>,
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
            window: LanesWindow::default(),
            cursor: 0,
            chosen: None,
            area: None,
            begun: None,
        }
    }
}

impl Lanes {
    /// What the page shows of them.
    pub(super) fn view(&self) -> LanesView {
        LanesView {
            window: self.window.clone(),
            wanted: self.wanted.clone(),
            cursor: self.cursor,
            chosen: self.chosen.clone(),
            area: self.area.clone(),
        }
    }
}

impl Host {
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
        } else if self.playing && self.session.now() > lanes.view.to {
            // The clock stays in sight while it runs.
            lanes.view = lanes.view.panned(0.5);
        }
        lanes.window = window(&self.session, &lanes.rows, lanes.view, self.session.is_peeking());
        if let Some(area) = &lanes.area {
            let (from, to) = area.frame.time;
            let place = (lanes.view.place(from), lanes.view.place(to));
            if area.place != place {
                lanes.area = Some(Rc::new(ChosenArea { place, ..ChosenArea::clone(area) }));
            }
        }
    }

    /// These rows are wanted.
    pub(super) fn want_lanes(&mut self, wanted: Wanted) {
        self.lanes.wanted = wanted;
        self.look_at_lanes();
    }

    /// Whether somebody looks at a forecast that does not go as far as it can.
    pub(super) fn wants_forecast(&self) -> bool {
        self.lanes.room != Room::Closed
            && !self.playing
            && !self.session.is_peeking()
            && !self.session.forecast_is_done()
    }

    /// A slice of the forecast.
    pub(super) fn run_forecast(&mut self) {
        let (clock, until) = (self.clock, (self.clock)() + self.budgets.slice);
        self.session.run_forecast(|| clock() < until);
        self.look_at_lanes();
    }

    /// The clock shows its own moment again.
    pub(super) fn end_peek(&mut self) {
        if self.session.end_peek() {
            self.refresh(ViewModels::follow_change);
            self.turn();
        }
    }

    pub(super) fn on_lanes(&mut self, msg: LanesMsg, narrow: bool) {
        match msg {
            LanesMsg::Room(room) => self.give_room(room),
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
                    self.choose(subject, Some(at), narrow);
                }
            }
            // While time runs the board shows that.
            LanesMsg::PeekAt(_) if self.playing => {}
            LanesMsg::PeekAt(at) => self.peek(at),
            LanesMsg::Peek(None) => self.end_peek(),
            // What the page does by itself.
            LanesMsg::ToggleFull | LanesMsg::Peek(Some(_)) | LanesMsg::PeekNow => {}
            LanesMsg::Choose(subject, at) => {
                self.end_peek();
                let rows = self.lanes.rows.rows.iter();
                let place = rows.enumerate().find(|(_, row)| row.subject == subject);
                self.lanes.cursor = place.map_or(self.lanes.cursor, |(place, _)| place);
                self.choose(subject, at, narrow);
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
                        self.announce("The area begins here; ] ends it");
                    }
                }
            }
            LanesMsg::Picture(picture) => self.picture(Pictured::Lanes, picture),
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
            && !self.playing
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
    fn choose(&mut self, subject: LaneSubject, at: Option<Timestamp>, narrow: bool) {
        if let Some(at) = at {
            self.stop();
            self.change(|session| session.seek(at));
            let chosen = Chosen::at(&self.session, &subject, at);
            self.lanes.chosen = chosen.map(Rc::new);
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
        self.lanes.area = frame.map(|frame| {
            let subjects = self.lanes.rows.subjects(frame.rows);
            let events = self.session.known_events();
            let area = Area::of(self.session.recorder(), &events, &subjects, frame.time);
            let (from, to) = frame.time;
            let place = (self.lanes.view.place(from), self.lanes.view.place(to));
            Rc::new(ChosenArea { frame, area: Rc::new(area), place })
        });
    }

    /// Offers a picture of the lanes or of the board.
    pub(super) fn picture(&mut self, of: Pictured, picture: Picture) {
        let svg = match of {
            Pictured::Lanes => {
                // They may never have been looked at.
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
