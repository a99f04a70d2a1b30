//! Conditions of a running simulation, each in one line: to run until, to go back to, or to stop
//! at.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use taintlab_engine::pod_state::{PodHealth, PodVerdict};
use taintlab_engine::simulator::Simulator;
use taintlab_rules::api::{
    ConditionStatus, NodeName, PodKey, TaintEffect, WorkloadKey, node_condition_type,
};
use taintlab_rules::protocol::zone::{ZoneKey, ZoneState, find_zone};

/// A condition that holds at some moments.
///
/// Its text consists of an object and a state: `pod/default/web-1 gone`, `node/worker-1 tainted`,
/// `zone/eu-1b partialDisruption`, `deployment/default/web ready<3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The pod has this verdict; for `Gone`, no such pod exists.
    PodVerdict(PodKey, PodVerdict),
    /// The pod exists and has this health.
    PodHealth(PodKey, PodHealth),
    /// The node has a `NoExecute` taint with this key; an empty key stands for any.
    NodeTainted(NodeName, String),
    /// The node has no `NoExecute` taint.
    NodeUntainted(NodeName),
    /// The `Ready` condition of the node has this status.
    NodeReady(NodeName, ConditionStatus),
    /// The node does not exist.
    NodeGone(NodeName),
    /// The zone is in this state.
    Zone(ZoneKey, ZoneState),
    /// Fewer pods of the workload than this are ready; terminating ones do not count.
    ReadyBelow(WorkloadKey, i64),
    /// At least this number of the workload's pods is ready.
    ReadyAtLeast(WorkloadKey, i64),
}

/// Verdicts that a condition can name.
const VERDICTS: [PodVerdict; 6] = [
    PodVerdict::Gone,
    PodVerdict::Orphaned,
    PodVerdict::Counting,
    PodVerdict::Terminating,
    PodVerdict::Stuck,
    PodVerdict::Evicted,
];
/// States that a condition can name for a node, besides `tainted=KEY`.
const NODE_WORDS: [&str; 6] = ["tainted", "untainted", "ready", "notReady", "unknown", "gone"];
/// Zone states that a condition can name, each with a shorter word.
const ZONE_STATES: [(ZoneState, &str, &str); 3] = [
    (ZoneState::PartialDisruption, "partialDisruption", "partial"),
    (ZoneState::FullDisruption, "fullDisruption", "full"),
    (ZoneState::Normal, "normal", "normal"),
];
/// Completions offered at most.
const MOST: usize = 50;

impl Condition {
    /// Parses a line; zone names refer to the simulation.
    ///
    /// # Errors
    /// Describes the error and the valid input.
    pub fn parse(line: &str, simulator: &Simulator) -> Result<Self, String> {
        let (object, said) = split(line);
        let (kind, name) = object.split_once('/').ok_or_else(|| {
            format!(
                "`{object}` names no object; write `pod/NAME`, `node/NAME`, `zone/NAME` or \
                 `deployment/NAME` and a state, such as `pod/default/web-1 gone`"
            )
        })?;
        match kind {
            "pod" | "pods" | "po" => pod(PodKey::parse(name)?, said),
            "node" | "nodes" | "no" => node(name, said),
            "zone" | "zones" => zone(name, said, simulator),
            _ => workload(WorkloadKey::parse(object)?, said),
        }
    }

    /// Completions of the beginning of a line: objects of the simulation, then states of the
    /// object.
    #[must_use]
    pub fn complete(line: &str, simulator: &Simulator) -> Vec<String> {
        let line = line.trim_start();
        let Some((object, beginning)) = line.split_once(' ') else {
            let found = objects(simulator).filter(|object| object.starts_with(line));
            return found.take(MOST).map(|object| format!("{object} ")).collect();
        };
        let words = words_of(object, simulator).into_iter();
        let fits = words.filter(|word| word.starts_with(beginning.trim_start()));
        fits.map(|word| format!("{object} {word}")).collect()
    }

    /// Whether the condition holds now.
    #[must_use]
    pub fn holds(&self, simulator: &Simulator) -> bool {
        let ready_pods = |workload| simulator.workload_view(workload).map_or(0, |it| it.ready);
        let taints = |node: &NodeName, key: &str| {
            let node = simulator.cluster().get_node(node.as_str());
            node.is_some_and(|node| {
                let mut taints = node.spec.taints.iter();
                taints.any(|it| {
                    it.effect == TaintEffect::NoExecute && (key.is_empty() || it.key == key)
                })
            })
        };
        match self {
            Self::PodVerdict(pod, PodVerdict::Gone) => simulator.cluster().get_pod(pod).is_none(),
            Self::PodVerdict(pod, wanted) => {
                simulator.pod_states().get(pod).is_some_and(|state| state.verdict == *wanted)
            }
            Self::PodHealth(pod, wanted) => {
                simulator.pod_states().get(pod).is_some_and(|state| state.health == *wanted)
            }
            Self::NodeTainted(node, key) => taints(node, key),
            Self::NodeUntainted(node) => {
                simulator.cluster().get_node(node.as_str()).is_some() && !taints(node, "")
            }
            Self::NodeReady(node, wanted) => {
                let node = simulator.cluster().get_node(node.as_str());
                let ready = node.and_then(|node| node.condition(node_condition_type::READY));
                ready.is_some_and(|condition| condition.status == *wanted)
            }
            Self::NodeGone(node) => simulator.cluster().get_node(node.as_str()).is_none(),
            Self::Zone(zone, state) => {
                let mut states =
                    simulator.node_lifecycle().into_iter().flat_map(|it| it.zone_states());
                states.any(|(key, is, _)| key == zone && is == *state)
            }
            Self::ReadyBelow(workload, number) => ready_pods(workload) < *number,
            Self::ReadyAtLeast(workload, number) => ready_pods(workload) >= *number,
        }
    }
}

/// The line that [`Condition::parse`] reads.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PodVerdict(pod, verdict) => write!(f, "pod/{pod} {}", verdict.as_str()),
            Self::PodHealth(pod, health) => write!(f, "pod/{pod} {}", health.as_str()),
            Self::NodeTainted(node, key) if key.is_empty() => write!(f, "node/{node} tainted"),
            Self::NodeTainted(node, key) => write!(f, "node/{node} tainted={key}"),
            Self::NodeUntainted(node) => write!(f, "node/{node} untainted"),
            Self::NodeReady(node, ConditionStatus::True) => write!(f, "node/{node} ready"),
            Self::NodeReady(node, ConditionStatus::False) => write!(f, "node/{node} notReady"),
            Self::NodeReady(node, _) => write!(f, "node/{node} unknown"),
            Self::NodeGone(node) => write!(f, "node/{node} gone"),
            Self::Zone(zone, state) => {
                let known = ZONE_STATES.into_iter().find(|(known, ..)| known == state);
                let word = known.map_or(state.as_str(), |(_, word, _)| word);
                write!(f, "zone/{} {word}", zone.name())
            }
            Self::ReadyBelow(workload, number) => write!(f, "{workload} ready<{number}"),
            Self::ReadyAtLeast(workload, number) => write!(f, "{workload} ready>={number}"),
        }
    }
}

/// Splits a line into object and state.
fn split(line: &str) -> (&str, &str) {
    let line = line.trim();
    line.split_once(char::is_whitespace).map_or((line, ""), |(object, said)| (object, said.trim()))
}

fn wrong(said: &str, of: &str, valid: &[&str]) -> String {
    format!("`{said}` is not a state of {of}; valid states are {}", valid.join(", "))
}

fn pod(pod: PodKey, said: &str) -> Result<Condition, String> {
    let verdict = VERDICTS.into_iter().find(|verdict| verdict.as_str() == said);
    let health = PodHealth::ALL.into_iter().find(|health| health.as_str() == said);
    match (verdict, health) {
        (Some(verdict), _) => Ok(Condition::PodVerdict(pod, verdict)),
        (None, Some(health)) => Ok(Condition::PodHealth(pod, health)),
        (None, None) => Err(wrong(said, "a pod", &pod_words())),
    }
}

fn pod_words() -> Vec<&'static str> {
    let verdicts = VERDICTS.into_iter().map(PodVerdict::as_str);
    // A pod evicted by its kubelet has also failed: each has a word of its own.
    verdicts.chain(PodHealth::ALL.into_iter().map(PodHealth::as_str)).collect()
}

fn node(name: &str, said: &str) -> Result<Condition, String> {
    let node = NodeName::from(name);
    Ok(match said {
        "tainted" => Condition::NodeTainted(node, String::new()),
        "untainted" => Condition::NodeUntainted(node),
        "ready" => Condition::NodeReady(node, ConditionStatus::True),
        "notReady" => Condition::NodeReady(node, ConditionStatus::False),
        "unknown" => Condition::NodeReady(node, ConditionStatus::Unknown),
        "gone" => Condition::NodeGone(node),
        _ => match said.strip_prefix("tainted=") {
            Some(key) if !key.is_empty() => Condition::NodeTainted(node, key.into()),
            _ => return Err(wrong(said, "a node", &NODE_WORDS)),
        },
    })
}

fn zone(name: &str, said: &str, simulator: &Simulator) -> Result<Condition, String> {
    let zones = simulator.zones();
    let keys = || zones.iter().map(|zone| &zone.key);
    let found = find_zone(keys(), name).map_err(|_| {
        let names: Vec<String> = keys().map(ZoneKey::name).collect();
        match names.is_empty() {
            true => "no zones are watched: switch the node lifecycle controller on".to_string(),
            false => format!("no zone is called `{name}`; there are {}", names.join(", ")),
        }
    })?;
    let state = ZONE_STATES.into_iter().find(|(_, long, short)| said == *long || said == *short);
    match state {
        Some((state, ..)) => Ok(Condition::Zone(found.clone(), state)),
        None => Err(wrong(said, "a zone", &ZONE_STATES.map(|(_, word, _)| word))),
    }
}

fn workload(workload: WorkloadKey, said: &str) -> Result<Condition, String> {
    let said: String = said.chars().filter(|c| !c.is_whitespace()).collect();
    let below = said.strip_prefix("ready<").and_then(|number| number.parse().ok());
    let at_least = said.strip_prefix("ready>=").and_then(|number| number.parse().ok());
    match (below, at_least) {
        (Some(number), _) => Ok(Condition::ReadyBelow(workload, number)),
        (None, Some(number)) => Ok(Condition::ReadyAtLeast(workload, number)),
        (None, None) => Err(wrong(&said, "a workload", &["ready<N", "ready>=N"])),
    }
}

/// Objects that a condition can name.
fn objects(simulator: &Simulator) -> impl Iterator<Item = String> {
    let cluster = simulator.cluster();
    let workloads = cluster.workloads().filter(|(_, workload)| workload.owner().is_none());
    let nodes = cluster.nodes().map(|(node, _)| format!("node/{node}"));
    let zones = simulator.zones().into_iter().map(|zone| format!("zone/{}", zone.key.name()));
    let workloads = workloads.map(|(key, _)| key.to_string());
    let pods = cluster.pods().map(|(pod, _)| format!("pod/{pod}"));
    zones.chain(nodes).chain(workloads).chain(pods)
}

/// States that a condition can name for an object.
fn words_of(object: &str, simulator: &Simulator) -> Vec<String> {
    let all = |words: &[&str]| words.iter().map(ToString::to_string).collect();
    match object.split_once('/').map(|(kind, _)| kind) {
        Some("pod") => all(&pod_words()),
        Some("node") => all(&NODE_WORDS),
        Some("zone") => all(&ZONE_STATES.map(|(_, word, _)| word)),
        _ => {
            let workload = WorkloadKey::parse(object).ok();
            let view = workload.and_then(|key| simulator.workload_view(&key));
            let wanted = view.map_or(1, |view| view.desired);
            Vec::from([format!("ready<{wanted}"), "ready<1".into(), format!("ready>={wanted}")])
        }
    }
}
