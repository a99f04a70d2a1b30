//! The work survives a reload; another cluster takes its place.

use gloo_timers::callback::Timeout;
use taintlab_core::scenario::Scenario;
use taintlab_manifest::Import;

use super::{App, Export, Handing, Msg, Notice, incoming};
use crate::model::Selection;
use crate::session::Session;
use crate::text::count;
use crate::{browser, files, sample, saved};

const KEY: &str = "taintlab.session";
/// What could not be read is kept here until something else cannot be read.
const BROKEN_KEY: &str = "taintlab.session.broken";
/// Storing waits until the user has paused for so long, in milliseconds.
const SAVE_AFTER: u32 = 400;

/// Whether there is something that the user left here the last time and wants to see.
pub(crate) fn has_stored_work() -> bool {
    !browser::asked_for_fresh_start() && browser::stored(KEY).is_some()
}

/// What the user left here the last time and what was selected, or the sample cluster, with what
/// there is to say about it.
pub(super) fn beginning() -> (Session, Option<Selection>, Option<Notice>) {
    let Some(text) = browser::stored(KEY) else { return (sample(), None, None) };
    let notice = if browser::asked_for_fresh_start() {
        set_aside(text, "You asked for a fresh start.")
    } else {
        match saved::from_text(&text) {
            Ok((session, selection)) => return (session, selection, None),
            Err(error) => {
                let why = format!("The work stored in this browser could not be read: {error}.");
                set_aside(text, &why)
            }
        }
    };
    (sample(), None, Some(notice))
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
fn sample() -> Session {
    Session::new(sample::sample()).unwrap_or_default()
}

impl App {
    pub(super) fn save_soon(&mut self) {
        let dispatch = self.dispatch.clone();
        self.save = Some(Timeout::new(SAVE_AFTER, move || dispatch.emit(Msg::Save)));
    }

    pub(super) fn store(&mut self) {
        let result = saved::to_text(&self.session, self.selection.as_ref())
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

    pub(super) fn export(&mut self, what: Export, how: Handing) {
        let (name, text) = files::export_as(&self.session, what);
        match how {
            Handing::Copy => incoming::copy(&self.dispatch, text.into()),
            Handing::Download => {
                let result = browser::download(name, &text);
                self.notice_error(result);
            }
        }
    }
}
