//! The work of a user: a start, what was done since, and the simulation that follows from both.
//!
//! The [`Timeline`] is the ground truth: where the simulation begins, with the scripted steps of a
//! scenario, and every edit with its time. Everything else can be computed from it again, which is
//! how undo, redo, scrubbing back and reload work: replay from the nearest checkpoint.
//!
//! # Rules
//!
//! - An edit happens at the time that the clock shows, and what follows from it happens at once.
//!   On replay it happens at the same time, again after all that is due then, so that nothing
//!   depends on when frames were painted. Scripted steps of an instant come before its edits.
//! - An edit made after going back begins a branch of its own: what came later stays on the other
//!   one. Undo goes back to that.
//! - Undo and redo put the previous or next timeline into place. The clock stays where it is, or
//!   goes forward to the edit concerned, so that what was undone can be seen. When another cluster
//!   was loaded, the clock returns to what it was.
//! - A step or an edit that does not fit on replay (under another release, say) is passed over, and
//!   a row of the log says so.

mod branches;
mod forecast;
mod history;
mod moments;
mod replay;
mod rows;
mod start;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use taintlab_core::api::{NodeName, PodKey};
use taintlab_core::command::{Command, CommandError};
use taintlab_core::event::TimeoutReason;
use taintlab_core::eviction_timeline::time_budget::TimeBudget;
use taintlab_core::lanes::LaneRecorder;
use taintlab_core::order::Order;
use taintlab_core::scenario::{self, Bookmark, Objects, Player, Scenario, ScenarioError};
use taintlab_core::simulator::{Differences, Forecast, Simulator, SimulatorSnapshot};
use taintlab_core::slices::at_once;
use taintlab_core::time::{Span, Timestamp};

pub(crate) use self::branches::{Branch, MAIN};
use self::history::History;
pub(crate) use self::moments::{Back, RunTo, Way};
use self::rows::Home;
pub(crate) use self::rows::{Gone, Mark, MarkKind, Row, RowKind, is_about_zones};
pub(crate) use self::start::{StartChange, StartSettings, set_release};

/// How far "run to the end" goes at once where there may be no end.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// A forecast that is older than this is made again.
const HOUR: Duration = Duration::from_secs(60 * 60);
/// How many deadlines "run to the end" passes at most, should a cluster never come to rest.
const MAX_DEADLINES: usize = 1_000_000;

/// An edit: commands at one moment, which are undone together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Edit {
    /// When.
    pub(crate) at: Span,
    /// What.
    pub(crate) commands: Vec<Command>,
}

/// The ground truth of a session.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    /// Where it begins: objects, release, scripted steps.
    pub(crate) start: Rc<Scenario>,
    /// Changes whenever another cluster is loaded.
    pub(crate) generation: u32,
    /// The edits, in the order of time.
    pub(crate) log: Vec<Rc<Edit>>,
    /// Which of the branches this is.
    pub(crate) branch: u32,
    /// All of them; what it says of the present one is as of when that was come to.
    pub(crate) branches: Rc<Vec<Branch>>,
}

/// How much of a timeline has been carried out.
#[derive(Clone, Debug)]
struct Progress {
    player: Player,
    edits: usize,
}

impl Progress {
    fn at_the_beginning_of(scenario: &Scenario) -> Self {
        Self { player: Player::new(scenario), edits: 0 }
    }
}

#[derive(Clone, Debug)]
struct Checkpoint {
    at: Timestamp,
    progress: Progress,
    rows: usize,
    events: usize,
    gone: usize,
    snapshot: SimulatorSnapshot,
}

/// What has changed since it was last asked for, so that only this is painted again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Touched {
    /// Everything may have changed.
    pub(crate) all: bool,
    /// The states or rates of zones have.
    pub(crate) zones: bool,
    /// These nodes have.
    pub(crate) nodes: BTreeSet<NodeName>,
    /// These pods have.
    pub(crate) pods: BTreeSet<PodKey>,
    /// Of the pods that are gone only so many are still so: the clock was moved back.
    pub(crate) gone: Option<usize>,
}

impl Touched {
    /// Adds what differs from what was shown before; if that is much, all is looked at again, which
    /// is cheaper then.
    fn add(&mut self, differences: Differences, pods: usize) {
        self.zones = true;
        if differences.pods.len() > pods / 4 {
            self.all = true;
        } else {
            self.nodes.extend(differences.nodes);
            self.pods.extend(differences.pods);
        }
    }
}

/// What happens next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Next {
    /// When.
    pub(crate) at: Timestamp,
    /// What.
    pub(crate) what: NextWhat,
}

/// The kinds of things that happen next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NextWhat {
    /// The simulation has a deadline.
    Deadline(TimeoutReason),
    /// A step of the scenario.
    Step(Box<Command>),
    /// An edit that was made before scrubbing back.
    Edit(Rc<Edit>),
}

/// A simulation with its history. See the [module](self).
pub(crate) struct Session {
    timeline: Timeline,
    history: History,
    simulator: Simulator,
    progress: Progress,
    /// Where each pod was last, to say it when the pod is gone.
    homes: BTreeMap<PodKey, Home>,
    /// The rows of the log, also those ahead of the clock when it was moved back.
    rows: Rc<Vec<Rc<Row>>>,
    /// How many of them the clock has passed, and how many of those are events.
    past: usize,
    events: usize,
    gone: Rc<Vec<Rc<Gone>>>,
    checkpoints: Vec<Checkpoint>,
    /// Whether the clock is never moved back, and only rows and lanes are looked at.
    only_forth: bool,
    marks: Vec<Mark>,
    /// What became of each object, also ahead of the clock when it was moved back.
    recorder: LaneRecorder,
    /// The same timeline, run ahead of this one.
    forecast: Option<Box<Session>>,
    /// Where the clock is put back to, and what was known then.
    peek: Option<moments::Peek>,
    reached: Timestamp,
    touched: Touched,
    /// What is to come if nobody does anything.
    ahead: RefCell<Option<Forecast>>,
    /// A beginning, and the same without its objects.
    outline: RefCell<(Rc<Scenario>, Rc<Scenario>)>,
}

impl Session {
    /// A session that begins with this scenario.
    ///
    /// # Errors
    /// A feature gate of the scenario is wrong.
    pub(crate) fn new(scenario: Scenario) -> Result<Self, ScenarioError> {
        at_once(Self::new_in_slices(scenario, &|_, _| {}))
    }

    /// The same in slices; `watch` is told how many pods are in place, and of how many.
    ///
    /// # Errors
    /// A feature gate of the scenario is wrong.
    pub(crate) async fn new_in_slices(
        scenario: Scenario,
        watch: &dyn Fn(usize, usize),
    ) -> Result<Self, ScenarioError> {
        let mut session = Self::empty();
        let pods = scenario.objects.pods.len();
        session.simulator = scenario.simulator_in_slices(&|placed| watch(placed, pods)).await?;
        session.timeline = Timeline::starting_with(scenario, 0);
        session.progress = Progress::at_the_beginning_of(&session.timeline.start);
        session.begin();
        session.settle();
        Ok(session)
    }

    /// All that is due at the beginning happens, which undo need not do again: in a large cluster
    /// every controller looks at everything then.
    fn settle(&mut self) {
        self.advance(Timestamp::ZERO);
        self.checkpoints.clear();
        self.checkpoint();
    }

    fn empty() -> Self {
        Self {
            timeline: Timeline::starting_with(Scenario::default(), 0),
            history: History::default(),
            simulator: Simulator::default(),
            progress: Progress::at_the_beginning_of(&Scenario::default()),
            homes: BTreeMap::new(),
            rows: Rc::default(),
            past: 0,
            events: 0,
            gone: Rc::default(),
            checkpoints: Vec::new(),
            only_forth: false,
            marks: Vec::new(),
            recorder: LaneRecorder::new(&Simulator::default()),
            forecast: None,
            peek: None,
            reached: Timestamp::ZERO,
            touched: Touched { all: true, ..Touched::default() },
            ahead: RefCell::default(),
            outline: RefCell::default(),
        }
    }

    /// A session as it was saved: the edits are there, at this time, and can be undone.
    ///
    /// # Errors
    /// A feature gate of the scenario is wrong.
    pub(crate) fn resume(
        scenario: Scenario,
        edits: Vec<Edit>,
        now: Timestamp,
    ) -> Result<Self, ScenarioError> {
        let (mut session, way) = Self::begin_resume(scenario, edits, now)?;
        session.arrive(way);
        Ok(session)
    }

    /// The same, at its beginning, and the way to that time.
    ///
    /// # Errors
    /// A feature gate of the scenario is wrong.
    pub(crate) fn begin_resume(
        scenario: Scenario,
        edits: Vec<Edit>,
        now: Timestamp,
    ) -> Result<(Self, Way), ScenarioError> {
        Self::new(scenario).map(|session| session.with_edits(edits, now))
    }

    /// A session at its beginning gets edits; and the way to that time.
    pub(crate) fn with_edits(mut self, edits: Vec<Edit>, now: Timestamp) -> (Self, Way) {
        for edit in edits {
            self.history.record(self.timeline.clone(), edit.at.timestamp());
            self.timeline.log.push(Rc::new(edit));
        }
        (self, Way::to(now))
    }

    /// The simulation, to read from.
    pub(crate) fn simulator(&self) -> &Simulator {
        &self.simulator
    }

    /// The ground truth, to be saved.
    pub(crate) fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Where the timeline begins, without its objects.
    pub(crate) fn outline(&self) -> Rc<Scenario> {
        let mut known = self.outline.borrow_mut();
        let start = &self.timeline.start;
        if !Rc::ptr_eq(&known.0, start) {
            let mut kubernetes = start.kubernetes.clone();
            // The objects may have said so.
            kubernetes.control_plane = Some(start.has_control_plane());
            let outline = Scenario {
                api_version: start.api_version.clone(),
                kind: start.kind.clone(),
                metadata: start.metadata.clone(),
                kubernetes,
                start: start.start,
                objects: Objects::default(),
                steps: start.steps.clone(),
                until: start.until,
                expect: Vec::new(),
                bookmarks: start.bookmarks.clone(),
            };
            *known = (start.clone(), Rc::new(outline));
        }
        known.1.clone()
    }

    /// The time the clock shows.
    pub(crate) fn now(&self) -> Timestamp {
        self.simulator.now()
    }

    /// The latest time that this timeline has been played to.
    pub(crate) fn reached(&self) -> Timestamp {
        self.reached.max(self.now())
    }

    /// Why a pod goes when it goes, if it went or will go as things are.
    pub(crate) fn time_budget(&self, pod: &PodKey) -> Option<TimeBudget> {
        let mut ahead = self.ahead.borrow_mut();
        // What was forecast holds as long as nothing is done, but reaches less and less far.
        ahead.take_if(|known| known.age(self.now()) > HOUR);
        self.simulator.record_or_forecast(pod, &mut ahead)
    }

    /// Why the pod went that had this name before the one that is there, which has no such record.
    pub(crate) fn earlier_time_budget(&self, pod: &PodKey) -> Option<TimeBudget> {
        let own = self.simulator.time_budget(pod);
        if own.is_some() {
            None
        } else {
            taintlab_core::simulator::last_time_budget(&self.simulator, pod)
        }
    }

    /// What happened until now, in order.
    pub(crate) fn rows(&self) -> &[Rc<Row>] {
        self.rows.get(..self.past).unwrap_or_default()
    }

    /// The same with what comes later, as far as this timeline has been played.
    pub(crate) fn known_rows(&self) -> &Rc<Vec<Rc<Row>>> {
        &self.rows
    }

    /// What became of each object, as far as this timeline has been played.
    pub(crate) fn recorder(&self) -> &LaneRecorder {
        &self.recorder
    }

    /// The pods that are gone, in the order of their end.
    pub(crate) fn gone(&self) -> &Rc<Vec<Rc<Gone>>> {
        &self.gone
    }

    /// Marks of edits and evictions, as far as this timeline has been played.
    pub(crate) fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// What has changed since this was last asked for.
    pub(crate) fn take_touched(&mut self) -> Touched {
        std::mem::take(&mut self.touched)
    }

    /// Everything may have changed.
    #[cfg(test)]
    pub(crate) fn touch_all(&mut self) {
        self.touched.all = true;
    }

    /// What happens next, if anything does.
    pub(crate) fn next(&self) -> Option<Next> {
        let played = self.progress.player.next(&self.simulator).map(|next| Next {
            at: next.at,
            what: match next.what {
                scenario::NextWhat::Deadline(reason) => NextWhat::Deadline(reason),
                scenario::NextWhat::Step(step) => NextWhat::Step(step.command.clone().into()),
            },
        });
        let edit = self
            .timeline
            .log
            .get(self.progress.edits)
            .map(|edit| Next { at: edit.at.timestamp(), what: NextWhat::Edit(edit.clone()) });
        // The first of several at one time: edits come after all else.
        [played, edit].into_iter().flatten().min_by_key(|next| next.at)
    }

    /// Carries out commands now, together, as one edit. Requests that were made to fail are a part
    /// of it: the error of the last of them.
    ///
    /// # Errors
    /// One of them does not fit the cluster. Then nothing has changed.
    pub(crate) fn apply(
        &mut self,
        commands: Vec<Command>,
    ) -> Result<Option<CommandError>, CommandError> {
        let now = self.now();
        let follows = self.rows.len() > self.past || self.timeline.log.len() > self.progress.edits;
        if follows {
            // What was only waited for is lost by an edit, and not by one that does not fit.
            self.try_out(std::iter::once(commands.as_slice()))
                .pop()
                .flatten()
                .map_or(Ok(()), Err)?;
        }
        let before = self.timeline.clone();
        if follows {
            self.branch_off();
        }
        self.checkpoints_follow_timeline();
        self.forget_what_follows();
        self.pass_time(now);
        // Undo comes back to here; so does an edit of which only the beginning fits.
        if commands.len() > 1 || self.is_far_from_checkpoint() {
            self.checkpoint();
        }
        let mut failed = None;
        for command in &commands {
            match self.run_command(now, command) {
                Ok(None) => {}
                Ok(error) => failed = error,
                Err(error) => {
                    if commands.len() > 1 {
                        self.rewind(now);
                        self.forget_what_follows();
                    }
                    return Err(error);
                }
            }
        }
        self.history.record(before, now);
        self.timeline.log.push(Rc::new(Edit { at: Span::from(now), commands }));
        self.progress.edits += 1;
        self.reached = now;
        self.pass_time(now);
        Ok(failed)
    }

    /// Why groups of commands do not fit, each after those before it. Nothing changes.
    pub(crate) fn try_out<'a>(
        &mut self,
        groups: impl Iterator<Item = &'a [Command]>,
    ) -> Vec<Option<CommandError>> {
        let now = self.now();
        let before = self.simulator.snapshot();
        let mut error_of = |group: &[Command]| {
            let mut errors = group
                .iter()
                .filter_map(|one| self.simulator.handle_command(now, one.clone()).err());
            errors.find(|error| !error.is_simulated())
        };
        let errors = groups.map(&mut error_of).collect();
        self.simulator.restore(&before);
        errors
    }

    /// Puts another cluster or scenario in place of this one; the clock returns to zero.
    ///
    /// # Errors
    /// A feature gate of the scenario is wrong.
    #[cfg(test)]
    pub(crate) fn load(&mut self, scenario: Scenario) -> Result<(), ScenarioError> {
        let simulator = scenario.simulator()?;
        self.put_in_place(scenario, simulator);
        Ok(())
    }

    /// The same with the simulator of its beginning.
    pub(crate) fn put_in_place(&mut self, scenario: Scenario, simulator: Simulator) {
        self.history.record(self.timeline.clone(), self.now());
        let generation = self.history.next_generation();
        self.timeline = Timeline::starting_with(scenario, generation);
        self.touched.all = true;
        self.begin_replay(simulator);
        self.settle();
    }

    /// Begins the same timeline on another Kubernetes; the way is to the time the clock shows.
    ///
    /// # Errors
    /// A feature gate is wrong.
    pub(crate) fn begin_change_start(
        &mut self,
        change: impl FnOnce(&mut Scenario),
    ) -> Result<Way, ScenarioError> {
        let mut start = Scenario::clone(&self.timeline.start);
        change(&mut start);
        let simulator = start.simulator()?;
        let now = self.now();
        self.history.record(self.timeline.clone(), now);
        self.timeline.start = Rc::new(start);
        self.begin_replay(simulator);
        Ok(Way::to(now))
    }

    /// Whether there is something to undo.
    pub(crate) fn can_undo(&self) -> bool {
        self.history.can_undo()
    }

    /// Whether there is something to redo.
    pub(crate) fn can_redo(&self) -> bool {
        self.history.can_redo()
    }

    /// Takes the last edit back. See the [module](self) for the clock.
    pub(crate) fn begin_undo(&mut self) -> Option<Way> {
        let (timeline, at) = self.history.undo(&self.timeline, self.now())?;
        Some(self.put(timeline, at))
    }

    /// Does the edit that was undone last again.
    pub(crate) fn begin_redo(&mut self) -> Option<Way> {
        let (timeline, at) = self.history.redo(&self.timeline, self.now())?;
        Some(self.put(timeline, at))
    }

    /// Goes on with another timeline, at that time; undo goes back.
    pub(crate) fn begin_visit(&mut self, timeline: Timeline, at: Timestamp) -> Way {
        self.history.record(self.timeline.clone(), self.now());
        self.put(timeline, at).and_to(at)
    }

    /// Sets the bookmarks, which change nothing else; undo brings the old ones back.
    pub(crate) fn set_bookmarks(&mut self, mut bookmarks: Vec<Bookmark>) {
        self.history.record(self.timeline.clone(), self.now());
        bookmarks.order_by_key(|bookmark| bookmark.at);
        Rc::make_mut(&mut self.timeline.start).bookmarks = bookmarks;
    }

    fn put(&mut self, timeline: Timeline, at: Timestamp) -> Way {
        let to = if timeline.is_same_line(&self.timeline) { self.now().max(at) } else { at };
        self.put_at(timeline, to)
    }

    fn put_at(&mut self, timeline: Timeline, to: Timestamp) -> Way {
        if timeline.is_same(&self.timeline) {
            // Only bookmarks differ, which change nothing of what was recorded.
            self.timeline = timeline;
            return Way::to(to);
        }
        let same_start = timeline.has_same_start(&self.timeline);
        let old = std::mem::replace(&mut self.timeline, timeline);
        if same_start {
            self.checkpoints_follow(&old.log);
            self.reached = Timestamp::ZERO;
            self.rewind(to);
            self.forget_what_follows();
        } else if let Ok(simulator) = self.timeline.start.simulator() {
            // A timeline of the history has run before, so its start is valid.
            self.begin_replay(simulator);
        }
        Way::to(to)
    }

    /// Moves the clock back to where it can be played on from to another moment.
    pub(crate) fn begin_seek(&mut self, to: Timestamp) {
        if to < self.now() {
            self.reached = self.reached();
            self.rewind(to);
        }
    }

    /// Moves the clock, forth or back.
    pub(crate) fn seek(&mut self, to: Timestamp) {
        self.begin_seek(to);
        self.advance(to);
    }

    /// Moves the clock to what happens next; `false` if nothing does.
    pub(crate) fn step(&mut self) -> bool {
        let Some(next) = self.next() else { return false };
        self.advance(next.at);
        true
    }

    /// Lets time pass to `to`, from one thing that happens to the next, as long as there is time;
    /// at least to the next one. To [`Timestamp::MAX`] is to the last thing that happens.
    pub(crate) fn play_to(&mut self, to: Timestamp, mut goes_on: impl FnMut(&Self) -> bool) {
        while let Some(next) = self.next().filter(|next| next.at <= to) {
            self.advance(next.at);
            if !goes_on(self) {
                return;
            }
        }
        if to < Timestamp::MAX {
            self.advance(to.max(self.now()));
        }
    }

    /// Begins to move the clock forth until nothing more happens by itself. Where kubelets are
    /// watched that may never be: then a day at a time.
    pub(crate) fn begin_run_to_end(&self) -> EndRun {
        let watched = self.simulator.config().node_lifecycle;
        let until = if watched { self.now().saturating_add(DAY) } else { Timestamp::MAX };
        EndRun { until, left: MAX_DEADLINES }
    }

    /// Goes on with that as long as there is time; `true` when it is done.
    pub(crate) fn go_on_to_end(
        &mut self,
        run: &mut EndRun,
        mut has_time: impl FnMut() -> bool,
    ) -> bool {
        while run.left > 0 {
            run.left -= 1;
            if self.next().is_none_or(|next| next.at > run.until) || !self.step() {
                return true;
            }
            if !has_time() {
                return false;
            }
        }
        true
    }

    /// Does so at once.
    #[cfg(test)]
    pub(crate) fn run_to_end(&mut self) {
        let mut run = self.begin_run_to_end();
        self.go_on_to_end(&mut run, || true);
    }
}

/// A run to the end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndRun {
    until: Timestamp,
    /// How many deadlines are still passed.
    left: usize,
}

/// An empty cluster.
impl Default for Session {
    fn default() -> Self {
        let mut session = Self::empty();
        session.begin();
        session
    }
}

impl Timeline {
    fn starting_with(scenario: Scenario, generation: u32) -> Self {
        let start = Rc::new(scenario);
        let branches = Rc::new(vec![Branch::main(start.clone())]);
        Self { start, generation, log: Vec::new(), branch: MAIN, branches }
    }

    /// Whether nothing was done to it since that was the other; bookmarks do nothing.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.has_same_start(other)
            && Rc::ptr_eq(&self.branches, &other.branches)
            && self.branch == other.branch
            && self.log.len() == other.log.len()
            && self.log.iter().zip(&other.log).all(|(a, b)| Rc::ptr_eq(a, b))
    }

    /// Whether both are the same branch, and begin with the same, so that only edits differ.
    pub(crate) fn has_same_beginning(&self, other: &Self) -> bool {
        self.has_same_start(other) && self.branch == other.branch
    }

    /// Whether both begin with the same, but for bookmarks.
    fn has_same_start(&self, other: &Self) -> bool {
        if Rc::ptr_eq(&self.start, &other.start) {
            return true;
        }
        let Scenario {
            api_version,
            kind,
            metadata,
            kubernetes,
            start,
            objects,
            steps,
            until,
            expect,
            bookmarks: _,
        } = &*self.start;
        let known = &*other.start;
        self.generation == other.generation
            && (api_version, kind) == (&known.api_version, &known.kind)
            && (metadata, kubernetes) == (&known.metadata, &known.kubernetes)
            && (start, steps, until) == (&known.start, &known.steps, &known.until)
            && (objects, expect) == (&known.objects, &known.expect)
    }

    /// Whether both are the same branch of the same cluster, so that they share a clock.
    fn is_same_line(&self, other: &Self) -> bool {
        (self.generation, self.branch) == (other.generation, other.branch)
    }
}
