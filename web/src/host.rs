//! The session and everything derived from it, behind plain requests and updates. It runs in a
//! worker, or on the page's own thread where the browser lets it have none; it does not know which.
//!
//! Long work is a [`Job`]: it runs in slices, so that other requests get in between. Requests about
//! the clock or the work wait in order until the job is done; those that only look are answered
//! immediately.

mod changes;
mod console;
mod edits;
mod jobs;
mod lanes;
mod moments;
mod reading;
mod refresh;
mod story;
#[cfg(test)]
mod tests;
mod visits;
mod work;

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use taintlab_core::condition::Condition;
use taintlab_core::controllers::node_lifecycle::NodeLifecycleConfig;
use taintlab_core::kubelet::eviction::KubeletConfiguration;
use taintlab_core::order::OrderedMap;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::RunOutcome;
use taintlab_core::slices::Sliced;
use taintlab_core::warnings::Warning;
use taintlab_kubectl::{Context, complete};
use taintlab_manifest::from_json;

use self::changes::Told;
use self::jobs::Job;
use self::reading::Reading;
use self::visits::{Staging, Visit};
use crate::protocol::{Changes, Effect, FlagsView, Notice, Origin, Played, Reply, Request, Update};
use crate::session::{Session, Timeline};
use crate::view_models::ViewModels;
use crate::view_models::about_release::AboutRelease;
use crate::view_models::board::density::Density;
use crate::view_models::console::Entry;
use crate::view_models::lanes::LanesMsg;
use crate::view_models::log::LogModel;
use crate::view_models::runs::{Breakpoint, Compared};
use crate::view_models::selection::Selection;
use crate::view_models::warning_marks::WarningMarks;
use crate::wire::to_bytes;
use crate::{embed, files, saved};

/// Nodes offered at most as the model of a new one.
const MOST_CHOICES: usize = 200;
/// Lines offered at most for the beginning of a condition.
const MOST_OFFERS: usize = 200;

/// The receiver of updates.
pub(crate) type Tell<'a> = &'a mut dyn FnMut(Update);
/// A clock in milliseconds with fractions, to measure durations.
pub(crate) type Clock = fn() -> f64;

/// The session, and everything derived from it.
pub(crate) struct Host {
    session: Session,
    views: ViewModels,
    selection: Option<Selection>,
    /// Whether time passes.
    playing: bool,
    density: Density,
    /// The outcome, if nothing is due any more.
    outcome: Option<Rc<RunOutcome>>,
    warnings: Rc<Vec<Warning>>,
    marked: Rc<WarningMarks>,
    /// Whether a search for warnings is due.
    looks_for_warnings: bool,
    /// The search for warnings under way.
    warning_search: Option<Sliced<(Vec<Warning>, WarningMarks)>>,
    /// The object about which warnings are shown, or all; none if they are not shown.
    looks_at_warnings: Option<Option<Selection>>,
    console: Vec<Rc<Entry>>,
    entries_made: usize,
    /// Entries up to this one are about a cluster or an edit that no longer exists.
    entries_forgotten: usize,
    /// The number of the bookmark being told.
    story: Option<usize>,
    lanes: lanes::Lanes,
    log: LogModel,
    /// The conditions at which time stops.
    breakpoints: Vec<Breakpoint>,
    /// The two runs that were compared last.
    compared: Option<Rc<Compared>>,
    /// The timeline from which the views were made.
    seen_of: Timeline,
    reading: Option<Reading>,
    staged: Option<Box<Staging>>,
    visits: OrderedMap<u32, Visit>,
    /// Pictures of examples, by name.
    previews: OrderedMap<String, Result<Rc<str>, String>>,
    embed: Option<embed::Draft>,
    job: Option<Job>,
    /// Requests that wait for the job.
    waits: VecDeque<(u32, Request)>,
    effects: Vec<Effect>,
    told: Told,
    clock: Clock,
    budgets: Budgets,
    /// The time when the engine last let time pass, in milliseconds of the clock.
    played: f64,
}

/// Milliseconds of uninterrupted work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budgets {
    /// While time passes, so that its effects are seen.
    pub(crate) play: f64,
    /// The most of it, where time passes as fast as it can be computed.
    pub(crate) most_play: f64,
    /// For long work, so that other requests get in between.
    pub(crate) slice: f64,
}

impl Host {
    /// A host with an empty cluster.
    pub(crate) fn new(clock: Clock, budgets: Budgets) -> Self {
        let session = Session::default();
        Self {
            seen_of: session.timeline().clone(),
            session,
            views: ViewModels::default(),
            selection: None,
            playing: false,
            density: Density::default(),
            outcome: None,
            warnings: Rc::default(),
            marked: Rc::default(),
            looks_for_warnings: false,
            warning_search: None,
            looks_at_warnings: None,
            console: Vec::new(),
            entries_made: 0,
            entries_forgotten: 0,
            story: None,
            lanes: lanes::Lanes::default(),
            log: LogModel::default(),
            breakpoints: Vec::new(),
            compared: None,
            reading: None,
            staged: None,
            visits: OrderedMap::new(),
            previews: OrderedMap::new(),
            embed: None,
            job: None,
            waits: VecDeque::new(),
            effects: Vec::new(),
            told: Told::default(),
            clock,
            budgets,
            played: 0.0,
        }
    }

    /// Handles a request, or begins to; `tell` gets the updates.
    pub(crate) fn handle(&mut self, id: u32, request: Request, tell: Tell<'_>) {
        if matches!(request, Request::Cancel) {
            if let Some(job) = self.job.take() {
                self.end_job(job, true, tell);
            }
            self.done(id, Reply::Done, tell);
            self.go_on(tell);
        } else if self.job.is_some() && !only_looks(&request) {
            self.waits.push_back((id, request));
        } else {
            self.answer(id, request, tell);
            self.go_on(tell);
        }
    }

    /// Whether work is left.
    pub(crate) fn has_work(&self) -> bool {
        self.job.is_some()
            || !self.waits.is_empty()
            || self.wants_warnings()
            || self.wants_forecast()
    }

    /// Continues the work that is left, for one slice.
    pub(crate) fn work(&mut self, tell: Tell<'_>) {
        if self.job.is_some() {
            self.run_job(tell);
            self.go_on(tell);
        } else if self.wants_warnings() {
            if self.search_warnings() {
                self.tell(None, tell);
            }
        } else if self.wants_forecast() {
            self.run_forecast();
            self.tell(None, tell);
        }
    }

    /// Answers the requests that waited for a job, once it is done.
    fn go_on(&mut self, tell: Tell<'_>) {
        while self.job.is_none()
            && let Some((id, request)) = self.waits.pop_front()
        {
            self.answer(id, request, tell);
        }
    }

    fn answer(&mut self, id: u32, request: Request, tell: Tell<'_>) {
        let reply = match request {
            Request::Take => {
                self.take();
                Reply::Done
            }
            Request::Resume(known) => {
                self.resume(*known);
                Reply::Done
            }
            Request::LeaveVisit(entry) => {
                self.leave_visit(entry);
                Reply::Done
            }
            Request::Playing(playing) => {
                self.set_playing(playing);
                Reply::Done
            }
            Request::Play(to) => Reply::Played(self.play_to(to)),
            Request::Select(selection) => {
                self.select(selection);
                Reply::Done
            }
            Request::Find(name) => {
                self.find(&name);
                Reply::Done
            }
            Request::PodsNamed(name) => Reply::Offers(self.views.board.pods_named(&name)),
            Request::Draw(density) => {
                self.density = density;
                Reply::Done
            }
            Request::Log(wanted) => {
                self.log.want(wanted);
                Reply::Done
            }
            Request::Warnings(about) => {
                self.looks_at_warnings = about;
                Reply::Done
            }
            Request::Nodes => {
                let nodes = self.session.simulator().cluster().nodes().take(MOST_CHOICES);
                Reply::Nodes(nodes.map(|(name, _)| name.clone()).collect())
            }
            Request::AboutRelease => {
                let release = self.session.simulator().config().release;
                Reply::AboutRelease(Box::new(AboutRelease::of(release)))
            }
            Request::Flags(releases, values) => Reply::Flags(Box::new(flags(releases, values))),
            Request::CheckKubeletFlags(values) => {
                let release = self.session.simulator().config().release;
                Reply::FlagErrors(errors_of(values, |name, value| {
                    let result =
                        KubeletConfiguration::default().set_flag(release.into(), name, value);
                    result.err().map(|error| error.to_string())
                }))
            }
            Request::ToggleKind(kind) => {
                self.toggle_kind(kind);
                Reply::Done
            }
            Request::Load(text) => {
                match Some(&*text).filter(|it| !it.is_empty()).map(from_json).transpose() {
                    Ok(scenario) => self.load(scenario.unwrap_or_default()),
                    Err(error) => self.notice(Notice::error(error)),
                }
                Reply::Done
            }
            Request::Catalogue => Reply::Catalogue(files::catalogue()),
            Request::Preview(name) => Reply::Text(self.preview(name)),
            Request::OpenExample(name) => {
                self.open_example(&name);
                Reply::Done
            }
            Request::Plan => self.plan_import(),
            Request::Add => {
                self.add();
                Reply::Done
            }
            Request::List(listing) => self.list(&listing),
            Request::Excerpt(line) => self.excerpt(line),
            Request::ReadYaml(selection, text) => {
                let read = files::edited_object(&selection, &text, false);
                Reply::Diagnostics(read.err().unwrap_or_default())
            }
            Request::StoredScenario(edits, start) => {
                let restored = saved::from_text(&edits, &start);
                let text = restored.map(|it| (String::new(), it.scenario_text().into()));
                Reply::Text(text)
            }
            Request::Export(what) => {
                let (name, text) = files::export_as(&self.session, what);
                Reply::Text(Ok((name.to_owned(), text.into())))
            }
            Request::Picture(of, picture) => {
                self.picture(of, picture);
                Reply::Done
            }
            Request::ExportShared(hide) => self.export_shared(hide),
            Request::SetBaseline => {
                self.views.set_baseline(&self.session, self.selection.as_ref());
                Reply::Done
            }
            Request::Kubectl(line) => {
                self.kubectl(line);
                Reply::Done
            }
            Request::Complete(line, cursor) => {
                let context = Context::new(self.session.simulator(), &[]);
                Reply::Completions(complete(&context, &line, cursor))
            }
            Request::Offers(line) => {
                let mut offers = Condition::complete(&line, self.session.simulator());
                offers.truncate(MOST_OFFERS);
                Reply::Offers(offers)
            }
            Request::SetBookmarks(bookmarks) => {
                self.set_bookmarks(bookmarks);
                Reply::Done
            }
            Request::Link(hide) => Reply::Link(self.link(hide)),
            Request::Embed(page) => self.make_embed(&page),
            Request::EmbedForms(packed) => Reply::Embed(self.embed_forms(&packed)),
            Request::Report(options) => self.open_report(options),
            Request::Cancel => Reply::Done,
            Request::Edit(_)
            | Request::EditYaml(..)
            | Request::ReplacePod(..)
            | Request::Stage(_)
            | Request::Read(..)
            | Request::ReadAgain(_)
            | Request::Replace(_)
            | Request::EndPeek
            | Request::Lanes(..)
            | Request::LateEviction
            | Request::Tell(_)
            | Request::TellNext(_)
            | Request::OpenRun(_)
            | Request::Undo
            | Request::Redo
            | Request::Step
            | Request::StepBack
            | Request::Visit(..)
            | Request::ChangeStart(_)
            | Request::Branch(_)
            | Request::RunToEnd
            | Request::Seek(_)
            | Request::StepAbout(_)
            | Request::Until(_)
            | Request::Compare(_) => match self.begin_job(id, request) {
                Some(reply) => reply,
                // A job that needs only one slice is answered immediately.
                None => return self.run_job(tell),
            },
        };
        self.done(id, reply, tell);
    }

    fn done(&mut self, id: u32, reply: Reply, tell: Tell<'_>) {
        self.tell(Some((id, reply)), tell);
    }

    /// Lets time pass up to `to`, as far as there is time; the clock shows how far.
    fn play_to(&mut self, to: taintlab_core::time::Timestamp) -> Played {
        let due = self.session.next().is_some();
        // At the greatest speed the engine has eight ninths of the time, but for a limit, however long
        // it takes to show the effects of the time before.
        let begin = (self.clock)();
        let Budgets { play, most_play, .. } = self.budgets;
        let time = match to == taintlab_core::time::Timestamp::MAX {
            true => (8.0 * (begin - self.played)).clamp(play, most_play),
            false => play,
        };
        let until = begin + time;
        let (mut stopped, breakpoints, clock) = (None, &mut self.breakpoints, self.clock);
        self.session.play_to(to, |session| {
            stopped = moments::stops(breakpoints, session.simulator());
            stopped.is_none() && clock() < until
        });
        self.played = (self.clock)();
        self.refresh(ViewModels::follow);
        if let Some(condition) = stopped {
            self.stop();
            let now = crate::text::at(self.session.now());
            self.notice(Notice::info(format!("Stopped at {now}: {condition}")));
        }
        let is_over = self.session.next().is_none();
        let over = is_over && (due || to == taintlab_core::time::Timestamp::MAX);
        if over {
            self.stop();
        }
        Played { over }
    }

    fn set_playing(&mut self, playing: bool) {
        if playing == self.playing {
            return;
        }
        self.playing = playing;
        if !playing {
            // Views that were left as they were while time ran.
            self.refresh(ViewModels::follow);
        }
        self.look_for_warnings();
        self.turn();
    }

    /// Stops time, and tells the page.
    fn stop(&mut self) {
        if self.playing {
            self.set_playing(false);
            self.effects.push(Effect::Stop);
        }
    }

    fn select(&mut self, selection: Option<Selection>) {
        self.selection = selection;
        self.send_selection();
        self.views.inspect(&self.session, self.selection.as_ref());
    }

    /// Selects the next node or pod with `name` in its name.
    fn find(&mut self, name: &str) {
        let name = name.trim();
        if name.is_empty() {
            return;
        }
        match self.views.board.find(name, self.selection.as_ref()) {
            Some(found) => {
                let words = match &found {
                    Selection::Node(node) => {
                        let node = self.views.board.node(node.as_str());
                        node.map(|node| node.line()).unwrap_or_default()
                    }
                    Selection::Pod(pod) => format!("pod {pod}"),
                    _ => String::new(),
                };
                self.announce(words);
                self.effects.push(Effect::Reveal(found.clone()));
                self.select(Some(found));
            }
            None => self.announce(format!("No node or pod has `{name}` in its name")),
        }
    }

    fn turn(&mut self) {
        if !self.effects.contains(&Effect::Turn) {
            self.effects.push(Effect::Turn);
        }
    }

    fn notice(&mut self, notice: Notice) {
        self.effects.push(Effect::Say(notice));
    }

    fn announce(&mut self, words: impl Into<String>) {
        self.effects.push(Effect::Announce(words.into()));
    }

    fn close_dialog(&mut self) {
        self.effects.push(Effect::CloseDialog);
    }
}

/// The flags of a release beside those of another, and the errors in these values.
fn flags([release, other]: [KubernetesRelease; 2], values: BTreeMap<String, String>) -> FlagsView {
    let of = |release| -> Vec<(String, String)> {
        let config = NodeLifecycleConfig::of(release);
        config.flags(release).map(|(name, default)| (name.to_owned(), default)).collect()
    };
    let defaults = of(release);
    let errors = errors_of(values, |name, value| {
        let result = NodeLifecycleConfig::of(release).set_flag(release, name, value);
        result
            .err()
            .filter(|_| defaults.iter().any(|(known, _)| known == name))
            .map(|error| error.to_string())
    });
    FlagsView { release, others: of(other).into_iter().collect(), errors, defaults }
}

fn errors_of(
    values: BTreeMap<String, String>,
    error: impl Fn(&str, &str) -> Option<String>,
) -> OrderedMap<String, String> {
    let errors = values.into_iter().filter_map(|(name, value)| {
        let error = error(&name, &value)?;
        Some((name, error))
    });
    errors.collect()
}

/// Whether a request changes only the view, so that it need not wait for a job.
fn only_looks(request: &Request) -> bool {
    matches!(
        request,
        Request::Select(_)
            | Request::Draw(_)
            | Request::Log(_)
            | Request::Warnings(_)
            | Request::Nodes
            | Request::AboutRelease
            | Request::Flags(..)
            | Request::CheckKubeletFlags(_)
            | Request::Catalogue
            | Request::Preview(_)
            | Request::List(_)
            | Request::Excerpt(_)
            | Request::ReadYaml(..)
            | Request::StoredScenario(..)
            | Request::Complete(..)
            | Request::Offers(_)
            | Request::ToggleKind(_)
            | Request::Lanes(
                LanesMsg::Look(..)
                    | LanesMsg::Zoom(..)
                    | LanesMsg::Pan(_)
                    | LanesMsg::Range(..)
                    | LanesMsg::Fit,
                _,
            )
    )
}

/// The first state of the page with the sample cluster, without the work that is stored.
pub(crate) fn sample_picture() -> Vec<u8> {
    let mut host = Host::new(|| 0.0, Budgets { play: 1.0, most_play: 1.0, slice: 1.0 });
    let mut changes = Changes::default();
    for request in [Request::Stage(Origin::Sample), Request::Take] {
        host.handle(0, request, &mut |update| changes = update.changes);
    }
    for lanes in [LanesMsg::Show(true, false), LanesMsg::Look(0, 8, 600)] {
        let lanes = Request::Lanes(lanes, false);
        host.handle(0, lanes, &mut |update| changes.lanes = update.changes.lanes);
    }
    (changes.kept, changes.start) = (None, None);
    changes.long_start.clear();
    to_bytes(&Update { changes, ..Update::default() })
}
