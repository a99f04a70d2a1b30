//! Several texts as one cluster: side by side, or applied onto one another.

use serde_json::Value as Json;
use taintlab_core::api::{Labels, Node, ObjectMeta, Pod, PodDisruptionBudget, Workload};
use taintlab_core::order::OrderedMap;
use taintlab_core::slices::at_once;

use super::Import;
use super::importer::Importer;
use crate::diagnostic::{Position, Problem, Severity};
use crate::limits::ImportOptions;
use crate::report::{ObjectOutcome, ObjectReport};
use crate::source;
use crate::tree::Split;

/// One of several texts.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// Name for diagnostics.
    pub file: &'a str,
    /// Text.
    pub text: &'a str,
    /// Whether it is applied onto the texts before it, as `kubectl apply` does: an object that is
    /// there already is changed, by group, kind, namespace and name. Otherwise such an object is an
    /// error.
    pub applied: bool,
}

/// Reads several texts as one cluster, each as [`import`](super::import) does.
///
/// An applied object keeps what its author leaves to the cluster: UID, owners, status, a pod's node,
/// and `replicas` if it names none. Labels and annotations are added to those that are there.
#[must_use]
pub fn import_together(texts: &[Text<'_>], options: impl Into<ImportOptions>) -> Import {
    let options = &options.into();
    let mut whole: Option<Whole<'_, '_>> = None;
    for text in texts {
        let stripped = source::strip_byte_order_mark(text.text);
        let new = || Importer::new(text.file, options.keep_all, &|_| {});
        let mut importer = new();
        if let Err(problem) = source::check(stripped, &options.limits) {
            importer.refuse(problem);
        } else {
            importer = at_once(source::parse(stripped, options, Split::Items, new));
        }
        match &mut whole {
            Some(whole) => whole.add(importer, text.applied),
            None => whole = Some(Whole::new(importer)),
        }
    }
    let Some(Whole { all, .. }) = whole else { return Import::default() };
    at_once(all.finish(texts.first().map_or("", |text| text.text)))
}

/// Kind, namespace and name of an object.
type Identity = (String, String, String);

struct Whole<'t, 'f> {
    all: Importer<'t, 'f>,
    /// File of each object.
    files: OrderedMap<Identity, &'f str>,
}

fn identity(report: &ObjectReport) -> Identity {
    (report.kind.clone(), report.namespace.clone(), report.name.clone())
}

impl<'t, 'f> Whole<'t, 'f> {
    fn new(first: Importer<'t, 'f>) -> Self {
        let file = first.file;
        let objects = first.import.objects.iter().map(|report| (identity(report), file));
        Self { files: objects.collect(), all: first }
    }

    /// Adds the objects of a later text.
    fn add(&mut self, mut later: Importer<'t, 'f>, applied: bool) {
        let all = &mut self.all;
        for report in &later.import.objects {
            let identity = identity(report);
            let first = self.files.get(&identity).copied();
            // Objects that the engine does not use may be there twice, as in one text.
            if let (Some(first), ObjectOutcome::Read, false) = (first, report.outcome, applied) {
                let ObjectReport { kind, name, line, column, .. } = report;
                let kind = kind.to_ascii_lowercase();
                let message = format!("duplicate {kind} `{name}`: first in {first}");
                let position = Position { line: *line, column: *column };
                let problem = Problem::new(position, message).at("metadata.name");
                let help = "remove one of the two, or give it another name; what is to change an \
                            object that is there is applied";
                later.diagnostics.add(Severity::Error, problem.help(help));
            }
            self.files.entry(identity).or_insert(later.file);
        }
        let begun = all.import.objects.len();
        all.nodes.extend(later.nodes);
        all.newest.merge(later.newest);
        all.diagnostics.extend(later.diagnostics.finish());
        let Import { nodes, pods, workloads, budgets, others, objects, dropped, .. } = later.import;
        all.import.dropped += dropped;
        all.import.objects.extend(objects);
        let placed = later.placed.into_iter().map(|(file, at, index)| (file, at, begun + index));
        if applied {
            let import = &mut all.import;
            apply(&mut import.nodes, nodes, |node| node.metadata.name.clone(), apply_node);
            apply(&mut import.workloads, workloads, |it| it.key().to_string(), apply_workload);
            apply(&mut import.budgets, budgets, |it| it.key().to_string(), apply_budget);
            apply(&mut import.others, others, identity_of, apply_other);
            let added = apply(&mut import.pods, pods, |pod| pod.key().to_string(), apply_pod);
            all.placed.extend(placed.zip(added).filter(|(_, added)| *added).map(|(it, _)| it));
        } else {
            all.import.nodes.extend(nodes);
            all.import.pods.extend(pods);
            all.import.workloads.extend(workloads);
            all.import.budgets.extend(budgets);
            all.import.others.extend(others);
            all.placed.extend(placed);
        }
    }
}

/// Changes the objects that are there and adds the others; says of each whether it was added.
fn apply<T>(
    live: &mut Vec<T>,
    applied: Vec<T>,
    name: impl Fn(&T) -> String,
    change: impl Fn(&mut T, T),
) -> Vec<bool> {
    let mut places: OrderedMap<String, usize> =
        live.iter().enumerate().map(|(index, object)| (name(object), index)).collect();
    let mut added = Vec::with_capacity(applied.len());
    for object in applied {
        let place = places.get(&name(&object)).copied();
        added.push(place.is_none());
        match place.and_then(|place| live.get_mut(place)) {
            Some(there) => change(there, object),
            None => {
                places.insert(name(&object), live.len());
                live.push(object);
            }
        }
    }
    added
}

/// Group, kind, namespace and name of an object that the engine keeps as it is.
fn identity_of(object: &Json) -> String {
    let text = |path: &str| object.pointer(path).and_then(Json::as_str).unwrap_or_default();
    let group = text("/apiVersion").rsplit_once('/').map_or("", |(group, _)| group);
    let (kind, namespace) = (text("/kind"), text("/metadata/namespace"));
    format!("{group}/{kind}/{namespace}/{}", text("/metadata/name"))
}

/// Metadata of a live object once these are applied.
fn apply_metadata(live: &mut ObjectMeta, applied: ObjectMeta) {
    let join = |live: &mut Labels, applied: &Labels| {
        live.extend(applied.iter().map(|(key, value)| (key.clone(), value.clone())));
    };
    join(&mut live.labels, &applied.labels);
    join(&mut live.annotations, &applied.annotations);
    if !applied.owner_references.is_empty() {
        live.owner_references = applied.owner_references;
    }
}

fn apply_node(live: &mut Node, applied: Node) {
    apply_metadata(&mut live.metadata, applied.metadata);
    live.spec = applied.spec;
}

fn apply_pod(live: &mut Pod, applied: Pod) {
    apply_metadata(&mut live.metadata, applied.metadata);
    let node = std::mem::take(&mut live.spec.node_name);
    live.spec = applied.spec;
    live.spec.node_name = node;
}

fn apply_workload(live: &mut Workload, applied: Workload) {
    // A template that its controller has not seen is of a later generation.
    if applied.generation() > live.generation() {
        live.advance(applied.generation());
    }
    apply_metadata(&mut live.metadata, applied.metadata);
    let replicas = applied.spec.replicas.or(live.spec.replicas);
    live.spec = applied.spec;
    live.spec.replicas = replicas;
}

fn apply_budget(live: &mut PodDisruptionBudget, applied: PodDisruptionBudget) {
    apply_metadata(&mut live.metadata, applied.metadata);
    live.spec = applied.spec;
}

fn apply_other(live: &mut Json, mut applied: Json) {
    if let (Some(there), Some(new)) = (live.as_object_mut(), applied.as_object_mut()) {
        for field in ["status", "metadata"] {
            if let Some(value) = there.remove(field) {
                new.insert(field.to_owned(), value);
            }
        }
    }
    *live = applied;
}
