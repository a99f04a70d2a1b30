//! One run of a procedure: whose turn it is, and what follows when a node is done.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use taintlab_engine::command::Command;
use taintlab_engine::event::{Event, EventKind};
use taintlab_engine::simulator::Simulator;
use taintlab_rules::api::node_condition_type::READY;
use taintlab_rules::api::{ConditionStatus, Node, NodeName, Pod, PodKey, WorkloadKind};
use taintlab_rules::order::{OrderedMap, OrderedSet};
use taintlab_rules::policy::drain::AfterError;
use taintlab_rules::protocol::TimeoutReason;
use taintlab_rules::time::{Span, Timestamp};

use super::blocker::blocked;
use super::procedure::CLOUD_NODE_PERIOD;
use super::{Act, NodeCourse, ReadyStep, Rehearsal, Rehearsed, SpotHandler, WorkloadCourse};
use crate::report::{Millis, Recorder, another_node};
use crate::scenario::Step;

/// Time without any change of a pod after which a drain that tries again and again is held to be
/// blocked, unless the grace period of a pod is not over.
const PATIENCE: Duration = Duration::from_secs(60 * 60);
/// Suffix of the name of a node that takes the place of another.
const NEW: &str = "-new";
/// Lines of an error of `kubectl` that are kept.
const MOST_ERRORS: usize = 10;

/// Events to come, each for the node with this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// A new one like it is ready.
    NewIsReady(usize),
    /// Its machine is taken away.
    TakenAway(usize),
    /// Its object is deleted.
    Deleted(usize),
}

/// A fork of the settled cluster in which the procedure is carried out.
pub(super) struct Course<'r> {
    rehearsal: &'r Rehearsal,
    simulator: Simulator,
    recorder: Recorder,
    steps: Vec<Step>,
    nodes: Vec<NodeCourse>,
    /// Nodes whose turn has not come.
    waiting: VecDeque<usize>,
    due: Vec<(Timestamp, Next)>,
    /// Nodes by the numbers of their drains.
    drains: OrderedMap<u64, usize>,
    /// Node whose drain is being started.
    starting: Option<usize>,
    /// Nodes that wait for a new one before they are drained.
    surging: OrderedSet<usize>,
    /// Pods that had to leave the nodes, with their UIDs.
    left: OrderedSet<(PodKey, String)>,
    /// Pods that have not left yet, with their UIDs and the places of their nodes. Those without a
    /// grace period are gone when their end is told.
    there: OrderedMap<PodKey, (String, usize)>,
    /// Time of the last change of a pod.
    last_change: Timestamp,
}

impl<'r> Course<'r> {
    pub(super) fn new(rehearsal: &'r Rehearsal, order: &[NodeName]) -> Self {
        let (settled, at) = (&rehearsal.simulator, rehearsal.at);
        let node = |node: &NodeName| NodeCourse {
            node: node.clone(),
            began: None,
            ended: None,
            pods: 0,
            cut_off: 0,
            failed: false,
            errors: Vec::new(),
        };
        let place = |pod: &Pod| order.iter().position(|node| node.as_str() == pod.spec.node_name);
        let pods = settled.cluster().pods().filter(|(_, pod)| pod.is_active() && !stays(pod));
        let there = pods
            .filter_map(|(key, pod)| Some((key.clone(), (pod.metadata.uid.clone(), place(pod)?))));
        // Pods count as down only while machines are off that never come back.
        let down_until = matches!(rehearsal.act, Act::Spot { .. }).then_some(Timestamp::MAX);
        Self {
            rehearsal,
            simulator: Simulator::clone(settled),
            recorder: Recorder::new(settled, at, order, None).with_power_off_until(down_until),
            steps: Vec::new(),
            nodes: order.iter().map(node).collect(),
            waiting: (0..order.len()).collect(),
            due: Vec::new(),
            drains: OrderedMap::new(),
            starting: None,
            surging: OrderedSet::new(),
            left: OrderedSet::new(),
            there: there.collect(),
            last_change: at,
        }
    }

    /// Carries the procedure out, and returns its outcome with the commands that it took.
    pub(super) fn run(mut self) -> (Rehearsed, Vec<Step>) {
        self.begin();
        while let Some(next) = self.next() {
            if next > self.rehearsal.end || self.waits_in_vain() {
                break;
            }
            if self.simulator.advance_to(next).is_err() {
                break;
            }
            self.take_in();
            while let Some(place) = self.due.iter().position(|(at, _)| *at <= next) {
                let (_, what) = self.due.remove(place);
                self.happens(what);
            }
        }
        let Rehearsal { at, end, .. } = self.rehearsal;
        let blocked = blocked(&self.simulator);
        let workloads = self.recorder.workloads(&self.simulator, *end);
        let workloads = workloads.map(|(figures, curve)| {
            let step = |(time, ready, wanted): &(Timestamp, i64, i64)| ReadyStep {
                at: Millis::between(*at, *time),
                ready: *ready,
                wanted: *wanted,
            };
            WorkloadCourse { figures, steps: curve.iter().map(step).collect() }
        });
        let moved = self.left.len();
        let before = self.rehearsal.simulator.cluster();
        let is_old = |(key, uid): &&(PodKey, String)| {
            before.get_pod(key).is_some_and(|pod| pod.metadata.uid == *uid)
        };
        let ended: Option<Vec<Millis>> = self.nodes.iter().map(|it| it.ended).collect();
        let rehearsed = Rehearsed {
            order: self.nodes.iter().map(|it| it.node.clone()).collect(),
            ended: ended.and_then(|ended| ended.into_iter().max()),
            blocked,
            moved,
            moved_again: moved - self.left.iter().filter(is_old).count(),
            workloads: workloads.collect(),
            zones: self.recorder.zones().iter().filter(|it| it.state.is_some()).cloned().collect(),
            nodes: self.nodes,
        };
        (rehearsed, self.steps)
    }

    fn next(&self) -> Option<Timestamp> {
        let deadline = self.simulator.poll_timeout().map(|next| next.at);
        self.due.iter().map(|(at, _)| *at).chain(deadline).min()
    }

    /// Whether nothing has happened for long but attempts of a drain.
    fn waits_in_vain(&self) -> bool {
        let tries = self
            .simulator
            .poll_timeout()
            .is_some_and(|next| matches!(next.reason, TimeoutReason::DrainGoesOn { .. }));
        if !tries || !self.due.is_empty() {
            return false;
        }
        let quiet = self.simulator.now().since_zero().saturating_sub(self.last_change.since_zero());
        if quiet < PATIENCE {
            return false;
        }
        let pods = self.simulator.cluster().pods().map(|(_, pod)| pod);
        let grace = pods.filter(|pod| pod.is_terminating());
        let end = grace.filter_map(|pod| pod.metadata.deletion_timestamp).max();
        // Those that are past their time wait for their kubelets.
        end.is_none_or(|end| end <= self.simulator.wall_clock(self.simulator.now()))
    }

    fn now(&self) -> Millis {
        Millis::between(self.rehearsal.at, self.simulator.now())
    }

    fn name(&self, index: usize) -> NodeName {
        let node = self.nodes.get(index);
        node.map_or_else(|| NodeName::from(""), |it| it.node.clone())
    }

    fn began(&mut self, index: usize) {
        let now = self.now();
        if let Some(node) = self.nodes.get_mut(index) {
            node.began = node.began.or(Some(now));
        }
    }

    fn ended(&mut self, index: usize) {
        let now = self.now();
        if let Some(node) = self.nodes.get_mut(index) {
            node.ended = Some(now);
        }
    }

    fn later(&mut self, after: Duration, what: Next) {
        self.due.push((self.simulator.now().saturating_add(after), what));
    }

    fn command(&mut self, command: Command) {
        let now = self.simulator.now();
        if self.simulator.handle_command(now, command.clone()).is_ok() {
            let at = Span(now.since_zero());
            self.steps.push(Step { at, command, refused: None });
        }
        self.take_in();
    }

    fn begin(&mut self) {
        let all: Vec<usize> = self.waiting.iter().copied().collect();
        match &self.rehearsal.act {
            Act::Drain { at_once, .. } => {
                all.iter().for_each(|index| self.cordon(*index));
                (0..*at_once).for_each(|_| self.next_turn(false));
            }
            Act::Upgrade { max_unavailable, surge, .. } => {
                (0..*surge).for_each(|_| self.next_turn(true));
                (0..*max_unavailable).for_each(|_| self.next_turn(false));
            }
            Act::Spot { notice, handler, .. } => {
                self.waiting.clear();
                for index in &all {
                    self.began(*index);
                    self.later(notice.0, Next::TakenAway(*index));
                }
                match handler {
                    SpotHandler::Drain => {
                        all.iter().for_each(|index| self.cordon(*index));
                        all.iter().for_each(|index| self.drain(*index));
                    }
                    SpotHandler::Taint(taint) => {
                        for index in all {
                            let node = self.name(index);
                            self.command(Command::Taint { node, taint: taint.clone() });
                        }
                    }
                    SpotHandler::None => {}
                }
            }
            Act::Taint { taint } => {
                self.waiting.clear();
                for index in all {
                    self.began(index);
                    // Unless a pod leaves it, there is nothing to wait for.
                    self.ended(index);
                    let node = self.name(index);
                    self.command(Command::Taint { node, taint: taint.clone() });
                }
            }
        }
    }

    fn cordon(&mut self, index: usize) {
        let node = self.name(index);
        self.command(Command::SetUnschedulable { node, unschedulable: true });
    }

    fn drain(&mut self, index: usize) {
        self.began(index);
        self.starting = Some(index);
        let options = self.rehearsal.act.drain_options().cloned().unwrap_or_default();
        self.command(Command::Drain { nodes: Vec::from([self.name(index)]), options });
    }

    /// Beginning of the next node's turn. `surges` says whether a new node comes first.
    fn next_turn(&mut self, surges: bool) {
        let Some(index) = self.waiting.pop_front() else { return };
        self.began(index);
        match &self.rehearsal.act {
            Act::Upgrade { node_start_up, .. } if surges => {
                self.surging.insert(index);
                self.later(node_start_up.0, Next::NewIsReady(index));
            }
            Act::Upgrade { .. } => {
                self.cordon(index);
                self.drain(index);
            }
            Act::Drain { .. } | Act::Spot { .. } | Act::Taint { .. } => self.drain(index),
        }
    }

    /// The drain of a node has ended.
    fn drained(&mut self, index: usize, failed: bool) {
        if let Some(node) = self.nodes.get_mut(index) {
            node.failed = failed;
            if !failed {
                node.errors.clear();
            }
        }
        match &self.rehearsal.act {
            Act::Drain { options, .. } => {
                self.ended(index);
                let nodes = self.nodes.len();
                let release = self.rehearsal.release();
                if failed && AfterError::of(release, options, nodes) == AfterError::Aborts {
                    self.waiting.clear();
                }
                self.next_turn(false);
            }
            Act::Upgrade { .. } if failed => self.waiting.clear(),
            Act::Upgrade { node_start_up, .. } => {
                self.command(Command::DeleteNode { node: self.name(index) });
                if self.surging.contains(&index) {
                    self.ended(index);
                    self.next_turn(true);
                } else {
                    self.later(node_start_up.0, Next::NewIsReady(index));
                }
            }
            Act::Spot { .. } | Act::Taint { .. } => {}
        }
    }

    fn happens(&mut self, what: Next) {
        match what {
            Next::NewIsReady(index) => {
                let old = self.rehearsal.simulator.cluster().get_node(self.name(index).as_str());
                if let Some(old) = old {
                    let name = format!("{}{NEW}", old.metadata.name);
                    let mut node = another_node(Node::clone(old), name);
                    node.spec.unschedulable = false;
                    self.command(Command::CreateNode(node));
                }
                if self.surging.contains(&index) {
                    self.cordon(index);
                    self.drain(index);
                } else {
                    self.ended(index);
                    self.next_turn(false);
                }
            }
            Next::TakenAway(index) => {
                let node = self.name(index);
                let (simulator, now) = (&self.simulator, self.simulator.now());
                self.recorder.power_off(simulator, core::slice::from_ref(&node), now);
                let on_it = simulator.cluster().pods_of(node.as_str());
                let cut_off = on_it.filter(|(_, pod)| !pod.has_ended() && !stays(pod)).count();
                if let Some(node) = self.nodes.get_mut(index) {
                    node.cut_off = cut_off;
                }
                self.ended(index);
                self.command(Command::PowerOffNode { node });
            }
            Next::Deleted(index) => self.command(Command::DeleteNode { node: self.name(index) }),
        }
    }

    /// Records what has happened, and does what follows from it.
    fn take_in(&mut self) {
        let events = self.simulator.drain_events();
        self.recorder.take_in(&self.simulator, &events);
        let mut done = Vec::new();
        for Event { what, .. } in &events {
            if let EventKind::DrainStarted { drain } = what {
                self.drains.extend(self.starting.take().map(|index| (*drain, index)));
            } else if let EventKind::DrainPrinted { drain, is_error: true, line } = what {
                let index = self.drains.get(drain);
                if let Some(node) = index.and_then(|index| self.nodes.get_mut(*index)) {
                    if node.errors.len() == MOST_ERRORS {
                        node.errors.remove(0);
                    }
                    node.errors.push(line.clone());
                }
            } else if let EventKind::DrainEnded { drain, failed } = what {
                done.extend(self.drains.remove(drain).map(|index| (index, *failed)));
            } else if let EventKind::NodeConditionChanged { node, condition, to, .. } = what
                && condition == READY
                && *to != ConditionStatus::True
                && matches!(self.rehearsal.act, Act::Spot { .. })
                && let Some(index) = self.nodes.iter().position(|it| it.node == *node)
                && self.nodes.get(index).is_some_and(|it| it.ended.is_some())
            {
                self.later(CLOUD_NODE_PERIOD, Next::Deleted(index));
            }
            // An attempt that was refused is about a pod, too, and changes nothing.
            if matches!(
                what,
                EventKind::PodAdded { .. }
                    | EventKind::PodUpdated { .. }
                    | EventKind::PodDeleted { .. }
            ) {
                self.last_change = self.simulator.now();
            }
            if let Some(pod) = what.subject().pod {
                self.look_at(&pod.clone());
            }
        }
        done.into_iter().for_each(|(index, failed)| self.drained(index, failed));
    }

    /// Counts a pod that has to leave one of the nodes, if it does.
    fn look_at(&mut self, key: &PodKey) {
        let pod = self.simulator.cluster().get_pod(key);
        let on = pod.filter(|pod| !stays(pod)).and_then(|pod| {
            let on = &pod.spec.node_name;
            let index = self.nodes.iter().position(|it| it.node.as_str() == on)?;
            Some(((pod.metadata.uid.clone(), index), pod.is_active()))
        });
        let before = self.there.remove(key);
        match on {
            Some((place, true)) => {
                self.there.insert(key.clone(), place.clone());
                // Another pod may have its name by now.
                before.filter(|it| it.0 != place.0).into_iter().for_each(|it| self.leaves(key, it));
            }
            Some((place, false)) => self.leaves(key, place),
            None => before.into_iter().for_each(|it| self.leaves(key, it)),
        }
    }

    /// Counts a pod once.
    fn leaves(&mut self, key: &PodKey, (uid, index): (String, usize)) {
        if self.left.insert((key.clone(), uid)) {
            if let Some(node) = self.nodes.get_mut(index) {
                node.pods += 1;
            }
            if matches!(self.rehearsal.act, Act::Taint { .. }) {
                self.ended(index);
            }
        }
    }
}

/// Whether a pod belongs to its node.
fn stays(pod: &Pod) -> bool {
    let owner = pod.metadata.controller_key();
    pod.is_static() || owner.is_some_and(|owner| owner.kind == WorkloadKind::DaemonSet)
}
