//! The types of objects and their names.

use serde_json::{Value, json};
use taintlab_core::release::KubernetesRelease;

use crate::failure::Failure;

/// A type of objects.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Resource {
    pub(crate) kind: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) singular: &'static str,
    pub(crate) short: &'static [&'static str],
    /// The API group; empty for the core group.
    pub(crate) group: &'static str,
    pub(crate) namespaced: bool,
}

/// The version in which DeviceTaintRules were beta.
const RULES_OF_BETA: &str = "resource.k8s.io/v1beta2";

impl Resource {
    /// `v1`, or `apps/v1`.
    pub(crate) fn api_version(&self, release: KubernetesRelease) -> String {
        if *self == DEVICE_TAINT_RULES && !release.has_device_taint_rules_in_v1() {
            return RULES_OF_BETA.to_owned();
        }
        if self.group.is_empty() { "v1".to_owned() } else { format!("{}/v1", self.group) }
    }

    /// The name of the type in messages: `pod`, `deployment.apps`.
    pub(crate) fn qualified_singular(&self) -> String {
        self.qualified(self.singular)
    }

    /// The API server's name of the type: `pods`, `deployments.apps`.
    pub(crate) fn qualified_plural(&self) -> String {
        self.qualified(self.plural)
    }

    fn qualified(&self, name: &str) -> String {
        if self.group.is_empty() { name.to_owned() } else { format!("{name}.{}", self.group) }
    }

    /// A list of these objects, as `kubectl get` prints several.
    pub(crate) fn list_head(items: Vec<Value>) -> Value {
        json!({
            "apiVersion": "v1", "kind": "List", "items": items,
            "metadata": { "resourceVersion": "" },
        })
    }
}

macro_rules! resources {
    ($(
        $constant:ident: $kind:literal, $plural:literal, $singular:literal, $short:expr,
        $group:literal, $namespaced:literal;
    )+) => {
        $(pub(crate) static $constant: Resource = Resource {
            kind: $kind,
            plural: $plural,
            singular: $singular,
            short: $short,
            group: $group,
            namespaced: $namespaced,
        };)+
        /// All types.
        pub(crate) static RESOURCES: &[&Resource] = &[$(&$constant),+];
    };
}

resources! {
    EVENTS: "Event", "events", "event", &["ev"], "", true;
    NAMESPACES: "Namespace", "namespaces", "namespace", &["ns"], "", false;
    NODES: "Node", "nodes", "node", &["no"], "", false;
    CLAIMS: "PersistentVolumeClaim", "persistentvolumeclaims", "persistentvolumeclaim", &["pvc"],
        "", true;
    VOLUMES: "PersistentVolume", "persistentvolumes", "persistentvolume", &["pv"], "", false;
    PODS: "Pod", "pods", "pod", &["po"], "", true;
    DAEMON_SETS: "DaemonSet", "daemonsets", "daemonset", &["ds"], "apps", true;
    DEPLOYMENTS: "Deployment", "deployments", "deployment", &["deploy"], "apps", true;
    REPLICA_SETS: "ReplicaSet", "replicasets", "replicaset", &["rs"], "apps", true;
    STATEFUL_SETS: "StatefulSet", "statefulsets", "statefulset", &["sts"], "apps", true;
    JOBS: "Job", "jobs", "job", &[], "batch", true;
    LEASES: "Lease", "leases", "lease", &[], "coordination.k8s.io", true;
    ENDPOINT_SLICES: "EndpointSlice", "endpointslices", "endpointslice", &[], "discovery.k8s.io",
        true;
    SERVICES: "Service", "services", "service", &["svc"], "", true;
    PRIORITY_CLASSES: "PriorityClass", "priorityclasses", "priorityclass", &["pc"],
        "scheduling.k8s.io", false;
    BUDGETS: "PodDisruptionBudget", "poddisruptionbudgets", "poddisruptionbudget", &["pdb"],
        "policy", true;
    DEVICE_CLASSES: "DeviceClass", "deviceclasses", "deviceclass", &[], "resource.k8s.io", false;
    DEVICE_TAINT_RULES: "DeviceTaintRule", "devicetaintrules", "devicetaintrule", &[],
        "resource.k8s.io", false;
    RESOURCE_CLAIMS: "ResourceClaim", "resourceclaims", "resourceclaim", &[], "resource.k8s.io",
        true;
    RESOURCE_CLAIM_TEMPLATES: "ResourceClaimTemplate", "resourceclaimtemplates",
        "resourceclaimtemplate", &[], "resource.k8s.io", true;
    RESOURCE_SLICES: "ResourceSlice", "resourceslices", "resourceslice", &[], "resource.k8s.io",
        false;
    STORAGE_CLASSES: "StorageClass", "storageclasses", "storageclass", &["sc"], "storage.k8s.io",
        false;
    ATTACHMENTS: "VolumeAttachment", "volumeattachments", "volumeattachment", &[],
        "storage.k8s.io", false;
}

/// The types that `all` stands for, in printing order.
pub(crate) static ALL: [&Resource; 7] =
    [&PODS, &SERVICES, &DAEMON_SETS, &DEPLOYMENTS, &REPLICA_SETS, &STATEFUL_SETS, &JOBS];

/// Whether the type is a volume, a claim, a class or an attachment.
pub(crate) fn is_storage(resource: &Resource) -> bool {
    [&VOLUMES, &CLAIMS, &STORAGE_CLASSES, &ATTACHMENTS].contains(&resource)
}

/// Whether objects of a type are of devices, which a cluster of before 1.34 does not serve by default.
pub(crate) fn is_of_devices(resource: &Resource) -> bool {
    resource.group == "resource.k8s.io"
}

/// Finds a type by any of its names: `nodes`, `node`, `no`, `Node`, `deployments.apps`,
/// `deployments.v1.apps`.
pub(crate) fn find(text: &str) -> Result<&'static Resource, Failure> {
    let lower = text.to_ascii_lowercase();
    let (name, group) = match lower.split_once('.') {
        Some((name, group)) => (name, Some(group.strip_prefix("v1.").unwrap_or(group))),
        None => (lower.as_str(), None),
    };
    let named = |resource: &&&'static Resource| {
        (resource.plural == name || resource.singular == name || resource.short.contains(&name))
            && group.is_none_or(|group| group == resource.group || group == "v1")
    };
    let found = RESOURCES.iter().find(named);
    found
        .copied()
        .ok_or_else(|| Failure::plain(format!("the server doesn't have a resource type {text:?}")))
}

/// Finds a type by its kind.
pub(crate) fn by_kind(kind: &str) -> Result<&'static Resource, String> {
    let found = RESOURCES.iter().find(|resource| resource.kind == kind);
    found.copied().ok_or_else(|| format!("no type of the kind `{kind}` is known"))
}

/// Finds the type of an object by its `apiVersion` and `kind`.
pub(crate) fn of_kind(
    release: KubernetesRelease,
    api_version: &str,
    kind: &str,
) -> Option<&'static Resource> {
    let mut of_kind = RESOURCES.iter().filter(|resource| resource.kind == kind);
    let found = of_kind.find(|resource| {
        resource.api_version(release) == api_version
            || ***resource == DEVICE_TAINT_RULES && api_version == RULES_OF_BETA
    });
    found.copied()
}
