//! The `kubectl` line that does the same as a command.

use std::collections::BTreeMap;

use serde::Serialize;
use taintlab_core::api::{NodeName, PodKey, START_UP_TIME_ANNOTATION, Taint};
use taintlab_core::command::{Cascade, Command};
use taintlab_core::policy::drain::DrainOptions;
use taintlab_core::policy::taints::taint_exists;
use taintlab_core::simulator::Simulator;

use crate::words::quoted;

/// The `kubectl` line that does to this cluster what `command` does, ready to paste into a shell;
/// `None` if `kubectl` cannot do it (a fault, a binding), or if nothing would change.
///
/// Running it with [`run`](crate::run) leaves the same objects, apart from the order of a node's
/// taints, which `kubectl taint` chooses itself.
#[must_use]
pub fn command_line_of(command: &Command, simulator: &Simulator) -> Option<String> {
    let cluster = simulator.cluster();
    match command {
        Command::CreateNode(node) => document("create", node),
        Command::UpdateNode(node) => document("replace", node),
        Command::CreatePod(pod) => document("create", pod),
        Command::UpdatePod(pod) => document("replace", pod),
        Command::DeleteNode { node } => line(&["delete", "node", node.as_str()]),
        Command::SetTaints { node, taints } => {
            taint(node.as_str(), &cluster.get_node(node.as_str())?.spec.taints, taints)
        }
        Command::Taint { node, taint } => {
            let old = &cluster.get_node(node.as_str())?.spec.taints;
            let mut new = old.clone();
            new.retain(|old| !old.matches(taint));
            new.insert(0, taint.clone());
            self::taint(node.as_str(), old, &new)
        }
        Command::Untaint { node, key, effect } => {
            let colon = if effect.is_empty() { "" } else { ":" };
            line(&["taint", "nodes", node.as_str(), &format!("{key}{colon}{effect}-")])
        }
        Command::SetUnschedulable { node, unschedulable } => {
            line(&[if *unschedulable { "cordon" } else { "uncordon" }, node.as_str()])
        }
        Command::SetNodeLabels { node, labels } => {
            let old = &cluster.get_node(node.as_str())?.metadata.labels;
            label(vec!["label", "node", node.as_str()], old, labels)
        }
        Command::SetPodLabels { pod, labels } => {
            let old = &cluster.get_pod(pod)?.metadata.labels;
            label(about("label", pod), old, labels)
        }
        Command::SetTolerations { pod, tolerations } => {
            let patch = serde_json::json!({ "spec": { "tolerations": tolerations } });
            let patch = serde_json::to_string(&patch).ok()?;
            let mut words = about("patch", pod);
            words.extend(["--type=merge", "-p", &patch]);
            line(&words)
        }
        Command::DeletePod { pod, force, grace_period_seconds } => {
            let mut words = about("delete", pod);
            let grace = grace_period_seconds.map(|seconds| format!("--grace-period={seconds}"));
            if *force {
                words.extend(["--force", "--grace-period=0"]);
            } else if let Some(grace) = &grace {
                words.push(grace);
            }
            line(&words)
        }
        Command::CreateWorkload(workload) => document("create", workload),
        Command::UpdateWorkload(workload) => document("replace", workload),
        Command::CreateBudget(budget) => document("create", budget),
        Command::UpdateBudget(budget) => document("replace", budget),
        Command::DeleteWorkload { workload, cascade } => {
            let mut words = vec!["delete", workload.kind.singular(), workload.name.name()];
            in_namespace(&mut words, &workload.name);
            if *cascade == Cascade::Orphan {
                words.push("--cascade=orphan");
            }
            line(&words)
        }
        Command::DeleteBudget { budget } => {
            let mut words = vec!["delete", "pdb", budget.name()];
            in_namespace(&mut words, budget);
            line(&words)
        }
        Command::DeleteClaim { claim } => {
            let mut words = vec!["delete", "pvc", claim.name()];
            in_namespace(&mut words, claim);
            line(&words)
        }
        Command::CreateDeviceObject(object) => document("create", object),
        Command::UpdateDeviceObject(object) => document("replace", object),
        Command::DeleteDeviceObject { kind, name } => {
            let mut words = vec!["delete", kind.resource(), name.name()];
            in_namespace(&mut words, name);
            line(&words)
        }
        Command::DeleteVolume { volume } => line(&["delete", "pv", volume]),
        Command::Scale { workload, replicas } => {
            let replicas = format!("--replicas={replicas}");
            let mut words = vec!["scale", workload.kind.singular(), workload.name.name()];
            in_namespace(&mut words, &workload.name);
            words.push(&replicas);
            line(&words)
        }
        Command::SetStartUpTime { workload, time } => {
            let pair = format!("{START_UP_TIME_ANNOTATION}={time}");
            let mut words = vec!["annotate", workload.kind.singular(), workload.name.name()];
            in_namespace(&mut words, &workload.name);
            words.extend([pair.as_str(), "--overwrite"]);
            line(&words)
        }
        Command::Drain { nodes, options } => drain(nodes, options),
        // kubectl has no verb for these.
        Command::EvictPod { .. }
        | Command::BindPod { .. }
        | Command::CancelDrain { .. }
        | Command::SetApiServerFlags { .. }
        | Command::FailPodWrites { .. }
        | Command::FailNodeWrites { .. }
        | Command::RestartTaintEvictionController
        | Command::RestartControllerManager
        | Command::StopKubelet { .. }
        | Command::StartKubelet { .. }
        | Command::RestartKubelet { .. }
        | Command::FlapKubelet { .. }
        | Command::ShutDownNode { .. }
        | Command::CancelShutdown { .. }
        | Command::PowerOffNode { .. }
        | Command::CutNetwork { .. }
        | Command::RestoreNetwork { .. }
        | Command::CutZoneNetwork { .. }
        | Command::RestoreZoneNetwork { .. }
        | Command::RegisterNode { .. }
        | Command::SetNodeCondition { .. }
        | Command::SetNodeResources(_)
        | Command::LoadNode(_)
        | Command::SetPodUsage { .. }
        | Command::LoadPod(_)
        | Command::ConfigureKubelet { .. } => None,
    }
}

/// The line of a drain, with its flags. The line cordons the nodes as well.
fn drain(nodes: &[NodeName], options: &DrainOptions) -> Option<String> {
    let mut words = vec!["drain".to_owned()];
    words.extend(nodes.iter().map(|node| node.as_str().to_owned()));
    words.extend(options.flags());
    line(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

fn in_namespace<'c>(words: &mut Vec<&'c str>, key: &'c PodKey) {
    if key.namespace() != "default" {
        words.extend(["-n", key.namespace()]);
    }
}

fn line(words: &[&str]) -> Option<String> {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    Some(format!("kubectl {}", words.join(" ")))
}

/// The first words of a line about a pod: verb, type, name and namespace.
fn about<'c>(verb: &'c str, pod: &'c PodKey) -> Vec<&'c str> {
    let mut words = vec![verb, "pod", pod.name()];
    in_namespace(&mut words, pod);
    words
}

/// A line that passes an object as a here document.
fn document<T: Serialize>(verb: &str, object: &T) -> Option<String> {
    let yaml = taintlab_manifest::to_yaml(object).ok()?;
    let mut mark = "EOF".to_owned();
    while yaml.lines().any(|line| line == mark) {
        mark.push('_');
    }
    Some(format!("kubectl {verb} -f - <<'{mark}'\n{yaml}{mark}"))
}

/// The line that changes a node's taints from `old` to `new`; `None` if they are equal or need a
/// `timeAdded`.
fn taint(node: &str, old: &[Taint], new: &[Taint]) -> Option<String> {
    let mut words = vec!["taint".to_owned(), "nodes".to_owned(), node.to_owned()];
    let mut overwrite = false;
    for taint in new.iter().filter(|taint| !old.contains(taint)) {
        // kubectl cannot set `timeAdded`.
        if taint.time_added.is_some() {
            return None;
        }
        overwrite |= taint_exists(old, taint);
        words.push(taint.to_string());
    }
    for taint in old.iter().filter(|taint| !taint_exists(new, taint)) {
        words.push(format!("{}:{}-", taint.key, taint.effect));
    }
    if words.len() == 3 {
        return None;
    }
    if overwrite {
        words.push("--overwrite".to_owned());
    }
    line(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The line that changes labels from `old` to `new`; `None` if they are equal.
fn label(
    words: Vec<&str>,
    old: &BTreeMap<String, String>,
    new: &BTreeMap<String, String>,
) -> Option<String> {
    let mut pairs: Vec<String> = Vec::new();
    let mut overwrite = false;
    for (key, value) in new.iter().filter(|(key, value)| old.get(*key) != Some(value)) {
        overwrite |= old.contains_key(key);
        pairs.push(format!("{key}={value}"));
    }
    pairs.extend(old.keys().filter(|key| !new.contains_key(*key)).map(|key| format!("{key}-")));
    if pairs.is_empty() {
        return None;
    }
    if overwrite {
        pairs.push("--overwrite".to_owned());
    }
    let mut words = words;
    words.extend(pairs.iter().map(String::as_str));
    line(&words)
}
