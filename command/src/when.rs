//! `taintlab when` and `kubectl taintlab when`: when a pod is evicted if something happens to its node now.

use serde::Serialize;
use serde_json::Value;
use taintlab_answers::problem::Problem;
use taintlab_answers::read::decode;
use taintlab_answers::simulation::Simulation;
use taintlab_answers::whatif::{WhenEvicted, WhenEvictedOptions, pod_source, when_evicted};
use taintlab_core::api::{Node, PodKey, Taint};
use taintlab_core::command::Command;
use taintlab_core::controllers::node_lifecycle::ZoneView;
use taintlab_core::eviction_timeline::time_budget::TimeBudget;
use taintlab_core::policy::matching::Verdict;
use taintlab_core::scenario::Scenario;
use taintlab_core::simulator::{NodeFault, stopped_zone};
use taintlab_core::time::{Timestamp, format_duration};
use taintlab_words::matching::{stopped, verdict as sentence};
use taintlab_words::{Style, table};

use crate::cluster::{NotRead, Read, key_of, no_node, pod_named, read_pod};
use crate::host::Host;
use crate::json;
use crate::line::{KubernetesLine, PluginWhen, WhenLine, WhenOptions};
use crate::options::{release, stop_for, taint, value};
use crate::reading::{files_of, objects, read_inputs, warn};
use crate::report::cluster_in;
use crate::run::{Begun, Simulated, of_cluster, simulator_options, tell};
use crate::stop::{Done, OK, Stop};

/// Time after which the verdict on a pod that stays is taken: longer than any grace period.
const SETTLED: core::time::Duration = core::time::Duration::from_secs(60 * 60);

/// Fault of the node.
pub(crate) enum Fault {
    Lost,
    NetworkCut,
    PowerOff,
    KubeletStopped,
    Nothing,
    Tainted(Box<Taint>, String),
}

const NAMES: &str = "lost, network-cut, power-off, kubelet-stopped, none, tainted=TAINT";

impl Fault {
    pub(crate) fn of(line: &WhenOptions) -> Done<Self> {
        if line.fault.is_some() && line.taint.is_some() {
            return Err(Stop::usage("--fault and --taint cannot be used together"));
        }
        let tainted = |option: &str, text: &str| {
            Ok(Self::Tainted(Box::new(taint(option, text)?), text.into()))
        };
        if let Some(text) = &line.taint {
            return tainted("--taint", text);
        }
        // Each with the name that it once had.
        match line.fault.as_deref().unwrap_or("lost") {
            "lost" | "unreachable" => Ok(Self::Lost),
            "network-cut" => Ok(Self::NetworkCut),
            "power-off" => Ok(Self::PowerOff),
            "kubelet-stopped" | "stopped" => Ok(Self::KubeletStopped),
            "none" | "nothing" => Ok(Self::Nothing),
            name => match name.strip_prefix("tainted=") {
                Some(text) => tainted("--fault tainted", text),
                None => Err(Stop::usage(format!("--fault: expected {NAMES}, found `{name}`"))),
            },
        }
    }

    pub(crate) fn text(&self, node: &str) -> String {
        match self {
            Self::Lost => format!("{node} is unreachable from now on"),
            Self::NetworkCut => format!("the network of {node} is cut now"),
            Self::PowerOff => format!("{node} is off from now on"),
            Self::KubeletStopped => format!("the kubelet of {node} stops now"),
            Self::Nothing => "nothing happens".into(),
            Self::Tainted(_, text) => format!("{node} is tainted with {text} now"),
        }
    }

    /// The command that does it; `None` if nothing happens.
    pub(crate) fn command(&self, node: &str) -> Done<Option<Command>> {
        let name = match self {
            Self::Lost | Self::NetworkCut => "cutNetwork",
            Self::PowerOff => "powerOffNode",
            Self::KubeletStopped => "stopKubelet",
            Self::Nothing => return Ok(None),
            Self::Tainted(taint, _) => {
                let parameters = serde_json::json!({ "node": node, "taint": taint });
                return value("--fault", serde_json::json!({ "taint": parameters })).map(Some);
            }
        };
        value("--fault", serde_json::json!({ name: { "node": node } })).map(Some)
    }
}

/// Eviction of the pod, or the reason why it stays.
pub(crate) struct Answer {
    pub(crate) budget: Option<TimeBudget>,
    pub(crate) why: Option<String>,
}

/// An answer, and what it is about.
struct About<'a> {
    pod: &'a str,
    node: &'a str,
    known: &'a Simulated,
    not_read: &'a [NotRead],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Said<'a> {
    pod: &'a str,
    node: &'a str,
    #[serde(flatten)]
    known: &'a Simulated,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<&'a TimeBudget>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    not_read: &'a [NotRead],
}

pub(crate) fn when(host: &dyn Host, line: &PluginWhen) -> Done<u8> {
    let wanted = pod_named("when", &line.pods, line.connection.namespace.as_ref())?;
    let fault = Fault::of(&line.options)?;
    release(line.release.as_ref())?;
    let read = read_pod(host, &wanted, &line.connection, line.release.as_ref())?;
    let pod = read.pod()?;
    let key = key_of(&pod.pod);
    let node = pod.node.ok_or_else(|| no_node(&key))?;
    let not_read = read.not_read.clone();
    let imported = read.imported();
    // Without a list of the nodes nothing is known of the zones, and the others count as healthy.
    let is_alone = not_read.iter().any(|it| it.kind == "nodes");
    let answer = match is_alone {
        true => alone(host, read, &pod.pod, &node, &fault, line)?,
        false => in_cluster(host, read, &key, &node, &fault, line)?,
    };
    let known = Simulated::of(&imported, line.release.as_deref());
    let about = About { pod: &key, node: &node, known: &known, not_read: &not_read };
    Ok(say(host, &about, &fault, &answer, line.options.json))
}

/// `taintlab when`: the cluster of files.
pub(crate) fn when_in_files(host: &dyn Host, line: &WhenLine) -> Done<u8> {
    let key = pod_key("when", &line.pods)?;
    let fault = Fault::of(&line.options)?;
    let files = files_of(&line.filename, "when: --filename")?;
    let inputs = read_inputs(host, files, &line.apply.apply)?;
    let from = files.first().map_or("-", String::as_str);
    let cluster = cluster_in(host, &inputs, from, &line.kubernetes)?;
    warn(host, &cluster.warnings);
    let chosen = line.kubernetes.release.as_deref();
    tell(host, &cluster.imported, chosen, "");
    let (mut simulation, node) = begun(&cluster.scenario, &key, &line.kubernetes)?;
    let answer = judged(&mut simulation, &key, &node, &fault)?;
    let known = Simulated::of(&cluster.imported, chosen);
    let about = About { pod: &key.to_string(), node: &node, known: &known, not_read: &[] };
    Ok(say(host, &about, &fault, &answer, line.options.json))
}

/// The pod of a command line, in a file.
pub(crate) fn pod_key(command: &str, pods: &[String]) -> Done<PodKey> {
    let name = pod_named(command, pods, None)?;
    Ok(PodKey::new(name.namespace.as_deref().unwrap_or("default"), &name.name))
}

/// A simulation of a cluster without the steps of its scenario, and the node of a pod in it.
pub(crate) fn begun(
    scenario: &Scenario,
    key: &PodKey,
    line: &KubernetesLine,
) -> Done<(Simulation, String)> {
    let mut scenario = scenario.clone();
    scenario.steps.clear();
    // Else nobody would see that the node is lost.
    scenario.kubernetes.node_lifecycle.get_or_insert(true);
    let engine = scenario.simulator();
    let engine = engine.map_err(|wrong| stop_for(line, &[Problem::of_config(&wrong)]))?;
    let pod = engine.cluster().get_pod(key).map(|pod| pod.spec.node_name.clone());
    let node = pod.ok_or_else(|| Stop::failed(format!("error: there is no pod `{key}`")))?;
    if node.is_empty() {
        return Err(no_node(&key.to_string()));
    }
    Ok((Simulation::new(engine, &scenario, None), node))
}

/// Prints an answer.
fn say(host: &dyn Host, about: &About<'_>, fault: &Fault, answer: &Answer, as_json: bool) -> u8 {
    let About { pod, node, known, not_read } = *about;
    if as_json {
        let budget = answer.budget.as_ref();
        host.out(&(json::lines(&Said { pod, node, known, budget, not_read }) + "\n"));
        return OK;
    }
    let style = host.style();
    host.out(&words(pod, node, fault, answer, style));
    for note in known.line().into_iter().chain(not_read.iter().map(ToString::to_string)) {
        host.out(&format!("{}\n", style.dim(&note)));
    }
    OK
}

/// An answer in words.
pub(crate) fn words(pod: &str, node: &str, fault: &Fault, answer: &Answer, style: Style) -> String {
    let text = fault.text(node);
    match &answer.budget {
        Some(budget) => evicted(budget, &text, style),
        None => {
            let head = style.bold(&format!("{pod}: if {text}, it is not evicted"));
            let why = answer.why.as_ref().map(|it| format!("{it}\n")).unwrap_or_default();
            format!("{head}\n{why}")
        }
    }
}

/// In the cluster as it was read.
fn in_cluster(
    host: &dyn Host,
    read: Read,
    key: &str,
    node: &str,
    fault: &Fault,
    line: &PluginWhen,
) -> Done<Answer> {
    let kubernetes = KubernetesLine { release: line.release.clone(), flags: Vec::new() };
    let options = simulator_options(&kubernetes, false)?;
    let Begun { mut simulation, warnings, imported, .. } =
        of_cluster(read, Vec::new(), &kubernetes, options)?;
    warn(host, &warnings);
    tell(host, &imported, line.release.as_deref(), "");
    let key = PodKey::parse(key).map_err(|error| Stop::failed(format!("error: {error}")))?;
    judged(&mut simulation, &key, node, fault)
}

/// Lets the fault happen at the beginning of a simulation.
pub(crate) fn judged(
    simulation: &mut Simulation,
    key: &PodKey,
    node: &str,
    fault: &Fault,
) -> Done<Answer> {
    if let Some(command) = fault.command(node)? {
        let stop = |problems: Vec<_>| Stop::problems(&problems);
        simulation.run_before(Timestamp::ZERO).map_err(stop)?;
        let done = simulation.engine.handle_command(Timestamp::ZERO, command);
        done.map_err(|error| Stop::failed(format!("error: {error}")))?;
    }
    let budget = simulation.engine.record_or_forecast(key, &mut simulation.forecast);
    if budget.is_some() {
        return Ok(Answer { budget, why: None });
    }
    // A pod that stays may be gone by then: that of a Job that is done, or one that was deleted.
    let end = Timestamp::ZERO.saturating_add(SETTLED);
    simulation.run(end).map_err(|problems| Stop::problems(&problems))?;
    let verdict = simulation.engine.explain(key).map(|it| it.matching.verdict);
    let why = verdict.map(|verdict| match stopped_zone(&simulation.engine, node) {
        Some(ZoneView { state: Some(state), rate_text, .. })
            if verdict == Verdict::NoNoExecuteTaints =>
        {
            stopped(state, &rate_text)
        }
        _ => sentence(&verdict),
    });
    Ok(Answer { budget: None, why })
}

/// On its node in a healthy cluster.
fn alone(
    host: &dyn Host,
    read: Read,
    pod: &Value,
    name: &str,
    fault: &Fault,
    line: &PluginWhen,
) -> Done<Answer> {
    tell(host, &read.imported(), line.release.as_deref(), "");
    let release = read.release;
    let import = objects(&read.inputs, false);
    let mut node = import.nodes.into_iter().next().unwrap_or_else(|| {
        let mut node = Node::default();
        name.clone_into(&mut node.metadata.name);
        node
    });
    let node_fault = match fault {
        Fault::Lost | Fault::NetworkCut | Fault::PowerOff | Fault::KubeletStopped => {
            NodeFault::Unreachable
        }
        Fault::Nothing => NodeFault::Tainted,
        Fault::Tainted(taint, _) => {
            node.spec.taints.push((**taint).clone());
            NodeFault::Tainted
        }
    };
    let is_device = |object: &Value| {
        let version = object.get("apiVersion").and_then(Value::as_str);
        version.is_some_and(|version| version.starts_with("resource.k8s.io/"))
    };
    let devices = import.others.into_iter().filter(is_device);
    let devices = devices.map(|device| value("devices", device)).collect::<Done<_>>()?;
    let options = WhenEvictedOptions { node_fault, devices, release, ..Default::default() };
    let source = pod_source(pod.clone(), "pod");
    let source = source.map_err(|wrong| Stop::failed(format!("error: {}", wrong.0)))?;
    // Output of kubectl is read as a manifest is.
    let node: Node = decode(serde_json::to_value(&node).unwrap_or_default(), "node")
        .map_err(|wrong| Stop::failed(format!("error: {}", wrong.0)))?;
    match when_evicted(source, node, options).map_err(|wrong| Stop::problems(&wrong))? {
        WhenEvicted::Evicted(it) => Ok(Answer { budget: Some(it.budget), why: None }),
        WhenEvicted::NotEvicted(it) => {
            Ok(Answer { budget: None, why: Some(sentence(&it.matching.verdict)) })
        }
    }
}

fn evicted(budget: &TimeBudget, fault: &str, style: Style) -> String {
    let TimeBudget { pod, evicted_at, gone_at, awaits_kubelet, terms, range, .. } = budget;
    let head = format!("{pod}: if {fault}, it is evicted after {evicted_at}");
    let mut text = format!("{}\n", style.bold(&head));
    let rows = terms
        .iter()
        .map(|term| vec![format_duration(term.duration), term.text.clone(), term.set_by.clone()]);
    text += &table(style, &["TIME", "WHAT", "SET BY"].map(String::from), &rows.collect::<Vec<_>>());
    if let Some(range) = range {
        text += &format!("{}\n", range.text);
    }
    match gone_at {
        _ if *awaits_kubelet => text += "its object stays until the kubelet is back\n",
        Some(gone_at) => text += &format!("its object is gone after {gone_at}\n"),
        None => {}
    }
    text
}
