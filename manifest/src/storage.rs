//! Volumes, claims, classes and attachments, and the devices of `resource.k8s.io`: kept unchanged,
//! and read by the engine.

use serde::de::DeserializeOwned;
use taintlab_core::api::{
    DeviceKind, DeviceObject, PersistentVolume, PersistentVolumeClaim, StorageClass,
    VolumeAttachment,
};
use taintlab_core::policy::devices::validate_device_object;

use crate::decode::{Entering, Findings, decode};
use crate::diagnostic::Problem;
use crate::tree::{Spanned, Value};

/// The errors that keep the engine from reading a storage object; none for objects of other kinds.
pub(crate) fn problems(node: &Spanned<'_>, api_version: &str, kind: &str) -> Vec<Problem> {
    // Only the group counts here, so that other versions of it are checked too.
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    match (group, kind) {
        ("", "PersistentVolume") => problems_of::<PersistentVolume>(node),
        ("", "PersistentVolumeClaim") => problems_of::<PersistentVolumeClaim>(node),
        ("storage.k8s.io", "StorageClass") => problems_of::<StorageClass>(node),
        ("storage.k8s.io", "VolumeAttachment") => problems_of::<VolumeAttachment>(node),
        ("resource.k8s.io", kind) if DeviceKind::KNOWN.contains(&kind.into()) => devices(node),
        _ => Vec::new(),
    }
}

/// The errors of an object of devices, those of the validation of the API server included.
fn devices(node: &Spanned<'_>) -> Vec<Problem> {
    let mut findings = Findings::default();
    let object = decode::<DeviceObject>(&mut node.clone(), Entering::ALL, &mut findings);
    if let Some(object) = object {
        if let Err(error) = object.check() {
            let problem = Problem::new(node.locate(&error.field), error.message.clone());
            findings.errors.push(problem.at(error.field));
        }
        let refused = validate_device_object(&object);
        findings.errors.extend(refused.iter().map(|error| node.refusal(error)));
    }
    findings.errors
}

/// A warning where an object asks for devices in words that no allocation here understands.
pub(crate) fn unevaluated(node: &Spanned<'_>, api_version: &str) -> Option<Problem> {
    let spec = node.get("spec").filter(|_| api_version.starts_with("resource.k8s.io/"))?;
    let found = find_selection(spec)?;
    let message = "selectors and constraints of devices are not evaluated: any device will do";
    Some(Problem::new(found.position, message).at("spec"))
}

/// The first value under one of these keys, however deep.
fn find_selection<'a, 't>(node: &'a Spanned<'t>) -> Option<&'a Spanned<'t>> {
    match &node.value {
        Value::Map(entries) => entries.iter().find_map(|entry| match &*entry.key {
            "selectors" | "constraints" => Some(&entry.value),
            _ => find_selection(&entry.value),
        }),
        Value::Seq(items) => items.iter().find_map(find_selection),
        Value::Plain(_) | Value::Str(_) | Value::Removed => None,
    }
}

fn problems_of<T: DeserializeOwned>(node: &Spanned<'_>) -> Vec<Problem> {
    let mut findings = Findings::default();
    let _ = decode::<T>(&mut node.clone(), Entering::ALL, &mut findings);
    findings.errors
}
