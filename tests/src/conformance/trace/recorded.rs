//! A trace as it was recorded.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use serde_json::Value;

use super::seen::{Printed, Seen, seconds_of_day};

/// The recorded run.
pub(super) struct Trace {
    pub(super) name: String,
    /// The release of the control plane, such as `1.34.2`.
    pub(super) release: String,
    /// The command lines of the control plane.
    pub(super) flags: String,
    pub(super) objects: String,
    pub(super) actions: Vec<RecordedAction>,
    /// The wall clock when objects were created.
    pub(super) t0: String,
    /// Until when it was recorded, in seconds.
    pub(super) until: f64,
    /// When the node lifecycle controller first looked at nodes, in seconds, before 0.
    pub(super) first_pass: f64,
    /// When nodes were registered in the controller, in order: a controller manager that was
    /// restarted registers them anew in its first pass.
    pub(super) registered: Vec<f64>,
    /// When each kubelet renewed its lease first after 0.
    pub(super) leases: BTreeMap<String, f64>,
    /// When each kubelet posted its status first by the clock: its ticks.
    pub(super) posts: BTreeMap<String, f64>,
    /// `creationTimestamp` of nodes.
    pub(super) created: BTreeMap<String, String>,
    /// The pods that ReplicaSets deleted, in order.
    pub(super) scaled_down: Vec<String>,
    /// Nodes that were uncordoned after 0: when, and when their taint was gone.
    pub(super) uncordoned: Vec<(String, f64, f64)>,
    /// Vain attempts: time and pod.
    pub(super) attempts: Vec<(f64, String)>,
    pub(super) seen: Seen,
}

/// What was done to the cluster.
#[derive(Deserialize)]
pub(super) struct RecordedAction {
    #[serde(rename = "do")]
    pub(super) what: String,
    pub(super) started: f64,
    #[serde(default)]
    pub(super) ended: f64,
    #[serde(default)]
    pub(super) result: Value,
    #[serde(flatten)]
    pub(super) arguments: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
struct Actions {
    name: String,
    /// Traces of 1.20.2 do not say it.
    #[serde(default)]
    release: Option<String>,
    t0: String,
    until: f64,
    actions: Vec<RecordedAction>,
}

impl RecordedAction {
    pub(super) fn text(&self, name: &str) -> &str {
        self.arguments.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// Whether it is a line of kubectl that changes nothing.
    pub(super) fn only_looks(&self) -> bool {
        let looks = ["get", "describe", "version"];
        self.what == "kubectl"
            && self.texts("args").first().is_some_and(|verb| looks.contains(&verb.as_str()))
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.arguments.get(name).and_then(Value::as_f64)
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
        let last = actions.actions.iter().map(|action| action.ended).fold(0.0, f64::max);
        let mut trace = Self {
            name: actions.name,
            release: actions.release.unwrap_or_else(|| "1.20".to_owned()),
            flags: read("flags.txt").unwrap_or_default(),
            objects: read("objects.yaml")?,
            actions: actions.actions,
            t0: actions.t0,
            until: actions.until.max(last),
            first_pass: f64::NAN,
            registered: Vec::new(),
            leases: BTreeMap::new(),
            posts: BTreeMap::new(),
            created: BTreeMap::new(),
            scaled_down: Vec::new(),
            uncordoned: Vec::new(),
            attempts: Vec::new(),
            seen: Seen::default(),
        };
        let lines = trace.read_events(&events)?;
        for action in trace.actions.iter().filter(|action| action.what == "kubectl") {
            let text = |name: &str| action.result[name].as_str().unwrap_or_default().to_owned();
            let line = action.texts("args").join(" ");
            let mut printed = Printed {
                stdout: text("stdout"),
                stderr: text("stderr"),
                exit: action.result["exit"].as_i64(),
                line,
                later: None,
            };
            // A line in the background has no result: what it printed is among the events.
            if action.result.is_null() {
                for one in lines.iter().filter(|one| one.command == printed.line) {
                    let is_error = one.stream == "stderr";
                    let to = if is_error { &mut printed.stderr } else { &mut printed.stdout };
                    to.push_str(&one.line);
                    to.push('\n');
                }
            }
            trace.seen.printed.push(printed);
        }
        Ok(trace)
    }

    /// How many values of the record the engine is given, since nobody can know them.
    pub(super) fn taken(&self) -> usize {
        let [leases, posts] = [&self.leases, &self.posts].map(BTreeMap::len);
        1 + leases + posts + self.created.len() + self.scaled_down.len()
    }

    fn read_events(&mut self, text: &str) -> Result<Vec<TimedLine>, String> {
        let zero = time(&self.t0)?;
        self.seen.zero = zero;
        let mut lines = Vec::new();
        let mut cordons: BTreeMap<String, (bool, f64)> = BTreeMap::new();
        // The last version of each Event counts, which has the count.
        let mut recorded: BTreeMap<String, (Value, Vec<String>)> = BTreeMap::new();
        for line in text.lines() {
            let mut record: Value =
                serde_json::from_str(line).map_err(|error| format!("events.jsonl: {error}"))?;
            let object = record["object"].take();
            let of = |name: &str| record[name].as_str().unwrap_or_default();
            let at = time(of("ts"))? - zero;
            if !(-43_200.0..=43_200.0).contains(&at) {
                return Err("a trace over midnight is not read".to_owned());
            }
            match (of("src"), of("resource"), of("type"), of("what")) {
                ("watch", "nodes", "DELETED", _) => {
                    let name = object["metadata"]["name"].as_str().unwrap_or_default();
                    self.seen.node_gone(at, name);
                }
                ("watch", "nodes", ..) => {
                    let of = |name: &str| object["metadata"][name].as_str().unwrap_or_default();
                    let (name, created) = (of("name").to_owned(), of("creationTimestamp"));
                    let taints = object["spec"]["taints"].as_array().into_iter().flatten();
                    let mut keys = taints.map(|taint| &taint["key"]);
                    let tainted = keys.any(|key| key == "node.kubernetes.io/unschedulable");
                    let cordoned = object["spec"]["unschedulable"] == true;
                    let known = cordons.entry(name.clone()).or_insert((cordoned, f64::NAN));
                    if known.0 && !cordoned {
                        known.1 = at;
                    }
                    known.0 = cordoned;
                    if !tainted && known.1 >= 0.0 {
                        self.uncordoned.push((name.clone(), known.1, at));
                        known.1 = f64::NAN;
                    }
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
                    if object["reason"] == "RegisteredNode" {
                        self.registered.push(at);
                    }
                    self.scaled_down.extend(deleted_by_replica_set(&object));
                    if object["reason"] == "FailedScheduling" {
                        let times = [&object["series"]["lastObservedTime"], &object["eventTime"]];
                        let tried = times.into_iter().find_map(Value::as_str);
                        let names = ["involvedObject", "regarding"].map(|it| &object[it]["name"]);
                        let pod = names.into_iter().find_map(Value::as_str).unwrap_or_default();
                        let tried = tried.map_or(Ok(f64::NAN), time)? - zero;
                        self.attempts.push((tried, pod.to_owned()));
                    }
                    if at >= 0.0 {
                        let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
                        let known = recorded.entry(uid.to_owned()).or_default();
                        known.1.extend(message(&object).map(str::to_owned));
                        known.0 = object;
                    }
                }
                ("kubelet", _, _, "renewed lease") if at >= 0.0 => {
                    self.leases.entry(of("node").to_owned()).or_insert(at);
                }
                ("kubelet", _, _, "posted status") => {
                    self.posts.entry(of("node").to_owned()).or_insert(at);
                }
                ("kubectl", ..) => {
                    let words = record["args"].as_array().into_iter().flatten();
                    let words: Vec<&str> = words.filter_map(Value::as_str).collect();
                    let (stream, line) = (of("stream").to_owned(), of("line").to_owned());
                    lines.push(TimedLine { command: words.join(" "), stream, line });
                }
                _ => {}
            }
        }
        self.first_pass = *self.registered.first().ok_or("no node was registered")?;
        // Nodes begin as they are when objects are created.
        for states in self.seen.nodes.values_mut() {
            let begin = states.iter().rposition(|state| state.at <= 0.0).unwrap_or(0);
            states.drain(..begin);
        }
        for (event, messages) in recorded.into_values() {
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
            self.seen.event((&reason, &kind, &name), count, messages);
        }
        Ok(lines)
    }
}

/// A line that kubectl printed while it ran.
struct TimedLine {
    command: String,
    stream: String,
    line: String,
}

fn message(event: &Value) -> Option<&str> {
    event["message"].as_str().or_else(|| event["note"].as_str())
}

/// The pod of which an Event says that a ReplicaSet has deleted it. One that is repeated has the
/// last of several pods.
fn deleted_by_replica_set(event: &Value) -> Option<String> {
    let object = [&event["involvedObject"], &event["regarding"]];
    let is_of_set = object.iter().any(|object| object["kind"] == "ReplicaSet");
    if !is_of_set || event["reason"] != "SuccessfulDelete" {
        return None;
    }
    message(event)?.rsplit_once("Deleted pod: ").map(|(_, pod)| pod.to_owned())
}

fn time(text: &str) -> Result<f64, String> {
    seconds_of_day(text).ok_or_else(|| format!("`{text}` is no time"))
}
