//! The pane below the board, stored over a reload.

use super::App;
use crate::browser;
use crate::components::pane::tab_selector;
use crate::view_models::pane::{Pane, PaneMsg};

const KEY: &str = "taintlab.pane";

/// The pane as it was stored last.
pub(super) fn kept() -> Pane {
    browser::stored(KEY).map(|text| Pane::parse(&text)).unwrap_or_default()
}

impl App {
    pub(super) fn on_pane(&mut self, msg: PaneMsg) {
        let pods = self.shown.board.totals.pods;
        self.pane.update(msg, pods);
        if msg == PaneMsg::LeavePrompt {
            browser::focus(tab_selector(self.pane.tab(pods)).as_str());
        }
        // Storing the pane is only a convenience.
        let _ = browser::store(KEY, &self.pane.to_string());
    }
}
