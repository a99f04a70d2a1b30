//! `kubectl taint`. Mirrors `k8s.io/kubectl/pkg/cmd/taint`.

use taintlab_core::command::Command;
use taintlab_core::policy::taints::kubectl::{parse_taints, update_taints, validate_changes};

use crate::arguments::{TypeAlone, select};
use crate::failure::Failure;
use crate::flags::{self, Arguments};
use crate::objects::Object;
use crate::resources;
use crate::session::Session;

/// `kubectl taint`.
pub(crate) fn taint(session: &mut Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let dry_run = arguments.dry_run(session)?;
    let (words, specs) = words_and_specs(&arguments.positional)?;
    let Some((type_, names)) = words.split_first() else {
        return Err(Failure::plain("one or more resources must be specified as <resource> <name>"));
    };
    if specs.is_empty() {
        return Err(Failure::plain("at least one taint update is required"));
    }
    let changes =
        parse_taints(session.release(), specs).map_err(|text| Failure::usage("taint", &text))?;
    // `node/worker-1` is accepted too, unlike in kubectl.
    let (type_, by_path) =
        type_.split_once('/').map_or((type_.as_str(), false), |(type_, _)| (type_, true));
    if *resources::find(type_)? != resources::NODES {
        return Err(Failure::plain(format!(
            "invalid resource type {}, only node types are supported",
            type_.to_ascii_lowercase()
        )));
    }
    validate_changes(session.release(), &changes).map_err(Failure::plain)?;
    let all = arguments.is(&flags::ALL);
    let selects = arguments.get(&flags::SELECTOR).is_some_and(|text| !text.is_empty());
    if all && selects {
        return Err(Failure::plain(
            "setting 'all' parameter with a non empty selector is prohibited",
        ));
    }
    if !all && !selects && names.is_empty() && !by_path {
        return Err(Failure::plain(
            "at least one resource name must be specified since 'all' parameter is not set",
        ));
    }
    // With `--all` or a selector, names are ignored.
    let words = if all || selects { words.get(..1).unwrap_or_default() } else { words };
    let selection = select(session, words, arguments, TypeAlone::MeansAll)?;
    let mut failures = selection.failures;
    let overwrite = arguments.is(&flags::OVERWRITE);
    for object in selection.objects {
        let Object::Node(node) = &object else { continue };
        let name = node.metadata.name.as_str();
        let result = update_taints(name, &node.spec.taints, &changes, overwrite)
            .map_err(refused)
            .and_then(|(operation, taints)| {
                session.change(dry_run, Command::SetTaints { node: name.into(), taints })?;
                Ok(operation)
            });
        match result {
            Ok(operation) => {
                // kubectl means to mention a dry run here, and does not.
                session.print(format!("node/{name} {}", operation.as_str()));
            }
            Err(failure) => failures.push(failure),
        }
    }
    Failure::all(failures)
}

/// Splits several errors about one node, which come as one text in brackets.
fn refused(text: String) -> Failure {
    match text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        Some(texts) => Failure::Several(texts.split(", ").map(Failure::plain).collect()),
        None => Failure::Plain(text),
    }
}

/// Separates the nodes of a line from the taints after them.
fn words_and_specs(words: &[String]) -> Result<(&[String], &[String]), Failure> {
    let is_spec = |word: &String| word.contains(['=', ':']) || word.ends_with('-');
    let at = words.iter().position(is_spec).unwrap_or(words.len());
    let (names, specs) = words.split_at_checked(at).unwrap_or((words, &[]));
    if let Some(word) = specs.iter().find(|word| !is_spec(word)) {
        return Err(Failure::plain(format!(
            "all resources must be specified before taint changes: {word}"
        )));
    }
    Ok((names, specs))
}
