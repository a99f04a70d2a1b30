//! How much of each node the board shows, and what on it is looked for.

use taintlab_core::api::NodeName;

use super::App;
use crate::browser;
use crate::view_models::board::density::{Density, Detail};
use crate::view_models::selection::Selection;

const KEY: &str = "taintlab.density";

/// What was chosen before.
pub(super) fn kept() -> Density {
    browser::stored(KEY).and_then(|word| Density::parse(&word)).unwrap_or_default()
}

impl App {
    /// How much of each node is shown.
    pub(super) fn detail(&self) -> Detail {
        Detail::of(self.views.board.board(), self.density)
    }

    pub(super) fn set_density(&mut self, density: Density) {
        self.density = density;
        // A choice that is not stored is no loss worth a message.
        let _ = browser::store(KEY, density.word());
        self.announcement = format!("Nodes as {}", self.detail().noun()).into();
        if let Some(selection) = &self.selection {
            self.focus.reveal(self.place_of(selection));
        }
    }

    /// The node that is selected, or that has the pod that is.
    pub(super) fn selected_node(&self) -> Option<NodeName> {
        match self.selection.as_ref()? {
            Selection::Node(name) => Some(name.clone()),
            Selection::Pod(key) => self.views.board.pod(key).map(|pod| pod.node.as_str().into()),
            _ => None,
        }
    }

    /// What on the board stands for something: where pods are numbers, their node does.
    pub(super) fn place_of(&self, selection: &Selection) -> Selection {
        let Selection::Pod(key) = selection else { return selection.clone() };
        let node = self.views.board.pod(key).map(|pod| pod.node.as_str());
        match node.filter(|node| !node.is_empty() && self.detail() >= Detail::Rows) {
            Some(node) => Selection::Node(node.into()),
            None => selection.clone(),
        }
    }

    /// Selects the next node or pod that has this in its name.
    pub(super) fn find(&mut self, name: &str) {
        let name = name.trim();
        if name.is_empty() {
            return;
        }
        match self.views.board.find(name, self.selection.as_ref()) {
            Some(found) => {
                self.announcement = match &found {
                    Selection::Node(node) => {
                        let node = self.views.board.node(node.as_str());
                        node.map(|node| node.line()).unwrap_or_default().into()
                    }
                    Selection::Pod(pod) => format!("pod {pod}").into(),
                    _ => Default::default(),
                };
                self.select(Some(found));
            }
            None => self.announcement = format!("No node or pod has `{name}` in its name").into(),
        }
    }
}
