//! Traces of a whole control plane: what happened in it, and what the engine makes of the same.
//!
//! A trace is a folder with `objects.yaml`, `actions.json` and `events.jsonl.gz`; the README of
//! `tests/traces` says what they hold. The objects and the actions are played in the engine, and
//! what is seen is compared fact by fact: the state of each node over time, the life of each pod,
//! events by reason and object, and what kubectl printed.

mod compare;
mod play;
mod recorded;
mod seen;

use std::path::Path;

use super::runner::FileReport;

/// Whether a folder is a trace.
#[must_use]
pub fn is_trace(dir: &Path) -> bool {
    dir.join("actions.json").is_file()
}

/// Plays a trace and says how it compares.
///
/// # Errors
/// A file that cannot be read, or an action that the engine does not take.
pub fn run(dir: &Path) -> Result<FileReport, String> {
    let trace = recorded::Trace::read(dir)?;
    let got = play::play(&trace)?;
    Ok(compare::report(&trace, &got))
}

/// What is not compared, in words.
pub const TOLERANCES: &str = "tolerated in traces: 1 s of latency at every moment; ages and \
    times in texts 3 s, any age of FailedScheduling, which is counted on in place, and of the \
    Service that the control plane creates; letters of generated names, identifiers and hashes \
    of templates; addresses of pods; nodes of pods in tables; where scores tie, or the ranks of \
    pods that a ReplicaSet deletes, the node of the recording is taken; managedFields, \
    resourceVersion and uid of `get -o yaml`; one FailedScheduling more or less for a pod, since \
    a node changes in two writes some ms apart; how often a budget without pods or scale is \
    looked at; events of kubelets, which the recorded ones do not have. Phases of health passes, \
    leases and status are those of the recording; a pass takes 350 us for a node and 25 ms for a \
    write, a kubelet 30 ms to know";
