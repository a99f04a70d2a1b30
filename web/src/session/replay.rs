//! The replay of a timeline, from its beginning or from a checkpoint.

use std::rc::Rc;

use taintlab_core::api::{NodeName, PodKey};
use taintlab_core::command::{Command, CommandError};
use taintlab_core::lanes::LaneRecorder;
use taintlab_core::order::OrderedSet;
use taintlab_core::scenario::ScenarioError;
use taintlab_core::simulator::{Differences, Simulator};
use taintlab_core::time::Timestamp;

use super::rows::Home;
use super::{Checkpoint, Edit, Progress, RowKind, Session};

/// Rows of the log between two checkpoints, at least.
const ROWS_PER_CHECKPOINT: usize = 256;
/// Checkpoints above which they are thinned out.
const MAX_CHECKPOINTS: usize = 48;
/// Pods of all checkpoints together above which these are thinned out, too: what changes between two
/// of them is in memory twice, in an outage of 150,000 pods some 120 MB.
const PODS_IN_CHECKPOINTS: usize = 1_200_000;

impl Session {
    /// Begins everything again, with the simulator of the beginning.
    pub(super) fn begin_replay(&mut self, simulator: Simulator) {
        if !self.touched.all {
            self.touch_differences(&simulator, 0);
        }
        self.simulator = simulator;
        self.progress = Progress::at_the_beginning_of(&self.timeline.start);
        self.rows = Rc::default();
        (self.past, self.events) = (0, 0);
        self.gone = Rc::default();
        self.checkpoints.clear();
        self.marks.clear();
        self.reached = Timestamp::ZERO;
        self.begin();
    }

    pub(super) fn begin(&mut self) {
        self.ahead.take();
        self.homes.clear();
        self.recorder = LaneRecorder::new(&self.simulator);
        self.forecast = None;
        self.peek = None;
        if self.only_forth {
            return;
        }
        for (key, pod) in self.simulator.cluster().pods() {
            self.homes.insert(key.clone(), Home::on(&pod.spec.node_name));
        }
        self.checkpoint();
    }

    /// Goes back to the nearest checkpoint before `to`.
    pub(super) fn rewind(&mut self, to: Timestamp) {
        let checkpoints = std::mem::take(&mut self.checkpoints);
        let found = checkpoints.iter().rev().find(|checkpoint| checkpoint.at <= to);
        if let Some(checkpoint) = found {
            self.ahead.take();
            let changed = self.touch_differences(checkpoint.snapshot.simulator(), checkpoint.gone);
            self.simulator.restore(&checkpoint.snapshot);
            self.progress = checkpoint.progress.clone();
            (self.past, self.events) = (checkpoint.rows, checkpoint.events);
            self.find_homes(&changed);
            Rc::make_mut(&mut self.gone).truncate(checkpoint.gone);
        }
        self.checkpoints = checkpoints;
    }

    /// Notes differences from another simulator, in which only the first `gone` of the pods that
    /// are gone still are; returns the pods that differ.
    fn touch_differences(&mut self, other: &Simulator, gone: usize) -> OrderedSet<PodKey> {
        let differences = Differences::between(&self.simulator, other);
        let pods = differences.pods.clone();
        self.touched.add(differences, self.homes.len());
        let back = self.gone.iter().skip(gone).map(|gone| gone.node.clone());
        self.touched.nodes.extend(back);
        self.touched.gone = Some(self.touched.gone.map_or(gone, |known| known.min(gone)));
        pods
    }

    /// Lets time pass, with the steps and edits on the way.
    pub(super) fn advance(&mut self, to: Timestamp) {
        loop {
            let step = self.progress.player.next_step().map(|step| step.at.timestamp());
            let step = step.filter(|at| *at <= to);
            let edit = self.timeline.log.get(self.progress.edits).cloned();
            let edit = edit.filter(|edit| edit.at.timestamp() <= to);
            match (step, edit) {
                (Some(at), edit) if edit.as_ref().is_none_or(|e| at <= e.at.timestamp()) => {
                    self.run_step(at);
                }
                (_, Some(edit)) => self.run_edit(&edit),
                (_, None) => break,
            }
        }
        self.pass_time(to);
    }

    /// Runs a step: all steps of one instant come before the consequences of any of them.
    fn run_step(&mut self, at: Timestamp) {
        if at > self.now() {
            self.pass_time_until(at);
        }
        let step = self.progress.player.next_step();
        let Some(command) = step.map(|step| Box::new(step.command.clone())) else { return };
        self.ahead.take();
        self.touch_node_of(&command);
        let row = match self.progress.player.play_step(&mut self.simulator) {
            None | Some(Ok(None)) => RowKind::Step(command),
            Some(Ok(Some(error))) => RowKind::Refused { command, error },
            Some(Err(ScenarioError::Step { error, .. })) => RowKind::Skipped { command, error },
            // Nothing else can be wrong with a step.
            Some(Err(_)) => RowKind::NotRefused(command),
        };
        self.push_row(at, row);
        self.take_events();
    }

    fn run_edit(&mut self, edit: &Edit) {
        let at = edit.at.timestamp();
        self.pass_time(at);
        self.progress.edits += 1;
        for command in &edit.commands {
            if let Err(error) = self.run_command(at, command) {
                self.push_row(at, RowKind::Skipped { command: Box::new(command.clone()), error });
            }
        }
        self.pass_time(at);
    }

    /// Carries out a command of an edit; one that does not fit changes nothing. Returns the error
    /// of a request that was made to fail: it was sent.
    pub(super) fn run_command(
        &mut self,
        at: Timestamp,
        command: &Command,
    ) -> Result<Option<CommandError>, CommandError> {
        self.ahead.take();
        let failed = match self.simulator.handle_command(at, command.clone()) {
            Ok(()) => None,
            Err(error) if error.is_simulated() => Some(error),
            Err(error) => return Err(error),
        };
        self.touch_node_of(command);
        self.push_row(at, RowKind::Edit(Box::new(command.clone())));
        self.take_events();
        Ok(failed)
    }

    /// Notes the node of a command: the cause of an unreachable kubelet can change without an
    /// event, and so can the devices of nodes.
    fn touch_node_of(&mut self, command: &Command) {
        self.touched.nodes.extend(command.node().map(NodeName::from));
        self.touched.all |= matches!(
            command,
            Command::CreateDeviceObject(_)
                | Command::UpdateDeviceObject(_)
                | Command::DeleteDeviceObject { .. }
        );
    }

    /// Passes deadlines before `to` one by one, for the sake of checkpoints.
    fn pass_time_until(&mut self, to: Timestamp) {
        while let Some(next) = self.simulator.poll_timeout()
            && next.at < to
        {
            if self.simulator.handle_timeout(next.at).is_err() {
                break;
            }
            self.take_events();
            self.maybe_checkpoint();
        }
    }

    pub(super) fn pass_time(&mut self, to: Timestamp) {
        self.pass_time_until(to);
        // The time is never in the past: callers go back with a checkpoint.
        let _ = self.simulator.advance_to(to);
        self.take_events();
        self.maybe_checkpoint();
    }

    fn maybe_checkpoint(&mut self) {
        if self.only_forth {
            return;
        }
        let is_later = self.checkpoints.last().is_none_or(|last| last.at < self.simulator.now());
        if is_later && self.is_far_from_checkpoint() {
            self.checkpoint();
        }
    }

    /// Whether the way here from the last checkpoint is long. Each checkpoint is a copy of the
    /// cluster, which takes memory, and for which a frame has to wait.
    pub(super) fn is_far_from_checkpoint(&self) -> bool {
        let rows = ROWS_PER_CHECKPOINT.max(self.homes.len() / 4);
        self.checkpoints.last().is_none_or(|last| last.rows + rows <= self.past)
    }

    pub(super) fn checkpoint(&mut self) {
        let most = PODS_IN_CHECKPOINTS / self.homes.len().max(1);
        if self.checkpoints.len() >= most.clamp(4, MAX_CHECKPOINTS) {
            // The first one stays: it is the way back to the beginning.
            let mut index = 0_usize;
            self.checkpoints.retain(|_| {
                index += 1;
                !index.is_multiple_of(2)
            });
        }
        self.checkpoints.push(Checkpoint {
            at: self.simulator.now(),
            progress: self.progress.clone(),
            rows: self.past,
            events: self.events,
            gone: self.gone.len(),
            snapshot: self.simulator.snapshot(),
        });
    }

    /// Forgets the checkpoints that a changed end of the log has made wrong.
    pub(super) fn checkpoints_follow_timeline(&mut self) {
        let log = self.timeline.log.clone();
        let kept = self.progress.edits;
        self.keep_checkpoints(&log, kept);
    }

    pub(super) fn checkpoints_follow(&mut self, old: &[Rc<Edit>]) {
        let log = self.timeline.log.clone();
        let same = old.iter().zip(&log).take_while(|(a, b)| Rc::ptr_eq(a, b)).count();
        self.keep_checkpoints(&log, same);
    }

    /// Keeps the checkpoints that are right: all edits they hold are the same, and they are not
    /// later than the first edit that they do not hold.
    fn keep_checkpoints(&mut self, log: &[Rc<Edit>], same: usize) {
        self.checkpoints.retain(|checkpoint| {
            let held = checkpoint.progress.edits;
            let next = log.get(held);
            held <= same && next.is_none_or(|edit| checkpoint.at <= edit.at.timestamp())
        });
    }
}
