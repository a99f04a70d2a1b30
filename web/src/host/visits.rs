//! Sessions that are made: from stored ones, from links, from places where the user was before.

use taintlab_core::condition::Condition;
use taintlab_core::time::Timestamp;

use super::Host;
use crate::protocol::{Notice, Origin, Resumed, Staged, StartText};
use crate::saved::{self, SavedWork};
use crate::session::{Edit, Session, Timeline, Way};
use crate::view_models::runs::Breakpoint;
use crate::view_models::selection::Selection;
use crate::{files, link};

/// A session that is kept aside, or on its way to its moment.
pub(super) struct Staging {
    pub(super) session: Session,
    selection: Option<Selection>,
    /// The hash of the events where its link was made; empty if there is no link.
    hash: String,
    /// The data that was taken out of it, in words.
    dropped: String,
    /// Whether an earlier version of the page stored it.
    is_old: bool,
}

/// A place where the user was.
pub(super) struct Visit {
    timeline: Timeline,
    now: Timestamp,
    selection: Option<Selection>,
}

impl Host {
    /// Begins to make a session: the session at its beginning, and the way to its moment. `watch`
    /// gets the number of pods in place, and of all pods.
    pub(super) async fn begin_stage(
        origin: Origin,
        watch: &dyn Fn(usize, usize),
    ) -> Result<(Box<Staging>, Way), String> {
        // Work that an earlier version of the page stored is written anew.
        let is_old = matches!(&origin, Origin::Saved(_, start) if start.len() == 0);
        let (mut hash, mut dropped) = (String::new(), String::new());
        let (session, way, selection) = match origin {
            Origin::Sample => {
                let session = Session::new(files::sample()).unwrap_or_default();
                (session, Way::to(Timestamp::ZERO), None)
            }
            Origin::Saved(edits, start) => {
                let StartText::Text(start) = start else {
                    return Err("the initial state is missing".to_owned());
                };
                let restored = saved::from_text(&edits, &start)?;
                if !restored.dropped.is_empty() {
                    dropped = restored.dropped.to_string();
                }
                restored.begin(watch).await?
            }
            Origin::Link(fragment, inflated) => {
                let parsed = link::parse(&fragment)?.ok_or("it is no link")?;
                let opened = parsed.open(&inflated).await?;
                hash = opened.hash;
                (opened.session, opened.way, opened.selection)
            }
        };
        Ok((Box::new(Staging { session, selection, hash, dropped, is_old }), way))
    }

    /// Keeps a session aside, now that it is at its moment.
    pub(super) fn finish_stage(&mut self, staging: Box<Staging>) -> Box<Staged> {
        let Staging { session, selection, hash, dropped, is_old } = &*staging;
        let contents = link::write(session, selection.as_ref()).map(|draft| draft.contents);
        let start = &session.timeline().start;
        let staged = Staged {
            contents: contents.unwrap_or_default(),
            differs: link::differs(session, hash),
            dropped: dropped.clone(),
            title: saved::title(start),
            now: session.now(),
            selection: selection.clone(),
            work: (
                SavedWork::of(session),
                is_old.then(|| StartText::Text(saved::start_text(start).into())),
            ),
        };
        self.staged = Some(staging);
        Box::new(staged)
    }

    /// Replaces the present session with the one kept aside.
    pub(super) fn take(&mut self) {
        if let Some(staged) = self.staged.take() {
            self.begin_session(staged.session, staged.selection);
        }
    }

    fn begin_session(&mut self, session: Session, selection: Option<Selection>) {
        self.session = session;
        self.selection = selection;
        self.story = None;
        self.views.forget_baseline();
        self.lanes.forget();
        self.begin_telling();
        self.forget_what_was_done();
        self.changed();
    }

    /// Restores the state of a session that broke down, after its work was taken.
    pub(super) fn resume(&mut self, known: Resumed) {
        let simulator = self.session.simulator();
        let breakpoint = |line: &String| {
            let condition = Condition::parse(line, simulator).ok()?;
            let holds = condition.holds(simulator);
            Some(Breakpoint { condition, holds })
        };
        self.breakpoints = known.breakpoints.iter().filter_map(breakpoint).collect();
        self.entries_made = known.console.last().map_or(0, |entry| entry.number);
        self.entries_forgotten = known.forgotten;
        self.console = known.console;
        self.views.hide(known.hidden, &self.session);
        self.want_lanes(known.lanes);
    }

    pub(super) fn leave_visit(&mut self, entry: u32) {
        let visit = Visit {
            timeline: self.session.timeline().clone(),
            now: self.session.now(),
            selection: self.selection.clone(),
        };
        self.visits.insert(entry, visit);
    }

    /// Goes back to a visit; returns the way of the clock, if there is one.
    pub(super) fn visit(&mut self, entry: u32, present: bool) -> Option<Way> {
        let visit = self.visits.remove(&entry)?;
        if present {
            self.selection = visit.selection;
            self.story = None;
            self.forget_what_was_done();
            return Some(self.session.begin_visit(visit.timeline, visit.now));
        }
        let edits: Vec<Edit> = visit.timeline.log.iter().map(|edit| (**edit).clone()).collect();
        let start = (*visit.timeline.start).clone();
        match Session::begin_resume(start, edits, visit.now) {
            Ok((session, way)) => {
                self.begin_session(session, visit.selection);
                Some(way)
            }
            Err(error) => {
                self.notice(Notice::error(error.to_string()));
                None
            }
        }
    }
}
