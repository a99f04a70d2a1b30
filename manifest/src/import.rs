//! Kubernetes manifests in.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use taintlab_core::api::{Node, ObjectMeta, Pod, PodDisruptionBudget, Workload, WorkloadKind};
use taintlab_core::validation::{
    FieldError, ValidationOptions, validate_budget, validate_node, validate_pod, validate_workload,
};

use crate::builder::Names;
use crate::decode::{Findings, decode};
use crate::diagnostic::{Diagnostic, Diagnostics, Position, Problem, did_you_mean};
use crate::limits::Limits;
use crate::near_miss;
use crate::source;
use crate::tree::{Entry, Place, Sink, Spanned, Value};

/// What a text holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Import {
    /// The nodes, in the order of the text.
    pub nodes: Vec<Node>,
    /// The pods, in the order of the text. One without a namespace is in `default`.
    pub pods: Vec<Pod>,
    /// Deployments, ReplicaSets, StatefulSets, DaemonSets and Jobs, in the order of the text. One
    /// without a namespace is in `default`.
    pub workloads: Vec<Workload>,
    /// PodDisruptionBudgets, in the order of the text. One without a namespace is in `default`.
    pub budgets: Vec<PodDisruptionBudget>,
    /// Objects of kinds that the engine does not use, as they are, in the order of the text.
    pub others: Vec<Json>,
    /// Errors and warnings, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

impl Import {
    /// Whether something was wrong enough to leave an object, or the rest of the text, out.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// Whether there is no object at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
            && self.pods.is_empty()
            && self.workloads.is_empty()
            && self.budgets.is_empty()
            && self.others.is_empty()
    }

    /// How many objects there are of each kind that the engine does not use, by `apiVersion` and
    /// `kind`.
    #[must_use]
    pub fn other_kinds(&self) -> BTreeMap<(String, String), usize> {
        let text = |object: &Json, field: &str| {
            object.get(field).and_then(Json::as_str).unwrap_or("").to_owned()
        };
        let mut counts = BTreeMap::new();
        for object in &self.others {
            *counts.entry((text(object, "apiVersion"), text(object, "kind"))).or_default() += 1;
        }
        counts
    }
}

/// Reads Kubernetes objects from YAML or JSON: single objects, several documents, `List`,
/// `NodeList`, `PodList`, plain lists.
///
/// It never fails as a whole. An object with an error is left out, and the diagnostics say why;
/// objects of other kinds are kept as they are. YAML is understood as `kubectl` understands it
/// (`yes` is a boolean, `0644` is octal). The objects are checked as the API server would, with
/// the toleration operators `Lt` and `Gt` allowed.
///
/// `metadata.managedFields` and `metadata.resourceVersion` are dropped: they say how one API server
/// stored the object, and `kubectl apply` does not take them. A `null` is the same as an absent
/// field.
///
/// `file` is the name that diagnostics show, for example `cluster.yaml`.
///
/// ```
/// let text = "
/// apiVersion: v1
/// kind: Node
/// metadata: {name: worker-1}
/// spec:
///   taints:
///   - {key: maintenance, value: yes, effect: NoExecute}
/// ";
/// let import = taintlab_manifest::import(text, "cluster.yaml", &Default::default());
/// assert_eq!(
///     import.diagnostics[0].to_string(),
///     "cluster.yaml:7:31: spec.taints[0].value: expected a string, found the boolean `yes`\n  \
///      help: put it in quotes: \"yes\""
/// );
/// ```
#[must_use]
pub fn import(text: &str, file: &str, limits: &Limits) -> Import {
    let text = source::strip_byte_order_mark(text);
    let mut importer = Importer::new(file);
    if let Err(problem) = source::check(text, limits) {
        importer.diagnostics.error(problem);
    } else {
        reserve_memory(text);
        importer = source::parse(text, limits, true, || Importer::new(file));
    }
    importer.finish(text)
}

/// Takes what the objects of a large text will need from the system at once, and leaves it to the
/// allocator. A page's memory grows in small steps otherwise, and at each the browser collects
/// garbage, which takes longer than all the rest.
fn reserve_memory(text: &str) {
    const LARGE: usize = 1 << 20;
    const MOST: usize = 1 << 30;
    // Measured with the output of `kubectl get`; JSON is mostly space.
    let factor = if text.trim_start().starts_with(['{', '[']) { 2 } else { 5 };
    if text.len() > LARGE {
        let mut memory = Vec::<u8>::new();
        // Without success the memory grows in steps after all.
        let _ = memory.try_reserve_exact(text.len().saturating_mul(factor).min(MOST));
        // The optimiser must not find the reservation useless.
        std::hint::black_box(&mut memory);
    }
}

/// Takes objects one by one while the text is read.
struct Importer<'t, 'f> {
    file: &'f str,
    import: Import,
    diagnostics: Diagnostics<'f>,
    /// On which line a node or a pod of that name began.
    nodes: Names,
    pods: Names,
    /// The same for workloads and budgets, by kind, namespace and name.
    controllers: Names,
    /// Where each pod names its node.
    node_names: Vec<Position>,
    /// Items that do not say their kind; the list around them does, but at its end.
    kindless: Vec<(Place, Spanned<'t>, Vec<Problem>)>,
    /// Whether there was a document that is a list, and nothing in it.
    empty_list: bool,
    wrong_text: bool,
}

impl<'t> Sink<'t> for Importer<'t, '_> {
    fn object(&mut self, place: Place, node: Spanned<'t>, problems: Vec<Problem>) -> bool {
        let names_no_kind = node.get("kind").is_none() && node.get("apiVersion").is_none();
        match (place, &node.value) {
            (Place::Item(_), Value::Map(_)) if names_no_kind => {
                self.kindless.push((place, node, problems));
            }
            (Place::Document, _) => self.document(node, problems),
            _ => self.take(&place.path(), node, problems, None),
        }
        !self.diagnostics.is_full()
    }

    fn problem(&mut self, problem: Problem) -> bool {
        self.wrong_text = true;
        self.kindless.clear();
        self.diagnostics.error(problem);
        !self.diagnostics.is_full()
    }
}

impl source::Reader for Importer<'_, '_> {
    fn failed(&self) -> bool {
        self.wrong_text
    }
}

impl<'t, 'f> Importer<'t, 'f> {
    fn new(file: &'f str) -> Self {
        Self {
            file,
            import: Import::default(),
            diagnostics: Diagnostics::new(file),
            nodes: Names::new(),
            pods: Names::new(),
            controllers: Names::new(),
            node_names: Vec::new(),
            kindless: Vec::new(),
            empty_list: false,
            wrong_text: false,
        }
    }

    /// Takes a whole document, of which the items were given already.
    fn document(&mut self, node: Spanned<'t>, problems: Vec<Problem>) {
        let kind = node.get("kind").and_then(Spanned::as_str).unwrap_or("");
        let is_list = match node.get("items") {
            Some(items) => matches!(items.value, Value::Seq(_)) || items.is_null(),
            None => matches!(kind, "List" | "NodeList" | "PodList"),
        };
        if is_list {
            self.empty_list = self.import.is_empty() && self.kindless.is_empty();
            let api_version = node.get("apiVersion").and_then(Spanned::as_str).unwrap_or("v1");
            let implied = kind.strip_suffix("List").filter(|kind| !kind.is_empty());
            self.errors("", problems);
            for (place, item, problems) in std::mem::take(&mut self.kindless) {
                self.take(&place.path(), item, problems, implied.map(|kind| (api_version, kind)));
            }
        } else if matches!(node.value, Value::Seq(_)) || node.is_null() {
            self.empty_list |= self.import.is_empty() && !node.is_null();
            self.errors("", problems);
        } else {
            self.take("", node, problems, None);
        }
    }

    /// Takes one object. `implied` is what the list around it says about its kind.
    fn take(
        &mut self,
        path: &str,
        mut node: Spanned<'t>,
        problems: Vec<Problem>,
        implied: Option<(&str, &str)>,
    ) {
        let broken = !problems.is_empty();
        self.errors("", problems);
        let (api_version, kind) = match implied {
            Some((api_version, kind)) => (api_version.to_owned(), kind.to_owned()),
            None => match type_of(&node) {
                Ok(type_) => type_,
                Err(problem) => {
                    let path = join(path, &problem.path);
                    return self.diagnostics.error(problem.at(path));
                }
            },
        };
        match (&*api_version, &*kind) {
            ("v1", "Node") => {
                if let Some(object) = self.decode::<Node>(path, &mut node, broken) {
                    self.node(path, &node, object);
                }
            }
            ("v1", "Pod") => {
                if let Some(object) = self.decode::<Pod>(path, &mut node, broken) {
                    self.pod(path, &node, object);
                }
            }
            ("policy/v1" | "policy/v1beta1", "PodDisruptionBudget") => {
                if let Some(mut object) =
                    self.decode::<PodDisruptionBudget>(path, &mut node, broken)
                {
                    object.api_version = api_version;
                    self.budget(path, &node, object);
                }
            }
            (api_version, kind) if WorkloadKind::from_type(api_version, kind).is_some() => {
                // An item of a list may leave out what the list says.
                implied_type(&mut node, api_version, kind);
                if let Some(object) = self.decode::<Workload>(path, &mut node, broken) {
                    self.workload(path, &node, object);
                }
            }
            _ => {
                if let Some(warning) = near_miss::of_type(&node, &api_version, &kind) {
                    let path = join(path, &warning.path);
                    self.diagnostics.warning(warning.at(path));
                }
                if let Some(object) = self.decode::<Json>(path, &mut node, broken) {
                    self.other(object, &api_version, &kind);
                }
            }
        }
    }

    /// Decodes an object; there is one only if nothing is wrong with it.
    fn decode<T: DeserializeOwned>(
        &mut self,
        path: &str,
        node: &mut Spanned<'t>,
        broken: bool,
    ) -> Option<T> {
        let mut findings = Findings::default();
        let value = decode(node, &mut findings);
        self.errors(path, findings.errors);
        self.warnings(path, findings.warnings);
        value.filter(|_| !broken)
    }

    fn errors(&mut self, path: &str, problems: Vec<Problem>) {
        for problem in problems {
            let path = join(path, &problem.path);
            self.diagnostics.error(problem.at(path));
        }
    }

    fn warnings(&mut self, path: &str, problems: Vec<Problem>) {
        for problem in problems {
            let path = join(path, &problem.path);
            self.diagnostics.warning(problem.at(path));
        }
    }

    fn node(&mut self, path: &str, tree: &Spanned<'t>, mut node: Node) {
        drop_storage_fields(&mut node.metadata);
        self.warnings(path, near_miss::of_fields(tree, near_miss::NODE_SPEC));
        let errors = validate_node(&node, &options());
        if self.is_valid(path, tree, errors) && self.is_new(path, tree, "node", &node.metadata.name)
        {
            self.import.nodes.push(node);
        }
    }

    fn pod(&mut self, path: &str, tree: &Spanned<'t>, mut pod: Pod) {
        drop_storage_fields(&mut pod.metadata);
        if pod.metadata.namespace.is_empty() {
            pod.metadata.namespace = "default".into();
        }
        self.warnings(path, near_miss::of_fields(tree, near_miss::POD_SPEC));
        let errors = validate_pod(&pod, &options());
        if self.is_valid(path, tree, errors) && self.is_new(path, tree, "pod", pod.key().as_str()) {
            self.node_names.push(tree.locate("spec.nodeName"));
            self.import.pods.push(pod);
        }
    }

    fn workload(&mut self, path: &str, tree: &Spanned<'t>, mut workload: Workload) {
        in_default(&mut workload.metadata);
        let errors = validate_workload(&workload, &options());
        let name = workload.key().to_string();
        if self.is_valid(path, tree, errors) && self.is_new(path, tree, "workload", &name) {
            self.import.workloads.push(workload);
        }
    }

    fn budget(&mut self, path: &str, tree: &Spanned<'t>, mut budget: PodDisruptionBudget) {
        in_default(&mut budget.metadata);
        let errors = validate_budget(&budget);
        let name = format!("poddisruptionbudget/{}", budget.key());
        if self.is_valid(path, tree, errors) && self.is_new(path, tree, "budget", &name) {
            self.import.budgets.push(budget);
        }
    }

    fn other(&mut self, mut object: Json, api_version: &str, kind: &str) {
        if let Json::Object(fields) = &mut object {
            // An item of a list may leave out what the list says.
            fields.entry("apiVersion").or_insert_with(|| api_version.into());
            fields.entry("kind").or_insert_with(|| kind.into());
            if let Some(Json::Object(metadata)) = fields.get_mut("metadata") {
                metadata.remove("resourceVersion");
            }
        }
        self.import.others.push(object);
    }

    fn is_valid(&mut self, path: &str, tree: &Spanned<'t>, errors: Vec<FieldError>) -> bool {
        let valid = errors.is_empty();
        self.errors(path, errors.iter().map(|error| field_error(tree, error)).collect());
        valid
    }

    /// Notes the name of an object, and reports it if there is one of that name.
    fn is_new(&mut self, path: &str, tree: &Spanned<'t>, kind: &str, name: &str) -> bool {
        let names = match kind {
            "node" => &mut self.nodes,
            "pod" => &mut self.pods,
            _ => &mut self.controllers,
        };
        if let Some(first) = names.get(name) {
            let message =
                format!("the {kind} `{name}` is there twice: first in the object on line {first}");
            let problem = Problem::new(tree.locate("metadata.name"), message);
            let path = join(path, "metadata.name");
            let help = "remove one of the two, or give it another name";
            self.diagnostics.error(problem.at(path).help(help));
            return false;
        }
        names.insert(name.into(), tree.position.line);
        true
    }

    fn finish(mut self, text: &str) -> Import {
        if self.import.is_empty()
            && let Some(problem) = source::not_a_manifest(text)
        {
            let mut only = Diagnostics::new(self.file);
            only.error(problem);
            return Import { diagnostics: only.finish(), ..Import::default() };
        }
        self.warn_of_missing_nodes();
        if !self.import.has_cluster() && !self.has_errors() {
            let message = if self.empty_list && self.import.is_empty() {
                "the list is empty"
            } else {
                "there is no node and no pod in here"
            };
            let problem = Problem::new(Position::START, message).help(source::HOW_TO_GET);
            self.diagnostics.warning(problem);
        }
        self.import.diagnostics = self.diagnostics.finish();
        self.import
    }

    fn has_errors(&self) -> bool {
        self.diagnostics.has_errors()
    }

    /// Warns of pods on nodes that are not there: no taint can evict them.
    fn warn_of_missing_nodes(&mut self) {
        if self.import.nodes.is_empty() {
            if !self.import.pods.is_empty() && !self.has_errors() {
                let message = "there are pods, but no nodes";
                let problem = Problem::new(Position::START, message).help(source::HOW_TO_GET);
                self.diagnostics.warning(problem);
            }
            return;
        }
        let mut numbers = Names::new();
        let mut missing: Vec<(usize, &Pod, Position)> = Vec::new();
        for (pod, position) in self.import.pods.iter().zip(&self.node_names) {
            let node = pod.spec.node_name.as_str();
            if node.is_empty() || self.nodes.contains_key(node) {
                continue;
            }
            let next = u32::try_from(missing.len()).unwrap_or(u32::MAX);
            let number = *numbers.entry(node.into()).or_insert(next);
            match missing.get_mut(number as usize) {
                Some((count, ..)) => *count += 1,
                None => missing.push((1, pod, *position)),
            }
        }
        for (count, pod, position) in missing {
            let (node, pod) = (&pod.spec.node_name, pod.key());
            let message = if count == 1 {
                format!("the pod `{pod}` is on the node `{node}`, which is not here")
            } else {
                format!("{count} pods are on the node `{node}`, which is not here; one is `{pod}`")
            };
            self.diagnostics.warning(Problem::new(position, message));
        }
    }
}

impl Import {
    fn has_cluster(&self) -> bool {
        !self.nodes.is_empty()
            || !self.pods.is_empty()
            || !self.workloads.is_empty()
            || !self.budgets.is_empty()
    }
}

/// The `apiVersion` and `kind` of an object.
fn type_of(node: &Spanned<'_>) -> Result<(String, String), Problem> {
    let Value::Map(_) = node.value else {
        let message = "expected an object, that is a mapping with `apiVersion` and `kind`";
        return Err(Problem::new(node.position, message).help(source::HOW_TO_GET));
    };
    let text = |field: &str, example: &str| match node.get(field) {
        Some(value) => match value.as_str().filter(|text| !text.is_empty()) {
            Some(text) => Ok(text.to_owned()),
            None => {
                let message = format!("expected a string such as `{example}`");
                Err(Problem::new(value.position, message).at(field))
            }
        },
        None => {
            let problem = Problem::new(node.position, format!("the field `{field}` is missing"));
            let keys: Vec<&str> = match &node.value {
                Value::Map(entries) => entries.iter().map(|entry| &*entry.key).collect(),
                _ => Vec::new(),
            };
            Err(match did_you_mean(field, &keys) {
                Some(near) => problem.help(format!("is `{near}` meant to be `{field}`?")),
                None => problem.help(format!("write `{field}: {example}`, for example")),
            })
        }
    };
    let kind = text("kind", "Node")?;
    let api_version = text("apiVersion", "v1")?;
    if api_version.starts_with("taintlab/") {
        let message = format!("this is a Taintlab file of the kind `{kind}`, not a manifest");
        return Err(Problem::new(node.position, message).help("open it as a scenario"));
    }
    Ok((api_version, kind))
}

/// An error of the API server's validation, with its place in the text.
pub(crate) fn field_error(tree: &Spanned<'_>, error: &FieldError) -> Problem {
    let text = error.to_string();
    let message =
        text.strip_prefix(&error.field).and_then(|text| text.strip_prefix(": ")).unwrap_or(&text);
    // The API server names a field that does not exist.
    let path = error.field.replacen("metadata.taints", "spec.taints", 1);
    Problem::new(tree.locate(&path), message).at(path)
}

/// What a running cluster may contain: it passed the checks of its own API server.
fn options() -> ValidationOptions {
    ValidationOptions { exists_value_dump: false, comparison_operators: true }
}

/// Writes the kind into an object that leaves it to the list around it.
fn implied_type(node: &mut Spanned<'_>, api_version: &str, kind: &str) {
    let position = node.position;
    let missing = [("apiVersion", api_version), ("kind", kind)];
    let missing = missing.into_iter().filter(|(key, _)| node.get(key).is_none());
    let missing: Vec<Entry<'_>> = missing
        .map(|(key, value)| Entry {
            key: key.to_owned().into(),
            key_position: position,
            value: Spanned { value: Value::Str(value.to_owned().into()), position },
        })
        .collect();
    if let Value::Map(entries) = &mut node.value {
        entries.extend(missing);
    }
}

/// Drops what says how the object was stored, and names its namespace.
fn in_default(metadata: &mut ObjectMeta) {
    drop_storage_fields(metadata);
    if metadata.namespace.is_empty() {
        metadata.namespace = "default".into();
    }
}

fn drop_storage_fields(metadata: &mut ObjectMeta) {
    metadata.other.set("resourceVersion", Json::Null);
}

/// The path of a field in an object that is at `path`.
pub(crate) fn join(path: &str, field: &str) -> String {
    match (path.is_empty(), field.is_empty()) {
        (true, _) => field.into(),
        (_, true) => path.into(),
        _ if field.starts_with('[') => format!("{path}{field}"),
        _ => format!("{path}.{field}"),
    }
}
