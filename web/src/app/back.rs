//! The browser's Back closes a dialog, and does not leave the page.
//!
//! An open dialog has an entry of its own in the history, as if it were a page. Closed in another
//! way, it takes the entry away again; until the browser has done so no other entry is made.

use wasm_bindgen::JsValue;

use crate::browser;

/// What the entry of a dialog holds, to be known after a reload.
const DIALOG: &str = "dialog";

/// What is in the history for a dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    /// Nothing.
    None,
    /// An entry, which is the present one.
    Present,
    /// An entry that the browser is leaving.
    Leaving,
}

/// Where the browser went in its history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Went {
    /// Away from a dialog, which that closes.
    FromDialog,
    /// Away from a dialog that is closed, as it was asked to.
    Back,
    /// Somewhere else.
    Elsewhere,
}

/// The history of the page's dialogs.
#[derive(Debug)]
pub(super) struct Back(Entry);

impl Back {
    /// After a reload with a dialog open its entry is still there.
    pub(super) fn new() -> Self {
        let state = history().and_then(|history| history.state().ok());
        let present = state.and_then(|state| state.as_string()).as_deref() == Some(DIALOG);
        Self(if present { Entry::Present } else { Entry::None })
    }

    /// Lets the history follow whether a dialog is open.
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

    /// The browser went to another entry: because of a dialog, and whether that closes it, or
    /// to another address.
    pub(super) fn went(&mut self) -> Went {
        match std::mem::replace(&mut self.0, Entry::None) {
            Entry::Present => Went::FromDialog,
            Entry::Leaving => Went::Back,
            Entry::None => Went::Elsewhere,
        }
    }

    /// Whether the present entry is that of the page, and stays it.
    pub(super) fn is_idle(&self) -> bool {
        self.0 == Entry::None
    }
}

fn history() -> Option<web_sys::History> {
    browser::window()?.history().ok()
}
