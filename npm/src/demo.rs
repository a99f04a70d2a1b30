//! Demos: a scenario with its runs, for a page.

use js_sys::Function;
use serde::{Deserialize, Serialize};
use taintlab_core::scenario::Step;
use taintlab_manifest::demo::{Demo, DemoError, DemoOptions as Options, Embed, Recording};
use taintlab_manifest::write_scenario;
use tsify::Tsify;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use crate::input::{read_options, text_or_json, wrong_call};
use crate::manifests::Imported;
use crate::options::ScenarioOptions;
use crate::output::to_js;
use crate::problem::fail;
use crate::scenario::{Opened, SCENARIO, at, open_with};

/// How a demo is made.
#[derive(Debug, Default, Deserialize, Tsify)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct DemoOptions {
    /// What stands after the word `taintlab` of a fence: `start-at=40s
    /// knob=tolerationSeconds:0,30,300`.
    pub fence: String,
    /// The id of the figure, by default `taintlab-` and the scenario's name. Two demos in one page
    /// need different ones.
    pub id: String,
    /// Where the playground is, with `/` at its end. A demo links to it if the fence says
    /// `scenario=NAME`, which must then be one of the playground's examples, or if it is packed.
    pub playground: String,
    /// Where the files of the element are, with `/` at its end: `embed` leads there.
    pub base: String,
    /// Steps that are added to those of the scenario; what it expects is left out then.
    pub steps: Vec<Step>,
}

/// A demo.
#[derive(Serialize, Tsify)]
struct DemoAnswer {
    /// Whether it could be made: yes.
    #[tsify(type = "true")]
    ok: bool,
    /// The element `<taint-lab>` with its recording, and with a figure that needs no JavaScript.
    html: String,
    /// What the element plays.
    recording: Recording,
    /// Whether every expectation of the scenario turned out to be true.
    passed: bool,
    /// What an author puts on a page besides `html`, or in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[tsify(optional)]
    embed: Option<Embed>,
    /// What of the scenario is not in the demo on purpose.
    imported: Imported,
}

/// Runs a scenario, also with each setting of its knobs, and makes of it what a page shows: the
/// element `<taint-lab>` as HTML, and the recording that it plays.
#[wasm_bindgen(js_name = makeDemo, unchecked_return_type = "DemoAnswer | Failure")]
pub fn make_demo(
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
        unchecked_optional_param_type = "DemoOptions",
        param_description = "how the demo is made"
    )]
    demo: JsValue,
    #[wasm_bindgen(
        unchecked_optional_param_type = "(text: string) => string",
        param_description = "deflates a text without a header, for base64url without padding: then \
                             links have the scenario in them, and the answer has `embed`"
    )]
    pack: JsValue,
) -> Result<JsValue, JsValue> {
    let options: ScenarioOptions = read_options(&options, "options")?;
    let demo: DemoOptions = read_options(&demo, "demo")?;
    let fence = Options::parse(&demo.fence);
    let fence = fence.map_err(|error| wrong_call(&format!("demo.fence: {error}")))?;
    let demo_options = Options {
        is_example: fence.scenario.is_some(),
        id: demo.id,
        playground: demo.playground,
        steps: demo.steps,
        ..fence
    };
    let text = text_or_json(&scenario, "scenario")?;
    let Opened { scenario, file, .. } = match open_with(&scenario, &options)? {
        Ok(opened) => opened,
        Err(errors) => return fail(errors),
    };
    // A page has no files beside it, options count as part of the scenario, and dropped fields must
    // not travel.
    let is_changed = !options.files.is_empty()
        || !file.dropped.is_empty()
        || options.release.is_some()
        || options.until.is_some()
        || !options.controller_manager_flags.is_empty();
    let text = if is_changed { write_scenario(&scenario) } else { text };
    let made = Demo::new(&scenario, &text, &demo_options);
    let packed = match &made {
        Ok(made) if !pack.is_undefined() => packed(&pack, made.text())?,
        _ => String::new(),
    };
    match made.and_then(|made| Ok((made.html(&demo_options, &packed)?, made))) {
        Ok((html, made)) => to_js(&DemoAnswer {
            ok: true,
            html,
            recording: made.recording(),
            passed: made.passed(),
            imported: Imported::of_dropped(&file.dropped),
            embed: (!packed.is_empty()).then(|| made.embed(&demo_options, &demo.base, &packed)),
        }),
        Err(DemoError::Scenario(error)) => {
            fail(vec![at(&file, &error.path(), &error.to_string(), SCENARIO)])
        }
        Err(error @ DemoError::TooLarge(_)) => {
            fail(vec![at(&file, "objects", &error.to_string(), SCENARIO)])
        }
        Err(DemoError::Option(error)) => Err(wrong_call(&format!("demo.fence: {error}"))),
    }
}

/// Passes a text through the caller's function, which must return a text.
fn packed(pack: &JsValue, text: &str) -> Result<String, JsValue> {
    let pack: &Function = pack.dyn_ref().ok_or_else(|| wrong_call("pack: expected a function"))?;
    let packed = pack.call1(&JsValue::UNDEFINED, &text.into())?.as_string();
    packed.ok_or_else(|| wrong_call("pack: expected that it returns a text"))
}
