//! `kubectl describe`. Mirrors `k8s.io/kubectl/pkg/describe`.

mod node;
mod pod;

use std::collections::BTreeMap;

use serde_json::Value;
use taintlab_core::api::Quantity;
use taintlab_core::time::Time;

use crate::arguments::{TypeAlone, select, types_of};
use crate::events;
use crate::failure::Failure;
use crate::flags::{self, Arguments};
use crate::objects::{Object, number, text};
use crate::rows;
use crate::session::Session;
use crate::table::align;

/// `kubectl describe`.
pub(crate) fn describe(session: &mut Session<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let words = arguments.positional.as_slice();
    let Some(type_) = words.first() else {
        return Err(Failure::plain(
            "You must specify the type of resource to describe. Use \"kubectl api-resources\" for \
             a complete list of supported resources.",
        ));
    };
    let mut selection = select(session, words, arguments, TypeAlone::MeansAll)?;
    // A name that is not there is the beginning of others.
    if let ([_, prefix], true) = (words, selection.objects.is_empty()) {
        let mut types = types_of(type_)?;
        if let (Some(resource), true) = (types.pop(), types.is_empty()) {
            let namespace = resource.namespaced.then_some(&*session.namespace);
            let mut objects = session.list(resource, namespace);
            objects.retain(|object| object.name().starts_with(prefix.as_str()));
            if !objects.is_empty() {
                selection.objects = objects;
                selection.failures.clear();
            }
        }
    }
    let with_events =
        arguments.get(&flags::SHOW_EVENTS).is_none_or(|_| arguments.is(&flags::SHOW_EVENTS));
    for (index, object) in selection.objects.iter().enumerate() {
        if index > 0 {
            session.print_text("\n\n");
        }
        let mut page = Page::default();
        match object {
            Object::Node(node) => node::describe(session, node, &mut page),
            Object::Pod(pod) => pod::describe(session, pod, &mut page),
            Object::Other(_, value) => other(value, &mut page),
        }
        if with_events {
            page.events(session, object);
        }
        session.print_text(&align(&page.text, 0, 2));
    }
    if selection.objects.is_empty() && selection.failures.is_empty() {
        if arguments.is(&flags::ALL_NAMESPACES)
            || selection.types.iter().any(|resource| !resource.namespaced)
        {
            session.warn("No resources found");
        } else {
            session.warn(format!("No resources found in {} namespace.", session.namespace));
        }
    }
    Failure::all(selection.failures)
}

/// A text whose cells are separated by tabs.
#[derive(Default)]
pub(crate) struct Page {
    text: String,
}

impl Page {
    /// A line.
    fn line(&mut self, text: impl AsRef<str>) {
        self.text.push_str(text.as_ref());
        self.text.push('\n');
    }

    /// `Name:` and a value.
    fn field(&mut self, name: &str, value: impl AsRef<str>) {
        self.line(format!("{name}:\t{}", value.as_ref()));
    }

    /// Values below one another, or `<none>`.
    fn lines(&mut self, name: &str, values: &[String]) {
        let Some((first, rest)) = values.split_first() else { return self.field(name, "<none>") };
        self.field(name, first);
        for value in rest {
            self.line(format!("\t{value}"));
        }
    }

    fn labels(&mut self, name: &str, labels: &BTreeMap<String, String>) {
        let lines: Vec<String> =
            labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        self.lines(name, &lines);
    }

    fn annotations(&mut self, annotations: &BTreeMap<String, String>) {
        let lines: Vec<String> = annotations
            .iter()
            .filter(|(key, _)| *key != "kubectl.kubernetes.io/last-applied-configuration")
            .map(|(key, value)| format!("{key}: {}", value.trim_end().replace('\n', "\n\t")))
            .collect();
        self.lines("Annotations", &lines);
    }

    /// Mirrors `DescribeEvents`.
    fn events(&mut self, session: &Session<'_>, object: &Object) {
        let kind = object.resource().kind;
        if kind == "Event" {
            return;
        }
        let events = events::about(session, kind, object.namespace(), object.name());
        if events.is_empty() {
            return self.field("Events", "<none>");
        }
        self.line("Events:\n  Type\tReason\tAge\tFrom\tMessage");
        self.line("  ----\t------\t----\t----\t-------");
        for event in &events {
            let since = |pointer: &str| rows::age(session, rows::time_at(event, pointer));
            let first = since("/firstTimestamp");
            let age = match number(event, "/count") {
                Some(count @ 2..) => format!("{} (x{count} over {first})", since("/lastTimestamp")),
                _ => first,
            };
            self.line(format!(
                "  {}\t{}\t{age}\t{}\t{}",
                text(event, "/type"),
                text(event, "/reason"),
                text(event, "/source/component"),
                text(event, "/message").trim(),
            ));
        }
    }
}

/// An amount as the API server prints it, which stores it in canonical form.
fn amount(value: &Value) -> String {
    let text = crate::path::plain_text(value);
    Quantity::parse(&text).map_or(text, |quantity| quantity.to_string())
}

/// A time as Go's `time.RFC1123Z` has it.
fn rfc1123(time: Option<Time>) -> String {
    time.unwrap_or(Time::ZERO_OF_GO).to_rfc1123()
}

/// An object of which nothing more is known than its fields. Mirrors the describer of custom
/// resources.
fn other(value: &Value, page: &mut Page) {
    let field = |pointer: &str| text(value, pointer).to_owned();
    page.field("Name", field("/metadata/name"));
    page.field("Namespace", field("/metadata/namespace"));
    page.labels("Labels", &crate::objects::string_map(value.pointer("/metadata/labels")));
    page.annotations(&crate::objects::string_map(value.pointer("/metadata/annotations")));
    page.field("API Version", field("/apiVersion"));
    page.field("Kind", field("/kind"));
    page.line("Metadata:");
    page.line(format!("  Creation Timestamp:\t{}", field("/metadata/creationTimestamp")));
    for (key, value) in value.as_object().into_iter().flatten() {
        if !matches!(key.as_str(), "apiVersion" | "kind" | "metadata") {
            tree(page, 0, key, value);
        }
    }
}

/// A field and what is below it.
fn tree(page: &mut Page, level: usize, key: &str, value: &Value) {
    let indent = "  ".repeat(level);
    let label = spaced(key);
    match value {
        Value::Object(map) => {
            page.line(format!("{indent}{label}:"));
            for (key, value) in map {
                tree(page, level + 1, key, value);
            }
        }
        Value::Array(items) => {
            page.line(format!("{indent}{label}:"));
            for item in items {
                match item {
                    Value::Object(map) => {
                        for (key, value) in map {
                            tree(page, level + 1, key, value);
                        }
                    }
                    item => page.line(format!("{indent}  {}", crate::path::plain_text(item))),
                }
            }
        }
        value => page.line(format!("{indent}{label}:\t{}", crate::path::plain_text(value))),
    }
}

/// `nodeName` as `Node Name`. Mirrors `smartLabelFor`.
fn spaced(key: &str) -> String {
    if key.contains(['/', '.', '-']) {
        return key.to_owned();
    }
    let mut out = String::new();
    for (index, c) in key.chars().enumerate() {
        if index == 0 {
            out.extend(c.to_uppercase());
        } else {
            if c.is_uppercase() {
                out.push(' ');
            }
            out.push(c);
        }
    }
    out
}
