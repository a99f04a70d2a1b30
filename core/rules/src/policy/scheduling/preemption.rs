//! Room for a pod that fits nowhere: which pods of lower priority go, and where. Mirrors
//! `plugins/defaultpreemption`; nothing is deleted here.

use alloc::borrow::ToOwned;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;

use serde_json::Value;

use super::filters::{Change, Cycle};
use super::groups::PodGroup;
use super::info::{DISRUPTION_TARGET, NodeInfo, PREEMPTION_BY_SCHEDULER, PodInfo};
use super::snapshot::Snapshot;
use super::{Rejection, SchedulingError};
use crate::api::{
    BudgetStatus, ConditionStatus, LabelSelector, Pod, PodCondition, PodDisruptionBudget, PodKey,
};
use crate::order::{Order, OrderedSet};
use crate::release::{KubernetesRelease, PreemptedMessage};
use crate::time::Time;

/// What preemption asks a budget: how many of which pods may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetOfVictims {
    /// `metadata.namespace`.
    pub namespace: String,
    /// `spec.selector`; without requirements it means no pod here.
    pub selector: LabelSelector,
    /// `status.disruptionsAllowed`.
    pub disruptions_allowed: i64,
    /// The names of pods that the eviction API is about to evict (`status.disruptedPods`).
    pub disrupted_pods: OrderedSet<String>,
}

impl BudgetOfVictims {
    /// A budget as it is, with its own `status`. `None` if its selector cannot be read, in which
    /// case it means no pod.
    #[must_use]
    pub fn of(budget: &PodDisruptionBudget) -> Option<Self> {
        let status = BudgetStatus::of(budget);
        Some(Self {
            namespace: budget.key().namespace().to_owned(),
            selector: budget.selector().ok()??,
            disruptions_allowed: status.disruptions_allowed,
            disrupted_pods: status.disrupted_pods.into_keys().collect(),
        })
    }
}

/// A node on which a pod would fit, were it not for pods of lower priority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The node.
    pub node: String,
    /// Who would go, the most important ones first; to 1.31 those before all others whose budget
    /// forbids it.
    pub victims: Vec<PodKey>,
    /// How many victims their budgets forbid.
    pub pdb_violations: usize,
}

/// What comes of preemption.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preemption {
    /// Whether the pod may preempt others at all. It may not if it never does, or if it waits for
    /// the end of others on the node where it is nominated.
    pub eligible: bool,
    /// Where it could go, in the order of the nodes' names.
    pub candidates: Vec<Candidate>,
    /// The best of these by index; several if they are equally good, of which upstream takes one at
    /// random.
    pub best: Vec<usize>,
    /// The pods of lower priority for which room was made on the chosen node, in the order of
    /// their keys: it may no longer be enough, so that they give up their nomination.
    pub outranked: Vec<PodKey>,
    /// Whether the pod gives up its own nomination, since room can be made nowhere. To 1.22 only if
    /// preemption helps on no node at all: it stays where pods of lower priority are too few.
    pub gives_up: bool,
}

impl Preemption {
    /// The first of the best.
    #[must_use]
    pub fn chosen(&self) -> Option<&Candidate> {
        self.candidates.get(*self.best.first()?)
    }
}

/// What the event `Preempted` says. Mirrors `prepareCandidate`.
#[must_use]
pub fn preempted_message(wording: PreemptedMessage, preemptor: &Pod, node: &str) -> String {
    match wording {
        PreemptedMessage::ByName => format!("Preempted by {} on node {node}", preemptor.key()),
        PreemptedMessage::ByAPod => format!("Preempted by a pod on node {node}"),
        PreemptedMessage::ByUid => {
            format!("Preempted by pod {} on node {node}", preemptor.metadata.uid)
        }
    }
}

/// The condition `DisruptionTarget` of a pod that is preempted. Mirrors `prepareCandidate`.
#[must_use]
pub fn preempted_condition(release: KubernetesRelease, preemptor: &Pod) -> PodCondition {
    let (reason, message) = match release.preempts_by_scheduler() {
        true => {
            let scheduler = preemptor.spec.other.get("schedulerName").and_then(Value::as_str);
            let scheduler = scheduler.unwrap_or("default-scheduler");
            let message = format!("{scheduler}: preempting to accommodate a higher priority pod");
            (PREEMPTION_BY_SCHEDULER, message)
        }
        false => {
            let key = preemptor.key();
            let words = "Kube-scheduler: preempting to accommodate a higher priority pod";
            ("PreemptionByKubeScheduler", format!("{words}: {key}"))
        }
    };
    PodCondition {
        type_: DISRUPTION_TARGET.to_owned(),
        status: ConditionStatus::True,
        reason: reason.to_owned(),
        message,
        ..PodCondition::default()
    }
}

/// A pod that could go.
#[derive(Clone, Copy)]
struct Victim<'a> {
    key: &'a PodKey,
    pod: &'a PodInfo,
}

/// When a pod started; one that has not yet is the latest. Mirrors `GetPodStartTime`.
fn started(pod: &PodInfo) -> (bool, Option<Time>) {
    (pod.start_time.is_none(), pod.start_time)
}

impl Snapshot {
    /// Where room can be made for a pod that fits nowhere, and by whose end. Nothing is changed.
    ///
    /// # Errors
    /// A field of the pod that cannot be read.
    pub fn preempt(
        &self,
        pod: &Pod,
        budgets: &[BudgetOfVictims],
    ) -> Result<Preemption, SchedulingError> {
        let cycle = Cycle::new(self, pod)?;
        let unchanged = Change::default();
        let refusals: Vec<(&NodeInfo, Option<Rejection>)> = self
            .nodes()
            .map(|node| {
                let refusal = cycle.refusal.clone();
                (node, refusal.or_else(|| cycle.first_rejection(node, &unchanged)))
            })
            .collect();
        let there = refusals.iter().find(|(node, _)| *node.name == *cycle.nominated);
        if !cycle.may_preempt(there.map(|(node, refusal)| (*node, refusal.as_ref()))) {
            return Ok(Preemption::default());
        }
        let nothing = Preemption { eligible: true, ..Preemption::default() };
        let helps = |refusal: &&(&NodeInfo, Option<Rejection>)| {
            refusal.1.as_ref().is_some_and(|refusal| refusal.preemption_may_help)
        };
        let is_hopeless = !refusals.iter().any(|refusal| helps(&refusal));
        let gives_up = is_hopeless || cycle.release().clears_nomination_without_candidates();
        if !self.has_lower_priority(cycle.pod.fields.priority) {
            return Ok(Preemption { gives_up, ..nothing });
        }
        let most = cycle
            .release()
            .preemption_candidates()
            .map_or(usize::MAX, |(percent, least)| (refusals.len() * percent / 100).max(least));
        let found = refusals.iter().filter(helps);
        let found = found.filter_map(|(node, _)| cycle.victims_on(node, budgets).ok());
        let found: Vec<(&NodeInfo, Chosen<'_>)> = found.take(most).collect();
        let best = best_of(&found);
        let candidate = |(node, chosen): &(&NodeInfo, Chosen<'_>)| Candidate {
            node: node.name.to_string(),
            victims: chosen.victims.iter().map(|victim| victim.key.clone()).collect(),
            pdb_violations: chosen.pdb_violations,
        };
        let candidates: Vec<Candidate> = found.iter().map(candidate).collect();
        let node = best.first().and_then(|best| candidates.get(*best)).map(|chosen| &chosen.node);
        let priority = cycle.pod.fields.priority;
        let outranked = node.map_or_else(Vec::new, |node| self.outranked_on(node, priority));
        let gives_up = gives_up && candidates.is_empty();
        Ok(Preemption { candidates, best, outranked, gives_up, ..nothing })
    }
}

impl Snapshot {
    /// The pods of lower priority that are nominated to a node. Mirrors
    /// `getLowerPriorityNominatedPods`.
    pub fn outranked_on(&self, node: &str, priority: i64) -> Vec<PodKey> {
        let there = self.nominated_on(node);
        let lower = there.filter(|(_, pod)| pod.fields.priority < priority);
        lower.map(|(key, _)| key.clone()).collect()
    }
}

/// Who goes from a node.
struct Chosen<'a> {
    victims: Vec<Victim<'a>>,
    pdb_violations: usize,
}

impl<'a> Cycle<'a> {
    /// Whether the pod may preempt others: not if it never does, and not while others end on the
    /// node where it is nominated. Mirrors `PodEligibleToPreemptOthers`.
    pub(super) fn may_preempt(&self, nominated: Option<(&NodeInfo, Option<&Rejection>)>) -> bool {
        if self.pod.fields.never_preempts {
            return false;
        }
        let Some((node, refusal)) = nominated else { return true };
        let hopeless = refusal.is_some_and(|refusal| !refusal.preemption_may_help);
        let all = !self.release().awaits_victims_only();
        let ends = |pod: &PodInfo| {
            pod.group.terminating
                && (all || pod.preempted)
                && pod.fields.priority < self.pod.fields.priority
        };
        hopeless || !node.pods.values().any(|pod| ends(pod))
    }

    /// The node without the pods of lower priority, and those pods in the order in which they came;
    /// or why the pod does not fit even then.
    fn without_lower(&self, node: &'a NodeInfo) -> Result<(Change, Vec<Victim<'a>>), Vec<String>> {
        let priority = self.pod.fields.priority;
        // Most clusters have pods of one priority alone: there is nobody to look for.
        let any = self.snapshot.has_lower_priority(priority);
        let pods = node.pods.iter().filter(|_| any).map(|(key, pod)| Victim { key, pod });
        let mut lower: Vec<Victim<'a>> =
            pods.filter(|victim| victim.pod.fields.priority < priority).collect();
        if lower.is_empty() {
            return Err(Vec::from(["No preemption victims found for incoming pod".to_owned()]));
        }
        lower.order_by_key(|victim| victim.pod.entered);
        let mut change = Change::default();
        for victim in &lower {
            self.alter(&mut change, node, victim.pod, -1);
        }
        match self.first_rejection(node, &change) {
            Some(rejection) => Err(rejection.reasons),
            None => Ok((change, lower)),
        }
    }

    /// Who has to go from the node so that the pod fits, or why it does not fit even then. Mirrors
    /// `SelectVictimsOnNode`.
    fn victims_on(
        &self,
        node: &'a NodeInfo,
        budgets: &[BudgetOfVictims],
    ) -> Result<(&'a NodeInfo, Chosen<'a>), Vec<String>> {
        let (mut change, mut lower) = self.without_lower(node)?;
        lower.order_by_key(|victim| {
            (Reverse(victim.pod.fields.priority), started(victim.pod), victim.pod.entered)
        });
        let (forbidden, allowed) = by_budgets(&lower, budgets);
        let mut chosen = Chosen { victims: Vec::new(), pdb_violations: 0 };
        for (victims, counts) in [(forbidden, 1), (allowed, 0)] {
            for victim in victims {
                // Whoever can stay stays, the most important ones first.
                self.alter(&mut change, node, victim.pod, 1);
                if self.first_rejection(node, &change).is_some() {
                    self.alter(&mut change, node, victim.pod, -1);
                    chosen.victims.push(victim);
                    chosen.pdb_violations += counts;
                }
            }
        }
        if self.release().sorts_victims() {
            // Of equally important ones those come first whose budget forbids it.
            let importance =
                |victim: &Victim<'_>| (Reverse(victim.pod.fields.priority), started(victim.pod));
            chosen.victims.order_by_key(importance);
        }
        Ok((node, chosen))
    }

    /// Why preemption does not help, node by node, and where it does. The budgets do not matter for
    /// that. It is `tried` on some nodes whatever was said of them. Mirrors the statuses of
    /// `DryRunPreemption`.
    pub(super) fn preemption_reasons(
        &self,
        rejections: &[(&'a NodeInfo, Option<&Rejection>)],
        tried: impl Fn(&str) -> bool,
    ) -> (Vec<String>, Vec<String>) {
        let (mut reasons, mut preemptable) = (Vec::new(), Vec::new());
        for (node, rejection) in rejections {
            let may_help = rejection.is_some_and(|rejection| rejection.preemption_may_help);
            if !may_help && !tried(&node.name) {
                reasons.push("Preemption is not helpful for scheduling".to_string());
                continue;
            }
            match self.without_lower(node) {
                Ok(_) => preemptable.push(node.name.to_string()),
                Err(why) => reasons.extend(why),
            }
        }
        (reasons, preemptable)
    }
}

/// Those whose budgets forbid that they go, if all before them went, and the others. Mirrors
/// `filterPodsWithPDBViolation`.
fn by_budgets<'a>(
    victims: &[Victim<'a>],
    budgets: &[BudgetOfVictims],
) -> (Vec<Victim<'a>>, Vec<Victim<'a>>) {
    let mut allowed: Vec<i64> = budgets.iter().map(|budget| budget.disruptions_allowed).collect();
    victims.iter().copied().partition(|Victim { key, pod }| {
        let mut forbidden = false;
        for (budget, allowed) in budgets.iter().zip(&mut allowed) {
            let PodGroup { namespace, labels, .. } = pod.group.as_ref();
            let selects = !labels.is_empty()
                && budget.namespace == *namespace
                && !budget.selector.requirements.is_empty()
                && budget.selector.matches(labels);
            // A pod that is being evicted has been counted.
            if selects && !budget.disrupted_pods.contains(key.name()) {
                *allowed -= 1;
                forbidden |= *allowed < 0;
            }
        }
        forbidden
    })
}

/// The best candidates by index. Mirrors `pickOneNodeForPreemption`.
fn best_of(candidates: &[(&NodeInfo, Chosen<'_>)]) -> Vec<usize> {
    let rank = |(_, chosen): &(&NodeInfo, Chosen<'_>)| {
        let priorities = || chosen.victims.iter().map(|victim| victim.pod.fields.priority);
        // The priorities are shifted so that more pods are always worse.
        let sum: i64 = priorities().map(|priority| priority + (1 << 31)).sum();
        let highest = priorities().max().unwrap_or(i64::MIN);
        let most_important =
            chosen.victims.iter().filter(|victim| victim.pod.fields.priority == highest);
        let earliest = most_important.map(|victim| started(victim.pod)).min();
        (
            chosen.pdb_violations,
            // The first is taken for the highest.
            priorities().next().unwrap_or(i64::MIN),
            sum,
            chosen.victims.len(),
            Reverse(earliest),
        )
    };
    let best = candidates.iter().map(rank).min();
    let indices = candidates.iter().enumerate();
    indices.filter(|(_, known)| Some(rank(known)) == best).map(|(index, _)| index).collect()
}
