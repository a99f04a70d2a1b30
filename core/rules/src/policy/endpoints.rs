//! Endpoints of Services, as the endpoint-slice controller writes them.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::Value;

use crate::api::{Pod, PodPhase};
use crate::order::tree;

/// A Service, as far as its endpoints depend on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceSelector {
    /// Its namespace.
    pub namespace: String,
    /// `spec.selector`: labels that pods need. Without any, nobody writes endpoints for it.
    pub selector: BTreeMap<String, String>,
    /// `spec.publishNotReadyAddresses`.
    pub publish_not_ready_addresses: bool,
}

/// Conditions of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointConditions {
    /// Whether connections go to it.
    pub ready: bool,
    /// Whether its pod is ready.
    pub serving: bool,
    /// Whether its pod is terminating.
    pub terminating: bool,
}

impl ServiceSelector {
    /// Reads a Service; `None` for other objects, and for Services without a selector.
    #[must_use]
    pub fn of(object: &Value) -> Option<Self> {
        if object.get("kind")? != "Service" {
            return None;
        }
        let spec = object.get("spec")?;
        let namespace = object.get("metadata").and_then(|it| it.get("namespace"));
        let namespace = namespace.and_then(Value::as_str).filter(|it| !it.is_empty());
        let labels = spec.get("selector").and_then(Value::as_object).filter(|it| !it.is_empty())?;
        let label =
            |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_string()));
        Some(Self {
            namespace: namespace.unwrap_or("default").to_string(),
            selector: tree(labels.iter().map(label).collect::<Option<Vec<_>>>()?),
            publish_not_ready_addresses: spec.get("publishNotReadyAddresses")
                == Some(&Value::Bool(true)),
        })
    }

    /// Conditions of a pod's endpoint; `None` if it has none: it is not selected, has ended, or has
    /// not started and so has no address. Mirrors `podToEndpoint` and `ShouldPodBeInEndpoints` of
    /// `k8s.io/endpointslice`.
    #[must_use]
    pub fn endpoint(&self, pod: &Pod) -> Option<EndpointConditions> {
        let labels = &pod.metadata.labels;
        let is_selected = pod.metadata.namespace == self.namespace
            && self.selector.iter().all(|(name, value)| labels.get(name) == Some(value));
        if !is_selected || pod.status.phase != PodPhase::Running {
            return None;
        }
        let (serving, terminating) = (pod.has_ready_condition(), pod.is_terminating());
        let ready = self.publish_not_ready_addresses || (serving && !terminating);
        Some(EndpointConditions { ready, serving, terminating })
    }
}
