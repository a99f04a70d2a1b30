//! `kubectl get`.

use serde_json::{Value, json};

use crate::arguments::{Selection, TypeAlone, select, types_of};
use crate::failure::Failure;
use crate::flags::{self, Arguments};
use crate::objects::Object;
use crate::path;
use crate::resources::{self, Resource};
use crate::rows;
use crate::selector::format_labels;
use crate::session::Session;
use crate::table::table;

/// How objects are printed.
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
    let output = output(arguments.get(&flags::OUTPUT).unwrap_or(""))?;
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
            let options = Table { wide: *wide, shows_kind, arguments };
            options.print(session, &selection);
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
        _ => {
            return Err(Failure::plain(format!(
                "unable to match a printer suitable for the output format {text:?}, allowed \
                 formats are: custom-columns,json,jsonpath,name,wide,yaml"
            )));
        }
    })
}

/// Sorts by a field that is a number or a text.
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
    keyed.sort_by(|((left, left_text), _), ((right, right_text), _)| match (left, right) {
        (Some(left), Some(right)) => left.total_cmp(right),
        _ => left_text.cmp(right_text),
    });
    for (slot, (_, object)) in objects.iter_mut().zip(keyed) {
        *slot = object;
    }
    Ok(())
}

struct Table<'a> {
    wide: bool,
    shows_kind: bool,
    arguments: &'a Arguments,
}

impl Table<'_> {
    fn print(&self, session: &mut Session<'_>, selection: &Selection) {
        let mut printed = false;
        for resource in &selection.types {
            let objects: Vec<&Object> =
                selection.objects.iter().filter(|object| object.resource() == *resource).collect();
            if objects.is_empty() {
                continue;
            }
            if printed {
                session.print("");
            }
            printed = true;
            let rows = self.rows(session, resource, &objects);
            session.print_text(&table(&rows));
        }
        let nothing_asked_by_name = !selection.by_name && selection.failures.is_empty();
        if !printed && nothing_asked_by_name && !self.arguments.is(&flags::IGNORE_NOT_FOUND) {
            let namespaced = selection.types.iter().all(|resource| resource.namespaced);
            if self.arguments.is(&flags::ALL_NAMESPACES) || !namespaced {
                session.warn("No resources found");
            } else {
                session.warn(format!("No resources found in {} namespace.", session.namespace));
            }
        }
    }

    fn rows(
        &self,
        session: &Session<'_>,
        resource: &'static Resource,
        objects: &[&Object],
    ) -> Vec<Vec<String>> {
        let with_namespace = self.arguments.is(&flags::ALL_NAMESPACES) && resource.namespaced;
        let columns: Vec<&str> = self
            .arguments
            .get(&flags::LABEL_COLUMNS)
            .map_or_else(Vec::new, |text| text.split(',').collect());
        let with_labels = self.arguments.is(&flags::SHOW_LABELS);
        let mut rows = Vec::new();
        if !self.arguments.is(&flags::NO_HEADERS) {
            let mut titles = self.titles(session, resource);
            if with_namespace {
                titles.insert(0, "NAMESPACE".to_owned());
            }
            let last = |key: &&str| key.rsplit('/').next().unwrap_or(key).to_uppercase();
            titles.extend(columns.iter().map(last));
            titles.extend(with_labels.then(|| "LABELS".to_owned()));
            rows.push(titles);
        }
        for object in objects {
            let mut cells = rows::cells(session, object, self.wide);
            if self.shows_kind
                && *resource != resources::EVENTS
                && let Some(name) = cells.first_mut()
            {
                *name = object.qualified_name();
            }
            if with_namespace {
                cells.insert(0, object.namespace().to_owned());
            }
            if !columns.is_empty() || with_labels {
                let labels = object.labels();
                cells.extend(rows::label_cells(&labels, &columns));
                cells.extend(with_labels.then(|| format_labels(&labels)));
            }
            rows.push(cells);
        }
        rows
    }

    fn titles(&self, session: &Session<'_>, resource: &Resource) -> Vec<String> {
        let (mut titles, wide) = rows::titles(session, resource);
        if self.wide && *resource == resources::EVENTS {
            titles = vec![
                "LAST SEEN",
                "TYPE",
                "REASON",
                "OBJECT",
                "SUBOBJECT",
                "SOURCE",
                "MESSAGE",
                "FIRST SEEN",
                "COUNT",
                "NAME",
            ];
        } else if self.wide {
            titles.extend(wide);
        }
        titles.into_iter().map(str::to_owned).collect()
    }
}

/// The objects as values: one that was named alone by itself, others as a list.
fn print_values(
    session: &mut Session<'_>,
    selection: &Selection,
    output: &Output,
    no_headers: bool,
) -> Result<(), Failure> {
    let value = match selection.objects.as_slice() {
        [object] if selection.by_name && selection.failures.is_empty() => complete(object),
        [] if selection.by_name => return Ok(()),
        objects => Resource::list_head(objects.iter().map(complete).collect()),
    };
    match output {
        Output::Yaml => {
            let yaml = taintlab_manifest::to_yaml(&value)
                .map_err(|error| Failure::plain(error.to_string()))?;
            session.print_text(&yaml);
        }
        Output::JsonPath(template) => {
            let text = path::template(template, &value)?;
            session.print_text(&text);
        }
        Output::CustomColumns(spec) => {
            let objects: Vec<Value> = selection.objects.iter().map(complete).collect();
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

/// An object with what the API server fills in when it is read.
fn complete(object: &Object) -> Value {
    let mut value = object.value();
    if let (Object::Pod(pod), Value::Object(fields)) = (object, &mut value)
        && pod.status.phase.is_empty()
    {
        let status = fields.entry("status").or_insert_with(|| json!({}));
        if let Value::Object(status) = status {
            status.insert("phase".into(), rows::phase(pod).into());
        }
    }
    value
}
