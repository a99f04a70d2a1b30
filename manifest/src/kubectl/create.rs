//! `kubectl apply`, `create`, `replace` and `run`.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value, json};
use taintlab_core::api::{Node, Pod, WorkloadKey, WorkloadKind};
use taintlab_core::command::Command;

use super::arguments::{TypeAlone, select};
use super::failure::Failure;
use super::flags::{self, Arguments};
use super::objects::{self, Object, text};
use super::resources::{self, Resource};
use super::session::{DryRun, Session};
use crate::{Limits, import};

/// What `kubectl apply` remembers, so that it knows later what to take away.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The objects that `-f -` gives, in the namespace that counts.
pub(super) fn read(
    session: &mut Session<'_>,
    arguments: &Arguments,
    verb: &str,
) -> Result<Vec<Object>, Failure> {
    match arguments.get(&flags::FILENAME) {
        Some("-") => {}
        Some(file) => {
            return Err(Failure::plain(format!(
                "the path {file:?} does not exist (there are no files here: use `-f -` and give \
                 the text after the line, ending with `EOF`, as in `kubectl {verb} -f - <<EOF`)"
            )));
        }
        None => return Err(Failure::plain("must specify one of -f and -k")),
    }
    let Some(text) = session.stdin.clone() else {
        return Err(Failure::plain(format!(
            "nothing to read: give the text after the line, ending with `EOF`, as in \
             `kubectl {verb} -f - <<EOF`"
        )));
    };
    let import = import(&text, "STDIN", &Limits::default());
    let errors: Vec<String> = import
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.is_error())
        .map(ToString::to_string)
        .collect();
    if !errors.is_empty() {
        return Err(Failure::plain(format!("error parsing STDIN: {}", errors.join("\n"))));
    }
    let nodes = import.nodes.into_iter().map(|node| Object::Node(Arc::new(node)));
    let mut pods = import.pods;
    for pod in &mut pods {
        place(session, &mut pod.metadata.namespace)?;
    }
    let pods = pods.into_iter().map(|pod| Object::Pod(Arc::new(pod)));
    let mut objects: Vec<Object> = nodes.chain(pods).collect();
    for mut workload in import.workloads {
        place(session, &mut workload.metadata.namespace)?;
        let resource = resources::find(workload.kind.resource())?;
        objects.push(Object::Other(resource, value_of(&workload)?));
    }
    for mut budget in import.budgets {
        place(session, &mut budget.metadata.namespace)?;
        objects.push(Object::Other(&resources::BUDGETS, value_of(&budget)?));
    }
    for value in import.others {
        let (api_version, kind) = (self::text(&value, "/apiVersion"), self::text(&value, "/kind"));
        match resources::of_kind(api_version, kind) {
            Some(resource) => objects.push(Object::Other(resource, value)),
            None => {
                let name = self::text(&value, "/metadata/name");
                return Err(Failure::plain(format!(
                    "resource mapping not found for name: {name:?} namespace: \"\" from \
                     \"STDIN\": no matches for kind {kind:?} in version {api_version:?}"
                )));
            }
        }
    }
    if objects.is_empty() {
        return Err(Failure::plain(format!("no objects passed to {verb}")));
    }
    Ok(objects)
}

fn value_of<T: Serialize>(object: &T) -> Result<Value, Failure> {
    serde_json::to_value(object).map_err(|error| Failure::plain(error.to_string()))
}

fn is_workload(resource: &Resource) -> bool {
    WorkloadKind::from_word(resource.singular).is_some()
}

/// Puts an object that names no namespace into the one that counts.
fn place(session: &Session<'_>, namespace: &mut String) -> Result<(), Failure> {
    // An object without a namespace has come out of the import in `default`.
    if namespace == "default" || namespace.is_empty() {
        namespace.clone_from(&session.namespace);
    }
    if session.namespace != "default" && *namespace != session.namespace {
        return Err(Failure::plain(format!(
            "the namespace from the provided object {namespace:?} does not match the namespace \
             {:?}. You must pass '--namespace={namespace}' to perform this operation.",
            session.namespace
        )));
    }
    Ok(())
}

/// `kubectl create`.
pub(super) fn create(session: &mut Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let dry_run = arguments.dry_run(session)?;
    if let [what, name] = arguments.positional.as_slice()
        && matches!(what.as_str(), "deployment" | "deploy")
    {
        let object = deployment(session, arguments, name)?;
        return session
            .change(dry_run, creation(&object)?)
            .map(|()| session.print(format!("deployment.apps/{name} created{}", dry_run.suffix())))
            .map_err(|failure| match failure {
                Failure::AsIs(text) if text.starts_with("Error from server (") => {
                    let text = text.split_once("): ").map_or(text.as_str(), |(_, text)| text);
                    Failure::plain(format!("failed to create deployment: {text}"))
                }
                failure => failure,
            });
    }
    if let Some(what) = arguments.positional.first() {
        return Err(Failure::plain(format!(
            "`kubectl create {what}` is not possible here; use `kubectl create -f -`"
        )));
    }
    each(session, arguments, "create", |session, object| create_one(session, &object, dry_run))
}

fn each(
    session: &mut Session<'_>,
    arguments: &Arguments,
    verb: &str,
    mut act: impl FnMut(&mut Session<'_>, Object) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut failures = Vec::new();
    for object in read(session, arguments, verb)? {
        if let Err(failure) = act(session, object) {
            failures.push(failure);
        }
    }
    Failure::all(failures)
}

fn create_one(session: &mut Session<'_>, object: &Object, dry_run: DryRun) -> Result<(), Failure> {
    session.change(dry_run, creation(object)?).map_err(|failure| from_file(failure, "creating"))?;
    session.print(format!("{} created{}", object.qualified_name(), dry_run.suffix()));
    Ok(())
}

/// The command that creates an object.
fn creation(object: &Object) -> Result<Command, Failure> {
    match object {
        Object::Node(node) => Ok(Command::CreateNode(Node::clone(node))),
        Object::Pod(pod) => Ok(Command::CreatePod(Pod::clone(pod))),
        Object::Other(resource, value) if is_workload(resource) => {
            Ok(Command::CreateWorkload(objects::workload(value)?))
        }
        Object::Other(resource, value) if **resource == resources::BUDGETS => {
            Ok(Command::CreateBudget(objects::budget(value)?))
        }
        Object::Other(resource, _) => {
            Err(Failure::plain(format!("{} cannot be created here", resource.plural)))
        }
    }
}

/// The command that makes an object that is there into this one.
pub(super) fn update(object: &Object) -> Result<Command, Failure> {
    match object {
        Object::Node(node) => Ok(Command::UpdateNode(Node::clone(node))),
        Object::Pod(pod) => Ok(Command::UpdatePod(Pod::clone(pod))),
        Object::Other(resource, value) if is_workload(resource) => {
            Ok(Command::UpdateWorkload(objects::workload(value)?))
        }
        Object::Other(resource, value) if **resource == resources::BUDGETS => {
            Ok(Command::UpdateBudget(objects::budget(value)?))
        }
        Object::Other(resource, _) => {
            Err(Failure::plain(format!("{} cannot be changed here", resource.plural)))
        }
    }
}

/// Says from where the object came that the API server did not take.
fn from_file(failure: Failure, doing: &str) -> Failure {
    match &failure {
        Failure::AsIs(text) => match text.split_once("): ") {
            Some((head, tail)) if text.starts_with("Error from server (") => {
                Failure::AsIs(format!("{head}): error when {doing} \"STDIN\": {tail}"))
            }
            _ => failure,
        },
        _ => failure,
    }
}

/// `kubectl replace`.
pub(super) fn replace(session: &mut Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let dry_run = arguments.dry_run(session)?;
    each(session, arguments, "replace", |session, object| {
        if session.object(object.resource(), object.namespace(), object.name()).is_none() {
            let plural = object.resource().qualified_plural();
            return Err(from_file(Failure::not_found(&plural, object.name()), "replacing"));
        }
        session
            .change(dry_run, update(&object)?)
            .map_err(|failure| from_file(failure, "replacing"))?;
        session.print(format!("{} replaced{}", object.qualified_name(), dry_run.suffix()));
        Ok(())
    })
}

/// `kubectl apply`.
pub(super) fn apply(session: &mut Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let dry_run = arguments.dry_run(session)?;
    each(session, arguments, "apply", |session, object| apply_one(session, &object, dry_run))
}

/// What `kubectl create deployment` creates.
fn deployment(session: &Session<'_>, arguments: &Arguments, name: &str) -> Result<Object, Failure> {
    let Some(image) = arguments.get(&flags::IMAGE).filter(|image| !image.is_empty()) else {
        return Err(Failure::plain("required flag(s) \"image\" not set"));
    };
    let replicas = arguments.number(&flags::REPLICAS).unwrap_or(1);
    if replicas < 0 {
        return Err(Failure::plain(format!("--replicas must be >= 0, not {replicas}")));
    }
    let container = image.rsplit('/').next().unwrap_or(image).split([':', '@']).next();
    let labels = json!({ "app": name });
    let value = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": name, "namespace": session.namespace, "labels": labels },
        "spec": {
            "replicas": replicas,
            "selector": { "matchLabels": labels },
            "template": {
                "metadata": { "labels": labels },
                "spec": { "containers": [{ "name": container, "image": image }] },
            },
        },
    });
    Ok(Object::Other(&resources::DEPLOYMENTS, value))
}

/// `kubectl scale`.
pub(super) fn scale(session: &mut Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let dry_run = arguments.dry_run(session)?;
    let Some(replicas) = arguments.number(&flags::REPLICAS) else {
        return Err(Failure::plain("required flag(s) \"replicas\" not set"));
    };
    let Ok(replicas) = u32::try_from(replicas) else {
        return Err(Failure::plain(
            "The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0",
        ));
    };
    let selection = select(session, &arguments.positional, arguments, TypeAlone::IsAnError)?;
    if selection.types.is_empty() {
        return Err(Failure::plain(
            "You must provide one or more resources by argument or filename.",
        ));
    }
    let mut failures = selection.failures;
    if selection.objects.is_empty() && failures.is_empty() {
        return Err(Failure::plain("no objects passed to scale"));
    }
    for object in selection.objects {
        let Some(workload) = workload_key(&object) else {
            failures.push(Failure::plain(format!(
                "cannot scale {}: could not fetch the scale for {} {}: the server could not find \
                 the requested resource",
                object.resource().kind,
                object.resource().qualified_plural(),
                object.name()
            )));
            continue;
        };
        let now = objects::number(&object.value(), "/spec/replicas").unwrap_or(1);
        let expected = arguments.number(&flags::CURRENT_REPLICAS).filter(|count| *count >= 0);
        if let Some(expected) = expected.filter(|expected| *expected != now) {
            failures.push(Failure::plain(format!("Expected replicas to be {expected}, was {now}")));
            continue;
        }
        match session.change(dry_run, Command::Scale { workload, replicas }) {
            Ok(()) => {
                let name = object.qualified_name();
                session.print(format!("{name} scaled{}", dry_run.suffix()));
            }
            Err(failure) => failures.push(failure),
        }
    }
    Failure::all(failures)
}

fn workload_key(object: &Object) -> Option<WorkloadKey> {
    let kind = WorkloadKind::from_word(object.resource().singular)?;
    Some(WorkloadKey::new(kind, object.namespace(), object.name()))
}

/// `kubectl rollout status` and `restart`.
pub(super) fn rollout(session: &mut Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let Some((what, words)) = arguments.positional.split_first() else {
        return Err(Failure::usage("rollout", "a subcommand is missing: status or restart"));
    };
    if !matches!(what.as_str(), "status" | "restart") {
        return Err(Failure::usage(
            "rollout",
            &format!("`rollout {what}` is not possible here, only status and restart are"),
        ));
    }
    if words.is_empty() {
        return Err(Failure::plain("required resource not specified"));
    }
    let selection = select(session, words, arguments, TypeAlone::MeansAll)?;
    let mut failures = selection.failures;
    for object in selection.objects {
        let kind = workload_key(&object).map(|key| key.kind);
        let rolls = matches!(
            kind,
            Some(WorkloadKind::Deployment | WorkloadKind::StatefulSet | WorkloadKind::DaemonSet)
        );
        if !rolls {
            failures.push(Failure::plain(format!(
                "{} {:?} has no rollout",
                object.resource().qualified_plural(),
                object.name()
            )));
        } else if what == "status" {
            rollout_status(session, &object);
        } else if let Err(failure) = restart(session, &object) {
            failures.push(failure);
        }
    }
    Failure::all(failures)
}

/// As `kubectl` notes a restart in the template. Mirrors `defaultObjectRestarter`.
fn restart(session: &mut Session<'_>, object: &Object) -> Result<(), Failure> {
    let at = session.now().truncated_to_seconds().to_string();
    let mark = json!({ "spec": { "template": { "metadata": {
        "annotations": { "kubectl.kubernetes.io/restartedAt": at } } } } });
    let changed = merge(&object.value(), &Value::Null, &mark);
    let changed = Object::Other(object.resource(), changed);
    session.change(DryRun::No, update(&changed)?)?;
    session.print(format!("{} restarted", object.qualified_name()));
    Ok(())
}

/// Where a rollout is. Mirrors `DeploymentStatusViewer.Status` and the others.
fn rollout_status(session: &mut Session<'_>, object: &Object) {
    let value = object.value();
    let status = |name: &str| objects::number(&value, &format!("/status/{name}")).unwrap_or(0);
    let desired = objects::number(&value, "/spec/replicas").unwrap_or(1);
    let name = object.name();
    let line = if *object.resource() == resources::DEPLOYMENTS {
        let (updated, available) = (status("updatedReplicas"), status("availableReplicas"));
        let wait = format!("Waiting for deployment {name:?} rollout to finish:");
        if updated < desired {
            format!("{wait} {updated} out of {desired} new replicas have been updated...")
        } else if status("replicas") > updated {
            let old = status("replicas") - updated;
            format!("{wait} {old} old replicas are pending termination...")
        } else if available < updated {
            format!("{wait} {available} of {updated} updated replicas are available...")
        } else {
            format!("deployment {name:?} successfully rolled out")
        }
    } else if *object.resource() == resources::DAEMON_SETS {
        let desired = status("desiredNumberScheduled");
        let (updated, available) = (status("updatedNumberScheduled"), status("numberAvailable"));
        let wait = format!("Waiting for daemon set {name:?} rollout to finish:");
        if updated < desired {
            format!("{wait} {updated} out of {desired} new pods have been updated...")
        } else if available < desired {
            format!("{wait} {available} of {desired} updated pods are available...")
        } else {
            format!("daemon set {name:?} successfully rolled out")
        }
    } else if status("readyReplicas") < desired {
        format!("Waiting for {} pods to be ready...", desired - status("readyReplicas"))
    } else {
        format!("statefulset rolling update complete {desired} pods at revision {name}...")
    };
    session.print(line);
}

/// Creates an object, or lays what is given over what is there. Mirrors the three-way merge of
/// `apply`: what was applied before and is no longer given goes away.
fn apply_one(session: &mut Session<'_>, given: &Object, dry_run: DryRun) -> Result<(), Failure> {
    let wanted = given.value();
    let Some(live) = session.object(given.resource(), given.namespace(), given.name()) else {
        let object = rebuild(given, with_last_applied(wanted.clone(), &wanted))?;
        return create_one(session, &object, dry_run);
    };
    let live = live.value();
    let pointer = format!("/metadata/annotations/{}", LAST_APPLIED.replace('/', "~1"));
    let last = serde_json::from_str(text(&live, &pointer)).unwrap_or(Value::Null);
    let name = given.qualified_name();
    if last.is_null() {
        let plural = given.resource().plural;
        session.warn(format!(
            "Warning: resource {plural}/{} is missing the {LAST_APPLIED} annotation which is \
             required by kubectl apply. kubectl apply should only be used on resources created \
             declaratively by either kubectl create --save-config or kubectl apply. The missing \
             annotation will be patched automatically.",
            given.name()
        ));
    }
    let wanted = with_last_applied(wanted.clone(), &wanted);
    let merged = merge(&live, &last, &wanted);
    if merged == live {
        session.print(format!("{name} unchanged{}", dry_run.suffix()));
        return Ok(());
    }
    let object = rebuild(given, merged)?;
    session
        .change(dry_run, update(&object)?)
        .map_err(|failure| from_file(failure, "applying patch for"))?;
    session.print(format!("{name} configured{}", dry_run.suffix()));
    Ok(())
}

/// The object of the same type that has this JSON form.
fn rebuild(like: &Object, value: Value) -> Result<Object, Failure> {
    let wrong = |error: serde_json::Error| Failure::plain(error.to_string());
    Ok(match like {
        Object::Node(_) => Object::Node(Arc::new(serde_json::from_value(value).map_err(wrong)?)),
        Object::Pod(_) => Object::Pod(Arc::new(serde_json::from_value(value).map_err(wrong)?)),
        Object::Other(resource, _) => Object::Other(resource, value),
    })
}

fn with_last_applied(mut value: Value, applied: &Value) -> Value {
    let text = serde_json::to_string(applied).unwrap_or_default() + "\n";
    if let Some(Value::Object(metadata)) = value.get_mut("metadata") {
        let annotations =
            metadata.entry("annotations").or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(annotations) = annotations {
            annotations.insert(LAST_APPLIED.into(), text.into());
        }
    }
    value
}

/// Lays `wanted` over `live`, without what is in `last` and no longer wanted. Lists are replaced,
/// unless all of their items have names, as containers and volumes do.
fn merge(live: &Value, last: &Value, wanted: &Value) -> Value {
    match (live, wanted) {
        (Value::Object(live), Value::Object(wanted)) => {
            let mut merged = live.clone();
            for key in last.as_object().into_iter().flat_map(Map::keys) {
                // Whatever was applied, the object stays what it is.
                if !wanted.contains_key(key) {
                    merged.remove(key);
                }
            }
            for (key, value) in wanted {
                if value.is_null() {
                    merged.remove(key);
                    continue;
                }
                let last = last.get(key).unwrap_or(&Value::Null);
                let value = match live.get(key) {
                    Some(live) => merge(live, last, value),
                    None => value.clone(),
                };
                merged.insert(key.clone(), value);
            }
            Value::Object(merged)
        }
        (Value::Array(old), Value::Array(new)) if named(old) && named(new) => {
            let find = |items: &[Value], name: &str| {
                items.iter().find(|item| text(item, "/name") == name).cloned()
            };
            let applied = last.as_array().map_or(&[][..], Vec::as_slice);
            let mut merged: Vec<Value> = Vec::new();
            for item in old {
                let name = text(item, "/name");
                let last = find(applied, name);
                match find(new, name) {
                    Some(new) => merged.push(merge(item, &last.unwrap_or_default(), &new)),
                    None if last.is_some() => {}
                    None => merged.push(item.clone()),
                }
            }
            let is_new = |item: &&Value| find(old, text(item, "/name")).is_none();
            merged.extend(new.iter().filter(is_new).cloned());
            Value::Array(merged)
        }
        (_, wanted) => wanted.clone(),
    }
}

fn named(items: &[Value]) -> bool {
    items.iter().all(|item| !text(item, "/name").is_empty())
}

/// `kubectl run`.
pub(super) fn run(session: &mut Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let dry_run = arguments.dry_run(session)?;
    let named = arguments.positional.get(..arguments.before_dash).unwrap_or_default();
    let name = match named {
        [name] => name,
        [] => return Err(Failure::usage("run", "NAME is required for run")),
        [_, word, ..] => {
            return Err(Failure::usage(
                "run",
                &format!("exactly one NAME is required, got {word:?} as well"),
            ));
        }
    };
    let Some(image) = arguments.get(&flags::IMAGE).filter(|image| !image.is_empty()) else {
        return Err(Failure::plain("required flag(s) \"image\" not set"));
    };
    let restart = arguments.get(&flags::RESTART).unwrap_or("Always");
    if !matches!(restart, "Always" | "OnFailure" | "Never") {
        return Err(Failure::plain(format!("invalid restart policy: {restart}")));
    }
    let mut labels = Map::new();
    for pair in arguments.get(&flags::LABELS).unwrap_or("").split(',').filter(|p| !p.is_empty()) {
        let Some((key, value)) = pair.split_once('=') else {
            return Err(Failure::plain(format!("unexpected label spec: {pair}")));
        };
        labels.insert(key.to_owned(), value.into());
    }
    if labels.is_empty() {
        labels.insert("run".to_owned(), name.as_str().into());
    }
    let mut container = json!({ "name": name, "image": image, "resources": {} });
    let words = arguments.positional.get(arguments.before_dash..).unwrap_or_default();
    if let (Value::Object(container), false) = (&mut container, words.is_empty()) {
        container.insert("args".into(), words.into());
    }
    let mut value = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": { "name": name, "namespace": session.namespace, "labels": labels },
        "spec": {
            "containers": [container],
            "dnsPolicy": "ClusterFirst",
            "restartPolicy": restart,
        },
    });
    if let Some(overrides) = arguments.get(&flags::OVERRIDES) {
        let overrides: Value = serde_json::from_str(overrides).map_err(|error| {
            Failure::plain(format!("Invalid JSON Patch in --overrides: {error}"))
        })?;
        value = merge(&value, &Value::Null, &overrides);
    }
    let pod: Pod =
        serde_json::from_value(value).map_err(|error| Failure::plain(error.to_string()))?;
    session.change(dry_run, Command::CreatePod(pod))?;
    session.print(format!("pod/{name} created{}", dry_run.suffix()));
    Ok(())
}

/// `kubectl patch`.
pub(super) fn patch(session: &mut Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let dry_run = arguments.dry_run(session)?;
    let Some(text) = arguments.get(&flags::PATCH).filter(|text| !text.is_empty()) else {
        return Err(Failure::plain(
            "must specify --patch or --patch-file containing the contents of the patch",
        ));
    };
    let type_ = arguments.get(&flags::PATCH_TYPE).unwrap_or("strategic").to_lowercase();
    if !matches!(type_.as_str(), "strategic" | "merge") {
        return Err(Failure::plain(format!(
            "--type must be one of [merge strategic] here, not {type_:?}"
        )));
    }
    let patch: Value =
        crate::read_value(text, "--patch", &Limits::default()).map_err(|diagnostics| {
            let lines: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
            Failure::plain(format!("unable to parse {text:?}: {}", lines.join("\n")))
        })?;
    let selection = select(session, &arguments.positional, arguments, TypeAlone::IsAnError)?;
    if selection.types.is_empty() {
        return Err(Failure::plain(
            "You must provide one or more resources by argument or filename.",
        ));
    }
    let mut failures = selection.failures;
    for object in selection.objects {
        let old = object.value();
        let new = if type_ == "merge" {
            merge_patch(&old, &patch)
        } else {
            merge(&old, &Value::Null, &patch)
        };
        let name = object.qualified_name();
        if new == old {
            session.print(format!("{name} patched (no change){}", dry_run.suffix()));
            continue;
        }
        let changed =
            rebuild(&object, new).and_then(|object| session.change(dry_run, update(&object)?));
        match changed {
            Ok(()) => session.print(format!("{name} patched{}", dry_run.suffix())),
            Err(failure) => failures.push(failure),
        }
    }
    Failure::all(failures)
}

/// Mirrors RFC 7396.
fn merge_patch(old: &Value, patch: &Value) -> Value {
    let Value::Object(patch) = patch else { return patch.clone() };
    let mut merged = old.as_object().cloned().unwrap_or_default();
    for (key, value) in patch {
        if value.is_null() {
            merged.remove(key);
        } else {
            let old = merged.get(key).unwrap_or(&Value::Null);
            let value = merge_patch(old, value);
            merged.insert(key.clone(), value);
        }
    }
    Value::Object(merged)
}
