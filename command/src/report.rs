//! `taintlab report`: which failure hurts most, and what would help.

mod baseline;
mod changed;
mod runs;
mod targets;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use taintlab_answers::cluster::{Imported, ManifestScenario, scenario_of};
use taintlab_answers::problem::Problem;
use taintlab_answers::read::decode;
use taintlab_answers::scenario::Opened;
use taintlab_core::report::{
    DomainKind, DomainList, Fault, Outline, Plan, Report, ReportError, ReportOptions, ReportSource,
    Run, RunResult, TargetResult, Targets, judge, report as put_together,
};
use taintlab_core::scenario::Scenario;
use taintlab_core::time::Span;
use taintlab_manifest::{SvgOptions, timeline_svg};
use taintlab_words::report::{
    Broken, MOST_PICTURES, Picture, Rule, html, junit, markdown, prometheus, targets_markdown,
    targets_terminal, terminal,
};

use self::baseline::{Baseline, RULE};
use self::runs::{Made, make};
use self::targets::{TargetsFile, of_annotations};
use crate::annotations::{github, sarif};
use crate::cluster::{no_files, read_cluster};
use crate::host::Host;
use crate::json;
use crate::line::{
    ApplyLine, Connection, KubernetesLine, PluginReport, ReportLine, ReportOptions as Line,
};
use crate::options::{moment, number, one_of, one_output, pairs, stop_for, taint};
use crate::reading::{Input, files_of, named, objects, read_inputs, read_text, warn};
use crate::run::{simulator_of, simulator_options, tell, the_scenario};
use crate::stop::{Done, FAILED, OK, Stop};

/// The cluster of a report.
#[derive(Clone)]
pub(crate) struct Cluster {
    pub(crate) scenario: Scenario,
    pub(crate) warnings: Vec<Problem>,
    pub(crate) imported: Imported,
}

/// A whole report, and what it is compared with.
struct Whole<'a> {
    outline: &'a Outline,
    results: &'a [RunResult],
    plan: Option<Plan>,
    targets: Targets,
    baseline: Option<Baseline>,
    /// The texts of the cluster, if there is a baseline.
    inputs: &'a [Input],
    reasons: Vec<String>,
}

/// A part of a report, as `--shard` prints it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    taintlab_report_part: u8,
    #[serde(default)]
    shard: Option<[usize; 2]>,
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    interrupted: bool,
    outline: Outline,
    #[serde(default, skip_serializing_if = "Targets::is_empty")]
    targets: Targets,
    results: Vec<RunResult>,
    #[serde(skip)]
    file: String,
}

/// A report in JSON, with what it does not say itself.
#[derive(Serialize)]
struct Written<'r> {
    #[serde(flatten)]
    report: &'r Report,
    #[serde(skip_serializing_if = "<[TargetResult]>::is_empty")]
    targets: &'r [TargetResult],
    #[serde(flatten)]
    compared: Option<baseline::Written<'r>>,
}

pub(crate) fn report(host: &dyn Host, line: &ReportLine) -> Done<u8> {
    if let Some((first, parts)) = line.files.split_first()
        && first == "merge"
    {
        return merge(host, parts, line);
    }
    let files = files_of(&line.files, "report")?;
    let asked = Asked::of(&line.options, line.shard.as_ref())?;
    let inputs = read_inputs(host, files, &line.apply.apply)?;
    let from = files.first().map_or("-", String::as_str);
    let cluster = cluster_in(host, &inputs, from, &line.options.kubernetes)?;
    asked.answer(host, cluster, inputs)
}

/// `kubectl taintlab report`: the cluster of the current context.
pub(crate) fn report_cluster(host: &dyn Host, line: &PluginReport) -> Done<u8> {
    no_files("report", &line.files)?;
    let kubernetes = &line.options.kubernetes;
    let mut asked = Asked::of(&line.options, line.shard.as_ref())?;
    let (cluster, source, inputs) =
        current_cluster(host, &line.connection, kubernetes, &line.apply)?;
    asked.options.source = source;
    asked.answer(host, cluster, inputs)
}

/// The cluster of the current context, with its origin and its texts.
pub(crate) fn current_cluster(
    host: &dyn Host,
    connection: &Connection,
    kubernetes: &KubernetesLine,
    apply: &ApplyLine,
) -> Done<(Cluster, ReportSource, Vec<Input>)> {
    let options = simulator_options(kubernetes, false)?;
    let read = read_cluster(host, connection, kubernetes.release.as_ref())?;
    let applied = read_inputs(host, &[], &apply.apply)?;
    let inputs: Vec<Input> = read.inputs.iter().cloned().chain(applied).collect();
    let mut cluster = of_inputs(&inputs, options)?;
    cluster.scenario.kubernetes.release = read.release.or(cluster.scenario.kubernetes.release);
    if read.release_text.is_some() {
        cluster.imported.release = read.release;
        cluster.imported.release_text.clone_from(&read.release_text);
    }
    let not_read = read.not_read.iter().map(|it| format!("{}: {}", it.kind, it.why)).collect();
    let (context, server, namespace) = (read.context, read.version, read.namespace);
    Ok((cluster, ReportSource { context, server, namespace, not_read }, inputs))
}

/// A report, with the plan for further runs of it.
pub(crate) struct Judged {
    pub(crate) plan: Plan,
    pub(crate) report: Report,
    pub(crate) targets: Vec<TargetResult>,
    /// Whether it was broken off.
    pub(crate) interrupted: bool,
}

/// Request of a command line.
pub(crate) struct Asked<'l> {
    line: &'l Line,
    options: ReportOptions,
    rules: Vec<Rule>,
    shard: Option<[usize; 2]>,
    workers: Option<usize>,
}

impl<'l> Asked<'l> {
    pub(crate) fn of(line: &'l Line, shard: Option<&String>) -> Done<Self> {
        check_outputs(line, shard.is_some())?;
        let options = options_of(line)?;
        let rules = rules_of(line)?;
        let shard = shard.map(|text| shard_of(text)).transpose()?;
        if shard.is_some() && !rules.is_empty() {
            return Err(Stop::usage("--fail-if asks the whole report; give it to merge"));
        }
        Ok(Self { line, options, rules, shard, workers: workers_of(line)? })
    }

    /// The report of a cluster, of those of its runs that are `chosen`; what would help is tried if
    /// it is `whole`.
    pub(crate) fn judged(
        self,
        host: &dyn Host,
        (cluster, inputs): (Cluster, &[Input]),
        chosen: impl FnOnce(&Plan) -> Done<Vec<Run>>,
        whole: bool,
    ) -> Done<Judged> {
        let Self { line, options, workers, .. } = self;
        let mut plan = plan_of(host, cluster, options, line)?;
        let targets = of_annotations(&plan, inputs)?;
        let runs = chosen(&plan)?;
        let Made { results, interrupted } =
            run_all(host, &mut plan, runs, Vec::new(), whole, workers)?;
        let report = put_together(plan.outline(), &results);
        let mut report = report.map_err(|error| Stop::failed(format!("error: {error}")))?;
        let targets = judge(&mut report, &targets);
        Ok(Judged { plan, report, targets, interrupted })
    }

    fn answer(self, host: &dyn Host, cluster: Cluster, inputs: Vec<Input>) -> Done<u8> {
        let Self { line, options, rules, shard, workers } = self;
        let file = TargetsFile::read(host, line.targets.as_ref())?;
        let baseline = Baseline::of(host, line, &options, &file)?;
        let mut plan = plan_of(host, cluster, options, line)?;
        let mut targets = of_annotations(&plan, &inputs)?;
        file.check(&plan.outline().subjects)?;
        file.add_to(&mut targets, &plan.outline().subjects);
        let inputs = if baseline.is_some() { inputs } else { Vec::new() };
        let all = plan.runs();
        let runs: Vec<Run> = match shard {
            None => all,
            Some([index, count]) => {
                let own = |(place, run)| (place % count == index - 1).then_some(run);
                all.into_iter().enumerate().filter_map(own).collect()
            }
        };
        let made = run_all(host, &mut plan, runs, Vec::new(), shard.is_none(), workers)?;
        if shard.is_some() {
            let Made { results, interrupted } = made;
            let outline = plan.outline().clone();
            let file = String::new();
            let part = Part {
                taintlab_report_part: 1,
                shard,
                interrupted,
                outline,
                targets,
                results,
                file,
            };
            host.out(&(json::line(&part) + "\n"));
            return Ok(if interrupted { FAILED } else { OK });
        }
        let reasons = made.interrupted.then(|| "it was interrupted".to_owned());
        let outline = plan.outline().clone();
        let whole = Whole {
            outline: &outline,
            results: &made.results,
            plan: Some(plan),
            targets,
            baseline,
            inputs: &inputs,
            reasons: reasons.into_iter().collect(),
        };
        write(host, whole, line, &rules)
    }
}

/// `taintlab report merge PART…`: the report of parts, the same as if one had made all runs.
fn merge(host: &dyn Host, files: &[String], line: &ReportLine) -> Done<u8> {
    check_outputs(&line.options, line.shard.is_some())?;
    let rules = rules_of(&line.options)?;
    let files = files_of(files, "report merge")?;
    let parts: Vec<Part> = files.iter().map(|file| part_of(host, file)).collect::<Done<_>>()?;
    let Some(Part { outline, targets, file, .. }) = parts.first() else {
        return Err(Stop::usage("report merge: which file?"));
    };
    let differs = |part: &&Part| part.outline != *outline || part.targets != *targets;
    if let Some(other) = parts.iter().find(differs) {
        let why = "it was made of another cluster, or with other options";
        return Err(Stop::failed(format!("{}: error: {why} than {file}", other.file)));
    }
    let results: Vec<RunResult> = parts.iter().flat_map(|part| part.results.clone()).collect();
    let reasons = reasons_of(&parts);
    let line_options = &line.options;
    let targets_file = TargetsFile::read(host, line_options.targets.as_ref())?;
    targets_file.check(&outline.subjects)?;
    let mut targets = targets.clone();
    targets_file.add_to(&mut targets, &outline.subjects);
    let baseline = Baseline::of(host, line_options, &outline.options, &targets_file)?;
    let Some(first) = line.cluster.first() else {
        let results = &results;
        let (plan, inputs) = (None, [].as_slice());
        let whole = Whole { outline, results, plan, targets, baseline, inputs, reasons };
        return write(host, whole, line_options, &rules);
    };
    let inputs = read_inputs(host, &line.cluster, &line.apply.apply)?;
    let cluster = cluster_in(host, &inputs, first, &line_options.kubernetes)?;
    let mut plan = plan_of(host, cluster, outline.options.clone(), line_options)?;
    if plan.outline() != outline {
        let why = "it is not the cluster that the parts were made of, or has other flags";
        return Err(Stop::failed(format!("--cluster: error: {why}")));
    }
    let workers = workers_of(line_options)?;
    let made = run_all(host, &mut plan, Vec::new(), results, true, workers)?;
    let (results, plan, inputs) = (&made.results, Some(plan), inputs.as_slice());
    let whole = Whole { outline, results, plan, targets, baseline, inputs, reasons };
    write(host, whole, line_options, &rules)
}

fn part_of(host: &dyn Host, from: &str) -> Done<Part> {
    let file = named(from);
    let stop = |why: String| Stop::failed(format!("{file}: error: {why}"));
    let text = read_text(host, from)?;
    let value: Value =
        serde_json::from_str(&text).map_err(|why| stop(format!("this is not JSON: {why}")))?;
    if value.get("taintlabReportPart") != Some(&1.into())
        || !value.get("results").is_some_and(Value::is_array)
    {
        let why = "expected a part of a report, as `taintlab report --shard 1/2` prints it";
        return Err(stop(why.into()));
    }
    let damaged = |why: &str| stop(format!("this part of a report is damaged: {why}"));
    let part: Part = decode(value, "").map_err(|wrong| damaged(wrong.0.trim_start_matches('.')))?;
    put_together(&part.outline, &part.results).map_err(|why| damaged(&why.to_string()))?;
    Ok(Part { file: file.to_owned(), ..part })
}

/// Reasons why parts are not the whole.
fn reasons_of(parts: &[Part]) -> Vec<String> {
    let count = parts.first().and_then(|part| part.shard).map_or(1, |[_, count]| count);
    let there: Vec<usize> = parts.iter().filter_map(|part| Some(part.shard?[0])).collect();
    let missing = (1..=count).filter(|index| count > 1 && !there.contains(index));
    let missing = missing.map(|index| format!("part {index} of {count} is missing"));
    let broken = parts.iter().filter(|part| part.interrupted);
    missing.chain(broken.map(|part| format!("{}: this part was interrupted", part.file))).collect()
}

fn check_outputs(line: &Line, is_shard: bool) -> Done<()> {
    let outputs = [
        ("json", line.json),
        ("markdown", line.markdown),
        ("junit", line.junit),
        ("github", line.github),
        ("sarif", line.sarif),
        ("prometheus", line.prometheus),
    ];
    one_output(&outputs)?;
    if let Some((option, _)) =
        [("github", line.github), ("sarif", line.sarif)].iter().find(|it| it.1)
        && line.baseline.is_empty()
    {
        return Err(Stop::usage(format!("--{option} says what got worse; it needs --baseline")));
    }
    let is_other = outputs.iter().any(|(name, chosen)| *chosen && *name != "json");
    if is_shard && (is_other || line.html.is_some() || !line.baseline.is_empty()) {
        let why =
            "--shard prints a part as JSON; give the other outputs to `taintlab report merge`";
        return Err(Stop::usage(why));
    }
    Ok(())
}

fn rules_of(line: &Line) -> Done<Vec<Rule>> {
    let rule = |text: &String| Rule::parse(text);
    let rules: Result<_, _> = line.fail_if.iter().map(rule).collect();
    rules.map_err(|why| Stop::usage(format!("--fail-if: {why}")))
}

fn workers_of(line: &Line) -> Done<Option<usize>> {
    let workers = number("--workers", line.workers.as_ref(), 0)?;
    Ok(workers.and_then(|workers| usize::try_from(workers).ok()))
}

fn shard_of(text: &str) -> Done<[usize; 2]> {
    let parts = text.split_once('/');
    let numbers = parts.and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
    match numbers {
        Some((index, count)) if index >= 1 && index <= count => Ok([index, count]),
        _ => Err(Stop::usage(format!("--shard: expected a part such as 3/16, found `{text}`"))),
    }
}

const FAULTS: &str = "lost, power-off, network-cut, drained, shut-down, tainted";

fn fault_of(text: &str) -> Done<Fault> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    Ok(match name {
        // As `lost` was once called where one node is meant.
        "lost" | "unreachable" => Fault::Lost,
        "power-off" => {
            Fault::PowerOff { back_after: moment("--fault power-off", value.unwrap_or("5m"))? }
        }
        "network-cut" => Fault::NetworkCut,
        "drained" => Fault::Drained,
        "shut-down" => Fault::ShutDown,
        "tainted" => {
            let text = value.unwrap_or("taintlab/failed:NoExecute");
            Fault::Tainted { taint: taint("--fault tainted", text)? }
        }
        _ => {
            let why = format!("--fault: expected one of {FAULTS}, found `{name}`");
            return Err(Stop::usage(why));
        }
    })
}

const PAIRS: [&str; 5] = ["node", "zone", "region", "label", "list"];
const DOMAINS: [&str; 4] = ["node", "zone", "region", "device-pool"];

fn options_of(line: &Line) -> Done<ReportOptions> {
    let kinds: Vec<&str> = line.domains.split(',').filter(|kind| !kind.is_empty()).collect();
    if let Some(wrong) = kinds.iter().find(|kind| !DOMAINS.contains(kind)) {
        let wanted = "expected node, zone, region or device-pool";
        return Err(Stop::usage(format!("--domains: {wanted}, found `{wrong}`")));
    }
    let lists = pairs(&line.lists, "--list")?.into_iter().map(|(name, nodes)| DomainList {
        name,
        nodes: nodes.split(',').map(Into::into).collect(),
    });
    let kind = |text: &String| {
        let name = one_of("--pairs", text, &PAIRS)?;
        decode::<DomainKind>(Value::from(name), "").map_err(|wrong| Stop::usage(wrong.0))
    };
    let time = |option: &str, text: &Option<String>| -> Done<Option<Span>> {
        text.as_ref().map(|text| moment(option, text)).transpose()
    };
    let defaults = ReportOptions::default();
    let faults: Vec<Fault> = line.faults.iter().map(|text| fault_of(text)).collect::<Done<_>>()?;
    let remedies = number("--remedies", line.remedies.as_ref(), 0)?;
    let remedies = remedies.and_then(|number| usize::try_from(number).ok());
    Ok(ReportOptions {
        nodes: kinds.contains(&"node"),
        zones: kinds.contains(&"zone"),
        regions: kinds.contains(&"region"),
        device_pools: kinds.contains(&"device-pool"),
        labels: line.labels.clone(),
        lists: lists.collect(),
        pairs: line.pairs.iter().map(kind).collect::<Done<_>>()?,
        faults: if faults.is_empty() { defaults.faults } else { faults },
        horizon: time("--horizon", &line.horizon)?.unwrap_or(defaults.horizon),
        after: time("--after", &line.after)?,
        settle: time("--settle", &line.settle)?.unwrap_or(defaults.settle),
        seeds: number("--seeds", line.seeds.as_ref(), 1)?.unwrap_or(defaults.seeds),
        remedies: remedies.unwrap_or(defaults.remedies),
        source: ReportSource::default(),
    })
}

/// The cluster of texts: a scenario, or manifests. `from` is the file of a scenario.
pub(crate) fn cluster_in(
    host: &dyn Host,
    inputs: &[Input],
    from: &str,
    kubernetes: &KubernetesLine,
) -> Done<Cluster> {
    let options = simulator_options(kubernetes, false)?;
    let is = "is a cluster by itself";
    let Some(opened) = the_scenario(host, inputs, from, is, kubernetes, &options)? else {
        return of_inputs(inputs, options);
    };
    simulator_of(&opened, kubernetes)?;
    let Opened { scenario, warnings, .. } = opened;
    Ok(Cluster { scenario, warnings, imported: Imported::default() })
}

/// The cluster of manifests.
pub(crate) fn of_inputs(
    inputs: &[Input],
    options: taintlab_answers::options::SimulatorOptions,
) -> Done<Cluster> {
    let read = objects(inputs, options.keep_all);
    let made = scenario_of(read, options).map_err(|problems| Stop::problems(&problems))?;
    let ManifestScenario { scenario, problems, imported } = made;
    Ok(Cluster { scenario, warnings: problems, imported })
}

/// A mistake in what a command asks, or in its cluster.
pub(crate) fn stop_of(command: &str, error: &ReportError, kubernetes: &KubernetesLine) -> Stop {
    match error {
        ReportError::Option { name, message } => {
            Stop::usage(format!("{command}: {name}: {message}"))
        }
        ReportError::Scenario(wrong) => stop_for(kubernetes, &[Problem::of_config(wrong)]),
        ReportError::UnknownDomain { .. } | ReportError::Remedy(_) | ReportError::Results(_) => {
            Stop::failed(format!("error: {error}"))
        }
    }
}

/// Settles the cluster and finds what can fail in it.
fn plan_of(host: &dyn Host, cluster: Cluster, options: ReportOptions, line: &Line) -> Done<Plan> {
    let Cluster { scenario, warnings, imported } = cluster;
    warn(host, &warnings);
    let plan = Plan::new(scenario, options)
        .map_err(|error| stop_of("report", &error, &line.kubernetes))?;
    tell(host, &imported, line.kubernetes.release.as_deref(), "");
    Ok(plan)
}

fn run_all(
    host: &dyn Host,
    plan: &mut Plan,
    runs: Vec<Run>,
    known: Vec<RunResult>,
    is_whole: bool,
    workers: Option<usize>,
) -> Done<Made> {
    let workers = workers.unwrap_or_else(|| host.cores()).clamp(1, 64);
    let made = make(host, plan, runs, known, is_whole, workers);
    host.progress(None);
    made.map_err(|error| Stop::failed(format!("error: {error}")))
}

/// Writes what is asked for, and says which rules are broken and why the report is not whole.
fn write(host: &dyn Host, whole: Whole<'_>, line: &Line, rules: &[Rule]) -> Done<u8> {
    let Whole { outline, results, plan, targets, baseline, inputs, mut reasons } = whole;
    let mut report =
        put_together(outline, results).map_err(|error| Stop::failed(format!("error: {error}")))?;
    let targets = &judge(&mut report, &targets);
    reasons.extend(report.missing.iter().cloned());
    let compared = baseline.map(|baseline| baseline.compare(&report, inputs));
    let mut broken: Vec<Broken> = reasons.iter().map(|reason| Broken::not_whole(reason)).collect();
    broken.extend(rules.iter().flat_map(|rule| rule.broken(&report, targets)));
    broken.extend(compared.iter().flat_map(baseline::Compared::broken));
    if let Some(file) = &line.html {
        let pictures = plan.map_or(Ok(Vec::new()), |plan| pictures(&report, plan))?;
        host.write(file, &html(&report, targets, &pictures))
            .map_err(|why| Stop::failed(format!("{file}: error: {why}")))?;
    }
    let text = match &compared {
        _ if line.junit => junit(&report, targets, &broken),
        _ if line.prometheus => prometheus(&report, targets),
        _ if line.json => {
            let compared = compared.as_ref().map(baseline::Compared::json);
            json::line(&Written { report: &report, targets, compared }) + "\n"
        }
        Some(compared) if line.github => github(&compared.annotations()),
        Some(compared) if line.sarif => {
            json::lines(&sarif(&[RULE], &compared.annotations())) + "\n"
        }
        Some(compared) if line.markdown => targets_markdown(targets) + &compared.markdown(),
        Some(compared) => targets_terminal(targets, host.style()) + &compared.terminal(host),
        None if line.markdown => targets_markdown(targets) + &markdown(&report),
        None if line.html.is_some() => String::new(),
        None => targets_terminal(targets, host.style()) + &terminal(&report, host.style()),
    };
    host.out(&text);
    for Broken { text, .. } in &broken {
        host.err(&format!("failed: {text}\n"));
    }
    Ok(if broken.is_empty() { OK } else { FAILED })
}

/// The worst findings, drawn.
fn pictures(report: &Report, mut plan: Plan) -> Done<Vec<Picture>> {
    let about = report.findings.iter().filter_map(|it| Some((it, it.subject.as_ref()?)));
    let draw = |(number, (finding, subject)): (usize, (&taintlab_core::report::Finding, _))| {
        let run = &finding.run;
        let lanes = plan.lanes(run, subject);
        let lanes = lanes.map_err(|error| Stop::failed(format!("error: {error}")))?;
        let title = format!("{subject}: {}", run.fault);
        let id = format!("p{number}");
        let svg = timeline_svg(&lanes, &SvgOptions { title, id, ..SvgOptions::default() });
        Ok(Picture { what: finding.what.clone(), svg })
    };
    about.take(MOST_PICTURES).enumerate().map(draw).collect()
}
