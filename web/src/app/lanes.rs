//! The page's state of the lanes: whether they are visible, and the moment under the pointer.

use gloo_timers::callback::Timeout;
use taintlab_core::time::Timestamp;

use super::App;
use crate::browser;
use crate::messages::Msg;
use crate::protocol::Request;
use crate::view_models::lanes::{LanesMsg, Move};
use crate::view_models::pane::{MANY_PODS, PaneTab};

/// The time that the pointer must rest on a moment before the page shows it, in milliseconds: for
/// small and for large clusters, where it takes longer to show.
const PEEK_AFTER: [u32; 2] = [30, 250];

/// The page's state of the lanes.
#[derive(Default)]
pub(super) struct Lanes {
    /// Whether the lanes are in sight and whether they were chosen, as last sent to the session.
    in_sight: (bool, bool),
    /// The moment to show when the pointer has rested.
    peek: Option<Timestamp>,
    waits: Option<Timeout>,
    /// Whether another moment than the clock's is shown, or will be.
    peeks: bool,
}

impl App {
    pub(super) fn on_lanes(&mut self, msg: LanesMsg) {
        match msg {
            // While time runs the board shows the clock's moment.
            LanesMsg::Peek(Some(at)) => {
                if !self.playback.is_playing() {
                    self.lanes.peek = Some(at);
                    self.wait_to_peek();
                }
            }
            LanesMsg::Peek(None) => self.end_peek(),
            LanesMsg::PeekNow => {
                self.lanes.waits = None;
                if let Some(at) = self.lanes.peek.take() {
                    self.lanes.peeks = true;
                    self.update_lanes(LanesMsg::PeekAt(at));
                }
            }
            LanesMsg::Go | LanesMsg::Choose(..) => {
                self.forget_peek();
                self.lanes.peeks = false;
                self.play(false);
                self.update_lanes(msg);
                self.save_soon();
            }
            LanesMsg::Move(Move::Earlier | Move::Later) => {
                self.lanes.peeks = true;
                self.update_lanes(msg);
            }
            msg => self.update_lanes(msg),
        }
    }

    fn update_lanes(&mut self, msg: LanesMsg) {
        self.request(Request::Lanes(msg, browser::is_narrow()));
    }

    /// Tells the session whether the lanes are in sight, if that has changed.
    pub(super) fn follow_pane(&mut self) {
        let (shows, chosen) = self.shows_lanes();
        if std::mem::replace(&mut self.lanes.in_sight, (shows, chosen)) != (shows, chosen) {
            if !shows {
                self.end_peek();
            }
            self.update_lanes(LanesMsg::Show(shows, chosen));
        }
    }

    /// Whether the lanes are in sight, and whether the user chose them.
    pub(super) fn shows_lanes(&self) -> (bool, bool) {
        let shows = self.pane.shows(PaneTab::Lanes, self.shown.board.totals.pods);
        (shows, self.pane.is_chosen(PaneTab::Lanes))
    }

    fn forget_peek(&mut self) {
        self.lanes.waits = None;
        self.lanes.peek = None;
    }

    /// Returns the page to the clock's moment.
    pub(super) fn end_peek(&mut self) {
        self.forget_peek();
        if std::mem::take(&mut self.lanes.peeks) {
            self.request(Request::EndPeek);
        }
    }

    fn wait_to_peek(&mut self) {
        if self.lanes.waits.is_some() {
            return;
        }
        let [small, large] = PEEK_AFTER;
        let is_large = self.shown.board.totals.pods > MANY_PODS;
        let dispatch = self.dispatch.clone();
        let wait = if is_large { large } else { small };
        self.lanes.waits = Some(Timeout::new(wait, move || {
            dispatch.emit(Msg::Lanes(LanesMsg::PeekNow));
        }));
    }
}
