//! Volumes, claims, classes and attachments: kept unchanged, and read by the engine.

use serde::de::DeserializeOwned;
use taintlab_core::api::{PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeAttachment};

use crate::decode::{Entering, Findings, decode};
use crate::diagnostic::Problem;
use crate::tree::Spanned;

/// The errors that keep the engine from reading a storage object; none for objects of other kinds.
pub(crate) fn problems(node: &Spanned<'_>, api_version: &str, kind: &str) -> Vec<Problem> {
    // Only the group counts here, so that other versions of it are checked too.
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    match (group, kind) {
        ("", "PersistentVolume") => problems_of::<PersistentVolume>(node),
        ("", "PersistentVolumeClaim") => problems_of::<PersistentVolumeClaim>(node),
        ("storage.k8s.io", "StorageClass") => problems_of::<StorageClass>(node),
        ("storage.k8s.io", "VolumeAttachment") => problems_of::<VolumeAttachment>(node),
        _ => Vec::new(),
    }
}

fn problems_of<T: DeserializeOwned>(node: &Spanned<'_>) -> Vec<Problem> {
    let mut findings = Findings::default();
    let _ = decode::<T>(&mut node.clone(), Entering::ALL, &mut findings);
    findings.errors
}
