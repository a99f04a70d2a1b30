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
    /// Times at which the garbage collector deleted pods.
    pub(super) collected: Vec<f64>,
    /// Times that kubelets took to confirm deletions, beside the grace period.
    pub(super) confirmed_after: Vec<f64>,
    /// Budgets chosen among several, each with its time.
    pub(super) chosen: Vec<(f64, String)>,
    /// Changes of a node's `spec`: the time and the node.
    pub(super) node_writes: Vec<(f64, String)>,
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
            collected: Vec::new(),
            chosen: Vec::new(),
            confirmed_after: Vec::new(),
            node_writes: Vec::new(),
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

    /// When a line of kubectl that changes something began to do so: it may take a while to start.
    pub(super) fn takes_effect(&self, action: &RecordedAction) -> Option<f64> {
        let words = action.texts("args");
        if action.what != "kubectl" || action.only_looks() {
            return None;
        }
        let within = action.started..=action.ended.max(action.started + EVENTS_LATE);
        let names = |name: &str| words.iter().any(|word| word.rsplit('/').next() == Some(name));
        let writes = self.node_writes.iter().filter(|(_, node)| names(node));
        let writes = writes.map(|(at, _)| *at);
        let is_drain = words.first().is_some_and(|verb| verb == "drain");
        let lives = self.seen.pods.values();
        let drained = lives.clone().filter(|life| is_drain && names(&life.node));
        let drained = drained.filter_map(|life| life.moments[3]);
        let own = lives.filter(|life| !is_drain && (names(&life.name) || names(&life.workload)));
        let own = own.flat_map(|life| [life.moments[0], life.moments[3]]).flatten();
        let effects = writes.chain(drained).chain(own);
        effects.filter(|at| within.contains(at)).min_by(f64::total_cmp)
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
        let mut kills: BTreeMap<String, f64> = BTreeMap::new();
        let mut specs: BTreeMap<String, Value> = BTreeMap::new();
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
                    let known = specs.insert(name.clone(), object["spec"].clone());
                    if known.is_some_and(|known| known != object["spec"]) {
                        self.node_writes.push((at, name.clone()));
                    }
                    self.created.entry(name).or_insert_with(|| created.to_owned());
                    self.seen.node(at, &object);
                }
                ("watch", "pods", "DELETED", _) => {
                    let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
                    self.seen.pod(at, &object);
                    self.seen.pod_gone(at, uid);
                    let node = object["spec"]["nodeName"].as_str().unwrap_or_default();
                    let restored = self.actions.iter().filter(|action| {
                        action.what == "restore"
                            && action.texts("nodes").iter().any(|it| it == node)
                    });
                    let restored = restored.map(|action| action.started).filter(|it| *it < at);
                    let deleted = self.seen.pods.get(uid).and_then(|life| life.moments[3]);
                    let grace = kills.get(uid).copied().unwrap_or_default();
                    let after = restored.chain(deleted).fold(f64::NAN, f64::max) + grace;
                    if grace > 0.0 && (0.0..EVENTS_LATE).contains(&(at - after)) {
                        self.confirmed_after.push(at - after);
                    }
                }
                ("watch", "pods", ..) => {
                    let grace = object["metadata"]["deletionGracePeriodSeconds"].as_f64();
                    if let Some(grace) = grace.filter(|grace| *grace > 0.0) {
                        let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
                        kills.entry(uid.to_owned()).or_insert(grace);
                    }
                    let conditions = object["status"]["conditions"].as_array();
                    let mut reasons = conditions.into_iter().flatten().map(|one| &one["reason"]);
                    if reasons.any(|reason| reason == "DeletionByPodGC") {
                        self.collected.push(at);
                    }
                    self.seen.pod(at, &object);
                }
                ("watch", "events", ..) => {
                    if object["reason"] == "RegisteredNode" {
                        self.registered.push(at);
                    }
                    self.scaled_down.extend(deleted_by_replica_set(&object));
                    if object["reason"] == "MultiplePodDisruptionBudgets" {
                        let name = message(&object).and_then(|text| text.split('"').nth_back(1));
                        let of = ["involvedObject", "regarding"].map(|it| &object[it]["namespace"]);
                        let namespace = of.into_iter().find_map(Value::as_str);
                        let (namespace, name) = (namespace.unwrap_or("default"), name);
                        self.chosen.extend(name.map(|name| (at, format!("{namespace}/{name}"))));
                    }
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
        self.settle_passes();
        self.confirmed_after.sort_by(f64::total_cmp);
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

/// Time until a pass has written its first finding.
const FIRST_WRITE: f64 = 0.015;
/// Longest time between a first pass and its Events.
const EVENTS_LATE: f64 = 1.0;

impl Trace {
    /// Events tell late that nodes were registered in the first pass of a controller manager. Where
    /// one of its passes found a node lost, that moment tells better when the passes are.
    fn settle_passes(&mut self) {
        let period = 5.0 + 350e-6 * self.seen.nodes.len() as f64;
        let lost = self.seen.nodes.values().flatten();
        let lost = lost.filter(|state| state.text.starts_with("Ready=Unknown"));
        let mut lost: Vec<f64> = lost.map(|state| state.at - FIRST_WRITE).collect();
        lost.sort_by(f64::total_cmp);
        let restarts = self.actions.iter().filter(|action| action.what == "restart-kcm");
        let restarts: Vec<f64> = restarts.map(|action| action.started).collect();
        for begin in &mut self.registered {
            let end = restarts.iter().copied().find(|at| at >= begin).unwrap_or(f64::INFINITY);
            let Some(found) = lost.iter().find(|at| **at > *begin && **at < end) else { continue };
            let passes = ((found - *begin) / period).round();
            let shift = found - *begin - passes * period;
            if shift.abs() < EVENTS_LATE {
                *begin += shift;
            }
        }
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
