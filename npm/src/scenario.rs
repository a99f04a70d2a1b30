//! Scenario files: reading, running, checking.

use serde::Serialize;
use taintlab_core::lanes::Lanes;
use taintlab_core::scenario::{Outcome, Scenario};
use taintlab_manifest::{ScenarioFile, read_scenario};
use tsify::Tsify;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::input::{read_options, text_or_json};
use crate::manifests::{import_options, sort};
use crate::options::{ScenarioOptions, TimelineOptions};
use crate::output::to_js;
use crate::problem::{Problem, ProblemCode, fail};

/// An expectation of a scenario, and whether it turned out to be true.
#[derive(Serialize, Tsify)]
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
#[derive(Serialize, Tsify)]
#[serde(rename_all = "camelCase")]
pub struct ScenarioReport {
    /// Whether it could be run: yes.
    #[tsify(type = "true")]
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

/// Runs a scenario to its end and checks its expectations, as `npx taintlab test` does.
#[wasm_bindgen(js_name = testScenario, unchecked_return_type = "ScenarioReport | Failure")]
pub fn test_scenario(
    #[wasm_bindgen(
        unchecked_param_type = "string | Scenario",
        param_description = "the text of a scenario file, or the same as an object"
    )]
    scenario: JsValue,
    #[wasm_bindgen(
        unchecked_optional_param_type = "ScenarioOptions",
        param_description = "what is read besides"
    )]
    options: JsValue,
) -> Result<JsValue, JsValue> {
    let Opened { scenario, file, warnings } = match open(&scenario, &options)? {
        Ok(opened) => opened,
        Err(errors) => return fail(errors),
    };
    let report = match scenario.run() {
        Ok(report) => report,
        Err(error) => return fail(vec![at(&file, &error.path(), &error.to_string(), SCENARIO)]),
    };
    let outcome = |(index, outcome): (usize, &Outcome)| ExpectationOutcome {
        expectation: outcome.expectation.clone(),
        passed: outcome.failure.is_none(),
        failure: outcome.failure.as_ref().map(|failure| {
            at(&file, &format!("expect[{index}]"), failure, ProblemCode::ExpectationNotMet)
        }),
    };
    to_js(&ScenarioReport {
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

/// Runs a scenario to its end and draws what becomes of each zone, node and pod: SVG that needs no
/// script, follows light and dark, and has what it shows in words for those who do not see it.
#[wasm_bindgen(
    js_name = timelineSvg,
    unchecked_return_type = "{ ok: true; svg: string; lanes: Lanes } | Failure"
)]
pub fn timeline_svg(
    #[wasm_bindgen(
        unchecked_param_type = "string | Scenario",
        param_description = "the text of a scenario file, or the same as an object"
    )]
    scenario: JsValue,
    #[wasm_bindgen(
        unchecked_optional_param_type = "ScenarioOptions",
        param_description = "what is read besides"
    )]
    options: JsValue,
    #[wasm_bindgen(
        unchecked_optional_param_type = "TimelineOptions",
        param_description = "its title, and a moment that is marked"
    )]
    picture: JsValue,
) -> Result<JsValue, JsValue> {
    let picture: TimelineOptions = read_options(&picture, "picture")?;
    let Opened { scenario, file, .. } = match open(&scenario, &options)? {
        Ok(opened) => opened,
        Err(errors) => return fail(errors),
    };
    match Lanes::of(&scenario) {
        Ok(lanes) => {
            let svg = picture.draw(&lanes, &scenario.metadata.title);
            to_js(&Timeline { ok: true, svg, lanes })
        }
        Err(error) => fail(vec![at(&file, &error.path(), &error.to_string(), SCENARIO)]),
    }
}

/// The answer of [`timeline_svg`].
#[derive(Serialize)]
struct Timeline {
    ok: bool,
    svg: String,
    lanes: Lanes,
}

/// The code of problems with a scenario that cannot be read or run.
pub(crate) const SCENARIO: ProblemCode = ProblemCode::InvalidScenario;

/// A scenario that can run, with its warnings.
pub(crate) struct Opened {
    pub(crate) scenario: Scenario,
    /// Tells where in the text a problem lies that shows only later.
    pub(crate) file: ScenarioFile,
    pub(crate) warnings: Vec<Problem>,
}

/// Reads a scenario from text or an object, and applies the options to it; the inner error lists
/// what is wrong with it.
///
/// # Errors
/// A `TypeError` for values of other types.
pub(crate) fn open(
    scenario: &JsValue,
    options: &JsValue,
) -> Result<Result<Opened, Vec<Problem>>, JsValue> {
    open_with(scenario, &read_options(options, "options")?)
}

/// [`open`] with options that have been read.
pub(crate) fn open_with(
    scenario: &JsValue,
    options: &ScenarioOptions,
) -> Result<Result<Opened, Vec<Problem>>, JsValue> {
    let text = text_or_json(scenario, "scenario")?;
    let mut load = |name: &str| {
        let known = options.files.get(name).cloned();
        known.ok_or_else(|| format!("`options.files` has no text for `{name}`"))
    };
    let mut file = read_scenario(&text, &options.file, import_options(options.keep_all), &mut load);
    let (errors, warnings) = sort(std::mem::take(&mut file.diagnostics), SCENARIO);
    let Some(mut scenario) = file.scenario.take() else { return Ok(Err(errors)) };
    overrule(&mut scenario, options);
    Ok(Ok(Opened { scenario, file, warnings }))
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
pub(crate) fn at(file: &ScenarioFile, path: &str, message: &str, code: ProblemCode) -> Problem {
    Problem::of_diagnostic(file.error(path, message), code)
}
