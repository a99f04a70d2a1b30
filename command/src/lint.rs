//! `taintlab lint`: what is likely to surprise, with file, line and column.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use taintlab_answers::cluster::{ManifestCluster, cluster_of};
use taintlab_answers::problem::Problem;
use taintlab_answers::simulation::Simulation;
use taintlab_core::api::PodKey;
use taintlab_core::plural::count;
use taintlab_core::time::Timestamp;
use taintlab_core::warnings::{Severity, Subject, Warning, WarningCode, warnings_of};
use taintlab_manifest::{Sought, places_of};
use taintlab_words::Style;

use crate::annotations::{Annotation, Level, github, sarif};
use crate::cluster::{NotRead, no_files, read_cluster};
use crate::host::Host;
use crate::json;
use crate::line::{KubernetesLine, LintLine, LintOptions, PluginLint};
use crate::options::{one_of, stop_for};
use crate::reading::{Input, files_of, objects, read_inputs};
use crate::run::{Simulated, simulator_of, simulator_options, tell, the_scenario};
use crate::stop::{Done, FAILED, OK, Stop, problem_text};

/// Time in which controllers make the pods of workloads that have none.
const FIRST_PODS: Duration = Duration::from_secs(1);

const FORMATS: [&str; 4] = ["text", "json", "sarif", "github"];
const SEVERITIES: [&str; 4] = ["critical", "warning", "note", "never"];

/// A warning with its place.
#[derive(Serialize)]
pub(crate) struct Found {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    #[serde(flatten)]
    pub(crate) warning: Warning,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Lint<'a> {
    ok: bool,
    #[serde(flatten)]
    known: &'a Simulated,
    warnings: &'a [Found],
    problems: &'a [Problem],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    not_read: &'a [NotRead],
}

pub(crate) fn lint(host: &dyn Host, line: &LintLine) -> Done<u8> {
    let files = files_of(&line.files, "lint")?;
    let options = &line.options;
    check(options)?;
    let inputs = read_inputs(host, files, &line.apply.apply)?;
    let from = files.first().map_or("-", String::as_str);
    let made = simulation(host, &inputs, from, &options.kubernetes)?;
    answer(host, &inputs, made, options, &Simulated::default(), &[])
}

/// `kubectl taintlab lint`: the cluster of the current context.
pub(crate) fn lint_cluster(host: &dyn Host, line: &PluginLint) -> Done<u8> {
    no_files("lint", &line.files)?;
    let options = &line.options;
    check(options)?;
    let read = read_cluster(host, &line.connection, options.kubernetes.release.as_ref())?;
    let applied = read_inputs(host, &[], &line.apply.apply)?;
    let inputs: Vec<Input> = read.inputs.iter().cloned().chain(applied).collect();
    let mut kubernetes = options.kubernetes.clone();
    kubernetes.release = read.release.map(|release| release.to_string());
    let made = simulation(host, &inputs, "-", &kubernetes)?;
    let chosen = options.kubernetes.release.as_deref();
    tell(host, &read.imported(), chosen, "");
    let known = Simulated::of(&read.imported(), chosen);
    answer(host, &inputs, made, options, &known, &read.not_read)
}

fn check(options: &LintOptions) -> Done<()> {
    one_of("--format", &options.format, &FORMATS)?;
    one_of("--fail-on", &options.fail_on, &SEVERITIES)?;
    Ok(())
}

/// The cluster, and what is probably not meant in the texts.
fn simulation(
    host: &dyn Host,
    inputs: &[Input],
    from: &str,
    kubernetes: &KubernetesLine,
) -> Done<(Simulation, Vec<Problem>)> {
    let options = simulator_options(kubernetes, false)?;
    let is = "is a cluster by itself";
    if let Some(mut opened) = the_scenario(host, inputs, from, is, kubernetes, &options)? {
        opened.scenario.steps.clear();
        let engine = simulator_of(&opened, kubernetes)?;
        return Ok((Simulation::new(engine, &opened.scenario, None), opened.warnings));
    }
    let made = cluster_of(objects(inputs, false), options);
    let made = made.map_err(|problems| stop_for(kubernetes, &problems))?;
    let ManifestCluster { engine, scenario, problems, imported } = made;
    tell(host, &imported, kubernetes.release.as_deref(), "");
    Ok((Simulation::new(engine, &scenario, None), of_texts(problems)))
}

/// Problems of texts: manifests of workloads alone are no mistake here.
pub(crate) fn of_texts(problems: Vec<Problem>) -> Vec<Problem> {
    let is_of_text = |problem: &Problem| {
        problem.line != Some(1) || !problem.message.starts_with("no nodes and no pods")
    };
    problems.into_iter().filter(is_of_text).collect()
}

/// The warnings about a cluster, with their places in its texts.
pub(crate) fn found(inputs: &[Input], simulation: &mut Simulation) -> Done<Vec<Found>> {
    // Warnings are about pods: workloads without one get theirs.
    let first = Timestamp::ZERO.saturating_add(FIRST_PODS);
    simulation.run(first).map_err(|problems| Stop::problems(&problems))?;
    Ok(placed(warnings_of(&simulation.engine), inputs))
}

fn answer(
    host: &dyn Host,
    inputs: &[Input],
    (mut simulation, problems): (Simulation, Vec<Problem>),
    options: &LintOptions,
    known: &Simulated,
    not_read: &[NotRead],
) -> Done<u8> {
    let found = found(inputs, &mut simulation)?;
    let style = host.style();
    match options.format.as_str() {
        "json" => {
            let problems = &problems;
            let lint = Lint { ok: true, known, warnings: &found, problems, not_read };
            host.out(&(json::lines(&lint) + "\n"));
        }
        "sarif" => {
            let sarif = sarif(&rules(), &annotations(&found, &problems));
            host.out(&(json::lines(&sarif) + "\n"));
        }
        "github" => host.out(&github(&annotations(&found, &problems))),
        _ => {
            host.out(&text(&found, &problems, style));
            for note in known.line().into_iter().chain(not_read.iter().map(ToString::to_string)) {
                host.out(&format!("{}\n", style.dim(&note)));
            }
        }
    }
    let worst = found.iter().map(|it| it.warning.severity).min();
    let worst = worst.into_iter().chain((!problems.is_empty()).then_some(Severity::Warning)).min();
    let limit = match options.fail_on.as_str() {
        "critical" => Some(Severity::Critical),
        "warning" => Some(Severity::Warning),
        "note" => Some(Severity::Note),
        _ => None,
    };
    let fails = worst.zip(limit).is_some_and(|(worst, limit)| worst <= limit);
    Ok(if fails { FAILED } else { OK })
}

/// Object and field in the text that a subject of a warning is about.
fn sought(subject: &Subject, field: &str) -> Sought {
    let of = |kind: &str, key: &PodKey, fields: Vec<String>| Sought {
        kind: kind.into(),
        namespace: key.namespace().into(),
        name: key.name().into(),
        fields,
    };
    if field.is_empty() && matches!(subject, Subject::Owner { .. }) {
        return Sought { fields: Vec::new(), ..sought(subject, "metadata") };
    }
    let own = vec![field.to_owned()];
    let global = |kind: &str, name: &str| Sought {
        kind: kind.into(),
        namespace: String::new(),
        name: name.into(),
        fields: own.clone(),
    };
    match subject {
        Subject::Owner { kind, name } => {
            let template = format!("spec.template.{field}");
            let of_job = format!("spec.jobTemplate.spec.template.{field}");
            of(kind, name, vec![template, of_job, field.to_owned()])
        }
        Subject::Budget { name } => of("PodDisruptionBudget", name, own),
        Subject::Pod { name } => of("Pod", name, own),
        Subject::Node { name } => global("Node", name.as_str()),
        Subject::ResourceClaim { name } => of("ResourceClaim", name, own),
        Subject::TaintRule { name } => global("DeviceTaintRule", name),
        // Nothing in a text is a zone.
        Subject::Zone { .. } => Sought::default(),
    }
}

/// Warnings with the places of their first subjects that are in a text.
fn placed(warnings: Vec<Warning>, inputs: &[Input]) -> Vec<Found> {
    let all = warnings.iter().enumerate();
    let all = all
        .flat_map(|(index, it)| it.subjects.iter().map(move |of| (index, sought(of, &it.field))));
    let (owners, sought): (Vec<usize>, Vec<Sought>) = all.unzip();
    let mut places: BTreeMap<usize, (usize, String, u32, u32)> = BTreeMap::new();
    // A later text changes what is in those before it.
    for input in inputs.iter().rev() {
        let found = places_of(&input.text, &sought);
        for (rank, (owner, place)) in owners.iter().zip(found).enumerate() {
            let Some((line, column)) = place else { continue };
            let better = places.get(owner).is_none_or(|(known, ..)| rank < *known);
            if better {
                places.insert(*owner, (rank, input.file.clone(), line, column));
            }
        }
    }
    let found = warnings.into_iter().enumerate().map(|(index, warning)| {
        let place = places.remove(&index).map(|(_, file, line, column)| (file, line, column));
        let (file, line, column) = match place {
            Some((file, line, column)) => (Some(file), Some(line), Some(column)),
            None => (None, None, None),
        };
        Found { file, line, column, warning }
    });
    found.collect()
}

/// `file:line:column: `, as far as it is known.
fn place(found: &Found) -> String {
    match (&found.file, found.line, found.column) {
        (Some(file), Some(line), Some(column)) => format!("{file}:{line}:{column}: "),
        _ => String::new(),
    }
}

/// Warnings in words.
pub(crate) fn text(found: &[Found], problems: &[Problem], style: Style) -> String {
    let mut text = String::new();
    for problem in problems {
        text += &format!("{}\n", problem_text(problem, "warning"));
    }
    for it in found {
        let Warning { severity, code, message, explanation, fix, .. } = &it.warning;
        let said = style.bold(&format!("{}: {message}", severity.as_str()));
        text += &format!("{}{said} [{code}]\n  {explanation}\n", place(it));
        if let Some(fix) = fix {
            text += &format!("  help: {}\n", fix.what);
            for line in fix.text.lines() {
                text += &format!("    {line}\n");
            }
        }
    }
    text + &format!("{}\n", counts(found, problems))
}

/// `2 warnings, 1 note`: how many there are of each severity.
fn counts(found: &[Found], problems: &[Problem]) -> String {
    let of = |severity: Severity| found.iter().filter(|it| it.warning.severity == severity).count();
    let all = [
        (of(Severity::Critical), "critical warning"),
        (of(Severity::Warning) + problems.len(), "warning"),
        (of(Severity::Note), "note"),
    ];
    let some = all.into_iter().filter(|(number, _)| *number > 0);
    let counts: Vec<String> = some.map(|(number, noun)| count(number, noun)).collect();
    if counts.is_empty() { "nothing is likely to surprise".into() } else { counts.join(", ") }
}

/// Warnings as annotations of a workflow or of code scanning.
fn annotations(found: &[Found], problems: &[Problem]) -> Vec<Annotation> {
    let of_problems = problems.iter().map(|it| Annotation {
        rule: "manifest",
        level: Level::Warning,
        place: it.file.clone().map(|file| (file, it.line, it.column)),
        text: it.message.clone(),
    });
    let of_warnings = found.iter().map(|Found { file, line, column, warning }| Annotation {
        rule: warning.code.as_str(),
        level: match warning.severity {
            Severity::Critical => Level::Error,
            Severity::Warning => Level::Warning,
            Severity::Note => Level::Note,
        },
        place: file.clone().map(|file| (file, *line, *column)),
        text: format!("{}\n{}", warning.message, warning.explanation),
    });
    of_problems.chain(of_warnings).collect()
}

/// The rules of all annotations.
fn rules() -> Vec<&'static str> {
    std::iter::once("manifest").chain(WarningCode::ALL.map(WarningCode::as_str)).collect()
}
