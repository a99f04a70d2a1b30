//! A trace as it was recorded.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use serde_json::Value;

use super::seen::{Printed, Seen};

/// The recorded run.
pub(super) struct Trace {
    pub(super) name: String,
    pub(super) objects: String,
    pub(super) actions: Vec<RecordedAction>,
    /// The wall clock when objects were created.
    pub(super) t0: String,
    /// Until when it was recorded, in seconds.
    pub(super) until: f64,
    /// When the node lifecycle controller first looked at nodes, in seconds, before 0.
    pub(super) first_pass: f64,
    /// When each kubelet renewed its lease first after 0.
    pub(super) leases: BTreeMap<String, f64>,
    /// When each kubelet posted its status first by the clock: its ticks.
    pub(super) posts: BTreeMap<String, f64>,
    /// `creationTimestamp` of nodes.
    pub(super) created: BTreeMap<String, String>,
    /// The pods that ReplicaSets deleted, in order.
    pub(super) scaled_down: Vec<String>,
    pub(super) seen: Seen,
}

/// What was done to the cluster.
#[derive(Deserialize)]
pub(super) struct RecordedAction {
    #[serde(rename = "do")]
    pub(super) what: String,
    pub(super) started: f64,
    #[serde(default)]
    pub(super) result: Value,
    #[serde(flatten)]
    pub(super) arguments: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
struct Actions {
    name: String,
    t0: String,
    until: f64,
    actions: Vec<RecordedAction>,
}

impl RecordedAction {
    pub(super) fn text(&self, name: &str) -> &str {
        self.arguments.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        let values = self.arguments.get(name).and_then(Value::as_array);
        values.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }
}

impl Trace {
    pub(super) fn read(dir: &Path) -> Result<Self, String> {
        let read = |name: &str| {
            let path = dir.join(name);
            fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let actions: Actions = serde_json::from_str(&read("actions.json")?)
            .map_err(|error| format!("actions.json: {error}"))?;
        let path = dir.join("events.jsonl.gz");
        let file = fs::File::open(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut events = String::new();
        MultiGzDecoder::new(file)
            .read_to_string(&mut events)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let mut trace = Self {
            name: actions.name,
            objects: read("objects.yaml")?,
            actions: actions.actions,
            t0: actions.t0,
            until: actions.until,
            first_pass: f64::NAN,
            leases: BTreeMap::new(),
            posts: BTreeMap::new(),
            created: BTreeMap::new(),
            scaled_down: Vec::new(),
            seen: Seen::default(),
        };
        trace.read_events(&events)?;
        for action in trace.actions.iter().filter(|action| action.what == "kubectl") {
            let text = |name: &str| action.result[name].as_str().unwrap_or_default().to_owned();
            trace.seen.printed.push(Printed {
                line: action.texts("args").join(" "),
                stdout: text("stdout"),
                stderr: text("stderr"),
                exit: action.result["exit"].as_i64().unwrap_or_default(),
            });
        }
        Ok(trace)
    }

    fn read_events(&mut self, text: &str) -> Result<(), String> {
        let zero = seconds_of_day(&self.t0)?;
        // The last version of each Event counts, which has the count.
        let mut recorded: BTreeMap<String, Value> = BTreeMap::new();
        for line in text.lines() {
            let mut record: Value =
                serde_json::from_str(line).map_err(|error| format!("events.jsonl: {error}"))?;
            let object = record["object"].take();
            let of = |name: &str| record[name].as_str().unwrap_or_default();
            let at = seconds_of_day(of("ts"))? - zero;
            if !(-43_200.0..=43_200.0).contains(&at) {
                return Err("a trace over midnight is not read".to_owned());
            }
            match (of("src"), of("resource"), of("type"), of("what")) {
                ("watch", "nodes", "DELETED", _) => {
                    let name = object["metadata"]["name"].as_str().unwrap_or_default();
                    self.seen.node_state(at, name, "gone".to_owned());
                }
                ("watch", "nodes", ..) => {
                    let of = |name: &str| object["metadata"][name].as_str().unwrap_or_default();
                    let (name, created) = (of("name").to_owned(), of("creationTimestamp"));
                    self.created.entry(name).or_insert_with(|| created.to_owned());
                    self.seen.node(at, &object);
                }
                ("watch", "pods", "DELETED", _) => {
                    let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
                    self.seen.pod(at, &object);
                    self.seen.pod_gone(at, uid);
                }
                ("watch", "pods", ..) => self.seen.pod(at, &object),
                ("watch", "events", ..) => {
                    if object["reason"] == "RegisteredNode" && self.first_pass.is_nan() {
                        self.first_pass = at;
                    }
                    self.scaled_down.extend(deleted_by_replica_set(&object));
                    if at >= 0.0 {
                        let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
                        recorded.insert(uid.to_owned(), object);
                    }
                }
                ("kubelet", _, _, "renewed lease") if at >= 0.0 => {
                    self.leases.entry(of("node").to_owned()).or_insert(at);
                }
                ("kubelet", _, _, "posted status") => {
                    self.posts.entry(of("node").to_owned()).or_insert(at);
                }
                _ => {}
            }
        }
        if self.first_pass.is_nan() {
            return Err("no node was registered".to_owned());
        }
        // Nodes begin as they are when objects are created.
        for states in self.seen.nodes.values_mut() {
            let begin = states.iter().rposition(|(t, _)| *t <= 0.0).unwrap_or(0);
            states.drain(..begin);
        }
        for event in recorded.into_values() {
            let object = ["involvedObject", "regarding"]
                .into_iter()
                .map(|name| &event[name])
                .find(|object| !object.is_null())
                .unwrap_or(&Value::Null);
            let of = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let counts = [&event["series"]["count"], &event["count"], &event["deprecatedCount"]];
            let count = counts.into_iter().find_map(Value::as_u64).unwrap_or(1).max(1);
            let (reason, kind, name) =
                (of(&event["reason"]), of(&object["kind"]), of(&object["name"]));
            self.seen.event(&reason, &kind, &name, count);
        }
        Ok(())
    }
}

/// The pod of which an Event says that a ReplicaSet has deleted it. One that is repeated has the
/// last of several pods.
fn deleted_by_replica_set(event: &Value) -> Option<String> {
    let object = [&event["involvedObject"], &event["regarding"]];
    let is_of_set = object.iter().any(|object| object["kind"] == "ReplicaSet");
    if !is_of_set || event["reason"] != "SuccessfulDelete" {
        return None;
    }
    let message = event["message"].as_str().or_else(|| event["note"].as_str())?;
    message.rsplit_once("Deleted pod: ").map(|(_, pod)| pod.to_owned())
}

/// Seconds since midnight of a time such as `2026-11-22T05:19:14.977Z`.
fn seconds_of_day(text: &str) -> Result<f64, String> {
    let wrong = || format!("`{text}` is no time");
    let time = text.split_once('T').ok_or_else(wrong)?.1.trim_end_matches('Z');
    let mut seconds = 0.0;
    for part in time.split(':') {
        seconds = seconds * 60.0 + part.parse::<f64>().map_err(|_| wrong())?;
    }
    Ok(seconds)
}
