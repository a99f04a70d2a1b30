//! `scheduler_filter_*`, `scheduler_score_*`, `scheduler_preempt_*`, `scheduler_decisions`: where the
//! scheduler puts pods, and whom it preempts.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use taintlab_core::api::{LabelSelector, Node, ObjectMeta, Pod, PodDisruptionBudget};
use taintlab_core::controllers::scheduler::preempted_event;
use taintlab_core::policy::scheduling::{
    BudgetOfVictims, Decision, NodeVerdict, Rejection, SchedulerConfig, Snapshot,
};
use taintlab_core::time::Time;

use super::{Outcome, compare, release_of, with_flagged_case};

/// What the scheduler sees, and the pod that it has to place.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Input {
    nodes: Vec<Node>,
    pods: Vec<Pod>,
    pod: Pod,
    #[serde(default)]
    services: Vec<Service>,
    #[serde(default)]
    replica_sets: Vec<Workload>,
    #[serde(default)]
    stateful_sets: Vec<Workload>,
    #[serde(default)]
    namespaces: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Service {
    metadata: ObjectMeta,
    #[serde(default)]
    spec: ServiceSpec,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ServiceSpec {
    selector: Option<BTreeMap<String, String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Workload {
    metadata: ObjectMeta,
    spec: WorkloadSpec,
    #[serde(default, rename = "status")]
    _status: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkloadSpec {
    selector: Option<Value>,
}

impl Input {
    fn snapshot(&self, release: &str) -> Result<Snapshot, String> {
        let config = SchedulerConfig {
            requires_allocatable: true,
            ..SchedulerConfig::of(release_of(release))
        };
        let mut snapshot =
            Snapshot::new(config, &self.nodes, &self.pods).map_err(|error| error.to_string())?;
        for Service { metadata, spec } in &self.services {
            snapshot.set_service(&metadata.namespace, &metadata.name, spec.selector.as_ref());
        }
        let kinds = [("ReplicaSet", &self.replica_sets), ("StatefulSet", &self.stateful_sets)];
        for (kind, workloads) in kinds {
            for Workload { metadata, spec, .. } in workloads {
                let selector = LabelSelector::read("spec.selector", spec.selector.as_ref())
                    .map_err(|error| error.to_string())?;
                let selector = selector.unwrap_or_default();
                snapshot.set_workload_selector(kind, &metadata.namespace, &metadata.name, selector);
            }
        }
        snapshot.set_claims([]);
        let labels = |namespace: &Value| {
            let metadata: ObjectMeta =
                serde_json::from_value(namespace.get("metadata")?.clone()).ok()?;
            Some((metadata.name.clone(), metadata.labels))
        };
        snapshot.set_namespaces(self.namespaces.iter().filter_map(labels).collect());
        Ok(snapshot)
    }

    fn decide(&self, release: &str) -> Result<Decision, String> {
        self.snapshot(release)?.schedule(&self.pod).map_err(|error| error.to_string())
    }

    /// The verdicts in the order of the input.
    fn in_order<'a>(&self, decision: &'a Decision) -> Vec<&'a NodeVerdict> {
        let of = |node: &Node| {
            decision.verdicts.iter().find(|verdict| verdict.node == node.metadata.name)
        };
        self.nodes.iter().filter_map(of).collect()
    }
}

/// What every case of these families has besides.
#[derive(Deserialize)]
struct Notes {
    #[serde(rename = "id")]
    _id: u64,
    #[serde(default)]
    flagged: bool,
    #[serde(default, rename = "different")]
    _different: u64,
}

/// A case: these members and no others.
#[derive(Deserialize)]
struct Case<A> {
    #[serde(flatten)]
    notes: Notes,
    #[serde(flatten)]
    input: Input,
    #[serde(flatten)]
    answer: A,
}

const INPUT: &[&str] = &[
    "id",
    "flagged",
    "different",
    "nodes",
    "pods",
    "pod",
    "services",
    "replicaSets",
    "statefulSets",
    "namespaces",
];

/// Plays a case unless it has other members than these; serde cannot tell for flattened parts.
fn play<A: for<'de> Deserialize<'de>>(
    line: &str,
    members: &[&str],
    run: impl FnOnce(&Input, A) -> Result<Outcome, String>,
) -> Outcome {
    let known = |name: &String| INPUT.contains(&name.as_str()) || members.contains(&name.as_str());
    if let Ok(all) = serde_json::from_str::<BTreeMap<String, Value>>(line)
        && let Some(name) = all.keys().find(|name| !known(name))
    {
        return Outcome::Failed(format!("the case has an unknown member `{name}`"));
    }
    let is_flagged = |case: &Case<A>| case.notes.flagged;
    with_flagged_case(line, is_flagged, |case: Case<A>| run(&case.input, case.answer))
}

#[derive(PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Status {
    code: String,
    reasons: BTreeSet<String>,
}

impl From<&Rejection> for Status {
    fn from(rejection: &Rejection) -> Self {
        let code = match rejection.preemption_may_help {
            true => "Unschedulable",
            false => "UnschedulableAndUnresolvable",
        };
        Self { code: code.to_owned(), reasons: rejection.reasons.iter().cloned().collect() }
    }
}

/// Why a pod fits nowhere, whatever the nodes are. To 1.20 the plugin was not recorded.
#[derive(PartialEq, Deserialize, Serialize)]
struct Refusal {
    plugin: Option<String>,
    #[serde(flatten)]
    status: Status,
}

#[derive(PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Verdict {
    node: String,
    #[serde(default)]
    fits: bool,
    /// Whether no filter was asked, since a `PreFilter` left the node out.
    #[serde(default)]
    pre_filtered: bool,
    #[serde(default)]
    plugin: Value,
    #[serde(flatten)]
    status: Option<Status>,
}

#[derive(PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct FilterAnswer {
    pre_filter: Option<Refusal>,
    #[serde(default)]
    verdicts: Vec<Verdict>,
    error: Option<String>,
    /// The message without what preemption says.
    filter_message: Option<String>,
    error_kind: Option<String>,
    #[serde(default, skip_serializing)]
    crash: Value,
}

/// Start of the reason for nodes that no filter sees.
const LEFT_OUT: &str = "node(s) didn't satisfy plugin(s)";

/// Runs one case of `scheduler_filter_*` of that release.
pub fn filter(release: &str, line: &str) -> Outcome {
    let members = ["preFilter", "verdicts", "error", "errorKind", "crash", "filterMessage"];
    play(line, &members, |input, mut expected: FilterAnswer| {
        let decision = input.decide(release)?;
        let left_out = |rejection: &&Rejection| {
            rejection.reasons.iter().any(|reason| reason.starts_with(LEFT_OUT))
        };
        let verdict = |verdict: &&NodeVerdict| {
            let known = verdict.rejection.as_ref();
            let pre_filtered = known.is_some_and(|known| left_out(&known));
            let rejection = known.filter(|known| !left_out(known));
            Verdict {
                node: verdict.node.clone(),
                fits: known.is_none(),
                pre_filtered,
                plugin: serde_json::to_value(rejection.map(|known| known.plugin))
                    .unwrap_or_default(),
                status: rejection.map(Status::from),
            }
        };
        let verdicts = match decision.refusal {
            Some(_) => Vec::new(),
            None => input.in_order(&decision).iter().map(verdict).collect(),
        };
        let fits = decision.verdicts.iter().any(|verdict| verdict.rejection.is_none());
        let kind = match decision.message {
            None => None,
            Some(_) if input.nodes.is_empty() => Some("no-nodes"),
            Some(_) if fits => Some("internal"),
            Some(_) => Some("fit"),
        };
        let names_plugin = expected.pre_filter.as_ref().is_some_and(|known| known.plugin.is_some());
        let refusal = |rejection: &Rejection| Refusal {
            plugin: names_plugin.then(|| format!("{:?}", rejection.plugin)),
            status: rejection.into(),
        };
        let message = decision.message.as_deref().unwrap_or_default();
        let filter_message = expected.filter_message.clone();
        let got = FilterAnswer {
            pre_filter: decision.refusal.as_ref().map(refusal),
            verdicts,
            filter_message: filter_message.filter(|text| message.starts_with(text.as_str())),
            error: decision.message,
            error_kind: kind.map(str::to_owned),
            crash: expected.crash.take(),
        };
        expected.crash = got.crash.clone();
        Ok(compare(&expected, &got))
    })
}

#[derive(PartialEq, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct PluginScores {
    weight: i64,
    raw: Vec<i64>,
    normalized: Vec<i64>,
    weighted: Vec<i64>,
}

#[derive(PartialEq, Deserialize, Serialize)]
struct ScoreAnswer {
    feasible: Vec<String>,
    scores: BTreeMap<String, PluginScores>,
    total: Vec<i64>,
    best: BTreeSet<String>,
}

/// Runs one case of `scheduler_score_*` of that release.
pub fn score(release: &str, line: &str) -> Outcome {
    play(
        line,
        &["feasible", "scores", "skipped", "total", "best"],
        |input, expected: ScoreAnswer| {
            let decision = input.decide(release)?;
            let verdicts = input.in_order(&decision);
            let feasible: Vec<_> =
                verdicts.into_iter().filter(|verdict| verdict.rejection.is_none()).collect();
            let mut scores: BTreeMap<String, PluginScores> = BTreeMap::new();
            for score in feasible.iter().flat_map(|verdict| &verdict.scores) {
                let column = scores.entry(format!("{:?}", score.plugin)).or_default();
                column.weight = score.weight;
                column.raw.push(score.raw);
                column.normalized.push(score.score);
                column.weighted.push(score.score * score.weight);
            }
            let got = ScoreAnswer {
                feasible: feasible.iter().map(|verdict| verdict.node.clone()).collect(),
                scores,
                total: feasible.iter().map(|verdict| verdict.total).collect(),
                best: best(&decision),
            };
            Ok(compare(&expected, &got))
        },
    )
}

/// The nodes with the highest total.
fn best(decision: &Decision) -> BTreeSet<String> {
    let feasible = || decision.verdicts.iter().filter(|verdict| verdict.rejection.is_none());
    let most = feasible().map(|verdict| verdict.total).max();
    feasible()
        .filter(|verdict| Some(verdict.total) == most)
        .map(|verdict| verdict.node.clone())
        .collect()
}

#[derive(PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct CandidateAnswer {
    node: String,
    victims: Vec<String>,
    pdb_violations: usize,
}

#[derive(PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct EventAnswer {
    pod: String,
    r#type: String,
    reason: String,
    message: String,
}

#[derive(PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct PreemptAnswer {
    message: Option<String>,
    eligible: bool,
    candidates: Vec<CandidateAnswer>,
    #[serde(default)]
    chosen: BTreeSet<String>,
    #[serde(default)]
    nominated: String,
    #[serde(default)]
    deleted: Vec<String>,
    #[serde(default)]
    events: Vec<EventAnswer>,
    #[serde(default)]
    nomination_cleared: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PreemptCase {
    #[serde(default)]
    pod_disruption_budgets: Vec<PodDisruptionBudget>,
    #[serde(flatten)]
    expected: PreemptAnswer,
}

/// Runs one case of `scheduler_preempt_*` of that release.
pub fn preempt(release: &str, line: &str) -> Outcome {
    let members = [
        "podDisruptionBudgets",
        "message",
        "eligible",
        "candidates",
        "chosen",
        "nominated",
        "deleted",
        "events",
        "nominationCleared",
        // The patch that clears a nomination is the client's.
        "clearPatch",
        "tiedVictims",
        "noStartTime",
        "filterMessage",
        "notEligible",
        "disruptionTarget",
    ];
    play(line, &members, |input, case: PreemptCase| {
        let snapshot = input.snapshot(release)?;
        let wrong = |error: taintlab_core::policy::scheduling::SchedulingError| error.to_string();
        let budgets: Vec<_> =
            case.pod_disruption_budgets.iter().filter_map(BudgetOfVictims::of).collect();
        let preemption = snapshot.preempt(&input.pod, &budgets).map_err(wrong)?;
        let answer = |index: &usize| {
            let known = &preemption.candidates[*index];
            CandidateAnswer {
                node: known.node.clone(),
                victims: known.victims.iter().map(ToString::to_string).collect(),
                pdb_violations: known.pdb_violations,
            }
        };
        let position = |index: &usize| {
            let node = &preemption.candidates[*index].node;
            input.nodes.iter().position(|known| known.metadata.name == *node)
        };
        let mut in_order: Vec<usize> = (0..preemption.candidates.len()).collect();
        in_order.sort_by_key(position);
        let chosen = preemption.chosen();
        let skips = release_of(release).skips_terminating_victims();
        let ends = |victim: &taintlab_core::api::PodKey| {
            skips && input.pods.iter().any(|pod| pod.key() == *victim && pod.is_terminating())
        };
        let victims = || {
            let all = chosen.iter().flat_map(|chosen| &chosen.victims);
            all.filter(|victim| !ends(victim))
        };
        let event = |victim: &taintlab_core::api::PodKey| {
            let node = chosen.map_or("", |chosen| &chosen.node);
            let event = preempted_event(release_of(release), &input.pod, victim, node);
            EventAnswer {
                pod: victim.to_string(),
                r#type: event.type_.to_owned(),
                reason: event.reason.to_owned(),
                message: event.message,
            }
        };
        let best = preemption.best.iter().map(|best| preemption.candidates[*best].node.clone());
        let got = PreemptAnswer {
            message: snapshot.schedule(&input.pod).map_err(wrong)?.message,
            eligible: preemption.eligible,
            candidates: in_order.iter().map(answer).collect(),
            chosen: best.collect(),
            nominated: chosen.map(|chosen| chosen.node.clone()).unwrap_or_default(),
            deleted: victims().map(ToString::to_string).collect(),
            events: victims().map(event).collect(),
            nomination_cleared: {
                // Since 1.23 that is the work of the caller, which was not recorded.
                let recorded = !release_of(release).clears_nomination_without_candidates();
                let own =
                    recorded && preemption.gives_up && !input.pod.nominated_node_name().is_empty();
                let own = own.then(|| input.pod.key());
                let cleared = own.iter().chain(&preemption.outranked);
                cleared.map(ToString::to_string).collect()
            },
        };
        Ok(compare(&case.expected, &got))
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DecisionCase {
    #[serde(rename = "trace")]
    _trace: String,
    #[serde(rename = "t")]
    _t: f64,
    quiet: bool,
    pod: Pod,
    nodes: Vec<Node>,
    pods: Vec<RunningPod>,
    node: Option<String>,
    message: Option<String>,
}

/// A pod on a node.
#[derive(Deserialize)]
struct RunningPod {
    #[serde(default)]
    terminating: bool,
    #[serde(flatten)]
    pod: Pod,
}

/// Runs one case of `scheduler_decisions`.
pub fn decision(line: &str) -> Outcome {
    with_flagged_case(
        line,
        |case: &DecisionCase| !case.quiet,
        |case| {
            let running = |running: RunningPod| {
                let mut pod = running.pod;
                if running.terminating {
                    pod.metadata.deletion_timestamp = Some(Time::DEFAULT_START);
                }
                pod
            };
            let input = Input {
                nodes: case.nodes,
                pods: case.pods.into_iter().map(running).collect(),
                pod: case.pod,
                services: Vec::new(),
                replica_sets: Vec::new(),
                stateful_sets: Vec::new(),
                namespaces: Vec::new(),
            };
            let decision = input.decide("1.20")?;
            Ok(match case.node {
                // Among equally good nodes the scheduler draws lots.
                Some(node) if best(&decision).contains(&node) => Outcome::Agrees,
                Some(node) => Outcome::Differs {
                    expected: node,
                    got: format!("{:?} {:?}", best(&decision), decision.message),
                },
                None => compare(&case.message, &decision.message),
            })
        },
    )
}
