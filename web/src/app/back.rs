//! The browser's Back closes a dialog instead of leaving the page.
//!
//! An open dialog has a history entry of its own, as if it were a page. A dialog that is closed in
//! another way takes its entry away; until the browser has done so no other entry is made.

use wasm_bindgen::JsValue;

use crate::browser;

/// The state stored with a dialog's history entry, to recognize it after a reload.
const DIALOG: &str = "dialog";

/// The history entry of a dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    /// No entry.
    None,
    /// The browser's present entry.
    Present,
    /// An entry that the browser is leaving.
    Leaving,
}

/// The place to which the browser went in its history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Went {
    /// Away from an open dialog, which closes it.
    FromDialog,
    /// Away from a closed dialog's entry, as the page requested.
    Back,
    /// To another address.
    Elsewhere,
}

/// The history of the page's dialogs.
#[derive(Debug)]
pub(super) struct Back(Entry);

impl Back {
    /// Finds the entry of a dialog that was open before a reload.
    pub(super) fn new() -> Self {
        let state = history().and_then(|history| history.state().ok());
        let present = state.and_then(|state| state.as_string()).as_deref() == Some(DIALOG);
        Self(if present { Entry::Present } else { Entry::None })
    }

    /// Adds an entry when a dialog opens, and takes it away when the dialog closes.
    pub(super) fn follow(&mut self, open: bool) {
        let Some(history) = history() else { return };
        // A browser that refuses has no such entry, and its Back leaves the page.
        match (self.0, open) {
            (Entry::None, true) => {
                if history.push_state_with_url(&JsValue::from_str(DIALOG), "", None).is_ok() {
                    self.0 = Entry::Present;
                }
            }
            (Entry::Present, false) => {
                self.0 = if history.back().is_ok() { Entry::Leaving } else { Entry::None };
            }
            (Entry::None, false) | (Entry::Present, true) | (Entry::Leaving, _) => {}
        }
    }

    /// Tells why the browser went to another entry: to close a dialog, after a dialog closed, or
    /// for another address.
    pub(super) fn went(&mut self) -> Went {
        match std::mem::replace(&mut self.0, Entry::None) {
            Entry::Present => Went::FromDialog,
            Entry::Leaving => Went::Back,
            Entry::None => Went::Elsewhere,
        }
    }

    /// Whether the page's own entry is the present one, with no change under way.
    pub(super) fn is_idle(&self) -> bool {
        self.0 == Entry::None
    }
}

fn history() -> Option<web_sys::History> {
    browser::window()?.history().ok()
}
