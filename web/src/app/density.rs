//! How much of each node the board shows.

use taintlab_core::api::NodeName;

use super::App;
use crate::browser;
use crate::protocol::Request;
use crate::view_models::board::density::{Density, Detail};
use crate::view_models::selection::Selection;

const KEY: &str = "taintlab.density";
const FINE: &str = "taintlab.fine";

/// What was chosen before.
pub(super) fn kept() -> Density {
    browser::stored(KEY).and_then(|word| Density::parse(&word)).unwrap_or_default()
}

/// Whether nodes on which nothing happens are shown, as was chosen before.
pub(super) fn shows_fine() -> bool {
    browser::stored(FINE).is_some_and(|word| word == "shown")
}

impl App {
    pub(super) fn toggle_fine(&mut self) {
        self.shows_fine = !self.shows_fine;
        let _ = browser::store(FINE, if self.shows_fine { "shown" } else { "folded" });
    }

    pub(super) fn set_density(&mut self, density: Density) {
        self.density = density;
        // A choice that is not stored is no loss worth a message.
        let _ = browser::store(KEY, density.word());
        let detail = Detail::of(&self.shown.board, density);
        self.announcement = format!("Nodes as {}", detail.noun()).into();
        self.ask(Request::Draw(density), |app, _| {
            if let Some(selection) = &app.selection {
                let place = app.place_of(selection);
                app.focus.reveal(place);
            }
        });
    }

    /// The node that is selected, or that has the pod that is.
    pub(super) fn selected_node(&self) -> Option<NodeName> {
        self.shown.selected.at.clone().filter(|_| self.shown.selected.selection == self.selection)
    }

    /// What on the board stands for something: where pods are numbers, their node does.
    pub(super) fn place_of(&self, selection: &Selection) -> Selection {
        let selected = &self.shown.selected;
        let at = selected.at.as_ref().filter(|_| selected.selection.as_ref() == Some(selection));
        match (selection, at) {
            (Selection::Pod(_), Some(node))
                if !node.as_str().is_empty() && self.shown.detail >= Detail::Rows =>
            {
                Selection::Node(node.clone())
            }
            _ => selection.clone(),
        }
    }
}
