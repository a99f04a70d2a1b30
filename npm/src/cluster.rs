//! Clusters made of manifests.

pub(crate) use taintlab_answers::cluster::ManifestCluster;
use wasm_bindgen::JsValue;

use crate::input::{read_options, text_or_json};
use crate::problem::Problem;

/// Reads manifests and starts a cluster with their objects; the inner error lists what is wrong
/// with them.
pub(crate) fn cluster(
    manifests: &JsValue,
    options: &JsValue,
) -> Result<Result<ManifestCluster, Vec<Problem>>, JsValue> {
    let options: taintlab_answers::options::SimulatorOptions = read_options(options, "options")?;
    let text = text_or_json(manifests, "manifests")?;
    let read = taintlab_answers::cluster::read(&text, &options);
    drop(text);
    Ok(taintlab_answers::cluster::cluster_of(read, options))
}
