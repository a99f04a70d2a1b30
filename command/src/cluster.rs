//! Reading of a cluster for `kubectl taintlab`: by `kubectl get`, and nothing is ever written.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use taintlab_answers::cluster::Imported;
use taintlab_core::release::KubernetesRelease;

use crate::host::Host;
use crate::line::Connection;
use crate::options::release;
use crate::reading::Input;
use crate::stop::{Done, Stop};

/// A kind of objects, and how kubectl is asked for them.
#[derive(Clone, Copy)]
struct Kind {
    kind: &'static str,
    resource: &'static str,
    arguments: &'static [&'static str],
    is_namespaced: bool,
}

const fn kind(kind: &'static str, resource: &'static str, is_namespaced: bool) -> Kind {
    let arguments: &[&str] = if is_namespaced { &["-A"] } else { &[] };
    Kind { kind, resource, arguments, is_namespaced }
}

const NODES: Kind = kind("nodes", "nodes", false);
const LEASES: Kind = Kind {
    kind: "leases",
    resource: "leases.coordination.k8s.io",
    arguments: &["-n", "kube-node-lease"],
    is_namespaced: false,
};

/// Kinds that are read of a cluster as a whole; nodes and pods come first and third.
const KINDS: [Kind; 14] = [
    NODES,
    LEASES,
    kind("pods", "pods", true),
    kind("deployments", "deployments.apps", true),
    kind("replicasets", "replicasets.apps", true),
    kind("statefulsets", "statefulsets.apps", true),
    kind("daemonsets", "daemonsets.apps", true),
    kind("jobs", "jobs.batch", true),
    kind("poddisruptionbudgets", "poddisruptionbudgets.policy", true),
    kind("priorityclasses", "priorityclasses.scheduling.k8s.io", false),
    kind("persistentvolumes", "persistentvolumes", false),
    kind("persistentvolumeclaims", "persistentvolumeclaims", true),
    kind("storageclasses", "storageclasses.storage.k8s.io", false),
    kind("services", "services", true),
];

/// Kinds that are read besides, if a pod claims devices.
const DEVICES: [Kind; 3] = [
    kind("resourceslices", "resourceslices.resource.k8s.io", false),
    kind("resourceclaims", "resourceclaims.resource.k8s.io", true),
    kind("devicetaintrules", "devicetaintrules.resource.k8s.io", false),
];

/// Number of lists that are asked for at the same time.
const AT_ONCE: usize = 4;

/// A kind that could not be read, or not all of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct NotRead {
    pub(crate) kind: String,
    pub(crate) why: String,
}

impl fmt::Display for NotRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not read: {}: {}", self.kind, self.why)
    }
}

/// The parts of a cluster that were read.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub(crate) inputs: Vec<Input>,
    pod: Option<Value>,
    pub(crate) not_read: Vec<NotRead>,
    /// The only namespace of which pods were read.
    pub(crate) namespace: Option<String>,
    pub(crate) context: Option<String>,
    /// Version that the API server reports.
    pub(crate) version: Option<String>,
    /// The release that is simulated for it, or that was asked for.
    pub(crate) release: Option<KubernetesRelease>,
    pub(crate) release_text: Option<String>,
}

/// A pod, and the node that it is on.
pub(crate) struct PodRead {
    pub(crate) pod: Value,
    pub(crate) node: Option<String>,
}

impl Read {
    /// Release, as it is told.
    pub(crate) fn imported(&self) -> Imported {
        let (release, release_text) = match &self.release_text {
            Some(text) => (self.release, Some(text.clone())),
            None => (None, None),
        };
        Imported { release, release_text, ..Imported::default() }
    }

    /// The pod that was asked for.
    pub(crate) fn pod(&self) -> Done<PodRead> {
        let pod = self.pod.clone().ok_or_else(|| Stop::failed("error: no pod was read"))?;
        let node = pod.pointer("/spec/nodeName").and_then(Value::as_str).map(str::to_owned);
        Ok(PodRead { pod, node })
    }
}

/// Namespace and name of a pod.
pub(crate) fn key_of(pod: &Value) -> String {
    let text = |path: &str| pod.pointer(path).and_then(Value::as_str).unwrap_or_default();
    format!("{}/{}", text("/metadata/namespace"), text("/metadata/name"))
}

pub(crate) fn no_node(key: &str) -> Stop {
    Stop::failed(format!("error: the pod {key} has no node: nothing can evict it"))
}

/// Refuses files, where a command reads the cluster.
pub(crate) fn no_files(command: &str, files: &[String]) -> Done<()> {
    files.first().map_or(Ok(()), |file| {
        let why = "it takes no files, since it reads the cluster";
        Err(Stop::usage(format!("{command}: {why}; found `{file}`")))
    })
}

/// A pod of the command line.
pub(crate) struct PodName {
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
}

/// `POD`, `pod/POD` or `NAMESPACE/POD`; else in the namespace of `-n` or the context.
pub(crate) fn pod_named(
    command: &str,
    names: &[String],
    namespace: Option<&String>,
) -> Done<PodName> {
    let [given] = names else {
        let found = match names.len() {
            0 => String::new(),
            many => format!(", found {many} names"),
        };
        return Err(Stop::usage(format!("{command}: which pod? POD or NAMESPACE/POD{found}")));
    };
    let rest = ["pod/", "pods/"].iter().find_map(|prefix| given.strip_prefix(prefix));
    let parts: Vec<&str> = rest.unwrap_or(given).split('/').collect();
    let (namespace, name) = match parts.as_slice() {
        [name] => (namespace.cloned(), *name),
        [namespace, name] if !namespace.is_empty() => (Some((*namespace).to_owned()), *name),
        _ => (None, ""),
    };
    if name.is_empty() {
        let why = format!("expected POD or NAMESPACE/POD, found `{given}`");
        return Err(Stop::usage(format!("{command}: {why}")));
    }
    Ok(PodName { namespace, name: name.to_owned() })
}

/// An answer of kubectl: what it printed, or why there is nothing to be had.
enum Asked {
    Printed(String),
    Nothing { why: String, forbidden: bool },
}

/// A list, or why there is none.
#[derive(Default)]
struct Listed {
    kind: &'static str,
    /// Its text and number of objects; nothing if it may not be read.
    found: Option<(String, usize)>,
    /// Place that it was read from, if not everywhere.
    place: String,
    why: Option<String>,
    /// Reason why it is not all.
    limit: Option<String>,
    forbidden: bool,
    /// The only namespace that could be read.
    only: Option<String>,
}

/// The parts of objects that decide what else is read.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Part {
    metadata: PartMeta,
    spec: PartSpec,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PartMeta {
    name: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PartSpec {
    node_name: Option<String>,
    resource_claims: Option<Vec<serde::de::IgnoredAny>>,
}

#[derive(Deserialize)]
struct Items<T> {
    items: Vec<T>,
}

struct Asking<'h> {
    host: &'h dyn Host,
    connection: Vec<String>,
    context: Option<String>,
    /// The namespace that is meant.
    own: String,
    version: Option<String>,
    pod: Option<Value>,
    lists: Vec<Listed>,
}

/// The objects of the cluster that the options mean, its release as far as the engine knows it, and
/// what could not be read. What was read, and what not, goes to standard error as well.
pub(crate) fn read_cluster(
    host: &dyn Host,
    connection: &Connection,
    wanted: Option<&String>,
) -> Done<Read> {
    let mut asked = ask(host, connection, &KINDS, None)?;
    let [nodes, _, pods, ..] = asked.lists.as_mut_slice() else {
        return Err(Stop::failed("error: nothing was read"));
    };
    let Some((text, _)) = &pods.found else {
        return Err(cannot("list pods", pods.why.as_deref().unwrap_or_default()));
    };
    let parts: Vec<Part> = items(text, "pods")?;
    if let Some(why) = nodes.why.clone() {
        let names: BTreeSet<&str> =
            parts.iter().filter_map(|pod| pod.spec.node_name.as_deref()).collect();
        let read = nodes_named(host, &names, &asked.connection)?;
        if read.is_empty() {
            return Err(cannot("list nodes", &why));
        }
        let known: BTreeSet<String> = read.iter().map(name_of).collect();
        let stays = |pod: &Value| {
            let node = pod.pointer("/spec/nodeName").and_then(Value::as_str);
            node.is_none_or(|node| known.contains(node))
        };
        let all: Vec<Value> = items(text, "pods")?;
        let before = all.len();
        let staying: Vec<Value> = all.into_iter().filter(stays).collect();
        let left = before - staying.len();
        pods.found = Some(list_text(&staying));
        let number = read.len();
        nodes.found = Some((list_text(&read).0, number));
        (nodes.place, nodes.limit) = (" (those of the pods)".into(), Some(why));
        if left > 0 {
            pods.place += &format!(", without {left} on nodes that cannot be read");
            let limit = format!("{left} are on nodes that cannot be read");
            pods.limit.get_or_insert(limit);
        }
    }
    let claims = parts.iter().any(|pod| claims_devices(&pod.spec));
    asked.devices(claims)?;
    asked.told(wanted)
}

/// The same of one pod: with the nodes and their leases, on which depends when it is evicted.
pub(crate) fn read_pod(
    host: &dyn Host,
    pod: &PodName,
    connection: &Connection,
    wanted: Option<&String>,
) -> Done<Read> {
    let mut asked = ask(host, connection, &[NODES, LEASES], Some(pod))?;
    let part = asked.part()?;
    if let [nodes, leases] = asked.lists.as_mut_slice()
        && let Some(why) = nodes.why.clone()
    {
        let name = part.node_name.as_deref();
        let read = nodes_named(host, &name.into_iter().collect(), &asked.connection)?;
        if !read.is_empty() {
            nodes.found = Some(list_text(&read));
            nodes.place = " (that of the pod)".into();
            nodes.limit = Some(format!("{why}; all others are taken for healthy"));
        }
        if let Some((text, _)) = &leases.found {
            let all: Vec<Value> = items(text, "leases")?;
            let own = all.into_iter().filter(|lease| Some(name_of(lease).as_str()) == name);
            leases.found = Some(list_text(&own.collect::<Vec<_>>()));
        }
    }
    asked.devices(claims_devices(&part))?;
    asked.told(wanted)
}

/// A pod and its node, or another one; without the node, where it may be so and is forbidden.
pub(crate) fn read_pod_and_node(
    host: &dyn Host,
    pod: &PodName,
    connection: &Connection,
    wanted: Option<&String>,
    node: Option<&String>,
    may_be_alone: bool,
) -> Done<(Read, Option<Value>)> {
    let mut asked = ask(host, connection, &[], Some(pod))?;
    let part = asked.part()?;
    let mut found = None;
    if let Some(name) = node.or(part.node_name.as_ref()) {
        let mut arguments: Vec<String> =
            ["get", "nodes", name, "-o", "json"].map(Into::into).into();
        arguments.extend_from_slice(&asked.connection);
        let mut list = Listed { kind: "nodes", ..Listed::default() };
        match kubectl(host, &arguments)? {
            Asked::Printed(text) => {
                found = Some(parsed(&text, "nodes")?);
                list.found = Some((text, 1));
            }
            Asked::Nothing { why, forbidden: true } if may_be_alone => list.why = Some(why),
            Asked::Nothing { why, forbidden } => {
                let help = if forbidden { "; name its taints with --taint" } else { "" };
                return Err(Stop::failed(format!("error: {why}{help}")));
            }
        }
        asked.lists.push(list);
    }
    Ok((asked.told(wanted)?, found))
}

fn claims_devices(spec: &PartSpec) -> bool {
    spec.resource_claims.as_ref().is_some_and(|claims| !claims.is_empty())
}

fn cannot(what: &str, why: &str) -> Stop {
    Stop::failed(format!("error: kubectl cannot {what}: {why}"))
}

fn name_of(object: &Value) -> String {
    let name = object.pointer("/metadata/name").and_then(Value::as_str);
    name.unwrap_or_default().to_owned()
}

/// A list of objects as kubectl prints one, and their number.
fn list_text(items: &[Value]) -> (String, usize) {
    let list = serde_json::json!({ "apiVersion": "v1", "kind": "List", "items": items });
    (list.to_string(), items.len())
}

fn not_json(kind: &str, error: &serde_json::Error) -> Stop {
    Stop::failed(format!("error: what kubectl printed of {kind} is not JSON: {error}"))
}

fn parsed(text: &str, kind: &str) -> Done<Value> {
    serde_json::from_str(text).map_err(|error| not_json(kind, &error))
}

fn items<T: serde::de::DeserializeOwned>(text: &str, kind: &str) -> Done<Vec<T>> {
    let list: Items<T> = serde_json::from_str(text).map_err(|error| not_json(kind, &error))?;
    Ok(list.items)
}

/// The arguments of `kubectl` that say which cluster is meant.
fn connection_arguments(connection: &Connection) -> Vec<String> {
    let one = |name: &str, value: Option<&String>| value.map(|value| format!("--{name}={value}"));
    let mut arguments: Vec<String> = [
        one("context", connection.context.as_ref()),
        one("kubeconfig", connection.kubeconfig.as_ref()),
        one("cluster", connection.cluster.as_ref()),
        one("user", connection.user.as_ref()),
        one("as", connection.as_user.as_ref()),
    ]
    .into_iter()
    .flatten()
    .collect();
    arguments.extend(connection.as_group.iter().map(|group| format!("--as-group={group}")));
    arguments.push(format!("--request-timeout={}", connection.request_timeout));
    arguments
}

/// Asks the cluster for lists, and for a pod if one is wanted, a few at the same time.
fn ask<'h>(
    host: &'h dyn Host,
    line: &Connection,
    kinds: &[Kind],
    pod: Option<&PodName>,
) -> Done<Asking<'h>> {
    let connection = connection_arguments(line);
    let (context, namespace) = context_of(host, &connection)?;
    let own = line.namespace.clone().or(namespace).unwrap_or_else(|| "default".into());
    let version = Mutex::new(None);
    let found = Mutex::new(None);
    let lists: Mutex<BTreeMap<usize, Listed>> = Mutex::default();
    let more = 1 + usize::from(pod.is_some());
    in_parallel(kinds.len() + more, &|index| {
        if let Some(kind) = kinds.get(index) {
            let listed = list(host, *kind, &connection, &own)?;
            lock(&lists).insert(index, listed);
        } else if index == kinds.len() {
            *lock(&version) = server_version(host, &connection)?;
        } else if let Some(pod) = pod {
            *lock(&found) = Some(pod_of(host, pod, &own, &connection)?);
        }
        Ok(())
    })?;
    let lists = take(lists).into_values().collect();
    let (version, pod) = (take(version), take(found));
    Ok(Asking { host, connection, context, own, version, pod, lists })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn take<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Asks so many questions, of which a few wait for answers at the same time.
fn in_parallel(count: usize, question: &(dyn Fn(usize) -> Done<()> + Sync)) -> Done<()> {
    let next = AtomicUsize::new(0);
    let stopped: Mutex<Option<Stop>> = Mutex::new(None);
    thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(count) {
            scope.spawn(|| {
                while lock(&stopped).is_none() {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        break;
                    }
                    if let Err(stop) = question(index) {
                        lock(&stopped).get_or_insert(stop);
                    }
                }
            });
        }
    });
    take(stopped).map_or(Ok(()), Err)
}

impl Asking<'_> {
    fn part(&self) -> Done<PartSpec> {
        let pod = self.pod.clone().unwrap_or_default();
        let part: Part = serde_json::from_value(pod).map_err(|error| not_json("pods", &error))?;
        Ok(part.spec)
    }

    /// Asks for devices, if a pod claims some. Before 1.36 there need be no rules.
    fn devices(&mut self, claims: bool) -> Done<()> {
        if !claims {
            return Ok(());
        }
        let lists: Mutex<BTreeMap<usize, Listed>> = Mutex::default();
        in_parallel(DEVICES.len(), &|index| {
            if let Some(kind) = DEVICES.get(index) {
                let listed = list(self.host, *kind, &self.connection, &self.own)?;
                lock(&lists).insert(index, listed);
            }
            Ok(())
        })?;
        let there = |list: &Listed| list.why.is_none() || list.forbidden;
        self.lists.extend(take(lists).into_values().filter(there));
        Ok(())
    }

    /// Says what was read and what not, and gives it to the caller.
    fn told(self, wanted: Option<&String>) -> Done<Read> {
        let Self { host, context, version, pod, lists, .. } = self;
        let mut counts: Vec<String> = Vec::new();
        counts.extend(pod.as_ref().map(|pod| format!("the pod {}", key_of(pod))));
        let read = lists.iter().filter_map(|list| Some((list, list.found.as_ref()?.1)));
        counts.extend(
            read.map(|(list, number)| format!("{}{}", count(number, list.kind), list.place)),
        );
        let of = match &context {
            Some(context) => format!("context {context}"),
            None => "the cluster".into(),
        };
        let says = version.as_ref().map(|version| format!(" ({version})")).unwrap_or_default();
        host.err(&format!("read of {of}{says}: {}\n", counts.join(", ")));
        let limited = lists
            .iter()
            .filter_map(|list| Some((list, list.limit.as_ref().or(list.why.as_ref())?)));
        let not_read: Vec<NotRead> = limited
            .map(|(list, why)| NotRead { kind: list.kind.into(), why: why.clone() })
            .collect();
        for line in &not_read {
            host.err(&format!("{line}\n"));
        }
        let namespace = lists.iter().find(|list| list.kind == "pods");
        let namespace = namespace.and_then(|list| list.only.clone());
        let mut inputs: Vec<Input> = Vec::new();
        for list in lists {
            if let Some((text, _)) = list.found {
                let file = format!("kubectl get {}", list.kind);
                inputs.push(Input { file, text, applied: false });
            }
        }
        if let Some(pod) = &pod {
            let file = "kubectl get pods".to_owned();
            inputs.push(Input { file, text: pod.to_string(), applied: false });
        }
        let (server, text) = release_of(version.as_deref());
        let release = release(wanted)?.or(server);
        Ok(Read { inputs, pod, not_read, namespace, context, version, release, release_text: text })
    }
}

/// `1 node`, `2 nodes`, `1 priorityclass`.
fn count(number: usize, kind: &str) -> String {
    let one = kind.strip_suffix("sses").map(|stem| format!("{stem}ss"));
    let one = one.unwrap_or_else(|| kind.strip_suffix('s').unwrap_or(kind).to_owned());
    format!("{number} {}", if number == 1 { &one } else { kind })
}

fn pod_of(host: &dyn Host, pod: &PodName, own: &str, connection: &[String]) -> Done<Value> {
    let inside = pod.namespace.as_deref().unwrap_or(own);
    let mut arguments: Vec<String> =
        ["get", "pods", &pod.name, "-n", inside, "-o", "json"].map(Into::into).into();
    arguments.extend_from_slice(connection);
    match kubectl(host, &arguments)? {
        Asked::Printed(text) => parsed(&text, "pods"),
        Asked::Nothing { why, forbidden } => {
            let is_known = forbidden || !why.starts_with("pods ");
            let place =
                if is_known { String::new() } else { format!(" in the namespace {inside}") };
            Err(Stop::failed(format!("error: {why}{place}")))
        }
    }
}

/// The objects of a kind; where that is forbidden for the cluster, those of the namespace.
fn list(host: &dyn Host, wanted: Kind, connection: &[String], namespace: &str) -> Done<Listed> {
    let Kind { kind, resource, arguments, is_namespaced } = wanted;
    let get = |more: &[&str]| {
        let mut line: Vec<String> = ["get", resource, "-o", "json"].map(Into::into).into();
        line.extend(more.iter().map(|word| (*word).to_owned()));
        line.extend_from_slice(connection);
        kubectl(host, &line)
    };
    let mut listed = Listed { kind, ..Listed::default() };
    let text = match get(arguments)? {
        Asked::Printed(text) => text,
        Asked::Nothing { why, forbidden } => {
            listed.forbidden = forbidden;
            let own =
                if forbidden && is_namespaced { Some(get(&["-n", namespace])?) } else { None };
            match own {
                Some(Asked::Printed(text)) => {
                    let limit = format!("{why}; only those of the namespace {namespace} are known");
                    listed.limit = Some(limit);
                    listed.only = Some(namespace.to_owned());
                    listed.place = format!(" (of the namespace {namespace} alone)");
                    text
                }
                _ => {
                    listed.why = Some(why);
                    return Ok(listed);
                }
            }
        }
    };
    let number = items::<serde::de::IgnoredAny>(&text, kind)?.len();
    listed.found = Some((text, number));
    Ok(listed)
}

/// Those of the nodes that may be read.
fn nodes_named(host: &dyn Host, names: &BTreeSet<&str>, connection: &[String]) -> Done<Vec<Value>> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let mut line: Vec<String> = vec!["get".into(), "nodes".into()];
    line.extend(names.iter().map(|name| (*name).to_owned()));
    line.extend(["--ignore-not-found", "-o", "json"].map(Into::into));
    line.extend_from_slice(connection);
    // Of several, kubectl prints those that it may read.
    let printed = execute(host, &line)?.stdout;
    if printed.trim().is_empty() {
        return Ok(Vec::new());
    }
    let read = parsed(&printed, "nodes")?;
    match read.get("items").and_then(Value::as_array) {
        Some(items) => Ok(items.clone()),
        None => Ok(vec![read]),
    }
}

/// Version that the API server reports; nothing if it reports none.
fn server_version(host: &dyn Host, connection: &[String]) -> Done<Option<String>> {
    let mut line: Vec<String> = ["version", "-o", "json"].map(Into::into).into();
    line.extend_from_slice(connection);
    let Asked::Printed(text) = kubectl(host, &line)? else { return Ok(None) };
    let read = parsed(&text, "the version")?;
    Ok(read.pointer("/serverVersion/gitVersion").and_then(Value::as_str).map(str::to_owned))
}

/// The name and the namespace of the context, as kubectl understands the options.
fn context_of(host: &dyn Host, connection: &[String]) -> Done<(Option<String>, Option<String>)> {
    let mut line: Vec<String> = ["config", "view", "--minify", "-o", "json"].map(Into::into).into();
    line.extend_from_slice(connection);
    let Asked::Printed(text) = kubectl(host, &line)? else { return Ok((None, None)) };
    let read = parsed(&text, "config")?;
    let text = |path: &str| {
        let text = read.pointer(path).and_then(Value::as_str).filter(|text| !text.is_empty());
        text.map(str::to_owned)
    };
    Ok((text("/current-context"), text("/contexts/0/context/namespace")))
}

/// The release that is simulated for a server of this version, and how that is told.
fn release_of(version: Option<&str>) -> (Option<KubernetesRelease>, Option<String>) {
    let numbers = |version: &str| {
        let (major, rest) = version.strip_prefix('v')?.split_once('.')?;
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        Some((major.parse::<u32>().ok()?, rest.get(..end)?.parse::<u32>().ok()?))
    };
    let Some((version, (major, minor))) = version.and_then(|it| Some((it, numbers(it)?))) else {
        return (None, None);
    };
    let nearest = KubernetesRelease::nearest(if major == 1 { minor } else { u32::MAX });
    let text = if (major, format!("1.{minor}")) == (1, nearest.to_string()) {
        format!("the API server is {version}")
    } else {
        format!("the API server is {version}, and {nearest} is the nearest that is known")
    };
    (Some(nearest), Some(text))
}

/// Output of `kubectl`, or that it may not be read or is not there; whatever else goes wrong ends
/// the program, since half of a cluster would be taken for the whole.
fn kubectl(host: &dyn Host, arguments: &[String]) -> Done<Asked> {
    const WHOLE: &str = "--chunk-size=0";
    let printed = execute(host, arguments)?;
    if printed.ok {
        return Ok(Asked::Printed(printed.stdout));
    }
    let says = |texts: &[&str]| texts.iter().any(|text| printed.stderr.contains(text));
    // What was listed page by page has changed too much in between: all of it at once, then.
    if says(&["(Expired)", "continue parameter is too old"])
        && !arguments.iter().any(|word| word == WHOLE)
    {
        let mut line = arguments.to_vec();
        line.push(WHOLE.into());
        return kubectl(host, &line);
    }
    let last = printed.stderr.trim().lines().next_back().unwrap_or_default();
    let why = without_prefix(last).to_owned();
    let forbidden = says(&["(Forbidden)"]);
    let absent = says(&[
        "doesn't have a resource type",
        "could not find the requested resource",
        "(NotFound)",
    ]);
    if !forbidden
        && !absent
        && let [verb, resource, ..] = arguments
        && verb == "get"
    {
        let kind = resource.split('.').next().unwrap_or_default();
        return Err(cannot(&format!("list {kind}"), &why));
    }
    Ok(Asked::Nothing { why, forbidden })
}

/// A line of kubectl without `error: ` or `Error from server (Forbidden): `.
fn without_prefix(line: &str) -> &str {
    if let Some(rest) = line.strip_prefix("error: ") {
        return rest;
    }
    let Some(rest) = line.strip_prefix("Error from server") else { return line };
    let rest =
        rest.strip_prefix(" (").and_then(|rest| rest.split_once(')')).map_or(rest, |it| it.1);
    rest.strip_prefix(": ").unwrap_or(line)
}

fn execute(host: &dyn Host, arguments: &[String]) -> Done<crate::host::Printed> {
    host.kubectl(arguments).map_err(|why| Stop::failed(format!("error: {why}")))
}
