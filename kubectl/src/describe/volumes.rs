//! Volumes, and claims of StatefulSets.

use serde_json::Value;

use super::{Page, capitalized};
use crate::fields::{amount, items, number, string_map, text};
use crate::path::plain_text;

/// Describes volumes. Mirrors `describeVolumes`, but gives only the type of rare volumes.
pub(super) fn describe(volumes: &[Value], space: &str, page: &mut Page) {
    if volumes.is_empty() {
        return page.line(format_args!("{space}Volumes:\t<none>"));
    }
    let indent = if space.is_empty() { "" } else { " " };
    page.line(format_args!("{space}Volumes:"));
    for volume in volumes {
        page.line(format_args!("  {indent}{}:", text(volume, "/name")));
        let mut sources = volume.as_object().into_iter().flatten();
        match sources.find(|(key, _)| *key != "name") {
            Some((kind, source)) => volume_source(kind, source, page),
            None => page.line("  <unknown>"),
        }
    }
}

fn is(value: &Value, pointer: &str) -> bool {
    value.pointer(pointer).and_then(Value::as_bool) == Some(true)
}

pub(super) fn volume_source(kind: &str, source: &Value, page: &mut Page) {
    let of = |pointer: &str| text(source, pointer);
    match kind {
        "hostPath" => {
            page.line("    Type:\tHostPath (bare host directory volume)");
            page.line(format_args!("    Path:\t{}", of("/path")));
            // The API server sets an empty type if none is given.
            page.line(format_args!("    HostPathType:\t{}", of("/type")));
        }
        "emptyDir" => {
            page.line("    Type:\tEmptyDir (a temporary directory that shares a pod's lifetime)");
            page.line(format_args!("    Medium:\t{}", of("/medium")));
            let limit = source.get("sizeLimit").map(amount).filter(|limit| limit != "0");
            page.line(format_args!("    SizeLimit:\t{}", limit.as_deref().unwrap_or("<unset>")));
        }
        "secret" => {
            page.line("    Type:\tSecret (a volume populated by a Secret)");
            page.line(format_args!("    SecretName:\t{}", of("/secretName")));
            page.line(format_args!("    Optional:\t{}", is(source, "/optional")));
        }
        "configMap" => {
            page.line("    Type:\tConfigMap (a volume populated by a ConfigMap)");
            page.line(format_args!("    Name:\t{}", of("/name")));
            page.line(format_args!("    Optional:\t{}", is(source, "/optional")));
        }
        "persistentVolumeClaim" => {
            page.line(
                "    Type:\tPersistentVolumeClaim (a reference to a PersistentVolumeClaim in the \
                 same namespace)",
            );
            page.line(format_args!("    ClaimName:\t{}", of("/claimName")));
            page.line(format_args!("    ReadOnly:\t{}", is(source, "/readOnly")));
        }
        "nfs" => {
            page.line("    Type:\tNFS (an NFS mount that lasts the lifetime of a pod)");
            page.line(format_args!("    Server:\t{}", of("/server")));
            page.line(format_args!("    Path:\t{}", of("/path")));
            page.line(format_args!("    ReadOnly:\t{}", is(source, "/readOnly")));
        }
        "downwardAPI" => {
            page.line("    Type:\tDownwardAPI (a volume populated by information about the pod)");
            page.line("    Items:");
            for item in items(source, "items") {
                for from in ["/fieldRef/fieldPath", "/resourceFieldRef/resource"] {
                    if item.pointer(from).is_some() {
                        let path = text(item, "/path");
                        page.line(format_args!("      {} -> {path}", text(item, from)));
                    }
                }
            }
        }
        "projected" => projected(source, page),
        "local" => {
            let words = "a persistent volume backed by local storage on a node";
            page.line(format_args!("    Type:\tLocalVolume ({words})"));
            page.line(format_args!("    Path:\t{}", of("/path")));
        }
        "awsElasticBlockStore" => {
            page.line("    Type:\tAWSElasticBlockStore (a Persistent Disk resource in AWS)");
            page.line(format_args!("    VolumeID:\t{}", of("/volumeID")));
            page.line(format_args!("    FSType:\t{}", of("/fsType")));
            let partition = number(source, "/partition").unwrap_or(0);
            page.line(format_args!("    Partition:\t{partition}"));
            page.line(format_args!("    ReadOnly:\t{}", is(source, "/readOnly")));
        }
        "csi" => {
            page.line("    Type:\tCSI (a Container Storage Interface (CSI) volume source)");
            page.line(format_args!("    Driver:\t{}", of("/driver")));
            page.line(format_args!("    FSType:\t{}", of("/fsType")));
            page.line(format_args!("    ReadOnly:\t{}", is(source, "/readOnly")));
            let attributes = string_map(source.get("volumeAttributes"));
            let lines = attributes.iter().map(|(key, value)| format!("    {key}={value}"));
            page.lines("    VolumeAttributes", lines);
        }
        _ => page.line(format_args!("    Type:\t{}", capitalized(kind))),
    }
}

fn projected(source: &Value, page: &mut Page) {
    page.line("    Type:\tProjected (a volume that contains injected data from multiple sources)");
    let says_optional = page.view.release.describe_says_optional_of_projected_volume();
    for source in items(source, "sources") {
        for (field, name, old) in [
            ("secret", "SecretName", "SecretOptionalName"),
            ("configMap", "ConfigMapName", "ConfigMapOptional"),
        ] {
            let Some(source) = source.get(field) else { continue };
            page.line(format_args!("    {name}:\t{}", text(source, "/name")));
            let optional = source.get("optional").map(plain_text);
            if says_optional {
                page.line(format_args!("    Optional:\t{}", is(source, "/optional")));
            } else {
                page.line(format_args!("    {old}:\t{}", optional.as_deref().unwrap_or("<nil>")));
            }
        }
        if source.get("downwardAPI").is_some() {
            page.line("    DownwardAPI:\ttrue");
        }
        if let Some(token) = source.get("serviceAccountToken") {
            let seconds = number(token, "/expirationSeconds").unwrap_or(3600);
            page.line(format_args!("    TokenExpirationSeconds:\t{seconds}"));
        }
    }
}

/// Describes the claim templates of a StatefulSet. Mirrors `describeVolumeClaimTemplates`.
pub(super) fn claim_templates(claims: &[Value], page: &mut Page) {
    if claims.is_empty() {
        return page.field("Volume Claims", "<none>");
    }
    page.line("Volume Claims:");
    for claim in claims {
        page.field("  Name", text(claim, "/metadata/name"));
        let beta = text(claim, "/metadata/annotations/volume.beta.kubernetes.io~1storage-class");
        let class = if beta.is_empty() { text(claim, "/spec/storageClassName") } else { beta };
        page.field("  StorageClass", class);
        page.labels("  Labels", &string_map(claim.pointer("/metadata/labels")));
        page.labels("  Annotations", &string_map(claim.pointer("/metadata/annotations")));
        let capacity = claim.pointer("/spec/resources/requests/storage").map(amount);
        page.field("  Capacity", capacity.as_deref().unwrap_or("<default>"));
        let modes = claim.pointer("/spec/accessModes").and_then(Value::as_array);
        let modes: Vec<&str> = modes.into_iter().flatten().filter_map(Value::as_str).collect();
        page.field("  Access Modes", format_args!("[{}]", modes.join(" ")));
    }
}
