//! A session without its names: `node-1`, `ns-1/pod-1`, `deployment-1`.
//!
//! Of objects only the data that a run depends on is there ([`Extent::Run`]), and all of it. Each
//! name in it is replaced by the same one wherever it stands: in owner references, in commands, in
//! labels that name nodes and zones, in claims and their volumes. A text in a field that is not
//! known here is left out, so that no name stays that nobody thought of. Labels stay as far as a
//! selector asks for them, under other keys and values. Pods and ReplicaSets are named after their
//! owner, with numbers for hashes: `deployment-1-h1-p1`. UIDs tell the order of pods, and nothing
//! else. Times count from another start, and ages of more than an hour are rounded to powers of
//! two, so that nobody recognises the cluster by them. Owners of kinds that are not Kubernetes' own
//! lose their kind.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use taintlab_core::api::{TIME_ANNOTATIONS, json_value};
use taintlab_core::scenario::{Objects, Scenario, ScenarioMetadata, Step};
use taintlab_core::time::Time;
use taintlab_manifest::{Extent, redact_scenario};

use super::slim::{rank_of, slim};
use crate::session::Edit;

/// Fields whose texts are words of Kubernetes, or numbers. Texts in any other field are names.
const WORDS: &str = "\
    accessModes action allocationMode apiVersion completedIndexes completionMode effect \
    failedIndexes kind maxSurge maxUnavailable medium message minAvailable nodeAffinityPolicy \
    nodeTaintsPolicy operator persistentVolumeReclaimPolicy phase podManagementPolicy \
    podReplacementPolicy preemptionPolicy protocol reason reclaimPolicy resource restartPolicy \
    sizeLimit status type unhealthyPodEvictionPolicy volumeBindingMode whenUnsatisfiable";

/// Addresses that every node has.
const ANY_HOST: [&str; 4] = ["", "0.0.0.0", "127.0.0.1", "::"];

/// Labels, besides those of Kubernetes, whose key does not tell whose cluster it is.
const KEPT_LABELS: [&str; 4] = [
    "pod-template-hash",
    "controller-revision-hash",
    "pod-template-generation",
    // The field of a node, by which a DaemonSet binds its pods.
    "metadata.name",
];

/// The annotation by which the scheduler places a claim's volume.
const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

/// Kinds of owners that do not tell whose cluster it is.
const OWNERS: [&str; 9] = [
    "Deployment",
    "ReplicaSet",
    "ReplicationController",
    "StatefulSet",
    "DaemonSet",
    "Job",
    "CronJob",
    "Node",
    "Pod",
];

/// The age in seconds up to which times stay exact: graces and timers may be under way.
const RECENT: i64 = 3600;

/// The session without its names, and without texts that are written for people: titles, notes.
///
/// # Errors
/// A part of it has no JSON form; nothing that was read lacks one.
pub(crate) fn hide_names(
    start: &Scenario,
    edits: &[Edit],
) -> Result<(Scenario, Vec<Edit>), String> {
    let mut start = slim(start, edits.iter().flat_map(|edit| &edit.commands))?;
    let mut edits = edits.to_vec();
    reduce(&mut edits)?;
    start.metadata = ScenarioMetadata::default();
    start.bookmarks.clear();
    let mut hider = Hider { start: start.start, ..Hider::default() };
    // Without a start of its own, the session begins at the default time.
    start.start = None;
    let objects = as_json(&start.objects)?;
    let steps = as_json(&start.steps)?;
    let commands = as_json(&edits)?;
    for part in [&objects, &steps, &commands] {
        hider.find_selected(part);
    }
    hider.settings(&mut start)?;
    start.objects = hider.objects(objects, &start.objects)?;
    start.steps = typed(hider.commands(steps))?;
    edits = typed(hider.commands(commands))?;
    Ok((start, edits))
}

/// Takes data out of edits that no run depends on.
fn reduce(edits: &mut [Edit]) -> Result<(), String> {
    for Edit { at, commands } in edits {
        let steps = commands.drain(..).map(|command| Step { at: *at, command, refused: None });
        let mut scenario = Scenario { steps: steps.collect(), ..Scenario::default() };
        redact_scenario(&mut scenario, Extent::Run)?;
        commands.extend(scenario.steps.into_iter().map(|step| step.command));
    }
    Ok(())
}

fn as_json<T: Serialize>(value: &T) -> Result<Value, String> {
    json_value(value).map_err(|error| error.to_string())
}

fn typed<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    taintlab_manifest::typed(&value)
}

/// The replacements so far.
#[derive(Default)]
struct Hider {
    /// The start of the session.
    start: Option<Time>,
    /// New names by kind, such as `node` or `ns`, and old name, with the namespace before it where
    /// there is one.
    names: BTreeMap<(String, String), String>,
    numbers: BTreeMap<String, usize>,
    /// The keys of labels that some selector asks for.
    selected: BTreeSet<String>,
    /// The claim templates of StatefulSets: namespace, set and template.
    claims_of: BTreeSet<[String; 3]>,
}

impl Hider {
    /// The new name of an object of that kind.
    fn name(&mut self, kind: &str, old: &str) -> String {
        let key = (kind.to_owned(), old.to_owned());
        if old.is_empty() {
            return String::new();
        }
        if let Some(known) = self.names.get(&key) {
            return known.clone();
        }
        let number = self.numbers.entry(kind.to_owned()).or_default();
        *number += 1;
        let new = format!("{kind}-{number}");
        self.names.insert(key, new.clone());
        new
    }

    /// [`name`](Self::name) in one word, for hashes: `h1`.
    fn short(&mut self, kind: &str, old: &str) -> String {
        self.name(kind, old).replace('-', "")
    }

    /// The part after the name of an owner: numbers of pods stay, hashes do not.
    fn rest(&mut self, owner_kind: &str, key: &str, rest: &str) -> String {
        if owner_kind == "deployment" {
            return self.short("h", rest);
        }
        let is_numbered = ["statefulset", "job"].contains(&owner_kind);
        let parts: Vec<String> = rest
            .split('-')
            .map(|part| match is_numbered && is_number(part) {
                true => part.to_owned(),
                false => self.short("p", key),
            })
            .collect();
        parts.join("-")
    }

    /// A time, counted from another start.
    fn time(&self, text: &str) -> Option<String> {
        let time = Time::parse(text).ok()?;
        let start = self.start.unwrap_or(Time::DEFAULT_START);
        let age = start.unix_seconds().saturating_sub(time.unix_seconds());
        if age <= RECENT {
            let new = Time::DEFAULT_START.unix_seconds().saturating_sub(age);
            let new = Time::from_unix_seconds(new).to_string();
            // The fractions of a second stay.
            let fraction = text.get(19..).unwrap_or("Z");
            return Some(format!("{}{fraction}", new.get(..19).unwrap_or_default()));
        }
        let rounded = 1_i64.checked_shl(age.ilog2()).unwrap_or(age);
        Some(
            Time::from_unix_seconds(Time::DEFAULT_START.unix_seconds().saturating_sub(rounded))
                .to_string(),
        )
    }

    /// The new name of a namespace; Kubernetes' own namespaces keep their names.
    fn namespace(&mut self, old: &str) -> String {
        if old == "default" || old.starts_with("kube-") || old.is_empty() {
            old.to_owned()
        } else {
            self.name("ns", old)
        }
    }

    /// The new name of a node; a node of a group keeps its number.
    fn node(&mut self, old: &str) -> String {
        let known = self.names.contains_key(&("node".to_owned(), old.to_owned()));
        match old.rsplit_once('-') {
            Some((group, number))
                if !known && self.names.contains_key(&("nodes".to_owned(), group.to_owned())) =>
            {
                format!("{}-{number}", self.name("nodes", group))
            }
            _ => self.name("node", old),
        }
    }

    /// The new name of an object with a namespace: the new name of its owner, and the rest of its
    /// own.
    fn owned(
        &mut self,
        kind: &str,
        namespace: &str,
        name: &str,
        owner: Option<(&str, &str)>,
    ) -> String {
        let key = (kind.to_owned(), format!("{namespace}/{name}"));
        if let Some(known) = self.names.get(&key) {
            return known.clone();
        }
        let rest = owner.and_then(|(owner_kind, owner)| {
            let rest = name.strip_prefix(owner)?.strip_prefix('-')?;
            Some((owner_kind, owner, rest))
        });
        let new = match rest {
            Some((owner_kind, owner, rest)) => {
                let guess = self.owner_of(owner_kind, namespace, owner);
                let owner = self.owned(
                    owner_kind,
                    namespace,
                    owner,
                    guess.as_ref().map(|(k, n)| (k.as_str(), n.as_str())),
                );
                let rest = rest.to_owned();
                format!("{owner}-{}", self.rest(owner_kind, &key.1, &rest))
            }
            None => self.name(kind, &key.1),
        };
        self.names.insert(key, new.clone());
        new
    }

    /// The owner of a ReplicaSet: its Deployment, if that is known.
    fn owner_of(&self, kind: &str, namespace: &str, name: &str) -> Option<(String, String)> {
        let (owner, _) = name.rsplit_once('-').filter(|_| kind == "replicaset")?;
        let key = ("deployment".to_owned(), format!("{namespace}/{owner}"));
        self.names.contains_key(&key).then(|| ("deployment".to_owned(), owner.to_owned()))
    }

    /// The new form of a key: `namespace/name`, or `name` in `default`.
    fn key(&mut self, kind: &str, key: &str) -> String {
        let (namespace, name) = key.split_once('/').unwrap_or(("default", key));
        let name = match self.names.get(&(kind.to_owned(), format!("{namespace}/{name}"))) {
            Some(known) => known.clone(),
            // A pod that is made while time runs is named after its maker.
            None => self.made_by(kind, namespace, name),
        };
        format!("{}/{name}", self.namespace(namespace))
    }

    /// The new name of a claim; a claim of a StatefulSet is named after its template and pod.
    fn claim(&mut self, namespace: &str, name: &str) -> String {
        let made = self.claims_of.iter().find_map(|[place, set, template]| {
            let rest = name.strip_prefix(&format!("{template}-{set}-")).filter(|it| is_number(it));
            let rest = rest.filter(|_| place == namespace)?;
            Some((set.clone(), template.clone(), rest.to_owned()))
        });
        match made {
            Some((set, template, number)) => {
                let template = self.name("volume", &template);
                format!("{template}-{}-{number}", self.owned("statefulset", namespace, &set, None))
            }
            None => self.owned("persistentvolumeclaim", namespace, name, None),
        }
    }

    /// The new name of an object without a namespace.
    fn global(&mut self, kind: &str, name: &str) -> String {
        if name.is_empty() { String::new() } else { self.owned(kind, "default", name, None) }
    }

    /// The new name of a provisioner, driver or attacher of volumes.
    fn driver(&mut self, name: &str) -> String {
        if is_kubernetes(name) { name.to_owned() } else { self.name("driver", name) }
    }

    /// The new address of a node, from the range for benchmarks (RFC 2544).
    fn address(&mut self, old: &str) -> String {
        if ANY_HOST.contains(&old) {
            return old.to_owned();
        }
        let number = self.name("ip", old);
        let number = number.strip_prefix("ip-").and_then(|number| number.parse::<u32>().ok());
        let [.., high, low] = number.unwrap_or_default().to_be_bytes();
        format!("198.18.{high}.{low}")
    }

    fn made_by(&mut self, kind: &str, namespace: &str, name: &str) -> String {
        let mut known: Vec<(String, String)> = Vec::new();
        for ((kind, key), new) in &self.names {
            let owner = key.strip_prefix(namespace).and_then(|key| key.strip_prefix('/'));
            let rest = owner.and_then(|owner| name.strip_prefix(owner)?.strip_prefix('-'));
            if let Some(rest) = rest.filter(|_| kind != "pod") {
                known.push((rest.to_owned(), new.clone()));
            }
        }
        match known.into_iter().min_by_key(|(rest, _)| rest.len()) {
            Some((rest, owner)) => format!("{owner}-{rest}"),
            None => self.owned(kind, namespace, name, None),
        }
    }

    /// Notes the labels that selectors ask for, and the claims that StatefulSets make.
    fn find_selected(&mut self, value: &Value) {
        let map = match value {
            Value::Array(items) => return items.iter().for_each(|item| self.find_selected(item)),
            Value::Object(map) => map,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return,
        };
        let text = |path: &str| value.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let templates = value.pointer("/spec/volumeClaimTemplates").and_then(Value::as_array);
        for template in templates.into_iter().flatten() {
            let template = template.pointer("/metadata/name").and_then(Value::as_str);
            let namespace = namespace_of(text("/metadata/namespace"));
            let parts = [namespace, text("/metadata/name"), template.unwrap_or_default()];
            self.claims_of.insert(parts.map(str::to_owned));
        }
        for (key, value) in map {
            match (key.as_str(), value) {
                ("matchLabels" | "nodeSelector" | "podLabels", Value::Object(labels))
                    if !labels.contains_key("nodeSelectorTerms") =>
                {
                    self.selected.extend(labels.keys().cloned());
                }
                ("matchExpressions" | "matchLabelExpressions", Value::Array(items)) => {
                    let keys = items.iter().filter_map(|item| item.get("key")?.as_str());
                    self.selected.extend(keys.map(str::to_owned));
                }
                ("matchLabelKeys" | "mismatchLabelKeys", Value::Array(keys)) => {
                    self.selected.extend(keys.iter().filter_map(Value::as_str).map(str::to_owned));
                }
                ("topologyKey", Value::String(key)) => {
                    self.selected.insert(key.clone());
                }
                _ => self.find_selected(value),
            }
        }
    }

    /// Hides the groups of an autoscaler, and the taints that a descheduler looks at.
    fn settings(&mut self, start: &mut Scenario) -> Result<(), String> {
        let settings = &mut start.kubernetes;
        let groups = settings.autoscaler.iter_mut().flat_map(|all| &mut all.node_groups);
        let groups: Vec<_> = groups.collect();
        for group in &groups {
            // These labels tell which nodes belong to the group.
            self.selected.extend(group.template.metadata.labels.keys().cloned());
            self.name("nodes", &group.name);
        }
        for group in groups {
            group.name = self.name("nodes", &group.name);
            let mut template = as_json(&group.template)?;
            self.object(&mut template, "node");
            group.template = typed(template)?;
        }
        let taints = settings.descheduler.iter_mut();
        let taints =
            taints.flat_map(|all| all.excluded_taints.iter_mut().chain(&mut all.included_taints));
        for name in taints {
            let (key, value) = name.split_once('=').unwrap_or((name, ""));
            let mut taint = json!({ "key": key, "value": value });
            self.taint(&mut taint);
            let field = |name: &str| taint.get(name).and_then(Value::as_str).unwrap_or_default();
            *name = match field("value") {
                "" => field("key").to_owned(),
                value => format!("{}={value}", field("key")),
            };
        }
        Ok(())
    }

    fn objects(&mut self, objects: Value, typed_objects: &Objects) -> Result<Objects, String> {
        // Owners come first, so that the objects they own can be named after them.
        for workload in &typed_objects.workloads {
            if workload.metadata.controller().is_none() {
                let meta = &workload.metadata;
                let kind = workload.kind.singular();
                self.owned(kind, namespace_of(&meta.namespace), &meta.name, None);
            }
        }
        for group in &typed_objects.node_groups {
            self.name("nodes", &group.name);
        }
        let Value::Object(mut map) = objects else { return Ok(Objects::default()) };
        for (list, kind) in [
            ("nodes", "node"),
            ("workloads", ""),
            ("pods", "pod"),
            ("budgets", "budget"),
            ("others", "object"),
        ] {
            let Some(Value::Array(items)) = map.get_mut(list) else { continue };
            for item in items {
                let own =
                    item.get("kind").and_then(Value::as_str).unwrap_or(kind).to_ascii_lowercase();
                let kind = if kind.is_empty() || kind == "object" { own.as_str() } else { kind };
                // Settings of kubelets hold no names.
                if kind != "kubeletconfiguration" {
                    self.object(item, kind);
                }
            }
        }
        if let Some(Value::Array(groups)) = map.get_mut("nodeGroups") {
            groups.iter_mut().for_each(|group| self.group(group));
        }
        typed(Value::Object(map))
    }

    fn group(&mut self, group: &mut Value) {
        let Value::Object(map) = group else { return };
        for (key, value) in map {
            match (key.as_str(), &mut *value) {
                ("name", Value::String(name)) => *name = self.name("nodes", name),
                ("zone", Value::String(zone)) => *zone = self.zone(zone),
                ("labels", labels) => self.labels(labels),
                ("pod", pod) => self.object(pod, "pod"),
                _ => {}
            }
        }
    }

    /// The new name of a zone: `region/zone`, or `zone`.
    fn zone(&mut self, zone: &str) -> String {
        match zone.split_once('/') {
            Some((region, zone)) => {
                format!("{}/{}", self.name("region", region), self.name("zone", zone))
            }
            None => self.name("zone", zone),
        }
    }

    /// Hides an object of a kind, in lower case.
    fn object(&mut self, object: &mut Value, kind: &str) {
        let text = |path: &str| object.pointer(path).and_then(Value::as_str).map(str::to_owned);
        let namespace = text("/metadata/namespace").unwrap_or_default();
        let name = text("/metadata/name").unwrap_or_default();
        let owner = text("/metadata/ownerReferences/0/kind");
        let owner = owner.filter(|kind| OWNERS.contains(&kind.as_str()) && kind != "Node");
        let owner = owner.map(|kind| kind.to_ascii_lowercase());
        let owner = owner.zip(text("/metadata/ownerReferences/0/name"));
        let new = match kind {
            "node" | "lease" => self.node(&name),
            "priorityclass" if name.starts_with("system-") => name.clone(),
            "priorityclass" => self.name("priority", &name),
            "persistentvolumeclaim" => self.claim(namespace_of(&namespace), &name),
            _ if name.is_empty() => String::new(),
            _ => {
                let owner = owner.as_ref().map(|(kind, name)| (kind.as_str(), name.as_str()));
                self.owned(kind, namespace_of(&namespace), &name, owner)
            }
        };
        self.fields(object, namespace_of(&namespace), "");
        rename(object, new);
    }

    /// Hides the fields of an object, or of the part of one that stands in the field `part`.
    fn fields(&mut self, value: &mut Value, namespace: &str, part: &str) {
        let map = match value {
            Value::Object(map) => map,
            Value::Array(items) => {
                items.retain(|item| !item.is_string());
                return items.iter_mut().for_each(|item| self.fields(item, namespace, part));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return,
        };
        let label = map.get("key").and_then(Value::as_str).unwrap_or_default().to_owned();
        let claimed_in = match map.get("namespace").and_then(Value::as_str) {
            Some(own) if part == "claimRef" => namespace_of(own).to_owned(),
            _ => namespace.to_owned(),
        };
        map.retain(|key, value| match value {
            Value::String(text) => self.text(key, text, part, &claimed_in),
            _ => true,
        });
        for (key, value) in map.iter_mut() {
            match (key.as_str(), &mut *value) {
                (_, Value::String(_)) => {}
                ("namespaces", Value::Array(names)) => {
                    for name in names {
                        *name = self.namespace(name.as_str().unwrap_or_default()).into();
                    }
                }
                ("ownerReferences", Value::Array(owners)) => {
                    owners.iter_mut().for_each(|owner| self.owner(owner, namespace));
                }
                ("annotations", Value::Object(annotations)) => self.annotations(annotations),
                // The selector of a slice has terms, that of a pod is labels.
                ("nodeSelector", selector) if selector.get("nodeSelectorTerms").is_some() => {
                    self.fields(selector, namespace, key);
                }
                ("labels" | "matchLabels" | "nodeSelector", labels) => self.labels(labels),
                ("matchLabelKeys" | "mismatchLabelKeys", Value::Array(keys)) => {
                    for key in keys {
                        *key = self.label_key(key.as_str().unwrap_or_default()).into();
                    }
                }
                ("selector", selector) if !selector.is_object() => *selector = Value::Null,
                // These are values of labels; exit codes are numbers.
                ("values", Value::Array(values)) => {
                    for value in values.iter_mut().filter(|value| value.is_string()) {
                        *value = self.label_value(&label, value.as_str().unwrap_or("")).into();
                    }
                }
                ("template", Value::Object(template)) => {
                    template.values_mut().for_each(|value| self.fields(value, namespace, key));
                }
                ("volumeClaimTemplates", Value::Array(claims)) => {
                    for claim in claims {
                        let name = claim.pointer("/metadata/name").and_then(Value::as_str);
                        let new = self.name("volume", name.unwrap_or_default());
                        self.fields(claim, namespace, key);
                        rename(claim, new);
                    }
                }
                // These are names of images.
                ("names", Value::Array(names)) => {
                    for name in names {
                        *name = self.name("image", name.as_str().unwrap_or_default()).into();
                    }
                }
                ("disruptedPods", Value::Object(pods)) => {
                    for (pod, since) in std::mem::take(pods) {
                        let since = since.as_str().and_then(|since| self.time(since));
                        let pod = self.key("pod", &format!("{namespace}/{pod}"));
                        let pod = pod.rsplit('/').next().unwrap_or_default().to_owned();
                        pods.insert(pod, since.into());
                    }
                }
                ("taints" | "tolerations", Value::Array(items)) => {
                    items.iter_mut().for_each(|item| self.taint(item));
                }
                ("taint", taint) => self.taint(taint),
                // Amounts, under names of resources, stay; those of devices are a list.
                (
                    "capacity" | "allocatable" | "requests" | "limits" | "overhead",
                    Value::Object(_),
                ) => {}
                ("accessModes", _) => {}
                (_, value) => self.fields(value, namespace, key),
            }
        }
    }

    /// Replaces the text of a field; `false` if the field is unknown, so that the text must not
    /// stay.
    fn text(&mut self, key: &str, text: &mut String, part: &str, namespace: &str) -> bool {
        *text = match key {
            "uid" => return rank_of(text).is_some(),
            "name" if part == "claimRef" => self.claim(namespace, text),
            "name" if part == "reservedFor" => self.owned("pod", namespace, text, None),
            // The caller knows the kind, and gives the object itself its new name.
            "name" if part == "metadata" => return false,
            "name" => self.name(
                match part {
                    "volumes" => "volume",
                    "schedulingGates" => "gate",
                    "ports" => "port",
                    "devices" => "device",
                    "pool" => "pool",
                    "requests" | "firstAvailable" => "request",
                    _ => "container",
                },
                text,
            ),
            "containerName" => self.name("container", text),
            "namespace" => self.namespace(text),
            "nodeName" | "nominatedNodeName" | "holderIdentity" => self.node(text),
            "priorityClassName" if text.starts_with("system-") => return true,
            "priorityClassName" => self.name("priority", text),
            "schedulerName" if text == "default-scheduler" => return true,
            "schedulerName" => self.name("scheduler", text),
            "claimName" => self.claim(namespace, text),
            "resourceClaimName" => self.owned("resourceclaim", namespace, text, None),
            "resourceClaimTemplateName" => {
                self.owned("resourceclaimtemplate", namespace, text, None)
            }
            "deviceClassName" => self.owned("deviceclass", "default", text, None),
            "device" | "pool" => self.name(key, text),
            "apiGroup" => self.name("group", text),
            "storageClassName" => self.global("storageclass", text),
            "volumeName" | "persistentVolumeName" => self.global("persistentvolume", text),
            "provisioner" | "driver" | "attacher" => self.driver(text),
            "hostIP" => self.address(text),
            "image" => self.name("image", text),
            "currentRevision" | "updateRevision" => self.short("h", text),
            "topologyKey" | "key" => self.label_key(text),
            "type" | "conditionType" if text.contains('/') && !is_kubernetes(text) => {
                self.name("condition", text)
            }
            _ => match self.time(text) {
                Some(time) => time,
                None => return WORDS.split_whitespace().any(|word| word == key),
            },
        };
        true
    }

    /// Hides annotations: keeps numbers and the like, replaces times and the name of a node,
    /// removes all others.
    fn annotations(&mut self, annotations: &mut Map<String, Value>) {
        annotations.retain(|key, value| {
            let Value::String(text) = value else { return false };
            if key == SELECTED_NODE {
                *text = self.node(text);
            } else if let Some(time) = self.time(text) {
                *text = time;
            } else if !TIME_ANNOTATIONS.contains(&key.as_str()) {
                let is_plain = |letter: char| letter.is_ascii_digit() || "-,.".contains(letter);
                return ["true", "false", "api", "file"].contains(&text.as_str())
                    || text.chars().all(is_plain);
            }
            true
        });
    }

    /// Hides a reference to an owner.
    fn owner(&mut self, owner: &mut Value, namespace: &str) {
        let Value::Object(map) = owner else { return };
        map.retain(|key, value| key != "uid" || value.as_str().and_then(rank_of).is_some());
        let text = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (kind, name) = (text("kind"), text("name"));
        let new = if kind == "Node" {
            self.node(&name)
        } else if OWNERS.contains(&kind.as_str()) {
            let kind = kind.to_ascii_lowercase();
            let guess = self.owner_of(&kind, namespace, &name);
            let owner = guess.as_ref().map(|(kind, name)| (kind.as_str(), name.as_str()));
            self.owned(&kind, namespace, &name, owner)
        } else {
            map.insert("apiVersion".to_owned(), "example.com/v1".into());
            map.insert("kind".to_owned(), "Owner".into());
            self.name("owner", &format!("{kind}/{name}"))
        };
        map.insert("name".to_owned(), new.into());
    }

    /// Hides a taint or a toleration: keys of Kubernetes stay.
    fn taint(&mut self, taint: &mut Value) {
        for field in ["key", "value"] {
            let own = taint.get("key").and_then(Value::as_str).is_some_and(is_kubernetes);
            if let Some(Value::String(text)) = taint.get_mut(field)
                && !(own || is_kubernetes(text) || is_number(text))
            {
                *text = self.name(if field == "key" { "taint" } else { "value" }, text);
            }
        }
    }

    fn labels(&mut self, labels: &mut Value) {
        let Value::Object(map) = labels else { return };
        let old = std::mem::take(map);
        for (key, value) in old {
            let is_kept = is_kubernetes(&key) || KEPT_LABELS.contains(&key.as_str());
            if is_kept || self.selected.contains(&key) {
                let value = self.label_value(&key, value.as_str().unwrap_or_default());
                map.insert(self.label_key(&key), value.into());
            }
        }
    }

    fn label_key(&mut self, key: &str) -> String {
        if is_kubernetes(key) || KEPT_LABELS.contains(&key) {
            return key.to_owned();
        }
        self.name("label", key)
    }

    fn label_value(&mut self, key: &str, value: &str) -> String {
        match key {
            "kubernetes.io/hostname" | "metadata.name" => self.node(value),
            "kubernetes.io/metadata.name" => self.namespace(value),
            _ if key.ends_with("/zone") => self.name("zone", value),
            _ if key.ends_with("/region") => self.name("region", value),
            "kubernetes.io/os" | "kubernetes.io/arch" => value.to_owned(),
            _ if value.is_empty() || is_number(value) => value.to_owned(),
            _ if KEPT_LABELS.contains(&key) => self.short("h", value),
            _ => self.name("value", value),
        }
    }

    /// Hides commands, each with its time: names stand in fields that are called after their kind.
    fn commands(&mut self, mut value: Value) -> Value {
        self.command(&mut value);
        value
    }

    fn command(&mut self, value: &mut Value) {
        let map = match value {
            Value::Object(map) => map,
            Value::Array(items) => return items.iter_mut().for_each(|item| self.command(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return,
        };
        // Words for people may name anything.
        map.retain(|key, _| !["message", "refused"].contains(&key.as_str()));
        for (key, value) in map.iter_mut() {
            match (key.as_str(), &mut *value) {
                ("node", Value::String(name)) => *name = self.node(name),
                ("nodes", Value::Array(names)) => {
                    for name in names {
                        *name = self.node(name.as_str().unwrap_or_default()).into();
                    }
                }
                ("zone", Value::String(zone)) => *zone = self.zone(zone),
                ("pod" | "budget", Value::String(name)) => *name = self.key(key, name),
                ("claim", Value::String(name)) => {
                    let (namespace, claim) = name.split_once('/').unwrap_or(("default", name));
                    let claim = self.claim(namespace, claim);
                    *name = format!("{}/{claim}", self.namespace(namespace));
                }
                ("volume", Value::String(name)) => *name = self.global("persistentvolume", name),
                ("namespace", Value::String(name)) => *name = self.namespace(name),
                ("workload", Value::String(name)) => {
                    let (kind, rest) = name.split_once('/').unwrap_or(("deployment", name));
                    let kind = kind.to_owned();
                    let rest = rest.to_owned();
                    *name = format!("{kind}/{}", self.key(&kind, &rest));
                }
                ("labels" | "podLabels" | "matchLabels", labels) => self.labels(labels),
                ("taints" | "tolerations", Value::Array(items)) => {
                    items.iter_mut().for_each(|item| self.taint(item));
                }
                // The command `taint` holds a field of that name.
                ("taint" | "untaint", taint) => {
                    self.taint(taint);
                    self.command(taint);
                }
                ("createNode" | "updateNode", node) => self.object(node, "node"),
                ("node", node) => self.object(node, "node"),
                ("createPod" | "updatePod", pod) => self.object(pod, "pod"),
                ("createBudget" | "updateBudget", budget) => self.object(budget, "budget"),
                (
                    "createWorkload" | "updateWorkload" | "createDeviceObject"
                    | "updateDeviceObject",
                    object,
                ) => {
                    let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default();
                    let kind = kind.to_ascii_lowercase();
                    self.object(object, &kind);
                }
                ("deleteDeviceObject", Value::Object(object)) => {
                    let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default();
                    let kind = kind.to_ascii_lowercase();
                    if let Some(Value::String(name)) = object.get_mut("name") {
                        *name = match name.contains('/') {
                            true => self.key(&kind, name),
                            false => self.owned(&kind, "default", name, None),
                        };
                    }
                }
                (_, value) => self.command(value),
            }
        }
    }
}

/// Gives an object a name, if there is one.
fn rename(object: &mut Value, name: String) {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata")
        && !name.is_empty()
    {
        metadata.insert("name".to_owned(), name.into());
    }
}

fn namespace_of(namespace: &str) -> &str {
    if namespace.is_empty() { "default" } else { namespace }
}

/// Whether the key of a label or a taint is one of Kubernetes'.
fn is_kubernetes(key: &str) -> bool {
    let domain = key.split_once('/').map_or("", |(domain, _)| domain);
    ["kubernetes.io", "k8s.io"].iter().any(|own| {
        domain == *own || domain.strip_suffix(own).is_some_and(|rest| rest.ends_with('.'))
    })
}

/// Whether a value is a number, which `Gt` and `Lt` compare.
fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
