//! Trials of remedies: the runs to make, and what their results say of a finding.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::time::Duration;

use taintlab_engine::simulator::Simulator;
use taintlab_rules::api::{
    NodeName, Pod, Taint, TaintEffect, WorkloadKey, WorkloadKind, well_known,
};
use taintlab_rules::order::{Order, OrderedMap, OrderedSet};
use taintlab_rules::policy::matching::tolerates;
use taintlab_rules::time::Span;

use super::domains::{HOSTNAME, takes_in};
use super::findings::found;
use super::remedy::must_spread;
use super::score::{Harms, cells, harm, harms};
use super::{
    Cell, DomainKind, Effect, FalseAlarm, Fault, Finding, MadeWorse, Outline, OverAll, Remedy,
    ReportSubject, Run, RunResult, text, verdict,
};

/// Values of `tolerationSeconds` to try.
const TOLERATION_SECONDS: [u32; 4] = [0, 30, 60, 300];
/// Lengths in seconds of the outages in which evictions may turn out to be needless.
const OUTAGES: [u64; 5] = [30, 60, 120, 300, 600];
/// Time from the fault to the out-of-service taint.
const OUT_OF_SERVICE_AFTER: Duration = Duration::from_secs(60);
/// Number of the best remedies of a finding that are tried in other failures, too.
const MOST_JUDGED: usize = 2;
/// Number of other failures that they are tried in: those that harm the workload most.
const MOST_OTHERS: usize = 4;
/// Workloads listed at most that a change makes worse.
const MOST_WORSE: usize = 5;
const ZONE: &str = "topology.kubernetes.io/zone";

/// All results, and the failures that count.
pub(super) struct Known<'a> {
    outline: &'a Outline,
    by_run: &'a OrderedMap<&'a Run, &'a RunResult>,
    /// Harm by run, kept because every finding needs it again.
    harms: OrderedMap<&'a Run, Harms<'a>>,
    /// The runs of the cluster as it is.
    planned: OrderedSet<&'a Run>,
    by_nodes: OrderedMap<usize, Vec<usize>>,
}

impl<'a> Known<'a> {
    pub(super) fn new(
        outline: &'a Outline,
        by_run: &'a OrderedMap<&'a Run, &'a RunResult>,
        planned: &'a OrderedSet<Run>,
    ) -> Self {
        let planned = planned.iter().filter(|run| outline.counts(run.domain)).collect();
        let harms = by_run.iter().map(|(run, result)| (*run, harms(result))).collect();
        Self { outline, by_run, harms, planned, by_nodes: outline.by_nodes() }
    }

    /// Results of the cluster as it is.
    fn plain(&self) -> impl Iterator<Item = &'a RunResult> {
        self.by_run.values().copied().filter(|result| self.planned.contains(&result.run))
    }

    /// Runs of a changed cluster that correspond to a run of the unchanged one, which stands for
    /// all domains of the same nodes. One more node makes these differ: it fails with its zone, and
    /// not with another node.
    fn with_change(&self, run: &Run, remedy: &Remedy) -> Vec<Run> {
        let of = |domain: usize| Run { remedy: Some(remedy.clone()), domain, ..run.clone() };
        let Remedy::OneMoreNode { like } = remedy else { return Vec::from([of(run.domain)]) };
        let grows = |index: &usize| {
            let domain = self.outline.domains.get(*index);
            domain.is_some_and(|domain| takes_in(self.outline, domain, like))
        };
        let same = self.by_nodes.get(&run.domain).map(Vec::as_slice).unwrap_or_default();
        let first = |wanted: bool| same.iter().copied().find(|index| grows(index) == wanted);
        [first(false), first(true)].into_iter().flatten().map(of).collect()
    }
}

/// Runs that try remedies for the worst findings, and once these are done, runs of the best
/// remedies in other failures. Runs of one cluster and one domain follow one another, the shorter
/// outages first.
pub(super) fn remedies(
    outline: &Outline,
    simulator: &Simulator,
    results: &[RunResult],
) -> Vec<Run> {
    let by_run: OrderedMap<&Run, &RunResult> = results.iter().map(|it| (&it.run, it)).collect();
    let planned = super::runs(outline).into_iter().collect();
    let known = Known::new(outline, &by_run, &planned);
    let cells = cells(outline, known.plain());
    let all = found(outline, &cells, known.plain());
    let groups = verdict::groups(outline, &all);
    let worst = groups.iter().take(outline.options.remedies).filter_map(|it| it.findings.first());
    let worst: OrderedSet<usize> = worst.copied().collect();
    let all = all.into_iter().enumerate();
    let mut findings: Vec<Finding> =
        all.filter(|(index, _)| worst.contains(index)).map(|(_, finding)| finding).collect();
    let could: OrderedSet<Run> = findings
        .iter()
        .flat_map(|finding| finding.could_help(outline, simulator, &cells))
        .collect();
    let mut runs: Vec<Run> = could.into_iter().filter(|run| !by_run.contains_key(run)).collect();
    if runs.is_empty() {
        let mut judged = OrderedSet::new();
        for finding in &mut findings {
            finding.help(&known);
            let helps = finding.effects.iter().filter(|effect| effect.helps);
            for effect in helps.take(MOST_JUDGED) {
                judged.extend(finding.others(&effect.remedy, &known));
            }
        }
        runs = judged.into_iter().filter(|run| !by_run.contains_key(run)).collect();
    }
    let nodes = |domain: usize| outline.domains.get(domain).map_or(0, |it| it.nodes.len());
    runs.order_by_cached_key(|run| {
        let outage = match &run.fault {
            Fault::PowerOff { back_after } => Some(*back_after),
            _ => None,
        };
        let cluster = (run.seed, run.remedy.clone());
        (
            cluster,
            Reverse(nodes(run.domain)),
            run.domain,
            outage.is_none(),
            outage,
            run.fault.clone(),
        )
    });
    runs
}

impl Finding {
    /// Adds the results of the runs with remedies.
    pub(super) fn help(&mut self, known: &Known<'_>) {
        let figures_of = |result: &RunResult| {
            let mut all = result.workloads.iter();
            all.find(|it| Some(&it.subject) == self.subject.as_ref()).cloned()
        };
        let concerns = |remedy: &Remedy| match remedy {
            Remedy::TolerationSeconds { workload, .. }
            | Remedy::Spread { workload, .. }
            | Remedy::Priority { workload } => {
                self.subject == Some(ReportSubject::Workload(workload.clone()))
            }
            Remedy::OneMoreNode { .. } | Remedy::OutOfService { .. } => self.subject.is_some(),
            Remedy::Budget { .. } => self.subject.is_none(),
        };
        let (mut effects, mut false_alarms) = (Vec::new(), Vec::new());
        for (run, result) in known.by_run {
            if run.domain != self.run.domain || run.seed != self.run.seed {
                continue;
            }
            let figures = figures_of(result);
            let seconds = match &run.remedy {
                Some(remedy) if !concerns(remedy) => continue,
                Some(Remedy::TolerationSeconds { seconds, .. }) => Some(*seconds),
                _ => None,
            };
            if let (Some(remedy), Some(yaml)) = (&run.remedy, &result.yaml)
                && run.fault == self.run.fault
            {
                let harm = figures.as_ref().map(harm).unwrap_or_default();
                let mut effect = Effect {
                    remedy: remedy.clone(),
                    what: remedy.to_string(),
                    yaml: yaml.clone(),
                    helps: match self.subject {
                        Some(_) => harm < self.harm,
                        None => result.drain.as_ref().is_some_and(|drain| drain.ended.is_some()),
                    },
                    harm,
                    figures: figures.clone(),
                    drain: result.drain.clone(),
                    over_all: self.over_all(remedy, known),
                    text: String::new(),
                };
                if effect.helps {
                    effect.text = text::effect(self, &effect);
                }
                effects.push(effect);
            }
            if let Fault::PowerOff { back_after } = &run.fault
                && (seconds.is_some() || run.remedy.is_none())
                && self.tries_tolerations()
            {
                false_alarms.push(FalseAlarm {
                    seconds,
                    outage: *back_after,
                    evicted: figures.as_ref().map_or(0, |it| it.evicted),
                    longest_gap: figures.map(|it| it.longest_gap).unwrap_or_default(),
                });
            }
        }
        // Greatest reduction for all workloads first, then least harm to this one.
        effects.order_by_key(|effect| {
            let OverAll { before, after, .. } = &effect.over_all;
            (!effect.helps, i128::from(after.0) - i128::from(before.0), effect.harm)
        });
        if false_alarms.iter().all(|alarm| alarm.seconds.is_none()) {
            false_alarms.clear();
        }
        false_alarms.order_by_key(|alarm| (alarm.outage, alarm.seconds));
        let list = |worse: bool| {
            let others = effects.iter().filter(|it| !it.helps && (it.harm > self.harm) == worse);
            others.map(|it| it.what.as_str()).collect::<Vec<_>>().join(", ")
        };
        let lists = [("no help", list(false)), ("worse", list(true))];
        let lists = lists.iter().filter(|(_, list)| !list.is_empty());
        let line = lists.map(|(is, list)| format!("{is}: {list}")).collect::<Vec<_>>().join("; ");
        self.no_help = Some(line).filter(|line| !line.is_empty());
        (self.effects, self.false_alarms) = (effects, false_alarms);
    }

    /// Runs that try remedies.
    fn could_help(
        &self,
        outline: &Outline,
        simulator: &Simulator,
        cells: &[Cell],
    ) -> OrderedSet<Run> {
        let remedies = match (&self.subject, self.makes_pods_anew()) {
            (None, _) => budgets(outline, simulator, self),
            (Some(_), Some(workload)) => {
                let cell = cells.iter().find(|cell| {
                    cell.domain == self.run.domain
                        && cell.fault == self.run.fault
                        && Some(&cell.worst.subject) == self.subject.as_ref()
                });
                cell.map_or_else(Vec::new, |cell| help(outline, simulator, cell, workload))
            }
            (Some(_), None) => Vec::new(),
        };
        let mut runs = OrderedSet::new();
        let sweep = self.tries_tolerations();
        let outages =
            OUTAGES.map(|secs| Fault::PowerOff { back_after: Span(Duration::from_secs(secs)) });
        for remedy in remedies {
            let tolerates = matches!(remedy, Remedy::TolerationSeconds { .. });
            runs.insert(Run { remedy: Some(remedy.clone()), ..self.run.clone() });
            if sweep && tolerates {
                for fault in outages.clone() {
                    let remedy = Some(remedy.clone());
                    runs.insert(Run { remedy, fault: fault.clone(), ..self.run.clone() });
                    runs.insert(Run { fault, ..self.run.clone() });
                }
            }
        }
        runs
    }

    /// Whether an unchanged run affects the subject of this finding.
    fn reaches(&self, result: &RunResult) -> bool {
        match &self.subject {
            Some(subject) => result.workloads.iter().any(|it| it.subject == *subject),
            // One budget blocks many drains, with the same message.
            None => result.drain.as_ref().is_some_and(|drain| {
                drain.ended.is_none() && drain.error.as_deref() == Some(self.why.as_str())
            }),
        }
    }

    /// Effect of a change in all failures in which it was tried and that affect this workload.
    fn over_all(&self, remedy: &Remedy, known: &Known<'_>) -> OverAll {
        let mut all = OverAll::default();
        for plain in known.plain().filter(|plain| self.is_judged_by(plain)) {
            for changed in known.with_change(&plain.run, remedy) {
                all.failures += 1;
                if let Some(before) = known.harms.get(&plain.run)
                    && let Some(after) = known.harms.get_key_value(&changed)
                {
                    all.add(before, after);
                }
            }
        }
        all.made_worse = all.worse.len();
        all.worse.order_by_key(|it| Reverse(it.after.0 - it.before.0));
        all.worse.truncate(MOST_WORSE);
        all
    }

    /// Whether a change is also judged by an unchanged run: that of this finding, or another one
    /// that affects the workload.
    fn is_judged_by(&self, plain: &RunResult) -> bool {
        plain.run.seed == self.run.seed && (plain.run == self.run || self.reaches(plain))
    }

    /// Runs of a change in other failures, those with the most harm to the workload first.
    fn others(&self, remedy: &Remedy, known: &Known<'_>) -> impl Iterator<Item = Run> {
        let mut others = Vec::new();
        for plain in known.plain().filter(|plain| self.is_judged_by(plain)) {
            let mut all = plain.workloads.iter();
            let own = all.find(|it| Some(&it.subject) == self.subject.as_ref());
            let harm = own.map(harm).unwrap_or_default();
            let runs = known.with_change(&plain.run, remedy);
            others.extend(runs.into_iter().map(|run| (Reverse(harm), run)));
        }
        let own = Run { remedy: Some(remedy.clone()), ..self.run.clone() };
        others.retain(|(_, run)| *run != own);
        others.order();
        others.into_iter().take(MOST_OTHERS).map(|(_, run)| run)
    }

    /// Whether tolerations decide when its pods leave.
    fn tries_tolerations(&self) -> bool {
        matches!(self.run.fault, Fault::Lost | Fault::PowerOff { .. } | Fault::NetworkCut)
            && self.makes_pods_anew().is_some()
    }

    /// The workload whose pods are recreated elsewhere.
    fn makes_pods_anew(&self) -> Option<&WorkloadKey> {
        match self.subject.as_ref()? {
            ReportSubject::Workload(key) if key.kind != WorkloadKind::DaemonSet => Some(key),
            ReportSubject::Workload(_) | ReportSubject::Pod(_) => None,
        }
    }
}

impl OverAll {
    /// Adds a failure, without the change and with it.
    fn add(&mut self, before: &Harms<'_>, (changed, after): (&&Run, &Harms<'_>)) {
        let sum =
            |harms: &Harms<'_>| harms.values().fold(0_u64, |sum, harm| sum.saturating_add(harm.0));
        self.tried += 1;
        self.before.0 = self.before.0.saturating_add(sum(before));
        self.after.0 = self.after.0.saturating_add(sum(after));
        for (subject, after) in after {
            let (before, after) = (before.get(subject).copied().unwrap_or_default(), *after);
            if after > before {
                self.worse.push(MadeWorse {
                    domain: changed.domain,
                    fault: changed.fault.clone(),
                    subject: (*subject).clone(),
                    before,
                    after,
                });
            }
        }
    }
}

/// Remedies to try for a workload.
fn help(
    outline: &Outline,
    simulator: &Simulator,
    cell: &Cell,
    workload: &WorkloadKey,
) -> Vec<Remedy> {
    let figures = &cell.worst;
    let mut remedies = Vec::new();
    let domain = outline.domains.get(cell.domain);
    // Remedies against devices that fail are not tried.
    let Some(domain) = domain.filter(|it| it.kind != DomainKind::DevicePool) else {
        return remedies;
    };
    let unreachable =
        matches!(cell.fault, Fault::Lost | Fault::PowerOff { .. } | Fault::NetworkCut);
    if unreachable {
        let others = TOLERATION_SECONDS
            .into_iter()
            .filter(|seconds| !has_toleration_seconds(simulator, workload, *seconds));
        remedies.extend(
            others.map(|seconds| Remedy::TolerationSeconds { workload: workload.clone(), seconds }),
        );
    }
    let spreads = workload.kind != WorkloadKind::Job;
    if spreads && figures.wanted > 1 && domain.nodes.len() < outline.nodes {
        let topology_key = match domain.kind {
            DomainKind::Node | DomainKind::List | DomainKind::Pair | DomainKind::DevicePool => {
                HOSTNAME
            }
            DomainKind::Zone | DomainKind::Region => ZONE,
            DomainKind::Label => domain.name.split('=').next().unwrap_or(HOSTNAME),
        };
        let cluster = simulator.cluster();
        let pods = cluster.pods_of_workload(workload);
        let pod = pods.iter().find_map(|key| cluster.get_pod(key));
        let softens = pod.is_some_and(|pod| must_spread(&pod.spec, topology_key));
        let topology_key = topology_key.into();
        remedies.push(Remedy::Spread { workload: workload.clone(), topology_key, softens });
    }
    let is_all = domain.nodes.len() == outline.nodes;
    if (is_all || !figures.pending.is_empty())
        && let Some(like) = typical_node(simulator, &domain.nodes)
    {
        remedies.push(Remedy::OneMoreNode { like });
    }
    if !figures.pending.is_empty() {
        remedies.push(Remedy::Priority { workload: workload.clone() });
    }
    if figures.stuck > 0 && cell.fault == Fault::Lost && outline.release.has_out_of_service_taint()
    {
        remedies.push(Remedy::OutOfService { after: Span(OUT_OF_SERVICE_AFTER) });
    }
    remedies
}

/// Whether all pods of a workload stay exactly this time on an unreachable or not ready node.
fn has_toleration_seconds(simulator: &Simulator, workload: &WorkloadKey, seconds: u32) -> bool {
    let cluster = simulator.cluster();
    let pods = cluster.pods_of_workload(workload);
    let mut pods = pods.iter().filter_map(|key| cluster.get_pod(key)).peekable();
    let has = |pod: &Pod, key: &str| {
        let taint = Taint::new(key, "", TaintEffect::NoExecute);
        let first = pod.spec.tolerations.iter().find(|it| tolerates(it, &taint, false));
        first.is_some_and(|it| it.toleration_seconds == Some(seconds.into()))
    };
    let keys = [well_known::NOT_READY, well_known::UNREACHABLE];
    pods.peek().is_some() && pods.all(|pod| keys.iter().all(|key| has(pod, key)))
}

/// The schedulable node with the most pods, outside the failure domain if possible: another one
/// like it offers the kind of room that is missing.
fn typical_node(simulator: &Simulator, failed: &[NodeName]) -> Option<NodeName> {
    let keeps_off =
        |effect: &TaintEffect| matches!(effect, TaintEffect::NoSchedule | TaintEffect::NoExecute);
    let takers = simulator.cluster().nodes().filter(|(_, node)| {
        !node.spec.unschedulable && node.spec.taints.iter().all(|taint| !keeps_off(&taint.effect))
    });
    let most = takers.max_by_key(|(name, _)| {
        let pods = simulator.cluster().pods_of(name.as_str()).count();
        (!failed.contains(name), pods, Reverse(*name))
    });
    most.map(|(name, _)| name.clone())
}

/// Budgets that let none of the pods go that a drain waits for.
fn budgets(outline: &Outline, simulator: &Simulator, finding: &Finding) -> Vec<Remedy> {
    let Some(domain) = outline.domains.get(finding.run.domain) else { return Vec::new() };
    let cluster = simulator.cluster();
    let blocks = cluster.budgets().filter(|(key, budget)| {
        let allowed = simulator.budget_status(key).map_or(0, |status| status.disruptions_allowed);
        let Ok(Some(selector)) = budget.selector() else { return false };
        let mut pods = domain.nodes.iter().flat_map(|node| cluster.pods_of(node.as_str()));
        allowed <= 0
            && pods.any(|(pod, object)| {
                pod.namespace() == key.namespace() && selector.matches(&object.metadata.labels)
            })
    });
    blocks.map(|(budget, _)| Remedy::Budget { budget: budget.clone() }).collect()
}
