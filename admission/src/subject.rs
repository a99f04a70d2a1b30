//! The pods of an object.

use serde_json::Value;
use taintlab_answers::fields::{Fields, Misread};
use taintlab_core::api::{MIRROR_ANNOTATION, Toleration};

/// Kinds of objects that make pods, with the places of their pods' specification.
pub(crate) const KINDS: [(&str, &str); 8] = [
    ("Pod", "/spec"),
    ("CronJob", "/spec/jobTemplate/spec/template/spec"),
    ("DaemonSet", "/spec/template/spec"),
    ("Deployment", "/spec/template/spec"),
    ("Job", "/spec/template/spec"),
    ("ReplicaSet", "/spec/template/spec"),
    ("ReplicationController", "/spec/template/spec"),
    ("StatefulSet", "/spec/template/spec"),
];

/// The pods of an object, as far as they are judged.
pub(crate) struct Subject<'a> {
    pub(crate) spec: &'a Value,
    pub(crate) tolerations: Vec<Toleration>,
    /// Whether a DaemonSet owns them.
    pub(crate) daemon: bool,
}

/// The place of the specification of an object's pods, if its kind has any.
pub(crate) fn place(object: &Value) -> Option<&'static str> {
    let kind = object.get("kind")?.as_str()?;
    KINDS.into_iter().find_map(|(name, place)| (name == kind).then_some(place))
}

impl<'a> Subject<'a> {
    /// The pods of an object; `None` if it has none, or only a static one, which no policy of the
    /// API server hinders.
    pub(crate) fn of(object: &'a Value) -> Result<Option<Self>, Misread> {
        let Some(place) = place(object) else { return Ok(None) };
        let Some(spec) = object.pointer(place).filter(|spec| !spec.is_null()) else {
            return Ok(None);
        };
        if object
            .pointer("/metadata/annotations")
            .is_some_and(|all| all.get(MIRROR_ANNOTATION).is_some())
        {
            return Ok(None);
        }
        let path = place.trim_start_matches('/').replace('/', ".");
        let tolerations = Fields::of_object(spec, &path, &["tolerations"])?.tolerations()?;
        let owners = object.pointer("/metadata/ownerReferences").and_then(Value::as_array);
        let is_daemon_set = |owner: &Value| {
            owner.get("kind").is_some_and(|kind| kind == "DaemonSet")
                && owner.get("controller").is_some_and(|controls| controls == &Value::Bool(true))
        };
        let daemon = match object.get("kind").and_then(Value::as_str) {
            Some("DaemonSet") => true,
            Some("Pod") => owners.into_iter().flatten().any(is_daemon_set),
            _ => false,
        };
        Ok(Some(Self { spec, tolerations, daemon }))
    }

    /// Whether a container asks for a resource of this name: the API server may have added a
    /// toleration for it (`ExtendedResourceToleration`).
    pub(crate) fn asks_for(&self, name: &str) -> bool {
        let containers = self.spec.get("containers").and_then(Value::as_array);
        let limits =
            containers.into_iter().flatten().filter_map(|it| it.pointer("/resources/limits"));
        limits.into_iter().any(|limits| limits.get(name).is_some())
    }
}
