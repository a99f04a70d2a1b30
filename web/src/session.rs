//! The work of a user: an initial state, the edits since, and the simulation that follows from
//! both.
//!
//! The [`Timeline`] is the ground truth: the initial state, with the scripted steps of a scenario,
//! and every edit with its time. Everything else can be computed from it again. Undo, redo,
//! scrubbing back and reload do that: they replay from the nearest checkpoint.
//!
//! # Rules
//!
//! - An edit happens at the time that the clock shows, and its consequences follow immediately. On
//!   replay it happens at the same time, again after all that is due then, so that nothing depends
//!   on when frames were painted. Scripted steps of an instant come before its edits.
//! - An edit made after going back begins a branch of its own: later events stay on the other
//!   branch. Undo goes back to that one.
//! - Undo and redo put the previous or next timeline into place. The clock stays where it is, or
//!   goes forward to the edit concerned, so that the change can be seen. When another cluster was
//!   loaded, the clock returns to its time before.
//! - A step or an edit that does not fit on replay (under another release, say) is skipped, and a
//!   row of the log says so.

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
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use taintlab_core::api::{NodeName, PodKey};
use taintlab_core::command::{Command, CommandError};
use taintlab_core::event::TimeoutReason;
use taintlab_core::eviction_timeline::time_budget::TimeBudget;
use taintlab_core::lanes::LaneRecorder;
use taintlab_core::order::Order;
use taintlab_core::order::{OrderedMap, OrderedSet};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scenario::{self, Bookmark, Player, Scenario, ScenarioError, ScenarioMetadata};
use taintlab_core::simulator::{Differences, Forecast, Simulator, SimulatorSnapshot};
use taintlab_core::slices::at_once;
use taintlab_core::time::{Span, Timestamp};

pub(crate) use self::branches::{Branch, MAIN};
use self::history::History;
pub(crate) use self::moments::{Back, RunTo, Way};
use self::rows::Home;
pub(crate) use self::rows::{Gone, Mark, MarkKind, Row, RowKind, is_about_zones, stops};
pub(crate) use self::start::{NodeGroups, StartChange, StartSettings, set_release};

/// The time that "run to the end" goes at most where there may be no end.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// The age at which a forecast is made again.
const HOUR: Duration = Duration::from_secs(60 * 60);
/// Deadlines that "run to the end" passes at most, should a cluster never come to rest.
const MAX_DEADLINES: usize = 1_000_000;

/// An edit: commands at one moment, which are undone together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Edit {
    /// The time.
    pub(crate) at: Span,
    /// The commands.
    pub(crate) commands: Vec<Command>,
}

/// The ground truth of a session.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    /// The initial state: objects, release, scripted steps.
    pub(crate) start: Rc<Scenario>,
    /// A number that changes whenever another cluster is loaded.
    pub(crate) generation: u32,
    /// The edits, in the order of time.
    pub(crate) log: Vec<Rc<Edit>>,
    /// The number of the present branch.
    pub(crate) branch: u32,
    /// All branches; the present one as it was when the session switched to it.
    pub(crate) branches: Rc<Vec<Branch>>,
}

/// The part of a timeline that has been carried out.
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

/// Changes since they were last asked for, so that only these are painted again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Touched {
    /// Everything may have changed.
    pub(crate) all: bool,
    /// The states or rates of zones may have changed.
    pub(crate) zones: bool,
    /// Nodes that may have changed.
    pub(crate) nodes: OrderedSet<NodeName>,
    /// Pods that may have changed.
    pub(crate) pods: OrderedSet<PodKey>,
    /// The number of pods that are still gone, if the clock was moved back.
    pub(crate) gone: Option<usize>,
}

impl Touched {
    /// Adds differences from the last view; if they are many, all is looked at again, which is
    /// cheaper then.
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

/// The next event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Next {
    /// The time.
    pub(crate) at: Timestamp,
    /// The kind.
    pub(crate) what: NextWhat,
}

/// The kinds of next events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NextWhat {
    /// A deadline of the simulation.
    Deadline(TimeoutReason),
    /// A step of the scenario.
    Step(Box<Command>),
    /// An edit that was made before the clock was moved back.
    Edit(Rc<Edit>),
}

/// A simulation with its history. See the [module](self).
pub(crate) struct Session {
    timeline: Timeline,
    history: History,
    simulator: Simulator,
    progress: Progress,
    /// The last place of each pod, to be told when the pod is gone.
    homes: OrderedMap<PodKey, Home>,
    /// The rows of the log, also those ahead of a clock that was moved back.
    rows: Rc<Vec<Rc<Row>>>,
    /// The number of rows that the clock has passed, and of the events among them.
    past: usize,
    events: usize,
    gone: Rc<Vec<Rc<Gone>>>,
    checkpoints: Vec<Checkpoint>,
    /// Whether the clock is never moved back, and only rows and lanes are looked at.
    only_forth: bool,
    marks: Vec<Mark>,
    /// The record of each object, also ahead of a clock that was moved back.
    recorder: LaneRecorder,
    /// The timeline's continuation beyond the clock.
    forecast: Option<Box<Session>>,
    /// The moment to which the clock is put back, with the knowledge of that time.
    peek: Option<moments::Peek>,
    reached: Timestamp,
    touched: Touched,
    /// The forecast of what comes if nobody does anything.
    ahead: RefCell<Option<Forecast>>,
    /// An initial state, and its outline.
    outline: RefCell<(Rc<Scenario>, Rc<Outline>)>,
}

/// The initial state of a timeline, as far as the page shows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Outline {
    /// The title, the question and the answer.
    pub(crate) metadata: ScenarioMetadata,
    /// The release.
    pub(crate) release: KubernetesRelease,
    /// The feature gates that are set.
    pub(crate) gates: BTreeMap<String, bool>,
    /// Whether the scheduler and the controllers of workloads run.
    pub(crate) control_plane: bool,
    /// Whether it has steps.
    pub(crate) scripted: bool,
    /// The bookmarks.
    pub(crate) bookmarks: Vec<Bookmark>,
}

impl Session {
    /// A session that begins with this scenario.
    ///
    /// # Errors
    /// A feature gate of the scenario is wrong.
    pub(crate) fn new(scenario: Scenario) -> Result<Self, ScenarioError> {
        at_once(Self::new_in_slices(scenario, &|_, _| {}))
    }

    /// [`new`](Self::new) in slices; `watch` gets the number of pods in place, and of all pods.
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

    /// Runs all that is due at the beginning, which undo need not do again: in a large cluster
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
            homes: OrderedMap::new(),
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

    /// A session in its saved form: the edits are there, at this time, and can be undone.
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

    /// [`resume`](Self::resume) up to the beginning of the session, and the way to that time.
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

    /// Gives a session at its beginning these edits; returns the way to the time `now`, too.
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

    /// The initial state of the timeline, as far as the page shows it.
    pub(crate) fn outline(&self) -> Rc<Outline> {
        let mut known = self.outline.borrow_mut();
        let start = &self.timeline.start;
        if !Rc::ptr_eq(&known.0, start) {
            let outline = Outline {
                metadata: start.metadata.clone(),
                release: start.kubernetes.release.unwrap_or_default(),
                gates: start.kubernetes.feature_gates.clone(),
                control_plane: start.has_control_plane(),
                scripted: !start.steps.is_empty(),
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

    /// The latest time to which this timeline has been played.
    pub(crate) fn reached(&self) -> Timestamp {
        self.reached.max(self.now())
    }

    /// The time budget of a pod's end, if it ended or will end as things are.
    pub(crate) fn time_budget(&self, pod: &PodKey) -> Option<TimeBudget> {
        let mut ahead = self.ahead.borrow_mut();
        // A forecast holds as long as nothing is done, but reaches less and less far ahead.
        ahead.take_if(|known| known.age(self.now()) > HOUR);
        self.simulator.record_or_forecast(pod, &mut ahead)
    }

    /// The time budget of an earlier pod of this name, if the present one has none.
    pub(crate) fn earlier_time_budget(&self, pod: &PodKey) -> Option<TimeBudget> {
        let own = self.simulator.time_budget(pod);
        if own.is_some() {
            None
        } else {
            taintlab_core::simulator::last_time_budget(&self.simulator, pod)
        }
    }

    /// The rows of the log until now, in order.
    pub(crate) fn rows(&self) -> &[Rc<Row>] {
        self.rows.get(..self.past).unwrap_or_default()
    }

    /// The rows of the log, as far as this timeline has been played.
    pub(crate) fn known_rows(&self) -> &Rc<Vec<Rc<Row>>> {
        &self.rows
    }

    /// The record of each object, as far as this timeline has been played.
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

    /// Changes since the last call.
    pub(crate) fn take_touched(&mut self) -> Touched {
        std::mem::take(&mut self.touched)
    }

    /// Marks everything as changed.
    #[cfg(test)]
    pub(crate) fn touch_all(&mut self) {
        self.touched.all = true;
    }

    /// The next event, if there is one.
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
        // At the same time, edits come after all else.
        [played, edit].into_iter().flatten().min_by_key(|next| next.at)
    }

    /// Carries out commands now, together, as one edit. Requests that were made to fail are a part
    /// of it; the error of the last one is returned.
    ///
    /// # Errors
    /// A command does not fit the cluster. Then nothing has changed.
    pub(crate) fn apply(
        &mut self,
        commands: Vec<Command>,
    ) -> Result<Option<CommandError>, CommandError> {
        let now = self.now();
        let follows = self.rows.len() > self.past || self.timeline.log.len() > self.progress.edits;
        if follows {
            // An edit discards the events that were to follow; one that does not fit must not.
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
        // Undo comes back to here; so does an edit that fails after its first commands.
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

    /// The errors of groups of commands that do not fit, each after the groups before it. Nothing
    /// changes.
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

    /// Replaces the cluster or scenario with another one; the clock returns to zero.
    ///
    /// # Errors
    /// A feature gate of the scenario is wrong.
    #[cfg(test)]
    pub(crate) fn load(&mut self, scenario: Scenario) -> Result<(), ScenarioError> {
        let simulator = scenario.simulator()?;
        self.put_in_place(scenario, simulator);
        Ok(())
    }

    /// Replaces the scenario, with the simulator of its beginning; the clock returns to zero.
    pub(crate) fn put_in_place(&mut self, scenario: Scenario, simulator: Simulator) {
        self.history.record(self.timeline.clone(), self.now());
        let generation = self.history.next_generation();
        self.timeline = Timeline::starting_with(scenario, generation);
        self.touched.all = true;
        self.begin_replay(simulator);
        self.settle();
    }

    /// Begins the same timeline on another Kubernetes; returns the way to the time of the clock.
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

    /// Begins to undo the last edit. See the [module](self) for the clock.
    pub(crate) fn begin_undo(&mut self) -> Option<Way> {
        let (timeline, at) = self.history.undo(&self.timeline, self.now())?;
        Some(self.put(timeline, at))
    }

    /// Begins to redo the edit that was undone last.
    pub(crate) fn begin_redo(&mut self) -> Option<Way> {
        let (timeline, at) = self.history.redo(&self.timeline, self.now())?;
        Some(self.put(timeline, at))
    }

    /// Switches to another timeline, at that time; undo goes back.
    pub(crate) fn begin_visit(&mut self, timeline: Timeline, at: Timestamp) -> Way {
        self.history.record(self.timeline.clone(), self.now());
        self.put(timeline, at).and_to(at)
    }

    /// Sets the bookmarks and nothing else; undo brings the old ones back.
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

    /// Moves the clock back to a checkpoint from which time can be played to `to`.
    pub(crate) fn begin_seek(&mut self, to: Timestamp) {
        if to < self.now() {
            self.reached = self.reached();
            self.rewind(to);
        }
    }

    /// Moves the clock forward or back.
    pub(crate) fn seek(&mut self, to: Timestamp) {
        self.begin_seek(to);
        self.advance(to);
    }

    /// Moves the clock to the next event; `false` if there is none.
    pub(crate) fn step(&mut self) -> bool {
        let Some(next) = self.next() else { return false };
        self.advance(next.at);
        true
    }

    /// Lets time pass to `to`, from one event to the next, as long as there is time; at least to
    /// the next one. [`Timestamp::MAX`] means to the last event.
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

    /// Begins to move the clock forward until nothing more happens by itself. Where kubelets are
    /// watched that may never be: then a day at a time.
    pub(crate) fn begin_run_to_end(&self) -> EndRun {
        let watched = self.simulator.config().node_lifecycle;
        let until = if watched { self.now().saturating_add(DAY) } else { Timestamp::MAX };
        EndRun { until, left: MAX_DEADLINES }
    }

    /// Continues that run as long as there is time; `true` when it is done.
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

    /// Runs to the end without slices.
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
    /// The deadlines that may still be passed.
    left: usize,
}

impl EndRun {
    /// Whether the run ended at its limit, with something left to happen.
    pub(crate) fn is_cut(&self, session: &Session) -> bool {
        session.next().is_some_and(|next| next.at > self.until)
    }
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

    /// Whether nothing was done to this timeline since it was `other`, apart from bookmarks.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.has_same_start(other)
            && Rc::ptr_eq(&self.branches, &other.branches)
            && self.branch == other.branch
            && self.log.len() == other.log.len()
            && self.log.iter().zip(&other.log).all(|(a, b)| Rc::ptr_eq(a, b))
    }

    /// Whether both are the same branch with the same initial state, so that only edits differ.
    pub(crate) fn has_same_beginning(&self, other: &Self) -> bool {
        self.has_same_start(other) && self.branch == other.branch
    }

    /// Whether both have the same initial state, apart from bookmarks.
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
