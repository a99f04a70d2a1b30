//! What the page can be painted without: the panels of the inspector, the dialogs, YAML, the
//! scenarios, and the work that was stored. All that only this module leads to is a wasm file of its own, which is loaded when
//! the page stands; a build for another target than wasm has it in one piece.
//!
//! The line is drawn here and nowhere else: what the page calls by its name is loaded first, what
//! it calls through [`Later`] is loaded later.

use std::fmt;
use std::rc::Rc;

use wasm_split_helpers::{SplitLoaderError, wasm_split};
use yew::prelude::*;

use crate::app::{Dispatch, Export};
use crate::components::{dialogs, inspector};
use crate::inspected::Inspected;
use crate::model::Selection;
use crate::session::Session;
use crate::{files, saved};

/// A session that was stored, and what was selected.
pub(crate) type Restored = (Session, Option<Selection>);

/// The ways into what is loaded later.
pub(crate) struct Later {
    /// The panel of what is selected.
    pub(crate) panel: fn(&Inspected, &Dispatch) -> Html,
    /// The dialog that is open.
    pub(crate) dialog: fn(&dialogs::Asked<'_>) -> Html,
    /// What is handed out: the name of a file, and its text.
    pub(crate) export: fn(&Session, Export) -> (&'static str, String),
    /// The session and what is selected, as text to be stored.
    pub(crate) save: fn(&Session, Option<&Selection>) -> Result<String, String>,
    /// The same, of such a text.
    pub(crate) restore: fn(&str) -> Result<Restored, String>,
}

impl PartialEq for Later {
    /// There is only one.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The file could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotLoaded;

impl From<SplitLoaderError> for NotLoaded {
    fn from(_: SplitLoaderError) -> Self {
        Self
    }
}

impl fmt::Display for NotLoaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "A part of the page could not be loaded: is the network there? Select something or \
             open a dialog to try again.",
        )
    }
}

/// Loads it, or gives what was loaded before.
///
/// # Errors
/// It could not be fetched; a later call tries again.
#[wasm_split(later, fallible)]
pub(crate) fn load() -> Result<Rc<Later>, NotLoaded> {
    Ok(Rc::new(Later {
        panel: inspector::panel,
        dialog: dialogs::dialog,
        export: files::export_as,
        save: saved::to_text,
        restore: saved::from_text,
    }))
}
