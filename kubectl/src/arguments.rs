//! The objects that the arguments of a line refer to. Mirrors `resource.Builder`.

use taintlab_core::api::LabelSelector;
use taintlab_core::kubelet::pod_status::pod_phase;

use crate::failure::Failure;
use crate::fields::text;
use crate::flags::{self, Arguments};
use crate::objects::Object;
use crate::resources::{self, Resource};
use crate::selector::{FieldTerm, parse_fields, parse_labels};
use crate::session::Session;

/// The meaning of a type without names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeAlone {
    /// All objects of that type in the namespace.
    MeansAll,
    /// An error.
    IsAnError,
}

/// The objects that were found, and an error for each that was not.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    pub(crate) objects: Vec<Object>,
    pub(crate) failures: Vec<Failure>,
    /// The types that were named, in order.
    pub(crate) types: Vec<&'static Resource>,
    /// Whether the line names objects, rather than asking for a list.
    pub(crate) by_name: bool,
}

/// Finds the objects that `words` and the flags select.
pub(crate) fn select(
    session: &Session<'_>,
    words: &[String],
    arguments: &Arguments,
    alone: TypeAlone,
) -> Result<Selection, Failure> {
    let all_namespaces = arguments.is(&flags::ALL_NAMESPACES);
    let labels = arguments.get(&flags::SELECTOR).filter(|text| !text.is_empty());
    let labels = labels.map(parse_labels).transpose()?;
    let fields = arguments.get(&flags::FIELD_SELECTOR).filter(|text| !text.is_empty());
    let fields = fields.map(parse_fields).transpose()?.unwrap_or_default();
    let all = arguments.is(&flags::ALL);
    if all && (labels.is_some() || !fields.is_empty()) {
        return Err(Failure::plain("setting 'all' parameter but found a non empty selector. "));
    }
    let selects = all || labels.is_some() || !fields.is_empty();
    if words.iter().any(|word| word.contains('/')) {
        if selects {
            return Err(Failure::plain(
                "selectors and the all flag cannot be used when passing resource/name arguments",
            ));
        }
        return by_type_and_name(session, words, all_namespaces);
    }
    let Some((types, names)) = words.split_first() else { return Ok(Selection::default()) };
    let types = types_of(types)?;
    if names.is_empty() {
        if !selects && alone == TypeAlone::IsAnError {
            return Err(Failure::plain("resource(s) were provided, but no name was specified"));
        }
        return list(session, types, all_namespaces, labels.as_ref(), &fields);
    }
    if selects {
        return Err(Failure::plain("name cannot be provided when a selector is specified"));
    }
    let [resource] = types.as_slice() else {
        return Err(Failure::plain("you must specify only one resource"));
    };
    if all_namespaces && resource.namespaced {
        return Err(across_namespaces());
    }
    let mut selection = Selection { types: types.clone(), by_name: true, ..Selection::default() };
    for name in names {
        selection.find(session, resource, name);
    }
    Ok(selection)
}

fn across_namespaces() -> Failure {
    Failure::plain("a resource cannot be retrieved by name across all namespaces")
}

/// Types separated by commas; `all` stands for several.
pub(crate) fn types_of(text: &str) -> Result<Vec<&'static Resource>, Failure> {
    let mut types: Vec<&'static Resource> = Vec::new();
    for name in text.split(',').filter(|name| !name.is_empty()) {
        let named = resources::find(name).map(|resource| vec![resource]);
        let named = if name == "all" { Ok(resources::ALL.to_vec()) } else { named };
        for resource in named? {
            if !types.contains(&resource) {
                types.push(resource);
            }
        }
    }
    if types.is_empty() {
        return Err(Failure::plain("arguments in resource/name form must have a resource"));
    }
    Ok(types)
}

/// Selects objects by the words of a line, which must name at least one type.
pub(crate) fn select_some(
    session: &Session<'_>,
    arguments: &Arguments,
) -> Result<Selection, Failure> {
    let selection = select(session, &arguments.positional, arguments, TypeAlone::IsAnError)?;
    if selection.types.is_empty() {
        return Err(Failure::plain(
            "You must provide one or more resources by argument or filename.",
        ));
    }
    Ok(selection)
}

fn by_type_and_name(
    session: &Session<'_>,
    words: &[String],
    all_namespaces: bool,
) -> Result<Selection, Failure> {
    let mut selection = Selection { by_name: true, ..Selection::default() };
    for word in words {
        let Some((type_, name)) = word.split_once('/') else {
            return Err(Failure::plain(String::from(
                "there is no need to specify a resource type as a separate argument when passing \
                 arguments in resource/name form (e.g. 'kubectl get resource/<resource_name>' \
                 instead of 'kubectl get resource resource/<resource_name>'",
            )));
        };
        if type_.is_empty() || name.is_empty() || name.contains('/') {
            return Err(Failure::plain(
                "arguments in resource/name form must have a single resource and name",
            ));
        }
        let resource = resources::find(type_)?;
        if all_namespaces && resource.namespaced {
            return Err(across_namespaces());
        }
        if !selection.types.contains(&resource) {
            selection.types.push(resource);
        }
        selection.find(session, resource, name);
    }
    Ok(selection)
}

fn list(
    session: &Session<'_>,
    types: Vec<&'static Resource>,
    all_namespaces: bool,
    labels: Option<&LabelSelector>,
    fields: &[FieldTerm],
) -> Result<Selection, Failure> {
    let mut selection = Selection::default();
    for resource in &types {
        for term in fields {
            if !has_field(resource, &term.path) {
                let selector =
                    format!("{}{}{}", term.path, if term.equal { "=" } else { "!=" }, term.value);
                return Err(Failure::server(
                    "BadRequest",
                    format!(
                        "Unable to find {:?} that match label selector \"\", field selector \
                         {selector:?}: field label not supported: {}",
                        format!("{}, Resource={}", version(resource), resource.plural),
                        term.path
                    ),
                ));
            }
        }
        let namespace = (!all_namespaces && resource.namespaced).then_some(&*session.namespace);
        let objects = session.list(resource, namespace).into_iter().filter(|object| {
            labels.is_none_or(|labels| labels.matches(&object.labels()))
                && fields.iter().all(|term| (field(object, &term.path) == term.value) == term.equal)
        });
        selection.objects.extend(objects);
    }
    selection.types = types;
    Ok(selection)
}

/// The API version of a resource, as Go prints its `GroupVersion`.
fn version(resource: &Resource) -> String {
    format!("{}/v1", resource.group)
}

/// Whether the API server can select objects of that type by that field.
fn has_field(resource: &Resource, path: &str) -> bool {
    matches!(path, "metadata.name" | "metadata.namespace")
        || (*resource == resources::PODS
            && matches!(
                path,
                "spec.nodeName"
                    | "status.phase"
                    | "spec.restartPolicy"
                    | "spec.schedulerName"
                    | "spec.serviceAccountName"
                    | "status.podIP"
                    | "status.nominatedNodeName"
            ))
        || (*resource == resources::NODES && path == "spec.unschedulable")
        || (*resource == resources::NAMESPACES && path == "status.phase")
        || (*resource == resources::JOBS && path == "status.successful")
        || (*resource == resources::EVENTS
            && matches!(
                path,
                "involvedObject.kind"
                    | "involvedObject.name"
                    | "involvedObject.namespace"
                    | "involvedObject.uid"
                    | "reason"
                    | "type"
                    | "source"
                    | "reportingComponent"
            ))
}

fn field(object: &Object, path: &str) -> String {
    match (object, path) {
        (_, "metadata.name") => object.name().to_owned(),
        (_, "metadata.namespace") => object.namespace().to_owned(),
        (Object::Pod(pod), "spec.nodeName") => pod.spec.node_name.clone(),
        (Object::Pod(pod), "status.phase") => pod_phase(pod).to_string(),
        (Object::Node(node), "spec.unschedulable") => node.spec.unschedulable.to_string(),
        (Object::Other(_, value), "source") => text(value, "/source/component").to_owned(),
        _ => {
            let pointer = format!("/{}", path.replace('.', "/"));
            text(&object.value(), &pointer).to_owned()
        }
    }
}

impl Selection {
    fn find(&mut self, session: &Session<'_>, resource: &'static Resource, name: &str) {
        match session.object(resource, &session.namespace, name) {
            Some(object) => self.objects.push(object),
            None => self.failures.push(Failure::not_found(&resource.qualified_plural(), name)),
        }
    }
}
