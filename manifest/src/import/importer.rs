//! Takes objects one by one while a text is read.

use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use taintlab_core::api::{
    Amounts, Node, ObjectMeta, Pod, PodDisruptionBudget, ResourceError, SharedPool, Workload,
    WorkloadKind, node_allocatable, pod_requests,
};
use taintlab_core::order::OrderedSet;
use taintlab_core::policy::validation::{
    FieldError, ValidationOptions, validate_budget, validate_node, validate_pod, validate_workload,
};
use taintlab_core::release::KubernetesRelease;
use taintlab_core::slices::Pace;

use super::{Import, join};
use crate::builder::Names;
use crate::decode::{Entering, Findings, decode};
use crate::diagnostic::{
    DiagnosedObject, Diagnostics, Position, Problem, Severity, cut, did_you_mean,
};
use crate::dropped::Dropped;
use crate::fields::Rule;
use crate::memory;
use crate::near_miss;
use crate::newest::Newest;
use crate::report::{Assumption, ObjectOutcome, ObjectReport};
use crate::source;
use crate::storage;
use crate::tree::{Entry, Place, Sink, Spanned, Value};

/// Objects between two calls of `watch`.
const WATCHED: usize = 10_000;

/// An item without a kind: its place, its value, and the problems already found in it.
type Kindless<'t> = (Place, Spanned<'t>, Vec<Problem>);

/// A pod's file, the position of its `nodeName` there, and its index in `objects`.
type Placed<'f> = (&'f str, Position, usize);

/// Takes objects one by one while the text is read.
pub(super) struct Importer<'t, 'f> {
    pub(super) file: &'f str,
    /// Called with the number of objects read so far.
    watch: &'f dyn Fn(usize),
    given: usize,
    pub(super) import: Import,
    pub(super) diagnostics: Diagnostics<'f>,
    keep_all: bool,
    /// Counts of what was dropped from the current object.
    dropped: Dropped,
    pub(super) newest: Newest,
    /// Findings about the current object, before it is accepted or rejected.
    found: Vec<(Severity, Problem)>,
    /// The line on which the node or the pod of each name began.
    pub(super) nodes: Names,
    pods: Names,
    /// The line of each workload and budget, by kind, namespace and name.
    controllers: Names,
    /// Parts that many pods have in common.
    shared: SharedPool,
    /// Whether all amounts so far were quantities.
    all_readable: bool,
    /// For each pod, the file, the position of its `nodeName`, and its index in `objects`.
    pub(super) placed: Vec<Placed<'f>>,
    /// Items that get their kind from the list around them, which states it at its end.
    kindless: Vec<Kindless<'t>>,
    /// Whether a document was a list without elements.
    empty_list: bool,
    wrong_text: bool,
}

impl<'t> Sink<'t> for Importer<'t, '_> {
    fn object(&mut self, place: Place, node: Spanned<'t>, problems: Vec<Problem>) -> bool {
        memory::grow_ahead();
        self.given += 1;
        if self.given.is_multiple_of(WATCHED) {
            (self.watch)(self.given);
        }
        let names_no_kind = node.get("kind").is_none() && node.get("apiVersion").is_none();
        match (place, &node.value) {
            (Place::Item(_), Value::Map(_)) if names_no_kind => {
                self.kindless.push((place, node, problems));
            }
            (Place::Document, _) => self.document(node, problems),
            _ => self.take(&place.path(), node, problems, None),
        }
        true
    }

    fn problem(&mut self, problem: Problem) -> bool {
        self.wrong_text = true;
        // The list around them was not read to its end, so their kind remains unknown.
        for (place, item, problems) in std::mem::take(&mut self.kindless) {
            self.take(&place.path(), item, problems, None);
        }
        self.diagnostics.error(problem);
        true
    }
}

impl source::Reader for Importer<'_, '_> {
    fn failed(&self) -> bool {
        self.wrong_text
    }
}

impl<'t, 'f> Importer<'t, 'f> {
    pub(super) fn new(file: &'f str, keep_all: bool, watch: &'f dyn Fn(usize)) -> Self {
        Self {
            file,
            watch,
            given: 0,
            import: Import::default(),
            diagnostics: Diagnostics::new(file),
            keep_all,
            dropped: Dropped::default(),
            newest: Newest::default(),
            found: Vec::new(),
            nodes: Names::new(),
            pods: Names::new(),
            controllers: Names::new(),
            shared: SharedPool::default(),
            all_readable: true,
            placed: Vec::new(),
            kindless: Vec::new(),
            empty_list: false,
            wrong_text: false,
        }
    }

    /// Reports why the text is not read.
    pub(super) fn refuse(&mut self, problem: Problem) {
        self.diagnostics.error(problem.consequence("it is ignored"));
    }

    /// Takes a whole document; its items were given before.
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
            self.of_text(problems);
            for (place, item, problems) in std::mem::take(&mut self.kindless) {
                self.take(&place.path(), item, problems, implied.map(|kind| (api_version, kind)));
            }
        } else if matches!(node.value, Value::Seq(_)) || node.is_null() {
            self.empty_list |= self.import.is_empty() && !node.is_null();
            self.of_text(problems);
        } else {
            self.take("", node, problems, None);
        }
    }

    /// Reports errors that are about no object.
    fn of_text(&mut self, problems: Vec<Problem>) {
        for problem in problems {
            self.diagnostics.error(problem);
        }
    }

    /// Takes one object and notes its outcome. `implied` is the type that the list around it gives
    /// it.
    fn take(
        &mut self,
        path: &str,
        mut node: Spanned<'t>,
        problems: Vec<Problem>,
        implied: Option<(&str, &str)>,
    ) {
        let broken = !problems.is_empty();
        self.errors("", problems);
        let mut report = identify(&node);
        if let Some((_, kind)) = implied {
            kind.clone_into(&mut report.kind);
            report.assumed.push(Assumption::Kind);
        }
        let type_ = match implied {
            Some((api_version, kind)) => Ok((api_version.to_owned(), kind.to_owned())),
            None => type_of(&node),
        };
        let outcome = match type_ {
            Ok((api_version, kind)) => {
                self.take_as(path, &mut node, broken, &api_version, &kind, &mut report)
            }
            Err(problem) => {
                self.errors(path, vec![problem]);
                None
            }
        };
        report.outcome = outcome.unwrap_or(ObjectOutcome::LeftOut);
        let dropped = std::mem::take(&mut self.dropped);
        if outcome.is_some() && !dropped.is_empty() {
            self.import.dropped += dropped;
            report.dropped = Some(Box::new(dropped));
        }
        self.record_findings(&report);
        self.import.objects.push(report);
    }

    /// Takes an object of a kind; returns its outcome, or nothing if there was an error.
    fn take_as(
        &mut self,
        path: &str,
        node: &mut Spanned<'t>,
        broken: bool,
        api_version: &str,
        kind: &str,
        report: &mut ObjectReport,
    ) -> Option<ObjectOutcome> {
        let is_budget =
            kind == "PodDisruptionBudget" && matches!(api_version, "policy/v1" | "policy/v1beta1");
        let is_workload = WorkloadKind::from_type(api_version, kind).is_some();
        let is_pod = (api_version, kind) == ("v1", "Pod");
        let is_node = (api_version, kind) == ("v1", "Node");
        let used = is_budget || is_workload || is_pod || is_node;
        if report.namespace.is_empty() && used && !is_node {
            "default".clone_into(&mut report.namespace);
            report.assumed.push(Assumption::Namespace);
        }
        if !used && let Some(warning) = near_miss::of_type(node, api_version, kind) {
            self.warnings(path, vec![warning]);
        }
        let rule = Rule::of_kind(api_version, kind);
        let taken = if is_node {
            let object = self.decode::<Node>(path, node, rule, broken)?;
            self.node(path, node, object)
        } else if is_pod {
            let object = self.decode::<Pod>(path, node, rule, broken)?;
            self.pod(path, node, object)
        } else if is_budget {
            let mut object = self.decode::<PodDisruptionBudget>(path, node, rule, broken)?;
            api_version.clone_into(&mut object.api_version);
            self.budget(path, node, object)
        } else if is_workload {
            // An item of a list may leave its type to the list.
            implied_type(node, api_version, kind);
            let object = self.decode::<Workload>(path, node, rule, broken)?;
            self.workload(path, node, object)
        } else {
            // The engine reads storage objects, so they must be readable.
            let problems = storage::problems(node, api_version, kind);
            if !problems.is_empty() {
                self.errors(path, problems);
                return None;
            }
            self.warnings(path, storage::unevaluated(node, api_version).into_iter().collect());
            let object = self.decode::<Json>(path, node, rule, broken)?;
            self.other(object, api_version, kind);
            return Some(ObjectOutcome::Kept);
        };
        taken.then_some(ObjectOutcome::Read)
    }

    /// Passes the findings about an object to the diagnostics, now that its outcome is known.
    fn record_findings(&mut self, report: &ObjectReport) {
        for (severity, problem) in std::mem::take(&mut self.found) {
            let object = DiagnosedObject {
                kind: report.kind.clone(),
                namespace: report.namespace.clone(),
                name: report.name.clone(),
                left_out: report.outcome == ObjectOutcome::LeftOut,
            };
            self.diagnostics.add(severity, problem.of(object));
        }
    }

    /// Decodes an object; returns it only if it has no error.
    fn decode<T: DeserializeOwned>(
        &mut self,
        path: &str,
        node: &mut Spanned<'t>,
        rule: Rule,
        broken: bool,
    ) -> Option<T> {
        let mut findings = Findings::default();
        let entering = Entering { rule, keep_all: self.keep_all };
        let value = decode(node, entering, &mut findings);
        self.dropped += findings.dropped;
        self.newest.merge(findings.newest);
        self.errors(path, findings.errors);
        self.warnings(path, findings.warnings);
        value.filter(|_| !broken)
    }

    fn errors(&mut self, path: &str, problems: Vec<Problem>) {
        self.find(Severity::Error, path, problems);
    }

    fn warnings(&mut self, path: &str, problems: Vec<Problem>) {
        self.find(Severity::Warning, path, problems);
    }

    fn find(&mut self, severity: Severity, path: &str, problems: Vec<Problem>) {
        self.found.extend(problems.into_iter().map(|problem| {
            let path = join(path, &problem.path);
            (severity, problem.at(path))
        }));
    }

    fn node(&mut self, path: &str, tree: &Spanned<'t>, mut node: Node) -> bool {
        drop_resource_version(&mut node.metadata);
        self.warnings(path, near_miss::of_fields(tree, near_miss::NODE_SPEC));
        let errors = validate_node(&node, &options());
        let valid = self.is_valid(path, tree, errors)
            && self.is_readable(path, tree, "", node_allocatable(&node));
        let taken = valid && self.is_new(path, tree, "node", &node.metadata.name);
        if taken {
            self.import.nodes.push(node);
        }
        taken
    }

    fn pod(&mut self, path: &str, tree: &Spanned<'t>, mut pod: Pod) -> bool {
        in_default(&mut pod.metadata);
        self.warnings(path, near_miss::of_fields(tree, near_miss::POD_SPEC));
        let errors = validate_pod(&pod, &options());
        // What was readable once is readable again: pods of a large cluster have the same containers.
        let is_known = pod.share_parts(&mut self.shared) && self.all_readable;
        let valid = self.is_valid(path, tree, errors)
            && (is_known || {
                let requests = pod_requests(&pod, KubernetesRelease::NEWEST, &[]);
                self.is_readable(path, tree, "", requests)
            });
        let taken = valid && self.is_new(path, tree, "pod", pod.key().as_str());
        if taken {
            let place = tree.locate("spec.nodeName");
            self.placed.push((self.file, place, self.import.objects.len()));
            self.import.pods.push(pod);
        }
        taken
    }

    fn workload(&mut self, path: &str, tree: &Spanned<'t>, mut workload: Workload) -> bool {
        in_default(&mut workload.metadata);
        let errors = validate_workload(&workload, &options());
        let name = workload.key().to_string();
        let pod = Pod { spec: workload.spec.template.spec.clone(), ..Pod::default() };
        let valid = self.is_valid(path, tree, errors)
            && self.is_readable(
                path,
                tree,
                "spec.template",
                pod_requests(&pod, KubernetesRelease::NEWEST, &[]),
            );
        let taken = valid && self.is_new(path, tree, "workload", &name);
        if taken {
            self.import.workloads.push(workload);
        }
        taken
    }

    fn budget(&mut self, path: &str, tree: &Spanned<'t>, mut budget: PodDisruptionBudget) -> bool {
        in_default(&mut budget.metadata);
        let errors = validate_budget(&budget, &options());
        let name = format!("poddisruptionbudget/{}", budget.key());
        let valid = self.is_valid(path, tree, errors);
        let taken = valid && self.is_new(path, tree, "budget", &name);
        if taken {
            self.import.budgets.push(budget);
        }
        taken
    }

    fn other(&mut self, mut object: Json, api_version: &str, kind: &str) {
        if let Json::Object(fields) = &mut object {
            // An item of a list may leave its type to the list.
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
        self.errors(path, errors.iter().map(|error| tree.refusal(error)).collect());
        valid
    }

    /// Reports an amount that is no quantity, in the object at `inside`.
    fn is_readable(
        &mut self,
        path: &str,
        tree: &Spanned<'t>,
        inside: &str,
        amounts: Result<Amounts, ResourceError>,
    ) -> bool {
        let Err(ResourceError { field, message }) = amounts else { return true };
        let field = join(inside, &field);
        self.all_readable = false;
        self.errors(path, vec![Problem::new(tree.locate(&field), message).at(field)]);
        false
    }

    /// Notes the name of an object, and reports an error if the name is taken.
    fn is_new(&mut self, path: &str, tree: &Spanned<'t>, kind: &str, name: &str) -> bool {
        let names = match kind {
            "node" => &mut self.nodes,
            "pod" => &mut self.pods,
            _ => &mut self.controllers,
        };
        if let Some(first) = names.get(name) {
            let message = format!("duplicate {kind} `{name}`: first in the object on line {first}");
            let problem = Problem::new(tree.locate("metadata.name"), message).at("metadata.name");
            let help = "remove one of the two, or give it another name";
            self.errors(path, vec![problem.help(help)]);
            return false;
        }
        names.insert(name.into(), tree.position.line);
        true
    }

    pub(super) async fn finish(mut self, text: &str) -> Import {
        if self.import.is_empty()
            && let Some(problem) = source::not_a_manifest(text)
        {
            let mut only = Diagnostics::new(self.file);
            only.error(problem);
            return Import { diagnostics: only.finish(), ..Import::default() };
        }
        let mut pace = Pace::every(1_000);
        self.record_missing_owners(&mut pace).await;
        self.warn_of_missing_nodes(&mut pace).await;
        if !self.import.has_cluster() && !self.diagnostics.has_errors() {
            let message = if self.empty_list && self.import.is_empty() {
                "the list is empty"
            } else {
                "no nodes and no pods found"
            };
            let problem = Problem::new(Position::START, message).help(source::HOW_TO_GET);
            self.diagnostics.warning(problem);
        }
        self.import.newest_time = self.newest.time;
        self.import.diagnostics = self.diagnostics.finish();
        self.import
    }

    /// Notes the pods whose controller is missing.
    async fn record_missing_owners(&mut self, pace: &mut Pace) {
        let known: OrderedSet<_> = self.import.workloads.iter().map(Workload::key).collect();
        for (pod, (_, _, index)) in self.import.pods.iter().zip(&self.placed) {
            pace.step().await;
            if let Some(owner) = pod.metadata.controller_key().filter(|key| !known.contains(key))
                && let Some(report) = self.import.objects.get_mut(*index)
            {
                report.assumed.push(Assumption::Owner(cut(&owner.to_string()).into_owned()));
            }
        }
    }

    /// Warns about pods on missing nodes: no taint can evict them.
    async fn warn_of_missing_nodes(&mut self, pace: &mut Pace) {
        if self.import.nodes.is_empty() {
            if !self.import.pods.is_empty() && !self.diagnostics.has_errors() {
                let message = "there are pods, but no nodes";
                let problem = Problem::new(Position::START, message).help(source::HOW_TO_GET);
                self.diagnostics.warning(problem);
            }
            return;
        }
        let mut numbers = Names::new();
        let mut missing: Vec<(usize, &Pod, &str, Position)> = Vec::new();
        for (pod, (file, position, _)) in self.import.pods.iter().zip(&self.placed) {
            pace.step().await;
            let node = pod.spec.node_name.as_str();
            if node.is_empty() || self.nodes.contains_key(node) {
                continue;
            }
            let next = u32::try_from(missing.len()).unwrap_or(u32::MAX);
            let number = *numbers.entry(node.into()).or_insert(next);
            match missing.get_mut(number as usize) {
                Some((count, ..)) => *count += 1,
                None => missing.push((1, pod, file, *position)),
            }
        }
        for (count, pod, file, position) in missing {
            let node = cut(&pod.spec.node_name);
            let key = pod.key();
            let message = if count == 1 {
                format!("the pod `{key}` is on the node `{node}`, which is not here")
            } else {
                format!("{count} pods are on the node `{node}`, which is not here; one is `{key}`")
            };
            let metadata = &pod.metadata;
            let object = DiagnosedObject::taken("Pod", &metadata.namespace, &metadata.name);
            let warning = Problem::new(position, message).of(object);
            self.diagnostics.add_of(file, Severity::Warning, warning);
        }
    }
}

/// The identity of an object, before anything in it is checked.
pub(super) fn identify(node: &Spanned<'_>) -> ObjectReport {
    let text = |node: Option<&Spanned<'_>>, field: &str| {
        let text = node.and_then(|node| node.get(field)).and_then(Spanned::as_str);
        cut(text.unwrap_or("")).into_owned()
    };
    let metadata = node.get("metadata");
    ObjectReport {
        kind: text(Some(node), "kind"),
        namespace: text(metadata, "namespace"),
        name: text(metadata, "name"),
        line: node.position.line,
        column: node.position.column,
        outcome: ObjectOutcome::LeftOut,
        assumed: Vec::new(),
        dropped: None,
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

/// Checks that accept what any API server accepts: the objects passed those of their own.
fn options() -> ValidationOptions {
    ValidationOptions {
        exists_value_dump: false,
        comparison_operators: true,
        names_comparison_operators: true,
        counts_bytes_of_labels: true,
        shows_json: true,
        daemon_set_surge: true,
        backoff_limit_per_index: true,
    }
}

/// Writes the type into an object that leaves it to the list around it.
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

/// Drops the version under which the object was stored, and sets the namespace `default` if it has
/// none.
fn in_default(metadata: &mut ObjectMeta) {
    drop_resource_version(metadata);
    if metadata.namespace.is_empty() {
        "default".clone_into(&mut metadata.namespace);
    }
}

fn drop_resource_version(metadata: &mut ObjectMeta) {
    metadata.other.set("resourceVersion", Json::Null);
}
