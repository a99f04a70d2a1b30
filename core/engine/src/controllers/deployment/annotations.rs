//! What a Deployment notes on itself and on its ReplicaSets. Mirrors `deployment_util.go`.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use taintlab_rules::api::Workload;

pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
const REVISION_HISTORY: &str = "deployment.kubernetes.io/revision-history";
const DESIRED_REPLICAS: &str = "deployment.kubernetes.io/desired-replicas";
const MAX_REPLICAS: &str = "deployment.kubernetes.io/max-replicas";
/// How long the history may get, in bytes (`maxRevHistoryLengthInChars`).
const MAX_HISTORY: usize = 2_000;
/// Annotations of a Deployment that its ReplicaSets do not get.
const SKIPPED: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    REVISION_HISTORY,
    DESIRED_REPLICAS,
    MAX_REPLICAS,
    "deprecated.deployment.rollback.to",
];

type Annotations = BTreeMap<String, String>;

fn number(set: &Workload, name: &str) -> Option<i64> {
    set.metadata.annotations.get(name)?.parse().ok()
}

/// The revision of a ReplicaSet, 0 if it has none. Mirrors `Revision`.
pub(super) fn revision(set: &Workload) -> i64 {
    number(set, REVISION).unwrap_or(0)
}

/// How many pods its Deployment wanted when the ReplicaSet was last scaled.
pub(super) fn desired_replicas(set: &Workload) -> Option<i64> {
    number(set, DESIRED_REPLICAS)
}

/// How many pods its Deployment could have had, surge included, when it was last scaled.
pub(super) fn max_replicas(set: &Workload) -> Option<i64> {
    number(set, MAX_REPLICAS)
}

/// Notes both; whether that changes anything. Mirrors `SetReplicasAnnotations`.
pub(super) fn set_replicas(annotations: &mut Annotations, desired: i64, max: i64) -> bool {
    let wanted = [(DESIRED_REPLICAS, desired), (MAX_REPLICAS, max)];
    let mut changed = false;
    for (name, number) in wanted {
        changed |= set(annotations, name, number.to_string());
    }
    changed
}

fn set(annotations: &mut Annotations, name: &str, value: String) -> bool {
    if annotations.get(name) == Some(&value) {
        return false;
    }
    annotations.insert(name.to_owned(), value);
    true
}

/// Gives the ReplicaSet of the present template its Deployment's annotations and the newest
/// revision; whether that changes anything. Mirrors `SetNewReplicaSetAnnotations`, without the part
/// for a ReplicaSet that is about to be created.
pub(super) fn sync_new(deployment: &Workload, annotations: &mut Annotations, newest: i64) -> bool {
    let mut changed = false;
    for (name, value) in &deployment.metadata.annotations {
        if !SKIPPED.contains(&name.as_str()) {
            changed |= set(annotations, name, value.clone());
        }
    }
    let known = annotations.get(REVISION).cloned();
    let revision = match known.as_deref() {
        None | Some("") => 0,
        Some(text) => match text.parse::<i64>() {
            Ok(revision) => revision,
            Err(_) => return false,
        },
    };
    if revision >= newest {
        return changed;
    }
    annotations.insert(REVISION.to_owned(), newest.to_string());
    if let Some(known) = known {
        append_history(annotations, &known);
    }
    true
}

/// Keeps the revision that a ReplicaSet had before it was rolled back to; the oldest are dropped
/// when the text gets too long.
fn append_history(annotations: &mut Annotations, revision: &str) {
    let history = annotations.get(REVISION_HISTORY).cloned().unwrap_or_default();
    let mut revisions: Vec<&str> = history.split(',').collect();
    if revisions.first().is_none_or(|first| first.is_empty()) {
        annotations.insert(REVISION_HISTORY.to_owned(), revision.to_owned());
        return;
    }
    let mut length = history.len() + revision.len() + 1;
    let mut dropped = 0;
    for old in &revisions {
        if length <= MAX_HISTORY {
            break;
        }
        length -= old.len() + 1;
        dropped += 1;
    }
    if length <= MAX_HISTORY {
        revisions.drain(..dropped);
        revisions.push(revision);
        annotations.insert(REVISION_HISTORY.to_owned(), revisions.join(","));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_that_is_rolled_back_to_keeps_its_history() {
        let deployment = Workload::default();
        let mut annotations = Annotations::new();
        assert!(sync_new(&deployment, &mut annotations, 1));
        assert_eq!(annotations.get(REVISION_HISTORY), None);
        for newest in [3, 5] {
            assert!(sync_new(&deployment, &mut annotations, newest));
        }
        assert!(!sync_new(&deployment, &mut annotations, 4));
        assert_eq!(annotations.get(REVISION).unwrap(), "5");
        assert_eq!(annotations.get(REVISION_HISTORY).unwrap(), "1,3");
        annotations.insert(REVISION_HISTORY.into(), "7,".repeat(999) + "8");
        assert!(sync_new(&deployment, &mut annotations, 10_000));
        let history = annotations.get(REVISION_HISTORY).unwrap();
        assert!(history.len() <= MAX_HISTORY && history.ends_with(",8,5"), "{history}");
    }
}
