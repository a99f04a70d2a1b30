//! The tools: each asks what its command asks, and takes the figures of that answer.

use std::cmp::Reverse;

use serde_json::{Value, json};
use taintlab_answers::simulation::Simulation;
use taintlab_core::api::{Node, Pod, PodKey};
use taintlab_core::eviction_timeline::time_budget::TimeBudget;
use taintlab_core::plural::count;
use taintlab_core::report::{Cell, Domain, DomainKind, Outline, Plan, Run};
use taintlab_core::scenario::{NodeGroup, Objects, Scenario, Step};
use taintlab_core::time::{Span, Timestamp, format_duration};
use taintlab_core::warnings::Severity;
use taintlab_words::Style;
use taintlab_words::plan::{PlanText, plan_terminal};
use taintlab_words::report::{targets_terminal, terminal};

use super::questions::{self, AtLeast, Lost};
use super::{Call, Found, arguments, at_most, first, time, value_of};
use crate::line::Command;
use crate::lint;
use crate::options::moment;
use crate::plan::{Asked as Rehearsed, start_up_note};
use crate::report::{Asked, Cluster, Judged};
use crate::run::{carry_out, is_shown, row, steps_of};
use crate::schedule;
use crate::stop::{Done, Stop};
use crate::when::{Answer, Fault, begun, judged, pod_key, words};

/// Runs of a report at most.
const MOST_RUNS: usize = 500;
/// Groups of findings for which remedies are tried at most.
const MOST_REMEDIES: u32 = 5;
/// Orders of nodes that are tried at most.
const MOST_ORDERS: u32 = 40;
/// Lines of kubectl at most, and characters of one.
const MOST_LINES: usize = 20;
const LONGEST_LINE: usize = 500;
/// Entries of a list in an answer at most.
const MOST: usize = 10;
/// Events, lines of output, warnings and nodes in an answer at most.
const MOST_EVENTS: usize = 30;
/// Pods whose time budgets are told at most.
const MOST_BUDGETS: usize = 3;
/// Time that is played unless told otherwise.
const PLAYED: &str = "10m";

/// A command line that was parsed as another command: no arguments of a tool lead there.
fn another() -> Stop {
    Stop::failed("error: the question is none of this tool")
}

fn usage(name: &str, why: &str) -> Stop {
    Stop::usage(format!("{name}: {why}"))
}

fn text_lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// The index of a domain, or those that there are.
fn domain(outline: &Outline, kind: DomainKind, name: &str) -> Done<usize> {
    let of_kind = |domain: &&Domain| domain.kind == kind;
    let is_it = |it: &Domain| it.kind == kind && it.name == name;
    // A zone has the name of its region before its own.
    let is_short = |it: &Domain| {
        it.kind == DomainKind::Zone
            && kind == it.kind
            && it.name.split('/').next_back() == Some(name)
    };
    let mut short = outline.domains.iter().enumerate().filter(|(_, it)| is_short(it));
    let only = short.next().filter(|_| short.next().is_none()).map(|(place, _)| place);
    outline.domains.iter().position(is_it).or(only).ok_or_else(|| {
        let known: Vec<&str> =
            outline.domains.iter().filter(of_kind).map(|it| &*it.name).take(MOST).collect();
        let number = outline.domains.iter().filter(of_kind).count();
        let more = if number > MOST { " and more" } else { "" };
        let kind = kind.as_str();
        let there = match known.as_slice() {
            [] => "there is none".to_owned(),
            known => format!("there are {}{more}", known.join(", ")),
        };
        Stop::failed(format!("error: there is no {kind} `{name}`; {there}"))
    })
}

pub(super) fn blast_radius(call: &Call<'_>, given: Value) -> Done<Found> {
    let asked: questions::BlastRadius = arguments(given)?;
    time("horizon", asked.horizon.as_ref())?;
    let kind = match asked.kind {
        Lost::Node => DomainKind::Node,
        Lost::Zone => DomainKind::Zone,
        Lost::Region => DomainKind::Region,
        Lost::Label => DomainKind::Label,
        Lost::DevicePool => DomainKind::DevicePool,
    };
    let (command, parsed) = call.asked(asked.words(), Vec::new())?;
    let Command::Report(line) = parsed else { return Err(another()) };
    let request = Asked::of(&line.options, None)?;
    let chosen = |plan: &Plan| -> Done<Vec<Run>> {
        let outline = plan.outline();
        let index = domain(outline, kind, &asked.name)?;
        let shared = outline.domains.get(index).and_then(|it| it.same_nodes_as).unwrap_or(index);
        Ok(plan.runs().into_iter().filter(|run| run.domain == shared).collect())
    };
    let cluster = (call.cluster(), &*call.tools.inputs);
    let Judged { mut plan, report, .. } = request.judged(call, cluster, chosen, false)?;
    let outline = plan.outline();
    let index = domain(outline, kind, &asked.name)?;
    let lost = outline.domains.get(index).cloned();
    let lost = lost.ok_or_else(another)?;
    let shared = lost.same_nodes_as.unwrap_or(index);
    let run = plan.runs().into_iter().find(|run| run.domain == shared).ok_or_else(another)?;
    let summary = report.runs.iter().find(|it| it.domain == index || it.domain == shared);
    let subjects = outline.subjects.len();
    let horizon = outline.options.horizon;
    let at = Timestamp::ZERO.saturating_add(std::time::Duration::from_millis(outline.fault_at.0));
    let mut cells: Vec<&Cell> = report.cells.iter().filter(|it| it.domain == index).collect();
    cells.sort_by_key(|cell| Reverse(cell.harm));
    let harmed = cells.iter().filter(|cell| cell.harm.0 > 0).count();
    let nodes = count(lost.nodes.len(), "node");
    let evicted = count(summary.map_or(0, |it| it.evicted), "pod");
    let mut lines = vec![
        format!(
            "{lost} {}: {nodes}, {}, watched for {horizon}",
            run.fault,
            count(lost.pods, "pod")
        ),
        format!("{evicted} evicted; {harmed} of {} harmed", count(subjects, "workload")),
    ];
    for cell in cells.iter().take(MOST) {
        lines.push(cell.worst.to_string());
        let Cell { harm, worst, .. } = cell;
        if harm.0 > 0 {
            let (missing, wanted, zero) = (worst.replica_time_lost, worst.wanted, worst.at_zero);
            let sum =
                format!("{missing} of missing pods / {wanted} wanted + {zero} with none ready");
            lines.push(format!("  harm {harm} = {sum}"));
        }
    }
    let worst = cells.first().map_or(0, |cell| cell.worst.worst_at.0);
    let instead = "ask `report` of the command, or with a shorter horizon";
    let (shown, more) = first(cells, MOST, "workload", instead);
    let (some, _) = first(lost.nodes.clone(), MOST_EVENTS, "node", instead);
    let figures = json!({
        "domain": { "kind": lost.kind, "name": lost.name, "nodes": some, "pods": lost.pods },
        "nodes": lost.nodes.len(),
        "workloads": subjects,
        "harmed": harmed,
        "run": summary,
        "cells": shown.iter().map(value_of).collect::<Vec<_>>(),
    });
    let (scenario, _) =
        plan.scenario_of(&run).map_err(|error| Stop::failed(format!("error: {error}")))?;
    let moment = (scenario, at.saturating_add(std::time::Duration::from_millis(worst)));
    Ok(Found { words: command, lines, figures, limits: more.into_iter().collect(), moment })
}

pub(super) fn when_evicted(call: &Call<'_>, given: Value) -> Done<Found> {
    let asked: questions::WhenEvicted = arguments(given)?;
    let [options, names] = asked.words();
    let (command, parsed) = call.asked(options, names)?;
    let Command::When(line) = parsed else { return Err(another()) };
    let key = pod_key("pod", &line.pods)?;
    let fault = Fault::of(&line.options)?;
    let scenario = &call.tools.cluster.scenario;
    let (mut simulation, node) = begun(scenario, &key, &line.kubernetes)?;
    let answer = judged(&mut simulation, &key, &node, &fault)?;
    let mut lines = text_lines(&words(&key.to_string(), &node, &fault, &answer, Style::Plain));
    lines.extend(answer.budget.as_ref().and_then(sum));
    let mut played = without_steps(scenario);
    played.kubernetes.node_lifecycle.get_or_insert(true);
    if let Some(command) = fault.command(&node)? {
        played.steps.push(Step { at: Span::default(), command, refused: None });
    }
    let Answer { budget, .. } = answer;
    let nanos = budget.as_ref().map_or(0, |it| it.evicted_at.as_nanos());
    let at = Timestamp::from_nanos(u64::try_from(nanos).unwrap_or_default());
    let figures = json!({
        "pod": key.to_string(),
        "node": node,
        "budget": budget.as_ref().map(value_of),
    });
    Ok(Found { words: command, lines, figures, limits: Vec::new(), moment: (played, at) })
}

/// The terms of an eviction as a sum.
fn sum(budget: &TimeBudget) -> Option<String> {
    let terms = budget.terms.iter().filter(|term| !term.is_after_deletion());
    let terms: Vec<String> = terms.map(|term| format_duration(term.rounded_duration())).collect();
    let total = format_duration(budget.rounded_total());
    let from = budget.counted_from;
    (!terms.is_empty()).then(|| format!("{total} after {from} = {}", terms.join(" + ")))
}

/// A scenario that begins as this one, and has nothing else.
fn without_steps(scenario: &Scenario) -> Scenario {
    Scenario {
        steps: Vec::new(),
        expect: Vec::new(),
        bookmarks: Vec::new(),
        until: None,
        ..scenario.clone()
    }
}

pub(super) fn simulate(call: &Call<'_>, given: Value) -> Done<Found> {
    let asked: questions::Simulate = arguments(given)?;
    if asked.lines.len() > MOST_LINES {
        let number = asked.lines.len();
        let why = format!("at most {MOST_LINES} lines are played for a chat, found {number}");
        return Err(usage("lines", &format!("{why}; ask with fewer, or write a scenario")));
    }
    if let Some(long) = asked.lines.iter().find(|it| it.line.chars().count() > LONGEST_LINE) {
        let number = long.line.chars().count();
        let why = format!("a line has at most {LONGEST_LINE} characters, found {number}");
        return Err(usage("lines", &why));
    }
    for it in &asked.lines {
        time("lines: at", it.at.as_ref())?;
    }
    time("until", asked.until.as_ref())?;
    let until = asked.until.as_deref().unwrap_or(PLAYED);
    let (command, parsed) = call.asked(asked.words(until), Vec::new())?;
    let Command::Run(line) = parsed else { return Err(another()) };
    let end = Timestamp::ZERO.saturating_add(moment("until", until)?.0);
    let scenario = &call.tools.cluster.scenario;
    let engine = scenario.simulator();
    let engine = engine.map_err(|wrong| Stop::failed(format!("error: {wrong}")))?;
    let mut simulation = Simulation::new(engine, scenario, None);
    let mut played = scenario.clone();
    (played.expect, played.bookmarks, played.until) = (Vec::new(), Vec::new(), None);
    let (mut lines, mut said) = (Vec::new(), Vec::new());
    for (step, it) in steps_of(&line.options.steps.0)?.into_iter().zip(&asked.lines) {
        let at = step.1;
        play(call, &mut simulation, Timestamp::ZERO.saturating_add(at.0))?;
        let done = carry_out(&mut simulation, step, std::time::Duration::ZERO)?;
        let output = text_lines(&done.said);
        if !done.ok {
            let said = output.iter().take(MOST).cloned().collect::<Vec<_>>().join("\n");
            return Err(Stop::failed(format!("error: kubectl {}\n{said}", it.line)));
        }
        let each = |command| Step { at, command, refused: None };
        played.steps.extend(done.commands.into_iter().map(each));
        let (output, _) = first(output, MOST_EVENTS, "line", "");
        lines.push(format!("{at} $ kubectl {}", it.line));
        lines.extend(output.iter().map(|line| format!("  {line}")));
        said.push(json!({ "at": at, "line": it.line, "output": output }));
    }
    played.steps.sort_by_key(|step| step.at);
    let is_whole = play(call, &mut simulation, end)?;
    simulation.collect();
    let now = simulation.engine.now();
    let mut limits = Vec::new();
    if !is_whole {
        let after = Span(super::TIME_LIMIT);
        limits.push(format!("broken off after {after}, at {now}: ask with an earlier until"));
    }
    let gone = simulation.engine.evictions().filter(|(_, at)| *at <= now);
    let gone: Vec<PodKey> = gone.map(|(pod, _)| pod.clone()).collect();
    let all = simulation.run.events.len();
    let shown: Vec<_> = simulation.run.events.iter().filter(|event| is_shown(event)).collect();
    lines.push(format!("until {now}: {}", count(gone.len(), "pod") + " evicted"));
    for pod in gone.iter().take(MOST_BUDGETS) {
        let budget = simulation.engine.time_budget(pod);
        let sum = budget.as_ref().and_then(sum);
        lines.extend(sum.map(|sum| format!("{pod} was evicted {sum}")));
    }
    let shown_of = shown.len();
    let instead = "ask with an earlier until, or run the command";
    let (shown, more) = first(shown, MOST_EVENTS, "event", instead);
    limits.extend(more);
    lines.extend(shown.iter().map(|event| row(event).join("  ")));
    let (evicted, _) = first(gone.clone(), MOST_EVENTS, "pod", instead);
    let figures = json!({
        "until": value_of(&now),
        "kubectl": said,
        "evicted": gone.len(),
        "evictedPods": evicted,
        "allEvents": all,
        "shownEvents": shown_of,
        "events": shown.iter().map(value_of).collect::<Vec<_>>(),
    });
    played.until = Some(Span(now.since_zero()));
    Ok(Found { words: command, lines, figures, limits, moment: (played, now) })
}

/// Lets time pass, moment by moment; whether it came to its end.
fn play(call: &Call<'_>, simulation: &mut Simulation, end: Timestamp) -> Done<bool> {
    use crate::host::Host;
    let stop = |problems: Vec<_>| Stop::problems(&problems);
    while let Some(at) = simulation.next().map(|next| next.at).filter(|at| *at < end) {
        if call.interrupted() {
            return Ok(false);
        }
        simulation.run(at).map_err(stop)?;
    }
    simulation.run(end).map_err(stop)?;
    Ok(true)
}

pub(super) fn plan(call: &Call<'_>, given: Value) -> Done<Found> {
    let asked: questions::Plan = arguments(given)?;
    time("horizon", asked.horizon.as_ref())?;
    at_most("orders", asked.orders, MOST_ORDERS)?;
    let [options, names] = asked.words().map_err(Stop::usage)?;
    let (command, parsed) = call.asked(options, names)?;
    let Command::Plan(line) = parsed else { return Err(another()) };
    let tried = Rehearsed::of(&line.act, &line.options)?.tried(call, call.cluster())?;
    let (given, better) = tried.outcome().ok_or_else(another)?;
    let best = better.unwrap_or(given);
    let notes = start_up_note(tried.rehearsal.start_up());
    let plan = PlanText { notes: &notes, ..tried.text(given, better) };
    let text = plan_terminal(&plan, Style::Plain);
    let mut figures = value_of(&tried.written(given, better));
    let instead = "ask about fewer nodes, or run the command";
    let mut limits: Vec<String> = Vec::new();
    limits.extend(call.broken_off(&format!("with {}", count(tried.all.len(), "order")), instead));
    for outcome in ["given", "better"] {
        let Some(outcome) = figures.get_mut(outcome) else { continue };
        for (name, what) in [
            ("workloads", "workload"),
            ("nodes", "node"),
            ("blocked", "pod in the way"),
            ("order", "node"),
            ("zones", "zone change"),
        ] {
            let Some(list) = outcome.get_mut(name).and_then(Value::as_array_mut) else { continue };
            let (mut shown, more) = first(std::mem::take(list), MOST_EVENTS, what, instead);
            for workload in shown.iter_mut().filter_map(Value::as_object_mut) {
                // Hundreds for each workload, where many pods move.
                workload.remove("steps");
            }
            *list = shown;
            limits.extend(more.filter(|more| !limits.contains(more)));
        }
    }
    let scenario = tried.rehearsal.scenario_of(&best.order);
    let begin = scenario.steps.first().map_or(Span::default(), |step| step.at);
    let worst = best.workloads.iter().map(|it| &it.figures);
    let worst = worst.max_by_key(|it| (it.at_zero, it.replica_time_lost));
    let worst = worst.filter(|it| it.below.0 > 0).map_or(0, |it| it.worst_at.0);
    let at = begin.timestamp().saturating_add(std::time::Duration::from_millis(worst));
    let lines = text_lines(&text);
    Ok(Found { words: command, lines, figures, limits, moment: (scenario, at) })
}

pub(super) fn report(call: &Call<'_>, given: Value) -> Done<Found> {
    let asked: questions::Report = arguments(given)?;
    time("horizon", asked.horizon.as_ref())?;
    at_most("remedies", asked.remedies, MOST_REMEDIES)?;
    let (command, parsed) = call.asked(asked.words(), Vec::new())?;
    let Command::Report(line) = parsed else { return Err(another()) };
    let request = Asked::of(&line.options, None)?;
    let chosen = |plan: &Plan| -> Done<Vec<Run>> {
        let runs = plan.runs();
        if runs.len() > MOST_RUNS {
            return Err(Stop::failed(format!(
                "error: it would take {}, and at most {MOST_RUNS} are made for a chat; ask with \
                 fewer domains, such as zone, ask blast_radius about one, or run `taintlab report`",
                count(runs.len(), "run")
            )));
        }
        Ok(runs)
    };
    let cluster = (call.cluster(), &*call.tools.inputs);
    let Judged { mut plan, report, targets, interrupted } =
        request.judged(call, cluster, chosen, true)?;
    let mut limits = Vec::new();
    let instead = "ask with fewer domains, or run the command";
    if interrupted {
        let runs = format!("{} of {} runs made", report.runs_made, report.runs_planned);
        limits.extend(call.broken_off(&runs, instead));
    }
    let text = targets_terminal(&targets, Style::Plain) + &terminal(&report, Style::Plain);
    let (workloads, more) = first(report.workloads.iter().collect(), MOST, "workload", instead);
    limits.extend(more);
    let (rows, more) = first(report.rows.iter().collect(), MOST, "row", instead);
    limits.extend(more);
    let groups = report.groups.iter().filter_map(|group| {
        let finding = report.findings.get(*group.findings.first()?)?;
        let helps = finding.effects.iter().filter(|effect| effect.helps);
        let helps = helps.map(|it| json!({ "what": it.what, "text": it.text })).take(MOST_BUDGETS);
        Some(json!({
            "what": group.what,
            "why": group.why,
            "harm": group.harm,
            "at": finding.at,
            "helps": helps.collect::<Vec<_>>(),
        }))
    });
    let (groups, more) = first(groups.collect(), MOST, "cause", instead);
    limits.extend(more);
    let figures = json!({
        "heading": report.heading,
        "verdict": report.verdict,
        "missing": report.missing,
        "score": report.score,
        "runsMade": report.runs_made,
        "runsPlanned": report.runs_planned,
        "workloads": workloads,
        "rows": rows,
        "groups": groups,
        "targets": targets.iter().take(MOST).map(value_of).collect::<Vec<_>>(),
    });
    let error = |error| Stop::failed(format!("error: {error}"));
    let moment = match (report.findings.first(), plan.runs().first()) {
        (Some(finding), _) => {
            let (scenario, at) = plan.scenario_of(&finding.run).map_err(error)?;
            (scenario, at.saturating_add(std::time::Duration::from_millis(finding.at.0)))
        }
        (None, Some(run)) => plan.scenario_of(run).map_err(error)?,
        (None, None) => (without_steps(&call.tools.cluster.scenario), Timestamp::ZERO),
    };
    Ok(Found { words: command, lines: text_lines(&text), figures, limits, moment })
}

pub(super) fn why_pending(call: &Call<'_>, given: Value) -> Done<Found> {
    let asked: questions::WhyPending = arguments(given)?;
    let key = pod_key("pod", std::slice::from_ref(&asked.pod))?;
    let (command, _) = call.asked(vec!["schedule".into()], vec![key.to_string()])?;
    let scenario = &call.tools.cluster.scenario;
    let objects = &scenario.objects;
    let found = objects.pods.iter().find(|pod| pod.key() == key);
    let mut pod = found.map(|pod| Pod::clone(pod)).ok_or_else(|| no_pod(objects, &key))?;
    let on = std::mem::take(&mut pod.spec.node_name);
    let others = objects.pods.iter().map(|it| &**it).filter(|it| it.key() != key);
    let grouped: Vec<Node> = objects.node_groups.iter().flat_map(NodeGroup::nodes).collect();
    let nodes = objects.nodes.iter().map(|it| &**it).chain(&grouped);
    let decision = schedule::decision(&pod, nodes, others, Some(call.tools.release))?;
    let mut lines = text_lines(&schedule::words(&pod, &on, &decision, true, Style::Plain));
    let fit = decision.verdicts.iter().filter(|it| it.rejection.is_none()).count();
    let all = decision.verdicts.len();
    let place = if on.is_empty() { 1 } else { 2 };
    lines.insert(
        place.min(lines.len()),
        format!("{}: {fit} fit + {} do not", count(all, "node"), all - fit),
    );
    let mut figures = value_of(&decision);
    let mut limits = Vec::new();
    if let Some(verdicts) = figures.get_mut("verdicts").and_then(Value::as_array_mut) {
        let instead = "the message counts all, and the command lists them";
        let (shown, more) = first(std::mem::take(verdicts), MOST_EVENTS, "node", instead);
        *verdicts = shown;
        limits.extend(more);
    }
    if let Some(fields) = figures.as_object_mut() {
        fields.insert("pod".into(), key.to_string().into());
        fields.insert("nodes".into(), all.into());
        fields.insert("fit".into(), fit.into());
    }
    let moment = (without_steps(scenario), Timestamp::ZERO);
    Ok(Found { words: command, lines, figures, limits, moment })
}

fn no_pod(objects: &Objects, key: &PodKey) -> Stop {
    let waiting = objects.pods.iter().filter(|pod| pod.spec.node_name.is_empty());
    let waiting: Vec<String> = waiting.take(MOST).map(|pod| pod.key().to_string()).collect();
    let there = match waiting.as_slice() {
        [] => "every pod has a node".to_owned(),
        waiting => format!("without a node are {}", waiting.join(", ")),
    };
    Stop::failed(format!("error: there is no pod `{key}` in the files; {there}"))
}

pub(super) fn lint(call: &Call<'_>, given: Value) -> Done<Found> {
    let asked: questions::Lint = arguments(given)?;
    let (command, _) = call.asked(vec!["lint".into()], Vec::new())?;
    let least = match asked.at_least {
        AtLeast::Critical => Severity::Critical,
        AtLeast::Warning => Severity::Warning,
        AtLeast::Note => Severity::Note,
    };
    let Cluster { scenario, warnings, .. } = call.cluster();
    let scenario = without_steps(&scenario);
    let engine = scenario.simulator();
    let engine = engine.map_err(|wrong| Stop::failed(format!("error: {wrong}")))?;
    let mut simulation = Simulation::new(engine, &scenario, None);
    let mut found = lint::found(&call.tools.inputs, &mut simulation)?;
    let problems = lint::of_texts(warnings);
    let number =
        |severity: Severity| found.iter().filter(|it| it.warning.severity == severity).count();
    let (critical, warning, note) =
        (number(Severity::Critical), number(Severity::Warning), number(Severity::Note));
    let all = found.len() + problems.len();
    let sum = format!(
        "{all} = {critical} critical + {warning} warning + {note} note + {} of the texts",
        problems.len()
    );
    found.retain(|it| it.warning.severity <= least);
    let instead = "ask with atLeast, or run the command";
    let (found, more) = first(found, MOST, "warning", instead);
    let (problems, more_problems) = first(problems, MOST, "problem of the texts", instead);
    let mut lines = vec![sum];
    lines.extend(text_lines(&lint::text(&found, &problems, Style::Plain)));
    let figures = json!({
        "critical": critical,
        "warning": warning,
        "note": note,
        "warnings": found.iter().map(value_of).collect::<Vec<_>>(),
        "problems": problems.iter().map(value_of).collect::<Vec<_>>(),
    });
    let limits = more.into_iter().chain(more_problems).collect();
    Ok(Found { words: command, lines, figures, limits, moment: (scenario, Timestamp::ZERO) })
}
