//! `taintlab plan`: what becomes of a cluster while nodes are drained, replaced, taken away or tainted.

use std::collections::BTreeMap;

use serde::Serialize;
use taintlab_core::api::{NodeName, WorkloadKey};
use taintlab_core::plan::{
    Act, CountRun, FirstAtZero, NodeChoice, Procedure, Rehearsal, RehearsalOptions, Rehearsed,
    SpotHandler,
};
use taintlab_core::plural::count;
use taintlab_core::policy::drain::DrainOptions;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::time::Span;
use taintlab_manifest::write_scenario;
use taintlab_words::plan::{
    CountText, PlanText, count_markdown, count_terminal, plan_commands, plan_markdown,
    plan_terminal,
};

use crate::embed::playground_link;
use crate::host::Host;
use crate::json;
use crate::line::{DrainFlags, PlanAct, PlanLine, PlanOptions, PluginPlan};
use crate::options::{moment, number, one_output, pairs, taint, whole};
use crate::reading::{files_of, read_inputs, warn};
use crate::report::{Cluster, cluster_in, current_cluster, stop_of};
use crate::run::tell;
use crate::stop::{Done, FAILED, OK, Stop};
use crate::threads::{in_threads, threads};

/// The plan as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Written<'a> {
    release: KubernetesRelease,
    act: &'a Act,
    commands: Vec<String>,
    /// Number of orders that were tried.
    tried: usize,
    /// Workloads whose start-up time was measured.
    start_up: BTreeMap<String, Span>,
    given: &'a Rehearsed,
    #[serde(skip_serializing_if = "Option::is_none")]
    better: Option<&'a Rehearsed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<&'a str>,
}

/// The curve by the number of nodes as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WrittenCounts<'a> {
    release: KubernetesRelease,
    act: &'a Act,
    /// All nodes, in the order in which they were given.
    order: &'a [NodeName],
    /// Time from the beginning to the end of each run.
    horizon: Span,
    /// Number of rows that were planned.
    planned: usize,
    /// Workloads whose start-up time was measured.
    start_up: BTreeMap<String, Span>,
    counts: &'a [CountRun],
    first_at_zero: &'a [FirstAtZero],
}

pub(crate) fn plan(host: &dyn Host, line: &PlanLine) -> Done<u8> {
    let asked = Asked::of(&line.act, &line.options)?;
    let files = files_of(&line.filename, "plan: --filename")?;
    let inputs = read_inputs(host, files, &line.options.apply.apply)?;
    let from = files.first().map_or("-", String::as_str);
    asked.answer(host, cluster_in(host, &inputs, from, &line.options.kubernetes)?)
}

/// `kubectl taintlab plan`: the cluster of the current context.
pub(crate) fn plan_cluster(host: &dyn Host, line: &PluginPlan) -> Done<u8> {
    let options = &line.options;
    let asked = Asked::of(&line.act, options)?;
    let (kubernetes, apply) = (&options.kubernetes, &options.apply);
    let (cluster, ..) = current_cluster(host, &line.connection, kubernetes, apply)?;
    asked.answer(host, cluster)
}

/// Request of a command line.
pub(crate) struct Asked<'l> {
    line: &'l PlanOptions,
    procedure: Procedure,
    /// Whether a curve by the number of nodes is wanted.
    by_count: bool,
    options: RehearsalOptions,
    start_up: Option<Span>,
    orders: usize,
    workers: Option<usize>,
}

impl<'l> Asked<'l> {
    pub(crate) fn of(act: &PlanAct, line: &'l PlanOptions) -> Done<Self> {
        let time = |option: &str, text: &Option<String>| -> Done<Option<Span>> {
            text.as_ref().map(|text| moment(option, text)).transpose()
        };
        let outputs =
            [("json", line.json), ("markdown", line.markdown), ("scenario", line.scenario)];
        one_output(&outputs)?;
        let by_count = match act {
            PlanAct::Spot { by_count, .. } | PlanAct::Taint { by_count, .. } => *by_count,
            PlanAct::Drain { .. } | PlanAct::Upgrade { .. } | PlanAct::ZoneEvacuation { .. } => {
                false
            }
        };
        let of_one_run = [("scenario", line.scenario), ("playground", line.playground.is_some())];
        for output in of_one_run {
            one_output(&[("by-count", by_count), output])?;
        }
        let defaults =
            if by_count { RehearsalOptions::by_count() } else { RehearsalOptions::default() };
        Ok(Self {
            line,
            procedure: procedure_of(act)?,
            by_count,
            options: RehearsalOptions {
                horizon: time("--horizon", &line.horizon)?.unwrap_or(defaults.horizon),
                ..defaults
            },
            start_up: time("--start-up", &line.start_up)?,
            orders: whole("--orders", line.orders.as_ref(), 1)?.unwrap_or(40),
            workers: whole("--workers", line.workers.as_ref(), 0)?,
        })
    }

    fn answer(self, host: &dyn Host, cluster: Cluster) -> Done<u8> {
        if self.by_count {
            return self.answer_by_count(host, cluster);
        }
        let line = self.line;
        let tried = self.tried(host, cluster)?;
        let Some((given, better)) = tried.outcome() else { return Ok(FAILED) };
        let mut notes = start_up_note(tried.rehearsal.start_up());
        let scenario = || tried.rehearsal.scenario_of(&better.unwrap_or(given).order);
        let link = line.playground.as_ref().and_then(|playground| {
            playground_link(playground, &scenario(), tried.rehearsal.begins_at(), &mut notes)
        });
        let plan = PlanText {
            notes: &notes,
            link: link.as_deref().unwrap_or_default(),
            ..tried.text(given, better)
        };
        let text = if line.json {
            json::line(&Written { link: link.as_deref(), ..tried.written(given, better) }) + "\n"
        } else if line.scenario {
            write_scenario(&scenario())
        } else if line.markdown {
            plan_markdown(&plan)
        } else {
            plan_terminal(&plan, host.style())
        };
        host.out(&text);
        let is_done = given.ended.is_some() && given.nodes.iter().all(|node| !node.failed);
        Ok(if is_done { OK } else { FAILED })
    }

    /// The curve by the number of nodes.
    fn answer_by_count(self, host: &dyn Host, cluster: Cluster) -> Done<u8> {
        let rehearsal = self.settled(host, cluster)?;
        let counts = rehearsal.counts();
        let (planned, workers) = (counts.len(), threads(host, self.workers));
        let run = |count: &usize| rehearsal.run_count(*count);
        let runs = in_threads(host, &counts, (0, planned), workers, run);
        host.progress(None);
        let first_at_zero = rehearsal.first_at_zero(&runs);
        let (act, order, horizon) = (rehearsal.act(), rehearsal.order(), rehearsal.horizon());
        let text = if self.line.json {
            json::line(&WrittenCounts {
                release: rehearsal.release(),
                act,
                order,
                horizon,
                planned,
                start_up: start_up_times(&rehearsal),
                counts: &runs,
                first_at_zero: &first_at_zero,
            }) + "\n"
        } else {
            let notes = start_up_note(rehearsal.start_up());
            let (runs, first_at_zero) = (runs.as_slice(), first_at_zero.as_slice());
            let notes = notes.as_slice();
            let curve = CountText { act, order, horizon, planned, runs, first_at_zero, notes };
            if self.line.markdown {
                count_markdown(&curve)
            } else {
                count_terminal(&curve, host.style())
            }
        };
        host.out(&text);
        let is_done = runs.len() == planned && runs.iter().all(|run| run.is_done);
        Ok(if is_done { OK } else { FAILED })
    }

    /// Tries the procedure in a cluster.
    pub(crate) fn tried(self, host: &dyn Host, cluster: Cluster) -> Done<Tried> {
        let rehearsal = self.settled(host, cluster)?;
        let all = try_all(host, &rehearsal, self.orders, threads(host, self.workers));
        Ok(Tried { rehearsal, all })
    }

    /// Settles a cluster, and finds the nodes in it.
    fn settled(&self, host: &dyn Host, cluster: Cluster) -> Done<Rehearsal> {
        let Self { line, procedure, options, start_up, .. } = self;
        let Cluster { mut scenario, warnings, imported } = cluster;
        warn(host, &warnings);
        scenario.kubernetes.start_up_time = start_up.or(scenario.kubernetes.start_up_time);
        let rehearsal = Rehearsal::new(scenario, procedure, *options)
            .map_err(|error| stop_of("plan", &error, &line.kubernetes))?;
        tell(host, &imported, line.kubernetes.release.as_deref(), "");
        Ok(rehearsal)
    }
}

/// A procedure, and its outcomes in the orders that were tried.
pub(crate) struct Tried {
    pub(crate) rehearsal: Rehearsal,
    /// The first is that in the order that was given.
    pub(crate) all: Vec<Rehearsed>,
}

impl Tried {
    /// The outcome in the order that was given, and in the best other one if that is better.
    pub(crate) fn outcome(&self) -> Option<(&Rehearsed, Option<&Rehearsed>)> {
        let given = self.all.first()?;
        let best = self.all.iter().min_by_key(|it| it.cost());
        Some((given, best.filter(|it| it.cost() < given.cost())))
    }

    /// The plan for its words, without notes and link.
    pub(crate) fn text<'a>(
        &'a self,
        given: &'a Rehearsed,
        better: Option<&'a Rehearsed>,
    ) -> PlanText<'a> {
        let Self { rehearsal, all } = self;
        let (act, tried) = (rehearsal.act(), all.len());
        PlanText { act, given, better, tried, notes: &[], link: "" }
    }

    pub(crate) fn written<'a>(
        &'a self,
        given: &'a Rehearsed,
        better: Option<&'a Rehearsed>,
    ) -> Written<'a> {
        let Self { rehearsal, all } = self;
        Written {
            release: rehearsal.release(),
            act: rehearsal.act(),
            commands: plan_commands(rehearsal.act(), &better.unwrap_or(given).order),
            tried: all.len(),
            start_up: start_up_times(rehearsal),
            given,
            better,
            link: None,
        }
    }
}

/// Tries orders of the nodes until none is left, or the user has enough. The first result is that of
/// the order that was given.
fn try_all(host: &dyn Host, rehearsal: &Rehearsal, most: usize, workers: usize) -> Vec<Rehearsed> {
    let mut known = Vec::new();
    let mut list = vec![rehearsal.order().to_vec()];
    while !list.is_empty() {
        let counts = (known.len(), known.len() + list.len());
        known.extend(in_threads(host, &list, counts, workers, |order| rehearsal.run(order)));
        list = if host.interrupted() { Vec::new() } else { rehearsal.orders(&known, most) };
    }
    host.progress(None);
    known
}

/// Workloads whose start-up time was measured, with that time.
fn start_up_times(rehearsal: &Rehearsal) -> BTreeMap<String, Span> {
    rehearsal.start_up().iter().map(|(key, time)| (key.to_string(), *time)).collect()
}

/// What is said of workloads whose start-up time was measured.
pub(crate) fn start_up_note(measured: &[(WorkloadKey, Span)]) -> Vec<String> {
    if measured.is_empty() {
        return Vec::new();
    }
    let workloads = count(measured.len(), "workload");
    vec![format!(
        "Start-up times of {workloads} are those that their pods took (Ready - PodScheduled)"
    )]
}

fn procedure_of(act: &PlanAct) -> Done<Procedure> {
    let named = |nodes: &[String], what: &str| -> Done<NodeChoice> {
        if nodes.is_empty() || nodes.iter().any(String::is_empty) {
            return Err(Stop::usage(format!("plan {what}: which node?")));
        }
        Ok(NodeChoice::Named(nodes.iter().map(|node| node.as_str().into()).collect()))
    };
    let whole = |option: &str, text: &str, least: u32| -> Done<usize> {
        let number = number(option, Some(&text.to_owned()), least)?;
        Ok(number.and_then(|number| usize::try_from(number).ok()).unwrap_or_default())
    };
    Ok(match act {
        PlanAct::Drain { nodes, parallel, flags } => {
            let options = drain_options(flags.force, &flags.others)?;
            let at_once = whole("--parallel", parallel, 1)?;
            Procedure { nodes: named(nodes, "drain")?, act: Act::Drain { options, at_once } }
        }
        PlanAct::ZoneEvacuation { zone, parallel, flags } => {
            let options = drain_options(flags.force, &flags.others)?;
            let at_once = whole("--parallel", parallel, 1)?;
            let act = Act::Drain { options, at_once };
            Procedure { nodes: NodeChoice::Zone(zone.clone()), act }
        }
        PlanAct::Upgrade { pool, max_unavailable, surge, node_start_up, flags } => {
            let pool = pairs(std::slice::from_ref(pool), "--pool")?.into_iter().next();
            let (key, value) = pool.unwrap_or_default();
            let act = Act::Upgrade {
                options: drain_options(true, flags)?,
                max_unavailable: whole("--max-unavailable", max_unavailable, 0)?,
                surge: whole("--surge", surge, 0)?,
                node_start_up: moment("--node-start-up", node_start_up)?,
            };
            Procedure { nodes: NodeChoice::Labelled { key, value }, act }
        }
        PlanAct::Spot { nodes, notice, handler, flags, by_count: _ } => {
            let handler = match handler.split_once('=') {
                None if handler == "drain" => SpotHandler::Drain,
                None if handler == "none" => SpotHandler::None,
                Some(("taint", text)) => SpotHandler::Taint(taint("--handler taint", text)?),
                _ => {
                    let wanted = "expected drain, taint=TAINT or none";
                    return Err(Stop::usage(format!("--handler: {wanted}, found `{handler}`")));
                }
            };
            let options = drain_options(true, flags)?;
            let act = Act::Spot { notice: moment("--notice", notice)?, handler, options };
            Procedure { nodes: named(nodes, "spot")?, act }
        }
        PlanAct::Taint { words, by_count: _ } => {
            let Some((text, nodes)) = words.split_last() else {
                return Err(Stop::usage("plan taint: which node, and which taint?"));
            };
            let act = Act::Taint { taint: taint("plan taint", text)? };
            Procedure { nodes: named(nodes, "taint")?, act }
        }
    })
}

/// The options of a drain as they are mostly set: pods of DaemonSets stay, data of an emptyDir is lost.
fn drain_options(force: bool, flags: &DrainFlags) -> Done<DrainOptions> {
    Ok(DrainOptions {
        ignore_daemonsets: true,
        delete_emptydir_data: true,
        force,
        disable_eviction: flags.disable_eviction,
        grace_period_seconds: number("--grace-period", flags.grace_period.as_ref(), 0)?,
        timeout: match &flags.timeout {
            Some(text) => moment("--timeout", text)?,
            None => Span::default(),
        },
        ..DrainOptions::default()
    })
}
