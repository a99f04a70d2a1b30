//! PersistentVolumes, their claims and classes.

use serde_json::Value;

use super::volumes::volume_source;
use super::{Page, Surroundings};
use crate::fields::{amount, items, string_map, text, time_at};
use crate::path::plain_text;
use crate::selector::format_labels;
use crate::storage::{access_modes, class, is_default};

/// Describes a volume. Mirrors `describePersistentVolume`.
pub(super) fn volume(value: &Value, page: &mut Page) {
    page.field("Name", text(value, "/metadata/name"));
    page.metadata(value);
    page.field("Finalizers", words(value.pointer("/metadata/finalizers")));
    page.field("StorageClass", class(value));
    status(value, page);
    let claim = value.pointer("/spec/claimRef");
    let claim =
        claim.map(|claim| format!("{}/{}", text(claim, "/namespace"), text(claim, "/name")));
    page.field("Claim", claim.unwrap_or_default());
    page.field("Reclaim Policy", text(value, "/spec/persistentVolumeReclaimPolicy"));
    page.field("Access Modes", access_modes(value.pointer("/spec/accessModes")));
    page.field("VolumeMode", text(value, "/spec/volumeMode"));
    page.field("Capacity", value.pointer("/spec/capacity/storage").map_or("0".into(), amount));
    node_affinity(value, page);
    page.field("Message", text(value, "/status/message"));
    page.line("Source:");
    let sources = value.get("spec").and_then(Value::as_object).into_iter().flatten();
    let mut sources = sources.filter(|(name, source)| source.is_object() && is_source(name));
    if let Some((kind, source)) = sources.next() {
        if kind == "csi" {
            csi(source, page);
        } else {
            volume_source(kind, source, page);
        }
    }
}

fn is_source(field: &str) -> bool {
    !matches!(field, "capacity" | "claimRef" | "nodeAffinity")
}

/// Writes the source of a CSI volume. Mirrors `printCSIPersistentVolumeSource`.
fn csi(source: &Value, page: &mut Page) {
    page.line("    Type:\tCSI (a Container Storage Interface (CSI) volume source)");
    page.line(format_args!("    Driver:\t{}", text(source, "/driver")));
    page.line(format_args!("    FSType:\t{}", text(source, "/fsType")));
    page.line(format_args!("    VolumeHandle:\t{}", text(source, "/volumeHandle")));
    let read_only = source.get("readOnly") == Some(&Value::Bool(true));
    page.line(format_args!("    ReadOnly:\t{read_only}"));
    let attributes = string_map(source.get("volumeAttributes"));
    let lines = attributes.iter().map(|(key, value)| format!("    {key}={value}"));
    page.lines("    VolumeAttributes", lines);
}

/// Writes the node affinity of a volume. Mirrors `printVolumeNodeAffinity`.
fn node_affinity(value: &Value, page: &mut Page) {
    let Some(required) = value.pointer("/spec/nodeAffinity/required") else {
        return page.field("Node Affinity", "<none>");
    };
    page.field("Node Affinity", "");
    let terms = items(required, "nodeSelectorTerms");
    if terms.is_empty() {
        return page.field("  Required Terms", "<none>");
    }
    page.field("  Required Terms", "");
    for (number, term) in terms.iter().enumerate() {
        let requirements = items(term, "matchExpressions").iter().map(|requirement| {
            let operator = text(requirement, "/operator").to_ascii_lowercase();
            let values = items(requirement, "values");
            let key = text(requirement, "/key");
            match values.is_empty() {
                true => format!("{key} {operator}"),
                false => format!("{key} {operator} [{}]", joined(values)),
            }
        });
        lines_of_term(page, "    ", number, requirements);
    }
}

/// Writes the lines of a term, its number beside the first one.
fn lines_of_term(
    page: &mut Page,
    space: &str,
    number: usize,
    lines: impl IntoIterator<Item = String>,
) {
    let mut lines = lines.into_iter();
    let first = lines.next().unwrap_or_else(|| "<none>".to_owned());
    page.line(format_args!("{space}Term {number}:\t{first}"));
    for line in lines {
        page.line(format_args!("{space}\t{line}"));
    }
}

/// Describes a claim. Mirrors `describePersistentVolumeClaim`.
pub(super) fn claim(value: &Value, surroundings: &Surroundings, page: &mut Page) {
    page.field("Name", text(value, "/metadata/name"));
    page.field("Namespace", text(value, "/metadata/namespace"));
    page.field("StorageClass", class(value));
    status(value, page);
    let volume = text(value, "/spec/volumeName");
    page.field("Volume", volume);
    page.metadata(value);
    page.field("Finalizers", words(value.pointer("/metadata/finalizers")));
    let (mut capacity, mut modes) = (String::new(), String::new());
    if !volume.is_empty() {
        capacity = value.pointer("/status/capacity/storage").map_or("0".into(), amount);
        modes = access_modes(value.pointer("/status/accessModes"));
    }
    page.field("Capacity", capacity);
    page.field("Access Modes", modes);
    page.field("VolumeMode", text(value, "/spec/volumeMode"));
    let title = page.view.release.describe_claim_title_of_pods();
    let pods = surroundings.pods.iter().map(|pod| pod.metadata.name.clone());
    page.lines(title, pods);
}

/// Describes a storage class. Mirrors `describeStorageClass`.
pub(super) fn storage_class(value: &Value, page: &mut Page) {
    page.field("Name", text(value, "/metadata/name"));
    let default = if is_default(value) { "Yes" } else { "No" };
    page.field("IsDefaultClass", default);
    let annotations = string_map(value.pointer("/metadata/annotations"));
    page.field("Annotations", format_labels(&annotations));
    page.field("Provisioner", text(value, "/provisioner"));
    page.field("Parameters", format_labels(&string_map(value.get("parameters"))));
    let expansion = match value.get("allowVolumeExpansion") {
        Some(Value::Bool(true)) => "True",
        Some(Value::Bool(false)) => "False",
        _ => "<unset>",
    };
    page.field("AllowVolumeExpansion", expansion);
    let options = items(value, "mountOptions");
    if options.is_empty() {
        page.field("MountOptions", "<none>");
    } else {
        page.line("MountOptions:");
        for option in options {
            page.line(format_args!("  {}", plain_text(option)));
        }
    }
    page.field("ReclaimPolicy", text(value, "/reclaimPolicy"));
    page.field("VolumeBindingMode", text(value, "/volumeBindingMode"));
    let Some(terms) = value.get("allowedTopologies").and_then(Value::as_array) else { return };
    page.field("AllowedTopologies", "");
    for (number, term) in terms.iter().enumerate() {
        let requirements = items(term, "matchLabelExpressions").iter().map(|requirement| {
            let values = joined(items(requirement, "values"));
            format!("{} in [{values}]", text(requirement, "/key"))
        });
        lines_of_term(page, "  ", number, requirements);
    }
}

fn status(value: &Value, page: &mut Page) {
    match time_at(value, "/metadata/deletionTimestamp") {
        Some(deleted) => {
            let age = page.view.age(Some(deleted));
            page.field("Status", format_args!("Terminating (lasts {age})"));
        }
        None => page.field("Status", text(value, "/status/phase")),
    }
}

/// A list of texts in Go's format.
fn words(list: Option<&Value>) -> String {
    let list = list.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let words: Vec<String> = list.iter().map(plain_text).collect();
    format!("[{}]", words.join(" "))
}

fn joined(values: &[Value]) -> String {
    values.iter().map(plain_text).collect::<Vec<_>>().join(", ")
}
