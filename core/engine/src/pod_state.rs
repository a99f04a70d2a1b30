//! State of a pod in two words: its verdict, which says what will happen to it, and its health.
//!
//! All readers (dots, legends, counts, filters, announcements) use these words, so that they cannot
//! disagree. The two are independent: a pod that stays may not be ready, and a pod being deleted
//! may be ready.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

use serde::Serialize;
use taintlab_rules::api::{ConditionStatus, Pod, PodCondition, PodPhase};
use taintlab_rules::plural::count;
use taintlab_rules::time::Timestamp;

/// Verdict: the future of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PodVerdict {
    /// Nothing will delete the pod.
    Stays,
    /// Its node has been deleted, so that pod garbage collection will delete the pod
    /// (`gcOrphaned`).
    Orphaned,
    /// A timer of the taint-eviction controller or of that for devices is running; at its end the
    /// pod is deleted.
    Counting,
    /// The pod is deleted and its grace period is running: `Terminating`.
    Terminating,
    /// The pod is deleted and stays `Terminating` until its unreachable kubelet is back.
    Stuck,
    /// Its kubelet has evicted the pod, and the object still exists: phase `Failed`, reason
    /// `Evicted`.
    Evicted,
    /// The object has been removed.
    Gone,
}

impl PodVerdict {
    /// All verdicts, in the order of legends.
    pub const ALL: [Self; 7] = [
        Self::Stays,
        Self::Orphaned,
        Self::Counting,
        Self::Terminating,
        Self::Stuck,
        Self::Evicted,
        Self::Gone,
    ];

    /// All verdicts, the most important after a change first.
    const BY_URGENCY: [Self; Self::ALL.len()] = [
        Self::Terminating,
        Self::Stuck,
        Self::Counting,
        Self::Orphaned,
        Self::Evicted,
        Self::Gone,
        Self::Stays,
    ];

    /// Name: `stays`, `orphaned`, `counting`, `terminating`, `stuck`, `evicted` or `gone`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stays => "stays",
            Self::Orphaned => "orphaned",
            Self::Counting => "counting",
            Self::Terminating => "terminating",
            Self::Stuck => "stuck",
            Self::Evicted => "evicted",
            Self::Gone => "gone",
        }
    }

    /// The verdict with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.as_str() == name)
    }

    /// Words for `number` pods, without the number: `stay`, `counting down`.
    #[must_use]
    pub const fn words(self, number: usize) -> &'static str {
        match self {
            Self::Stays if number == 1 => "stays",
            Self::Stays => "stay",
            Self::Orphaned => "orphaned",
            Self::Counting => "counting down",
            Self::Terminating => "being deleted",
            Self::Stuck => "stuck Terminating",
            Self::Evicted => "evicted",
            Self::Gone => "gone",
        }
    }

    /// Meaning, as a sentence.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Stays => "The pod has a node, and nothing will delete it.",
            Self::Orphaned => {
                "The pod's node has been deleted: pod garbage collection deletes the pod."
            }
            Self::Counting => {
                "The pod tolerates the taint for some time, and is deleted when that is over."
            }
            Self::Terminating => {
                "The pod is deleted; its grace period runs, or a finalizer keeps it: kubectl shows \
                 Terminating."
            }
            Self::Stuck => {
                "The pod is deleted, but stays Terminating until its unreachable kubelet \
                 reconnects and confirms it."
            }
            Self::Evicted => {
                "Its kubelet has ended the pod to free what it used; the object is still there: \
                 kubectl shows Evicted."
            }
            Self::Gone => "The object of the pod has been removed.",
        }
    }
}

/// `stays`, `counting down` and so on.
impl fmt::Display for PodVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words(1))
    }
}

/// Health of a pod according to its status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PodHealth {
    /// The pod has no node, and the scheduler has not tried it.
    Pending,
    /// The pod has no node: the scheduler found none that fits.
    Unschedulable,
    /// The pod has a node, and its containers do not run yet.
    Starting,
    /// Its containers run, and no condition says that it is not ready.
    Ready,
    /// Its condition `Ready` is not `True`.
    NotReady,
    /// Its phase is `Failed`.
    Failed,
    /// Its phase is `Succeeded`.
    Succeeded,
}

impl PodHealth {
    /// All healths, in the order of legends.
    pub const ALL: [Self; 7] = [
        Self::Ready,
        Self::NotReady,
        Self::Starting,
        Self::Pending,
        Self::Unschedulable,
        Self::Failed,
        Self::Succeeded,
    ];

    /// Health of a pod.
    #[must_use]
    pub fn of(pod: &Pod) -> Self {
        let is_false = |condition: &&PodCondition| condition.status != ConditionStatus::True;
        match pod.status.phase {
            PodPhase::Failed => Self::Failed,
            PodPhase::Succeeded => Self::Succeeded,
            _ if pod.spec.node_name.is_empty() => {
                let tried = pod.condition("PodScheduled").filter(is_false);
                match tried {
                    Some(tried) if tried.reason == "Unschedulable" => Self::Unschedulable,
                    _ => Self::Pending,
                }
            }
            PodPhase::Pending => Self::Starting,
            _ if pod.condition("Ready").as_ref().is_some_and(is_false) => Self::NotReady,
            _ => Self::Ready,
        }
    }

    /// Name: `pending`, `unschedulable`, `starting`, `ready`, `notReady`, `failed` or `succeeded`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotReady => "notReady",
            other => other.words(),
        }
    }

    /// The health with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|health| health.as_str() == name)
    }

    /// All healths, the most important first.
    const BY_URGENCY: [Self; Self::ALL.len()] = [
        Self::Failed,
        Self::NotReady,
        Self::Unschedulable,
        Self::Pending,
        Self::Starting,
        Self::Ready,
        Self::Succeeded,
    ];

    /// Words for pods: `ready`, `not ready`.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Unschedulable => "unschedulable",
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::NotReady => "not ready",
            Self::Failed => "failed",
            Self::Succeeded => "succeeded",
        }
    }

    /// Meaning, as a sentence.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Pending => "The pod has no node, and the scheduler has not tried it.",
            Self::Unschedulable => "The scheduler found no node that fits the pod.",
            Self::Starting => "The pod has a node, and its containers do not run yet.",
            Self::Ready => "The containers run, and nothing says that the pod is not ready.",
            Self::NotReady => {
                "The condition Ready of the pod is not True, so that services leave it out."
            }
            Self::Failed => "The containers have ended, and one of them failed.",
            Self::Succeeded => "The containers have ended well.",
        }
    }
}

/// `ready`, `not ready` and so on.
impl fmt::Display for PodHealth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// State of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PodState {
    /// Future of the pod.
    pub verdict: PodVerdict,
    /// Health of the pod.
    pub health: PodHealth,
    /// Start and end of its countdown or deletion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer: Option<PodTimer>,
}

/// A running timer of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PodTimer {
    /// Start of the timer.
    pub since: Timestamp,
    /// End of the timer.
    pub until: Timestamp,
}

impl PodTimer {
    /// Whether it ends beyond the range of time, as a toleration of 292 years does.
    #[must_use]
    pub fn never_ends(self) -> bool {
        self.until >= Timestamp::MAX
    }
}

/// Pod counts by verdict and by health. A pod that waits for a node has no verdict in the counts,
/// only a health.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PodCounts {
    verdicts: [usize; PodVerdict::ALL.len()],
    healths: [usize; PodHealth::ALL.len()],
}

impl PodCounts {
    /// Counts from numbers: by verdict and by health, in the order of their `ALL`.
    #[must_use]
    pub const fn from_numbers(
        verdicts: [usize; PodVerdict::ALL.len()],
        healths: [usize; PodHealth::ALL.len()],
    ) -> Self {
        Self { verdicts, healths }
    }

    /// Numbers by verdict and by health, in the order of their `ALL`.
    #[must_use]
    pub const fn numbers(&self) -> ([usize; PodVerdict::ALL.len()], [usize; PodHealth::ALL.len()]) {
        (self.verdicts, self.healths)
    }

    /// Counts a pod whose object exists.
    pub fn add(&mut self, state: PodState) {
        self.add_verdict(state.verdict, usize::from(!state.waits_for_a_node()));
        let all = self.healths.iter_mut().zip(PodHealth::ALL);
        for (count, health) in all {
            *count += usize::from(health == state.health);
        }
    }

    /// Counts pods whose objects have been removed.
    pub fn add_gone(&mut self, number: usize) {
        self.add_verdict(PodVerdict::Gone, number);
    }

    fn add_verdict(&mut self, wanted: PodVerdict, number: usize) {
        let all = self.verdicts.iter_mut().zip(PodVerdict::ALL);
        for (count, _) in all.filter(|(_, verdict)| *verdict == wanted) {
            *count += number;
        }
    }

    /// Adds other counts.
    pub fn add_all(&mut self, other: &Self) {
        let verdicts = self.verdicts.iter_mut().zip(other.verdicts);
        for (count, more) in verdicts.chain(self.healths.iter_mut().zip(other.healths)) {
            *count += more;
        }
    }

    /// The most important verdict among existing pods; if all of them stay, the worst health.
    /// `None` without such pods.
    #[must_use]
    pub fn worst(&self) -> Option<(PodVerdict, Option<PodHealth>)> {
        let goes = |verdict: &PodVerdict| {
            !matches!(verdict, PodVerdict::Gone | PodVerdict::Stays) && self.verdict(*verdict) > 0
        };
        if let Some(verdict) = PodVerdict::BY_URGENCY.into_iter().find(goes) {
            return Some((verdict, None));
        }
        let health = PodHealth::BY_URGENCY.into_iter().find(|health| self.health(*health) > 0)?;
        Some((PodVerdict::Stays, Some(health)))
    }

    /// Number of pods with this verdict.
    #[must_use]
    pub fn verdict(&self, wanted: PodVerdict) -> usize {
        let mut all = self.verdicts.iter().zip(PodVerdict::ALL);
        all.find(|(_, verdict)| *verdict == wanted).map_or(0, |(count, _)| *count)
    }

    /// Number of existing pods with this health.
    #[must_use]
    pub fn health(&self, wanted: PodHealth) -> usize {
        let mut all = self.healths.iter().zip(PodHealth::ALL);
        all.find(|(_, health)| *health == wanted).map_or(0, |(count, _)| *count)
    }

    /// Increase of each verdict since `before`, except `Stays`.
    #[must_use]
    pub fn news_since(&self, before: &Self) -> Self {
        let mut news = Self::default();
        for verdict in PodVerdict::ALL.into_iter().filter(|verdict| *verdict != PodVerdict::Stays) {
            let more = self.verdict(verdict).saturating_sub(before.verdict(verdict));
            news.add_verdict(verdict, more);
        }
        news
    }
}

/// Numbers of pods by verdict, the most important first: `5 pods being deleted, 3 counting down`;
/// empty without pods.
impl fmt::Display for PodCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for verdict in PodVerdict::BY_URGENCY {
            match self.verdict(verdict) {
                0 => continue,
                number if separator.is_empty() => f.write_str(&count(number, "pod"))?,
                number => write!(f, "{separator}{number}")?,
            }
            write!(f, " {}", verdict.words(self.verdict(verdict)))?;
            separator = ", ";
        }
        Ok(())
    }
}

impl PodState {
    /// State of a pod without running timers or deletion.
    #[must_use]
    pub fn at_rest(pod: &Pod) -> Self {
        let health = PodHealth::of(pod);
        let evicted = pod.status.reason == crate::kubelet::EVICTED;
        let verdict = match health {
            PodHealth::Failed if evicted => PodVerdict::Evicted,
            _ => PodVerdict::Stays,
        };
        Self { verdict, health, timer: None }
    }

    /// Whether it stays and has no node: it is pending or unschedulable.
    #[must_use]
    pub const fn waits_for_a_node(self) -> bool {
        matches!(
            (self.verdict, self.health),
            (PodVerdict::Stays, PodHealth::Pending | PodHealth::Unschedulable)
        )
    }

    /// The verdict as the end of a sentence, with its time to the millisecond: `deleted at 1m0s`.
    #[must_use]
    pub fn verdict_text(self) -> String {
        let at = |timer: PodTimer| Timestamp::from_millis(timer.until.as_nanos() / 1_000_000);
        match (self.verdict, self.timer) {
            (PodVerdict::Counting, Some(timer)) if timer.never_ends() => {
                "tolerated forever".to_string()
            }
            (PodVerdict::Counting, Some(timer)) => format!("deleted at {}", at(timer)),
            (PodVerdict::Terminating, Some(timer)) => {
                format!("being deleted, gone at {}", at(timer))
            }
            (PodVerdict::Stuck, _) => "stuck Terminating until its kubelet is back".to_string(),
            (PodVerdict::Evicted, _) => "evicted by its kubelet".to_string(),
            (PodVerdict::Orphaned, _) => "orphaned: its node has been deleted".to_string(),
            (verdict, _) => verdict.to_string(),
        }
    }
}

/// Verdict and health: `deleted at 1m0s, not ready`. For an evicted or gone pod the verdict alone.
impl fmt::Display for PodState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.verdict {
            PodVerdict::Evicted | PodVerdict::Gone => f.write_str(&self.verdict_text()),
            _ => write!(f, "{}, {}", self.verdict_text(), self.health),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(phase: PodPhase, node: &str, condition: Option<(&str, ConditionStatus, &str)>) -> Pod {
        let mut pod = Pod::default();
        pod.status.phase = phase;
        pod.spec.node_name = node.into();
        pod.status.conditions.extend(condition.map(|(type_, status, reason)| PodCondition {
            type_: type_.into(),
            status,
            reason: reason.into(),
            ..PodCondition::default()
        }));
        pod
    }

    #[test]
    fn the_worst_state_is_the_most_important_verdict_then_the_worst_health() {
        let state = |verdict, health| PodState { verdict, health, timer: None };
        let mut counts = PodCounts::default();
        counts.add_gone(3);
        assert_eq!(counts.worst(), None, "pods that are gone are nowhere");
        counts.add(state(PodVerdict::Stays, PodHealth::Ready));
        assert_eq!(counts.worst(), Some((PodVerdict::Stays, Some(PodHealth::Ready))));
        counts.add(state(PodVerdict::Stays, PodHealth::NotReady));
        assert_eq!(counts.worst(), Some((PodVerdict::Stays, Some(PodHealth::NotReady))));
        let mut others = PodCounts::default();
        others.add(state(PodVerdict::Counting, PodHealth::Ready));
        others.add(state(PodVerdict::Stuck, PodHealth::Ready));
        counts.add_all(&others);
        assert_eq!(counts.worst(), Some((PodVerdict::Stuck, None)));
        assert_eq!(counts.health(PodHealth::Ready), 3);
        others.add(state(PodVerdict::Terminating, PodHealth::Ready));
        assert_eq!(others.worst(), Some((PodVerdict::Terminating, None)));
    }

    #[test]
    fn health_follows_from_the_status() {
        use ConditionStatus::{False, True};
        let scheduled = |reason| Some(("PodScheduled", False, reason));
        for (health, pod) in [
            (PodHealth::Pending, pod(PodPhase::Empty, "", None)),
            (PodHealth::Pending, pod(PodPhase::Pending, "", scheduled("SchedulingGated"))),
            (PodHealth::Unschedulable, pod(PodPhase::Pending, "", scheduled("Unschedulable"))),
            (PodHealth::Starting, pod(PodPhase::Pending, "n", None)),
            (PodHealth::Ready, pod(PodPhase::Empty, "n", None)),
            (PodHealth::Ready, pod(PodPhase::Running, "n", Some(("Ready", True, "")))),
            (PodHealth::NotReady, pod(PodPhase::Running, "n", Some(("Ready", False, "")))),
            (PodHealth::Failed, pod(PodPhase::Failed, "n", None)),
            (PodHealth::Succeeded, pod(PodPhase::Succeeded, "n", None)),
        ] {
            assert_eq!(PodHealth::of(&pod), health, "{pod:?}");
            assert_eq!(PodHealth::parse(health.as_str()), Some(health));
        }
        let mut evicted = pod(PodPhase::Failed, "n", None);
        evicted.status.reason = "Evicted".into();
        assert_eq!(PodState::at_rest(&evicted).to_string(), "evicted by its kubelet");
    }
}
