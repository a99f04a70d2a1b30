//! `kubectl create`, `replace` and `run`, and the reading of objects for other verbs.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};
use taintlab_core::api::{Pod, json_value, object};
use taintlab_core::command::Command;
use taintlab_manifest::typed;
use taintlab_manifest::{Diagnostic, Limits, import};

use crate::commands::{creation, is_creatable, uncreatable, update};
use crate::failure::Failure;
use crate::fields;
use crate::flags::{self, Arguments};
use crate::objects::Object;
use crate::patch::merge;
use crate::resources;
use crate::session::{DryRun, Session};

/// Reads the objects of `-f -`, in the namespace in force.
pub(crate) fn read(
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
        // After an error `kubectl` takes none of the objects.
        .map(|error| Diagnostic { object: None, consequence: None, ..error.clone() }.to_string())
        .collect();
    if !errors.is_empty() {
        return Err(Failure::plain(format!("error parsing STDIN: {}", errors.join("\n"))));
    }
    session.warn_of_dropped(import.dropped);
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
        let (api_version, kind) =
            (fields::text(&value, "/apiVersion"), fields::text(&value, "/kind"));
        match resources::of_kind(session.release(), api_version, kind) {
            Some(resource) => {
                let mut value = value;
                if resource.namespaced && resources::is_of_devices(resource) {
                    let mut namespace = fields::text(&value, "/metadata/namespace").to_owned();
                    place(session, &mut namespace)?;
                    if let Some(Value::Object(metadata)) = value.get_mut("metadata") {
                        metadata.insert("namespace".into(), namespace.into());
                    }
                }
                objects.push(Object::Other(resource, value));
            }
            None => {
                let name = fields::text(&value, "/metadata/name");
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
    json_value(object).map_err(|error| Failure::plain(error.to_string()))
}

/// Sets the namespace in force in an object that names none.
fn place(session: &Session<'_>, namespace: &mut String) -> Result<(), Failure> {
    // The import puts an object without a namespace into `default`.
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
pub(crate) fn create(session: &mut Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
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
        let resource = resources::find(what)?;
        if !is_creatable(resource) {
            return Err(uncreatable(resource));
        }
        return Err(Failure::plain(format!(
            "`kubectl create {what}` is not possible here; use `kubectl create -f -`"
        )));
    }
    each(session, arguments, "create", |session, object| create_one(session, &object, dry_run))
}

pub(crate) fn each(
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

pub(crate) fn create_one(
    session: &mut Session<'_>,
    object: &Object,
    dry_run: DryRun,
) -> Result<(), Failure> {
    session.change(dry_run, creation(object)?).map_err(|failure| from_file(failure, "creating"))?;
    session.print(format!("{} created{}", object.qualified_name(), dry_run.suffix()));
    Ok(())
}

/// Adds to an API server's refusal where the object came from.
pub(crate) fn from_file(failure: Failure, doing: &str) -> Failure {
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
pub(crate) fn replace(session: &mut Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
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

/// The object that `kubectl create deployment` creates.
/// Metadata of an object in the namespace of the session.
fn metadata(session: &Session<'_>, name: &str, labels: Value) -> Value {
    object(&mut [
        ("name", name.into()),
        ("namespace", session.namespace.as_str().into()),
        ("labels", labels),
    ])
}

fn deployment(session: &Session<'_>, arguments: &Arguments, name: &str) -> Result<Object, Failure> {
    let Some(image) = arguments.get(&flags::IMAGE).filter(|image| !image.is_empty()) else {
        return Err(Failure::plain("required flag(s) \"image\" not set"));
    };
    let replicas = arguments.number(&flags::REPLICAS).unwrap_or(1);
    if replicas < 0 {
        return Err(Failure::plain(format!("--replicas must be >= 0, not {replicas}")));
    }
    let container = image.rsplit('/').next().unwrap_or(image).split([':', '@']).next();
    let labels = object(&mut [("app", name.into())]);
    let container = object(&mut [("name", container.into()), ("image", image.into())]);
    let template = object(&mut [
        ("metadata", object(&mut [("labels", labels.clone())])),
        ("spec", object(&mut [("containers", vec![container].into())])),
    ]);
    let spec = object(&mut [
        ("replicas", replicas.into()),
        ("selector", object(&mut [("matchLabels", labels.clone())])),
        ("template", template),
    ]);
    let value = object(&mut [
        ("apiVersion", "apps/v1".into()),
        ("kind", "Deployment".into()),
        ("metadata", metadata(session, name, labels)),
        ("spec", spec),
    ]);
    Ok(Object::Other(&resources::DEPLOYMENTS, value))
}

/// `kubectl run`.
pub(crate) fn run(session: &mut Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let dry_run = arguments.dry_run(session)?;
    let tells_policies = session.release().run_tells_restart_policies();
    let wrong = |text: &str| match tells_policies {
        true => Failure::plain(text),
        false => Failure::usage("run", text),
    };
    let named = arguments.positional.get(..arguments.before_dash).unwrap_or_default();
    let name = match named {
        [name] => name,
        [] => return Err(wrong("NAME is required for run")),
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
        let valid = ", valid values are: Always, OnFailure, Never";
        let valid = if tells_policies { valid } else { "" };
        return Err(wrong(&format!("invalid restart policy: {restart}{valid}")));
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
    let mut container = object(&mut [
        ("name", name.as_str().into()),
        ("image", image.into()),
        ("resources", object(&mut [])),
    ]);
    let words = arguments.positional.get(arguments.before_dash..).unwrap_or_default();
    if let (Value::Object(container), false) = (&mut container, words.is_empty()) {
        container.insert("args".into(), words.into());
    }
    let spec = object(&mut [
        ("containers", vec![container].into()),
        ("dnsPolicy", "ClusterFirst".into()),
        ("restartPolicy", restart.into()),
    ]);
    let mut value = object(&mut [
        ("apiVersion", "v1".into()),
        ("kind", "Pod".into()),
        ("metadata", metadata(session, name, labels.into())),
        ("spec", spec),
    ]);
    if let Some(overrides) = arguments.get(&flags::OVERRIDES) {
        let overrides: Value = serde_json::from_str(overrides).map_err(|error| {
            Failure::plain(format!("Invalid JSON Patch in --overrides: {error}"))
        })?;
        value = merge(&value, &Value::Null, &overrides);
    }
    let pod: Pod = typed(&value).map_err(Failure::plain)?;
    session.change(dry_run, Command::CreatePod(pod))?;
    session.print(format!("pod/{name} created{}", dry_run.suffix()));
    Ok(())
}
