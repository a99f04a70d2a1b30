//! The resilience report, run by run: `taintlab/report` distributes the runs over workers.

use serde::Deserialize;
use taintlab_answers::cluster::{ManifestScenario, read as read_manifests, scenario_of};
use taintlab_core::report::{
    Millis, Outline, Plan, ReportError, ReportOptions, ReportSubject, Run, RunResult,
    report as put_together,
};
use taintlab_core::scenario::Scenario;
use taintlab_core::time::Timestamp;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::exclusive_cell::ExclusiveCell;
use crate::input::{expected, read, read_list, read_options, text, text_or_json, wrong_call};
use crate::js;
use crate::manifests::Imported;
use crate::options::{SimulatorOptions, TimelineOptions};
use crate::output::Answer;
use crate::problem::{Problem, ProblemCode, fail};
use crate::scenario::{Opened, SCENARIO, at, open};

/// A settled cluster and what can fail in it. Each run forks it, so that runs can be made in any
/// order, by several plans of the same cluster. `report()` of `taintlab/report` does that.
#[wasm_bindgen]
pub struct ReportPlan(ExclusiveCell<Plan>);

#[wasm_bindgen]
impl ReportPlan {
    /// The plan of a report about the cluster of manifests.
    #[wasm_bindgen(
        js_name = fromManifests,
        unchecked_return_type = "{ ok: true; plan: ReportPlan; warnings: Problem[]; \
            imported: Imported } | Failure"
    )]
    pub fn from_manifests(
        #[wasm_bindgen(
            unchecked_param_type = "string | readonly object[] | { items: readonly object[] }",
            param_description = "YAML or JSON text, or objects as Kubernetes' API returns them"
        )]
        manifests: JsValue,
        #[wasm_bindgen(
            unchecked_optional_param_type = "SimulatorOptions",
            param_description = "which Kubernetes; the newest with its defaults unless given"
        )]
        options: JsValue,
        #[wasm_bindgen(
            unchecked_optional_param_type = "Partial<ReportOptions>",
            param_description = "what fails, how, and for how long it is watched"
        )]
        report: JsValue,
    ) -> Result<JsValue, JsValue> {
        let options: SimulatorOptions = read_options(&options, "options")?;
        let report: ReportOptions = read_options(&report, "report")?;
        let manifests = text_or_json(&manifests, "manifests")?;
        match scenario_of(read_manifests(&manifests, &options), options) {
            Ok(ManifestScenario { scenario, problems, imported }) => {
                plan_of(scenario, report, &problems, Some(&imported))
            }
            Err(errors) => fail(errors),
        }
    }

    /// The plan of a report about the cluster of a scenario, as it is at the beginning.
    #[wasm_bindgen(
        js_name = fromScenario,
        unchecked_return_type = "{ ok: true; plan: ReportPlan; warnings: Problem[] } | Failure"
    )]
    pub fn from_scenario(
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
            unchecked_optional_param_type = "Partial<ReportOptions>",
            param_description = "what fails, how, and for how long it is watched"
        )]
        report: JsValue,
    ) -> Result<JsValue, JsValue> {
        let report: ReportOptions = read_options(&report, "report")?;
        let Opened { scenario, file, warnings } = match open(&scenario, &options)? {
            Ok(opened) => opened,
            Err(errors) => return fail(errors),
        };
        if let Err(error) = scenario.simulator() {
            return fail(vec![at(&file, &error.path(), &error.to_string(), SCENARIO)]);
        }
        plan_of(scenario, report, &warnings, None)
    }

    /// What the report is about: its failure domains and workloads.
    #[wasm_bindgen(unchecked_return_type = "ReportOutline")]
    pub fn outline(&self) -> Result<JsValue, JsValue> {
        self.0.with(|plan| plain(plan.outline()))
    }

    /// The runs of the cluster as it is.
    #[wasm_bindgen(unchecked_return_type = "ReportRun[]")]
    pub fn runs(&self) -> Result<JsValue, JsValue> {
        self.0.with(|plan| plain(&plan.runs()))
    }

    /// Makes a run.
    #[wasm_bindgen(unchecked_return_type = "({ ok: true } & ReportRunResult) | Failure")]
    pub fn run(
        &self,
        #[wasm_bindgen(
            unchecked_param_type = "ReportRun",
            param_description = "a run of `runs()` or `remedies()`"
        )]
        run: JsValue,
    ) -> Result<JsValue, JsValue> {
        let run: Run = read(&run, "run")?;
        self.0.with(|plan| match plan.run(&run) {
            Ok(result) => plain(&Answer { ok: true, answer: &result }),
            Err(error) => fail(vec![problem(&error)]),
        })
    }

    /// The runs that tell what would help, by the results so far: first of `runs()`, then of these
    /// runs as well, until it lists none.
    #[wasm_bindgen(unchecked_return_type = "ReportRun[]")]
    pub fn remedies(
        &self,
        #[wasm_bindgen(
            unchecked_param_type = "readonly ReportRunResult[]",
            param_description = "all results so far, in any order"
        )]
        results: JsValue,
    ) -> Result<JsValue, JsValue> {
        let results: Vec<RunResult> = read_list(&results, "results")?;
        self.0.with(|plan| plain(&plan.remedies(&results)))
    }

    /// What happens in a run as a picture, SVG: the nodes that fail and the pods of a workload.
    #[wasm_bindgen(
        js_name = timelineSvg,
        unchecked_return_type = "{ ok: true; svg: string } | Failure"
    )]
    pub fn timeline_svg(
        &self,
        #[wasm_bindgen(
            unchecked_param_type = "ReportRun",
            param_description = "a run, as the report names it"
        )]
        run: JsValue,
        #[wasm_bindgen(
            unchecked_param_type = "ReportSubject",
            param_description = "the workload: `deployment/shop/web`"
        )]
        subject: JsValue,
        #[wasm_bindgen(
            unchecked_optional_param_type = "TimelineOptions",
            param_description = "how it is drawn"
        )]
        options: JsValue,
    ) -> Result<JsValue, JsValue> {
        let run: Run = read(&run, "run")?;
        let subject = text(&subject, "subject")?;
        let options: TimelineOptions = read_options(&options, "options")?;
        let name = serde_json::Value::from(subject.as_str());
        let subject = ReportSubject::deserialize(name)
            .map_err(|error| wrong_call(&format!("subject: {error}")))?;
        self.0.with(|plan| match plan.lanes(&run, &subject) {
            Ok(lanes) => {
                let svg = options.draw(&lanes, &format!("{subject}: {}", run.fault));
                plain(&serde_json::json!({ "ok": true, "svg": svg }))
            }
            Err(error) => fail(vec![problem(&error)]),
        })
    }
}

/// Puts the results of runs together. Runs that were not made are missing, and said to be.
#[wasm_bindgen(
    js_name = mergeReport,
    unchecked_return_type = "({ ok: true } & ResilienceReport) | Failure"
)]
pub fn merge_report(
    #[wasm_bindgen(
        unchecked_param_type = "ReportOutline",
        param_description = "what the report is about"
    )]
    outline: JsValue,
    #[wasm_bindgen(
        unchecked_param_type = "readonly ReportRunResult[]",
        param_description = "the results, in any order"
    )]
    results: JsValue,
) -> Result<JsValue, JsValue> {
    let outline: Outline = read(&outline, "outline")?;
    let results: Vec<RunResult> = read_list(&results, "results")?;
    match put_together(&outline, &results) {
        Ok(report) => plain(&Answer { ok: true, answer: &report }),
        Err(error) => fail(vec![problem(&error)]),
    }
}

/// A duration as reports say it: as Go writes it, to the nearest tenth of a second.
#[wasm_bindgen(js_name = durationText)]
pub fn duration_text(
    #[wasm_bindgen(unchecked_param_type = "number", param_description = "how long")]
    milliseconds: JsValue,
) -> Result<String, JsValue> {
    let time = milliseconds.as_f64().filter(|time| time.is_finite());
    let time = time.and_then(Timestamp::from_fractional_millis);
    let wanted = "a finite number of milliseconds";
    let time = time.ok_or_else(|| expected("milliseconds", wanted, &milliseconds))?;
    Ok(Millis::between(Timestamp::ZERO, time).to_string())
}

// It takes a class, so it stands here and not in `js.rs`.
#[wasm_bindgen(raw_module = "./boundary.js")]
extern "C" {
    #[wasm_bindgen(catch)]
    fn planned(
        plan: ReportPlan,
        warnings: &JsValue,
        imported: &JsValue,
    ) -> Result<JsValue, JsValue>;
}

fn plan_of(
    scenario: Scenario,
    options: ReportOptions,
    warnings: &[Problem],
    imported: Option<&Imported>,
) -> Result<JsValue, JsValue> {
    match Plan::new(scenario, options) {
        Ok(plan) => {
            let imported = imported.map_or(Ok(JsValue::UNDEFINED), plain)?;
            planned(ReportPlan(ExclusiveCell::new(plan)), &plain(&warnings)?, &imported)
        }
        Err(error) => fail(vec![problem(&error)]),
    }
}

/// Converts a value by JSON, which keeps its numbers, so that a report has the same bytes
/// everywhere.
fn plain(value: &impl serde::Serialize) -> Result<JsValue, JsValue> {
    let json = serde_json::to_string(value);
    js::parse(&json.map_err(|error| wasm_bindgen::JsError::new(&error.to_string()))?)
}

fn problem(error: &ReportError) -> Problem {
    match error {
        ReportError::Scenario(error) => Problem::of_config(error),
        ReportError::Option { name, message } => {
            Problem::new(ProblemCode::InvalidConfiguration, name, message)
        }
        ReportError::UnknownDomain { .. } | ReportError::Remedy(_) | ReportError::Results(_) => {
            Problem::new(ProblemCode::InvalidObject, "", &error.to_string())
        }
    }
}
