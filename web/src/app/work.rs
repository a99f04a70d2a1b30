//! The work survives a reload; another cluster takes its place.

use gloo_timers::callback::Timeout;
use taintlab_core::scenario::Scenario;
use taintlab_manifest::Import;
use yew::prelude::*;

use super::{App, Export, Handing, Msg, Notice, incoming};
use crate::model::Selection;
use crate::session::Session;
use crate::text::count;
use crate::{browser, files, saved};

const KEY: &str = "taintlab.session";
/// What could not be read is kept here until something else cannot be read.
const BROKEN_KEY: &str = "taintlab.session.broken";
/// Storing waits until the user has paused for so long, in milliseconds.
const SAVE_AFTER: u32 = 400;

/// What to begin with, and what there is to say about it.
#[derive(Default)]
pub(super) struct Restored {
    pub(super) session: Session,
    pub(super) selection: Option<Selection>,
    pub(super) notice: Option<Notice>,
}

/// The stored session, or the sample cluster.
pub(super) fn restore() -> Restored {
    let afresh = |notice| Restored { session: sample(), notice, selection: None };
    let Some(text) = browser::stored(KEY) else { return afresh(None) };
    if browser::asked_for_fresh_start() {
        return afresh(Some(set_aside(text, "You asked for a fresh start.")));
    }
    match saved::from_text(&text) {
        Ok((session, selection)) => Restored { session, selection, notice: None },
        Err(error) => {
            let why = format!("The work stored in this browser could not be read: {error}.");
            afresh(Some(set_aside(text, &why)))
        }
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

/// The cluster to begin with. Its file is part of the page, and a test reads it.
fn sample() -> Session {
    files::sample()
        .and_then(|scenario| Session::new(scenario).map_err(|error| error.to_string()))
        .unwrap_or_default()
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
