//! Scenarios as text: commands in, what happened out, for people to read.
//!
//! One command a line, each optionally after `at TIME`; [`Session::execute`] lists them. The
//! notation of taints and tolerations is that of [`notation`].

pub mod datadriven;
pub mod render;

use taintlab_core::api::{NodeName, Pod, PodKey};
use taintlab_core::command::{ApiErrorKind, Command, NodeWrite, PodWrite};
use taintlab_core::controllers::taint_eviction::shard_of;
use taintlab_core::event::{Event, EventKind};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::{Simulator, SimulatorConfig};
use taintlab_core::time::{Span, Timestamp, parse_duration};

use crate::notation;

/// A simulation that is driven by lines of text.
#[derive(Debug, Default)]
pub struct Session {
    simulator: Option<Simulator>,
    log: Vec<Event>,
    trace: bool,
}

/// What a line asks for.
enum Line {
    Command(Box<Command>),
    Advance(Timestamp),
    Run,
    Print(String),
}

impl Session {
    /// Executes some lines, then lets everything of the last instant happen; gives what happened
    /// and what was printed.
    ///
    /// ```text
    /// cluster RELEASE [GATE=true|false …] [--FLAG=VALUE …] [stand-in] [kubelets] [phase=SEED]
    ///     begins anew; with `stand-in`, behind an API server that takes everything; with
    ///     `kubelets`, flags or a seed, with kubelets and a node lifecycle controller
    /// node NAME [in ZONE] [TAINT …]            creates a node
    /// nodes PREFIX COUNT [in ZONE]             creates PREFIX1, PREFIX2, …
    /// register NODE [in ZONE] [after TIME]     creates a node whose kubelet does not run (yet)
    /// pod POD [on NODE] [tolerates TOLERATION …] [grace SECONDS] [uid UID]
    /// replace POD (as pod)                     another pod of that name, seen as one update
    /// taints NODE [TAINT …]                    replaces the taints
    /// tolerations POD [TOLERATION …]           replaces the tolerations
    /// label pod|node NAME KEY=VALUE            replaces the labels
    /// cordon NODE, uncordon NODE               changes spec.unschedulable
    /// bind POD NODE
    /// delete POD, force-delete POD, delete-node NODE
    /// fail POD delete|patch TIMES [ERROR]
    /// restart                                  of the taint-eviction controller
    /// restart-manager                          of kube-controller-manager
    /// stop NODE, start NODE, bounce NODE       stops, starts, restarts a kubelet
    /// flap NODE DOWN UP [TIMES]                stops and starts a kubelet in turn
    /// shutdown NODE [PERIOD [CRITICAL]]        shuts a node down
    /// cancel-shutdown NODE, power-off NODE
    /// cut NODE, restore NODE                   the network of a node
    /// cut-zone ZONE, restore-zone ZONE         the network of a zone
    /// condition NODE TYPE STATUS [REASON]      what the kubelet finds from now on
    /// fail-node NODE status|taints|labels TIMES [ERROR]
    /// advance TIME, run                        lets time pass, until then or to the end
    /// trace on|off                             shows decisions and all changes
    /// state, pods, nodes, zones, timeout, shard NODE …, health NODE, budget POD   print
    /// ```
    ///
    /// # Errors
    /// A line that cannot be read. A command that is refused is no error; that is printed.
    pub fn execute(&mut self, lines: &str) -> Result<String, String> {
        let mut out = String::new();
        for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
            self.line(line, &mut out).map_err(|error| format!("`{line}`: {error}"))?;
        }
        if let Some(simulator) = &mut self.simulator {
            let now = simulator.now();
            simulator.advance_to(now).map_err(|error| error.to_string())?;
        }
        self.flush(&mut out);
        Ok(out)
    }

    /// The simulation, to look at.
    ///
    /// # Errors
    /// There is none: `cluster` comes first.
    pub fn simulator(&self) -> Result<&Simulator, String> {
        self.simulator.as_ref().ok_or_else(|| "`cluster RELEASE` comes first".into())
    }

    /// The simulation, to drive it directly.
    ///
    /// # Errors
    /// There is none: `cluster` comes first.
    pub fn simulator_mut(&mut self) -> Result<&mut Simulator, String> {
        self.simulator.as_mut().ok_or_else(|| "`cluster RELEASE` comes first".into())
    }

    /// All that has happened in this cluster.
    #[must_use]
    pub fn log(&self) -> &[Event] {
        &self.log
    }

    /// The simulation, when all of this instant has happened.
    fn settled(&mut self) -> Result<&Simulator, String> {
        let simulator = self.simulator_mut()?;
        let now = simulator.now();
        simulator.advance_to(now).map_err(|error| error.to_string())?;
        Ok(simulator)
    }

    fn line(&mut self, line: &str, out: &mut String) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (at, words) = match words.as_slice() {
            ["at", at, rest @ ..] => (Some(time(at)?), rest),
            words => (None, words),
        };
        if let ["cluster", release, gates @ ..] = words {
            return self.begin(release, gates);
        }
        if let ["nodes", prefix, count, place @ ..] = words {
            let count: u32 = count.parse().map_err(|_| format!("`{count}` is not a number"))?;
            for number in 1..=count {
                self.line(&format!("node {prefix}{number} {}", place.join(" ")), out)?;
            }
            return Ok(());
        }
        if let ["trace", switch] = words {
            self.flush(out);
            self.trace = *switch == "on";
            return Ok(());
        }
        let parsed = self.parse(words)?;
        let simulator = self.simulator_mut()?;
        let at = at.unwrap_or(simulator.now());
        match parsed {
            Line::Command(command) => {
                if let Err(error) = simulator.handle_command(at, *command) {
                    self.flush(out);
                    *out += &format!("error: {error}\n");
                }
            }
            Line::Advance(to) => simulator.advance_to(to).map_err(|error| error.to_string())?,
            Line::Run => {
                while let Some(next) = simulator.poll_timeout() {
                    simulator.handle_timeout(next.at).map_err(|error| error.to_string())?;
                }
            }
            Line::Print(text) => {
                self.flush(out);
                *out += &text;
            }
        }
        Ok(())
    }

    fn begin(&mut self, release: &str, gates: &[&str]) -> Result<(), String> {
        let mut config = SimulatorConfig::of(KubernetesRelease::parse(release)?);
        for word in gates {
            match word.split_once('=') {
                None if *word == "stand-in" => config.stand_in_api_server = true,
                None if *word == "kubelets" => config.node_lifecycle = true,
                Some(("phase", seed)) => {
                    config.node_lifecycle = true;
                    config.kubelets.phase_seed = seed.parse().map_err(|_| "no seed")?;
                }
                Some(("jitter", seed)) => {
                    config.node_lifecycle = true;
                    config.kubelets.jitter_seed = seed.parse().map_err(|_| "no seed")?;
                }
                Some((name, value)) if name.starts_with("--") => {
                    config.node_lifecycle = true;
                    let name = name.trim_start_matches('-').to_owned();
                    config.controller_manager_flags.insert(name, value.into());
                }
                Some((name, on)) => {
                    config.feature_gates.insert(name.into(), on == "true");
                }
                None => return Err("a gate is written GATE=true".into()),
            }
        }
        self.simulator = Some(Simulator::new(config, [], [])?);
        self.log.clear();
        self.trace = false;
        Ok(())
    }

    fn flush(&mut self, out: &mut String) {
        for event in self.simulator.iter_mut().flat_map(Simulator::drain_events) {
            if self.trace || matters(&event) {
                *out += &format!("{event}\n", event = render::event(&event));
            }
            self.log.push(event);
        }
    }

    fn parse(&mut self, words: &[&str]) -> Result<Line, String> {
        let node = |name: &str| NodeName::from(name);
        let command = match words {
            ["node", name, "in", zone, taints @ ..] => {
                let mut node = notation::node(name, notation::taints(&taints.join(" "))?);
                notation::put_into_zone(&mut node, zone);
                Command::CreateNode(node)
            }
            ["node", name, taints @ ..] => {
                Command::CreateNode(notation::node(name, notation::taints(&taints.join(" "))?))
            }
            ["register", name, options @ ..] => {
                let mut node = notation::node(name, Vec::new());
                let mut kubelet_starts_after = None;
                for option in options.chunks(2) {
                    match option {
                        ["in", zone] => notation::put_into_zone(&mut node, zone),
                        ["after", span] => {
                            kubelet_starts_after = Some(Span(parse_duration(span)?));
                        }
                        _ => return Err("only `in ZONE` and `after TIME` can follow".into()),
                    }
                }
                Command::RegisterNode { node, kubelet_starts_after }
            }
            ["stop", name] => Command::StopKubelet { node: node(name) },
            ["start", name] => Command::StartKubelet { node: node(name) },
            ["bounce", name] => Command::RestartKubelet { node: node(name) },
            ["flap", name, down, up, times @ ..] => Command::FlapKubelet {
                node: node(name),
                down: Span(parse_duration(down)?),
                up: Span(parse_duration(up)?),
                times: times
                    .first()
                    .map(|times| times.parse().map_err(|_| format!("`{times}` is not a number")))
                    .transpose()?,
            },
            ["shutdown", name, periods @ ..] => {
                let span = |text: &&str| Ok::<_, String>(Span(parse_duration(text)?));
                Command::ShutDownNode {
                    node: node(name),
                    shutdown_grace_period: periods.first().map(span).transpose()?,
                    shutdown_grace_period_critical_pods: periods.get(1).map(span).transpose()?,
                }
            }
            ["cancel-shutdown", name] => Command::CancelShutdown { node: node(name) },
            ["power-off", name] => Command::PowerOffNode { node: node(name) },
            ["cut", name] => Command::CutNetwork { node: node(name) },
            ["restore", name] => Command::RestoreNetwork { node: node(name) },
            ["cut-zone", zone] => Command::CutZoneNetwork { zone: (*zone).into() },
            ["restore-zone", zone] => Command::RestoreZoneNetwork { zone: (*zone).into() },
            ["condition", name, type_, status, reason @ ..] => Command::SetNodeCondition {
                node: node(name),
                type_: (*type_).into(),
                status: (*status).into(),
                reason: reason.first().map(|reason| (*reason).into()),
                message: None,
            },
            ["restart-manager"] => Command::RestartControllerManager,
            ["fail-node", name, write, times, error @ ..] => Command::FailNodeWrites {
                node: node(name),
                write: match *write {
                    "status" => NodeWrite::Status,
                    "taints" => NodeWrite::Taints,
                    "labels" => NodeWrite::Labels,
                    other => return Err(format!("`{other}` is no write to a node")),
                },
                times: times.parse().map_err(|_| format!("`{times}` is not a number"))?,
                error: read_error(error.first().copied())?,
            },
            ["pod", pod, options @ ..] => Command::CreatePod(read_pod(pod, options)?),
            ["replace", pod, options @ ..] => {
                let mut pod = read_pod(pod, options)?;
                if pod.metadata.uid.is_empty() {
                    pod.metadata.uid = "another".into();
                }
                Command::UpdatePod(pod)
            }
            ["taints", name, taints @ ..] => {
                let taints = notation::taints(&taints.join(" "))?;
                Command::SetTaints { node: node(name), taints }
            }
            ["tolerations", pod, list @ ..] => {
                let tolerations = notation::tolerations(&list.join(" "))?;
                Command::SetTolerations { pod: PodKey::parse(pod)?, tolerations }
            }
            ["label", "pod", pod, label] => {
                let labels = read_label(label)?;
                Command::SetPodLabels { pod: PodKey::parse(pod)?, labels }
            }
            ["label", "node", name, label] => {
                Command::SetNodeLabels { node: node(name), labels: read_label(label)? }
            }
            ["cordon", name] => Command::SetUnschedulable { node: node(name), unschedulable: true },
            ["uncordon", name] => {
                Command::SetUnschedulable { node: node(name), unschedulable: false }
            }
            ["bind", pod, name] => Command::BindPod { pod: PodKey::parse(pod)?, node: node(name) },
            ["delete", pod] => Command::DeletePod {
                pod: PodKey::parse(pod)?,
                force: false,
                grace_period_seconds: None,
            },
            ["force-delete", pod] => Command::DeletePod {
                pod: PodKey::parse(pod)?,
                force: true,
                grace_period_seconds: None,
            },
            ["delete-node", name] => Command::DeleteNode { node: node(name) },
            ["fail", pod, verb, times, error @ ..] => Command::FailPodWrites {
                pod: PodKey::parse(pod)?,
                verb: match *verb {
                    "delete" => PodWrite::Delete,
                    "patch" => PodWrite::PatchStatus,
                    other => return Err(format!("`{other}` is neither `delete` nor `patch`")),
                },
                times: times.parse().map_err(|_| format!("`{times}` is not a number"))?,
                error: read_error(error.first().copied())?,
            },
            ["restart"] => Command::RestartTaintEvictionController,
            ["advance", to] => return Ok(Line::Advance(time(to)?)),
            ["run"] => return Ok(Line::Run),
            ["shard", nodes @ ..] => {
                let line = |node: &&str| format!("{node}: worker {}\n", shard_of(node));
                return Ok(Line::Print(nodes.iter().map(line).collect()));
            }
            ["health", name] => {
                let simulator = self.settled()?;
                return Ok(Line::Print(render::health(simulator, name)));
            }
            ["budget", pod] => {
                let pod = PodKey::parse(pod)?;
                let simulator = self.settled()?;
                return Ok(Line::Print(render::budget(simulator, &pod)));
            }
            [what @ ("state" | "pods" | "nodes" | "zones" | "timeout")] => {
                let simulator = self.simulator_mut()?;
                // What waits to be looked at would otherwise be missing.
                if *what != "timeout" {
                    let now = simulator.now();
                    simulator.advance_to(now).map_err(|error| error.to_string())?;
                }
                return Ok(Line::Print(match *what {
                    "state" => render::state(simulator),
                    "pods" => render::pods(simulator),
                    "nodes" => render::nodes(simulator),
                    "zones" => render::zones(simulator),
                    _ => render::timeout(simulator),
                }));
            }
            _ => return Err("unknown command".into()),
        };
        Ok(Line::Command(Box::new(command)))
    }
}

/// Whether an event is shown without `trace`.
fn matters(event: &Event) -> bool {
    match &event.what {
        EventKind::NodeAdded { .. }
        | EventKind::NodeUpdated { .. }
        | EventKind::NodeDeleted { .. }
        | EventKind::PodAdded { .. }
        | EventKind::PodUpdated { .. }
        | EventKind::Decided(_)
        | EventKind::NodeEvaluated { .. }
        | EventKind::NodeQueued { .. }
        | EventKind::NodeDequeued { .. } => false,
        // The first report of a kubelet says that nothing is wrong.
        EventKind::NodeConditionChanged { from, to, condition, .. } => {
            condition == "Ready" && (!from.is_empty() || to.as_str() != "True")
        }
        EventKind::EventRecorded(event) => {
            event.component != "kubelet" && event.reason != "RegisteredNode"
        }
        _ => true,
    }
}

fn time(text: &str) -> Result<Timestamp, String> {
    Ok(Timestamp::ZERO.saturating_add(parse_duration(text)?))
}

fn read_label(text: &str) -> Result<std::collections::BTreeMap<String, String>, String> {
    let (key, value) = text.split_once('=').ok_or("a label is written KEY=VALUE")?;
    Ok([(key.to_owned(), value.to_owned())].into())
}

fn read_error(text: Option<&str>) -> Result<ApiErrorKind, String> {
    let Some(text) = text else { return Ok(ApiErrorKind::default()) };
    serde_json::from_value(text.into()).map_err(|error| error.to_string())
}

fn read_pod(key: &str, options: &[&str]) -> Result<Pod, String> {
    let mut pod = notation::pod(&PodKey::parse(key)?, "", Vec::new());
    let mut words = options.iter().peekable();
    while let Some(option) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("`{option}` wants a value"));
        match *option {
            "on" => pod.spec.node_name = (*value()?).into(),
            "uid" => pod.metadata.uid = (*value()?).into(),
            "grace" => {
                let seconds = value()?;
                let seconds = seconds.parse().map_err(|_| format!("`{seconds}`: no number"))?;
                pod.spec.termination_grace_period_seconds = Some(seconds);
            }
            "tolerates" => {
                while let Some(word) = words.next_if(|word| word.contains('/')) {
                    pod.spec.tolerations.push(notation::toleration(word)?);
                }
            }
            other => return Err(format!("`{other}` is no option of a pod")),
        }
    }
    Ok(pod)
}
