//! The reason why a pod goes later than its toleration says, for any release: an example run in
//! that release, whose time budget has the number.

use std::cell::Cell;
use std::time::Duration;

use taintlab_core::api::PodKey;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scenario::{Bookmark, Scenario, ScenarioMetadata};
use taintlab_core::time::{Span, Timestamp};

use crate::samples;
use crate::session::Session;
use crate::text::span;

/// The example, written for one release.
const EXAMPLE: &str = "why-345-seconds";
/// The time by which its pod is deleted in every release.
const END: Timestamp = Timestamp::from_secs(600);

/// The example in another release.
pub(crate) struct LateEviction {
    /// The scenario, told as a story of two moments.
    pub(crate) scenario: Scenario,
    /// The time from the last heartbeat until the pod is deleted.
    pub(crate) total: Duration,
}

impl LateEviction {
    /// The example in a release; none where the pod is not deleted.
    pub(crate) fn of(release: KubernetesRelease) -> Option<Self> {
        let mut scenario = samples::read(EXAMPLE).ok()?;
        let own = scenario.kubernetes.release == Some(release);
        scenario.kubernetes.release = Some(release);
        let pod = PodKey::new("default", "web-0");
        let mut session = Session::new(scenario.clone()).ok()?;
        session.seek(END);
        let budget = session.time_budget(&pod).filter(|budget| budget.over)?;
        let total = budget.rounded_total();
        if !own {
            // The words of the example are about the release for which it was written.
            let at = u64::try_from(budget.evicted_at.as_nanos()).ok().map(Timestamp::from_nanos)?;
            let title = format!("Why {} and not 5 min?", in_minutes(total));
            scenario.clear_expectations();
            let terms = budget.terms.iter().filter(|term| !term.is_after_deletion());
            let terms =
                terms.map(|term| format!("{} ({})", span(term.rounded_duration()), term.text));
            scenario.metadata = ScenarioMetadata {
                title,
                question: format!(
                    "A node died. My pods tolerate that for 300 s. Why did it take {} until they \
                     were deleted?",
                    in_minutes(total)
                ),
                answer: format!("The times add up: {}.", terms.collect::<Vec<_>>().join(", ")),
                ..ScenarioMetadata::default()
            };
            scenario.bookmarks.truncate(1);
            scenario.bookmarks.push(Bookmark {
                at: Span::from(at),
                note: format!(
                    "The pod was deleted {} after the last sign of life. Its time budget has every \
                     term, and the flag that sets it.",
                    in_minutes(total)
                ),
                select: format!("pod {pod}"),
            });
        }
        Some(Self { scenario, total })
    }

    /// The time until the pod is deleted in a release; the last one asked for is remembered.
    pub(crate) fn total_in(release: KubernetesRelease) -> Option<Duration> {
        thread_local! {
            static LAST: Cell<Option<(KubernetesRelease, Option<Duration>)>> =
                const { Cell::new(None) };
        }
        if let Some((known, total)) = LAST.get()
            && known == release
        {
            return total;
        }
        let total = Self::of(release).map(|it| it.total);
        LAST.set(Some((release, total)));
        total
    }
}

/// A duration in minutes: `5 min 45 s`, `6 min`.
pub(crate) fn in_minutes(span: Duration) -> String {
    match (span.as_secs() / 60, span.as_secs() % 60) {
        (minutes, 0) => format!("{minutes} min"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_that_of_the_release() {
        for (release, total) in
            [("1.31", "5 min 45 s"), ("1.32", "5 min 55 s"), ("1.35", "5 min 50 s")]
        {
            let release = KubernetesRelease::parse(release).unwrap();
            let found = LateEviction::of(release).unwrap();
            assert_eq!(in_minutes(found.total), total, "{release}");
            assert_eq!(LateEviction::total_in(release), Some(found.total));
            // Its story ends where the pod does.
            let last = found.scenario.bookmarks.last().unwrap();
            assert!(last.note.contains("time budget"), "{}", last.note);
            let about = &found.scenario.metadata;
            assert!(about.answer.contains("add up: "), "{}", about.answer);
            assert_eq!(about.answer.contains("345 s"), total == "5 min 45 s", "{}", about.answer);
            assert!(found.scenario.simulator().is_ok());
        }
    }

    #[test]
    fn every_release_has_an_answer_that_is_its_own() {
        for release in KubernetesRelease::all() {
            let Some(found) = LateEviction::of(release) else { panic!("{release}") };
            assert!(found.total > Duration::from_secs(301), "{release}: {:?}", found.total);
            assert_eq!(found.scenario.kubernetes.release, Some(release));
        }
    }
}
