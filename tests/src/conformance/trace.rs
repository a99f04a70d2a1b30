//! Traces of a whole control plane: what happened in it, and what the engine makes of the same.
//!
//! A trace is a folder with `objects.yaml`, `actions.json` and `events.jsonl.gz`; the README of
//! `tests/traces` says what they hold. The objects and the actions are played in the engine, and
//! what is seen is compared fact by fact: the state of each node over time, the life of each pod and
//! the node that it is on, events by reason and object and their messages, and what kubectl printed
//! in which order.

mod compare;
mod forecasts;
mod play;
mod recorded;
mod seen;

use std::path::Path;

use super::report::FileReport;

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

/// Plays a trace, and says of how many recorded evictions the engine had a forecast after the last
/// action before them, and which lie outside its range.
///
/// # Errors
/// Those of [`run`].
pub fn forecasts(dir: &Path) -> Result<(usize, Vec<String>), String> {
    let trace = recorded::Trace::read(dir)?;
    let got = play::play(&trace)?;
    Ok(forecasts::compare(&trace, &got.forecasts))
}

/// What is not compared, in words.
pub const TOLERANCES: &str = "tolerated in traces: 1 s of latency at every moment; ages and times in texts 3 s, any age \
    of FailedScheduling, which is counted on in place, and of what the control plane creates \
    when it starts; letters of generated names, identifiers and hashes of templates; addresses \
    of pods; the order of lines with drawn names, of events of about the same time and of a \
    drain, and of the reasons in its errors; which of several budgets is named; a line of \
    kubectl may show the state at its start or at its end; managedFields, resourceVersion and \
    uid of `get -o yaml`; one FailedScheduling more or less for a pod in words that the other \
    side has, too, since a node changes in two writes some ms apart; how often a budget \
    without pods or scale is looked at; events of kubelets, which the recorded ones do not \
    have. Taken from the record: phases of health passes, of the garbage collector, leases and \
    status, times of creation, when lines of kubectl take effect, when the scheduler gets to \
    know pods, how long kubelets take, the order of nodes in a health pass and in the update \
    of a DaemonSet, which of several budgets is looked at, where scores or victims tie the \
    node of a pod, where ranks tie or UIDs decide the pods that a ReplicaSet deletes, and how \
    many pods were tried between two writes of a node. A pass takes 350 us for a node and 25 \
    ms for a write, a kubelet 30 ms to know";
