//! A scenario with bookmarks is a story, told step by step.

use taintlab_core::scenario::Bookmark;

use super::Host;
use crate::protocol::{Effect, Notice};
use crate::view_models::selection::Selection;
use crate::{files, samples};

impl Host {
    pub(super) fn set_bookmarks(&mut self, bookmarks: Vec<Bookmark>) {
        self.session.set_bookmarks(bookmarks);
        let number = self.session.timeline().start.bookmarks.len();
        self.story = self.story.filter(|told| *told < number);
        self.changed();
    }

    /// Shows the moment of a bookmark, and what it is about.
    pub(super) fn tell_story(&mut self, number: Option<usize>) {
        self.stop();
        let start = self.session.timeline().start.clone();
        let told = number.and_then(|number| Some((number, start.bookmarks.get(number)?)));
        let Some((number, bookmark)) = told else {
            self.story = None;
            return;
        };
        self.close_dialog();
        self.story = Some(number);
        self.session.seek(bookmark.at.timestamp());
        if let Some(selection) = Selection::parse(&bookmark.select) {
            self.selection = Some(selection.clone());
            self.effects.push(Effect::Reveal(selection));
        }
        self.changed();
        self.announce(bookmark.note.clone());
    }

    pub(super) fn tell_next(&mut self, forth: bool) {
        let Some(told) = self.story else { return };
        let last = self.session.timeline().start.bookmarks.len().saturating_sub(1);
        let other = if forth { (told + 1).min(last) } else { told.saturating_sub(1) };
        self.tell_story(Some(other));
    }

    /// Opens an example at its first bookmark.
    pub(super) fn tour(&mut self, name: &str) {
        let text = samples::all().find(|(known, _)| *known == name).map(|(_, text)| text);
        match files::scenario(name, text.unwrap_or_default()) {
            Ok(scenario) => {
                self.load(scenario);
                self.tell_story(Some(0));
            }
            Err(error) => self.notice(Notice::error(error)),
        }
    }
}
