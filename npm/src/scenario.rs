//! Scenario files: reading, running, checking.

use serde::Serialize;
use taintlab_answers::scenario::test;
pub use taintlab_answers::scenario::{ExpectationOutcome, ScenarioReport};
pub(crate) use taintlab_answers::scenario::{Opened, SCENARIO, at};
use taintlab_core::lanes::Lanes;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::input::{read_options, text_or_json};
use crate::options::{ScenarioOptions, TimelineOptions};
use crate::output::to_js;
use crate::problem::{Problem, fail};

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
    match open(&scenario, &options)?.and_then(test) {
        Ok(report) => to_js(&report),
        Err(errors) => fail(errors),
    }
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
    Ok(taintlab_answers::scenario::open(&text, options, &mut |name| {
        let known = options.files.get(name).cloned();
        known.ok_or_else(|| format!("`options.files` has no text for `{name}`"))
    }))
}
