//! `taintlab schedule`: where the scheduler puts a pod, or why nowhere.

use std::sync::Arc;

use taintlab_answers::options::ReleaseOptions;
use taintlab_core::api::{Node, Pod, PodKey, Workload};
use taintlab_core::policy::scheduling::{
    Decision, NodeVerdict, SchedulerConfig, schedule as decide,
};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::scenario::NodeGroup;
use taintlab_core::simulator::{PodSource, SimulatorConfig};
use taintlab_manifest::{Import, is_scenario};
use taintlab_words::{Style, table};

use crate::host::Host;
use crate::json;
use crate::line::{KubernetesLine, ScheduleLine};
use crate::options::release;
use crate::reading::{objects_in, read_inputs, warn};
use crate::report::cluster_in;
use crate::stop::{Done, FAILED, OK, Stop};

pub(crate) fn schedule(host: &dyn Host, line: &ScheduleLine) -> Done<u8> {
    let [pod] = line.pod.as_slice() else {
        let found = match line.pod.len() {
            0 => String::new(),
            many => format!(", found {many}"),
        };
        return Err(Stop::usage(format!("schedule: which pod? A file, or NAMESPACE/NAME{found}")));
    };
    let release = release(line.release.as_ref())?;
    let around = read(host, &line.nodes)?;
    // A name is one of a pod in the files of the nodes.
    let named =
        PodKey::parse(pod).ok().filter(|key| around.pods.iter().any(|pod| pod.key() == *key));
    let (mut pod, import) = match named {
        Some(key) => {
            let mut around = around;
            let place = around.pods.iter().position(|pod| pod.key() == key);
            let pod = place.map(|place| around.pods.remove(place)).unwrap_or_default();
            (pod, around)
        }
        None => {
            let mut own = read(host, std::slice::from_ref(pod))?;
            let wanted = wanted(&mut own, release.unwrap_or_default())?;
            let import = if line.nodes.is_empty() { own } else { around };
            (wanted, import)
        }
    };
    let on = std::mem::take(&mut pod.spec.node_name);
    let decision = decision(&pod, &import.nodes, &import.pods, release)?;
    let text = match line.json {
        true => json::lines(&decision) + "\n",
        false => words(&pod, &on, &decision, line.scores, host.style()),
    };
    host.out(&text);
    Ok(if decision.node.is_some() { OK } else { FAILED })
}

/// Where the scheduler puts a pod, on these nodes beside those of these pods that have one.
pub(crate) fn decision<'a>(
    pod: &Pod,
    nodes: impl IntoIterator<Item = &'a Node>,
    pods: impl IntoIterator<Item = &'a Pod>,
    release: Option<KubernetesRelease>,
) -> Done<Decision> {
    let options = ReleaseOptions { release, ..ReleaseOptions::default() };
    let config = SchedulerConfig {
        comparison_operators: options
            .comparison_operators()
            .map_err(|wrong| Stop::problems(&[wrong]))?,
        ..SchedulerConfig::of(release.unwrap_or_default())
    };
    let there = pods.into_iter().filter(|pod| !pod.spec.node_name.is_empty());
    decide(pod, nodes, there, config).map_err(|error| Stop::failed(format!("error: {error}")))
}

fn read(host: &dyn Host, files: &[String]) -> Done<Import> {
    if files.is_empty() {
        return Ok(Import::default());
    }
    let inputs = read_inputs(host, files, &[])?;
    if inputs.iter().any(|it| is_scenario(&it.text)) {
        let from = files.first().map_or("-", String::as_str);
        let objects = cluster_in(host, &inputs, from, &KubernetesLine::default())?.scenario.objects;
        let grouped: Vec<Node> = objects.node_groups.iter().flat_map(NodeGroup::nodes).collect();
        return Ok(Import {
            nodes: objects.nodes.into_iter().map(Arc::unwrap_or_clone).chain(grouped).collect(),
            pods: objects.pods.into_iter().map(Arc::unwrap_or_clone).collect(),
            workloads: objects.workloads,
            ..Import::default()
        });
    }
    let (import, warnings) = objects_in(&inputs)?;
    let about_cluster =
        |message: &str| message.starts_with("no nodes") || message.starts_with("there are pods");
    let warnings: Vec<_> = warnings.into_iter().filter(|it| !about_cluster(&it.message)).collect();
    warn(host, &warnings);
    Ok(import)
}

/// The pod that a file asks for: the first one without a node, or that of its first workload.
fn wanted(own: &mut Import, release: KubernetesRelease) -> Done<Pod> {
    let free = own.pods.iter().position(|pod| pod.spec.node_name.is_empty());
    if let Some(place) = free.or((own.pods.len() == 1).then_some(0)) {
        return Ok(own.pods.remove(place));
    }
    let first: Option<&Workload> = own.workloads.first();
    let pod = |it: &Workload| {
        PodSource::Workload(Box::new(it.clone())).into_pod("", &SimulatorConfig::of(release))
    };
    first.map(pod).ok_or_else(|| {
        Stop::failed(
            "error: schedule: the file has no pod without a node, and nothing that makes one",
        )
    })
}

/// A decision in words; `on` is the node of a pod that has one.
pub(crate) fn words(
    pod: &Pod,
    on: &str,
    decision: &Decision,
    scores: bool,
    style: Style,
) -> String {
    let Decision { node, message, verdicts, preemptable, .. } = decision;
    let key = pod.key();
    let said = match (node, message) {
        (Some(node), _) => format!("{key} goes to {node}"),
        (None, message) => {
            format!("{key} goes nowhere: {}", message.as_deref().unwrap_or_default())
        }
    };
    let mut text = match on {
        "" => String::new(),
        on => format!("{key} is on {on}; if the scheduler had to place it now:\n"),
    };
    text += &format!("{}\n", style.bold(&said));
    if !preemptable.is_empty() {
        let nodes = preemptable.join(", ");
        text += &format!("it would fit without pods of lower priority on {nodes}\n");
    }
    if scores {
        let rows: Vec<Vec<String>> = verdicts.iter().map(row).collect();
        let head = ["NODE", "TOTAL", "WHY"].map(String::from);
        text += &table(style, &head, &rows);
    }
    text
}

/// Row of a node: its scores, or what keeps the pod off.
fn row(verdict: &NodeVerdict) -> Vec<String> {
    let NodeVerdict { node, rejection, scores, total } = verdict;
    if let Some(rejection) = rejection {
        let why = format!("{:?}: {}", rejection.plugin, rejection.reasons.join("; "));
        return vec![node.clone(), "-".into(), why];
    }
    let score = |it: &taintlab_core::policy::scheduling::PluginScore| {
        format!("{:?} {}×{}", it.plugin, it.score, it.weight)
    };
    let scores: Vec<String> = scores.iter().map(score).collect();
    vec![node.clone(), total.to_string(), scores.join(", ")]
}
