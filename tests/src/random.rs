//! Random clusters and scripts, made so that the interesting things happen often: equal instants,
//! moves, pods created again, failures, several taints.
//!
//! A script is made from numbers, one for the cluster and one for each step, so that a step can be
//! left out when a failing script is made smaller. What a step is depends on what is there when it
//! comes.

pub mod workloads;

use std::ops::{Deref, DerefMut};

use taintlab_core::api::{
    Node, NodeName, Pod, PodKey, PodPhase, Taint, TaintEffect, Toleration, TolerationOperator,
};
use taintlab_core::command::{ApiErrorKind, Command, PodWrite};
use taintlab_core::event::Event;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::{Simulator, SimulatorConfig};
use taintlab_core::time::Timestamp;

use crate::dice::Dice;
use crate::notation;

/// Releases on both sides of every difference.
const RELEASES: [u8; 12] = [18, 18, 19, 19, 20, 25, 28, 29, 32, 33, 35, 35];
const PODS: usize = 3;
const NODES: usize = 3;

/// A cluster and its commands, each with its time.
#[derive(Clone, Debug)]
pub struct Script {
    pub config: SimulatorConfig,
    pub nodes: Vec<Node>,
    pub pods: Vec<Pod>,
    pub commands: Vec<(Timestamp, Command)>,
    /// Well after the last command.
    pub end: Timestamp,
}

impl Script {
    /// The simulation at the beginning.
    pub fn simulator(&self) -> Simulator {
        Simulator::new(self.config.clone(), self.nodes.clone(), self.pods.clone()).unwrap()
    }

    /// All events of the whole script.
    pub fn run(&self) -> Vec<Event> {
        let mut simulator = self.simulator();
        for (at, command) in &self.commands {
            let _ = simulator.handle_command(*at, command.clone());
        }
        simulator.advance_to(self.end).unwrap();
        simulator.drain_events()
    }
}

/// Events as bytes, one a line.
pub fn bytes(events: &[Event]) -> String {
    let line = |event: &Event| serde_json::to_string(event).unwrap() + "\n";
    events.iter().map(line).collect()
}

/// A script from one number for its cluster, and one for each step.
#[must_use]
pub fn script(cluster: u64, steps: &[u64]) -> Script {
    let mut dice = Maker { dice: Dice::new(cluster), uids: 0 };
    let config = SimulatorConfig {
        stand_in_api_server: dice.one_in(2),
        ..SimulatorConfig::of(KubernetesRelease::new(*dice.pick(&RELEASES)).unwrap())
    };
    let nodes = (0..1 + dice.below(NODES)).map(|n| notation::node(&node_name(n), dice.taints()));
    let nodes = nodes.collect();
    let some = (0..PODS).filter(|_| !dice.one_in(5)).collect::<Vec<_>>();
    let pods = some.into_iter().map(|pod| dice.pod(pod)).collect();
    let mut at = Timestamp::ZERO;
    let mut script = Script { config, nodes, pods, commands: Vec::new(), end: at };
    let mut simulator = script.simulator();
    for step in steps {
        dice.state = *step;
        // Nothing, the pause between attempts, half of it, and times that meet those of
        // tolerations and grace periods.
        let pauses = [0, 0, 0, 0, 5, 5, 5, 7, 10, 10, 500, 500, 1_000, 1_000, 1_000, 3_000];
        let pause: u64 = *dice.pick(&pauses);
        if pause > 0 {
            at = Timestamp::from_nanos(at.as_nanos() + pause * 1_000_000);
            simulator.advance_to(at).unwrap();
        }
        if let Some(command) = dice.command(&simulator) {
            let _ = simulator.handle_command(at, command.clone());
            script.commands.push((at, command));
        }
    }
    script.end = Timestamp::from_nanos(at.as_nanos() + 700_000_000_000);
    script
}

fn node_name(node: usize) -> String {
    format!("n{node}")
}

/// Dice, and the number of UIDs that a script has used.
struct Maker {
    dice: Dice,
    uids: u32,
}

impl Deref for Maker {
    type Target = Dice;

    fn deref(&self) -> &Dice {
        &self.dice
    }
}

impl DerefMut for Maker {
    fn deref_mut(&mut self) -> &mut Dice {
        &mut self.dice
    }
}

impl Maker {
    fn key(&mut self) -> &'static str {
        self.pick::<&str>(&["a", "a", "a", "b", "b", "c"])
    }

    fn effect(&mut self) -> TaintEffect {
        let list = [TaintEffect::NoSchedule, TaintEffect::PreferNoSchedule];
        if self.one_in(6) { self.pick(&list).clone() } else { TaintEffect::NoExecute }
    }

    fn taint(&mut self) -> Taint {
        let value = self.pick(&["", "", "", "x"]);
        let mut taint = Taint::new(self.key(), value, self.effect());
        if self.one_in(5) {
            taint.time_added = notation::taint("a@3").unwrap().time_added;
        }
        taint
    }

    /// A list that the API server accepts: no two of the same key and effect.
    fn taints(&mut self) -> Vec<Taint> {
        let mut list: Vec<Taint> = Vec::new();
        for _ in 0..*self.pick(&[0, 0, 1, 1, 1, 2, 2, 3]) {
            let taint = self.taint();
            if !list.iter().any(|known| known.matches(&taint)) {
                list.push(taint);
            }
        }
        list
    }

    fn seconds(&mut self) -> Option<i64> {
        match self.below(16) {
            0..5 => None,
            5..13 => Some(*self.pick(&[1, 1, 2, 3])),
            13 => Some(0),
            14 => Some(-1),
            _ => Some(*self.pick(&[
                i64::MAX,
                i64::MIN,
                9_223_372_036,
                9_223_372_037,
                18_446_744_074,
            ])),
        }
    }

    fn toleration(&mut self) -> Toleration {
        let mut toleration = Toleration {
            key: if self.one_in(5) { String::new() } else { self.key().into() },
            operator: TolerationOperator::Exists,
            effect: if self.one_in(8) { self.effect() } else { TaintEffect::NoExecute },
            ..Toleration::default()
        };
        if self.one_in(8) && !toleration.key.is_empty() {
            let operators = [TolerationOperator::Equal, TolerationOperator::Empty];
            toleration.operator = self.pick(&operators).clone();
            toleration.value = (*self.pick(&["x", ""])).into();
        }
        if toleration.effect == TaintEffect::NoExecute {
            toleration.toleration_seconds = self.seconds();
            if toleration.toleration_seconds.is_none() && self.one_in(4) {
                toleration.effect = TaintEffect::Empty;
            }
        }
        toleration
    }

    fn tolerations(&mut self) -> Vec<Toleration> {
        (0..*self.pick(&[0, 1, 1, 2, 2, 2, 3, 3])).map(|_| self.toleration()).collect()
    }

    fn pod(&mut self, pod: usize) -> Pod {
        let node = if self.one_in(6) { String::new() } else { node_name(self.node()) };
        let key = PodKey::new("d", &format!("p{pod}"));
        let mut pod = notation::pod(&key, &node, self.tolerations());
        pod.metadata.uid = self.uid();
        let grace = [Some(0), Some(0), Some(1), Some(1), Some(3), Some(600), None, Some(-5)];
        pod.spec.termination_grace_period_seconds = *self.pick(&grace);
        if self.one_in(12) {
            pod.status.phase = PodPhase::Succeeded;
        }
        pod
    }

    fn uid(&mut self) -> String {
        self.uids += 1;
        format!("uid-{}", self.uids)
    }

    fn node(&mut self) -> usize {
        *self.pick(&[0, 0, 0, 1, 2])
    }

    fn command(&mut self, simulator: &Simulator) -> Option<Command> {
        match self.below(20) {
            0..8 => Some(self.node_command(simulator)),
            8..19 => self.pod_command(simulator),
            _ => Some(Command::RestartTaintEvictionController).filter(|_| self.one_in(2)),
        }
    }

    fn node_command(&mut self, simulator: &Simulator) -> Command {
        let index = self.node();
        let node = NodeName::from(node_name(index).as_str());
        if simulator.cluster().get_node(node.as_str()).is_none() && !self.one_in(4) {
            return Command::CreateNode(notation::node(node.as_str(), self.taints()));
        }
        match self.below(16) {
            0 => Command::CreateNode(notation::node(node.as_str(), self.taints())),
            1 => Command::DeleteNode { node },
            2..5 => Command::Taint { node, taint: self.taint() },
            5..7 => {
                let effects = [TaintEffect::Empty, TaintEffect::NoExecute];
                let effect = self.pick(&effects).clone();
                Command::Untaint { node, key: self.key().into(), effect }
            }
            7 => {
                let labels = [("changed".to_owned(), simulator.now().as_nanos().to_string())];
                Command::SetNodeLabels { node, labels: labels.into() }
            }
            8 => Command::SetUnschedulable { node, unschedulable: self.one_in(2) },
            9 => Command::UpdateNode(notation::node(node.as_str(), self.taints())),
            _ => Command::SetTaints { node, taints: self.taints() },
        }
    }

    fn pod_command(&mut self, simulator: &Simulator) -> Option<Command> {
        let index = self.below(PODS);
        let pod = PodKey::new("d", &format!("p{index}"));
        let found = simulator.cluster().get_pod(&pod);
        if found.is_none() && !self.one_in(4) {
            return Some(Command::CreatePod(self.pod(index)));
        }
        Some(match self.below(22) {
            0 => Command::CreatePod(self.pod(index)),
            1..3 => Command::UpdatePod(self.pod(index)),
            3..5 => {
                let mut moved = Pod::clone(found?);
                moved.metadata.uid = self.uid();
                moved.metadata.deletion_timestamp = None;
                moved.metadata.deletion_grace_period_seconds = None;
                moved.spec.node_name = node_name(self.node());
                Command::UpdatePod(moved)
            }
            // The same pod: what is deleted stays deleted.
            5 => {
                let mut same = Pod::clone(found?);
                same.metadata.uid = String::new();
                same.metadata.deletion_timestamp = None;
                same.metadata.deletion_grace_period_seconds = None;
                same.metadata.annotations.insert("a".into(), self.roll().to_string());
                Command::UpdatePod(same)
            }
            6..8 => Command::DeletePod { pod, force: self.one_in(2), grace_period_seconds: None },
            8 => Command::SetTolerations { pod, tolerations: self.tolerations() },
            9..12 => {
                let mut tolerations = found?.spec.tolerations.to_vec();
                let at = if self.one_in(2) { 0 } else { tolerations.len() };
                let mut toleration = self.toleration();
                if self.one_in(3) {
                    toleration.toleration_seconds = None;
                }
                tolerations.insert(at, toleration);
                Command::SetTolerations { pod, tolerations }
            }
            12..15 => {
                let mut tolerations = found?.spec.tolerations.to_vec();
                let seconds = self.seconds();
                let index = self.below(tolerations.len().max(1));
                tolerations.get_mut(index)?.toleration_seconds = seconds;
                Command::SetTolerations { pod, tolerations }
            }
            15 => {
                let labels = [("changed".to_owned(), simulator.now().as_nanos().to_string())];
                Command::SetPodLabels { pod, labels: labels.into() }
            }
            16..18 => {
                let node = NodeName::from(node_name(self.node()).as_str());
                Command::BindPod { pod, node }
            }
            _ => Command::FailPodWrites {
                pod,
                verb: *self.pick(&[PodWrite::Delete, PodWrite::Delete, PodWrite::PatchStatus]),
                times: *self.pick(&[0, 1, 2, 3, 5, 7]),
                error: *self.pick(&[ApiErrorKind::InternalError, ApiErrorKind::Conflict]),
            },
        })
    }
}
