//! Clusters made of manifests.

use taintlab_core::scenario::Scenario;
use taintlab_core::simulator::Simulator;
use taintlab_manifest::import;
use taintlab_manifest::memory::grow_ahead;
use wasm_bindgen::JsValue;

use crate::input::{read_options, text_or_json};
use crate::manifests::{Imported, import_options, sort};
use crate::options::SimulatorOptions;
use crate::problem::{Problem, ProblemCode};

/// A cluster made of manifests.
pub(crate) struct ManifestCluster {
    pub(crate) engine: Simulator,
    /// The scenario that begins with this cluster.
    pub(crate) scenario: Scenario,
    /// Warnings about the manifests.
    pub(crate) problems: Vec<Problem>,
    pub(crate) imported: Imported,
}

/// Reads manifests and starts a cluster with their objects; the inner error lists what is wrong
/// with them.
pub(crate) fn cluster(
    manifests: &JsValue,
    options: &JsValue,
) -> Result<Result<ManifestCluster, Vec<Problem>>, JsValue> {
    let options: SimulatorOptions = read_options(options, "options")?;
    let text = text_or_json(manifests, "manifests")?;
    let mut read = import(&text, &options.file, import_options(options.keep_all));
    drop(text);
    let (errors, problems) =
        sort(std::mem::take(&mut read.diagnostics), ProblemCode::InvalidManifest);
    if !errors.is_empty() {
        return Ok(Err(errors));
    }
    let imported = Imported::of(&read);
    let mut scenario = read.into_scenario(options.scenario());
    // The cluster's own memory grows while it takes over the objects.
    let nodes = std::mem::take(&mut scenario.objects.nodes).into_iter();
    let pods = std::mem::take(&mut scenario.objects.pods).into_iter();
    let nodes = nodes.inspect(|_| grow_ahead());
    let pods = pods.inspect(|_| grow_ahead());
    Ok(match scenario.simulator_with(nodes, pods) {
        Ok(engine) => Ok(ManifestCluster { engine, scenario, problems, imported }),
        Err(error) => Err(vec![Problem::of_config(&error)]),
    })
}
