//! Answers that need a cluster in simulated time.

use serde::de::DeserializeOwned;
use serde_json::Value;
use taintlab_answers::cluster::{self, ManifestCluster, cluster_of};
use taintlab_answers::fields::Fields;
use taintlab_answers::read::{WrongCall, decode};
use taintlab_answers::whatif::{Lint, WhenEvictedOptions, pod_source, when_evicted};
use taintlab_core::api::{Node, PodKey};
use taintlab_core::simulator::PodSource;
use taintlab_core::warnings::warnings_of;

use crate::values::fits;
use crate::{Answer, Refusal, write};

impl From<WrongCall> for Refusal {
    fn from(wrong: WrongCall) -> Self {
        Self::Request(wrong.0)
    }
}

pub(crate) fn when(request: &Fields<'_>, room: usize) -> Answer {
    let pod = pod_source(request.required("pod", "an object")?.clone(), "pod")?;
    let node: Node = decode(request.required("node", "an object")?, "node")?;
    let tolerations = match &pod {
        PodSource::Pod(pod) => &pod.spec.tolerations,
        PodSource::Workload(workload) => &workload.spec.template.spec.tolerations,
        PodSource::CronJob(cron_job) => &cron_job.spec.job_template.spec.template.spec.tolerations,
    };
    fits(&node.spec.taints, tolerations, room)?;
    let options: WhenEvictedOptions = options(request)?;
    write(&when_evicted(pod, node, options).map_err(Refusal::Values)?)
}

pub(crate) fn lint(request: &Fields<'_>) -> Answer {
    let ManifestCluster { engine, problems, .. } = read(request)?;
    write(&Lint { ok: true, warnings: warnings_of(&engine), problems })
}

pub(crate) fn explain(request: &Fields<'_>, room: usize) -> Answer {
    let key = PodKey::parse(request.text("pod")?)
        .map_err(|error| request.wrong("pod", &error.to_string()))?;
    let ManifestCluster { engine, .. } = read(request)?;
    let cluster = engine.cluster();
    if let Some(pod) = cluster.get_pod(&key)
        && let Some(node) = cluster.get_node(&pod.spec.node_name)
    {
        fits(&node.spec.taints, &pod.spec.tolerations, room)?;
    }
    write(&engine.explain(&key))
}

/// The cluster of the field `manifests`: objects, or JSON text.
fn read(request: &Fields<'_>) -> Result<ManifestCluster, Refusal> {
    let text = match request.required("manifests", "objects, or JSON text")? {
        Value::String(text) => text.clone(),
        manifests => manifests.to_string(),
    };
    let options = options(request)?;
    cluster_of(cluster::read(&text, &options), options).map_err(Refusal::Values)
}

fn options<T: DeserializeOwned + Default>(request: &Fields<'_>) -> Result<T, Refusal> {
    match request.get("options") {
        Some(options) => Ok(decode(options, "options")?),
        None => Ok(T::default()),
    }
}
