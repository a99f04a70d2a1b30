//! Reads and writes scenario files.

use std::sync::Arc;

use taintlab_core::policy::validation::{
    FieldError, ValidationOptions, validate_budget, validate_node, validate_pod, validate_workload,
};
use taintlab_core::release::FeatureGates;
use taintlab_core::scenario::{DuplicateName, Scenario, ScenarioError};
use taintlab_core::simulator::ConfigError;
use taintlab_core::slices::{at_once, pause};

use crate::builder::Names;
use crate::decode::{Entering, Findings, decode};
use crate::diagnostic::{DiagnosedObject, Diagnostic, Diagnostics, Position, Problem, Severity};
use crate::dropped::Dropped;
use crate::export::to_yaml;
use crate::fields::SCENARIO;
use crate::foreign;
use crate::import::{import, join};
use crate::limits::{ImportOptions, Limits};
use crate::near_miss;
use crate::source;
use crate::storage;
use crate::tree::{Place, Sink, Spanned, Split, Value};

/// The contents of a scenario file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScenarioFile {
    /// The scenario, unless there was an error. It contains the objects of other files, and its
    /// `objects.files` is empty.
    pub scenario: Option<Scenario>,
    /// Errors and warnings, in the order of the text; those of other files come last.
    pub diagnostics: Vec<Diagnostic>,
    /// Counts of what was dropped from its objects and from those of other files.
    pub dropped: Dropped,
    file: String,
    /// Positions of the parts that may turn out wrong when the scenario runs.
    positions: Vec<(String, Position)>,
}

impl ScenarioFile {
    /// An error about a part of the scenario that shows only when it runs: `path` comes from a
    /// `ScenarioError`, or is `expect[2]` for an unmet expectation.
    #[must_use]
    pub fn error(&self, path: &str, message: impl Into<String>) -> Diagnostic {
        let known = self.positions.iter().find(|(part, _)| part == path);
        let position = known.map_or(Position::START, |(_, position)| *position);
        Problem::new(position, message).at(path).into_diagnostic(Severity::Error, &self.file)
    }
}

/// Whether a text looks like a scenario file rather than a manifest. A look at its lines decides;
/// nothing is parsed.
#[must_use]
pub fn is_scenario(text: &str) -> bool {
    at_once(is_scenario_in_slices(text))
}

/// [`is_scenario`] in slices: it pauses after each part of a long text.
pub async fn is_scenario_in_slices(text: &str) -> bool {
    const PART: usize = 1 << 20;
    let mut rest = text;
    while !rest.is_empty() {
        // A part ends with a whole line.
        let least = rest.floor_char_boundary(PART);
        let line = rest.get(least..).and_then(|rest| rest.find('\n'));
        let end = line.map_or(rest.len(), |line| least + line + 1);
        let (part, next) = rest.split_at_checked(end).unwrap_or((rest, ""));
        if says_scenario(part) {
            return true;
        }
        rest = next;
        pause().await;
    }
    false
}

fn says_scenario(text: &str) -> bool {
    let may_say = |text: &str| ["taintlab/", "Scenario"].iter().any(|word| text.contains(word));
    // A large cluster has millions of lines; looking for the words first passes over them quickly.
    may_say(text)
        && text.lines().filter(|line| may_say(line)).any(|line| {
            let line = line.trim().trim_end_matches(',').replace(['"', '\'', ' '], "");
            line == "kind:Scenario" || line.starts_with("apiVersion:taintlab/")
        })
}

/// Reads a scenario from YAML or JSON.
///
/// `load` returns the text of another file that `objects.files` names, or the reason why it cannot.
///
/// All errors are reported in one go: in the syntax, in the fields, and those of the API server
/// about the objects, under the release and the feature gates of the scenario.
///
/// Fields that the engine does not read are dropped from the objects and from those in steps, as
/// [`import`](crate::import()) does, unless [`ImportOptions::keep_all`] says otherwise.
pub fn read_scenario(
    text: &str,
    file: &str,
    options: impl Into<ImportOptions>,
    load: &mut dyn FnMut(&str) -> Result<String, String>,
) -> ScenarioFile {
    at_once(read_scenario_in_slices(text, file, options, load))
}

/// [`read_scenario`] in slices: it pauses regularly.
pub async fn read_scenario_in_slices(
    text: &str,
    file: &str,
    options: impl Into<ImportOptions>,
    load: &mut dyn FnMut(&str) -> Result<String, String>,
) -> ScenarioFile {
    let options = &options.into();
    let text = source::strip_byte_order_mark(text);
    let mut diagnostics = Diagnostics::new(file);
    let mut read = ScenarioFile { file: file.into(), ..ScenarioFile::default() };
    let documents = match source::check(text, &options.limits) {
        Ok(()) => source::parse(text, options, Split::Nothing, Documents::default).await,
        Err(problem) => Documents { problems: vec![problem], ..Documents::default() },
    };
    for problem in documents.problems {
        diagnostics.error(problem);
    }
    let mut documents = documents.documents.into_iter().filter(|document| !document.is_null());
    match documents.next() {
        Some(mut tree) => {
            read.positions = positions(&tree);
            if let Some(extra) = documents.next() {
                let message = "a scenario file holds one document, and this is the second";
                diagnostics.error(Problem::new(extra.position, message));
            }
            let decoded = decode_scenario(&mut tree, options.keep_all, &mut diagnostics);
            pause().await;
            if let Some((mut scenario, dropped)) = decoded {
                read.dropped = dropped;
                read.dropped += load_files(&mut scenario, &tree, options, load, &mut diagnostics);
                pause().await;
                validate(&scenario, &tree, &mut diagnostics);
                read.scenario = Some(scenario);
            }
            diagnostics.name_objects(|path, left_out| object_at(&tree, path, left_out));
        }
        None if !diagnostics.has_errors() => {
            let problem = Problem::new(Position::START, "the file is empty");
            diagnostics.error(problem.help("a scenario begins with `apiVersion: taintlab/v1`"));
        }
        None => {}
    }
    if diagnostics.has_errors() {
        read.scenario = None;
    }
    read.diagnostics = diagnostics.finish();
    read
}

/// The object of a scenario that the field path of an error or a warning leads into.
fn object_at(tree: &Spanned<'_>, path: &str, left_out: bool) -> Option<DiagnosedObject> {
    let (list, rest) = path.strip_prefix("objects.")?.split_once('[')?;
    let (index, _) = rest.split_once(']')?;
    let kind = match list {
        "nodes" => "Node",
        "pods" => "Pod",
        "budgets" => "PodDisruptionBudget",
        "workloads" | "others" => "",
        _ => return None,
    };
    let object = tree.nearest(&format!("objects.{list}[{index}]"));
    let text = |node: Option<&Spanned<'_>>, field: &str| {
        let text = node.and_then(|node| node.get(field)).and_then(Spanned::as_str);
        text.unwrap_or("").to_owned()
    };
    let metadata = object.get("metadata");
    let own = text(Some(object), "kind");
    let kind = if own.is_empty() { kind.to_owned() } else { own };
    let (namespace, name) = (text(metadata, "namespace"), text(metadata, "name"));
    Some(DiagnosedObject { left_out, ..DiagnosedObject::taken(&kind, &namespace, &name) })
}

/// Reads a value of any type that has a YAML or JSON form, such as an argument of a program.
/// Nothing but its form is checked; [`crate::to_yaml`] writes it. An unknown field whose name is
/// close to a known one is an error, since there is nobody to warn.
///
/// # Errors
/// The errors in the text, by line and column.
pub fn read_value<T: serde::de::DeserializeOwned>(
    text: &str,
    file: &str,
    limits: &Limits,
) -> Result<T, Vec<Diagnostic>> {
    let options = ImportOptions::from(limits);
    let Documents { mut documents, mut problems } = match source::check(text, limits) {
        Ok(()) => at_once(source::parse(text, &options, Split::Nothing, Documents::default)),
        Err(problem) => Documents { problems: vec![problem], ..Documents::default() },
    };
    let document = documents.pop().filter(|_| documents.is_empty());
    if document.is_none() {
        problems.push(Problem::new(Position::START, "this must be exactly one document"));
    }
    value_of(document, problems, file)
}

/// Reads a value in another form than text, such as an object of another language, as
/// [`read_value`] does. Its errors have a path, but no line and column.
///
/// # Errors
/// The errors in the value, by field.
pub fn read_from<'de, T: serde::de::DeserializeOwned>(
    value: impl serde::Deserializer<'de>,
    limits: &Limits,
) -> Result<T, Vec<Diagnostic>> {
    match foreign::tree(value, limits.depth) {
        Ok(tree) => value_of(Some(tree), Vec::new(), ""),
        Err(problem) => value_of(None, vec![problem], ""),
    }
}

/// The value of a document, or its errors together with those in `problems`.
fn value_of<T: serde::de::DeserializeOwned>(
    document: Option<Spanned<'_>>,
    problems: Vec<Problem>,
    file: &str,
) -> Result<T, Vec<Diagnostic>> {
    let mut findings = Findings::default();
    let value =
        document.and_then(|mut document| decode(&mut document, Entering::ALL, &mut findings));
    let diagnostics = told(problems, findings, file);
    match value {
        Some(value) if !diagnostics.has_errors() => Ok(value),
        _ => Err(diagnostics.finish()),
    }
}

/// The errors of a document, and its warnings that are as good as errors.
fn told(problems: Vec<Problem>, findings: Findings, file: &str) -> Diagnostics<'_> {
    let mut diagnostics = Diagnostics::new(file);
    let meant = |problem: &Problem| {
        problem.help.as_deref().is_some_and(|help| help.starts_with("did you mean"))
    };
    let nearly = findings.warnings.into_iter().filter(meant);
    for problem in problems.into_iter().chain(findings.errors).chain(nearly) {
        diagnostics.error(problem);
    }
    diagnostics
}

/// Writes a scenario as YAML from which [`read_scenario`] reads an equal one.
#[must_use]
pub fn write_scenario(scenario: &Scenario) -> String {
    // Every map in a scenario has strings as keys, so its JSON form exists.
    to_yaml(scenario).unwrap_or_default()
}

/// All documents of a text.
#[derive(Default)]
struct Documents<'t> {
    documents: Vec<Spanned<'t>>,
    problems: Vec<Problem>,
}

impl<'t> Sink<'t> for Documents<'t> {
    fn object(&mut self, _: Place, node: Spanned<'t>, problems: Vec<Problem>) -> bool {
        self.documents.push(node);
        self.problems.extend(problems);
        true
    }

    fn problem(&mut self, problem: Problem) -> bool {
        // An error rejects the whole scenario, not only the rest of a document.
        self.problems.push(Problem { consequence: None, ..problem });
        true
    }
}

impl source::Reader for Documents<'_> {
    fn failed(&self) -> bool {
        !self.problems.is_empty()
    }
}

/// The parts of a scenario that can make its configuration invalid.
const CONFIG: [&str; 4] = [
    "kubernetes.featureGates",
    "kubernetes.controllerManagerFlags",
    "kubernetes.kubelets",
    "kubernetes.apiServerFlags",
];

/// The positions of the parts that a `ScenarioError` or an expectation can be about.
fn positions(tree: &Spanned<'_>) -> Vec<(String, Position)> {
    let mut positions = Vec::new();
    for list in ["steps", "expect"] {
        if let Some(Spanned { value: Value::Seq(items), .. }) = tree.get(list) {
            for (index, item) in items.iter().enumerate() {
                positions.push((format!("{list}[{index}]"), item.position));
            }
        }
    }
    for part in CONFIG {
        positions.push((part.into(), tree.locate(part)));
    }
    let groups = "objects.nodeGroups";
    if let Value::Seq(items) = &tree.nearest(groups).value {
        for (index, item) in items.iter().enumerate() {
            positions.push((format!("{groups}[{index}]"), item.position));
        }
    }
    positions
}

/// The scenario in a tree, and counts of what was dropped from its objects.
fn decode_scenario(
    tree: &mut Spanned<'_>,
    keep_all: bool,
    diagnostics: &mut Diagnostics<'_>,
) -> Option<(Scenario, Dropped)> {
    let text = |field: &str| tree.get(field).and_then(Spanned::as_str).unwrap_or("");
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if !matches!(tree.value, Value::Map(_)) || kind != "Scenario" && !api_version.is_empty() {
        let found = if kind.is_empty() { String::new() } else { format!(", but a `{kind}`") };
        let message = format!("this is not a scenario{found}");
        let problem = Problem::new(tree.position, message);
        diagnostics.error(
            problem.help("a scenario begins with `apiVersion: taintlab/v1` and `kind: Scenario`"),
        );
        return None;
    }
    let mut findings = Findings::default();
    let scenario = decode(tree, Entering { rule: SCENARIO, keep_all }, &mut findings);
    for problem in findings.errors {
        diagnostics.error(problem);
    }
    for problem in findings.warnings {
        diagnostics.warning(problem);
    }
    scenario.map(|scenario| (scenario, findings.dropped))
}

/// Adds the objects of other files after the scenario's own; returns counts of what was dropped.
fn load_files(
    scenario: &mut Scenario,
    tree: &Spanned<'_>,
    options: &ImportOptions,
    load: &mut dyn FnMut(&str) -> Result<String, String>,
    diagnostics: &mut Diagnostics<'_>,
) -> Dropped {
    let mut dropped = Dropped::default();
    for (index, name) in std::mem::take(&mut scenario.objects.files).into_iter().enumerate() {
        let path = format!("objects.files[{index}]");
        match load(&name) {
            Ok(text) => {
                let import = import(&text, &name, *options);
                dropped += import.dropped;
                diagnostics.extend(import.diagnostics);
                scenario.objects.nodes.extend(import.nodes.into_iter().map(Arc::new));
                scenario.objects.pods.extend(import.pods.into_iter().map(Arc::new));
                scenario.objects.workloads.extend(import.workloads);
                scenario.objects.budgets.extend(import.budgets);
                scenario.objects.others.extend(import.others);
            }
            Err(reason) => {
                let message = format!("the file `{name}` cannot be read: {reason}");
                diagnostics.error(Problem::new(tree.locate(&path), message).at(path));
            }
        }
    }
    dropped
}

/// Reports the errors that the API server would find, and objects that are defined twice.
fn validate(scenario: &Scenario, tree: &Spanned<'_>, diagnostics: &mut Diagnostics<'_>) {
    let release = scenario.kubernetes.release.unwrap_or_default();
    let settings = scenario.kubernetes.feature_gates.iter();
    let gates = match FeatureGates::new(release, settings.map(|(name, on)| (name.as_str(), *on))) {
        Ok(gates) => gates,
        Err(message) => {
            let path = "kubernetes.featureGates";
            return diagnostics.error(Problem::new(tree.locate(path), message).at(path));
        }
    };
    let config = scenario.config();
    let flags = config.flags().map(|_| ()).map_err(ConfigError::Flag);
    let api_server = config.admission().map(|_| ()).map_err(ConfigError::ApiServerFlag);
    let kubelets = config.kubelets.check().map_err(ConfigError::Kubelets);
    for error in [flags, api_server, kubelets].into_iter().filter_map(Result::err) {
        let error = ScenarioError::Config(error);
        let path = error.path();
        diagnostics.error(Problem::new(tree.locate(&path), error.to_string()).at(path));
    }
    for (index, group) in scenario.objects.node_groups.iter().enumerate() {
        if let Err(error) = group.check() {
            let path = format!("objects.nodeGroups[{index}]");
            diagnostics.error(Problem::new(tree.locate(&path), error).at(path));
        }
    }
    // Duplicates outside of groups are reported below, with more precise positions.
    for name in scenario.objects.duplicate_names().into_iter().filter(DuplicateName::is_of_group) {
        let path = name.second.clone();
        let problem = Problem::new(tree.locate(&path), name.to_string()).at(path);
        diagnostics.error(problem.help(name.help()));
    }
    let options = ValidationOptions::new(release, &gates);
    let objects = &scenario.objects;
    let nodes = objects
        .nodes
        .iter()
        .map(|node| (format!("the node `{}`", node.metadata.name), validate_node(node, &options)));
    check_objects(nodes, "objects.nodes", near_miss::NODE_SPEC, tree, diagnostics);
    check_groups(scenario, &options, tree, diagnostics);
    let pods = objects.pods.iter().map(|pod| {
        let mut errors = validate_pod(pod, &options);
        // A pod without a namespace is in `default`.
        errors.retain(|error| {
            error.field != "metadata.namespace" || !pod.metadata.namespace.is_empty()
        });
        (format!("the pod `{}`", pod.key()), errors)
    });
    check_objects(pods, "objects.pods", near_miss::POD_SPEC, tree, diagnostics);
    let workloads = objects
        .workloads
        .iter()
        .map(|workload| (format!("the {}", workload.key()), validate_workload(workload, &options)));
    check_objects(workloads, "objects.workloads", &[], tree, diagnostics);
    let budgets = objects.budgets.iter().map(|budget| {
        (format!("the budget `{}`", budget.key()), validate_budget(budget, &options))
    });
    check_objects(budgets, "objects.budgets", &[], tree, diagnostics);
    check_storage(tree, diagnostics);
}

/// Reports the volumes and other storage objects of a scenario that the engine cannot read. Those
/// from files were checked with their files.
fn check_storage(tree: &Spanned<'_>, diagnostics: &mut Diagnostics<'_>) {
    let others = tree.get("objects").and_then(|objects| objects.get("others"));
    let Some(Value::Seq(others)) = others.map(|others| &others.value) else { return };
    for (index, object) in others.iter().enumerate() {
        let text = |field: &str| object.get(field).and_then(Spanned::as_str).unwrap_or("");
        for problem in storage::problems(object, text("apiVersion"), text("kind")) {
            let path = join(&format!("objects.others[{index}]"), &problem.path);
            diagnostics.error(problem.at(path));
        }
        if let Some(problem) = storage::unevaluated(object, text("apiVersion")) {
            let path = format!("objects.others[{index}].spec");
            diagnostics.warning(problem.at(path));
        }
    }
}

/// Reports the errors of each group's first node and first pod; its other objects are alike.
fn check_groups(
    scenario: &Scenario,
    options: &ValidationOptions,
    tree: &Spanned<'_>,
    diagnostics: &mut Diagnostics<'_>,
) {
    for (index, group) in scenario.objects.node_groups.iter().enumerate() {
        let path = format!("objects.nodeGroups[{index}]");
        let node = group.nodes().next().map(|node| validate_node(&node, options));
        let pod = group.pods().next().map(|mut pod| {
            if pod.metadata.namespace.is_empty() {
                pod.metadata.namespace = "default".into();
            }
            validate_pod(&pod, options)
        });
        for error in node.into_iter().chain(pod).flatten() {
            let problem = Problem::new(tree.locate(&path), error.to_string());
            diagnostics.error(problem.at(path.clone()));
        }
    }
}

/// Reports errors of objects, which come with their names, and names that occur twice.
fn check_objects(
    objects: impl Iterator<Item = (String, Vec<FieldError>)>,
    list: &str,
    spec: &[&str],
    tree: &Spanned<'_>,
    diagnostics: &mut Diagnostics<'_>,
) {
    let own = match &tree.nearest(list).value {
        Value::Seq(items) => items.len(),
        _ => 0,
    };
    let mut seen = Names::new();
    for (index, (name, errors)) in objects.enumerate() {
        // Objects after the scenario's own were read from files.
        let path =
            if index < own { format!("{list}[{index}]") } else { "objects.files".to_owned() };
        let object = tree.nearest(&path);
        for problem in near_miss::of_fields(object, spec) {
            let path = join(&path, &problem.path);
            diagnostics.warning(problem.at(path));
        }
        for error in errors {
            let problem = object.refusal(&error);
            let path = join(&path, &problem.path);
            diagnostics.error(problem.at(path));
        }
        let message = format!("{name} is defined twice");
        if seen.insert(name, 0).is_some() {
            let problem = Problem::new(object.position, message);
            diagnostics.error(problem.at(path).help("give one of the two another name"));
        }
    }
}
