//! JSONPath, columns, and selectors of labels and fields, each in a line of kubectl.

use std::cell::RefCell;

use taintlab_core::event::Event;
use taintlab_core::simulator::Simulator;

use super::kubectl::{cluster, run_checked};
use crate::mutate::{Bytes, text};
use crate::show;

const PATHS: &[&str] = &[
    "{.items[*].metadata.name}",
    "{range .items[*]}{.metadata.name}{\"\\t\"}{.spec.nodeName}{\"\\n\"}{end}",
    "{.items[?(@.spec.nodeName==\"worker-1\")].metadata.name}",
    "{.items[?(@.spec.taints[*].effect!='NoExecute')]}",
    "{..name}",
    "{.items[-1:].status.conditions[0:2].type}",
    "{.items[0]['metadata'].labels.app\\.kubernetes\\.io/name}",
    "{$.items[1:5:2]}",
    "NAME:.metadata.name,ZONE:.metadata.labels.topology\\.kubernetes\\.io/zone",
    ".metadata.creationTimestamp",
];

const SELECTORS: &[&str] = &[
    "app=web,disk!=ssd",
    "disk in (ssd, hdd),app notin (a),!gone",
    "app==web",
    "size>3,size<10",
    "spec.nodeName=worker-1,status.phase!=Running",
    "metadata.name=web",
];

const WORDS: &[&str] = &[
    "items",
    "[*]",
    "[?(@.a==1)]",
    "[0]",
    "[-1]",
    "[::2]",
    "..",
    "{range",
    "{end}",
    "metadata",
    "name",
    "labels",
    "==",
    ">=",
    "in",
    "notin",
    "(",
    ")",
    "!",
    ",",
    "[?(@.spec.replicas>1)]",
];

thread_local! {
    static CLUSTER: RefCell<(Simulator, Vec<Event>)> = RefCell::new(cluster());
}

/// Prints with a path, or selects: it ends, and says why if it fails.
pub fn run(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let form = bytes.below(6);
    let kind = *bytes.pick(&["nodes", "pods -A", "deploy", "pdb", "pod alone", "all -A"]);
    let seeds = if form < 4 { PATHS } else { SELECTORS };
    let text = text(&mut bytes, seeds, WORDS, 2_500).replace('\'', "'\\''");
    let line = match form {
        0 | 1 => format!("kubectl get {kind} -o 'jsonpath={text}'"),
        2 => format!("kubectl get {kind} -o 'custom-columns={text}'"),
        3 => format!("kubectl get {kind} '--sort-by={text}'"),
        4 => format!("kubectl get {kind} -l '{text}'"),
        _ => format!("kubectl get {kind} '--field-selector={text}'"),
    };
    show("line", &line);
    CLUSTER.with_borrow(|(simulator, events)| {
        let outcome = run_checked(simulator, events, &line);
        assert!(outcome.commands.is_empty(), "a line that reads changes something: {line}");
    });
}
