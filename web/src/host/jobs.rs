//! Long work: it runs in slices, reports its progress, and can be stopped.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use taintlab_core::command::Command;
use taintlab_core::condition::Condition;
use taintlab_core::event::EventKind;
use taintlab_core::lanes::LaneSubject;
use taintlab_core::pod_state::PodVerdict;
use taintlab_core::slices::Sliced;
use taintlab_core::time::Timestamp;

use super::reading::{Placed, Reading};
use super::visits::Staging;
use super::{Host, Tell};
use crate::files;
use crate::protocol::{Effect, Notice, Progress, Reply, Request, Update};
use crate::session::{Back, EndRun, MarkKind, Row, RowKind, RunTo, Session, Way, stops};
use crate::text::{at, count};
use crate::view_models::ViewModels;
use crate::view_models::about::About;
use crate::view_models::import_report::ReadView;
use crate::view_models::lanes::{LanesMsg, subject_of};
use crate::view_models::runs::{Breakpoint, Compared, Comparing, Until};
use crate::view_models::selection::Selection;

/// The time ahead that is a full progress bar, where a search may have no end.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The reason for work that is not done.
const STOPPED: &str = "it was stopped";

/// A piece of long work.
pub(super) struct Job {
    /// The request that it answers.
    id: u32,
    /// The time of the clock when it began.
    from: Timestamp,
    /// The number of rows when it began.
    rows: usize,
    what: What,
}

enum What {
    RunToEnd(EndRun),
    Go(Way, Arrived),
    /// Reads a text; the number of objects read so far.
    Read(Sliced<Reading>, Rc<Cell<usize>>),
    /// Puts a cluster in place; the number of pods in place, and of all pods.
    Place(Sliced<Placed>, Rc<Cell<usize>>, usize),
    /// Makes a session, maybe from a text; the number of pods in place, and of all pods.
    Make(Sliced<Made>, Rc<Cell<(usize, usize)>>),
    /// Moves that session to its moment.
    Stage(Box<Staging>, Way),
    Search(RunTo, Search),
    Back(Back),
    Compare(Box<Comparing>),
}

/// A session at its beginning and the way to its moment, or why there is none.
type Made = Result<(Box<Staging>, Way), String>;

/// The action when the clock arrives.
pub(super) enum Arrived {
    /// No action.
    Quietly,
    /// End the peek: the clock shows its own moment again.
    Home,
    /// Keep the peek: another moment is shown.
    Peek,
    /// Announce this to those who do not see the page.
    Words(String),
    /// Announce what happened to the selection.
    About,
    /// Reply that the timeline runs on another Kubernetes.
    Changed,
    /// Show the message that the timeline runs on another Kubernetes, and carry out these commands.
    Edit(Vec<Command>, &'static str),
    /// Choose an object on the lanes, at that moment; `true` if the inspector lies over them.
    Lane(LaneSubject, Timestamp, bool),
    /// Announce a bookmark.
    Story(String),
    /// Select something in the run of a report, which is a branch of that name.
    Run(String, Option<Selection>),
}

/// The target of a search.
enum Search {
    /// An event of a kind that is not hidden.
    Shown(Vec<MarkKind>),
    /// An event about the selection, of a kind that is not hidden.
    About(About, Vec<MarkKind>),
    /// The moment when a condition becomes true; whether it was true at the last look.
    Condition(Condition, bool),
}

impl Search {
    fn finds(&mut self, session: &Session, rows: &[Rc<Row>]) -> bool {
        let shown = |hidden: &[MarkKind], row: &Row| !hidden.contains(&row.kind.mark());
        match self {
            Self::Shown(hidden) => stops(rows, hidden).next().is_some(),
            Self::About(about, hidden) => {
                about.follow(session, rows);
                rows.iter().any(|row| shown(hidden, row) && about.holds(row))
            }
            Self::Condition(condition, before) => {
                let holds = condition.holds(session.simulator());
                !std::mem::replace(before, holds) && holds
            }
        }
    }
}

/// The end of a slice.
enum Slice {
    /// The job has more to do.
    More,
    /// The job is done; `true` if the target was found.
    Done(bool),
    /// Two runs were compared.
    Compared(Box<Compared>),
    /// A text was read.
    Read(Box<Reading>),
    /// A cluster was put in place.
    Placed(Box<Placed>),
    /// A session was made.
    Made(Made),
}

impl Job {
    fn slice(&mut self, session: &mut Session, has_time: impl FnMut() -> bool) -> Slice {
        let done = |done: bool| if done { Slice::Done(true) } else { Slice::More };
        match &mut self.what {
            What::RunToEnd(run) => done(session.go_on_to_end(run, has_time)),
            What::Go(way, _) => done(session.go_on(way, has_time)),
            What::Read(reading, _) => {
                reading.go_on(has_time).map_or(Slice::More, |read| Slice::Read(Box::new(read)))
            }
            What::Place(placing, ..) => {
                placing.go_on(has_time).map_or(Slice::More, |it| Slice::Placed(Box::new(it)))
            }
            What::Make(making, _) => making.go_on(has_time).map_or(Slice::More, Slice::Made),
            What::Stage(staging, way) => done(staging.session.go_on(way, has_time)),
            What::Search(run, search) => {
                let found = session.go_on_to(run, |it, rows| search.finds(it, rows), has_time);
                found.map_or(Slice::More, Slice::Done)
            }
            What::Back(back) => session.go_on_back(back, has_time).map_or(Slice::More, Slice::Done),
            What::Compare(comparing) => match comparing.go_on(has_time) {
                Some(compared) => Slice::Compared(Box::new(compared)),
                None => Slice::More,
            },
        }
    }

    fn progress(&self, session: &Session) -> Progress {
        let now = match &self.what {
            What::Stage(staging, _) => staging.session.now(),
            _ => session.now(),
        };
        let part = |to: Timestamp| {
            let nanos = |at: Timestamp| at.as_nanos().saturating_sub(self.from.as_nanos());
            #[expect(clippy::cast_precision_loss, reason = "a bar")]
            let part = nanos(now) as f64 / nanos(to).max(1) as f64;
            part.min(1.0)
        };
        let (what, part) = match &self.what {
            What::Read(_, so_far) => {
                let what = match so_far.get() {
                    0 => "Reading".to_owned(),
                    objects => format!("Reading: {} so far", count(objects, "object")),
                };
                return Progress { what, part: None };
            }
            What::Place(_, so_far, pods) => {
                return Progress::of_pods("Putting the cluster in place", so_far.get(), *pods);
            }
            What::Make(_, so_far) => {
                let (placed, pods) = so_far.get();
                return Progress::of_pods("Opening", placed, pods);
            }
            What::RunToEnd(_) => ("Running to the end", None),
            What::Go(way, _) => ("Going there", Some(part(way.goal()))),
            What::Stage(_, way) => ("Opening", Some(part(way.goal()))),
            What::Back(back) => ("Looking for it", Some(part(back.goal()))),
            What::Search(..) => ("Looking for it", Some(part(self.from.saturating_add(DAY)))),
            What::Compare(comparing) => {
                let what = format!("Comparing: {}", at(comparing.now()));
                return Progress { what, part: Some(comparing.part()) };
            }
        };
        Progress { what: format!("{what}: {}", at(now)), part }
    }
}

impl Host {
    /// Begins a request that may take long; returns the reply if it was done immediately.
    pub(super) fn begin_job(&mut self, id: u32, request: Request) -> Option<Reply> {
        let rows = self.session.rows().len();
        let is_of_the_work = matches!(
            request,
            Request::Stage(_)
                | Request::EndPeek
                | Request::Undo
                | Request::Redo
                | Request::ChangeStart(_)
                | Request::Visit(..)
                | Request::Edit(_)
                | Request::EditYaml(..)
                | Request::ReplacePod(..)
                | Request::LateEviction
                | Request::OpenRun(_)
                | Request::Replace(_)
        );
        let looks = matches!(
            request,
            Request::Lanes(ref msg, _)
                if !matches!(msg, LanesMsg::Go | LanesMsg::Choose(_, Some(_)))
        ) || matches!(request, Request::Read(..) | Request::ReadAgain(_));
        if !is_of_the_work && !looks {
            self.stop();
        }
        match self.begin(request) {
            Ok(what) => {
                let from = self.session.now();
                self.job = Some(Job { id, from, rows, what });
                None
            }
            Err(reply) => Some(reply),
        }
    }

    fn begin(&mut self, request: Request) -> Result<What, Reply> {
        let hidden = self.views.hidden.clone();
        Ok(match request {
            Request::Stage(origin) => {
                let so_far = Rc::new(Cell::new((0, 0)));
                let watched = so_far.clone();
                let making = async move {
                    Self::begin_stage(origin, &|placed, pods| watched.set((placed, pods))).await
                };
                What::Make(Sliced::new(making), so_far)
            }
            Request::Replace(own_release) => {
                let so_far = Rc::new(Cell::new(0));
                let begun = self.begin_placing(own_release, so_far.clone());
                let (placing, pods) = begun.ok_or(Reply::Done)?;
                What::Place(placing, so_far, pods)
            }
            Request::Read(text, name, keep_all) => self.reads(Some((text, name)), keep_all)?,
            Request::ReadAgain(keep_all) => self.reads(None, keep_all)?,
            Request::Step => What::Search(self.session.begin_run_to(), Search::Shown(hidden)),
            Request::StepAbout(true) => {
                let about = self.about_selected(&hidden)?;
                What::Search(self.session.begin_run_to(), Search::About(about, hidden))
            }
            Request::RunToEnd => What::RunToEnd(self.session.begin_run_to_end()),
            Request::Until(until) => match self.begin_until(&until) {
                Ok(what) => what.ok_or(Reply::Edited(Ok(())))?,
                Err(error) => return Err(Reply::Edited(Err(error))),
            },
            Request::Compare(with) => match Comparing::new(&self.session, &with) {
                Ok(comparing) => What::Compare(Box::new(comparing)),
                Err(error) => return Err(Reply::Edited(Err(error))),
            },
            request => {
                let (way, arrived) = self.begin_way(request, &hidden)?;
                What::Go(way, arrived)
            }
        })
    }

    fn reads(&mut self, text: Option<(String, String)>, keep_all: bool) -> Result<What, Reply> {
        let so_far = Rc::new(Cell::new(0));
        let reading = self.begin_reading(text, keep_all, so_far.clone()).ok_or(Reply::Done)?;
        Ok(What::Read(reading, so_far))
    }

    /// Runs commands, after the controllers that they need; or says why there are none.
    fn begin_edit(&mut self, read: Result<Vec<Command>, String>) -> Result<(Way, Arrived), Reply> {
        let commands = read.map_err(|wrong| Reply::Edited(Err(wrong)))?;
        let needed = self.start_needed(&commands);
        let begun =
            needed.and_then(|(change, words)| Some((self.begin_change_start(change).ok()?, words)));
        match begun {
            Some((way, words)) => Ok((way, Arrived::Edit(commands, words))),
            None => Err(Reply::Edited(self.edit(commands))),
        }
    }

    /// Puts another timeline in place, or begins to move the clock on this one.
    fn begin_way(
        &mut self,
        request: Request,
        hidden: &[MarkKind],
    ) -> Result<(Way, Arrived), Reply> {
        let words = |words: &str| Arrived::Words(words.to_owned());
        let (way, arrived) = match request {
            Request::Seek(to) => (Some(self.session.begin_way(to)), Arrived::Quietly),
            Request::StepBack => (Some(self.session.begin_step_back(hidden)), Arrived::Quietly),
            Request::StepAbout(_) => {
                let (rows, about) = (self.session.rows().len(), self.about_selected(hidden)?);
                let is_it = |row: &Row| !hidden.contains(&row.kind.mark()) && about.holds(row);
                let way = self.session.begin_back_to_row(is_it);
                if way.is_none() {
                    self.say_of_object(rows, false, false);
                }
                (way, Arrived::About)
            }
            Request::Undo => {
                self.forget_what_was_done();
                (self.session.begin_undo(), words("Undone"))
            }
            Request::Redo => {
                self.forget_what_was_done();
                (self.session.begin_redo(), words("Done again"))
            }
            Request::Branch(msg) => {
                let way = self.branch(msg);
                (way, words(&format!("On {} now", self.session.branch_name())))
            }
            Request::ChangeStart(change) => match self.begin_change_start(change) {
                Ok(way) => (Some(way), Arrived::Changed),
                Err(error) => return Err(Reply::Edited(Err(error))),
            },
            Request::Visit(entry, present) => (self.visit(entry, present), Arrived::Quietly),
            Request::Edit(commands) => return self.begin_edit(Ok(commands)),
            Request::EditYaml(of, text, replaces) => {
                let read = files::edited_object(&of, &text, replaces);
                return self.begin_edit(read.map_err(|found| {
                    found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
                }));
            }
            Request::ReplacePod(pod, tolerations) => {
                return self.begin_edit(Ok(self.replacement(&pod, tolerations)));
            }
            Request::EndPeek => (self.session.begin_end_peek(), Arrived::Home),
            Request::Lanes(LanesMsg::PeekAt(at), _) if !self.playing => {
                (Some(self.session.begin_peek(at)), Arrived::Peek)
            }
            Request::Lanes(msg, narrow) => match self.begin_lane(&msg) {
                Some((subject, way)) => (Some(way), Arrived::Lane(subject, way.goal(), narrow)),
                None => {
                    self.on_lanes(msg, narrow);
                    (None, Arrived::Quietly)
                }
            },
            Request::LateEviction => return self.begin_late_eviction().ok_or(Reply::Done),
            Request::Tell(number) => return self.begin_story(number).ok_or(Reply::Done),
            Request::TellNext(forth) => return self.begin_story_next(forth).ok_or(Reply::Done),
            Request::OpenRun(run) => return self.begin_run(*run).ok_or(Reply::Done),
            _ => (None, Arrived::Quietly),
        };
        way.map(|way| (way, arrived)).ok_or(Reply::Done)
    }

    /// Events about the selection. If nothing is selected, or there can be none, that is announced.
    fn about_selected(&mut self, hidden: &[MarkKind]) -> Result<About, Reply> {
        let about = About::of(&self.session, &self.views.board, self.selection.as_ref());
        if self.selection.is_none() {
            self.announce("Select something first");
        } else if let Some(why) = about.never(&self.session, hidden) {
            self.announce(why);
        } else {
            return Ok(about);
        }
        Err(Reply::Done)
    }

    /// Begins to run to a condition, or back to it; sets or removes breakpoints immediately.
    fn begin_until(&mut self, until: &Until) -> Result<Option<What>, String> {
        let line = match until {
            Until::Run(line) | Until::Back(line) | Until::Stop(line) => line,
            Until::Pass(index) => {
                if *index < self.breakpoints.len() {
                    self.breakpoints.remove(*index);
                }
                return Ok(None);
            }
        };
        let condition = Condition::parse(line, self.session.simulator())?;
        match until {
            Until::Stop(_) | Until::Pass(_) => {
                let holds = condition.holds(self.session.simulator());
                self.announce(format!("Breakpoint set: {condition}"));
                self.breakpoints.push(Breakpoint { condition, holds });
                Ok(None)
            }
            Until::Run(_) => {
                let holds = condition.holds(self.session.simulator());
                if holds {
                    let never = self.never_was(&condition);
                    return Err(never.unwrap_or_else(|| format!("`{condition}` already holds")));
                }
                let search = Search::Condition(condition, holds);
                Ok(Some(What::Search(self.session.begin_run_to(), search)))
            }
            Until::Back(_) => Ok(Some(What::Back(self.session.begin_back_to(condition)))),
        }
    }

    /// Says that the pod or the node that is to be gone has never been here: its name may be
    /// misspelt.
    fn never_was(&self, condition: &Condition) -> Option<String> {
        let (what, was) = match condition {
            Condition::PodVerdict(pod, PodVerdict::Gone) => {
                let mut gone = self.session.gone().iter();
                (format!("pod `{pod}`"), gone.any(|gone| gone.pod == *pod))
            }
            Condition::NodeGone(node) => {
                let is_it = |row: &Rc<Row>| {
                    matches!(&row.kind, RowKind::Happened(EventKind::NodeDeleted { node: gone })
                        if gone == node)
                };
                (format!("node `{node}`"), self.session.rows().iter().any(is_it))
            }
            _ => return None,
        };
        (!was).then(|| format!("there has been no {what} until now"))
    }

    /// Runs the job for one slice.
    pub(super) fn run_job(&mut self, tell: Tell<'_>) {
        let Some(mut job) = self.job.take() else { return };
        let (clock, until) = (self.clock, (self.clock)() + self.budgets.slice);
        match job.slice(&mut self.session, || clock() < until) {
            Slice::More => {
                let progress = Effect::Progress(job.progress(&self.session));
                tell(Update { effects: vec![progress], ..Update::default() });
                self.job = Some(job);
            }
            Slice::Done(found) => self.finish(job, found, tell),
            Slice::Read(reading) => {
                let reply = self.keep_reading(*reading);
                self.done(job.id, reply, tell);
            }
            Slice::Placed(placed) => {
                let (scenario, placed) = *placed;
                self.put_in_place(scenario, placed);
                self.done(job.id, Reply::Done, tell);
            }
            Slice::Made(Ok((staging, way))) => {
                job.from = staging.session.now();
                job.what = What::Stage(staging, way);
                self.job = Some(job);
                self.run_job(tell);
            }
            Slice::Made(Err(error)) => self.done(job.id, Reply::Staged(Err(error)), tell),
            Slice::Compared(compared) => {
                self.announce(compared.comparison.sentence());
                self.compared = Some(Rc::new(*compared));
                self.done(job.id, Reply::Edited(Ok(())), tell);
            }
        }
    }

    /// Ends a job before it is done.
    pub(super) fn end_job(&mut self, mut job: Job, cancelled: bool, tell: Tell<'_>) {
        match &mut job.what {
            // The clock stays where it is now.
            What::RunToEnd(_) => self.finish(job, true, tell),
            What::Go(..) => self.finish(job, false, tell),
            // Without another session, this one is taken as far as it is.
            What::Stage(..) if !self.has_begun_telling() => self.finish(job, true, tell),
            What::Read(..) => {
                self.notice(Notice::info("Cancelled. Nothing has changed."));
                let read = ReadView::nothing(STOPPED.to_owned());
                self.done(job.id, Reply::Read(Box::new(read)), tell);
            }
            What::Place(..) => {
                self.notice(Notice::info("Cancelled. Nothing has changed."));
                self.done(job.id, Reply::Done, tell);
            }
            What::Make(..) | What::Stage(..) => {
                self.done(job.id, Reply::Staged(Err(STOPPED.to_owned())), tell);
            }
            What::Search(run, _) => {
                self.session.give_up(run);
                self.finish(job, false, tell);
            }
            What::Back(back) => {
                self.session.give_up_back(back);
                self.finish(job, false, tell);
            }
            What::Compare(_) => {
                let why = if cancelled { STOPPED } else { "it cannot be compared" };
                self.done(job.id, Reply::Edited(Err(why.to_owned())), tell);
            }
        }
    }

    fn finish(&mut self, job: Job, found: bool, tell: Tell<'_>) {
        let Job { id, rows, what, .. } = job;
        // The present session knows nothing of a staged one yet.
        let what = match what {
            What::Stage(staging, _) => {
                let staged = self.finish_stage(staging);
                return self.done(id, Reply::Staged(Ok(staged)), tell);
            }
            what => what,
        };
        match &what {
            What::Go(_, Arrived::Home) if found => _ = self.session.end_peek(),
            What::Go(_, Arrived::Home | Arrived::Peek) => self.session.keep_peek(),
            _ => {}
        }
        if !self.refresh(ViewModels::follow_change) {
            self.turn();
        }
        let reply = match what {
            What::RunToEnd(run) => {
                if run.is_cut(&self.session) {
                    self.notice(Notice::info(format!(
                        "Paused at {}: a run to the end stops after 24 hours. Press E to go on.",
                        at(self.session.now()),
                    )));
                }
                Reply::Done
            }
            What::Compare(_)
            | What::Read(..)
            | What::Place(..)
            | What::Make(..)
            | What::Stage(..)
            | What::Go(_, Arrived::Quietly | Arrived::Home | Arrived::Peek) => Reply::Done,
            What::Go(_, Arrived::Words(words)) => {
                self.announce(words);
                Reply::Done
            }
            What::Go(_, Arrived::About) => {
                if found {
                    self.say_of_object(rows, true, false);
                }
                Reply::Done
            }
            What::Go(_, Arrived::Changed) => Reply::Edited(Ok(())),
            What::Go(_, Arrived::Edit(..)) if !found => Reply::Edited(Err(STOPPED.to_owned())),
            What::Go(_, Arrived::Edit(commands, words)) => {
                self.notice(Notice::info(words));
                Reply::Edited(self.edit(commands))
            }
            What::Go(_, Arrived::Lane(subject, at, narrow)) => {
                if found {
                    self.choose(subject, Some(at), narrow);
                }
                Reply::Done
            }
            What::Go(_, Arrived::Story(note)) => {
                if found {
                    self.announce(note);
                }
                Reply::Done
            }
            What::Go(_, Arrived::Run(name, select)) => {
                self.select(select);
                if found {
                    self.notice(Notice::info(format!(
                        "“{name}” is a branch of its own now, at its worst moment. G leads back, R \
                         to the report.",
                    )));
                }
                Reply::Done
            }
            What::Back(Back { condition, .. }) => {
                Reply::Edited(self.say_of_condition(&condition, found, "before this moment"))
            }
            What::Search(_, Search::Shown(_)) => {
                self.say_of_step(rows, found);
                Reply::Done
            }
            What::Search(_, Search::About(..)) => {
                self.say_of_object(rows, found, true);
                Reply::Done
            }
            What::Search(_, Search::Condition(condition, _)) => {
                Reply::Edited(self.say_of_condition(&condition, found, "in the next 24 hours"))
            }
        };
        self.done(id, reply, tell);
    }

    fn say_of_step(&mut self, before: usize, stepped: bool) {
        if stepped {
            self.announce_rows(before, None);
        } else {
            self.notice(Notice::info("No further events of the kinds that are shown"));
        }
    }

    fn say_of_object(&mut self, before: usize, found: bool, later: bool) {
        if found {
            self.announce_rows(before, None);
        } else {
            let side = if later { "later" } else { "earlier" };
            self.announce(format!("No {side} event for this object"));
        }
        if let Some(subject) = self.selection.as_ref().and_then(subject_of) {
            let at = Some(self.session.now());
            // Where the lanes are shown, they say why.
            self.on_lanes(LanesMsg::Choose(subject, at.filter(|_| found)), false);
        }
    }

    fn say_of_condition(
        &mut self,
        condition: &Condition,
        found: bool,
        side: &str,
    ) -> Result<(), String> {
        if !found {
            return Err(format!("`{condition}` is not met {side}"));
        }
        self.close_dialog();
        let now = at(self.session.now());
        self.notice(Notice::info(format!("{now}: {condition}")));
        Ok(())
    }
}
