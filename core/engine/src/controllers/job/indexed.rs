//! Jobs whose pods have numbers: each number is done when one of its pods has ended well.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use taintlab_rules::api::{JobStatus, Pod, PodPhase, Workload};
use taintlab_rules::order::OrderedMap;
use taintlab_rules::release::KubernetesRelease;
use taintlab_rules::time::Time;

use super::completions;

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
    fn noted(pod: &Pod, name: &str) -> i64 {
        let number = pod.metadata.annotations.get(name).and_then(|text| text.parse().ok());
        number.filter(|number| (0..=i64::from(i32::MAX)).contains(number)).unwrap_or(0)
    }

    /// Counted failures of this index before this pod.
    pub(super) fn before(pod: &Pod) -> i64 {
        Self::noted(pod, FAILURES)
    }

    /// All failures of this index before this pod, ignored ones included.
    pub(super) fn all_before(pod: &Pod) -> i64 {
        Self::noted(pod, FAILURES) + Self::noted(pod, IGNORED_FAILURES)
    }

    /// Those after this pod has failed. Mirrors `getNewIndexFailureCounts`.
    pub(super) fn after(pod: &Pod, counts: bool, last: Time) -> Self {
        Self {
            counted: Self::noted(pod, FAILURES) + i64::from(counts),
            ignored: Self::noted(pod, IGNORED_FAILURES) + i64::from(!counts),
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

/// Some of the numbers of a Job, as ranges from the first to the last: there may be 2³¹ of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Indexes(OrderedMap<i64, i64>);

impl Indexes {
    /// The numbers in a field of the status. Mirrors `parseIndexesFromString`.
    fn noted(completions: i64, status: &JobStatus, field: &str) -> Self {
        let known = status.other.get(field).and_then(serde_json::Value::as_str);
        Self::parse(completions, known.unwrap_or_default())
    }

    /// Those of a text such as `0-2,5`.
    pub(super) fn parse(completions: i64, text: &str) -> Self {
        let mut indexes = Self::default();
        for range in text.split(',') {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            if let (Ok(first), Ok(last)) = (first.parse::<i64>(), last.parse::<i64>()) {
                indexes.insert(first.max(0), last.min(completions - 1));
            }
        }
        indexes
    }

    /// Those that are done, according to the status and to the pods. Mirrors
    /// `calculateSucceededIndexes`.
    pub(super) fn completed(completions: i64, status: &JobStatus, pods: &[&Arc<Pod>]) -> Self {
        let mut completed = Self::noted(completions, status, COMPLETED);
        let succeeded = pods.iter().filter(|pod| pod.status.phase == PodPhase::Succeeded);
        completed.extend(completions, succeeded.filter_map(|pod| index_of(pod)));
        completed
    }

    /// Those that have failed according to the status.
    pub(super) fn failed(completions: i64, status: &JobStatus) -> Self {
        Self::noted(completions, status, FAILED)
    }

    /// Adds those of a Job with so many that are not in it.
    pub(super) fn extend(&mut self, completions: i64, indexes: impl Iterator<Item = i64>) {
        for index in indexes.filter(|index| (0..completions).contains(index)) {
            self.insert(index, index);
        }
    }

    /// Adds those of another one.
    pub(super) fn join(&mut self, other: &Self) {
        for (first, last) in &other.0 {
            self.insert(*first, *last);
        }
    }

    fn insert(&mut self, mut first: i64, mut last: i64) {
        if first > last {
            return;
        }
        // What overlaps or is next to it becomes one range with it.
        while let Some((known_first, known_last)) =
            self.0.range(..=last + 1).next_back().filter(|(_, known)| **known >= first - 1)
        {
            let (known_first, known_last) = (*known_first, *known_last);
            (first, last) = (first.min(known_first), last.max(known_last));
            self.0.remove(&known_first);
        }
        self.0.insert(first, last);
    }

    pub(super) fn contains(&self, index: i64) -> bool {
        self.0.range(..=index).next_back().is_some_and(|(_, last)| *last >= index)
    }

    /// Size of the intersection with other indexes.
    pub(super) fn count_in(&self, others: &Self) -> i64 {
        let pairs = self.0.iter().flat_map(|one| others.0.iter().map(move |other| (one, other)));
        pairs.map(|(one, other)| (one.1.min(other.1) - one.0.max(other.0) + 1).max(0)).sum()
    }

    /// How many they are.
    pub(super) fn count(&self) -> i64 {
        self.0.iter().map(|(first, last)| last - first + 1).sum()
    }

    /// The numbers of a Job that are not among them, the least first. Mirrors
    /// `firstPendingIndexes`.
    pub(super) fn free(&self, completions: i64) -> impl Iterator<Item = i64> {
        let mut next = 0;
        core::iter::from_fn(move || {
            if let Some((_, last)) = self.0.range(..=next).next_back().filter(|it| *it.1 >= next) {
                next = last + 1;
            }
            next += 1;
            Some(next - 1).filter(|index| *index < completions)
        })
    }

    /// Notes in the status that these are done: `0-2,5`.
    pub(super) fn record_completed(&self, status: &mut JobStatus) {
        self.record(status, COMPLETED);
    }

    /// The same with those that have failed.
    pub(super) fn record_failed(&self, status: &mut JobStatus) {
        self.record(status, FAILED);
    }

    fn record(&self, status: &mut JobStatus, field: &str) {
        let text = |(first, last): (&i64, &i64)| match last - first {
            0 => first.to_string(),
            1 => format!("{first},{last}"),
            _ => format!("{first}-{last}"),
        };
        let texts: Vec<String> = self.0.iter().map(text).collect();
        status.other.set(field, texts.join(",").into());
    }
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
            (&[1, 0], "0,1"),
            (&[5, 0, 2, 1], "0-2,5"),
            (&[3, 1, 5, 7, 4, 4], "1,3-5,7"),
        ] {
            let (mut status, mut completed) = (JobStatus::default(), Indexes::default());
            completed.extend(8, indexes.iter().copied());
            completed.record_completed(&mut status);
            assert_eq!(status.other.get(COMPLETED).unwrap(), text);
            assert_eq!(Indexes::completed(8, &status, &[]), completed);
            let distinct: taintlab_rules::order::OrderedSet<i64> =
                indexes.iter().copied().collect();
            assert_eq!(completed.count(), distinct.len() as i64);
            let free: Vec<i64> = completed.free(8).collect();
            assert_eq!(free, (0..8).filter(|it| !distinct.contains(it)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn ranges_that_touch_are_one() {
        let mut status = JobStatus::default();
        status.other.set(COMPLETED, "4-6,0-1,3,5-99,x,9-8".into());
        let completed = Indexes::completed(10, &status, &[]);
        assert_eq!(completed.0.into_iter().collect::<Vec<_>>(), [(0, 1), (3, 9)]);
    }

    /// As many numbers as there can be take neither time nor memory.
    #[test]
    fn a_job_may_have_all_numbers() {
        let most = i64::from(i32::MAX);
        let mut status = JobStatus::default();
        status.other.set(FAILED, format!("1-{}", most - 2).into());
        let failed = Indexes::failed(most, &status);
        assert_eq!(failed.free(most).collect::<Vec<_>>(), [0, most - 1]);
    }
}
