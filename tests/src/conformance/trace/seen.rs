//! What is seen of a cluster, in the recording and in the engine.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Tolerance of a moment in seconds: latencies of a loaded machine.
pub(super) const LATENCY: f64 = 1.0;

/// What is seen of a run; all times are seconds since objects were created.
#[derive(Default)]
pub(super) struct Seen {
    /// The seconds of its day at which objects were created.
    pub(super) zero: f64,
    /// By node: `Ready` and the taints from a moment on.
    pub(super) nodes: BTreeMap<String, Vec<NodeState>>,
    /// By UID.
    pub(super) pods: BTreeMap<String, Life>,
    /// By reason and object.
    pub(super) events: BTreeMap<String, Recorded>,
    /// The ReplicaSets that pods are of.
    pub(super) sets: BTreeSet<String>,
    /// What the lines of kubectl printed, in their order.
    pub(super) printed: Vec<Printed>,
}

/// A node from a moment on.
#[derive(Clone, Default)]
pub(super) struct NodeState {
    pub(super) at: f64,
    /// `Ready`, and the taints in order: `key=value:effect`.
    pub(super) text: String,
    /// `timeAdded` of the taints in the same order, seconds; NaN if there is none.
    pub(super) added: Vec<f64>,
}

/// An Event: how often it was recorded, and in which words.
#[derive(Clone, Default)]
pub(super) struct Recorded {
    pub(super) times: u64,
    pub(super) messages: BTreeSet<String>,
}

/// When what happened to a pod.
#[derive(Clone, Default)]
pub(super) struct Life {
    pub(super) group: String,
    pub(super) name: String,
    pub(super) namespace: String,
    /// The name of the workload that it is of, or its own.
    pub(super) workload: String,
    /// Where it is or was.
    pub(super) node: String,
    /// Whether that was taken from the record, since nodes were equally good.
    pub(super) by_lot: bool,
    /// Its place among all pods in the order of creation.
    pub(super) arrival: usize,
    /// Created, bound, ready, deleted, gone.
    pub(super) moments: [Option<f64>; 5],
}

/// What a line printed.
#[derive(Clone, Default)]
pub(super) struct Printed {
    pub(super) line: String,
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// `None` of a line in the background, which nobody waited for.
    pub(super) exit: Option<i64>,
    /// What the engine prints at the end of the time that the recorded line took.
    pub(super) later: Option<Box<Self>>,
}

fn texts<'v>(value: &'v Value, path: &str) -> &'v str {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

impl Seen {
    /// A node is as it is from now on.
    pub(super) fn node(&mut self, t: f64, node: &Value) {
        let conditions = node.pointer("/status/conditions").and_then(Value::as_array);
        let ready = conditions.into_iter().flatten().find(|one| one["type"] == "Ready");
        let ready = ready.map_or("", |ready| texts(ready, "/status"));
        let taints = node.pointer("/spec/taints").and_then(Value::as_array);
        let mut taints: Vec<(String, f64)> = taints
            .into_iter()
            .flatten()
            .map(|taint| {
                let value = match texts(taint, "/value") {
                    "" => String::new(),
                    value => format!("={value}"),
                };
                let text = format!("{}{value}:{}", texts(taint, "/key"), texts(taint, "/effect"));
                let added = seconds_of_day(texts(taint, "/timeAdded"));
                (text, added.map_or(f64::NAN, |added| added - self.zero))
            })
            .collect();
        taints.sort_by(|one, other| one.0.cmp(&other.0));
        let (taints, added): (Vec<String>, Vec<f64>) = taints.into_iter().unzip();
        let text = format!("Ready={ready} [{}]", taints.join(" "));
        self.node_state(texts(node, "/metadata/name"), NodeState { at: t, text, added });
    }

    pub(super) fn node_gone(&mut self, t: f64, name: &str) {
        self.node_state(name, NodeState { at: t, text: "gone".to_owned(), added: Vec::new() });
    }

    fn node_state(&mut self, name: &str, state: NodeState) {
        let states = self.nodes.entry(name.to_owned()).or_default();
        if states.last().is_none_or(|last| last.text != state.text) {
            states.push(NodeState { at: state.at.max(0.0), ..state });
        }
    }

    /// A pod is as it is from now on.
    pub(super) fn pod(&mut self, t: f64, pod: &Value) {
        let uid = texts(pod, "/metadata/uid").to_owned();
        let (group, workload, set) = group_of(pod);
        self.sets.extend(set);
        let arrival = self.pods.len();
        let life = self.pods.entry(uid).or_insert_with(|| Life {
            group,
            workload,
            name: texts(pod, "/metadata/name").to_owned(),
            namespace: texts(pod, "/metadata/namespace").to_owned(),
            node: String::new(),
            by_lot: false,
            arrival,
            moments: [Some(t), None, None, None, None],
        });
        texts(pod, "/spec/nodeName").clone_into(&mut life.node);
        let conditions = pod.pointer("/status/conditions").and_then(Value::as_array);
        let ready = conditions
            .into_iter()
            .flatten()
            .any(|one| one["type"] == "Ready" && one["status"] == "True");
        let facts = [
            true,
            !texts(pod, "/spec/nodeName").is_empty(),
            ready,
            !texts(pod, "/metadata/deletionTimestamp").is_empty(),
        ];
        for (moment, holds) in life.moments.iter_mut().zip(facts) {
            if holds && moment.is_none() {
                *moment = Some(t);
            }
        }
    }

    /// A pod is gone.
    pub(super) fn pod_gone(&mut self, t: f64, uid: &str) {
        if let Some(life) = self.pods.get_mut(uid) {
            // A pod that goes at once is deleted then.
            life.moments[3].get_or_insert(t);
            life.moments[4] = Some(t);
        }
    }

    /// An event was recorded, once or more often, with these messages.
    pub(super) fn event(
        &mut self,
        (reason, kind, name): (&str, &str, &str),
        times: u64,
        messages: impl IntoIterator<Item = String>,
    ) {
        let object = match kind {
            "Pod" => self.group_of_pod(name),
            "ReplicaSet" => without_suffix(name).to_owned(),
            _ => name.to_owned(),
        };
        let recorded = self.events.entry(format!("{reason} {kind}/{object}")).or_default();
        recorded.times += times;
        recorded.messages.extend(messages);
    }

    pub(super) fn group_of_pod(&self, name: &str) -> String {
        let life = self.pods.values().find(|life| life.name == name);
        life.map_or_else(|| name.to_owned(), |life| life.group.clone())
    }

    /// Whether letters of a name were drawn.
    pub(super) fn is_drawn(&self, name: &str) -> bool {
        self.sets.contains(name)
            || self.pods.values().any(|life| life.name == name && life.group.ends_with('*'))
    }
}

/// What a pod is known by: its own name, or its workload where letters of the name are drawn; the
/// name of its workload; and its ReplicaSet.
fn group_of(pod: &Value) -> (String, String, Option<String>) {
    let owners = pod.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    let owner = owners.into_iter().flatten().find(|owner| owner["controller"] == true);
    let own = texts(pod, "/metadata/name").to_owned();
    match owner.map(|owner| (texts(owner, "/kind"), texts(owner, "/name"))) {
        Some(("ReplicaSet", set)) => {
            let name = without_suffix(set);
            (format!("{name}-*"), name.to_owned(), Some(set.to_owned()))
        }
        Some(("DaemonSet" | "Job", name)) => (format!("{name}-*"), name.to_owned(), None),
        Some((_, name)) => (own, name.to_owned(), None),
        None => (own.clone(), own, None),
    }
}

pub(super) fn without_suffix(name: &str) -> &str {
    name.rsplit_once('-').map_or(name, |(begin, _)| begin)
}

/// Seconds since midnight of a time such as `2026-11-22T05:19:14.977Z`.
pub(super) fn seconds_of_day(text: &str) -> Option<f64> {
    let time = text.split_once('T')?.1.trim_end_matches('Z');
    let mut seconds = 0.0;
    for part in time.split(':') {
        seconds = seconds * 60.0 + part.parse::<f64>().ok()?;
    }
    Some(seconds)
}
