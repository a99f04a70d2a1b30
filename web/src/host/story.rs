//! A story: a scenario with bookmarks, told step by step.

use std::rc::Rc;

use taintlab_core::scenario::Bookmark;

use super::Host;
use super::jobs::Arrived;
use crate::protocol::{Effect, Notice};
use crate::session::Way;
use crate::view_models::late_eviction::LateEviction;
use crate::view_models::selection::Selection;
use crate::{files, samples};

impl Host {
    pub(super) fn set_bookmarks(&mut self, bookmarks: Vec<Bookmark>) {
        self.session.set_bookmarks(bookmarks);
        let number = self.session.timeline().start.bookmarks.len();
        self.story = self.story.filter(|told| *told < number);
        self.changed();
    }

    /// Begins to show the moment and the selection of a bookmark; returns the way there, and the
    /// announcement.
    pub(super) fn begin_story(&mut self, number: Option<usize>) -> Option<(Way, Arrived)> {
        self.stop();
        let start = self.session.timeline().start.clone();
        let told = number.and_then(|number| Some((number, start.bookmarks.get(number)?)));
        let Some((number, bookmark)) = told else {
            self.story = None;
            return None;
        };
        self.close_dialog();
        self.story = Some(number);
        let way = self.session.begin_way(bookmark.at.timestamp());
        if let Some(selection) = Selection::parse(&bookmark.select) {
            self.selection = Some(selection.clone());
            self.effects.push(Effect::Reveal(selection));
        }
        Some((way, Arrived::Story(bookmark.note.clone())))
    }

    pub(super) fn begin_story_next(&mut self, forth: bool) -> Option<(Way, Arrived)> {
        let told = self.story?;
        let last = self.session.timeline().start.bookmarks.len().saturating_sub(1);
        let other = if forth { (told + 1).min(last) } else { told.saturating_sub(1) };
        self.begin_story(Some(other))
    }

    /// Begins the story of an eviction that comes later than the toleration says, in the present
    /// release.
    pub(super) fn begin_late_eviction(&mut self) -> Option<(Way, Arrived)> {
        let found = LateEviction::of(self.session.simulator().config().release)?;
        self.load(found.scenario);
        self.begin_story(Some(0))
    }

    pub(super) fn open_example(&mut self, name: &str) {
        match samples::read(name) {
            Ok(scenario) => self.load(scenario),
            Err(error) => self.notice(Notice::error(error)),
        }
    }

    /// The lanes of an example as a picture, kept for lists that show it again.
    pub(super) fn preview(&mut self, name: String) -> Result<(String, Rc<str>), String> {
        let picture = || samples::read(&name).and_then(|it| files::picture(&it, &name));
        let known = self.previews.entry(name.clone());
        let picture = known.or_insert_with(|| picture().map(Into::into)).clone();
        picture.map(|picture| (name, picture))
    }
}
