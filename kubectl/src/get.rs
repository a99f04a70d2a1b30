//! `kubectl get`.

use serde_json::{Value, json};
use taintlab_core::api::{Pod, default_pod, json_value};
use taintlab_core::order::Order;

use crate::arguments::{Selection, TypeAlone, select, types_of};
use crate::failure::Failure;
use crate::flags::{self, Arguments};
use crate::objects::Object;
use crate::path;
use crate::print::{Table, TableOptions};
use crate::resources::{self, Resource};
use crate::session::Session;
use crate::table::table;

/// The format of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Output {
    Table { wide: bool },
    Yaml,
    Json,
    Name,
    JsonPath(String),
    CustomColumns(String),
}

/// `kubectl get`.
pub(crate) fn get(session: &mut Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let format = arguments.get(&flags::OUTPUT).unwrap_or("");
    let output = output(format)?;
    if matches!(output, Output::CustomColumns(_))
        && arguments.get(&flags::LABEL_COLUMNS).is_some_and(|columns| !columns.is_empty())
        && session.release().get_refuses_labels_of_custom_columns()
    {
        return Err(Failure::plain(format!(
            "--label-columns option cannot be used with {format} printer"
        )));
    }
    if arguments.is(&flags::WATCH_OBJECTS) {
        return Err(Failure::plain(
            "--watch is not possible here: time stands still while a command runs",
        ));
    }
    let words = arguments.positional.as_slice();
    let Some(first) = words.first() else {
        session.warn(
            "You must specify the type of resource to get. Use \"kubectl api-resources\" for a \
             complete list of supported resources.\n",
        );
        return Err(Failure::usage(
            "get",
            "Required resource not specified.\nUse \"kubectl explain <resource>\" for a detailed \
             description of that resource (e.g. kubectl explain pods).",
        ));
    };
    let mut selection = select(session, words, arguments, TypeAlone::MeansAll)?;
    if arguments.is(&flags::IGNORE_NOT_FOUND) {
        selection.failures.clear();
    }
    if let Some(field) = arguments.get(&flags::SORT_BY).filter(|field| !field.is_empty()) {
        sort(&mut selection.objects, field)?;
    }
    let shows_kind = arguments.is(&flags::SHOW_KIND)
        || selection.types.len() > 1
        || (!first.contains('/') && types_of(first).is_ok_and(|types| types.len() > 1));
    match &output {
        Output::Table { wide } => {
            let options = table_options(arguments, *wide, shows_kind);
            print_tables(session, &selection, arguments, &options);
        }
        Output::Name => {
            for object in &selection.objects {
                session.print(object.qualified_name());
            }
        }
        _ => {
            let no_headers = arguments.is(&flags::NO_HEADERS);
            print_values(session, &selection, &output, no_headers)?;
        }
    }
    Failure::all(selection.failures)
}

fn output(text: &str) -> Result<Output, Failure> {
    Ok(match text.split_once('=').map_or((text, ""), |(kind, rest)| (kind, rest)) {
        ("", "") => Output::Table { wide: false },
        ("wide", "") => Output::Table { wide: true },
        ("yaml", "") => Output::Yaml,
        ("json", "") => Output::Json,
        ("name", "") => Output::Name,
        ("jsonpath", template) if !template.is_empty() => Output::JsonPath(template.to_owned()),
        ("custom-columns", spec) if !spec.is_empty() => Output::CustomColumns(spec.to_owned()),
        ("jsonpath", _) => {
            return Err(Failure::plain("template format specified but no template given"));
        }
        ("custom-columns", _) => {
            return Err(Failure::plain(
                "custom-columns format specified but no custom columns given",
            ));
        }
        _ => return Err(no_printer(text, "custom-columns,json,jsonpath,name,wide,yaml")),
    })
}

/// Mirrors `NoCompatiblePrinterError`.
pub(crate) fn no_printer(text: &str, formats: &str) -> Failure {
    Failure::plain(format!(
        "unable to match a printer suitable for the output format {text:?}, allowed formats are: \
         {formats}"
    ))
}

/// Sorts objects by a field that is a number or a text.
fn sort(objects: &mut [Object], field: &str) -> Result<(), Failure> {
    let path = path::relaxed(field)?;
    let key = |object: &Object| {
        let found = path.evaluate(&object.value());
        let number = found.first().and_then(Value::as_f64);
        let text = found.first().map(path::plain_text);
        (number, text)
    };
    let mut keyed: Vec<_> = objects.iter().map(|object| (key(object), object.clone())).collect();
    if !keyed.is_empty() && keyed.iter().all(|((_, text), _)| text.is_none()) {
        return Err(Failure::plain(format!("couldn't find any field with path {field:?}")));
    }
    keyed.order_by(|((left, left_text), _), ((right, right_text), _)| match (left, right) {
        (Some(left), Some(right)) => left.total_cmp(right),
        _ => left_text.cmp(right_text),
    });
    for (slot, (_, object)) in objects.iter_mut().zip(keyed) {
        *slot = object;
    }
    Ok(())
}

/// The options of the table that the flags ask for.
fn table_options(arguments: &Arguments, wide: bool, with_kind: bool) -> TableOptions {
    let columns = arguments.get(&flags::LABEL_COLUMNS).map(|text| text.split(','));
    TableOptions {
        wide,
        no_headers: arguments.is(&flags::NO_HEADERS),
        all_namespaces: arguments.is(&flags::ALL_NAMESPACES),
        show_labels: arguments.is(&flags::SHOW_LABELS),
        with_kind,
        label_columns: columns.into_iter().flatten().map(str::to_owned).collect(),
    }
}

fn print_tables(
    session: &mut Session<'_>,
    selection: &Selection,
    arguments: &Arguments,
    options: &TableOptions,
) {
    let mut printed = false;
    for resource in &selection.types {
        let objects = selection.objects.iter().filter(|object| object.resource() == *resource);
        let objects: Vec<Object> = objects.map(|object| session.served(object)).collect();
        if objects.is_empty() {
            continue;
        }
        if printed {
            session.print("");
        }
        printed = true;
        let peers = match selection.by_name && **resource == resources::STORAGE_CLASSES {
            true => session.list(resource, None),
            false => Vec::new(),
        };
        let table = Table::of(session.view(), resource, &objects, &peers, options);
        session.print_text(&table.text(options));
    }
    let nothing_asked_by_name = !selection.by_name && selection.failures.is_empty();
    if !printed && nothing_asked_by_name && !arguments.is(&flags::IGNORE_NOT_FOUND) {
        let namespaced = selection.types.iter().all(|resource| resource.namespaced);
        if arguments.is(&flags::ALL_NAMESPACES) || !namespaced {
            session.warn("No resources found");
        } else {
            session.warn(format!("No resources found in {} namespace.", session.namespace));
        }
    }
}

/// Prints objects as values: a single object that the line names by itself, others as a list.
fn print_values(
    session: &mut Session<'_>,
    selection: &Selection,
    output: &Output,
    no_headers: bool,
) -> Result<(), Failure> {
    let value = match selection.objects.as_slice() {
        [object] if selection.by_name && selection.failures.is_empty() => complete(session, object),
        [] if selection.by_name => return Ok(()),
        objects => Resource::list_head(objects.iter().map(|o| complete(session, o)).collect()),
    };
    match output {
        Output::Yaml => {
            session.print_text(&taintlab_manifest::to_kubectl_yaml(&value));
        }
        Output::JsonPath(template) => {
            let text = path::template(template, &value)?;
            session.print_text(&text);
        }
        Output::CustomColumns(spec) => {
            let objects = selection.objects.iter();
            let objects: Vec<Value> = objects.map(|object| complete(session, object)).collect();
            let mut rows = path::columns(spec, &objects)?;
            if no_headers {
                rows.remove(0);
            }
            session.print_text(&table(&rows));
        }
        _ => session.print(taintlab_manifest::to_json(&value)),
    }
    Ok(())
}

/// An object with all fields that an API server would have.
fn complete(session: &Session<'_>, object: &Object) -> Value {
    match session.served(object) {
        Object::Pod(pod) => {
            let mut pod = Pod::clone(&pod);
            default_pod(&mut pod, session.release());
            let mut value = json_value(&pod).unwrap_or_default();
            // A kubelet writes a zero time here, which is served as `null`.
            default_each(&mut value, "/status/conditions", "lastProbeTime", &Value::Null);
            for list in ["/status/containerStatuses", "/status/initContainerStatuses"] {
                default_each(&mut value, list, "lastState", &json!({}));
            }
            value
        }
        Object::Node(node) => {
            let mut value = json_value(node.as_ref()).unwrap_or_default();
            if let Some(Value::Object(status)) = value.get_mut("status") {
                // Every kubelet reports the port on which it listens.
                let endpoints = json!({ "kubeletEndpoint": { "Port": 10250 } });
                status.entry("daemonEndpoints").or_insert(endpoints);
            }
            value
        }
        object => object.value(),
    }
}

/// Sets a field in each element of a list that lacks it.
fn default_each(value: &mut Value, list: &str, field: &str, default: &Value) {
    let items = value.pointer_mut(list).and_then(Value::as_array_mut);
    for item in items.into_iter().flatten().filter_map(Value::as_object_mut) {
        item.entry(field).or_insert_with(|| default.clone());
    }
}
