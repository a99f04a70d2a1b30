//! The density of the board: how much it shows of each node.

use taintlab_core::api::NodeName;

use super::App;
use crate::browser;
use crate::protocol::Request;
use crate::view_models::board::density::{Density, Detail};
use crate::view_models::selection::Selection;

const KEY: &str = "taintlab.density";
const FINE: &str = "taintlab.fine";

/// The stored choice of density.
pub(super) fn kept() -> Density {
    browser::stored(KEY).and_then(|word| Density::parse(&word)).unwrap_or_default()
}

/// The stored choice whether to show nodes on which nothing happens.
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
        // A choice that cannot be stored is not worth a message.
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

    /// The selected node, or the node of the selected pod.
    pub(super) fn selected_node(&self) -> Option<NodeName> {
        self.shown.selected.at.clone().filter(|_| self.shown.selected.selection == self.selection)
    }

    /// The element of the board that represents an object: where pods are only counted, a pod's
    /// node.
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
