//! The player of traces, with traces of a few lines each: what it makes of an action, and what it
//! forgives.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use taintlab_tests::conformance::report::FileReport;
use taintlab_tests::conformance::runner::run_dir;

/// The wall clock at 0 s, and the release.
const ZERO: &str = "2026-11-22T05:00:00Z";
const RELEASE: &str = "1.35.0";

/// A moment so many seconds after that.
fn ts(seconds: f64) -> String {
    let millis = (5 * 3_600_000) + (seconds * 1000.0) as i64;
    let (hours, minutes, rest) = (millis / 3_600_000, millis / 60_000 % 60, millis % 60_000);
    format!("2026-11-22T{hours:02}:{minutes:02}:{:02}.{:03}Z", rest / 1000, rest % 1000)
}

fn watch(at: f64, resource: &str, what: &str, object: &Value) -> Value {
    json!({ "ts": ts(at), "src": "watch", "resource": resource, "type": what, "object": object })
}

/// `n1` as it is from then on.
fn node(at: f64, taints: &Value) -> Value {
    let ready = json!([{ "type": "Ready", "status": "True" }]);
    let metadata = json!({ "name": "n1", "uid": "n1", "creationTimestamp": ts(-20.0) });
    let spec = json!({ "taints": taints });
    let node = json!({ "metadata": metadata, "spec": spec, "status": { "conditions": ready } });
    watch(at, "nodes", "MODIFIED", &node)
}

/// An Event of an object, by its UID, that was recorded so often.
fn event(at: f64, uid: &str, reason: &str, object: (&str, &str), said: (u64, &str)) -> Value {
    let (kind, name) = object;
    let event = json!({
        "metadata": { "uid": uid }, "reason": reason, "count": said.0, "message": said.1,
        "involvedObject": { "kind": kind, "name": name },
    });
    watch(at, "events", "ADDED", &event)
}

fn registered(at: f64) -> Value {
    let message = "Node n1 event: Registered Node n1 in Controller";
    event(at, &format!("registered-{at}"), "RegisteredNode", ("Node", "n1"), (1, message))
}

/// Writes a trace of one node, which was registered 3 s before 0 s, and plays it.
fn play(name: &str, objects: &str, actions: &Value, recorded: &[Value]) -> FileReport {
    let dir: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("player").join(name);
    fs::create_dir_all(&dir).unwrap();
    let node_yaml = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n\
                     status: {allocatable: {cpu: \"4\", pods: \"10\"}}\n";
    let objects = format!("{node_yaml}{objects}");
    fs::write(dir.join("objects.yaml"), objects).unwrap();
    let actions =
        json!({ "name": name, "release": RELEASE, "t0": ZERO, "until": 60, "actions": actions });
    fs::write(dir.join("actions.json"), actions.to_string()).unwrap();
    let lease = json!({ "ts": ts(4.0), "src": "kubelet", "node": "n1", "what": "renewed lease" });
    let begin = [node(-3.0, &json!([])), registered(-3.0), lease];
    let file = fs::File::create(dir.join("events.jsonl.gz")).unwrap();
    let mut file = GzEncoder::new(file, Compression::fast());
    for line in begin.iter().chain(recorded) {
        writeln!(file, "{line}").unwrap();
    }
    file.finish().unwrap();
    let mut report = run_dir(&dir, |_| ()).unwrap();
    assert_eq!(report.unreadable, Vec::<String>::new());
    report.files.remove(0)
}

fn action(at: f64, what: &str, more: &Value) -> Value {
    let mut action = json!({ "do": what, "started": at, "ended": at });
    action.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    action
}

/// A line that nobody waited for has no result: what it printed is among the events.
#[test]
fn a_drain_in_the_background_is_compared_by_its_lines() {
    let args = ["drain", "n1"];
    let line = |text: &str| {
        let mut line = json!({ "ts": ts(10.2), "src": "kubectl", "args": args });
        line["stream"] = "stdout".into();
        line["line"] = text.into();
        line
    };
    let drain = json!([action(10.0, "kubectl", &json!({ "args": args }))]);
    let taint = json!([{ "key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule",
                         "timeAdded": ts(10.0) }]);
    let lines = [node(10.0, &taint), line("node/n1 cordoned"), line("node/n1 drained")];
    let report = play("drain", "", &drain, &lines);
    assert!(report.is_success(), "{}", report.differences);
    let other = [node(10.0, &taint), line("node/n1 cordoned")];
    let report = play("drain-other", "", &drain, &other);
    assert!(report.differences.contains("kubectl drain n1"), "{}", report.differences);
    assert!(report.differences.contains("node/n1 drained"), "{}", report.differences);
}

/// A restarted controller manager begins with its first `RegisteredNode`, whenever that is; the
/// moment is taken from the record.
#[test]
fn a_restarted_controller_manager_begins_when_it_was_seen_to() {
    let restart = json!([action(10.0, "restart-kcm", &json!({}))]);
    let with = play("restart", "", &restart, &[registered(27.0)]);
    assert!(with.is_success(), "{}", with.differences);
    let without = play("no-restart", "", &json!([]), &[]);
    assert!(without.is_success(), "{}", without.differences);
    assert_eq!(with.taken, without.taken + 1);
    let missed = play("missed-restart", "", &json!([]), &[registered(27.0)]);
    assert!(missed.differences.contains("RegisteredNode"), "{}", missed.differences);
}

/// A condition without a status is healthy again: False for pressure, and True for Ready.
#[test]
fn a_condition_without_a_status_is_healthy() {
    let set = |at: f64, type_: &str, status: Option<&str>| {
        let mut more = json!({ "node": "n1", "type": type_ });
        if let Some(status) = status {
            more["status"] = status.into();
        }
        action(at, "condition", &more)
    };
    let taint = |key: &str, at: f64| {
        let key = format!("node.kubernetes.io/{key}");
        json!([{ "key": key, "effect": "NoSchedule", "timeAdded": ts(at) }])
    };
    let actions =
        json!([set(10.0, "MemoryPressure", Some("True")), set(20.0, "MemoryPressure", None),]);
    let seen = [node(10.0, &taint("memory-pressure", 10.0)), node(20.0, &json!([]))];
    let report = play("pressure", "", &actions, &seen);
    assert!(report.is_success(), "{}", report.differences);

    let actions = json!([set(30.0, "Ready", Some("False")), set(30.5, "Ready", None)]);
    let report = play("ready", "", &actions, &[]);
    // It is over too soon to be a state.
    assert!(!report.differences.contains("node n1"), "{}", report.differences);
}

/// One attempt of the scheduler more or less is a race, but only in words that both sides have.
#[test]
fn an_attempt_more_is_a_race_only_in_words_of_the_other_side() {
    let pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: big}\n\
               spec: {containers: [{name: c, resources: {requests: {cpu: \"64\"}}}]}\n";
    let message = "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, \
                   preemption: 0/1 nodes are available: 1 Preemption is not helpful for \
                   scheduling.";
    let object = json!({ "metadata": { "name": "big", "namespace": "default", "uid": "big" },
                         "spec": {}, "status": {} });
    let failed = |uid: &str, times: u64, words: &str| {
        event(0.1, uid, "FailedScheduling", ("Pod", "big"), (times, words))
    };
    let added = || watch(0.0, "pods", "ADDED", &object);
    let same = play("attempt", pod, &json!([]), &[added(), failed("a", 1, message)]);
    assert!(same.is_success(), "{}", same.differences);
    let race = play("race", pod, &json!([]), &[added(), failed("a", 2, message)]);
    assert!(race.is_success(), "{}", race.differences);
    let more = play("more", pod, &json!([]), &[added(), failed("a", 3, message)]);
    assert!(more.differences.contains("event FailedScheduling"), "{}", more.differences);
    let words = [added(), failed("a", 1, message), failed("b", 1, "0/1 nodes are available.")];
    let other = play("other-words", pod, &json!([]), &words);
    let differs = |text: &str| other.differences.contains(text);
    assert!(differs("\n  event FailedScheduling Pod/big"), "{}", other.differences);
    assert!(differs("\n  words of event FailedScheduling Pod/big"), "{}", other.differences);
}

/// The node of a pod is no fact if it was one of several that are equally good and taken from the
/// record, and a moment of creation is none, either.
#[test]
fn what_is_taken_from_the_record_is_not_compared() {
    let node = "---\napiVersion: v1\nkind: Node\nmetadata: {name: n0}\n\
                status: {allocatable: {cpu: \"4\", pods: \"10\"}}\n";
    let pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\n\
               spec: {containers: [{name: c}]}\n";
    let of = |at: f64, name: &str, what: &str, status: &Value| {
        let metadata = json!({ "name": "p", "namespace": "default", "uid": "p" });
        let pod = json!({ "metadata": metadata, "spec": { "nodeName": name }, "status": status });
        watch(at, "pods", what, &pod)
    };
    let ready = json!({ "conditions": [{ "type": "Ready", "status": "True" }] });
    let run = |name: &str, objects: &str, on: &str, at: f64| {
        let seen = [
            of(at, "", "ADDED", &json!({})),
            of(at, on, "MODIFIED", &json!({})),
            of(at + 2.0, on, "MODIFIED", &ready),
        ];
        let report = play(name, objects, &json!([]), &seen);
        let differs = report.differences.contains("pod p");
        (report.compared(), report.taken, differs)
    };
    let both = format!("{node}{pod}");
    // One node is no choice, and nothing is taken: the pod is created at 0 s.
    let (compared, taken, differs) = run("only-node", pod, "n1", 0.0);
    assert!(!differs);
    // The other node has a state, which is one fact more.
    assert_eq!(run("tie", &both, "n1", 0.0), (compared + 1 - 1, taken + 1, false));
    assert_eq!(run("late", pod, "n1", 0.5), (compared, taken + 1, false));
    // A node that the engine cannot have chosen is compared.
    assert!(run("elsewhere", pod, "n9", 0.0).2);
}
