//! Random clusters of three zones, and faults.

use std::ops::{Deref, DerefMut};

use taintlab_core::api::{Node, Pod, PodKey, TaintEffect, Toleration};
use taintlab_core::command::{ApiErrorKind, Command, NodeWrite};
use taintlab_core::controllers::node_lifecycle::zone::ZONE_LABEL;
use taintlab_core::event::Event;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::{Simulator, SimulatorConfig};
use taintlab_core::time::{Span, Timestamp};
use taintlab_tests::{dice, notation};

const NODES: usize = 8;

/// A cluster and its commands, each with its time.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) config: SimulatorConfig,
    pub(crate) nodes: Vec<Node>,
    pub(crate) pods: Vec<Pod>,
    pub(crate) commands: Vec<(Timestamp, Command)>,
    /// Well after the last command.
    pub(crate) end: Timestamp,
}

/// Which commands a script may have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Faults {
    /// All.
    All,
    /// Those after which health passes go on every 5 s from zero.
    InStep,
}

impl Script {
    pub(crate) fn simulator(&self) -> Simulator {
        Simulator::new(self.config.clone(), self.nodes.clone(), self.pods.clone()).unwrap()
    }

    pub(crate) fn play(&self) -> Simulator {
        let mut simulator = self.simulator();
        for (at, command) in &self.commands {
            let _ = simulator.handle_command(*at, command.clone());
        }
        simulator.advance_to(self.end).unwrap();
        simulator
    }
}

/// Events as bytes, one a line.
pub(crate) fn bytes(events: &[Event]) -> String {
    let line = |event: &Event| serde_json::to_string(event).unwrap() + "\n";
    events.iter().map(line).collect()
}

/// Runs a property over `cases` scripts.
pub(crate) fn scripts(cases: u64, faults: Faults, property: impl Fn(&Script, &mut Dice)) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (seed, times) = (number("TAINTLAB_SEED").unwrap_or(0), number("TAINTLAB_CASES"));
    for case in 0..cases * times.unwrap_or(1) {
        let mut dice = Dice(dice::Dice::new(seed.wrapping_mul(0x9e37_79b9).wrapping_add(case)));
        let script = make(&mut dice, faults);
        let guard = Guard(case);
        property(&script, &mut dice);
        std::mem::forget(guard);
    }
}

/// Says which script it was if a property fails.
struct Guard(u64);

impl Drop for Guard {
    fn drop(&mut self) {
        eprintln!("this was case {}", self.0);
    }
}

fn make(dice: &mut Dice, faults: Faults) -> Script {
    let minors = [18, 19, 20, 21, 26, 28, 29, 32, 35];
    let minor = minors[dice.below(minors.len())];
    let release = KubernetesRelease::new(minor).unwrap();
    let mut config = SimulatorConfig::with_node_lifecycle(release);
    let mut set = |name: &str, value: &str| {
        config.controller_manager_flags.insert(name.into(), value.into());
    };
    if minor <= 26 && dice.one_in(4) {
        set("enable-taint-manager", "false");
        set("pod-eviction-timeout", dice.pick(&["30s", "2m"]));
    }
    if dice.one_in(3) {
        set("large-cluster-size-threshold", "2");
    }
    if dice.one_in(3) {
        set("node-eviction-rate", dice.pick(&["1", "0.3", "0"]));
    }
    if faults == Faults::All && dice.one_in(4) {
        set("node-monitor-period", dice.pick(&["2s", "7s"]));
        set("node-monitor-grace-period", dice.pick(&["9s", "20s"]));
    }
    if dice.one_in(3) {
        config.kubelets.phase_seed = 1 + dice.below(100) as u64;
    }
    if dice.one_in(3) {
        config.kubelets.jitter_seed = 1 + dice.below(100) as u64;
    }
    let nodes: Vec<Node> = (0..2 + dice.below(NODES - 2)).map(|n| dice.node(n)).collect();
    let pods = (0..4 + dice.below(12)).map(|n| dice.pod(n, nodes.len())).collect();
    let mut at = Timestamp::ZERO;
    let mut commands = Vec::new();
    for _ in 0..dice.below(25) {
        let pauses = [0, 0, 1, 700, 5_000, 10_000, 13_000, 40_000, 61_000, 300_000];
        let millis = pauses[dice.below(pauses.len())];
        at = at.saturating_add(std::time::Duration::from_millis(millis));
        commands.push((at, dice.command(nodes.len(), faults)));
    }
    let end = at.saturating_add(std::time::Duration::from_secs(900));
    Script { config, nodes, pods, commands, end }
}

/// Dice, and the parts of scripts.
pub(crate) struct Dice(dice::Dice);

impl Deref for Dice {
    type Target = dice::Dice;

    fn deref(&self) -> &dice::Dice {
        &self.0
    }
}

impl DerefMut for Dice {
    fn deref_mut(&mut self) -> &mut dice::Dice {
        &mut self.0
    }
}

impl Dice {
    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.0.below(list.len())]
    }

    fn zone(&mut self) -> &'static str {
        self.pick(&["a", "a", "b", "c"])
    }

    fn node(&mut self, number: usize) -> Node {
        let mut node = notation::node(&format!("n{number}"), Vec::new());
        node.metadata.labels.insert(ZONE_LABEL.into(), self.zone().into());
        if self.one_in(8) {
            node.metadata.labels.insert("node.kubernetes.io/exclude-disruption".into(), "".into());
        }
        node
    }

    fn tolerations(&mut self) -> Vec<Toleration> {
        let seconds = self.pick(&["0", "5", "60", "300", "inf"]);
        let keys = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
        keys.iter().map(|key| notation::toleration(&format!("{key}/{seconds}")).unwrap()).collect()
    }

    fn pod(&mut self, number: usize, nodes: usize) -> Pod {
        let key = PodKey::new("d", &format!("p{number}"));
        let tolerations = if self.one_in(6) { Vec::new() } else { self.tolerations() };
        let node = format!("n{}", self.below(nodes));
        let mut pod = notation::pod(&key, &node, tolerations);
        pod.spec.termination_grace_period_seconds = Some([0, 1, 30][self.below(3)]);
        pod
    }

    fn command(&mut self, nodes: usize, faults: Faults) -> Command {
        let name = format!("n{}", self.below(nodes));
        let node = taintlab_core::api::NodeName::from(name.as_str());
        let zone = self.zone().to_owned();
        let kinds = if faults == Faults::All { 23 } else { 15 };
        match self.below(kinds) {
            0 => Command::StopKubelet { node },
            1 => Command::StartKubelet { node },
            2 => Command::RestartKubelet { node },
            3 | 4 => Command::CutNetwork { node },
            5 => Command::RestoreNetwork { node },
            6 | 7 => Command::CutZoneNetwork { zone },
            8 | 9 => Command::RestoreZoneNetwork { zone },
            10 => Command::SetNodeCondition {
                node,
                type_: self.pick(&["Ready", "Ready", "MemoryPressure"]).into(),
                status: self.pick(&["True", "False"]).into(),
                reason: None,
                message: None,
            },
            11 => {
                let labels = [(ZONE_LABEL.to_owned(), zone)].into();
                Command::SetNodeLabels { node, labels }
            }
            12 => Command::DeleteNode { node },
            13 => Command::CreateNode(Node { metadata: self.node(0).metadata, ..Node::default() }),
            14 => Command::SetUnschedulable { node, unschedulable: self.one_in(2) },
            15 => Command::FlapKubelet {
                node,
                down: Span(std::time::Duration::from_secs(1 + self.below(70) as u64)),
                up: Span(std::time::Duration::from_secs(1 + self.below(70) as u64)),
                times: Some(1 + self.below(4) as u32),
            },
            16 => Command::RestartControllerManager,
            19 | 20 => Command::ShutDownNode {
                node,
                shutdown_grace_period: [None, Some(Span(std::time::Duration::from_secs(20)))]
                    [self.below(2)],
                shutdown_grace_period_critical_pods: None,
            },
            21 if self.one_in(2) => Command::PowerOffNode { node },
            21 => Command::CancelShutdown { node },
            17 => {
                let mut new = self.node(0);
                new.metadata.name = format!("m{}", self.below(2));
                let after = self.one_in(2).then_some(Span(std::time::Duration::from_secs(30)));
                Command::RegisterNode { node: new, kubelet_starts_after: after }
            }
            18 => Command::FailNodeWrites {
                node,
                write: [NodeWrite::Status, NodeWrite::Taints, NodeWrite::Labels][self.below(3)],
                times: self.below(7) as u32,
                error: ApiErrorKind::Conflict,
            },
            _ => Command::Untaint {
                node,
                key: "node.kubernetes.io/unreachable".into(),
                effect: TaintEffect::NoExecute,
            },
        }
    }
}
