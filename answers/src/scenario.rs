//! Scenario files: opening and checking.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scenario::{Outcome, Scenario};
use taintlab_manifest::{ScenarioFile, read_scenario};

use crate::cluster::{import_options, sort};
use crate::options::DurationText;
use crate::problem::{Problem, ProblemCode};

/// What is read besides a scenario.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ScenarioOptions {
    /// The name that errors show, for example `outage.yaml`.
    pub file: String,
    /// The texts of the files that the scenario names in `objects.files`, by name.
    pub files: BTreeMap<String, String>,
    /// Another release than the one that the scenario names.
    #[cfg_attr(feature = "typescript", tsify(type = "KubernetesRelease"))]
    pub release: Option<KubernetesRelease>,
    /// Flags of kube-controller-manager that differ from those of the scenario, by name without
    /// dashes.
    pub controller_manager_flags: BTreeMap<String, String>,
    /// Another end than the one that the scenario names: a duration.
    #[cfg_attr(feature = "typescript", tsify(type = "Span"))]
    pub until: Option<DurationText>,
    /// Whether to keep what no simulation reads, which may be secret: environment, commands,
    /// annotations, data of Secrets and so on. It is dropped unless this is `true`.
    pub keep_all: bool,
}

/// An expectation of a scenario, and whether it turned out to be true.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
pub struct ExpectationOutcome {
    /// The expectation in words: `default/web-1 is evicted at 5m0s`.
    pub expectation: String,
    /// Whether it turned out to be true.
    pub passed: bool,
    /// What happened instead, and where in the file the expectation is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Problem>,
}

/// What came of a scenario.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase")]
pub struct ScenarioReport {
    /// Whether it could be run: yes.
    #[cfg_attr(feature = "typescript", tsify(type = "true"))]
    pub ok: bool,
    /// Whether every expectation turned out to be true.
    pub passed: bool,
    /// The name of the scenario; empty if it has none.
    pub name: String,
    /// Its title; empty if it has none.
    pub title: String,
    /// For each expectation, in order, what became of it.
    pub outcomes: Vec<ExpectationOutcome>,
    /// When it ended.
    pub ended_at: taintlab_core::time::Timestamp,
    /// How many events there were.
    pub events: usize,
    /// What is probably not meant.
    pub warnings: Vec<Problem>,
}

/// The code of problems with a scenario that cannot be read or run.
pub const SCENARIO: ProblemCode = ProblemCode::InvalidScenario;

/// A scenario that can run, with its warnings.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The scenario, with the options applied.
    pub scenario: Scenario,
    /// Tells where in the text a problem lies that shows only later.
    pub file: ScenarioFile,
    /// What is probably not meant.
    pub warnings: Vec<Problem>,
}

/// Reads a scenario and applies the options to it. `load` returns the text of another file that the
/// scenario names, or why there is none.
///
/// # Errors
/// Lists what is wrong with the scenario.
pub fn open(
    text: &str,
    options: &ScenarioOptions,
    load: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<Opened, Vec<Problem>> {
    let mut file = read_scenario(text, &options.file, import_options(options.keep_all), load);
    let (errors, warnings) = sort(std::mem::take(&mut file.diagnostics), SCENARIO);
    let Some(mut scenario) = file.scenario.take() else { return Err(errors) };
    overrule(&mut scenario, options);
    Ok(Opened { scenario, file, warnings })
}

fn overrule(scenario: &mut Scenario, options: &ScenarioOptions) {
    if options.release.is_some() {
        scenario.kubernetes.release = options.release;
    }
    if options.until.is_some() {
        scenario.until = options.until.map(|until| until.0);
    }
    for (name, value) in &options.controller_manager_flags {
        scenario.kubernetes.controller_manager_flags.insert(name.clone(), value.clone());
    }
}

/// A problem with a part of a scenario that shows only when it runs.
#[must_use]
pub fn at(file: &ScenarioFile, path: &str, message: &str, code: ProblemCode) -> Problem {
    Problem::of_diagnostic(file.error(path, message), code)
}

/// Runs a scenario to its end and checks its expectations.
///
/// # Errors
/// The scenario cannot run.
pub fn test(opened: Opened) -> Result<ScenarioReport, Vec<Problem>> {
    let Opened { scenario, file, warnings } = opened;
    let report = scenario
        .run()
        .map_err(|error| vec![at(&file, &error.path(), &error.to_string(), SCENARIO)])?;
    let outcome = |(index, outcome): (usize, &Outcome)| ExpectationOutcome {
        expectation: outcome.expectation.clone(),
        passed: outcome.failure.is_none(),
        failure: outcome.failure.as_ref().map(|failure| {
            at(&file, &format!("expect[{index}]"), failure, ProblemCode::ExpectationNotMet)
        }),
    };
    Ok(ScenarioReport {
        ok: true,
        passed: report.passed(),
        name: scenario.metadata.name.clone(),
        title: scenario.metadata.title.clone(),
        outcomes: report.outcomes.iter().enumerate().map(outcome).collect(),
        ended_at: report.simulator.now(),
        events: report.events.len(),
        warnings,
    })
}
