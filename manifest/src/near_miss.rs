//! Misspelt names, which Kubernetes ignores without an error.

use crate::diagnostic::{Problem, did_you_mean};
use crate::tree::{Spanned, Value};

const OBJECT: &[&str] = &["apiVersion", "kind", "metadata", "spec", "status"];
const METADATA: &[&str] = &["name", "namespace", "labels", "annotations"];
/// The fields of `v1.NodeSpec` that eviction depends on.
pub(crate) const NODE_SPEC: &[&str] = &["taints", "unschedulable"];
/// The fields of `v1.PodSpec` that eviction depends on.
pub(crate) const POD_SPEC: &[&str] = &["nodeName", "tolerations", "terminationGracePeriodSeconds"];

/// Warnings about fields of a node or a pod whose names are close to a field that the engine reads.
/// The other fields of Kubernetes are not known here, so a field that resembles none passes.
pub(crate) fn of_fields(object: &Spanned<'_>, spec: &[&str]) -> Vec<Problem> {
    let mut problems = Vec::new();
    check(Some(object), "", OBJECT, &mut problems);
    check(object.get("metadata"), "metadata.", METADATA, &mut problems);
    check(object.get("spec"), "spec.", spec, &mut problems);
    problems
}

fn check(node: Option<&Spanned<'_>>, path: &str, known: &[&str], problems: &mut Vec<Problem>) {
    let Some(Spanned { value: Value::Map(entries), .. }) = node else { return };
    for entry in entries.iter().filter(|entry| !known.contains(&&*entry.key)) {
        if let Some(meant) = did_you_mean(&entry.key, known) {
            let message =
                format!("Kubernetes has no field `{}` here, so it has no effect", entry.key);
            let problem = Problem::new(entry.key_position, message);
            let path = format!("{path}{}", entry.key);
            problems.push(problem.at(path).help(format!("did you mean `{meant}`?")));
        }
    }
}

/// A warning about an object whose type is close to `Node` or `Pod`.
pub(crate) fn of_type(object: &Spanned<'_>, api_version: &str, kind: &str) -> Option<Problem> {
    let meant = did_you_mean(kind, &["Node", "Pod"])?;
    // Other groups may have a kind of that name: `Node` of `longhorn.io/v1beta2`.
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    if group.contains('.') && !group.ends_with("k8s.io") {
        return None;
    }
    let (field, found, right) =
        if kind == meant { ("apiVersion", api_version, "v1") } else { ("kind", kind, meant) };
    let message = format!("`{found}` is not the {field} of a {meant}, so the object is not used");
    let problem = Problem::new(object.locate(field), message).at(field);
    Some(problem.help(format!("write `{field}: {right}`")))
}
