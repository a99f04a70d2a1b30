//! `taintlab rank`: whom the kubelet evicts first.

use std::collections::{BTreeMap, BTreeSet};

use taintlab_core::api::{Pod, PodKey, Quantity};
use taintlab_core::kubelet::{
    ContainerUsage, KubeletVersion, Layout, PodUsage, RankedPod, Signal, UsageCurve,
    rank_for_eviction,
};
use taintlab_core::plural::{count, names};
use taintlab_core::time::Timestamp;
use taintlab_words::table;

use crate::host::Host;
use crate::json;
use crate::line::RankLine;
use crate::options::release;
use crate::reading::{files_of, named, objects_of, read_text};
use crate::stop::{Done, OK, Stop};

pub(crate) fn rank(host: &dyn Host, line: &RankLine) -> Done<u8> {
    let files = files_of(&line.files, "rank")?;
    let version: KubeletVersion = release(line.release.as_ref())?.unwrap_or_default().into();
    let signal = Signal::parse(version, &line.signal).map_err(|why| {
        let known = Signal::ALL.into_iter().filter(|signal| signal.exists(version));
        let known: Vec<&str> = known.map(Signal::name).collect();
        Stop::usage(format!("--signal: {why}; this kubelet has `{}`", known.join("`, `")))
    })?;
    let (import, _) = objects_of(host, files)?;
    let mut usage = match &line.top {
        Some(file) => top(host, file)?,
        None => BTreeMap::new(),
    };
    let mut pods = import.pods;
    pods.retain(|pod| !matches!(pod.status.phase.as_str(), "Succeeded" | "Failed"));
    let node = node_of(host, line, &pods)?;
    let is_there = |pod: &Pod| pod.spec.node_name == node;
    let pods = pods.into_iter().filter(is_there).map(|pod| {
        let used = usage.remove(&pod.key()).map(|memory| of_memory(&pod, memory));
        (pod, used.unwrap_or_default())
    });
    let pods: Vec<(Pod, PodUsage)> = pods.collect();
    if pods.is_empty() {
        let place = line.node.as_ref().map(|node| format!(" on the node {node}"));
        let place = place.unwrap_or_default();
        return Err(Stop::failed(format!("error: rank: there is no pod{place}")));
    }
    let ranked = rank_for_eviction(version, Layout::default(), signal, &pods, Timestamp::ZERO)
        .map_err(|error| Stop::failed(format!("error: {error}")))?;
    let Some(ranking) = ranked else {
        let why = format!("--signal: this kubelet does not rank for `{}`", signal.name());
        return Err(Stop::usage(why));
    };
    if line.json {
        host.out(&(json::lines(&ranking) + "\n"));
        return Ok(OK);
    }
    let in_bytes = !matches!(
        signal,
        Signal::NodeFsInodesFree
            | Signal::ImageFsInodesFree
            | Signal::ContainerFsInodesFree
            | Signal::PidAvailable
    );
    let pods = ranking.pods.iter().enumerate();
    let rows: Vec<Vec<String>> = pods.map(|(index, ranked)| row(index, ranked, in_bytes)).collect();
    let head = ["", "POD", "QOS", "PRIORITY", "USAGE", "REQUEST", "BEFORE THE NEXT ONE, SINCE"];
    host.out(&table(host.style(), &head.map(String::from), &rows));
    Ok(OK)
}

/// The node whose pods are ranked; empty if no pod has one, when they count as those of one node.
fn node_of(host: &dyn Host, line: &RankLine, pods: &[Pod]) -> Done<String> {
    if let Some(node) = &line.node {
        return Ok(node.clone());
    }
    let nodes: BTreeSet<&str> = pods.iter().map(|pod| pod.spec.node_name.as_str()).collect();
    let nodes: Vec<&str> = nodes.into_iter().filter(|node| !node.is_empty()).collect();
    match nodes.as_slice() {
        [] => Ok(String::new()),
        [one] => {
            let others = pods.iter().filter(|pod| pod.spec.node_name.is_empty()).count();
            if others > 0 {
                host.err(&format!("left out: {} without a node\n", count(others, "pod")));
            }
            Ok((*one).to_owned())
        }
        several => {
            let why = "a kubelet evicts only its own pods, and these are on";
            let names = names(several);
            Err(Stop::usage(format!("rank: which --node? {why} {names}")))
        }
    }
}

fn row(index: usize, ranked: &RankedPod, in_bytes: bool) -> Vec<String> {
    let it = &ranked.candidate;
    let usage = if in_bytes { mebibytes(it.usage) } else { it.usage.to_string() };
    let why = ranked.before_next_by.map_or("", |reason| reason.words());
    let skipped = if it.critical.is_some() { "skipped when its turn comes; " } else { "" };
    vec![
        (index + 1).to_string(),
        it.pod.to_string(),
        format!("{:?}", it.qos_class),
        it.priority.to_string(),
        usage,
        it.request.to_string(),
        format!("{skipped}{why}").trim_end_matches("; ").to_owned(),
    ]
}

/// An amount as `kubectl top` prints it.
fn mebibytes(bytes: i64) -> String {
    format!("{}Mi", bytes / (1 << 20))
}

/// All of a pod's memory in its first container, since `kubectl top` adds them up.
fn of_memory(pod: &Pod, memory: Quantity) -> PodUsage {
    let fields = serde_json::to_value(pod).unwrap_or_default();
    let name = fields.pointer("/spec/containers/0/name").and_then(serde_json::Value::as_str);
    let name = name.unwrap_or_default().to_owned();
    let memory = UsageCurve::Constant(memory);
    let container = ContainerUsage { name, memory, ..ContainerUsage::default() };
    PodUsage { containers: vec![container], ..PodUsage::default() }
}

/// Memory by pod, from what `kubectl top pods` prints.
fn top(host: &dyn Host, file: &str) -> Done<BTreeMap<PodKey, Quantity>> {
    let text = read_text(host, file)?;
    let stop =
        |line: usize, why: &str| Stop::failed(format!("{}:{line}:1: error: {why}", named(file)));
    let mut lines = text.lines().enumerate();
    let head: Vec<&str> =
        lines.next().map(|(_, line)| line.split_whitespace().collect()).unwrap_or_default();
    let column = |name: &str| head.iter().position(|title| *title == name);
    let memory = head.iter().position(|title| title.starts_with("MEMORY"));
    let (Some(pod), Some(memory)) = (column("NAME"), memory) else {
        return Err(stop(1, "expected the table that `kubectl top pods -A` prints, with its head"));
    };
    let namespace = column("NAMESPACE");
    let mut all = BTreeMap::new();
    for (index, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let cell = |place: usize| cells.get(place).copied().unwrap_or_default();
        let key = match namespace {
            Some(place) => format!("{}/{}", cell(place), cell(pod)),
            None => cell(pod).to_owned(),
        };
        let key = PodKey::parse(&key).map_err(|why| stop(index + 1, &why.to_string()))?;
        let quantity =
            Quantity::parse(cell(memory)).map_err(|why| stop(index + 1, &why.to_string()))?;
        all.insert(key, quantity);
    }
    Ok(all)
}
