//! What the page can be painted without: the engine, and all that shows or changes what it does.
//! All that only this module leads to is a wasm file of its own, which is loaded when the page
//! stands; a build for another target than wasm has it in one piece.
//!
//! The line is drawn here and nowhere else: what the [shell](crate::shell) calls by its name is
//! loaded first, what it calls through a [`Page`] is loaded later.

use std::fmt;

use wasm_split_helpers::{SplitLoaderError, wasm_split};

use crate::app::{App, Dispatch};
use crate::shell::Page;

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
        f.write_str("The engine could not be loaded: is the network there?")
    }
}

/// Loads the application and starts it.
///
/// # Errors
/// It could not be fetched; a later call tries again.
#[wasm_split(later, fallible)]
pub(crate) fn load(dispatch: Dispatch) -> Result<Box<dyn Page>, NotLoaded> {
    Ok(Box::new(App::new(dispatch)))
}
