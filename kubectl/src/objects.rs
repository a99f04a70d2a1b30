//! The objects of the cluster.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use taintlab_core::api::{
    Node, NodeCondition, PersistentVolume, PersistentVolumeClaim, Pod, PodDisruptionBudget, PodKey,
    PriorityClass, StorageClass, Workload, WorkloadKey, WorkloadKind, default_claim,
    default_persistent_volume, default_storage_class, json_value, object,
};
use taintlab_core::cluster::Volumes;
use taintlab_core::controllers::node_ttl::node_ttl;
use taintlab_core::kubelet::pod_status::pod_as_served;
use taintlab_core::order::{Order, OrderedSet};
use taintlab_core::simulator::{endpoint_slices, priority_classes, services};
use taintlab_manifest::typed;

use crate::events;
use crate::fields::{labels_of, text};
use crate::resources::{self, Resource, is_of_devices};
use crate::session::Session;

/// An object of the cluster.
#[derive(Clone, Debug)]
pub(crate) enum Object {
    Node(Arc<Node>),
    Pod(Arc<Pod>),
    Other(&'static Resource, Value),
}

impl Object {
    pub(crate) fn resource(&self) -> &'static Resource {
        match self {
            Self::Node(_) => &resources::NODES,
            Self::Pod(_) => &resources::PODS,
            Self::Other(resource, _) => resource,
        }
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Node(node) => &node.metadata.name,
            Self::Pod(pod) => &pod.metadata.name,
            Self::Other(_, value) => text(value, "/metadata/name"),
        }
    }

    /// The object's namespace; empty if it has none.
    pub(crate) fn namespace(&self) -> &str {
        match self {
            Self::Node(_) => "",
            Self::Pod(pod) => &pod.metadata.namespace,
            Self::Other(_, value) => text(value, "/metadata/namespace"),
        }
    }

    pub(crate) fn labels(&self) -> Cow<'_, BTreeMap<String, String>> {
        match self {
            Self::Node(node) => Cow::Borrowed(&node.metadata.labels),
            Self::Pod(pod) => Cow::Borrowed(&pod.metadata.labels),
            Self::Other(_, value) => Cow::Owned(labels_of(value)),
        }
    }

    /// The name in messages: `node/worker-1`, `deployment.apps/web`.
    pub(crate) fn qualified_name(&self) -> String {
        format!("{}/{}", self.resource().qualified_singular(), self.name())
    }

    /// The object's JSON form.
    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Node(node) => json_value(node.as_ref()).unwrap_or_default(),
            Self::Pod(pod) => json_value(pod.as_ref()).unwrap_or_default(),
            Self::Other(_, value) => value.clone(),
        }
    }
}

impl Object {
    /// Reads an object of a kind from its JSON form.
    pub(crate) fn read(kind: &str, value: &Value) -> Result<Self, String> {
        Ok(match kind {
            "Node" => Self::Node(Arc::new(typed(value)?)),
            "Pod" => Self::Pod(Arc::new(typed(value)?)),
            kind => {
                let resource = resources::by_kind(kind)?;
                Self::Other(resource, with_default_labels(resource, value.clone()))
            }
        })
    }
}

/// A Job without labels gets those of its template. Mirrors `SetDefaults_Job`.
fn with_default_labels(resource: &Resource, mut value: Value) -> Value {
    if *resource == resources::JOBS
        && labels_of(&value).is_empty()
        && let Some(labels) = value.pointer("/spec/template/metadata/labels").cloned()
        && let Some(Value::Object(metadata)) = value.get_mut("metadata")
    {
        metadata.insert("labels".into(), labels);
    }
    value
}

/// Namespace and name.
fn place(value: &Value) -> [&str; 2] {
    ["/metadata/namespace", "/metadata/name"].map(|pointer| text(value, pointer))
}

/// Volumes, claims, classes or attachments, with the API server's defaults.
fn storage_values(storage: &Volumes, resource: &Resource) -> Vec<Value> {
    let value = |object: Option<Value>| object.unwrap_or_default();
    if *resource == resources::VOLUMES {
        let volumes = storage.persistent_volumes().map(|volume| {
            let mut volume = PersistentVolume::clone(volume);
            default_persistent_volume(&mut volume);
            value(json_value(&volume).ok())
        });
        return volumes.collect();
    }
    if *resource == resources::CLAIMS {
        let claims = storage.claims().map(|(key, claim)| {
            let mut claim = PersistentVolumeClaim::clone(claim);
            default_claim(&mut claim, storage.volume_of(key).map(AsRef::as_ref));
            value(json_value(&claim).ok())
        });
        return claims.collect();
    }
    if *resource == resources::STORAGE_CLASSES {
        let classes = storage.classes().map(|class| {
            let mut class = StorageClass::clone(class);
            default_storage_class(&mut class);
            value(json_value(&class).ok())
        });
        return classes.collect();
    }
    storage.attachments().map(|(_, known)| value(json_value(known).ok())).collect()
}

impl Session<'_> {
    /// The objects of a type, in one namespace or in all (`None`).
    pub(crate) fn list(&self, resource: &'static Resource, namespace: Option<&str>) -> Vec<Object> {
        let cluster = self.simulator().cluster();
        let here = |object: &Object| namespace.is_none_or(|name| object.namespace() == name);
        if *resource == resources::NODES {
            let names = cluster.nodes().map(|(name, _)| name.as_str());
            return names.filter_map(|name| self.node(name)).map(Object::Node).collect();
        }
        if *resource == resources::PODS {
            let pods = cluster
                .pods()
                .filter(|(key, _)| namespace.is_none_or(|namespace| key.namespace() == namespace));
            return pods.map(|(_, pod)| Object::Pod(pod.clone())).collect();
        }
        let mut values = Vec::new();
        if *resource == resources::EVENTS {
            values = events::values(self.context);
        } else if *resource == resources::LEASES {
            values.extend(cluster.nodes().filter_map(|(name, _)| self.lease(name.as_str())));
        } else if let Some(kind) = WorkloadKind::from_word(resource.singular) {
            let workloads = cluster.workloads().filter(|(key, workload)| {
                key.kind == kind
                    && !workload.inferred
                    && namespace.is_none_or(|namespace| key.name.namespace() == namespace)
            });
            values.extend(workloads.map(|(_, workload)| self.workload_value(workload)));
        } else if *resource == resources::BUDGETS {
            values.extend(cluster.budgets().map(|(_, budget)| self.budget_value(budget)));
        } else if let Some(storage) = cluster.volumes().filter(|_| resources::is_storage(resource))
        {
            values.extend(storage_values(storage, resource));
        } else if let Some(devices) = cluster.devices().filter(|_| is_of_devices(resource)) {
            let objects = devices.objects().filter(|it| it.kind.as_str() == resource.kind);
            values.extend(objects.map(|it| json_value(it.as_ref()).unwrap_or_default()));
        } else if *resource == resources::SERVICES {
            let own = self.kubernetes_service();
            values = services(self.simulator()).to_vec();
            if values.iter().all(|service| place(service) != place(&own)) {
                values.push(own);
            }
        } else if *resource == resources::ENDPOINT_SLICES && self.release().shows_endpoint_slices()
        {
            values = endpoint_slices(self.simulator());
        } else if *resource == resources::PRIORITY_CLASSES {
            values.extend(self.priority_classes());
        } else if *resource == resources::NAMESPACES {
            values.extend(self.namespaces().iter().map(|name| self.namespace_object(name)));
        }
        if [&resources::SERVICES, &resources::ENDPOINT_SLICES].contains(&resource) {
            values.order_by(|one, other| place(one).cmp(&place(other)));
        }
        let objects = values.into_iter().map(|value| Object::Other(resource, value));
        objects.filter(|object| !resource.namespaced || here(object)).collect()
    }

    /// One object.
    pub(crate) fn object(
        &self,
        resource: &'static Resource,
        namespace: &str,
        name: &str,
    ) -> Option<Object> {
        if *resource == resources::NODES {
            return self.node(name).map(Object::Node);
        }
        if *resource == resources::PODS {
            let pod = self.simulator().cluster().get_pod(&PodKey::new(namespace, name))?;
            return Some(Object::Pod(pod.clone()));
        }
        if let Some(kind) = WorkloadKind::from_word(resource.singular) {
            let key = WorkloadKey::new(kind, namespace, name);
            let workload = self.simulator().cluster().get_workload(&key)?;
            return (!workload.inferred)
                .then(|| Object::Other(resource, self.workload_value(workload)));
        }
        let namespace = resource.namespaced.then_some(namespace);
        self.list(resource, namespace).into_iter().find(|object| object.name() == name)
    }

    /// A node as the API server shows it now.
    pub(crate) fn node(&self, name: &str) -> Option<Arc<Node>> {
        self.simulator().node_as_served(name)
    }

    /// An object with the fields that the API server adds to those in the simulation. One that was
    /// given without times counts as created at the start.
    pub(crate) fn served(&self, object: &Object) -> Object {
        let start = self.simulator().config().start.truncated_to_seconds();
        match object {
            Object::Pod(pod) => {
                let node = self.simulator().cluster().get_node(&pod.spec.node_name);
                let release = self.simulator().config().release;
                Object::Pod(Arc::new(pod_as_served(release, pod, node.map(AsRef::as_ref))))
            }
            Object::Other(resource, value) => {
                let mut value = with_default_labels(resource, value.clone());
                if let Some(Value::Object(metadata)) = value.get_mut("metadata") {
                    let created = metadata.entry("creationTimestamp");
                    created.or_insert_with(|| start.to_string().into());
                }
                Object::Other(resource, value)
            }
            Object::Node(node) => {
                let mut node = Node::clone(node);
                let created = *node.metadata.creation_timestamp.get_or_insert(start);
                for condition in &mut node.status.conditions {
                    let NodeCondition { last_heartbeat_time, last_transition_time, .. } = condition;
                    for time in [last_heartbeat_time, last_transition_time] {
                        time.get_or_insert(created.max(start));
                    }
                }
                if self.simulator().config().node_lifecycle {
                    let (key, seconds) = node_ttl(self.simulator().cluster().nodes().count());
                    let annotations = &mut node.metadata.annotations;
                    annotations.entry(key.to_owned()).or_insert_with(|| seconds.to_string());
                }
                Object::Node(Arc::new(node))
            }
        }
    }

    /// The lease of a node's kubelet.
    pub(crate) fn lease(&self, node: &str) -> Option<Value> {
        let mut lease = self.simulator().lease(node)?;
        let node = self.simulator().cluster().get_node(node)?;
        lease.metadata.creation_timestamp = node.metadata.creation_timestamp;
        json_value(&lease).ok()
    }

    /// The pods that are bound to a node.
    pub(crate) fn pods_of(&self, node: &str) -> impl Iterator<Item = Object> {
        self.simulator().cluster().pods_of(node).map(|(_, pod)| Object::Pod(pod.clone()))
    }

    /// All namespaces: those that every cluster has, and those of pods and workloads.
    pub(crate) fn namespaces(&self) -> OrderedSet<String> {
        let always = ["default", "kube-node-lease", "kube-public", "kube-system"];
        let mut names: OrderedSet<String> = always.into_iter().map(str::to_owned).collect();
        let mut last = "";
        for (key, _) in self.simulator().cluster().pods() {
            // Pods are ordered by namespace, so each is inserted once.
            if key.namespace() != last {
                last = key.namespace();
                names.insert(last.to_owned());
            }
        }
        let workloads = self.simulator().cluster().workloads();
        names.extend(workloads.map(|(key, _)| key.name.namespace().to_owned()));
        names
    }

    /// A workload with its controller's status. That of a StatefulSet counts terminating pods, so
    /// it stays as it was written; the view stands in for it until the controller first looks.
    fn workload_value(&self, workload: &Workload) -> Value {
        let mut value = json_value(workload).unwrap_or_default();
        let is_written = value.pointer("/status/replicas").is_some();
        let Some(view) = self.simulator().workload_view(&workload.key()) else { return value };
        let fields: &[(&str, i64)] = match workload.kind {
            WorkloadKind::DaemonSet => &[
                ("currentNumberScheduled", view.current),
                ("desiredNumberScheduled", view.desired),
                ("numberReady", view.ready),
                ("numberAvailable", view.available),
                ("updatedNumberScheduled", view.updated),
                ("numberUnavailable", view.unavailable),
            ],
            WorkloadKind::Job => &[("active", view.current), ("ready", view.ready)],
            WorkloadKind::ReplicaSet => &[
                ("replicas", view.current),
                ("readyReplicas", view.ready),
                ("availableReplicas", view.available),
            ],
            WorkloadKind::StatefulSet if is_written => &[],
            WorkloadKind::Deployment | WorkloadKind::StatefulSet => &[
                ("replicas", view.current),
                ("readyReplicas", view.ready),
                ("availableReplicas", view.available),
                ("updatedReplicas", view.updated),
            ],
        };
        if let Some(job) = &view.job
            && let Some(Value::Object(spec)) = value.get_mut("spec")
        {
            spec.entry("backoffLimit").or_insert_with(|| job.backoff_limit.into());
        }
        if let Value::Object(object) = &mut value {
            let status = object.entry("status").or_insert_with(|| json!({}));
            if let Value::Object(status) = status {
                for (name, number) in fields {
                    status.insert((*name).to_owned(), (*number).into());
                }
                // The controller writes it when it first sees the Job.
                let created = workload.metadata.creation_timestamp;
                if let (WorkloadKind::Job, Some(created)) = (workload.kind, created) {
                    status.entry("startTime").or_insert_with(|| created.to_string().into());
                }
            }
        }
        value
    }

    /// A budget with the status that the disruption controller writes.
    fn budget_value(&self, budget: &PodDisruptionBudget) -> Value {
        let mut value = json_value(budget).unwrap_or_default();
        if let (Value::Object(object), Some(status)) =
            (&mut value, self.simulator().budget_status(&budget.key()))
        {
            object.insert("status".into(), json_value(&status).unwrap_or_default());
        }
        value
    }

    /// The service that the API server creates for itself.
    fn kubernetes_service(&self) -> Value {
        let mut labels = [("component", "apiserver".into()), ("provider", "kubernetes".into())];
        let metadata = object(&mut [
            ("name", "kubernetes".into()),
            ("namespace", "default".into()),
            ("labels", object(&mut labels)),
            ("creationTimestamp", self.simulator().config().start.to_string().into()),
        ]);
        let port = object(&mut [
            ("name", "https".into()),
            ("port", 443.into()),
            ("protocol", "TCP".into()),
            ("targetPort", 6443.into()),
        ]);
        let spec = object(&mut [
            ("type", "ClusterIP".into()),
            ("clusterIP", "10.96.0.1".into()),
            ("ports", vec![port].into()),
        ]);
        object(&mut [
            ("apiVersion", "v1".into()),
            ("kind", "Service".into()),
            ("metadata", metadata),
            ("spec", spec),
        ])
    }

    /// All priority classes, sorted by name; the two of the API server with their descriptions.
    fn priority_classes(&self) -> Vec<Value> {
        let created = self.simulator().config().start;
        let mut classes = priority_classes(self.simulator()).to_vec();
        classes.order_by(|one, other| one.metadata.name.cmp(&other.metadata.name));
        let object = |mut class: PriorityClass| {
            class.metadata.creation_timestamp.get_or_insert(created);
            if class.preemption_policy.is_empty() {
                class.preemption_policy = "PreemptLowerPriority".into();
            }
            let description = match class.metadata.name.as_str() {
                "system-cluster-critical" => {
                    "Used for system critical pods that must run in the cluster, but can be moved \
                     to another node if necessary."
                }
                "system-node-critical" => {
                    "Used for system critical pods that must not be moved from their current node."
                }
                _ => "",
            };
            if !description.is_empty() {
                class.other.set("description", description.into());
            }
            // Every key is a string, so the JSON form exists.
            json_value(&class).unwrap_or_default()
        };
        classes.into_iter().map(object).collect()
    }

    fn namespace_object(&self, name: &str) -> Value {
        let label = ("kubernetes.io/metadata.name", name.into());
        let metadata = object(&mut [
            ("name", name.into()),
            ("labels", object(&mut [label])),
            ("creationTimestamp", self.simulator().config().start.to_string().into()),
        ]);
        let finalizers = vec![Value::from("kubernetes")];
        object(&mut [
            ("apiVersion", "v1".into()),
            ("kind", "Namespace".into()),
            ("metadata", metadata),
            ("spec", object(&mut [("finalizers", finalizers.into())])),
            ("status", object(&mut [("phase", "Active".into())])),
        ])
    }
}
