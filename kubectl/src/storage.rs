//! Classes and access modes of volumes and claims, which tables and pages show alike.

use std::cmp::Reverse;

use serde_json::Value;

use crate::fields::{text, time_at};
use crate::objects::Object;

/// Whether claims without a class get this class. Mirrors `IsDefaultAnnotation`.
pub(crate) fn is_default(value: &Value) -> bool {
    let of = |group: &str| {
        let pointer = format!("/metadata/annotations/{group}.kubernetes.io~1is-default-class");
        text(value, &pointer) == "true"
    };
    of("storageclass") || of("storageclass.beta")
}

/// The name of the class that claims without one get: of several defaults the newest, and of those
/// the first by name. Mirrors `getEffectiveDefault`.
pub(crate) fn effective_default<'o>(classes: impl Iterator<Item = &'o Object>) -> &'o str {
    let defaults = classes.filter_map(|class| match class {
        Object::Other(_, value) if is_default(value) => {
            Some((Reverse(time_at(value, "/metadata/creationTimestamp")), class.name()))
        }
        _ => None,
    });
    defaults.min().map_or("", |(_, name)| name)
}

/// The class of a volume or a claim. Mirrors `GetPersistentVolumeClass`.
pub(crate) fn class(value: &Value) -> &str {
    match text(value, "/metadata/annotations/volume.beta.kubernetes.io~1storage-class") {
        "" => text(value, "/spec/storageClassName"),
        beta => beta,
    }
}

/// Access modes of a volume in short form: `RWO,ROX`. Mirrors `GetAccessModesAsString`.
pub(crate) fn access_modes(modes: Option<&Value>) -> String {
    let modes = modes.and_then(Value::as_array).into_iter().flatten();
    let given: Vec<&str> = modes.filter_map(Value::as_str).collect();
    let known = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let short = known.iter().filter(|(mode, _)| given.contains(mode)).map(|(_, short)| *short);
    short.collect::<Vec<_>>().join(",")
}
