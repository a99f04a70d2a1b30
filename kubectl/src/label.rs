//! `kubectl label` and `kubectl annotate`. Mirrors `k8s.io/kubectl/pkg/cmd/label` and `annotate`.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use taintlab_core::command::Command;
use taintlab_core::policy::validation::{is_valid_label_value, label_words};
use taintlab_core::release::KubernetesRelease;

use crate::arguments::{TypeAlone, select};
use crate::commands::update;
use crate::failure::Failure;
use crate::fields::string_map;
use crate::flags::{self, Arguments};
use crate::objects::Object;
use crate::session::{DryRun, Session};

type Pairs = BTreeMap<String, String>;

/// `kubectl label`.
pub(crate) fn label(session: &mut Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    change(session, arguments, "label")
}

/// `kubectl annotate`.
pub(crate) fn annotate(session: &mut Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    change(session, arguments, "annotation")
}

fn change(session: &mut Session<'_>, arguments: &Arguments, what: &str) -> Result<(), Failure> {
    let dry_run = arguments.dry_run(session)?;
    let (words, pairs) = words_and_pairs(&arguments.positional, what)?;
    let (set, remove) = parse(pairs, what, session.release())?;
    if arguments.is(&flags::ALL) && arguments.get(&flags::SELECTOR).is_some() {
        return Err(Failure::plain("cannot set --all and --selector at the same time"));
    }
    if words.is_empty() {
        return Err(Failure::plain(
            "one or more resources must be specified as <resource> <name> or <resource>/<name>",
        ));
    }
    let list = arguments.is(&flags::LIST);
    if set.is_empty() && remove.is_empty() && !list {
        return Err(Failure::plain(format!("at least one {what} update is required")));
    }
    let selection = select(session, words, arguments, TypeAlone::IsAnError)?;
    let mut failures = selection.failures;
    let several = selection.objects.len() > 1;
    for object in selection.objects {
        let overwrite = arguments.is(&flags::OVERWRITE);
        let changed = change_one(session, &object, what, (&set, &remove), overwrite, dry_run);
        match changed {
            Err(failure) => failures.push(failure),
            Ok(_) if list => {
                let object = session.object(object.resource(), object.namespace(), object.name());
                if let Some(object) = object {
                    print_list(session, &object, what, several);
                }
            }
            Ok(message) => {
                let name = object.qualified_name();
                session.print(format!("{name} {message}{}", dry_run.suffix()));
            }
        }
    }
    Failure::all(failures)
}

fn print_list(session: &mut Session<'_>, object: &Object, what: &str, several: bool) {
    if several {
        let resource = object.resource();
        session.print(format!(
            "Listing {what}s for {}.{}/{}:",
            resource.kind,
            resource.group,
            object.name()
        ));
    }
    for (key, value) in pairs_of(object, what) {
        session.print(format!("{}{key}={value}", if several { " " } else { "" }));
    }
}

fn pairs_of(object: &Object, what: &str) -> Pairs {
    if what == "label" {
        return object.labels().into_owned();
    }
    match object {
        Object::Node(node) => BTreeMap::clone(&node.metadata.annotations),
        Object::Pod(pod) => BTreeMap::clone(&pod.metadata.annotations),
        Object::Other(_, value) => string_map(value.pointer("/metadata/annotations")),
    }
}

fn change_one(
    session: &mut Session<'_>,
    object: &Object,
    what: &str,
    (set, remove): (&Pairs, &[String]),
    overwrite: bool,
    dry_run: DryRun,
) -> Result<&'static str, Failure> {
    let old = pairs_of(object, what);
    if what == "label" && dry_run != DryRun::Client {
        for key in remove.iter().filter(|key| !old.contains_key(*key)) {
            session.print(format!("label {key:?} not found."));
        }
    }
    if !overwrite {
        let there = set.keys().filter_map(|key| Some((key, old.get(key)?)));
        let there: Vec<_> = there
            .map(|(key, value)| {
                Failure::plain(if what == "label" {
                    format!("'{key}' already has a value ({value}), and --overwrite is false")
                } else {
                    format!("--overwrite is false but found the following declared annotation(s): '{key}' already has a value ({value})")
                })
            })
            .collect();
        Failure::all(there)?;
    }
    let mut new = old.clone();
    new.extend(set.iter().map(|(key, value)| (key.clone(), value.clone())));
    new.retain(|key, _| !remove.contains(key));
    let same = new == old;
    // As in upstream, the length of the JSON decides.
    let length = |pairs: &Pairs| serde_json::to_string(pairs).map_or(0, |text| text.len());
    let shorter = !overwrite && length(&new) < length(&old);
    let message = labeled(session.release(), (&old, &new), shorter);
    if !same {
        let command = command(object, what, new)?;
        session.change(dry_run, command)?;
    }
    Ok(if what == "label" { message } else { "annotated" })
}

/// Message about an object whose labels changed. Mirrors `updateDataChangeMsg`.
fn labeled(
    release: KubernetesRelease,
    (old, new): (&Pairs, &Pairs),
    shorter: bool,
) -> &'static str {
    let added = new.iter().any(|(key, value)| old.get(key) != Some(value));
    let removed = old.keys().any(|key| !new.contains_key(key));
    if release.kubectl_says_modified_labels() {
        return match (added, removed) {
            (true, true) => "modified",
            (true, false) => "labeled",
            (false, true) => "unlabeled",
            (false, false) => "not labeled",
        };
    }
    match added || removed {
        false => "not labeled",
        true if shorter && release.kubectl_says_unlabeled() => "unlabeled",
        true => "labeled",
    }
}

fn command(object: &Object, what: &str, pairs: Pairs) -> Result<Command, Failure> {
    match object {
        Object::Node(node) if what == "label" => {
            Ok(Command::SetNodeLabels { node: node.metadata.name.as_str().into(), labels: pairs })
        }
        Object::Pod(pod) if what == "label" => {
            Ok(Command::SetPodLabels { pod: pod.key(), labels: pairs })
        }
        Object::Node(node) => {
            let mut node = Arc::unwrap_or_clone(node.clone());
            node.metadata.annotations = pairs.into();
            Ok(Command::UpdateNode(node))
        }
        Object::Pod(pod) => {
            let mut pod = Arc::unwrap_or_clone(pod.clone());
            pod.metadata.annotations = pairs.into();
            Ok(Command::UpdatePod(pod))
        }
        Object::Other(_, value) => {
            let mut value = value.clone();
            if let Some(Value::Object(metadata)) = value.get_mut("metadata") {
                let field = if what == "label" { "labels" } else { "annotations" };
                metadata.insert(field.to_owned(), serde_json::json!(pairs));
            }
            update(&Object::Other(object.resource(), value))
        }
    }
}

/// Separates the objects of a line from its pairs. Mirrors `cmdutil.GetResourcesAndPairs`.
fn words_and_pairs<'w>(
    words: &'w [String],
    what: &str,
) -> Result<(&'w [String], &'w [String]), Failure> {
    let is_pair = |word: &String| word.contains('=') || word.ends_with('-');
    let at = words.iter().position(is_pair).unwrap_or(words.len());
    let (names, pairs) = words.split_at_checked(at).unwrap_or((words, &[]));
    if let Some(word) = pairs.iter().find(|word| !is_pair(word)) {
        return Err(Failure::plain(format!(
            "all resources must be specified before {what} changes: {word}"
        )));
    }
    Ok((names, pairs))
}

/// Reads the pairs to set and the keys to remove. Mirrors `parseLabels` and `parseAnnotations`.
fn parse(
    pairs: &[String],
    what: &str,
    release: KubernetesRelease,
) -> Result<(Pairs, Vec<String>), Failure> {
    let (mut set, mut remove) = (Pairs::new(), Vec::new());
    for pair in pairs {
        if let Some((key, value)) = pair.split_once('=') {
            if what == "label" {
                if value.contains('=') || key.is_empty() {
                    return Err(Failure::plain(format!("invalid label spec: {pair}")));
                }
                let wrong = label_words(release, is_valid_label_value(value));
                if !wrong.is_empty() {
                    let wrong = wrong.join(";");
                    return Err(Failure::plain(format!("invalid label value: {pair:?}: {wrong}")));
                }
            }
            set.insert(key.to_owned(), value.to_owned());
        } else if let Some(key) = pair.strip_suffix('-').filter(|key| !key.is_empty()) {
            remove.push(key.to_owned());
        } else {
            return Err(Failure::plain(format!("unknown {what} spec: {pair}")));
        }
    }
    if remove.iter().any(|key| set.contains_key(key)) {
        let article = if what == "label" { "a" } else { "an" };
        return Err(Failure::plain(format!(
            "can not both modify and remove {article} {what} in the same command"
        )));
    }
    Ok((set, remove))
}
