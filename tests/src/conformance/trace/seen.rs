//! What is seen of a cluster, in the recording and in the engine.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// What is seen of a run; all times are seconds since objects were created.
#[derive(Default)]
pub(super) struct Seen {
    /// By node: `Ready` and the taints from a moment on.
    pub(super) nodes: BTreeMap<String, Vec<(f64, String)>>,
    /// By UID.
    pub(super) pods: BTreeMap<String, Life>,
    /// How often, by reason and object.
    pub(super) events: BTreeMap<String, u64>,
    /// The ReplicaSets that pods are of.
    pub(super) sets: BTreeSet<String>,
    /// What the lines of kubectl printed, in their order.
    pub(super) printed: Vec<Printed>,
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
    /// Created, bound, ready, deleted, gone.
    pub(super) moments: [Option<f64>; 5],
}

/// What a line printed.
#[derive(Default)]
pub(super) struct Printed {
    pub(super) line: String,
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) exit: i64,
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
        let mut taints: Vec<String> = taints
            .into_iter()
            .flatten()
            .map(|taint| format!("{}:{}", texts(taint, "/key"), texts(taint, "/effect")))
            .collect();
        taints.sort();
        let state = format!("Ready={ready} [{}]", taints.join(" "));
        self.node_state(t, texts(node, "/metadata/name"), state);
    }

    pub(super) fn node_state(&mut self, t: f64, name: &str, state: String) {
        let states = self.nodes.entry(name.to_owned()).or_default();
        if states.last().is_none_or(|(_, last)| *last != state) {
            states.push((t.max(0.0), state));
        }
    }

    /// A pod is as it is from now on.
    pub(super) fn pod(&mut self, t: f64, pod: &Value) {
        let uid = texts(pod, "/metadata/uid").to_owned();
        let (group, workload, set) = group_of(pod);
        self.sets.extend(set);
        let life = self.pods.entry(uid).or_insert_with(|| Life {
            group,
            workload,
            name: texts(pod, "/metadata/name").to_owned(),
            namespace: texts(pod, "/metadata/namespace").to_owned(),
            node: String::new(),
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

    /// An event was recorded.
    pub(super) fn event(&mut self, reason: &str, kind: &str, name: &str, times: u64) {
        let object = match kind {
            "Pod" => self.group_of_pod(name),
            "ReplicaSet" => without_suffix(name).to_owned(),
            _ => name.to_owned(),
        };
        *self.events.entry(format!("{reason} {kind}/{object}")).or_default() += times;
    }

    pub(super) fn group_of_pod(&self, name: &str) -> String {
        let life = self.pods.values().find(|life| life.name == name);
        life.map_or_else(|| name.to_owned(), |life| life.group.clone())
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
