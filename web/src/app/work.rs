//! The work survives a reload; another cluster takes its place.

use std::rc::Rc;

use gloo_timers::callback::Timeout;
use taintlab_core::scenario::Scenario;
use taintlab_manifest::Import;
use yew::prelude::*;

use super::{App, Export, Handing, Msg, Notice, incoming};
use crate::later::Later;
use crate::model::Model;
use crate::session::Session;
use crate::text::count;
use crate::{browser, files, sample};

const KEY: &str = "taintlab.session";
/// What could not be read is kept here until something else cannot be read.
const BROKEN_KEY: &str = "taintlab.session.broken";
/// Storing waits until the user has paused for so long, in milliseconds.
const SAVE_AFTER: u32 = 400;

/// What to begin with.
pub(super) enum Beginning {
    /// The sample cluster, with what there is to say about it.
    Sample(Option<Notice>),
    /// The stored work, which is still text.
    Stored(String),
}

/// What the user left here the last time.
pub(super) fn beginning() -> Beginning {
    match browser::stored(KEY) {
        None => Beginning::Sample(None),
        Some(text) if browser::asked_for_fresh_start() => {
            Beginning::Sample(Some(set_aside(text, "You asked for a fresh start.")))
        }
        Some(text) => Beginning::Stored(text),
    }
}

fn set_aside(text: String, why: &str) -> Notice {
    // If there is no room for the copy, it can still be downloaded now.
    let _ = browser::store(BROKEN_KEY, &text);
    browser::forget(KEY);
    let text = text.into();
    Notice {
        copy: Some(("taintlab-session.yaml".to_owned(), text)),
        ..Notice::error(format!(
            "{why} Here is the sample cluster; a copy of the stored work is kept."
        ))
    }
}

/// The cluster to begin with, if nothing is stored.
pub(super) fn sample() -> Session {
    Session::new(sample::sample()).unwrap_or_default()
}

impl App {
    /// What was loaded later is there: the stored work can be read.
    pub(super) fn loaded(&mut self, later: Rc<Later>) {
        if let Some(text) = self.stored.take() {
            match (later.restore)(&text) {
                Ok((session, selection)) => {
                    self.session = session;
                    self.selection = selection;
                }
                Err(error) => {
                    let why =
                        format!("The work stored in this browser could not be read: {error}.");
                    self.session = sample();
                    self.notice(set_aside(text, &why));
                }
            }
            self.model = Model::default();
            self.refresh();
            self.inspect();
        }
        self.later = Some(later);
    }

    pub(super) fn save_soon(&mut self) {
        let dispatch = self.dispatch.clone();
        self.save = Some(Timeout::new(SAVE_AFTER, move || dispatch.emit(Msg::Save)));
    }

    pub(super) fn store(&mut self) {
        // As long as that is not there, nothing can have changed that is worth storing.
        let Some(later) = &self.later else { return };
        let result = (later.save)(&self.session, self.selection.as_ref())
            .and_then(|text| browser::store(KEY, &text));
        match result {
            Ok(()) => self.cannot_store = false,
            Err(error) if !self.cannot_store => {
                self.cannot_store = true;
                self.notice(Notice::error(format!(
                    "The work will not survive a reload: {error}. Export it to keep it."
                )));
            }
            Err(_) => {}
        }
    }

    pub(super) fn load(&mut self, scenario: Scenario) {
        self.play(false);
        match self.session.load(scenario) {
            Ok(()) => {
                self.selection = None;
                self.dialog = None;
                self.changed();
                self.inspect();
            }
            Err(error) => self.notice(Notice::error(error.to_string())),
        }
    }

    pub(super) fn add(&mut self, read: Import) {
        let commands = files::commands_to_add(read, &self.session);
        let wanted = commands.len();
        let errors = self.session.apply_what_fits(commands);
        self.dialog = None;
        let added = count(wanted.saturating_sub(errors.len()), "change");
        match errors.as_slice() {
            [] => self.notice(Notice::info(format!("{added} made"))),
            [first, rest @ ..] => {
                let more = if rest.is_empty() {
                    String::new()
                } else {
                    format!(" (and {} more)", rest.len())
                };
                self.notice(Notice::error(format!("{added} made; refused: {first}{more}")));
            }
        }
        self.changed();
    }

    pub(super) fn export(&mut self, ctx: &Context<Self>, what: Export, how: Handing) {
        // Whatever asks for it is a dialog, which is loaded with it.
        let Some(later) = &self.later else { return };
        let (name, text) = (later.export)(&self.session, what);
        match how {
            Handing::Copy => incoming::copy(ctx, text.into()),
            Handing::Download => {
                let result = browser::download(name, &text);
                self.notice_error(result);
            }
        }
    }
}
