//! Jobs whose pods have numbers: each number is done when one of its pods has ended well.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::completions;
use crate::api::{JobStatus, Pod, PodPhase, Workload};
use crate::release::KubernetesRelease;
use crate::time::Time;

/// The annotation, and label, that has a pod's number.
const INDEX: &str = "batch.kubernetes.io/job-completion-index";
/// The field of the status that has the numbers that are done.
const COMPLETED: &str = "completedIndexes";
/// The field of the status that has the numbers that have failed.
const FAILED: &str = "failedIndexes";
/// The annotations that say how many pods of its number have failed before a pod, and how many of
/// these failures do not count.
const FAILURES: &str = "batch.kubernetes.io/job-index-failure-count";
const IGNORED_FAILURES: &str = "batch.kubernetes.io/job-index-ignored-failure-count";

/// How many numbers a Job has, if its pods have any.
pub(super) fn indexed_completions(job: &Workload, release: KubernetesRelease) -> Option<i64> {
    let indexed = release.has_indexed_jobs() && job.text("completionMode") == "Indexed";
    completions(job).filter(|_| indexed)
}

/// The number of a pod.
pub(super) fn index_of(pod: &Pod) -> Option<i64> {
    pod.metadata.annotations.get(INDEX)?.parse().ok()
}

/// How often each number of a Job may fail, if it says so. Mirrors `hasBackoffLimitPerIndex`.
pub(super) fn limit_per_index(job: &Workload, release: KubernetesRelease) -> Option<i64> {
    let indexed = indexed_completions(job, release).is_some();
    job.number("backoffLimitPerIndex").filter(|_| indexed && release.has_backoff_limit_per_index())
}

/// What is known of the failures of one number. Mirrors `podsWithDelayedDeletionPerIndex`.
#[derive(Clone, Copy, Debug)]
pub(super) struct IndexFailures {
    /// How many count.
    pub(super) counted: i64,
    /// How many do not.
    pub(super) ignored: i64,
    /// When the last one was.
    pub(super) last: Time,
}

impl IndexFailures {
    /// Those after this pod has failed. Mirrors `getNewIndexFailureCounts`.
    pub(super) fn after(pod: &Pod, counts: bool, last: Time) -> Self {
        let before = |name: &str| -> i64 {
            let number = pod.metadata.annotations.get(name).and_then(|text| text.parse().ok());
            number.filter(|number| (0..=i64::from(i32::MAX)).contains(number)).unwrap_or(0)
        };
        Self {
            counted: before(FAILURES) + i64::from(counts),
            ignored: before(IGNORED_FAILURES) + i64::from(!counts),
            last,
        }
    }

    /// How many there were, whether or not they count.
    pub(super) fn all(&self) -> u32 {
        u32::try_from(self.counted + self.ignored).unwrap_or(u32::MAX)
    }

    /// Says them on the pod that comes after. Mirrors `addIndexFailureCountAnnotation`.
    pub(super) fn annotate(failures: Option<&Self>, pod: &mut Pod) {
        let annotations = &mut pod.metadata.annotations;
        let counted = failures.map_or(0, |failures| failures.counted);
        annotations.insert(FAILURES.into(), counted.to_string());
        if let Some(failures) = failures.filter(|failures| failures.ignored > 0) {
            annotations.insert(IGNORED_FAILURES.into(), failures.ignored.to_string());
        }
    }
}

/// The numbers that are done, according to the status and to the pods. Mirrors
/// `calculateSucceededIndexes`.
pub(super) fn completed_indexes(
    completions: i64,
    status: &JobStatus,
    pods: &[&Arc<Pod>],
) -> BTreeSet<i64> {
    let mut completed = noted(completions, status, COMPLETED);
    let succeeded = pods.iter().filter(|pod| pod.status.phase == PodPhase::Succeeded);
    completed.extend(succeeded.filter_map(|pod| index_of(pod)));
    completed.retain(|index| (0..completions).contains(index));
    completed
}

/// The numbers that have failed according to the status.
pub(super) fn noted_failed(completions: i64, status: &JobStatus) -> BTreeSet<i64> {
    noted(completions, status, FAILED)
}

/// The numbers in a field of the status. Mirrors `parseIndexesFromString`.
fn noted(completions: i64, status: &JobStatus, field: &str) -> BTreeSet<i64> {
    let known = status.other.get(field).and_then(serde_json::Value::as_str);
    let ranges = known.unwrap_or_default().split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse::<i64>().ok()?..=last.parse::<i64>().ok()?.min(completions - 1))
    });
    ranges.flatten().collect()
}

/// Notes in the status which numbers are done: `0-2,5`.
pub(super) fn record_completed(status: &mut JobStatus, completed: &BTreeSet<i64>) {
    record(status, COMPLETED, completed);
}

/// The same with those that have failed.
pub(super) fn record_failed(status: &mut JobStatus, failed: &BTreeSet<i64>) {
    record(status, FAILED, failed);
}

fn record(status: &mut JobStatus, field: &str, indexes: &BTreeSet<i64>) {
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for index in indexes {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *index => *last = *index,
            _ => ranges.push((*index, *index)),
        }
    }
    let text = |(first, last): (i64, i64)| match last - first {
        0 => first.to_string(),
        1 => format!("{first},{last}"),
        _ => format!("{first}-{last}"),
    };
    let texts: Vec<String> = ranges.into_iter().map(text).collect();
    status.other.set(field, texts.join(",").into());
}

/// The numbers that are neither done nor those of one of these pods. Mirrors
/// `firstPendingIndexes`.
pub(super) fn free_indexes<'a>(
    completions: i64,
    completed: &BTreeSet<i64>,
    pods: impl Iterator<Item = &'a Arc<Pod>>,
) -> Vec<i64> {
    let taken: BTreeSet<i64> = pods.filter_map(|pod| index_of(pod)).collect();
    let is_free = |index: &i64| !completed.contains(index) && !taken.contains(index);
    (0..completions).filter(is_free).collect()
}

/// Gives a pod its number.
pub(super) fn number_pod(pod: &mut Pod, job: &Workload, index: i64, release: KubernetesRelease) {
    pod.metadata.annotations.insert(INDEX.into(), index.to_string());
    if release.labels_pods_with_completion_index() {
        pod.metadata.labels.insert(INDEX.into(), index.to_string());
    }
    pod.spec.other.set("hostname", numbered_name(job, index).into());
}

/// What the names of the pods of a number begin with.
pub(super) fn numbered_name(job: &Workload, index: i64) -> String {
    format!("{}-{index}", job.metadata.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_read_again() {
        for (indexes, text) in [
            (&[][..], ""),
            (&[3], "3"),
            (&[0, 1], "0,1"),
            (&[0, 1, 2, 5], "0-2,5"),
            (&[1, 3, 4, 5, 7], "1,3-5,7"),
        ] {
            let mut status = JobStatus::default();
            let completed: BTreeSet<i64> = indexes.iter().copied().collect();
            record_completed(&mut status, &completed);
            assert_eq!(status.other.get(COMPLETED).unwrap(), text);
            assert_eq!(completed_indexes(8, &status, &[]), completed);
        }
    }
}
