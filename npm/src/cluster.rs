//! A cluster out of manifests.

use taintlab_core::scenario::Scenario;
use taintlab_core::simulator::Simulator;
use taintlab_manifest::{Import, Limits, import};
use wasm_bindgen::JsValue;

use crate::input::{json, read_options};
use crate::manifests::sort;
use crate::options::SimulatorOptions;
use crate::problem::{Problem, ProblemCode};

/// A cluster of manifests: itself, the scenario that it is the beginning of, and what is probably not
/// meant in the manifests. Inside, what is wrong.
#[expect(clippy::type_complexity, reason = "an answer that only two functions take apart")]
pub(crate) fn cluster(
    manifests: &JsValue,
    options: &JsValue,
) -> Result<Result<(Simulator, Scenario, Vec<Problem>), Vec<Problem>>, JsValue> {
    let options: SimulatorOptions = read_options(options, "options")?;
    let text = match manifests.as_string() {
        Some(text) => text,
        None => json(manifests, "manifests")?,
    };
    let read = import(&text, &options.file, &Limits::default());
    drop(text);
    let Import { nodes, pods, others, diagnostics, workloads, budgets } = read;
    let (errors, problems) = sort(diagnostics, ProblemCode::InvalidManifest);
    if !errors.is_empty() {
        return Ok(Err(errors));
    }
    let mut scenario = options.scenario();
    scenario.objects.nodes = nodes;
    scenario.objects.pods = pods;
    scenario.objects.workloads = workloads;
    scenario.objects.budgets = budgets;
    scenario.objects.others = others;
    Ok(match scenario.simulator() {
        Ok(engine) => Ok((engine, scenario, problems)),
        Err(error) => Err(vec![Problem::of_config(&error)]),
    })
}
