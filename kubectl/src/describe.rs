//! `kubectl describe`. Mirrors `k8s.io/kubectl/pkg/describe`.

mod containers;
mod node;
mod pod;
mod resources;
mod storage;
mod volumes;
mod workloads;

use std::collections::BTreeMap;
use std::fmt::{Display, Write};
use std::sync::Arc;

use serde_json::Value;
use taintlab_core::api::{Pod, PodKey, pod_claims};
use taintlab_core::order::Order;
use taintlab_core::release::KubernetesRelease;
use taintlab_core::time::Time;

use crate::arguments::{TypeAlone, select, types_of};
use crate::events;
use crate::failure::Failure;
use crate::fields::{number, string_map, text, time_at};
use crate::flags::{self, Arguments};
use crate::objects::Object;
use crate::resources as types;
use crate::session::Session;
use crate::table::align;
use crate::view::View;

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
    let one = selection.objects.len() == 1 && selection.failures.is_empty();
    // A name that does not exist may be a prefix of others.
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
    let by_default = one || !session.release().describe_shows_events_of_one_object();
    let with_events = match arguments.get(&flags::SHOW_EVENTS) {
        None => by_default,
        Some(_) => arguments.is(&flags::SHOW_EVENTS),
    };
    for (index, object) in selection.objects.iter().enumerate() {
        if index > 0 {
            session.print_text("\n\n");
        }
        let surroundings = Surroundings::of(session, object, with_events);
        let page = page(session.view(), &session.served(object), &surroundings);
        session.print_text(&page);
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

/// Other objects that a page about an object refers to. There may be more than the page needs.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    pods: Vec<Arc<Pod>>,
    replica_sets: Vec<Value>,
    leases: Vec<Value>,
    resource_slices: Vec<Value>,
    /// Events about the object; absent with `--show-events=false`.
    events: Option<Vec<Value>>,
}

impl Surroundings {
    /// Objects of any kind, each with its `kind`, and the events about the object, if they are
    /// shown.
    ///
    /// # Errors
    /// An object is not of its kind, or no page refers to objects of that kind.
    pub fn read(others: &[Value], events: Option<Vec<Value>>) -> Result<Self, String> {
        let mut surroundings = Self { events, ..Self::default() };
        for value in others {
            let kind = text(value, "/kind");
            match (kind, Object::read(kind, value)?) {
                (_, Object::Pod(pod)) => surroundings.pods.push(pod),
                ("ReplicaSet", _) => surroundings.replica_sets.push(value.clone()),
                ("Lease", _) => surroundings.leases.push(value.clone()),
                ("ResourceSlice", _) => surroundings.resource_slices.push(value.clone()),
                _ => return Err(format!("no page tells of a `{kind}`")),
            }
        }
        Ok(surroundings)
    }

    fn of(session: &Session<'_>, object: &Object, with_events: bool) -> Self {
        let namespace = Some(object.namespace());
        let values = |resource: &'static types::Resource, namespace| -> Vec<Value> {
            session.list(resource, namespace).iter().map(Object::value).collect()
        };
        let served = |object: Object| match session.served(&object) {
            Object::Pod(pod) => Some(pod),
            _ => None,
        };
        let mut surroundings = Self::default();
        if let Object::Node(_) = object {
            surroundings.pods = session.pods_of(object.name()).filter_map(served).collect();
            surroundings.leases.extend(session.lease(object.name()));
            surroundings.resource_slices = values(&types::RESOURCE_SLICES, None);
        } else if matches!(object, Object::Other(..)) && object.resource().group == "apps" {
            let pods = session.list(&types::PODS, namespace).into_iter();
            surroundings.pods = pods.filter_map(served).collect();
            if *object.resource() == types::DEPLOYMENTS {
                surroundings.replica_sets = values(&types::REPLICA_SETS, namespace);
            }
        }
        if *object.resource() == types::CLAIMS {
            let claim = PodKey::new(object.namespace(), object.name());
            let pods = session.list(&types::PODS, namespace).into_iter().filter_map(served);
            surroundings.pods = pods.filter(|pod| pod_claims(pod).contains(&claim)).collect();
        }
        surroundings.events = with_events.then(|| events_about(session, object));
        surroundings
    }
}

/// The events about one object.
fn events_about(session: &Session<'_>, object: &Object) -> Vec<Value> {
    let kind = object.resource().kind;
    let release = session.release();
    let is_about = |event: &Value| match object {
        // As kubelets do, old releases take a node's name for its UID.
        Object::Node(node) => {
            release.describe_node_shows_events_of_controllers()
                || text(event, "/involvedObject/uid") == node.metadata.name
        }
        Object::Pod(pod) => text(event, "/involvedObject/uid") == pod.metadata.uid,
        Object::Other(..) => true,
    };
    let mut events = events::values(session.context);
    events.retain(|event| {
        text(event, "/involvedObject/kind") == kind
            && text(event, "/involvedObject/name") == object.name()
            && text(event, "/involvedObject/namespace") == object.namespace()
            && is_about(event)
    });
    events
}

/// The page about an object.
pub(crate) fn page(view: View, object: &Object, surroundings: &Surroundings) -> String {
    let mut page = Page { text: String::new(), view };
    let resource = object.resource();
    match object {
        Object::Node(node) => node::describe(node, surroundings, &mut page),
        Object::Pod(pod) => pod::describe(pod, &mut page),
        Object::Other(_, value) if *resource == types::DEPLOYMENTS => {
            workloads::deployment(value, surroundings, &mut page);
        }
        Object::Other(_, value) if *resource == types::REPLICA_SETS => {
            workloads::replica_set(value, surroundings, &mut page);
        }
        Object::Other(_, value) if *resource == types::STATEFUL_SETS => {
            workloads::stateful_set(value, surroundings, &mut page);
        }
        Object::Other(_, value) if *resource == types::DAEMON_SETS => {
            workloads::daemon_set(value, surroundings, &mut page);
        }
        Object::Other(_, value) if *resource == types::JOBS => workloads::job(value, &mut page),
        Object::Other(_, value) if *resource == types::BUDGETS => {
            workloads::budget(value, &mut page);
        }
        Object::Other(_, value) if *resource == types::PRIORITY_CLASSES => {
            workloads::priority_class(value, &mut page);
        }
        Object::Other(_, value) if *resource == types::VOLUMES => {
            storage::volume(value, &mut page);
        }
        Object::Other(_, value) if *resource == types::CLAIMS => {
            storage::claim(value, surroundings, &mut page);
        }
        Object::Other(_, value) if *resource == types::STORAGE_CLASSES => {
            storage::storage_class(value, &mut page);
        }
        Object::Other(_, value) => other(value, &mut page),
    }
    if let Some(events) = &surroundings.events
        && *resource != types::EVENTS
    {
        page.events(events);
    }
    align(&page.text, 0, 2)
}

/// A page with cells separated by tabs, and its view.
struct Page {
    text: String,
    view: View,
}

impl Page {
    /// Writes a line.
    fn line(&mut self, text: impl Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{text}");
    }

    /// Writes `NAME:` and a value.
    fn field(&mut self, name: &str, value: impl Display) {
        self.line(format_args!("{name}:\t{value}"));
    }

    /// Writes values below one another, or `<none>`.
    fn lines(&mut self, name: &str, values: impl IntoIterator<Item = String>) {
        let mut values = values.into_iter();
        self.field(name, values.next().unwrap_or_else(|| "<none>".to_owned()));
        for value in values {
            self.line(format_args!("\t{value}"));
        }
    }

    fn labels(&mut self, name: &str, labels: &BTreeMap<String, String>) {
        self.lines(name, labels.iter().map(|(key, value)| format!("{key}={value}")));
    }

    /// Writes annotations. Mirrors `printAnnotationsMultiline`.
    fn annotations(&mut self, name: &str, annotations: &BTreeMap<String, String>) {
        /// Greatest length of an annotation on one line, in bytes.
        const LONGEST: usize = 140;
        let shorten = |line: &str| {
            let end = line.floor_char_boundary(LONGEST - 2);
            line.get(..end)
                .filter(|_| line.len() > LONGEST - 2)
                .map_or_else(|| line.to_owned(), |start| format!("{start}..."))
        };
        let annotations =
            annotations.iter().filter(|(key, _)| *key != taintlab_manifest::LAST_APPLIED);
        let lines = annotations.map(|(key, value)| {
            let value = value.strip_suffix('\n').unwrap_or(value);
            if value.len() + key.len() + 2 <= LONGEST && !value.contains('\n') {
                return format!("{key}: {value}");
            }
            let lines = value.split('\n').map(|line| format!("\n\t  {}", shorten(line)));
            format!("{key}:{}", lines.collect::<String>())
        });
        self.lines(name, lines);
    }

    /// Writes labels and annotations, which follow the name on most pages.
    fn metadata(&mut self, value: &Value) {
        self.labels("Labels", &string_map(value.pointer("/metadata/labels")));
        self.annotations("Annotations", &string_map(value.pointer("/metadata/annotations")));
    }

    /// Writes the events. Mirrors `DescribeEvents`.
    fn events(&mut self, events: &[Value]) {
        if events.is_empty() {
            return self.field("Events", "<none>");
        }
        let mut events: Vec<&Value> = events.iter().collect();
        events.order_by_key(|event| time_at(event, "/lastTimestamp"));
        self.line("Events:\n  Type\tReason\tAge\tFrom\tMessage");
        self.line("  ----\t------\t----\t----\t-------");
        for event in events {
            let from = self.event_source(event);
            let mut message = text(event, "/message").trim().to_owned();
            let path = text(event, "/involvedObject/fieldPath");
            if !path.is_empty() && self.view.release.describe_tells_field_path_of_events() {
                message = format!("{path}: {message}");
            }
            self.line(format_args!(
                "  {}\t{}\t{}\t{from}\t{message}",
                text(event, "/type"),
                text(event, "/reason"),
                self.event_age(event),
            ));
        }
    }

    fn event_age(&self, event: &Value) -> String {
        let view = self.view;
        let time = |pointer: &str| time_at(event, pointer);
        let (first, created) = (time("/firstTimestamp"), time("/eventTime"));
        let first = if view.release.describe_reads_event_series() {
            created.or(first)
        } else if view.release.describe_reads_event_time() {
            first.or(created)
        } else {
            first
        };
        let first = view.age(first);
        let series = event.get("series").filter(|series| series.is_object());
        if let Some(series) = series.filter(|_| view.release.describe_reads_event_series()) {
            let last = view.age(time_at(series, "/lastObservedTime"));
            return format!("{last} (x{} over {first})", number(series, "/count").unwrap_or(0));
        }
        match number(event, "/count") {
            Some(count @ 2..) => {
                // Releases without event series read only the old fields.
                let last = view.age(time("/lastTimestamp"));
                let first = match view.release.describe_reads_event_series() {
                    true => first,
                    false => view.age(time("/firstTimestamp")),
                };
                format!("{last} (x{count} over {first})")
            }
            _ => first,
        }
    }

    fn event_source(&self, event: &Value) -> String {
        let component = text(event, "/source/component");
        if self.view.release.describe_names_reporting_controller() {
            return match component {
                "" => text(event, "/reportingComponent").to_owned(),
                component => component.to_owned(),
            };
        }
        match text(event, "/source/host") {
            "" => component.to_owned(),
            host => format!("{component}, {host}"),
        }
    }
}

/// A time in the format of Go's `time.RFC1123Z`.
fn rfc1123(time: Option<Time>) -> String {
    time.unwrap_or(Time::ZERO_OF_GO).to_rfc1123()
}

/// Describes an object by its fields alone. Mirrors the describer of custom resources.
fn other(value: &Value, page: &mut Page) {
    let field = |pointer: &str| text(value, pointer).to_owned();
    page.field("Name", field("/metadata/name"));
    page.field("Namespace", field("/metadata/namespace"));
    page.metadata(value);
    page.field("API Version", field("/apiVersion"));
    page.field("Kind", field("/kind"));
    page.line("Metadata:");
    page.line(format_args!("  Creation Timestamp:\t{}", field("/metadata/creationTimestamp")));
    for (key, value) in value.as_object().into_iter().flatten() {
        if !matches!(key.as_str(), "apiVersion" | "kind" | "metadata") {
            tree(page, 0, key, value);
        }
    }
}

/// Writes a field and the fields below it.
fn tree(page: &mut Page, level: usize, key: &str, value: &Value) {
    let indent = "  ".repeat(level);
    let label = label_for(page.view.release, key);
    match value {
        Value::Object(map) => {
            page.line(format_args!("{indent}{label}:"));
            for (key, value) in map {
                tree(page, level + 1, key, value);
            }
        }
        Value::Array(items) => {
            page.line(format_args!("{indent}{label}:"));
            for item in items {
                match item {
                    Value::Object(map) => {
                        for (key, value) in map {
                            tree(page, level + 1, key, value);
                        }
                    }
                    item => {
                        page.line(format_args!("{indent}  {}", crate::path::plain_text(item)));
                    }
                }
            }
        }
        value => {
            page.line(format_args!("{indent}{label}:\t{}", crate::path::plain_text(value)));
        }
    }
}

/// A field name as a title: `nodeName` becomes `Node Name`. Mirrors `smartLabelFor`.
fn label_for(release: KubernetesRelease, field: &str) -> String {
    if field.contains(|c: char| !c.is_ascii_alphabetic() && c != '-') {
        return field.to_owned();
    }
    let keeps_case = release.describe_keeps_case_of_names();
    let is_acronym = |part: &str| {
        let acronyms = ["API", "URL", "UID", "GUID"];
        acronyms.contains(&part) || (part == "OSB" && !keeps_case)
    };
    let is_upper = |part: &str| part.chars().all(|c| !c.is_ascii_lowercase());
    let mut label = String::new();
    let mut parts = camel_case(field).into_iter().peekable();
    while let Some(mut part) = parts.next() {
        // `podCIDRs` is split into `pod`, `CID` and `Rs`.
        let joins = keeps_case && part.len() >= 2 && is_upper(&part);
        if let Some(next) =
            parts.next_if(|next| joins && next.starts_with(|c: char| c.is_ascii_uppercase()))
        {
            part.push_str(&next);
        }
        if !label.is_empty() {
            label.push(' ');
        }
        if is_acronym(&part.to_ascii_uppercase()) {
            label.push_str(&part.to_ascii_uppercase());
        } else if keeps_case && part.contains(|c: char| c.is_ascii_uppercase()) {
            label.push_str(&part);
        } else {
            label.push_str(&capitalized(&part.to_ascii_lowercase()));
        }
    }
    label
}

/// A text with a capital at its start.
fn capitalized(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().into_iter().map(|first| first.to_ascii_uppercase()).chain(rest).collect()
}

/// The words of a name in camel case; of capitals before a small letter the last one belongs to it.
/// Mirrors `camelcase.Split`.
fn camel_case(name: &str) -> Vec<String> {
    let class = |c: char| (c.is_ascii_lowercase(), c.is_ascii_uppercase());
    let mut parts: Vec<String> = Vec::new();
    let mut last = None;
    for c in name.chars() {
        match parts.last_mut() {
            Some(part) if last.is_some_and(|last| class(last) == class(c)) => part.push(c),
            Some(part)
                if c.is_ascii_lowercase() && last.is_some_and(|c| c.is_ascii_uppercase()) =>
            {
                let capital = part.pop();
                parts.push(capital.into_iter().chain([c]).collect());
            }
            _ => parts.push(c.into()),
        }
        last = Some(c);
    }
    parts.retain(|part| !part.is_empty());
    parts
}
