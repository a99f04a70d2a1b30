//! `timeline-*`: the whole taint-eviction controller over recorded scenarios.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use taintlab_core::api::{Node, Pod, PodKey, Taint, Toleration};
use taintlab_core::command::{ApiErrorKind, Command, PodWrite};
use taintlab_core::event::{Event, EventKind, RequestResult, RequestVerb};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::simulator::{Simulator, SimulatorConfig};
use taintlab_core::time::Timestamp;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(rename = "id")]
    _id: u64,
    behaviour: String,
    #[serde(rename = "ties")]
    _ties: bool,
    #[serde(rename = "timer_ties")]
    _timer_ties: bool,
    #[serde(rename = "api_failures")]
    _api_failures: bool,
    #[serde(rename = "graceful")]
    _graceful: bool,
    nodes: Vec<CaseNode>,
    pods: Vec<CasePod>,
    actions: Vec<CaseAction>,
    end: u64,
    outcomes: Vec<Outcome>,
    #[serde(rename = "final")]
    final_state: Final,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseNode {
    name: String,
    #[serde(default)]
    taints: Vec<Taint>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct CasePod {
    namespace: String,
    name: String,
    uid: String,
    node: String,
    #[serde(default)]
    tolerations: Vec<Toleration>,
    grace: i64,
    fail_deletes: u32,
}

#[derive(Deserialize)]
struct CaseAction {
    t: u64,
    #[serde(flatten)]
    op: Op,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "every field is checked to be there, not all are used")]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
enum Op {
    CreateNode {
        node: String,
        #[serde(default)]
        taints: Vec<Taint>,
    },
    DeleteNode {
        node: String,
    },
    SetTaints {
        node: String,
        #[serde(default)]
        taints: Vec<Taint>,
    },
    TouchNode {
        node: String,
    },
    CreatePod {
        pod_spec: CasePod,
    },
    DeletePod {
        pod: String,
    },
    EvictPod {
        pod: String,
    },
    SetTolerations {
        pod: String,
        #[serde(default)]
        tolerations: Vec<Toleration>,
    },
    TouchPod {
        pod: String,
    },
    BindPod {
        pod: String,
        node: String,
    },
    MovePod {
        pod: String,
        node: String,
        uid: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Outcome {
    t: u64,
    kind: String,
    pod: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    uid: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    result: String,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Final {
    pending: Vec<Pending>,
    tombstones: Vec<String>,
    tainted_nodes: BTreeMap<String, Vec<Taint>>,
    pods: Vec<FinalPod>,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Pending {
    pod: String,
    created_at: u64,
    fire_at: u64,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct FinalPod {
    pod: String,
    uid: String,
    node: String,
    terminating: bool,
}

/// Runs one case; `Err` holds what was expected and what came instead.
pub fn run(line: &str) -> Result<(), String> {
    let case: Case = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let minor = match case.behaviour.as_str() {
        "1.18.6" => 18,
        "1.20.2" => 20,
        "current" => 35,
        "1.36.2" => 36,
        other => return Err(format!("unknown behaviour {other}")),
    };
    let release = KubernetesRelease::new(minor).ok_or("unknown release")?;
    let config = SimulatorConfig { stand_in_api_server: true, ..SimulatorConfig::of(release) };
    let nodes: Vec<Node> = case.nodes.iter().map(|n| node(&n.name, &n.taints)).collect();
    let pods: Vec<Pod> = case.pods.iter().map(pod).collect();
    let mut world = World::new(config, nodes, &case.pods, pods)?;
    for action in &case.actions {
        world.act(Timestamp::from_nanos(action.t), &action.op)?;
    }
    let end = Timestamp::from_nanos(case.end);
    world.simulator.advance_to(end).map_err(|error| error.to_string())?;
    let (outcomes, final_state) = world.finish();
    let mut report = String::new();
    if outcomes != case.outcomes {
        diff(&mut report, "outcomes", &case.outcomes, &outcomes);
    }
    if final_state != case.final_state {
        let show = |state: &Final| serde_json::to_string(state).unwrap_or_default();
        let (expected, got) = (show(&case.final_state), show(&final_state));
        let _ = writeln!(report, "final: expected {expected}\n            got {got}");
    }
    if report.is_empty() { Ok(()) } else { Err(report) }
}

fn diff(report: &mut String, what: &str, expected: &[Outcome], got: &[Outcome]) {
    let at = expected.iter().zip(got).take_while(|(a, b)| a == b).count();
    let show = |list: &[Outcome]| {
        serde_json::to_string(list.get(at..list.len().min(at + 6)).unwrap_or(&[]))
            .unwrap_or_default()
    };
    let (expected, got) = (show(expected), show(got));
    let _ = writeln!(report, "{what} from {at} on: expected {expected}\n                got {got}");
}

struct World {
    simulator: Simulator,
    events: Vec<Event>,
}

impl World {
    fn new(
        config: SimulatorConfig,
        nodes: Vec<Node>,
        specs: &[CasePod],
        pods: Vec<Pod>,
    ) -> Result<Self, String> {
        let mut simulator = Simulator::new(config, nodes, pods)?;
        for spec in specs.iter().filter(|spec| spec.fail_deletes > 0) {
            let command = fail(&PodKey::new(&spec.namespace, &spec.name), spec.fail_deletes);
            simulator.handle_command(Timestamp::ZERO, command).map_err(|e| e.to_string())?;
        }
        simulator.advance_to(Timestamp::ZERO).map_err(|error| error.to_string())?;
        Ok(Self { simulator, events: Vec::new() })
    }

    fn act(&mut self, at: Timestamp, op: &Op) -> Result<(), String> {
        for command in self.commands(at, op)? {
            // An action on a missing object, or a create of an existing one, is ignored.
            let _ = self.simulator.handle_command(at, command);
        }
        self.events.extend(self.simulator.drain_events());
        Ok(())
    }

    fn commands(&mut self, at: Timestamp, op: &Op) -> Result<Vec<Command>, String> {
        // The state that a command is made from is that of its own instant.
        if at > self.simulator.now() {
            self.simulator.advance_to(at).map_err(|error| error.to_string())?;
        }
        let key = |pod: &str| PodKey::parse(pod);
        Ok(match op {
            Op::CreateNode { node: name, taints } => vec![Command::CreateNode(node(name, taints))],
            Op::DeleteNode { node } => vec![Command::DeleteNode { node: node.as_str().into() }],
            Op::SetTaints { node, taints } => {
                vec![Command::SetTaints { node: node.as_str().into(), taints: taints.clone() }]
            }
            Op::CreatePod { pod_spec } => {
                let key = PodKey::new(&pod_spec.namespace, &pod_spec.name);
                if self.simulator.cluster().get_pod(&key).is_some() {
                    return Ok(vec![]);
                }
                let create = Command::CreatePod(pod(pod_spec));
                vec![create, fail(&key, pod_spec.fail_deletes)]
            }
            Op::DeletePod { pod } => {
                vec![Command::DeletePod { pod: key(pod)?, force: true, grace_period_seconds: None }]
            }
            Op::EvictPod { pod } => vec![Command::DeletePod {
                pod: key(pod)?,
                force: false,
                grace_period_seconds: None,
            }],
            Op::SetTolerations { pod, tolerations } => {
                let tolerations = tolerations.clone();
                vec![Command::SetTolerations { pod: key(pod)?, tolerations }]
            }
            // An update without a change of what counts.
            Op::TouchNode { .. } | Op::TouchPod { .. } => vec![],
            Op::BindPod { pod, node } => {
                vec![Command::BindPod { pod: key(pod)?, node: node.as_str().into() }]
            }
            Op::MovePod { pod, node, uid } => {
                let Some(old) = self.simulator.cluster().get_pod(&key(pod)?) else {
                    return Ok(vec![]);
                };
                let mut new = Pod::clone(old);
                new.metadata.uid.clone_from(uid);
                new.metadata.deletion_timestamp = None;
                new.metadata.deletion_grace_period_seconds = None;
                new.spec.node_name.clone_from(node);
                vec![Command::UpdatePod(new)]
            }
        })
    }

    fn finish(mut self) -> (Vec<Outcome>, Final) {
        self.events.extend(self.simulator.drain_events());
        let mut outcomes: Vec<Outcome> = self.events.iter().filter_map(outcome).collect();
        outcomes.sort_by(|a, b| (a.t, &a.pod).cmp(&(b.t, &b.pod)));
        let controller = self.simulator.taint_eviction();
        let pending = controller.scheduled_evictions().into_iter().map(|eviction| Pending {
            pod: eviction.pod.to_string(),
            created_at: micros(eviction.created_at),
            fire_at: micros(eviction.fire_at),
        });
        let tainted = controller.tainted_nodes().iter();
        let pods = self.simulator.cluster().pods().map(|(key, pod)| FinalPod {
            pod: key.to_string(),
            uid: pod.metadata.uid.clone(),
            node: pod.spec.node_name.clone(),
            terminating: pod.is_terminating(),
        });
        let final_state = Final {
            pending: pending.collect(),
            tombstones: controller.tombstones().into_iter().map(ToString::to_string).collect(),
            tainted_nodes: tainted.map(|(name, t)| (name.to_string(), t.to_vec())).collect(),
            pods: pods.collect(),
        };
        (outcomes, final_state)
    }
}

/// Rounded down to whole microseconds, as recorded.
fn micros(at: Timestamp) -> u64 {
    at.as_nanos() / 1_000 * 1_000
}

fn fail(pod: &PodKey, times: u32) -> Command {
    let (verb, error) = (PodWrite::Delete, ApiErrorKind::InternalError);
    Command::FailPodWrites { pod: pod.clone(), verb, times, error }
}

fn node(name: &str, taints: &[Taint]) -> Node {
    let mut node = Node::default();
    node.metadata.name = name.into();
    node.spec.taints = taints.to_vec();
    node
}

fn pod(spec: &CasePod) -> Pod {
    let mut pod = Pod::default();
    pod.metadata.namespace.clone_from(&spec.namespace);
    pod.metadata.name.clone_from(&spec.name);
    pod.metadata.uid.clone_from(&spec.uid);
    pod.spec.node_name.clone_from(&spec.node);
    pod.spec.tolerations = spec.tolerations.clone().into();
    pod.spec.termination_grace_period_seconds = Some(spec.grace);
    pod
}

fn outcome(event: &Event) -> Option<Outcome> {
    let (kind, pod, uid, result) = match &event.what {
        EventKind::EventRecorded(recorded) => {
            let (what, pod) = recorded.message.rsplit_once(' ')?;
            let kind = match what {
                "Marking for deletion Pod" => "marking",
                "Cancelling deletion of Pod" => "cancelling",
                _ => return None,
            };
            (kind, pod.to_owned(), String::new(), "")
        }
        EventKind::Request { pod, uid, verb, result } => {
            let kind = match verb {
                RequestVerb::Delete => "delete",
                RequestVerb::PatchStatus => "patch_status",
                RequestVerb::Get | RequestVerb::Evict => return None,
            };
            let result = match result {
                _ if kind == "patch_status" => "",
                RequestResult::Ok => "ok",
                RequestResult::AlreadyTerminating => "already_terminating",
                RequestResult::NotFound => "not_found",
                RequestResult::Error(_) => "error",
            };
            (kind, pod.to_string(), uid.clone(), result)
        }
        _ => return None,
    };
    let (kind, result) = (kind.to_owned(), result.to_owned());
    Some(Outcome { t: event.at.as_nanos(), kind, pod, uid, result })
}
