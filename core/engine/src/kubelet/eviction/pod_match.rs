//! Which pods a command about usage applies to.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;

use serde::{Deserialize, Serialize};
use taintlab_rules::api::{Pod, is_default};

use super::usage::PodUsage;

/// Some pods, those there are and those to come. What is left out matches every pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript-all", derive(tsify::Tsify))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct PodMatch {
    /// Their namespace.
    #[serde(skip_serializing_if = "is_default")]
    pub namespace: String,
    /// Their name; a `*` at the end stands for anything: `web-*`.
    #[serde(skip_serializing_if = "is_default")]
    pub name: String,
    /// Labels that they have.
    #[serde(skip_serializing_if = "is_default")]
    pub labels: BTreeMap<String, String>,
    /// Their owner, `ReplicaSet/web-5d9c`, or the name alone.
    #[serde(skip_serializing_if = "is_default")]
    pub owner: String,
}

impl PodMatch {
    /// Whether a pod is one of them.
    #[must_use]
    pub fn matches(&self, pod: &Pod) -> bool {
        let metadata = &pod.metadata;
        let name = match self.name.strip_suffix('*') {
            Some(start) => metadata.name.starts_with(start),
            None => self.name.is_empty() || self.name == metadata.name,
        };
        let (kind, owner) = self.owner.split_once('/').unwrap_or(("", &self.owner));
        let owned = self.owner.is_empty()
            || metadata.owner_references.iter().any(|reference| {
                reference.name == owner && (kind.is_empty() || reference.kind == kind)
            });
        let has_label = |(key, value): (&String, &String)| metadata.labels.get(key) == Some(value);
        name && owned
            && (self.namespace.is_empty() || self.namespace == metadata.namespace)
            && self.labels.iter().all(has_label)
    }
}

/// What some pods use.
#[derive(Clone, Debug)]
pub(crate) struct UsageRule {
    pub(crate) pods: PodMatch,
    pub(crate) usage: Arc<PodUsage>,
}

/// What a pod uses by the rules: the last one that matches counts. What is said of a container
/// without a name is said of the first one.
pub(crate) fn usage_of(rules: &[UsageRule], pod: &Pod) -> Arc<PodUsage> {
    let Some(rule) = rules.iter().rev().find(|rule| rule.pods.matches(pod)) else {
        return Arc::default();
    };
    if rule.usage.containers.iter().all(|container| !container.name.is_empty()) {
        return rule.usage.clone();
    }
    let mut usage = PodUsage::clone(&rule.usage);
    let first = first_container(pod);
    for container in usage.containers.iter_mut().filter(|container| container.name.is_empty()) {
        container.name.clone_from(&first);
    }
    Arc::new(usage)
}

/// The name of the first container; empty if there is none.
pub(crate) fn first_container(pod: &Pod) -> String {
    let resources = taintlab_rules::api::PodResources::of(pod);
    let first = resources.ok().and_then(|read| Some(read.containers.first()?.name.clone()));
    first.unwrap_or_default()
}
